/* SPDX-License-Identifier: MIT */
/* hw.h: the hardware's side of softgpu as the kernel's side (drm/) drives it.
 *
 * drm/ owns handles, contexts, fences and scheduling: it hands a job to a ring when everything the job waits
 * for has happened. hw/ owns buffers' backing memory, GPU page tables, ring threads, the packet processor and
 * the caches it pretends to have. hw/ never calls into drm/ except through the job's done callback.
 */
#ifndef SOFTGPU_HW_H
#define SOFTGPU_HW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- profile: which chip this is (hw/profile.c, one table entry per chip) ---- */

/* Generations of the graphics core, in order: which packets and registers there are (hw/generation.c). */
enum sg_gen { SG_GEN_9 = 90, SG_GEN_90A = 92, SG_GEN_942 = 94, SG_GEN_10 = 100, SG_GEN_103 = 103, SG_GEN_11 = 110,
	      SG_GEN_12 = 120 };

enum { SG_NO_SHADER_CORE = 0xff }; /* as arch: dispatches are refused */

struct sg_profile {
	const char *name;		/* "gfx1100" */
	const char *marketing;		/* text for reports */
	uint32_t arch;			/* enum sg_arch of isa.h, or SG_NO_SHADER_CORE */
	enum sg_gen gen;
	unsigned gfx_major, gfx_minor, gfx_stepping;
	/* identity as AMDGPU_INFO_DEV_INFO and sysfs give it; sources: facts about device dumps in Mesa */
	uint32_t pci_vendor, pci_device, pci_revision, pci_subvendor, pci_subdevice;
	uint32_t family, external_rev, chip_rev;
	uint32_t gc_ip_discovery;	/* major << 16 | minor << 8 | revision */
	uint32_t hw_ip_gfx_major, hw_ip_gfx_minor, sdma_major, sdma_minor;
	uint32_t gfx_rings, compute_rings, sdma_rings; /* ring masks: 0x1, 0xf, 0x3 */
	uint32_t num_se, num_sa_per_se, cu_per_sa, active_cus;
	uint32_t wave_size, vgprs_per_simd;
	uint32_t num_rb, rb_mask, num_tcc, gb_addr_config;
	uint32_t vram_type, vram_bit_width;
	uint64_t vram_bytes, visible_vram_bytes, gtt_bytes;
	uint32_t counter_khz, max_sclk_khz, max_mclk_khz;
	uint32_t me_version, pfp_version, mec_version, fw_feature;
	uint32_t ids_flags, ce_ram_bytes, double_offchip_lds;
	uint32_t tcp_kib, sqc_data_kib, sqc_inst_kib, gl1_kib, gl2_kib;
	uint64_t mall_bytes;
};

const struct sg_profile *sg_profile_find(const char *name); /* NULL: unknown */
const struct sg_profile *sg_profile_default(void);	     /* gfx1100 */

/* ---- configuration, read once from the environment (hw/config.c) ---- */

struct sg_config {
	const struct sg_profile *profile; /* SOFTGPU_PROFILE=gfx1100 */
	bool strict;		/* SOFTGPU_STRICT=1: a VM fault ends the context (default 0 as on hardware) */
	bool hostile;		/* SOFTGPU_HOSTILE=1: stale caches, reordering, garbage registers, poison (default 0) */
	bool execute;		/* SOFTGPU_EXECUTE=0: jobs complete without running (default 1) */
	uint64_t seed;		/* SOFTGPU_SEED=n: hostile mode's random choices; 0 = always the worst order (reverse) */
	unsigned lockup_ms;	/* SOFTGPU_LOCKUP_TIMEOUT_MS (default 10000) */
	unsigned spin_us;	/* SOFTGPU_RING_SPIN_US: ring thread spins this long before it sleeps (default 50) */
	bool eventfd;		/* SOFTGPU_EVENTFD=0: SYNCOBJ_EVENTFD is EINVAL, as before Linux 6.6 (default 1) */
	bool syscalls;		/* SOFTGPU_SYSCALLS=1: each emulated ioctl also enters the real kernel once (and fails
				 * there), so that strace counts it (default 0) */
	unsigned job_delay_us;	/* SOFTGPU_JOB_DELAY_US: every job begins this much later (default 0): race tests */
	unsigned fence_delay_us;/* SOFTGPU_FENCE_DELAY_US: and its fence signals this much later than its last write */
	unsigned threads;	/* SOFTGPU_THREADS: host threads that one dispatch may use (default: CPUs); 1 if hostile */
	const char *report;	/* SOFTGPU_REPORT=file: written at exit as JSON */
	const char *fail;	/* SOFTGPU_FAIL=ioctl:n:errno[,...]: the n-th call (from 1) of that ioctl fails */
	const char *recovery;	/* SOFTGPU_RECOVERY=full|soft|ring, what a hang leads to (default full); "none" when
				 * SOFTGPU_GPU_RECOVERY=0, amdgpu.gpu_recovery=0: the ring stands still */
	bool vram_lost;		/* SOFTGPU_VRAM_LOST=1: a full reset loses VRAM */
	uint64_t reset_every;	/* SOFTGPU_RESET_EVERY=n: with every n-th job another process makes the GPU reset; 0: never */
};
const struct sg_config *sg_config(void);

/* ---- buffer objects: backing memory ---- */

struct sg_bo {
	/* protected by refcount atomics; the rest is constant after creation */
	int refs;
	uint64_t bytes;		/* page-rounded */
	uint64_t file_offset;	/* in the device memfd; 0 for user memory */
	uint8_t *host;		/* softgpu's own mapping, or the user pointer */
	bool user_memory;
};

