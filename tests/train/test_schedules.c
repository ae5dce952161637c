// Learning rates and clipped gradients: the nodes are TensorFlow 1.15.5's, and where they are not
// (choices are Selects here, conditionals there), the numbers are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <rheos/rheos.h>
#include <stdio.h>

#include "train/graph_text.h"

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
} fixture;

static fixture begin(void) {
  fixture f = {.graph = rheos_graph_new()};
  f.s = rheos_scope_new(f.graph);
  assert_non_null(f.s);
  return f;
}

static void free_fixture(fixture *f) {
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
}

static void assert_fine(rheos_scope *s) {
  rheos_status *status = rheos_scope_finish(s);
  if (status != NULL) fprintf(stderr, "%s\n", rheos_status_message(status));
  assert_null(status);
}

static void assert_fails(rheos_scope *s) {
  rheos_status *status = rheos_scope_finish(s);
  assert_non_null(status);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
}

static rheos_output placeholder(rheos_scope *s, rheos_dtype dtype, rheos_shape shape,
                                const char *name) {
  rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &shape)};
  rheos_op_args args = {.type = "Placeholder", .name = name, .attrs = attrs, .num_attrs = 2};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static void test_schedules__nodes_are_tensorflows(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  const rheos_output step =
      rheos_get_variable_record(s, "step", RHEOS_INT64, RHEOS_SCALAR, rheos_zeros(), false).value;
  rheos_exponential_decay(s, 0.1, step, 100, 0.9, false, NULL);
  rheos_exponential_decay(s, 0.1, step, 100, 0.9, true, "stairs");
  rheos_natural_exp_decay(s, 0.1, step, 100, 0.9, false, NULL);
  rheos_natural_exp_decay(s, 0.1, step, 100, 0.9, true, NULL);
  rheos_inverse_time_decay(s, 0.1, step, 100, 0.9, false, NULL);
  rheos_inverse_time_decay(s, 0.1, step, 100, 0.9, true, NULL);
  rheos_polynomial_decay(s, 0.1, step, 100, 0.0001, 1, false, NULL);
  rheos_cosine_decay(s, 0.1, step, 100, 0, NULL);
  rheos_cosine_decay(s, 0.1, step, 100, 0.25, NULL);
  rheos_linear_cosine_decay(s, 0.1, step, 100, 0.5, 0, 0.001, NULL);
  assert_fine(s);
  assert_int_equal(graph_text_differences(f.graph, "learning_rates"), 0);
  free_fixture(&f);
}

enum { NUM_CHOICES = 4 };
typedef struct recorded {
  int64_t step;
  double rates[NUM_CHOICES];
} recorded;

// What TensorFlow 1.15.5 computes.
static const recorded recorded_rates[] = {
    {0, {0.1, 0.1, 0.1, 0.1}},
    {10, {0.0953815, 0.09755283, 0.09779754, 0.1}},
    {11, {0.09490583, 0.09704404, 0.09733964, 0.01}},
    {20, {0.09049845, 0.09045085, 0.09140576, 0.01}},
    {21, {0.08999375, 0.08950775, 0.09055698, 0.001}},
    {150, {0.055, 0.08535534, 0.05049999, 0.001}},
    {330, {0.0476497, 0.0986185, 0.0620873, 0.001}},
};

