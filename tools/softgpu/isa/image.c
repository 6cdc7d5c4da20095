/* SPDX-License-Identifier: MIT */
/* image.c: image loads, stores and atomics (MIMG) on linear images.
 *
 * Layout of a linear image: rows begin at multiples of 256 bytes, an array's or volume's slices hold the whole chain of
 * mip levels, the smallest first. Swizzled layouts, compression and samplers are refused by name.
 */
#include "image.h"

#include "format.h"

/* Image resource (T#) of gfx10.3 and gfx11. */
struct image {
	uint64_t base;
	uint32_t width, height, layers; /* of level 0; layers: last one that may be accessed */
	uint32_t base_array, base_level, last_level, max_mip, type;
	uint64_t custom_row;	/* bytes; 0: as the width says */
	uint16_t select;	/* four times 3 bits: what each component of a load gives */
	struct sg_buffer_format format;
	bool null;		/* all zeros: reads 0, drops writes */
};

enum { TYPE_1D = 8, TYPE_2D, TYPE_3D, TYPE_CUBE, TYPE_1D_ARRAY, TYPE_2D_ARRAY };

#define FIELD(word, high, low) ((word) >> (low) & ((2u << ((high) - (low))) - 1))

/* One image instruction while it runs. */
struct access {
	struct sg_wave *w;
	const struct sg_op *op;
	struct image image;
	unsigned half;
	bool failed;	/* some lane touched a page without memory: what tfe asks about */
};

/* Place of one lane's texel. */
struct texel {
	uint64_t va;
	bool inside;
};

static const struct sg_op *
refuse(const struct access *a, const char *what, unsigned value)
{
	return sg_stop_at(a->w, SG_STOP_ILLEGAL, a->op->pc, "%s on an image with %s %u, which is not implemented",
			  a->op->insn->name, what, value);
}

static void
read_resource(struct image *r, const uint32_t *d, bool gfx10)
{
	uint32_t pitch = FIELD(d[4], 13, 0) + 1;

	r->base = (uint64_t)((int64_t)(((uint64_t)FIELD(d[1], 7, 0) << 32 | d[0]) << 24) >> 16);
	r->width = (FIELD(d[1], 31, 30) | FIELD(d[2], 11, 0) << 2) + 1;
	r->height = FIELD(d[2], 27, 14) + 1;
	r->select = FIELD(d[3], 11, 0);
	r->base_level = FIELD(d[3], 15, 12);
	r->last_level = FIELD(d[3], 19, 16);
	r->type = FIELD(d[3], 31, 28);
	r->layers = FIELD(d[4], 12, 0);
	r->base_array = FIELD(d[4], 28, 16);
	r->max_mip = gfx10 ? FIELD(d[5], 7, 4) : FIELD(d[1], 19, 16);
	/* where there are no layers to count the field can widen the rows */
	if (r->type == TYPE_1D || r->type == TYPE_2D)
		r->custom_row = r->max_mip == 0 && pitch > r->width ? pitch : 0;
	if (r->type == TYPE_1D || r->type == TYPE_1D_ARRAY)
		r->height = 1;
	if (r->type == TYPE_3D && !FIELD(d[5], 3, 0)) /* ARRAY_PITCH: slices of the volume are viewed as an array */
		r->base_array = 0;
}

/* NULL, or the stop of an image that can't be accessed here. */
static const char *
open_image(struct access *a, unsigned *value)
{
	const uint32_t *s = &a->w->sgpr[a->op->sdst];
	bool gfx10 = a->w->core->d->arch == SG_ARCH_RDNA2;
	uint32_t d[8] = { 0 };

	memcpy(d, s, a->op->ctrl & SG_IMG_R128 ? 16 : 32);
	a->image.null = !(d[0] | d[1] | d[2] | d[3]);
	if (a->image.null)
		return NULL;
	read_resource(&a->image, d, gfx10);
	*value = a->image.type;
	if (a->image.type < TYPE_1D || a->image.type > TYPE_2D_ARRAY)
		return "resource type";
	if ((*value = FIELD(d[3], 24, 20)) != 0)
		return "swizzle mode";
	if ((*value = FIELD(d[6], 21, 21)) != 0)
		return "compression";
	*value = FIELD(d[1], gfx10 ? 28 : 27, 20);
	if (!sg_format_find_image(a->w->core->d->arch, *value, &a->image.format))
		return "format";
	a->image.custom_row *= a->image.format.bytes;
	return NULL;
}

