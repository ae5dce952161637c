// x[...] of an eager tensor: numbers, slices of numbers, `...` and None become the bounds and masks
// of a StridedSlice without a line of Python; any other key is the package's.

#include "eager_object.h"

#include "op_plan.h"

enum { max_keys = 16, num_masks = 5 };

typedef struct slice_spec {
  int32_t begin[max_keys], end[max_keys], strides[max_keys];
  int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
} slice_spec;

// An integer of 32 bits. False without an exception: something else.
static bool read_number(PyObject *value, int32_t *out_number) {
  if (!PyLong_CheckExact(value)) return false;
  int overflow;
  const long number = PyLong_AsLongAndOverflow(value, &overflow);
  *out_number = (int32_t)number;
  return !overflow && number == *out_number && number != INT32_MAX;
}

static bool read_bound(PyObject *value, int64_t bit, int32_t *out_number, int64_t *mask) {
  if (value != Py_None) return read_number(value, out_number);
  *mask |= bit;
  return true;
}

static bool read_key(slice_spec *spec, int i, PyObject *key) {
  const int64_t bit = (int64_t)1 << i;
  spec->begin[i] = spec->end[i] = 0;
  spec->strides[i] = 1;
  if (PySlice_Check(key)) {
    const PySliceObject *slice = (PySliceObject *)key;
    int64_t unused = 0;
    return read_bound(slice->start, bit, &spec->begin[i], &spec->begin_mask) &&
           read_bound(slice->stop, bit, &spec->end[i], &spec->end_mask) &&
           read_bound(slice->step, bit, &spec->strides[i], &unused);
  }
  if (key == Py_Ellipsis) {
    spec->ellipsis_mask |= bit;
    return true;
  }
  if (key == Py_None) {
    spec->new_axis_mask |= bit;
    return true;
  }
  spec->shrink_axis_mask |= bit;
  if (!read_number(key, &spec->begin[i])) return false;
  spec->end[i] = spec->begin[i] + 1;
  return true;
}

static bool read_keys(slice_spec *spec, PyObject *key, int *out_count) {
  if (!PyTuple_CheckExact(key)) {
    *out_count = 1;
    return read_key(spec, 0, key);
  }
  if (PyTuple_GET_SIZE(key) == 0 || PyTuple_GET_SIZE(key) > max_keys) return false;
  *out_count = (int)PyTuple_GET_SIZE(key);
  for (int i = 0; i < *out_count; ++i) {
    if (!read_key(spec, i, PyTuple_GET_ITEM(key, i))) return false;
  }
  return true;
}

static PyObject *run_slice(rheos_tensor *x, const slice_spec *spec, int count) {
  const rheos_attr attrs[num_masks] = {rheos_attr_int("begin_mask", spec->begin_mask),
                                       rheos_attr_int("end_mask", spec->end_mask),
                                       rheos_attr_int("ellipsis_mask", spec->ellipsis_mask),
                                       rheos_attr_int("new_axis_mask", spec->new_axis_mask),
                                       rheos_attr_int("shrink_axis_mask", spec->shrink_axis_mask)};
  const rheos_shape shape = {.rank = 1, .dims = {count}};
  const int32_t *const bounds[] = {spec->begin, spec->end, spec->strides};
  rheos_tensor *inputs[4] = {x};
  rheos_status *status = NULL;
  for (int i = 0; i < 3 && !status; ++i) {
    status = rheos_tensor_from_values(RHEOS_INT32, shape, bounds[i], &inputs[i + 1]);
  }
  const rheos_eager_op op = {.type = "StridedSlice",
                             .inputs = inputs,
                             .num_inputs = 4,
                             .attrs = attrs,
                             .num_attrs = num_masks};
  PyObject *result = status ? NULL : eager_run_quickly(&op);
  rheos_status_free(status);
  for (int i = 1; i < 4; ++i) rheos_tensor_unref(inputs[i]);
  return result;
}

PyObject *eager_subscript(PyObject *self, PyObject *key) {
  slice_spec spec = {0};
  int count;
  if (executing_eagerly() && read_keys(&spec, key, &count)) {
    PyObject *result = run_slice(eager_value(self), &spec, count);
    if (result || PyErr_Occurred()) return result;
  }
  return PyObject_CallMethod((PyObject *)package.tensor_type, "__getitem__", "OO", self, key);
}
