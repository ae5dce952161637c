// Fetched values: computed right in tensors that go to the caller, so that nothing is copied at the
// end.
#include "runtime/run/run.h"

#include "plan/segment/memory_report.h"

// Has fetches computed right where the caller wants them. What is not placed has no data.
static void place_bound(const rheos__run *r, const rheos__segment *segment) {
  for (int32_t i = 0; i < segment->num_heap_values; ++i) {
    r->workspace->data[segment->heap_values[i]] = NULL;
  }
  for (int32_t i = 0; i < r->plan->num_fetches; ++i) {
    int32_t at = r->plan->fetch_values[i] - segment->first_value;
    if (at < 0 || at >= segment->num_values) continue;
    const rheos__value *value = &segment->values[at];
    if (value->kind != RHEOS__VALUE_HEAP || value->root != r->plan->fetch_values[i]) continue;
    if (r->workspace->data[value->root] == NULL &&
        rheos__bound_takes(r->bound, i, (rheos_dtype)value->dtype, value->shape)) {
      r->workspace->data[value->root] = r->bound->results[i]->data;
    }
  }
}

// Tensors that the caller has no use for become those of fetched values.
static void place_spares(const rheos__run *r, const rheos__segment *segment) {
  rheos_tensor **tensors = r->workspace->tensors;
  for (int32_t i = 0; i < r->plan->num_fetches; ++i) {
    const int32_t index = r->plan->fetch_values[i];
    rheos_tensor *spare = r->spares[i];
    if (spare == NULL || index < segment->first_value) continue;
    if (index >= segment->first_value + segment->num_values || tensors[index] != NULL) continue;
    const rheos__value *value = &segment->values[index - segment->first_value];
    if (value->kind != RHEOS__VALUE_HEAP || value->root != index || value->over != 0 ||
        spare->dtype != (rheos_dtype)value->dtype || spare->memory != segment->device->memory ||
        !rheos_shape_equal(&spare->shape, value->shape) || !rheos__tensor_is_spare(spare)) {
      continue;
    }
    tensors[index] = spare;
    r->spares[i] = NULL;
  }
}

// Gives fetched values the tensors at hand, else fresh ones.
rheos_status *rheos__run_place_fetched(const rheos__run *r, const rheos__segment *segment) {
  rheos__workspace *workspace = r->workspace;
  if (r->bound != NULL) place_bound(r, segment);
  if (r->spares != NULL) place_spares(r, segment);
  for (int32_t i = 0; i < segment->num_heap_values; ++i) {
    int32_t index = segment->heap_values[i];
    if (r->bound != NULL && workspace->data[index] != NULL) continue;
    const rheos__value *value = &segment->values[index - segment->first_value];
    rheos_status *status = NULL;
    if (value->over != 0) {
      // Moved: what takes the feed before it is written over gets a view, which it cannot keep.
      workspace->tensors[index] = workspace->tensors[value->over - 1];
      workspace->tensors[value->over - 1] = NULL;
    } else if (workspace->tensors[index] == NULL) {
      status = rheos__tensor_new_in(segment->device->memory, (rheos_dtype)value->dtype,
                                    value->shape, &workspace->tensors[index]);
    }
    if (status != NULL) {
      status = rheos__no_memory_take(status, segment);
      return rheos__plan_status_at_take(status, r->plan, r->plan->origins[index].id);
    }
    workspace->data[index] = workspace->tensors[index]->data;
  }
  return NULL;
}

// ---- At the end

// Handles of variables are none, those of a step's objects mean nothing outside it; a body gives
// them on.
static rheos_status *check_fetchable(const rheos__value *value, bool in_step) {
  if (value->kind != RHEOS__VALUE_NONE && (in_step || value->dtype != RHEOS_RESOURCE)) return NULL;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "a resource handle cannot be fetched");
}

// Bodies give what they hold, without a copy where it may be kept: the step's own is moved, which
// counts nothing, and what is fetched again is what was given before.
static bool take_of_call(const rheos__run *r, const rheos__value *value, int32_t fetch,
                         rheos_tensor **tensor, rheos_tensor **given) {
  const int32_t *fetch_values = r->plan->fetch_values;
  if (*tensor == NULL) {
    int32_t before = 0;
    while (before < fetch && fetch_values[before] != fetch_values[fetch]) ++before;
    if (before == fetch || given[before] == NULL) return false;
    given[fetch] = rheos_tensor_ref(given[before]);
    return true;
  }
  const bool is_place = value->kind == RHEOS__VALUE_HEAP && rheos__tensor_block(*tensor) != NULL;
  if (!is_place && !rheos__tensor_can_keep(*tensor)) return false;
  if (value->kind == RHEOS__VALUE_FEED) {
    given[fetch] = rheos_tensor_ref(*tensor);
    return true;
  }
  given[fetch] = *tensor;
  *tensor = NULL;
  return true;
}

