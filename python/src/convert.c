// Between Python values, NumPy arrays and rheos_tensor.
//
// Constants follow TensorFlow's rules (Python floats are float32, integers int32 where they fit, a
// float is no int32); feeds follow numpy.asarray. Arrays that fit as they are get borrowed.

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include "core.h"
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <string.h>

#include "eager_object.h"
#include "numpy_compat.h"

// NumPy may want instructions that an old processor has not, of which the process would die.
static int try_numpy(void) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2")) return 0;
  PyObject *module = PyImport_ImportModule("rheos._load_errors");
  PyObject *done = module ? PyObject_CallMethod(module, "try_numpy", NULL) : NULL;
  Py_XDECREF(module);
  Py_XDECREF(done);
  return done ? 0 : -1;
#else
  return 0;
#endif
}

int convert_init(void) {
  if (try_numpy() < 0) return -1;
  if (_import_array() >= 0) return 0;
  // Not by import_array1(), which prints a traceback.
  PyObject *type = NULL, *value = NULL, *traceback = NULL;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_Format(PyExc_ImportError, "numpy: %S", value ? value : Py_None);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return -1;
}

bool is_numpy(PyObject *value) { return PyArray_Check(value) || PyArray_CheckScalar(value); }

// ---- Dtypes

// What NumPy calls a dtype that it does not have itself where the package ml_dtypes is installed,
// else -1: asked once a process, whose types are the same for all.
static int ml_type(rheos_dtype dtype) {
  static int types[RHEOS_UINT4 + 1];
  int *type = &types[dtype];
  if (*type != 0) return *type;
  *type = -1;
  PyObject *package = PyImport_ImportModule("ml_dtypes");
  PyObject *kind = package ? PyObject_GetAttrString(package, rheos_dtype_name(dtype)) : NULL;
  PyArray_Descr *descr = NULL;
  if (kind && PyArray_DescrConverter(kind, &descr) == NPY_SUCCEED) *type = descr->type_num;
  PyErr_Clear();
  Py_XDECREF(descr);
  Py_XDECREF(kind);
  Py_XDECREF(package);
  return *type;
}

// Without ml_dtypes integers of 4 bits travel as those of 8.
static int four_bits_type(rheos_dtype dtype) {
  const int type = ml_type(dtype);
  return type >= 0 ? type : dtype == RHEOS_INT4 ? NPY_INT8 : NPY_UINT8;
}

// NumPy's number for a dtype, -1 where there is none. Quantized integers travel as plain ones.
static int numpy_type(rheos_dtype dtype) {
  switch ((int)dtype) {
    case RHEOS_FLOAT: return NPY_FLOAT32;
    case RHEOS_DOUBLE: return NPY_FLOAT64;
    case RHEOS_INT32:
    case RHEOS_QINT32: return NPY_INT32;
    case RHEOS_UINT8:
    case RHEOS_QUINT8: return NPY_UINT8;
    case RHEOS_INT16:
    case RHEOS_QINT16: return NPY_INT16;
    case RHEOS_INT8:
    case RHEOS_QINT8: return NPY_INT8;
    case RHEOS_STRING: return NPY_OBJECT;
    case RHEOS_COMPLEX64: return NPY_COMPLEX64;
    case RHEOS_INT64: return NPY_INT64;
    case RHEOS_BOOL: return NPY_BOOL;
    case RHEOS_UINT16:
    case RHEOS_QUINT16: return NPY_UINT16;
    case RHEOS_COMPLEX128: return NPY_COMPLEX128;
    case RHEOS_HALF: return NPY_FLOAT16;
    case RHEOS_UINT32: return NPY_UINT32;
    case RHEOS_UINT64: return NPY_UINT64;
    case RHEOS_BFLOAT16: return ml_type(dtype);
    case RHEOS_INT4:
    case RHEOS_UINT4: return four_bits_type(dtype);
    default: return -1;
  }
}

