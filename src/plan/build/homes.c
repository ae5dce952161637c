// Where each node is: in which stretch, in each that asks for it, or by itself (stretches.c).
#include "plan/build/stretcher.h"

#include <string.h>

#include "plan/entries/prepare.h"

// Of a stretch: one node by itself runs as well on tokens, if it runs on the host.
enum { LEAST_MEMBERS = 2 };

// ---- What a node is

bool rheos__node_gives_cell(const rheos__node *node, int32_t output) {
  const rheos_dtype dtype = node->outputs[output].dtype;
  return rheos_dtype_is_ref(dtype) || dtype == RHEOS_RESOURCE;
}

bool rheos__node_names_cell(const rheos__node *node) {
  return rheos__node_num_edges(node) == 0 && node->num_outputs == 1 &&
         rheos__node_gives_cell(node, 0) && rheos__attrs_find(node->attrs, "shared_name") != NULL;
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

static bool is_free(const rheos__stretcher *s, rheos__edge edge) {
  return !rheos__stretcher_is_fed(s, edge) && s->homes[edge.id] == RHEOS__FREE;
}

static bool all_inputs(const rheos__stretcher *s, const rheos__node *node,
                       bool (*holds)(const rheos__stretcher *s, rheos__edge edge)) {
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    if (!holds(s, node->edges[i])) return false;
  }
  return true;
}

rheos__edge rheos__stretcher_look_through(const rheos__stretcher *s, rheos__edge edge,
                                          bool *out_is_reference) {
  rheos__edge reference;
  *out_is_reference = edge.index >= 0 && !rheos__stretcher_is_fed(s, edge) &&
                      rheos__builder_find_reference(s->b, edge, &reference);
  return *out_is_reference ? reference : edge;
}

int32_t rheos__stretcher_variable_read(const rheos__stretcher *s, const rheos__node *node,
                                       int32_t i) {
  if ((node->signature->op->flags & RHEOS_OP_READS_VARIABLE) != 0 && i == 0) {
    return is_free(s, node->edges[0]) ? node->edges[0].id : -1;
  }
  bool is_reference;
  const rheos__edge edge = rheos__stretcher_look_through(s, node->edges[i], &is_reference);
  if (!is_reference || !is_free(s, edge)) return -1;
  return rheos__arg_of_input(node->signature, node->attrs, i)->is_ref ? -1 : edge.id;
}

rheos__edge rheos__stretcher_value_behind(const rheos__stretcher *s, rheos__edge edge) {
  while (edge.index >= 0 && !rheos__stretcher_is_fed(s, edge) && s->is_passing[edge.id]) {
    edge = rheos__stretcher_node(s, edge.id)->edges[0];
  }
  return edge;
}

// A read of a reference belongs to whoever takes the value: plan.h. So it is wherever that is.
static bool is_read_of_reference(const rheos__stretcher *s, int32_t id) {
  const rheos__node *node = rheos__stretcher_node(s, id);
  bool is_reference;
  if ((node->signature->op->flags & RHEOS_OP_FORWARDS) == 0 || rheos__node_gives_cell(node, 0))
    return false;
  rheos__stretcher_look_through(s, (rheos__edge){id, 0}, &is_reference);
  return is_reference;
}

rheos__edge rheos__stretcher_wait_behind(const rheos__stretcher *s, rheos__edge edge) {
  rheos__edge reference;
  const bool reads = edge.index < 0 && !rheos__stretcher_is_fed(s, edge) &&
                     is_read_of_reference(s, edge.id) &&
                     rheos__builder_find_reference(s->b, (rheos__edge){edge.id, 0}, &reference);
  return reads ? (rheos__edge){reference.id, -1} : edge;
}

static bool is_constant_edge(const rheos__stretcher *s, rheos__edge edge) {
  bool is_reference;
  edge = rheos__stretcher_value_behind(s, edge);
  rheos__stretcher_look_through(s, edge, &is_reference);
  return !is_reference && is_free(s, edge);
}

// Of what could be computed at any time, but for the variables that it reads.
static bool is_calm_edge(const rheos__stretcher *s, rheos__edge edge) {
  bool is_reference;
  edge = rheos__stretcher_look_through(s, rheos__stretcher_value_behind(s, edge), &is_reference);
  return is_free(s, edge) || (!rheos__stretcher_is_fed(s, edge) && s->is_calm[edge.id]);
}

// Costs nothing, so it is on both sides of what goes from one stretch to another: there is one
// value less to hand over where its source goes too, and a loop or conditional sees that both are
// the same.
static bool is_passing(const rheos__node *node) {
  return (node->signature->op->flags & RHEOS_OP_FORWARDS) != 0 && node->num_inputs == 1 &&
         node->num_outputs == 1 && rheos__node_is_pure(node);
}

