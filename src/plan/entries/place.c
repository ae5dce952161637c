// Sessions with CPUs only compare the device strings of neighbours, which are interned. Kernels and
// colocation matter where a device has a memory of its own, and where devices are of several tasks.
#include "plan/entries/place.h"

#include <stdio.h>
#include <string.h>

enum { LIST_BYTES = 1024, NOWHERE = -1, FED = -2 };

typedef struct placer {
  const rheos_graph *graph;
  const rheos__device *const *devices;
  int32_t num_devices;
  bool allow_soft_placement;
  // The device string looked at last, and the device that fits it, or NOWHERE.
  const char *asked;
  int32_t found;
  // By node, where kernels matter: one more than its device, 0: not placed yet.
  int16_t *placed;
} placer;

// What is placed: an entry of a plan or a node of a graph.
typedef struct placed {
  const rheos__node *node;
  int32_t id;
  const rheos__op_def *op;
  const rheos__attrs *attrs;
  bool reads_variable;  // and needs no kernel for it
  bool is_constant;     // its outputs become constants, or it has none
  bool is_other;        // an entry that stands for no node
  bool is_on_host;      // it takes or gives what exists in the host's memory only
  bool only_directs;    // it needs no kernel of the device that it is said to be on
  int32_t cell;         // the node that it takes a reference or handle from; NOWHERE; FED
} placed;

static const rheos__device *device_at(const placer *p, int32_t index) { return p->devices[index]; }

// ---- Errors

static char *name_of(const placer *p, const rheos__node *node) {
  return rheos__node_name(p->graph, node);
}

// Appends to a list in a text; what does not fit is left out.
static void append(char list[LIST_BYTES], const char *item) {
  const size_t length = strlen(list);
  snprintf(list + length, LIST_BYTES - length, "%s%s", length > 0 ? ", " : "", item);
}

static rheos_status *no_device(const placer *p, const rheos__node *node) {
  char list[LIST_BYTES] = "";
  for (int32_t i = 0; i < p->num_devices; ++i) append(list, device_at(p, i)->name);
  char *name = name_of(p, node);
  rheos_status *status = RHEOS_INVALID(
      "Cannot assign a device for operation %s: the operation was explicitly "
      "assigned to %s but available devices are [ %s ]. Make sure the device "
      "specification refers to a valid device.",
      name != NULL ? name : node->signature->op->name, node->device, list);
  rheos__free(name);
  return status;
}

static rheos_status *no_kernel(const placer *p, const placed *what, int32_t device) {
  const rheos__node *node = what->node;
  const rheos__op_def *op = what->op;
  char list[LIST_BYTES] = "";
  for (int32_t i = 0; i < p->num_devices; ++i) {
    const rheos__device_kind *kind = device_at(p, i)->kind;
    bool is_new = true;
    for (int32_t k = 0; k < i; ++k) is_new = is_new && device_at(p, k)->kind != kind;
    if (is_new && kind->has_kernel(op, what->attrs)) append(list, kind->name);
  }
  char *name = name_of(p, node);
  rheos_status *status = RHEOS_INVALID(
      "Cannot assign a device for operation %s: Could not satisfy explicit device specification "
      "'%s' because no supported kernel for %s devices is available. %s has kernels for [ %s ].",
      name != NULL ? name : op->name, node->device, device_at(p, device)->kind->name, op->name,
      list);
  rheos__free(name);
  return status;
}

// ---- What fits

// The first device that fits the string, or NOWHERE. Strings are interned, and neighbours mostly
// share one.
static rheos_status *find(placer *p, const char *asked, int32_t *out_device) {
  if (asked != p->asked) {
    rheos__device_name wanted;
    RHEOS_TRY(rheos__device_name_parse(asked, &wanted));
    p->found = NOWHERE;
    for (int32_t i = p->num_devices; i-- > 0;) {
      if (rheos__device_name_matches(&wanted, &device_at(p, i)->parsed_name)) p->found = i;
    }
    p->asked = asked;
  }
  *out_device = p->found;
  return NULL;
}

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

