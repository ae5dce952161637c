// The plan of a step that is not run, printed for programs that look at it: what its texts share.
#ifndef RHEOS_SRC_RUNTIME_SESSION_PLANNED_H
#define RHEOS_SRC_RUNTIME_SESSION_PLANNED_H

#include "codec/json_text.h"
#include "runtime/call/called.h"
#include "runtime/session/session_plan.h"

typedef struct rheos__planned {
  const rheos__step_ends *ends;
  const rheos_shape *shapes;  // of the feeds, known
  const rheos__plan *plan;
  const rheos__segment *segment;  // its first for these shapes; NULL: the plan runs on tokens
} rheos__planned;

// Plans the step and has `print` write of it; the caller frees `*out_text`, which is NULL before.
// RHEOS_INVALID_ARGUMENT for a shape that is not known or does not fit its feed.
rheos_status *rheos__planned_print(
    rheos_session *session, const rheos__step_ends *ends, const rheos_shape *shapes,
    rheos_status *(*print)(const rheos__planned *planned, rheos__text *text), char **out_text);

// "e3 while, body: while_body_12, 5 trips": the entry that calls, its node and what it calls.
rheos_status *rheos__called_print(const rheos__called *called, rheos__text *text);
// What rheos__called_print() prints, as members of the object that is open: "depth", "node",
// "called_by", "role", ...
rheos_status *rheos__called_print_json(const rheos__called *called, rheos__json_text *j);

// "dtype", unless it is RHEOS_INVALID_DTYPE, and "shape": null where its rank is not known.
void rheos__json_add_type(rheos__json_text *j, rheos_dtype dtype, const rheos_shape *shape);

#endif  // RHEOS_SRC_RUNTIME_SESSION_PLANNED_H
