// What all datasets and iterators share: making them of an op's inputs, asking them, saving them.
#include "ops/data/dataset.h"

#include <string.h>
#include <time.h>

#include "graph/tasks.h"
#include "ops/data/dataset_spec.h"
#include "ops/kit/array_util.h"

static void free_dataset(rheos__variant *variant) {
  rheos__dataset *d = (rheos__dataset *)variant;
  if (d->data != NULL && d->kind->deinit != NULL) d->kind->deinit(d);
  rheos__free(d->data);
  for (int32_t i = 0; i < d->num_args; ++i) rheos_tensor_unref(d->args[i]);
  rheos__free(d->args);
  rheos__free(d->inputs);
  rheos__dataset_spec_unref(d->spec);
  rheos__free(d);
}

const rheos__variant_kind rheos__dataset_variant = {.name = "Dataset", .free = free_dataset};

rheos_status *rheos__dataset_of(const rheos_tensor *tensor, const char *op,
                                rheos__dataset **out_dataset) {
  return rheos__variant_of(tensor, &rheos__dataset_variant, op, (rheos__variant **)out_dataset);
}

int64_t rheos__dataset_cardinality(const rheos__dataset *dataset) {
  if (dataset->kind->cardinality != NULL) return dataset->kind->cardinality(dataset);
  const bool like = dataset->kind->like_input && dataset->num_inputs == 1;
  return like ? rheos__dataset_cardinality(dataset->inputs[0]) : RHEOS__CARDINALITY_UNKNOWN;
}

int64_t rheos__cardinality_endless(const rheos__dataset *dataset) {
  for (int32_t i = 0; i < dataset->num_inputs; ++i) {
    const int64_t count = rheos__dataset_cardinality(dataset->inputs[i]);
    if (count == RHEOS__CARDINALITY_INFINITE) return count;
  }
  return RHEOS__CARDINALITY_UNKNOWN;
}

// ---- Making datasets

static bool has_state(const rheos__dataset *d) {
  bool any = false;
  for (int32_t i = 0; i < d->num_inputs; ++i) any = any || d->inputs[i]->has_state;
  for (int32_t i = 0; i < d->spec->num_functions; ++i) any = any || d->spec->functions[i].has_state;
  return any;
}

static bool is_live(const rheos__dataset *d) {
  bool live = d->kind->is_live;
  for (int32_t i = 0; i < d->num_inputs; ++i) live = live || d->inputs[i]->is_live;
  for (int32_t i = 0; i < d->spec->num_functions; ++i) {
    live = live || d->spec->functions[i].has_effects;
  }
  return live;
}

static rheos_status *take_inputs(rheos__dataset *d, rheos_tensor *const *inputs) {
  const rheos__dataset_spec *spec = d->spec;
  for (; d->num_args < spec->num_inputs; ++d->num_args) {
    rheos_tensor *input = inputs[d->num_args];
    if (input == NULL) continue;  // a cell
    RHEOS_TRY(rheos__tensor_keep(input, &d->args[d->num_args]));
    if (!spec->is_dataset[d->num_args]) continue;
    RHEOS_TRY(rheos__dataset_of(input, spec->op, &d->inputs[d->num_inputs]));
    d->num_inputs++;
  }
  return NULL;
}

rheos_status *rheos__dataset_new(rheos__dataset_spec *spec, rheos_tensor *const *inputs,
                                 rheos__dataset **out_dataset) {
  rheos__dataset *d = rheos__alloc_zeroed(sizeof *d);
  *out_dataset = NULL;
  if (d == NULL) return rheos__out_of_memory();
  atomic_init(&d->variant.references, 1);
  d->variant.kind = &rheos__dataset_variant;
  atomic_fetch_add_explicit(&spec->references, 1, memory_order_relaxed);
  d->spec = spec;
  d->kind = spec->kind;
  d->num_components = spec->num_components;
  d->types = spec->types;
  d->shapes = spec->shapes;
  d->args = rheos__alloc_array((size_t)spec->num_inputs, sizeof *d->args);
  d->inputs = rheos__alloc_array((size_t)spec->num_inputs, sizeof *d->inputs);
  rheos_status *status =
      d->args == NULL || d->inputs == NULL ? rheos__out_of_memory() : take_inputs(d, inputs);
  if (status == NULL && d->kind->like_input) {
    status = rheos__dataset_same_types(d, d->inputs[0]);
  }
  if (status == NULL) {
    d->data = rheos__alloc_zeroed(d->kind->data_bytes);
    if (d->data == NULL) status = rheos__out_of_memory();
  }
  if (status == NULL) d->is_live = is_live(d);
  if (status == NULL) d->has_state = has_state(d);
  if (status == NULL && d->kind->init != NULL) status = d->kind->init(d);
  if (status == NULL) {
    *out_dataset = d;
  } else {
    rheos__dataset_unref(d);
  }
  return status;
}

