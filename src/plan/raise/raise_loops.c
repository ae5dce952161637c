// Raising loops of version 1. See raise.h.
#include "plan/raise/raise_impl.h"

// The parts that a node is in; and whether it runs in trips alone, not when the loop has ended:
// then the true sides of the Switches are dead.
enum { IN_CONDITION = 1, IN_BODY = 2, IN_TRIPS = 4 };

typedef struct loop_raiser {
  rheos__raiser *r;
  int32_t frame;
  const int32_t *members;  // the nodes in the frame and those inside, and the Enters
  int32_t num_members;
  int32_t condition;                // the LoopCond; -1
  rheos__numbers merges, switches;  // by variable; -1 where there is no Switch
  rheos__numbers constants;         // Enters
  rheos__numbers stack;
  rheos__draft draft;
} loop_raiser;

static const rheos__node *node_at(const loop_raiser *l, int32_t id) {
  return rheos__graph_node(l->r->plan->graph, id);
}

static void refuse(loop_raiser *l) { l->r->refused = true; }

// Whether the node, which is not an Enter, is in the loop itself.
static bool is_own(const loop_raiser *l, int32_t id) {
  return l->r->frames->of_node[id] - 1 == l->frame;
}

static bool opens_loop(const loop_raiser *l, int32_t id) {
  return rheos__role_of(node_at(l, id)) == RHEOS__FLOW_ENTER &&
         rheos__flow_frame_behind(l->r->frames, l->r->plan->graph, id) == l->frame;
}

static bool is_constant_enter(const loop_raiser *l, int32_t id) {
  return rheos__attr_bool(node_at(l, id)->attrs, "is_constant");
}

static bool is_loop_merge(const loop_raiser *l, int32_t id) {
  return rheos__role_of(node_at(l, id)) == RHEOS__FLOW_MERGE && l->r->variable_of[id] != 0;
}

static bool is_loop_switch(const loop_raiser *l, int32_t id) {
  return rheos__role_of(node_at(l, id)) == RHEOS__FLOW_SWITCH && l->r->variable_of[id] != 0;
}

// ---- The parts of a loop

static rheos_status *take_enter(loop_raiser *l, int32_t id) {
  const rheos__node *node = node_at(l, id);
  for (int32_t i = 0; i < node->num_control_inputs; ++i) {
    const rheos__edge edge = node->edges[node->num_inputs + i];
    if (rheos__raiser_is_there(l->r, edge)) continue;
    RHEOS_TRY(rheos__numbers_add(&l->draft.waits, edge.id));
  }
  return is_constant_enter(l, id) ? rheos__numbers_add(&l->constants, id) : NULL;
}

// A Merge that the loop comes back to.
static rheos_status *take_merge(loop_raiser *l, int32_t id) {
  const rheos__node *node = node_at(l, id);
  const rheos__edge enter = node->edges[0];
  if (node->num_inputs != 2 || node->num_control_inputs > 0 || !opens_loop(l, enter.id) ||
      is_constant_enter(l, enter.id) || l->r->variable_of[enter.id] != 0 ||
      !rheos__flow_is_way_back(l->r->plan->graph, node, 1)) {
    refuse(l);
    return NULL;
  }
  RHEOS_TRY(rheos__numbers_add(&l->merges, id));
  RHEOS_TRY(rheos__numbers_add(&l->switches, -1));
  l->r->variable_of[id] = l->r->variable_of[enter.id] = (int32_t)l->merges.count;
  return NULL;
}

static void take_switch(loop_raiser *l, int32_t id) {
  const rheos__node *node = node_at(l, id);
  const rheos__edge data = node->edges[0];
  if (node->num_outputs != 2 || node->num_control_inputs > 0 || node->edges[1].index != 0 ||
      data.index != 0 || !is_loop_merge(l, data.id)) {
    refuse(l);
    return;
  }
  const int32_t variable = l->r->variable_of[data.id];
  if (l->switches.items[variable - 1] >= 0) refuse(l);
  l->switches.items[variable - 1] = id;
  l->r->variable_of[id] = variable;
}

static rheos_status *take_exit(loop_raiser *l, int32_t id) {
  const rheos__node *node = node_at(l, id);
  const rheos__edge data = node->edges[0];
  if (node->num_control_inputs > 0 || data.index != 0 || !is_loop_switch(l, data.id)) {
    refuse(l);
    return NULL;
  }
  const rheos__draft_output output = {.edge = {id, 0}, .variable = l->r->variable_of[data.id] - 1};
  return rheos__draft_add_output(&l->draft, &output);
}

static bool has_way_back(const loop_raiser *l, const rheos__node *node) {
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    if (rheos__flow_is_way_back(l->r->plan->graph, node, i)) return true;
  }
  return false;
}

