// Datasets that leave elements out by chance, or take their time.
#include <time.h>

#include "ops/data/dataset.h"
#include "ops/data/element.h"

// ---- Sampling

typedef struct sampling_data {
  float rate;
  int64_t seeds[2];
} sampling_data;

typedef struct sampling {
  rheos__iterator base;
  rheos__philox_singles numbers;
  int64_t count;  // of numbers taken
} sampling;

static rheos_status *init_sampling(rheos__dataset *d) {
  sampling_data *data = d->data;
  const rheos_tensor *rate = d->args[1];
  if (rate == NULL || rate->shape.rank != 0) return RHEOS_INVALID("rate must be a scalar");
  data->rate = *(const float *)rate->data;
  return rheos__dataset_seeds(d, 2, data->seeds);
}

static rheos_status *start_sampling(rheos__iterator *iterator, rheos__step *step) {
  (void)step;
  const sampling_data *data = iterator->dataset->data;
  ((sampling *)iterator)->numbers = rheos__philox_singles_of(
      rheos__philox_of((uint64_t)data->seeds[0], (uint64_t)data->seeds[1]));
  return NULL;
}

// From 0 to 1, without 1: the number's bits behind the point.
static float uniform(sampling *it) {
  const uint32_t bits = (rheos__philox_next(&it->numbers) & 0x7fffffu) | 0x3f800000u;
  float value;
  memcpy(&value, &bits, sizeof value);
  ++it->count;
  return value - 1.0f;
}

static rheos_status *next_sampled(rheos__iterator *iterator, rheos__step *step,
                                  rheos_tensor **element, bool *out_end) {
  sampling *it = (sampling *)iterator;
  const sampling_data *data = iterator->dataset->data;
  for (;;) {
    RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
    if (*out_end || uniform(it) < data->rate) return NULL;
    rheos__element_clear(element, iterator->dataset->num_components);
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
}

static rheos_status *transfer_sampling(rheos__iterator *iterator, rheos__saved_state *state,
                                       rheos__step *step) {
  sampling *it = (sampling *)iterator;
  RHEOS_TRY(rheos__state_ints(state, &it->count, 1));
  if (!state->is_restoring) return NULL;
  if (it->count < 0) return RHEOS_INVALID("the state of the iterator is that of another pipeline");
  RHEOS_TRY(start_sampling(iterator, step));
  rheos__philox_singles_skip(&it->numbers, it->count);
  return NULL;
}

static int64_t cardinality_unknown(const rheos__dataset *d) {
  (void)d;
  return RHEOS__CARDINALITY_UNKNOWN;
}

static const rheos__dataset_kind sampling_kind = {.name = "Sampling",
                                                  .data_bytes = sizeof(sampling_data),
                                                  .iterator_bytes = sizeof(sampling),
                                                  .opens_input = true,
                                                  .like_input = true,
                                                  .init = init_sampling,
                                                  .start = start_sampling,
                                                  .next = next_sampled,
                                                  .state = transfer_sampling,
                                                  .cardinality = cardinality_unknown};
RHEOS_DATASET_OP(SamplingDataset, sampling_kind,
                 "input_dataset: variant, rate: float, seed: int64, seed2: int64",
                 RHEOS_DATASET_TYPES, "Each element with the probability `rate`.")

// ---- Sleep

static rheos_status *init_sleep(rheos__dataset *d) {
  RHEOS_TRY(rheos__dataset_int(d, 1, "sleep_microseconds", d->data));
  if (*(const int64_t *)d->data >= 0) return NULL;
  return RHEOS_INVALID("`sleep_microseconds` must be >= 0");
}

// In pieces, between which the step is asked whether it is to stop.
static bool sleep_until(int64_t end_ns, rheos__step *step) {
  enum { PIECE_NS = 5 * 1000 * 1000 };
  for (int64_t left; (left = end_ns - rheos__now_ns()) > 0;) {
    if (rheos__step_should_stop(step)) return false;
    const int64_t piece = left < PIECE_NS ? left : PIECE_NS;
    nanosleep(&(struct timespec){.tv_nsec = (long)piece}, NULL);
  }
  return true;
}

static rheos_status *next_slept(rheos__iterator *iterator, rheos__step *step,
                                rheos_tensor **element, bool *out_end) {
  const int64_t us = *(const int64_t *)iterator->dataset->data;
  int64_t ns, end;
  if (__builtin_mul_overflow(us, 1000, &ns) || __builtin_add_overflow(rheos__now_ns(), ns, &end)) {
    end = INT64_MAX;
  }
  if (!sleep_until(end, step)) return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
  return rheos__iterator_next(iterator->input, step, element, out_end);
}

static const rheos__dataset_kind sleep_kind = {.name = "Sleep",
                                               .data_bytes = sizeof(int64_t),
                                               .opens_input = true,
                                               .like_input = true,
                                               .is_live = true,
                                               .init = init_sleep,
                                               .next = next_slept};
#define SLEEP(op)                                                                       \
  RHEOS_DATASET_OP(op, sleep_kind, "input_dataset: variant, sleep_microseconds: int64", \
                   RHEOS_DATASET_TYPES, "The elements, each after a while.")
SLEEP(ExperimentalSleepDataset)
SLEEP(SleepDataset)
