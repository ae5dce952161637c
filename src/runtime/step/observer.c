// What observed steps tell their observers.
#include "runtime/step/observer.h"

#include <assert.h>
#include <stdio.h>

#include "device/device.h"
#include "plan/entries/flow.h"
#include "plan/segment/segment.h"
#include "runtime/step/step.h"

void rheos__step_observe(rheos__step *step, const rheos__observer *observer,
                         rheos__observers *room) {
  if (step->observers == NULL) {
    *room = (rheos__observers){.count = 0};
    step->observers = room;
  }
  rheos__observers *all = step->observers;
  assert(all->count < RHEOS__MOST_OBSERVERS && all->place == NULL);
  all->items[all->count++] = observer;
  all->one_by_one = all->one_by_one || observer->one_by_one;
}

void rheos__observe_step_begins(rheos__step *step) {
  step->observers->num_visits = 0;
  for (int32_t i = 0; i < step->observers->count; ++i) {
    const rheos__observer *o = step->observers->items[i];
    if (o->step_begins != NULL) o->step_begins(o->argument, step);
  }
}

void rheos__observe_step_ended(rheos__step *step, const rheos_status *status) {
  for (int32_t i = 0; i < step->observers->count; ++i) {
    const rheos__observer *o = step->observers->items[i];
    if (o->step_ended != NULL) o->step_ended(o->argument, status);
  }
}

void rheos__observe_visit_begins(rheos__step *step, rheos__place *place) {
  rheos__observers *all = step->observers;
  place->outer = all->place;
  place->visit = all->num_visits++;
  place->entry = -1;
  all->place = place;
  for (int32_t i = 0; i < all->count; ++i) {
    const rheos__observer *o = all->items[i];
    if (o->visit_begins != NULL) o->visit_begins(o->argument, place);
  }
}

void rheos__observe_visit_ended(rheos__step *step, const rheos__place *place) {
  rheos__observers *all = step->observers;
  assert(all->place == place);
  for (int32_t i = 0; i < all->count; ++i) {
    const rheos__observer *o = all->items[i];
    if (o->visit_ended != NULL) o->visit_ended(o->argument, place);
  }
  all->place = place->outer;
}

rheos_status *rheos__observe_entry_begins(rheos__step *step, const rheos__observed *entry) {
  for (int32_t i = 0; i < step->observers->count; ++i) {
    const rheos__observer *o = step->observers->items[i];
    if (o->entry_begins != NULL) RHEOS_TRY(o->entry_begins(o->argument, entry));
  }
  return NULL;
}

rheos_status *rheos__observe_entry_ended(rheos__step *step, const rheos__observed *entry) {
  for (int32_t i = 0; i < step->observers->count; ++i) {
    const rheos__observer *o = step->observers->items[i];
    if (o->entry_ended != NULL) RHEOS_TRY(o->entry_ended(o->argument, entry));
  }
  return NULL;
}

rheos_status *rheos__observe_value(rheos__step *step, int32_t watch, rheos_tensor *tensor,
                                   bool stays) {
  rheos_tensor *kept = NULL;
  if (tensor->memory != NULL) {  // of a device
    RHEOS_TRY(rheos__tensor_in(tensor, NULL, &kept));
  } else if (stays || rheos__tensor_is_exclusive(tensor)) {
    kept = rheos_tensor_ref(tensor);
  } else {
    RHEOS_TRY(rheos_tensor_copy(tensor, &kept));
  }
  const rheos__delivered delivered = {step->observers->place, watch, kept};
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < step->observers->count; ++i) {
    const rheos__observer *o = step->observers->items[i];
    if (o->deliver != NULL) status = o->deliver(o->argument, &delivered);
  }
  rheos_tensor_unref(kept);
  return status;
}

// ---- Where a place is

static void add_part(rheos__text *text, const rheos__plan *plan, int32_t id, int64_t trip) {
  char *name = rheos__inlined_name(plan->inlined, plan->graph, id);
  if (name == NULL) {
    text->failed = true;
    return;
  }
  if (text->size > 0) rheos__text_add_string(text, ";");
  rheos__text_add_string(text, name);
  char number[32];
  snprintf(number, sizeof number, ";%lld", (long long)trip);
  rheos__text_add_string(text, number);
  rheos__free(name);
}

