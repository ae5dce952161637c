// What several op families share: types in signatures, shape checks, nodes of gradients.
#ifndef RHEOS_SRC_OPS_KIT_OP_UTIL_H
#define RHEOS_SRC_OPS_KIT_OP_UTIL_H

#include "graph/build.h"
#include "graph/graph.h"

// ---- Gradients
//
// TensorFlow's Python operators name their nodes by the operator ("mul"), its functions by the op
// ("Mul"), and constants among the arguments by the argument ("mul/y"). Gradient functions here
// build the same nodes under the same names.

// A node of two inputs under a name of its own.
rheos_output rheos__named_2(rheos_scope *s, const char *type, const char *name, rheos_output a,
                            rheos_output b);

// Python's operators: "mul", "sub", "add", "truediv", "floordiv", "mod".
static inline rheos_output rheos__py_mul(rheos_scope *s, rheos_output a, rheos_output b) {
  return rheos__named_2(s, "Mul", "mul", a, b);
}
static inline rheos_output rheos__py_sub(rheos_scope *s, rheos_output a, rheos_output b) {
  return rheos__named_2(s, "Sub", "sub", a, b);
}
static inline rheos_output rheos__py_add(rheos_scope *s, rheos_output a, rheos_output b) {
  return rheos__named_2(s, "AddV2", "add", a, b);
}
static inline rheos_output rheos__py_div(rheos_scope *s, rheos_output a, rheos_output b) {
  return rheos__named_2(s, "RealDiv", "truediv", a, b);
}

// x OP value, and value OP x: the constant "NAME/y" or "NAME/x", then the node NAME.
rheos_output rheos__op_with_number(rheos_scope *s, const char *type, const char *name,
                                   rheos_output x, double value);
rheos_output rheos__op_of_number(rheos_scope *s, const char *type, const char *name, double value,
                                 rheos_output x);

// Opens the name scope NAME for a node and the constants among its arguments; `out_scope` gets the
// name for the node ("a/NAME/"). Undone by rheos_scope_pop().
typedef struct rheos__node_scope {
  char name[1024];
} rheos__node_scope;
void rheos__push_node_scope(rheos_scope *s, const char *name, rheos__node_scope *out_scope);

// Sum over `axes`, an int32 vector that becomes the constant "Sum/reduction_indices" (a scalar if
// `num_axes` is -1: the axis -1), or over a tensor of axes.
rheos_output rheos__sum_axes(rheos_scope *s, rheos_output x, const int32_t *axes, int32_t num_axes,
                             bool keep_dims);
rheos_output rheos__sum_over(rheos_scope *s, rheos_output x, rheos_output axes, bool keep_dims);
// Reshape or Tile by constants: "Reshape/shape", "Tile/multiples".
rheos_output rheos__reshape_to(rheos_scope *s, rheos_output x, const rheos_shape *shape);
rheos_output rheos__tile_by(rheos_scope *s, rheos_output x, const rheos_shape *multiples);
// range(0, limit) of int32: "range" with the constants "range/start" and "range/delta".
rheos_output rheos__py_range(rheos_scope *s, rheos_output limit);
// vector[0], as "strided_slice".
rheos_output rheos__first_element(rheos_scope *s, rheos_output vector);
// Indices of sparse gradients of both widths are brought to int64.
void rheos__unify_indices(rheos_scope *s, rheos_gradient *gradients, size_t count);
// The node Shape itself, also where the shape is known.
rheos_output rheos__shape_node(rheos_scope *s, rheos_output x);
// Cast, or x itself if it has that dtype.
rheos_output rheos__cast_to(rheos_scope *s, rheos_output x, rheos_dtype dtype);
// zeros(dims) of an int32 vector, also where that is not known to be one.
rheos_output rheos__zeros_filled(rheos_scope *s, rheos_output dims, rheos_dtype dtype);
// zeros(shape(x)): a constant where the shape is known.
rheos_output rheos__zeros_of_shape(rheos_scope *s, rheos_output x);
// The conjugate of complex numbers; others as they are.
rheos_output rheos__conj(rheos_scope *s, rheos_output x);
// ones_like(x): a Fill. zeros_like(x): a constant where the shape is known, else ZerosLike.
rheos_output rheos__ones_like(rheos_scope *s, rheos_output x);
rheos_output rheos__zeros_like(rheos_scope *s, rheos_output x);

// The shape of the variable behind a handle, int32: a constant where it is known, else
// VariableShape.
rheos_output rheos__variable_shape(rheos_scope *s, rheos_output handle);

// Nodes made until the pop wait for the gradient that arrived at output 0.
void rheos__push_after_grad(rheos__grad *g);

// How the gradient of a broadcast op goes back to the shape of each operand.
typedef struct rheos__unbroadcast {
  bool reduce[2];         // whether anything is to be done
  bool is_static;         // shapes and axes are constants
  rheos_shape shapes[2];  // if static
  int32_t num_axes[2], axes[2][RHEOS_MAX_RANK];
  rheos_output shape_nodes[2], axes_nodes[2];  // else
} rheos__unbroadcast;

// For a binary op of inputs x and y with an output of the shape of `grad`. The first form knows
// what need not be reduced where shapes are known (TensorFlow's gradients of Add, Sub, Mul, Pow and
// SquaredDifference do so), the second always reduces.
rheos__unbroadcast rheos__unbroadcast_known(rheos_scope *s, rheos_output x, rheos_output y,
                                            rheos_output grad);
rheos__unbroadcast rheos__unbroadcast_always(rheos_scope *s, rheos_output x, rheos_output y);
// `value` summed up to the shape of operand 0 or 1.
rheos_output rheos__unbroadcast_to(rheos_scope *s, const rheos__unbroadcast *u, int operand,
                                   rheos_output value);

// Whether all three shapes are known and the same.
bool rheos__same_known_shapes(rheos_output x, rheos_output y, rheos_output grad);

// The value of a constant node; NULL for others. Borrowed from the graph.
rheos_tensor *rheos__constant_value(rheos_output output);

// ---- Kernels
// Which element of an operand of shape `from` is at element `index` of the shape `to` it is
// broadcast to: for loops that need not be fast.
int64_t rheos__broadcast_index(const rheos_shape *from, const rheos_shape *to, int64_t index);
// BiasAddGrad and others: fills in `p` for the sum over the dimensions marked in `reduced`.
rheos_status *rheos__prepare_sum(rheos__prepare *p, const bool *reduced);
// The session's resource of that kind under the node's attributes `shared_name` (else its own name)
// and `container`; made with `argument` if there is none. The caller gets a reference.
rheos_status *rheos__named_resource(const rheos__prepare *p, const rheos__resource_kind *kind,
                                    const void *argument, rheos__resource **out_resource);
// "OP is not available for dtype T".
rheos_status *rheos__no_kernel(const rheos__prepare *p, rheos_dtype dtype);

// ---- Shape functions
// The value of an input if it is known, else NULL.
static inline const rheos_tensor *rheos__infer_value(const rheos__infer *c, int32_t input) {
  return c->input_values != NULL ? c->input_values[input] : NULL;
}
rheos_status *rheos__shape_merge_2(rheos__infer *c);
// Output 0: the attribute `shape`.
rheos_status *rheos__shape_of_attr(rheos__infer *c);
// Output 0 is the bytes of input 0: nothing runs.
rheos_status *rheos__prepare_alias(rheos__prepare *p);  // output 0: inputs 0 and 1 have one shape

#endif  // RHEOS_SRC_OPS_KIT_OP_UTIL_H
