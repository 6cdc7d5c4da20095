/* SPDX-License-Identifier: MIT */
/* vmem.c: loads, stores and atomics of FLAT, GLOBAL, SCRATCH and MUBUF. */
#include "vmem.h"

#define LOAD(n, size, s, half) { .name = n, .kind = SG_M_LOAD, .bytes = size, .sign = s, .d16 = half }
#define STORE(n, size, half) { .name = n, .kind = SG_M_STORE, .bytes = size, .d16 = half }
#define ATOMIC(n, size, op) { .name = n, .kind = SG_M_ATOMIC, .bytes = size, .atomic = op }

/* Bytes come from the format. */
#define TYPED(n, components) { .name = "load_" n, .kind = SG_M_LOAD, .format = components },                           \
	{ .name = "store_" n, .kind = SG_M_STORE, .format = components },                                              \
	{ .name = "load_d16_" n, .kind = SG_M_LOAD, .d16 = SG_D16_LOW, .format = components },                         \
	{ .name = "store_d16_" n, .kind = SG_M_STORE, .d16 = SG_D16_LOW, .format = components }

/* Names behind flat_, global_, scratch_ or buffer_ */
static const struct sg_mem_op ops[] = {
	LOAD("load_u8", 1, 0, 0), LOAD("load_i8", 1, 1, 0), LOAD("load_u16", 2, 0, 0), LOAD("load_i16", 2, 1, 0),
	LOAD("load_b32", 4, 0, 0), LOAD("load_b64", 8, 0, 0), LOAD("load_b96", 12, 0, 0), LOAD("load_b128", 16, 0, 0),
	LOAD("load_d16_u8", 1, 0, SG_D16_LOW), LOAD("load_d16_i8", 1, 1, SG_D16_LOW),
	LOAD("load_d16_b16", 2, 0, SG_D16_LOW), LOAD("load_d16_hi_u8", 1, 0, SG_D16_HIGH),
	LOAD("load_d16_hi_i8", 1, 1, SG_D16_HIGH), LOAD("load_d16_hi_b16", 2, 0, SG_D16_HIGH),
	LOAD("load_addtid_b32", 4, 0, 0), LOAD("load_lds_u8", 1, 0, 0), LOAD("load_lds_i8", 1, 1, 0),
	LOAD("load_lds_u16", 2, 0, 0), LOAD("load_lds_i16", 2, 1, 0), LOAD("load_lds_b32", 4, 0, 0),
	TYPED("format_x", 1), TYPED("format_xy", 2), TYPED("format_xyz", 3), TYPED("format_xyzw", 4),
	{ .name = "load_d16_hi_format_x", .kind = SG_M_LOAD, .d16 = SG_D16_HIGH, .format = 1 },
	{ .name = "store_d16_hi_format_x", .kind = SG_M_STORE, .d16 = SG_D16_HIGH, .format = 1 },
	STORE("store_b8", 1, 0), STORE("store_b16", 2, 0), STORE("store_b32", 4, 0), STORE("store_b64", 8, 0),
	STORE("store_b96", 12, 0), STORE("store_b128", 16, 0), STORE("store_d16_hi_b8", 1, SG_D16_HIGH),
	STORE("store_d16_hi_b16", 2, SG_D16_HIGH), STORE("store_addtid_b32", 4, 0),
	ATOMIC("atomic_swap_b32", 4, SG_A_SWAP), ATOMIC("atomic_cmpswap_b32", 4, SG_A_CMPSWAP),
	ATOMIC("atomic_add_u32", 4, SG_A_ADD), ATOMIC("atomic_sub_u32", 4, SG_A_SUB),
	ATOMIC("atomic_csub_u32", 4, SG_A_CSUB), ATOMIC("atomic_min_i32", 4, SG_A_SMIN),
	ATOMIC("atomic_min_u32", 4, SG_A_UMIN), ATOMIC("atomic_max_i32", 4, SG_A_SMAX),
	ATOMIC("atomic_max_u32", 4, SG_A_UMAX), ATOMIC("atomic_and_b32", 4, SG_A_AND),
	ATOMIC("atomic_or_b32", 4, SG_A_OR), ATOMIC("atomic_xor_b32", 4, SG_A_XOR),
	ATOMIC("atomic_inc_u32", 4, SG_A_INC), ATOMIC("atomic_dec_u32", 4, SG_A_DEC),
	ATOMIC("atomic_swap_b64", 8, SG_A_SWAP), ATOMIC("atomic_cmpswap_b64", 8, SG_A_CMPSWAP),
	ATOMIC("atomic_add_u64", 8, SG_A_ADD), ATOMIC("atomic_sub_u64", 8, SG_A_SUB),
	ATOMIC("atomic_min_i64", 8, SG_A_SMIN), ATOMIC("atomic_min_u64", 8, SG_A_UMIN),
	ATOMIC("atomic_max_i64", 8, SG_A_SMAX), ATOMIC("atomic_max_u64", 8, SG_A_UMAX),
	ATOMIC("atomic_and_b64", 8, SG_A_AND), ATOMIC("atomic_or_b64", 8, SG_A_OR),
	ATOMIC("atomic_xor_b64", 8, SG_A_XOR), ATOMIC("atomic_inc_u64", 8, SG_A_INC),
	ATOMIC("atomic_dec_u64", 8, SG_A_DEC), ATOMIC("atomic_cmpswap_f32", 4, SG_A_FCMPSWAP),
	ATOMIC("atomic_min_f32", 4, SG_A_FMIN), ATOMIC("atomic_max_f32", 4, SG_A_FMAX),
	ATOMIC("atomic_add_f32", 4, SG_A_FADD),
	ATOMIC("atomic_cmpswap_f64", 8, SG_A_FCMPSWAP), ATOMIC("atomic_min_f64", 8, SG_A_FMIN),
	ATOMIC("atomic_max_f64", 8, SG_A_FMAX),
};

