// Server objects: one task of a cluster each. What a cluster is written as, and TensorFlow's names
// for it, are the package's.

#include <rheos/server.h>

#include "session_object.h"

typedef struct server_object {
  PyObject_HEAD rheos_server *server;
} server_object;

PyDoc_STRVAR(
    server_doc,
    "_Server(cluster, job, task, bind=None, cpu_devices=0, threads=0, program_function=None, "
    "default_session_config=b'', allows_files=False): "
    "listens from the moment it is made.\n\ncluster: the bytes of a ClusterDef. bind: the "
    "address that it listens at, this machine's own by default. program_function: as "
    "sessions have it. allows_files: ops of others may use files, and call that function.");
static PyObject *server_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"cluster",
                          "job",
                          "task",
                          "bind",
                          "cpu_devices",
                          "threads",
                          "program_function",
                          "default_session_config",
                          "allows_files",
                          NULL};
  rheos_server_options options = {0};
  PyObject *function = Py_None;
  Py_ssize_t size = 0, config_size = 0;
  int allows_files = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "y#si|ziiOy#p", names, &options.cluster, &size,
                                   &options.job, &options.task, &options.bind,
                                   &options.num_cpu_devices, &options.num_threads, &function,
                                   &options.default_session_config, &config_size, &allows_files)) {
    return NULL;
  }
  options.default_session_config_bytes = (size_t)config_size;
  options.cluster_bytes = (size_t)size;
  options.allows_files = allows_files != 0;
  server_object *self = (server_object *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  if (function != Py_None) {
    options.program_function = call_program;
    options.program_argument = Py_NewRef(function);  // calls may outlast the server
  }
  rheos_status *status;
  Py_BEGIN_ALLOW_THREADS;
  status = rheos_server_new(&options, &self->server);
  Py_END_ALLOW_THREADS;
  if (!status) return (PyObject *)self;
  Py_DECREF(self);
  raise_run_error_take(status, NULL);
  return NULL;
}

static void server_dealloc(PyObject *object) {
  Py_BEGIN_ALLOW_THREADS;  // steps that it ends may be waiting for the GIL
  rheos_server_free(((server_object *)object)->server);
  Py_END_ALLOW_THREADS;
  Py_TYPE(object)->tp_free(object);
}

static PyObject *server_join(PyObject *object, PyObject *unused) {
  (void)unused;
  Py_BEGIN_ALLOW_THREADS;
  rheos_server_join(((server_object *)object)->server);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

static PyObject *server_stop(PyObject *object, PyObject *args) {
  long long grace_ms = 0;
  if (!PyArg_ParseTuple(args, "|L", &grace_ms)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  rheos_server_stop(((server_object *)object)->server, grace_ms);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

static PyObject *server_target(PyObject *object, void *unused) {
  (void)unused;
  return PyUnicode_FromString(rheos_server_target(((server_object *)object)->server));
}

static PyMethodDef server_methods[] = {
    {"join", server_join, METH_NOARGS, "join(): returns when the server has been stopped."},
    {"stop", server_stop, METH_VARARGS,
     "stop(grace_ms=0): ends calls under way when that long has passed."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef server_getters[] = {
    {"target", server_target, NULL, "What sessions give as their target.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject server_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core._Server",
    .tp_basicsize = sizeof(server_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = server_doc,
    .tp_new = server_new,
    .tp_dealloc = server_dealloc,
    .tp_methods = server_methods,
    .tp_getset = server_getters,
};

rheos_host *server_host(PyObject *object) {
  if (Py_IS_TYPE(object, &server_type)) return rheos_server_host(((server_object *)object)->server);
  rheos_host *host = ranks_host(object);
  if (!host) PyErr_Format(PyExc_TypeError, "expected a server, got %R", object);
  return host;
}

int server_init_types(PyObject *module) { return PyModule_AddType(module, &server_type); }

// ---- Resets

static rheos_status *reset(const char *target, const char **containers, PyObject *container_list,
                           const char **filters, PyObject *filter_list) {
  const size_t num_containers = (size_t)PyList_GET_SIZE(container_list);
  const size_t num_filters = (size_t)PyList_GET_SIZE(filter_list);
  rheos_status *status;
  Py_BEGIN_ALLOW_THREADS;
  status = rheos_cluster_reset(target, NULL, containers, num_containers, filters, num_filters);
  Py_END_ALLOW_THREADS;
  return status;
}

PyObject *cluster_reset(PyObject *module, PyObject *args) {
  (void)module;
  const char *target;
  PyObject *container_list, *filter_list;
  if (!PyArg_ParseTuple(args, "sO!O!", &target, &PyList_Type, &container_list, &PyList_Type,
                        &filter_list)) {
    return NULL;
  }
  const char **containers = texts_of(container_list);
  const char **filters = containers ? texts_of(filter_list) : NULL;
  rheos_status *status =
      filters ? reset(target, containers, container_list, filters, filter_list) : NULL;
  const bool is_done = filters && !status;
  PyMem_Free(filters);
  PyMem_Free(containers);
  if (status) raise_run_error_take(status, NULL);
  return is_done ? Py_NewRef(Py_None) : NULL;
}
