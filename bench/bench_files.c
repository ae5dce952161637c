// What TensorFlow's files cost: graphs, checkpoints, records, examples, events. Files lie in
// $TMPDIR or /tmp and are read from the page cache. One JSON object a line.
#include <string.h>
#include <unistd.h>

#include <rheos/events.h>
#include <rheos/examples.h>
#include <rheos/format.h>
#include <rheos/ops.h>
#include <rheos/session.h>
#include <rheos/train.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "bench.h"

enum { MB = 1 << 20 };

static char folder[256];

static const char *file_path(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

// The median of what `body` says that it took.
static double repeat(double (*body)(void *), void *argument) {
  double rounds[REPEATS];
  body(argument);
  for (int r = 0; r < REPEATS; r++) rounds[r] = body(argument);
  return median(rounds, REPEATS);
}

// ---- Graphs

// Pairs of a constant and an addition: a chain of `count` nodes in all.
static rheos_graph *make_chain(int count) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_output x = rheos_constant_float(s, 1, NULL);
  for (int i = 0; i < (count - 1) / 2; i++) x = rheos_add(s, x, rheos_constant_float(s, 1, NULL));
  rheos_identity(s, x, .name = "result");
  check(rheos_scope_finish(s));
  rheos_scope_free(s);
  return graph;
}

// Layers of a placeholder, a matrix of 16 x 16 each, bias and Relu: what real graphs are made of.
static rheos_graph *make_layers(int count) {
  float values[256] = {0};
  for (int i = 0; i < 256; i++) values[i] = (float)i / 256;
  rheos_tensor *matrix, *bias;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(16, 16), values, &matrix));
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(16), values, &bias));
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(1, 16), .name = "x");
  for (int i = 0; i < (count - 2) / 5; i++) {
    x = rheos_matmul(s, x, rheos_constant(s, matrix, NULL));
    x = rheos_relu(s, rheos_bias_add(s, x, rheos_constant(s, bias, NULL)));
  }
  rheos_identity(s, x, .name = "result");
  check(rheos_scope_finish(s));
  rheos_scope_free(s);
  rheos_tensor_unref(matrix);
  rheos_tensor_unref(bias);
  return graph;
}

typedef struct graph_bytes {
  rheos_graph *graph;
  void *bytes;
  size_t size_bytes;
} graph_bytes;

static double export_graph(void *argument) {
  graph_bytes *g = argument;
  rheos_free(g->bytes);
  const double start = now_ns();
  check(rheos_graph_to_graph_def(g->graph, &g->bytes, &g->size_bytes));
  return now_ns() - start;
}

static double import_graph(void *argument) {
  const graph_bytes *g = argument;
  const double start = now_ns();
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_import_graph_def(s, g->bytes, g->size_bytes, NULL);
  check(rheos_scope_finish(s));
  const double taken = now_ns() - start;
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return taken;
}

// Reads the file, imports, runs: what a program does that serves a model.
static double first_run(void *argument) {
  const char *path = argument;
  char *bytes;
  size_t size_bytes;
  const double start = now_ns();
  check(rheos__file_read_all(path, (size_t)1 << 30, &bytes, &size_bytes));
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_import_graph_def(s, bytes, size_bytes, NULL);
  check(rheos_scope_finish(s));
  rheos__free(bytes);
  rheos_session *session;
  rheos_tensor *x;
  float zeros[16] = {0};
  check(rheos_session_new(graph, NULL, &session));
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(1, 16), zeros, &x));
  const rheos_operation in = rheos_graph_operation(graph, "x"),
                        out = rheos_graph_operation(graph, "result");
  rheos_fetch fetch = {.output = rheos_operation_output(out, 0)};
  const rheos_feed feed = {rheos_operation_output(in, 0), x};
  check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  const double taken = now_ns() - start;
  rheos_tensor_unref(fetch.value);
  rheos_tensor_unref(x);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return taken;
}

static void bench_graph(const char *name, rheos_graph *graph) {
  graph_bytes g = {.graph = graph};
  const double count = rheos_graph_num_operations(graph);
  char row[100];
  snprintf(row, sizeof row, "GraphDef, %s: export, a node", name);
  report(row, "ns", repeat(export_graph, &g) / count, 1000, "", 0);
  snprintf(row, sizeof row, "GraphDef, %s: import, a node", name);
  report(row, "ns", repeat(import_graph, &g) / count, 2000, "", 0);
  rheos_free(g.bytes);
  rheos_graph_unref(graph);
}

