// GraphDef to graph. Nodes come in any order, so they are added by a walk along their inputs, with
// a stack of its own; a file already in order keeps it. Ops, names, inputs and cycles are checked
// before the first node is added. A loop's way back, from a NextIteration to a Merge, is put in
// place when all nodes are there.
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "format/graph_extras.h"
#include "format/graph_outline.h"
#include "format/tensor_proto.h"
#include "graph/build.h"
#include "graph/op_tally.h"

// Graphs of this producer or an older one say [] for a placeholder of any shape.
enum { LAST_PRODUCER_WITHOUT_SCALAR_PLACEHOLDERS = 23 };

enum { NOT_ADDED = -1 };

// The attribute in which programs write the shapes that they inferred or were told.
static const char OUTPUT_SHAPES[] = "_output_shapes";

// Where a node of an op that is not known is an input.
typedef struct use {
  int32_t node, input;  // the node that takes it, and as which input
  int32_t index;        // the output taken
  int32_t next;         // the next use of the same node, -1: none
} use;

// An input as it is written: "x", "x:1" or "^x".
typedef struct input_ref {
  const char *name;
  size_t name_bytes;
  int32_t index;  // -1: control
} input_ref;

// Where an input comes from: a node of the file, or a mapping.
typedef struct source {
  int32_t node;
  int32_t index;  // -1: control
  rheos_import_mapping *mapping;
} source;

// A node by its name: open addressing, -1: free.
typedef struct slot {
  uint32_t hash;
  int32_t node;
} slot;

typedef struct import {
  rheos_scope *scope;
  rheos_graph *graph;
  const char *prefix;
  rheos_import_mapping *input_map;
  size_t num_mappings;
  input_ref *mapping_refs;  // what they map
  rheos_import_element *elements;  // to return
  size_t num_elements;
  bool keep_unknown_ops, clear_devices;
  Tensorflow__OpDef **ops;  // of the program that wrote the graph, by name
  size_t num_ops;
  const Tensorflow__GraphDef *def;  // its nodes without attributes and what is rarer
  const rheos__wire *node_bytes;    // of each node, all of it
  int32_t producer;
  int32_t num_nodes;
  int32_t *ids;    // of each node in the graph
  int32_t *order;  // in which they are added
  bool has_loops;
  use *uses;            // NULL: all ops are known
  int32_t *first_uses;  // of each node, -1: none
  slot *slots;
  size_t num_slots;      // a power of two
  bool uniquify_names;
  const char **names;    // of each node, where it gets another one than it has; NULL: none does
  source **sources;      // of each node's inputs
  rheos__arena scratch;  // of the node that is being added
  rheos__arena arena;
} import;

// ---- Names

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
static slot *slot_of(import *im, const char *name, size_t name_bytes) {
  const uint64_t long_hash = rheos__hash_bytes(0, name, name_bytes);
  const uint32_t hash = (uint32_t)long_hash;
  size_t at = hash & (im->num_slots - 1);
  for (;; at = (at + 1) & (im->num_slots - 1)) {
    slot *s = &im->slots[at];
    if (s->node < 0) {
      s->hash = hash;
      return s;
    }
    if (s->hash != hash) continue;
    const char *other = im->def->node[s->node]->name;
    if (strncmp(other, name, name_bytes) == 0 && other[name_bytes] == '\0') return s;
  }
}

static rheos_status *index_names(import *im) {
  im->num_slots = 16;
  while (im->num_slots < (size_t)im->num_nodes * 2) im->num_slots *= 2;
  im->slots = rheos__arena_alloc(&im->arena, im->num_slots * sizeof *im->slots);
  if (im->slots == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < im->num_slots; i++) im->slots[i] = (slot){0, -1};
  for (int32_t i = 0; i < im->num_nodes; i++) {
    const char *name = im->def->node[i]->name;
    if (name[0] == '\0') return RHEOS_INVALID("node %d of the graph has no name", i);
    slot *s = slot_of(im, name, strlen(name));
    if (s->node >= 0) return RHEOS_INVALID("the graph has two nodes called '%s'", name);
    s->node = i;
  }
  return NULL;
}

// "name", or below the prefix "prefix/name"; then `tail`.
static char *full_name(const import *im, const char *name, const char *tail,
                       rheos__arena *arena) {
  const size_t prefix_bytes = strlen(im->prefix), name_bytes = strlen(name);
  const size_t tail_bytes = strlen(tail);
  char *text = rheos__arena_alloc(arena, prefix_bytes + name_bytes + tail_bytes + 2);
  if (text == NULL) return NULL;
  char *at = text;
  if (prefix_bytes > 0) {
    memcpy(at, im->prefix, prefix_bytes);
    at += prefix_bytes;
    *at++ = '/';
  }
  memcpy(at, name, name_bytes);
  memcpy(at + name_bytes, tail, tail_bytes + 1);
  return text;
}

