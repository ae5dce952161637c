// Sessions with CPUs only compare the device strings of neighbours, which are interned. Kernels and
// colocation matter where a device has a memory of its own.
#include "plan/entries/place.h"

#include <stdio.h>
#include <string.h>

enum { LIST_BYTES = 1024, NOWHERE = -1 };

typedef struct placer {
  rheos__plan *plan;
  // The device string looked at last, and the device that fits it, or NOWHERE.
  const char *asked;
  int32_t found;
  // By node, where there are devices of different memory: one more than its device, 0: not placed
  // yet.
  int16_t *placed;
  int16_t *wanted;  // with it, by value: one more than the device of who takes its bytes; 0: nobody
} placer;

static const rheos__device *device_at(const placer *p, int32_t index) {
  return p->plan->context.devices[index];
}

// ---- Errors

static char *name_of(const placer *p, const rheos__node *node) {
  return rheos__node_name(p->plan->graph, node);
}

// Appends to a list in a text; what does not fit is left out.
static void append(char list[LIST_BYTES], const char *item) {
  const size_t length = strlen(list);
  snprintf(list + length, LIST_BYTES - length, "%s%s", length > 0 ? ", " : "", item);
}

static rheos_status *no_device(const placer *p, const rheos__node *node) {
  char list[LIST_BYTES] = "";
  for (int32_t i = 0; i < p->plan->context.num_devices; ++i) append(list, device_at(p, i)->name);
  char *name = name_of(p, node);
  rheos_status *status = RHEOS_INVALID(
      "Cannot assign a device for operation %s: the operation was explicitly "
      "assigned to %s but available devices are [ %s ]. Make sure the device "
      "specification refers to a valid device.",
      name != NULL ? name : node->signature->op->name, node->device, list);
  rheos__free(name);
  return status;
}

static rheos_status *no_kernel(const placer *p, const rheos__entry *entry, int32_t device) {
  const rheos__plan_context *context = &p->plan->context;
  const rheos__node *node = rheos__plan_node(p->plan, entry->id);
  const rheos__op_def *op = entry->signature->op;
  char list[LIST_BYTES] = "";
  for (int32_t i = 0; i < context->num_devices; ++i) {
    const rheos__device_kind *kind = device_at(p, i)->kind;
    bool is_new = true;
    for (int32_t k = 0; k < i; ++k) is_new = is_new && device_at(p, k)->kind != kind;
    if (is_new && kind->has_kernel(op, entry->attrs)) append(list, kind->name);
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
    for (int32_t i = p->plan->context.num_devices; i-- > 0;) {
      if (rheos__device_name_matches(&wanted, &device_at(p, i)->parsed_name)) p->found = i;
    }
    p->asked = asked;
  }
  *out_device = p->found;
  return NULL;
}

static bool names_cell(const rheos__entry *entry) {
  if (entry->num_inputs > 0 || entry->num_outputs != 1) return false;
  const rheos__arg *output = &entry->signature->outputs[0];
  return output->is_ref || output->dtype == RHEOS_RESOURCE;
}

bool rheos__is_anywhere(const rheos__entry *entry) {
  const rheos__op_def *op = entry->signature->op;
  if (entry->kind != RHEOS__ENTRY_NODE) return false;
  if ((op->flags & RHEOS_OP_CONSTANT) != 0) return true;
  if (names_cell(entry)) return true;
  return entry->num_outputs == 0 && (op->flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) == 0;
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

// Values of these dtypes exist in the host's memory only. A handle has no bytes, but where it
// stands for an object of a step.
static bool is_host_only(const rheos__entry *entry, rheos_dtype dtype) {
  const rheos_dtype base = rheos_dtype_base(dtype);
  if (base == RHEOS_RESOURCE) {
    return (entry->signature->op->flags & (RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_CALLS)) != 0;
  }
  return base == RHEOS_STRING || base == RHEOS_VARIANT;
}

static bool any_host_only(const rheos__plan *plan, const rheos__entry *entry) {
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const int32_t value = plan->operands[entry->first_operand + i];
    if (is_host_only(entry, (rheos_dtype)plan->dtypes[value])) return true;
  }
  for (int32_t i = 0; i < entry->num_outputs; ++i) {
    if (is_host_only(entry, (rheos_dtype)plan->dtypes[entry->first_value + i])) return true;
  }
  return false;
}