// The loops of the plan that the entry is in.
static void add_frames(rheos__text *text, const rheos__place *place) {
  const rheos__flow *flow = place->plan->flow;
  int32_t depth = 0;
  for (int32_t at = flow->frame_of[place->entry]; at > 0; at = flow->frames[at].parent) ++depth;
  for (; depth > 0; --depth) {
    int32_t frame = flow->frame_of[place->entry];
    for (int32_t i = 1; i < depth; ++i) frame = flow->frames[frame].parent;
    const int32_t node = rheos__flow_node_of_frame(place->plan, frame);
    add_part(text, place->plan, node, (int64_t)place->state->trips[frame].now.number);
  }
}

void rheos__place_text(const rheos__place *place, rheos__text *text) {
  int32_t depth = 0;
  for (const rheos__place *at = place; at != NULL; at = at->outer) ++depth;
  for (; depth > 0; --depth) {
    const rheos__place *at = place;
    for (int32_t i = 1; i < depth; ++i) at = at->outer;
    const rheos__place *outer = at->outer;
    if (outer != NULL) {
      add_part(text, outer->plan, outer->plan->entries[outer->entry].id, at->trip);
    }
    if (at->segment == NULL && at->state != NULL) add_frames(text, at);
  }
}

bool rheos__step_is_noted(const rheos__step *step) {
  if (step == NULL || step->observers == NULL) return false;
  for (int32_t i = 0; i < step->observers->count; ++i) {
    if (step->observers->items[i]->part_ended != NULL) return true;
  }
  return false;
}

void rheos__step_note(rheos__step *step, const char *name, int64_t start_ns, int64_t end_ns) {
  for (int32_t i = 0; i < step->observers->count; ++i) {
    const rheos__observer *o = step->observers->items[i];
    if (o->part_ended != NULL) o->part_ended(o->argument, name, start_ns, end_ns);
  }
}

static bool view_tensor(const rheos_tensor *tensor, rheos_tensor *out_view) {
  if (tensor == NULL) return false;
  rheos__tensor_init_view(out_view, tensor->dtype, &tensor->shape, tensor->data);
  return true;
}

// The bytes of the value are those of its root.
static bool view_value(const rheos__observed *entry, int32_t index, rheos_tensor *out_view) {
  const rheos__segment *segment = entry->place->segment;
  const rheos__value *value = rheos__find_value(segment, index);
  const rheos__value *root = rheos__find_value(segment, value->root);
  if (root->kind == RHEOS__VALUE_CONSTANT) return view_tensor(root->constant, out_view);
  const rheos_tensor *tensor = entry->workspace->tensors[value->root];
  const rheos_shape *shape = value->shape;
  if (shape == NULL && tensor != NULL) shape = &tensor->shape;
  if (root->kind == RHEOS__VALUE_NONE || shape == NULL) return false;
  if (tensor != NULL ? tensor->memory != NULL
                     : rheos__memory_of_root(segment, value->root) != NULL) {
    return false;
  }
  rheos__tensor_init_view(out_view, (rheos_dtype)value->dtype, shape,
                          entry->workspace->data[value->root]);
  return true;
}

static bool has_views(const rheos__observed *entry) {
  return entry->shares == NULL && rheos__is_on_host(entry->place->segment->device) &&
         entry->instruction->kind != RHEOS__COPY && entry->instruction->kind != RHEOS__BRING;
}

bool rheos__observed_input(const rheos__observed *entry, int32_t input, rheos_tensor *out_view) {
  const rheos__segment *segment = entry->place->segment;
  const rheos__entry *e = &entry->place->plan->entries[entry->place->entry];
  if (segment == NULL) {
    return view_tensor(entry->workspace->flow->operands[e->first_operand + input].tensor, out_view);
  }
  const rheos__instruction *in = entry->instruction;
  return has_views(entry) &&
         view_value(entry, segment->input_values[in->first_operand + input], out_view);
}

bool rheos__observed_output(const rheos__observed *entry, int32_t output, rheos_tensor *out_view) {
  const rheos__instruction *in = entry->instruction;
  if (entry->place->segment == NULL) {
    return entry->results != NULL && view_tensor(entry->results[output], out_view);
  }
  return has_views(entry) && in->kind != RHEOS__HOLD &&
         view_value(entry, in->first_value + output, out_view);
}
