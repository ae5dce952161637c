// Session objects: the fast way through `run`.
//
// The common forms (a tensor, operation or variable, or a flat list of them; a dict of feeds) are
// resolved here. Each signature of feeds and fetches keeps its rheos_callable, so that a run is a
// look-up, the conversion of the feeds, the step, and the conversion of the results. Everything
// else goes to the package's `_run_general`, which flattens it and comes back through `_run_flat`.

#include <stddef.h>
#include <string.h>

#include "gpu_devices.h"
#include "session_object.h"

static PyTypeObject callable_type;

enum { stack_words = 96, stack_tensors = 16 };

// ---- One request: what to run, collected from the arguments

typedef struct request {
  int32_t *words;
  int32_t num_words, room;
  int32_t num_feeds;
  PyObject **keys, **values;  // owned, one for each feed: conversions may change the dict
  int32_t stack[stack_words];
  PyObject *stack_objects[2 * stack_tensors];
} request;

static void request_init(request *r) {
  r->words = r->stack;
  r->room = stack_words;
  r->num_words = 1;
  r->num_feeds = 0;
  r->keys = r->stack_objects;
  r->values = r->stack_objects + stack_tensors;
}

static void request_deinit(request *r) {
  for (int32_t i = 0; i < r->num_feeds; ++i) {
    Py_DECREF(r->keys[i]);
    Py_DECREF(r->values[i]);
  }
  if (r->words != r->stack) PyMem_Free(r->words);
  if (r->keys != r->stack_objects) PyMem_Free(r->keys);
}

static int add_words(request *r, int32_t id, int32_t index) {
  if (r->num_words + 2 > r->room) {
    int32_t room = r->room * 2;
    int32_t *words = PyMem_Malloc((size_t)room * sizeof *words);
    if (!words) {
      PyErr_NoMemory();
      return -1;
    }
    memcpy(words, r->words, (size_t)r->num_words * sizeof *words);
    if (r->words != r->stack) PyMem_Free(r->words);
    r->words = words;
    r->room = room;
  }
  r->words[r->num_words++] = id;
  r->words[r->num_words++] = index;
  return 0;
}

static int room_for_feeds(request *r, Py_ssize_t count) {
  if (count <= stack_tensors) return 0;
  PyObject **objects = PyMem_Malloc(2 * (size_t)count * sizeof *objects);
  if (!objects) {
    PyErr_NoMemory();
    return -1;
  }
  r->keys = objects;
  r->values = objects + count;
  return 0;
}

// 1: understood; 0: something for the general way; -1: an exception.
static int add_feed(session_object *self, request *r, PyObject *key, PyObject *value) {
  int32_t id, index;
  if (is_tensor(key) && ((tensor_object *)key)->graph == self->graph) {
    id = ((tensor_object *)key)->id;
    index = ((tensor_object *)key)->index;
  } else if (is_variable(key) && ((variable_object *)key)->graph == self->graph) {
    id = element_of((variable_object *)key).id;
    index = element_of((variable_object *)key).index;
  } else {
    return 0;
  }
  r->keys[r->num_feeds] = Py_NewRef(key);
  r->values[r->num_feeds++] = Py_NewRef(value);
  return add_words(r, id, index) < 0 ? -1 : 1;
}

static int add_feeds(session_object *self, request *r, PyObject *feed_dict) {
  if (feed_dict == Py_None) return 1;
  if (!PyDict_CheckExact(feed_dict)) return 0;
  if (room_for_feeds(r, PyDict_GET_SIZE(feed_dict)) < 0) return -1;
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(feed_dict, &position, &key, &value)) {
    int added = add_feed(self, r, key, value);
    if (added <= 0) return added;
  }
  return 1;
}

