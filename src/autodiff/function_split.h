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

// ---- Copying nodes from one graph to another

// Where the outputs of a graph's nodes are in another one.
typedef struct rheos__copier {
  rheos_graph *from;
  rheos_scope *to;
  int32_t num_nodes;
  int32_t *order;         // the nodes, each behind its inputs
  int32_t *nodes;         // by node: its copy, -1: none
  int32_t *starts;        // by node: where its outputs are in...
  rheos_output *outputs;  // ...these, none where there is no copy
  // What is done with each copy, before others read it. NULL: nothing.
  void (*copied)(void *argument, rheos_graph *graph, int32_t id);
  void *argument;
} rheos__copier;

// RHEOS_UNIMPLEMENTED if the graph has loops of version 1.
rheos_status *rheos__copier_init(rheos__copier *c, rheos_graph *from, rheos_scope *to);
void rheos__copier_deinit(rheos__copier *c);
// Says what stands for an output.
void rheos__copier_put(rheos__copier *c, rheos__edge edge, rheos_output output);
rheos_output rheos__copier_at(const rheos__copier *c, rheos__edge edge);
// Copies the nodes of which `wanted` is true and nothing stands for yet, and constants that these
// read. Errors go to the scope.
void rheos__copy_nodes(rheos__copier *c, const bool *wanted);
// What stands for an output; a constant is copied.
rheos_output rheos__copy_edge(rheos__copier *c, rheos__edge edge);

// Nodes that give the same wherever they are: no inputs, no state.
bool rheos__is_free(const rheos__node *node);

// ---- Splitting

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
