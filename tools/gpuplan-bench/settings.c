/* SPDX-License-Identifier: MIT */
/* settings.c: --set NAME=VALUE: a plan's parameters from the command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/tool.h"

static bool
is_real(const char *text)
{
	return strncmp(text, "0x", 2) && strpbrk(text, ".eEnN");
}

static uint64_t
real_bits(const char *setting, const char *text, uint32_t bytes)
{
	char *end;
	double d = strtod(text, &end);
	float f = (float)d;
	uint64_t bits = 0;

	if (*end || end == text)
		tool_die("--set %s: \"%s\" is no number", setting, text);
	if (bytes != 4 && bytes != 8)
		tool_die("--set %s: the parameter has %u bytes, a fraction has 4 or 8", setting, bytes);
	memcpy(&bits, bytes == 4 ? (void *)&f : (void *)&d, bytes);
	return bits;
}

/* Negative ones as two's complement of the parameter's size. */
static uint64_t
integer_bits(const char *setting, const char *text, uint32_t bytes)
{
	uint64_t most = UINT64_MAX >> (64 - 8 * bytes), magnitude;
	bool negative = text[0] == '-';
	char *end;

	errno = 0;
	magnitude = strtoull(text + negative, &end, 0);
	if (*end || end == text + negative || text[negative] == '-' || errno)
		tool_die("--set %s: \"%s\" is no number of 64 bits", setting, text);
	if (magnitude > (negative ? most / 2 + 1 : most))
		tool_die("--set %s: the parameter has %u bytes, too few for %s", setting, bytes, text);
	return negative ? -magnitude & most : magnitude;
}

/* "none", or the names */
static void
list_parameters(const struct gpuplan_plan *plan, char *text, size_t size)
{
	struct gpuplan_parameter p;

	snprintf(text, size, "none");
	for (uint32_t i = 0; !gpuplan_plan_get_parameter(plan, i, &p); i++) {
		size_t at = i ? strlen(text) : 0;

		snprintf(text + at, size - at, "%s%s", i ? ", " : "", p.name);
	}
}

static struct gpuplan_value
read_setting(const struct gpuplan_plan *plan, const char *setting)
{
	const char *equals = strchr(setting, '=');
	struct gpuplan_parameter p;
	struct gpuplan_value value;
	char name[256], list[512];

	if (!equals || equals == setting || equals - setting >= (long)sizeof(name))
		tool_die("--set %s: NAME=VALUE is needed", setting);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - setting), setting);
	if (gpuplan_plan_parameter(plan, name, &value.parameter)) {
		list_parameters(plan, list, sizeof(list));
		tool_die("--set %s: the plan has no parameter \"%s\", it has %s", setting, name, list);
	}
	gpuplan_plan_get_parameter(plan, value.parameter, &p);
	value.bytes = p.bytes;
	value.value = is_real(equals + 1) ? real_bits(setting, equals + 1, p.bytes)
					  : integer_bits(setting, equals + 1, p.bytes);
	return value;
}

void
settings_apply(const struct bench_options *o, const struct gpuplan_plan *plan, struct gpuplan_slot *slot)
{
	struct gpuplan_value values[BENCH_SETTINGS];
	struct gpuplan_error error;

	for (unsigned i = 0; i < o->n_settings; i++)
		values[i] = read_setting(plan, o->settings[i]);
	if (gpuplan_slot_set(slot, values, o->n_settings, &error))
		tool_die("--set: %s", error.message);
}
