// TensorFlow's files from Python: GraphDef bytes, event files, the list of checkpoints.

#include <rheos/events.h>
#include <rheos/format.h>
#include <string.h>

#include "graph_object.h"

// ---- GraphDef

PyObject *graph_to_graph_def(PyObject *self, PyObject *args) {
  int first = 0;
  if (!PyArg_ParseTuple(args, "|i", &first)) return NULL;
  void *bytes = NULL;
  size_t size = 0;
  rheos_status *status =
      rheos_graph_to_graph_def_from(((graph_object *)self)->graph, first, &bytes, &size);
  if (status) {
    raise_build_error_take(status);
    return NULL;
  }
  PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
  rheos_free(bytes);
  return result;
}

PyObject *graph_node_def(PyObject *self, PyObject *arg) {
  const long id = PyLong_AsLong(arg);
  if (id == -1 && PyErr_Occurred()) return NULL;
  size_t size = 0;
  void *bytes = NULL;
  rheos_status *status = rheos_operation_to_node_def(
      (rheos_operation){((graph_object *)self)->graph, (int32_t)id}, &bytes, &size);
  if (status) {
    raise_run_error_take(status, (graph_object *)self);
    return NULL;
  }
  PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
  rheos_free(bytes);
  return result;
}

PyObject *graph_write(PyObject *self, PyObject *args) {
  PyObject *path;
  Py_ssize_t side_file_bytes;
  if (!PyArg_ParseTuple(args, "O&n", PyUnicode_FSConverter, &path, &side_file_bytes)) return NULL;
  rheos_status *status;
  Py_BEGIN_ALLOW_THREADS;
  status = rheos_graph_write(((graph_object *)self)->graph, PyBytes_AS_STRING(path),
                             side_file_bytes > 0 ? (size_t)side_file_bytes : 0);
  Py_END_ALLOW_THREADS;
  Py_DECREF(path);
  if (status) {
    raise_build_error_take(status);
    return NULL;
  }
  Py_RETURN_NONE;
}

PyObject *read_graph_def(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *path;
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
  void *bytes;
  size_t size;
  rheos_status *status = rheos_graph_def_read(PyBytes_AS_STRING(path), &bytes, &size);
  Py_DECREF(path);
  if (status) {
    raise_run_error_take(status, NULL);
    return NULL;
  }
  PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
  rheos_free(bytes);
  return result;
}

// The mappings in a list of (from, id of the operation, output); how many, -1 after an error. The
// texts stay with the list.
static Py_ssize_t mappings_from_python(rheos_graph *graph, PyObject *list,
                                       rheos_import_mapping *mappings) {
  const Py_ssize_t count = PyList_GET_SIZE(list);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const char *from;
    int id, index;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "sii", &from, &id, &index)) return -1;
    mappings[i] = (rheos_import_mapping){.from = from, .to = {graph, id, index}};
  }
  return count;
}

// Whether the file has what the mappings name, as a list of bools.
static PyObject *found_of(const rheos_import_mapping *mappings, Py_ssize_t count) {
  PyObject *found = PyList_New(count);
  for (Py_ssize_t i = 0; found && i < count; ++i) {
    PyList_SET_ITEM(found, i, PyBool_FromLong(mappings[i].was_used || mappings[i].was_found));
  }
  return found;
}

// The elements by the names in a list, which the texts stay with; NULL after an error.
static rheos_import_element *elements_from_python(PyObject *list, size_t *out_count) {
  const Py_ssize_t count = list ? PyList_GET_SIZE(list) : 0;
  rheos_import_element *elements = PyMem_New(rheos_import_element, (size_t)count + 1);
  if (!elements) PyErr_NoMemory();
  for (Py_ssize_t i = 0; elements && i < count; ++i) {
    elements[i].name = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
    if (elements[i].name) continue;
    PyMem_Free(elements);
    return NULL;
  }
  *out_count = (size_t)count;
  return elements;
}

