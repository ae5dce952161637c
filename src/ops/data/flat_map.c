// Datasets of the elements of datasets that a function makes of elements: flat_map, interleave.
#include "ops/data/dataset.h"

typedef struct interleave_data {
  int64_t cycle, block;
  int64_t num_ahead;  // of the datasets that are made ahead
  bool replaces;      // a dataset that ends is followed by a new one in its place at once
} interleave_data;

// One of the datasets that are gone over by turns.
typedef struct turn {
  rheos_tensor **made_of;  // the element, to be saved; NULL tensors: none
  rheos__iterator *iterator;
} turn;

typedef struct interleave {
  rheos__iterator base;
  turn *turns;
  int64_t at[3];  // turn, element of the block, whether the input has ended
  int64_t num_open;
} interleave;

// More turns than anybody asks for: a bound for memory.
enum { MOST_TURNS = 1 << 20 };

static rheos_status *check_function(rheos__dataset *d) {
  const rheos__dataset *input = d->inputs[0];
  RHEOS_TRY(rheos__dataset_takes(d, 0, input->types, input->num_components));
  return rheos__dataset_gives_one(d, 0, RHEOS_VARIANT);
}

static rheos_status *init_flat_map(rheos__dataset *d) {
  *(interleave_data *)d->data = (interleave_data){.cycle = 1, .block = INT64_MAX};
  return check_function(d);
}

static rheos_status *read_interleave(rheos__dataset *d, int32_t cycle_arg) {
  interleave_data *data = d->data;
  RHEOS_TRY(rheos__dataset_int(d, cycle_arg, "cycle_length", &data->cycle));
  RHEOS_TRY(rheos__dataset_int(d, cycle_arg + 1, "block_length", &data->block));
  if (data->cycle == -1) data->cycle = 4;  // left to the library
  if (data->cycle <= 0) return RHEOS_INVALID("cycle_length must be greater than zero.");
  if (data->block <= 0) return RHEOS_INVALID("block_length must be greater than zero.");
  if (data->cycle > MOST_TURNS) {
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "cycle_length is %lld, more than %d",
                            (long long)data->cycle, MOST_TURNS);
  }
  return check_function(d);
}

static int32_t behind_captured(const rheos__dataset *d) {
  return 1 + rheos__dataset_function(d, 0)->num_captured;
}

static rheos_status *init_interleave(rheos__dataset *d) {
  return read_interleave(d, behind_captured(d));
}

// Datasets whose order of calls could be seen are not made ahead.
static rheos_status *init_parallel(rheos__dataset *d) {
  interleave_data *data = d->data;
  int64_t num_calls;
  RHEOS_TRY(init_interleave(d));
  RHEOS_TRY(rheos__dataset_int(d, d->num_args - 1, "num_parallel_calls", &num_calls));
  if (num_calls < 1 && num_calls != -1) {
    return RHEOS_INVALID("num_parallel_calls must be greater than zero.");
  }
  if (rheos__dataset_function(d, 0)->has_effects) return NULL;
  data->num_ahead = num_calls > 0 && num_calls < data->cycle ? num_calls : data->cycle;
  return NULL;
}

static rheos_status *init_parallel_1(rheos__dataset *d) {
  interleave_data *data = d->data;
  data->replaces = true;
  RHEOS_TRY(init_interleave(d));
  if (!rheos__dataset_function(d, 0)->has_effects) data->num_ahead = data->cycle;
  return NULL;
}

static rheos_status *start_interleave(rheos__iterator *iterator, rheos__step *step) {
  (void)step;
  interleave *it = (interleave *)iterator;
  const interleave_data *data = iterator->dataset->data;
  const int32_t count = iterator->dataset->inputs[0]->num_components;
  it->turns = rheos__alloc_array((size_t)data->cycle, sizeof *it->turns);
  for (int64_t i = 0; it->turns != NULL && i < data->cycle; ++i) {
    it->turns[i].made_of = rheos__alloc_array((size_t)count, sizeof *it->turns[i].made_of);
    if (it->turns[i].made_of == NULL) return rheos__out_of_memory();
  }
  return it->turns != NULL ? NULL : rheos__out_of_memory();
}

