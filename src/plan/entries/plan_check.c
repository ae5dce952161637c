// The invariants of a plan, as assertions.
#include "plan/entries/plan.h"

#include <assert.h>

#ifdef NDEBUG
void rheos__plan_check(const rheos__plan *plan) { (void)plan; }
#else

static void check_waits(const rheos__plan *plan, int32_t first, int32_t count, int32_t end,
                        int32_t end_join) {
  assert(count == 0 || (first >= 0 && first + count <= plan->num_waits));
  for (int32_t i = 0; i < count; ++i) {
    const int32_t wait = plan->waits[first + i];
    assert(wait < end && ~wait < end_join);
  }
}

static void check_entry(const rheos__plan *plan, int32_t index) {
  const rheos__entry *entry = &plan->entries[index];
  assert(entry->kind == RHEOS__ENTRY_NODE || entry->kind == RHEOS__ENTRY_READ ||
         (entry->kind == RHEOS__ENTRY_WATCH && plan->context.watches != NULL) ||
         (rheos__is_moved(entry) && plan->is_mixed));
  assert(entry->device >= 0 && entry->device < plan->context.num_devices);
  assert(entry->first_value + entry->num_outputs <= plan->num_values);
  for (int32_t k = 0; k < entry->num_inputs; ++k) {
    const int32_t value = plan->operands[entry->first_operand + k];
    assert(value >= 0 && value < entry->first_value);
    const int32_t producer = rheos__plan_producer(plan, value);
    assert(producer < index);
    assert(producer < 0 || rheos__level_behind(&plan->entries[producer]) <= entry->level ||
           entry->rule != 0);
  }
  assert(entry->kind != RHEOS__ENTRY_WATCH || (entry->num_inputs == 1 && entry->num_outputs == 0));
  check_waits(plan, entry->first_wait, entry->num_waits, index, plan->num_joins);
  assert(entry->signature != NULL && entry->id >= 0 && entry->level >= 0);
  assert(entry->kind != RHEOS__ENTRY_READ || (entry->num_inputs == 1 && entry->num_outputs == 1));
  for (int32_t k = 0; k < entry->num_waits; ++k) {
    const int32_t wait = plan->waits[entry->first_wait + k];
    assert(wait < 0 || rheos__level_behind(&plan->entries[wait]) <= entry->level);
  }
  if (index == 0) return;
  const rheos__entry *before = &plan->entries[index - 1];
  // A copy stands right before who needs it first, who may be one of several that write.
  assert(rheos__place_in_order(before) <= rheos__place_in_order(entry) || rheos__is_moved(entry));
  assert(before->first_value + before->num_outputs == entry->first_value);
}

void rheos__plan_check(const rheos__plan *plan) {
  for (int32_t i = 0; i < plan->num_entries; ++i) check_entry(plan, i);
  for (int32_t i = 0; i < plan->num_joins; ++i) {
    check_waits(plan, plan->joins[i].first_wait, plan->joins[i].num_waits, plan->num_entries, i);
  }
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    assert(plan->fetches[i].id < rheos_graph_num_operations(plan->graph));
    assert(plan->fetch_values[i] >= 0 && plan->fetch_values[i] < plan->num_values);
  }
}

#endif  // NDEBUG
