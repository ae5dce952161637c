// Readers of files as functions of bytes. Those that want a file get one in a folder of their own,
// in memory where the system has such a place.
#include "format/readers.h"

#include <rheos/format.h>
#include <rheos/ops.h>
#include <rheos/saved_model.h>
#include <rheos/scope.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "codec/compress.h"
#include "codec/lmdb.h"
#include "codec/table.h"
#include "event.pb-c.h"
#include "format/checkpoint/tensor_slice.h"
#include "format/graph/graph_def.h"
#include "format/message/tensor_proto.h"
#include "format/message/variant_proto.h"
#include "graph/graph_check.h"

// ---- Files

static char folder[256];

static void give_up(const char *what) {
  perror(what);
  abort();
}

// The path of a file in the folder, which is made at the first call.
static const char *path_of(const char *name) {
  static char path[sizeof folder + 64];
  if (folder[0] == '\0') {
    const char *parent = getenv("TMPDIR");
    if (parent == NULL) parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/rheos-readers-XXXXXX", parent);
    if (mkdtemp(folder) == NULL) give_up(folder);
  }
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static const char *write_file(const char *name, const void *data, size_t size_bytes) {
  const char *path = path_of(name);
  FILE *file = fopen(path, "wb");
  if (file == NULL) give_up(path);
  if (size_bytes > 0 && fwrite(data, 1, size_bytes, file) != size_bytes) give_up(path);
  fclose(file);
  return path;
}

void file_readers_end(void) {
  static const char *const names[] = {"file",
                                      "saved_model.pb",
                                      "checkpoint",
                                      "c.index",
                                      "c.data-00000-of-00001",
                                      "o.index",
                                      "o.data-00000-of-00001",
                                      "c.data-00000-of-00002",
                                      "c.data-00001-of-00002"};
  op_readers_end();
  if (folder[0] == '\0') return;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(path_of(names[i]));
  rmdir(folder);
  folder[0] = '\0';
}

// ---- Messages

static rheos_status *read_graph_def(const void *data, size_t size_bytes) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  rheos_status *status = scope != NULL ? NULL : rheos__out_of_memory();
  if (status == NULL) {
    const rheos_import_options options = {.keep_unknown_ops = true};
    rheos_import_graph_def(scope, data, size_bytes, &options);
    status = rheos_scope_finish(scope);
  }
  void *out = NULL;
  size_t out_bytes;
  if (status == NULL) status = rheos_graph_to_graph_def(graph, &out, &out_bytes);
  rheos_free(out);
  rheos_scope_free(scope);
  if (graph != NULL) rheos__graph_check(graph);
  rheos_graph_unref(graph);
  return status;
}

// A graph that is imported below another's scope, with two of its nodes' outputs taken from there;
// the names of these are the message's own.
static rheos_status *read_mapped_import(const void *data, size_t size_bytes) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__GraphDef *def;
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  rheos_status *status = scope != NULL ? NULL : rheos__out_of_memory();
  if (status == NULL) status = RHEOS_PROTO_UNPACK(graph_def, data, size_bytes, &arena, &def);
  if (status == NULL && def->n_node > 0) {
    const rheos_output outside = rheos_placeholder(scope, RHEOS_FLOAT, .name = "below");
    char *control = rheos__arena_alloc(&arena, strlen(def->node[0]->name) + 2);
    if (control != NULL) sprintf(control, "^%s", def->node[0]->name);
    rheos_import_mapping map[] = {{.from = def->node[0]->name, .to = outside},
                                  {.from = control, .to = outside},
                                  {.from = def->node[def->n_node / 2]->name, .to = outside}};
    const rheos_import_options options = {.prefix = "below/here",
                                          .input_map = map,
                                          .num_mappings = def->n_node > 1 ? 3 : 2,
                                          .keep_unknown_ops = true,
                                          .clear_devices = true};
    if (control != NULL) rheos_import_graph_def(scope, data, size_bytes, &options);
    status = rheos_scope_finish(scope);
  }
  rheos_scope_free(scope);
  if (graph != NULL) rheos__graph_check(graph);
  rheos_graph_unref(graph);
  rheos__arena_deinit(&arena);
  return status;
}

