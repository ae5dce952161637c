// Elements are references to tensors; a mutex guards all that changes.
#include "ops/flow/tensor_array.h"

#include <assert.h>
#include <pthread.h>

#include "base/arena.h"
#include "base/file.h"
#include "ops/kit/array_util.h"

typedef struct element {
  rheos_tensor *value;       // NULL: nothing, or, if it is written, zeros of `shape`
  const rheos_shape *shape;  // of what was or will be there, in the array's memory; NULL: not told
  bool is_written, is_read, is_cleared;
  bool is_own;  // the value is a sum that nobody else holds
} element;

struct rheos__array {
  rheos__variant variant;
  pthread_mutex_t mutex;
  rheos__array_spec spec;  // the name is its own
  element *elements;
  int64_t size;
  size_t capacity;
  int64_t marked_size;  // -1: not marked
  rheos__arena shapes;
  const rheos_shape *latest_shape;
  bool is_gradient, is_closed;
  // The gradients of it, a list
  rheos__array *gradients, *next_gradient;
  char *source;
};

static void clear_elements(rheos__array *array) {
  for (int64_t i = 0; i < array->size; i++) rheos_tensor_unref(array->elements[i].value);
  rheos__free(array->elements);
  array->elements = NULL;
  array->size = 0;
  array->capacity = 0;
}

static void free_array(rheos__variant *variant) {
  rheos__array *array = (rheos__array *)variant;
  clear_elements(array);
  for (rheos__array *at = array->gradients; at != NULL;) {
    rheos__array *next = at->next_gradient;
    rheos__variant_unref(&at->variant);
    at = next;
  }
  pthread_mutex_destroy(&array->mutex);
  rheos__arena_deinit(&array->shapes);
  rheos__free((char *)(uintptr_t)array->spec.name);
  rheos__free(array->source);
  rheos__free(array);
}

const rheos__variant_kind rheos__array_kind = {.name = "TensorArray", .free = free_array};

rheos_status *rheos__array_new(const rheos__array_spec *spec, int64_t size,
                               rheos__array **out_array) {
  *out_array = NULL;
  if (size < 0) return RHEOS_INVALID("Size should be >= 0.");
  rheos__array *array = rheos__alloc_zeroed(sizeof *array);
  if (array == NULL) return rheos__out_of_memory();
  atomic_init(&array->variant.references, 1);
  array->variant.kind = &rheos__array_kind;
  array->spec = *spec;
  array->spec.name = rheos__strdup(spec->name);
  array->marked_size = -1;
  pthread_mutex_init(&array->mutex, NULL);
  rheos__arena_init(&array->shapes);
  array->elements = size > 0 ? rheos__alloc_array((size_t)size, sizeof *array->elements) : NULL;
  if (array->spec.name == NULL || (size > 0 && array->elements == NULL)) {
    free_array(&array->variant);
    return rheos__out_of_memory();
  }
  array->size = size;
  array->capacity = (size_t)size;
  *out_array = array;
  return NULL;
}

void rheos__array_unref(rheos__array *array) {
  if (array != NULL) rheos__variant_unref(&array->variant);
}

const char *rheos__array_name(const rheos__array *array) { return array->spec.name; }

rheos_dtype rheos__array_dtype(const rheos__array *array) { return array->spec.dtype; }

// Locks the array; a status, and no lock, if it is closed.
static rheos_status *lock(rheos__array *array) {
  pthread_mutex_lock(&array->mutex);
  if (!array->is_closed) return NULL;
  pthread_mutex_unlock(&array->mutex);
  return RHEOS_INVALID("TensorArray %s has already been closed.", array->spec.name);
}

static rheos_status *unlock(rheos__array *array, rheos_status *status) {
  pthread_mutex_unlock(&array->mutex);
  return status;
}

rheos_status *rheos__array_size(rheos__array *array, int64_t *out_size) {
  RHEOS_TRY(lock(array));
  *out_size = array->size;
  return unlock(array, NULL);
}

rheos_status *rheos__array_packed_size(rheos__array *array, int64_t *out_size) {
  RHEOS_TRY(lock(array));
  const bool is_marked = array->is_gradient && array->marked_size >= 0;
  *out_size = is_marked ? array->marked_size : array->size;
  return unlock(array, NULL);
}

