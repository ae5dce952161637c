// Cancellation, deadlines, and parallel work of a step.
#include "runtime/step/step.h"

#include <assert.h>
#include <time.h>

#include "base/alloc.h"
#include "graph/tasks.h"
#include "runtime/step/home.h"
#include "runtime/step/strands.h"
#include "runtime/step/trace.h"

static const int64_t ASK_NS = 10 * 1000 * 1000;
static const int64_t PARALLEL_FLOPS = 200000;  // below, handing work over costs more than it saves
static const int64_t POLLED_FLOPS = 2000000;   // between two polls

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

rheos_cancellation *rheos_cancellation_new(void) {
  return rheos__alloc_zeroed(sizeof(rheos_cancellation));
}

void rheos_cancellation_free(rheos_cancellation *cancellation) {
  if (cancellation == NULL) return;
  rheos__bell_deinit(&cancellation->bell);
  rheos__free(cancellation);
}

void rheos_cancel(rheos_cancellation *cancellation) {
  if (cancellation == NULL) return;
  atomic_store(&cancellation->cancelled, 1);
  rheos__bell_ring(&cancellation->bell);
}

void rheos__step_init(rheos__step *step, rheos__home *home, const rheos_run_options *options) {
  *step = (rheos__step){.home = home,
                        .pool = home != NULL ? home->host->pool : NULL,
                        .options = options,
                        .budget_ns = RHEOS__STEP_BUDGET_NS};
  if (options == NULL) return;
  if (options->trace != NULL) rheos__step_observe_by_trace(step, options->trace);
  if (options->timeout_ms > 0) {
    int64_t timeout_ns;
    if (__builtin_mul_overflow(options->timeout_ms, 1000000, &timeout_ns) ||
        __builtin_add_overflow(now_ns(), timeout_ns, &step->deadline_ns)) {
      step->deadline_ns = 0;
    }
  }
}

rheos_status *rheos__step_greet(rheos__step *step) {
  const rheos_run_options *options = step->options;
  if (options != NULL && options->cancellation != NULL && rheos__step_poll(step)) {
    return rheos__step_error(step);
  }
  if (rheos__step_is_observed(step)) rheos__observe_step_begins(step);
  return NULL;
}

// Whether the step was stopped, or has ended only after it should have: of kernels that cannot be
// stopped, such as the program's own functions. But what a step that waits has taken in the last
// moment would be lost.
static bool is_over(rheos__step *step, const rheos_status *status) {
  if (atomic_load(&step->stopped) != 0) return true;
  return !step->may_wait && status == NULL && step->deadline_ns != 0 && rheos__step_poll(step);
}

rheos_status *rheos__step_part_take(rheos__step *step, rheos_status *status) {
  // Whatever a stopped kernel said, unless it waited and says so.
  if (is_over(step, status) && (status == NULL || !step->has_told)) {
    rheos_status_free(status);
    status = rheos__step_error(step);
  }
  if (rheos__step_is_observed(step)) rheos__observe_step_ended(step, status);
  return status;
}

rheos__resources *rheos__step_resources(rheos__step *step) {
  if (step->resources == NULL) step->resources = rheos__resources_new();
  return step->resources;
}

rheos__rendezvous *rheos__step_rendezvous(rheos__step *step) {
  if (step->rendezvous == NULL) step->rendezvous = rheos__rendezvous_new(NULL);
  return step->rendezvous;
}

// With the mutex held.
static rheos__instances *find_instances(rheos__home *home, int64_t step_id) {
  rheos__collectives *shared = home->host->collectives;
  if (home->collectives == NULL) {
    home->collectives = shared != NULL ? rheos__collectives_ref(shared)
                                       : rheos__collectives_new(home->host->num_devices);
    if (home->collectives == NULL) return NULL;
  }
  if (!home->shares_instances) return rheos__instances_new(home->collectives, step_id);
  if (home->instances == NULL) home->instances = rheos__instances_new(home->collectives, 0);
  return home->instances != NULL ? rheos__instances_ref(home->instances) : NULL;
}

static rheos__instances *begin_instances(rheos__home *home, int64_t step_id) {
  pthread_mutex_lock(&home->mutex);
  rheos__instances *instances = find_instances(home, step_id);
  pthread_mutex_unlock(&home->mutex);
  return instances;
}

rheos__instances *rheos__step_instances(rheos__step *step) {
  if (step->instances == NULL && step->home != NULL) {
    const int64_t id = step->rendezvous != NULL ? rheos__rendezvous_step(step->rendezvous) : 0;
    step->instances = begin_instances(step->home, id);
  }
  return step->instances;
}

