// Datasets of several others, and parts of one: zip, concatenate, a choice; take, skip, shard,
// repeat.
#include "ops/data/dataset.h"

static int64_t cardinality_of(const rheos__dataset *d, int32_t input) {
  return rheos__dataset_cardinality(d->inputs[input]);
}

// ---- Zip

typedef struct many {
  rheos__iterator base;
  rheos__iterator **inputs;
} many;

static rheos_status *open_from(rheos__iterator *iterator, rheos__step *step, int32_t first) {
  many *it = (many *)iterator;
  const rheos__dataset *d = iterator->dataset;
  it->inputs = rheos__alloc_array((size_t)d->num_inputs, sizeof *it->inputs);
  if (it->inputs == NULL) return rheos__out_of_memory();
  for (int32_t i = first; i < d->num_inputs; ++i) {
    RHEOS_TRY(rheos__iterator_new(d->inputs[i], step, &it->inputs[i]));
  }
  return NULL;
}

static rheos_status *start_many(rheos__iterator *iterator, rheos__step *step) {
  return open_from(iterator, step, 0);
}

static void finish_many(rheos__iterator *iterator) {
  many *it = (many *)iterator;
  for (int32_t i = 0; it->inputs != NULL && i < iterator->dataset->num_inputs; ++i) {
    rheos__iterator_free(it->inputs[i]);
  }
  rheos__free(it->inputs);
}

static rheos_status *transfer_many(rheos__iterator *iterator, rheos__saved_state *state,
                                   rheos__step *step) {
  many *it = (many *)iterator;
  for (int32_t i = 0; i < iterator->dataset->num_inputs; ++i) {
    int64_t is_open = it->inputs[i] != NULL;
    RHEOS_TRY(rheos__state_ints(state, &is_open, 1));
    if (is_open && it->inputs[i] == NULL) {
      RHEOS_TRY(rheos__iterator_new(iterator->dataset->inputs[i], step, &it->inputs[i]));
    } else if (!is_open) {
      rheos__iterator_free(it->inputs[i]);
      it->inputs[i] = NULL;
    }
    if (is_open) RHEOS_TRY(rheos__iterator_transfer(it->inputs[i], state, step));
  }
  return NULL;
}

static rheos_status *init_zip(rheos__dataset *d) {
  int32_t at = 0;
  for (int32_t i = 0; i < d->num_inputs; ++i) {
    for (int32_t k = 0; k < d->inputs[i]->num_components; ++k, ++at) {
      if (at < d->num_components && d->types[at] == d->inputs[i]->types[k]) continue;
      return RHEOS_INVALID("Data type mismatch at component %d of a zip", (int)at);
    }
  }
  if (at == d->num_components) return NULL;
  return RHEOS_INVALID("a zip of %d components is declared to have %d", (int)at,
                       (int)d->num_components);
}

// After a failure of one input the others go on too, so that what comes then still lies side by
// side; and at the end of one, so that a cache that has had all of its elements is whole.
static rheos_status *next_zip(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                              bool *out_end) {
  many *it = (many *)iterator;
  const rheos__dataset *d = iterator->dataset;
  int32_t at = 0;
  rheos_status *status = NULL;
  *out_end = it->inputs[0] == NULL;
  if (*out_end) return NULL;
  for (int32_t i = 0; i < d->num_inputs; ++i) {
    bool end = false;
    rheos_status *failure = rheos__iterator_next(it->inputs[i], step, element + at, &end);
    const bool counts = status == NULL && !*out_end;  // nobody misses what comes behind the end
    *out_end = *out_end || end;
    if (counts) {
      status = failure;
    } else {
      rheos_status_free(failure);
    }
    at += d->inputs[i]->num_components;
  }
  if (status != NULL || *out_end) rheos__element_clear(element, d->num_components);
  for (int32_t i = 0; status == NULL && *out_end && i < d->num_inputs; ++i) {
    rheos__iterator_free(it->inputs[i]);  // it has ended for good
    it->inputs[i] = NULL;
  }
  return status;
}

static int64_t cardinality_zip(const rheos__dataset *d) {
  int64_t least = RHEOS__CARDINALITY_INFINITE;
  for (int32_t i = 0; i < d->num_inputs; ++i) {
    const int64_t count = cardinality_of(d, i);
    if (count == RHEOS__CARDINALITY_UNKNOWN) return count;
    if (count != RHEOS__CARDINALITY_INFINITE && (least < 0 || count < least)) least = count;
  }
  return least;
}

