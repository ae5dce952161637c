// The module: types, and what the Python package hands over when it is imported.

#include <rheos/format.h>
#include <rheos/train.h>

#include "eager_object.h"
#include "gpu_devices.h"
#include "graph_object.h"
#include "session_object.h"

package_objects package;

PyDoc_STRVAR(register_doc,
             "_register(tensor, operation, shape, dtypes, errors, convert, explain_ragged, folder, "
             "default_graph)\n\n"
             "Tells the extension the package's classes: dtypes and errors are dicts by number.");
static PyObject *register_package(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *tensor, *operation, *shape, *dtypes, *errors, *convert, *explain, *folder,
      *default_graph;
  if (!PyArg_ParseTuple(args, "O!O!O!O!O!OOUO", &PyType_Type, &tensor, &PyType_Type, &operation,
                        &PyType_Type, &shape, &PyDict_Type, &dtypes, &PyDict_Type, &errors,
                        &convert, &explain, &folder, &default_graph)) {
    return NULL;
  }
  PyObject *key, *value;
  Py_ssize_t position = 0;
  const long num_dtypes = sizeof package.dtypes / sizeof *package.dtypes;
  while (PyDict_Next(dtypes, &position, &key, &value)) {
    long number = PyLong_AsLong(key);
    if (number >= 0 && number < num_dtypes) Py_XSETREF(package.dtypes[number], Py_NewRef(value));
  }
  position = 0;
  while (PyDict_Next(errors, &position, &key, &value)) {
    long code = PyLong_AsLong(key);
    if (code >= 0 && code <= RHEOS_UNAUTHENTICATED) {
      Py_XSETREF(package.error_classes[code], Py_NewRef(value));
    }
  }
  if (PyErr_Occurred()) return NULL;
  Py_XSETREF(package.tensor_type, (PyTypeObject *)Py_NewRef(tensor));
  Py_XSETREF(package.operation_type, (PyTypeObject *)Py_NewRef(operation));
  Py_XSETREF(package.dims_name, PyUnicode_InternFromString("_dims_tuple"));
  if (!package.dims_name) return NULL;
  Py_XSETREF(package.shape_type, (PyTypeObject *)Py_NewRef(shape));
  Py_XSETREF(package.convert, Py_NewRef(convert));
  Py_XSETREF(package.explain_ragged, Py_NewRef(explain));
  Py_XSETREF(package.default_graph, Py_NewRef(default_graph));
  Py_XSETREF(package.internal_prefix, Py_NewRef(folder));
  Py_RETURN_NONE;
}

PyDoc_STRVAR(value_doc, "_value(value, dtype=None, shape=None): what a constant of it would hold.");
static PyObject *value_of(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *value, *dtype_object = Py_None, *shape_object = Py_None;
  if (!PyArg_ParseTuple(args, "O|OO", &value, &dtype_object, &shape_object)) return NULL;
  rheos_dtype dtype = RHEOS_INVALID_DTYPE;
  rheos_shape shape;
  if (dtype_object != Py_None && dtype_from_python(dtype_object, &dtype) < 0) return NULL;
  if (shape_object != Py_None && shape_from_python(shape_object, &shape) < 0) return NULL;
  rheos_tensor *tensor = tensor_from_python(value, rheos_dtype_base(dtype),
                                            shape_object == Py_None ? NULL : &shape, false);
  return tensor ? tensor_to_python_take(tensor) : NULL;
}

PyDoc_STRVAR(op_signature_doc, "op_signature(type): the text of an op's signature, or None.");
static PyObject *op_signature(PyObject *module, PyObject *type) {
  (void)module;
  const char *name = PyUnicode_AsUTF8(type);
  if (!name) return NULL;
  const char *text = rheos_op_signature(name);
  if (!text) Py_RETURN_NONE;
  return PyUnicode_FromString(text);
}

PyDoc_STRVAR(op_has_gradient_doc,
             "op_has_gradient(type): whether the library defines it, be it that none flows.");
static PyObject *op_has_gradient(PyObject *module, PyObject *type) {
  (void)module;
  const char *name = PyUnicode_AsUTF8(type);
  return name ? PyBool_FromLong(rheos_op_has_gradient(name)) : NULL;
}

PyDoc_STRVAR(op_def_doc, "op_def_bytes(type): the definition of an op, an OpDef, or None.");
static PyObject *op_def_bytes(PyObject *module, PyObject *type) {
  (void)module;
  const char *name = PyUnicode_AsUTF8(type);
  if (!name) return NULL;
  if (!rheos_op_signature(name)) Py_RETURN_NONE;
  void *data;
  size_t size_bytes;
  rheos_status *status = rheos_op_to_op_def(name, &data, &size_bytes);
  if (status) {
    raise_build_error_take(status);
    return NULL;
  }
  PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size_bytes);
  rheos_free(data);
  return bytes;
}

