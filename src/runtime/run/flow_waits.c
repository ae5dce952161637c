// What a run on tokens does first, and what it does while others wait. An op that waits is set
// aside until it can go on. A call whose body may wait holds a stack while it does, so it comes
// when nothing else is left, and where another one waits already it runs on a strand of its own.
#include "runtime/run/flow_run.h"

#include <assert.h>
#include <string.h>

#include "runtime/step/strands.h"
#include "runtime/step/waiting.h"

typedef rheos__flow_run flow_run;

// Where no strand can be had, calls that wait lie on each other on the stack: where there are many,
// the last ones are not begun.
enum { MAX_ON_EACH_OTHER = 64 };

bool rheos__flow_is_waiting_call(const flow_run *f, int32_t entry) {
  const rheos__entry *e = &f->plan->entries[entry];
  return e->may_wait && (e->signature->op->flags & RHEOS__SET_ASIDE) == 0;
}

// Whether nothing else of the step could go on, or would be seen to, while the entry, which runs
// now, waits.
static bool is_alone(const flow_run *f) {
  const rheos__flow_state *s = f->s;
  if (s->num_ready > 0 || s->num_put_off > 0 || f->num_begun > 0 || f->others.outer != NULL) {
    return false;
  }
  for (int32_t i = 0; i < s->num_asides; ++i) {
    if (!f->flow->ends_quietly[s->asides[i].entry]) return false;
  }
  return true;
}

bool rheos__flow_can_set_aside(const flow_run *f, int32_t entry) {
  const rheos__entry *e = &f->plan->entries[entry];
  const unsigned flags = e->signature->op->flags;
  if ((flags & RHEOS_OP_WAITS) != 0) return true;
  return e->may_wait && (flags & RHEOS_OP_CALLS_PROGRAM) != 0 && !is_alone(f);
}

static void note_failure_take(flow_run *f, rheos_status *status) {
  if (status == NULL) return;
  if (f->failed == NULL) {
    f->failed = status;
    f->others.has_failed = true;
  } else {
    rheos_status_free(status);
  }
}

// ---- Entries that were set aside

void rheos__flow_set_aside(flow_run *f, int32_t entry, rheos__attempt *attempt) {
  assert(attempt != NULL && f->s->num_asides < f->plan->num_entries);
  f->s->asides[f->s->num_asides++] = (rheos__flow_aside){entry, attempt};
}

// One of those that wait and can go on; -1: none can.
static int32_t find_done(const flow_run *f) {
  for (int32_t i = 0; i < f->s->num_asides; ++i) {
    if (rheos__attempt_is_done(f->s->asides[i].attempt)) return i;
  }
  return -1;
}

static rheos__flow_aside take_aside(flow_run *f, int32_t index) {
  rheos__flow_state *s = f->s;
  const rheos__flow_aside taken = s->asides[index];
  memmove(&s->asides[index], &s->asides[index + 1],
          (size_t)(s->num_asides - index - 1) * sizeof *s->asides);
  --s->num_asides;
  return taken;
}

static rheos_status *give_answer(flow_run *f, rheos__flow_aside done) {
  rheos__step *step = f->r->step;
  rheos__attempt *next = NULL, **outer = step->aside;
  rheos_tensor **results = f->r->workspace->results;
  const int32_t num_outputs = f->plan->entries[done.entry].num_outputs;
  for (int32_t i = 0; i < num_outputs; ++i) results[i] = NULL;
  step->aside = &next;
  rheos_status *status = rheos__attempt_answer_take(done.attempt, step, results);
  step->aside = outer;
  if (status == NULL) return rheos__flow_take_results(f, done.entry, results, NULL);
  if (rheos__is_set_aside(status)) rheos__flow_set_aside(f, done.entry, next);
  for (int32_t i = 0; i < num_outputs; ++i) {
    rheos_tensor_unref(results[i]);
    results[i] = NULL;
  }
  return status;
}

// Goes on with one whose attempt is done, or is to end because the step is.
static rheos_status *end_aside(flow_run *f, int32_t index) {
  const rheos__flow_aside done = take_aside(f, index);
  rheos__flow_place place;
  rheos__flow_enter_place(f, done.entry, &place);
  rheos_status *status = give_answer(f, done);
  rheos__flow_leave_place(f, &place);
  if (rheos__is_set_aside(status)) return NULL;
  if (status != NULL) return rheos__flow_status_at_take(f, status, done.entry);
  rheos__flow_finish(f, done.entry);
  return NULL;
}

static void drop_asides(flow_run *f) {
  for (int32_t i = 0; i < f->s->num_asides; ++i) {
    rheos__attempt_end(f->s->asides[i].attempt, f->r->step);
    rheos__attempt_free(f->s->asides[i].attempt);
  }
  f->s->num_asides = 0;
}

// ---- What comes first

static int32_t take_put_off(rheos__flow_state *s) {
  const int32_t entry = s->put_off[0];
  memmove(s->put_off, s->put_off + 1, (size_t)--s->num_put_off * sizeof *s->put_off);
  return entry;
}