// What they are, as a list of (id of the operation, output or -1).
static PyObject *pairs_of(const rheos_import_element *elements, size_t count) {
  PyObject *pairs = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; pairs && i < count; ++i) {
    PyObject *pair = Py_BuildValue("(ii)", elements[i].operation.id, elements[i].index);
    if (!pair) Py_CLEAR(pairs);
    if (pairs) PyList_SET_ITEM(pairs, (Py_ssize_t)i, pair);
  }
  return pairs;
}

PyObject *graph_import_graph_def(PyObject *self, PyObject *args) {
  const char *bytes, *prefix = NULL;
  PyObject *list = NULL, *names = NULL;
  int keeps_unknown = 0, colocated_devices = 0;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "y#|zO!pO!p", &bytes, &size, &prefix, &PyList_Type, &list,
                        &keeps_unknown, &PyList_Type, &names, &colocated_devices)) {
    return NULL;
  }
  size_t num_elements;
  rheos_import_element *elements = elements_from_python(names, &num_elements);
  if (!elements) return NULL;
  const size_t room = list ? (size_t)PyList_GET_SIZE(list) : 0;
  rheos_import_mapping *mappings = PyMem_New(rheos_import_mapping, room + 1);
  if (!mappings) {
    PyMem_Free(elements);
    return PyErr_NoMemory();
  }
  PyObject *result = NULL;
  const Py_ssize_t count =
      list ? mappings_from_python(((graph_object *)self)->graph, list, mappings) : 0;
  rheos_scope *scope = count < 0 ? NULL : graph_scope_for_adding((graph_object *)self);
  if (scope) {
    const rheos_import_options options = {.prefix = prefix,
                                          .input_map = mappings,
                                          .num_mappings = (size_t)count,
                                          .keep_unknown_ops = keeps_unknown,
                                          .colocated_devices = colocated_devices,
                                          .uniquify_names = true,
                                          .elements = elements,
                                          .num_elements = num_elements};
    rheos_import_graph_def(scope, bytes, (size_t)size, &options);
    if (!raise_scope_error(scope)) {
      result = Py_BuildValue("(NN)", found_of(mappings, count), pairs_of(elements, num_elements));
    }
  }
  PyMem_Free(mappings);
  PyMem_Free(elements);
  return result;
}

// ---- Event files

typedef struct writer_object {
  PyObject_HEAD rheos_event_writer *writer;  // NULL once it is closed
} writer_object;

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  const char *logdir, *suffix = NULL;
  if (!PyArg_ParseTuple(args, "s|z", &logdir, &suffix)) return NULL;
  writer_object *self = (writer_object *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  rheos_status *status = rheos_event_writer_open(logdir, suffix, &self->writer);
  if (!status) return (PyObject *)self;
  Py_DECREF(self);
  raise_run_error_take(status, NULL);
  return NULL;
}

static PyObject *done(rheos_status *status) {
  if (!status) Py_RETURN_NONE;
  raise_run_error_take(status, NULL);
  return NULL;
}

static rheos_event_writer *open_writer(PyObject *self) {
  rheos_event_writer *writer = ((writer_object *)self)->writer;
  if (!writer) PyErr_SetString(PyExc_RuntimeError, "the event writer is closed");
  return writer;
}

static PyObject *writer_add_graph(PyObject *self, PyObject *graph) {
  rheos_event_writer *writer = open_writer(self);
  if (!writer) return NULL;
  if (!is_graph(graph)) {
    PyErr_SetString(PyExc_TypeError, "expected a Graph");
    return NULL;
  }
  return done(rheos_event_writer_add_graph(writer, ((graph_object *)graph)->graph));
}

static PyObject *writer_add_scalar(PyObject *self, PyObject *args) {
  const char *tag;
  float value;
  long long step;
  if (!PyArg_ParseTuple(args, "sfL", &tag, &value, &step)) return NULL;
  rheos_event_writer *writer = open_writer(self);
  return writer ? done(rheos_event_writer_add_scalar(writer, tag, value, step)) : NULL;
}

