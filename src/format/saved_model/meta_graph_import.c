// MetaGraphDef to graph: the nodes, then the collections, in which variables are put together again
// from the nodes that VariableDef messages name.
#include "format/saved_model/meta_graph.h"

#include <rheos/front_end.h>
#include <stdio.h>

#include "graph/handles.h"
#include "base/options.h"
#include "format/graph/graph_scope.h"
#include "format/message/protobuf.h"
#include "graph/graph.h"
#include "meta_graph.pb-c.h"

typedef struct collections_import {
  rheos_scope *scope;
  rheos_graph *graph;
  const char *prefix;
  rheos__arena arena;  // emptied after each item
} collections_import;

// ---- Names in messages, which do not have the prefix

static char *prefixed(collections_import *im, const char *name) {
  if (im->prefix[0] == '\0') return (char *)(uintptr_t)name;
  const size_t prefix_bytes = strlen(im->prefix), name_bytes = strlen(name);
  char *text = rheos__arena_alloc(&im->arena, prefix_bytes + name_bytes + 2);
  if (text == NULL) return NULL;
  memcpy(text, im->prefix, prefix_bytes);
  text[prefix_bytes] = '/';
  memcpy(text + prefix_bytes + 1, name, name_bytes + 1);
  return text;
}

static rheos_status *find_output(collections_import *im, const char *name,
                                 rheos_output *out_output) {
  *out_output = (rheos_output){NULL, 0, 0};
  const char *full = prefixed(im, name);
  if (full == NULL) return rheos__out_of_memory();
  return rheos_graph_output(im->graph, full, out_output);
}

static rheos_status *find_operation(collections_import *im, const char *name,
                                    rheos_operation *out_operation) {
  *out_operation = (rheos_operation){NULL, 0};
  const char *full = prefixed(im, name);
  if (full == NULL) return rheos__out_of_memory();
  *out_operation = rheos_graph_operation(im->graph, full);
  if (out_operation->graph != NULL) return NULL;
  return RHEOS_NOTFOUND("The name '%s' refers to an Operation not in the graph.", full);
}

// ---- Variables

bool rheos__is_variables_key(const char *key) {
  static const char *const keys[] = {
      "variables",        "trainable_variables", "local_variables",         "model_variables",
      "metric_variables", "global_step",         "moving_average_variables"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (strcmp(key, keys[i]) == 0) return true;
  }
  return false;
}

// The node that every reader of a resource variable may share: "v/Read/ReadVariableOp".
static rheos_status *find_read(collections_import *im, rheos_output handle, rheos_output *out) {
  const rheos_operation operation = rheos_output_operation(handle);
  const size_t length = rheos_operation_name(operation, NULL, 0);
  char *name = rheos__arena_alloc(&im->arena, length + 32);
  if (name == NULL) return rheos__out_of_memory();
  rheos_operation_name(operation, name, length + 1);
  memcpy(name + length, "/Read/ReadVariableOp", 21);
  *out = rheos_operation_output(rheos_graph_operation(im->graph, name), 0);
  return NULL;
}

static bool reads_a_resource(rheos_output output) {
  return strcmp(rheos_operation_type(rheos_output_operation(output)), "ReadVariableOp") == 0;
}

// What gives the variable's value. Of a resource variable the snapshot may be a copy of a read on
// another device.
static rheos_status *find_value(collections_import *im, const Tensorflow__VariableDef *def,
                                rheos_variable *nodes) {
  if (def->snapshot_name[0] != '\0') {
    RHEOS_TRY(find_output(im, def->snapshot_name, &nodes->value));
    if (!def->is_resource || reads_a_resource(nodes->value)) return NULL;
  }
  rheos_output read = nodes->handle;
  if (def->is_resource) RHEOS_TRY(find_read(im, nodes->handle, &read));
  if (read.graph == NULL) {
    if (nodes->value.graph != NULL) return NULL;
    return RHEOS_INVALID("the variable '%s' has no node that reads it", def->variable_name);
  }
  nodes->cached = nodes->value;
  nodes->value = read;
  return NULL;
}

static rheos_status *find_nodes(collections_import *im, const Tensorflow__VariableDef *def,
                                rheos_variable *nodes) {
  RHEOS_TRY(find_output(im, def->variable_name, &nodes->handle));
  RHEOS_TRY(find_value(im, def, nodes));
  if (def->initial_value_name[0] != '\0') {
    RHEOS_TRY(find_output(im, def->initial_value_name, &nodes->initial_value));
  }
  if (def->initializer_name[0] != '\0') {
    RHEOS_TRY(find_operation(im, def->initializer_name, &nodes->initializer));
  }
  nodes->trainable = def->trainable;
  nodes->synchronization = (int32_t)def->synchronization;
  nodes->aggregation = (int32_t)def->aggregation;
  return NULL;
}

