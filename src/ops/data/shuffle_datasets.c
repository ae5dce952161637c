// Shuffled datasets, in TensorFlow's order for the same seeds.
#include <pthread.h>

#include "ops/data/dataset.h"
#include "ops/data/element.h"
#include "ops/data/stage.h"

// ---- Where the seeds of each repetition come from

typedef struct seed_generator {
  rheos__variant variant;
  pthread_mutex_t mutex;
  rheos__philox_singles numbers;
  int64_t seeds[2], count;  // of numbers taken
  bool reshuffles;
} seed_generator;

static void free_generator(rheos__variant *variant) {
  pthread_mutex_destroy(&((seed_generator *)variant)->mutex);
  rheos__free(variant);
}

static const rheos__variant_kind generator_kind = {.name = "SeedGenerator", .free = free_generator};

static rheos_status *new_generator(const int64_t *seeds, bool reshuffles, seed_generator **out) {
  seed_generator *g = rheos__alloc_zeroed(sizeof *g);
  *out = g;
  if (g == NULL) return rheos__out_of_memory();
  atomic_init(&g->variant.references, 1);
  g->variant.kind = &generator_kind;
  pthread_mutex_init(&g->mutex, NULL);
  g->numbers = rheos__philox_singles_of(rheos__philox_of((uint64_t)seeds[0], (uint64_t)seeds[1]));
  g->seeds[0] = seeds[0];
  g->seeds[1] = seeds[1];
  g->reshuffles = reshuffles;
  return NULL;
}

static void next_seeds(seed_generator *g, int64_t *out_seeds) {
  pthread_mutex_lock(&g->mutex);
  for (int i = 0; i < 2; ++i) {
    out_seeds[i] = g->reshuffles ? (int64_t)rheos__philox_next(&g->numbers) : g->seeds[i];
  }
  if (g->reshuffles) g->count += 2;
  pthread_mutex_unlock(&g->mutex);
}

static rheos_status *scalar_int(const rheos_tensor *tensor, const char *name, int64_t *out) {
  if (tensor->num_elements != 1) return RHEOS_INVALID("%s must be a scalar", name);
  *out = rheos__tensor_int_at(tensor, 0);
  return NULL;
}

static rheos_status *compute_generator(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  int64_t seeds[2] = {0, 0};
  bool reshuffles = true;
  const int32_t num_inputs = *(const int32_t *)state;
  if (num_inputs >= 2) {
    RHEOS_TRY(scalar_int(inputs[0], "seed", &seeds[0]));
    RHEOS_TRY(scalar_int(inputs[1], "seed2", &seeds[1]));
    RHEOS_TRY(rheos__random_seeds(seeds));
  }
  if (num_inputs == 3 && inputs[2]->num_elements == 1) {
    reshuffles = *(const bool *)inputs[2]->data;
  }
  seed_generator *g = NULL;
  RHEOS_TRY(new_generator(seeds, reshuffles, &g));
  rheos__variant *again = rheos__variant_ref(&g->variant);
  rheos_status *status = rheos__handle_tensor_take(&g->variant, &RHEOS_SCALAR, &outputs[0]);
  if (status != NULL || num_inputs == 0) {
    rheos__variant_unref(again);
    return status;
  }
  return rheos__variant_tensor_take(again, &outputs[1]);
}

static rheos_status *prepare_generator(rheos__prepare *p) {
  int32_t *num_inputs = RHEOS_NEW_STATE(p, int32_t);
  if (num_inputs == NULL) return rheos__out_of_memory();
  *num_inputs = p->num_inputs;
  p->compute = compute_generator;
  return NULL;
}

#define GENERATOR(op, text)                                                 \
  const rheos__op_def rheos__op_##op = {                                    \
      .name = #op,                                                          \
      .signature = text,                                                    \
      .doc = "What gives a shuffled dataset the seeds of each repetition.", \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,                 \
      .shape = rheos__shape_scalar,                                         \
      .gradient = rheos__no_gradient,                                       \
      .prepare = prepare_generator,                                         \
  };
GENERATOR(AnonymousRandomSeedGenerator,
          "seed: int64, seed2: int64 -> handle: resource, deleter: variant")
GENERATOR(AnonymousSeedGenerator,
          "seed: int64, seed2: int64, reshuffle: bool -> handle: resource, deleter: variant")
