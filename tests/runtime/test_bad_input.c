// Bad input of every kind is a status of the right code, and graph and session stay usable after
// it.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/scope.h>
#include <rheos/session.h>
#include <rheos/train.h>

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_session *session;
  rheos_output x, doubled;  // float [2]
} fixture;

static rheos_operation op(rheos_scope *s, const char *type, const rheos_output *inputs, size_t n) {
  rheos_op_args args = {.type = type, .inputs = inputs, .num_inputs = n};
  return rheos_op(s, &args);
}

static rheos_output op_2(rheos_scope *s, const char *type, rheos_output a, rheos_output b) {
  rheos_output inputs[] = {a, b};
  return rheos_operation_output(op(s, type, inputs, 2), 0);
}

static rheos_output placeholder(rheos_scope *s, rheos_dtype dtype, const rheos_shape *shape) {
  rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", shape)};
  rheos_op_args args = {.type = "Placeholder", .attrs = attrs, .num_attrs = shape ? 2 : 1};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  if (!f) return -1;
  f->graph = rheos_graph_new();
  f->s = rheos_scope_new(f->graph);
  rheos_shape two = RHEOS_SHAPE(2);
  f->x = placeholder(f->s, RHEOS_FLOAT, &two);
  f->doubled = op_2(f->s, "Add", f->x, f->x);
  rheos_session_options options = {.num_threads = 2};
  *state = f;
  rheos_status *status = rheos_scope_finish(f->s);
  if (!status) status = rheos_session_new(f->graph, &options, &f->session);
  int failed = status != NULL;
  rheos_status_free(status);
  return failed;
}

static int tear_down(void **state) {
  fixture *f = *state;
  rheos_session_free(f->session);
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
  free(f);
  return 0;
}

static rheos_tensor *tensor(rheos_dtype dtype, rheos_shape shape) {
  rheos_tensor *t = NULL;
  rheos_status *status = rheos_tensor_new(dtype, shape, &t);
  assert_null(status);
  if (dtype != RHEOS_STRING) memset(rheos_tensor_data(t), 0, rheos_tensor_size_bytes(t));
  return t;
}

static void expect(rheos_status *status, rheos_code code, const char *part) {
  if (rheos_status_code(status) != code) {
    fail_msg("expected %s, got %s: %s", rheos_code_name(code),
             rheos_code_name(rheos_status_code(status)), rheos_status_message(status));
  }
  const char *message = rheos_status_message(status);
  if (part && !strstr(message, part)) fail_msg("'%s' does not say '%s'", message, part);
  // The facts are on one line; where the node is known, it stands on a line of its own.
  const char *end = strchr(message, '\n');
  if (end && strncmp(end, "\n\t [[node ", 10) != 0) fail_msg("more than one line: '%s'", message);
  rheos_status_free(status);
}

static void expect_scope(fixture *f, rheos_code code, const char *part) {
  expect(rheos_scope_finish(f->s), code, part);
}

static rheos_status *run(fixture *f, rheos_output fed, rheos_tensor *value, rheos_output fetched) {
  rheos_feed feed = {fed, value};
  rheos_fetch fetch = {fetched, NULL};
  rheos_status *status =
      rheos_session_run(f->session, &feed, value ? 1 : 0, &fetch, 1, NULL, 0, NULL);
  if (status) assert_null(fetch.value);
  rheos_tensor_unref(fetch.value);
  return status;
}

// The graph and the session of the fixture work, and the graph still grows.
static void expect_usable(fixture *f) {
  rheos_output more = op_2(f->s, "Mul", f->doubled, f->x);
  expect_scope(f, RHEOS_OK, NULL);
  rheos_tensor *value = tensor(RHEOS_FLOAT, RHEOS_SHAPE(2));
  ((float *)rheos_tensor_data(value))[1] = 3;
  rheos_feed feed = {f->x, value};
  rheos_fetch fetch = {more, NULL};
  expect(rheos_session_run(f->session, &feed, 1, &fetch, 1, NULL, 0, NULL), RHEOS_OK, NULL);
  assert_true(((float *)rheos_tensor_data(fetch.value))[1] == 18);
  rheos_tensor_unref(fetch.value);
  rheos_tensor_unref(value);
}

// ---- Building

