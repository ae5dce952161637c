// The inside of graphs and scopes, for the files of this folder only.
#ifndef RHEOS_SRC_GRAPH_GRAPH_IMPL_H
#define RHEOS_SRC_GRAPH_GRAPH_IMPL_H

#include <rheos/collections.h>
#include <rheos/function.h>

#include "graph/consumers.h"
#include "graph/control_context.h"
#include "graph/device_name.h"
#include "graph/graph.h"
#include "graph/names.h"

typedef struct rheos__library rheos__library;  // library.h

typedef struct rheos__collection {
  const char *key;
  rheos_item *items;
  size_t capacity, count;
} rheos__collection;

// A set of pointers into the arena, by the hash of what they point to; at most half full.
typedef struct rheos__intern_set {
  const void **slots;
  size_t num_slots, count;
} rheos__intern_set;

enum { RHEOS__CHUNK_BITS = 7, RHEOS__CHUNK_NODES = 1 << RHEOS__CHUNK_BITS };

// What the latest node of an op came to whose attributes and shapes follow from its inputs alone:
// the next one mostly is like it.
enum { RHEOS__RECALLED = 16, RHEOS__RECALLED_INPUTS = 3 };
typedef struct rheos__recalled {
  const rheos__signature *signature;  // NULL: nothing here
  int32_t num_inputs;
  rheos__node_output inputs[RHEOS__RECALLED_INPUTS];
  const rheos__attrs *attrs;
  rheos__node_output output;
} rheos__recalled;

struct rheos_graph {
  _Atomic int32_t references;
  pthread_mutex_t mutex;  // recursive; guards all that follows against writers
  // Who extends a node waits until nobody reads. Readers are counted, they hold no lock: they nest
  // and wait for plans and bodies in whatever order these come.
  pthread_mutex_t extending;  // taken before the mutex
  pthread_cond_t no_reader;
  int num_readers;
  // Nodes live in chunks of the arena, which stay where they are. The directory of chunks is
  // replaced when it is full; old ones stay in the arena for readers that still look at them.
  _Atomic(rheos__node **) directory;
  size_t directory_capacity, num_chunks;
  _Atomic int32_t num_nodes;  // published last
  _Atomic int64_t num_changes;
  rheos__arena arena;  // nodes, edges, outputs, attributes, shapes, texts
  rheos__names names;
  rheos__interner strings;  // files, devices, keys
  rheos__intern_set shapes, attr_sets, own_ops;
  rheos__collection *collections;
  size_t collections_capacity, num_collections;
  struct rheos__shape_pair {
    int purpose;
    const rheos_shape *x, *y;
  } *shape_pairs;  // interned
  size_t shape_pair_capacity, num_shape_pairs;
  bool has_seed;
  int64_t seed;
  rheos__graph_slot train_slot, autodiff_slot, format_slot;
  rheos__contexts contexts;
  rheos__library *library;  // NULL: no functions; in the arena
  rheos_function *builder;  // of a body that a program builds; NULL: none, or it is freed
  rheos_graph *outer;  // of a function's body: the graph whose library it is of, which outlives it
  // Of such a body: the functions of the program that its nodes name, which it calls also when they
  // have left the library. In the arena, but for a reference to the graph of each.
  const struct rheos__function **called;
  size_t num_called;
  rheos_graph *next_to_free;                  // while it is freed
  rheos__recalled recalled[RHEOS__RECALLED];  // by the op
  rheos__consumers consumers;
  const rheos__signature *const_signature;  // of "Const", NULL if there is no such op
};

// An interned copy; NULL when memory is short.
const rheos_shape *rheos__intern_shape(rheos_graph *graph, const rheos_shape *shape);
const char *rheos__intern_text(rheos_graph *graph, const char *text, size_t length);
// `items` are in their final order; their names are the signature's or interned by the graph.
const rheos__attrs *rheos__intern_attrs(rheos_graph *graph, const rheos_attr *items, int32_t count);
void rheos__attrs_release(const rheos__attrs *attrs);  // the tensors in it

// Finds the pointer for which `same` holds, or the slot for it; NULL when memory is short.
const void **rheos__intern_slot(rheos__intern_set *set, uint64_t hash,
                                bool (*same)(const void *candidate, const void *wanted),
                                uint64_t (*hash_of)(const void *candidate), const void *wanted);

// As rheos__intern_slot(), without room for a new pointer; NULL if the set has no slots at all.
const void **rheos__intern_find(const rheos__intern_set *set, uint64_t hash,
                                bool (*same)(const void *candidate, const void *wanted),
                                const void *wanted);

// A way back now comes into input `input` of the Merge `id`: shapes of it and of what follows from
// it become what holds in every trip. The graph is locked.
rheos_status *rheos__graph_relax_from(rheos_graph *graph, int32_t id);  // whatever came
rheos_status *rheos__graph_relax(rheos_graph *graph, int32_t id, int32_t input);

