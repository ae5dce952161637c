// Session objects: the fast way through `run`.
//
// The common forms (a tensor, operation or variable, or a flat list of them; a dict of feeds) are
// resolved here. Each signature of feeds and fetches keeps its rheos_callable, so that a run is a
// look-up, the conversion of the feeds, the step, and the conversion of the results. Everything else
// goes to the package's `_run_general`, which flattens it and comes back through `_run_flat`.

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rheos/trace.h>

#include "core.h"

static PyTypeObject callable_type;

// ---- Signatures

// `words`: the number of feeds, each feed's node and output, then each fetch's, with output -1 for
// an operation to run.
typedef struct signature {
  rheos_callable *callable;
  struct signature *next;  // in its bucket
  uint64_t hash;
  int64_t last_use;
  int32_t in_use;  // runs of other threads
  int32_t num_feeds, num_fetches, num_words;
  rheos_dtype *feed_dtypes;
  int32_t words[];
} signature;

enum { num_buckets = 256, max_signatures = 512, stack_words = 96, stack_tensors = 16 };

struct session_object {
  PyObject_HEAD
  rheos_session *session;
  graph_object *graph;
  signature **buckets;
  int32_t num_signatures;
  int64_t clock;
  int32_t num_released;  // steps that run without the GIL
  bool closed;
  bool close_later;      // by the step from within which it was asked for
};

