// What a saver's restore asks of a checkpoint, read off the graph.
#ifndef RHEOS_SRC_TRAIN_RESTORING_H
#define RHEOS_SRC_TRAIN_RESTORING_H

#include <rheos/format.h>
#include <rheos/train.h>

// Collects what a group of restoring operations wants; the arrays are for rheos__free().
typedef struct rheos__wants {
  rheos_wanted_tensor *items;
  size_t count, capacity;
  rheos_operation *restores;  // the RestoreV2 nodes, each once
  size_t num_restores, restores_capacity;
  rheos_operation *todo;  // control inputs to look at
  size_t num_todo, todo_capacity;
} rheos__wants;

rheos_status *rheos__wants_collect(rheos__wants *wants, rheos_operation restore);
void rheos__wants_deinit(rheos__wants *wants);

// The shape of the whole that a part's text tells ("5 2 3,2:0,2"); unknown if it tells none.
rheos_shape rheos__whole_shape(const rheos_string *text);

// The prefix of a checkpoint as the tensor that is fed for it.
rheos_status *rheos__prefix_tensor(const char *prefix, rheos_tensor **out_tensor);

// Restores from a checkpoint that TensorFlow 2 wrote by objects: by the names of the variables.
// `*out_is_by_objects` is false, and nothing is done, if it is not one.
rheos_status *rheos__restore_by_objects(rheos_saver saver, rheos_session *session,
                                        const char *prefix, bool *out_is_by_objects);

#endif  // RHEOS_SRC_TRAIN_RESTORING_H
