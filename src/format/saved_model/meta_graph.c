// MetaGraphDef messages as descriptions. The two large fields, the graph and the graph of objects,
// are not looked into: they stay bytes, of the file where they come in one piece, so that a large
// model is held once. All the rest is small and goes through protobuf-c.
#include "format/saved_model/meta_graph.h"

#include <stdlib.h>

#include "base/file.h"
#include "format/message/tensor_proto.h"
#include "format/message/text_format.h"
#include "meta_graph.pb-c.h"

enum { GRAPH_FIELD = 2, OBJECTS_FIELD = 7 };

// A description and what it stands on.
typedef struct held_meta_graph {
  rheos_meta_graph description;  // first: this is what the caller has
  rheos__arena arena;
  rheos__buffer graph, objects;  // where the field came in pieces
  char *owned;
} held_meta_graph;

// ---- Cutting the message up

// A field that is kept as bytes. Pieces of one message, one behind the other, are the message.
typedef struct large_field {
  rheos__wire bytes;
  int pieces;
  rheos__buffer *joined;
} large_field;

static void add_piece(large_field *field, rheos__wire piece) {
  if (field->pieces == 1) {
    rheos__buffer_put(field->joined, field->bytes.at, rheos__wire_size(field->bytes));
  }
  if (field->pieces++ == 0) {
    field->bytes = piece;
  } else {
    rheos__buffer_put(field->joined, piece.at, rheos__wire_size(piece));
  }
}

static void end_pieces(const large_field *field, const void **out_bytes, size_t *out_size_bytes) {
  const bool is_joined = field->pieces > 1;
  *out_bytes = is_joined ? field->joined->data : field->bytes.at;
  *out_size_bytes = is_joined ? field->joined->size_bytes : rheos__wire_size(field->bytes);
}

static rheos_status *cut_up(held_meta_graph *held, rheos__wire bytes, rheos__buffer *rest) {
  large_field graph = {rheos__wire_of("", 0), 0, &held->graph};
  large_field objects = {rheos__wire_of("", 0), 0, &held->objects};
  rheos__wire_field field;
  bool sound = true;
  for (const char *start = bytes.at; rheos__wire_next(&bytes, &field, &sound); start = bytes.at) {
    const bool has_length = field.type == RHEOS__WIRE_BYTES;
    if (has_length && field.number == GRAPH_FIELD) {
      add_piece(&graph, field.data);
    } else if (has_length && field.number == OBJECTS_FIELD) {
      add_piece(&objects, field.data);
    } else {
      rheos__buffer_put(rest, start, (size_t)(bytes.at - start));
    }
  }
  if (!sound) return rheos_status_new(RHEOS_DATA_LOSS, "not a valid MetaGraphDef message");
  if (held->graph.failed || held->objects.failed || rest->failed) return rheos__out_of_memory();
  rheos_meta_graph *d = &held->description;
  end_pieces(&graph, &d->graph_def, &d->graph_def_bytes);
  end_pieces(&objects, &d->object_graph, &d->object_graph_bytes);
  return NULL;
}

// ---- Maps: of entries with the same key the last one counts

typedef struct map_entry {
  const char *key;
  const void *value;
  size_t rank;
} map_entry;

typedef struct map {
  map_entry *entries;
  size_t count;
} map;

static int compare_entries(const void *a, const void *b) {
  const map_entry *one = a, *other = b;
  const int order = strcmp(one->key, other->key);
  if (order != 0) return order;
  return one->rank < other->rank ? -1 : 1;
}

static void sort_map(map *m) {
  if (m->count > 1) qsort(m->entries, m->count, sizeof *m->entries, compare_entries);
  size_t kept = 0;
  for (size_t i = 0; i < m->count; i++) {
    if (i + 1 < m->count && strcmp(m->entries[i].key, m->entries[i + 1].key) == 0) continue;
    m->entries[kept++] = m->entries[i];
  }
  m->count = kept;
}

// Reads one of protobuf-c's maps, of which each has a type of its own, into `m`, sorted by key.
#define READ_MAP(proto_entries, proto_count, arena, m)                                      \
  do {                                                                                      \
    (m)->count = (proto_count);                                                             \
    (m)->entries = rheos__arena_alloc((arena), (m)->count * sizeof(map_entry));             \
    if ((m)->entries == NULL) return rheos__out_of_memory();                                \
    for (size_t i = 0; i < (m)->count; i++) {                                               \
      (m)->entries[i] = (map_entry){(proto_entries)[i]->key, (proto_entries)[i]->value, i}; \
    }                                                                                       \
    sort_map(m);                                                                            \
  } while (0)

