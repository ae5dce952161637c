// GraphDef to graph. Nodes come in any order, so they are added by a walk along their inputs, with
// a stack of its own; a file already in order keeps it. Ops, names, inputs and cycles are checked
// before the first node is added.
#include <stdlib.h>

#include "base/hash.h"
#include "format/graph_def.h"
#include "format/tensor_proto.h"

// Graphs of this producer or an older one say [] for a placeholder of any shape.
enum { LAST_PRODUCER_WITHOUT_SCALAR_PLACEHOLDERS = 23 };

enum { NOT_ADDED = -1, BEING_ADDED = -2 };

typedef struct import {
  rheos_scope *scope;
  const char *prefix;
  const Tensorflow__GraphDef *def;
  int32_t producer;
  int32_t num_nodes;
  int32_t *ids;      // of each node in the graph
  int32_t *order;    // in which they are added
  int32_t *slots;    // node by name: open addressing, -1: free
  size_t num_slots;  // a power of two
  rheos__arena arena;
} import;

// ---- Names

// An input as it is written: "x", "x:1" or "^x".
typedef struct input_ref {
  const char *name;
  size_t name_bytes;
  int32_t index;  // -1: control
} input_ref;

static bool parse_input(const char *text, input_ref *out_ref) {
  bool is_control = text[0] == '^';
  *out_ref = (input_ref){text + is_control, strlen(text) - is_control, is_control ? -1 : 0};
  const char *colon = is_control ? NULL : strrchr(text, ':');
  if (colon != NULL) {
    size_t digits = strspn(colon + 1, "0123456789");
    if (digits == 0 || digits > 9 || colon[1 + digits] != '\0') return false;
    out_ref->name_bytes = (size_t)(colon - text);
    out_ref->index = (int32_t)strtol(colon + 1, NULL, 10);
  }
  return out_ref->name_bytes > 0;
}

// The slot of the name: free, or with a node of that name.
static int32_t *slot_of(import *im, const char *name, size_t name_bytes) {
  size_t at = rheos__hash_bytes(0, name, name_bytes) & (im->num_slots - 1);
  for (;; at = (at + 1) & (im->num_slots - 1)) {
    if (im->slots[at] < 0) return &im->slots[at];
    const char *other = im->def->node[im->slots[at]]->name;
    if (strncmp(other, name, name_bytes) == 0 && other[name_bytes] == '\0') return &im->slots[at];
  }
}

static rheos_status *index_names(import *im) {
  im->num_slots = 16;
  while (im->num_slots < (size_t)im->num_nodes * 2) im->num_slots *= 2;
  im->slots = rheos__arena_alloc(&im->arena, im->num_slots * sizeof *im->slots);
  if (im->slots == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < im->num_slots; i++) im->slots[i] = -1;
  for (int32_t i = 0; i < im->num_nodes; i++) {
    const char *name = im->def->node[i]->name;
    if (name[0] == '\0') return RHEOS_INVALID("node %d of the graph has no name", i);
    int32_t *slot = slot_of(im, name, strlen(name));
    if (*slot >= 0) return RHEOS_INVALID("the graph has two nodes called '%s'", name);
    *slot = i;
  }
  return NULL;
}

static rheos_status *find_input(import *im, int32_t node, size_t input, int32_t *out_node,
                                int32_t *out_index) {
  const Tensorflow__NodeDef *def = im->def->node[node];
  input_ref ref;
  if (!parse_input(def->input[input], &ref)) {
    return RHEOS_INVALID("Node '%s': '%s' is not a valid input", def->name, def->input[input]);
  }
  *out_node = *slot_of(im, ref.name, ref.name_bytes);
  *out_index = ref.index;
  if (*out_node >= 0) return NULL;
  return RHEOS_INVALID("Node '%s': Unknown input node '%s'", def->name, def->input[input]);
}

// ---- What can be checked beforehand

enum { MAX_LISTED = 64 };

