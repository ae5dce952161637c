// The maps of a function become unknown fields of it, which protobuf-c writes as they are.
#include "format/message/function_maps.h"

#include <string.h>

#include "graph.pb-c.h"
#include "meta_graph.pb-c.h"

enum { ARG_ATTR = 7, RESOURCE_ARG_UNIQUE_ID = 8, VARINT_BYTES = 10 };

struct rheos__whole_maps {
  rheos__whole_maps *before;
  Tensorflow__FunctionDef *function;
  Tensorflow__FunctionDef kept;
};

static size_t put_varint(uint8_t *to, uint64_t value) {
  size_t n = 0;
  for (; value >= 128; value >>= 7) to[n++] = (uint8_t)(value | 128);
  to[n++] = (uint8_t)value;
  return n;
}

// "key: K value: ..." behind the entry's length; `tag` is that of the value, whose bytes follow.
static uint8_t *start_entry(rheos__arena *arena, uint32_t key, uint8_t tag, uint64_t number,
                            size_t value_bytes, ProtobufCMessageUnknownField *out_field) {
  uint8_t head[2 + 2 * VARINT_BYTES], length[VARINT_BYTES];
  size_t n = 0;
  head[n++] = 1 << 3;
  n += put_varint(head + n, key);
  head[n++] = tag;
  n += put_varint(head + n, number);
  const size_t length_bytes = put_varint(length, n + value_bytes);
  uint8_t *data = rheos__arena_alloc(arena, length_bytes + n + value_bytes);
  if (data == NULL) return NULL;
  memcpy(data, length, length_bytes);
  memcpy(data + length_bytes, head, n);
  out_field->wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
  out_field->len = length_bytes + n + value_bytes;
  out_field->data = data;
  return data + length_bytes + n;
}

static bool is_incomplete(const Tensorflow__FunctionDef *f) {
  for (size_t i = 0; i < f->n_arg_attr; i++) {
    if (f->arg_attr[i]->key == 0 && f->arg_attr[i]->value != NULL) return true;
  }
  for (size_t i = 0; i < f->n_resource_arg_unique_id; i++) {
    const Tensorflow__FunctionDef__ResourceArgUniqueIdEntry *e = f->resource_arg_unique_id[i];
    if (e->key == 0 || e->value == 0) return true;
  }
  return false;
}

// All entries of both maps behind the unknown fields there are; NULL if memory is short.
static ProtobufCMessageUnknownField *whole_fields(const Tensorflow__FunctionDef *f, size_t count,
                                                  rheos__arena *arena) {
  const size_t given = f->base.n_unknown_fields;
  ProtobufCMessageUnknownField *fields =
      rheos__arena_alloc_zeroed(arena, (given + count) * sizeof *fields);
  if (fields == NULL) return NULL;
  if (given > 0) memcpy(fields, f->base.unknown_fields, given * sizeof *fields);
  ProtobufCMessageUnknownField *field = fields + given;
  for (size_t i = 0; i < f->n_arg_attr; i++, field++) {
    const Tensorflow__FunctionDef__ArgAttrEntry *e = f->arg_attr[i];
    const ProtobufCMessage *value = e->value != NULL ? &e->value->base : NULL;
    const size_t size = value != NULL ? protobuf_c_message_get_packed_size(value) : 0;
    uint8_t *to = start_entry(arena, e->key, 2 << 3 | 2, size, size, field);
    if (to == NULL) return NULL;
    if (value != NULL) protobuf_c_message_pack(value, to);
    field->tag = ARG_ATTR;
  }
  for (size_t i = 0; i < f->n_resource_arg_unique_id; i++, field++) {
    const Tensorflow__FunctionDef__ResourceArgUniqueIdEntry *e = f->resource_arg_unique_id[i];
    if (start_entry(arena, e->key, 2 << 3, e->value, 0, field) == NULL) return NULL;
    field->tag = RESOURCE_ARG_UNIQUE_ID;
  }
  return fields;
}

static bool make_whole(Tensorflow__FunctionDef *f, rheos__arena *arena, rheos__whole_maps **maps) {
  if (!is_incomplete(f)) return true;
  const size_t count = f->n_arg_attr + f->n_resource_arg_unique_id;
  ProtobufCMessageUnknownField *fields = whole_fields(f, count, arena);
  rheos__whole_maps *m = rheos__arena_alloc(arena, sizeof *m);
  if (fields == NULL || m == NULL) return false;
  *m = (rheos__whole_maps){.before = *maps, .function = f, .kept = *f};
  *maps = m;
  f->base.unknown_fields = fields;
  f->base.n_unknown_fields += (unsigned)count;
  f->n_arg_attr = f->n_resource_arg_unique_id = 0;
  return true;
}

static bool make_library_whole(const Tensorflow__FunctionDefLibrary *library, rheos__arena *arena,
                               rheos__whole_maps **maps) {
  for (size_t i = 0; library != NULL && i < library->n_function; i++) {
    if (!make_whole(library->function[i], arena, maps)) return false;
  }
  return true;
}

static bool make_graph_whole(const Tensorflow__GraphDef *graph, rheos__arena *arena,
                             rheos__whole_maps **maps) {
  return graph == NULL || make_library_whole(graph->library, arena, maps);
}

static bool make_message_whole(const ProtobufCMessage *message, rheos__arena *arena,
                               rheos__whole_maps **maps) {
  if (message->descriptor == &tensorflow__function_def_library__descriptor) {
    return make_library_whole((const Tensorflow__FunctionDefLibrary *)message, arena, maps);
  }
  if (message->descriptor == &tensorflow__graph_def__descriptor) {
    return make_graph_whole((const Tensorflow__GraphDef *)message, arena, maps);
  }
  if (message->descriptor == &tensorflow__meta_graph_def__descriptor) {
    return make_graph_whole(((const Tensorflow__MetaGraphDef *)message)->graph_def, arena, maps);
  }
  if (message->descriptor != &tensorflow__saved_model__descriptor) return true;
  const Tensorflow__SavedModel *model = (const Tensorflow__SavedModel *)message;
  for (size_t i = 0; i < model->n_meta_graphs; i++) {
    if (!make_graph_whole(model->meta_graphs[i]->graph_def, arena, maps)) return false;
  }
  return true;
}

bool rheos__whole_maps_begin(const ProtobufCMessage *message, rheos__arena *arena,
                             rheos__whole_maps **out_maps) {
  rheos__whole_maps *maps = NULL;
  const bool is_done = make_message_whole(message, arena, &maps);
  if (!is_done) rheos__whole_maps_end(maps);
  *out_maps = is_done ? maps : NULL;
  return is_done;
}

void rheos__whole_maps_end(rheos__whole_maps *maps) {
  for (; maps != NULL; maps = maps->before) *maps->function = maps->kept;
}
