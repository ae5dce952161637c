// Loops that lie on several devices. The device of a loop's condition is its leader: the others go
// round in a loop of their own, whose only variable is a constant without elements and whose
// condition is the one that they receive. What they receive in a trip waits for that loop's Merge,
// so it is there in each trip, the last one too, in which it is dead. Loops around have control
// loops likewise, which the inner ones start from.
#include "format/partition/cut_impl.h"

#include <assert.h>
#include <string.h>

#include "plan/entries/flow.h"

enum { ROOT = 0 };

typedef struct control_loop {
  int32_t frame, device;
  int32_t enter, merge;  // nodes
} control_loop;

typedef struct looper {
  rheos__cutter *c;
  control_loop *loops;
  size_t capacity, count;
} looper;

// ---- Frames

// The frame in which the outputs of a node are.
static int32_t frame_behind(const rheos__cutter *c, int32_t number) {
  const rheos__cut_node *node = &c->nodes[number];
  if (node->role == RHEOS__FLOW_EXIT) return c->frames[node->frame].parent;
  return node->role == RHEOS__FLOW_ENTER ? node->frame_behind : node->frame;
}

static rheos_status *copy_frames(rheos__cutter *c, const rheos__flow_frames *frames) {
  if (!RHEOS_RESERVE(c->frames, c->frame_capacity, (size_t)frames->count)) {
    return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < frames->count; ++i) {
    const rheos__flow_frame *frame = &frames->items[i];
    c->frames[i] =
        (rheos__cut_frame){.name = frame->name, .parent = frame->parent, .condition = -1};
  }
  for (int32_t i = 0; i < c->num_order; ++i) {
    const int32_t number = c->order[i];
    rheos__cut_node *node = &c->nodes[number];
    if (number >= c->num_graph_nodes) {
      if (node->num_inputs > 0) node->frame = frame_behind(c, node->edges[0].id);
      continue;
    }
    node->frame = frames->of_node[number] - 1;
    if (node->role == RHEOS__FLOW_LOOP_COND) c->frames[node->frame].condition = number;
    if (node->role != RHEOS__FLOW_ENTER) continue;
    node->frame_behind = rheos__flow_frame_behind(frames, c->graph, number);
    const rheos__attrs *attrs = rheos__cut_graph_node(c, number)->attrs;
    c->frames[node->frame_behind].parallel_iterations =
        rheos__attr_int(attrs, "parallel_iterations");
  }
  return NULL;
}

// As a plan of the whole finds them; what it refuses is refused.
static rheos_status *find_frames(rheos__cutter *c) {
  const rheos__plan whole = {.graph = c->graph,
                             .feeds = (rheos__edge *)(uintptr_t)c->cut->feeds,
                             .num_feeds = c->cut->num_feeds};
  rheos__flow_frames frames;
  RHEOS_TRY(rheos__flow_frames_init(&frames, c->num_graph_nodes + 1));
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < c->num_order; ++i) {
    if (c->order[i] >= c->num_graph_nodes) continue;
    status = rheos__flow_frames_add(&frames, &whole, c->order[i]);
  }
  for (int32_t i = 0; status == NULL && i < c->num_order; ++i) {
    if (c->order[i] >= c->num_graph_nodes) continue;
    status = rheos__flow_frames_check(&frames, &whole, c->order[i]);
  }
  if (status == NULL) status = copy_frames(c, &frames);
  c->num_frames = frames.count;
  rheos__flow_frames_deinit(&frames);
  return status;
}

// ---- Where control flow is placed

// The device of what takes the node's value first; its own where nothing does.
static void go_to_first_taker(rheos__cutter *c, const int32_t *takers, int32_t number) {
  if (takers[number] != 0) c->nodes[number].device = c->nodes[takers[number] - 1].device;
}

static bool is_reference(const rheos__cutter *c, const rheos__cut_node *node) {
  return rheos_dtype_is_ref(rheos__cut_dtype(c, node->edges[0]));
}

// As TensorFlow has it: Switches and Exits are where their data is, Enters and NextIterations where
// theirs goes.
static rheos_status *place_control_flow(rheos__cutter *c) {
  int32_t *takers = rheos__alloc_array((size_t)c->num_nodes, sizeof *takers);
  if (takers == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < c->num_order; ++i) {
    const rheos__cut_node *node = &c->nodes[c->order[i]];
    for (size_t k = 0; k < node->num_inputs; ++k) {
      int32_t *taker = &takers[node->edges[k].id];
      if (*taker == 0) *taker = c->order[i] + 1;
    }
  }
  for (int32_t i = c->num_order; i-- > 0;) {
    const rheos__cut_node *node = &c->nodes[c->order[i]];
    const bool enters = node->role == RHEOS__FLOW_ENTER && !is_reference(c, node);
    if (enters || node->role == RHEOS__FLOW_NEXT_ITERATION) {
      go_to_first_taker(c, takers, c->order[i]);
    }
  }
  for (int32_t i = 0; i < c->num_order; ++i) {
    rheos__cut_node *node = &c->nodes[c->order[i]];
    if (node->role == RHEOS__FLOW_SWITCH || node->role == RHEOS__FLOW_EXIT) {
      node->device = c->nodes[node->edges[0].id].device;
    }
  }
  rheos__free(takers);
  return NULL;
}

// ---- Control loops

static control_loop *find_loop(const looper *l, int32_t frame, int32_t device) {
  for (size_t i = 0; i < l->count; ++i) {
    if (l->loops[i].frame == frame && l->loops[i].device == device) return &l->loops[i];
  }
  return NULL;
}

