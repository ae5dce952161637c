// Short forms for code that adds many nodes: gradients, optimizers, savers. All return none after
// an error, which is in the scope.
#ifndef RHEOS_SRC_GRAPH_BUILD_H
#define RHEOS_SRC_GRAPH_BUILD_H

#include "graph/op_def.h"

static inline bool rheos__is_some(rheos_output output) { return output.graph != NULL; }

// As rheos_op(), for nodes of files: attributes that the signature does not have are kept, and with
// a signature given (in the graph's memory), it is taken instead of that of the type. A tensor
// whose dtype is not known (RHEOS_INVALID_DTYPE, of an op that is not known) fits every argument.
rheos_operation rheos__op_of_file(rheos_scope *scope, const rheos_op_args *args,
                                  const rheos__signature *signature);

// Output 0 of a new node `type` with these inputs; named `type`.
rheos_output rheos__op_1(rheos_scope *s, const char *type, rheos_output a);
rheos_output rheos__op_2(rheos_scope *s, const char *type, rheos_output a, rheos_output b);
rheos_output rheos__op_3(rheos_scope *s, const char *type, rheos_output a, rheos_output b,
                         rheos_output c);
// With attributes; name NULL: the type.
rheos_operation rheos__op_n(rheos_scope *s, const char *type, const char *name,
                            const rheos_output *inputs, size_t num_inputs, const rheos_attr *attrs,
                            size_t num_attrs);

// A constant of `dtype` with the shape given (known) and every element `value`.
rheos_output rheos__const_fill(rheos_scope *s, rheos_dtype dtype, rheos_shape shape, double value,
                               const char *name);
rheos_output rheos__const_scalar(rheos_scope *s, rheos_dtype dtype, double value, const char *name);
// An int32 vector.
rheos_output rheos__const_ints(rheos_scope *s, const int32_t *values, int64_t count,
                               const char *name);
// A string vector / scalar.
rheos_output rheos__const_strings(rheos_scope *s, const char *const *values, int64_t count,
                                  const char *name);
rheos_output rheos__const_string(rheos_scope *s, const char *value, const char *name);

rheos_output rheos__shape_of(rheos_scope *s, rheos_output x, rheos_dtype out_type);

// Gradients: out_grads[i] as a dense tensor (rows summed up if it is sparse).
rheos_output rheos__grad_dense(rheos__grad *g, int32_t i);
static inline void rheos__grad_set(rheos__grad *g, int32_t i, rheos_output value) {
  g->in_grads[i].values = value;
}

// The name of a node of the scope's graph plus a suffix, in a fresh string; NULL sets the error.
char *rheos__name_with_suffix(rheos_scope *s, rheos_operation operation, const char *suffix);

// The current variable scope of `s`: prefix ("" at the top) and reuse.
// (The scope keeps it; train/variables.c gives it its meaning.)
typedef struct rheos__variable_scope {
  const char *prefix;
  int reuse;
} rheos__variable_scope;
rheos__variable_scope rheos__scope_variable_scope(const rheos_scope *scope);
// Pushes a frame with this variable scope and no change to names; undone by rheos_scope_pop().
void rheos__push_variable_frame(rheos_scope *scope, const char *prefix, int reuse);
// Frames opened by one public push count as one pop: merges the latest frame into the one before.
void rheos__join_frames(rheos_scope *scope);

// As Python says it: float32, int64_ref.
const char *rheos__python_dtype(rheos_dtype dtype);

#endif  // RHEOS_SRC_GRAPH_BUILD_H
