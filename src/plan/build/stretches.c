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

#include <assert.h>
#include <string.h>

#include "graph/library.h"
#include "plan/entries/prepare.h"
#include "plan/raise/raise_impl.h"

enum { MAX_WAITS = 256, MAX_SETS = 256 };
enum { WORDS = MAX_WAITS / 64 + 1 };  // phases have the last one
enum { LEAST_MEMBERS = 2 };           // of a stretch: one node by itself runs as well on tokens

// Where a node is: the number of a set of ops that wait; or
enum {
  NOWHERE = -1,  // not needed
  FREE = -2,     // in every stretch that asks for it
  BY_ITSELF = -3,
  MANY = -4,  // asked for by several stretches, or from outside
};

typedef struct wait_set {
  uint64_t bits[WORDS];
} wait_set;

typedef struct stretcher {
  rheos__builder *b;
  rheos_graph *graph;
  wait_set of_sets[MAX_SETS];
  int32_t num_sets, num_waits;
  rheos__raised units;  // loops and conditionals, each of which is in one stretch as a whole
  int32_t *unit_sets;
  // By node:
  int32_t *homes;
  int32_t *sets;      // of the ops that its inputs wait for
  int32_t *waits;     // one more than its number among those that may wait; 0: it may not
  int32_t *phases;    // how many come before its own: phases.c
  bool *is_apart;     // as if it waited
  bool *is_calm;      // it follows from constants and variables, and could be computed at any time
  bool *is_passing;   // of one that is free: it hands on a value that is not
  int32_t *takers;    // of a calm one: the only stretch that takes it; NOWHERE: none yet; MANY
  int32_t *touchers;  // of what names a variable: the only stretch that does more; likewise
  int32_t *draft_stamps;  // one more than the set whose draft waits for it
  bool *is_output;        // one of its outputs is one of its stretch
  bool *is_used_inside;
  // By set:
  rheos__draft *drafts;
  int32_t *num_members;
  bool any_new_apart, is_refused;
} stretcher;

static const rheos__node *node_at(const stretcher *s, int32_t id) {
  return rheos__graph_node(s->graph, id);
}

static int32_t num_edges(const rheos__node *node) {
  return node->num_inputs + node->num_control_inputs;
}

static bool is_fed(const stretcher *s, rheos__edge edge) {
  return rheos__plan_feed_of(s->b->plan, edge) >= 0;
}

// ---- Sets of ops that wait

// The number of a set, which is added if it is new; -1 where there are too many.
static int32_t find_set(stretcher *s, const wait_set *set) {
  for (int32_t i = s->num_sets - 1; i >= 0; --i) {
    if (memcmp(&s->of_sets[i], set, sizeof *set) == 0) return i;
  }
  if (s->num_sets == MAX_SETS) return -1;
  s->of_sets[s->num_sets] = *set;
  return s->num_sets++;
}

static bool holds_all(const stretcher *s, int32_t set, int32_t other) {
  for (int i = 0; i < WORDS; ++i) {
    if ((s->of_sets[other].bits[i] & ~s->of_sets[set].bits[i]) != 0) return false;
  }
  return true;
}

static void add_set(const stretcher *s, wait_set *set, int32_t number) {
  if (number < 0) return;
  for (int i = 0; i < WORDS; ++i) set->bits[i] |= s->of_sets[number].bits[i];
}

static int32_t unit_of(const stretcher *s, int32_t id) {
  return s->units.count > 0 ? s->units.of_node[id] - 1 : -1;
}

// What the node's inputs wait for, and those of the loop or conditional that it is in; -1 where
// there are too many sets.
static int32_t set_of_inputs(stretcher *s, int32_t id) {
  const rheos__node *node = node_at(s, id);
  wait_set set = {{0}};
  set.bits[WORDS - 1] = ((uint64_t)1 << s->phases[id]) - 1;
  if (unit_of(s, id) >= 0) add_set(s, &set, s->unit_sets[unit_of(s, id)]);
  for (int32_t i = 0; i < num_edges(node); ++i) {
    const rheos__edge edge = node->edges[i];
    if (is_fed(s, edge)) continue;
    add_set(s, &set, s->sets[edge.id]);
    const int32_t number = s->waits[edge.id] - 1;
    if (number >= 0) set.bits[number / 64] |= (uint64_t)1 << (number % 64);
  }
  return find_set(s, &set);
}

