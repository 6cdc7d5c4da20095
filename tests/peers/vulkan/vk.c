/* SPDX-License-Identifier: MIT */
/* vk.c: instance, device and queue of one compute-capable family. */
#include <stdio.h>

#include "vksuite.h"

void
vk_check(VkResult result, const char *call)
{
	if (result < 0)
		case_fail("%.60s = %d", call, result);
}

bool
vk_has_extension(VkPhysicalDevice gpu, const char *name)
{
	VkExtensionProperties list[512];
	uint32_t n = 512;

	VK(vkEnumerateDeviceExtensionProperties(gpu, NULL, &n, list));
	while (n--)
		if (!strcmp(list[n].extensionName, name))
			return true;
	return false;
}

static void
open_instance(struct vk *vk)
{
	VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2 };
	VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app };
	uint32_t n = 1;

	VK(vkCreateInstance(&info, NULL, &vk->instance));
	VK(vkEnumeratePhysicalDevices(vk->instance, &n, &vk->gpu));
	if (!n)
		case_fail("no Vulkan device");
}

static void
ask_properties(struct vk *vk)
{
	VkPhysicalDeviceProperties2 props = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &vk->props11 };

	vk->props11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
	vk->props11.pNext = &vk->sizes;
	vk->sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
	vkGetPhysicalDeviceProperties2(vk->gpu, &props);
	vk->props = props.properties;
	vkGetPhysicalDeviceMemoryProperties(vk->gpu, &vk->memory);
}

static void
ask_features(struct vk *vk)
{
	vk->have = (VkPhysicalDeviceFeatures2){ .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &vk->have11 };
	vk->have11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
	vk->have11.pNext = &vk->have12;
	vk->have12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
	vk->have_sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
	vk->have_atomic_float.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
	vk->have_robust2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
	vk->have_conditional.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT;
	vk->have_clock.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR;
}

/* Chains the feature structures of the extensions that exist, and lists their names. */
static uint32_t
chain_extensions(struct vk *vk, const char **names)
{
	const struct {
		const char *name;
		void *features;
	} all[] = {
		{ "VK_EXT_subgroup_size_control", &vk->have_sizes },
		{ "VK_EXT_shader_atomic_float", &vk->have_atomic_float },
		{ "VK_EXT_robustness2", &vk->have_robust2 },
		{ "VK_EXT_conditional_rendering", &vk->have_conditional },
		{ "VK_KHR_shader_clock", &vk->have_clock },
	};
	VkBaseOutStructure *last = (VkBaseOutStructure *)&vk->have12;
	uint32_t n = 0;

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!vk_has_extension(vk->gpu, all[i].name))
			continue;
		names[n++] = all[i].name;
		last->pNext = all[i].features;
		last = last->pNext;
	}
	return n;
}

static bool
pick_family(struct vk *vk, unsigned nth)
{
	VkQueueFamilyProperties list[16];
	uint32_t n = 16;

	vkGetPhysicalDeviceQueueFamilyProperties(vk->gpu, &n, list);
	for (uint32_t i = 0; i < n; i++) {
		if (!(list[i].queueFlags & VK_QUEUE_COMPUTE_BIT) || nth--)
			continue;
		vk->family = i;
		vk->family_flags = list[i].queueFlags;
		vk->timestamp_bits = list[i].timestampValidBits;
		vk->queues = list[i].queueCount < 2 ? 1 : 2;
		return true;
	}
	return false;
}

static void
open_device(struct vk *vk, unsigned flags)
{
	float priorities[2] = { 1, 1 };
	VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = vk->family,
		.queueCount = vk->queues, .pQueuePriorities = priorities };
	const char *names[8];
	VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &vk->have, .queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue, .ppEnabledExtensionNames = names };

	info.enabledExtensionCount = chain_extensions(vk, names);
	vkGetPhysicalDeviceFeatures2(vk->gpu, &vk->have);
	if (!(flags & VK_WANT_ROBUST)) {
		vk->have.features.robustBufferAccess = VK_FALSE;
		vk->have_robust2.robustBufferAccess2 = VK_FALSE;
		vk->have_robust2.robustImageAccess2 = VK_FALSE;
	}
	VK(vkCreateDevice(vk->gpu, &info, NULL, &vk->device));
	vkGetDeviceQueue(vk->device, vk->family, 0, &vk->queue);
	vkGetDeviceQueue(vk->device, vk->family, vk->queues - 1, &vk->other);
}

bool
vk_open(struct vk *vk, unsigned nth, unsigned flags)
{
	VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT };

	open_instance(vk);
	if (!pick_family(vk, nth))
		return false;
	ask_properties(vk);
	ask_features(vk);
	open_device(vk, flags);
	pool.queueFamilyIndex = vk->family;
	VK(vkCreateCommandPool(vk->device, &pool, NULL, &vk->pool));
	return true;
}

static void
free_buf(struct vk *vk, struct buf *buf)
{
	vkDestroyBuffer(vk->device, buf->buffer, NULL);
	vkFreeMemory(vk->device, buf->memory, NULL);
	free(buf);
}

static void
free_prog(struct vk *vk, struct prog *prog)
{
	vkDestroyPipeline(vk->device, prog->pipeline, NULL);
	vkDestroyDescriptorPool(vk->device, prog->pool, NULL);
	vkDestroyPipelineLayout(vk->device, prog->layout, NULL);
	vkDestroyDescriptorSetLayout(vk->device, prog->set_layout, NULL);
	free(prog);
}

void
vk_close_device(struct vk *vk)
{
	VK(vkDeviceWaitIdle(vk->device));
	while (vk->prog_count)
		free_prog(vk, vk->progs[--vk->prog_count]);
	while (vk->buf_count)
		free_buf(vk, vk->bufs[--vk->buf_count]);
	vkDestroyCommandPool(vk->device, vk->pool, NULL);
	vkDestroyDevice(vk->device, NULL);
}

void
vk_close(struct vk *vk)
{
	vk_close_device(vk);
	vkDestroyInstance(vk->instance, NULL);
}
