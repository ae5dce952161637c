// Goes through the nodes that a plan needs, inputs first, in as many passes as their control flow
// takes. Nothing recurses. See builder.h.
#include "plan/build/builder.h"

#include <string.h>

#include "graph/op_tally.h"
#include "plan/entries/prepare.h"

static void mark_done(rheos__builder *b) {
  const rheos__plan_context *context = &b->plan->context;
  for (int32_t i = 0; i < context->num_done; ++i)
    b->marks[context->done[i]].state = RHEOS__MARK_DONE;
}

// `id` may be that of a structure.
static rheos_status *push(rheos__builder *b, int32_t id) {
  if (!RHEOS_RESERVE(b->stack, b->stack_capacity, b->stack_count + 1))
    return rheos__out_of_memory();
  b->stack[b->stack_count++] = (struct rheos__visit){id, 0};
  b->marks[id].state = RHEOS__MARK_ON_STACK;
  return NULL;
}

static bool can_run(const rheos__plan *plan, const rheos__node *node) {
  const rheos__plan_context *context = &plan->context;
  if (rheos__runs_by_itself(node->signature->op)) return true;  // on the CPU
  for (int32_t i = 0; i < context->num_devices; ++i) {
    if (rheos__device_has_kernel(context->devices[i], node->signature->op, node->attrs))
      return true;
  }
  return false;
}

// All ops without a kernel that `root` needs, in one message.
static rheos_status *report_missing(rheos__builder *b, int32_t root) {
  const rheos_graph *graph = b->plan->graph;
  rheos__op_tally missing = {0};
  rheos_status *status = NULL;
  b->pass = RHEOS__WITH_FRAMES;  // bodies have no such ops: calls stay
  memset(b->marks, 0, (size_t)b->num_nodes * sizeof *b->marks);
  mark_done(b);
  b->stack_count = 0;
  status = push(b, root);
  while (status == NULL && b->stack_count > 0) {
    const int32_t id = b->stack[--b->stack_count].id;
    const rheos__node *node = rheos__graph_node(graph, id);
    if (!can_run(b->plan, node)) {
      char *name = rheos__node_name(graph, node);
      status = name != NULL ? rheos__op_tally_add(&missing, node->signature->op->name, name)
                            : rheos__out_of_memory();
      rheos__free(name);
    }
    for (int32_t i = 0; status == NULL && i < node->num_inputs + node->num_control_inputs; ++i) {
      rheos__edge edge = node->edges[i];
      status = rheos__builder_resolve(b, &edge);
      if (status != NULL || rheos__builder_has(b, edge) || b->marks[edge.id].state != 0) continue;
      status = push(b, edge.id);
    }
  }
  char text[2048];
  rheos__op_tally_text(&missing, text, sizeof text);
  rheos__op_tally_deinit(&missing);
  if (status != NULL) return status;
  status = rheos_status_new(RHEOS_UNIMPLEMENTED, "no kernel for %s", text);
  return rheos__status_at_take(status, graph, root);
}

// ---- Where a step may be held up

static bool finds_holds(const rheos__builder *b) {
  return b->pass == RHEOS__WITHOUT_FLOW || b->pass == RHEOS__FIND_FRAMES;
}

static unsigned holds_of(const rheos__builder *b, int32_t id) {
  if (rheos__builder_part(b, id) != RHEOS__PART_NODE) return 0;
  const rheos__inlined_call *call = rheos__builder_call_around(b, id);
  const rheos__node *node = rheos__builder_node(b, id);
  return call != NULL ? 0 : rheos__node_holds(b->plan->graph, node);
}

// A node that comes up for the first time.
static void count_holds(rheos__builder *b, int32_t id) {
  const unsigned holds = holds_of(b, id);
  if ((holds & RHEOS__HELD_BY_WAITING) != 0) ++b->num_waiting;
  if (holds == 0 || !finds_holds(b)) return;
  ++b->num_holding;
  b->calls_program = b->calls_program || (holds & RHEOS__HELD_BY_PROGRAM) != 0;
}

static void lengthen(const rheos__builder *b, int32_t from, int32_t *longest) {
  if (b->marks[from].holds > *longest) *longest = b->marks[from].holds;
}

// An Exit comes behind what leads to the next trips.
static void add_trips(const rheos__builder *b, int32_t id, int32_t *longest) {
  const rheos__flow_frame *frame = &b->frames.items[b->frames.of_node[id] - 1];
  for (int32_t i = 0; i < frame->num_next_iterations; ++i) {
    lengthen(b, frame->next_iterations[i], longest);
  }
}

