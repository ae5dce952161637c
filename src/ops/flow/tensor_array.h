// Tensor arrays: what a step writes element by element and reads element by element. Unlike a list
// an array changes, so it is an object that handles stand for; every run of the op that makes one
// makes a new one, which lives as long as handles of it do.
//
// Gradients of an array are arrays of their own beside it, one for each name of a source: they have
// its size, what is written twice to an element of one is added, and what nothing was written to is
// zeros.
#ifndef RHEOS_SRC_OPS_FLOW_TENSOR_ARRAY_H
#define RHEOS_SRC_OPS_FLOW_TENSOR_ARRAY_H

#include "tensor/variant.h"

typedef struct rheos__array rheos__array;

typedef struct rheos__array_spec {
  const char *name;           // for messages; copied
  rheos_dtype dtype;          // of all elements
  rheos_shape shape;          // of each element, as far as it is known
  bool has_dynamic_size;      // writing behind the end makes it longer
  bool clears_after_read;     // an element can be read once
  bool has_identical_shapes;  // the first element tells the shape of the others
} rheos__array_spec;

extern const rheos__variant_kind rheos__array_kind;

// All functions may be called from any thread.

rheos_status *rheos__array_new(const rheos__array_spec *spec, int64_t size,
                               rheos__array **out_array);
void rheos__array_unref(rheos__array *array);  // NULL: nothing

const char *rheos__array_name(const rheos__array *array);
rheos_dtype rheos__array_dtype(const rheos__array *array);

// How many elements it has; of those that are packed, which for the gradient of an array that was
// unpacked or split are as many as there were then.
rheos_status *rheos__array_size(rheos__array *array, int64_t *out_size);
rheos_status *rheos__array_packed_size(rheos__array *array, int64_t *out_size);

// Puts a tensor at `index`, or adds it there in a gradient. The reference is taken also on failure.
rheos_status *rheos__array_write_take(rheos__array *array, int64_t index, rheos_tensor *value);
// The element with a reference; it is gone for others where reading clears.
rheos_status *rheos__array_read(rheos__array *array, int64_t index, rheos_tensor **out_value);

// Before `count` parts are written from element 0 on, or at indices below `count`: an array of
// dynamic size gets so long. `out_size` is how long it is to be.
rheos_status *rheos__array_expect(rheos__array *array, int64_t count, int64_t *out_size);
// Notes that so many parts were written at once.
rheos_status *rheos__array_mark_size(rheos__array *array, int64_t size);

// Joins what is known of the elements' shapes with `shape`.
rheos_status *rheos__array_merge_shape(rheos__array *array, const rheos_shape *shape,
                                       rheos_shape *out_shape);

// Lets go of all elements; any use from now on is an error.
void rheos__array_close(rheos__array *array);

// The gradient of the array for `source`, with a reference, made if there is none. From now on
// writing makes the array no longer. `prefix` (NULL: none) comes before the elements' shapes.
rheos_status *rheos__array_gradient(rheos__array *array, const char *source,
                                    const rheos_shape *prefix, rheos__array **out_gradient);

#endif  // RHEOS_SRC_OPS_FLOW_TENSOR_ARRAY_H
