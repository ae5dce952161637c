#include "ops/data/stage.h"

#include <assert.h>
#include <pthread.h>

#include "graph/tasks.h"
#include "ops/data/autotune.h"
#include "ops/data/row_blocks.h"
#include "resource/waitable.h"

// What is pulled in one go, so that a lock is worth its work; and what makes a thread worth waking.
enum { GO_NS = 50 * 1000, WORTH_NS = 5 * 1000, MOST_IN_A_GO = 128 };
// What is worked on before others may have it, and elements of which the clock is looked at once
// where they are fast: looking takes a part of what these take.
enum { FLUSH_NS = 10 * 1000, CLOCK_EACH = 8, FAST_NS = 1000 };
// Without a session.
static const int64_t SOME_BYTES = INT64_C(1) << 28;

typedef enum progress { PULLED, DONE } progress;

typedef struct entry {
  rheos_tensor **raw, **element;  // one array; the same where there is no work
  rheos_status *status;           // of one that failed
  int64_t bytes;
  progress progress;
} entry;

typedef struct entries {
  entry *items[MOST_IN_A_GO];
  int32_t count, at;
} entries;

typedef struct worker {
  rheos__task task;
  struct rheos__stage *stage;
  bool is_busy;  // posted, or at work
} worker;

struct rheos__stage {
  rheos__stage_options options;
  rheos__dataset *dataset;  // counted
  rheos__iterator *input;   // the iterator's, or the stage's once that was left
  int32_t num_raw, num_components;
  rheos__tasks *tasks;         // NULL: none
  rheos__call_states *states;  // of the iterator around, counted; NULL: none
  struct rheos_cancellation *cancellation;
  int32_t num_workers;
  pthread_mutex_t mutex;    // guards what follows
  entry **ring;             // by number modulo ring_size
  int64_t ring_size;        // a power of two
  int64_t head, tail;       // the next to be given, the next to be pulled
  int64_t bytes;            // of what is done
  int32_t num_active;       // workers that are busy
  double pull_ns, work_ns;  // of an element, smoothed; 0: not known
  bool is_pulling, has_ended, is_paused, is_left;
  int64_t full_since;  // when the workers went because the buffer was full; 0: they did not
  rheos__tuner tuner;
  rheos__row_blocks blocks;
  entries spares;        // to be used again
  entries ready;         // the consumer's, not guarded: those before `at` were given
  int64_t left_since;    // when it went with them; 0: never
  rheos__bell *waiting;  // of a consumer that sleeps
  worker workers[];
};

// ---- Entries

static void free_entry(const rheos__stage *s, entry *e) {
  if (e == NULL) return;
  rheos__element_clear(e->raw, s->num_raw);
  rheos__element_clear(e->element, s->num_components);
  rheos_status_free(e->status);
  rheos__free(e);
}

static entry *new_entry(const rheos__stage *s) {
  const size_t count = (size_t)s->num_raw + (size_t)s->num_components;
  entry *e = rheos__alloc_zeroed(sizeof *e + count * sizeof(rheos_tensor *));
  if (e == NULL) return NULL;
  e->raw = (rheos_tensor **)(e + 1);
  e->element = s->options.work != NULL ? e->raw + s->num_raw : e->raw;
  return e;
}

static entry **place_of(const rheos__stage *s, int64_t number) {
  return &s->ring[number & (s->ring_size - 1)];
}

static bool grow_ring(rheos__stage *s, int64_t count) {
  int64_t size = s->ring_size > 0 ? s->ring_size : 4;
  while (size < count) size *= 2;
  if (size == s->ring_size) return true;
  entry **ring = rheos__alloc_array((size_t)size, sizeof *ring);
  if (ring == NULL) return false;
  for (int64_t i = s->head; i < s->tail; ++i) ring[i & (size - 1)] = *place_of(s, i);
  rheos__free(s->ring);
  s->ring = ring;
  s->ring_size = size;
  return true;
}

