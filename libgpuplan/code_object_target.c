/* SPDX-License-Identifier: MIT */
/* code_object_target.c: does a code object fit a device? Source: LLVM's AMDGPUUsage, "Target ID". */
#include <errno.h>
#include <string.h>

#include "code_object_parts.h"

enum { UNSUPPORTED, ANY, OFF, ON }; /* e_flags values of xnack and sramecc */

static const char *const feature_text[] = { "unsupported", "any", "off", "on" };

/* Version of the generic targets' compatibility rules; the same for all of them so far. */
#define GENERIC_VERSION 1

static const struct gp_co_processor processors[] = {
#define X(mach, name) { mach, #name },
	AMDGPU_EF_MACHS(X)
#undef X
	/* known by name only: so that a refusal can say what the file is for */
	{ 0x20, "gfx600" },
	{ 0x21, "gfx601" },
	{ 0x3a, "gfx602" },
	{ 0x22, "gfx700" },
	{ 0x23, "gfx701" },
	{ 0x24, "gfx702" },
	{ 0x25, "gfx703" },
	{ 0x26, "gfx704" },
	{ 0x3b, "gfx705" },
	{ 0x28, "gfx801" },
	{ 0x29, "gfx802" },
	{ 0x2a, "gfx803" },
	{ 0x3c, "gfx805" },
	{ 0x2b, "gfx810" },
	{ 0x4f, "gfx950" },
	{ 0x58, "gfx1153" },
	{ 0x49, "gfx1250" },
	{ 0x51, "gfx9-generic" },
	{ 0x52, "gfx10-1-generic" },
	{ 0x53, "gfx10-3-generic" },
	{ 0x54, "gfx11-generic" },
	{ 0x59, "gfx12-generic" },
	{ 0x5f, "gfx9-4-generic" },
};

/* The first so many are those of uapi/code_object.h: what a device may be. */
#define X(mach, name) +1
enum { N_DEVICES = 0 AMDGPU_EF_MACHS(X) };
#undef X