static int add_fetch(session_object *self, request *r, PyObject *fetch) {
  if (is_tensor(fetch) && ((tensor_object *)fetch)->graph == self->graph) {
    return add_words(r, ((tensor_object *)fetch)->id, ((tensor_object *)fetch)->index) < 0 ? -1 : 1;
  }
  if (is_operation(fetch) && ((operation_object *)fetch)->graph == self->graph) {
    return add_words(r, ((operation_object *)fetch)->id, -1) < 0 ? -1 : 1;
  }
  if (is_variable(fetch) && ((variable_object *)fetch)->graph == self->graph) {
    rheos_output element = element_of((variable_object *)fetch);
    return add_words(r, element.id, element.index) < 0 ? -1 : 1;
  }
  return 0;
}

static bool is_flat_sequence(PyObject *fetches) {
  return PyList_CheckExact(fetches) || PyTuple_CheckExact(fetches);
}

static int add_fetches(session_object *self, request *r, PyObject *fetches) {
  if (!is_flat_sequence(fetches)) return add_fetch(self, r, fetches);
  Py_ssize_t count = PySequence_Fast_GET_SIZE(fetches);
  for (Py_ssize_t i = 0; i < count; ++i) {
    int added = add_fetch(self, r, PySequence_Fast_GET_ITEM(fetches, i));
    if (added <= 0) return added;
  }
  return 1;
}

// ---- Running a request

// The value of the fetch (id, index); of a GetSessionHandle, what the package makes of its handle.
static PyObject *with_handle_take(session_object *self, const int32_t *fetch, PyObject *value) {
  if (!is_session_handle((rheos_output){self->graph->graph, fetch[0], fetch[1]})) return value;
  PyObject *handle = PyObject_CallMethod((PyObject *)self, "_handle_of", "iO", fetch[0], value);
  Py_DECREF(value);
  return handle;
}

// The value that is fed for what is fetched as (id, index), borrowed; NULL if none is, or no array.
static PyObject *value_fed_for(const request *r, const int32_t *fetch, rheos_dtype dtype) {
  if (dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) return NULL;
  for (int32_t i = 0; i < r->num_feeds; ++i) {
    const int32_t *feed = r->words + 1 + 2 * i;
    if (feed[0] == fetch[0] && feed[1] == fetch[1]) return r->values[i];
  }
  return NULL;
}

// A fetched value; what is fed comes back as it was given.
static PyObject *result_take(const request *r, const int32_t *fetch, rheos_tensor *tensor) {
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  PyObject *fed = value_fed_for(r, fetch, dtype);
  if (!fed) return tensor_to_python_take(tensor);
  rheos_tensor_unref(tensor);
  return fed_array(fed, dtype);
}

// The results in the order of the fetches, None for operations, as a list, tuple or single value.
static PyObject *results_take(session_object *self, const request *r, bool has_handles,
                              rheos_tensor **fetched, PyObject *fetches) {
  int32_t first = 1 + 2 * r->num_feeds;
  int32_t count = (r->num_words - first) / 2, next = 0;
  bool is_tuple = PyTuple_Check(fetches), is_single = !is_tuple && !PyList_Check(fetches);
  PyObject *results = is_tuple ? PyTuple_New(count) : PyList_New(count);
  for (int32_t i = 0; i < count; ++i) {
    PyObject *item = NULL;
    if (r->words[first + 2 * i + 1] < 0) {
      item = Py_NewRef(Py_None);
    } else {
      rheos_tensor *tensor = fetched[next];
      fetched[next++] = NULL;
      if (results)
        item = result_take(r, r->words + first + 2 * i, tensor);
      else
        rheos_tensor_unref(tensor);
      if (item && has_handles) item = with_handle_take(self, r->words + first + 2 * i, item);
    }
    if (!item) {
      Py_CLEAR(results);
    } else if (!results) {
      Py_DECREF(item);
    } else if (is_tuple) {
      PyTuple_SET_ITEM(results, i, item);
    } else {
      PyList_SET_ITEM(results, i, item);
    }
  }
  if (!results || !is_single) return results;
  PyObject *single = Py_NewRef(PyList_GET_ITEM(results, 0));
  Py_DECREF(results);
  return single;
}

// The session is marked as closed, and no step of this thread is under way.
static void finish_closing(session_object *self) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  if (self->close_later) {
    self->close_later = false;
    Py_BEGIN_ALLOW_THREADS  // waits for steps that run in other threads
        rheos_session_close(self->session);
    Py_END_ALLOW_THREADS
  }
  signatures_drop(self, true);
  PyErr_Restore(type, error, traceback);
}