/* Addresses */

static uint64_t
scalar_base(const struct sg_vmem *a)
{
	const uint32_t *s = &a->w->sgpr[a->op->sdst];
	return a->op->flags & SG_OP_SADDR ? s[0] | (uint64_t)s[1] << 32 : 0;
}

static void
global_addresses(struct sg_vmem *a)
{
	const uint32_t *lo = a->w->v[a->half][a->op->addr], *hi = lo + SG_LANES;
	uint64_t base = scalar_base(a) + (uint64_t)a->op->imm;

	if (a->op->flags & SG_OP_SADDR)
		for (unsigned i = 0; i < SG_LANES; i++)
			a->va[i] = base + lo[i];
	else
		for (unsigned i = 0; i < SG_LANES; i++)
			a->va[i] = base + (lo[i] | (uint64_t)hi[i] << 32);
}

static void
addtid_addresses(struct sg_vmem *a)
{
	uint64_t base = scalar_base(a) + (uint64_t)a->op->imm + 4 * SG_LANES * a->half;
	for (unsigned i = 0; i < SG_LANES; i++)
		a->va[i] = base + 4 * i;
}

static void
scratch_addresses(struct sg_vmem *a)
{
	const uint32_t *v = a->w->v[a->half][a->op->addr];
	uint32_t base = (uint32_t)a->op->imm + (a->op->flags & SG_OP_SADDR ? a->w->sgpr[a->op->sdst] : 0);
	for (unsigned i = 0; i < SG_LANES; i++)
		a->va[i] = base + (a->op->flags & SG_OP_VADDR ? v[i] : 0);
}

static void
addresses(struct sg_vmem *a)
{
	switch (a->space) {
	case SG_FORM_SCRATCH: scratch_addresses(a); break;
	case SG_FORM_BUFFER: sg_buffer_addresses(a); break;
	case SG_FORM_ADDTID: addtid_addresses(a); break;
	default: global_addresses(a); break;
	}
}

/* One lane's bytes */

