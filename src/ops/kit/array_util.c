// Shared parts of the array families: values read while running, kernels on strings, sums.
#include "ops/kit/array_util.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/polling.h"
#include "ops/kit/position_text.h"

// ---- Shape functions

bool rheos__infer_ints(const rheos__infer *c, int32_t input, int64_t *values, int32_t capacity,
                       int32_t *out_count) {
  const rheos_tensor *tensor = c->input_values == NULL ? NULL : c->input_values[input];
  if (tensor == NULL) {
    return c->whole != NULL && c->whole(c->partial_argument, input, values, capacity, out_count);
  }
  if (tensor->num_elements > capacity) return false;
  for (int32_t i = 0; i < tensor->num_elements; ++i) {
    values[i] = rheos__tensor_int_at(tensor, i);
  }
  *out_count = (int32_t)tensor->num_elements;
  return true;
}

bool rheos__infer_int(const rheos__infer *c, int32_t input, int64_t *out_value) {
  int32_t count;
  return rheos__infer_ints(c, input, out_value, 1, &count) && count == 1;
}

rheos_status *rheos__infer_rank_at_least(const rheos__infer *c, int32_t input, int32_t rank) {
  int32_t actual = c->input_shapes[input].rank;
  if (actual < 0 || actual >= rank) return NULL;
  return RHEOS_INVALID("Shape must be at least rank %d but is rank %d", rank, actual);
}

rheos_status *rheos__infer_rank_at_most(const rheos__infer *c, int32_t input, int32_t rank) {
  int32_t actual = c->input_shapes[input].rank;
  if (actual <= rank) return NULL;
  return RHEOS_INVALID("Shape must be at most rank %d but is rank %d", rank, actual);
}

rheos_status *rheos__infer_pair(const rheos__infer *c, int32_t input) {
  rheos_shape handle;
  RHEOS_TRY(rheos__infer_rank(c, input, 1, &handle));
  if (handle.dims[0] < 0 || handle.dims[0] == 2) return NULL;
  return RHEOS_INVALID("Dimension must be 2 but is %lld", (long long)handle.dims[0]);
}

rheos_status *rheos__infer_handle(const rheos__infer *c, int32_t input) {
  rheos_shape handle;
  return c->input_dtypes[input] == RHEOS_RESOURCE ? rheos__infer_rank(c, input, 0, &handle)
                                                  : rheos__infer_pair(c, input);
}

rheos_status *rheos__infer_same_rows(const rheos__infer *c, int32_t a, int32_t b) {
  const rheos_shape *x = &c->input_shapes[a], *y = &c->input_shapes[b];
  if (x->rank < 1 || y->rank < 1 || x->dims[0] < 0 || y->dims[0] < 0) return NULL;
  if (x->dims[0] == y->dims[0]) return NULL;
  return RHEOS_INVALID("Dimensions must be equal, but are %lld and %lld", (long long)x->dims[0],
                       (long long)y->dims[0]);
}

rheos_status *rheos__infer_shape_vector(rheos__infer *c, int32_t input, rheos_shape *out_shape) {
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, input, 1, &vector));
  return rheos__infer_shape_value(c, input, out_shape);
}

rheos_status *rheos__normal_axis(int64_t axis, int32_t rank, int32_t *out_axis) {
  if (axis < -(int64_t)rank || axis >= rank) {
    return RHEOS_INVALID("axis %lld is not in [%d, %d)", (long long)axis, -rank, rank);
  }
  *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
  assert(*out_axis >= 0 && *out_axis < rank);
  return NULL;
}

rheos_shape rheos__shape_of_rank(int32_t rank) {
  assert(rank <= RHEOS_MAX_RANK);
  rheos_shape shape = {.rank = rank};
  for (int32_t i = 0; i < rank; ++i) shape.dims[i] = -1;
  return shape;
}

rheos_status *rheos__shape_append(rheos_shape *shape, int64_t dim) {
  if (shape->rank >= RHEOS_MAX_RANK) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "a shape of more than %d dimensions",
                            RHEOS_MAX_RANK);
  }
  shape->dims[shape->rank++] = dim;
  return NULL;
}

rheos_status *rheos__shape_append_range(rheos_shape *shape, const rheos_shape *from, int32_t first,
                                        int32_t last) {
  assert(first >= last || (first >= 0 && last <= from->rank));
  for (int32_t i = first; i < last; ++i) RHEOS_TRY(rheos__shape_append(shape, from->dims[i]));
  return NULL;
}

