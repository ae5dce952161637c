// The memory plan: what is never alive together shares bytes, and sharing never changes a result.
#include <rheos/rheos.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "../graph/counting_allocator.h"
#include "plan/printed.h"

enum { WIDTH = 100000 };  // beside which what a loop needs for itself is little

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

// Runs `output` with x = 0, 1, 2, ... and gives its value and the bytes that the plan needs.
static rheos_tensor *run(rheos_graph *graph, rheos_output x, rheos_output output,
                         int64_t *out_arena_bytes) {
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  rheos_tensor *fed = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(WIDTH), &fed));
  for (int i = 0; i < WIDTH; ++i) ((float *)rheos_tensor_data(fed))[i] = (float)i;
  rheos_feed feed = {x, fed};
  rheos_fetch fetch = {output, NULL};
  check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  for (int i = 0; i < WIDTH; ++i) assert_float_equal(((float *)rheos_tensor_data(fed))[i], i, 0);
  rheos_session_stats stats;
  rheos_session_get_stats(session, &stats);
  *out_arena_bytes = stats.arena_bytes;
  rheos_tensor_unref(fed);
  rheos_session_free(session);
  return fetch.value;
}

static void test_memory__a_chain_runs_in_one_buffer(void **state) {
  (void)state;
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .name = "x");
  rheos_output one = rheos_constant_float(s, 1, NULL);
  rheos_output sum = x;
  for (int i = 0; i < 100; ++i) sum = rheos_add(s, sum, one);
  check(rheos_scope_finish(s));
  int64_t bytes;
  rheos_tensor *value = run(graph, x, sum, &bytes);
  for (int i = 0; i < WIDTH; ++i) {
    assert_float_equal(((float *)rheos_tensor_data(value))[i], i + 100, 0);
  }
  assert_in_range(bytes, WIDTH * sizeof(float), 2 * WIDTH * sizeof(float));
  rheos_tensor_unref(value);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static void test_memory__a_value_used_later_is_not_overwritten(void **state) {
  (void)state;
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .name = "x");
  rheos_output values[20];
  values[0] = rheos_neg(s, x);
  for (int i = 1; i < 20; ++i) values[i] = rheos_neg(s, values[i - 1]);
  // All of them are alive until the sums, through aliases too.
  rheos_output total = rheos_identity(s, values[0]);
  for (int i = 1; i < 20; ++i) total = rheos_add(s, total, rheos_identity(s, values[i]));
  rheos_output twice = rheos_add(s, total, total);
  rheos_output plus = rheos_add(s, twice, values[3]);
  check(rheos_scope_finish(s));
  int64_t bytes;
  rheos_tensor *value = run(graph, x, plus, &bytes);
  for (int i = 0; i < WIDTH; ++i) {
    assert_float_equal(((float *)rheos_tensor_data(value))[i], i, 0);  // the signs cancel
  }
  rheos_tensor_unref(value);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static void test_memory__an_operand_that_stands_twice_is_safe(void **state) {
  (void)state;
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .name = "x");
  rheos_output y = rheos_neg(s, x);
  for (int i = 0; i < 5; ++i) y = rheos_sub(s, rheos_mul(s, y, y), rheos_mul(s, y, y));
  check(rheos_scope_finish(s));
  int64_t bytes;
  rheos_tensor *value = run(graph, x, y, &bytes);
  for (int i = 0; i < WIDTH; ++i) assert_float_equal(((float *)rheos_tensor_data(value))[i], 0, 0);
  rheos_tensor_unref(value);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static rheos_output multiples(rheos_scope *s) {
  const int32_t ten = 10;
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(1), &ten, &tensor));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

// Runs a step that has no room for a tensor of WIDTH numbers: an error that tells all of `parts`.
static rheos_status *run_short_of_memory(counting_allocator *counter, rheos_session *session,
                                         rheos_feed feed, rheos_output output,
                                         const char *const *parts, size_t num_parts) {
  rheos_fetch fetch = {output, NULL};
  counter->limit_bytes = counter->alive_bytes + 10 * WIDTH;
  rheos_status *status = rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL);
  counter->limit_bytes = 0;
  assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
  const char *message = rheos_status_message(status);
  for (size_t i = 0; i < num_parts; i++) {
    if (strstr(message, parts[i]) == NULL) fail_msg("%s", message);
  }
  if (strstr(message, " 0 ") != NULL) fail_msg("%s", message);  // nothing needs 0 bytes
  return status;
}

