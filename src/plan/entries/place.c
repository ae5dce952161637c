// Placement: a plan's entries, or a graph's nodes, as the placer takes them. Sessions with one CPU
// only compare the device strings of neighbours, which are interned.
#include "plan/entries/place.h"

#include <stdio.h>
#include <string.h>

#include "plan/entries/placer.h"
#include "plan/entries/prepare.h"

// ---- What kinds of things there are

static bool names_cell(const rheos__signature *signature, int32_t num_inputs, int32_t num_outputs) {
  if (num_inputs > 0 || num_outputs != 1) return false;
  return signature->outputs[0].is_ref || signature->outputs[0].dtype == RHEOS_RESOURCE;
}

static bool is_constant(const rheos__op_def *op, int32_t num_outputs) {
  if ((op->flags & RHEOS_OP_CONSTANT) != 0) return true;
  return num_outputs == 0 && (op->flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) == 0;
}

bool rheos__is_anywhere(const rheos__entry *entry) {
  if (entry->kind != RHEOS__ENTRY_NODE) return false;
  return is_constant(entry->signature->op, entry->num_outputs) ||
         names_cell(entry->signature, entry->num_inputs, entry->num_outputs);
}

bool rheos__reads_variable(const rheos__entry *entry) {
  return entry->kind == RHEOS__ENTRY_READ ||
         (entry->kind == RHEOS__ENTRY_NODE &&
          (entry->signature->op->flags & RHEOS_OP_READS_VARIABLE) != 0);
}

bool rheos__takes_bytes(const rheos__plan *plan, const rheos__entry *entry, int32_t value) {
  const rheos_dtype dtype = (rheos_dtype)plan->dtypes[value];
  if (rheos_dtype_is_ref(dtype) || dtype == RHEOS_RESOURCE) return false;
  return entry->kind != RHEOS__ENTRY_NODE ||
         (entry->signature->op->flags & RHEOS_OP_READS_SHAPES) == 0;
}

static bool has_any_memory(const rheos__entry *entry) {
  return entry->kind == RHEOS__ENTRY_NODE &&
         (entry->signature->op->flags & RHEOS_OP_ANY_MEMORY) != 0;
}

// The flow of arrays, of which nobody reads the number.
static bool is_flow(const rheos__arg *arg) { return strncmp(arg->name, "flow", 4) == 0; }

// Whether an argument of what keeps tensors is of their dtype.
static bool is_kept(const rheos__signature *signature, const rheos__arg *arg) {
  static const char *const names[] = {"T", "dtype", "elem_type", "element_dtype"};
  for (size_t i = 0; arg->type_attr >= 0 && i < sizeof names / sizeof *names; ++i) {
    if (strcmp(signature->attrs[arg->type_attr].name, names[i]) == 0) return true;
  }
  return false;
}

bool rheos__gives_anywhere(const rheos__entry *entry, int32_t output) {
  const rheos__signature *signature = entry->signature;
  if (!has_any_memory(entry)) return false;
  return (signature->op->flags & RHEOS_OP_CALLS) != 0 ||
         is_kept(signature, &signature->outputs[output]) || is_flow(&signature->outputs[output]);
}

// Whether the entry hands the input to a body, or keeps it.
static bool passes_on(const rheos__entry *entry, int32_t input) {
  const rheos__signature *signature = entry->signature;
  if (!has_any_memory(entry)) return false;
  if ((signature->op->flags & RHEOS_OP_CALLS) == 0) {
    return is_kept(signature, &signature->inputs[input]) || is_flow(&signature->inputs[input]);
  }
  const bool is_call = (signature->op->flags & RHEOS_OP_IS_CALL) != 0;
  return is_call || input >= signature->num_inputs - 1;
}