static int64_t bytes_of(const rheos__stage *s, rheos_tensor *const *element) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < s->num_components; ++i) {
    if (element[i] != NULL) bytes += (int64_t)element[i]->size_bytes;
  }
  return bytes;
}

// ---- Making and ending

static void free_entries(const rheos__stage *s, entries *list) {
  while (list->count > 0) free_entry(s, list->items[--list->count]);
  list->at = 0;
}

static void count_bytes(rheos__stage *s, int64_t bytes) {
  s->bytes += bytes;
  if (s->tasks == NULL) return;
  atomic_fetch_add_explicit(rheos__tasks_buffered(s->tasks), bytes, memory_order_relaxed);
}

static void free_stage(rheos__stage *s) {
  count_bytes(s, -s->bytes);
  for (int64_t i = s->head; i < s->tail; ++i) free_entry(s, *place_of(s, i));
  free_entries(s, &s->spares);
  free_entries(s, &s->ready);
  rheos__row_blocks_deinit(&s->blocks);
  rheos__free(s->ring);
  if (s->is_left) rheos__iterator_free(s->input);
  rheos__dataset_unref(s->dataset);
  rheos__tasks_unref(s->tasks);
  rheos__call_states_unref(s->states);
  rheos__cancellation_free(s->cancellation);
  pthread_mutex_destroy(&s->mutex);
  rheos__free(s);
}

static void run_worker(rheos__task *task, rheos__step *step);
static void drop_worker(rheos__task *task);

static void init_limits(rheos__stage *s, int32_t num_threads) {
  const rheos__stage_options *o = &s->options;
  rheos__tuner_init(&s->tuner, o->buffer);
  s->num_workers = o->work == NULL ? 1 : num_threads;
  if (o->parallelism > 0 && o->parallelism < s->num_workers) {
    s->num_workers = (int32_t)o->parallelism;
  }
}

rheos_status *rheos__stage_new(rheos__iterator *iterator, const rheos__stage_options *options,
                               rheos__step *step, rheos__stage **out_stage) {
  rheos__tasks *tasks = rheos__step_tasks(step);
  const int32_t num_threads = rheos__tasks_capacity(tasks);
  rheos__stage *s =
      rheos__alloc_zeroed(sizeof *s + (size_t)(num_threads > 0 ? num_threads : 1) * sizeof(worker));
  *out_stage = NULL;
  if (s == NULL) {
    rheos__tasks_unref(tasks);
    return rheos__out_of_memory();
  }
  pthread_mutex_init(&s->mutex, NULL);
  s->options = *options;
  s->tasks = tasks;
  s->input = iterator->input;
  s->num_raw = iterator->dataset->inputs[0]->num_components;
  s->num_components = iterator->dataset->num_components;
  s->states = rheos__call_states_ref(rheos__step_states(step));
  s->cancellation = rheos__cancellation_new();
  init_limits(s, num_threads);
  s->dataset = iterator->dataset;
  rheos__variant_ref(&s->dataset->variant);
  for (int32_t i = 0; i < s->num_workers; ++i) {
    s->workers[i] =
        (worker){.task = {.run = run_worker, .drop = drop_worker, .cancellation = s->cancellation},
                 .stage = s};
  }
  if (s->cancellation == NULL ||
      !grow_ring(s, s->tuner.limit < MOST_IN_A_GO ? s->tuner.limit + 1 : 1)) {
    free_stage(s);
    return rheos__out_of_memory();
  }
  *out_stage = s;
  return NULL;
}

// With the mutex held, like all that follows but for what says otherwise.
static void withdraw_workers(rheos__stage *s) {
  for (int32_t i = 0; i < s->num_workers; ++i) {
    if (!s->workers[i].is_busy || !rheos__task_withdraw(s->tasks, &s->workers[i].task)) continue;
    s->workers[i].is_busy = false;
    --s->num_active;
  }
}