static const char *local_name(const import *im, int32_t node) {
  const bool has_other = im->names != NULL && im->names[node] != NULL;
  return has_other ? im->names[node] : im->def->node[node]->name;
}

static rheos_status *is_taken(import *im, const char *name, bool *out_is_taken) {
  rheos__arena_reset(&im->scratch);
  const char *full = full_name(im, name, "", &im->scratch);
  if (full == NULL) return rheos__out_of_memory();
  *out_is_taken = rheos_graph_operation(im->graph, full).graph != NULL;
  return NULL;
}

// Finds "name_1" and so on, which neither the graph nor the file has.
static rheos_status *choose_name(import *im, int32_t node) {
  const char *name = im->def->node[node]->name;
  const size_t room = strlen(name) + 12;
  char *text = rheos__arena_alloc(&im->arena, room);
  if (text == NULL) return rheos__out_of_memory();
  bool taken = true;
  for (int32_t number = 1; taken; number++) {
    const int length = snprintf(text, room, "%s_%d", name, number);
    if (slot_of(im, text, (size_t)length)->node >= 0) continue;
    RHEOS_TRY(is_taken(im, text, &taken));
  }
  im->names[node] = text;
  return NULL;
}

static rheos_status *choose_names(import *im) {
  if (rheos_graph_num_operations(im->graph) == 0) return NULL;
  for (int32_t i = 0; i < im->num_nodes; i++) {
    bool taken = false;
    RHEOS_TRY(is_taken(im, im->def->node[i]->name, &taken));
    if (!taken) continue;
    if (im->names == NULL) {
      im->names = rheos__arena_alloc_zeroed(&im->arena, (size_t)im->num_nodes * sizeof *im->names);
      if (im->names == NULL) return rheos__out_of_memory();
    }
    RHEOS_TRY(choose_name(im, i));
  }
  return NULL;
}

// The mapping for that input, NULL if there is none.
static rheos_import_mapping *mapping_of(const import *im, const input_ref *ref) {
  for (size_t i = 0; i < im->num_mappings; i++) {
    const input_ref *from = &im->mapping_refs[i];
    if (from->index == ref->index && from->name_bytes == ref->name_bytes &&
        memcmp(from->name, ref->name, ref->name_bytes) == 0) {
      return &im->input_map[i];
    }
  }
  return NULL;
}

static rheos_status *resolve_input(import *im, const Tensorflow__NodeDef *def, size_t input,
                                   source *out_source) {
  input_ref ref;
  if (!parse_input(def->input[input], &ref)) {
    return RHEOS_INVALID("Node '%s': '%s' is not a valid input", def->name, def->input[input]);
  }
  *out_source = (source){-1, ref.index, mapping_of(im, &ref)};
  if (out_source->mapping != NULL) return NULL;
  out_source->node = slot_of(im, ref.name, ref.name_bytes)->node;
  if (out_source->node >= 0) return NULL;
  return RHEOS_INVALID("Node '%s': Unknown input node '%s'", def->name, def->input[input]);
}

static rheos_status *resolve_inputs(import *im) {
  size_t count = 0;
  for (int32_t i = 0; i < im->num_nodes; i++) count += im->def->node[i]->n_input;
  if (count > INT32_MAX / 4) return RHEOS_INVALID("%zu inputs are too many", count);
  source *all = rheos__arena_alloc(&im->arena, count * sizeof *all);
  im->sources = rheos__arena_alloc(&im->arena, (size_t)im->num_nodes * sizeof *im->sources);
  if (all == NULL || im->sources == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < im->num_nodes; i++) {
    const Tensorflow__NodeDef *def = im->def->node[i];
    im->sources[i] = all;
    for (size_t k = 0; k < def->n_input; k++) RHEOS_TRY(resolve_input(im, def, k, all++));
  }
  return NULL;
}

// ---- What can be checked beforehand

static rheos_status *not_registered(const rheos__op_tally *missing) {
  char text[2048];
  rheos__op_tally_text(missing, text, sizeof text);
  return RHEOS_NOTFOUND("Op type not registered %s", text);
}

static bool is_function(const import *im, const char *op) {
  const Tensorflow__FunctionDefLibrary *library = im->def->library;
  for (size_t i = 0; library != NULL && i < library->n_function; i++) {
    const Tensorflow__OpDef *signature = library->function[i]->signature;
    if (signature != NULL && strcmp(signature->name, op) == 0) return true;
  }
  return false;
}

// Whether nothing tells what the node's inputs and outputs are.
static bool is_unknown(const import *im, int32_t node) {
  const char *op = im->def->node[node]->op;
  return rheos__graph_signature(im->graph, op) == NULL && !is_function(im, op);
}