// Until nothing changes: what is behind a loop or conditional waits for all that it waits for.
// False where there are too many.
static bool find_sets(stretcher *s) {
  bool changes = true;
  while (changes) {
    changes = false;
    for (size_t i = 0; i < s->b->num_order; ++i) {
      const int32_t id = s->b->order[i], unit = unit_of(s, id), set = set_of_inputs(s, id);
      if (set < 0) return false;
      changes = changes || (s->units.count > 0 && set != s->sets[id]);
      s->sets[id] = set;
      if (unit >= 0) s->unit_sets[unit] = set;
    }
  }
  return true;
}

// ---- What a node is

static bool may_wait(const stretcher *s, const rheos__node *node) {
  const unsigned holds = rheos__node_holds(s->graph, node);
  return (holds & RHEOS__HELD_BY_WAITING) != 0 ||
         (holds != 0 && rheos__builder_is_held_twice(s->b));
}

bool rheos__node_gives_cell(const rheos__node *node, int32_t output) {
  const rheos_dtype dtype = node->outputs[output].dtype;
  return rheos_dtype_is_ref(dtype) || dtype == RHEOS_RESOURCE;
}

bool rheos__node_names_cell(const rheos__node *node) {
  return num_edges(node) == 0 && node->num_outputs == 1 && rheos__node_gives_cell(node, 0) &&
         rheos__attrs_find(node->attrs, "shared_name") != NULL;
}

bool rheos__node_is_pure(const rheos__node *node) {
  const unsigned not_pure = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_PLACEHOLDER |
                            RHEOS_OP_READS_VARIABLE | RHEOS_OP_ASSERTS | RHEOS_OP_CALLS |
                            RHEOS_OP_ARG | RHEOS_OP_WAITS | RHEOS_OP_CALLS_PROGRAM;
  if ((node->signature->op->flags & not_pure) != 0) return false;
  for (int32_t i = 0; i < node->num_outputs; ++i) {
    if (rheos__node_gives_cell(node, i) || node->outputs[i].dtype == RHEOS_VARIANT) return false;
  }
  return node->num_outputs > 0 && node->num_control_inputs == 0;
}

static bool is_free(const stretcher *s, rheos__edge edge) {
  return !is_fed(s, edge) && s->homes[edge.id] == FREE;
}

static bool all_inputs(const stretcher *s, const rheos__node *node,
                       bool (*holds)(const stretcher *s, rheos__edge edge)) {
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    if (!holds(s, node->edges[i])) return false;
  }
  return true;
}

// What the edge is of, and whether that is a reference: what reads one takes that.
static rheos__edge look_through(const stretcher *s, rheos__edge edge, bool *out_is_reference) {
  rheos__edge reference;
  *out_is_reference =
      edge.index >= 0 && !is_fed(s, edge) && rheos__builder_find_reference(s->b, edge, &reference);
  return *out_is_reference ? reference : edge;
}

// The node that names the variable whose value input `i` is, or whose value the node reads through
// it; -1: it is something else.
static int32_t variable_read(const stretcher *s, const rheos__node *node, int32_t i) {
  if ((node->signature->op->flags & RHEOS_OP_READS_VARIABLE) != 0 && i == 0) {
    return is_free(s, node->edges[0]) ? node->edges[0].id : -1;
  }
  bool is_reference;
  const rheos__edge edge = look_through(s, node->edges[i], &is_reference);
  if (!is_reference || !is_free(s, edge)) return -1;
  return rheos__arg_of_input(node->signature, node->attrs, i)->is_ref ? -1 : edge.id;
}

// The value that an edge hands on.
static rheos__edge value_behind(const stretcher *s, rheos__edge edge) {
  while (edge.index >= 0 && !is_fed(s, edge) && s->is_passing[edge.id]) {
    edge = node_at(s, edge.id)->edges[0];
  }
  return edge;
}

