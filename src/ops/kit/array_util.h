// What the array families share: values read while running, strided copies, kernels on strings.
#ifndef RHEOS_SRC_OPS_KIT_ARRAY_UTIL_H
#define RHEOS_SRC_OPS_KIT_ARRAY_UTIL_H

#include "graph/op_def.h"

// ---- Shape functions

// The value of input `input` as integers, if it is known and has at most `capacity` elements.
bool rheos__infer_ints(const rheos__infer *c, int32_t input, int64_t *values, int32_t capacity,
                       int32_t *out_count);
// As rheos__infer_ints(), for a scalar.
bool rheos__infer_int(const rheos__infer *c, int32_t input, int64_t *out_value);

// Fails unless input `input` has a rank of `rank` at least, or is unknown.
rheos_status *rheos__infer_rank_at_least(const rheos__infer *c, int32_t input, int32_t rank);
rheos_status *rheos__infer_rank_at_most(const rheos__infer *c, int32_t input, int32_t rank);

// Fails unless input `input` can be the handle of one thing that a session keeps: a resource is a
// scalar, a reference a vector of two strings.
rheos_status *rheos__infer_handle(const rheos__infer *c, int32_t input);
// Fails unless it can be a vector of two, which handles of stacks and arrays are whatever their
// dtype.
rheos_status *rheos__infer_pair(const rheos__infer *c, int32_t input);

// Fails unless the first dimensions of two inputs agree, as far as they are known.
rheos_status *rheos__infer_same_rows(const rheos__infer *c, int32_t a, int32_t b);

// What rheos__infer_shape_value() tells of a vector; a scalar is refused.
rheos_status *rheos__infer_shape_vector(rheos__infer *c, int32_t input, rheos_shape *out_shape);

// `axis` counted from the end if it is negative; a status unless it lies in [-rank, rank).
rheos_status *rheos__normal_axis(int64_t axis, int32_t rank, int32_t *out_axis);

// A shape of that rank with no dimension known.
rheos_shape rheos__shape_of_rank(int32_t rank);

// Of ops whose input 1 says how many rows are added before and after each dimension (pad.c).
rheos_status *rheos__shape_pad(rheos__infer *c);

// Appends a dimension; a status when the rank would pass the maximum.
rheos_status *rheos__shape_append(rheos_shape *shape, int64_t dim);
rheos_status *rheos__shape_append_range(rheos_shape *shape, const rheos_shape *from, int32_t first,
                                        int32_t last);

// Product of the dimensions [first, last) of a known shape that a tensor has, so that it cannot
// overflow, except beside a dimension of 0: then any value.
int64_t rheos__shape_product(const rheos_shape *shape, int32_t first, int32_t last);

// ---- Kernels

// Element `index` of integers of any width.
int64_t rheos__int_in(rheos_dtype dtype, const void *data, int64_t index);
void rheos__set_int(rheos_dtype dtype, void *data, int64_t index, int64_t value);

// Whether element `index` is not 0; not for strings.
bool rheos__is_nonzero(rheos_dtype dtype, const void *data, int64_t index);

// Whether element `i` of `x` equals element `j` of `y`. Floats are equal by value: -0 equals 0, and
// NaN nothing.
bool rheos__same_element(rheos_dtype dtype, const void *x, int64_t i, const void *y, int64_t j);

// What a kernel is called with, kept in the arena of its state.
typedef struct rheos__operands {
  const rheos__attrs *attrs;
  int32_t num_inputs, num_outputs;
  const rheos_dtype *input_dtypes, *output_dtypes;
  const rheos_shape *input_shapes, *output_shapes;
  int64_t numbers[4];  // for the kernel
  bool ignore_bad_indices;
} rheos__operands;
rheos__operands *rheos__keep_operands(rheos__prepare *p);  // NULL when memory is short

// Integer `index` of input `input`.
static inline int64_t rheos__operand_int(const rheos__operands *o, const void *const *inputs,
                                         int32_t input, int64_t index) {
  return rheos__int_in(o->input_dtypes[input], inputs[input], index);
}

// Answers with `run` and a state that is already set. Where an output holds strings, which own
// memory, `run` is called on tensors instead: it must fill in elements by rheos__copy_elements()
// and need no scratch.
rheos_status *rheos__answer_run(rheos__prepare *p, rheos__run_fn run, int64_t num_units);
// As rheos__answer_run(), with rheos__operands as the state.
rheos_status *rheos__answer_run_operands(rheos__prepare *p, rheos__run_fn run, int64_t num_units);
// Answers with a kernel `compute` and rheos__operands as its state.
rheos_status *rheos__answer_compute_operands(rheos__prepare *p, rheos__compute_fn compute);