// ---- Tensors and signatures

static rheos_dtype dtype_of(int64_t number) {
  const int64_t base = number > RHEOS_REF ? number - RHEOS_REF : number;
  return base > 0 && base <= RHEOS_UINT4 ? (rheos_dtype)number : RHEOS_INVALID_DTYPE;
}

// Shapes that no tensor here can have are not known.
static rheos_shape shape_of(const Tensorflow__TensorShapeProto *proto) {
  rheos_shape shape;
  rheos_status *status = rheos__shape_from_proto(proto, &shape);
  if (status == NULL) return shape;
  rheos_status_free(status);
  return RHEOS_UNKNOWN_SHAPE;
}

// The depth is that of the message, which is bounded.
static rheos_status *fill_tensor(const Tensorflow__TensorInfo *proto, const char *key,
                                 rheos__arena *arena, rheos_tensor_info *out_info) {
  *out_info = (rheos_tensor_info){.key = key,
                                  .name = "",
                                  .shape = RHEOS_UNKNOWN_SHAPE,
                                  .values_name = "",
                                  .indices_name = "",
                                  .dense_shape_name = ""};
  if (proto == NULL) return NULL;
  out_info->dtype = dtype_of(proto->dtype);
  out_info->shape = shape_of(proto->tensor_shape);
  if (proto->encoding_case == TENSORFLOW__TENSOR_INFO__ENCODING_NAME) {
    out_info->name = proto->name;
  } else if (proto->encoding_case == TENSORFLOW__TENSOR_INFO__ENCODING_COO_SPARSE) {
    out_info->is_sparse = true;
    out_info->values_name = proto->coo_sparse->values_tensor_name;
    out_info->indices_name = proto->coo_sparse->indices_tensor_name;
    out_info->dense_shape_name = proto->coo_sparse->dense_shape_tensor_name;
  } else if (proto->encoding_case == TENSORFLOW__TENSOR_INFO__ENCODING_COMPOSITE_TENSOR) {
    const Tensorflow__TensorInfo__CompositeTensor *composite = proto->composite_tensor;
    rheos_tensor_info *components =
        rheos__arena_alloc(arena, composite->n_components * sizeof *components);
    if (components == NULL) return rheos__out_of_memory();
    for (size_t i = 0; i < composite->n_components; i++) {
      RHEOS_TRY(fill_tensor(composite->components[i], "", arena, &components[i]));
    }
    out_info->components = components;
    out_info->num_components = composite->n_components;
  }
  return NULL;
}

static rheos_status *fill_tensors(const map *m, rheos__arena *arena,
                                  const rheos_tensor_info **out_infos, size_t *out_count) {
  rheos_tensor_info *infos = rheos__arena_alloc(arena, m->count * sizeof *infos);
  if (infos == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < m->count; i++) {
    RHEOS_TRY(fill_tensor(m->entries[i].value, m->entries[i].key, arena, &infos[i]));
  }
  *out_infos = infos;
  *out_count = m->count;
  return NULL;
}

// The values stay messages: a few bytes may stand for a large tensor.
static rheos_status *fill_defaults(const map *m, rheos__arena *arena,
                                   rheos_signature_def *out_signature) {
  rheos_default_value *values = rheos__arena_alloc(arena, m->count * sizeof *values);
  if (values == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < m->count; i++) {
    const Tensorflow__TensorProto *proto = m->entries[i].value;
    values[i] = (rheos_default_value){
        .key = m->entries[i].key,
        .dtype = proto != NULL ? dtype_of(proto->dtype) : RHEOS_INVALID_DTYPE,
        .shape = shape_of(proto != NULL ? proto->tensor_shape : NULL),
        .message_ = proto,
    };
  }
  out_signature->defaults = values;
  out_signature->num_defaults = m->count;
  return NULL;
}

rheos_status *rheos_default_value_tensor(const rheos_default_value *value,
                                         rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED(value);
  if (value->message_ == NULL) return RHEOS_INVALID("the default of '%s' is empty", value->key);
  return rheos__tensor_from_proto(value->message_, out_tensor);
}

