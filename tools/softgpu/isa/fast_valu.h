/* SPDX-License-Identifier: MIT */
/* fast_valu.h: vector arithmetic, compiled once for each vector extension by fast_*.c. Operations have no modifiers
 * and no DPP. Float ones run only while MODE agrees with the host (round to nearest even, denormals kept); otherwise
 * they hand over to the general handler of exec.c. Sources are read block by block before the destination's block is
 * written; both are whole registers.
 */
#define HANDLER static const struct sg_op *
#define unlikely(x) __builtin_expect(x, 0)

INLINE bool
is_whole(const struct sg_wave *w)
{
	return w->halves == 1 && sg_exec(w, 0) == UINT32_MAX;
}

/* First lane of an operand that all lanes have in common. */
INLINE const uint32_t *
scalar_of(const struct sg_wave *w, const struct sg_operand *s)
{
	return s->kind == SG_K_CONST ? s->splat : &w->sgpr[s->reg];
}

INLINE const uint32_t *
operand(const struct sg_wave *w, const struct sg_operand *s, unsigned half, uint32_t *tmp)
{
	if (s->kind == SG_K_VGPR)
		return w->v[half][s->reg];
	if (s->kind == SG_K_CONST)
		return s->splat;
	vi v = splat(w->sgpr[s->reg]);
	for (unsigned i = 0; i < BLOCKS; i++)
		store(tmp, i, v);
	return tmp;
}

/* Of the operations below: vectors a, b, c, the destination's old contents d, the lanes m of the carry mask, and the
 * sources as floats. */
#define ARGUMENTS                                                                                                      \
	vi a __attribute__((unused)), vi b __attribute__((unused)), vi c __attribute__((unused)),                      \
		vi d __attribute__((unused)), vm m __attribute__((unused))
#define FA as_float(a)
#define FB as_float(b)
#define FC as_float(c)
#define FD as_float(d)

#define EACH(first, pb, pc) \
	for (unsigned i = 0; i < BLOCKS; i++)                                                                          \
		store(d, i, compute(first, load(pb, i), load(pc, i), load(d, i), lanes(carry, i)))

typedef vi compute_fn(vi a, vi b, vi c, vi d, vm m);

INLINE void
run_any(struct sg_wave *w, const struct sg_op *op, unsigned count, compute_fn *compute)
{
	uint32_t tmp[3][SG_LANES] __attribute__((aligned(128)));

	for (unsigned half = 0; half < w->halves; half++) {
		uint32_t exec = sg_exec(w, half), carry = w->sgpr[op->carry + half];
		const uint32_t *pa = operand(w, &op->src[0], half, tmp[0]);
		const uint32_t *pb = count > 1 ? operand(w, &op->src[1], half, tmp[1]) : pa;
		const uint32_t *pc = count > 2 ? operand(w, &op->src[2], half, tmp[2]) : pa;
		uint32_t *d = w->v[half][op->dst];
		if (exec == UINT32_MAX)
			EACH(load(pa, i), pb, pc);
		else
			for (unsigned i = 0; i < BLOCKS; i++)
				put(d, i, compute(load(pa, i), load(pb, i), load(pc, i), load(d, i), lanes(carry, i)), exec);
	}
}