// The dtype of a NumPy type; RHEOS_INVALID_DTYPE for dates and the like.
static rheos_dtype dtype_of_numpy(int type) {
  switch (type) {
    case NPY_STRING:
    case NPY_UNICODE:
    case NPY_OBJECT: return RHEOS_STRING;
    case NPY_BOOL: return RHEOS_BOOL;
    case NPY_FLOAT16: return RHEOS_HALF;
    case NPY_FLOAT32: return RHEOS_FLOAT;
    case NPY_FLOAT64: return RHEOS_DOUBLE;
    case NPY_COMPLEX64: return RHEOS_COMPLEX64;
    case NPY_COMPLEX128: return RHEOS_COMPLEX128;
    default: break;
  }
  if (PyTypeNum_ISUSERDEF(type)) {
    return type == ml_type(RHEOS_BFLOAT16) ? RHEOS_BFLOAT16
           : type == ml_type(RHEOS_INT4)   ? RHEOS_INT4
           : type == ml_type(RHEOS_UINT4)  ? RHEOS_UINT4
                                           : RHEOS_INVALID_DTYPE;
  }
  if (!PyTypeNum_ISINTEGER(type)) return RHEOS_INVALID_DTYPE;
  PyArray_Descr *descr = PyArray_DescrFromType(type);  // long and long long differ in number only
  if (!descr) return RHEOS_INVALID_DTYPE;
  npy_intp size = DESCR_SIZE(descr);
  bool is_unsigned = PyTypeNum_ISUNSIGNED(type);
  Py_DECREF(descr);
  switch (size) {
    case 1: return is_unsigned ? RHEOS_UINT8 : RHEOS_INT8;
    case 2: return is_unsigned ? RHEOS_UINT16 : RHEOS_INT16;
    case 4: return is_unsigned ? RHEOS_UINT32 : RHEOS_INT32;
    default: return is_unsigned ? RHEOS_UINT64 : RHEOS_INT64;
  }
}

static const char *dtype_label(rheos_dtype dtype) {
  if (dtype == RHEOS_FLOAT) return "float32";
  if (dtype == RHEOS_DOUBLE) return "float64";
  if (dtype == RHEOS_HALF) return "float16";
  return rheos_dtype_name(dtype);
}

static void raise_no_numpy(rheos_dtype dtype) {
  PyErr_Format(PyExc_TypeError, "values of dtype %s have no NumPy form", dtype_label(dtype));
}

// ---- Arrays to tensors

static rheos_tensor *checked(rheos_status *status, rheos_tensor *tensor) {
  if (!status) return tensor;
  raise_run_error_take(status, NULL);
  return NULL;
}

static int shape_of_array(PyArrayObject *array, rheos_shape *out_shape) {
  int rank = PyArray_NDIM(array);
  if (rank > RHEOS_MAX_RANK) {
    PyErr_Format(PyExc_ValueError, "an array of rank %d: at most %d dimensions are supported", rank,
                 RHEOS_MAX_RANK);
    return -1;
  }
  out_shape->rank = rank;
  for (int i = 0; i < rank; ++i) out_shape->dims[i] = PyArray_DIM(array, i);
  return 0;
}

// Tensors are freed wherever their last use is, also on threads that do not hold the GIL.
static void release_array(void *array) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF((PyObject *)array);
  PyGILState_Release(state);
}

// Takes the reference to a C-contiguous, aligned array of the dtype's NumPy type.
static rheos_tensor *borrow_array_take(PyArrayObject *array, rheos_dtype dtype) {
  rheos_shape shape;
  if (shape_of_array(array, &shape) < 0) {
    Py_DECREF(array);
    return NULL;
  }
  rheos_tensor *tensor = NULL;
  rheos_status *status =
      rheos_tensor_borrow(dtype, shape, PyArray_DATA(array), release_array, array, &tensor);
  if (status) Py_DECREF(array);
  return checked(status, tensor);
}

static rheos_tensor *copy_array(PyArrayObject *array, rheos_dtype dtype) {
  rheos_shape shape;
  if (shape_of_array(array, &shape) < 0) return NULL;
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_from_values(dtype, shape, PyArray_DATA(array), &tensor);
  return checked(status, tensor);
}

// One element of a string tensor: bytes as they are, str as UTF-8.
static int set_string(rheos_tensor *tensor, npy_intp index, PyObject *item, PyObject *whole) {
  const char *data = NULL;
  Py_ssize_t length = 0;
  if (PyBytes_Check(item)) {
    data = PyBytes_AS_STRING(item);
    length = PyBytes_GET_SIZE(item);
  } else if (PyUnicode_Check(item)) {
    data = PyUnicode_AsUTF8AndSize(item, &length);
    if (!data) return -1;
  } else if (PyByteArray_Check(item)) {
    data = PyByteArray_AS_STRING(item);
    length = PyByteArray_GET_SIZE(item);
  } else {
    PyErr_Format(PyExc_TypeError,
                 "Failed to convert object of type %R to Tensor. Contents: %R. Consider casting "
                 "elements to a supported type.",
                 (PyObject *)Py_TYPE(whole), whole);
    return -1;
  }
  rheos_status *status = rheos_tensor_set_string(tensor, index, data, (size_t)length);
  if (!status) return 0;
  raise_run_error_take(status, NULL);
  return -1;
}

