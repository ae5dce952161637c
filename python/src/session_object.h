// What the parts of Session objects share: session_object.c has the type and its methods,
// session_signature.c the callables it keeps, session_feed.c the values fed, session_step.c the
// step.

#ifndef RHEOS_PYTHON_SESSION_OBJECT_H
#define RHEOS_PYTHON_SESSION_OBJECT_H

#include <rheos/lint.h>
#include <rheos/trace.h>

#include "core.h"

// `words`: the number of feeds, each feed's node and output, then each fetch's, with output -1 for
// an operation to run.
typedef struct signature {
  rheos_callable *callable;
  struct signature *next;  // in its bucket
  uint64_t hash;
  int64_t last_use;
  int32_t in_use;  // runs of other threads
  int32_t num_feeds, num_fetches, num_words;
  bool has_handles;  // among the fetches: what GetSessionHandle gives
  rheos_dtype *feed_dtypes;
  int32_t words[];
} signature;

struct session_object {
  PyObject_HEAD rheos_session *session;
  graph_object *graph;
  PyObject *program_function;  // what PyFunc calls
  signature **buckets;
  int32_t num_signatures;
  int64_t clock;
  int64_t timeout_ms;    // of runs that have none of their own; 0: none
  int32_t num_released;  // steps that run without the GIL
  int32_t num_watches;   // whose functions take it
  rheos_growth *growth;  // NULL: nobody asks
  PyObject *log;         // of its runs; NULL: there is none
  bool closed;
  bool close_later;  // by the step from within which it was asked for
};

// ---- Signatures (session_signature.c)

int signatures_init(session_object *self);
// The entry of the words, made if there is none yet; NULL with an exception. It stays until
// signatures_drop(), which leaves those that are in use.
signature *signature_of(session_object *self, const int32_t *words, int32_t count);
// Frees the least recently used half of what no thread is running; all of it with `everything`.
void signatures_drop(session_object *self, bool everything);

// Whether the output is of a GetSessionHandle.
bool is_session_handle(rheos_output output);

// ---- Feeds (session_feed.c)

// The tensor to feed for `output`, checked; NULL with an exception that names `output`. `key` is
// what the program named it by.
rheos_tensor *feed_value(PyObject *key, PyObject *value, rheos_output output, rheos_dtype dtype);
// What fetching a tensor gives that is fed: numpy.asarray() of the value, itself if it fits.
PyObject *fed_array(PyObject *value, rheos_dtype dtype);

// ---- The step (session_step.c)

// What a run was told beside feeds and fetches.
typedef struct run_settings {
  int64_t timeout_ms;
  rheos_trace *trace;  // or NULL
} run_settings;

// Any step of the session (NULL: of none), which `run` runs with the options that it is given;
// without the GIL where `release` says so. `*out_interrupted`: a signal handler raised; the
// exception is set.
rheos_status *run_with_signals(session_object *self, bool release,
                               rheos_status *(*run)(void *argument,
                                                    const rheos_run_options *options),
                               void *argument, const run_settings *settings, bool *out_interrupted);
// The signature's callable, without the GIL where that pays.
rheos_status *run_step(session_object *self, signature *entry, rheos_tensor **feeds,
                       rheos_tensor **fetches, const run_settings *settings, bool *out_interrupted);
// Whether this thread is in a signal handler that a step of the session called.
bool is_asking(const session_object *self);
// Has the steps of other threads stopped when the interpreter ends; -1 with an exception.
int watch_the_end(void);

// Closes the session, if that was asked for during the step.
void session_step_is_over(session_object *self);
bool session_check_open(const session_object *self);  // false with an exception

// The outputs of a list of tensors of the session's graph, the operations of one, for PyMem_Free();
// NULL with an exception.
rheos_output *session_outputs_of(const session_object *self, PyObject *tensors);
rheos_operation *session_targets_of(const session_object *self, PyObject *operations);

// ---- Steps in parts (session_partial.c), and watches (watch_object.c): methods

PyObject *session_watch(PyObject *self, PyObject *args);
PyObject *session_plan_json(PyObject *self, PyObject *args);  // session_plan.c
PyObject *session_partial_setup(PyObject *self, PyObject *args);
PyObject *session_partial_run(PyObject *self, PyObject *args);

// ---- Lint (lint_object.c)

PyObject *session_log_runs(PyObject *self, PyObject *log);
PyObject *session_watch_growth(PyObject *self, PyObject *unused);
// Before a run of a signature's words with these values of the feeds: -1 with an exception.
int session_note_run(session_object *self, const int32_t *words, int32_t num_words,
                     rheos_tensor *const *values);

// ---- Functions of the program (program_function.c)

// The pending exception as a status, with where it was raised.
rheos_status *status_of_exception(void);
// What PyFunc calls: `function` is a Python function(token, list of arrays, count of results).
rheos_status *call_program(void *function, const char *token, rheos_tensor *const *inputs,
                           size_t num_inputs, rheos_tensor **outputs, size_t num_outputs);
// Whether steps on the graph may call into Python: they must not hold the GIL then.
bool calls_program(graph_object *graph);

#endif  // RHEOS_PYTHON_SESSION_OBJECT_H