static bool is_calm(const rheos__stretcher *s, const rheos__node *node) {
  if ((node->signature->op->flags & RHEOS_OP_READS_VARIABLE) != 0) {
    return node->num_control_inputs == 0 && node->num_inputs == 1 && is_free(s, node->edges[0]);
  }
  return rheos__node_is_pure(node) && all_inputs(s, node, is_calm_edge);
}

static void look_at(rheos__stretcher *s, int32_t id) {
  const rheos__node *node = rheos__stretcher_node(s, id);
  s->homes[id] = s->sets[id];
  if (rheos__stretcher_unit_of(s, id) >= 0) return;
  if (s->waits[id] > 0 || node->signature->op->run_dead != NULL) {
    s->homes[id] = RHEOS__BY_ITSELF;
  } else if (rheos__node_names_cell(node) || is_read_of_reference(s, id) ||
             (rheos__node_is_pure(node) && all_inputs(s, node, is_constant_edge))) {
    s->homes[id] = RHEOS__FREE;
  } else if (is_passing(node)) {
    s->homes[id] = RHEOS__FREE;
    s->is_passing[id] = true;
  } else {
    s->is_calm[id] = is_calm(s, node);
  }
}

// ---- Where calm nodes are

static void note(int32_t *place, int32_t home) {
  *place = *place == RHEOS__NOWHERE || *place == home ? home : RHEOS__MANY;
}

// What names the cell that a reference or handle leads back to; -1: it is told by something else.
static int32_t cell_behind(const rheos__stretcher *s, rheos__edge edge) {
  while (!is_free(s, edge)) {
    const rheos__node *node = rheos__stretcher_node(s, edge.id);
    if (rheos__stretcher_is_fed(s, edge) || edge.index != 0 || node->num_inputs == 0 ||
        !rheos__node_gives_cell(node, 0))
      return -1;
    edge = node->edges[0];
  }
  return rheos__node_gives_cell(rheos__stretcher_node(s, edge.id), edge.index) ? edge.id : -1;
}

// Who does more with a variable than to read it.
static void note_touches(const rheos__stretcher *s, int32_t id) {
  const rheos__node *node = rheos__stretcher_node(s, id);
  if (s->homes[id] == RHEOS__FREE) return;
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    const rheos__edge edge = node->edges[i];
    if (rheos__stretcher_is_fed(s, edge) ||
        !rheos__node_gives_cell(rheos__stretcher_node(s, edge.id), edge.index))
      continue;
    const int32_t name = cell_behind(s, edge);
    if (name < 0 || rheos__stretcher_variable_read(s, node, i) >= 0) continue;
    note(&s->touchers[name], s->homes[id] >= 0 ? s->homes[id] : RHEOS__MANY);
  }
}

// Whether a read of the variable in stretch `home` comes before what touches it, or is told apart
// from it by the order inside of the stretch.
static bool may_read_in(const rheos__stretcher *s, int32_t name, int32_t home) {
  const int32_t toucher = s->touchers[name];
  if (toucher == RHEOS__NOWHERE || toucher == home) return true;
  return toucher >= 0 && home >= 0 && rheos__stretcher_holds_all(s, toucher, home);
}

static bool may_be_in(const rheos__stretcher *s, const rheos__node *node, int32_t home) {
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    const int32_t name = rheos__stretcher_variable_read(s, node, i);
    if (name >= 0 && !may_read_in(s, name, home)) return false;
  }
  return true;
}

// A node behind all that takes it: its home is known now.
static void settle(const rheos__stretcher *s, int32_t id) {
  const rheos__node *node = rheos__stretcher_node(s, id);
  if (!s->is_calm[id]) return;
  const int32_t taker = s->takers[id];
  const bool reads = (node->signature->op->flags & RHEOS_OP_READS_VARIABLE) != 0;
  if (taker >= 0 && may_be_in(s, node, taker)) s->homes[id] = taker;
  if (taker == RHEOS__MANY && reads && s->touchers[node->edges[0].id] == RHEOS__NOWHERE)
    s->homes[id] = RHEOS__FREE;
}

static void note_takers(const rheos__stretcher *s, int32_t id) {
  const rheos__node *node = rheos__stretcher_node(s, id);
  for (int32_t i = 0; i < rheos__node_num_edges(node); ++i) {
    const rheos__edge edge = node->edges[i];
    const int32_t taker = s->is_passing[id] ? s->takers[id] : s->homes[id];
    if (!rheos__stretcher_is_fed(s, edge))
      note(&s->takers[edge.id], taker >= 0 ? taker : RHEOS__MANY);
  }
}

