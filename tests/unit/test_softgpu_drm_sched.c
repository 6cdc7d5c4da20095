/* SPDX-License-Identifier: MIT */
/* How softgpu's scheduler orders jobs, and what a reset does to jobs that did nothing: drivers/gpu/drm/scheduler and
 * amdgpu_job.c of Linux 6.12 as user space sees them. Each case is a process with its own SOFTGPU_* variables.
 */
#include "softgpu_drm.h"

/* Dwords of the device's memory: streams behind those of softgpu_drm.h, and words they use. */
enum { GATE_2 = 1, COUNT_WORD = 8, ORDER = 1100, IB_GATE_2 = 2048, IB_ORDER = 2176 };
enum { IB_ORDER_DWORDS = 64 };

static void
emit(volatile uint32_t *at, const uint32_t *dwords, size_t n)
{
	for (unsigned i = 0; i < 64; i++)
		at[i] = i < n ? dwords[i] : 0xffff1000;
}

/* Job i of IB_ORDER stores the how-manieth it was, from 0, at ORDER + i. */
static void
order_open(struct gpu *g)
{
	uint64_t count = VA + 4 * COUNT_WORD;
	static const uint32_t gate_2[] = { 0xc0053c00, 0x13, (uint32_t)(VA + 4 * GATE_2), (uint32_t)(VA >> 32), 1, 0xffffffff, 4 };

	gpu_open(g);
	emit(g->mem + IB_GATE_2, gate_2, COUNT(gate_2));
	for (unsigned i = 0; i < 8; i++) {
		uint64_t slot = VA + 4 * (ORDER + i);
		/* ATOMIC_MEM ADD_RTN of 1, then COPY_DATA of what it returned */
		const uint32_t order[] = { 0xc0071e00, 15, (uint32_t)count, (uint32_t)(count >> 32), 1, 0, 0, 0, 0,
					   0xc0044000, 0x00100506, 0, 0, (uint32_t)slot, (uint32_t)(slot >> 32) };
		emit(g->mem + IB_ORDER + i * IB_ORDER_DWORDS, order, COUNT(order));
		g->mem[ORDER + i] = 99;
	}
}

static void
submit_order(struct gpu *g, unsigned i, uint32_t ring)
{
	assert_int_equal(submit(g, IB_ORDER + i * IB_ORDER_DWORDS, ring, 0, NULL, 0, NULL), 0);
}

static void
wait_ring(struct gpu *g, uint32_t ring)
{
	uint64_t status = 1;

	assert_int_equal(wait_cs(g, ring, UINT64_MAX, (uint64_t)FOREVER, &status), 0);
	assert_int_equal(status, 0);
}

static uint32_t
ctx_of_priority(int fd, int32_t priority)
{
	union drm_amdgpu_ctx c = { .in = { .op = AMDGPU_CTX_OP_ALLOC_CTX, .priority = priority } };

	assert_int_equal(drm(fd, DRM_IOCTL_AMDGPU_CTX, &c), 0);
	return c.out.alloc.ctx_id;
}

static uint64_t
query2(struct gpu *g, uint32_t ctx)
{
	union drm_amdgpu_ctx c = { .in = { .op = AMDGPU_CTX_OP_QUERY_STATE2, .ctx_id = ctx } };

	assert_int_equal(drm(g->fd, DRM_IOCTL_AMDGPU_CTX, &c), 0);
	return c.out.state.flags;
}

static uint32_t
query1(struct gpu *g, uint32_t ctx)
{
	union drm_amdgpu_ctx c = { .in = { .op = AMDGPU_CTX_OP_QUERY_STATE, .ctx_id = ctx } };

	assert_int_equal(drm(g->fd, DRM_IOCTL_AMDGPU_CTX, &c), 0);
	return c.out.state.reset_status;
}

/* A job's sync_file. */
static int
submit_file(struct gpu *g, uint32_t ctx, unsigned dword, uint32_t ring)
{
	uint32_t b = syncobj(g->fd, 0);

	g->ctx = ctx;
	assert_int_equal(submit_out(g, dword, ring, b), 0);
	return sync_file(g->fd, b);
}

/* Its status once it has signaled: 1, or -errno. */
static int
file_status(int file)
{
	struct pollfd p = { file, POLLIN, 0 };

	assert_int_equal(poll(&p, 1, 30000), 1);
	int status = sync_status(file, 1);
	close(file);
	return status;
}

static void
sleep_ms(unsigned ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000l }, NULL);
}

