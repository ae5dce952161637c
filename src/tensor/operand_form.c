// The table of a session's forms. Few are looked up, while a plan is specialised, so a list does.
#include "tensor/operand_form.h"

#include <string.h>

struct rheos__form {
  rheos__form *next;
  rheos__forms *forms;
  int64_t references;  // guarded by the table's mutex
  rheos__resource *cell;
  rheos_tensor *constant;
  rheos_status *(*make)(const void *state, const void *from, void *form);
  size_t bytes, key_bytes;
  void *key;
  pthread_mutex_t mutex;  // of the rest
  int64_t content;        // of what `value` was made of; 0: of nothing
  int64_t wanted;         // of what it was last wanted of
  rheos_tensor *value;
};

struct rheos__forms {
  _Atomic int64_t references;
  pthread_mutex_t mutex;
  rheos__form *first;
  _Atomic int64_t num_made;
};

rheos__forms *rheos__forms_new(void) {
  rheos__forms *forms = rheos__alloc_zeroed(sizeof *forms);
  if (forms == NULL) return NULL;
  if (pthread_mutex_init(&forms->mutex, NULL) != 0) {
    rheos__free(forms);
    return NULL;
  }
  atomic_init(&forms->references, 1);
  return forms;
}

void rheos__forms_unref(rheos__forms *forms) {
  if (forms == NULL) return;
  if (atomic_fetch_sub_explicit(&forms->references, 1, memory_order_acq_rel) != 1) return;
  pthread_mutex_destroy(&forms->mutex);
  rheos__free(forms);
}

size_t rheos__forms_bytes(rheos__forms *forms) {
  size_t bytes = 0;
  pthread_mutex_lock(&forms->mutex);
  for (rheos__form *form = forms->first; form != NULL; form = form->next) {
    pthread_mutex_lock(&form->mutex);
    if (form->value != NULL) bytes += form->value->size_bytes;
    pthread_mutex_unlock(&form->mutex);
  }
  pthread_mutex_unlock(&forms->mutex);
  return bytes;
}

int64_t rheos__forms_made(const rheos__forms *forms) { return atomic_load(&forms->num_made); }

static void form_free(rheos__form *form) {
  rheos__resource_unref(form->cell);
  rheos_tensor_unref(form->constant);
  rheos_tensor_unref(form->value);
  pthread_mutex_destroy(&form->mutex);
  rheos__free(form->key);
  rheos__free(form);
}

static rheos__form *form_new(rheos__forms *forms, rheos__resource *cell, rheos_tensor *constant,
                             const rheos__form_wish *wish) {
  rheos__form *form = rheos__alloc_zeroed(sizeof *form);
  void *key = rheos__alloc(wish->key_bytes);
  if (form == NULL || key == NULL || pthread_mutex_init(&form->mutex, NULL) != 0) {
    rheos__free(form);
    rheos__free(key);
    return NULL;
  }
  form->forms = forms;
  atomic_fetch_add_explicit(&forms->references, 1, memory_order_relaxed);
  form->references = 1;
  form->cell = cell != NULL ? rheos__resource_ref(cell) : NULL;
  form->constant = rheos_tensor_ref(constant);
  form->make = wish->make;
  form->bytes = wish->bytes;
  form->key_bytes = wish->key_bytes;
  form->key = key;
  if (wish->key_bytes > 0) memcpy(key, wish->key, wish->key_bytes);
  return form;
}

static bool fits(const rheos__form *form, const rheos__resource *cell, const rheos_tensor *constant,
                 const rheos__form_wish *wish) {
  return form->cell == cell && form->constant == constant && form->make == wish->make &&
         form->bytes == wish->bytes && form->key_bytes == wish->key_bytes &&
         (wish->key_bytes == 0 || memcmp(form->key, wish->key, wish->key_bytes) == 0);
}

rheos_status *rheos__forms_get(rheos__forms *forms, rheos__resource *cell, rheos_tensor *constant,
                               const rheos__form_wish *wish, rheos__form **out_form) {
  if (cell != NULL) constant = NULL;
  pthread_mutex_lock(&forms->mutex);
  rheos__form *form = forms->first;
  while (form != NULL && !fits(form, cell, constant, wish)) form = form->next;
  if (form != NULL) {
    ++form->references;
  } else if ((form = form_new(forms, cell, constant, wish)) != NULL) {
    form->next = forms->first;
    forms->first = form;
  }
  pthread_mutex_unlock(&forms->mutex);
  *out_form = form;
  return form != NULL ? NULL : rheos__out_of_memory();
}

void rheos__form_unref(rheos__form *form) {
  if (form == NULL) return;
  rheos__forms *forms = form->forms;
  pthread_mutex_lock(&forms->mutex);
  const bool last = --form->references == 0;
  if (last) {
    rheos__form **link = &forms->first;
    while (*link != form) link = &(*link)->next;
    *link = form->next;
  }
  pthread_mutex_unlock(&forms->mutex);
  if (!last) return;
  form_free(form);
  rheos__forms_unref(forms);
}

// A step that still works on the form of an older value keeps that.
static rheos_status *make(rheos__form *form, const rheos__form_wish *wish,
                          const rheos_tensor *from) {
  form->content = 0;
  if (form->value != NULL && !rheos__tensor_is_exclusive(form->value)) {
    rheos_tensor_unref(form->value);
    form->value = NULL;
  }
  if (form->value == NULL) {
    RHEOS_TRY(rheos_tensor_new(RHEOS_UINT8, RHEOS_SHAPE((int64_t)form->bytes), &form->value));
  }
  atomic_fetch_add(&form->forms->num_made, 1);
  return wish->make(wish->state, from->data, form->value->data);
}

rheos_status *rheos__form_take(rheos__form *form, const rheos__form_wish *wish, rheos_tensor *from,
                               rheos_tensor **out_form) {
  *out_form = NULL;
  const int64_t content = rheos__tensor_content(from);
  rheos_status *status = NULL;
  pthread_mutex_lock(&form->mutex);
  const bool waits = !wish->at_once && form->wanted != content;
  form->wanted = content;
  if (form->content != content && !waits) {
    status = make(form, wish, from);
    if (status == NULL) form->content = content;
  }
  if (status == NULL && form->content == content) *out_form = rheos_tensor_ref(form->value);
  pthread_mutex_unlock(&form->mutex);
  return status;
}
