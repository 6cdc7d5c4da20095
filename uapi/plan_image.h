/* SPDX-License-Identifier: MIT */
/* plan_image.h: a compiled plan as one block of bytes, in memory and on disk.
 *
 * header | sections, each an array of one struct, 8-byte aligned, in the order of enum plan_section.
 * All numbers little-endian, all references indices into another section or byte offsets into the strings section
 * (NUL-terminated; 0 is ""). Equal input gives equal bytes: nothing in here depends on a device, an address or time.
 */
#ifndef GPUPLAN_UAPI_PLAN_IMAGE_H
#define GPUPLAN_UAPI_PLAN_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define PLAN_IMAGE_MAGIC "GPUPLAN\x1a" /* 8 bytes; 0x1a stops a text viewer */
#define PLAN_IMAGE_VERSION 1u

enum plan_section {
	PLAN_SECTION_STRINGS,	/* char */
	PLAN_SECTION_ALLOCATIONS, /* struct plan_image_allocation */
	PLAN_SECTION_KERNELS,	/* struct plan_image_kernel */
	PLAN_SECTION_ARGS,	/* struct plan_image_arg */
	PLAN_SECTION_COMMANDS,	/* struct plan_image_command */
	PLAN_SECTION_ACCESSES,	/* struct plan_image_access */
	PLAN_SECTION_BARRIERS,	/* struct plan_image_barrier */
	PLAN_SECTION_IO,	/* struct plan_image_io */
	PLAN_SECTION_STREAM,	/* uint32_t: the run's command stream, relocation places zero or addend */
	PLAN_SECTION_RESET,	/* uint32_t: the stream that zeroes state */
	PLAN_SECTION_KERNARG,	/* uint8_t: kernel-argument template */
	PLAN_SECTION_RELOCATIONS, /* struct plan_image_relocation */
	PLAN_SECTION_PARAMETERS, /* struct plan_image_parameter */
	PLAN_SECTION_PATCHES,	/* struct plan_image_patch, those of one parameter side by side */
	PLAN_SECTION_SEGMENTS,	/* struct plan_image_segment, those of the stream first */
	PLAN_SECTION_COUNT
};

struct plan_image_section {
	uint32_t offset;	/* bytes from the start of the image */
	uint32_t count;		/* elements */
};

struct plan_image_header {
	char magic[8];
	uint32_t version;
	uint32_t bytes;		/* of the whole image */
	char target[16];	/* "gfx1100" */
	uint32_t name;		/* string */
	uint32_t flags;		/* enum gpuplan_plan_flags */
	uint32_t ib_dwords, omit_barrier; /* test hooks it was made with; 0 */
	uint32_t queue_block;	/* in the kernel arguments: 256 zero bytes for queue pointers; 0xffffffff: none */
	uint32_t reserved;
	/* layout of one slot; see enum plan_memory. All places 256-byte aligned. */
	uint64_t device_bytes;	/* device-local memory: scratch, state, private segment */
	uint64_t host_bytes;	/* mapped memory: host regions, staging, kernarg, streams, completion word */
	uint64_t kernarg_offset, stream_offset, reset_offset, word_offset; /* in host memory */
	uint64_t private_offset; /* private-segment scratch, in device memory */
	uint64_t private_bytes;
	uint64_t scratch_bytes, state_bytes, staging_bytes; /* referenced extents, not rounded */
	uint64_t scratch_planned_bytes; /* of scratch: bytes it takes, those that allocations share counted once */
	uint64_t code_hash;	/* FNV-1a over the code objects used */
	uint64_t checksum;	/* plan_image_checksum */
	struct plan_image_section sections[PLAN_SECTION_COUNT];
};

/* FNV-1a over the image as 64-bit words, this member taken as 0. Against damage, not against malice: a change of one
 * word always shows. image is 8-byte aligned, bytes (at least a header) are rounded down to words. */
