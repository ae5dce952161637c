// What PyFunc and PyFuncStateless call: the functions that the package keeps by their tokens.

#include <string.h>

#include "core.h"
#include "session_object.h"

static PyObject *inputs_to_python(rheos_tensor *const *inputs, size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    rheos_tensor *copy = NULL;  // the function may keep its arguments, and write to them
    rheos_status *status = rheos_tensor_copy(inputs[i], &copy);
    PyObject *array = NULL;
    if (status)
      raise_run_error_take(status, NULL);
    else
      array = tensor_to_python_take(copy);
    if (array)
      PyList_SET_ITEM(list, (Py_ssize_t)i, array);
    else
      Py_CLEAR(list);
  }
  return list;
}

// Each item is (array, DType).
static int outputs_from_python(PyObject *list, rheos_tensor **outputs, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    PyObject *array, *dtype_object;
    rheos_dtype dtype;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, (Py_ssize_t)i), "OO", &array, &dtype_object) ||
        dtype_from_python(dtype_object, &dtype) < 0) {
      return -1;
    }
    outputs[i] = tensor_for_feed(array, dtype);
    if (!outputs[i]) return -1;
  }
  return 0;
}

static rheos_code code_of_exception(PyObject *type) {
  static PyObject **const invalid[] = {&PyExc_ValueError, &PyExc_TypeError};
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; ++i) {
    if (PyErr_GivenExceptionMatches(type, *invalid[i])) return RHEOS_INVALID_ARGUMENT;
  }
  if (PyErr_GivenExceptionMatches(type, PyExc_StopIteration)) return RHEOS_OUT_OF_RANGE;
  if (PyErr_GivenExceptionMatches(type, PyExc_MemoryError)) return RHEOS_RESOURCE_EXHAUSTED;
  if (PyErr_GivenExceptionMatches(type, PyExc_NotImplementedError)) return RHEOS_UNIMPLEMENTED;
  return RHEOS_UNKNOWN;
}

rheos_status *status_of_exception(void) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject *module = PyImport_ImportModule("rheos.ops.flow.script_ops");
  PyObject *text = module ? PyObject_CallMethod(module, "describe", "OO", value ? value : Py_None,
                                                traceback ? traceback : Py_None)
                          : NULL;
  const char *message = text ? PyUnicode_AsUTF8(text) : NULL;
  rheos_status *status = rheos_status_new(code_of_exception(type), "%s",
                                          message ? message : "a function of the program failed");
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(module);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return status;
}

rheos_status *call_program(void *function, const char *token, rheos_tensor *const *inputs,
                           size_t num_inputs, rheos_tensor **outputs, size_t num_outputs) {
  PyGILState_STATE gil = PyGILState_Ensure();
  // What ends with a tensor may call the program while an exception goes through the frame that
  // held it.
  PyObject *pending, *of_pending, *traceback;
  PyErr_Fetch(&pending, &of_pending, &traceback);
  PyObject *arrays = inputs_to_python(inputs, num_inputs);
  PyObject *found =
      arrays ? PyObject_CallFunction(function, "sOn", token, arrays, (Py_ssize_t)num_outputs)
             : NULL;
  const bool sound = found && PyList_Check(found) &&
                     PyList_GET_SIZE(found) == (Py_ssize_t)num_outputs &&
                     outputs_from_python(found, outputs, num_outputs) == 0;
  if (!sound && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected a list of arrays");
  rheos_status *status = sound ? NULL : status_of_exception();
  Py_XDECREF(arrays);
  Py_XDECREF(found);
  PyErr_Restore(pending, of_pending, traceback);
  PyGILState_Release(gil);
  return status;
}

bool calls_program(graph_object *graph) {
  const int32_t count = rheos_graph_num_operations(graph->graph);
  for (; !graph->calls_program && graph->num_searched < count; graph->num_searched++) {
    const rheos_operation operation = {graph->graph, graph->num_searched};
    graph->calls_program = strncmp(rheos_operation_type(operation), "PyFunc", 6) == 0;
  }
  return graph->calls_program;
}
