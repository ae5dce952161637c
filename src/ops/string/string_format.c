// Numbers to strings and back: AsString, StringFormat, StringToNumber.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/string_util.h"
#include "ops/kit/summarize.h"

// ---- AsString

// The widest field and most digits: what a format asks for must not fill the memory.
enum { MAX_FIELD = 4096, MAX_NUMBER_TEXT = 400 + 2 * MAX_FIELD };

typedef struct as_string_state {
  rheos_dtype dtype;
  char format[64];  // of one number, as printf takes it
} as_string_state;

static bool is_real(rheos_dtype dtype) {
  return rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype);
}

static rheos_status *check_as_string(const rheos__attrs *attrs, rheos_dtype dtype) {
  const bool scientific = rheos__attr_bool(attrs, "scientific");
  const bool shortest = rheos__attr_bool(attrs, "shortest");
  const char *fill = rheos__attr_string(attrs, "fill");
  if (scientific && shortest) {
    return RHEOS_INVALID("Cannot select both scientific and shortest notation");
  }
  const bool takes_digits = is_real(dtype) || dtype == RHEOS_STRING;  // strings ignore them
  if (!takes_digits && (scientific || shortest)) {
    return RHEOS_INVALID("scientific and shortest format not supported for datatype %s",
                         rheos_dtype_name(dtype));
  }
  if (!takes_digits && rheos__attr_int(attrs, "precision") >= 0) {
    return RHEOS_INVALID("precision not supported for datatype %s", rheos_dtype_name(dtype));
  }
  if (strlen(fill) > 1) return RHEOS_INVALID("Fill string must be one or fewer characters");
  if (fill[0] != '\0' && strchr(" +-0#", fill[0]) == NULL) {
    return RHEOS_INVALID("Fill argument not supported: \"%s\"", fill);
  }
  if (rheos__attr_int(attrs, "width") > MAX_FIELD ||
      rheos__attr_int(attrs, "precision") > MAX_FIELD) {
    return RHEOS_INVALID("width and precision are limited to %d", (int)MAX_FIELD);
  }
  return NULL;
}

static void make_format(const rheos__attrs *attrs, rheos_dtype dtype, char *format, size_t size) {
  const int width = (int)rheos__attr_int(attrs, "width");
  const int precision = (int)rheos__attr_int(attrs, "precision");
  int n = snprintf(format, size, "%%%s", rheos__attr_string(attrs, "fill"));
  if (width > -1) n += snprintf(format + n, size - (size_t)n, "%d", width);
  if (precision > -1 && (dtype != RHEOS_STRING || width > -1)) {
    n += snprintf(format + n, size - (size_t)n, ".%d", precision);
  }
  const char *kind = dtype == RHEOS_STRING ? "s" : rheos_dtype_is_integer(dtype) ? PRId64 : "f";
  if (dtype == RHEOS_UINT64) kind = PRIu64;
  if (dtype != RHEOS_STRING && rheos__attr_bool(attrs, "scientific")) kind = "e";
  if (dtype != RHEOS_STRING && rheos__attr_bool(attrs, "shortest")) kind = "g";
  snprintf(format + n, size - (size_t)n, "%s", kind);
}

// The formats come from make_format(), which knows what they are given.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void add_real(rheos__text *text, const char *format, double value) {
  char buffer[MAX_NUMBER_TEXT];
  snprintf(buffer, sizeof buffer, format, value);
  rheos__text_add_string(text, buffer);
}

static void add_integer(rheos__text *text, const char *format, const rheos_tensor *tensor,
                        int64_t i) {
  char buffer[MAX_NUMBER_TEXT];
  if (tensor->dtype == RHEOS_UINT64) {
    snprintf(buffer, sizeof buffer, format, ((const uint64_t *)tensor->data)[i]);
  } else {
    snprintf(buffer, sizeof buffer, format, rheos__tensor_int_at(tensor, i));
  }
  rheos__text_add_string(text, buffer);
}

#pragma GCC diagnostic pop

// A string in its field: printf would stop at a NUL.
static void add_padded(rheos__text *text, const char *format, const rheos_string *string) {
  const bool left = strchr(format, '-') != NULL;
  const size_t width = (size_t)strtol(format + 1 + strspn(format + 1, " +-0#"), NULL, 10);
  const char *point = strchr(format, '.');
  const size_t most = point != NULL ? (size_t)strtol(point + 1, NULL, 10) : SIZE_MAX;
  const size_t size = string->size_bytes < most ? string->size_bytes : most;
  if (left) rheos__text_add(text, string->data, size);
  for (size_t n = size; n < width; n++) rheos__text_add(text, " ", 1);
  if (!left) rheos__text_add(text, string->data, size);
}

static void add_pair(rheos__text *text, const char *format, double real, double imaginary) {
  rheos__text_add(text, "(", 1);
  add_real(text, format, real);
  rheos__text_add(text, ",", 1);
  add_real(text, format, imaginary);
  rheos__text_add(text, ")", 1);
}

