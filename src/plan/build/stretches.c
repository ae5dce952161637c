// Stretches: what a step does between its waits.
//
// A plan with several ops that may have to wait runs on tokens (flow.h), so that each goes on when
// it is done, in whatever order that is. What lies between them needs no tokens: nodes that wait
// for the same ops, directly or through others, form a stretch, which becomes one entry: a part of
// the same graph (graph/calls.h) with a plan of its own, in segments. No way leads out of a stretch
// and back into it: what comes behind another op that waits, waits for more.
//
// Constants and what follows from them, and what names a variable, are in every stretch that asks
// for them. What is computed of them and of variables alone is in the stretch that takes it; a
// variable is read in the stretches that take its value, if whoever writes it comes behind these or
// is the same, else before all that wait. Loops and conditionals that can be raised are each in one
// stretch; a level that has others stays on tokens, which alone can be dead.
//
// What members of collectives follow from is cut further, so that each can begin early: phases.c.
#include "plan/build/builder.h"

#include <string.h>

#include "graph/library.h"
#include "plan/build/stretcher.h"

// ---- Sets of ops that wait

static bool may_wait(const rheos__stretcher *s, const rheos__node *node) {
  const unsigned holds = rheos__node_holds(s->graph, node);
  return (holds & RHEOS__HELD_BY_WAITING) != 0 ||
         (holds != 0 && rheos__builder_is_held_twice(s->b));
}

// False where there are too many, or one lies in a loop or conditional.
static bool number_waits(rheos__stretcher *s) {
  for (size_t i = 0; i < s->b->num_order; ++i) {
    const int32_t id = s->b->order[i];
    if (!s->is_apart[id] && !may_wait(s, rheos__stretcher_node(s, id))) continue;
    if (s->num_waits == RHEOS__MAX_WAITS || rheos__stretcher_unit_of(s, id) >= 0) return false;
    s->waits[id] = ++s->num_waits;
  }
  return true;
}

// The number of a set, which is added if it is new; -1 where there are too many.
static int32_t find_set(rheos__stretcher *s, const rheos__wait_set *set) {
  for (int32_t i = s->num_sets - 1; i >= 0; --i) {
    if (memcmp(&s->of_sets[i], set, sizeof *set) == 0) return i;
  }
  if (s->num_sets == RHEOS__MAX_WAIT_SETS) return -1;
  s->of_sets[s->num_sets] = *set;
  return s->num_sets++;
}

static void add_set(const rheos__stretcher *s, rheos__wait_set *set, int32_t number) {
  if (number < 0) return;
  for (int i = 0; i < RHEOS__WAIT_SET_WORDS; ++i) set->bits[i] |= s->of_sets[number].bits[i];
}

// What the node's inputs wait for, and those of the loop or conditional that it is in; -1 where
// there are too many sets.
static int32_t set_of_inputs(rheos__stretcher *s, int32_t id) {
  const rheos__node *node = rheos__stretcher_node(s, id);
  rheos__wait_set set = {{0}};
  set.bits[RHEOS__WAIT_SET_WORDS - 1] = ((uint64_t)1 << s->phases[id]) - 1;
  if (rheos__stretcher_unit_of(s, id) >= 0)
    add_set(s, &set, s->unit_sets[rheos__stretcher_unit_of(s, id)]);
  for (int32_t i = 0; i < rheos__node_num_edges(node); ++i) {
    const rheos__edge edge = node->edges[i];
    if (rheos__stretcher_is_fed(s, edge)) continue;
    add_set(s, &set, s->sets[edge.id]);
    const int32_t number = s->waits[edge.id] - 1;
    if (number >= 0) set.bits[number / 64] |= (uint64_t)1 << (number % 64);
  }
  return find_set(s, &set);
}

// Until nothing changes: what is behind a loop or conditional waits for all that it waits for.
// False where there are too many.
static bool find_sets(rheos__stretcher *s) {
  bool changes = true;
  while (changes) {
    changes = false;
    for (size_t i = 0; i < s->b->num_order; ++i) {
      const int32_t id = s->b->order[i], unit = rheos__stretcher_unit_of(s, id),
                    set = set_of_inputs(s, id);
      if (set < 0) return false;
      changes = changes || (s->units.count > 0 && set != s->sets[id]);
      s->sets[id] = set;
      if (unit >= 0) s->unit_sets[unit] = set;
    }
  }
  return true;
}

// ---- Drafts

