/* SPDX-License-Identifier: MIT */
/* gem.c: life, placement and accounting of buffer objects (Linux 6.12 amdgpu_gem.c, amdgpu_object.c).
 *
 * VRAM and GTT are two budgets over one sparse file whose pages are committed on first touch. A VRAM request never
 * fails for lack of VRAM: older buffers move to GTT on the books (their bytes stay where they are), as the kernel
 * evicts; ENOMEM comes when GTT is full too, or for one buffer that is larger than both.
 */
#define _GNU_SOURCE
#include "ioctls.h"
#include "node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VRAM AMDGPU_GEM_DOMAIN_VRAM
#define GTT AMDGPU_GEM_DOMAIN_GTT
#define ON_CHIP (AMDGPU_GEM_DOMAIN_GDS | AMDGPU_GEM_DOMAIN_GWS | AMDGPU_GEM_DOMAIN_OA)
#define DOMAINS_KNOWN 0x7fu /* with DOORBELL, which 6.12 refuses later with the same errno */
#define DOORBELL 0x40u
#define CREATE_DISCARDABLE (1u << 12)
#define CREATE_GFX12_DCC (1u << 16)
#define CREATE_ACCEPTED \
	(AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED | AMDGPU_GEM_CREATE_NO_CPU_ACCESS | AMDGPU_GEM_CREATE_CPU_GTT_USWC | \
	 AMDGPU_GEM_CREATE_VRAM_CLEARED | AMDGPU_GEM_CREATE_VM_ALWAYS_VALID | AMDGPU_GEM_CREATE_EXPLICIT_SYNC | \
	 CREATE_DISCARDABLE | CREATE_GFX12_DCC)

/* ---- accounting ---- */

static struct sg_usage *
usage_of(uint32_t domain)
{
	return domain == VRAM ? &sg_dev.vram : domain == GTT ? &sg_dev.gtt : &sg_dev.other;
}

static void
usage_add(uint32_t domain, uint64_t bytes)
{
	struct sg_usage *u = usage_of(domain);

	u->now += bytes;
	if (u->now > u->peak)
		u->peak = u->now;
}

static bool
fits_visible(uint64_t bytes)
{
	return sg_dev.visible_vram + bytes <= sg_config()->profile->visible_vram_bytes;
}

static void
gem_account(struct sg_gem *gem, uint32_t domain)
{
	gem->placed = domain;
	usage_add(domain, gem->bytes);
	/* CPU_ACCESS_REQUIRED is a hint: without room in the visible part the buffer stands elsewhere in VRAM. */
	gem->visible = domain == VRAM && (gem->flags & AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED) &&
		       fits_visible(gem->bytes);
	if (gem->visible)
		sg_dev.visible_vram += gem->bytes;
}

static void
gem_unaccount(struct sg_gem *gem)
{
	usage_of(gem->placed)->now -= gem->bytes;
	if (gem->visible)
		sg_dev.visible_vram -= gem->bytes;
	gem->visible = false;
}

static bool
fits_gtt(uint64_t bytes)
{
	return sg_dev.gtt.now + bytes <= sg_config()->profile->gtt_bytes;
}

/* Moves the oldest buffers out of VRAM until `bytes` fit. False: GTT has no room for them. */
static bool
evict_for(uint64_t bytes)
{
	const struct sg_profile *p = sg_config()->profile;

	for (struct sg_gem *g = sg_dev.gems; g && sg_dev.vram.now + bytes > p->vram_bytes; g = g->next) {
		if (g->placed != VRAM || !fits_gtt(g->bytes))
			continue;
		gem_unaccount(g);
		gem_account(g, GTT);
		sg_dev.evictions++;
		sg_dev.bytes_moved += g->bytes;
	}
	return sg_dev.vram.now + bytes <= p->vram_bytes;
}

/* Where a new buffer goes; 0: nowhere. */
static uint32_t
choose_domain(uint32_t domains, uint64_t bytes)
{
	const struct sg_profile *p = sg_config()->profile;

	if (domains & ON_CHIP)
		return domains & ON_CHIP;
	if (!(domains & (VRAM | GTT)))
		return AMDGPU_GEM_DOMAIN_CPU;
	bool vram_possible = (domains & VRAM) && bytes < p->vram_bytes && !((domains & GTT) && bytes >= p->gtt_bytes);
	if (vram_possible && sg_dev.vram.now + bytes <= p->vram_bytes)
		return VRAM;
	if (vram_possible && !(domains & GTT) && evict_for(bytes))
		return VRAM;
	return bytes < p->gtt_bytes && fits_gtt(bytes) ? GTT : 0;
}

