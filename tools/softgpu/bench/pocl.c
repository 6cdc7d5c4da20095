/* SPDX-License-Identifier: MIT */
/* pocl.c: the cases as OpenCL. Objects live as long as the process. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define PLATFORM "Portable Computing Language"
#define BUILD_OPTIONS "-cl-std=CL1.2" /* nothing that loosens arithmetic */

struct bench_pocl {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_mem out, inputs[2];
	cl_kernel *kernels;
};

static bool
find_device(struct bench_pocl *p)
{
	cl_platform_id platforms[16];
	cl_uint n = 0;
	char name[128];

	if (clGetPlatformIDs(16, platforms, &n))
		return false;
	for (cl_uint i = 0; i < n && i < 16; i++)
		if (!clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL) && !strcmp(name, PLATFORM) &&
		    !clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &p->device, NULL))
			return true;
	return false;
}

static cl_int
build(struct bench_pocl *p, const char *program, size_t bytes)
{
	cl_int r;

	p->context = clCreateContext(NULL, 1, &p->device, NULL, NULL, &r);
	if (!r)
		p->queue = clCreateCommandQueue(p->context, p->device, 0, &r);
	if (!r)
		p->program = clCreateProgramWithSource(p->context, 1, &program, &bytes, &r);
	if (!r)
		r = clBuildProgram(p->program, 1, &p->device, BUILD_OPTIONS, NULL, NULL);
	p->kernels = calloc(bench_case_count, sizeof(cl_kernel));
	for (unsigned i = 0; p->kernels && !r && i < bench_case_count; i++)
		p->kernels[i] = clCreateKernel(p->program, bench_cases[i].kernel, &r);
	return p->kernels ? r : CL_OUT_OF_HOST_MEMORY;
}

static cl_int
make_buffers(struct bench_pocl *p)
{
	const size_t bytes = BENCH_INPUT * sizeof(float);
	float *values[2] = { malloc(bytes), malloc(bytes) };
	cl_int r = values[0] && values[1] ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;

	if (!r)
		bench_inputs(values[0], values[1]);
	for (unsigned i = 0; !r && i < 2; i++)
		p->inputs[i] = clCreateBuffer(p->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, values[i], &r);
	free(values[0]);
	free(values[1]);
	if (!r)
		p->out = clCreateBuffer(p->context, CL_MEM_WRITE_ONLY, bench_most_outputs() * sizeof(float), NULL, &r);
	return r;
}

static cl_int
set_arguments(struct bench_pocl *p)
{
	cl_int r = CL_SUCCESS;

	for (unsigned i = 0; !r && i < bench_case_count; i++) {
		cl_uint turns = bench_cases[i].full.turns;

		r = clSetKernelArg(p->kernels[i], 0, sizeof(cl_mem), &p->out);
		for (unsigned k = 0; !r && k < 2; k++)
			r = clSetKernelArg(p->kernels[i], 1 + k, sizeof(cl_mem), &p->inputs[k]);
		if (!r)
			r = clSetKernelArg(p->kernels[i], 3, sizeof(turns), &turns);
	}
	return r;
}

static void
describe(const struct bench_pocl *p, char *text, size_t bytes)
{
	char name[128] = "", version[128] = "";
	cl_uint units = 0;

	clGetDeviceInfo(p->device, CL_DEVICE_NAME, sizeof(name), name, NULL);
	clGetDeviceInfo(p->device, CL_DRIVER_VERSION, sizeof(version), version, NULL);
	clGetDeviceInfo(p->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, NULL);
	snprintf(text, bytes, "PoCL %s, %s, %u compute units", version, name, (unsigned)units);
}

struct bench_pocl *
bench_pocl_create(const char *program, size_t bytes, char *text, size_t text_bytes)
{
	struct bench_pocl *p = calloc(1, sizeof(*p));
	cl_int r = CL_OUT_OF_HOST_MEMORY;

	if (p && !find_device(p)) {
		snprintf(text, text_bytes, "no OpenCL platform \"%s\" here; Debian packages: " BENCH_PACKAGES, PLATFORM);
		free(p);
		return NULL;
	}
	if (p)
		r = build(p, program, bytes);
	if (!r)
		r = make_buffers(p);
	if (!r)
		r = set_arguments(p);
	if (r) {
		snprintf(text, text_bytes, "OpenCL error %d while the kernels were built", (int)r);
		free(p);
		return NULL;
	}
	describe(p, text, text_bytes);
	return p;
}

int
bench_pocl_run(struct bench_pocl *p, unsigned i, struct bench_time *time, float *out)
{
	const struct bench_size *size = &bench_cases[i].full;
	size_t global[2] = { (size_t)size->groups[0] * BENCH_ITEMS, size->groups[1] }, local[2] = { BENCH_ITEMS, 1 };
	struct bench_time start = bench_clock();
	cl_int r = clEnqueueNDRangeKernel(p->queue, p->kernels[i], 2, NULL, global, local, 0, NULL, NULL);

	if (!r)
		r = clFinish(p->queue);
	*time = bench_since(start);
	if (!r)
		r = clEnqueueReadBuffer(p->queue, p->out, CL_TRUE, 0, bench_outputs(&bench_cases[i], size) * sizeof(float), out,
					0, NULL, NULL);
	return r;
}