/* Scratch interleaves the lanes of a wave dword by dword. */
static uint64_t
scratch_va(const struct sg_wave *w, unsigned lane, uint32_t offset)
{
	return w->scratch + (uint64_t)(offset & ~3u) * sg_wave_lanes(w) + 4 * lane + (offset & 3);
}

static bool
scratch_holds(const struct sg_wave *w, uint32_t offset, unsigned bytes)
{
	return ((uint64_t)offset + bytes + 3) / 4 * 4 * sg_wave_lanes(w) <= w->scratch_bytes;
}

static unsigned
scratch_piece(uint32_t offset, unsigned bytes)
{
	unsigned room = 4 - (offset & 3);
	return bytes < room ? bytes : room;
}

static void
scratch_read(const struct sg_vmem *a, unsigned lane, uint32_t offset, uint8_t *to, unsigned bytes)
{
	if (!scratch_holds(a->w, offset, bytes)) {
		memset(to, 0, bytes);
		sg_mem_read(a->w, (uint64_t)SG_PRIVATE_APERTURE << 32 | offset, to, bytes, a->path, a->op->pc);
		return;
	}
	for (unsigned n; bytes; bytes -= n, offset += n, to += n) {
		n = scratch_piece(offset, bytes);
		sg_mem_read(a->w, scratch_va(a->w, lane, offset), to, n, a->path, a->op->pc);
	}
}

static void
scratch_write(const struct sg_vmem *a, unsigned lane, uint32_t offset, const uint8_t *from, unsigned bytes)
{
	if (!scratch_holds(a->w, offset, bytes)) {
		sg_mem_write(a->w, (uint64_t)SG_PRIVATE_APERTURE << 32 | offset, from, bytes, a->op->pc);
		return;
	}
	for (unsigned n; bytes; bytes -= n, offset += n, from += n) {
		n = scratch_piece(offset, bytes);
		sg_mem_write(a->w, scratch_va(a->w, lane, offset), from, n, a->op->pc);
	}
}

enum target { TO_MEMORY, TO_LDS, TO_SCRATCH };

static enum target
target_of(const struct sg_vmem *a, uint64_t va)
{
	if (a->space == SG_FORM_SCRATCH)
		return TO_SCRATCH;
	if (a->space != SG_FORM_FLAT)
		return TO_MEMORY;
	uint32_t high = (uint32_t)(va >> 32);
	return high == SG_SHARED_APERTURE ? TO_LDS : high == SG_PRIVATE_APERTURE ? TO_SCRATCH : TO_MEMORY;
}

static bool
lds_holds(const struct sg_wave *w, uint32_t offset, unsigned bytes)
{
	return offset <= w->lds_bytes && w->lds_bytes - offset >= bytes;
}

void
sg_vmem_read_lane(const struct sg_vmem *a, unsigned i, void *to)
{
	uint64_t va = a->va[i];
	unsigned bytes = a->bytes, n;

	if ((a->space == SG_FORM_BUFFER || a->space == SG_FORM_TYPED) && (n = a->limit[i]) < bytes) {
		memset(to, 0, bytes);
		if (n)
			sg_mem_read(a->w, va, to, n, a->path, a->op->pc);
		return;
	}
	switch (target_of(a, va)) {
	case TO_LDS:
		memset(to, 0, bytes);
		if (lds_holds(a->w, (uint32_t)va, bytes))
			memcpy(to, a->w->lds + (uint32_t)va, bytes);
		break;
	case TO_SCRATCH: scratch_read(a, a->half * SG_LANES + i, (uint32_t)va, to, bytes); break;
	default: sg_mem_read(a->w, va, to, bytes, a->path, a->op->pc); break;
	}
}

void
sg_vmem_write_lane(const struct sg_vmem *a, unsigned i, const void *from)
{
	uint64_t va = a->va[i];
	unsigned bytes = a->space == SG_FORM_BUFFER || a->space == SG_FORM_TYPED ? a->limit[i] : a->bytes;

	switch (target_of(a, va)) {
	case TO_LDS:
		if (lds_holds(a->w, (uint32_t)va, bytes))
			memcpy(a->w->lds + (uint32_t)va, from, bytes);
		break;
	case TO_SCRATCH: scratch_write(a, a->half * SG_LANES + i, (uint32_t)va, from, bytes); break;
	default:
		if (bytes)
			sg_mem_write(a->w, va, from, bytes, a->op->pc);
	}
}

