# SPDX-License-Identifier: MIT
# The load generator of check_serve.sh.
$(B)/tests/serve_client: tests/serve_client.c
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(BASE) -D_GNU_SOURCE $(filter-out -fPIC,$(PKG_CFLAGS)) $< -o $@ $$(pkg-config --libs jansson) -lm -pthread
tests: $(B)/tests/serve_client
