// Functions of a graph's library that take values where they took variables. A function is changed
// where it lies, once: all of its calls that stay give it values for the same arguments.
#ifndef RHEOS_SRC_FORMAT_GRAPH_FREEZE_FUNCTIONS_H
#define RHEOS_SRC_FORMAT_GRAPH_FREEZE_FUNCTIONS_H

#include "format/graph/graph_edit.h"

typedef struct rheos__frozen_functions {
  Tensorflow__GraphDef *def;
  rheos__arena *arena;
  rheos__named_node *by_name;  // the functions, sorted
  size_t count;
  Tensorflow__AttrValue ***dtypes;  // by function: by argument what its value is; NULL: not changed
  int32_t *queue;                   // functions to change, each once
  size_t queue_first, queue_last;
} rheos__frozen_functions;

// What the arena of the edit has is there as long as that; deinit is due in any case.
rheos_status *rheos__frozen_functions_init(rheos__frozen_functions *f, rheos__graph_edit *edit);
void rheos__frozen_functions_deinit(rheos__frozen_functions *f);

// Whether the node calls functions that could be given values. `input`: one of its data inputs.
bool rheos__can_give_value(const rheos__frozen_functions *f, const Tensorflow__NodeDef *node,
                           size_t input);
// The node is given values for the inputs whose dtypes[] are not NULL.
rheos_status *rheos__give_values(rheos__frozen_functions *f, Tensorflow__NodeDef *node,
                                 Tensorflow__AttrValue *const *dtypes, size_t num_inputs);
// Changes all functions that are given values, and drops those that nothing calls any more.
rheos_status *rheos__frozen_functions_finish(rheos__frozen_functions *f);

#endif  // RHEOS_SRC_FORMAT_GRAPH_FREEZE_FUNCTIONS_H
