// What threads do of a section of a segment, each kind in a file of its own: row_run.c,
// branch_run.c, update_run.c. The executor runs what comes before and after (executor.c,
// run_section).
#ifndef RHEOS_SRC_RUNTIME_RUN_SECTION_RUN_H
#define RHEOS_SRC_RUNTIME_RUN_SECTION_RUN_H

#include "plan/segment/segment.h"
#include "runtime/step/step.h"
#include "runtime/threads/pool.h"

typedef struct rheos__section_run {
  const rheos__segment *segment;
  const rheos__section *section;
  rheos__workspace *workspace;
  rheos__step *step;
  int64_t num_parts;     // that an instruction is cut into
  rheos__share *shares;  // by instruction, then by part; NULL: nobody wants to know
} rheos__section_run;

// Parts for the threads of the pool.
int64_t rheos__section_parts(const rheos__section *section, const rheos__pool *pool);

// Whether the instruction is run as a part of the section, and not before or after it.
static inline bool rheos__section_shares(const rheos__section *section,
                                         const rheos__instruction *in) {
  switch ((rheos__section_kind)section->kind) {
    case RHEOS__SECTION_ROWS: return in->kind == RHEOS__RUN;
    case RHEOS__SECTION_BRANCHES: return in->branch > 0;
    case RHEOS__SECTION_UPDATES: return true;
  }
  return false;
}

// Tells that the thread has run its part of the instruction since `start_ns`. Returns the time.
// Both are 0 where nobody wants to know.
static inline int64_t rheos__section_mark(const rheos__section_run *run, int32_t instruction,
                                          int64_t part, int64_t start_ns) {
  if (run->shares == NULL) return 0;
  const int64_t now = rheos__clock_ns();
  run->shares[(instruction - run->section->first) * run->num_parts + part] =
      (rheos__share){rheos__pool_thread(), start_ns, now};
  return now;
}

static inline int64_t rheos__section_start(const rheos__section_run *run) {
  return run->shares != NULL ? rheos__clock_ns() : 0;
}

// Each thread runs all instructions on rows of its own. An error names its node.
rheos_status *rheos__run_rows(rheos__section_run *run);

// The error is that of the first instruction, in the order of the plan, that would fail on one
// thread;
// `*out_failed` is that instruction, else INT32_MAX. A step that is stopped is no error yet.
rheos_status *rheos__run_branches(const rheos__section_run *run, int32_t *out_failed);

// False if nothing was done, since an update fails or memory is short: run one by one, they tell.
bool rheos__run_updates(const rheos__section_run *run);

#endif  // RHEOS_SRC_RUNTIME_RUN_SECTION_RUN_H
