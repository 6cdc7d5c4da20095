/* SPDX-License-Identifier: MIT */
/* context.c: finding and opening a GPU. */
#include <amdgpu_drm.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "amdgpu_newer.h"
#include "context.h"
#include "error.h"
#include "params.h"
#include "ticks.h"

/* Render nodes have minors 128 to 191 (Linux drm_drv.c). */
#define FIRST_RENDER_NODE 128
#define LAST_RENDER_NODE 191

/* Offline addresses start where libdrm's general range does. */
#define OFFLINE_FIRST_VA 0x100000000ull

#define NS_PER_MS 1000000ull

uint64_t
gpuplan_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* ---- processes ---- */

/* A page that reads as zero in every child (Linux 4.14): the check on the submit path costs no system call. */
static void
context_mark_process(struct gpuplan_context *context)
{
	static const uint32_t none;
	long page = sysconf(_SC_PAGESIZE);
	void *mark = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	context->pid = getpid();
	context->process_mark = &none;
	if (mark == MAP_FAILED)
		return;
	if (madvise(mark, (size_t)page, MADV_WIPEONFORK)) {
		munmap(mark, (size_t)page);
		return;
	}
	*(volatile uint32_t *)mark = 1;
	context->process_mark = mark;
	context->marked = true;
}

bool
gp_context_same_device(const struct gpuplan_context *a, const struct gpuplan_context *b)
{
	/* Offline contexts each have an address space of their own; libdrm has one handle per device and process. */
	if (a->offline || b->offline)
		return a == b;
	return a->device == b->device;
}

/* ---- finding the device ---- */

/* Opens path if amdgpu drives it. Else a negative errno and found says what is there. */
static int
node_open(const char *path, char found[64])
{
	drmVersionPtr version;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		int r = -errno;

		snprintf(found, 64, "cannot be opened: %s", strerror(-r));
		return r;
	}
	version = drmGetVersion(fd);
	if (version && !strcmp(version->name, "amdgpu")) {
		drmFreeVersion(version);
		return fd;
	}
	if (version)
		snprintf(found, 64, "is driven by %.32s", version->name);
	else
		snprintf(found, 64, "is no DRM device");
	drmFreeVersion(version);
	close(fd);
	return -ENODEV;
}

static int
node_open_named(const char *path, struct gpuplan_error *error)
{
	char found[64];
	int fd = node_open(path, found);

	if (fd >= 0)
		return fd;
	return gp_error(error, fd == -EACCES || fd == -EPERM ? -EACCES : -ENODEV, "%s %s, an amdgpu render node is needed",
			path, found);
}

static int
node_open_first(char path[64], struct gpuplan_error *error)
{
	char others[256] = "";
	size_t n = 0;
	int result = -ENODEV;

	for (int minor = FIRST_RENDER_NODE; minor <= LAST_RENDER_NODE; minor++) {
		char found[64];
		int fd;

		snprintf(path, 64, "/dev/dri/renderD%d", minor);
		fd = node_open(path, found);
		if (fd >= 0)
			return fd;
		if (fd == -ENOENT)
			continue;
		if (fd == -EACCES || fd == -EPERM)
			result = -EACCES;
		if (n < sizeof(others))
			n += (size_t)snprintf(others + n, sizeof(others) - n, "%s%s %s", n ? ", " : "", path, found);
	}
	if (!n)
		return gp_error(error, result, "no amdgpu render node: /dev/dri has none at all");
	return gp_error(error, result, "no amdgpu render node: %s", others);
}

/* libdrm keeps its own duplicate of the descriptor, one per node and process. */
static int
device_open(struct gpuplan_context *context, const char *wanted, struct gpuplan_error *error)
{
	char path[64];
	uint32_t major, minor;
	int fd, r;

	if (wanted) {
		snprintf(path, sizeof(path), "%s", wanted);
		fd = node_open_named(wanted, error);
	} else {
		fd = node_open_first(path, error);
	}
	if (fd < 0)
		return fd;
	r = amdgpu_device_initialize(fd, &major, &minor, &context->device);
	close(fd);
	if (r) {
		context->device = NULL;
		if (r != -EACCES && r != -ENOMEM)
			return gp_error(error, -ENODEV, "%s does not initialise: %s", path, strerror(-r));
		return gp_error(error, r, "%s does not initialise: %s", path, strerror(-r));
	}
	context->fd = amdgpu_device_get_fd(context->device);
	context->info.drm_minor = minor;
	memcpy(context->info.device, path, sizeof(path));
	return 0;
}

