// What training keeps with a graph: its variables, their shared names, the slots of optimizers.
#ifndef RHEOS_SRC_TRAIN_VARIABLES_H
#define RHEOS_SRC_TRAIN_VARIABLES_H

#include <rheos/train.h>

#include "graph/build.h"
#include "graph/graph.h"

// NULL if all are variables of the graph; else an error that names the first that is not. Gradients
// may be none, and their parts too.
rheos_status *rheos__check_variables(const rheos_graph *graph, const rheos_variable *variables,
                                     size_t count);
rheos_status *rheos__check_gradients(const rheos_graph *graph, const rheos_gradient *gradients,
                                     size_t count);

// A table from byte strings to indices: open addressing, filled at most half.
typedef struct rheos__index_table {
  struct rheos__index_entry {
    char *key;
    size_t size_bytes;
    int32_t value;
  } *entries;
  size_t count, capacity;
} rheos__index_table;

// -1 if the key is not there.
int32_t rheos__index_find(const rheos__index_table *table, const void *key, size_t size_bytes);
// Sets the value of a key; false when memory is short.
bool rheos__index_set(rheos__index_table *table, const void *key, size_t size_bytes, int32_t value);

// Only touched while the graph is locked.
typedef struct rheos__train {
  rheos_variable *variables;
  size_t num_variables, variables_capacity;
  bool use_resource;           // for shared variables
  rheos__index_table by_node;  // handles and reads
  rheos__index_table by_name;  // shared names
  rheos__index_table slots;    // see slots.c
  // The variables that are parts of a whole, by node.
  rheos__index_table by_part;
  struct rheos__part {
    char *full_name, *shape_and_slice;
  } *parts;
  size_t num_parts, parts_capacity;
} rheos__train;

// Made on first use; NULL when memory is short.
rheos__train *rheos__train_of(rheos_graph *graph);

// From now on the variable starts with `value`, which `initializer` assigns. The graph is locked.
void rheos__variable_start_with(rheos_variable variable, rheos_output value,
                                rheos_operation initializer);

// ---- Making variables

typedef struct rheos__new_variable {
  const char *name;  // with "/" at its end it is the name as it stands, in no matter which scope
  rheos_dtype dtype;
  rheos_shape shape;
  const rheos_initializer *initializer;  // NULL: `initial_value`
  rheos_output initial_value;
  bool own_class;  // initializer and variable are colocated with the variable (get_variable)
  bool trainable, any_shape, is_local, no_collections, use_resource;
  const char *caching_device;
} rheos__new_variable;

// Clears control dependencies, opens the variable's name scope and makes its nodes.
rheos_variable rheos__make_variable(rheos_scope *s, const rheos__new_variable *args);

// The nodes of an initializer, in the name scope that is open.
rheos_output rheos__initial_value(rheos_scope *s, const rheos_initializer *initializer,
                                  rheos_dtype dtype, const rheos_shape *shape);

// ---- Text in Python's words, for messages: fresh strings for rheos__free(); NULL: no memory

// Const:0
char *rheos__name_of_output(rheos_output output);
// Tensor("Const:0", shape=(), dtype=float32)
char *rheos__output_text(rheos_output output);
// ["<tf.Variable 'w:0' shape=(2, 3) dtype=float32_ref>", ...]
char *rheos__variables_text(const rheos_variable *variables, size_t count);
// (2, ?), <unknown>
typedef struct rheos__tuple_text {
  char text[224];
} rheos__tuple_text;
const char *rheos__tuple_text_of(const rheos_shape *shape, rheos__tuple_text *buffer);

#endif  // RHEOS_SRC_TRAIN_VARIABLES_H