static bool can_do_short(const flow_run *f) {
  return !f->in_kernel && (f->s->num_ready > 0 || find_done(f) >= 0);
}

// What does not wait on the spot.
static rheos_status *do_short(flow_run *f) {
  if (f->s->num_ready == 0) return end_aside(f, find_done(f));
  const int32_t entry = rheos__flow_pop_ready(f->s);
  if (!rheos__flow_is_waiting_call(f, entry) || f->s->is_dead[entry]) {
    return rheos__flow_run_entry(f, entry);
  }
  f->s->put_off[f->s->num_put_off++] = entry;
  return NULL;
}

// ---- While a body that an entry calls waits

typedef struct begun_call {
  flow_run *f;
  int32_t entry;
} begun_call;

static void run_begun(void *argument) {
  begun_call *c = argument;
  flow_run *f = c->f;
  note_failure_take(f, rheos__flow_run_entry(f, c->entry));
  --f->num_begun;
  f->is_full = false;
  rheos__free(c);
}

static bool can_go_on(const rheos__others *others) {
  const flow_run *f = (const flow_run *)others;
  if (f->failed != NULL) return false;
  return can_do_short(f) || (f->s->num_put_off > 0 && !f->is_full);
}

// On the stack of what waits, which ends later then, whoever could go on first.
static bool call_on_top(flow_run *f, int32_t entry) {
  rheos__step *step = f->r->step;
  if (step->depth >= MAX_ON_EACH_OTHER) {
    f->s->put_off[f->s->num_put_off++] = entry;
    f->is_full = true;
    return false;
  }
  rheos__others *inner = step->others;
  step->others = f->others.outer;
  note_failure_take(f, rheos__flow_run_entry(f, entry));
  step->others = inner;
  return true;
}

static bool begin_call(flow_run *f) {
  const int32_t entry = take_put_off(f->s);
  begun_call *c = rheos__alloc(sizeof *c);
  bool begun = false;
  rheos_status *status = c == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) {
    *c = (begun_call){f, entry};
    ++f->num_begun;
    status = rheos__strand_begin(f->r->step, f->depth, f->others.outer, run_begun, c, &begun);
    if (!begun) {
      --f->num_begun;
      rheos__free(c);
    }
  }
  note_failure_take(f, status);
  return begun || status != NULL || call_on_top(f, entry);
}

static bool go_on(rheos__others *others, rheos__step *step) {
  flow_run *f = (flow_run *)others;
  assert(can_go_on(others));
  if (!can_do_short(f)) return begin_call(f);
  rheos__others *inner = step->others;
  step->others = others->outer;
  note_failure_take(f, do_short(f));
  step->others = inner;
  return true;
}

void rheos__flow_init_waits(flow_run *f) {
  f->others = (rheos__others){.can_go_on = can_go_on, .go_on = go_on, .outer = f->r->step->others};
  f->depth = f->r->step->depth;
}

// ---- The whole

static bool is_left(const flow_run *f) {
  return f->s->num_ready > 0 || f->s->num_asides > 0 || f->s->num_put_off > 0 || f->num_begun > 0;
}

// Whether the run's own thread has something to do.
static bool is_awake(const void *run) {
  const flow_run *f = run;
  return f->failed != NULL || !is_left(f) || can_do_short(f) ||
         (f->s->num_put_off > 0 && !f->in_kernel);
}

static rheos_status *wait_for_others(flow_run *f) {
  rheos__step *step = f->r->step;
  rheos__step_wait(step, is_awake, f);
  if (rheos__step_others_failed(step)) return rheos__others_error();
  if (is_awake(f)) return NULL;
  return f->s->num_asides > 0 ? end_aside(f, 0) : rheos__step_error(step);
}

static rheos_status *fetched_twice(const flow_run *f) {
  rheos_status *status = rheos_status_new(
      RHEOS_INTERNAL, "Retval[%d] has already been set: the fetched tensor is in a loop",
      (int)f->s->fetched_twice);
  const int32_t id = f->plan->fetches[f->s->fetched_twice].id;
  return rheos__status_at_take(status, f->plan->graph, id);
}

static rheos_status *do_something(flow_run *f) {
  if (can_do_short(f)) return do_short(f);
  if (f->s->num_put_off > 0 && !f->in_kernel) {
    return rheos__flow_run_entry(f, take_put_off(f->s));
  }
  return wait_for_others(f);
}

static bool have_all_ended(const void *run) { return ((const flow_run *)run)->num_begun == 0; }

// Calls that were begun see that the run has failed, when they wait.
static void end_begun(flow_run *f) {
  rheos__step *step = f->r->step;
  const rheos__awaited before = step->awaited;
  step->awaited = (rheos__awaited){have_all_ended, f};
  f->others.has_failed = true;
  while (f->num_begun > 0) rheos__strands_turn(step);
  step->awaited = before;
}

rheos_status *rheos__flow_run_all(flow_run *f) {
  while (f->failed == NULL && is_left(f)) {
    note_failure_take(f, do_something(f));
    if (f->s->fetched_twice >= 0) note_failure_take(f, fetched_twice(f));
  }
  end_begun(f);
  drop_asides(f);
  return f->failed;
}
