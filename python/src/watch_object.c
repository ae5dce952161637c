// Watch objects: one watch of a session each, or of what runs at once, that is on until it is
// ended. What is told of a value goes to a function of the package, which makes objects of it.

#include <rheos/watch.h>
#include <string.h>

#include "eager_object.h"
#include "session_object.h"

typedef struct watch_object {
  PyObject_HEAD session_object *session;  // NULL: of what runs at once
  rheos_watch *watch;                     // NULL: it has ended
  PyObject *function;
  const rheos_seen *seen;  // that the function is told of now
} watch_object;

static PyTypeObject watch_type;

// (count, nan, negative, zero, positive, -inf, inf, least, most, mean, norm); None: no numbers.
static PyObject *statistics_to_python(const rheos_statistics *s) {
  if (!s) Py_RETURN_NONE;
  return Py_BuildValue("LLLLLLLdddd", (long long)s->count, (long long)s->num_nan,
                       (long long)s->num_negative, (long long)s->num_zero,
                       (long long)s->num_positive, (long long)s->num_negative_infinite,
                       (long long)s->num_positive_infinite, s->least, s->most, s->mean, s->norm);
}

// A copy: the function may keep it, and write to it.
static PyObject *value_to_python(rheos_tensor *value) {
  rheos_tensor *copy = NULL;
  if (!value) Py_RETURN_NONE;
  rheos_status *status = rheos_tensor_copy(value, &copy);
  if (!status) return tensor_to_python_take(copy);
  raise_run_error_take(status, NULL);
  return NULL;
}

// (least, most, [count]); None: no numbers, or it is not watched.
static PyObject *histogram_to_python(const rheos_histogram *h) {
  if (!h) Py_RETURN_NONE;
  PyObject *counts = PyList_New(RHEOS_HISTOGRAM_BUCKETS);
  for (Py_ssize_t i = 0; counts && i < RHEOS_HISTOGRAM_BUCKETS; ++i) {
    PyObject *count = PyLong_FromLongLong((long long)h->counts[i]);
    if (!count)
      Py_CLEAR(counts);
    else
      PyList_SET_ITEM(counts, i, count);
  }
  return Py_BuildValue("ddN", h->least, h->most, counts);
}

static PyObject *name_to_python(rheos_output output) {
  const rheos_operation operation = {output.graph, output.id};
  const size_t size = rheos_operation_name(operation, NULL, 0);
  char *name = PyMem_Malloc(size + 1);
  if (!name) return PyErr_NoMemory();
  rheos_operation_name(operation, name, size + 1);
  PyObject *text = PyUnicode_FromFormat("%s:%d", name, (int)output.index);
  PyMem_Free(name);
  return text;
}

// As the package has it: "float32".
static PyObject *dtype_name(rheos_dtype dtype) {
  PyObject *known = dtype_to_python(dtype);
  return known ? PyObject_GetAttrString(known, "name") : NULL;
}

// [(name, statistics)]
static PyObject *inputs_to_python(const rheos_seen *seen) {
  PyObject *list = PyList_New((Py_ssize_t)seen->num_inputs);
  for (size_t i = 0; list && i < seen->num_inputs; ++i) {
    PyObject *item = Py_BuildValue("NN", name_to_python(seen->inputs[i].output),
                                   statistics_to_python(seen->inputs[i].statistics));
    if (!item)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, (Py_ssize_t)i, item);
  }
  return list;
}

// The pending exception: one of tf.errors ends the step as what it is.
static rheos_status *status_of_telling(void) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject *code = value ? PyObject_GetAttrString(value, "error_code") : NULL;
  PyObject *message = code ? PyObject_GetAttrString(value, "message") : NULL;
  rheos_status *status = NULL;
  if (message && PyLong_Check(code) && PyUnicode_Check(message)) {
    const long number = PyLong_AsLong(code);
    const char *text = PyUnicode_AsUTF8(message);
    if (text && number > 0 && number <= RHEOS_UNAUTHENTICATED)
      status = rheos_status_new((rheos_code)number, "%s", text);
  }
  Py_XDECREF(code);
  Py_XDECREF(message);
  PyErr_Restore(type, value, traceback);
  if (!status) return status_of_exception();
  PyErr_Clear();
  return status;
}

