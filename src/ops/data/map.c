// Datasets that call a function with each element: map, filter, take_while, scan.
#include "ops/data/dataset.h"
#include "ops/data/element.h"
#include "ops/data/mapped.h"
#include "ops/data/stage.h"

// Room for one element; the stack's, or memory for rheos__free() where that is too small.
enum { FEW = 16 };
typedef struct room {
  rheos_tensor *few[FEW];
  rheos_tensor **tensors;
} room;

static rheos_status *room_init(room *r, int32_t count) {
  r->tensors = r->few;
  if (count > FEW) {
    r->tensors = rheos__alloc_array((size_t)count, sizeof *r->tensors);
    return r->tensors != NULL ? NULL : rheos__out_of_memory();
  }
  for (int32_t i = 0; i < count; ++i) r->few[i] = NULL;
  return NULL;
}

static void room_deinit(room *r) {
  if (r->tensors != r->few) rheos__free(r->tensors);
}

// ---- Map

static rheos_status *init_map(rheos__dataset *d) {
  const rheos__dataset *input = d->inputs[0];
  RHEOS_TRY(rheos__dataset_takes(d, 0, input->types, input->num_components));
  return rheos__dataset_gives(d, 0, d->types, d->num_components);
}

rheos_status *rheos__mapped_end(const rheos__dataset *d, rheos_status *status, bool *out_end) {
  if (status == NULL || rheos_status_code(status) != RHEOS_OUT_OF_RANGE) return status;
  const int64_t *options = rheos__dataset_options(d);
  if (options[0] != 0) {
    rheos_status *other = RHEOS_INVALID("Function invocation produced OutOfRangeError: %s",
                                        rheos_status_message(status));
    rheos_status_free(status);
    return other;
  }
  rheos_status_free(status);
  *out_end = true;
  return NULL;
}

static rheos_status *next_map(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                              bool *out_end) {
  const rheos__dataset *d = iterator->dataset;
  const int32_t count = d->inputs[0]->num_components;
  room r;
  RHEOS_TRY(room_init(&r, count));
  rheos_status *status = rheos__iterator_next(iterator->input, step, r.tensors, out_end);
  if (status == NULL && !*out_end) {
    status = rheos__dataset_call_take(d, 0, r.tensors, count, step, element);
    status = rheos__mapped_end(d, status, out_end);
  }
  room_deinit(&r);
  return status;
}

static int64_t cardinality_map(const rheos__dataset *d) {
  return rheos__dataset_cardinality(d->inputs[0]);
}

static rheos_status *at_map(rheos__dataset *d, int64_t index, rheos__step *step,
                            rheos_tensor **element) {
  const int32_t count = d->inputs[0]->num_components;
  room r;
  RHEOS_TRY(room_init(&r, count));
  rheos_status *status = rheos__dataset_at(d->inputs[0], index, step, r.tensors);
  if (status == NULL) status = rheos__dataset_call_take(d, 0, r.tensors, count, step, element);
  room_deinit(&r);
  return status;
}

static const char *const map_options[] = {"preserve_cardinality", NULL};
static const rheos__dataset_kind map_kind = {.name = "Map",
                                             .opens_input = true,
                                             .takes_places = true,
                                             .options = map_options,
                                             .init = init_map,
                                             .next = next_map,
                                             .cardinality = cardinality_map,
                                             .at = at_map};

// ---- The same by several threads

typedef struct parallel_data {
  int64_t num_calls;
  bool any_order;
} parallel_data;

typedef struct parallel_map {
  rheos__iterator base;
  rheos__stage *stage;
} parallel_map;

static const char *const order_options[] = {"preserve_cardinality", "sloppy", "deterministic",
                                            NULL};

static rheos_status *init_parallel_map(rheos__dataset *d) {
  parallel_data *data = d->data;
  const int64_t *options = rheos__dataset_options(d);
  RHEOS_TRY(rheos__dataset_int(d, d->num_args - 1, "num_parallel_calls", &data->num_calls));
  if (data->num_calls < 1 && data->num_calls != -1) {
    return RHEOS_INVALID("num_parallel_calls must be greater than zero.");
  }
  data->any_order = options[1] != 0 || options[2] == RHEOS__ORDER_ANY;
  return init_map(d);
}

