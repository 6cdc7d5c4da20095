/* SPDX-License-Identifier: MIT */
/* cases_descriptors.c: arrays of descriptors, dynamic offsets, large buffers. */
#include "vksuite.h"

static uint64_t
hash_buf(const struct buf *buf)
{
	return hash_bytes(HASH_INIT, buf->map, buf->size);
}

static VkShaderModule
module_new(struct vk *vk, const char *name)
{
	VkShaderModuleCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO };
	VkShaderModule module;

	for (const struct shader *s = shaders; s->name; s++)
		if (!strcmp(s->name, name)) {
			info.codeSize = s->bytes;
			info.pCode = s->code;
		}
	VK(vkCreateShaderModule(vk->device, &info, NULL, &module));
	return module;
}

static VkPipeline
pipeline_new(struct vk *vk, const char *shader, VkPipelineLayout layout)
{
	VkComputePipelineCreateInfo info = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = layout,
		.stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
			.module = module_new(vk, shader), .pName = "main" } };
	VkPipeline pipeline;

	VK(vkCreateComputePipelines(vk->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
	vkDestroyShaderModule(vk->device, info.stage.module, NULL);
	return pipeline;
}

/* One binding of n descriptors. */
static VkDescriptorSetLayout
layout_new(struct vk *vk, VkDescriptorType type, uint32_t n, bool bindless)
{
	VkDescriptorBindingFlags flags = VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT | VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT |
		VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
	VkDescriptorSetLayoutBindingFlagsCreateInfo more = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
		.bindingCount = 1, .pBindingFlags = &flags };
	VkDescriptorSetLayoutBinding binding = { 0, type, n, VK_SHADER_STAGE_COMPUTE_BIT, NULL };
	VkDescriptorSetLayoutCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.pNext = bindless ? &more : NULL, .bindingCount = 1, .pBindings = &binding,
		.flags = bindless ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT : 0 };
	VkDescriptorSetLayout layout;

	VK(vkCreateDescriptorSetLayout(vk->device, &info, NULL, &layout));
	return layout;
}

static VkDescriptorPool
pool_new(struct vk *vk, uint32_t sets, uint32_t count, const VkDescriptorPoolSize *sizes, bool bindless)
{
	VkDescriptorPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = sets,
		.poolSizeCount = count, .pPoolSizes = sizes,
		.flags = bindless ? VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT : 0 };
	VkDescriptorPool pool;

	VK(vkCreateDescriptorPool(vk->device, &info, NULL, &pool));
	return pool;
}

static VkDescriptorSet
set_new(struct vk *vk, VkDescriptorPool pool, VkDescriptorSetLayout layout, const uint32_t *variable)
{
	VkDescriptorSetVariableDescriptorCountAllocateInfo more = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO, .descriptorSetCount = 1,
		.pDescriptorCounts = variable };
	VkDescriptorSetAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .pNext = variable ? &more : NULL,
		.descriptorPool = pool, .descriptorSetCount = 1, .pSetLayouts = &layout };
	VkDescriptorSet set;

	VK(vkAllocateDescriptorSets(vk->device, &info, &set));
	return set;
}

static void
set_write(struct vk *vk, VkDescriptorSet set, uint32_t element, VkDescriptorType type, const struct buf *buf, VkDeviceSize range)
{
	VkDescriptorBufferInfo buffer = { buf->buffer, 0, range };
	VkWriteDescriptorSet write = { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = set, .dstArrayElement = element,
		.descriptorCount = 1, .descriptorType = type, .pBufferInfo = &buffer };

	vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
}

/* A thousand places, forty filled, some of them after binding; indices differ within a wave. */
static uint64_t
indexing(struct vk *vk)
{
	enum { ROOM = 1000, COUNT = 40, N = 64 * 16 };
	const VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
	const VkDescriptorPoolSize sizes[] = { { type, ROOM + 1 } };
	struct buf *bufs[COUNT], *out = buf_host(vk, N * 4);
	VkDescriptorSetLayout layouts[2];
	VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 4 };
	VkPipelineLayoutCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 2,
		.pSetLayouts = layouts, .pushConstantRangeCount = 1, .pPushConstantRanges = &range };
	VkPipelineLayout layout;
	VkDescriptorPool pool;
	VkDescriptorSet sets[2];
	VkPipeline pipeline;
	VkCommandBuffer cb;
	uint32_t want[N];

	require(vk->have12.shaderStorageBufferArrayNonUniformIndexing && vk->have12.descriptorBindingStorageBufferUpdateAfterBind &&
			vk->have12.descriptorBindingPartiallyBound && vk->have12.descriptorBindingVariableDescriptorCount &&
			vk->have12.runtimeDescriptorArray, "descriptor indexing");
	layouts[0] = layout_new(vk, type, ROOM, true);
	layouts[1] = layout_new(vk, type, 1, false);
	VK(vkCreatePipelineLayout(vk->device, &info, NULL, &layout));
	pipeline = pipeline_new(vk, "indexed", layout);
	pool = pool_new(vk, 2, 1, sizes, true);
	sets[0] = set_new(vk, pool, layouts[0], &(uint32_t){ ROOM });
	sets[1] = set_new(vk, pool, layouts[1], NULL);
	set_write(vk, sets[1], 0, type, out, VK_WHOLE_SIZE);
	for (uint32_t i = 0; i < COUNT; i++) {
		bufs[i] = buf_host(vk, 64 + 4 * i);
		for (uint32_t k = 0; k < 16; k++)
			((uint32_t *)bufs[i]->map)[k] = i * 1000 + k;
		if (i & 1)
			set_write(vk, sets[0], i, type, bufs[i], VK_WHOLE_SIZE);
	}
	cb = cb_begin(vk);
	vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 2, sets, 0, NULL);
	vkCmdPushConstants(cb, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &(uint32_t){ COUNT });
	vkCmdDispatch(cb, N / 64, 1, 1);
	for (uint32_t i = 0; i < COUNT; i += 2)
		set_write(vk, sets[0], i, type, bufs[i], VK_WHOLE_SIZE);
	cb_run(vk, cb);
	for (uint32_t id = 0; id < N; id++) {
		uint32_t which = (id * 7 + id / 16) % COUNT;

		want[id] = (which * 1000 + id % 16) * 3 + which + 16 + which;
	}
	expect_u32("r", out->map, want, N);
	vkDestroyPipeline(vk->device, pipeline, NULL);
	vkDestroyDescriptorPool(vk->device, pool, NULL);
	vkDestroyPipelineLayout(vk->device, layout, NULL);
	vkDestroyDescriptorSetLayout(vk->device, layouts[0], NULL);
	vkDestroyDescriptorSetLayout(vk->device, layouts[1], NULL);
	return hash_buf(out);
}