static rheos_tensor *strings_from_array(PyArrayObject *array, PyObject *whole) {
  rheos_shape shape;
  if (shape_of_array(array, &shape) < 0) return NULL;
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_new(RHEOS_STRING, shape, &tensor);
  if (status) return checked(status, NULL);
  PyObject **items = PyArray_DATA(array);
  npy_intp count = PyArray_SIZE(array);
  for (npy_intp i = 0; i < count; ++i) {
    if (set_string(tensor, i, items[i] ? items[i] : Py_None, whole) < 0) {
      rheos_tensor_unref(tensor);
      return NULL;
    }
  }
  return tensor;
}

// numpy.asarray(value, type), contiguous, aligned and in native byte order; a new reference.
static PyArrayObject *as_array(PyObject *value, int type) {
  return (PyArrayObject *)PyArray_CheckFromAny(
      value, type < 0 ? NULL : PyArray_DescrFromType(type), 0, 0,
      NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST, NULL);
}

// An array of objects for strings. A str or bytes is one element, not a sequence.
static PyArrayObject *as_object_array(PyObject *value) {
  if (PyArray_Check(value) && PyArray_TYPE((PyArrayObject *)value) != NPY_OBJECT &&
      PyArray_TYPE((PyArrayObject *)value) != NPY_STRING &&
      PyArray_TYPE((PyArrayObject *)value) != NPY_UNICODE) {
    PyErr_Format(PyExc_TypeError, "Expected string, got %R of type '%s' instead.", value,
                 Py_TYPE(value)->tp_name);
    return NULL;
  }
  return as_array(value, NPY_OBJECT);
}

static rheos_tensor *strings_from_python(PyObject *value) {
  if (PyBytes_Check(value) || PyUnicode_Check(value)) {
    rheos_tensor *tensor = NULL;
    rheos_status *status = rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, &tensor);
    if (status) return checked(status, NULL);
    if (set_string(tensor, 0, value, value) == 0) return tensor;
    rheos_tensor_unref(tensor);
    return NULL;
  }
  PyArrayObject *array = as_object_array(value);
  if (!array) return NULL;
  rheos_tensor *tensor = strings_from_array(array, value);
  Py_DECREF(array);
  return tensor;
}

// ---- Scalars without NumPy

typedef union scalar_bytes {
  float f;
  double d;
  int32_t i32;
  int64_t i64;
  bool b;
} scalar_bytes;

// A scalar of NumPy that has the dtype: its bits, without an array made of it.
static bool store_numpy_scalar(PyObject *value, rheos_dtype dtype, scalar_bytes *out) {
  if (dtype == RHEOS_FLOAT && Py_IS_TYPE(value, &PyFloatArrType_Type)) {
    out->f = PyArrayScalar_VAL(value, Float);
  } else if (dtype == RHEOS_DOUBLE && Py_IS_TYPE(value, &PyDoubleArrType_Type)) {
    out->d = PyArrayScalar_VAL(value, Double);
  } else if (dtype == RHEOS_INT32 && Py_IS_TYPE(value, &PyIntArrType_Type)) {
    out->i32 = PyArrayScalar_VAL(value, Int);
  } else if (dtype == RHEOS_INT64 && Py_IS_TYPE(value, &PyLongArrType_Type)) {
    out->i64 = PyArrayScalar_VAL(value, Long);
  } else {
    return false;
  }
  return true;
}

// Stores a Python int, float or bool in a common dtype. 1 done, 0 not this way, -1 an exception.
static int store_scalar(PyObject *value, rheos_dtype dtype, scalar_bytes *out) {
  if (PyFloat_CheckExact(value)) {
    double number = PyFloat_AS_DOUBLE(value);
    if (dtype == RHEOS_FLOAT)
      out->f = (float)number;
    else if (dtype == RHEOS_DOUBLE)
      out->d = number;
    else
      return 0;
    return 1;
  }
  if (PyBool_Check(value) && dtype == RHEOS_BOOL) {
    out->b = value == Py_True;
    return 1;
  }
  if (!PyLong_CheckExact(value)) return store_numpy_scalar(value, dtype, out);
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (number == -1 && PyErr_Occurred()) return -1;
  if (overflow) return 0;
  if (dtype == RHEOS_INT64) {
    out->i64 = number;
  } else if (dtype == RHEOS_INT32) {
    if (number != (int32_t)number) return 0;
    out->i32 = (int32_t)number;
  } else if (dtype == RHEOS_FLOAT) {
    out->f = (float)(double)number;
  } else if (dtype == RHEOS_DOUBLE) {
    out->d = (double)number;
  } else {
    return 0;
  }
  return 1;
}

