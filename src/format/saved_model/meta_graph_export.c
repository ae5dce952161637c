// Graph to MetaGraphDef, field by field: the large one, the graph, is put into the message as the
// bytes that it is exported to.
#include "format/saved_model/meta_graph.h"

#include <rheos/graph_util.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/handles.h"
#include "base/file.h"
#include "base/options.h"
#include "base/text.h"
#include "format/graph/graph_edit.h"
#include "format/graph/graph_extras.h"
#include "format/graph/graph_savers.h"
#include "format/graph/graph_scope.h"
#include "format/message/tensor_proto.h"
#include "format/message/text_format.h"
#include "meta_graph.pb-c.h"

// Fields of MetaGraphDef, of MetaInfoDef, and of maps.
enum { INFO = 1, GRAPH = 2, SAVER = 3, COLLECTION = 4, SIGNATURE = 5, ASSET = 6 };
enum { OP_LIST = 2, TAG = 4, TENSORFLOW_VERSION = 5, STRIPPED_DEFAULTS = 7 };
enum { MAP_KEY = 1, MAP_VALUE = 2, OP_OF_LIST = 1 };

typedef struct meta_export {
  rheos_graph *graph;
  const rheos_meta_graph_options *options;
  const char *scope;  // that is written, "": all
  char **unbound;     // inputs from outside of it, for rheos_free()
  size_t num_unbound;
  rheos__saver_scopes dropped;  // savers that are not written
  rheos__arena arena;
  rheos__buffer out;
} meta_export;

// ---- Names

static char *operation_name(meta_export *e, rheos_operation operation, size_t room_behind) {
  const size_t length = rheos_operation_name(operation, NULL, 0);
  char *name = rheos__arena_alloc(&e->arena, length + room_behind + 1);
  if (name == NULL) return NULL;
  rheos_operation_name(operation, name, length + 1);
  const char *rest = rheos__without_scope(name, e->scope);
  if (rest != name) memmove(name, rest, strlen(rest) + 1);
  return name;
}

static char *whole_name(meta_export *e, rheos_operation operation) {
  const size_t length = rheos_operation_name(operation, NULL, 0);
  char *name = rheos__arena_alloc(&e->arena, length + 1);
  if (name != NULL) rheos_operation_name(operation, name, length + 1);
  return name;
}

static rheos_status *is_below(meta_export *e, rheos_operation operation, bool *out_is_below) {
  *out_is_below = true;
  if (e->scope[0] == '\0' && e->dropped.count == 0) return NULL;
  const char *name = whole_name(e, operation);
  if (name == NULL) return rheos__out_of_memory();
  *out_is_below = rheos__is_below(name, e->scope) && !rheos__saver_scopes_have(&e->dropped, name);
  return NULL;
}

static rheos_status *not_written(const meta_export *e, const char *what) {
  return e->scope[0] == '\0'
             ? RHEOS_INVALID("%s lies in the scope of a saver that is left out", what)
             : RHEOS_INVALID("%s is not below the scope '%s'", what, e->scope);
}

// What is asked for has to be in what is written. `what` names it.
static rheos_status *check_graph(meta_export *e, rheos_operation operation, const char *what) {
  if (operation.graph != e->graph) return RHEOS_INVALID("%s is of another graph", what);
  bool below;
  RHEOS_TRY(is_below(e, operation, &below));
  return below ? NULL : not_written(e, what);
}

// "x:0"; "" for none.
static char *output_name(meta_export *e, rheos_output output) {
  if (output.graph == NULL) return rheos__arena_strdup(&e->arena, "");
  char *name = operation_name(e, rheos_output_operation(output), 12);
  if (name != NULL) snprintf(name + strlen(name), 13, ":%d", output.index);
  return name;
}

static char *plain_name(meta_export *e, rheos_operation operation) {
  return operation.graph == NULL ? rheos__arena_strdup(&e->arena, "")
                                 : operation_name(e, operation, 0);
}

// ---- What the file says of its writer

typedef struct op_types {
  const char **items;
  size_t count, capacity;
} op_types;

static rheos_status *add_op_type(op_types *types, const char *type) {
  if (!RHEOS_RESERVE(types->items, types->capacity, types->count + 1))
    return rheos__out_of_memory();
  types->items[types->count++] = type;
  return NULL;
}

