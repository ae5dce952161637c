// One switch over the dtypes to read an element, one to write it.
#include "elements.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "status.h"

static element signed_element(int64_t value) {
  return (element){.kind = ELEMENT_SIGNED, .i = value};
}
static element unsigned_element(uint64_t value) {
  return (element){.kind = ELEMENT_UNSIGNED, .u = value};
}
static element real_element(double value, bool is_float) {
  return (element){.kind = ELEMENT_REAL, .is_float = is_float, .re = value};
}

element element_at(const rheos_tensor *tensor, int64_t i) {
  const void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_FLOAT: return real_element(((const float *)data)[i], true);
    case RHEOS_DOUBLE: return real_element(((const double *)data)[i], false);
    case RHEOS_HALF: return real_element(rheos_half_to_float(((const uint16_t *)data)[i]), true);
    case RHEOS_BFLOAT16:
      return real_element(rheos_bfloat16_to_float(((const uint16_t *)data)[i]), true);
    case RHEOS_INT8:
    case RHEOS_INT4:
    case RHEOS_QINT8: return signed_element(((const int8_t *)data)[i]);
    case RHEOS_INT16:
    case RHEOS_QINT16: return signed_element(((const int16_t *)data)[i]);
    case RHEOS_INT32:
    case RHEOS_QINT32: return signed_element(((const int32_t *)data)[i]);
    case RHEOS_INT64: return signed_element(((const int64_t *)data)[i]);
    case RHEOS_UINT8:
    case RHEOS_UINT4:
    case RHEOS_QUINT8: return unsigned_element(((const uint8_t *)data)[i]);
    case RHEOS_UINT16:
    case RHEOS_QUINT16: return unsigned_element(((const uint16_t *)data)[i]);
    case RHEOS_UINT32: return unsigned_element(((const uint32_t *)data)[i]);
    case RHEOS_UINT64: return unsigned_element(((const uint64_t *)data)[i]);
    case RHEOS_BOOL: return (element){.kind = ELEMENT_TRUTH, .u = ((const uint8_t *)data)[i]};
    case RHEOS_COMPLEX64:
      return (element){.kind = ELEMENT_COMPLEX,
                       .is_float = true,
                       .re = ((const float *)data)[2 * i],
                       .im = ((const float *)data)[2 * i + 1]};
    case RHEOS_COMPLEX128:
      return (element){.kind = ELEMENT_COMPLEX,
                       .re = ((const double *)data)[2 * i],
                       .im = ((const double *)data)[2 * i + 1]};
    case RHEOS_STRING:
      return (element){.kind = ELEMENT_BYTES, .bytes = ((const rheos_string *)data)[i]};
    default: return (element){.kind = ELEMENT_OTHER};
  }
}

// ---- Writing

static rheos_status *does_not_fit(const element *e, rheos_dtype dtype) {
  const char *name = rheos_dtype_name(dtype);
  switch (e->kind) {
    case ELEMENT_SIGNED: return INVALID("%lld is no %s", (long long)e->i, name);
    case ELEMENT_UNSIGNED: return INVALID("%llu is no %s", (unsigned long long)e->u, name);
    case ELEMENT_REAL: return INVALID("%.17g is no %s", e->re, name);
    case ELEMENT_TRUTH: return INVALID("a truth value is no %s", name);
    case ELEMENT_COMPLEX: return INVALID("a complex number is no %s", name);
    default: return INVALID("a text is no %s", name);
  }
}

static bool to_real(const element *e, double *out_value) {
  switch (e->kind) {
    case ELEMENT_SIGNED: *out_value = (double)e->i; return true;
    case ELEMENT_UNSIGNED: *out_value = (double)e->u; return true;
    case ELEMENT_REAL: *out_value = e->re; return true;
    default: return false;
  }
}