static rheos_status *tell(void *argument, const rheos_seen *seen) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *pending, *of_pending, *traceback;
  PyErr_Fetch(&pending, &of_pending, &traceback);
  const rheos_operation operation = {seen->output.graph, seen->output.id};
  const char *file;
  int32_t line;
  rheos_operation_source(operation, &file, &line);
  if (!file && seen->place[0] == '\0') find_source(&file, &line);  // it runs at once
  watch_object *self = argument;
  const rheos_seen *before = self->seen;
  Py_INCREF(self);
  self->seen = seen;
  PyObject *done = PyObject_CallFunction(
      self->function, "sssLziNNNNNN", seen->name, rheos_operation_type(operation), seen->place,
      (long long)seen->step, file, (int)line, value_to_python(seen->value),
      statistics_to_python(seen->statistics), inputs_to_python(seen), dtype_name(seen->dtype),
      shape_to_python(seen->shape), histogram_to_python(seen->histogram));
  rheos_status *status = done ? NULL : status_of_telling();
  Py_XDECREF(done);
  self->seen = before;
  Py_DECREF(self);
  PyErr_Restore(pending, of_pending, traceback);
  PyGILState_Release(gil);
  return status;
}

static watch_object *new_watch(PyObject *args, rheos_watch_options *options) {
  int what;
  PyObject *function;
  if (!PyArg_ParseTuple(args, "siO", &options->names, &what, &function)) return NULL;
  watch_object *self = PyObject_GC_New(watch_object, &watch_type);
  if (!self) return NULL;
  self->session = NULL;
  self->watch = NULL;
  self->seen = NULL;
  self->function = Py_NewRef(function);
  PyObject_GC_Track(self);
  options->seen = tell;
  options->what = (rheos_watch_what)what;
  options->argument = self;
  return self;
}

PyObject *session_watch(PyObject *object, PyObject *args) {
  session_object *session = (session_object *)object;
  rheos_watch_options options = {0};
  if (!session_check_open(session)) return NULL;
  watch_object *self = new_watch(args, &options);
  if (!self) return NULL;
  rheos_status *status = rheos_session_watch(session->session, &options, &self->watch);
  if (status) {
    Py_DECREF(self);
    raise_run_error_take(status, session->graph);
    return NULL;
  }
  self->session = (session_object *)Py_NewRef(object);
  ++session->num_watches;
  return (PyObject *)self;
}

static PyObject *watch_eager(PyObject *module, PyObject *args) {
  (void)module;
  rheos_watch_options options = {0};
  watch_object *self = new_watch(args, &options);
  if (!self) return NULL;
  rheos_status *status = rheos_eager_watch(eager_context(), &options, &self->watch);
  if (status) {
    Py_DECREF(self);
    raise_run_error_take(status, NULL);
    return NULL;
  }
  ++package.num_eager_watches;
  return (PyObject *)self;
}

// Waits for the function, which waits for the GIL, to have been told.
static void end_watch(watch_object *self) {
  rheos_watch *watch = self->watch;
  session_object *session = self->session;
  if (!watch) return;
  self->watch = NULL;
  self->session = NULL;
  Py_BEGIN_ALLOW_THREADS;
  rheos_watch_free(watch);
  Py_END_ALLOW_THREADS;
  if (session)
    --session->num_watches;
  else
    --package.num_eager_watches;
  Py_XDECREF(session);
}

static PyObject *watch_end(PyObject *object, PyObject *unused) {
  (void)unused;
  watch_object *self = (watch_object *)object;
  const bool has_matched = !self->watch || rheos_watch_has_matched(self->watch);
  end_watch(self);
  return PyBool_FromLong(has_matched);
}

