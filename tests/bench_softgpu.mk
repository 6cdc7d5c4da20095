# SPDX-License-Identifier: MIT
# make bench-softgpu          kernels on softgpu beside PoCL (tools/softgpu/bench); ROUNDS=n repetitions
# make bench-softgpu-counts   host instructions per lane-instruction, by callgrind: steady on a busy machine
ROUNDS ?= 5
SGB_DIR := tools/softgpu/bench
SGB_OBJ := $(B)/obj/$(SGB_DIR)
# Which of the two is built says whether the OpenCL loader and headers are there.
SGB_CL := $(if $(shell pkg-config --exists OpenCL 2>/dev/null && echo yes),pocl,pocl_none)
SGB_SRC := $(filter-out pocl pocl_none,$(patsubst $(SGB_DIR)/%.c,%,$(wildcard $(SGB_DIR)/*.c))) $(SGB_CL)
SGB_CO := $(foreach t,gfx1030 gfx1100,$(SGB_OBJ)/$(t)/kernels.co)
SGB_BIN := $(B)/bin/softgpu-bench

.PHONY: bench-softgpu bench-softgpu-counts

$(SGB_OBJ)/%.o: $(SGB_DIR)/%.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(TOOL_CFLAGS) -c $< -o $@
$(SGB_OBJ)/%/kernels.co: $(SGB_DIR)/kernels.cl firmware-shaders/prelude.h
	$(call say,CL,$@)mkdir -p $(@D) && $(CLANG) $(SHADER_FLAGS) -mcpu=$* -Ifirmware-shaders $< -o $@
# The source for PoCL and the code objects for softgpu, in one table.
$(SGB_OBJ)/embedded.o: $(SGB_DIR)/kernels.cl $(SGB_CO) tools/common/embed.sh
	$(call say,AS,$@)mkdir -p $(@D) && sh tools/common/embed.sh $(SGB_DIR)/kernels.cl $(SGB_CO) > $(@:.o=.S) && \
		$(CC) -c $(@:.o=.S) -o $@
$(SGB_BIN): $(SGB_SRC:%=$(SGB_OBJ)/%.o) $(SGB_OBJ)/embedded.o $(B)/obj/tools/common/shaders.o \
		$(B)/obj/tools/common/tool.o $(B)/lib/libgpuplan.so
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(SAN_FLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lgpuplan \
		-Wl,-rpath,'$$ORIGIN/../lib' $(if $(filter pocl,$(SGB_CL)),$(shell pkg-config --libs OpenCL 2>/dev/null)) -lm

bench-softgpu: softgpu $(SGB_BIN)
	@$(B)/bin/softgpu $(SGB_BIN) --rounds $(ROUNDS)
bench-softgpu-counts: softgpu $(SGB_BIN)
	@B=$(B) sh $(SGB_DIR)/counts.sh
