// Graph to GraphDef. A GraphDef is its nodes one after the other, so each is packed by itself and
// nothing is held but one node and the bytes made so far.
#include "format/graph/graph_def.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph/handles.h"
#include "format/graph/function_export.h"
#include "format/graph/graph_extras.h"

#include "base/text.h"

// Fields with a length: nodes and the library of a graph, functions and gradients of a library.
enum {
  NODE_TAG = 1 << 3 | 2,
  LIBRARY_TAG = 2 << 3 | 2,
  FUNCTION_TAG = 1 << 3 | 2,
  GRADIENT_TAG = 2 << 3 | 2
};
enum { SCRATCH_BYTES = 1 << 20 };

// What is written: all bytes, or only their number once a message cannot be that large.
typedef struct export {
  rheos_graph *graph;
  bool is_whole_graph;
  rheos__arena arena;
  rheos__buffer buffer;
  uint64_t size_bytes;
  const rheos__side_files *side;
}
export;

static char *node_name(rheos_graph *graph, int32_t id, rheos__arena *arena, size_t room_before,
                       size_t room_behind) {
  rheos_operation operation = {graph, id};
  size_t length = rheos_operation_name(operation, NULL, 0);
  char *text = rheos__arena_alloc(arena, room_before + length + room_behind + 1);
  if (text == NULL) return NULL;
  rheos_operation_name(operation, text + room_before, length + 1);
  return text;
}

// "x", "x:1" or "^x".
static char *input_text(rheos_graph *graph, const rheos__edge *edge, rheos__arena *arena) {
  if (edge->index == 0) return node_name(graph, edge->id, arena, 0, 0);
  if (edge->index < 0) {
    char *text = node_name(graph, edge->id, arena, 1, 0);
    if (text != NULL) text[0] = '^';
    return text;
  }
  char *text = node_name(graph, edge->id, arena, 0, 12);
  if (text != NULL) snprintf(text + strlen(text), 13, ":%d", edge->index);
  return text;
}

static int compare_entries(const void *a, const void *b) {
  return strcmp((*(Tensorflow__NodeDef__AttrEntry *const *)a)->key,
                (*(Tensorflow__NodeDef__AttrEntry *const *)b)->key);
}

// Attributes that TensorFlow 1.15 does not know, and refuses; of all ops or of one.
static const struct {
  const char *attr, *op;
} newer_attrs[] = {
    {"Tcomplex", "IRFFT"},
    {"Tcomplex", "IRFFT2D"},
    {"Tcomplex", "IRFFT3D"},
    {"Tcomplex", "RFFT"},
    {"Tcomplex", "RFFT2D"},
    {"Tcomplex", "RFFT3D"},
    {"Tk", NULL},
    {"Treal", "IRFFT"},
    {"Treal", "IRFFT2D"},
    {"Treal", "IRFFT3D"},
    {"Treal", "RFFT"},
    {"Treal", "RFFT2D"},
    {"Treal", "RFFT3D"},
    {"Tsegmentids", NULL},
    {"allow_missing_files", NULL},
    {"allowed_devices", NULL},
    {"axis", "Dequantize"},
    {"axis", "QuantizeAndDequantizeV2"},
    {"axis", "QuantizeAndDequantizeV3"},
    {"axis", "QuantizeV2"},
    {"bad_indices_policy", NULL},
    {"blank_index", NULL},
    {"debug_name", NULL},
    {"dtype", "Dequantize"},
    {"ensure_minimum_range", NULL},
    {"explicit_paddings", "DepthwiseConv2dNative"},
    {"explicit_paddings", "DepthwiseConv2dNativeBackpropFilter"},
    {"explicit_paddings", "DepthwiseConv2dNativeBackpropInput"},
    {"explicit_paddings", "MaxPool"},
    {"explicit_paddings", "MaxPoolGrad"},
    {"exponential_avg_factor", NULL},
    {"grad_a", NULL},
    {"grad_b", NULL},
    {"grad_x", NULL},
    {"grad_y", NULL},
    {"index_type", "TopKV2"},
    {"multiply_linear_by_lr", NULL},
    {"narrow_range", "Dequantize"},
    {"narrow_range", "QuantizeV2"},
    {"offset", "InitializeTableFromTextFile"},
    {"offset", "InitializeTableFromTextFileV2"},
    {"perturb_singular", NULL},
    {"shape_type", "ConcatOffset"},
    {"sparse_gradient", NULL},
    {"validate_shape", "AssignVariableOp"},
};

