// Runs plans with version 1's control flow: values move along the edges as tokens, and an entry
// runs when all that it waits for has come. A dead token, from the side of a Switch that was not
// taken, makes dead what takes it. What frames and trips are is in plan/entries/flow.h; nothing
// recurses over entries or trips.
#include "runtime/run/flow_run.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/text.h"
#include "plan/segment/dynamic.h"
#include "runtime/step/waiting.h"

static const float ENTRY_NS = 60;  // a guess at the time of an entry without arithmetic

typedef rheos__flow_token token;
typedef rheos__flow_run flow_run;

static const token NO_TOKEN = {NULL, NULL};

static bool is_some(const token *t) { return t->tensor != NULL || t->cell != NULL; }

static token token_ref(const token *t) {
  return (token){rheos_tensor_ref(t->tensor),
                 t->cell != NULL ? rheos__resource_ref(t->cell) : NULL};
}

static void token_drop(token *t) {
  if (t->tensor != NULL) rheos_tensor_unref(t->tensor);
  if (t->cell != NULL) rheos__resource_unref(t->cell);
  *t = NO_TOKEN;
}

static token token_take(token *t) {
  const token taken = *t;
  *t = NO_TOKEN;
  return taken;
}

static rheos__flow_role role_of(const flow_run *f, int32_t entry) {
  return (rheos__flow_role)f->flow->roles[entry];
}

// ---- What can run: a heap by the order of the plan

static void push_ready(flow_run *f, int32_t entry, bool is_dead) {
  rheos__flow_state *s = f->s;
  assert(s->num_ready < f->plan->num_entries);
  s->is_dead[entry] = is_dead && role_of(f, entry) != RHEOS__FLOW_CONTROL_TRIGGER;
  ++s->trips[f->flow->frame_of[entry]].num_active;
  int32_t at = s->num_ready++;
  for (; at > 0 && s->ready[(at - 1) / 2] > entry; at = (at - 1) / 2) {
    s->ready[at] = s->ready[(at - 1) / 2];
  }
  s->ready[at] = entry;
}

int32_t rheos__flow_pop_ready(rheos__flow_state *s) {
  const int32_t first = s->ready[0], last = s->ready[--s->num_ready];
  int32_t at = 0;
  for (;;) {
    int32_t child = 2 * at + 1;
    if (child >= s->num_ready) break;
    if (child + 1 < s->num_ready && s->ready[child + 1] < s->ready[child]) ++child;
    if (s->ready[child] >= last) break;
    s->ready[at] = s->ready[child];
    at = child;
  }
  s->ready[at] = last;
  return first;
}

// ---- Tokens that arrive

// A Merge runs with the first input that is not dead, or when all are. What it counts is odd until
// an input came; once it can run, nothing counts any more.
static void merge_when_ready(flow_run *f, int32_t entry, bool is_dead) {
  rheos__flow_counts *counts = &f->s->counts[entry];
  if (counts->pending != (is_dead ? 1 : 0)) return;
  counts->pending = 0;
  push_ready(f, entry, is_dead);
}

static bool all_dead(const flow_run *f, int32_t entry) {
  return f->s->counts[entry].dead == f->plan->entries[entry].num_inputs;
}

static void merge_input(flow_run *f, rheos__flow_use use, token t, bool from_enter) {
  rheos__flow_counts *counts = &f->s->counts[use.entry];
  if (!is_some(&t)) {
    ++counts->dead;
    // A loop that is not entered is dead, whatever would come back.
    if (from_enter || all_dead(f, use.entry)) merge_when_ready(f, use.entry, true);
    return;
  }
  if ((counts->pending & 1) == 0) {  // another one came first
    token_drop(&t);
    return;
  }
  --counts->pending;
  counts->taken = use.operand - f->plan->entries[use.entry].first_operand;
  f->s->operands[use.operand] = t;
  ++f->s->trips[f->flow->frame_of[use.entry]].num_tokens;
  merge_when_ready(f, use.entry, false);
}

static void count_down(flow_run *f, int32_t entry, bool is_dead) {
  rheos__flow_counts *counts = &f->s->counts[entry];
  if (is_dead) ++counts->dead;
  if (--counts->pending == 0) push_ready(f, entry, counts->dead > 0);
}

