// Queues: what they hold, and how attempts are served. See queue.h. Orders are TensorFlow's for the
// same seeds, and for equal priorities: its heap is the C++ library's, whose sifting is done again
// here.
#include "ops/data_flow/queue.h"

#include <assert.h>
#include <string.h>
#include <time.h>

static rheos__queue *queue_of(const rheos__attempt *attempt) { return (rheos__queue *)attempt->on; }

// ---- The resource

static rheos_status *copy_spec(rheos__queue *queue, const rheos__queue_spec *spec) {
  const size_t dtypes_size = (size_t)spec->num_components * sizeof *spec->dtypes;
  const size_t shapes_size = (size_t)spec->num_shapes * sizeof *spec->shapes;
  rheos_dtype *dtypes = rheos__alloc(dtypes_size + 1);
  rheos_shape *shapes = rheos__alloc(shapes_size + 1);
  if (dtypes == NULL || shapes == NULL) {
    rheos__free(dtypes);
    rheos__free(shapes);
    return rheos__out_of_memory();
  }
  if (dtypes_size > 0) memcpy(dtypes, spec->dtypes, dtypes_size);
  if (shapes_size > 0) memcpy(shapes, spec->shapes, shapes_size);
  queue->spec = *spec;
  queue->spec.dtypes = dtypes;
  queue->spec.shapes = shapes;
  return NULL;
}

// Seeds of 0 ask for an order that is another one each time.
static void seed(rheos__queue *queue) {
  uint64_t seed = (uint64_t)queue->spec.seed, seed2 = (uint64_t)queue->spec.seed2;
  if (seed == 0 && seed2 == 0) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seed = (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
    seed2 = (uint64_t)(uintptr_t)queue;
  }
  queue->random = rheos__philox_singles_of(rheos__philox_of(seed, seed2));
}

static rheos_status *init_queue(rheos__resource *resource, const void *argument) {
  rheos__queue *queue = (rheos__queue *)resource;
  RHEOS_TRY(copy_spec(queue, argument));
  rheos__waitable_init(&queue->waitable);
  seed(queue);
  return NULL;
}

static rheos__tuple *slot(const rheos__queue *queue, int64_t index) {
  assert(index >= 0 && index <= queue->size && index < queue->num_slots);
  return &queue->slots[(queue->first + index) & (queue->num_slots - 1)];
}

static void deinit_queue(rheos__resource *resource) {
  rheos__queue *queue = (rheos__queue *)resource;
  for (int64_t i = 0; i < queue->size; ++i) rheos__tuple_free(queue, *slot(queue, i));
  rheos__free(queue->slots);
  rheos__free((void *)queue->spec.dtypes);
  rheos__free((void *)queue->spec.shapes);
  rheos__waitable_deinit(&queue->waitable);
}

const rheos__resource_kind rheos__queue_kind = {"queue", sizeof(rheos__queue), init_queue,
                                                deinit_queue};

const char *rheos__queue_type(const rheos__queue_spec *spec) {
  static const char *const types[] = {"FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue",
                                      "PriorityQueue"};
  return types[spec->order];
}

static const char *name_of(const rheos__queue *queue) { return queue->waitable.base.name; }

// "float, int32" or "[[2],[]]", cut to the buffer.
typedef struct list_text {
  char text[512];
} list_text;

static void append(list_text *list, const char *text) {
  const size_t used = strlen(list->text), room = sizeof list->text - used - 1;
  const size_t length = strlen(text);
  memcpy(list->text + used, text, length < room ? length : room);
  list->text[used + (length < room ? length : room)] = '\0';
}

static const char *dtypes_text(const rheos__queue_spec *spec, list_text *out) {
  *out = (list_text){""};
  for (int32_t i = 0; i < spec->num_components; ++i) {
    if (i > 0) append(out, ", ");
    append(out, rheos_dtype_name(spec->dtypes[i]));
  }
  return out->text;
}

static const char *shapes_text(const rheos__queue_spec *spec, list_text *out) {
  *out = (list_text){"["};
  for (int32_t i = 0; i < spec->num_shapes; ++i) {
    rheos__shape_text text;
    if (i > 0) append(out, ", ");
    append(out, rheos__shape_text_of(&spec->shapes[i], &text));
  }
  append(out, "]");
  return out->text;
}

static bool same_dtypes(const rheos__queue_spec *a, const rheos__queue_spec *b) {
  if (a->num_components != b->num_components) return false;
  return memcmp(a->dtypes, b->dtypes, (size_t)a->num_components * sizeof *a->dtypes) == 0;
}