static void close_turn(interleave *it, turn *t) {
  it->num_open -= t->iterator != NULL;
  rheos__iterator_free(t->iterator);
  t->iterator = NULL;
  rheos__element_clear(t->made_of, it->base.dataset->inputs[0]->num_components);
}

static void finish_interleave(rheos__iterator *iterator) {
  interleave *it = (interleave *)iterator;
  const interleave_data *data = iterator->dataset->data;
  for (int64_t i = 0; it->turns != NULL && i < data->cycle; ++i) {
    if (it->turns[i].made_of == NULL) break;
    close_turn(it, &it->turns[i]);
    rheos__free(it->turns[i].made_of);
  }
  rheos__free(it->turns);
}

// The dataset of the element in `made_of`, which stays there.
static rheos_status *open_turn(interleave *it, turn *t, rheos__step *step) {
  const rheos__dataset *d = it->base.dataset;
  const int32_t count = d->inputs[0]->num_components;
  rheos_tensor **element = rheos__alloc_array((size_t)count, sizeof *element);
  if (element == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < count; ++i) element[i] = rheos_tensor_ref(t->made_of[i]);
  const bool is_ahead = t - it->turns < ((const interleave_data *)d->data)->num_ahead;
  rheos_status *status =
      rheos__dataset_open_take(d, 0, element, count, is_ahead, step, &t->iterator);
  rheos__free(element);
  it->num_open += status == NULL;
  return status;
}

static rheos_status *next_turn(interleave *it, turn *t, rheos__step *step) {
  bool end = false;
  RHEOS_TRY(rheos__iterator_next(it->base.input, step, t->made_of, &end));
  it->at[2] = end;
  if (end) return NULL;
  rheos_status *status = open_turn(it, t, step);
  if (status != NULL) close_turn(it, t);
  return status;
}

static void advance(interleave *it, const interleave_data *data) {
  it->at[1] = 0;
  it->at[0] = (it->at[0] + 1) % data->cycle;
}

static rheos_status *next_interleave(rheos__iterator *iterator, rheos__step *step,
                                     rheos_tensor **element, bool *out_end) {
  interleave *it = (interleave *)iterator;
  const interleave_data *data = iterator->dataset->data;
  while (!it->at[2] || it->num_open > 0) {
    turn *t = &it->turns[it->at[0]];
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
    if (t->iterator != NULL) {
      RHEOS_TRY(rheos__iterator_next(t->iterator, step, element, out_end));
      if (!*out_end) {
        if (++it->at[1] == data->block) advance(it, data);
        return NULL;
      }
      close_turn(it, t);
      if (data->replaces && !it->at[2]) {
        it->at[1] = 0;
      } else {
        advance(it, data);
      }
    } else if (!it->at[2]) {
      RHEOS_TRY(next_turn(it, t, step));
    } else {
      advance(it, data);
    }
  }
  *out_end = true;
  return NULL;
}

static rheos_status *transfer_interleave(rheos__iterator *iterator, rheos__saved_state *state,
                                         rheos__step *step) {
  interleave *it = (interleave *)iterator;
  const interleave_data *data = iterator->dataset->data;
  const int32_t count = iterator->dataset->inputs[0]->num_components;
  RHEOS_TRY(rheos__state_ints(state, it->at, 3));
  if (it->at[0] < 0 || it->at[0] >= data->cycle) {
    it->at[0] = 0;
    return RHEOS_INVALID("the state of the iterator is that of another pipeline");
  }
  for (int64_t i = 0; i < data->cycle; ++i) {
    turn *t = &it->turns[i];
    int64_t is_open = t->iterator != NULL;
    RHEOS_TRY(rheos__state_ints(state, &is_open, 1));
    if (state->is_restoring) close_turn(it, t);
    if (!is_open) continue;
    RHEOS_TRY(rheos__state_tensors(state, t->made_of, count));
    for (int32_t k = 0; k < count; ++k) {
      if (t->made_of[k] == NULL) return RHEOS_INVALID("the state of the iterator is incomplete");
    }
    if (state->is_restoring) RHEOS_TRY(open_turn(it, t, step));
    RHEOS_TRY(rheos__iterator_transfer(t->iterator, state, step));
  }
  return NULL;
}