static void arrive(flow_run *f, rheos__flow_use use, token t, bool from_enter) {
  if (role_of(f, use.entry) == RHEOS__FLOW_MERGE) {
    merge_input(f, use, t, from_enter);
    return;
  }
  const bool is_dead = !is_some(&t);
  if (!is_dead) {
    assert(!is_some(&f->s->operands[use.operand]));
    f->s->operands[use.operand] = t;
    ++f->s->trips[f->flow->frame_of[use.entry]].num_tokens;
  }
  count_down(f, use.entry, is_dead);
}

static void arrive_control(flow_run *f, int32_t entry, bool is_dead) {
  if (role_of(f, entry) != RHEOS__FLOW_MERGE) {
    count_down(f, entry, is_dead);
    return;
  }
  f->s->counts[entry].pending -= 2;
  merge_when_ready(f, entry, all_dead(f, entry));
}

static void arrive_fetch(flow_run *f, int32_t fetch, token t) {
  if (!is_some(&t)) return;
  if (f->s->is_fetched[fetch]) f->s->fetched_twice = fetch;
  f->s->is_fetched[fetch] = true;
  token_drop(&f->s->fetched[fetch]);
  f->s->fetched[fetch] = t;
}

// Takes the token of a value to all that use it.
static void send(flow_run *f, int32_t value, token t, bool from_enter) {
  const int32_t first = f->flow->first_uses[value], end = f->flow->first_uses[value + 1];
  for (int32_t i = first; i < end; ++i) {
    const rheos__flow_use use = f->flow->uses[i];
    const token copy = i + 1 < end ? token_ref(&t) : token_take(&t);
    if (use.entry < 0) {
      arrive_fetch(f, ~use.entry, copy);
    } else {
      arrive(f, use, copy, from_enter);
    }
  }
  token_drop(&t);
}

static void send_control(flow_run *f, int32_t entry, bool is_dead) {
  const int32_t *first = &f->flow->first_control_uses[entry];
  for (int32_t i = first[0]; i < first[1]; ++i) {
    arrive_control(f, f->flow->uses[i].entry, is_dead);
  }
}

// All that an entry with one output of tokens sends; a token that is none is dead.
static void send_one(flow_run *f, int32_t entry, token t) {
  const bool is_dead = !is_some(&t);
  send(f, f->plan->entries[entry].first_value, t, role_of(f, entry) == RHEOS__FLOW_ENTER);
  send_control(f, entry, is_dead);
}

static void send_dead(flow_run *f, int32_t entry) {
  const rheos__entry *e = &f->plan->entries[entry];
  const bool is_enter = role_of(f, entry) == RHEOS__FLOW_ENTER;
  for (int32_t i = 0; i < e->num_outputs; ++i) send(f, e->first_value + i, NO_TOKEN, is_enter);
  send_control(f, entry, true);
}

// ---- Frames

// The members of a frame wait again for all that they wait for.
static void reset_members(flow_run *f, int32_t frame) {
  const rheos__flow_frame *fr = &f->flow->frames[frame];
  for (int32_t i = 0; i < fr->num_members; ++i) {
    const int32_t member = f->flow->members[fr->first_member + i];
    f->s->counts[member] = f->flow->counts[member];
  }
}

static void drop_operands(flow_run *f, int32_t entry) {
  const rheos__entry *e = &f->plan->entries[entry];
  int32_t *num_tokens = &f->s->trips[f->flow->frame_of[entry]].num_tokens;
  for (int32_t i = 0; i < e->num_inputs; ++i) {
    token *t = &f->s->operands[e->first_operand + i];
    if (!is_some(t)) continue;
    token_drop(t);
    --*num_tokens;
  }
}

// What came to members that did not run.
static void drop_rest(flow_run *f, int32_t frame) {
  const rheos__flow_frame *fr = &f->flow->frames[frame];
  for (int32_t i = 0; f->s->trips[frame].num_tokens > 0 && i < fr->num_members; ++i) {
    drop_operands(f, f->flow->members[fr->first_member + i]);
  }
  assert(f->s->trips[frame].num_tokens == 0);
}

static void forget_exits(flow_run *f, int32_t frame) {
  const rheos__flow_frame *fr = &f->flow->frames[frame];
  for (int32_t i = 0; i < fr->num_members; ++i) {
    f->s->has_left[f->flow->members[fr->first_member + i]] = false;
  }
}

// TensorFlow's mix of two numbers.
static uint64_t mix(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800u + (a << 10) + (a >> 4));
}

