// Gradients: which nodes are made, what they compute, and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <rheos/rheos.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
} fixture;

static const rheos_output none = {NULL, 0, 0};

static int setup(void **state) {
  fixture *f = calloc(1, sizeof(fixture));
  f->graph = rheos_graph_new();
  f->s = rheos_scope_new(f->graph);
  *state = f;
  return f->s == NULL;
}

static int teardown(void **state) {
  fixture *f = *state;
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
  free(f);
  return 0;
}

static rheos_output op(rheos_scope *s, const char *type, rheos_output a, rheos_output b) {
  rheos_output inputs[] = {a, b};
  rheos_op_args args = {.type = type, .inputs = inputs, .num_inputs = b.graph != NULL ? 2 : 1};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_output placeholder(rheos_scope *s, rheos_dtype dtype, rheos_shape shape) {
  rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &shape)};
  rheos_op_args args = {.type = "Placeholder", .attrs = attrs, .num_attrs = 2};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_output cast(rheos_scope *s, rheos_output x, rheos_dtype dtype) {
  rheos_attr to = rheos_attr_type("DstT", dtype);
  return rheos_operation_output(
      rheos_op(s,
               &(rheos_op_args){
                   .type = "Cast", .inputs = &x, .num_inputs = 1, .attrs = &to, .num_attrs = 1}),
      0);
}

static void assert_fine(rheos_scope *s) {
  rheos_status *status = rheos_scope_finish(s);
  if (status != NULL) fprintf(stderr, "%s\n", rheos_status_message(status));
  assert_null(status);
}

static void assert_fails(rheos_scope *s, rheos_code code, const char *part) {
  rheos_status *status = rheos_scope_finish(s);
  assert_non_null(status);
  assert_int_equal(rheos_status_code(status), code);
  if (strstr(rheos_status_message(status), part) == NULL) {
    fprintf(stderr, "'%s' lacks '%s'\n", rheos_status_message(status), part);
    fail();
  }
  rheos_status_free(status);
}

static bool is_none(rheos_gradient gradient) { return gradient.values.graph == NULL; }

// The value of a scalar float or double for a fed one.
static double run_scalar(rheos_graph *graph, rheos_output fetch, rheos_output feed, double at) {
  rheos_session *session = NULL;
  assert_null(rheos_session_new(graph, NULL, &session));
  rheos_feed fed = {.output = feed};
  assert_null(rheos_tensor_from_values(RHEOS_DOUBLE, RHEOS_SCALAR, &at, &fed.value));
  rheos_fetch fetched = {.output = fetch};
  rheos_status *status = rheos_session_run(session, &fed, 1, &fetched, 1, NULL, 0, NULL);
  if (status != NULL) fprintf(stderr, "%s\n", rheos_status_message(status));
  assert_null(status);
  double value = *(double *)rheos_tensor_data(fetched.value);
  rheos_tensor_unref(fetched.value);
  rheos_tensor_unref(fed.value);
  rheos_session_free(session);
  return value;
}

static void test_gradients__several_paths_are_added(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_DOUBLE, RHEOS_SCALAR);
  // x * x + sin(x) * x
  rheos_output y =
      op(f->s, "AddV2", op(f->s, "Mul", x, x), op(f->s, "Mul", op(f->s, "Sin", x, none), x));
  rheos_gradient g;
  rheos_gradients(f->s, &y, 1, &x, 1, NULL, &g);
  assert_fine(f->s);
  assert_string_equal(rheos_operation_type(rheos_output_operation(g.values)), "AddN");
  double at = 1.25, want = 2 * at + cos(at) * at + sin(at);
  assert_true(fabs(run_scalar(f->graph, g.values, x, at) - want) < 1e-12);
}

static void test_gradients__of_gradients_are_second_derivatives(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_DOUBLE, RHEOS_SCALAR);
  rheos_output y = op(f->s, "Mul", op(f->s, "Exp", x, none), op(f->s, "Sin", x, none));
  rheos_gradient g;
  rheos_gradients(f->s, &y, 1, &x, 1, NULL, &g);
  rheos_gradients(f->s, &g.values, 1, &x, 1, NULL, &g);
  assert_fine(f->s);
  double at = 0.5;
  assert_true(fabs(run_scalar(f->graph, g.values, x, at) - 2 * exp(at) * cos(at)) < 1e-12);
}