/* The three forms of struct sg_fast_valu. */
#define VECTOR(name, count, is_float, expression)                                                                      \
	INLINE vi name##_block(ARGUMENTS) { return expression; }                                                       \
	HANDLER name(struct sg_wave *w, const struct sg_op *op)                                                        \
	{                                                                                                              \
		if (is_float && unlikely(!w->f32_plain))                                                               \
			return op->insn->run(w, op);                                                                   \
		run_any(w, op, count, name##_block);                                                                   \
		return op + 1;                                                                                         \
	}                                                                                                              \
	HANDLER name##_vgprs(struct sg_wave *w, const struct sg_op *op)                                                \
	{                                                                                                              \
		compute_fn *const compute = name##_block;                                                              \
		if (unlikely(!is_whole(w) || (is_float && !w->f32_plain)))                                             \
			return name(w, op);                                                                            \
		sg_lanes *v = w->v[0];                                                                                 \
		const uint32_t *pa = v[op->src[0].reg], *pb = v[op->src[1].reg], *pc = v[op->src[2].reg];              \
		uint32_t *d = v[op->dst], carry = w->sgpr[op->carry];                                                  \
		EACH(load(pa, i), pb, pc);                                                                             \
		return op + 1;                                                                                         \
	}                                                                                                              \
	HANDLER name##_scalar(struct sg_wave *w, const struct sg_op *op)                                               \
	{                                                                                                              \
		compute_fn *const compute = name##_block;                                                              \
		if (unlikely(!is_whole(w) || (is_float && !w->f32_plain)))                                             \
			return name(w, op);                                                                            \
		sg_lanes *v = w->v[0];                                                                                 \
		const uint32_t *pb = v[op->src[1].reg], *pc = v[op->src[2].reg];                                       \
		uint32_t *d = v[op->dst], carry = w->sgpr[op->carry];                                                  \
		vi first = splat(*scalar_of(w, &op->src[0]));                                                          \
		EACH(first, pb, pc);                                                                                   \
		return op + 1;                                                                                         \
	}

#define COUNT(x, bits) and(x, splat(bits))

VECTOR(f_mul, 2, true, as_int(fmul(FA, FB)))
VECTOR(f_add, 2, true, as_int(fadd(FA, FB)))
VECTOR(f_sub, 2, true, as_int(fsub(FA, FB)))
VECTOR(f_subrev, 2, true, as_int(fsub(FB, FA)))
VECTOR(f_fmac, 2, true, as_int(fused(FA, FB, FD)))
VECTOR(f_fma, 3, true, as_int(fused(FA, FB, FC)))
VECTOR(f_mov, 1, false, a)
VECTOR(f_not, 1, false, xor(a, splat(UINT32_MAX)))
VECTOR(f_add_u32, 2, false, add(a, b))
VECTOR(f_sub_u32, 2, false, sub(a, b))
VECTOR(f_subrev_u32, 2, false, sub(b, a))
VECTOR(f_and, 2, false, and(a, b))
VECTOR(f_or, 2, false, or(a, b))
VECTOR(f_xor, 2, false, xor(a, b))
VECTOR(f_lshlrev, 2, false, shl(b, COUNT(a, 31)))
VECTOR(f_lshrrev, 2, false, shr(b, COUNT(a, 31)))
VECTOR(f_ashrrev, 2, false, sar(b, COUNT(a, 31)))
VECTOR(f_min_i32, 2, false, min_i(a, b))
VECTOR(f_max_i32, 2, false, max_i(a, b))
VECTOR(f_min_u32, 2, false, min_u(a, b))
VECTOR(f_max_u32, 2, false, max_u(a, b))
VECTOR(f_mul_lo, 2, false, mullo(a, b))
VECTOR(f_mul_u24, 2, false, mullo(COUNT(a, 0xffffff), COUNT(b, 0xffffff)))
VECTOR(f_mad_u24, 3, false, add(mullo(COUNT(a, 0xffffff), COUNT(b, 0xffffff)), c))
VECTOR(f_cndmask, 2, false, blend(m, a, b))
VECTOR(f_add3, 3, false, add(add(a, b), c))
VECTOR(f_lshl_add, 3, false, add(shl(a, COUNT(b, 31)), c))
VECTOR(f_add_lshl, 3, false, shl(add(a, b), COUNT(c, 31)))
VECTOR(f_lshl_or, 3, false, or(shl(a, COUNT(b, 31)), c))
VECTOR(f_and_or, 3, false, or(and(a, b), c))
VECTOR(f_or3, 3, false, or(or(a, b), c))
VECTOR(f_xor3, 3, false, xor(xor(a, b), c))
VECTOR(f_xad, 3, false, add(xor(a, b), c))

/* (s0 >> s1) & ((1 << s2) - 1); a width of 0 gives 0 */
VECTOR(f_bfe_u32, 3, false, and(shr(a, COUNT(b, 31)), sub(shl(splat(1), COUNT(c, 31)), splat(1))))
VECTOR(f_bfi, 3, false, or(and(a, b), and(xor(a, splat(UINT32_MAX)), c)))

/* Compares and carries: masks are written after both halves have read. A block function stores into *r what goes to
 * the destination, if anything does. */

typedef vm mask_fn(vi *r, vi a, vi b, vm m);

INLINE uint32_t
mask_half(struct sg_wave *w, const struct sg_op *op, unsigned half, uint32_t exec, bool writes, mask_fn *compute)
{
	uint32_t tmp[2][SG_LANES] __attribute__((aligned(128))), carry = w->sgpr[op->carry + half], mask = 0;
	const uint32_t *pa = operand(w, &op->src[0], half, tmp[0]), *pb = operand(w, &op->src[1], half, tmp[1]);
	uint32_t *d = w->v[half][op->dst];

	for (unsigned i = 0; i < BLOCKS; i++) {
		vi r = splat(0);
		mask |= bits_of(compute(&r, load(pa, i), load(pb, i), lanes(carry, i))) << WIDTH * i;
		if (writes && exec == UINT32_MAX)
			store(d, i, r);
		else if (writes)
			put(d, i, r, exec);
	}
	return mask & exec;
}

INLINE const struct sg_op *
run_mask(struct sg_wave *w, const struct sg_op *op, bool writes, mask_fn *compute)
{
	unsigned dst = op->flags & SG_OP_CMPX ? SG_REG_EXEC : op->sdst;
	uint32_t mask[2];

	if (is_whole(w)) {
		w->sgpr[dst] = mask_half(w, op, 0, UINT32_MAX, writes, compute);
		return op + 1;
	}
	for (unsigned half = 0; half < w->halves; half++)
		mask[half] = mask_half(w, op, half, sg_exec(w, half), writes, compute);
	for (unsigned half = 0; half < w->halves; half++)
		w->sgpr[dst + half] = mask[half];
	return op + 1;
}

#define MASK(name, is_float, writes, expression)                                                                       \
	INLINE vm name##_block(vi *r __attribute__((unused)), vi a, vi b, vm m __attribute__((unused)))                \
	{                                                                                                              \
		return expression;                                                                                     \
	}                                                                                                              \
	HANDLER name(struct sg_wave *w, const struct sg_op *op)                                                        \
	{                                                                                                              \
		if (is_float && unlikely(!w->f32_plain))                                                               \
			return op->insn->run(w, op);                                                                   \
		return run_mask(w, op, writes, name##_block);                                                          \
	}
#define COMPARE(name, expression) MASK(name, false, false, expression)
#define COMPAREF(name, predicate) MASK(name, true, false, fcmp(FA, FB, predicate))

COMPARE(f_eq, eq(a, b))
COMPARE(f_ne, m_not(eq(a, b)))
COMPARE(f_gt_i32, gt_i(a, b))
COMPARE(f_lt_i32, gt_i(b, a))
COMPARE(f_ge_i32, m_not(gt_i(b, a)))
COMPARE(f_le_i32, m_not(gt_i(a, b)))
COMPARE(f_gt_u32, gt_u(a, b))
COMPARE(f_lt_u32, gt_u(b, a))
COMPARE(f_ge_u32, m_not(gt_u(b, a)))
COMPARE(f_le_u32, m_not(gt_u(a, b)))
COMPAREF(f_lt_f32, _CMP_LT_OQ)
COMPAREF(f_gt_f32, _CMP_GT_OQ)
COMPAREF(f_le_f32, _CMP_LE_OQ)
COMPAREF(f_ge_f32, _CMP_GE_OQ)
COMPAREF(f_eq_f32, _CMP_EQ_OQ)
COMPAREF(f_neq_f32, _CMP_NEQ_UQ)
COMPAREF(f_nlt_f32, _CMP_NLT_UQ)
COMPAREF(f_ngt_f32, _CMP_NGT_UQ)
COMPAREF(f_nle_f32, _CMP_NLE_UQ)
COMPAREF(f_nge_f32, _CMP_NGE_UQ)

INLINE vm
add_carry(vi *r, vi a, vi b, vm carry)
{
	vi sum = add(a, b);
	*r = add(sum, blend(carry, splat(0), splat(1)));
	return m_or(gt_u(a, sum), m_and(carry, eq(sum, splat(UINT32_MAX))));
}

MASK(f_add_co, false, true, add_carry(r, a, b, none()))
MASK(f_add_co_ci, false, true, add_carry(r, a, b, m))

/* d[63:0] = s1 << s0, the address arithmetic of every kernel */
HANDLER
f_lshlrev_b64(struct sg_wave *w, const struct sg_op *op)
{
	uint32_t tmp[SG_LANES] __attribute__((aligned(128))), other[SG_LANES] __attribute__((aligned(128)));

	if (op->src[1].kind == SG_K_SGPR)
		return op->insn->run(w, op);
	for (unsigned half = 0; half < w->halves; half++) {
		uint32_t exec = sg_exec(w, half), *d = w->v[half][op->dst];
		const uint32_t *n = operand(w, &op->src[0], half, tmp), *s = operand(w, &op->src[1], half, other);
		for (unsigned i = 0; i < BLOCKS; i++) {
			/* shl and shr give 0 for counts of 32 and more */
			vi count = COUNT(load(n, i), 63), lo = load(s, i), hi = load(s + SG_LANES, i);
			vi carried = or(shr(lo, sub(splat(32), count)), shl(lo, sub(count, splat(32))));
			put(d, i, shl(lo, count), exec);
			put(d + SG_LANES, i, or(shl(hi, count), carried), exec);
		}
	}
	return op + 1;
}

/* d[63:0] = s0 * s1 + s2[63:0]; the mask gets the carry out. */
INLINE uint32_t
mad_half(uint32_t *d, const uint32_t *pa, const uint32_t *pb, const uint32_t *pc, uint32_t exec)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < BLOCKS; i++) {
		vi a = load(pa, i), b = load(pb, i), lo = load(pc, i), hi = load(pc + SG_LANES, i);
		vi even_c = odd_of(lo, up32(hi)), odd_c = odd_of(down32(lo), hi);
		vi even = add64(mul_even(a, b), even_c), odd = add64(mul_even(down32(a), down32(b)), odd_c);
		mask |= bits_of(odd_mask(less64(even, even_c), less64(odd, odd_c))) << WIDTH * i;
		if (exec == UINT32_MAX) {
			store(d, i, odd_of(even, up32(odd)));
			store(d + SG_LANES, i, odd_of(down32(even), odd));
		} else {
			put(d, i, odd_of(even, up32(odd)), exec);
			put(d + SG_LANES, i, odd_of(down32(even), odd), exec);
		}
	}
	return mask & exec;
}

HANDLER
f_mad_u64_u32(struct sg_wave *w, const struct sg_op *op)
{
	uint32_t tmp[3][SG_LANES] __attribute__((aligned(128))), mask[2];

	if (op->src[2].kind == SG_K_SGPR)
		return op->insn->run(w, op);
	for (unsigned half = 0; half < w->halves; half++) {
		const uint32_t *pa = operand(w, &op->src[0], half, tmp[0]), *pb = operand(w, &op->src[1], half, tmp[1]);
		const uint32_t *pc = operand(w, &op->src[2], half, tmp[2]);
		uint32_t *d = w->v[half][op->dst], exec = sg_exec(w, half);
		mask[half] = exec == UINT32_MAX ? mad_half(d, pa, pb, pc, UINT32_MAX) : mad_half(d, pa, pb, pc, exec);
	}
	for (unsigned half = 0; half < w->halves; half++)
		w->sgpr[op->sdst + half] = mask[half];
	return op + 1;
}
