/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "error.h"
#include "region.h"

static int
check_owner(const struct gp_declarations *d, const struct gpuplan_region *region, const char *what, const char *colon,
	    struct gpuplan_error *error)
{
	if (region->session == 0)
		return gp_error(error, -EINVAL, "%s%sregion belongs to no session, this is session %" PRIu64, what, colon,
				d->session);
	if (region->session != d->session)
		return gp_error(error, -EINVAL, "%s%sregion belongs to session %" PRIu64 ", this is session %" PRIu64, what,
				colon, region->session, d->session);
	if (region->allocation >= d->n_allocations)
		return gp_error(error, -ENOENT, "%s%sregion names allocation %u, session %" PRIu64 " has %u", what, colon,
				region->allocation, d->session, d->n_allocations);
	if (region->reserved)
		return gp_error(error, -EINVAL, "%s%sregion \"%s\" has reserved member %u, it must be 0", what, colon,
				d->allocations[region->allocation].name, region->reserved);
	return 0;
}

int
gp_region_check(const struct gp_declarations *d, const struct gpuplan_region *region, const char *what,
		struct gpuplan_error *error)
{
	const char *colon = what ? ": " : "";
	const struct gp_allocation *a;
	uint64_t end;
	int r;

	if (!what)
		what = "";
	r = check_owner(d, region, what, colon, error);
	if (r)
		return r;
	a = &d->allocations[region->allocation];
	if (region->bytes == 0)
		return gp_error(error, -EINVAL, "%s%sregion \"%s\" at offset %" PRIu64 " has 0 bytes, at least 1 is needed",
				what, colon, a->name, region->offset);
	if (__builtin_add_overflow(region->offset, region->bytes, &end))
		return gp_error(error, -EINVAL,
				"%s%sregion \"%s\" offset %" PRIu64 " + %" PRIu64
				" bytes is more than 64 bits hold, its allocation has %" PRIu64 " bytes",
				what, colon, a->name, region->offset, region->bytes, a->bytes);
	if (end > a->bytes)
		return gp_error(error, -EINVAL,
				"%s%sregion \"%s\" offset %" PRIu64 " + %" PRIu64
				" bytes ends past its allocation of %" PRIu64 " bytes",
				what, colon, a->name, region->offset, region->bytes, a->bytes);
	return 0;
}
