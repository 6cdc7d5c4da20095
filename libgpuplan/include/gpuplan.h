/* SPDX-License-Identifier: MIT */
/*
 * gpuplan.h: run fixed lists of GPU commands on AMD GPUs, straight through the amdgpu kernel driver.
 *
 *   context   one opened GPU; the shared scheduling and allocation domain
 *   session   a model being built: allocations, uploads, kernels, one-off commands
 *   definition  a frozen session: weights and code, shared and immutable
 *   plan      commands compiled for one shape and bound to `capacity` slots
 *   slot      one inference in flight: acquire, fill inputs, submit, complete, read outputs, release
 *
 * Conventions of every call:
 *  - Returns 0 or a negative errno. A call that fails changes nothing and leaks nothing. The sentence that explains
 *    goes into the caller's struct gpuplan_error when one is given (NULL is allowed everywhere).
 *  - Nothing is printed, no signal handler installed, no thread started, no environment variable read.
 *  - Params structs start with their own size (set by the *_INIT macros); members the caller does not know are zero.
 *  - Times are absolute CLOCK_MONOTONIC nanoseconds (gpuplan_now() + timeout). No wait lacks a deadline.
 *  - Sizes are bytes, offsets are bytes from the start of an allocation.
 *  - Thread-safety: different objects may be used from different threads at once; one session, one slot or one queue
 *    belongs to one thread at a time. Context, definition and plan calls may come from any thread.
 *  - destroy(NULL) is a no-op. Definitions, plans and slots may be destroyed in any order; shared parts live as long
 *    as their last user. A context must outlive everything created on it.
 *  - fork: a child must not use objects of the parent (calls that would submit return -ECHILD); exec is safe, all
 *    descriptors are close-on-exec.
 *
 * Since version 0.1 unless a call says otherwise.
 */
#ifndef GPUPLAN_H
#define GPUPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GPUPLAN_API __attribute__((visibility("default")))
#else
#define GPUPLAN_API
#endif

#define GPUPLAN_VERSION_MAJOR 0
#define GPUPLAN_VERSION_MINOR 1

struct io_uring;

struct gpuplan_context;
struct gpuplan_session;
struct gpuplan_definition;
struct gpuplan_queue;
struct gpuplan_plan;
struct gpuplan_slot;
struct gpuplan_fragment;
struct gpuplan_recording;
struct gpuplan_package;

/* ---- errors ---- */

/* Why a call was refused, in one sentence that names both sides. Caller's memory; no initialisation needed. */
struct gpuplan_error {
	int code;	    /* the negative errno the call returned */
	char message[508];  /* UTF-8, NUL-terminated */
};

/* CLOCK_MONOTONIC in nanoseconds. */
GPUPLAN_API uint64_t gpuplan_now(void);

/* ---- context ---- */

struct gpuplan_context_params {
	uint32_t size;
	uint32_t flags;		   /* must be 0 */
	const char *device;	   /* render node path; NULL: the first amdgpu render node */
	const char *offline_target; /* "gfx1100": no device at all; plans compile and are counted, submit says -ENODEV */
	uint64_t memory_budget;	   /* bytes this context may allocate; 0: no limit but the device's */
	uint64_t reserved[4];
};
#define GPUPLAN_CONTEXT_PARAMS_INIT { sizeof(struct gpuplan_context_params), 0, NULL, NULL, 0, { 0 } }

struct gpuplan_context_info {
	char target[16];	/* "gfx1100" */
	char name[64];		/* marketing name as libdrm knows it */
	char device[64];	/* render node path, or "offline" */
	uint32_t drm_minor;	/* amdgpu DRM interface 3.minor */
	uint32_t has_eventfd;	/* kernel has SYNCOBJ_EVENTFD (Linux 6.6): completion path 1, else sync_file polls */
	uint64_t vram_bytes, visible_vram_bytes, gtt_bytes;
	uint32_t max_groups[3];	/* dispatch limits, workgroups per axis */
	uint32_t max_block;	/* work-items per workgroup */
};

/* Bytes of GPU buffers this context holds now: the page-rounded sizes of its GEM_CREATEs, by what they are for.
 * total is their exact sum. */
struct gpuplan_memory {
	uint64_t weights;	/* of sessions and definitions, counted once */
	uint64_t code;		/* loaded code objects */
	uint64_t session;	/* staging, scratch and command buffers of sessions; gone after freeze */
	uint64_t plans;		/* per plan, independent of capacity */
	uint64_t slots;		/* sum over plans of capacity x slot bytes */
	uint64_t total;
	uint64_t peak;		/* highest total so far */
	uint64_t buffers;	/* number of buffer objects */
};

