// The ranks of a program that mpirun has started, as an object.

#include <rheos/ranks.h>

#include "core.h"

typedef struct ranks_object {
  PyObject_HEAD rheos_ranks *ranks;  // NULL: they were left
} ranks_object;

PyDoc_STRVAR(ranks_doc,
             "_Ranks(): joins the other ranks, once in a process, and waits for them.\n\n"
             "An object that is freed does not leave them.");
static PyObject *ranks_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {NULL};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "", names)) return NULL;
  ranks_object *self = (ranks_object *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  rheos_status *status;
  Py_BEGIN_ALLOW_THREADS;
  status = rheos_ranks_join(&self->ranks);
  Py_END_ALLOW_THREADS;
  if (!status) return (PyObject *)self;
  Py_DECREF(self);
  raise_run_error_take(status, NULL);
  return NULL;
}

static void ranks_dealloc(PyObject *object) { Py_TYPE(object)->tp_free(object); }

static PyObject *ranks_leave(PyObject *object, PyObject *unused) {
  (void)unused;
  ranks_object *self = (ranks_object *)object;
  rheos_ranks *ranks = self->ranks;
  self->ranks = NULL;
  Py_BEGIN_ALLOW_THREADS;
  rheos_ranks_free(ranks);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

static PyObject *ranks_abort(PyObject *object, PyObject *unused) {
  (void)unused;
  Py_BEGIN_ALLOW_THREADS;
  rheos_ranks_abort(((ranks_object *)object)->ranks);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

static PyObject *ranks_are_there(PyObject *type, PyObject *unused) {
  (void)type, (void)unused;
  return PyBool_FromLong(rheos_ranks_are_there());
}

static PyObject *ranks_rank(PyObject *object, void *unused) {
  (void)unused;
  return PyLong_FromLong(rheos_ranks_rank(((ranks_object *)object)->ranks));
}

static PyObject *ranks_count(PyObject *object, void *unused) {
  (void)unused;
  return PyLong_FromLong(rheos_ranks_count(((ranks_object *)object)->ranks));
}

static PyMethodDef ranks_methods[] = {
    {"are_there", ranks_are_there, METH_NOARGS | METH_STATIC,
     "are_there(): whether mpirun has started this process, as one of several."},
    {"leave", ranks_leave, METH_NOARGS, "leave(): waits until all ranks have called it."},
    {"abort", ranks_abort, METH_NOARGS, "abort(): ends the processes of all ranks."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef ranks_getters[] = {
    {"rank", ranks_rank, NULL, "The rank of this process; -1 after leave().", NULL},
    {"count", ranks_count, NULL, "How many ranks there are; 0 after leave().", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject ranks_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core._Ranks",
    .tp_basicsize = sizeof(ranks_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = ranks_doc,
    .tp_new = ranks_new,
    .tp_dealloc = ranks_dealloc,
    .tp_methods = ranks_methods,
    .tp_getset = ranks_getters,
};

rheos_host *ranks_host(PyObject *object) {
  if (!Py_IS_TYPE(object, &ranks_type)) return NULL;
  return rheos_ranks_host(((ranks_object *)object)->ranks);
}

int ranks_init_types(PyObject *module) { return PyModule_AddType(module, &ranks_type); }
