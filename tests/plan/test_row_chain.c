// Chains of dense layers: found where rows of the batch are all that a layer needs of the one
// before, the same bits with any number of threads, and none where threads would get in each
// other's way.
#include <math.h>

#include "ops/array_fixture.h"
#include "plan/segment/segment.h"
#include "plan/plan_text.h"
#include "plan/printed.h"

enum { BATCH = 20, MOST_LAYERS = 40 };

typedef struct model {
  rheos_output x, y;
  rheos_output weights[MOST_LAYERS];  // variables
} model;

static rheos_output variable(fixture *f, rheos_shape shape, float phase) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape)};
  const rheos_output v = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  rheos_tensor *value = wave(shape, phase);
  const rheos_output inputs[] = {v, rheos_constant(f->scope, value, NULL)};
  rheos_tensor_unref(value);
  check(run_target(f, add(f, "Assign", inputs, 2, NULL, 0)));
  return v;
}

static rheos_output dense(fixture *f, rheos_output x, rheos_output w, rheos_output b) {
  static const rheos_string ops[] = {{(char *)(uintptr_t)"BiasAdd", 7},
                                     {(char *)(uintptr_t)"Relu", 4}};
  const rheos_attr attr = {"fused_ops",
                           {.kind = RHEOS_ATTR_LIST_STRING, .count = 2, .strings = ops}};
  const rheos_output inputs[] = {x, w, b};
  return rheos_operation_output(rheos_op(f->scope, &(rheos_op_args){.type = "_FusedMatMul",
                                                                    .name = "dense",
                                                                    .inputs = inputs,
                                                                    .num_inputs = 3,
                                                                    .attrs = &attr,
                                                                    .num_attrs = 1}),
                                0);
}

// Layers of these widths, `widths[0]` that of the input.
static model build(fixture *f, const int64_t *widths, int layers) {
  model m = {.x = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "x")};
  const int32_t shape[] = {-1, (int32_t)widths[0]};
  rheos_output at = rheos_operation_output(
      add(f, "Reshape", (const rheos_output[]){m.x, ints(f, RHEOS_SHAPE(2), shape)}, 2, NULL, 0),
      0);
  for (int i = 0; i < layers; i++) {
    m.weights[i] = variable(f, RHEOS_SHAPE(widths[i], widths[i + 1]), (float)i);
    at = dense(f, at, m.weights[i], variable(f, RHEOS_SHAPE(widths[i + 1]), 0.1f * (float)i));
  }
  m.y = at;
  check(rheos_scope_finish(f->scope));
  return m;
}

// The chains in the plan of m.y for a batch; `out_longest` is how many instructions the longest
// has.
static int count_chains(fixture *f, const model *m, rheos_shape fed, int32_t *out_longest) {
  rheos__resources *resources = rheos__resources_new();
  assert_non_null(resources);
  rheos__plan_context context = {
      .resources = resources, .devices = plan_devices(), .num_devices = 1};
  const rheos__edge x = {m->x.id, m->x.index}, y = {m->y.id, m->y.index};
  rheos__plan *plan = NULL;
  check(rheos__plan_new(f->graph, &context, &x, 1, &y, 1, NULL, 0, &plan));
  rheos__segment *segment = NULL;
  check(rheos__segment_new(plan, NULL, &fed, 1, NULL, &segment));
  int count = 0;
  *out_longest = 0;
  for (int32_t i = 0; i < segment->num_sections; i++) {
    const rheos__section *section = &segment->sections[i];
    if (section->kind != RHEOS__SECTION_ROWS) continue;
    if (section->end - section->first > *out_longest) *out_longest = section->end - section->first;
    count++;
  }
  rheos__segments_free(segment);
  rheos__plan_free(plan);
  rheos__resources_free(resources);
  return count;
}

