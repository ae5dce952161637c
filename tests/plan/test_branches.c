// Branches of wide graphs: found where threads gain by them, the same bits and the same errors with
// any number of threads, and reads of variables before what writes them.
#include <math.h>
#include <stdio.h>

#include "ops/array_fixture.h"
#include "plan/segment/segment.h"
#include "plan/plan_text.h"
#include "plan/printed.h"

enum { SIDE = 80, MOST_NODES = 80 };  // a product of 80 is worth a hand-over, and is not split

static rheos_output op_1(fixture *f, const char *type, rheos_output a) {
  return rheos_operation_output(add(f, type, &a, 1, NULL, 0), 0);
}

static rheos_output op_2(fixture *f, const char *type, rheos_output a, rheos_output b) {
  const rheos_output inputs[] = {a, b};
  return rheos_operation_output(add(f, type, inputs, 2, NULL, 0), 0);
}

static rheos_output square_input(fixture *f) {
  const rheos_shape shape = RHEOS_SHAPE(SIDE, SIDE);
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape)};
  return rheos_operation_output(add(f, "Placeholder", NULL, 0, attrs, 2), 0);
}

// Products one after the other; no two towers of different numbers have the same values.
static rheos_output tower(fixture *f, rheos_output x, int layers, float number) {
  rheos_tensor *w = wave(RHEOS_SHAPE(SIDE, SIDE), number);
  const rheos_output weights = rheos_constant(f->scope, w, NULL);
  rheos_tensor_unref(w);
  for (int i = 0; i < layers; i++) x = op_1(f, "Tanh", op_2(f, "MatMul", x, weights));
  return x;
}

// The groups in the plan of y for so many threads; `out_most` are the branches of the widest.
static int count_groups(fixture *f, rheos_output fed, rheos_output y, int threads, int *out_most) {
  rheos__resources *resources = rheos__resources_new();
  assert_non_null(resources);
  rheos__plan_context context = {
      .resources = resources, .devices = plan_devices(), .num_devices = 1, .num_threads = threads};
  const rheos__edge in = {fed.id, fed.index}, out = {y.id, y.index};
  rheos__plan *plan = NULL;
  check(rheos__plan_new(f->graph, &context, &in, 1, &out, 1, NULL, 0, &plan));
  rheos__segment *segment = NULL;
  const rheos_shape shape = RHEOS_SHAPE(SIDE, SIDE);
  check(rheos__segment_new(plan, NULL, &shape, 1, NULL, &segment));
  int count = 0;
  *out_most = 0;
  for (int i = 0; i < segment->num_sections; i++) {
    const rheos__section *section = &segment->sections[i];
    if (section->kind != RHEOS__SECTION_BRANCHES) continue;
    if (section->branches.num_branches > *out_most) *out_most = section->branches.num_branches;
    count++;
  }
  rheos__segments_free(segment);
  rheos__plan_free(plan);
  rheos__resources_free(resources);
  return count;
}

static void test_branches__are_found_where_they_pay(void **state) {
  fixture *f = *state;
  const rheos_output x = square_input(f);
  rheos_output sum = tower(f, x, 3, 0);
  for (int i = 1; i < 8; i++) sum = op_2(f, "Add", sum, tower(f, x, 3, (float)i));
  check(rheos_scope_finish(f->scope));
  int most;
  assert_int_equal(count_groups(f, x, sum, 2, &most), 1);
  assert_int_equal(most, 8);  // although the sums stand between the towers
  assert_int_equal(count_groups(f, x, sum, 1, &most), 0);
  assert_int_equal(count_groups(f, x, tower(f, x, 20, 9), 2, &most), 0);  // one after the other
  rheos_output small = op_1(f, "Tanh", x);
  small = op_2(f, "Add", op_1(f, "Neg", small), op_1(f, "Exp", small));
  assert_int_equal(count_groups(f, x, small, 2, &most), 0);
  rheos_output stages = x;  // forks and joins in turn
  for (int i = 0; i < 3; i++) {
    stages = op_2(f, "Mul", tower(f, stages, 3, (float)i), tower(f, stages, 4, 10 + (float)i));
  }
  assert_int_equal(count_groups(f, x, stages, 2, &most), 3);
  assert_int_equal(most, 2);
}

typedef struct wide {
  rheos_output x, fetches[3];
} wide;

