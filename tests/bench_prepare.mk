# SPDX-License-Identifier: MIT
# make bench-prepare    what making plans costs, and the streams they are made of beside RADV's (when Vulkan is there)
PREP_DIR := tools/bench-prepare
PREP_OBJ := $(B)/obj/$(PREP_DIR)
PREP_BIN := $(B)/bin/bench-prepare

.PHONY: bench-prepare
$(PREP_OBJ)/%.o: $(PREP_DIR)/%.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(TOOL_CFLAGS) -fno-builtin-malloc -c $< -o $@
$(PREP_BIN): $(patsubst $(PREP_DIR)/%.c,$(PREP_OBJ)/%.o,$(wildcard $(PREP_DIR)/*.c)) $(B)/obj/gen/shaders.o \
		$(B)/obj/tools/common/shaders.o $(B)/obj/tools/common/tool.o $(B)/lib/libgpuplan.so
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(SAN_FLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lgpuplan \
		-Wl,-rpath,'$$ORIGIN/../lib' -lm

bench-prepare: softgpu $(PREP_BIN)
	+@B=$(B) sh $(PREP_DIR)/run.sh
