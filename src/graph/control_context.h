// Control-flow contexts: the branches of conditionals and the loops that operations are made in.
//
// A scope has at most one context; contexts nest. A node made in a context gets values from outside
// through a Switch (branches) or a constant Enter (loops), one for each value and context, and a
// node that nothing else ties to its context waits for the context's pivot. Structure, names and
// order of creation are TensorFlow 1.15's. The graph keeps its contexts and which one each node is
// in, so that gradients and meta graphs can ask.
#ifndef RHEOS_SRC_GRAPH_CONTROL_CONTEXT_H
#define RHEOS_SRC_GRAPH_CONTROL_CONTEXT_H

#include <rheos/control_context.h>

#include "graph/graph.h"

// What a loop that computes gradients knows of the one it is for (graph/backward_loop.h).
typedef struct rheos__backward_loop rheos__backward_loop;

// A value that a context has seen, and what stands for it inside; `inside` has id -1 for a value
// that may be used as it is.
typedef struct rheos__context_value {
  rheos__edge value, inside;
} rheos__context_value;

// Values that a context has seen, in the order in which they were noted, and a hash table of
// positions + 1, at most half full.
typedef struct rheos__context_values {
  rheos__context_value *items;
  size_t capacity, count;
  uint32_t *slots;
  size_t num_slots;
} rheos__context_values;

struct rheos_control_context {
  rheos_graph *graph;
  rheos_control_context *outer;  // NULL: none
  int32_t number;                // among the graph's, from 1
  bool is_while;
  const char *name;   // interned; of a loop, also the name of its frame
  rheos__edge pivot;  // of a branch: the predicate inside it; of a loop: what LoopCond gives
  // Branches
  rheos__edge pred;
  int32_t branch;  // the output of a Switch: 1 where the predicate holds
  // Loops; edges have id -1 until they are made
  rheos__edge pivot_for_pred, pivot_for_body, maximum_iterations;
  rheos__edge *enters, *merges, *switches,
      *exits;  // in the graph's arena; not all in those of files
  int32_t num_enters, num_exits;
  int32_t parallel_iterations;
  bool back_prop, swap_memory;
  rheos__context_values seen;
  rheos__backward_loop *backward;  // of a loop that computes gradients of another; owned
};

// Of a graph: its contexts, and for each node the number of its context, and what a front end
// should not feed or fetch.
typedef struct rheos__contexts {
  rheos_control_context **items;
  size_t capacity, count;
  uint32_t *of_node;
  size_t nodes_capacity, num_nodes;
  bool has_foreign;  // there may be nodes marked so
  bool has_loops;    // of nodes that came so: some may have inputs that were made after them
} rheos__contexts;

void rheos__contexts_deinit(rheos__contexts *contexts);

// Whether nodes may have inputs that were made after them: in loops, and where contexts were made.
bool rheos__graph_is_unordered(const rheos_graph *graph);
// Whether the node is marked as RHEOS__FOREIGN; no longer, then.
bool rheos__node_take_foreign(rheos_graph *graph, int32_t id);
// The context that a node is in; NULL for none.
rheos_control_context *rheos__context_of(const rheos_graph *graph, int32_t id);
// The context of what the node gives: of an Exit, the one around the loop.
rheos_control_context *rheos__output_context_of(const rheos_graph *graph, int32_t id);
// The innermost loop that is `context` or around it; NULL if there is none. Takes NULL.
rheos_control_context *rheos__while_context(rheos_control_context *context);

// Notes in `values` that `value` was seen; with `inside` (id not -1) what stands for it.
rheos_status *rheos__values_know(rheos__context_values *values, rheos__edge value,
                                 rheos__edge inside);
const rheos__context_value *rheos__values_find(const rheos__context_values *values,
                                               rheos__edge value);
void rheos__values_deinit(rheos__context_values *values);

// ---- For what makes contexts

// A context in that of the scope, with a name made of `name` that is taken in the scope; NULL with
// an error in the scope.
rheos_control_context *rheos__context_new(rheos_scope *scope, bool is_while, const char *name);
// As rheos__context_new(), with exactly this name, as files have it.
rheos_control_context *rheos__context_named(rheos_scope *scope, bool is_while, const char *name);

// A name for the frame of a loop, made of `text`, which need not end with a NUL, that no other loop
// of the graph has; interned. The graph is locked.
rheos_status *rheos__graph_take_frame(rheos_graph *graph, const char *text, size_t length,
                                      const char **out_name);

// `RHEOS__FOREIGN`: its context is not known yet (context_recovery.h).
enum { RHEOS__UNFETCHABLE = 1, RHEOS__UNFEEDABLE = 2, RHEOS__FOREIGN = 4 };
// Marks the node, besides what it is marked as already.
rheos_status *rheos__node_mark(rheos_graph *graph, int32_t id, uint32_t marks);
rheos_status *rheos__node_set_context(rheos_graph *graph, int32_t id,
                                      const rheos_control_context *context);

// Notes that `value` may be used inside; with `inside` (id not -1) through that.
rheos_status *rheos__context_know(rheos_control_context *context, rheos__edge value,
                                  rheos__edge inside);
// Forgets all values.
void rheos__context_forget(rheos_control_context *context);
// NULL if the context has not seen the value. Valid until the next value is noted.
const rheos__context_value *rheos__context_find(const rheos_control_context *context,
                                                rheos__edge value);

// What stands for `value` inside `context`, made where it is not there yet; after an error, which
// is in the scope, `value` itself. Takes NULL, which is outside of all contexts.
rheos__edge rheos__context_value_of(rheos_scope *scope, rheos_control_context *context,
                                    rheos__edge value);

// A Switch, or RefSwitch, of `data` on the device of what makes it.
rheos_operation rheos__switch_by(rheos_scope *scope, rheos__edge data, rheos__edge pred);
// An Enter, or RefEnter, into the frame of `context`; outside of all contexts.
rheos_operation rheos__enter_frame(rheos_scope *scope, const rheos_control_context *context,
                                   rheos__edge data, bool is_constant);
// Puts a new Enter into its context, and lets it wait for what the scope says, as far as that may
// be waited for around the loop.
void rheos__fix_enter(rheos_scope *scope, rheos_control_context *context, int32_t id);

// The node that others wait for which nothing else ties to the context.
int32_t rheos__control_pivot(const rheos_control_context *context);

// ---- For what adds nodes

// The first input that an operation of this type may not take in the scope's context, as it is
// inside of a loop that the context is not in; -1 if there is none.
int64_t rheos__context_wrong_input(const rheos_scope *scope, const char *type,
                                   const rheos_output *inputs, size_t num_inputs);
// The error about it, for the operation of that name.
rheos_status *rheos__context_refuse_input(const rheos_scope *scope, const char *name,
                                          rheos_output input);
// Ties a node that was just added to the scope's context.
void rheos__context_add_node(rheos_scope *scope, int32_t id);

#endif  // RHEOS_SRC_GRAPH_CONTROL_CONTEXT_H