static rheos_status *at_zip(rheos__dataset *d, int64_t index, rheos__step *step,
                            rheos_tensor **element) {
  int32_t at = 0;
  for (int32_t i = 0; i < d->num_inputs; ++i) {
    rheos_status *status = rheos__dataset_at(d->inputs[i], index, step, element + at);
    if (status != NULL) {
      rheos__element_clear(element, at);
      return status;
    }
    at += d->inputs[i]->num_components;
  }
  return NULL;
}

static const rheos__dataset_kind zip_kind = {.name = "Zip",
                                             .iterator_bytes = sizeof(many),
                                             .init = init_zip,
                                             .start = start_many,
                                             .finish = finish_many,
                                             .next = next_zip,
                                             .state = transfer_many,
                                             .cardinality = cardinality_zip,
                                             .at = at_zip};
RHEOS_DATASET_OP(ZipDataset, zip_kind, "input_datasets: N * variant",
                 RHEOS_DATASET_TYPES "; N: int >= 1; metadata: string = \"\"",
                 "The components of the elements of all datasets, side by side.")

// ---- Concatenate

typedef struct concatenated {
  rheos__iterator base;
  int64_t which;
} concatenated;

static rheos_status *init_alike(rheos__dataset *d) {
  for (int32_t i = 0; i < d->num_inputs; ++i) {
    RHEOS_TRY(rheos__dataset_same_types(d, d->inputs[i]));
  }
  return NULL;
}

static rheos_status *next_concatenated(rheos__iterator *iterator, rheos__step *step,
                                       rheos_tensor **element, bool *out_end) {
  concatenated *it = (concatenated *)iterator;
  for (*out_end = true; it->base.input != NULL;) {
    RHEOS_TRY(rheos__iterator_next(it->base.input, step, element, out_end));
    if (!*out_end) return NULL;
    rheos__iterator_free(it->base.input);
    it->base.input = NULL;
    if (++it->which > 1) return NULL;
    RHEOS_TRY(rheos__iterator_new(iterator->dataset->inputs[1], step, &it->base.input));
  }
  return NULL;
}

static rheos_status *start_concatenated(rheos__iterator *iterator, rheos__step *step) {
  return rheos__iterator_new(iterator->dataset->inputs[0], step, &iterator->input);
}

static rheos_status *transfer_concatenated(rheos__iterator *iterator, rheos__saved_state *state,
                                           rheos__step *step) {
  concatenated *it = (concatenated *)iterator;
  RHEOS_TRY(rheos__state_ints(state, &it->which, 1));
  if (state->is_restoring) {
    rheos__iterator_free(it->base.input);
    it->base.input = NULL;
    if (it->which != 0 && it->which != 1) return NULL;
    RHEOS_TRY(rheos__iterator_new(iterator->dataset->inputs[it->which], step, &it->base.input));
  }
  return it->base.input != NULL ? rheos__iterator_transfer(it->base.input, state, step) : NULL;
}

static int64_t cardinality_sum(const rheos__dataset *d) {
  const int64_t a = cardinality_of(d, 0), b = cardinality_of(d, 1);
  if (a == RHEOS__CARDINALITY_INFINITE || b == RHEOS__CARDINALITY_INFINITE) {
    return RHEOS__CARDINALITY_INFINITE;
  }
  int64_t sum;
  if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum)) return RHEOS__CARDINALITY_UNKNOWN;
  return sum;
}

static rheos_status *at_concatenated(rheos__dataset *d, int64_t index, rheos__step *step,
                                     rheos_tensor **element) {
  const int64_t first = cardinality_of(d, 0);
  return index < first ? rheos__dataset_at(d->inputs[0], index, step, element)
                       : rheos__dataset_at(d->inputs[1], index - first, step, element);
}

static const rheos__dataset_kind concatenate_kind = {.name = "Concatenate",
                                                     .iterator_bytes = sizeof(concatenated),
                                                     .init = init_alike,
                                                     .start = start_concatenated,
                                                     .next = next_concatenated,
                                                     .state = transfer_concatenated,
                                                     .cardinality = cardinality_sum,
                                                     .at = at_concatenated};
RHEOS_DATASET_OP(ConcatenateDataset, concatenate_kind,
                 "input_dataset: variant, another_dataset: variant",
                 RHEOS_DATASET_TYPES "; metadata: string = \"\"",
                 "The elements of one dataset, then those of the other.")