static rheos_status *add_output(rheos__stretcher *s, rheos__edge edge) {
  if (s->homes[edge.id] < 0) return NULL;
  rheos__draft *draft = &s->drafts[s->homes[edge.id]];
  for (size_t i = draft->num_outputs; s->is_output[edge.id] && i > 0; --i) {
    const rheos__edge other = draft->outputs[i - 1].edge;
    if (other.id == edge.id && other.index == edge.index) return NULL;
  }
  s->is_output[edge.id] = true;
  return rheos__draft_add_output(draft, &(rheos__draft_output){.edge = edge, .results = {edge}});
}

static rheos_status *add_input(rheos__draft *draft, rheos__edge edge) {
  for (size_t i = 0; i < draft->num_inputs; ++i) {
    const rheos__edge other = draft->inputs[i].outer;
    if (other.id == edge.id && other.index == edge.index) return NULL;
  }
  return rheos__draft_add_input(draft, edge, edge, edge);
}

// The stretch waits for a node outside of it, which it does not run again.
static rheos_status *add_wait(rheos__stretcher *s, int32_t home, int32_t id) {
  if (s->draft_stamps[id] == home + 1) return NULL;
  s->draft_stamps[id] = home + 1;
  RHEOS_TRY(rheos__numbers_add(&s->drafts[home].done, id));
  return rheos__numbers_add(&s->drafts[home].waits, id);
}

// What one of `home` takes or waits for, in the stretch or by itself.
static rheos_status *add_edge(rheos__stretcher *s, int32_t home, rheos__edge edge) {
  edge = rheos__stretcher_value_behind(s, edge);
  if (rheos__stretcher_is_fed(s, edge)) {
    if (home < 0) return NULL;
    return edge.index >= 0 ? add_input(&s->drafts[home], edge) : add_wait(s, home, edge.id);
  }
  // What waits for one that passes a value on has that one beside it.
  if (s->is_passing[edge.id]) return add_edge(s, home, rheos__stretcher_node(s, edge.id)->edges[0]);
  bool is_reference;
  edge = rheos__stretcher_look_through(s, rheos__stretcher_wait_behind(s, edge), &is_reference);
  const int32_t from = s->homes[edge.id];
  if (from == RHEOS__FREE) return NULL;
  if (from == home && home >= 0) {
    s->is_used_inside[edge.id] = true;
    return NULL;
  }
  const bool is_value = edge.index >= 0 && !is_reference;
  if (is_value) RHEOS_TRY(add_output(s, edge));
  if (home < 0) return NULL;
  return is_value ? add_input(&s->drafts[home], edge) : add_wait(s, home, edge.id);
}

// A stretch that touches a variable comes behind those that read it before, unless these wait for
// what it does not wait for: then nothing tells which comes first.
static rheos_status *add_waits_for_reads(rheos__stretcher *s, int32_t id) {
  const int32_t home = s->homes[id];
  const rheos__node *node = rheos__stretcher_node(s, id);
  for (int32_t i = 0; home >= 0 && i < node->num_inputs; ++i) {
    const int32_t name = rheos__stretcher_variable_read(s, node, i);
    const int32_t toucher = name >= 0 ? s->touchers[name] : RHEOS__NOWHERE;
    if (toucher < 0 || toucher == home || s->num_members[toucher] == 0) continue;
    if (rheos__stretcher_holds_all(s, toucher, home)) RHEOS_TRY(add_wait(s, toucher, id));
  }
  return NULL;
}

static rheos_status *fill_drafts(rheos__stretcher *s) {
  const rheos__builder *b = s->b;
  const unsigned effects = RHEOS__RAISED_EFFECTS;
  for (size_t i = 0; i < b->num_order; ++i) {
    const int32_t id = b->order[i], home = s->homes[id];
    const rheos__node *node = rheos__stretcher_node(s, id);
    if (home == RHEOS__FREE && !(s->is_passing[id] && b->is_target[id])) continue;
    for (int32_t k = 0; k < rheos__node_num_edges(node); ++k)
      RHEOS_TRY(add_edge(s, home, node->edges[k]));
    RHEOS_TRY(add_waits_for_reads(s, id));
    if (home < 0) continue;
    rheos__draft *draft = &s->drafts[home];
    if (draft->node < 0) draft->node = id;
    draft->effects |= node->signature->op->flags & effects;
  }
  for (int32_t i = 0; i < b->plan->num_fetches; ++i) {
    RHEOS_TRY(add_edge(s, RHEOS__BY_ITSELF, b->plan->fetches[i]));
  }
  for (size_t i = 0; i < b->num_order; ++i) {
    const int32_t id = b->order[i], home = s->homes[id];
    if (home < 0 || s->is_used_inside[id] || s->is_output[id]) continue;
    RHEOS_TRY(rheos__numbers_add(&s->drafts[home].targets[0], id));
  }
  return NULL;
}

