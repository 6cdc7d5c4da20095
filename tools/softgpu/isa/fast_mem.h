/* SPDX-License-Identifier: MIT */
/* fast_mem.h: loads and stores of whole dwords in LDS and global memory, compiled once for each vector extension by
 * fast_*.c. They do the ordinary case: all active lanes inside LDS, or inside one mapping that the host can touch.
 * Anything else they hand, as a whole and before anything has changed, to lds.c or vmem.c.
 *
 * Each has two ways: that of rows, where all lanes are active and go to one dword after the other (RUN) or to the same
 * dword (SAME), and the one by gathering.
 */
#define SLOW static __attribute__((noinline)) const struct sg_op *

enum pattern { RUN, SAME };

static const uint32_t steps[SG_LANES] __attribute__((aligned(128))) = {
	0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60,
	64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124,
};

/* Bytes of all lanes' dwords. */
INLINE uint32_t
extent(enum pattern pattern)
{
	return pattern == RUN ? 4 * SG_LANES : 4;
}

INLINE bool
has_pattern(const uint32_t *at, enum pattern pattern)
{
	if (at[SG_LANES - 1] - at[0] != extent(pattern) - 4)
		return false;
	vi first = splat(at[0]);
	vm equal = eq(load(at, 0), pattern == RUN ? add(first, load(steps, 0)) : first);

	for (unsigned i = 1; i < BLOCKS; i++)
		equal = m_and(equal, eq(load(at, i), pattern == RUN ? add(first, load(steps, i)) : first));
	return is_all(equal) && (pattern == SAME || at[0] <= UINT32_MAX - 4 * SG_LANES);
}

INLINE void
load_row(uint32_t *d, const uint8_t *from, enum pattern pattern)
{
	uint32_t one;

	memcpy(&one, from, 4);
	for (unsigned i = 0; i < BLOCKS; i++)
		store(d, i, pattern == RUN ? load((const uint32_t *)(const void *)from, i) : splat(one));
}

INLINE void
store_row(uint8_t *to, const uint32_t *s)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		store((uint32_t *)(void *)to, i, load(s, i));
}

/* Where scattered lanes of one half go: base + at[i], for active lanes below 2^31. */
struct spots {
	uint32_t exec;
	uint8_t *base;
	vi at[BLOCKS];
};

INLINE void
load_dword(uint32_t *d, const struct spots *s, unsigned offset)
{
	const uint8_t *base = s->base + offset;

	for (unsigned i = 0; i < BLOCKS; i++)
		store(d, i, s->exec == UINT32_MAX ? gather(base, s->at[i]) :
			    gather_some(load(d, i), base, s->at[i], lanes(s->exec, i)));
}

/* Lane by lane: lanes may overlap, and the last one wins with all its dwords. */
INLINE void
store_lanes(const uint32_t *data, unsigned dwords, const struct spots *s, unsigned offset)
{
	uint32_t at[SG_LANES] __attribute__((aligned(128)));

	for (unsigned i = 0; i < BLOCKS; i++)
		store(at, i, s->at[i]);
	for (uint32_t left = s->exec; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);
		for (unsigned r = 0; r < dwords; r++)
			memcpy(s->base + offset + at[i] + 4 * r, &data[SG_LANES * r + i], 4);
	}
}

/* LDS. Addresses in range are so small that address + offset does not wrap. A lane touches the `size` bytes behind its
 * address and `offset`, at most. */

INLINE bool
lds_rows(const struct sg_wave *w, const struct sg_op *op, enum pattern pattern, uint32_t offset, uint8_t *rows[2])
{
	for (unsigned half = 0; half < w->halves; half++) {
		const uint32_t *at = w->v[half][op->addr];
		if (sg_exec(w, half) != UINT32_MAX || !has_pattern(at, pattern))
			return false;
		if (at[0] > w->lds_bytes || w->lds_bytes - at[0] < offset + extent(pattern))
			return false;
		rows[half] = w->lds + at[0];
	}
	return true;
}

