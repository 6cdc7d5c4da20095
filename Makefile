# SPDX-License-Identifier: MIT
# gpuplan: build, test, demo, bench, install. `make help` lists the targets.
#
#   V=1                     show commands
#   SAN=address|undefined|thread   sanitizer build, in build-$(SAN)/
#   CC=clang                another compiler
#   WERROR=1                warnings are errors (CI)
#   PREFIX=, DESTDIR=       for install

VERSION := 0.1.0
PREFIX ?= /usr/local
SAN ?=
B ?= build$(if $(SAN),-$(SAN))
CC ?= cc
V ?=
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)';)

# ---- Debian packages: what building and the demo need, and what the tests need besides ----
DEPS := build-essential pkg-config libdrm-dev liburing-dev libelf-dev libmsgpack-dev libjansson-dev libhttp-parser-dev \
	clang-19 lld-19 llvm-19
CHECK_DEPS := libcmocka-dev strace valgrind curl nginx-light groff-base

MSGPACK := msgpack
LIB_PKGS := libdrm_amdgpu libdrm liburing libelf $(MSGPACK) jansson

CLANG := clang-19
READELF := llvm-readelf-19
TARGETS := gfx900 gfx906 gfx90a gfx942 gfx1010 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 \
	gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1200 gfx1201

.DEFAULT_GOAL := all
.PHONY: all examples deps deps-demo demo check bench install uninstall clean help tests lib softgpu tools shaders check-run demo-run

help:
	@echo 'make all        libraries, tools and shaders, in $(B)/'
	@echo 'make deps       install the Debian packages needed (as root; otherwise print the command)'
	@echo 'make demo       deps, build, run the speech model and check its answers'
	@echo 'make check      deps, build, run all tests'
	@echo 'make bench      the speech model for longer, with 1 to 8 slots in flight'
	@echo 'make bench-submit   what one inference costs the host, beside a bare libdrm loop and RADV'
	@echo 'make bench-prepare  what making plans costs, and their streams beside RADV'\''s'
	@echo 'make install    libraries, headers, tools, shaders, models and man pages to $(DESTDIR)$(PREFIX); make uninstall'

# ---- packages ----
# RUNLEVEL=1: nginx is wanted as a program, not as a service.
define install_packages
	@missing=; for p in $(1); do \
		dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$p"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then \
		echo "Installing Debian packages:$$missing"; \
		apt-get update && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$missing; \
	else \
		echo "These Debian packages are missing. Install them with:"; \
		echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$$missing"; exit 1; \
	fi
endef
deps:
	$(call install_packages,$(DEPS) $(CHECK_DEPS))
deps-demo:
	$(call install_packages,$(DEPS))

# Packages may just have been installed, and pkg-config is asked when make starts: hence a second make.
demo: deps-demo
	@$(MAKE) --no-print-directory demo-run
check: deps
	@$(MAKE) --no-print-directory check-run

# ---- flags ----
PKG_CFLAGS := $(shell pkg-config --cflags $(LIB_PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(LIB_PKGS) 2>/dev/null)

CFLAGS ?= -O2 -g
WARN := -Wall -Wextra $(if $(WERROR),-Werror)
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer) $(if $(filter undefined,$(SAN)),-fno-sanitize-recover=all)
BASE := -std=gnu11 $(WARN) $(CFLAGS) $(SAN_FLAGS) -fPIC -fvisibility=hidden -MMD -MP -Iuapi
LIB_CFLAGS := $(BASE) -Ilibgpuplan -Ilibgpuplan/include $(PKG_CFLAGS)
TOOL_CFLAGS := $(BASE) -Ilibgpuplan/include -Itools $(PKG_CFLAGS)
SOFT_CFLAGS := $(BASE) -ffp-contract=off -pthread -Itools/softgpu $(PKG_CFLAGS)
ifneq ($(SAN),)
# The sanitizer's runtime has to come before the interposed library.
SOFT_CFLAGS += -DSOFTGPU_PRELOAD_FIRST='"$(shell $(CC) -print-file-name=$(if $(filter address,$(SAN)),libasan.so,$(if $(filter thread,$(SAN)),libtsan.so,libubsan.so)))"'
endif

