// What is known about each dtype: one row each, indexed by TensorFlow's number.
#include <string.h>

#include "tensor/tensor.h"

typedef struct dtype_row {
  const char *name, *ref_name;
  size_t size_bytes;
} dtype_row;

// Resources and variants are held by pointer.
static const dtype_row rows[] = {
    [RHEOS_FLOAT] = {"float", "float_ref", 4},
    [RHEOS_DOUBLE] = {"double", "double_ref", 8},
    [RHEOS_INT32] = {"int32", "int32_ref", 4},
    [RHEOS_UINT8] = {"uint8", "uint8_ref", 1},
    [RHEOS_INT16] = {"int16", "int16_ref", 2},
    [RHEOS_INT8] = {"int8", "int8_ref", 1},
    [RHEOS_STRING] = {"string", "string_ref", sizeof(rheos_string)},
    [RHEOS_COMPLEX64] = {"complex64", "complex64_ref", 8},
    [RHEOS_INT64] = {"int64", "int64_ref", 8},
    [RHEOS_BOOL] = {"bool", "bool_ref", 1},
    [RHEOS_QINT8] = {"qint8", "qint8_ref", 1},
    [RHEOS_QUINT8] = {"quint8", "quint8_ref", 1},
    [RHEOS_QINT32] = {"qint32", "qint32_ref", 4},
    [RHEOS_BFLOAT16] = {"bfloat16", "bfloat16_ref", 2},
    [RHEOS_QINT16] = {"qint16", "qint16_ref", 2},
    [RHEOS_QUINT16] = {"quint16", "quint16_ref", 2},
    [RHEOS_UINT16] = {"uint16", "uint16_ref", 2},
    [RHEOS_COMPLEX128] = {"complex128", "complex128_ref", 16},
    [RHEOS_HALF] = {"half", "half_ref", 2},
    [RHEOS_RESOURCE] = {"resource", "resource_ref", sizeof(void *)},
    [RHEOS_VARIANT] = {"variant", "variant_ref", sizeof(void *)},
    [RHEOS_UINT32] = {"uint32", "uint32_ref", 4},
    [RHEOS_UINT64] = {"uint64", "uint64_ref", 8},
};

enum { NUM_ROWS = sizeof rows / sizeof rows[0] };

// Names that Python uses where TensorFlow's files say something else.
static const struct {
  const char *name;
  rheos_dtype dtype;
} aliases[] = {{"float32", RHEOS_FLOAT}, {"float64", RHEOS_DOUBLE}, {"float16", RHEOS_HALF}};

static const dtype_row *row_of(rheos_dtype dtype) {
  static const dtype_row invalid = {"invalid", "invalid_ref", 0};
  unsigned base = (unsigned)rheos_dtype_base(dtype);
  return base < NUM_ROWS && rows[base].name != NULL ? &rows[base] : &invalid;
}

size_t rheos_dtype_size(rheos_dtype dtype) {
  const unsigned row = (unsigned)dtype;
  return row < NUM_ROWS ? rows[row].size_bytes : row_of(dtype)->size_bytes;
}

const char *rheos_dtype_name(rheos_dtype dtype) {
  const dtype_row *row = row_of(dtype);
  return rheos_dtype_is_ref(dtype) ? row->ref_name : row->name;
}

rheos_dtype rheos_dtype_from_name(const char *name) {
  if (name == NULL) return RHEOS_INVALID_DTYPE;
  size_t length = strlen(name);
  int ref = length > 4 && strcmp(name + length - 4, "_ref") == 0 ? RHEOS_REF : 0;
  if (ref != 0) length -= 4;
  for (int i = 1; i < NUM_ROWS; i++) {
    const char *row = rows[i].name;
    if (row != NULL && strlen(row) == length && memcmp(row, name, length) == 0) {
      return (rheos_dtype)(i + ref);
    }
  }
  for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
    if (strlen(aliases[i].name) == length && memcmp(aliases[i].name, name, length) == 0) {
      return (rheos_dtype)((int)aliases[i].dtype + ref);
    }
  }
  return RHEOS_INVALID_DTYPE;
}

bool rheos_dtype_is_ref(rheos_dtype dtype) { return (unsigned)dtype > RHEOS_REF; }

rheos_dtype rheos_dtype_base(rheos_dtype dtype) {
  return rheos_dtype_is_ref(dtype) ? (rheos_dtype)((int)dtype - RHEOS_REF) : dtype;
}

bool rheos_dtype_is_floating(rheos_dtype dtype) {
  rheos_dtype base = rheos_dtype_base(dtype);
  return base == RHEOS_FLOAT || base == RHEOS_DOUBLE || base == RHEOS_HALF ||
         base == RHEOS_BFLOAT16;
}

bool rheos_dtype_is_complex(rheos_dtype dtype) {
  rheos_dtype base = rheos_dtype_base(dtype);
  return base == RHEOS_COMPLEX64 || base == RHEOS_COMPLEX128;
}

bool rheos_dtype_is_integer(rheos_dtype dtype) {
  switch ((int)rheos_dtype_base(dtype)) {
    case RHEOS_INT8:
    case RHEOS_INT16:
    case RHEOS_INT32:
    case RHEOS_INT64:
    case RHEOS_UINT8:
    case RHEOS_UINT16:
    case RHEOS_UINT32:
    case RHEOS_UINT64:
      return true;
    default:
      return false;
  }
}
