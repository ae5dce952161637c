// Tensors that a session keeps under handles, so that a value can stay there from one step to
// others.
//
// A handle is a string, "NODE;NUMBER;DEVICE", as TensorFlow writes it: the device is of use where
// there are several.
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "ops/kit/op_util.h"
#include "ops/kit/string_util.h"
#include "resource/resource.h"

typedef struct kept {
  rheos_tensor *handle;  // a scalar string
  rheos_tensor *value;
} kept;

typedef struct store {
  rheos__resource base;
  pthread_mutex_t mutex;
  int64_t next_number;
  kept *items;
  size_t count, capacity;
} store;

static rheos_status *store_init(rheos__resource *resource, const void *argument) {
  (void)argument;
  store *s = (store *)resource;
  return pthread_mutex_init(&s->mutex, NULL) == 0 ? NULL : rheos__out_of_memory();
}

static void store_deinit(rheos__resource *resource) {
  store *s = (store *)resource;
  for (size_t i = 0; i < s->count; i++) {
    rheos_tensor_unref(s->items[i].handle);
    rheos_tensor_unref(s->items[i].value);
  }
  rheos__free(s->items);
  pthread_mutex_destroy(&s->mutex);
}

static const rheos__resource_kind store_kind = {"kept tensors", sizeof(store), store_init,
                                                store_deinit};

static rheos_status *not_there(const rheos_string *handle) {
  return RHEOS_INVALID("The tensor with handle '%.*s' is not in the session store.",
                       (int)handle->size_bytes, handle->data);
}

// The item of that handle in a locked store, NULL if there is none. The newest are looked at first.
static kept *find(const store *s, const rheos_string *handle) {
  for (size_t i = s->count; i-- > 0;) {
    const rheos_string *own = s->items[i].handle->data;
    if (own->size_bytes == handle->size_bytes &&
        memcmp(own->data, handle->data, handle->size_bytes) == 0) {
      return &s->items[i];
    }
  }
  return NULL;
}

typedef struct session_tensor {
  store *store;
  const char *node_name, *device_name;  // of GetSessionHandle
  rheos_dtype dtype;                    // of GetSessionTensor
} session_tensor;

static void release(void *state) { rheos__resource_unref(&((session_tensor *)state)->store->base); }

static rheos_status *prepare(rheos__prepare *p, rheos__compute_fn compute,
                             session_tensor **out_state) {
  session_tensor *state = RHEOS_NEW_STATE(p, session_tensor);
  if (state == NULL) return rheos__out_of_memory();
  rheos__resource *resource;
  RHEOS_TRY(rheos__resources_get(p->resources, &store_kind, "", NULL, &resource));
  state->store = (store *)resource;
  p->release = release;
  p->compute = compute;
  *out_state = state;
  return NULL;
}

// ---- GetSessionHandle

static rheos_status *new_handle(const session_tensor *state, int64_t number,
                                rheos_tensor **out_handle) {
  char *text =
      rheos__text_format("%s;%lld;%s", state->node_name, (long long)number, state->device_name);
  if (text == NULL) return rheos__out_of_memory();
  rheos_tensor *handle = NULL;
  rheos_status *status = rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &handle);
  if (status == NULL) status = rheos_tensor_set_string(handle, 0, text, strlen(text));
  rheos__free(text);
  if (status == NULL) {
    *out_handle = handle;
  } else {
    rheos_tensor_unref(handle);
  }
  return status;
}

static rheos_status *compute_keep(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step;
  const session_tensor *state = argument;
  store *s = state->store;
  rheos_tensor *value = NULL;
  RHEOS_TRY(rheos__tensor_keep(inputs[0], &value));
  pthread_mutex_lock(&s->mutex);
  rheos_status *status = RHEOS_RESERVE(s->items, s->capacity, s->count + 1)
                             ? new_handle(state, s->next_number, &outputs[0])
                             : rheos__out_of_memory();
  if (status == NULL) {
    s->items[s->count++] = (kept){rheos_tensor_ref(outputs[0]), value};
    s->next_number++;
  }
  pthread_mutex_unlock(&s->mutex);
  if (status != NULL) rheos_tensor_unref(value);
  return status;
}

static rheos_status *prepare_keep(rheos__prepare *p) {
  const char *name = rheos__arena_strdup(p->arena, p->node_name);
  const char *device = rheos__arena_strdup(p->arena, p->device_name);
  if (name == NULL || device == NULL) return rheos__out_of_memory();
  session_tensor *state;
  RHEOS_TRY(prepare(p, compute_keep, &state));
  state->node_name = name;
  state->device_name = device;
  return NULL;
}

const rheos__op_def rheos__op_GetSessionHandle = {
    .name = "GetSessionHandle",
    .signature = "value: T -> handle: string; T: type",
    .doc = "Keeps `value` in the session, under the handle that comes out.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_keep,
};

// ---- GetSessionTensor

static rheos_status *compute_get(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  (void)step;
  const session_tensor *state = argument;
  const rheos_string *handle;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "handle", &handle));
  pthread_mutex_lock(&state->store->mutex);
  const kept *item = find(state->store, handle);
  rheos_tensor *value = item != NULL ? rheos_tensor_ref(item->value) : NULL;
  pthread_mutex_unlock(&state->store->mutex);
  if (value == NULL) return not_there(handle);
  if (value->dtype == state->dtype) {
    outputs[0] = value;
    return NULL;
  }
  rheos_status *status =
      RHEOS_INVALID("the tensor with handle '%.*s' is of %s, not %s", (int)handle->size_bytes,
                    handle->data, rheos_dtype_name(value->dtype), rheos_dtype_name(state->dtype));
  rheos_tensor_unref(value);
  return status;
}

static rheos_status *prepare_get(rheos__prepare *p) {
  session_tensor *state;
  RHEOS_TRY(prepare(p, compute_get, &state));
  state->dtype = rheos__attr_type(p->attrs, "dtype");
  return NULL;
}

const rheos__op_def rheos__op_GetSessionTensor = {
    .name = "GetSessionTensor",
    .signature = "handle: string -> value: dtype; dtype: type",
    .doc = "The tensor that the session keeps under `handle`.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
    .prepare = prepare_get,
};

// ---- DeleteSessionTensor

static rheos_status *compute_delete(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  store *s = ((const session_tensor *)argument)->store;
  const rheos_string *handle;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "handle", &handle));
  pthread_mutex_lock(&s->mutex);
  kept *item = find(s, handle), gone = {NULL, NULL};
  if (item != NULL) {
    gone = *item;
    s->count--;
    memmove(item, item + 1, (size_t)(s->items + s->count - item) * sizeof *item);
  }
  pthread_mutex_unlock(&s->mutex);
  if (gone.handle == NULL) return not_there(handle);
  rheos_tensor_unref(gone.handle);
  rheos_tensor_unref(gone.value);
  return NULL;
}

static rheos_status *prepare_delete(rheos__prepare *p) {
  session_tensor *state;
  return prepare(p, compute_delete, &state);
}

const rheos__op_def rheos__op_DeleteSessionTensor = {
    .name = "DeleteSessionTensor",
    .signature = "handle: string ->",
    .doc = "Ends the keeping of the tensor under `handle`.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
    .prepare = prepare_delete,
};
