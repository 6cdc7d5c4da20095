/* SPDX-License-Identifier: MIT */
/*
 * code_object_kernel.c: kernel descriptors. Source: LLVM's AMDGPUUsage, "Kernel Descriptor"; bit positions compared
 * with Mesa's register database.
 *
 * Bits that this loader does not know are refused, not masked: a newer compiler means something by them.
 */
#include <errno.h>
#include <string.h>

#include "code_object_parts.h"

#define RSRC1_SGPRS (15u << 6)	  /* gfx9: granules; later reserved, where LLVM 19 leaves non-zero values */
#define RSRC1_PRIORITY (3u << 10) /* the driver's choice */
#define RSRC1_PRIV (1u << 20)
#define RSRC1_DEBUG (1u << 22)
#define RSRC1_BULKY (1u << 24)
#define RSRC1_CDBG_USER (1u << 25)
#define RSRC1_RESERVED (3u << 27)
#define RSRC1_GFX10 (7u << 29) /* WGP_MODE, MEM_ORDERED, FWD_PROGRESS */

#define RSRC2_SCRATCH_EN (1u << 0)
#define RSRC2_USER_SGPR(r) ((r) >> 1 & 31u)
#define RSRC2_TRAP_PRESENT (1u << 6)
#define RSRC2_VGPR_IDS(r) ((r) >> 11 & 3u)
#define RSRC2_EXCP_MSB (3u << 13)
#define RSRC2_LDS_SIZE (0x1ffu << 15)
#define RSRC2_EXCP_EN (0x7fu << 24)
#define RSRC2_RESERVED (1u << 31)

/* COMPUTE_USER_DATA_0 to 15 */
#define MAX_USER_SGPRS 16u
#define PRELOAD_LENGTH(p) ((p)&0x7fu)

struct kernel {
	struct gp_kernel_info *info;
	const struct gp_co_kernel_meta *meta;
	char name[CO_TEXT];
	struct amdgpu_kernel_descriptor d;
};

static int
check_zero(struct gp_co_loader *l, const struct kernel *k, uint32_t value, const char *what)
{
	if (!value)
		return 0;
	return gp_co_fail(l, -ENOTSUP, "kernel '%s': %s are set (0x%x) that this loader does not know for %s", k->name,
		       what, value, l->file.processor->name);
}

static uint32_t
or_bytes(const uint8_t *p, size_t n)
{
	uint32_t value = 0;

	while (n--)
		value |= p[n];
	return value;
}

static int
check_reserved(struct gp_co_loader *l, const struct kernel *k)
{
	uint32_t reserved = or_bytes(k->d.reserved0, sizeof(k->d.reserved0)) |
			    or_bytes(k->d.reserved1, sizeof(k->d.reserved1)) |
			    or_bytes(k->d.reserved2, sizeof(k->d.reserved2));

	return check_zero(l, k, reserved, "reserved bytes of the descriptor");
}

static bool
architected_scratch(const struct gp_co_loader *l)
{
	return l->major >= 11 || gp_co_is_gfx94(l->file.processor);
}

static int
check_properties(struct gp_co_loader *l, const struct kernel *k)
{
	uint32_t p = k->d.kernel_code_properties, unknown = AMDGPU_KCP_RESERVED;

	if (l->major < 10)
		unknown |= AMDGPU_KCP_WAVE32;
	if (l->code->abi < 5)
		unknown |= AMDGPU_KCP_DYNAMIC_STACK;
	if (architected_scratch(l))
		unknown |= AMDGPU_KCP_PRIVATE_SEGMENT_BUFFER | AMDGPU_KCP_FLAT_SCRATCH_INIT;
	return check_zero(l, k, p & unknown, "kernel_code_properties bits");
}

/* Only gfx90a and gfx94x have it. Their kernels start 256 bytes later, with the arguments in user SGPRs. */
static int
check_preload(struct gp_co_loader *l, const struct kernel *k)
{
	uint32_t preload = k->d.kernarg_preload;

	if (!preload)
		return 0;
	if (!gp_co_is_gfx90a(l->file.processor) && !gp_co_is_gfx94(l->file.processor))
		return check_zero(l, k, preload, "kernarg_preload bits");
	return gp_co_refuse_kernel(l, k->info,
				"preloads arguments into SGPRs (kernarg_preload 0x%04x), which is not supported "
				"yet",
				preload);
}

static int
check_wave_size(struct gp_co_loader *l, const struct kernel *k)
{
	uint32_t wave = k->d.kernel_code_properties & AMDGPU_KCP_WAVE32 ? 32 : 64;

	if (wave == k->info->wave_size)
		return 0;
	return gp_co_fail(l, -ENOEXEC, "malformed: kernel '%s' has waves of %u in its descriptor, %u in the metadata",
		       k->name, wave, k->info->wave_size);
}

static int
check_rsrc1(struct gp_co_loader *l, const struct kernel *k)
{
	uint32_t zero = RSRC1_PRIV | RSRC1_DEBUG | RSRC1_BULKY | RSRC1_CDBG_USER | RSRC1_RESERVED |
			(l->major < 10 ? RSRC1_GFX10 : 0);

	return check_zero(l, k, k->d.compute_pgm_rsrc1 & zero, "compute_pgm_rsrc1 bits");
}

