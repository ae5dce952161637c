// Raising a level of a graph: what its loops and conditionals share. See raise.h.
#include "plan/raise/raise.h"

#include <assert.h>
#include <string.h>

#include "plan/raise/raise_impl.h"
#include "plan/rules/rewrite.h"

enum { MAX_DEPTH = 64 };  // of parts in each other: those further inside stay on tokens

// ---- Drafts

rheos_status *rheos__draft_add_input(rheos__draft *draft, rheos__edge outer, rheos__edge fed_0,
                                     rheos__edge fed_1) {
  if (!RHEOS_RESERVE(draft->inputs, draft->input_capacity, draft->num_inputs + 1)) {
    return rheos__out_of_memory();
  }
  draft->inputs[draft->num_inputs++] = (rheos__draft_input){outer, {fed_0, fed_1}};
  return NULL;
}

rheos_status *rheos__draft_add_output(rheos__draft *draft, const rheos__draft_output *output) {
  if (!RHEOS_RESERVE(draft->outputs, draft->output_capacity, draft->num_outputs + 1)) {
    return rheos__out_of_memory();
  }
  draft->outputs[draft->num_outputs++] = *output;
  return NULL;
}

void rheos__draft_deinit(rheos__draft *draft) {
  rheos__free(draft->inputs);
  rheos__free(draft->outputs);
  rheos__free(draft->next);
  rheos__free(draft->waits.items);
  rheos__free(draft->done.items);
  for (int i = 0; i < 2; ++i) rheos__free(draft->targets[i].items);
}

// ---- From a draft to a structure, all of it in the plan's arena

static rheos__edge *new_edges(rheos__raiser *r, size_t count) {
  return rheos__arena_alloc_zeroed(&r->plan->arena, (count + 1) * sizeof(rheos__edge));
}

static int32_t *copy_numbers(rheos__raiser *r, const rheos__numbers *numbers) {
  int32_t *copy = rheos__arena_alloc_zeroed(&r->plan->arena, (numbers->count + 1) * sizeof *copy);
  if (copy != NULL && numbers->count > 0) {
    memcpy(copy, numbers->items, numbers->count * sizeof *copy);
  }
  return copy;
}

static rheos_status *make_part(rheos__raiser *r, const rheos__draft *draft, int which,
                               rheos__graph_part *part) {
  const bool is_condition = draft->kind == RHEOS__LOOP && which == 0;
  const bool is_body = draft->kind == RHEOS__LOOP && which == 1;
  rheos__function *function = &part->function;
  function->graph = r->plan->graph;
  function->num_args = (int32_t)draft->num_inputs;
  function->num_results = (int32_t)(is_condition ? 1
                                    : is_body    ? draft->num_next
                                                 : draft->num_outputs);
  function->args = new_edges(r, draft->num_inputs);
  function->results = new_edges(r, (size_t)function->num_results);
  part->done = copy_numbers(r, &draft->done);
  part->num_done = (int32_t)draft->done.count;
  part->depth = r->plan->context.depth + 1;
  part->node_resources = r->plan->context.node_resources;
  function->targets = copy_numbers(r, &draft->targets[which]);
  function->num_targets = (int32_t)draft->targets[which].count;
  if (function->args == NULL || function->results == NULL || part->done == NULL ||
      function->targets == NULL) {
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < draft->num_inputs; ++i) function->args[i] = draft->inputs[i].fed[which];
  for (int32_t i = 0; i < function->num_results; ++i) {
    function->results[i] = is_condition ? draft->condition
                           : is_body    ? draft->next[i]
                                        : draft->outputs[i].results[which];
  }
  return NULL;
}

static rheos_status *describe(rheos__raiser *r, const rheos__draft *draft,
                              rheos__structure *structure) {
  const size_t first = draft->kind == RHEOS__CONDITIONAL ? 1 : 0;  // behind the predicate
  rheos__edge *inputs = new_edges(r, draft->num_inputs + first);
  rheos__edge *outputs = new_edges(r, draft->num_outputs);
  int32_t *variables =
      rheos__arena_alloc_zeroed(&r->plan->arena, (draft->num_outputs + 1) * sizeof *variables);
  structure->waits = copy_numbers(r, &draft->waits);
  if (inputs == NULL || outputs == NULL || variables == NULL || structure->waits == NULL) {
    return rheos__out_of_memory();
  }
  if (first > 0) inputs[0] = draft->condition;
  for (size_t i = 0; i < draft->num_inputs; ++i) inputs[first + i] = draft->inputs[i].outer;
  for (size_t i = 0; i < draft->num_outputs; ++i) {
    const rheos__edge edge = draft->outputs[i].edge;
    outputs[i] = edge;
    variables[i] = draft->outputs[i].variable;
    if (r->raised->output_of[edge.id] < 0) r->raised->output_of[edge.id] = (int32_t)i;
  }
  structure->kind = draft->kind;
  structure->num_parts = draft->kind == RHEOS__STRETCH ? 1 : 2;
  structure->num_variables = (int32_t)draft->num_next;
  structure->variables = variables;
  structure->node = draft->node;
  structure->inputs = inputs;
  structure->num_inputs = (int32_t)(draft->num_inputs + first);
  structure->outputs = outputs;
  structure->num_outputs = (int32_t)draft->num_outputs;
  structure->num_waits = (int32_t)draft->waits.count;
  structure->effects = draft->effects;
  return NULL;
}