/* Opens a GPU. Errors: -ENODEV no amdgpu node (or not that path), -ENOTSUP target unknown to this library (named),
 * -EACCES, -ENOMEM, -EINVAL. */
GPUPLAN_API int gpuplan_context_create(const struct gpuplan_context_params *params, struct gpuplan_context **context,
				       struct gpuplan_error *error);
/* Everything created on the context must be gone. Waits for nothing. */
GPUPLAN_API void gpuplan_context_destroy(struct gpuplan_context *context);
GPUPLAN_API void gpuplan_context_get_info(const struct gpuplan_context *context, struct gpuplan_context_info *info);
GPUPLAN_API void gpuplan_context_get_memory(const struct gpuplan_context *context, struct gpuplan_memory *memory);

/* ---- session: building a model ---- */

enum gpuplan_use {
	GPUPLAN_WEIGHT = 1,	/* one copy, immutable after freeze */
	GPUPLAN_SCRATCH = 2,	/* private to each slot, contents undefined at the start of a run */
	GPUPLAN_STATE = 3,	/* private to each slot, kept from run to run; zero at first and after a reset */
};

enum gpuplan_placement {
	GPUPLAN_DEVICE = 0,	/* VRAM, no CPU access; as input or output it is staged */
	GPUPLAN_HOST = 1,	/* system memory, cached, mapped: as input or output it is used in place */
};

/* Bytes of an allocation, a plain value: sub-ranges are made by changing offset and bytes. */
struct gpuplan_region {
	uint64_t session;	/* id of the session that declared the allocation; never reused in a process */
	uint32_t allocation;
	uint32_t reserved;	/* 0 */
	uint64_t offset;
	uint64_t bytes;
};

struct gpuplan_alloc_params {
	uint32_t size;
	enum gpuplan_use use;
	enum gpuplan_placement placement; /* weights are always GPUPLAN_DEVICE */
	uint32_t reserved;
	uint64_t bytes;		/* > 0 */
	const char *name;	/* for messages and dumps; copied; NULL: "#<index>" */
};

/* A kernel of a loaded code object, a plain value. */
struct gpuplan_kernel {
	uint64_t session;
	uint32_t index;
	uint32_t reserved;
};

struct gpuplan_command;

GPUPLAN_API int gpuplan_session_create(struct gpuplan_context *context, struct gpuplan_session **session,
				       struct gpuplan_error *error);
/* Drops everything that was not frozen. Waits for the session's own GPU work. */
GPUPLAN_API void gpuplan_session_destroy(struct gpuplan_session *session);

/* Declares an allocation; region covers all of it. Weights get memory now, scratch and state only a declaration.
 * Errors: -EINVAL (zero bytes, unknown use), -ENOMEM (device or budget; both numbers are named). */
GPUPLAN_API int gpuplan_session_alloc(struct gpuplan_session *session, const struct gpuplan_alloc_params *params,
				      struct gpuplan_region *region, struct gpuplan_error *error);
/* Copies bytes from data into a weight region; data may be reused on return. The GPU copy may still be on its way:
 * gpuplan_session_sync waits for it. Errors: -EINVAL region, -ENOMEM, -EIO. */
GPUPLAN_API int gpuplan_session_upload(struct gpuplan_session *session, struct gpuplan_region region, const void *data,
				       struct gpuplan_error *error);
/* Copies a region back into data after everything queued before; waits until deadline. For tests and tools; weights
 * and session-run scratch only. Errors: also -ETIME. */
GPUPLAN_API int gpuplan_session_download(struct gpuplan_session *session, struct gpuplan_region region, void *data,
					 uint64_t deadline, struct gpuplan_error *error);
/* Loads an AMDGPU code object (ELF, code object v4 to v6) and returns its number for gpuplan_session_kernel.
 * Errors: -ENOEXEC not one or malformed, -ENOTSUP another target or version (both sides named), -ENOMEM. */
GPUPLAN_API int gpuplan_session_load(struct gpuplan_session *session, const void *elf, size_t bytes, const char *name,
				     uint32_t *code, struct gpuplan_error *error);
/* Looks up a kernel by its metadata name. Errors: -ENOENT (lists what is there), -ENOTSUP features it needs. */
GPUPLAN_API int gpuplan_session_kernel(struct gpuplan_session *session, uint32_t code, const char *symbol,
				       struct gpuplan_kernel *kernel, struct gpuplan_error *error);
