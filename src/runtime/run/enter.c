// The way of a run through the segments of its plan: found by keys, made where there is none for a
// key, and remembered by calls, which then take no lock.
#include "runtime/run/run.h"

#include <assert.h>

// The segment for this key, marked as running. The plan's mutex is held, but not while a segment is
// made: that may take long, and ask the caller whether to stop, who may run this plan again.
static rheos_status *enter_locked(rheos__plan *plan, rheos__step *step, rheos__segment *parent,
                                  const rheos__key *key, rheos__segment **out_segment) {
  *out_segment = rheos__segment_find(plan, parent, key);
  if (*out_segment == NULL) {
    rheos__segment *made = NULL;
    pthread_mutex_unlock(&plan->mutex);
    rheos_status *status = rheos__segment_new_for(plan, parent, key, step, &made);
    pthread_mutex_lock(&plan->mutex);
    RHEOS_TRY(status);
    *out_segment = rheos__segment_find(plan, parent, key);
    if (*out_segment == NULL) {
      rheos__segment_link(plan, made);
      *out_segment = made;
    } else {
      rheos__segments_free(made);  // another thread was faster
    }
  }
  ++(*out_segment)->num_running;
  return NULL;
}

// A workspace, best one that stands for the segment already. The plan's mutex is held.
static rheos__workspace *take_workspace(rheos__plan *plan, const rheos__segment *root) {
  rheos__workspace **best = &plan->free_workspaces;
  for (rheos__workspace **link = best; *link != NULL; link = &(*link)->next) {
    if (rheos__workspace_is_bound(*link, root)) {
      best = link;
      break;
    }
  }
  rheos__workspace *workspace = *best;
  if (workspace == NULL) return rheos__workspace_new(plan);
  *best = workspace->next;
  workspace->next = NULL;
  return workspace;
}

static rheos_status *enter_anew(rheos__run *r, rheos__segment *parent, const rheos__key *key,
                                rheos__segment **out_segment) {
  pthread_mutex_lock(&r->plan->mutex);
  rheos_status *status = enter_locked(r->plan, r->step, parent, key, out_segment);
  if (status == NULL && r->workspace == NULL) {
    r->workspace = take_workspace(r->plan, *out_segment);
    if (r->workspace == NULL) {
      --(*out_segment)->num_running;
      status = rheos__out_of_memory();
    }
  }
  pthread_mutex_unlock(&r->plan->mutex);
  return status;
}

// The call leaves its path from a depth on.
static void shorten_path(rheos__call *call, int32_t length) {
  if (call->path_length <= length) return;
  pthread_mutex_lock(&call->plan->mutex);
  for (int32_t i = length; i < call->path_length; ++i) --call->path[i]->num_running;
  pthread_mutex_unlock(&call->plan->mutex);
  call->path_length = length;
}

// What a call went through last time is found without a lock.
static rheos_status *enter(rheos__run *r, rheos__segment *parent, const rheos__key *key,
                           rheos__segment **out_segment) {
  rheos__call *call = r->call;
  if (call == NULL) return enter_anew(r, parent, key, out_segment);
  const int32_t depth = parent != NULL ? parent->depth + 1 : 0;
  if (depth < call->path_length && rheos__segment_is_for(call->path[depth], key)) {
    assert(call->path[depth]->parent == parent);
    *out_segment = call->path[depth];
    return NULL;
  }
  shorten_path(call, depth);
  assert(call->path_length == depth);
  if (!RHEOS_RESERVE(call->path, call->path_capacity, (size_t)depth + 1)) {
    return rheos__out_of_memory();
  }
  RHEOS_TRY(enter_anew(r, parent, key, out_segment));
  call->path[call->path_length++] = *out_segment;
  call->workspace = r->workspace;
  return NULL;
}

// Shapes of a key, few of them without memory of their own.
enum { FEW_SHAPES = 8 };
typedef struct shapes {
  rheos_shape few[FEW_SHAPES];
  rheos_shape *items;
} shapes;

static rheos_status *shapes_init(shapes *s, int32_t count) {
  s->items = s->few;
  if (count <= FEW_SHAPES) return NULL;
  s->items = rheos__alloc_array((size_t)count, sizeof *s->items);
  return s->items != NULL ? NULL : rheos__out_of_memory();
}

static void shapes_deinit(shapes *s) {
  if (s->items != s->few) rheos__free(s->items);
}