static inline uint64_t
plan_image_checksum(const void *image, uint64_t bytes)
{
	const uint64_t *words = (const uint64_t *)image;
	uint64_t hash = 0xcbf29ce484222325u; /* FNV offset basis, then its prime */

	for (uint64_t i = 0; i < bytes / 8; i++)
		hash = (hash ^ (i == offsetof(struct plan_image_header, checksum) / 8 ? 0 : words[i])) * 0x100000001b3u;
	return hash;
}

/* Where a byte lives once the plan is bound to a slot. */
enum plan_memory {
	PLAN_MEMORY_NONE,	/* not referenced: costs nothing */
	PLAN_MEMORY_WEIGHT,	/* the definition's buffer of that allocation */
	PLAN_MEMORY_DEVICE,	/* the slot's device memory */
	PLAN_MEMORY_HOST,	/* the slot's mapped memory */
	PLAN_MEMORY_SHARED,	/* session runs: a buffer of the session */
	PLAN_MEMORY_CODE,	/* a loaded code object; index = code number */
};

struct plan_image_allocation {
	uint32_t name;
	uint32_t use;		/* enum gpuplan_use */
	uint32_t placement;	/* enum gpuplan_placement */
	uint32_t memory;	/* enum plan_memory */
	uint64_t bytes;		/* declared */
	uint64_t extent;	/* bytes from 0 that commands and I/O reference */
	uint64_t place;		/* offset in the slot's memory */
	uint32_t pooled;	/* 1: others may lie in the same bytes at other times: */
	uint32_t first_command, free_command; /* it is in use from one to before the other (0xffffffff: to the end) */
	uint32_t reserved;
};

struct plan_image_kernel {
	uint32_t name;
	uint32_t code;		/* code object number */
	uint64_t entry;		/* bytes from the start of the loaded code object */
	uint32_t rsrc1, rsrc2, rsrc3; /* as in the descriptor */
	uint32_t properties;
	uint32_t kernarg_bytes, explicit_bytes;
	uint32_t lds_bytes, private_bytes; /* private: per work-item */
	uint32_t wave_size, max_block;
	uint32_t first_arg, n_args;
};

struct plan_image_arg {
	uint32_t name;
	uint32_t kind;		/* enum gp_arg_kind of the loader: 1 by_value, 2 global_buffer, 3 dynamic LDS, 4 hidden */
	uint32_t offset, bytes;
};

enum plan_command_kind { PLAN_COMMAND_FILL = 1, PLAN_COMMAND_COPY, PLAN_COMMAND_DISPATCH, PLAN_COMMAND_STAGE_IN, PLAN_COMMAND_STAGE_OUT };

struct plan_image_command {
	uint32_t kind;		/* enum plan_command_kind */
	uint32_t label;
	uint32_t kernel;	/* dispatch */
	uint32_t value;		/* fill; of a parameter: its initial value */
	uint32_t value_param;	/* fill: parameter + 1 that sets the value, 0: none */
	uint32_t groups[3], block[3]; /* groups of a parameter: its initial value; of an indirect grid: its declared bound */
	uint32_t groups_param[3]; /* parameter + 1 that sets the axis, 0: none */
	uint32_t grid_access;	/* indirect grid: number + 1 among its accesses of the three counts' place, 0: none */
	uint32_t lds_bytes;	/* static + dynamic */
	uint32_t kernarg, kernarg_bytes; /* in the kernarg section */
	uint32_t first_access, n_accesses;
	uint32_t stream, stream_dwords; /* its packets, barrier before it not included */
	uint32_t level;		/* number of barriers before it */
	uint32_t source;	/* number in the caller's list; PLAN_NO_SOURCE: staging */
};
#define PLAN_NO_SOURCE 0xffffffffu