// The types of all nodes and of those in functions, sorted, each once.
static rheos_status *collect_op_types(const Tensorflow__GraphDef *def, op_types *types) {
  for (size_t i = 0; i < def->n_node; i++) RHEOS_TRY(add_op_type(types, def->node[i]->op));
  for (size_t i = 0; def->library != NULL && i < def->library->n_function; i++) {
    const Tensorflow__FunctionDef *function = def->library->function[i];
    for (size_t k = 0; k < function->n_node_def; k++) {
      RHEOS_TRY(add_op_type(types, function->node_def[k]->op));
    }
  }
  if (types->count > 1)
    qsort(types->items, types->count, sizeof *types->items, rheos__compare_texts);
  size_t kept = 0;
  for (size_t i = 0; i < types->count; i++) {
    if (kept > 0 && strcmp(types->items[kept - 1], types->items[i]) == 0) continue;
    types->items[kept++] = types->items[i];
  }
  types->count = kept;
  return NULL;
}

// Definitions of the ops that are known.
static rheos_status *put_op_list(const op_types *types, rheos__buffer *info) {
  rheos__buffer list = {0};
  rheos_status *status = NULL;
  for (size_t i = 0; i < types->count && status == NULL; i++) {
    if (rheos__signature_by_name(types->items[i]) == NULL) continue;
    void *bytes;
    size_t size_bytes;
    status = rheos_op_to_op_def(types->items[i], &bytes, &size_bytes);
    if (status != NULL) break;
    rheos__wire_put_bytes(&list, OP_OF_LIST, bytes, size_bytes);
    rheos_free(bytes);
  }
  rheos__wire_put_message(info, OP_LIST, &list);
  return status;
}

static rheos_status *put_info(meta_export *e, const Tensorflow__GraphDef *def) {
  static const char version[] = "1.15.5";  // of TensorFlow, whose graphs these are
  rheos__buffer info = {0};
  op_types types = {NULL, 0, 0};
  rheos_status *status = collect_op_types(def, &types);
  if (status == NULL) status = put_op_list(&types, &info);
  rheos__free(types.items);
  for (size_t i = 0; i < e->options->num_tags; i++) {
    rheos__wire_put_bytes(&info, TAG, e->options->tags[i], strlen(e->options->tags[i]));
  }
  rheos__wire_put_bytes(&info, TENSORFLOW_VERSION, version, sizeof version - 1);
  if (e->options->strip_default_attrs) rheos__wire_put_varint(&info, STRIPPED_DEFAULTS, 1);
  rheos__wire_put_message(&e->out, INFO, &info);
  return status;
}

// ---- The graph

// A message in place of the one before it.
typedef struct graph_bytes {
  void *data;
  size_t size_bytes;
} graph_bytes;

static void replace_bytes(graph_bytes *graph, graph_bytes by) {
  rheos_free(graph->data);
  *graph = by;
}

static rheos_status *drop_savers(meta_export *e, graph_bytes *graph) {
  const rheos_saver *saver = e->options->saver;
  const char *kept[2] = {NULL, NULL};
  if (saver != NULL && saver->save_path.graph != NULL) {
    kept[0] = whole_name(e, rheos_output_operation(saver->save_path));
    if (kept[0] == NULL) return rheos__out_of_memory();
  }
  if (saver != NULL && saver->restore.graph != NULL) {
    kept[1] = whole_name(e, saver->restore);
    if (kept[1] == NULL) return rheos__out_of_memory();
  }
  graph_bytes made;
  RHEOS_TRY(rheos__graph_def_without_savers(graph->data, graph->size_bytes, kept, &e->arena,
                                            &e->dropped, &made.data, &made.size_bytes));
  replace_bytes(graph, made);
  return NULL;
}

// The graph as it shall be written.
static rheos_status *change_graph(meta_export *e, graph_bytes *graph) {
  graph_bytes made;
  if (e->options->clear_extraneous_savers) RHEOS_TRY(drop_savers(e, graph));
  if (e->scope[0] != '\0') {
    RHEOS_TRY(rheos_graph_def_below(graph->data, graph->size_bytes, e->scope, &made.data,
                                    &made.size_bytes, &e->unbound, &e->num_unbound));
    replace_bytes(graph, made);
  }
  if (e->options->clear_devices) {
    RHEOS_TRY(rheos_graph_def_clear_devices(graph->data, graph->size_bytes, &made.data,
                                            &made.size_bytes));
    replace_bytes(graph, made);
  }
  if (e->options->strip_default_attrs) {
    RHEOS_TRY(rheos_graph_def_strip_default_attrs(graph->data, graph->size_bytes, &made.data,
                                                  &made.size_bytes));
    replace_bytes(graph, made);
  }
  return NULL;
}

static rheos_status *put_info_of(meta_export *e, graph_bytes graph) {
  rheos__graph_edit edit;
  rheos_status *status = rheos__graph_edit_init(&edit, graph.data, graph.size_bytes);
  if (status == NULL) status = put_info(e, edit.def);
  rheos__graph_edit_deinit(&edit);
  return status;
}