// Runs y in a session of so many threads that has its own copies of the variables' values.
static rheos_tensor *run(fixture *f, const model *m, rheos_tensor *x, int threads, int runs) {
  rheos_session *session = NULL;
  rheos_session_options options = {.num_threads = threads};
  check(rheos_session_new(f->graph, &options, &session));
  for (int32_t id = 0; id < rheos_graph_num_operations(f->graph); id++) {
    const rheos_operation op = {f->graph, id};
    if (strcmp(rheos_operation_type(op), "Assign") != 0) continue;
    check(rheos_session_run(session, NULL, 0, NULL, 0, &op, 1, NULL));
  }
  rheos_tensor *value = NULL;
  for (int i = 0; i < runs; i++) {
    rheos_feed feed = {m->x, x};
    rheos_fetch fetch = {m->y, NULL};
    check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
    rheos_tensor_unref(value);
    value = fetch.value;
  }
  rheos_session_free(session);
  return value;
}

static void check_bits(fixture *f, const int64_t *widths, int layers, int64_t batch) {
  const model m = build(f, widths, layers);
  rheos_tensor *x = wave(RHEOS_SHAPE(batch, widths[0]), 0.7f);
  rheos_tensor *one = run(f, &m, x, 1, 1);
  static const int threads[] = {2, 3, 8};
  for (int i = 0; i < 3; i++) {
    rheos_tensor *many = run(f, &m, x, threads[i], 5);
    assert_int_equal(rheos_tensor_size_bytes(one), rheos_tensor_size_bytes(many));
    assert_memory_equal(rheos_tensor_data(one), rheos_tensor_data(many),
                        rheos_tensor_size_bytes(one));
    rheos_tensor_unref(many);
  }
  rheos_tensor_unref(one);
  rheos_tensor_unref(x);
}

static void test_row_chain__layers_of_one_width_are_one(void **state) {
  fixture *f = *state;
  int64_t widths[21];
  for (int i = 0; i < 21; i++) widths[i] = 64;
  const model m = build(f, widths, 20);
  int32_t longest;
  assert_int_equal(count_chains(f, &m, RHEOS_SHAPE(BATCH, 64), &longest), 1);
  assert_true(longest >= 20);  // and the variables that they read
  assert_int_equal(count_chains(f, &m, RHEOS_SHAPE(4, 64), &longest), 0);  // one unit of rows
  assert_int_equal(count_chains(f, &m, RHEOS_SHAPE(0, 64), &longest), 0);
}

static void test_row_chain__a_few_small_layers_are_none(void **state) {
  fixture *f = *state;
  const model m = build(f, (const int64_t[]){8, 8, 8, 8}, 3);
  int32_t longest;
  assert_int_equal(count_chains(f, &m, RHEOS_SHAPE(BATCH, 8), &longest), 0);
}

static void test_row_chain__threads_do_not_change_the_bits(void **state) {
  fixture *f = *state;
  int64_t widths[MOST_LAYERS + 1];
  for (int i = 0; i <= MOST_LAYERS; i++) widths[i] = 64;
  check_bits(f, widths, MOST_LAYERS, BATCH);
  check_bits(f, widths, MOST_LAYERS, 7);
  check_bits(f, widths, MOST_LAYERS, 65);
  check_bits(f, widths, MOST_LAYERS, 1);
  check_bits(f, widths, MOST_LAYERS, 0);
}

// Intermediates of nearly one size share a block without having their rows at the same places.
static void test_row_chain__rows_of_other_lengths_do_not_meet(void **state) {
  fixture *f = *state;
  int64_t widths[MOST_LAYERS + 1];
  static const int64_t near[] = {64, 63, 61, 64, 62};
  for (int i = 0; i <= MOST_LAYERS; i++) widths[i] = near[i % 5];
  check_bits(f, widths, MOST_LAYERS, BATCH);
  static const int64_t far[] = {64, 17, 130, 3, 65, 1, 200};
  for (int i = 0; i <= MOST_LAYERS; i++) widths[i] = far[i % 7];
  check_bits(f, widths, MOST_LAYERS, BATCH);
  check_bits(f, widths, MOST_LAYERS, 33);
}

