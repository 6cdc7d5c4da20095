/* SPDX-License-Identifier: MIT */
/* cases_device.c: several devices and queue families at once, memory and semaphores between devices, caches, loss. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "vksuite.h"

static uint64_t
hash_buf(const struct buf *buf)
{
	return hash_bytes(HASH_INIT, buf->map, buf->size);
}

static PFN_vkVoidFunction
device_call(struct vk *vk, const char *name)
{
	PFN_vkVoidFunction call = vkGetDeviceProcAddr(vk->device, name);

	if (!call)
		case_fail("no %s", name);
	return call;
}

/* ---- a second device, with queues of all families that compute ---- */

struct family_queue {
	uint32_t family;
	VkQueue queue;
	VkCommandPool pool;
};

static unsigned
open_families(struct vk *vk, struct family_queue *out, unsigned room)
{
	VkQueueFamilyProperties list[8];
	VkDeviceQueueCreateInfo queues[8];
	const char *names[] = { "VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd" };
	float priority = 1;
	VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &vk->have, .pQueueCreateInfos = queues,
		.ppEnabledExtensionNames = names };
	uint32_t n = 8;

	while (info.enabledExtensionCount < 2 && vk_has_extension(vk->gpu, names[info.enabledExtensionCount]))
		info.enabledExtensionCount++;
	vk->have12.pNext = NULL; /* features of extensions that are not asked for here */
	vkGetPhysicalDeviceQueueFamilyProperties(vk->gpu, &n, list);
	for (uint32_t i = 0; i < n && info.queueCreateInfoCount < room; i++)
		if (list[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
			out[info.queueCreateInfoCount].family = i;
			queues[info.queueCreateInfoCount++] = (VkDeviceQueueCreateInfo){
				.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = i, .queueCount = 1,
				.pQueuePriorities = &priority };
		}
	VK(vkCreateDevice(vk->gpu, &info, NULL, &vk->device));
	for (unsigned i = 0; i < info.queueCreateInfoCount; i++) {
		VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
			.queueFamilyIndex = out[i].family };

		vkGetDeviceQueue(vk->device, out[i].family, 0, &out[i].queue);
		VK(vkCreateCommandPool(vk->device, &pool, NULL, &out[i].pool));
	}
	return info.queueCreateInfoCount;
}

/* A copy of vk with a device of its own; no buffers yet. */
static unsigned
second_device(const struct vk *vk, struct vk *other, struct family_queue *queues, unsigned room)
{
	unsigned n;

	*other = *vk;
	other->have.pNext = &other->have11;
	other->have11.pNext = &other->have12;
	memset(&other->have_conditional, 0, sizeof(other->have_conditional));
	other->buf_count = other->prog_count = 0;
	n = open_families(other, queues, room);
	other->family = queues[0].family;
	other->queue = other->other = queues[0].queue;
	other->pool = queues[0].pool;
	return n;
}

static void
close_second(struct vk *other, struct family_queue *queues, unsigned n)
{
	VK(vkDeviceWaitIdle(other->device));
	for (unsigned i = 0; i < n; i++)
		if (queues[i].pool != other->pool)
			vkDestroyCommandPool(other->device, queues[i].pool, NULL);
	vk_close_device(other);
}

/* ---- queue families ---- */

/* The word goes round all families, each waiting for the one before by a timeline; all waits are submitted before any
 * signal, last first. */
static uint64_t
families(struct vk *vk)
{
	enum { ROUNDS = 10 };
	struct family_queue q[4];
	struct vk other;
	unsigned n = second_device(vk, &other, q, 4);
	struct buf *out = buf_host(&other, 64 * 4);
	struct prog *prog = PROG(&other, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkSemaphoreTypeCreateInfo type = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE };
	VkSemaphoreCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type };
	VkSemaphore s;
	uint32_t v = 0;

	VK(vkCreateSemaphore(other.device, &info, NULL, &s));
	for (unsigned f = n; f-- > 0;)
		for (uint64_t round = 0; round < ROUNDS; round++) {
			uint64_t wait = round * n + f + 1, signal = wait + 1;
			VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
			VkTimelineSemaphoreSubmitInfo values = { .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
				.waitSemaphoreValueCount = 1, .pWaitSemaphoreValues = &wait, .signalSemaphoreValueCount = 1,
				.pSignalSemaphoreValues = &signal };
			VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .pNext = &values, .waitSemaphoreCount = 1,
				.pWaitSemaphores = &s, .pWaitDstStageMask = &stage, .commandBufferCount = 1,
				.signalSemaphoreCount = 1, .pSignalSemaphores = &s };
			VkCommandBuffer cb;

			other.pool = q[f].pool;
			cb = cb_begin(&other);
			cb_barrier(cb);
			cb_dispatch(cb, prog, (uint32_t[]){ 3, f + 1 }, 1, 1, 1);
			cb_barrier(cb);
			VK(vkEndCommandBuffer(cb));
			submit.pCommandBuffers = &cb;
			VK(vkQueueSubmit(q[f].queue, 1, &submit, VK_NULL_HANDLE));
		}
	VkSemaphoreSignalInfo start = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = s, .value = 1 };
	VkSemaphoreWaitInfo end = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 1, .pSemaphores = &s,
		.pValues = &(uint64_t){ ROUNDS * n + 1 } };
	VK(vkSignalSemaphore(other.device, &start));
	if (vkWaitSemaphores(other.device, &end, VK_WAIT_NS) != VK_SUCCESS)
		case_fail("the word does not come back");
	for (unsigned i = 0; i < ROUNDS * n; i++)
		v = v * 3 + i % n + 1;
	expect_u32("r", out->map, &v, 1);
	other.pool = q[0].pool;
	VK(vkDeviceWaitIdle(other.device));
	vkDestroySemaphore(other.device, s, NULL);
	close_second(&other, q, n);
	return hash_bytes(HASH_INIT, "families", 8); /* their number differs */
}

