// Nodes are placed in the order of their ids, in which all inputs but a loop's way back come first.
// Regions are loops and sides of conditionals, as far as they show; they become contexts when all
// nodes are placed, those around before those inside.
#include "graph/context_recovery.h"

#include <string.h>

#include "graph/backward_loop.h"
#include "graph/build.h"
#include "graph/graph_impl.h"

static const rheos__edge no_edge = {-1, 0};

typedef struct region {
  rheos_control_context *context;  // NULL: not made yet
  int32_t outer;                   // 0: the region outside of all, which has no context
  bool is_while;
  bool is_given;    // it had a context before
  bool is_refused;  // it has another form than those that programs make
  // Of a side of a conditional
  rheos__edge pred;  // as the first Switch of a value has it
  int32_t branch;
  int32_t next_of_pred;
  // Of a loop
  const char *frame;  // interned
  int32_t loop_cond;
  int32_t num_enters, num_exits;
  int64_t parallel_iterations;
  rheos__edge pivot_for_pred;
  // Of both: what others may wait for inside.
  rheos__edge pivot;
  bool pivot_is_own;  // made as a pivot
} region;

typedef struct recovery {
  rheos_scope *scope;
  rheos_graph *graph;
  region *regions;
  size_t capacity;
  int32_t count;
  int32_t num_nodes;
  int32_t *of_node;      // by node that is placed: its region; -1 for others
  int32_t *of_context;   // by a context's number
  int32_t *of_pred;      // by node that gives a predicate: the first region, 0: none
  uint8_t *sides_taken;  // by Switch of a conditional: bits; of a loop: 1, an Exit takes its value
} recovery;

static void take(recovery *r, rheos_status *status) { rheos_scope_fail_take(r->scope, status); }

static bool failed(const recovery *r) { return rheos_scope_status(r->scope) != NULL; }

static const rheos__node *node_at(const recovery *r, int32_t id) {
  return rheos__graph_node(r->graph, id);
}

static rheos__flow_role role_of(const rheos__node *node) { return node->signature->op->flow; }

static bool is_placed(const recovery *r, int32_t id) { return r->of_node[id] >= 0; }

static bool is_way_back(const recovery *r, const rheos__node *node, int32_t input) {
  if (role_of(node) != RHEOS__FLOW_MERGE || input >= node->num_inputs) return false;
  return role_of(node_at(r, node->edges[input].id)) == RHEOS__FLOW_NEXT_ITERATION;
}

static bool is_loop_merge(const recovery *r, const rheos__node *node) {
  for (int32_t i = 0; i < node->num_inputs; i++) {
    if (is_way_back(r, node, i)) return true;
  }
  return false;
}

static bool is_constant_enter(const rheos__node *node) {
  return role_of(node) == RHEOS__FLOW_ENTER && rheos__attr_bool(node->attrs, "is_constant");
}

// ---- Regions

static int32_t add_region(recovery *r, const region *new_region) {
  if (!RHEOS_RESERVE(r->regions, r->capacity, (size_t)r->count + 1)) {
    take(r, rheos__out_of_memory());
    return 0;
  }
  r->regions[r->count] = *new_region;
  return r->count++;
}

static bool is_around(const recovery *r, int32_t outer, int32_t inner) {
  while (inner != outer && inner != 0) inner = r->regions[inner].outer;
  return inner == outer;
}

// The inner one of two regions, one of which has to lie in the other.
static int32_t inner_of(recovery *r, int32_t a, int32_t b) {
  if (is_around(r, a, b)) return b;
  if (!is_around(r, b, a)) r->regions[a].is_refused = r->regions[b].is_refused = true;
  return a;
}

// What the predicate is, seen through nodes that only pass it on.
static rheos__edge predicate(const recovery *r, rheos__edge pred) {
  for (;;) {
    const rheos__node *node = node_at(r, pred.id);
    const bool passes_on =
        (node->signature->op->flags & RHEOS_OP_FORWARDS) != 0 && node->num_inputs == 1;
    if (!passes_on || role_of(node) != RHEOS__FLOW_NONE) return pred;
    pred = node->edges[0];
  }
}