// ---- Constants

typedef enum value_class {
  CLASS_OTHER,
  CLASS_INT,
  CLASS_FLOAT,
  CLASS_COMPLEX,
  CLASS_STRING,
  CLASS_BOOL
} value_class;

static value_class class_of_dtype(rheos_dtype dtype) {
  if (dtype == RHEOS_BOOL) return CLASS_BOOL;
  if (dtype == RHEOS_STRING) return CLASS_STRING;
  if (rheos_dtype_is_complex(dtype)) return CLASS_COMPLEX;
  if (rheos_dtype_is_floating(dtype)) return CLASS_FLOAT;
  if (rheos_dtype_is_integer(dtype)) return CLASS_INT;
  switch (dtype) {
    case RHEOS_QINT8:
    case RHEOS_QUINT8:
    case RHEOS_QINT16:
    case RHEOS_QUINT16:
    case RHEOS_QINT32: return CLASS_INT;
    default: return CLASS_OTHER;
  }
}

// Whether a leaf of a nested list may stand for a value of the class.
static bool leaf_fits(PyObject *leaf, value_class class) {
  bool is_bool = PyBool_Check(leaf) || PyArray_IsScalar(leaf, Bool);
  bool is_int = PyLong_Check(leaf) || PyArray_IsScalar(leaf, Integer);
  if (PyArray_Check(leaf)) {
    int type = PyArray_TYPE((PyArrayObject *)leaf);
    is_bool = type == NPY_BOOL;
    is_int = PyTypeNum_ISINTEGER(type) || is_bool;
    if (class == CLASS_STRING) return PyTypeNum_ISFLEXIBLE(type) || type == NPY_OBJECT;
    if (class == CLASS_FLOAT) return is_int || PyTypeNum_ISFLOAT(type);
    if (class == CLASS_COMPLEX) return PyTypeNum_ISNUMBER(type);
  }
  switch (class) {
    case CLASS_BOOL: return is_bool;
    case CLASS_INT: return is_int || (PyIndex_Check(leaf) && !PyFloat_Check(leaf));
    case CLASS_FLOAT:
      return is_int || PyFloat_Check(leaf) || PyArray_IsScalar(leaf, Floating) ||
             (PyIndex_Check(leaf) && !is_tensor(leaf));
    case CLASS_COMPLEX:
      return is_int || PyFloat_Check(leaf) || PyComplex_Check(leaf) ||
             PyArray_IsScalar(leaf, Inexact);
    case CLASS_STRING:
      return PyBytes_Check(leaf) || PyUnicode_Check(leaf) || PyByteArray_Check(leaf);
    default: return !is_tensor(leaf) && !is_variable(leaf);
  }
}

// The first leaf that does not fit (borrowed); NULL if all do or an exception is set.
static PyObject *first_misfit(PyObject *value, value_class class) {
  if (!PyList_Check(value) && !PyTuple_Check(value)) return leaf_fits(value, class) ? NULL : value;
  if (Py_EnterRecursiveCall(" while converting a nested list")) return NULL;
  PyObject *misfit = NULL;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
  for (Py_ssize_t i = 0; i < count && !misfit && !PyErr_Occurred(); ++i) {
    misfit = first_misfit(PySequence_Fast_GET_ITEM(value, i), class);
  }
  Py_LeaveRecursiveCall();
  return misfit;
}

static int check_leaves(PyObject *value, rheos_dtype dtype) {
  PyObject *misfit = first_misfit(value, dtype ? class_of_dtype(dtype) : CLASS_OTHER);
  if (!misfit) return PyErr_Occurred() ? -1 : 0;
  if (misfit == Py_None) {
    PyErr_SetString(PyExc_ValueError, "None values not supported.");
  } else if (!dtype) {
    PyErr_SetString(PyExc_TypeError, "List of Tensors when single Tensor expected");
  } else if (executing_eagerly()) {
    PyErr_Format(PyExc_TypeError, "Cannot convert %R to EagerTensor of dtype %s", misfit,
                 rheos_dtype_name(dtype));
  } else {
    PyErr_Format(PyExc_TypeError, "Expected %s, got %R of type '%s' instead.", dtype_label(dtype),
                 misfit, Py_TYPE(misfit)->tp_name);
  }
  return -1;
}

