// The functions of a graph's library. A function is a graph of its own: arguments and results are
// nodes there. Its body is made when it is first asked for, once for each set of values of its
// attributes, so that a large library costs nothing until it is called.
#ifndef RHEOS_SRC_GRAPH_LIBRARY_H
#define RHEOS_SRC_GRAPH_LIBRARY_H

#include "graph/graph.h"

typedef struct rheos__function {
  const char *name;
  rheos_graph *graph;    // the body; kept by the library
  rheos__edge *args;     // the outputs of its argument nodes, by index
  rheos__edge *results;  // what its result nodes take, by index
  int32_t *targets;      // what else a call runs: what has effects, and what the function lists
  int32_t num_args, num_results, num_targets;
  bool is_never_inlined;    // as its definition says: attribute _noinline
  _Atomic int8_t holds;     // what rheos__node_holds() found out of its nodes; 0: not asked
  _Atomic bool is_removed;  // from the library; who calls it still may go on
} rheos__function;

// A function that was made by a program, not read from a file: how its definition calls what it
// has.
typedef struct rheos__made_function {
  rheos__function function;  // its name is the library's
  const char *const *arg_names, *const *result_names;
  const char *const *control_names;  // of the first targets
  int32_t num_controls;
  bool is_stateful;
  const rheos__attrs *attrs;  // its own
  rheos__op_def *op;          // its name as an op; the library's
} rheos__made_function;

// Puts a function, in the memory of its graph, into the library of `graph`, which keeps that graph;
// it becomes an op of `graph`. RHEOS_INVALID_ARGUMENT if there is an op of that name.
rheos_status *rheos__library_add(rheos_graph *graph, rheos__made_function *made);
// Takes one out, as it is or read from a file. Its body goes with the last that uses it.
rheos_status *rheos__library_remove(rheos_graph *graph, const char *name);
// The functions that were added, in order; NULL past the last. The library's graph is locked.
const rheos__made_function *rheos__library_made_at(const rheos_graph *graph, size_t index);
// Whether it has a function of that name, made or read. The library's graph is locked.
bool rheos__library_has(rheos_graph *graph, const char *name);
// NULL if none has the name.
const rheos__made_function *rheos__library_find_made(const rheos_graph *graph, const char *name);
// Says which function of the library gives the gradient of another: for its arguments and a
// gradient for each of its results, one for each argument. `is_made`: by the program, not by a
// file.
rheos_status *rheos__library_set_gradient(rheos_graph *graph, const char *function,
                                          const char *gradient, bool is_made);
// NULL: nothing was said.
const char *rheos__library_gradient_of(const rheos_graph *graph, const char *function);
// The gradients that the program said, in order; false past the last. The library's graph is
// locked.
bool rheos__library_made_gradient_at(const rheos_graph *graph, size_t index,
                                     const char **out_function, const char **out_gradient);
// What SymbolicGradient calls: the function that was said, or one made of the gradients of the
// body's operations (zeros for arguments that have none).
rheos_status *rheos__symbolic_gradient(rheos_graph *graph, const rheos_func *func,
                                       const rheos__function **out_function);
// The error for a second function of a name.
rheos_status *rheos__other_function(const char *name);

// A graph of its own whose operations find functions in the library of `graph`, which outlives it,
// as a body's do; it is in no library. NULL when memory is short.
rheos_graph *rheos__graph_new_within(rheos_graph *graph);

// The graph whose library a body's function is in; of others the graph itself.
rheos_graph *rheos__library_graph(rheos_graph *graph);

// Whether a call runs the node, whoever needs its outputs.
bool rheos__has_effects(const rheos__node *node);

// How a step may be held up at the node, which calls functions perhaps at whose nodes it may.
enum { RHEOS__HELD_BY_WAITING = 1, RHEOS__HELD_BY_PROGRAM = 2, RHEOS__HAS_LOOSE_EFFECTS = 4 };
unsigned rheos__node_holds(rheos_graph *graph, const rheos__node *node);
static inline bool rheos__node_may_wait(rheos_graph *graph, const rheos__node *node) {
  return (rheos__node_holds(graph, node) & RHEOS__HELD_BY_WAITING) != 0;
}

// Of an op that is a function's name: its inputs are the arguments, its outputs the results, its
// attributes the function's.
rheos_status *rheos__prepare_call_by_name(rheos__prepare *p);
void rheos__gradient_call_by_name(rheos__grad *g);

// Fills in the body of `func`: nodes of `function->graph`, which is empty, and the first targets,
// in that graph's memory. RHEOS_NOT_FOUND if the library does not have it. The library's graph is
// locked.
typedef rheos_status *(*rheos__make_body)(rheos_graph *graph, const rheos_func *func,
                                          rheos__function *function);
rheos_status *rheos__graph_set_body_maker(rheos_graph *graph, rheos__make_body make_body);

// The function of that name and with those values of its attributes in the library of `graph` (of a
// body: that of the graph which the function is of). It lives until it is removed, its struct as
// long as that graph.
rheos_status *rheos__graph_function(rheos_graph *graph, const rheos_func *func,
                                    const rheos__function **out_function);

// The dtype of an argument, of a result.
rheos_dtype rheos__function_arg_dtype(const rheos__function *function, int32_t arg);
rheos_dtype rheos__function_result_dtype(const rheos__function *function, int32_t result);

void rheos__library_free(rheos_graph *graph);

#endif  // RHEOS_SRC_GRAPH_LIBRARY_H