GENERATOR(DummySeedGenerator, "-> handle: resource")

// ---- Shuffle

typedef struct shuffle_data {
  int64_t buffer_size, count;  // repetitions; -1: without an end
  int64_t seeds[2];
  seed_generator *generator;  // counted
} shuffle_data;

// Elements of one repetition in the buffer, a ring: first to last of all elements so far.
typedef struct slice {
  int64_t first, last;
} slice;

typedef struct shuffle {
  rheos__iterator base;
  rheos__philox_singles numbers;
  int64_t seeds[2], num_numbers;
  rheos_tensor **buffer;  // `capacity` elements
  int64_t capacity, num_elements;
  slice *slices;
  size_t num_slices, slices_capacity;
  int64_t epoch;
  bool has_produced, has_started;
} shuffle;

static const char *const shuffle_options[] = {"reshuffle_each_iteration", NULL};

static rheos_status *read_buffer_size(rheos__dataset *d) {
  shuffle_data *s = d->data;
  s->count = 1;
  RHEOS_TRY(rheos__dataset_int(d, 1, "buffer_size", &s->buffer_size));
  if (s->buffer_size == RHEOS__CARDINALITY_UNKNOWN) s->buffer_size = -1;  // all elements
  if (s->buffer_size > 0 || s->buffer_size == -1) return NULL;
  return RHEOS_INVALID("buffer_size must be greater than zero or UNKNOWN_CARDINALITY.");
}

// The generator behind an input, if there is one that was made for a program's dataset.
static rheos_status *take_generator(rheos__dataset *d, int32_t arg) {
  shuffle_data *s = d->data;
  rheos__variant *generator = NULL;
  RHEOS_TRY(rheos__handle_object(d->args[arg], &generator_kind, "a shuffled dataset", &generator));
  s->generator = (seed_generator *)rheos__variant_ref(generator);
  return NULL;
}

static rheos_status *make_generator(rheos__dataset *d) {
  shuffle_data *s = d->data;
  RHEOS_TRY(rheos__dataset_seeds(d, 2, s->seeds));
  return new_generator(s->seeds, rheos__dataset_options(d)[0] != 0, &s->generator);
}

static rheos_status *init_shuffle(rheos__dataset *d) {
  RHEOS_TRY(read_buffer_size(d));
  return make_generator(d);
}

static rheos_status *init_shuffle_2(rheos__dataset *d) {
  RHEOS_TRY(read_buffer_size(d));
  return take_generator(d, 2);
}

static rheos_status *init_shuffle_3(rheos__dataset *d) {
  RHEOS_TRY(read_buffer_size(d));
  return make_generator(d);
}

static rheos_status *init_shuffle_and_repeat(rheos__dataset *d) {
  shuffle_data *s = d->data;
  RHEOS_TRY(read_buffer_size(d));
  RHEOS_TRY(rheos__dataset_int(d, 4, "count", &s->count));
  RHEOS_TRY(rheos__dataset_seeds(d, 2, s->seeds));
  return new_generator(s->seeds, rheos__dataset_options(d)[0] != 0, &s->generator);
}

static void deinit_shuffle(rheos__dataset *d) {
  shuffle_data *s = d->data;
  rheos__variant_unref((rheos__variant *)s->generator);
}

static void seed_numbers(shuffle *it) {
  it->numbers =
      rheos__philox_singles_of(rheos__philox_of((uint64_t)it->seeds[0], (uint64_t)it->seeds[1]));
  it->num_numbers = 0;
}

static rheos_status *start_shuffle(rheos__iterator *iterator, rheos__step *step) {
  (void)step;
  shuffle *it = (shuffle *)iterator;
  const shuffle_data *s = iterator->dataset->data;
  next_seeds(s->generator, it->seeds);
  seed_numbers(it);
  if (!RHEOS_RESERVE(it->slices, it->slices_capacity, 1)) return rheos__out_of_memory();
  it->slices[0] = (slice){0, 0};
  it->num_slices = 1;
  return NULL;
}

static void finish_shuffle(rheos__iterator *iterator) {
  shuffle *it = (shuffle *)iterator;
  const int64_t n = iterator->dataset->num_components;
  for (int64_t i = 0; i < it->capacity * n; ++i) rheos_tensor_unref(it->buffer[i]);
  rheos__free(it->buffer);
  rheos__free(it->slices);
}