static rheos_status *read_attrs(const Tensorflow__NodeDef *node, rheos__arena *arena) {
  for (size_t i = 0; i < node->n_attr; i++) {
    rheos_attr_value value;
    Tensorflow__AttrValue *again;
    if (node->attr[i]->value == NULL) continue;
    RHEOS_TRY(rheos__attr_from_proto(node->attr[i]->value, arena, &value));
    rheos_status *status = rheos__attr_to_proto(&value, arena, &again);
    rheos__attr_release(&value);
    if (status != NULL) return status;
  }
  return NULL;
}

static rheos_status *read_node_def(const void *data, size_t size_bytes) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__NodeDef *node;
  rheos_status *status = RHEOS_PROTO_UNPACK(node_def, data, size_bytes, &arena, &node);
  if (status == NULL) status = read_attrs(node, &arena);
  rheos__arena_deinit(&arena);
  return status;
}

static rheos_status *read_tensor_proto(const void *data, size_t size_bytes) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__TensorProto *proto;
  rheos_tensor *tensor = NULL;
  rheos__buffer bytes = {0};
  rheos_status *status = RHEOS_PROTO_UNPACK(tensor_proto, data, size_bytes, &arena, &proto);
  if (status == NULL) status = rheos__tensor_from_proto(proto, &tensor);
  if (status == NULL) status = rheos__tensor_to_proto(tensor, &arena, &proto);
  if (status == NULL) rheos__proto_pack(&proto->base, &bytes);
  rheos__buffer_deinit(&bytes);
  rheos_tensor_unref(tensor);
  rheos__arena_deinit(&arena);
  return status;
}

static rheos_status *read_variant_proto(const void *data, size_t size_bytes) {
  rheos_tensor *tensor = NULL, *again = NULL;
  rheos__buffer bytes = {0};
  RHEOS_TRY(rheos__tensor_message_parse(data, size_bytes, &tensor));
  rheos_status *status = rheos__tensor_message_put(&bytes, tensor);
  if (status == NULL) status = rheos__tensor_message_parse(bytes.data, bytes.size_bytes, &again);
  rheos__buffer_deinit(&bytes);
  rheos_tensor_unref(tensor);
  rheos_tensor_unref(again);
  return status;
}

static rheos_status *read_event(const void *data, size_t size_bytes) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__Event *event;
  rheos_status *status = RHEOS_PROTO_UNPACK(event, data, size_bytes, &arena, &event);
  rheos__arena_deinit(&arena);
  return status;
}

static rheos_status *import_meta_graph(const rheos_meta_graph *meta_graph) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  rheos_status *status = scope != NULL ? NULL : rheos__out_of_memory();
  if (status == NULL) {
    const rheos_import_options options = {.keep_unknown_ops = true};
    rheos_import_meta_graph(scope, meta_graph, &options);
    status = rheos_scope_finish(scope);
  }
  rheos_scope_free(scope);
  if (graph != NULL) rheos__graph_check(graph);
  rheos_graph_unref(graph);
  return status;
}

static rheos_status *read_meta_graph(const void *data, size_t size_bytes) {
  rheos_meta_graph *meta_graph;
  RHEOS_TRY(rheos_meta_graph_parse(data, size_bytes, &meta_graph));
  rheos_status *status = import_meta_graph(meta_graph);
  rheos_meta_graph_free(meta_graph);
  return status;
}

// What it says, and its graph; nothing is restored or run, as what a graph asks for is not bounded.
static rheos_status *read_saved_model(const void *data, size_t size_bytes) {
  write_file("saved_model.pb", data, size_bytes);
  path_of("");
  rheos_saved_model_def *def;
  RHEOS_TRY(rheos_saved_model_read(folder, &def));
  rheos_status *status = NULL;
  for (size_t i = 0; i < def->num_meta_graphs && status == NULL; i++) {
    status = import_meta_graph(def->meta_graphs[i]);
  }
  rheos_saved_model_def_free(def);
  return status;
}