static const struct {
	const char *generic, *members;
} families[] = {
	{ "gfx9-generic", "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c" },
	{ "gfx9-4-generic", "gfx940 gfx941 gfx942 gfx950" },
	{ "gfx10-1-generic", "gfx1010 gfx1011 gfx1012 gfx1013" },
	{ "gfx10-3-generic", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036" },
	{ "gfx11-generic", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153" },
	{ "gfx12-generic", "gfx1200 gfx1201" },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct gp_co_processor *
find_mach(uint32_t mach)
{
	for (size_t i = 0; i < COUNT(processors); i++)
		if (processors[i].mach == mach)
			return &processors[i];
	return NULL;
}

static const struct gp_co_processor *
find_name(const char *name, size_t bytes)
{
	for (size_t i = 0; i < COUNT(processors); i++)
		if (strlen(processors[i].name) == bytes && !memcmp(processors[i].name, name, bytes))
			return &processors[i];
	return NULL;
}

static bool
in_list(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = strstr(list, word); p; p = strstr(p + n, word))
		if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

static const char *
family_members(const struct gp_co_processor *p)
{
	for (size_t i = 0; i < COUNT(families); i++)
		if (!strcmp(families[i].generic, p->name))
			return families[i].members;
	return NULL;
}

/* "gfx90a" and "gfx9-generic" are 9, "gfx1100" is 11, "gfx10-3-generic" 10: the number before a dash, or all but
 * the last two characters. */
static uint32_t
major_of(const struct gp_co_processor *p)
{
	const char *digits = p->name + 3, *dash = strchr(digits, '-');
	size_t n = dash ? (size_t)(dash - digits) : strlen(digits) - 2;
	uint32_t major = 0;

	for (size_t i = 0; i < n; i++)
		major = major * 10 + (uint32_t)(digits[i] - '0');
	return major;
}

bool
gp_co_is_gfx94(const struct gp_co_processor *p)
{
	return in_list("gfx940 gfx941 gfx942 gfx950 gfx9-4-generic", p->name);
}

bool
gp_co_is_gfx90a(const struct gp_co_processor *p)
{
	return !strcmp(p->name, "gfx90a");
}

static bool
has_xnack(const struct gp_co_processor *p)
{
	return major_of(p) == 9 || in_list("gfx801 gfx810 gfx1010 gfx1011 gfx1012 gfx1013 gfx10-1-generic", p->name);
}

static bool
has_sramecc(const struct gp_co_processor *p)
{
	return gp_co_is_gfx94(p) || in_list("gfx906 gfx908 gfx90a", p->name);
}

/* What a device has when its target text does not say: the amdgpu driver's defaults. */
static void
default_features(struct gp_co_target_id *id)
{
	id->xnack = has_xnack(id->processor) ? OFF : UNSUPPORTED;
	id->sramecc = !has_sramecc(id->processor) ? UNSUPPORTED : !strcmp(id->processor->name, "gfx906") ? OFF : ON;
}

/* Takes ":xnack+"; absent features keep their value. Returns false for anything else. */
static bool
parse_feature(const char **text, const char *end, const char *name, uint32_t *feature)
{
	size_t n = strlen(name);
	const char *p = *text;

	if ((size_t)(end - p) < n + 2 || p[0] != ':' || memcmp(p + 1, name, n) || (p[n + 1] != '+' && p[n + 1] != '-'))
		return false;
	*feature = p[n + 1] == '+' ? ON : OFF;
	*text = p + n + 2;
	return true;
}

/* processor[:sramecc(+|-)][:xnack(+|-)]; id->processor is found, the features not named keep their values. */
static bool
parse_features(const char *text, const char *end, struct gp_co_target_id *id)
{
	while (text < end)
		if (!parse_feature(&text, end, "sramecc", &id->sramecc) &&
		    !parse_feature(&text, end, "xnack", &id->xnack))
			return false;
	return (id->sramecc < OFF || has_sramecc(id->processor)) && (id->xnack < OFF || has_xnack(id->processor));
}

static size_t
processor_bytes(const char *text, const char *end)
{
	const char *colon = memchr(text, ':', (size_t)(end - text));

	return (size_t)((colon ? colon : end) - text);
}

int
gp_co_parse_device(struct gp_co_loader *l, const char *target)
{
	const char *end = target + strlen(target);
	size_t n = processor_bytes(target, end);
	char text[CO_TEXT];

	l->device.processor = find_name(target, n);
	if (!l->device.processor || l->device.processor >= processors + N_DEVICES)
		return gp_co_fail(l, -ENOTSUP, "device target '%s' is not known to the code object loader",
			       gp_co_text(text, target, (size_t)(end - target)));
	default_features(&l->device);
	if (!parse_features(target + n, end, &l->device))
		return gp_co_fail(l, -EINVAL, "device target '%s' has features that %s does not have",
			       gp_co_text(text, target, (size_t)(end - target)), l->device.processor->name);
	return 0;
}

static int
check_generic_version(struct gp_co_loader *l, uint32_t version)
{
	const char *name = l->file.processor->name;

	if (!family_members(l->file.processor))
		return !version ? 0
				: gp_co_fail(l, -ENOEXEC, "malformed: generic version %u, but %s is one processor",
					  version, name);
	if (l->code->abi < 6)
		return gp_co_fail(l, -ENOEXEC, "malformed: %s needs code object v6, the file is v%u", name, l->code->abi);
	if (!version)
		return gp_co_fail(l, -ENOEXEC, "malformed: %s without a generic version", name);
	if (version > GENERIC_VERSION)
		return gp_co_fail(l, -ENOTSUP, "generic version %u of %s is too new: this loader knows version %u",
			       version, name, GENERIC_VERSION);
	return 0;
}

static int
check_processor(struct gp_co_loader *l)
{
	const struct gp_co_processor *file = l->file.processor, *device = l->device.processor;
	const char *members = family_members(file);

	if (members && in_list(members, device->name))
		return 0;
	if (members)
		return gp_co_fail(l, -ENOTSUP, "built for %s (%s), but the device is %s", file->name, members,
			       device->name);
	if (file == device)
		return 0;
	if (major_of(file) != major_of(device))
		return gp_co_fail(l, -ENOTSUP, "built for %s, another architecture (gfx%u) than the device's %s (gfx%u)",
			       file->name, major_of(file), device->name, major_of(device));
	return gp_co_fail(l, -ENOTSUP, "built for %s, but the device is %s: same gfx%u architecture, other processor",
		       file->name, device->name, major_of(file));
}

static int
check_feature(struct gp_co_loader *l, const char *name, bool known, uint32_t file, uint32_t device)
{
	if (file != UNSUPPORTED && !known)
		return gp_co_fail(l, -ENOEXEC, "malformed: e_flags say %s %s, but %s has no %s", name, feature_text[file],
			       l->file.processor->name, name);
	if (file <= ANY || file == device)
		return 0;
	return gp_co_fail(l, -ENOTSUP, "built for %s with %s %s, but the device's %s has %s %s", l->file.processor->name,
		       name, feature_text[file], l->device.processor->name, name, feature_text[device]);
}

static int
check_features(struct gp_co_loader *l)
{
	int r = check_feature(l, "xnack", has_xnack(l->file.processor), l->file.xnack, l->device.xnack);

	return r ? r : check_feature(l, "sramecc", has_sramecc(l->file.processor), l->file.sramecc, l->device.sramecc);
}

int
gp_co_check_flags(struct gp_co_loader *l, uint32_t flags)
{
	uint32_t mach = flags & AMDGPU_EF_MACH_MASK, version = flags >> AMDGPU_EF_GENERIC_VERSION_SHIFT;
	uint32_t known = AMDGPU_EF_MACH_MASK | AMDGPU_EF_FEATURE_MASK << AMDGPU_EF_XNACK_SHIFT |
			 AMDGPU_EF_FEATURE_MASK << AMDGPU_EF_SRAMECC_SHIFT |
			 (l->code->abi >= 6 ? 0xffu << AMDGPU_EF_GENERIC_VERSION_SHIFT : 0);
	int r;

	if (flags & ~known)
		return gp_co_fail(l, -ENOEXEC, "e_flags 0x%08x has bits that code object v%u does not define (0x%08x)",
			       flags, l->code->abi, flags & ~known);
	l->file.processor = find_mach(mach);
	if (!l->file.processor)
		return gp_co_fail(l, -ENOTSUP, "built for an unknown processor (machine 0x%02x), the device is %s", mach,
			       l->device.processor->name);
	l->file.xnack = flags >> AMDGPU_EF_XNACK_SHIFT & AMDGPU_EF_FEATURE_MASK;
	l->file.sramecc = flags >> AMDGPU_EF_SRAMECC_SHIFT & AMDGPU_EF_FEATURE_MASK;
	l->code->mach = mach;
	l->major = major_of(l->file.processor);
	r = check_generic_version(l, version);
	if (!r)
		r = check_processor(l);
	return r ? r : check_features(l);
}

/* 'any' and 'unsupported' are both left out of the text. */
static bool
same_feature(uint32_t flags, uint32_t text)
{
	return flags == text || (flags <= ANY && text <= ANY);
}

int
gp_co_check_metadata_target(struct gp_co_loader *l, const char *text, size_t bytes)
{
	static const char prefix[] = "amdgcn-amd-amdhsa-";
	struct gp_co_target_id id = { NULL, UNSUPPORTED, UNSUPPORTED };
	const char *end = text + bytes, *p = NULL;
	char quoted[CO_TEXT];
	size_t n = 0;

	/* the environment between the last two dashes is empty, or "unknown" */
	if (bytes > sizeof(prefix) - 1 && !memcmp(text, prefix, sizeof(prefix) - 1))
		p = memchr(text + sizeof(prefix) - 1, '-', bytes - (sizeof(prefix) - 1));
	if (p) {
		n = processor_bytes(++p, end);
		id.processor = find_name(p, n);
	}
	if (!id.processor || !parse_features(p + n, end, &id))
		return gp_co_fail(l, -ENOEXEC, "malformed: amdhsa.target '%s' is no target of this loader",
			       gp_co_text(quoted, text, bytes));
	if (id.processor != l->file.processor || !same_feature(l->file.xnack, id.xnack) ||
	    !same_feature(l->file.sramecc, id.sramecc))
		return gp_co_fail(l, -ENOEXEC, "malformed: e_flags say %s (xnack %s, sramecc %s), amdhsa.target says '%s'",
			       l->file.processor->name, feature_text[l->file.xnack], feature_text[l->file.sramecc],
			       gp_co_text(quoted, text, bytes));
	return 0;
}
