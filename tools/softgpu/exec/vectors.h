/* SPDX-License-Identifier: MIT */
/* vectors.h: one test vector out of a JSON line. */
#ifndef SOFTGPU_VECTORS_H
#define SOFTGPU_VECTORS_H

#include "../isa/isa.h"

enum mem_space { MEM_NONE, MEM_LDS, MEM_GLOBAL };

/* How the result register is to be compared. */
enum vector_kind { KIND_BITS, KIND_F16, KIND_PK16, KIND_BF16, KIND_F32, KIND_F64 };

struct registers {
	uint32_t *v[256];	/* lanes words; NULL = not named */
	unsigned lanes;
	uint32_t s[106];
	bool has_s[106];
	uint64_t vcc, exec;
	uint32_t scc, m0;
};

struct vector {
	char id[160], note[200];
	enum sg_arch arch;
	bool skip, kernel, scratch, has_init, scalar, approx, wmma, angle;
	unsigned wave, lanes;
	uint8_t *code, *out, *mem_init, *mem_final;
	unsigned code_bytes, out_bytes, mem_bytes, base_sgpr;
	enum mem_space mem_space;
	struct registers init, final;
	enum vector_kind kind;
	unsigned dst, dst_count;	/* result registers that kind is about */
	uint64_t skip_lanes;
	bool ignored_s[106], ignored_v[256], ignored_vcc, ignored_exec, ignored_scc;
	bool low_half_only;		/* the upper half of the result register is free */
	bool nan_disputed;
	unsigned nan_sources[3], nan_source_count;
	uint64_t checked[16];		/* hw vectors: lanes of v0..v15 that the original test asserts: NaN bits count */
	bool check_all_f32;		/* hw vectors: type unknown, NaN equals NaN */
	bool loose;			/* transcendental in the sequence */
	unsigned ulp;
};

/* Vectors that others refer to by `ref` for what they leave out: those of gen_rdna3.jsonl beside path. NULL: none. */
struct vector_refs;
struct vector_refs *vector_refs_open(const char *path);
void vector_refs_close(struct vector_refs *refs);

/* NULL when the line is no vector. */
struct vector *vector_parse(const char *line, const struct vector_refs *refs);
void vector_free(struct vector *v);
/* A register differs from what is expected: does the format's description allow it? got and want hold it and, where
 * a double begins there (vector_first_word), its second half. */
bool vector_tolerates(const struct vector *v, unsigned reg, unsigned lane, const uint32_t got[2], const uint32_t want[2]);
/* First register of the value that reg is part of. */
unsigned vector_first_word(const struct vector *v, unsigned reg);
/* Equal, both NaN, or one of them 0 where the other is denormal. */
bool vector_same_f32(uint32_t a, uint32_t b);

#endif
