/* SPDX-License-Identifier: MIT */
/* vm.c: GPU address spaces.
 *
 * A running job keeps the page table it started with, so the table is a sorted array that is replaced, not changed,
 * while a job holds it. With no job in flight it is edited in place, which keeps building up a model's thousands of
 * mappings linear.
 */
#include "vm.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct sg_vm {
	int refs;			/* atomic */
	uint64_t serial;
	pthread_mutex_t lock;		/* protects all below */
	struct sg_snapshot *now;
	struct sg_vm_fault fault;
};

/* VM_L2_PROTECTION_FAULT_STATUS of gfx9 and later */
#define FAULT_PERMISSION(v) ((uint32_t)(v) << 4)
#define FAULT_CID(v) ((uint32_t)(v) << 9)
#define FAULT_RW (1u << 18)
#define FAULT_VMID(v) ((uint32_t)(v) << 20)
/* What Navi cards report for a page that has no entry: 3 on reads, 5 on writes. */
enum { PERMISSION_READ = 3, PERMISSION_WRITE = 5 };

static struct sg_snapshot *
snapshot_create(unsigned room)
{
	struct sg_snapshot *s = malloc(sizeof(*s) + room * sizeof(s->map[0]));

	if (s)
		*s = (struct sg_snapshot){ .refs = 1, .room = room };
	return s;
}

void
sg_snapshot_unref(struct sg_snapshot *s)
{
	if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	for (unsigned i = 0; i < s->count; i++)
		sg_bo_unref(s->map[i].bo);
	free(s);
}

static void
mapping_append(struct sg_snapshot *s, const struct sg_mapping *m)
{
	if (m->bo)
		sg_bo_ref(m->bo);
	s->map[s->count++] = *m;
}

uint64_t
sg_vm_serial(const struct sg_vm *vm)
{
	return vm->serial;
}

struct sg_vm *
sg_vm_create(void)
{
	static uint64_t serials; /* atomic */
	struct sg_vm *vm = calloc(1, sizeof(*vm));

	if (!vm)
		return NULL;
	vm->refs = 1;
	vm->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
	vm->now = snapshot_create(16);
	if (!vm->now) {
		free(vm);
		return NULL;
	}
	pthread_mutex_init(&vm->lock, NULL);
	return vm;
}

struct sg_vm *
sg_vm_ref(struct sg_vm *vm)
{
	__atomic_fetch_add(&vm->refs, 1, __ATOMIC_RELAXED);
	return vm;
}

