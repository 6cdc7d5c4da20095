/* SPDX-License-Identifier: MIT */
/* report.c: what was run, summed over the rings. */
#include "ring.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER; /* protects last_failure of all rings */

void
sg_count_failure(struct sg_counters *c, const char *why)
{
	pthread_mutex_lock(&report_lock);
	sg_count(&c->failures, 1);
	snprintf(c->last_failure, sizeof(c->last_failure), "%s", why);
	pthread_mutex_unlock(&report_lock);
}

static uint64_t
get(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void
add_ring(struct sg_hw_stats *out, const struct sg_counters *c)
{
	out->jobs += get(&c->jobs);
	out->ibs += get(&c->ibs);
	out->packets += get(&c->packets);
	out->dwords += get(&c->dwords);
	out->dispatches += get(&c->dispatches);
	out->barriers += get(&c->barriers);
	out->acquires += get(&c->acquires);
	out->waves += get(&c->waves);
	out->instructions += get(&c->instructions);
	out->faults += get(&c->faults);
}

void
sg_hw_stats(struct sg_hw_stats *out)
{
	*out = (struct sg_hw_stats){ 0 };
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++)
		for (unsigned i = 0; i < SG_RINGS_MAX; i++)
			add_ring(out, sg_ring_counters((enum sg_ip)ip, i));
}

/* ---- JSON ---- */

struct named { const char *name; uint64_t count; };
struct table { struct named *rows; size_t count, room; };

static void
table_add(void *arg, const char *name, uint64_t count)
{
	struct table *t = arg;

	for (size_t i = 0; i < t->count; i++) {
		if (strcmp(t->rows[i].name, name) == 0) {
			t->rows[i].count += count;
			return;
		}
	}
	if (t->count == t->room) {
		size_t room = t->room ? t->room * 2 : 64;
		struct named *bigger = realloc(t->rows, room * sizeof(*bigger));
		if (!bigger)
			return;
		t->rows = bigger;
		t->room = room;
	}
	t->rows[t->count++] = (struct named){ name, count };
}

static int
by_count(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void
table_write(struct table *t, FILE *out, const char *member)
{
	if (t->count)
		qsort(t->rows, t->count, sizeof(t->rows[0]), by_count);
	fprintf(out, "\"%s\":{", member);
	for (size_t i = 0; i < t->count; i++)
		fprintf(out, "%s\"%s\":%llu", i ? "," : "", t->rows[i].name, (unsigned long long)t->rows[i].count);
	fputc('}', out);
	free(t->rows);
}

static void
write_opcodes(FILE *out)
{
	struct table t = { 0 };

	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++) {
		for (unsigned i = 0; i < SG_RINGS_MAX; i++) {
			struct sg_workers *w = sg_ring_workers((enum sg_ip)ip, i);
			if (w)
				sg_workers_opcodes(w, table_add, &t);
		}
	}
	sg_workers_helper_opcodes(table_add, &t);
	table_write(&t, out, "opcodes");
}

static void
write_packets(FILE *out)
{
	struct table t = { 0 };
	char sdma[40][24];

	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++) {
		for (unsigned op = 0; op < 256; op++) {
			const char *name = ip == SG_IP_SDMA ? sg_sdma_name(op) : sg_pm4_name(op);
			uint64_t count = 0;
			for (unsigned i = 0; i < SG_RINGS_MAX; i++)
				count += get(&sg_ring_counters((enum sg_ip)ip, i)->opcodes[op]);
			if (count == 0)
				continue;
			if (ip == SG_IP_SDMA && name && op < 40)
				name = (snprintf(sdma[op], sizeof(sdma[op]), "SDMA_%s", name), sdma[op]);
			table_add(&t, name ? name : "unknown", count);
		}
	}
	table_write(&t, out, "packets_by_name");
}

/* Sentences of ours and mnemonics hold nothing that JSON must escape; quotes and controls are replaced all the same. */
static void
write_failures(FILE *out)
{
	bool first = true;

	fputs("\"failures\":[", out);
	pthread_mutex_lock(&report_lock);
	for (unsigned ip = 0; ip < SG_IP_COUNT; ip++) {
		for (unsigned i = 0; i < SG_RINGS_MAX; i++) {
			const struct sg_counters *c = sg_ring_counters((enum sg_ip)ip, i);
			if (c->failures == 0)
				continue;
			fprintf(out, "%s{\"count\":%llu,\"last\":\"", first ? "" : ",", (unsigned long long)c->failures);
			for (const char *p = c->last_failure; *p; p++)
				fputc(*p == '"' || *p == '\\' || (unsigned char)*p < 32 ? ' ' : *p, out);
			fputs("\"}", out);
			first = false;
		}
	}
	pthread_mutex_unlock(&report_lock);
	fputc(']', out);
}

void
sg_hw_report(FILE *out)
{
	struct sg_hw_stats s;

	sg_hw_stats(&s);
	fprintf(out,
		"\"jobs\":%llu,\"ibs\":%llu,\"packets\":%llu,\"dwords\":%llu,\"dispatches\":%llu,\"barriers\":%llu,\"acquires\":%llu,"
		"\"waves\":%llu,\"instructions\":%llu,\"faults\":%llu,",
		(unsigned long long)s.jobs, (unsigned long long)s.ibs, (unsigned long long)s.packets, (unsigned long long)s.dwords,
		(unsigned long long)s.dispatches, (unsigned long long)s.barriers, (unsigned long long)s.acquires,
		(unsigned long long)s.waves, (unsigned long long)s.instructions, (unsigned long long)s.faults);
	write_opcodes(out);
	fputc(',', out);
	write_packets(out);
	fputc(',', out);
	write_failures(out);
}