static rheos_status *work_map(const rheos__dataset *d, rheos_tensor **raw, rheos_tensor **element,
                              rheos__step *step) {
  return rheos__dataset_call_take(d, 0, raw, d->inputs[0]->num_components, step, element);
}

rheos_status *rheos__mapped_stage(rheos__iterator *iterator, int64_t num_calls, int64_t buffer,
                                  bool any_order, rheos__step *step, rheos__stage **out_stage) {
  const rheos__dataset *d = iterator->dataset;
  const rheos__stage_options options = {
      .buffer = buffer,
      .parallelism = num_calls,
      .any_order = any_order,
      .one_by_one = !any_order && rheos__dataset_function(d, 0)->has_effects,
      .work = work_map};
  return rheos__stage_new(iterator, &options, step, out_stage);
}

static rheos_status *start_parallel_map(rheos__iterator *iterator, rheos__step *step) {
  const parallel_data *data = iterator->dataset->data;
  return rheos__mapped_stage(iterator, data->num_calls, data->num_calls, data->any_order, step,
                             &((parallel_map *)iterator)->stage);
}

static void finish_parallel_map(rheos__iterator *iterator) {
  rheos__stage_leave(((parallel_map *)iterator)->stage, iterator);
}

static rheos_status *next_parallel_map(rheos__iterator *iterator, rheos__step *step,
                                       rheos_tensor **element, bool *out_end) {
  rheos__stage *stage = ((parallel_map *)iterator)->stage;
  rheos_status *status = rheos__stage_next(stage, step, element, out_end);
  return rheos__mapped_end(iterator->dataset, status, out_end);
}

static void count_parallel_map(rheos__iterator *iterator, rheos__stage_counts *out_counts) {
  rheos__stage_count(((parallel_map *)iterator)->stage, out_counts);
}

static void batch_parallel_map(rheos__iterator *iterator, int64_t size) {
  rheos__stage_will_batch(((parallel_map *)iterator)->stage, size);
}

static rheos_status *pause_parallel_map(rheos__iterator *iterator, rheos__step *step) {
  return rheos__stage_pause(((parallel_map *)iterator)->stage, step);
}

static rheos_status *transfer_parallel_map(rheos__iterator *iterator, rheos__saved_state *state,
                                           rheos__step *step) {
  (void)step;
  return rheos__stage_transfer(((parallel_map *)iterator)->stage, state);
}

static const rheos__dataset_kind parallel_map_kind = {.name = "ParallelMap",
                                                      .data_bytes = sizeof(parallel_data),
                                                      .iterator_bytes = sizeof(parallel_map),
                                                      .opens_input = true,
                                                      .options = order_options,
                                                      .init = init_parallel_map,
                                                      .start = start_parallel_map,
                                                      .finish = finish_parallel_map,
                                                      .next = next_parallel_map,
                                                      .pause = pause_parallel_map,
                                                      .count = count_parallel_map,
                                                      .will_batch = batch_parallel_map,
                                                      .state = transfer_parallel_map,
                                                      .cardinality = cardinality_map,
                                                      .at = at_map};

#define FUNCTION_ATTRS(name) "; " name ": func; Targuments: list(type) >= 0" RHEOS_DATASET_TYPES
#define MAP_ATTRS                                                          \
  FUNCTION_ATTRS("f")                                                      \
  "; use_inter_op_parallelism: bool = true; preserve_cardinality: bool = " \
  "false; force_synchronous: bool = false; metadata: string = \"\""
#define MAP(op)                                                                                    \
  RHEOS_DATASET_OP(op, map_kind, "input_dataset: variant, other_arguments: Targuments", MAP_ATTRS, \
                   "What `f` gives for each element and for `other_arguments`.")
