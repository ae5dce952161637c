// Collections of a graph as CollectionDefs. Of what is written without its scope, or without its
// savers, they have what is left.
#include "format/saved_model/meta_export.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/graph/graph_scope.h"
#include "format/saved_model/meta_graph.h"
#include "meta_graph.pb-c.h"

// "5 2 3,2:0,2" as numbers.
static rheos_status *fill_slice(rheos__meta_export *e, const char *text,
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

static rheos_status *variable_bytes(rheos__meta_export *e, rheos_variable variable,
                                    ProtobufCBinaryData *out) {
  Tensorflow__VariableDef def = TENSORFLOW__VARIABLE_DEF__INIT;
  Tensorflow__SaveSliceInfoDef slice = TENSORFLOW__SAVE_SLICE_INFO_DEF__INIT;
  const rheos_output snapshot = variable.cached.graph != NULL ? variable.cached : variable.value;
  def.variable_name = rheos__meta_output_name(e, variable.handle);
  def.initial_value_name = rheos__meta_output_name(e, variable.initial_value);
  def.initializer_name = rheos__meta_node_name(e, variable.initializer);
  def.snapshot_name = rheos__meta_output_name(e, snapshot);
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

static char *item_name(rheos__meta_export *e, const rheos_item *item) {
  if (item->kind == RHEOS_ITEM_OPERATION) {
    return rheos__meta_node_name(e, (rheos_operation){e->graph, item->id});
  }
  const int32_t index = item->kind == RHEOS_ITEM_OUTPUT ? item->index : 0;
  return rheos__meta_output_name(e, (rheos_output){e->graph, item->id, index});
}

// One kind of items each: `count` of them from collection `key` into a message.
static rheos_status *fill_nodes(rheos__meta_export *e, const rheos_item *items, size_t count,
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

static rheos_status *fill_bytes(rheos__meta_export *e, const char *key, const rheos_item *items,
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

static rheos_status *fill_any(rheos__meta_export *e, const rheos_item *items, size_t count,
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

static rheos_status *fill_ints(rheos__meta_export *e, const rheos_item *items, size_t count,
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

static rheos_status *fill_floats(rheos__meta_export *e, const rheos_item *items, size_t count,
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
static rheos_status *fill_collection(rheos__meta_export *e, const char *key,
                                     const rheos_item *items, size_t count,
                                     Tensorflow__CollectionDef *def) {
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

// The operation that an item is, or is of.
static rheos_operation operation_of(rheos__meta_export *e, const rheos_item *item) {
  if (item->kind != RHEOS_ITEM_VARIABLE) return (rheos_operation){e->graph, item->id};
  return rheos_output_operation(rheos_graph_variable(e->graph, item->index).handle);
}

// Whether an item is written: not if it is a node, or of one, outside of the scope.
static rheos_status *is_written(rheos__meta_export *e, const char *key, const rheos_item *item,
                                bool *out_is_written) {
  *out_is_written = true;
  if (is_node(item->kind)) return rheos__meta_is_below(e, operation_of(e, item), out_is_written);
  if (e->scope[0] == '\0' || item->kind != RHEOS_ITEM_BYTES) return NULL;
  return rheos__collection_bytes_are_within(key, e->scope, item->bytes, &e->arena, out_is_written);
}

static rheos_status *put_collection(rheos__meta_export *e, const char *key) {
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
  rheos__meta_put_collection(e, key, &def.base);
  return NULL;
}

// The names that whoever imports the part has to give.
static rheos_status *put_unbound(rheos__meta_export *e) {
  rheos_item *items = rheos__arena_alloc(&e->arena, e->num_unbound * sizeof *items);
  if (items == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < e->num_unbound; i++) {
    items[i] =
        (rheos_item){.kind = RHEOS_ITEM_BYTES, .bytes = {e->unbound[i], strlen(e->unbound[i])}};
  }
  Tensorflow__CollectionDef def = TENSORFLOW__COLLECTION_DEF__INIT;
  RHEOS_TRY(fill_bytes(e, RHEOS__UNBOUND_KEY, items, e->num_unbound, &def));
  rheos__meta_put_collection(e, RHEOS__UNBOUND_KEY, &def.base);
  return NULL;
}

static const char savers_key[] = "savers";

// The collection of savers with the one that is written.
static rheos_status *put_own_saver(rheos__meta_export *e) {
  if (!rheos__meta_has_saver(e)) return NULL;
  rheos__buffer bytes = {0};
  rheos_status *status = rheos__meta_saver_bytes(e, &bytes);
  if (status == NULL && bytes.failed) status = rheos__out_of_memory();
  Tensorflow__CollectionDef def = TENSORFLOW__COLLECTION_DEF__INIT;
  Tensorflow__CollectionDef__BytesList list = TENSORFLOW__COLLECTION_DEF__BYTES_LIST__INIT;
  ProtobufCBinaryData value = {bytes.size_bytes, (uint8_t *)bytes.data};
  def.kind_case = TENSORFLOW__COLLECTION_DEF__KIND_BYTES_LIST;
  def.bytes_list = &list;
  list.n_value = 1;
  list.value = &value;
  if (status == NULL) rheos__meta_put_collection(e, savers_key, &def.base);
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

static rheos_status *put_init(rheos__meta_export *e) {
  const rheos_operation init = e->options->init;
  if (init.graph == NULL) return NULL;
  RHEOS_TRY(rheos__meta_check(e, init, "the init operation"));
  const rheos_item item = {.kind = RHEOS_ITEM_OPERATION, .id = init.id};
  Tensorflow__CollectionDef def = TENSORFLOW__COLLECTION_DEF__INIT;
  RHEOS_TRY(fill_nodes(e, &item, 1, &def));
  rheos__meta_put_collection(e, main_op_key, &def.base);
  return NULL;
}

rheos_status *rheos__meta_put_collections(rheos__meta_export *e) {
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
