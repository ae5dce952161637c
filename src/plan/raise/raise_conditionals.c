// Raising conditionals of version 1. A node is on a side of a predicate if one of its inputs comes
// from there: from an output of a Switch, or from a node on that side. Sides lie in each other; a
// node is on the innermost of those that its inputs are on, which all lie around it. A Merge joins
// both sides of a predicate. What hangs together on sides of the level, Switches and Merges
// included, becomes one entry: a program's conditional does, since its Switches are its own.
#include "plan/raise/raise_impl.h"

#include <assert.h>

enum { MAX_FORWARDS = 16, FEW_INPUTS = 16 };

typedef struct side {
  int32_t parent;  // 0: the level itself
  int32_t depth;
  rheos__edge pred;
  int32_t which;  // 0: false
  int32_t next;   // of the same predicate's node; 0: none
} side;

typedef struct finder {
  rheos__raiser *r;
  int32_t *side_of_frame;
  side *sides;  // the level itself first
  size_t num_sides, side_capacity;
  int32_t *sides_of_pred;  // by node: the first; 0: none
  int32_t *links;        // by node: towards the one that stands for all that it hangs together with
  int32_t *frame_nodes;  // by frame of the level: one more than a node of its loop
  int32_t *needed_by;  // by node: one more than the number of the conditional whose results need it
} finder;

static const rheos__node *node_at(const finder *f, int32_t id) {
  return rheos__graph_node(f->r->plan->graph, id);
}

static bool is_outside_loops(const finder *f, int32_t id) { return f->r->frames->of_node[id] == 1; }

static int32_t level_frame_of(const finder *f, int32_t id) {
  return rheos__raiser_outermost(f->r, f->r->frames->of_node[id] - 1);
}

// ---- Sides

// What the predicate is, seen through nodes that only pass it on.
static rheos__edge predicate(const finder *f, rheos__edge edge) {
  for (int i = 0; i < MAX_FORWARDS && !rheos__raiser_is_there(f->r, edge); ++i) {
    const rheos__node *node = node_at(f, edge.id);
    if ((node->signature->op->flags & RHEOS_OP_FORWARDS) == 0 || node->num_inputs != 1 ||
        node->num_control_inputs > 0 || rheos__role_of(node) != RHEOS__FLOW_NONE) {
      break;
    }
    edge = node->edges[0];
  }
  return edge;
}

static rheos_status *find_side(finder *f, int32_t parent, rheos__edge pred, int32_t which,
                               int32_t *out_side) {
  int32_t *first = &f->sides_of_pred[pred.id];
  for (int32_t at = *first; at != 0; at = f->sides[at].next) {
    const side *s = &f->sides[at];
    if (s->parent != parent || s->pred.index != pred.index || s->which != which) continue;
    *out_side = at;
    return NULL;
  }
  if (!RHEOS_RESERVE(f->sides, f->side_capacity, f->num_sides + 1)) return rheos__out_of_memory();
  *out_side = (int32_t)f->num_sides;
  f->sides[f->num_sides++] = (side){.parent = parent,
                                    .depth = f->sides[parent].depth + 1,
                                    .pred = pred,
                                    .which = which,
                                    .next = *first};
  *first = *out_side;
  return NULL;
}

// The side that what comes along the edge is on.
static rheos_status *side_of(finder *f, rheos__edge edge, int32_t *out_side) {
  *out_side = 0;
  if (rheos__raiser_is_there(f->r, edge)) return NULL;
  if (!is_outside_loops(f, edge.id)) {  // an Exit
    *out_side = f->side_of_frame[level_frame_of(f, edge.id)];
    if (*out_side < 0) f->r->refused = true;
    return NULL;
  }
  const rheos__node *node = node_at(f, edge.id);
  const int32_t around = f->r->sides[edge.id];
  *out_side = around;
  if (rheos__role_of(node) == RHEOS__FLOW_MERGE && edge.index > 0) f->r->refused = true;
  if (rheos__role_of(node) != RHEOS__FLOW_SWITCH || edge.index < 0) return NULL;
  return find_side(f, around, predicate(f, node->edges[1]), edge.index, out_side);
}