/* Runs commands once, in order, after everything queued before (repacking, dequantising: weights may be written).
 * Scratch regions live until freeze. Returns when queued. Errors: as gpuplan_plan_create, -EIO. */
GPUPLAN_API int gpuplan_session_run(struct gpuplan_session *session, const struct gpuplan_command *commands,
				    uint32_t n_commands, struct gpuplan_error *error);
/* Waits for uploads and runs. Errors: -ETIME deadline, -EIO the GPU refused or lost them. */
GPUPLAN_API int gpuplan_session_sync(struct gpuplan_session *session, uint64_t deadline, struct gpuplan_error *error);
/* Turns the session into a definition: drains its work, drops staging, scratch and command buffers, adopts the weight
 * buffers without copying. Consumes the session when it succeeds (the pointer is dead); changes nothing when it
 * fails. context: where the definition will live, NULL for the session's own; one on another device: -EXDEV. */
GPUPLAN_API int gpuplan_session_freeze(struct gpuplan_session *session, struct gpuplan_context *context,
				       uint64_t deadline, struct gpuplan_definition **definition,
				       struct gpuplan_error *error);

/* ---- definition ---- */

/* Drops the caller's reference; plans keep what they need. */
GPUPLAN_API void gpuplan_definition_destroy(struct gpuplan_definition *definition);
/* Physical bytes of the weights, once, whatever number of plans and slots exists. */
GPUPLAN_API uint64_t gpuplan_definition_weight_bytes(const struct gpuplan_definition *definition);

/* ---- commands ---- */

enum gpuplan_access { GPUPLAN_READ = 1, GPUPLAN_WRITE = 2, GPUPLAN_READ_WRITE = 3 };

/* A region a dispatch touches, and how. Barriers are derived from these alone: undeclared accesses race. */
struct gpuplan_binding {
	struct gpuplan_region region;
	enum gpuplan_access access;
	uint32_t packed_offset;	/* packed arguments only: where in them the 8-byte GPU address goes */
};

enum gpuplan_arg_kind {
	GPUPLAN_ARG_BINDING = 1, /* GPU address of bindings[binding] */
	GPUPLAN_ARG_SCALAR = 2,	 /* bytes of value, exactly the size the kernel's metadata says */
	GPUPLAN_ARG_LDS = 3,	 /* dynamic_shared_pointer: `bytes` of LDS */
	GPUPLAN_ARG_NULL = 4,	 /* null pointer for a buffer that the kernel does not touch */
	GPUPLAN_ARG_PARAM = 5,	 /* the plan's parameter number `binding`, which has exactly the argument's size */
};

/* One explicit kernel argument, in the order of the kernel's metadata. */
struct gpuplan_arg {
	enum gpuplan_arg_kind kind;
	uint32_t binding;	/* binding, or parameter */
	uint32_t bytes;		/* scalar: 1 to 8 inline; larger: data points at them. Parameter: 0 */
	uint32_t reserved;
	union {
		uint32_t u32;
		int32_t i32;
		float f32;
		uint64_t u64;
		int64_t i64;
		double f64;
		const void *data; /* bytes > 8 only; copied */
	} value;
};

/* Packed arguments that change with a parameter. */
struct gpuplan_packed_param {
	uint32_t offset;	/* in the packed bytes: a scalar argument, or a member of a structure, of its size */
	uint32_t parameter;	/* number in the plan's list; its value replaces the bytes there */
};

struct gpuplan_dispatch {
	struct gpuplan_kernel kernel;
	uint32_t groups[3];	/* workgroups per axis, all > 0 but those that a parameter gives, which are 0 here */
	uint32_t block[3];	/* work-items per workgroup and axis, all > 0 */
	uint32_t dynamic_lds;	/* bytes of LDS beyond what the kernel declares */
	uint32_t n_bindings;
	const struct gpuplan_binding *bindings;
	/* Arguments, either an index list checked against the metadata ... */
	uint32_t n_args;
	const struct gpuplan_arg *args;
	/* ... or, with n_args 0, packed bytes: the explicit part of the kernarg segment */
	const void *packed;
	uint32_t packed_bytes;
	uint32_t n_packed_params;
	const struct gpuplan_packed_param *packed_params;
	/* Parameter number + 1 that gives the workgroups of an axis, 0: groups does. Its max must be a possible number of
	 * workgroups; with the value 0 nothing runs. */
	uint32_t groups_param[3];
	/* Indirect grid: 12 bytes, 4-byte aligned, that hold the workgroups in x, y and z when the dispatch starts (NULL:
	 * the grid is in groups). Whoever writes them keeps to groups, which is the upper bound then. Not for kernels that
	 * read their workgroup count or dispatch packet: only the GPU's command processor sees the counts. */
	const struct gpuplan_region *groups_from;
};