// A read of a reference belongs to whoever takes the value: plan.h. So it is wherever that is.
static bool is_read_of_reference(const stretcher *s, int32_t id) {
  const rheos__node *node = node_at(s, id);
  bool is_reference;
  if ((node->signature->op->flags & RHEOS_OP_FORWARDS) == 0 || rheos__node_gives_cell(node, 0))
    return false;
  look_through(s, (rheos__edge){id, 0}, &is_reference);
  return is_reference;
}

// What waits for a read of a reference waits for what gave the reference.
static rheos__edge wait_behind(const stretcher *s, rheos__edge edge) {
  rheos__edge reference;
  const bool reads = edge.index < 0 && !is_fed(s, edge) && is_read_of_reference(s, edge.id) &&
                     rheos__builder_find_reference(s->b, (rheos__edge){edge.id, 0}, &reference);
  return reads ? (rheos__edge){reference.id, -1} : edge;
}

static bool is_constant_edge(const stretcher *s, rheos__edge edge) {
  bool is_reference;
  edge = value_behind(s, edge);
  look_through(s, edge, &is_reference);
  return !is_reference && is_free(s, edge);
}

// Of what could be computed at any time, but for the variables that it reads.
static bool is_calm_edge(const stretcher *s, rheos__edge edge) {
  bool is_reference;
  edge = look_through(s, value_behind(s, edge), &is_reference);
  return is_free(s, edge) || (!is_fed(s, edge) && s->is_calm[edge.id]);
}

// Costs nothing, so it is on both sides of what goes from one stretch to another: there is one
// value less to hand over where its source goes too, and a loop or conditional sees that both are
// the same.
static bool is_passing(const rheos__node *node) {
  return (node->signature->op->flags & RHEOS_OP_FORWARDS) != 0 && node->num_inputs == 1 &&
         node->num_outputs == 1 && rheos__node_is_pure(node);
}

static bool is_calm(const stretcher *s, const rheos__node *node) {
  if ((node->signature->op->flags & RHEOS_OP_READS_VARIABLE) != 0) {
    return node->num_control_inputs == 0 && node->num_inputs == 1 && is_free(s, node->edges[0]);
  }
  return rheos__node_is_pure(node) && all_inputs(s, node, is_calm_edge);
}

// False where there are too many, or one lies in a loop or conditional.
static bool number_waits(stretcher *s) {
  for (size_t i = 0; i < s->b->num_order; ++i) {
    const int32_t id = s->b->order[i];
    if (!s->is_apart[id] && !may_wait(s, node_at(s, id))) continue;
    if (s->num_waits == MAX_WAITS || unit_of(s, id) >= 0) return false;
    s->waits[id] = ++s->num_waits;
  }
  return true;
}

static void look_at(stretcher *s, int32_t id) {
  const rheos__node *node = node_at(s, id);
  s->homes[id] = s->sets[id];
  if (unit_of(s, id) >= 0) return;
  if (s->waits[id] > 0 || node->signature->op->run_dead != NULL) {
    s->homes[id] = BY_ITSELF;
  } else if (rheos__node_names_cell(node) || is_read_of_reference(s, id) ||
             (rheos__node_is_pure(node) && all_inputs(s, node, is_constant_edge))) {
    s->homes[id] = FREE;
  } else if (is_passing(node)) {
    s->homes[id] = FREE;
    s->is_passing[id] = true;
  } else {
    s->is_calm[id] = is_calm(s, node);
  }
}

// ---- Where calm nodes are

static void note(int32_t *place, int32_t home) {
  *place = *place == NOWHERE || *place == home ? home : MANY;
}

// What names the cell that a reference or handle leads back to; -1: it is told by something else.
static int32_t cell_behind(const stretcher *s, rheos__edge edge) {
  while (!is_free(s, edge)) {
    const rheos__node *node = node_at(s, edge.id);
    if (is_fed(s, edge) || edge.index != 0 || node->num_inputs == 0 ||
        !rheos__node_gives_cell(node, 0))
      return -1;
    edge = node->edges[0];
  }
  return rheos__node_gives_cell(node_at(s, edge.id), edge.index) ? edge.id : -1;
}