# ---- sources ----
LIB_SRC := $(wildcard libgpuplan/*.c)
SOFT_SRC := $(wildcard tools/softgpu/shim/*.c tools/softgpu/drm/*.c tools/softgpu/hw/*.c tools/softgpu/isa/*.c)
ISA_SRC := $(wildcard tools/softgpu/isa/*.c)
SHADER_SRC := $(wildcard firmware-shaders/*.cl)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
DEVICE_SRC := $(wildcard tests/device/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)

LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o)
SOFT_OBJ := $(SOFT_SRC:%.c=$(B)/obj/%.o)
SOFT3_OBJ := $(SOFT_SRC:%.c=$(B)/obj-v3/%.o)
SOFT4_OBJ := $(patsubst $(B)/obj-v3/tools/softgpu/isa/%,$(B)/obj-v4/tools/softgpu/isa/%,$(SOFT3_OBJ))
ISA_OBJ := $(ISA_SRC:%.c=$(B)/obj/%.o)
HW_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tools/softgpu/hw/*.c))
SHADERS := $(foreach t,$(TARGETS),$(SHADER_SRC:firmware-shaders/%.cl=$(B)/share/gpuplan/shaders/$(t)/%.co))

MODEL_SRC := $(wildcard tools/gpuplan-bench/models/*/*)
MODELS := $(MODEL_SRC:tools/gpuplan-bench/%=$(B)/share/gpuplan/%)

UNIT := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/unit/%)
DEVICE := $(DEVICE_SRC:tests/device/%.c=$(B)/tests/device/%)
FUZZ := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/tests/fuzz/%)

all: lib softgpu tools shaders examples
lib: $(B)/lib/libgpuplan.so $(B)/lib/libgpuplan.a
softgpu: $(B)/lib/libsoftgpu.so $(B)/lib/x86-64-v3/libsoftgpu.so $(B)/lib/x86-64-v4/libsoftgpu.so $(B)/bin/softgpu $(B)/bin/softgpu-exec
tools: $(B)/bin/gpuplan-bench $(B)/bin/gpuplan-dump $(MODELS)
shaders: $(SHADERS)
tests: $(UNIT) $(DEVICE) $(FUZZ)

# ---- libgpuplan ----
$(B)/obj/libgpuplan/%.o: libgpuplan/%.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(LIB_CFLAGS) -c $< -o $@

$(B)/lib/libgpuplan.a: $(LIB_OBJ)
	$(call say,AR,$@)mkdir -p $(@D) && rm -f $@ && ar rcs $@ $(LIB_OBJ)

$(B)/lib/libgpuplan.so: $(LIB_OBJ) libgpuplan/libgpuplan.map
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(SAN_FLAGS) -shared -Wl,-soname,libgpuplan.so.0 \
		-Wl,--version-script=libgpuplan/libgpuplan.map $(if $(SAN),,-Wl,--no-undefined) -o $@ $(LIB_OBJ) $(PKG_LIBS) -pthread && \
		ln -sf libgpuplan.so $(@D)/libgpuplan.so.0

# ---- softgpu: for every x86-64, for those with AVX2, and shader cores for those with AVX-512; the launcher picks ----
# Shader cores spend the time: loops over 32 lanes are worth vectorizing.
ISA_OPT := $(if $(filter -O0,$(CFLAGS)),,-O3)
$(B)/obj/tools/softgpu/isa/%.o $(B)/obj-v3/tools/softgpu/isa/%.o $(B)/obj-v4/tools/softgpu/isa/%.o: OPT = $(ISA_OPT)
$(B)/obj/tools/softgpu/%.o: tools/softgpu/%.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(SOFT_CFLAGS) $(OPT) -c $< -o $@
$(B)/obj-v3/tools/softgpu/%.o: tools/softgpu/%.c
	$(call say,CC-V3,$<)mkdir -p $(@D) && $(CC) $(SOFT_CFLAGS) $(OPT) -march=x86-64-v3 -c $< -o $@