static void settle_calm(rheos__stretcher *s) {
  const rheos__builder *b = s->b;
  for (size_t i = 0; i < b->num_order; ++i) note_touches(s, b->order[i]);
  for (int32_t i = 0; i < b->plan->num_fetches; ++i) {
    if (!rheos__stretcher_is_fed(s, b->plan->fetches[i]))
      s->takers[b->plan->fetches[i].id] = RHEOS__MANY;
  }
  for (size_t i = b->num_order; i > 0; --i) {
    const int32_t id = b->order[i - 1];
    if (b->is_target[id]) s->takers[id] = RHEOS__MANY;
    settle(s, id);
    note_takers(s, id);
  }
}

// ---- What stays by itself

static void count_members(rheos__stretcher *s) {
  memset(s->num_members, 0, RHEOS__MAX_WAIT_SETS * sizeof *s->num_members);
  for (size_t i = 0; i < s->b->num_order; ++i) {
    const int32_t home = s->homes[s->b->order[i]];
    if (home >= 0) ++s->num_members[home];
  }
}

// A stretch gives values. What gives a handle to others, or a reference to what is by itself, is
// set apart: as if it waited, so that what comes behind it is another stretch.
static void look_at_use(rheos__stretcher *s, rheos__edge edge, int32_t home) {
  bool is_reference;
  edge = rheos__stretcher_look_through(s, edge, &is_reference);
  if (edge.index < 0 || rheos__stretcher_is_fed(s, edge) || s->homes[edge.id] < 0 ||
      s->homes[edge.id] == home) {
    return;
  }
  const bool is_handle =
      rheos__stretcher_node(s, edge.id)->outputs[edge.index].dtype == RHEOS_RESOURCE;
  if (is_handle || (is_reference && home < 0)) {
    s->is_apart[edge.id] = true;
    s->any_new_apart = true;
  }
  // A stretch goes back to what a reference was made of: builder.h.
  if (is_reference && home >= 0 && rheos__stretcher_node(s, edge.id)->num_inputs == 0)
    s->is_refused = true;
}

// Whether a device with a memory of its own may run the node, which the host does on tokens.
static bool may_be_on_card(const rheos__stretcher *s, const rheos__node *node) {
  const rheos__plan_context *context = &s->b->plan->context;
  rheos__device_name asked;
  rheos_status *status = rheos__device_name_parse(node->device, &asked);
  const bool asks = status == NULL && node->device[0] != '\0';
  rheos_status_free(status);
  for (int32_t i = 1; i < context->num_devices; ++i) {
    const rheos__device *device = context->devices[i];
    if (rheos__is_on_host(device)) continue;
    if (asks ? rheos__device_name_matches(&asked, &device->parsed_name) &&
                   rheos__device_has_kernel(device, node->signature->op, node->attrs)
             : device->kind->prefers != NULL &&
                   device->kind->prefers(device, node->signature->op, node->attrs)) {
      return true;
    }
  }
  return false;
}

static void find_singles(rheos__stretcher *s) {
  const rheos__builder *b = s->b;
  count_members(s);
  for (int32_t i = 0; i < b->plan->num_fetches; ++i) {
    look_at_use(s, b->plan->fetches[i], RHEOS__BY_ITSELF);
  }
  for (size_t i = b->num_order; i > 0; --i) {
    const int32_t id = b->order[i - 1];
    int32_t *home = &s->homes[id];
    const rheos__node *node = rheos__stretcher_node(s, id);
    if (*home >= 0 && s->num_members[*home] < LEAST_MEMBERS && !may_be_on_card(s, node)) {
      *home = RHEOS__BY_ITSELF;
    }
    if (*home == RHEOS__FREE && b->is_target[id])
      look_at_use(s, (rheos__edge){id, 0}, RHEOS__BY_ITSELF);
    for (int32_t k = 0; *home != RHEOS__FREE && k < rheos__node_num_edges(node); ++k) {
      // Who is by itself waits for a read that is by itself too.
      const rheos__edge edge = node->edges[k];
      const bool is_wait = edge.index < 0 && *home < 0 && !rheos__stretcher_is_fed(s, edge);
      if (is_wait && !is_read_of_reference(s, edge.id)) continue;
      look_at_use(s, is_wait ? (rheos__edge){edge.id, 0} : edge, *home);
    }
  }
  count_members(s);
}

void rheos__stretcher_find_homes(rheos__stretcher *s) {
  for (size_t i = 0; i < s->b->num_order; ++i) look_at(s, s->b->order[i]);
  settle_calm(s);
  find_singles(s);
}