// "5 2 3,2:0,2": the shape of the whole, then offset and size in each dimension.
static rheos_status *set_slice(collections_import *im, rheos_variable variable,
                               const Tensorflow__SaveSliceInfoDef *slice) {
  const size_t rank = slice->n_full_shape;
  if (slice->n_var_offset != rank || slice->n_var_shape != rank || rank > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("a part of '%s' has %zu, %zu and %zu dimensions", slice->full_name, rank,
                         slice->n_var_offset, slice->n_var_shape);
  }
  char text[RHEOS_MAX_RANK * 64 + 1];
  int length = 0;
  for (size_t i = 0; i < rank; i++) {
    length += snprintf(text + length, sizeof text - (size_t)length, "%lld ",
                       (long long)slice->full_shape[i]);
  }
  text[length] = '\0';
  for (size_t i = 0; i < rank; i++) {
    length += snprintf(text + length, sizeof text - (size_t)length, "%s%lld,%lld", i > 0 ? ":" : "",
                       (long long)slice->var_offset[i], (long long)slice->var_shape[i]);
  }
  const char *full_name = prefixed(im, slice->full_name);
  if (full_name == NULL) return rheos__out_of_memory();
  rheos_variable_set_slice(im->scope, variable, full_name, text);
  return NULL;
}

static rheos_status *variable_item(collections_import *im, const rheos_string *bytes,
                                   rheos_item *out_item) {
  Tensorflow__VariableDef *def;
  RHEOS_TRY(RHEOS_PROTO_UNPACK(variable_def, bytes->data, bytes->size_bytes, &im->arena, &def));
  rheos_variable nodes = {.graph = im->graph};
  RHEOS_TRY(find_nodes(im, def, &nodes));
  const rheos_variable variable = rheos_variable_from_nodes(im->scope, nodes);
  if (variable.graph != NULL && def->save_slice_info_def != NULL) {
    RHEOS_TRY(set_slice(im, variable, def->save_slice_info_def));
  }
  *out_item =
      (rheos_item){.kind = RHEOS_ITEM_VARIABLE, .id = variable.handle.id, .index = variable.index};
  return NULL;
}

// ---- Collections

// "x:0" is a tensor, "x" an operation.
static rheos_status *node_item(collections_import *im, const char *name, rheos_item *out_item) {
  if (strchr(name, ':') != NULL) {
    rheos_output output;
    RHEOS_TRY(find_output(im, name, &output));
    *out_item = (rheos_item){.kind = RHEOS_ITEM_OUTPUT, .id = output.id, .index = output.index};
    return NULL;
  }
  rheos_operation operation;
  RHEOS_TRY(find_operation(im, name, &operation));
  *out_item = (rheos_item){.kind = RHEOS_ITEM_OPERATION, .id = operation.id};
  return NULL;
}

static rheos_status *make_item(collections_import *im, const rheos_collection_def *collection,
                               size_t index, rheos_item *out_item) {
  switch (collection->kind) {
    case RHEOS_COLLECTION_NODES: return node_item(im, collection->nodes[index], out_item);
    case RHEOS_COLLECTION_INTS:
      *out_item = (rheos_item){.kind = RHEOS_ITEM_INT, .i = collection->ints[index]};
      return NULL;
    case RHEOS_COLLECTION_FLOATS:
      *out_item = (rheos_item){.kind = RHEOS_ITEM_FLOAT, .f = collection->floats[index]};
      return NULL;
    case RHEOS_COLLECTION_ANY:
      *out_item = (rheos_item){.kind = RHEOS_ITEM_ANY, .bytes = collection->bytes[index]};
      return NULL;
    default:
      if (rheos__is_variables_key(collection->key)) {
        return variable_item(im, &collection->bytes[index], out_item);
      }
      *out_item = (rheos_item){.kind = RHEOS_ITEM_BYTES};
      return rheos__collection_bytes_below(collection->key, im->prefix, collection->bytes[index],
                                           &im->arena, &out_item->bytes);
  }
}

static rheos_status *import_collection(collections_import *im,
                                       const rheos_collection_def *collection) {
  for (size_t i = 0; i < collection->count; i++) {
    rheos_item item;
    rheos_status *status = make_item(im, collection, i, &item);
    if (status == NULL && rheos_scope_status(im->scope) != NULL) return NULL;
    if (status == NULL) status = rheos_graph_add_to_collection(im->graph, collection->key, item);
    rheos__arena_reset(&im->arena);
    if (status == NULL) continue;
    rheos_status *named = rheos_status_new(rheos_status_code(status), "collection '%s': %s",
                                           collection->key, rheos_status_message(status));
    rheos_status_free(status);
    return named;
  }
  return NULL;
}

// ---- Inputs that a part of a graph has from elsewhere

static bool is_mapped(const rheos_import_options *options, rheos_string name) {
  for (size_t i = 0; i < options->num_mappings; i++) {
    const char *from = options->input_map[i].from;
    if (from != NULL && strlen(from) == name.size_bytes &&
        memcmp(from, name.data, name.size_bytes) == 0) {
      return true;
    }
  }
  return false;
}

