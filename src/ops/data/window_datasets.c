// Datasets that hand datasets in memory to the program: window, group_by_window; windows as
// batches.
#include <string.h>

#include "ops/data/dataset.h"
#include "ops/data/element.h"

// ---- Window

typedef struct window_data {
  int64_t size, shift, stride;
  bool drop_remainder;
  bool batches;  // elements put together, not datasets
} window_data;

typedef struct window {
  rheos__iterator base;
  rheos_tensor **buffer;  // elements one after the other
  size_t capacity;
  int64_t count;  // of elements in it
  int64_t skip;   // elements of the input to leave out before the next
  int64_t has_ended;
} window;

static rheos_status *read_window(rheos__dataset *d) {
  window_data *w = d->data;
  RHEOS_TRY(rheos__dataset_int(d, 1, "size", &w->size));
  RHEOS_TRY(rheos__dataset_int(d, 2, "shift", &w->shift));
  RHEOS_TRY(rheos__dataset_int(d, 3, "stride", &w->stride));
  if (w->size <= 0) return RHEOS_INVALID("Window size must be greater than zero.");
  if (w->shift <= 0) return RHEOS_INVALID("Window shift must be greater than zero.");
  if (w->stride <= 0) return RHEOS_INVALID("Window stride must be greater than zero.");
  int64_t span;
  if (__builtin_mul_overflow(w->size - 1, w->stride, &span) || span == INT64_MAX) {
    return RHEOS_INVALID("Window size times stride is beyond the integers.");
  }
  return NULL;
}

static rheos_status *init_dropping(rheos__dataset *d) {
  window_data *w = d->data;
  w->drop_remainder = w->batches = true;
  return read_window(d);
}

static rheos_status *init_sliding(rheos__dataset *d) {
  RHEOS_TRY(init_dropping(d));
  ((window_data *)d->data)->drop_remainder = rheos__dataset_options(d)[0] != 0;
  return NULL;
}

static rheos_status *init_window(rheos__dataset *d) {
  window_data *w = d->data;
  RHEOS_TRY(read_window(d));
  RHEOS_TRY(rheos__dataset_bool(d, 4, "drop_remainder", &w->drop_remainder));
  if (d->num_components != d->inputs[0]->num_components) {
    return RHEOS_INVALID("a window has a dataset for each component");
  }
  for (int32_t i = 0; i < d->num_components; ++i) {
    if (d->types[i] != RHEOS_VARIANT) return RHEOS_INVALID("windows are datasets: variants");
  }
  return NULL;
}

static void drop_first(window *it, int64_t rows) {
  const int32_t n = it->base.dataset->num_components;
  for (int64_t i = 0; i < rows * n; ++i) rheos_tensor_unref(it->buffer[i]);
  it->count -= rows;
  if (it->buffer == NULL) return;
  memmove(it->buffer, it->buffer + rows * n, (size_t)(it->count * n) * sizeof *it->buffer);
}

static void finish_window(rheos__iterator *iterator) {
  window *it = (window *)iterator;
  drop_first(it, it->count);
  rheos__free(it->buffer);
}

static rheos_status *add_element(window *it, rheos__step *step, bool *out_end) {
  const int32_t n = it->base.dataset->num_components;
  const size_t used = (size_t)(it->count * n);
  if (!RHEOS_RESERVE(it->buffer, it->capacity, used + (size_t)n)) return rheos__out_of_memory();
  for (int32_t i = 0; i < n; ++i) it->buffer[used + (size_t)i] = NULL;
  RHEOS_TRY(rheos__iterator_next(it->base.input, step, it->buffer + used, out_end));
  if (!*out_end) ++it->count;
  return NULL;
}

static rheos_status *fill_window(window *it, int64_t wanted, rheos__step *step) {
  bool end = it->has_ended;
  while (!end && it->count < wanted) {
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
    if (it->skip > 0) {
      RHEOS_TRY(rheos__iterator_skip(it->base.input, step, &end));
      --it->skip;
    } else {
      RHEOS_TRY(add_element(it, step, &end));
    }
  }
  it->has_ended = end;
  return NULL;
}