INLINE bool
lds_spots(const struct sg_wave *w, const struct sg_op *op, uint32_t offset, uint32_t size, struct spots *spots)
{
	if (w->lds_bytes < offset + size)
		return false;
	vi last = splat(w->lds_bytes - offset - size);
	for (unsigned half = 0; half < w->halves; half++) {
		struct spots *s = &spots[half];
		uint32_t outside = 0;
		s->exec = sg_exec(w, half);
		s->base = w->lds;
		for (unsigned i = 0; i < BLOCKS; i++) {
			s->at[i] = load(w->v[half][op->addr], i);
			outside |= bits_of(gt_u(s->at[i], last)) << WIDTH * i;
		}
		if (outside & s->exec)
			return false;
	}
	return true;
}

SLOW
lds_load_spots(struct sg_wave *w, const struct sg_op *op)
{
	unsigned bytes = ((const struct sg_mem_op *)op->sem)->bytes, offset = (unsigned)op->imm;
	struct spots s[2];

	if (!lds_spots(w, op, offset, bytes, s))
		return op->insn->run(w, op);
	for (unsigned half = 0; half < w->halves; half++)
		for (unsigned r = 0; r < bytes / 4; r++)
			load_dword(w->v[half][op->dst + r], &s[half], offset + 4 * r);
	return op + 1;
}

SLOW
lds_store_spots(struct sg_wave *w, const struct sg_op *op)
{
	unsigned bytes = ((const struct sg_mem_op *)op->sem)->bytes, offset = (unsigned)op->imm;
	struct spots s[2];

	if (!lds_spots(w, op, offset, bytes, s))
		return op->insn->run(w, op);
	for (unsigned half = 0; half < w->halves; half++)
		store_lanes(w->v[half][op->data0], bytes / 4, &s[half], offset);
	return op + 1;
}

INLINE bool
lds_load_rows(struct sg_wave *w, const struct sg_op *op, enum pattern pattern)
{
	uint8_t *rows[2];

	if (!lds_rows(w, op, pattern, (uint32_t)op->imm, rows))
		return false;
	for (unsigned half = 0; half < w->halves; half++)
		load_row(w->v[half][op->dst], rows[half] + op->imm, pattern);
	return true;
}

HANDLER
lds_load(struct sg_wave *w, const struct sg_op *op)
{
	if (((const struct sg_mem_op *)op->sem)->bytes == 4 && (lds_load_rows(w, op, RUN) || lds_load_rows(w, op, SAME)))
		return op + 1;
	return lds_load_spots(w, op);
}

HANDLER
lds_store(struct sg_wave *w, const struct sg_op *op)
{
	uint8_t *rows[2];

	if (((const struct sg_mem_op *)op->sem)->bytes != 4 || !lds_rows(w, op, RUN, (uint32_t)op->imm, rows))
		return lds_store_spots(w, op);
	for (unsigned half = 0; half < w->halves; half++)
		store_row(rows[half] + op->imm, w->v[half][op->data0]);
	return op + 1;
}

/* Two addresses: fills both offsets, returns the larger one. */
INLINE uint32_t
pair_offsets(const struct sg_op *op, uint32_t offset[2])
{
	offset[0] = sg_pair_offset(op, op->sem, 0);
	offset[1] = sg_pair_offset(op, op->sem, 1);
	return offset[0] > offset[1] ? offset[0] : offset[1];
}

SLOW
lds_load_pair_spots(struct sg_wave *w, const struct sg_op *op)
{
	unsigned bytes = ((const struct sg_mem_op *)op->sem)->bytes, dwords = bytes / 4;
	uint32_t offset[2];
	struct spots s[2];

	if (!lds_spots(w, op, pair_offsets(op, offset), bytes, s))
		return op->insn->run(w, op);
	for (unsigned half = 0; half < w->halves; half++)
		for (unsigned r = 0; r < dwords; r++) {
			load_dword(w->v[half][op->dst + r], &s[half], offset[0] + 4 * r);
			load_dword(w->v[half][op->dst + dwords + r], &s[half], offset[1] + 4 * r);
		}
	return op + 1;
}

