// GraphDefs for use elsewhere: the part of a graph that some outputs need, variables as constants.
// Both work on the message, so that what Rheos does not know goes along; values come from a
// session.
#include <rheos/format.h>

#include "base/hash.h"
#include "format/graph_def.h"
#include "format/tensor_proto.h"
#include "graph/graph.h"

enum { NONE = -1 };

typedef struct part {
  rheos__arena *arena;
  Tensorflow__GraphDef *def;
  int32_t *slots;  // node by name: open addressing, NONE: free
  size_t num_slots;
  bool *kept;  // of each node
  // Of each node while freezing: its variable's value, NULL for other nodes.
  rheos_tensor **values;
  size_t num_values;
} part;

// ---- Names

static size_t name_bytes_of(const char *input) {
  const char *colon = strrchr(input, ':');
  const size_t length = strlen(input);
  if (colon == NULL || colon[1] == '\0' || colon[1 + strspn(colon + 1, "0123456789")] != '\0') {
    return length;
  }
  return (size_t)(colon - input);
}

static int32_t *slot_of(const part *p, const char *name, size_t name_bytes) {
  size_t at = rheos__hash_bytes(0, name, name_bytes) & (p->num_slots - 1);
  for (;; at = (at + 1) & (p->num_slots - 1)) {
    if (p->slots[at] == NONE) return &p->slots[at];
    const char *other = p->def->node[p->slots[at]]->name;
    if (strncmp(other, name, name_bytes) == 0 && other[name_bytes] == '\0') return &p->slots[at];
  }
}

// The node of an input as it is written: "x", "x:1" or "^x".
static int32_t node_of(const part *p, const char *input) {
  input += input[0] == '^';
  return *slot_of(p, input, name_bytes_of(input));
}

static rheos_status *read_part(part *p, const void *bytes, size_t size_bytes) {
  RHEOS_TRY(RHEOS_PROTO_UNPACK(graph_def, bytes, size_bytes, p->arena, &p->def));
  if (p->def->n_node > INT32_MAX / 4) {
    return RHEOS_INVALID("%zu nodes are too many", p->def->n_node);
  }
  p->num_slots = 16;
  while (p->num_slots < p->def->n_node * 2) p->num_slots *= 2;
  p->slots = rheos__arena_alloc(p->arena, p->num_slots * sizeof *p->slots);
  p->kept = rheos__arena_alloc_zeroed(p->arena, p->def->n_node);
  if (p->slots == NULL || p->kept == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < p->num_slots; i++) p->slots[i] = NONE;
  for (size_t i = 0; i < p->def->n_node; i++) {
    const char *name = p->def->node[i]->name;
    *slot_of(p, name, strlen(name)) = (int32_t)i;
  }
  return NULL;
}

// ---- The part that is needed

static void push(part *p, int32_t *stack, size_t *depth, int32_t node) {
  if (node == NONE || p->kept[node]) return;
  p->kept[node] = true;
  stack[(*depth)++] = node;
}

static rheos_status *find_needed(part *p, const char *const *outputs, size_t num_outputs) {
  int32_t *stack = rheos__arena_alloc(p->arena, p->def->n_node * sizeof *stack);
  if (stack == NULL) return rheos__out_of_memory();
  size_t depth = 0;
  for (size_t i = 0; i < num_outputs; i++) {
    const int32_t node = node_of(p, outputs[i]);
    if (node == NONE) return RHEOS_NOTFOUND("the graph has no node '%s'", outputs[i]);
    push(p, stack, &depth, node);
  }
  while (depth > 0) {
    const Tensorflow__NodeDef *def = p->def->node[stack[--depth]];
    for (size_t i = 0; i < def->n_input; i++) push(p, stack, &depth, node_of(p, def->input[i]));
  }
  return NULL;
}

