// The arguments of ops as structs: where their fields are, defaults that are not zero, and programs
// that were built for another version of the library.
#include <rheos/ops.h>

#include "graph/graph_fixture.h"
#include "graph/op_args.h"

static void test_op_args__structs_are_as_described(void **state) {
  (void)state;
  static const struct {
    const char *op;
    size_t size_bytes, name_offset;
  } structs[] = {
#define X(op, wrapper) \
  {#op, sizeof(rheos_##wrapper##_args), offsetof(rheos_##wrapper##_args, name)},
#include "wrappers.def"
#undef X
  };
  for (size_t i = 0; i < sizeof structs / sizeof structs[0]; i++) {
    const size_t described = rheos__op_args_bytes(rheos__signature_by_name(structs[i].op));
    if (structs[i].size_bytes != described) fail_msg("%s", structs[i].op);
    assert_int_equal(structs[i].name_offset, described - sizeof(char *));
  }
}

static rheos_attr_value attr_of(rheos_output output, const char *name) {
  return rheos_operation_attr(rheos_output_operation(output), name);
}

static void test_op_args__what_is_on_can_be_turned_off(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = add_placeholder(f.scope, RHEOS_FLOAT, RHEOS_SHAPE(3));
  rheos_output k = add_placeholder(f.scope, RHEOS_INT32, RHEOS_SCALAR);
  rheos_output usual = rheos_top_k_v2(f.scope, x, k).values;
  rheos_output unsorted = rheos_top_k_v2(f.scope, x, k, .not_sorted = true).values;
  assert_true(attr_of(usual, "sorted").b);
  assert_false(attr_of(unsorted, "sorted").b);
  fixture_free(&f);
}

static void test_op_args__zero_can_be_said(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = add_placeholder(f.scope, RHEOS_FLOAT, RHEOS_SHAPE(3));
  rheos_output usual = rheos_leaky_relu(f.scope, x);
  rheos_output zero = rheos_leaky_relu(f.scope, x, .alpha = rheos_float(0));
  rheos_output half = rheos_leaky_relu(f.scope, x, .alpha = {.value = 0.5F});
  assert_float_equal(attr_of(usual, "alpha").f, 0.2F, 0);
  assert_float_equal(attr_of(zero, "alpha").f, 0, 0);
  assert_float_equal(attr_of(half, "alpha").f, 0.5F, 0);
  rheos_output indices = add_placeholder(f.scope, RHEOS_INT32, RHEOS_SHAPE(3));
  rheos_output depth = add_placeholder(f.scope, RHEOS_INT32, RHEOS_SCALAR);
  rheos_output value = add_placeholder(f.scope, RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_output last = rheos_one_hot(f.scope, indices, depth, value, value);
  rheos_output first = rheos_one_hot(f.scope, indices, depth, value, value, .axis = rheos_int(0));
  assert_int_equal(attr_of(last, "axis").i, -1);
  assert_int_equal(attr_of(first, "axis").i, 0);
  fixture_free(&f);
}

static void test_op_args__lists_stand_in_order(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = add_placeholder(f.scope, RHEOS_FLOAT, RHEOS_SHAPE(2, 3));
  rheos_output y = add_placeholder(f.scope, RHEOS_FLOAT, RHEOS_SHAPE(4, 3));
  rheos_output axis = add_placeholder(f.scope, RHEOS_INT32, RHEOS_SCALAR);
  rheos_output joined = rheos_concat(f.scope, axis, (rheos_output[]){x, y}, 2, .name = "joined");
  rheos_operation operation = rheos_output_operation(joined);
  assert_operation_name(operation, "joined");
  assert_int_equal(rheos_operation_num_inputs(operation), 3);
  assert_int_equal(rheos_operation_input(operation, 0).id, axis.id);
  assert_int_equal(rheos_operation_input(operation, 2).id, y.id);
  fixture_free(&f);
}

static void test_op_args__fields_of_a_newer_version_must_be_zero(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  struct {
    rheos_leaky_relu_args known;
    bool not_known;
  } args = {.known.features = add_placeholder(f.scope, RHEOS_FLOAT, RHEOS_SHAPE(3))};
  memset(&args.not_known, 0, sizeof args - sizeof args.known);
  assert_non_null(rheos_op_from_struct(f.scope, "LeakyRelu", &args, sizeof args).graph);
  assert_scope_ok(f.scope);
  args.not_known = true;
  assert_null(rheos_op_from_struct(f.scope, "LeakyRelu", &args, sizeof args).graph);
  expect_error(f.scope, RHEOS_FAILED_PRECONDITION, "LeakyRelu sets a field");
  assert_null(rheos_op_from_struct(f.scope, "NoSuchOp", &args, sizeof args).graph);
  expect_error(f.scope, RHEOS_NOT_FOUND, "NoSuchOp");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_op_args__structs_are_as_described),
      cmocka_unit_test(test_op_args__what_is_on_can_be_turned_off),
      cmocka_unit_test(test_op_args__zero_can_be_said),
      cmocka_unit_test(test_op_args__lists_stand_in_order),
      cmocka_unit_test(test_op_args__fields_of_a_newer_version_must_be_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
