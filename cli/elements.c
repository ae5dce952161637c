// One switch over the dtypes, for text and for JSON.
#include "elements.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tensor/tensor.h"

typedef enum element_kind { SIGNED, UNSIGNED, REAL, COMPLEX, TRUTH, BYTES, OTHER } element_kind;

typedef struct element {
  element_kind kind;
  bool is_float;  // of a real or complex one: single precision is enough to tell it
  int64_t i;
  uint64_t u;
  double re, im;
  rheos_string bytes;
} element;

static element signed_element(int64_t value) { return (element){.kind = SIGNED, .i = value}; }
static element unsigned_element(uint64_t value) { return (element){.kind = UNSIGNED, .u = value}; }
static element real_element(double value, bool is_float) {
  return (element){.kind = REAL, .is_float = is_float, .re = value};
}

static element element_at(const rheos_tensor *tensor, int64_t i) {
  const void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_FLOAT: return real_element(((const float *)data)[i], true);
    case RHEOS_DOUBLE: return real_element(((const double *)data)[i], false);
    case RHEOS_HALF: return real_element(rheos__half_to_float(((const uint16_t *)data)[i]), true);
    case RHEOS_BFLOAT16:
      return real_element(rheos__bfloat16_to_float(((const uint16_t *)data)[i]), true);
    case RHEOS_INT8:
    case RHEOS_QINT8: return signed_element(((const int8_t *)data)[i]);
    case RHEOS_INT16:
    case RHEOS_QINT16: return signed_element(((const int16_t *)data)[i]);
    case RHEOS_INT32:
    case RHEOS_QINT32: return signed_element(((const int32_t *)data)[i]);
    case RHEOS_INT64: return signed_element(((const int64_t *)data)[i]);
    case RHEOS_UINT8:
    case RHEOS_QUINT8: return unsigned_element(((const uint8_t *)data)[i]);
    case RHEOS_UINT16:
    case RHEOS_QUINT16: return unsigned_element(((const uint16_t *)data)[i]);
    case RHEOS_UINT32: return unsigned_element(((const uint32_t *)data)[i]);
    case RHEOS_UINT64: return unsigned_element(((const uint64_t *)data)[i]);
    case RHEOS_BOOL: return (element){.kind = TRUTH, .u = ((const uint8_t *)data)[i]};
    case RHEOS_COMPLEX64:
      return (element){.kind = COMPLEX,
                       .is_float = true,
                       .re = ((const float *)data)[2 * i],
                       .im = ((const float *)data)[2 * i + 1]};
    case RHEOS_COMPLEX128:
      return (element){.kind = COMPLEX,
                       .re = ((const double *)data)[2 * i],
                       .im = ((const double *)data)[2 * i + 1]};
    case RHEOS_STRING:
      return (element){.kind = BYTES, .bytes = ((const rheos_string *)data)[i]};
    default: return (element){.kind = OTHER};
  }
}

void element_print(FILE *out, const rheos_tensor *tensor, int64_t index) {
  const element e = element_at(tensor, index);
  switch (e.kind) {
    case SIGNED: fprintf(out, "%lld", (long long)e.i); break;
    case UNSIGNED: fprintf(out, "%llu", (unsigned long long)e.u); break;
    case REAL: text_print_number(out, e.re, e.is_float); break;
    case TRUTH: fputs(e.u != 0 ? "true" : "false", out); break;
    case COMPLEX:
      fputs("(", out);
      text_print_number(out, e.re, e.is_float);
      if (!(e.im < 0)) fputs("+", out);
      text_print_number(out, e.im, e.is_float);
      fputs("j)", out);
      break;
    case BYTES:
      fputs("\"", out);
      text_print(out, e.bytes.data, e.bytes.size_bytes);
      fputs("\"", out);
      break;
    default: fputs("?", out); break;
  }
}

static bool is_utf8(const rheos_string *bytes) {
  for (size_t i = 0; i < bytes->size_bytes;) {
    const size_t length = text_character(bytes->data + i, bytes->size_bytes - i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

static void bytes_json(json *j, const rheos_string *bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (is_utf8(bytes)) {
    json_bytes(j, NULL, bytes->data, bytes->size_bytes);
    return;
  }
  char *text = command_alloc(bytes->size_bytes / 3 * 4 + 5), *to = text;
  for (size_t i = 0; i < bytes->size_bytes; i += 3) {
    uint32_t group = 0;
    const size_t count = bytes->size_bytes - i < 3 ? bytes->size_bytes - i : 3;
    for (size_t k = 0; k < 3; k++) {
      group = group << 8 | (k < count ? (unsigned char)bytes->data[i + k] : 0);
    }
    for (size_t k = 0; k < 4; k++) {
      *to++ = k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  json_begin(j, NULL, '{');
  json_bytes(j, "b64", text, (size_t)(to - text));
  json_end(j, '}');
  free(text);
}

void element_json(json *j, const rheos_tensor *tensor, int64_t index) {
  const element e = element_at(tensor, index);
  switch (e.kind) {
    case SIGNED: json_int(j, NULL, e.i); break;
    case UNSIGNED: json_unsigned(j, NULL, e.u); break;
    case REAL: json_number(j, NULL, e.re, e.is_float); break;
    case TRUTH: json_bool(j, NULL, e.u != 0); break;
    case COMPLEX:
      json_begin(j, NULL, '[');
      json_number(j, NULL, e.re, e.is_float);
      json_number(j, NULL, e.im, e.is_float);
      json_end(j, ']');
      break;
    case BYTES: bytes_json(j, &e.bytes); break;
    default: json_null(j, NULL); break;
  }
}

void elements_json(json *j, const char *key, const rheos_tensor *tensor) {
  const rheos_shape *shape = rheos_tensor_shape(tensor);
  const int64_t count = rheos_tensor_num_elements(tensor);
  if (shape->rank == 0) {
    json_key(j, key);
    element_json(j, tensor, 0);
    return;
  }
  // A list is open for each dimension; `at` counts the elements, `index` where each list is.
  int64_t index[RHEOS_MAX_RANK] = {0}, at = 0;
  int32_t depth = 0;
  json_key(j, key);
  json_begin(j, NULL, '[');
  for (;;) {
    if (index[depth] == shape->dims[depth]) {
      json_end(j, ']');
      if (depth-- == 0) break;
      index[depth]++;
    } else if (depth + 1 < shape->rank) {
      json_begin(j, NULL, '[');
      index[++depth] = 0;
    } else if (at < count) {
      element_json(j, tensor, at++);
      index[depth]++;
    }
  }
}