static int
check_rsrc2(struct gp_co_loader *l, const struct kernel *k)
{
	uint32_t rsrc2 = k->d.compute_pgm_rsrc2;

	if (RSRC2_VGPR_IDS(rsrc2) == 3)
		return gp_co_fail(l, -ENOEXEC, "malformed: kernel '%s' asks for work-item ids by the undefined code 3",
			       k->name);
	return check_zero(l, k, rsrc2 & RSRC2_RESERVED, "compute_pgm_rsrc2 bits");
}

/* Bits of compute_pgm_rsrc3 that may be set. */
static uint32_t
rsrc3_known(const struct gp_co_loader *l, uint32_t wave_size)
{
	const struct gp_co_processor *p = l->file.processor;
	uint32_t shared_vgprs = wave_size == 64 ? 0xfu : 0;

	if (l->major >= 12)
		return 1u << 31 | 1u << 13 | 0xffu << 4; /* IMAGE_OP, GLG_EN, INST_PREF_SIZE */
	if (l->major == 11)
		return 1u << 31 | 0x3fu << 4 | shared_vgprs; /* IMAGE_OP, INST_PREF_SIZE; trap on start and end: no */
	if (l->major == 10)
		return shared_vgprs;
	return gp_co_is_gfx90a(p) || gp_co_is_gfx94(p) ? 1u << 16 | 0x3fu : 0; /* TG_SPLIT, ACCUM_OFFSET */
}

static int
check_rsrc3(struct gp_co_loader *l, const struct kernel *k)
{
	return check_zero(l, k, k->d.compute_pgm_rsrc3 & ~rsrc3_known(l, k->info->wave_size), "compute_pgm_rsrc3 bits");
}

static uint32_t
enabled_sgprs(uint32_t properties)
{
	static const struct {
		uint32_t bit, sgprs;
	} user[] = {
		{ AMDGPU_KCP_PRIVATE_SEGMENT_BUFFER, 4 },
		{ AMDGPU_KCP_DISPATCH_PTR, 2 },
		{ AMDGPU_KCP_QUEUE_PTR, 2 },
		{ AMDGPU_KCP_KERNARG_SEGMENT_PTR, 2 },
		{ AMDGPU_KCP_DISPATCH_ID, 2 },
		{ AMDGPU_KCP_FLAT_SCRATCH_INIT, 2 },
		{ AMDGPU_KCP_PRIVATE_SEGMENT_SIZE, 1 },
	};
	uint32_t sum = 0;

	for (size_t i = 0; i < sizeof(user) / sizeof(user[0]); i++)
		sum += properties & user[i].bit ? user[i].sgprs : 0;
	return sum;
}

static int
check_user_sgprs(struct gp_co_loader *l, const struct kernel *k)
{
	uint32_t count = RSRC2_USER_SGPR(k->d.compute_pgm_rsrc2);
	uint32_t sum = enabled_sgprs(k->d.kernel_code_properties) + PRELOAD_LENGTH(k->d.kernarg_preload);

	if (count > MAX_USER_SGPRS)
		return gp_co_fail(l, -ENOEXEC, "malformed: kernel '%s' asks for %u user SGPRs, there are %u", k->name,
			       count, MAX_USER_SGPRS);
	if (count < sum)
		return gp_co_fail(l, -ENOEXEC, "malformed: kernel '%s' has %u user SGPRs, but enables contents for %u",
			       k->name, count, sum);
	return 0;
}

static int
check_kernarg(struct gp_co_loader *l, const struct kernel *k)
{
	if (k->d.kernarg_size && k->d.kernarg_size < k->meta->kernarg_bytes)
		return gp_co_fail(l, -ENOEXEC,
			       "malformed: kernel '%s' has %u bytes of arguments in its descriptor, %u in the "
			       "metadata",
			       k->name, k->d.kernarg_size, k->meta->kernarg_bytes);
	if (k->d.kernarg_size > CO_MAX_KERNARG)
		return gp_co_fail(l, -ENOTSUP, "kernel '%s' has %u bytes of arguments, more than %u", k->name,
			       k->d.kernarg_size, CO_MAX_KERNARG);
	if (k->d.kernarg_size)
		k->info->kernarg_bytes = k->d.kernarg_size;
	return 0;
}

static uint32_t
max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static int
check_lds(struct gp_co_loader *l, const struct kernel *k)
{
	k->info->lds_bytes = max_u32(k->d.group_segment_fixed_size, k->meta->lds_bytes);
	if (k->info->lds_bytes > CO_MAX_LDS)
		return gp_co_fail(l, -ENOTSUP, "kernel '%s' needs %u bytes of LDS, a workgroup can have %u", k->name,
			       k->info->lds_bytes, CO_MAX_LDS);
	return 0;
}

static bool
dynamic_stack(const struct kernel *k)
{
	return k->meta->dynamic_stack || k->d.kernel_code_properties & AMDGPU_KCP_DYNAMIC_STACK;
}

