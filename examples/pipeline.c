// Trains a network on records from files that a pipeline reads, parses, shuffles and batches while
// the model learns:
//
//   pipeline [FILE.tfrecord ...]
//
// A record is an Example with two floats "point" and an integer "class". Without files it writes
// some first: points that are of class 1 inside of a ring. A function of this program parses the
// records, on threads; another one is the source of the points on which the network is tried in the
// end.
#define _XOPEN_SOURCE 700  // mkdtemp()
#include <math.h>
#include <rheos/rheos.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 4, RECORDS = 5000, BATCH = 64, EPOCHS = 3, HIDDEN = 32, TRIED = 2000 };

static void check(rheos_status *status) {
  if (status == NULL) return;
  fprintf(stderr, "pipeline: %s\n", rheos_status_message(status));
  rheos_status_free(status);
  exit(1);
}

// ---- Points

// Of a number, the same each time, uniform in [0, 1).
static float random_of(uint64_t number) {
  number = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
  number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (float)((number ^ (number >> 31)) >> 40) / (float)(1 << 24);
}

static int64_t point_of(uint64_t number, float point[2]) {
  point[0] = 2 * random_of(2 * number) - 1;
  point[1] = 2 * random_of(2 * number + 1) - 1;
  const float radius = hypotf(point[0], point[1]);
  return radius > 0.3F && radius < 0.8F;
}

static void write_file(const char *path, uint64_t first) {
  rheos_record_writer *writer;
  rheos_example_builder *builder = rheos_example_builder_new();
  if (builder == NULL) exit(1);
  check(rheos_record_writer_open(path, RHEOS_NO_COMPRESSION, -1, &writer));
  for (uint64_t i = 0; i < RECORDS; i++) {
    float point[2];
    const int64_t label = point_of(first + i, point);
    const void *record;
    size_t size_bytes;
    rheos_example_builder_clear(builder);
    rheos_example_builder_add_floats(builder, "point", point, 2);
    rheos_example_builder_add_ints(builder, "class", &label, 1);
    check(rheos_example_builder_example(builder, &record, &size_bytes));
    check(rheos_record_writer_write(writer, record, size_bytes));
  }
  check(rheos_record_writer_close(writer));
  rheos_example_builder_free(builder);
}

// ---- What the pipelines call, from several threads at once

static rheos_status *new_element(rheos_tensor **outputs) {
  rheos_status *status = rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(2), &outputs[0]);
  return status != NULL ? status : rheos_tensor_new(RHEOS_INT64, RHEOS_SCALAR, &outputs[1]);
}

static rheos_status *read_feature(const rheos_example *example, const char *key, rheos_dtype dtype,
                                  rheos_tensor *output) {
  const int64_t count = rheos_tensor_num_elements(output);
  rheos_feature feature;
  if (!rheos_example_find(example, key, &feature) || feature.dtype != dtype ||
      feature.count != count) {
    return rheos_status_new(RHEOS_INVALID_ARGUMENT, "a record has no \"%s\" of %d %s", key,
                            (int)count, rheos_dtype_name(dtype));
  }
  if (dtype == RHEOS_FLOAT) {
    rheos_feature_floats(&feature, (float *)rheos_tensor_data(output));
  } else {
    rheos_feature_ints(&feature, (int64_t *)rheos_tensor_data(output));
  }
  return NULL;
}

// "parse": a record's point and class.
static rheos_status *parse(const rheos_tensor *record, rheos_tensor **outputs) {
  const rheos_string *bytes = (const rheos_string *)rheos_tensor_data(record);
  rheos_example *example;
  rheos_status *status = rheos_example_read(bytes->data, bytes->size_bytes, &example);
  if (status != NULL) return status;
  status = new_element(outputs);
  if (status == NULL) status = read_feature(example, "point", RHEOS_FLOAT, outputs[0]);
  if (status == NULL) status = read_feature(example, "class", RHEOS_INT64, outputs[1]);
  rheos_example_free(example);
  return status;
}