// What passes over elements asks now and then whether the step is to stop.
static rheos_status *poll_at(int64_t count, rheos__step *step) {
  if ((count & 1023) != 0 || !rheos__step_should_stop(step)) return NULL;
  return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
}

// ---- DirectedInterleave

static const char *const directed_options[] = {"stop_on_empty_dataset", NULL};

static rheos_status *init_directed(rheos__dataset *d) {
  const rheos__dataset *selector = d->inputs[0];
  if (selector->num_components != 1 || selector->types[0] != RHEOS_INT64) {
    return RHEOS_INVALID("The selector dataset must have one component, of int64.");
  }
  for (int32_t i = 1; i < d->num_inputs; ++i) {
    RHEOS_TRY(rheos__dataset_same_types(d, d->inputs[i]));
  }
  return NULL;
}

static rheos_status *select_next(many *it, rheos__step *step, int64_t *out_which, bool *out_end) {
  rheos_tensor *selected = NULL;
  RHEOS_TRY(rheos__iterator_next(it->inputs[0], step, &selected, out_end));
  if (*out_end) return NULL;
  rheos_status *status = NULL;
  const int64_t count = it->base.dataset->num_inputs - 1;
  if (selected->num_elements != 1) {
    status = RHEOS_INVALID("Selector index must be a scalar.");
  } else {
    *out_which = *(const int64_t *)selected->data;
    if (*out_which < 0 || *out_which >= count) {
      status = RHEOS_INVALID("Selector index out of range: %lld >= %lld", (long long)*out_which,
                             (long long)count);
    }
  }
  rheos_tensor_unref(selected);
  return status;
}

static rheos_status *next_directed(rheos__iterator *iterator, rheos__step *step,
                                   rheos_tensor **element, bool *out_end) {
  many *it = (many *)iterator;
  const bool stops = rheos__dataset_options(iterator->dataset)[0] != 0;
  for (int64_t passed = 1;; ++passed) {
    int64_t which = 0;
    *out_end = it->inputs[0] == NULL;
    if (*out_end) return NULL;
    RHEOS_TRY(poll_at(passed, step));
    RHEOS_TRY(select_next(it, step, &which, out_end));
    rheos__iterator **chosen = *out_end ? &it->inputs[0] : &it->inputs[1 + which];
    if (!*out_end && *chosen == NULL) continue;  // that one has ended
    if (!*out_end) RHEOS_TRY(rheos__iterator_next(*chosen, step, element, out_end));
    if (!*out_end) return NULL;
    rheos__iterator_free(*chosen);
    *chosen = NULL;
    bool any = false;
    for (int32_t i = 1; i < iterator->dataset->num_inputs; ++i) any = any || it->inputs[i] != NULL;
    if (any && !stops) continue;
    rheos__iterator_free(it->inputs[0]);
    it->inputs[0] = NULL;
  }
}

// Of endless data, whatever the selector says.
static int64_t cardinality_directed(const rheos__dataset *d) {
  for (int32_t i = 1; i < d->num_inputs; ++i) {
    if (cardinality_of(d, i) == RHEOS__CARDINALITY_INFINITE) return RHEOS__CARDINALITY_INFINITE;
  }
  return RHEOS__CARDINALITY_UNKNOWN;
}

static const rheos__dataset_kind directed_kind = {.name = "DirectedInterleave",
                                                  .iterator_bytes = sizeof(many),
                                                  .options = directed_options,
                                                  .init = init_directed,
                                                  .start = start_many,
                                                  .finish = finish_many,
                                                  .next = next_directed,
                                                  .state = transfer_many,
                                                  .cardinality = cardinality_directed};
#define DIRECTED(op)                                                                         \
  RHEOS_DATASET_OP(op, directed_kind,                                                        \
                   "selector_input_dataset: variant, data_input_datasets: N * variant",      \
                   RHEOS_DATASET_TYPES "; N: int >= 1; stop_on_empty_dataset: bool = false", \
                   "Elements of those datasets which the elements of the selector name.")
DIRECTED(DirectedInterleaveDataset)
DIRECTED(ExperimentalDirectedInterleaveDataset)

// ---- Take, Skip, Shard

typedef struct counted {
  rheos__iterator base;
  int64_t done;
} counted;

