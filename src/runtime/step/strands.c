// The strands of a step lie in a ring, and the turn goes around among those that can go on. The
// threads stay until the step ends. The step's own thread is the one that sleeps, and that asks the
// caller's should_stop, also while it is not its turn: what a program gives to be asked may know
// its own thread only.
#include "runtime/step/strands.h"

#include <assert.h>
#include <pthread.h>
#include <time.h>

#include "runtime/step/waiting.h"

enum { MAX_STRANDS = 256, STACK_BYTES = 8 * 1024 * 1024 };
static const int64_t ASK_NS = 20 * 1000 * 1000;

typedef struct strand strand;
struct strand {
  strand *next;  // in the ring
  rheos__strands *of;
  pthread_t thread;
  pthread_cond_t turn_came;
  bool has_turn;
  bool is_idle;  // its thread waits for work
  void (*run)(void *argument);
  void *argument;
  // Of the step, while another strand has the turn.
  int32_t depth;
  rheos__attempt **aside;
  rheos__others *others;
  const struct rheos__inferring *inferring;
  struct rheos__call_states *states;
  rheos__awaited awaited;
  const rheos__place *place;
};

struct rheos__strands {
  rheos__step *step;
  pthread_mutex_t mutex;  // guards the turn, and whether the threads are to end
  bool is_over;
  int32_t count;
  strand own;  // of the step's own thread
  strand *running;
};

// ---- The turn

static void put_off(rheos__strands *all) {
  const rheos__step *step = all->step;
  strand *s = all->running;
  s->depth = step->depth;
  s->aside = step->aside;
  s->others = step->others;
  s->inferring = step->inferring;
  s->states = step->states;
  s->awaited = step->awaited;
  if (step->observers != NULL) s->place = step->observers->place;
}

static void take_up(rheos__strands *all, strand *s) {
  rheos__step *step = all->step;
  all->running = s;
  step->depth = s->depth;
  step->aside = s->aside;
  step->others = s->others;
  step->inferring = s->inferring;
  step->states = s->states;
  step->awaited = s->awaited;
  if (step->observers != NULL) step->observers->place = s->place;
}

static bool can_go_on(const rheos__strands *all, const strand *s) {
  if (s->is_idle) return false;
  if (atomic_load_explicit(&all->step->stopped, memory_order_relaxed) != 0) return true;
  if (s->awaited.is_over == NULL || s->awaited.is_over(s->awaited.argument)) return true;
  for (const rheos__others *at = s->others; at != NULL; at = at->outer) {
    if (at->has_failed || at->can_go_on(at)) return true;
  }
  return false;
}

// Another one, in the order of the ring; NULL: none can go on.
static strand *find_next(const rheos__strands *all) {
  for (strand *s = all->running->next; s != all->running; s = s->next) {
    if (can_go_on(all, s)) return s;
  }
  return NULL;
}

static void give_turn(rheos__strands *all, strand *to) {
  pthread_mutex_lock(&all->mutex);
  to->has_turn = true;
  pthread_cond_signal(&to->turn_came);
  pthread_mutex_unlock(&all->mutex);
}

static struct timespec time_to_ask(void) {
  struct timespec when;
  clock_gettime(CLOCK_MONOTONIC, &when);
  when.tv_nsec += ASK_NS;
  if (when.tv_nsec >= 1000000000) {
    when.tv_nsec -= 1000000000;
    ++when.tv_sec;
  }
  return when;
}

// With the mutex held, which is open while the caller is asked.
static void wait_and_ask(rheos__strands *all) {
  const rheos_run_options *options = all->step->options;
  while (!all->own.has_turn) {
    const struct timespec when = time_to_ask();
    if (pthread_cond_timedwait(&all->own.turn_came, &all->mutex, &when) == 0) continue;
    pthread_mutex_unlock(&all->mutex);
    if (options->should_stop(options->should_stop_argument)) rheos__step_stop(all->step);
    pthread_mutex_lock(&all->mutex);
  }
}

// False: the thread is to end.
static bool await_turn(rheos__strands *all, strand *s) {
  const rheos_run_options *options = all->step->options;
  pthread_mutex_lock(&all->mutex);
  if (s == &all->own && options != NULL && options->should_stop != NULL) wait_and_ask(all);
  while (!s->has_turn && !all->is_over) pthread_cond_wait(&s->turn_came, &all->mutex);
  const bool has_turn = s->has_turn;
  s->has_turn = false;
  pthread_mutex_unlock(&all->mutex);
  return has_turn;
}