static PyObject *op_types(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  int32_t count = rheos_num_ops();
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    PyObject *name = PyUnicode_FromString(rheos_op_type(i));
    if (!name)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, name);
  }
  return list;
}

static PyObject *version(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyUnicode_FromString(rheos_version());
}

static PyObject *is_plain(PyObject *module, PyObject *value) {
  (void)module;
  return PyBool_FromLong(is_plain_value(value));
}

static PyObject *graphics_cards(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  const int32_t count = rheos_num_graphics_cards();
  PyObject *names = PyList_New(count);
  for (int32_t i = 0; names != NULL && i < count; i++) {
    PyObject *name = PyUnicode_FromString(rheos_graphics_card(i));
    if (name == NULL) Py_CLEAR(names);
    if (name != NULL) PyList_SET_ITEM(names, i, name);
  }
  return names;
}

static PyMethodDef module_methods[] = {
    {"graphics_cards", graphics_cards, METH_NOARGS,
     "graphics_cards(): the names of the cards that sessions have as /device:GPU:0, ..."},
    {"_register", register_package, METH_VARARGS, register_doc},
    {"_value", value_of, METH_VARARGS, value_doc},
    {"is_plain", is_plain, METH_O,
     "is_plain(value): whether it is a number, text or array, or lists of these alone."},
    {"op_signature", op_signature, METH_O, op_signature_doc},
    {"op_has_gradient", op_has_gradient, METH_O, op_has_gradient_doc},
    {"op_def_bytes", op_def_bytes, METH_O, op_def_doc},
    {"optimizer_parts", optimizer_parts, METH_O,
     "optimizer_parts(options): (op, inputs, [(slot, its value)], [(number, its default)])"},
    {"op_types", op_types, METH_NOARGS, "op_types(): the names of all ops."},
    {"write_checkpoint_state", write_checkpoint_state, METH_VARARGS,
     "write_checkpoint_state(folder, file or None, newest, all, times, last time)"},
    {"cluster_reset", cluster_reset, METH_VARARGS,
     "cluster_reset(target, containers, device_filters): ends the sessions on a server, and frees "
     "containers."},
    {"lint", lint_graph, METH_VARARGS,
     "lint(graph, notes, is_serving, ids asked for, _RunLog or None): "
     "[(rule, file or None, line, text, node, function)]."},
    {"lint_rules", lint_rules, METH_NOARGS,
     "lint_rules(): [(name, sign, remedy, is_note, wants_runs)]."},
    {"lint_is_ignored", lint_is_ignored, METH_VARARGS,
     "lint_is_ignored(file, line, rule): whether the line says so."},
    {"read_checkpoint_state", read_checkpoint_state, METH_VARARGS,
     "read_checkpoint_state(folder, file or None): (newest, all, times, last time), or None."},
    {"read_graph_def", read_graph_def, METH_VARARGS,
     "read_graph_def(path): the bytes of a GraphDef file, with whole paths of the files beside "
     "it."},
    {"version", version, METH_NOARGS, "The version of the C library."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "rheos._core",
    .m_doc = "The C library behind the package.",
    .m_size = -1,
    .m_methods = module_methods,
};

// Two Rheoses on one path: an extension that was given another's library.
static bool is_library_its_own(void) {
  if (strcmp(rheos_version(), RHEOS_VERSION_STRING) == 0) return true;
  PyErr_Format(PyExc_ImportError,
               "built for version " RHEOS_VERSION_STRING
               " of the library, version `%s' of librheos.so is found",
               rheos_version());
  return false;
}

PyMODINIT_FUNC PyInit__core(void) {
  if (!is_library_its_own()) return NULL;
  if (convert_init() < 0) return NULL;
  PyObject *module = PyModule_Create(&module_definition);
  if (!module) return NULL;
  if (graph_init_types(module) < 0 || tensor_init_types(module) < 0 ||
      session_init_types(module) < 0 || server_init_types(module) < 0 ||
      watch_init_types(module) < 0 || ranks_init_types(module) < 0 || lint_init_types(module) < 0 ||
      training_init_types(module) < 0 || files_init_types(module) < 0 ||
      checkpoint_init_types(module) < 0 || eager_init_types(module) < 0 ||
      gpu_devices_init(module) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