void session_step_is_over(session_object *self) {
  if (self->closed && !is_asking(self)) finish_closing(self);
}

static PyObject *run_request(session_object *self, request *r, PyObject *fetches,
                             const run_settings *settings) {
  r->words[0] = r->num_feeds;
  signature *entry = signature_of(self, r->words, r->num_words);
  if (!entry) return NULL;
  rheos_tensor *stack[2 * stack_tensors] = {NULL};
  size_t room = (size_t)(entry->num_feeds + entry->num_fetches);
  rheos_tensor **tensors = stack;
  if (room > 2 * stack_tensors) tensors = PyMem_Calloc(room, sizeof *tensors);
  if (!tensors) return PyErr_NoMemory();
  rheos_tensor **feeds = tensors, **fetched = tensors + entry->num_feeds;
  PyObject *result = NULL;
  bool ready = true, interrupted = false;
  entry->in_use++;  // conversions may run Python code, also code that uses this session
  for (int32_t i = 0; i < entry->num_feeds && ready; ++i) {
    rheos_output output = {self->graph->graph, r->words[1 + 2 * i], r->words[2 + 2 * i]};
    feeds[i] = feed_value(r->keys[i], r->values[i], output, entry->feed_dtypes[i]);
    ready = feeds[i] != NULL;
  }
  if (ready) ready = session_note_run(self, r->words, r->num_words, feeds) == 0;
  rheos_status *status = NULL;
  if (ready) status = run_step(self, entry, feeds, fetched, settings, &interrupted);
  entry->in_use--;
  const bool has_handles = entry->has_handles;  // what makes handles may run, and drop the entry
  for (int32_t i = 0; i < entry->num_feeds; ++i) rheos_tensor_unref(feeds[i]);
  if (interrupted) {
    rheos_status_free(status);
    for (int32_t i = 0; !status && i < entry->num_fetches; ++i) rheos_tensor_unref(fetched[i]);
  } else if (status) {
    raise_run_error_take(status, self->graph);
  } else if (ready) {
    result = results_take(self, r, has_handles, fetched, fetches);
  }
  if (tensors != stack) PyMem_Free(tensors);
  session_step_is_over(self);
  return result;
}

bool session_check_open(const session_object *self) {
  if (self->session && !self->closed) return true;
  PyErr_SetString(PyExc_RuntimeError, "Attempted to use a closed Session.");
  return false;
}

// ---- Methods

PyDoc_STRVAR(
    run_doc,
    "run(fetches, feed_dict=None, options=None, run_metadata=None)\n\n"
    "Runs what the fetches need and returns their values.\n\n"
    "fetches: a Tensor, Operation, Variable or name, or nested lists, tuples and dicts of these.\n"
    "feed_dict: values to use in place of tensors.\n"
    "Returns NumPy values in the form of `fetches`; None for operations.");
static PyObject *run(PyObject *object, PyObject *const *args, Py_ssize_t num_args,
                     PyObject *keyword_names) {
  session_object *self = (session_object *)object;
  static const char *const names[] = {"fetches", "feed_dict", "options", "run_metadata"};
  PyObject *given[4] = {NULL, Py_None, Py_None, Py_None};
  if (num_args > 4) {
    PyErr_SetString(PyExc_TypeError, "run() takes at most 4 arguments");
    return NULL;
  }
  for (Py_ssize_t i = 0; i < num_args; ++i) given[i] = args[i];
  Py_ssize_t num_keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  for (Py_ssize_t k = 0; k < num_keywords; ++k) {
    PyObject *keyword = PyTuple_GET_ITEM(keyword_names, k);
    int at = 0;
    while (at < 4 && PyUnicode_CompareWithASCIIString(keyword, names[at]) != 0) ++at;
    if (at == 4 || at < num_args) {
      PyErr_Format(PyExc_TypeError, "run() got an unexpected or repeated argument %R", keyword);
      return NULL;
    }
    given[at] = args[num_args + k];
  }
  if (!given[0]) {
    PyErr_SetString(PyExc_TypeError, "run() missing 1 required argument: 'fetches'");
    return NULL;
  }
  if (!session_check_open(self)) return NULL;
  const bool is_empty = rheos_graph_num_operations(self->graph->graph) == 0;
  if (given[2] == Py_None && given[3] == Py_None && !is_empty) {
    request r;
    request_init(&r);
    int understood = add_feeds(self, &r, given[1]);
    if (understood > 0) understood = add_fetches(self, &r, given[0]);
    PyObject *result = understood > 0 ? run_request(self, &r, given[0], &(run_settings){0}) : NULL;
    request_deinit(&r);
    if (understood) return result;
  }
  return PyObject_CallMethod(object, "_run_general", "OOOO", given[0], given[1], given[2],
                             given[3]);
}

