// Elements and slices that differ: Unique and its like, ListDiff. A hash table holds those seen.
#include <string.h>

#include "base/hash.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"

enum { LOOKED_UP_BETWEEN_POLLS = 1 << 15 };

static uint64_t element_hash(rheos_dtype dtype, const void *data, int64_t i) {
  if (dtype == RHEOS_STRING) {
    const rheos_string *string = (const rheos_string *)data + i;
    if (string->size_bytes == 0) return 0;
    return rheos__hash_bytes(0, string->data, string->size_bytes);
  }
  size_t size = rheos_dtype_size(dtype);
  bool number = dtype == RHEOS_COMPLEX64 || dtype == RHEOS_COMPLEX128;
  if (rheos_dtype_is_floating(dtype) || number) {
    if (!rheos__is_nonzero(dtype, data, i)) return 0;  // -0 too
    // A NaN equals nothing: many of them are not to stand in one row of slots.
    if (!rheos__same_element(dtype, data, i, data, i)) return rheos__hash_mix(0, (uint64_t)i);
  }
  return rheos__hash_bytes(0, (const char *)data + (size_t)i * size, size);
}

// ---- Unique

// Slices along one dimension of (outer, count, inner) elements; those of a vector are its elements.
typedef struct slices {
  rheos_dtype dtype;
  const void *data;
  int64_t outer, count, inner;
} slices;

static bool same_slice(const slices *x, int64_t a, int64_t b) {
  for (int64_t o = 0; o < x->outer; ++o) {
    for (int64_t i = 0; i < x->inner; ++i) {
      const int64_t at_a = (o * x->count + a) * x->inner + i;
      const int64_t at_b = (o * x->count + b) * x->inner + i;
      if (!rheos__same_element(x->dtype, x->data, at_a, x->data, at_b)) return false;
    }
  }
  return true;
}

static uint64_t slice_hash(const slices *x, int64_t index) {
  uint64_t hash = 0;
  for (int64_t o = 0; o < x->outer; ++o) {
    for (int64_t i = 0; i < x->inner; ++i) {
      const int64_t at = (o * x->count + index) * x->inner + i;
      hash = hash * 0x9e3779b97f4a7c15u + element_hash(x->dtype, x->data, at);
    }
  }
  return hash;
}

// Writes which of the distinct slices each slice equals, and where each of these first stood. -1:
// stopped.
static int64_t number_slices(const slices *x, int64_t *slots, uint64_t num_slots, int64_t *firsts,
                             rheos_tensor *indices) {
  int64_t count = 0, since = 0;
  for (int64_t i = 0; i < x->count; ++i) {
    if (rheos__stops_after(&since, 1 + x->outer * x->inner, LOOKED_UP_BETWEEN_POLLS)) return -1;
    uint64_t slot = slice_hash(x, i) & (num_slots - 1);
    while (slots[slot] != 0 && !same_slice(x, firsts[slots[slot] - 1], i)) {
      slot = (slot + 1) & (num_slots - 1);
    }
    if (slots[slot] == 0) {
      firsts[count++] = i;
      slots[slot] = count;
    }
    rheos__set_int(indices->dtype, indices->data, i, slots[slot] - 1);
  }
  return count;
}

static rheos_status *count_uses(const rheos_tensor *indices, int64_t num_distinct,
                                rheos_tensor **out_counts) {
  RHEOS_TRY(rheos__tensor_new(indices->dtype, &RHEOS_SHAPE(num_distinct), out_counts));
  if (num_distinct > 0) memset((*out_counts)->data, 0, (*out_counts)->size_bytes);
  for (int64_t i = 0; i < indices->num_elements; ++i) {
    if (i % RHEOS__POLLED_ELEMENTS == 0 && rheos__is_stopping()) return rheos__stopped();
    const int64_t which = rheos__tensor_int_at(indices, i);
    rheos__set_int(indices->dtype, (*out_counts)->data, which,
                   rheos__tensor_int_at(*out_counts, which) + 1);
  }
  return NULL;
}

// Along dimension `axis` of `in`.
static rheos_status *distinct(const slices *x, const rheos_shape *in, int32_t axis, int64_t *slots,
                              uint64_t num_slots, int64_t *firsts, int32_t num_outputs,
                              rheos_tensor **outputs) {
  const int64_t count = number_slices(x, slots, num_slots, firsts, outputs[1]);
  if (count < 0) return rheos__stopped();
  int64_t since = 0;
  rheos_shape shape = *in;
  shape.dims[axis] = count;
  RHEOS_TRY(rheos__tensor_new(x->dtype, &shape, &outputs[0]));
  const size_t bytes = rheos_dtype_size(x->dtype) * (size_t)x->inner;
  for (int64_t o = 0; o < x->outer; ++o) {
    for (int64_t i = 0; i < count; ++i) {
      if (rheos__stops_after(&since, 1 + x->inner, LOOKED_UP_BETWEEN_POLLS)) {
        return rheos__stopped();
      }
      RHEOS_TRY(rheos__copy_elements(
          x->dtype, (char *)outputs[0]->data + (size_t)(o * count + i) * bytes,
          (const char *)x->data + (size_t)(o * x->count + firsts[i]) * bytes, x->inner));
    }
  }
  return num_outputs > 2 ? count_uses(outputs[1], count, &outputs[2]) : NULL;
}

