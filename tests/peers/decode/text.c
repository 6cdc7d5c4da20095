/* SPDX-License-Identifier: MIT */
/* text.c: one spelling for what two disassemblers write differently. */
#include "decode.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOKENS = 48, TOKEN = 64 };

struct tokens {
	char t[TOKENS][TOKEN];
	unsigned count;
};

void
mnemonic(const char *text, char *out, size_t bytes)
{
	static const char *const suffixes[] = { "_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa" };
	size_t n = strcspn(text, " ");
	snprintf(out, bytes, "%.*s", (int)n, text);
	for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t s = strlen(suffixes[i]), len = strlen(out);
		if (len > s && !strcmp(out + len - s, suffixes[i])) {
			out[len - s] = 0;
			return;
		}
	}
}

/* Inline float constants by name; LLVM writes those of 16-bit integer operands as the bits of a half. */
static bool
float_name(char *token)
{
	static const struct { const char *name; int half; } names[] = {
		{ "0.5", 0x3800 }, { "-0.5", 0xb800 }, { "1.0", 0x3c00 }, { "-1.0", 0xbc00 }, { "2.0", 0x4000 },
		{ "-2.0", 0xc000 }, { "4.0", 0x4400 }, { "-4.0", 0xc400 }, { "0.15915494", 0x3118 },
		{ "0.15915494309189532", 0x3118 },
	};
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		if (!strcmp(token, names[i].name)) {
			snprintf(token, TOKEN, "%d", names[i].half);
			return true;
		}
	}
	return false;
}

/* Numbers in decimal, whole or behind a colon. */
static void
number(char *token)
{
	if (float_name(token))
		return;
	char *at = strrchr(token, ':'), *end, *low = strstr(token, ".l"), rest[TOKEN];
	at = at && !strchr(token, '[') ? at + 1 : token;
	if (!strncmp(at, "neg(", 4))
		at += 4;
	at += strspn(at, at[strspn(at, "-")] == '|' ? "-|" : "");
	if (low && token[0] == 'v')
		*low = 0;
	if (!isdigit((unsigned char)*at) && !(*at == '-' && isdigit((unsigned char)at[1])))
		return;
	long long v = strtoll(at, &end, 0);
	memcpy(rest, end, strlen(end) + 1);
	if (!*end || *end == ')' || *end == '|')
		snprintf(at, (size_t)(TOKEN - (at - token)), "%lld%s", v, rest);
}

/* Split at spaces and commas outside brackets. */
static void
split(const char *text, struct tokens *out)
{
	unsigned depth = 0, n = 0;
	out->count = 0;
	for (;; text++) {
		bool ends = !*text || (!depth && (*text == ' ' || *text == ','));
		if (ends && n && out->count < TOKENS) {
			out->t[out->count][n] = 0;
			number(out->t[out->count++]);
			n = 0;
		} else if (!ends && n < TOKEN - 1 && out->count < TOKENS)
			out->t[out->count][n++] = *text;
		if (!*text)
			return;
		depth += *text == '[' || *text == '(';
		depth -= depth && (*text == ']' || *text == ')');
	}
}

static bool
is_modifier(const char *token)
{
	static const char *const words[] = { "glc", "slc", "dlc", "lds", "idxen", "offen", "clamp", "gds", "tfe", "lwe",
					     "unorm", "r128", "a16", "d16",
					     "row_mirror", "row_half_mirror" };
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(token, words[i]))
			return true;
	const char *colon = strchr(token, ':'), *bracket = strchr(token, '[');
	return colon && (!bracket || colon < bracket);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void
drop(char *token, char c)
{
	char *to = token;
	for (; *token; token++)
		if (*token != c)
			*to++ = *token;
	*to = 0;
}

/* Operands in their order, then modifiers sorted. */
static void
normalise_one(const char *text, char *out, size_t bytes)
{
	static struct tokens all, modifiers;
	size_t used;

	mnemonic(text, out, bytes);
	used = strlen(out);
	split(text + strcspn(text, " "), &all);
	modifiers.count = 0;
	for (unsigned i = 0; i < all.count; i++) {
		/* matrices: LLVM prints it or not depending on op_sel, and it means nothing */
		if (strstr(out, "wmma") && !strncmp(all.t[i], "op_sel_hi", 9))
			continue;
		/* LLVM shows neg and abs of the integer exponent, which ignores them */
		if (!strncmp(out, "v_ldexp_f16 ", 12)) {
			drop(all.t[i], '|');
			drop(all.t[i], '-');
			if (!strncmp(all.t[i], "neg(", 4))
				snprintf(all.t[i], TOKEN, "%d", atoi(all.t[i] + 4));
		}
		if (is_modifier(all.t[i]))
			memcpy(modifiers.t[modifiers.count++], all.t[i], TOKEN);
		else if (used < bytes)
			used += (size_t)snprintf(out + used, bytes - used, " %s", all.t[i]);
	}
	qsort(modifiers.t, modifiers.count, TOKEN, by_text);
	for (unsigned i = 0; i < modifiers.count && used < bytes; i++)
		used += (size_t)snprintf(out + used, bytes - used, " %s", modifiers.t[i]);
}

void
normalise(const char *text, char *out, size_t bytes)
{
	char half[256];
	const char *pair = strstr(text, " :: ");
	if (!pair) {
		normalise_one(text, out, bytes);
		return;
	}
	snprintf(half, sizeof half, "%.*s", (int)(pair - text), text);
	normalise_one(half, out, bytes);
	size_t used = strlen(out);
	snprintf(out + used, bytes - used, " :: ");
	normalise_one(pair + 4, out + used + 4, bytes - used - 4);
}