/* The sparse memfd that holds all buffers; a GEM_MMAP offset is a place in it. */
int sg_vram_fd(void);
/* Zero-filled (or, when clear is false, poisoned in strict and hostile mode together). NULL: out of memory. */
struct sg_bo *sg_bo_create(uint64_t bytes, bool clear);
struct sg_bo *sg_bo_create_user(void *memory, uint64_t bytes);
struct sg_bo *sg_bo_ref(struct sg_bo *bo);
void sg_bo_unref(struct sg_bo *bo); /* punches its pages out of the memfd with the last reference */

/* ---- one GPU address space ---- */

struct sg_vm;
enum { SG_VM_READ = 1, SG_VM_WRITE = 2, SG_VM_EXEC = 4, SG_VM_PRT = 8 };

struct sg_vm *sg_vm_create(void);
uint64_t sg_vm_serial(const struct sg_vm *vm); /* of this address space alone, from 1 */
struct sg_vm *sg_vm_ref(struct sg_vm *vm);
void sg_vm_unref(struct sg_vm *vm);
/* Checks of GEM_VA are drm/'s; these only fail with -EINVAL (overlap), -ENOENT, -ENOMEM. Thread-safe; jobs that
 * already run keep the page table they started with. bo NULL with SG_VM_PRT. Holds a reference on bo. */
int sg_vm_map(struct sg_vm *vm, uint64_t va, uint64_t bytes, struct sg_bo *bo, uint64_t bo_offset, uint32_t access);
int sg_vm_unmap(struct sg_vm *vm, uint64_t va, const struct sg_bo *bo); /* the mapping that starts exactly there */
int sg_vm_clear(struct sg_vm *vm, uint64_t va, uint64_t bytes);	    /* splits and trims what it overlaps */
void sg_vm_drop_bo(struct sg_vm *vm, const struct sg_bo *bo);	    /* all mappings of one BO (GEM_CLOSE) */

struct sg_vm_fault { uint64_t address; uint32_t status; uint32_t vmhub; uint64_t count; };
void sg_vm_last_fault(struct sg_vm *vm, struct sg_vm_fault *out);

/* ---- jobs and rings ---- */

enum sg_ip { SG_IP_GFX = 0, SG_IP_COMPUTE = 1, SG_IP_SDMA = 2, SG_IP_COUNT = 3 }; /* AMDGPU_HW_IP_* */

enum sg_outcome {
	SG_JOB_DONE = 0,
	SG_JOB_HANG,	/* lockup timeout, WAIT_REG_MEM for ever, endless shader */
	SG_JOB_ILLEGAL,	/* bad packet or instruction */
	SG_JOB_FAULT,	/* strict mode: VM fault */
	SG_JOB_SKIPPED,	/* cancelled before it ran */
};

struct sg_ib { uint64_t va; uint32_t dwords; uint32_t flags; };

struct sg_job {
	struct sg_vm *vm;	/* referenced by the ring until done */
	enum sg_ip ip;
	unsigned ring;		/* hardware ring index */
	unsigned n_ibs;
	struct sg_ib ibs[192];
	volatile uint64_t *user_fence; /* host address, written with user_fence_value after the last IB; may be NULL */
	uint64_t user_fence_value;
	bool (*cancelled)(struct sg_job *job); /* asked just before start: true = SG_JOB_SKIPPED */
	/* Called exactly once, on the ring's thread, after the user fence write. Frees or recycles the job. */
	void (*done)(struct sg_job *job, enum sg_outcome outcome, const char *why);
	void *owner;		/* drm/'s */
	struct sg_job *next;	/* ring's queue */
};

/* Registers the fork handlers of the rings; a submission does it too. */
void sg_ring_init(void);
/* Queues the job; the ring's thread runs it asynchronously, FIFO per ring. Starts the thread on first use. */
void sg_ring_submit(struct sg_job *job);
/* SOFTGPU_EXECUTE=0: writes what the job's last packets and its user fence would have written, in this thread. The
 * caller keeps the address space from changing meanwhile. */
void sg_ring_pretend(struct sg_job *job);
/* The whole device is reset for a job of another ring: what runs on this one stops now, and its job ends as
 * SG_JOB_SKIPPED. The caller has marked all of the ring's jobs as cancelled. From any thread. */
void sg_ring_reset(enum sg_ip ip, unsigned ring);
/* Blocks until every job queued before the call is done (fork, exit, reset). */
void sg_ring_drain_all(void);
/* Ends the ring threads: a running job is stopped as by the watchdog (SG_JOB_HANG), queued ones are SG_JOB_SKIPPED.
 * For process exit, after the report; a later submit starts them again. Not from a job's callback. */
void sg_ring_stop_all(void);

uint64_t sg_gpu_clock(void); /* counter_khz ticks since an arbitrary start */

/* ---- what was run, for SOFTGPU_REPORT (hw/report.c writes the hw part as JSON members) ---- */
struct sg_hw_stats {
	uint64_t jobs, ibs, packets, dwords /* of PM4 packets but NOP */, dispatches, barriers /* CS_PARTIAL_FLUSH */, acquires, waves, instructions, faults;
};
void sg_hw_stats(struct sg_hw_stats *out);
/* Writes `"jobs":1,...` plus `"opcodes":{...}` and `"packets_by_name":{...}` to a stdio stream, no braces around. */
struct _IO_FILE;
void sg_hw_report(struct _IO_FILE *out);

#endif
