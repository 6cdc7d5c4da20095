/* SPDX-License-Identifier: MIT */
/* lds.c: DS instructions. Groups run on one host thread, so LDS needs no host atomics. Out of range reads give 0 and
 * writes are dropped. */
#include "core.h"

#define LOAD(n, size, s, half) { .name = n, .kind = SG_M_LOAD, .bytes = size, .sign = s, .d16 = half }
#define STORE(n, size, half) { .name = n, .kind = SG_M_STORE, .bytes = size, .d16 = half }
#define PAIR(n, k, size, far) { .name = n, .kind = k, .bytes = size, .addrs = 2, .stride64 = far }
#define ATOMIC(n, rtn, size, op) { .name = n, .kind = SG_M_ATOMIC, .bytes = size, .atomic = op },                      \
	{ .name = rtn, .kind = SG_M_ATOMIC, .bytes = size, .atomic = op, .returns = 1 }
#define COMPARE(n, size, op, rtn) { .name = n, .kind = SG_M_ATOMIC, .bytes = size, .atomic = op, .returns = rtn,       \
	.compare_first = 1 }
#define RETURNS(n, size, op) { .name = n, .kind = SG_M_ATOMIC, .bytes = size, .atomic = op, .returns = 1 }

static const struct sg_mem_op ops[] = {
	LOAD("ds_load_b32", 4, 0, 0), LOAD("ds_load_b64", 8, 0, 0), LOAD("ds_load_b96", 12, 0, 0),
	LOAD("ds_load_b128", 16, 0, 0), LOAD("ds_load_u8", 1, 0, 0), LOAD("ds_load_i8", 1, 1, 0),
	LOAD("ds_load_u16", 2, 0, 0), LOAD("ds_load_i16", 2, 1, 0), LOAD("ds_load_u8_d16", 1, 0, SG_D16_LOW),
	LOAD("ds_load_u8_d16_hi", 1, 0, SG_D16_HIGH), LOAD("ds_load_i8_d16", 1, 1, SG_D16_LOW),
	LOAD("ds_load_i8_d16_hi", 1, 1, SG_D16_HIGH), LOAD("ds_load_u16_d16", 2, 0, SG_D16_LOW),
	LOAD("ds_load_u16_d16_hi", 2, 0, SG_D16_HIGH), LOAD("ds_load_addtid_b32", 4, 0, 0),
	STORE("ds_store_b32", 4, 0), STORE("ds_store_b64", 8, 0), STORE("ds_store_b96", 12, 0),
	STORE("ds_store_b128", 16, 0), STORE("ds_store_b8", 1, 0), STORE("ds_store_b16", 2, 0),
	STORE("ds_store_b8_d16_hi", 1, SG_D16_HIGH), STORE("ds_store_b16_d16_hi", 2, SG_D16_HIGH),
	STORE("ds_store_addtid_b32", 4, 0),
	PAIR("ds_load_2addr_b32", SG_M_LOAD, 4, 0), PAIR("ds_load_2addr_b64", SG_M_LOAD, 8, 0),
	PAIR("ds_load_2addr_stride64_b32", SG_M_LOAD, 4, 1), PAIR("ds_load_2addr_stride64_b64", SG_M_LOAD, 8, 1),
	PAIR("ds_store_2addr_b32", SG_M_STORE, 4, 0), PAIR("ds_store_2addr_b64", SG_M_STORE, 8, 0),
	PAIR("ds_store_2addr_stride64_b32", SG_M_STORE, 4, 1), PAIR("ds_store_2addr_stride64_b64", SG_M_STORE, 8, 1),
	PAIR("ds_storexchg_2addr_rtn_b32", SG_M_ATOMIC, 4, 0), PAIR("ds_storexchg_2addr_rtn_b64", SG_M_ATOMIC, 8, 0),
	PAIR("ds_storexchg_2addr_stride64_rtn_b32", SG_M_ATOMIC, 4, 1),
	PAIR("ds_storexchg_2addr_stride64_rtn_b64", SG_M_ATOMIC, 8, 1),
	RETURNS("ds_storexchg_rtn_b32", 4, SG_A_SWAP), RETURNS("ds_storexchg_rtn_b64", 8, SG_A_SWAP),
	RETURNS("ds_wrap_rtn_b32", 4, SG_A_WRAP), RETURNS("ds_condxchg32_rtn_b64", 8, SG_A_CONDXCHG),
	ATOMIC("ds_add_u32", "ds_add_rtn_u32", 4, SG_A_ADD), ATOMIC("ds_add_u64", "ds_add_rtn_u64", 8, SG_A_ADD),
	ATOMIC("ds_sub_u32", "ds_sub_rtn_u32", 4, SG_A_SUB), ATOMIC("ds_sub_u64", "ds_sub_rtn_u64", 8, SG_A_SUB),
	ATOMIC("ds_rsub_u32", "ds_rsub_rtn_u32", 4, SG_A_RSUB), ATOMIC("ds_rsub_u64", "ds_rsub_rtn_u64", 8, SG_A_RSUB),
	ATOMIC("ds_inc_u32", "ds_inc_rtn_u32", 4, SG_A_INC), ATOMIC("ds_inc_u64", "ds_inc_rtn_u64", 8, SG_A_INC),
	ATOMIC("ds_dec_u32", "ds_dec_rtn_u32", 4, SG_A_DEC), ATOMIC("ds_dec_u64", "ds_dec_rtn_u64", 8, SG_A_DEC),
	ATOMIC("ds_min_i32", "ds_min_rtn_i32", 4, SG_A_SMIN), ATOMIC("ds_min_i64", "ds_min_rtn_i64", 8, SG_A_SMIN),
	ATOMIC("ds_max_i32", "ds_max_rtn_i32", 4, SG_A_SMAX), ATOMIC("ds_max_i64", "ds_max_rtn_i64", 8, SG_A_SMAX),
	ATOMIC("ds_min_u32", "ds_min_rtn_u32", 4, SG_A_UMIN), ATOMIC("ds_min_u64", "ds_min_rtn_u64", 8, SG_A_UMIN),
	ATOMIC("ds_max_u32", "ds_max_rtn_u32", 4, SG_A_UMAX), ATOMIC("ds_max_u64", "ds_max_rtn_u64", 8, SG_A_UMAX),
	ATOMIC("ds_and_b32", "ds_and_rtn_b32", 4, SG_A_AND), ATOMIC("ds_and_b64", "ds_and_rtn_b64", 8, SG_A_AND),
	ATOMIC("ds_or_b32", "ds_or_rtn_b32", 4, SG_A_OR), ATOMIC("ds_or_b64", "ds_or_rtn_b64", 8, SG_A_OR),
	ATOMIC("ds_xor_b32", "ds_xor_rtn_b32", 4, SG_A_XOR), ATOMIC("ds_xor_b64", "ds_xor_rtn_b64", 8, SG_A_XOR),
	ATOMIC("ds_mskor_b32", "ds_mskor_rtn_b32", 4, SG_A_MSKOR),
	ATOMIC("ds_mskor_b64", "ds_mskor_rtn_b64", 8, SG_A_MSKOR),
	ATOMIC("ds_cmpstore_b32", "ds_cmpstore_rtn_b32", 4, SG_A_CMPSWAP),
	ATOMIC("ds_cmpstore_b64", "ds_cmpstore_rtn_b64", 8, SG_A_CMPSWAP),
	ATOMIC("ds_cmpstore_f32", "ds_cmpstore_rtn_f32", 4, SG_A_FCMPSWAP),
	ATOMIC("ds_cmpstore_f64", "ds_cmpstore_rtn_f64", 8, SG_A_FCMPSWAP),
	COMPARE("ds_cmpst_b32", 4, SG_A_CMPSWAP, 0), COMPARE("ds_cmpst_rtn_b32", 4, SG_A_CMPSWAP, 1),
	COMPARE("ds_cmpst_b64", 8, SG_A_CMPSWAP, 0), COMPARE("ds_cmpst_rtn_b64", 8, SG_A_CMPSWAP, 1),
	COMPARE("ds_cmpst_f32", 4, SG_A_FCMPSWAP, 0), COMPARE("ds_cmpst_rtn_f32", 4, SG_A_FCMPSWAP, 1),
	COMPARE("ds_cmpst_f64", 8, SG_A_FCMPSWAP, 0), COMPARE("ds_cmpst_rtn_f64", 8, SG_A_FCMPSWAP, 1),
	ATOMIC("ds_min_f32", "ds_min_rtn_f32", 4, SG_A_FMIN), ATOMIC("ds_min_f64", "ds_min_rtn_f64", 8, SG_A_FMIN),
	ATOMIC("ds_max_f32", "ds_max_rtn_f32", 4, SG_A_FMAX), ATOMIC("ds_max_f64", "ds_max_rtn_f64", 8, SG_A_FMAX),
	ATOMIC("ds_add_f32", "ds_add_rtn_f32", 4, SG_A_FADD),
};

