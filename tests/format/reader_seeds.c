// Sound files for each reader: TensorFlow's own from tests/golden where there are some, else
// written here by the library.
#include <dirent.h>
#include <rheos/rheos.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/buffer.h"
#include "codec/wire.h"
#include "format/graph/graph_def.h"
#include "format/readers.h"
#include "tensor/tensor.h"

static void give_up(const char *what) {
  perror(what);
  exit(2);
}

static void *must(void *memory) {
  if (memory == NULL) give_up("seeds");
  return memory;
}

static void check(rheos_status *status) {
  if (status == NULL) return;
  fprintf(stderr, "seeds: %s\n", rheos_status_message(status));
  exit(2);
}

static rheos__buffer load(const char *path) {
  rheos__buffer buffer = {0};
  FILE *file = fopen(path, "rb");
  if (file == NULL) give_up(path);
  char chunk[4096];
  for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;) {
    rheos__buffer_put(&buffer, chunk, n);
  }
  fclose(file);
  return buffer;
}

// Calls `each` with the path of every file of tests/golden/FOLDER whose name ends so.
static void each_golden(const char *folder, const char *suffix,
                        void (*each)(void *argument, const char *path), void *argument) {
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/golden/%s", RHEOS_SOURCE_DIR, folder);
  struct dirent **entries;
  const int count = scandir(path, &entries, NULL, alphasort);
  if (count < 0) give_up(path);
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    const size_t length = strlen(name), end = strlen(suffix);
    if (name[0] != '.' && length >= end && strcmp(name + length - end, suffix) == 0) {
      snprintf(path, sizeof path, "%s/tests/golden/%s/%s", RHEOS_SOURCE_DIR, folder, name);
      each(argument, path);
    }
    free(entries[i]);
  }
  free(entries);
}

typedef struct taker {
  take_seed take;
  void *argument;
} taker;

static void take_buffer(const taker *t, rheos__buffer *buffer) {
  if (buffer->failed) give_up("seeds");
  t->take(t->argument, buffer->data, buffer->size_bytes);
  rheos__buffer_deinit(buffer);
}

static void take_file(void *argument, const char *path) {
  rheos__buffer file = load(path);
  take_buffer(argument, &file);
}

// What takes long to run, damaged at every byte, is left out.
static void take_small_file(void *argument, const char *path) {
  rheos__buffer file = load(path);
  if (file.size_bytes > 2500) {
    rheos__buffer_deinit(&file);
    return;
  }
  take_buffer(argument, &file);
}

// ---- Messages

static void pack_and_take(const taker *t, const ProtobufCMessage *message) {
  rheos__buffer bytes = {0};
  rheos__proto_pack(message, &bytes);
  take_buffer(t, &bytes);
}

typedef struct part_taker {
  const taker *t;
  bool wants_tensors;
} part_taker;

static void take_parts(void *argument, const char *path) {
  const part_taker *p = argument;
  rheos__buffer file = load(path);
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__GraphDef *graph;
  rheos_status *status = RHEOS_PROTO_UNPACK(graph_def, file.data, file.size_bytes, &arena, &graph);
  if (status != NULL) give_up(path);
  for (size_t i = 0; i < graph->n_node; i++) {
    const Tensorflow__NodeDef *node = graph->node[i];
    if (!p->wants_tensors) pack_and_take(p->t, &node->base);
    for (size_t j = 0; p->wants_tensors && j < node->n_attr; j++) {
      const Tensorflow__AttrValue *value = node->attr[j]->value;
      if (value == NULL || value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_TENSOR) continue;
      pack_and_take(p->t, &value->tensor->base);
    }
  }
  rheos__arena_deinit(&arena);
  rheos__buffer_deinit(&file);
}

// A graph as text, behind the byte that says it is one.
static void take_as_text(void *argument, const char *path) {
  rheos__buffer file = load(path);
  char *text;
  size_t text_bytes;
  if (file.size_bytes > 6000) {
    rheos__buffer_deinit(&file);
    return;
  }
  rheos_status *status =
      rheos_message_to_text("GraphDef", file.data, file.size_bytes, &text, &text_bytes);
  if (status != NULL) give_up(path);
  rheos__buffer seed = {0};
  rheos__buffer_put(&seed, "", 1);
  rheos__buffer_put(&seed, text, text_bytes);
  rheos_free(text);
  rheos__buffer_deinit(&file);
  take_buffer(argument, &seed);
}

