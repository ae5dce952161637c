// Variables in programs of several nodes: what temporaries hold, what handles tell about shapes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rheos/rheos.h>

static rheos_operation add(rheos_scope *s, const char *type, const rheos_output *inputs,
                           size_t num_inputs, const rheos_attr *attrs, size_t num_attrs) {
  rheos_op_args args = {.type = type,
                        .inputs = inputs,
                        .num_inputs = num_inputs,
                        .attrs = attrs,
                        .num_attrs = num_attrs};
  return rheos_op(s, &args);
}

static rheos_output add_1(rheos_scope *s, const char *type, const rheos_output *inputs,
                          size_t num_inputs, const rheos_attr *attrs, size_t num_attrs) {
  return rheos_operation_output(add(s, type, inputs, num_inputs, attrs, num_attrs), 0);
}

static rheos_output pair(rheos_scope *s, float a, float b) {
  float values[] = {a, b};
  rheos_tensor *tensor = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(2), values, &tensor));
  rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_session *session;
} fixture;

static int set_up(void **state) {
  static fixture f;
  f = (fixture){.graph = rheos_graph_new()};
  f.s = rheos_scope_new(f.graph);
  assert_null(rheos_session_new(f.graph, NULL, &f.session));
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  rheos_session_free(f->session);
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
  return 0;
}

static rheos_code code_of_run(fixture *f, rheos_output output, rheos_tensor **out_value) {
  rheos_fetch fetch = {output, NULL};
  rheos_status *status = rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  rheos_code code = rheos_status_code(status);
  rheos_status_free(status);
  *out_value = fetch.value;
  return code;
}

// assign, add, take: TensorFlow's way to sum up in place.
static rheos_output add_temporary(rheos_scope *s, const char *taken_name) {
  rheos_shape shape = RHEOS_SHAPE(2);
  rheos_attr made[] = {rheos_attr_shape("shape", &shape), rheos_attr_type("dtype", RHEOS_FLOAT),
                       rheos_attr_string("var_name", "sum", 3)};
  rheos_output variable = add_1(s, "TemporaryVariable", NULL, 0, made, 3);
  rheos_output set[] = {variable, pair(s, 1, 2)};
  rheos_output assigned = add_1(s, "Assign", set, 2, NULL, 0);
  rheos_output more[] = {assigned, pair(s, 10, 20)};
  rheos_output sum = add_1(s, "AssignAdd", more, 2, NULL, 0);
  rheos_attr taken = rheos_attr_string("var_name", taken_name, 3);
  return add_1(s, "DestroyTemporaryVariable", &sum, 1, &taken, 1);
}

static void test_temporary_variable__gives_its_value_once_a_step(void **state) {
  fixture *f = *state;
  rheos_output sum = add_temporary(f->s, "sum");
  assert_null(rheos_scope_finish(f->s));
  for (int step = 0; step < 2; step++) {
    rheos_tensor *value = NULL;
    assert_int_equal(code_of_run(f, sum, &value), RHEOS_OK);
    assert_float_equal(((const float *)rheos_tensor_data(value))[0], 11, 0);
    assert_float_equal(((const float *)rheos_tensor_data(value))[1], 22, 0);
    rheos_tensor_unref(value);
  }
}

// Two of one name in a step, as a sum; with the second made after the first is destroyed, or not.
static rheos_output add_two_temporaries(rheos_scope *s, bool in_turn) {
  rheos_output first = add_temporary(s, "sum"), second;
  if (in_turn) {
    const rheos_operation before = {first.graph, first.id};
    rheos_push_control_dependencies(s, &before, 1);
    second = add_temporary(s, "sum");
    rheos_scope_pop(s);
  } else {
    second = add_temporary(s, "sum");
  }
  rheos_output both[] = {first, second};
  return add_1(s, "Add", both, 2, NULL, 0);
}

static void test_temporary_variable__is_made_once_a_step(void **state) {
  fixture *f = *state;
  rheos_output sum = add_two_temporaries(f->s, false);
  rheos_tensor *value = NULL;
  assert_null(rheos_scope_finish(f->s));
  for (int step = 0; step < 2; step++) {
    assert_int_equal(code_of_run(f, sum, &value), RHEOS_ALREADY_EXISTS);
  }
}

