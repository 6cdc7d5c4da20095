# SPDX-License-Identifier: MIT
# One small plan for every target, for tests/check_golden.sh.
GOLDEN_DIR := $(B)/tests/golden
GOLDEN_CO := $(TARGETS:%=$(GOLDEN_DIR)/%.co)
golden_wave = $(if $(filter gfx9%,$(1)),64,32)
golden_flags = $(if $(filter gfx942 gfx11% gfx12%,$(1)),-DARCHITECTED) $(if $(filter gfx90a gfx942,$(1)),-DACCUM)
tests: $(GOLDEN_CO) $(GOLDEN_DIR)/make_image
$(GOLDEN_DIR)/%.co: tests/golden/plan.S
	$(call say,AS,$@)mkdir -p $(@D) && $(CLANG) -x assembler-with-cpp -nogpulib --target=amdgcn-amd-amdhsa -mcpu=$* \
		-DPROCESSOR=$* -DWAVE=$(call golden_wave,$*) $(call golden_flags,$*) $< -o $@
$(GOLDEN_DIR)/make_image: tests/golden/make_image.c $(B)/lib/libgpuplan.so
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(TOOL_CFLAGS) $< -o $@ -L$(B)/lib -lgpuplan -Wl,-rpath,'$$ORIGIN/../../lib' $(PKG_LIBS)
