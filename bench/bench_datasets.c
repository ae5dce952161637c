// What an element costs on its way through a pipeline: by itself, in batches, shuffled, kept,
// parsed. One JSON object a line. ONLY=text in the environment: rows with that text; EXPLAIN=1:
// which stage binds.
#include <string.h>
#include <unistd.h>

#include <rheos/rheos.h>

#include "bench.h"

enum { BATCH = 1000 };

typedef struct pipeline {
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_session *session;
  rheos_dataset_iterator *iterator;
  size_t num_components;
} pipeline;

static pipeline new_pipeline(void) {
  pipeline p = {.graph = rheos_graph_new()};
  p.scope = rheos_scope_new(p.graph);
  return p;
}

static void begin(pipeline *p, rheos_output dataset) {
  check(rheos_scope_finish(p->scope));
  check(rheos_session_new(p->graph, NULL, &p->session));
  check(rheos_dataset_iterator_new(p->session, dataset, &p->iterator));
  p->num_components = rheos_dataset_num_components(dataset);
}

static void end(pipeline *p) {
  rheos_dataset_iterator_free(p->iterator);
  rheos_session_free(p->session);
  rheos_scope_free(p->scope);
  rheos_graph_unref(p->graph);
}

static void next(void *argument) {
  pipeline *p = argument;
  rheos_tensor *element[8];
  bool at_end;
  check(rheos_dataset_iterator_next(p->iterator, element, &at_end, NULL));
  if (at_end) exit(1);
  for (size_t i = 0; i < p->num_components; i++) rheos_tensor_unref(element[i]);
}

// `each`: elements that one call gives.
static void measure(const char *row, double goal_us, pipeline *p, rheos_output dataset, int each,
                    int calls) {
  const char *only = getenv("ONLY");
  if (only != NULL && strstr(row, only) == NULL) {
    rheos_scope_free(p->scope);
    rheos_graph_unref(p->graph);
    return;
  }
  begin(p, dataset);
  const double ns = time_calls(next, p, calls) / each;
  report(row, "us", ns * 1e-3, goal_us, NULL, 0);
  if (getenv("EXPLAIN") != NULL) {
    char *text;
    check(rheos_dataset_explain(p->iterator, &text));
    fprintf(stderr, "%s\n", text);
    rheos_free(text);
  }
  end(p);
}

static rheos_output increment(rheos_scope *scope, rheos_output dataset, int64_t num_parallel) {
  rheos_function *f = rheos_function_begin(scope, "increment", NULL);
  const rheos_output x = rheos_function_argument(f, "x", RHEOS_INT64, RHEOS_SCALAR);
  rheos_tensor *one;
  check(rheos_tensor_new(RHEOS_INT64, RHEOS_SCALAR, &one));
  *(int64_t *)rheos_tensor_data(one) = 1;
  rheos_scope *inside = rheos_function_scope(f);
  rheos_function_result(f, NULL, rheos_add(inside, x, rheos_constant(inside, one, NULL)));
  rheos_tensor_unref(one);
  rheos_function_finish(f, scope);
  const rheos_output made = rheos_dataset_map(scope, dataset, f, num_parallel);
  rheos_function_free(f);
  return made;
}

static rheos_output numbers(pipeline *p) { return rheos_dataset_range(p->scope, 0, INT64_MAX, 1); }

static void measure_map(const char *row, double goal_us, int64_t num_parallel, int batch,
                        int64_t buffer) {
  pipeline p = new_pipeline();
  rheos_output d = increment(p.scope, numbers(&p), num_parallel);
  if (buffer > 0) d = rheos_dataset_shuffle(p.scope, d, buffer, 1);
  if (batch > 1) d = rheos_dataset_batch(p.scope, d, batch, false);
  measure(row, goal_us, &p, d, batch, batch > 1 ? 200 : 20000);
}

static void measure_range(void) {
  pipeline p = new_pipeline();
  measure("range, batch of 1000: an element", 0, &p,
          rheos_dataset_batch(p.scope, numbers(&p), BATCH, false), BATCH, 200);
}

