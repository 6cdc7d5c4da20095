/* SPDX-License-Identifier: MIT */
/* vk_objects.c: buffers, pipelines and command buffers. */
#include "vksuite.h"

/* ---- buffers ---- */

static uint32_t
memory_type(const struct vk *vk, uint32_t allowed, VkMemoryPropertyFlags need, VkMemoryPropertyFlags avoid)
{
	for (uint32_t i = 0; i < vk->memory.memoryTypeCount; i++) {
		VkMemoryPropertyFlags flags = vk->memory.memoryTypes[i].propertyFlags;

		if (allowed & 1u << i && (flags & need) == need && !(flags & avoid))
			return i;
	}
	return avoid ? memory_type(vk, allowed, need, 0) : UINT32_MAX;
}

static void
bind_memory(struct vk *vk, struct buf *buf, VkMemoryPropertyFlags need, VkMemoryPropertyFlags avoid)
{
	VkMemoryAllocateFlagsInfo flags = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
		.flags = vk->have12.bufferDeviceAddress ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0 };
	VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags };
	VkMemoryRequirements req;

	vkGetBufferMemoryRequirements(vk->device, buf->buffer, &req);
	alloc.allocationSize = req.size;
	alloc.memoryTypeIndex = memory_type(vk, req.memoryTypeBits, need, avoid);
	if (alloc.memoryTypeIndex == UINT32_MAX)
		case_fail("no memory type with flags %x", need);
	VK(vkAllocateMemory(vk->device, &alloc, NULL, &buf->memory));
	VK(vkBindBufferMemory(vk->device, buf->buffer, buf->memory, 0));
}

static struct buf *
buf_new(struct vk *vk, VkDeviceSize size, VkMemoryPropertyFlags need, VkMemoryPropertyFlags avoid)
{
	VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
			VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
			VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT };
	struct buf *buf = calloc(1, sizeof(*buf));

	if (!buf || vk->buf_count == VK_MAX_OBJECTS)
		case_fail("too many buffers");
	if (vk->have12.bufferDeviceAddress)
		info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
	if (vk->have_conditional.conditionalRendering)
		info.usage |= VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT;
	buf->size = size;
	VK(vkCreateBuffer(vk->device, &info, NULL, &buf->buffer));
	bind_memory(vk, buf, need, avoid);
	vk->bufs[vk->buf_count++] = buf;
	return buf;
}

struct buf *
buf_host(struct vk *vk, VkDeviceSize size)
{
	struct buf *buf = buf_new(vk, size, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 0);

	VK(vkMapMemory(vk->device, buf->memory, 0, VK_WHOLE_SIZE, 0, &buf->map));
	memset(buf->map, 0, size);
	return buf;
}

struct buf *
buf_device(struct vk *vk, VkDeviceSize size)
{
	return buf_new(vk, size, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
}

VkDeviceAddress
buf_address(struct vk *vk, const struct buf *buf)
{
	VkBufferDeviceAddressInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buf->buffer };

	return vkGetBufferDeviceAddress(vk->device, &info);
}

/* ---- pipelines ---- */

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
	if (!info.pCode)
		case_fail("no shader %s", name);
	VK(vkCreateShaderModule(vk->device, &info, NULL, &module));
	return module;
}

static VkDescriptorType
binding_type(const struct prog_desc *desc, unsigned binding)
{
	return desc->types[binding] ? desc->types[binding] : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

static void
prog_layout(struct vk *vk, struct prog *prog, const struct prog_desc *desc, unsigned count)
{
	VkDescriptorSetLayoutBinding bindings[VK_MAX_BINDINGS];
	VkDescriptorSetLayoutCreateInfo set = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = count, .pBindings = bindings };
	VkPushConstantRange range = { VK_SHADER_STAGE_COMPUTE_BIT, 0, prog->push };
	VkPipelineLayoutCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
		.pSetLayouts = &prog->set_layout, .pushConstantRangeCount = prog->push != 0, .pPushConstantRanges = &range };

	for (unsigned i = 0; i < count; i++)
		bindings[i] = (VkDescriptorSetLayoutBinding){ i, binding_type(desc, i), 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL };
	VK(vkCreateDescriptorSetLayout(vk->device, &set, NULL, &prog->set_layout));
	VK(vkCreatePipelineLayout(vk->device, &info, NULL, &prog->layout));
}

static void
prog_pipeline(struct vk *vk, struct prog *prog, const struct prog_desc *desc, VkPipelineCache cache)
{
	VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
		.requiredSubgroupSize = desc->subgroup };
	VkComputePipelineCreateInfo info = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = prog->layout };

	info.stage = (VkPipelineShaderStageCreateInfo){ .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.pNext = desc->subgroup ? &size : NULL, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
		.module = module_new(vk, desc->shader), .pName = "main", .pSpecializationInfo = desc->spec };
	VK(vkCreateComputePipelines(vk->device, cache, 1, &info, NULL, &prog->pipeline));
	vkDestroyShaderModule(vk->device, info.stage.module, NULL);
}