bool rheos__passes_on(const rheos__entry *entry, int32_t input) {
  if (!rheos__gives_anywhere(entry)) return false;
  const bool is_call = (entry->signature->op->flags & RHEOS_OP_IS_CALL) != 0;
  return is_call || input >= entry->signature->num_inputs - 1;
}

bool rheos__is_plain(rheos_dtype dtype) {
  return !rheos_dtype_is_ref(dtype) && dtype != RHEOS_RESOURCE && dtype != RHEOS_STRING &&
         dtype != RHEOS_VARIANT;
}

// Values of these dtypes exist in the host's memory only. A handle has no bytes, but where it
// stands for an object of a step.
static bool is_host_only(const rheos__op_def *op, rheos_dtype dtype) {
  const rheos_dtype base = rheos_dtype_base(dtype);
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

static bool fits(const placer *p, const placed *what, int32_t device) {
  if (!rheos__is_on_host(device_at(p, device))) {
    if (what->is_on_host) return false;
    if (what->reads_variable) return true;
    if (what->is_other) return false;
    if (what->is_constant) return true;
  }
  return device_at(p, device)->kind->has_kernel(what->op, what->attrs);
}

// ---- What has to be beside what

// The node that a name in `_class`, such as "loc:@x", stands for; NULL if there is none.
static const rheos__node *leader_of(const placer *p, const placed *what, int32_t *out_id) {
  const rheos_attr_value *groups = rheos__attrs_find(what->attrs, "_class");
  if (groups == NULL || groups->kind != RHEOS_ATTR_LIST_STRING || groups->count == 0) return NULL;
  const rheos_string *group = &groups->strings[0];
  if (group->size_bytes <= 5 || memcmp(group->data, "loc:@", 5) != 0) return NULL;
  char *name = rheos__alloc_zeroed(group->size_bytes - 5 + 1);
  if (name == NULL) return NULL;
  memcpy(name, group->data + 5, group->size_bytes - 5);
  const rheos_operation operation = rheos_graph_operation((rheos_graph *)(uintptr_t)p->graph, name);
  rheos__free(name);
  if (operation.graph == NULL) return NULL;
  *out_id = operation.id;
  return rheos__graph_node(p->graph, operation.id);
}

// The device of the variable that it takes a reference or handle of, or NOWHERE.
static int32_t device_of_reference(const placer *p, const placed *what) {
  if (what->cell == NOWHERE) return NOWHERE;
  const int16_t device = what->cell == FED ? 0 : p->placed[what->cell];
  return device > 0 ? device - 1 : 0;
}

static int32_t first_that_fits(const placer *p, const placed *what) {
  for (int32_t i = 0; i < p->num_devices; ++i) {
    if (fits(p, what, i)) return i;
  }
  return 0;
}

// The device of what it has to be beside, if it fits, or NOWHERE.
static rheos_status *find_beside(placer *p, const placed *what, int32_t *out_device) {
  int32_t device = device_of_reference(p, what), leader_id;
  const rheos__node *leader = device == NOWHERE ? leader_of(p, what, &leader_id) : NULL;
  if (leader != NULL && p->placed[leader_id] > 0) {
    device = p->placed[leader_id] - 1;
  } else if (leader != NULL && leader->device[0] != '\0') {
    RHEOS_TRY(find(p, leader->device, &device));
  }
  *out_device = device != NOWHERE && fits(p, what, device) ? device : NOWHERE;
  return NULL;
}

// `asked` is the device that the node asks for, NOWHERE if there is none.
static rheos_status *place_by_kernel(placer *p, const placed *what, int32_t asked,
                                     int32_t *out_device) {
  int32_t device = what->node->device[0] != '\0' ? asked : NOWHERE;
  if (device != NOWHERE && !fits(p, what, device)) {
    if (!p->allow_soft_placement) return no_kernel(p, what, device);
    device = NOWHERE;
  }
  if (device == NOWHERE) RHEOS_TRY(find_beside(p, what, &device));
  if (device == NOWHERE) device = first_that_fits(p, what);
  p->placed[what->id] = (int16_t)(device + 1);
  *out_device = device;
  return NULL;
}

// The device that the node asks for, or NOWHERE where it is not there and need not be.
static rheos_status *find_asked(placer *p, const rheos__node *node, int32_t *out_asked) {
  RHEOS_TRY(find(p, node->device, out_asked));
  return *out_asked == NOWHERE && !p->allow_soft_placement ? no_device(p, node) : NULL;
}

// ---- The entries of a plan

static placed entry_placed(const rheos__plan *plan, const rheos__entry *entry) {
  const rheos__op_def *op = entry->signature->op;
  const bool is_node = entry->kind == RHEOS__ENTRY_NODE;
  placed what = {.node = rheos__plan_node(plan, entry->id),
                 .id = entry->id,
                 .op = op,
                 .attrs = entry->attrs,
                 .reads_variable = rheos__reads_variable(entry),
                 .is_constant = is_node && is_constant(op, entry->num_outputs),
                 .is_other = !is_node,
                 .only_directs = is_node && only_directs(op),
                 .cell = NOWHERE};
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const int32_t value = plan->operands[entry->first_operand + i];
    const rheos_dtype dtype = (rheos_dtype)plan->dtypes[value];
    what.is_on_host = what.is_on_host || is_host_only(op, dtype);
    if (what.cell != NOWHERE || !refers(dtype)) continue;
    what.cell = value < plan->num_feeds ? FED : plan->origins[value].id;
  }
  for (int32_t i = 0; i < entry->num_outputs; ++i) {
    const rheos_dtype dtype = (rheos_dtype)plan->dtypes[entry->first_value + i];
    what.is_on_host = what.is_on_host || is_host_only(op, dtype);
  }
  return what;
}