static uint64_t hash_words(const int32_t *words, int32_t count) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int32_t i = 0; i < count; ++i) {
    hash = (hash ^ (uint32_t)words[i]) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

static void free_signature(signature *entry) {
  rheos_callable_free(entry->callable);
  PyMem_Free(entry->feed_dtypes);
  PyMem_Free(entry);
}

// Frees the least recently used half of what no thread is running; all of it with `everything`.
static void drop_signatures(session_object *self, bool everything) {
  int64_t limit = self->clock - max_signatures / 2;
  for (int32_t b = 0; self->buckets && b < num_buckets; ++b) {
    signature **link = &self->buckets[b];
    while (*link) {
      signature *entry = *link;
      if (entry->in_use || (!everything && entry->last_use > limit)) {
        link = &entry->next;
        continue;
      }
      *link = entry->next;
      self->num_signatures--;
      free_signature(entry);
    }
  }
}

static signature *find_signature(session_object *self, const int32_t *words, int32_t count,
                                 uint64_t hash) {
  for (signature *s = self->buckets[hash % num_buckets]; s; s = s->next) {
    if (s->hash == hash && s->num_words == count &&
        memcmp(s->words, words, (size_t)count * sizeof *words) == 0) {
      return s;
    }
  }
  return NULL;
}

// The callable of the words, in a new entry that is not yet in the table.
static rheos_status *make_callable(session_object *self, signature *entry) {
  int32_t num_pairs = (entry->num_words - 1) / 2;
  rheos_output *outputs = PyMem_Calloc((size_t)num_pairs + 1, sizeof *outputs);
  rheos_operation *targets = PyMem_Calloc((size_t)num_pairs + 1, sizeof *targets);
  rheos_status *status = NULL;
  if (!outputs || !targets) {
    status = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  } else {
    rheos_graph *graph = self->graph->graph;
    size_t num_outputs = 0, num_targets = 0;
    for (int32_t i = 0; i < num_pairs; ++i) {
      int32_t id = entry->words[1 + 2 * i], index = entry->words[2 + 2 * i];
      if (index < 0) targets[num_targets++] = (rheos_operation){graph, id};
      else outputs[num_outputs++] = (rheos_output){graph, id, index};
    }
    for (int32_t i = 0; i < entry->num_feeds; ++i) {
      entry->feed_dtypes[i] = rheos_dtype_base(rheos_output_dtype(outputs[i]));
    }
    size_t num_feeds = (size_t)entry->num_feeds;
    entry->num_fetches = (int32_t)(num_outputs - num_feeds);
    status = rheos_callable_new(self->session, outputs, num_feeds, outputs + num_feeds,
                                num_outputs - num_feeds, targets, num_targets, &entry->callable);
  }
  PyMem_Free(outputs);
  PyMem_Free(targets);
  return status;
}

static signature *new_signature(session_object *self, const int32_t *words, int32_t count,
                                uint64_t hash) {
  if (self->num_signatures >= max_signatures) drop_signatures(self, false);
  signature *entry = PyMem_Calloc(1, sizeof *entry + (size_t)count * sizeof *words);
  if (entry) entry->feed_dtypes = PyMem_Calloc((size_t)words[0] + 1, sizeof *entry->feed_dtypes);
  if (!entry || !entry->feed_dtypes) {
    PyMem_Free(entry);
    PyErr_NoMemory();
    return NULL;
  }
  memcpy(entry->words, words, (size_t)count * sizeof *words);
  entry->num_words = count;
  entry->num_feeds = words[0];
  entry->hash = hash;
  rheos_status *status = make_callable(self, entry);
  if (status) {
    free_signature(entry);
    raise_run_error_take(status, self->graph);
    return NULL;
  }
  entry->next = self->buckets[hash % num_buckets];
  self->buckets[hash % num_buckets] = entry;
  self->num_signatures++;
  return entry;
}

static signature *signature_of(session_object *self, const int32_t *words, int32_t count) {
  uint64_t hash = hash_words(words, count);
  signature *entry = find_signature(self, words, count, hash);
  if (!entry) entry = new_signature(self, words, count, hash);
  if (entry) entry->last_use = ++self->clock;
  return entry;
}

// ---- The step

typedef struct waiting {
  session_object *session;
  PyThreadState *thread;  // saved while the GIL is released, else NULL
  bool interrupted;       // a signal handler raised
  struct waiting *outer;  // the step from whose signal handler this one was started, or NULL
} waiting;

static _Thread_local waiting *asking;  // steps of this thread that are in should_stop()

// ---- The end of the interpreter
//
// Daemon threads may be in a step then, and exit() takes the libraries apart that the step is using.
// So the last thing before the end is to stop these steps and wait for them; their threads, and
// those that start another step, wait for the process to end.

static atomic_int num_steps;  // that run without the GIL
static atomic_bool ending;
static pthread_t ending_thread;
enum { longest_wait_ms = 5000 };

static bool is_over(void) {
  return atomic_load(&ending) && !pthread_equal(pthread_self(), ending_thread);
}

// Both without the GIL.
static void end_step(void) {
  atomic_fetch_sub(&num_steps, 1);
  while (is_over()) pause();
}

static void begin_step(void) {
  atomic_fetch_add(&num_steps, 1);
  if (is_over()) end_step();
}

static void forget_steps(void) { atomic_store(&num_steps, 0); }  // a forked child has one thread

static PyObject *end_steps(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  ending_thread = pthread_self();
  atomic_store(&ending, true);
  Py_BEGIN_ALLOW_THREADS
  for (int ms = 0; atomic_load(&num_steps) > 0 && ms < longest_wait_ms; ++ms) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

static PyMethodDef end_steps_method = {"_end_steps", end_steps, METH_NOARGS,
                                       "_end_steps(): stops the steps of other threads, for good."};

// Has end_steps() called when the interpreter ends.
static int watch_the_end(void) {
  if (pthread_atfork(NULL, NULL, forget_steps) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  PyObject *function = PyCFunction_New(&end_steps_method, NULL);
  PyObject *atexit = function ? PyImport_ImportModule("atexit") : NULL;
  PyObject *result = atexit ? PyObject_CallMethod(atexit, "register", "O", function) : NULL;
  Py_XDECREF(result);
  Py_XDECREF(atexit);
  Py_XDECREF(function);
  return result ? 0 : -1;
}

// ---- Running

// Called now and then by the running step: lets Ctrl-C through. A signal handler may run the session
// again, or close it: then this step ends, and closes it.
static bool should_stop(void *argument) {
  waiting *w = argument;
  bool released = w->thread != NULL;
  if (released && is_over()) return true;
  if (released) PyEval_RestoreThread(w->thread);
  w->outer = asking;
  asking = w;
  if (PyErr_CheckSignals() < 0) w->interrupted = true;
  asking = w->outer;
  bool stop = w->interrupted || w->session->close_later;
  if (released) w->thread = PyEval_SaveThread();
  return stop;
}

static bool is_asking(const session_object *self) {
  for (const waiting *w = asking; w; w = w->outer) {
    if (w->session == self) return true;
  }
  return false;
}

// Steps shorter than this are not worth releasing the GIL for. But while another thread's step runs
// without it they do: that step may hold a lock of the library and come for the GIL.
enum { keep_gil_below_ns = 20000 };

// What a run was told beside feeds and fetches.
typedef struct run_settings {
  int64_t timeout_ms;
  rheos_trace *trace;  // or NULL
} run_settings;

static rheos_status *run_step(session_object *self, signature *entry, rheos_tensor **feeds,
                              rheos_tensor **fetches, const run_settings *settings,
                              bool *out_interrupted) {
  waiting w = {.session = self};
  rheos_run_options options = {.timeout_ms = settings->timeout_ms,
                               .should_stop = should_stop,
                               .should_stop_argument = &w,
                               .trace = settings->trace};
  int64_t cost = rheos_callable_cost_ns(entry->callable);
  bool release = cost <= 0 || cost >= keep_gil_below_ns || self->num_released > 0;
  self->num_released += release;
  if (release) {
    w.thread = PyEval_SaveThread();
    begin_step();
  }
  rheos_status *status = rheos_callable_run(entry->callable, feeds, fetches, &options);
  if (release) {
    end_step();
    PyEval_RestoreThread(w.thread);
  }
  self->num_released -= release;
  *out_interrupted = w.interrupted;
  return status;
}

// ---- Feeds

static void raise_feed_shape(rheos_output output, const rheos_shape *have,
                             const rheos_shape *want) {
  PyObject *have_tuple = shape_to_python(have), *name = output_name(output);
  char text[256];
  // TensorFlow writes shapes as Python does here: '(?, 3)', '(2,)', '<unknown>'.
  size_t at = 0;
  at += (size_t)snprintf(text + at, sizeof text - at, "(");
  for (int32_t i = 0; i < want->rank; ++i) {
    const char *before = i ? ", " : "";
    if (want->dims[i] < 0) at += (size_t)snprintf(text + at, sizeof text - at, "%s?", before);
    else at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", before,
                                (long long)want->dims[i]);
  }
  snprintf(text + at, sizeof text - at, want->rank == 1 ? ",)" : ")");
  if (have_tuple && name) {
    PyErr_Format(PyExc_ValueError,
                 "Cannot feed value of shape %R for Tensor %R, which has shape '%s'", have_tuple,
                 name, text);
  }
  Py_XDECREF(have_tuple);
  Py_XDECREF(name);
}

static void raise_tensor_fed(PyObject *key, PyObject *value) {
  PyErr_Format(PyExc_TypeError,
               "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
               "Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the "
               "tensor object was %S which was passed to the feed with key %S.",
               value, key);
}

// Says which tensor a value was meant for, where NumPy could not convert it.
static void name_the_feed(PyObject *value, rheos_output output) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  if (PyErr_GivenExceptionMatches(type, PyExc_UnicodeError)) {
    Py_SETREF(type, Py_NewRef(PyExc_ValueError));  // cannot be made of a message alone
  } else if (type != PyExc_ValueError && type != PyExc_TypeError && type != PyExc_OverflowError) {
    PyErr_Restore(type, error, traceback);  // of the program's own code
    return;
  }
  PyObject *name = output_name(output);
  if (name && error) {
    PyErr_Format(type, "%S (a value of type '%s' was fed for Tensor %R)", error,
                 Py_TYPE(value)->tp_name, name);
  }
  Py_XDECREF(name);
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(traceback);
}

// An int has to survive the conversion: 2**40 is no int32.
static int check_int_feed(PyObject *value, rheos_dtype dtype) {
  if (!PyLong_Check(value) || PyBool_Check(value) || !rheos_dtype_is_integer(dtype)) return 0;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  bool fits = !overflow;
  switch ((int)dtype) {
    case RHEOS_INT8: fits = fits && number == (int8_t)number; break;
    case RHEOS_INT16: fits = fits && number == (int16_t)number; break;
    case RHEOS_INT32: fits = fits && number == (int32_t)number; break;
    case RHEOS_UINT8: fits = fits && number == (uint8_t)number; break;
    case RHEOS_UINT16: fits = fits && number == (uint16_t)number; break;
    case RHEOS_UINT32: fits = fits && number == (uint32_t)number; break;
    case RHEOS_UINT64: fits = (fits && number >= 0) || overflow > 0; break;
    default: break;
  }
  if (fits) return 0;
  PyObject *object = dtype_to_python(dtype);
  PyObject *numpy_type = object ? PyObject_GetAttrString(object, "as_numpy_dtype") : NULL;
  if (numpy_type) {
    PyErr_Format(PyExc_TypeError,
                 "Type of feed value %S with type %S is not compatible with Tensor type %S. Try "
                 "explicitly setting the type of the feed tensor to a larger type (e.g. int64).",
                 value, (PyObject *)Py_TYPE(value), numpy_type);
    Py_DECREF(numpy_type);
  }
  return -1;
}

static rheos_tensor *feed_value(PyObject *key, PyObject *value, rheos_output output,
                                rheos_dtype dtype) {
  if (is_tensor(value) || is_variable(value)) {
    raise_tensor_fed(key, value);
    return NULL;
  }
  if (value == Py_None) {
    PyObject *name = output_name(output);
    if (name) PyErr_Format(PyExc_TypeError, "None was fed for Tensor %R", name);
    Py_XDECREF(name);
    return NULL;
  }
  if (check_int_feed(value, dtype) < 0) return NULL;
  rheos_tensor *tensor = tensor_for_feed(value, dtype);
  if (!tensor) {
    name_the_feed(value, output);
    return NULL;
  }
  rheos_shape want = rheos_output_shape(output);
  const rheos_shape *have = rheos_tensor_shape(tensor);
  if (rheos_shape_compatible(have, &want)) return tensor;
  raise_feed_shape(output, have, &want);
  rheos_tensor_unref(tensor);
  return NULL;
}

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

// The results in the order of the fetches, None for operations, as a list, tuple or single value.
static PyObject *results_take(const request *r, rheos_tensor **fetched, PyObject *fetches) {
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
      if (results) item = tensor_to_python_take(tensor);
      else rheos_tensor_unref(tensor);
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
  drop_signatures(self, true);
  PyErr_Restore(type, error, traceback);
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
  rheos_status *status = NULL;
  if (ready) status = run_step(self, entry, feeds, fetched, settings, &interrupted);
  entry->in_use--;
  for (int32_t i = 0; i < entry->num_feeds; ++i) rheos_tensor_unref(feeds[i]);
  if (interrupted) {
    rheos_status_free(status);
    for (int32_t i = 0; !status && i < entry->num_fetches; ++i) rheos_tensor_unref(fetched[i]);
  } else if (status) {
    raise_run_error_take(status, self->graph);
  } else if (ready) {
    result = results_take(r, fetched, fetches);
  }
  if (tensors != stack) PyMem_Free(tensors);
  if (self->closed && !is_asking(self)) finish_closing(self);
  return result;
}

static bool check_open(session_object *self) {
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
  if (!check_open(self)) return NULL;
  if (given[2] == Py_None && given[3] == Py_None) {
    request r;
    request_init(&r);
    int understood = add_feeds(self, &r, given[1]);
    if (understood > 0) understood = add_fetches(self, &r, given[0]);
    PyObject *result = understood > 0 ? run_request(self, &r, given[0], &(run_settings){0}) : NULL;
    request_deinit(&r);
    if (understood) return result;
  }
  return PyObject_CallMethod(object, "_run_general", "OOOO", given[0], given[1], given[2], given[3]);
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
             "elements. With traced (1: steps, 2: the graph, 3: both) returns the results and the "
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
  if (!check_open(self)) return NULL;
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
  PyObject_HEAD
  vectorcallfunc call;
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
  if (!check_open(self->session)) return NULL;
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

PyDoc_STRVAR(callable_doc,
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
             "log_placement=False, rewrites=(0,) * 6)\n\nrewrites: no rules at all, then "
             "RewriterConfig.Toggle for the groups of rheos_rewrite_options in their order.");
static PyObject *open_session(PyObject *object, PyObject *args) {
  session_object *self = (session_object *)object;
  PyObject *graph;
  rheos_session_options options = {0};
  int soft = 0, log = 0, off = 0, folding = 0, merging = 0, arithmetic = 0, dependency = 0, remap = 0;
  if (!PyArg_ParseTuple(args, "O!|ziipp(iiiiii)", &graph_base_type, &graph, &options.target,
                        &options.num_threads, &options.num_cpu_devices, &soft, &log, &off, &folding,
                        &merging, &arithmetic, &dependency, &remap)) {
    return NULL;
  }
  options.rewrites = (rheos_rewrite_options){
      .disable_meta_optimizer = off != 0,
      .constant_folding = (rheos_toggle)folding,
      .common_subgraph_elimination = (rheos_toggle)merging,
      .arithmetic_optimization = (rheos_toggle)arithmetic,
      .dependency_optimization = (rheos_toggle)dependency,
      .remapping = (rheos_toggle)remap,
  };
  if (self->session) {
    PyErr_SetString(PyExc_RuntimeError, "the session is open already");
    return NULL;
  }
  options.allow_soft_placement = soft;
  options.log_device_placement = log;
  self->buckets = PyMem_Calloc(num_buckets, sizeof *self->buckets);
  if (!self->buckets) return PyErr_NoMemory();
  rheos_status *status = rheos_session_new(((graph_object *)graph)->graph, &options, &self->session);
  if (status) {
    PyMem_Free(self->buckets);
    self->buckets = NULL;
    raise_run_error_take(status, (graph_object *)graph);
    return NULL;
  }
  Py_XSETREF(self->graph, (graph_object *)Py_NewRef(graph));
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

static PyObject *device_names(PyObject *object, PyObject *unused) {
  (void)unused;
  session_object *self = (session_object *)object;
  if (!check_open(self)) return NULL;
  int32_t count = rheos_session_num_devices(self->session);
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    PyObject *name = PyUnicode_FromString(rheos_session_device(self->session, i));
    if (!name) Py_CLEAR(list);
    else PyList_SET_ITEM(list, i, name);
  }
  return list;
}

PyDoc_STRVAR(stats_doc, "_stats(): {'plans', 'specializations', 'runs', 'arena_bytes'}.");
static PyObject *stats(PyObject *object, PyObject *unused) {
  (void)unused;
  session_object *self = (session_object *)object;
  if (!check_open(self)) return NULL;
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
  return 0;
}

static void session_dealloc(PyObject *object) {
  session_object *self = (session_object *)object;
  PyObject_GC_UnTrack(object);
  drop_signatures(self, true);
  PyMem_Free(self->buckets);
  Py_BEGIN_ALLOW_THREADS  // its threads may be waiting for the GIL, to let go of an array
  rheos_session_free(self->session);
  Py_END_ALLOW_THREADS
  Py_CLEAR(self->graph);
  Py_TYPE(object)->tp_free(object);
}

static PyMethodDef session_methods[] = {
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL | METH_KEYWORDS, run_doc},
    {"_run_flat", run_flat, METH_VARARGS, run_flat_doc},
    {"_callable", new_callable, METH_VARARGS, callable_doc},
    {"_open", open_session, METH_VARARGS, open_doc},
    {"_close", close_session, METH_NOARGS, close_doc},
    {"_device_names", device_names, METH_NOARGS, "_device_names()"},
    {"_stats", stats, METH_NOARGS, stats_doc},
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