static void bench_graphs(void) {
  bench_graph("40,000 nodes of additions", make_chain(40000));
  bench_graph("40,000 nodes of layers", make_layers(40000));
  graph_bytes g = {.graph = make_layers(5000)};
  export_graph(&g);
  check(rheos__file_replace(file_path("graph.pb"), g.bytes, g.size_bytes));
  report("5,000-node graph: load, import, first run", "ms",
         repeat(first_run, (void *)(uintptr_t)file_path("graph.pb")) / 1e6, 100, "", 0);
  rheos_free(g.bytes);
  rheos_graph_unref(g.graph);
}

// ---- Checkpoints

typedef struct checkpoint {
  rheos_saver saver;
  rheos_session *session;
  size_t size_bytes;
} checkpoint;

// A saver of random variables, and a session with them.
static checkpoint make_checkpoint(int num_tensors, int64_t elements) {
  checkpoint c = {.size_bytes = (size_t)num_tensors * (size_t)elements * 4};
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  for (int i = 0; i < num_tensors; i++) {
    char name[32];
    snprintf(name, sizeof name, "variable_%d", i);
    rheos_get_variable(s, name, RHEOS_FLOAT, RHEOS_SHAPE(elements),
                       rheos_random_uniform_initializer(-1, 1));
  }
  c.saver = rheos_saver_new(s, NULL, NULL, 0, NULL);
  const rheos_operation init = rheos_global_variables_initializer(s);
  check(rheos_scope_finish(s));
  check(rheos_session_new(graph, NULL, &c.session));
  check(rheos_session_run(c.session, NULL, 0, NULL, 0, &init, 1, NULL));
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return c;
}

static double save(void *argument) {
  const checkpoint *c = argument;
  const double start = now_ns();
  check(rheos_saver_save(c->saver, c->session, file_path("model")));
  return now_ns() - start;
}

static double restore(void *argument) {
  const checkpoint *c = argument;
  const double start = now_ns();
  check(rheos_saver_restore(c->saver, c->session, file_path("model")));
  return now_ns() - start;
}

static double run_command(void *command) {
  const double start = now_ns();
  if (system(command) != 0) exit(1);
  return now_ns() - start;
}

// dd in blocks of 1 MB, as many bytes as the checkpoint has.
static void dd_command(const checkpoint *c, const char *from, const char *to, const char *more,
                       char *command, size_t room) {
  snprintf(command, room, "dd if=%s of=%s bs=1048576 count=%zu %s status=none", from, to,
           (c->size_bytes + MB - 1) / MB, more);
}

// In turn with dd, so that what else the machine does meets both. The goal is 80 % of the rate of
// dd: 1.25 times its time.
static void report_beside_dd(const char *row, double (*body)(void *), checkpoint *c, char *command,
                             const char *peer) {
  double own[REPEATS], other[REPEATS];
  body(c);
  run_command(command);
  for (int r = 0; r < REPEATS; r++) {
    own[r] = body(c);
    other[r] = run_command(command);
  }
  const double dd_ms = median(other, REPEATS) / 1e6;
  report(row, "ms", median(own, REPEATS) / 1e6, dd_ms * 1.25, peer, dd_ms);
}

static void bench_checkpoint(const char *name, int num_tensors, int64_t elements) {
  checkpoint c = make_checkpoint(num_tensors, elements);
  char row[100], path[512], index[600], command[1200];
  snprintf(path, sizeof path, "%s", file_path("dd"));
  dd_command(&c, "/dev/zero", path, "conv=fsync", command, sizeof command);
  snprintf(row, sizeof row, "checkpoint, %s: save", name);
  report_beside_dd(row, save, &c, command, "dd with fsync");
  dd_command(&c, path, "/dev/null", "", command, sizeof command);
  snprintf(row, sizeof row, "checkpoint, %s: restore", name);
  report_beside_dd(row, restore, &c, command, "dd to /dev/null");
  rheos_session_free(c.session);
  check(rheos__file_remove(path));
  snprintf(index, sizeof index, "%s", file_path("model.index"));
  check(rheos__file_remove(index));
  check(rheos__file_remove(file_path("model.data-00000-of-00001")));
}

static double list_checkpoint(void *argument) {
  (void)argument;
  const double start = now_ns();
  rheos_checkpoint_reader *reader;
  check(rheos_checkpoint_reader_open(file_path("model"), &reader));
  const double count = (double)rheos_checkpoint_reader_count(reader);
  rheos_checkpoint_reader_free(reader);
  return (now_ns() - start) / count;
}

static void bench_checkpoints(void) {
  bench_checkpoint("256 MB in 64 tensors", 64, 1 << 20);
  checkpoint c = make_checkpoint(10000, 16);
  save(&c);
  report("checkpoint of 10,000 tensors: list, a tensor", "ns", repeat(list_checkpoint, NULL), 0, "",
         0);
  report("checkpoint of 10,000 tensors: save, a tensor", "ns", repeat(save, &c) / 10000, 0, "", 0);
  report("checkpoint of 10,000 tensors: restore, a tensor", "ns", repeat(restore, &c) / 10000, 0,
         "", 0);
  rheos_session_free(c.session);
}