static bool fits(const placer *p, const rheos__entry *entry, int32_t device) {
  if (!rheos__is_on_host(device_at(p, device))) {
    if (any_host_only(p->plan, entry)) return false;
    if (rheos__reads_variable(entry)) return true;
    if (entry->kind != RHEOS__ENTRY_NODE) return false;
    if (rheos__is_anywhere(entry) && !names_cell(entry)) return true;
  }
  return device_at(p, device)->kind->has_kernel(entry->signature->op, entry->attrs);
}

// ---- Devices of different memory

// The node that a name in `_class`, such as "loc:@x", stands for; NULL if there is none.
static const rheos__node *leader_of(const placer *p, const rheos__entry *entry, int32_t *out_id) {
  const rheos_attr_value *groups = rheos__attrs_find(entry->attrs, "_class");
  if (groups == NULL || groups->kind != RHEOS_ATTR_LIST_STRING || groups->count == 0) return NULL;
  const rheos_string *group = &groups->strings[0];
  if (group->size_bytes <= 5 || memcmp(group->data, "loc:@", 5) != 0) return NULL;
  char *name = rheos__alloc_zeroed(group->size_bytes - 5 + 1);
  if (name == NULL) return NULL;
  memcpy(name, group->data + 5, group->size_bytes - 5);
  const rheos_operation operation = rheos_graph_operation(p->plan->graph, name);
  rheos__free(name);
  if (operation.graph == NULL) return NULL;
  *out_id = operation.id;
  return rheos__graph_node(p->plan->graph, operation.id);
}

// The device of the variable that the entry takes a reference or handle of, or NOWHERE.
static int32_t device_of_reference(const placer *p, const rheos__entry *entry) {
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const int32_t value = p->plan->operands[entry->first_operand + i];
    const rheos_dtype dtype = (rheos_dtype)p->plan->dtypes[value];
    if (!rheos_dtype_is_ref(dtype) && dtype != RHEOS_RESOURCE) continue;
    const int16_t placed = value < p->plan->num_feeds ? 0 : p->placed[p->plan->origins[value].id];
    return placed > 0 ? placed - 1 : 0;
  }
  return NOWHERE;
}

static int32_t first_that_fits(const placer *p, const rheos__entry *entry) {
  for (int32_t i = 0; i < p->plan->context.num_devices; ++i) {
    if (fits(p, entry, i)) return i;
  }
  return 0;
}

// The device of what the entry has to be beside, if it fits, or NOWHERE.
static rheos_status *find_beside(placer *p, const rheos__entry *entry, int32_t *out_device) {
  int32_t device = device_of_reference(p, entry), leader_id;
  const rheos__node *leader = device == NOWHERE ? leader_of(p, entry, &leader_id) : NULL;
  if (leader != NULL && p->placed[leader_id] > 0) {
    device = p->placed[leader_id] - 1;
  } else if (leader != NULL && leader->device[0] != '\0') {
    RHEOS_TRY(find(p, leader->device, &device));
  }
  *out_device = device != NOWHERE && fits(p, entry, device) ? device : NOWHERE;
  return NULL;
}

// What moves values, or calls a body whose entries have places of their own, needs no kernel of the
// device that it is said to be on.
static bool only_directs(const rheos__entry *entry) {
  const rheos__op_def *op = entry->signature->op;
  const unsigned kinds = RHEOS_OP_CALLS | RHEOS_OP_TAKES_VARIANTS;
  return entry->kind == RHEOS__ENTRY_NODE &&
         (op->flow != RHEOS__FLOW_NONE || (op->flags & kinds) == RHEOS_OP_CALLS);
}

// `asked` is the device that the node asks for, NOWHERE if there is none.
static rheos_status *place_by_kernel(placer *p, rheos__entry *entry, int32_t asked) {
  if (only_directs(entry)) {
    p->placed[entry->id] = (int16_t)(asked == NOWHERE ? 1 : asked + 1);  // for what is beside it
    entry->device = 0;
    return NULL;
  }
  const bool is_explicit = rheos__plan_node(p->plan, entry->id)->device[0] != '\0';
  int32_t device = is_explicit ? asked : NOWHERE;
  if (device != NOWHERE && !fits(p, entry, device)) {
    if (!p->plan->context.allow_soft_placement) return no_kernel(p, entry, device);
    device = NOWHERE;
  }
  if (device == NOWHERE) RHEOS_TRY(find_beside(p, entry, &device));
  if (device == NOWHERE) device = first_that_fits(p, entry);
  entry->device = (int16_t)device;
  p->placed[entry->id] = (int16_t)(device + 1);
  return NULL;
}

