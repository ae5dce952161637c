// Datasets of elements in memory, such as windows.
#include "ops/data/dataset.h"

#include <string.h>

typedef struct held {
  int64_t count;
  rheos_tensor **tensors;
  rheos_dtype *types;
  rheos_shape *shapes;
} held;

typedef struct counted {
  rheos__iterator base;
  int64_t next;
} counted;

static void deinit_held(rheos__dataset *d) {
  held *h = d->data;
  for (int64_t i = 0; i < h->count * d->num_components; ++i) rheos_tensor_unref(h->tensors[i]);
  rheos__free(h->tensors);
  rheos__free(h->types);
  rheos__free(h->shapes);
}

static rheos_status *next_held(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                               bool *out_end) {
  (void)step;
  counted *it = (counted *)iterator;
  const rheos__dataset *d = iterator->dataset;
  const held *h = d->data;
  *out_end = it->next < 0 || it->next >= h->count;
  if (*out_end) return NULL;
  rheos_tensor **row = h->tensors + it->next++ * d->num_components;
  for (int32_t i = 0; i < d->num_components; ++i) element[i] = rheos_tensor_ref(row[i]);
  return NULL;
}

static int64_t held_here(rheos__iterator *iterator, int64_t most,
                         rheos_tensor *const **out_tensors) {
  const counted *it = (const counted *)iterator;
  const held *h = iterator->dataset->data;
  if (it->next < 0 || it->next >= h->count) return 0;
  *out_tensors = h->tensors + it->next * iterator->dataset->num_components;
  return most < h->count - it->next ? most : h->count - it->next;
}

static void pass_here(rheos__iterator *iterator, int64_t count) {
  ((counted *)iterator)->next += count;
}

static rheos_status *transfer_held(rheos__iterator *iterator, rheos__saved_state *state,
                                   rheos__step *step) {
  (void)step;
  return rheos__state_ints(state, &((counted *)iterator)->next, 1);
}

static int64_t cardinality_held(const rheos__dataset *d) { return ((const held *)d->data)->count; }

static const rheos__dataset_kind held_kind = {.name = "Elements",
                                              .data_bytes = sizeof(held),
                                              .iterator_bytes = sizeof(counted),
                                              .deinit = deinit_held,
                                              .next = next_held,
                                              .held = held_here,
                                              .pass = pass_here,
                                              .state = transfer_held,
                                              .cardinality = cardinality_held};

static rheos_status *fill_held(rheos__dataset *d, const rheos__elements *e) {
  held *h = d->data;
  const size_t components = (size_t)e->num_components, total = (size_t)e->count * components;
  h->types = rheos__alloc_array(components, sizeof *h->types);
  h->shapes = rheos__alloc_array(components, sizeof *h->shapes);
  h->tensors = rheos__alloc_array(total, sizeof *h->tensors);
  if (h->types == NULL || h->shapes == NULL || h->tensors == NULL) return rheos__out_of_memory();
  memcpy(h->types, e->types, components * sizeof *e->types);
  memcpy(h->shapes, e->shapes, components * sizeof *e->shapes);
  if (total > 0) memcpy(h->tensors, e->tensors, total * sizeof *e->tensors);
  h->count = e->count;
  d->types = h->types;
  d->shapes = h->shapes;
  return NULL;
}

rheos_status *rheos__elements_take(const rheos__elements *e, rheos_tensor **out_tensor) {
  rheos__dataset *d = NULL;
  *out_tensor = NULL;
  rheos_status *status = rheos__dataset_new_of_kind(&held_kind, e->num_components, &d);
  if (status == NULL) status = fill_held(d, e);
  if (status == NULL) return rheos__variant_tensor_take(&d->variant, out_tensor);
  for (int64_t i = 0; i < e->count * e->num_components; ++i) rheos_tensor_unref(e->tensors[i]);
  rheos__dataset_unref(d);
  return status;
}

rheos_status *rheos__dataset_of_elements_take(const rheos__dataset *like, int32_t first,
                                              int32_t num_components, rheos_tensor **elements,
                                              int64_t count, rheos_tensor **out_tensor) {
  return rheos__elements_take(&(rheos__elements){.count = count,
                                                 .num_components = num_components,
                                                 .types = like->types + first,
                                                 .shapes = like->shapes + first,
                                                 .tensors = elements},
                              out_tensor);
}

bool rheos__elements_of(const rheos_tensor *tensor, rheos__elements *out) {
  rheos__dataset *d = NULL;
  rheos_status *status = rheos__dataset_of(tensor, "", &d);
  rheos_status_free(status);
  if (status != NULL || d->kind != &held_kind) return false;
  const held *h = d->data;
  *out = (rheos__elements){h->count, d->num_components, h->types, h->shapes, h->tensors};
  return true;
}