static int32_t add_control(looper *l, const char *for_node, const char *op, rheos__flow_role role,
                           const control_loop *loop, int32_t frame) {
  const int32_t number =
      rheos__cut_add(l->c, rheos__cut_new_name(l->c, "_cloop", for_node), op, role, loop->device);
  rheos__cut_set_attr(l->c, number, rheos_attr_type("T", RHEOS_FLOAT));
  if (!l->c->failed) {
    l->c->nodes[number].frame = frame;
    l->c->nodes[number].frame_behind = loop->frame;
  }
  return number;
}

// What the loop starts from is added by the caller.
static control_loop add_loop(looper *l, int32_t frame, int32_t device, const char *for_node) {
  rheos__cutter *c = l->c;
  const rheos__cut_frame in = c->frames[frame];
  control_loop loop = {.frame = frame, .device = device};
  loop.enter = add_control(l, for_node, "Enter", RHEOS__FLOW_ENTER, &loop, in.parent);
  loop.merge = add_control(l, for_node, "Merge", RHEOS__FLOW_MERGE, &loop, frame);
  const int32_t side = add_control(l, for_node, "Switch", RHEOS__FLOW_SWITCH, &loop, frame);
  const int32_t next =
      add_control(l, for_node, "NextIteration", RHEOS__FLOW_NEXT_ITERATION, &loop, frame);
  rheos__cut_set_attr(c, loop.enter, rheos_attr_string("frame_name", in.name, strlen(in.name)));
  rheos__cut_set_attr(c, loop.enter, rheos_attr_bool("is_constant", false));
  rheos__cut_set_attr(c, loop.enter, rheos_attr_int("parallel_iterations", in.parallel_iterations));
  rheos__cut_set_attr(c, loop.merge, rheos_attr_int("N", 2));
  rheos__cut_add_edge(c, loop.merge, (rheos__edge){loop.enter, 0});
  rheos__cut_add_edge(c, loop.merge, (rheos__edge){next, 0});
  rheos__cut_add_edge(c, side, (rheos__edge){loop.merge, 0});
  rheos__cut_add_edge(c, side, (rheos__edge){in.condition, 0});
  rheos__cut_add_edge(c, next, (rheos__edge){side, 1});
  return loop;
}

static rheos_status *no_condition(const rheos__cut_frame *frame) {
  return RHEOS_INVALID("A cross-device loop must have a pivot predicate: %s", frame->name);
}

// The device goes round in the frame, and in those around it; `for_node` names what is added.
static rheos_status *need_loop(looper *l, int32_t frame, int32_t device, const char *for_node) {
  rheos__cutter *c = l->c;
  int32_t inner = -1;  // an Enter whose start is missing
  while (frame != ROOT) {
    const control_loop *known = find_loop(l, frame, device);
    if (known != NULL) {
      if (inner >= 0) rheos__cut_add_edge(c, inner, (rheos__edge){known->merge, 0});
      return NULL;
    }
    if (c->frames[frame].condition < 0) return no_condition(&c->frames[frame]);
    if (!RHEOS_RESERVE(l->loops, l->capacity, l->count + 1)) return rheos__out_of_memory();
    const control_loop loop = l->loops[l->count++] = add_loop(l, frame, device, for_node);
    if (inner >= 0) rheos__cut_add_edge(c, inner, (rheos__edge){loop.merge, 0});
    inner = loop.enter;
    frame = c->frames[frame].parent;
  }
  if (inner < 0) return NULL;
  const int32_t start = rheos__cut_add_nothing(c, rheos__cut_new_name(c, "", for_node), device);
  rheos__cut_add_edge(c, inner, (rheos__edge){start, 0});
  return NULL;
}

// The frame of an edge between devices; ROOT for one between nodes of the same.
static int32_t frame_between(const rheos__cutter *c, int32_t number, rheos__edge edge) {
  return c->nodes[edge.id].device != c->nodes[number].device ? frame_behind(c, edge.id) : ROOT;
}

static rheos_status *add_loops(looper *l, int32_t num_order) {
  rheos__cutter *c = l->c;
  for (int32_t i = 0; i < num_order && !c->failed; ++i) {
    const int32_t number = c->order[i];
    for (size_t k = 0; k < c->nodes[number].num_edges && !c->failed; ++k) {
      const int32_t frame = frame_between(c, number, c->nodes[number].edges[k]);
      if (frame == ROOT) continue;
      RHEOS_TRY(need_loop(l, frame, c->nodes[number].device, rheos__cut_name_of(c, number)));
    }
  }
  return c->failed ? rheos__out_of_memory() : NULL;
}

static void note_far_inputs(const looper *l, int32_t number) {
  rheos__cutter *c = l->c;
  for (size_t k = 0; k < c->nodes[number].num_edges; ++k) {
    const int32_t frame = frame_between(c, number, c->nodes[number].edges[k]);
    if (frame == ROOT) continue;
    ++c->nodes[number].num_far_inputs;
    c->nodes[number].control_merge = find_loop(l, frame, c->nodes[number].device)->merge;
  }
}

rheos_status *rheos__cut_loops(rheos__cutter *c) {
  RHEOS_TRY(find_frames(c));
  RHEOS_TRY(place_control_flow(c));
  RHEOS_TRY(rheos__cut_reads(c));
  if (c->num_frames == 1) return NULL;
  looper l = {.c = c};
  rheos_status *status = add_loops(&l, c->num_order);
  for (int32_t i = 0; status == NULL && i < c->num_order; ++i) note_far_inputs(&l, c->order[i]);
  rheos__free(l.loops);
  return status;
}