typedef struct amounts {
  int64_t first, second;
} amounts;

static rheos_status *transfer_counted(rheos__iterator *iterator, rheos__saved_state *state,
                                      rheos__step *step) {
  (void)step;
  return rheos__state_ints(state, &((counted *)iterator)->done, 1);
}

static rheos_status *init_count(rheos__dataset *d) {
  return rheos__dataset_int(d, 1, "count", &((amounts *)d->data)->first);
}

static rheos_status *next_take(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                               bool *out_end) {
  counted *it = (counted *)iterator;
  const int64_t count = ((const amounts *)iterator->dataset->data)->first;
  *out_end = count >= 0 && it->done >= count;
  if (*out_end) return NULL;
  RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
  if (!*out_end) ++it->done;
  return NULL;
}

static int64_t cardinality_take(const rheos__dataset *d) {
  const int64_t count = ((const amounts *)d->data)->first, all = cardinality_of(d, 0);
  if (count < 0) return all;
  if (count == 0) return 0;
  if (all == RHEOS__CARDINALITY_UNKNOWN) return all;
  return all == RHEOS__CARDINALITY_INFINITE || all > count ? count : all;
}

static rheos_status *next_skip(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                               bool *out_end) {
  counted *it = (counted *)iterator;
  const int64_t count = ((const amounts *)iterator->dataset->data)->first;
  *out_end = count < 0;
  for (; !*out_end && it->done < count; it->done += !*out_end) {
    RHEOS_TRY(rheos__iterator_skip(iterator->input, step, out_end));
    RHEOS_TRY(poll_at(it->done, step));
  }
  return *out_end ? NULL : rheos__iterator_next(iterator->input, step, element, out_end);
}

static int64_t cardinality_skip(const rheos__dataset *d) {
  const int64_t count = ((const amounts *)d->data)->first, all = cardinality_of(d, 0);
  if (count < 0) return 0;
  if (all < 0) return all;
  return all > count ? all - count : 0;
}

static rheos_status *init_shard(rheos__dataset *d) {
  amounts *a = d->data;
  RHEOS_TRY(rheos__dataset_int(d, 1, "num_shards", &a->first));
  RHEOS_TRY(rheos__dataset_int(d, 2, "index", &a->second));
  if (a->first < 1) {
    return RHEOS_INVALID(
        "Number of shards must be greater than zero (currently num_shards = %lld).",
        (long long)a->first);
  }
  if (a->second >= 0 && a->second < a->first) return NULL;
  return RHEOS_INVALID("Index must be between 0 and %lld (currently index = %lld).",
                       (long long)a->first - 1, (long long)a->second);
}

static rheos_status *next_shard(rheos__iterator *iterator, rheos__step *step,
                                rheos_tensor **element, bool *out_end) {
  counted *it = (counted *)iterator;
  const amounts *a = iterator->dataset->data;
  for (*out_end = false; it->done % a->first != a->second; ++it->done) {
    RHEOS_TRY(rheos__iterator_skip(iterator->input, step, out_end));
    if (*out_end) return NULL;
    RHEOS_TRY(poll_at(it->done, step));
  }
  RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
  if (!*out_end) ++it->done;
  return NULL;
}

static int64_t cardinality_shard(const rheos__dataset *d) {
  const amounts *a = d->data;
  const int64_t all = cardinality_of(d, 0);
  return all < 0 ? all : all / a->first + (all % a->first > a->second);
}

static rheos_status *at_skip(rheos__dataset *d, int64_t index, rheos__step *step,
                             rheos_tensor **element) {
  const int64_t count = ((const amounts *)d->data)->first;
  return rheos__dataset_at(d->inputs[0], count + index, step, element);
}

static rheos_status *at_shard(rheos__dataset *d, int64_t index, rheos__step *step,
                              rheos_tensor **element) {
  const amounts *a = d->data;
  return rheos__dataset_at(d->inputs[0], a->first * index + a->second, step, element);
}

#define COUNTED_KIND(variable, text, init_fn, next_fn, cardinality_fn, at_fn)     \
  static const rheos__dataset_kind variable = {.name = text,                      \
                                               .data_bytes = sizeof(amounts),     \
                                               .iterator_bytes = sizeof(counted), \
                                               .opens_input = true,               \
                                               .like_input = true,                \
                                               .init = init_fn,                   \
                                               .next = next_fn,                   \
                                               .state = transfer_counted,         \
                                               .cardinality = cardinality_fn,     \
                                               .at = at_fn}
