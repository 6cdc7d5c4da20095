/* SPDX-License-Identifier: MIT */
/* SOFTGPU_EXECUTE=0: every way of waiting sees a submission done when the call returns, and nothing has run.
 *
 * With --count WAY N it makes N submissions of one kind and ends, for check_softgpu_cost.sh to count instructions.
 */
#include "softgpu_drm.h"

enum way { WAY_IB, WAY_FENCE, WAY_SYNCOBJ, WAY_TIMELINE, WAY_EVENTFD, WAYS };
static const char *const way_names[WAYS] = { "ib", "fence", "syncobj", "timeline", "eventfd" };

/* One submission, IB and one chunk, with everything that a caller can keep. */
struct lane {
	struct gpu g;
	uint32_t page, binary, timeline;
	volatile uint64_t *fence;
	int event;
	struct drm_amdgpu_cs_chunk_ib ib;
	struct drm_amdgpu_cs_chunk_fence user;
	struct drm_amdgpu_cs_chunk_syncobj point;
	struct chunks chunks[WAYS];
};

/* RELEASE_MEM of 0x1122334455667788 to `va`; data: its DATA_SEL. */
static void
write_release(struct gpu *g, unsigned dword, uint64_t va, uint32_t data)
{
	const uint32_t packet[8] = { 0xc0064900, 0x528, data << 29, (uint32_t)va, (uint32_t)(va >> 32), 0x55667788, 0x11223344, 0 };

	for (unsigned i = 0; i < 8; i++)
		g->mem[dword + i] = packet[i];
}

static void
lane_open(struct lane *l)
{
	memset(l, 0, sizeof(*l));
	gpu_open(&l->g);
	assert_int_equal(gem_create(l->g.fd, PAGE, AMDGPU_GEM_DOMAIN_GTT, 0, &l->page), 0);
	l->fence = gem_map(l->g.fd, l->page, PAGE);
	l->binary = syncobj(l->g.fd, 0);
	l->timeline = syncobj(l->g.fd, 0);
	l->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	/* Waits for ever if it runs; ends as streams do, with a RELEASE_MEM. */
	write_release(&l->g, IB_GATE + 64 - 8, VA + WORD * 4, 2);
	l->ib = ib_at(IB_GATE, 0);
	l->user = (struct drm_amdgpu_cs_chunk_fence){ l->page, 8 };
	l->point = (struct drm_amdgpu_cs_chunk_syncobj){ l->timeline, 0, 0 };
	for (int w = 0; w < WAYS; w++)
		add_chunk(&l->chunks[w], AMDGPU_CHUNK_ID_IB, &l->ib, sizeof(l->ib));
	add_chunk(&l->chunks[WAY_FENCE], AMDGPU_CHUNK_ID_FENCE, &l->user, sizeof(l->user));
	add_chunk(&l->chunks[WAY_SYNCOBJ], AMDGPU_CHUNK_ID_SYNCOBJ_OUT, &l->binary, sizeof(l->binary));
	add_chunk(&l->chunks[WAY_TIMELINE], AMDGPU_CHUNK_ID_SYNCOBJ_TIMELINE_SIGNAL, &l->point, sizeof(l->point));
	add_chunk(&l->chunks[WAY_EVENTFD], AMDGPU_CHUNK_ID_SYNCOBJ_OUT, &l->binary, sizeof(l->binary));
}

static void
lane_close(struct lane *l)
{
	munmap((void *)(uintptr_t)l->fence, PAGE);
	close(l->event);
	gpu_close(&l->g);
}

static uint64_t
lane_submit(struct lane *l, enum way way)
{
	uint64_t seq = 0;

	l->point.point++;
	if (submit_chunks(&l->g, &l->chunks[way], &seq))
		return 0;
	if (way == WAY_EVENTFD && eventfd_register(l->g.fd, l->binary, 0, l->event, 0))
		return 0;
	return seq;
}

static void
child_done_at_once(void)
{
	struct lane l;
	uint64_t status, value;

	lane_open(&l);
	for (uint64_t i = 1; i <= 100; i++) {
		uint64_t seq = lane_submit(&l, WAY_FENCE);
		assert_int_equal(l.fence[1], seq);
		assert_int_equal(wait_cs(&l.g, 0, seq, 0, &status), 0);
		assert_int_equal(status, 0);
		assert_int_equal(reset(l.g.fd, l.binary), 0);
		assert_true(lane_submit(&l, WAY_SYNCOBJ) != 0);
		assert_int_equal(syncobj_wait(l.g.fd, l.binary, 0, 0), 0);
		assert_true(lane_submit(&l, WAY_TIMELINE) != 0);
		assert_int_equal(query(l.g.fd, l.timeline, 0), l.point.point);
		assert_true(lane_submit(&l, WAY_EVENTFD) != 0);
		assert_true(read(l.event, &value, 8) == 8 && value == 1);
	}
	int f = sync_file(l.g.fd, l.binary);
	assert_true(readable(f, 0) && sync_status(f, 1) == 1);
	close(f);
	/* An eventfd and a job that were there before the submission they wait for. */
	uint32_t later = syncobj(l.g.fd, 0);
	assert_int_equal(eventfd_register(l.g.fd, later, 0, l.event, 0), 0);
	assert_false(readable(l.event, 0));
	assert_int_equal(submit_out(&l.g, IB_GATE, 1, later), 0);
	assert_true(readable(l.event, 0));
	/* Nothing ran: what would break the ring does not. */
	assert_int_equal(submit(&l.g, IB_ILLEGAL, 0, 0, NULL, 0, NULL), 0);
	assert_int_equal(submit(&l.g, IB_FAULT, 0, 0, NULL, 0, NULL), 0);
	assert_int_equal(counter("jobs_failed"), 0);
	lane_close(&l);
}

