# SPDX-License-Identifier: MIT
# make bench-footprint   what the library weighs, beside RADV
# make bench-submit      what one inference costs the host: libgpuplan, a bare loop on libdrm, RADV (when Vulkan is there)
SUBMIT_DIR := tools/bench-submit
SUBMIT_OBJ := $(B)/obj/$(SUBMIT_DIR)

.PHONY: bench-submit bench-footprint
$(SUBMIT_OBJ)/%.o: $(SUBMIT_DIR)/%.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(TOOL_CFLAGS) -c $< -o $@
$(B)/bin/bench-submit: $(SUBMIT_OBJ)/main.o $(SUBMIT_OBJ)/plans.o $(B)/obj/gen/shaders.o $(B)/obj/tools/common/shaders.o \
		$(B)/obj/tools/common/tool.o $(B)/lib/libgpuplan.so
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(SAN_FLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lgpuplan \
		-Wl,-rpath,'$$ORIGIN/../lib' $(shell pkg-config --libs liburing)
$(B)/bin/bench-submit-floor: $(SUBMIT_OBJ)/floor.o
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(SAN_FLAGS) -o $@ $^ $(shell pkg-config --libs libdrm_amdgpu libdrm)
$(B)/bin/bench-footprint: $(SUBMIT_OBJ)/footprint.o $(B)/obj/tools/common/tool.o $(B)/lib/libgpuplan.so
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(SAN_FLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lgpuplan \
		-Wl,-rpath,'$$ORIGIN/../lib'

bench-footprint: softgpu $(B)/bin/bench-footprint
	+@B=$(B) sh $(SUBMIT_DIR)/footprint.sh
# check_submit_cost.sh runs it.
tests: $(B)/bin/bench-submit

bench-submit: softgpu tools $(B)/bin/bench-submit $(B)/bin/bench-submit-floor
	+@B=$(B) sh $(SUBMIT_DIR)/run.sh