// Some graph of products and elementwise ops, of which any takes what any other gave.
static wide random_graph(fixture *f, unsigned seed) {
  rheos_output nodes[MOST_NODES];
  wide w = {.x = square_input(f)};
  nodes[0] = w.x;
  for (int i = 1; i < MOST_NODES; i++) {
    seed = seed * 1664525 + 1013904223;
    const rheos_output a = nodes[(seed >> 8) % (unsigned)i];
    const rheos_output b = nodes[i < 12 ? 0 : (seed >> 16) % (unsigned)i];
    const unsigned kind = seed >> 28;
    nodes[i] = i < 12      ? tower(f, w.x, 1 + i % 3, (float)i)
               : kind < 7  ? op_1(f, "Tanh", op_2(f, "MatMul", a, b))
               : kind < 9  ? op_2(f, "Add", a, b)
               : kind < 11 ? op_2(f, "Mul", a, b)
               : kind < 13 ? op_1(f, "Neg", a)
                           : op_1(f, "Sigmoid", a);
  }
  w.fetches[0] = nodes[MOST_NODES - 1];
  w.fetches[1] = nodes[MOST_NODES - 2];
  w.fetches[2] = nodes[MOST_NODES / 2];
  check(rheos_scope_finish(f->scope));
  return w;
}

static void run_wide(fixture *f, const wide *w, rheos_tensor *x, int threads, int between_ops,
                     rheos_tensor **out_values) {
  rheos_session *session = NULL;
  const rheos_session_options options = {.num_threads = threads,
                                         .num_threads_between_ops = between_ops};
  check(rheos_session_new(f->graph, &options, &session));
  for (int run = 0; run < 3; run++) {
    rheos_feed feed = {w->x, x};
    rheos_fetch fetches[3] = {{w->fetches[0], NULL}, {w->fetches[1], NULL}, {w->fetches[2], NULL}};
    check(rheos_session_run(session, &feed, 1, fetches, 3, NULL, 0, NULL));
    for (int i = 0; i < 3; i++) {
      if (run > 0) rheos_tensor_unref(out_values[i]);
      out_values[i] = fetches[i].value;
    }
  }
  rheos_session_free(session);
}

static void test_branches__give_the_same_bits(void **state) {
  fixture *f = *state;
  rheos_tensor *x = wave(RHEOS_SHAPE(SIDE, SIDE), 0.4f);
  int groups = 0, most;
  for (unsigned seed = 0; seed < 6; seed++) {
    const wide w = random_graph(f, seed * 77 + 5);
    groups += count_groups(f, w.x, w.fetches[0], 2, &most);
    rheos_tensor *one[3], *many[3];
    run_wide(f, &w, x, 1, 0, one);
    static const int threads[][2] = {{2, 0}, {3, 2}, {8, 0}, {2, 1}};
    for (int t = 0; t < 4; t++) {
      run_wide(f, &w, x, threads[t][0], threads[t][1], many);
      for (int i = 0; i < 3; i++) {
        assert_memory_equal(rheos_tensor_data(one[i]), rheos_tensor_data(many[i]),
                            rheos_tensor_size_bytes(one[i]));
        rheos_tensor_unref(many[i]);
      }
    }
    for (int i = 0; i < 3; i++) rheos_tensor_unref(one[i]);
  }
  assert_true(groups > 0);
  rheos_tensor_unref(x);
}

// Rows of x that are not there.
static rheos_output bad_rows(fixture *f, rheos_output x, rheos_output row, int offset) {
  const rheos_output index = op_2(f, "Add", row, rheos_constant_int(f->scope, offset, NULL));
  return op_2(f, "Gather", x, index);
}

static void test_branches__fail_as_on_one_thread(void **state) {
  fixture *f = *state;
  const rheos_output x = square_input(f);
  const rheos_attr dtype = rheos_attr_type("dtype", RHEOS_INT32);
  const rheos_output row = rheos_operation_output(add(f, "Placeholder", NULL, 0, &dtype, 1), 0);
  rheos_output sum = tower(f, x, 2, 0);
  for (int i = 1; i < 6; i++) {  // later towers fail sooner
    rheos_output branch = tower(f, x, 7 - i, (float)i);
    branch = op_2(f, "Add", branch, bad_rows(f, branch, row, 100 * i));
    sum = op_2(f, "Add", sum, branch);
  }
  check(rheos_scope_finish(f->scope));
  rheos_tensor *values = wave(RHEOS_SHAPE(SIDE, SIDE), 0.1f), *zero = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &(int32_t){0}, &zero));
  char expected[512] = "";
  static const int threads[] = {1, 2, 3, 8};
  for (int t = 0; t < 4; t++) {
    rheos_session *session = NULL;
    const rheos_session_options options = {.num_threads = threads[t]};
    check(rheos_session_new(f->graph, &options, &session));
    for (int run = 0; run < 10; run++) {
      rheos_feed feeds[] = {{x, values}, {row, zero}};
      rheos_fetch fetch = {sum, NULL};
      rheos_status *status = rheos_session_run(session, feeds, 2, &fetch, 1, NULL, 0, NULL);
      assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
      if (expected[0] == '\0') {
        snprintf(expected, sizeof expected, "%s", rheos_status_message(status));
      }
      assert_string_equal(rheos_status_message(status), expected);
      rheos_status_free(status);
    }
    rheos_session_free(session);
  }
  assert_non_null(strstr(expected, "100"));
  rheos_tensor_unref(values);
  rheos_tensor_unref(zero);
}