MAP(MapDataset)
MAP(ExperimentalMapDataset)
RHEOS_DATASET_OP(ParallelMapDataset, parallel_map_kind,
                 "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int32",
                 FUNCTION_ATTRS("f") "; use_inter_op_parallelism: bool = true; sloppy: bool = "
                                     "false; preserve_cardinality: bool = false",
                 "MapDataset with up to `num_parallel_calls` calls at a time, in order.")
RHEOS_DATASET_OP(ParallelMapDatasetV2, parallel_map_kind,
                 "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64",
                 FUNCTION_ATTRS("f") "; use_inter_op_parallelism: bool = true; deterministic: "
                                     "string = \"default\"; preserve_cardinality: bool = false; "
                                     "use_unbounded_threadpool: bool = false; metadata: string = "
                                     "\"\"",
                 "MapDataset with up to `num_parallel_calls` calls at a time, in order.")

// ---- Filter, TakeWhile

static rheos_status *init_filter(rheos__dataset *d) {
  RHEOS_TRY(rheos__dataset_takes(d, 0, d->types, d->num_components));
  return rheos__dataset_gives_one(d, 0, RHEOS_BOOL);
}

// Whether the predicate holds of the element, which stays.
static rheos_status *test_element(const rheos__dataset *d, rheos_tensor *const *element,
                                  rheos__step *step, bool *out_holds) {
  room r;
  RHEOS_TRY(room_init(&r, d->num_components));
  for (int32_t i = 0; i < d->num_components; ++i) r.tensors[i] = rheos_tensor_ref(element[i]);
  rheos_status *status =
      rheos__dataset_test_take(d, 0, r.tensors, d->num_components, step, out_holds);
  room_deinit(&r);
  return status;
}

