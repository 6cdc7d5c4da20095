/* SPDX-License-Identifier: MIT */
/* memory.h: what hw/ itself wants to know about backing memory. */
#ifndef SOFTGPU_MEMORY_H
#define SOFTGPU_MEMORY_H

/* Content of new BOs in hostile mode: as a float -2.9e-16, as an index out of every range, as a pointer unmapped. */
#define SG_POISON_BYTE 0xa5

#endif