/* ---- devices at once ---- */

struct owner {
	const struct vk *vk;
	uint32_t seed;
	pthread_t thread;
	uint32_t got;
};

static void *
own_device(void *arg)
{
	struct owner *o = arg;
	struct family_queue q[4];
	struct vk other;
	unsigned n = second_device(o->vk, &other, q, 4);
	struct buf *out = buf_host(&other, 64 * 4);
	struct prog *prog = PROG(&other, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);

	for (uint32_t i = 0; i < 20; i++)
		run_one(&other, prog, (uint32_t[]){ 5, o->seed + i }, 1, 1, 1);
	o->got = *(uint32_t *)out->map;
	close_second(&other, q, n);
	return NULL;
}

static uint64_t
devices(struct vk *vk)
{
	enum { N = 4 };
	struct owner owners[N];
	uint64_t hash = HASH_INIT;

	for (unsigned i = 0; i < N; i++) {
		owners[i] = (struct owner){ .vk = vk, .seed = i * 1000 };
		if (pthread_create(&owners[i].thread, NULL, own_device, &owners[i]))
			case_fail("pthread_create");
	}
	for (unsigned i = 0; i < N; i++) {
		uint32_t v = 0;

		pthread_join(owners[i].thread, NULL);
		for (uint32_t k = 0; k < 20; k++)
			v = v * 5 + i * 1000 + k;
		expect_u32("r", &owners[i].got, &v, 1);
		hash = hash_bytes(hash, &v, 4);
	}
	return hash;
}

/* ---- sharing ---- */

static VkDeviceMemory
bind_shared(struct vk *vk, VkBuffer buffer, VkExternalMemoryHandleTypeFlagBits type, int fd)
{
	VkExportMemoryAllocateInfo export = { .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, .handleTypes = type };
	VkImportMemoryFdInfoKHR import = { .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, .handleType = type, .fd = fd };
	VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.pNext = fd < 0 ? (void *)&export : (void *)&import };
	VkMemoryRequirements req;
	VkDeviceMemory memory;

	vkGetBufferMemoryRequirements(vk->device, buffer, &req);
	alloc.allocationSize = req.size;
	while (!(req.memoryTypeBits & 1u << alloc.memoryTypeIndex) ||
	       !(vk->memory.memoryTypes[alloc.memoryTypeIndex].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
		alloc.memoryTypeIndex++;
	VK(vkAllocateMemory(vk->device, &alloc, NULL, &memory));
	VK(vkBindBufferMemory(vk->device, buffer, memory, 0));
	return memory;
}

/* fd < 0: memory to be exported, else the import of fd, which the driver then owns. */
static struct buf *
shared_buffer(struct vk *vk, VkDeviceSize size, VkExternalMemoryHandleTypeFlagBits type, int fd)
{
	VkExternalMemoryBufferCreateInfo external = { .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = type };
	VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .pNext = &external, .size = size,
		.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT };
	struct buf *buf = calloc(1, sizeof(*buf));

	buf->size = size;
	VK(vkCreateBuffer(vk->device, &info, NULL, &buf->buffer));
	buf->memory = bind_shared(vk, buf->buffer, type, fd);
	VK(vkMapMemory(vk->device, buf->memory, 0, VK_WHOLE_SIZE, 0, &buf->map));
	vk->bufs[vk->buf_count++] = buf;
	return buf;
}