// "'A', 'B'" of all these names.
static rheos_status *not_registered(const char *const *ops, size_t count, bool has_functions) {
  rheos__buffer list = {0};
  for (size_t i = 0; i < count; i++) {
    rheos__buffer_put(&list, i > 0 ? ", '" : "'", i > 0 ? 3 : 1);
    rheos__buffer_put(&list, ops[i], strlen(ops[i]));
    rheos__buffer_put(&list, "'", 1);
  }
  rheos_status *status =
      list.failed ? rheos__out_of_memory()
                  : RHEOS_NOTFOUND(
                        "Op type not registered %.*s%s", (int)list.size_bytes, list.data,
                        has_functions ? " (functions of a graph's library are not supported)" : "");
  rheos__buffer_deinit(&list);
  return status;
}

// All ops that are missing, in one message.
static rheos_status *check_ops(import *im) {
  const char *missing[MAX_LISTED];
  size_t count = 0;
  for (int32_t i = 0; i < im->num_nodes && count < MAX_LISTED; i++) {
    const char *op = im->def->node[i]->op;
    if (rheos__signature_by_name(op) != NULL) continue;
    size_t known = 0;
    while (known < count && strcmp(missing[known], op) != 0) known++;
    if (known == count) missing[count++] = op;
  }
  bool has_functions = im->def->library != NULL && im->def->library->n_function > 0;
  return count > 0 ? not_registered(missing, count, has_functions) : NULL;
}

// ---- The order

typedef struct visit {
  int32_t node;
  size_t next_input;
} visit;

// Goes on with the visit on top of the stack: pushes its next input that is not ordered yet, or
// orders the node itself.
static rheos_status *visit_step(import *im, visit *stack, int32_t *depth, int32_t *num_ordered) {
  visit *top = &stack[*depth - 1];
  const Tensorflow__NodeDef *def = im->def->node[top->node];
  while (top->next_input < def->n_input) {
    int32_t input, unused;
    RHEOS_TRY(find_input(im, top->node, top->next_input++, &input, &unused));
    if (im->ids[input] == BEING_ADDED) {
      return RHEOS_INVALID(
          "Node '%s': its input '%s' depends on it; graphs with loops are not "
          "supported",
          def->name, im->def->node[input]->name);
    }
    if (im->ids[input] != NOT_ADDED) continue;
    im->ids[input] = BEING_ADDED;
    stack[(*depth)++] = (visit){input, 0};
    return NULL;
  }
  im->ids[top->node] = *num_ordered;
  im->order[(*num_ordered)++] = top->node;
  (*depth)--;
  return NULL;
}

static rheos_status *find_order(import *im) {
  size_t count = (size_t)im->num_nodes;
  im->ids = rheos__arena_alloc(&im->arena, count * sizeof *im->ids);
  im->order = rheos__arena_alloc(&im->arena, count * sizeof *im->order);
  visit *stack = rheos__arena_alloc(&im->arena, count * sizeof *stack);
  if (im->ids == NULL || im->order == NULL || stack == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) im->ids[i] = NOT_ADDED;
  int32_t num_ordered = 0;
  for (int32_t i = 0; i < im->num_nodes; i++) {
    if (im->ids[i] != NOT_ADDED) continue;
    int32_t depth = 1;
    im->ids[i] = BEING_ADDED;
    stack[0] = (visit){i, 0};
    while (depth > 0) RHEOS_TRY(visit_step(im, stack, &depth, &num_ordered));
  }
  return NULL;
}

// ---- Adding a node

// What is read of one node, in one arena.
typedef struct new_node {
  const Tensorflow__NodeDef *def;
  rheos__arena *arena;
  rheos_output *inputs;
  size_t num_inputs;
  rheos_operation *controls;
  size_t num_controls;
  rheos_attr *attrs;
  size_t num_attrs;
} new_node;