// A node that is finished.
static rheos_status *count_path(rheos__builder *b, int32_t id) {
  if (b->num_holding == 0 || !finds_holds(b)) return NULL;
  int32_t longest = 0;
  const int32_t count = rheos__builder_num_edges(b, id);
  const rheos__node *node = rheos__builder_node(b, id);
  for (int32_t i = 0; i < count; ++i) {
    rheos__edge edge;
    RHEOS_TRY(rheos__builder_edge(b, id, i, &edge));
    if (!rheos__builder_has(b, edge)) lengthen(b, edge.id, &longest);
  }
  if (b->pass == RHEOS__FIND_FRAMES && rheos__node_role(node) == RHEOS__FLOW_EXIT) {
    add_trips(b, id, &longest);
  }
  if (holds_of(b, id) != 0) ++longest;
  b->marks[id].holds = longest;
  if (longest > b->most_on_path) b->most_on_path = longest;
  return NULL;
}

// ---- Nodes

// A node all of whose inputs have been visited.
static rheos_status *finish(rheos__builder *b, int32_t id) {
  if (rheos__builder_structure(b, id) != NULL) return rheos__builder_finish_structure(b, id);
  if (b->pass != RHEOS__FIND_FRAMES) return rheos__builder_finish_node(b, id);
  RHEOS_TRY(rheos__flow_frames_add(&b->frames, b->plan, id));
  if (!RHEOS_RESERVE(b->order, b->order_capacity, b->num_order + 1)) return rheos__out_of_memory();
  b->order[b->num_order++] = id;
  b->marks[id].state = 1;
  return NULL;
}

// The next edge to visit of what is on top of the stack; `*out_any` is false if there is none left.
static rheos_status *next_edge(rheos__builder *b, struct rheos__visit *top, bool *out_any,
                               rheos__edge *out_edge, bool *out_back) {
  *out_back = false;
  const rheos__structure *s = rheos__builder_structure(b, top->id);
  *out_any =
      top->next < (s != NULL ? s->num_inputs + s->num_waits : rheos__builder_num_edges(b, top->id));
  if (!*out_any) return NULL;
  const int32_t i = top->next++;
  if (s != NULL) {
    *out_edge = rheos__structure_edge(s, i);
    return NULL;
  }
  *out_back = rheos__builder_is_way_back(b, rheos__builder_node(b, top->id), i);
  return rheos__builder_edge(b, top->id, i, out_edge);
}

// All that is before the top of the stack has been visited.
static rheos_status *leave(rheos__builder *b) {
  const int32_t id = b->stack[b->stack_count - 1].id;
  if (rheos__builder_structure(b, id) == NULL) {
    const int32_t before = rheos__builder_next_before_exit(b, rheos__builder_node(b, id), id);
    if (before >= 0) return push(b, before);
  }
  RHEOS_TRY(finish(b, id));
  if (rheos__builder_structure(b, id) == NULL) RHEOS_TRY(count_path(b, id));
  --b->stack_count;
  return NULL;
}

static rheos_status *visit_from(rheos__builder *b, int32_t root) {
  if (b->marks[rheos__builder_visited(b, root)].state != 0) return NULL;
  RHEOS_TRY(push(b, rheos__builder_visited(b, root)));
  while (b->stack_count > 0 && !b->has_cycle) {
    struct rheos__visit *top = &b->stack[b->stack_count - 1];
    if (rheos__builder_structure(b, top->id) == NULL) {
      const rheos__node *node = rheos__builder_node(b, top->id);
      const bool is_own =
          rheos__builder_call_around(b, top->id) == NULL;  // those of bodies were looked at
      if (is_own && !can_run(b->plan, node)) {
        return report_missing(b, rheos__inlined_outermost(b->plan->inlined, root));
      }
      // One op that waits is run last of what does not need it; of several, each may wait for what
      // the others lead to.
      if (top->next == 0) count_holds(b, top->id);
      b->has_flow = b->has_flow || rheos__builder_moves_values(node) || b->num_waiting > 1;
      if (b->has_flow && b->pass == RHEOS__WITHOUT_FLOW) return NULL;
    }
    rheos__edge edge;
    bool any, is_back;
    RHEOS_TRY(next_edge(b, top, &any, &edge, &is_back));
    if (!any) {
      RHEOS_TRY(leave(b));
      continue;
    }
    if (rheos__builder_has(b, edge)) continue;
    if (is_back) {
      RHEOS_TRY(rheos__builder_add_later(b, edge.id));
      continue;
    }
    const int32_t next = rheos__builder_visited(b, edge.id);
    if (b->marks[next].state == RHEOS__MARK_ON_STACK) {
      b->has_cycle = true;  // of nodes, or of what was raised together
      if (b->pass == RHEOS__RAISED) return NULL;
      return rheos__plan_status_at_take(RHEOS_INVALID("the graph has a cycle through this node"),
                                        b->plan, edge.id);
    }
    if (b->marks[next].state == 0) RHEOS_TRY(push(b, next));
  }
  return NULL;
}