// Without an axis the tensor is a vector.
static rheos_status *unique_axis(const rheos_shape *shape, const rheos_tensor *axis,
                                 int32_t *out_axis) {
  *out_axis = 0;
  if (axis != NULL && axis->num_elements > 1) {
    return RHEOS_INVALID("axis does not support input tensors larger than 1 elements");
  }
  if (axis != NULL && axis->num_elements == 1) {
    return rheos__normal_axis(rheos__tensor_int_at(axis, 0), shape->rank, out_axis);
  }
  return shape->rank == 1 ? NULL : RHEOS_INVALID("unique expects a 1D vector.");
}

static rheos_status *compute_unique(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const rheos_tensor *x = inputs[0];
  int32_t axis;
  RHEOS_TRY(unique_axis(&x->shape, o->num_inputs > 1 ? inputs[1] : NULL, &axis));
  slices s = {.dtype = x->dtype, .data = x->data, .count = x->shape.dims[axis]};
  if (x->num_elements > 0) {  // else the products could be of any size
    s.outer = rheos__shape_product(&x->shape, 0, axis);
    s.inner = rheos__shape_product(&x->shape, axis + 1, x->shape.rank);
  }
  if (o->output_dtypes[1] == RHEOS_INT32 && s.count > INT32_MAX) {
    return RHEOS_INVALID("unique does not support input tensors larger than %d elements",
                         INT32_MAX);
  }
  uint64_t num_slots = 16;
  while (num_slots < 2 * (uint64_t)s.count) num_slots *= 2;
  RHEOS_TRY(rheos__tensor_new(o->output_dtypes[1], &RHEOS_SHAPE(s.count), &outputs[1]));
  int64_t *slots = rheos__alloc_array(num_slots, sizeof *slots);
  int64_t *firsts = rheos__alloc_array((size_t)s.count, sizeof *firsts);
  rheos_status *status =
      slots == NULL || firsts == NULL
          ? rheos__out_of_memory()
          : distinct(&s, &x->shape, axis, slots, num_slots, firsts, o->num_outputs, outputs);
  rheos__free(slots);
  rheos__free(firsts);
  return status;
}

static rheos_status *prepare_unique(rheos__prepare *p) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_unique;
  return NULL;
}

static rheos_status *shape_unique(rheos__infer *c) {
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &vector));
  c->output_shapes[0] = RHEOS_SHAPE(-1);
  c->output_shapes[1] = vector;
  if (c->num_outputs > 2) c->output_shapes[2] = RHEOS_SHAPE(-1);
  return NULL;
}

static rheos_status *shape_unique_along(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  const rheos_tensor *value = rheos__infer_value(c, 1);
  rheos_shape ignored;
  int32_t axis = -1;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &ignored));
  c->output_shapes[1] = RHEOS_SHAPE(-1);
  if (c->num_outputs > 2) c->output_shapes[2] = RHEOS_SHAPE(-1);
  if (in->rank < 0) return NULL;
  c->output_shapes[0] = rheos__shape_of_rank(in->rank);
  if (value == NULL) return NULL;
  RHEOS_TRY(unique_axis(in, value, &axis));
  c->output_shapes[0] = *in;
  c->output_shapes[0].dims[axis] = -1;
  c->output_shapes[1] = RHEOS_SHAPE(in->dims[axis]);
  return NULL;
}

#define UNIQUE_DOC                                                                            \
  "The distinct elements of `x` in the order they first appear, and for each element of `x` " \
  "which "                                                                                    \
  "of them it is"
#define UNIQUE_ALONG_DOC                                                                           \
  "The distinct slices of `x` along `axis` in the order they first appear, and for each slice of " \
  "`x` which of them it is"
#define UNIQUE(op, in, out, types, unit, text)                                \
  const rheos__op_def rheos__op_##op = {                                      \
      .name = #op,                                                            \
      .signature = "x: T" in " -> y: T, idx: out_idx" out "; T: type; " types \
                   "out_idx: {int32, int64} = int32",                         \
      .doc = text,                                                            \
      .shape = unit,                                                          \
      .prepare = prepare_unique,                                              \
  };
#define AXIS_TYPE "Taxis: {int32, int64} = int64; "
UNIQUE(Unique, "", "", "", shape_unique, UNIQUE_DOC ".")
UNIQUE(UniqueWithCounts, "", ", count: out_idx", "", shape_unique,
       UNIQUE_DOC ", and how often each occurs.")
