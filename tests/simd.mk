# SPDX-License-Identifier: MIT
# The shader cores' tests with the objects of each build of softgpu; tests/check_simd.sh runs those the host can run.
SIMD_BUILDS := x86-64-v3 x86-64-v4
SIMD_TESTS := $(foreach b,$(SIMD_BUILDS),$(B)/tests/simd/$(b)/test_isa_fast $(B)/tests/simd/$(b)/test_valu)
tests: $(SIMD_TESTS)

define simd_rule
$(B)/tests/simd/$(1)/%: tests/unit/%.c $(ISA_SRC:%.c=$(B)/obj-$(2)/%.o)
	$$(call say,CC,$$@)mkdir -p $$(@D) && $$(CC) $$(LIB_CFLAGS) -Itools/softgpu -Itools/softgpu/isa $$< -o $$@ \
		$(ISA_SRC:%.c=$(B)/obj-$(2)/%.o) $$(TEST_LIBS)
endef
$(eval $(call simd_rule,x86-64-v3,v3))
$(eval $(call simd_rule,x86-64-v4,v4))
