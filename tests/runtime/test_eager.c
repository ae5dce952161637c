// Operations that run at once, and tapes: values, gradients of gradients, what is kept and what is
// let go.
#include <rheos/front_end.h>
#include <rheos/function.h>

#include <math.h>

#include "graph/library.h"
#include "ops/array_fixture.h"

static rheos_eager *make_eager(void) {
  rheos_eager *eager = NULL;
  check(rheos_eager_new(&(rheos_eager_options){.num_threads = 1}, &eager));
  return eager;
}

static rheos_tensor *values_of(rheos_shape shape, const float *values) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, shape, values, &tensor));
  return tensor;
}

static rheos_tensor *run1(rheos_eager *eager, const char *type, rheos_tensor *a, rheos_tensor *b) {
  rheos_tensor *inputs[] = {a, b}, *result = NULL;
  const rheos_eager_op op = {.type = type, .inputs = inputs, .num_inputs = b != NULL ? 2 : 1};
  check(rheos_eager_execute(eager, &op, &result, 1));
  return result;
}

static float at(const rheos_tensor *tensor, int index) {
  return ((const float *)rheos_tensor_data(tensor))[index];
}

static void test_eager__an_op_runs_with_any_shapes(void **state) {
  (void)state;
  rheos_eager *eager = make_eager();
  for (int n = 1; n < 40; n++) {
    float values[40];
    for (int i = 0; i < n; i++) values[i] = (float)i;
    rheos_tensor *x = values_of(RHEOS_SHAPE(n), values), *y = run1(eager, "AddV2", x, x);
    for (int i = 0; i < n; i++) assert_true(at(y, i) == 2 * values[i]);
    rheos_tensor_unref(x);
    rheos_tensor_unref(y);
  }
  rheos_eager_free(eager);
}

static void test_eager__outputs_are_tensors_of_their_own(void **state) {
  (void)state;
  rheos_eager *eager = make_eager();
  rheos_tensor *x = values_of(RHEOS_SHAPE(2), (float[]){1, 2}),
               *y = run1(eager, "Identity", x, NULL);
  assert_ptr_not_equal(x, y);
  assert_true(at(y, 1) == 2);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
  rheos_eager_free(eager);
}

static void test_eager__errors_leave_it_usable(void **state) {
  (void)state;
  rheos_eager *eager = make_eager();
  rheos_tensor *x = values_of(RHEOS_SHAPE(2), (float[]){1, 2});
  rheos_tensor *y = values_of(RHEOS_SHAPE(3), (float[]){1, 2, 3});
  rheos_tensor *inputs[] = {x, y}, *result = NULL;
  rheos_eager_op op = {.type = "AddV2", .inputs = inputs, .num_inputs = 2};
  rheos_status *status = rheos_eager_execute(eager, &op, &result, 1);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_null(result);
  rheos_status_free(status);
  op.type = "NoSuchOp";
  status = rheos_eager_execute(eager, &op, &result, 1);
  assert_non_null(status);
  rheos_status_free(status);
  result = run1(eager, "AddV2", x, x);
  assert_true(at(result, 1) == 4);
  rheos_tensor_unref(result);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
  rheos_eager_free(eager);
}

// d/dx of x^3 and of its derivative.
static void test_tape__gradients_have_gradients(void **state) {
  (void)state;
  rheos_eager *eager = make_eager();
  rheos_tape *outer = NULL, *inner = NULL;
  check(rheos_tape_new(eager, &outer));
  check(rheos_tape_new(eager, &inner));
  rheos_tensor *x = values_of(RHEOS_SHAPE(2), (float[]){2, 3});
  check(rheos_tape_watch(outer, x));
  check(rheos_tape_watch(inner, x));
  check(rheos_tape_record(outer));
  check(rheos_tape_record(inner));
  rheos_tensor *square = run1(eager, "Mul", x, x), *cube = run1(eager, "Mul", square, x);
  rheos_tape_stop(inner);
  rheos_tensor_gradient first, second;
  check(rheos_tape_gradient(inner, &cube, 1, NULL, &x, 1, &first));
  rheos_tape_stop(outer);
  assert_true(at(first.values, 0) == 12 && at(first.values, 1) == 27);
  check(rheos_tape_gradient(outer, &first.values, 1, NULL, &x, 1, &second));
  assert_true(at(second.values, 0) == 12 && at(second.values, 1) == 18);
  rheos_tensor_unref(first.values);
  rheos_tensor_unref(second.values);
  rheos_tensor_unref(square);
  rheos_tensor_unref(cube);
  rheos_tensor_unref(x);
  rheos_tape_free(inner);
  rheos_tape_free(outer);
  rheos_eager_free(eager);
}