// Who does more with a variable than to read it.
static void note_touches(const stretcher *s, int32_t id) {
  const rheos__node *node = node_at(s, id);
  if (s->homes[id] == FREE) return;
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    const rheos__edge edge = node->edges[i];
    if (is_fed(s, edge) || !rheos__node_gives_cell(node_at(s, edge.id), edge.index)) continue;
    const int32_t name = cell_behind(s, edge);
    if (name < 0 || variable_read(s, node, i) >= 0) continue;
    note(&s->touchers[name], s->homes[id] >= 0 ? s->homes[id] : MANY);
  }
}

// Whether a read of the variable in stretch `home` comes before what touches it, or is told apart
// from it by the order inside of the stretch.
static bool may_read_in(const stretcher *s, int32_t name, int32_t home) {
  const int32_t toucher = s->touchers[name];
  if (toucher == NOWHERE || toucher == home) return true;
  return toucher >= 0 && home >= 0 && holds_all(s, toucher, home);
}

static bool may_be_in(const stretcher *s, const rheos__node *node, int32_t home) {
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    const int32_t name = variable_read(s, node, i);
    if (name >= 0 && !may_read_in(s, name, home)) return false;
  }
  return true;
}

// A node behind all that takes it: its home is known now.
static void settle(const stretcher *s, int32_t id) {
  const rheos__node *node = node_at(s, id);
  if (!s->is_calm[id]) return;
  const int32_t taker = s->takers[id];
  const bool reads = (node->signature->op->flags & RHEOS_OP_READS_VARIABLE) != 0;
  if (taker >= 0 && may_be_in(s, node, taker)) s->homes[id] = taker;
  if (taker == MANY && reads && s->touchers[node->edges[0].id] == NOWHERE) s->homes[id] = FREE;
}

static void note_takers(const stretcher *s, int32_t id) {
  const rheos__node *node = node_at(s, id);
  for (int32_t i = 0; i < num_edges(node); ++i) {
    const rheos__edge edge = node->edges[i];
    const int32_t taker = s->is_passing[id] ? s->takers[id] : s->homes[id];
    if (!is_fed(s, edge)) note(&s->takers[edge.id], taker >= 0 ? taker : MANY);
  }
}

static void find_homes(stretcher *s) {
  const rheos__builder *b = s->b;
  for (size_t i = 0; i < b->num_order; ++i) note_touches(s, b->order[i]);
  for (int32_t i = 0; i < b->plan->num_fetches; ++i) {
    if (!is_fed(s, b->plan->fetches[i])) s->takers[b->plan->fetches[i].id] = MANY;
  }
  for (size_t i = b->num_order; i > 0; --i) {
    const int32_t id = b->order[i - 1];
    if (b->is_target[id]) s->takers[id] = MANY;
    settle(s, id);
    note_takers(s, id);
  }
}

// ---- What stays by itself

static void count_members(stretcher *s) {
  memset(s->num_members, 0, MAX_SETS * sizeof *s->num_members);
  for (size_t i = 0; i < s->b->num_order; ++i) {
    const int32_t home = s->homes[s->b->order[i]];
    if (home >= 0) ++s->num_members[home];
  }
}

// A stretch gives values. What gives a handle to others, or a reference to what is by itself, is
// set apart: as if it waited, so that what comes behind it is another stretch.
static void look_at_use(stretcher *s, rheos__edge edge, int32_t home) {
  bool is_reference;
  edge = look_through(s, edge, &is_reference);
  if (edge.index < 0 || is_fed(s, edge) || s->homes[edge.id] < 0 || s->homes[edge.id] == home) {
    return;
  }
  const bool is_handle = node_at(s, edge.id)->outputs[edge.index].dtype == RHEOS_RESOURCE;
  if (is_handle || (is_reference && home < 0)) {
    s->is_apart[edge.id] = true;
    s->any_new_apart = true;
  }
  // A stretch goes back to what a reference was made of: builder.h.
  if (is_reference && home >= 0 && node_at(s, edge.id)->num_inputs == 0) s->is_refused = true;
}