enum gpuplan_command_kind { GPUPLAN_FILL = 1, GPUPLAN_COPY = 2, GPUPLAN_DISPATCH = 3 };

struct gpuplan_command {
	enum gpuplan_command_kind kind;
	const char *label;	/* for dumps; copied; may be NULL */
	union {
		struct {
			struct gpuplan_region dst; /* offset and bytes multiples of 4 */
			uint32_t value;		   /* repeated dword; 0 when a parameter gives it */
			uint32_t value_param;	   /* parameter number + 1, of 4 bytes; 0: value counts */
		} fill;
		struct {
			struct gpuplan_region dst, src; /* same bytes, multiples of 4, not overlapping */
		} copy;
		struct gpuplan_dispatch dispatch;
	} u;
};

/* ---- plan ---- */

enum gpuplan_dtype {
	GPUPLAN_U8 = 1, GPUPLAN_I8, GPUPLAN_U16, GPUPLAN_I16, GPUPLAN_F16, GPUPLAN_BF16,
	GPUPLAN_U32, GPUPLAN_I32, GPUPLAN_F32, GPUPLAN_U64, GPUPLAN_I64, GPUPLAN_F64
};

/* Bytes of one element, 0 for an unknown type. */
GPUPLAN_API uint32_t gpuplan_dtype_bytes(enum gpuplan_dtype dtype);

#define GPUPLAN_MAX_RANK 8

/* An input or output: element type and shape select the leading bytes of its region. */
struct gpuplan_io {
	struct gpuplan_region region; /* scratch or state, never a weight */
	enum gpuplan_dtype dtype;
	uint32_t rank;		/* 0 = scalar */
	uint64_t shape[GPUPLAN_MAX_RANK];
	const char *name;	/* copied; may be NULL */
};

/* A number in arguments, fill values or grids that a slot's owner may change from run to run without a new plan. */
struct gpuplan_parameter {
	const char *name;	/* not empty, unique in the plan; copied */
	uint32_t bytes;		/* 1 to 8, as an unsigned integer; signed numbers and floats by their bits */
	uint32_t reserved;	/* 0 */
	uint64_t initial;	/* value after acquire */
	uint64_t min, max;	/* what gpuplan_slot_set takes; for floats 0 and all ones */
};

enum gpuplan_plan_flags {
	/* Scratch allocations that no input or output lies in may share memory when barriers that stand anyway separate
	 * their commands. Costs no barrier. (Among 4096 of a placement at a time, by size.) */
	GPUPLAN_PLAN_REUSE_SCRATCH = 1,
	/* Commands that do not depend on each other may change places when that needs fewer barriers. */
	GPUPLAN_PLAN_REORDER = 2,
};

struct gpuplan_plan_params {
	uint32_t size;
	uint32_t capacity;	/* slots, > 0 */
	const struct gpuplan_command *commands;
	const struct gpuplan_io *inputs, *outputs;
	const struct gpuplan_parameter *parameters; /* each used by at least one command */
	uint32_t n_commands, n_inputs, n_outputs, n_parameters;
	uint32_t flags;		/* enum gpuplan_plan_flags */
	struct gpuplan_context *context; /* NULL or the definition's own; another one: -EXDEV */
	const char *name;	/* for dumps; copied */
	/* Test hook: leave out the barrier with this number plus one (0: none). Plans made so are wrong on purpose. */
	uint32_t omit_barrier;
	/* Test hook: dwords of one IB, 512 to 0xfffff; longer streams are chained. 0: 0xfffff, what the hardware takes. */
	uint32_t ib_dwords;
	uint32_t reserved[2];
};

/* Validates and compiles the commands and allocates all slots. Everything that can be refused is refused here, each
 * with its own sentence: -EINVAL regions, bindings, arguments, I/O, parameters, capacity; -EXDEV foreign context;
 * -ENOENT unknown allocation or kernel; -EPERM writing a weight; -E2BIG grid or workgroup over a limit; -ENOTSUP kernel
 * that cannot have an indirect grid; -ENOMEM device or budget. */
GPUPLAN_API int gpuplan_plan_create(struct gpuplan_definition *definition, const struct gpuplan_plan_params *params,
				    struct gpuplan_plan **plan, struct gpuplan_error *error);
