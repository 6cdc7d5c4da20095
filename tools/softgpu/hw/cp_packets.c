/* SPDX-License-Identifier: MIT */
/* cp_packets.c: the packets there are, on which ring and generation each is legal, and who handles it.
 *
 * Sources: the opcode lists and *_pm4_packets.h of PAL (gfx9 to gfx11 and gfx12), Linux's soc15d.h and nvd.h.
 */
#include "cp.h"

/* Accepted and of no effect here: state of the graphics pipe, hints, and waits of one engine for another. */
static void
accept_only(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)cp;
	(void)p;
}

static void
refuse_draw(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "draws are not implemented, this device is for compute");
}

static void
refuse_privileged(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "only the kernel may use this packet");
}

static void
refuse_user_queue(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "this packet belongs to user queues, the kernel's rings refuse it");
}

static void
refuse_missing(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "legal on this ring, but softgpu does not implement it");
}

/* No driver since gfx9 emits it, and what it adds to which base no public source tells. */
static void
refuse_undocumented(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	sg_run_fail(&cp->run, SG_JOB_ILLEGAL, "legal on this ring, but what it computes is not documented");
}

/* A job's part of the global data share is what its buffer list names, and this device has no such buffers: every
 * access is out of range, so an atomic changes nothing and returns 0. */
static void
atomic_gds(struct sg_cp *cp, const struct sg_packet *p)
{
	(void)p;
	cp->gds_return = 0;
}

/* Generations from which and until which a packet is legal on a ring; until 0 = still. */
#define NEVER { 0, 0 }
#define G9 { SG_GEN_9, 0 }
#define G942 { SG_GEN_942, SG_GEN_942 }
#define G10 { SG_GEN_10, 0 }
#define G103 { SG_GEN_103, 0 }
#define G11 { SG_GEN_11, 0 }
#define G12 { SG_GEN_12, 0 }
#define TO8 { 0, SG_GEN_9 - 1 }
#define TO10 { SG_GEN_9, SG_GEN_11 - 1 }
#define TO11 { SG_GEN_9, SG_GEN_12 - 1 }
#define IS11 { SG_GEN_11, SG_GEN_12 - 1 }
#define AQL_OLD { SG_GEN_9, SG_GEN_103 - 1 }
#define P(name, gfx, compute, min_body, handler) [PM4_OP_##name] = { #name, gfx, compute, min_body, handler }

