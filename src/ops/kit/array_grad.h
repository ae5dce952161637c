// Nodes that array gradients are made of, under the names TensorFlow's Python functions give them.
#ifndef RHEOS_SRC_OPS_KIT_ARRAY_GRAD_H
#define RHEOS_SRC_OPS_KIT_ARRAY_GRAD_H

#include "graph/build.h"

// Size and Rank: constants of these names where the shape tells them.
rheos_output rheos__size_of(rheos_scope *s, rheos_output x);
rheos_output rheos__rank_of(rheos_scope *s, rheos_output x);

// The sum over all dimensions.
rheos_output rheos__sum_all(rheos_scope *s, rheos_output x);

rheos_output rheos__expand_dims(rheos_scope *s, rheos_output x, int32_t dim);
// "stack": Pack along `axis`.
rheos_output rheos__stack(rheos_scope *s, const rheos_output *values, int32_t count, int32_t axis);
// "stack" of a scalar of the graph and a number: [x, number].
rheos_output rheos__stack_number(rheos_scope *s, const char *name, rheos_output x, int32_t number);
// "concat" along the constant `axis`.
rheos_output rheos__concat(rheos_scope *s, const rheos_output *values, int32_t count, int32_t axis);
// "concat" along an axis that is a tensor.
rheos_output rheos__concat_at(rheos_scope *s, const rheos_output *values, int32_t count,
                              rheos_output axis);
// "range" from `start` to `limit` by `delta`; none for a bound stands for the number beside it.
rheos_output rheos__range(rheos_scope *s, rheos_output start, int32_t start_number,
                          rheos_output limit, int32_t limit_number, int32_t delta);
// "GatherV2" along axis 0.
rheos_output rheos__gather(rheos_scope *s, rheos_output params, rheos_output indices);

// "strided_slice" of a vector, as Python writes it: x[begin:end] or x[at]. A bound is left out, a
// number, or a scalar of the graph.
typedef struct rheos__bound {
  bool present;
  int32_t number;
  rheos_output tensor;  // none: the number
} rheos__bound;
rheos_output rheos__vector_slice(rheos_scope *s, rheos_output x, rheos__bound begin,
                                 rheos__bound end);
rheos_output rheos__vector_at(rheos_scope *s, rheos_output x, rheos_output at);

// Reshape to a constant vector: "NAME/shape" and NAME = "Reshape".
rheos_output rheos__flatten(rheos_scope *s, rheos_output x);

// "transpose" by a permutation that is a tensor.
rheos_output rheos__transpose_by(rheos_scope *s, rheos_output x, rheos_output perm, bool conjugate);

// For an op on two batches of matrices that broadcast against each other: the gradients that are
// set are summed up to the shapes of the inputs.
void rheos__grad_sum_batches(rheos__grad *g);

// The node's bad_indices_policy, for the nodes of its gradient; returns how many attributes that
// is: 0 where the policy is the default.
size_t rheos__bad_indices_attr(const rheos__grad *g, rheos_attr *out_attr);

// A node of one output with attributes, named NAME.
rheos_output rheos__named_n(rheos_scope *s, const char *type, const char *name,
                            const rheos_output *inputs, size_t num_inputs, const rheos_attr *attrs,
                            size_t num_attrs);

#endif  // RHEOS_SRC_OPS_KIT_ARRAY_GRAD_H
