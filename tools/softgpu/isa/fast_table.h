/* SPDX-License-Identifier: MIT */
/* fast_table.h: the handlers by name, at the end of fast_*.c. */
#define V(name, f) { name, f##_vgprs, f##_scalar, f }
#define M(name, f) { name, f, NULL, f }

static const struct sg_fast_valu handlers[] = {
	V("v_mul_f32", f_mul), V("v_add_f32", f_add), V("v_sub_f32", f_sub), V("v_subrev_f32", f_subrev),
	V("v_fmac_f32", f_fmac), V("v_fma_f32", f_fma), V("v_mov_b32", f_mov), V("v_not_b32", f_not),
	V("v_add_nc_u32", f_add_u32), V("v_sub_nc_u32", f_sub_u32), V("v_subrev_nc_u32", f_subrev_u32),
	V("v_and_b32", f_and), V("v_or_b32", f_or), V("v_xor_b32", f_xor), V("v_lshlrev_b32", f_lshlrev),
	V("v_lshrrev_b32", f_lshrrev), V("v_ashrrev_i32", f_ashrrev), V("v_min_i32", f_min_i32),
	V("v_max_i32", f_max_i32), V("v_min_u32", f_min_u32), V("v_max_u32", f_max_u32),
	V("v_mul_lo_u32", f_mul_lo), V("v_mul_u32_u24", f_mul_u24), V("v_mad_u32_u24", f_mad_u24),
	V("v_cndmask_b32", f_cndmask), V("v_add3_u32", f_add3), V("v_lshl_add_u32", f_lshl_add),
	V("v_add_lshl_u32", f_add_lshl), V("v_lshl_or_b32", f_lshl_or), V("v_and_or_b32", f_and_or),
	V("v_or3_b32", f_or3), V("v_xor3_b32", f_xor3), V("v_xad_u32", f_xad), V("v_bfe_u32", f_bfe_u32),
	V("v_bfi_b32", f_bfi),
	M("v_cmp_eq_i32", f_eq), M("v_cmp_eq_u32", f_eq), M("v_cmp_ne_i32", f_ne), M("v_cmp_ne_u32", f_ne),
	M("v_cmp_gt_i32", f_gt_i32), M("v_cmp_lt_i32", f_lt_i32), M("v_cmp_ge_i32", f_ge_i32),
	M("v_cmp_le_i32", f_le_i32), M("v_cmp_gt_u32", f_gt_u32), M("v_cmp_lt_u32", f_lt_u32),
	M("v_cmp_ge_u32", f_ge_u32), M("v_cmp_le_u32", f_le_u32), M("v_cmp_lt_f32", f_lt_f32),
	M("v_cmp_gt_f32", f_gt_f32), M("v_cmp_le_f32", f_le_f32), M("v_cmp_ge_f32", f_ge_f32),
	M("v_cmp_eq_f32", f_eq_f32), M("v_cmp_neq_f32", f_neq_f32), M("v_cmp_nlt_f32", f_nlt_f32),
	M("v_cmp_ngt_f32", f_ngt_f32), M("v_cmp_nle_f32", f_nle_f32), M("v_cmp_nge_f32", f_nge_f32),
	M("v_add_co_u32", f_add_co), M("v_add_co_ci_u32", f_add_co_ci), M("v_lshlrev_b64", f_lshlrev_b64),
	M("v_mad_u64_u32", f_mad_u64_u32),
};

const struct sg_fast FAST_TABLE = {
	.valu = handlers,
	.count = sizeof handlers / sizeof *handlers,
	.lds = { { lds_load, lds_store }, { lds_load_pair, lds_store_pair } },
	.global = { global_load, global_store },
};
