// Static shapes that follow from what the graph tells of values, as TensorFlow computes them: files
// made by old versions have constants in fewer places, and hold nodes that were never run.
#include "ops/array_fixture.h"

#define IN(...) ((const rheos_output[]){__VA_ARGS__})
#define INTS(...) ((const int32_t[]){__VA_ARGS__})

static rheos_output unknown(fixture *f, rheos_dtype dtype, rheos_shape shape) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &shape)};
  return rheos_operation_output(add(f, "Placeholder", NULL, 0, attrs, 2), 0);
}

static rheos_output first(rheos_operation op) { return rheos_operation_output(op, 0); }

static void expect_shape(fixture *f, rheos_output output, const char *expected) {
  check(rheos_scope_finish(f->scope));
  char text[64];
  rheos_shape shape = rheos_output_shape(output);
  rheos_shape_format(&shape, text, sizeof text);
  assert_string_equal(text, expected);
}

// The shape of the sum of a [4,5] over the axes that `a`, or `b`, is repeated in.
static void expect_sum(fixture *f, rheos_output a, rheos_output b, int32_t of,
                       const char *expected) {
  rheos_operation axes = add(f, "BroadcastGradientArgs", IN(a, b), 2, NULL, 0);
  rheos_output x = unknown(f, RHEOS_FLOAT, RHEOS_SHAPE(4, 5));
  expect_shape(f, first(add(f, "Sum", IN(x, rheos_operation_output(axes, of)), 2, NULL, 0)),
               expected);
}

static void test_inferred_shapes__of_gradients_of_what_is_broadcast(void **state) {
  fixture *f = *state;
  rheos_output matrix = ints(f, RHEOS_SHAPE(2), INTS(4, 5));
  rheos_output row = ints(f, RHEOS_SHAPE(2), INTS(1, 5)), one = ints(f, RHEOS_SHAPE(1), INTS(1));
  rheos_output none = ints(f, RHEOS_SHAPE(0), INTS(0));
  expect_sum(f, matrix, ints(f, RHEOS_SHAPE(1), INTS(5)), 0, "[4,5]");
  expect_sum(f, matrix, ints(f, RHEOS_SHAPE(1), INTS(5)), 1, "[5]");
  expect_sum(f, matrix, ints(f, RHEOS_SHAPE(2), INTS(4, 1)), 1, "[4]");
  expect_sum(f, row, one, 0, "[5]");  // both are 1 there
  expect_sum(f, row, row, 0, "[4,5]");
  expect_sum(f, none, matrix, 0, "[]");
  expect_sum(f, none, matrix, 1, "[4,5]");
  expect_sum(f, matrix, ints(f, RHEOS_SHAPE(2), INTS(4, 3)), 1, "<unknown>");
  rheos_output x = unknown(f, RHEOS_FLOAT, RHEOS_SHAPE(-1, 5));
  rheos_output shape = first(add(f, "Shape", IN(x), 1, NULL, 0));
  expect_sum(f, shape, ints(f, RHEOS_SHAPE(1), INTS(5)), 1, "<unknown>");
}

static void test_inferred_shapes__a_stitch_is_as_long_as_its_indices_say(void **state) {
  fixture *f = *state;
  rheos_output range =
      first(add(f, "Range", IN(int_scalar(f, 0), int_scalar(f, 3), int_scalar(f, 1)), 3, NULL, 0));
  rheos_output numbers = ints(f, RHEOS_SHAPE(2), INTS(2, 3));
  rheos_output by = ints(f, RHEOS_SHAPE(2), INTS(3, 5));
  rheos_output three = ints(f, RHEOS_SHAPE(3), INTS(1, 2, 3));
  rheos_output axes = first(add(f, "FloorMod", IN(numbers, by), 2, NULL, 0));
  expect_shape(f, first(add(f, "DynamicStitch", IN(range, axes, three, by), 4, NULL, 0)), "[4]");
  rheos_output fed = unknown(f, RHEOS_INT32, RHEOS_SHAPE(3));
  expect_shape(f, first(add(f, "DynamicStitch", IN(fed, axes, three, by), 4, NULL, 0)), "[?]");
}

static void test_inferred_shapes__a_slice_needs_only_where_each_dimension_begins(void **state) {
  fixture *f = *state;
  rheos_output x = unknown(f, RHEOS_FLOAT, RHEOS_SHAPE(7, 5));
  rheos_output at = unknown(f, RHEOS_INT32, RHEOS_SCALAR);
  rheos_output begin = first(add(f, "Pack", IN(at, int_scalar(f, 2)), 2, NULL, 0));
  rheos_output rest = ints(f, RHEOS_SHAPE(2), INTS(-1, -1));
  expect_shape(f, first(add(f, "Slice", IN(x, begin, rest), 3, NULL, 0)), "[?,3]");
  add(f, "Slice", IN(x, begin, ints(f, RHEOS_SHAPE(2), INTS(-1, 4))), 3, NULL, 0);
  expect_error(rheos_scope_finish(f->scope), RHEOS_INVALID_ARGUMENT,
               "Expected size[1] in [0, 3], but got 4");
}

static void test_inferred_shapes__the_index_within_a_vector_is_a_scalar(void **state) {
  fixture *f = *state;
  rheos_output x = unknown(f, RHEOS_FLOAT, RHEOS_SHAPE(5));
  // There is no dimension 1, which only a step that needs it says.
  rheos_operation index = add(f, "ArgMax", IN(x, int_scalar(f, 1)), 2, NULL, 0);
  expect_shape(f, first(index), "[]");
  expect_shape(f, first(add(f, "ArgMin", IN(x, int_scalar(f, -1)), 2, NULL, 0)), "[]");
  fed v = {.count = 0};
  const float five[] = {0, 1, 2, 3, 4};
  v.feeds[v.count++].output = x;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(5), five, &v.feeds[0].value));
  rheos_tensor *out = NULL;
  expect_error(run_output(f, index, 0, &v, &out), RHEOS_INVALID_ARGUMENT,
               "Expected dimension in the range [-1, 1), but got 1");
  free_feeds(&v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_inferred_shapes__of_gradients_of_what_is_broadcast),
      TEST(test_inferred_shapes__a_stitch_is_as_long_as_its_indices_say),
      TEST(test_inferred_shapes__a_slice_needs_only_where_each_dimension_begins),
      TEST(test_inferred_shapes__the_index_within_a_vector_is_a_scalar),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