static rheos_status *place_entry(placer *p, const rheos__plan *plan, rheos__entry *entry) {
  int32_t asked, device;
  if (entry->kind == RHEOS__ENTRY_WATCH) return NULL;  // the first device is a CPU
  RHEOS_TRY(find_asked(p, rheos__plan_node(plan, entry->id), &asked));
  entry->device = (int16_t)(asked == NOWHERE ? 0 : asked);
  if (p->placed == NULL) return NULL;
  const placed what = entry_placed(plan, entry);
  if (what.only_directs) {
    p->placed[entry->id] = (int16_t)(entry->device + 1);  // for what is beside it
    entry->device = 0;
    return NULL;
  }
  RHEOS_TRY(place_by_kernel(p, &what, asked, &device));
  entry->device = (int16_t)device;
  return NULL;
}

// Where one device is of a memory of its own, that one.
static void want(const placer *p, int16_t *wanted, int16_t device) {
  if (*wanted == 0 || rheos__is_on_host(device_at(p, *wanted - 1))) {
    *wanted = (int16_t)(device + 1);
  }
}

// Reads of variables. Backwards, so that who takes a value has its place before who gives it;
// `wanted` is by value one more than the device of who takes its bytes, 0 where nobody does.
static void place_reads(const placer *p, rheos__plan *plan, int16_t *wanted) {
  for (int32_t i = plan->num_entries; i-- > 0;) {
    rheos__entry *entry = &plan->entries[i];
    const int32_t value = entry->first_value;
    const bool is_free =
        entry->kind == RHEOS__ENTRY_READ || rheos__plan_node(plan, entry->id)->device[0] == '\0';
    if (rheos__reads_variable(entry) && is_free && wanted[value] > 0) {
      const placed what = entry_placed(plan, entry);
      if (fits(p, &what, wanted[value] - 1)) entry->device = (int16_t)(wanted[value] - 1);
    }
    const bool is_elsewhere =
        !rheos__is_anywhere(entry) && !rheos__is_on_host(device_at(p, entry->device));
    plan->runs_elsewhere = plan->runs_elsewhere || is_elsewhere;
    plan->is_mixed = plan->is_mixed || is_elsewhere || rheos__gives_anywhere(entry);
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      const int32_t input = plan->operands[entry->first_operand + k];
      if (!rheos__takes_bytes(plan, entry, input) || rheos__passes_on(entry, k)) continue;
      want(p, &wanted[input], entry->device);
    }
  }
}