/* The plan of an image that gpuplan_plan_image gave, in this process or another, on this machine or not. Of params only
 * capacity and context may be set. The image is not trusted: it is checked as gpuplan_image_check does, its commands are
 * compiled again for this definition with every check of gpuplan_plan_create, and the result must be the image to the
 * byte. (Argument values are taken as they are: an image is data, not a signature of who made it.) image is not kept.
 * Errors: also -ENOTSUP an image for another target or version; -ESTALE for other allocations or code; -ENOENT a kernel
 * the definition has not looked up. */
GPUPLAN_API int gpuplan_plan_load(struct gpuplan_definition *definition, const void *image, size_t bytes,
				  const struct gpuplan_plan_params *params, struct gpuplan_plan **plan,
				  struct gpuplan_error *error);
/* Slots still acquired stay usable and keep their memory until released. */
GPUPLAN_API void gpuplan_plan_destroy(struct gpuplan_plan *plan);

struct gpuplan_plan_info {
	uint32_t capacity, n_inputs, n_outputs, n_parameters;
	uint32_t n_commands, n_dispatches, n_barriers;
	uint32_t stream_dwords;	   /* PM4 dwords per run */
	uint32_t kernarg_bytes;	   /* per slot */
	uint64_t slot_bytes;	   /* page-rounded GPU bytes of one slot */
	uint64_t plan_bytes;	   /* page-rounded GPU bytes beside the slots */
	uint64_t scratch_bytes, state_bytes, staging_bytes; /* referenced extents per slot, not rounded */
	uint64_t scratch_planned_bytes; /* scratch of a slot with shared bytes counted once (GPUPLAN_PLAN_REUSE_SCRATCH) */
};
GPUPLAN_API void gpuplan_plan_get_info(const struct gpuplan_plan *plan, struct gpuplan_plan_info *info);
/* Input (output false) or output number i as it was declared: region, element type, shape; name lives as long as the
 * plan ("" for none). -EINVAL: no such number. */
GPUPLAN_API int gpuplan_plan_get_io(const struct gpuplan_plan *plan, bool output, uint32_t i, struct gpuplan_io *io);
/* The compiled image: pure data in the layout of uapi/plan_image.h, byte-identical for equal input. Lives as long as
 * the plan. */
GPUPLAN_API const void *gpuplan_plan_image(const struct gpuplan_plan *plan, size_t *bytes);
/* Whether bytes from anywhere are a plan image that can be read: magic, version, length, checksum, and every index and
 * offset in it within its bounds. Needs no device. image must be 8-byte aligned. Errors: -EINVAL with what is wrong;
 * -ENOTSUP another version (both named). */
GPUPLAN_API int gpuplan_image_check(const void *image, size_t bytes, struct gpuplan_error *error);

/* ---- fragments and recordings: command lists checked once, put together into larger plans ---- */

struct gpuplan_fragment_params {
	uint32_t size;
	uint32_t flags;		/* must be 0 */
	const struct gpuplan_command *commands;
	/* The ends others may be bound to: element types and shapes say what they are, the regions where they lie. */
	const struct gpuplan_io *inputs, *outputs;
	const struct gpuplan_parameter *parameters;
	uint32_t n_commands, n_inputs, n_outputs, n_parameters;
	const char *name;	/* for messages; copied; NULL: "" */
};

/* Checks a command list as gpuplan_plan_create does and keeps a copy of it; names, arguments and packed bytes are
 * copied too. Errors: as gpuplan_plan_create. Thread-safety: a fragment never changes, any thread may record it. */
GPUPLAN_API int gpuplan_fragment_create(struct gpuplan_definition *definition,
					const struct gpuplan_fragment_params *params,
					struct gpuplan_fragment **fragment, struct gpuplan_error *error);
/* Recordings keep copies: they may outlive it. */
GPUPLAN_API void gpuplan_fragment_destroy(struct gpuplan_fragment *fragment);

/* Puts an input or output of a fragment elsewhere: all its commands' regions inside the port's region move. */
struct gpuplan_bind {
	uint32_t output;	/* 0: an input, 1: an output */
	uint32_t port;		/* its number */
	struct gpuplan_region region; /* at least as many bytes as the port's own region */
};

/* Flags of gpuplan_append_params. */
enum gpuplan_append_flags {
	GPUPLAN_APPEND_OWN_PARAMETERS = 1, /* this instance's parameters are named prefix + name */
};

struct gpuplan_append_params {
	uint32_t size;
	uint32_t flags;		/* enum gpuplan_append_flags */
	const struct gpuplan_bind *binds; /* ports not named here stay where the fragment has them */
	uint32_t n_binds;
	uint32_t reserved;
	const char *prefix;	/* put in front of the labels of this instance ("layer3."); NULL: none */
};