rheos_status *rheos__dataset_new_of_kind(const rheos__dataset_kind *kind, int32_t num_components,
                                         rheos__dataset **out_dataset) {
  rheos__dataset *d = rheos__alloc_zeroed(sizeof *d);
  *out_dataset = NULL;
  if (d == NULL) return rheos__out_of_memory();
  atomic_init(&d->variant.references, 1);
  d->variant.kind = &rheos__dataset_variant;
  d->kind = kind;
  d->num_components = num_components;
  d->data = rheos__alloc_zeroed(kind->data_bytes);
  if (d->data == NULL) {
    rheos__dataset_unref(d);
    return rheos__out_of_memory();
  }
  *out_dataset = d;
  return NULL;
}

static rheos_status *compute_dataset(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step;
  rheos__dataset *dataset = NULL;
  RHEOS_TRY(rheos__dataset_new(*(rheos__dataset_spec **)state, inputs, &dataset));
  return rheos__variant_tensor_take(&dataset->variant, &outputs[0]);
}

static void release_spec(void *state) { rheos__dataset_spec_unref(*(rheos__dataset_spec **)state); }

rheos_status *rheos__prepare_dataset(rheos__prepare *p) {
  rheos__dataset_spec **spec = RHEOS_NEW_STATE(p, rheos__dataset_spec *);
  if (spec == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__dataset_spec_new(p, p->op->family, spec));
  p->release = release_spec;
  p->compute = compute_dataset;
  return NULL;
}

// ---- What the inputs say

static rheos_status *check_scalar(const rheos__dataset *dataset, int32_t arg, const char *name,
                                  rheos_dtype dtype) {
  const rheos_tensor *tensor = arg < dataset->num_args ? dataset->args[arg] : NULL;
  if (tensor == NULL) return RHEOS_INVALID("%s must be a tensor", name);
  if (tensor->shape.rank != 0) return RHEOS_INVALID("%s must be a scalar", name);
  if (dtype == RHEOS_INVALID_DTYPE || tensor->dtype == dtype) return NULL;
  return RHEOS_INVALID("%s must be %s, got %s", name, rheos_dtype_name(dtype),
                       rheos_dtype_name(tensor->dtype));
}

rheos_status *rheos__dataset_int(const rheos__dataset *dataset, int32_t arg, const char *name,
                                 int64_t *out_value) {
  RHEOS_TRY(check_scalar(dataset, arg, name, RHEOS_INVALID_DTYPE));
  if (!rheos_dtype_is_integer(dataset->args[arg]->dtype)) {
    return RHEOS_INVALID("%s must be an integer", name);
  }
  *out_value = rheos__tensor_int_at(dataset->args[arg], 0);
  return NULL;
}

rheos_status *rheos__dataset_bool(const rheos__dataset *dataset, int32_t arg, const char *name,
                                  bool *out_value) {
  RHEOS_TRY(check_scalar(dataset, arg, name, RHEOS_BOOL));
  *out_value = *(const bool *)dataset->args[arg]->data;
  return NULL;
}

rheos_status *rheos__dataset_string(const rheos__dataset *dataset, int32_t arg, const char *name,
                                    const rheos_string **out_value) {
  RHEOS_TRY(check_scalar(dataset, arg, name, RHEOS_STRING));
  *out_value = dataset->args[arg]->data;
  return NULL;
}