static PyObject *writer_add_summary(PyObject *self, PyObject *args) {
  const char *bytes;
  Py_ssize_t size;
  long long step;
  if (!PyArg_ParseTuple(args, "y#L", &bytes, &size, &step)) return NULL;
  rheos_event_writer *writer = open_writer(self);
  if (!writer) return NULL;
  return done(rheos_event_writer_add_summary(writer, bytes, (size_t)size, step));
}

static PyObject *writer_add_event(PyObject *self, PyObject *args) {
  const char *bytes;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "y#", &bytes, &size)) return NULL;
  rheos_event_writer *writer = open_writer(self);
  return writer ? done(rheos_event_writer_add_event(writer, bytes, (size_t)size)) : NULL;
}

static PyObject *writer_flush(PyObject *self, PyObject *unused) {
  (void)unused;
  rheos_event_writer *writer = open_writer(self);
  return writer ? done(rheos_event_writer_flush(writer)) : NULL;
}

static PyObject *writer_close(PyObject *self, PyObject *unused) {
  (void)unused;
  rheos_event_writer *writer = ((writer_object *)self)->writer;
  ((writer_object *)self)->writer = NULL;
  return done(rheos_event_writer_close(writer));
}

static void writer_dealloc(PyObject *self) {
  rheos_status_free(rheos_event_writer_close(((writer_object *)self)->writer));
  Py_TYPE(self)->tp_free(self);
}

static PyObject *writer_path(PyObject *self, void *unused) {
  (void)unused;
  rheos_event_writer *writer = open_writer(self);
  return writer ? PyUnicode_DecodeFSDefault(rheos_event_writer_path(writer)) : NULL;
}