static bool
holds(const struct sg_wave *w, uint32_t address, unsigned bytes)
{
	return address <= w->lds_bytes && w->lds_bytes - address >= bytes;
}

static void
load(const struct sg_wave *w, uint32_t address, void *to, unsigned bytes)
{
	if (holds(w, address, bytes))
		memcpy(to, w->lds + address, bytes);
	else
		memset(to, 0, bytes);
}

static void
store(const struct sg_wave *w, uint32_t address, const void *from, unsigned bytes)
{
	if (holds(w, address, bytes))
		memcpy(w->lds + address, from, bytes);
}

static uint64_t
reg(const struct sg_wave *w, unsigned half, unsigned number, unsigned i, unsigned bytes)
{
	const uint32_t *s = w->v[half][number];
	return bytes == 8 ? s[i] | (uint64_t)s[SG_LANES + i] << 32 : s[i];
}

static void
put(uint32_t *d, unsigned i, uint64_t value, unsigned bytes)
{
	d[i] = (uint32_t)value;
	if (bytes == 8)
		d[SG_LANES + i] = (uint32_t)(value >> 32);
}

static bool
all_consecutive(const uint32_t *a)
{
	uint32_t wrong = 0;
	for (unsigned i = 0; i < SG_LANES; i++)
		wrong |= a[i] ^ (a[0] + 4 * i);
	return !wrong;
}

