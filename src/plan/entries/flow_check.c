// The invariants of a plan's flow, and of its state between steps, as assertions.
#include "plan/entries/flow.h"

#include <assert.h>

#ifdef NDEBUG
void rheos__flow_check(const rheos__plan *plan) { (void)plan; }
void rheos__flow_state_check(const rheos__plan *plan, const rheos__flow_state *state) {
  (void)plan;
  (void)state;
}
#else

// Each entry is a member of the frame that it waits in, and of no other one.
static void check_frames(const rheos__plan *plan) {
  const rheos__flow *flow = plan->flow;
  int32_t member = 0, mover = 0;
  for (int32_t i = 0; i < flow->num_frames; ++i) {
    const rheos__flow_frame *frame = &flow->frames[i];
    assert(i == 0 ? frame->parent == -1 : frame->parent >= 0 && frame->parent < i);
    assert(frame->first_member == member && frame->first_mover == mover);
    for (int32_t k = 0; k < frame->num_members; ++k) {
      const int32_t entry = flow->members[member + k];
      assert(entry >= 0 && entry < plan->num_entries && flow->frame_of[entry] == i);
      assert(k == 0 || flow->members[member + k - 1] < entry);
    }
    for (int32_t k = 0; k < frame->num_movers; ++k) {
      assert(flow->frame_behind[flow->movers[mover + k]] == i);
    }
    member += frame->num_members;
    mover += frame->num_movers;
  }
  assert(member == plan->num_entries);
}

// A token goes to an operand that takes the value, or to a fetch of it.
static void check_use(const rheos__plan *plan, int32_t value, const rheos__flow_use *use) {
  if (use->entry < 0) {
    assert(~use->entry < plan->num_fetches && plan->fetch_values[~use->entry] == value);
    return;
  }
  const rheos__entry *entry = &plan->entries[use->entry];
  assert(use->entry < plan->num_entries && plan->operands[use->operand] == value);
  assert(use->operand >= entry->first_operand &&
         use->operand < entry->first_operand + entry->num_inputs);
}

static void check_control_use(const rheos__plan *plan, int32_t from, const rheos__flow_use *use) {
  assert(use->entry >= 0 && use->entry < plan->num_entries && use->operand == -1);
  const rheos__entry *entry = &plan->entries[use->entry];
  bool waits = false;
  for (int32_t i = 0; i < entry->num_waits; ++i) {
    waits = waits || plan->waits[entry->first_wait + i] == from;
  }
  assert(waits);
  (void)waits;
}

// As many tokens go to an entry as it waits for.
static void check_counts(const rheos__plan *plan) {
  int64_t num_waited_for = plan->num_fetches;
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    const rheos__flow_counts *counts = &plan->flow->counts[i];
    const bool is_merge = plan->flow->roles[i] == RHEOS__FLOW_MERGE;
    assert(counts->dead == 0 && counts->taken == 0);
    assert(counts->pending ==
           (is_merge ? 2 * entry->num_waits + 1 : entry->num_inputs + entry->num_waits));
    (void)counts;
    (void)is_merge;
    num_waited_for += entry->num_inputs + entry->num_waits;
  }
  assert(num_waited_for == plan->flow->first_control_uses[plan->num_entries]);
}

void rheos__flow_check(const rheos__plan *plan) {
  const rheos__flow *flow = plan->flow;
  check_frames(plan);
  for (int32_t value = 0; value < plan->num_values; ++value) {
    for (int32_t i = flow->first_uses[value]; i < flow->first_uses[value + 1]; ++i) {
      check_use(plan, value, &flow->uses[i]);
    }
  }
  assert(flow->first_uses[plan->num_values] == flow->first_control_uses[0]);
  for (int32_t entry = 0; entry < plan->num_entries; ++entry) {
    const int32_t end = flow->first_control_uses[entry + 1];
    for (int32_t i = flow->first_control_uses[entry]; i < end; ++i) {
      check_control_use(plan, entry, &flow->uses[i]);
    }
  }
  check_counts(plan);
}

static void check_none(const rheos__flow_token *token) {
  assert(token->tensor == NULL && token->cell == NULL);
  (void)token;
}

void rheos__flow_state_check(const rheos__plan *plan, const rheos__flow_state *state) {
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      check_none(&state->operands[entry->first_operand + k]);
    }
    check_none(&state->kept[i]);
  }
  for (int32_t i = 0; i < plan->num_fetches; ++i) check_none(&state->fetched[i]);
  for (int32_t i = 0; i < plan->flow->num_frames; ++i) {
    assert(state->trips[i].num_tokens == 0 && (i == 0 || !state->trips[i].is_active));
  }
  assert(state->num_ready == 0 && state->num_asides == 0 && state->num_put_off == 0);
}

#endif