static bool same_shapes(const rheos__queue_spec *a, const rheos__queue_spec *b) {
  if (a->num_shapes != b->num_shapes) return false;
  for (int32_t i = 0; i < a->num_shapes; ++i) {
    if (!rheos_shape_equal(&a->shapes[i], &b->shapes[i])) return false;
  }
  return true;
}

rheos_status *rheos__queue_check_same(const rheos__queue *queue, const rheos__queue_spec *wanted,
                                      const char *node_name, const char *op_name) {
  const rheos__queue_spec *held = &queue->spec;
  const char *name = name_of(queue);
  list_text has, asks;
  if (held->order != wanted->order) {
    return RHEOS_INVALID("Shared queue '%s' for node %s: Expected %s, found %s", name, node_name,
                         rheos__queue_type(held), op_name);
  }
  if (held->capacity != wanted->capacity) {
    return RHEOS_INVALID("Shared queue '%s' has capacity %lld but requested capacity was %lld",
                         name, (long long)held->capacity, (long long)wanted->capacity);
  }
  if (held->min_after_dequeue != wanted->min_after_dequeue) {
    return RHEOS_INVALID(
        "Shared queue '%s' has min_after_dequeue %lld but requested min_after_dequeue was %lld",
        name, (long long)held->min_after_dequeue, (long long)wanted->min_after_dequeue);
  }
  if ((wanted->seed != 0 || wanted->seed2 != 0) &&
      (held->seed != wanted->seed || held->seed2 != wanted->seed2)) {
    return RHEOS_INVALID(
        "Shared queue '%s' has random seeds (%lld, %lld) but requested seeds are (%lld, %lld).",
        name, (long long)held->seed, (long long)held->seed2, (long long)wanted->seed,
        (long long)wanted->seed2);
  }
  if (!same_dtypes(held, wanted)) {
    return RHEOS_INVALID(
        "Shared queue '%s' has component types %s but requested component types were %s", name,
        dtypes_text(held, &has), dtypes_text(wanted, &asks));
  }
  if (!same_shapes(held, wanted)) {
    return RHEOS_INVALID(
        "Shared queue '%s' has component shapes %s but requested component shapes were %s", name,
        shapes_text(held, &has), shapes_text(wanted, &asks));
  }
  return NULL;
}

// ---- Tuples

rheos__tuple rheos__tuple_new(const rheos__queue *queue) {
  return rheos__alloc_array((size_t)queue->spec.num_components, sizeof(rheos_tensor *));
}

void rheos__tuple_free(const rheos__queue *queue, rheos__tuple tuple) {
  if (tuple == NULL) return;
  for (int32_t i = 0; i < queue->spec.num_components; ++i) rheos_tensor_unref(tuple[i]);
  rheos__free(tuple);
}

static bool reserve(rheos__queue *queue) {
  if (queue->size < queue->num_slots) return true;
  const int64_t larger = queue->num_slots > 0 ? queue->num_slots * 2 : 16;
  rheos__tuple *slots = rheos__alloc_array((size_t)larger, sizeof *slots);
  if (slots == NULL) return false;
  for (int64_t i = 0; i < queue->size; ++i) slots[i] = *slot(queue, i);
  rheos__free(queue->slots);
  queue->slots = slots;
  queue->num_slots = larger;
  queue->first = 0;
  return true;
}

// ---- The heap of a queue by priority: the least first

static int64_t priority_of(rheos__tuple tuple) { return *(const int64_t *)tuple[0]->data; }

static void sift_up(rheos__queue *queue, int64_t hole, int64_t top, rheos__tuple tuple) {
  for (; hole > top; hole = (hole - 1) / 2) {
    rheos__tuple parent = queue->slots[(hole - 1) / 2];
    if (priority_of(parent) <= priority_of(tuple)) break;
    queue->slots[hole] = parent;
  }
  queue->slots[hole] = tuple;
}

static rheos__tuple take_least(rheos__queue *queue) {
  rheos__tuple *slots = queue->slots, least = slots[0];
  const int64_t count = --queue->size;
  if (count == 0) return least;
  rheos__tuple last = slots[count];
  int64_t hole = 0, child = 0;
  while (child < (count - 1) / 2) {
    child = 2 * (child + 1);
    if (priority_of(slots[child]) > priority_of(slots[child - 1])) --child;
    slots[hole] = slots[child];
    hole = child;
  }
  if ((count & 1) == 0 && child == (count - 2) / 2) {
    child = 2 * (child + 1);
    slots[hole] = slots[child - 1];
    hole = child - 1;
  }
  sift_up(queue, hole, 0, last);
  return least;
}