static void add_element(rheos__text *text, const as_string_state *state, const rheos_tensor *tensor,
                        int64_t i) {
  const void *data = tensor->data;
  const char *format = state->format;
  switch (tensor->dtype) {
    case RHEOS_BOOL:
      rheos__text_add_string(text, ((const bool *)data)[i] ? "true" : "false");
      return;
    case RHEOS_STRING: add_padded(text, format, &((const rheos_string *)data)[i]); return;
    case RHEOS_FLOAT: add_real(text, format, (double)((const float *)data)[i]); return;
    case RHEOS_DOUBLE: add_real(text, format, ((const double *)data)[i]); return;
    case RHEOS_HALF:
      add_real(text, format, (double)rheos__half_to_float(((const uint16_t *)data)[i]));
      return;
    case RHEOS_BFLOAT16:
      add_real(text, format, (double)rheos__bfloat16_to_float(((const uint16_t *)data)[i]));
      return;
    case RHEOS_COMPLEX64: {
      const float *parts = (const float *)data + 2 * i;
      add_pair(text, format, (double)parts[0], (double)parts[1]);
      return;
    }
    case RHEOS_COMPLEX128: {
      const double *parts = (const double *)data + 2 * i;
      add_pair(text, format, parts[0], parts[1]);
      return;
    }
    default: add_integer(text, format, tensor, i);
  }
}

static rheos_status *compute_as_string(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &inputs[0]->shape, &outputs[0]));
  rheos__text text = {0};
  rheos_status *status = NULL;
  for (int64_t i = 0; status == NULL && i < inputs[0]->num_elements; i++) {
    text.size = 0;
    add_element(&text, state, inputs[0], i);
    status = rheos__set_text(outputs[0], i, &text);
  }
  rheos__text_deinit(&text);
  return status;
}

static rheos_status *prepare_as_string(rheos__prepare *p) {
  as_string_state *state = RHEOS_NEW_STATE(p, as_string_state);
  if (state == NULL) return rheos__out_of_memory();
  state->dtype = p->input_dtypes[0];
  if (state->dtype == RHEOS_VARIANT) return rheos__no_kernel(p, state->dtype);
  RHEOS_TRY(check_as_string(p->attrs, state->dtype));
  make_format(p->attrs, state->dtype, state->format, sizeof state->format);
  p->compute = compute_as_string;
  return NULL;
}

const rheos__op_def rheos__op_AsString = {
    .name = "AsString",
    .signature =
        "input: T -> output: string; T: {float, double, int32, uint8, int16, int8, int64, "
        "bfloat16, uint16, half, uint32, uint64, complex64, complex128, bool, variant, "
        "string}; precision: int = -1; scientific: bool = false; shortest: bool = false; "
        "width: int = -1; fill: string = \"\"",
    .doc = "Each element as text, in a field of `width` with `precision` digits.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_as_string,
};

// ---- StringFormat

typedef struct format_state {
  int32_t num_inputs;
  int64_t summarize;
  const rheos_attr_value *template, *placeholder;
} format_state;

static rheos_status *compute_format(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const format_state *state = argument;
  const rheos_attr_value *placeholder = state->placeholder;
  const char *at = state->template->s.data, *end = at + state->template->s.size_bytes;
  rheos__text text = {0};
  for (int32_t i = 0; i < state->num_inputs; i++) {
    const char *place =
        memmem(at, (size_t)(end - at), placeholder->s.data, placeholder->s.size_bytes);
    rheos__text_add(&text, at, (size_t)(place - at));
    rheos__summarize_v2(&text, inputs[i], state->summarize);
    at = place + placeholder->s.size_bytes;
  }
  rheos__text_add(&text, at, (size_t)(end - at));
  return rheos__text_tensor_take(&text, &outputs[0]);
}

static int64_t count_places(const rheos_attr_value *template, const rheos_attr_value *placeholder) {
  const char *at = template->s.data, *end = at + template->s.size_bytes;
  const size_t size = placeholder->s.size_bytes;
  if (size == 0) return (int64_t)template->s.size_bytes + 1;
  int64_t count = 0;
  for (; (at = memmem(at, (size_t)(end - at), placeholder->s.data, size)) != NULL; at += size) {
    count++;
  }
  return count;
}

static rheos_status *check_places(const rheos__attrs *attrs, int32_t num_inputs) {
  const int64_t places =
      count_places(rheos__attrs_find(attrs, "template"), rheos__attrs_find(attrs, "placeholder"));
  if (places == num_inputs) return NULL;
  return RHEOS_INVALID("num placeholders in template and num inputs must match: %lld vs. %d",
                       (long long)places, (int)num_inputs);
}

static rheos_status *shape_format(rheos__infer *c) {
  RHEOS_TRY(check_places(c->attrs, c->num_inputs));
  return rheos__shape_scalar(c);
}

