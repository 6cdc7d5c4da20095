# SPDX-License-Identifier: MIT
# Kernels for tests of random plans (tests/device/region_graph.h), beside the test programs.
REGION_OBJECTS := $(foreach t,$(TARGETS),$(B)/tests/objects/regions.$(t).co)
tests: $(REGION_OBJECTS)
$(B)/tests/objects/regions.%.co: tests/device/regions.cl $(wildcard firmware-shaders/*.h)
	$(call say,CL,$@)mkdir -p $(@D) && $(CLANG) $(SHADER_FLAGS) -mcpu=$* -Ifirmware-shaders $< -o $@