// The first byte chooses the type of the message. What is read is written, and read again.
static rheos_status *read_message_text(const void *data, size_t size_bytes) {
  static const char *const types[] = {"GraphDef", "MetaGraphDef", "SavedModel", "Event"};
  if (size_bytes == 0) return RHEOS_INVALID("no type");
  const char *text = data, *type = types[(unsigned char)text[0] % 4];
  void *message, *again = NULL;
  size_t message_bytes, written_bytes, again_bytes = 0;
  RHEOS_TRY(rheos_message_from_text(type, text + 1, size_bytes - 1, &message, &message_bytes));
  char *written = NULL;
  rheos_status *status =
      rheos_message_to_text(type, message, message_bytes, &written, &written_bytes);
  if (status == NULL) {
    status = rheos_message_from_text(type, written, written_bytes, &again, &again_bytes);
  }
  rheos_free(message);
  rheos_free(written);
  rheos_free(again);
  return status;
}

// ---- Checkpoints

static rheos_status *read_all_tensors(rheos_checkpoint_reader *reader) {
  const size_t count = rheos_checkpoint_reader_count(reader);
  rheos_status *first = NULL;
  for (size_t i = 0; i < count; i++) {
    rheos_tensor *tensor;
    rheos_status *status = rheos_checkpoint_reader_read(reader, i, &tensor);
    rheos_tensor_unref(tensor);
    if (first == NULL)
      first = status;
    else
      rheos_status_free(status);
  }
  return first;
}

rheos_status *read_checkpoint_files(const char *prefix) {
  rheos_checkpoint_reader *reader;
  RHEOS_TRY(rheos_checkpoint_reader_open(prefix, &reader));
  rheos_status *status = read_all_tensors(reader);
  rheos_checkpoint_reader_free(reader);
  return status;
}

// The index, the first and the second data file: the length of each of the first two (16 bits),
// then its bytes.
static rheos_status *read_checkpoint(const void *data, size_t size_bytes) {
  static const char *const names[] = {"c.index", "c.data-00000-of-00001", "c.data-00001-of-00002"};
  const unsigned char *at = data;
  for (int i = 0; i < 3; i++) {
    size_t part = size_bytes;
    if (i < 2) {
      if (size_bytes < 2) return RHEOS_INVALID("a checkpoint of two lengths and three files");
      part = at[0] | (size_t)at[1] << 8;
      at += 2, size_bytes -= 2;
      if (part > size_bytes) part = size_bytes;
    }
    write_file(names[i], at, part);
    if (i == 1) write_file("c.data-00000-of-00002", at, part);
    at += part, size_bytes -= part;
  }
  return read_checkpoint_files(path_of("c"));
}

static rheos_status *read_checkpoint_v1(const void *data, size_t size_bytes) {
  return read_checkpoint_files(write_file("file", data, size_bytes));
}

static rheos_status *read_checkpoint_state(const void *data, size_t size_bytes) {
  write_file("checkpoint", data, size_bytes);
  rheos_checkpoint_state state;
  path_of("");
  RHEOS_TRY(rheos_checkpoint_state_read(folder, NULL, &state));
  rheos_checkpoint_state_deinit(&state);
  char *newest;
  RHEOS_TRY(rheos_latest_checkpoint(folder, NULL, &newest));
  rheos_free(newest);
  return NULL;
}

static rheos_status *ignore_entry(void *argument, const char *key, size_t key_bytes,
                                  const char *value, size_t value_bytes) {
  (void)argument, (void)key, (void)key_bytes, (void)value, (void)value_bytes;
  return NULL;
}

static void put_block(rheos__buffer *table, const void *data, size_t size_bytes, char type,
                      rheos__buffer *handle) {
  rheos__buffer_put_varint(handle, table->size_bytes);
  rheos__buffer_put_varint(handle, size_bytes);
  rheos__buffer_put(table, data, size_bytes);
  rheos__buffer_put(table, &type, 1);
  const char *block = table->data + table->size_bytes - size_bytes - 1;
  rheos__buffer_put_32(table, rheos__crc32c_mask(rheos__crc32c(0, block, size_bytes + 1)));
}

