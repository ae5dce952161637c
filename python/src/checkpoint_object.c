// Checkpoints that are read from Python without a graph.

#include <rheos/format.h>
#include <string.h>

#include "graph_object.h"

typedef struct checkpoint_object {
  PyObject_HEAD rheos_checkpoint_reader *reader;
} checkpoint_object;

static PyObject *checkpoint_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  const char *prefix;
  if (!PyArg_ParseTuple(args, "s", &prefix)) return NULL;
  checkpoint_object *self = (checkpoint_object *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  rheos_status *status = rheos_checkpoint_reader_open(prefix, &self->reader);
  if (!status) return (PyObject *)self;
  Py_DECREF(self);
  raise_run_error_take(status, NULL);
  return NULL;
}

static PyObject *checkpoint_entries(PyObject *self, PyObject *unused) {
  (void)unused;
  const rheos_checkpoint_reader *reader = ((checkpoint_object *)self)->reader;
  const size_t count = rheos_checkpoint_reader_count(reader);
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    const rheos_shape shape = rheos_checkpoint_reader_shape(reader, i);
    PyObject *dtype = dtype_to_python(rheos_checkpoint_reader_dtype(reader, i));
    PyObject *dims = dtype ? shape_to_python(&shape) : NULL;
    PyObject *entry =
        dims ? Py_BuildValue("(sON)", rheos_checkpoint_reader_name(reader, i), dtype, dims) : NULL;
    if (entry)
      PyList_SET_ITEM(list, (Py_ssize_t)i, entry);
    else
      Py_CLEAR(list);
  }
  return list;
}

static PyObject *checkpoint_read(PyObject *self, PyObject *args) {
  Py_ssize_t index;
  if (!PyArg_ParseTuple(args, "n", &index)) return NULL;
  rheos_tensor *tensor;
  rheos_status *status =
      rheos_checkpoint_reader_read(((checkpoint_object *)self)->reader, (size_t)index, &tensor);
  if (!status) return tensor_to_python_take(tensor);
  raise_run_error_take(status, NULL);
  return NULL;
}

// One entry of the list that misfit() takes; borrows the name.
static bool wanted_of(PyObject *entry, rheos_wanted_tensor *out_wanted) {
  Py_ssize_t name_bytes;
  PyObject *shape;
  *out_wanted = (rheos_wanted_tensor){0};
  if (!PyArg_ParseTuple(entry, "s#O", &out_wanted->name, &name_bytes, &shape)) return false;
  out_wanted->name_bytes = (size_t)name_bytes;
  return shape_from_python(shape, &out_wanted->shape) == 0;
}

static PyObject *checkpoint_misfit(PyObject *self, PyObject *args) {
  const char *checkpoint;
  PyObject *list;
  if (!PyArg_ParseTuple(args, "O!s", &PyList_Type, &list, &checkpoint)) return NULL;
  const Py_ssize_t count = PyList_GET_SIZE(list);
  rheos_wanted_tensor *wanted = PyMem_Calloc((size_t)count + 1, sizeof *wanted);
  if (!wanted) return PyErr_NoMemory();
  bool read = true;
  for (Py_ssize_t i = 0; read && i < count; ++i) {
    read = wanted_of(PyList_GET_ITEM(list, i), &wanted[i]);
  }
  PyObject *text = NULL;
  if (read) {
    rheos_status *status = rheos_checkpoint_reader_check(((checkpoint_object *)self)->reader,
                                                         checkpoint, wanted, (size_t)count);
    const char *message = rheos_status_message(status);
    text = status ? PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace")
                  : Py_NewRef(Py_None);
    rheos_status_free(status);
  }
  PyMem_Free(wanted);
  return text;
}

static void checkpoint_dealloc(PyObject *self) {
  rheos_checkpoint_reader_free(((checkpoint_object *)self)->reader);
  Py_TYPE(self)->tp_free(self);
}

static PyMethodDef checkpoint_methods[] = {
    {"entries", checkpoint_entries, METH_NOARGS, "entries(): [(name, dtype, shape)], by name"},
    {"misfit", checkpoint_misfit, METH_VARARGS,
     "misfit([(name, shape)], checkpoint): what is missing or has another shape, None if all fits"},
    {"read", checkpoint_read, METH_VARARGS, "read(index): the tensor's value"},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject checkpoint_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.CheckpointFiles",
    .tp_basicsize = sizeof(checkpoint_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "CheckpointFiles(prefix): what is in a checkpoint.",
    .tp_new = checkpoint_new,
    .tp_dealloc = checkpoint_dealloc,
    .tp_methods = checkpoint_methods,
};

int checkpoint_init_types(PyObject *module) { return PyModule_AddType(module, &checkpoint_type); }
