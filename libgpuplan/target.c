/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "emit_gfx10.h"
#include "emit_gfx11.h"
#include "emit_gfx12.h"
#include "emit_gfx9.h"
#include "target.h"

/* y and z: what RADV reports; x: group ids are 32-bit, one bit is left for signed arithmetic in kernels. */
#define MAX_GROUPS { 0x7fffffffu, 65535u, 65535u }

/* The same on every target. */
#define LIMITS .max_groups = MAX_GROUPS, .max_block = 1024, .max_lds = 65536, .private_waves = 32
#define GFX9(chip, engines) { .name = chip, LIMITS, .shader_engines = engines, .private_granule = 1024, .emit = &gp_emit_gfx9 }
#define GFX10(chip, engines) { .name = chip, LIMITS, .shader_engines = engines, .private_granule = 1024, .emit = &gp_emit_gfx10 }
#define GFX11(chip, engines) { .name = chip, LIMITS, .shader_engines = engines, .private_granule = 256, .emit = &gp_emit_gfx11 }
#define GFX12(chip, engines)                                                                                          \
	{                                                                                                             \
		.name = chip, LIMITS, .shader_engines = engines, .private_granule = 256, .dma_bypasses_l2 = true,     \
		.emit = &gp_emit_gfx12                                                                                \
	}

/* Shader engines of the largest configuration sold (Linux gfx_v*.c, Mesa's device dumps; gfx942: of one XCC): a smaller
 * chip uses less of the private-segment ring. */
static const struct gp_target targets[] = {
	GFX9("gfx900", 4),
	GFX9("gfx906", 4),
	{ .name = "gfx90a", LIMITS, .shader_engines = 8, .private_granule = 1024, .emit = &gp_emit_gfx90a },
	{ .name = "gfx942", LIMITS, .shader_engines = 4, .private_granule = 1024, .emit = &gp_emit_gfx942 },
	GFX10("gfx1010", 2),
	GFX10("gfx1030", 4),
	GFX10("gfx1031", 2),
	GFX10("gfx1032", 2),
	GFX10("gfx1033", 1),
	GFX10("gfx1034", 1),
	GFX10("gfx1035", 1),
	GFX10("gfx1036", 1),
	GFX11("gfx1100", 6),
	GFX11("gfx1101", 3),
	GFX11("gfx1102", 2),
	GFX11("gfx1103", 1),
	GFX11("gfx1150", 1),
	GFX11("gfx1151", 2),
	GFX12("gfx1200", 2),
	GFX12("gfx1201", 4),
};

#define N_TARGETS (sizeof(targets) / sizeof(targets[0]))

/* Which chip a kernel talks of: GC IP discovery version (Linux amdgpu_discovery.c), and for kernels that do not
 * report it family and range of external revisions (Mesa amdgpu_asic_addr.h; an empty range: no such kernel). */
static const struct {
	uint32_t discovery;
	uint32_t family, first_rev, last_rev;
	const char *name;
} chips[] = {
	{ 0x090001, 141, 0x01, 0x13, "gfx900" }, { 0x090201, 141, 0x14, 0x27, "gfx904" },
	{ 0x090400, 141, 0x28, 0x31, "gfx906" }, { 0x090401, 141, 0x32, 0x3b, "gfx908" },
	{ 0x090402, 141, 0x3c, 0x45, "gfx90a" }, { 0x090403, 141, 0x46, 0xfe, "gfx942" },
	{ 0x090404, 0, 0x01, 0x00, "gfx942" }, { 0x0a010a, 143, 0x01, 0x09, "gfx1010" },
	{ 0x0a0102, 143, 0x0a, 0x13, "gfx1011" }, { 0x0a0101, 143, 0x14, 0x27, "gfx1012" },
	{ 0x0a0300, 143, 0x28, 0x31, "gfx1030" }, { 0x0a0302, 143, 0x32, 0x3b, "gfx1031" },
	{ 0x0a0304, 143, 0x3c, 0x45, "gfx1032" }, { 0x0a0301, 144, 0x01, 0xfe, "gfx1033" },
	{ 0x0a0305, 143, 0x46, 0x4f, "gfx1034" }, { 0x0a0303, 146, 0x01, 0xfe, "gfx1035" },
	{ 0x0a0306, 149, 0x01, 0xfe, "gfx1036" }, { 0x0a0307, 151, 0x01, 0xfe, "gfx1036" },
	{ 0x0b0000, 145, 0x01, 0x0f, "gfx1100" }, { 0x0b0003, 145, 0x20, 0xfe, "gfx1101" },
	{ 0x0b0002, 145, 0x10, 0x1f, "gfx1102" }, { 0x0b0001, 148, 0x01, 0xfe, "gfx1103" },
	{ 0x0b0004, 0, 0x01, 0x00, "gfx1103" }, { 0x0b0500, 0, 0x01, 0x00, "gfx1150" },
	{ 0x0b0501, 0, 0x01, 0x00, "gfx1151" }, { 0x0c0000, 152, 0x40, 0x4f, "gfx1200" },
	{ 0x0c0001, 152, 0x50, 0xfe, "gfx1201" },
};

const struct gp_target *
gp_target_find(const char *name)
{
	for (size_t i = 0; i < N_TARGETS; i++)
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	return NULL;
}

const struct gp_target *
gp_target_detect(uint32_t discovery, uint32_t family, uint32_t external_rev, char name[32])
{
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		bool match = discovery ? chips[i].discovery == discovery
				       : chips[i].family == family && external_rev >= chips[i].first_rev &&
						 external_rev <= chips[i].last_rev;

		if (match) {
			snprintf(name, 32, "%s", chips[i].name);
			return gp_target_find(name);
		}
	}
	if (discovery)
		snprintf(name, 32, "GC %u.%u.%u", discovery >> 16, discovery >> 8 & 0xff, discovery & 0xff);
	else
		snprintf(name, 32, "family %u revision 0x%x", family, external_rev);
	return NULL;
}

void
gp_target_list(char *text, uint32_t bytes)
{
	uint32_t n = 0;

	text[0] = 0;
	for (size_t i = 0; i < N_TARGETS && n < bytes; i++)
		n += (uint32_t)snprintf(text + n, bytes - n, "%s%s", i ? ", " : "", targets[i].name);
}
