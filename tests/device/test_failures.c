/* SPDX-License-Identifier: MIT */
/* Promise: a call that fails says why, changes nothing and leaks nothing, whatever it was that failed below it.
 *
 * One scenario does what a user does, step by step. It is run again and again; each time another one of the ioctls,
 * allocations, eventfds or mappings that it makes fails, once. Then the call that needed it has to return an error that
 * its documentation allows (or to do without), with a sentence; a second try of the same call has to work and the
 * answers have to be right; and whether the user goes on or gives up, nothing may be left behind.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <liburing.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "device/package_test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define EXPORT __attribute__((visibility("default")))

/* ---- what fails, and when ----
 *
 * A program's own definitions come before those of all libraries, so their calls of these functions pass through here.
 * The return address tells whose call it is: only the library's own and those of the libraries it stands on count, not
 * those of softgpu, of this test and of libc for softgpu.
 */

enum resource { ANY_MEMORY, ANY_EVENTFD, ANY_MAPPING, RESOURCES };

#if SANITIZED

static struct {
	bool opening;
} fault;

#else

static struct {
	bool on, opening;
	enum resource resource;
	uint64_t calls[RESOURCES]; /* while on */
	uint64_t n;		   /* this one fails, from 1; 0: none */
	bool failed;
	const void *where; /* who asked */
} fault;

static struct {
	uintptr_t begin, end;
	const char *name;
} objects[16];
static unsigned n_objects;

static int
note_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	static const char *const names[] = { "libgpuplan", "libdrm", "libelf", "libmsgpack", "libjansson", "liburing" };

	(void)bytes;
	(void)arg;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strstr(info->dlpi_name, names[i]))
			continue;
		for (unsigned p = 0; p < info->dlpi_phnum && n_objects < 16; p++) {
			const ElfW(Phdr) *ph = &info->dlpi_phdr[p];

			if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
				continue;
			objects[n_objects].begin = info->dlpi_addr + ph->p_vaddr;
			objects[n_objects].end = objects[n_objects].begin + ph->p_memsz;
			objects[n_objects++].name = names[i];
		}
	}
	return 0;
}

__attribute__((constructor)) static void
note_objects(void)
{
	dl_iterate_phdr(note_object, NULL);
}

static const char *
object_of(const void *address)
{
	for (unsigned i = 0; i < n_objects; i++)
		if ((uintptr_t)address >= objects[i].begin && (uintptr_t)address < objects[i].end)
			return objects[i].name;
	return NULL;
}

/* This call of the library is the one to fail. */
static bool
fails_now(enum resource resource, const void *where)
{
	if (!fault.on || !object_of(where))
		return false;
	/* While it opens a device, libdrm 2.4.114 uses what it got from calloc without a look at it (drmGetVersion,
	 * amdgpu_vamgr_init): not ours to survive. */
	if (resource == ANY_MEMORY && fault.opening && !strcmp(object_of(where), "libdrm"))
		return false;
	if (++fault.calls[resource] != fault.n || resource != fault.resource)
		return false;
	fault.failed = true;
	fault.where = where;
	return true;
}

/* Memory that the library holds now: an open hash table of addresses with who asked for them. */
#define HELD_SLOTS 65536u
static struct {
	void *memory;
	const void *where;
} held[HELD_SLOTS];
static unsigned n_held;
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned
held_hash(const void *memory)
{
	return (unsigned)(((uintptr_t)memory >> 4) * 2654435761u) % HELD_SLOTS;
}

static void
held_put(void *memory, const void *where)
{
	unsigned i = held_hash(memory);

	pthread_mutex_lock(&held_lock);
	while (held[i].memory)
		i = (i + 1) % HELD_SLOTS;
	held[i].memory = memory;
	held[i].where = where;
	n_held++;
	pthread_mutex_unlock(&held_lock);
}

/* Moves later ones of the same run of places up, so that searches may stop at an empty place. */
static void
held_close_gap(unsigned gap)
{
	for (unsigned i = (gap + 1) % HELD_SLOTS; held[i].memory; i = (i + 1) % HELD_SLOTS) {
		unsigned home = held_hash(held[i].memory);

		if ((i - home) % HELD_SLOTS < (i - gap) % HELD_SLOTS)
			continue;
		held[gap] = held[i];
		gap = i;
	}
	held[gap].memory = NULL;
}

static void
held_remove(const void *memory)
{
	unsigned i = held_hash(memory);

	pthread_mutex_lock(&held_lock);
	while (held[i].memory && held[i].memory != memory)
		i = (i + 1) % HELD_SLOTS;
	if (held[i].memory) {
		n_held--;
		held_close_gap(i);
	}
	pthread_mutex_unlock(&held_lock);
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *memory);

static void *
given(void *memory, const void *where)
{
	if (memory && n_objects && object_of(where))
		held_put(memory, where);
	return memory;
}

static void *
refused(void)
{
	errno = ENOMEM;
	return NULL;
}

#define CALLER __builtin_return_address(0)

EXPORT void *
malloc(size_t bytes)
{
	return fails_now(ANY_MEMORY, CALLER) ? refused() : given(__libc_malloc(bytes), CALLER);
}

EXPORT void *
calloc(size_t n, size_t bytes)
{
	return fails_now(ANY_MEMORY, CALLER) ? refused() : given(__libc_calloc(n, bytes), CALLER);
}

EXPORT void *
realloc(void *memory, size_t bytes)
{
	void *moved;

	if (fails_now(ANY_MEMORY, CALLER))
		return refused();
	if (memory)
		held_remove(memory);
	moved = __libc_realloc(memory, bytes);
	return given(moved, CALLER);
}

EXPORT int
posix_memalign(void **memory, size_t align, size_t bytes)
{
	if (fails_now(ANY_MEMORY, CALLER))
		return ENOMEM;
	*memory = given(__libc_memalign(align, bytes), CALLER);
	return *memory ? 0 : ENOMEM;
}

