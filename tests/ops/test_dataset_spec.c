// What datasets refuse to take.
#include "ops/array_fixture.h"

static void test_dataset_spec__takes_no_handle_for_a_value(void **state) {
  fixture *f = *state;
  const rheos_shape scalar = RHEOS_SCALAR;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &scalar)};
  const int64_t zeros[4] = {0};
  const rheos_output inputs[] = {
      constant(f, RHEOS_INT64, RHEOS_SHAPE(2, 2), zeros),
      rheos_operation_output(add(f, "VarHandleOp", NULL, 0, attrs, 2), 0),
      constant(f, RHEOS_INT64, RHEOS_SHAPE(2), zeros)};
  const rheos_operation sliced = add(f, "SparseTensorSliceDataset", inputs, 3, NULL, 0);
  check(rheos_scope_finish(f->scope));
  expect_error(rheos_session_run(f->session, NULL, 0, NULL, 0, &sliced, 1, NULL),
               RHEOS_UNIMPLEMENTED, "input 1 of SparseTensorSliceDataset is a handle, not a value");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_dataset_spec__takes_no_handle_for_a_value, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
