/* SPDX-License-Identifier: MIT */
/* test_isa_image.c: image instructions on linear images, RDNA2 and RDNA3. Encodings are llvm-mc's, the resource's
 * fields those of the ISA documents; addresses are worked out here from the layout of linear images. */
#include "isa_run.h"

enum { FMT_R32_UINT, FMT_RGBA8_UNORM, FMT_RGBA16_FLOAT, FMT_RGBA8_SRGB, FMT_COUNT };
enum { T_1D = 8, T_2D, T_3D, T_1D_ARRAY = 12, T_2D_ARRAY };

struct desc {
	unsigned format, type, width, height, layers, first_layer, levels, base_level, swizzle;
	unsigned select; /* 0: identity */
};

/* The eight dwords in s[8:15]. */
static void
put_resource(struct run *r, const struct desc *d)
{
	static const uint16_t formats[2][FMT_COUNT] = { { 20, 56, 71, 130 }, { 20, 42, 57, 66 } };
	bool gfx10 = r->d.arch == SG_ARCH_RDNA2;
	uint32_t *s = &r->w->sgpr[8], levels = d->levels ? d->levels : 1;
	uint32_t format = formats[!gfx10][d->format], w = d->width - 1;

	s[0] = RUN_DATA >> 8;
	s[1] = format << 20 | (w & 3) << 30 | (gfx10 ? 0 : (levels - 1) << 16);
	s[2] = w >> 2 | (d->height ? d->height - 1 : 0) << 14 | (gfx10 ? 1u << 31 : 0);
	s[3] = (d->select ? d->select : 0xfac) | d->base_level << 12 | (levels - 1) << 16 | d->swizzle << 20 |
	       d->type << 28;
	s[4] = (d->layers ? d->layers - 1 : 0) | d->first_layer << 16;
	s[5] = gfx10 ? (levels - 1) << 4 : 0;
	s[6] = s[7] = 0;
}

static uint32_t *
word(struct run *r, uint64_t offset)
{
	return (uint32_t *)(r->data + offset);
}

static const enum sg_arch archs[2] = { SG_ARCH_RDNA2, SG_ARCH_RDNA3 };
#define EACH_ARCH(a) for (unsigned a = 0; a < 2; a++)

static void
setup(struct run *r, enum sg_arch arch, const uint32_t *gfx10, const uint32_t *gfx11, unsigned words,
      const struct desc *d)
{
	run_begin(r, arch, 32, arch == SG_ARCH_RDNA2 ? gfx10 : gfx11, words);
	put_resource(r, d);
}

/* image_load v[4:7], v[0:1] dmask 15, 2D, and image_store of the same */
static const uint32_t load10[] = { 0xf0001f08, 0x00020400 }, load11[] = { 0xf0000f84, 0x00020400 };
static const uint32_t store10[] = { 0xf0201f08, 0x00020400 }, store11[] = { 0xf0180f84, 0x00020400 };

static void
coordinates(struct run *r, unsigned width)
{
	for (unsigned i = 0; i < 32; i++) {
		*run_lane(r, 0, i) = i % width;
		*run_lane(r, 1, i) = i / width;
	}
}

static void
rows_begin_at_256_bytes(void **state)
{
	struct run *r = *state;
	const struct desc d = { .format = FMT_R32_UINT, .type = T_2D, .width = 5, .height = 6 };

	EACH_ARCH(a) {
		setup(r, archs[a], load10, load11, 2, &d);
		coordinates(r, 5);
		for (unsigned y = 0; y < 6; y++)
			for (unsigned x = 0; x < 5; x++)
				*word(r, y * 256 + x * 4) = 1000 * y + x + 1;
		run_go(r);
		for (unsigned i = 0; i < 30; i++) {
			assert_int_equal(*run_lane(r, 4, i), 1000 * (i / 5) + i % 5 + 1);
			assert_int_equal(*run_lane(r, 5, i), 0);
			assert_int_equal(*run_lane(r, 7, i), 1); /* alpha that the format lacks */
		}
		/* below the last row: all components read 0 */
		assert_int_equal(*run_lane(r, 4, 30), 0);
		assert_int_equal(*run_lane(r, 7, 31), 0);
		assert_int_equal(r->faults, 0);
	}
}

