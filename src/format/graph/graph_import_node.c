// A node of a GraphDef into the graph: inputs, attributes, colocation, shapes that the file tells;
// and the ways back of loops.
#include "format/graph/graph_import.h"

#include "format/message/tensor_proto.h"
#include "graph/build.h"
#include "graph/control_context.h"

// Graphs of this producer or an older one say [] for a placeholder of any shape.
enum { LAST_PRODUCER_WITHOUT_SCALAR_PLACEHOLDERS = 23 };

// The attribute in which programs write the shapes that they inferred or were told.
static const char OUTPUT_SHAPES[] = "_output_shapes";

// ---- What is read of it

static rheos_status *check_index(const rheos__new_node *n, size_t input, rheos_operation operation,
                                 int32_t index) {
  const int32_t count = rheos_operation_num_outputs(operation);
  if (index < count) return NULL;
  const char *from = n->def->input[input], *colon = strrchr(from, ':');
  return RHEOS_INVALID(
      "Node '%s': Connecting to invalid output %d of source node %.*s which has %d outputs.",
      n->def->name, (int)index, (int)(colon != NULL ? (size_t)(colon - from) : strlen(from)), from,
      (int)count);
}

static rheos_status *read_inputs(rheos__import *im, int32_t node, rheos__new_node *n) {
  size_t count = n->def->n_input;
  n->inputs = rheos__arena_alloc(n->arena, count * sizeof *n->inputs);
  n->controls = rheos__arena_alloc(n->arena, count * sizeof *n->controls);
  if (n->inputs == NULL || n->controls == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    const rheos__import_source from = im->sources[node][i];
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
    if (operation.id == RHEOS__NOT_ADDED) {
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

static void mend_placeholder(const rheos__import *im, const rheos__new_node *n, const char *name,
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
static const Tensorflow__OpDef *written_op(const rheos__import *im, const char *name) {
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
static rheos_status *find_newer_default(const rheos__import *im, const rheos__new_node *n,
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

static rheos_status *read_attrs(const rheos__import *im, rheos__new_node *n) {
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

// ---- Frames

static bool is_enter(const Tensorflow__NodeDef *def) {
  return strcmp(def->op, "Enter") == 0 || strcmp(def->op, "RefEnter") == 0;
}

// What the frame of that name in the file is called in the graph.
static rheos_status *find_frame(rheos__import *im, rheos_string name, const char **out_name) {
  rheos__import_frame *frame = im->frames;
  while (frame != NULL && !rheos__string_equal(&frame->written, &name)) frame = frame->next;
  if (frame == NULL) {
    frame = rheos__arena_alloc(&im->arena, sizeof *frame + name.size_bytes);
    if (frame == NULL) return rheos__out_of_memory();
    char *bytes = (char *)(frame + 1);
    memcpy(bytes, name.data, name.size_bytes);
    *frame = (rheos__import_frame){.written = {bytes, name.size_bytes}, .next = im->frames};
    RHEOS_TRY(rheos__graph_take_frame(im->graph, bytes, name.size_bytes, &frame->name));
    im->frames = frame;
  }
  *out_name = frame->name;
  return NULL;
}

// Loops are told apart by the names of their frames, wherever they are: each has one of its own. A
// name with a zero byte in it, which no program of ours makes, stays as it is.
static rheos_status *read_frame(rheos__import *im, const rheos__new_node *n) {
  for (size_t i = 0; i < n->num_attrs; i++) {
    rheos_attr_value *value = &n->attrs[i].value;
    if (strcmp(n->attrs[i].name, "frame_name") != 0 || value->kind != RHEOS_ATTR_STRING) continue;
    if (value->s.size_bytes == 0 || memchr(value->s.data, 0, value->s.size_bytes)) continue;
    const char *name = NULL;
    RHEOS_TRY(find_frame(im, value->s, &name));
    value->s = rheos__borrow_string(name, strlen(name));
  }
  return NULL;
}

// ---- Colocation: "loc:@name", with a node of the same file

static const char COLOCATION[] = "loc:@";
enum { COLOCATION_BYTES = sizeof COLOCATION - 1 };

static rheos_status *note_colocation(rheos__import *im, int32_t node, int32_t other) {
  if (!im->colocated_devices || other < 0 || other == node) return NULL;
  rheos__colocation *colocation = rheos__arena_alloc(&im->arena, sizeof *colocation);
  if (colocation == NULL) return rheos__out_of_memory();
  *colocation = (rheos__colocation){node, other, NULL};
  *im->last_colocation = colocation;
  im->last_colocation = &colocation->next;
  return NULL;
}

// Looks the name up, and puts in its place what the node is called in the graph.
static rheos_status *read_colocation(rheos__import *im, int32_t node, const rheos__new_node *n,
                                     rheos_string *text) {
  const size_t name_bytes = text->size_bytes - COLOCATION_BYTES;
  char *name = rheos__arena_alloc(n->arena, name_bytes + 1);
  if (name == NULL) return rheos__out_of_memory();
  memcpy(name, text->data + COLOCATION_BYTES, name_bytes);
  name[name_bytes] = '\0';
  const int32_t other = rheos__import_slot_of(im, name, strlen(name))->node;
  if (other < 0 && !im->any_colocation) {
    return RHEOS_INVALID("Node '%s' expects to be colocated with unknown node '%s'", n->def->name,
                         name);
  }
  RHEOS_TRY(note_colocation(im, node, other));
  if (im->prefix[0] == '\0' && im->names == NULL) return NULL;
  const char *local = other >= 0 ? rheos__import_local_name(im, other) : name;
  const char *full = rheos__import_full_name(im, local, "", n->arena);
  const size_t full_bytes = full != NULL ? strlen(full) : 0;
  char *whole = rheos__arena_alloc(n->arena, COLOCATION_BYTES + full_bytes);
  if (full == NULL || whole == NULL) return rheos__out_of_memory();
  memcpy(whole, COLOCATION, COLOCATION_BYTES);
  memcpy(whole + COLOCATION_BYTES, full, full_bytes);
  *text = (rheos_string){whole, COLOCATION_BYTES + full_bytes};
  return NULL;
}

static rheos_status *read_colocations(rheos__import *im, int32_t node, const rheos__new_node *n) {
  for (size_t i = 0; i < n->num_attrs; i++) {
    if (strcmp(n->attrs[i].name, "_class") != 0) continue;
    const rheos_attr_value *value = &n->attrs[i].value;
    if (value->kind != RHEOS_ATTR_LIST_STRING) continue;
    for (int32_t k = 0; k < value->count; k++) {
      rheos_string *text = (rheos_string *)(uintptr_t)&value->strings[k];
      const bool names_node = text->size_bytes >= COLOCATION_BYTES &&
                              memcmp(text->data, COLOCATION, COLOCATION_BYTES) == 0;
      if (names_node) RHEOS_TRY(read_colocation(im, node, n, text));
    }
  }
  return NULL;
}

rheos_status *rheos__import_take_devices(rheos__import *im) {
  for (const rheos__colocation *c = im->colocations; c != NULL; c = c->next) {
    RHEOS_TRY(rheos_operation_set_device((rheos_operation){im->graph, im->ids[c->node]}, ""));
  }
  for (const rheos__colocation *c = im->colocations; c != NULL; c = c->next) {
    const rheos_operation operation = {im->graph, im->ids[c->node]};
    const char *device = rheos_operation_device((rheos_operation){im->graph, im->ids[c->other]});
    if (rheos_operation_device(operation)[0] != '\0' || device[0] == '\0') continue;
    RHEOS_TRY(rheos_operation_set_device(operation, device));
  }
  return NULL;
}

// ---- Attributes of one name

// A node with its attributes.
rheos_status *rheos__import_whole_node(const rheos__import *im, int32_t node, rheos__arena *arena,
                                       const Tensorflow__NodeDef **out_def) {
  const rheos__wire bytes = im->node_bytes[node];
  ProtobufCMessage *message;
  RHEOS_TRY(rheos__proto_unpack_checked(&tensorflow__node_def__descriptor, bytes.at,
                                        rheos__wire_size(bytes), arena, &message));
  *out_def = (const Tensorflow__NodeDef *)message;
  return NULL;
}

const Tensorflow__AttrValue *rheos__import_attr_named(const Tensorflow__NodeDef *def,
                                                      const char *name) {
  for (size_t i = 0; i < def->n_attr; i++) {
    if (strcmp(def->attr[i]->key, name) == 0) return def->attr[i]->value;
  }
  return NULL;
}

// What the file says of the shapes of the node's outputs; NULL if it does not.
const Tensorflow__AttrValue__ListValue *rheos__import_written_shapes(
    const Tensorflow__NodeDef *def) {
  const Tensorflow__AttrValue *value = rheos__import_attr_named(def, OUTPUT_SHAPES);
  const bool is_list = value != NULL && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  return is_list ? value->list : NULL;
}

// Adds what the file knows of the shapes of outputs to what is inferred: a program may have told
// more than follows from the op. Where the two contradict each other, or inputs come from
// elsewhere, inference is right.
static rheos_status *take_shapes(const rheos__import *im, const rheos__new_node *n,
                                 rheos_operation operation) {
  const Tensorflow__AttrValue__ListValue *shapes = rheos__import_written_shapes(n->def);
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

// ---- The node

static rheos_status *read_node(rheos__import *im, int32_t node, rheos__new_node *n) {
  RHEOS_TRY(rheos__import_whole_node(im, node, n->arena, &n->def));
  RHEOS_TRY(read_inputs(im, node, n));
  if (im->uses != NULL && rheos__import_is_unknown(im, node))
    RHEOS_TRY(rheos__import_guess_signature(im, node, n));
  RHEOS_TRY(read_attrs(im, n));
  if (is_enter(n->def)) RHEOS_TRY(read_frame(im, n));
  return read_colocations(im, node, n);
}

void rheos__import_add_node(rheos__import *im, int32_t node) {
  rheos__arena_reset(&im->scratch);
  rheos__new_node n = {.def = im->def->node[node], .arena = &im->scratch};
  rheos_status *status = read_node(im, node, &n);
  // With the last "/" a name is taken as it is.
  char *name = status == NULL
                   ? rheos__import_full_name(im, rheos__import_local_name(im, node), "/", n.arena)
                   : NULL;
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

// ---- Loops

// Where a loop closes: from a NextIteration to a Merge.
static bool is_merge(const Tensorflow__NodeDef *def) {
  return strcmp(def->op, "Merge") == 0 || strcmp(def->op, "RefMerge") == 0;
}

bool rheos__import_is_way_back(const rheos__import *im, const Tensorflow__NodeDef *def,
                               const rheos__import_source *from) {
  if (from->node < 0 || from->index < 0 || !is_merge(def)) return false;
  const char *op = im->def->node[from->node]->op;
  return strcmp(op, "NextIteration") == 0 || strcmp(op, "RefNextIteration") == 0;
}

// Puts the ways back of loops in place.
rheos_status *rheos__import_close_loops(rheos__import *im) {
  for (int32_t k = 0; k < im->num_nodes; k++) {
    const Tensorflow__NodeDef *def = im->def->node[k];
    if (!is_merge(def)) continue;
    for (size_t i = 0; i < def->n_input; i++) {
      const rheos__import_source from = im->sources[k][i];
      if (!rheos__import_is_way_back(im, def, &from) || im->ids[from.node] < im->ids[k]) continue;
      const rheos__new_node n = {.def = def};
      const rheos_operation operation = {im->graph, im->ids[from.node]};
      RHEOS_TRY(check_index(&n, i, operation, from.index));
      RHEOS_TRY(rheos__graph_close_loop(im->graph, im->ids[k], (int32_t)i,
                                        (rheos__edge){operation.id, from.index}));
    }
  }
  return NULL;
}