/* Layout */

static uint32_t
shrunk(uint32_t size, unsigned level)
{
	return size >> level ? size >> level : 1;
}

static uint64_t
row_bytes(const struct image *r, unsigned level)
{
	if (r->custom_row)
		return r->custom_row;
	return ((uint64_t)shrunk(r->width, level) * r->format.bytes + 255) & ~(uint64_t)255;
}

/* Bytes of a slice from its start to this level: what the smaller ones take. */
static uint64_t
level_offset(const struct image *r, int level)
{
	uint64_t bytes = 0;
	for (int i = (int)r->max_mip; i > level; i--)
		bytes += row_bytes(r, (unsigned)i) * shrunk(r->height, (unsigned)i);
	return bytes;
}

static uint32_t
coordinate(const struct access *a, unsigned k, unsigned lane)
{
	unsigned at = a->op->ctrl & SG_IMG_A16 ? k / 2 : k, reg = (uint64_t)a->op->imm >> 8 * at & 0xff;
	uint32_t v = a->w->v[a->half][reg][lane];
	return a->op->ctrl & SG_IMG_A16 ? v >> 16 * (k & 1) & 0xffff : v;
}

static bool
layer_inside(const struct image *r, uint32_t layer, unsigned level)
{
	if (r->type == TYPE_3D)
		return layer < (r->base_array ? r->layers + 1 : shrunk(r->layers + 1, level));
	return r->type < TYPE_CUBE || layer <= r->layers;
}

static struct texel
find_texel(const struct access *a, unsigned lane)
{
	const struct sg_image_op *m = a->op->sem;
	const struct image *r = &a->image;
	unsigned dim = sg_image_dim(a->op), n = sg_image_coordinates(a->op);
	bool rows = dim != SG_DIM_1D && dim != SG_DIM_1D_ARRAY, layered = dim >= SG_DIM_3D && dim <= SG_DIM_2D_ARRAY;
	uint32_t x = coordinate(a, 0, lane), y = rows ? coordinate(a, 1, lane) : 0;
	uint64_t layer = (uint64_t)r->base_array + (layered ? coordinate(a, rows ? 2 : 1, lane) : 0);
	uint32_t lod = m->mip ? coordinate(a, n - 1, lane) : 0;

	if (r->null || lod > 15 || r->base_level + lod > r->last_level || layer > UINT32_MAX)
		return (struct texel){ 0 };
	unsigned level = r->base_level + lod;
	if (x >= shrunk(r->width, level) || y >= shrunk(r->height, level) || !layer_inside(r, (uint32_t)layer, level))
		return (struct texel){ 0 };
	uint64_t va = r->base + layer * level_offset(r, -1) + level_offset(r, (int)level);
	return (struct texel){ va + y * row_bytes(r, level) + (uint64_t)x * r->format.bytes, true };
}

/* Data */

static void
put_data(const struct access *a, unsigned k, unsigned lane, uint32_t value)
{
	uint32_t (*d)[SG_LANES] = &a->w->v[a->half][a->op->dst];

	if (!(a->op->ctrl & SG_IMG_D16)) {
		d[k][lane] = value;
		return;
	}
	value = sg_format_is_integer(&a->image.format) ? value & 0xffff : sg_format_to_half(value);
	uint32_t *to = &d[k / 2][lane];
	*to = k & 1 ? (*to & 0xffff) | value << 16 : (*to & 0xffff0000) | value;
}

