// Short lists of numbers, such as shapes and axes, as tensors without an array between.

#include "core.h"

enum { few_numbers = 16 };

// The numbers of a short list where all are integers, or all floating-point; -1: something else.
static Py_ssize_t read_few(PyObject *list, int64_t *integers, double *floats, bool *out_floats) {
  if (!PyList_CheckExact(list) && !PyTuple_CheckExact(list)) return -1;
  const Py_ssize_t count = Py_SIZE(list);
  if (count == 0 || count > few_numbers) return -1;
  PyObject **items = PySequence_Fast_ITEMS(list);
  *out_floats = PyFloat_CheckExact(items[0]);
  for (Py_ssize_t i = 0; i < count; ++i) {
    int overflow = 0;
    if (*out_floats) {
      if (!PyFloat_CheckExact(items[i])) return -1;
      floats[i] = PyFloat_AS_DOUBLE(items[i]);
    } else {
      if (!PyLong_CheckExact(items[i])) return -1;
      integers[i] = PyLong_AsLongLongAndOverflow(items[i], &overflow);
      if (overflow) return -1;
    }
  }
  return count;
}

rheos_tensor *few_from_python(PyObject *value, rheos_dtype dtype) {
  int64_t integers[few_numbers];
  double floats[few_numbers];
  bool has_floats;
  const Py_ssize_t count = read_few(value, integers, floats, &has_floats);
  if (count < 0) return NULL;
  if (!has_floats) {
    bool is_narrow = true;
    for (Py_ssize_t i = 0; i < count; ++i) is_narrow &= integers[i] == (int32_t)integers[i];
    if (!dtype) dtype = is_narrow ? RHEOS_INT32 : RHEOS_INT64;
    if (dtype != RHEOS_INT64 && !(dtype == RHEOS_INT32 && is_narrow)) return NULL;
  } else if (dtype && dtype != RHEOS_FLOAT) {
    return NULL;
  }
  rheos_tensor *tensor = NULL;
  const rheos_shape shape = {.rank = 1, .dims = {count}};
  rheos_status *status = rheos_tensor_new(has_floats ? RHEOS_FLOAT : dtype, shape, &tensor);
  for (Py_ssize_t i = 0; i < count && !status; ++i) {
    if (has_floats)
      ((float *)rheos_tensor_data(tensor))[i] = (float)floats[i];
    else if (dtype == RHEOS_INT32)
      ((int32_t *)rheos_tensor_data(tensor))[i] = (int32_t)integers[i];
    else
      ((int64_t *)rheos_tensor_data(tensor))[i] = integers[i];
  }
  if (!status) return tensor;
  raise_run_error_take(status, NULL);
  return NULL;
}
