/* SPDX-License-Identifier: MIT */
/* cases_sync.c: timeline and binary semaphores, fences, events, submissions in flight. */
#include <pthread.h>
#include <unistd.h>

#include "vksuite.h"

#define MS 1000000ull

static uint64_t
hash_buf(const struct buf *buf)
{
	return hash_bytes(HASH_INIT, buf->map, buf->size);
}

static VkSemaphore
semaphore_new(struct vk *vk, bool timeline, uint64_t value)
{
	VkSemaphoreTypeCreateInfo type = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE, .initialValue = value };
	VkSemaphoreCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = timeline ? &type : NULL };
	VkSemaphore semaphore;

	VK(vkCreateSemaphore(vk->device, &info, NULL, &semaphore));
	return semaphore;
}

static VkFence
fence_new(struct vk *vk, VkFenceCreateFlags flags)
{
	VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .flags = flags };
	VkFence fence;

	VK(vkCreateFence(vk->device, &info, NULL, &fence));
	return fence;
}

/* r = r * mul + add over 64 words; may be submitted many times. */
static VkCommandBuffer
step(struct vk *vk, const struct prog *prog, uint32_t mul, uint32_t add)
{
	VkCommandBuffer cb = cb_begin(vk);

	cb_barrier(cb);
	cb_dispatch(cb, prog, (uint32_t[]){ mul, add }, 1, 1, 1);
	cb_barrier(cb);
	VK(vkEndCommandBuffer(cb));
	return cb;
}

struct point {
	VkSemaphore semaphore; /* NULL: none */
	uint64_t value;
};

static void
submit(VkQueue queue, VkCommandBuffer cb, struct point wait, struct point signal, VkFence fence)
{
	VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	VkTimelineSemaphoreSubmitInfo values = { .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = wait.semaphore != NULL, .pWaitSemaphoreValues = &wait.value,
		.signalSemaphoreValueCount = signal.semaphore != NULL, .pSignalSemaphoreValues = &signal.value };
	VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .pNext = &values,
		.waitSemaphoreCount = wait.semaphore != NULL, .pWaitSemaphores = &wait.semaphore, .pWaitDstStageMask = &stage,
		.commandBufferCount = cb != NULL, .pCommandBuffers = &cb,
		.signalSemaphoreCount = signal.semaphore != NULL, .pSignalSemaphores = &signal.semaphore };

	VK(vkQueueSubmit(queue, 1, &info, fence));
}

static VkResult
wait_value(struct vk *vk, VkSemaphore semaphore, uint64_t value, uint64_t ns)
{
	VkSemaphoreWaitInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 1, .pSemaphores = &semaphore,
		.pValues = &value };

	return vkWaitSemaphores(vk->device, &info, ns);
}

static void
expect_value(struct vk *vk, VkSemaphore semaphore, uint64_t want)
{
	uint64_t value = 0;

	VK(vkGetSemaphoreCounterValue(vk->device, semaphore, &value));
	if (value != want)
		case_fail("the semaphore is at %llu, should be at %llu", (unsigned long long)value, (unsigned long long)want);
}

static void
expect_result(const char *what, VkResult got, VkResult want)
{
	if (got != want)
		case_fail("%s = %d, should be %d", what, got, want);
}

static void
reach(struct vk *vk, VkSemaphore semaphore, uint64_t value)
{
	expect_result("waiting for a timeline value", wait_value(vk, semaphore, value, VK_WAIT_NS), VK_SUCCESS);
}

static void
host_signal(struct vk *vk, VkSemaphore semaphore, uint64_t value)
{
	VkSemaphoreSignalInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value };

	VK(vkSignalSemaphore(vk->device, &info));
}