static void list_by_pred(recovery *r, int32_t at) {
  const int32_t id = predicate(r, r->regions[at].pred).id;
  r->regions[at].next_of_pred = r->of_pred[id];
  r->of_pred[id] = at;
}

static int32_t region_of_context(recovery *r, rheos_control_context *context) {
  if (context == NULL) return 0;
  if (r->of_context[context->number] != 0) return r->of_context[context->number];
  const region given = {.context = context,
                        .outer = region_of_context(r, context->outer),
                        .is_while = context->is_while,
                        .is_given = true,
                        .pred = context->pred,
                        .branch = context->branch,
                        .frame = context->name,
                        .loop_cond = context->pivot.id,
                        .pivot = context->pivot};
  const int32_t at = add_region(r, &given);
  r->of_context[context->number] = at;
  if (at != 0 && !context->is_while) list_by_pred(r, at);
  return at;
}

static int32_t find_branch(recovery *r, int32_t outer, rheos__edge pred, int32_t branch) {
  const rheos__edge source = predicate(r, pred);
  for (int32_t at = r->of_pred[source.id]; at != 0; at = r->regions[at].next_of_pred) {
    const region *known = &r->regions[at];
    if (known->outer == outer && known->branch == branch &&
        predicate(r, known->pred).index == source.index) {
      return at;
    }
  }
  const region side = {.outer = outer, .pred = pred, .branch = branch, .pivot = no_edge};
  const int32_t at = add_region(r, &side);
  if (at != 0) list_by_pred(r, at);
  return at;
}

static int32_t find_loop(recovery *r, int32_t outer, const rheos__node *enter) {
  const char *name = rheos__attr_string(enter->attrs, "frame_name");
  const char *frame = rheos__intern_text(r->graph, name, strlen(name));
  if (frame == NULL) take(r, rheos__out_of_memory());
  for (int32_t at = r->count - 1; at > 0; at--) {
    region *known = &r->regions[at];
    if (!known->is_while || known->is_given || known->frame != frame) continue;
    const int32_t inner = inner_of(r, known->outer, outer);
    if (is_around(r, at, inner)) {
      r->regions[at].is_refused = true;
    } else {
      r->regions[at].outer = inner;
    }
    return at;
  }
  const region loop = {.outer = outer,
                       .is_while = true,
                       .frame = frame,
                       .loop_cond = -1,
                       .parallel_iterations = rheos__attr_int(enter->attrs, "parallel_iterations"),
                       .pivot_for_pred = no_edge,
                       .pivot = no_edge};
  return add_region(r, &loop);
}

// ---- Where nodes are

static bool is_loop_switch(const recovery *r, const rheos__node *node, int32_t at) {
  const region *in = &r->regions[at];
  return role_of(node) == RHEOS__FLOW_SWITCH && node->num_inputs == 2 && in->is_while &&
         node->edges[1].id == in->loop_cond;
}

static bool is_branch_switch(const recovery *r, const rheos__node *node, int32_t at) {
  return role_of(node) == RHEOS__FLOW_SWITCH && node->num_inputs == 2 && node->num_outputs == 2 &&
         !is_loop_switch(r, node, at);
}

// The region of what comes along the edge.
static int32_t region_behind(recovery *r, rheos__edge edge) {
  if (!is_placed(r, edge.id)) {
    return region_of_context(r, rheos__output_context_of(r->graph, edge.id));
  }
  const rheos__node *node = node_at(r, edge.id);
  const int32_t at = r->of_node[edge.id];
  if (role_of(node) == RHEOS__FLOW_EXIT) return r->regions[at].outer;
  if (edge.index < 0 || !is_branch_switch(r, node, at)) return at;
  r->sides_taken[edge.id] |= (uint8_t)(1 << edge.index);
  return find_branch(r, at, node->edges[1], edge.index);
}

// The innermost region that both lie in.
static int32_t around_both(const recovery *r, int32_t a, int32_t b) {
  while (!is_around(r, a, b)) a = r->regions[a].outer;
  return a;
}