int16_t rheos__device_of_input(const rheos__plan *plan, const rheos__entry *entry, int32_t input) {
  const int32_t value = plan->operands[entry->first_operand + input];
  if (rheos__is_plain((rheos_dtype)plan->dtypes[value]) && passes_on(entry, input)) {
    const bool keeps = entry->kept_on > 0 && !is_flow(&entry->signature->inputs[input]);
    return keeps ? entry->kept_on : RHEOS__ANYWHERE;
  }
  const rheos__device *device = rheos__entry_device(plan, entry);
  if (entry->kind != RHEOS__ENTRY_NODE || rheos__is_on_host(device) ||
      device->kind->takes_on_host == NULL) {
    return entry->device;
  }
  const rheos__arg *arg = rheos__arg_of_input(entry->signature, entry->attrs, input);
  return device->kind->takes_on_host(device, entry->signature->op, arg) ? 0 : entry->device;
}

bool rheos__is_plain(rheos_dtype dtype) {
  return !rheos_dtype_is_ref(dtype) && dtype != RHEOS_RESOURCE && dtype != RHEOS_STRING &&
         dtype != RHEOS_VARIANT;
}

// Lists, arrays and the like, whose elements may lie on a device: what is done with them is the
// CPU's all the same.
static bool keeps_tensors(const rheos__op_def *op) {
  return (op->flags & (RHEOS_OP_ANY_MEMORY | RHEOS_OP_CALLS)) == RHEOS_OP_ANY_MEMORY;
}

// Values of these dtypes exist in the host's memory only. A handle has no bytes, but where it
// stands for an object of a step.
static bool is_host_only(const rheos__op_def *op, rheos_dtype dtype) {
  const rheos_dtype base = rheos_dtype_base(dtype);
  if (keeps_tensors(op)) return false;
  if (base == RHEOS_RESOURCE) {
    return (op->flags & (RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_CALLS)) != 0;
  }
  return base == RHEOS_STRING || base == RHEOS_VARIANT;
}

static bool refers(rheos_dtype dtype) {
  return rheos_dtype_is_ref(dtype) || dtype == RHEOS_RESOURCE;
}

// What moves values, or calls a body whose entries have places of their own.
static bool only_directs(const rheos__op_def *op) {
  const unsigned kinds = RHEOS_OP_CALLS | RHEOS_OP_TAKES_VARIANTS;
  return op->flow != RHEOS__FLOW_NONE || (op->flags & kinds) == RHEOS_OP_CALLS;
}

// What is known of a value without its bytes, and is small.
static bool is_about_shape(const rheos__op_def *op) {
  static const char *const names[] = {"Shape", "Size", "Rank"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strcmp(op->name, names[i]) == 0) return true;
  }
  return false;
}

// ---- The entries of a plan

static char *entry_name(const void *whole, int32_t id) {
  const rheos__plan *plan = whole;
  return rheos__inlined_name(plan->inlined, plan->graph, id);
}

static rheos__placed entry_placed(const rheos__plan *plan, const rheos__entry *entry) {
  const rheos__op_def *op = entry->signature->op;
  const bool is_node = entry->kind == RHEOS__ENTRY_NODE;
  int32_t local_id;
  rheos__placed what = {
      .node = rheos__plan_node(plan, entry->id),
      .graph = rheos__inlined_place(plan->inlined, plan->graph, entry->id, &local_id),
      .id = entry->id,
      .op = op,
      .attrs = entry->attrs,
      .needs_no_kernel = rheos__reads_variable(entry),
      .is_constant = is_node && is_constant(op, entry->num_outputs),
      .is_other = !is_node,
      .makes_value = is_node && entry->num_inputs == 0 && entry->num_outputs == 1,
      .default_device = rheos__plan_default_device(plan, entry->id),
      .looks_at = RHEOS__NOWHERE,
      .cell = RHEOS__NOWHERE};
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const int32_t value = plan->operands[entry->first_operand + i];
    const rheos_dtype dtype = (rheos_dtype)plan->dtypes[value];
    const int32_t from = value < plan->num_feeds ? RHEOS__FED : plan->origins[value].id;
    what.is_on_host = what.is_on_host || is_host_only(op, dtype);
    if (is_node && is_about_shape(op)) what.looks_at = from;
    if (what.cell == RHEOS__NOWHERE && refers(dtype)) what.cell = from;
  }
  for (int32_t i = 0; i < entry->num_outputs; ++i) {
    const rheos_dtype dtype = (rheos_dtype)plan->dtypes[entry->first_value + i];
    what.is_on_host = what.is_on_host || is_host_only(op, dtype);
    if (refers(dtype)) what.makes_value = false;
  }
  return what;
}

