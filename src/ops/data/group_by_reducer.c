// GroupByReducerDataset: what a reduction of all elements with one key ends with, by rising keys.
#include "ops/data/dataset.h"
#include "ops/data/element.h"

enum { KEY, INIT, REDUCE, FINISH };

typedef struct group {
  int64_t key;
  rheos_tensor **state;
} group;

typedef struct reducing {
  rheos__iterator base;
  group *groups;  // by key
  size_t count, capacity;
  int64_t next;  // the group to be finished; -1: the input was not gone over
} reducing;

static int32_t num_state(const rheos__dataset *d) {
  return rheos__dataset_function(d, INIT)->num_results;
}

static rheos_status *init_reducer(rheos__dataset *d) {
  const rheos__dataset *input = d->inputs[0];
  const rheos__data_function *init = rheos__dataset_function(d, INIT);
  const rheos__data_function *reduce = rheos__dataset_function(d, REDUCE);
  const rheos_dtype key = RHEOS_INT64;
  RHEOS_TRY(rheos__dataset_takes(d, KEY, input->types, input->num_components));
  RHEOS_TRY(rheos__dataset_gives_one(d, KEY, RHEOS_INT64));
  RHEOS_TRY(rheos__dataset_takes(d, INIT, &key, 1));
  RHEOS_TRY(rheos__dataset_gives(d, REDUCE, init->result_types, init->num_results));
  RHEOS_TRY(rheos__dataset_takes(d, FINISH, init->result_types, init->num_results));
  RHEOS_TRY(rheos__dataset_gives(d, FINISH, d->types, d->num_components));
  const int32_t n = init->num_results + input->num_components;
  if (reduce->num_args - reduce->num_captured != n) {
    return RHEOS_INVALID("`reduce_func` takes %d arguments, but gets state and element: %d",
                         (int)(reduce->num_args - reduce->num_captured), (int)n);
  }
  for (int32_t i = 0; i < n; ++i) {
    const int32_t k = i - init->num_results;
    if (reduce->arg_types[i] == (k < 0 ? init->result_types[i] : input->types[k])) continue;
    return RHEOS_INVALID("Data type mismatch at argument %d of `reduce_func`", (int)i);
  }
  return NULL;
}

static rheos_status *start_reducer(rheos__iterator *iterator, rheos__step *step) {
  (void)step;
  ((reducing *)iterator)->next = -1;
  return NULL;
}

static void clear_groups(reducing *it) {
  for (size_t i = 0; i < it->count; ++i) {
    rheos__element_clear(it->groups[i].state, num_state(it->base.dataset));
    rheos__free(it->groups[i].state);
  }
  it->count = 0;
}

static void finish_reducer(rheos__iterator *iterator) {
  reducing *it = (reducing *)iterator;
  clear_groups(it);
  rheos__free(it->groups);
}