// All ops that are missing, in one message.
static rheos_status *check_ops(import *im, bool *out_any_unknown) {
  rheos__op_tally missing = {0};
  rheos_status *status = NULL;
  for (int32_t i = 0; i < im->num_nodes && status == NULL; i++) {
    if (is_unknown(im, i)) {
      status = rheos__op_tally_add(&missing, im->def->node[i]->op, im->def->node[i]->name);
    }
  }
  *out_any_unknown = missing.count > 0;
  if (status == NULL && missing.count > 0 && !im->keep_unknown_ops) {
    status = not_registered(&missing);
  }
  rheos__op_tally_deinit(&missing);
  return status;
}

// Notes who takes what from nodes of unknown ops.
static rheos_status *find_uses(import *im) {
  size_t num_inputs = 0;
  for (int32_t i = 0; i < im->num_nodes; i++) num_inputs += im->def->node[i]->n_input;
  im->uses = rheos__arena_alloc(&im->arena, (num_inputs + 1) * sizeof *im->uses);
  im->first_uses = rheos__arena_alloc(&im->arena, (size_t)im->num_nodes * sizeof *im->first_uses);
  if (im->uses == NULL || im->first_uses == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < im->num_nodes; i++) im->first_uses[i] = -1;
  int32_t count = 0;
  for (int32_t i = 0; i < im->num_nodes; i++) {
    for (size_t k = 0; k < im->def->node[i]->n_input; k++) {
      const source from = im->sources[i][k];
      if (from.node < 0 || from.index < 0 || !is_unknown(im, from.node)) continue;
      im->uses[count] = (use){i, (int32_t)k, from.index, im->first_uses[from.node]};
      im->first_uses[from.node] = count++;
    }
  }
  return NULL;
}

// ---- The order

typedef struct visit {
  int32_t node;
  size_t next_input;
} visit;

enum { NOT_SEEN, ON_STACK, ORDERED };

// Where a loop closes: from a NextIteration to a Merge.
static bool is_merge(const Tensorflow__NodeDef *def) {
  return strcmp(def->op, "Merge") == 0 || strcmp(def->op, "RefMerge") == 0;
}

static bool is_way_back(const import *im, const Tensorflow__NodeDef *def, const source *from) {
  if (from->node < 0 || from->index < 0 || !is_merge(def)) return false;
  const char *op = im->def->node[from->node]->op;
  return strcmp(op, "NextIteration") == 0 || strcmp(op, "RefNextIteration") == 0;
}

// Goes on with the visit on top of the stack: pushes its next input that is not ordered yet, or
// orders the node itself.
static rheos_status *visit_step(import *im, char *states, visit *stack, int32_t *depth,
                                int32_t *num_ordered) {
  visit *top = &stack[*depth - 1];
  const Tensorflow__NodeDef *def = im->def->node[top->node];
  while (top->next_input < def->n_input) {
    const source from = im->sources[top->node][top->next_input++];
    if (is_way_back(im, def, &from)) {
      im->has_loops = true;
      continue;
    }
    if (from.node < 0 || states[from.node] == ORDERED) continue;
    if (states[from.node] == ON_STACK) {
      return RHEOS_INVALID(
          "Node '%s': its input '%s' depends on it, without a loop's NextIteration", def->name,
          im->def->node[from.node]->name);
    }
    states[from.node] = ON_STACK;
    stack[(*depth)++] = (visit){from.node, 0};
    return NULL;
  }
  states[top->node] = ORDERED;
  im->order[(*num_ordered)++] = top->node;
  (*depth)--;
  return NULL;
}

static rheos_status *find_order(import *im) {
  size_t count = (size_t)im->num_nodes;
  im->ids = rheos__arena_alloc(&im->arena, count * sizeof *im->ids);
  im->order = rheos__arena_alloc(&im->arena, count * sizeof *im->order);
  char *states = rheos__arena_alloc_zeroed(&im->arena, count);
  visit *stack = rheos__arena_alloc(&im->arena, count * sizeof *stack);
  if (im->ids == NULL || im->order == NULL || states == NULL || stack == NULL) {
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < count; i++) im->ids[i] = NOT_ADDED;
  int32_t num_ordered = 0;
  for (int32_t i = 0; i < im->num_nodes; i++) {
    if (states[i] != NOT_SEEN) continue;
    int32_t depth = 1;
    states[i] = ON_STACK;
    stack[0] = (visit){i, 0};
    while (depth > 0) RHEOS_TRY(visit_step(im, states, stack, &depth, &num_ordered));
  }
  return NULL;
}

// ---- Adding a node

// What is read of one node, in one arena.
typedef struct new_node {
  const Tensorflow__NodeDef *def;  // with everything
  rheos__arena *arena;
  const rheos__signature *signature;  // NULL: that of the op
  rheos_output *inputs;
  size_t num_inputs;
  rheos_operation *controls;
  size_t num_controls;
  rheos_attr *attrs;
  size_t num_attrs;
} new_node;

