// Arrays of tensors, which loops read and write element by element, and functions over rows.
//
// An array is a value: what changes it gives the array after the change, which is to be used from
// then on, and handed from trip to trip of a loop by its `flow`. Gradients go through arrays.
#ifndef RHEOS_ARRAY_H
#define RHEOS_ARRAY_H

#include <rheos/control_flow.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rheos_array {
  rheos_output handle;  // the same for as long as the array is there
  rheos_output flow;    // a float scalar that stands for what was done so far
  rheos_dtype dtype;    // of the elements
} rheos_array;

typedef struct rheos_array_options {
  bool dynamic_size RHEOS_LEFT_OUT;            // writes behind the end make it longer
  bool not_cleared_after_read RHEOS_LEFT_OUT;  // elements may be read more than once
  bool identical_element_shapes
      RHEOS_LEFT_OUT;               // elements that were not written are zeros of that shape
  const char *name RHEOS_LEFT_OUT;  // NULL: "TensorArray"
  const rheos_shape *element_shape RHEOS_LEFT_OUT;  // NULL: not known
} rheos_array_options;

// An array of `size` elements, an int32 scalar. `options` may be NULL. Of all functions here: after
// an error, which is in the scope, what they give is none.
static inline rheos_array rheos_array_new(rheos_scope *scope, rheos_dtype dtype, rheos_output size,
                                          const rheos_array_options *options);

// The array as it is when `flow` was made: inside of a loop, and behind it.
static inline rheos_array rheos_array_with_flow(rheos_array array, rheos_output flow) {
  array.flow = flow;
  return array;
}

// Elements: `index` is an int32 scalar, `indices` a vector of these.
RHEOS_API rheos_array rheos_array_write(rheos_scope *scope, rheos_array array, rheos_output index,
                                        rheos_output value);
RHEOS_API rheos_output rheos_array_read(rheos_scope *scope, rheos_array array, rheos_output index);
RHEOS_API rheos_output rheos_array_size(rheos_scope *scope, rheos_array array);  // an int32 scalar

// Elements of one shape as rows of a tensor, and back.
RHEOS_API rheos_output rheos_array_gather(rheos_scope *scope, rheos_array array,
                                          rheos_output indices);
RHEOS_API rheos_array rheos_array_scatter(rheos_scope *scope, rheos_array array,
                                          rheos_output indices, rheos_output value);
RHEOS_API rheos_output rheos_array_stack(rheos_scope *scope, rheos_array array);
RHEOS_API rheos_array rheos_array_unstack(rheos_scope *scope, rheos_array array,
                                          rheos_output value);

// Elements one behind the other along their first dimension, and back; `lengths` is an int64
// vector.
RHEOS_API rheos_output rheos_array_concat(rheos_scope *scope, rheos_array array);
RHEOS_API rheos_array rheos_array_split(rheos_scope *scope, rheos_array array, rheos_output value,
                                        rheos_output lengths);

// Builds what is made of a row of each of the elements: sets outputs[0 .. num_outputs). Errors go
// to the scope.
typedef void (*rheos_row_function)(rheos_scope *scope, void *argument, const rheos_output *rows,
                                   size_t num_rows, rheos_output *outputs, size_t num_outputs);

// outputs[i] has as rows what `function` makes of the rows of the elems, one after the other; the
// elems have as many rows as the first one. dtypes[i] is its dtype; NULL: as the elems have, of
// which there are as many. `name` NULL: "map".
RHEOS_API void rheos_map(rheos_scope *scope, rheos_row_function function, void *argument,
                         const rheos_output *elems, size_t num_elems, const rheos_dtype *dtypes,
                         const char *name, rheos_output *outputs, size_t num_outputs);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_API rheos_array rheos_array_new_sized(rheos_scope *scope, rheos_dtype dtype,
                                            rheos_output size, const rheos_array_options *options,
                                            size_t options_bytes);
static inline rheos_array rheos_array_new(rheos_scope *scope, rheos_dtype dtype, rheos_output size,
                                          const rheos_array_options *options) {
  return rheos_array_new_sized(scope, dtype, size, options, sizeof *options);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_ARRAY_H
