// Nodes as messages that take a value where others took the variable that had it; all lies in the
// arena.
#ifndef RHEOS_SRC_FORMAT_GRAPH_FREEZE_NODES_H
#define RHEOS_SRC_FORMAT_GRAPH_FREEZE_NODES_H

#include "format/graph/graph_edit.h"

bool rheos__is_one_of(const char *op, const char *const *list);
extern const char *const rheos__reading_ops[];
// Ops that have the handle as their output. Of a reference only what is read goes further.
extern const char *const rheos__passing_ops[];

rheos_status *rheos__freeze_new_node(rheos__arena *arena, const char *name, const char *op,
                                     size_t num_attrs, Tensorflow__NodeDef **out_node);
// The node has room for it.
rheos_status *rheos__freeze_add_attr(rheos__arena *arena, Tensorflow__NodeDef *node,
                                     const char *name, Tensorflow__AttrValue *value);
rheos_status *rheos__freeze_add_type(rheos__arena *arena, Tensorflow__NodeDef *node,
                                     const char *name, rheos_dtype dtype);
// In place of a ReadVariableOp.
rheos_status *rheos__freeze_identity(rheos__arena *arena, const Tensorflow__NodeDef *read,
                                     Tensorflow__AttrValue *dtype_of_variable,
                                     Tensorflow__NodeDef **out_node);
// In place of a ResourceGather or ResourceGatherNd; with the axis, a node of its own, or NULL.
rheos_status *rheos__freeze_gather(rheos__arena *arena, const Tensorflow__NodeDef *read,
                                   Tensorflow__AttrValue *dtype_of_variable,
                                   Tensorflow__NodeDef **out_node, Tensorflow__NodeDef **out_axis);
// What passes a handle on passes the value on instead.
void rheos__freeze_retype(Tensorflow__NodeDef *node, Tensorflow__AttrValue *dtype_of_variable);

#endif  // RHEOS_SRC_FORMAT_GRAPH_FREEZE_NODES_H