static rheos_status *put_graph(meta_export *e) {
  graph_bytes graph;
  RHEOS_TRY(rheos_graph_to_graph_def(e->graph, &graph.data, &graph.size_bytes));
  rheos_status *status = change_graph(e, &graph);
  if (status == NULL) status = put_info_of(e, graph);
  if (status == NULL) rheos__wire_put_bytes(&e->out, GRAPH, graph.data, graph.size_bytes);
  rheos_free(graph.data);
  return status;
}

// ---- The saver

static bool has_saver(const meta_export *e) {
  return e->options->saver != NULL && e->options->saver->filename.graph != NULL;
}

// The SaverDef's bytes; those of the buffer count when no error comes back.
static rheos_status *saver_bytes(meta_export *e, rheos__buffer *out) {
  const rheos_saver *saver = e->options->saver;
  RHEOS_TRY(check_graph(e, rheos_output_operation(saver->filename), "the saver"));
  Tensorflow__SaverDef def = TENSORFLOW__SAVER_DEF__INIT;
  def.filename_tensor_name = output_name(e, saver->filename);
  def.save_tensor_name = output_name(e, saver->save_path);
  def.restore_op_name = plain_name(e, saver->restore);
  if (def.filename_tensor_name == NULL || def.save_tensor_name == NULL ||
      def.restore_op_name == NULL) {
    return rheos__out_of_memory();
  }
  const int64_t max_to_keep = rheos__int_or(e->options->max_to_keep, 5);
  def.max_to_keep = (int32_t)(max_to_keep < INT32_MAX ? max_to_keep : INT32_MAX);
  def.keep_checkpoint_every_n_hours = 10000;
  def.version = TENSORFLOW__SAVER_DEF__CHECKPOINT_FORMAT_VERSION__V2;
  rheos__proto_pack(&def.base, out);
  return NULL;
}

static rheos_status *put_saver(meta_export *e) {
  if (!has_saver(e)) return NULL;
  rheos__buffer bytes = {0};
  RHEOS_TRY(saver_bytes(e, &bytes));
  rheos__wire_put_message(&e->out, SAVER, &bytes);
  return NULL;
}

// ---- Collections

// "5 2 3,2:0,2" as numbers.
static rheos_status *fill_slice(meta_export *e, const char *text,
                                Tensorflow__SaveSliceInfoDef *slice) {
  int64_t *numbers = rheos__arena_alloc(&e->arena, 3 * RHEOS_MAX_RANK * sizeof *numbers);
  if (numbers == NULL) return rheos__out_of_memory();
  slice->full_shape = numbers;
  slice->var_offset = numbers + RHEOS_MAX_RANK;
  slice->var_shape = numbers + 2 * RHEOS_MAX_RANK;
  const char *last = strrchr(text, ' ');
  for (const char *at = text; last != NULL && at < last && slice->n_full_shape < RHEOS_MAX_RANK;) {
    char *end;
    slice->full_shape[slice->n_full_shape++] = strtoll(at, &end, 10);
    at = end + 1;
  }
  const char *at = last != NULL ? last + 1 : text;
  for (size_t i = 0; i < slice->n_full_shape; i++) {
    char *end;
    slice->var_offset[slice->n_var_offset++] = strtoll(at, &end, 10);
    if (*end != ',') return RHEOS_INVALID("'%s' is not a shape and a slice", text);
    slice->var_shape[slice->n_var_shape++] = strtoll(end + 1, &end, 10);
    at = end + (*end == ':');
  }
  return NULL;
}

static rheos_status *variable_bytes(meta_export *e, rheos_variable variable,
                                    ProtobufCBinaryData *out) {
  Tensorflow__VariableDef def = TENSORFLOW__VARIABLE_DEF__INIT;
  Tensorflow__SaveSliceInfoDef slice = TENSORFLOW__SAVE_SLICE_INFO_DEF__INIT;
  const rheos_output snapshot = variable.cached.graph != NULL ? variable.cached : variable.value;
  def.variable_name = output_name(e, variable.handle);
  def.initial_value_name = output_name(e, variable.initial_value);
  def.initializer_name = plain_name(e, variable.initializer);
  def.snapshot_name = output_name(e, snapshot);
  if (def.variable_name == NULL || def.initial_value_name == NULL || def.initializer_name == NULL ||
      def.snapshot_name == NULL) {
    return rheos__out_of_memory();
  }
  def.is_resource = rheos_variable_is_resource(variable);
  def.trainable = variable.trainable;
  def.synchronization = (Tensorflow__VariableSynchronization)variable.synchronization;
  def.aggregation = (Tensorflow__VariableAggregation)variable.aggregation;
  const char *whole, *text;
  if (rheos_variable_slice(variable, &whole, &text)) {
    slice.full_name = (char *)(uintptr_t)rheos__without_scope(whole, e->scope);
    RHEOS_TRY(fill_slice(e, text, &slice));
    def.save_slice_info_def = &slice;
  }
  out->len = protobuf_c_message_get_packed_size(&def.base);
  out->data = rheos__arena_alloc(&e->arena, out->len);
  if (out->data == NULL) return rheos__out_of_memory();
  protobuf_c_message_pack(&def.base, out->data);
  return NULL;
}

