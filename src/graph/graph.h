// The graph's data: append-only nodes in an arena, lazily made names, interned attributes and
// shapes.
//
// Nodes, once published, do not move or change (but for shape refinements and the few surgery
// functions below, which hold the mutex), so they are read without a lock.
#ifndef RHEOS_SRC_GRAPH_GRAPH_H
#define RHEOS_SRC_GRAPH_GRAPH_H

#include <pthread.h>
#include <stdatomic.h>

#include "graph/op_def.h"

typedef struct rheos__edge {
  int32_t id;     // the node it comes from
  int32_t index;  // its output; -1 for a control edge
} rheos__edge;

typedef struct rheos__node_output {
  const rheos_shape *shape;  // interned
  rheos_dtype dtype;         // may be a reference
} rheos__node_output;

// Under 100 bytes for an op of two inputs and one output, edges and outputs included.
typedef struct rheos__node {
  const rheos__signature *signature;
  const rheos__attrs *attrs;
  const char *device;  // interned, "" if none was asked for
  rheos__edge *edges;  // the inputs, then the control inputs
  rheos__node_output *outputs;
  uint32_t name;         // in the table of names
  uint32_t source_file;  // interned, 0: not known
  uint32_t source_line;
  int32_t num_inputs;
  int32_t num_control_inputs;
  int32_t num_outputs;
} rheos__node;

// id is below rheos_graph_num_operations().
const rheos__node *rheos__graph_node(const rheos_graph *graph, int32_t id);

// What is known of the integer vector (or scalar: rank 0 never comes back) that the edge carries,
// as a shape. False if nothing is; `out_no_memory` is set if memory was short for what constants
// come to, else left as it is.
bool rheos__partial_value(const rheos_graph *graph, rheos__edge edge, rheos_shape *out_shape,
                          bool *out_no_memory);
// All elements of such a value, a scalar or a vector; false unless all are known and they fit.
bool rheos__whole_value(const rheos_graph *graph, rheos__edge edge, int64_t *values,
                        int32_t capacity, int32_t *out_count);

// The declared shape of the variable, or of the values of the table, that the edge carries a handle
// of, found by following the graph backwards to where it is made, so that nodes need not keep it;
// NULL if it is not found. Borrowed.
const rheos_shape *rheos__handle_shape(const rheos_graph *graph, rheos__edge edge,
                                       rheos_shape *room);

// Whether this pair of shapes is noted for the first time for that purpose.
enum { RHEOS__BROADCAST_SHAPES, RHEOS__REDUCED_SHAPES };
rheos_status *rheos__graph_note_shapes(rheos_graph *graph, int purpose, const rheos_shape *x,
                                       const rheos_shape *y, bool *out_first);

// Grows with every change to a node that was already there (surgery, refined shapes), not with
// nodes added: a plan stays good while the graph grows.
int64_t rheos__graph_num_changes(const rheos_graph *graph);

// Held while nodes are added; recursive.
void rheos__graph_lock(rheos_graph *graph);
void rheos__graph_unlock(rheos_graph *graph);
// Between the two no node is extended by another thread: who makes a plan or a segment looks at the
// edges, attributes and outputs of nodes. They nest; who extends holds neither the mutex nor what a
// reader waits for.
void rheos__graph_begin_reading(rheos_graph *graph);
void rheos__graph_end_reading(rheos_graph *graph);

// The name in a fresh string for rheos__free(); NULL when memory is short.
char *rheos__node_name(const rheos_graph *graph, const rheos__node *node);

// Adds node and source line to an error.
rheos_status *rheos__status_at_take(rheos_status *status, const rheos_graph *graph, int32_t id);
// Adds the node, a loop or the like, of which what failed is the part `role`: base/status_within.h.
rheos_status *rheos__status_within_node_take(rheos_status *status, const char *role,
                                             const rheos_graph *graph, int32_t id);

// Surgery
rheos_status *rheos__graph_set_input(rheos_graph *graph, int32_t id, int32_t input,
                                     rheos__edge edge);
// The way back of a loop, into input `input` of a Merge: see rheos_operation_close_loop().
rheos_status *rheos__graph_close_loop(rheos_graph *graph, int32_t id, int32_t input,
                                      rheos__edge next);
// More inputs and outputs for a node that calls functions, behind those that it has, and other
// values of its attributes, which stand for the signature: gradients have the call give more than
// it did.
typedef struct rheos__extension {
  const rheos_attr *attrs;
  size_t num_attrs;
  const rheos_output *inputs;
  size_t num_inputs;
  const rheos_dtype *output_dtypes;
  const rheos_shape *output_shapes;
  size_t num_outputs;
} rheos__extension;
rheos_status *rheos__graph_extend_node(rheos_graph *graph, int32_t id,
                                       const rheos__extension *extension);

// Ops that only this graph has, beside those of the table: the functions of its library and what a
// file defined. The graph is locked. What is added lies in the graph's memory
// (rheos__graph_alloc(): zeroed, freed with the graph) and replaces what had its name.
void *rheos__graph_alloc(rheos_graph *graph, size_t size_bytes);
rheos_status *rheos__graph_add_signature(rheos_graph *graph, const rheos__signature *signature);
// Of the table or the graph (of a body: also of the graph whose library it is in); NULL if there is
// none.
const rheos__signature *rheos__graph_signature(rheos_graph *graph, const char *type);

// Room for a layer above to keep data with the graph (train keeps its variables here, format what
// only files know). The slot is freed by `release` with the graph. `forget` (NULL: nothing to do)
// is told of a function that the library is about to lose.
struct rheos__function;
typedef struct rheos__graph_slot {
  void *data;
  void (*release)(void *data);
  void (*forget)(rheos_graph *graph, const struct rheos__function *function);
} rheos__graph_slot;
rheos__graph_slot *rheos__graph_train_slot(rheos_graph *graph);
rheos__graph_slot *rheos__graph_autodiff_slot(rheos_graph *graph);
rheos__graph_slot *rheos__graph_format_slot(rheos_graph *graph);

// Bytes held by the graph, for measurements.
size_t rheos__graph_size_bytes(const rheos_graph *graph);

// The seeds TensorFlow gives an op: has_op_seed false means the caller asked for none. Counts the
// graph's nodes as TensorFlow does (op seed = number of operations so far, if only the graph has
// one).
void rheos__graph_op_seeds(rheos_graph *graph, bool has_op_seed, int64_t op_seed, int64_t *out_seed,
                           int64_t *out_seed2);

#endif  // RHEOS_SRC_GRAPH_GRAPH_H