// Notes the shape of an element; neighbours mostly share one.
static rheos_status *note_shape(rheos__array *array, const rheos_shape *shape, element *e) {
  if (array->latest_shape == NULL || !rheos_shape_equal(array->latest_shape, shape)) {
    const rheos_shape *copy = rheos__arena_copy(&array->shapes, shape, sizeof *shape);
    if (copy == NULL) return rheos__out_of_memory();
    array->latest_shape = copy;
  }
  e->shape = array->latest_shape;
  return NULL;
}

// ---- Writing

static rheos_status *make_longer(rheos__array *array, int64_t size) {
  if (size <= array->size) return NULL;
  if (!RHEOS_RESERVE(array->elements, array->capacity, (size_t)size)) return rheos__out_of_memory();
  for (int64_t i = array->size; i < size; i++) array->elements[i] = (element){.value = NULL};
  array->size = size;
  return NULL;
}

// Fails unless a value of that dtype and shape may become an element; learns the shape from the
// first where all have one.
static rheos_status *check_value(rheos__array *array, int64_t index, const rheos_tensor *value) {
  rheos__array_spec *spec = &array->spec;
  if (value->dtype != spec->dtype) {
    return RHEOS_INVALID(
        "TensorArray %s: Could not write to TensorArray index %lld because the value dtype is %s "
        "but TensorArray dtype is %s.",
        spec->name, (long long)index, rheos_dtype_name(value->dtype),
        rheos_dtype_name(spec->dtype));
  }
  if (!rheos_shape_compatible(&spec->shape, &value->shape)) {
    rheos__shape_text got, want;
    return RHEOS_INVALID(
        "TensorArray %s: Could not write to TensorArray index %lld because the value shape is %s "
        "which is incompatible with the TensorArray's inferred element shape: %s (consider setting "
        "infer_shape=False).",
        spec->name, (long long)index, rheos__shape_text_of(&value->shape, &got),
        rheos__shape_text_of(&spec->shape, &want));
  }
  return NULL;
}

static rheos_status *refuse_write(const rheos__array *array, int64_t index, const char *why) {
  return RHEOS_INVALID(
      "TensorArray %s: Could not write to TensorArray index %lld because it has "
      "already been %s.",
      array->spec.name, (long long)index, why);
}

// The place to write to, made if the array may get longer.
static rheos_status *place_for(rheos__array *array, int64_t index, element **out_element) {
  if (index < 0 || (index >= array->size && !array->spec.has_dynamic_size)) {
    return RHEOS_INVALID(
        "TensorArray %s: Tried to write to index %lld but array is not resizeable and size is: "
        "%lld",
        array->spec.name, (long long)index, (long long)array->size);
  }
  RHEOS_TRY(make_longer(array, index + 1));
  *out_element = &array->elements[index];
  return NULL;
}

// Adds to what is in the element already, in the host's memory: in place where the sum so far is
// nobody else's.
static rheos_status *aggregate(rheos__array *array, int64_t index, element *e,
                               rheos_tensor *value) {
  const rheos_shape *shape = e->value != NULL ? &e->value->shape : e->shape;
  if (!rheos_shape_equal(shape, &value->shape)) {
    rheos__shape_text is, comes;
    return RHEOS_INVALID(
        "TensorArray %s: Could not aggregate to TensorArray index %lld because the existing shape "
        "is %s but the new input shape is %s.",
        array->spec.name, (long long)index, rheos__shape_text_of(shape, &is),
        rheos__shape_text_of(&value->shape, &comes));
  }
  if (e->value == NULL) {
    e->value = rheos_tensor_ref(value);
    return NULL;
  }
  if (value->dtype == RHEOS_VARIANT) {
    rheos_tensor *sum = NULL;
    RHEOS_TRY(rheos__variants_add(e->value, value, 0, &sum));
    rheos_tensor_unref(e->value);
    e->value = sum;
    return NULL;
  }
  const rheos__add_fn add = rheos__add_of(value->dtype);
  if (add == NULL) return RHEOS_INVALID("%s cannot be added", rheos_dtype_name(value->dtype));
  if (!e->is_own || !rheos__tensor_is_exclusive(e->value)) {
    rheos_tensor *copy = NULL;
    RHEOS_TRY(rheos__tensor_copy_to(e->value, NULL, &copy));
    rheos_tensor_unref(e->value);
    e->value = copy;
    e->is_own = true;
  }
  rheos_tensor *addend = NULL;
  RHEOS_TRY(rheos__tensor_in(value, NULL, &addend));
  add(e->value->data, addend->data, addend->num_elements);
  rheos_tensor_unref(addend);
  return NULL;
}