static void test_tape__what_is_not_watched_has_no_gradient(void **state) {
  (void)state;
  rheos_eager *eager = make_eager();
  rheos_tape *tape = NULL;
  check(rheos_tape_new(eager, &tape));
  check(rheos_tape_record(tape));
  rheos_tensor *x = values_of(RHEOS_SHAPE(1), (float[]){2}), *y = run1(eager, "Square", x, NULL);
  rheos_tensor_gradient gradient;
  check(rheos_tape_gradient(tape, &y, 1, NULL, &x, 1, &gradient));
  assert_null(gradient.values);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
  rheos_tape_free(tape);
  rheos_eager_free(eager);
}

static rheos_status *triple(void *argument, rheos_tensor *const *out_gradients, size_t num_outputs,
                            rheos_tensor_gradient *in_gradients, size_t num_inputs) {
  assert_int_equal(num_outputs, 1);
  assert_int_equal(num_inputs, 1);
  in_gradients[0].values = values_of(RHEOS_SHAPE(1), (float[]){3 * at(out_gradients[0], 0)});
  ++*(int *)argument;
  return NULL;
}

static void count_release(void *argument) { *(int *)argument += 100; }

static void test_tape__the_program_may_give_gradients(void **state) {
  (void)state;
  int calls = 0;
  rheos_eager *eager = make_eager();
  rheos_tape *tape = NULL;
  check(rheos_tape_new(eager, &tape));
  rheos_tensor *x = values_of(RHEOS_SHAPE(1), (float[]){2}),
               *y = values_of(RHEOS_SHAPE(1), (float[]){6});
  check(rheos_tape_watch(tape, x));
  check(rheos_tape_record(tape));
  check(rheos_eager_record(eager, &x, 1, &y, 1, triple, &calls, count_release));
  rheos_tensor *z = run1(eager, "Square", y, NULL);
  rheos_tensor_gradient gradient;
  check(rheos_tape_gradient(tape, &z, 1, NULL, &x, 1, &gradient));
  assert_true(at(gradient.values, 0) == 36);
  assert_int_equal(calls, 1);
  rheos_tape_free(tape);
  assert_int_equal(calls, 101);
  rheos_tensor_unref(gradient.values);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
  rheos_tensor_unref(z);
  rheos_eager_free(eager);
}

static void test_eager__variables_are_read_written_and_differentiated(void **state) {
  (void)state;
  rheos_eager *eager = make_eager();
  rheos_tensor *handle = NULL, *value = values_of(RHEOS_SHAPE(2), (float[]){1, 2}), *read = NULL;
  check(rheos_eager_variable(eager, RHEOS_FLOAT, "v", &handle));
  rheos_tensor *inputs[] = {handle, value};
  const rheos_eager_op assign = {.type = "AssignVariableOp", .inputs = inputs, .num_inputs = 2};
  check(rheos_eager_execute(eager, &assign, NULL, 0));
  const rheos_eager_op add = {.type = "AssignAddVariableOp", .inputs = inputs, .num_inputs = 2};
  check(rheos_eager_execute(eager, &add, NULL, 0));
  rheos_tape *tape = NULL;
  check(rheos_tape_new(eager, &tape));
  check(rheos_tape_watch(tape, handle));
  check(rheos_tape_record(tape));
  const rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  const rheos_eager_op reads = {.type = "ReadVariableOp",
                                .inputs = &handle,
                                .num_inputs = 1,
                                .attrs = &dtype,
                                .num_attrs = 1};
  check(rheos_eager_execute(eager, &reads, &read, 1));
  assert_true(at(read, 0) == 2 && at(read, 1) == 4);
  rheos_tensor *y = run1(eager, "Square", read, NULL);
  rheos_tensor_gradient gradient;
  check(rheos_tape_gradient(tape, &y, 1, NULL, &handle, 1, &gradient));
  assert_true(at(gradient.values, 0) == 4 && at(gradient.values, 1) == 8);
  rheos_tensor_unref(gradient.values);
  rheos_tensor_unref(y);
  rheos_tensor_unref(read);
  rheos_tensor_unref(value);
  rheos_tensor_unref(handle);
  rheos_tape_free(tape);
  rheos_eager_free(eager);
}