static void
fill(uint32_t *d, uint32_t value)
{
	for (unsigned i = 0; i < SG_LANES; i++)
		d[i] = value;
}

static void
load_pair(struct sg_wave *w, const struct sg_op *op, unsigned half, uint32_t exec)
{
	const struct sg_mem_op *m = op->sem;
	uint32_t a[SG_LANES] __attribute__((aligned(128))), *d = w->v[half][op->dst];
	memcpy(a, w->v[half][op->addr], sizeof a);

	for (unsigned which = 0; which < 2; which++, d += SG_LANES * (m->bytes / 4)) {
		uint32_t offset = sg_pair_offset(op, m, which);
		if (sg_lds_gather(w, d, a, offset, m->bytes / 4, exec))
			continue;
		for (uint32_t left = exec; left; left &= left - 1) {
			unsigned i = (unsigned)__builtin_ctz(left);
			uint64_t value = 0;
			load(w, a[i] + offset, &value, m->bytes);
			put(d, i, value, m->bytes);
		}
	}
}

static void
put_narrow(const struct sg_mem_op *m, uint32_t *d, uint32_t v)
{
	if (m->sign)
		v = m->bytes == 1 ? (uint32_t)(int8_t)v : (uint32_t)(int16_t)v;
	if (m->d16 == SG_D16_LOW)
		v = (*d & 0xffff0000) | (v & 0xffff);
	else if (m->d16 == SG_D16_HIGH)
		v = (*d & 0xffff) | v << 16;
	*d = v;
}

static void
load_half(struct sg_wave *w, const struct sg_op *op, const uint32_t *a, unsigned half, uint32_t exec)
{
	const struct sg_mem_op *m = op->sem;
	uint32_t *d = w->v[half][op->dst], data[4];

	if (m->bytes >= 4 && sg_lds_gather(w, d, a, 0, m->bytes / 4, exec))
		return;
	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		data[0] = 0;
		load(w, a[i], data, m->bytes);
		if (m->bytes < 4)
			put_narrow(m, &d[i], data[0]);
		for (unsigned r = 0; r < m->bytes / 4; r++)
			d[SG_LANES * r + i] = data[r];
	}
}

static void
store_half(struct sg_wave *w, const struct sg_op *op, const uint32_t *a, unsigned half, uint32_t exec)
{
	const struct sg_mem_op *m = op->sem;
	const uint32_t *s = w->v[half][op->data0];
	uint32_t data[4];

	if (m->bytes == 4 && exec == UINT32_MAX && all_consecutive(a) && holds(w, a[0], 4 * SG_LANES)) {
		memcpy(w->lds + a[0], s, 4 * SG_LANES);
		return;
	}
	if (m->bytes >= 4 && sg_lds_scatter(w, s, a, 0, m->bytes / 4, exec))
		return;
	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		data[0] = m->d16 == SG_D16_HIGH ? s[i] >> 16 : s[i];
		for (unsigned r = 1; r < m->bytes / 4; r++)
			data[r] = s[SG_LANES * r + i];
		store(w, a[i], data, m->bytes);
	}
}