/* Host address of an ordinary lane, NULL when it needs the careful way. */
static inline uint8_t *
host_of(const struct sg_vmem *a, uint64_t va, uint32_t right)
{
	if (a->space == SG_FORM_SCRATCH || a->space == SG_FORM_BUFFER)
		return NULL;
	return sg_mem_near(a->w->core, va, a->m->bytes, right);
}

/* Host address of the lowest active address when all active lanes lie in one directly accessible span. */
static uint8_t *
one_span(const struct sg_vmem *a, uint32_t exec, uint32_t right, uint64_t *lowest)
{
	uint64_t low = UINT64_MAX, high = 0;
	if (a->space == SG_FORM_SCRATCH || a->space == SG_FORM_BUFFER || a->w->core->mem->hostile)
		return NULL;
	for (unsigned i = 0; i < SG_LANES; i++) {
		uint64_t va = a->va[i];
		bool on = exec >> i & 1;
		low = on && va < low ? va : low;
		high = on && va > high ? va : high;
	}
	*lowest = low;
	if (high - low >= UINT32_MAX - 16)
		return NULL;
	return sg_mem_host(a->w->core, low, (unsigned)(high - low) + a->m->bytes, right);
}

/* Loads */

static void
put_loaded(const struct sg_vmem *a, uint32_t *d, unsigned i, const uint8_t *data)
{
	uint32_t v = 0;
	unsigned bytes = a->m->bytes;

	if (bytes >= 4) {
		for (unsigned r = 0; r < bytes / 4; r++)
			memcpy(&d[SG_LANES * r + i], data + 4 * r, 4);
		return;
	}
	memcpy(&v, data, bytes);
	if (a->m->sign)
		v = bytes == 1 ? (uint32_t)(int8_t)v : (uint32_t)(int16_t)v;
	if (a->m->d16 == SG_D16_LOW)
		v = (d[i] & 0xffff0000) | (v & 0xffff);
	else if (a->m->d16 == SG_D16_HIGH)
		v = (d[i] & 0xffff) | v << 16;
	d[i] = v;
}

static bool
consecutive(const struct sg_vmem *a, unsigned bytes)
{
	uint64_t wrong = 0;
	for (unsigned i = 0; i < SG_LANES; i++)
		wrong |= a->va[i] ^ (a->va[0] + (uint64_t)i * bytes);
	return !wrong;
}

/* The whole half reads or writes one run of dwords. */
static uint8_t *
whole_row(const struct sg_vmem *a, uint32_t exec, uint32_t right)
{
	struct sg_core *core = a->w->core;
	if (exec != UINT32_MAX || a->m->bytes != 4 || a->space == SG_FORM_SCRATCH || a->space == SG_FORM_BUFFER ||
	    core->mem->hostile || !consecutive(a, 4))
		return NULL;
	return sg_mem_host(core, a->va[0], 4 * SG_LANES, right);
}

static void
load_dwords(const struct sg_vmem *a, uint32_t *d, uint32_t exec, uintptr_t base)
{
	for (unsigned r = 0; r < a->m->bytes / 4u; r++, d += SG_LANES)
		for (uint32_t left = exec; left; left &= left - 1) {
			unsigned i = (unsigned)__builtin_ctz(left);
			memcpy(&d[i], (const uint8_t *)(base + a->va[i]) + 4 * r, 4);
		}
}

static bool
one_address(const struct sg_vmem *a, uint32_t exec)
{
	unsigned first = (unsigned)__builtin_ctz(exec);
	uint64_t differs = 0;

	if (target_of(a, a->va[first]) == TO_SCRATCH)
		return false;
	for (unsigned i = 0; i < SG_LANES; i++)
		differs |= exec >> i & 1 ? a->va[i] ^ a->va[first] : 0;
	if (a->space == SG_FORM_BUFFER)
		for (unsigned i = 0; i < SG_LANES; i++)
			differs |= exec >> i & 1 ? a->limit[i] ^ a->limit[first] : 0;
	return !differs;
}

