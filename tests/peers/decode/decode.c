/* SPDX-License-Identifier: MIT */
/* Does softgpu decode what LLVM decodes? Gives the corpus to llvm-mc and compares mnemonic, size and operands.
 *
 *   decode [-v] [-n VARIANTS] [-r RANDOM_WORDS] [-s SEED] LLVM-MC
 *
 * Each instruction goes in as a block of exactly the dwords our decoder takes, followed by a marker, so that what LLVM
 * prints between two markers tells its size too. Exit status: 0 no difference, 1 differences, 77 no llvm-mc.
 */
#include "decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MARKER 0xbf807e57u /* s_nop 0x7e57 on both architectures */
#define MARKER_TEXT "s_nop 0x7e57"

static const char *const format_names[SG_FMT_COUNT] = {
	[SG_FMT_NONE] = "random", [SG_FMT_SOP1] = "SOP1", [SG_FMT_SOP2] = "SOP2", [SG_FMT_SOPC] = "SOPC",
	[SG_FMT_SOPK] = "SOPK", [SG_FMT_SOPP] = "SOPP", [SG_FMT_SMEM] = "SMEM", [SG_FMT_VOP1] = "VOP1",
	[SG_FMT_VOP2] = "VOP2", [SG_FMT_VOPC] = "VOPC", [SG_FMT_VOP3] = "VOP3", [SG_FMT_VOP3P] = "VOP3P",
	[SG_FMT_VOPDX] = "VOPD", [SG_FMT_VINTERP] = "VINTERP", [SG_FMT_DS] = "DS", [SG_FMT_FLAT] = "FLAT",
	[SG_FMT_GLOBAL] = "GLOBAL", [SG_FMT_SCRATCH] = "SCRATCH", [SG_FMT_MUBUF] = "MUBUF", [SG_FMT_MTBUF] = "MTBUF",
	[SG_FMT_MIMG] = "MIMG", [SG_FMT_VINTRP] = "VINTRP", [SG_FMT_LDSDIR] = "LDSDIR", [SG_FMT_EXP] = "EXP",
};

enum outcome { EQUAL, DIFFERENT, ONLY_OURS, REFUSED, NEITHER, OUTCOMES };
static const char *const outcome_names[] = { "equal", "different", "only we", "refused", "neither" };

struct count {
	unsigned opcodes, by[OUTCOMES];
};

static int verbose;

static FILE *
write_input(const struct corpus *c, size_t first, size_t count)
{
	FILE *f = tmpfile();
	for (size_t i = first; f && i < first + count; i++) {
		const struct entry *e = &c->entries[i];
		fprintf(f, "[");
		for (unsigned k = 0; k < (e->size ? e->size : 1u) * 4u; k++)
			fprintf(f, "0x%02x ", e->words[k / 4] >> 8 * (k % 4) & 255);
		fprintf(f, "]\n[0x%02x 0x%02x 0x%02x 0x%02x]\n", MARKER & 255, MARKER >> 8 & 255, MARKER >> 16 & 255, MARKER >> 24);
	}
	if (f)
		fflush(f);
	return f;
}

/* llvm-mc with the corpus as its input; nonsense is reported on stderr, which nobody needs. */
static FILE *
start(const char *llvm_mc, const char *cpu, FILE *input)
{
	char command[512];
	if (lseek(fileno(input), 0, SEEK_SET))
		return NULL;
	snprintf(command, sizeof command, "'%s' -disassemble -triple=amdgcn -mcpu=%s <&%d 2>/dev/null", llvm_mc, cpu,
		 fileno(input));
	return popen(command, "r");
}