// ---- Functions that go

static void make_double(rheos_graph *graph) {
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_function *f = rheos_function_begin(scope, "double", NULL);
  rheos_output x = rheos_function_argument(f, "x", RHEOS_FLOAT, RHEOS_SHAPE(2));
  const rheos_output both[] = {x, x};
  const rheos_op_args args = {.type = "AddV2", .inputs = both, .num_inputs = 2};
  rheos_function_result(f, NULL,
                        rheos_operation_output(rheos_op(rheos_function_scope(f), &args), 0));
  assert_true(rheos_function_finish(f, scope));
  rheos_function_free(f);
  check(rheos_scope_finish(scope));
  rheos_scope_free(scope);
}

static rheos_status *call_double(rheos_eager *eager, rheos_tensor *x, rheos_tensor **out_y) {
  rheos_func func = {.name = {"double", 6}};
  const rheos_dtype type = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_func("f", &func), rheos_attr_types("Tout", &type, 1)};
  const rheos_eager_op op = {
      .type = "PartitionedCall", .inputs = &x, .num_inputs = 1, .attrs = attrs, .num_attrs = 2};
  return rheos_eager_execute(eager, &op, out_y, 1);
}

static int num_functions(const rheos_eager *eager) {
  const rheos_graph *graph = rheos_eager_graph(eager);
  int count = 0;
  while (rheos__library_made_at(graph, (size_t)count) != NULL) count++;
  return count;
}

static void test_eager__a_function_can_be_taken_out_and_made_anew(void **state) {
  (void)state;
  rheos_eager *eager = make_eager();
  rheos_tensor *x = values_of(RHEOS_SHAPE(2), (float[]){1, 2}), *y;
  for (int i = 0; i < 3; i++) {
    make_double(rheos_eager_graph(eager));
    rheos_tape *tape;
    check(rheos_tape_new(eager, &tape));
    check(rheos_tape_record(tape));
    check(rheos_tape_watch(tape, x));
    check(call_double(eager, x, &y));
    assert_true(at(y, 1) == 4);
    rheos_tape_stop(tape);
    check(rheos_eager_remove_function(eager, "double"));
    assert_true(num_functions(eager) > 0);  // what was recorded can still be asked
    rheos_tensor_gradient gradient;
    check(rheos_tape_gradient(tape, &y, 1, NULL, &x, 1, &gradient));
    assert_true(at(gradient.values, 0) == 2);
    rheos_tensor_unref(gradient.values);
    rheos_tape_free(tape);
    rheos_eager_sweep(eager);
    assert_int_equal(num_functions(eager), 0);
    rheos_tensor_unref(y);
    rheos_status *status = call_double(eager, x, &y);
    assert_int_equal(rheos_status_code(status), RHEOS_NOT_FOUND);
    rheos_status_free(status);
  }
  rheos_status *status = rheos_eager_remove_function(eager, "double");
  assert_int_equal(rheos_status_code(status), RHEOS_NOT_FOUND);
  rheos_status_free(status);
  rheos_tensor_unref(x);
  rheos_eager_free(eager);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_eager__an_op_runs_with_any_shapes),
      cmocka_unit_test(test_eager__outputs_are_tensors_of_their_own),
      cmocka_unit_test(test_eager__errors_leave_it_usable),
      cmocka_unit_test(test_eager__variables_are_read_written_and_differentiated),
      cmocka_unit_test(test_eager__a_function_can_be_taken_out_and_made_anew),
      cmocka_unit_test(test_tape__gradients_have_gradients),
      cmocka_unit_test(test_tape__what_is_not_watched_has_no_gradient),
      cmocka_unit_test(test_tape__the_program_may_give_gradients),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