/* ---- life ---- */

struct sg_gem *
sg_gem_ref(struct sg_gem *gem)
{
	gem->refs++;
	return gem;
}

void
sg_gem_unref(struct sg_gem *gem)
{
	if (!gem || --gem->refs > 0)
		return;
	*gem->link = gem->next;
	if (gem->next)
		gem->next->link = gem->link;
	else
		sg_dev.gems_tail = gem->link;
	gem_unaccount(gem);
	sg_dev.gem_objects--;
	sg_resv_free(&gem->resv);
	sg_bo_unref(gem->bo);
	free(gem);
}

static void
gem_list(struct sg_gem *gem)
{
	gem->link = sg_dev.gems_tail;
	*sg_dev.gems_tail = gem;
	sg_dev.gems_tail = &gem->next;
	sg_dev.gem_objects++;
	usage_of(gem->placed)->created += gem->bytes;
}

struct sg_gem *
sg_gem_find(struct sg_file *file, uint32_t handle)
{
	return sg_handle_find(&file->gems, handle);
}

struct sg_resv *
sg_gem_resv(struct sg_gem *gem)
{
	return gem->root ? &gem->root->root : &gem->resv;
}

uint32_t
sg_gem_handle(struct sg_file *file, struct sg_gem *gem)
{
	for (uint32_t handle = 1; handle <= file->gems.room; handle++)
		if (sg_gem_find(file, handle) == gem)
			return handle;
	uint32_t handle = sg_handle_add(&file->gems, gem, UINT32_MAX);
	if (handle)
		sg_gem_ref(gem);
	return handle;
}

/* Backing memory, made without the lock: hostile mode fills it. */
static struct sg_bo *
backing(uint64_t bytes, bool clear)
{
	sg_unlock();
	struct sg_bo *bo = sg_bo_create(bytes, clear);
	sg_lock();
	return bo;
}

static struct sg_gem *
gem_create(uint64_t bytes, const struct drm_amdgpu_gem_create_in *in)
{
	struct sg_gem *gem = calloc(1, sizeof(*gem));

	if (!gem)
		return NULL;
	gem->refs = 1;
	gem->bytes = bytes;
	gem->alignment = (in->alignment + SG_PAGE - 1) & ~(SG_PAGE - 1);
	gem->flags = in->domain_flags;
	gem->preferred = (uint32_t)in->domains;
	uint32_t domain = choose_domain(gem->preferred, bytes);
	if (domain == 0) {
		free(gem);
		return NULL;
	}
	/* Linux 6.12 clears whatever it gives out, has no CPU mapping of on-chip memory, and tries GTT for what cannot be
	 * had in VRAM. */
	gem->flags |= AMDGPU_GEM_CREATE_VRAM_CLEARED;
	if (domain & ON_CHIP)
		gem->flags |= AMDGPU_GEM_CREATE_NO_CPU_ACCESS;
	if (gem->preferred == VRAM && domain == GTT)
		gem->preferred |= GTT;
	gem_account(gem, domain);
	gem->bo = backing(bytes, in->domain_flags & AMDGPU_GEM_CREATE_VRAM_CLEARED);
	if (!gem->bo) {
		gem_unaccount(gem);
		free(gem);
		return NULL;
	}
	gem_list(gem);
	return gem;
}

/* GWS and OA count in pages per unit; GDS too, in fours. */
static uint64_t
create_bytes(const struct drm_amdgpu_gem_create_in *in)
{
	uint64_t bytes = in->bo_size;

	if (in->domains & (AMDGPU_GEM_DOMAIN_GWS | AMDGPU_GEM_DOMAIN_OA))
		bytes *= SG_PAGE;
	else if (in->domains & AMDGPU_GEM_DOMAIN_GDS)
		bytes = ((bytes + 3) & ~3ull) * SG_PAGE;
	return (bytes + SG_PAGE - 1) & ~(SG_PAGE - 1);
}