static void test_temporary_variable__is_made_again_once_destroyed(void **state) {
  fixture *f = *state;
  rheos_output sum = add_two_temporaries(f->s, true);
  rheos_tensor *value = NULL;
  assert_null(rheos_scope_finish(f->s));
  assert_int_equal(code_of_run(f, sum, &value), RHEOS_OK);
  assert_float_equal(((const float *)rheos_tensor_data(value))[0], 22, 0);
  rheos_tensor_unref(value);
}

// Nothing destroys it here: the next step starts with zeros again.
static void test_temporary_variable__is_new_in_each_step(void **state) {
  fixture *f = *state;
  rheos_shape shape = RHEOS_SHAPE(2);
  rheos_attr made[] = {rheos_attr_shape("shape", &shape), rheos_attr_type("dtype", RHEOS_FLOAT)};
  rheos_output more[] = {add_1(f->s, "TemporaryVariable", NULL, 0, made, 2), pair(f->s, 1, 2)};
  rheos_output sum = add_1(f->s, "AssignAdd", more, 2, NULL, 0);
  assert_null(rheos_scope_finish(f->s));
  for (int step = 0; step < 2; step++) {
    rheos_tensor *value = NULL;
    assert_int_equal(code_of_run(f, sum, &value), RHEOS_OK);
    assert_float_equal(((const float *)rheos_tensor_data(value))[1], 2, 0);
    rheos_tensor_unref(value);
  }
}

static void test_temporary_variable__is_taken_by_its_name(void **state) {
  fixture *f = *state;
  rheos_output sum = add_temporary(f->s, "mus");
  rheos_tensor *value = NULL;
  assert_null(rheos_scope_finish(f->s));
  assert_int_equal(code_of_run(f, sum, &value), RHEOS_NOT_FOUND);
}

static rheos_output add_handle(rheos_scope *s, rheos_shape shape) {
  rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT), rheos_attr_shape("shape", &shape),
                        rheos_attr_string("shared_name", "v", 1)};
  return add_1(s, "VarHandleOp", NULL, 0, attrs, 3);
}

static rheos_output add_read(rheos_scope *s, rheos_output handle) {
  rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  return add_1(s, "ReadVariableOp", &handle, 1, &dtype, 1);
}

static void test_handle__tells_the_shape_through_identity(void **state) {
  fixture *f = *state;
  rheos_output handle = add_handle(f->s, RHEOS_SHAPE(2, -1));
  for (int i = 0; i < 3; i++) handle = add_1(f->s, "Identity", &handle, 1, NULL, 0);
  rheos_shape shape = rheos_output_shape(add_read(f->s, handle));
  assert_null(rheos_scope_finish(f->s));
  assert_true(rheos_shape_equal(&shape, &RHEOS_SHAPE(2, -1)));
}

static void test_handle__refuses_a_value_of_another_shape(void **state) {
  fixture *f = *state;
  rheos_output wrong[] = {add_handle(f->s, RHEOS_SHAPE(3)), pair(f->s, 1, 2)};
  add(f->s, "AssignVariableOp", wrong, 2, NULL, 0);
  rheos_status *status = rheos_scope_finish(f->s);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
}

// Two handles of one variable may declare different shapes: reading is where it shows.
static void test_handle__reading_checks_the_declared_shape(void **state) {
  fixture *f = *state;
  rheos_output set[] = {add_handle(f->s, RHEOS_SHAPE(2)), pair(f->s, 1, 2)};
  rheos_operation assign = add(f->s, "AssignVariableOp", set, 2, NULL, 0);
  rheos_output good = add_read(f->s, set[0]);
  rheos_output bad = add_read(f->s, add_handle(f->s, RHEOS_SHAPE(3)));
  rheos_tensor *value = NULL;
  assert_null(rheos_scope_finish(f->s));
  assert_null(rheos_session_run(f->session, NULL, 0, NULL, 0, &assign, 1, NULL));
  assert_int_equal(code_of_run(f, good, &value), RHEOS_OK);
  rheos_tensor_unref(value);
  assert_int_equal(code_of_run(f, bad, &value), RHEOS_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_temporary_variable__gives_its_value_once_a_step, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_temporary_variable__is_made_once_a_step, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_temporary_variable__is_made_again_once_destroyed, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_temporary_variable__is_new_in_each_step, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_temporary_variable__is_taken_by_its_name, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_handle__tells_the_shape_through_identity, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_handle__refuses_a_value_of_another_shape, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_handle__reading_checks_the_declared_shape, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests_name("variable", tests, NULL, NULL);
}
