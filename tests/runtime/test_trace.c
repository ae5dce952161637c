// Traces: what runs leave behind, in Chrome's format and as a RunMetadata, and that a trace neither
// changes a run nor allocates once it has room.
#include <rheos/ops.h>
#include <rheos/rheos.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "graph/counting_allocator.h"

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_session *session;
  rheos_output x, y, unique;
  rheos_callable *callable;
} fixture;

static rheos_output op_of(rheos_scope *s, const char *type, const char *name,
                          const rheos_output *inputs, size_t num_inputs) {
  rheos_op_args args = {.type = type, .name = name, .inputs = inputs, .num_inputs = num_inputs};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

// y = tanh(x) + 1, unique = unique(x)
static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->graph = rheos_graph_new();
  f->scope = rheos_scope_new(f->graph);
  const rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  rheos_op_args args = {.type = "Placeholder", .name = "x", .attrs = &dtype, .num_attrs = 1};
  f->x = rheos_operation_output(rheos_op(f->scope, &args), 0);
  const rheos_output sum[] = {op_of(f->scope, "Tanh", "tanh", &f->x, 1),
                              rheos_constant_float(f->scope, 1, "one")};
  f->y = op_of(f->scope, "AddV2", "scope/y", sum, 2);
  f->unique = op_of(f->scope, "Unique", "unique", &f->x, 1);
  check(rheos_scope_finish(f->scope));
  // Each op an event of its own.
  const rheos_session_options options = {.rewrites.elementwise_fusion = RHEOS_TOGGLE_OFF};
  check(rheos_session_new(f->graph, &options, &f->session));
  check(rheos_callable_new(f->session, &f->x, 1, &f->y, 1, NULL, 0, &f->callable));
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  rheos_callable_free(f->callable);
  rheos_session_free(f->session);
  rheos_scope_free(f->scope);
  rheos_graph_unref(f->graph);
  free(f);
  return 0;
}

static rheos_tensor *vector(int64_t count) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(count), &tensor));
  for (int64_t i = 0; i < count; i++) ((float *)rheos_tensor_data(tensor))[i] = (float)(i % 3);
  return tensor;
}

static void run(const fixture *f, int64_t count, rheos_trace *trace) {
  rheos_tensor *x = vector(count), *y = NULL;
  const rheos_run_options options = {.trace = trace};
  check(rheos_callable_run(f->callable, &x, &y, &options));
  assert_int_equal(rheos_tensor_shape(y)->dims[0], count);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
}

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
  return count;
}

static char *chrome_of(const rheos_trace *trace) {
  char *text = NULL;
  size_t size_bytes;
  check(rheos_trace_to_chrome(trace, &text, &size_bytes));
  assert_int_equal(strlen(text), size_bytes);
  return text;
}

static void test_trace__has_every_run(void **state) {
  fixture *f = *state;
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  for (int i = 0; i < 3; i++) run(f, 4, trace);
  run(f, 5, trace);  // another segment
  char *text = chrome_of(trace);
  assert_int_equal(count_of(text, "\"cat\": \"Step\""), 4);
  assert_int_equal(count_of(text, "\"name\": \"tanh\""), 4);
  assert_int_equal(count_of(text,
                            "\"name\": \"scope/y\", \"inputs\": \"tanh, one\", "
                            "\"outputs\": \"float[4]\""),
                   3);
  assert_int_equal(count_of(text, "\"outputs\": \"float[5]\""), 2);
  assert_int_equal(count_of(text, "device:CPU:0"), 1);
  rheos_free(text);
  rheos_trace_clear(trace);
  text = chrome_of(trace);
  assert_int_equal(count_of(text, "\"ph\": \"X\""), 0);
  rheos_free(text);
  run(f, 4, trace);
  text = chrome_of(trace);
  assert_int_equal(count_of(text, "\"cat\": \"Op\""), 2);
  rheos_free(text);
  rheos_trace_free(trace);
}

static void test_trace__outlives_its_session(void **state) {
  fixture *f = *state;
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS | RHEOS_TRACE_PARTITION_GRAPHS);
  run(f, 4, trace);
  rheos_callable_free(f->callable);
  f->callable = NULL;
  rheos_session_free(f->session);
  f->session = NULL;
  void *bytes;
  size_t size_bytes;
  check(rheos_trace_to_run_metadata(trace, &bytes, &size_bytes));
  assert_true(size_bytes > 500);
  rheos_free(bytes);
  rheos_free(chrome_of(trace));
  rheos_trace_free(trace);
}