// ---- The whole

static bool has_control_flow(const rheos__stretcher *s) {
  for (size_t i = 0; i < s->b->num_order; ++i) {
    const rheos__flow_role role = rheos__node_role(rheos__stretcher_node(s, s->b->order[i]));
    if (role != RHEOS__FLOW_NONE && role != RHEOS__FLOW_CONTROL_TRIGGER) return true;
  }
  return false;
}

static bool allocate(rheos__stretcher *s) {
  const size_t count = (size_t)s->b->num_nodes;
  s->homes = rheos__alloc_array(count, sizeof(int32_t));
  s->sets = rheos__alloc_array(count, sizeof(int32_t));
  s->waits = rheos__alloc_array(count, sizeof(int32_t));
  s->takers = rheos__alloc_array(count, sizeof(int32_t));
  s->touchers = rheos__alloc_array(count, sizeof(int32_t));
  s->draft_stamps = rheos__alloc_array(count, sizeof(int32_t));
  s->phases = rheos__alloc_array(count, sizeof(int32_t));
  s->is_calm = rheos__alloc_array(count, sizeof *s->is_calm);
  s->is_passing = rheos__alloc_array(count, sizeof *s->is_passing);
  s->is_output = rheos__alloc_array(count, sizeof *s->is_output);
  s->is_used_inside = rheos__alloc_array(count, sizeof *s->is_used_inside);
  s->is_apart = rheos__alloc_array(count, sizeof *s->is_apart);
  s->unit_sets = rheos__alloc_array((size_t)s->units.count + 1, sizeof *s->unit_sets);
  s->drafts = rheos__alloc_array(RHEOS__MAX_WAIT_SETS, sizeof *s->drafts);
  s->num_members = rheos__alloc_array(RHEOS__MAX_WAIT_SETS, sizeof *s->num_members);
  return s->homes != NULL && s->sets != NULL && s->waits != NULL && s->takers != NULL &&
         s->touchers != NULL && s->phases != NULL && s->draft_stamps != NULL &&
         s->is_calm != NULL && s->is_passing != NULL && s->is_output != NULL &&
         s->is_used_inside != NULL && s->is_apart != NULL && s->drafts != NULL &&
         s->unit_sets != NULL && s->num_members != NULL;
}

static void deinit(rheos__stretcher *s) {
  for (int32_t i = 0; s->drafts != NULL && s->unit_sets != NULL && i < RHEOS__MAX_WAIT_SETS; ++i)
    rheos__draft_deinit(&s->drafts[i]);
  rheos__free(s->homes);
  rheos__free(s->sets);
  rheos__free(s->waits);
  rheos__free(s->takers);
  rheos__free(s->touchers);
  rheos__free(s->draft_stamps);
  rheos__free(s->phases);
  rheos__free(s->is_calm);
  rheos__free(s->is_passing);
  rheos__free(s->is_output);
  rheos__free(s->is_used_inside);
  rheos__free(s->is_apart);
  rheos__free(s->drafts);
  rheos__free(s->num_members);
  rheos__free(s->unit_sets);
  rheos__raised_deinit(&s->units);
  rheos__free(s);
}

static rheos_status *take_drafts(rheos__stretcher *s) {
  rheos__builder *b = s->b;
  rheos__raised *raised = &b->raised;
  RHEOS_TRY(rheos__raised_init(raised, b->num_nodes));
  rheos__raiser r = {.plan = b->plan, .raised = raised};
  for (int32_t set = 0; set < s->num_sets; ++set) {
    if (s->num_members[set] > 0) RHEOS_TRY(rheos__raiser_add(&r, &s->drafts[set]));
    s->num_members[set] = raised->count;  // from here on one more than the structure's number
  }
  for (size_t i = 0; i < b->num_order; ++i) {
    const int32_t id = b->order[i];
    if (s->homes[id] >= 0) raised->of_node[id] = s->num_members[s->homes[id]];
  }
  return NULL;
}