// ";0;outer;3;inner": a frame's name behind those of the frames and trips that it is in.
static void add_whole_name(const flow_run *f, const rheos__flow_frame *frame, rheos__text *text) {
  char number[32];
  if (frame->parent < 0) return;
  add_whole_name(f, &f->flow->frames[frame->parent], text);
  snprintf(number, sizeof number, ";%llu;",
           (unsigned long long)f->s->trips[frame->parent].now.number);
  rheos__text_add_string(text, number);
  rheos__text_add_string(text, frame->name);
}

// As TensorFlow 1 numbers frames.
static rheos__trip first_trip_by_name(flow_run *f, const rheos__flow_frame *frame) {
  rheos__text text = {0};
  add_whole_name(f, frame, &text);
  if (text.failed && f->failed == NULL) f->failed = rheos__out_of_memory();
  const rheos__trip trip = {.frame = text.failed ? 0 : rheos__murmur_hash(text.data, text.size)};
  rheos__text_deinit(&text);
  return trip;
}

// The first trip of a frame that is entered, numbered as TensorFlow does.
static rheos__trip first_trip(flow_run *f, const rheos__flow_frame *frame) {
  if (frame->parent < 0) return (rheos__trip){0};
  const rheos__rendezvous *rendezvous = f->r->step->rendezvous;
  if (rendezvous != NULL && rheos__rendezvous_names_frames(rendezvous)) {
    return first_trip_by_name(f, frame);
  }
  const rheos__trip around = f->s->trips[frame->parent].now;
  const uint64_t name = rheos__murmur_hash(frame->name, strlen(frame->name));
  return (rheos__trip){.frame = mix(around.frame, mix(around.number, name))};
}

static void begin_frame(flow_run *f, int32_t frame) {
  const rheos__flow_frame *fr = &f->flow->frames[frame];
  f->s->trips[frame] = (rheos__flow_trip){
      .is_active = true, .num_pending_enters = fr->num_enters, .now = first_trip(f, fr)};
  forget_exits(f, frame);
  if (fr->parent >= 0) ++f->s->trips[fr->parent].num_active;
  reset_members(f, frame);
}

// The Exits that came out dead in the trip that ended count only if it was the last one.
static void forget_dead_exits(flow_run *f, int32_t frame, bool is_last) {
  rheos__flow_trip *trip = &f->s->trips[frame];
  if (!trip->has_dead_exits) return;
  trip->has_dead_exits = false;
  const rheos__flow_frame *fr = &f->flow->frames[frame];
  for (int32_t i = 0; i < fr->num_members; ++i) {
    const int32_t member = f->flow->members[fr->first_member + i];
    if (role_of(f, member) != RHEOS__FLOW_EXIT || !f->s->has_kept[member]) continue;
    f->s->has_kept[member] = false;
    if (is_last) send_dead(f, member);
  }
}

static void begin_next_trip(flow_run *f, int32_t frame) {
  const rheos__flow_frame *fr = &f->flow->frames[frame];
  forget_dead_exits(f, frame, false);
  drop_rest(f, frame);
  reset_members(f, frame);
  f->s->trips[frame].num_next = 0;
  ++f->s->trips[frame].now.number;
  for (int32_t i = 0; i < fr->num_movers; ++i) {
    const int32_t mover = f->flow->movers[fr->first_mover + i];
    if (!f->s->has_kept[mover]) continue;
    token *kept = &f->s->kept[mover];
    if (f->flow->is_constant[mover]) {
      send_one(f, mover, token_ref(kept));
    } else {
      f->s->has_kept[mover] = false;
      send_one(f, mover, token_take(kept));
    }
  }
}

static void end_frame(flow_run *f, int32_t frame) {
  const rheos__flow_frame *fr = &f->flow->frames[frame];
  drop_rest(f, frame);
  for (int32_t i = 0; i < fr->num_movers; ++i) {
    const int32_t mover = f->flow->movers[fr->first_mover + i];
    token_drop(&f->s->kept[mover]);
    f->s->has_kept[mover] = false;
  }
  forget_dead_exits(f, frame, true);
  f->s->trips[frame].is_active = false;
}

// Goes on with a frame in which nothing can run any more: with its next trip, or with its parent.
static void settle(flow_run *f, int32_t frame) {
  while (frame > 0) {
    rheos__flow_trip *trip = &f->s->trips[frame];
    if (!trip->is_active || trip->num_active > 0 || trip->num_pending_enters > 0) return;
    if (trip->num_next > 0) {
      begin_next_trip(f, frame);
      continue;
    }
    end_frame(f, frame);
    frame = f->flow->frames[frame].parent;
    --f->s->trips[frame].num_active;
  }
}