static void take_condition(loop_raiser *l, int32_t id) {
  if (l->condition >= 0 || node_at(l, id)->num_control_inputs > 0) refuse(l);
  l->condition = id;
}

// What has nothing before it that must be known; then Switches, then Exits.
static rheos_status *take_parts(loop_raiser *l) {
  for (int32_t i = 0; i < l->num_members; ++i) {
    const int32_t id = l->members[i];
    const rheos__node *node = node_at(l, id);
    const rheos__flow_role role = rheos__role_of(node);
    if (opens_loop(l, id)) RHEOS_TRY(take_enter(l, id));
    if (!is_own(l, id)) continue;
    if (role == RHEOS__FLOW_MERGE && has_way_back(l, node)) RHEOS_TRY(take_merge(l, id));
    if (role == RHEOS__FLOW_LOOP_COND) take_condition(l, id);
  }
  if (l->condition < 0 || l->merges.count == 0) refuse(l);
  for (int32_t i = 0; !l->r->refused && i < l->num_members; ++i) {
    const int32_t id = l->members[i];
    if (!is_own(l, id) || rheos__role_of(node_at(l, id)) != RHEOS__FLOW_SWITCH) continue;
    if (node_at(l, id)->edges[1].id == l->condition) take_switch(l, id);
  }
  for (int32_t i = 0; !l->r->refused && i < l->num_members; ++i) {
    const int32_t id = l->members[i];
    if (!is_own(l, id) || rheos__role_of(node_at(l, id)) != RHEOS__FLOW_EXIT) continue;
    RHEOS_TRY(take_exit(l, id));
  }
  return NULL;
}

// ---- The parts

// Whether the part is fed the edge.
static bool is_fed(const loop_raiser *l, rheos__edge edge, int part) {
  if (opens_loop(l, edge.id)) return is_constant_enter(l, edge.id);
  if (part == IN_CONDITION) return is_loop_merge(l, edge.id) && edge.index <= 0;
  return is_loop_switch(l, edge.id) && edge.index == 1;
}

// Whether the edge comes from the machinery of the loop.
static bool is_part(const loop_raiser *l, int32_t id) {
  const rheos__flow_role role = rheos__role_of(node_at(l, id));
  if (opens_loop(l, id)) return true;
  if (!is_own(l, id)) return false;
  return role == RHEOS__FLOW_LOOP_COND || role == RHEOS__FLOW_NEXT_ITERATION ||
         role == RHEOS__FLOW_EXIT || is_loop_merge(l, id) || is_loop_switch(l, id);
}

// A control edge from what the body is fed.
static bool waits_for_trip(const loop_raiser *l, rheos__edge edge, int part) {
  return part == IN_BODY && edge.index < 0 && is_loop_switch(l, edge.id);
}

static rheos_status *reach(loop_raiser *l, rheos__edge edge, int part) {
  if (is_fed(l, edge, part) || waits_for_trip(l, edge, part)) return NULL;
  if (rheos__raiser_is_there(l->r, edge) || is_part(l, edge.id)) {
    refuse(l);
    return NULL;
  }
  uint8_t *cone = &l->r->cones[edge.id];
  if ((*cone & part) != 0) return NULL;
  *cone |= (uint8_t)part;
  return rheos__numbers_add(&l->stack, edge.id);
}

static rheos_status *walk_from(loop_raiser *l, rheos__edge start, int part) {
  RHEOS_TRY(reach(l, start, part));
  while (l->stack.count > 0 && !l->r->refused) {
    const rheos__node *node = node_at(l, l->stack.items[--l->stack.count]);
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
      RHEOS_TRY(reach(l, node->edges[i], part));
    }
  }
  return NULL;
}

static rheos_status *take_next(loop_raiser *l, int32_t merge) {
  rheos__draft *draft = &l->draft;
  const rheos__node *next = node_at(l, node_at(l, merge)->edges[1].id);
  if (!RHEOS_RESERVE(draft->next, draft->next_capacity, draft->num_next + 1)) {
    return rheos__out_of_memory();
  }
  draft->next[draft->num_next++] = next->edges[0];
  RHEOS_TRY(walk_from(l, next->edges[0], IN_BODY));
  for (int32_t i = 0; i < next->num_control_inputs; ++i) {
    const rheos__edge edge = next->edges[next->num_inputs + i];
    if (is_fed(l, edge, IN_BODY) || waits_for_trip(l, edge, IN_BODY)) continue;
    RHEOS_TRY(walk_from(l, edge, IN_BODY));
    RHEOS_TRY(rheos__numbers_add(&draft->targets[1], edge.id));
  }
  return NULL;
}

