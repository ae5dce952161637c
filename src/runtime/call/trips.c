// Trips of a loop that are like the one before. A body and a condition that are one segment each,
// and end with the shapes they began with, are entered once: from trip to trip only the pointers
// change of variables that have two tensors, or that kernels return. Whatever is not as it was ends
// that, and the loop goes on as calls.
//
// Where values may lie in different memories, variables have to lie where both take them, and to be
// computed there; then nothing is moved but what the condition gives.
#include "graph/calls.h"

#include <assert.h>

#include "plan/segment/packed_operand.h"
#include "runtime/call/bodies.h"
#include "runtime/run/run.h"

// What becomes of a variable in a trip.
typedef enum variable_kind {
  STAYS,     // the same tensor or cell
  IN_PLACE,  // computed where it is
  IN_SPARE,  // computed in its other tensor
  RETURNED,  // what a kernel returns
} variable_kind;

typedef struct trips {
  const rheos__trips *t;
  rheos__step *step;
  rheos__run condition, body;
  const rheos__segment *condition_segment, *body_segment;
  const bool *holds;    // what the condition computes
  bool as_before;       // the flags of the variables
  bool is_mixed;        // one of both plans
  rheos_tensor *there;  // where a condition computes that is not on the host; NULL: it is
} trips;

// The one segment of the call, ready to run again; NULL if it is not so simple.
static const rheos__segment *only_segment(const rheos__call *call) {
  const rheos__plan *plan = call->plan;
  if (call->path_length != 1 || plan->flow != NULL || plan->may_wait) return NULL;
  const rheos__segment *segment = call->path[0];
  const bool is_whole = segment->end_entry == plan->num_entries;
  return is_whole && rheos__workspace_is_bound(call->workspace, segment) ? segment : NULL;
}

static const rheos__value *result_of(const trips *r, int32_t variable, int32_t *out_index) {
  *out_index = r->body.plan->fetch_values[variable];
  return &r->body_segment->values[*out_index - r->body_segment->first_value];
}

// A result of the shape that the variable has, in a tensor of its own.
static bool is_plain_result(const trips *r, int32_t variable, const rheos__value *value,
                            int32_t index) {
  const rheos_tensor *before = r->t->variables[variable];
  if (value->root != index || value->shape == NULL || before == NULL) return false;
  for (int32_t i = 0; i < variable; ++i) {
    if (r->body.plan->fetch_values[i] == index) return false;
  }
  return before->dtype == (rheos_dtype)value->dtype &&
         before->memory == r->body_segment->device->memory &&
         rheos_shape_equal(value->shape, &before->shape);
}

static bool find_kind(const trips *r, int32_t i) {
  const rheos__trips *t = r->t;
  int32_t index;
  const rheos__value *value = result_of(r, i, &index);
  t->kinds[i] = STAYS;
  if (t->variables[i] == NULL) return value->kind == RHEOS__VALUE_NONE;
  if (index == i) return true;
  if (value->kind == RHEOS__VALUE_CONSTANT) return t->variables[i] == value->constant;
  if (index < r->body.plan->num_feeds || !is_plain_result(r, i, value, index)) return false;
  if (value->kind == RHEOS__VALUE_TENSOR) {
    t->kinds[i] = RETURNED;
    if (r->is_mixed) return false;  // in whatever memory the kernel likes
    return t->given[i] || t->owned[i];
  }
  if (value->kind != RHEOS__VALUE_HEAP) return false;
  t->kinds[i] = value->over == 0 ? IN_SPARE : IN_PLACE;
  if (value->over != 0) return value->over == i + 1 && t->given[i];
  const rheos_tensor *spare = t->spares[i];
  return t->owned[i] && !t->given[i] && t->has_two[i] &&
         (spare == NULL || (spare->memory == t->variables[i]->memory &&
                            rheos_shape_equal(&spare->shape, value->shape)));
}

// Whether the condition computes a bool.
static bool find_condition(trips *r) {
  const rheos__segment *segment = r->condition_segment;
  const int32_t index = r->condition.plan->fetch_values[0];
  const rheos__value *value = &segment->values[index - segment->first_value];
  rheos_tensor *holds = *r->t->holds;
  return value->kind == RHEOS__VALUE_HEAP && value->root == index && value->over == 0 &&
         value->dtype == RHEOS_BOOL && value->shape->rank == 0 && holds != NULL &&
         holds->dtype == RHEOS_BOOL && holds->shape.rank == 0 && rheos__tensor_is_exclusive(holds);
}

static bool changes(const trips *r, int32_t i) {
  return i < r->t->num_variables && r->t->kinds[i] != STAYS;
}

// Whether it takes the tensor of a variable that changes, to hand it on in whatever memory.
static bool hands_on(const trips *r, const rheos__segment *segment, const rheos__instruction *in) {
  for (int32_t k = 0; k < in->num_inputs; ++k) {
    const int32_t feed = segment->operands[in->first_operand + k];
    if (feed >= r->t->count || !changes(r, feed)) continue;
    if (rheos__feed_home(segment->plan, feed) == RHEOS__ANYWHERE) return true;
  }
  return false;
}