$(B)/obj-v4/tools/softgpu/%.o: tools/softgpu/%.c
	$(call say,CC-V4,$<)mkdir -p $(@D) && $(CC) $(SOFT_CFLAGS) $(OPT) -march=x86-64-v4 -mprefer-vector-width=512 -c $< -o $@

soft_link = mkdir -p $(@D) && $(CC) $(SAN_FLAGS) -shared -Wl,--version-script=tools/softgpu/shim/softgpu.map -o $@ $(1) -pthread -ldl -lm
$(B)/lib/libsoftgpu.so: $(SOFT_OBJ) tools/softgpu/shim/softgpu.map
	$(call say,LD,$@)$(call soft_link,$(SOFT_OBJ))
$(B)/lib/x86-64-v3/libsoftgpu.so: $(SOFT3_OBJ) tools/softgpu/shim/softgpu.map
	$(call say,LD,$@)$(call soft_link,$(SOFT3_OBJ))
$(B)/lib/x86-64-v4/libsoftgpu.so: $(SOFT4_OBJ) tools/softgpu/shim/softgpu.map
	$(call say,LD,$@)$(call soft_link,$(SOFT4_OBJ))
$(B)/bin/softgpu: tools/softgpu/softgpu.c $(wildcard tools/softgpu/shim/*.h)
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(filter-out -fPIC,$(SOFT_CFLAGS)) $< -o $@ $(B)/obj/tools/softgpu/hw/profile.o $(B)/obj/tools/softgpu/shim/tree.o -pthread
$(B)/bin/softgpu: $(B)/obj/tools/softgpu/hw/profile.o
$(B)/bin/softgpu-exec: $(wildcard tools/softgpu/exec/*.c) $(ISA_OBJ)
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(SOFT_CFLAGS) -Itools/softgpu/isa $(wildcard tools/softgpu/exec/*.c) $(ISA_OBJ) -o $@ $$(pkg-config --libs jansson) -lm -pthread

# ---- shaders: OpenCL C to code objects ----
SHADER_FLAGS := -cl-kernel-arg-info -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -nogpulib -O3 --target=amdgcn-amd-amdhsa
define shader_rule
$(B)/share/gpuplan/shaders/$(1)/%.co: firmware-shaders/%.cl $(wildcard firmware-shaders/*.h)
	$$(call say,CL,$(1)/$$*.co)mkdir -p $$(@D) && $(CLANG) $(SHADER_FLAGS) -mcpu=$(1) -Ifirmware-shaders $$< -o $$@
endef
$(foreach t,$(TARGETS),$(eval $(call shader_rule,$(t))))

# Embedded for the tools: a table of .incbin'ed code objects.
$(B)/gen/shaders.S: $(SHADERS) tools/common/embed.sh
	$(call say,GEN,$@)mkdir -p $(@D) && sh tools/common/embed.sh $(SHADERS) > $@
$(B)/obj/gen/shaders.o: $(B)/gen/shaders.S
	$(call say,AS,$<)mkdir -p $(@D) && $(CC) -c $< -o $@

# ---- tools: on the public API only ----
define tool_rule
$(B)/bin/$(1): $(patsubst %.c,$(B)/obj/%.o,$(wildcard tools/$(1)/*.c tools/common/*.c)) $(B)/obj/gen/shaders.o $(B)/lib/libgpuplan.so
	$$(call say,LD,$$@)mkdir -p $$(@D) && $(CC) $(SAN_FLAGS) -o $$@ $$(filter %.o,$$^) -L$(B)/lib -lgpuplan \
		-Wl,-rpath,'$$$$ORIGIN/../lib' $(PKG_LIBS) -lm -pthread
endef
$(eval $(call tool_rule,gpuplan-bench))
$(eval $(call tool_rule,gpuplan-dump))
$(B)/obj/tools/gpuplan-%.o: tools/gpuplan-%.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(TOOL_CFLAGS) -c $< -o $@
$(B)/obj/tools/common/%.o: tools/common/%.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(TOOL_CFLAGS) -c $< -o $@

# ---- examples: on the public API only ----
# Programs of one file are example-NAME and take no part in install.
EXAMPLES := $(patsubst examples/%.c,$(B)/bin/example-%,$(wildcard examples/*.c))
SERVE_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard examples/serve/*.c tools/common/*.c))
examples: $(EXAMPLES) $(B)/bin/gpuplan-serve
$(B)/bin/example-%: examples/%.c $(B)/lib/libgpuplan.so
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(TOOL_CFLAGS) $< -o $@ -L$(B)/lib -lgpuplan -Wl,-rpath,'$$ORIGIN/../lib' \
		$$(pkg-config --libs liburing) -lm
$(B)/obj/examples/%.o: examples/%.c
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(TOOL_CFLAGS) -c $< -o $@
$(B)/bin/gpuplan-serve: $(SERVE_OBJ) $(B)/obj/gen/shaders.o $(B)/lib/libgpuplan.so
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(SAN_FLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lgpuplan \
		-Wl,-rpath,'$$ORIGIN/../lib' $(PKG_LIBS) -lhttp_parser -lm -pthread

$(B)/share/gpuplan/models/%: tools/gpuplan-bench/models/%
	$(Q)mkdir -p $(@D) && cp $< $@

# ---- tests ----
TEST_LIBS = $(PKG_LIBS) $(shell pkg-config --libs cmocka) -lm -pthread
$(B)/tests/unit/%: tests/unit/%.c $(B)/lib/libgpuplan.a $(ISA_OBJ) $(HW_OBJ)
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(LIB_CFLAGS) -Itools/softgpu -Itools/softgpu/isa -Itools/softgpu/hw -Itests $< -o $@ \
		$(if $(filter test_isa% test_valu% test_softgpu%,$(notdir $@)),$(HW_OBJ) $(ISA_OBJ)) \
		$(B)/lib/libgpuplan.a $(if $(wildcard $(<:.c=.flags)),$(shell cat $(<:.c=.flags) 2>/dev/null)) $(TEST_LIBS)
$(B)/tests/device/%: tests/device/%.c $(wildcard tests/device/*.h) $(B)/lib/libgpuplan.so
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(TOOL_CFLAGS) -Itests $< -o $@ -L$(B)/lib -lgpuplan -Wl,-rpath,'$$ORIGIN/../../lib' $(TEST_LIBS)
$(B)/tests/fuzz/%: tests/fuzz/%.c $(B)/lib/libgpuplan.a $(ISA_OBJ) $(HW_OBJ)
	$(call say,CC,$@)mkdir -p $(@D) && $(CC) $(LIB_CFLAGS) -Itools -Itools/softgpu -Itools/softgpu/isa -Itools/softgpu/hw -Itests $< -o $@ \
		$(if $(filter fuzz_pm4 fuzz_isa,$(notdir $@)),$(HW_OBJ) $(ISA_OBJ)) $(B)/lib/libgpuplan.a $(TEST_LIBS)

include $(wildcard tests/*.mk)

check-run: all tests
	@B=$(B) SAN=$(SAN) sh tests/run.sh $(UNIT) $(FUZZ) $(DEVICE) $(wildcard tests/check_*.sh)

demo-run: all
	@$(B)/bin/gpuplan-bench --verify

bench: deps
	@$(MAKE) --no-print-directory all && for n in 1 2 4 8; do $(B)/bin/gpuplan-bench --verify --slots $$n --duration 10; done

# ---- install ----
D = $(DESTDIR)$(PREFIX)
SONAME := libgpuplan.so.0
INSTALL_BIN := gpuplan-bench gpuplan-dump gpuplan-serve softgpu softgpu-exec
INSTALL_HEADERS := libgpuplan/include/gpuplan.h uapi/plan_image.h
SOFT_LEVELS := x86-64-v3 x86-64-v4
MAN_PAGES := $(wildcard docs/man/*.[137])

define PC
prefix=$(PREFIX)
includedir=$${prefix}/include
libdir=$${prefix}/lib
shadersdir=$${prefix}/share/gpuplan/shaders
modelsdir=$${prefix}/share/gpuplan/models

Name: gpuplan
Description: prebuilt GPU command plans on amdgpu
Version: $(VERSION)
Requires.private: $(LIB_PKGS)
Cflags: -I$${includedir}
Libs: -L$${libdir} -lgpuplan
Libs.private: -pthread
endef
export PC

install: all
	$(Q)install -d $(D)/bin $(D)/include $(D)/lib/pkgconfig $(SOFT_LEVELS:%=$(D)/lib/%) $(D)/share/gpuplan \
		$(D)/share/man/man1 $(D)/share/man/man3 $(D)/share/man/man7
	$(Q)install -m 644 $(INSTALL_HEADERS) $(D)/include/
	$(Q)install -m 755 $(B)/lib/libgpuplan.so $(D)/lib/libgpuplan.so.$(VERSION)
	$(Q)ln -sf libgpuplan.so.$(VERSION) $(D)/lib/$(SONAME) && ln -sf $(SONAME) $(D)/lib/libgpuplan.so
	$(Q)install -m 644 $(B)/lib/libgpuplan.a $(D)/lib/
	$(Q)for l in . $(SOFT_LEVELS); do install -m 755 $(B)/lib/$$l/libsoftgpu.so $(D)/lib/$$l/ || exit 1; done
	$(Q)install -m 755 $(INSTALL_BIN:%=$(B)/bin/%) $(D)/bin/
	$(Q)cp -r $(B)/share/gpuplan/shaders $(B)/share/gpuplan/models $(D)/share/gpuplan/
	$(Q)for p in $(MAN_PAGES); do s=$${p##*.}; \
		install -m 644 $$p $(D)/share/man/man$$s/ || exit 1; \
		for n in $$(sh docs/man/names.sh $$p); do \
			[ -f docs/man/$$n.$$s ] || echo ".so man$$s/$${p##*/}" >$(D)/share/man/man$$s/$$n.$$s || exit 1; done; done
	$(Q)printf '%s\n' "$$PC" >$(D)/lib/pkgconfig/gpuplan.pc
	@echo 'installed to $(D)'

