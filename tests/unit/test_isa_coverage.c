/* SPDX-License-Identifier: MIT */
/* test_isa_coverage.c: every opcode the decoder knows can be run, except those named here with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/softgpu/isa/core.h"

/* Beginnings of names. */
static const struct {
	const char *name, *why;
} refused[] = {
	{ "image_sample", "samplers" },
	{ "image_gather4", "samplers" },
	{ "image_get_lod", "samplers" },
	{ "image_msaa_load", "multisampling" },
	{ "image_load_pck", "texels without their format" },
	{ "image_load_mip_pck", "texels without their format" },
	{ "image_store_pck", "texels without their format" },
	{ "image_store_mip_pck", "texels without their format" },
	{ "image_bvh", "ray tracing" },
	{ "ds_bvh_stack", "ray tracing" },
	{ "v_interp", "pixel shaders" },
	{ "lds_param_load", "pixel shaders" },
	{ "exp", "graphics exports" },
	{ "s_setkill", "graphics waves" },
	{ "ds_gws", "global wave sync" },
	{ "ds_ordered_count", "global data share" },
	{ "ds_add_gs_reg", "geometry shaders" },
	{ "ds_sub_gs_reg", "geometry shaders" },
	{ "s_rfe_b64", "returns from a trap handler, and there is none" },
	{ "s_code_end", "padding behind a program: reaching it is an error" },
	{ "buffer_load_lds_format_x", "converted elements straight to LDS" },
};

enum { REFUSED = sizeof refused / sizeof *refused };
static bool seen[REFUSED];

static bool
is_refused(const char *name)
{
	for (unsigned i = 0; i < REFUSED; i++) {
		if (strncmp(name, refused[i].name, strlen(refused[i].name)))
			continue;
		seen[i] = true;
		return true;
	}
	return false;
}

static void
every_opcode_runs_or_is_on_the_list(void **state)
{
	(void)state;
	for (unsigned arch = 0; arch < 2; arch++) {
		const struct sg_isa *isa = sg_isa_get(arch ? SG_ARCH_RDNA3 : SG_ARCH_RDNA2);
		unsigned runs = 0;
		for (unsigned i = 1; i < isa->count; i++) {
			const struct sg_insn *insn = &isa->insns[i];
			bool can_run = insn->family != SG_FAM_UNIMPLEMENTED;
			/* v_interp of gfx11 has two forms that run */
			if (!can_run && !is_refused(insn->name))
				fail_msg("%s (architecture %u) cannot run and is not on the list", insn->name, arch);
			runs += can_run;
		}
		assert_true(runs > 1300);
	}
	for (unsigned i = 0; i < REFUSED; i++)
		if (!seen[i])
			fail_msg("%s (%s) is on the list for nothing", refused[i].name, refused[i].why);
}

/* What is bound to semantics has what running and decoding it needs. */
static void
bindings_are_whole(void **state)
{
	(void)state;
	for (unsigned arch = 0; arch < 2; arch++) {
		const struct sg_isa *isa = sg_isa_get(arch ? SG_ARCH_RDNA3 : SG_ARCH_RDNA2);
		for (unsigned i = 1; i < isa->count; i++) {
			const struct sg_insn *insn = &isa->insns[i];
			if (insn->family != SG_FAM_DROP)
				assert_non_null(insn->run);
			if (insn->family == SG_FAM_VALU || insn->family == SG_FAM_VMEM || insn->family == SG_FAM_IMAGE ||
			    insn->family == SG_FAM_SALU)
				assert_non_null(insn->sem);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_opcode_runs_or_is_on_the_list),
		cmocka_unit_test(bindings_are_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