// The trace's RunMetadata message as bytes.
static PyObject *metadata_of(session_object *self, const rheos_trace *trace) {
  void *bytes;
  size_t size_bytes;
  rheos_status *status = rheos_trace_to_run_metadata(trace, &bytes, &size_bytes);
  if (status) {
    raise_run_error_take(status, self->graph);
    return NULL;
  }
  PyObject *object = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size_bytes);
  rheos_free(bytes);
  return object;
}

static PyObject *run_lists(session_object *self, PyObject *fetches, PyObject *keys,
                           PyObject *values, const run_settings *settings) {
  request r;
  request_init(&r);
  Py_ssize_t count = PyList_GET_SIZE(keys);
  int understood = PyList_GET_SIZE(values) == count ? room_for_feeds(&r, count) + 1 : 0;
  for (Py_ssize_t i = 0; i < count && understood > 0; ++i) {
    understood = add_feed(self, &r, PyList_GET_ITEM(keys, i), PyList_GET_ITEM(values, i));
  }
  if (understood > 0) understood = add_fetches(self, &r, fetches);
  PyObject *result = understood > 0 ? run_request(self, &r, fetches, settings) : NULL;
  request_deinit(&r);
  if (!understood && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_ValueError, "feeds and fetches must be tensors of the session's graph");
  }
  return result;
}

PyDoc_STRVAR(run_flat_doc,
             "_run_flat(fetches, feed_keys, feed_values, timeout_ms=0, traced=0): lists of graph "
             "elements. With traced (1: steps, 2: the graph, 4: costs) returns the results and the "
             "bytes of a RunMetadata.");
static PyObject *run_flat(PyObject *object, PyObject *args) {
  session_object *self = (session_object *)object;
  PyObject *fetches, *keys, *values;
  long long timeout_ms = 0;
  unsigned int traced = 0;
  if (!PyArg_ParseTuple(args, "O!O!O!|LI", &PyList_Type, &fetches, &PyList_Type, &keys,
                        &PyList_Type, &values, &timeout_ms, &traced)) {
    return NULL;
  }
  if (!session_check_open(self)) return NULL;
  run_settings settings = {.timeout_ms = timeout_ms};
  if (traced && !(settings.trace = rheos_trace_new(traced))) return PyErr_NoMemory();
  PyObject *result = run_lists(self, fetches, keys, values, &settings);
  if (result && traced) {
    PyObject *metadata = metadata_of(self, settings.trace);
    PyObject *pair = metadata ? PyTuple_Pack(2, result, metadata) : NULL;
    Py_XDECREF(metadata);
    Py_SETREF(result, pair);
  }
  rheos_trace_free(settings.trace);
  return result;
}

// ---- Callables: fixed fetches and feeds, the values as arguments

typedef struct callable_object {
  PyObject_HEAD vectorcallfunc call;
  session_object *session;
  PyObject *fetches;  // as `_run_flat` takes them, or a single one
  PyObject *feeds;    // a tuple
} callable_object;