static int
check_private(struct gp_co_loader *l, const struct kernel *k)
{
	uint32_t limit = CO_MAX_PRIVATE_WAVE / k->info->wave_size;
	uint64_t bytes = max_u32(k->d.private_segment_fixed_size, k->meta->private_bytes);

	if (dynamic_stack(k))
		bytes += CO_DYNAMIC_STACK;
	if (bytes > limit)
		return gp_co_fail(l, -ENOTSUP,
			       "kernel '%s' needs %llu bytes of private memory (scratch) per work-item, %u are "
			       "possible",
			       k->name, (unsigned long long)bytes, limit);
	k->info->private_bytes = (uint32_t)bytes;
	return 0;
}

/* The descriptor as it is in the file, and its place in the image. */
static int
find_descriptor(struct gp_co_loader *l, struct kernel *k)
{
	char symbol[CO_TEXT];
	const uint8_t *bytes;
	struct gp_co_symbol s;

	gp_co_text(symbol, k->meta->symbol, strlen(k->meta->symbol));
	if (!gp_co_find_symbol(l, k->meta->symbol, &s))
		return gp_co_fail(l, -ENOEXEC,
			       "kernel '%s' has no dynamic symbol '%s'; a C kernel needs "
			       "__attribute__((visibility(\"protected\")))",
			       k->name, symbol);
	if (s.type != STT_OBJECT || s.bytes != sizeof(k->d))
		return gp_co_fail(l, -ENOEXEC,
			       "malformed: '%s' (type %u, %llu bytes) is no kernel descriptor of %zu bytes", symbol,
			       s.type, (unsigned long long)s.bytes, sizeof(k->d));
	bytes = s.value < l->low ? NULL : gp_co_file_bytes(l, s.value - l->low, sizeof(k->d), false);
	if (!bytes)
		return gp_co_fail(l, -ENOEXEC, "malformed: descriptor '%s' at 0x%llx is outside the file", symbol,
			       (unsigned long long)s.value);
	k->info->descriptor = s.value - l->low;
	if (k->info->descriptor % sizeof(k->d))
		return gp_co_fail(l, -ENOEXEC, "malformed: descriptor '%s' at 0x%llx is not aligned to %zu bytes", symbol,
			       (unsigned long long)s.value, sizeof(k->d));
	memcpy(&k->d, bytes, sizeof(k->d));
	return 0;
}

/* PGM_LO holds the address >> 8. The image is placed on 4 KiB, so the offset in it decides. */
static int
check_entry(struct gp_co_loader *l, const struct kernel *k)
{
	/* wraps to something far outside when the offset is nonsense: the image has at most CO_MAX_IMAGE bytes */
	uint64_t entry = k->info->descriptor + (uint64_t)k->d.kernel_code_entry_byte_offset;

	if (!gp_co_file_bytes(l, entry, 4, true))
		return gp_co_fail(l, -ENOEXEC,
			       "malformed: the entry of kernel '%s' (descriptor at 0x%llx, offset %lld) is not in an "
			       "executable segment",
			       k->name, (unsigned long long)(l->low + k->info->descriptor),
			       (long long)k->d.kernel_code_entry_byte_offset);
	if (entry & 255)
		return gp_co_fail(l, -ENOEXEC, "malformed: the entry of kernel '%s' at 0x%llx is not aligned to 256 bytes",
			       k->name, (unsigned long long)(l->low + entry));
	k->info->entry = entry;
	return 0;
}

/* What the loader changes; all else goes into the registers as the compiler wrote it. Exceptions need a trap handler,
 * which there is none of. */
static void
take_registers(const struct gp_co_loader *l, const struct kernel *k)
{
	struct gp_kernel_info *info = k->info;

	info->rsrc1 = k->d.compute_pgm_rsrc1 & ~(RSRC1_PRIORITY | (l->major >= 10 ? RSRC1_SGPRS : 0));
	info->rsrc2 = k->d.compute_pgm_rsrc2 & ~(RSRC2_TRAP_PRESENT | RSRC2_EXCP_MSB | RSRC2_EXCP_EN | RSRC2_LDS_SIZE);
	if (dynamic_stack(k))
		info->rsrc2 |= RSRC2_SCRATCH_EN;
	info->rsrc3 = k->d.compute_pgm_rsrc3;
	info->properties = k->d.kernel_code_properties;
}

int
gp_co_read_descriptor(struct gp_co_loader *l, struct gp_kernel_info *info, const struct gp_co_kernel_meta *meta)
{
	static int (*const checks[])(struct gp_co_loader *, const struct kernel *) = {
		check_entry, check_reserved, check_properties, check_wave_size, check_preload, check_rsrc1,
		check_rsrc2, check_rsrc3,    check_user_sgprs, check_kernarg,	check_lds,     check_private,
	};
	struct kernel k = { .info = info, .meta = meta };
	int r;

	gp_co_text(k.name, info->name, strlen(info->name));
	r = find_descriptor(l, &k);
	for (size_t i = 0; !r && i < sizeof(checks) / sizeof(checks[0]); i++)
		r = checks[i](l, &k);
	if (!r)
		take_registers(l, &k);
	return r;
}
