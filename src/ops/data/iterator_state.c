// Where iterators are, as variants and as strings for files.
#include "ops/data/dataset.h"

#include <string.h>

#include "ops/kit/packed_tensors.h"
#include "ops/io/tensor_message.h"

typedef struct saved {
  rheos__variant variant;
  rheos__saved_state state;
} saved;

static void free_saved(rheos__variant *variant) {
  rheos__saved_state_deinit(&((saved *)variant)->state);
  rheos__free(variant);
}

static const rheos__variant_kind saved_kind = {.name = "SerializedIterator", .free = free_saved};

rheos_status *rheos__saved_state_tensor_take(rheos__saved_state *state, rheos_tensor **out_tensor) {
  saved *s = rheos__alloc_zeroed(sizeof *s);
  if (s == NULL) {
    rheos__saved_state_deinit(state);
    return rheos__out_of_memory();
  }
  atomic_init(&s->variant.references, 1);
  s->variant.kind = &saved_kind;
  s->state = *state;
  *state = (rheos__saved_state){0};
  return rheos__variant_tensor_take(&s->variant, out_tensor);
}

rheos_status *rheos__saved_state_of(const rheos_tensor *tensor, const char *op,
                                    const rheos__saved_state **out_state) {
  rheos__variant *variant = NULL;
  RHEOS_TRY(rheos__variant_of(tensor, &saved_kind, op, &variant));
  *out_state = &((const saved *)variant)->state;
  return NULL;
}

// ---- As strings
//
// An item is the message of a tensor. One that is missing is the empty string: no tensor's message
// is empty. A dataset of elements in memory is the string MARK, which is no message either; then,
// as items, how many elements it has and of how many components; the dtype and the shape of each
// component; and the tensors.

// A tensor of variants that hold tensors, as sparse and ragged components are, is the string
// PACKED; then, as items, its shape; and for each variant how many tensors it holds (-1: one, a
// ragged tensor without splits) and these.

#define MARK "\0"
#define PACKED "\1"
enum { MARK_BYTES = 1, MOST_DEPTH = 16 };  // of windows in each other

static bool is_variant(const rheos_tensor *item) {
  return item != NULL && (item->dtype == RHEOS_VARIANT || item->dtype == RHEOS_RESOURCE);
}

static rheos_status *add_strings_of(const rheos_tensor *item, int32_t depth, int64_t *count);

// Of an item that is no dataset in memory.
static rheos_status *add_strings_of_packed(const rheos_tensor *item, int32_t depth,
                                           int64_t *count) {
  rheos_tensor *const *tensors = NULL;
  int32_t num_tensors = 0;
  ++*count;
  for (int64_t i = 0; i < item->num_elements; ++i) {
    rheos_status *status =
        depth == MOST_DEPTH || item->dtype != RHEOS_VARIANT
            ? RHEOS_INVALID("there is something else")
            : rheos__packed_tensors_of(item, i, "saving", &tensors, &num_tensors);
    if (status != NULL) {
      rheos_status_free(status);
      return rheos_status_new(RHEOS_UNIMPLEMENTED,
                              "the state of an iterator cannot be saved in a file where it holds a "
                              "dataset that is not in memory, or another variant");
    }
    ++*count;
    for (int32_t k = 0; k < num_tensors; ++k) {
      RHEOS_TRY(add_strings_of(tensors[k], depth + 1, count));
    }
  }
  return NULL;
}

// How many strings stand for an item; fails for what has none.
static rheos_status *add_strings_of(const rheos_tensor *item, int32_t depth, int64_t *count) {
  rheos__elements e;
  ++*count;
  if (!is_variant(item)) return NULL;
  if (item->dtype != RHEOS_VARIANT || depth == MOST_DEPTH || !rheos__elements_of(item, &e)) {
    return add_strings_of_packed(item, depth, count);
  }
  *count += 1 + e.num_components;
  for (int64_t i = 0; i < e.count * e.num_components; ++i) {
    RHEOS_TRY(add_strings_of(e.tensors[i], depth + 1, count));
  }
  return NULL;
}

static rheos_status *put_ints(const int64_t *values, int32_t count, rheos_tensor *strings,
                              int64_t index) {
  rheos_tensor *tensor = NULL;
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count), &tensor));
  memcpy(tensor->data, values, (size_t)count * sizeof *values);
  rheos_status *status = rheos__put_tensor_message(tensor, strings, index);
  rheos_tensor_unref(tensor);
  return status;
}

// A dtype, a rank (-1: unknown), dimensions.
static rheos_status *put_component(rheos_dtype dtype, const rheos_shape *shape,
                                   rheos_tensor *strings, int64_t index) {
  int64_t values[2 + RHEOS_MAX_RANK] = {dtype, shape->rank};
  const int32_t rank = shape->rank > 0 ? shape->rank : 0;
  for (int32_t i = 0; i < rank; ++i) values[2 + i] = shape->dims[i];
  return put_ints(values, 2 + rank, strings, index);
}

static rheos_status *put_item(const rheos_tensor *item, rheos_tensor *strings, int64_t *at);