void
sg_vm_unref(struct sg_vm *vm)
{
	if (!vm || __atomic_sub_fetch(&vm->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	sg_snapshot_unref(vm->now);
	pthread_mutex_destroy(&vm->lock);
	free(vm);
}

struct sg_snapshot *
sg_vm_snapshot(struct sg_vm *vm)
{
	pthread_mutex_lock(&vm->lock);
	struct sg_snapshot *s = vm->now;
	__atomic_fetch_add(&s->refs, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&vm->lock);
	return s;
}

const struct sg_snapshot *
sg_vm_peek(const struct sg_vm *vm)
{
	return vm->now;
}

/* Index of the first mapping that ends after va. */
static unsigned
lower_bound(const struct sg_snapshot *s, uint64_t va)
{
	unsigned low = 0, high = s->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		/* Compared by distance: a mapping may end at 2^64. */
		if (s->map[middle].va <= va && va - s->map[middle].va >= s->map[middle].bytes)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct sg_mapping *
sg_snapshot_find(const struct sg_snapshot *s, uint64_t va)
{
	unsigned i = lower_bound(s, va);

	return i < s->count && s->map[i].va <= va ? &s->map[i] : NULL;
}

/* Makes vm->now safe to edit and gives it room for `extra` mappings more. Call with vm->lock held. */
static int
vm_own(struct sg_vm *vm, unsigned extra)
{
	struct sg_snapshot *old = vm->now;

	/* A reference can only be added under the lock we hold; one being dropped just costs a copy. */
	if (__atomic_load_n(&old->refs, __ATOMIC_ACQUIRE) == 1 && old->room - old->count >= extra)
		return 0;
	struct sg_snapshot *s = snapshot_create((old->count + extra) * 2);
	if (!s)
		return -ENOMEM;
	for (unsigned i = 0; i < old->count; i++)
		mapping_append(s, &old->map[i]);
	vm->now = s;
	sg_snapshot_unref(old);
	return 0;
}

static void
remove_at(struct sg_snapshot *s, unsigned i)
{
	sg_bo_unref(s->map[i].bo);
	s->count--;
	memmove(&s->map[i], &s->map[i + 1], (s->count - i) * sizeof(s->map[0]));
}

/* Takes a reference on m->bo. */
static void
insert_at(struct sg_snapshot *s, unsigned i, const struct sg_mapping *m)
{
	if (m->bo)
		sg_bo_ref(m->bo);
	memmove(&s->map[i + 1], &s->map[i], (s->count - i) * sizeof(s->map[0]));
	s->map[i] = *m;
	s->count++;
}

int
sg_vm_map(struct sg_vm *vm, uint64_t va, uint64_t bytes, struct sg_bo *bo, uint64_t bo_offset, uint32_t access)
{
	va = sg_canonical(va);
	if (bytes == 0 || va + bytes - 1 < va)
		return -EINVAL;
	if (bo && (bo_offset > bo->bytes || bytes > bo->bytes - bo_offset))
		return -EINVAL;
	struct sg_mapping m = {
		.va = va, .bytes = bytes, .host = bo ? bo->host + bo_offset : NULL,
		.bo = bo, .bo_offset = bo_offset, .access = access,
	};

	pthread_mutex_lock(&vm->lock);
	unsigned i = lower_bound(vm->now, va);
	int r = -EINVAL;
	if (i == vm->now->count || vm->now->map[i].va > va + bytes - 1) {
		r = vm_own(vm, 1);
		if (r == 0)
			insert_at(vm->now, i, &m);
	}
	pthread_mutex_unlock(&vm->lock);
	return r;
}

int
sg_vm_unmap(struct sg_vm *vm, uint64_t va, const struct sg_bo *bo)
{
	va = sg_canonical(va);
	pthread_mutex_lock(&vm->lock);
	unsigned i = lower_bound(vm->now, va);
	int r = -ENOENT;
	if (i < vm->now->count && vm->now->map[i].va == va && vm->now->map[i].bo == bo) {
		r = vm_own(vm, 0);
		if (r == 0)
			remove_at(vm->now, i);
	}
	pthread_mutex_unlock(&vm->lock);
	return r;
}

/* The part of m from `va` on. */
static struct sg_mapping
tail_of(const struct sg_mapping *m, uint64_t va)
{
	struct sg_mapping tail = *m;
	uint64_t skip = va - m->va;

	tail.va = va;
	tail.bytes = m->bytes - skip;
	tail.bo_offset += skip;
	if (tail.host)
		tail.host += skip;
	return tail;
}

/* Cuts [va, last] out of mapping i; returns the index to go on with. */
static unsigned
cut_mapping(struct sg_snapshot *s, unsigned i, uint64_t va, uint64_t last)
{
	struct sg_mapping old = s->map[i];
	uint64_t old_last = old.va + old.bytes - 1;
	bool tail = old_last > last;

	if (tail) {
		struct sg_mapping t = tail_of(&old, last + 1);
		insert_at(s, i + 1, &t);
	}
	if (old.va < va) {
		s->map[i].bytes = va - old.va;
		return i + 1;
	}
	remove_at(s, i);
	return i;
}

int
sg_vm_clear(struct sg_vm *vm, uint64_t va, uint64_t bytes)
{
	va = sg_canonical(va);
	uint64_t last = va + bytes - 1;
	if (bytes == 0 || last < va)
		return -EINVAL;

	pthread_mutex_lock(&vm->lock);
	int r = vm_own(vm, 1); /* one mapping at most is split in two */
	for (unsigned i = lower_bound(vm->now, va); r == 0 && i < vm->now->count && vm->now->map[i].va <= last;)
		i = cut_mapping(vm->now, i, va, last);
	pthread_mutex_unlock(&vm->lock);
	return r;
}

void
sg_vm_drop_bo(struct sg_vm *vm, const struct sg_bo *bo)
{
	pthread_mutex_lock(&vm->lock);
	if (vm_own(vm, 0) == 0) {
		for (unsigned i = 0; i < vm->now->count;) {
			if (vm->now->map[i].bo == bo)
				remove_at(vm->now, i);
			else
				i++;
		}
	}
	pthread_mutex_unlock(&vm->lock);
}

void
sg_vm_record_fault(struct sg_vm *vm, uint64_t va, uint32_t access, enum sg_client client)
{
	bool write = access & SG_VM_WRITE;

	pthread_mutex_lock(&vm->lock);
	vm->fault.address = va & ~0xfffull; /* hardware knows the page only */
	vm->fault.status = FAULT_PERMISSION(write ? PERMISSION_WRITE : PERMISSION_READ) | FAULT_CID(client) |
			   (write ? FAULT_RW : 0) | FAULT_VMID(1);
	vm->fault.vmhub = 0; /* AMDGPU_VMHUB_TYPE_GFX */
	vm->fault.count++;
	pthread_mutex_unlock(&vm->lock);
}

void
sg_vm_last_fault(struct sg_vm *vm, struct sg_vm_fault *out)
{
	pthread_mutex_lock(&vm->lock);
	*out = vm->fault;
	pthread_mutex_unlock(&vm->lock);
}