static void test_gradients__agree_with_differences(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_DOUBLE, RHEOS_SCALAR);
  rheos_output a = op(f->s, "Tanh", x, none), b = op(f->s, "Sigmoid", x, none);
  rheos_output y = op(f->s, "RealDiv", op(f->s, "Sub", op(f->s, "Square", a, none), b),
                      op(f->s, "Exp", b, none));
  rheos_gradient g;
  rheos_gradients(f->s, &y, 1, &x, 1, NULL, &g);
  assert_fine(f->s);
  double at = 0.3, step = 1e-5;
  double up = run_scalar(f->graph, y, x, at + step), down = run_scalar(f->graph, y, x, at - step);
  assert_true(fabs(run_scalar(f->graph, g.values, x, at) - (up - down) / (2 * step)) < 1e-9);
}

static void test_gradients__no_path_is_none(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_output other = placeholder(f->s, RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_output y = op(f->s, "Square", x, none);
  rheos_output xs[] = {other, x, y};
  rheos_gradient g[3];
  rheos_gradients(f->s, &y, 1, xs, 3, NULL, g);
  assert_fine(f->s);
  assert_true(is_none(g[0]));
  assert_false(is_none(g[1]));
  assert_false(is_none(g[2]));
  assert_string_equal(rheos_operation_type(rheos_output_operation(g[2].values)), "Fill");
}

static void test_gradients__integers_end_a_path(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_output whole = cast(f->s, x, RHEOS_INT32);
  rheos_output y = op(f->s, "Square", cast(f->s, whole, RHEOS_FLOAT), none);
  rheos_gradient g;
  rheos_gradients(f->s, &y, 1, &x, 1, NULL, &g);
  assert_fine(f->s);
  assert_true(is_none(g));
  // Of an integer tensor there is none either.
  rheos_gradients(f->s, &whole, 1, &x, 1, NULL, &g);
  assert_fine(f->s);
  assert_true(is_none(g));
}

static void test_gradients__stop_where_asked(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_DOUBLE, RHEOS_SCALAR);
  rheos_output square = op(f->s, "Square", x, none);
  rheos_output y = op(f->s, "Mul", square, x);
  rheos_gradient whole, stopped;
  rheos_gradients(f->s, &y, 1, &x, 1, NULL, &whole);
  rheos_gradients(f->s, &y, 1, &x, 1,
                  &(rheos_gradients_options){.stop_gradients = &square, .num_stop_gradients = 1},
                  &stopped);
  rheos_output shut = op(f->s, "Mul", op(f->s, "StopGradient", square, none), x);
  rheos_gradient by_op;
  rheos_gradients(f->s, &shut, 1, &x, 1, NULL, &by_op);
  assert_fine(f->s);
  assert_true(run_scalar(f->graph, whole.values, x, 3) == 27);
  assert_true(run_scalar(f->graph, stopped.values, x, 3) == 9);
  assert_true(run_scalar(f->graph, by_op.values, x, 3) == 9);
}

static void test_gradients__start_with_what_is_given(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_DOUBLE, RHEOS_SCALAR);
  rheos_output y = op(f->s, "Square", x, none);
  rheos_output given = op(f->s, "Exp", x, none);
  rheos_gradient g;
  rheos_gradients(f->s, &y, 1, &x, 1, &(rheos_gradients_options){.grad_ys = &given}, &g);
  assert_fine(f->s);
  assert_true(fabs(run_scalar(f->graph, g.values, x, 2) - 4 * exp(2.0)) < 1e-12);
}

static void test_gradients__an_x_between_passes_on(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_DOUBLE, RHEOS_SCALAR);
  rheos_output middle = op(f->s, "Square", x, none);
  rheos_output y = op(f->s, "Square", middle, none);
  rheos_output xs[] = {x, middle, x};
  rheos_gradient g[3];
  rheos_gradients(f->s, &y, 1, xs, 3, NULL, g);
  assert_fine(f->s);
  assert_true(run_scalar(f->graph, g[0].values, x, 2) == 32);
  assert_true(run_scalar(f->graph, g[1].values, x, 2) == 8);
  assert_int_equal(g[2].values.id, g[0].values.id);
}