static void
stores_convert_and_drop_what_is_outside(void **state)
{
	struct run *r = *state;
	const struct desc d = { .format = FMT_RGBA8_UNORM, .type = T_2D, .width = 8, .height = 3 };

	EACH_ARCH(a) {
		memset(r->data, 0xee, 2048);
		setup(r, archs[a], store10, store11, 2, &d);
		coordinates(r, 8);
		for (unsigned i = 0; i < 32; i++) {
			*run_lane(r, 4, i) = 0x3f800000; /* 1.0 */
			*run_lane(r, 5, i) = 0xbf800000; /* -1.0: clamped */
			*run_lane(r, 6, i) = 0x3f000000; /* 0.5 */
			*run_lane(r, 7, i) = 0x7fc00000; /* NaN: 0 */
		}
		run_go(r);
		for (unsigned i = 0; i < 24; i++)
			assert_int_equal(*word(r, i / 8 * 256 + i % 8 * 4), 0x008000ff);
		assert_int_equal(*word(r, 3 * 256), 0xeeeeeeee);
		assert_int_equal(*word(r, 32), 0xeeeeeeee);
	}
}

/* BGRA: the resource's selects order what loads give, and stores the other way round. */
static void
selects_apply_to_loads_and_stores(void **state)
{
	struct run *r = *state;
	const struct desc d = { .format = FMT_RGBA8_UNORM, .type = T_2D, .width = 8, .height = 4,
				.select = 6 | 5 << 3 | 4 << 6 | 7 << 9 };

	EACH_ARCH(a) {
		setup(r, archs[a], store10, store11, 2, &d);
		coordinates(r, 8);
		for (unsigned i = 0; i < 32; i++)
			*run_lane(r, 4, i) = 0x3f800000;
		run_go(r);
		assert_int_equal(*word(r, 0), 0x00ff0000);
		setup(r, archs[a], load10, load11, 2, &d);
		coordinates(r, 8);
		run_go(r);
		assert_int_equal(*run_lane(r, 4, 3), 0x3f800000);
		assert_int_equal(*run_lane(r, 6, 3), 0);
	}
}

/* Address registers named one by one, halves as data: image_load v[4:5], [v0, v9, v2], dmask 15, 2D array, d16. */
static void
arrays_and_halves(void **state)
{
	static const uint32_t gfx10[] = { 0xf0000f2a, 0x80020400, 0x0209 }, gfx11[] = { 0xf0020f15, 0x00020400, 0x0209 };
	struct run *r = *state;
	const struct desc d = { .format = FMT_RGBA16_FLOAT, .type = T_2D_ARRAY, .width = 40, .height = 3, .layers = 4,
				.first_layer = 1 };

	EACH_ARCH(a) {
		setup(r, archs[a], gfx10, gfx11, 3, &d);
		/* 40 texels of 8 bytes: rows of 512; layer 2 of the view is slice 3 */
		*word(r, 3 * 3 * 512 + 1 * 512 + 7 * 8) = 0x40003c00;
		*word(r, 3 * 3 * 512 + 1 * 512 + 7 * 8 + 4) = 0xc0004200;
		for (unsigned i = 0; i < 32; i++) {
			*run_lane(r, 0, i) = 7;
			*run_lane(r, 9, i) = 1;
			*run_lane(r, 2, i) = i; /* layers 3 and up do not exist */
		}
		run_go(r);
		assert_int_equal(*run_lane(r, 4, 2), 0x40003c00);
		assert_int_equal(*run_lane(r, 5, 2), 0xc0004200);
		assert_int_equal(*run_lane(r, 4, 3), 0);
	}
}

/* Halves as address: x and y share v0, the layer is in v1. image_load v[4:5], v[0:1], dmask 15, a16 d16 */
static void
addresses_of_16_bits(void **state)
{
	static const uint32_t gfx10[] = { 0xf0000f28, 0xc0020400 }, gfx11[] = { 0xf0030f14, 0x00020400 };
	struct run *r = *state;
	const struct desc d = { .format = FMT_R32_UINT, .type = T_2D_ARRAY, .width = 3, .height = 4, .layers = 2 };

	EACH_ARCH(a) {
		setup(r, archs[a], gfx10, gfx11, 2, &d);
		*word(r, 4 * 256 + 2 * 256 + 4) = 0x1234abcd;
		*run_lane(r, 0, 0) = 1 | 2 << 16;
		*run_lane(r, 1, 0) = 0xffff0001; /* upper half: not part of the address */
		run_go(r);
		assert_int_equal(*run_lane(r, 4, 0), 0xabcd);
		assert_int_equal(*run_lane(r, 5, 0), 1u << 16);
	}
}

