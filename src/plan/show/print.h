// A plan and its segments as text, whole: what was pruned and put in order, what rules made of it,
// and where the bytes lie. Entries are called e0, e1, ..., values v0, joins j0, instructions i0.
#ifndef RHEOS_SRC_PLAN_SHOW_PRINT_H
#define RHEOS_SRC_PLAN_SHOW_PRINT_H

#include "base/text.h"
#include "plan/segment/segment.h"

// Entries with op, operands, waits, effects, device and the rule that made them; joins; feeds,
// fetches.
rheos_status *rheos__plan_print(const rheos__plan *plan, rheos__text *text);

// Values with the place of their bytes, instructions, sections, memory.
rheos_status *rheos__segment_print(const rheos__segment *segment, rheos__text *text);

// ---- For whoever prints them in another form

const char *rheos__effect_kind_name(const rheos__effect *effect);
const char *rheos__value_kind_name(const rheos__value *value);
const char *rheos__instruction_kind_name(const rheos__instruction *instruction);
const char *rheos__section_kind_name(const rheos__section *section);

// By entry, from the segment's first on: the instruction that computes it, which is the fused loop
// for those in one; -1 for those that none runs (constants, handles, what has its input's bytes).
// For rheos__free(); NULL when memory is short.
int32_t *rheos__segment_runners(const rheos__segment *segment);

// The pass that made of a value, or of an instruction, what it is; NULL for none.
const char *rheos__value_made_by(const rheos__segment *segment, int32_t value);
const char *rheos__instruction_made_by(const rheos__instruction *instruction);

#endif  // RHEOS_SRC_PLAN_SHOW_PRINT_H