static bool is_newer(const char *op, const char *attr) {
  for (size_t i = 0; i < sizeof newer_attrs / sizeof newer_attrs[0]; i++) {
    if (strcmp(newer_attrs[i].attr, attr) != 0) continue;
    if (newer_attrs[i].op == NULL || strcmp(newer_attrs[i].op, op) == 0) return true;
  }
  return false;
}

bool rheos__attr_is_left_out(const rheos__signature *signature, const rheos_attr *attr) {
  for (int32_t i = 0; i < signature->num_attrs; i++) {
    const rheos__attr_def *def = &signature->attrs[i];
    if (strcmp(def->name, attr->name) != 0) continue;
    return def->has_default && rheos__attr_value_equal(&attr->value, &def->default_value) &&
           is_newer(signature->op->name, attr->name);
  }
  return false;
}

// Sorted by name: the same graph gives the same bytes.
rheos_status *rheos__attrs_to_proto(const rheos__signature *signature, const rheos__attrs *attrs,
                                    rheos__arena *arena, Tensorflow__NodeDef *def) {
  size_t count = (size_t)attrs->count;
  Tensorflow__NodeDef__AttrEntry *entries = rheos__arena_alloc(arena, count * sizeof *entries);
  def->attr = rheos__arena_alloc(arena, count * sizeof *def->attr);
  if (entries == NULL || def->attr == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    if (rheos__attr_is_left_out(signature, &attrs->items[i])) continue;
    tensorflow__node_def__attr_entry__init(&entries[i]);
    entries[i].key = (char *)(uintptr_t)attrs->items[i].name;
    RHEOS_TRY(rheos__attr_to_proto(&attrs->items[i].value, arena, &entries[i].value));
    def->attr[def->n_attr++] = &entries[i];
  }
  if (def->n_attr > 1) qsort(def->attr, def->n_attr, sizeof *def->attr, compare_entries);
  return NULL;
}

// The tensor of a constant that goes to a file of its own, or NULL.
static const rheos_tensor *tensor_beside(const export *x, const rheos__node *node) {
  if (x->side == NULL || strcmp(node->signature->op->name, "Const") != 0) return NULL;
  const rheos_attr_value *value = rheos__attrs_find(node->attrs, "value");
  if (value == NULL || value->kind != RHEOS_ATTR_TENSOR) return NULL;
  const rheos_tensor *tensor = value->tensor;
  return tensor->dtype != RHEOS_STRING && tensor->size_bytes >= x->side->least_bytes ? tensor
                                                                                     : NULL;
}

static rheos_status *put_entry(export *x, const char *name, rheos_attr_value value,
                               Tensorflow__NodeDef *def) {
  Tensorflow__NodeDef__AttrEntry *entry = rheos__arena_alloc(&x->arena, sizeof *entry);
  if (entry == NULL) return rheos__out_of_memory();
  tensorflow__node_def__attr_entry__init(entry);
  entry->key = (char *)(uintptr_t)name;
  RHEOS_TRY(rheos__attr_to_proto(&value, &x->arena, &entry->value));
  def->attr[def->n_attr++] = entry;
  return NULL;
}

