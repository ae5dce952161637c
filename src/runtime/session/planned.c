// Plans a step, hands it to who prints it, and lets go of it.
#include "runtime/session/planned.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/status.h"
#include "plan/entries/inline.h"

static rheos_status *check_shapes(const rheos_output *feeds, const rheos_shape *shapes,
                                  size_t num_feeds) {
  for (size_t i = 0; i < num_feeds; i++) {
    if (shapes[i].rank > RHEOS_MAX_RANK || rheos_shape_num_elements(&shapes[i]) < 0) {
      return RHEOS_INVALID("the shape of feed %zu is not known", i);
    }
    const rheos_shape declared = rheos_output_shape(feeds[i]);
    if (rheos_shape_compatible(&declared, &shapes[i])) continue;
    rheos__shape_text is, was;
    return RHEOS_INVALID("feed %zu has shape %s, not %s", i, rheos__shape_text_of(&declared, &was),
                         rheos__shape_text_of(&shapes[i], &is));
  }
  return NULL;
}

rheos_status *rheos__planned_print(
    rheos_session *session, const rheos__step_ends *ends, const rheos_shape *shapes,
    rheos_status *(*print)(const rheos__planned *planned, rheos__text *text), char **out_text) {
  RHEOS_NEED_LIST(ends->feeds, ends->num_feeds);
  RHEOS_NEED_LIST(shapes, ends->num_feeds);
  RHEOS_NEED_LIST(ends->fetches, ends->num_fetches);
  RHEOS_NEED_LIST(ends->targets, ends->num_targets);
  RHEOS_TRY(check_shapes(ends->feeds, shapes, ends->num_feeds));
  rheos__plan *plan;
  const rheos__segment *segment;
  RHEOS_TRY(rheos__session_plan(session, ends, shapes, &plan, &segment));
  const rheos__planned planned = {ends, shapes, plan, segment};
  rheos__text text = {0};
  rheos_status *status = print(&planned, &text);
  rheos__plan_free(plan);
  if (status == NULL && text.failed) status = rheos__out_of_memory();
  if (status != NULL) {
    rheos__text_deinit(&text);
    return status;
  }
  *out_text = text.data;
  return NULL;
}

// ---- What a plan calls

// Of the node that calls; for rheos__free().
static rheos_status *caller_name(const rheos__called *called, char **out_name) {
  const rheos__plan *plan = called->caller;
  *out_name = rheos__inlined_name(plan->inlined, plan->graph, plan->entries[called->entry].id);
  return *out_name != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__called_print(const rheos__called *called, rheos__text *text) {
  char *name, number[48];
  RHEOS_TRY(caller_name(called, &name));
  snprintf(number, sizeof number, "e%d ", (int)called->entry);
  rheos__text_add_string(text, number);
  rheos__text_add_string(text, name);
  rheos__free(name);
  rheos__text_add_string(text, ", ");
  rheos__text_add_string(text, called->role);
  if (called->number >= 0) {
    snprintf(number, sizeof number, " %d", (int)called->number);
    rheos__text_add_string(text, number);
  }
  if (called->function != NULL) {
    rheos__text_add_string(text, ": ");
    rheos__text_add_string(text, called->function);
  }
  if (called->trips >= 0) {
    snprintf(number, sizeof number, ", %" PRId64 " trips", called->trips);
    rheos__text_add_string(text, number);
  }
  return NULL;
}

rheos_status *rheos__called_print_json(const rheos__called *called, rheos__json_text *j) {
  char *name;
  RHEOS_TRY(caller_name(called, &name));
  rheos__json_add_int(j, "depth", called->depth);
  rheos__json_add_text(j, "node", name);
  rheos__free(name);
  rheos__json_add_int(j, "called_by", called->entry);
  rheos__json_add_text(j, "role", called->role);
  if (called->number >= 0) rheos__json_add_int(j, "number", called->number);
  if (called->function != NULL) rheos__json_add_text(j, "function", called->function);
  if (called->trips >= 0) rheos__json_add_int(j, "trips", called->trips);
  rheos__json_add_bool(j, "again", called->is_again);
  if (called->problem != NULL) {
    rheos__json_add_text(j, "problem", rheos_status_message(called->problem));
  }
  return NULL;
}

// ---- Types

void rheos__json_add_type(rheos__json_text *j, rheos_dtype dtype, const rheos_shape *shape) {
  if (dtype != RHEOS_INVALID_DTYPE) rheos__json_add_text(j, "dtype", rheos_dtype_name(dtype));
  if (shape == NULL || shape->rank < 0) {
    rheos__json_add_null(j, "shape");
    return;
  }
  rheos__json_begin(j, "shape", '[');
  for (int32_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] < 0) {
      rheos__json_add_null(j, NULL);
    } else {
      rheos__json_add_int(j, NULL, shape->dims[i]);
    }
  }
  rheos__json_end(j, ']');
}
