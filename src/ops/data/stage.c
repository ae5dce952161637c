#include "ops/data/stage.h"

#include <assert.h>
#include <pthread.h>

#include "graph/tasks.h"

// What is pulled in one go, so that a lock is worth its work; and what makes a thread worth waking.
enum { GO_NS = 50 * 1000, WORTH_NS = 5 * 1000, MOST_IN_A_GO = 64 };
// Buffers that the program leaves open.
enum { FIRST_BUFFER = 2, MOST_BUFFER = 1024 };
static const int64_t MOST_BYTES = INT64_C(1) << 28;

typedef enum progress { PULLED, DONE } progress;

typedef struct entry {
  rheos_tensor **raw, **element;  // one array; the same where there is no work
  rheos_status *status;           // of one that failed
  int64_t bytes;
  progress progress;
} entry;

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
  int64_t limit;            // of the buffer, in elements
  int64_t bytes;            // of what is done
  int32_t num_active;       // workers that are busy
  double pull_ns, work_ns;  // of an element, smoothed; 0: not known
  bool is_pulling, has_ended, is_paused, is_left, was_full;
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

static void free_stage(rheos__stage *s) {
  for (int64_t i = s->head; i < s->tail; ++i) free_entry(s, *place_of(s, i));
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
  s->limit = o->buffer >= 0 ? o->buffer : FIRST_BUFFER;
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
  if (s->cancellation == NULL || !grow_ring(s, s->limit < MOST_IN_A_GO ? s->limit + 1 : 1)) {
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

// Elements for one go: as many as are worth a lock, but one where the program makes them and may be slow.
static int64_t go_size(const rheos__stage *s) {
  const double each = s->pull_ns + s->work_ns;
  if (s->dataset->inputs[0]->is_live || each == 0) return 1;
  const double many = (double)GO_NS / each;
  return many < 1 ? 1 : many > MOST_IN_A_GO ? MOST_IN_A_GO : (int64_t)many;
}

// What the buffer may hold: of fast elements some more than the program says, since these are not worth a
// thread by themselves.
static int64_t room_of(const rheos__stage *s) {
  int64_t limit = s->limit;
  if (s->options.work != NULL && limit < 2 * go_size(s)) limit = 2 * go_size(s);
  return limit - (s->tail - s->head);
}

// A consumer that finds nothing although the buffer was full meanwhile has bursts: more helps.
static void learn_limit(rheos__stage *s) {
  if (s->options.buffer >= 0 || !s->was_full || s->limit >= MOST_BUFFER) return;
  s->was_full = false;
  const int64_t each = s->bytes / (s->tail > s->head ? s->tail - s->head : 1);
  if (each * 2 * s->limit <= MOST_BYTES) s->limit *= 2;
}

static bool can_pull(const rheos__stage *s) {
  return !s->is_pulling && !s->has_ended && !s->is_left && !s->is_paused && room_of(s) > 0;
}

// Wakes one more thread where that is worth it.
static void post_worker(rheos__stage *s) {
  if (!can_pull(s) || s->num_active >= s->num_workers) return;
  if ((s->pull_ns + s->work_ns) * (double)go_size(s) < WORTH_NS) return;
  int32_t i = 0;
  while (i < s->num_workers && s->workers[i].is_busy) ++i;
  if (i == s->num_workers || !rheos__task_post(s->tasks, &s->workers[i].task)) return;
  s->workers[i].is_busy = true;
  ++s->num_active;
}

// ---- A go: pulling some elements, and working on them

typedef struct go {
  entry *entries[MOST_IN_A_GO];
  int64_t count;
  double pull_ns;         // of an element
  rheos_status *failure;  // of the step or of memory, not of an element
} go;

// A failure that says nothing of the element: who asked for it is to stop.
static bool is_of_step(const rheos_status *status, rheos__step *step) {
  return status != NULL &&
         (rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED || rheos__step_should_stop(step));
}

// Without the mutex; nobody else pulls. At most `count` elements, fewer if they take long.
static void pull_some(rheos__stage *s, rheos__step *step, int64_t count, go *g, bool *out_end) {
  const int64_t start = rheos__now_ns();
  g->count = 0;
  g->failure = NULL;
  *out_end = false;
  while (g->count < count && !*out_end) {
    entry *e = new_entry(s);
    if (e == NULL) {
      g->failure = rheos__out_of_memory();
      break;
    }
    e->status = rheos__iterator_next(s->input, step, e->raw, out_end);
    if (*out_end || is_of_step(e->status, step)) {
      g->failure = *out_end ? NULL : e->status;
      if (!*out_end) e->status = NULL;
      free_entry(s, e);
      break;
    }
    g->entries[g->count++] = e;
    if (e->status != NULL || rheos__now_ns() - start > GO_NS) break;
  }
  if (g->count > 0) g->pull_ns = (double)(rheos__now_ns() - start) / (double)g->count;
}

static void finish_entry(rheos__stage *s, entry *e) {
  e->progress = DONE;
  e->bytes = bytes_of(s, e->element);
  s->bytes += e->bytes;
}

// Without the mutex, which is taken for each element that is done. A step that is to stop fails the rest.
static void work_on_some(rheos__stage *s, rheos__step *step, const go *g) {
  for (int64_t i = 0; i < g->count; ++i) {
    entry *e = g->entries[i];
    const int64_t start = rheos__now_ns();
    if (e->status == NULL) e->status = s->options.work(s->dataset, e->raw, e->element, step);
    const int64_t ns = rheos__now_ns() - start;
    atomic_fetch_add_explicit(&s->dataset->times.worked_ns, ns, memory_order_relaxed);
    pthread_mutex_lock(&s->mutex);
    s->work_ns = smoothed(s->work_ns, (double)ns);
    finish_entry(s, e);
    ring_bell(s);
    pthread_mutex_unlock(&s->mutex);
  }
}

// Begins and ends with the mutex held. What stops the step comes back; what fails an element stays with it.
static rheos_status *make_some(rheos__stage *s, rheos__step *step) {
  go g;
  bool end = false;
  const int64_t room = room_of(s), wanted = go_size(s);
  s->is_pulling = true;
  pthread_mutex_unlock(&s->mutex);
  pull_some(s, step, room < 1 ? 1 : room < wanted ? room : wanted, &g, &end);
  pthread_mutex_lock(&s->mutex);
  if (!grow_ring(s, s->tail - s->head + g.count)) {
    while (g.count > 0) free_entry(s, g.entries[--g.count]);
    rheos_status_free(g.failure);
    g.failure = rheos__out_of_memory();
    end = false;
  }
  s->has_ended = end;
  if (g.count > 0) s->pull_ns = smoothed(s->pull_ns, g.pull_ns);
  for (int64_t i = 0; i < g.count; ++i) {
    *place_of(s, s->tail++) = g.entries[i];
    if (s->options.work == NULL) finish_entry(s, g.entries[i]);
  }
  const bool works = s->options.work != NULL && g.count > 0;
  s->is_pulling = works && s->options.one_by_one;
  ring_bell(s);
  if (!works) return g.failure;
  post_worker(s);
  pthread_mutex_unlock(&s->mutex);
  work_on_some(s, step, &g);
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
  while (status == NULL && can_pull(s)) status = make_some(s, step);
  s->was_full = s->was_full || room_of(s) <= 0;
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

static rheos_status *give(rheos__stage *s, int64_t number, rheos_tensor **element) {
  entry *e = *place_of(s, number);
  *place_of(s, number) = *place_of(s, s->head);
  ++s->head;
  s->bytes -= e->bytes;
  rheos_status *status = e->status;
  e->status = NULL;
  if (status == NULL) {
    memcpy(element, e->element, (size_t)s->num_components * sizeof *element);
    memset(e->element, 0, (size_t)s->num_components * sizeof *element);
  }
  free_entry(s, e);
  if (room_of(s) * 2 >= s->limit) post_worker(s);
  return status;
}

// Until something is done by others. False: the step is to stop.
static bool wait_for_others(rheos__stage *s, rheos__step *step) {
  const int64_t start = rheos__now_ns();
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

// Whether the consumer does best to make elements itself: nobody is about to, or it can help. It does not
// where the next element is under way and pulling may take long.
static bool shall_make(const rheos__stage *s) {
  if (s->is_pulling || s->has_ended) return false;
  if (s->head == s->tail) return true;
  return s->options.work != NULL && room_of(s) > 0 && !s->dataset->inputs[0]->is_live;
}

static rheos_status *next_with_mutex(rheos__stage *s, rheos__step *step, rheos_tensor **element,
                                     bool *out_end) {
  s->is_paused = false;
  for (;;) {
    const int64_t number = find_done(s);
    if (number >= 0) return give(s, number, element);
    *out_end = s->has_ended && s->head == s->tail && !s->is_pulling;
    if (*out_end) return NULL;
    if (shall_make(s)) {
      learn_limit(s);
      RHEOS_TRY(make_some(s, step));
    } else if (!wait_for_others(s, step)) {
      return stopped();
    }
  }
}

rheos_status *rheos__stage_next(rheos__stage *s, rheos__step *step, rheos_tensor **element,
                                bool *out_end) {
  *out_end = false;
  pthread_mutex_lock(&s->mutex);
  rheos_status *status = next_with_mutex(s, step, element, out_end);
  pthread_mutex_unlock(&s->mutex);
  return status;
}

void rheos__stage_count(rheos__stage *s, rheos__stage_counts *out_counts) {
  pthread_mutex_lock(&s->mutex);
  *out_counts = (rheos__stage_counts){.buffered = s->tail - s->head,
                                      .capacity = s->limit,
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
  while (goes_on && s->num_active > 0) goes_on = wait_for_others(s, step);
  pthread_mutex_unlock(&s->mutex);
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
  int64_t known[2] = {s->tail - s->head, s->has_ended};
  RHEOS_TRY(rheos__state_ints(state, known, 2));
  if (!state->is_restoring) {
    for (int64_t i = s->head; i < s->tail; ++i) {
      RHEOS_TRY(transfer_entry(s, *place_of(s, i), state));
    }
    return NULL;
  }
  if (known[0] < 0) return RHEOS_INVALID("the state of the iterator is that of another pipeline");
  for (; s->head < s->tail; ++s->head) free_entry(s, *place_of(s, s->head));
  s->bytes = 0;
  s->has_ended = known[1] != 0;
  return restore_entries(s, state, known[0]);
}