// ---- Entries

// The value behind the reference in an operand's place.
static rheos_status *read_operand(token *t) {
  if (t->cell == NULL) return NULL;  // a value was fed in its place
  if (t->cell->kind != &rheos__variable_kind) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "a handle is not a value");
  }
  rheos__variable_cell *cell = (rheos__variable_cell *)t->cell;
  rheos_tensor *value = NULL;
  RHEOS_TRY(rheos__variable_read_in(cell, NULL, &value));
  token_drop(t);
  t->tensor = value;
  return NULL;
}

static rheos_status *read_operands(flow_run *f, const rheos__entry *e) {
  for (int32_t i = 0; i < e->num_inputs; ++i) {
    token *t = &f->s->operands[e->first_operand + i];
    if (f->flow->reads[e->first_operand + i] && is_some(t)) RHEOS_TRY(read_operand(t));
  }
  return NULL;
}

static token take_operand(flow_run *f, int32_t entry, int32_t input) {
  --f->s->trips[f->flow->frame_of[entry]].num_tokens;
  return token_take(&f->s->operands[f->plan->entries[entry].first_operand + input]);
}

static bool does_nothing(const rheos__entry *e) {
  return e->num_outputs == 0 &&
         (e->signature->op->flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) == 0;
}

void rheos__flow_enter_place(const flow_run *f, int32_t entry, rheos__flow_place *place) {
  if (!f->is_observed) return;
  rheos__observers *observers = f->r->step->observers;
  *place = (rheos__flow_place){*f->place, observers->place};
  place->place.entry = entry;
  place->place.state = f->s;
  place->place.begun_ns = rheos__clock_ns();
  observers->place = &place->place;
}

void rheos__flow_leave_place(const flow_run *f, const rheos__flow_place *place) {
  if (f->is_observed) f->r->step->observers->place = place->before;
}

static rheos__observed observed(const flow_run *f) {
  return (rheos__observed){.place = f->r->step->observers->place, .workspace = f->r->workspace};
}

static rheos_status *tell_begins(const flow_run *f) {
  const rheos__observed entry = observed(f);
  return rheos__observe_entry_begins(f->r->step, &entry);
}

static rheos_status *tell_ended(const flow_run *f, rheos_tensor *const *results) {
  rheos__observed entry = observed(f);
  entry.results = results;
  return rheos__observe_entry_ended(f->r->step, &entry);
}

static rheos_status *drop_results_take(rheos_tensor **results, int32_t count,
                                       rheos_status *status) {
  for (int32_t i = 0; i < count; ++i) {
    rheos_tensor_unref(results[i]);
    results[i] = NULL;
  }
  return status;
}

// Of an entry whose first output was not computed.
static bool is_dead_answer(const rheos__entry *e, rheos_tensor *const *results) {
  if ((e->signature->op->flags & RHEOS_OP_MAY_GIVE_DEAD) == 0) return false;
  for (int32_t i = 0; i < e->num_outputs; ++i) {
    if (results[i] != NULL) return false;
  }
  return true;
}

rheos_status *rheos__flow_take_results(flow_run *f, int32_t entry, rheos_tensor **results,
                                       rheos__resource *const *cells) {
  const rheos__entry *e = &f->plan->entries[entry];
  if (f->is_observed) {
    rheos_status *status = tell_ended(f, results);
    if (status != NULL) return drop_results_take(results, e->num_outputs, status);
  }
  for (int32_t i = 0; i < e->num_outputs; ++i) {
    token t = {.tensor = results[i]};
    results[i] = NULL;
    if (t.tensor == NULL && cells != NULL && cells[i] != NULL) {
      t.cell = rheos__resource_ref(cells[i]);
    }
    if (is_some(&t)) {
      send(f, e->first_value + i, t, false);
      continue;
    }
    if (i == 0 && is_dead_answer(e, results)) {
      send_dead(f, entry);
      return NULL;
    }
    return drop_results_take(
        results, e->num_outputs,
        rheos_status_new(RHEOS_INTERNAL, "output %d was not computed", (int)i));
  }
  send_control(f, entry, false);
  return NULL;
}