// "loc:@name" of nodes that are gone would keep the graph from being imported.
static void drop_colocations(const part *p, Tensorflow__NodeDef *def) {
  static const char start[] = "loc:@";
  const size_t start_bytes = sizeof start - 1;
  for (size_t i = 0; i < def->n_attr; i++) {
    Tensorflow__AttrValue *value = def->attr[i]->value;
    if (strcmp(def->attr[i]->key, "_class") != 0 || value == NULL ||
        value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST) {
      continue;
    }
    size_t count = 0;
    for (size_t k = 0; k < value->list->n_s; k++) {
      const ProtobufCBinaryData text = value->list->s[k];
      if (text.len > start_bytes && memcmp(text.data, start, start_bytes) == 0) {
        const int32_t node =
            *slot_of(p, (const char *)text.data + start_bytes, text.len - start_bytes);
        if (node == NONE || !p->kept[node]) continue;
      }
      value->list->s[count++] = text;
    }
    value->list->n_s = count;
    if (count > 0) continue;
    def->attr[i--] = def->attr[--def->n_attr];
  }
}

static rheos_status *write_part(part *p, Tensorflow__NodeDef **nodes, size_t count,
                                void **out_bytes, size_t *out_size_bytes) {
  for (size_t i = 0; i < count; i++) drop_colocations(p, nodes[i]);
  p->def->node = nodes;
  p->def->n_node = count;
  rheos__buffer buffer = {0};
  rheos__proto_pack(&p->def->base, &buffer);
  rheos_status *status = buffer.failed ? rheos__out_of_memory() : NULL;
  if (status == NULL && buffer.size_bytes > INT32_MAX) {
    status = RHEOS_INVALID("the graph has %zu bytes, and no message may have more than 2 GB",
                           buffer.size_bytes);
  }
  if (status != NULL) {
    rheos__buffer_deinit(&buffer);
    return status;
  }
  *out_bytes = buffer.data;
  *out_size_bytes = buffer.size_bytes;
  return NULL;
}

static rheos_status *strip(part *p, const void *bytes, size_t size_bytes,
                           const char *const *outputs, size_t num_outputs, void **out_bytes,
                           size_t *out_size_bytes) {
  RHEOS_TRY(read_part(p, bytes, size_bytes));
  RHEOS_TRY(find_needed(p, outputs, num_outputs));
  Tensorflow__NodeDef **nodes = rheos__arena_alloc(p->arena, p->def->n_node * sizeof *nodes);
  if (nodes == NULL) return rheos__out_of_memory();
  size_t count = 0;
  for (size_t i = 0; i < p->def->n_node; i++) {
    if (p->kept[i]) nodes[count++] = p->def->node[i];
  }
  return write_part(p, nodes, count, out_bytes, out_size_bytes);
}

rheos_status *rheos_graph_def_strip(const void *bytes, size_t size_bytes,
                                    const char *const *outputs, size_t num_outputs,
                                    void **out_bytes, size_t *out_size_bytes) {
  *out_bytes = NULL;
  *out_size_bytes = 0;
  rheos__arena arena;
  rheos__arena_init(&arena);
  part p = {.arena = &arena};
  rheos_status *status =
      strip(&p, bytes, size_bytes, outputs, num_outputs, out_bytes, out_size_bytes);
  rheos__arena_deinit(&arena);
  return status;
}

// ---- Values of variables

static bool is_one_of(const char *op, const char *const *names) {
  for (; *names != NULL; names++) {
    if (strcmp(op, *names) == 0) return true;
  }
  return false;
}

static bool is_handle(const Tensorflow__NodeDef *def) {
  return strcmp(def->op, "VarHandleOp") == 0;
}

static bool is_variable(const Tensorflow__NodeDef *def) {
  static const char *const names[] = {"VarHandleOp", "VariableV2", "Variable", NULL};
  return is_one_of(def->op, names);
}

// Ops whose output is what their input 0 refers to.
static bool passes_on(const Tensorflow__NodeDef *def) {
  static const char *const names[] = {"Identity", "RefIdentity", "Switch", "RefSwitch",
                                      "Enter",    "RefEnter",    NULL};
  return def->n_input > 0 && is_one_of(def->op, names);
}

// The variable that a node is, or passes on; NONE for others.
static int32_t variable_behind(const part *p, int32_t node) {
  for (size_t steps = 0; node != NONE && steps <= p->def->n_node; steps++) {
    const Tensorflow__NodeDef *def = p->def->node[node];
    if (is_variable(def)) return node;
    if (!passes_on(def)) return NONE;
    node = node_of(p, def->input[0]);
  }
  return NONE;
}

