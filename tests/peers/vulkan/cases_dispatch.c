/* SPDX-License-Identifier: MIT */
/* cases_dispatch.c: shapes of grids, indirect arguments, specialization, long and nested command buffers, predication. */
#include "vksuite.h"

static uint64_t
hash_buf(const struct buf *buf)
{
	return hash_bytes(HASH_INIT, buf->map, buf->size);
}

/* ---- grids ---- */

static uint64_t
groups_3d(struct vk *vk)
{
	enum { X = 13, Y = 7, Z = 4, N = X * 5 * Y * 3 * Z * 7 };
	struct buf *out = buf_host(vk, N * 4);
	static uint32_t want[N];

	for (uint32_t z = 0; z < Z * 7; z++)
		for (uint32_t y = 0; y < Y * 3; y++)
			for (uint32_t x = 0; x < X * 5; x++)
				want[(z * Y * 3 + y) * X * 5 + x] =
					x / 5 | y / 3 << 8 | z / 7 << 16 | ((z % 7 * 3 + y % 3) * 5 + x % 5) << 24;
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "groups" }), out), NULL, X, Y, Z);
	expect_u32("r", out->map, want, N);
	return hash_buf(out);
}

static uint64_t
groups_many(struct vk *vk)
{
	enum { X = 65535 };
	struct buf *one = buf_host(vk, X * 4), *two = buf_host(vk, 300 * 200 * 4);
	struct prog *a = PROG(vk, (&(struct prog_desc){ .shader = "count", .push = 4 }), one);
	struct prog *b = PROG(vk, (&(struct prog_desc){ .shader = "count", .push = 4 }), two);
	static uint32_t want[X];
	VkCommandBuffer cb = cb_begin(vk);
	uint32_t stride = 3;

	for (uint32_t i = 0; i < X; i++)
		want[i] = i * stride + 1;
	cb_dispatch(cb, a, &stride, X, 1, 1);
	cb_dispatch(cb, b, &stride, 300, 200, 1);
	cb_dispatch(cb, b, &stride, 0, 200, 1); /* nothing */
	cb_run(vk, cb);
	expect_u32("one row", one->map, want, X);
	expect_u32("many rows", two->map, want, 300 * 200);
	return hash_buf(one) ^ hash_buf(two);
}

static uint64_t
dispatch_base(struct vk *vk)
{
	struct buf *out = buf_host(vk, 256 * 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "base" }), out);
	VkCommandBuffer cb = cb_begin(vk);
	static uint32_t want[256 * 64];

	for (uint32_t y = 0; y < 64; y++)
		for (uint32_t x = 0; x < 256; x++) {
			uint32_t gx = x / 8, gy = y / 2;

			if (gx >= 3 && gx < 10 && gy >= 5 && gy < 9)
				want[y * 256 + x] += gx * 16 + gy + 1;
			if (gx < 2 && gy < 2)
				want[y * 256 + x] += gx * 16 + gy + 1;
		}
	cb_bind(cb, prog, NULL);
	vkCmdDispatchBase(cb, 3, 5, 0, 7, 4, 1);
	vkCmdDispatch(cb, 2, 2, 1);
	cb_run(vk, cb);
	expect_u32("r", out->map, want, 256 * 64);
	return hash_buf(out);
}

/* ---- indirect ---- */

static uint64_t
indirect(struct vk *vk)
{
	struct buf *args = buf_device(vk, 4096), *out = buf_host(vk, 1024 * 4), *host_args = buf_host(vk, 64);
	struct prog *make = PROG(vk, (&(struct prog_desc){ .shader = "make_args", .push = 16 }), args);
	struct prog *count = PROG(vk, (&(struct prog_desc){ .shader = "count", .push = 4 }), out);
	const uint32_t by_gpu[4] = { 25, 17, 11, 1 }, by_host[3] = { 500, 2, 1 }, nothing[4] = { 40, 0, 8, 1 };
	VkCommandBuffer cb = cb_begin(vk);
	uint32_t stride = 5, want[1024] = { 0 };

	memcpy((uint8_t *)host_args->map + 20, by_host, 12);
	cb_dispatch(cb, make, by_gpu, 1, 1, 1);
	cb_dispatch(cb, make, nothing, 1, 1, 1);
	cb_barrier(cb);
	cb_bind(cb, count, &stride);
	vkCmdDispatchIndirect(cb, args->buffer, 100);
	cb_barrier(cb);
	vkCmdDispatchIndirect(cb, host_args->buffer, 20);
	cb_barrier(cb);
	vkCmdDispatchIndirect(cb, args->buffer, 160);
	cb_run(vk, cb);
	for (uint32_t i = 0; i < 1000; i++)
		want[i] = (i < 17 * 11 ? 2 : 1) * (i * stride + 1);
	expect_u32("r", out->map, want, 1024);
	return hash_buf(out);
}