// Grows the ring, while nothing has been taken out of it: up to the size that the program asked
// for.
static rheos_status *make_room(shuffle *it, int64_t most) {
  if (it->num_elements < it->capacity) return NULL;
  const int64_t n = it->base.dataset->num_components;
  int64_t capacity = it->capacity < 64 ? 64 : it->capacity > most / 2 ? most : 2 * it->capacity;
  if (capacity > most) capacity = most;
  rheos_tensor **grown = rheos__alloc_array((size_t)capacity, (size_t)n * sizeof *grown);
  if (grown == NULL) return rheos__out_of_memory();
  const int64_t first = it->slices[0].first;  // places are modulo the capacity
  for (int64_t i = 0; i < it->num_elements; ++i) {
    memcpy(grown + (first + i) % capacity * n, it->buffer + (first + i) % it->capacity * n,
           (size_t)n * sizeof *grown);
  }
  rheos__free(it->buffer);
  it->buffer = grown;
  it->capacity = capacity;
  return NULL;
}

// The input of an epoch that is not to come is not made: it would take seeds of a generator.
static rheos_status *next_epoch(shuffle *it, const shuffle_data *s, rheos__step *step) {
  ++it->epoch;
  if (!RHEOS_RESERVE(it->slices, it->slices_capacity, it->num_slices + 1)) {
    return rheos__out_of_memory();
  }
  const int64_t last = it->slices[it->num_slices - 1].last;
  it->slices[it->num_slices++] = (slice){last, last};
  rheos__iterator_free(it->base.input);
  it->base.input = NULL;
  if (s->count != -1 && it->epoch >= s->count) return NULL;
  return rheos__iterator_new(it->base.dataset->inputs[0], step, &it->base.input);
}

// Puts one element into the buffer; the input is gone when there is no more.
static rheos_status *fill_one(shuffle *it, const shuffle_data *s, rheos__step *step) {
  const int64_t n = it->base.dataset->num_components;
  slice *last = &it->slices[it->num_slices - 1];
  rheos_tensor **place = it->buffer + last->last % it->capacity * n;
  bool end = true;
  while (s->count == -1 || it->epoch < s->count) {
    RHEOS_TRY(rheos__iterator_next(it->base.input, step, place, &end));
    if (!end) break;
    if (s->count == -1 && !it->has_produced) break;
    RHEOS_TRY(next_epoch(it, s, step));
    last = &it->slices[it->num_slices - 1];
  }
  if (end) {
    rheos__iterator_free(it->base.input);
    it->base.input = NULL;
    return NULL;
  }
  it->has_produced = true;
  ++it->num_elements;
  ++last->last;
  return NULL;
}