// The inner one of two sides, one of which has to lie in the other.
static int32_t inner_of(const finder *f, int32_t a, int32_t b) {
  const int32_t inner = f->sides[a].depth >= f->sides[b].depth ? a : b;
  const int32_t outer = inner == a ? b : a;
  int32_t at = inner;
  while (f->sides[at].depth > f->sides[outer].depth) at = f->sides[at].parent;
  if (at != outer) f->r->refused = true;
  return inner;
}

static rheos_status *side_of_inputs(finder *f, const rheos__node *node, int32_t *out_side) {
  *out_side = 0;
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
    int32_t here;
    RHEOS_TRY(side_of(f, node->edges[i], &here));
    if (f->r->refused) return NULL;
    *out_side = inner_of(f, *out_side, here);
  }
  return NULL;
}

static rheos_status *side_of_merge(finder *f, const rheos__node *node, int32_t *out_side) {
  int32_t a, b;
  *out_side = 0;
  if (node->num_inputs != 2 || node->num_control_inputs > 0) {
    f->r->refused = true;
    return NULL;
  }
  RHEOS_TRY(side_of(f, node->edges[0], &a));
  RHEOS_TRY(side_of(f, node->edges[1], &b));
  if (f->r->refused) return NULL;
  const side *x = &f->sides[a], *y = &f->sides[b];
  if (a == 0 || b == 0 || x->parent != y->parent || x->pred.id != y->pred.id ||
      x->pred.index != y->pred.index || x->which == y->which) {
    f->r->refused = true;
    return NULL;
  }
  *out_side = x->parent;
  return NULL;
}

// All that opens a loop is on the same side.
static void note_enter(finder *f, int32_t id, int32_t side) {
  const int32_t frame = rheos__flow_frame_behind(f->r->frames, f->r->plan->graph, id);
  int32_t *of_frame = &f->side_of_frame[frame];
  if (*of_frame >= 0 && *of_frame != side) f->r->refused = true;
  *of_frame = side;
  f->frame_nodes[frame] = id + 1;
}

static rheos_status *find_side_of_node(finder *f, int32_t id) {
  const rheos__node *node = node_at(f, id);
  int32_t *out_side = &f->r->sides[id];
  switch (rheos__role_of(node)) {
    case RHEOS__FLOW_MERGE: return side_of_merge(f, node, out_side);
    case RHEOS__FLOW_CONTROL_TRIGGER: return NULL;  // runs whatever it waits for
    case RHEOS__FLOW_SWITCH:
      if (node->num_outputs != 2 || !rheos__raiser_takes_values(f->r, node)) f->r->refused = true;
      return side_of_inputs(f, node, out_side);
    case RHEOS__FLOW_ENTER: {
      RHEOS_TRY(side_of_inputs(f, node, out_side));
      if (!f->r->refused) note_enter(f, id, *out_side);
      return NULL;
    }
    case RHEOS__FLOW_NONE: return side_of_inputs(f, node, out_side);
    default: f->r->refused = true; return NULL;
  }
}

// ---- What hangs together

static int32_t root_of(finder *f, int32_t id) {
  while (f->links[id] != id) {
    f->links[id] = f->links[f->links[id]];
    id = f->links[id];
  }
  return id;
}

static void join(finder *f, int32_t a, int32_t b) {
  const int32_t x = root_of(f, a), y = root_of(f, b);
  if (x != y) f->links[x < y ? y : x] = x < y ? x : y;
}

// Whether the node, outside of loops, belongs to a conditional of the level.
static bool is_on_side(const finder *f, int32_t id) { return f->r->sides[id] != 0; }

static rheos_status *join_inputs(finder *f, int32_t id) {
  const rheos__node *node = node_at(f, id);
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
    int32_t here;
    RHEOS_TRY(side_of(f, node->edges[i], &here));
    if (here != 0) join(f, id, node->edges[i].id);
  }
  return NULL;
}