/* Levels lie from the smallest up. image_load_mip v4, [v0, v9, v2], dmask 2 (the second component), 2D */
static void
mip_levels(void **state)
{
	static const uint32_t gfx10[] = { 0xf004020a, 0x00020400, 0x0209 }, gfx11[] = { 0xf0040205, 0x00020400, 0x0209 };
	struct run *r = *state;
	const struct desc d = { .format = FMT_RGBA8_UNORM, .type = T_2D, .width = 100, .height = 8, .levels = 3,
				.base_level = 1 };

	EACH_ARCH(a) {
		setup(r, archs[a], gfx10, gfx11, 3, &d);
		/* level 2: 25 x 2 texels, rows of 256; level 1 behind it: 50 x 4 */
		*word(r, 1 * 256 + 24 * 4) = 0xff00;
		*word(r, 512 + 3 * 256 + 49 * 4) = 0xff00;
		*run_lane(r, 0, 0) = 49;
		*run_lane(r, 9, 0) = 3;
		*run_lane(r, 0, 1) = 24;
		*run_lane(r, 9, 1) = 1;
		*run_lane(r, 2, 1) = 1;
		*run_lane(r, 2, 2) = 2; /* no such level in the view */
		run_go(r);
		assert_int_equal(*run_lane(r, 4, 0), 0x3f800000);
		assert_int_equal(*run_lane(r, 4, 1), 0x3f800000);
		assert_int_equal(*run_lane(r, 4, 2), 0);
	}
}

/* image_load v[4:6], v[0:2], dmask 3, 3D, tfe: the third register tells of pages without memory. */
static void
status_of_pages_without_memory(void **state)
{
	static const uint32_t gfx10[] = { 0xf0010310, 0x00020400 }, gfx11[] = { 0xf0000308, 0x00220400 };
	struct run *r = *state;
	const struct desc d = { .format = FMT_R32_UINT, .type = T_3D, .width = 2, .height = 2, .layers = 2 };

	EACH_ARCH(a) {
		setup(r, archs[a], gfx10, gfx11, 2, &d);
		*word(r, 512 + 256 + 4) = 77;
		for (unsigned i = 0; i < 3; i++)
			*run_lane(r, i, 0) = 1;
		*run_lane(r, 6, 0) = 99;
		run_go(r);
		assert_int_equal(*run_lane(r, 4, 0), 77);
		assert_int_equal(*run_lane(r, 6, 0), 0);
		setup(r, archs[a], gfx10, gfx11, 2, &d);
		r->w->sgpr[8] = RUN_HOLE >> 8;
		*run_lane(r, 4, 0) = 5;
		run_go(r);
		assert_int_equal(*run_lane(r, 4, 0), 0);
		assert_int_equal(*run_lane(r, 6, 0), 1);
	}
}

/* image_atomic_add v4, v[0:1], dmask 1, 2D, glc; image_atomic_cmpswap v[4:5], v0, dmask 3, 1D, glc */
static void
atomics(void **state)
{
	static const uint32_t add10[] = { 0xf0442108, 0x00020400 }, add11[] = { 0xf0304104, 0x00020400 };
	static const uint32_t cas10[] = { 0xf0402300, 0x00020400 }, cas11[] = { 0xf02c4300, 0x00020400 };
	struct run *r = *state;
	const struct desc d = { .format = FMT_R32_UINT, .type = T_2D, .width = 4, .height = 2 };
	const struct desc line = { .format = FMT_R32_UINT, .type = T_1D, .width = 4 };
	const struct desc bytes8 = { .format = FMT_RGBA16_FLOAT, .type = T_2D, .width = 4, .height = 2 };

	EACH_ARCH(a) {
		setup(r, archs[a], add10, add11, 2, &d);
		*word(r, 256 + 8) = 100;
		for (unsigned i = 0; i < 32; i++) {
			*run_lane(r, 0, i) = 2;
			*run_lane(r, 1, i) = i < 31 ? 1 : 2; /* the last one is outside */
			*run_lane(r, 4, i) = 3;
		}
		run_go(r);
		assert_int_equal(*word(r, 256 + 8), 100 + 31 * 3);
		assert_int_equal(*run_lane(r, 4, 0), 100);
		assert_int_equal(*run_lane(r, 4, 30), 100 + 30 * 3);
		assert_int_equal(*run_lane(r, 4, 31), 0);

		setup(r, archs[a], cas10, cas11, 2, &line);
		*word(r, 4) = 7;
		for (unsigned i = 0; i < 32; i++) {
			*run_lane(r, 0, i) = 1;
			*run_lane(r, 4, i) = 50 + i;
			*run_lane(r, 5, i) = i < 2 ? 7 : 50;
		}
		run_go(r);
		assert_int_equal(*word(r, 4), 52);
		assert_int_equal(*run_lane(r, 4, 0), 7);
		assert_int_equal(*run_lane(r, 4, 1), 50);
		assert_int_equal(*run_lane(r, 4, 3), 52);

		setup(r, archs[a], add10, add11, 2, &bytes8);
		run_stops(r, "do not fit its dmask");
	}
}