// Where a kernel has what it takes and gives.
typedef struct kernel_room {
  rheos_tensor **inputs, **results;
  rheos__resource **cells;  // of the inputs, then of the outputs
} kernel_room;

static rheos_status *run_in(flow_run *f, int32_t entry, const kernel_room *room) {
  const rheos__entry *e = &f->plan->entries[entry];
  for (int32_t i = 0; i < e->num_inputs; ++i) {
    const token *t = &f->s->operands[e->first_operand + i];
    room->inputs[i] = t->tensor;
    room->cells[i] = t->cell;
  }
  rheos__resource **out_cells = room->cells + e->num_inputs;
  RHEOS_TRY(rheos__run_flow_node(f->plan, entry, room->inputs, room->cells, f->r->workspace,
                                 room->results, f->r->step, out_cells));
  return rheos__flow_take_results(f, entry, room->results, out_cells);
}

// In arrays that all entries share.
static rheos_status *run_in_shared(flow_run *f, int32_t entry) {
  rheos__step *step = f->r->step;
  const kernel_room room = {f->s->inputs, f->r->workspace->results, f->s->cells};
  rheos__attempt *attempt = NULL, **outer = step->aside;
  assert(!f->in_kernel);
  step->aside = rheos__flow_can_set_aside(f, entry) ? &attempt : NULL;
  f->in_kernel = true;
  rheos_status *status = run_in(f, entry, &room);
  step->aside = outer;
  f->in_kernel = false;
  if (rheos__is_set_aside(status)) rheos__flow_set_aside(f, entry, attempt);
  return status;
}

// In arrays of its own, since others run while the body waits.
static rheos_status *run_waiting_call(flow_run *f, int32_t entry) {
  rheos__step *step = f->r->step;
  const rheos__entry *e = &f->plan->entries[entry];
  const size_t inputs = (size_t)e->num_inputs, outputs = (size_t)e->num_outputs;
  void **arrays = rheos__alloc_array(2 * (inputs + outputs) + 1, sizeof *arrays);
  if (arrays == NULL) return rheos__out_of_memory();
  const kernel_room room = {(rheos_tensor **)arrays, (rheos_tensor **)arrays + inputs,
                            (rheos__resource **)arrays + inputs + outputs};
  rheos__attempt **aside = step->aside;
  rheos__others *others = step->others;
  step->aside = NULL;
  step->others = &f->others;
  rheos_status *status = run_in(f, entry, &room);
  step->aside = aside;
  step->others = others;
  rheos__free(arrays);
  return status;
}

static rheos_status *run_kernel(flow_run *f, int32_t entry) {
  return rheos__flow_is_waiting_call(f, entry) ? run_waiting_call(f, entry)
                                               : run_in_shared(f, entry);
}

// The element of a scalar operand that selects; `which` says it as TensorFlow does.
static rheos_status *read_selector(flow_run *f, int32_t entry, int32_t input, const char *which,
                                   int64_t *out_value) {
  const rheos__entry *e = &f->plan->entries[entry];
  const rheos_tensor *tensor = f->s->operands[e->first_operand + input].tensor;
  assert(tensor != NULL);
  if (tensor->shape.rank != 0) {
    rheos__shape_text text;
    return RHEOS_INVALID("%s must be a scalar, but it has shape %s", which,
                         rheos__shape_text_of(&tensor->shape, &text));
  }
  *out_value =
      tensor->dtype == RHEOS_BOOL ? *(const bool *)tensor->data : rheos__tensor_int_at(tensor, 0);
  return NULL;
}

static rheos_status *run_switch(flow_run *f, int32_t entry) {
  const rheos__entry *e = &f->plan->entries[entry];
  int64_t taken;
  RHEOS_TRY(read_selector(f, entry, 1, "The second input", &taken));
  if (taken < 0 || taken >= e->num_outputs) taken = e->num_outputs - 1;
  for (int32_t i = 0; i < e->num_outputs; ++i) {
    send(f, e->first_value + i, i == taken ? take_operand(f, entry, 0) : NO_TOKEN, false);
  }
  send_control(f, entry, false);
  return NULL;
}

static rheos_status *run_select(flow_run *f, int32_t entry) {
  const rheos__entry *e = &f->plan->entries[entry];
  int64_t index;
  RHEOS_TRY(read_selector(f, entry, 0, "Index", &index));
  if (index < 0 || index >= e->num_inputs - 1) {
    return RHEOS_INVALID("Index must be in the range [0, %d) but got %lld", e->num_inputs - 1,
                         (long long)index);
  }
  send_one(f, entry, take_operand(f, entry, (int32_t)index + 1));
  return NULL;
}