static void refuse_up_to(recovery *r, int32_t at, int32_t end) {
  for (; at != end && at != 0; at = r->regions[at].outer) r->regions[at].is_refused = true;
}

// A Merge joins the false and the true side of a conditional.
static int32_t region_of_merge(recovery *r, const rheos__node *node, int32_t at) {
  int32_t sides[2] = {0, 0}, first = 0;
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const int32_t side = region_behind(r, node->edges[i]);
    if (i < 2) sides[i] = side;
    if (i == 0) first = side;
    first = around_both(r, first, side);
  }
  const region *a = &r->regions[sides[0]], *b = &r->regions[sides[1]];
  const bool joins = node->num_inputs == 2 && sides[0] != 0 && sides[1] != 0 && !a->is_while &&
                     !b->is_while && a->outer == b->outer && a->branch == 0 && b->branch == 1 &&
                     predicate(r, a->pred).id == predicate(r, b->pred).id;
  for (int32_t i = 0; !joins && i < node->num_inputs; i++) {
    refuse_up_to(r, region_behind(r, node->edges[i]), first);
  }
  return inner_of(r, at, joins ? r->regions[sides[0]].outer : first);
}

// A ControlTrigger runs also where what it waits for does not, so it is in no branch.
static int32_t region_of_trigger(recovery *r, const rheos__node *node, int32_t at) {
  int32_t around = -1;
  for (int32_t i = 0; i < node->num_control_inputs && !failed(r); i++) {
    const int32_t behind = region_behind(r, node->edges[node->num_inputs + i]);
    around = around < 0 ? behind : around_both(r, around, behind);
  }
  while (around > 0 && !r->regions[around].is_while) around = r->regions[around].outer;
  return around < 0 ? at : inner_of(r, at, around);
}

static int32_t region_of_inputs(recovery *r, const rheos__node *node, int32_t at) {
  const int32_t count = node->num_inputs + node->num_control_inputs;
  for (int32_t i = 0; i < count && !failed(r); i++) {
    if (is_way_back(r, node, i)) continue;
    at = inner_of(r, at, region_behind(r, node->edges[i]));
  }
  return at;
}

// What other nodes of the region may wait for: in a loop, what takes a variable in the body.
static void offer_pivot(recovery *r, int32_t id, int32_t at) {
  region *in = &r->regions[at];
  const rheos__node *node = node_at(r, id);
  if (at == 0 || in->is_given || in->pivot_is_own || role_of(node) != RHEOS__FLOW_NONE) return;
  if (node->num_outputs == 0) return;
  bool takes_variable = false, is_own = false;
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const rheos__node *from = node_at(r, node->edges[i].id);
    if (role_of(from) != RHEOS__FLOW_SWITCH) continue;
    if (is_loop_switch(r, from, at) && node->edges[i].index == 1) takes_variable = true;
    if (from->num_inputs == 2 && from->edges[0].id == from->edges[1].id) is_own = true;
  }
  if (in->is_while && !takes_variable) return;
  if (in->pivot.id >= 0 && (in->is_while || !is_own)) return;
  in->pivot = (rheos__edge){id, 0};
  in->pivot_is_own = is_own;
}

static int32_t note_enter(recovery *r, const rheos__node *node, int32_t around) {
  const int32_t at = find_loop(r, around, node);
  if (!is_constant_enter(node)) r->regions[at].num_enters++;
  return at;
}

static void note_loop_merge(recovery *r, int32_t id, int32_t at) {
  const rheos__node *node = node_at(r, id);
  const rheos__node *enter = node_at(r, node->edges[0].id);
  region *in = &r->regions[at];
  const bool fits = in->is_while && node->num_inputs == 2 && is_way_back(r, node, 1) &&
                    role_of(enter) == RHEOS__FLOW_ENTER && !is_constant_enter(enter);
  if (!fits) in->is_refused = true;
  if (in->is_while && in->pivot_for_pred.id < 0) in->pivot_for_pred = (rheos__edge){id, 0};
}

