// The frames of the nodes of a plan, by a walk along their edges: Enter opens one, Exit leaves it.
#include "plan/entries/flow.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

static rheos__flow_role role_of(const rheos__node *node) { return node->signature->op->flow; }

bool rheos__flow_is_way_back(const rheos_graph *graph, const rheos__node *node, int32_t input) {
  if (role_of(node) != RHEOS__FLOW_MERGE || input >= node->num_inputs) return false;
  const rheos__node *from = rheos__graph_node(graph, node->edges[input].id);
  return role_of(from) == RHEOS__FLOW_NEXT_ITERATION;
}

// ---- The table of frames

rheos_status *rheos__flow_frames_init(rheos__flow_frames *frames, int32_t num_nodes) {
  *frames = (rheos__flow_frames){0};
  frames->of_node = rheos__alloc_array((size_t)num_nodes, sizeof *frames->of_node);
  if (frames->of_node == NULL || !RHEOS_RESERVE(frames->items, frames->capacity, 1)) {
    rheos__flow_frames_deinit(frames);
    return rheos__out_of_memory();
  }
  frames->items[frames->count++] = (rheos__flow_frame){.parent = -1, .name = ""};
  return NULL;
}

void rheos__flow_frames_deinit(rheos__flow_frames *frames) {
  for (int32_t i = 0; i < frames->count; ++i) rheos__free(frames->items[i].next_iterations);
  rheos__free(frames->items);
  rheos__free(frames->slots);
  rheos__free(frames->of_node);
  *frames = (rheos__flow_frames){0};
}

// The slot of the frame of that name, or where it belongs.
static int32_t *slot_of(const rheos__flow_frames *frames, const char *name) {
  assert(frames->num_slots > (size_t)frames->count);
  const size_t mask = frames->num_slots - 1;
  size_t at = rheos__hash_bytes(0, name, strlen(name)) & mask;
  while (frames->slots[at] != 0 && strcmp(frames->items[frames->slots[at] - 1].name, name) != 0) {
    at = (at + 1) & mask;
  }
  return &frames->slots[at];
}

static bool grow_slots(rheos__flow_frames *frames) {
  if (((size_t)frames->count + 1) * 2 <= frames->num_slots) return true;
  const size_t larger = frames->num_slots != 0 ? frames->num_slots * 2 : 16;
  int32_t *slots = rheos__alloc_array(larger, sizeof *slots);
  if (slots == NULL) return false;
  rheos__free(frames->slots);
  frames->slots = slots;
  frames->num_slots = larger;
  for (int32_t i = 1; i < frames->count; ++i) *slot_of(frames, frames->items[i].name) = i + 1;
  return true;
}

// The frame that an Enter in `parent` opens; names tell frames apart, wherever they are.
static rheos_status *open_frame(rheos__flow_frames *frames, int32_t parent, const char *name,
                                int32_t *out_frame) {
  if (name[0] == '\0') return RHEOS_INVALID("it must have a frame name");
  if (!grow_slots(frames) ||
      !RHEOS_RESERVE(frames->items, frames->capacity, (size_t)frames->count + 1)) {
    return rheos__out_of_memory();
  }
  int32_t *slot = slot_of(frames, name);
  if (*slot == 0) {
    frames->items[frames->count++] = (rheos__flow_frame){.parent = parent, .name = name};
    *slot = frames->count;
  }
  rheos__flow_frame *frame = &frames->items[*slot - 1];
  if (frame->parent != parent) {
    return rheos_status_new(RHEOS_INTERNAL,
                            "Invalid loop structure: Mismatched parent frames for \"%s\": \"%s\" "
                            "vs \"%s\"",
                            name, frames->items[parent].name, frames->items[frame->parent].name);
  }
  ++frame->num_enters;
  *out_frame = *slot - 1;
  return NULL;
}

// ---- Nodes

int32_t rheos__flow_frame_behind(const rheos__flow_frames *frames, const rheos_graph *graph,
                                 int32_t id) {
  const rheos__node *node = rheos__graph_node(graph, id);
  const int32_t frame = frames->of_node[id] - 1;
  assert(frame >= 0);
  if (role_of(node) == RHEOS__FLOW_EXIT) return frames->items[frame].parent;
  if (role_of(node) != RHEOS__FLOW_ENTER) return frame;
  return *slot_of(frames, rheos__attr_string(node->attrs, "frame_name")) - 1;
}