/* ---- order ---- */

/* One ring: two jobs are on it, the others wait for a place, those of a better priority first; a context keeps its
 * own order. */
static void
child_priorities(void)
{
	struct gpu g;

	order_open(&g);
	uint32_t normal = g.ctx, low = ctx_of_priority(g.fd, AMDGPU_CTX_PRIORITY_LOW);
	uint32_t raised = ctx_of_priority(g.fd, AMDGPU_CTX_PRIORITY_LOW);
	/* The DRM master raises a stranger's context. */
	int master = open(primary, O_RDWR | O_CLOEXEC);
	assert_true(master >= 0);
	union drm_amdgpu_sched s = { .in = { .op = AMDGPU_SCHED_OP_CONTEXT_PRIORITY_OVERRIDE, .fd = (uint32_t)g.fd,
					     .priority = AMDGPU_CTX_PRIORITY_HIGH, .ctx_id = raised } };
	assert_int_equal(drm(master, DRM_IOCTL_AMDGPU_SCHED, &s), 0);
	assert_int_equal(drm(g.fd, DRM_IOCTL_AMDGPU_SCHED, &s), -EACCES);

	assert_int_equal(submit(&g, IB_GATE, 0, 0, NULL, 0, NULL), 0);
	submit_order(&g, 0, 0); /* on the ring already */
	g.ctx = low;
	submit_order(&g, 1, 0);
	submit_order(&g, 2, 0);
	g.ctx = normal;
	submit_order(&g, 3, 0);
	g.ctx = raised;
	submit_order(&g, 4, 0);
	submit_order(&g, 5, 0);
	sleep_ms(20);
	assert_int_equal(counter("jobs_in_flight"), 2); /* hardware depth */
	g.mem[0] = 1;
	g.ctx = low;
	wait_ring(&g, 0);
	/* All of the raised context, then the normal one's, then the low one's. */
	static const uint32_t want[] = { 0, 4, 5, 3, 1, 2 };
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(g.mem[ORDER + i], want[i]);
	close(master);
	gpu_close(&g);
}

/* Rings do not wait for each other; on one ring, contexts of one priority take turns in the order they came. */
static void
child_rings(void)
{
	struct gpu g;

	order_open(&g);
	assert_int_equal(submit(&g, IB_GATE, 0, 0, NULL, 0, NULL), 0);
	submit_order(&g, 0, 0);
	for (unsigned i = 1; i < 4; i++)
		submit_order(&g, i, i);
	for (unsigned i = 1; i < 4; i++)
		wait_ring(&g, i);
	assert_int_equal(g.mem[ORDER], 99);
	g.mem[0] = 1;
	wait_ring(&g, 0);
	assert_int_equal(g.mem[ORDER], 3);
	gpu_close(&g);
}

/* ---- what happens to others ---- */

/* A full reset: what is on any ring ends with it, innocent or not; what still waits in software runs. */
static void
child_innocents(void)
{
	struct gpu g;
	uint64_t seq, status;

	order_open(&g);
	uint32_t guilty = g.ctx, behind = ctx_create(g.fd), queued = ctx_create(g.fd), elsewhere = ctx_create(g.fd),
		 dependent = ctx_create(g.fd);
	int hung = submit_file(&g, guilty, IB_GATE, 0);
	assert_int_equal(wait_cs(&g, 0, UINT64_MAX, 0, &status), 0);
	int hung_behind = submit_file(&g, behind, IB_ORDER, 0);			/* second on the ring */
	int in_software = submit_file(&g, queued, IB_ORDER + IB_ORDER_DWORDS, 0); /* third: not on it */
	struct drm_amdgpu_cs_chunk_dep dep = { AMDGPU_HW_IP_COMPUTE, 0, 0, guilty, 1 };
	g.ctx = dependent;
	assert_int_equal(submit(&g, IB_ORDER + 2 * IB_ORDER_DWORDS, 2, AMDGPU_CHUNK_ID_DEPENDENCIES, &dep, sizeof(dep), &seq), 0);
	sleep_ms(600);
	int64_t before = now();
	int running = submit_file(&g, elsewhere, IB_GATE_2, 1); /* runs on another ring when the reset comes */

	assert_int_equal(file_status(hung), -ECANCELED);
	assert_int_equal(file_status(hung_behind), -ECANCELED);
	assert_int_equal(file_status(running), -ECANCELED);
	assert_true(now() - before < 900000000); /* stopped, not waited for */
	assert_int_equal(file_status(in_software), 1);
	g.ctx = dependent;
	wait_ring(&g, 2); /* an error is not handed on to those that depend */
	assert_int_equal(g.mem[ORDER] == 99 && g.mem[ORDER + 1] != 99 && g.mem[ORDER + 2] != 99, 1);

	assert_int_equal(query2(&g, guilty), AMDGPU_CTX_QUERY2_FLAGS_RESET | AMDGPU_CTX_QUERY2_FLAGS_GUILTY);
	uint32_t innocent[] = { behind, queued, elsewhere, dependent };
	for (unsigned i = 0; i < COUNT(innocent); i++)
		assert_int_equal(query2(&g, innocent[i]), AMDGPU_CTX_QUERY2_FLAGS_RESET);
	/* The old call tells it once. */
	assert_int_equal(query1(&g, behind), AMDGPU_CTX_UNKNOWN_RESET);
	assert_int_equal(query1(&g, behind), AMDGPU_CTX_NO_RESET);
	assert_int_equal(query2(&g, behind), AMDGPU_CTX_QUERY2_FLAGS_RESET);
	/* An innocent's entity that had a job on a ring is over, its others are not. */
	g.ctx = behind;
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), -ECANCELED);
	assert_int_equal(submit(&g, IB_NOP, 1, 0, NULL, 0, NULL), 0);
	g.ctx = queued;
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	g.ctx = guilty;
	assert_int_equal(submit(&g, IB_NOP, 3, 0, NULL, 0, NULL), -ECANCELED);
	gpu_close(&g);
}

