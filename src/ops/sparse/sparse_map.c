// Sparse tensors that a session keeps under numbers, so that queues of batches can hold them: a map
// gives a number for each that is added, and gives them up when they are taken.
#include "ops/sparse/sparse_util.h"
#include "ops/kit/op_util.h"
#include "ops/sparse/sparse_serialize.h"
#include "resource/resource.h"

enum { PARTS = 3 };

// Numbers are given in their order and taken in nearly the same, so a ring from the oldest on holds
// them.
typedef struct sparse_map {
  rheos__resource base;
  pthread_mutex_t mutex;
  rheos_tensor **items;  // number n at n % num_slots; vectors of three variants, NULL once taken
  int64_t oldest, next, num_slots;
} sparse_map;

static rheos_status *init_map(rheos__resource *resource, const void *argument) {
  (void)argument;
  pthread_mutex_init(&((sparse_map *)resource)->mutex, NULL);
  return NULL;
}

static void deinit_map(rheos__resource *resource) {
  sparse_map *map = (sparse_map *)resource;
  for (int64_t n = map->oldest; n < map->next; ++n) {
    rheos_tensor_unref(map->items[n % map->num_slots]);
  }
  rheos__free(map->items);
  pthread_mutex_destroy(&map->mutex);
}

static const rheos__resource_kind map_kind = {"map of sparse tensors", sizeof(sparse_map), init_map,
                                              deinit_map};

static rheos_status *make_room(sparse_map *map) {
  if (map->next - map->oldest < map->num_slots) return NULL;
  const int64_t count = map->num_slots > 0 ? map->num_slots * 2 : 16;
  rheos_tensor **items = rheos__alloc_array((size_t)count, sizeof *items);
  if (items == NULL) return rheos__out_of_memory();
  for (int64_t n = map->oldest; n < map->next; ++n) {
    items[n % count] = map->items[n % map->num_slots];
  }
  rheos__free(map->items);
  map->items = items;
  map->num_slots = count;
  return NULL;
}

static rheos_status *add_take(sparse_map *map, rheos_tensor *item, int64_t *out_number) {
  pthread_mutex_lock(&map->mutex);
  rheos_status *status = make_room(map);
  if (status == NULL) {
    *out_number = map->next;
    map->items[map->next++ % map->num_slots] = item;
  }
  pthread_mutex_unlock(&map->mutex);
  if (status != NULL) rheos_tensor_unref(item);
  return status;
}

static rheos_tensor *take(sparse_map *map, int64_t number) {
  rheos_tensor *item = NULL;
  pthread_mutex_lock(&map->mutex);
  if (number >= map->oldest && number < map->next) {
    item = map->items[number % map->num_slots];
    map->items[number % map->num_slots] = NULL;
    while (map->oldest < map->next && map->items[map->oldest % map->num_slots] == NULL) {
      ++map->oldest;
    }
  }
  pthread_mutex_unlock(&map->mutex);
  return item;
}

// ---- Adding

static rheos_status *compute_add(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  (void)step;
  rheos_tensor *item = NULL;
  int64_t number = 0;
  rheos_status *status = rheos__serialize_sparse(inputs, RHEOS_VARIANT, &item);
  if (status != NULL) {
    rheos_tensor_unref(item);
    return status;
  }
  RHEOS_TRY(add_take(state, item, &number));
  return rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, &number, &outputs[0]);
}

static rheos_status *row_of(const rheos_tensor *rows, int64_t row, rheos_tensor **out_item) {
  RHEOS_TRY(rheos__tensor_new(RHEOS_VARIANT, &RHEOS_SHAPE(PARTS), out_item));
  rheos_status *status = NULL;
  for (int i = 0; status == NULL && i < PARTS; ++i) {
    status = rheos__copy_value(*out_item, i, rows, row * PARTS + i);
  }
  if (status == NULL) return NULL;
  rheos_tensor_unref(*out_item);
  *out_item = NULL;
  return status;
}

static rheos_status *add_rows(sparse_map *map, const rheos_tensor *rows, rheos_tensor **output) {
  const int64_t count = rows->shape.dims[0];
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count), output));
  for (int64_t i = 0; i < count; ++i) {
    rheos_tensor *item = NULL;
    RHEOS_TRY(row_of(rows, i, &item));
    RHEOS_TRY(add_take(map, item, (int64_t *)(*output)->data + i));
  }
  return NULL;
}

static rheos_status *compute_add_many(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  rheos_tensor *rows = NULL;
  rheos_status *status = rheos__serialize_rows(inputs, RHEOS_VARIANT, step, &rows);
  if (status == NULL) status = add_rows(state, rows, &outputs[0]);
  rheos_tensor_unref(rows);
  return status;
}

// ---- Taking