void rheos__stage_leave(rheos__stage *s, rheos__iterator *iterator) {
  if (s == NULL) return;
  pthread_mutex_lock(&s->mutex);
  rheos__cancellation_cancel(s->cancellation);
  withdraw_workers(s);
  s->is_left = true;
  s->waiting = NULL;
  const bool is_alone = s->num_active == 0;
  iterator->input = NULL;
  pthread_mutex_unlock(&s->mutex);
  if (is_alone) free_stage(s);
}

static void ring_bell(const rheos__stage *s) {
  if (s->waiting != NULL) rheos__bell_ring(s->waiting);
}

// A worker goes; the last one of a stage that was left takes it along. Opens the mutex.
static void end_worker(rheos__stage *s) {
  const bool is_last = --s->num_active == 0 && s->is_left;
  ring_bell(s);
  pthread_mutex_unlock(&s->mutex);
  if (is_last) free_stage(s);
}

// ---- How much

static double smoothed(double before, double now) {
  return before == 0 ? now : before * 0.9 + now * 0.1;
}

// Elements for one go: as many as are worth a lock, but one where the program makes them and may be
// slow.
static int64_t go_size(const rheos__stage *s) {
  const double each = s->pull_ns + s->work_ns;
  if (s->dataset->inputs[0]->is_live || each == 0) return 1;
  const double many = (double)GO_NS / each;
  return many < 1 ? 1 : many > MOST_IN_A_GO ? MOST_IN_A_GO : (int64_t)many;
}

// What the buffer may hold: of fast elements some more than the program says, since these are not
// worth a thread by themselves.
static int64_t room_of(const rheos__stage *s) {
  int64_t limit = s->tuner.limit;
  if (s->options.work != NULL && limit < 2 * go_size(s)) limit = 2 * go_size(s);
  return limit - (s->tail - s->head);
}

// Of the budget.
static int64_t bytes_left(const rheos__stage *s) {
  if (s->tasks == NULL) return SOME_BYTES - s->bytes;
  return rheos__tasks_budget(s->tasks) -
         atomic_load_explicit(rheos__tasks_buffered(s->tasks), memory_order_relaxed);
}

static int32_t threads_wanted(const rheos__stage *s) {
  if (s->options.parallelism >= 0 || s->options.work == NULL) return s->num_workers;
  return rheos__tuner_threads(&s->tuner, s->pull_ns + s->work_ns, s->num_workers);
}

static bool can_pull(const rheos__stage *s) {
  return !s->is_pulling && !s->has_ended && !s->is_left && !s->is_paused && room_of(s) > 0;
}

// Wakes one more thread where that is worth it.
static void post_worker(rheos__stage *s) {
  if (!can_pull(s) || s->num_active >= threads_wanted(s)) return;
  if ((s->pull_ns + s->work_ns) * (double)go_size(s) < WORTH_NS) return;
  int32_t i = 0;
  while (i < s->num_workers && s->workers[i].is_busy) ++i;
  if (i == s->num_workers || !rheos__task_post(s->tasks, &s->workers[i].task)) return;
  s->workers[i].is_busy = true;
  ++s->num_active;
}

// ---- A go: pulling some elements, and working on them

typedef struct go {
  entries made;  // and behind those, until they are, some to be used again
  int32_t num_spare;
  int64_t ns;             // that pulling took
  rheos_status *failure;  // of the step or of memory, not of an element
} go;

// A failure that says nothing of the element: who asked for it is to stop.
static bool is_of_step(const rheos_status *status, rheos__step *step) {
  return status != NULL &&
         (rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED || rheos__step_should_stop(step));
}

static void borrow_spares(rheos__stage *s, go *g, int64_t count) {
  while (g->num_spare < count && s->spares.count > 0) {
    g->made.items[g->num_spare++] = s->spares.items[--s->spares.count];
  }
}

static void return_spares(rheos__stage *s, entry *const *items, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (s->spares.count < MOST_IN_A_GO) {
      s->spares.items[s->spares.count++] = items[i];
    } else {
      free_entry(s, items[i]);
    }
  }
}

