// One step of a session: with or without the GIL, open to signals, and ended before the
// interpreter.

#include <pthread.h>
#include <rheos/front_end.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "session_object.h"

// ---- The end of the interpreter
//
// Daemon threads may be in a step then, and exit() takes the libraries apart that the step is
// using. So the last thing before the end is to stop these steps and wait for them; their threads,
// and those that start another step, wait for the process to end.

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
  Py_BEGIN_ALLOW_THREADS for (int ms = 0; atomic_load(&num_steps) > 0 && ms < longest_wait_ms;
                              ++ms) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyMethodDef end_steps_method = {"_end_steps", end_steps, METH_NOARGS,
                                       "_end_steps(): stops the steps of other threads, for good."};

int watch_the_end(void) {
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

typedef struct waiting {
  session_object *session;  // NULL: it is of none
  PyThreadState *thread;    // saved while the GIL is released, else NULL
  bool interrupted;         // a signal handler raised
  struct waiting *outer;    // the step from whose signal handler this one was started, or NULL
} waiting;

static _Thread_local waiting *asking;  // steps of this thread that are in should_stop()

// Called now and then by the running step: lets Ctrl-C through. A signal handler may run the
// session again, or close it: then this step ends, and closes it.
static bool should_stop(void *argument) {
  waiting *w = argument;
  bool released = w->thread != NULL;
  if (released && is_over()) return true;
  if (released) PyEval_RestoreThread(w->thread);
  w->outer = asking;
  asking = w;
  if (PyErr_CheckSignals() < 0) w->interrupted = true;
  asking = w->outer;
  bool stop = w->interrupted || (w->session && w->session->close_later);
  if (released) {
    w->thread = PyEval_SaveThread();
  } else {  // what the step waits for may need the GIL
    PyEval_RestoreThread(PyEval_SaveThread());
  }
  return stop;
}

bool is_asking(const session_object *self) {
  for (const waiting *w = asking; w; w = w->outer) {
    if (w->session == self) return true;
  }
  return false;
}

// Steps shorter than this are not worth releasing the GIL for. But while another thread's step runs
// without it they do: that step may hold a lock of the library and come for the GIL.
enum { keep_gil_below_ns = 20000 };

rheos_status *run_with_signals(session_object *self, bool release,
                               rheos_status *(*run)(void *argument,
                                                    const rheos_run_options *options),
                               void *argument, const run_settings *settings,
                               bool *out_interrupted) {
  waiting w = {.session = self};
  const int64_t of_session_ms = self ? self->timeout_ms : 0;
  rheos_run_options options = {
      .timeout_ms = settings->timeout_ms > 0 ? settings->timeout_ms : of_session_ms,
      .should_stop = should_stop,
      .should_stop_argument = &w,
      .trace = settings->trace};
  if (self) self->num_released += release;
  if (release) {
    w.thread = PyEval_SaveThread();
    begin_step();
  }
  rheos_status *status = run(argument, &options);
  if (release) {
    end_step();
    PyEval_RestoreThread(w.thread);
  }
  if (self) self->num_released -= release;
  *out_interrupted = w.interrupted;
  return status;
}

typedef struct callable_step {
  rheos_callable *callable;
  rheos_tensor **feeds, **fetches;
} callable_step;

static rheos_status *run_callable_step(void *argument, const rheos_run_options *options) {
  const callable_step *step = argument;
  return rheos_callable_run(step->callable, step->feeds, step->fetches, options);
}

rheos_status *run_step(session_object *self, signature *entry, rheos_tensor **feeds,
                       rheos_tensor **fetches, const run_settings *settings,
                       bool *out_interrupted) {
  const int64_t cost = rheos_callable_cost_ns(entry->callable);
  const bool release = cost <= 0 || cost >= keep_gil_below_ns || self->num_released > 0 ||
                       self->num_watches > 0 || calls_program(self->graph);
  callable_step step = {entry->callable, feeds, fetches};
  return run_with_signals(self, release, run_callable_step, &step, settings, out_interrupted);
}