static rheos_status *check_index(const new_node *n, size_t input, rheos_operation operation,
                                 int32_t index) {
  const int32_t count = rheos_operation_num_outputs(operation);
  if (index < count) return NULL;
  return RHEOS_INVALID("Node '%s': input '%s', but the node has %d outputs", n->def->name,
                       n->def->input[input], count);
}

static rheos_status *read_inputs(import *im, int32_t node, new_node *n) {
  size_t count = n->def->n_input;
  n->inputs = rheos__arena_alloc(n->arena, count * sizeof *n->inputs);
  n->controls = rheos__arena_alloc(n->arena, count * sizeof *n->controls);
  if (n->inputs == NULL || n->controls == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    const source from = im->sources[node][i];
    rheos_operation operation = {im->graph, from.node >= 0 ? im->ids[from.node] : 0};
    if (from.mapping != NULL) {
      from.mapping->was_used = true;
      operation = rheos_output_operation(from.mapping->to);
    }
    if (from.index < 0) {
      n->controls[n->num_controls++] = operation;
      continue;
    }
    if (n->num_controls > 0) {
      return RHEOS_INVALID("Node '%s': input '%s' comes after a control input", n->def->name,
                           n->def->input[i]);
    }
    if (from.mapping != NULL) {
      n->inputs[n->num_inputs++] = from.mapping->to;
      continue;
    }
    if (operation.id == NOT_ADDED) {
      // The way back of a loop: until it is there, what enters the loop stands in for it.
      if (n->num_inputs == 0) {
        return RHEOS_INVALID("Node '%s': nothing enters its loop before '%s'", n->def->name,
                             n->def->input[i]);
      }
      n->inputs[n->num_inputs] = n->inputs[0];
      n->num_inputs++;
      continue;
    }
    RHEOS_TRY(check_index(n, i, operation, from.index));
    n->inputs[n->num_inputs++] = rheos_operation_output(operation, from.index);
  }
  return NULL;
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

static bool is_attr_of(const rheos__signature *signature, const char *name) {
  for (int32_t i = 0; i < signature->num_attrs; i++) {
    if (strcmp(signature->attrs[i].name, name) == 0) return true;
  }
  return false;
}

static rheos_status *compare_messages(const ProtobufCMessage *a, const ProtobufCMessage *b,
                                      rheos__arena *arena, bool *out_same) {
  *out_same = false;
  const size_t size_bytes = protobuf_c_message_get_packed_size(a);
  if (protobuf_c_message_get_packed_size(b) != size_bytes) return NULL;
  uint8_t *one = rheos__arena_alloc(arena, size_bytes);
  uint8_t *other = rheos__arena_alloc(arena, size_bytes);
  if (one == NULL || other == NULL) return rheos__out_of_memory();
  protobuf_c_message_pack(a, one);
  protobuf_c_message_pack(b, other);
  *out_same = memcmp(one, other, size_bytes) == 0;
  return NULL;
}

// The op as the writing program knew it, NULL if it did not tell.
static const Tensorflow__OpDef *written_op(const import *im, const char *name) {
  size_t first = 0, last = im->num_ops;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    const int order = strcmp(im->ops[middle]->name, name);
    if (order == 0) return im->ops[middle];
    if (order < 0) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return NULL;
}

// Whether the attribute came into the op later than it did here, and says nothing.
static rheos_status *find_newer_default(const import *im, const new_node *n,
                                        const Tensorflow__NodeDef__AttrEntry *entry,
                                        bool *out_is_newer) {
  *out_is_newer = false;
  if (im->num_ops == 0 || entry->value == NULL || entry->key[0] == '_') return NULL;
  const rheos__signature *known = rheos__graph_signature(im->graph, n->def->op);
  if (known == NULL || is_attr_of(known, entry->key)) return NULL;
  const Tensorflow__OpDef *op = written_op(im, n->def->op);
  for (size_t i = 0; op != NULL && i < op->n_attr; i++) {
    if (strcmp(op->attr[i]->name, entry->key) != 0) continue;
    const Tensorflow__AttrValue *value = op->attr[i]->default_value;
    if (value == NULL) return NULL;
    return compare_messages(&value->base, &entry->value->base, n->arena, out_is_newer);
  }
  return NULL;
}

static rheos_status *read_attrs(const import *im, new_node *n) {
  n->attrs = rheos__arena_alloc(n->arena, n->def->n_attr * sizeof *n->attrs);
  if (n->attrs == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < n->def->n_attr; i++) {
    const Tensorflow__NodeDef__AttrEntry *entry = n->def->attr[i];
    if (strcmp(entry->key, OUTPUT_SHAPES) == 0) continue;  // see take_shapes()
    bool is_newer;
    RHEOS_TRY(find_newer_default(im, n, entry, &is_newer));
    if (is_newer) continue;
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

// Colocations name nodes of the same file: "loc:@name".
static rheos_status *rename_colocations(import *im, const new_node *n) {
  static const char start[] = "loc:@";
  const size_t start_bytes = sizeof start - 1;
  for (size_t i = 0; i < n->num_attrs && (im->prefix[0] != '\0' || im->names != NULL); i++) {
    if (strcmp(n->attrs[i].name, "_class") != 0) continue;
    const rheos_attr_value *value = &n->attrs[i].value;
    if (value->kind != RHEOS_ATTR_LIST_STRING) continue;
    for (int32_t k = 0; k < value->count; k++) {
      rheos_string *text = (rheos_string *)(uintptr_t)&value->strings[k];
      if (text->size_bytes < start_bytes || memcmp(text->data, start, start_bytes) != 0) continue;
      char *name = rheos__arena_alloc(n->arena, text->size_bytes);
      if (name == NULL) return rheos__out_of_memory();
      memcpy(name, text->data + start_bytes, text->size_bytes - start_bytes);
      name[text->size_bytes - start_bytes] = '\0';
      const int32_t node = slot_of(im, name, strlen(name))->node;
      char *full = full_name(im, node >= 0 ? local_name(im, node) : name, "", n->arena);
      const size_t full_bytes = full != NULL ? strlen(full) : 0;
      char *whole = rheos__arena_alloc(n->arena, start_bytes + full_bytes);
      if (full == NULL || whole == NULL) return rheos__out_of_memory();
      memcpy(whole, start, start_bytes);
      memcpy(whole + start_bytes, full, full_bytes);
      *text = (rheos_string){whole, start_bytes + full_bytes};
    }
  }
  return NULL;
}

// A node with its attributes.
static rheos_status *whole_node(const import *im, int32_t node, rheos__arena *arena,
                                const Tensorflow__NodeDef **out_def) {
  const rheos__wire bytes = im->node_bytes[node];
  ProtobufCMessage *message;
  RHEOS_TRY(rheos__proto_unpack_checked(&tensorflow__node_def__descriptor, bytes.at,
                                        rheos__wire_size(bytes), arena, &message));
  *out_def = (const Tensorflow__NodeDef *)message;
  return NULL;
}

static const Tensorflow__AttrValue *attr_named(const Tensorflow__NodeDef *def, const char *name) {
  for (size_t i = 0; i < def->n_attr; i++) {
    if (strcmp(def->attr[i]->key, name) == 0) return def->attr[i]->value;
  }
  return NULL;
}

// What the file says of the shapes of the node's outputs; NULL if it does not.
static const Tensorflow__AttrValue__ListValue *written_shapes(const Tensorflow__NodeDef *def) {
  const Tensorflow__AttrValue *value = attr_named(def, OUTPUT_SHAPES);
  const bool is_list = value != NULL && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  return is_list ? value->list : NULL;
}

// Adds what the file knows of the shapes of outputs to what is inferred: a program may have told
// more than follows from the op. Where the two contradict each other, or inputs come from
// elsewhere, inference is right.
static rheos_status *take_shapes(const import *im, const new_node *n, rheos_operation operation) {
  const Tensorflow__AttrValue__ListValue *shapes = written_shapes(n->def);
  const int32_t num_outputs = rheos_operation_num_outputs(operation);
  if (shapes == NULL || im->num_mappings > 0) return NULL;
  for (size_t i = 0; i < shapes->n_shape && i < (size_t)num_outputs; i++) {
    const rheos_output output = rheos_operation_output(operation, (int32_t)i);
    const rheos_shape inferred = rheos_output_shape(output);
    rheos_shape shape;
    rheos_status *status = rheos__shape_from_proto(shapes->shape[i], &shape);
    if (status == NULL && !rheos_shape_equal(&shape, &inferred)) {
      status = rheos_output_set_shape(output, shape);
    }
    if (rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED) return status;
    rheos_status_free(status);
  }
  return NULL;
}

// ---- Nodes of ops that are not known

static rheos_dtype type_in(const Tensorflow__AttrValue *value, int64_t index) {
  int64_t number = 0;
  if (value != NULL && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE) {
    number = value->type;
  } else if (value != NULL && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST &&
             index < (int64_t)value->list->n_type) {
    number = value->list->type[index];
  }
  return number > 0 && number <= RHEOS_UINT64 ? (rheos_dtype)number : RHEOS_INVALID_DTYPE;
}

// How many inputs an argument of a node takes, by its attributes; -1: they do not say.
static int64_t length_of(const rheos__signature *signature, const rheos__arg *arg,
                         const Tensorflow__NodeDef *def) {
  if (arg->number_attr < 0 && arg->type_list_attr < 0) return 1;
  const int16_t attr = arg->number_attr >= 0 ? arg->number_attr : arg->type_list_attr;
  const Tensorflow__AttrValue *value = attr_named(def, signature->attrs[attr].name);
  if (value == NULL) return -1;
  if (value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_I) return value->i;
  return value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST ? (int64_t)value->list->n_type
                                                                 : -1;
}

// The dtype that a node asks for as its input; RHEOS_INVALID_DTYPE if that is not known.
static rheos_dtype wanted_dtype(const import *im, const use *u, const Tensorflow__NodeDef *def) {
  const rheos__signature *signature = rheos__graph_signature(im->graph, def->op);
  int64_t first = 0;
  for (int32_t i = 0; signature != NULL && i < signature->num_inputs; i++) {
    const rheos__arg *arg = &signature->inputs[i];
    const int64_t length = length_of(signature, arg, def);
    if (length < 0 || length > INT32_MAX) break;
    if (u->input >= first + length) {
      first += length;
      continue;
    }
    if (arg->type_attr >= 0 || arg->type_list_attr < 0) {
      const rheos_dtype base =
          arg->type_attr < 0 ? arg->dtype
                             : type_in(attr_named(def, signature->attrs[arg->type_attr].name), 0);
      const bool is_ref = arg->is_ref && base != RHEOS_INVALID_DTYPE;
      return is_ref ? (rheos_dtype)(base + RHEOS_REF) : base;
    }
    return type_in(attr_named(def, signature->attrs[arg->type_list_attr].name), u->input - first);
  }
  return RHEOS_INVALID_DTYPE;
}

// What the node's own attributes say of an output, by the names that TensorFlow's ops use.
static rheos_dtype declared_dtype(const Tensorflow__NodeDef *def, int32_t index) {
  static const char *const names[] = {"output_types", "Tout",  "Toutputs", "component_types",
                                      "out_type",     "dtype", "T"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const rheos_dtype dtype = type_in(attr_named(def, names[i]), index);
    if (dtype != RHEOS_INVALID_DTYPE) return dtype;
  }
  return RHEOS_INVALID_DTYPE;
}

// As many outputs as others take or as have shapes, of the dtypes that others ask for.
static rheos_status *guess_signature(const import *im, int32_t node, new_node *n) {
  const Tensorflow__AttrValue__ListValue *shapes = written_shapes(n->def);
  int64_t num_outputs = shapes != NULL && shapes->n_shape > 0 ? (int64_t)shapes->n_shape : 1;
  for (int32_t i = im->first_uses[node]; i >= 0; i = im->uses[i].next) {
    if (im->uses[i].index >= num_outputs) num_outputs = (int64_t)im->uses[i].index + 1;
  }
  if (num_outputs > UINT16_MAX) {
    return RHEOS_INVALID("Node '%s': output %lld is taken from it", n->def->name,
                         (long long)num_outputs - 1);
  }
  rheos_dtype *outputs = rheos__arena_alloc(n->arena, (size_t)num_outputs * sizeof *outputs);
  rheos_dtype *inputs = rheos__arena_alloc(n->arena, n->num_inputs * sizeof *inputs);
  if (outputs == NULL || inputs == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < num_outputs; i++) outputs[i] = RHEOS_INVALID_DTYPE;
  for (int32_t i = im->first_uses[node]; i >= 0; i = im->uses[i].next) {
    const Tensorflow__NodeDef *def;
    RHEOS_TRY(whole_node(im, im->uses[i].node, n->arena, &def));
    const rheos_dtype wanted = wanted_dtype(im, &im->uses[i], def);
    rheos_dtype *output = &outputs[im->uses[i].index];
    // A reference also serves those who want the value.
    if (wanted != RHEOS_INVALID_DTYPE && !rheos_dtype_is_ref(*output)) *output = wanted;
  }
  for (int32_t i = 0; i < num_outputs; i++) {
    if (outputs[i] == RHEOS_INVALID_DTYPE) outputs[i] = declared_dtype(n->def, i);
  }
  for (size_t i = 0; i < n->num_inputs; i++) inputs[i] = rheos_output_dtype(n->inputs[i]);
  return rheos__graph_guess_signature(im->graph, n->def->op, inputs, n->num_inputs, outputs,
                                      (size_t)num_outputs, &n->signature);
}

// ---- One node

static rheos_status *read_node(import *im, int32_t node, new_node *n) {
  RHEOS_TRY(whole_node(im, node, n->arena, &n->def));
  RHEOS_TRY(read_inputs(im, node, n));
  if (im->uses != NULL && is_unknown(im, node)) RHEOS_TRY(guess_signature(im, node, n));
  RHEOS_TRY(read_attrs(im, n));
  return rename_colocations(im, n);
}

static void add_node(import *im, int32_t node) {
  rheos__arena_reset(&im->scratch);
  new_node n = {.def = im->def->node[node], .arena = &im->scratch};
  rheos_status *status = read_node(im, node, &n);
  // With the last "/" a name is taken as it is.
  char *name = status == NULL ? full_name(im, local_name(im, node), "/", n.arena) : NULL;
  if (status == NULL && name == NULL) status = rheos__out_of_memory();
  if (status != NULL) {
    rheos_scope_fail_take(im->scope, status);
  } else {
    const rheos_op_args args = {.type = n.def->op,
                                .name = name,
                                .inputs = n.inputs,
                                .num_inputs = n.num_inputs,
                                .attrs = n.attrs,
                                .num_attrs = n.num_attrs,
                                .control_inputs = n.controls,
                                .num_control_inputs = n.num_controls,
                                .device = im->clear_devices ? "" : n.def->device};
    const rheos_operation added = rheos__op_of_file(im->scope, &args, n.signature);
    im->ids[node] = added.id;
    if (added.graph != NULL) {
      status = rheos__graph_keep_node_fields(im->graph, added.id, n.def);
      if (status == NULL) status = take_shapes(im, &n, added);
      if (status != NULL) rheos_scope_fail_take(im->scope, status);
    }
  }
  for (size_t i = 0; i < n.num_attrs; i++) rheos__attr_release(&n.attrs[i].value);
}

// Puts the ways back of loops in place.
static rheos_status *close_loops(import *im) {
  for (int32_t k = 0; k < im->num_nodes; k++) {
    const Tensorflow__NodeDef *def = im->def->node[k];
    if (!is_merge(def)) continue;
    for (size_t i = 0; i < def->n_input; i++) {
      const source from = im->sources[k][i];
      if (!is_way_back(im, def, &from) || im->ids[from.node] < im->ids[k]) continue;
      const new_node n = {.def = def};
      const rheos_operation operation = {im->graph, im->ids[from.node]};
      RHEOS_TRY(check_index(&n, i, operation, from.index));
      RHEOS_TRY(rheos__graph_set_input(im->graph, im->ids[k], (int32_t)i,
                                       (rheos__edge){operation.id, from.index}));
    }
  }
  return NULL;
}

// ---- The whole

static rheos_status *read_mappings(import *im) {
  im->mapping_refs =
      rheos__arena_alloc(&im->arena, im->num_mappings * sizeof *im->mapping_refs);
  if (im->mapping_refs == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < im->num_mappings; i++) {
    rheos_import_mapping *mapping = &im->input_map[i];
    mapping->was_used = mapping->was_found = false;
    if (mapping->from == NULL || !parse_input(mapping->from, &im->mapping_refs[i])) {
      return RHEOS_INVALID("'%s' in the input map is not a valid input",
                           mapping->from != NULL ? mapping->from : "");
    }
    if (mapping->to.graph != im->graph) {
      return RHEOS_INVALID("'%s' is mapped to a tensor of another graph", mapping->from);
    }
  }
  return NULL;
}

// "x" and "x:1" of the file.
static rheos_status *check_elements(import *im) {
  for (size_t i = 0; i < im->num_elements; i++) {
    rheos_import_element *element = &im->elements[i];
    input_ref ref;
    element->operation = (rheos_operation){NULL, 0};
    element->index = -1;
    const bool sound = element->name != NULL && element->name[0] != '^' &&
                       parse_input(element->name, &ref);
    if (sound && slot_of(im, ref.name, ref.name_bytes)->node >= 0) continue;
    if (sound && strchr(element->name, ':') != NULL && mapping_of(im, &ref) != NULL) continue;
    return RHEOS_INVALID("Requested return_element '%s' not found in graph_def.",
                         element->name != NULL ? element->name : "");
  }
  return NULL;
}

// What the elements are, after all nodes were added.
static rheos_status *find_elements(import *im) {
  for (size_t i = 0; i < im->num_elements; i++) {
    rheos_import_element *element = &im->elements[i];
    const bool is_output = strchr(element->name, ':') != NULL;
    input_ref ref;
    parse_input(element->name, &ref);
    const rheos_import_mapping *mapping = is_output ? mapping_of(im, &ref) : NULL;
    const int32_t node = slot_of(im, ref.name, ref.name_bytes)->node;
    if (mapping != NULL) {
      element->operation = rheos_output_operation(mapping->to);
      element->index = mapping->to.index;
      continue;
    }
    element->operation = (rheos_operation){im->graph, im->ids[node]};
    element->index = is_output ? ref.index : -1;
    if (element->index < rheos_operation_num_outputs(element->operation)) continue;
    return RHEOS_INVALID("Requested return_element '%s' not found in graph_def.", element->name);
  }
  return NULL;
}

// Tells of each mapping whether the file has what it maps.
static void find_mapped(import *im) {
  for (size_t i = 0; i < im->num_mappings; i++) {
    const input_ref *ref = &im->mapping_refs[i];
    const int32_t node = slot_of(im, ref->name, ref->name_bytes)->node;
    if (node < 0) continue;
    const rheos_operation operation = {im->graph, im->ids[node]};
    im->input_map[i].was_found = ref->index < rheos_operation_num_outputs(operation);
  }
}

// Whether those who wrote the graph let it be read here.
static rheos_status *check_versions(const Tensorflow__VersionDef *versions) {
  if (versions->min_consumer > RHEOS__GRAPH_PRODUCER) {
    return RHEOS_INVALID("the graph asks for version %d of the graph format, this is version %d",
                         versions->min_consumer, RHEOS__GRAPH_PRODUCER);
  }
  for (size_t i = 0; i < versions->n_bad_consumers; i++) {
    if (versions->bad_consumers[i] != RHEOS__GRAPH_PRODUCER) continue;
    return RHEOS_INVALID("the graph is not for version %d of the graph format, which is this one",
                         RHEOS__GRAPH_PRODUCER);
  }
  return NULL;
}

static rheos_status *prepare(import *im, const void *bytes, size_t size_bytes) {
  RHEOS_TRY(rheos__graph_def_outline(bytes, size_bytes, &im->arena, &im->def, &im->node_bytes));
  if (im->def->n_node > INT32_MAX / 4) {
    return RHEOS_INVALID("%zu nodes are too many", im->def->n_node);
  }
  im->num_nodes = (int32_t)im->def->n_node;
  im->producer = im->def->versions != NULL ? im->def->versions->producer : im->def->version;
  if (im->def->versions != NULL) RHEOS_TRY(check_versions(im->def->versions));
  RHEOS_TRY(read_mappings(im));
  bool any_unknown;
  RHEOS_TRY(check_ops(im, &any_unknown));
  RHEOS_TRY(index_names(im));
  RHEOS_TRY(check_elements(im));
  if (im->uniquify_names) RHEOS_TRY(choose_names(im));
  RHEOS_TRY(resolve_inputs(im));
  if (any_unknown) RHEOS_TRY(find_uses(im));
  return find_order(im);
}

static int compare_ops(const void *a, const void *b) {
  return strcmp((*(Tensorflow__OpDef *const *)a)->name, (*(Tensorflow__OpDef *const *)b)->name);
}

static rheos_status *read_op_list(import *im, const rheos_import_options *options) {
  if (options->op_list_bytes == 0) return NULL;
  Tensorflow__OpList *list;
  RHEOS_TRY(
      RHEOS_PROTO_UNPACK(op_list, options->op_list, options->op_list_bytes, &im->arena, &list));
  im->ops = list->op;
  im->num_ops = list->n_op;
  if (im->num_ops > 1) qsort(im->ops, im->num_ops, sizeof *im->ops, compare_ops);
  return NULL;
}

// What a graph keeps beside its nodes.
static rheos_status *add_rest(const import *im, const void *bytes, size_t size_bytes) {
  RHEOS_TRY(rheos__graph_add_library(im->graph, im->def, bytes, size_bytes));
  if (im->def->versions != NULL) RHEOS_TRY(rheos__graph_add_versions(im->graph, im->def->versions));
  return rheos__graph_keep_fields(im->graph, im->def);
}

void rheos_import_graph_def(rheos_scope *scope, const void *bytes, size_t size_bytes,
                            const rheos_import_options *options) {
  if (rheos_scope_status(scope) != NULL) return;
  import im = {.scope = scope, .graph = rheos_scope_graph(scope), .prefix = ""};
  if (options != NULL) {
    if (options->prefix != NULL) im.prefix = options->prefix;
    im.input_map = options->input_map;
    im.num_mappings = options->num_mappings;
    im.keep_unknown_ops = options->keep_unknown_ops;
    im.clear_devices = options->clear_devices;
    im.uniquify_names = options->uniquify_names;
    im.elements = options->elements;
    im.num_elements = options->num_elements;
  }
  rheos__arena_init(&im.arena);
  rheos__arena_init(&im.scratch);
  rheos__graph_lock(im.graph);
  rheos_status *status = options != NULL ? read_op_list(&im, options) : NULL;
  if (status == NULL) status = prepare(&im, bytes, size_bytes);
  if (status == NULL) status = add_rest(&im, bytes, size_bytes);
  if (status != NULL) rheos_scope_fail_take(scope, status);
  for (int32_t i = 0; i < im.num_nodes && rheos_scope_status(scope) == NULL; i++) {
    add_node(&im, im.order[i]);
  }
  if (im.has_loops && rheos_scope_status(scope) == NULL) {
    status = close_loops(&im);
    if (status != NULL) rheos_scope_fail_take(scope, status);
  }
  if (rheos_scope_status(scope) == NULL) {
    find_mapped(&im);
    status = find_elements(&im);
    if (status != NULL) rheos_scope_fail_take(scope, status);
  }
  rheos__graph_unlock(im.graph);
  rheos__arena_deinit(&im.scratch);
  rheos__arena_deinit(&im.arena);
}
