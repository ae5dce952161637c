// Nested lists of Python's own numbers, truth values and texts as tensors, in one pass and without
// an array between. What this does not take (ragged lists, objects, numbers that do not fit) is
// left to the slower way by NumPy, which also says what is wrong.

#include "core.h"

#include <string.h>

typedef enum outcome { STORED, DECLINED, WANTS_INT64, WANTS_FLOAT } outcome;

typedef struct filling {
  rheos_tensor *tensor;
  rheos_shape shape;
  rheos_dtype dtype;
  bool is_given;        // the dtype; else it follows from the values
  int64_t least, most;  // of an integer
  int64_t next;         // element
} filling;

// ---- The elements of a row

static outcome store_floats(filling *f, PyObject **items, Py_ssize_t count) {
  char *data = rheos_tensor_data(f->tensor);
  for (Py_ssize_t i = 0; i < count; ++i, ++f->next) {
    double number;
    if (PyFloat_CheckExact(items[i])) {
      number = PyFloat_AS_DOUBLE(items[i]);
    } else {
      int overflow = 0;
      if (!PyLong_CheckExact(items[i])) return DECLINED;
      number = (double)PyLong_AsLongLongAndOverflow(items[i], &overflow);
      if (overflow) return DECLINED;
    }
    if (f->dtype == RHEOS_FLOAT) {
      ((float *)data)[f->next] = (float)number;
    } else {
      ((double *)data)[f->next] = number;
    }
  }
  return STORED;
}

// As pairs of floats.
static outcome store_complexes(filling *f, PyObject **items, Py_ssize_t count) {
  void *data = rheos_tensor_data(f->tensor);
  for (Py_ssize_t i = 0; i < count; ++i, ++f->next) {
    Py_complex number = {0, 0};
    if (PyComplex_CheckExact(items[i])) {
      number = PyComplex_AsCComplex(items[i]);
    } else if (PyFloat_CheckExact(items[i])) {
      number.real = PyFloat_AS_DOUBLE(items[i]);
    } else if (PyLong_CheckExact(items[i])) {
      number.real = PyLong_AsDouble(items[i]);
      if (number.real == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return DECLINED;
      }
    } else {
      return DECLINED;
    }
    if (f->dtype == RHEOS_COMPLEX64) {
      float *pair = (float *)data + 2 * f->next;
      pair[0] = (float)number.real;
      pair[1] = (float)number.imag;
    } else {
      double *pair = (double *)data + 2 * f->next;
      pair[0] = number.real;
      pair[1] = number.imag;
    }
  }
  return STORED;
}

static void store_integer(void *data, size_t size_bytes, int64_t at, int64_t number) {
  switch (size_bytes) {
    case 1: ((uint8_t *)data)[at] = (uint8_t)number; break;
    case 2: ((uint16_t *)data)[at] = (uint16_t)number; break;
    case 4: ((uint32_t *)data)[at] = (uint32_t)number; break;
    default: ((int64_t *)data)[at] = number; break;
  }
}

static outcome store_integers(filling *f, PyObject **items, Py_ssize_t count) {
  void *data = rheos_tensor_data(f->tensor);
  const size_t size_bytes = rheos_dtype_size(f->dtype);
  for (Py_ssize_t i = 0; i < count; ++i, ++f->next) {
    if (!PyLong_CheckExact(items[i])) {
      return PyFloat_CheckExact(items[i]) && !f->is_given ? WANTS_FLOAT : DECLINED;
    }
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(items[i], &overflow);
    if (overflow) return DECLINED;
    if (number < f->least || number > f->most) return f->is_given ? DECLINED : WANTS_INT64;
    store_integer(data, size_bytes, f->next, number);
  }
  return STORED;
}

static outcome store_bools(filling *f, PyObject **items, Py_ssize_t count) {
  bool *data = rheos_tensor_data(f->tensor);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!PyBool_Check(items[i])) return DECLINED;
    data[f->next++] = items[i] == Py_True;
  }
  return STORED;
}

static outcome store_texts(filling *f, PyObject **items, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    const char *data = NULL;
    Py_ssize_t length = 0;
    if (PyBytes_CheckExact(items[i])) {
      data = PyBytes_AS_STRING(items[i]);
      length = PyBytes_GET_SIZE(items[i]);
    } else if (PyUnicode_CheckExact(items[i])) {
      data = PyUnicode_AsUTF8AndSize(items[i], &length);
    }
    if (!data) {
      PyErr_Clear();
      return DECLINED;
    }
    rheos_status *status = rheos_tensor_set_string(f->tensor, f->next++, data, (size_t)length);
    if (!status) continue;
    rheos_status_free(status);
    return DECLINED;
  }
  return STORED;
}

// ---- The nest

static bool is_list(PyObject *value) {
  return PyList_CheckExact(value) || PyTuple_CheckExact(value);
}

static outcome fill(filling *f, PyObject *list, int32_t depth) {
  if (!is_list(list) || Py_SIZE(list) != f->shape.dims[depth]) return DECLINED;
  PyObject **items = PySequence_Fast_ITEMS(list);
  const Py_ssize_t count = Py_SIZE(list);
  if (depth + 1 == f->shape.rank) {
    if (f->dtype == RHEOS_STRING) return store_texts(f, items, count);
    if (f->dtype == RHEOS_BOOL) return store_bools(f, items, count);
    if (rheos_dtype_is_complex(f->dtype)) return store_complexes(f, items, count);
    if (rheos_dtype_is_integer(f->dtype)) return store_integers(f, items, count);
    return store_floats(f, items, count);
  }
  outcome result = STORED;
  for (Py_ssize_t i = 0; i < count && result == STORED; ++i) result = fill(f, items[i], depth + 1);
  return result;
}