EXPORT void *
aligned_alloc(size_t align, size_t bytes)
{
	return fails_now(ANY_MEMORY, CALLER) ? refused() : given(__libc_memalign(align, bytes), CALLER);
}

EXPORT char *
strdup(const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = fails_now(ANY_MEMORY, CALLER) ? refused() : given(__libc_malloc(bytes), CALLER);

	return copy ? memcpy(copy, text, bytes) : NULL;
}

EXPORT char *
strndup(const char *text, size_t most)
{
	size_t bytes = strnlen(text, most);
	char *copy = fails_now(ANY_MEMORY, CALLER) ? refused() : given(__libc_malloc(bytes + 1), CALLER);

	if (!copy)
		return NULL;
	copy[bytes] = 0;
	return memcpy(copy, text, bytes);
}

EXPORT void
free(void *memory)
{
	if (memory && n_objects)
		held_remove(memory);
	__libc_free(memory);
}

EXPORT int
eventfd(unsigned count, int flags)
{
	static int (*next)(unsigned, int);

	if (fails_now(ANY_EVENTFD, CALLER)) {
		errno = EMFILE;
		return -1;
	}
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "eventfd");
	return next(count, flags);
}

static void *
map_or_fail(const char *symbol, const void *where, void *at, size_t bytes, int protection, int flags, int fd,
	    off_t offset)
{
	void *(*next)(void *, size_t, int, int, int, off_t);

	if (fails_now(ANY_MAPPING, where)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	*(void **)&next = dlsym(RTLD_NEXT, symbol);
	return next(at, bytes, protection, flags, fd, offset);
}

EXPORT void *
mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return map_or_fail("mmap", CALLER, at, bytes, protection, flags, fd, offset);
}

EXPORT void *
mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
	return map_or_fail("mmap64", CALLER, at, bytes, protection, flags, fd, offset);
}

static void
print_held(void)
{
	for (unsigned i = 0; i < HELD_SLOTS; i++) {
		Dl_info info = { 0 };

		if (held[i].memory && dladdr(held[i].where, &info))
			print_error("    held: by %s + 0x%lx\n", object_of(held[i].where),
				    (unsigned long)((uintptr_t)held[i].where - (uintptr_t)info.dli_fbase));
	}
}

#endif

/* ---- the scenario ---- */

/* cmocka says nothing of assertions outside its tests, as in children. */
#define must_equal(a, b) must_equal_at((uint64_t)(a), (uint64_t)(b), #a, #b, __LINE__)

static void
must_equal_at(uint64_t a, uint64_t b, const char *a_text, const char *b_text, int line)
{
	if (a == b)
		return;
	fprintf(stderr, "    line %d: %s is %llu, not %llu (%s)\n", line, a_text, (unsigned long long)a,
		(unsigned long long)b, b_text);
	_exit(1);
}

#define WORDS 1024u
#define BYTES (4 * WORDS)
#define FILLED 0x600df111u
#define TAIL 0x7a117a11u

struct scenario {
	struct gpuplan_context *context;
	struct gpuplan_session *session;
	struct gpuplan_definition *definition;
	struct gpuplan_queue *queue;
	struct gpuplan_plan *plan;
	struct gpuplan_slot *slot;
	struct io_uring ring;
	bool ring_ready;
	struct gpuplan_region weight, packed, scratch, state, in_device, in_host, out_device, out_host;
	uint32_t code;
	struct gpuplan_kernel fill;
	int cqe_res;
	uint32_t round;
	uint32_t data[WORDS];
	void *elf;
	size_t elf_bytes;
	char node[64];
};

static uint32_t
pattern(uint32_t round, uint32_t i)
{
	return round * 2654435761u + i * 40503u;
}

static int
open_context(struct scenario *s, struct gpuplan_error *error)
{
	struct gpuplan_context_info info;
	int r;

	fault.opening = true;
	r = gpuplan_context_create(NULL, &s->context, error);
	fault.opening = false;
	if (r)
		return r;
	gpuplan_context_get_info(s->context, &info);
	snprintf(s->node, sizeof(s->node), "%s", strrchr(info.device, '/') + 1);
	s->elf = dt_shader(info.target, "fill", &s->elf_bytes);
	return 0;
}

static int
open_session(struct scenario *s, struct gpuplan_error *error)
{
	return gpuplan_session_create(s->context, &s->session, error);
}

static int
declare(struct scenario *s, enum gpuplan_use use, enum gpuplan_placement placement, struct gpuplan_region *region,
	struct gpuplan_error *error)
{
	struct gpuplan_alloc_params params = {
		.size = sizeof(params), .use = use, .placement = placement, .bytes = BYTES
	};

	return gpuplan_session_alloc(s->session, &params, region, error);
}

#define DECLARE(member, use, placement)                                                                                \
	static int declare_##member(struct scenario *s, struct gpuplan_error *error)                                   \
	{                                                                                                              \
		return declare(s, use, placement, &s->member, error);                                                  \
	}
DECLARE(weight, GPUPLAN_WEIGHT, GPUPLAN_DEVICE)
DECLARE(packed, GPUPLAN_WEIGHT, GPUPLAN_DEVICE)
DECLARE(scratch, GPUPLAN_SCRATCH, GPUPLAN_DEVICE)
DECLARE(state, GPUPLAN_STATE, GPUPLAN_DEVICE)
DECLARE(in_device, GPUPLAN_SCRATCH, GPUPLAN_DEVICE)
DECLARE(in_host, GPUPLAN_SCRATCH, GPUPLAN_HOST)
DECLARE(out_device, GPUPLAN_SCRATCH, GPUPLAN_DEVICE)
DECLARE(out_host, GPUPLAN_SCRATCH, GPUPLAN_HOST)

static int
upload(struct scenario *s, struct gpuplan_error *error)
{
	uint32_t data[WORDS];
	int r;

	for (uint32_t i = 0; i < WORDS; i++)
		data[i] = pattern(99, i);
	r = gpuplan_session_upload(s->session, s->weight, data, error);
	memset(data, 0xee, sizeof(data));
	return r;
}

