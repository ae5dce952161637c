// What a kernel calls: functions of the graph's library (library.h), each with plans of its own that all
// calls with the same shapes share. Defined by the runtime.
#ifndef RHEOS_SRC_GRAPH_CALLS_H
#define RHEOS_SRC_GRAPH_CALLS_H

#include "graph/op_def.h"

// What a body is given, by argument.
typedef struct rheos__parameters {
  rheos_tensor *const *tensors;   // NULL where an argument is a cell
  rheos__resource *const *cells;  // what is behind references and handles; NULL: no argument is one
  // Tensors whose reference goes to the run, even if it fails: nobody else holds them, so results may be
  // written over them. NULL: none.
  const bool *given;
} rheos__parameters;

// A place that calls a function; made by `prepare`, for any number of steps at once.
typedef struct rheos__site rheos__site;

// One call under way. Kept by the site from call to call, so that with the same shapes and cells it takes
// neither a lock nor memory. For one thread at a time.
typedef struct rheos__invocation rheos__invocation;

// What a site takes and gives.
typedef struct rheos__site_types {
  const rheos_dtype *args, *results;
  int32_t num_args, num_results;
} rheos__site_types;

// What the function takes and gives, in lists for rheos__free().
rheos_status *rheos__site_types_of(const rheos__prepare *p, const rheos_func *func,
                                   rheos_dtype **out_args, int32_t *out_num_args,
                                   rheos_dtype **out_results, int32_t *out_num_results);

// RHEOS_NOT_FOUND if the library has no such function, RHEOS_INVALID_ARGUMENT if it takes or gives
// something else.
rheos_status *rheos__site_new(const rheos__prepare *p, const rheos_func *func,
                              const rheos__site_types *types, rheos__site **out_site);
void rheos__site_free(rheos__site *site);

// What the results will be for arguments of these shapes and cells (an element NULL where an argument is
// none): shapes, unknown where only a run tells, and the cells behind those that are handles.
void rheos__site_infer(rheos__site *site, const rheos__prepare *p, const rheos_shape *shapes,
                       rheos__resource *const *cells, rheos_shape *out_shapes,
                       rheos__resource **out_cells);

rheos_status *rheos__site_enter(rheos__site *site, rheos__step *step,
                                rheos__invocation **out_invocation);
// Runs the body in the step. `values` by result: NULL for a handle. Tensors that they hold before are
// taken: a result of the same dtype and shape is computed there if nobody else holds the tensor. After a
// failure they are NULL.
rheos_status *rheos__invocation_run(rheos__invocation *invocation,
                                    const rheos__parameters *parameters, rheos__step *step,
                                    rheos_tensor **values);
void rheos__site_leave(rheos__site *site, rheos__invocation *invocation);

#endif  // RHEOS_SRC_GRAPH_CALLS_H