// The shape by the first of each list, and the first element; NULL: a list is empty, or they are
// too deep.
static PyObject *first_element(PyObject *value, rheos_shape *out_shape) {
  out_shape->rank = 0;
  while (is_list(value)) {
    if (Py_SIZE(value) == 0 || out_shape->rank == RHEOS_MAX_RANK) return NULL;
    out_shape->dims[out_shape->rank++] = Py_SIZE(value);
    value = PySequence_Fast_GET_ITEM(value, 0);
  }
  return value;
}

static rheos_dtype natural_dtype(PyObject *element) {
  if (PyFloat_CheckExact(element)) return RHEOS_FLOAT;
  if (PyLong_CheckExact(element)) return RHEOS_INT32;
  if (PyBool_Check(element)) return RHEOS_BOOL;
  if (PyComplex_CheckExact(element)) return RHEOS_COMPLEX128;
  if (PyBytes_CheckExact(element) || PyUnicode_CheckExact(element)) return RHEOS_STRING;
  return RHEOS_INVALID_DTYPE;
}

static bool set_dtype(filling *f, rheos_dtype dtype) {
  f->dtype = dtype;
  if (dtype == RHEOS_FLOAT || dtype == RHEOS_DOUBLE || dtype == RHEOS_BOOL ||
      dtype == RHEOS_STRING || rheos_dtype_is_complex(dtype)) {
    return true;
  }
  if (!rheos_dtype_is_integer(dtype) || dtype == RHEOS_INT4 || dtype == RHEOS_UINT4) return false;
  const int bits = 8 * (int)rheos_dtype_size(dtype);
  const bool is_unsigned = dtype == RHEOS_UINT8 || dtype == RHEOS_UINT16 || dtype == RHEOS_UINT32 ||
                           dtype == RHEOS_UINT64;
  f->least = is_unsigned ? 0 : bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
  f->most = bits == 64 ? INT64_MAX : ((int64_t)1 << (is_unsigned ? bits : bits - 1)) - 1;
  return true;
}

static outcome fill_anew(filling *f, PyObject *value) {
  rheos_tensor_unref(f->tensor);
  f->tensor = NULL;
  f->next = 0;
  rheos_status *status = rheos_tensor_new(f->dtype, f->shape, &f->tensor);
  if (!status) return fill(f, value, 0);
  raise_run_error_take(status, NULL);
  return DECLINED;
}

rheos_tensor *nested_from_python(PyObject *value, rheos_dtype dtype) {
  if (!is_list(value)) return NULL;
  filling f = {.is_given = dtype != RHEOS_INVALID_DTYPE};
  PyObject *element = first_element(value, &f.shape);
  if (!element || !set_dtype(&f, f.is_given ? dtype : natural_dtype(element))) return NULL;
  // The first element tells by itself that most of what does not fit does not.
  const rheos_dtype natural = natural_dtype(element);
  if (!natural || (natural == RHEOS_STRING) != (f.dtype == RHEOS_STRING)) return NULL;
  outcome result = fill_anew(&f, value);
  if (result == WANTS_INT64 && set_dtype(&f, RHEOS_INT64)) result = fill_anew(&f, value);
  if (result == WANTS_FLOAT && set_dtype(&f, RHEOS_FLOAT)) result = fill_anew(&f, value);
  if (result == STORED) return f.tensor;
  rheos_tensor_unref(f.tensor);
  return NULL;
}

// ---- What eager execution refuses

enum { HAS_BOOLS = 1, HAS_REALS = 2, HAS_COMPLEXES = 4, HAS_TOO_LARGE = 8, HAS_OTHERS = 16 };

static int kinds_in(PyObject *value) {
  if (is_list(value)) {
    int kinds = 0;
    if (Py_EnterRecursiveCall(" while converting a nested list")) return HAS_OTHERS;
    for (Py_ssize_t i = 0; i < Py_SIZE(value) && !(kinds & HAS_OTHERS); ++i) {
      kinds |= kinds_in(PySequence_Fast_GET_ITEM(value, i));
    }
    Py_LeaveRecursiveCall();
    return kinds;
  }
  if (PyFloat_CheckExact(value)) return HAS_REALS;
  if (PyBool_Check(value)) return HAS_BOOLS;
  if (PyComplex_CheckExact(value)) return HAS_COMPLEXES;
  if (!PyLong_CheckExact(value)) return HAS_OTHERS;
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow ? HAS_REALS | HAS_TOO_LARGE : HAS_REALS;
}

int refuse_mixture(PyObject *value) {
  rheos_shape shape;
  const PyObject *first = is_list(value) ? first_element((PyObject *)value, &shape) : NULL;
  const int kinds = first ? kinds_in(value) : 0;
  if (kinds & HAS_OTHERS || PyErr_Occurred()) return PyErr_Occurred() ? -1 : 0;
  const bool is_complex = first && PyComplex_CheckExact(first);  // then numbers may follow
  if (((kinds & HAS_BOOLS) && (kinds & (HAS_REALS | HAS_COMPLEXES))) ||
      ((kinds & HAS_COMPLEXES) && (kinds & HAS_REALS) && !is_complex)) {
    PyErr_SetString(PyExc_ValueError, "Can't convert Python sequence with mixed types to Tensor.");
    return -1;
  }
  if (!(kinds & HAS_TOO_LARGE) || is_complex) return 0;
  PyErr_SetString(PyExc_ValueError, "an integer in the list is beyond the range of int64");
  return -1;
}