static void note_exit(recovery *r, const rheos__node *node, int32_t at) {
  const rheos__edge from = node->edges[0];
  const bool fits = is_loop_switch(r, node_at(r, from.id), at) && from.index == 0;
  if (!fits) r->regions[at].is_refused = true;
  r->sides_taken[from.id] |= 1;
  r->regions[at].num_exits++;
}

static void note_condition(recovery *r, int32_t id, int32_t at) {
  region *in = &r->regions[at];
  if (!in->is_while || in->loop_cond >= 0) in->is_refused = true;
  in->loop_cond = id;
}

static void place(recovery *r, int32_t id) {
  const rheos__node *node = node_at(r, id);
  const rheos__flow_role role = role_of(node);
  rheos_control_context *context = rheos__context_of(r->graph, id);
  int32_t at = region_of_context(r, context);
  const bool joins = role == RHEOS__FLOW_MERGE && !is_loop_merge(r, node);
  if (role == RHEOS__FLOW_CONTROL_TRIGGER) {
    at = region_of_trigger(r, node, at);
  } else {
    at = joins ? region_of_merge(r, node, at) : region_of_inputs(r, node, at);
  }
  if (role == RHEOS__FLOW_ENTER) at = note_enter(r, node, at);
  if (role == RHEOS__FLOW_MERGE && !joins) note_loop_merge(r, id, at);
  if (role == RHEOS__FLOW_EXIT) note_exit(r, node, at);
  if (role == RHEOS__FLOW_LOOP_COND) note_condition(r, id, at);
  if (role == RHEOS__FLOW_NEXT_ITERATION && !r->regions[at].is_while) {
    r->regions[at].is_refused = true;
  }
  r->of_node[id] = at;
  offer_pivot(r, id, at);
}

// ---- Regions become contexts

static bool has_form(const region *in) {
  if (in->is_refused) return false;
  return !in->is_while || (in->loop_cond >= 0 && in->num_enters > 0 && in->pivot_for_pred.id >= 0);
}

static char *name_of_branch(const recovery *r, const region *in) {
  const int32_t id = in->pivot.id >= 0 ? in->pivot.id : in->pred.id;
  return rheos__node_name(r->graph, node_at(r, id));
}

static void fill_branch(recovery *r, const region *in, rheos_control_context *context) {
  context->pred = in->pred;
  context->branch = in->branch;
  context->pivot = in->pivot;
  take(r, rheos__context_know(context, context->pred, context->pred));
}

static void fill_loop(recovery *r, const region *in, rheos_control_context *context) {
  context->pivot = (rheos__edge){in->loop_cond, 0};
  context->pivot_for_pred = in->pivot_for_pred;
  context->pivot_for_body = in->pivot;
  context->parallel_iterations = (int32_t)in->parallel_iterations;
  context->back_prop = true;
  context->enters =
      rheos__graph_alloc(r->graph, ((size_t)in->num_enters + 1) * sizeof *context->enters);
  context->exits =
      rheos__graph_alloc(r->graph, ((size_t)in->num_exits + 1) * sizeof *context->exits);
  if (context->enters == NULL || context->exits == NULL) take(r, rheos__out_of_memory());
}

// Makes the context of the region; those around are there.
static void make_context(recovery *r, int32_t at) {
  const region in = r->regions[at];
  char *name = in.is_while ? NULL : name_of_branch(r, &in);
  if (!in.is_while && name == NULL) take(r, rheos__out_of_memory());
  rheos_push_control_context(r->scope, r->regions[in.outer].context);
  rheos_control_context *context =
      rheos__context_named(r->scope, in.is_while, in.is_while ? in.frame : name);
  if (context != NULL && in.is_while) fill_loop(r, &in, context);
  if (context != NULL && !in.is_while) fill_branch(r, &in, context);
  rheos_scope_pop(r->scope);
  rheos__free(name);
  r->regions[at].context = context;
}