static void test_bad_input__ops_that_do_not_exist(void **state) {
  fixture *f = *state;
  op(f->s, "NoSuchOp", NULL, 0);
  expect_scope(f, RHEOS_NOT_FOUND, "NoSuchOp");
  op(f->s, "", NULL, 0);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);  // not even a name for the node
  expect_usable(f);
}

static void test_bad_input__wrong_dtypes(void **state) {
  fixture *f = *state;
  rheos_output integer = rheos_constant_int(f->s, 1, NULL);
  op_2(f->s, "Add", f->x, integer);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, "int32");
  op_2(f->s, "LogicalAnd", f->x, f->x);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  rheos_output one[] = {placeholder(f->s, RHEOS_STRING, NULL)};
  op(f->s, "Tanh", one, 1);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  expect_usable(f);
}

static void test_bad_input__wrong_shapes(void **state) {
  fixture *f = *state;
  rheos_shape three = RHEOS_SHAPE(3);
  op_2(f->s, "Add", f->x, placeholder(f->s, RHEOS_FLOAT, &three));
  expect_scope(f, RHEOS_INVALID_ARGUMENT, "3");
  op_2(f->s, "MatMul", f->x, f->x);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  rheos_shape negative = RHEOS_SHAPE(2, -5);
  placeholder(f->s, RHEOS_FLOAT, &negative);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  rheos_shape deep = {.rank = 99};
  placeholder(f->s, RHEOS_FLOAT, &deep);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  expect_usable(f);
}

static void test_bad_input__wrong_names(void **state) {
  fixture *f = *state;
  const char *names[] = {"a b", "-a", "/a", "a\tb", "\xff\xfe", "a:0", "^a"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    rheos_output inputs[] = {f->x};
    rheos_op_args args = {.type = "Identity", .name = names[i], .inputs = inputs, .num_inputs = 1};
    rheos_op(f->s, &args);
    expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
    rheos_push_name_scope(f->s, names[i]);
    expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
    rheos_scope_pop(f->s);
    rheos_status_free(rheos_scope_finish(f->s));
  }
  expect_usable(f);
}

static void test_bad_input__wrong_devices(void **state) {
  fixture *f = *state;
  const char *devices[] = {"/nonsense", "/job:",           "/device:CPU:x",
                           "/cpu:-1",   "/device:CPU:0:1", "/task:99999999999999999999"};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    rheos_push_device(f->s, devices[i]);
    expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
    rheos_scope_pop(f->s);
    rheos_status_free(rheos_scope_finish(f->s));
  }
  rheos_push_device(f->s, "/device:GPU:7");
  rheos_output far = op_2(f->s, "Add", f->x, f->x);
  rheos_scope_pop(f->s);
  expect_scope(f, RHEOS_OK, NULL);
  rheos_tensor *value = tensor(RHEOS_FLOAT, RHEOS_SHAPE(2));
  expect(run(f, f->x, value, far), RHEOS_INVALID_ARGUMENT, "GPU");
  rheos_tensor_unref(value);
  expect_usable(f);
}

static void test_bad_input__attributes(void **state) {
  fixture *f = *state;
  rheos_output inputs[] = {f->x};
  rheos_attr wrong_kind = rheos_attr_string("T", "float", 5);
  rheos_attr wrong_type = rheos_attr_type("T", RHEOS_DOUBLE);
  rheos_attr no_such = rheos_attr_int("no_such_attribute", 3);
  const rheos_attr *attrs[] = {&wrong_kind, &wrong_type, &no_such};
  for (int i = 0; i < 3; i++) {
    rheos_op_args args = {
        .type = "Identity", .inputs = inputs, .num_inputs = 1, .attrs = attrs[i], .num_attrs = 1};
    rheos_op(f->s, &args);
    expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  }
  op(f->s, "Placeholder", NULL, 0);  // dtype left out
  expect_scope(f, RHEOS_INVALID_ARGUMENT, "dtype");
  op(f->s, "Identity", NULL, 0);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  rheos_output two[] = {f->x, f->x};
  op(f->s, "Identity", two, 2);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  expect_usable(f);
}

