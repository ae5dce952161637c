// Variables: names, sharing, collections, initial values, and the errors TensorFlow gives.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rheos/front_end.h>
#include <rheos/rheos.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
} fixture;

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

static void assert_fine(rheos_scope *s) {
  rheos_status *status = rheos_scope_finish(s);
  if (status != NULL) fprintf(stderr, "%s\n", rheos_status_message(status));
  assert_null(status);
}

static void assert_fails(rheos_scope *s, const char *part) {
  rheos_status *status = rheos_scope_finish(s);
  assert_non_null(status);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  if (strstr(rheos_status_message(status), part) == NULL) {
    fprintf(stderr, "'%s' lacks '%s'\n", rheos_status_message(status), part);
    fail();
  }
  rheos_status_free(status);
}

static void assert_name(rheos_output output, const char *want) {
  char name[128];
  rheos_operation_name(rheos_output_operation(output), name, sizeof(name));
  assert_string_equal(name, want);
}

static rheos_variable get(rheos_scope *s, const char *name, rheos_dtype dtype, rheos_shape shape) {
  return rheos_get_variable_record(s, name, dtype, shape, rheos_zeros(), true);
}

static rheos_tensor *run(rheos_session *session, rheos_output output) {
  rheos_fetch fetch = {.output = output};
  rheos_status *status = rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  if (status != NULL) fprintf(stderr, "%s\n", rheos_status_message(status));
  assert_null(status);
  return fetch.value;
}

static void test_variable__has_the_nodes_of_tensorflow(void **state) {
  fixture *f = *state;
  rheos_variable v = get(f->s, "v", RHEOS_FLOAT, RHEOS_SHAPE(2));
  assert_fine(f->s);
  assert_name(v.handle, "v");
  assert_name(v.value, "v/read");
  assert_name(rheos_operation_output(v.initializer, 0), "v/Assign");
  assert_name(v.initial_value, "v/Initializer/zeros");
  assert_int_equal(rheos_output_dtype(v.handle), RHEOS_FLOAT + RHEOS_REF);
  assert_int_equal(rheos_output_dtype(v.value), RHEOS_FLOAT);
  assert_int_equal(rheos_graph_num_variables(f->graph), 1);
  assert_int_equal(rheos_variable_of(v.handle).index, v.index);
  assert_int_equal(rheos_variable_of(v.value).index, v.index);
  assert_null(rheos_variable_of(v.initial_value).graph);
  assert_null(rheos_graph_variable(f->graph, 1).graph);
}

