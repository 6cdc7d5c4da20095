/* SPDX-License-Identifier: MIT */
/* code_object_parts.h: what the files of the code-object loader share. Not for anyone else. */
#ifndef GP_CODE_OBJECT_PARTS_H
#define GP_CODE_OBJECT_PARTS_H

#include <elf.h>
#include <msgpack.h>

#include "amdgpu_code_object.h"
#include "code_object.h"
#include "error.h"

/* Program headers; lld writes 7 to 11. A bound, so that no list in the file makes a lookup slow. */
#define CO_MAX_SEGMENTS 64
/* Image bytes; the bss of a file of a few bytes may claim any size. */
#define CO_MAX_IMAGE (256u << 20)
/* Behind the last executable byte: the instruction prefetch reads past the end, and it must find mapped memory. */
#define CO_CODE_PAD 4096u
/* Kernarg segment; compilers stop at 4 KiB. */
#define CO_MAX_KERNARG 65536u
/* LDS of a workgroup: COMPUTE_PGM_RSRC2.LDS_SIZE 128 in units of 512 bytes, gfx9 to gfx12. */
#define CO_MAX_LDS 65536u
/* Stack per work-item of a kernel that calls through pointers or recurses: its fixed size leaves that out. */
#define CO_DYNAMIC_STACK 4096u
/* Private segment per wave: COMPUTE_TMPRING_SIZE.WAVESIZE, 13 bits of 1 KiB (gfx9, gfx10), 15 of 256 bytes (gfx11). */
#define CO_MAX_PRIVATE_WAVE (8191u * 1024u)
/* The loader's users place kernarg segments on multiples of this. */
#define CO_KERNARG_ALIGN 64u
/* Longest piece of the file quoted in a message. */
#define CO_TEXT 96

struct gp_co_processor {
	uint8_t mach;	  /* of e_flags */
	const char *name; /* "gfx1100", "gfx11-generic" */
};

struct gp_co_target_id {
	const struct gp_co_processor *processor;
	uint32_t xnack, sramecc; /* AMDGPU_EF_FEATURE_*: 0 unsupported, 1 any, 2 off, 3 on */
};

/* A PT_LOAD that is not empty. */
struct gp_co_segment {
	uint64_t offset; /* in the file */
	uint64_t at;	 /* in the image */
	uint64_t file_bytes, memory_bytes;
	bool executable;
};

struct gp_co_symbol {
	const char *name;
	uint64_t value; /* address as in the file */
	uint64_t bytes;
	uint16_t section;
	uint8_t type;
};

/* One load in progress. Pointers into copy and code->image stay valid until the end of it. */
struct gp_co_loader {
	const char *name; /* the caller's, for messages */
	struct gpuplan_error *error;
	struct gp_co_target_id device, file;
	uint32_t major; /* of file: 9 to 12 */

	uint8_t *copy; /* of the ELF file; owned */
	size_t bytes;
	uint64_t low; /* address in the file that is the image's byte 0, page-aligned */
	uint32_t n_segments;
	struct gp_co_segment segments[CO_MAX_SEGMENTS]; /* ascending, disjoint */
	uint64_t dynamic, dynamic_bytes;	     /* of PT_DYNAMIC, an address of the file; 0 bytes: none */

	const uint8_t *symbols; /* Elf64_Sym, unaligned */
	uint64_t n_symbols;
	const char *strings;
	uint64_t string_bytes; /* > 0: the last byte is NUL */
	const uint8_t *relas;  /* Elf64_Rela, unaligned */
	uint64_t n_relas;

	const uint8_t *note; /* metadata, MessagePack */
	size_t note_bytes;
	msgpack_unpacked metadata;

	struct gp_code_object *code; /* under construction; owned */
};

/* What the metadata says of a kernel and the descriptor must agree with. */
struct gp_co_kernel_meta {
	char *symbol; /* owned */
	uint32_t kernarg_bytes, lds_bytes, private_bytes;
	bool dynamic_stack;
};

/* code_object.c: messages. gp_co_fail fills the error with "<name>: <format>" and returns code. */
__attribute__((format(printf, 3, 4))) int gp_co_fail(struct gp_co_loader *l, int code, const char *format, ...);
int gp_co_nomem(struct gp_co_loader *l);
/* Quotes bytes of the file: printable ASCII only, cut to CO_TEXT. Returns text. */
const char *gp_co_text(char text[CO_TEXT], const char *from, size_t bytes);
/* NUL-terminated copy, or NULL. */
char *gp_co_copy_string(const char *from, size_t bytes);

/* code_object_target.c */
int gp_co_parse_device(struct gp_co_loader *l, const char *target);
int gp_co_check_flags(struct gp_co_loader *l, uint32_t e_flags);
int gp_co_check_metadata_target(struct gp_co_loader *l, const char *text, size_t bytes);
/* gfx940 to gfx942 and gfx950: architected flat scratch, unified register file. */
bool gp_co_is_gfx94(const struct gp_co_processor *processor);
bool gp_co_is_gfx90a(const struct gp_co_processor *processor);

/* code_object_elf.c: header and segments; fills code->image. */
int gp_co_read_elf(struct gp_co_loader *l);
/* Bytes of the image that come from the file, or NULL when [at, at + bytes) is not inside one segment's. */
const uint8_t *gp_co_file_bytes(const struct gp_co_loader *l, uint64_t at, uint64_t bytes, bool executable);
bool gp_co_in_segment(const struct gp_co_loader *l, uint64_t at, uint64_t bytes);

/* code_object_link.c: dynamic section, symbols, relocations; fills code->relocations. */
int gp_co_link(struct gp_co_loader *l);
bool gp_co_find_symbol(const struct gp_co_loader *l, const char *name, struct gp_co_symbol *symbol);

/* code_object_meta.c: the note; fills code->kernels. */
int gp_co_read_metadata(struct gp_co_loader *l);
/* code_object_args.c */
int gp_co_read_args(struct gp_co_loader *l, const msgpack_object *list, struct gp_kernel_info *k);
/* Keeps the first sentence: what makes the kernel unusable. */
__attribute__((format(printf, 3, 4))) int gp_co_refuse_kernel(struct gp_co_loader *l, struct gp_kernel_info *k,
							   const char *format, ...);
/* Values of a map; each says what is wrong, naming where ("kernel 'k'"). gp_co_get: NULL when absent. */
const msgpack_object *gp_co_get(const msgpack_object *map, const char *key);
int gp_co_get_u32(struct gp_co_loader *l, const msgpack_object *map, const char *where, const char *key, uint32_t *value);
int gp_co_get_string(struct gp_co_loader *l, const msgpack_object *map, const char *where, const char *key, char **value);
bool gp_co_is(const msgpack_object *object, const char *text);

/* code_object_kernel.c: the descriptor, against the metadata already in k and meta. */
int gp_co_read_descriptor(struct gp_co_loader *l, struct gp_kernel_info *k, const struct gp_co_kernel_meta *meta);

static inline bool
gp_co_range_ok(uint64_t offset, uint64_t bytes, uint64_t limit)
{
	return offset <= limit && bytes <= limit - offset;
}

#endif