// The table whose one block of data, compressed, these bytes are.
static void put_table(rheos__buffer *table, const void *data, size_t size_bytes) {
  static const uint64_t magic = 0xdb4775248b80fb57u;
  static const char end[] = {0, 0, 0, 0, 1, 0, 0, 0}, zeros[40] = {0};
  rheos__buffer handle = {0}, index = {0}, footer = {0};
  put_block(table, data, size_bytes, 1, &handle);
  const char entry[] = {0, 1, (char)handle.size_bytes, '\xff'};
  rheos__buffer_put(&index, entry, sizeof entry);
  rheos__buffer_put(&index, handle.data, handle.size_bytes);
  rheos__buffer_put(&index, end, sizeof end);
  put_block(table, end, sizeof end, 0, &footer);
  put_block(table, index.data, index.size_bytes, 0, &footer);
  rheos__buffer_put(&footer, zeros, sizeof zeros - footer.size_bytes);
  rheos__buffer_put(&footer, &magic, sizeof magic);
  rheos__buffer_put(table, footer.data, footer.size_bytes);
  rheos__buffer_deinit(&handle);
  rheos__buffer_deinit(&index);
  rheos__buffer_deinit(&footer);
}

static rheos_status *read_snappy(const void *data, size_t size_bytes) {
  rheos__buffer table = {0};
  put_table(&table, size_bytes > 0 ? data : "", size_bytes);
  rheos_status *status =
      table.failed ? rheos__out_of_memory()
                   : rheos__table_each("snappy", table.data, table.size_bytes, ignore_entry, NULL);
  rheos__buffer_deinit(&table);
  return status;
}

static rheos_status *read_tensor_slice(const void *data, size_t size_bytes) {
  const rheos_string text = {.data = (char *)(uintptr_t)data, .size_bytes = size_bytes};
  rheos_shape shape, part;
  rheos__slice slice;
  RHEOS_TRY(rheos__slice_parse(&text, &shape, &slice, &part));
  rheos__slice_text buffer;
  rheos__slice_text_of(&slice, &buffer);
  rheos__buffer key = {0};
  rheos__slice_key(&key, "name", 4, &slice);
  rheos__buffer_deinit(&key);
  return rheos__slice_shape(&slice, &shape, &part);
}

// The objects that TensorFlow 2 puts into a checkpoint: a tensor of it is their message.
static rheos_status *write_objects(const char *prefix, const void *data, size_t size_bytes) {
  rheos_tensor *tensor;
  rheos_checkpoint_writer *writer;
  RHEOS_TRY(rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, &tensor));
  rheos_status *status = rheos_tensor_set_string(tensor, 0, data, size_bytes);
  if (status == NULL) status = rheos_checkpoint_writer_open(prefix, &writer);
  if (status == NULL) {
    status = rheos_checkpoint_writer_add(writer, "_CHECKPOINTABLE_OBJECT_GRAPH", tensor);
    if (status == NULL)
      status = rheos_checkpoint_writer_finish(writer);
    else
      rheos_checkpoint_writer_abandon(writer);
  }
  rheos_tensor_unref(tensor);
  return status;
}

static rheos_status *read_object_graph(const void *data, size_t size_bytes) {
  rheos_checkpoint_reader *reader;
  rheos_object_name *names;
  size_t count;
  const char *prefix = path_of("o");
  RHEOS_TRY(write_objects(prefix, size_bytes > 0 ? data : "", size_bytes));
  RHEOS_TRY(rheos_checkpoint_reader_open(prefix, &reader));
  rheos_status *status = rheos_checkpoint_reader_object_names(reader, &names, &count);
  if (status == NULL) rheos_free(names);
  rheos_checkpoint_reader_free(reader);
  return status;
}

// ---- Arrays

static rheos_status *read_npy(const void *data, size_t size_bytes) {
  rheos_tensor *tensor;
  RHEOS_TRY(rheos_npy_decode(data, size_bytes, &tensor));
  void *bytes = NULL;
  size_t written;
  rheos_status *status = rheos_npy_encode(tensor, &bytes, &written);
  rheos_free(bytes);
  rheos_tensor_unref(tensor);
  return status;
}