static rheos_status *check_types(const rheos_dtype *got, int32_t num_got, const rheos_dtype *wanted,
                                 int32_t num_wanted, const char *what) {
  if (num_got != num_wanted) {
    return RHEOS_INVALID("Number of %s does not match: expected %d types but got %d.", what,
                         (int)num_wanted, (int)num_got);
  }
  for (int32_t i = 0; i < num_got; ++i) {
    if (got[i] == wanted[i]) continue;
    return RHEOS_INVALID("Data type mismatch at %s %d: expected %s but got %s.", what, (int)i,
                         rheos_dtype_name(wanted[i]), rheos_dtype_name(got[i]));
  }
  return NULL;
}

rheos_status *rheos__dataset_same_types(const rheos__dataset *dataset,
                                        const rheos__dataset *input) {
  return check_types(input->types, input->num_components, dataset->types, dataset->num_components,
                     "component");
}

rheos_status *rheos__dataset_takes(const rheos__dataset *dataset, int32_t function,
                                   const rheos_dtype *types, int32_t count) {
  const rheos__data_function *f = rheos__dataset_function(dataset, function);
  return check_types(types, count, f->arg_types, f->num_args - f->num_captured,
                     "argument of the function");
}

rheos_status *rheos__dataset_gives(const rheos__dataset *dataset, int32_t function,
                                   const rheos_dtype *types, int32_t count) {
  const rheos__data_function *f = rheos__dataset_function(dataset, function);
  return check_types(f->result_types, f->num_results, types, count, "result of the function");
}

rheos_status *rheos__dataset_gives_one(const rheos__dataset *dataset, int32_t function,
                                       rheos_dtype type) {
  return rheos__dataset_gives(dataset, function, &type, 1);
}

// ---- Calling functions

enum { FEW = 24 };

typedef struct call_lists {
  rheos_tensor **tensors;
  rheos__resource **cells;
  bool *given;
} call_lists;

static void fill_lists(const rheos__dataset *d, const rheos__data_function *f,
                       rheos_tensor *const *leading, int32_t num_leading, const call_lists *lists) {
  for (int32_t i = 0; i < num_leading; ++i) {
    lists->tensors[i] = leading[i];
    lists->cells[i] = NULL;
    lists->given[i] = rheos__tensor_is_exclusive(leading[i]);
  }
  for (int32_t i = 0; i < f->num_captured; ++i) {
    lists->tensors[num_leading + i] = d->args[f->first_captured + i];
    lists->cells[num_leading + i] = d->spec->cells[f->first_captured + i];
    lists->given[num_leading + i] = false;
  }
}

static rheos_status *check_results(const rheos__data_function *f, rheos_tensor **results) {
  for (int32_t i = 0; i < f->num_results; ++i) {
    if (results[i] != NULL) continue;
    rheos__element_clear(results, f->num_results);
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "a function of a dataset gives the handle of a variable as result %d",
                            (int)i);
  }
  return NULL;
}

static rheos_status *run_function(const rheos__dataset *d, const rheos__data_function *f,
                                  rheos_tensor **leading, int32_t num_leading, rheos__step *step,
                                  const call_lists *lists, rheos_tensor **results) {
  rheos__site_call *call = NULL;
  rheos__site *site = f->site;
  if (f->draws) RHEOS_TRY(rheos__site_for(f->site, rheos__step_states(step), &site));
  fill_lists(d, f, leading, num_leading, lists);
  bool any_cell = false;
  for (int32_t i = 0; i < f->num_args; ++i) any_cell = any_cell || lists->cells[i] != NULL;
  rheos__parameters parameters = {.tensors = lists->tensors,
                                  .cells = any_cell ? lists->cells : NULL};
  bool is_watched;
  rheos_status *status = rheos__site_call_watched(site, &parameters, step, results, &is_watched);
  if (status == NULL && !is_watched) status = rheos__site_enter(site, step, &call);
  if (status == NULL && !is_watched) {
    parameters.given = lists->given;
    for (int32_t i = 0; i < num_leading; ++i) {
      if (lists->given[i]) leading[i] = NULL;
    }
    status = rheos__site_call_run(call, &parameters, step, results);
    rheos__site_leave(site, call);
  }
  return status != NULL ? status : check_results(f, results);
}