/* LLVM's lines up to the next marker: the first one, and how many there were. False: end of output. */
static bool
answer(FILE *from, char *first, size_t bytes, unsigned *lines)
{
	char *line = NULL;
	size_t room = 0;
	bool more = false;

	*first = 0;
	*lines = 0;
	while (getline(&line, &room, from) > 0) {
		char *text = line + strspn(line, " \t");
		text[strcspn(text, "\n")] = 0;
		for (char *tab = text; (tab = strchr(tab, '\t'));)
			*tab = ' ';
		if (!strncmp(text, MARKER_TEXT, strlen(MARKER_TEXT))) {
			more = true;
			break;
		}
		if (!*text || *text == '.')
			continue;
		if ((*lines)++ == 0)
			snprintf(first, bytes, "%s", text);
	}
	free(line);
	char *comment = strstr(first, " //");
	if (comment)
		*comment = 0;
	/* LLVM decodes these but marks an operand as wrong */
	if (strstr(first, "/*Invalid"))
		*lines = 0;
	return more;
}

/* LLVM 19 knows op_sel only for some 16-bit operations; Mesa's compiler and the hardware know it for all of these. */
static void
drop_op_sel(char *text)
{
	char *at = strstr(text, " op_sel:["), *end = at ? strchr(at, ']') : NULL;
	if (end)
		memmove(at, end + 1, strlen(end));
}

static void
drop_sext(char *text)
{
	for (char *at; (at = strstr(text, "sext("));) {
		char *end = strchr(at, ')');
		if (end)
			memmove(end, end + 1, strlen(end));
		memmove(at, at + 5, strlen(at + 5) + 1);
	}
}

static enum outcome
judge(const struct entry *e, char *llvm, unsigned lines)
{
	char a[256], b[256], text[sizeof e->text];
	if (!e->known || !e->size)
		return lines ? DIFFERENT : NEITHER;
	if (!lines)
		return e->refused ? NEITHER : ONLY_OURS;
	/* a negated integer operand, which ignores the bit, looks to LLVM like a sign-extended one */
	if (!strstr(llvm, "_sdwa"))
		drop_sext(llvm);
	memcpy(text, e->text, sizeof text);
	if (!strstr(llvm, "op_sel:"))
		drop_op_sel(text);
	(e->name_only ? mnemonic : normalise)(text, a, sizeof a);
	(e->name_only ? mnemonic : normalise)(llvm, b, sizeof b);
	if (lines != 1 || strcmp(a, b))
		return DIFFERENT;
	return e->refused ? REFUSED : EQUAL;
}

static void
show(const struct entry *e, enum outcome o, const char *llvm, unsigned lines)
{
	static unsigned shown[OUTCOMES];
	if (o == EQUAL || o == NEITHER || !verbose || (o != DIFFERENT && verbose < 2) || shown[o]++ >= 4000)
		return;
	printf("  %s: %08x %08x %08x size %u  ours: %s  LLVM: %s%s%s%s\n", outcome_names[o], e->words[0], e->words[1],
	       e->words[2], e->size, e->text, lines ? llvm : "(none)", lines > 1 ? " + more" : "", e->refused ? "  " : "",
	       e->reason);
}

static void
table(const struct count *counts, const char *cpu)
{
	printf("%-9s %8s %8s %9s %8s %8s %8s\n", cpu, "opcodes", outcome_names[EQUAL], outcome_names[DIFFERENT],
	       outcome_names[ONLY_OURS], outcome_names[REFUSED], outcome_names[NEITHER]);
	struct count sum = { 0 };
	for (unsigned f = 0; f < SG_FMT_COUNT; f++) {
		const struct count *n = &counts[f];
		unsigned all = 0;
		for (unsigned o = 0; o < OUTCOMES; o++) {
			all += n->by[o];
			sum.by[o] += n->by[o];
		}
		sum.opcodes += n->opcodes;
		if (all)
			printf("%-9s %8u %8u %9u %8u %8u %8u\n", format_names[f], n->opcodes, n->by[0], n->by[1], n->by[2],
			       n->by[3], n->by[4]);
	}
	printf("%-9s %8u %8u %9u %8u %8u %8u\n", "all", sum.opcodes, sum.by[0], sum.by[1], sum.by[2], sum.by[3], sum.by[4]);
}

