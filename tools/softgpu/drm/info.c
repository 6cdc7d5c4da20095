/* SPDX-License-Identifier: MIT */
/* info.c: DRM_AMDGPU_INFO (Linux 6.12 amdgpu_kms.c). */
#define _GNU_SOURCE
#include "ioctls.h"

#include <errno.h>
#include <string.h>

#define MIB (1ull << 20)
#define RESERVED_VRAM (8 * MIB) /* what the kernel keeps back, AMDGPU_VM_RESERVED_VRAM */
#define REG_GB_ADDR_CONFIG 0x263eu
#define MMR_MAX 128
/* AMDGPU_GFX_MAX_SE and _SH_PER_SE, whatever the chip has. */
#define MAX_SE 4
#define MAX_SA 2

/* Sensors of DRM 3.50 and later */
#define SENSOR_PEAK_SCLK 0xa
#define SENSOR_PEAK_MCLK 0xb
#define SENSOR_INPUT_POWER 0xc

#define INFO_MAX_IBS GPUPLAN_AMDGPU_INFO_MAX_IBS
#define INFO_GPUVM_FAULT GPUPLAN_AMDGPU_INFO_GPUVM_FAULT

/* Linux 6.12's struct drm_amdgpu_info_device; libdrm 2.4.114 knows the first 368 bytes. */
struct info_device {
	struct drm_amdgpu_info_device old;
	uint64_t min_engine_clock, min_memory_clock; /* kHz */
	uint32_t tcp_cache_size, num_sqc_per_wgp, sqc_data_cache_size, sqc_inst_cache_size, gl1c_cache_size,
		gl2c_cache_size; /* KiB, num_sqc_per_wgp a count */
	uint64_t mall_size;
	uint32_t enabled_rb_pipes_mask_hi, shadow_size, shadow_alignment, csa_size, csa_alignment, pad;
};
_Static_assert(sizeof(struct drm_amdgpu_info_device) == 368, "libdrm's copy");
_Static_assert(sizeof(struct info_device) == 440, "Linux 6.12's");

/* The caller's buffer; "just like snprintf", shorter ones get the front. */
static int
answer(const struct drm_amdgpu_info *in, const void *data, size_t bytes)
{
	return sg_copy_to(in->return_pointer, data, bytes < in->return_size ? bytes : in->return_size);
}

static int
answer_u32(const struct drm_amdgpu_info *in, uint32_t value)
{
	return answer(in, &value, sizeof(value));
}

static int
answer_u64(const struct drm_amdgpu_info *in, uint64_t value)
{
	return answer(in, &value, sizeof(value));
}

/* ---- the chip ---- */

static int
info_hw_ip(const struct drm_amdgpu_info *in)
{
	const struct sg_profile *p = sg_config()->profile;
	struct drm_amdgpu_info_hw_ip ip = { 0 };
	uint32_t type = in->query_hw_ip.type;

	if (in->query_hw_ip.ip_instance >= 1 || type >= SG_HW_IP_NUM)
		return -EINVAL;
	switch (type) {
	case AMDGPU_HW_IP_GFX:
	case AMDGPU_HW_IP_COMPUTE:
		ip.hw_ip_version_major = p->hw_ip_gfx_major;
		ip.hw_ip_version_minor = p->hw_ip_gfx_minor;
		ip.ib_start_alignment = 32;
		ip.ib_size_alignment = 32;
		ip._pad = p->gc_ip_discovery; /* ip_discovery_version, DRM 3.48 */
		break;
	case AMDGPU_HW_IP_DMA:
		ip.hw_ip_version_major = p->sdma_major;
		ip.hw_ip_version_minor = p->sdma_minor;
		ip.ib_start_alignment = 256;
		ip.ib_size_alignment = 4;
		ip._pad = p->sdma_major << 16 | p->sdma_minor << 8;
		break;
	default:
		break;
	}
	ip.available_rings = sg_ip_ring_mask(type);
	if (!ip.available_rings)
		memset(&ip, 0, sizeof(ip)); /* an absent engine is zeros and success */
	return answer(in, &ip, sizeof(ip));
}

static int
info_hw_ip_count(const struct drm_amdgpu_info *in)
{
	uint32_t type = in->query_hw_ip.type;

	if (type >= SG_HW_IP_NUM || !sg_ip_ring_mask(type))
		return -EINVAL;
	return answer_u32(in, 1);
}