static int
export_fd(struct vk *vk, const struct buf *buf, VkExternalMemoryHandleTypeFlagBits type)
{
	PFN_vkGetMemoryFdKHR get = (PFN_vkGetMemoryFdKHR)device_call(vk, "vkGetMemoryFdKHR");
	VkMemoryGetFdInfoKHR info = { .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .memory = buf->memory, .handleType = type };
	int fd = -1;

	VK(get(vk->device, &info, &fd));
	return fd;
}

/* What one device computes, another goes on with; as an opaque descriptor and as a dma-buf. */
static uint64_t
external_memory(struct vk *vk)
{
	const VkExternalMemoryHandleTypeFlagBits types[2] = { VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
		VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT };
	unsigned kinds = vk_has_extension(vk->gpu, "VK_EXT_external_memory_dma_buf") ? 2 : 1;
	struct family_queue qa[4], qb[4];
	struct vk a, b;

	require(vk_has_extension(vk->gpu, "VK_KHR_external_memory_fd") && vk_has_extension(vk->gpu, "VK_KHR_external_semaphore_fd"),
		"VK_KHR_external_memory_fd");
	for (unsigned k = 0; k < kinds; k++) {
		unsigned na = second_device(vk, &a, qa, 4), nb = second_device(vk, &b, qb, 4);
		struct buf *mine = shared_buffer(&a, 8192, types[k], -1), *theirs;

		run_one(&a, PROG(&a, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), mine), (uint32_t[]){ 0, 41 }, 1, 1, 1);
		theirs = shared_buffer(&b, 8192, types[k], export_fd(&a, mine, types[k]));
		expect_u32("before", theirs->map, &(uint32_t){ 41 }, 1);
		run_one(&b, PROG(&b, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), theirs), (uint32_t[]){ 2, 1 }, 1, 1, 1);
		expect_u32("after", mine->map, &(uint32_t){ 83 }, 1);
		close_second(&a, qa, na);
		expect_u32("after the first has gone", theirs->map, &(uint32_t){ 83 }, 1);
		close_second(&b, qb, nb);
	}
	return hash_bytes(HASH_INIT, "shared", 6);
}

static VkSemaphore
shared_semaphore(struct vk *vk, VkExternalSemaphoreHandleTypeFlagBits type)
{
	VkExportSemaphoreCreateInfo export = { .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO, .handleTypes = type };
	VkSemaphoreCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = type ? &export : NULL };
	VkSemaphore semaphore;

	VK(vkCreateSemaphore(vk->device, &info, NULL, &semaphore));
	return semaphore;
}

/* One device signals, another waits: by the same semaphore, and by a sync file. */
static uint64_t
external_semaphores(struct vk *vk)
{
	const VkExternalSemaphoreHandleTypeFlagBits types[2] = { VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
		VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT };
	const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	struct family_queue qa[4], qb[4];
	struct vk a, b;
	unsigned na, nb;

	/* lavapipe has sync files alone */
	require(vk_has_extension(vk->gpu, "VK_KHR_external_semaphore_fd") && vk_has_extension(vk->gpu, "VK_KHR_external_memory_fd"),
		"VK_KHR_external_semaphore_fd");
	na = second_device(vk, &a, qa, 4);
	nb = second_device(vk, &b, qb, 4);
	for (unsigned k = 0; k < 2; k++) {
		struct buf *out = buf_host(&b, 256);
		struct prog *prog = PROG(&b, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
		PFN_vkGetSemaphoreFdKHR get = (PFN_vkGetSemaphoreFdKHR)device_call(&a, "vkGetSemaphoreFdKHR");
		PFN_vkImportSemaphoreFdKHR set = (PFN_vkImportSemaphoreFdKHR)device_call(&b, "vkImportSemaphoreFdKHR");
		VkSemaphore from = shared_semaphore(&a, types[k]), to = shared_semaphore(&b, 0);
		VkSemaphoreGetFdInfoKHR ask = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR, .semaphore = from,
			.handleType = types[k] };
		VkImportSemaphoreFdInfoKHR import = { .sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR, .semaphore = to,
			.flags = k ? VK_SEMAPHORE_IMPORT_TEMPORARY_BIT : 0, .handleType = types[k] };
		VkSubmitInfo signal = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .signalSemaphoreCount = 1, .pSignalSemaphores = &from };
		VkCommandBuffer cb = cb_begin(&b);
		VkSubmitInfo wait = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .waitSemaphoreCount = 1, .pWaitSemaphores = &to,
			.pWaitDstStageMask = &stage, .commandBufferCount = 1, .pCommandBuffers = &cb };

		cb_dispatch(cb, prog, (uint32_t[]){ 1, 9 }, 1, 1, 1);
		VK(vkEndCommandBuffer(cb));
		VK(vkQueueSubmit(a.queue, 1, &signal, VK_NULL_HANDLE));
		VK(get(a.device, &ask, &import.fd));
		VK(set(b.device, &import));
		VK(vkQueueSubmit(b.queue, 1, &wait, VK_NULL_HANDLE));
		VK(vkQueueWaitIdle(b.queue));
		expect_u32("r", out->map, &(uint32_t){ 9 }, 1);
		VK(vkDeviceWaitIdle(a.device));
		vkDestroySemaphore(a.device, from, NULL);
		vkDestroySemaphore(b.device, to, NULL);
	}
	close_second(&a, qa, na);
	close_second(&b, qb, nb);
	return hash_bytes(HASH_INIT, "signalled", 9);
}