static void test_bad_input__foreign_and_odd_handles(void **state) {
  fixture *f = *state;
  rheos_graph *other = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(other);
  rheos_output foreign = placeholder(s, RHEOS_FLOAT, NULL);
  op_2(f->s, "Add", f->x, foreign);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  rheos_tensor *value = tensor(RHEOS_FLOAT, RHEOS_SHAPE(2));
  expect(run(f, f->x, value, foreign), RHEOS_INVALID_ARGUMENT, NULL);
  expect(run(f, foreign, value, f->doubled), RHEOS_INVALID_ARGUMENT, NULL);
  rheos_output odd[] = {{f->graph, 1000000, 0},
                        {f->graph, -1, 0},
                        {f->graph, f->x.id, 1},
                        {f->graph, f->x.id, -1},
                        {NULL, 0, 0}};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    op_2(f->s, "Add", f->x, odd[i]);
    expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
    expect(run(f, f->x, value, odd[i]), RHEOS_INVALID_ARGUMENT, NULL);
    expect(run(f, odd[i], value, f->doubled), RHEOS_INVALID_ARGUMENT, NULL);
  }
  rheos_operation controls[] = {{other, foreign.id}, {f->graph, 12345678}, {NULL, 0}};
  for (int i = 0; i < 3; i++) {
    rheos_push_control_dependencies(f->s, &controls[i], 1);
    rheos_constant_float(f->s, 1, NULL);
    expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
    rheos_scope_pop(f->s);
    rheos_status_free(rheos_scope_finish(f->s));
    expect(rheos_session_run(f->session, NULL, 0, NULL, 0, &controls[i], 1, NULL),
           RHEOS_INVALID_ARGUMENT, NULL);
  }
  rheos_tensor_unref(value);
  rheos_scope_free(s);
  rheos_graph_unref(other);
  expect_usable(f);
}

static void test_bad_input__scope_ignores_calls_after_an_error(void **state) {
  fixture *f = *state;
  int32_t before = rheos_graph_num_operations(f->graph);
  op(f->s, "NoSuchOp", NULL, 0);
  rheos_output y = op_2(f->s, "Add", f->x, f->x);
  assert_null(y.graph);
  assert_int_equal(rheos_graph_num_operations(f->graph), before);
  expect_scope(f, RHEOS_NOT_FOUND, "NoSuchOp");
  rheos_scope_pop(f->s);  // nothing was pushed
  rheos_status_free(rheos_scope_finish(f->s));
  expect_usable(f);
}

// ---- Running

static void test_bad_input__fetches_and_names(void **state) {
  fixture *f = *state;
  rheos_output found;
  expect(rheos_graph_output(f->graph, "no/such:0", &found), RHEOS_NOT_FOUND, "no/such");
  expect(rheos_graph_output(f->graph, "Placeholder:1", &found), RHEOS_NOT_FOUND, NULL);
  expect(rheos_graph_output(f->graph, "Placeholder:x", &found), RHEOS_INVALID_ARGUMENT, NULL);
  expect(rheos_graph_output(f->graph, "Placeholder:-1", &found), RHEOS_INVALID_ARGUMENT, NULL);
  expect(rheos_graph_output(f->graph, "Placeholder:99999999999999999999", &found),
         RHEOS_INVALID_ARGUMENT, NULL);
  expect(rheos_graph_output(f->graph, "", &found), RHEOS_INVALID_ARGUMENT, NULL);
  assert_null(rheos_graph_operation(f->graph, "no/such").graph);
  expect_usable(f);
}

static void test_bad_input__feeds(void **state) {
  fixture *f = *state;
  expect(run(f, f->x, NULL, f->doubled), RHEOS_INVALID_ARGUMENT,
         "You must feed a value for placeholder tensor 'Placeholder' with dtype float");
  rheos_tensor *wrong_shape = tensor(RHEOS_FLOAT, RHEOS_SHAPE(3));
  expect(run(f, f->x, wrong_shape, f->doubled), RHEOS_INVALID_ARGUMENT, NULL);
  rheos_tensor *wrong_dtype = tensor(RHEOS_INT32, RHEOS_SHAPE(2));
  expect(run(f, f->x, wrong_dtype, f->doubled), RHEOS_INVALID_ARGUMENT, NULL);
  rheos_tensor *scalar = tensor(RHEOS_FLOAT, RHEOS_SCALAR);
  expect(run(f, f->x, scalar, f->doubled), RHEOS_INVALID_ARGUMENT, NULL);
  rheos_tensor *strings = tensor(RHEOS_STRING, RHEOS_SHAPE(2));
  expect(run(f, f->x, strings, f->doubled), RHEOS_INVALID_ARGUMENT, NULL);
  rheos_tensor *right = tensor(RHEOS_FLOAT, RHEOS_SHAPE(2));
  rheos_feed twice[] = {{f->x, right}, {f->x, right}};
  rheos_fetch fetch = {f->doubled, NULL};
  expect(rheos_session_run(f->session, twice, 2, &fetch, 1, NULL, 0, NULL), RHEOS_INVALID_ARGUMENT,
         NULL);
  rheos_feed missing[] = {{f->x, NULL}};
  expect(rheos_session_run(f->session, missing, 1, &fetch, 1, NULL, 0, NULL),
         RHEOS_INVALID_ARGUMENT, NULL);
  rheos_tensor_unref(wrong_shape);
  rheos_tensor_unref(wrong_dtype);
  rheos_tensor_unref(scalar);
  rheos_tensor_unref(strings);
  rheos_tensor_unref(right);
  expect_usable(f);
}

