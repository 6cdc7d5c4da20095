/* SPDX-License-Identifier: MIT */
/* session.c: declaring memory, uploading to it, loading code. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "params.h"
#include "region.h"
#include "session.h"

static atomic_uint_fast64_t last_session;

const char *
gp_use_name(enum gpuplan_use use)
{
	switch (use) {
	case GPUPLAN_WEIGHT:
		return "weight";
	case GPUPLAN_SCRATCH:
		return "scratch";
	case GPUPLAN_STATE:
		return "state";
	}
	return "unknown use";
}

/* Room for one more element at array[n]. */
static int
make_room(void *array_place, uint32_t *room, uint32_t n, size_t element, struct gpuplan_error *error)
{
	uint32_t wanted = n < 8 ? 8 : n * 2;
	void *array;

	if (n < *room)
		return 0;
	/* Bit 31 of an allocation or code number means something else to the plan compiler. */
	if (n >= 1u << 30)
		return gp_error(error, -ENOMEM, "%" PRIu32 " declarations are more than a session takes", n);
	memcpy(&array, array_place, sizeof(array));
	array = realloc(array, wanted * element);
	if (!array)
		return gp_error(error, -ENOMEM, "no memory for %" PRIu32 " declarations", wanted);
	memcpy(array_place, &array, sizeof(array));
	*room = wanted;
	return 0;
}

/* ---- create and destroy ---- */

int
gpuplan_session_create(struct gpuplan_context *context, struct gpuplan_session **out, struct gpuplan_error *error)
{
	struct gpuplan_session *session;

	if (!context)
		return gp_error(error, -EINVAL, "session needs a context, there is none");
	if (gp_context_check_process(context))
		return gp_error(error, -ECHILD, "context belongs to process %d, this is a child of it",
				(int)context->pid);
	session = calloc(1, sizeof(*session));
	if (!session)
		return gp_error(error, -ENOMEM, "no memory for a session");
	session->context = context;
	session->runs_end = &session->runs;
	session->declarations.session = atomic_fetch_add(&last_session, 1) + 1;
	session->declarations.target = context->target;
	*out = session;
	return 0;
}

void
gpuplan_session_destroy(struct gpuplan_session *session)
{
	if (!session)
		return;
	gp_session_drop_work(session);
	gp_declarations_finish(&session->declarations);
	free(session);
}

/* ---- allocations ---- */

static int
check_alloc(const struct gpuplan_alloc_params *params, const char *name, struct gpuplan_error *error)
{
	if (params->use < GPUPLAN_WEIGHT || params->use > GPUPLAN_STATE)
		return gp_error(error, -EINVAL, "allocation \"%s\" has unknown use %d, weight, scratch or state is needed",
				name, (int)params->use);
	if (params->placement != GPUPLAN_DEVICE && params->placement != GPUPLAN_HOST)
		return gp_error(error, -EINVAL, "allocation \"%s\" has unknown placement %d, device or host is needed",
				name, (int)params->placement);
	if (params->use == GPUPLAN_WEIGHT && params->placement != GPUPLAN_DEVICE)
		return gp_error(error, -EINVAL, "weight \"%s\" asks for host placement, weights are always device memory",
				name);
	if (params->reserved)
		return gp_error(error, -EINVAL, "allocation \"%s\" has reserved member %" PRIu32 ", it must be 0", name,
				params->reserved);
	if (!params->bytes)
		return gp_error(error, -EINVAL, "allocation \"%s\" has 0 bytes, at least 1 is needed", name);
	if (params->bytes > 1ull << 47)
		return gp_error(error, -ENOMEM, "allocation \"%s\" has %" PRIu64 " bytes, GPU addresses span %llu", name,
				params->bytes, 1ull << 47);
	return 0;
}

int
gp_session_back(struct gpuplan_session *session, struct gp_allocation *a, struct gpuplan_error *error)
{
	bool weight = a->use == GPUPLAN_WEIGHT;
	char what[96];

	snprintf(what, sizeof(what), "%s \"%.64s\"", gp_use_name(a->use), a->name);
	return gp_buffer_create(session->context, a->bytes,
				a->placement == GPUPLAN_HOST ? GP_HEAP_HOST : GP_HEAP_DEVICE,
				weight ? GP_FOR_WEIGHTS : GP_FOR_SESSION, what, &a->buffer, error);
}

