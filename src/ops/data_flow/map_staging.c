// Staging areas by key. The components of a tuple may come in several parts; the tuple is there
// when all of them are. They may be taken in parts too. Tuples without a key that was asked for
// come by the least key, or in the order in which they were completed.
#include <string.h>

#include "ops/data_flow/staging.h"
#include "ops/kit/op_util.h"

typedef struct keyed {
  int64_t key;
  int64_t number;  // in the order of completion
  rheos__staged staged;
} keyed;

// By ascending keys, each once.
typedef struct keyed_list {
  keyed *items;
  size_t capacity;
  int64_t count;
} keyed_list;

typedef struct map_staging {
  rheos__waitable waitable;
  rheos__staging_limits limits;
  bool is_ordered;
  rheos_dtype *dtypes;  // of a tuple; NULL until an op that puts tells
  int32_t num_dtypes;
  keyed_list complete, incomplete;
  int64_t bytes, num_completed;
} map_staging;

static rheos_status *init_map(rheos__resource *resource, const void *argument) {
  map_staging *map = (map_staging *)resource;
  map->limits = *(const rheos__staging_limits *)argument;
  rheos__waitable_init(&map->waitable);
  return NULL;
}

static rheos_status *init_ordered(rheos__resource *resource, const void *argument) {
  ((map_staging *)resource)->is_ordered = true;
  return init_map(resource, argument);
}

static void list_clear(keyed_list *list) {
  for (int64_t i = 0; i < list->count; ++i) rheos__staged_free(&list->items[i].staged);
  list->count = 0;
}

static void deinit_map(rheos__resource *resource) {
  map_staging *map = (map_staging *)resource;
  list_clear(&map->complete);
  list_clear(&map->incomplete);
  rheos__free(map->complete.items);
  rheos__free(map->incomplete.items);
  rheos__free(map->dtypes);
  rheos__waitable_deinit(&map->waitable);
}

static const rheos__resource_kind map_kind = {"map staging area", sizeof(map_staging), init_map,
                                              deinit_map};
static const rheos__resource_kind ordered_kind = {"ordered map staging area", sizeof(map_staging),
                                                  init_ordered, deinit_map};

// ---- Lists