// What NumPy made of a value without a dtype, as TensorFlow would have it.
static PyArrayObject *prefer_32_bits_take(PyArrayObject *array) {
  int type = PyArray_TYPE(array);
  if (type == NPY_FLOAT64) {
    PyArrayObject *narrow = as_array((PyObject *)array, NPY_FLOAT32);
    Py_DECREF(array);
    return narrow;
  }
  if (dtype_of_numpy(type) != RHEOS_INT64) return array;
  const int64_t *values = PyArray_DATA(array);
  npy_intp count = PyArray_SIZE(array);
  for (npy_intp i = 0; i < count; ++i) {
    if (values[i] != (int32_t)values[i]) return array;
  }
  PyArrayObject *narrow = as_array((PyObject *)array, NPY_INT32);
  Py_DECREF(array);
  return narrow;
}

// A ragged list, texts among numbers, objects: the package words the usual reasons of a refusal.
static void explain_refusal(PyObject *value) {
  const bool is_value_error = PyErr_ExceptionMatches(PyExc_ValueError);
  if (!is_value_error && !PyErr_ExceptionMatches(PyExc_TypeError)) return;
  if (!package.explain_ragged) return;
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyObject *result = PyObject_CallFunctionObjArgs(package.explain_ragged, value,
                                                  is_value_error ? Py_True : Py_False, NULL);
  if (!result) {
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return;
  }
  Py_DECREF(result);
  PyErr_Restore(type, error, traceback);
}

// Whether every element of an int64 array is a value of the integer dtype; else an exception.
static bool all_fit(PyArrayObject *array, rheos_dtype dtype) {
  size_t bits = 8 * rheos_dtype_size(dtype);
  int type = numpy_type(dtype);
  int64_t low = PyTypeNum_ISUNSIGNED(type) ? 0 : -((int64_t)1 << (bits - 1));
  int64_t high = ((int64_t)1 << (PyTypeNum_ISUNSIGNED(type) ? bits : bits - 1)) - 1;
  const int64_t *values = PyArray_DATA(array);
  for (npy_intp i = 0; i < PyArray_SIZE(array); ++i) {
    if (values[i] >= low && values[i] <= high) continue;
    PyErr_Format(PyExc_OverflowError, "Python integer %lld out of bounds for %s",
                 (long long)values[i], dtype_label(dtype));
    return false;
  }
  return true;
}

// Fed Python integers as an array of a dtype. NumPy 1 wraps around what does not fit, NumPy 2
// refuses it.
static PyArrayObject *integers_to_array(PyObject *value, rheos_dtype dtype) {
  PyArrayObject *wide = as_array(value, NPY_INT64);
  if (!wide) return NULL;
  PyArrayObject *array = NULL;
  if (all_fit(wide, dtype)) array = as_array((PyObject *)wide, numpy_type(dtype));
  Py_DECREF(wide);
  return array;
}

// Eagerly the first element of a list decides where it is NumPy's: its floats are kept, its complex
// numbers are complex128, and its integers are as wide as Python's.
static rheos_dtype dtype_by_first(PyObject *value) {
  PyObject *first = value;
  for (int depth = 0; PyList_Check(first) || PyTuple_Check(first); ++depth) {
    if (PySequence_Fast_GET_SIZE(first) == 0 || depth == RHEOS_MAX_RANK) return RHEOS_INVALID_DTYPE;
    first = PySequence_Fast_GET_ITEM(first, 0);
  }
  if (first == value || !is_numpy(first)) return RHEOS_INVALID_DTYPE;
  const int type = PyArray_Check(first) ? PyArray_TYPE((PyArrayObject *)first) : -1;
  if (type == NPY_FLOAT64 || PyArray_IsScalar(first, Double)) return RHEOS_DOUBLE;
  if (type == NPY_FLOAT16 || PyArray_IsScalar(first, Half)) return RHEOS_HALF;
  if (type == NPY_COMPLEX64 || PyArray_IsScalar(first, ComplexFloating)) return RHEOS_COMPLEX128;
  return RHEOS_INVALID_DTYPE;
}