// Reads all variables that are kept in one step. Handles are read by nodes added for it.
static rheos_status *read_values(part *p, rheos_session *session, rheos_scope *scope) {
  rheos_fetch *fetches = rheos__arena_alloc(p->arena, p->def->n_node * sizeof *fetches);
  p->values = rheos__arena_alloc_zeroed(p->arena, p->def->n_node * sizeof *p->values);
  if (fetches == NULL || p->values == NULL) return rheos__out_of_memory();
  p->num_values = p->def->n_node;
  size_t count = 0;
  for (size_t i = 0; i < p->def->n_node; i++) {
    const Tensorflow__NodeDef *def = p->def->node[i];
    if (!p->kept[i] || !is_variable(def)) continue;
    rheos_operation operation = rheos_graph_operation(rheos_session_graph(session), def->name);
    if (operation.graph == NULL) {
      return RHEOS_NOTFOUND("the session's graph has no variable '%s'", def->name);
    }
    rheos_output output = rheos_operation_output(operation, 0);
    if (is_handle(def)) {
      const rheos_attr dtype = {"dtype", rheos_operation_attr(operation, "dtype")};
      const rheos_op_args read = {.type = "ReadVariableOp",
                                  .inputs = &output,
                                  .num_inputs = 1,
                                  .attrs = &dtype,
                                  .num_attrs = 1};
      output = rheos_operation_output(rheos_op(scope, &read), 0);
    }
    fetches[count++] = (rheos_fetch){output, NULL};
  }
  RHEOS_TRY(rheos_scope_finish(scope));
  if (count > 0) {
    RHEOS_TRY(rheos_session_run(session, NULL, 0, fetches, count, NULL, 0, NULL));
  }
  count = 0;
  for (size_t i = 0; i < p->def->n_node; i++) {
    if (p->kept[i] && is_variable(p->def->node[i])) p->values[i] = fetches[count++].value;
  }
  return NULL;
}

// ---- Nodes in place of others

// An attribute in the arena, at `*out_entry`; the value is the caller's to fill.
static rheos_status *new_attr(const part *p, const char *key,
                              Tensorflow__AttrValue__ValueCase kind,
                              Tensorflow__NodeDef__AttrEntry **out_entry) {
  Tensorflow__NodeDef__AttrEntry *entry = rheos__arena_alloc(p->arena, sizeof *entry);
  Tensorflow__AttrValue *value = rheos__arena_alloc(p->arena, sizeof *value);
  char *copy = rheos__arena_strdup(p->arena, key);
  if (entry == NULL || value == NULL || copy == NULL) return rheos__out_of_memory();
  tensorflow__attr_value__init(value);
  tensorflow__node_def__attr_entry__init(entry);
  value->value_case = kind;
  entry->key = copy;
  entry->value = value;
  *out_entry = entry;
  return NULL;
}

static rheos_status *new_type(const part *p, const char *key, rheos_dtype dtype,
                              Tensorflow__NodeDef__AttrEntry **out_entry) {
  RHEOS_TRY(new_attr(p, key, TENSORFLOW__ATTR_VALUE__VALUE_TYPE, out_entry));
  (*out_entry)->value->type = (Tensorflow__DataType)dtype;
  return NULL;
}