rheos_status *rheos__dataset_call_take(const rheos__dataset *dataset, int32_t function,
                                       rheos_tensor **leading, int32_t num_leading,
                                       rheos__step *step, rheos_tensor **results) {
  const rheos__data_function *f = rheos__dataset_function(dataset, function);
  rheos_tensor *tensors[FEW];
  rheos__resource *cells[FEW];
  bool given[FEW];
  call_lists lists = {tensors, cells, given};
  const bool is_long = f->num_args > FEW;
  if (is_long) {
    const size_t count = (size_t)f->num_args;
    lists = (call_lists){rheos__alloc_array(count, sizeof *tensors),
                         rheos__alloc_array(count, sizeof *cells),
                         rheos__alloc_array(count, sizeof *given)};
  }
  rheos_status *status;
  if (lists.tensors == NULL || lists.cells == NULL || lists.given == NULL) {
    status = rheos__out_of_memory();
  } else {
    status = run_function(dataset, f, leading, num_leading, step, &lists, results);
  }
  if (is_long) {
    rheos__free(lists.tensors);
    rheos__free(lists.cells);
    rheos__free(lists.given);
  }
  rheos__element_clear(leading, num_leading);
  return status;
}

rheos_status *rheos__dataset_test_take(const rheos__dataset *dataset, int32_t function,
                                       rheos_tensor **leading, int32_t num_leading,
                                       rheos__step *step, bool *out_value) {
  rheos_tensor *result = NULL;
  RHEOS_TRY(rheos__dataset_call_take(dataset, function, leading, num_leading, step, &result));
  rheos_status *status = NULL;
  if (result->dtype != RHEOS_BOOL || result->num_elements != 1) {
    status = RHEOS_INVALID("Filter predicate `f` must return a scalar bool.");
  } else {
    *out_value = *(const bool *)result->data;
  }
  rheos_tensor_unref(result);
  return status;
}

static rheos_status *open_ahead(rheos__dataset *inner, rheos__step *step,
                                rheos__iterator **out_iterator) {
  rheos__dataset *ahead = NULL;
  RHEOS_TRY(rheos__dataset_ahead(inner, &ahead));
  rheos_status *status = rheos__iterator_new(ahead, step, out_iterator);
  rheos__dataset_unref(ahead);
  return status;
}

rheos_status *rheos__dataset_open_take(const rheos__dataset *dataset, int32_t function,
                                       rheos_tensor **leading, int32_t num_leading, bool is_ahead,
                                       rheos__step *step, rheos__iterator **out_iterator) {
  rheos_tensor *result = NULL;
  *out_iterator = NULL;
  RHEOS_TRY(rheos__dataset_call_take(dataset, function, leading, num_leading, step, &result));
  rheos__dataset *inner = NULL;
  rheos_status *status = rheos__dataset_of(result, dataset->spec->op, &inner);
  if (status == NULL) status = rheos__dataset_same_types(dataset, inner);
  if (status == NULL) {
    status = is_ahead ? open_ahead(inner, step, out_iterator)
                      : rheos__iterator_new(inner, step, out_iterator);
  }
  rheos_tensor_unref(result);
  return status;
}

// ---- Iterators

rheos_status *rheos__iterator_new(rheos__dataset *dataset, rheos__step *step,
                                  rheos__iterator **out_iterator) {
  const size_t bytes = dataset->kind->iterator_bytes;
  *out_iterator = NULL;
  rheos__iterator *iterator =
      rheos__alloc_zeroed(bytes > sizeof *iterator ? bytes : sizeof *iterator);
  if (iterator == NULL) return rheos__out_of_memory();
  rheos__variant_ref(&dataset->variant);
  iterator->dataset = dataset;
  rheos_status *status = NULL;
  if (dataset->kind->opens_input) {
    status = rheos__iterator_new(dataset->inputs[0], step, &iterator->input);
  }
  if (status == NULL && dataset->kind->start != NULL) status = dataset->kind->start(iterator, step);
  if (status == NULL) {
    *out_iterator = iterator;
  } else {
    rheos__iterator_free(iterator);
  }
  return status;
}

