// Programs over tensor arrays, stacks and lists: gradients against differences, and handles as
// values.
#include "ops/array_fixture.h"

enum { SIZE = 6 };

// A program: from x, a vector of six doubles, to a tensor whose squares are summed up.
typedef rheos_output (*program)(fixture *f, rheos_output x);

static rheos_output node(fixture *f, const char *type, const rheos_output *inputs, size_t count,
                         const rheos_attr *attrs, size_t num_attrs) {
  return rheos_operation_output(add(f, type, inputs, count, attrs, num_attrs), 0);
}

static rheos_operation new_array(fixture *f, int32_t size, bool clears) {
  const rheos_output inputs[] = {int_scalar(f, size)};
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_DOUBLE),
                              rheos_attr_bool("clear_after_read", clears)};
  return add(f, "TensorArrayV3", inputs, 1, attrs, 2);
}

static rheos_output read_at(fixture *f, rheos_output handle, int32_t index, rheos_output flow) {
  const rheos_output inputs[] = {handle, int_scalar(f, index), flow};
  const rheos_attr attr = rheos_attr_type("dtype", RHEOS_DOUBLE);
  return node(f, "TensorArrayReadV3", inputs, 3, &attr, 1);
}

static rheos_output square(fixture *f, rheos_output x) { return node(f, "Square", &x, 1, NULL, 0); }

static rheos_output product(fixture *f, rheos_output x, rheos_output y) {
  const rheos_output inputs[] = {x, y};
  return node(f, "Mul", inputs, 2, NULL, 0);
}

// Scattered, two elements read, one of them twice, and their products written to another array.
static rheos_output read_and_write(fixture *f, rheos_output x) {
  const rheos_operation from = new_array(f, SIZE, false), to = new_array(f, 2, true);
  const int32_t all[] = {5, 4, 3, 2, 1, 0}, both[] = {1, 0};
  const rheos_output handle = rheos_operation_output(from, 0), into = rheos_operation_output(to, 0);
  const rheos_output scattered[] = {handle, ints(f, RHEOS_SHAPE(SIZE), all), x,
                                    rheos_operation_output(from, 1)};
  const rheos_output flow = node(f, "TensorArrayScatterV3", scattered, 4, NULL, 0);
  const rheos_output a = read_at(f, handle, 1, flow), b = read_at(f, handle, 1, flow);
  const rheos_output c = read_at(f, handle, 4, flow);
  const rheos_output first[] = {into, int_scalar(f, 0), product(f, a, square(f, b)),
                                rheos_operation_output(to, 1)};
  const rheos_output written = node(f, "TensorArrayWriteV3", first, 4, NULL, 0);
  const rheos_output second[] = {into, int_scalar(f, 1), product(f, b, c), written};
  const rheos_output done = node(f, "TensorArrayWriteV3", second, 4, NULL, 0);
  const rheos_output gathered[] = {into, ints(f, RHEOS_SHAPE(2), both), done};
  const rheos_attr attr = rheos_attr_type("dtype", RHEOS_DOUBLE);
  return node(f, "TensorArrayGatherV3", gathered, 3, &attr, 1);
}

static rheos_output split_and_concat(fixture *f, rheos_output x) {
  const rheos_operation array = new_array(f, 3, true);
  const int64_t lengths[] = {1, 3, 2};
  const rheos_output handle = rheos_operation_output(array, 0);
  const rheos_output split[] = {handle, square(f, x),
                                constant(f, RHEOS_INT64, RHEOS_SHAPE(3), lengths),
                                rheos_operation_output(array, 1)};
  const rheos_output concat[] = {handle, node(f, "TensorArraySplitV3", split, 4, NULL, 0)};
  const rheos_attr attr = rheos_attr_type("dtype", RHEOS_DOUBLE);
  return node(f, "TensorArrayConcatV3", concat, 2, &attr, 1);
}

static const rheos_attr element_dtype[] = {
    {"element_dtype", {.kind = RHEOS_ATTR_TYPE, .type = RHEOS_DOUBLE}}};