// Regions around may have been found after those inside, so each is made with all that are around
// it.
static void make_contexts(recovery *r) {
  int32_t *chain = rheos__alloc_array((size_t)r->count, sizeof *chain);
  if (chain == NULL) take(r, rheos__out_of_memory());
  for (int32_t i = 1; i < r->count && !failed(r); i++) {
    int32_t depth = 0;
    for (int32_t at = i; at != 0 && r->regions[at].context == NULL; at = r->regions[at].outer) {
      chain[depth++] = at;
    }
    while (depth > 0 && !failed(r)) {
      const int32_t at = chain[--depth], outer = r->regions[at].outer;
      const bool is_inside_refused = outer != 0 && r->regions[outer].context == NULL;
      if (is_inside_refused || !has_form(&r->regions[at])) break;
      make_context(r, at);
    }
  }
  rheos__free(chain);
}

// ---- Nodes get their contexts

static int32_t region_of_switch(recovery *r, int32_t id) {
  const int32_t taken = r->sides_taken[id];
  if (taken != 1 && taken != 2) return r->of_node[id];
  return region_behind(r, (rheos__edge){id, taken == 1 ? 0 : 1});
}

static void know_around(recovery *r, int32_t at, rheos__edge value) {
  for (; at != 0 && !r->regions[at].is_given; at = r->regions[at].outer) {
    rheos_control_context *context = r->regions[at].context;
    if (context != NULL) take(r, rheos__context_know(context, value, no_edge));
  }
}

static void know_inside(recovery *r, int32_t at, rheos__edge value, rheos__edge inside) {
  rheos_control_context *context = r->regions[at].context;
  if (context == NULL || r->regions[at].is_given) return;
  take(r, rheos__context_know(context, value, inside));
}

static void know_outputs(recovery *r, int32_t id) {
  const rheos__node *node = node_at(r, id);
  const bool is_switch = is_branch_switch(r, node, r->of_node[id]);
  for (int32_t i = 0; i < node->num_outputs; i++) {
    const rheos__edge value = {id, i};
    if (is_switch && (r->sides_taken[id] & 1 << i) == 0) continue;
    const int32_t at = region_behind(r, value);
    know_around(r, at, value);
    if (is_switch) know_inside(r, at, node->edges[0], value);
  }
  if (is_constant_enter(node)) {
    know_inside(r, r->of_node[id], node->edges[0], (rheos__edge){id, 0});
  }
}

static void note_end(rheos_control_context *context, const rheos__node *node, int32_t id) {
  const rheos__edge edge = {id, 0};
  if (role_of(node) == RHEOS__FLOW_EXIT) context->exits[context->num_exits++] = edge;
  if (role_of(node) == RHEOS__FLOW_ENTER && !is_constant_enter(node)) {
    context->enters[context->num_enters++] = edge;
  }
}

static void give_context(recovery *r, int32_t id) {
  const rheos__node *node = node_at(r, id);
  int32_t at = r->of_node[id];
  if (is_branch_switch(r, node, at)) at = region_of_switch(r, id);
  rheos_control_context *context = r->regions[at].context;
  if (context == NULL) return;
  take(r, rheos__node_set_context(r->graph, id, context));
  if (!r->regions[at].is_given && context->is_while && !failed(r)) note_end(context, node, id);
  know_outputs(r, id);
}

// What nodes wait for inside of a side that has no node of its own.
static void make_pivot(recovery *r, rheos_control_context *context) {
  rheos_scope *s = r->scope;
  rheos_push_control_dependencies(s, NULL, 0);
  rheos_push_control_context(s, context->outer);
  const rheos_operation sides = rheos__switch_by(s, context->pred, context->pred);
  if (!failed(r)) {
    const rheos_output side = {r->graph, sides.id, context->branch};
    const rheos_output pivot = rheos__op_1(s, "Identity", side);
    context->pivot = (rheos__edge){pivot.id, 0};
  }
  if (!failed(r)) take(r, rheos__node_set_context(r->graph, context->pivot.id, context));
  if (!failed(r)) take(r, rheos__context_know(context, context->pivot, no_edge));
  rheos_scope_pop(s);
  rheos_scope_pop(s);
}

