/* SPDX-License-Identifier: MIT */
/* emit.c: the parts of writing PM4 that all generations share. */
#include <string.h>

#include "emit.h"
#include "pm4.h"
#include "pm4_regs.h"

#define FIRST_REG R_COMPUTE_DISPATCH_INITIATOR

void
gp_emit_init(struct gp_emit *e, const struct gp_target *target, uint32_t where)
{
	memset(e, 0, sizeof(*e));
	e->target = target;
	e->where = where;
}

void
gp_emit_dword(struct gp_emit *e, uint32_t dw)
{
	if (e->dw)
		e->dw[e->n] = dw;
	e->n++;
}

static uint32_t
address_part(uint64_t va, uint32_t kind)
{
	switch (kind) {
	case PLAN_RELOC_LO32:
		return (uint32_t)va;
	case PLAN_RELOC_HI32:
		return (uint32_t)(va >> 32);
	case PLAN_RELOC_LO32_SHR8:
		return (uint32_t)(va >> 8);
	default: /* PLAN_RELOC_HI8_SHR40 */
		return (uint32_t)(va >> 40) & 0xff;
	}
}

void
gp_emit_ref(struct gp_emit *e, struct gp_ref ref, uint32_t kind, uint32_t base)
{
	if (ref.memory == PLAN_MEMORY_NONE) {
		gp_emit_dword(e, base | address_part(ref.addend, kind));
		return;
	}
	if (e->relocations)
		e->relocations[e->n_relocations] = (struct plan_image_relocation){
			.where = e->where,
			.kind = kind,
			.place = e->n,
			.memory = ref.memory,
			.index = ref.index,
			.addend = ref.addend,
		};
	e->n_relocations++;
	gp_emit_dword(e, base);
}

void
gp_emit_word(struct gp_emit *e, struct gp_emit_word word)
{
	if (word.param) {
		if (e->patches)
			e->patches[e->n_patches] = (struct plan_image_patch){
				.parameter = word.param - 1,
				.where = e->where,
				.place = e->n,
				.bytes = 4,
				.multiplier = 1,
			};
		e->n_patches++;
	}
	gp_emit_dword(e, word.value);
}

static bool
same_reg(const struct gp_emit_reg *a, const struct gp_emit_reg *b)
{
	return a->is_ref == b->is_ref && a->value == b->value && a->kind == b->kind && a->ref.memory == b->ref.memory &&
	       a->ref.index == b->ref.index && a->ref.addend == b->ref.addend;
}

static void
want_reg(struct gp_emit *e, uint32_t reg, const struct gp_emit_reg *value)
{
	uint32_t i = reg - FIRST_REG;

	e->want[i].known = false;
	if (!e->regs[i].known || !same_reg(&e->regs[i], value))
		e->want[i] = *value;
}

void
gp_emit_reg(struct gp_emit *e, uint32_t reg, uint32_t value)
{
	want_reg(e, reg, &(struct gp_emit_reg){ .known = true, .value = value });
}

void
gp_emit_reg_range(struct gp_emit *e, uint32_t first, uint32_t last, uint32_t value)
{
	for (uint32_t r = first; r <= last; r++)
		gp_emit_reg(e, r, value);
}

void
gp_emit_reg_ref(struct gp_emit *e, uint32_t reg, struct gp_ref ref, uint32_t kind, uint32_t base)
{
	want_reg(e, reg, &(struct gp_emit_reg){ .known = true, .is_ref = true, .value = base, .ref = ref, .kind = kind });
}

static void
write_run(struct gp_emit *e, uint32_t first, uint32_t end)
{
	gp_emit_dword(e, pm4_header(PM4_OP_SET_SH_REG, 1 + end - first));
	gp_emit_dword(e, PM4_SET(PM4_SET_REG_OFFSET, FIRST_REG + first));
	for (uint32_t i = first; i < end; i++) {
		struct gp_emit_reg *want = &e->want[i];

		if (want->is_ref)
			gp_emit_ref(e, want->ref, want->kind, want->value);
		else
			gp_emit_dword(e, want->value);
		e->regs[i] = *want;
		want->known = false;
	}
}

void
gp_emit_flush_regs(struct gp_emit *e)
{
	for (uint32_t i = 0; i < GP_EMIT_REGS; i++) {
		uint32_t end = i;

		while (end < GP_EMIT_REGS && e->want[end].known)
			end++;
		if (end > i) {
			write_run(e, i, end);
			i = end;
		}
	}
}
