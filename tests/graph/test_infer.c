// Shape inference: shapes that are values, and how much of them is known beforehand.
#include "graph/graph_fixture.h"
#include "graph/tiny_ops.h"

#include "graph/build.h"

static rheos_output ints(rheos_scope *s, int64_t count, const int32_t *values) {
  return rheos__const_ints(s, values, count, NULL);
}
#define INTS(s, ...) \
  ints(s, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), (int32_t[]){__VA_ARGS__})

// The static shape of a value whose shape is `shape`.
static void expect_shape(rheos_scope *s, rheos_output shape, const char *expected) {
  rheos_output x = add_placeholder(s, RHEOS_FLOAT, RHEOS_UNKNOWN_SHAPE);
  assert_shape_text(rheos_output_shape(rheos__op_2(s, "Reshape", x, shape)), expected);
  assert_scope_ok(s);
}

static void expect_failure(rheos_scope *s, rheos_output shape, const char *expected) {
  rheos_output x = add_placeholder(s, RHEOS_FLOAT, RHEOS_UNKNOWN_SHAPE);
  rheos__op_2(s, "Reshape", x, shape);
  expect_error(s, RHEOS_INVALID_ARGUMENT, expected);
}

static void test_infer__constants_are_shapes(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  expect_shape(s, INTS(s, 2, 3), "[2,3]");
  expect_shape(s, INTS(s, 2, -1), "[2,?]");
  expect_shape(s, ints(s, 0, NULL), "[]");
  expect_shape(s, rheos_constant_int(s, -1, NULL), "<unknown>");
  expect_failure(s, INTS(s, 2, -3), "Dimension 1 of a shape must be >= 0");
  expect_failure(s, INTS(s, 1, 1, 1, 1, 1, 1, 1, 1, 1), "rank 9 is more than the maximum of 8");
  expect_failure(s, rheos_constant_int(s, 4, NULL), "must be a vector, got shape []");
  fixture_free(&f);
}

static void test_infer__the_length_of_a_shape_tells_the_rank(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  expect_shape(s, add_placeholder(s, RHEOS_INT32, RHEOS_SHAPE(3)), "[?,?,?]");
  expect_shape(s, add_placeholder(s, RHEOS_INT32, RHEOS_SHAPE(-1)), "<unknown>");
  expect_failure(s, add_placeholder(s, RHEOS_INT32, RHEOS_SHAPE(2, 2)), "must be a vector");
  expect_failure(s, add_placeholder(s, RHEOS_INT32, RHEOS_SHAPE(9)), "rank 9");
  fixture_free(&f);
}

static void test_infer__shapes_are_followed_through_their_parts(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = add_placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(-1, 3, 5));
  rheos_output shape = rheos__op_1(s, "Shape", x);
  expect_shape(s, shape, "[?,3,5]");
  expect_shape(s, rheos__op_1(s, "Identity", shape), "[?,3,5]");
  rheos_attr to = rheos_attr_type("DstT", RHEOS_INT64);
  expect_shape(s, output_of_op(add_op_attrs(s, "Cast", &shape, 1, &to, 1)), "[?,3,5]");
  rheos_output tail = rheos__op_3(s, "Slice", shape, INTS(s, 1), INTS(s, -1));
  expect_shape(s, tail, "[3,5]");
  rheos_output joined[] = {INTS(s, 7), tail, rheos_constant_int(s, 0, NULL)};
  expect_shape(s, output_of_op(add_op(s, "ConcatV2", NULL, joined, 3)), "[7,3,5]");
  expect_shape(s, rheos__op_2(s, "Add", tail, INTS(s, 1, 2)), "[4,7]");
  fixture_free(&f);
}

static rheos_output strided(rheos_scope *s, rheos_output x, int32_t begin, int32_t end,
                            int32_t stride, const char *mask) {
  rheos_output inputs[] = {x, INTS(s, begin), INTS(s, end), INTS(s, stride)};
  rheos_attr attr = rheos_attr_int(mask != NULL ? mask : "begin_mask", mask != NULL);
  return output_of_op(add_op_attrs(s, "StridedSlice", inputs, 4, &attr, 1));
}

static void test_infer__slices_count_as_python_does(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = add_placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(-1, 3, 5, 7));
  rheos_output shape = rheos__op_1(s, "Shape", x);
  expect_shape(s, strided(s, shape, 1, 3, 1, NULL), "[3,5]");
  expect_shape(s, strided(s, shape, -2, 100, 1, NULL), "[5,7]");
  expect_shape(s, strided(s, shape, 0, -1, 2, NULL), "[?,5]");
  expect_shape(s, strided(s, shape, 2, 3, 1, "begin_mask"), "[?,3,5]");
  expect_shape(s, strided(s, shape, 2, 0, 1, "end_mask"), "[5,7]");
  expect_shape(s, strided(s, shape, 3, 0, -1, NULL), "[7,5,3]");
  expect_shape(s, strided(s, shape, 100, 0, -2, "end_mask"), "[7,3]");
  expect_shape(s, strided(s, shape, 3, 1, 1, NULL), "[]");
  // An element, packed again
  rheos_output last = strided(s, shape, -1, 0, 1, "shrink_axis_mask");
  assert_ok(rheos_output_set_shape(last, RHEOS_SCALAR));
  rheos_output packed = rheos__op_2(s, "Pack", last, rheos_constant_int(s, 9, NULL));
  expect_shape(s, packed, "[7,9]");
  fixture_free(&f);
}

static void test_infer__deep_and_wide_programs_end(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output sum = INTS(s, 1, 1);
  for (int i = 0; i < 200; i++) sum = rheos__op_2(s, "Add", sum, sum);  // 2^200 paths
  expect_shape(s, sum, "[?,?]");
  fixture_free(&f);
}

static void test_infer__hostile_numbers_are_not_known(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_tensor *value;
  assert_ok(
      rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(2), (int64_t[]){INT64_MAX, -5}, &value));
  rheos_output huge = rheos_constant(s, value, NULL);
  rheos_tensor_unref(value);
  rheos_output identity = rheos__op_1(s, "Identity", huge);
  expect_shape(s, identity, "[9223372036854775807,?]");
  rheos_output x = add_placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(2, 3));
  rheos_output shape = rheos__op_1(s, "Shape", x);
  expect_shape(s, strided(s, shape, INT32_MIN, INT32_MAX, INT32_MAX, NULL), "[2]");
  expect_shape(s, strided(s, shape, INT32_MAX, INT32_MIN, -3, NULL), "[3]");
  strided(s, shape, 0, 1, 0, NULL);
  assert_scope_ok(s);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_infer__constants_are_shapes),
      cmocka_unit_test(test_infer__the_length_of_a_shape_tells_the_rank),
      cmocka_unit_test(test_infer__shapes_are_followed_through_their_parts),
      cmocka_unit_test(test_infer__slices_count_as_python_does),
      cmocka_unit_test(test_infer__deep_and_wide_programs_end),
      cmocka_unit_test(test_infer__hostile_numbers_are_not_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