// The place of the first item whose key is not less.
static int64_t place_of(const keyed_list *list, int64_t key) {
  int64_t first = 0, end = list->count;
  while (first < end) {
    const int64_t middle = first + (end - first) / 2;
    if (list->items[middle].key < key) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

static keyed *find(const keyed_list *list, int64_t key) {
  const int64_t place = place_of(list, key);
  return place < list->count && list->items[place].key == key ? &list->items[place] : NULL;
}

// There is room for it, and no item of that key.
static void insert(keyed_list *list, keyed item) {
  const int64_t place = place_of(list, item.key);
  memmove(list->items + place + 1, list->items + place,
          (size_t)(list->count - place) * sizeof item);
  list->items[place] = item;
  ++list->count;
}

static void remove_item(keyed_list *list, const keyed *item) {
  const int64_t place = item - list->items;
  --list->count;
  memmove(list->items + place, list->items + place + 1,
          (size_t)(list->count - place) * sizeof *item);
}

static bool has_all(const rheos__staged *staged) {
  for (int32_t i = 0; i < staged->count; ++i) {
    if (staged->tensors[i] == NULL) return false;
  }
  return true;
}

static bool has_any(const rheos__staged *staged) {
  for (int32_t i = 0; i < staged->count; ++i) {
    if (staged->tensors[i] != NULL) return true;
  }
  return false;
}

// ---- Attempts

typedef struct map_attempt {
  rheos__attempt attempt;
  rheos__staged staged;  // what is put, or was taken: of component indices[i]
  int32_t *indices;
  int32_t num_indices;
  int64_t key, bytes;
  bool has_key, takes;
  const rheos_dtype *dtypes;  // of what is taken; the kernel's
} map_attempt;

static map_staging *map_of(const rheos__attempt *attempt) { return (map_staging *)attempt->on; }

static rheos__tried done(rheos__attempt *attempt, rheos_status *status) {
  attempt->status = status;
  return RHEOS__TRIED_DONE;
}

static rheos_status *reserve(map_staging *map) {
  keyed_list *complete = &map->complete, *incomplete = &map->incomplete;
  const bool fits =
      RHEOS_RESERVE(complete->items, complete->capacity, (size_t)complete->count + 1) &&
      RHEOS_RESERVE(incomplete->items, incomplete->capacity, (size_t)incomplete->count + 1);
  return fits ? NULL : rheos__out_of_memory();
}

// A tuple that comes under a key that is there already is dropped, as by TensorFlow.
static void complete(map_staging *map, keyed item) {
  if (find(&map->complete, item.key) != NULL) {
    map->bytes -= rheos__staged_bytes(&item.staged);
    rheos__staged_free(&item.staged);
    return;
  }
  item.number = map->num_completed++;
  insert(&map->complete, item);
}

static rheos_status *check_new(const map_attempt *a, const rheos__staged *into) {
  for (int32_t i = 0; i < a->num_indices; ++i) {
    if (into->tensors[a->indices[i]] == NULL) continue;
    return RHEOS_INVALID("The tensor for index '%d' for key '%lld' was already initialized '%d'.",
                         (int)a->indices[i], (long long)a->key, (int)into->count);
  }
  return NULL;
}

static rheos_status *put_part(map_staging *map, map_attempt *a) {
  RHEOS_TRY(reserve(map));
  keyed *item = find(&map->incomplete, a->key);
  if (item == NULL) {
    keyed empty = {.key = a->key, .staged = {NULL, map->num_dtypes}};
    empty.staged.tensors = rheos__alloc_array((size_t)map->num_dtypes + 1, sizeof(rheos_tensor *));
    if (empty.staged.tensors == NULL) return rheos__out_of_memory();
    insert(&map->incomplete, empty);
    item = find(&map->incomplete, a->key);
  }
  RHEOS_TRY(check_new(a, &item->staged));
  for (int32_t i = 0; i < a->num_indices; ++i) {
    item->staged.tensors[a->indices[i]] = a->staged.tensors[i];
    a->staged.tensors[i] = NULL;
  }
  map->bytes += a->bytes;
  if (!has_all(&item->staged)) return NULL;
  const keyed whole = *item;
  remove_item(&map->incomplete, item);
  complete(map, whole);
  return NULL;
}

static rheos__tried run_put(rheos__attempt *attempt) {
  map_attempt *a = (map_attempt *)attempt;
  map_staging *map = map_of(attempt);
  if (!rheos__staging_has_bytes(&map->limits, map->bytes, a->bytes)) return RHEOS__TRIED_IN_VAIN;
  if (a->num_indices < map->num_dtypes) return done(attempt, put_part(map, a));
  if (!rheos__staging_has_room(&map->limits, map->complete.count)) return RHEOS__TRIED_IN_VAIN;
  rheos_status *status = reserve(map);
  if (status != NULL) return done(attempt, status);
  map->bytes += a->bytes;
  complete(map, (keyed){.key = a->key, .staged = a->staged});
  a->staged = (rheos__staged){NULL, 0};
  return RHEOS__TRIED_DONE;
}

// The tuple that is asked for, or NULL.
static keyed *wanted(map_staging *map, const map_attempt *a) {
  if (a->has_key) return find(&map->complete, a->key);
  if (map->complete.count == 0) return NULL;
  keyed *first = map->complete.items;
  for (int64_t i = 1; !map->is_ordered && i < map->complete.count; ++i) {
    if (map->complete.items[i].number < first->number) first = &map->complete.items[i];
  }
  return first;
}

static rheos_status *check_taken(const map_attempt *a, const keyed *item) {
  for (int32_t i = 0; i < a->num_indices; ++i) {
    const int32_t index = a->indices[i];
    if (index < 0 || index >= item->staged.count) {
      return RHEOS_INVALID("Index '%d' for key '%lld' exceeds tuple size '%d'.", (int)index,
                           (long long)item->key, (int)item->staged.count);
    }
    const rheos_tensor *tensor = item->staged.tensors[index];
    if (tensor == NULL) {
      return RHEOS_INVALID("Tensor at index '%d' for key '%lld' has already been removed.",
                           (int)index, (long long)item->key);
    }
    if (tensor->dtype != a->dtypes[i]) {
      return RHEOS_INVALID("component %d for key '%lld' is %s, not %s", (int)index,
                           (long long)item->key, rheos_dtype_name(tensor->dtype),
                           rheos_dtype_name(a->dtypes[i]));
    }
  }
  return NULL;
}

static rheos__tried run_get(rheos__attempt *attempt) {
  map_attempt *a = (map_attempt *)attempt;
  map_staging *map = map_of(attempt);
  keyed *item = wanted(map, a);
  if (item == NULL) return RHEOS__TRIED_IN_VAIN;
  rheos_status *status = check_taken(a, item);
  if (status != NULL) return done(attempt, status);
  a->key = item->key;
  for (int32_t i = 0; i < a->num_indices; ++i) {
    a->staged.tensors[i] = rheos_tensor_ref(item->staged.tensors[a->indices[i]]);
  }
  if (!a->takes) return RHEOS__TRIED_DONE;
  map->bytes -= rheos__staged_bytes(&a->staged);
  for (int32_t i = 0; i < a->num_indices; ++i) {
    rheos_tensor_unref(item->staged.tensors[a->indices[i]]);
    item->staged.tensors[a->indices[i]] = NULL;
  }
  if (has_any(&item->staged)) return RHEOS__TRIED_DONE;
  rheos__staged_free(&item->staged);
  remove_item(&map->complete, item);
  return RHEOS__TRIED_DONE;
}

static rheos_status *finish_get(rheos__attempt *attempt, rheos__step *step,
                                rheos_tensor **outputs) {
  (void)step;
  const map_attempt *a = (const map_attempt *)attempt;
  if (!a->has_key) {
    RHEOS_TRY(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, &a->key, outputs++));
  }
  for (int32_t i = 0; i < a->staged.count; ++i) {
    outputs[i] = a->staged.tensors[i];
    a->staged.tensors[i] = NULL;
  }
  return NULL;
}

static void deinit_attempt(rheos__attempt *attempt) {
  map_attempt *a = (map_attempt *)attempt;
  rheos__staged_free(&a->staged);
  rheos__free(a->indices);
}

static const rheos__attempt_kind put_kind = {
    .what = "room", .run = run_put, .deinit = deinit_attempt, .lets_pass = true};
static const rheos__attempt_kind get_kind = {.what = "a tuple",
                                             .run = run_get,
                                             .finish = finish_get,
                                             .deinit = deinit_attempt,
                                             .lets_pass = true};

// ---- Kernels

typedef struct map_op {
  bool is_ordered, has_key, takes;
} map_op;

typedef struct map_state {
  map_staging *map;  // counted
  const map_op *op;
  const rheos_dtype *dtypes;  // of what is taken
  int32_t num_values;
} map_state;

static rheos_status *read_indices(map_attempt *a, const rheos_tensor *indices, int32_t num_values) {
  if (indices->num_elements != num_values) {
    return RHEOS_INVALID("%lld indices, but %d values", (long long)indices->num_elements,
                         (int)num_values);
  }
  a->indices = rheos__alloc_array((size_t)num_values + 1, sizeof *a->indices);
  if (a->indices == NULL) return rheos__out_of_memory();
  a->num_indices = num_values;
  for (int32_t i = 0; i < num_values; ++i) {
    a->indices[i] = (int32_t)rheos__tensor_int_at(indices, i);
    if (i > 0 && a->indices[i] <= a->indices[i - 1]) {
      return RHEOS_INVALID("Indices are not strictly ordered");
    }
  }
  return NULL;
}

static rheos_status *read_key(map_attempt *a, const rheos_tensor *key) {
  if (key->shape.rank != 0) return RHEOS_INVALID("key must be an int64 scalar.");
  a->key = rheos__tensor_int_at(key, 0);
  return NULL;
}

static rheos_status *check_put(const map_staging *map, const map_attempt *a) {
  for (int32_t i = 0; i < a->num_indices; ++i) {
    const int32_t index = a->indices[i];
    if (index < 0 || index >= map->num_dtypes) {
      return RHEOS_INVALID("Index '%d' exceeds tuple size '%d'.", (int)index, (int)map->num_dtypes);
    }
    if (a->staged.tensors[i]->dtype == map->dtypes[index]) continue;
    return RHEOS_INVALID("component %d is %s, not %s", (int)index,
                         rheos_dtype_name(map->dtypes[index]),
                         rheos_dtype_name(a->staged.tensors[i]->dtype));
  }
  return rheos__staging_check_bytes(&map->limits, a->bytes);
}

static map_attempt *attempt_new(const map_state *state, const rheos__attempt_kind *kind,
                                rheos__side side) {
  map_attempt *a = rheos__alloc_zeroed(sizeof *a);
  if (a == NULL) return NULL;
  rheos__attempt_init(&a->attempt, kind, &state->map->waitable, side);
  a->has_key = state->op->has_key;
  a->takes = state->op->takes;
  a->dtypes = state->dtypes;
  return a;
}

static rheos_status *begin_take(map_attempt *a, rheos_status *status, rheos__step *step,
                                rheos_tensor **outputs) {
  if (status == NULL) return rheos__step_attempt_take(step, &a->attempt, outputs);
  rheos__attempt_free(&a->attempt);
  return status;
}

static rheos_status *compute_put(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  const map_state *state = argument;
  map_attempt *a = attempt_new(state, &put_kind, RHEOS__PUTS);
  if (a == NULL) return rheos__out_of_memory();
  rheos_status *status = read_key(a, inputs[0]);
  if (status == NULL) status = read_indices(a, inputs[1], state->num_values);
  if (status == NULL) status = rheos__staged_keep(inputs + 2, state->num_values, &a->staged);
  a->bytes = rheos__staged_bytes(&a->staged);
  if (status == NULL) status = check_put(state->map, a);
  return begin_take(a, status, step, outputs);
}

static rheos_status *compute_get(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  const map_state *state = argument;
  map_attempt *a = attempt_new(state, &get_kind, RHEOS__TAKES);
  if (a == NULL) return rheos__out_of_memory();
  rheos_status *status = a->has_key ? read_key(a, inputs[0]) : NULL;
  const rheos_tensor *indices = inputs[a->has_key ? 1 : 0];
  if (status == NULL) status = read_indices(a, indices, state->num_values);
  if (status == NULL) {
    const size_t count = (size_t)state->num_values;
    a->staged.tensors = rheos__alloc_array(count + 1, sizeof(rheos_tensor *));
    if (a->staged.tensors == NULL) status = rheos__out_of_memory();
    if (status == NULL) a->staged.count = state->num_values;
  }
  return begin_take(a, status, step, outputs);
}

static rheos_status *give_count(map_staging *map, const keyed_list *list, rheos_tensor **output) {
  pthread_mutex_lock(&map->waitable.mutex);
  const int64_t count = list->count;
  pthread_mutex_unlock(&map->waitable.mutex);
  return rheos__give_int32(count, output);
}

static rheos_status *compute_size(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step, (void)inputs;
  map_staging *map = ((const map_state *)argument)->map;
  return give_count(map, &map->complete, &outputs[0]);
}

static rheos_status *compute_incomplete(void *argument, rheos__step *step,
                                        rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step, (void)inputs;
  map_staging *map = ((const map_state *)argument)->map;
  return give_count(map, &map->incomplete, &outputs[0]);
}

static rheos_status *compute_clear(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs, (void)outputs;
  map_staging *map = ((const map_state *)argument)->map;
  pthread_mutex_lock(&map->waitable.mutex);
  list_clear(&map->complete);
  list_clear(&map->incomplete);
  map->bytes = 0;
  rheos__waitable_serve(&map->waitable);
  pthread_mutex_unlock(&map->waitable.mutex);
  return NULL;
}

// ---- Preparing

static void release_state(void *state) {
  rheos__resource_unref(&((map_state *)state)->map->waitable.base);
}

static rheos_status *prepare_map(rheos__prepare *p) {
  const map_op *op = p->op->family;
  map_state *state = rheos__arena_alloc_zeroed(p->arena, sizeof *state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__prepare_staging(p, op->is_ordered ? &ordered_kind : &map_kind));
  state->map = p->state;
  state->op = op;
  p->state = state;
  p->release = release_state;
  return NULL;
}

static rheos_status *prepare_get(rheos__prepare *p) {
  RHEOS_TRY(prepare_map(p));
  map_state *state = p->state;
  const rheos_attr_value *types = rheos__attrs_find(p->attrs, "dtypes");
  state->dtypes = types->types;
  state->num_values = types->count;
  return NULL;
}

// Who puts says of what dtypes the tuples are.
static rheos_status *agree(map_staging *map, const rheos_attr_value *types) {
  const size_t size_bytes = (size_t)types->count * sizeof *types->types;
  rheos_status *status = NULL;
  pthread_mutex_lock(&map->waitable.mutex);
  if (map->dtypes == NULL) {
    map->dtypes = rheos__alloc(size_bytes + 1);
    if (map->dtypes == NULL) {
      status = rheos__out_of_memory();
    } else {
      if (size_bytes > 0) memcpy(map->dtypes, types->types, size_bytes);
      map->num_dtypes = types->count;
    }
  } else if (map->num_dtypes != types->count ||
             (size_bytes > 0 && memcmp(map->dtypes, types->types, size_bytes) != 0)) {
    status = RHEOS_INVALID("the tuples of the staging area '%s' have other dtypes",
                           map->waitable.base.name);
  }
  pthread_mutex_unlock(&map->waitable.mutex);
  return status;
}

static rheos_status *prepare_put(rheos__prepare *p) {
  RHEOS_TRY(prepare_map(p));
  map_state *state = p->state;
  state->num_values = p->num_inputs - 2;
  rheos_status *status = agree(state->map, rheos__attrs_find(p->attrs, "dtypes"));
  if (status == NULL) return NULL;
  release_state(state);
  p->release = NULL;
  return status;
}

static rheos_status *shape_values(rheos__infer *c) {
  for (int32_t i = 0; i < c->num_outputs; ++i) c->output_shapes[i] = RHEOS_UNKNOWN_SHAPE;
  return NULL;
}

#define MAP_OP(op_name, ORDERED, HAS_KEY, TAKES, inputs_and_outputs, types, text, flags_, \
               shape_fn, prepare_fn, compute_fn)                                          \
  const rheos__op_def rheos__op_##op_name = {                                             \
      .name = #op_name,                                                                   \
      .signature = inputs_and_outputs RHEOS__STAGING_LIMITS types RHEOS__STAGING_NAMING,  \
      .doc = text,                                                                        \
      .flags = RHEOS_OP_STATEFUL | (flags_),                                              \
      .shape = shape_fn,                                                                  \
      .gradient = rheos__no_gradient,                                                     \
      .prepare = prepare_fn,                                                              \
      .compute = compute_fn,                                                              \
      .family = &(const map_op){ORDERED, HAS_KEY, TAKES},                                 \
  };
