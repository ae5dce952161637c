// Elementwise ops: what does not show in recorded answers. Work cut into units, written over an
// operand and broadcast in any way gives the same bits; bad data fail.
#include "ops/kernel_fixture.h"
#include "ops/kit/op_util.h"

static kernel binary(const char *op, rheos_tensor *x, rheos_tensor *y) {
  return (kernel){.op = op, .inputs = {x, y}, .output_dtypes = {x->dtype}};
}

// ---- Units and memory

// Runs `k` whole, unit by unit, and in place; all have to agree.
static void check_all_ways(kernel *k) {
  kernel_run_ok(k);
  rheos_tensor *whole = k->outputs[0];
  k->outputs[0] = NULL;
  k->unit_by_unit = true;
  kernel_run_ok(k);
  assert_same_tensor(k->outputs[0], whole);
  kernel_clear(k);
  k->in_place = true;
  kernel_run_ok(k);
  assert_same_tensor(k->outputs[0], whole);
  kernel_clear(k);
  rheos_tensor_unref(whole);
}

static void test_elementwise__units_give_the_same_bits(void **state) {
  (void)state;
  static const char *const unary[] = {"Exp", "Sigmoid", "Relu", "Neg", "Sqrt"};
  for (size_t i = 0; i < sizeof unary / sizeof unary[0]; i++) {
    kernel k = {.op = unary[i],
                .inputs = {noise_of(RHEOS_SHAPE(50001), 1)},
                .output_dtypes = {RHEOS_FLOAT}};
    check_all_ways(&k);
    assert_int_equal(k.prepared.num_units, 4);
    kernel_free_inputs(&k);
  }
  const rheos_shape shapes[][2] = {
      {RHEOS_SHAPE(50001), RHEOS_SHAPE(50001)},
      {RHEOS_SHAPE(50001), RHEOS_SCALAR},
      {RHEOS_SCALAR, RHEOS_SHAPE(50001)},
      {RHEOS_SHAPE(300, 7, 25), RHEOS_SHAPE(7, 1)},
      {RHEOS_SHAPE(300, 1, 25), RHEOS_SHAPE(300, 7, 1)},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    kernel k = binary("Sub", noise_of(shapes[i][0], 2), noise_of(shapes[i][1], 3));
    check_all_ways(&k);
    kernel_free_inputs(&k);
  }
}

static void test_elementwise__one_tensor_twice_in_place(void **state) {
  (void)state;
  const float values[] = {1, 2, 3}, doubled[] = {2, 4, 6};
  rheos_tensor *x = floats_of(RHEOS_SHAPE(3), values);
  kernel k = {.op = "AddN",
              .inputs = {x, rheos_tensor_ref(x)},
              .output_dtypes = {RHEOS_FLOAT},
              .in_place = true};
  kernel_run_ok(&k);
  assert_floats(&k, 0, doubled, 3);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

static void test_elementwise__add_n_of_four_is_not_in_place(void **state) {
  (void)state;
  rheos_tensor *x = noise_of(RHEOS_SHAPE(3), 1);
  kernel k = {.op = "AddN",
              .inputs = {x, rheos_tensor_ref(x), rheos_tensor_ref(x), rheos_tensor_ref(x)},
              .output_dtypes = {RHEOS_FLOAT}};
  kernel_run_ok(&k);
  assert_int_equal(k.prepared.reuse_input, -1);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

// ---- Broadcasting

static uint32_t random_state = 7;
static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 16) % n;
}

// A shape that broadcasts to `out`: dimensions replaced by 1, leading ones left out.
static rheos_shape operand_of(const rheos_shape *out) {
  rheos_shape shape = *out;
  for (int32_t d = 0; d < shape.rank; d++) {
    if (random_below(3) == 0) shape.dims[d] = 1;
  }
  const int32_t cut = (int32_t)random_below((uint32_t)shape.rank + 1);
  if (random_below(2) == 0) return shape;
  shape.rank -= cut;
  memmove(shape.dims, shape.dims + cut, (size_t)shape.rank * sizeof shape.dims[0]);
  return shape;
}