// The constant as TensorFlow's op that takes its value from a file.
static rheos_status *beside_to_proto(export *x, const rheos__node *node, const rheos_tensor *tensor,
                                     Tensorflow__NodeDef *def) {
  const size_t count = (size_t)node->attrs->count;
  char *file;
  RHEOS_TRY(x->side->write(x->side->user, tensor, &x->arena, &file));
  def->op = (char *)(uintptr_t)"ImmutableConst";
  def->attr = rheos__arena_alloc(&x->arena, (count + 2) * sizeof *def->attr);
  if (def->attr == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    const rheos_attr *attr = &node->attrs->items[i];
    if (strcmp(attr->name, "value") == 0) continue;
    RHEOS_TRY(put_entry(x, attr->name, attr->value, def));
  }
  const rheos_attr_value name = {.kind = RHEOS_ATTR_STRING, .s = {file, strlen(file)}};
  const rheos_attr_value shape = {.kind = RHEOS_ATTR_SHAPE, .shape = &tensor->shape};
  RHEOS_TRY(put_entry(x, "memory_region_name", name, def));
  RHEOS_TRY(put_entry(x, "shape", shape, def));
  qsort(def->attr, def->n_attr, sizeof *def->attr, compare_entries);
  return NULL;
}

static rheos_status *inputs_to_proto(export *x, const rheos__node *node, Tensorflow__NodeDef *def) {
  const size_t num_controls = (size_t)node->num_control_inputs;
  const size_t count = (size_t)node->num_inputs + num_controls;
  def->input = rheos__arena_alloc(&x->arena, count * sizeof *def->input);
  if (def->input == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    def->input[i] = input_text(x->graph, &node->edges[i], &x->arena);
    if (def->input[i] == NULL) return rheos__out_of_memory();
  }
  def->n_input = count;
  // TensorFlow has them sorted in a graph, and as they were made in a node by itself.
  if (x->is_whole_graph && num_controls > 1) {
    qsort(def->input + node->num_inputs, num_controls, sizeof *def->input, rheos__compare_texts);
  }
  return NULL;
}