static bool is_node(rheos_item_kind kind) {
  return kind == RHEOS_ITEM_OPERATION || kind == RHEOS_ITEM_OUTPUT || kind == RHEOS_ITEM_VARIABLE;
}

static char *item_name(meta_export *e, const rheos_item *item) {
  if (item->kind == RHEOS_ITEM_OPERATION) {
    return plain_name(e, (rheos_operation){e->graph, item->id});
  }
  const int32_t index = item->kind == RHEOS_ITEM_OUTPUT ? item->index : 0;
  return output_name(e, (rheos_output){e->graph, item->id, index});
}

// One kind of items each: `count` of them from collection `key` into a message.
static rheos_status *fill_nodes(meta_export *e, const rheos_item *items, size_t count,
                                Tensorflow__CollectionDef *def) {
  def->node_list = rheos__arena_alloc(&e->arena, sizeof *def->node_list);
  char **names = rheos__arena_alloc(&e->arena, count * sizeof *names);
  if (def->node_list == NULL || names == NULL) return rheos__out_of_memory();
  tensorflow__collection_def__node_list__init(def->node_list);
  for (size_t i = 0; i < count; i++) {
    names[i] = item_name(e, &items[i]);
    if (names[i] == NULL) return rheos__out_of_memory();
  }
  def->kind_case = TENSORFLOW__COLLECTION_DEF__KIND_NODE_LIST;
  def->node_list->value = names;
  def->node_list->n_value = count;
  return NULL;
}

static rheos_status *fill_bytes(meta_export *e, const char *key, const rheos_item *items,
                                size_t count, Tensorflow__CollectionDef *def) {
  def->bytes_list = rheos__arena_alloc(&e->arena, sizeof *def->bytes_list);
  ProtobufCBinaryData *values = rheos__arena_alloc(&e->arena, count * sizeof *values);
  if (def->bytes_list == NULL || values == NULL) return rheos__out_of_memory();
  tensorflow__collection_def__bytes_list__init(def->bytes_list);
  for (size_t i = 0; i < count; i++) {
    if (items[i].kind == RHEOS_ITEM_VARIABLE) {
      RHEOS_TRY(variable_bytes(e, rheos_graph_variable(e->graph, items[i].index), &values[i]));
    } else {
      rheos_string bytes;
      RHEOS_TRY(rheos__collection_bytes_within(key, e->scope, items[i].bytes, &e->arena, &bytes));
      values[i] = (ProtobufCBinaryData){bytes.size_bytes, (uint8_t *)bytes.data};
    }
  }
  def->kind_case = TENSORFLOW__COLLECTION_DEF__KIND_BYTES_LIST;
  def->bytes_list->value = values;
  def->bytes_list->n_value = count;
  return NULL;
}

static rheos_status *fill_any(meta_export *e, const rheos_item *items, size_t count,
                              Tensorflow__CollectionDef *def) {
  def->any_list = rheos__arena_alloc(&e->arena, sizeof *def->any_list);
  Google__Protobuf__Any **values = rheos__arena_alloc(&e->arena, count * sizeof *values);
  if (def->any_list == NULL || values == NULL) return rheos__out_of_memory();
  tensorflow__collection_def__any_list__init(def->any_list);
  for (size_t i = 0; i < count; i++) {
    RHEOS_TRY(rheos__proto_unpack(&google__protobuf__any__descriptor, items[i].bytes.data,
                                  items[i].bytes.size_bytes, &e->arena,
                                  (ProtobufCMessage **)&values[i]));
  }
  def->kind_case = TENSORFLOW__COLLECTION_DEF__KIND_ANY_LIST;
  def->any_list->value = values;
  def->any_list->n_value = count;
  return NULL;
}

static rheos_status *fill_ints(meta_export *e, const rheos_item *items, size_t count,
                               Tensorflow__CollectionDef *def) {
  def->int64_list = rheos__arena_alloc(&e->arena, sizeof *def->int64_list);
  int64_t *values = rheos__arena_alloc(&e->arena, count * sizeof *values);
  if (def->int64_list == NULL || values == NULL) return rheos__out_of_memory();
  tensorflow__collection_def__int64_list__init(def->int64_list);
  for (size_t i = 0; i < count; i++) values[i] = items[i].i;
  def->kind_case = TENSORFLOW__COLLECTION_DEF__KIND_INT64_LIST;
  def->int64_list->value = values;
  def->int64_list->n_value = count;
  return NULL;
}