/* The GPU waits for the host, the host for the GPU. */
static uint64_t
timeline_host(struct vk *vk)
{
	struct buf *out = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkSemaphore s = semaphore_new(vk, true, 5);
	VkCommandBuffer cb = step(vk, prog, 3, 7);
	uint32_t v = 7;

	expect_value(vk, s, 5);
	submit(vk->queue, cb, (struct point){ s, 10 }, (struct point){ s, 20 }, NULL);
	expect_result("waiting 20 ms for a value that waits for the host", wait_value(vk, s, 20, 20 * MS), VK_TIMEOUT);
	expect_value(vk, s, 5);
	expect_u32("before the host's signal", out->map, &(uint32_t){ 0 }, 1);
	host_signal(vk, s, 10);
	expect_result("waiting for the GPU", wait_value(vk, s, 20, VK_WAIT_NS), VK_SUCCESS);
	expect_value(vk, s, 20);
	expect_u32("r", out->map, &v, 1);
	expect_result("waiting for a past value", wait_value(vk, s, 6, 0), VK_SUCCESS);
	VK(vkQueueWaitIdle(vk->queue));
	vkDestroySemaphore(vk->device, s, NULL);
	return hash_buf(out);
}

/* Each submission waits for the one before by value, on two queues where there are two. */
static uint64_t
timeline_chain(struct vk *vk)
{
	enum { N = 60 };
	struct buf *out = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkSemaphore s = semaphore_new(vk, true, 0);
	VkCommandBuffer odd = step(vk, prog, 3, 7), even = step(vk, prog, 5, 11);
	uint32_t v = 0;

	for (uint64_t i = 0; i < N; i++) {
		submit(i & 2 ? vk->other : vk->queue, i & 1 ? odd : even, (struct point){ s, i * 10 }, (struct point){ s, i * 10 + 10 },
			NULL);
		v = i & 1 ? v * 3 + 7 : v * 5 + 11;
		if (i & 1) /* a command buffer may not be pending twice */
			reach(vk, s, i * 10 + 10);
	}
	reach(vk, s, N * 10);
	expect_value(vk, s, N * 10);
	expect_u32("r", out->map, &v, 1);
	VK(vkDeviceWaitIdle(vk->device));
	vkDestroySemaphore(vk->device, s, NULL);
	return hash_buf(out);
}

struct late {
	struct vk *vk;
	VkSemaphore semaphore;
};

static void *
signal_late(void *arg)
{
	struct late *late = arg;

	usleep(30000);
	host_signal(late->vk, late->semaphore, 1);
	return NULL;
}

/* Queue B waits for a value whose signal queue A is only given later; a thread starts A. */
static uint64_t
timeline_wait_before_signal(struct vk *vk)
{
	struct buf *out = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkSemaphore start = semaphore_new(vk, true, 0), middle = semaphore_new(vk, true, 0);
	VkCommandBuffer first = step(vk, prog, 3, 7), second = step(vk, prog, 5, 11);
	struct late late = { vk, start };
	uint32_t v = 7 * 5 + 11;
	pthread_t thread;

	if (vk->queue == vk->other)
		submit(vk->queue, first, (struct point){ start, 1 }, (struct point){ middle, 1 }, NULL);
	submit(vk->other, second, (struct point){ middle, 1 }, (struct point){ middle, 2 }, NULL);
	if (vk->queue != vk->other)
		submit(vk->queue, first, (struct point){ start, 1 }, (struct point){ middle, 1 }, NULL);
	expect_value(vk, middle, 0);
	if (pthread_create(&thread, NULL, signal_late, &late))
		case_fail("pthread_create");
	reach(vk, middle, 2);
	pthread_join(thread, NULL);
	expect_u32("r", out->map, &v, 1);
	VK(vkDeviceWaitIdle(vk->device));
	vkDestroySemaphore(vk->device, start, NULL);
	vkDestroySemaphore(vk->device, middle, NULL);
	return hash_buf(out);
}