// A node of the graph, to be changed while it is locked.
rheos__node *rheos__node_at(const rheos_graph *graph, int32_t id);
// What is behind a handle; NULL for none, and for what the graph does not have.
const rheos__node *rheos__node_of(rheos_operation operation);
rheos__node_output *rheos__output_of(rheos_output output);

// Counts a change, after which plans of the graph are looked at anew.
void rheos__graph_changed(rheos_graph *graph);

// What a value of a Const node is; NULL for other nodes.
rheos_tensor *rheos__const_value(const rheos_graph *graph, rheos__edge edge);

// Room for one more node, so that the next rheos__graph_publish() cannot fail.
bool rheos__graph_reserve_node(rheos_graph *graph);
int32_t rheos__graph_publish(rheos_graph *graph, const rheos__node *node);

// Changes to a node whose builder is not done with it, which no plan can know: they do not count as
// changes. The edge has the dtype of the one before.
void rheos__graph_rewire(rheos_graph *graph, int32_t id, int32_t input, rheos__edge edge);
// Adds those of `ids` that are no control inputs of the node yet; false when memory is short.
bool rheos__graph_add_controls(rheos_graph *graph, int32_t id, const int32_t *ids, size_t count);
// Leaves it no control inputs but these, which it has.
void rheos__graph_keep_controls(rheos_graph *graph, int32_t id, const int32_t *ids, size_t count);

// The node becomes a NoOp that waits also for these, whatever it was. Nobody takes what it gave.
// The graph is locked.
rheos_status *rheos__graph_become_no_op(rheos_graph *graph, int32_t id, const int32_t *ids,
                                        size_t count);

// ---- Scopes

// The canonical, interned text of `inner` within `outer`. The graph is locked.
rheos_status *rheos__merge_device(rheos_graph *graph, const char *outer, const char *inner,
                                  const char **out_device);

// Operations made inside wait for these, unless an input of theirs was made inside too.
typedef struct rheos__controller {
  int32_t *inputs;  // node ids
  size_t num_inputs;
  struct rheos__id_range {
    int32_t first, last;
  } *seen;  // nodes made inside, ascending
  size_t seen_capacity, num_seen;
} rheos__controller;

typedef struct rheos__scope_attr {
  const struct rheos__scope_attr *outer;
  const char *op_type;  // interned; NULL: operations of any type
  rheos_attr attr;
} rheos__scope_attr;

// What a push changes and a pop brings back.
typedef struct rheos__scope_state {
  uint32_t name;       // entry of the names
  const char *device;  // interned
  size_t first_controller, num_controllers;
  const rheos_string *colocation;  // the list for `_class`, in the graph's arena
  int32_t num_colocation;
  const char *colocation_device;   // of what it is colocated with: stronger than `device`, or NULL
  const rheos__scope_attr *attrs;  // innermost first, in the graph's arena
  const char *variable_prefix;     // interned
  int variable_reuse;
  rheos_control_context *context;  // NULL: none
} rheos__scope_state;

struct rheos_scope {
  rheos_graph *graph;
  rheos_status *status;
  rheos__scope_state now;
  rheos__scope_state *saved;
  size_t saved_capacity, num_saved;
  size_t num_unsaved;  // pushes for which there was no memory: their pops do nothing
  rheos__controller *controllers;
  size_t controllers_capacity, num_controllers;
  const char *source_file;  // interned, NULL: not known
  uint32_t source_file_number, source_line;
  bool takes_internal_names;
  bool takes_any_name;  // rheos_scope_take_any_name()
};

// From now on operations may be called "_x" too, as those are that TensorFlow adds to graphs.
static inline void rheos__scope_take_internal_names(rheos_scope *scope) {
  scope->takes_internal_names = true;
}

// Whether inputs of an operation to be added come from outside of the function whose body it is
// for; what stands for all of them inside, in a fresh array: NULL with an error in the scope.
bool rheos__captures_inputs(const rheos_scope *scope, const rheos_op_args *args);
rheos_output *rheos__capture_inputs(rheos_scope *scope, const rheos_op_args *args);

// A frame that changes nothing, and one inside the name of that entry.
void rheos__push_unchanged(rheos_scope *scope);
void rheos__push_name(rheos_scope *scope, uint32_t entry);

// The control inputs that an operation with these inputs gets; `ids` holds the number of
// rheos__scope_max_controls().
size_t rheos__scope_max_controls(const rheos_scope *scope);
size_t rheos__scope_controls(const rheos_scope *scope, const rheos_output *inputs,
                             size_t num_inputs, int32_t *ids);
// Room to record one more node; false when memory is short.
bool rheos__scope_reserve_seen(rheos_scope *scope);
void rheos__scope_record(rheos_scope *scope, int32_t id);

#endif  // RHEOS_SRC_GRAPH_GRAPH_IMPL_H