static int
info_firmware(const struct drm_amdgpu_info *in)
{
	const struct sg_profile *p = sg_config()->profile;
	struct drm_amdgpu_info_firmware fw = { 0 };

	if (in->query_fw.ip_instance != 0)
		return -EINVAL;
	switch (in->query_fw.fw_type) {
	case AMDGPU_INFO_FW_GFX_ME:
		fw = (struct drm_amdgpu_info_firmware){ p->me_version, p->fw_feature };
		break;
	case AMDGPU_INFO_FW_GFX_PFP:
		fw = (struct drm_amdgpu_info_firmware){ p->pfp_version, p->fw_feature };
		break;
	case AMDGPU_INFO_FW_GFX_MEC:
		if (in->query_fw.index > 1)
			return -EINVAL;
		fw = (struct drm_amdgpu_info_firmware){ p->mec_version, p->fw_feature };
		break;
	case AMDGPU_INFO_FW_SDMA:
		if (in->query_fw.index > 1)
			return -EINVAL;
		break;
	default:
		/* Firmware that is not there is zeros; numbers between and after the known ones are refused. */
		if (in->query_fw.fw_type == 0 || in->query_fw.fw_type == 9 || in->query_fw.fw_type > 0x1c) /* VPE */
			return -EINVAL;
		break;
	}
	return answer(in, &fw, sizeof(fw));
}

/* SE s, SA a stands at [s % 4][a + 2 * (s / 4)]. Fewer active CUs than places: the last arrays have the holes. */
static void
fill_cus(const struct sg_profile *p, struct drm_amdgpu_info_device *d)
{
	uint32_t left = p->active_cus, arrays = p->num_se * p->num_sa_per_se;

	d->cu_active_number = p->active_cus;
	for (uint32_t i = 0; i < arrays; i++) {
		uint32_t here = (left + arrays - i - 1) / (arrays - i);
		uint32_t se = i / p->num_sa_per_se, sa = i % p->num_sa_per_se;
		d->cu_bitmap[se % 4][sa + 2 * (se / 4)] = (1u << here) - 1;
		left -= here;
	}
}

static void
fill_device(const struct sg_profile *p, struct drm_amdgpu_info_device *d)
{
	d->device_id = p->pci_device;
	d->chip_rev = p->chip_rev;
	d->external_rev = p->external_rev;
	d->pci_rev = p->pci_revision;
	d->family = p->family;
	d->num_shader_engines = p->num_se;
	d->num_shader_arrays_per_engine = p->num_sa_per_se;
	d->gpu_counter_freq = p->counter_khz;
	d->max_engine_clock = p->max_sclk_khz;
	d->max_memory_clock = p->max_mclk_khz;
	fill_cus(p, d);
	d->enabled_rb_pipes_mask = p->rb_mask;
	d->num_rb_pipes = p->num_rb;
	d->num_hw_gfx_contexts = 8;
	d->_pad = 4; /* pcie_gen, DRM 3.51 */
	d->ids_flags = p->ids_flags;
	d->virtual_address_offset = 0x10000;
	d->virtual_address_max = 0x800000000000;
	d->virtual_address_alignment = 4096;
	d->pte_fragment_size = 0x200000;
	d->gart_page_size = 4096;
	d->ce_ram_size = p->ce_ram_bytes;
	d->vram_type = p->vram_type;
	d->vram_bit_width = p->vram_bit_width;
	d->gc_double_offchip_lds_buf = p->double_offchip_lds;
	d->wave_front_size = p->wave_size;
	d->num_shader_visible_vgprs = p->vgprs_per_simd;
	d->num_cu_per_sh = p->cu_per_sa;
	d->num_tcc_blocks = p->num_tcc;
	d->gs_vgt_table_depth = 32;
	d->gs_prim_buffer_depth = 1792;
	d->max_gs_waves_per_vgt = 32;
	d->_pad1 = 16; /* pcie_num_lanes */
	d->high_va_offset = 0xffff800000000000;
	d->high_va_max = 0xffffffffffbf0000;
}