static PyMethodDef writer_methods[] = {
    {"add_graph", writer_add_graph, METH_O, "add_graph(graph)"},
    {"add_scalar", writer_add_scalar, METH_VARARGS, "add_scalar(tag, value, step)"},
    {"add_summary", writer_add_summary, METH_VARARGS, "add_summary(bytes, step)"},
    {"add_event", writer_add_event, METH_VARARGS, "add_event(bytes)"},
    {"flush", writer_flush, METH_NOARGS, "flush()"},
    {"close", writer_close, METH_NOARGS, "close()"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef writer_getters[] = {
    {"path", writer_path, NULL, "The file it writes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject writer_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.EventWriter",
    .tp_basicsize = sizeof(writer_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "EventWriter(logdir, suffix=None): writes one event file.",
    .tp_new = writer_new,
    .tp_dealloc = writer_dealloc,
    .tp_methods = writer_methods,
    .tp_getset = writer_getters,
};

// ---- Files of records

typedef struct record_writer_object {
  PyObject_HEAD rheos_record_writer *writer;  // NULL once it is closed
} record_writer_object;

static PyObject *record_writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  PyObject *path;
  int compression, strategy;
  rheos_record_options options = {0};
  if (!PyArg_ParseTuple(args, "O&iiiii", PyUnicode_FSConverter, &path, &compression, &options.level,
                        &options.window_bits, &options.memory_level, &strategy)) {
    return NULL;
  }
  options.compression = (rheos_compression)compression;
  options.strategy = (rheos_compression_strategy)strategy;
  record_writer_object *self = (record_writer_object *)type->tp_alloc(type, 0);
  rheos_status *status = NULL;
  if (self) {
    status = rheos_record_writer_open_with(PyBytes_AS_STRING(path), &options, &self->writer);
  }
  Py_DECREF(path);
  if (!status) return (PyObject *)self;
  Py_DECREF(self);
  raise_run_error_take(status, NULL);
  return NULL;
}

static rheos_record_writer *open_record_writer(PyObject *self) {
  rheos_record_writer *writer = ((record_writer_object *)self)->writer;
  if (writer) return writer;
  raise_run_error_take(
      rheos_status_new(RHEOS_FAILED_PRECONDITION, "Writer not initialized or previously closed"),
      NULL);
  return NULL;
}

static PyObject *record_writer_write(PyObject *self, PyObject *record) {
  char *bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(record, &bytes, &size) < 0) return NULL;
  rheos_record_writer *writer = open_record_writer(self);
  return writer ? done(rheos_record_writer_write(writer, bytes, (size_t)size)) : NULL;
}

static PyObject *record_writer_flush(PyObject *self, PyObject *unused) {
  (void)unused;
  rheos_record_writer *writer = open_record_writer(self);
  return writer ? done(rheos_record_writer_flush(writer)) : NULL;
}

static PyObject *record_writer_close(PyObject *self, PyObject *unused) {
  (void)unused;
  rheos_record_writer *writer = ((record_writer_object *)self)->writer;
  ((record_writer_object *)self)->writer = NULL;
  return done(rheos_record_writer_close(writer));
}

static void record_writer_dealloc(PyObject *self) {
  rheos_status_free(rheos_record_writer_close(((record_writer_object *)self)->writer));
  Py_TYPE(self)->tp_free(self);
}

static PyMethodDef record_writer_methods[] = {
    {"write", record_writer_write, METH_O, "write(record)"},
    {"flush", record_writer_flush, METH_NOARGS, "flush()"},
    {"close", record_writer_close, METH_NOARGS, "close()"},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject record_writer_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.RecordWriter",
    .tp_basicsize = sizeof(record_writer_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "RecordWriter(path, compression, level): writes a file of records.",
    .tp_new = record_writer_new,
    .tp_dealloc = record_writer_dealloc,
    .tp_methods = record_writer_methods,
};

typedef struct record_reader_object {
  PyObject_HEAD rheos_record_reader *reader;
} record_reader_object;

static PyObject *record_reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  PyObject *path;
  int compression;
  if (!PyArg_ParseTuple(args, "O&i", PyUnicode_FSConverter, &path, &compression)) return NULL;
  record_reader_object *self = (record_reader_object *)type->tp_alloc(type, 0);
  rheos_status *status = NULL;
  if (self) {
    status = rheos_record_reader_open(PyBytes_AS_STRING(path), (rheos_compression)compression,
                                      &self->reader);
  }
  Py_DECREF(path);
  if (!status) return (PyObject *)self;
  Py_DECREF(self);
  raise_run_error_take(status, NULL);
  return NULL;
}

// The next record as bytes; NULL without an exception behind the last.
static PyObject *record_reader_next(PyObject *self) {
  const void *data;
  size_t size;
  rheos_status *status =
      rheos_record_reader_next(((record_reader_object *)self)->reader, &data, &size);
  if (!status) return PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  if (rheos_status_code(status) == RHEOS_OUT_OF_RANGE) {
    rheos_status_free(status);
    return NULL;
  }
  raise_run_error_take(status, NULL);
  return NULL;
}

static void record_reader_dealloc(PyObject *self) {
  rheos_record_reader_close(((record_reader_object *)self)->reader);
  Py_TYPE(self)->tp_free(self);
}

static PyTypeObject record_reader_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.RecordReader",
    .tp_basicsize = sizeof(record_reader_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "RecordReader(path, compression): iterates over the records of a file.",
    .tp_new = record_reader_new,
    .tp_dealloc = record_reader_dealloc,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = record_reader_next,
};

// ---- The list of checkpoints

// Arrays of a list of str and a list of float; for PyMem_Free() whatever comes back.
static int state_lists(PyObject *paths, PyObject *times, rheos_checkpoint_state *state) {
  const size_t num_paths = (size_t)PyList_GET_SIZE(paths);
  const size_t num_times = (size_t)PyList_GET_SIZE(times);
  state->all_model_checkpoint_paths = PyMem_Calloc(num_paths + 1, sizeof(char *));
  state->all_model_checkpoint_timestamps = PyMem_Calloc(num_times + 1, sizeof(double));
  if (!state->all_model_checkpoint_paths || !state->all_model_checkpoint_timestamps) {
    PyErr_NoMemory();
    return -1;
  }
  for (size_t i = 0; i < num_paths; ++i) {
    const char *path = text_of(PyList_GET_ITEM(paths, (Py_ssize_t)i));
    if (!path) return -1;
    state->all_model_checkpoint_paths[state->num_paths++] = (char *)(uintptr_t)path;
  }
  for (size_t i = 0; i < num_times; ++i) {
    const double time = PyFloat_AsDouble(PyList_GET_ITEM(times, (Py_ssize_t)i));
    if (PyErr_Occurred()) return -1;
    state->all_model_checkpoint_timestamps[state->num_timestamps++] = time;
  }
  return 0;
}

PyObject *write_checkpoint_state(PyObject *module, PyObject *args) {
  (void)module;
  const char *folder, *file, *newest;
  PyObject *paths, *times;
  rheos_checkpoint_state state = {0};
  if (!PyArg_ParseTuple(args, "szsO!O!d", &folder, &file, &newest, &PyList_Type, &paths,
                        &PyList_Type, &times, &state.last_preserved_timestamp)) {
    return NULL;
  }
  state.model_checkpoint_path = (char *)(uintptr_t)newest;
  PyObject *result = NULL;
  if (state_lists(paths, times, &state) == 0) {
    result = done(rheos_checkpoint_state_write_timed(folder, file, &state));
  }
  PyMem_Free(state.all_model_checkpoint_paths);
  PyMem_Free(state.all_model_checkpoint_timestamps);
  return result;
}

// (newest, [all, oldest first], [times], last time); None if there is no list.
PyObject *read_checkpoint_state(PyObject *module, PyObject *args) {
  (void)module;
  const char *folder, *file;
  if (!PyArg_ParseTuple(args, "sz", &folder, &file)) return NULL;
  rheos_checkpoint_state state = {0};
  rheos_status *status = rheos_checkpoint_state_read(folder, file, &state);
  if (status && rheos_status_code(status) == RHEOS_NOT_FOUND) {
    rheos_status_free(status);
    Py_RETURN_NONE;
  }
  if (status) return done(status);
  PyObject *paths = PyList_New((Py_ssize_t)state.num_paths);
  for (size_t i = 0; paths && i < state.num_paths; ++i) {
    PyObject *path = PyUnicode_DecodeFSDefault(state.all_model_checkpoint_paths[i]);
    if (!path)
      Py_CLEAR(paths);
    else
      PyList_SET_ITEM(paths, (Py_ssize_t)i, path);
  }
  PyObject *times = paths ? PyList_New((Py_ssize_t)state.num_timestamps) : NULL;
  for (size_t i = 0; times && i < state.num_timestamps; ++i) {
    PyObject *time = PyFloat_FromDouble(state.all_model_checkpoint_timestamps[i]);
    if (!time)
      Py_CLEAR(times);
    else
      PyList_SET_ITEM(times, (Py_ssize_t)i, time);
  }
  const char *newest = state.model_checkpoint_path;
  PyObject *result = NULL;
  if (times) {
    result =
        Py_BuildValue("(sOOd)", newest ? newest : "", paths, times, state.last_preserved_timestamp);
  }
  Py_XDECREF(paths);
  Py_XDECREF(times);
  rheos_checkpoint_state_deinit(&state);
  return result;
}

int files_init_types(PyObject *module) {
  PyTypeObject *types[] = {&writer_type, &record_writer_type, &record_reader_type};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (PyModule_AddType(module, types[i]) < 0) return -1;
  }
  return 0;
}