#define INTERLEAVE_KIND(variable, text, init_fn, cardinality_fn)                      \
  static const rheos__dataset_kind variable = {.name = text,                          \
                                               .data_bytes = sizeof(interleave_data), \
                                               .iterator_bytes = sizeof(interleave),  \
                                               .opens_input = true,                   \
                                               .init = init_fn,                       \
                                               .start = start_interleave,             \
                                               .finish = finish_interleave,           \
                                               .next = next_interleave,               \
                                               .state = transfer_interleave,          \
                                               .cardinality = cardinality_fn}
INTERLEAVE_KIND(flat_map_kind, "FlatMap", init_flat_map, NULL);
INTERLEAVE_KIND(interleave_kind, "Interleave", init_interleave, NULL);
INTERLEAVE_KIND(parallel_kind, "ParallelInterleave", init_parallel, rheos__cardinality_endless);
INTERLEAVE_KIND(parallel_1_kind, "ParallelInterleave", init_parallel_1, NULL);

#define F_ATTRS "; f: func; Targuments: list(type) >= 0" RHEOS_DATASET_TYPES
#define METADATA "; metadata: string = \"\""
#define INTERLEAVE_INPUTS \
  "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64"

RHEOS_DATASET_OP(FlatMapDataset, flat_map_kind,
                 "input_dataset: variant, other_arguments: Targuments", F_ATTRS METADATA,
                 "The elements of the datasets that `f` makes of elements, one after the other.")
RHEOS_DATASET_OP(InterleaveDataset, interleave_kind, INTERLEAVE_INPUTS, F_ATTRS METADATA,
                 "Those of `cycle_length` datasets that `f` makes, by turns of `block_length`.")
#define PARALLEL_1(op)                                                                        \
  RHEOS_DATASET_OP(op, parallel_1_kind,                                                       \
                   INTERLEAVE_INPUTS                                                          \
                   ", sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: " \
                   "int64",                                                                   \
                   F_ATTRS METADATA,                                                          \
                   "Those of `cycle_length` datasets that `f` makes, by turns of `block_length`.")
PARALLEL_1(ParallelInterleaveDataset)
PARALLEL_1(ExperimentalParallelInterleaveDataset)
RHEOS_DATASET_OP(LegacyParallelInterleaveDatasetV2, parallel_1_kind,
                 INTERLEAVE_INPUTS
                 ", buffer_output_elements: int64, prefetch_input_elements: int64",
                 "; f: func; deterministic: string = \"default\"; Targuments: list(type) >= "
                 "0" RHEOS_DATASET_TYPES METADATA,
                 "Those of `cycle_length` datasets that `f` makes, by turns of `block_length`.")
RHEOS_DATASET_OP(ParallelInterleaveDatasetV2, parallel_kind,
                 INTERLEAVE_INPUTS ", num_parallel_calls: int64", F_ATTRS "; sloppy: bool = false",
                 "Those of `cycle_length` datasets that `f` makes, by turns of `block_length`.")
RHEOS_DATASET_OP(ParallelInterleaveDatasetV3, parallel_kind,
                 INTERLEAVE_INPUTS ", num_parallel_calls: int64",
                 "; f: func; deterministic: string = \"default\"; Targuments: list(type) >= "
                 "0" RHEOS_DATASET_TYPES METADATA,
                 "Those of `cycle_length` datasets that `f` makes, by turns of `block_length`.")
RHEOS_DATASET_OP(ParallelInterleaveDatasetV4, parallel_kind,
                 INTERLEAVE_INPUTS
                 ", buffer_output_elements: int64, prefetch_input_elements: "
                 "int64, num_parallel_calls: int64",
                 "; f: func; deterministic: string = \"default\"; Targuments: list(type) >= "
                 "0" RHEOS_DATASET_TYPES METADATA,
                 "Those of `cycle_length` datasets that `f` makes, by turns of `block_length`.")