static rheos_status *put_packed(const rheos_tensor *item, rheos_tensor *strings, int64_t *at) {
  RHEOS_TRY(rheos_tensor_set_string(strings, (*at)++, PACKED, MARK_BYTES));
  RHEOS_TRY(put_component(item->dtype, &item->shape, strings, (*at)++));
  for (int64_t i = 0; i < item->num_elements; ++i) {
    rheos_tensor *const *tensors = NULL;
    int32_t count = 0;
    RHEOS_TRY(rheos__packed_tensors_of(item, i, "saving", &tensors, &count));
    rheos__packed_form form = RHEOS__PACKED_TENSOR;
    rheos__packed_form_of(((rheos__variant *const *)item->data)[i], &form);
    const int64_t told = count == 1 && form == RHEOS__PACKED_RAGGED ? -1 : count;
    RHEOS_TRY(put_ints(&told, 1, strings, (*at)++));
    for (int32_t k = 0; k < count; ++k) RHEOS_TRY(put_item(tensors[k], strings, at));
  }
  return NULL;
}

static rheos_status *put_item(const rheos_tensor *item, rheos_tensor *strings, int64_t *at) {
  rheos__elements e;
  if (item == NULL) {
    ++*at;
    return NULL;
  }
  if (!is_variant(item)) return rheos__put_tensor_message(item, strings, (*at)++);
  if (!rheos__elements_of(item, &e)) return put_packed(item, strings, at);
  RHEOS_TRY(rheos_tensor_set_string(strings, (*at)++, MARK, MARK_BYTES));
  RHEOS_TRY(put_ints((int64_t[]){e.count, e.num_components}, 2, strings, (*at)++));
  for (int32_t i = 0; i < e.num_components; ++i) {
    RHEOS_TRY(put_component(e.types[i], &e.shapes[i], strings, (*at)++));
  }
  for (int64_t i = 0; i < e.count * e.num_components; ++i) {
    RHEOS_TRY(put_item(e.tensors[i], strings, at));
  }
  return NULL;
}

rheos_status *rheos__iterator_state_to_strings(const rheos_tensor *state,
                                               rheos_tensor **out_strings) {
  const rheos__saved_state *s = NULL;
  RHEOS_TRY(rheos__saved_state_of(state, "a saved variant", &s));
  int64_t count = 0, at = 0;
  for (int32_t i = 0; i < s->count; ++i) RHEOS_TRY(add_strings_of(s->items[i], 0, &count));
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SHAPE(count), out_strings));
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < s->count; ++i) {
    status = put_item(s->items[i], *out_strings, &at);
  }
  if (status == NULL) return NULL;
  rheos_tensor_unref(*out_strings);
  *out_strings = NULL;
  return status;
}

// ---- And back

typedef struct reader {
  const rheos_string *texts;
  int64_t count, at;
} reader;

static rheos_status *damaged(void) {
  return RHEOS_INVALID("what was saved is no state of an iterator");
}

static rheos_status *read_item(reader *r, int32_t depth, rheos_tensor **out_item);

// At least `count` integers, for rheos_tensor_unref().
static rheos_status *read_ints(reader *r, int64_t count, rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  if (r->at >= r->count) return damaged();
  RHEOS_TRY(rheos__tensor_of_message(&r->texts[r->at++], out_tensor));
  const rheos_tensor *t = *out_tensor;
  if (t->dtype == RHEOS_INT64 && t->shape.rank == 1 && t->num_elements >= count) return NULL;
  rheos_tensor_unref(*out_tensor);
  *out_tensor = NULL;
  return damaged();
}

static rheos_status *read_component(reader *r, rheos_dtype *type, rheos_shape *shape) {
  rheos_tensor *tensor = NULL;
  RHEOS_TRY(read_ints(r, 2, &tensor));
  const int64_t *values = tensor->data, rank = values[1];
  bool fits = rank >= -1 && rank <= RHEOS_MAX_RANK && rank <= tensor->num_elements - 2 &&
              values[0] > 0 && values[0] < RHEOS_REF &&
              rheos_dtype_size((rheos_dtype)values[0]) > 0;
  for (int64_t i = 0; fits && i < rank; ++i) fits = values[2 + i] >= -1;
  if (fits) {
    *type = (rheos_dtype)values[0];
    *shape = rank < 0 ? RHEOS_UNKNOWN_SHAPE : RHEOS_SCALAR;
    shape->rank = (int32_t)rank;
    for (int64_t i = 0; i < rank; ++i) shape->dims[i] = values[2 + i];
  }
  rheos_tensor_unref(tensor);
  return fits ? NULL : damaged();
}

// Everything but the dataset itself is the caller's.
static rheos_status *read_elements(reader *r, int32_t depth, rheos_dtype *types,
                                   rheos_shape *shapes, rheos_tensor **tensors,
                                   const rheos__elements *e) {
  for (int32_t i = 0; i < e->num_components; ++i) {
    RHEOS_TRY(read_component(r, &types[i], &shapes[i]));
  }
  for (int64_t i = 0; i < e->count * e->num_components; ++i) {
    RHEOS_TRY(read_item(r, depth + 1, &tensors[i]));
    if (tensors[i] == NULL || tensors[i]->dtype != types[i % e->num_components]) return damaged();
  }
  return NULL;
}

