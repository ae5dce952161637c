// The gradient of a function in two parts. A copy of its body is differentiated as any graph is;
// then the nodes are told apart: those that the results need, which run when the function is
// called, and those that need gradients of results, which run later. What the latter read of the
// former are intermediates.
#ifndef RHEOS_SRC_AUTODIFF_FUNCTION_SPLIT_H
#define RHEOS_SRC_AUTODIFF_FUNCTION_SPLIT_H

#include <rheos/function.h>
#include <rheos/gradients.h>

#include "graph/graph.h"
#include "graph/library.h"
#include "graph/node_copies.h"

typedef enum rheos__source_kind {
  RHEOS__FROM_ARGUMENT,  // of the function
  RHEOS__FROM_RESULT,
  RHEOS__FROM_BODY,  // nothing gives it yet
} rheos__source_kind;

typedef struct rheos__intermediate {
  rheos__edge edge;  // of the work graph
  rheos__source_kind kind;
  int32_t index;  // of the argument, of the result, or among those from the body
} rheos__intermediate;

typedef struct rheos__split {
  const rheos__function *of;
  rheos_function *work;  // where the copy and its gradients are
  rheos_graph *graph;    // the work's
  rheos__edge *results;  // of the function, in the graph
  int32_t *controls;     // what calls run anyway, nodes of the graph
  int32_t num_controls;
  rheos_output *grad_ys;      // by result: the argument that stands for its gradient, or none
  rheos_gradient *grads;      // by argument: its gradient, or none
  bool *forward, *backward;   // by node
  int32_t *starts, *outputs;  // while intermediates are listed: by node, and by output
  rheos__intermediate *intermediates;
  int32_t num_intermediates, num_from_body;
  size_t intermediates_capacity;
} rheos__split;

// Differentiates those results that `has_grad` names, with respect to all arguments. Sparse
// gradients stay so, if `keeps_sparse`. Errors go to `scope`; what was made is freed by deinit in
// any case.
bool rheos__split_init(rheos__split *split, rheos_scope *scope, const rheos__function *function,
                       const bool *has_grad, bool keeps_sparse,
                       const rheos_gradients_options *options);
void rheos__split_deinit(rheos__split *split);

// True if the intermediates are so many that computing them again is better than handing them on,
// and that gives the same. Each call of a function hands on what that hands on, so where functions
// call each other twice the intermediates double from one to the next.
bool rheos__split_has_too_many(const rheos__split *split);
// From now on the backward part computes all it needs of the arguments. False when memory is short.
bool rheos__split_recompute(rheos__split *split);

rheos_dtype rheos__split_dtype(const rheos__split *split, rheos__edge edge);
rheos_shape rheos__split_shape(const rheos__split *split, rheos__edge edge);

// A function's arguments in `f`, noted for the copier, and then the nodes that run when it is
// called.
void rheos__split_copy_forward(const rheos__split *split, rheos_function *f, rheos__copier *c);
// What a call of the function runs anyway, for the copy of it.
void rheos__split_copy_controls(const rheos__split *split, rheos_function *f,
                                const rheos__copier *c);

// A name in the library that nothing has, "__KIND_FUNCTION_NUMBER".
char *rheos__gradient_name(rheos_graph *library, const char *kind, const char *function);

#endif  // RHEOS_SRC_AUTODIFF_FUNCTION_SPLIT_H
