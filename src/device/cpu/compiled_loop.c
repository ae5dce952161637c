// The table has room for a fixed number of loops and is never emptied: it needs no memory of its
// own, and who has found a loop keeps it. One lock guards the adding, the queue and the thread.
#include "device/cpu/compiled_loop.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/companion.h"
#include "base/hash.h"
#include "device/cpu/fused_float.h"
#include "rheos/base.h"
#include "rheos/tensor.h"

enum { MAX_LOOPS = 512 };

// Steps times elements that take the tiles 6 ms, at 0.024 ns each; compiling takes 4 to 11. And a
// hundred times as long.
static const int64_t WORK = (int64_t)1 << 28, WINDOW_NS = 600000000;

static rheos__compiled_loop loops[MAX_LOOPS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // guards what follows
static pthread_cond_t stopped = PTHREAD_COND_INITIALIZER;  // the thread has
static uint16_t queue[MAX_LOOPS];                          // every loop stands there once at most
static int32_t queued, taken;
static bool is_running, shall_stop, is_off, at_once;
static bool is_to_join;  // the thread runs, or has and was not joined
static pthread_t thread;
static const char *given_path;
static enum { UNKNOWN, FOUND, MISSING } state;
static const rheos__loop_compiler *compiler;

// ---- What can be compiled

static bool is_number(int dtype) {
  return dtype == RHEOS_FLOAT || dtype == RHEOS_DOUBLE || dtype == RHEOS_INT32 ||
         dtype == RHEOS_INT64;
}

static bool of_whole_numbers(int code) {
  switch ((rheos__simple)code) {
    case RHEOS__SIMPLE_ADD:
    case RHEOS__SIMPLE_SUB:
    case RHEOS__SIMPLE_MUL:
    case RHEOS__SIMPLE_MAXIMUM:
    case RHEOS__SIMPLE_MINIMUM:
    case RHEOS__SIMPLE_SQUARED_DIFFERENCE:
    case RHEOS__SIMPLE_RELU_GRAD:
    case RHEOS__SIMPLE_NEG:
    case RHEOS__SIMPLE_ABS:
    case RHEOS__SIMPLE_SQUARE:
    case RHEOS__SIMPLE_RELU:
    case RHEOS__SIMPLE_RELU6:
    case RHEOS__SIMPLE_SIGN: return true;
    default: return false;
  }
}

bool rheos__can_compile(int code, const uint8_t *dtypes, int32_t num_in, int out_dtype) {
  const int last = dtypes[num_in - 1];
  if (code == RHEOS__NOT_SIMPLE) return false;
  if (code == RHEOS__SIMPLE_CAST) {
    const bool to_whole = out_dtype == RHEOS_INT32 || out_dtype == RHEOS_INT64;
    const bool from_float = last == RHEOS_FLOAT || last == RHEOS_DOUBLE;
    return (is_number(last) || last == RHEOS_BOOL) && !(to_whole && from_float) &&
           (is_number(out_dtype) || out_dtype == RHEOS_BOOL);
  }
  const int32_t first = code == RHEOS__SIMPLE_SELECT;
  if (first == 1 && (num_in != 3 || dtypes[0] != RHEOS_BOOL)) return false;
  for (int32_t k = first; k < num_in; k++) {
    if (dtypes[k] != last) return false;
  }
  if (code >= RHEOS__SIMPLE_GREATER && code <= RHEOS__SIMPLE_NOT_EQUAL) {
    return is_number(last) && out_dtype == RHEOS_BOOL;
  }
  if (out_dtype != last) return false;
  if (code >= RHEOS__SIMPLE_LOGICAL_AND && code <= RHEOS__SIMPLE_LOGICAL_NOT) {
    return last == RHEOS_BOOL;
  }
  if (code == RHEOS__SIMPLE_SELECT) return is_number(last) || last == RHEOS_BOOL;
  if (num_in > 2 && code != RHEOS__SIMPLE_ADD) return false;
  return last == RHEOS_FLOAT || last == RHEOS_DOUBLE || (is_number(last) && of_whole_numbers(code));
}

// ---- The compiler's library

static const rheos__loop_compiler *find_compiler(void) {
  return rheos__companion_find(given_path, RHEOS__LOOP_COMPILER_FILE, RHEOS__LOOP_COMPILER);
}

static bool has_much_address_space(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

// ---- The thread

// With the lock held, like the two below. A thread that has stopped still takes locks of the C
// library while it ends, which a child of fork() would find taken for ever.
static void join_thread(void) {
  if (is_to_join) pthread_join(thread, NULL);
  is_to_join = false;
}

static void wait_for_thread(void) {
  shall_stop = true;
  while (is_running) pthread_cond_wait(&stopped, &mutex);
  join_thread();
}

static void stop_at_exit(void) {
  pthread_mutex_lock(&mutex);
  wait_for_thread();
  is_off = true;
  pthread_mutex_unlock(&mutex);
}

// Once more: what is asked for last is called first when the process ends. The compiler's library
// asks for the end of what it makes when it is loaded, and of more with what it compiles first.
static void stop_before_others(void) { atexit(stop_at_exit); }

static void *compile_queue(void *unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  if (state == UNKNOWN) {
    pthread_mutex_unlock(&mutex);
    const rheos__loop_compiler *found = find_compiler();
    if (found != NULL) stop_before_others();
    pthread_mutex_lock(&mutex);
    compiler = found;
    state = found != NULL ? FOUND : MISSING;
  }
  while (state == FOUND && !shall_stop && taken < queued) {
    rheos__compiled_loop *loop = &loops[queue[taken++]];
    pthread_mutex_unlock(&mutex);
    const rheos__loop_fn run = compiler->compile(&loop->program);
    stop_before_others();
    atomic_store_explicit(&loop->run, run, memory_order_release);
    pthread_mutex_lock(&mutex);
  }
  is_running = false;
  pthread_cond_broadcast(&stopped);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

// A thread that cannot be made is tried again with the next loop.
static void start_thread(void) {
  if (is_running || shall_stop || is_off || state == MISSING || taken == queued) return;
  join_thread();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's threads
  is_running = is_to_join = pthread_create(&thread, NULL, compile_queue, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// ---- Forks

static void before_fork(void) {
  pthread_mutex_lock(&mutex);
  wait_for_thread();
}

static void after_fork(void) {
  shall_stop = false;
  start_thread();
  pthread_mutex_unlock(&mutex);
}

static void in_child(void) {
  stopped = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  shall_stop = false;  // what is queued is compiled with the next loop that is wanted
  pthread_mutex_unlock(&mutex);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void prepare(void) {
  const char *wish = getenv("RHEOS_JIT");
  is_off = (wish != NULL && strcmp(wish, "off") == 0) || !has_much_address_space() ||
           pthread_atfork(before_fork, after_fork, in_child) != 0 || atexit(stop_at_exit) != 0;
}

// ---- The table

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// With the lock held; NULL if there are too many.
static rheos__compiled_loop *find(const rheos__loop_program *program) {
  const uint64_t hash = rheos__hash_bytes(0, program, sizeof *program);
  for (uint64_t i = 0; i < MAX_LOOPS; i++) {
    rheos__compiled_loop *loop = &loops[(hash + i) % MAX_LOOPS];
    if (!loop->is_used) {
      loop->hash = hash;
      loop->program = *program;
      loop->since_ns = now_ns();
      atomic_store(&loop->work_left, at_once ? 0 : WORK);
      loop->is_used = true;
    } else if (loop->hash != hash || memcmp(&loop->program, program, sizeof *program) != 0) {
      continue;
    }
    return loop;
  }
  return NULL;
}

rheos__compiled_loop *rheos__compiled_loop_of(const rheos__loop_program *program) {
  static rheos__compiled_loop *latest;  // a long chain asks for the same one over and over
  pthread_once(&once, prepare);
  pthread_mutex_lock(&mutex);
  if (latest == NULL || memcmp(&latest->program, program, sizeof *program) != 0) {
    latest = is_off || state == MISSING ? NULL : find(program);
  }
  rheos__compiled_loop *found = latest;
  pthread_mutex_unlock(&mutex);
  return found;
}

// With the lock held.
static void put_in_queue(const rheos__compiled_loop *loop) {
  const uint16_t number = (uint16_t)(loop - loops);
  for (int32_t i = 0; i < queued; i++) {
    if (queue[i] == number) return;
  }
  queue[queued++] = number;
}

void rheos__compiled_loop_want(rheos__compiled_loop *loop) {
  pthread_mutex_lock(&mutex);
  const int64_t now = now_ns();
  if (now - loop->since_ns > WINDOW_NS && !at_once) {
    loop->since_ns = now;
    atomic_store_explicit(&loop->work_left, WORK, memory_order_relaxed);
  } else {
    put_in_queue(loop);
    start_thread();
  }
  pthread_mutex_unlock(&mutex);
}

// ---- For tests and benchmarks

void rheos__compile_at_once(bool shall) {
  pthread_mutex_lock(&mutex);
  at_once = shall;
  pthread_mutex_unlock(&mutex);
}

bool rheos__compiled_loops_wait(void) {
  pthread_mutex_lock(&mutex);
  start_thread();
  while (is_running) pthread_cond_wait(&stopped, &mutex);
  join_thread();
  const bool found = state == FOUND;
  pthread_mutex_unlock(&mutex);
  return found;
}

void rheos__compiled_loops_count(int64_t *out_loops, int64_t *out_compiled) {
  *out_loops = *out_compiled = 0;
  for (int32_t i = 0; i < MAX_LOOPS; i++) {
    *out_loops += atomic_load(&loops[i].is_used);
    *out_compiled += atomic_load(&loops[i].run) != NULL;
  }
}

void rheos__compiled_loops_from(const char *path) {
  pthread_mutex_lock(&mutex);
  given_path = path;
  pthread_mutex_unlock(&mutex);
}