// ---- In and out. There is room for what is put in.

static void put(rheos__queue *queue, rheos__tuple tuple) {
  assert(queue->size < queue->num_slots);
  if (queue->spec.order == RHEOS__QUEUE_PRIORITY) {
    sift_up(queue, queue->size, 0, tuple);
  } else {
    *slot(queue, queue->size) = tuple;
  }
  ++queue->size;
}

bool rheos__queue_put(rheos__queue *queue, rheos__tuple tuple) {
  if (!reserve(queue)) return false;
  put(queue, tuple);
  return true;
}

static void put_first(rheos__queue *queue, rheos__tuple tuple) {
  queue->first = (queue->first + queue->num_slots - 1) & (queue->num_slots - 1);
  ++queue->size;
  *slot(queue, 0) = tuple;
}

static rheos__tuple take_any(rheos__queue *queue) {
  const int64_t index = rheos__philox_next(&queue->random) % (uint64_t)queue->size;
  rheos__tuple taken = *slot(queue, index);
  *slot(queue, index) = *slot(queue, queue->size - 1);
  --queue->size;
  return taken;
}

static rheos__tuple take(rheos__queue *queue) {
  assert(queue->size > 0);
  if (queue->spec.order == RHEOS__QUEUE_SHUFFLE) return take_any(queue);
  if (queue->spec.order == RHEOS__QUEUE_PRIORITY) return take_least(queue);
  rheos__tuple taken = *slot(queue, 0);
  queue->first = (queue->first + 1) & (queue->num_slots - 1);
  --queue->size;
  return taken;
}

// ---- Attempts to put

typedef struct enqueue {
  rheos__attempt attempt;
  rheos__tuple *tuples;
  int64_t count, next;
} enqueue;

static rheos__tried fail(rheos__attempt *attempt, rheos_status *status) {
  attempt->status = status;
  return RHEOS__TRIED_DONE;
}

static rheos__tried run_enqueue(rheos__attempt *attempt) {
  enqueue *e = (enqueue *)attempt;
  rheos__queue *queue = queue_of(attempt);
  if (queue->is_closed) {
    return fail(attempt, rheos_status_new(RHEOS_CANCELLED, "%s '%s' is closed.",
                                          rheos__queue_type(&queue->spec), name_of(queue)));
  }
  const int64_t before = e->next;
  for (; e->next < e->count; ++e->next) {
    if (queue->spec.capacity >= 0 && queue->size >= queue->spec.capacity) {
      return e->next > before ? RHEOS__TRIED_PROGRESS : RHEOS__TRIED_IN_VAIN;
    }
    if (!reserve(queue)) return fail(attempt, rheos__out_of_memory());
    put(queue, e->tuples[e->next]);
    e->tuples[e->next] = NULL;
  }
  return RHEOS__TRIED_DONE;
}

static void free_tuples(const rheos__queue *queue, rheos__tuple *tuples, int64_t count) {
  for (int64_t i = 0; i < count; ++i) rheos__tuple_free(queue, tuples[i]);
  rheos__free(tuples);
}

static void deinit_enqueue(rheos__attempt *attempt) {
  const enqueue *e = (const enqueue *)attempt;
  free_tuples(queue_of(attempt), e->tuples, e->count);
}

static const rheos__attempt_kind enqueue_kind = {
    .what = "room", .run = run_enqueue, .deinit = deinit_enqueue};

rheos_status *rheos__enqueue_new_take(rheos__queue *queue, rheos__tuple *tuples, int64_t count,
                                      rheos__attempt **out_attempt) {
  enqueue *e = rheos__alloc_zeroed(sizeof *e);
  if (e == NULL) {
    free_tuples(queue, tuples, count);
    return rheos__out_of_memory();
  }
  rheos__attempt_init(&e->attempt, &enqueue_kind, &queue->waitable, RHEOS__PUTS);
  e->tuples = tuples;
  e->count = count;
  *out_attempt = &e->attempt;
  return NULL;
}

// ---- Attempts to take

void rheos__dequeue_give_back(rheos__attempt *attempt) {
  rheos__dequeue *d = (rheos__dequeue *)attempt;
  rheos__queue *queue = queue_of(attempt);
  const bool in_order =
      queue->spec.order == RHEOS__QUEUE_FIFO || queue->spec.order == RHEOS__QUEUE_PADDING;
  for (int64_t i = 0; i < d->count; ++i) {
    rheos__tuple tuple = d->tuples[in_order ? d->count - 1 - i : i];
    if (!reserve(queue)) {  // memory is short: it is lost
      rheos__tuple_free(queue, tuple);
    } else if (in_order) {
      put_first(queue, tuple);
    } else {
      put(queue, tuple);
    }
  }
  d->count = 0;
}