// Whether the variables lie where the plan takes them.
static bool lie_at_home(const trips *r, const rheos__segment *segment) {
  const rheos__plan *plan = segment->plan;
  for (int32_t i = 0; i < r->t->count; ++i) {
    const int32_t home = rheos__feed_home(plan, i);
    if (r->t->variables[i] == NULL || home == RHEOS__ANYWHERE) continue;
    if (r->t->variables[i]->memory != plan->context.devices[home]->memory) return false;
  }
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    if (hands_on(r, segment, &segment->instructions[i])) return false;
  }
  return true;
}

static bool find_kinds(trips *r) {
  const rheos__trips *t = r->t;
  const rheos__call *condition = rheos__site_call_of_plan(t->condition);
  const rheos__call *body = rheos__site_call_of_plan(t->body);
  r->condition_segment = only_segment(condition);
  r->body_segment = only_segment(body);
  if (r->condition_segment == NULL || r->body_segment == NULL) return false;
  r->condition = (rheos__run){.plan = condition->plan, .workspace = condition->workspace};
  r->body = (rheos__run){.plan = body->plan, .workspace = body->workspace};
  r->condition.step = r->body.step = r->step;
  r->is_mixed = condition->plan->is_mixed || body->plan->is_mixed;
  rheos__key key = {.tensors = t->variables, .cells = t->cells, .count = t->count};
  if (!rheos__segment_is_for(r->condition_segment, &key)) return false;
  key.given = t->given;
  if (!rheos__segment_is_for(r->body_segment, &key) || !find_condition(r)) return false;
  assert(r->body.plan->num_feeds == t->count && r->body.plan->num_fetches == t->num_variables);
  for (int32_t i = 0; i < t->num_variables; ++i) {
    if (!find_kind(r, i)) return false;
  }
  return !r->is_mixed || (lie_at_home(r, r->condition_segment) && lie_at_home(r, r->body_segment));
}

// ---- Entering and leaving

static void point_at(const trips *r, int32_t value, rheos_tensor *tensor) {
  r->condition.workspace->data[value] = r->body.workspace->data[value] =
      tensor != NULL ? tensor->data : NULL;
}

// Where the condition's value is computed.
static rheos_status *place_condition(trips *r) {
  rheos__memory *memory = r->condition_segment->device->memory;
  if (memory == NULL) return NULL;
  return rheos__tensor_new_in(memory, RHEOS_BOOL, &(*r->t->holds)->shape, &r->there);
}

static void enter(trips *r) {
  const rheos__trips *t = r->t;
  rheos__workspace *condition = r->condition.workspace, *body = r->body.workspace;
  for (int32_t i = 0; i < t->count; ++i) {
    condition->tensors[i] = body->tensors[i] = t->variables[i];
    point_at(r, i, t->variables[i]);
    if (i >= t->num_variables || t->kinds[i] == STAYS) continue;
    body->tensors[i] = NULL;
    if (t->kinds[i] != IN_PLACE) continue;
    const int32_t index = r->body.plan->fetch_values[i];
    body->tensors[index] = t->variables[i];
    body->data[index] = t->variables[i]->data;
  }
  const int32_t holds = r->condition.plan->fetch_values[0];
  rheos_tensor *computed = r->there != NULL ? r->there : *t->holds;
  condition->tensors[holds] = computed;
  condition->data[holds] = computed->data;
  r->holds = (*t->holds)->data;
}

// The workspaces hold nothing of the loop's any more.
static void leave(trips *r) {
  const rheos__trips *t = r->t;
  for (int32_t i = 0; i < t->count; ++i) {
    r->condition.workspace->tensors[i] = r->body.workspace->tensors[i] = NULL;
    if (i >= t->num_variables || t->kinds[i] != IN_PLACE) continue;
    r->body.workspace->tensors[r->body.plan->fetch_values[i]] = NULL;
  }
  r->condition.workspace->tensors[r->condition.plan->fetch_values[0]] = NULL;
}

static void release_packed(const rheos__run *run, const rheos__segment *segment) {
  if (segment->num_packed_operands > 0) rheos__release_packed_operands(run->workspace);
}

// ---- A trip

// The condition's value is gone, wherever it was computed.
static rheos_status *drop_condition_take(trips *r, rheos_status *status) {
  rheos__release_tensors(r->condition.workspace, r->condition_segment);
  if (r->there == NULL) *r->t->holds = NULL;
  r->there = NULL;
  return rheos__site_call_failed_take(r->t->condition, status);
}

static rheos_status *copy_condition(const trips *r) {
  return rheos__memory_copy(NULL, (*r->t->holds)->data, r->there->memory, r->there->data,
                            r->there->size_bytes);
}

static rheos_status *check_condition(trips *r) {
  rheos_status *status = rheos__run_segment(&r->condition, r->condition_segment);
  release_packed(&r->condition, r->condition_segment);
  if (__builtin_expect(status == NULL, 1)) {
    if (__builtin_expect(r->there == NULL, 1)) return NULL;
    status = copy_condition(r);
  }
  return status == NULL ? NULL : drop_condition_take(r, status);
}