// A loop on a side hangs together as a whole.
static rheos_status *join_node(finder *f, int32_t id) {
  if (!is_outside_loops(f, id)) {
    const int32_t frame = level_frame_of(f, id);
    if (f->side_of_frame[frame] != 0) join(f, id, f->frame_nodes[frame] - 1);
    return NULL;
  }
  const rheos__flow_role role = rheos__role_of(node_at(f, id));
  if (role == RHEOS__FLOW_CONTROL_TRIGGER) return NULL;
  if (role == RHEOS__FLOW_ENTER && is_on_side(f, id)) {
    const int32_t frame = rheos__flow_frame_behind(f->r->frames, f->r->plan->graph, id);
    join(f, id, f->frame_nodes[frame] - 1);
  }
  return is_on_side(f, id) || role == RHEOS__FLOW_MERGE ? join_inputs(f, id) : NULL;
}

// Whether the node becomes a part of a conditional of the level.
static bool is_member(const finder *f, int32_t id) {
  if (!is_outside_loops(f, id)) return f->side_of_frame[level_frame_of(f, id)] != 0;
  const rheos__flow_role role = rheos__role_of(node_at(f, id));
  return is_on_side(f, id) || role == RHEOS__FLOW_MERGE || role == RHEOS__FLOW_SWITCH;
}

// ---- One conditional

typedef struct conditional {
  finder *f;
  rheos__draft draft;
  rheos__edge pred;  // seen through what passes it on
} conditional;

// A Switch of the level.
static rheos_status *take_switch(conditional *c, int32_t id) {
  const rheos__node *node = node_at(c->f, id);
  const rheos__edge pred = predicate(c->f, node->edges[1]);
  if (c->draft.node >= 0 && (pred.id != c->pred.id || pred.index != c->pred.index)) {
    c->f->r->refused = true;
  }
  if (c->draft.node < 0) {
    c->draft.node = id;
    c->draft.condition = node->edges[1];
    c->pred = pred;
  }
  for (int32_t i = 0; i < node->num_control_inputs; ++i) {
    const rheos__edge edge = node->edges[node->num_inputs + i];
    if (rheos__raiser_is_there(c->f->r, edge)) continue;
    RHEOS_TRY(rheos__numbers_add(&c->draft.waits, edge.id));
  }
  return NULL;
}

// A value of the level that nodes on sides take without a Switch.
static rheos_status *feed_directly(conditional *c, rheos__edge edge) {
  const size_t count = c->draft.num_inputs;
  for (size_t i = count; i-- > 0 && i + FEW_INPUTS > count;) {
    const rheos__edge fed = c->draft.inputs[i].fed[0];
    if (fed.id == edge.id && fed.index == edge.index) return NULL;
  }
  return rheos__draft_add_input(&c->draft, edge, edge, edge);
}

static rheos_status *feed_switched(conditional *c, int32_t id) {
  int32_t *input = &c->f->r->input_of[id];
  if (*input != 0) return NULL;
  RHEOS_TRY(rheos__draft_add_input(&c->draft, node_at(c->f, id)->edges[0], (rheos__edge){id, 0},
                                   (rheos__edge){id, 1}));
  *input = (int32_t)c->draft.num_inputs;
  return NULL;
}

static bool is_level_switch(const finder *f, int32_t id) {
  return is_outside_loops(f, id) && !is_on_side(f, id) &&
         rheos__role_of(node_at(f, id)) == RHEOS__FLOW_SWITCH;
}

// What a node on a side takes.
static rheos_status *take_edge(conditional *c, rheos__edge edge) {
  finder *f = c->f;
  int32_t here;
  if (rheos__raiser_is_there(f->r, edge)) {
    return edge.index >= 0 ? feed_directly(c, edge) : rheos__numbers_add(&c->draft.done, edge.id);
  }
  RHEOS_TRY(side_of(f, edge, &here));
  if (here != 0) {
    return is_level_switch(f, edge.id) ? feed_switched(c, edge.id) : NULL;
  }
  if (edge.index >= 0) return feed_directly(c, edge);
  RHEOS_TRY(rheos__numbers_add(&c->draft.waits, edge.id));
  return rheos__numbers_add(&c->draft.done, edge.id);
}