int64_t rheos__shape_product(const rheos_shape *shape, int32_t first, int32_t last) {
  assert(first >= last || (first >= 0 && last <= shape->rank));
  uint64_t product = 1;
  for (int32_t i = first; i < last; ++i) product *= (uint64_t)shape->dims[i];
  return (int64_t)product;
}

// ---- Kernels

int64_t rheos__int_in(rheos_dtype dtype, const void *data, int64_t index) {
  switch (dtype) {
    case RHEOS_INT32: return ((const int32_t *)data)[index];
    case RHEOS_INT64: return ((const int64_t *)data)[index];
    case RHEOS_INT16: return ((const int16_t *)data)[index];
    case RHEOS_INT8: return ((const int8_t *)data)[index];
    case RHEOS_UINT8: return ((const uint8_t *)data)[index];
    case RHEOS_UINT16: return ((const uint16_t *)data)[index];
    case RHEOS_UINT32: return ((const uint32_t *)data)[index];
    case RHEOS_UINT64: return (int64_t)((const uint64_t *)data)[index];
    case RHEOS_BOOL: return ((const bool *)data)[index];
    default: return 0;
  }
}

void rheos__set_int(rheos_dtype dtype, void *data, int64_t index, int64_t value) {
  switch (rheos_dtype_size(dtype)) {
    case 1: ((int8_t *)data)[index] = (int8_t)value; break;
    case 2: ((int16_t *)data)[index] = (int16_t)value; break;
    case 4: ((int32_t *)data)[index] = (int32_t)value; break;
    default: ((int64_t *)data)[index] = value; break;
  }
}

bool rheos__is_nonzero(rheos_dtype dtype, const void *data, int64_t i) {
  switch (dtype) {
    case RHEOS_FLOAT: return ((const float *)data)[i] != 0;
    case RHEOS_DOUBLE: return ((const double *)data)[i] != 0;
    case RHEOS_HALF:
    case RHEOS_BFLOAT16: return (((const uint16_t *)data)[i] & 0x7fff) != 0;
    case RHEOS_COMPLEX64:
      return ((const float *)data)[2 * i] != 0 || ((const float *)data)[2 * i + 1] != 0;
    case RHEOS_COMPLEX128:
      return ((const double *)data)[2 * i] != 0 || ((const double *)data)[2 * i + 1] != 0;
    default: break;
  }
  switch (rheos_dtype_size(dtype)) {
    case 1: return ((const uint8_t *)data)[i] != 0;
    case 2: return ((const uint16_t *)data)[i] != 0;
    case 4: return ((const uint32_t *)data)[i] != 0;
    default: return ((const uint64_t *)data)[i] != 0;
  }
}

static void *keep(rheos__prepare *p, const void *items, int32_t count, size_t item_bytes) {
  if (count == 0) return p->arena;  // never looked at
  return rheos__arena_copy(p->arena, items, (size_t)count * item_bytes);
}

rheos__operands *rheos__keep_operands(rheos__prepare *p) {
  rheos__operands *o = rheos__arena_alloc_zeroed(p->arena, sizeof *o);
  if (o == NULL) return NULL;
  o->attrs = p->attrs;
  o->num_inputs = p->num_inputs;
  o->num_outputs = p->num_outputs;
  o->input_dtypes = keep(p, p->input_dtypes, p->num_inputs, sizeof(rheos_dtype));
  o->output_dtypes = keep(p, p->output_dtypes, p->num_outputs, sizeof(rheos_dtype));
  o->input_shapes = keep(p, p->input_shapes, p->num_inputs, sizeof(rheos_shape));
  o->output_shapes = keep(p, p->output_shapes, p->num_outputs, sizeof(rheos_shape));
  if (o->input_dtypes == NULL || o->output_dtypes == NULL || o->input_shapes == NULL ||
      o->output_shapes == NULL) {
    return NULL;
  }
  return o;
}

typedef struct on_tensors {
  const rheos__operands *operands;
  rheos__run_fn run;
  const void *state;
  int64_t num_units;
} on_tensors;