// Whether the clock is to be looked at after that many elements that take `ns` each.
static bool clock_is_due(int64_t count, double ns) {
  return ns == 0 || ns > FAST_NS || count % CLOCK_EACH == 0;
}

// Pulls one; false: that is all.
static bool pull_one(rheos__stage *s, rheos__step *step, go *g, bool *out_end) {
  const int32_t at = g->made.count;
  if (at == g->num_spare) {
    entry *fresh = new_entry(s);
    if (fresh == NULL) {
      g->failure = rheos__out_of_memory();
      return false;
    }
    g->made.items[g->num_spare++] = fresh;
  }
  entry *e = g->made.items[at];
  e->status = rheos__iterator_next(s->input, step, e->raw, out_end);
  if (*out_end) return false;
  if (is_of_step(e->status, step)) {
    g->failure = e->status;
    e->status = NULL;
    return false;
  }
  ++g->made.count;
  return e->status == NULL;
}

// Without the mutex; nobody else pulls. At most `count` elements, fewer if they take long.
static void pull_some(rheos__stage *s, rheos__step *step, int64_t count, double each, go *g,
                      bool *out_end) {
  const int64_t start = rheos__now_ns();
  while (g->made.count < count && pull_one(s, step, g, out_end)) {
    if (clock_is_due(g->made.count, each) && rheos__now_ns() - start > GO_NS) break;
  }
  g->ns = rheos__now_ns() - start;
}

static void finish_entry(rheos__stage *s, entry *e) {
  e->progress = DONE;
  e->bytes = bytes_of(s, e->element);
  count_bytes(s, e->bytes);
}

// With the mutex held: entries that took so long may be had.
static void flush(rheos__stage *s, entry *const *items, int32_t count, int64_t ns) {
  atomic_fetch_add_explicit(&s->dataset->times.worked_ns, ns, memory_order_relaxed);
  s->work_ns = smoothed(s->work_ns, (double)ns / count);
  for (int32_t i = 0; i < count; ++i) finish_entry(s, items[i]);
  ring_bell(s);
}

// Without the mutex, which is taken when something may be had. A step that is to stop fails the
// rest.
static void work_on_some(rheos__stage *s, rheos__step *step, const go *g, double each) {
  int64_t start = rheos__now_ns();
  int32_t done = 0;
  for (int32_t i = 0; i < g->made.count; ++i) {
    entry *e = g->made.items[i];
    if (e->status == NULL) e->status = s->options.work(s->dataset, e->raw, e->element, step);
    const bool is_last = i + 1 == g->made.count;
    if (!is_last && !clock_is_due(i + 1 - done, each)) continue;
    const int64_t now = rheos__now_ns();
    if (!is_last && now - start < FLUSH_NS) continue;
    pthread_mutex_lock(&s->mutex);
    flush(s, g->made.items + done, i + 1 - done, now - start);
    pthread_mutex_unlock(&s->mutex);
    done = i + 1;
    start = now;
  }
}

// What was pulled comes to the ring; false: there is no memory for it.
static bool take_pulled(rheos__stage *s, go *g) {
  if (!grow_ring(s, s->tail - s->head + g->made.count)) return false;
  for (int32_t i = 0; i < g->made.count; ++i) {
    entry *e = g->made.items[i];
    e->progress = PULLED;
    if (s->options.work != NULL && e->status == NULL) {
      rheos__row_blocks_place(&s->blocks, s->tail, e->element);
    }
    *place_of(s, s->tail++) = e;
    if (s->options.work == NULL) finish_entry(s, e);
  }
  return true;
}

