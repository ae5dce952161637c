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
#include "format/graph/graph_scope.h"
#include "format/message/tensor_proto.h"
#include "format/saved_model/meta_export.h"
#include "meta_graph.pb-c.h"

// Fields of MetaGraphDef, of MetaInfoDef, and of maps.
enum { INFO = 1, GRAPH = 2, SAVER = 3, COLLECTION = 4, SIGNATURE = 5, ASSET = 6 };
enum { OP_LIST = 2, TAG = 4, TENSORFLOW_VERSION = 5, STRIPPED_DEFAULTS = 7 };
enum { MAP_KEY = 1, MAP_VALUE = 2, OP_OF_LIST = 1 };

// ---- Names

static char *operation_name(rheos__meta_export *e, rheos_operation operation, size_t room_behind) {
  const size_t length = rheos_operation_name(operation, NULL, 0);
  char *name = rheos__arena_alloc(&e->arena, length + room_behind + 1);
  if (name == NULL) return NULL;
  rheos_operation_name(operation, name, length + 1);
  const char *rest = rheos__without_scope(name, e->scope);
  if (rest != name) memmove(name, rest, strlen(rest) + 1);
  return name;
}

static char *whole_name(rheos__meta_export *e, rheos_operation operation) {
  const size_t length = rheos_operation_name(operation, NULL, 0);
  char *name = rheos__arena_alloc(&e->arena, length + 1);
  if (name != NULL) rheos_operation_name(operation, name, length + 1);
  return name;
}

rheos_status *rheos__meta_is_below(rheos__meta_export *e, rheos_operation operation,
                                   bool *out_is_below) {
  *out_is_below = true;
  if (e->scope[0] == '\0' && e->dropped.count == 0) return NULL;
  const char *name = whole_name(e, operation);
  if (name == NULL) return rheos__out_of_memory();
  *out_is_below = rheos__is_below(name, e->scope) && !rheos__saver_scopes_have(&e->dropped, name);
  return NULL;
}

static rheos_status *not_written(const rheos__meta_export *e, const char *what) {
  return e->scope[0] == '\0'
             ? RHEOS_INVALID("%s lies in the scope of a saver that is left out", what)
             : RHEOS_INVALID("%s is not below the scope '%s'", what, e->scope);
}

rheos_status *rheos__meta_check(rheos__meta_export *e, rheos_operation operation,
                                const char *what) {
  if (operation.graph != e->graph) return RHEOS_INVALID("%s is of another graph", what);
  bool below;
  RHEOS_TRY(rheos__meta_is_below(e, operation, &below));
  return below ? NULL : not_written(e, what);
}

char *rheos__meta_output_name(rheos__meta_export *e, rheos_output output) {
  if (output.graph == NULL) return rheos__arena_strdup(&e->arena, "");
  char *name = operation_name(e, rheos_output_operation(output), 12);
  if (name != NULL) snprintf(name + strlen(name), 13, ":%d", output.index);
  return name;
}

