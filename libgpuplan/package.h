/* SPDX-License-Identifier: MIT */
/* package.h: a model package as it stands in its JSON file, checked against itself. docs/package-format.md. */
#ifndef GP_PACKAGE_H
#define GP_PACKAGE_H

#include "json_node.h"
#include "safetensors.h"

#define GP_PACKAGE_FORMAT 1

/* Strings are borrowed from gpuplan_package.json. */
struct gp_package_allocation {
	const char *name;
	enum gpuplan_use use;
	enum gpuplan_placement placement;
	uint64_t bytes;
	const char *tensor;	/* weights: its name in one of the safetensors files */
	const void *data;	/* weights, once the files are open: bytes of it */
	int dtype;		/* enum gpuplan_dtype; 0: given as bytes only */
	const char *dtype_name;
	uint32_t rank;
	uint64_t shape[GPUPLAN_MAX_RANK];
};

struct gp_package_kernel {
	const char *name, *object, *symbol;
};

/* Commands and I/O in the public form, except that region.session and kernel.session are 0 and region.allocation and
 * kernel.index count the package's own. bindings, args and grids (indirect ones) are those of all dispatches, in
 * order. */
struct gp_package_plan {
	const char *name;
	struct gpuplan_io *inputs, *outputs;
	struct gpuplan_command *commands;
	struct gpuplan_binding *bindings;
	struct gpuplan_arg *args;
	struct gpuplan_region *grids;
	struct gpuplan_parameter *parameters;
	uint32_t n_inputs, n_outputs, n_commands, n_bindings, n_args, n_grids, n_parameters;
	json_t *parameter_index; /* name -> number */
};

struct gpuplan_package {
	json_t *json;
	char *path;		/* of the JSON file */
	const char **weights;	/* names of the safetensors files */
	struct gp_safetensors *files;
	struct gp_package_allocation *allocations;
	struct gp_package_kernel *kernels;
	struct gp_package_plan *plans;
	uint32_t n_weights, n_files, n_allocations, n_kernels, n_plans; /* n_files: how many are open */
	json_t *allocation_index, *kernel_index, *plan_index; /* name -> number; a list of thousands is looked up often */
	/* What the latest gpuplan_package_load made of allocations and kernels; NULL before. */
	struct gpuplan_region *regions;
	struct gpuplan_kernel *handles;
};

/* Reads JSON text (not kept) into a zeroed package; opens no file. On failure too, gp_package_finish it. */
int gp_package_parse(struct gpuplan_package *package, const char *name, const char *text, size_t bytes,
		     struct gpuplan_error *error);
/* Frees what the package holds, not the package. */
void gp_package_finish(struct gpuplan_package *package);

#endif