// ---- Records

typedef struct records {
  int count;
  size_t size_bytes;  // of each
} records;

static double write_records(void *argument) {
  const records *r = argument;
  char *data = malloc(r->size_bytes);
  for (size_t i = 0; i < r->size_bytes; i++) data[i] = (char)(i * 7);
  rheos_record_writer *writer;
  const double start = now_ns();
  check(rheos_record_writer_open(file_path("records"), RHEOS_NO_COMPRESSION, -1, &writer));
  for (int i = 0; i < r->count; i++) {
    check(rheos_record_writer_write(writer, data, r->size_bytes));
  }
  check(rheos_record_writer_close(writer));
  const double taken = now_ns() - start;
  free(data);
  return taken;
}

static double read_records(void *argument) {
  const records *r = argument;
  rheos_record_reader *reader;
  const double start = now_ns();
  check(rheos_record_reader_open(file_path("records"), RHEOS_NO_COMPRESSION, &reader));
  for (int i = 0; i < r->count; i++) {
    const void *data;
    size_t size_bytes;
    check(rheos_record_reader_next(reader, &data, &size_bytes));
  }
  rheos_record_reader_close(reader);
  return now_ns() - start;
}

static void bench_records(void) {
  records small = {1000000, 300}, large = {1024, 256 * 1024};
  report("records of 300 bytes: write, each", "ns", repeat(write_records, &small) / small.count, 0,
         "", 0);
  report("records of 300 bytes: read, each", "ns", repeat(read_records, &small) / small.count, 250,
         "", 0);
  const double megabytes = (double)large.size_bytes * large.count / 1e6;
  report("records of 256 kB: write, a MB", "us", repeat(write_records, &large) / megabytes / 1e3, 0,
         "", 0);
  report("records of 256 kB: read, a MB", "us", repeat(read_records, &large) / megabytes / 1e3, 500,
         "", 0);
}

typedef struct bytes {
  char *data;
  size_t size_bytes;
} bytes;

static double checksum(void *argument) {
  const bytes *b = argument;
  enum { TIMES = 200 };
  static volatile uint32_t sink;
  const double start = now_ns();
  for (int i = 0; i < TIMES; i++) sink = rheos__crc32c(sink, b->data, b->size_bytes);
  return (now_ns() - start) / TIMES;
}

static void bench_checksums(void) {
  bytes b = {calloc(1, MB), MB};
  report("CRC32C of a MB in cache", "us", repeat(checksum, &b) / 1e3 / 1.048576, 0, "", 0);
  b.size_bytes = 300;
  report("CRC32C of 300 bytes", "ns", repeat(checksum, &b), 0, "", 0);
  free(b.data);
}

// ---- Event files

enum { NUM_EVENTS = 200000 };

static double write_events(void *argument) {
  rheos_event_writer *writer;
  const double start = now_ns();
  check(rheos_event_writer_open(folder, ".bench", &writer));
  for (int i = 0; i < NUM_EVENTS; i++) {
    check(rheos_event_writer_add_scalar(writer, "loss", (float)i, i));
  }
  snprintf(argument, 512, "%s", rheos_event_writer_path(writer));
  check(rheos_event_writer_close(writer));
  const double taken = now_ns() - start;
  check(rheos__file_rename(argument, file_path("events")));
  return taken;
}

static void bench_events(void) {
  char path[512];
  report("event file: write a scalar", "ns", repeat(write_events, path) / NUM_EVENTS, 0, "", 0);
}

// ---- Examples

enum { BATCH = 1024, NUM_FLOATS = 50 };

// About 300 bytes: a label, a weight, a name, 50 floats.
static void put_example(rheos_example_builder *builder, int number, const void **out_data,
                        size_t *out_size_bytes) {
  float values[NUM_FLOATS];
  for (int i = 0; i < NUM_FLOATS; i++) values[i] = (float)(number + i);
  rheos_example_builder_clear(builder);
  rheos_example_builder_add_ints(builder, "label", &(int64_t){number}, 1);
  rheos_example_builder_add_floats(builder, "weight", &(float){(float)number}, 1);
  rheos_example_builder_add_text(builder, "name", "image_00012345.jpeg");
  rheos_example_builder_add_floats(builder, "values", values, NUM_FLOATS);
  check(rheos_example_builder_example(builder, out_data, out_size_bytes));
}

static double build_examples(void *builder) {
  const void *data;
  size_t size_bytes;
  const double start = now_ns();
  for (int i = 0; i < BATCH; i++) put_example(builder, i, &data, &size_bytes);
  return now_ns() - start;
}

