// What the entries of a plan do to the cells behind references and handles.
#ifndef RHEOS_SRC_PLAN_ENTRIES_EFFECTS_H
#define RHEOS_SRC_PLAN_ENTRIES_EFFECTS_H

#include "plan/entries/plan.h"

// Fills in plan->effects. The operands are final.
rheos_status *rheos__find_effects(rheos__plan *plan);

// The effects of an entry, in plan->effects.
const rheos__effect *rheos__effects_of(const rheos__plan *plan, int32_t entry, int32_t *out_count);

// The value whose cell a reference or handle stands for: what passes it on is looked through.
int32_t rheos__plan_cell(const rheos__plan *plan, int32_t value);

#endif  // RHEOS_SRC_PLAN_ENTRIES_EFFECTS_H