/* All first addresses, then all second ones: seen where lanes overlap. */
SLOW
lds_store_pair_spots(struct sg_wave *w, const struct sg_op *op)
{
	unsigned bytes = ((const struct sg_mem_op *)op->sem)->bytes;
	uint32_t offset[2];
	struct spots s[2];

	if (!lds_spots(w, op, pair_offsets(op, offset), bytes, s))
		return op->insn->run(w, op);
	for (unsigned half = 0; half < w->halves; half++) {
		store_lanes(w->v[half][op->data0], bytes / 4, &s[half], offset[0]);
		store_lanes(w->v[half][op->data1], bytes / 4, &s[half], offset[1]);
	}
	return op + 1;
}

INLINE bool
lds_load_pair_rows(struct sg_wave *w, const struct sg_op *op, enum pattern pattern)
{
	uint32_t offset[2];
	uint8_t *rows[2];

	if (!lds_rows(w, op, pattern, pair_offsets(op, offset), rows))
		return false;
	for (unsigned half = 0; half < w->halves; half++) {
		load_row(w->v[half][op->dst], rows[half] + offset[0], pattern);
		load_row(w->v[half][op->dst + 1], rows[half] + offset[1], pattern);
	}
	return true;
}

HANDLER
lds_load_pair(struct sg_wave *w, const struct sg_op *op)
{
	if (((const struct sg_mem_op *)op->sem)->bytes == 4 &&
	    (lds_load_pair_rows(w, op, RUN) || lds_load_pair_rows(w, op, SAME)))
		return op + 1;
	return lds_load_pair_spots(w, op);
}

HANDLER
lds_store_pair(struct sg_wave *w, const struct sg_op *op)
{
	uint32_t offset[2];
	uint8_t *rows[2];

	if (((const struct sg_mem_op *)op->sem)->bytes != 4 || !lds_rows(w, op, RUN, pair_offsets(op, offset), rows))
		return lds_store_pair_spots(w, op);
	for (unsigned half = 0; half < w->halves; half++) {
		store_row(rows[half] + offset[0], w->v[half][op->data0]);
		store_row(rows[half] + offset[1], w->v[half][op->data1]);
	}
	return op + 1;
}

/* Global memory, and FLAT outside the apertures */

/* What all active lanes' addresses have in common. False: their upper halves differ. */
INLINE bool
common_base(const struct sg_wave *w, const struct sg_op *op, unsigned half, uint32_t exec, uint64_t *base)
{
	const uint32_t *s = &w->sgpr[op->sdst], *high = w->v[half][op->addr + 1];

	*base = (uint64_t)op->imm;
	if (op->flags & SG_OP_SADDR) {
		*base += s[0] | (uint64_t)s[1] << 32;
		return true;
	}
	uint32_t first = high[__builtin_ctz(exec)];
	vm equal = m_or(eq(load(high, 0), splat(first)), m_not(lanes(exec, 0)));
	for (unsigned i = 1; i < BLOCKS; i++)
		equal = m_and(equal, m_or(eq(load(high, i), splat(first)), m_not(lanes(exec, i))));
	*base += (uint64_t)first << 32;
	return is_all(equal);
}

/* Host address of [va, va + bytes), if the quick ways may use it, else NULL. */
INLINE uint8_t *
host_at(struct sg_wave *w, const struct sg_op *op, uint64_t va, uint32_t bytes, uint32_t right)
{
	uint64_t last = va + bytes - 1;

	if (op->insn->form == SG_FORM_FLAT &&
	    (va >> 32 == SG_SHARED_APERTURE || va >> 32 == SG_PRIVATE_APERTURE ||
	     last >> 32 == SG_SHARED_APERTURE || last >> 32 == SG_PRIVATE_APERTURE))
		return NULL;
	return sg_mem_near(w->core, va, bytes, right);
}