rheos_status *rheos__iterator_new_outer(rheos__dataset *dataset, rheos__step *step,
                                        rheos__iterator **out_iterator) {
  rheos__call_states *states = rheos__call_states_new();
  *out_iterator = NULL;
  if (states == NULL) return rheos__out_of_memory();
  rheos__call_states *before = rheos__step_set_states(step, states);
  rheos_status *status = rheos__iterator_new(dataset, step, out_iterator);
  rheos__step_set_states(step, before);
  if (status == NULL) {
    (*out_iterator)->states = states;
  } else {
    rheos__call_states_unref(states);
  }
  return status;
}

// The first ones of an iterator, which may fill buffers, are all timed, then some.
enum { TIMED_AT_FIRST = 32, TIMED_MASK = 63 };

static void tell(rheos__iterator *iterator) {
  const int64_t more = (int64_t)(uint32_t)(iterator->asked - iterator->told);
  atomic_fetch_add_explicit(&iterator->dataset->times.asked, more, memory_order_relaxed);
  iterator->told = iterator->asked;
}

int64_t rheos__now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

rheos_status *rheos__iterator_next_timed(rheos__iterator *iterator, rheos__step *step,
                                         rheos_tensor **element, bool *out_end) {
  rheos__dataset_times *times = &iterator->dataset->times;
  const int64_t start = rheos__now_ns();
  rheos_status *status = iterator->dataset->kind->next(iterator, step, element, out_end);
  const int64_t ns = rheos__now_ns() - start;
  tell(iterator);
  const bool is_first = iterator->asked <= TIMED_AT_FIRST;
  atomic_fetch_add_explicit(is_first ? &times->first_ns : &times->timed_ns, ns,
                            memory_order_relaxed);
  atomic_fetch_add_explicit(is_first ? &times->first : &times->timed, 1, memory_order_relaxed);
  const bool is_noted = rheos__step_is_noted(step);
  if (is_noted) rheos__step_note(step, iterator->dataset->kind->name, start, start + ns);
  if (iterator->asked >= TIMED_AT_FIRST && !is_noted) iterator->mask = TIMED_MASK;
  return status;
}

void rheos__iterator_watch(rheos__iterator *iterator, const rheos__step *step) {
  if (!rheos__step_is_noted(step)) return;
  for (; iterator != NULL; iterator = iterator->input) {
    iterator->mask = 0;
    if (iterator->dataset->kind->pause != NULL) return;  // behind are others at work
  }
}

void rheos__iterator_free(rheos__iterator *iterator) {
  if (iterator == NULL) return;
  tell(iterator);
  if (iterator->dataset->kind->finish != NULL) iterator->dataset->kind->finish(iterator);
  rheos__iterator_free(iterator->input);
  rheos__dataset_unref(iterator->dataset);
  rheos__call_states_unref(iterator->states);
  rheos__free(iterator);
}

rheos_status *rheos__iterator_skip(rheos__iterator *iterator, rheos__step *step, bool *out_end) {
  const int32_t count = iterator->dataset->num_components;
  rheos_tensor *few[FEW] = {0};
  rheos_tensor **element = few;
  if (count > FEW) {
    element = rheos__alloc_array((size_t)count, sizeof *element);
    if (element == NULL) return rheos__out_of_memory();
  }
  rheos_status *status = rheos__iterator_next(iterator, step, element, out_end);
  rheos__element_clear(element, count);
  if (element != few) rheos__free(element);
  return status;
}

// ---- State

void rheos__saved_state_deinit(rheos__saved_state *state) {
  for (int32_t i = 0; i < state->count; ++i) rheos_tensor_unref(state->items[i]);
  rheos__free(state->items);
  *state = (rheos__saved_state){0};
}

rheos_status *rheos__state_tensors(rheos__saved_state *state, rheos_tensor **tensors,
                                   int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (state->is_restoring) {
      if (state->at >= state->count) {
        return RHEOS_INVALID("the state of the iterator is that of another pipeline");
      }
      rheos_tensor *item = state->items[state->at++];
      rheos_tensor_unref(tensors[i]);
      tensors[i] = item != NULL ? rheos_tensor_ref(item) : NULL;
      continue;
    }
    if (!RHEOS_RESERVE(state->items, state->capacity, (size_t)state->count + 1)) {
      return rheos__out_of_memory();
    }
    state->items[state->count++] = tensors[i] != NULL ? rheos_tensor_ref(tensors[i]) : NULL;
  }
  return NULL;
}