static rheos_status *give_batch(const window *it, rheos_tensor **element) {
  const rheos__dataset *d = it->base.dataset;
  const window_data *w = d->data;
  const int32_t n = d->num_components;
  const int64_t most = (it->count - 1) / w->stride + 1, rows = most < w->size ? most : w->size;
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < n; ++i) {
    rheos__stack stack = {0};
    for (int64_t k = 0; status == NULL && k < rows; ++k) {
      status = rheos__stack_add(&stack, it->buffer[k * w->stride * n + i], rows, i);
    }
    if (status == NULL) status = rheos__stack_take(&stack, &element[i]);
    rheos__stack_deinit(&stack);
  }
  if (status != NULL) rheos__element_clear(element, n);
  return status;
}

static rheos_status *give_window(const window *it, rheos_tensor **element) {
  const rheos__dataset *d = it->base.dataset;
  const window_data *w = d->data;
  const int32_t n = d->num_components;
  const int64_t most = (it->count + w->stride - 1) / w->stride;
  const int64_t rows = most < w->size ? most : w->size;
  rheos_tensor **column = rheos__alloc_array((size_t)rows, sizeof *column);
  rheos_status *status = column != NULL ? NULL : rheos__out_of_memory();
  for (int32_t i = 0; status == NULL && i < n; ++i) {
    for (int64_t k = 0; k < rows; ++k) {
      column[k] = rheos_tensor_ref(it->buffer[k * w->stride * n + i]);
    }
    status = rheos__dataset_of_elements_take(d->inputs[0], i, 1, column, rows, &element[i]);
  }
  rheos__free(column);
  if (status != NULL) rheos__element_clear(element, n);
  return status;
}

static rheos_status *next_window(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  window *it = (window *)iterator;
  const window_data *w = iterator->dataset->data;
  const int64_t wanted = (w->size - 1) * w->stride + 1;
  RHEOS_TRY(fill_window(it, wanted, step));
  *out_end = it->count == 0 || (w->drop_remainder && it->count < wanted);
  if (*out_end) return NULL;
  RHEOS_TRY(w->batches ? give_batch(it, element) : give_window(it, element));
  const int64_t dropped = w->shift < it->count ? w->shift : it->count;
  it->skip = w->shift - dropped;
  drop_first(it, dropped);
  return NULL;
}

static rheos_status *transfer_window(rheos__iterator *iterator, rheos__saved_state *state,
                                     rheos__step *step) {
  (void)step;
  window *it = (window *)iterator;
  int64_t count = it->count;
  const int32_t n = iterator->dataset->num_components;
  RHEOS_TRY(rheos__state_ints(state, &count, 1));
  RHEOS_TRY(rheos__state_ints(state, &it->skip, 1));
  RHEOS_TRY(rheos__state_ints(state, &it->has_ended, 1));
  if (!state->is_restoring) return rheos__state_tensors(state, it->buffer, (int32_t)(count * n));
  drop_first(it, it->count);
  if (count < 0 || count > state->count) return RHEOS_INVALID("the state is damaged");
  for (; it->count < count; ++it->count) {
    const size_t used = (size_t)(it->count * n);
    if (!RHEOS_RESERVE(it->buffer, it->capacity, used + (size_t)n)) return rheos__out_of_memory();
    for (int32_t i = 0; i < n; ++i) it->buffer[used + (size_t)i] = NULL;
    RHEOS_TRY(rheos__state_tensors(state, it->buffer + used, n));
  }
  return NULL;
}

static int64_t cardinality_window(const rheos__dataset *d) {
  const window_data *w = d->data;
  const int64_t all = rheos__dataset_cardinality(d->inputs[0]);
  if (all < 0) return all;
  const int64_t wanted = (w->size - 1) * w->stride + 1;
  if (!w->drop_remainder) return all / w->shift + (all % w->shift != 0);
  return all < wanted ? 0 : (all - wanted) / w->shift + 1;
}

static const rheos__dataset_kind window_kind = {.name = "Window",
                                                .data_bytes = sizeof(window_data),
                                                .iterator_bytes = sizeof(window),
                                                .opens_input = true,
                                                .init = init_window,
                                                .finish = finish_window,
                                                .next = next_window,
                                                .state = transfer_window,
                                                .cardinality = cardinality_window};
RHEOS_DATASET_OP(WindowDataset, window_kind,
                 "input_dataset: variant, size: int64, shift: int64, stride: int64, "
                 "drop_remainder: bool",
                 RHEOS_DATASET_TYPES "; metadata: string = \"\"",
                 "Datasets of `size` elements each, `stride` apart, every `shift` elements.")