static int
create_check(const struct drm_amdgpu_gem_create_in *in)
{
	uint64_t on_chip = in->domains & ON_CHIP;

	if (in->domains & DOORBELL)
		return -EINVAL;
	if (in->domain_flags & ~(uint64_t)CREATE_ACCEPTED)
		return -EINVAL;
	if (in->domains & ~(uint64_t)DOMAINS_KNOWN)
		return -EINVAL;
	/* One kind only, and not together with memory. */
	if (on_chip && ((on_chip & (on_chip - 1)) || (in->domains & ~on_chip)))
		return -EINVAL;
	if (on_chip && (in->domain_flags & AMDGPU_GEM_CREATE_VM_ALWAYS_VALID))
		return -EINVAL;
	return 0;
}

static int
new_handle(struct sg_file *file, struct sg_gem *gem, uint32_t *handle)
{
	*handle = sg_handle_add(&file->gems, gem, UINT32_MAX);
	if (*handle)
		return 0;
	sg_gem_unref(gem);
	return -ENOMEM;
}

int
sg_ioctl_gem_create(struct sg_file *file, void *data)
{
	union drm_amdgpu_gem_create *args = data;
	uint64_t bytes = create_bytes(&args->in);

	int r = create_check(&args->in);
	if (r)
		return r;
	if (bytes == 0)
		return args->in.bo_size ? -ENOMEM : -EINVAL;
	struct sg_gem *gem = gem_create(bytes, &args->in);
	if (!gem)
		return -ENOMEM;
	if (args->in.domain_flags & AMDGPU_GEM_CREATE_VM_ALWAYS_VALID)
		gem->root = file;
	uint32_t handle;
	r = new_handle(file, gem, &handle);
	if (r)
		return r;
	memset(&args->out, 0, sizeof(args->out));
	args->out.handle = handle;
	return 0;
}

/* ---- user memory ---- */

#define USERPTR_KNOWN \
	(AMDGPU_GEM_USERPTR_READONLY | AMDGPU_GEM_USERPTR_ANONONLY | AMDGPU_GEM_USERPTR_VALIDATE | \
	 AMDGPU_GEM_USERPTR_REGISTER)

static int
userptr_check(const struct drm_amdgpu_gem_userptr *args)
{
	if ((args->addr | args->size) & (SG_PAGE - 1))
		return -EINVAL;
	if (args->flags & ~USERPTR_KNOWN)
		return -EINVAL;
	if (!(args->flags & (AMDGPU_GEM_USERPTR_READONLY | AMDGPU_GEM_USERPTR_REGISTER)))
		return -EACCES;
	if (args->size == 0)
		return -EINVAL;
	if (!(args->flags & AMDGPU_GEM_USERPTR_VALIDATE))
		return 0;
	return sg_user_range(args->addr, args->size, args->flags & AMDGPU_GEM_USERPTR_ANONONLY);
}

int
sg_ioctl_gem_userptr(struct sg_file *file, void *data)
{
	struct drm_amdgpu_gem_userptr *args = data;

	int r = userptr_check(args);
	if (r)
		return r;
	struct sg_gem *gem = calloc(1, sizeof(*gem));
	if (!gem)
		return -ENOMEM;
	gem->bo = sg_bo_create_user((void *)(uintptr_t)args->addr, args->size);
	if (!gem->bo) {
		free(gem);
		return -ENOMEM;
	}
	gem->refs = 1;
	gem->bytes = args->size;
	gem->user_address = args->addr;
	gem->user_pid = getpid();
	gem->preferred = GTT;
	/* Counted as system placement: its pages are the program's own. */
	gem_account(gem, AMDGPU_GEM_DOMAIN_CPU);
	gem_list(gem);
	return new_handle(file, gem, &args->handle);
}

/* ---- close ---- */

int
sg_ioctl_gem_close(struct sg_file *file, void *data)
{
	struct drm_gem_close *args = data;
	struct sg_gem *gem = sg_handle_remove(&file->gems, args->handle);

	if (!gem)
		return -EINVAL;
	if (gem->bo)
		sg_vm_drop_bo(file->vm, gem->bo);
	sg_gem_unref(gem);
	return 0;
}
