// Kernels of graphics cards that go over many rows, or along them, in more than one group, on what
// PoCL makes of a processor. Rows that go to one place are joined in their order, so the bits are
// the CPU's. Skipped where there is no device.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/opencl/opencl.h"

enum { WIDTH = 3 };

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

typedef struct program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output tensor, indices, updates, results[2];
} program;

static void build(program *p, const char *device) {
  const rheos_shape rows = RHEOS_SHAPE(-1, WIDTH), places = RHEOS_SHAPE(-1, 1);
  p->graph = rheos_graph_new();
  p->s = rheos_scope_new(p->graph);
  rheos_push_device(p->s, device);
  p->tensor = rheos_placeholder(p->s, RHEOS_FLOAT, .shape = &rows, .name = "tensor");
  p->indices = rheos_placeholder(p->s, RHEOS_INT32, .shape = &places, .name = "indices");
  p->updates = rheos_placeholder(p->s, RHEOS_FLOAT, .shape = &rows, .name = "updates");
  p->results[0] = rheos_tensor_scatter_update(p->s, p->tensor, p->indices, p->updates);
  p->results[1] = rheos_tensor_scatter_add(p->s, p->tensor, p->indices, p->updates);
  check(rheos_scope_finish(p->s));
}

static void program_free(program *p) {
  rheos_scope_free(p->s);
  rheos_graph_unref(p->graph);
}

static uint32_t next_random(uint32_t *state) {
  return (*state = *state * 1664525u + 1013904223u) >> 8;
}

static rheos_tensor *floats(int64_t rows, uint32_t *state) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(rows, WIDTH), &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < WIDTH * rows; i++) {
    values[i] = (float)next_random(state) * 1e-6f - (float)(i % 11);
  }
  return tensor;
}

static rheos_tensor *places(int64_t rows, int64_t limit, uint32_t *state) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(rows, 1), &tensor));
  int32_t *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rows; i++) values[i] = (int32_t)(next_random(state) % (uint64_t)limit);
  return tensor;
}

static void run(const program *p, rheos_session *session, const rheos_feed *given,
                rheos_fetch *fetches) {
  const rheos_feed feeds[] = {
      {p->tensor, given[0].value}, {p->indices, given[1].value}, {p->updates, given[2].value}};
  for (int i = 0; i < 2; i++) fetches[i] = (rheos_fetch){p->results[i], NULL};
  check(rheos_session_run(session, feeds, 3, fetches, 2, NULL, 0, NULL));
}

static void test_rows_in_their_order(void **unused) {
  (void)unused;
  static const int64_t rows[] = {0, 1, 255, 256, 257, 1000, 5000}, limits[] = {1, 7, 3000};
  program cpu, card;
  rheos_session *on_cpu = NULL, *on_card = NULL;
  uint32_t state = 3;
  build(&cpu, "/device:CPU:0");
  build(&card, "/device:GPU:0");
  check(rheos_session_new(cpu.graph, NULL, &on_cpu));
  check(rheos_session_new(card.graph, NULL, &on_card));
  for (size_t i = 0; i < 21; i++) {
    const int64_t count = rows[i / 3], limit = limits[i % 3];
    rheos_feed given[3] = {{.value = floats(limit, &state)},
                           {.value = places(count, limit, &state)},
                           {.value = floats(count, &state)}};
    rheos_fetch expected[2], actual[2];
    run(&cpu, on_cpu, given, expected);
    run(&card, on_card, given, actual);
    for (int k = 0; k < 2; k++) {
      assert_memory_equal(rheos_tensor_data(actual[k].value), rheos_tensor_data(expected[k].value),
                          rheos_tensor_size_bytes(expected[k].value));
      rheos_tensor_unref(expected[k].value);
      rheos_tensor_unref(actual[k].value);
    }
    for (int k = 0; k < 3; k++) rheos_tensor_unref(given[k].value);
  }
  rheos_session_free(on_cpu);
  rheos_session_free(on_card);
  program_free(&cpu);
  program_free(&card);
}

// ---- Segments of ascending ids

enum { SEGMENTS = 40 };

static void run_segments(const char *device, rheos_tensor *data, rheos_tensor *indices,
                         rheos_tensor *ids, rheos_fetch *fetches) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_push_device(s, device);
  const rheos_output x = rheos_placeholder(s, RHEOS_FLOAT);
  const rheos_output picked = rheos_placeholder(s, RHEOS_INT32);
  const rheos_output segment = rheos_placeholder(s, RHEOS_INT32);
  const rheos_output count = rheos_constant_int(s, SEGMENTS, NULL);
  fetches[0].output = rheos_sparse_segment_sum_with_num_segments(s, x, picked, segment, count);
  fetches[1].output = rheos_sparse_segment_mean_with_num_segments(s, x, picked, segment, count);
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  const rheos_feed feeds[] = {{x, data}, {picked, indices}, {segment, ids}};
  check(rheos_session_run(session, feeds, 3, fetches, 2, NULL, 0, NULL));
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static rheos_tensor *ascending(int64_t rows) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(rows), &tensor));
  int32_t *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rows; i++) values[i] = (int32_t)(i * i * (SEGMENTS - 5) / (rows * rows));
  return tensor;
}