static rheos_status *fill_signature(const map_entry *entry, rheos__arena *arena,
                                    rheos_signature_def *out_signature) {
  *out_signature = (rheos_signature_def){.key = entry->key, .method_name = ""};
  const Tensorflow__SignatureDef *proto = entry->value;
  if (proto == NULL) return NULL;
  out_signature->method_name = proto->method_name;
  map m;
  READ_MAP(proto->inputs, proto->n_inputs, arena, &m);
  RHEOS_TRY(fill_tensors(&m, arena, &out_signature->inputs, &out_signature->num_inputs));
  READ_MAP(proto->outputs, proto->n_outputs, arena, &m);
  RHEOS_TRY(fill_tensors(&m, arena, &out_signature->outputs, &out_signature->num_outputs));
  READ_MAP(proto->defaults, proto->n_defaults, arena, &m);
  return fill_defaults(&m, arena, out_signature);
}

static rheos_status *fill_signatures(const Tensorflow__MetaGraphDef *proto, rheos__arena *arena,
                                     rheos_meta_graph *d) {
  map m;
  READ_MAP(proto->signature_def, proto->n_signature_def, arena, &m);
  rheos_signature_def *made = rheos__arena_alloc(arena, m.count * sizeof *made);
  if (made == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < m.count; i++) RHEOS_TRY(fill_signature(&m.entries[i], arena, &made[i]));
  d->signatures = made;
  d->num_signatures = m.count;
  return NULL;
}

// ---- Collections

static rheos_status *fill_bytes(const ProtobufCBinaryData *list, size_t count, rheos__arena *arena,
                                rheos_collection_def *out) {
  rheos_string *bytes = rheos__arena_alloc(arena, count * sizeof *bytes);
  if (bytes == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) bytes[i] = (rheos_string){(char *)list[i].data, list[i].len};
  out->bytes = bytes;
  out->count = count;
  return NULL;
}

static rheos_status *fill_any(const Tensorflow__CollectionDef__AnyList *list, rheos__arena *arena,
                              rheos_collection_def *out) {
  rheos_string *bytes = rheos__arena_alloc(arena, list->n_value * sizeof *bytes);
  if (bytes == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < list->n_value; i++) {
    const size_t size_bytes = protobuf_c_message_get_packed_size(&list->value[i]->base);
    bytes[i] = (rheos_string){rheos__arena_alloc(arena, size_bytes), size_bytes};
    if (bytes[i].data == NULL) return rheos__out_of_memory();
    protobuf_c_message_pack(&list->value[i]->base, (uint8_t *)bytes[i].data);
  }
  out->bytes = bytes;
  out->count = list->n_value;
  return NULL;
}

// TensorFlow 1 keeps them in a collection, as Any messages; later there came a field for them.
static rheos_status *assets_of(const Tensorflow__MetaGraphDef *proto, rheos__arena *arena,
                               Tensorflow__AssetFileDef ***out_assets, size_t *out_count) {
  *out_assets = proto->asset_file_def;
  *out_count = proto->n_asset_file_def;
  const Tensorflow__CollectionDef__AnyList *list = NULL;
  for (size_t i = 0; i < proto->n_collection_def && *out_count == 0; i++) {
    const Tensorflow__CollectionDef *c = proto->collection_def[i]->value;
    if (strcmp(proto->collection_def[i]->key, "saved_model_assets") != 0 || c == NULL) continue;
    if (c->kind_case == TENSORFLOW__COLLECTION_DEF__KIND_ANY_LIST) list = c->any_list;
  }
  if (list == NULL) return NULL;
  *out_count = list->n_value;
  *out_assets = rheos__arena_alloc(arena, list->n_value * sizeof **out_assets);
  if (*out_assets == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < list->n_value; i++) {
    const ProtobufCBinaryData *value = &list->value[i]->value;
    RHEOS_TRY(
        RHEOS_PROTO_UNPACK(asset_file_def, value->data, value->len, arena, &(*out_assets)[i]));
  }
  return NULL;
}

static rheos_status *fill_assets(const Tensorflow__MetaGraphDef *proto, rheos__arena *arena,
                                 rheos_meta_graph *d) {
  Tensorflow__AssetFileDef **assets;
  RHEOS_TRY(assets_of(proto, arena, &assets, &d->num_assets));
  rheos_asset_def *made = rheos__arena_alloc(arena, d->num_assets * sizeof *made);
  if (made == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < d->num_assets; i++) {
    made[i].file_name = assets[i]->filename;
    RHEOS_TRY(fill_tensor(assets[i]->tensor_info, "", arena, &made[i].tensor));
  }
  d->assets = made;
  return NULL;
}

