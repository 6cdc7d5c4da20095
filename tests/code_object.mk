# SPDX-License-Identifier: MIT
# Code objects for tests/unit/test_code_object.c and tests/fuzz/fuzz_code_object.c (GPUPLAN_TEST_OBJECTS names the folder).
OBJ_SRC := tests/unit/data_code_object
OBJ_DIR := $(B)/tests/objects
OBJ_CL := -x cl -cl-std=CL2.0 -cl-kernel-arg-info -nogpulib -O3 --target=amdgcn-amd-amdhsa
OBJ_AS := -x assembler --target=amdgcn-amd-amdhsa
OBJ_FLAGS_v5 := -mcpu=gfx1100
OBJ_FLAGS_v4 := -mcpu=gfx1100 -mcode-object-version=4
OBJ_FLAGS_v6 := -mcpu=gfx11-generic -mcode-object-version=6 -Wno-everything
OBJ_FLAGS_gfx1030 := -mcpu=gfx1030
OBJ_FLAGS_gfx900 := -mcpu=gfx900
OBJ_FLAGS_gfx90a := -mcpu=gfx90a
OBJ_FLAGS_gfx942 := -mcpu=gfx942
OBJ_FLAGS_gfx90a-xnack := -mcpu=gfx90a:xnack+
OBJ_FLAGS_gfx1200 := -mcpu=gfx1200
OBJ_FLAGS_wave64 := -mcpu=gfx1100 -mwavefrontsize64
TEST_OBJECTS := $(foreach v,v5 v4 v6 gfx1030 gfx900 gfx90a gfx90a-xnack gfx942 gfx1200 wave64 stripped,$(OBJ_DIR)/args.$(v).co) \
	$(OBJ_DIR)/refused.v5.co $(OBJ_DIR)/hand.v5.co
tests: $(TEST_OBJECTS)
$(OBJ_DIR)/args.%.co: $(OBJ_SRC)/args.cl
	$(call say,CL,$@)mkdir -p $(@D) && $(CLANG) $(OBJ_CL) $(OBJ_FLAGS_$*) $< -o $@
$(OBJ_DIR)/refused.%.co: $(OBJ_SRC)/refused.cl
	$(call say,CL,$@)mkdir -p $(@D) && $(CLANG) $(OBJ_CL) $(OBJ_FLAGS_$*) $< -o $@
$(OBJ_DIR)/hand.%.co: $(OBJ_SRC)/hand.s
	$(call say,AS,$@)mkdir -p $(@D) && $(CLANG) $(OBJ_AS) $(OBJ_FLAGS_$*) $< -o $@
$(OBJ_DIR)/args.stripped.co: $(OBJ_DIR)/args.v5.co
	$(call say,STRIP,$@)llvm-objcopy-19 --strip-sections $< $@