static void check_broadcast(const kernel *k) {
  const rheos_tensor *x = k->inputs[0], *y = k->inputs[1], *z = k->outputs[0];
  for (int64_t i = 0; i < z->num_elements; i++) {
    const float a = ((float *)x->data)[rheos__broadcast_index(&x->shape, &z->shape, i)];
    const float b = ((float *)y->data)[rheos__broadcast_index(&y->shape, &z->shape, i)];
    const float expected = a - b;
    assert_memory_equal((float *)z->data + i, &expected, sizeof expected);
  }
}

static void test_elementwise__any_broadcast_is_the_formula_at_each_element(void **state) {
  (void)state;
  for (int round = 0; round < 500; round++) {
    rheos_shape out = {.rank = (int32_t)random_below(RHEOS_MAX_RANK + 1)};
    for (int32_t d = 0; d < out.rank; d++) out.dims[d] = 1 + random_below(4);
    kernel k = binary("Sub", noise_of(operand_of(&out), 1), noise_of(operand_of(&out), 2));
    kernel_run_ok(&k);
    check_broadcast(&k);
    kernel_clear(&k);
    kernel_free_inputs(&k);
  }
}

static void test_elementwise__empty_operands_broadcast_to_empty(void **state) {
  (void)state;
  kernel k = binary("Add", noise_of(RHEOS_SHAPE(0, 3), 1), noise_of(RHEOS_SHAPE(1), 1));
  kernel_run_ok(&k);
  assert_int_equal(k.outputs[0]->num_elements, 0);
  assert_int_equal(k.outputs[0]->shape.dims[1], 3);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

// ---- Whole numbers

static void check_ints(const char *op, int32_t x, int32_t y, int32_t expected) {
  kernel k = binary(op, ints_of(RHEOS_SCALAR, &x), ints_of(RHEOS_SCALAR, &y));
  kernel_run_ok(&k);
  assert_int_equal(*(int32_t *)k.outputs[0]->data, expected);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

static void check_ints_fail(const char *op, int32_t x, int32_t y, const char *text) {
  kernel k = binary(op, ints_of(RHEOS_SCALAR, &x), ints_of(RHEOS_SCALAR, &y));
  kernel_run_fails(&k, RHEOS_INVALID_ARGUMENT, text);
  kernel_free_inputs(&k);
}

static void test_elementwise__division_by_zero_fails(void **state) {
  (void)state;
  static const char *const ops[] = {"Div", "FloorDiv", "TruncateDiv", "Mod", "FloorMod"};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    check_ints_fail(ops[i], 1, 0, "Integer division by zero");
  }
  check_ints_fail("Pow", 2, -1, "Integers to negative integer powers are not allowed");
}

static void test_elementwise__one_zero_among_many_fails(void **state) {
  (void)state;
  int32_t x[100], y[100];
  for (int i = 0; i < 100; i++) x[i] = y[i] = i + 1;
  y[57] = 0;
  kernel k = binary("FloorDiv", ints_of(RHEOS_SHAPE(100), x), ints_of(RHEOS_SHAPE(100), y));
  kernel_run_fails(&k, RHEOS_INVALID_ARGUMENT, "Integer division by zero");
  kernel_free_inputs(&k);
}

static void test_elementwise__overflow_wraps_around(void **state) {
  (void)state;
  check_ints("Add", INT32_MAX, 1, INT32_MIN);
  check_ints("Sub", INT32_MIN, 1, INT32_MAX);
  check_ints("Mul", INT32_MAX, 2, -2);
  check_ints("Div", INT32_MIN, -1, INT32_MIN);
  check_ints("FloorDiv", INT32_MIN, -1, INT32_MIN);
  check_ints("FloorMod", INT32_MIN, -1, 0);
  check_ints("Pow", 3, 21, 1870418611);
}

static void test_elementwise__quotients_round_as_their_names_say(void **state) {
  (void)state;
  check_ints("Div", -7, 2, -3);
  check_ints("FloorDiv", -7, 2, -4);
  check_ints("FloorDiv", 7, -2, -4);
  check_ints("Mod", -7, 2, -1);
  check_ints("FloorMod", -7, 2, 1);
  check_ints("FloorMod", 7, -2, -1);
}

// ---- Shapes that do not fit

static kernel equality(const char *op, bool is_error) {
  kernel k = binary(op, noise_of(RHEOS_SHAPE(2), 1), noise_of(RHEOS_SHAPE(3), 1));
  k.output_dtypes[0] = RHEOS_BOOL;
  k.attrs[0] = rheos_attr_bool("incompatible_shape_error", is_error);
  return k;
}

static void test_elementwise__shapes_that_do_not_fit_may_be_unequal(void **state) {
  (void)state;
  static const char *const ops[] = {"Equal", "NotEqual"};
  for (int i = 0; i < 2; i++) {
    kernel k = equality(ops[i], false);
    kernel_run_ok(&k);
    assert_int_equal(k.outputs[0]->shape.rank, 0);
    assert_int_equal(*(bool *)k.outputs[0]->data, i == 1);
    kernel_clear(&k);
    kernel_free_inputs(&k);
    k = equality(ops[i], true);
    kernel_run_fails(&k, RHEOS_INVALID_ARGUMENT, "Dimensions must be equal");
    kernel_free_inputs(&k);
  }
}

static void test_elementwise__dtype_without_a_kernel_is_named(void **state) {
  (void)state;
  const int32_t one = 1;
  kernel k = binary("RealDiv", ints_of(RHEOS_SCALAR, &one), ints_of(RHEOS_SCALAR, &one));
  kernel_run_fails(&k, RHEOS_UNIMPLEMENTED, "RealDiv is not available for dtype int32");
  kernel_free_inputs(&k);
}

// ---- Cast

static void test_elementwise__cast_of_what_does_not_fit_is_defined(void **state) {
  (void)state;
  const float values[] = {1e10f, -1e10f, 2.9f, -2.9f, 0};
  const int32_t expected[] = {INT32_MIN, INT32_MIN, 2, -2, 0};
  kernel k = {.op = "Cast",
              .inputs = {floats_of(RHEOS_SHAPE(5), values)},
              .attrs = {rheos_attr_bool("Truncate", false)},
              .output_dtypes = {RHEOS_INT32}};
  ((float *)k.inputs[0]->data)[4] = __builtin_nanf("");
  kernel_run_ok(&k);
  assert_memory_equal(k.outputs[0]->data, expected, 4 * sizeof expected[0]);
  assert_int_equal(((int32_t *)k.outputs[0]->data)[4], INT32_MIN);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elementwise__units_give_the_same_bits),
      cmocka_unit_test(test_elementwise__one_tensor_twice_in_place),
      cmocka_unit_test(test_elementwise__add_n_of_four_is_not_in_place),
      cmocka_unit_test(test_elementwise__any_broadcast_is_the_formula_at_each_element),
      cmocka_unit_test(test_elementwise__empty_operands_broadcast_to_empty),
      cmocka_unit_test(test_elementwise__division_by_zero_fails),
      cmocka_unit_test(test_elementwise__one_zero_among_many_fails),
      cmocka_unit_test(test_elementwise__overflow_wraps_around),
      cmocka_unit_test(test_elementwise__quotients_round_as_their_names_say),
      cmocka_unit_test(test_elementwise__shapes_that_do_not_fit_may_be_unequal),
      cmocka_unit_test(test_elementwise__dtype_without_a_kernel_is_named),
      cmocka_unit_test(test_elementwise__cast_of_what_does_not_fit_is_defined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