static rheos_status *run_merge(flow_run *f, int32_t entry) {
  const rheos__entry *e = &f->plan->entries[entry];
  const int32_t taken = f->s->counts[entry].taken;
  if (f->flow->first_uses[e->first_value + 1] != f->flow->first_uses[e->first_value + 2]) {
    token index = NO_TOKEN;
    RHEOS_TRY(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &taken, &index.tensor));
    send(f, e->first_value + 1, index, false);
  }
  send(f, e->first_value, take_operand(f, entry, taken), false);
  send_control(f, entry, false);
  return NULL;
}

static rheos_status *run_loop_cond(flow_run *f, int32_t entry) {
  int64_t goes_on;
  RHEOS_TRY(read_selector(f, entry, 0, "The input of LoopCond", &goes_on));
  send_one(f, entry, take_operand(f, entry, 0));
  return NULL;
}

static void enter_frame(flow_run *f, int32_t entry, token t) {
  const int32_t frame = f->flow->frame_behind[entry];
  if (!f->s->trips[frame].is_active) begin_frame(f, frame);
  --f->s->trips[frame].num_pending_enters;
  if (f->flow->is_constant[entry]) {
    f->s->kept[entry] = token_ref(&t);
    f->s->has_kept[entry] = true;
  }
  send_one(f, entry, t);
  settle(f, frame);
}

// What uses an Exit runs once, so only one trip can give it a value.
static rheos_status *exit_frame(flow_run *f, int32_t entry, token t) {
  if (f->s->has_left[entry]) {
    token_drop(&t);
    return RHEOS_INVALID("a value came out of the loop in two of its trips");
  }
  f->s->has_left[entry] = true;
  send_one(f, entry, t);
  return NULL;
}

static void exit_frame_dead(flow_run *f, int32_t entry) {
  f->s->has_kept[entry] = true;
  f->s->trips[f->flow->frame_of[entry]].has_dead_exits = true;
}

// A loop ends where nothing comes to its next trip.
static void keep_for_next(flow_run *f, int32_t entry, token t) {
  if (!is_some(&t)) return;
  f->s->kept[entry] = t;
  f->s->has_kept[entry] = true;
  ++f->s->trips[f->flow->frame_of[entry]].num_next;
}

static rheos_status *run_role(flow_run *f, int32_t entry) {
  switch (role_of(f, entry)) {
    case RHEOS__FLOW_ENTER: enter_frame(f, entry, take_operand(f, entry, 0)); return NULL;
    case RHEOS__FLOW_EXIT: return exit_frame(f, entry, take_operand(f, entry, 0));
    case RHEOS__FLOW_NEXT_ITERATION:
      keep_for_next(f, entry, take_operand(f, entry, 0));
      return NULL;
    case RHEOS__FLOW_SWITCH: return run_switch(f, entry);
    case RHEOS__FLOW_SELECT: return run_select(f, entry);
    case RHEOS__FLOW_MERGE: return run_merge(f, entry);
    case RHEOS__FLOW_LOOP_COND: return run_loop_cond(f, entry);
    case RHEOS__FLOW_CONTROL_TRIGGER: send_control(f, entry, false); return NULL;
    default: return NULL;
  }
}

static rheos_status *run_dead(flow_run *f, int32_t entry) {
  const rheos__entry *e = &f->plan->entries[entry];
  const rheos__op_def *op = e->signature->op;
  if (op->run_dead != NULL) RHEOS_TRY(op->run_dead(e->attrs, f->r->step));
  send_dead(f, entry);
  return NULL;
}

static rheos_status *pass_dead(flow_run *f, int32_t entry) {
  switch (role_of(f, entry)) {
    case RHEOS__FLOW_ENTER: enter_frame(f, entry, NO_TOKEN); return NULL;
    case RHEOS__FLOW_EXIT: exit_frame_dead(f, entry); return NULL;
    case RHEOS__FLOW_NEXT_ITERATION: keep_for_next(f, entry, NO_TOKEN); return NULL;
    default: return run_dead(f, entry);
  }
}

static rheos_status *run_role_told(flow_run *f, int32_t entry) {
  RHEOS_TRY(run_role(f, entry));
  return f->is_observed ? tell_ended(f, NULL) : NULL;
}