// Room for so many attributes; the node has none then.
static rheos_status *clear_attrs(const part *p, Tensorflow__NodeDef *def, size_t capacity) {
  def->n_attr = 0;
  def->attr = rheos__arena_alloc(p->arena, capacity * sizeof *def->attr);
  return def->attr != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *become(const part *p, Tensorflow__NodeDef *def, const char *op) {
  def->op = rheos__arena_strdup(p->arena, op);
  return def->op != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *become_constant(const part *p, Tensorflow__NodeDef *def,
                                     const rheos_tensor *value) {
  RHEOS_TRY(become(p, def, "Const"));
  RHEOS_TRY(clear_attrs(p, def, 2));
  RHEOS_TRY(new_type(p, "dtype", rheos_tensor_dtype(value), &def->attr[def->n_attr]));
  def->n_attr++;
  RHEOS_TRY(new_attr(p, "value", TENSORFLOW__ATTR_VALUE__VALUE_TENSOR, &def->attr[def->n_attr]));
  return rheos__tensor_to_proto(value, p->arena, &def->attr[def->n_attr++]->value->tensor);
}

static rheos_status *set_type(const part *p, Tensorflow__NodeDef *def, const char *key,
                              rheos_dtype dtype) {
  for (size_t i = 0; i < def->n_attr; i++) {
    if (strcmp(def->attr[i]->key, key) == 0) return new_type(p, key, dtype, &def->attr[i]);
  }
  return NULL;
}

static rheos_status *read_to_identity(const part *p, Tensorflow__NodeDef *def,
                                      rheos_dtype dtype) {
  RHEOS_TRY(become(p, def, "Identity"));
  RHEOS_TRY(clear_attrs(p, def, 1));
  return new_type(p, "T", dtype, &def->attr[def->n_attr++]);
}

static const Tensorflow__AttrValue *find_attr(const Tensorflow__NodeDef *def, const char *key) {
  for (size_t i = 0; i < def->n_attr; i++) {
    if (strcmp(def->attr[i]->key, key) == 0) return def->attr[i]->value;
  }
  return NULL;
}

// ResourceGather(handle, indices) is GatherV2(values, indices, axis) along the batch dimensions;
// the axis is a constant of its own.
static rheos_status *gather_to_gather(const part *p, Tensorflow__NodeDef *def, rheos_dtype dtype,
                                      Tensorflow__NodeDef **out_axis) {
  const Tensorflow__AttrValue *batch = find_attr(def, "batch_dims");
  const Tensorflow__AttrValue *indices = find_attr(def, "Tindices");
  if (def->n_input < 2 || indices == NULL) {
    return RHEOS_INVALID("node '%s' is no sound ResourceGather", def->name);
  }
  const int32_t batch_dims = batch != NULL ? (int32_t)batch->i : 0;
  const rheos_dtype index_dtype = (rheos_dtype)indices->type;
  Tensorflow__NodeDef *axis = rheos__arena_alloc(p->arena, sizeof *axis);
  char **inputs = rheos__arena_alloc(p->arena, (def->n_input + 1) * sizeof *inputs);
  char *name = rheos__arena_alloc(p->arena, strlen(def->name) + sizeof "/axis");
  static char empty[] = "";
  if (axis == NULL || inputs == NULL || name == NULL) return rheos__out_of_memory();
  memcpy(name, def->name, strlen(def->name));
  memcpy(name + strlen(def->name), "/axis", sizeof "/axis");
  tensorflow__node_def__init(axis);
  axis->name = name;
  axis->device = empty;
  rheos_tensor *value;
  RHEOS_TRY(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &batch_dims, &value));
  rheos_status *status = become_constant(p, axis, value);
  rheos_tensor_unref(value);
  if (status != NULL) return status;
  memcpy(inputs, def->input, 2 * sizeof *inputs);
  inputs[2] = name;
  memcpy(inputs + 3, def->input + 2, (def->n_input - 2) * sizeof *inputs);
  def->input = inputs;
  def->n_input++;
  RHEOS_TRY(become(p, def, "GatherV2"));
  RHEOS_TRY(clear_attrs(p, def, 4));
  RHEOS_TRY(new_type(p, "Tparams", dtype, &def->attr[def->n_attr++]));
  RHEOS_TRY(new_type(p, "Tindices", index_dtype, &def->attr[def->n_attr++]));
  RHEOS_TRY(new_type(p, "Taxis", RHEOS_INT32, &def->attr[def->n_attr++]));
  *out_axis = axis;
  if (batch_dims == 0) return NULL;
  RHEOS_TRY(new_attr(p, "batch_dims", TENSORFLOW__ATTR_VALUE__VALUE_I, &def->attr[def->n_attr]));
  def->attr[def->n_attr++]->value->i = batch_dims;
  return NULL;
}

// Whether the op writes through, or keeps, a reference that it takes.
static bool takes_reference(rheos_graph *graph, const char *op) {
  const rheos__signature *signature = rheos__graph_signature(graph, op);
  for (int32_t i = 0; signature != NULL && i < signature->num_inputs; i++) {
    if (signature->inputs[i].is_ref) return true;
  }
  return false;
}

static rheos_status *cannot_freeze(const Tensorflow__NodeDef *def, const char *variable) {
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "variable '%s' cannot become a constant: node '%s' (%s) needs it as a "
                          "variable",
                          variable, def->name, def->op);
}

