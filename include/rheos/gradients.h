// Gradients: the operations that compute how outputs change with other outputs.
#ifndef RHEOS_GRADIENTS_H
#define RHEOS_GRADIENTS_H

#include <rheos/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

// A gradient: dense (only `values`), or rows at `indices` of a tensor of shape `dense_shape`
// (TensorFlow's IndexedSlices). `values.graph` is NULL where there is none.
typedef struct rheos_gradient {
  rheos_output values;
  rheos_output indices;
  rheos_output dense_shape;
} rheos_gradient;

// The program's gradient of one operation: adds nodes through `scope` and sets `in_gradients`, one
// for each input, none at the start; `out_gradients` has one for each output. `type` is what the
// attribute "_gradient_op_type" says, or the op's own. False: the program knows no gradient of that
// type. Errors go to the scope.
typedef bool (*rheos_gradient_function)(void *argument, rheos_scope *scope,
                                        rheos_operation operation, const char *type,
                                        const rheos_gradient *out_gradients,
                                        rheos_gradient *in_gradients);

// What a tape has recorded: of the operations of the graph's ids in `spans` (num_spans pairs of a
// first id and an end) those that take a watched value, or a value of one recorded, as far as
// gradients flow there. A value is watched by the operations from the id `since` on.
typedef struct rheos_recorded {
  const int32_t *spans;
  size_t num_spans;
  const rheos_output *watched;
  const int32_t *since;  // one for each
  size_t num_watched;
} rheos_recorded;

typedef struct rheos_gradients_options {
  const rheos_output *grad_ys RHEOS_LEFT_OUT;         // one for each y, or NULL: ones
  const rheos_output *stop_gradients RHEOS_LEFT_OUT;  // are taken for constants
  size_t num_stop_gradients RHEOS_LEFT_OUT;
  const char *name RHEOS_LEFT_OUT;                  // NULL: "gradients"
  bool colocate_gradients_with_ops RHEOS_LEFT_OUT;  // each gradient where its operation is
  bool gate_gradients RHEOS_LEFT_OUT;  // no gradient is used before all of its operation are there
  // Asked where the library knows no gradient: for ops that have none, and for operations whose
  // attribute "_gradient_op_type" names no op of the library. May be NULL.
  rheos_gradient_function gradient_function RHEOS_LEFT_OUT;
  void *gradient_argument RHEOS_LEFT_OUT;
  // Gradients end at operations that are not recorded. NULL: all are; so it is where operations may
  // take what was made after them, as in loops of version 1.
  const rheos_recorded *recorded RHEOS_LEFT_OUT;
  // Names and first gradients as those of TensorFlow's C interface: no name scope for each
  // operation, `grad_ys` taken as they are, ones by OnesLike.
  bool flat_names RHEOS_LEFT_OUT;
  bool reserved_[7] RHEOS_LEFT_OUT;  // zeros
} rheos_gradients_options;

// Adds the operations that compute d sum(ys) / d x for each x, summed over all paths. A slot of
// `out_gradients` (num_xs of them) stays none where ys do not depend on that x. `options` may be
// NULL. An op on the way that has no gradient is the error RHEOS_NOT_FOUND (Python's LookupError).
static inline void rheos_gradients(rheos_scope *scope, const rheos_output *ys, size_t num_ys,
                                   const rheos_output *xs, size_t num_xs,
                                   const rheos_gradients_options *options,
                                   rheos_gradient *out_gradients);

// Whether the library defines gradients of the op, be it that none flows.
RHEOS_API bool rheos_op_has_gradient(const char *type);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_API void rheos_gradients_sized(rheos_scope *scope, const rheos_output *ys, size_t num_ys,
                                     const rheos_output *xs, size_t num_xs,
                                     const rheos_gradients_options *options, size_t options_bytes,
                                     rheos_gradient *out_gradients);
static inline void rheos_gradients(rheos_scope *scope, const rheos_output *ys, size_t num_ys,
                                   const rheos_output *xs, size_t num_xs,
                                   const rheos_gradients_options *options,
                                   rheos_gradient *out_gradients) {
  rheos_gradients_sized(scope, ys, num_ys, xs, num_xs, options, sizeof *options, out_gradients);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_GRADIENTS_H