static int
allocation_init(struct gpuplan_session *session, const struct gpuplan_alloc_params *params, struct gp_allocation *a,
		struct gpuplan_error *error)
{
	char number[16];
	int r;

	snprintf(number, sizeof(number), "#%" PRIu32, session->declarations.n_allocations);
	*a = (struct gp_allocation){ .use = params->use, .placement = params->placement, .bytes = params->bytes };
	r = check_alloc(params, params->name ? params->name : number, error);
	if (r)
		return r;
	a->name = strdup(params->name ? params->name : number);
	if (!a->name)
		return gp_error(error, -ENOMEM, "no memory for the name of allocation %s", number);
	r = a->use == GPUPLAN_WEIGHT ? gp_session_back(session, a, error) : 0;
	if (r)
		free(a->name);
	return r;
}

int
gpuplan_session_alloc(struct gpuplan_session *session, const struct gpuplan_alloc_params *caller_params,
		      struct gpuplan_region *region, struct gpuplan_error *error)
{
	struct gp_declarations *d = &session->declarations;
	struct gpuplan_alloc_params params;
	int r = gp_session_check(session, error);

	if (!r)
		r = gp_params_copy(&params, sizeof(params), caller_params, "allocation", error);
	if (!r)
		r = make_room(&d->allocations, &session->allocations_room, d->n_allocations, sizeof(*d->allocations),
			      error);
	if (!r)
		r = allocation_init(session, &params, &d->allocations[d->n_allocations], error);
	if (r)
		return r;
	*region = (struct gpuplan_region){
		.session = d->session,
		.allocation = d->n_allocations++,
		.bytes = params.bytes,
	};
	return 0;
}

int
gpuplan_session_upload(struct gpuplan_session *session, struct gpuplan_region region, const void *data,
		       struct gpuplan_error *error)
{
	const struct gp_allocation *a;
	char what[96];
	int r = gp_session_check(session, error);

	if (!r)
		r = gp_region_check(&session->declarations, &region, "upload", error);
	if (r)
		return r;
	a = &session->declarations.allocations[region.allocation];
	if (a->use != GPUPLAN_WEIGHT)
		return gp_error(error, -EINVAL, "upload: region \"%s\" is %s, only weights are uploaded to", a->name,
				gp_use_name(a->use));
	if (!data)
		return gp_error(error, -EINVAL, "upload: region \"%s\" takes %" PRIu64 " bytes, data is NULL", a->name,
				region.bytes);
	if (session->context->offline)
		return 0;
	snprintf(what, sizeof(what), "upload of weight \"%.64s\"", a->name);
	return gp_upload_write(session, a->buffer->va + region.offset, data, region.bytes, what, error);
}

int
gpuplan_session_download(struct gpuplan_session *session, struct gpuplan_region region, void *data, uint64_t deadline,
			 struct gpuplan_error *error)
{
	const struct gp_allocation *a;
	char what[96];
	int r = gp_session_check(session, error);

	if (!r)
		r = gp_region_check(&session->declarations, &region, "download", error);
	if (r)
		return r;
	a = &session->declarations.allocations[region.allocation];
	if (!data)
		return gp_error(error, -EINVAL, "download: region \"%s\" gives %" PRIu64 " bytes, data is NULL", a->name,
				region.bytes);
	if (session->context->offline)
		return gp_error(error, -ENODEV, "download: region \"%s\" of an offline context has no contents", a->name);
	if (!a->buffer)
		return gp_error(error, -EINVAL, "download: %s \"%s\" has no memory, no run of session %" PRIu64 " used it",
				gp_use_name(a->use), a->name, session->declarations.session);
	snprintf(what, sizeof(what), "download of %s \"%.64s\"", gp_use_name(a->use), a->name);
	return gp_upload_read(session, a->buffer->va + region.offset, data, region.bytes, deadline ? deadline : 1, what,
			      error);
}

/* ---- code ---- */

/* The object's image where the GPU will execute it. */
static int
code_place(struct gpuplan_session *session, struct gp_code *code, struct gpuplan_error *error)
{
	size_t bytes = code->object->image_bytes;
	void *image;
	char what[96];
	int r;

	snprintf(what, sizeof(what), "code object \"%.64s\"", code->name);
	r = gp_buffer_create(session->context, bytes, GP_HEAP_DEVICE, GP_FOR_CODE, what, &code->buffer, error);
	if (r || session->context->offline)
		return r;
	image = malloc(bytes);
	if (image) {
		gp_code_object_place(code->object, code->buffer->va, image);
		r = gp_upload_code(session, code->buffer->va, image, bytes, what, error);
		free(image);
	} else {
		r = gp_error(error, -ENOMEM, "no memory to place %s of %zu bytes", what, bytes);
	}
	if (r) {
		/* The first chunks may be on their way. */
		gp_upload_drain(&session->upload);
		gp_buffer_destroy(code->buffer);
	}
	return r;
}