static rheos_status *read_npz(const void *data, size_t size_bytes) {
  rheos_npz *npz;
  RHEOS_TRY(rheos_npz_open(data, size_bytes, &npz));
  rheos_status *status = NULL;
  for (size_t i = 0; i < rheos_npz_count(npz) && status == NULL; i++) {
    rheos_tensor *tensor;
    status = rheos_npz_read(npz, i, &tensor);
    rheos_tensor_unref(tensor);
  }
  rheos_npz_free(npz);
  return status;
}

// ---- Databases

static rheos_status *read_lmdb(const void *data, size_t size_bytes) {
  rheos__lmdb *lmdb;
  RHEOS_TRY(rheos__lmdb_open(write_file("file", data, size_bytes), &lmdb));
  rheos__buffer key = {0}, value = {0};
  rheos_status *status = NULL;
  bool end = false;
  while (status == NULL && !end) {
    key.size_bytes = value.size_bytes = 0;
    status = rheos__lmdb_next(lmdb, &key, &value, &end);
  }
  rheos__buffer_deinit(&key);
  rheos__buffer_deinit(&value);
  rheos__lmdb_close(lmdb);
  return status;
}

// ---- Records

static rheos_status *each_record(const void *data, size_t size_bytes, rheos_compression compression,
                                 rheos_status *(*read)(const void *data, size_t size_bytes)) {
  rheos_record_reader *reader;
  RHEOS_TRY(rheos_record_reader_open(write_file("file", data, size_bytes), compression, &reader));
  rheos_status *status = NULL;
  while (status == NULL) {
    const void *record;
    size_t record_bytes;
    status = rheos_record_reader_next(reader, &record, &record_bytes);
    if (status == NULL && read != NULL) status = read(record, record_bytes);
  }
  rheos_record_reader_close(reader);
  if (rheos_status_code(status) != RHEOS_OUT_OF_RANGE) return status;
  rheos_status_free(status);  // the end
  return NULL;
}

static rheos_status *read_records(const void *data, size_t size_bytes) {
  return each_record(data, size_bytes, RHEOS_NO_COMPRESSION, NULL);
}
static rheos_status *read_records_zlib(const void *data, size_t size_bytes) {
  return each_record(data, size_bytes, RHEOS_ZLIB, NULL);
}
static rheos_status *read_records_gzip(const void *data, size_t size_bytes) {
  return each_record(data, size_bytes, RHEOS_GZIP, NULL);
}
static rheos_status *read_events(const void *data, size_t size_bytes) {
  return each_record(data, size_bytes, RHEOS_NO_COMPRESSION, read_event);
}

// ---- Ops

#define OP_READER(name)                                                   \
  static rheos_status *read_##name(const void *data, size_t size_bytes) { \
    return read_by_op(#name, data, size_bytes);                           \
  }
OP_READER(parse_tensor)
OP_READER(example)
OP_READER(sequence_example)
OP_READER(csv)
OP_READER(json_example)
OP_READER(raw)
OP_READER(base64)
OP_READER(compressed)
OP_READER(jpeg)
OP_READER(png)
OP_READER(gif)
OP_READER(bmp)
OP_READER(wav)

static rheos_status *read_flow_graph(const void *data, size_t size_bytes) {
  return read_by_running(data, size_bytes);
}

static rheos_status *read_flow_program(const void *data, size_t size_bytes) {
  return read_as_program(data, size_bytes);
}

// ---- All of them

const file_reader file_readers[] = {
#define READER(name, fixed_mib, multiple, files) {#name, read_##name, fixed_mib, multiple, false},
#define REPEATING(name, fixed_mib, multiple, files) {#name, read_##name, fixed_mib, multiple, true},
#include "format/readers.def"
#undef READER
#undef REPEATING
};
const size_t num_file_readers = sizeof file_readers / sizeof *file_readers;

const file_reader *file_reader_named(const char *name) {
  for (size_t i = 0; i < num_file_readers; i++) {
    if (strcmp(file_readers[i].name, name) == 0) return &file_readers[i];
  }
  return NULL;
}

int64_t file_reader_limit(const file_reader *reader, size_t size_bytes) {
  return reader->fixed_mib * (1 << 20) + reader->multiple * (int64_t)size_bytes;
}