static uint32_t
get_data(const struct access *a, unsigned k, unsigned lane)
{
	const uint32_t (*s)[SG_LANES] = (const void *)&a->w->v[a->half][a->op->data0];

	if (!(a->op->ctrl & SG_IMG_D16))
		return s[k][lane];
	uint32_t half = s[k / 2][lane] >> (k & 1 ? 16 : 0) & 0xffff;
	if (!sg_format_is_integer(&a->image.format))
		return sg_format_from_half(half);
	return a->image.format.numeric == SG_N_SINT ? (uint32_t)(int16_t)half : half;
}

/* A page that is mapped to nothing (PRT): reads 0, and tells those who ask. */
static void
note_failure(struct access *a, uint64_t va)
{
	const struct sg_span *s = sg_mem_span(a->w->core, va);
	a->failed |= s && !s->host;
}

static void
load_lane(struct access *a, unsigned lane)
{
	enum sg_path path = a->op->flags & SG_OP_COHERENT ? SG_PATH_VECTOR_COHERENT : SG_PATH_VECTOR;
	struct texel t = find_texel(a, lane);
	uint8_t element[24] = { 0 };
	unsigned k = 0;

	if (t.inside) {
		note_failure(a, t.va);
		sg_mem_read(a->w, t.va, element, a->image.format.bytes, path, a->op->pc);
	}
	for (unsigned c = 0; c < 4; c++)
		if (a->op->ctrl >> c & 1)
			put_data(a, k++, lane,
				 t.inside ? sg_format_select(&a->image.format, element, a->image.select >> 3 * c & 7) : 0);
}

/* Components outside dmask are written as 0. */
static void
store_lane(struct access *a, unsigned lane)
{
	const struct sg_buffer_format *f = &a->image.format;
	struct texel t = find_texel(a, lane);
	uint8_t element[24] = { 0 };

	if (!t.inside)
		return;
	for (unsigned c = 0; c < 4; c++) {
		int from = f->bits[c] ? sg_format_source(a->image.select, c) : -1;
		if (from < 0 || !(a->op->ctrl >> from & 1))
			continue;
		unsigned k = (unsigned)__builtin_popcount(a->op->ctrl & ((1u << from) - 1));
		sg_format_insert(f, element, c, sg_format_store(f, c, get_data(a, k, lane)));
	}
	note_failure(a, t.va);
	sg_mem_write(a->w, t.va, element, f->bytes, a->op->pc);
}

static void
atomic_lane(struct access *a, unsigned lane)
{
	const struct sg_image_op *m = a->op->sem;
	bool compares = m->atomic == SG_A_CMPSWAP || m->atomic == SG_A_FCMPSWAP;
	unsigned dwords = sg_image_components(a->op) / (compares ? 2 : 1);
	const struct sg_mem_op op = { .kind = SG_M_ATOMIC, .atomic = m->atomic, .bytes = (uint8_t)(4 * dwords) };
	uint32_t (*d)[SG_LANES] = &a->w->v[a->half][a->op->dst];
	struct texel t = find_texel(a, lane);
	uint64_t data = d[0][lane] | (dwords == 2 ? (uint64_t)d[1][lane] << 32 : 0), compare = 0, old = 0;

	if (compares)
		compare = d[dwords][lane] | (dwords == 2 ? (uint64_t)d[3][lane] << 32 : 0);
	if (t.inside) {
		note_failure(a, t.va);
		old = sg_mem_atomic(a->w, t.va, &op, data, compare, a->op->pc);
	}
	if (!(a->op->flags & SG_OP_GLC))
		return;
	d[0][lane] = (uint32_t)old;
	if (dwords == 2)
		d[1][lane] = (uint32_t)(old >> 32);
}