char *rheos__meta_node_name(rheos__meta_export *e, rheos_operation operation) {
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

static rheos_status *put_info(rheos__meta_export *e, const Tensorflow__GraphDef *def) {
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

static rheos_status *drop_savers(rheos__meta_export *e, graph_bytes *graph) {
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
static rheos_status *change_graph(rheos__meta_export *e, graph_bytes *graph) {
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

static rheos_status *put_info_of(rheos__meta_export *e, graph_bytes graph) {
  rheos__graph_edit edit;
  rheos_status *status = rheos__graph_edit_init(&edit, graph.data, graph.size_bytes);
  if (status == NULL) status = put_info(e, edit.def);
  rheos__graph_edit_deinit(&edit);
  return status;
}

static rheos_status *put_graph(rheos__meta_export *e) {
  graph_bytes graph;
  RHEOS_TRY(rheos_graph_to_graph_def(e->graph, &graph.data, &graph.size_bytes));
  rheos_status *status = change_graph(e, &graph);
  if (status == NULL) status = put_info_of(e, graph);
  if (status == NULL) rheos__wire_put_bytes(&e->out, GRAPH, graph.data, graph.size_bytes);
  rheos_free(graph.data);
  return status;
}

// ---- The saver

bool rheos__meta_has_saver(const rheos__meta_export *e) {
  return e->options->saver != NULL && e->options->saver->filename.graph != NULL;
}

rheos_status *rheos__meta_saver_bytes(rheos__meta_export *e, rheos__buffer *out) {
  const rheos_saver *saver = e->options->saver;
  RHEOS_TRY(rheos__meta_check(e, rheos_output_operation(saver->filename), "the saver"));
  Tensorflow__SaverDef def = TENSORFLOW__SAVER_DEF__INIT;
  def.filename_tensor_name = rheos__meta_output_name(e, saver->filename);
  def.save_tensor_name = rheos__meta_output_name(e, saver->save_path);
  def.restore_op_name = rheos__meta_node_name(e, saver->restore);
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

static rheos_status *put_saver(rheos__meta_export *e) {
  if (!rheos__meta_has_saver(e)) return NULL;
  rheos__buffer bytes = {0};
  RHEOS_TRY(rheos__meta_saver_bytes(e, &bytes));
  rheos__wire_put_message(&e->out, SAVER, &bytes);
  return NULL;
}

// ---- Signatures and assets

static void put_map_entry(rheos__buffer *out, int field, const char *key,
                          const ProtobufCMessage *value) {
  rheos__buffer entry = {0}, bytes = {0};
  rheos__wire_put_bytes(&entry, MAP_KEY, key, strlen(key));
  rheos__proto_pack(value, &bytes);
  rheos__wire_put_message(&entry, MAP_VALUE, &bytes);
  rheos__wire_put_message(out, field, &entry);
}

void rheos__meta_put_collection(rheos__meta_export *e, const char *key,
                                const ProtobufCMessage *value) {
  put_map_entry(&e->out, COLLECTION, key, value);
}

static rheos_status *tensor_info(rheos__meta_export *e, const rheos_argument *argument,
                                 rheos__buffer *out) {
  const bool is_sparse = argument->indices.graph != NULL;
  if (argument->tensor.graph != e->graph ||
      (is_sparse &&
       (argument->indices.graph != e->graph || argument->dense_shape.graph != e->graph))) {
    return RHEOS_INVALID("'%s' is not a tensor of this graph", argument->name);
  }
  bool below;
  RHEOS_TRY(rheos__meta_is_below(e, rheos_output_operation(argument->tensor), &below));
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
  char *name = rheos__meta_output_name(e, argument->tensor);
  if (is_sparse) {
    info.encoding_case = TENSORFLOW__TENSOR_INFO__ENCODING_COO_SPARSE;
    info.coo_sparse = &sparse;
    sparse.values_tensor_name = name;
    sparse.indices_tensor_name = rheos__meta_output_name(e, argument->indices);
    sparse.dense_shape_tensor_name = rheos__meta_output_name(e, argument->dense_shape);
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

static rheos_status *put_arguments(rheos__meta_export *e, const rheos_argument *arguments,
                                   size_t count, int field, rheos__buffer *signature) {
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

static rheos_status *put_defaults(rheos__meta_export *e, const rheos_signature *signature,
                                  int field, rheos__buffer *out) {
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

static rheos_status *put_signature(rheos__meta_export *e, const rheos_signature *signature) {
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

static rheos_status *put_asset(rheos__meta_export *e, const rheos_asset *asset) {
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

static rheos_status *put_all(rheos__meta_export *e) {
  RHEOS_TRY(rheos__check_meta_graph_options(e->graph, e->options));
  RHEOS_TRY(put_graph(e));
  RHEOS_TRY(put_saver(e));
  RHEOS_TRY(rheos__meta_put_collections(e));
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
  rheos__meta_export e = {.graph = graph, .options = &known};
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