static int
load_code(struct scenario *s, struct gpuplan_error *error)
{
	return gpuplan_session_load(s->session, s->elf, s->elf_bytes, "fill", &s->code, error);
}

static int
find_kernel(struct scenario *s, struct gpuplan_error *error)
{
	return gpuplan_session_kernel(s->session, s->code, "fill", &s->fill, error);
}

/* Fills the first half of a region by a dispatch; a good caller's structs live as long as the call. */
struct fill_call {
	struct gpuplan_binding binding;
	struct gpuplan_arg args[3];
	struct gpuplan_command command;
};

static const struct gpuplan_command *
fill_by_kernel(const struct scenario *s, struct gpuplan_region region, struct fill_call *call)
{
	*call = (struct fill_call){
		.binding = { .region = region, .access = GPUPLAN_WRITE },
		.args = { gpuplan_arg_binding(0), gpuplan_arg_u32(FILLED),
			  gpuplan_arg_u32((uint32_t)region.bytes / 4) },
		.command = { .kind = GPUPLAN_DISPATCH },
	};
	call->command.u.dispatch = (struct gpuplan_dispatch){
		.kernel = s->fill,
		.groups = { 1, 1, 1 },
		.block = { 256, 1, 1 },
		.n_bindings = 1,
		.bindings = &call->binding,
		.n_args = 3,
		.args = call->args,
	};
	return &call->command;
}

/* packed := weight; its last word := the zero that state starts with. */
static int
repack(struct scenario *s, struct gpuplan_error *error)
{
	struct gpuplan_command commands[] = {
		dt_copy(s->scratch, s->weight),
		dt_copy(s->packed, s->scratch),
		dt_copy(gpuplan_slice(s->packed, BYTES - 4, 4), gpuplan_slice(s->state, 0, 4)),
	};

	return gpuplan_session_run(s->session, commands, 3, error);
}

/* The first half of packed := FILLED. Has to come after the run before. */
static int
repack_more(struct scenario *s, struct gpuplan_error *error)
{
	struct fill_call call;

	return gpuplan_session_run(s->session, fill_by_kernel(s, gpuplan_slice(s->packed, 0, BYTES / 2), &call), 1,
				   error);
}

static uint32_t
packed_word(uint32_t i)
{
	return i < WORDS / 2 ? FILLED : i == WORDS - 1 ? 0 : pattern(99, i);
}

static int
sync_session(struct scenario *s, struct gpuplan_error *error)
{
	return gpuplan_session_sync(s->session, DT_SOON, error);
}

static int
download(struct scenario *s, struct gpuplan_error *error)
{
	int r = gpuplan_session_download(s->session, s->packed, s->data, DT_SOON, error);

	for (uint32_t i = 0; !r && i < WORDS; i++)
		must_equal(s->data[i], packed_word(i));
	return r;
}

static int
freeze(struct scenario *s, struct gpuplan_error *error)
{
	int r = gpuplan_session_freeze(s->session, NULL, DT_SOON, &s->definition, error);

	if (!r)
		s->session = NULL;
	return r;
}

static int
open_queue(struct scenario *s, struct gpuplan_error *error)
{
	return gpuplan_queue_create(s->context, NULL, &s->queue, error);
}

/* out_device := in_device, but its last word; out_host := FILLED, then packed's second half; the last word of both
 * counts: state moves on. */
static int
make_plan(struct scenario *s, struct gpuplan_error *error)
{
	const uint64_t body = BYTES - 4;
	struct fill_call call;
	struct gpuplan_command commands[] = {
		dt_copy(gpuplan_slice(s->out_device, 0, body), gpuplan_slice(s->in_device, 0, body)),
		*fill_by_kernel(s, gpuplan_slice(s->scratch, 0, BYTES / 2), &call),
		dt_copy(gpuplan_slice(s->out_host, 0, BYTES / 2), gpuplan_slice(s->scratch, 0, BYTES / 2)),
		dt_copy(gpuplan_slice(s->out_host, BYTES / 2, BYTES / 2),
			gpuplan_slice(s->packed, BYTES / 2, BYTES / 2)),
		dt_copy(gpuplan_slice(s->out_device, body, 4), gpuplan_slice(s->state, 0, 4)),
		dt_copy(gpuplan_slice(s->state, 0, 4), gpuplan_slice(s->in_host, 0, 4)),
	};
	struct gpuplan_io in[] = {
		{ .region = s->in_device, .dtype = GPUPLAN_U32, .rank = 1, .shape = { WORDS } },
		{ .region = s->in_host, .dtype = GPUPLAN_U32, .rank = 1, .shape = { WORDS } },
	};
	struct gpuplan_io out[] = {
		{ .region = s->out_device, .dtype = GPUPLAN_U32, .rank = 1, .shape = { WORDS } },
		{ .region = s->out_host, .dtype = GPUPLAN_U32, .rank = 1, .shape = { WORDS } },
	};
	struct gpuplan_parameter parameters[] = {
		{ .name = "value", .bytes = 4, .initial = FILLED, .max = UINT32_MAX },
		{ .name = "groups", .bytes = 1, .initial = 1, .max = 1 },
	};
	struct gpuplan_plan_params params = dt_plan_params(2, commands, sizeof(commands) / sizeof(commands[0]));

	call.args[1] = gpuplan_arg_param(0);
	commands[1].u.dispatch.groups[0] = 0;
	commands[1].u.dispatch.groups_param[0] = 2;
	params.parameters = parameters;
	params.n_parameters = 2;
	params.inputs = in;
	params.outputs = out;
	params.n_inputs = params.n_outputs = 2;
	return gpuplan_plan_create(s->definition, &params, &s->plan, error);
}

static int
acquire(struct scenario *s, struct gpuplan_error *error)
{
	int r = gpuplan_plan_acquire(s->plan, &s->slot);

	(void)error;
	/* Which slot it is depends on how far the GPU is. */
	if (!r)
		gpuplan_slot_reset_state(s->slot);
	s->round = 0;
	return r;
}

