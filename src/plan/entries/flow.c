// The flow of a plan in arrays: who takes what, what is waited for; and what a step needs of them.
#include "plan/entries/flow.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "plan/entries/prepare.h"

static rheos__flow_role role_of(const rheos__entry *entry) { return entry->signature->op->flow; }

// ---- Uses

// Goes over all uses: of values by fetches and operands, then of entries by those that wait for
// them. `places` is where the next use of a value or entry goes; `uses` is NULL to count them
// there.
static void go_over_uses(const rheos__plan *plan, int32_t *value_places, int32_t *entry_places,
                         rheos__flow_use *uses) {
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      const int32_t operand = entry->first_operand + k;
      const int32_t at = value_places[plan->operands[operand]]++;
      if (uses != NULL) uses[at] = (rheos__flow_use){i, operand};
    }
    for (int32_t k = 0; k < entry->num_waits; ++k) {
      const int32_t at = entry_places[plan->waits[entry->first_wait + k]]++;
      if (uses != NULL) uses[at] = (rheos__flow_use){i, -1};
    }
  }
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    const int32_t at = value_places[plan->fetch_values[i]]++;
    if (uses != NULL) uses[at] = (rheos__flow_use){~i, -1};
  }
}

// Numbers to first places, and the end.
static int32_t to_places(int32_t *counts, int32_t count, int32_t first) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t here = counts[i];
    counts[i] = first;
    first += here;
  }
  counts[count] = first;
  return first;
}

// Going over the uses has left in each place where the next one begins.
static void places_back(int32_t *places, int32_t count, int32_t first) {
  for (int32_t i = count; i > 0; --i) places[i] = places[i - 1];
  places[0] = first;
}

static rheos_status *find_uses(rheos__flow *flow, const rheos__plan *plan) {
  flow->first_uses = rheos__alloc_array((size_t)plan->num_values + 1, sizeof *flow->first_uses);
  flow->first_control_uses =
      rheos__alloc_array((size_t)plan->num_entries + 1, sizeof *flow->first_control_uses);
  if (flow->first_uses == NULL || flow->first_control_uses == NULL) return rheos__out_of_memory();
  go_over_uses(plan, flow->first_uses, flow->first_control_uses, NULL);
  const int32_t middle = to_places(flow->first_uses, plan->num_values, 0);
  const int32_t end = to_places(flow->first_control_uses, plan->num_entries, middle);
  flow->uses = rheos__alloc_array((size_t)end, sizeof *flow->uses);
  if (flow->uses == NULL) return rheos__out_of_memory();
  go_over_uses(plan, flow->first_uses, flow->first_control_uses, flow->uses);
  places_back(flow->first_uses, plan->num_values, 0);
  places_back(flow->first_control_uses, plan->num_entries, middle);
  return NULL;
}

// ---- Entries

// Whether the entry hands a token to trips of the frame that its outputs go to.
static bool is_mover(const rheos__flow *flow, const rheos__entry *entry, int32_t index) {
  return flow->is_constant[index] || role_of(entry) == RHEOS__FLOW_NEXT_ITERATION;
}

static void list_by_frame(rheos__flow *flow, const rheos__plan *plan) {
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    ++flow->frames[flow->frame_of[i]].num_members;
    if (is_mover(flow, &plan->entries[i], i)) ++flow->frames[flow->frame_behind[i]].num_movers;
  }
  int32_t member = 0, mover = 0;
  for (int32_t i = 0; i < flow->num_frames; ++i) {
    rheos__flow_frame *frame = &flow->frames[i];
    frame->first_member = member;
    frame->first_mover = mover;
    member += frame->num_members;
    mover += frame->num_movers;
    frame->num_members = frame->num_movers = 0;
  }
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    rheos__flow_frame *frame = &flow->frames[flow->frame_of[i]];
    flow->members[frame->first_member + frame->num_members++] = i;
    if (!is_mover(flow, &plan->entries[i], i)) continue;
    frame = &flow->frames[flow->frame_behind[i]];
    flow->movers[frame->first_mover + frame->num_movers++] = i;
  }
}

static bool goes_on_quietly(const rheos__flow *flow, const rheos__plan *plan, int32_t entry) {
  const rheos__entry *e = &plan->entries[entry];
  const unsigned loud = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_WAITS | RHEOS_OP_CALLS;
  return (e->signature->op->flags & loud) == 0 && role_of(e) == RHEOS__FLOW_NONE &&
         flow->ends_quietly[entry];
}

static bool all_quiet(const rheos__flow *flow, const rheos__plan *plan, const int32_t *firsts) {
  for (int32_t i = firsts[0]; i < firsts[1]; ++i) {
    const int32_t entry = flow->uses[i].entry;
    if (entry >= 0 && !goes_on_quietly(flow, plan, entry)) return false;
  }
  return true;
}

