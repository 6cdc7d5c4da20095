/* SPDX-License-Identifier: MIT */
/* guard.h: user memory that goes away while a job uses it. */
#ifndef SOFTGPU_GUARD_H
#define SOFTGPU_GUARD_H

#include "hw.h"

/* The program's memory [at, at + bytes) is a buffer from now on; the end of that. Any thread. */
void sg_guard_add(const void *at, uint64_t bytes);
void sg_guard_remove(const void *at, uint64_t bytes);
/* First call of a thread that runs jobs. */
void sg_guard_thread(void);
/* After a job: when memory that vm maps was missing, records the VM fault; true then. */
bool sg_guard_missed(struct sg_vm *vm);

#endif