struct plan_image_access {
	uint32_t allocation;	/* index, or PLAN_STAGING | I/O index */
	uint32_t access;	/* enum gpuplan_access, PLAN_ACCESS_CP */
	uint64_t offset, bytes;
};
#define PLAN_ACCESS_CP 4u	/* a dispatch's, but read by the command processor before it starts */
#define PLAN_STAGING 0x80000000u

enum plan_hazard { PLAN_RAW = 1, PLAN_WAR = 2, PLAN_WAW = 3 };

/* What a barrier does, from cheap to dear. */
enum plan_barrier_ops {
	PLAN_BARRIER_WAIT = 1,	   /* earlier dispatches end */
	PLAN_BARRIER_INVALIDATE = 2, /* vector and scalar caches forget */
	/* where the command processor and its DMA pass L2 by (gfx12): */
	PLAN_BARRIER_L2_WRITE_BACK = 4, /* what shaders wrote reaches memory before DMA touches it */
	PLAN_BARRIER_L2_INVALIDATE = 8, /* shaders find what DMA wrote */
};

struct plan_image_barrier {
	uint32_t before;	/* command it stands in front of */
	uint32_t ops;		/* enum plan_barrier_ops */
	uint32_t producer, consumer; /* the two commands that made it necessary */
	uint32_t hazard;	/* enum plan_hazard */
	uint32_t allocation;	/* as in plan_image_access */
	uint64_t offset, bytes; /* the bytes in conflict, as the consumer names them */
	uint32_t stream, stream_dwords;
	uint32_t producer_allocation; /* as the producer names them: another one where scratch is shared */
	uint32_t reserved;
	uint64_t producer_offset;
};

struct plan_image_io {
	uint32_t name;
	uint32_t output;	/* 0 input, 1 output */
	uint32_t allocation;
	uint32_t dtype, rank;
	uint32_t staged;	/* 1: place is a staging buffer and a copy command moves it */
	uint64_t shape[8];
	uint64_t offset, bytes; /* of the region's leading bytes */
	uint64_t place;		/* in the slot's mapped memory */
};

enum plan_relocation_where { PLAN_IN_STREAM, PLAN_IN_RESET, PLAN_IN_KERNARG };
enum plan_relocation_kind {
	PLAN_RELOC_LO32,	/* low dword of the address */
	PLAN_RELOC_HI32,	/* bits 63:32 */
	PLAN_RELOC_LO32_SHR8,	/* bits 39:8, COMPUTE_PGM_LO and scratch base */
	PLAN_RELOC_HI8_SHR40,	/* bits 47:40 */
	PLAN_RELOC_ADDR64,	/* 8 bytes, kernarg */
};

struct plan_image_relocation {
	uint32_t where, kind;
	uint32_t place;		/* dword index in a stream, byte offset in kernarg */
	uint32_t memory;	/* enum plan_memory */
	uint32_t index;		/* allocation (WEIGHT, SHARED) or code number */
	uint32_t reserved;
	uint64_t addend;	/* bytes added to the base address */
};

/* A number that may change from run to run. Stream and arguments hold the initial one. */
struct plan_image_parameter {
	uint32_t name;
	uint32_t bytes;		/* 1 to 8: a little-endian unsigned integer */
	uint64_t initial, min, max;
	uint32_t first_patch, n_patches;
};

/* A place that changes with a parameter: the low bytes of value * multiplier go there. */
struct plan_image_patch {
	uint32_t parameter;
	uint32_t where;		/* PLAN_IN_STREAM, PLAN_IN_KERNARG */
	uint32_t place;		/* dword index in the stream, byte offset in kernarg */
	uint32_t bytes;		/* 1 to 8; in the stream 4 */
	uint32_t multiplier;
	uint32_t reserved;
};

/* What one IB holds of a stream. All but the last end in a jump to the next; the first is what is submitted. */
struct plan_image_segment {
	uint32_t where;		/* PLAN_IN_STREAM, PLAN_IN_RESET */
	uint32_t first, dwords;	/* in the stream; multiples of 8 */
	uint32_t reserved;
};

#endif