static void test_schedules__choices_give_tensorflows_numbers(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  const double boundaries[] = {10, 20}, values[] = {0.1, 0.01, 0.001};
  const rheos_output step = placeholder(s, RHEOS_INT64, RHEOS_SCALAR, "step");
  const rheos_output rates[NUM_CHOICES] = {
      rheos_polynomial_decay(s, 0.1, step, 100, 0.01, 0.5, true, NULL),
      rheos_cosine_decay_restarts(s, 0.1, step, 100, 2, 1, 0, NULL),
      rheos_cosine_decay_restarts(s, 0.1, step, 100, 1, 0.9, 0.1, NULL),
      rheos_piecewise_constant(s, step, boundaries, values, 2, NULL),
  };
  assert_fine(s);
  rheos_session *session = NULL;
  assert_null(rheos_session_new(f.graph, NULL, &session));
  for (size_t i = 0; i < sizeof recorded_rates / sizeof *recorded_rates; i++) {
    const recorded *want = &recorded_rates[i];
    rheos_tensor *fed = NULL;
    assert_null(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, &want->step, &fed));
    const rheos_feed feed = {.output = step, .value = fed};
    rheos_fetch fetches[NUM_CHOICES];
    for (int k = 0; k < NUM_CHOICES; k++) fetches[k] = (rheos_fetch){.output = rates[k]};
    assert_null(rheos_session_run(session, &feed, 1, fetches, NUM_CHOICES, NULL, 0, NULL));
    for (int k = 0; k < NUM_CHOICES; k++) {
      const double found = *(const float *)rheos_tensor_data(fetches[k].value);
      if (fabs(found - want->rates[k]) > 2e-6) {
        fail_msg("rate %d at step %d is %.9g, not %.9g", k, (int)want->step, found, want->rates[k]);
      }
      rheos_tensor_unref(fetches[k].value);
    }
    rheos_tensor_unref(fed);
  }
  rheos_session_free(session);
  free_fixture(&f);
}

static void test_schedules__need_a_step(void **state) {
  (void)state;
  fixture f = begin();
  const rheos_output none = {0};
  const double value = 1;
  rheos_exponential_decay(f.s, 0.1, none, 100, 0.9, false, NULL);
  assert_fails(f.s);
  rheos_piecewise_constant(f.s, none, NULL, &value, 0, NULL);
  assert_fails(f.s);
  free_fixture(&f);
}

static void test_clipping__nodes_are_tensorflows(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  const int32_t dims[] = {3, 2};
  rheos_tensor *of = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2), dims, &of));
  const rheos_gradient x = {.values = placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(3, 2), "x")};
  const rheos_gradient y = {.values = placeholder(s, RHEOS_DOUBLE, RHEOS_UNKNOWN_SHAPE, "y")};
  const rheos_gradient rows = {
      .values = placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(2, 2), "values"),
      .indices = placeholder(s, RHEOS_INT32, RHEOS_SHAPE(2), "indices"),
      .dense_shape = rheos_constant(s, of, "of"),
  };
  const rheos_gradient all[] = {x, {.values = {0}}, rows};
  rheos_gradient clipped[3];
  rheos_tensor_unref(of);
  rheos_clip_gradient_by_value(s, x, -1, 2, NULL);
  rheos_clip_gradient_by_value(s, rows, -1, 2, "between");
  rheos_clip_gradient_by_norm(s, x, 5, NULL);
  rheos_clip_gradient_by_norm(s, y, 5, NULL);
  rheos_clip_gradient_by_norm(s, rows, 5, "short");
  rheos_global_norm(s, all, 3, NULL);
  rheos_clip_gradients_by_global_norm(s, all, 3, 5, NULL, clipped);
  rheos_clip_gradient_by_average_norm(s, x, 5, NULL);
  assert_fine(s);
  assert_null(clipped[1].values.graph);
  assert_ptr_equal(clipped[2].indices.graph, f.graph);
  assert_int_equal(graph_text_differences(f.graph, "clipping"), 0);
  free_fixture(&f);
}

static void test_clipping__refuses_what_has_no_norm(void **state) {
  (void)state;
  fixture f = begin();
  const rheos_gradient none = {.values = {0}};
  rheos_global_norm(f.s, &none, 1, NULL);
  assert_fails(f.s);
  rheos_gradient rows = {
      .values = placeholder(f.s, RHEOS_FLOAT, RHEOS_SHAPE(2, 2), NULL),
      .indices = placeholder(f.s, RHEOS_INT32, RHEOS_SHAPE(2), NULL),
  };
  rheos_clip_gradient_by_average_norm(f.s, rows, 5, NULL);
  assert_fails(f.s);
  assert_null(rheos_clip_gradient_by_norm(f.s, none, 5, NULL).values.graph);
  assert_fine(f.s);
  free_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schedules__nodes_are_tensorflows),
      cmocka_unit_test(test_schedules__choices_give_tensorflows_numbers),
      cmocka_unit_test(test_schedules__need_a_step),
      cmocka_unit_test(test_clipping__nodes_are_tensorflows),
      cmocka_unit_test(test_clipping__refuses_what_has_no_norm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