/* Compilers take what one instruction reads from one address for one value, and go on with the first lane's: no other
 * core's write may show between two lanes or halves. */
static void
load_once(struct sg_vmem *a, uint32_t *d, uint32_t exec)
{
	unsigned first = (unsigned)__builtin_ctz(exec);
	uint32_t limit = a->space == SG_FORM_BUFFER ? a->limit[first] : 0;

	if (!a->once.bytes || a->once.va != a->va[first] || a->once.limit != limit)
		sg_vmem_read_lane(a, first, a->once.data);
	a->once.va = a->va[first];
	a->once.limit = limit;
	a->once.bytes = a->bytes;
	for (; exec; exec &= exec - 1)
		put_loaded(a, d, (unsigned)__builtin_ctz(exec), a->once.data);
}

static void
load_half(struct sg_vmem *a, uint32_t exec)
{
	uint32_t *d = a->w->v[a->half][a->op->dst];
	uint8_t data[16], *host = whole_row(a, exec, SG_ACCESS_READ);
	uint64_t lowest;

	if (host) {
		memcpy(d, host, 4 * SG_LANES);
		return;
	}
	if (one_address(a, exec)) {
		load_once(a, d, exec);
		return;
	}
	if (a->m->bytes >= 4 && (host = one_span(a, exec, SG_ACCESS_READ, &lowest))) {
		load_dwords(a, d, exec, (uintptr_t)host - lowest);
		return;
	}
	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		host = host_of(a, a->va[i], SG_ACCESS_READ);
		if (!host)
			sg_vmem_read_lane(a, i, host = data);
		put_loaded(a, d, i, host);
	}
}

/* Stores */

static void
store_half(struct sg_vmem *a, uint32_t exec)
{
	const uint32_t *s = a->w->v[a->half][a->op->data0];
	uint8_t *host = whole_row(a, exec, SG_ACCESS_WRITE);
	unsigned bytes = a->m->bytes;

	if (host) {
		memcpy(host, s, 4 * SG_LANES);
		return;
	}
	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		uint32_t data[4];
		data[0] = a->m->d16 == SG_D16_HIGH ? s[i] >> 16 : s[i];
		for (unsigned r = 1; r < bytes / 4; r++)
			data[r] = s[SG_LANES * r + i];
		host = host_of(a, a->va[i], SG_ACCESS_WRITE);
		if (host)
			memcpy(host, data, bytes);
		else
			sg_vmem_write_lane(a, i, data);
	}
}

/* Atomics */

static uint64_t
atomic_lane(const struct sg_vmem *a, unsigned i, uint64_t data, uint64_t compare)
{
	const struct sg_mem_op *m = a->m;
	struct sg_wave *w = a->w;
	uint64_t va = a->va[i], old = 0;
	uint32_t offset = (uint32_t)va;

	if (a->space == SG_FORM_BUFFER && a->limit[i] < m->bytes)
		return 0;
	switch (target_of(a, va)) {
	case TO_LDS:
		if (lds_holds(w, offset, m->bytes)) {
			memcpy(&old, w->lds + offset, m->bytes);
			uint64_t new = sg_atomic_apply(m->atomic, m->bytes, old, data, compare, w->mode);
			memcpy(w->lds + offset, &new, m->bytes);
		}
		return old;
	case TO_SCRATCH: {
		uint64_t new;
		scratch_read(a, a->half * SG_LANES + i, offset, (uint8_t *)&old, m->bytes);
		new = sg_atomic_apply(m->atomic, m->bytes, old, data, compare, w->mode);
		scratch_write(a, a->half * SG_LANES + i, offset, (uint8_t *)&new, m->bytes);
		return old;
	}
	default: return sg_mem_atomic(w, va, m, data, compare, a->op->pc);
	}
}