static void note_taken(rheos__placer *p, const rheos__plan *plan, const rheos__entry *entry) {
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const int32_t value = plan->operands[entry->first_operand + i];
    if (value < plan->num_feeds) continue;
    rheos__placer_note_taken(p, entry->id, plan->origins[value].id);
  }
}

// The first device that computes one of the inputs; 0: none. What a variable holds may lie
// anywhere.
static int32_t computed_on(const rheos__placer *p, const rheos__plan *plan,
                           const rheos__entry *entry) {
  int32_t found = 0;
  for (int32_t i = 0; i < entry->num_inputs && found == 0; ++i) {
    const int32_t value = plan->operands[entry->first_operand + i];
    if (value >= plan->num_feeds) found = rheos__placer_computes(p, plan->origins[value].id);
  }
  return found;
}

// What moves values and calls bodies is the CPU's, wherever it is said to be; what is beside it is
// there.
static rheos_status *place_entry(rheos__placer *p, const rheos__plan *plan, rheos__entry *entry) {
  rheos__placed what = entry_placed(plan, entry);
  const bool directs = p->has_memories && !what.is_other && only_directs(what.op);
  what.computed_on = computed_on(p, plan, entry);
  if (directs) {
    what.needs_no_kernel = true;
    what.is_on_host = false;
  }
  RHEOS_TRY(rheos__placer_place(p, &what));
  note_taken(p, plan, entry);
  const int16_t given = p->places[entry->id].given.device;
  const bool keeps = p->has_memories && !what.is_other && keeps_tensors(what.op);
  entry->device = directs || keeps ? 0 : given;
  entry->kept_on = keeps && !rheos__is_on_host(p->devices[given]) ? given : 0;
  return NULL;
}

static rheos_status *place_entries(rheos__placer *p, rheos__plan *plan) {
  rheos_status *status = NULL;
  for (int pass = 0; pass < 3; ++pass) {
    for (int32_t i = 0; status == NULL && i < plan->num_entries; ++i) {
      rheos__entry *entry = &plan->entries[i];
      if (entry->kind == RHEOS__ENTRY_WATCH) continue;  // the first device is a CPU
      const rheos__placed what = entry_placed(plan, entry);
      status = pass == 0   ? rheos__placer_hear(p, &what)
               : pass == 1 ? rheos__placer_join(p, &what)
                           : place_entry(p, plan, entry);
      if (status != NULL) status = rheos__plan_status_at_take(status, plan, entry->id);
    }
  }
  for (int32_t i = 0; status == NULL && i < plan->num_entries; ++i) {
    rheos__entry *entry = &plan->entries[i];
    if (entry->device >= 0 || entry->kind == RHEOS__ENTRY_WATCH) continue;
    const rheos__placed what = entry_placed(plan, entry);
    rheos__placer_place_left(p, &what);
    entry->device = p->places[entry->id].given.device;
  }
  return status;
}

// Where one device is of a memory of its own, that one.
static void want(const rheos__placer *p, int16_t *wanted, int16_t device) {
  if (*wanted == 0 || rheos__is_on_host(p->devices[*wanted - 1])) {
    *wanted = (int16_t)(device + 1);
  }
}