static rheos_status *read_dataset(reader *r, int32_t depth, rheos_tensor **out_item) {
  rheos_tensor *counts = NULL;
  RHEOS_TRY(read_ints(r, 2, &counts));
  const int64_t count = ((const int64_t *)counts->data)[0];
  const int64_t components = ((const int64_t *)counts->data)[1];
  rheos_tensor_unref(counts);
  const int64_t left = r->count - r->at;  // each tensor takes a string
  if (count < 0 || components < 1 || components > left || count > left / components) {
    return damaged();
  }
  rheos_dtype *types = rheos__alloc_array((size_t)components, sizeof *types);
  rheos_shape *shapes = rheos__alloc_array((size_t)components, sizeof *shapes);
  rheos_tensor **tensors = rheos__alloc_array((size_t)(count * components), sizeof *tensors);
  const rheos__elements e = {count, (int32_t)components, types, shapes, tensors};
  rheos_status *status = types == NULL || shapes == NULL || tensors == NULL
                             ? rheos__out_of_memory()
                             : read_elements(r, depth, types, shapes, tensors, &e);
  if (status == NULL) {
    status = rheos__elements_take(&e, out_item);
  } else if (tensors != NULL) {
    for (int64_t i = 0; i < count * components; ++i) rheos_tensor_unref(tensors[i]);
  }
  rheos__free(types);
  rheos__free(shapes);
  rheos__free(tensors);
  return status;
}

// The tensors of a variant, of which there are some.
static rheos_status *read_variant(reader *r, int32_t depth, rheos__variant **out_variant) {
  rheos_tensor *counts = NULL;
  RHEOS_TRY(read_ints(r, 1, &counts));
  int64_t count = *(const int64_t *)counts->data;
  rheos_tensor_unref(counts);
  const rheos__packed_form form = count == 1 ? RHEOS__PACKED_TENSOR : RHEOS__PACKED_RAGGED;
  if (count == -1) count = 1;
  if (count < 1 || count > RHEOS_MAX_RANK + 1) return damaged();
  rheos_tensor *tensors[RHEOS_MAX_RANK + 1] = {NULL};
  rheos_status *status = NULL;
  for (int64_t i = 0; status == NULL && i < count; ++i) {
    status = read_item(r, depth + 1, &tensors[i]);
    if (status == NULL && tensors[i] == NULL) status = damaged();
  }
  if (status == NULL) return rheos__packed_tensors_take(form, tensors, (int32_t)count, out_variant);
  rheos__element_clear(tensors, (int32_t)count);
  return status;
}

static rheos_status *read_packed(reader *r, int32_t depth, rheos_tensor **out_item) {
  rheos_dtype type;
  rheos_shape shape;
  RHEOS_TRY(read_component(r, &type, &shape));
  const int64_t count = rheos_shape_num_elements(&shape);
  if (type != RHEOS_VARIANT || count < 0 || count > r->count - r->at) return damaged();
  RHEOS_TRY(rheos__tensor_new(type, &shape, out_item));
  rheos__variant **variants = (*out_item)->data;
  for (int64_t i = 0; i < count; ++i) {
    rheos_status *status = read_variant(r, depth, &variants[i]);
    if (status == NULL) continue;
    rheos_tensor_unref(*out_item);
    *out_item = NULL;
    return status;
  }
  return NULL;
}

static rheos_status *read_item(reader *r, int32_t depth, rheos_tensor **out_item) {
  *out_item = NULL;
  if (r->at >= r->count || depth > MOST_DEPTH) return damaged();
  const rheos_string *text = &r->texts[r->at++];
  if (text->size_bytes == 0) return NULL;
  if (text->size_bytes == MARK_BYTES && text->data[0] == MARK[0]) {
    return read_dataset(r, depth, out_item);
  }
  if (text->size_bytes == MARK_BYTES && text->data[0] == PACKED[0]) {
    return read_packed(r, depth, out_item);
  }
  return rheos__tensor_of_message(text, out_item);
}

rheos_status *rheos__iterator_state_of_strings(const rheos_tensor *strings,
                                               rheos_tensor **out_state) {
  if (strings->shape.rank != 1 || strings->num_elements > INT32_MAX) return damaged();
  reader r = {.texts = strings->data, .count = strings->num_elements};
  rheos__saved_state state = {0};
  rheos_status *status = NULL;
  while (status == NULL && r.at < r.count) {
    rheos_tensor *item = NULL;
    status = read_item(&r, 0, &item);
    if (status == NULL) status = rheos__state_tensors(&state, &item, 1);
    rheos_tensor_unref(item);
  }
  if (status == NULL) return rheos__saved_state_tensor_take(&state, out_state);
  rheos__saved_state_deinit(&state);
  return status;
}
