/* SPDX-License-Identifier: MIT */
/* alias.c: what gfx11 calls the operations of gfx10.3. Semantics are bound by gfx11's names, so that the two
 * generations share them. Vector arithmetic has its other names in valu_list.h. */
#include "decode.h"

#include <stdio.h>
#include <string.h>

struct rename {
	const char *from, *to;
};

static const struct rename scalar[] = {
	{ "s_ff1_i32_b32", "s_ctz_i32_b32" }, { "s_ff1_i32_b64", "s_ctz_i32_b64" },
	{ "s_flbit_i32_b32", "s_clz_i32_u32" }, { "s_flbit_i32_b64", "s_clz_i32_u64" },
	{ "s_flbit_i32", "s_cls_i32" }, { "s_flbit_i32_i64", "s_cls_i32_i64" },
	{ "s_inst_prefetch", "s_set_inst_prefetch_distance" }, { "s_endpgm_ordered_ps_done", "s_endpgm" },
	{ "v_clrexcp", "v_nop" }, /* clears sticky exception bits, which nobody reads */
};

/* Beginnings; what follows is kept. */
static const struct rename prefixes[] = {
	{ "s_andn1_", "s_and_not0_" }, { "s_andn2_", "s_and_not1_" }, { "s_orn1_", "s_or_not0_" },
	{ "s_orn2_", "s_or_not1_" }, { "ds_read2st64_", "ds_load_2addr_stride64_" },
	{ "ds_read2_", "ds_load_2addr_" }, { "ds_read_", "ds_load_" },
	{ "ds_write2st64_", "ds_store_2addr_stride64_" }, { "ds_write2_", "ds_store_2addr_" },
	{ "ds_write_", "ds_store_" }, { "ds_wrxchg2st64_", "ds_storexchg_2addr_stride64_" },
	{ "ds_wrxchg2_", "ds_storexchg_2addr_" }, { "ds_wrxchg_", "ds_storexchg_" },
};

/* Behind buffer_, tbuffer_, flat_, global_, scratch_, s_ and s_buffer_ */
static const struct rename memory[] = {
	{ "load_dword", "load_b32" }, { "load_dwordx2", "load_b64" }, { "load_dwordx3", "load_b96" },
	{ "load_dwordx4", "load_b128" }, { "load_dwordx8", "load_b256" }, { "load_dwordx16", "load_b512" },
	{ "load_ubyte", "load_u8" }, { "load_sbyte", "load_i8" }, { "load_ushort", "load_u16" },
	{ "load_sshort", "load_i16" }, { "load_ubyte_d16", "load_d16_u8" }, { "load_sbyte_d16", "load_d16_i8" },
	{ "load_short_d16", "load_d16_b16" }, { "load_ubyte_d16_hi", "load_d16_hi_u8" },
	{ "load_sbyte_d16_hi", "load_d16_hi_i8" }, { "load_short_d16_hi", "load_d16_hi_b16" },
	{ "load_dword_addtid", "load_addtid_b32" }, { "store_dword_addtid", "store_addtid_b32" },
	{ "store_byte", "store_b8" }, { "store_short", "store_b16" }, { "store_dword", "store_b32" },
	{ "store_dwordx2", "store_b64" }, { "store_dwordx3", "store_b96" }, { "store_dwordx4", "store_b128" },
	{ "store_byte_d16_hi", "store_d16_hi_b8" }, { "store_short_d16_hi", "store_d16_hi_b16" },
	{ "load_format_d16_x", "load_d16_format_x" }, { "load_format_d16_xy", "load_d16_format_xy" },
	{ "load_format_d16_xyz", "load_d16_format_xyz" }, { "load_format_d16_xyzw", "load_d16_format_xyzw" },
	{ "store_format_d16_x", "store_d16_format_x" }, { "store_format_d16_xy", "store_d16_format_xy" },
	{ "store_format_d16_xyz", "store_d16_format_xyz" }, { "store_format_d16_xyzw", "store_d16_format_xyzw" },
	{ "load_format_d16_hi_x", "load_d16_hi_format_x" }, { "store_format_d16_hi_x", "store_d16_hi_format_x" },
};

static const struct rename atomics[] = {
	{ "swap", "swap_b" }, { "cmpswap", "cmpswap_b" }, { "add", "add_u" }, { "sub", "sub_u" }, { "csub", "csub_u" },
	{ "smin", "min_i" }, { "umin", "min_u" }, { "smax", "max_i" }, { "umax", "max_u" }, { "and", "and_b" },
	{ "or", "or_b" }, { "xor", "xor_b" }, { "inc", "inc_u" }, { "dec", "dec_u" }, { "fcmpswap", "cmpswap_f" },
	{ "fmin", "min_f" }, { "fmax", "max_f" },
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *
exact(const struct rename *r, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(r[i].from, name))
			return r[i].to;
	return NULL;
}

/* atomic_<what> or atomic_<what>_x2 */
static bool
rename_atomic(const char *prefix, int prefix_length, const char *what, char *out, size_t bytes)
{
	char base[16];
	const char *x2 = strstr(what, "_x2");
	snprintf(base, sizeof base, "%.*s", x2 ? (int)(x2 - what) : (int)strlen(what), what);
	const char *to = exact(atomics, COUNT(atomics), base);
	if (!to)
		return false;
	snprintf(out, bytes, "%.*satomic_%s%s", prefix_length, prefix, to, x2 ? "64" : "32");
	return true;
}

static bool
rename_memory(const char *name, char *out, size_t bytes)
{
	static const char *const spaces[] = { "buffer_", "tbuffer_", "flat_", "global_", "scratch_", "s_buffer_", "s_" };
	for (unsigned i = 0; i < COUNT(spaces); i++) {
		size_t n = strlen(spaces[i]);
		if (strncmp(name, spaces[i], n))
			continue;
		if (!strncmp(name + n, "atomic_", 7))
			return rename_atomic(name, (int)n, name + n + 7, out, bytes);
		const char *to = exact(memory, COUNT(memory), name + n);
		if (to)
			return snprintf(out, bytes, "%s%s", spaces[i], to) > 0;
	}
	return false;
}

bool
sg_alias(const char *name, char *out, size_t bytes)
{
	const char *to = exact(scalar, COUNT(scalar), name);
	if (to)
		return snprintf(out, bytes, "%s", to) > 0;
	for (unsigned i = 0; i < COUNT(prefixes); i++) {
		size_t n = strlen(prefixes[i].from);
		if (!strncmp(name, prefixes[i].from, n))
			return snprintf(out, bytes, "%s%s", prefixes[i].to, name + n) > 0;
	}
	return rename_memory(name, out, bytes);
}
