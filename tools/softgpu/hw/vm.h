/* SPDX-License-Identifier: MIT */
/* vm.h: page tables as the rings see them. */
#ifndef SOFTGPU_VM_H
#define SOFTGPU_VM_H

#include "hw.h"

/* One mapping. va is canonical (sign-extended from bit 47). */
struct sg_mapping {
	uint64_t va, bytes;
	uint8_t *host;		/* of va; NULL: PRT */
	struct sg_bo *bo;	/* referenced by the snapshot; NULL: PRT */
	uint64_t bo_offset;
	uint32_t access;	/* SG_VM_* */
};

/* All mappings of an address space at one moment, sorted by va. Constant once a second reference exists. */
struct sg_snapshot {
	int refs;		/* atomic */
	unsigned count, room;
	struct sg_mapping map[];
};

struct sg_snapshot *sg_vm_snapshot(struct sg_vm *vm); /* a new reference */
/* Borrowed, for a caller that keeps everybody from changing the address space. */
const struct sg_snapshot *sg_vm_peek(const struct sg_vm *vm);
void sg_snapshot_unref(struct sg_snapshot *snapshot);
/* The mapping that covers va, or NULL. */
const struct sg_mapping *sg_snapshot_find(const struct sg_snapshot *snapshot, uint64_t va);

/* GPU client that faulted, as the kernel names them (gfxhub_client_ids); in the fault's status. */
enum sg_client { SG_CLIENT_CPF = 4, SG_CLIENT_CPC = 5, SG_CLIENT_CPG = 6, SG_CLIENT_TCP = 8, SG_CLIENT_SQC_INST = 9,
		 SG_CLIENT_SQC_DATA = 10, SG_CLIENT_SDMA0 = 12 };
void sg_vm_record_fault(struct sg_vm *vm, uint64_t va, uint32_t access, enum sg_client client);

static inline uint64_t
sg_canonical(uint64_t va)
{
	return (uint64_t)((int64_t)(va << 16) >> 16);
}

#endif
