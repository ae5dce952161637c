// Steps in parts: `_partial_setup` and `_partial_run` of Session objects.

#include "session_object.h"

rheos_output *session_outputs_of(const session_object *self, PyObject *tensors) {
  const Py_ssize_t count = PyList_GET_SIZE(tensors);
  rheos_output *outputs = PyMem_Calloc((size_t)count + 1, sizeof *outputs);
  if (!outputs) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    tensor_object *tensor = (tensor_object *)PyList_GET_ITEM(tensors, i);
    if (!is_tensor((PyObject *)tensor) || tensor->graph != self->graph) {
      PyErr_SetString(PyExc_TypeError, "expected tensors of the session's graph");
      PyMem_Free(outputs);
      return NULL;
    }
    outputs[i] = (rheos_output){self->graph->graph, tensor->id, tensor->index};
  }
  return outputs;
}

rheos_operation *session_targets_of(const session_object *self, PyObject *operations) {
  const Py_ssize_t count = PyList_GET_SIZE(operations);
  rheos_operation *targets = PyMem_Calloc((size_t)count + 1, sizeof *targets);
  if (!targets) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    operation_object *operation = (operation_object *)PyList_GET_ITEM(operations, i);
    if (!is_operation((PyObject *)operation) || operation->graph != self->graph) {
      PyErr_SetString(PyExc_TypeError, "expected operations of the session's graph");
      PyMem_Free(targets);
      return NULL;
    }
    targets[i] = (rheos_operation){self->graph->graph, operation->id};
  }
  return targets;
}

PyObject *session_partial_setup(PyObject *object, PyObject *args) {
  session_object *self = (session_object *)object;
  PyObject *feeds, *fetches, *operations;
  if (!PyArg_ParseTuple(args, "O!O!O!", &PyList_Type, &feeds, &PyList_Type, &fetches, &PyList_Type,
                        &operations)) {
    return NULL;
  }
  if (!session_check_open(self)) return NULL;
  rheos_output *fed = session_outputs_of(self, feeds);
  rheos_output *fetched = fed ? session_outputs_of(self, fetches) : NULL;
  rheos_operation *targets = fetched ? session_targets_of(self, operations) : NULL;
  PyObject *result = NULL;
  if (targets) {
    int64_t handle;
    rheos_status *status = rheos_session_partial_setup(
        self->session, fed, (size_t)PyList_GET_SIZE(feeds), fetched,
        (size_t)PyList_GET_SIZE(fetches), targets, (size_t)PyList_GET_SIZE(operations), &handle);
    if (status)
      raise_run_error_take(status, self->graph);
    else
      result = PyLong_FromLongLong(handle);
  }
  PyMem_Free(fed);
  PyMem_Free(fetched);
  PyMem_Free(targets);
  return result;
}

// ---- A part

typedef struct part {
  session_object *session;
  int64_t handle;
  rheos_feed *feeds;
  rheos_fetch *fetches;
  size_t num_feeds, num_fetches;
} part;

static rheos_status *run_part(void *argument, const rheos_run_options *options) {
  const part *p = argument;
  return rheos_session_partial_run(p->session->session, p->handle, p->feeds, p->num_feeds,
                                   p->fetches, p->num_fetches, options);
}

// The values that are fed, converted; false with an exception.
static bool fill_feeds(part *p, PyObject *keys, PyObject *values, const rheos_output *outputs) {
  for (; p->num_feeds < (size_t)PyList_GET_SIZE(keys); ++p->num_feeds) {
    const rheos_output output = outputs[p->num_feeds];
    rheos_tensor *value = feed_value(PyList_GET_ITEM(keys, (Py_ssize_t)p->num_feeds),
                                     PyList_GET_ITEM(values, (Py_ssize_t)p->num_feeds), output,
                                     rheos_dtype_base(rheos_output_dtype(output)));
    if (!value) return false;
    p->feeds[p->num_feeds] = (rheos_feed){output, value};
  }
  return true;
}

static PyObject *results_take(part *p) {
  PyObject *results = PyList_New((Py_ssize_t)p->num_fetches);
  for (size_t i = 0; results && i < p->num_fetches; ++i) {
    PyObject *item = tensor_to_python_take(p->fetches[i].value);
    p->fetches[i].value = NULL;
    if (item)
      PyList_SET_ITEM(results, (Py_ssize_t)i, item);
    else
      Py_CLEAR(results);
  }
  return results;
}

static PyObject *run_filled(part *p) {
  bool interrupted = false;
  rheos_status *status =
      run_with_signals(p->session, true, run_part, p, &(run_settings){0}, &interrupted);
  if (!interrupted && !status) return results_take(p);
  if (!interrupted)
    raise_run_error_take(status, p->session->graph);
  else
    rheos_status_free(status);
  return NULL;
}

PyObject *session_partial_run(PyObject *object, PyObject *args) {
  session_object *self = (session_object *)object;
  long long handle;
  PyObject *fetches, *keys, *values, *result = NULL;
  if (!PyArg_ParseTuple(args, "LO!O!O!", &handle, &PyList_Type, &fetches, &PyList_Type, &keys,
                        &PyList_Type, &values)) {
    return NULL;
  }
  if (!session_check_open(self)) return NULL;
  const size_t num_keys = (size_t)PyList_GET_SIZE(keys);
  part p = {.session = self, .handle = handle, .num_fetches = (size_t)PyList_GET_SIZE(fetches)};
  rheos_output *fed = session_outputs_of(self, keys),
               *fetched = fed ? session_outputs_of(self, fetches) : NULL;
  p.feeds = PyMem_Calloc(num_keys + 1, sizeof *p.feeds);
  p.fetches = PyMem_Calloc(p.num_fetches + 1, sizeof *p.fetches);
  if (fetched && (!p.feeds || !p.fetches)) PyErr_NoMemory();
  if (fetched && p.feeds && p.fetches && fill_feeds(&p, keys, values, fed)) {
    for (size_t i = 0; i < p.num_fetches; ++i) p.fetches[i].output = fetched[i];
    result = run_filled(&p);
  }
  for (size_t i = 0; i < p.num_feeds; ++i) rheos_tensor_unref(p.feeds[i].value);
  for (size_t i = 0; p.fetches && i < p.num_fetches; ++i) rheos_tensor_unref(p.fetches[i].value);
  PyMem_Free(fed);
  PyMem_Free(fetched);
  PyMem_Free(p.feeds);
  PyMem_Free(p.fetches);
  session_step_is_over(self);
  return result;
}