static rheos_output list_node(fixture *f, const char *type, const rheos_output *inputs,
                              size_t count) {
  return node(f, type, inputs, count, element_dtype, 1);
}

static rheos_output list_of(fixture *f, rheos_output x) {
  const rheos_output inputs[] = {x, int_scalar(f, -1)};
  return node(f, "TensorListFromTensor", inputs, 2, NULL, 0);
}

static rheos_output item_of(fixture *f, rheos_output list, int32_t index) {
  const rheos_output inputs[] = {list, int_scalar(f, index), int_scalar(f, -1)};
  return list_node(f, "TensorListGetItem", inputs, 3);
}

// The list is read before and after it is changed, so gradients of two lists are summed up.
static rheos_output get_and_set(fixture *f, rheos_output x) {
  const rheos_output list = list_of(f, x), a = item_of(f, list, 2);
  const rheos_output set[] = {list, int_scalar(f, 4), square(f, a)};
  const rheos_output changed = list_node(f, "TensorListSetItem", set, 3);
  const rheos_output pushed[] = {changed, product(f, item_of(f, changed, 4), item_of(f, list, 4))};
  const rheos_output longer = list_node(f, "TensorListPushBack", pushed, 2);
  const rheos_output stacked[] = {longer, ints(f, RHEOS_SHAPE(0), (const int32_t[]){0})};
  return list_node(f, "TensorListStack", stacked, 2);
}

static rheos_output pop_and_gather(fixture *f, rheos_output x) {
  const int32_t indices[] = {0, 3, 1};  // of equal ones TensorFlow keeps the last gradient only
  const rheos_output popped[] = {list_of(f, square(f, x)), int_scalar(f, -1)};
  const rheos_operation pop = add(f, "TensorListPopBack", popped, 2, element_dtype, 1);
  const rheos_output gathered[] = {rheos_operation_output(pop, 0), ints(f, RHEOS_SHAPE(3), indices),
                                   int_scalar(f, -1)};
  return product(f, list_node(f, "TensorListGather", gathered, 3), rheos_operation_output(pop, 1));
}

static rheos_output split_and_concat_lists(fixture *f, rheos_output x) {
  const int64_t lengths[] = {4, 0, 2}, none = 0;
  const rheos_output split[] = {square(f, x), int_scalar(f, -1),
                                constant(f, RHEOS_INT64, RHEOS_SHAPE(3), lengths)};
  const rheos_output list = node(f, "TensorListSplit", split, 3, NULL, 0);
  const rheos_output concat[] = {list, int_scalar(f, -1),
                                 constant(f, RHEOS_INT64, RHEOS_SHAPE(0), &none)};
  return list_node(f, "TensorListConcatV2", concat, 3);
}

static rheos_output scatter_into(fixture *f, rheos_output x) {
  const int32_t order[] = {6, 1, 2, 0, 3, 4}, few[] = {1, 6};
  const rheos_output scattered[] = {x, ints(f, RHEOS_SHAPE(SIZE), order), int_scalar(f, -1),
                                    int_scalar(f, 7)};
  const rheos_output list = node(f, "TensorListScatterV2", scattered, 4, NULL, 0);
  const rheos_output gathered[] = {list, ints(f, RHEOS_SHAPE(2), few), int_scalar(f, -1)};
  const rheos_output part = square(f, list_node(f, "TensorListGather", gathered, 3));
  const int32_t places[] = {0, 2};
  const rheos_output into[] = {list, part, ints(f, RHEOS_SHAPE(2), places)};
  const rheos_output resized[] = {list_node(f, "TensorListScatterIntoExistingList", into, 3),
                                  int_scalar(f, 5)};
  const rheos_output stacked[] = {node(f, "TensorListResize", resized, 2, NULL, 0),
                                  ints(f, RHEOS_SHAPE(0), (const int32_t[]){0})};
  return list_node(f, "TensorListStack", stacked, 2);
}

// ---- Gradients against differences

