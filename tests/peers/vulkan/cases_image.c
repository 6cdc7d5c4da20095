/* SPDX-License-Identifier: MIT */
/* cases_image.c: storage images in linear tiling, written and read by the host through their layout. */
#include "vksuite.h"

enum { W = 37, H = 19, IMAGES = 4 };

struct image {
	VkImage image;
	VkDeviceMemory memory;
	VkImageView view;
	VkSubresourceLayout layout;
	uint8_t *map;
};

static void
check_format(struct vk *vk, VkFormat format, VkFormatFeatureFlags features)
{
	VkFormatProperties props;

	vkGetPhysicalDeviceFormatProperties(vk->gpu, format, &props);
	require((props.linearTilingFeatures & features) == features, "storage images in linear tiling");
}

static uint32_t
visible_type(struct vk *vk, uint32_t bits)
{
	const VkMemoryPropertyFlags want = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

	for (uint32_t i = 0; i < vk->memory.memoryTypeCount; i++)
		if ((bits >> i & 1) && (vk->memory.memoryTypes[i].propertyFlags & want) == want)
			return i;
	case_fail("no memory for an image that the host sees");
}

static void
image_open(struct vk *vk, struct image *image, VkFormat format)
{
	VkImageCreateInfo info = { .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, .imageType = VK_IMAGE_TYPE_2D, .format = format,
		.extent = { W, H, 1 }, .mipLevels = 1, .arrayLayers = 1, .samples = VK_SAMPLE_COUNT_1_BIT,
		.tiling = VK_IMAGE_TILING_LINEAR, .usage = VK_IMAGE_USAGE_STORAGE_BIT, .initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED };
	VkImageSubresource part = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0 };
	VkImageViewCreateInfo view = { .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, .viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = format, .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 } };
	VkMemoryRequirements need;

	VK(vkCreateImage(vk->device, &info, NULL, &image->image));
	vkGetImageMemoryRequirements(vk->device, image->image, &need);
	VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = need.size,
		.memoryTypeIndex = visible_type(vk, need.memoryTypeBits) };
	VK(vkAllocateMemory(vk->device, &alloc, NULL, &image->memory));
	VK(vkBindImageMemory(vk->device, image->image, image->memory, 0));
	view.image = image->image;
	VK(vkCreateImageView(vk->device, &view, NULL, &image->view));
	vkGetImageSubresourceLayout(vk->device, image->image, &part, &image->layout);
	void *map;
	VK(vkMapMemory(vk->device, image->memory, 0, VK_WHOLE_SIZE, 0, &map));
	memset(map, 0, need.size);
	image->map = (uint8_t *)map + image->layout.offset;
}

static void
image_close(struct vk *vk, struct image *image)
{
	vkDestroyImageView(vk->device, image->view, NULL);
	vkDestroyImage(vk->device, image->image, NULL);
	vkFreeMemory(vk->device, image->memory, NULL);
}

static void *
texel(const struct image *image, unsigned x, unsigned y, unsigned bytes)
{
	return image->map + y * image->layout.rowPitch + x * bytes;
}

static void
to_general(VkCommandBuffer cb, const struct image *images)
{
	for (unsigned i = 0; i < IMAGES; i++) {
		VkImageMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_HOST_WRITE_BIT,
			.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
			.oldLayout = VK_IMAGE_LAYOUT_PREINITIALIZED, .newLayout = VK_IMAGE_LAYOUT_GENERAL,
			.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED, .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
			.image = images[i].image, .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 } };

		vkCmdPipelineBarrier(cb, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
	}
}

struct want {
	uint8_t colours[H][W][4], reversed[H][W][4];
	uint16_t halves[H][W][4];
	uint32_t counts[H][W];
};

/* The host's input goes to the images, what should be there afterwards to want. */
static void
prepare(const struct image *images, struct want *want)
{
	struct rng rng = { 50 };

	for (unsigned y = 0; y < H; y++)
		for (unsigned x = 0; x < W; x++) {
			uint32_t colour = rng_u32(&rng);
			uint64_t four = (rng_u64(&rng) & 0x83ff83ff83ff83ff) | 0x3000300030003000; /* normal halves */
			uint8_t c[4];
			uint16_t h[4];

			memcpy(texel(&images[0], x, y, 4), memcpy(c, &colour, 4), 4);
			memcpy(texel(&images[2], x, y, 8), memcpy(h, &four, 8), 8);
			for (unsigned i = 0; i < 4; i++) {
				want->colours[y][x][i] = c[(i + 3) % 4];
				want->halves[y][x][i] = h[3 - i] + 0x400; /* one more in the exponent doubles */
				want->reversed[y][x][i] = i == 3 ? 255 : c[2 - i]; /* blue first in memory */
			}
			want->counts[y][x / 4] += 1 + c[1];
		}
	for (unsigned y = 0; y < H; y++)
		want->counts[y][W - 1] = W - 1;
}

static uint64_t
compare(const struct image *image, const char *what, const void *want, unsigned bytes, uint64_t hash)
{
	for (unsigned y = 0; y < H; y++) {
		expect_u32(what, texel(image, 0, y, bytes), (const uint32_t *)((const uint8_t *)want + y * W * bytes), W * bytes / 4);
		hash = hash_bytes(hash, texel(image, 0, y, bytes), W * bytes);
	}
	return hash;
}

static uint64_t
linear(struct vk *vk)
{
	static const VkFormat formats[IMAGES] = { VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_UINT, VK_FORMAT_R16G16B16A16_SFLOAT,
		VK_FORMAT_B8G8R8A8_UNORM };
	struct image images[IMAGES];
	VkImageView views[IMAGES];
	static struct want want;
	struct prog_desc desc = { .shader = "image", .images = views };
	struct buf *none = buf_host(vk, 4);

	require(vk->have.features.shaderStorageImageWriteWithoutFormat, "stores to images without a format");
	for (unsigned i = 0; i < IMAGES; i++)
		check_format(vk, formats[i], VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT | (i == 1 ? VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT : 0));
	for (unsigned i = 0; i < IMAGES; i++) {
		image_open(vk, &images[i], formats[i]);
		views[i] = images[i].view;
		desc.types[i] = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
	}
	prepare(images, &want);
	struct prog *prog = PROG(vk, &desc, none, none, none, none);
	VkCommandBuffer cb = cb_begin(vk);
	to_general(cb, images);
	cb_dispatch(cb, prog, NULL, (W + 7) / 8, (H + 7) / 8, 1);
	cb_barrier(cb);
	cb_run(vk, cb);
	uint64_t hash = compare(&images[0], "colours", want.colours, 4, HASH_INIT);
	hash = compare(&images[1], "counts", want.counts, 4, hash);
	hash = compare(&images[2], "halves", want.halves, 8, hash);
	hash = compare(&images[3], "reversed", want.reversed, 4, hash);
	for (unsigned i = 0; i < IMAGES; i++)
		image_close(vk, &images[i]);
	return hash;
}

const struct vkcase cases_image[] = {
	{ "linear-images", linear, 0 },
	{ 0 },
};