static bool any_in_both(const rheos__wait_set *a, const rheos__wait_set *b) {
  for (int i = 0; i < RHEOS__WAIT_SET_WORDS; ++i) {
    if ((a->bits[i] & b->bits[i]) != 0) return true;
  }
  return false;
}

// Whether something is behind an op that may give dead values and does not die of them as a whole.
static bool outlives_dead(const rheos__stretcher *s) {
  rheos__wait_set may_be_dead = {{0}};
  for (size_t i = 0; i < s->b->num_order; ++i) {
    const int32_t id = s->b->order[i], number = s->waits[id] - 1;
    if ((rheos__stretcher_node(s, id)->signature->op->flags & RHEOS_OP_MAY_GIVE_DEAD) == 0)
      continue;
    may_be_dead.bits[number / 64] |= (uint64_t)1 << (number % 64);
  }
  for (int32_t i = 0; i < s->units.count; ++i) {
    const int32_t set = s->unit_sets[i];
    if (set >= 0 && any_in_both(&s->of_sets[set], &may_be_dead)) return true;
  }
  for (size_t i = 0; i < s->b->num_order; ++i) {
    const int32_t id = s->b->order[i];
    if (rheos__node_role(rheos__stretcher_node(s, id)) == RHEOS__FLOW_CONTROL_TRIGGER &&
        any_in_both(&s->of_sets[s->sets[id]], &may_be_dead)) {
      return true;
    }
  }
  return false;
}

static void begin(rheos__stretcher *s) {
  for (int32_t i = 0; i < s->b->num_nodes; ++i) {
    s->homes[i] = s->takers[i] = s->touchers[i] = RHEOS__NOWHERE;
    s->sets[i] = -1;
    s->waits[i] = s->phases[i] = 0;
    s->is_calm[i] = s->is_passing[i] = false;
  }
  for (int32_t i = 0; i < s->units.count; ++i) s->unit_sets[i] = -1;
  s->num_sets = s->num_waits = 0;
  s->any_new_apart = false;
}

// Finds where each node is; `*out_found` is false where that cannot be told, or there is nothing
// to raise.
static rheos_status *divide(rheos__stretcher *s, bool *out_found) {
  *out_found = false;
  do {
    begin(s);
    if (!number_waits(s)) return NULL;
    if (s->units.count == 0) RHEOS_TRY(rheos__find_phases(s->b, s->waits, s->phases));
    if (!find_sets(s) || outlives_dead(s)) return NULL;
    rheos__stretcher_find_homes(s);
  } while (s->any_new_apart && !s->is_refused);
  *out_found = !s->is_refused;
  return NULL;
}

static rheos_status *raise(rheos__stretcher *s) {
  if (!allocate(s)) return rheos__out_of_memory();
  bool is_found;
  RHEOS_TRY(divide(s, &is_found));
  if (!is_found) return NULL;
  for (int32_t i = 0; i < RHEOS__MAX_WAIT_SETS; ++i) {
    s->drafts[i].kind = RHEOS__STRETCH;
    s->drafts[i].node = -1;
  }
  RHEOS_TRY(fill_drafts(s));
  return take_drafts(s);
}

// Finds the units; `*out_whole` is false where dead values may come to what is in none.
static rheos_status *find_units(rheos__stretcher *s, const int32_t *targets, int32_t num_targets,
                                bool *out_whole) {
  const rheos__builder *b = s->b;
  *out_whole = true;
  if (!has_control_flow(s)) return NULL;
  RHEOS_TRY(rheos__raise(b->plan, &b->frames, b->order, (int32_t)b->num_order, targets, num_targets,
                         &s->units));
  *out_whole = s->units.count > 0;
  return NULL;
}

rheos_status *rheos__raise_stretches(rheos__builder *b, const int32_t *targets,
                                     int32_t num_targets) {
  if (b->num_holding == 0 || !rheos__is_raising(b->plan) || b->plan->context.num_done > 0) {
    return NULL;
  }
  rheos__stretcher *s = rheos__alloc_zeroed(sizeof *s);
  if (s == NULL) return rheos__out_of_memory();
  s->b = b;
  s->graph = b->plan->graph;
  bool is_whole = false;
  rheos_status *status = find_units(s, targets, num_targets, &is_whole);
  if (status == NULL && is_whole) status = raise(s);
  deinit(s);
  if (status != NULL || b->raised.count == 0) rheos__raised_deinit(&b->raised);
  return status;
}
