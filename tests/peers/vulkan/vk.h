/* SPDX-License-Identifier: MIT */
/* vk.h: the little Vulkan the cases need. A case runs alone in its process, so a failure prints its line and leaves. */
#ifndef VKSUITE_VK_H
#define VKSUITE_VK_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#define VK_MAX_OBJECTS 64u
#define VK_MAX_BINDINGS 8u
#define VK_PUSH_BYTES 128u
#define VK_WAIT_NS 120000000000ull

/* What a case wants of its device besides every feature that is reported. */
enum vk_flags {
	VK_WANT_ROBUST = 1, /* robustBufferAccess and robustBufferAccess2; else both are off, which allows wider loads */
};

struct buf {
	VkBuffer buffer;
	VkDeviceMemory memory;
	VkDeviceSize size;
	void *map; /* NULL: not visible to the host */
};

/* A compute pipeline with its one descriptor set of storage buffers. */
struct prog {
	VkDescriptorSetLayout set_layout;
	VkPipelineLayout layout;
	VkPipeline pipeline;
	VkDescriptorPool pool;
	VkDescriptorSet set;
	unsigned push; /* bytes */
};

struct vk {
	VkInstance instance;
	VkPhysicalDevice gpu;
	VkDevice device;
	uint32_t family;
	VkQueueFlags family_flags;
	uint32_t timestamp_bits;
	unsigned queues;
	VkQueue queue;
	VkQueue other; /* a second queue of the family; the same one where there is only one */
	VkCommandPool pool;
	VkPhysicalDeviceProperties props;
	VkPhysicalDeviceVulkan11Properties props11;
	VkPhysicalDeviceSubgroupSizeControlProperties sizes;
	VkPhysicalDeviceMemoryProperties memory;
	VkPhysicalDeviceFeatures2 have;
	VkPhysicalDeviceVulkan11Features have11;
	VkPhysicalDeviceVulkan12Features have12;
	VkPhysicalDeviceSubgroupSizeControlFeatures have_sizes;
	VkPhysicalDeviceShaderAtomicFloatFeaturesEXT have_atomic_float;
	VkPhysicalDeviceRobustness2FeaturesEXT have_robust2;
	VkPhysicalDeviceConditionalRenderingFeaturesEXT have_conditional;
	VkPhysicalDeviceShaderClockFeaturesKHR have_clock;
	struct buf *bufs[VK_MAX_OBJECTS];
	unsigned buf_count;
	struct prog *progs[VK_MAX_OBJECTS];
	unsigned prog_count;
};

struct prog_desc {
	const char *shader;
	const VkSpecializationInfo *spec;
	unsigned push;     /* bytes */
	uint32_t subgroup; /* required size, 0: the driver's choice */
	VkDescriptorType types[VK_MAX_BINDINGS]; /* 0: a storage buffer */
	const VkBufferView *views; /* where the types are texel buffers */
	const VkImageView *images; /* where they are storage images, in the general layout */
};

#define VK(call) vk_check((call), #call)
void vk_check(VkResult result, const char *call);

/* False: the device has fewer families that compute than nth + 1. */
bool vk_open(struct vk *vk, unsigned nth, unsigned flags);
void vk_close(struct vk *vk);
void vk_close_device(struct vk *vk); /* all but the instance, which others use too */
bool vk_has_extension(VkPhysicalDevice gpu, const char *name);

struct buf *buf_host(struct vk *vk, VkDeviceSize size);   /* mapped and zeroed */
struct buf *buf_device(struct vk *vk, VkDeviceSize size); /* not mapped, preferably out of the host's sight */
VkDeviceAddress buf_address(struct vk *vk, const struct buf *buf);

/* Bindings 0.. are the buffers given. Owned by vk. */
struct prog *prog_new(struct vk *vk, const struct prog_desc *desc, unsigned count, struct buf *const *bufs);
#define PROG(vk, desc, ...) \
	prog_new(vk, desc, sizeof((struct buf *[]){ __VA_ARGS__ }) / sizeof(struct buf *), (struct buf *[]){ __VA_ARGS__ })

/* The same pipeline again, by way of a cache. */
void prog_recreate(struct vk *vk, struct prog *prog, const char *shader, VkPipelineCache cache);

VkCommandBuffer cb_begin(struct vk *vk);
void cb_bind(VkCommandBuffer cb, const struct prog *prog, const void *push);
void cb_dispatch(VkCommandBuffer cb, const struct prog *prog, const void *push, uint32_t x, uint32_t y, uint32_t z);
void cb_barrier(VkCommandBuffer cb); /* everything before, everything after */
void cb_run(struct vk *vk, VkCommandBuffer cb); /* end, submit, wait */
void run_one(struct vk *vk, const struct prog *prog, const void *push, uint32_t x, uint32_t y, uint32_t z);

#endif