/* A command list under construction; belongs to one thread. */
GPUPLAN_API int gpuplan_recording_create(struct gpuplan_definition *definition, struct gpuplan_recording **recording,
					 struct gpuplan_error *error);
/* Plans made of its commands stay. */
GPUPLAN_API void gpuplan_recording_destroy(struct gpuplan_recording *recording);
/* Appends the fragment's commands, ports moved as bound: the output of one fragment becomes the input of the next by
 * binding both to one region; nothing is copied on the GPU. Parameters of one name are one parameter of the recording,
 * unless flags say otherwise. params may be NULL (no binds). A refused append appends nothing. Errors: -EXDEV fragment
 * of another definition; -ENOENT no such port; -EINVAL bound region of another
 * session, past its allocation or with too few bytes, a port bound twice, a port that a command reaches over the edge
 * of, two ports that share bytes bound apart, or two regions that share bytes only now and one of them written (both
 * commands are named), parameters of one name that differ; -EPERM an output bound to a weight; -ENOMEM. */
GPUPLAN_API int gpuplan_recording_append(struct gpuplan_recording *recording, const struct gpuplan_fragment *fragment,
					 const struct gpuplan_append_params *params, struct gpuplan_error *error);
/* Appends commands as they are, checked the same way; copied. They cannot name parameters. */
GPUPLAN_API int gpuplan_recording_add(struct gpuplan_recording *recording, const struct gpuplan_command *commands,
				      uint32_t n, struct gpuplan_error *error);
/* What has been recorded: the commands for gpuplan_plan_params (or another fragment's). Valid until the next append,
 * add or destroy. */
GPUPLAN_API const struct gpuplan_command *gpuplan_recording_commands(const struct gpuplan_recording *recording,
								     uint32_t *n);
/* The parameters those commands name, for the same params; as long valid. */
GPUPLAN_API const struct gpuplan_parameter *gpuplan_recording_parameters(const struct gpuplan_recording *recording,
									 uint32_t *n);

/* ---- slots: running ---- */

/* Takes a free slot. -EBUSY at once when all are taken or still drain from an abandoned run. Any thread. */
GPUPLAN_API int gpuplan_plan_acquire(struct gpuplan_plan *plan, struct gpuplan_slot **slot);
/* Gives the slot back from any state. One still running is abandoned: it is drained before its next use. */
GPUPLAN_API void gpuplan_slot_release(struct gpuplan_slot *slot);
/* Number of the slot in its plan, 0 to capacity - 1. */
GPUPLAN_API uint32_t gpuplan_slot_index(const struct gpuplan_slot *slot);

/* CPU address of input or output number i, *bytes its size (NULL allowed). Fixed for the life of the plan. Inputs
 * may be written between acquire (or completion) and submit; outputs are valid from completion to the next submit.
 * NULL: no such number. */
GPUPLAN_API void *gpuplan_slot_input(struct gpuplan_slot *slot, uint32_t i, size_t *bytes);
GPUPLAN_API const void *gpuplan_slot_output(struct gpuplan_slot *slot, uint32_t i, size_t *bytes);
/* The next submit starts with all state regions zero (in the same ioctl). */
GPUPLAN_API void gpuplan_slot_reset_state(struct gpuplan_slot *slot);

/* Number of the parameter of that name, as in gpuplan_plan_params.parameters. -ENOENT: none, -EINVAL: name is NULL. */
GPUPLAN_API int gpuplan_plan_parameter(const struct gpuplan_plan *plan, const char *name, uint32_t *index);
/* What parameter number i was declared as; info->name lives as long as the plan. -EINVAL: no such number. */
GPUPLAN_API int gpuplan_plan_get_parameter(const struct gpuplan_plan *plan, uint32_t i, struct gpuplan_parameter *info);

struct gpuplan_value {
	uint32_t parameter;	/* number in the plan's list */
	uint32_t bytes;		/* the parameter's own, so that an f32 is not taken for an f64 */
	uint64_t value;		/* within the parameter's min and max */
};

/* Sets parameters for the slot's next runs, all of the list or, when one is refused, none; one that occurs twice gets the
 * later value. Values stay until set again; acquire starts from the initial ones. Between acquire (or completion) and
 * submit, by the slot's thread. Allocates nothing and makes no system call (but to ask whether a cancelled or late run
 * has ended). Errors: -EINVAL number, size or range, both sides named; -EBUSY the slot runs, or an earlier cancelled run
 * has not ended. */