/* gl_NumWorkGroups of an indirect dispatch comes out of memory. */
static uint64_t
indirect_3d(struct vk *vk)
{
	enum { N = 3 * 5 * 2 * 3 * 2 * 7 };
	struct buf *args = buf_host(vk, 12), *out = buf_host(vk, N * 4), *direct = buf_host(vk, N * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "groups" }), out);
	VkCommandBuffer cb = cb_begin(vk);

	memcpy(args->map, (uint32_t[]){ 3, 2, 2 }, 12);
	cb_bind(cb, prog, NULL);
	vkCmdDispatchIndirect(cb, args->buffer, 0);
	cb_run(vk, cb);
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "groups" }), direct), NULL, 3, 2, 2);
	expect_u32("r", out->map, direct->map, N);
	return hash_buf(out);
}

/* ---- specialization ---- */

struct spec {
	uint32_t x, y, size, flag;
	float scale;
	int32_t offset;
};

static uint64_t
spec_one(struct vk *vk, const struct spec *s, uint64_t hash)
{
	VkSpecializationMapEntry entries[6];
	VkSpecializationInfo info = { 6, entries, sizeof(*s), s };
	uint32_t n = s->x * s->y, want[4 * 1024];
	struct buf *out = buf_host(vk, n * 4 * 4);

	for (uint32_t i = 0; i < 6; i++)
		entries[i] = (VkSpecializationMapEntry){ i, i * 4, 4 };
	for (uint32_t i = 0; i < n * 4; i++) {
		uint32_t l = i % n;

		want[i] = l * 11 % s->size * 3 + (s->flag ? 1000 : 0) + (uint32_t)((float)l * s->scale) + (uint32_t)s->offset + n * 65536;
	}
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "spec", .spec = &info }), out), NULL, 4, 1, 1);
	expect_u32("r", out->map, want, n * 4);
	return hash_bytes(hash, out->map, out->size);
}

static uint64_t
specialization(struct vk *vk)
{
	const struct spec list[] = { { 64, 1, 100, 1, 0.5f, 7 }, { 1, 1, 3, 0, 2, -5 }, { 24, 5, 2000, 1, 3, 0 }, { 32, 32, 8000, 0, 1, 1 } };
	uint64_t hash = HASH_INIT;

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		hash = spec_one(vk, &list[i], hash);
	return hash;
}

/* ---- many dispatches ---- */

static void
life_step(const uint32_t *from, uint32_t *to, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = from[i], l = from[(i + n - 1) % n], r = from[(i + 1) % n];

		to[i] = (c << 1 | l >> 31) ^ (c | (c >> 1 | r << 31));
	}
}

static uint64_t
barriers(struct vk *vk)
{
	enum { N = 512, STEPS = 101 };
	struct buf *a = buf_host(vk, N * 4), *b = buf_host(vk, N * 4);
	struct prog *forth = PROG(vk, (&(struct prog_desc){ .shader = "life", .push = 4 }), a, b);
	struct prog *back = PROG(vk, (&(struct prog_desc){ .shader = "life", .push = 4 }), b, a);
	VkCommandBuffer cb = cb_begin(vk);
	uint32_t n = N, state[2][N];
	struct rng rng = { 50 };

	for (uint32_t i = 0; i < N; i++)
		((uint32_t *)a->map)[i] = state[0][i] = rng_u32(&rng);
	for (unsigned s = 0; s < STEPS; s++) {
		cb_dispatch(cb, s & 1 ? back : forth, &n, N / 64, 1, 1);
		cb_barrier(cb);
		life_step(state[s & 1], state[1 - (s & 1)], N);
	}
	cb_run(vk, cb);
	expect_u32("state", b->map, state[STEPS & 1], N);
	return hash_buf(b);
}

/* Thousands of packets: more than one indirect buffer holds. */
static uint64_t
long_commands(struct vk *vk)
{
	enum { N = 3000 };
	struct buf *out = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkCommandBuffer cb = cb_begin(vk);
	uint32_t want[64], v = 0;

	for (uint32_t i = 0; i < N; i++) {
		cb_dispatch(cb, prog, (uint32_t[]){ 3, i }, 1, 1, 1);
		cb_barrier(cb);
		v = v * 3 + i;
	}
	cb_run(vk, cb);
	for (unsigned i = 0; i < 64; i++)
		want[i] = v;
	expect_u32("r", out->map, want, 64);
	return hash_buf(out);
}