static PyObject *call_callable(PyObject *object, PyObject *const *args, size_t flags,
                               PyObject *keyword_names) {
  callable_object *self = (callable_object *)object;
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (keyword_names && PyTuple_GET_SIZE(keyword_names) > 0) {
    PyErr_Format(PyExc_TypeError, "unexpected argument: %S", PyTuple_GET_ITEM(keyword_names, 0));
    return NULL;
  }
  if (count != PyTuple_GET_SIZE(self->feeds)) {
    PyErr_Format(PyExc_TypeError, "expected %zd values, got %zd", PyTuple_GET_SIZE(self->feeds),
                 count);
    return NULL;
  }
  if (!session_check_open(self->session)) return NULL;
  request r;
  request_init(&r);
  int understood = room_for_feeds(&r, count) + 1;
  for (Py_ssize_t i = 0; i < count && understood > 0; ++i) {
    understood = add_feed(self->session, &r, PyTuple_GET_ITEM(self->feeds, i), args[i]);
  }
  if (understood > 0) understood = add_fetches(self->session, &r, self->fetches);
  PyObject *result = NULL;
  if (understood > 0) {
    result = run_request(self->session, &r, self->fetches, &(run_settings){0});
  } else if (!understood) {
    PyErr_SetString(PyExc_ValueError, "feeds and fetches must be tensors of the session's graph");
  }
  request_deinit(&r);
  return result;
}

PyDoc_STRVAR(
    callable_doc,
    "_callable(fetches, feeds): a function of the values of `feeds`, a tuple of tensors, that\n"
    "runs `fetches`, an element of the graph or a list of them.");
static PyObject *new_callable(PyObject *object, PyObject *args) {
  PyObject *fetches, *feeds;
  if (!PyArg_ParseTuple(args, "OO!", &fetches, &PyTuple_Type, &feeds)) return NULL;
  callable_object *made = PyObject_GC_New(callable_object, &callable_type);
  if (!made) return NULL;
  made->call = call_callable;
  made->session = (session_object *)Py_NewRef(object);
  made->fetches = Py_NewRef(fetches);
  made->feeds = Py_NewRef(feeds);
  PyObject_GC_Track(made);
  return (PyObject *)made;
}

static int callable_traverse(PyObject *object, visitproc visit, void *arg) {
  callable_object *self = (callable_object *)object;
  Py_VISIT(self->session);
  Py_VISIT(self->fetches);
  Py_VISIT(self->feeds);
  return 0;
}

static void callable_dealloc(PyObject *object) {
  callable_object *self = (callable_object *)object;
  PyObject_GC_UnTrack(object);
  Py_DECREF(self->session);
  Py_DECREF(self->fetches);
  Py_DECREF(self->feeds);
  PyObject_GC_Del(object);
}

static PyTypeObject callable_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.Callable",
    .tp_basicsize = sizeof(callable_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "Runs fixed fetches of a session; the arguments are the values of its feeds.",
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(callable_object, call),
    .tp_dealloc = callable_dealloc,
    .tp_traverse = callable_traverse,
};

PyDoc_STRVAR(open_doc,
             "_open(graph, target='', threads=0, cpu_devices=0, soft_placement=False, "
             "log_placement=False, rewrites=(0,) * 8, threads_between_ops=0, "
             "program_function=None, timeout_ms=0, config=b'', gpu_devices=None)\n\nrewrites: no "
             "rules at all, "
             "then "
             "RewriterConfig.Toggle for folding constants, common subexpressions, arithmetic, "
             "dependencies, remapping, layouts, for compiled loops and for inlined calls. "
             "program_function(token, "
             "arrays, count): what PyFunc calls; a list of (array, dtype). timeout_ms: of runs "
             "without one of their own. config: the bytes of a ConfigProto, for a session on a "
             "server. gpu_devices: "
             "pairs of a card and the bytes it may give; None: all cards.");