COUNTED_KIND(take_kind, "Take", init_count, next_take, cardinality_take, rheos__dataset_at_input);
COUNTED_KIND(skip_kind, "Skip", init_count, next_skip, cardinality_skip, at_skip);
COUNTED_KIND(shard_kind, "Shard", init_shard, next_shard, cardinality_shard, at_shard);

#define METADATA "; metadata: string = \"\""
RHEOS_DATASET_OP(TakeDataset, take_kind, "input_dataset: variant, count: int64",
                 RHEOS_DATASET_TYPES METADATA, "The first `count` elements; all, if that is -1.")
RHEOS_DATASET_OP(SkipDataset, skip_kind, "input_dataset: variant, count: int64",
                 RHEOS_DATASET_TYPES METADATA, "What follows the first `count` elements.")
RHEOS_DATASET_OP(ShardDataset, shard_kind,
                 "input_dataset: variant, num_shards: int64, index: int64",
                 "; require_non_empty: bool = false" RHEOS_DATASET_TYPES METADATA,
                 "Every `num_shards`th element, from the `index`th on.")

// ---- Repeat

static rheos_status *next_repeat(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  counted *it = (counted *)iterator;
  const int64_t count = ((const amounts *)iterator->dataset->data)->first;
  for (;;) {
    const bool is_first = iterator->input == NULL;
    *out_end = count >= 0 && it->done >= count;
    if (*out_end) return NULL;
    if (is_first) {
      RHEOS_TRY(rheos__iterator_new(iterator->dataset->inputs[0], step, &iterator->input));
    }
    RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
    if (!*out_end) return NULL;
    rheos__iterator_free(iterator->input);
    iterator->input = NULL;
    // Nothing at all: an endless repetition of that would give nothing for ever.
    if (is_first && count < 0) return NULL;
    ++it->done;
  }
}

static int64_t held_by_repeat(rheos__iterator *iterator, int64_t most,
                              rheos_tensor *const **out_tensors) {
  if (iterator->input == NULL) return 0;
  return rheos__iterator_held(iterator->input, most, out_tensors);
}

static void pass_repeat(rheos__iterator *iterator, int64_t count) {
  rheos__iterator_pass(iterator->input, count);
}

static rheos_status *transfer_repeat(rheos__iterator *iterator, rheos__saved_state *state,
                                     rheos__step *step) {
  int64_t is_open = iterator->input != NULL;
  RHEOS_TRY(rheos__state_ints(state, &is_open, 1));
  RHEOS_TRY(transfer_counted(iterator, state, step));
  if (state->is_restoring && is_open) {
    RHEOS_TRY(rheos__iterator_new(iterator->dataset->inputs[0], step, &iterator->input));
  }
  return is_open ? rheos__iterator_transfer(iterator->input, state, step) : NULL;
}

static int64_t cardinality_repeat(const rheos__dataset *d) {
  const int64_t count = ((const amounts *)d->data)->first, all = cardinality_of(d, 0);
  if (count == 0 || all == 0) return 0;
  if (count < 0) return all == RHEOS__CARDINALITY_UNKNOWN ? all : RHEOS__CARDINALITY_INFINITE;
  int64_t product;
  if (all < 0) return all;
  return __builtin_mul_overflow(count, all, &product) ? RHEOS__CARDINALITY_UNKNOWN : product;
}

static rheos_status *at_repeat(rheos__dataset *d, int64_t index, rheos__step *step,
                               rheos_tensor **element) {
  return rheos__dataset_at(d->inputs[0], index % cardinality_of(d, 0), step, element);
}

static const rheos__dataset_kind repeat_kind = {.name = "Repeat",
                                                .data_bytes = sizeof(amounts),
                                                .iterator_bytes = sizeof(counted),
                                                .like_input = true,
                                                .init = init_count,
                                                .next = next_repeat,
                                                .held = held_by_repeat,
                                                .pass = pass_repeat,
                                                .state = transfer_repeat,
                                                .cardinality = cardinality_repeat,
                                                .at = at_repeat};
RHEOS_DATASET_OP(RepeatDataset, repeat_kind, "input_dataset: variant, count: int64",
                 RHEOS_DATASET_TYPES METADATA,
                 "The elements again and again, `count` times; without an end, if that is -1.")