static rheos_status *fill_floats(meta_export *e, const rheos_item *items, size_t count,
                                 Tensorflow__CollectionDef *def) {
  def->float_list = rheos__arena_alloc(&e->arena, sizeof *def->float_list);
  float *values = rheos__arena_alloc(&e->arena, count * sizeof *values);
  if (def->float_list == NULL || values == NULL) return rheos__out_of_memory();
  tensorflow__collection_def__float_list__init(def->float_list);
  for (size_t i = 0; i < count; i++) values[i] = items[i].f;
  def->kind_case = TENSORFLOW__COLLECTION_DEF__KIND_FLOAT_LIST;
  def->float_list->value = values;
  def->float_list->n_value = count;
  return NULL;
}

// Variables are written as such in the collections of variables, elsewhere by the name of their
// node.
static rheos_status *fill_collection(meta_export *e, const char *key, const rheos_item *items,
                                     size_t count, Tensorflow__CollectionDef *def) {
  bool all_nodes = true, all_variables = true, all_same = true;
  for (size_t i = 0; i < count; i++) {
    all_nodes = all_nodes && is_node(items[i].kind);
    all_variables = all_variables && items[i].kind == RHEOS_ITEM_VARIABLE;
    all_same = all_same && items[i].kind == items[0].kind;
  }
  if (all_variables && rheos__is_variables_key(key)) return fill_bytes(e, key, items, count, def);
  if (all_nodes) return fill_nodes(e, items, count, def);
  if (!all_same) return RHEOS_INVALID("the collection '%s' holds items of several kinds", key);
  switch (items[0].kind) {
    case RHEOS_ITEM_INT: return fill_ints(e, items, count, def);
    case RHEOS_ITEM_FLOAT: return fill_floats(e, items, count, def);
    case RHEOS_ITEM_ANY: return fill_any(e, items, count, def);
    default: return fill_bytes(e, key, items, count, def);
  }
}

static void put_map_entry(rheos__buffer *out, int field, const char *key,
                          const ProtobufCMessage *value) {
  rheos__buffer entry = {0}, bytes = {0};
  rheos__wire_put_bytes(&entry, MAP_KEY, key, strlen(key));
  rheos__proto_pack(value, &bytes);
  rheos__wire_put_message(&entry, MAP_VALUE, &bytes);
  rheos__wire_put_message(out, field, &entry);
}

// The operation that an item is, or is of.
static rheos_operation operation_of(meta_export *e, const rheos_item *item) {
  if (item->kind != RHEOS_ITEM_VARIABLE) return (rheos_operation){e->graph, item->id};
  return rheos_output_operation(rheos_graph_variable(e->graph, item->index).handle);
}

// Whether an item is written: not if it is a node, or of one, outside of the scope.
static rheos_status *is_written(meta_export *e, const char *key, const rheos_item *item,
                                bool *out_is_written) {
  *out_is_written = true;
  if (is_node(item->kind)) return is_below(e, operation_of(e, item), out_is_written);
  if (e->scope[0] == '\0' || item->kind != RHEOS_ITEM_BYTES) return NULL;
  return rheos__collection_bytes_are_within(key, e->scope, item->bytes, &e->arena, out_is_written);
}

static rheos_status *put_collection(meta_export *e, const char *key) {
  const int32_t size = rheos_graph_collection_size(e->graph, key);
  rheos_item *items = rheos__arena_alloc(&e->arena, (size_t)size * sizeof *items);
  if (items == NULL) return rheos__out_of_memory();
  size_t count = 0;
  for (int32_t i = 0; i < size; i++) {
    bool written;
    items[count] = rheos_graph_collection_item(e->graph, key, i);
    RHEOS_TRY(is_written(e, key, &items[count], &written));
    if (written) count++;
  }
  if (count == 0) return NULL;
  Tensorflow__CollectionDef def = TENSORFLOW__COLLECTION_DEF__INIT;
  RHEOS_TRY(fill_collection(e, key, items, count, &def));
  put_map_entry(&e->out, COLLECTION, key, &def.base);
  return NULL;
}

// The names that whoever imports the part has to give.
static rheos_status *put_unbound(meta_export *e) {
  rheos_item *items = rheos__arena_alloc(&e->arena, e->num_unbound * sizeof *items);
  if (items == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < e->num_unbound; i++) {
    items[i] =
        (rheos_item){.kind = RHEOS_ITEM_BYTES, .bytes = {e->unbound[i], strlen(e->unbound[i])}};
  }
  Tensorflow__CollectionDef def = TENSORFLOW__COLLECTION_DEF__INIT;
  RHEOS_TRY(fill_bytes(e, RHEOS__UNBOUND_KEY, items, e->num_unbound, &def));
  put_map_entry(&e->out, COLLECTION, RHEOS__UNBOUND_KEY, &def.base);
  return NULL;
}