static void test_memory__too_little_of_it_names_the_largest_tensors(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .name = "x");
  rheos_output tiled = rheos_tile(s, x, multiples(s)), large = rheos_neg(s, tiled);
  rheos_output y = rheos_sum(s, large, rheos_constant_int(s, 0, NULL));
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  rheos_tensor *fed = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(WIDTH), &fed));
  memset(rheos_tensor_data(fed), 0, rheos_tensor_size_bytes(fed));
  rheos_feed feed = {x, fed};
  rheos_fetch fetch = {y, NULL};
  static const char *const in_step[] = {"for intermediate values", "float[1000000] (4000000 bytes)",
                                        "test_memory.c:"};
  rheos_status_free(run_short_of_memory(&counter, session, feed, y, in_step, 3));
  check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));  // the session goes on
  rheos_tensor_unref(fetch.value);
  // What is fetched is asked for by itself, and named.
  static const char *const fetched[] = {
      "[1000000] and type float (4000000 bytes)", "4000000 bytes for what is fetched",
      "The largest: Tile:0 float[1000000] (4000000 bytes) at ", "test_memory.c:"};
  rheos_status *status = run_short_of_memory(&counter, session, feed, tiled, fetched, 4);
  assert_string_equal(rheos_status_node(status), "Tile");
  rheos_status_free(status);
  rheos_tensor_unref(fed);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  rheos_set_allocator(NULL);
}

// Sizes follow from values here.
static void test_memory__too_little_of_it_where_no_size_is_known(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  const rheos_output count = rheos_placeholder(s, RHEOS_INT32, .name = "count");
  const rheos_output y = rheos_fill(s, count, rheos_constant_float(s, 1, NULL));
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  const int32_t number = 10 * WIDTH;
  rheos_tensor *fed = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(1), &number, &fed));
  static const char *const parts[] = {"Fill"};
  rheos_status_free(run_short_of_memory(&counter, session, (rheos_feed){count, fed}, y, parts, 1));
  rheos_tensor_unref(fed);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  rheos_set_allocator(NULL);
}

// A variable takes its value over or copies it; the step's own block may be there already.
static void test_memory__too_little_of_it_for_a_variable_names_them_too(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  const rheos_shape shape = RHEOS_SHAPE(10 * WIDTH);
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape)};
  rheos_op_args args = {.type = "VariableV2", .name = "weights", .attrs = attrs, .num_attrs = 2};
  const rheos_output weights = rheos_operation_output(rheos_op(s, &args), 0);
  const rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .name = "x");
  const rheos_output tiled = rheos_tile(s, x, multiples(s));
  const rheos_output written[] = {weights, tiled};
  args = (rheos_op_args){.type = "Assign", .name = "start", .inputs = written, .num_inputs = 2};
  const rheos_operation start = rheos_op(s, &args);
  const rheos_output larger[] = {weights, rheos_neg(s, tiled)};
  args = (rheos_op_args){.type = "AssignAdd", .name = "grow", .inputs = larger, .num_inputs = 2};
  const rheos_output grown = rheos_operation_output(rheos_op(s, &args), 0);
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  rheos_tensor *fed = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(WIDTH), &fed));
  memset(rheos_tensor_data(fed), 0, rheos_tensor_size_bytes(fed));
  rheos_feed feed = {x, fed};
  check(rheos_session_run(session, &feed, 1, NULL, 0, &start, 1, NULL));
  rheos_fetch fetch = {grown, NULL}, held = {weights, NULL};
  check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  rheos_tensor_unref(fetch.value);
  check(rheos_session_run(session, NULL, 0, &held, 1, NULL, 0, NULL));
  // The caller holds the value, so the update needs another tensor; the step has its memory.
  static const char *const parts[] = {"The largest: ", "float[1000000] (4000000 bytes) at ",
                                      "test_memory.c:"};
  rheos_status_free(run_short_of_memory(&counter, session, feed, grown, parts, 3));
  rheos_tensor_unref(held.value);
  rheos_tensor_unref(fed);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  rheos_set_allocator(NULL);
}

// Each is read by the next alone, and cannot be written where its input is.
static void test_memory__two_places_are_enough_for_a_chain(void **state) {
  (void)state;
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  const rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .name = "x");
  rheos_output y = x;
  for (int i = 0; i < 5; ++i) y = rheos_roll(s, y, multiples(s), multiples(s));
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  expect_printed(session,
                 &(rheos__step_ends){.feeds = &x, .num_feeds = 1, .fetches = &y, .num_fetches = 1},
                 &RHEOS_SHAPE(64), "values",
                 "values\n"
                 "  v0 x float [64]: fed\n"
                 "  v1 Const int32 [1]: constant\n"
                 "  v2 Roll float [64]: block at 0\n"
                 "  v3 Roll_1 float [64]: block at 256\n"
                 "  v4 Roll_2 float [64]: block at 0\n"
                 "  v5 Roll_3 float [64]: block at 256\n"
                 "  v6 Roll_4 float [64]: result; fetched\n");
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory__a_chain_runs_in_one_buffer),
      cmocka_unit_test(test_memory__a_value_used_later_is_not_overwritten),
      cmocka_unit_test(test_memory__an_operand_that_stands_twice_is_safe),
      cmocka_unit_test(test_memory__too_little_of_it_names_the_largest_tensors),
      cmocka_unit_test(test_memory__too_little_of_it_where_no_size_is_known),
      cmocka_unit_test(test_memory__too_little_of_it_for_a_variable_names_them_too),
      cmocka_unit_test(test_memory__two_places_are_enough_for_a_chain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
