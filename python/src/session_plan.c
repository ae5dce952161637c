// `_plan_json` of Session objects: what a step becomes, planned and not run.

#include "session_object.h"

// The shapes of a list of tuples of dimensions, which fit the feeds; NULL with an exception.
static rheos_shape *shapes_of(PyObject *list, Py_ssize_t count) {
  if (PyList_GET_SIZE(list) != count) {
    PyErr_SetString(PyExc_ValueError, "there is one shape for each feed");
    return NULL;
  }
  rheos_shape *shapes = PyMem_Calloc((size_t)count + 1, sizeof *shapes);
  if (!shapes) PyErr_NoMemory();
  for (Py_ssize_t i = 0; shapes && i < count; ++i) {
    PyObject *dims = PyList_GET_ITEM(list, i);
    if (!PyTuple_Check(dims) || PyTuple_GET_SIZE(dims) > RHEOS_MAX_RANK) {
      PyErr_Format(PyExc_ValueError, "a shape is a tuple of at most %d dimensions", RHEOS_MAX_RANK);
      PyMem_Free(shapes);
      return NULL;
    }
    shapes[i].rank = (int32_t)PyTuple_GET_SIZE(dims);
    for (int32_t d = 0; d < shapes[i].rank; ++d) {
      shapes[i].dims[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(dims, d));
      if (shapes[i].dims[d] == -1 && PyErr_Occurred()) {
        PyMem_Free(shapes);
        return NULL;
      }
    }
  }
  return shapes;
}

PyObject *session_plan_json(PyObject *object, PyObject *args) {
  session_object *self = (session_object *)object;
  PyObject *feeds, *dims, *fetches, *operations, *result = NULL;
  if (!PyArg_ParseTuple(args, "O!O!O!O!", &PyList_Type, &feeds, &PyList_Type, &dims, &PyList_Type,
                        &fetches, &PyList_Type, &operations)) {
    return NULL;
  }
  if (!session_check_open(self)) return NULL;
  rheos_output *fed = session_outputs_of(self, feeds);
  rheos_shape *shapes = fed ? shapes_of(dims, PyList_GET_SIZE(feeds)) : NULL;
  rheos_output *fetched = shapes ? session_outputs_of(self, fetches) : NULL;
  rheos_operation *targets = fetched ? session_targets_of(self, operations) : NULL;
  if (targets) {
    char *text = NULL;
    rheos_status *status;
    Py_BEGIN_ALLOW_THREADS;
    status = rheos_session_plan_json(self->session, fed, shapes, (size_t)PyList_GET_SIZE(feeds),
                                     fetched, (size_t)PyList_GET_SIZE(fetches), targets,
                                     (size_t)PyList_GET_SIZE(operations), &text);
    Py_END_ALLOW_THREADS;
    if (status)
      raise_run_error_take(status, self->graph);
    else
      result = PyUnicode_FromString(text);
    rheos_free(text);
  }
  PyMem_Free(fed);
  PyMem_Free(shapes);
  PyMem_Free(fetched);
  PyMem_Free(targets);
  return result;
}
