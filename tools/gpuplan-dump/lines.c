/* SPDX-License-Identifier: MIT */
/* lines.c: two lists of lines, and the fewest deletions and insertions that turn one into the other (E. W. Myers, "An
 * O(ND) Difference Algorithm and Its Variations", 1986). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tool.h"
#include "lines.h"

/* Lists further apart than this are shown whole: the search keeps a row per step, a quadratic amount. */
#define MAX_STEPS 2000

FILE *
lines_start(struct lines *l)
{
	FILE *f;

	*l = (struct lines){ 0 };
	f = open_memstream(&l->text, &l->bytes);
	if (!f)
		tool_die("out of memory");
	return f;
}

void
lines_end(struct lines *l, FILE *f)
{
	char *at;

	if (fclose(f))
		tool_die("out of memory");
	for (size_t i = 0; i < l->bytes; i++)
		l->n += l->text[i] == '\n';
	l->line = calloc(l->n + 1u, sizeof(*l->line));
	if (!l->line)
		tool_die("out of memory");
	at = l->text;
	for (unsigned i = 0; i < l->n; i++) {
		l->line[i] = at;
		at = strchr(at, '\n');
		*at++ = 0;
	}
}

void
lines_free(struct lines *l)
{
	free(l->text);
	free(l->line);
}

/* The two lists between what they begin and end with alike. */
struct middle {
	const struct lines *a, *b;
	int first, n, m;
};

static int
equal(const struct middle *x, int i, int k)
{
	return !strcmp(x->a->line[x->first + i], x->b->line[x->first + k]);
}

static struct middle
trim(const struct lines *a, const struct lines *b)
{
	struct middle x = { a, b, 0, (int)a->n, (int)b->n };

	while (x.n && x.m && equal(&x, 0, 0)) {
		x.first++;
		x.n--;
		x.m--;
	}
	while (x.n && x.m && equal(&x, x.n - 1, x.m - 1)) {
		x.n--;
		x.m--;
	}
	return x;
}

static void
show(char sign, const char *line, const char *title, unsigned *shown)
{
	if (!(*shown)++)
		printf("%s\n", title);
	printf("  %c %s\n", sign, line);
}

static void
show_range(const struct lines *l, int first, int n, char sign, const char *title, unsigned *shown)
{
	for (int i = 0; i < n; i++)
		show(sign, l->line[first + i], title, shown);
}

/* Row d of the search: furthest i on each diagonal i - k = -d .. d, kept for the way back. */
struct search {
	int *rows[MAX_STEPS + 1];
	int steps;		/* -1: too many */
};

static int
furthest(const int *before, int d, int diagonal)
{
	const int *middle = before + d - 1; /* its diagonal 0 */

	if (diagonal == -d || (diagonal != d && middle[diagonal - 1] < middle[diagonal + 1]))
		return middle[diagonal + 1];
	return middle[diagonal - 1] + 1;
}

static void
search(const struct middle *x, struct search *s)
{
	s->steps = -1;
	for (int d = 0; d <= MAX_STEPS && s->steps < 0; d++) {
		int *row = malloc((2u * (unsigned)d + 1) * sizeof(*row));

		if (!row)
			tool_die("out of memory");
		s->rows[d] = row;
		for (int diagonal = -d; diagonal <= d; diagonal++)
			row[d + diagonal] = -1; /* those of the other parity are never asked for */
		for (int diagonal = -d; diagonal <= d; diagonal += 2) {
			int i = d ? furthest(s->rows[d - 1], d, diagonal) : 0;

			while (i < x->n && i - diagonal < x->m && i - diagonal >= 0 && equal(x, i, i - diagonal))
				i++;
			row[d + diagonal] = i;
			if (i >= x->n && i - diagonal >= x->m)
				s->steps = d;
		}
	}
}

/* From the end back to the start: which step was a deletion, which an insertion. */
static void
walk_back(const struct middle *x, const struct search *s, int *steps)
{
	int i = x->n, k = x->m;

	for (int d = s->steps; d > 0; d--) {
		const int *middle = s->rows[d - 1] + d - 1;
		int diagonal = i - k;
		bool down = diagonal == -d || (diagonal != d && middle[diagonal - 1] < middle[diagonal + 1]);
		int from = down ? diagonal + 1 : diagonal - 1;

		i = middle[from];
		k = i - from;
		/* An insertion of b[k] as ~k, a deletion of a[i] as i. */
		steps[d - 1] = down ? ~k : i;
	}
}

unsigned
lines_diff(const struct lines *a, const struct lines *b, const char *title)
{
	struct middle x = trim(a, b);
	unsigned shown = 0;
	struct search *s;
	int *steps;

	if (!x.n && !x.m)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		tool_die("out of memory");
	search(&x, s);
	if (s->steps < 0) {
		show_range(a, x.first, x.n, '-', title, &shown);
		show_range(b, x.first, x.m, '+', title, &shown);
	} else {
		steps = calloc((size_t)s->steps + 1, sizeof(*steps));
		if (!steps)
			tool_die("out of memory");
		walk_back(&x, s, steps);
		for (int d = 0; d < s->steps; d++) {
			if (steps[d] < 0)
				show('+', b->line[x.first + ~steps[d]], title, &shown);
			else
				show('-', a->line[x.first + steps[d]], title, &shown);
		}
		free(steps);
	}
	for (int d = 0; d <= MAX_STEPS; d++)
		free(s->rows[d]);
	free(s);
	return shown;
}