rheos__trip rheos__step_trip(const rheos__step *step) { return step->trip; }

static bool stop(rheos__step *step, rheos_code code) {
  assert(code == RHEOS_CANCELLED || code == RHEOS_DEADLINE_EXCEEDED);
  atomic_store_explicit(&step->stopped, (int)code, memory_order_relaxed);
  return true;
}

void rheos__step_stop(rheos__step *step) {
  stop(step, RHEOS_CANCELLED);
  rheos__bell_ring(&step->bell);
}

static bool is_cancelled(const rheos_run_options *options) {
  return options != NULL && options->cancellation != NULL &&
         atomic_load(&options->cancellation->cancelled);
}

bool rheos__step_poll(rheos__step *step) {
  if (atomic_load_explicit(&step->stopped, memory_order_relaxed) != 0) return true;
  const rheos__home *home = step->home;
  if (home != NULL && rheos__home_is_closed(home)) return stop(step, RHEOS_CANCELLED);
  const rheos_run_options *options = step->options;
  if (options == NULL) return false;
  if (is_cancelled(options)) return stop(step, RHEOS_CANCELLED);
  if (step->deadline_ns == 0 && options->should_stop == NULL) return false;
  int64_t now = now_ns();
  if (step->deadline_ns != 0 && now >= step->deadline_ns) {
    return stop(step, RHEOS_DEADLINE_EXCEEDED);
  }
  if (options->should_stop == NULL || !rheos__strand_is_own(step)) return false;
  if (now < step->next_ask_ns) return false;
  bool first = step->next_ask_ns == 0;
  step->next_ask_ns = now + ASK_NS;
  if (first) return false;
  return options->should_stop(options->should_stop_argument) && stop(step, RHEOS_CANCELLED);
}

rheos_status *rheos__step_error(const rheos__step *step) {
  assert(atomic_load(&step->stopped) != 0);
  if (atomic_load(&step->stopped) == RHEOS_DEADLINE_EXCEEDED) {
    return rheos_status_new(RHEOS_DEADLINE_EXCEEDED, "Timed out: the step took longer than %lld ms",
                            (long long)step->options->timeout_ms);
  }
  if (step->home != NULL && rheos__home_is_closed(step->home)) {
    return rheos_status_new(RHEOS_CANCELLED, "%s was closed: the step was cancelled.",
                            step->home->owner);
  }
  return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
}

bool rheos__is_stopping(void) {
  rheos__step *step = rheos__pool_step();
  if (step == NULL) return false;
  if (rheos__pool_thread() == 0) return rheos__step_poll(step);
  if (atomic_load_explicit(&step->stopped, memory_order_relaxed) != 0) return true;
  return is_cancelled(step->options) && stop(step, RHEOS_CANCELLED);
}

bool rheos__step_should_stop(rheos__step *step) { return step != NULL && rheos__step_poll(step); }

bool rheos__step_is_parallel(const rheos__step *step, int64_t flops) {
  return step != NULL && flops >= PARALLEL_FLOPS && rheos__pool_num_threads(step->pool) > 1;
}

rheos_status *rheos__step_parallel_whole(rheos__step *step, int64_t num_units, int64_t flops,
                                         rheos_status *(*body)(void *argument, int64_t first,
                                                               int64_t last),
                                         void *argument) {
  rheos__pool *pool = rheos__step_is_parallel(step, flops) ? step->pool : NULL;
  return rheos__pool_run(pool, num_units, body, argument);
}

typedef struct polled_work {
  rheos_status *(*body)(void *argument, int64_t first, int64_t last);
  void *argument;
  int64_t num_units, slice;  // units between two polls
} polled_work;

static rheos_status *run_polled(void *argument, int64_t first, int64_t last) {
  const polled_work *w = argument;
  while (first < last) {
    const int64_t end = last - first > w->slice ? first + w->slice : last;
    rheos_status *status = w->body(w->argument, first, end);
    if (status != NULL) return status;
    if (end < w->num_units && rheos__is_stopping()) {
      return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    first = end;
  }
  return NULL;
}

rheos_status *rheos__step_parallel(rheos__step *step, int64_t num_units, int64_t flops,
                                   rheos_status *(*body)(void *argument, int64_t first,
                                                         int64_t last),
                                   void *argument) {
  const int64_t slices = step != NULL ? flops / POLLED_FLOPS : 0;
  if (slices < 2) return rheos__step_parallel_whole(step, num_units, flops, body, argument);
  polled_work work = {body, argument, num_units, num_units / slices + 1};
  return rheos__step_parallel_whole(step, num_units, flops, run_polled, &work);
}