static int
info_device(const struct drm_amdgpu_info *in)
{
	const struct sg_profile *p = sg_config()->profile;
	struct info_device d;

	memset(&d, 0, sizeof(d));
	fill_device(p, &d.old);
	d.min_engine_clock = p->max_sclk_khz / 5;
	d.min_memory_clock = p->max_mclk_khz / 5;
	d.tcp_cache_size = p->tcp_kib;
	d.num_sqc_per_wgp = 1;
	d.sqc_data_cache_size = p->sqc_data_kib;
	d.sqc_inst_cache_size = p->sqc_inst_kib;
	d.gl1c_cache_size = p->gl1_kib;
	d.gl2c_cache_size = p->gl2_kib;
	d.mall_size = p->mall_bytes;
	return answer(in, &d, sizeof(d));
}

/* The kernel reads registers on an allow-list; of those user space asks GB_ADDR_CONFIG, the others read 0. */
static bool
register_allowed(uint32_t reg)
{
	static const uint32_t allowed[] = {
		0x2004, 0x2005, 0x2006, 0x2007, /* GRBM_STATUS, STATUS2, STATUS_SE0, SE1 */
		0x200e, 0x200f,			/* GRBM_STATUS_SE2, SE3 */
		0x340d, 0x340e,			/* SDMA0/1_STATUS_REG */
		0x21a0,				/* CP_STAT */
		REG_GB_ADDR_CONFIG,
	};

	for (unsigned i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (allowed[i] == reg)
			return true;
	return false;
}

static int
info_registers(const struct drm_amdgpu_info *in)
{
	const struct sg_profile *p = sg_config()->profile;
	uint32_t values[MMR_MAX];
	uint32_t se = in->read_mmr_reg.instance & 0xff, sh = in->read_mmr_reg.instance >> 8 & 0xff;
	uint32_t count = in->read_mmr_reg.count;

	if ((se != 0xff && se >= MAX_SE) || (sh != 0xff && sh >= MAX_SA))
		return -EINVAL;
	if (count > MMR_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t reg = in->read_mmr_reg.dword_offset + i;
		if (!register_allowed(reg))
			return -EFAULT; /* the kernel's choice of errno */
		values[i] = reg == REG_GB_ADDR_CONFIG ? p->gb_addr_config : 0;
	}
	return answer(in, values, count * sizeof(values[0]));
}

static int
info_sensor(const struct drm_amdgpu_info *in)
{
	const struct sg_profile *p = sg_config()->profile;

	switch (in->sensor_info.type) {
	case AMDGPU_INFO_SENSOR_GFX_SCLK:
	case AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_SCLK:
	case SENSOR_PEAK_SCLK:
		return answer_u32(in, p->max_sclk_khz / 1000); /* MHz */
	case AMDGPU_INFO_SENSOR_GFX_MCLK:
	case AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_MCLK:
	case SENSOR_PEAK_MCLK:
		return answer_u32(in, p->max_mclk_khz / 1000);
	case AMDGPU_INFO_SENSOR_GPU_TEMP:
		return answer_u32(in, 40000); /* millidegrees */
	case AMDGPU_INFO_SENSOR_GPU_LOAD:
		return answer_u32(in, sg_dev.in_flight ? 100 : 0); /* per cent */
	case AMDGPU_INFO_SENSOR_VDDGFX:
		return answer_u32(in, 800); /* mV */
	case AMDGPU_INFO_SENSOR_GPU_AVG_POWER:
	case SENSOR_INPUT_POWER:
		return answer_u32(in, 20); /* watts */
	default:
		return -EINVAL;
	}
}

/* ---- memory ---- */

static uint64_t
usable(uint64_t heap, uint64_t reserved)
{
	return heap > reserved ? heap - reserved : 0;
}

static struct drm_amdgpu_heap_info
heap(uint64_t total, uint64_t reserved, uint64_t used)
{
	uint64_t left = usable(total, reserved);

	return (struct drm_amdgpu_heap_info){
		.total_heap_size = total,
		.usable_heap_size = left,
		.heap_usage = used,
		.max_allocation = left / 4 * 3,
	};
}

/* Nothing is kept back from the visible part for itself. */
static uint64_t
visible_usable(const struct sg_profile *p)
{
	uint64_t all = usable(p->vram_bytes, RESERVED_VRAM);

	return p->visible_vram_bytes < all ? p->visible_vram_bytes : all;
}

static int
info_memory(const struct drm_amdgpu_info *in)
{
	const struct sg_profile *p = sg_config()->profile;
	struct drm_amdgpu_memory_info m = {
		.vram = heap(p->vram_bytes, RESERVED_VRAM, sg_dev.vram.now),
		.cpu_accessible_vram = heap(visible_usable(p), 0, sg_dev.visible_vram),
		.gtt = heap(p->gtt_bytes, 0, sg_dev.gtt.now),
	};

	m.cpu_accessible_vram.total_heap_size = p->visible_vram_bytes;
	return answer(in, &m, sizeof(m));
}

static int
info_vram_gtt(const struct drm_amdgpu_info *in)
{
	const struct sg_profile *p = sg_config()->profile;
	struct drm_amdgpu_info_vram_gtt v = {
		.vram_size = usable(p->vram_bytes, RESERVED_VRAM),
		.vram_cpu_accessible_size = visible_usable(p),
		.gtt_size = p->gtt_bytes,
	};

	return answer(in, &v, sizeof(v));
}

static int
info_fault(const struct sg_file *file, const struct drm_amdgpu_info *in)
{
	struct sg_vm_fault fault;

	sg_vm_last_fault(file->vm, &fault);
	struct gpuplan_amdgpu_info_gpuvm_fault f = { fault.address, fault.status, fault.vmhub };
	return answer(in, &f, sizeof(f));
}

/* ---- dispatch ---- */

static int
info_chip(const struct drm_amdgpu_info *in)
{
	static const uint32_t max_ibs[SG_HW_IP_NUM] = { 192, 125, 49, 49, 49, 49, 49, 49, 16, 49 };
	static const struct drm_amdgpu_info_gds gds; /* none since gfx10 */
	static const struct drm_amdgpu_info_vce_clock_table vce;

	switch (in->query) {
	case AMDGPU_INFO_ACCEL_WORKING: return answer_u32(in, 1);
	case AMDGPU_INFO_CRTC_FROM_ID: return -EINVAL; /* no display */
	case AMDGPU_INFO_HW_IP_INFO: return info_hw_ip(in);
	case AMDGPU_INFO_HW_IP_COUNT: return info_hw_ip_count(in);
	case AMDGPU_INFO_TIMESTAMP: return answer_u64(in, sg_gpu_clock());
	case AMDGPU_INFO_FW_VERSION: return info_firmware(in);
	case AMDGPU_INFO_GDS_CONFIG: return answer(in, &gds, sizeof(gds));
	case AMDGPU_INFO_READ_MMR_REG: return info_registers(in);
	case AMDGPU_INFO_DEV_INFO: return info_device(in);
	case AMDGPU_INFO_VCE_CLOCK_TABLE: return answer(in, &vce, sizeof(vce));
	case AMDGPU_INFO_NUM_HANDLES: return -ENODATA;
	case AMDGPU_INFO_SENSOR: return info_sensor(in);
	case AMDGPU_INFO_RAS_ENABLED_FEATURES: return answer_u64(in, 0);
	case INFO_MAX_IBS: return answer(in, max_ibs, sizeof(max_ibs));
	default: return -EINVAL;
	}
}

int
sg_ioctl_info(struct sg_file *file, void *data)
{
	const struct drm_amdgpu_info *in = data;

	if (!in->return_size || !in->return_pointer)
		return -EINVAL;
	switch (in->query) {
	case AMDGPU_INFO_NUM_BYTES_MOVED: return answer_u64(in, sg_dev.bytes_moved);
	case AMDGPU_INFO_VRAM_USAGE: return answer_u64(in, sg_dev.vram.now);
	case AMDGPU_INFO_GTT_USAGE: return answer_u64(in, sg_dev.gtt.now);
	case AMDGPU_INFO_VIS_VRAM_USAGE: return answer_u64(in, sg_dev.visible_vram);
	case AMDGPU_INFO_NUM_EVICTIONS: return answer_u64(in, sg_dev.evictions);
	case AMDGPU_INFO_NUM_VRAM_CPU_PAGE_FAULTS: return answer_u64(in, 0);
	case AMDGPU_INFO_VRAM_GTT: return info_vram_gtt(in);
	case AMDGPU_INFO_MEMORY: return info_memory(in);
	case AMDGPU_INFO_VRAM_LOST_COUNTER: return answer_u32(in, sg_dev.vram_lost_counter);
	case INFO_GPUVM_FAULT: return info_fault(file, in);
	default: return info_chip(in);
	}
}