static void find_singles(stretcher *s) {
  const rheos__builder *b = s->b;
  count_members(s);
  for (int32_t i = 0; i < b->plan->num_fetches; ++i) {
    look_at_use(s, b->plan->fetches[i], BY_ITSELF);
  }
  for (size_t i = b->num_order; i > 0; --i) {
    const int32_t id = b->order[i - 1];
    int32_t *home = &s->homes[id];
    if (*home >= 0 && s->num_members[*home] < LEAST_MEMBERS) *home = BY_ITSELF;
    const rheos__node *node = node_at(s, id);
    if (*home == FREE && b->is_target[id]) look_at_use(s, (rheos__edge){id, 0}, BY_ITSELF);
    for (int32_t k = 0; *home != FREE && k < num_edges(node); ++k) {
      // Who is by itself waits for a read that is by itself too.
      const rheos__edge edge = node->edges[k];
      const bool is_wait = edge.index < 0 && *home < 0 && !is_fed(s, edge);
      if (is_wait && !is_read_of_reference(s, edge.id)) continue;
      look_at_use(s, is_wait ? (rheos__edge){edge.id, 0} : edge, *home);
    }
  }
  count_members(s);
}

// ---- Drafts

static rheos_status *add_output(stretcher *s, rheos__edge edge) {
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
static rheos_status *add_wait(stretcher *s, int32_t home, int32_t id) {
  if (s->draft_stamps[id] == home + 1) return NULL;
  s->draft_stamps[id] = home + 1;
  RHEOS_TRY(rheos__numbers_add(&s->drafts[home].done, id));
  return rheos__numbers_add(&s->drafts[home].waits, id);
}

// What one of `home` takes or waits for, in the stretch or by itself.
static rheos_status *add_edge(stretcher *s, int32_t home, rheos__edge edge) {
  edge = value_behind(s, edge);
  if (is_fed(s, edge)) {
    if (home < 0) return NULL;
    return edge.index >= 0 ? add_input(&s->drafts[home], edge) : add_wait(s, home, edge.id);
  }
  // What waits for one that passes a value on has that one beside it.
  if (s->is_passing[edge.id]) return add_edge(s, home, node_at(s, edge.id)->edges[0]);
  bool is_reference;
  edge = look_through(s, wait_behind(s, edge), &is_reference);
  const int32_t from = s->homes[edge.id];
  if (from == FREE) return NULL;
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
static rheos_status *add_waits_for_reads(stretcher *s, int32_t id) {
  const int32_t home = s->homes[id];
  const rheos__node *node = node_at(s, id);
  for (int32_t i = 0; home >= 0 && i < node->num_inputs; ++i) {
    const int32_t name = variable_read(s, node, i);
    const int32_t toucher = name >= 0 ? s->touchers[name] : NOWHERE;
    if (toucher < 0 || toucher == home || s->num_members[toucher] == 0) continue;
    if (holds_all(s, toucher, home)) RHEOS_TRY(add_wait(s, toucher, id));
  }
  return NULL;
}

static rheos_status *fill_drafts(stretcher *s) {
  const rheos__builder *b = s->b;
  const unsigned effects = RHEOS__RAISED_EFFECTS;
  for (size_t i = 0; i < b->num_order; ++i) {
    const int32_t id = b->order[i], home = s->homes[id];
    const rheos__node *node = node_at(s, id);
    if (home == FREE && !(s->is_passing[id] && b->is_target[id])) continue;
    for (int32_t k = 0; k < num_edges(node); ++k) RHEOS_TRY(add_edge(s, home, node->edges[k]));
    RHEOS_TRY(add_waits_for_reads(s, id));
    if (home < 0) continue;
    rheos__draft *draft = &s->drafts[home];
    if (draft->node < 0) draft->node = id;
    draft->effects |= node->signature->op->flags & effects;
  }
  for (int32_t i = 0; i < b->plan->num_fetches; ++i) {
    RHEOS_TRY(add_edge(s, BY_ITSELF, b->plan->fetches[i]));
  }
  for (size_t i = 0; i < b->num_order; ++i) {
    const int32_t id = b->order[i], home = s->homes[id];
    if (home < 0 || s->is_used_inside[id] || s->is_output[id]) continue;
    RHEOS_TRY(rheos__numbers_add(&s->drafts[home].targets[0], id));
  }
  return NULL;
}

// ---- The whole

static bool has_control_flow(const stretcher *s) {
  for (size_t i = 0; i < s->b->num_order; ++i) {
    const rheos__flow_role role = rheos__node_role(node_at(s, s->b->order[i]));
    if (role != RHEOS__FLOW_NONE && role != RHEOS__FLOW_CONTROL_TRIGGER) return true;
  }
  return false;
}

static bool allocate(stretcher *s) {
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
  s->drafts = rheos__alloc_array(MAX_SETS, sizeof *s->drafts);
  s->num_members = rheos__alloc_array(MAX_SETS, sizeof *s->num_members);
  return s->homes != NULL && s->sets != NULL && s->waits != NULL && s->takers != NULL &&
         s->touchers != NULL && s->phases != NULL && s->draft_stamps != NULL &&
         s->is_calm != NULL && s->is_passing != NULL && s->is_output != NULL &&
         s->is_used_inside != NULL && s->is_apart != NULL && s->drafts != NULL &&
         s->unit_sets != NULL && s->num_members != NULL;
}

static void deinit(stretcher *s) {
  for (int32_t i = 0; s->drafts != NULL && s->unit_sets != NULL && i < MAX_SETS; ++i)
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

static rheos_status *take_drafts(stretcher *s) {
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

static bool any_in_both(const wait_set *a, const wait_set *b) {
  for (int i = 0; i < WORDS; ++i) {
    if ((a->bits[i] & b->bits[i]) != 0) return true;
  }
  return false;
}

// Whether something is behind an op that may give dead values and does not die of them as a whole.
static bool outlives_dead(const stretcher *s) {
  wait_set may_be_dead = {{0}};
  for (size_t i = 0; i < s->b->num_order; ++i) {
    const int32_t id = s->b->order[i], number = s->waits[id] - 1;
    if ((node_at(s, id)->signature->op->flags & RHEOS_OP_MAY_GIVE_DEAD) == 0) continue;
    may_be_dead.bits[number / 64] |= (uint64_t)1 << (number % 64);
  }
  for (int32_t i = 0; i < s->units.count; ++i) {
    const int32_t set = s->unit_sets[i];
    if (set >= 0 && any_in_both(&s->of_sets[set], &may_be_dead)) return true;
  }
  for (size_t i = 0; i < s->b->num_order; ++i) {
    const int32_t id = s->b->order[i];
    if (rheos__node_role(node_at(s, id)) == RHEOS__FLOW_CONTROL_TRIGGER &&
        any_in_both(&s->of_sets[s->sets[id]], &may_be_dead)) {
      return true;
    }
  }
  return false;
}

static void begin(stretcher *s) {
  for (int32_t i = 0; i < s->b->num_nodes; ++i) {
    s->homes[i] = s->takers[i] = s->touchers[i] = NOWHERE;
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
static rheos_status *divide(stretcher *s, bool *out_found) {
  *out_found = false;
  do {
    begin(s);
    if (!number_waits(s)) return NULL;
    if (s->units.count == 0) RHEOS_TRY(rheos__find_phases(s->b, s->waits, s->phases));
    if (!find_sets(s) || outlives_dead(s)) return NULL;
    for (size_t i = 0; i < s->b->num_order; ++i) look_at(s, s->b->order[i]);
    find_homes(s);
    find_singles(s);
  } while (s->any_new_apart && !s->is_refused);
  *out_found = !s->is_refused;
  return NULL;
}

static rheos_status *raise(stretcher *s) {
  if (!allocate(s)) return rheos__out_of_memory();
  bool is_found;
  RHEOS_TRY(divide(s, &is_found));
  if (!is_found) return NULL;
  for (int32_t i = 0; i < MAX_SETS; ++i) {
    s->drafts[i].kind = RHEOS__STRETCH;
    s->drafts[i].node = -1;
  }
  RHEOS_TRY(fill_drafts(s));
  return take_drafts(s);
}

// Finds the units; `*out_whole` is false where dead values may come to what is in none.
static rheos_status *find_units(stretcher *s, const int32_t *targets, int32_t num_targets,
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
  stretcher *s = rheos__alloc_zeroed(sizeof *s);
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