// The flat place in a tensor of shape `shape` that row `row` of indices (..., depth) names,
// counting whole slices below `depth` dimensions; false if it lies outside.
bool rheos__place_of(rheos_dtype dtype, const void *indices, int64_t row, int64_t depth,
                     const rheos_shape *shape, int64_t *out_place);
// The attribute bad_indices_policy: whether rows that lie outside are passed over ("IGNORE") or
// refused. A status if it has another value.
#define RHEOS__BAD_INDICES_POLICY "; bad_indices_policy: string = \"\""
rheos_status *rheos__bad_indices_policy(const rheos__attrs *attrs, bool *out_ignore);
// The status for such a row of input `input`; the message calls the shape `what`.
rheos_status *rheos__bad_place(const rheos__operands *o, const void *indices, int32_t input,
                               int64_t row, int64_t depth, const rheos_shape *shape,
                               const char *what);

// ---- Strided copies: every op that only moves elements is one
//
// Nested loops, outermost first; steps count elements and may be 0 (repeat) or negative (reverse).
enum { RHEOS__COPY_RANK = 2 * RHEOS_MAX_RANK, RHEOS__COPY_UNIT = 16384 };

typedef struct rheos__copy {
  rheos_dtype dtype;
  int32_t rank;
  int64_t num_elements;
  int64_t in_start, out_start;
  int64_t dims[RHEOS__COPY_RANK], in_steps[RHEOS__COPY_RANK], out_steps[RHEOS__COPY_RANK];
} rheos__copy;

void rheos__copy_init(rheos__copy *copy, rheos_dtype dtype);
// Adds a loop inside the others. Loops that continue each other are joined.
void rheos__copy_add(rheos__copy *copy, int64_t dim, int64_t in_step, int64_t out_step);
// Copies the elements [first, last) in the order of the loops.
rheos_status *rheos__copy_run(const rheos__copy *copy, const void *in, void *out, int64_t first,
                              int64_t last);
static inline rheos_status *rheos__copy_all(const rheos__copy *copy, const void *in, void *out) {
  return rheos__copy_run(copy, in, out, 0, copy->num_elements);
}

// A kernel that is one strided copy of input `data_input` to output 0, covering it. `make` says
// which, from shapes and the values of the other inputs; it is asked once if these are constant.
typedef rheos_status *(*rheos__copy_make)(const rheos__operands *o, const void *const *inputs,
                                          rheos__copy *out_copy);
rheos_status *rheos__answer_copy(rheos__prepare *p, int32_t data_input, rheos__copy_make make);
// What such a kernel copies, and from which input; NULL where only a run tells, or of others.
const rheos__copy *rheos__copy_of(rheos__run_fn run, const void *state, int32_t *out_data_input);

// A kernel that is one strided copy of input `data_input` over zeros, or where `base_input` is not
// below 0 over that input, of the output's shape. `make` as above.
typedef struct rheos__spread {
  int32_t base_input, data_input;
  bool ready;  // the copy is known beforehand
  rheos__copy copy;
} rheos__spread;
rheos_status *rheos__answer_spread(rheos__prepare *p, int32_t base_input, int32_t data_input,
                                   rheos__copy_make make);
// What such a kernel does; NULL where only a run tells, or of others.
const rheos__spread *rheos__spread_of(rheos__run_fn run, const void *state);

// Every element of `to` becomes the one at `value`.
rheos_status *rheos__fill_elements(rheos_dtype dtype, void *to, const void *value, int64_t count);
// As rheos__fill_elements(), for a part of a result of `whole` elements, which goes past the caches
// if the result is too large for them.
rheos_status *rheos__fill_part(rheos_dtype dtype, void *to, const void *value, int64_t count,
                               int64_t whole);

// to[i] += from[i], in arithmetic that wraps; NULL where elements cannot be added.
typedef void (*rheos__add_fn)(void *to, const void *from, int64_t count);
rheos__add_fn rheos__add_of(rheos_dtype dtype);

// Elements of a row-major shape that one step along each dimension moves over.
void rheos__row_major_steps(const rheos_shape *shape, int64_t *steps);

#endif  // RHEOS_SRC_OPS_KIT_ARRAY_UTIL_H