/* Writes the inputs of the next round and clears the outputs. */
static int
submit(struct scenario *s, struct gpuplan_error *error)
{
	uint32_t *in[2];
	int r;

	(void)error;
	for (uint32_t k = 0; k < 2; k++) {
		in[k] = gpuplan_slot_input(s->slot, k, NULL);
		memset((void *)(uintptr_t)gpuplan_slot_output(s->slot, k, NULL), 0xcc, BYTES);
		for (uint32_t i = 0; i < WORDS; i++)
			in[k][i] = pattern(s->round + 1, i);
	}
	in[1][0] = s->round + 1;
	r = gpuplan_slot_submit(s->slot, s->queue);
	s->round += !r;
	return r;
}

static void
check_completion(const struct scenario *s, const struct gpuplan_completion *c)
{
	const uint32_t *device = gpuplan_slot_output(s->slot, 0, NULL), *host = gpuplan_slot_output(s->slot, 1, NULL);

	must_equal(c->status, GPUPLAN_DONE);
	must_equal((uintptr_t)c->slot, (uintptr_t)s->slot);
	for (uint32_t i = 0; i < WORDS - 1; i++)
		must_equal(device[i], pattern(s->round, i));
	/* What the round before left in state. */
	must_equal(device[WORDS - 1], s->round - 1);
	for (uint32_t i = 0; i < WORDS; i++)
		must_equal(host[i], packed_word(i));
}

static int
wait_slot(struct scenario *s, struct gpuplan_error *error)
{
	struct gpuplan_completion c;
	int r = gpuplan_slot_wait(s->slot, DT_SOON, &c);

	(void)error;
	if (!r)
		check_completion(s, &c);
	return r;
}

static int
arm(struct scenario *s, struct gpuplan_error *error)
{
	(void)error;
	if (!s->ring_ready)
		must_equal(io_uring_queue_init(8, &s->ring, 0), 0);
	s->ring_ready = true;
	return gpuplan_slot_arm(s->slot, &s->ring, 17, DT_SOON);
}

/* The caller's own part; nothing of the library is called. */
static int
enter(struct scenario *s, struct gpuplan_error *error)
{
	struct io_uring_cqe *cqe;

	(void)error;
	must_equal(io_uring_submit(&s->ring) > 0, 1);
	must_equal(io_uring_wait_cqe(&s->ring, &cqe), 0);
	must_equal(cqe->user_data, 17);
	s->cqe_res = cqe->res;
	io_uring_cqe_seen(&s->ring, cqe);
	return 0;
}

static int
finish(struct scenario *s, struct gpuplan_error *error)
{
	struct gpuplan_completion c;
	int r = gpuplan_slot_finish(s->slot, s->cqe_res, &c);

	(void)error;
	if (!r)
		check_completion(s, &c);
	return r;
}

static int
reap(struct scenario *s, struct gpuplan_error *error)
{
	struct gpuplan_completion c;
	int r = gpuplan_queue_reap(s->queue, &c, 1, DT_SOON);

	(void)error;
	if (r < 0)
		return r;
	must_equal(r, 1);
	check_completion(s, &c);
	return 0;
}

static int
poll_slot(struct scenario *s, struct gpuplan_error *error)
{
	struct gpuplan_completion c;
	uint64_t limit = DT_SOON;
	int r;

	(void)error;
	while (!gpuplan_slot_poll(s->slot) && gpuplan_now() < limit)
		usleep(50);
	r = gpuplan_slot_finish(s->slot, 8, &c);
	if (!r)
		check_completion(s, &c);
	return r;
}

/* Released while it runs; the plan's other slot is free at once. */
static int
abandon(struct scenario *s, struct gpuplan_error *error)
{
	(void)error;
	gpuplan_slot_release(s->slot);
	s->slot = NULL;
	return 0;
}

