// Items belong to the latest list that came of one another; see tensor_list.h. One mutex for all
// that share them: it is held for a few instructions, or while a list is copied.
#include "ops/flow/tensor_list.h"

#include <assert.h>
#include <pthread.h>

enum { MOST_HOPS = 16 };  // changes to look through before a list gets a copy of its own

// What lists that came of one another share.
typedef struct lineage {
  int32_t references;  // lists; guarded by the mutex, as all but the spec
  pthread_mutex_t mutex;
  rheos__list_spec spec;
  rheos_tensor **items;  // of the latest list, as many as it is long; NULL elements hold nothing
  size_t capacity;
} lineage;

struct rheos__list {
  rheos__variant variant;
  lineage *lineage;
  int64_t length;
  // Guarded by the mutex. NULL: this is the latest list. Else it is as `next`, a reference, but for
  // its length and what it has at `index` (-1: nothing else), which is `item`.
  rheos__list *next;
  int64_t index;
  rheos_tensor *item;
  // A copy of its items, made once; NULL: none. Read without the mutex.
  rheos_tensor **_Atomic own;
};

static void free_items(rheos_tensor **items, int64_t length) {
  for (int64_t i = 0; items != NULL && i < length; i++) rheos_tensor_unref(items[i]);
  rheos__free(items);
}

static void free_list(rheos__variant *variant) {
  rheos__list *list = (rheos__list *)variant;
  lineage *l = list->lineage;
  pthread_mutex_lock(&l->mutex);
  const bool is_last = --l->references == 0;
  pthread_mutex_unlock(&l->mutex);
  assert(is_last == (list->next == NULL));  // earlier ones keep the latest
  if (is_last) {
    free_items(l->items, list->length);
    pthread_mutex_destroy(&l->mutex);
    rheos__free(l);
  }
  free_items(atomic_load(&list->own), list->length);
  rheos_tensor_unref(list->item);
  if (list->next != NULL) rheos__variant_unref(&list->next->variant);
  rheos__free(list);
}

const rheos__variant_kind rheos__list_kind = {.name = "TensorList",
                                              .free = free_list,
                                              .add = rheos__list_add,
                                              .zeros_like = rheos__list_zeros_like};

// Counts for the lineage, by its mutex where others have it.
static rheos__list *new_list(lineage *l, int64_t length) {
  rheos__list *list = rheos__alloc_zeroed(sizeof *list);
  if (list == NULL) return NULL;
  atomic_init(&list->variant.references, 1);
  list->variant.kind = &rheos__list_kind;
  list->lineage = l;
  list->length = length;
  list->index = -1;
  l->references++;
  return list;
}

rheos_status *rheos__list_new(const rheos__list_spec *spec, int64_t length,
                              rheos__list **out_list) {
  assert(length >= 0);
  *out_list = NULL;
  lineage *l = rheos__alloc_zeroed(sizeof *l);
  if (l == NULL) return rheos__out_of_memory();
  l->spec = *spec;
  l->items = length > 0 ? rheos__alloc_array((size_t)length, sizeof *l->items) : NULL;
  l->capacity = (size_t)length;
  rheos__list *list = length == 0 || l->items != NULL ? new_list(l, length) : NULL;
  if (list == NULL) {
    rheos__free(l->items);
    rheos__free(l);
    return rheos__out_of_memory();
  }
  pthread_mutex_init(&l->mutex, NULL);
  *out_list = list;
  return NULL;
}

void rheos__list_fill_take(rheos__list *list, int64_t index, rheos_tensor *item) {
  assert(list->next == NULL && index >= 0 && index < list->length);
  rheos_tensor_unref(list->lineage->items[index]);
  list->lineage->items[index] = item;
}

void rheos__list_unref(rheos__list *list) {
  if (list != NULL) rheos__variant_unref(&list->variant);
}

rheos_status *rheos__list_tensor_take(rheos__list *list, rheos_tensor **out_tensor) {
  return rheos__variant_tensor_take(&list->variant, out_tensor);
}

rheos_status *rheos__list_of(const rheos_tensor *tensor, const char *op, rheos__list **out_list) {
  return rheos__variant_of(tensor, &rheos__list_kind, op, (rheos__variant **)out_list);
}

rheos_status *rheos__list_at(const rheos_tensor *tensor, int64_t index, const char *op,
                             rheos__list **out_list) {
  assert(tensor->dtype == RHEOS_VARIANT && index >= 0 && index < tensor->num_elements);
  rheos__variant *held = ((rheos__variant *const *)tensor->data)[index];
  if (held == NULL || held->kind != &rheos__list_kind) {
    return RHEOS_INVALID("element %lld of the input of %s is no TensorList", (long long)index, op);
  }
  *out_list = (rheos__list *)held;
  return NULL;
}

const rheos__list_spec *rheos__list_spec_of(const rheos__list *list) {
  return &list->lineage->spec;
}

int64_t rheos__list_length(const rheos__list *list) { return list->length; }

// ---- Reading

// All elements, borrowed. What is nearest in the chain of changes is what the list has.
static void look_at_all(const rheos__list *list, rheos_tensor **items) {
  static const char mark = 0;  // only its address
  rheos_tensor *const not_found = (rheos_tensor *)(uintptr_t)&mark;
  for (int64_t i = 0; i < list->length; i++) items[i] = not_found;
  const rheos__list *at = list;
  for (; at->next != NULL; at = at->next) {
    if (at->index >= 0 && at->index < list->length && items[at->index] == not_found) {
      items[at->index] = at->item;
    }
  }
  for (int64_t i = 0; i < list->length; i++) {
    if (items[i] != not_found) continue;
    assert(i < at->length);
    items[i] = at->lineage->items[i];
  }
}