static rheos_status *write(rheos__array *array, int64_t index, rheos_tensor *value) {
  element *e = NULL;
  RHEOS_TRY(place_for(array, index, &e));
  RHEOS_TRY(check_value(array, index, value));
  rheos__array_spec *spec = &array->spec;
  if (spec->has_identical_shapes && !rheos_shape_is_known(&spec->shape)) spec->shape = value->shape;
  if (e->is_read) return refuse_write(array, index, "read");
  if (e->is_written && !array->is_gradient) return refuse_write(array, index, "written to");
  if (e->is_written) return aggregate(array, index, e, value);
  e->value = rheos_tensor_ref(value);
  e->is_written = true;
  return NULL;
}

rheos_status *rheos__array_write_take(rheos__array *array, int64_t index, rheos_tensor *value) {
  rheos_status *status = lock(array);
  if (status == NULL) status = unlock(array, write(array, index, value));
  rheos_tensor_unref(value);
  return status;
}

// ---- Reading

// An element that nothing was written to is zeros, if the shape is known.
static rheos_status *stand_for_zeros(rheos__array *array, int64_t index) {
  const rheos_shape *shape = &array->spec.shape;
  rheos__shape_text text;
  if (!rheos_shape_is_known(shape)) {
    return RHEOS_INVALID(
        "Could not read from TensorArray index %lld.  Furthermore, the element shape is not fully "
        "defined: %s.  It is possible you are working with a resizeable TensorArray and "
        "stop_gradients is not allowing the gradients to be written.  If you set the full "
        "element_shape property on the forward TensorArray, the proper all-zeros tensor will be "
        "returned instead of incurring this error.",
        (long long)index, rheos__shape_text_of(shape, &text));
  }
  RHEOS_TRY(make_longer(array, index + 1));
  element *e = &array->elements[index];
  RHEOS_TRY(note_shape(array, shape, e));
  e->is_written = true;
  return NULL;
}

static rheos_status *read_element(rheos__array *array, element *e, rheos_tensor **out_value) {
  if (e->value != NULL) {
    *out_value = rheos_tensor_ref(e->value);
    return NULL;
  }
  RHEOS_TRY(rheos__tensor_new(array->spec.dtype, e->shape, out_value));
  if ((*out_value)->size_bytes > 0) memset((*out_value)->data, 0, (*out_value)->size_bytes);
  return NULL;
}

static rheos_status *read(rheos__array *array, int64_t index, rheos_tensor **out_value) {
  const bool is_inside = index >= 0 && index < array->size;
  if (index < 0 || (!array->is_gradient && !is_inside)) {
    return RHEOS_INVALID("Tried to read from index %lld but array size is: %lld", (long long)index,
                         (long long)array->size);
  }
  if (!is_inside || !array->elements[index].is_written) {
    RHEOS_TRY(stand_for_zeros(array, index));
  }
  element *e = &array->elements[index];
  if (e->is_cleared) {
    return RHEOS_INVALID(
        "TensorArray %s: Could not read index %lld twice because it was cleared after a previous "
        "read (perhaps try setting clear_after_read = false?).",
        array->spec.name, (long long)index);
  }
  if (e->value != NULL) RHEOS_TRY(note_shape(array, &e->value->shape, e));
  RHEOS_TRY(read_element(array, e, out_value));
  e->is_read = true;
  if (!array->spec.clears_after_read) return NULL;
  rheos_tensor_unref(e->value);
  e->value = NULL;
  e->is_cleared = true;
  return NULL;
}

rheos_status *rheos__array_read(rheos__array *array, int64_t index, rheos_tensor **out_value) {
  *out_value = NULL;
  RHEOS_TRY(lock(array));
  return unlock(array, read(array, index, out_value));
}