static const char savers_key[] = "savers";

// The collection of savers with the one that is written.
static rheos_status *put_own_saver(meta_export *e) {
  if (!has_saver(e)) return NULL;
  rheos__buffer bytes = {0};
  rheos_status *status = saver_bytes(e, &bytes);
  if (status == NULL && bytes.failed) status = rheos__out_of_memory();
  Tensorflow__CollectionDef def = TENSORFLOW__COLLECTION_DEF__INIT;
  Tensorflow__CollectionDef__BytesList list = TENSORFLOW__COLLECTION_DEF__BYTES_LIST__INIT;
  ProtobufCBinaryData value = {bytes.size_bytes, (uint8_t *)bytes.data};
  def.kind_case = TENSORFLOW__COLLECTION_DEF__KIND_BYTES_LIST;
  def.bytes_list = &list;
  list.n_value = 1;
  list.value = &value;
  if (status == NULL) put_map_entry(&e->out, COLLECTION, savers_key, &def.base);
  rheos__buffer_deinit(&bytes);
  return status;
}

static const char main_op_key[] = "saved_model_main_op";

static bool is_wanted(const rheos_meta_graph_options *options, const char *key) {
  if (options->collections == NULL) return true;
  for (size_t i = 0; i < options->num_collections; i++) {
    if (strcmp(options->collections[i], key) == 0) return true;
  }
  return false;
}

static rheos_status *put_init(meta_export *e) {
  const rheos_operation init = e->options->init;
  if (init.graph == NULL) return NULL;
  RHEOS_TRY(check_graph(e, init, "the init operation"));
  const rheos_item item = {.kind = RHEOS_ITEM_OPERATION, .id = init.id};
  Tensorflow__CollectionDef def = TENSORFLOW__COLLECTION_DEF__INIT;
  RHEOS_TRY(fill_nodes(e, &item, 1, &def));
  put_map_entry(&e->out, COLLECTION, main_op_key, &def.base);
  return NULL;
}

// By key, so that the same graph gives the same bytes.
static rheos_status *put_collections(meta_export *e) {
  const size_t count = (size_t)rheos_graph_num_collections(e->graph);
  const char **keys = rheos__arena_alloc(&e->arena, count * sizeof *keys);
  if (keys == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) keys[i] = rheos_graph_collection_key(e->graph, (int32_t)i);
  if (count > 1) qsort(keys, count, sizeof *keys, rheos__compare_texts);
  for (size_t i = 0; i < count; i++) {
    const bool is_replaced =
        (e->options->init.graph != NULL && strcmp(keys[i], main_op_key) == 0) ||
        (e->scope[0] != '\0' && strcmp(keys[i], RHEOS__UNBOUND_KEY) == 0);
    if (is_replaced || !is_wanted(e->options, keys[i])) continue;
    const bool is_savers = e->options->clear_extraneous_savers && strcmp(keys[i], savers_key) == 0;
    RHEOS_TRY(is_savers ? put_own_saver(e) : put_collection(e, keys[i]));
  }
  if (e->num_unbound > 0) RHEOS_TRY(put_unbound(e));
  return put_init(e);
}

// ---- Signatures and assets

static rheos_status *tensor_info(meta_export *e, const rheos_argument *argument,
                                 rheos__buffer *out) {
  const bool is_sparse = argument->indices.graph != NULL;
  if (argument->tensor.graph != e->graph ||
      (is_sparse &&
       (argument->indices.graph != e->graph || argument->dense_shape.graph != e->graph))) {
    return RHEOS_INVALID("'%s' is not a tensor of this graph", argument->name);
  }
  bool below;
  RHEOS_TRY(is_below(e, rheos_output_operation(argument->tensor), &below));
  if (!below) {
    char *what = rheos__arena_alloc(&e->arena, strlen(argument->name) + 3);
    if (what == NULL) return rheos__out_of_memory();
    sprintf(what, "'%s'", argument->name);
    return not_written(e, what);
  }
  Tensorflow__TensorInfo info = TENSORFLOW__TENSOR_INFO__INIT;
  Tensorflow__TensorInfo__CooSparse sparse = TENSORFLOW__TENSOR_INFO__COO_SPARSE__INIT;
  info.dtype = (Tensorflow__DataType)rheos_dtype_base(rheos_output_dtype(argument->tensor));
  const rheos_shape shape = is_sparse ? RHEOS_UNKNOWN_SHAPE : rheos_output_shape(argument->tensor);
  RHEOS_TRY(rheos__shape_to_proto(&shape, &e->arena, &info.tensor_shape));
  char *name = output_name(e, argument->tensor);
  if (is_sparse) {
    info.encoding_case = TENSORFLOW__TENSOR_INFO__ENCODING_COO_SPARSE;
    info.coo_sparse = &sparse;
    sparse.values_tensor_name = name;
    sparse.indices_tensor_name = output_name(e, argument->indices);
    sparse.dense_shape_tensor_name = output_name(e, argument->dense_shape);
    if (sparse.indices_tensor_name == NULL || sparse.dense_shape_tensor_name == NULL) {
      return rheos__out_of_memory();
    }
  } else {
    info.encoding_case = TENSORFLOW__TENSOR_INFO__ENCODING_NAME;
    info.name = name;
  }
  if (name == NULL) return rheos__out_of_memory();
  rheos__proto_pack(&info.base, out);
  return NULL;
}