// A Merge of the level.
static rheos_status *take_merge(conditional *c, int32_t id) {
  const rheos__node *node = node_at(c->f, id);
  rheos__draft_output output = {.edge = {id, 0}};
  for (int32_t i = 0; i < 2; ++i) {
    int32_t here;
    RHEOS_TRY(side_of(c->f, node->edges[i], &here));
    output.results[c->f->sides[here].which] = node->edges[i];
    RHEOS_TRY(take_edge(c, node->edges[i]));
  }
  return rheos__draft_add_output(&c->draft, &output);
}

static rheos_status *take_member(conditional *c, int32_t id) {
  finder *f = c->f;
  const rheos__node *node = node_at(f, id);
  const rheos__flow_role role = rheos__role_of(node);
  if (!rheos__raiser_takes_values(f->r, node)) f->r->refused = true;
  if (is_level_switch(f, id)) return take_switch(c, id);
  if (is_outside_loops(f, id) && !is_on_side(f, id) && role == RHEOS__FLOW_MERGE) {
    return take_merge(c, id);
  }
  c->draft.effects |= node->signature->op->flags & (unsigned)RHEOS__RAISED_EFFECTS;
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
    const rheos__edge edge = node->edges[i];
    if (is_outside_loops(f, id)) {
      RHEOS_TRY(take_edge(c, edge));
    } else if (rheos__raiser_is_there(f->r, edge)) {
      f->r->refused = true;
    }
  }
  return NULL;
}

// Notes what of the conditional that `root` stands for the edge needs.
static rheos_status *need(finder *f, int32_t root, rheos__edge edge, rheos__numbers *pending) {
  const int32_t number = f->r->raised->count + 1;
  if (rheos__raiser_is_there(f->r, edge) || f->r->frames->of_node[edge.id] == 0) return NULL;
  if (f->needed_by[edge.id] == number || !is_member(f, edge.id) || root_of(f, edge.id) != root) {
    return NULL;
  }
  f->needed_by[edge.id] = number;
  return rheos__numbers_add(pending, edge.id);
}

static rheos_status *need_all(finder *f, int32_t root, const rheos__draft *draft,
                              rheos__numbers *pending) {
  for (size_t i = 0; i < draft->num_outputs; ++i) {
    for (int which = 0; which < 2; ++which) {
      RHEOS_TRY(need(f, root, draft->outputs[i].results[which], pending));
    }
  }
  while (pending->count > 0) {
    const rheos__node *node = node_at(f, pending->items[--pending->count]);
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
      RHEOS_TRY(need(f, root, node->edges[i], pending));
    }
  }
  return NULL;
}

// What has effects that others only wait for, a stack's pushes for example, runs with its side: no
// result asks for it. Within a further side or a loop it stays on tokens.
static rheos_status *take_effects(conditional *c, const int32_t *members, int32_t count) {
  finder *f = c->f;
  if (c->draft.effects == 0) return NULL;
  rheos__numbers pending = {0};
  rheos_status *status = need_all(f, root_of(f, members[0]), &c->draft, &pending);
  rheos__free(pending.items);
  for (int32_t i = 0; status == NULL && i < count; ++i) {
    const unsigned flags = node_at(f, members[i])->signature->op->flags;
    if (f->needed_by[members[i]] == f->r->raised->count + 1 ||
        (flags & (unsigned)RHEOS__RAISED_EFFECTS) == 0) {
      continue;
    }
    const side *own = &f->sides[f->r->sides[members[i]]];
    if (!is_outside_loops(f, members[i]) || own->depth != 1) {
      f->r->refused = true;
      return NULL;
    }
    status = rheos__numbers_add(&c->draft.targets[own->which], members[i]);
  }
  return status;
}