// Reads of variables. Backwards, so that who takes a value has its place before who gives it;
// `wanted` is by value one more than the device of who takes its bytes, 0 where nobody does.
static void place_reads(const rheos__placer *p, rheos__plan *plan, int16_t *wanted) {
  for (int32_t i = plan->num_entries; i-- > 0;) {
    rheos__entry *entry = &plan->entries[i];
    const int32_t value = entry->first_value;
    const bool is_free =
        entry->kind == RHEOS__ENTRY_READ || rheos__plan_node(plan, entry->id)->device[0] == '\0';
    if (rheos__reads_variable(entry) && is_free && wanted[value] > 0) {
      const rheos__placed what = entry_placed(plan, entry);
      if (rheos__placer_fits(p, &what, wanted[value] - 1)) {
        entry->device = (int16_t)(wanted[value] - 1);
      }
    }
    const bool is_elsewhere =
        !rheos__is_anywhere(entry) && !rheos__is_on_host(p->devices[entry->device]);
    plan->runs_elsewhere = plan->runs_elsewhere || is_elsewhere;
    plan->is_mixed = plan->is_mixed || is_elsewhere || has_any_memory(entry);
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      const int32_t input = plan->operands[entry->first_operand + k];
      const int16_t device = rheos__device_of_input(plan, entry, k);
      if (!rheos__takes_bytes(plan, entry, input) || device == RHEOS__ANYWHERE) continue;
      want(p, &wanted[input], device);
    }
  }
}

static rheos_status *place_all_reads(const rheos__placer *p, rheos__plan *plan) {
  int16_t *wanted = rheos__alloc_array((size_t)plan->num_values, sizeof *wanted);
  if (wanted == NULL) return rheos__out_of_memory();
  plan->is_mixed = rheos__plan_hands_on(plan);
  place_reads(p, plan, wanted);
  rheos__free(wanted);
  return NULL;
}

// With one device, which is a CPU, what others ask for is all there is to look at.
static rheos_status *place_on_one(const rheos__placer *p, rheos__plan *plan) {
  const char *fits = "";
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    rheos__entry *entry = &plan->entries[i];
    entry->device = 0;
    const char *asked = rheos__plan_node(plan, entry->id)->device;
    if (asked == fits || asked[0] == '\0' || entry->kind == RHEOS__ENTRY_WATCH) continue;
    rheos__device_name name;
    rheos_status *status = rheos__device_name_parse(asked, &name);
    if (status == NULL && !p->allow_soft_placement &&
        !rheos__device_name_matches(&name, &p->devices[0]->parsed_name)) {
      const rheos__placed what = entry_placed(plan, entry);
      status = rheos__place_no_device(p, &what, asked, what.id);
    }
    if (status != NULL) return rheos__plan_status_at_take(status, plan, entry->id);
    fits = asked;
  }
  return NULL;
}

static rheos_status *place_on_several(rheos__placer *p, rheos__plan *plan) {
  rheos_status *status = rheos__placer_init(p);
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const bool is_watch = plan->entries[i].kind == RHEOS__ENTRY_WATCH;
    plan->entries[i].device = is_watch ? 0 : RHEOS__NOWHERE;
  }
  if (status == NULL) status = place_entries(p, plan);
  if (status == NULL && p->has_memories) status = place_all_reads(p, plan);
  rheos__placer_deinit(p);
  return status;
}

static rheos_status *log_entry(const rheos__plan *plan, const rheos__entry *entry) {
  if (entry->kind != RHEOS__ENTRY_NODE) return NULL;
  char *name = rheos__node_name(plan->graph, rheos__plan_node(plan, entry->id));
  if (name == NULL) return rheos__out_of_memory();
  fprintf(stderr, "%s: (%s): %s\n", name, entry->signature->op->name,
          rheos__entry_device(plan, entry)->name);
  rheos__free(name);
  return NULL;
}

rheos_status *rheos__place_plan(rheos__plan *plan) {
  rheos__placer p = {.graph = plan->graph,
                     .devices = plan->context.devices,
                     .num_devices = plan->context.num_devices,
                     .allow_soft_placement = plan->context.allow_soft_placement,
                     .prefers_cards = plan->context.prefers_cards,
                     .num_ids = rheos__plan_num_ids(plan),
                     .name_of = entry_name,
                     .whole = plan};
  RHEOS_TRY(p.num_devices == 1 ? place_on_one(&p, plan) : place_on_several(&p, plan));
  for (int32_t i = 0; plan->context.log_device_placement && i < plan->num_entries; ++i) {
    RHEOS_TRY(log_entry(plan, &plan->entries[i]));
  }
  return NULL;
}

// ---- The nodes of a graph

static char *node_name(const void *whole, int32_t id) {
  const rheos_graph *graph = whole;
  return rheos__node_name(graph, rheos__graph_node(graph, id));
}