GPUPLAN_API int gpuplan_slot_set(struct gpuplan_slot *slot, const struct gpuplan_value *values, uint32_t n,
				 struct gpuplan_error *error);

struct gpuplan_queue_params {
	uint32_t size;
	uint32_t flags;		/* must be 0 */
	uint32_t depth;		/* submissions in flight, 1 to 30; 0: 30 */
	uint32_t verify;	/* enum gpuplan_verify */
	uint64_t reserved[4];
};
#define GPUPLAN_QUEUE_PARAMS_INIT { sizeof(struct gpuplan_queue_params), 0, 0, 0, { 0 } }

/* When a completion that memory calls done is checked with the kernel (one to three more ioctls). */
enum gpuplan_verify {
	GPUPLAN_VERIFY_DOUBT = 0,  /* slow jobs, and after any error or reset seen on this queue */
	GPUPLAN_VERIFY_ALWAYS = 1, /* every one */
};

/* An amdgpu context on the compute ring and its in-flight FIFO. Used by one thread at a time. */
GPUPLAN_API int gpuplan_queue_create(struct gpuplan_context *context, const struct gpuplan_queue_params *params,
				     struct gpuplan_queue **queue, struct gpuplan_error *error);
/* Submissions still in flight finish on the GPU; their slots are drained as abandoned ones. */
GPUPLAN_API void gpuplan_queue_destroy(struct gpuplan_queue *queue);
/* After a failed or lost submission the queue is dead (-ECANCELED from submit). Gives it a new amdgpu context once
 * nothing is in flight (-EBUSY until then). */
GPUPLAN_API int gpuplan_queue_recover(struct gpuplan_queue *queue, struct gpuplan_error *error);

/* Hands the slot to the GPU: one ioctl, no allocation, no lock held across it. -EBUSY queue full or slot already
 * running, -ECANCELED queue dead, -EXDEV queue of another context, else the kernel's refusal. A refused submit leaves
 * the slot acquired and nothing registered. */
GPUPLAN_API int gpuplan_slot_submit(struct gpuplan_slot *slot, struct gpuplan_queue *queue);

enum gpuplan_status {
	GPUPLAN_DONE = 0,	/* outputs are valid */
	GPUPLAN_FAILED = 1,	/* this submission went wrong on the GPU */
	GPUPLAN_LOST = 2,	/* the GPU was reset under it, or its queue died */
	GPUPLAN_CANCELLED = 3,	/* gpuplan_slot_cancel */
	GPUPLAN_DEADLINE = 4,	/* not finished in time; it still runs and is drained before reuse */
};

struct gpuplan_completion {
	struct gpuplan_slot *slot;
	enum gpuplan_status status;
	int reason;		/* kernel's negative errno for FAILED and LOST, else 0 */
	uint64_t user_data;	/* as given to gpuplan_slot_set_user_data; for reap */
};

/* Exactly one completion per submission, learned in ONE of four ways: poll; wait; arm + CQE + finish; reap. */

/* True once the slot's own stream has written its completion word: a load, no system call. Then gpuplan_slot_finish
 * (slot, 8, ...) gives the verdict. */
GPUPLAN_API bool gpuplan_slot_poll(const struct gpuplan_slot *slot);
/* Blocks (spins briefly, then sleeps) until completion or deadline. The verdict is in *completion. Returns 0 or an
 * error of waiting itself. */
GPUPLAN_API int gpuplan_slot_wait(struct gpuplan_slot *slot, uint64_t deadline, struct gpuplan_completion *completion);
/* Puts 1 to 3 SQEs into the caller's ring (never submits it): exactly one CQE with user_data will follow. Takes none
 * and returns -EAGAIN when the SQ has too little room. deadline 0: none (needs a kernel with SYNCOBJ_EVENTFD, else
 * -EINVAL). Other errors (-EMFILE, -ENOMEM): nothing armed, may be retried. */
GPUPLAN_API int gpuplan_slot_arm(struct gpuplan_slot *slot, struct io_uring *ring, uint64_t user_data,
				 uint64_t deadline);
/* Judges a CQE of arm by its res. -EAGAIN: not finished (someone cancelled the request): arm again. */
GPUPLAN_API int gpuplan_slot_finish(struct gpuplan_slot *slot, int cqe_res, struct gpuplan_completion *completion);
/* Ends the wait for this submission as CANCELLED; the GPU runs on and the slot is drained before reuse. Any thread.
 * -EALREADY: it was finished or forced already; -ENOTSUP: path without SYNCOBJ_EVENTFD and armed (its deadline or
 * the kernel's timeout ends it). */