static const struct sg_packet_info packets[256] = {
	P(NOP, G9, G9, 0, accept_only),
	P(SET_BASE, G9, G12, 3, sg_pk_set_base),
	P(CLEAR_STATE, G9, NEVER, 1, sg_pk_clear_state),
	P(INDEX_BUFFER_SIZE, G9, NEVER, 1, accept_only),
	P(DISPATCH_DIRECT, G9, G9, 4, sg_pk_dispatch_direct),
	P(DISPATCH_INDIRECT, G9, G9, 2, sg_pk_dispatch_indirect),
	P(ATOMIC_GDS, TO11, TO11, 10, atomic_gds),
	P(ATOMIC_MEM, G9, G9, 8, sg_pk_atomic_mem),
	P(OCCLUSION_QUERY, G9, NEVER, 4, sg_pk_occlusion_query),
	P(SET_PREDICATION, G9, NEVER, 3, sg_pk_set_predication),
	P(REG_RMW, G9, NEVER, 3, sg_pk_reg_rmw),
	P(COND_EXEC, G9, G9, 4, sg_pk_cond_exec),
	P(PRED_EXEC, G9, G942, 1, sg_pk_pred_exec),
	P(DRAW_INDIRECT, G9, NEVER, 1, refuse_draw),
	P(DRAW_INDEX_INDIRECT, G9, NEVER, 1, refuse_draw),
	P(INDEX_BASE, G9, NEVER, 2, accept_only),
	P(DRAW_INDEX_2, G9, NEVER, 1, refuse_draw),
	P(CONTEXT_CONTROL, G9, NEVER, 2, accept_only),
	P(INDEX_TYPE, G9, NEVER, 1, accept_only),
	P(DRAW_INDIRECT_MULTI, G9, NEVER, 1, refuse_draw),
	P(DRAW_INDEX_AUTO, G9, NEVER, 1, refuse_draw),
	P(NUM_INSTANCES, G9, NEVER, 1, accept_only),
	P(DRAW_INDEX_MULTI_AUTO, G9, NEVER, 1, refuse_draw),
	P(STRMOUT_BUFFER_UPDATE, G9, NEVER, 1, refuse_draw),
	P(DRAW_INDEX_OFFSET_2, G9, NEVER, 1, refuse_draw),
	P(DRAW_PREAMBLE, G9, NEVER, 1, accept_only),
	P(WRITE_DATA, G9, G9, 4, sg_pk_write_data),
	P(DRAW_INDEX_INDIRECT_MULTI, G9, NEVER, 1, refuse_draw),
	P(MEM_SEMAPHORE, TO10, TO10, 3, sg_pk_mem_semaphore),
	P(WAIT_REG_MEM, G9, G9, 6, sg_pk_wait_reg_mem),
	P(PERF_COUNTER_WINDOW, G11, G11, 1, accept_only),
	P(INDIRECT_BUFFER, G9, G9, 3, sg_pk_indirect_buffer),
	P(COPY_DATA, G9, G9, 5, sg_pk_copy_data),
	P(PFP_SYNC_ME, G9, NEVER, 1, accept_only),
	P(SURFACE_SYNC, TO8, NEVER, 4, accept_only),
	P(COND_WRITE, G9, G9, 8, sg_pk_cond_write),
	P(EVENT_WRITE, G9, G9, 1, sg_pk_event_write),
	P(EVENT_WRITE_EOP, TO8, TO8, 5, accept_only),
	P(EVENT_WRITE_EOS, TO8, TO8, 4, accept_only),
	P(RELEASE_MEM, G9, G9, 7, sg_pk_release_mem),
	P(PREAMBLE_CNTL, G9, NEVER, 1, accept_only),
	P(DISPATCH_MESH_INDIRECT_MULTI, G10, NEVER, 1, refuse_draw),
	P(DISPATCH_TASKMESH_GFX, G10, NEVER, 1, refuse_draw),
	P(DISPATCH_MESH_DIRECT, G11, NEVER, 1, refuse_draw),
	P(DMA_DATA, G9, G9, 6, sg_pk_dma_data),
	P(CONTEXT_REG_RMW, G9, NEVER, 3, sg_pk_context_reg_rmw),
	P(PERFMON_CONTROL, G9, G9, 1, accept_only),
	P(ACQUIRE_MEM, G9, G9, 6, sg_pk_acquire_mem),
	P(REWIND, G9, G9, 1, sg_pk_rewind),
	P(PRIME_UTCL2, G9, G9, 4, accept_only), /* a TLB prefetch */
	P(LOAD_UCONFIG_REG, G9, NEVER, 4, sg_pk_load_uconfig_reg),
	P(LOAD_SH_REG, G9, NEVER, 4, sg_pk_load_sh_reg),
	P(LOAD_CONTEXT_REG, G9, NEVER, 4, sg_pk_load_context_reg),
	P(LOAD_SH_REG_INDEX, G9, G103, 4, sg_pk_load_sh_reg_index),
	P(LOAD_UCONFIG_REG_INDEX, G10, NEVER, 4, sg_pk_load_uconfig_reg_index),
	P(SET_CONFIG_REG, G9, G9, 2, sg_pk_set_config_reg),
	P(SET_CONTEXT_REG, G9, NEVER, 2, sg_pk_set_context_reg),
	P(SET_CONTEXT_REG_INDEX, G9, NEVER, 2, sg_pk_set_context_reg),
	P(SET_SH_REG, G9, G9, 2, sg_pk_set_sh_reg),
	P(SET_SH_REG_OFFSET, G9, NEVER, 2, refuse_undocumented),
	P(SET_QUEUE_REG, NEVER, G9, 1, refuse_privileged),
	P(SET_UCONFIG_REG, G9, G9, 2, sg_pk_set_uconfig_reg),
	P(SET_UCONFIG_REG_INDEX, G9, NEVER, 2, sg_pk_set_uconfig_reg),
	/* The constant engine went with gfx11. Its IBs stand before the others of a job and run first here, so its
	 * counters are always far enough; what it loads only draws would read. */
	P(LOAD_CONST_RAM, TO10, NEVER, 4, accept_only),
	P(WRITE_CONST_RAM, TO10, NEVER, 2, accept_only),
	P(DUMP_CONST_RAM, TO10, NEVER, 4, refuse_missing),
	P(INCREMENT_CE_COUNTER, TO10, NEVER, 1, accept_only),
	P(INCREMENT_DE_COUNTER, TO10, NEVER, 1, accept_only),
	P(WAIT_ON_CE_COUNTER, TO10, NEVER, 1, accept_only),
	P(WAIT_ON_DE_COUNTER_DIFF, TO10, NEVER, 1, accept_only),
	P(SET_CE_DE_COUNTERS, TO10, NEVER, 1, accept_only),
	P(SWITCH_BUFFER, G9, NEVER, 1, accept_only),
	P(FRAME_CONTROL, G9, NEVER, 1, accept_only),
	P(INDEX_ATTRIBUTES_INDIRECT, G9, NEVER, 1, accept_only),
	P(WAIT_FOR_WRITE_CONFIRM, G103, NEVER, 1, accept_only),
	P(WAIT_REG_MEM64, G9, G9, 8, sg_pk_wait_reg_mem64),
	P(HDP_FLUSH, G9, G9, 1, accept_only),
	P(INVALIDATE_TLBS, G9, G9, 1, refuse_privileged),
	P(AQL_PACKET_GFX9, NEVER, AQL_OLD, 1, refuse_missing),
	P(DMA_DATA_FILL_MULTI, G9, G9, 6, sg_pk_dma_data_fill_multi),
	P(SET_SH_REG_INDEX, G9, G9, 2, sg_pk_set_sh_reg_index),
	P(LOAD_CONTEXT_REG_INDEX, G9, NEVER, 4, sg_pk_load_context_reg_index),
	P(SET_RESOURCES, NEVER, G9, 1, refuse_privileged),
	P(MAP_PROCESS, NEVER, G9, 1, refuse_privileged),
	P(MAP_QUEUES, NEVER, G9, 1, refuse_privileged),
	P(UNMAP_QUEUES, NEVER, G9, 1, refuse_privileged),
	P(QUERY_STATUS, NEVER, G9, 1, refuse_privileged),
	P(RUN_LIST, NEVER, G9, 1, refuse_privileged),
	P(DISPATCH_DIRECT_INTERLEAVED, G12, NEVER, 1, refuse_missing),
	P(DISPATCH_INDIRECT_INTERLEAVED, G12, NEVER, 1, refuse_missing),
	P(DISPATCH_TASK_STATE_INIT, G10, G10, 2, accept_only),
	P(DISPATCH_TASKMESH_DIRECT_ACE, NEVER, G10, 1, refuse_draw),
	P(DISPATCH_TASKMESH_INDIRECT_MULTI_ACE, NEVER, G10, 1, refuse_draw),
	P(EXECUTE_INDIRECT, G9, NEVER, 1, refuse_missing),
	P(EVENT_WRITE_ZPASS, G11, NEVER, 2, sg_pk_event_write_zpass),
	P(TIMESTAMP, G11, G11, 5, sg_pk_timestamp),
	P(EXECUTE_INDIRECT_V2, G11, G12, 1, refuse_missing),
	P(SET_CONTEXT_REG_PAIRS, G11, NEVER, 2, sg_pk_set_context_pairs),
	P(SET_CONTEXT_REG_PAIRS_PACKED, G11, NEVER, 4, sg_pk_set_context_packed),
	P(SET_SH_REG_PAIRS, G11, G12, 2, sg_pk_set_sh_pairs),
	P(SET_SH_REG_PAIRS_PACKED, IS11, IS11, 4, sg_pk_set_sh_packed),
	P(SET_SH_REG_PAIRS_PACKED_GFX12, G12, G12, 4, sg_pk_set_sh_packed),
	P(SET_SH_REG_PAIRS_PACKED_N, G11, G11, 4, sg_pk_set_sh_packed_n),
	P(SET_UCONFIG_REG_PAIRS, G12, G12, 2, sg_pk_set_uconfig_pairs),
	P(PROTECTED_FENCE_SIGNAL, G11, G11, 1, refuse_user_queue),
	P(FENCE_WAIT_MULTI, G11, G11, 1, refuse_user_queue),
	P(RUN_CLEANER_SHADER, G9, G9, 1, refuse_privileged),
	P(SET_Q_PREEMPTION_MODE, G11, G11, 1, accept_only),
	P(AQL_PACKET, NEVER, G103, 1, refuse_missing),
};

const struct sg_packet_info *
sg_packet_info(unsigned opcode)
{
	return &packets[opcode & 0xff];
}

const char *
sg_pm4_name(unsigned opcode)
{
	return packets[opcode & 0xff].name;
}