// Begins and ends with the mutex held. What stops the step comes back; what fails an element stays
// with it.
static rheos_status *make_some(rheos__stage *s, rheos__step *step) {
  go g = {.ns = 0};
  bool end = false;
  const int64_t room = room_of(s), most = go_size(s);
  const int64_t wanted = room < 1 ? 1 : room < most ? room : most;
  const double each_pull = s->pull_ns;
  borrow_spares(s, &g, wanted);
  s->is_pulling = true;
  pthread_mutex_unlock(&s->mutex);
  pull_some(s, step, wanted, each_pull, &g, &end);
  atomic_fetch_add_explicit(&s->dataset->times.pulled_ns, g.ns, memory_order_relaxed);
  pthread_mutex_lock(&s->mutex);
  return_spares(s, g.made.items + g.made.count, g.num_spare - g.made.count);
  if (!take_pulled(s, &g)) {
    free_entries(s, &g.made);
    rheos_status_free(g.failure);
    g.failure = rheos__out_of_memory();
    end = false;
  }
  s->has_ended = end;
  if (g.made.count > 0) s->pull_ns = smoothed(s->pull_ns, (double)g.ns / g.made.count);
  const bool works = s->options.work != NULL && g.made.count > 0;
  s->is_pulling = works && s->options.one_by_one;
  ring_bell(s);
  if (!works) return g.failure;
  const double each = s->work_ns;
  post_worker(s);
  pthread_mutex_unlock(&s->mutex);
  work_on_some(s, step, &g, each);
  pthread_mutex_lock(&s->mutex);
  if (s->options.one_by_one) {
    s->is_pulling = false;
    ring_bell(s);
  }
  return g.failure;
}

static void run_worker(rheos__task *task, rheos__step *step) {
  worker *w = (worker *)task;
  rheos__stage *s = w->stage;
  rheos__step_set_states(step, s->states);
  pthread_mutex_lock(&s->mutex);
  rheos_status *status = NULL;
  while (status == NULL && !rheos__step_should_stop(step) && can_pull(s) &&
         s->num_active <= threads_wanted(s)) {
    status = make_some(s, step);
  }
  if (room_of(s) <= 0) {
    rheos__tuner_full(&s->tuner);
    if (s->full_since == 0) s->full_since = rheos__now_ns();
  }
  rheos_status_free(status);  // who asks next meets it himself
  w->is_busy = false;
  end_worker(s);
}

static void drop_worker(rheos__task *task) {
  worker *w = (worker *)task;
  pthread_mutex_lock(&w->stage->mutex);
  w->is_busy = false;
  end_worker(w->stage);
}

// ---- The consumer

// The number of an element that can be given; -1 if there is none.
static int64_t find_done(const rheos__stage *s) {
  const int64_t last = s->options.any_order ? s->tail : s->head + (s->head < s->tail);
  for (int64_t i = s->head; i < last; ++i) {
    if ((*place_of(s, i))->progress == DONE) return i;
  }
  return -1;
}

// Given ones may be used again.
static void clear_ready(rheos__stage *s) {
  return_spares(s, s->ready.items, s->ready.count);
  s->ready.count = s->ready.at = 0;
}

static void take_entry(rheos__stage *s, int64_t number) {
  entry *e = *place_of(s, number);
  *place_of(s, number) = *place_of(s, s->head);
  ++s->head;
  count_bytes(s, -e->bytes);
  s->ready.items[s->ready.count++] = e;
}

// The consumer takes along what can be given, of fast elements as many as are worth a lock. False:
// nothing.
static bool take_done(rheos__stage *s) {
  const int64_t most = go_size(s), fill = s->tail - s->head;
  for (int64_t number; s->ready.count < most && (number = find_done(s)) >= 0;) {
    take_entry(s, number);
  }
  if (s->ready.count == 0) return false;
  const entry *last = s->ready.items[s->ready.count - 1];
  if (last->status == NULL) rheos__row_blocks_learn(&s->blocks, last->element);
  rheos__tuner_fed(&s->tuner, fill, s->ready.count);
  if (bytes_left(s) < 0) rheos__tuner_spent(&s->tuner);
  if (s->full_since != 0 && room_of(s) > 0) {
    atomic_fetch_add_explicit(&s->dataset->times.held_ns, rheos__now_ns() - s->full_since,
                              memory_order_relaxed);
    s->full_since = 0;
  }
  if (room_of(s) * 2 >= s->tuner.limit) post_worker(s);
  return true;
}