// "make": a point of a number that is in no file, until there are enough.
static rheos_status *make(const rheos_tensor *number, rheos_tensor **outputs) {
  const int64_t at = *(const int64_t *)rheos_tensor_data(number);
  if (at >= TRIED) return rheos_status_new(RHEOS_OUT_OF_RANGE, "there are %d", TRIED);
  rheos_status *status = new_element(outputs);
  if (status != NULL) return status;
  *(int64_t *)rheos_tensor_data(outputs[1]) =
      point_of(UINT64_C(1) << 40 | (uint64_t)at, (float *)rheos_tensor_data(outputs[0]));
  return NULL;
}

static rheos_status *call_program(void *argument, const char *token, rheos_tensor *const *inputs,
                                  size_t num_inputs, rheos_tensor **outputs, size_t num_outputs) {
  (void)argument, (void)num_inputs, (void)num_outputs;
  return strcmp(token, "parse") == 0 ? parse(inputs[0], outputs) : make(inputs[0], outputs);
}

static const rheos_dtype DTYPES[] = {RHEOS_FLOAT, RHEOS_INT64};
static const rheos_shape SHAPES[] = {{.rank = 1, .dims = {2}}, {.rank = 0, .dims = {0}}};

static rheos_output records_of(rheos_scope *s, const char *const *paths, size_t num_paths) {
  rheos_output d = rheos_dataset_records(s, paths, num_paths, NULL);
  d = rheos_dataset_map_program(s, d, "parse", DTYPES, SHAPES, 2, RHEOS_DATASET_AUTOTUNE);
  d = rheos_dataset_repeat(s, rheos_dataset_shuffle(s, d, 2 * RECORDS, 1), EPOCHS);
  return rheos_dataset_prefetch(s, rheos_dataset_batch(s, d, BATCH, false), RHEOS_DATASET_AUTOTUNE);
}

static rheos_output points_to_try(rheos_scope *s) {
  rheos_output d = rheos_dataset_program(s, "make", DTYPES, SHAPES, 2);
  return rheos_dataset_batch(s, d, 500, false);
}

// ---- The network

typedef struct network {
  rheos_output points, classes;  // (batch, 2), (batch)
  rheos_output scores, loss;     // (batch, 2), a scalar
} network;

static rheos_output dense(rheos_scope *s, const char *name, rheos_output x, int from, int to) {
  rheos_push_variable_scope(s, name, RHEOS_REUSE_INHERIT);
  rheos_output weights = rheos_get_variable(s, "weights", RHEOS_FLOAT, RHEOS_SHAPE(from, to),
                                            rheos_glorot_uniform_initializer());
  rheos_output offsets =
      rheos_get_variable(s, "offsets", RHEOS_FLOAT, RHEOS_SHAPE(to), rheos_zeros());
  rheos_output y = rheos_bias_add(s, rheos_matmul(s, x, weights), offsets);
  rheos_scope_pop(s);
  return y;
}

static network build(rheos_scope *s) {
  const rheos_shape points = RHEOS_SHAPE(-1, 2), classes = RHEOS_SHAPE(-1);
  rheos_tensor *axis;
  network n;
  n.points = rheos_placeholder(s, RHEOS_FLOAT, .shape = &points, .name = "points");
  n.classes = rheos_placeholder(s, RHEOS_INT64, .shape = &classes, .name = "classes");
  rheos_output first = rheos_relu(s, dense(s, "first", n.points, 2, HIDDEN));
  rheos_output second = rheos_relu(s, dense(s, "second", first, HIDDEN, HIDDEN));
  n.scores = dense(s, "scores", second, HIDDEN, 2);
  rheos_output each = rheos_sparse_softmax_cross_entropy_with_logits(s, n.scores, n.classes).loss;
  check(rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(1), &axis));
  *(int32_t *)rheos_tensor_data(axis) = 0;
  n.loss = rheos_mean(s, each, rheos_constant(s, axis, NULL), .name = "loss");
  rheos_tensor_unref(axis);
  return n;
}