static rheos_status *run_on_tensors(const on_tensors *t, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs, const void **in, void **out) {
  const rheos__operands *o = t->operands;
  for (int32_t i = 0; i < o->num_inputs; ++i) in[i] = inputs[i] != NULL ? inputs[i]->data : NULL;
  for (int32_t i = 0; i < o->num_outputs; ++i) {
    RHEOS_TRY(rheos__tensor_new(o->output_dtypes[i], &o->output_shapes[i], &outputs[i]));
    out[i] = outputs[i]->data;
  }
  rheos_status *status = NULL;  // a unit is of some thousand elements
  for (int64_t i = 0; status == NULL && i < t->num_units; ++i) {
    status = i > 0 && rheos__is_stopping() ? rheos__stopped()
                                           : t->run(t->state, in, out, NULL, i, i + 1);
  }
  return status;
}

static rheos_status *compute_on_tensors(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  (void)step;
  const on_tensors *t = state;
  size_t count = (size_t)(t->operands->num_inputs + t->operands->num_outputs);
  const void **pointers = rheos__alloc_array(count, sizeof *pointers);
  if (pointers == NULL) return rheos__out_of_memory();
  rheos_status *status =
      run_on_tensors(t, inputs, outputs, pointers, (void **)(pointers + t->operands->num_inputs));
  rheos__free(pointers);
  return status;
}

rheos_status *rheos__answer_run(rheos__prepare *p, rheos__run_fn run, int64_t num_units) {
  bool strings = false;
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    rheos_dtype dtype = p->output_dtypes[i];
    strings = strings || dtype == RHEOS_STRING;
    if (dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) {
      return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s of dtype %s is not supported", p->op->name,
                              rheos_dtype_name(dtype));
    }
  }
  if (num_units < 1) num_units = 1;
  if (!strings) {
    p->run = run;
    p->num_units = num_units;
    return NULL;
  }
  const void *state = p->state;
  rheos__operands *operands = rheos__keep_operands(p);
  on_tensors *t = RHEOS_NEW_STATE(p, on_tensors);
  if (operands == NULL || t == NULL) return rheos__out_of_memory();
  *t = (on_tensors){.operands = operands, .run = run, .state = state, .num_units = num_units};
  p->compute = compute_on_tensors;
  return NULL;
}

rheos_status *rheos__answer_run_operands(rheos__prepare *p, rheos__run_fn run, int64_t num_units) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  return rheos__answer_run(p, run, num_units);
}

rheos_status *rheos__answer_compute_operands(rheos__prepare *p, rheos__compute_fn compute) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute;
  return NULL;
}

rheos_status *rheos__bad_indices_policy(const rheos__attrs *attrs, bool *out_ignore) {
  const rheos_attr_value *policy = rheos__attrs_find(attrs, "bad_indices_policy");
  const char *text = policy != NULL ? policy->s.data : "";
  *out_ignore = strcmp(text, "IGNORE") == 0;
  if (*out_ignore || text[0] == '\0' || strcmp(text, "DEFAULT") == 0 ||
      strcmp(text, "ERROR") == 0) {
    return NULL;
  }
  return RHEOS_INVALID("Unknown bad indices handling attribute: %s", text);
}

const char *rheos__position_text_of(const rheos_shape *shape, int64_t at,
                                    rheos__position_text *text) {
  int64_t steps[RHEOS_MAX_RANK];
  rheos__row_major_steps(shape, steps);
  size_t length = 0;
  text->text[0] = '\0';
  for (int32_t d = 0; d < shape->rank; ++d) {
    length += (size_t)snprintf(text->text + length, sizeof text->text - length, "%s%lld%s",
                               d == 0 ? "[" : ",", (long long)(at / steps[d]),
                               d + 1 == shape->rank ? "]" : "");
    assert(length < sizeof text->text);
    at %= steps[d];
  }
  return text->text;
}

rheos_status *rheos__bad_place(const rheos__operands *o, const void *indices, int32_t input,
                               int64_t row, int64_t depth, const rheos_shape *shape,
                               const char *what) {
  char text[RHEOS_MAX_RANK * 24] = "";
  size_t length = 0;
  for (int64_t k = 0; k < depth; ++k) {
    int64_t index = rheos__int_in(o->input_dtypes[input], indices, row * depth + k);
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%lld", k == 0 ? "" : ", ",
                               (long long)index);
  }
  rheos_shape rows = o->input_shapes[input];
  if (rows.rank > 0) rows.rank--;
  rheos__shape_text shape_text;
  rheos__position_text position;
  return RHEOS_INVALID("indices%s = [%s] does not index into %s %s",
                       rheos__position_text_of(&rows, row, &position), text, what,
                       rheos__shape_text_of(shape, &shape_text));
}