// Integers of a list of NumPy's as Python's.
static PyArrayObject *widen_integers_take(PyArrayObject *array) {
  const int type = PyArray_TYPE(array);
  if (!PyTypeNum_ISINTEGER(type) || dtype_of_numpy(type) == RHEOS_INT64) return array;
  PyArrayObject *wide = as_array((PyObject *)array, NPY_INT64);
  Py_DECREF(array);
  return wide;
}

static rheos_tensor *constant_from_array(PyObject *value, rheos_dtype dtype) {
  PyArrayObject *array = NULL;
  bool is_array = is_numpy(value);
  if (!dtype && is_array) {
    array = as_array(value, -1);
  } else if (!dtype) {
    array = as_array(value, -1);
    if (array && executing_eagerly()) array = widen_integers_take(array);
    if (array) array = prefer_32_bits_take(array);
  } else if (!is_array && rheos_dtype_is_integer(dtype) && rheos_dtype_size(dtype) < 8) {
    PyArrayObject *wide = as_array(value, NPY_INT64);  // of what is too large the low bits stay
    array = wide ? as_array((PyObject *)wide, numpy_type(dtype)) : NULL;
    Py_XDECREF(wide);
  } else {
    array = as_array(value, numpy_type(dtype));
  }
  if (!array) return NULL;
  rheos_dtype found = dtype ? dtype : dtype_of_numpy(PyArray_TYPE(array));
  rheos_tensor *tensor = NULL;
  if (found == RHEOS_INVALID_DTYPE) {
    PyErr_Format(PyExc_TypeError, "Unrecognized NumPy dtype %R: it has no tensor form",
                 (PyObject *)PyArray_DESCR(array));
  } else if (found == RHEOS_STRING) {
    tensor = strings_from_python(value);
  } else {
    tensor = copy_array(array, found);
  }
  Py_DECREF(array);
  return tensor;
}

static rheos_dtype natural_scalar_dtype(PyObject *value) {
  if (PyFloat_CheckExact(value)) return RHEOS_FLOAT;
  if (PyBool_Check(value)) return RHEOS_BOOL;
  if (!PyLong_CheckExact(value)) return RHEOS_INVALID_DTYPE;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow) return RHEOS_INVALID_DTYPE;
  return number == (int32_t)number ? RHEOS_INT32 : RHEOS_INT64;
}

