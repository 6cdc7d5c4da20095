/* SPDX-License-Identifier: MIT */
/* profile.c: the chips softgpu can pretend to be, one table entry each.
 *
 * Sources: device dumps in Mesa's src/amd/common/amdgpu_devices.c (clocks, firmware, cache sizes, VRAM), Linux
 * 6.12's nv.c, soc21.c and amdgpu_kms.c (families, revisions, rings). The visible part of VRAM is kept under 4 GiB
 * whatever the card has: libdrm's eviction tests pass it through a 32-bit variable.
 */
#include "hw.h"

#include "../isa/isa.h"

#include <string.h>

#define GIB (1ull << 30)
#define MIB (1ull << 20)

static const struct sg_profile profiles[] = {
	{
		.name = "gfx1100",
		.marketing = "AMD Radeon RX 7900 XTX (softgpu)",
		.arch = SG_ARCH_RDNA3, .gen = SG_GEN_11,
		.gfx_major = 11, .gfx_minor = 0, .gfx_stepping = 0,
		.pci_vendor = 0x1002, .pci_device = 0x744c, .pci_revision = 0xc8,
		.pci_subvendor = 0x1002, .pci_subdevice = 0x0e3b,
		.family = 145, .external_rev = 0x01, .chip_rev = 0,
		.gc_ip_discovery = 0x0b0000,
		.hw_ip_gfx_major = 11, .hw_ip_gfx_minor = 0, .sdma_major = 6, .sdma_minor = 0,
		.gfx_rings = 0x1, .compute_rings = 0xf, .sdma_rings = 0x3,
		.num_se = 6, .num_sa_per_se = 2, .cu_per_sa = 8, .active_cus = 96,
		.wave_size = 32, .vgprs_per_simd = 1536,
		.num_rb = 24, .rb_mask = 0xffffff, .num_tcc = 24, .gb_addr_config = 0x00000545,
		.vram_type = 9, .vram_bit_width = 384,
		.vram_bytes = 25753026560ull, .visible_vram_bytes = 3 * GIB, .gtt_bytes = 8 * GIB,
		.counter_khz = 100000, .max_sclk_khz = 2371000, .max_mclk_khz = 1249000,
		.me_version = 1486, .pfp_version = 1525, .mec_version = 494, .fw_feature = 29,
		.ids_flags = 0x8 /* CONFORMANT_TRUNC_COORD */, .ce_ram_bytes = 0, .double_offchip_lds = 0,
		.tcp_kib = 32, .sqc_data_kib = 16, .sqc_inst_kib = 32, .gl1_kib = 256, .gl2_kib = 6144,
		.mall_bytes = 96 * MIB,
	},
	{
		.name = "gfx1030",
		.marketing = "AMD Radeon RX 6900 XT (softgpu)",
		.arch = SG_ARCH_RDNA2, .gen = SG_GEN_103,
		.gfx_major = 10, .gfx_minor = 3, .gfx_stepping = 0,
		.pci_vendor = 0x1002, .pci_device = 0x73bf, .pci_revision = 0xc0,
		.pci_subvendor = 0x1002, .pci_subdevice = 0x0e3a,
		.family = 143, .external_rev = 0x29, .chip_rev = 1,
		.gc_ip_discovery = 0x0a0300,
		/* HW_IP_INFO says 10.0 on this chip, not 10.3. */
		.hw_ip_gfx_major = 10, .hw_ip_gfx_minor = 0, .sdma_major = 5, .sdma_minor = 2,
		.gfx_rings = 0x1, .compute_rings = 0xf, .sdma_rings = 0x3,
		.num_se = 4, .num_sa_per_se = 2, .cu_per_sa = 10, .active_cus = 80,
		.wave_size = 32, .vgprs_per_simd = 1024,
		.num_rb = 16, .rb_mask = 0xffff, .num_tcc = 16, .gb_addr_config = 0x00000444,
		.vram_type = 9, .vram_bit_width = 256,
		.vram_bytes = 17163091968ull, .visible_vram_bytes = 3 * GIB, .gtt_bytes = 8 * GIB,
		.counter_khz = 100000, .max_sclk_khz = 2475000, .max_mclk_khz = 1000000,
		.me_version = 64, .pfp_version = 95, .mec_version = 104, .fw_feature = 42,
		.ids_flags = 0, .ce_ram_bytes = 65536, .double_offchip_lds = 1,
		.tcp_kib = 16, .sqc_data_kib = 16, .sqc_inst_kib = 32, .gl1_kib = 128, .gl2_kib = 4096,
		.mall_bytes = 128 * MIB,
	},
	{
		/* Packets only: isa/ has no gfx12. RADV of Debian 12 does not know the family. */
		.name = "gfx1201",
		.marketing = "AMD Radeon RX 9070 XT (softgpu, no shader core)",
		.arch = SG_NO_SHADER_CORE, .gen = SG_GEN_12,
		.gfx_major = 12, .gfx_minor = 0, .gfx_stepping = 1,
		.pci_vendor = 0x1002, .pci_device = 0x7550, .pci_revision = 0xc0,
		.pci_subvendor = 0x1002, .pci_subdevice = 0x7550,
		.family = 152, .external_rev = 0x51, .chip_rev = 1,
		.gc_ip_discovery = 0x0c0001,
		.hw_ip_gfx_major = 12, .hw_ip_gfx_minor = 0, .sdma_major = 7, .sdma_minor = 0,
		.gfx_rings = 0x1, .compute_rings = 0xf, .sdma_rings = 0x3,
		.num_se = 4, .num_sa_per_se = 2, .cu_per_sa = 8, .active_cus = 64,
		.wave_size = 32, .vgprs_per_simd = 1536,
		.num_rb = 16, .rb_mask = 0xffff, .num_tcc = 32, .gb_addr_config = 0x08200545,
		.vram_type = 9, .vram_bit_width = 256,
		.vram_bytes = 17095983104ull, .visible_vram_bytes = 3 * GIB, .gtt_bytes = 8 * GIB,
		.counter_khz = 100000, .max_sclk_khz = 2460000, .max_mclk_khz = 1258000,
		.me_version = 2590, .pfp_version = 2630, .mec_version = 2800, .fw_feature = 29,
		.ids_flags = 0, .ce_ram_bytes = 0, .double_offchip_lds = 64,
		.tcp_kib = 32, .sqc_data_kib = 16, .sqc_inst_kib = 32, .gl1_kib = 256, .gl2_kib = 8192,
		.mall_bytes = 64 * MIB,
	},
};

const struct sg_profile *
sg_profile_find(const char *name)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	return NULL;
}

const struct sg_profile *
sg_profile_default(void)
{
	return &profiles[0];
}