// Switches have the lines of what is in the branches.
static int32_t node_in_errors(const rheos__structure *structure) {
  if (structure->kind == RHEOS__STRETCH) return -1;
  const bool has_merges = structure->kind == RHEOS__CONDITIONAL && structure->num_outputs > 0;
  return has_merges ? structure->outputs[0].id : structure->node;
}

rheos_status *rheos__raiser_add(rheos__raiser *r, const rheos__draft *draft) {
  rheos__raised *raised = r->raised;
  rheos__structure *structure = rheos__arena_alloc_zeroed(&r->plan->arena, sizeof *structure);
  if (structure == NULL ||
      !RHEOS_RESERVE(raised->structures, r->structure_capacity, (size_t)raised->count + 1)) {
    return rheos__out_of_memory();
  }
  RHEOS_TRY(describe(r, draft, structure));
  static const char *const roles[][2] = {[RHEOS__CONDITIONAL] = {"else_branch", "then_branch"},
                                         [RHEOS__LOOP] = {"cond", "body"},
                                         [RHEOS__STRETCH] = {"stretch"}};
  for (int which = 0; which < structure->num_parts; ++which) {
    structure->parts[which].role = roles[draft->kind][which];
    structure->parts[which].node = node_in_errors(structure);
    RHEOS_TRY(make_part(r, draft, which, &structure->parts[which]));
  }
  raised->structures[raised->count++] = structure;
  return NULL;
}

// ---- What the level has

bool rheos__raiser_is_there(const rheos__raiser *r, rheos__edge edge) {
  return r->is_done[edge.id] || rheos__plan_feed_of(r->plan, edge) >= 0;
}

bool rheos__raiser_takes_values(const rheos__raiser *r, const rheos__node *node) {
  for (int32_t i = 0; i < node->num_outputs; ++i) {
    if (rheos_dtype_is_ref(node->outputs[i].dtype)) return false;
  }
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    const rheos__node *from = rheos__graph_node(r->plan->graph, node->edges[i].id);
    if (rheos_dtype_is_ref(from->outputs[node->edges[i].index].dtype)) return false;
  }
  return true;
}

int32_t rheos__raiser_outermost(const rheos__raiser *r, int32_t frame) {
  while (r->frames->items[frame].parent > 0) frame = r->frames->items[frame].parent;
  return frame;
}

// The frame of the level that the node is a part of, Enters too; 0: it is in none.
static int32_t frame_with(const rheos__raiser *r, int32_t id) {
  const rheos__node *node = rheos__graph_node(r->plan->graph, id);
  int32_t frame = r->frames->of_node[id] - 1;
  if (rheos__role_of(node) == RHEOS__FLOW_ENTER) {
    frame = rheos__flow_frame_behind(r->frames, r->plan->graph, id);
  }
  return rheos__raiser_outermost(r, frame);
}

// Raises the loops of the level that are on no side of a conditional.
static rheos_status *raise_loops(rheos__raiser *r, const int32_t *side_of_frame) {
  const int32_t num_frames = r->frames->count;
  int32_t *firsts = rheos__alloc_array((size_t)num_frames + 2, sizeof *firsts);
  int32_t *members = rheos__alloc_array((size_t)r->num_order + 1, sizeof *members);
  rheos_status *status = firsts == NULL || members == NULL ? rheos__out_of_memory() : NULL;
  for (int32_t i = 0; status == NULL && i < r->num_order; ++i) {
    ++firsts[frame_with(r, r->order[i]) + 2];
  }
  for (int32_t i = 0; status == NULL && i < num_frames; ++i) firsts[i + 1] += firsts[i];
  for (int32_t i = 0; status == NULL && i < r->num_order; ++i) {
    members[firsts[frame_with(r, r->order[i]) + 1]++] = r->order[i];
  }
  for (int32_t i = 1; status == NULL && !r->refused && i < num_frames; ++i) {
    if (r->frames->items[i].parent != 0 || side_of_frame[i] != 0) continue;
    status = rheos__raise_loop(r, i, members + firsts[i], firsts[i + 1] - firsts[i]);
  }
  rheos__free(firsts);
  rheos__free(members);
  return status;
}

bool rheos__is_raising(const rheos__plan *plan) {
  const rheos_rewrite_options *options = &plan->context.rewrites;
  return plan->context.bodies != NULL && !options->disable_meta_optimizer &&
         options->raise_control_flow != RHEOS_TOGGLE_OFF && plan->context.depth < MAX_DEPTH &&
         !plan->context.log_device_placement;
}