static rheos_status *head_to_proto(rheos_graph *graph, int32_t id, rheos__arena *arena,
                                   Tensorflow__NodeDef *def) {
  const rheos__node *node = rheos__graph_node(graph, id);
  tensorflow__node_def__init(def);
  def->name = node_name(graph, id, arena, 0, 0);
  def->op = (char *)(uintptr_t)node->signature->op->name;
  def->device = (char *)(uintptr_t)node->device;
  return def->name != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__node_to_proto(rheos_graph *graph, int32_t id, rheos__arena *arena,
                                   Tensorflow__NodeDef *def) {
  const rheos__node *node = rheos__graph_node(graph, id);
  RHEOS_TRY(head_to_proto(graph, id, arena, def));
  return rheos__attrs_to_proto(node->signature, node->attrs, arena, def);
}

static rheos_status *node_to_proto(export *x, int32_t id, Tensorflow__NodeDef *def) {
  const rheos__node *node = rheos__graph_node(x->graph, id);
  RHEOS_TRY(head_to_proto(x->graph, id, &x->arena, def));
  RHEOS_TRY(inputs_to_proto(x, node, def));
  const rheos_tensor *beside = tensor_beside(x, node);
  return beside != NULL ? beside_to_proto(x, node, beside, def)
                        : rheos__attrs_to_proto(node->signature, node->attrs, &x->arena, def);
}

// Counts bytes to come. Once they are too many, those made so far are of no use.
static bool takes_bytes(export *x, uint64_t size_bytes) {
  x->size_bytes += size_bytes;
  if (x->size_bytes <= RHEOS__MAX_MESSAGE_BYTES) return true;
  rheos__buffer_deinit(&x->buffer);
  return false;
}

// With its tag and length if `tag` is not 0.
static rheos_status *put_node(export *x, int32_t id, int tag) {
  Tensorflow__NodeDef def;
  rheos_status *status = node_to_proto(x, id, &def);
  if (status != NULL) return rheos__status_at_take(status, x->graph, id);
  size_t rest_bytes;
  const void *rest =
      rheos__graph_node_fields(rheos__graph_format_slot(x->graph)->data, id, &rest_bytes);
  const size_t size_bytes = protobuf_c_message_get_packed_size(&def.base) + rest_bytes;
  const size_t head_bytes = tag != 0 ? 1 + rheos__varint_bytes(size_bytes) : 0;
  if (!takes_bytes(x, (uint64_t)size_bytes + head_bytes)) return NULL;
  if (tag != 0) {
    rheos__buffer_put_varint(&x->buffer, (uint64_t)tag);
    rheos__buffer_put_varint(&x->buffer, size_bytes);
  }
  rheos__proto_pack(&def.base, &x->buffer);
  rheos__buffer_put(&x->buffer, rest, rest_bytes);
  return NULL;
}

static rheos_status *put_made_gradients(const rheos_graph *graph, rheos__buffer *buffer) {
  const char *function, *gradient;
  for (size_t i = 0; rheos__library_made_gradient_at(graph, i, &function, &gradient); i++) {
    Tensorflow__GradientDef def = TENSORFLOW__GRADIENT_DEF__INIT;
    def.function_name = (char *)(uintptr_t)function;
    def.gradient_func = (char *)(uintptr_t)gradient;
    rheos__buffer_put_varint(buffer, GRADIENT_TAG);
    rheos__buffer_put_varint(buffer, protobuf_c_message_get_packed_size(&def.base));
    rheos__proto_pack(&def.base, buffer);
  }
  return buffer->failed ? rheos__out_of_memory() : NULL;
}

// Functions that programs made, and what was said of their gradients, as fields of the library.
static rheos_status *put_made_functions(rheos_graph *graph, rheos__buffer *buffer) {
  const rheos__made_function *made;
  for (size_t i = 0; (made = rheos__library_made_at(graph, i)) != NULL; i++) {
    rheos__buffer one = {0};
    rheos_status *status = rheos__made_function_to_bytes(made, &one);
    if (status == NULL && one.failed) status = rheos__out_of_memory();
    if (status == NULL) {
      rheos__buffer_put_varint(buffer, FUNCTION_TAG);
      rheos__buffer_put_varint(buffer, one.size_bytes);
      rheos__buffer_put(buffer, one.data, one.size_bytes);
    }
    rheos__buffer_deinit(&one);
    RHEOS_TRY(status);
  }
  return put_made_gradients(graph, buffer);
}

static void put_library(const rheos__graph_extras *extras, const rheos__buffer *made,
                        rheos__buffer *buffer) {
  const size_t num_functions = extras != NULL ? extras->num_functions : 0;
  size_t size_bytes = made->size_bytes + (extras != NULL ? extras->library_rest.size_bytes : 0);
  for (size_t i = 0; i < num_functions; i++) {
    const size_t length = extras->function_list[i].size_bytes;
    if (length == 0) continue;  // it was removed
    size_bytes += 1 + rheos__varint_bytes(length) + length;
  }
  if (size_bytes == 0) return;
  rheos__buffer_put_varint(buffer, LIBRARY_TAG);
  rheos__buffer_put_varint(buffer, size_bytes);
  for (size_t i = 0; i < num_functions; i++) {
    const rheos__extra *function = &extras->function_list[i];
    if (function->size_bytes == 0) continue;
    rheos__buffer_put_varint(buffer, FUNCTION_TAG);
    rheos__buffer_put_varint(buffer, function->size_bytes);
    rheos__buffer_put(buffer, extras->functions.data + function->at, function->size_bytes);
  }
  rheos__buffer_put(buffer, made->data, made->size_bytes);
  if (extras == NULL) return;
  rheos__buffer_put(buffer, extras->library_rest.data, extras->library_rest.size_bytes);
}

rheos_status *rheos__graph_put_rest(rheos_graph *graph, rheos__buffer *buffer) {
  const rheos__graph_extras *extras = rheos__graph_format_slot(graph)->data;
  Tensorflow__GraphDef rest = TENSORFLOW__GRAPH_DEF__INIT;
  Tensorflow__VersionDef versions = TENSORFLOW__VERSION_DEF__INIT;
  versions.producer = RHEOS__GRAPH_PRODUCER;
  rest.versions = &versions;
  rheos__buffer made = {0};
  rheos_status *status = put_made_functions(graph, &made);
  if (status == NULL && made.failed) status = rheos__out_of_memory();
  if (status == NULL) put_library(extras, &made, buffer);
  rheos__buffer_deinit(&made);
  RHEOS_TRY(status);
  if (extras != NULL) {
    versions.producer = extras->producer;
    versions.min_consumer = extras->min_consumer;
    versions.n_bad_consumers = extras->num_bad_consumers;
    versions.bad_consumers = extras->bad_consumers;
  }
  rheos__proto_pack(&rest.base, buffer);
  if (extras != NULL) {
    rheos__buffer_put(buffer, extras->graph_rest.data, extras->graph_rest.size_bytes);
  }
  return NULL;
}

static rheos_status *put_graph(export *x, int32_t first) {
  int32_t count = rheos_graph_num_operations(x->graph);
  if (first < 0 || first > count) {
    return RHEOS_INVALID("the graph has %d operations: there are none from number %d on",
                         (int)count, (int)first);
  }
  for (int32_t id = first; id < count; id++) {
    RHEOS_TRY(put_node(x, id, NODE_TAG));
    if (x->arena.total_bytes > SCRATCH_BYTES) {
      rheos__arena_deinit(&x->arena);
      rheos__arena_init(&x->arena);
    }
  }
  if (x->size_bytes > RHEOS__MAX_MESSAGE_BYTES) return NULL;
  const size_t before = x->buffer.size_bytes;
  RHEOS_TRY(rheos__graph_put_rest(x->graph, &x->buffer));
  takes_bytes(x, x->buffer.size_bytes - before);
  return NULL;
}

static rheos_status *too_large(const export *x) {
  return RHEOS_INVALID(
      "GraphDef cannot be larger than 2GB: it would have %llu bytes, and %lld are the limit of "
      "TensorFlow's format. rheos_graph_write() puts large constants into files beside it",
      (unsigned long long)x->size_bytes, (long long)RHEOS__MAX_MESSAGE_BYTES);
}

// One node, or the graph from that number on.
static rheos_status *to_bytes(rheos_graph *graph, int32_t id, bool is_graph,
                              const rheos__side_files *side, void **out_bytes,
                              size_t *out_size_bytes) {
  *out_bytes = NULL;
  *out_size_bytes = 0;
  export x = {.graph = graph, .is_whole_graph = is_graph, .side = side};
  rheos__arena_init(&x.arena);
  rheos__graph_lock(graph);
  rheos_status *status = is_graph ? put_graph(&x, id) : put_node(&x, id, 0);
  rheos__graph_unlock(graph);
  rheos__arena_deinit(&x.arena);
  if (status == NULL && x.buffer.failed) status = rheos__out_of_memory();
  if (status == NULL && x.size_bytes > RHEOS__MAX_MESSAGE_BYTES) status = too_large(&x);
  if (status != NULL) {
    rheos__buffer_deinit(&x.buffer);
    return status;
  }
  *out_bytes = x.buffer.data;
  *out_size_bytes = x.buffer.size_bytes;
  return NULL;
}

rheos_status *rheos_graph_to_graph_def(rheos_graph *graph, void **out_bytes,
                                       size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(graph);
  return to_bytes(graph, 0, true, NULL, out_bytes, out_size_bytes);
}

rheos_status *rheos_graph_to_graph_def_from(rheos_graph *graph, int32_t first, void **out_bytes,
                                            size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(graph);
  return to_bytes(graph, first, true, NULL, out_bytes, out_size_bytes);
}

rheos_status *rheos__graph_to_bytes_beside(rheos_graph *graph, const rheos__side_files *side,
                                           void **out_bytes, size_t *out_size_bytes) {
  return to_bytes(graph, 0, true, side, out_bytes, out_size_bytes);
}

rheos_status *rheos_operation_to_node_def(rheos_operation operation, void **out_bytes,
                                          size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_TRY(rheos__check_operation(operation.graph, operation, "the node"));
  return to_bytes(operation.graph, operation.id, false, NULL, out_bytes, out_size_bytes);
}
