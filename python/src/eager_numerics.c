// Checks of what operations give that run at once: a function of the package is told of each output
// that has a NaN or an infinity, and raises what the program sees. Off until one is set.

#include <rheos/statistics.h>

#include "eager_object.h"

static PyObject *checker;  // NULL: nothing is checked

bool eager_numbers_are_checked(void) { return checker != NULL; }

static bool has_fractions(const rheos_tensor *tensor) {
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  return rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype);
}

// [tensor]
static PyObject *inputs_to_list(rheos_tensor *const *inputs, int32_t num_inputs) {
  PyObject *list = PyList_New(num_inputs);
  for (int32_t i = 0; list && i < num_inputs; ++i) {
    PyObject *item = eager_tensor_take(rheos_tensor_ref(inputs[i]));
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
      inputs_to_list(ran->inputs, ran->num_inputs), (long long)s->num_nan,
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
    {NULL, NULL, 0, NULL},
};

int eager_numerics_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
