/* SPDX-License-Identifier: MIT */
/* vksuite.h: a case computes on the GPU, checks against the CPU and gives a hash that is equal on all devices. */
#ifndef VKSUITE_H
#define VKSUITE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vk.h"

struct vkcase {
	const char *name;
	uint64_t (*run)(struct vk *vk);
	unsigned flags; /* enum vk_flags */
};

extern const struct vkcase cases_basic[], cases_subgroup[], cases_types[], cases_memory[], cases_dispatch[],
	cases_transfer[], cases_sync[], cases_query[], cases_algorithms[], cases_device[], cases_descriptors[],
	cases_image[];

/* Each prints the case's line and ends its process. */
_Noreturn void case_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void case_done(uint64_t hash); /* ok, without closing anything */
_Noreturn void case_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* FNV-1a, 64 bit. */
#define HASH_INIT 0xcbf29ce484222325ull
uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes);

/* Fails the case at the first word that differs; what names the result in the message. */
void expect_u32(const char *what, const uint32_t *got, const uint32_t *want, size_t n);
void expect_u64(const char *what, const uint64_t *got, const uint64_t *want, size_t n);

/* For results with freedom in their last bits: fails beyond tol, hashes the grid point (8 tol wide) they belong to. */
uint64_t hash_near(uint64_t hash, const char *what, double got, double want, double tol);

/* xorshift64*: the same inputs everywhere. */
struct rng {
	uint64_t state;
};
uint32_t rng_u32(struct rng *rng);
uint64_t rng_u64(struct rng *rng);
float rng_float(struct rng *rng, float low, float high);

void require(bool have, const char *feature); /* skips the case where the device does not report it */

struct shader {
	const char *name;
	const uint32_t *code;
	size_t bytes;
};
extern const struct shader shaders[]; /* generated; ends with a NULL name */

/* chains.c; exit status. */
int run_chain(const char *name, unsigned n);
void cb_read_after_write(VkCommandBuffer cb); /* of the dispatch before, no more */
/* submit.c; exit status. */
int run_submit(char **names);
int run_footprint(void);

#endif
