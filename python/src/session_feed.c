// The values that a run is fed: converted to the tensor's dtype, checked against its shape, with
// errors that name the tensor.

#include "session_object.h"

static void raise_feed_shape(rheos_output output, const rheos_shape *have,
                             const rheos_shape *want) {
  PyObject *have_tuple = shape_to_python(have), *name = output_name(output);
  char text[256];
  // TensorFlow writes shapes as Python does here: '(?, 3)', '(2,)', '<unknown>'.
  size_t at = 0;
  at += (size_t)snprintf(text + at, sizeof text - at, "(");
  for (int32_t i = 0; i < want->rank; ++i) {
    const char *before = i ? ", " : "";
    if (want->dims[i] < 0)
      at += (size_t)snprintf(text + at, sizeof text - at, "%s?", before);
    else
      at +=
          (size_t)snprintf(text + at, sizeof text - at, "%s%lld", before, (long long)want->dims[i]);
  }
  snprintf(text + at, sizeof text - at, want->rank == 1 ? ",)" : ")");
  if (have_tuple && name) {
    PyErr_Format(PyExc_ValueError,
                 "Cannot feed value of shape %R for Tensor %R, which has shape '%s'", have_tuple,
                 name, text);
  }
  Py_XDECREF(have_tuple);
  Py_XDECREF(name);
}

static void raise_tensor_fed(PyObject *key, PyObject *value) {
  PyErr_Format(
      PyExc_TypeError,
      "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
      "Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the "
      "tensor object was %S which was passed to the feed with key %S.",
      value, key);
}

// Says which tensor a value was meant for, where NumPy could not convert it.
static void name_the_feed(PyObject *value, rheos_output output) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  if (PyErr_GivenExceptionMatches(type, PyExc_UnicodeError)) {
    Py_SETREF(type, Py_NewRef(PyExc_ValueError));  // cannot be made of a message alone
  } else if (type != PyExc_ValueError && type != PyExc_TypeError && type != PyExc_OverflowError) {
    PyErr_Restore(type, error, traceback);  // of the program's own code
    return;
  }
  PyObject *name = output_name(output);
  if (name && error) {
    PyErr_Format(type, "%S (a value of type '%s' was fed for Tensor %R)", error,
                 Py_TYPE(value)->tp_name, name);
  }
  Py_XDECREF(name);
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(traceback);
}

// An int has to survive the conversion: 2**40 is no int32.
static int check_int_feed(PyObject *value, rheos_dtype dtype) {
  if (!PyLong_Check(value) || PyBool_Check(value) || !rheos_dtype_is_integer(dtype)) return 0;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  bool fits = !overflow;
  switch ((int)dtype) {
    case RHEOS_INT8: fits = fits && number == (int8_t)number; break;
    case RHEOS_INT16: fits = fits && number == (int16_t)number; break;
    case RHEOS_INT32: fits = fits && number == (int32_t)number; break;
    case RHEOS_UINT8: fits = fits && number == (uint8_t)number; break;
    case RHEOS_UINT16: fits = fits && number == (uint16_t)number; break;
    case RHEOS_UINT32: fits = fits && number == (uint32_t)number; break;
    case RHEOS_UINT64: fits = (fits && number >= 0) || overflow > 0; break;
    default: break;
  }
  if (fits) return 0;
  PyObject *object = dtype_to_python(dtype);
  PyObject *numpy_type = object ? PyObject_GetAttrString(object, "as_numpy_dtype") : NULL;
  if (numpy_type) {
    PyErr_Format(PyExc_TypeError,
                 "Type of feed value %S with type %S is not compatible with Tensor type %S. Try "
                 "explicitly setting the type of the feed tensor to a larger type (e.g. int64).",
                 value, (PyObject *)Py_TYPE(value), numpy_type);
    Py_DECREF(numpy_type);
  }
  return -1;
}

PyObject *fed_array(PyObject *value, rheos_dtype dtype) {
  PyObject *numpy = PyImport_ImportModule("numpy"), *object = dtype_to_python(dtype);
  PyObject *type = object ? PyObject_GetAttrString(object, "as_numpy_dtype") : NULL;
  PyObject *array = numpy && type ? PyObject_CallMethod(numpy, "asarray", "OO", value, type) : NULL;
  Py_XDECREF(type);
  Py_XDECREF(numpy);
  return array;
}

rheos_tensor *feed_value(PyObject *key, PyObject *value, rheos_output output, rheos_dtype dtype) {
  if (is_tensor(value) || is_variable(value)) {
    raise_tensor_fed(key, value);
    return NULL;
  }
  if (value == Py_None) {
    PyObject *name = output_name(output);
    if (name) PyErr_Format(PyExc_TypeError, "None was fed for Tensor %R", name);
    Py_XDECREF(name);
    return NULL;
  }
  if (check_int_feed(value, dtype) < 0) return NULL;
  rheos_tensor *tensor = tensor_for_feed(value, dtype);
  if (!tensor) {
    name_the_feed(value, output);
    return NULL;
  }
  rheos_shape want = rheos_output_shape(output);
  const rheos_shape *have = rheos_tensor_shape(tensor);
  if (rheos_shape_compatible(have, &want)) return tensor;
  raise_feed_shape(output, have, &want);
  rheos_tensor_unref(tensor);
  return NULL;
}