static void
store_pair(struct sg_wave *w, const struct sg_op *op, unsigned half, uint32_t exec)
{
	const struct sg_mem_op *m = op->sem;
	const uint32_t *a = w->v[half][op->addr];

	/* all first addresses, then all second ones: seen where lanes overlap */
	for (unsigned which = 0; which < 2; which++) {
		uint32_t offset = sg_pair_offset(op, m, which);
		const uint32_t *s = w->v[half][which ? op->data1 : op->data0];
		if (sg_lds_scatter(w, s, a, offset, m->bytes / 4, exec))
			continue;
		for (uint32_t left = exec; left; left &= left - 1) {
			unsigned i = (unsigned)__builtin_ctz(left);
			uint64_t value = reg(w, half, which ? op->data1 : op->data0, i, m->bytes);
			store(w, a[i] + offset, &value, m->bytes);
		}
	}
}

static void
exchange_pair(struct sg_wave *w, const struct sg_op *op, unsigned half, uint32_t exec)
{
	const struct sg_mem_op *m = op->sem;
	uint32_t *d = w->v[half][op->dst];

	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		uint32_t a = w->v[half][op->addr][i];
		uint64_t new[2] = { reg(w, half, op->data0, i, m->bytes), reg(w, half, op->data1, i, m->bytes) };
		uint64_t old[2] = { 0, 0 };
		for (unsigned which = 0; which < 2; which++)
			load(w, a + sg_pair_offset(op, m, which), &old[which], m->bytes);
		for (unsigned which = 0; which < 2; which++) {
			store(w, a + sg_pair_offset(op, m, which), &new[which], m->bytes);
			put(d + SG_LANES * (m->bytes / 4) * which, i, old[which], m->bytes);
		}
	}
}

static void
atomic_half(struct sg_wave *w, const struct sg_op *op, const uint32_t *a, unsigned half, uint32_t exec)
{
	const struct sg_mem_op *m = op->sem;
	uint32_t *d = w->v[half][op->dst];

	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		uint64_t old = 0, data = reg(w, half, m->compare_first ? op->data1 : op->data0, i, m->bytes);
		uint64_t second = reg(w, half, m->compare_first ? op->data0 : op->data1, i, m->bytes);
		load(w, a[i], &old, m->bytes);
		uint64_t new = sg_atomic_apply(m->atomic, m->bytes, old, data, second, w->mode);
		store(w, a[i], &new, m->bytes);
		if (m->returns)
			put(d, i, old, m->bytes);
	}
}

static void
run_pair(struct sg_wave *w, const struct sg_op *op, unsigned half, uint32_t exec)
{
	switch (((const struct sg_mem_op *)op->sem)->kind) {
	case SG_M_LOAD: load_pair(w, op, half, exec); break;
	case SG_M_STORE: store_pair(w, op, half, exec); break;
	default: exchange_pair(w, op, half, exec); break;
	}
}

/* addtid forms take their address from M0 and the lane number. */
static void
lane_addresses(const struct sg_wave *w, const struct sg_op *op, unsigned half, uint32_t *a)
{
	const uint32_t *v = w->v[half][op->addr];
	uint32_t base = (w->sgpr[SG_REG_M0] & 0xffff) + (uint32_t)op->imm + 4 * SG_LANES * half;

	if (op->insn->form)
		for (unsigned i = 0; i < SG_LANES; i++)
			a[i] = base + 4 * i;
	else
		for (unsigned i = 0; i < SG_LANES; i++)
			a[i] = v[i] + (uint32_t)op->imm;
}

static const struct sg_op *
run_ds(struct sg_wave *w, const struct sg_op *op)
{
	const struct sg_mem_op *m = op->sem;
	uint32_t a[SG_LANES] __attribute__((aligned(128)));

	for (unsigned half = 0; half < w->halves; half++) {
		uint32_t exec = sg_exec(w, half);
		if (!exec)
			continue;
		if (m->addrs == 2) {
			run_pair(w, op, half, exec);
			continue;
		}
		lane_addresses(w, op, half, a);
		if (m->kind == SG_M_LOAD)
			load_half(w, op, a, half, exec);
		else if (m->kind == SG_M_STORE)
			store_half(w, op, a, half, exec);
		else
			atomic_half(w, op, a, half, exec);
	}
	return op + 1;
}

/* Lane exchanges that only borrow the LDS crossbar */