static void make_pivots(recovery *r) {
  for (int32_t i = 1; i < r->count && !failed(r); i++) {
    const region *in = &r->regions[i];
    const bool is_branch = in->context != NULL && !in->is_given && !in->is_while;
    if (is_branch && in->context->pivot.id < 0) make_pivot(r, in->context);
  }
}

// Gradients go back through the Exits of all variables, but files leave out those that nobody
// takes.
static void add_exit(recovery *r, int32_t id) {
  const region *in = &r->regions[r->of_node[id]];
  const bool is_ours = in->context != NULL && !in->is_given;
  if (!is_ours || r->sides_taken[id] != 0 || !is_loop_switch(r, node_at(r, id), r->of_node[id])) {
    return;
  }
  rheos_push_control_dependencies(r->scope, NULL, 0);
  rheos_push_control_context(r->scope, in->context);
  rheos__backward_exit(r->scope, in->context, (rheos_output){r->graph, id, 0}, "Exit");
  rheos_scope_pop(r->scope);
  rheos_scope_pop(r->scope);
}

// ---- The whole

static void recover(recovery *r) {
  const region root = {.outer = 0};
  add_region(r, &root);
  const int32_t num_nodes = r->num_nodes;
  for (int32_t id = 0; id < num_nodes; id++) r->of_node[id] = -1;
  for (int32_t id = 0; id < num_nodes && !failed(r); id++) {
    if (rheos__node_take_foreign(r->graph, id)) place(r, id);
  }
  if (!failed(r)) make_contexts(r);
  for (int32_t id = 0; id < num_nodes && !failed(r); id++) {
    if (is_placed(r, id)) give_context(r, id);
  }
  if (!failed(r)) make_pivots(r);
  for (int32_t id = 0; id < num_nodes && !failed(r); id++) {
    if (is_placed(r, id)) add_exit(r, id);
  }
}

rheos_status *rheos__contexts_note_foreign(rheos_graph *graph, const int32_t *ids, int32_t count) {
  bool has_flow = false;
  for (int32_t i = 0; i < count; i++) {
    const rheos__flow_role role = role_of(rheos__graph_node(graph, ids[i]));
    if (role == RHEOS__FLOW_ENTER) graph->contexts.has_loops = true;
    if (role == RHEOS__FLOW_ENTER || role == RHEOS__FLOW_SWITCH) has_flow = true;
  }
  for (int32_t i = 0; has_flow && i < count; i++) {
    RHEOS_TRY(rheos__node_mark(graph, ids[i], RHEOS__FOREIGN));
  }
  if (has_flow) graph->contexts.has_foreign = true;
  return NULL;
}

void rheos__contexts_recover(rheos_scope *s) {
  if (rheos_scope_status(s) != NULL) return;
  rheos__graph_lock(s->graph);
  if (!s->graph->contexts.has_foreign) {
    rheos__graph_unlock(s->graph);
    return;
  }
  const int32_t count = rheos_graph_num_operations(s->graph);
  recovery r = {.scope = s, .graph = s->graph, .num_nodes = count};
  r.of_node = rheos__alloc_array((size_t)count, sizeof *r.of_node);
  r.of_pred = rheos__alloc_array((size_t)count, sizeof *r.of_pred);
  r.sides_taken = rheos__alloc_array((size_t)count, sizeof *r.sides_taken);
  r.of_context = rheos__alloc_array(s->graph->contexts.count + 1, sizeof *r.of_context);
  if (r.of_node == NULL || r.of_pred == NULL || r.sides_taken == NULL || r.of_context == NULL) {
    take(&r, rheos__out_of_memory());
  } else {
    recover(&r);
    s->graph->contexts.has_foreign = false;
  }
  rheos__graph_unlock(s->graph);
  rheos__free(r.regions);
  rheos__free(r.of_node);
  rheos__free(r.of_pred);
  rheos__free(r.sides_taken);
  rheos__free(r.of_context);
}