// All that is needed, in one pass.
static rheos_status *visit_all(rheos__builder *b, const int32_t *targets, int32_t num_targets) {
  const rheos__plan *plan = b->plan;
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    rheos__edge edge = plan->fetches[i];
    RHEOS_TRY(rheos__builder_resolve(b, &edge));
    if (!rheos__builder_has(b, edge)) RHEOS_TRY(visit_from(b, edge.id));
  }
  for (int32_t i = 0; i < num_targets; ++i) {
    RHEOS_TRY(rheos__builder_look_at_call(b, targets[i]));
    RHEOS_TRY(visit_from(b, targets[i]));
  }
  if (b->has_cycle) return NULL;
  while (b->num_later > 0) {
    const int32_t id = b->later[--b->num_later];
    RHEOS_TRY(rheos__builder_look_at_call(b, id));
    RHEOS_TRY(visit_from(b, id));
  }
  return NULL;
}

static rheos_status *begin_pass(rheos__builder *b, rheos__pass pass) {
  rheos__inlined_clear(b->plan->inlined);
  if (!RHEOS_RESERVE(b->marks, b->mark_capacity, (size_t)(b->num_nodes + b->raised.count))) {
    return rheos__out_of_memory();
  }
  memset(b->marks, 0, (size_t)(b->num_nodes + b->raised.count) * sizeof *b->marks);
  b->pass = pass;
  b->stack_count = b->num_drafts = b->num_sources = b->num_waits = b->num_later = 0;
  for (size_t i = 0; i < b->num_read_slots; ++i) b->reads[i].draft = -1;
  b->num_reads = 0;
  if (pass == RHEOS__FIND_FRAMES) {
    b->num_holding = b->most_on_path = 0;
    b->calls_program = false;
  }
  mark_done(b);
  return rheos__builder_watch_feeds(b);
}

// Tries to do without: `has_flow` is false where all of it was raised.
static rheos_status *visit_raised(rheos__builder *b, const int32_t *targets, int32_t num_targets) {
  RHEOS_TRY(rheos__raise(b->plan, &b->frames, b->order, (int32_t)b->num_order, targets, num_targets,
                         &b->raised));
  if (b->raised.count == 0) return NULL;
  RHEOS_TRY(begin_pass(b, RHEOS__RAISED));
  RHEOS_TRY(visit_all(b, targets, num_targets));
  b->has_flow = b->has_cycle;
  b->has_cycle = false;
  if (b->has_flow) {
    b->plan->structures = NULL;
    rheos__raised_deinit(&b->raised);
  }
  return NULL;
}

// The passes of a plan with control flow, after one has met it.
static rheos_status *visit_flow(rheos__builder *b, const int32_t *targets, int32_t num_targets) {
  RHEOS_TRY(begin_pass(b, RHEOS__FIND_FRAMES));
  RHEOS_TRY(rheos__flow_frames_init(&b->frames, b->num_nodes));
  RHEOS_TRY(visit_all(b, targets, num_targets));
  for (int32_t i = 0; i < b->num_nodes; ++i) {
    if (b->frames.of_node[i] != 0) RHEOS_TRY(rheos__flow_frames_check(&b->frames, b->plan, i));
  }
  if (b->num_waiting == 0 && !rheos__builder_is_held_twice(b)) {
    RHEOS_TRY(visit_raised(b, targets, num_targets));
  }
  if (!b->has_flow) return NULL;
  rheos__raised_deinit(&b->raised);
  RHEOS_TRY(rheos__raise_stretches(b, targets, num_targets));
  RHEOS_TRY(begin_pass(b, RHEOS__WITH_FRAMES));
  RHEOS_TRY(visit_all(b, targets, num_targets));
  for (size_t i = 0; i < b->num_ways_back; ++i) {
    const struct rheos__way_back *way = &b->ways_back[i];
    b->sources[way->source] = (rheos__source){b->marks[way->edge.id].state - 1, way->edge.index};
  }
  return NULL;
}

rheos_status *rheos__builder_visit(rheos__builder *b, const int32_t *targets, int32_t num_targets) {
  mark_done(b);
  RHEOS_TRY(rheos__builder_watch_feeds(b));
  RHEOS_TRY(visit_all(b, targets, num_targets));
  b->has_flow = b->has_flow || rheos__builder_is_held_twice(b);
  return b->has_flow ? visit_flow(b, targets, num_targets) : NULL;
}