static rheos_status *log_entry(const placer *p, const rheos__plan *plan,
                               const rheos__entry *entry) {
  if (entry->kind != RHEOS__ENTRY_NODE) return NULL;
  const rheos__node *node = rheos__plan_node(plan, entry->id);
  char *name = name_of(p, node);
  if (name == NULL) return rheos__out_of_memory();
  fprintf(stderr, "%s: (%s): %s\n", name, node->signature->op->name,
          rheos__entry_device(plan, entry)->name);
  rheos__free(name);
  return NULL;
}

rheos_status *rheos__place_plan(rheos__plan *plan) {
  placer p = {.graph = plan->graph,
              .devices = plan->context.devices,
              .num_devices = plan->context.num_devices,
              .allow_soft_placement = plan->context.allow_soft_placement};
  bool any_memory = false;
  int16_t *wanted = NULL;
  for (int32_t i = 0; i < p.num_devices; ++i) {
    any_memory = any_memory || !rheos__is_on_host(p.devices[i]);
  }
  if (any_memory) {
    p.placed = rheos__alloc_array((size_t)rheos__plan_num_ids(plan), sizeof *p.placed);
    wanted = rheos__alloc_array((size_t)plan->num_values, sizeof *wanted);
  }
  const bool ok = !any_memory || (p.placed != NULL && wanted != NULL);
  rheos_status *status = ok ? NULL : rheos__out_of_memory();
  for (int32_t i = 0; status == NULL && i < plan->num_entries; ++i) {
    status = place_entry(&p, plan, &plan->entries[i]);
    if (status != NULL) status = rheos__plan_status_at_take(status, plan, plan->entries[i].id);
  }
  if (any_memory) plan->is_mixed = rheos__plan_is_body(plan);
  if (status == NULL && any_memory) place_reads(&p, plan, wanted);
  for (int32_t i = 0; plan->context.log_device_placement && i < plan->num_entries; ++i) {
    if (status == NULL) status = log_entry(&p, plan, &plan->entries[i]);
  }
  rheos__free(p.placed);
  rheos__free(wanted);
  return status;
}

// ---- The nodes of a graph

static placed node_placed(const rheos_graph *graph, int32_t id) {
  const rheos__node *node = rheos__graph_node(graph, id);
  const rheos__op_def *op = node->signature->op;
  placed what = {.node = node,
                 .id = id,
                 .op = op,
                 .attrs = node->attrs,
                 .reads_variable = (op->flags & RHEOS_OP_READS_VARIABLE) != 0,
                 .is_constant = is_constant(op, node->num_outputs),
                 .cell = NOWHERE};
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    const rheos__edge edge = node->edges[i];
    const rheos_dtype dtype = rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype;
    what.is_on_host = what.is_on_host || is_host_only(op, dtype);
    if (what.cell == NOWHERE && refers(dtype)) what.cell = edge.id;
  }
  for (int32_t i = 0; i < node->num_outputs; ++i) {
    what.is_on_host = what.is_on_host || is_host_only(op, node->outputs[i].dtype);
  }
  return what;
}

rheos_status *rheos__place_graph(const rheos_graph *graph, const rheos__device *const *devices,
                                 int32_t num_devices, bool allow_soft_placement,
                                 int16_t *out_devices) {
  const int32_t count = rheos_graph_num_operations(graph);
  placer p = {.graph = graph,
              .devices = devices,
              .num_devices = num_devices,
              .allow_soft_placement = allow_soft_placement,
              .placed = rheos__alloc_array((size_t)count + 1, sizeof *p.placed)};
  if (p.placed == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < count; ++i) {
    const placed what = node_placed(graph, i);
    int32_t asked, device = 0;
    status = find_asked(&p, what.node, &asked);
    if (status == NULL) status = place_by_kernel(&p, &what, asked, &device);
    if (status != NULL) status = rheos__status_at_take(status, graph, i);
    out_devices[i] = (int16_t)device;
  }
  rheos__free(p.placed);
  return status;
}