static uint64_t
dynamic_offsets(struct vk *vk)
{
	enum { N = 64, PLACES = 5, STEP = 1024 };
	const VkDescriptorType types[3] = { VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
		VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC };
	const VkDescriptorPoolSize sizes[3] = { { types[0], 1 }, { types[1], 1 }, { types[2], 1 } };
	struct buf *scales = buf_host(vk, PLACES * STEP), *in = buf_host(vk, N * 4), *out = buf_host(vk, PLACES * STEP);
	struct buf *bufs[3] = { scales, in, out };
	VkDescriptorSetLayout layouts[3];
	VkPipelineLayoutCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 3,
		.pSetLayouts = layouts };
	VkPipelineLayout layout;
	VkDescriptorSet sets[3];
	VkDescriptorPool pool = pool_new(vk, 3, 3, sizes, false);
	VkPipeline pipeline;
	VkCommandBuffer cb;

	for (unsigned i = 0; i < 3; i++) {
		layouts[i] = layout_new(vk, types[i], 1, false);
		sets[i] = set_new(vk, pool, layouts[i], NULL);
		set_write(vk, sets[i], 0, types[i], bufs[i], i == 1 ? VK_WHOLE_SIZE : N * 4);
	}
	VK(vkCreatePipelineLayout(vk->device, &info, NULL, &layout));
	pipeline = pipeline_new(vk, "offsets", layout);
	cb = cb_begin(vk);
	vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	for (uint32_t i = 0; i < PLACES; i++) {
		const uint32_t offsets[2] = { i * STEP, (PLACES - 1 - i) * STEP };

		((uint32_t *)scales->map)[i * STEP / 4] = i * 11 + 1;
		vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 3, sets, 2, offsets);
		vkCmdDispatch(cb, 1, 1, 1);
	}
	for (uint32_t k = 0; k < N; k++)
		((uint32_t *)in->map)[k] = k * k + 5;
	cb_run(vk, cb);
	for (uint32_t i = 0; i < PLACES; i++)
		for (uint32_t k = 0; k < N; k++) {
			uint32_t want = (k * k + 5) * (i * 11 + 1) + k;

			expect_u32("r", (uint32_t *)out->map + (PLACES - 1 - i) * STEP / 4 + k, &want, 1);
		}
	vkDestroyPipeline(vk->device, pipeline, NULL);
	vkDestroyDescriptorPool(vk->device, pool, NULL);
	vkDestroyPipelineLayout(vk->device, layout, NULL);
	for (unsigned i = 0; i < 3; i++)
		vkDestroyDescriptorSetLayout(vk->device, layouts[i], NULL);
	return hash_buf(out);
}

/* One buffer of 3.75 GiB of which 64 words are touched: 64-bit address arithmetic, and memory that is there when it is used. */
static uint64_t
far(struct vk *vk)
{
	const uint64_t size = 15ull << 28, step = size / 64;
	struct buf *out = buf_host(vk, 256), *big;
	VkDeviceSize heap = 0;
	struct prog *prog;
	uint32_t want[64];
	VkCommandBuffer cb;

	require(vk->have12.bufferDeviceAddress && vk->have.features.shaderInt64, "bufferDeviceAddress");
	for (uint32_t i = 0; i < vk->memory.memoryHeapCount; i++)
		if (vk->memory.memoryHeaps[i].size > heap)
			heap = vk->memory.memoryHeaps[i].size;
	/* Only where it is said to be possible: lavapipe would take it from the machine. */
	if (heap < 2 * size || vk->props.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
		case_skip("a buffer of 3.75 GiB does not fit");
	big = buf_device(vk, size);
	prog = PROG(vk, (&(struct prog_desc){ .shader = "far", .push = 16 }), out);
	cb = cb_begin(vk);
	for (uint32_t l = 0; l < 64; l++) {
		vkCmdFillBuffer(cb, big->buffer, step * l, 4, l + 1);
		want[l] = l + 1 + l * l;
	}
	cb_barrier(cb);
	cb_dispatch(cb, prog, (uint64_t[]){ buf_address(vk, big), step }, 1, 1, 1);
	cb_run(vk, cb);
	expect_u32("r", out->map, want, 64);
	return hash_buf(out);
}

const struct vkcase cases_descriptors[] = {
	{ "descriptor-indexing", indexing, 0 },
	{ "dynamic-offsets", dynamic_offsets, 0 },
	{ "far-addresses", far, 0 },
	{ 0 },
};