static rheos_status *take_inputs(loop_raiser *l) {
  for (size_t i = 0; i < l->merges.count; ++i) {
    const rheos__edge merge = {l->merges.items[i], 0};
    const int32_t id = l->switches.items[i];
    const rheos__edge fed = id >= 0 ? (rheos__edge){id, 1} : merge;
    const rheos__node *enter = node_at(l, node_at(l, merge.id)->edges[0].id);
    RHEOS_TRY(rheos__draft_add_input(&l->draft, enter->edges[0], merge, fed));
  }
  for (size_t i = 0; i < l->constants.count; ++i) {
    const rheos__edge fed = {l->constants.items[i], 0};
    RHEOS_TRY(rheos__draft_add_input(&l->draft, node_at(l, fed.id)->edges[0], fed, fed));
  }
  return NULL;
}

static bool comes_in_trips(const loop_raiser *l, rheos__edge edge) {
  return (is_loop_switch(l, edge.id) && edge.index == 1) || (l->r->cones[edge.id] & IN_TRIPS) != 0;
}

// Whether the node is dead where the true sides of the Switches are: one input is enough, but of a
// Merge all.
static bool runs_in_trips(const loop_raiser *l, const rheos__node *node) {
  const bool is_merge = rheos__role_of(node) == RHEOS__FLOW_MERGE;
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    if (rheos__flow_is_way_back(l->r->plan->graph, node, i)) continue;
    if (comes_in_trips(l, node->edges[i]) != is_merge) return !is_merge;
  }
  for (int32_t i = 0; !is_merge && i < node->num_control_inputs; ++i) {
    if (comes_in_trips(l, node->edges[node->num_inputs + i])) return true;
  }
  return is_merge;
}

static bool is_watched(const loop_raiser *l, int32_t id) {
  const rheos__plan *plan = l->r->plan;
  int32_t first;
  return plan->context.watches != NULL &&
         rheos__watches_of_node(plan->context.watches, plan->graph, id, &first) > 0;
}

// Whether each node is a part of the loop or in one of the parts. The body runs in trips alone, so
// what has effects in it must too. Members come after what they need.
static void check_members(loop_raiser *l) {
  for (int32_t i = 0; i < l->num_members; ++i) {
    const int32_t id = l->members[i];
    const rheos__node *node = node_at(l, id);
    if (!rheos__raiser_takes_values(l->r, node)) refuse(l);
    if (opens_loop(l, id)) {
      if (!is_constant_enter(l, id) && l->r->variable_of[id] == 0) refuse(l);
      continue;
    }
    if (is_part(l, id)) continue;
    const unsigned flags = node->signature->op->flags & (unsigned)RHEOS__RAISED_EFFECTS;
    const uint8_t cone = l->r->cones[id];
    const bool is_once = flags != 0 || is_watched(l, id);
    if (cone == 0 || (cone == (IN_CONDITION | IN_BODY) && is_once)) refuse(l);
    const bool in_trips = runs_in_trips(l, node);
    if (in_trips) l->r->cones[id] |= IN_TRIPS;
    if (cone == IN_BODY && flags != 0 && !in_trips) refuse(l);
    l->draft.effects |= flags;
  }
}

static rheos_status *raise_loop(loop_raiser *l) {
  RHEOS_TRY(take_parts(l));
  if (l->r->refused) return NULL;
  l->draft.node = l->condition;
  l->draft.condition = node_at(l, l->condition)->edges[0];
  RHEOS_TRY(walk_from(l, l->draft.condition, IN_CONDITION));
  for (size_t i = 0; !l->r->refused && i < l->merges.count; ++i) {
    RHEOS_TRY(take_next(l, l->merges.items[i]));
  }
  RHEOS_TRY(take_inputs(l));
  check_members(l);
  if (l->r->refused) return NULL;
  RHEOS_TRY(rheos__raiser_add(l->r, &l->draft));
  for (int32_t i = 0; i < l->num_members; ++i) {
    l->r->raised->of_node[l->members[i]] = l->r->raised->count;
  }
  return NULL;
}

rheos_status *rheos__raise_loop(rheos__raiser *r, int32_t frame, const int32_t *members,
                                int32_t num_members) {
  loop_raiser l = {.r = r,
                   .frame = frame,
                   .members = members,
                   .num_members = num_members,
                   .condition = -1,
                   .draft = {.kind = RHEOS__LOOP}};
  rheos_status *status = raise_loop(&l);
  rheos__draft_deinit(&l.draft);
  rheos__free(l.merges.items);
  rheos__free(l.switches.items);
  rheos__free(l.constants.items);
  rheos__free(l.stack.items);
  return status;
}