static int watch_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((watch_object *)object)->session);
  Py_VISIT(((watch_object *)object)->function);
  return 0;
}

static int watch_clear(PyObject *object) {
  end_watch((watch_object *)object);
  Py_CLEAR(((watch_object *)object)->function);
  return 0;
}

static void watch_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  watch_clear(object);
  PyObject_GC_Del(object);
}

// What the function may ask while it is told of a value.
static const rheos_seen *seen_now(const watch_object *self) {
  if (!self->seen) PyErr_SetString(PyExc_RuntimeError, "the watch is not telling of a value");
  return self->seen;
}

static PyObject *watch_graph(PyObject *object, PyObject *unused) {
  (void)unused;
  const rheos_seen *seen = seen_now((watch_object *)object);
  return seen ? PyLong_FromVoidPtr(seen->output.graph) : NULL;
}

static PyObject *inputs_of(rheos_operation operation) {
  const int32_t count = rheos_operation_num_inputs(operation);
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    PyObject *name = name_to_python(rheos_operation_input(operation, i));
    if (!name)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, name);
  }
  return list;
}

static PyObject *node_to_python(rheos_operation operation) {
  const char *file;
  int32_t line;
  rheos_operation_source(operation, &file, &line);
  return Py_BuildValue("NsNizi", name_to_python((rheos_output){operation.graph, operation.id, 0}),
                       rheos_operation_type(operation), inputs_of(operation),
                       (int)rheos_operation_num_outputs(operation), file, (int)line);
}

static PyObject *watch_nodes(PyObject *object, PyObject *unused) {
  (void)unused;
  const rheos_seen *seen = seen_now((watch_object *)object);
  if (!seen) return NULL;
  const int32_t count = rheos_graph_num_operations(seen->output.graph);
  PyObject *list = PyList_New(count);
  for (int32_t id = 0; list && id < count; ++id) {
    PyObject *node = node_to_python((rheos_operation){seen->output.graph, id});
    if (!node)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, id, node);
  }
  return list;
}

static PyMethodDef watch_methods[] = {
    {"_graph", watch_graph, METH_NOARGS,
     "_graph(): a number for the graph of the value that the function is told of."},
    {"_nodes", watch_nodes, METH_NOARGS,
     "_nodes(): of that graph, [(name of output 0, type, names of inputs, number of outputs, file "
     "or None, line)]."},
    {"end", watch_end, METH_NOARGS,
     "end(): nothing is told any more; twice is once. Whether anything was met that it names."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject watch_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core._Watch",
    .tp_basicsize = sizeof(watch_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "A watch of a session, or of what runs at once.",
    .tp_dealloc = watch_dealloc,
    .tp_traverse = watch_traverse,
    .tp_clear = watch_clear,
    .tp_methods = watch_methods,
};

static PyObject *statistics_of(PyObject *module, PyObject *tensor) {
  (void)module;
  rheos_statistics statistics;
  if (!eager_value(tensor)) {
    PyErr_SetString(PyExc_TypeError, "expected a tensor with a value");
    return NULL;
  }
  rheos_status *status = rheos_tensor_statistics(eager_value(tensor), &statistics);
  if (!status) return statistics_to_python(&statistics);
  raise_run_error_take(status, NULL);
  return NULL;
}

static PyMethodDef functions[] = {
    {"_statistics_of", statistics_of, METH_O,
     "_statistics_of(tensor): what a watch tells of a tensor with a value."},
    {"_watch_eager", watch_eager, METH_VARARGS,
     "_watch_eager(names, what, function): a watch of what runs at once."},
    {NULL, NULL, 0, NULL},
};

int watch_init_types(PyObject *module) {
  if (PyModule_AddType(module, &watch_type) < 0) return -1;
  return PyModule_AddFunctions(module, functions);
}
