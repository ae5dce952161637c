// What the files of the import share: a GraphDef on its way into a graph. graph_import.c has the
// whole, graph_import_names.c names and inputs, graph_import_node.c a node, graph_import_unknown.c
// nodes of ops that are not known.
#ifndef RHEOS_SRC_FORMAT_GRAPH_GRAPH_IMPORT_H
#define RHEOS_SRC_FORMAT_GRAPH_GRAPH_IMPORT_H

#include "format/graph/graph_extras.h"
#include "format/graph/graph_outline.h"

enum { RHEOS__NOT_ADDED = -1 };  // the id of a node that is not in the graph yet

// Where a node of an op that is not known is an input.
typedef struct rheos__import_use {
  int32_t node, input;  // the node that takes it, and as which input
  int32_t index;        // the output taken
  int32_t next;         // the next use of the same node, -1: none
} rheos__import_use;

// An input as it is written: "x", "x:1" or "^x".
typedef struct rheos__input_ref {
  const char *name;
  size_t name_bytes;
  int32_t index;  // -1: control
} rheos__input_ref;

// Where an input comes from: a node of the file, or a mapping.
typedef struct rheos__import_source {
  int32_t node;
  int32_t index;  // -1: control
  rheos_import_mapping *mapping;
} rheos__import_source;

// A node by its name: open addressing, -1: free.
typedef struct rheos__name_slot {
  uint32_t hash;
  int32_t node;
} rheos__name_slot;

// A node that takes its device from another, if that has one.
typedef struct rheos__colocation {
  int32_t node, other;
  struct rheos__colocation *next;
} rheos__colocation;

// The frame of a loop, as the file and as the graph calls it.
typedef struct rheos__import_frame {
  rheos_string written;
  const char *name;  // interned
  struct rheos__import_frame *next;
} rheos__import_frame;

typedef struct rheos__import {
  rheos_scope *scope;
  rheos_graph *graph;
  const char *prefix;
  rheos_import_mapping *input_map;
  size_t num_mappings;
  rheos__input_ref *mapping_refs;  // what they map
  rheos_import_element *elements;  // to return
  size_t num_elements;
  bool keep_unknown_ops, clear_devices, colocated_devices, any_colocation;
  rheos__colocation *colocations, **last_colocation;  // of nodes that were added, in their order
  Tensorflow__OpDef **ops;  // of the program that wrote the graph, by name
  size_t num_ops;
  const Tensorflow__GraphDef *def;  // its nodes without attributes and what is rarer
  const rheos__wire *node_bytes;    // of each node, all of it
  int32_t producer;
  int32_t num_nodes;
  int32_t *ids;    // of each node in the graph
  int32_t *order;  // in which they are added
  bool has_loops;
  rheos__import_frame *frames;  // the last one met first
  rheos__import_use *uses;      // NULL: all ops are known
  int32_t *first_uses;          // of each node, -1: none
  rheos__name_slot *slots;
  size_t num_slots;  // a power of two
  bool uniquify_names;
  const char **names;              // of each node, where it gets another one than it has; or NULL
  rheos__import_source **sources;  // of each node's inputs
  rheos__arena scratch;            // of the node that is being added
  rheos__arena arena;
} rheos__import;

// What is read of one node, in one arena.
typedef struct rheos__new_node {
  const Tensorflow__NodeDef *def;  // with everything
  rheos__arena *arena;
  const rheos__signature *signature;  // NULL: that of the op
  rheos_output *inputs;
  size_t num_inputs;
  rheos_operation *controls;
  size_t num_controls;
  rheos_attr *attrs;
  size_t num_attrs;
} rheos__new_node;

// ---- Names

bool rheos__import_parse_input(const char *text, rheos__input_ref *out_ref);

// Makes the slots of all nodes; two of one name are an error.
rheos_status *rheos__import_index_names(rheos__import *im);
// The slot of the name: free, or with a node of that name.
rheos__name_slot *rheos__import_slot_of(rheos__import *im, const char *name, size_t name_bytes);

// Finds other names for nodes whose own are in use in the graph.
rheos_status *rheos__import_choose_names(rheos__import *im);
// The node's name without the prefix.
const char *rheos__import_local_name(const rheos__import *im, int32_t node);
// "name", or below the prefix "prefix/name"; then `tail`. NULL when memory is short.
char *rheos__import_full_name(const rheos__import *im, const char *name, const char *tail,
                              rheos__arena *arena);

// The mapping for that input, NULL if there is none.
rheos_import_mapping *rheos__import_mapping_of(const rheos__import *im,
                                               const rheos__input_ref *ref);
// Finds the sources of all inputs.
rheos_status *rheos__import_resolve_inputs(rheos__import *im);

// ---- Nodes of unknown ops

// Whether nothing tells what the node's inputs and outputs are.
bool rheos__import_is_unknown(const rheos__import *im, int32_t node);
// RHEOS_NOT_FOUND with all ops that are missing, unless these are kept.
rheos_status *rheos__import_check_ops(rheos__import *im, bool *out_any_unknown);
// Notes who takes what from nodes of unknown ops.
rheos_status *rheos__import_find_uses(rheos__import *im);
// As many outputs as others take or as have shapes, of the dtypes that others ask for.
rheos_status *rheos__import_guess_signature(const rheos__import *im, int32_t node,
                                            rheos__new_node *n);

// ---- Nodes

// A node with its attributes.
rheos_status *rheos__import_whole_node(const rheos__import *im, int32_t node, rheos__arena *arena,
                                       const Tensorflow__NodeDef **out_def);
// NULL if the node does not have it.
const Tensorflow__AttrValue *rheos__import_attr_named(const Tensorflow__NodeDef *def,
                                                      const char *name);
// What the file says of the shapes of the node's outputs; NULL if it does not.
const Tensorflow__AttrValue__ListValue *rheos__import_written_shapes(
    const Tensorflow__NodeDef *def);

// Whether a loop closes there: from a NextIteration to the Merge `def`.
bool rheos__import_is_way_back(const rheos__import *im, const Tensorflow__NodeDef *def,
                               const rheos__import_source *from);
// Adds a node whose inputs are there, but for ways back. Errors go to the scope.
void rheos__import_add_node(rheos__import *im, int32_t node);
// Gives nodes the devices of those they are colocated with.
rheos_status *rheos__import_take_devices(rheos__import *im);
// Puts the ways back of loops in place.
rheos_status *rheos__import_close_loops(rheos__import *im);

#endif  // RHEOS_SRC_FORMAT_GRAPH_GRAPH_IMPORT_H