rheos_status *rheos__raised_init(rheos__raised *raised, int32_t num_nodes) {
  const size_t count = (size_t)num_nodes;
  *raised = (rheos__raised){.of_node = rheos__alloc_array(count, sizeof *raised->of_node),
                            .output_of = rheos__alloc_array(count, sizeof *raised->output_of)};
  if (raised->of_node == NULL || raised->output_of == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; ++i) raised->output_of[i] = -1;
  return NULL;
}

static bool allocate(rheos__raiser *r) {
  const size_t count = (size_t)r->num_nodes;
  r->sides = rheos__alloc_array(count, sizeof *r->sides);
  r->is_done = rheos__alloc_array(count, sizeof *r->is_done);
  r->cones = rheos__alloc_array(count, sizeof *r->cones);
  r->variable_of = rheos__alloc_array(count, sizeof *r->variable_of);
  r->input_of = rheos__alloc_array(count, sizeof *r->input_of);
  if (r->sides == NULL || r->is_done == NULL || r->cones == NULL || r->variable_of == NULL ||
      r->input_of == NULL) {
    return false;
  }
  const rheos__plan_context *context = &r->plan->context;
  for (int32_t i = 0; i < context->num_done; ++i) r->is_done[context->done[i]] = true;
  return true;
}

// Whether what the program asks for is outside of all structures, or given by one.
static bool can_reach(const rheos__raiser *r, rheos__edge edge) {
  if (rheos__raiser_is_there(r, edge)) return true;
  const bool is_output = r->raised->output_of[edge.id] >= 0;
  return r->raised->of_node[edge.id] == 0 || (is_output && edge.index <= 0);
}

static bool can_reach_all(const rheos__raiser *r, const int32_t *targets, int32_t num_targets) {
  const rheos__plan *plan = r->plan;
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    if (!can_reach(r, plan->fetches[i])) return false;
  }
  for (int32_t i = 0; i < num_targets; ++i) {
    if (!can_reach(r, (rheos__edge){targets[i], -1})) return false;
  }
  return true;
}

// Whether all that is watched has a value there: what moves values in a structure has none once it
// is raised.
static bool can_watch_all(const rheos__raiser *r) {
  const rheos__watches *watches = r->plan->context.watches;
  for (int32_t i = 0; watches != NULL && i < watches->count; ++i) {
    const rheos__watch *watch = &watches->items[i];
    if (watch->graph != r->plan->graph || r->raised->of_node[watch->edge.id] == 0) continue;
    const rheos__node *node = rheos__graph_node(watch->graph, watch->edge.id);
    if (rheos__role_of(node) != RHEOS__FLOW_NONE && !can_reach(r, watch->edge)) return false;
  }
  return true;
}

// Whether a node on a side or in a loop does something where its inputs are dead.
static bool any_runs_dead(const rheos__raiser *r) {
  for (int32_t i = 0; i < r->num_order; ++i) {
    const int32_t id = r->order[i];
    const bool is_inside = r->sides[id] != 0 || r->frames->of_node[id] != 1;
    if (is_inside && rheos__graph_node(r->plan->graph, id)->signature->op->run_dead != NULL) {
      return true;
    }
  }
  return false;
}

rheos_status *rheos__raise(rheos__plan *plan, const rheos__flow_frames *frames,
                           const int32_t *order, int32_t num_order, const int32_t *targets,
                           int32_t num_targets, rheos__raised *out_raised) {
  *out_raised = (rheos__raised){0};
  if (!rheos__is_raising(plan)) return NULL;
  rheos__raiser r = {.plan = plan,
                     .frames = frames,
                     .order = order,
                     .num_order = num_order,
                     .num_nodes = rheos_graph_num_operations(plan->graph),
                     .raised = out_raised};
  int32_t *side_of_frame = rheos__alloc_array((size_t)frames->count, sizeof *side_of_frame);
  rheos_status *status = side_of_frame == NULL || !allocate(&r) ? rheos__out_of_memory() : NULL;
  if (status == NULL) status = rheos__raised_init(out_raised, r.num_nodes);
  if (status == NULL) status = rheos__raise_conditionals(&r, side_of_frame);
  if (status == NULL && any_runs_dead(&r)) r.refused = true;
  if (status == NULL && !r.refused) status = raise_loops(&r, side_of_frame);
  if (status == NULL && !r.refused && !can_reach_all(&r, targets, num_targets)) r.refused = true;
  if (status == NULL && !r.refused && !can_watch_all(&r)) r.refused = true;
  rheos__free(side_of_frame);
  rheos__free(r.sides);
  rheos__free(r.is_done);
  rheos__free(r.cones);
  rheos__free(r.variable_of);
  rheos__free(r.input_of);
  if (status != NULL || r.refused) rheos__raised_deinit(out_raised);
  return status;
}

void rheos__raised_deinit(rheos__raised *raised) {
  rheos__free(raised->structures);
  rheos__free(raised->of_node);
  rheos__free(raised->output_of);
  *raised = (rheos__raised){0};
}