static rheos_status *read_inputs(import *im, int32_t node, new_node *n) {
  size_t count = n->def->n_input;
  n->inputs = rheos__arena_alloc(n->arena, count * sizeof *n->inputs);
  n->controls = rheos__arena_alloc(n->arena, count * sizeof *n->controls);
  if (n->inputs == NULL || n->controls == NULL) return rheos__out_of_memory();
  rheos_graph *graph = rheos_scope_graph(im->scope);
  for (size_t i = 0; i < count; i++) {
    int32_t input, index;
    RHEOS_TRY(find_input(im, node, i, &input, &index));
    rheos_operation operation = {graph, im->ids[input]};
    if (index < 0) {
      n->controls[n->num_controls++] = operation;
      continue;
    }
    if (n->num_controls > 0) {
      return RHEOS_INVALID("Node '%s': input '%s' comes after a control input", n->def->name,
                           n->def->input[i]);
    }
    if (index >= rheos_operation_num_outputs(operation)) {
      return RHEOS_INVALID("Node '%s': input '%s', but the node has %d outputs", n->def->name,
                           n->def->input[i], rheos_operation_num_outputs(operation));
    }
    n->inputs[n->num_inputs++] = rheos_operation_output(operation, index);
  }
  return NULL;
}

// Attributes the op has, and private ones; not shapes that an earlier program inferred.
static bool is_wanted(const rheos__signature *signature, const char *name) {
  if (strcmp(name, "_output_shapes") == 0) return false;
  if (name[0] == '_') return true;
  for (int32_t i = 0; i < signature->num_attrs; i++) {
    if (strcmp(signature->attrs[i].name, name) == 0) return true;
  }
  return false;
}

static void mend_placeholder(const import *im, const new_node *n, const char *name,
                             rheos_attr_value *value) {
  if (im->producer <= LAST_PRODUCER_WITHOUT_SCALAR_PLACEHOLDERS &&
      value->kind == RHEOS_ATTR_SHAPE && value->shape->rank == 0 &&
      strcmp(n->def->op, "Placeholder") == 0 && strcmp(name, "shape") == 0) {
    static const rheos_shape unknown = {.rank = -1};
    value->shape = &unknown;
  }
}

static rheos_status *read_attrs(const import *im, new_node *n) {
  const rheos__signature *signature = rheos__signature_by_name(n->def->op);
  n->attrs = rheos__arena_alloc(n->arena, n->def->n_attr * sizeof *n->attrs);
  if (n->attrs == NULL || signature == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < n->def->n_attr; i++) {
    const Tensorflow__NodeDef__AttrEntry *entry = n->def->attr[i];
    if (!is_wanted(signature, entry->key)) continue;
    rheos_attr *attr = &n->attrs[n->num_attrs];
    attr->name = entry->key;
    rheos_status *status = rheos__attr_from_proto(entry->value, n->arena, &attr->value);
    if (status != NULL) {
      rheos_status *named =
          rheos_status_new(rheos_status_code(status), "Node '%s', attribute '%s': %s", n->def->name,
                           entry->key, rheos_status_message(status));
      rheos_status_free(status);
      return named;
    }
    mend_placeholder(im, n, attr->name, &attr->value);
    n->num_attrs++;
  }
  return NULL;
}

// "prefix/name/": with the last "/" a name is taken as it is.
static char *exact_name(const import *im, const new_node *n) {
  size_t prefix_bytes = strlen(im->prefix), name_bytes = strlen(n->def->name);
  char *name = rheos__arena_alloc(n->arena, prefix_bytes + name_bytes + 3);
  if (name == NULL) return NULL;
  char *at = name;
  if (prefix_bytes > 0) {
    memcpy(at, im->prefix, prefix_bytes);
    at += prefix_bytes;
    *at++ = '/';
  }
  memcpy(at, n->def->name, name_bytes);
  memcpy(at + name_bytes, "/", 2);
  return name;
}