static void
count_opcodes(const struct sg_isa *isa, struct count *counts)
{
	for (unsigned f = 0; f < SG_FMT_COUNT; f++)
		for (unsigned n = 0; n < 1024; n++)
			counts[f == SG_FMT_VOPDY ? SG_FMT_VOPDX : f].opcodes += isa->index[f][n] != 0;
}

/* Gives LLVM entries [first, first + count); returns how many it answered. */
static size_t
run(const struct corpus *c, size_t first, size_t count, const char *llvm_mc, const char *cpu, struct count *counts)
{
	FILE *input = write_input(c, first, count), *from = input ? start(llvm_mc, cpu, input) : NULL;
	size_t i = 0;
	char llvm[256];
	unsigned lines;

	for (; from && i < count && answer(from, llvm, sizeof llvm, &lines); i++) {
		const struct entry *e = &c->entries[first + i];
		enum outcome o = judge(e, llvm, lines);
		counts[e->format].by[o]++;
		show(e, o, llvm, lines);
	}
	if (from)
		pclose(from);
	if (input)
		fclose(input);
	return i;
}

/* LLVM 19 crashes on some words; the rest is given to it in smaller and smaller pieces until they are found. */
static bool
run_all(const struct corpus *c, const char *llvm_mc, const char *cpu, struct count *counts)
{
	size_t at = 0, step = c->count;
	unsigned crashes = 0;

	while (at < c->count && crashes < 100) {
		size_t ask = step < c->count - at ? step : c->count - at, n = run(c, at, ask, llvm_mc, cpu, counts);
		at += n;
		if (n == ask)
			continue;
		if (n == 0 && ask == 1) {
			if (verbose)
				printf("  LLVM crashes: %08x %08x\n", c->entries[at].words[0], c->entries[at].words[1]);
			at++;
			crashes++;
			step = c->count;
		} else if (n == 0)
			step = ask > 64 ? 64 : 1;
	}
	if (crashes)
		printf("%s: LLVM crashed on %u of %zu entries\n", cpu, crashes, c->count);
	return at == c->count;
}

static unsigned
different_in(const struct count *counts)
{
	unsigned n = 0;
	for (unsigned f = 0; f < SG_FMT_COUNT; f++)
		n += counts[f].by[DIFFERENT];
	return n;
}

static int
compare(const char *llvm_mc, enum sg_arch arch, const char *cpu, unsigned variants, unsigned random_words,
	uint64_t seed)
{
	const struct sg_isa *isa = sg_isa_get(arch);
	struct count counts[SG_FMT_COUNT] = { 0 };
	struct corpus c = { 0 };

	count_opcodes(isa, counts);
	corpus_generate(&c, isa, variants, random_words, seed);
	bool complete = run_all(&c, llvm_mc, cpu, counts);
	table(counts, cpu);
	free(c.entries);
	return !complete || different_in(counts);
}

int
main(int argc, char **argv)
{
	unsigned variants = 12, random_words = 20000;
	uint64_t seed = 88172645463325252;
	int option, result = 0;

	while ((option = getopt(argc, argv, "vn:r:s:")) != -1) {
		switch (option) {
		case 'v': verbose++; break;
		case 'n': variants = (unsigned)atoi(optarg); break;
		case 'r': random_words = (unsigned)atoi(optarg); break;
		case 's': seed = strtoull(optarg, NULL, 0); break;
		default: return 2;
		}
	}
	if (optind >= argc || access(argv[optind], X_OK)) {
		printf("skipped: llvm-mc not found\n");
		return 77;
	}
	result |= compare(argv[optind], SG_ARCH_RDNA2, "gfx1030", variants, random_words, seed);
	result |= compare(argv[optind], SG_ARCH_RDNA3, "gfx1100", variants, random_words, seed);
	return result;
}