static rheos_status *raise_conditional(finder *f, const int32_t *members, int32_t count) {
  conditional c = {.f = f, .draft = {.node = -1}};
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && !f->r->refused && i < count; ++i) {
    status = take_member(&c, members[i]);
  }
  if (c.draft.node < 0 || c.draft.num_outputs == 0) f->r->refused = true;
  if (status == NULL && !f->r->refused) status = take_effects(&c, members, count);
  if (status == NULL && !f->r->refused) status = rheos__raiser_add(f->r, &c.draft);
  rheos__draft_deinit(&c.draft);
  for (int32_t i = 0; status == NULL && i < count; ++i) {
    f->r->raised->of_node[members[i]] = f->r->raised->count;
  }
  return status;
}

// ---- All of them

// Members by the node that stands for them: `firsts` by that node, and the end.
static rheos_status *raise_all(finder *f, int32_t *firsts, int32_t *members) {
  const rheos__raiser *r = f->r;
  for (int32_t i = 0; i < r->num_order; ++i) {
    if (is_member(f, r->order[i])) ++firsts[root_of(f, r->order[i]) + 2];
  }
  for (int32_t i = 0; i < r->num_nodes; ++i) firsts[i + 1] += firsts[i];
  for (int32_t i = 0; i < r->num_order; ++i) {
    const int32_t id = r->order[i];
    if (is_member(f, id)) members[firsts[root_of(f, id) + 1]++] = id;
  }
  for (int32_t i = 0; i < r->num_nodes && !r->refused; ++i) {
    if (firsts[i + 1] == firsts[i]) continue;
    RHEOS_TRY(raise_conditional(f, members + firsts[i], firsts[i + 1] - firsts[i]));
  }
  return NULL;
}

static rheos_status *find_and_raise(finder *f) {
  rheos__raiser *r = f->r;
  for (int32_t i = 0; !r->refused && i < r->num_order; ++i) {
    if (is_outside_loops(f, r->order[i])) RHEOS_TRY(find_side_of_node(f, r->order[i]));
  }
  if (f->num_sides == 1) return NULL;
  for (int32_t i = 0; !r->refused && i < r->num_order; ++i) RHEOS_TRY(join_node(f, r->order[i]));
  if (r->refused) return NULL;
  int32_t *firsts = rheos__alloc_array((size_t)r->num_nodes + 2, sizeof *firsts);
  int32_t *members = rheos__alloc_array((size_t)r->num_order + 1, sizeof *members);
  rheos_status *status =
      firsts == NULL || members == NULL ? rheos__out_of_memory() : raise_all(f, firsts, members);
  rheos__free(firsts);
  rheos__free(members);
  return status;
}

rheos_status *rheos__raise_conditionals(rheos__raiser *r, int32_t *side_of_frame) {
  const size_t num_nodes = (size_t)r->num_nodes, num_frames = (size_t)r->frames->count;
  finder f = {.r = r, .side_of_frame = side_of_frame};
  f.sides_of_pred = rheos__alloc_array(num_nodes, sizeof *f.sides_of_pred);
  f.links = rheos__alloc_array(num_nodes, sizeof *f.links);
  f.frame_nodes = rheos__alloc_array(num_frames, sizeof *f.frame_nodes);
  f.needed_by = rheos__alloc_array(num_nodes, sizeof *f.needed_by);
  rheos_status *status = NULL;
  if (f.sides_of_pred == NULL || f.links == NULL || f.frame_nodes == NULL || f.needed_by == NULL ||
      !RHEOS_RESERVE(f.sides, f.side_capacity, 1)) {
    status = rheos__out_of_memory();
  } else {
    f.sides[f.num_sides++] = (side){0};
    for (int32_t i = 0; i < r->num_nodes; ++i) f.links[i] = i;
    for (size_t i = 0; i < num_frames; ++i) side_of_frame[i] = -1;
    status = find_and_raise(&f);
  }
  rheos__free(f.sides);
  rheos__free(f.sides_of_pred);
  rheos__free(f.links);
  rheos__free(f.frame_nodes);
  rheos__free(f.needed_by);
  return status;
}