// ---- Reads of variables

// Where one device is of a memory of its own, that one.
static void want(const placer *p, int32_t value, int16_t device) {
  const bool is_first = p->wanted[value] == 0;
  if (is_first || rheos__is_on_host(device_at(p, p->wanted[value] - 1))) {
    p->wanted[value] = (int16_t)(device + 1);
  }
}

// Backwards, so that who takes a value has its place before who gives it.
static void place_reads(const placer *p) {
  rheos__plan *plan = p->plan;
  for (int32_t i = plan->num_entries; i-- > 0;) {
    rheos__entry *entry = &plan->entries[i];
    const int32_t value = entry->first_value;
    const bool is_free =
        entry->kind == RHEOS__ENTRY_READ || rheos__plan_node(plan, entry->id)->device[0] == '\0';
    if (rheos__reads_variable(entry) && is_free && p->wanted[value] > 0 &&
        fits(p, entry, p->wanted[value] - 1)) {
      entry->device = (int16_t)(p->wanted[value] - 1);
    }
    if (!rheos__is_anywhere(entry) && !rheos__is_on_host(device_at(p, entry->device))) {
      plan->is_mixed = true;
    }
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      const int32_t input = plan->operands[entry->first_operand + k];
      if (rheos__takes_bytes(plan, entry, input)) want(p, input, entry->device);
    }
  }
}

// ---- All entries

static rheos_status *log_entry(const placer *p, const rheos__entry *entry) {
  if (entry->kind != RHEOS__ENTRY_NODE) return NULL;
  const rheos__node *node = rheos__plan_node(p->plan, entry->id);
  char *name = name_of(p, node);
  if (name == NULL) return rheos__out_of_memory();
  fprintf(stderr, "%s: (%s): %s\n", name, node->signature->op->name,
          rheos__entry_device(p->plan, entry)->name);
  rheos__free(name);
  return NULL;
}

static rheos_status *place(placer *p, rheos__entry *entry) {
  const rheos__plan_context *context = &p->plan->context;
  const rheos__node *node = rheos__plan_node(p->plan, entry->id);
  int32_t device;
  if (entry->kind == RHEOS__ENTRY_WATCH) return NULL;  // the first device is a CPU
  RHEOS_TRY(find(p, node->device, &device));
  if (device == NOWHERE && !context->allow_soft_placement) return no_device(p, node);
  entry->device = (int16_t)(device == NOWHERE ? 0 : device);
  return p->placed != NULL ? place_by_kernel(p, entry, device) : NULL;
}

rheos_status *rheos__place(rheos__plan *plan) {
  placer p = {.plan = plan};
  bool any_memory = false;
  for (int32_t i = 0; i < plan->context.num_devices; ++i) {
    any_memory = any_memory || !rheos__is_on_host(plan->context.devices[i]);
  }
  if (any_memory) {
    const size_t num_nodes = (size_t)rheos__plan_num_ids(plan);
    p.placed = rheos__alloc_array(num_nodes, sizeof *p.placed);
    p.wanted = rheos__alloc_array((size_t)plan->num_values, sizeof *p.wanted);
  }
  const bool ok = !any_memory || (p.placed != NULL && p.wanted != NULL);
  rheos_status *status = ok ? NULL : rheos__out_of_memory();
  for (int32_t i = 0; status == NULL && i < plan->num_entries; ++i) {
    status = place(&p, &plan->entries[i]);
    if (status != NULL) status = rheos__plan_status_at_take(status, plan, plan->entries[i].id);
  }
  if (status == NULL && any_memory) place_reads(&p);
  for (int32_t i = 0; plan->context.log_device_placement && i < plan->num_entries; ++i) {
    if (status == NULL) status = log_entry(&p, &plan->entries[i]);
  }
  rheos__free(p.placed);
  rheos__free(p.wanted);
  return status;
}