// Colocations name nodes of the same file: "loc:@name".
static rheos_status *prefix_colocations(const import *im, const new_node *n) {
  static const char start[] = "loc:@";
  size_t start_bytes = sizeof start - 1, prefix_bytes = strlen(im->prefix);
  for (size_t i = 0; i < n->num_attrs && prefix_bytes > 0; i++) {
    if (strcmp(n->attrs[i].name, "_class") != 0) continue;
    const rheos_attr_value *value = &n->attrs[i].value;
    if (value->kind != RHEOS_ATTR_LIST_STRING) continue;
    for (int32_t k = 0; k < value->count; k++) {
      rheos_string *text = (rheos_string *)(uintptr_t)&value->strings[k];
      if (text->size_bytes < start_bytes || memcmp(text->data, start, start_bytes) != 0) continue;
      size_t size_bytes = text->size_bytes + prefix_bytes + 1;
      char *longer = rheos__arena_alloc(n->arena, size_bytes);
      if (longer == NULL) return rheos__out_of_memory();
      memcpy(longer, start, start_bytes);
      memcpy(longer + start_bytes, im->prefix, prefix_bytes);
      longer[start_bytes + prefix_bytes] = '/';
      memcpy(longer + start_bytes + prefix_bytes + 1, text->data + start_bytes,
             text->size_bytes - start_bytes);
      *text = (rheos_string){longer, size_bytes};
    }
  }
  return NULL;
}

static rheos_status *read_node(import *im, int32_t node, new_node *n) {
  RHEOS_TRY(read_inputs(im, node, n));
  RHEOS_TRY(read_attrs(im, n));
  return prefix_colocations(im, n);
}

static void add_node(import *im, int32_t node) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  new_node n = {.def = im->def->node[node], .arena = &arena};
  rheos_status *status = read_node(im, node, &n);
  char *name = status == NULL ? exact_name(im, &n) : NULL;
  if (status == NULL && name == NULL) status = rheos__out_of_memory();
  if (status != NULL) {
    rheos_scope_fail_take(im->scope, status);
  } else {
    im->ids[node] = rheos_op(im->scope, &(rheos_op_args){.type = n.def->op,
                                                         .name = name,
                                                         .inputs = n.inputs,
                                                         .num_inputs = n.num_inputs,
                                                         .attrs = n.attrs,
                                                         .num_attrs = n.num_attrs,
                                                         .control_inputs = n.controls,
                                                         .num_control_inputs = n.num_controls,
                                                         .device = n.def->device})
                        .id;
  }
  for (size_t i = 0; i < n.num_attrs; i++) rheos__attr_release(&n.attrs[i].value);
  rheos__arena_deinit(&arena);
}

// ---- The whole

static rheos_status *prepare(import *im, const void *bytes, size_t size_bytes) {
  RHEOS_TRY(RHEOS_PROTO_UNPACK(graph_def, bytes, size_bytes, &im->arena, &im->def));
  if (im->def->n_node > INT32_MAX / 4) {
    return RHEOS_INVALID("%zu nodes are too many", im->def->n_node);
  }
  im->num_nodes = (int32_t)im->def->n_node;
  im->producer = im->def->versions != NULL ? im->def->versions->producer : im->def->version;
  if (im->def->versions != NULL && im->def->versions->min_consumer > RHEOS__GRAPH_PRODUCER) {
    return RHEOS_INVALID("the graph asks for version %d of the graph format, this is version %d",
                         im->def->versions->min_consumer, RHEOS__GRAPH_PRODUCER);
  }
  RHEOS_TRY(check_ops(im));
  RHEOS_TRY(index_names(im));
  return find_order(im);
}

void rheos_import_graph_def(rheos_scope *scope, const void *bytes, size_t size_bytes,
                            const rheos_import_options *options) {
  if (rheos_scope_status(scope) != NULL) return;
import im = {.scope = scope, .prefix = "" };
  if (options != NULL && options->prefix != NULL) im.prefix = options->prefix;
  rheos__arena_init(&im.arena);
  rheos_status *status = prepare(&im, bytes, size_bytes);
  if (status != NULL) rheos_scope_fail_take(scope, status);
  for (int32_t i = 0; i < im.num_nodes && rheos_scope_status(scope) == NULL; i++) {
    add_node(&im, im.order[i]);
  }
  rheos__arena_deinit(&im.arena);
}