static rheos_status *next_filter(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  const rheos__dataset *d = iterator->dataset;
  for (;;) {
    bool holds = false;
    RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
    if (*out_end) return NULL;
    rheos_status *status = test_element(d, element, step, &holds);
    if (status == NULL && holds) return NULL;
    rheos__element_clear(element, d->num_components);
    if (status != NULL) return status;
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
}

static int64_t cardinality_filter(const rheos__dataset *d) {
  const int64_t count = rheos__dataset_cardinality(d->inputs[0]);
  return count == 0 ? 0 : RHEOS__CARDINALITY_UNKNOWN;
}

static const rheos__dataset_kind filter_kind = {.name = "Filter",
                                                .opens_input = true,
                                                .like_input = true,
                                                .init = init_filter,
                                                .next = next_filter,
                                                .cardinality = cardinality_filter};
RHEOS_DATASET_OP(FilterDataset, filter_kind, "input_dataset: variant, other_arguments: Targuments",
                 FUNCTION_ATTRS("predicate") "; metadata: string = \"\"",
                 "The elements for which `predicate` gives true.")
RHEOS_DATASET_OP(
    ParallelFilterDataset, filter_kind,
    "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64",
    "; predicate: func; deterministic: string = \"default\"; Targuments: list(type) >= "
    "0" RHEOS_DATASET_TYPES "; metadata: string = \"\"",
    "The elements for which `predicate` gives true, in order.")

typedef struct take_while {
  rheos__iterator base;
  int64_t has_ended;
} take_while;

static rheos_status *next_take_while(rheos__iterator *iterator, rheos__step *step,
                                     rheos_tensor **element, bool *out_end) {
  take_while *it = (take_while *)iterator;
  const rheos__dataset *d = iterator->dataset;
  *out_end = it->has_ended;
  if (*out_end) return NULL;
  RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
  if (*out_end) {
    it->has_ended = true;
    return NULL;
  }
  bool holds = false;
  rheos_status *status = test_element(d, element, step, &holds);
  if (status == NULL && holds) return NULL;
  rheos__element_clear(element, d->num_components);
  if (status == NULL) it->has_ended = *out_end = true;
  return status;
}

static rheos_status *state_take_while(rheos__iterator *iterator, rheos__saved_state *state,
                                      rheos__step *step) {
  (void)step;
  return rheos__state_ints(state, &((take_while *)iterator)->has_ended, 1);
}

static int64_t cardinality_unknown(const rheos__dataset *d) {
  (void)d;
  return RHEOS__CARDINALITY_UNKNOWN;
}

static const rheos__dataset_kind take_while_kind = {.name = "TakeWhile",
                                                    .iterator_bytes = sizeof(take_while),
                                                    .opens_input = true,
                                                    .like_input = true,
                                                    .init = init_filter,
                                                    .next = next_take_while,
                                                    .state = state_take_while,
                                                    .cardinality = cardinality_unknown};
#define TAKE_WHILE(op)                                                                         \
  RHEOS_DATASET_OP(op, take_while_kind, "input_dataset: variant, other_arguments: Targuments", \
                   FUNCTION_ATTRS("predicate") "; metadata: string = \"\"",                    \
                   "The elements before the first one for which `predicate` does not give true.")
TAKE_WHILE(TakeWhileDataset)
TAKE_WHILE(ExperimentalTakeWhileDataset)

// ---- FilterByLastComponent

static rheos_status *init_by_last(rheos__dataset *d) {
  const rheos__dataset *input = d->inputs[0];
  const int32_t last = d->num_components;
  if (input->num_components == last + 1 && input->types[last] == RHEOS_BOOL) return NULL;
  return RHEOS_INVALID("Expected a last component of dtype bool that the output does not have");
}

static rheos_status *next_by_last(rheos__iterator *iterator, rheos__step *step,
                                  rheos_tensor **element, bool *out_end) {
  const int32_t count = iterator->dataset->num_components;
  room r;
  RHEOS_TRY(room_init(&r, count + 1));
  rheos_status *status = NULL;
  for (bool found = false; status == NULL && !found;) {
    status = rheos__iterator_next(iterator->input, step, r.tensors, out_end);
    if (status != NULL || *out_end) break;
    const rheos_tensor *last = r.tensors[count];
    if (last->num_elements != 1) {
      status = RHEOS_INVALID("Last component must be a bool scalar");
    } else if (*(const bool *)last->data) {
      found = true;
      for (int32_t i = 0; i < count; ++i) {
        element[i] = r.tensors[i];
        r.tensors[i] = NULL;
      }
    }
    rheos__element_clear(r.tensors, count + 1);
  }
  room_deinit(&r);
  return status;
}

static const rheos__dataset_kind by_last_kind = {.name = "FilterByLastComponent",
                                                 .opens_input = true,
                                                 .init = init_by_last,
                                                 .next = next_by_last};
const rheos__op_def rheos__op_FilterByLastComponentDataset = {
    .name = "FilterByLastComponentDataset",
    .signature = "input_dataset: variant -> output: variant" RHEOS_DATASET_TYPES,
    .doc = "Elements whose last component is true, without that.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = rheos__prepare_dataset,
    .family = &by_last_kind,
};

// ---- Scan

typedef struct scan {
  rheos__iterator base;
  rheos_tensor **values;  // the state; then room for an element, and for results
} scan;

static int32_t num_scanned(const rheos__dataset *d) {
  return d->num_args - 1 - rheos__dataset_function(d, 0)->num_captured;
}

static rheos_status *init_scan(rheos__dataset *d) {
  const rheos__data_function *f = rheos__dataset_function(d, 0);
  const int32_t num_state = num_scanned(d), num_input = d->inputs[0]->num_components;
  if (num_state < 1 || f->num_args != num_state + num_input + f->num_captured) {
    return RHEOS_INVALID("the function of a scan takes state and element");
  }
  if (f->num_results != num_state + d->num_components) {
    return RHEOS_INVALID(
        "Expected `f` to return %d components but got %d: the state and the element",
        (int)(num_state + d->num_components), (int)f->num_results);
  }
  for (int32_t i = 0; i < f->num_args - f->num_captured; ++i) {
    const rheos_dtype type = i < num_state
                                 ? (d->args[1 + i] != NULL ? d->args[1 + i]->dtype : RHEOS_RESOURCE)
                                 : d->inputs[0]->types[i - num_state];
    if (d->args[1 + (i < num_state ? i : 0)] == NULL || f->arg_types[i] != type ||
        (i < num_state && f->result_types[i] != type)) {
      return RHEOS_INVALID("Data type mismatch at argument %d of the function of a scan", (int)i);
    }
  }
  for (int32_t i = 0; i < d->num_components; ++i) {
    if (f->result_types[num_state + i] != d->types[i]) {
      return RHEOS_INVALID("Data type mismatch at component %d of a scan", (int)i);
    }
  }
  return NULL;
}

static rheos_status *start_scan(rheos__iterator *iterator, rheos__step *step) {
  (void)step;
  scan *it = (scan *)iterator;
  const rheos__dataset *d = iterator->dataset;
  const int32_t count = num_scanned(d), inputs = d->inputs[0]->num_components;
  it->values =
      rheos__alloc_array((size_t)(2 * count + inputs + d->num_components), sizeof *it->values);
  if (it->values == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < count; ++i) it->values[i] = rheos_tensor_ref(d->args[1 + i]);
  return NULL;
}

static void finish_scan(rheos__iterator *iterator) {
  scan *it = (scan *)iterator;
  if (it->values != NULL) rheos__element_clear(it->values, num_scanned(iterator->dataset));
  rheos__free(it->values);
}

static rheos_status *next_scan(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                               bool *out_end) {
  scan *it = (scan *)iterator;
  const rheos__dataset *d = iterator->dataset;
  const int32_t count = num_scanned(d), inputs = d->inputs[0]->num_components;
  rheos_tensor **leading =
      it->values + count;  // of the element, then a copy of the state before it
  rheos_tensor **results = leading + inputs;
  RHEOS_TRY(rheos__iterator_next(iterator->input, step, leading, out_end));
  if (*out_end) return NULL;
  for (int32_t i = 0; i < count; ++i) rheos_tensor_ref(it->values[i]);
  rheos_tensor *kept[FEW];
  rheos_tensor **before = kept;
  if (count > FEW) before = rheos__alloc_array((size_t)count, sizeof *before);
  if (before == NULL) {
    for (int32_t i = 0; i < count; ++i) rheos_tensor_unref(it->values[i]);
    rheos__element_clear(leading, inputs);
    return rheos__out_of_memory();
  }
  memcpy(before, it->values, (size_t)count * sizeof *before);
  rheos_status *status = rheos__dataset_call_take(d, 0, it->values, count + inputs, step, results);
  if (status != NULL) {  // the state stays what it was
    memcpy(it->values, before, (size_t)count * sizeof *before);
  } else {
    for (int32_t i = 0; i < count; ++i) rheos_tensor_unref(before[i]);
    for (int32_t i = 0; i < count; ++i) it->values[i] = results[i];
    for (int32_t i = 0; i < d->num_components; ++i) element[i] = results[count + i];
    memset(results, 0, (size_t)(count + d->num_components) * sizeof *results);
  }
  if (before != kept) rheos__free(before);
  return status;
}

static rheos_status *state_scan(rheos__iterator *iterator, rheos__saved_state *state,
                                rheos__step *step) {
  (void)step;
  return rheos__state_tensors(state, ((scan *)iterator)->values, num_scanned(iterator->dataset));
}

static const rheos__dataset_kind scan_kind = {.name = "Scan",
                                              .iterator_bytes = sizeof(scan),
                                              .opens_input = true,
                                              .init = init_scan,
                                              .start = start_scan,
                                              .finish = finish_scan,
                                              .next = next_scan,
                                              .state = state_scan,
                                              .cardinality = cardinality_map};
#define SCAN(op)                                                                                 \
  RHEOS_DATASET_OP(op, scan_kind,                                                                \
                   "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments", \
                   "; f: func; Tstate: list(type) >= 1; Targuments: list(type) >= "              \
                   "0" RHEOS_DATASET_TYPES                                                       \
                   "; preserve_cardinality: bool = false; use_default_device: bool = true; "     \
                   "metadata: string = \"\"",                                                    \
                   "What `f` gives for the state so far, which it replaces, and each element.")
SCAN(ScanDataset)
SCAN(ExperimentalScanDataset)
