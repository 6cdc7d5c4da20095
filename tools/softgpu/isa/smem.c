/* SPDX-License-Identifier: MIT */
/* smem.c: scalar loads. */
#include "core.h"

#include <stdlib.h>

static const struct sg_op *
finish(struct sg_wave *w, const struct sg_op *op, const uint32_t *data)
{
	for (unsigned i = 0; i < op->size; i++)
		w->sgpr[op->dst + i] = data[i];
	return w->state == SG_WAVE_RUN ? op + 1 : NULL;
}

/* The scalar cache takes 48 bits of an address: radeonsi's compute code hands out pointers whose upper 16 are 0. */
static uint64_t
canonical(uint64_t va)
{
	return (uint64_t)((int64_t)(va << 16) >> 16);
}

static const struct sg_op *
run_load(struct sg_wave *w, const struct sg_op *op)
{
	uint32_t data[16];
	uint64_t va = w->sgpr[op->addr] | (uint64_t)w->sgpr[op->addr + 1] << 32;

	va += (uint64_t)op->imm + (uint32_t)sg_scalar(w, &op->src[0]);
	sg_mem_read(w, canonical(va) & ~(uint64_t)3, data, 4 * op->size, SG_PATH_SCALAR, op->pc);
	return finish(w, op, data);
}

/* V#: 48-bit base, stride in 61:48, number of records; dwords past the end read 0. */
static const struct sg_op *
run_buffer_load(struct sg_wave *w, const struct sg_op *op)
{
	uint32_t data[16] = { 0 };
	const uint32_t *v = &w->sgpr[op->addr];
	uint64_t base = v[0] | (uint64_t)(v[1] & 0xffff) << 32;
	uint64_t stride = v[1] >> 16 & 0x3fff, size = stride ? stride * v[2] : v[2];
	uint64_t offset = ((uint64_t)op->imm + (uint32_t)sg_scalar(w, &op->src[0])) & ~(uint64_t)3;

	base = canonical(base) & ~(uint64_t)3;
	unsigned n = 0;
	while (n < op->size && offset + 4 * n + 4 <= size)
		n++;
	if (n)
		sg_mem_read(w, base + offset, data, 4 * n, SG_PATH_SCALAR, op->pc);
	return finish(w, op, data);
}

bool
sg_bind_smem(struct sg_insn *insn, enum sg_format format)
{
	const char *bits = strrchr(insn->key, '_');
	bool buffer = !strncmp(insn->key, "s_buffer_load_b", 15);

	if (format != SG_FMT_SMEM || (!buffer && strncmp(insn->key, "s_load_b", 8)))
		return false;
	insn->family = SG_FAM_SMEM;
	insn->form = (uint8_t)(atoi(bits + 2) / 32);
	insn->run = buffer ? run_buffer_load : run_load;
	return true;
}
