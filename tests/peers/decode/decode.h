/* SPDX-License-Identifier: MIT */
/* decode.h: the parts of the comparison of softgpu's decoder with LLVM's. */
#ifndef DECODE_H
#define DECODE_H

#include "core.h"

enum { MAX_WORDS = 5 };

struct entry {
	uint32_t words[MAX_WORDS];
	uint8_t format;		/* enum sg_format the generator meant; SG_FMT_NONE for random words */
	uint8_t size;		/* what our decoder says, in dwords */
	bool known;		/* a row of our table */
	bool refused;		/* known, but not run: the reason is in text */
	bool name_only;		/* operands are not printed by us */
	char text[192];
	char reason[96];
};

struct corpus {
	struct entry *entries;
	size_t count, room;
};

/* corpus.c: every opcode of the architecture in `variants` forms, and random words. */
void corpus_generate(struct corpus *c, const struct sg_isa *isa, unsigned variants, unsigned random_words, uint64_t seed);

/* text.c: the same text whatever the spacing, number base and order of modifiers. */
void normalise(const char *text, char *out, size_t bytes);
/* The mnemonic without its encoding's suffix. */
void mnemonic(const char *text, char *out, size_t bytes);

#endif
