/* SPDX-License-Identifier: MIT */
/* core.c: calls that every DRM driver has (drivers/gpu/drm/drm_ioctl.c, drm_auth.c). */
#define _GNU_SOURCE
#include "ioctls.h"
#include "../shim/paths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A string field of VERSION: as much as fits is written, the full length always comes back. */
static int
version_text(const char *text, char *to, __kernel_size_t *length)
{
	size_t n = strlen(text), room = *length;

	*length = n;
	if (!to || room == 0)
		return 0;
	return sg_copy_to((uintptr_t)to, text, n < room ? n : room);
}

int
sg_ioctl_version(struct sg_file *file, void *data)
{
	struct drm_version *v = data;

	(void)file;
	/* DRM 3.61: Linux 6.12 */
	v->version_major = 3;
	v->version_minor = 61;
	v->version_patchlevel = 0;
	int r = version_text("amdgpu", v->name, &v->name_len);
	if (r == 0)
		r = version_text("0", v->date, &v->date_len);
	if (r == 0)
		r = version_text("AMD GPU", v->desc, &v->desc_len);
	return r;
}

int
sg_ioctl_get_cap(struct sg_file *file, void *data)
{
	struct drm_get_cap *cap = data;

	(void)file;
	cap->value = 0;
	switch (cap->capability) {
	case DRM_CAP_PRIME:
		cap->value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
		return 0;
	case DRM_CAP_TIMESTAMP_MONOTONIC:
	case DRM_CAP_SYNCOBJ:
	case DRM_CAP_SYNCOBJ_TIMELINE:
	case DRM_CAP_DUMB_BUFFER:
	case DRM_CAP_CRTC_IN_VBLANK_EVENT:
	case DRM_CAP_ADDFB2_MODIFIERS:
	case DRM_CAP_ASYNC_PAGE_FLIP:
	case DRM_CAP_PAGE_FLIP_TARGET:
		cap->value = 1;
		return 0;
	case DRM_CAP_CURSOR_WIDTH:
	case DRM_CAP_CURSOR_HEIGHT:
		cap->value = 64;
		return 0;
	case DRM_CAP_DUMB_PREFERRED_DEPTH:
	case DRM_CAP_DUMB_PREFER_SHADOW:
	case DRM_CAP_VBLANK_HIGH_CRTC:
	case 0x15: /* ATOMIC_ASYNC_PAGE_FLIP */
		return 0;
	default:
		return -EINVAL;
	}
}

int
sg_ioctl_set_client_cap(struct sg_file *file, void *data)
{
	const struct drm_set_client_cap *cap = data;

	(void)file;
	switch (cap->capability) {
	case DRM_CLIENT_CAP_ATOMIC:
		return cap->value > 2 ? -EINVAL : 0;
	case DRM_CLIENT_CAP_STEREO_3D:
	case DRM_CLIENT_CAP_UNIVERSAL_PLANES:
	case DRM_CLIENT_CAP_ASPECT_RATIO:
	case DRM_CLIENT_CAP_WRITEBACK_CONNECTORS:
		return cap->value > 1 ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

int
sg_ioctl_get_client(struct sg_file *file, void *data)
{
	struct drm_client *client = data;

	(void)file;
	/* Only the caller itself is listed; it is authenticated, as root and the first opener are. */
	if (client->idx != 0)
		return -EINVAL;
	client->auth = 1;
	client->pid = (unsigned long)getpid();
	client->uid = (unsigned long)getuid();
	client->magic = 0;
	client->iocs = 0;
	return 0;
}

int
sg_ioctl_get_unique(struct sg_file *file, void *data)
{
	struct drm_unique *unique = data;
	const struct sg_tree *tree = sg_tree();
	char busid[32];
	size_t room = unique->unique_len;

	(void)file;
	size_t n = (size_t)snprintf(busid, sizeof(busid), "pci:%s", tree ? tree->slot : "0000:03:00.0");
	unique->unique_len = n;
	return room >= n ? sg_copy_to((uintptr_t)unique->unique, busid, n) : 0;
}

int
sg_ioctl_set_version(struct sg_file *file, void *data)
{
	struct drm_set_version *v = data;

	(void)file;
	int r = 0;
	if (v->drm_di_major != -1 && (v->drm_di_major != 1 || v->drm_di_minor < 0 || v->drm_di_minor > 4))
		r = -EINVAL;
	if (v->drm_dd_major != -1 && (v->drm_dd_major != 3 || v->drm_dd_minor < 0 || v->drm_dd_minor > 61))
		r = -EINVAL;
	*v = (struct drm_set_version){ .drm_di_major = 1, .drm_di_minor = 4, .drm_dd_major = 3, .drm_dd_minor = 61 };
	return r;
}

int
sg_ioctl_get_magic(struct sg_file *file, void *data)
{
	struct drm_auth *auth = data;

	auth->magic = file->open_id;
	return 0;
}

/* Everybody is authenticated already; a magic that some open file has is accepted. */
int
sg_ioctl_auth_magic(struct sg_file *file, void *data)
{
	const struct drm_auth *auth = data;

	(void)file;
	for (struct sg_file *f = sg_dev.files; f; f = f->next)
		if (f->primary && f->open_id == auth->magic)
			return 0;
	return -EINVAL;
}

int
sg_ioctl_set_master(struct sg_file *file, void *data)
{
	(void)file;
	(void)data;
	return 0;
}

int
sg_ioctl_drop_master(struct sg_file *file, void *data)
{
	(void)file;
	(void)data;
	return 0;
}