/* Lane that lane i reads in ds_swizzle; offset patterns as LLVM's AMDGPU Swizzle encodings. */
static int
swizzle_source(unsigned offset, unsigned i)
{
	if (offset >> 13 == 7)
		return -1; /* FFT */
	if (offset >> 13 == 6) {
		unsigned mask = offset & 31, count = offset >> 5 & 31;
		unsigned moved = offset >> 10 & 1 ? i - count : i + count;
		return (int)((i & mask) | (moved & ~mask & 31));
	}
	if (offset & 0x8000)
		return (int)((i & ~3u) | (offset >> 2 * (i & 3) & 3));
	return (int)((((i & offset) | (offset >> 5)) ^ (offset >> 10)) & 31);
}

static const struct sg_op *
run_swizzle(struct sg_wave *w, const struct sg_op *op)
{
	if (op->imm >> 13 == 7)
		return sg_stop_at(w, SG_STOP_ILLEGAL, op->pc, "ds_swizzle_b32 in FFT mode is not implemented");
	for (unsigned half = 0; half < w->halves; half++) {
		uint32_t result[SG_LANES] __attribute__((aligned(128))), exec = sg_exec(w, half);
		const uint32_t *s = w->v[half][op->addr];
		for (unsigned i = 0; i < SG_LANES; i++) {
			int from = swizzle_source((unsigned)op->imm, i);
			result[i] = exec >> from & 1 ? s[from] : 0;
		}
		sg_blend(w->v[half][op->dst], result, exec);
	}
	return op + 1;
}

static const struct sg_op *
run_permute(struct sg_wave *w, const struct sg_op *op)
{
	for (unsigned half = 0; half < w->halves; half++) {
		uint32_t result[SG_LANES] __attribute__((aligned(128))) = { 0 }, exec = sg_exec(w, half);
		for (uint32_t left = exec; left; left &= left - 1) {
			unsigned i = (unsigned)__builtin_ctz(left);
			uint32_t a = w->v[half][op->addr][i] + (uint32_t)op->imm;
			result[a / 4 % SG_LANES] = w->v[half][op->data0][i];
		}
		sg_blend(w->v[half][op->dst], result, exec);
	}
	return op + 1;
}

static const struct sg_op *
run_bpermute(struct sg_wave *w, const struct sg_op *op)
{
	for (unsigned half = 0; half < w->halves; half++) {
		uint32_t result[SG_LANES] __attribute__((aligned(128))), exec = sg_exec(w, half);
		for (unsigned i = 0; i < SG_LANES; i++) {
			unsigned from = (w->v[half][op->addr][i] + (uint32_t)op->imm) / 4 % SG_LANES;
			result[i] = exec >> from & 1 ? w->v[half][op->data0][from] : 0;
		}
		sg_blend(w->v[half][op->dst], result, exec);
	}
	return op + 1;
}

/* A counter in LDS at M0 + offset moves by the number of active lanes. */
static const struct sg_op *
count_lanes(struct sg_wave *w, const struct sg_op *op, int sign)
{
	uint32_t address = (w->sgpr[SG_REG_M0] & 0xffff) + (uint32_t)op->imm, old, tmp[SG_LANES] __attribute__((aligned(128)));
	int lanes = 0;

	for (unsigned half = 0; half < w->halves; half++)
		lanes += __builtin_popcount(sg_exec(w, half));
	if (!lanes)
		return op + 1;
	load(w, address, &old, 4);
	uint32_t new = old + (uint32_t)(sign * lanes);
	store(w, address, &new, 4);
	fill(tmp, old);
	for (unsigned half = 0; half < w->halves; half++)
		sg_blend(w->v[half][op->dst], tmp, sg_exec(w, half));
	return op + 1;
}

static const struct sg_op *run_append(struct sg_wave *w, const struct sg_op *op) { return count_lanes(w, op, 1); }
static const struct sg_op *run_consume(struct sg_wave *w, const struct sg_op *op) { return count_lanes(w, op, -1); }

static const struct {
	const char *name;
	sg_handler *run;
} others[] = {
	{ "ds_swizzle_b32", run_swizzle }, { "ds_permute_b32", run_permute }, { "ds_bpermute_b32", run_bpermute },
	{ "ds_append", run_append }, { "ds_consume", run_consume },
};

bool
sg_bind_lds(struct sg_insn *insn, enum sg_format format)
{
	if (format != SG_FMT_DS)
		return false;
	insn->family = SG_FAM_LDS;
	insn->form = strstr(insn->key, "addtid") != NULL;
	for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(insn->key, others[i].name))
			return insn->run = others[i].run, true;
	for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++)
		if (!strcmp(insn->key, ops[i].name))
			return insn->run = run_ds, insn->sem = &ops[i], true;
	return false;
}
