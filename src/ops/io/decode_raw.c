// The bytes of strings taken for numbers.
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/string_util.h"

typedef struct raw_state {
  rheos_dtype dtype;
  size_t element_bytes;  // of an element
  size_t number_bytes;   // of what has an order of bytes: a complex element is two numbers
  bool little_endian;
} raw_state;

static rheos_status *new_state(rheos__prepare *p, raw_state **out_state) {
  *out_state = RHEOS_NEW_STATE(p, raw_state);
  if (*out_state == NULL) return rheos__out_of_memory();
  const rheos_dtype dtype = rheos__attr_type(p->attrs, "out_type");
  const size_t bytes = rheos_dtype_size(dtype);
  **out_state = (raw_state){dtype, bytes, rheos_dtype_is_complex(dtype) ? bytes / 2 : bytes,
                            rheos__attr_bool(p->attrs, "little_endian")};
  return NULL;
}

static void swap_bytes(char *data, size_t size_bytes, size_t number_bytes) {
  for (size_t i = 0; i + number_bytes <= size_bytes; i += number_bytes) {
    for (size_t k = 0; k < number_bytes / 2; k++) {
      const char byte = data[i + k];
      data[i + k] = data[i + number_bytes - 1 - k];
      data[i + number_bytes - 1 - k] = byte;
    }
  }
}

// What the machine wants: its order of bytes, and bools that are 0 or 1.
static void make_native(const raw_state *state, rheos_tensor *tensor) {
  char *data = tensor->data;
  if (!state->little_endian) swap_bytes(data, tensor->size_bytes, state->number_bytes);
  for (size_t i = 0; state->dtype == RHEOS_BOOL && i < tensor->size_bytes; i++) {
    data[i] = data[i] != 0;
  }
}

// ---- DecodeRaw

static rheos_status *shape_raw(rheos__infer *c) {
  if (c->input_shapes[0].rank < 0) return NULL;
  rheos_shape shape = c->input_shapes[0];
  RHEOS_TRY(rheos__shape_append(&shape, -1));
  c->output_shapes[0] = shape;
  return NULL;
}

static rheos_status *compute_raw(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  (void)step;
  const raw_state *state = argument;
  const rheos_string *strings = inputs[0]->data;
  const int64_t count = inputs[0]->num_elements;
  const size_t size = count > 0 ? strings[0].size_bytes : 0;
  for (int64_t i = 1; i < count; i++) {
    if (strings[i].size_bytes == size) continue;
    return RHEOS_INVALID(
        "DecodeRaw requires input strings to all be the same size, but element "
        "%lld has size %zu != %zu",
        (long long)i, size, strings[i].size_bytes);
  }
  if (size % state->element_bytes != 0) {
    return RHEOS_INVALID(
        "Input to DecodeRaw has length %zu that is not a multiple of %zu, the size "
        "of %s",
        size, state->element_bytes, rheos_dtype_name(state->dtype));
  }
  rheos_shape shape = inputs[0]->shape;
  RHEOS_TRY(rheos__shape_append(&shape, (int64_t)(size / state->element_bytes)));
  RHEOS_TRY(rheos__tensor_new(state->dtype, &shape, &outputs[0]));
  for (int64_t i = 0; size > 0 && i < count; i++) {
    memcpy((char *)outputs[0]->data + (size_t)i * size, strings[i].data, size);
  }
  make_native(state, outputs[0]);
  return NULL;
}

static rheos_status *prepare_raw(rheos__prepare *p) {
  raw_state *state;
  RHEOS_TRY(new_state(p, &state));
  p->compute = compute_raw;
  return NULL;
}

const rheos__op_def rheos__op_DecodeRaw = {
    .name = "DecodeRaw",
    .signature =
        "bytes: string -> output: out_type; out_type: {half, float, double, int32, uint16, "
        "uint8, int16, int8, int64, complex64, complex128, bool, bfloat16}; "
        "little_endian: bool = true",
    .doc = "The bytes of each string as a vector of `out_type`; all strings have one length.",
    .shape = shape_raw,
    .gradient = rheos__no_gradient,
    .prepare = prepare_raw,
};

// ---- DecodePaddedRaw

static rheos_status *check_length(int64_t length, rheos_dtype dtype) {
  const int64_t element_bytes = (int64_t)rheos_dtype_size(dtype);
  if (length <= 0) {
    return RHEOS_INVALID("fixed_length (%lld) must be greater than zero.", (long long)length);
  }
  if (length % element_bytes != 0) {
    return RHEOS_INVALID("fixed_length (%lld) must be a multiple of the size of out_type (%lld)",
                         (long long)length, (long long)element_bytes);
  }
  return NULL;
}

static rheos_status *shape_padded(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &unused));
  if (c->input_shapes[0].rank < 0) return NULL;
  rheos_shape shape = c->input_shapes[0];
  int64_t length, width = -1;
  if (rheos__infer_int(c, 1, &length)) {
    RHEOS_TRY(check_length(length, c->output_dtypes[0]));
    width = length / (int64_t)rheos_dtype_size(c->output_dtypes[0]);
  }
  RHEOS_TRY(rheos__shape_append(&shape, width));
  c->output_shapes[0] = shape;
  return NULL;
}

static rheos_status *compute_padded(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const raw_state *state = argument;
  const int64_t length = rheos__tensor_int_at(inputs[1], 0);
  RHEOS_TRY(check_length(length, state->dtype));
  rheos_shape shape = inputs[0]->shape;
  RHEOS_TRY(rheos__shape_append(&shape, length / (int64_t)state->element_bytes));
  RHEOS_TRY(rheos__tensor_new(state->dtype, &shape, &outputs[0]));
  const rheos_string *strings = inputs[0]->data;
  char *to = outputs[0]->data;
  const size_t row = (size_t)length;
  for (int64_t i = 0; i < inputs[0]->num_elements; i++, to += row) {
    const size_t size = strings[i].size_bytes < row ? strings[i].size_bytes : row;
    if (size > 0) memcpy(to, strings[i].data, size);
    memset(to + size, 0, row - size);
  }
  make_native(state, outputs[0]);
  return NULL;
}

static rheos_status *prepare_padded(rheos__prepare *p) {
  raw_state *state;
  RHEOS_TRY(new_state(p, &state));
  p->compute = compute_padded;
  return NULL;
}

const rheos__op_def rheos__op_DecodePaddedRaw = {
    .name = "DecodePaddedRaw",
    .signature =
        "input_bytes: string, fixed_length: int32 -> output: out_type; "
        "out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}; "
        "little_endian: bool = true",
    .doc =
        "The first `fixed_length` bytes of each string, zeros where it is shorter, as a vector of "
        "`out_type`.",
    .shape = shape_padded,
    .gradient = rheos__no_gradient,
    .prepare = prepare_padded,
};
