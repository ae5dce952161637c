// The paths that gradients take: which nodes of a graph lie between xs and ys, and where gradients
// end.
#ifndef RHEOS_SRC_AUTODIFF_PATHS_H
#define RHEOS_SRC_AUTODIFF_PATHS_H

#include <rheos/gradients.h>

#include "autodiff/loops.h"

// Of a node.
enum {
  RHEOS__PATH_REACHED = 1,  // depends on an x
  RHEOS__PATH_BETWEEN = 2,  // and a y depends on it
  RHEOS__PATH_STOP = 4,     // gradients end here
  RHEOS__PATH_IS_X = 8,     // its gradients are kept for the answer
  RHEOS__PATH_IS_Y = 16,
  RHEOS__PATH_IS_START = 32,  // of a y that no other y depends on
  RHEOS__PATH_RECORDED = 64,  // where not all are
  RHEOS__PATH_WATCHED = 128,  // of what it gives something is watched
};

// Nodes [first_id, end_id) are looked at: what came before the xs cannot depend on them, what came
// after the ys cannot lead to them; all, where nodes may come after those that read them. The
// arrays are indexed by id - first_id.
typedef struct rheos__paths {
  rheos_scope *scope;
  rheos_graph *graph;
  const rheos_gradients_options *options;
  const rheos_output *ys;
  size_t num_ys;
  int32_t first_id, end_id;
  uint8_t *flags;
  int32_t *pending;    // readers in between that have not been visited yet, one for each edge
  rheos__loops loops;  // that gradients go through
} rheos__paths;

// Says what is looked at, and marks the xs and ys; the scope, options and ys are set. False with an
// error in the scope.
bool rheos__paths_init(rheos__paths *p, const rheos_output *xs, size_t num_xs);
void rheos__paths_deinit(rheos__paths *p);

// Marks what lies between, and counts what is pending.
void rheos__paths_mark(rheos__paths *p);
// Marks where gradients end: at stop_gradients, at what was not recorded, and at an x unless they
// go on from it to another one.
void rheos__paths_mark_stops(rheos__paths *p, const rheos_output *xs, size_t num_xs);
// Whether x may have a gradient: what is neither watched nor recorded has none, unless it is a y.
bool rheos__paths_lead_to(const rheos__paths *p, rheos_output x);

static inline bool rheos__path_covers(const rheos__paths *p, int32_t id) {
  return id >= p->first_id && id < p->end_id;
}

static inline bool rheos__path_has(const rheos__paths *p, int32_t id, unsigned flag) {
  return rheos__path_covers(p, id) && (p->flags[id - p->first_id] & flag) != 0;
}

static inline void rheos__path_set(const rheos__paths *p, int32_t id, unsigned flag) {
  if (rheos__path_covers(p, id)) p->flags[id - p->first_id] |= (uint8_t)flag;
}

// Whether it is looked at and no reader of it is left to be visited.
static inline bool rheos__path_is_free(const rheos__paths *p, int32_t id) {
  return rheos__path_covers(p, id) && p->pending[id - p->first_id] == 0;
}

static inline bool rheos__is_differentiable(rheos_dtype dtype) {
  dtype = rheos_dtype_base(dtype);
  return rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype) ||
         dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT;
}

#endif  // RHEOS_SRC_AUTODIFF_PATHS_H
