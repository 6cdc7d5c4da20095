/* SPDX-License-Identifier: MIT */
/* code_object.h: an AMDGPU code object, parsed and checked. Pure: no device. */
#ifndef GP_CODE_OBJECT_H
#define GP_CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpuplan_error;

enum gp_arg_kind {
	GP_ARG_BY_VALUE = 1,
	GP_ARG_GLOBAL_BUFFER = 2,
	GP_ARG_DYNAMIC_LDS = 3,
	GP_ARG_HIDDEN = 4,
};

struct gp_kernel_arg {
	char *name;		/* "" when the metadata has none; owned by the code object */
	enum gp_arg_kind kind;
	char hidden[32];	/* value_kind after "hidden_", for GP_ARG_HIDDEN */
	uint32_t offset, bytes;
	uint32_t align;		/* .pointee_align of dynamic LDS, else 0 */
};

/* One kernel: its descriptor and metadata, checked against one another. */
struct gp_kernel_info {
	char *name;		/* .name */
	uint64_t entry;		/* bytes from the start of the loaded image, 256-byte aligned */
	uint64_t descriptor;	/* likewise, of the .kd */
	uint32_t rsrc1, rsrc2, rsrc3; /* loader's changes applied except LDS size: reserved fields masked */
	uint32_t properties;	/* kernel_code_properties */
	uint32_t kernarg_bytes;	/* segment size, >= explicit_bytes */
	uint32_t explicit_bytes; /* end of the last explicit argument */
	bool has_args;		/* metadata lists arguments; false: packed bytes only */
	bool hidden_block;	/* segment has room for the 256-byte v5 hidden block: fill it by the table */
	uint32_t hidden_offset;	/* align8(explicit_bytes) when hidden_block */
	uint32_t lds_bytes;	/* static */
	uint32_t private_bytes;	/* per work-item, default stack included when the stack is dynamic */
	uint32_t wave_size;	/* 32 or 64 */
	uint32_t max_block;	/* min(.max_flat_workgroup_size, 1024) */
	uint32_t reqd_block[3];	/* 0,0,0: any */
	uint32_t sgprs, vgprs;
	uint32_t n_args;
	struct gp_kernel_arg *args; /* explicit ones first, in order, then hidden ones */
	uint32_t n_explicit;
	const char *refused;	/* not NULL: loadable, but using this kernel is refused with this sentence */
};

struct gp_code_relocation {
	uint64_t place;		/* bytes from the start of the image: 8 bytes */
	uint64_t value;		/* image-relative address to add the load address to */
};

struct gp_code_object {
	uint8_t *image;		/* all PT_LOAD segments at their relative places, code end padded with s_code_end */
	size_t image_bytes;	/* multiple of 4096, at least 4096 of padding behind the last executable byte */
	uint32_t abi;		/* 4, 5, 6 */
	uint32_t mach;
	uint64_t hash;		/* FNV-1a 64 over the ELF bytes */
	uint32_t n_relocations;
	struct gp_code_relocation *relocations;
	uint32_t n_kernels;
	struct gp_kernel_info *kernels;
};

/* Parses elf for a device whose target is target ("gfx1100"). name is for messages. Never trusts an offset. */
int gp_code_object_load(const void *elf, size_t bytes, const char *target, const char *name,
			struct gp_code_object **out, struct gpuplan_error *error);
void gp_code_object_destroy(struct gp_code_object *code);
/* Writes the image as it stands when loaded at GPU address base (4 KiB aligned) to dst (image_bytes). */
void gp_code_object_place(const struct gp_code_object *code, uint64_t base, void *dst);

#endif