static uint64_t
timeline_any(struct vk *vk)
{
	VkSemaphore s[3] = { semaphore_new(vk, true, 0), semaphore_new(vk, true, 0), semaphore_new(vk, true, 0) };
	uint64_t values[3] = { 4, 4, 4 };
	VkSemaphoreWaitInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 3, .pSemaphores = s,
		.pValues = values, .flags = VK_SEMAPHORE_WAIT_ANY_BIT };

	expect_result("any of none", vkWaitSemaphores(vk->device, &info, MS), VK_TIMEOUT);
	submit(vk->queue, NULL, (struct point){ 0 }, (struct point){ s[1], 4 }, NULL);
	expect_result("any of one", vkWaitSemaphores(vk->device, &info, VK_WAIT_NS), VK_SUCCESS);
	info.flags = 0;
	expect_result("all of one", vkWaitSemaphores(vk->device, &info, MS), VK_TIMEOUT);
	host_signal(vk, s[0], 9);
	submit(vk->queue, NULL, (struct point){ s[0], 9 }, (struct point){ s[2], 100 }, NULL);
	expect_result("all", vkWaitSemaphores(vk->device, &info, VK_WAIT_NS), VK_SUCCESS);
	expect_value(vk, s[2], 100);
	VK(vkQueueWaitIdle(vk->queue));
	for (unsigned i = 0; i < 3; i++)
		vkDestroySemaphore(vk->device, s[i], NULL);
	return hash_bytes(HASH_INIT, values, sizeof(values));
}

static uint64_t
binary_semaphores(struct vk *vk)
{
	enum { N = 24 };
	struct buf *out = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkSemaphore s[2] = { semaphore_new(vk, false, 0), semaphore_new(vk, false, 0) };
	VkFence fence = fence_new(vk, 0);
	VkCommandBuffer cb[N];
	uint32_t v = 0;

	for (unsigned i = 0; i < N; i++) {
		struct point wait = { i ? s[i & 1] : VK_NULL_HANDLE, 0 }, signal = { i < N - 1 ? s[1 - (i & 1)] : VK_NULL_HANDLE, 0 };

		cb[i] = step(vk, prog, 3, i);
		v = v * 3 + i;
		submit(i & 1 ? vk->other : vk->queue, cb[i], wait, signal, i == N - 1 ? fence : VK_NULL_HANDLE);
	}
	expect_result("waiting for the last fence", vkWaitForFences(vk->device, 1, &fence, VK_TRUE, VK_WAIT_NS), VK_SUCCESS);
	expect_u32("r", out->map, &v, 1);
	VK(vkDeviceWaitIdle(vk->device));
	vkDestroyFence(vk->device, fence, NULL);
	vkDestroySemaphore(vk->device, s[0], NULL);
	vkDestroySemaphore(vk->device, s[1], NULL);
	return hash_buf(out);
}

static uint64_t
fences(struct vk *vk)
{
	enum { N = 20 };
	struct buf *out = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkFence f[N], ready = fence_new(vk, VK_FENCE_CREATE_SIGNALED_BIT);
	uint32_t v = 0;

	expect_result("a fence born signaled", vkGetFenceStatus(vk->device, ready), VK_SUCCESS);
	for (unsigned i = 0; i < N; i++)
		f[i] = fence_new(vk, 0);
	expect_result("a new fence", vkGetFenceStatus(vk->device, f[0]), VK_NOT_READY);
	expect_result("any of new fences", vkWaitForFences(vk->device, N, f, VK_FALSE, MS), VK_TIMEOUT);
	for (unsigned i = 0; i < N; i++) {
		submit(vk->queue, step(vk, prog, 7, i), (struct point){ 0 }, (struct point){ 0 }, f[i]);
		v = v * 7 + i;
	}
	expect_result("any fence", vkWaitForFences(vk->device, N, f, VK_FALSE, VK_WAIT_NS), VK_SUCCESS);
	expect_result("all fences", vkWaitForFences(vk->device, N, f, VK_TRUE, VK_WAIT_NS), VK_SUCCESS);
	expect_u32("r", out->map, &v, 1);
	VK(vkResetFences(vk->device, N, f));
	expect_result("a reset fence", vkGetFenceStatus(vk->device, f[N - 1]), VK_NOT_READY);
	VK(vkQueueSubmit(vk->queue, 0, NULL, f[3])); /* nothing but a fence */
	expect_result("a fence alone", vkWaitForFences(vk->device, 1, &f[3], VK_TRUE, VK_WAIT_NS), VK_SUCCESS);
	for (unsigned i = 0; i < N; i++)
		vkDestroyFence(vk->device, f[i], NULL);
	vkDestroyFence(vk->device, ready, NULL);
	return hash_buf(out);
}