static rheos_status *prepare_format(rheos__prepare *p) {
  format_state *state = RHEOS_NEW_STATE(p, format_state);
  if (state == NULL) return rheos__out_of_memory();
  state->num_inputs = p->num_inputs;
  state->summarize = rheos__attr_int(p->attrs, "summarize");
  state->template = rheos__attrs_find(p->attrs, "template");
  state->placeholder = rheos__attrs_find(p->attrs, "placeholder");
  for (int32_t i = 0; i < p->num_inputs; i++) {
    if (p->input_dtypes[i] == RHEOS_RESOURCE || p->input_dtypes[i] == RHEOS_VARIANT) {
      return rheos__no_kernel(p, p->input_dtypes[i]);
    }
  }
  p->compute = compute_format;
  return NULL;
}

const rheos__op_def rheos__op_StringFormat = {
    .name = "StringFormat",
    .signature =
        "inputs: T -> output: string; T: list(type); template: string = \"%s\"; "
        "placeholder: string = \"%s\"; summarize: int = 3",
    .doc =
        "`template` with the values of the inputs in the place of each `placeholder`; at most "
        "`summarize` elements at each end of a dimension.",
    .shape = shape_format,
    .prepare = prepare_format,
};

// ---- StringToNumber

// A copy without white space at the ends, NUL-terminated; false if it is empty or cannot be a
// number.
static bool trimmed(const rheos_string *in, char *buffer, size_t size) {
  size_t first = 0, last = in->size_bytes;
  while (first < last && rheos__is_space(in->data[first])) first++;
  while (first < last && rheos__is_space(in->data[last - 1])) last--;
  if (first == last || last - first >= size) return false;
  memcpy(buffer, in->data + first, last - first);
  buffer[last - first] = '\0';
  return memchr(buffer, '\0', last - first) == NULL;
}

static bool parse_real(const char *text, bool single, void *out) {
  char *end;
  if (single) {
    *(float *)out = strtof(text, &end);
  } else {
    *(double *)out = strtod(text, &end);
  }
  return *end == '\0' && end != text;
}

// Decimal digits after a sign; `limit` is the largest magnitude for that sign.
static bool parse_integer(const char *text, uint64_t most_positive, uint64_t most_negative,
                          uint64_t *out_value) {
  const bool negative = *text == '-';
  const uint64_t limit = negative ? most_negative : most_positive;
  if (negative && most_negative == 0) return false;
  if (*text == '-' || *text == '+') text++;
  if (*text == '\0') return false;
  uint64_t value = 0;
  for (; *text != '\0'; text++) {
    if (*text < '0' || *text > '9') return false;
    const uint64_t digit = (uint64_t)(*text - '0');
    if (value > (limit - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *out_value = negative ? 0 - value : value;
  return true;
}

bool rheos__parse_number(const rheos_string *in, rheos_dtype dtype, void *out) {
  char text[1100];  // longer than any double written out
  uint64_t value;
  if (!trimmed(in, text, sizeof text)) return false;
  switch (dtype) {
    case RHEOS_FLOAT: return parse_real(text, true, out);
    case RHEOS_DOUBLE: return parse_real(text, false, out);
    case RHEOS_INT32:
      if (!parse_integer(text, INT32_MAX, (uint64_t)INT32_MAX + 1, &value)) return false;
      *(int32_t *)out = (int32_t)value;
      return true;
    case RHEOS_INT64:
      if (!parse_integer(text, INT64_MAX, (uint64_t)INT64_MAX + 1, &value)) return false;
      *(int64_t *)out = (int64_t)value;
      return true;
    case RHEOS_UINT32:
      if (!parse_integer(text, UINT32_MAX, 0, &value)) return false;
      *(uint32_t *)out = (uint32_t)value;
      return true;
    default: return parse_integer(text, UINT64_MAX, 0, out);
  }
}

typedef struct number_state {
  rheos__string_units units;
  rheos_dtype dtype;
} number_state;

static rheos_status *run_number(const void *argument, const void *const *inputs,
                                void *const *outputs, void *scratch, int64_t first, int64_t last) {
  (void)scratch;
  const number_state *state = argument;
  const rheos_string *strings = inputs[0];
  const int64_t size = (int64_t)rheos_dtype_size(state->dtype);
  last = rheos__last_unit(state, last);
  for (int64_t i = first; i < last; i++) {
    if (rheos__parse_number(&strings[i], state->dtype, (char *)outputs[0] + i * size)) continue;
    return RHEOS_INVALID("StringToNumberOp could not correctly convert string: %.*s",
                         (int)(strings[i].size_bytes < 200 ? strings[i].size_bytes : 200),
                         strings[i].size_bytes > 0 ? strings[i].data : "");
  }
  return NULL;
}

static rheos_status *prepare_number(rheos__prepare *p) {
  number_state *state = RHEOS_NEW_STATE(p, number_state);
  if (state == NULL) return rheos__out_of_memory();
  state->dtype = p->output_dtypes[0];
  rheos__answer_string_units(p, run_number);
  return NULL;
}

const rheos__op_def rheos__op_StringToNumber = {
    .name = "StringToNumber",
    .signature =
        "string_tensor: string -> output: out_type; "
        "out_type: {float, double, int32, int64, uint32, uint64} = float",
    .doc = "The number that each string is the text of.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_number,
};