/* A context's own jobs behind the hung one never run, and their user fences are not written. */
static void
child_queue(void)
{
	struct gpu g;
	uint32_t page;
	int files[5];

	order_open(&g);
	assert_int_equal(gem_create(g.fd, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &page), 0);
	volatile uint64_t *word = gem_map(g.fd, page, PAGE);
	struct drm_amdgpu_cs_chunk_fence fence = { page, 0 };
	assert_int_equal(submit(&g, IB_GATE, 0, AMDGPU_CHUNK_ID_FENCE, &fence, sizeof(fence), NULL), 0);
	for (unsigned i = 0; i < COUNT(files); i++)
		files[i] = submit_file(&g, g.ctx, IB_ORDER + i * IB_ORDER_DWORDS, 0);
	for (unsigned i = 0; i < COUNT(files); i++) {
		assert_int_equal(file_status(files[i]), -ECANCELED);
		assert_int_equal(g.mem[ORDER + i], 99);
	}
	assert_int_equal(word[0], 0);
	munmap((void *)(uintptr_t)word, PAGE);
	gpu_close(&g);
}

/* Soft recovery kills the hung job's waves and nothing else: its fence packets run, so do the jobs behind. */
static void
child_soft(void)
{
	struct gpu g;
	uint32_t page;

	order_open(&g);
	uint32_t other = ctx_create(g.fd), first = g.ctx;
	assert_int_equal(gem_create(g.fd, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &page), 0);
	volatile uint64_t *word = gem_map(g.fd, page, PAGE);
	struct drm_amdgpu_cs_chunk_fence fence = { page, 0 };
	assert_int_equal(submit(&g, IB_GATE, 0, AMDGPU_CHUNK_ID_FENCE, &fence, sizeof(fence), NULL), 0);
	int same_entity = submit_file(&g, first, IB_ORDER, 0);
	int behind = submit_file(&g, other, IB_ORDER + IB_ORDER_DWORDS, 0);
	assert_int_equal(file_status(behind), 1);
	assert_int_equal(g.mem[ORDER + 1] != 99, 1);
	assert_int_equal(word[0], 1);
	/* It was on the ring beside the hung one and did not hang itself. */
	assert_int_equal(file_status(same_entity), 1);
	assert_int_equal(query2(&g, first), AMDGPU_CTX_QUERY2_FLAGS_RESET);
	assert_int_equal(query2(&g, other), AMDGPU_CTX_QUERY2_FLAGS_RESET);
	munmap((void *)(uintptr_t)word, PAGE);
	gpu_close(&g);
}