GPUPLAN_API int gpuplan_slot_cancel(struct gpuplan_slot *slot);
/* Carried to reap's completions. */
GPUPLAN_API void gpuplan_slot_set_user_data(struct gpuplan_slot *slot, uint64_t user_data);
/* Takes finished submissions of the queue in order, without system calls while there are any; else sleeps in the
 * queue's own ring until one finishes or deadline passes. Slots finished otherwise are skipped. Returns the number
 * of completions (0: deadline), or a negative errno. */
GPUPLAN_API int gpuplan_queue_reap(struct gpuplan_queue *queue, struct gpuplan_completion *completions, uint32_t max,
				   uint64_t deadline);

/* ---- model packages (docs/package-format.md): a JSON file beside its safetensors ---- */

/* Finds a code object by file stem for a target. Returns 0 and memory that stays valid, or a negative errno. */
typedef int gpuplan_find_code_fn(void *arg, const char *target, const char *stem, const void **elf, size_t *bytes);

/* Reads and checks package.json (or the folder that holds it). Errors: -ENOENT, -EINVAL with file, JSON place and
 * both sides. */
GPUPLAN_API int gpuplan_package_open(const char *path, struct gpuplan_package **package, struct gpuplan_error *error);
GPUPLAN_API void gpuplan_package_close(struct gpuplan_package *package);
GPUPLAN_API uint32_t gpuplan_package_plans(const struct gpuplan_package *package);
/* NULL: no such number. Lives as long as the package. */
GPUPLAN_API const char *gpuplan_package_plan_name(const struct gpuplan_package *package, uint32_t i);
/* Declares the package's allocations in a fresh session, uploads the weights, loads the kernels. */
GPUPLAN_API int gpuplan_package_load(struct gpuplan_package *package, struct gpuplan_session *session,
				     const char *target, gpuplan_find_code_fn *find_code, void *arg,
				     struct gpuplan_error *error);
/* gpuplan_plan_create of the package's plan of that name, on the definition frozen from that session. Members of
 * params that describe commands, parameters and I/O are ignored; capacity, flags, context and the test hooks count. */
GPUPLAN_API int gpuplan_package_plan(struct gpuplan_package *package, struct gpuplan_definition *definition,
				     const char *name, const struct gpuplan_plan_params *params,
				     struct gpuplan_plan **plan, struct gpuplan_error *error);

/* ---- small helpers ---- */

static inline struct gpuplan_region
gpuplan_slice(struct gpuplan_region region, uint64_t offset, uint64_t bytes)
{
	region.offset += offset;
	region.bytes = bytes;
	return region;
}

static inline struct gpuplan_arg
gpuplan_arg_binding(uint32_t i)
{
	struct gpuplan_arg a = { GPUPLAN_ARG_BINDING, i, 0, 0, { 0 } };
	return a;
}

static inline struct gpuplan_arg
gpuplan_arg_null(void)
{
	struct gpuplan_arg a = { GPUPLAN_ARG_NULL, 0, 0, 0, { 0 } };
	return a;
}

static inline struct gpuplan_arg
gpuplan_arg_param(uint32_t parameter)
{
	struct gpuplan_arg a = { GPUPLAN_ARG_PARAM, parameter, 0, 0, { 0 } };
	return a;
}

static inline struct gpuplan_value
gpuplan_value_u32(uint32_t parameter, uint32_t v)
{
	struct gpuplan_value value = { parameter, 4, v };
	return value;
}

static inline struct gpuplan_value
gpuplan_value_f32(uint32_t parameter, float v)
{
	union {
		float f;
		uint32_t bits;
	} u;
	struct gpuplan_value value = { parameter, 4, 0 };
	u.f = v;
	value.value = u.bits;
	return value;
}

static inline struct gpuplan_arg
gpuplan_arg_u32(uint32_t v)
{
	struct gpuplan_arg a = { GPUPLAN_ARG_SCALAR, 0, 4, 0, { 0 } };
	a.value.u32 = v;
	return a;
}

static inline struct gpuplan_arg
gpuplan_arg_i32(int32_t v)
{
	struct gpuplan_arg a = { GPUPLAN_ARG_SCALAR, 0, 4, 0, { 0 } };
	a.value.i32 = v;
	return a;
}

static inline struct gpuplan_arg
gpuplan_arg_f32(float v)
{
	struct gpuplan_arg a = { GPUPLAN_ARG_SCALAR, 0, 4, 0, { 0 } };
	a.value.f32 = v;
	return a;
}

#ifdef __cplusplus
}
#endif

#endif
