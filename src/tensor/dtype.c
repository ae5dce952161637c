// What is known about each dtype: one row each, indexed by TensorFlow's number.
#include "tensor/tensor.h"

#include <string.h>

typedef struct dtype_row {
  const char *name, *ref_name;
} dtype_row;

// Resources and variants are held by pointer.
#define DTYPES(ROW)                           \
  ROW(FLOAT, "float", 4)                      \
  ROW(DOUBLE, "double", 8)                    \
  ROW(INT32, "int32", 4)                      \
  ROW(UINT8, "uint8", 1)                      \
  ROW(INT16, "int16", 2)                      \
  ROW(INT8, "int8", 1)                        \
  ROW(STRING, "string", sizeof(rheos_string)) \
  ROW(COMPLEX64, "complex64", 8)              \
  ROW(INT64, "int64", 8)                      \
  ROW(BOOL, "bool", 1)                        \
  ROW(QINT8, "qint8", 1)                      \
  ROW(QUINT8, "quint8", 1)                    \
  ROW(QINT32, "qint32", 4)                    \
  ROW(BFLOAT16, "bfloat16", 2)                \
  ROW(QINT16, "qint16", 2)                    \
  ROW(QUINT16, "quint16", 2)                  \
  ROW(UINT16, "uint16", 2)                    \
  ROW(COMPLEX128, "complex128", 16)           \
  ROW(HALF, "half", 2)                        \
  ROW(RESOURCE, "resource", sizeof(void *))   \
  ROW(VARIANT, "variant", sizeof(void *))     \
  ROW(UINT32, "uint32", 4)                    \
  ROW(UINT64, "uint64", 8)                    \
  ROW(INT4, "int4", 1)                        \
  ROW(UINT4, "uint4", 1)

#define NAMES(dtype, name, size_bytes) [RHEOS_##dtype] = {name, name "_ref"},
static const dtype_row rows[] = {DTYPES(NAMES)};
#define SIZE(dtype, name, size_bytes) [RHEOS_##dtype] = size_bytes,
const uint8_t rheos__dtype_sizes[RHEOS__DTYPE_SIZES] = {DTYPES(SIZE)};

enum { NUM_ROWS = sizeof rows / sizeof rows[0] };

// Names that Python uses where TensorFlow's files say something else.
static const struct {
  const char *name;
  rheos_dtype dtype;
} aliases[] = {{"float32", RHEOS_FLOAT}, {"float64", RHEOS_DOUBLE}, {"float16", RHEOS_HALF}};

static const dtype_row *row_of(rheos_dtype dtype) {
  static const dtype_row invalid = {"invalid", "invalid_ref"};
  unsigned base = (unsigned)rheos_dtype_base(dtype);
  return base < NUM_ROWS && rows[base].name != NULL ? &rows[base] : &invalid;
}

size_t rheos_dtype_size(rheos_dtype dtype) {
  const size_t size = rheos__dtype_size(dtype);
  return size != 0 ? size : rheos__dtype_size(rheos_dtype_base(dtype));
}

const char *rheos_dtype_name(rheos_dtype dtype) {
  const dtype_row *row = row_of(dtype);
  return rheos_dtype_is_ref(dtype) ? row->ref_name : row->name;
}

rheos_dtype rheos_dtype_from_name(const char *name) {
  if (name == NULL) return RHEOS_INVALID_DTYPE;
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
    case RHEOS_INT4:
    case RHEOS_UINT4: return true;
    default: return false;
  }
}