static rheos_status *make_spares(const trips *r) {
  const rheos__trips *t = r->t;
  for (int32_t i = 0; i < t->num_variables; ++i) {
    if (t->kinds[i] != IN_SPARE || t->spares[i] != NULL) continue;
    const rheos_tensor *like = t->variables[i];
    RHEOS_TRY(rheos__tensor_new_in(like->memory, like->dtype, &like->shape, &t->spares[i]));
  }
  return NULL;
}

static void begin_trip(const trips *r) {
  const rheos__trips *t = r->t;
  rheos__workspace *body = r->body.workspace;
  for (int32_t i = 0; i < t->num_variables; ++i) {
    if (t->kinds[i] == RETURNED && t->given[i]) body->tensors[i] = t->variables[i];
    if (t->kinds[i] != IN_SPARE) continue;
    const int32_t index = r->body.plan->fetch_values[i];
    body->tensors[index] = t->spares[i];
    body->data[index] = t->spares[i]->data;
  }
}

// The variable's two tensors change places; one that a kernel has kept is no longer the loop's.
static void end_in_spare(trips *r, int32_t i) {
  const rheos__trips *t = r->t;
  rheos_tensor *before = t->variables[i];
  r->body.workspace->tensors[r->body.plan->fetch_values[i]] = NULL;
  t->variables[i] = t->spares[i];
  t->spares[i] = before;
  point_at(r, i, t->variables[i]);
  if (rheos__tensor_is_exclusive(before)) return;
  rheos_tensor_unref(before);
  t->spares[i] = NULL;
}

static rheos_status *end_returned(trips *r, int32_t i) {
  const rheos__trips *t = r->t;
  rheos_tensor **tensors = r->body.workspace->tensors;
  const int32_t index = r->body.plan->fetch_values[i];
  rheos_tensor *result = tensors[index];
  tensors[index] = NULL;
  if (!t->given[i]) rheos_tensor_unref(t->variables[i]);  // of a given one the body has disposed
  if (t->given[i]) rheos_tensor_unref(tensors[i]);
  tensors[i] = NULL;
  t->variables[i] = NULL;
  t->owned[i] = false;
  if (!rheos__tensor_can_keep(result)) {
    rheos_tensor *copy = NULL;
    rheos_status *status = rheos_tensor_copy(result, &copy);
    rheos_tensor_unref(result);
    RHEOS_TRY(status);
    result = copy;
  }
  const bool given = !t->has_two[i] && rheos__tensor_is_exclusive(result);
  r->as_before = r->as_before && given == t->given[i];
  t->variables[i] = result;
  t->owned[i] = true;
  t->given[i] = given;
  point_at(r, i, result);
  return NULL;
}

// Tensors that went into the trip are gone.
static void drop_trip(const trips *r) {
  const rheos__trips *t = r->t;
  rheos__release_tensors(r->body.workspace, r->body_segment);
  for (int32_t i = 0; i < t->num_variables; ++i) {
    if (t->kinds[i] == IN_SPARE) t->spares[i] = NULL;
    if (!t->given[i]) continue;
    t->variables[i] = NULL;
    t->owned[i] = t->given[i] = false;
  }
}

static rheos_status *end_trip(trips *r) {
  const rheos__trips *t = r->t;
  rheos_status *status = NULL;
  for (int32_t i = 0; i < t->num_variables; ++i) {
    switch ((variable_kind)t->kinds[i]) {
      case STAYS: break;
      case IN_PLACE:
        if (rheos__tensor_is_exclusive(t->variables[i])) break;
        t->given[i] = r->as_before = false;  // a kernel has kept it
        break;
      case IN_SPARE: end_in_spare(r, i); break;
      case RETURNED: {
        rheos_status *failed = end_returned(r, i);
        if (status == NULL) {
          status = failed;
        } else {
          rheos_status_free(failed);
        }
      }
    }
  }
  return status;
}

static rheos_status *take_trip(trips *r) {
  RHEOS_TRY(make_spares(r));
  begin_trip(r);
  rheos_status *status = rheos__run_segment(&r->body, r->body_segment);
  release_packed(&r->body, r->body_segment);
  if (__builtin_expect(status != NULL, 0)) {
    drop_trip(r);
  } else {
    status = end_trip(r);
  }
  return __builtin_expect(status != NULL, 0) ? rheos__site_call_failed_take(r->t->body, status)
                                             : NULL;
}

rheos_status *rheos__trips_run(const rheos__trips *t, rheos__step *step, int64_t most,
                               int64_t *out_count, bool *out_ended) {
  trips r = {.t = t, .step = step, .as_before = true};
  *out_count = 0;
  *out_ended = false;
  if (rheos__step_is_observed(step) || !find_kinds(&r)) return NULL;
  RHEOS_TRY(place_condition(&r));
  enter(&r);
  rheos_status *status = NULL;
  while (status == NULL && r.as_before && *out_count < most) {
    status = check_condition(&r);
    *out_ended = status == NULL && !*r.holds;
    if (status != NULL || *out_ended) break;
    ++*out_count;
    status = take_trip(&r);
  }
  leave(&r);
  rheos_tensor_unref(r.there);
  return status;
}