static PyObject *open_session(PyObject *object, PyObject *args) {
  session_object *self = (session_object *)object;
  PyObject *graph, *function = Py_None;
  rheos_session_options options = {0};
  int soft = 0, log = 0, off = 0, folding = 0, merging = 0, arithmetic = 0, dependency = 0;
  int remap = 0, layout = 0, compiled = 0, inlining = 0;
  long long timeout_ms = 0;
  Py_ssize_t config_bytes = 0;
  PyObject *gpus = Py_None;
  gpu_devices cards;
  if (!PyArg_ParseTuple(args, "O!|ziipp(iiiiiiiii)iOLy#O", &graph_base_type, &graph,
                        &options.target, &options.num_threads, &options.num_cpu_devices, &soft,
                        &log, &off, &folding, &merging, &arithmetic, &dependency, &remap, &layout,
                        &compiled, &inlining, &options.num_threads_between_ops, &function,
                        &timeout_ms, &options.config, &config_bytes, &gpus)) {
    return NULL;
  }
  if (!gpu_devices_read(gpus, &cards)) return NULL;
  options.gpu_devices = cards.given;
  options.num_gpu_devices = cards.count;
  options.rewrites = (rheos_rewrite_options){
      .disable_meta_optimizer = off != 0,
      .constant_folding = (rheos_toggle)folding,
      .common_subgraph_elimination = (rheos_toggle)merging,
      .arithmetic_optimization = (rheos_toggle)arithmetic,
      .dependency_optimization = (rheos_toggle)dependency,
      .remapping = (rheos_toggle)remap,
      .layout_optimizer = (rheos_toggle)layout,
      .compiled_loops = (rheos_toggle)compiled,
      .function_optimization = (rheos_toggle)inlining,
  };
  if (self->session) {
    PyErr_SetString(PyExc_RuntimeError, "the session is open already");
    return NULL;
  }
  options.config_bytes = (size_t)config_bytes;
  options.shares_resources = options.target && options.target[0] != '\0';
  options.allow_soft_placement = soft;
  options.log_device_placement = log;
  if (function != Py_None) {
    options.program_function = call_program;
    options.program_argument = Py_NewRef(function);  // calls may outlast the session
    options.leaves_functions = true;
  }
  self->timeout_ms = timeout_ms;
  if (signatures_init(self) < 0) return NULL;
  rheos_status *status =
      rheos_session_new(((graph_object *)graph)->graph, &options, &self->session);
  if (status) {
    PyMem_Free(self->buckets);
    self->buckets = NULL;
    raise_run_error_take(status, (graph_object *)graph);
    return NULL;
  }
  Py_XSETREF(self->graph, (graph_object *)Py_NewRef(graph));
  Py_XSETREF(self->program_function, Py_NewRef(function));
  Py_RETURN_NONE;
}

PyDoc_STRVAR(close_doc, "close(): ends the session and frees its variables.");
static PyObject *close_session(PyObject *object, PyObject *unused) {
  (void)unused;
  session_object *self = (session_object *)object;
  if (self->session && !self->closed) {
    self->closed = self->close_later = true;
    if (!is_asking(self)) finish_closing(self);
  }
  Py_RETURN_NONE;
}

PyDoc_STRVAR(waiting_doc, "_waiting(): what the session's steps wait for, a line each.");
static PyObject *session_waiting(PyObject *object, PyObject *unused) {
  (void)unused;
  session_object *self = (session_object *)object;
  char *text = NULL;
  if (!self->session || self->closed) return PyUnicode_FromString("");
  rheos_status *status = rheos_session_waiting(self->session, &text);
  if (status) {
    raise_run_error_take(status, self->graph);
    return NULL;
  }
  PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  rheos_free(text);
  return result;
}

// (name, type, memory limit in bytes, incarnation) of each, the last as TensorFlow has it: signed.
static PyObject *list_devices(PyObject *object, PyObject *unused) {
  (void)unused;
  session_object *self = (session_object *)object;
  if (!session_check_open(self)) return NULL;
  const rheos_device_attributes *devices;
  size_t count;
  rheos_status *status;
  Py_BEGIN_ALLOW_THREADS;  // a server may have to be asked
  status = rheos_session_list_devices(self->session, &devices, &count);
  Py_END_ALLOW_THREADS;
  if (status) {
    raise_run_error_take(status, self->graph);
    return NULL;
  }
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    const rheos_device_attributes *d = &devices[i];
    PyObject *item = Py_BuildValue("ssLL", d->name, d->type, (long long)d->memory_limit_bytes,
                                   (long long)d->incarnation);
    if (!item)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, (Py_ssize_t)i, item);
  }
  return list;
}