bool rheos__place_of(rheos_dtype dtype, const void *indices, int64_t row, int64_t depth,
                     const rheos_shape *shape, int64_t *out_place) {
  assert(depth <= shape->rank);
  int64_t place = 0;
  for (int64_t k = 0; k < depth; ++k) {
    int64_t index = rheos__int_in(dtype, indices, row * depth + k);
    if (index < 0 || index >= shape->dims[k]) return false;
    place = place * shape->dims[k] + index;
  }
  *out_place = place;
  return true;
}

#define ADD(S, ...)                                                                 \
  static void add_##S(void *to, const void *from, int64_t count) {                  \
    typedef rheos__wrapping_##S rheos__wrapping;                                    \
    rheos__stored_##S *a = to;                                                      \
    const rheos__stored_##S *b = from;                                              \
    for (int64_t i = 0; i < count; ++i) {                                           \
      a[i] = RHEOS__STORE_##S(W(RHEOS__LOAD_##S(a[i])) + W(RHEOS__LOAD_##S(b[i]))); \
    }                                                                               \
  }
RHEOS__NUMBERS(ADD, )

static void add_complex64(void *to, const void *from, int64_t count) {
  add_float(to, from, 2 * count);
}

static void add_complex128(void *to, const void *from, int64_t count) {
  add_double(to, from, 2 * count);
}

static void add_bool(void *to, const void *from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) ((bool *)to)[i] |= ((const bool *)from)[i];
}

rheos__add_fn rheos__add_of(rheos_dtype dtype) {
#define ADD_CASE(S, ...) \
  case RHEOS__DTYPE_##S: return add_##S;
  switch (dtype) {
    RHEOS__NUMBERS(ADD_CASE, )
    case RHEOS_BOOL: return add_bool;
    case RHEOS_COMPLEX64: return add_complex64;
    case RHEOS_COMPLEX128: return add_complex128;
    default: return NULL;
  }
}

void rheos__row_major_steps(const rheos_shape *shape, int64_t *steps) {
  assert(shape->rank <= RHEOS_MAX_RANK);
  uint64_t step = 1;
  for (int32_t d = shape->rank - 1; d >= 0; --d) {
    steps[d] = (int64_t)step;
    step *= (uint64_t)shape->dims[d];
  }
}

bool rheos__same_element(rheos_dtype dtype, const void *x, int64_t i, const void *y, int64_t j) {
  const size_t size = rheos_dtype_size(dtype);
  switch (dtype) {
    case RHEOS_FLOAT: return ((const float *)x)[i] == ((const float *)y)[j];
    case RHEOS_DOUBLE: return ((const double *)x)[i] == ((const double *)y)[j];
    case RHEOS_HALF:
      return rheos__half_to_float(((const uint16_t *)x)[i]) ==
             rheos__half_to_float(((const uint16_t *)y)[j]);
    case RHEOS_BFLOAT16:
      return rheos__bfloat16_to_float(((const uint16_t *)x)[i]) ==
             rheos__bfloat16_to_float(((const uint16_t *)y)[j]);
    case RHEOS_COMPLEX64:
      return rheos__same_element(RHEOS_FLOAT, x, 2 * i, y, 2 * j) &&
             rheos__same_element(RHEOS_FLOAT, x, 2 * i + 1, y, 2 * j + 1);
    case RHEOS_COMPLEX128:
      return rheos__same_element(RHEOS_DOUBLE, x, 2 * i, y, 2 * j) &&
             rheos__same_element(RHEOS_DOUBLE, x, 2 * i + 1, y, 2 * j + 1);
    case RHEOS_STRING: {
      const rheos_string *a = (const rheos_string *)x + i, *b = (const rheos_string *)y + j;
      return a->size_bytes == b->size_bytes &&
             (a->size_bytes == 0 || memcmp(a->data, b->data, a->size_bytes) == 0);
    }
    default:
      return memcmp((const char *)x + (size_t)i * size, (const char *)y + (size_t)j * size, size) ==
             0;
  }
}