static int
code_init(struct gpuplan_session *session, const void *elf, size_t bytes, const char *name, struct gp_code *code,
	  struct gpuplan_error *error)
{
	char number[16];
	int r;

	snprintf(number, sizeof(number), "#%" PRIu32, session->declarations.n_codes);
	*code = (struct gp_code){ .name = strdup(name ? name : number) };
	if (!code->name)
		return gp_error(error, -ENOMEM, "no memory for the name of code object %s", number);
	r = gp_code_object_load(elf, bytes, session->context->target->name, code->name, &code->object, error);
	if (!r) {
		r = code_place(session, code, error);
		if (r)
			gp_code_object_destroy(code->object);
	}
	if (r)
		free(code->name);
	return r;
}

int
gpuplan_session_load(struct gpuplan_session *session, const void *elf, size_t bytes, const char *name, uint32_t *code,
		     struct gpuplan_error *error)
{
	struct gp_declarations *d = &session->declarations;
	int r = gp_session_check(session, error);

	if (!r)
		r = make_room(&d->codes, &session->codes_room, d->n_codes, sizeof(*d->codes), error);
	if (!r)
		r = code_init(session, elf, bytes, name, &d->codes[d->n_codes], error);
	if (r)
		return r;
	*code = d->n_codes++;
	return 0;
}

static int
no_such_kernel(const struct gp_code *code, const char *symbol, struct gpuplan_error *error)
{
	char names[384] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < code->object->n_kernels && n < sizeof(names); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "", code->object->kernels[i].name);
	return gp_error(error, -ENOENT, "code object \"%.40s\" has no kernel \"%.40s\", it has %s%s", code->name, symbol,
			n ? names : "none", n >= sizeof(names) ? "..." : "");
}

/* The handle of a kernel that was looked up before, or a new one. */
static int
kernel_handle(struct gpuplan_session *session, struct gp_kernel_ref ref, uint32_t *index, struct gpuplan_error *error)
{
	struct gp_declarations *d = &session->declarations;
	int r;

	for (uint32_t i = 0; i < d->n_kernels; i++)
		if (d->kernels[i].code == ref.code && d->kernels[i].kernel == ref.kernel) {
			*index = i;
			return 0;
		}
	r = make_room(&d->kernels, &session->kernels_room, d->n_kernels, sizeof(*d->kernels), error);
	if (r)
		return r;
	d->kernels[d->n_kernels] = ref;
	*index = d->n_kernels++;
	return 0;
}

int
gpuplan_session_kernel(struct gpuplan_session *session, uint32_t code, const char *symbol,
		       struct gpuplan_kernel *kernel, struct gpuplan_error *error)
{
	const struct gp_declarations *d = &session->declarations;
	const struct gp_code_object *object;
	struct gp_kernel_ref ref = { .code = code };
	uint32_t index;
	int r = gp_session_check(session, error);

	if (r)
		return r;
	if (code >= d->n_codes)
		return gp_error(error, -ENOENT, "code object %" PRIu32 " is unknown, session %" PRIu64 " has %" PRIu32, code,
				d->session, d->n_codes);
	if (!symbol)
		return gp_error(error, -EINVAL, "kernel of code object \"%s\" has no name", d->codes[code].name);
	object = d->codes[code].object;
	while (ref.kernel < object->n_kernels && strcmp(object->kernels[ref.kernel].name, symbol))
		ref.kernel++;
	if (ref.kernel == object->n_kernels)
		return no_such_kernel(&d->codes[code], symbol, error);
	if (object->kernels[ref.kernel].refused)
		return gp_error(error, -ENOTSUP, "kernel \"%s\" of code object \"%s\": %s", symbol, d->codes[code].name,
				object->kernels[ref.kernel].refused);
	r = kernel_handle(session, ref, &index, error);
	if (!r)
		*kernel = (struct gpuplan_kernel){ .session = d->session, .index = index };
	return r;
}