static rheos__placed node_placed(const rheos_graph *graph, int32_t id) {
  const rheos__node *node = rheos__graph_node(graph, id);
  const rheos__op_def *op = node->signature->op;
  rheos__placed what = {.node = node,
                        .graph = graph,
                        .id = id,
                        .op = op,
                        .attrs = node->attrs,
                        .needs_no_kernel = (op->flags & RHEOS_OP_READS_VARIABLE) != 0,
                        .is_constant = is_constant(op, node->num_outputs),
                        .makes_value = node->num_inputs == 0 && node->num_outputs == 1,
                        .looks_at = RHEOS__NOWHERE,
                        .cell = RHEOS__NOWHERE};
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    const rheos__edge edge = node->edges[i];
    const rheos_dtype dtype = rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype;
    what.is_on_host = what.is_on_host || is_host_only(op, dtype);
    if (is_about_shape(op)) what.looks_at = edge.id;
    if (what.cell == RHEOS__NOWHERE && refers(dtype)) what.cell = edge.id;
  }
  for (int32_t i = 0; i < node->num_outputs; ++i) {
    what.is_on_host = what.is_on_host || is_host_only(op, node->outputs[i].dtype);
    if (refers(node->outputs[i].dtype)) what.makes_value = false;
  }
  return what;
}

// A session that runs a task's part has what moves values and calls bodies on its CPU, wherever
// that is said to be; the device of a call is where it has the body's nodes.
static rheos_status *place_node(rheos__placer *p, rheos__placed what) {
  const bool is_fed = (what.op->flags & RHEOS_OP_PLACEHOLDER) != 0;
  if (p->groups_by_task && (is_fed || only_directs(what.op))) {
    what.needs_no_kernel = true;
    what.is_on_host = false;
    what.calls_there = (what.op->flags & RHEOS_OP_CALLS) != 0;
  }
  for (int32_t i = 0; i < what.node->num_inputs && what.computed_on == 0; ++i) {
    what.computed_on = rheos__placer_computes(p, what.node->edges[i].id);
  }
  RHEOS_TRY(rheos__placer_place(p, &what));
  for (int32_t i = 0; i < what.node->num_inputs + what.node->num_control_inputs; ++i) {
    rheos__placer_note_taken(p, what.id, what.node->edges[i].id);
  }
  return NULL;
}

rheos_status *rheos__place_nodes(rheos__placer *p) {
  const rheos_graph *graph = p->graph;
  p->num_ids = rheos_graph_num_operations(graph);
  p->name_of = node_name;
  p->whole = graph;
  rheos_status *status = rheos__placer_init(p);
  for (int pass = 0; pass < 3; ++pass) {
    for (int32_t i = 0; status == NULL && i < p->num_ids; ++i) {
      const rheos__placed what = node_placed(graph, i);
      status = pass == 0   ? rheos__placer_hear(p, &what)
               : pass == 1 ? rheos__placer_join(p, &what)
                           : place_node(p, what);
      if (status != NULL) status = rheos__status_at_take(status, graph, i);
    }
  }
  for (int32_t i = 0; status == NULL && i < p->num_ids; ++i) {
    const rheos__placed what = node_placed(graph, i);
    rheos__placer_place_left(p, &what);
  }
  return status;
}

rheos_status *rheos__place_graph(const rheos_graph *graph, const rheos__device *const *devices,
                                 int32_t num_devices, bool allow_soft_placement, int32_t num_kept,
                                 int16_t *devices_of) {
  rheos__placer p = {.graph = graph,
                     .devices = devices,
                     .num_devices = num_devices,
                     .allow_soft_placement = allow_soft_placement,
                     .prefers_cards = true,
                     .is_cut = true,
                     .kept = devices_of,
                     .num_kept = num_kept};
  rheos_status *status = rheos__place_nodes(&p);
  for (int32_t i = 0; status == NULL && i < p.num_ids; ++i) {
    devices_of[i] = p.places[i].given.device;
  }
  rheos__placer_deinit(&p);
  return status;
}