/* Set by the GPU, waited for by the GPU, seen by the host, and set by the host. */
static uint64_t
events(struct vk *vk)
{
	VkEventCreateInfo info = { .sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO };
	VkMemoryBarrier memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT };
	struct buf *out = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkCommandBuffer cb = cb_begin(vk);
	VkEvent gpu, host;

	VK(vkCreateEvent(vk->device, &info, NULL, &gpu));
	VK(vkCreateEvent(vk->device, &info, NULL, &host));
	expect_result("a new event", vkGetEventStatus(vk->device, gpu), VK_EVENT_RESET);
	VK(vkSetEvent(vk->device, host));
	expect_result("an event set by the host", vkGetEventStatus(vk->device, host), VK_EVENT_SET);
	cb_dispatch(cb, prog, (uint32_t[]){ 3, 7 }, 1, 1, 1);
	vkCmdSetEvent(cb, gpu, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
	vkCmdWaitEvents(cb, 1, &gpu, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 1, &memory, 0, NULL,
		0, NULL);
	cb_dispatch(cb, prog, (uint32_t[]){ 3, 8 }, 1, 1, 1);
	vkCmdWaitEvents(cb, 1, &host, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 1, &memory, 0, NULL, 0, NULL);
	vkCmdResetEvent(cb, host, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
	cb_run(vk, cb);
	expect_result("an event set by the GPU", vkGetEventStatus(vk->device, gpu), VK_EVENT_SET);
	expect_result("an event reset by the GPU", vkGetEventStatus(vk->device, host), VK_EVENT_RESET);
	expect_u32("r", out->map, &(uint32_t){ 7 * 3 + 8 }, 1);
	vkDestroyEvent(vk->device, gpu, NULL);
	vkDestroyEvent(vk->device, host, NULL);
	return hash_buf(out);
}

/* Four threads, each with its own pool and buffer, submit at once. */
struct worker {
	struct vk *vk;
	struct buf *out;
	struct prog *prog;
	pthread_mutex_t *lock; /* of the queue, as Vulkan demands */
	uint32_t add;
	pthread_t thread;
};

static void *
work(void *arg)
{
	struct worker *w = arg;
	VkCommandPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = w->vk->family };
	struct vk own = *w->vk;

	VK(vkCreateCommandPool(own.device, &info, NULL, &own.pool));
	for (uint32_t i = 0; i < 25; i++) {
		VkCommandBuffer cb = step(&own, w->prog, 3, w->add + i);
		VkFence fence = fence_new(&own, 0);

		pthread_mutex_lock(w->lock);
		submit(own.queue, cb, (struct point){ 0 }, (struct point){ 0 }, fence);
		pthread_mutex_unlock(w->lock);
		expect_result("a thread's fence", vkWaitForFences(own.device, 1, &fence, VK_TRUE, VK_WAIT_NS), VK_SUCCESS);
		vkDestroyFence(own.device, fence, NULL);
	}
	vkDestroyCommandPool(own.device, own.pool, NULL);
	return NULL;
}

static uint64_t
threads(struct vk *vk)
{
	enum { N = 4 };
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct worker workers[N];
	uint64_t hash = HASH_INIT;

	for (unsigned i = 0; i < N; i++) {
		struct buf *out = buf_host(vk, 64 * 4);

		workers[i] = (struct worker){ vk, out, PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out), &lock,
			i * 100, 0 };
	}
	for (unsigned i = 0; i < N; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			case_fail("pthread_create");
	for (unsigned i = 0; i < N; i++) {
		uint32_t v = 0;

		pthread_join(workers[i].thread, NULL);
		for (uint32_t k = 0; k < 25; k++)
			v = v * 3 + i * 100 + k;
		expect_u32("r", workers[i].out->map, &v, 1);
		hash = hash_bytes(hash, &v, 4);
	}
	return hash;
}

const struct vkcase cases_sync[] = {
	{ "timeline-host", timeline_host, 0 },
	{ "timeline-chain", timeline_chain, 0 },
	{ "timeline-wait-before-signal", timeline_wait_before_signal, 0 },
	{ "timeline-any", timeline_any, 0 },
	{ "semaphores", binary_semaphores, 0 },
	{ "fences", fences, 0 },
	{ "events", events, 0 },
	{ "threads", threads, 0 },
	{ 0 },
};