// From the end: uses lie behind what they use, but for those of loops, which are not quiet.
static rheos_status *find_quiet_ends(rheos__flow *flow, const rheos__plan *plan) {
  flow->ends_quietly = rheos__alloc_zeroed((size_t)plan->num_entries + 1);
  if (flow->ends_quietly == NULL) return rheos__out_of_memory();
  for (int32_t i = plan->num_entries - 1; i >= 0; --i) {
    const rheos__entry *e = &plan->entries[i];
    bool is_quiet = all_quiet(flow, plan, &flow->first_control_uses[i]);
    for (int32_t k = 0; is_quiet && k < e->num_outputs; ++k) {
      is_quiet = all_quiet(flow, plan, &flow->first_uses[e->first_value + k]);
    }
    flow->ends_quietly[i] = is_quiet;
  }
  return NULL;
}

static rheos_status *find_frames(rheos__flow *flow, const rheos__plan *plan,
                                 rheos__flow_frames *frames) {
  const size_t count = (size_t)plan->num_entries;
  flow->frame_of = rheos__alloc_array(count, sizeof *flow->frame_of);
  flow->frame_behind = rheos__alloc_array(count, sizeof *flow->frame_behind);
  flow->is_constant = rheos__alloc_array(count, sizeof *flow->is_constant);
  flow->roles = rheos__alloc_array(count, sizeof *flow->roles);
  flow->members = rheos__alloc_array(count, sizeof *flow->members);
  flow->movers = rheos__alloc_array(count, sizeof *flow->movers);
  if (flow->frame_of == NULL || flow->frame_behind == NULL || flow->is_constant == NULL ||
      flow->roles == NULL || flow->members == NULL || flow->movers == NULL) {
    return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    if (entry->kind == RHEOS__ENTRY_WATCH) {  // it is where the value goes
      const int32_t from = rheos__plan_producer(plan, plan->operands[entry->first_operand]);
      flow->frame_of[i] = flow->frame_behind[i] = from >= 0 ? flow->frame_behind[from] : 0;
    } else if (entry->structure == NULL) {  // a stretch is outside of all
      flow->frame_of[i] = frames->of_node[entry->id] - 1;
      flow->frame_behind[i] = rheos__flow_frame_behind(frames, plan->graph, entry->id);
    }
    flow->roles[i] = (uint8_t)role_of(entry);
    flow->is_constant[i] =
        role_of(entry) == RHEOS__FLOW_ENTER && rheos__attr_bool(entry->attrs, "is_constant");
  }
  flow->frames = frames->items;
  flow->num_frames = frames->count;
  frames->items = NULL;
  frames->count = 0;
  list_by_frame(flow, plan);
  return NULL;
}

// Whether the operand goes on as it came, though a reference: what takes it in a trip or on a side
// reads it there, behind the writes that it comes behind.
static bool passes_reference(const rheos__flow *flow, const rheos__entry *entry, int32_t index,
                             int32_t operand) {
  return operand == 0 && (flow->is_constant[index] || role_of(entry) == RHEOS__FLOW_SWITCH);
}

// `is_reference`: by value, whether a reference may come in its place.
static void describe_operands(rheos__flow *flow, const rheos__plan *plan, int32_t index,
                              bool *is_reference) {
  const rheos__entry *entry = &plan->entries[index];
  if (entry->kind == RHEOS__ENTRY_WATCH) return;  // it reads itself
  for (int32_t k = 0; k < entry->num_inputs; ++k) {
    const int32_t value = plan->operands[entry->first_operand + k];
    const bool is_ref = rheos_dtype_is_ref((rheos_dtype)plan->dtypes[value]);
    if (!is_ref && !is_reference[value]) continue;
    if (rheos__arg_of_input(entry->signature, entry->attrs, k)->is_ref) continue;
    if (!passes_reference(flow, entry, index, k)) {
      flow->reads[entry->first_operand + k] = true;
      continue;
    }
    for (int32_t i = 0; i < entry->num_outputs; ++i) is_reference[entry->first_value + i] = true;
  }
}

static rheos_status *describe_entries(rheos__flow *flow, const rheos__plan *plan) {
  int32_t num_operands = 0;
  for (int32_t i = 0; i < plan->num_entries; ++i) num_operands += plan->entries[i].num_inputs;
  flow->counts = rheos__alloc_array((size_t)plan->num_entries, sizeof *flow->counts);
  flow->reads = rheos__alloc_array((size_t)num_operands, sizeof *flow->reads);
  bool *is_reference = rheos__alloc_array((size_t)plan->num_values, sizeof *is_reference);
  if (flow->counts == NULL || flow->reads == NULL || is_reference == NULL) {
    rheos__free(is_reference);
    return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    const bool is_merge = role_of(entry) == RHEOS__FLOW_MERGE;
    flow->counts[i].pending =
        is_merge ? entry->num_waits * 2 + 1 : entry->num_inputs + entry->num_waits;
    assert(entry->first_operand + entry->num_inputs <= num_operands);
    describe_operands(flow, plan, i, is_reference);
  }
  rheos__free(is_reference);
  return NULL;
}

