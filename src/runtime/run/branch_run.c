// A section of branches is handed out once, a branch at a time. No branch stops another one, or
// which error comes back would depend on who was faster; but none goes on behind an instruction
// that is known to have failed.
#include "runtime/run/section_run.h"

#include <assert.h>
#include <pthread.h>

#include "plan/segment/branches.h"

static const float SLICE_NS = 2e6f;  // between two looks whether to stop

typedef struct branches_run {
  const rheos__section_run *run;
  pthread_t caller;               // who alone may ask whether to stop
  _Atomic int32_t first_failure;  // instruction
  int32_t failed[RHEOS__MAX_BRANCHES];
  rheos_status *errors[RHEOS__MAX_BRANCHES];
} branches_run;

static bool is_stopped(const branches_run *r) {
  if (pthread_equal(pthread_self(), r->caller)) return rheos__step_poll(r->run->step);
  return atomic_load_explicit(&r->run->step->stopped, memory_order_relaxed) != 0;
}

static rheos_status *run_instruction(const branches_run *r, const rheos__instruction *in) {
  const void *inputs[RHEOS__BRANCH_OPERANDS];
  void *outputs[RHEOS__BRANCH_OPERANDS];
  const rheos__segment *segment = r->run->segment;
  const rheos__workspace *workspace = r->run->workspace;
  assert(in->kind == RHEOS__RUN && in->num_inputs <= RHEOS__BRANCH_OPERANDS);
  assert(in->num_outputs <= RHEOS__BRANCH_OPERANDS);
  const int32_t *operands = segment->operands + in->first_operand;
  for (int32_t i = 0; i < in->num_inputs; ++i) inputs[i] = workspace->data[operands[i]];
  for (int32_t i = 0; i < in->num_outputs; ++i) outputs[i] = workspace->data[in->first_value + i];
  void *scratch = in->scratch_bytes > 0
                      ? workspace->bindings[segment->depth].memory + in->scratch_offset
                      : NULL;
  int64_t slice = in->num_units;
  if (in->cost_ns > SLICE_NS) slice = (int64_t)((float)slice * (SLICE_NS / in->cost_ns));
  if (slice < 1) slice = 1;
  for (int64_t first = 0; first < in->num_units; first += slice) {
    if (first > 0 && is_stopped(r)) return NULL;
    const int64_t last = slice < in->num_units - first ? first + slice : in->num_units;
    RHEOS_TRY(in->run(in->state, inputs, outputs, scratch, first, last));
  }
  return NULL;
}

static void note_failure(branches_run *r, int32_t branch, int32_t index, rheos_status *status) {
  const rheos__plan *plan = r->run->segment->plan;
  const int32_t entry = r->run->segment->instructions[index].entry;
  r->errors[branch] = rheos__plan_status_at_take(status, plan, plan->entries[entry].id);
  assert(r->failed[branch] == 0);  // a branch stops where it fails
  r->failed[branch] = index;
  int32_t first = atomic_load(&r->first_failure);
  while (index < first && !atomic_compare_exchange_weak(&r->first_failure, &first, index)) continue;
}

static void run_branch(branches_run *r, int32_t branch) {
  const int32_t *starts = r->run->section->branches.starts;
  float unseen_ns = 0;
  assert(branch >= 0 && branch < r->run->section->branches.num_branches);
  int64_t now = rheos__section_start(r->run);
  for (int32_t k = starts[branch]; k < starts[branch + 1]; ++k) {
    const int32_t index = r->run->section->branches.members[k];
    const rheos__instruction *in = &r->run->segment->instructions[index];
    unseen_ns += in->cost_ns;
    if (unseen_ns > SLICE_NS) {
      unseen_ns = 0;
      if (is_stopped(r)) return;
    }
    if (index > atomic_load_explicit(&r->first_failure, memory_order_relaxed)) return;
    rheos_status *status = run_instruction(r, in);
    if (status != NULL) {
      note_failure(r, branch, index, status);
      return;
    }
    now = rheos__section_mark(r->run, index, 0, now);
  }
}

static rheos_status *run_some(void *argument, int64_t first, int64_t last) {
  for (int64_t branch = first; branch < last; ++branch) run_branch(argument, (int32_t)branch);
  return NULL;
}

rheos_status *rheos__run_branches(const rheos__section_run *run, int32_t *out_failed) {
  branches_run r = {.run = run, .caller = pthread_self(), .first_failure = INT32_MAX};
  const int32_t num_branches = run->section->branches.num_branches;
  assert(num_branches <= RHEOS__MAX_BRANCHES);
  rheos_status *status = rheos__pool_run(run->step->pool, num_branches, run_some, &r);
  *out_failed = atomic_load(&r.first_failure);
  for (int32_t b = 0; b < num_branches; ++b) {
    if (r.errors[b] != NULL && r.failed[b] == *out_failed) {
      status = r.errors[b];
    } else {
      rheos_status_free(r.errors[b]);
    }
  }
  return status;
}