/* also: errors its documentation allows besides the injected one. */
static const struct step {
	const char *name;
	int (*run)(struct scenario *s, struct gpuplan_error *error);
	bool sentence;
	int also[2];
} steps[] = {
	{ "context_create", open_context, true, { ENODEV } },
	{ "session_create", open_session, true, { 0 } },
	{ "alloc weight", declare_weight, true, { ENOMEM } },
	{ "alloc packed", declare_packed, true, { ENOMEM } },
	{ "alloc scratch", declare_scratch, true, { ENOMEM } },
	{ "alloc state", declare_state, true, { ENOMEM } },
	{ "alloc in_device", declare_in_device, true, { ENOMEM } },
	{ "alloc in_host", declare_in_host, true, { ENOMEM } },
	{ "alloc out_device", declare_out_device, true, { ENOMEM } },
	{ "alloc out_host", declare_out_host, true, { ENOMEM } },
	{ "upload", upload, true, { ENOMEM, EIO } },
	{ "load", load_code, true, { ENOMEM, EIO } },
	{ "kernel", find_kernel, true, { ENOMEM } },
	{ "run", repack, true, { ENOMEM, EIO } },
	{ "second run", repack_more, true, { ENOMEM, EIO } },
	{ "sync", sync_session, true, { EIO } },
	{ "download", download, true, { ENOMEM, EIO } },
	{ "freeze", freeze, true, { ENOMEM, EIO } },
	{ "queue_create", open_queue, true, { 0 } },
	{ "plan_create", make_plan, true, { ENOMEM } },
	{ "acquire", acquire, false, { 0 } },
	{ "submit", submit, false, { 0 } },
	{ "wait", wait_slot, false, { 0 } },
	{ "submit again", submit, false, { 0 } },
	{ "arm", arm, false, { 0 } },
	{ "enter", enter, false, { 0 } },
	{ "finish", finish, false, { 0 } },
	{ "third submit", submit, false, { 0 } },
	{ "reap", reap, false, { 0 } },
	{ "fourth submit", submit, false, { 0 } },
	{ "poll", poll_slot, false, { 0 } },
	{ "submit to abandon", submit, false, { 0 } },
	{ "abandon", abandon, false, { 0 } },
	{ "acquire again", acquire, false, { 0 } },
	{ "last submit", submit, false, { 0 } },
	{ "last wait", wait_slot, false, { 0 } },
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static void
tear_down(struct scenario *s)
{
	if (s->ring_ready)
		io_uring_queue_exit(&s->ring);
	gpuplan_slot_release(s->slot);
	gpuplan_queue_destroy(s->queue);
	gpuplan_plan_destroy(s->plan);
	gpuplan_definition_destroy(s->definition);
	gpuplan_session_destroy(s->session);
	free(s->elf);
}

/* softgpu keeps a descriptor of its own from the first time a node is opened. */
static unsigned
count_descriptors(void)
{
	int node = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	unsigned n = 0;

	if (node >= 0)
		close(node);
	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* What the device tells of itself; false on a real one. */
static bool
device_number(const char *node, const char *member, uint64_t *value)
{
	char path[128], text[16384];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/drm/%.63s/device/softgpu_stats", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return dt_json_number(text, member, value);
}

/* ---- one run of the scenario ---- */

enum outcome { UNTOUCHED, ABSORBED, REFUSED, BAD };
enum after { GIVE_UP, TRY_AGAIN };

struct expectation {
	int error; /* injected */
	enum after after;
	const char *keeps; /* one of these stays in the device as long as the file: its destruction fails */
	bool (*hit)(void); /* the fault has happened */
};

__attribute__((format(printf, 1, 2))) static enum outcome
bad(const char *format, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fprintf(stderr, "    %s\n", text);
	return BAD;
}

/* All columns but the session's: staging that a refused upload had begun with may stay until freeze. */
static uint64_t
lasting_bytes(const struct scenario *s)
{
	struct gpuplan_memory m = { 0 };

	if (s->context)
		gpuplan_context_get_memory(s->context, &m);
	return m.weights + m.code + m.plans + m.slots;
}

static bool
is_allowed(const struct step *step, int r, int injected)
{
	return r == -injected || (step->also[0] && r == -step->also[0]) || (step->also[1] && r == -step->also[1]);
}

static enum outcome
check_refusal(const struct step *step, int r, const struct gpuplan_error *error, const struct expectation *e)
{
	if (!e->hit())
		return bad("%s returned %d before anything failed: %s", step->name, r, error->message);
	if (!is_allowed(step, r, e->error))
		return bad("%s returned %d (%s) for %s: %s", step->name, r, strerror(-r), strerror(e->error),
			   error->message);
	if (step->sentence && (error->code != r || strlen(error->message) < 10))
		return bad("%s returned %d without a sentence: code %d \"%s\"", step->name, r, error->code,
			   error->message);
	return REFUSED;
}

static enum outcome
run_steps(struct scenario *s, const struct expectation *e)
{
	enum outcome outcome = UNTOUCHED;

	for (unsigned i = 0; i < STEPS && outcome != BAD; i++) {
		struct gpuplan_error error = { 0 };
		uint64_t before = lasting_bytes(s);
		int r = steps[i].run(s, &error);

		if (!r)
			continue;
		if (outcome == REFUSED)
			return bad("%s fails a second time: %d, %s", steps[i].name, r, error.message);
		outcome = check_refusal(&steps[i], r, &error, e);
		if (lasting_bytes(s) != before)
			return bad("%s failed and changed the ledger", steps[i].name);
		if (getenv("VERBOSE"))
			fprintf(stderr, "    %s: %d %s\n", steps[i].name, r, error.message);
		if (e->after == GIVE_UP)
			break;
		i--;
	}
	return outcome;
}

/* Everything is destroyed but the context, which is what counts: the device drops the rest with it. */
static enum outcome
check_before_last(struct scenario *s, const struct expectation *e)
{
	static const char *const members[] = { "gem_objects", "syncobj_objects", "ctx_objects" };
	struct gpuplan_memory m;

	gpuplan_context_get_memory(s->context, &m);
	if (m.total || m.buffers)
		return bad("the ledger keeps %llu bytes in %llu buffers", (unsigned long long)m.total,
			   (unsigned long long)m.buffers);
	for (unsigned i = 0; i < 3; i++) {
		bool kept = e->keeps && !strcmp(e->keeps, members[i]);
		uint64_t value = 0, limit = dt_after_ms(2000);

		/* A job that has written its word holds its things a moment longer. */
		while (device_number(s->node, members[i], &value) && value > kept && gpuplan_now() < limit)
			usleep(1000);
		if (value > kept)
			return bad("%s is %llu before the context goes", members[i], (unsigned long long)value);
	}
	return UNTOUCHED;
}

static enum outcome
check_device(const char *node)
{
	static const char *const members[] = { "gem_objects", "gem_bytes_vram", "gem_bytes_gtt", "ctx_objects",
					       "syncobj_objects" };

	for (unsigned i = 0; node[0] && i < sizeof(members) / sizeof(members[0]); i++) {
		uint64_t value = 0;

		if (device_number(node, members[i], &value) && value)
			return bad("%s is %llu at the end", members[i], (unsigned long long)value);
	}
	return UNTOUCHED;
}

/* The kernel, and softgpu's threads, let go of an eventfd a moment after its last event. */
static enum outcome
check_descriptors(unsigned before)
{
	uint64_t limit = dt_after_ms(2000);
	unsigned now;

	while ((now = count_descriptors()) != before && gpuplan_now() < limit)
		usleep(1000);
	return now == before ? UNTOUCHED : bad("%u descriptors before, %u after", before, now);
}

static enum outcome
run_scenario(const struct expectation *e)
{
	static struct scenario s;
	unsigned descriptors = count_descriptors();
	enum outcome outcome;

	s = (struct scenario){ 0 };
	outcome = run_steps(&s, e);
	tear_down(&s);
	if (outcome == BAD || (s.context && check_before_last(&s, e) == BAD))
		return BAD;
	gpuplan_context_destroy(s.context);
	if (check_device(s.node) == BAD)
		return BAD;
	if (check_descriptors(descriptors) == BAD)
		return BAD;
	return outcome == UNTOUCHED && e->hit() ? ABSORBED : outcome;
}

/* ---- ioctls: this program again, with SOFTGPU_FAIL ---- */

#define CHILD_BASE 10 /* + enum outcome */
#define HANG_SECONDS 60

static char failing_ioctl[32];
static uint64_t failing_call;

/* The device counts refused calls too. */
static bool
ioctl_was_hit(void)
{
	uint64_t calls = 0;

	return failing_call && device_number("renderD128", failing_ioctl, &calls) && calls >= failing_call;
}

static int
error_number(const char *name)
{
	static const int numbers[] = { ENOMEM, EIO, EINTR, EAGAIN, EMFILE };

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(strerrorname_np(numbers[i]), name))
			return numbers[i];
	return 0;
}

/* Destructions that fail cannot be helped. */
static const char *
kept_by(const char *ioctl)
{
	static const char *const pairs[][2] = {
		{ "GEM_CLOSE", "gem_objects" },
		{ "SYNCOBJ_DESTROY", "syncobj_objects" },
		{ "CTX", "ctx_objects" },
	};

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(ioctl, pairs[i][0]))
			return pairs[i][1];
	return NULL;
}