/* image_get_resinfo v[4:7], v0, dmask 15, 2D */
static void
sizes(void **state)
{
	static const uint32_t gfx10[] = { 0xf0380f08, 0x00020400 }, gfx11[] = { 0xf05c0f04, 0x00020400 };
	struct run *r = *state;
	const struct desc d = { .format = FMT_RGBA8_UNORM, .type = T_2D_ARRAY, .width = 100, .height = 8, .layers = 6,
				.first_layer = 2, .levels = 4, .base_level = 1 };
	static const uint32_t want[4][3] = { { 50, 4, 4 }, { 25, 2, 4 }, { 12, 1, 4 }, { 0, 0, 0 } };

	EACH_ARCH(a) {
		setup(r, archs[a], gfx10, gfx11, 2, &d);
		for (unsigned i = 0; i < 32; i++)
			*run_lane(r, 0, i) = i;
		run_go(r);
		for (unsigned i = 0; i < 4; i++) {
			for (unsigned c = 0; c < 3; c++)
				assert_int_equal(*run_lane(r, 4 + c, i), want[i][c]);
			assert_int_equal(*run_lane(r, 7, i), 3);
		}
	}
}

/* image_store v4, v[0:1], dmask 4, 1D array: the components not given are written as 0. */
static void
parts_of_a_texel(void **state)
{
	static const uint32_t gfx10[] = { 0xf0200420, 0x00020400 }, gfx11[] = { 0xf0180410, 0x00020400 };
	struct run *r = *state;
	const struct desc d = { .format = FMT_RGBA8_UNORM, .type = T_1D_ARRAY, .width = 9, .layers = 3 };

	EACH_ARCH(a) {
		memset(r->data, 0xff, 1024);
		setup(r, archs[a], gfx10, gfx11, 2, &d);
		*run_lane(r, 0, 0) = 8;
		*run_lane(r, 1, 0) = 2;
		*run_lane(r, 4, 0) = 0x3f800000;
		r->w->sgpr[SG_REG_EXEC] = 1;
		run_go(r);
		assert_int_equal(*word(r, 2 * 256 + 32), 0x00ff0000);
		assert_int_equal(*word(r, 32), 0xffffffff);
	}
}

static void
srgb_is_made_linear(void **state)
{
	struct run *r = *state;
	const struct desc d = { .format = FMT_RGBA8_SRGB, .type = T_2D, .width = 8, .height = 4 };

	EACH_ARCH(a) {
		setup(r, archs[a], load10, load11, 2, &d);
		*word(r, 0) = 0x80ff0080;
		run_go(r);
		float f[4];
		for (unsigned c = 0; c < 4; c++)
			memcpy(&f[c], run_lane(r, 4 + c, 0), 4);
		assert_true(f[0] > 0.2158f && f[0] < 0.2159f); /* 128 of 255 */
		assert_true(f[1] == 0 && f[2] == 1);
		assert_true(f[3] > 0.501f && f[3] < 0.502f); /* alpha is linear already */
	}
}

static void
what_is_refused_and_what_is_null(void **state)
{
	struct run *r = *state;
	struct desc d = { .format = FMT_RGBA8_UNORM, .type = T_2D, .width = 8, .height = 4, .swizzle = 27 };

	EACH_ARCH(a) {
		setup(r, archs[a], load10, load11, 2, &d);
		run_stops(r, "swizzle mode 27");
		setup(r, archs[a], load10, load11, 2, &d);
		r->w->sgpr[11] = 0x10000000;
		run_stops(r, "resource type 1");
		setup(r, archs[a], load10, load11, 2, &d);
		memset(&r->w->sgpr[8], 0, 32);
		*run_lane(r, 4, 3) = 1;
		run_go(r);
		assert_int_equal(*run_lane(r, 4, 3), 0);
	}
	/* image_sample v[4:7], v[0:1], s[8:15], s[16:19] dmask 15, 2D */
	RUN_BEGIN(r, SG_ARCH_RDNA3, 32, 0xf06c0f04, 0x10020400);
	run_stops(r, "image_sample is not implemented");
}

static int
open_run(void **state)
{
	static struct run r;
	run_open(&r);
	*state = &r;
	return 0;
}

static int
close_run(void **state)
{
	run_close(*state);
	return 0;
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_run, close_run)
	const struct CMUnitTest tests[] = {
		TEST(rows_begin_at_256_bytes),
		TEST(stores_convert_and_drop_what_is_outside),
		TEST(selects_apply_to_loads_and_stores),
		TEST(arrays_and_halves),
		TEST(addresses_of_16_bits),
		TEST(mip_levels),
		TEST(status_of_pages_without_memory),
		TEST(atomics),
		TEST(sizes),
		TEST(parts_of_a_texel),
		TEST(srgb_is_made_linear),
		TEST(what_is_refused_and_what_is_null),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
