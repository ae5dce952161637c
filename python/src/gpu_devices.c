// Graphics cards as the package names them: pairs of a card and the bytes it may give, 0 for all.

#include "gpu_devices.h"

#include <rheos/format.h>

#include "session_object.h"

bool gpu_devices_read(PyObject *list, gpu_devices *out) {
  out->count = 0;
  if (list == Py_None) {
    out->given = NULL;
    return true;
  }
  out->given = out->all;
  PyObject *items = PySequence_Fast(list, "expected pairs of a card and its limit in bytes");
  if (!items) return false;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  bool is_read = count <= max_gpu_devices;
  if (!is_read) PyErr_Format(PyExc_ValueError, "more than %d devices", max_gpu_devices);
  for (Py_ssize_t i = 0; is_read && i < count; ++i) {
    int card;
    long long limit;
    is_read = PyArg_ParseTuple(PySequence_Fast_GET_ITEM(items, i), "iL", &card, &limit);
    if (is_read) out->all[i] = (rheos_gpu_device){.card = card, .memory_limit_bytes = limit};
  }
  Py_DECREF(items);
  out->count = (int32_t)count;
  return is_read;
}

PyDoc_STRVAR(read_doc, "_gpu_devices(config): what a ConfigProto asks for, pairs as above.");
static PyObject *read_config(PyObject *module, PyObject *args) {
  (void)module;
  const char *config;
  Py_ssize_t size;
  rheos_gpu_device *found = NULL;
  size_t count;
  if (!PyArg_ParseTuple(args, "y#", &config, &size)) return NULL;
  rheos_status *status = rheos_gpu_devices_from_config(config, (size_t)size, &found, &count);
  if (status) {
    raise_run_error_take(status, NULL);
    return NULL;
  }
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    PyObject *pair =
        Py_BuildValue("iL", (int)found[i].card, (long long)found[i].memory_limit_bytes);
    if (pair)
      PyList_SET_ITEM(list, (Py_ssize_t)i, pair);
    else
      Py_CLEAR(list);
  }
  rheos_free(found);
  return list;
}

static PyMethodDef functions[] = {
    {"_gpu_devices", read_config, METH_VARARGS, read_doc},
    {NULL, NULL, 0, NULL},
};

int gpu_devices_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