static void test_branches__read_variables_before_they_change(void **state) {
  fixture *f = *state;
  const rheos_shape shape = RHEOS_SHAPE(SIDE, SIDE);
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape)};
  const rheos_output x = square_input(f);
  const rheos_output v = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  rheos_tensor *value = wave(shape, 2);
  const rheos_output given[] = {v, rheos_constant(f->scope, value, NULL)};
  const rheos_operation init = add(f, "Assign", given, 2, NULL, 0);
  rheos_output sum = op_2(f, "MatMul", tower(f, x, 3, 0), v);
  for (int i = 1; i < 4; i++) {
    sum = op_2(f, "Add", sum, op_2(f, "MatMul", tower(f, x, 3, (float)i), v));
  }
  const rheos_output change[] = {v, sum};
  const rheos_operation update = add(f, "AssignAdd", change, 2, NULL, 0);
  check(rheos_scope_finish(f->scope));
  rheos_tensor *results[2][2];
  for (int t = 0; t < 2; t++) {
    rheos_session *session = NULL;
    const rheos_session_options options = {.num_threads = t == 0 ? 1 : 4};
    check(rheos_session_new(f->graph, &options, &session));
    check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
    rheos_feed feed = {x, value};
    rheos_fetch fetches[] = {{sum, NULL}, {v, NULL}};
    for (int run = 0; run < 4; run++) {
      for (int i = 0; i < 2; i++) rheos_tensor_unref(fetches[i].value);
      check(rheos_session_run(session, &feed, 1, fetches, 2, &update, 1, NULL));
    }
    for (int i = 0; i < 2; i++) results[t][i] = fetches[i].value;
    rheos_session_free(session);
  }
  for (int i = 0; i < 2; i++) {
    assert_memory_equal(rheos_tensor_data(results[0][i]), rheos_tensor_data(results[1][i]),
                        rheos_tensor_size_bytes(results[0][i]));
    rheos_tensor_unref(results[0][i]);
    rheos_tensor_unref(results[1][i]);
  }
  rheos_tensor_unref(value);
}

static void test_branches__are_numbered(void **state) {
  fixture *f = *state;
  const rheos_output x = square_input(f);
  const rheos_output y = op_2(f, "Sub", tower(f, x, 3, 0), tower(f, x, 3, 1));
  check(rheos_scope_finish(f->scope));
  rheos_session *session = NULL;
  check(rheos_session_new(f->graph, &(rheos_session_options){.num_threads = 2}, &session));
  expect_printed(session,
                 &(rheos__step_ends){.feeds = &x, .num_feeds = 1, .fetches = &y, .num_fetches = 1},
                 &RHEOS_SHAPE(SIDE, SIDE), "instructions sections",
                 "instructions\n"
                 "  i0 run e1 of v0, v1 -> v2; branch 1\n"
                 "  i1 run e2 of v2, v1 -> v3; branch 1\n"
                 "  i2 run e3 of v3, v1 -> v4; branch 1\n"
                 "  i3 run e5 of v0, v5 -> v6; branch 2\n"
                 "  i4 run e6 of v6, v5 -> v7; branch 2\n"
                 "  i5 run e7 of v7, v5 -> v8; branch 2\n"
                 "  i6 run e8 of v4, v8 -> v9\n"
                 "sections\n"
                 "  branches i0 to i5; branches 2\n");
  rheos_session_free(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_branches__are_found_where_they_pay),
      TEST(test_branches__give_the_same_bits),
      TEST(test_branches__fail_as_on_one_thread),
      TEST(test_branches__read_variables_before_they_change),
      TEST(test_branches__are_numbered),
  };
  return cmocka_run_group_tests_name("branches", tests, NULL, NULL);
}