static rheos_status *fill_collection(const map_entry *entry, rheos__arena *arena,
                                     rheos_collection_def *out) {
  *out = (rheos_collection_def){.key = entry->key};
  const Tensorflow__CollectionDef *proto = entry->value;
  if (proto == NULL) return NULL;
  switch (proto->kind_case) {
    case TENSORFLOW__COLLECTION_DEF__KIND_NODE_LIST:
      out->kind = RHEOS_COLLECTION_NODES;
      out->nodes = (const char *const *)proto->node_list->value;
      out->count = proto->node_list->n_value;
      return NULL;
    case TENSORFLOW__COLLECTION_DEF__KIND_BYTES_LIST:
      out->kind = RHEOS_COLLECTION_BYTES;
      return fill_bytes(proto->bytes_list->value, proto->bytes_list->n_value, arena, out);
    case TENSORFLOW__COLLECTION_DEF__KIND_INT64_LIST:
      out->kind = RHEOS_COLLECTION_INTS;
      out->ints = proto->int64_list->value;
      out->count = proto->int64_list->n_value;
      return NULL;
    case TENSORFLOW__COLLECTION_DEF__KIND_FLOAT_LIST:
      out->kind = RHEOS_COLLECTION_FLOATS;
      out->floats = proto->float_list->value;
      out->count = proto->float_list->n_value;
      return NULL;
    case TENSORFLOW__COLLECTION_DEF__KIND_ANY_LIST:
      out->kind = RHEOS_COLLECTION_ANY;
      return fill_any(proto->any_list, arena, out);
    default: return NULL;
  }
}

static rheos_status *fill_collections(const Tensorflow__MetaGraphDef *proto, rheos__arena *arena,
                                      rheos_meta_graph *d) {
  map m;
  READ_MAP(proto->collection_def, proto->n_collection_def, arena, &m);
  rheos_collection_def *made = rheos__arena_alloc(arena, m.count * sizeof *made);
  if (made == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < m.count; i++) RHEOS_TRY(fill_collection(&m.entries[i], arena, &made[i]));
  d->collections = made;
  d->num_collections = m.count;
  return NULL;
}

// ---- The rest

static rheos_status *fill_info(const Tensorflow__MetaGraphDef__MetaInfoDef *info,
                               rheos__arena *arena, rheos_meta_graph *d) {
  d->meta_graph_version = d->tensorflow_version = d->tensorflow_git_version = "";
  d->op_list = "";
  if (info == NULL) return NULL;
  d->meta_graph_version = info->meta_graph_version;
  d->tensorflow_version = info->tensorflow_version;
  d->tensorflow_git_version = info->tensorflow_git_version;
  d->stripped_default_attrs = info->stripped_default_attrs;
  d->tags = (const char *const *)info->tags;
  d->num_tags = info->n_tags;
  if (info->stripped_op_list == NULL) return NULL;
  const ProtobufCMessage *list = &info->stripped_op_list->base;
  d->op_list_bytes = protobuf_c_message_get_packed_size(list);
  uint8_t *bytes = rheos__arena_alloc(arena, d->op_list_bytes);
  if (bytes == NULL) return rheos__out_of_memory();
  protobuf_c_message_pack(list, bytes);
  d->op_list = bytes;
  return NULL;
}

static rheos_status *fill_saver(const Tensorflow__SaverDef *proto, rheos__arena *arena,
                                rheos_meta_graph *d) {
  if (proto == NULL) return NULL;
  rheos_saver_def *saver = rheos__arena_alloc(arena, sizeof *saver);
  if (saver == NULL) return rheos__out_of_memory();
  *saver = (rheos_saver_def){
      .filename_tensor_name = proto->filename_tensor_name,
      .save_tensor_name = proto->save_tensor_name,
      .restore_op_name = proto->restore_op_name,
      .max_to_keep = proto->max_to_keep,
      .sharded = proto->sharded,
      .keep_checkpoint_every_n_hours = proto->keep_checkpoint_every_n_hours,
      .version = (int32_t)proto->version,
  };
  d->saver = saver;
  return NULL;
}

static rheos_status *fill(held_meta_graph *held, rheos__wire bytes) {
  rheos__buffer rest = {0};
  Tensorflow__MetaGraphDef *proto = NULL;
  rheos_status *status = cut_up(held, bytes, &rest);
  if (status == NULL) {
    status = RHEOS_PROTO_UNPACK(meta_graph_def, rest.data, rest.size_bytes, &held->arena, &proto);
  }
  rheos__buffer_deinit(&rest);
  if (status != NULL) return status;
  rheos_meta_graph *d = &held->description;
  RHEOS_TRY(fill_info(proto->meta_info_def, &held->arena, d));
  RHEOS_TRY(fill_saver(proto->saver_def, &held->arena, d));
  RHEOS_TRY(fill_signatures(proto, &held->arena, d));
  RHEOS_TRY(fill_collections(proto, &held->arena, d));
  return fill_assets(proto, &held->arena, d);
}

