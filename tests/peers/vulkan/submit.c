/* SPDX-License-Identifier: MIT */
/* submit.c: one pre-recorded command buffer submitted over and over, for make bench-submit: what does a driver's
 * submission cost the host? */
#include <stdio.h>

#include "../../../tools/bench-submit/mark.h"
#include "../../../tools/bench-submit/rss.h"
#include "vksuite.h"

struct submission {
	struct vk *vk;
	VkSemaphore timeline;
	uint64_t point;		/* signalled last */
	VkCommandBuffer cb;
	VkTimelineSemaphoreSubmitInfo points;
	VkSubmitInfo submit;
	VkSemaphoreWaitInfo wait;
};

static void
run_wait(void *arg, unsigned n)
{
	struct submission *s = arg;

	while (n--) {
		s->point++;
		VK(vkQueueSubmit(s->vk->queue, 1, &s->submit, VK_NULL_HANDLE));
		VK(vkWaitSemaphores(s->vk->device, &s->wait, VK_WAIT_NS));
	}
}

static void
make_timeline(struct submission *s)
{
	VkSemaphoreTypeCreateInfo type = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
					   .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE };
	VkSemaphoreCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type };

	VK(vkCreateSemaphore(s->vk->device, &info, NULL, &s->timeline));
	s->points = (VkTimelineSemaphoreSubmitInfo){ .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
						     .signalSemaphoreValueCount = 1,
						     .pSignalSemaphoreValues = &s->point };
	s->submit = (VkSubmitInfo){ .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
				    .pNext = &s->points,
				    .commandBufferCount = 1,
				    .pCommandBuffers = &s->cb,
				    .signalSemaphoreCount = 1,
				    .pSignalSemaphores = &s->timeline };
	s->wait = (VkSemaphoreWaitInfo){ .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
					 .semaphoreCount = 1,
					 .pSemaphores = &s->timeline,
					 .pValues = &s->point };
}

/* Each dispatch reads what the one before wrote, as bench-submit's chains do. */
static VkCommandBuffer
record(struct vk *vk, const struct prog *prog, unsigned n)
{
	VkCommandBuffer cb = cb_begin(vk);

	cb_bind(cb, prog, &(uint32_t[2]){ 0, 1 });
	for (unsigned i = 0; i < n; i++) {
		cb_read_after_write(cb);
		vkCmdDispatch(cb, 4, 1, 1);
	}
	VK(vkEndCommandBuffer(cb));
	return cb;
}

/* names: numbers of dispatches. */
int
run_submit(char **names)
{
	static struct vk vk;
	struct submission s = { .vk = &vk };
	struct prog *prog;

	if (!vk_open(&vk, 1, 0)) {
		printf("no queue family that only computes\n");
		return 77;
	}
	if (!vk.have12.timelineSemaphore) {
		printf("no timeline semaphores\n");
		return 77;
	}
	prog = PROG(&vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), buf_host(&vk, 65536));
	make_timeline(&s);
	for (; *names; names++) {
		s.cb = record(&vk, prog, (unsigned)atoi(*names));
		mark_case("wait", *names, run_wait, &s);
		vkFreeCommandBuffers(vk.device, vk.pool, 1, &s.cb);
	}
	vkDestroySemaphore(vk.device, s.timeline, NULL);
	vk_close(&vk);
	return 0;
}

/* What opening a device takes, for make bench-footprint. */
int
run_footprint(void)
{
	static struct vk vk;
	unsigned long before = rss_kib();

	if (!vk_open(&vk, 1, 0)) {
		printf("no queue family that only computes\n");
		return 77;
	}
	printf("rss %lu %lu\n", before, rss_kib());
	vk_close(&vk);
	return 0;
}