static rheos_status *put_arguments(meta_export *e, const rheos_argument *arguments, size_t count,
                                   int field, rheos__buffer *signature) {
  for (size_t i = 0; i < count; i++) {
    rheos__buffer entry = {0}, info = {0};
    rheos_status *status = tensor_info(e, &arguments[i], &info);
    rheos__wire_put_bytes(&entry, MAP_KEY, arguments[i].name, strlen(arguments[i].name));
    rheos__wire_put_message(&entry, MAP_VALUE, &info);
    rheos__wire_put_message(signature, field, &entry);
    if (status != NULL) return status;
  }
  return NULL;
}

static bool is_input(const rheos_signature *signature, const char *name) {
  for (size_t i = 0; i < signature->num_inputs; i++) {
    if (strcmp(signature->inputs[i].name, name) == 0) return true;
  }
  return false;
}

static rheos_status *put_defaults(meta_export *e, const rheos_signature *signature, int field,
                                  rheos__buffer *out) {
  for (size_t i = 0; i < signature->num_defaults; i++) {
    const rheos_named_tensor *value = &signature->defaults[i];
    if (!is_input(signature, value->name)) {
      return RHEOS_INVALID("the signature has a default for '%s', which is no input of it",
                           value->name);
    }
    Tensorflow__TensorProto *proto;
    RHEOS_TRY(rheos__tensor_to_proto(value->value, &e->arena, &proto));
    put_map_entry(out, field, value->name, &proto->base);
  }
  return NULL;
}

static rheos_status *put_signature(meta_export *e, const rheos_signature *signature) {
  enum { INPUTS = 1, OUTPUTS = 2, METHOD_NAME = 3, DEFAULTS = 4 };
  const char *key = signature->key != NULL ? signature->key : "serving_default";
  const char *method =
      signature->method_name != NULL ? signature->method_name : "tensorflow/serving/predict";
  rheos__buffer entry = {0}, def = {0};
  rheos_status *status = put_arguments(e, signature->inputs, signature->num_inputs, INPUTS, &def);
  if (status == NULL) {
    status = put_arguments(e, signature->outputs, signature->num_outputs, OUTPUTS, &def);
  }
  rheos__wire_put_bytes(&def, METHOD_NAME, method, strlen(method));
  if (status == NULL) status = put_defaults(e, signature, DEFAULTS, &def);
  rheos__wire_put_bytes(&entry, MAP_KEY, key, strlen(key));
  rheos__wire_put_message(&entry, MAP_VALUE, &def);
  rheos__wire_put_message(&e->out, SIGNATURE, &entry);
  return status;
}

static rheos_status *put_asset(meta_export *e, const rheos_asset *asset) {
  enum { TENSOR = 1, FILE_NAME = 2 };
  const char *name = rheos__path_base(asset->path);
  rheos__buffer def = {0}, info = {0};
  rheos_status *status =
      tensor_info(e, &(rheos_argument){.name = name, .tensor = asset->tensor}, &info);
  rheos__wire_put_message(&def, TENSOR, &info);
  rheos__wire_put_bytes(&def, FILE_NAME, name, strlen(name));
  rheos__wire_put_message(&e->out, ASSET, &def);
  return status;
}

// ---- The whole

// ---- What the options name

static rheos_status *check_arguments(const rheos_graph *graph, const rheos_argument *arguments,
                                     size_t count) {
  RHEOS_NEED_LIST(arguments, count);
  for (size_t i = 0; i < count; i++) {
    const rheos_argument *a = &arguments[i];
    if (a->name == NULL) return RHEOS_INVALID("an argument of a signature has no name");
    RHEOS_TRY(rheos__check_output(graph, a->tensor, a->name));
    const rheos_output parts[] = {a->indices, a->dense_shape};
    RHEOS_TRY(rheos__check_outputs(graph, parts, 2, a->name, true));
  }
  return NULL;
}