static void
prog_set(struct vk *vk, struct prog *prog, const struct prog_desc *desc, unsigned count)
{
	VkDescriptorPoolSize sizes[VK_MAX_BINDINGS];
	VkDescriptorPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1,
		.poolSizeCount = count, .pPoolSizes = sizes };
	VkDescriptorSetAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorSetCount = 1,
		.pSetLayouts = &prog->set_layout };

	for (unsigned i = 0; i < count; i++)
		sizes[i] = (VkDescriptorPoolSize){ binding_type(desc, i), 1 };
	VK(vkCreateDescriptorPool(vk->device, &pool, NULL, &prog->pool));
	alloc.descriptorPool = prog->pool;
	VK(vkAllocateDescriptorSets(vk->device, &alloc, &prog->set));
}

static void
prog_write(struct vk *vk, struct prog *prog, const struct prog_desc *desc, unsigned count, struct buf *const *bufs)
{
	for (unsigned i = 0; i < count; i++) {
		VkDescriptorBufferInfo buffer = { bufs[i]->buffer, 0, VK_WHOLE_SIZE };
		VkDescriptorImageInfo image = { VK_NULL_HANDLE, desc->images ? desc->images[i] : VK_NULL_HANDLE, VK_IMAGE_LAYOUT_GENERAL };
		VkWriteDescriptorSet write = { .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = prog->set, .dstBinding = i,
			.descriptorCount = 1, .descriptorType = binding_type(desc, i), .pBufferInfo = &buffer, .pImageInfo = &image, .pTexelBufferView = desc->views ? &desc->views[i] : NULL };

		vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
	}
}

struct prog *
prog_new(struct vk *vk, const struct prog_desc *desc, unsigned count, struct buf *const *bufs)
{
	struct prog *prog = calloc(1, sizeof(*prog));

	if (!prog || count > VK_MAX_BINDINGS || vk->prog_count == VK_MAX_OBJECTS)
		case_fail("too many pipelines");
	prog->push = desc->push;
	prog_layout(vk, prog, desc, count);
	prog_pipeline(vk, prog, desc, VK_NULL_HANDLE);
	prog_set(vk, prog, desc, count);
	prog_write(vk, prog, desc, count, bufs);
	vk->progs[vk->prog_count++] = prog;
	return prog;
}

void
prog_recreate(struct vk *vk, struct prog *prog, const char *shader, VkPipelineCache cache)
{
	vkDestroyPipeline(vk->device, prog->pipeline, NULL);
	prog_pipeline(vk, prog, &(struct prog_desc){ .shader = shader }, cache);
}

/* ---- command buffers ---- */

VkCommandBuffer
cb_begin(struct vk *vk)
{
	VkCommandBufferAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = vk->pool,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1 };
	VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO };
	VkCommandBuffer cb;

	VK(vkAllocateCommandBuffers(vk->device, &alloc, &cb));
	VK(vkBeginCommandBuffer(cb, &begin));
	return cb;
}

void
cb_bind(VkCommandBuffer cb, const struct prog *prog, const void *push)
{
	vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, prog->pipeline);
	vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, prog->layout, 0, 1, &prog->set, 0, NULL);
	if (prog->push)
		vkCmdPushConstants(cb, prog->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, prog->push, push);
}

void
cb_dispatch(VkCommandBuffer cb, const struct prog *prog, const void *push, uint32_t x, uint32_t y, uint32_t z)
{
	cb_bind(cb, prog, push);
	vkCmdDispatch(cb, x, y, z);
}

void
cb_barrier(VkCommandBuffer cb)
{
	VkMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT };

	vkCmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, NULL,
		0, NULL);
}

static void
cb_make_visible(VkCommandBuffer cb)
{
	VkMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_HOST_READ_BIT };

	vkCmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

void
cb_run(struct vk *vk, VkCommandBuffer cb)
{
	VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cb };
	VkResult result;
	VkFence fence;

	cb_make_visible(cb);
	VK(vkEndCommandBuffer(cb));
	VK(vkCreateFence(vk->device, &info, NULL, &fence));
	VK(vkQueueSubmit(vk->queue, 1, &submit, fence));
	result = vkWaitForFences(vk->device, 1, &fence, VK_TRUE, VK_WAIT_NS);
	if (result != VK_SUCCESS)
		case_fail("waiting for the fence = %d", result);
	vkDestroyFence(vk->device, fence, NULL);
	vkFreeCommandBuffers(vk->device, vk->pool, 1, &cb);
}

void
run_one(struct vk *vk, const struct prog *prog, const void *push, uint32_t x, uint32_t y, uint32_t z)
{
	VkCommandBuffer cb = cb_begin(vk);

	cb_dispatch(cb, prog, push, x, y, z);
	cb_run(vk, cb);
}