static rheos_status *deliver(const flow_run *f, int32_t entry) {
  const rheos__entry *e = &f->plan->entries[entry];
  token *t = &f->s->operands[e->first_operand];
  if (!f->is_observed) return NULL;
  const bool is_kept = t->cell != NULL;  // by a variable, which is not written while it is held
  if (is_kept) {                         // what is behind it now, if anything is
    if (t->cell->kind != &rheos__variable_kind) return NULL;
    rheos_tensor *value = rheos__variable_read((rheos__variable_cell *)t->cell);
    if (value == NULL) return NULL;
    token_drop(t);
    t->tensor = value;
  }
  rheos__flow_place place;
  rheos__flow_enter_place(f, entry, &place);
  rheos_status *status = rheos__observe_value(f->r->step, e->read_index, t->tensor, is_kept);
  rheos__flow_leave_place(f, &place);
  return status;
}

static rheos_status *run_alive(flow_run *f, int32_t entry) {
  if (f->plan->entries[entry].kind == RHEOS__ENTRY_WATCH) return deliver(f, entry);
  if (role_of(f, entry) == RHEOS__FLOW_NONE && does_nothing(&f->plan->entries[entry])) {
    send_control(f, entry, false);
    return NULL;
  }
  rheos__flow_place place;
  rheos__flow_enter_place(f, entry, &place);
  rheos_status *status = read_operands(f, &f->plan->entries[entry]);
  if (status == NULL && f->is_observed) status = tell_begins(f);
  if (status == NULL) {
    status = role_of(f, entry) != RHEOS__FLOW_NONE ? run_role_told(f, entry) : run_kernel(f, entry);
  }
  rheos__flow_leave_place(f, &place);
  return status;
}

rheos_status *rheos__flow_status_at_take(const flow_run *f, rheos_status *status, int32_t entry) {
  status = rheos__status_at_take(status, f->plan->graph, f->plan->entries[entry].id);
  for (int32_t frame = f->flow->frame_of[entry]; status != NULL && frame > 0;
       frame = f->flow->frames[frame].parent) {
    status = rheos__status_within_node_take(status, "loop", f->plan->graph,
                                            rheos__flow_node_of_frame(f->plan, frame));
  }
  return status;
}

void rheos__flow_finish(flow_run *f, int32_t entry) {
  const int32_t frame = f->flow->frame_of[entry];
  --f->s->trips[frame].num_active;
  settle(f, frame);
}

rheos_status *rheos__flow_run_entry(flow_run *f, int32_t entry) {
  rheos__step *step = f->r->step;
  ++f->s->num_run;
  step->budget_ns -= ENTRY_NS;
  if (step->budget_ns < 0) {
    step->budget_ns = RHEOS__STEP_BUDGET_NS;
    if (rheos__step_poll(step)) return rheos__step_error(step);
  }
  const rheos__trip outer = step->trip;
  step->trip = f->s->trips[f->flow->frame_of[entry]].now;
  rheos_status *status = f->s->is_dead[entry] ? pass_dead(f, entry) : run_alive(f, entry);
  step->trip = outer;
  const bool is_aside = rheos__is_set_aside(status);
  if (status != NULL && !is_aside) {
    return rheos__flow_status_at_take(f, status, entry);
  }
  drop_operands(f, entry);
  if (!is_aside) rheos__flow_finish(f, entry);
  return NULL;
}

// ---- The whole

static rheos_status *send_feeds(flow_run *f, const rheos__parameters *parameters) {
  for (int32_t i = 0; i < f->plan->num_feeds; ++i) {
    token t = NO_TOKEN;
    rheos_tensor *tensor = parameters->tensors[i];
    if (tensor == NULL) {
      t.cell = rheos__resource_ref(parameters->cells[i]);
    } else if (atomic_load_explicit(&tensor->references, memory_order_relaxed) == 0) {
      RHEOS_TRY(rheos_tensor_copy(tensor, &t.tensor));  // a view
    } else {
      t.tensor = rheos_tensor_ref(tensor);
    }
    send(f, i, t, false);
  }
  return NULL;
}

static void begin(flow_run *f) {
  rheos__flow_state *s = f->s;
  s->num_ready = 0;
  s->num_run = s->num_put_off = 0;
  assert(s->num_asides == 0);
  s->fetched_twice = -1;
  begin_frame(f, 0);
  const rheos__flow_frame *root = &f->flow->frames[0];
  for (int32_t i = 0; i < root->num_members; ++i) {
    const int32_t entry = f->flow->members[root->first_member + i];
    if (s->counts[entry].pending == 0) push_ready(f, entry, false);
  }
}