static const char *const sliding_options[] = {"drop_remainder", NULL};
static const rheos__dataset_kind sliding_kind = {.name = "SlidingWindow",
                                                 .data_bytes = sizeof(window_data),
                                                 .iterator_bytes = sizeof(window),
                                                 .opens_input = true,
                                                 .like_input = true,
                                                 .options = sliding_options,
                                                 .init = init_sliding,
                                                 .finish = finish_window,
                                                 .next = next_window,
                                                 .state = transfer_window,
                                                 .cardinality = cardinality_window};
static const rheos__dataset_kind dropping_kind = {.name = "SlidingWindow",
                                                  .data_bytes = sizeof(window_data),
                                                  .iterator_bytes = sizeof(window),
                                                  .opens_input = true,
                                                  .like_input = true,
                                                  .init = init_dropping,
                                                  .finish = finish_window,
                                                  .next = next_window,
                                                  .state = transfer_window,
                                                  .cardinality = cardinality_window};
#define SLIDING(op, kind, attrs)                                                        \
  RHEOS_DATASET_OP(op, kind,                                                            \
                   "input_dataset: variant, window_size: int64, window_shift: int64, "  \
                   "window_stride: int64",                                              \
                   attrs,                                                               \
                   "`window_size` elements put together, `window_stride` apart, every " \
                   "`window_shift` elements.")
SLIDING(ExperimentalSlidingWindowDataset, dropping_kind, RHEOS_DATASET_TYPES)
SLIDING(SlidingWindowDataset, sliding_kind, "; drop_remainder: bool = true" RHEOS_DATASET_TYPES)

// ---- GroupByWindow

typedef struct group {
  int64_t key, size, count;
  rheos_tensor **elements;
  size_t capacity;
} group;

typedef struct grouping {
  rheos__iterator base;
  group *groups;  // by key
  size_t num_groups, capacity;
  rheos__iterator *current;  // over what the reduction of a window gave
  rheos_tensor *window;      // that one, and its key
  int64_t key;
  bool has_ended;
} grouping;

enum { KEY, REDUCE, SIZE };

static rheos_status *init_group_by_window(rheos__dataset *d) {
  const rheos__dataset *input = d->inputs[0];
  const rheos_dtype reduced[] = {RHEOS_INT64, RHEOS_VARIANT}, key = RHEOS_INT64;
  RHEOS_TRY(rheos__dataset_takes(d, KEY, input->types, input->num_components));
  RHEOS_TRY(rheos__dataset_gives_one(d, KEY, RHEOS_INT64));
  RHEOS_TRY(rheos__dataset_takes(d, REDUCE, reduced, 2));
  RHEOS_TRY(rheos__dataset_gives_one(d, REDUCE, RHEOS_VARIANT));
  RHEOS_TRY(rheos__dataset_takes(d, SIZE, &key, 1));
  return rheos__dataset_gives_one(d, SIZE, RHEOS_INT64);
}

static void empty_group(group *g, int32_t n) {
  for (int64_t i = 0; i < g->count * n; ++i) rheos_tensor_unref(g->elements[i]);
  rheos__free(g->elements);
  g->elements = NULL;
  g->capacity = 0;
  g->count = 0;
}

static void finish_grouping(rheos__iterator *iterator) {
  grouping *it = (grouping *)iterator;
  for (size_t i = 0; i < it->num_groups; ++i) {
    empty_group(&it->groups[i], iterator->dataset->inputs[0]->num_components);
  }
  rheos__free(it->groups);
  rheos__iterator_free(it->current);
  rheos_tensor_unref(it->window);
}

static rheos_status *int_of_function(const rheos__dataset *d, int32_t function,
                                     rheos_tensor **leading, int32_t count, rheos__step *step,
                                     int64_t *out_value) {
  rheos_tensor *result = NULL;
  RHEOS_TRY(rheos__dataset_call_take(d, function, leading, count, step, &result));
  rheos_status *status = NULL;
  if (result->dtype != RHEOS_INT64 || result->num_elements != 1) {
    status = RHEOS_INVALID("`%s` must return a scalar int64.",
                           function == KEY ? "key_func" : "window_size_func");
  } else {
    *out_value = *(const int64_t *)result->data;
  }
  rheos_tensor_unref(result);
  return status;
}