static rheos_status *fill_buffer(shuffle *it, rheos__step *step) {
  const shuffle_data *s = it->base.dataset->data;
  const int64_t most = s->buffer_size == -1 ? INT64_MAX / 2 : s->buffer_size;
  if (!it->has_started) {
    RHEOS_TRY(rheos__iterator_new(it->base.dataset->inputs[0], step, &it->base.input));
    it->has_started = true;
  }
  while (it->base.input != NULL && it->num_elements < most) {
    RHEOS_TRY(make_room(it, most));
    RHEOS_TRY(fill_one(it, s, step));
    if ((it->num_elements & 63) == 0 && rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  return NULL;
}

static rheos_status *next_shuffle(rheos__iterator *iterator, rheos__step *step,
                                  rheos_tensor **element, bool *out_end) {
  shuffle *it = (shuffle *)iterator;
  const int64_t n = iterator->dataset->num_components;
  RHEOS_TRY(fill_buffer(it, step));
  *out_end = it->num_elements == 0;
  if (*out_end) return NULL;
  size_t empty = 0;
  for (; it->slices[empty].first == it->slices[empty].last; ++empty) {
    const shuffle_data *s = iterator->dataset->data;
    if (!s->generator->reshuffles) continue;
    next_seeds(s->generator, it->seeds);  // each repetition has seeds of its own
    seed_numbers(it);
  }
  it->num_slices -= empty;
  if (empty > 0) memmove(it->slices, it->slices + empty, it->num_slices * sizeof *it->slices);
  slice *front = &it->slices[0];
  const int64_t offset = (int64_t)((uint64_t)rheos__philox_next(&it->numbers) %
                                   (uint64_t)(front->last - front->first));
  ++it->num_numbers;
  rheos_tensor **chosen = it->buffer + (front->first + offset) % it->capacity * n;
  rheos_tensor **first = it->buffer + front->first % it->capacity * n;
  for (int64_t i = 0; i < n; ++i) {
    element[i] = chosen[i];
    chosen[i] = first[i];
    first[i] = NULL;
  }
  if (chosen == first) memset(chosen, 0, (size_t)n * sizeof *chosen);
  ++front->first;
  --it->num_elements;
  return NULL;
}

// The repetitions that are still to come get the seeds that they would have had.
static rheos_status *transfer_generator(seed_generator *g, rheos__saved_state *state) {
  pthread_mutex_lock(&g->mutex);
  int64_t count = g->count;
  rheos_status *status = rheos__state_ints(state, &count, 1);
  if (status == NULL && count < 0) status = RHEOS_INVALID("the state is damaged");
  if (status == NULL && state->is_restoring && count != g->count) {
    g->numbers =
        rheos__philox_singles_of(rheos__philox_of((uint64_t)g->seeds[0], (uint64_t)g->seeds[1]));
    rheos__philox_singles_skip(&g->numbers, count);
    g->count = count;
  }
  pthread_mutex_unlock(&g->mutex);
  return status;
}

static rheos_status *transfer_buffer(shuffle *it, rheos__saved_state *state) {
  const int64_t n = it->base.dataset->num_components;
  int64_t capacity = it->capacity;
  RHEOS_TRY(rheos__state_ints(state, &capacity, 1));
  if (state->is_restoring) {
    if (capacity < 0 || capacity > state->count) return RHEOS_INVALID("the state is damaged");
    it->buffer = rheos__alloc_array((size_t)capacity, (size_t)n * sizeof *it->buffer);
    if (it->buffer == NULL) return rheos__out_of_memory();
    it->capacity = capacity;
  }
  return rheos__state_tensors(state, it->buffer, (int32_t)(capacity * n));
}

static rheos_status *transfer_slices(shuffle *it, rheos__saved_state *state) {
  int64_t count = (int64_t)it->num_slices;
  RHEOS_TRY(rheos__state_ints(state, &count, 1));
  if (count < 1 || count > INT32_MAX / 2) return RHEOS_INVALID("the state is damaged");
  if (!RHEOS_RESERVE(it->slices, it->slices_capacity, (size_t)count)) {
    return rheos__out_of_memory();
  }
  it->num_slices = (size_t)count;
  return rheos__state_ints(state, &it->slices[0].first, (int32_t)(2 * count));
}

// The slices lie one behind the other and hold all elements, each of which is there.
static rheos_status *check_restored(const shuffle *it) {
  const int64_t n = it->base.dataset->num_components;
  int64_t count = 0, at = it->slices[0].first;
  for (size_t i = 0; i < it->num_slices; ++i) {
    const slice *s = &it->slices[i];
    if (s->first != at || s->last < s->first) return RHEOS_INVALID("the state is damaged");
    count += s->last - s->first;
    at = s->last;
  }
  if (count != it->num_elements || count > it->capacity || it->slices[0].first < 0) {
    return RHEOS_INVALID("the state is damaged");
  }
  for (int64_t i = it->slices[0].first; i < at; ++i) {
    for (int64_t k = 0; k < n; ++k) {
      if (it->buffer[i % it->capacity * n + k] == NULL)
        return RHEOS_INVALID("the state is damaged");
    }
  }
  return NULL;
}

static rheos_status *transfer_shuffle(rheos__iterator *iterator, rheos__saved_state *state,
                                      rheos__step *step) {
  shuffle *it = (shuffle *)iterator;
  int64_t facts[] = {it->seeds[0], it->seeds[1],     it->num_numbers, it->num_elements,
                     it->epoch,    it->has_produced, it->has_started, it->base.input != NULL};
  RHEOS_TRY(rheos__state_ints(state, facts, 8));
  if (state->is_restoring) {
    memcpy(it->seeds, facts, sizeof it->seeds);
    seed_numbers(it);
    rheos__philox_singles_skip(&it->numbers, facts[2] < 0 ? 0 : facts[2]);
    it->num_numbers = facts[2];
    it->num_elements = facts[3];
    it->epoch = facts[4];
    it->has_produced = facts[5];
    it->has_started = facts[6];
    if (facts[7]) {
      RHEOS_TRY(rheos__iterator_new(iterator->dataset->inputs[0], step, &iterator->input));
    }
  }
  const shuffle_data *data = iterator->dataset->data;
  RHEOS_TRY(transfer_generator(data->generator, state));
  RHEOS_TRY(transfer_buffer(it, state));
  RHEOS_TRY(transfer_slices(it, state));
  if (state->is_restoring) RHEOS_TRY(check_restored(it));
  return facts[7] ? rheos__iterator_transfer(iterator->input, state, step) : NULL;
}

static int64_t cardinality_shuffle(const rheos__dataset *d) {
  const int64_t count = ((const shuffle_data *)d->data)->count;
  const int64_t all = rheos__dataset_cardinality(d->inputs[0]);
  int64_t product;
  if (count == 1) return all;
  if (count == 0 || all == 0) return 0;
  if (count < 0) return all == RHEOS__CARDINALITY_UNKNOWN ? all : RHEOS__CARDINALITY_INFINITE;
  if (all < 0) return all;
  return __builtin_mul_overflow(all, count, &product) ? RHEOS__CARDINALITY_UNKNOWN : product;
}

static void count_shuffled(rheos__iterator *iterator, rheos__stage_counts *out_counts) {
  const shuffle *it = (const shuffle *)iterator;
  const int64_t n = iterator->dataset->num_components;
  *out_counts = (rheos__stage_counts){
      .buffered = it->num_elements,
      .capacity = ((const shuffle_data *)iterator->dataset->data)->buffer_size};
  for (int64_t i = 0; it->buffer != NULL && i < it->capacity * n; ++i) {
    if (it->buffer[i] != NULL) out_counts->bytes += (int64_t)it->buffer[i]->size_bytes;
  }
}

#define SHUFFLE_KIND(variable, text, init_fn)                                      \
  static const rheos__dataset_kind variable = {.name = text,                       \
                                               .data_bytes = sizeof(shuffle_data), \
                                               .iterator_bytes = sizeof(shuffle),  \
                                               .like_input = true,                 \
                                               .options = shuffle_options,         \
                                               .init = init_fn,                    \
                                               .deinit = deinit_shuffle,           \
                                               .start = start_shuffle,             \
                                               .finish = finish_shuffle,           \
                                               .next = next_shuffle,               \
                                               .count = count_shuffled,            \
                                               .state = transfer_shuffle,          \
                                               .cardinality = cardinality_shuffle}
SHUFFLE_KIND(shuffle_kind, "Shuffle", init_shuffle);
SHUFFLE_KIND(shuffle_2_kind, "Shuffle", init_shuffle_2);
SHUFFLE_KIND(shuffle_3_kind, "Shuffle", init_shuffle_3);
SHUFFLE_KIND(and_repeat_kind, "ShuffleAndRepeat", init_shuffle_and_repeat);

#define RESHUFFLE "; reshuffle_each_iteration: bool = true" RHEOS_DATASET_TYPES
#define METADATA "; metadata: string = \"\""
#define SHUFFLED "The elements, each chosen at random among the next `buffer_size`."
RHEOS_DATASET_OP(ShuffleDataset, shuffle_kind,
                 "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64",
                 RESHUFFLE METADATA, SHUFFLED)
RHEOS_DATASET_OP(ShuffleDatasetV2, shuffle_2_kind,
                 "input_dataset: variant, buffer_size: int64, seed_generator: resource",
                 RHEOS_DATASET_TYPES METADATA, SHUFFLED)
RHEOS_DATASET_OP(ShuffleDatasetV3, shuffle_3_kind,
                 "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, "
                 "seed_generator: resource",
                 RESHUFFLE METADATA, SHUFFLED)
RHEOS_DATASET_OP(ShuffleAndRepeatDataset, and_repeat_kind,
                 "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: "
                 "int64",
                 RHEOS_DATASET_TYPES "; reshuffle_each_iteration: bool = false" METADATA,
                 "The elements `count` times, shuffled; the buffer is filled across repetitions.")
RHEOS_DATASET_OP(ShuffleAndRepeatDatasetV2, and_repeat_kind,
                 "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: "
                 "int64, seed_generator: resource",
                 RESHUFFLE METADATA,
                 "The elements `count` times, shuffled; the buffer is filled across repetitions.")