// Half a list of numbers may be bfloat16 only by way of float32.
static rheos_tensor *bfloat16_from_python(PyObject *value) {
  rheos_tensor *wide = constant_from_array(value, RHEOS_FLOAT), *tensor = NULL;
  if (!wide) return NULL;
  rheos_status *status = rheos_tensor_new(RHEOS_BFLOAT16, *rheos_tensor_shape(wide), &tensor);
  if (!status) {
    const uint32_t *in = rheos_tensor_data(wide);
    uint16_t *out = rheos_tensor_data(tensor);
    for (int64_t i = 0; i < rheos_tensor_num_elements(wide); ++i) {
      uint32_t bits = in[i];
      bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
      out[i] = is_nan ? 0x7fc0 : (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
    }
  }
  rheos_tensor_unref(wide);
  return checked(status, tensor);
}

static bool is_four_bits(rheos_dtype dtype) { return dtype == RHEOS_INT4 || dtype == RHEOS_UINT4; }

// By way of 8 bits, of which the lowest four stay.
static rheos_tensor *four_bits_from_python(PyObject *value, rheos_dtype dtype) {
  rheos_tensor *wide = tensor_for_feed(value, RHEOS_INT8), *tensor = NULL;
  if (!wide) return NULL;
  rheos_status *status = rheos_tensor_new(dtype, *rheos_tensor_shape(wide), &tensor);
  if (!status) {
    const uint8_t *in = rheos_tensor_data(wide);
    int8_t *out = rheos_tensor_data(tensor);
    for (int64_t i = 0; i < rheos_tensor_num_elements(wide); ++i) {
      out[i] = (int8_t)(dtype == RHEOS_UINT4 ? in[i] & 15 : (int8_t)(uint8_t)(in[i] << 4) >> 4);
    }
  }
  rheos_tensor_unref(wide);
  return checked(status, tensor);
}

static rheos_tensor *value_from_python(PyObject *value, rheos_dtype dtype) {
  scalar_bytes bytes;
  if (is_four_bits(dtype)) return four_bits_from_python(value, dtype);
  rheos_dtype wanted = dtype ? dtype : natural_scalar_dtype(value);
  int stored = wanted ? store_scalar(value, wanted, &bytes) : 0;
  if (stored < 0) return NULL;
  if (stored) {
    rheos_tensor *tensor = NULL;
    rheos_status *status = rheos_tensor_from_values(wanted, RHEOS_SCALAR, &bytes, &tensor);
    return checked(status, tensor);
  }
  if (!dtype && executing_eagerly()) dtype = dtype_by_first(value);
  rheos_tensor *nested = nested_from_python(value, dtype);
  if (nested || PyErr_Occurred()) return nested;
  if (!dtype && executing_eagerly() && refuse_mixture(value) < 0) return NULL;
  if (value == Py_None) {
    PyErr_SetString(PyExc_ValueError, "None values not supported.");
    return NULL;
  }
  if (!is_numpy(value) && check_leaves(value, dtype) < 0) return NULL;
  if (dtype == RHEOS_BFLOAT16) return bfloat16_from_python(value);
  if (dtype && numpy_type(dtype) < 0) {
    raise_no_numpy(dtype);
    return NULL;
  }
  if (dtype == RHEOS_STRING || (!dtype && (PyUnicode_Check(value) || PyBytes_Check(value)))) {
    return strings_from_python(value);
  }
  return constant_from_array(value, dtype);
}

// TensorFlow lets a constant's value be shorter than its shape: the last element fills the rest.
static rheos_tensor *fill_up_take(rheos_tensor *tensor, const rheos_shape *shape) {
  int64_t have = rheos_tensor_num_elements(tensor), want = rheos_shape_num_elements(shape);
  if (want < 0) {
    char text[160];
    rheos_shape_format(shape, text, sizeof text);
    PyErr_Format(PyExc_ValueError, "a constant cannot have the shape %s: %s", text,
                 rheos_shape_is_known(shape) ? "it is too large" : "it is not fully known");
    rheos_tensor_unref(tensor);
    return NULL;
  }
  if (have > want && have > 1) {
    PyErr_Format(PyExc_ValueError,
                 "Too many elements provided. Needed at most %lld, but received %lld",
                 (long long)want, (long long)have);
    rheos_tensor_unref(tensor);
    return NULL;
  }
  rheos_tensor *full = NULL;
  rheos_status *status;
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  if (have == want) {
    status = rheos_tensor_reshaped(tensor, *shape, &full);
  } else if (want == 0 || have == 0) {  // zeros, or empty strings
    status = rheos_tensor_new(dtype, *shape, &full);
    if (status == NULL && dtype != RHEOS_STRING && want > 0) {
      memset(rheos_tensor_data(full), 0, rheos_tensor_size_bytes(full));
    }
  } else {
    status = rheos_tensor_filled(tensor, *shape, &full);
  }
  rheos_tensor_unref(tensor);
  return checked(status, full);
}

rheos_tensor *tensor_from_python(PyObject *value, rheos_dtype dtype, const rheos_shape *shape,
                                 bool exact_shape) {
  rheos_tensor *tensor = value_from_python(value, dtype);
  if (!tensor) explain_refusal(value);
  if (!tensor || !shape || rheos_shape_equal(rheos_tensor_shape(tensor), shape)) return tensor;
  if (exact_shape) {
    char have[160], want[160];
    rheos_shape_format(rheos_tensor_shape(tensor), have, sizeof have);
    rheos_shape_format(shape, want, sizeof want);
    PyErr_Format(PyExc_TypeError, "Expected Tensor's shape: %s, got %s.", want, have);
    rheos_tensor_unref(tensor);
    return NULL;
  }
  return fill_up_take(tensor, shape);
}

// ---- Feeds

rheos_tensor *tensor_for_feed(PyObject *value, rheos_dtype dtype) {
  scalar_bytes bytes;
  if (is_four_bits(dtype)) return four_bits_from_python(value, dtype);
  int stored = store_scalar(value, dtype, &bytes);
  if (stored < 0) return NULL;
  if (stored) {
    rheos_tensor *tensor = NULL;
    rheos_status *status = rheos_tensor_from_values(dtype, RHEOS_SCALAR, &bytes, &tensor);
    return checked(status, tensor);
  }
  rheos_tensor *nested = nested_from_python(value, dtype);
  if (nested || PyErr_Occurred()) return nested;
  if (dtype == RHEOS_STRING) return strings_from_python(value);
  if (dtype == RHEOS_BFLOAT16) return bfloat16_from_python(value);
  int type = numpy_type(dtype);
  if (type < 0) {
    raise_no_numpy(dtype);
    return NULL;
  }
  bool is_list = PyList_Check(value) || PyTuple_Check(value);
  bool may_wrap = is_list && rheos_dtype_is_integer(dtype) && rheos_dtype_size(dtype) < 8;
  PyArrayObject *array = may_wrap ? integers_to_array(value, dtype) : as_array(value, type);
  return array ? borrow_array_take(array, dtype) : NULL;
}

// ---- Tensors to Python

static void release_tensor(PyObject *capsule) {
  rheos_tensor_unref(PyCapsule_GetPointer(capsule, "rheos_tensor"));
}

static PyObject *strings_to_python(const rheos_tensor *tensor, const npy_intp *dims) {
  const rheos_string *items = rheos_tensor_data(tensor);
  int rank = rheos_tensor_shape(tensor)->rank;
  if (rank == 0) return PyBytes_FromStringAndSize(items->data, (Py_ssize_t)items->size_bytes);
  PyObject *array = PyArray_SimpleNew(rank, dims, NPY_OBJECT);
  if (!array) return NULL;
  PyObject **slots = PyArray_DATA((PyArrayObject *)array);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); ++i) {
    PyObject *text = PyBytes_FromStringAndSize(items[i].data, (Py_ssize_t)items[i].size_bytes);
    if (!text) {
      Py_DECREF(array);
      return NULL;
    }
    Py_XSETREF(slots[i], text);
  }
  return array;
}