static void test_gradients__go_through_variables(void **state) {
  fixture *f = *state;
  rheos_variable w = rheos_get_variable_record(f->s, "w", RHEOS_DOUBLE, RHEOS_SCALAR,
                                               rheos_constant_initializer(3), true);
  rheos_output y = op(f->s, "Square", w.value, none);
  rheos_output xs[] = {w.handle, w.value};
  rheos_gradient g[2];
  rheos_gradients(f->s, &y, 1, xs, 2, NULL, g);
  assert_fine(f->s);
  assert_false(is_none(g[0]));
  assert_int_equal(g[0].values.id, g[1].values.id);
}

static void test_gradients__an_op_without_one_is_named(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_output y = op(f->s, "Square", op(f->s, "TruncateMod", x, x), none);
  rheos_gradient g;
  rheos_gradients(f->s, &y, 1, &x, 1, NULL, &g);
  assert_fails(f->s, RHEOS_NOT_FOUND,
               "No gradient defined for operation 'TruncateMod' (op type: TruncateMod)");
  assert_true(is_none(g));
}

static void test_gradients__are_defined_for_ops_or_not(void **state) {
  (void)state;
  assert_true(rheos_op_has_gradient("MatMul"));
  assert_true(rheos_op_has_gradient("ZerosLike"));  // none flows
  assert_false(rheos_op_has_gradient("TruncateMod"));
  assert_false(rheos_op_has_gradient("NoSuchOp"));
}

static void test_gradients__refuse_tensors_of_other_graphs(void **state) {
  fixture *f = *state;
  rheos_graph *other = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(other);
  rheos_output foreign = placeholder(s, RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_output x = placeholder(f->s, RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_output y = op(f->s, "Square", x, none);
  rheos_gradient g;
  rheos_gradients(f->s, &y, 1, &foreign, 1, NULL, &g);
  assert_fails(f->s, RHEOS_INVALID_ARGUMENT, "xs[0] is from another graph");
  rheos_gradients(f->s, &none, 1, &x, 1, NULL, &g);
  assert_fails(f->s, RHEOS_INVALID_ARGUMENT, "ys[0] is no tensor");
  rheos_scope_free(s);
  rheos_graph_unref(other);
}

static void test_gradients__of_complex_tensors_want_a_start(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_COMPLEX64, RHEOS_SCALAR);
  rheos_gradient g;
  rheos_gradients(f->s, &x, 1, &x, 1, NULL, &g);
  assert_fails(f->s, RHEOS_INVALID_ARGUMENT, "Gradients of complex tensors must set grad_ys");
}

static void test_gradients__a_long_chain_needs_no_stack(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f->s, RHEOS_FLOAT, RHEOS_SCALAR), y = x;
  for (int i = 0; i < 100000; i++) y = op(f->s, "Neg", y, none);
  rheos_gradient g;
  rheos_gradients(f->s, &y, 1, &x, 1, NULL, &g);
  assert_fine(f->s);
  assert_string_equal(rheos_operation_type(rheos_output_operation(g.values)), "Neg");
  assert_int_equal(rheos_graph_num_operations(f->graph), 200004);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_gradients__several_paths_are_added),
      TEST(test_gradients__of_gradients_are_second_derivatives),
      TEST(test_gradients__agree_with_differences),
      TEST(test_gradients__no_path_is_none),
      TEST(test_gradients__integers_end_a_path),
      TEST(test_gradients__stop_where_asked),
      TEST(test_gradients__start_with_what_is_given),
      TEST(test_gradients__an_x_between_passes_on),
      TEST(test_gradients__go_through_variables),
      TEST(test_gradients__an_op_without_one_is_named),
      TEST(test_gradients__are_defined_for_ops_or_not),
      TEST(test_gradients__refuse_tensors_of_other_graphs),
      TEST(test_gradients__of_complex_tensors_want_a_start),
      TEST(test_gradients__a_long_chain_needs_no_stack),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