/* ---- what the device is ---- */

static int
query_failed(const struct gpuplan_context *context, int r, const char *what, struct gpuplan_error *error)
{
	return gp_error(error, r == -ENOMEM || r == -EACCES ? r : -ENODEV, "%s does not tell its %s: %s",
			context->info.device, what, strerror(-r));
}

/* The kernel's IP discovery version says which chip it is; libdrm 2.4.114 calls the member _pad, kernels before
 * DRM 3.48 leave it zero. */
static int
device_identify(struct gpuplan_context *context, struct gpuplan_error *error)
{
	struct drm_amdgpu_info_hw_ip ip = { 0 };
	struct amdgpu_gpu_info gpu;
	const char *marketing;
	char chip[32], known[256];
	int r;

	r = amdgpu_query_gpu_info(context->device, &gpu);
	if (r)
		return query_failed(context, r, "identity", error);
	r = amdgpu_query_hw_ip_info(context->device, AMDGPU_HW_IP_COMPUTE, 0, &ip);
	if (r)
		return query_failed(context, r, "compute rings", error);
	marketing = amdgpu_get_marketing_name(context->device);
	snprintf(context->info.name, sizeof(context->info.name), "%s", marketing ? marketing : "AMD GPU");

	context->target = gp_target_detect(ip._pad, gpu.family_id, gpu.chip_external_rev, chip);
	if (!context->target) {
		gp_target_list(known, sizeof(known));
		return gp_error(error, -ENOTSUP, "%s is %s (%s), this library knows %s", context->info.device, chip,
				context->info.name, known);
	}
	if (!ip.available_rings)
		return gp_error(error, -ENOTSUP, "%s (%s) has no compute ring, 1 is needed", context->info.device, chip);
	return 0;
}

static int
device_query_memory(struct gpuplan_context *context, struct gpuplan_error *error)
{
	struct drm_amdgpu_memory_info memory = { 0 };
	int r = amdgpu_query_info(context->device, AMDGPU_INFO_MEMORY, sizeof(memory), &memory);

	if (r)
		return query_failed(context, r, "memory", error);
	context->info.vram_bytes = memory.vram.total_heap_size;
	context->info.visible_vram_bytes = memory.cpu_accessible_vram.total_heap_size;
	context->info.gtt_bytes = memory.gtt.total_heap_size;
	return 0;
}

/* Asks for an event of a fence that has signalled already: answered within the ioctl, nothing stays behind. */
static int
device_probe_eventfd(struct gpuplan_context *context, struct gpuplan_error *error)
{
	struct gpuplan_drm_syncobj_eventfd request = { 0 };
	int r;

	r = drmSyncobjCreate(context->fd, DRM_SYNCOBJ_CREATE_SIGNALED, &request.handle);
	if (r)
		return query_failed(context, -errno, "syncobj support", error);
	request.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (request.fd < 0) {
		r = gp_error(error, -errno, "no eventfd to be had: %s", strerror(errno));
	} else {
		context->has_eventfd = !drmIoctl(context->fd, GPUPLAN_DRM_IOCTL_SYNCOBJ_EVENTFD, &request);
		close(request.fd);
	}
	drmSyncobjDestroy(context->fd, request.handle);
	context->info.has_eventfd = context->has_eventfd;
	return r;
}

/* Smallest timeout of the module parameter "gfx[,compute[,sdma[,video]]]" in ms: a reset for any ring's sake takes
 * our jobs along. 0 keeps a ring's default, a negative value turns its timeout off (Linux amdgpu_device.c). */
static uint64_t
smallest_lockup_ms(const char *text)
{
	long ms[4] = { 10000, 60000, 10000, 10000 };
	uint64_t smallest = UINT64_MAX;
	unsigned n = 0;

	while (n < 4) {
		char *end;
		long value = strtol(text, &end, 0);

		if (end == text)
			break;
		if (value)
			ms[n] = value;
		n++;
		if (*end != ',')
			break;
		text = end + 1;
	}
	/* One value alone counts for every ring but compute. */
	if (n == 1)
		ms[2] = ms[3] = ms[0];
	for (unsigned i = 0; i < 4; i++)
		if (ms[i] > 0 && (uint64_t)ms[i] < smallest)
			smallest = (uint64_t)ms[i];
	return smallest;
}