rheos_status *rheos__state_ints(rheos__saved_state *state, int64_t *values, int32_t count) {
  rheos_tensor *tensor = NULL;
  if (!state->is_restoring) {
    RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count), &tensor));
    memcpy(tensor->data, values, (size_t)count * sizeof *values);
  }
  rheos_status *status = rheos__state_tensors(state, &tensor, 1);
  if (status == NULL && state->is_restoring) {
    if (tensor == NULL || tensor->dtype != RHEOS_INT64 || tensor->num_elements != count) {
      status = RHEOS_INVALID("the state of the iterator is that of another pipeline");
    } else {
      memcpy(values, tensor->data, (size_t)count * sizeof *values);
    }
  }
  rheos_tensor_unref(tensor);
  return status;
}

rheos_status *rheos__iterator_transfer(rheos__iterator *iterator, rheos__saved_state *state,
                                       rheos__step *step) {
  const rheos__dataset_kind *kind = iterator->dataset->kind;
  if (kind->state == NULL && kind->iterator_bytes > 0) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "iterators over a %s dataset cannot be saved",
                            kind->name);
  }
  if (kind->pause != NULL) RHEOS_TRY(kind->pause(iterator, step));
  if (kind->opens_input) {
    int64_t has_input = iterator->input != NULL;
    RHEOS_TRY(rheos__state_ints(state, &has_input, 1));
    if (!has_input) {
      rheos__iterator_free(iterator->input);
      iterator->input = NULL;
    } else if (iterator->input == NULL) {
      RHEOS_TRY(rheos__iterator_new(iterator->dataset->inputs[0], step, &iterator->input));
    }
    if (has_input) RHEOS_TRY(rheos__iterator_transfer(iterator->input, state, step));
  }
  return kind->state != NULL ? kind->state(iterator, state, step) : NULL;
}

// ---- Shapes

// The inputs of datasets whose ranks TensorFlow's shape functions look at, by name.
static bool is_scalar_by_name(const char *name) {
  static const char *const scalars[] = {"batch_size",
                                        "buffer_size",
                                        "cache",
                                        "cardinality",
                                        "compression_type",
                                        "count",
                                        "data_source_name",
                                        "driver_name",
                                        "drop_remainder",
                                        "filename",
                                        "footer_bytes",
                                        "header_bytes",
                                        "index",
                                        "num_shards",
                                        "query",
                                        "rate",
                                        "record_bytes",
                                        "seed",
                                        "seed2",
                                        "seed_generator",
                                        "shift",
                                        "size",
                                        "start",
                                        "step",
                                        "stop",
                                        "stride",
                                        "tag",
                                        "window_shift",
                                        "window_size",
                                        "window_stride"};
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; ++i) {
    if (strcmp(name, scalars[i]) == 0) return true;
  }
  return false;
}

static bool is_vector_by_name(const char *name) {
  return strcmp(name, "filenames") == 0 || strcmp(name, "patterns") == 0 ||
         strcmp(name, "byte_offsets") == 0;
}

rheos_status *rheos__shape_dataset(rheos__infer *c) {
  const rheos__signature *signature = rheos__signature_by_name(c->op->name);
  if (signature == NULL) return rheos__out_of_memory();
  int32_t input = 0;
  for (int32_t i = 0; i < signature->num_inputs; ++i) {
    const rheos__arg *arg = &signature->inputs[i];
    if (arg->number_attr >= 0) {
      input += (int32_t)c->attrs->items[arg->number_attr].value.i;
    } else if (arg->type_list_attr >= 0) {
      input += (int32_t)c->attrs->items[arg->type_list_attr].value.count;
    } else {
      rheos_shape scalar;
      if (is_scalar_by_name(arg->name)) RHEOS_TRY(rheos__infer_rank(c, input, 0, &scalar));
      if (is_vector_by_name(arg->name)) RHEOS_TRY(rheos__infer_rank_at_most(c, input, 1));
      ++input;
    }
  }
  return rheos__shape_scalar(c);
}