static void test_trace__tells_shapes_that_come_late(void **state) {
  fixture *f = *state;
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  const rheos_run_options options = {.trace = trace};
  rheos_feed feed = {f->x, vector(7)};
  rheos_fetch fetch = {f->unique, NULL};
  check(rheos_session_run(f->session, &feed, 1, &fetch, 1, NULL, 0, &options));
  char *text = chrome_of(trace);
  assert_int_equal(count_of(text, "\"outputs\": \"float[3], int32[7]\""), 1);
  rheos_free(text);
  rheos_tensor_unref(feed.value);
  rheos_tensor_unref(fetch.value);
  rheos_trace_free(trace);
}

static void test_trace__of_nothing_is_empty(void **state) {
  (void)state;
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS | RHEOS_TRACE_PARTITION_GRAPHS);
  void *bytes;
  size_t size_bytes;
  check(rheos_trace_to_run_metadata(trace, &bytes, &size_bytes));
  assert_int_equal(size_bytes, 0);
  rheos_free(bytes);
  char *text = chrome_of(trace);
  assert_int_equal(count_of(text, "\"ph\""), 0);
  rheos_free(text);
  rheos_trace_free(trace);
  rheos_trace_free(NULL);
}

// Runs `y` of `x` on three threads until another thread than the caller's had a share in it, which
// may come too late, then gives the trace for Chrome.
static char *chrome_with_threads(fixture *f, rheos_output y, rheos_tensor *x, const char *share) {
  rheos_session *session;
  const rheos_session_options options = {.num_threads = 3};
  check(rheos_session_new(f->graph, &options, &session));
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  const rheos_run_options traced = {.trace = trace};
  char *text = NULL;
  for (int i = 0; i < 1000 && (text == NULL || strstr(text, share) == NULL); i++) {
    rheos_trace_clear(trace);
    rheos_free(text);
    const rheos_feed feed = {f->x, x};
    rheos_fetch plain = {y, NULL}, fetch = {y, NULL};
    check(rheos_session_run(session, &feed, 1, &plain, 1, NULL, 0, NULL));
    check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, &traced));
    assert_memory_equal(rheos_tensor_data(plain.value), rheos_tensor_data(fetch.value),
                        rheos_tensor_size_bytes(fetch.value));
    rheos_tensor_unref(plain.value);
    rheos_tensor_unref(fetch.value);
    text = chrome_of(trace);
  }
  if (strstr(text, share) == NULL) fail_msg("no %s in %s", share, text);
  rheos_trace_free(trace);
  rheos_session_free(session);
  return text;
}

static void test_trace__has_work_on_its_threads(void **state) {
  fixture *f = *state;
  rheos_tensor *x = vector(1 << 20);
  char *text = chrome_with_threads(f, f->y, x, "\"cat\": \"Part\"");
  assert_true(strstr(text, "\"args\": {\"name\": \"worker 1\"}") != NULL ||
              strstr(text, "\"args\": {\"name\": \"worker 2\"}") != NULL);
  assert_int_equal(count_of(text, "\"cat\": \"Op\""), 1);
  rheos_free(text);
  rheos_tensor_unref(x);
}

static rheos_output weights(rheos_scope *s, int64_t rows, int64_t columns, int seed) {
  rheos_tensor *t = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(rows, columns), &t));
  float *data = rheos_tensor_data(t);
  for (int64_t i = 0; i < rows * columns; i++) {
    data[i] = 0.01f * (float)((i * 7 + seed) % 13) - 0.05f;
  }
  const rheos_output output = rheos_constant(s, t, NULL);
  rheos_tensor_unref(t);
  return output;
}

static rheos_tensor *rows_of(int64_t rows, int64_t columns) {
  rheos_tensor *x = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(rows, columns), &x));
  for (int64_t i = 0; i < rows * columns; i++) {
    ((float *)rheos_tensor_data(x))[i] = 0.1f * (float)(i % 5);
  }
  return x;
}

// Branches side by side: each op is one event, on the thread that ran it.
static void test_trace__has_branches_on_their_threads(void **state) {
  fixture *f = *state;
  enum { TOWERS = 8, LAYERS = 6, SIDE = 64 };
  rheos_output ends[TOWERS];
  for (int t = 0; t < TOWERS; t++) {
    ends[t] = f->x;
    for (int i = 0; i < LAYERS; i++) {
      ends[t] = rheos_matmul(f->scope, ends[t], weights(f->scope, SIDE, SIDE, t * LAYERS + i));
    }
  }
  const rheos_output y = rheos_add_n(f->scope, ends, TOWERS);
  check(rheos_scope_finish(f->scope));
  rheos_tensor *x = rows_of(SIDE, SIDE);
  char *text = chrome_with_threads(f, y, x, "{\"ph\": \"X\", \"pid\": 1, \"tid\": 1");
  assert_int_equal(count_of(text, "\"cat\": \"Op\""), TOWERS * LAYERS + 1);
  assert_int_equal(count_of(text, "\"cat\": \"Part\""), 0);
  rheos_free(text);
  rheos_tensor_unref(x);
}