static rheos_status *different_frames(const rheos__flow_frames *frames, const rheos_graph *graph,
                                      int32_t a, int32_t frame_a, int32_t b, int32_t frame_b) {
  char *name_a = rheos__node_name(graph, rheos__graph_node(graph, a));
  char *name_b = rheos__node_name(graph, rheos__graph_node(graph, b));
  rheos_status *status = RHEOS_INVALID(
      "it has inputs from different frames. The input '%s' is in frame '%s'. The input '%s' is in "
      "frame '%s'.",
      name_a != NULL ? name_a : "", frames->items[frame_a].name, name_b != NULL ? name_b : "",
      frames->items[frame_b].name);
  rheos__free(name_a);
  rheos__free(name_b);
  return status;
}

static rheos_status *add_next_iteration(rheos__flow_frame *frame, int32_t id) {
  if (!RHEOS_RESERVE(frame->next_iterations, frame->next_iteration_capacity,
                     (size_t)frame->num_next_iterations + 1)) {
    return rheos__out_of_memory();
  }
  frame->next_iterations[frame->num_next_iterations++] = id;
  return NULL;
}

// What is fed comes from outside of all loops.
static rheos_status *find_frame(const rheos__flow_frames *frames, const rheos__plan *plan,
                                int32_t id, int32_t *out_frame) {
  const rheos__node *node = rheos__graph_node(plan->graph, id);
  int32_t first = -1;
  *out_frame = 0;
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
    const rheos__edge edge = node->edges[i];
    const bool is_fed = rheos__plan_feed_of(plan, edge) >= 0;
    if (is_fed && edge.index < 0) continue;
    if (!is_fed && rheos__flow_is_way_back(plan->graph, node, i)) continue;
    if (!is_fed && frames->of_node[edge.id] == 0) continue;  // done in an earlier part of the step
    const int32_t frame = is_fed ? 0 : rheos__flow_frame_behind(frames, plan->graph, edge.id);
    if (first >= 0 && frame != *out_frame) {
      return different_frames(frames, plan->graph, first, *out_frame, edge.id, frame);
    }
    first = edge.id;
    *out_frame = frame;
  }
  return NULL;
}

rheos_status *rheos__flow_frames_add(rheos__flow_frames *frames, const rheos__plan *plan,
                                     int32_t id) {
  const rheos__node *node = rheos__graph_node(plan->graph, id);
  int32_t frame, inner;
  rheos_status *status = find_frame(frames, plan, id, &frame);
  if (status == NULL && role_of(node) == RHEOS__FLOW_ENTER) {
    status = open_frame(frames, frame, rheos__attr_string(node->attrs, "frame_name"), &inner);
  }
  const bool leaves =
      role_of(node) == RHEOS__FLOW_EXIT || role_of(node) == RHEOS__FLOW_NEXT_ITERATION;
  if (status == NULL && leaves && frame == 0) status = RHEOS_INVALID("it is in no loop");
  if (status == NULL && role_of(node) == RHEOS__FLOW_NEXT_ITERATION) {
    status = add_next_iteration(&frames->items[frame], id);
  }
  if (status != NULL) return rheos__status_at_take(status, plan->graph, id);
  frames->of_node[id] = frame + 1;
  return NULL;
}

rheos_status *rheos__flow_frames_check(const rheos__flow_frames *frames, const rheos__plan *plan,
                                       int32_t id) {
  const rheos__node *node = rheos__graph_node(plan->graph, id);
  const int32_t frame = frames->of_node[id] - 1;
  int32_t num_ways_back = 0;
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    const int32_t from = node->edges[i].id;
    if (!rheos__flow_is_way_back(plan->graph, node, i)) continue;
    if (++num_ways_back > 1) {  // which of two values a trip begins with would be chance
      return rheos__status_at_take(RHEOS_INVALID("several NextIterations lead to it"), plan->graph,
                                   id);
    }
    if (rheos__plan_feed_of(plan, node->edges[i]) >= 0 || frames->of_node[from] - 1 == frame) {
      continue;
    }
    return rheos__status_at_take(
        different_frames(frames, plan->graph, id, frame, from, frames->of_node[from] - 1),
        plan->graph, id);
  }
  return NULL;
}