static rheos_tensor *run_at(fixture *f, rheos_output x, const double *values, rheos_output y) {
  rheos_feed fed = {x, NULL};
  rheos_fetch fetch = {y, NULL};
  check(rheos_tensor_from_values(RHEOS_DOUBLE, RHEOS_SHAPE(SIZE), values, &fed.value));
  check(rheos_session_run(f->session, &fed, 1, &fetch, 1, NULL, 0, NULL));
  rheos_tensor_unref(fed.value);
  return fetch.value;
}

static double loss_at(fixture *f, rheos_output x, const double *values, rheos_output loss) {
  rheos_tensor *tensor = run_at(f, x, values, loss);
  const double value = *(const double *)rheos_tensor_data(tensor);
  rheos_tensor_unref(tensor);
  return value;
}

static void check_gradient(fixture *f, program build) {
  const double step = 1e-5;
  double at[SIZE] = {0.5, -1.25, 2, 0.75, -0.5, 1.5};
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_DOUBLE),
                              rheos_attr_shape("shape", &RHEOS_SHAPE(SIZE))};
  const rheos_output x = node(f, "Placeholder", NULL, 0, attrs, 2);
  const rheos_output sum[] = {square(f, build(f, x)), int_scalar(f, 0)};
  const rheos_output loss = node(f, "Sum", sum, 2, NULL, 0);
  rheos_gradient gradient;
  rheos_gradients(f->scope, &loss, 1, &x, 1, NULL, &gradient);
  check(rheos_scope_finish(f->scope));
  rheos_tensor *got = run_at(f, x, at, gradient.values);
  for (int i = 0; i < SIZE; i++) {
    const double middle = at[i];
    at[i] = middle + step;
    const double above = loss_at(f, x, at, loss);
    at[i] = middle - step;
    const double below = loss_at(f, x, at, loss);
    at[i] = middle;
    const double expected = (above - below) / (2 * step);
    const double actual = ((const double *)rheos_tensor_data(got))[i];
    if (fabs(expected - actual) > 1e-6 * (1 + fabs(expected))) {
      fail_msg("element %d: the gradient is %g, by differences %g", i, actual, expected);
    }
  }
  rheos_tensor_unref(got);
}

#define GRADIENT_TEST(NAME) \
  static void test_tensor_array__gradient_of_##NAME(void **state) { check_gradient(*state, NAME); }
GRADIENT_TEST(read_and_write)
GRADIENT_TEST(split_and_concat)
GRADIENT_TEST(get_and_set)
GRADIENT_TEST(pop_and_gather)
GRADIENT_TEST(split_and_concat_lists)
GRADIENT_TEST(scatter_into)

// ---- Handles

static void test_tensor_array__a_handle_cannot_be_fetched(void **state) {
  fixture *f = *state;
  rheos_tensor *value = NULL;
  const rheos_operation array = new_array(f, 2, true);
  expect_error(run_output(f, array, 0, NULL, &value), RHEOS_UNIMPLEMENTED,
               "a resource handle cannot be fetched");
}

static void test_tensor_array__each_run_makes_a_new_one(void **state) {
  fixture *f = *state;
  const rheos_operation array = new_array(f, 1, true);
  const double one = 1;
  const rheos_output handle = rheos_operation_output(array, 0);
  const rheos_output write[] = {handle, int_scalar(f, 0),
                                constant(f, RHEOS_DOUBLE, RHEOS_SCALAR, &one),
                                rheos_operation_output(array, 1)};
  const rheos_operation written = add(f, "TensorArrayWriteV3", write, 4, NULL, 0);
  for (int run = 0; run < 3; run++) {  // the array of the run before is written to already
    rheos_tensor *flow = NULL;
    check(run_output(f, written, 0, NULL, &flow));
    rheos_tensor_unref(flow);
  }
}

static void test_tensor_array__the_handle_of_a_variable_is_refused(void **state) {
  fixture *f = *state;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_DOUBLE),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  const rheos_output handle = node(f, "VarHandleOp", NULL, 0, attrs, 2);
  const rheos_output size[] = {handle, float_scalar(f, 0)};
  const rheos_operation asked = add(f, "TensorArraySizeV3", size, 2, NULL, 0);
  rheos_tensor *value = NULL;
  expect_error(run_output(f, asked, 0, NULL, &value), RHEOS_INVALID_ARGUMENT,
               "Shape must be rank 1 but is rank 0");
}