static bool to_signed(const element *e, int bits, int64_t *out_value) {
  const int64_t most = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
  switch (e->kind) {
    case ELEMENT_SIGNED: *out_value = e->i; break;
    case ELEMENT_UNSIGNED:
      if (e->u > INT64_MAX) return false;
      *out_value = (int64_t)e->u;
      break;
    case ELEMENT_REAL:
      if (!(e->re >= -0x1p63 && e->re < 0x1p63) || e->re != (double)(int64_t)e->re) return false;
      *out_value = (int64_t)e->re;
      break;
    default: return false;
  }
  return *out_value <= most && *out_value >= -most - 1;
}

static bool to_unsigned(const element *e, int bits, uint64_t *out_value) {
  switch (e->kind) {
    case ELEMENT_SIGNED:
      if (e->i < 0) return false;
      *out_value = (uint64_t)e->i;
      break;
    case ELEMENT_UNSIGNED: *out_value = e->u; break;
    case ELEMENT_REAL:
      if (!(e->re >= 0 && e->re < 0x1p64) || e->re != (double)(uint64_t)e->re) return false;
      *out_value = (uint64_t)e->re;
      break;
    default: return false;
  }
  return bits == 64 || *out_value < UINT64_C(1) << bits;
}

static bool set_integer(rheos_dtype dtype, void *data, int64_t index, const element *e) {
  int64_t i = 0;
  uint64_t u = 0;
  switch (dtype) {
    case RHEOS_INT8:
    case RHEOS_QINT8:
      if (!to_signed(e, 8, &i)) return false;
      ((int8_t *)data)[index] = (int8_t)i;
      return true;
    case RHEOS_INT16:
    case RHEOS_QINT16:
      if (!to_signed(e, 16, &i)) return false;
      ((int16_t *)data)[index] = (int16_t)i;
      return true;
    case RHEOS_INT32:
    case RHEOS_QINT32:
      if (!to_signed(e, 32, &i)) return false;
      ((int32_t *)data)[index] = (int32_t)i;
      return true;
    case RHEOS_INT64:
      if (!to_signed(e, 64, &i)) return false;
      ((int64_t *)data)[index] = i;
      return true;
    case RHEOS_UINT8:
    case RHEOS_QUINT8:
      if (!to_unsigned(e, 8, &u)) return false;
      ((uint8_t *)data)[index] = (uint8_t)u;
      return true;
    case RHEOS_UINT16:
    case RHEOS_QUINT16:
      if (!to_unsigned(e, 16, &u)) return false;
      ((uint16_t *)data)[index] = (uint16_t)u;
      return true;
    case RHEOS_UINT32:
      if (!to_unsigned(e, 32, &u)) return false;
      ((uint32_t *)data)[index] = (uint32_t)u;
      return true;
    case RHEOS_UINT64:
      if (!to_unsigned(e, 64, &u)) return false;
      ((uint64_t *)data)[index] = u;
      return true;
    default: return false;
  }
}

static bool set_real(rheos_dtype dtype, void *data, int64_t index, const element *e) {
  double value;
  if (!to_real(e, &value)) return false;
  switch (dtype) {
    case RHEOS_FLOAT: ((float *)data)[index] = (float)value; return true;
    case RHEOS_DOUBLE: ((double *)data)[index] = value; return true;
    case RHEOS_HALF: ((uint16_t *)data)[index] = rheos_float_to_half((float)value); return true;
    case RHEOS_BFLOAT16:
      ((uint16_t *)data)[index] = rheos_float_to_bfloat16((float)value);
      return true;
    default: return false;
  }
}

static bool set_complex(rheos_dtype dtype, void *data, int64_t index, const element *e) {
  double re = e->re;
  const double im = e->kind == ELEMENT_COMPLEX ? e->im : 0;
  if (e->kind != ELEMENT_COMPLEX && !to_real(e, &re)) return false;
  if (dtype == RHEOS_COMPLEX64) {
    ((float *)data)[2 * index] = (float)re;
    ((float *)data)[2 * index + 1] = (float)im;
  } else {
    ((double *)data)[2 * index] = re;
    ((double *)data)[2 * index + 1] = im;
  }
  return true;
}