// A tensor for the caller: the step's own where nobody else holds it.
static rheos_status *give_fetch(const flow_run *f, int32_t fetch, rheos_tensor **out_value) {
  token *t = &f->s->fetched[fetch];
  if (!f->s->is_fetched[fetch]) {
    return RHEOS_INVALID("Retval[%d] does not have value", (int)fetch);
  }
  if (rheos_dtype_base((rheos_dtype)f->plan->dtypes[f->plan->fetch_values[fetch]]) !=
      RHEOS_RESOURCE) {
    RHEOS_TRY(read_operand(t));
  }
  if (t->tensor == NULL && f->r->call != NULL) return NULL;  // its caller knows what it refers to
  if (t->tensor == NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "a resource handle cannot be fetched");
  }
  if (f->r->bound != NULL) {
    return rheos__bound_store(f->r->bound, fetch, t->tensor->dtype, &t->tensor->shape,
                              t->tensor->data);
  }
  const bool is_own = rheos__tensor_is_exclusive(t->tensor) ||
                      (f->r->call != NULL && rheos__tensor_can_keep(t->tensor));
  if (!is_own) return rheos_tensor_copy(t->tensor, out_value);
  *out_value = t->tensor;
  t->tensor = NULL;
  return NULL;
}

static rheos_status *give_fetches(const flow_run *f, rheos_tensor **out_values) {
  for (int32_t i = 0; i < f->plan->num_fetches; ++i) {
    rheos_status *status = give_fetch(f, i, out_values != NULL ? &out_values[i] : NULL);
    if (status == NULL) continue;
    for (int32_t k = 0; out_values != NULL && k < i; ++k) {
      rheos_tensor_unref(out_values[k]);
      out_values[k] = NULL;
    }
    return rheos__status_at_take(status, f->plan->graph, f->plan->fetches[i].id);
  }
  return NULL;
}

// After a step that failed, or that left values where nothing took them.
static void drop_all(flow_run *f) {
  for (int32_t i = 0; i < f->plan->num_entries; ++i) {
    drop_operands(f, i);
    token_drop(&f->s->kept[i]);
    f->s->has_kept[i] = false;
  }
  for (int32_t i = 0; i < f->flow->num_frames; ++i) f->s->trips[i] = (rheos__flow_trip){0};
  f->s->num_ready = f->s->num_put_off = 0;
}

static bool is_clean(const flow_run *f) {
  for (int32_t i = 0; i < f->flow->num_frames; ++i) {
    const rheos__flow_trip *trip = &f->s->trips[i];
    if (trip->num_tokens > 0 || (i > 0 && trip->is_active)) return false;
  }
  return true;
}

static void begin_visit(flow_run *f, rheos__place *place) {
  const rheos__run *r = f->r;
  *place = (rheos__place){.plan = r->plan, .trip = r->call != NULL ? r->call->num_runs - 1 : 0};
  f->place = place;
  rheos__observe_visit_begins(r->step, place);
}

rheos_status *rheos__run_flow(rheos__run *r, const rheos__parameters *parameters,
                              rheos_tensor **out_values, double *out_cost_ns) {
  rheos__place place;
  flow_run f = {.r = r, .plan = r->plan, .flow = r->plan->flow, .s = r->workspace->flow};
  rheos__flow_init_waits(&f);
  f.is_observed = rheos__step_is_observed(r->step);
  if (f.is_observed) begin_visit(&f, &place);
  for (int32_t i = 0; i < f.plan->num_fetches; ++i) f.s->is_fetched[i] = false;
  begin(&f);
  rheos_status *status = send_feeds(&f, parameters);
  if (status == NULL) status = rheos__flow_run_all(&f);
  if (status == NULL) status = give_fetches(&f, r->bound == NULL ? out_values : NULL);
  for (int32_t i = 0; i < f.plan->num_fetches; ++i) token_drop(&f.s->fetched[i]);
  if (status != NULL || !is_clean(&f)) drop_all(&f);
  rheos__flow_state_check(f.plan, f.s);
  if (f.is_observed) rheos__observe_visit_ended(r->step, &place);
  *out_cost_ns = (double)f.s->num_run * (double)ENTRY_NS;
  return status;
}