static uint64_t
lockup_doubt_ns(void)
{
	char text[128] = "";
	int fd = open("/sys/module/amdgpu/parameters/lockup_timeout", O_RDONLY | O_CLOEXEC);
	uint64_t ms;

	if (fd >= 0) {
		ssize_t n = read(fd, text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = 0;
		close(fd);
	}
	ms = smallest_lockup_ms(text);
	return ms > UINT64_MAX / NS_PER_MS ? UINT64_MAX : ms * NS_PER_MS / 2;
}

/* ---- create and destroy ---- */

static int
context_open(struct gpuplan_context *context, const char *path, struct gpuplan_error *error)
{
	int r = device_open(context, path, error);

	if (!r)
		r = device_identify(context, error);
	if (!r)
		r = device_query_memory(context, error);
	if (!r)
		r = device_probe_eventfd(context, error);
	context->doubt_ns = lockup_doubt_ns();
	context->steady_ticks = gp_ticks_steady();
	return r;
}

static int
context_offline(struct gpuplan_context *context, const char *target, struct gpuplan_error *error)
{
	char known[256];

	context->offline = true;
	context->fd = -1;
	context->next_va = OFFLINE_FIRST_VA;
	context->doubt_ns = lockup_doubt_ns();
	context->target = gp_target_find(target);
	if (!context->target) {
		gp_target_list(known, sizeof(known));
		return gp_error(error, -ENOTSUP, "offline target \"%.64s\" is unknown, this library knows %s", target, known);
	}
	snprintf(context->info.device, sizeof(context->info.device), "offline");
	snprintf(context->info.name, sizeof(context->info.name), "offline %s", target);
	return 0;
}

static int
context_check_params(const struct gpuplan_context_params *params, struct gpuplan_error *error)
{
	if (params->flags)
		return gp_error(error, -EINVAL, "context params have flags 0x%x, none are known", params->flags);
	for (size_t i = 0; i < sizeof(params->reserved) / sizeof(params->reserved[0]); i++)
		if (params->reserved[i])
			return gp_error(error, -EINVAL, "context params have reserved[%zu] set, it must be 0", i);
	if (params->device && params->offline_target)
		return gp_error(error, -EINVAL, "context params name device %.64s and offline target %.64s, one at most",
				params->device, params->offline_target);
	if (params->device && strlen(params->device) >= sizeof(((struct gpuplan_context_info *)0)->device))
		return gp_error(error, -ENODEV, "device path \"%.64s...\" is too long for a render node", params->device);
	return 0;
}

int
gpuplan_context_create(const struct gpuplan_context_params *caller_params, struct gpuplan_context **out,
		       struct gpuplan_error *error)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_context *context;
	int r = 0;

	if (caller_params)
		r = gp_params_copy(&params, sizeof(params), caller_params, "context", error);
	if (!r)
		r = context_check_params(&params, error);
	if (r)
		return r;
	context = calloc(1, sizeof(*context));
	if (!context)
		return gp_error(error, -ENOMEM, "no memory for a context");
	pthread_mutex_init(&context->lock, NULL);
	context_mark_process(context);
	context->budget = params.memory_budget;
	r = params.offline_target ? context_offline(context, params.offline_target, error)
				  : context_open(context, params.device, error);
	if (r) {
		gpuplan_context_destroy(context);
		return r;
	}
	snprintf(context->info.target, sizeof(context->info.target), "%s", context->target->name);
	memcpy(context->info.max_groups, context->target->max_groups, sizeof(context->info.max_groups));
	context->info.max_block = context->target->max_block;
	*out = context;
	return 0;
}

void
gpuplan_context_destroy(struct gpuplan_context *context)
{
	if (!context)
		return;
	if (context->device)
		amdgpu_device_deinitialize(context->device);
	if (context->marked)
		munmap((void *)(uintptr_t)context->process_mark, (size_t)sysconf(_SC_PAGESIZE));
	pthread_mutex_destroy(&context->lock);
	free(context);
}

void
gpuplan_context_get_info(const struct gpuplan_context *context, struct gpuplan_context_info *info)
{
	*info = context->info;
}