static void test_variable__joins_its_collections(void **state) {
  fixture *f = *state;
  get(f->s, "a", RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_get_variable_record(f->s, "b", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros(), false);
  rheos_output one = rheos_constant_float(f->s, 1, NULL);
  rheos_variable_new(f->s, one, &(rheos_variable_options){.is_local = true});
  rheos_variable_new(f->s, one, &(rheos_variable_options){.no_collections = true});
  assert_fine(f->s);
  const char *all = RHEOS_COLLECTION_GLOBAL_VARIABLES;
  assert_int_equal(rheos_graph_collection_size(f->graph, all), 2);
  assert_int_equal(rheos_graph_collection_size(f->graph, RHEOS_COLLECTION_TRAINABLE_VARIABLES), 2);
  assert_int_equal(rheos_graph_collection_size(f->graph, RHEOS_COLLECTION_LOCAL_VARIABLES), 1);
  rheos_variable *variables = NULL;
  assert_int_equal(rheos_graph_collect_variables(f->graph, all, &variables), 2);
  assert_name(variables[1].handle, "b");
  rheos_free(variables);
}

static void test_variable__own_names_are_made_unique(void **state) {
  fixture *f = *state;
  rheos_output one = rheos_constant_float(f->s, 1, NULL);
  rheos_push_name_scope(f->s, "outer");
  assert_name(rheos_variable_new(f->s, one, NULL).handle, "outer/Variable");
  assert_name(rheos_variable_new(f->s, one, NULL).value, "outer/Variable_1/read");
  rheos_scope_pop(f->s);
  assert_name(rheos_variable_new(f->s, one, &(rheos_variable_options){.name = "v"}).handle, "v");
  assert_name(rheos_variable_new(f->s, one, &(rheos_variable_options){.name = "at/w/"}).handle,
              "at/w");
  assert_fine(f->s);
}

static void test_variable__shared_names_follow_variable_scopes(void **state) {
  fixture *f = *state;
  rheos_push_name_scope(f->s, "ignored");
  rheos_push_variable_scope(f->s, "layer", RHEOS_REUSE_INHERIT);
  rheos_push_variable_scope(f->s, "inner", RHEOS_REUSE_INHERIT);
  rheos_variable v = get(f->s, "v", RHEOS_FLOAT, RHEOS_SCALAR);
  assert_name(v.handle, "layer/inner/v");
  char name[64];
  rheos_scope_name(f->s, name, sizeof(name));
  assert_string_equal(name, "ignored/layer/inner");
  rheos_scope_pop(f->s);
  rheos_scope_pop(f->s);
  rheos_scope_name(f->s, name, sizeof(name));
  assert_string_equal(name, "ignored");
  rheos_push_variable_scope(f->s, "layer/inner", RHEOS_REUSE_YES);
  assert_int_equal(get(f->s, "v", RHEOS_FLOAT, RHEOS_SCALAR).index, v.index);
  rheos_push_variable_scope(f->s, "", RHEOS_REUSE_NO);  // reuse cannot be taken back
  assert_int_equal(get(f->s, "v", RHEOS_FLOAT, RHEOS_SCALAR).index, v.index);
  rheos_scope_pop(f->s);
  rheos_scope_pop(f->s);
  rheos_scope_pop(f->s);
  assert_fine(f->s);
  assert_int_equal(rheos_graph_num_variables(f->graph), 1);
}

static void test_variable__auto_reuse_makes_then_finds(void **state) {
  fixture *f = *state;
  rheos_push_variable_scope(f->s, "a", RHEOS_REUSE_AUTO);
  rheos_variable first = get(f->s, "v", RHEOS_FLOAT, RHEOS_SHAPE(3));
  assert_int_equal(get(f->s, "v", RHEOS_FLOAT, RHEOS_SHAPE(3)).index, first.index);
  assert_int_equal(get(f->s, "v", RHEOS_FLOAT, RHEOS_UNKNOWN_SHAPE).index, first.index);
  assert_fine(f->s);
  get(f->s, "v", RHEOS_FLOAT, RHEOS_SHAPE(4));
  assert_fails(f->s,
               "Trying to share variable a/v, but specified shape (4,) and found shape (3,).");
  get(f->s, "v", RHEOS_DOUBLE, RHEOS_SHAPE(3));
  assert_fails(f->s,
               "Trying to share variable a/v, but specified dtype float64 and found dtype "
               "float32_ref.");
}

static void test_variable__made_twice_names_the_first_line(void **state) {
  fixture *f = *state;
  const int first_line = __LINE__ + 1;
  rheos_get_variable(f->s, "v", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  rheos_get_variable(f->s, "v", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  char where[512];
  snprintf(where, sizeof(where),
           "Variable v already exists, disallowed. Did you mean to push its variable scope with "
           "RHEOS_REUSE_YES or RHEOS_REUSE_AUTO? Originally defined at: %s:%d",
           __FILE__, first_line);
  assert_fails(f->s, where);
}

static void test_variable__reuse_wants_it_to_exist(void **state) {
  fixture *f = *state;
  rheos_push_variable_scope(f->s, "a", RHEOS_REUSE_YES);
  get(f->s, "v", RHEOS_FLOAT, RHEOS_SCALAR);
  assert_fails(f->s,
               "Variable a/v does not exist, or was not created with rheos_get_variable(). Did "
               "you mean to push its variable scope with RHEOS_REUSE_AUTO?");
}

static void test_variable__refuses_what_cannot_be_stored(void **state) {
  fixture *f = *state;
  get(f->s, "v", RHEOS_FLOAT, RHEOS_SHAPE(2, -1));
  assert_fails(f->s, "Shape of a new variable (v) must be fully defined, but instead was (2, ?).");
  rheos_get_variable(f->s, "v", RHEOS_INT32, RHEOS_SHAPE(2), rheos_glorot_normal_initializer());
  assert_fails(f->s, "has DataType int32 not in list of allowed values");
  rheos_get_variable(f->s, "", RHEOS_INT32, RHEOS_SHAPE(2), rheos_zeros());
  assert_fails(f->s, "a variable needs a name");
  rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  rheos_operation unknown =
      rheos_op(f->s, &(rheos_op_args){.type = "Placeholder", .attrs = &dtype, .num_attrs = 1});
  rheos_variable_new(f->s, rheos_operation_output(unknown, 0), NULL);
  assert_fails(f->s,
               "initial_value must have a shape specified: Tensor(\"Placeholder:0\", "
               "dtype=float32)");
  // After every error the scope goes on.
  get(f->s, "v", RHEOS_FLOAT, RHEOS_SHAPE(2));
  assert_fine(f->s);
}

static void test_variable__is_initialized_by_the_initializer(void **state) {
  fixture *f = *state;
  rheos_variable a = rheos_get_variable_record(f->s, "a", RHEOS_FLOAT, RHEOS_SHAPE(2),
                                               rheos_constant_initializer(2.5), true);
  rheos_variable b =
      rheos_get_variable_record(f->s, "b", RHEOS_INT64, RHEOS_SHAPE(2000), rheos_ones(), true);
  rheos_variable c = rheos_get_variable_record(f->s, "c", RHEOS_DOUBLE, RHEOS_SHAPE(50, 30),
                                               rheos_random_uniform_initializer(-1, 3), true);
  rheos_operation init = rheos_global_variables_initializer(f->s);
  assert_fine(f->s);
  rheos_session *session = NULL;
  assert_null(rheos_session_new(f->graph, NULL, &session));
  rheos_fetch fetch = {.output = a.value};
  rheos_status *status = rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  assert_int_equal(rheos_status_code(status), RHEOS_FAILED_PRECONDITION);
  assert_non_null(strstr(rheos_status_message(status), "Attempting to use uninitialized value a"));
  rheos_status_free(status);
  assert_null(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  rheos_tensor *value = run(session, a.value);
  assert_true(((float *)rheos_tensor_data(value))[1] == 2.5f);
  rheos_tensor_unref(value);
  value = run(session, b.value);
  assert_int_equal(((int64_t *)rheos_tensor_data(value))[1999], 1);
  rheos_tensor_unref(value);
  value = run(session, c.value);
  double least = 9, most = -9;
  for (int i = 0; i < 1500; i++) {
    double x = ((double *)rheos_tensor_data(value))[i];
    least = x < least ? x : least;
    most = x > most ? x : most;
  }
  assert_true(least >= -1 && least < -0.9 && most < 3 && most > 2.9);
  rheos_tensor_unref(value);
  rheos_session_free(session);
}

// A file's graph has the nodes; the variable is made of them, and found again.
static void test_variable__is_made_of_nodes_that_are_there(void **state) {
  fixture *f = *state;
  float value = 2.5f;
  rheos_tensor *tensor = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &tensor));
  rheos_shape scalar = RHEOS_SCALAR;
  rheos_attr attrs[] = {rheos_attr_shape("shape", &scalar), rheos_attr_type("dtype", RHEOS_FLOAT)};
  rheos_operation node =
      rheos_op(f->s, &(rheos_op_args){.type = "VariableV2", .attrs = attrs, .num_attrs = 2});
  rheos_output handle = rheos_operation_output(node, 0);
  rheos_output initial = rheos_constant(f->s, tensor, NULL);
  rheos_tensor_unref(tensor);
  rheos_output assign[] = {handle, initial};
  rheos_variable nodes = {
      .handle = handle,
      .initial_value = initial,
      .initializer =
          rheos_op(f->s, &(rheos_op_args){.type = "Assign", .inputs = assign, .num_inputs = 2}),
      .value = rheos_operation_output(
          rheos_op(f->s, &(rheos_op_args){.type = "Identity", .inputs = &handle, .num_inputs = 1}),
          0),
      .trainable = true};
  const rheos_variable made = rheos_variable_from_nodes(f->s, nodes);
  assert_fine(f->s);
  assert_int_equal(rheos_variable_from_nodes(f->s, nodes).index, made.index);
  assert_int_equal(rheos_variable_of(handle).index, made.index);
  assert_int_equal(rheos_graph_num_variables(f->graph), 1);
  rheos_session *session = NULL;
  assert_null(rheos_session_new(f->graph, NULL, &session));
  assert_null(rheos_session_run(session, NULL, 0, NULL, 0, &made.initializer, 1, NULL));
  tensor = run(session, made.value);
  assert_true(*(float *)rheos_tensor_data(tensor) == 2.5f);
  rheos_tensor_unref(tensor);
  rheos_session_free(session);
  nodes.handle = initial;
  rheos_variable_from_nodes(f->s, nodes);
  assert_fails(f->s, "a variable is a reference or a resource, not a float");
  nodes.handle = (rheos_output){0};
  rheos_variable_from_nodes(f->s, nodes);
  assert_fails(f->s, "a variable's nodes[0] is no tensor");
}

static void test_variable__texts_are_not_filled_with_numbers(void **state) {
  rheos_scope *s = ((fixture *)*state)->s;
  rheos_get_variable(s, "empty", RHEOS_STRING, RHEOS_SHAPE(2), rheos_zeros());
  assert_fine(s);
  const rheos_initializer numbers[] = {rheos_ones(), rheos_constant_initializer(3),
                                       rheos_random_uniform_initializer(0, 1)};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    rheos_get_variable(s, "text", RHEOS_STRING, RHEOS_SHAPE(2), numbers[i]);
    assert_fails(s, "string");
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_variable__has_the_nodes_of_tensorflow),
      TEST(test_variable__joins_its_collections),
      TEST(test_variable__own_names_are_made_unique),
      TEST(test_variable__shared_names_follow_variable_scopes),
      TEST(test_variable__auto_reuse_makes_then_finds),
      TEST(test_variable__made_twice_names_the_first_line),
      TEST(test_variable__reuse_wants_it_to_exist),
      TEST(test_variable__refuses_what_cannot_be_stored),
      TEST(test_variable__is_initialized_by_the_initializer),
      TEST(test_variable__is_made_of_nodes_that_are_there),
      TEST(test_variable__texts_are_not_filled_with_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