// Gives an earlier list a copy of its items, if there is memory.
static void make_own(rheos__list *list) {
  rheos_tensor **own = rheos__alloc_array((size_t)list->length, sizeof *own);
  if (own == NULL) return;
  look_at_all(list, own);
  for (int64_t i = 0; i < list->length; i++) rheos_tensor_ref(own[i]);
  atomic_store_explicit(&list->own, own, memory_order_release);
}

rheos_tensor *rheos__list_item(rheos__list *list, int64_t index) {
  assert(index >= 0 && index < list->length);
  rheos_tensor *const *own = atomic_load_explicit(&list->own, memory_order_acquire);
  if (own != NULL) return rheos_tensor_ref(own[index]);
  lineage *l = list->lineage;
  pthread_mutex_lock(&l->mutex);
  const rheos__list *at = list;
  int32_t hops = 0;
  for (; at->next != NULL && at->index != index; at = at->next) hops++;
  rheos_tensor *item = rheos_tensor_ref(at->next != NULL ? at->item : l->items[index]);
  if (hops > MOST_HOPS && atomic_load(&list->own) == NULL) make_own(list);
  pthread_mutex_unlock(&l->mutex);
  return item;
}

void rheos__list_items(rheos__list *list, rheos_tensor **items) {
  lineage *l = list->lineage;
  pthread_mutex_lock(&l->mutex);
  rheos_tensor *const *own = atomic_load(&list->own);
  if (own == NULL) look_at_all(list, items);
  for (int64_t i = 0; i < list->length; i++) {
    if (own != NULL) items[i] = own[i];
    rheos_tensor_ref(items[i]);
  }
  pthread_mutex_unlock(&l->mutex);
}

// ---- Changing

rheos_status *rheos__list_copy(rheos__list *list, const rheos__list_spec *spec, int64_t length,
                               rheos__list **out_list) {
  const int64_t longer = length > list->length ? length : list->length;
  rheos__list *copy = NULL;
  RHEOS_TRY(rheos__list_new(spec, longer, &copy));
  rheos__list_items(list, copy->lineage->items);
  for (int64_t i = length; i < longer; i++) rheos__list_fill_take(copy, i, NULL);
  copy->length = length;
  *out_list = copy;
  return NULL;
}

// Room for a list of that length; what is new holds nothing.
static bool make_longer(lineage *l, int64_t from, int64_t to) {
  if (to <= from) return true;
  if (!RHEOS_RESERVE(l->items, l->capacity, (size_t)to)) return false;
  for (int64_t i = from; i < to; i++) l->items[i] = NULL;
  return true;
}

// The latest list changes: at `index`, if that is not -1, where `item` goes in, and to `length`.
// Only its last element may go, as `index` says.
static rheos_status *change_latest(rheos__list *list, int64_t length, int64_t index,
                                   rheos_tensor *item, rheos__list **out_list) {
  lineage *l = list->lineage;
  assert(length >= list->length || (length == list->length - 1 && index == length));
  rheos__list *changed = new_list(l, length);
  if (changed == NULL) return rheos__out_of_memory();
  if (!make_longer(l, list->length, length)) {
    l->references--;
    rheos__free(changed);
    return rheos__out_of_memory();
  }
  if (index >= 0 && index < list->length) {
    list->index = index;
    list->item = l->items[index];
  }
  if (index >= 0) l->items[index] = item;
  list->next = changed;  // which is whoever asks for it's, and the earlier list's
  rheos__variant_ref(&changed->variant);
  *out_list = changed;
  return NULL;
}

// A list that others came of.
static rheos_status *change_copy(rheos__list *list, int64_t length, int64_t index,
                                 rheos_tensor *item, rheos__list **out_list) {
  RHEOS_TRY(rheos__list_copy(list, &list->lineage->spec, length, out_list));
  if (index >= 0 && index < length) rheos__list_fill_take(*out_list, index, item);
  return NULL;
}

// The item is taken.
static rheos_status *change_take(rheos__list *list, int64_t length, int64_t index,
                                 rheos_tensor *item, rheos__list **out_list) {
  *out_list = NULL;
  rheos_status *status = NULL;
  pthread_mutex_lock(&list->lineage->mutex);
  const bool is_latest = list->next == NULL;
  if (is_latest) status = change_latest(list, length, index, item, out_list);
  pthread_mutex_unlock(&list->lineage->mutex);
  if (!is_latest) status = change_copy(list, length, index, item, out_list);
  if (status != NULL) rheos_tensor_unref(item);
  return status;
}

rheos_status *rheos__list_push_take(rheos__list *list, rheos_tensor *item, rheos__list **out_list) {
  return change_take(list, list->length + 1, list->length, item, out_list);
}

rheos_status *rheos__list_set_take(rheos__list *list, int64_t index, rheos_tensor *item,
                                   rheos__list **out_list) {
  assert(index >= 0);
  const int64_t length = index < list->length ? list->length : index + 1;
  return change_take(list, length, index, item, out_list);
}

rheos_status *rheos__list_pop(rheos__list *list, rheos__list **out_list, rheos_tensor **out_item) {
  const int64_t last = list->length - 1;
  assert(last >= 0);
  *out_item = rheos__list_item(list, last);
  rheos_status *status = change_take(list, last, last, NULL, out_list);
  if (status == NULL) return NULL;
  rheos_tensor_unref(*out_item);
  *out_item = NULL;
  return status;
}

rheos_status *rheos__list_resize(rheos__list *list, int64_t length, rheos__list **out_list) {
  assert(length >= 0);
  if (length >= list->length) return change_take(list, length, -1, NULL, out_list);
  return rheos__list_copy(list, &list->lineage->spec, length, out_list);
}