rheos_status *element_set(rheos_tensor *tensor, int64_t index, const element *e) {
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  void *data = rheos_tensor_data(tensor);
  bool fits = false;
  if (dtype == RHEOS_STRING && e->kind == ELEMENT_BYTES) {
    return rheos_tensor_set_string(tensor, index, e->bytes.data, e->bytes.size_bytes);
  }
  if (dtype == RHEOS_BOOL && e->kind == ELEMENT_TRUTH) {
    ((uint8_t *)data)[index] = e->u != 0;
    fits = true;
  } else if (rheos_dtype_is_complex(dtype)) {
    fits = set_complex(dtype, data, index, e);
  } else {
    fits = set_real(dtype, data, index, e) || set_integer(dtype, data, index, e);
  }
  return fits ? NULL : does_not_fit(e, dtype);
}

rheos_status *elements_convert(rheos_tensor *tensor, rheos_dtype dtype, rheos_tensor **out_tensor) {
  const rheos_dtype from = rheos_tensor_dtype(tensor);
  *out_tensor = NULL;
  if (from == dtype) {
    *out_tensor = rheos_tensor_ref(tensor);
    return NULL;
  }
  rheos_tensor *converted;
  TRY(rheos_tensor_new(dtype, *rheos_tensor_shape(tensor), &converted));
  rheos_status *status = NULL;
  if (dtype == RHEOS_BFLOAT16 && from == RHEOS_UINT16) {
    memcpy(rheos_tensor_data(converted), rheos_tensor_data(tensor),
           rheos_tensor_size_bytes(tensor));
  } else {
    for (int64_t i = 0; i < rheos_tensor_num_elements(tensor) && status == NULL; i++) {
      const element e = element_at(tensor, i);
      status = element_set(converted, i, &e);
    }
  }
  if (status != NULL) {
    rheos_tensor_unref(converted);
    return status;
  }
  *out_tensor = converted;
  return NULL;
}

// ---- As text and as JSON

void element_print(FILE *out, const rheos_tensor *tensor, int64_t index) {
  const element e = element_at(tensor, index);
  switch (e.kind) {
    case ELEMENT_SIGNED: fprintf(out, "%lld", (long long)e.i); break;
    case ELEMENT_UNSIGNED: fprintf(out, "%llu", (unsigned long long)e.u); break;
    case ELEMENT_REAL: text_print_number(out, e.re, e.is_float); break;
    case ELEMENT_TRUTH: fputs(e.u != 0 ? "true" : "false", out); break;
    case ELEMENT_COMPLEX:
      fputs("(", out);
      text_print_number(out, e.re, e.is_float);
      if (!(e.im < 0)) fputs("+", out);
      text_print_number(out, e.im, e.is_float);
      fputs("j)", out);
      break;
    case ELEMENT_BYTES:
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
  if (is_utf8(bytes)) {
    json_bytes(j, NULL, bytes->data, bytes->size_bytes);
    return;
  }
  json_begin(j, NULL, '{');
  json_base64(j, "b64", bytes->data, bytes->size_bytes);
  json_end(j, '}');
}

void elements_print(FILE *out, const rheos_tensor *tensor, int64_t most) {
  const int64_t count = rheos_tensor_num_elements(tensor);
  for (int64_t i = 0; i < count && i < most; i++) {
    if (i > 0) fputc(' ', out);
    element_print(out, tensor, i);
  }
  if (count > most) fputs(" ...", out);
}

void element_json(json *j, const rheos_tensor *tensor, int64_t index) {
  const element e = element_at(tensor, index);
  switch (e.kind) {
    case ELEMENT_SIGNED: json_int(j, NULL, e.i); break;
    case ELEMENT_UNSIGNED: json_unsigned(j, NULL, e.u); break;
    case ELEMENT_REAL: json_number(j, NULL, e.re, e.is_float); break;
    case ELEMENT_TRUTH: json_bool(j, NULL, e.u != 0); break;
    case ELEMENT_COMPLEX:
      json_begin(j, NULL, '[');
      json_number(j, NULL, e.re, e.is_float);
      json_number(j, NULL, e.im, e.is_float);
      json_end(j, ']');
      break;
    case ELEMENT_BYTES: bytes_json(j, &e.bytes); break;
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