static rheos_status *size_of_group(const rheos__dataset *d, int64_t key, rheos__step *step,
                                   int64_t *out_size) {
  rheos_tensor *argument = NULL;
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SCALAR, &argument));
  *(int64_t *)argument->data = key;
  RHEOS_TRY(int_of_function(d, SIZE, &argument, 1, step, out_size));
  if (*out_size > 0) return NULL;
  return RHEOS_INVALID("Window size must be greater than zero, but got %lld.",
                       (long long)*out_size);
}

// The place of a key in the order of keys.
static rheos_status *group_of(grouping *it, int64_t key, rheos__step *step, group **out) {
  size_t low = 0, high = it->num_groups;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (it->groups[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == it->num_groups || it->groups[low].key != key) {
    if (!RHEOS_RESERVE(it->groups, it->capacity, it->num_groups + 1)) {
      return rheos__out_of_memory();
    }
    memmove(it->groups + low + 1, it->groups + low, (it->num_groups - low) * sizeof *it->groups);
    it->groups[low] = (group){.key = key};
    ++it->num_groups;
  }
  *out = &it->groups[low];
  return (*out)->count == 0 ? size_of_group(it->base.dataset, key, step, &(*out)->size) : NULL;
}

// Of the window and its key.
static rheos_status *open_current(grouping *it, rheos__step *step) {
  rheos_tensor *leading[2] = {NULL, rheos_tensor_ref(it->window)};
  rheos_status *status = rheos__tensor_new(RHEOS_INT64, &RHEOS_SCALAR, &leading[0]);
  if (status != NULL) {
    rheos_tensor_unref(leading[1]);
    return status;
  }
  *(int64_t *)leading[0]->data = it->key;
  return rheos__dataset_open_take(it->base.dataset, REDUCE, leading, 2, false, step, &it->current);
}

static void close_current(grouping *it) {
  rheos__iterator_free(it->current);
  rheos_tensor_unref(it->window);
  it->current = NULL;
  it->window = NULL;
}

static rheos_status *reduce_group(grouping *it, group *g, rheos__step *step) {
  const rheos__dataset *input = it->base.dataset->inputs[0];
  close_current(it);
  rheos_status *status = rheos__dataset_of_elements_take(input, 0, input->num_components,
                                                         g->elements, g->count, &it->window);
  it->key = g->key;
  g->count = 0;  // taken
  empty_group(g, input->num_components);
  return status != NULL ? status : open_current(it, step);
}

static rheos_status *key_of(grouping *it, rheos_tensor *const *element, rheos__step *step,
                            int64_t *out_key) {
  const int32_t n = it->base.dataset->inputs[0]->num_components;
  rheos_tensor **copy = rheos__alloc_array((size_t)n, sizeof *copy);
  if (copy == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < n; ++i) copy[i] = rheos_tensor_ref(element[i]);
  rheos_status *status = int_of_function(it->base.dataset, KEY, copy, n, step, out_key);
  rheos__free(copy);
  return status;
}

// Takes the element's tensors unless it fails.
static rheos_status *add_to_group(grouping *it, rheos_tensor **element, rheos__step *step) {
  const int32_t n = it->base.dataset->inputs[0]->num_components;
  int64_t key = 0;
  group *g = NULL;
  RHEOS_TRY(key_of(it, element, step, &key));
  RHEOS_TRY(group_of(it, key, step, &g));
  const size_t used = (size_t)(g->count * n);
  if (!RHEOS_RESERVE(g->elements, g->capacity, used + (size_t)n)) return rheos__out_of_memory();
  memcpy(g->elements + used, element, (size_t)n * sizeof *element);
  memset(element, 0, (size_t)n * sizeof *element);
  return ++g->count == g->size ? reduce_group(it, g, step) : NULL;
}

static rheos_status *advance_groups(grouping *it, rheos__step *step) {
  const int32_t n = it->base.dataset->inputs[0]->num_components;
  if (!it->has_ended) {
    rheos_tensor **element = rheos__alloc_array((size_t)n, sizeof *element);
    if (element == NULL) return rheos__out_of_memory();
    rheos_status *status = rheos__iterator_next(it->base.input, step, element, &it->has_ended);
    if (status == NULL && !it->has_ended) status = add_to_group(it, element, step);
    rheos__element_clear(element, n);
    rheos__free(element);
    return status;
  }
  for (size_t i = 0; i < it->num_groups; ++i) {
    if (it->groups[i].count > 0) return reduce_group(it, &it->groups[i], step);
  }
  return NULL;
}

static bool any_element(const grouping *it) {
  for (size_t i = 0; i < it->num_groups; ++i) {
    if (it->groups[i].count > 0) return true;
  }
  return false;
}

static rheos_status *next_grouping(rheos__iterator *iterator, rheos__step *step,
                                   rheos_tensor **element, bool *out_end) {
  grouping *it = (grouping *)iterator;
  for (;;) {
    if (it->current != NULL) {
      RHEOS_TRY(rheos__iterator_next(it->current, step, element, out_end));
      if (!*out_end) return NULL;
      close_current(it);
    } else if (it->has_ended && !any_element(it)) {
      *out_end = true;
      return NULL;
    } else {
      RHEOS_TRY(advance_groups(it, step));
    }
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
}

static rheos_status *transfer_group(group *g, int32_t n, rheos__saved_state *state) {
  int64_t numbers[] = {g->key, g->size, g->count};
  RHEOS_TRY(rheos__state_ints(state, numbers, 3));
  if (!state->is_restoring)
    return rheos__state_tensors(state, g->elements, (int32_t)(g->count * n));
  *g = (group){.key = numbers[0], .size = numbers[1]};
  if (numbers[2] < 0 || numbers[2] > state->count) return RHEOS_INVALID("the state is damaged");
  const size_t total = (size_t)(numbers[2] * n);
  if (!RHEOS_RESERVE(g->elements, g->capacity, total)) return rheos__out_of_memory();
  if (total > 0) memset(g->elements, 0, total * sizeof *g->elements);
  g->count = numbers[2];
  return rheos__state_tensors(state, g->elements, (int32_t)total);
}

static rheos_status *transfer_grouping(rheos__iterator *iterator, rheos__saved_state *state,
                                       rheos__step *step) {
  grouping *it = (grouping *)iterator;
  const int32_t n = iterator->dataset->inputs[0]->num_components;
  int64_t numbers[] = {(int64_t)it->num_groups, it->has_ended, it->key, it->current != NULL};
  RHEOS_TRY(rheos__state_ints(state, numbers, 4));
  if (state->is_restoring) {  // a new iterator
    if (numbers[0] < 0 || numbers[0] > state->count) return RHEOS_INVALID("the state is damaged");
    if (!RHEOS_RESERVE(it->groups, it->capacity, (size_t)numbers[0])) return rheos__out_of_memory();
    it->has_ended = numbers[1] != 0;
    it->key = numbers[2];
  }
  for (int64_t i = 0; i < numbers[0]; ++i) {
    if (state->is_restoring) it->groups[it->num_groups++] = (group){0};
    RHEOS_TRY(transfer_group(&it->groups[i], n, state));
  }
  if (numbers[3] == 0) return NULL;
  RHEOS_TRY(rheos__state_tensors(state, &it->window, 1));
  if (it->window == NULL) return RHEOS_INVALID("the state is damaged");
  if (state->is_restoring) RHEOS_TRY(open_current(it, step));
  return rheos__iterator_transfer(it->current, state, step);
}

static const rheos__dataset_kind grouping_kind = {.name = "GroupByWindow",
                                                  .iterator_bytes = sizeof(grouping),
                                                  .opens_input = true,
                                                  .init = init_group_by_window,
                                                  .finish = finish_grouping,
                                                  .next = next_grouping,
                                                  .state = transfer_grouping,
                                                  .cardinality = rheos__cardinality_endless};
#define GROUP_BY_WINDOW(op)                                                                      \
  RHEOS_DATASET_OP(                                                                              \
      op, grouping_kind,                                                                         \
      "input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, "            \
      "reduce_func_other_arguments: Treduce_func_other_arguments, "                              \
      "window_size_func_other_arguments: Twindow_size_func_other_arguments",                     \
      "; key_func: func; reduce_func: func; window_size_func: func; Tkey_func_other_arguments: " \
      "list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; "                         \
      "Twindow_size_func_other_arguments: list(type) >= 0" RHEOS_DATASET_TYPES                   \
      "; metadata: string = \"\"",                                                               \
      "What `reduce_func` makes of the elements with one key, `window_size_func` at a time.")
GROUP_BY_WINDOW(GroupByWindowDataset)
GROUP_BY_WINDOW(ExperimentalGroupByWindowDataset)