static VkCommandBuffer
secondary(struct vk *vk, const struct prog *prog, uint32_t mul, uint32_t add)
{
	VkCommandBufferInheritanceInfo inherit = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO };
	VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .pInheritanceInfo = &inherit,
		.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT };
	VkCommandBufferAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = vk->pool,
		.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY, .commandBufferCount = 1 };
	VkCommandBuffer cb;

	VK(vkAllocateCommandBuffers(vk->device, &alloc, &cb));
	VK(vkBeginCommandBuffer(cb, &begin));
	cb_dispatch(cb, prog, (uint32_t[]){ mul, add }, 1, 1, 1);
	cb_barrier(cb);
	VK(vkEndCommandBuffer(cb));
	return cb;
}

static uint64_t
secondary_commands(struct vk *vk)
{
	struct buf *out = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkCommandBuffer parts[2] = { secondary(vk, prog, 5, 1), secondary(vk, prog, 1, 100) }, cb = cb_begin(vk);
	uint32_t want[64], v = 0;

	for (unsigned i = 0; i < 6; i++) {
		vkCmdExecuteCommands(cb, 2, parts);
		cb_dispatch(cb, prog, (uint32_t[]){ 2, i }, 1, 1, 1);
		cb_barrier(cb);
		v = ((v * 5 + 1) + 100) * 2 + i;
	}
	cb_run(vk, cb);
	for (unsigned i = 0; i < 64; i++)
		want[i] = v;
	expect_u32("r", out->map, want, 64);
	return hash_buf(out);
}

/* The same command buffer again and again. */
static uint64_t
resubmit(struct vk *vk)
{
	struct buf *out = buf_host(vk, 64 * 4);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkCommandBuffer cb = cb_begin(vk);
	VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cb };
	uint32_t v = 0;

	cb_dispatch(cb, prog, (uint32_t[]){ 7, 3 }, 1, 1, 1);
	VK(vkEndCommandBuffer(cb));
	for (unsigned i = 0; i < 40; i++) {
		VK(vkQueueSubmit(vk->queue, 1, &submit, VK_NULL_HANDLE));
		VK(vkQueueWaitIdle(vk->queue));
		v = v * 7 + 3;
	}
	expect_u32("r", out->map, &v, 1);
	return hash_buf(out);
}

/* ---- conditional rendering ---- */

static void
conditional_add(struct vk *vk, VkCommandBuffer cb, const struct buf *when, unsigned word, bool inverted, uint32_t add)
{
	PFN_vkCmdBeginConditionalRenderingEXT begin =
		(PFN_vkCmdBeginConditionalRenderingEXT)vkGetDeviceProcAddr(vk->device, "vkCmdBeginConditionalRenderingEXT");
	PFN_vkCmdEndConditionalRenderingEXT end =
		(PFN_vkCmdEndConditionalRenderingEXT)vkGetDeviceProcAddr(vk->device, "vkCmdEndConditionalRenderingEXT");
	VkConditionalRenderingBeginInfoEXT info = { .sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT,
		.buffer = when->buffer, .offset = word * 4,
		.flags = inverted ? VK_CONDITIONAL_RENDERING_INVERTED_BIT_EXT : 0 };

	begin(cb, &info);
	vkCmdPushConstants(cb, ((struct prog *)vk->progs[0])->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, (uint32_t[]){ 2, add });
	vkCmdDispatch(cb, 1, 1, 1);
	end(cb);
	cb_barrier(cb);
}

static uint64_t
conditional(struct vk *vk)
{
	struct buf *out = buf_host(vk, 64 * 4), *when = buf_host(vk, 32);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	VkCommandBuffer cb = cb_begin(vk);
	uint32_t want = 0;

	require(vk->have_conditional.conditionalRendering, "conditionalRendering");
	memcpy(when->map, (uint32_t[]){ 0, 1, 0, 0x100, 0 }, 20);
	cb_bind(cb, prog, (uint32_t[]){ 1, 0 });
	for (unsigned word = 0; word < 5; word++)
		for (unsigned inverted = 0; inverted < 2; inverted++) {
			conditional_add(vk, cb, when, word, inverted, word * 2 + inverted + 1);
			if ((word & 1) != inverted)
				want = want * 2 + word * 2 + inverted + 1;
		}
	cb_run(vk, cb);
	expect_u32("r", out->map, &want, 1);
	return hash_buf(out);
}

const struct vkcase cases_dispatch[] = {
	{ "groups-3d", groups_3d, 0 },
	{ "groups-many", groups_many, 0 },
	{ "dispatch-base", dispatch_base, 0 },
	{ "indirect", indirect, 0 },
	{ "indirect-3d", indirect_3d, 0 },
	{ "specialization", specialization, 0 },
	{ "barriers", barriers, 0 },
	{ "long-commands", long_commands, 0 },
	{ "secondary-commands", secondary_commands, 0 },
	{ "resubmit", resubmit, 0 },
	{ "conditional", conditional, 0 },
	{ 0 },
};