INLINE bool
global_rows(struct sg_wave *w, const struct sg_op *op, uint32_t right, uint8_t *rows[2])
{
	uint64_t base;

	if (((const struct sg_mem_op *)op->sem)->bytes != 4)
		return false;
	for (unsigned half = 0; half < w->halves; half++) {
		const uint32_t *at = w->v[half][op->addr];
		if (sg_exec(w, half) != UINT32_MAX || !has_pattern(at, RUN) ||
		    !common_base(w, op, half, UINT32_MAX, &base))
			return false;
		if (!(rows[half] = host_at(w, op, base + at[0], extent(RUN), right)))
			return false;
	}
	return true;
}

/* Least and largest offset of the active lanes. */
INLINE void
bounds(const uint32_t *at, uint32_t exec, uint32_t *low, uint32_t *high)
{
	vi least = splat(UINT32_MAX), most = splat(0);

	for (unsigned i = 0; i < BLOCKS; i++) {
		least = min_u(least, blend(lanes(exec, i), splat(UINT32_MAX), load(at, i)));
		most = max_u(most, blend(lanes(exec, i), splat(0), load(at, i)));
	}
	*low = least_of(least);
	*high = most_of(most);
}

INLINE bool
global_spots(struct sg_wave *w, const struct sg_op *op, uint32_t right, struct spots *spots)
{
	unsigned bytes = ((const struct sg_mem_op *)op->sem)->bytes;
	uint32_t low, high;
	uint64_t base;

	if (w->core->mem->hostile)
		return false;
	for (unsigned half = 0; half < w->halves; half++) {
		const uint32_t *at = w->v[half][op->addr];
		struct spots *s = &spots[half];
		if (!(s->exec = sg_exec(w, half)))
			continue;
		if (!common_base(w, op, half, s->exec, &base))
			return false;
		bounds(at, s->exec, &low, &high);
		if (high - low > INT32_MAX || !(s->base = host_at(w, op, base + low, high - low + bytes, right)))
			return false;
		for (unsigned i = 0; i < BLOCKS; i++)
			s->at[i] = sub(load(at, i), splat(low));
	}
	return true;
}

SLOW
global_load_spots(struct sg_wave *w, const struct sg_op *op)
{
	unsigned dwords = ((const struct sg_mem_op *)op->sem)->bytes / 4;
	struct spots s[2];

	if (!global_spots(w, op, SG_ACCESS_READ, s))
		return op->insn->run(w, op);
	for (unsigned half = 0; half < w->halves; half++)
		for (unsigned r = 0; s[half].exec && r < dwords; r++)
			load_dword(w->v[half][op->dst + r], &s[half], 4 * r);
	return op + 1;
}

SLOW
global_store_spots(struct sg_wave *w, const struct sg_op *op)
{
	unsigned dwords = ((const struct sg_mem_op *)op->sem)->bytes / 4;
	struct spots s[2];

	if (!global_spots(w, op, SG_ACCESS_WRITE, s))
		return op->insn->run(w, op);
	for (unsigned half = 0; half < w->halves; half++)
		if (s[half].exec)
			store_lanes(w->v[half][op->data0], dwords, &s[half], 0);
	return op + 1;
}

HANDLER
global_load(struct sg_wave *w, const struct sg_op *op)
{
	uint8_t *rows[2];

	if (!global_rows(w, op, SG_ACCESS_READ, rows))
		return global_load_spots(w, op);
	for (unsigned half = 0; half < w->halves; half++)
		load_row(w->v[half][op->dst], rows[half], RUN);
	return op + 1;
}

HANDLER
global_store(struct sg_wave *w, const struct sg_op *op)
{
	uint8_t *rows[2];

	if (!global_rows(w, op, SG_ACCESS_WRITE, rows))
		return global_store_spots(w, op);
	for (unsigned half = 0; half < w->halves; half++)
		store_row(rows[half], w->v[half][op->data0]);
	return op + 1;
}