// Batches of rows of 64 floats, from memory.
static void measure_cache(void) {
  pipeline p = new_pipeline();
  rheos_tensor *rows;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(BATCH * 10, 64), &rows));
  memset(rheos_tensor_data(rows), 0, BATCH * 10 * 64 * sizeof(float));
  const rheos_output all = rheos_constant(p.scope, rows, NULL);
  rheos_tensor_unref(rows);
  rheos_output d = rheos_dataset_cache(p.scope, rheos_dataset_slices(p.scope, &all, 1));
  d = rheos_dataset_repeat(p.scope, d, -1);
  measure("cache, batch of 1000 rows of 64 floats: a row", 0, &p,
          rheos_dataset_batch(p.scope, d, BATCH, false), BATCH, 200);
}

static void write_records(const char *path) {
  rheos_record_writer *writer;
  check(rheos_record_writer_open(path, RHEOS_NO_COMPRESSION, -1, &writer));
  for (int i = 0; i < BATCH; i++) {
    // Example{features{feature{key: "x" value{float_list{value: [0, 0]}}}}}
    static const char record[] =
        "\x0a\x13\x0a\x11\x0a\x01x\x12\x0c\x12\x0a\x0a\x08\0\0\0\0\0\0\0\0";
    check(rheos_record_writer_write(writer, record, sizeof record - 1));
  }
  check(rheos_record_writer_close(writer));
}

static rheos_function *parsing(rheos_scope *scope) {
  rheos_function *f = rheos_function_begin(scope, "parse", NULL);
  const rheos_output record = rheos_function_argument(f, "record", RHEOS_STRING, RHEOS_SCALAR);
  rheos_scope *inside = rheos_function_scope(f);
  rheos_tensor *none;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(0), &none));
  const rheos_output inputs[] = {record, rheos_constant(inside, none, NULL)};
  rheos_tensor_unref(none);
  const rheos_string key = {"x", 1};
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_shape shape = RHEOS_SHAPE(2);
  const rheos_attr attrs[] = {
      {"num_sparse", {.kind = RHEOS_ATTR_INT, .i = 0}},
      {"sparse_keys", {.kind = RHEOS_ATTR_LIST_STRING}},
      {"sparse_types", {.kind = RHEOS_ATTR_LIST_TYPE}},
      {"dense_keys", {.kind = RHEOS_ATTR_LIST_STRING, .count = 1, .strings = &key}},
      {"Tdense", {.kind = RHEOS_ATTR_LIST_TYPE, .count = 1, .types = &dtype}},
      {"dense_shapes", {.kind = RHEOS_ATTR_LIST_SHAPE, .count = 1, .shapes = &shape}}};
  const rheos_operation parse = rheos_op(inside, &(rheos_op_args){.type = "ParseSingleExample",
                                                                  .inputs = inputs,
                                                                  .num_inputs = 2,
                                                                  .attrs = attrs,
                                                                  .num_attrs = 6});
  rheos_function_result(f, NULL, rheos_operation_output(parse, 0));
  check(rheos_scope_finish(inside));
  rheos_function_finish(f, scope);
  return f;
}

static void measure_records(bool parses) {
  char path[] = "/tmp/bench_datasets_XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) exit(1);
  close(file);
  write_records(path);
  pipeline p = new_pipeline();
  const char *const paths[] = {path};
  rheos_output d =
      rheos_dataset_repeat(p.scope, rheos_dataset_records(p.scope, paths, 1, NULL), -1);
  if (parses) {
    rheos_function *f = parsing(p.scope);
    d = rheos_dataset_map(p.scope, d, f, 1);
    rheos_function_free(f);
  }
  measure(
      parses ? "TFRecords, parse_single_example, batch: a record" : "TFRecords, batch: a record",
      parses ? 1.2 : 0, &p, rheos_dataset_batch(p.scope, d, BATCH, false), BATCH, 50);
  unlink(path);
}

int main(void) {
  measure_range();
  measure_map("range, map: an element", 2, 1, 1, 0);
  measure_map("range, map, batch of 1000: an element", 0.4, 1, BATCH, 0);
  measure_map("range, parallel map, batch of 1000: an element", 0.4, RHEOS_DATASET_AUTOTUNE, BATCH,
              0);
  measure_map("range, map, shuffle(10000), batch of 1000: an element", 0.5, 1, BATCH, 10000);
  measure_cache();
  measure_records(false);
  measure_records(true);
  return 0;
}
