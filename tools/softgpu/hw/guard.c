/* SPDX-License-Identifier: MIT */
/* guard.c: a job that reaches for user memory which the program has unmapped gets a VM fault, not the process a signal.
 *
 * The kernel waits for the buffer's jobs before it lets the pages go and unmaps them on the GPU then. Here the pages
 * are the program's own and may go at any time, inside free() too. A handler for SIGSEGV puts a page of zeros where one
 * is missing and remembers it: only for threads that run jobs, only inside buffers made of user memory, and only where
 * nothing is mapped. The page stays, for nobody could tell later whether it is still ours; at most one for each that
 * such a job touched. Every other fault goes where it would have gone. A program that sets a handler of its own after
 * its first such buffer takes the guard away.
 */
#include "host.h"
#include "guard.h"
#include "vm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ull
#define RANGES 256 /* buffers beyond that are not guarded */

static struct range {
	uint64_t at, bytes; /* atomic; bytes 0: free */
} ranges[RANGES];
static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER; /* for changes; the handler only looks */

static uint64_t missed; /* atomic: host address of the last page put in; 0: reported */
static __thread bool runs_jobs __attribute__((tls_model("initial-exec")));
static struct sigaction before[2]; /* of SIGSEGV and SIGBUS */

static bool
is_guarded(uint64_t address)
{
	for (unsigned i = 0; i < RANGES; i++) {
		uint64_t bytes = __atomic_load_n(&ranges[i].bytes, __ATOMIC_ACQUIRE);
		uint64_t at = __atomic_load_n(&ranges[i].at, __ATOMIC_ACQUIRE);
		if (address >= at && address - at < bytes)
			return true;
	}
	return false;
}

/* False: something is mapped there, so it is not that the page is missing. */
static bool
put_page(uint64_t address)
{
	void *page = (void *)(uintptr_t)(address & ~(PAGE - 1));

	return mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == page;
}

static void
on_fault(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *old = &before[signal == SIGBUS];
	uint64_t address = (uintptr_t)info->si_addr;
	int saved = errno;

	if (runs_jobs && signal == SIGSEGV && info->si_code == SEGV_MAPERR && is_guarded(address) && put_page(address)) {
		__atomic_store_n(&missed, address & ~(PAGE - 1), __ATOMIC_RELEASE);
		errno = saved;
		return;
	}
	errno = saved;
	/* Two helpers may miss the same page; the second finds it there and goes on. */
	if (runs_jobs && is_guarded(address) && __atomic_load_n(&missed, __ATOMIC_ACQUIRE) == (address & ~(PAGE - 1)) &&
	    info->si_code == SEGV_MAPERR)
		return;
	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(signal, info, context);
	} else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
		old->sa_handler(signal);
	} else {
		/* The instruction runs again and ends the process as it would have. */
		sigaction(signal, old, NULL);
	}
}

static void
install(void)
{
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	sigaction(SIGSEGV, &sa, &before[0]);
}

void
sg_guard_add(const void *at, uint64_t bytes)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
	pthread_mutex_lock(&ranges_lock);
	for (unsigned i = 0; i < RANGES; i++) {
		if (ranges[i].bytes)
			continue;
		__atomic_store_n(&ranges[i].at, (uintptr_t)at, __ATOMIC_RELEASE);
		__atomic_store_n(&ranges[i].bytes, bytes, __ATOMIC_RELEASE);
		break;
	}
	pthread_mutex_unlock(&ranges_lock);
}

void
sg_guard_remove(const void *at, uint64_t bytes)
{
	pthread_mutex_lock(&ranges_lock);
	for (unsigned i = 0; i < RANGES; i++) {
		if (ranges[i].at != (uintptr_t)at || ranges[i].bytes != bytes)
			continue;
		__atomic_store_n(&ranges[i].bytes, 0, __ATOMIC_RELEASE);
		break;
	}
	pthread_mutex_unlock(&ranges_lock);
}

void
sg_guard_thread(void)
{
	sigset_t faults;

	/* Threads of ours block everything; a fault that is blocked would end the process. */
	runs_jobs = true;
	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
}

bool
sg_guard_missed(struct sg_vm *vm)
{
	uint64_t page = __atomic_load_n(&missed, __ATOMIC_ACQUIRE);
	bool found = false;

	if (!page)
		return false;
	struct sg_snapshot *s = sg_vm_snapshot(vm);
	for (unsigned i = 0; i < s->count && !found; i++) {
		const struct sg_mapping *m = &s->map[i];
		uint64_t host = (uintptr_t)m->host;
		if (!m->bo || !m->bo->user_memory || page < host || page - host >= m->bytes)
			continue;
		sg_vm_record_fault(vm, m->va + (page - host), m->access, SG_CLIENT_TCP);
		found = true;
	}
	sg_snapshot_unref(s);
	if (found)
		__atomic_store_n(&missed, 0, __ATOMIC_RELEASE);
	return found;
}