// Changes a node that takes a variable as its input `input`.
static rheos_status *freeze_use(const part *p, rheos_graph *graph, Tensorflow__NodeDef *def,
                                size_t input, int32_t variable, Tensorflow__NodeDef **out_axis) {
  const rheos_dtype dtype = rheos_tensor_dtype(p->values[variable]);
  if (passes_on(def)) {
    if (strncmp(def->op, "Ref", 3) == 0) RHEOS_TRY(become(p, def, def->op + 3));
    return set_type(p, def, "T", dtype);
  }
  const Tensorflow__NodeDef *variable_def = p->def->node[variable];
  if (!is_handle(variable_def)) {
    return takes_reference(graph, def->op) ? cannot_freeze(def, variable_def->name) : NULL;
  }
  if (input == 0 && strcmp(def->op, "ReadVariableOp") == 0) return read_to_identity(p, def, dtype);
  if (input == 0 && strcmp(def->op, "ResourceGather") == 0) {
    return gather_to_gather(p, def, dtype, out_axis);
  }
  return cannot_freeze(def, variable_def->name);
}

// Nodes that take variables first, while these still say what they are.
static rheos_status *freeze_nodes(const part *p, rheos_graph *graph, Tensorflow__NodeDef **nodes,
                                  size_t *out_count) {
  const size_t num_nodes = p->def->n_node;
  int32_t *variables = rheos__arena_alloc(p->arena, num_nodes * sizeof *variables);
  if (variables == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < num_nodes; i++) {
    variables[i] = p->kept[i] ? variable_behind(p, (int32_t)i) : NONE;
  }
  size_t count = 0;
  for (size_t i = 0; i < num_nodes; i++) {
    Tensorflow__NodeDef *def = p->def->node[i], *axis = NULL;
    const size_t num_inputs = def->n_input;
    for (size_t k = 0; p->kept[i] && k < num_inputs && def->input[k][0] != '^'; k++) {
      const int32_t from = node_of(p, def->input[k]);
      if (from == NONE || variables[from] == NONE) continue;
      RHEOS_TRY(freeze_use(p, graph, def, k, variables[from], &axis));
      if (axis != NULL) break;  // its inputs have moved
    }
    if (axis != NULL) nodes[count++] = axis;
    if (p->kept[i]) nodes[count++] = def;
  }
  for (size_t i = 0; i < num_nodes; i++) {
    if (p->values[i] != NULL) RHEOS_TRY(become_constant(p, p->def->node[i], p->values[i]));
  }
  *out_count = count;
  return NULL;
}

static rheos_status *freeze(part *p, const void *bytes, size_t size_bytes, rheos_session *session,
                            const char *const *outputs, size_t num_outputs, void **out_bytes,
                            size_t *out_size_bytes) {
  RHEOS_TRY(read_part(p, bytes, size_bytes));
  RHEOS_TRY(find_needed(p, outputs, num_outputs));
  rheos_graph *graph = rheos_session_graph(session);
  rheos_scope *scope = rheos_scope_new(graph);
  if (scope == NULL) return rheos__out_of_memory();
  rheos_push_name_scope(scope, "freeze");
  rheos_status *status = read_values(p, session, scope);
  rheos_scope_free(scope);
  if (status != NULL) return status;
  // An axis for each gather may be added.
  Tensorflow__NodeDef **nodes = rheos__arena_alloc(p->arena, 2 * p->def->n_node * sizeof *nodes);
  size_t count = 0;
  if (nodes == NULL) return rheos__out_of_memory();
  RHEOS_TRY(freeze_nodes(p, graph, nodes, &count));
  return write_part(p, nodes, count, out_bytes, out_size_bytes);
}

rheos_status *rheos_graph_def_freeze(const void *bytes, size_t size_bytes, rheos_session *session,
                                     const char *const *outputs, size_t num_outputs,
                                     void **out_bytes, size_t *out_size_bytes) {
  *out_bytes = NULL;
  *out_size_bytes = 0;
  rheos__arena arena;
  rheos__arena_init(&arena);
  part p = {.arena = &arena};
  rheos_status *status =
      freeze(&p, bytes, size_bytes, session, outputs, num_outputs, out_bytes, out_size_bytes);
  for (size_t i = 0; p.values != NULL && i < p.num_values; i++) rheos_tensor_unref(p.values[i]);
  rheos__arena_deinit(&arena);
  return status;
}