static rheos_status *give(rheos__stage *s, rheos_tensor **element) {
  entry *e = s->ready.items[s->ready.at++];
  rheos_status *status = e->status;
  e->status = NULL;
  if (status != NULL) {
    rheos__element_clear(e->raw, s->num_raw);
    rheos__element_clear(e->element, s->num_components);
    return status;
  }
  memcpy(element, e->element, (size_t)s->num_components * sizeof *element);
  memset(e->element, 0, (size_t)s->num_components * sizeof *element);
  return NULL;
}

// Until something is done by others. False: the step is to stop.
static bool wait_for_others(rheos__stage *s, rheos__step *step, rheos__wait *wait) {
  const int64_t start = rheos__now_ns();
  rheos__step_note_wait(step, wait);
  s->waiting = rheos__step_listen(step);
  pthread_mutex_unlock(&s->mutex);
  const bool goes_on = rheos__step_doze(step);
  pthread_mutex_lock(&s->mutex);
  s->waiting = NULL;
  atomic_fetch_add_explicit(&s->dataset->times.waited_ns, rheos__now_ns() - start,
                            memory_order_relaxed);
  return goes_on;
}

static rheos_status *stopped(void) {
  return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
}

// Whether the consumer does best to make elements itself: nobody is about to, or it can help. It
// does not where the next element is under way and pulling may take long.
static bool shall_make(const rheos__stage *s) {
  if (s->is_pulling || s->has_ended) return false;
  if (s->head == s->tail) return true;
  return s->options.work != NULL && room_of(s) > 0 && !s->dataset->inputs[0]->is_live;
}

static int64_t element_bytes(const rheos__stage *s) {
  return s->tail > s->head ? s->bytes / (s->tail - s->head) : 0;
}

static rheos__wait wait_of(const rheos__stage *s) {
  return (rheos__wait){.what = "an element", .kind = "stage", .name = s->dataset->kind->name};
}

static rheos_status *fill_ready(rheos__stage *s, rheos__step *step, rheos__wait *wait,
                                bool *out_end) {
  s->is_paused = false;
  clear_ready(s);
  for (;;) {
    if (take_done(s)) return NULL;
    *out_end = s->has_ended && s->head == s->tail && !s->is_pulling;
    if (*out_end) return NULL;
    rheos__tuner_starved(&s->tuner, element_bytes(s), bytes_left(s));
    if (shall_make(s)) {
      RHEOS_TRY(make_some(s, step));
    } else if (!wait_for_others(s, step, wait)) {
      return stopped();
    }
  }
}

rheos_status *rheos__stage_next(rheos__stage *s, rheos__step *step, rheos_tensor **element,
                                bool *out_end) {
  *out_end = false;
  if (s->ready.at < s->ready.count) return give(s, element);
  const int64_t came = rheos__now_ns(), used = s->ready.count;
  pthread_mutex_lock(&s->mutex);
  if (s->left_since != 0) {
    rheos__tuner_used(&s->tuner, (double)(came - s->left_since), used);
  }
  rheos__wait wait = wait_of(s);
  rheos_status *status = fill_ready(s, step, &wait, out_end);
  pthread_mutex_unlock(&s->mutex);
  rheos__waits_forget(&wait);
  s->left_since = rheos__now_ns();
  return status != NULL || *out_end ? status : give(s, element);
}

void rheos__stage_will_batch(rheos__stage *s, int64_t size) {
  const rheos__dataset *d = s->dataset;
  if (size < 2 || s->options.work == NULL) return;
  rheos_status_free(
      rheos__row_blocks_init(&s->blocks, size, d->num_components, d->types, d->shapes));
  s->blocks.most_bytes = SOME_BYTES;
}

void rheos__stage_count(rheos__stage *s, rheos__stage_counts *out_counts) {
  pthread_mutex_lock(&s->mutex);
  *out_counts = (rheos__stage_counts){.buffered = s->tail - s->head,
                                      .capacity = s->tuner.limit,
                                      .bytes = s->bytes,
                                      .num_threads = s->num_active};
  pthread_mutex_unlock(&s->mutex);
}