static void test_tensor_array__a_stack_is_no_array(void **state) {
  fixture *f = *state;
  const rheos_output most = int_scalar(f, -1);
  const rheos_attr attr = rheos_attr_type("elem_type", RHEOS_DOUBLE);
  const rheos_output stack = node(f, "StackV2", &most, 1, &attr, 1);
  const rheos_attr dtype = rheos_attr_type("dtype", RHEOS_DOUBLE);
  const rheos_output read[] = {stack, int_scalar(f, 0), float_scalar(f, 0)};
  const rheos_operation asked = add(f, "TensorArrayReadV3", read, 3, &dtype, 1);
  rheos_tensor *value = NULL;
  expect_error(run_output(f, asked, 0, NULL, &value), RHEOS_INVALID_ARGUMENT, "of a TensorArray");
}

// Pushes numbers, then a vector, then another number, and takes them all off again.
static void test_stack__of_items_of_different_shapes(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  const rheos_output most = int_scalar(f, -1);
  const rheos_attr type = rheos_attr_type("elem_type", RHEOS_FLOAT);
  const rheos_output stack = node(f, "StackV2", &most, 1, &type, 1);
  const float numbers[] = {1, 2, 3, 4, 5};
  const rheos_output items[] = {
      constant(f, RHEOS_FLOAT, RHEOS_SCALAR, &numbers[0]),
      constant(f, RHEOS_FLOAT, RHEOS_SCALAR, &numbers[1]),
      constant(f, RHEOS_FLOAT, RHEOS_SHAPE(2), &numbers[2]),
      constant(f, RHEOS_FLOAT, RHEOS_SCALAR, &numbers[4]),
  };
  rheos_operation last = rheos_output_operation(stack);
  rheos_output popped[4];
  for (int i = 0; i < 8; i++) {
    const rheos_output push[] = {stack, items[i % 4]};
    rheos_push_control_dependencies(s, &last, 1);
    last =
        i < 4 ? add(f, "StackPushV2", push, 2, NULL, 0) : add(f, "StackPopV2", &stack, 1, &type, 1);
    rheos_scope_pop(s);
    if (i >= 4) popped[i - 4] = rheos_operation_output(last, 0);
  }
  check(rheos_scope_finish(s));
  rheos_fetch fetches[4] = {
      {popped[0], NULL}, {popped[1], NULL}, {popped[2], NULL}, {popped[3], NULL}};
  check(rheos_session_run(f->session, NULL, 0, fetches, 4, NULL, 0, NULL));
  expect_floats(fetches[0].value, RHEOS_SCALAR, &numbers[4]);
  expect_floats(fetches[1].value, RHEOS_SHAPE(2), &numbers[2]);
  expect_floats(fetches[2].value, RHEOS_SCALAR, &numbers[1]);
  expect_floats(fetches[3].value, RHEOS_SCALAR, &numbers[0]);
}

#define ARRAY_TEST(name) \
  cmocka_unit_test_setup_teardown(test_tensor_array__##name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      ARRAY_TEST(gradient_of_read_and_write),
      ARRAY_TEST(gradient_of_split_and_concat),
      ARRAY_TEST(gradient_of_get_and_set),
      ARRAY_TEST(gradient_of_pop_and_gather),
      ARRAY_TEST(gradient_of_split_and_concat_lists),
      ARRAY_TEST(gradient_of_scatter_into),
      ARRAY_TEST(a_handle_cannot_be_fetched),
      ARRAY_TEST(each_run_makes_a_new_one),
      ARRAY_TEST(the_handle_of_a_variable_is_refused),
      ARRAY_TEST(a_stack_is_no_array),
      cmocka_unit_test_setup_teardown(test_stack__of_items_of_different_shapes, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