# Takes away what install puts there, and folders of others only when they are empty.
uninstall:
	$(Q)rm -f $(addprefix $(D)/include/,$(notdir $(INSTALL_HEADERS))) $(INSTALL_BIN:%=$(D)/bin/%) $(D)/lib/pkgconfig/gpuplan.pc \
		$(D)/lib/libgpuplan.so.$(VERSION) $(D)/lib/$(SONAME) $(D)/lib/libgpuplan.so $(D)/lib/libgpuplan.a \
		$(D)/lib/libsoftgpu.so $(SOFT_LEVELS:%=$(D)/lib/%/libsoftgpu.so)
	$(Q)for p in $(MAN_PAGES); do s=$${p##*.}; rm -f $(D)/share/man/man$$s/$${p##*/}; \
		for n in $$(sh docs/man/names.sh $$p); do rm -f $(D)/share/man/man$$s/$$n.$$s; done; done
	$(Q)rm -rf $(D)/share/gpuplan
	$(Q)for d in $(SOFT_LEVELS:%=lib/%) lib/pkgconfig lib bin include share/man/man1 share/man/man3 share/man/man7 share/man share; do \
		[ ! -d $(D)/$$d ] || rmdir --ignore-fail-on-non-empty $(D)/$$d; done

clean:
	rm -rf $(B)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