static void test_bad_input__nothing_to_run(void **state) {
  fixture *f = *state;
  expect(rheos_session_run(f->session, NULL, 0, NULL, 0, NULL, 0, NULL), RHEOS_OK, NULL);
  rheos_graph *empty = rheos_graph_new();
  rheos_session *session = NULL;
  expect(rheos_session_new(empty, NULL, &session), RHEOS_OK, NULL);
  expect(rheos_session_run(session, NULL, 0, NULL, 0, NULL, 0, NULL), RHEOS_OK, NULL);
  rheos_fetch fetch = {{empty, 0, 0}, NULL};
  expect(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL), RHEOS_INVALID_ARGUMENT,
         NULL);
  rheos_session_free(session);
  rheos_graph_unref(empty);
  expect_usable(f);
}

static void test_bad_input__zero_size_tensors(void **state) {
  fixture *f = *state;
  rheos_output any = placeholder(f->s, RHEOS_FLOAT, NULL);
  rheos_output sum = op_2(f->s, "Add", any, any);
  expect_scope(f, RHEOS_OK, NULL);
  rheos_shape shapes[] = {RHEOS_SHAPE(0), RHEOS_SHAPE(0, 3), RHEOS_SHAPE(3, 0),
                          RHEOS_SHAPE(0, (int64_t)1 << 40), RHEOS_SHAPE(1, 0, 1, 0)};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    rheos_tensor *value = tensor(RHEOS_FLOAT, shapes[i]);
    expect(run(f, any, value, sum), RHEOS_OK, NULL);
    rheos_tensor_unref(value);
  }
  expect_usable(f);
}

static void test_bad_input__huge_shapes(void **state) {
  fixture *f = *state;
  int64_t huge = (int64_t)1 << 40;
  rheos_tensor *t = NULL;
  expect(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(huge, huge), &t), RHEOS_INVALID_ARGUMENT, NULL);
  assert_null(t);
  expect(rheos_tensor_new(RHEOS_DOUBLE, RHEOS_SHAPE((int64_t)1 << 62), &t), RHEOS_INVALID_ARGUMENT,
         NULL);
  expect(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(-1), &t), RHEOS_INVALID_ARGUMENT, NULL);
  expect(rheos_tensor_new(RHEOS_FLOAT, RHEOS_UNKNOWN_SHAPE, &t), RHEOS_INVALID_ARGUMENT, NULL);
  rheos_shape dims_shape = RHEOS_SHAPE(2);
  rheos_output dims = placeholder(f->s, RHEOS_INT64, &dims_shape);
  rheos_output filled = op_2(f->s, "Fill", dims, rheos_constant_float(f->s, 1, NULL));
  expect_scope(f, RHEOS_OK, NULL);
  int64_t sizes[][2] = {{huge, huge}, {huge, 1}, {-1, 2}, {INT64_MAX, INT64_MAX}, {INT64_MIN, 1}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    rheos_tensor *value = NULL;
    expect(rheos_tensor_from_values(RHEOS_INT64, dims_shape, sizes[i], &value), RHEOS_OK, NULL);
    rheos_status *status = run(f, dims, value, filled);
    rheos_code code = rheos_status_code(status);
    assert_true(code == RHEOS_INVALID_ARGUMENT || code == RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
    rheos_tensor_unref(value);
  }
  expect_usable(f);
}