// Where the key is, or would be.
static size_t place_of(const reducing *it, int64_t key) {
  size_t low = 0, high = it->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (it->groups[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// A new group, whose state is empty.
static rheos_status *insert(reducing *it, size_t place, int64_t key, group **out) {
  rheos_tensor **state = rheos__alloc_array((size_t)num_state(it->base.dataset), sizeof *state);
  if (state == NULL || !RHEOS_RESERVE(it->groups, it->capacity, it->count + 1)) {
    rheos__free(state);
    return rheos__out_of_memory();
  }
  memmove(it->groups + place + 1, it->groups + place, (it->count - place) * sizeof *it->groups);
  it->groups[place] = (group){key, state};
  ++it->count;
  *out = &it->groups[place];
  return NULL;
}

static void remove_group(reducing *it, size_t place) {
  rheos__free(it->groups[place].state);
  --it->count;
  memmove(it->groups + place, it->groups + place + 1, (it->count - place) * sizeof *it->groups);
}

static rheos_status *find_group(reducing *it, int64_t key, rheos__step *step, group **out) {
  const size_t place = place_of(it, key);
  *out = &it->groups[place];
  if (place < it->count && it->groups[place].key == key) return NULL;
  rheos_tensor *argument = NULL;
  RHEOS_TRY(rheos__tensor_of_int(RHEOS_INT64, key, &argument));
  rheos_status *status = insert(it, place, key, out);
  if (status != NULL) {
    rheos_tensor_unref(argument);
    return status;
  }
  status = rheos__dataset_call_take(it->base.dataset, INIT, &argument, 1, step, (*out)->state);
  if (status != NULL) remove_group(it, place);
  return status;
}

static rheos_status *key_of(const rheos__dataset *d, rheos_tensor *const *element,
                            rheos_tensor **room, rheos__step *step, int64_t *out_key) {
  const int32_t n = d->inputs[0]->num_components;
  rheos_tensor *key = NULL;
  for (int32_t i = 0; i < n; ++i) room[i] = rheos_tensor_ref(element[i]);
  RHEOS_TRY(rheos__dataset_call_take(d, KEY, room, n, step, &key));
  rheos_status *status = NULL;
  if (key->dtype != RHEOS_INT64 || key->num_elements != 1) {
    status = RHEOS_INVALID("`key_func` must return a scalar int64.");
  } else {
    *out_key = *(const int64_t *)key->data;
  }
  rheos_tensor_unref(key);
  return status;
}

// `element` is taken unless this fails; `room` is for state and element.
static rheos_status *reduce_element(reducing *it, rheos_tensor **element, rheos_tensor **room,
                                    rheos__step *step) {
  const rheos__dataset *d = it->base.dataset;
  const int32_t states = num_state(d), n = d->inputs[0]->num_components;
  int64_t key = 0;
  group *g = NULL;
  RHEOS_TRY(key_of(d, element, room, step, &key));
  RHEOS_TRY(find_group(it, key, step, &g));
  memcpy(room, g->state, (size_t)states * sizeof *room);
  memcpy(room + states, element, (size_t)n * sizeof *room);
  memset(g->state, 0, (size_t)states * sizeof *room);
  memset(element, 0, (size_t)n * sizeof *room);
  rheos_status *status = rheos__dataset_call_take(d, REDUCE, room, states + n, step, g->state);
  if (status != NULL) remove_group(it, (size_t)(g - it->groups));
  return status;
}

static rheos_status *reduce_all(reducing *it, rheos_tensor **element, rheos_tensor **room,
                                rheos__step *step) {
  for (bool end = false;;) {
    RHEOS_TRY(rheos__iterator_next(it->base.input, step, element, &end));
    if (end) return NULL;
    rheos_status *status = reduce_element(it, element, room, step);
    rheos__element_clear(element, it->base.dataset->inputs[0]->num_components);
    if (status != NULL) return status;
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
}

static rheos_status *next_reduced(rheos__iterator *iterator, rheos__step *step,
                                  rheos_tensor **element, bool *out_end) {
  reducing *it = (reducing *)iterator;
  const rheos__dataset *d = iterator->dataset;
  const int32_t states = num_state(d), n = d->inputs[0]->num_components;
  rheos_tensor **room = rheos__alloc_array((size_t)states + 2 * (size_t)n, sizeof *room);
  if (room == NULL) return rheos__out_of_memory();
  rheos_status *status = it->next < 0 ? reduce_all(it, room + states + n, room, step) : NULL;
  if (status == NULL && it->next < 0) it->next = 0;
  *out_end = status == NULL && (size_t)it->next >= it->count;
  if (status == NULL && !*out_end) {
    rheos_tensor **state = it->groups[it->next++].state;
    for (int32_t i = 0; i < states; ++i) room[i] = rheos_tensor_ref(state[i]);
    status = rheos__dataset_call_take(d, FINISH, room, states, step, element);
  }
  rheos__free(room);
  return status;
}

static rheos_status *restore_groups(reducing *it, int64_t count, rheos__saved_state *state) {
  clear_groups(it);
  for (int64_t i = 0; i < count; ++i) {
    group *g = NULL;
    int64_t key = 0;
    RHEOS_TRY(rheos__state_ints(state, &key, 1));
    RHEOS_TRY(insert(it, it->count, key, &g));
    RHEOS_TRY(rheos__state_tensors(state, g->state, num_state(it->base.dataset)));
    for (int32_t k = 0; k < num_state(it->base.dataset); ++k) {
      if (g->state[k] == NULL) return RHEOS_INVALID("the state of the iterator is incomplete");
    }
  }
  return NULL;
}

static rheos_status *transfer_reducer(rheos__iterator *iterator, rheos__saved_state *state,
                                      rheos__step *step) {
  (void)step;
  reducing *it = (reducing *)iterator;
  int64_t known[2] = {it->next, (int64_t)it->count};
  RHEOS_TRY(rheos__state_ints(state, known, 2));
  if (known[0] < -1 || known[1] < 0) {
    return RHEOS_INVALID("the state of the iterator is that of another pipeline");
  }
  it->next = known[0];
  if (state->is_restoring) return restore_groups(it, known[1], state);
  for (size_t i = 0; i < it->count; ++i) {
    RHEOS_TRY(rheos__state_ints(state, &it->groups[i].key, 1));
    RHEOS_TRY(rheos__state_tensors(state, it->groups[i].state, num_state(iterator->dataset)));
  }
  return NULL;
}

static const rheos__dataset_kind reducer_kind = {.name = "GroupByReducer",
                                                 .iterator_bytes = sizeof(reducing),
                                                 .opens_input = true,
                                                 .init = init_reducer,
                                                 .start = start_reducer,
                                                 .finish = finish_reducer,
                                                 .next = next_reduced,
                                                 .state = transfer_reducer};
#define GROUP_BY_REDUCER(op)                                                                   \
  RHEOS_DATASET_OP(                                                                            \
      op, reducer_kind,                                                                        \
      "input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, "          \
      "init_func_other_arguments: Tinit_func_other_arguments, reduce_func_other_arguments: "   \
      "Treduce_func_other_arguments, finalize_func_other_arguments: "                          \
      "Tfinalize_func_other_arguments",                                                        \
      "; key_func: func; init_func: func; reduce_func: func; finalize_func: func; "            \
      "Tkey_func_other_arguments: list(type) >= 0; Tinit_func_other_arguments: list(type) >= " \
      "0; Treduce_func_other_arguments: list(type) >= 0; Tfinalize_func_other_arguments: "     \
      "list(type) >= 0" RHEOS_DATASET_TYPES,                                                   \
      "For each key of the elements what `finalize_func` makes of their reduction.")
GROUP_BY_REDUCER(ExperimentalGroupByReducerDataset)
GROUP_BY_REDUCER(GroupByReducerDataset)
