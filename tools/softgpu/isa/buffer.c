/* SPDX-License-Identifier: MIT */
/* buffer.c: accesses through buffer resources: addresses, range checks, and elements in a format. */
#include "vmem.h"

/* Buffer resource (V#) of gfx10 and gfx11. */
struct resource {
	uint64_t base;
	uint32_t stride, records, element, index_stride, oob;
	uint32_t format;
	uint16_t select;	/* four times 3 bits: what each component of a typed load gives */
	bool add_tid;
};

static struct resource
read_resource(const struct sg_vmem *a)
{
	static const uint8_t element[2][4] = {
		[SG_ARCH_RDNA2] = { 0, 0, 4, 4 },	/* bit 31 enables the swizzle, bit 30 is about caches */
		[SG_ARCH_RDNA3] = { 0, 4, 8, 16 },
	};
	enum sg_arch arch = a->w->core->d->arch;
	const uint32_t *d = &a->w->sgpr[a->op->sdst];
	struct resource r = {
		.base = (uint64_t)((int64_t)((uint64_t)d[0] << 16 | (uint64_t)d[1] << 48) >> 16),
		.stride = d[1] >> 16 & 0x3fff, .records = d[2], .element = element[arch][d[1] >> 30],
		.index_stride = 8u << (d[3] >> 21 & 3), .add_tid = d[3] >> 23 & 1, .oob = d[3] >> 28 & 3,
		.select = d[3] & 0xfff, .format = d[3] >> 12 & (arch == SG_ARCH_RDNA2 ? 127 : 63),
	};
	return r;
}

/* Bytes of an access at this place that the bounds check leaves. */
static uint32_t
in_range(const struct resource *r, uint64_t index, uint64_t offset, uint64_t linear, unsigned bytes)
{
	if (r->oob == 0 && (index >= r->records || offset + bytes > r->stride))
		return 0;
	if (r->oob == 1 && index >= r->records)
		return 0;
	if (r->oob == 2 && r->records == 0)
		return 0;
	if (r->oob != 3)
		return bytes;
	if (r->element)
		return offset + bytes <= (r->stride ? r->stride : r->records) ? bytes : 0;
	uint64_t room = linear < r->records ? r->records - linear : 0;
	return room >= bytes ? bytes : (uint32_t)room & ~3u;
}

void
sg_buffer_addresses(struct sg_vmem *a)
{
	const struct sg_op *op = a->op;
	struct resource r = read_resource(a);
	const uint32_t *v = a->w->v[a->half][op->addr];
	const uint32_t *v_offset = op->flags & SG_OP_IDXEN ? v + SG_LANES : v;
	uint32_t soffset = (uint32_t)sg_scalar(a->w, &op->src[0]);

	for (unsigned i = 0; i < SG_LANES; i++) {
		uint64_t index = (op->flags & SG_OP_IDXEN ? v[i] : 0) + (r.add_tid ? a->half * SG_LANES + i : 0);
		uint64_t offset = (uint64_t)op->imm + (op->flags & SG_OP_OFFEN ? v_offset[i] : 0);
		uint64_t linear = index * r.stride + offset;
		a->limit[i] = in_range(&r, index, offset, linear + soffset, a->bytes);
		if (r.element)
			linear = (index / r.index_stride * r.stride + offset / r.element * r.element) * r.index_stride +
				 index % r.index_stride * r.element + offset % r.element;
		a->va[i] = r.base + soffset + linear;
	}
}

/* Elements in a format */

static void
put_component(const struct sg_vmem *a, const struct sg_buffer_format *f, unsigned c, unsigned lane, uint32_t value)
{
	uint32_t *d = a->w->v[a->half][a->op->dst];

	if (a->m->d16 == SG_D16_NONE) {
		d[SG_LANES * c + lane] = value;
		return;
	}
	value = sg_format_is_integer(f) ? value & 0xffff : sg_format_to_half(value);
	bool high = a->m->d16 == SG_D16_HIGH || (c & 1);
	d += SG_LANES * (c / 2) + lane;
	*d = high ? (*d & 0xffff) | value << 16 : (*d & 0xffff0000) | value;
}

static uint32_t
get_component(const struct sg_vmem *a, const struct sg_buffer_format *f, unsigned c, unsigned lane)
{
	const uint32_t *s = a->w->v[a->half][a->op->data0];

	if (a->m->d16 == SG_D16_NONE)
		return s[SG_LANES * c + lane];
	bool high = a->m->d16 == SG_D16_HIGH || (c & 1);
	uint32_t half = s[SG_LANES * (c / 2) + lane] >> (high ? 16 : 0) & 0xffff;
	if (!sg_format_is_integer(f))
		return sg_format_from_half(half);
	return f->numeric == SG_N_SINT ? (uint32_t)(int16_t)half : half;
}

static void
load_element(const struct sg_vmem *a, const struct sg_buffer_format *f, unsigned select, unsigned lane)
{
	uint8_t element[24] = { 0 };
	if (a->limit[lane] == a->bytes && a->bytes)
		sg_vmem_read_lane(a, lane, element);
	for (unsigned c = 0; c < a->m->format; c++)
		put_component(a, f, c, lane, sg_format_select(f, element, select >> 3 * c & 7));
}

static void
store_element(const struct sg_vmem *a, const struct sg_buffer_format *f, unsigned select, unsigned lane)
{
	uint8_t element[24] = { 0 };
	for (unsigned c = 0; c < 4; c++) {
		int from = f->bits[c] ? sg_format_source(select, c) : -1;
		if (from >= 0 && from < a->m->format)
			sg_format_insert(f, element, c, sg_format_store(f, c, get_component(a, f, (unsigned)from, lane)));
	}
	if (a->limit[lane] == a->bytes && a->bytes)
		sg_vmem_write_lane(a, lane, element);
}

/* MTBUF carries its format and gives components as they are; MUBUF takes both from the resource. */
void
sg_typed_half(struct sg_vmem *a, uint32_t exec)
{
	enum { IDENTITY = 4 | 5 << 3 | 6 << 6 | 7 << 9 };
	struct resource r = read_resource(a);
	bool own = a->op->insn->key[0] == 't';
	unsigned select = own ? IDENTITY : r.select;
	struct sg_buffer_format f;

	sg_format_find(a->w->core->d->arch, own ? a->op->size : r.format, &f);
	a->bytes = f.bytes;
	sg_buffer_addresses(a);
	for (; exec; exec &= exec - 1) {
		unsigned lane = (unsigned)__builtin_ctz(exec);
		if (a->m->kind == SG_M_LOAD)
			load_element(a, &f, select, lane);
		else
			store_element(a, &f, select, lane);
	}
}

unsigned
sg_vmem_data_dwords(const struct sg_mem_op *m)
{
	if (m->format)
		return m->d16 == SG_D16_LOW ? (m->format + 1u) / 2 : m->format;
	return m->bytes < 4 ? 1 : m->bytes / 4u;
}

void
sg_buffer_status(const struct sg_vmem *a, uint32_t exec)
{
	uint32_t *d = a->w->v[a->half][a->op->dst + sg_vmem_data_dwords(a->m)], failed = 0;

	for (uint32_t left = exec; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);
		const struct sg_span *s = a->limit[i] ? sg_mem_span(a->w->core, a->va[i]) : NULL;
		failed |= s && !s->host;
	}
	for (; exec; exec &= exec - 1)
		d[__builtin_ctz(exec)] = failed;
}