static uint64_t
register_value(const struct sg_vmem *a, unsigned reg, unsigned i)
{
	const uint32_t *s = a->w->v[a->half][reg];
	return a->m->bytes == 8 ? s[i] | (uint64_t)s[SG_LANES + i] << 32 : s[i];
}

static void
atomic_half(struct sg_vmem *a, uint32_t exec)
{
	uint32_t *d = a->w->v[a->half][a->op->dst];
	unsigned dwords = a->m->bytes / 4;
	bool compares = a->m->atomic == SG_A_CMPSWAP || a->m->atomic == SG_A_FCMPSWAP;

	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		uint64_t data = register_value(a, a->op->data0, i);
		uint64_t compare = compares ? register_value(a, a->op->data0 + dwords, i) : 0;
		uint64_t old = atomic_lane(a, i, data, compare);
		if (!(a->op->flags & SG_OP_GLC))
			continue;
		d[i] = (uint32_t)old;
		if (dwords == 2)
			d[SG_LANES + i] = (uint32_t)(old >> 32);
	}
}

/* Into LDS at M0 + offset + 4 * lane instead of a register. */
static void
load_to_lds(struct sg_vmem *a, uint32_t exec)
{
	uint32_t base = (a->w->sgpr[SG_REG_M0] & 0xffff) + (uint32_t)a->op->imm + 4 * SG_LANES * a->half;

	for (; exec; exec &= exec - 1) {
		unsigned i = (unsigned)__builtin_ctz(exec);
		uint32_t v = 0, at = base + 4 * i;
		sg_vmem_read_lane(a, i, &v);
		if (a->m->sign)
			v = a->m->bytes == 1 ? (uint32_t)(int8_t)v : (uint32_t)(int16_t)v;
		if (lds_holds(a->w, at, 4))
			memcpy(a->w->lds + at, &v, 4);
	}
}

static const struct sg_op *
run_vmem(struct sg_wave *w, const struct sg_op *op)
{
	struct sg_vmem a = { .w = w, .op = op, .m = op->sem, .space = op->insn->form };

	a.bytes = a.m->bytes;
	a.path = op->flags & SG_OP_COHERENT ? SG_PATH_VECTOR_COHERENT : SG_PATH_VECTOR;
	for (a.half = 0; a.half < w->halves; a.half++) {
		uint32_t exec = sg_exec(w, a.half);
		if (!exec)
			continue;
		if (a.space != SG_FORM_TYPED)
			addresses(&a);
		if (a.space == SG_FORM_TYPED)
			sg_typed_half(&a, exec);
		else if (op->flags & SG_OP_TO_LDS)
			load_to_lds(&a, exec);
		else if (a.m->kind == SG_M_LOAD)
			load_half(&a, exec);
		else if (a.m->kind == SG_M_STORE)
			store_half(&a, exec);
		else
			atomic_half(&a, exec);
		if (op->flags & SG_OP_TFE)
			sg_buffer_status(&a, exec);
	}
	return w->state == SG_WAVE_RUN ? op + 1 : NULL;
}

bool
sg_bind_vmem(struct sg_insn *insn, enum sg_format format)
{
	static const uint8_t space[SG_FMT_COUNT] = { [SG_FMT_GLOBAL] = SG_FORM_GLOBAL, [SG_FMT_SCRATCH] = SG_FORM_SCRATCH,
						     [SG_FMT_MUBUF] = SG_FORM_BUFFER };
	if (format < SG_FMT_FLAT || format > SG_FMT_MTBUF)
		return false;
	const char *name = strchr(insn->key, '_') + 1;
	for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
		if (strcmp(name, ops[i].name))
			continue;
		insn->family = SG_FAM_VMEM;
		insn->form = strstr(name, "addtid") ? SG_FORM_ADDTID : ops[i].format ? SG_FORM_TYPED : space[format];
		insn->run = run_vmem;
		insn->sem = &ops[i];
		return true;
	}
	return false;
}