static void test_segments_in_their_order(void **unused) {
  (void)unused;
  static const int64_t rows[] = {0, 1, 255, 5000};
  uint32_t state = 5;
  for (int i = 0; i < 4; i++) {
    rheos_tensor *data = floats(300, &state), *pairs = places(rows[i], 300, &state);
    rheos_tensor *indices = NULL, *ids = ascending(rows[i]);
    check(rheos_tensor_reshaped(pairs, RHEOS_SHAPE(rows[i]), &indices));
    rheos_fetch expected[2] = {{.value = NULL}}, actual[2] = {{.value = NULL}};
    run_segments("/device:CPU:0", data, indices, ids, expected);
    const int64_t before = rheos__opencl_num_kernels(0);
    run_segments("/device:GPU:0", data, indices, ids, actual);
    assert_int_equal(rheos__opencl_num_kernels(0), before + 2);
    for (int k = 0; k < 2; k++) {
      assert_memory_equal(rheos_tensor_data(actual[k].value), rheos_tensor_data(expected[k].value),
                          rheos_tensor_size_bytes(expected[k].value));
      rheos_tensor_unref(expected[k].value);
      rheos_tensor_unref(actual[k].value);
    }
    rheos_tensor *const all[] = {data, pairs, indices, ids};
    for (int k = 0; k < 4; k++) rheos_tensor_unref(all[k]);
  }
}

// ---- Along rows

typedef struct line_program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x, results[4];
} line_program;

static rheos_output number(rheos_scope *s, int32_t value) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static void build_lines(line_program *p, const char *device, int32_t k) {
  const rheos_shape shape = RHEOS_SHAPE(3, -1);
  p->graph = rheos_graph_new();
  p->s = rheos_scope_new(p->graph);
  rheos_push_device(p->s, device);
  p->x = rheos_placeholder(p->s, RHEOS_FLOAT, .shape = &shape, .name = "x");
  const rheos_output axis = number(p->s, 1);
  p->results[0] = rheos_cumsum(p->s, p->x, axis, .exclusive = true);
  p->results[1] = rheos_cumsum(p->s, p->x, axis, .reverse = true);
  const rheos_top_k_v2_outputs top = rheos_top_k_v2(p->s, p->x, number(p->s, k));
  p->results[2] = top.values;
  p->results[3] = top.indices;
  check(rheos_scope_finish(p->s));
}

// Numbers that repeat, some of them none.
static rheos_tensor *lines(int64_t count) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(3, count), &tensor));
  float *values = rheos_tensor_data(tensor);
  uint32_t state = 11;
  for (int64_t i = 0; i < 3 * count; i++) values[i] = (float)(next_random(&state) % 900) - 450;
  if (count > 2) values[2 * count + 1] = NAN;
  return tensor;
}

static void run_lines(const char *device, int64_t count, int32_t k, rheos_fetch *fetches) {
  line_program p;
  rheos_session *session = NULL;
  build_lines(&p, device, k);
  check(rheos_session_new(p.graph, NULL, &session));
  const rheos_feed feed = {p.x, lines(count)};
  for (int i = 0; i < 4; i++) fetches[i] = (rheos_fetch){p.results[i], NULL};
  check(rheos_session_run(session, &feed, 1, fetches, 4, NULL, 0, NULL));
  rheos_tensor_unref(feed.value);
  rheos_session_free(session);
  rheos_scope_free(p.s);
  rheos_graph_unref(p.graph);
}

static void test_long_lines(void **unused) {
  (void)unused;
  static const int64_t counts[] = {1, 65, 129, 1000, 3001};
  static const int32_t ks[] = {1, 7, 60, 1000, 2000};
  for (int i = 0; i < 5; i++) {
    rheos_fetch expected[4], actual[4];
    run_lines("/device:CPU:0", counts[i], ks[i], expected);
    run_lines("/device:GPU:0", counts[i], ks[i], actual);
    // The sums are of whole numbers below 2^24: exact in any order.
    for (int k = 0; k < 4; k++) {
      const size_t size = rheos_tensor_size_bytes(expected[k].value);
      const float *x = rheos_tensor_data(expected[k].value);
      const float *y = rheos_tensor_data(actual[k].value);
      for (size_t at = 0; at < size / sizeof *x && k < 3; at++) {
        assert_true(x[at] == y[at] || (isnan(x[at]) && isnan(y[at])));
      }
      if (k == 3) assert_memory_equal(y, x, size);
      rheos_tensor_unref(expected[k].value);
      rheos_tensor_unref(actual[k].value);
    }
  }
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_in_their_order),
                                     cmocka_unit_test(test_segments_in_their_order),
                                     cmocka_unit_test(test_long_lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
