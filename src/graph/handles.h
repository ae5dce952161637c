// Handles that a program gives: whether they name what they should, told in one way.
#ifndef RHEOS_SRC_GRAPH_HANDLES_H
#define RHEOS_SRC_GRAPH_HANDLES_H

#include <rheos/scope.h>

#include "base/status.h"

// NULL if the handle names a tensor (an operation) of the graph; else "WHAT is no tensor", "WHAT is
// from another graph", "WHAT is not in the graph".
RHEOS_MUST_USE rheos_status *rheos__check_output(const rheos_graph *graph, rheos_output output,
                                                 const char *what);
RHEOS_MUST_USE rheos_status *rheos__check_operation(const rheos_graph *graph,
                                                    rheos_operation operation, const char *what);

// As rheos__check_output() for all of a list; `what` becomes "WHAT[2]". With `may_be_none` elements
// may be none.
RHEOS_MUST_USE rheos_status *rheos__check_outputs(const rheos_graph *graph,
                                                  const rheos_output *outputs, size_t count,
                                                  const char *what, bool may_be_none);

// Whether to go on with a scope: it is there, has not failed before, and `status` (taken; its own
// from now on) is no error.
bool rheos__scope_goes_on(rheos_scope *scope, rheos_status *status);

#endif  // RHEOS_SRC_GRAPH_HANDLES_H