static rheos_status *check_signature(const rheos_graph *graph, const rheos_signature *signature) {
  RHEOS_TRY(check_arguments(graph, signature->inputs, signature->num_inputs));
  RHEOS_TRY(check_arguments(graph, signature->outputs, signature->num_outputs));
  RHEOS_NEED_LIST(signature->defaults, signature->num_defaults);
  for (size_t i = 0; i < signature->num_defaults; i++) {
    if (signature->defaults[i].name != NULL && signature->defaults[i].value != NULL) continue;
    return RHEOS_INVALID("a default of a signature has no name or no value");
  }
  return NULL;
}

rheos_status *rheos__check_meta_graph_options(const rheos_graph *graph,
                                              const rheos_meta_graph_options *o) {
  RHEOS_NEED_TEXTS(o->tags, o->num_tags);
  RHEOS_NEED_LIST(o->signatures, o->num_signatures);
  for (size_t i = 0; i < o->num_signatures; i++)
    RHEOS_TRY(check_signature(graph, &o->signatures[i]));
  RHEOS_NEED_LIST(o->assets, o->num_assets);
  for (size_t i = 0; i < o->num_assets; i++) {
    if (o->assets[i].path == NULL) return RHEOS_INVALID("an asset has no path");
    RHEOS_TRY(rheos__check_output(graph, o->assets[i].tensor, o->assets[i].path));
  }
  if (o->saver != NULL && o->saver->filename.graph != NULL) {
    const rheos_output outputs[] = {o->saver->filename, o->saver->save_path};
    RHEOS_TRY(rheos__check_outputs(graph, outputs, 2, "the saver's tensors", false));
    RHEOS_TRY(rheos__check_operation(graph, o->saver->restore, "the saver's restore"));
  }
  if (o->init.graph != NULL) RHEOS_TRY(rheos__check_operation(graph, o->init, "init"));
  if (o->collections != NULL) RHEOS_NEED_TEXTS(o->collections, o->num_collections);
  return NULL;
}

static rheos_status *put_all(meta_export *e) {
  RHEOS_TRY(rheos__check_meta_graph_options(e->graph, e->options));
  RHEOS_TRY(put_graph(e));
  RHEOS_TRY(put_saver(e));
  RHEOS_TRY(put_collections(e));
  for (size_t i = 0; i < e->options->num_signatures; i++) {
    RHEOS_TRY(put_signature(e, &e->options->signatures[i]));
  }
  for (size_t i = 0; i < e->options->num_assets; i++) {
    RHEOS_TRY(put_asset(e, &e->options->assets[i]));
  }
  return e->out.failed ? rheos__out_of_memory() : NULL;
}

rheos_status *rheos_graph_to_meta_graph_def_sized(rheos_graph *graph,
                                                  const rheos_meta_graph_options *options,
                                                  size_t options_bytes, void **out_bytes,
                                                  size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(graph);
  rheos_meta_graph_options known;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_meta_graph_options, options, options_bytes, &known));
  meta_export e = {.graph = graph, .options = &known};
  e.scope = e.options->export_scope != NULL ? e.options->export_scope : "";
  rheos__arena_init(&e.arena);
  rheos_status *status = put_all(&e);
  rheos__arena_deinit(&e.arena);
  rheos_free(e.unbound);
  if (status != NULL) {
    rheos__buffer_deinit(&e.out);
    return status;
  }
  *out_bytes = e.out.data;
  *out_size_bytes = e.out.size_bytes;
  return NULL;
}

rheos_status *rheos__write_message(const char *type, const char *path, const void *bytes,
                                   size_t size_bytes, bool as_text) {
  if (!as_text) return rheos__file_replace(path, bytes, size_bytes);
  char *text;
  size_t text_bytes;
  RHEOS_TRY(rheos_message_to_text(type, bytes, size_bytes, &text, &text_bytes));
  rheos_status *status = rheos__file_replace(path, text, text_bytes);
  rheos_free(text);
  return status;
}

rheos_status *rheos_graph_write_meta_graph_sized(rheos_graph *graph,
                                                 const rheos_meta_graph_options *options,
                                                 size_t options_bytes, const char *path,
                                                 bool as_text) {
  RHEOS_NEED(graph, path);
  void *bytes;
  size_t size_bytes;
  RHEOS_TRY(
      rheos_graph_to_meta_graph_def_sized(graph, options, options_bytes, &bytes, &size_bytes));
  rheos_status *status = rheos__write_message("MetaGraphDef", path, bytes, size_bytes, as_text);
  rheos_free(bytes);
  return status;
}