// ---- Many at once

rheos_status *rheos__array_expect(rheos__array *array, int64_t count, int64_t *out_size) {
  RHEOS_TRY(lock(array));
  *out_size = array->size;
  if (array->spec.has_dynamic_size && *out_size < count) *out_size = count;
  return unlock(array, NULL);
}

rheos_status *rheos__array_mark_size(rheos__array *array, int64_t size) {
  RHEOS_TRY(lock(array));
  if (!array->is_gradient) array->marked_size = size;
  return unlock(array, NULL);
}

rheos_status *rheos__array_merge_shape(rheos__array *array, const rheos_shape *shape,
                                       rheos_shape *out_shape) {
  RHEOS_TRY(lock(array));
  rheos_status *status = rheos__shape_merge(&array->spec.shape, shape, out_shape);
  if (status == NULL) array->spec.shape = *out_shape;
  return unlock(array, status);
}

void rheos__array_close(rheos__array *array) {
  pthread_mutex_lock(&array->mutex);
  clear_elements(array);
  array->is_closed = true;
  pthread_mutex_unlock(&array->mutex);
}

// ---- Gradients

static rheos_status *shape_behind(const rheos_shape *prefix, const rheos_shape *shape,
                                  rheos_shape *out_shape) {
  *out_shape = *shape;
  if (prefix == NULL || shape->rank < 0) return NULL;
  *out_shape = *prefix;
  return rheos__shape_append_range(out_shape, shape, 0, shape->rank);
}

// Elements that were written are zeros of their shapes until gradients arrive.
static rheos_status *copy_shapes(const rheos__array *from, const rheos_shape *prefix,
                                 rheos__array *gradient) {
  assert(from->size == gradient->size);
  for (int64_t i = 0; i < from->size; i++) {
    const element *e = &from->elements[i];
    const rheos_shape *shape = e->value != NULL ? &e->value->shape : e->shape;
    if (!e->is_written || shape == NULL) continue;
    rheos_shape whole;
    RHEOS_TRY(shape_behind(prefix, shape, &whole));
    RHEOS_TRY(note_shape(gradient, &whole, &gradient->elements[i]));
    gradient->elements[i].is_written = true;
  }
  return NULL;
}

static rheos_status *make_gradient(rheos__array *array, const char *source,
                                   const rheos_shape *prefix, rheos__array **out_gradient) {
  rheos__array_spec spec = array->spec;
  spec.has_dynamic_size = false;
  spec.clears_after_read = true;
  RHEOS_TRY(shape_behind(prefix, &array->spec.shape, &spec.shape));
  char *name = rheos__text_format("%s@%s", array->spec.name, source);
  if (name == NULL) return rheos__out_of_memory();
  spec.name = name;
  rheos__array *gradient = NULL;
  rheos_status *made = rheos__array_new(&spec, array->size, &gradient);
  rheos__free(name);
  if (made != NULL) return made;
  gradient->is_gradient = true;
  gradient->marked_size = array->marked_size;
  gradient->source = rheos__strdup(source);
  rheos_status *status = gradient->source == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) status = copy_shapes(array, prefix, gradient);
  if (status != NULL) {
    rheos__array_unref(gradient);
    return status;
  }
  gradient->next_gradient = array->gradients;
  array->gradients = gradient;
  *out_gradient = gradient;
  return NULL;
}

static rheos_status *find_gradient(rheos__array *array, const char *source,
                                   const rheos_shape *prefix, rheos__array **out_gradient) {
  array->spec.has_dynamic_size = false;
  rheos__array *found = array->gradients;
  while (found != NULL && strcmp(found->source, source) != 0) found = found->next_gradient;
  if (found == NULL) RHEOS_TRY(make_gradient(array, source, prefix, &found));
  rheos__variant_ref(&found->variant);
  *out_gradient = found;
  return NULL;
}

rheos_status *rheos__array_gradient(rheos__array *array, const char *source,
                                    const rheos_shape *prefix, rheos__array **out_gradient) {
  *out_gradient = NULL;
  RHEOS_TRY(lock(array));
  return unlock(array, find_gradient(array, source, prefix, out_gradient));
}