/* argument: "give-up" or "try-again". */
static int
child_ioctl(const char *argument)
{
	struct expectation e = {
		.after = strcmp(argument, "give-up") ? TRY_AGAIN : GIVE_UP,
		.hit = ioctl_was_hit,
	};
	char error[16] = "";
	unsigned long long n = 0;

	must_equal(sscanf(getenv("SOFTGPU_FAIL"), "%31[A-Z_]:%llu:%15[A-Z]", failing_ioctl, &n, error), 3);
	failing_call = n;
	e.error = error_number(error);
	e.keeps = e.error == EINTR || e.error == EAGAIN ? NULL : kept_by(failing_ioctl);
	alarm(HANG_SECONDS);
	return CHILD_BASE + (int)run_scenario(&e);
}

struct tally {
	unsigned untouched, absorbed, refused;
};

/* amdgpu_device_initialize of libdrm 2.4.114 follows the NULL that its own drmGetVersion returns then: the second
 * pair of VERSION calls. */
static bool
libdrm_dies(const char *name, unsigned n, const char *error)
{
	return !strcmp(name, "VERSION") && n > 2 && n < 5 && strcmp(error, "EINTR") && strcmp(error, "EAGAIN");
}

/* Each call of that name in turn, until there is none left to fail. */
static struct tally
fail_each(const char *name, const char *error, const char *argument)
{
	struct tally t = { 0 };

	for (unsigned n = 1; !t.untouched; n++) {
		char value[64];
		int status;

		if (libdrm_dies(name, n, error))
			continue;
		snprintf(value, sizeof(value), "%s:%u:%s", name, n, error);
		status = dt_run_self(argument, "SOFTGPU_FAIL", value) - CHILD_BASE;
		t.untouched += status == UNTOUCHED;
		t.absorbed += status == ABSORBED;
		t.refused += status == REFUSED;
		if (status < UNTOUCHED || status > REFUSED)
			fail_msg("SOFTGPU_FAIL=%s, %s: the child ended with %d", value, argument, status + CHILD_BASE);
		assert_true(n < 1000);
	}
	return t;
}

#define MAX_NAMES 40
static char names[MAX_NAMES][32];
static unsigned n_names;

/* Names of all ioctls this process has made, as the device counts them: {"CS": 10, ...}. */
static void
read_names(const char *node)
{
	char path[128], text[16384], *place, *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/drm/%.63s/device/softgpu_stats", node);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	place = strstr(text, "\"ioctls\": {");
	end = place ? strchr(place, '}') : NULL;
	if (end)
		*end = 0;
	for (place = end ? strchr(place, '{') : NULL; place && (place = strchr(place, '"')); place++) {
		assert_true(n_names < MAX_NAMES);
		assert_int_equal(sscanf(place, "\"%31[A-Z_]\"", names[n_names]), 1);
		place = strchr(place + 1, '"');
		n_names++;
	}
}

static void
fail_all(const char *error, const char *argument)
{
	struct tally sum = { 0 };

	if (!n_names)
		skip();
	for (unsigned i = 0; i < n_names; i++) {
		struct tally t = fail_each(names[i], error, argument);

		print_message("    %-22s %s: %3u calls, %3u refused, %3u done without\n", names[i], error,
			      t.refused + t.absorbed, t.refused, t.absorbed);
		assert_true(t.refused + t.absorbed > 0);
		sum.refused += t.refused;
		sum.absorbed += t.absorbed;
	}
	print_message("    %u ioctls: %u failures with %s, %u refused, %u done without\n", n_names,
		      sum.refused + sum.absorbed, error, sum.refused, sum.absorbed);
	assert_true(sum.refused > 0);
}

static void
out_of_memory_then_tried_again(void **state)
{
	(void)state;
	fail_all("ENOMEM", "try-again");
}

static void
out_of_memory_then_given_up(void **state)
{
	(void)state;
	fail_all("ENOMEM", "give-up");
}

static void
input_output_error_then_tried_again(void **state)
{
	(void)state;
	fail_all("EIO", "try-again");
}

/* Every call of that name is interrupted once: the first, then what comes after its repetition, and so on. */
static int
interrupt_all(const char *name, const char *error)
{
	char value[8192];
	size_t used = 0;

	for (unsigned n = 1; n < 200; n += 2)
		used +=
		    (size_t)snprintf(value + used, sizeof(value) - used, "%s%s:%u:%s", used ? "," : "", name, n, error);
	assert_true(used < sizeof(value));
	return dt_run_self("give-up", "SOFTGPU_FAIL", value) - CHILD_BASE;
}