// ---- Training and trying

static int train(rheos_callable *step, rheos_dataset_iterator *batches) {
  double average = 0;
  int steps = 0;
  for (;;) {
    rheos_tensor *batch[2], *loss;
    bool end;
    check(rheos_dataset_iterator_next(batches, batch, &end, NULL));
    if (end) return steps;
    check(rheos_callable_run(step, batch, &loss, NULL));
    const double value = (double)*(const float *)rheos_tensor_data(loss);
    average = steps++ == 0 ? value : average + 0.02 * (value - average);
    if (steps % 200 == 0) printf("step %4d   loss %.3f\n", steps, average);
    rheos_tensor_unref(batch[0]);
    rheos_tensor_unref(batch[1]);
    rheos_tensor_unref(loss);
  }
}

static double share_of_right(rheos_callable *guess, rheos_dataset_iterator *batches) {
  int64_t right = 0, count = 0;
  for (;;) {
    rheos_tensor *batch[2], *scores;
    bool end;
    check(rheos_dataset_iterator_next(batches, batch, &end, NULL));
    if (end) return count > 0 ? (double)right / (double)count : 0;
    check(rheos_callable_run(guess, batch, &scores, NULL));
    const float *score = (const float *)rheos_tensor_data(scores);
    const int64_t *label = (const int64_t *)rheos_tensor_data(batch[1]);
    for (int64_t i = 0; i < rheos_tensor_num_elements(batch[1]); i++, count++) {
      right += (score[2 * i + 1] > score[2 * i]) == (label[i] == 1);
    }
    rheos_tensor_unref(batch[0]);
    rheos_tensor_unref(batch[1]);
    rheos_tensor_unref(scores);
  }
}

static void learn(const char *const *paths, size_t num_paths) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  if (s == NULL) exit(1);
  rheos_graph_set_seed(graph, true, 1);
  const network n = build(s);
  const rheos_operation step_op = rheos_minimize(s, rheos_adam(5e-3), n.loss);
  const rheos_operation init = rheos_global_variables_initializer(s);
  const rheos_output records = records_of(s, paths, num_paths), to_try = points_to_try(s);
  check(rheos_scope_finish(s));

  rheos_session *session;
  const rheos_session_options options = {.program_function = call_program};
  check(rheos_session_new(graph, &options, &session));
  check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  rheos_callable *step, *guess;
  const rheos_output feeds[] = {n.points, n.classes};
  check(rheos_callable_new(session, feeds, 2, &n.loss, 1, &step_op, 1, &step));
  check(rheos_callable_new(session, feeds, 1, &n.scores, 1, NULL, 0, &guess));

  rheos_dataset_iterator *batches, *tries;
  char *explanation;
  check(rheos_dataset_iterator_new(session, records, &batches));
  const int steps = train(step, batches);
  check(rheos_dataset_explain(batches, &explanation));
  printf("\n%s\n\n", explanation);
  rheos_free(explanation);
  check(rheos_dataset_iterator_new(session, to_try, &tries));
  printf("%d steps; %.1f %% of %d other points are right\n", steps,
         100 * share_of_right(guess, tries), TRIED);

  rheos_dataset_iterator_free(tries);
  rheos_dataset_iterator_free(batches);
  rheos_callable_free(guess);
  rheos_callable_free(step);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    learn((const char *const *)argv + 1, (size_t)argc - 1);
    return 0;
  }
  char folder[] = "/tmp/pipeline-XXXXXX", paths[FILES][64];
  const char *names[FILES];
  if (mkdtemp(folder) == NULL) {
    perror("pipeline: /tmp");
    return 1;
  }
  for (int i = 0; i < FILES; i++) {
    names[i] = paths[i];
    snprintf(paths[i], sizeof paths[i], "%s/%d.tfrecord", folder, i);
    write_file(paths[i], (uint64_t)i * RECORDS);
  }
  learn(names, FILES);
  for (int i = 0; i < FILES; i++) remove(paths[i]);
  rmdir(folder);
  return 0;
}
