// The table of a host's packings. Few are looked up, while a plan is specialised, so a list does.
#include "resource/packing.h"

#include <string.h>

struct rheos__packing {
  rheos__packing *next;
  rheos__packings *packings;
  int64_t references;  // guarded by the table's mutex
  rheos__resource *cell;
  rheos_tensor *constant;
  rheos_status *(*make)(const void *state, const void *from, void *packed);
  size_t bytes, key_bytes;
  void *key;
  pthread_mutex_t mutex;  // of the rest
  int64_t content;        // of what `value` was made of; 0: of nothing
  int64_t wanted;         // of what it was last wanted of
  rheos_tensor *value;
};

struct rheos__packings {
  _Atomic int64_t references;
  pthread_mutex_t mutex;
  rheos__packing *first;
  _Atomic int64_t num_made;
};

rheos__packings *rheos__packings_new(void) {
  rheos__packings *packings = rheos__alloc_zeroed(sizeof *packings);
  if (packings == NULL) return NULL;
  if (pthread_mutex_init(&packings->mutex, NULL) != 0) {
    rheos__free(packings);
    return NULL;
  }
  atomic_init(&packings->references, 1);
  return packings;
}

void rheos__packings_unref(rheos__packings *packings) {
  if (packings == NULL) return;
  if (atomic_fetch_sub_explicit(&packings->references, 1, memory_order_acq_rel) != 1) return;
  pthread_mutex_destroy(&packings->mutex);
  rheos__free(packings);
}

size_t rheos__packings_bytes(rheos__packings *packings) {
  size_t bytes = 0;
  pthread_mutex_lock(&packings->mutex);
  for (rheos__packing *packing = packings->first; packing != NULL; packing = packing->next) {
    pthread_mutex_lock(&packing->mutex);
    if (packing->value != NULL) bytes += packing->value->size_bytes;
    pthread_mutex_unlock(&packing->mutex);
  }
  pthread_mutex_unlock(&packings->mutex);
  return bytes;
}

int64_t rheos__packings_made(const rheos__packings *packings) {
  return atomic_load(&packings->num_made);
}

static void packing_free(rheos__packing *packing) {
  rheos__resource_unref(packing->cell);
  rheos_tensor_unref(packing->constant);
  rheos_tensor_unref(packing->value);
  pthread_mutex_destroy(&packing->mutex);
  rheos__free(packing->key);
  rheos__free(packing);
}

static rheos__packing *packing_new(rheos__packings *packings, rheos__resource *cell,
                                   rheos_tensor *constant, const rheos__packing_request *request) {
  rheos__packing *packing = rheos__alloc_zeroed(sizeof *packing);
  void *key = rheos__alloc(request->key_bytes);
  if (packing == NULL || key == NULL || pthread_mutex_init(&packing->mutex, NULL) != 0) {
    rheos__free(packing);
    rheos__free(key);
    return NULL;
  }
  packing->packings = packings;
  atomic_fetch_add_explicit(&packings->references, 1, memory_order_relaxed);
  packing->references = 1;
  packing->cell = cell != NULL ? rheos__resource_ref(cell) : NULL;
  packing->constant = rheos_tensor_ref(constant);
  packing->make = request->make;
  packing->bytes = request->bytes;
  packing->key_bytes = request->key_bytes;
  packing->key = key;
  if (request->key_bytes > 0) memcpy(key, request->key, request->key_bytes);
  return packing;
}

static bool fits(const rheos__packing *packing, const rheos__resource *cell,
                 const rheos_tensor *constant, const rheos__packing_request *request) {
  return packing->cell == cell && packing->constant == constant && packing->make == request->make &&
         packing->bytes == request->bytes && packing->key_bytes == request->key_bytes &&
         (request->key_bytes == 0 || memcmp(packing->key, request->key, request->key_bytes) == 0);
}

rheos_status *rheos__packings_get(rheos__packings *packings, rheos__resource *cell,
                                  rheos_tensor *constant, const rheos__packing_request *request,
                                  rheos__packing **out_packing) {
  if (cell != NULL) constant = NULL;
  pthread_mutex_lock(&packings->mutex);
  rheos__packing *packing = packings->first;
  while (packing != NULL && !fits(packing, cell, constant, request)) packing = packing->next;
  if (packing != NULL) {
    ++packing->references;
  } else if ((packing = packing_new(packings, cell, constant, request)) != NULL) {
    packing->next = packings->first;
    packings->first = packing;
  }
  pthread_mutex_unlock(&packings->mutex);
  *out_packing = packing;
  return packing != NULL ? NULL : rheos__out_of_memory();
}

void rheos__packing_unref(rheos__packing *packing) {
  if (packing == NULL) return;
  rheos__packings *packings = packing->packings;
  pthread_mutex_lock(&packings->mutex);
  const bool last = --packing->references == 0;
  if (last) {
    rheos__packing **link = &packings->first;
    while (*link != packing) link = &(*link)->next;
    *link = packing->next;
  }
  pthread_mutex_unlock(&packings->mutex);
  if (!last) return;
  packing_free(packing);
  rheos__packings_unref(packings);
}

// A step that still works on the packing of an older value keeps that.
static rheos_status *make(rheos__packing *packing, const rheos__packing_request *request,
                          const rheos_tensor *from) {
  packing->content = 0;
  if (packing->value != NULL && !rheos__tensor_is_exclusive(packing->value)) {
    rheos_tensor_unref(packing->value);
    packing->value = NULL;
  }
  if (packing->value == NULL) {
    RHEOS_TRY(rheos_tensor_new(RHEOS_UINT8, RHEOS_SHAPE((int64_t)packing->bytes), &packing->value));
  }
  atomic_fetch_add(&packing->packings->num_made, 1);
  return request->make(request->state, from->data, packing->value->data);
}

rheos_status *rheos__packing_take(rheos__packing *packing, const rheos__packing_request *request,
                                  rheos_tensor *from, rheos_tensor **out_packed) {
  *out_packed = NULL;
  const int64_t content = rheos__tensor_content(from);
  rheos_status *status = NULL;
  pthread_mutex_lock(&packing->mutex);
  const bool waits = !request->at_once && packing->wanted != content;
  packing->wanted = content;
  if (packing->content != content && !waits) {
    status = make(packing, request, from);
    if (status == NULL) packing->content = content;
  }
  if (status == NULL && packing->content == content) *out_packed = rheos_tensor_ref(packing->value);
  pthread_mutex_unlock(&packing->mutex);
  return status;
}
