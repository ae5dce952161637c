// Who looks at operations that run at once: a function of the package is told of each output that
// has a NaN or an infinity, and raises what the program sees; another one is told of each
// operation. Off until they are set.

#include <rheos/front_end.h>
#include <rheos/statistics.h>

#include "eager_object.h"

static PyObject *checker;   // NULL: nothing is checked
static PyObject *follower;  // NULL: nobody is told of operations

bool eager_numbers_are_checked(void) { return checker != NULL; }
bool eager_ops_are_looked_at(void) { return checker != NULL || follower != NULL; }

static bool has_fractions(const rheos_tensor *tensor) {
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  return rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype);
}

// [tensor]
static PyObject *tensors_to_list(rheos_tensor *const *tensors, int32_t count) {
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    PyObject *item = eager_tensor_take(rheos_tensor_ref(tensors[i]));
    if (!item)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, item);
  }
  return list;
}

// -1 with the exception that the package raises.
static int tell(const eager_ran *ran, int32_t index, const rheos_statistics *s) {
  PyObject *function = Py_NewRef(checker);
  PyObject *done = PyObject_CallFunction(
      function, "siiNNLLL", ran->type, (int)index, (int)ran->num_outputs,
      eager_tensor_take(rheos_tensor_ref(ran->outputs[index])),
      tensors_to_list(ran->inputs, ran->num_inputs), (long long)s->num_nan,
      (long long)s->num_negative_infinite, (long long)s->num_positive_infinite);
  Py_DECREF(function);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

int eager_check_numbers(const eager_ran *ran) {
  for (int32_t i = 0; i < ran->num_outputs && checker; ++i) {
    rheos_statistics statistics;
    if (!ran->outputs[i] || !has_fractions(ran->outputs[i])) continue;
    rheos_status *status = rheos_tensor_statistics(ran->outputs[i], &statistics);
    if (status) {
      raise_eager_error_take(status, ran->type);
      return -1;
    }
    const int64_t bad =
        statistics.num_nan + statistics.num_negative_infinite + statistics.num_positive_infinite;
    if (bad > 0 && tell(ran, i, &statistics) < 0) return -1;
  }
  return 0;
}

// [address]: who is told knows tensors by that.
static PyObject *addresses_of(rheos_tensor *const *tensors, int32_t count) {
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    PyObject *address = PyLong_FromVoidPtr(tensors[i]);
    if (!address)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, address);
  }
  return list;
}

int eager_tell_op(const eager_ran *ran, const rheos_region *region) {
  if (!follower) return 0;
  PyObject *function = Py_NewRef(follower);
  const rheos_attr_value called = rheos_region_attr(region, "f");
  const char *name = called.kind == RHEOS_ATTR_FUNC ? called.func->name.data : NULL;
  PyObject *done = PyObject_CallFunction(
      function, "szNNNN", ran->type, name, addresses_of(ran->inputs, ran->num_inputs),
      tensors_to_list(ran->inputs, ran->num_inputs), addresses_of(ran->outputs, ran->num_outputs),
      tensors_to_list(ran->outputs, ran->num_outputs));
  Py_DECREF(function);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

static PyObject *follow_ops(PyObject *module, PyObject *function) {
  (void)module;
  Py_XSETREF(follower, function == Py_None ? NULL : Py_NewRef(function));
  Py_RETURN_NONE;
}

static PyObject *check_numbers(PyObject *module, PyObject *function) {
  (void)module;
  Py_XSETREF(checker, function == Py_None ? NULL : Py_NewRef(function));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_check_numbers", check_numbers, METH_O,
     "_check_numbers(function): of (type, index, number of outputs, output, inputs, NaN, -Inf, "
     "+Inf) "
     "for each output of operations that run at once that has any of these; None: no more."},
    {"_follow_ops", follow_ops, METH_O,
     "_follow_ops(function): of (type, function that it calls or None, addresses of inputs, "
     "inputs, addresses of outputs, outputs) for each operation that has run at once; None: no "
     "more."},
    {NULL, NULL, 0, NULL},
};

int eager_numerics_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