static rheos__tried fail_closed(rheos__dequeue *d, int64_t missing, int64_t size) {
  const rheos__queue *queue = queue_of(&d->attempt);
  return fail(&d->attempt,
              rheos_status_new(RHEOS_OUT_OF_RANGE,
                               "%s '%s' is closed and has insufficient elements (requested %lld, "
                               "current size %lld)",
                               rheos__queue_type(&queue->spec), name_of(queue), (long long)missing,
                               (long long)size));
}

rheos__tried rheos__dequeue_run(rheos__attempt *attempt) {
  rheos__dequeue *d = (rheos__dequeue *)attempt;
  rheos__queue *queue = queue_of(attempt);
  int64_t missing = d->wanted - d->count;
  if (queue->is_closed && queue->size < missing) {
    const int64_t size = queue->size;
    rheos__dequeue_give_back(attempt);
    if (!d->allows_fewer || queue->size == 0) return fail_closed(d, missing, size);
    missing = d->wanted = queue->size;
  }
  int64_t available = queue->size;
  if (!queue->is_closed) available -= queue->spec.min_after_dequeue;
  // What comes later may have to come first: nothing is taken before there is enough.
  if (queue->spec.order == RHEOS__QUEUE_PRIORITY && available < missing)
    return RHEOS__TRIED_IN_VAIN;
  const int64_t before = d->count;
  while (available-- > 0 && d->count < d->wanted) {
    if (!RHEOS_RESERVE(d->tuples, d->capacity, (size_t)d->count + 1)) {
      rheos__dequeue_give_back(attempt);
      return fail(attempt, rheos__out_of_memory());
    }
    d->tuples[d->count++] = take(queue);
  }
  if (d->count == d->wanted) return RHEOS__TRIED_DONE;
  return d->count > before ? RHEOS__TRIED_PROGRESS : RHEOS__TRIED_IN_VAIN;
}

void rheos__dequeue_deinit(rheos__attempt *attempt) {
  const rheos__dequeue *d = (const rheos__dequeue *)attempt;
  free_tuples(queue_of(attempt), d->tuples, d->count);
}

rheos__dequeue *rheos__dequeue_new(rheos__queue *queue, const rheos__attempt_kind *kind) {
  rheos__dequeue *d = rheos__alloc_zeroed(sizeof *d);
  if (d == NULL) return NULL;
  rheos__attempt_init(&d->attempt, kind, &queue->waitable, RHEOS__TAKES);
  d->wanted = 1;
  return d;
}

// ---- Closing

static rheos__tried run_close(rheos__attempt *attempt) {
  rheos__queue *queue = queue_of(attempt);
  if (queue->is_closed) {
    return fail(attempt,
                rheos_status_new(RHEOS_CANCELLED, "Queue '%s' is already closed.", name_of(queue)));
  }
  queue->is_closed = true;
  return RHEOS__TRIED_DONE;
}

static const rheos__attempt_kind close_kind = {.what = "the end of what is put in",
                                               .run = run_close};

rheos__attempt *rheos__queue_close_new(rheos__queue *queue) {
  rheos__attempt *attempt = rheos__alloc_zeroed(sizeof *attempt);
  if (attempt == NULL) return NULL;
  rheos__attempt_init(attempt, &close_kind, &queue->waitable, RHEOS__PUTS);
  return attempt;
}

void rheos__queue_close_now(rheos__queue *queue) {
  pthread_mutex_lock(&queue->waitable.mutex);
  queue->is_closed = true;
  rheos__waitable_fail(&queue->waitable, RHEOS__PUTS, RHEOS_CANCELLED,
                       "Enqueue operation was cancelled");
  rheos__waitable_serve(&queue->waitable);
  pthread_mutex_unlock(&queue->waitable.mutex);
}

int64_t rheos__queue_size(rheos__queue *queue) {
  pthread_mutex_lock(&queue->waitable.mutex);
  const int64_t size = queue->size;
  pthread_mutex_unlock(&queue->waitable.mutex);
  return size;
}

bool rheos__queue_is_closed(rheos__queue *queue) {
  pthread_mutex_lock(&queue->waitable.mutex);
  const bool is_closed = queue->is_closed;
  pthread_mutex_unlock(&queue->waitable.mutex);
  return is_closed;
}