/* Width, height, layers or depth of a level, and the number of levels. */
static void
resinfo_lane(struct access *a, unsigned lane)
{
	const struct image *r = &a->image;
	uint32_t lod = coordinate(a, 0, lane), info[4] = { 0 };
	unsigned k = 0;

	if (!r->null && lod <= 15 && r->base_level + lod <= r->last_level) {
		unsigned level = r->base_level + lod;
		info[0] = shrunk(r->width, level);
		info[1] = shrunk(r->height, level);
		if (r->type == TYPE_3D)
			info[2] = shrunk(r->layers + 1, level);
		else
			info[2] = r->type < TYPE_CUBE ? 1 : r->layers + 1 - r->base_array;
		if (r->type == TYPE_1D_ARRAY)
			info[1] = info[2];
	}
	if (!r->null)
		info[3] = r->last_level - r->base_level + 1;
	for (unsigned c = 0; c < 4; c++)
		if (a->op->ctrl >> c & 1)
			put_data(a, k++, lane, info[c]);
}

static void
put_status(const struct access *a, uint32_t exec)
{
	uint32_t *d = a->w->v[a->half][a->op->dst + sg_image_data_dwords(a->op)];
	for (; exec; exec &= exec - 1)
		d[__builtin_ctz(exec)] = a->failed;
}

static const struct sg_op *
run_image(struct sg_wave *w, const struct sg_op *op)
{
	const struct sg_image_op *m = op->sem;
	struct access a = { .w = w, .op = op };
	unsigned value = 0;
	const char *why = open_image(&a, &value);

	if (why)
		return refuse(&a, why, value);
	if (m->kind == SG_M_ATOMIC && !a.image.null &&
	    a.image.format.bytes != 4 * sg_image_components(op) / (strstr(m->name, "cmpswap") ? 2 : 1))
		return refuse(&a, "texels that do not fit its dmask: bytes", a.image.format.bytes);
	for (a.half = 0; a.half < w->halves; a.half++) {
		a.failed = false;
		for (uint32_t exec = sg_exec(w, a.half); exec; exec &= exec - 1) {
			unsigned lane = (unsigned)__builtin_ctz(exec);
			switch (m->kind) {
			case SG_M_LOAD: load_lane(&a, lane); break;
			case SG_M_STORE: store_lane(&a, lane); break;
			case SG_M_ATOMIC: atomic_lane(&a, lane); break;
			default: resinfo_lane(&a, lane); break;
			}
		}
		if (op->flags & SG_OP_TFE || op->ctrl & SG_IMG_LWE)
			put_status(&a, sg_exec(w, a.half));
	}
	return w->state == SG_WAVE_RUN ? op + 1 : NULL;
}

#define ATOMIC(n, op) { .name = "image_atomic_" n, .kind = SG_M_ATOMIC, .atomic = op }

static const struct sg_image_op ops[] = {
	{ .name = "image_load", .kind = SG_M_LOAD }, { .name = "image_load_mip", .kind = SG_M_LOAD, .mip = true },
	{ .name = "image_store", .kind = SG_M_STORE }, { .name = "image_store_mip", .kind = SG_M_STORE, .mip = true },
	{ .name = "image_get_resinfo", .kind = SG_M_OTHER },
	ATOMIC("swap", SG_A_SWAP), ATOMIC("cmpswap", SG_A_CMPSWAP), ATOMIC("add", SG_A_ADD), ATOMIC("sub", SG_A_SUB),
	ATOMIC("smin", SG_A_SMIN), ATOMIC("umin", SG_A_UMIN), ATOMIC("smax", SG_A_SMAX), ATOMIC("umax", SG_A_UMAX),
	ATOMIC("and", SG_A_AND), ATOMIC("or", SG_A_OR), ATOMIC("xor", SG_A_XOR), ATOMIC("inc", SG_A_INC),
	ATOMIC("dec", SG_A_DEC), ATOMIC("fcmpswap", SG_A_FCMPSWAP), ATOMIC("fmin", SG_A_FMIN),
	ATOMIC("fmax", SG_A_FMAX),
};

bool
sg_bind_image(struct sg_insn *insn, enum sg_format format)
{
	for (unsigned i = 0; format == SG_FMT_MIMG && i < sizeof ops / sizeof *ops; i++) {
		if (strcmp(insn->key, ops[i].name))
			continue;
		insn->family = SG_FAM_IMAGE;
		insn->run = run_image;
		insn->sem = &ops[i];
		return true;
	}
	return false;
}