static rheos_output text_constant(rheos_scope *s, const char *text) {
  rheos_tensor *tensor;
  check(rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, &tensor));
  check(rheos_tensor_set_string(tensor, 0, text, strlen(text)));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static rheos_output empty_constant(rheos_scope *s, rheos_dtype dtype) {
  rheos_tensor *tensor;
  check(rheos_tensor_new(dtype, RHEOS_SHAPE(0), &tensor));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

typedef struct parser {
  rheos_callable *callable;
  rheos_tensor *serialized;
} parser;

static double parse_examples(void *argument) {
  const parser *p = argument;
  rheos_tensor *values[4];
  const double start = now_ns();
  check(rheos_callable_run(p->callable, &p->serialized, values, NULL));
  const double taken = now_ns() - start;
  for (int i = 0; i < 4; i++) rheos_tensor_unref(values[i]);
  return taken;
}

static void bench_examples(void) {
  parser p;
  check(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(BATCH), &p.serialized));
  rheos_example_builder *builder = rheos_example_builder_new();
  report("Example of 300 bytes: build, each", "ns", repeat(build_examples, builder) / BATCH, 0, "",
         0);
  for (int i = 0; i < BATCH; i++) {
    const void *data;
    size_t size_bytes;
    put_example(builder, i, &data, &size_bytes);
    check(rheos_tensor_set_string(p.serialized, i, data, size_bytes));
  }
  rheos_example_builder_free(builder);
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  const rheos_output serialized = rheos_placeholder(s, RHEOS_STRING, .shape = &RHEOS_SHAPE(BATCH));
  const rheos_dtype dtypes[] = {RHEOS_INT64, RHEOS_FLOAT, RHEOS_STRING, RHEOS_FLOAT};
  const char *const keys[] = {"label", "weight", "name", "values"};
  const rheos_shape shapes[] = {RHEOS_SCALAR, RHEOS_SCALAR, RHEOS_SCALAR, RHEOS_SHAPE(NUM_FLOATS)};
  rheos_output key[4], standby[4], inputs[10];
  for (int i = 0; i < 4; i++) {
    key[i] = text_constant(s, keys[i]);
    standby[i] = empty_constant(s, dtypes[i]);
  }
  inputs[0] = serialized;
  inputs[1] = empty_constant(s, RHEOS_STRING);
  memcpy(inputs + 2, key, sizeof key);
  memcpy(inputs + 6, standby, sizeof standby);
  const rheos_attr attrs[] = {
      {"Nsparse", {.kind = RHEOS_ATTR_INT, .i = 0}},
      {"Ndense", {.kind = RHEOS_ATTR_INT, .i = 4}},
      {"sparse_types", {.kind = RHEOS_ATTR_LIST_TYPE, .count = 0}},
      {"Tdense", {.kind = RHEOS_ATTR_LIST_TYPE, .types = dtypes, .count = 4}},
      {"dense_shapes", {.kind = RHEOS_ATTR_LIST_SHAPE, .shapes = shapes, .count = 4}}};
  const rheos_op_args args = {
      .type = "ParseExample", .inputs = inputs, .num_inputs = 10, .attrs = attrs, .num_attrs = 5};
  const rheos_operation operation = rheos_op(s, &args);
  check(rheos_scope_finish(s));
  rheos_output fetches[4];
  for (int i = 0; i < 4; i++) fetches[i] = rheos_operation_output(operation, i);
  rheos_session *session;
  check(rheos_session_new(graph, &(rheos_session_options){.num_threads = 1}, &session));
  check(rheos_callable_new(session, &serialized, 1, fetches, 4, NULL, 0, &p.callable));
  report("ParseExample of 300 bytes, 1 thread, each", "ns", repeat(parse_examples, &p) / BATCH, 0,
         "", 0);
  rheos_callable_free(p.callable);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  rheos_tensor_unref(p.serialized);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } parts[] = {{"graphs", bench_graphs},   {"checkpoints", bench_checkpoints},
               {"records", bench_records}, {"checksums", bench_checksums},
               {"events", bench_events},   {"examples", bench_examples}};
  const char *parent = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/rheos-bench-XXXXXX", parent != NULL ? parent : "/tmp");
  if (mkdtemp(folder) == NULL) return 1;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (argc < 2 || strcmp(argv[1], parts[i].name) == 0) parts[i].run();
  }
  char **names;
  size_t count;
  check(rheos__file_list(folder, &names, &count));
  for (size_t i = 0; i < count; i++) check(rheos__file_remove(file_path(names[i])));
  rheos__file_list_free(names, count);
  return rmdir(folder);
}