// A chain of layers by rows: each op is one event, with a part for each other thread's rows.
static void test_trace__has_rows_on_their_threads(void **state) {
  fixture *f = *state;
  enum { LAYERS = 40, ROWS = 20, WIDTH = 64 };
  rheos_output y = f->x;
  for (int i = 0; i < LAYERS; i++) {
    y = rheos_relu(f->scope, rheos_matmul(f->scope, y, weights(f->scope, WIDTH, WIDTH, i)));
  }
  check(rheos_scope_finish(f->scope));
  rheos_tensor *x = rows_of(ROWS, WIDTH);
  char *text = chrome_with_threads(f, y, x, "{\"ph\": \"X\", \"pid\": 1, \"tid\": 1");
  assert_int_equal(count_of(text, "\"cat\": \"Op\""), LAYERS);
  assert_int_equal(count_of(text, "\"cat\": \"Part\""), 2 * LAYERS);
  rheos_free(text);
  rheos_tensor_unref(x);
}

// Traces a run and writes it; true if memory was enough.
static rheos_output is_below_three(rheos_scope *s, void *argument, const rheos_output *variables,
                                   size_t num_variables) {
  (void)argument;
  (void)num_variables;
  const rheos_output three = rheos_constant_int(s, 3, "three");
  return rheos_less(s, variables[0], three);
}

static void add_one(rheos_scope *s, void *argument, const rheos_output *variables,
                    rheos_output *next, size_t num_variables) {
  (void)argument;
  (void)num_variables;
  const rheos_output one = rheos_constant_int(s, 1, "one");
  next[0] = rheos_add(s, variables[0], one, .name = "sum");
}

// Each trip is a body, inside of the loop's operation.
static void test_trace__has_every_trip(void **state) {
  fixture *f = *state;
  const rheos_output start = rheos_constant_int(f->scope, 0, "start");
  rheos_output end;
  rheos_while_loop(f->scope, is_below_three, add_one, NULL, &start, 1, NULL, &end);
  check(rheos_scope_finish(f->scope));
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  const rheos_run_options options = {.trace = trace};
  rheos_fetch fetch = {end, NULL};
  check(rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, &options));
  rheos_tensor_unref(fetch.value);
  char *text = chrome_of(trace);
  assert_int_equal(count_of(text, "\"cat\": \"Body\""), 7);
  assert_int_equal(count_of(text, "\"name\": \"body\", \"args\": {\"called by\": \"while/"), 3);
  assert_int_equal(count_of(text, "\"name\": \"cond\", \"args\": {\"called by\": \"while/"), 4);
  assert_int_equal(count_of(text, "\"name\": \"while/sum\""), 3);
  rheos_free(text);
  rheos_trace_free(trace);
}

static bool trace_and_write(const fixture *f, const rheos_tensor *x) {
  rheos_trace *trace =
      rheos_trace_new(RHEOS_TRACE_STEPS | RHEOS_TRACE_PARTITION_GRAPHS | RHEOS_TRACE_COST_GRAPH);
  if (trace == NULL) return false;
  const rheos_run_options options = {.trace = trace};
  rheos_tensor *value = (rheos_tensor *)(uintptr_t)x, *y = NULL;
  void *bytes = NULL;
  char *text = NULL;
  size_t size_bytes;
  rheos_status *status = rheos_callable_run(f->callable, &value, &y, &options);
  if (status == NULL) status = rheos_trace_to_run_metadata(trace, &bytes, &size_bytes);
  if (status == NULL) status = rheos_trace_to_chrome(trace, &text, &size_bytes);
  const bool enough = status == NULL;
  if (!enough) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
  rheos_status_free(status);
  rheos_tensor_unref(y);
  rheos_free(bytes);
  rheos_free(text);
  rheos_trace_free(trace);
  return enough;
}

static void test_trace__reports_short_memory(void **state) {
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  fixture *f;
  set_up((void **)&f);
  rheos_tensor *x = vector(4);
  assert_true(trace_and_write(f, x));
  const int64_t alive = counter.alive;
  bool enough = false;
  for (int64_t n = 1; !enough; n++) {
    counter.requests = 0;
    counter.fail_at = n;
    enough = trace_and_write(f, x);
    assert_true(n > 1 || !enough);
    assert_int_equal(counter.alive, alive);
  }
  counter.fail_at = 0;
  rheos_tensor_unref(x);
  void *last = f;
  tear_down(&last);
  assert_int_equal(counter.alive, 0);
  rheos_set_allocator(NULL);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_trace__has_every_run, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_trace__outlives_its_session, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_trace__tells_shapes_that_come_late, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_trace__has_work_on_its_threads, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_trace__has_branches_on_their_threads, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_trace__has_rows_on_their_threads, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_trace__has_every_trip, set_up, tear_down),
      cmocka_unit_test(test_trace__of_nothing_is_empty),
      cmocka_unit_test(test_trace__reports_short_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