/* The caller never sees these two. */
static void
interrupted_calls_are_made_again(void **state)
{
	(void)state;
	if (!n_names)
		skip();
	for (unsigned i = 0; i < n_names; i++) {
		if (interrupt_all(names[i], "EINTR") != ABSORBED || interrupt_all(names[i], "EAGAIN") != ABSORBED)
			fail_msg("%s is not made again when interrupted", names[i]);
		print_message("    %-22s interrupted each time, then told to try again each time\n", names[i]);
	}
}

/* Path 2 of completion: sync_files instead of events. */
static void
without_eventfd(void **state)
{
	static const char *const used[] = { "SYNCOBJ_HANDLE_TO_FD", "SYNC_FILE_INFO" };
	static const char *const errors[] = { "ENOMEM", "EMFILE" };

	(void)state;
	if (!n_names)
		skip();
	setenv("SOFTGPU_EVENTFD", "0", 1);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned e = 0; e < 2; e++) {
			struct tally t = fail_each(used[i], errors[e], "try-again");

			print_message("    %-22s %s: %3u calls, %3u refused, %3u done without\n", used[i], errors[e],
				      t.refused + t.absorbed, t.refused, t.absorbed);
			assert_true(t.refused + t.absorbed > 0);
		}
	unsetenv("SOFTGPU_EVENTFD");
}

/* ---- allocations, eventfds and mappings: in this process ---- */

#if !SANITIZED

static bool
resource_was_hit(void)
{
	return fault.failed;
}

/* libgpuplan.so + 0x1234, for addr2line. */
static void
describe_place(const void *where, char *text, size_t bytes)
{
	Dl_info info = { 0 };

	dladdr(where, &info);
	snprintf(text, bytes, "%s + 0x%lx", info.dli_fname ? info.dli_fname : "?",
		 (unsigned long)((uintptr_t)where - (uintptr_t)info.dli_fbase));
}

typedef enum outcome scenario_fn(const struct expectation *e);

static const char *const resource_names[] = { "allocation", "eventfd", "mapping" };

/* One run in which the n-th resource of that kind is not to be had. */
static enum outcome
run_without(scenario_fn *scenario, enum resource resource, uint64_t n, enum after after)
{
	static const int errors[] = { ENOMEM, EMFILE, ENOMEM };
	struct expectation e = { .error = errors[resource], .after = after, .hit = resource_was_hit };
	unsigned before = n_held;
	enum outcome outcome;
	char place[256];

	memset(&fault, 0, sizeof(fault));
	fault.resource = resource;
	fault.n = n;
	fault.on = true;
	outcome = scenario(&e);
	fault.on = false;
	if (fault.failed)
		describe_place(fault.where, place, sizeof(place));
	if (n_held != before) {
		bad("%u allocations are not freed", n_held - before);
		print_held();
		outcome = BAD;
	}
	if (outcome == BAD)
		bad("when %s %llu failed, at %s", resource_names[resource], (unsigned long long)n,
		    fault.failed ? place : "-");
	return outcome;
}

static bool
fail_each_resource(scenario_fn *scenario, enum resource resource, enum after after)
{
	unsigned count[BAD + 1] = { 0 };

	/* Once for whatever is made once in a process. */
	if (run_without(scenario, resource, 0, after) != UNTOUCHED)
		return false;
	for (uint64_t n = 1; !count[UNTOUCHED] && !count[BAD]; n++) {
		alarm(HANG_SECONDS);
		count[run_without(scenario, resource, n, after)]++;
	}
	printf("    %u of %s %s: %u refused, %u done without\n", count[REFUSED] + count[ABSORBED],
	       resource_names[resource], after == GIVE_UP ? "given up" : "tried again", count[REFUSED],
	       count[ABSORBED]);
	return !count[BAD] && count[REFUSED];
}

/* ---- a package, offline: parsing and declaring ---- */

static char package_folder[64];

static int
find_code(void *arg, const char *target, const char *stem, const void **elf, size_t *bytes)
{
	static void *kept;
	static size_t kept_bytes;

	(void)arg;
	if (!kept)
		kept = dt_shader(target, stem, &kept_bytes);
	*elf = kept;
	*bytes = kept_bytes;
	return 0;
}

struct package_run {
	struct gpuplan_package *package;
	struct gpuplan_context *context;
	struct gpuplan_session *session;
	struct gpuplan_definition *definition;
	struct gpuplan_plan *plan;
};

static int
use_package(struct package_run *p, struct gpuplan_error *error)
{
	struct gpuplan_context_params params = GPUPLAN_CONTEXT_PARAMS_INIT;
	struct gpuplan_plan_params plan_params = dt_plan_params(2, NULL, 0);
	int r = gpuplan_package_open(package_folder, &p->package, error);

	params.offline_target = "gfx1100";
	if (!r)
		r = gpuplan_context_create(&params, &p->context, error);
	if (!r)
		r = gpuplan_session_create(p->context, &p->session, error);
	if (!r)
		r = gpuplan_package_load(p->package, p->session, "gfx1100", find_code, NULL, error);
	if (!r && !(r = gpuplan_session_freeze(p->session, NULL, DT_SOON, &p->definition, error)))
		p->session = NULL;
	if (!r)
		r = gpuplan_package_plan(p->package, p->definition, "main", &plan_params, &p->plan, error);
	return r;
}

static enum outcome
run_package(const struct expectation *e)
{
	struct package_run p = { 0 };
	struct gpuplan_error error = { 0 };
	unsigned descriptors = count_descriptors();
	struct gpuplan_memory m = { 0 };
	int r = use_package(&p, &error);

	gpuplan_plan_destroy(p.plan);
	gpuplan_definition_destroy(p.definition);
	gpuplan_session_destroy(p.session);
	if (p.context)
		gpuplan_context_get_memory(p.context, &m);
	gpuplan_context_destroy(p.context);
	gpuplan_package_close(p.package);
	if (m.total || m.buffers)
		return bad("the ledger keeps %llu bytes", (unsigned long long)m.total);
	if (check_descriptors(descriptors) == BAD)
		return BAD;
	if (!r)
		return e->hit() ? ABSORBED : UNTOUCHED;
	/* A lexer of jansson that finds no memory calls the text wrong. */
	if (!e->hit() || (r != -ENOMEM && strcmp(object_of(fault.where), "libjansson")) || error.code != r ||
	    strstr(error.message, "line -1"))
		return bad("package returned %d: code %d \"%s\"", r, error.code, error.message);
	return REFUSED;
}