UNIQUE(UniqueV2, ", axis: Taxis", "", AXIS_TYPE, shape_unique_along, UNIQUE_ALONG_DOC ".")
UNIQUE(UniqueWithCountsV2, ", axis: Taxis", ", count: out_idx", AXIS_TYPE, shape_unique_along,
       UNIQUE_ALONG_DOC ", and how often each occurs.")

// ---- ListDiff

static rheos_status *shape_list_diff(rheos__infer *c) {
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &ignored));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &ignored));
  c->output_shapes[0] = c->output_shapes[1] = RHEOS_SHAPE(-1);
  return NULL;
}

// Where an element is that equals element i of `all`, which holds y and then x; a free slot if none
// is.
static uint64_t slot_of(const rheos_tensor *all, const int64_t *slots, uint64_t num_slots,
                        int64_t i) {
  uint64_t slot = element_hash(all->dtype, all->data, i) & (num_slots - 1);
  while (slots[slot] != 0 &&
         !rheos__same_element(all->dtype, all->data, slots[slot] - 1, all->data, i)) {
    slot = (slot + 1) & (num_slots - 1);
  }
  return slot;
}

// `places` gets where the elements of x that are not in y stand. -1: stopped.
static int64_t differing(const rheos_tensor *all, int64_t num_y, int64_t *slots, uint64_t num_slots,
                         int64_t *places) {
  int64_t since = 0;
  for (int64_t i = 0; i < num_y; ++i) {
    if (rheos__stops_after(&since, 1, LOOKED_UP_BETWEEN_POLLS)) return -1;
    slots[slot_of(all, slots, num_slots, i)] = i + 1;
  }
  int64_t count = 0;
  for (int64_t i = num_y; i < all->num_elements; ++i) {
    if (rheos__stops_after(&since, 1, LOOKED_UP_BETWEEN_POLLS)) return -1;
    if (slots[slot_of(all, slots, num_slots, i)] == 0) places[count++] = i;
  }
  return count;
}

static rheos_status *list_diff(const rheos_tensor *all, int64_t num_y, int64_t *slots,
                               uint64_t num_slots, int64_t *places, rheos_dtype index_dtype,
                               rheos_tensor **outputs) {
  int64_t count = differing(all, num_y, slots, num_slots, places), since = 0;
  if (count < 0) return rheos__stopped();
  size_t size = rheos_dtype_size(all->dtype);
  RHEOS_TRY(rheos__tensor_new(all->dtype, &RHEOS_SHAPE(count), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(index_dtype, &RHEOS_SHAPE(count), &outputs[1]));
  for (int64_t i = 0; i < count; ++i) {
    if (rheos__stops_after(&since, 1, LOOKED_UP_BETWEEN_POLLS)) return rheos__stopped();
    rheos__set_int(index_dtype, outputs[1]->data, i, places[i] - num_y);
    RHEOS_TRY(rheos__copy_elements(all->dtype, (char *)outputs[0]->data + (size_t)i * size,
                                   (const char *)all->data + (size_t)places[i] * size, 1));
  }
  return NULL;
}

// y and x one behind the other, so that both are elements of one array.
static rheos_status *join_lists(const rheos_tensor *y, const rheos_tensor *x,
                                rheos_tensor **out_all) {
  RHEOS_TRY(rheos__tensor_new(x->dtype, &RHEOS_SHAPE(y->num_elements + x->num_elements), out_all));
  RHEOS_TRY(rheos__copy_elements(x->dtype, (*out_all)->data, y->data, y->num_elements));
  return rheos__copy_elements(x->dtype, (char *)(*out_all)->data + y->size_bytes, x->data,
                              x->num_elements);
}

static rheos_status *compute_list_diff(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos_tensor *all = NULL;
  rheos_status *status = join_lists(inputs[1], inputs[0], &all);
  uint64_t num_slots = 16;
  while (num_slots < 2 * (uint64_t)inputs[1]->num_elements) num_slots *= 2;
  int64_t *slots = rheos__alloc_array(num_slots, sizeof *slots);
  int64_t *places = rheos__alloc_array((size_t)inputs[0]->num_elements, sizeof *places);
  if (status == NULL && (slots == NULL || places == NULL)) status = rheos__out_of_memory();
  if (status == NULL) {
    status = list_diff(all, inputs[1]->num_elements, slots, num_slots, places, o->output_dtypes[1],
                       outputs);
  }
  rheos_tensor_unref(all);
  rheos__free(slots);
  rheos__free(places);
  return status;
}

static rheos_status *prepare_list_diff(rheos__prepare *p) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_list_diff;
  return NULL;
}

const rheos__op_def rheos__op_ListDiff = {
    .name = "ListDiff",
    .signature = "x: T, y: T -> out: T, idx: out_idx; T: type; out_idx: {int32, int64} = int32",
    .doc = "The elements of `x` that are not in `y`, and where in `x` they stand.",
    .shape = shape_list_diff,
    .gradient = rheos__no_gradient,
    .prepare = prepare_list_diff,
};
