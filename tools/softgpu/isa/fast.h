/* SPDX-License-Identifier: MIT */
/* fast.h: handlers written for one vector extension of the host; fast.c chooses among them at decode time. */
#ifndef SOFTGPU_FAST_H
#define SOFTGPU_FAST_H

#include "core.h"

/* A vector operation without modifiers. Each form serves any wave and exec mask; it is quickest with all lanes of a
 * wave32 on. */
struct sg_fast_valu {
	const char *name;	/* as the general operation is called in valu_list.h */
	sg_handler *vgprs;	/* all sources in VGPRs */
	sg_handler *scalar;	/* the first source in an SGPR or constant, the others in VGPRs; NULL: none such */
	sg_handler *any;	/* sources in VGPRs, SGPRs and constants */
};

struct sg_fast {
	const struct sg_fast_valu *valu;
	unsigned count;
	/* Loads and stores of whole dwords. */
	sg_handler *lds[2][2];	/* at one address or two */
	sg_handler *global[2];
};

extern const struct sg_fast sg_fast_avx2, sg_fast_avx512;

#endif