static const char package_json[] =
    "{ \"format\": 1, \"name\": \"tiny\", \"weights\": [\"w.safetensors\"], \"allocations\": ["
    "{ \"name\": \"w\", \"kind\": \"weight\", \"dtype\": \"u32\", \"shape\": [4], \"tensor\": \"w\" },"
    "{ \"name\": \"out\", \"kind\": \"scratch\", \"placement\": \"host\", \"bytes\": 4096 },"
    "{ \"name\": \"kept\", \"kind\": \"state\", \"bytes\": 64 } ],"
    "\"kernels\": [ { \"name\": \"k\", \"object\": \"fill\", \"symbol\": \"fill\" } ],"
    "\"plans\": [ { \"name\": \"main\", \"inputs\": [ { \"name\": \"kept\","
    "\"region\": { \"allocation\": \"kept\", \"offset\": 0, \"bytes\": 64 }, \"dtype\": \"u8\", \"shape\": [64] } ],"
    "\"outputs\": [ { \"name\": \"out\", \"region\": { \"allocation\": \"out\", \"offset\": 0, \"bytes\": 4096 },"
    "\"dtype\": \"u32\", \"shape\": [1024] } ], \"commands\": ["
    "{ \"fill\": { \"dst\": { \"allocation\": \"kept\", \"offset\": 0, \"bytes\": 64 }, \"value\": 7 } },"
    "{ \"copy\": { \"dst\": { \"allocation\": \"kept\", \"offset\": 0, \"bytes\": 16 },"
    "\"src\": { \"allocation\": \"w\", \"offset\": 0, \"bytes\": 16 } } },"
    "{ \"label\": \"by kernel\", \"dispatch\": { \"kernel\": \"k\", \"grid\": [1, 1, 1], \"block\": [256, 1, 1],"
    "\"bindings\": [ { \"region\": { \"allocation\": \"out\", \"offset\": 0, \"bytes\": 4096 }, \"access\": \"w\" } ],"
    "\"args\": [ { \"binding\": 0 }, { \"u32\": 9 }, { \"u32\": 1024 } ] } } ] } ] }";

static void
write_file(const char *name, const void *data, size_t bytes)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", package_folder, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	fclose(f);
}

static void
write_package(void)
{
	static const char header[] = "{\"w\":{\"dtype\":\"U32\",\"shape\":[4],\"data_offsets\":[0,16]}}";
	char tensors[8 + sizeof(header) - 1 + 16] = { 0 };

	strcpy(package_folder, "/tmp/gpuplan-test-XXXXXX");
	assert_non_null(mkdtemp(package_folder));
	tensors[0] = sizeof(header) - 1;
	memcpy(tensors + 8, header, sizeof(header) - 1);
	write_file("w.safetensors", tensors, sizeof(tensors));
	write_file("package.json", package_json, sizeof(package_json) - 1);
}

static void
remove_package(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/w.safetensors", package_folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/package.json", package_folder);
	unlink(path);
	rmdir(package_folder);
}

/* argument: a resource's name, or "package". */
static int
child_resource(const char *argument)
{
	bool good;

	if (!strcmp(argument, "package")) {
		write_package();
		good = fail_each_resource(run_package, ANY_MEMORY, GIVE_UP);
		remove_package();
		return good ? 0 : 1;
	}
	for (unsigned i = 0; i < RESOURCES; i++)
		if (!strcmp(argument, resource_names[i]))
			return fail_each_resource(run_scenario, i, TRY_AGAIN) &&
				       fail_each_resource(run_scenario, i, GIVE_UP)
				   ? 0
				   : 1;
	return 2;
}

#else

static int
child_resource(const char *argument)
{
	(void)argument;
	return 2;
}

#endif

/* A child of its own each: a crash says so and takes nothing else along. */
static void
fail_resource(const char *name)
{
	if (SANITIZED)
		skip();
	assert_int_equal(dt_run_self(name, "SOFTGPU_JOB_DELAY_US", "1000"), 0);
}

static void
every_allocation(void **state)
{
	(void)state;
	fail_resource("allocation");
}

static void
every_eventfd(void **state)
{
	(void)state;
	fail_resource("eventfd");
}

static void
every_mapping(void **state)
{
	(void)state;
	fail_resource("mapping");
}

static void
every_allocation_of_a_package(void **state)
{
	(void)state;
	fail_resource("package");
}

/* ---- main ---- */

static bool
never_hit(void)
{
	return false;
}

/* Long enough that a wait sleeps. Read once by the device, so before anything else. */
static void
slow_jobs(char **argv)
{
	if (getenv("SOFTGPU_JOB_DELAY_US"))
		return;
	setenv("SOFTGPU_JOB_DELAY_US", "1000", 1);
	execv("/proc/self/exe", argv);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_memory_then_tried_again),
		cmocka_unit_test(out_of_memory_then_given_up),
		cmocka_unit_test(input_output_error_then_tried_again),
		cmocka_unit_test(interrupted_calls_are_made_again),
		cmocka_unit_test(without_eventfd),
		cmocka_unit_test(every_allocation),
		cmocka_unit_test(every_eventfd),
		cmocka_unit_test(every_mapping),
		cmocka_unit_test(every_allocation_of_a_package),
	};
	const struct expectation nothing = { .hit = never_hit };

	if (argc == 2)
		return getenv("SOFTGPU_FAIL") ? child_ioctl(argv[1]) : child_resource(argv[1]);
	slow_jobs(argv);
	gpuplan_context_destroy(dt_context());
	if (run_scenario(&nothing) != UNTOUCHED)
		return 1;
	read_names("renderD128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