// ---- Checkpoints

static void put_part(rheos__buffer *packed, const rheos__buffer *file) {
  const char length[] = {(char)file->size_bytes, (char)(file->size_bytes >> 8)};
  rheos__buffer_put(packed, length, 2);
  rheos__buffer_put(packed, file->data, file->size_bytes);
}

// The files of the checkpoint as readers.c takes them apart.
static void take_checkpoint(void *argument, const char *index_path) {
  char path[1100];
  const int stem = (int)(strlen(index_path) - strlen(".index"));
  rheos__buffer packed = {0}, file = load(index_path);
  put_part(&packed, &file);
  rheos__buffer_deinit(&file);
  snprintf(path, sizeof path, "%.*s.data-00000-of-00002", stem, index_path);
  const bool is_sharded = access(path, F_OK) == 0;
  if (!is_sharded) snprintf(path, sizeof path, "%.*s.data-00000-of-00001", stem, index_path);
  file = load(path);
  put_part(&packed, &file);
  rheos__buffer_deinit(&file);
  if (is_sharded) {
    snprintf(path, sizeof path, "%.*s.data-00001-of-00002", stem, index_path);
    file = load(path);
    rheos__buffer_put(&packed, file.data, file.size_bytes);
    rheos__buffer_deinit(&file);
  }
  take_buffer(argument, &packed);
}

static void take_v1(void *argument, const char *path) {
  if (strstr(path, "/v1_") != NULL) take_file(argument, path);
}

static void take_text(const taker *t, const char *text) {
  t->take(t->argument, text, strlen(text));
}

static void take_states(const taker *t) {
  take_text(t,
            "model_checkpoint_path: \"model-2\"\nall_model_checkpoint_paths: \"model-1\"\n"
            "all_model_checkpoint_paths: \"model-2\"\n"
            "all_model_checkpoint_timestamps: 1600000000.25\nlast_preserved_timestamp: 1.5e9\n");
  take_text(t,
            "# written by hand\r\nmodel_checkpoint_path : '/tmp/\\x41\\102\\n' \"more\"; other: 3");
  take_text(t, "model_checkpoint_path: '/*///*/*/*/m-*-of-00001'");
  take_text(t, "");
}

static void take_slices(const taker *t) {
  take_text(t, "4 10 0,2:-");
  take_text(t, "5 2 3,2:0,2");
  take_text(t, "2000000 1048576,2");
  take_text(t, "1 1 1 1 1 1 1 1 -:-:-:-:-:-:-:-");
}

// The entries a to z of one byte each, one restart.
static void take_snappy(const taker *t) {
  static const char end[] = {0, 0, 0, 0, 1, 0, 0, 0};
  rheos__buffer block = {0};
  for (char key = 'a'; key <= 'z'; key++) {
    const char entry[] = {0, 1, 1, key, 'x'};
    rheos__buffer_put(&block, entry, sizeof entry);
  }
  rheos__buffer_put(&block, end, sizeof end);
  char out[1000];
  size_t out_bytes = sizeof out;
  if (snappy_compress(block.data, block.size_bytes, out, &out_bytes) != SNAPPY_OK) exit(2);
  rheos__buffer_deinit(&block);
  t->take(t->argument, out, out_bytes);
}

// ---- Records

static char *temporary(void) {
  const char *parent = getenv("TMPDIR");
  char *path = must(malloc(300));
  snprintf(path, 300, "%s/rheos-seed-XXXXXX", parent != NULL ? parent : "/tmp");
  if (mkdtemp(path) == NULL) give_up(path);
  return path;
}