#define ANY "dtypes: list(type) >= 0"
#define SOME "dtypes: list(type) >= 1"

#define MAP_OPS(Prefix, ORDERED)                                                                 \
  MAP_OP(Prefix##Stage, ORDERED, true, false,                                                    \
         "key: int64, indices: int32, values: fake_dtypes ->; ",                                 \
         ANY "; fake_dtypes: list(type) >= 1",                                                   \
         "Puts `values` under `key`: the components `indices` of its tuple.", RHEOS_OP_WAITS,    \
         rheos__shape_none, prepare_put, compute_put)                                            \
  MAP_OP(Prefix##Unstage, ORDERED, true, true, "key: int64, indices: int32 -> values: dtypes; ", \
         SOME, "Takes the components `indices` of the tuple under `key`.", RHEOS_OP_WAITS,       \
         shape_values, prepare_get, compute_get)                                                 \
  MAP_OP(Prefix##Peek, ORDERED, true, false, "key: int64, indices: int32 -> values: dtypes; ",   \
         SOME, "The components `indices` of the tuple under `key`, which stay.", RHEOS_OP_WAITS, \
         shape_values, prepare_get, compute_get)                                                 \
  MAP_OP(Prefix##UnstageNoKey, ORDERED, false, true,                                             \
         "indices: int32 -> key: int64, values: dtypes; ", SOME,                                 \
         "Takes the components `indices` of a tuple, whichever is first.", RHEOS_OP_WAITS,       \
         shape_values, prepare_get, compute_get)                                                 \
  MAP_OP(Prefix##Size, ORDERED, false, false, "-> size: int32; ", ANY,                           \
         "How many tuples are complete.", 0, rheos__shape_scalar, prepare_map, compute_size)     \
  MAP_OP(Prefix##IncompleteSize, ORDERED, false, false, "-> size: int32; ", ANY,                 \
         "How many tuples are not complete.", 0, rheos__shape_scalar, prepare_map,               \
         compute_incomplete)                                                                     \
  MAP_OP(Prefix##Clear, ORDERED, false, false, "->; ", ANY, "Removes all tuples.", 0,            \
         rheos__shape_none, prepare_map, compute_clear)

MAP_OPS(Map, false)
MAP_OPS(OrderedMap, true)
