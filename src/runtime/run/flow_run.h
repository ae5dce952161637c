// A run of a plan on tokens under way, for the files that it is made of.
#ifndef RHEOS_SRC_RUNTIME_RUN_FLOW_RUN_H
#define RHEOS_SRC_RUNTIME_RUN_FLOW_RUN_H

#include "plan/entries/flow.h"
#include "runtime/run/run.h"

typedef struct rheos__flow_run {
  rheos__others others;  // at the start: what a body that waits goes on with
  rheos_status *failed;  // the first error of all
  rheos__run *r;
  const rheos__plan *plan;
  const rheos__flow *flow;
  rheos__flow_state *s;
  int32_t depth;      // of calls, around it
  int32_t num_begun;  // calls on strands of their own that have not ended
  bool in_kernel;     // one runs, or waits, on the arrays that all entries share
  bool is_full;       // no call that waits can be begun beside those that do
  bool is_observed;
  const rheos__place *place;  // of the run, if it is observed
} rheos__flow_run;

// ---- flow_run.c

// Goes to the place of an entry, and back to where the step was. Nothing happens where it is not
// observed.
typedef struct rheos__flow_place {
  rheos__place place;
  const rheos__place *before;
} rheos__flow_place;
void rheos__flow_enter_place(const rheos__flow_run *f, int32_t entry, rheos__flow_place *place);
void rheos__flow_leave_place(const rheos__flow_run *f, const rheos__flow_place *place);

// Runs an entry that can run; what comes out goes to those that take it.
rheos_status *rheos__flow_run_entry(rheos__flow_run *f, int32_t entry);
// Sends what a kernel returned, which is taken. `cells` are by output what it refers to; NULL:
// nothing.
rheos_status *rheos__flow_take_results(rheos__flow_run *f, int32_t entry, rheos_tensor **results,
                                       rheos__resource *const *cells);
// Adds the entry's node, and the loops that it is in, to the error of it.
rheos_status *rheos__flow_status_at_take(const rheos__flow_run *f, rheos_status *status,
                                         int32_t entry);
// Takes the entry out of those that can run; all but its name and line has been done.
void rheos__flow_finish(rheos__flow_run *f, int32_t entry);
int32_t rheos__flow_pop_ready(rheos__flow_state *s);

// Of ops whose kernels leave an attempt when they would wait.
enum { RHEOS__SET_ASIDE = RHEOS_OP_WAITS | RHEOS_OP_CALLS_PROGRAM };

// ---- flow_waits.c

// Runs all that can run, until nothing is left.
rheos_status *rheos__flow_run_all(rheos__flow_run *f);
// Whether the entry is a call whose body may wait.
bool rheos__flow_is_waiting_call(const rheos__flow_run *f, int32_t entry);
// Whether the kernel of the entry, which runs now, may leave an attempt.
bool rheos__flow_can_set_aside(const rheos__flow_run *f, int32_t entry);
// The run goes on without the entry. The attempt is taken.
void rheos__flow_set_aside(rheos__flow_run *f, int32_t entry, rheos__attempt *attempt);
void rheos__flow_init_waits(rheos__flow_run *f);

#endif  // RHEOS_SRC_RUNTIME_RUN_FLOW_RUN_H