static rheos_status *take_all(sparse_map *map, const rheos_tensor *numbers, rheos_tensor *to) {
  for (int64_t i = 0; i < numbers->num_elements; ++i) {
    const int64_t number = ((const int64_t *)numbers->data)[i];
    rheos_tensor *item = take(map, number);
    if (item == NULL) {
      return RHEOS_INVALID("Unable to find SparseTensor: %lld in map '%s'", (long long)number,
                           map->base.name);
    }
    rheos_status *status = NULL;
    for (int k = 0; status == NULL && k < PARTS; ++k) {
      status = rheos__copy_value(to, i * PARTS + k, item, k);
    }
    rheos_tensor_unref(item);
    if (status != NULL) return status;
  }
  return NULL;
}

typedef struct take_state {
  sparse_map *map;
  rheos_dtype dtype;
} take_state;

static rheos_status *compute_take(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step;
  const take_state *s = state;
  if (inputs[0]->shape.rank != 1) return RHEOS_INVALID("sparse_handles must be a vector");
  rheos_tensor *all = NULL;
  RHEOS_TRY(rheos__tensor_new(RHEOS_VARIANT, &RHEOS_SHAPE(inputs[0]->num_elements, PARTS), &all));
  rheos_status *status = take_all(s->map, inputs[0], all);
  if (status == NULL) status = rheos__deserialize_sparse(all, s->dtype, outputs);
  rheos_tensor_unref(all);
  return status;
}

static void unref_map(void *state) { rheos__resource_unref(state); }
static void release_take(void *state) { rheos__resource_unref(&((take_state *)state)->map->base); }

static rheos_status *prepare_add(rheos__prepare *p) {
  rheos__resource *map = NULL;
  RHEOS_TRY(rheos__named_resource(p, &map_kind, NULL, &map));
  p->state = map;
  p->release = unref_map;
  p->compute = p->op->compute;
  return NULL;
}

static rheos_status *prepare_take(rheos__prepare *p) {
  take_state *s = RHEOS_NEW_STATE(p, take_state);
  if (s == NULL) return rheos__out_of_memory();
  s->dtype = p->output_dtypes[1];
  RHEOS_TRY(rheos__named_resource(p, &map_kind, NULL, (rheos__resource **)&s->map));
  p->release = release_take;
  p->compute = compute_take;
  return NULL;
}

// ---- Ops

static rheos_status *infer_parts(const rheos__infer *c) {
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &ignored));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &ignored));
  return rheos__infer_rank(c, 2, 1, &ignored);
}
static rheos_status *shape_add(rheos__infer *c) {
  c->output_shapes[0] = RHEOS_SCALAR;
  return infer_parts(c);
}
static rheos_status *shape_add_many(rheos__infer *c) {
  c->output_shapes[0] = RHEOS_SHAPE(-1);
  return infer_parts(c);
}
static rheos_status *shape_take(rheos__infer *c) {
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &ignored));
  c->output_shapes[0] = RHEOS_SHAPE(-1, -1);
  c->output_shapes[1] = RHEOS_SHAPE(-1);
  c->output_shapes[2] = RHEOS_SHAPE(-1);
  return NULL;
}

#define NAMING "container: string = \"\"; shared_name: string = \"\""
#define ADD_OP(op_name, result, text, shape_fn, compute_fn)                                  \
  const rheos__op_def rheos__op_##op_name = {                                                \
      .name = #op_name,                                                                      \
      .signature = "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> " result \
                   ": int64; T: type; " NAMING,                                              \
      .doc = text,                                                                           \
      .flags = RHEOS_OP_STATEFUL,                                                            \
      .shape = shape_fn,                                                                     \
      .gradient = rheos__no_gradient,                                                        \
      .prepare = prepare_add,                                                                \
      .compute = compute_fn,                                                                 \
  };
ADD_OP(AddSparseToTensorsMap, "sparse_handle",
       "Keeps a sparse tensor in a map of the session; the number to take it by.", shape_add,
       compute_add)
ADD_OP(
    AddManySparseToTensorsMap, "sparse_handles",
    "Keeps each slice of a sparse tensor along its first dimension; the numbers to take them by.",
    shape_add_many, compute_add_many)

const rheos__op_def rheos__op_TakeManySparseFromTensorsMap = {
    .name = "TakeManySparseFromTensorsMap",
    .signature =
        "sparse_handles: int64 -> sparse_indices: int64, sparse_values: dtype, "
        "sparse_shape: int64; dtype: type; " NAMING,
    .doc =
        "The sparse tensors that a map of the session keeps under numbers, as one with a "
        "dimension more; the map gives them up.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = shape_take,
    .gradient = rheos__no_gradient,
    .prepare = prepare_take,
};
