/* SPDX-License-Identifier: MIT */
/* cases_query.c: timestamps, statistics, the shader's clock. Times differ, so hashes are of what must hold of them. */
#include "vksuite.h"

static VkQueryPool
pool_new(struct vk *vk, VkQueryType type, uint32_t count, VkQueryPipelineStatisticFlags statistics)
{
	VkQueryPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = type, .queryCount = count,
		.pipelineStatistics = statistics };
	VkQueryPool pool;

	VK(vkCreateQueryPool(vk->device, &info, NULL, &pool));
	return pool;
}

static uint64_t
check_times(const uint64_t *t, unsigned n, uint64_t mask)
{
	for (unsigned i = 0; i < n; i++) {
		if (!t[i * 2 + 1])
			case_fail("timestamp %u is not available", i);
		if (t[i * 2] & ~mask)
			case_fail("timestamp %u has bits beyond timestampValidBits", i);
		if (i && t[i * 2] < t[i * 2 - 2])
			case_fail("timestamp %u went back by %llu", i, (unsigned long long)(t[i * 2 - 2] - t[i * 2]));
	}
	if (t[n * 2 - 2] == t[0])
		case_fail("time stands still");
	return hash_bytes(HASH_INIT, &n, sizeof(n));
}

/* Around dispatches, at top and bottom of the pipe; results by the host and by a copy on the GPU. */
static uint64_t
timestamps(struct vk *vk)
{
	enum { N = 6 };
	const VkQueryResultFlags flags = VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT | VK_QUERY_RESULT_WAIT_BIT;
	struct buf *out = buf_host(vk, 64 * 4), *copied = buf_host(vk, N * 16);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	uint64_t t[N * 2], mask = vk->timestamp_bits == 64 ? UINT64_MAX : (1ull << vk->timestamp_bits) - 1, hash;
	VkQueryPool pool = pool_new(vk, VK_QUERY_TYPE_TIMESTAMP, N, 0);
	VkCommandBuffer cb;

	require(vk->timestamp_bits != 0, "timestampValidBits");
	cb = cb_begin(vk);
	vkCmdResetQueryPool(cb, pool, 0, N);
	for (unsigned i = 0; i < N; i++) {
		vkCmdWriteTimestamp(cb, i & 1 ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT : VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, i);
		for (unsigned k = 0; k < 20; k++)
			cb_dispatch(cb, prog, (uint32_t[]){ 3, i }, 1, 1, 1);
		cb_barrier(cb);
	}
	vkCmdCopyQueryPoolResults(cb, pool, 0, N, copied->buffer, 0, 16, flags);
	cb_run(vk, cb);
	VK(vkGetQueryPoolResults(vk->device, pool, 0, N, sizeof(t), t, 16, flags));
	hash = check_times(t, N, mask);
	expect_u64("copied results", copied->map, t, N * 2);
	vkDestroyQueryPool(vk->device, pool, NULL);
	return hash;
}

static uint64_t
host_reset(struct vk *vk)
{
	VkQueryPool pool = pool_new(vk, VK_QUERY_TYPE_TIMESTAMP, 3, 0);
	VkCommandBuffer cb = cb_begin(vk);
	uint64_t t[3] = { 7, 7, 7 };
	VkResult result;

	require(vk->have12.hostQueryReset && vk->timestamp_bits, "hostQueryReset");
	vkResetQueryPool(vk->device, pool, 0, 3);
	result = vkGetQueryPoolResults(vk->device, pool, 0, 3, sizeof(t), t, 8, VK_QUERY_RESULT_64_BIT);
	if (result != VK_NOT_READY)
		case_fail("results of a reset pool = %d", result);
	vkCmdWriteTimestamp(cb, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, pool, 1);
	cb_run(vk, cb);
	VK(vkGetQueryPoolResults(vk->device, pool, 1, 1, 8, t + 1, 8, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
	result = vkGetQueryPoolResults(vk->device, pool, 2, 1, 8, t + 2, 8, VK_QUERY_RESULT_64_BIT);
	if (result != VK_NOT_READY || t[1] == 7)
		case_fail("after one timestamp: query 2 = %d", result);
	vkDestroyQueryPool(vk->device, pool, NULL);
	return HASH_INIT;
}

static uint64_t
statistics(struct vk *vk)
{
	struct buf *out = buf_host(vk, 64 * 4 * 10);
	struct prog *prog = PROG(vk, (&(struct prog_desc){ .shader = "add_one", .push = 8 }), out);
	uint64_t count = 0;
	VkQueryPool pool;
	VkCommandBuffer cb;

	require(vk->have.features.pipelineStatisticsQuery, "pipelineStatisticsQuery");
	pool = pool_new(vk, VK_QUERY_TYPE_PIPELINE_STATISTICS, 1, VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT);
	cb = cb_begin(vk);
	vkCmdResetQueryPool(cb, pool, 0, 1);
	cb_dispatch(cb, prog, (uint32_t[]){ 3, 1 }, 10, 1, 1);
	cb_barrier(cb);
	vkCmdBeginQuery(cb, pool, 0, 0);
	cb_dispatch(cb, prog, (uint32_t[]){ 3, 1 }, 7, 1, 1);
	cb_dispatch(cb, prog, (uint32_t[]){ 3, 1 }, 3, 1, 1);
	vkCmdEndQuery(cb, pool, 0);
	cb_run(vk, cb);
	VK(vkGetQueryPoolResults(vk->device, pool, 0, 1, 8, &count, 8, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
	expect_u64("compute shader invocations", &count, &(uint64_t){ 640 }, 1);
	vkDestroyQueryPool(vk->device, pool, NULL);
	return hash_bytes(HASH_INIT, &count, 8);
}

static uint64_t
shader_clock(struct vk *vk)
{
	struct buf *out = buf_host(vk, 64 * 16);
	uint32_t (*r)[4] = out->map;

	require(vk->have_clock.shaderSubgroupClock, "shaderSubgroupClock");
	run_one(vk, PROG(vk, (&(struct prog_desc){ .shader = "clock" }), out), NULL, 1, 1, 1);
	for (unsigned i = 0; i < 64; i++)
		if (r[i][3] != 1 || r[i][1] || !r[i][0])
			case_fail("lane %u: %u %u cycles", i, r[i][1], r[i][0]);
	return HASH_INIT;
}

const struct vkcase cases_query[] = {
	{ "timestamps", timestamps, 0 },
	{ "query-host-reset", host_reset, 0 },
	{ "query-statistics", statistics, 0 },
	{ "shader-clock", shader_clock, 0 },
	{ 0 },
};