rheos_status *rheos__flow_new(const rheos__plan *plan, rheos__flow_frames *frames,
                              rheos__flow **out_flow) {
  *out_flow = NULL;
  rheos__flow *flow = rheos__alloc_zeroed(sizeof *flow);
  if (flow == NULL) return rheos__out_of_memory();
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  flow->made_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  rheos_status *status = find_frames(flow, plan, frames);
  if (status == NULL) status = describe_entries(flow, plan);
  if (status == NULL) status = find_uses(flow, plan);
  if (status == NULL) status = find_quiet_ends(flow, plan);
  if (status != NULL) {
    rheos__flow_free(flow);
    return status;
  }
  *out_flow = flow;
  return NULL;
}

void rheos__flow_free(rheos__flow *flow) {
  if (flow == NULL) return;
  for (int32_t i = 0; i < flow->num_frames; ++i) rheos__free(flow->frames[i].next_iterations);
  rheos__free(flow->frames);
  rheos__free(flow->members);
  rheos__free(flow->movers);
  rheos__free(flow->frame_of);
  rheos__free(flow->frame_behind);
  rheos__free(flow->is_constant);
  rheos__free(flow->roles);
  rheos__free(flow->counts);
  rheos__free(flow->reads);
  rheos__free(flow->ends_quietly);
  rheos__free(flow->first_uses);
  rheos__free(flow->first_control_uses);
  rheos__free(flow->uses);
  rheos__free(flow);
}

int32_t rheos__flow_node_of_frame(const rheos__plan *plan, int32_t frame) {
  const rheos__flow *flow = plan->flow;
  int32_t enter = -1;
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__flow_role role = (rheos__flow_role)flow->roles[i];
    if (role == RHEOS__FLOW_LOOP_COND && flow->frame_of[i] == frame) return plan->entries[i].id;
    if (enter < 0 && role == RHEOS__FLOW_ENTER && flow->frame_behind[i] == frame) {
      enter = plan->entries[i].id;
    }
  }
  assert(enter >= 0);
  return enter;
}

// ---- States

static size_t num_operands(const rheos__plan *plan) {
  size_t count = 0;
  for (int32_t i = 0; i < plan->num_entries; ++i) count += (size_t)plan->entries[i].num_inputs;
  return count;
}

rheos__flow_state *rheos__flow_state_new(const rheos__plan *plan) {
  rheos__flow_state *s = rheos__alloc_zeroed(sizeof *s);
  if (s == NULL) return NULL;
  const size_t entries = (size_t)plan->num_entries, fetches = (size_t)plan->num_fetches;
  s->counts = rheos__alloc_array(entries, sizeof *s->counts);
  s->is_dead = rheos__alloc_array(entries, sizeof *s->is_dead);
  s->has_kept = rheos__alloc_array(entries, sizeof *s->has_kept);
  s->has_left = rheos__alloc_array(entries, sizeof *s->has_left);
  s->kept = rheos__alloc_array(entries, sizeof *s->kept);
  s->ready = rheos__alloc_array(entries, sizeof *s->ready);
  s->operands = rheos__alloc_array(num_operands(plan), sizeof *s->operands);
  s->trips = rheos__alloc_array((size_t)plan->flow->num_frames, sizeof *s->trips);
  s->fetched = rheos__alloc_array(fetches, sizeof *s->fetched);
  s->is_fetched = rheos__alloc_array(fetches, sizeof *s->is_fetched);
  s->inputs = rheos__alloc_array((size_t)plan->max_operands, sizeof *s->inputs);
  s->cells = rheos__alloc_array((size_t)plan->max_operands, sizeof *s->cells);
  if (plan->may_wait) {
    s->asides = rheos__alloc_array(entries, sizeof *s->asides);
    s->put_off = rheos__alloc_array(entries, sizeof *s->put_off);
  }
  if (s->counts == NULL || (plan->may_wait && (s->asides == NULL || s->put_off == NULL)) ||
      s->is_dead == NULL || s->has_kept == NULL || s->has_left == NULL || s->kept == NULL ||
      s->ready == NULL || s->operands == NULL || s->trips == NULL || s->fetched == NULL ||
      s->is_fetched == NULL || s->inputs == NULL || s->cells == NULL) {
    rheos__flow_state_free(s);
    return NULL;
  }
  return s;
}

void rheos__flow_state_free(rheos__flow_state *s) {
  if (s == NULL) return;
  rheos__free(s->counts);
  rheos__free(s->is_dead);
  rheos__free(s->has_kept);
  rheos__free(s->has_left);
  rheos__free(s->kept);
  rheos__free(s->ready);
  rheos__free(s->asides);
  rheos__free(s->put_off);
  rheos__free(s->operands);
  rheos__free(s->trips);
  rheos__free(s->fetched);
  rheos__free(s->is_fetched);
  rheos__free(s->inputs);
  rheos__free(s->cells);
  rheos__free(s);
}
