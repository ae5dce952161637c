// The effects of a plan's entries follow from their ops and operands. See effects.h.
#include "plan/entries/effects.h"

#include <assert.h>

static bool is_cell(const rheos__plan *plan, int32_t value) {
  const rheos_dtype dtype = (rheos_dtype)plan->dtypes[value];
  return rheos_dtype_is_ref(dtype) || dtype == RHEOS_RESOURCE;
}

int32_t rheos__plan_cell(const rheos__plan *plan, int32_t value) {
  for (;;) {
    assert(value >= 0 && value < plan->num_values);
    const int32_t producer = rheos__plan_producer(plan, value);
    if (producer < 0) return value;
    const rheos__entry *entry = &plan->entries[producer];
    if (value != entry->first_value || entry->num_inputs == 0) return value;
    const int32_t input = plan->operands[entry->first_operand];
    if (!is_cell(plan, input) || plan->dtypes[input] != plan->dtypes[value]) return value;
    value = input;
  }
}

static rheos_status *add_effect(rheos__plan *plan, size_t *capacity, rheos__entry *entry,
                                int32_t value, rheos__effect_kind kind) {
  if (!RHEOS_RESERVE(plan->effects, *capacity, (size_t)plan->num_effects + 1)) {
    return rheos__out_of_memory();
  }
  assert((value < 0) == (kind == RHEOS__EFFECT_STATE) && value < entry->first_value);
  plan->effects[plan->num_effects++] = (rheos__effect){
      .entry = (int32_t)(entry - plan->entries), .value = value, .kind = (uint8_t)kind};
  entry->has_effects = true;
  return NULL;
}

static rheos_status *find_effects_of(rheos__plan *plan, size_t *capacity, rheos__entry *entry) {
  const unsigned flags = entry->signature->op->flags;
  entry->has_effects = false;
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const int32_t value = plan->operands[entry->first_operand + i];
    if (!is_cell(plan, value)) continue;
    const bool writes = rheos__entry_writes(entry);  // an optimizer's op its slots too
    RHEOS_TRY(add_effect(plan, capacity, entry, rheos__plan_cell(plan, value),
                         writes ? RHEOS__EFFECT_WRITES : RHEOS__EFFECT_READS));
  }
  if (entry->kind != RHEOS__ENTRY_NODE || entry->has_effects ||
      (flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) == 0) {
    return NULL;
  }
  // What only gives a cell does nothing to it.
  if (entry->num_inputs == 0 && entry->num_outputs > 0 && is_cell(plan, entry->first_value)) {
    return NULL;
  }
  return add_effect(plan, capacity, entry, -1, RHEOS__EFFECT_STATE);
}

rheos_status *rheos__find_effects(rheos__plan *plan) {
  size_t capacity = 0;
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    RHEOS_TRY(find_effects_of(plan, &capacity, &plan->entries[i]));
  }
  return NULL;
}

// The first effect of an entry that does not lie before `entry`.
static int32_t first_from(const rheos__plan *plan, int32_t entry) {
  int32_t first = 0, end = plan->num_effects;
  while (first < end) {
    const int32_t middle = first + (end - first) / 2;
    if (plan->effects[middle].entry < entry) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

const rheos__effect *rheos__effects_of(const rheos__plan *plan, int32_t entry, int32_t *out_count) {
  const int32_t first = first_from(plan, entry);
  *out_count = first_from(plan, entry + 1) - first;
  assert((*out_count > 0) == plan->entries[entry].has_effects);
  return plan->effects != NULL ? plan->effects + first : NULL;
}