PyDoc_STRVAR(stats_doc, "_stats(): {'plans', 'specializations', 'runs', 'arena_bytes'}.");
static PyObject *stats(PyObject *object, PyObject *unused) {
  (void)unused;
  session_object *self = (session_object *)object;
  if (!session_check_open(self)) return NULL;
  rheos_session_stats s = {0};
  rheos_session_get_stats(self->session, &s);
  return Py_BuildValue("{sLsLsLsL}", "plans", (long long)s.num_plans, "specializations",
                       (long long)s.num_specializations, "runs", (long long)s.num_runs,
                       "arena_bytes", (long long)s.arena_bytes);
}

static PyObject *get_graph(PyObject *object, void *unused) {
  (void)unused;
  PyObject *graph = (PyObject *)((session_object *)object)->graph;
  return Py_NewRef(graph ? graph : Py_None);
}

static PyObject *get_closed(PyObject *object, void *unused) {
  (void)unused;
  session_object *self = (session_object *)object;
  return PyBool_FromLong(self->closed || !self->session);
}

static int session_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((session_object *)object)->graph);
  Py_VISIT(((session_object *)object)->program_function);
  Py_VISIT(((session_object *)object)->log);
  return 0;
}

static void session_dealloc(PyObject *object) {
  session_object *self = (session_object *)object;
  PyObject_GC_UnTrack(object);
  signatures_drop(self, true);
  PyMem_Free(self->buckets);
  Py_BEGIN_ALLOW_THREADS  // its threads may be waiting for the GIL, to let go of an array
      rheos_session_free(self->session);
  Py_END_ALLOW_THREADS Py_CLEAR(self->graph);
  Py_CLEAR(self->program_function);
  Py_CLEAR(self->log);
  rheos_growth_free(self->growth);
  Py_TYPE(object)->tp_free(object);
}

static PyMethodDef session_methods[] = {
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL | METH_KEYWORDS, run_doc},
    {"_run_flat", run_flat, METH_VARARGS, run_flat_doc},
    {"_callable", new_callable, METH_VARARGS, callable_doc},
    {"_partial_setup", session_partial_setup, METH_VARARGS,
     "_partial_setup(feeds, fetches, targets): the handle of a step in parts."},
    {"_partial_run", session_partial_run, METH_VARARGS,
     "_partial_run(handle, fetches, keys, values): the values of the fetches."},
    {"_open", open_session, METH_VARARGS, open_doc},
    {"_close", close_session, METH_NOARGS, close_doc},
    {"_waiting", session_waiting, METH_NOARGS, waiting_doc},
    {"_list_devices", list_devices, METH_NOARGS, "_list_devices()"},
    {"_stats", stats, METH_NOARGS, stats_doc},
    {"_watch", session_watch, METH_VARARGS,
     "_watch(names, what, function): a watch that is on; see Session.watch."},
    {"_log_runs", session_log_runs, METH_O, "_log_runs(_RunLog or None): where runs are noted."},
    {"_plan_json", session_plan_json, METH_VARARGS,
     "_plan_json(feeds, shapes, fetches, operations): what a step becomes; see Session.explain."},
    {"_watch_growth", session_watch_growth, METH_NOARGS,
     "_watch_growth(): has _tell_growth(file, line, text) called if the graph grows and grows."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef session_getters[] = {
    {"graph", get_graph, NULL, "The Graph the session runs.", NULL},
    {"_closed", get_closed, NULL, "Whether the session was closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject session_base_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.SessionBase",
    .tp_basicsize = sizeof(session_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Runs parts of a graph.",
    .tp_new = PyType_GenericNew,
    .tp_dealloc = session_dealloc,
    .tp_traverse = session_traverse,
    .tp_methods = session_methods,
    .tp_getset = session_getters,
};

int session_init_types(PyObject *module) {
  if (watch_the_end() < 0 || PyType_Ready(&callable_type) < 0) return -1;
  return PyModule_AddType(module, &session_base_type);
}