static void take_records(const taker *t, rheos_compression compression) {
  static const char *const records[] = {"one", "", "a longer record, longer than the others"};
  char *folder = temporary(), path[320];
  snprintf(path, sizeof path, "%s/records", folder);
  for (int count = 0; count <= 3; count++) {
    rheos_record_writer *writer;
    check(rheos_record_writer_open(path, compression, 6, &writer));
    for (int i = 0; i < count; i++) {
      check(rheos_record_writer_write(writer, records[i], strlen(records[i])));
    }
    check(rheos_record_writer_close(writer));
    rheos__buffer file = load(path);
    take_buffer(t, &file);
  }
  unlink(path);
  rmdir(folder);
  free(folder);
}

// A Summary with a value of each kind.
static rheos__buffer summary(void) {
  static const unsigned char three_doubles[24] = {0};
  rheos__buffer all = {0};
  for (int kind = 2; kind <= 8; kind++) {
    rheos__buffer value = {0}, inner = {0};
    rheos__wire_put_bytes(&value, 1, "tag", 3);
    if (kind == 2) rheos__wire_put_float(&value, 2, 1.5f);
    if (kind == 4 || kind == 6) {
      if (kind == 4) rheos__wire_put_varint(&inner, 1, 2);
      if (kind == 6) rheos__wire_put_float(&inner, 1, 8000);
      rheos__wire_put_varint(&inner, 2, 2);
      rheos__wire_put_bytes(&inner, 4, "bytes", 5);
    } else if (kind == 5) {
      rheos__wire_put_double(&inner, 1, -1.5);
      rheos__wire_put_bytes(&inner, 6, three_doubles, sizeof three_doubles);
    } else if (kind == 8) {
      rheos__wire_put_varint(&inner, 1, RHEOS_FLOAT);
      rheos__wire_put_bytes(&inner, 4, three_doubles, 8);
    }
    if (kind > 3 && kind != 7) rheos__wire_put_message(&value, kind, &inner);
    rheos__wire_put_message(&all, 1, &value);
  }
  return all;
}

static void take_events(const taker *t) {
  char *folder = temporary();
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_placeholder(scope, RHEOS_FLOAT, .name = "x");
  check(rheos_scope_finish(scope));
  rheos_event_writer *writer;
  check(rheos_event_writer_open(folder, NULL, &writer));
  check(rheos_event_writer_add_graph(writer, graph));
  check(rheos_event_writer_add_scalar(writer, "loss", 0.5f, 3));
  rheos__buffer values = summary();
  check(rheos_event_writer_add_summary(writer, values.data, values.size_bytes, 7));
  rheos__buffer_deinit(&values);
  char *path = must(strdup(rheos_event_writer_path(writer)));
  check(rheos_event_writer_close(writer));
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  rheos__buffer file = load(path);
  take_buffer(t, &file);
  unlink(path);
  rmdir(folder);
  free(path);
  free(folder);
}

// ---- Arrays

// One array of numbers and one of strings; as archives one stored and one compressed.
static void take_arrays(taker *t, bool in_archive) {
  rheos_tensor *tensors[2];
  static const char *const names[] = {"numbers", "texts"};
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(2, 3), &tensors[0]));
  memset(rheos_tensor_data(tensors[0]), 7, rheos_tensor_size_bytes(tensors[0]));
  check(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(2), &tensors[1]));
  check(rheos_tensor_set_string(tensors[1], 1, "text", 4));
  for (int i = 0; i < 2; i++) {
    void *bytes;
    size_t size_bytes;
    check(in_archive ? rheos_npz_encode(names, tensors, 2, i == 1, &bytes, &size_bytes)
                     : rheos_npy_encode(tensors[i], &bytes, &size_bytes));
    t->take(t->argument, bytes, size_bytes);
    rheos_free(bytes);
  }
  for (int i = 0; i < 2; i++) rheos_tensor_unref(tensors[i]);
}

// ---- Objects

static void put_object(rheos__buffer *graph, const char *child, const char *full_name,
                       const char *key) {
  rheos__buffer object = {0}, reference = {0}, attribute = {0};
  rheos__wire_put_varint(&reference, 1, 1);
  rheos__wire_put_bytes(&reference, 2, child, strlen(child));
  rheos__wire_put_message(&object, 1, &reference);
  rheos__wire_put_bytes(&attribute, 1, "VARIABLE_VALUE", 14);
  rheos__wire_put_bytes(&attribute, 2, full_name, strlen(full_name));
  rheos__wire_put_bytes(&attribute, 3, key, strlen(key));
  rheos__wire_put_message(&object, 2, &attribute);
  rheos__wire_put_message(graph, 1, &object);
}

