/* SPDX-License-Identifier: MIT */
/* cases_transfer.c: copies, fills and updates, small and large, aligned and not. Drivers choose packets or shaders by size. */
#include "vksuite.h"

#define BIG (4u << 20)

static void
fill_random(uint8_t *p, size_t bytes, uint64_t seed)
{
	struct rng rng = { seed };

	for (size_t i = 0; i < bytes; i += 4) {
		uint32_t v = rng_u32(&rng);

		memcpy(p + i, &v, 4);
	}
}

static void
expect_bytes(const char *what, const uint8_t *got, const uint8_t *want, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (got[i] != want[i])
			case_fail("%s: byte %zu is %02x, should be %02x", what, i, got[i], want[i]);
}

static const VkBufferCopy pieces[] = {
	{ 0, 0, 4 }, { 16, 32, 16 }, { 3, 71, 1 }, { 5, 82, 2 }, { 101, 103, 3 }, { 129, 131, 61 }, { 257, 514, 4095 },
	{ 8192, 8192, 4096 }, { 16384, 20480, 4100 }, { 40000, 30001, 9999 }, { 65536, 65536, 65540 }, { 200003, 200001, 300007 },
	{ 1048576, 1048576, 1048576 }, { 2500000, 2400000, 1234567 },
};
#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

/* Host -> device -> host, one command per piece or all pieces in one. */
static uint64_t
copy_with(struct vk *vk, bool together)
{
	struct buf *from = buf_host(vk, BIG), *mid = buf_device(vk, BIG), *to = buf_host(vk, BIG);
	VkCommandBuffer cb = cb_begin(vk);
	uint8_t *want = calloc(1, BIG);

	fill_random(from->map, BIG, 60);
	vkCmdFillBuffer(cb, mid->buffer, 0, VK_WHOLE_SIZE, 0x5a5a5a5a);
	cb_barrier(cb);
	if (together)
		vkCmdCopyBuffer(cb, from->buffer, mid->buffer, PIECES, pieces);
	for (unsigned i = 0; i < PIECES && !together; i++)
		vkCmdCopyBuffer(cb, from->buffer, mid->buffer, 1, &pieces[i]);
	cb_barrier(cb);
	vkCmdCopyBuffer(cb, mid->buffer, to->buffer, 1, &(VkBufferCopy){ 0, 0, BIG });
	cb_run(vk, cb);
	memset(want, 0x5a, BIG);
	for (unsigned i = 0; i < PIECES; i++)
		memcpy(want + pieces[i].dstOffset, (uint8_t *)from->map + pieces[i].srcOffset, pieces[i].size);
	expect_bytes("copy", to->map, want, BIG);
	free(want);
	return hash_bytes(HASH_INIT, to->map, BIG);
}

static uint64_t
copy_single(struct vk *vk)
{
	return copy_with(vk, false);
}

static uint64_t
copy_regions(struct vk *vk)
{
	return copy_with(vk, true);
}

/* Within one buffer, and a dispatch on either side of a copy. */
static uint64_t
copy_chain(struct vk *vk)
{
	struct buf *out = buf_host(vk, 8192);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkCommandBuffer cb = cb_begin(vk);
	uint32_t want[2048] = { 0 };

	for (uint32_t i = 0; i < 8; i++) {
		cb_dispatch(cb, prog, (uint32_t[]){ 3, i + 1 }, 4, 1, 1);
		cb_barrier(cb);
		vkCmdCopyBuffer(cb, out->buffer, out->buffer, 1, &(VkBufferCopy){ 0, 1024 + i * 512, 512 });
		vkCmdCopyBuffer(cb, out->buffer, out->buffer, 1, &(VkBufferCopy){ 1020, 7000 + i * 4, 4 });
		cb_barrier(cb);
		for (unsigned k = 0; k < 256; k++)
			want[k] = want[k] * 3 + i + 1;
		memcpy(want + 256 + i * 128, want, 512);
		want[1750 + i] = want[255];
	}
	cb_run(vk, cb);
	expect_u32("r", out->map, want, 2048);
	return hash_bytes(HASH_INIT, out->map, 8192);
}

static const struct {
	VkDeviceSize offset, size;
	uint32_t value;
} fills[] = {
	{ 0, BIG, 0xffffffff }, { 4, 4, 0x01020304 }, { 16, 16, 0xdeadbeef }, { 100, 900, 0x11223344 }, { 2048, 4092, 0x55667788 },
	{ 8192, 4096, 0 }, { 20484, 65540, 0x99aabbcc }, { 131072, 1u << 20, 0x13572468 }, { 2000004, 1999996, 0x24681357 },
};

static uint64_t
fill(struct vk *vk)
{
	struct buf *mid = buf_device(vk, BIG), *to = buf_host(vk, BIG);
	VkCommandBuffer cb = cb_begin(vk);
	uint32_t *want = calloc(1, BIG);

	for (unsigned i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
		vkCmdFillBuffer(cb, mid->buffer, fills[i].offset, fills[i].size, fills[i].value);
		cb_barrier(cb);
		for (VkDeviceSize k = 0; k < fills[i].size / 4; k++)
			want[fills[i].offset / 4 + k] = fills[i].value;
	}
	vkCmdCopyBuffer(cb, mid->buffer, to->buffer, 1, &(VkBufferCopy){ 0, 0, BIG });
	vkCmdFillBuffer(cb, mid->buffer, BIG - 6000, VK_WHOLE_SIZE, 0); /* after the copy: must not show */
	cb_run(vk, cb);
	expect_u32("fill", to->map, want, BIG / 4);
	free(want);
	return hash_bytes(HASH_INIT, to->map, BIG);
}

static uint64_t
update(struct vk *vk)
{
	static const uint32_t sizes[] = { 4, 8, 60, 256, 1020, 1024, 1028, 4096, 16384, 65536 };
	struct buf *mid = buf_device(vk, 1 << 20), *to = buf_host(vk, 1 << 20);
	VkCommandBuffer cb = cb_begin(vk);
	uint8_t *want = calloc(1, 1 << 20);
	VkDeviceSize at = 4;

	vkCmdFillBuffer(cb, mid->buffer, 0, VK_WHOLE_SIZE, 0);
	cb_barrier(cb);
	for (unsigned i = 0; i < sizeof(sizes) / 4; i++) {
		fill_random(want + at, sizes[i], 70 + i);
		vkCmdUpdateBuffer(cb, mid->buffer, at, sizes[i], want + at);
		at += sizes[i] + 12;
	}
	cb_barrier(cb);
	vkCmdCopyBuffer(cb, mid->buffer, to->buffer, 1, &(VkBufferCopy){ 0, 0, 1 << 20 });
	cb_run(vk, cb);
	expect_bytes("update", to->map, want, 1 << 20);
	free(want);
	return hash_bytes(HASH_INIT, to->map, 1 << 20);
}

const struct vkcase cases_transfer[] = {
	{ "copy-single", copy_single, 0 },
	{ "copy-regions", copy_regions, 0 },
	{ "copy-chain", copy_chain, 0 },
	{ "fill", fill, 0 },
	{ "update", update, 0 },
	{ 0 },
};