static void test_bad_input__uninitialized_variables(void **state) {
  fixture *f = *state;
  rheos_output count = rheos_get_variable(f->s, "count", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  expect_scope(f, RHEOS_OK, NULL);
  expect(run(f, f->x, NULL, count), RHEOS_FAILED_PRECONDITION,
         "Attempting to use uninitialized value count");
  rheos_get_variable(f->s, "count", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  expect_scope(f, RHEOS_INVALID_ARGUMENT, "count");
  rheos_get_variable(f->s, "a b", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  rheos_get_variable(f->s, "unknown", RHEOS_FLOAT, RHEOS_SHAPE(2, -1), rheos_zeros());
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  expect_usable(f);
}

static void test_bad_input__gradients(void **state) {
  fixture *f = *state;
  rheos_gradient gradients[1];
  rheos_output none = {NULL, 0, 0};
  rheos_gradients(f->s, &none, 1, &f->x, 1, NULL, gradients);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  rheos_gradients(f->s, &f->doubled, 1, &none, 1, NULL, gradients);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  rheos_output other = rheos_constant_float(f->s, 1, NULL);
  rheos_gradients(f->s, &f->doubled, 1, &other, 1, NULL, gradients);
  expect_scope(f, RHEOS_OK, NULL);
  assert_null(gradients[0].values.graph);
  rheos_output wrong = rheos_constant_int(f->s, 1, NULL);
  rheos_gradients_options options = {.grad_ys = &wrong};
  rheos_gradients(f->s, &f->doubled, 1, &f->x, 1, &options, gradients);
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  rheos_minimize(f->s, rheos_gradient_descent(0.1), f->doubled);  // no variables
  expect_scope(f, RHEOS_INVALID_ARGUMENT, NULL);
  expect_usable(f);
}

static void test_bad_input__a_closed_session(void **state) {
  fixture *f = *state;
  rheos_session *session = NULL;
  expect(rheos_session_new(f->graph, NULL, &session), RHEOS_OK, NULL);
  rheos_session_close(session);
  rheos_session_close(session);
  expect(rheos_session_run(session, NULL, 0, NULL, 0, NULL, 0, NULL), RHEOS_FAILED_PRECONDITION,
         NULL);
  rheos_session_free(session);
  rheos_session_options options = {.target = "nowhere:1"};
  expect(rheos_session_new(f->graph, &options, &session), RHEOS_INVALID_ARGUMENT, NULL);
  assert_null(session);
  expect_usable(f);
}

static void test_bad_input__data_errors_while_running(void **state) {
  fixture *f = *state;
  rheos_output index = placeholder(f->s, RHEOS_INT32, NULL);
  rheos_output axis = rheos_constant_int(f->s, 0, NULL);
  rheos_output inputs[] = {f->x, index, axis};
  rheos_output picked = rheos_operation_output(op(f->s, "GatherV2", inputs, 3), 0);
  expect_scope(f, RHEOS_OK, NULL);
  int32_t indices[] = {2, -1, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    rheos_tensor *which = NULL, *x = tensor(RHEOS_FLOAT, RHEOS_SHAPE(2));
    expect(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &indices[i], &which), RHEOS_OK,
           NULL);
    rheos_feed feeds[] = {{f->x, x}, {index, which}};
    rheos_fetch fetches[] = {{picked, NULL}, {f->doubled, NULL}};
    rheos_status *status = rheos_session_run(f->session, feeds, 2, fetches, 2, NULL, 0, NULL);
    assert_non_null(rheos_status_node(status));
    assert_string_equal(rheos_status_node(status), "GatherV2");
    expect(status, RHEOS_INVALID_ARGUMENT, "GatherV2");
    assert_null(fetches[0].value);
    assert_null(fetches[1].value);
    rheos_tensor_unref(which);
    rheos_tensor_unref(x);
  }
  expect_usable(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_bad_input__##name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(ops_that_do_not_exist),
      TEST(wrong_dtypes),
      TEST(wrong_shapes),
      TEST(wrong_names),
      TEST(wrong_devices),
      TEST(attributes),
      TEST(foreign_and_odd_handles),
      TEST(scope_ignores_calls_after_an_error),
      TEST(fetches_and_names),
      TEST(feeds),
      TEST(nothing_to_run),
      TEST(zero_size_tensors),
      TEST(huge_shapes),
      TEST(uninitialized_variables),
      TEST(gradients),
      TEST(a_closed_session),
      TEST(data_errors_while_running),
  };
  return cmocka_run_group_tests_name("bad_input", tests, NULL, NULL);
}