static void take_objects(const taker *t) {
  rheos__buffer graph = {0};
  put_object(&graph, "layer", "dense/kernel", "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE");
  put_object(&graph, "step", "", "step/.ATTRIBUTES/VARIABLE_VALUE");
  put_object(&graph, "bias", "dense/bias", "layer/bias/.ATTRIBUTES/VARIABLE_VALUE");
  take_buffer(t, &graph);
}

// ---- All

void file_reader_seeds(const char *reader, take_seed take, void *argument) {
  taker t = {take, argument};
  if (strcmp(reader, "graph_def") == 0 || strcmp(reader, "mapped_import") == 0) {
    each_golden("graphs", ".pb", take_file, &t);
  } else if (strcmp(reader, "node_def") == 0 || strcmp(reader, "tensor_proto") == 0) {
    part_taker parts = {&t, reader[0] == 't'};
    each_golden("graphs", ".pb", take_parts, &parts);
  } else if (strcmp(reader, "variant_proto") == 0) {
    each_golden("datasets/files/variants", ".tensor", take_file, &t);
  } else if (strcmp(reader, "meta_graph") == 0) {
    each_golden("meta_graphs", ".meta", take_file, &t);
  } else if (strcmp(reader, "saved_model") == 0) {
    each_golden("saved_models/functions", ".pb", take_file, &t);
    each_golden("saved_models/mlp", ".pb", take_file, &t);
    each_golden("saved_models/tables", ".pb", take_file, &t);
  } else if (strcmp(reader, "flow_graph") == 0) {
    each_golden("flow", ".pb", take_small_file, &t);
    each_golden("flow_by_hand", ".pb", take_small_file, &t);
    each_golden("functions", ".pb", take_small_file, &t);
  } else if (strcmp(reader, "flow_program") == 0) {
    flow_program_seeds(take, argument);
  } else if (strcmp(reader, "request") == 0) {
    request_seeds(take, argument);
  } else if (strcmp(reader, "cluster_json") == 0) {
    cluster_json_seeds(take, argument);
  } else if (strcmp(reader, "message_text") == 0) {
    each_golden("graphs", ".pb", take_as_text, &t);
    take_text(&t,
              "\2meta_graphs { meta_info_def { tags: 'serve' any_info { [x/a.B] { c: 1 } } } }");
    take_text(&t, "\3summary < value { tag: \"a\" simple_value: -inf } > step: 0x1F # end");
  } else if (strcmp(reader, "checkpoint") == 0) {
    each_golden("checkpoints", ".index", take_checkpoint, &t);
  } else if (strcmp(reader, "checkpoint_v1") == 0) {
    each_golden("checkpoints", "", take_v1, &t);
  } else if (strcmp(reader, "checkpoint_state") == 0) {
    take_states(&t);
  } else if (strcmp(reader, "object_graph") == 0) {
    take_objects(&t);
  } else if (strcmp(reader, "snappy") == 0) {
    take_snappy(&t);
  } else if (strcmp(reader, "tensor_slice") == 0) {
    take_slices(&t);
  } else if (strcmp(reader, "records") == 0) {
    take_records(&t, RHEOS_NO_COMPRESSION);
  } else if (strcmp(reader, "records_zlib") == 0) {
    take_records(&t, RHEOS_ZLIB);
  } else if (strcmp(reader, "records_gzip") == 0) {
    take_records(&t, RHEOS_GZIP);
  } else if (strcmp(reader, "events") == 0) {
    take_events(&t);
    each_golden("events", ".tfevents", take_file, &t);
  } else if (strcmp(reader, "lmdb") == 0) {
    each_golden("lmdb/folder", ".mdb", take_file, &t);
    each_golden("lmdb", ".mdb", take_file, &t);
  } else if (strcmp(reader, "npy") == 0 || strcmp(reader, "npz") == 0) {
    take_arrays(&t, strcmp(reader, "npz") == 0);
  } else {
    op_reader_seeds(reader, take, argument);
  }
}