static rheos_string item_name(const rheos_collection_def *collection, size_t index) {
  if (collection->kind == RHEOS_COLLECTION_BYTES) return collection->bytes[index];
  const char *name = collection->nodes[index];
  return rheos__borrow_string(name, strlen(name));
}

// Inputs that the graph leaves unbound all have to be given, as TensorFlow has it.
static rheos_status *check_unbound(const rheos_meta_graph *meta_graph,
                                   const rheos_import_options *options) {
  const rheos_collection_def *unbound = rheos_meta_graph_collection(meta_graph, RHEOS__UNBOUND_KEY);
  if (unbound == NULL ||
      (unbound->kind != RHEOS_COLLECTION_BYTES && unbound->kind != RHEOS_COLLECTION_NODES)) {
    return NULL;
  }
  rheos__buffer missing = {0};
  for (size_t i = 0; i < unbound->count; i++) {
    const rheos_string name = item_name(unbound, i);
    if (is_mapped(options, name)) continue;
    if (missing.size_bytes > 0) rheos__buffer_put(&missing, ", ", 2);
    rheos__buffer_put(&missing, name.data, name.size_bytes);
  }
  if (missing.size_bytes == 0 && !missing.failed) return NULL;
  rheos__buffer_put(&missing, "", 1);
  rheos_status *status = missing.failed
                             ? rheos__out_of_memory()
                             : RHEOS_INVALID(
                                   "Graph contains unbound inputs: %s. Must provide these inputs "
                                   "through input_map.",
                                   missing.data);
  rheos__buffer_deinit(&missing);
  return status;
}

// ---- The saver

static rheos_status *find_saver(collections_import *im, const rheos_saver_def *def,
                                rheos_saver *out_saver) {
  RHEOS_TRY(find_output(im, def->filename_tensor_name, &out_saver->filename));
  if (def->save_tensor_name[0] != '\0') {
    RHEOS_TRY(find_output(im, def->save_tensor_name, &out_saver->save_path));
  }
  return find_operation(im, def->restore_op_name, &out_saver->restore);
}

static rheos_status *make_saver(collections_import *im, rheos_saver *out_saver) {
  rheos_variable *variables = NULL;
  const size_t count =
      rheos_graph_collect_variables(im->graph, RHEOS_COLLECTION_GLOBAL_VARIABLES, &variables);
  if (variables == NULL) return rheos__out_of_memory();
  if (count > 0) *out_saver = rheos_saver_new(im->scope, variables, NULL, count, NULL);
  rheos__free(variables);
  return NULL;
}

static rheos_status *import_rest(collections_import *im, const rheos_meta_graph *meta_graph,
                                 rheos_saver *out_saver) {
  for (size_t i = 0; i < meta_graph->num_collections; i++) {
    if (strcmp(meta_graph->collections[i].key, RHEOS__UNBOUND_KEY) == 0) continue;
    RHEOS_TRY(import_collection(im, &meta_graph->collections[i]));
  }
  if (rheos_scope_status(im->scope) != NULL) return NULL;
  if (meta_graph->saver != NULL) return find_saver(im, meta_graph->saver, out_saver);
  return make_saver(im, out_saver);
}

rheos_saver rheos_import_meta_graph_sized(rheos_scope *scope, const rheos_meta_graph *meta_graph,
                                          const rheos_import_options *options,
                                          size_t options_bytes) {
  const rheos_saver no_saver = {.filename = {NULL, 0, 0}};
  rheos_import_options with;
  rheos_scope_fail_take(scope,
                        RHEOS_READ_OPTIONS(rheos_import_options, options, options_bytes, &with));
  if (rheos_scope_status(scope) != NULL) return no_saver;
  if (!rheos__scope_goes_on(scope, RHEOS_LIST_STATUS(meta_graph, 1)) ||
      !rheos__scope_goes_on(scope, RHEOS_LIST_STATUS(with.input_map, with.num_mappings))) {
    return no_saver;
  }
  rheos_status *status = check_unbound(meta_graph, &with);
  if (status != NULL) {
    rheos_scope_fail_take(scope, status);
    return no_saver;
  }
  with.op_list = meta_graph->op_list;
  with.op_list_bytes = meta_graph->op_list_bytes;
  rheos_import_graph_def(scope, meta_graph->graph_def, meta_graph->graph_def_bytes, &with);
  if (rheos_scope_status(scope) != NULL) return no_saver;
  collections_import im = {.scope = scope,
                           .graph = rheos_scope_graph(scope),
                           .prefix = with.prefix != NULL ? with.prefix : ""};
  rheos__arena_init(&im.arena);
  rheos_saver saver = no_saver;
  status = import_rest(&im, meta_graph, &saver);
  rheos__arena_deinit(&im.arena);
  if (status != NULL) rheos_scope_fail_take(scope, status);
  return rheos_scope_status(scope) == NULL ? saver : no_saver;
}