// A layer that looks at all rows stands between: the product of the transpose.
static void test_row_chain__ends_where_a_layer_needs_all_rows(void **state) {
  fixture *f = *state;
  int64_t widths[21];
  for (int i = 0; i < 21; i++) widths[i] = 64;
  model m = build(f, widths, 20);
  const rheos_attr attrs[] = {rheos_attr_bool("transpose_a", true)};
  const rheos_output gram =
      rheos_operation_output(add(f, "MatMul", (const rheos_output[]){m.y, m.y}, 2, attrs, 1), 0);
  rheos_output at =
      rheos_operation_output(add(f, "MatMul", (const rheos_output[]){m.y, gram}, 2, NULL, 0), 0);
  for (int i = 0; i < 20; i++) at = dense(f, at, m.weights[i], variable(f, RHEOS_SHAPE(64), 0.5f));
  m.y = at;
  check(rheos_scope_finish(f->scope));
  int32_t longest;
  assert_int_equal(count_chains(f, &m, RHEOS_SHAPE(BATCH, 64), &longest), 2);
  rheos_tensor *x = wave(RHEOS_SHAPE(BATCH, 64), 0.7f);
  rheos_tensor *one = run(f, &m, x, 1, 1), *many = run(f, &m, x, 3, 3);
  assert_memory_equal(rheos_tensor_data(one), rheos_tensor_data(many),
                      rheos_tensor_size_bytes(one));
  rheos_tensor_unref(one);
  rheos_tensor_unref(many);
  rheos_tensor_unref(x);
}

static void test_row_chain__reads_the_variables_of_the_step(void **state) {
  fixture *f = *state;
  int64_t widths[21];
  for (int i = 0; i < 21; i++) widths[i] = 64;
  const model m = build(f, widths, 20);
  rheos_session *session = NULL;
  rheos_session_options options = {.num_threads = 2};
  check(rheos_session_new(f->graph, &options, &session));
  rheos_tensor *x = wave(RHEOS_SHAPE(BATCH, 64), 0.7f);
  rheos_feed feed = {m.x, x};
  rheos_fetch fetch = {m.y, NULL};
  expect_error(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL),
               RHEOS_FAILED_PRECONDITION, "uninitialized");
  rheos_session_free(session);

  rheos_tensor *zeros = NULL, *zero = NULL;  // then a run sees what was assigned before it
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(64, 64), &zeros));
  memset(rheos_tensor_data(zeros), 0, rheos_tensor_size_bytes(zeros));
  const rheos_output inputs[] = {m.weights[7], rheos_constant(f->scope, zeros, NULL)};
  check(run_output(f, rheos_output_operation(m.y), 0, &(fed){.feeds = {feed}, .count = 1}, &zero));
  rheos_tensor_unref(zero);
  check(run_target(f, add(f, "Assign", inputs, 2, NULL, 0)));
  rheos_tensor *after = NULL, *other = NULL;
  check(run_output(f, rheos_output_operation(m.y), 0, &(fed){.feeds = {feed}, .count = 1}, &after));
  rheos_tensor *y = wave(RHEOS_SHAPE(BATCH, 64), 2.7f);  // the input no longer matters
  feed.value = y;
  check(run_output(f, rheos_output_operation(m.y), 0, &(fed){.feeds = {feed}, .count = 1}, &other));
  assert_memory_equal(rheos_tensor_data(after), rheos_tensor_data(other),
                      rheos_tensor_size_bytes(after));
  rheos_tensor_unref(after);
  rheos_tensor_unref(other);
  rheos_tensor_unref(zeros);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
}

static void test_row_chain__is_a_section(void **state) {
  fixture *f = *state;
  int64_t widths[21];
  for (int i = 0; i < 21; i++) widths[i] = 64;
  const model m = build(f, widths, 20);
  expect_printed(
      f->session,
      &(rheos__step_ends){.feeds = &m.x, .num_feeds = 1, .fetches = &m.y, .num_fetches = 1},
      &RHEOS_SHAPE(BATCH, 64), "sections",
      "sections\n"
      "  rows i2 to i59\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_row_chain__layers_of_one_width_are_one),
      TEST(test_row_chain__a_few_small_layers_are_none),
      TEST(test_row_chain__threads_do_not_change_the_bits),
      TEST(test_row_chain__rows_of_other_lengths_do_not_meet),
      TEST(test_row_chain__ends_where_a_layer_needs_all_rows),
      TEST(test_row_chain__reads_the_variables_of_the_step),
      TEST(test_row_chain__is_a_section),
  };
  return cmocka_run_group_tests_name("row_chain", tests, NULL, NULL);
}
