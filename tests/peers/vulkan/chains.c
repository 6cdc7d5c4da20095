/* SPDX-License-Identifier: MIT */
/* chains.c: one command buffer of n dispatches, for make bench-prepare: what does a driver make of it? */
#include <stdio.h>
#include <string.h>

#include "vksuite.h"

/* Reads what the dispatch before wrote, no more. */
void
cb_read_after_write(VkCommandBuffer cb)
{
	VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_SHADER_READ_BIT,
	};

	vkCmdPipelineBarrier(cb, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0,
			     NULL, 0, NULL);
}

/* repeat: one pipeline, other push constants each time; switch: two pipelines in turns; chain: repeat with barriers. */
int
run_chain(const char *name, unsigned n)
{
	struct buf *buf;
	struct prog *progs[2];
	VkCommandBuffer cb;
	static struct vk vk;

	/* The second family computes only, as our queues do. */
	if (!vk_open(&vk, 1, 0)) {
		printf("no queue family that only computes\n");
		return 77;
	}
	buf = buf_host(&vk, 65536);
	progs[0] = PROG(&vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), buf);
	progs[1] = PROG(&vk, (&(struct prog_desc){ .shader = "vecadd", .push = 4 }), buf, buf, buf);
	cb = cb_begin(&vk);
	cb_bind(cb, progs[0], &(uint32_t[2]){ 1, 0 });
	for (uint32_t i = 0; i < n; i++) {
		uint32_t push[2] = { i, 1 };
		const struct prog *p = progs[strcmp(name, "switch") ? 0 : i % 2];

		if (!strcmp(name, "switch"))
			cb_bind(cb, p, push);
		else
			vkCmdPushConstants(cb, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), push);
		if (!strcmp(name, "chain"))
			cb_read_after_write(cb);
		vkCmdDispatch(cb, 4, 1, 1);
	}
	cb_run(&vk, cb);
	vk_close(&vk);
	return 0;
}