static void pass_turn(rheos__strands *all, strand *to) {
  strand *from = all->running;
  assert(from != to);
  put_off(all);
  give_turn(all, to);
  await_turn(all, from);
  take_up(all, from);
}

// ---- Threads

static void *work(void *argument) {
  strand *s = argument;
  rheos__strands *all = s->of;
  while (await_turn(all, s)) {
    take_up(all, s);
    rheos__step *before = rheos__pool_set_step(all->step);
    s->run(s->argument);
    rheos__pool_set_step(before);
    s->is_idle = true;
    strand *next = find_next(all);
    give_turn(all, next != NULL ? next : &all->own);
  }
  return NULL;
}

static bool start_thread(strand *s) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  const bool started = pthread_create(&s->thread, &attributes, work, s) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

static void init_strand(strand *s, rheos__strands *all) {
  pthread_condattr_t attributes;
  s->of = all;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&s->turn_came, &attributes);
  pthread_condattr_destroy(&attributes);
}

// NULL without an error: there is no thread for it.
static rheos_status *new_strand(rheos__strands *all, strand **out_strand) {
  *out_strand = NULL;
  if (all->count == MAX_STRANDS) return NULL;
  strand *s = rheos__alloc_zeroed(sizeof *s);
  if (s == NULL) return rheos__out_of_memory();
  init_strand(s, all);
  s->is_idle = true;
  if (!start_thread(s)) {
    pthread_cond_destroy(&s->turn_came);
    rheos__free(s);
    return NULL;
  }
  ++all->count;
  // Behind all others: the strand under way comes last in the order of the new one.
  s->next = all->running->next;
  all->running->next = s;
  *out_strand = s;
  return NULL;
}

static rheos_status *take_strand(rheos__strands *all, strand **out_strand) {
  for (strand *s = all->own.next; s != &all->own; s = s->next) {
    if (!s->is_idle) continue;
    *out_strand = s;
    return NULL;
  }
  return new_strand(all, out_strand);
}

static rheos__strands *strands_of(rheos__step *step) {
  if (step->strands != NULL) return step->strands;
  rheos__strands *all = rheos__alloc_zeroed(sizeof *all);
  if (all == NULL) return NULL;
  all->step = step;
  pthread_mutex_init(&all->mutex, NULL);
  init_strand(&all->own, all);
  all->own.next = all->running = &all->own;
  step->strands = all;
  return all;
}

// ---- What a step asks for

rheos_status *rheos__strand_begin(rheos__step *step, int32_t depth, rheos__others *others,
                                  void (*run)(void *argument), void *argument, bool *out_begun) {
  *out_begun = false;
  rheos__strands *all = strands_of(step);
  if (all == NULL) return rheos__out_of_memory();
  strand *s;
  RHEOS_TRY(take_strand(all, &s));
  if (s == NULL) return NULL;
  *out_begun = true;
  s->is_idle = false;
  s->run = run;
  s->argument = argument;
  s->depth = depth;
  s->aside = NULL;
  s->others = others;
  s->inferring = step->inferring;
  s->states = step->states;
  s->awaited = (rheos__awaited){0};
  if (step->observers != NULL) s->place = step->observers->place;
  pass_turn(all, s);
  return NULL;
}

bool rheos__strands_turn(rheos__step *step) {
  rheos__strands *all = step->strands;
  if (all == NULL) return false;
  strand *next = find_next(all);
  if (next == NULL && all->running != &all->own) next = &all->own;
  if (next == NULL) return false;
  pass_turn(all, next);
  return true;
}

bool rheos__strand_is_own(const rheos__step *step) {
  return step->strands == NULL || step->strands->running == &step->strands->own;
}

void rheos__strands_free(rheos__step *step) {
  rheos__strands *all = step->strands;
  if (all == NULL) return;
  step->strands = NULL;
  assert(all->running == &all->own);
  pthread_mutex_lock(&all->mutex);
  all->is_over = true;
  for (strand *s = all->own.next; s != &all->own; s = s->next) pthread_cond_signal(&s->turn_came);
  pthread_mutex_unlock(&all->mutex);
  for (strand *s = all->own.next; s != &all->own;) {
    strand *next = s->next;
    assert(s->is_idle);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->turn_came);
    rheos__free(s);
    s = next;
  }
  pthread_cond_destroy(&all->own.turn_came);
  pthread_mutex_destroy(&all->mutex);
  rheos__free(all);
}