rheos_status *rheos__run_enter_child(rheos__run *r, rheos__segment *segment,
                                     rheos__segment **out_child) {
  const int32_t count = segment->num_dynamic_values;
  shapes s;
  RHEOS_TRY(shapes_init(&s, count));
  for (int32_t i = 0; i < count; ++i) {
    const rheos_tensor *tensor = r->workspace->tensors[segment->dynamic_values[i]];
    s.items[i] = tensor != NULL ? tensor->shape : (rheos_shape){0};
  }
  const rheos__key key = {.shapes = s.items, .count = count};
  rheos_status *status = enter(r, segment, &key, out_child);
  shapes_deinit(&s);
  return status;
}

rheos_status *rheos__run_enter_root(rheos__run *r, const rheos__parameters *parameters,
                                    rheos__segment **out_root) {
  const rheos__key key = {.tensors = parameters->tensors,
                          .cells = parameters->cells,
                          .given = parameters->given,
                          .count = r->plan->num_feeds};
  return enter(r, NULL, &key, out_root);
}

static void give_workspace(rheos__plan *plan, rheos__workspace *workspace) {
  workspace->next = plan->free_workspaces;
  plan->free_workspaces = workspace;
}

rheos_status *rheos__run_take_workspace(rheos__run *r) {
  if (r->call != NULL && r->call->workspace != NULL) return NULL;
  pthread_mutex_lock(&r->plan->mutex);
  r->workspace = r->plan->free_workspaces;
  if (r->workspace != NULL) {
    r->plan->free_workspaces = r->workspace->next;
    r->workspace->next = NULL;
  }
  pthread_mutex_unlock(&r->plan->mutex);
  if (r->workspace == NULL) r->workspace = rheos__workspace_new(r->plan);
  if (r->workspace == NULL) return rheos__out_of_memory();
  if (r->call != NULL) r->call->workspace = r->workspace;
  return NULL;
}

void rheos__run_give_workspace(rheos__run *r) {
  if (r->call != NULL) return;
  pthread_mutex_lock(&r->plan->mutex);
  give_workspace(r->plan, r->workspace);
  pthread_mutex_unlock(&r->plan->mutex);
}

void rheos__run_leave(rheos__run *r, rheos__segment *last) {
  pthread_mutex_lock(&r->plan->mutex);
  for (rheos__segment *at = last; at != NULL; at = at->parent) --at->num_running;
  give_workspace(r->plan, r->workspace);
  pthread_mutex_unlock(&r->plan->mutex);
}

void rheos__call_deinit(rheos__call *call) {
  shorten_path(call, 0);
  if (call->workspace != NULL) {
    pthread_mutex_lock(&call->plan->mutex);
    give_workspace(call->plan, call->workspace);
    pthread_mutex_unlock(&call->plan->mutex);
  }
  rheos__free(call->path);
  rheos__free(call->brought);
  *call = (rheos__call){0};
}

void rheos__call_drop(rheos__call *call) {
  rheos__workspaces_free(call->workspace);
  rheos__free(call->path);
  rheos__free(call->brought);
  *call = (rheos__call){0};
}

// ---- Without a run

static void describe_fetches(const rheos__plan *plan, const rheos__segment *root,
                             rheos_shape *out_shapes, rheos__resource **out_cells) {
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    const int32_t index = plan->fetch_values[i];
    out_shapes[i] = RHEOS_UNKNOWN_SHAPE;
    out_cells[i] = NULL;
    if (index >= root->first_value + root->num_values) continue;
    const rheos__value *value = &root->values[index - root->first_value];
    if (value->shape != NULL) out_shapes[i] = *value->shape;
    if (value->kind == RHEOS__VALUE_NONE) out_cells[i] = value->resource;
  }
}

rheos_status *rheos__plan_describe(rheos__plan *plan, const rheos__key *key, rheos__step *step,
                                   rheos_shape *out_shapes, rheos__resource **out_cells) {
  rheos__segment *root = NULL;
  pthread_mutex_lock(&plan->mutex);
  rheos_status *status = enter_locked(plan, step, NULL, key, &root);
  if (status == NULL) {
    describe_fetches(plan, root, out_shapes, out_cells);
    --root->num_running;
  }
  pthread_mutex_unlock(&plan->mutex);
  return status;
}