/* A ring's reset takes the ring's jobs along and leaves the other rings alone. */
static void
child_ring(void)
{
	struct gpu g;

	order_open(&g);
	uint32_t elsewhere = ctx_create(g.fd), first = g.ctx;
	int hung = submit_file(&g, first, IB_GATE, 0);
	sleep_ms(500);
	int running = submit_file(&g, elsewhere, IB_GATE_2, 1);
	assert_int_equal(file_status(hung), -ECANCELED);
	g.mem[GATE_2] = 1;
	assert_int_equal(file_status(running), 1);
	assert_int_equal(query2(&g, first), AMDGPU_CTX_QUERY2_FLAGS_RESET); /* nobody is guilty */
	g.ctx = first;
	assert_int_equal(submit(&g, IB_NOP, 0, 0, NULL, 0, NULL), -ECANCELED);
	assert_int_equal(submit(&g, IB_NOP, 1, 0, NULL, 0, NULL), 0);
	gpu_close(&g);
}

/* With VRAM lost what waits in software ends too; GTT keeps its contents, new contexts work. */
static void
child_lost(void)
{
	struct gpu g;

	order_open(&g);
	uint32_t guilty = g.ctx, behind = ctx_create(g.fd), queued = ctx_create(g.fd);
	int hung = submit_file(&g, guilty, IB_GATE, 0);
	int second = submit_file(&g, behind, IB_ORDER, 0);
	int in_software = submit_file(&g, queued, IB_ORDER, 0);
	assert_int_equal(file_status(hung), -ECANCELED);
	assert_int_equal(file_status(second), -ECANCELED);
	assert_int_equal(file_status(in_software), -ECANCELED);
	assert_int_equal(g.mem[ORDER], 99);
	g.ctx = ctx_create(g.fd);
	submit_order(&g, 0, 0);
	wait_ring(&g, 0);
	assert_int_equal(g.mem[ORDER], 0); /* the stream, in GTT, is still there */
	gpu_close(&g);
}

/* ---- time ---- */

/* A hang ends when the timeout says, an illegal packet at once. */
static void
child_timeout(void)
{
	struct gpu g;

	order_open(&g);
	int64_t begin = now();
	assert_int_equal(file_status(submit_file(&g, g.ctx, IB_ILLEGAL, 0)), -ECANCELED);
	assert_true(now() - begin < 700000000);
	begin = now();
	assert_int_equal(file_status(submit_file(&g, ctx_create(g.fd), IB_GATE, 0)), -ECANCELED);
	assert_true(now() - begin >= 990000000);
	gpu_close(&g);
}

/* A job's time begins when the one before it is over. */
static void
child_restart(void)
{
	struct gpu g;

	order_open(&g);
	int first = submit_file(&g, g.ctx, IB_GATE, 0);
	int second = submit_file(&g, g.ctx, IB_GATE_2, 0);
	sleep_ms(1000);
	g.mem[0] = 1;
	sleep_ms(1000);
	g.mem[GATE_2] = 1;
	assert_int_equal(file_status(first), 1);
	assert_int_equal(file_status(second), 1);
	gpu_close(&g);
}

static const struct child children[] = {
	{ "priorities", child_priorities, { NULL } },
	{ "rings", child_rings, { NULL } },
	{ "innocents", child_innocents, { "SOFTGPU_RECOVERY=full", "SOFTGPU_LOCKUP_TIMEOUT_MS=1000" } },
	{ "queue", child_queue, { "SOFTGPU_RECOVERY=full", "SOFTGPU_LOCKUP_TIMEOUT_MS=200" } },
	{ "soft", child_soft, { "SOFTGPU_RECOVERY=soft", "SOFTGPU_LOCKUP_TIMEOUT_MS=200" } },
	{ "ring", child_ring, { "SOFTGPU_RECOVERY=ring", "SOFTGPU_LOCKUP_TIMEOUT_MS=1000" } },
	{ "lost", child_lost, { "SOFTGPU_VRAM_LOST=1", "SOFTGPU_LOCKUP_TIMEOUT_MS=200" } },
	{ "timeout", child_timeout, { "SOFTGPU_RECOVERY=full", "SOFTGPU_LOCKUP_TIMEOUT_MS=1000" } },
	{ "restart", child_restart, { "SOFTGPU_LOCKUP_TIMEOUT_MS=1500" } },
};

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CHILD("sched_priorities", 0), CHILD("sched_rings", 1), CHILD("reset_innocents", 2),
		CHILD("reset_own_queue", 3), CHILD("soft_recovery", 4), CHILD("ring_reset", 5),
		CHILD("reset_vram_lost", 6), CHILD("timeout", 7), CHILD("timeout_restarts", 8),
	};
	int status = begin(argc, argv, children, COUNT(children));

	return status >= 0 ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