rheos_status *rheos__meta_graph_of(rheos__wire bytes, char *owned,
                                   rheos_meta_graph **out_meta_graph) {
  *out_meta_graph = NULL;
  held_meta_graph *held = rheos__alloc_zeroed(sizeof *held);
  if (held == NULL) {
    rheos__free(owned);
    return rheos__out_of_memory();
  }
  held->owned = owned;
  rheos__arena_init(&held->arena);
  rheos_status *status = fill(held, bytes);
  if (status != NULL) {
    rheos_meta_graph_free(&held->description);
    return status;
  }
  *out_meta_graph = &held->description;
  return NULL;
}

void rheos_meta_graph_free(rheos_meta_graph *meta_graph) {
  if (meta_graph == NULL) return;
  held_meta_graph *held = (held_meta_graph *)meta_graph;
  rheos__arena_deinit(&held->arena);
  rheos__buffer_deinit(&held->graph);
  rheos__buffer_deinit(&held->objects);
  rheos__free(held->owned);
  rheos__free(held);
}

// ---- For programs

rheos_status *rheos_meta_graph_parse(const void *bytes, size_t size_bytes,
                                     rheos_meta_graph **out_meta_graph) {
  RHEOS_OUT(out_meta_graph);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  char *copy = rheos__alloc(size_bytes);
  if (copy == NULL) return rheos__out_of_memory();
  if (size_bytes > 0) memcpy(copy, bytes, size_bytes);
  return rheos__meta_graph_of(rheos__wire_of(copy, size_bytes), copy, out_meta_graph);
}

bool rheos__is_text(const char *data, size_t size_bytes) {
  for (size_t i = 0; i < size_bytes; i++) {
    const unsigned char c = (unsigned char)data[i];
    if ((c < ' ' && (c < '\t' || c > '\r')) || c == 127) return false;
  }
  return size_bytes > 0;
}

rheos_status *rheos__read_message(const ProtobufCMessageDescriptor *descriptor, const char *path,
                                  char **out_data, size_t *out_size_bytes) {
  RHEOS_TRY(rheos__file_read_all(path, SIZE_MAX - 1, out_data, out_size_bytes));
  if (!rheos__is_text(*out_data, *out_size_bytes)) return NULL;
  rheos__buffer bytes = {0};
  rheos_status *status = rheos__text_parse(descriptor, *out_data, *out_size_bytes, path, &bytes);
  if (status == NULL && bytes.failed) status = rheos__out_of_memory();
  rheos__free(*out_data);
  *out_data = NULL;
  *out_size_bytes = 0;
  if (status != NULL) {
    rheos__buffer_deinit(&bytes);
    return status;
  }
  *out_data = bytes.data;
  *out_size_bytes = bytes.size_bytes;
  return NULL;
}

rheos_status *rheos_meta_graph_read(const char *path, rheos_meta_graph **out_meta_graph) {
  RHEOS_OUT(out_meta_graph);
  RHEOS_NEED(path);
  char *data;
  size_t size_bytes;
  RHEOS_TRY(rheos__read_message(&tensorflow__meta_graph_def__descriptor, path, &data, &size_bytes));
  return rheos__meta_graph_of(rheos__wire_of(data, size_bytes), data, out_meta_graph);
}

const rheos_signature_def *rheos_meta_graph_signature(const rheos_meta_graph *meta_graph,
                                                      const char *key) {
  if (meta_graph == NULL || key == NULL) return NULL;
  for (size_t i = 0; i < meta_graph->num_signatures; i++) {
    if (strcmp(meta_graph->signatures[i].key, key) == 0) return &meta_graph->signatures[i];
  }
  return NULL;
}

const rheos_collection_def *rheos_meta_graph_collection(const rheos_meta_graph *meta_graph,
                                                        const char *key) {
  if (meta_graph == NULL || key == NULL) return NULL;
  for (size_t i = 0; i < meta_graph->num_collections; i++) {
    if (strcmp(meta_graph->collections[i].key, key) == 0) return &meta_graph->collections[i];
  }
  return NULL;
}