// A tensor for the caller: the step's own where nobody else holds it, else a copy. A value that is
// fetched twice has gone to the caller already: `given` are the values so far.
static rheos_status *take_fetch(rheos__run *r, const rheos__segment *last, int32_t fetch,
                                rheos_tensor **given) {
  int32_t index = r->plan->fetch_values[fetch];
  const rheos__value *value = rheos__find_value(last, index);
  if (value->kind == RHEOS__VALUE_NONE && r->call != NULL) return NULL;
  RHEOS_TRY(check_fetchable(value, r->call != NULL));
  if (value->kind == RHEOS__VALUE_CONSTANT && r->call == NULL) {
    return rheos_tensor_copy(value->constant, &given[fetch]);
  }
  if (value->kind == RHEOS__VALUE_CONSTANT) {  // who calls a body does not write over it
    given[fetch] = rheos_tensor_ref(value->constant);
    return NULL;
  }
  rheos_tensor **tensor = &r->workspace->tensors[value->root];
  if (r->call != NULL && value->root == index && take_of_call(r, value, fetch, tensor, given)) {
    return NULL;
  }
  if (value->kind != RHEOS__VALUE_FEED && *tensor != NULL && rheos__tensor_is_exclusive(*tensor)) {
    if (value->shape != NULL) {  // of an alias: another shape, and after a Bitcast another dtype
      (*tensor)->shape = *value->shape;
      (*tensor)->num_elements = rheos_shape_num_elements(value->shape);
      (*tensor)->dtype = (rheos_dtype)value->dtype;
    }
    given[fetch] = *tensor;
    *tensor = NULL;
    return NULL;
  }
  const rheos_shape *shape = value->shape;
  if (shape == NULL && *tensor != NULL) shape = &(*tensor)->shape;
  for (int32_t i = 0; shape == NULL && i < fetch; ++i) {
    if (r->plan->fetch_values[i] == index) shape = &given[i]->shape;
  }
  rheos_tensor view;
  rheos__tensor_init_view(&view, (rheos_dtype)value->dtype, shape, r->workspace->data[value->root]);
  view.memory = *tensor != NULL ? (*tensor)->memory : rheos__memory_of_root(last, value->root);
  return rheos_tensor_copy(&view, &given[fetch]);
}

rheos_status *rheos__run_take_fetches(rheos__run *r, const rheos__segment *last,
                                      rheos_tensor **out_values) {
  for (int32_t i = 0; i < r->plan->num_fetches; ++i) {
    rheos_status *status = take_fetch(r, last, i, out_values);
    if (status == NULL) continue;
    for (int32_t k = 0; k <= i; ++k) {
      rheos_tensor_unref(out_values[k]);
      out_values[k] = NULL;
    }
    status = rheos__no_memory_take(status, last);
    return rheos__status_at_take(status, r->plan->graph, r->plan->fetches[i].id);
  }
  return NULL;
}

// What the caller bound to the fetches gets their values. Feeds that are fetched come first: a
// value may be bound to the same bytes as a feed.
rheos_status *rheos__run_store_fetches(rheos__run *r, const rheos__segment *last) {
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t i = 0; i < r->plan->num_fetches; ++i) {
      const rheos__value *value = rheos__find_value(last, r->plan->fetch_values[i]);
      if ((value->kind == RHEOS__VALUE_FEED) != (pass == 0)) continue;
      const rheos_tensor *tensor = value->kind == RHEOS__VALUE_CONSTANT
                                       ? value->constant
                                       : r->workspace->tensors[value->root];
      rheos_status *status = check_fetchable(value, false);
      if (status == NULL) {
        status = rheos__bound_store(
            r->bound, i, (rheos_dtype)value->dtype,
            value->shape != NULL ? value->shape : &tensor->shape,
            value->kind == RHEOS__VALUE_CONSTANT ? tensor->data : r->workspace->data[value->root]);
      }
      if (status != NULL)
        return rheos__status_at_take(status, r->plan->graph, r->plan->fetches[i].id);
    }
  }
  return NULL;
}