#define WORDS_VALUE 0x1122334455667788ull

/* What a stream writes as its last act is written, so that who polls that word goes on; nothing in front of it is. */
static void
child_words(void)
{
	struct lane l;
	volatile uint64_t *word;

	lane_open(&l);
	word = (volatile uint64_t *)(volatile void *)(l.g.mem + WORD);
	assert_int_equal(lane_submit(&l, WAY_IB), 1);
	assert_true(word[0] == WORDS_VALUE);
	/* 32 bits; then in front of padding. */
	write_release(&l.g, IB_NOP + 64 - 8, VA + WORD * 4 + 8, 1);
	assert_int_equal(submit(&l.g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	assert_true(word[1] == (uint32_t)WORDS_VALUE);
	write_release(&l.g, IB_ILLEGAL + 1, VA + WORD * 4 + 16, 2);
	for (unsigned i = 9; i < 64; i++)
		l.g.mem[IB_ILLEGAL + i] = 0xffff1000;
	assert_int_equal(submit(&l.g, IB_ILLEGAL, 0, 0, NULL, 0, NULL), 0);
	assert_true(word[2] == WORDS_VALUE);
	/* At the end of a chain. */
	word[2] = 0;
	const uint64_t to = VA + IB_ILLEGAL * 4;
	const uint32_t jump[4] = { 0xc0023f00, (uint32_t)to, (uint32_t)(to >> 32), 64 | 1u << 20 | 1u << 23 };
	for (unsigned i = 0; i < 4; i++)
		l.g.mem[IB_FAULT + 60 + i] = jump[i];
	assert_int_equal(submit(&l.g, IB_FAULT, 0, 0, NULL, 0, NULL), 0);
	assert_true(word[2] == WORDS_VALUE);
	/* A chain without end, an address without memory, one that is not aligned, an IB that is not there. */
	l.g.mem[IB_FAULT + 61] = (uint32_t)(VA + IB_FAULT * 4);
	assert_int_equal(submit(&l.g, IB_FAULT, 0, 0, NULL, 0, NULL), 0);
	write_release(&l.g, IB_NOP + 64 - 8, 0x700000000000, 2);
	assert_int_equal(submit(&l.g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	write_release(&l.g, IB_NOP + 64 - 8, VA + WORD * 4 + 26, 2);
	assert_int_equal(submit(&l.g, IB_NOP, 0, 0, NULL, 0, NULL), 0);
	assert_true(word[3] == 0 && word[4] == 0);
	assert_int_equal(submit(&l.g, 4 * 1024, 0, 0, NULL, 0, NULL), 0);
	lane_close(&l);
}

/* Refusals are the kernel's all the same. */
static void
child_refuses(void)
{
	struct lane l;
	uint64_t status;

	lane_open(&l);
	uint32_t none = 999;
	assert_int_equal(submit_out(&l.g, IB_NOP, 0, none), -EINVAL);
	assert_int_equal(submit_out(&l.g, IB_NOP, 7, l.binary), -EINVAL);
	assert_int_equal(wait_cs(&l.g, 0, 1, 0, &status), -EINVAL);
	lane_close(&l);
}

static void
child_forks(void)
{
	struct lane l;
	int status;

	lane_open(&l);
	assert_int_equal(lane_submit(&l, WAY_FENCE), 1);
	pid_t pid = fork();
	if (pid == 0)
		_exit(lane_submit(&l, WAY_FENCE) == 2 && l.fence[1] == 2 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(l.fence[1], 2); /* the page is shared */
	lane_close(&l);
}

static int
count(const char *name, const char *number)
{
	struct lane l;
	int n = atoi(number), way = 0;

	while (way < WAYS && strcmp(way_names[way], name) != 0)
		way++;
	if (way == WAYS)
		return 2;
	lane_open(&l);
	for (int i = 0; i < n; i++)
		if (!lane_submit(&l, (enum way)way))
			return 1;
	_exit(0); /* the end does not count */
}

static const struct child children[] = {
	{ "done_at_once", child_done_at_once, { "SOFTGPU_EXECUTE=0" } },
	{ "refuses", child_refuses, { "SOFTGPU_EXECUTE=0" } },
	{ "forks", child_forks, { "SOFTGPU_EXECUTE=0" } },
	{ "words", child_words, { "SOFTGPU_EXECUTE=0" } },
};

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { CHILD("done_at_once", 0), CHILD("refuses", 1), CHILD("forks", 2),
					    CHILD("words", 3) };
	bool counts = argc == 4 && strcmp(argv[1], "--count") == 0;
	int status = begin(counts ? 1 : argc, argv, children, COUNT(children));

	if (status >= 0)
		return status;
	return counts ? count(argv[2], argv[3]) : cmocka_run_group_tests(tests, NULL, NULL);
}