/* ---- pipeline caches ---- */

static uint64_t
pipeline_cache(struct vk *vk)
{
	struct buf *out = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkPipelineCacheCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO };
	VkPipelineCache first, second;
	size_t bytes = 0, again = 0;
	void *data;
	FILE *file = tmpfile();

	VK(vkCreatePipelineCache(vk->device, &info, NULL, &first));
	prog_recreate(vk, prog, "add_one", first);
	VK(vkGetPipelineCacheData(vk->device, first, &bytes, NULL));
	data = malloc(bytes);
	VK(vkGetPipelineCacheData(vk->device, first, &bytes, data));
	if (!file || fwrite(data, 1, bytes, file) != bytes)
		case_fail("cannot write the cache");
	rewind(file);
	memset(data, 0, bytes);
	if (fread(data, 1, bytes, file) != bytes)
		case_fail("cannot read the cache");
	info.initialDataSize = bytes;
	info.pInitialData = data;
	VK(vkCreatePipelineCache(vk->device, &info, NULL, &second));
	prog_recreate(vk, prog, "add_one", second);
	VK(vkMergePipelineCaches(vk->device, first, 1, &second));
	VK(vkGetPipelineCacheData(vk->device, second, &again, NULL));
	if (again < bytes)
		case_fail("the cache shrank from %zu to %zu bytes", bytes, again);
	run_one(vk, prog, (uint32_t[]){ 0, 77 }, 1, 1, 1);
	expect_u32("r", out->map, &(uint32_t){ 77 }, 1);
	vkDestroyPipelineCache(vk->device, first, NULL);
	vkDestroyPipelineCache(vk->device, second, NULL);
	fclose(file);
	free(data);
	return hash_buf(out);
}

/* ---- loss ---- */

/* An endless loop is found out, this device is lost, and a new one works. */
static uint64_t
lost(struct vk *vk)
{
	struct buf *data = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "forever" }), data);
	VkCommandBuffer cb = cb_begin(vk);
	VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cb };
	VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	struct owner owner = { .vk = vk, .seed = 3 };
	VkResult waited, submitted;
	VkFence fence;
	uint32_t v = 0;

	if (vk->props.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
		case_skip("a processor has no timeout"); /* it would spin for ever */
	((uint32_t *)data->map)[0] = 1;
	cb_dispatch(cb, prog, NULL, 1, 1, 1);
	VK(vkEndCommandBuffer(cb));
	VK(vkCreateFence(vk->device, &info, NULL, &fence));
	VK(vkQueueSubmit(vk->queue, 1, &submit, fence));
	waited = vkWaitForFences(vk->device, 1, &fence, VK_TRUE, VK_WAIT_NS);
	if (waited != VK_SUCCESS && waited != VK_ERROR_DEVICE_LOST)
		case_fail("waiting for an endless loop = %d", waited);
	/* RADV learns of it when the kernel refuses the context's next job. */
	submitted = waited == VK_SUCCESS ? vkQueueSubmit(vk->queue, 1, &submit, VK_NULL_HANDLE) : waited;
	if (submitted != VK_ERROR_DEVICE_LOST)
		case_fail("the device is not lost: wait %d, submit %d", waited, submitted);
	own_device(&owner);
	for (uint32_t k = 0; k < 20; k++)
		v = v * 5 + 3 + k;
	expect_u32("r of a new device", &owner.got, &v, 1);
	case_done(hash_bytes(HASH_INIT, "lost", 4)); /* the old one cannot be waited for */
}

const struct vkcase cases_device[] = {
	{ "queue-families", families, 0 },
	{ "devices", devices, 0 },
	{ "external-memory", external_memory, 0 },
	{ "external-semaphores", external_semaphores, 0 },
	{ "pipeline-cache", pipeline_cache, 0 },
	{ "device-lost", lost, 0 },
	{ 0 },
};