// Without ml_dtypes bfloat16 has no NumPy type of its own; every value is also a float32.
static PyObject *bfloat16_to_python(const rheos_tensor *tensor, const npy_intp *dims) {
  PyObject *array = PyArray_SimpleNew(rheos_tensor_shape(tensor)->rank, dims, NPY_FLOAT32);
  if (!array) return NULL;
  const uint16_t *in = rheos_tensor_data(tensor);
  uint32_t *out = PyArray_DATA((PyArrayObject *)array);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); ++i) out[i] = (uint32_t)in[i] << 16;
  return PyArray_Return((PyArrayObject *)array);
}

static PyObject *scalar_to_python(const rheos_tensor *tensor, int type) {
  PyArray_Descr *descr = PyArray_DescrFromType(type);
  if (!descr) return NULL;
  PyObject *scalar = PyArray_Scalar(rheos_tensor_data(tensor), descr, NULL);
  Py_DECREF(descr);
  return scalar;
}

// Small values are copied: that is cheaper than a capsule. Large ones stay where they are.
enum { copy_below_bytes = 2048 };

static PyObject *array_to_python_take(rheos_tensor *tensor, const npy_intp *dims, int type) {
  int rank = rheos_tensor_shape(tensor)->rank;
  size_t size = rheos_tensor_size_bytes(tensor);
  if (size < copy_below_bytes) {
    PyObject *array = PyArray_SimpleNew(rank, dims, type);
    if (array && size)
      memcpy(PyArray_DATA((PyArrayObject *)array), rheos_tensor_data(tensor), size);
    rheos_tensor_unref(tensor);
    return array;
  }
  PyObject *array = PyArray_SimpleNewFromData(rank, dims, type, rheos_tensor_data(tensor));
  PyObject *capsule = array ? PyCapsule_New(tensor, "rheos_tensor", release_tensor) : NULL;
  if (!capsule) {
    rheos_tensor_unref(tensor);
    Py_XDECREF(array);
    return NULL;
  }
  if (PyArray_SetBaseObject((PyArrayObject *)array, capsule) < 0) {
    Py_DECREF(array);
    return NULL;
  }
  return array;
}

PyObject *tensor_to_python_take(rheos_tensor *tensor) {
  rheos_dtype dtype = rheos_tensor_dtype(tensor);
  const rheos_shape *shape = rheos_tensor_shape(tensor);
  int type = numpy_type(dtype);
  if (type >= 0 && shape->rank == 0 && dtype != RHEOS_STRING) {
    PyObject *scalar = scalar_to_python(tensor, type);
    rheos_tensor_unref(tensor);
    return scalar;
  }
  npy_intp dims[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < shape->rank; ++i) dims[i] = (npy_intp)shape->dims[i];
  if (type >= 0 && dtype != RHEOS_STRING) return array_to_python_take(tensor, dims, type);
  PyObject *result = NULL;
  if (dtype == RHEOS_STRING)
    result = strings_to_python(tensor, dims);
  else if (dtype == RHEOS_BFLOAT16)
    result = bfloat16_to_python(tensor, dims);
  else
    raise_no_numpy(dtype);
  rheos_tensor_unref(tensor);
  return result;
}