// ---- Saving

rheos_status *rheos__stage_pause(rheos__stage *s, rheos__step *step) {
  pthread_mutex_lock(&s->mutex);
  s->is_paused = true;
  withdraw_workers(s);
  bool goes_on = true;
  rheos__wait wait = wait_of(s);
  while (goes_on && s->num_active > 0) goes_on = wait_for_others(s, step, &wait);
  pthread_mutex_unlock(&s->mutex);
  rheos__waits_forget(&wait);
  return goes_on ? NULL : stopped();
}

// Of an element that failed there is the code and the message in place of tensors.
static rheos_status *transfer_failure(entry *e, rheos__saved_state *state) {
  rheos_tensor *text = NULL;
  int64_t code = e->status != NULL ? (int64_t)rheos_status_code(e->status) : 0;
  RHEOS_TRY(rheos__state_ints(state, &code, 1));
  if (code == 0) return NULL;
  if (!state->is_restoring) {
    const char *message = rheos_status_message(e->status);
    RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &text));
    rheos_status *status = rheos_tensor_set_string(text, 0, message, strlen(message));
    if (status == NULL) status = rheos__state_tensors(state, &text, 1);
    rheos_tensor_unref(text);
    return status;
  }
  RHEOS_TRY(rheos__state_tensors(state, &text, 1));
  rheos_status *status = NULL;
  if (text == NULL || text->dtype != RHEOS_STRING || text->num_elements != 1) {
    status = RHEOS_INVALID("the state of the iterator is that of another pipeline");
  } else {
    const rheos_string *message = text->data;
    e->status = rheos_status_new((rheos_code)code, "%.*s", (int)message->size_bytes,
                                 message->size_bytes > 0 ? message->data : "");
  }
  rheos_tensor_unref(text);
  return status;
}

static rheos_status *transfer_entry(rheos__stage *s, entry *e, rheos__saved_state *state) {
  RHEOS_TRY(transfer_failure(e, state));
  if (e->status != NULL) return NULL;
  RHEOS_TRY(rheos__state_tensors(state, e->element, s->num_components));
  for (int32_t i = 0; i < s->num_components; ++i) {
    if (e->element[i] == NULL) return RHEOS_INVALID("the state of the iterator is incomplete");
  }
  return NULL;
}

static rheos_status *restore_entries(rheos__stage *s, rheos__saved_state *state, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    entry *e = new_entry(s);
    rheos_status *status = e != NULL ? transfer_entry(s, e, state) : rheos__out_of_memory();
    if (status == NULL && !grow_ring(s, s->tail - s->head + 1)) status = rheos__out_of_memory();
    if (status != NULL) {
      free_entry(s, e);
      return status;
    }
    *place_of(s, s->tail++) = e;
    finish_entry(s, e);
  }
  return NULL;
}

rheos_status *rheos__stage_transfer(rheos__stage *s, rheos__saved_state *state) {
  assert(s->num_active == 0);
  int64_t known[2] = {s->tail - s->head + s->ready.count - s->ready.at, s->has_ended};
  RHEOS_TRY(rheos__state_ints(state, known, 2));
  if (!state->is_restoring) {
    for (int32_t i = s->ready.at; i < s->ready.count; ++i) {
      RHEOS_TRY(transfer_entry(s, s->ready.items[i], state));
    }
    for (int64_t i = s->head; i < s->tail; ++i) {
      RHEOS_TRY(transfer_entry(s, *place_of(s, i), state));
    }
    return NULL;
  }
  if (known[0] < 0) return RHEOS_INVALID("the state of the iterator is that of another pipeline");
  for (; s->head < s->tail; ++s->head) free_entry(s, *place_of(s, s->head));
  free_entries(s, &s->ready);
  count_bytes(s, -s->bytes);
  s->blocks.first = s->head;  // states are of iterators between batches
  s->has_ended = known[1] != 0;
  return restore_entries(s, state, known[0]);
}
