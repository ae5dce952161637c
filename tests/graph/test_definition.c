// Definitions of ops as a program reads them.
#include <rheos/op_def.h>

#include "graph/graph_fixture.h"

// The attribute of that name; empty if there is none.
static rheos_op_attr attr_of(const rheos_op_def *op, const char *name) {
  for (int32_t i = 0; i < rheos_op_def_num_attrs(op); i++) {
    const rheos_op_attr attr = rheos_op_def_attr(op, i);
    if (strcmp(attr.name, name) == 0) return attr;
  }
  return (rheos_op_attr){0};
}

static void test_definition__has_all_that_a_signature_says(void **state) {
  (void)state;
  const rheos_op_def *op = rheos_op_def_find(NULL, "MatMul");
  assert_non_null(op);
  assert_string_equal(rheos_op_def_type(op), "MatMul");
  assert_true(strlen(rheos_op_def_description(op)) > 10);
  assert_false(rheos_op_def_is_stateful(op));
  assert_int_equal(rheos_op_def_num_inputs(op), 2);
  const rheos_op_argument b = rheos_op_def_input(op, 1);
  assert_string_equal(b.name, "b");
  assert_string_equal(b.type_attr, "T");
  assert_null(b.number_attr);
  assert_int_equal(b.dtype, RHEOS_INVALID_DTYPE);
  assert_int_equal(rheos_op_def_num_outputs(op), 1);
  assert_string_equal(rheos_op_def_output(op, 0).name, "product");
  const rheos_op_attr transpose = attr_of(op, "transpose_a");
  assert_int_equal(transpose.kind, RHEOS_ATTR_BOOL);
  assert_int_equal(transpose.default_value.kind, RHEOS_ATTR_BOOL);
  assert_false(transpose.default_value.b);
  const rheos_op_attr type = attr_of(op, "T");
  assert_int_equal(type.default_value.kind, RHEOS_ATTR_NONE);
  assert_true(type.allowed_types >> RHEOS_FLOAT & 1);
  assert_false(type.allowed_types >> RHEOS_STRING & 1);
}

static void test_definition__has_lists_minimums_and_texts(void **state) {
  (void)state;
  const rheos_op_def *sum = rheos_op_def_find(NULL, "AddN");
  assert_string_equal(rheos_op_def_input(sum, 0).number_attr, "N");
  assert_true(attr_of(sum, "N").has_minimum);
  assert_int_equal(attr_of(sum, "N").minimum, 1);
  const rheos_op_attr padding = attr_of(rheos_op_def_find(NULL, "MaxPool"), "padding");
  assert_string_equal(padding.allowed_strings[0], "SAME");
  assert_string_equal(padding.allowed_strings[1], "VALID");
  assert_true(rheos_op_def_input(rheos_op_def_find(NULL, "Assign"), 0).is_ref);
}

// As TensorFlow 1.15 and 2.21 have them, of the ops that the library has.
static void test_definition__flags_are_tensorflows(void **state) {
  (void)state;
  const char *const aggregate[] = {"AccumulateNV2", "AddN", "AddV2"};
  const char *const uninitialized[] = {"Assign", "IsVariableInitialized", "RefIdentity",
                                       "RefSwitch"};
  const char *const commutative[] = {
      "AccumulateNV2",    "AddN",  "AddV2",      "ApproximateEqual", "BitwiseAnd", "BitwiseOr",
      "BitwiseXor",       "Equal", "LogicalAnd", "LogicalOr",        "Mul",        "NotEqual",
      "SquaredDifference"};
  const struct {
    bool (*has)(const rheos_op_def *op);
    const char *const *names;
    size_t count;
  } flags[] = {{rheos_op_def_is_aggregate, aggregate, 3},
               {rheos_op_def_allows_uninitialized_input, uninitialized, 4},
               {rheos_op_def_is_commutative, commutative, 13}};
  for (size_t k = 0; k < 3; k++) {
    for (int32_t i = 0; i < rheos_num_ops(); i++) {
      const char *name = rheos_op_type(i);
      bool wanted = false;
      for (size_t n = 0; n < flags[k].count; n++) wanted |= strcmp(flags[k].names[n], name) == 0;
      if (flags[k].has(rheos_op_def_find(NULL, name)) != wanted) fail_msg("%s, flag %zu", name, k);
    }
  }
}

static void test_definition__of_an_operation_is_its_ops(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output x = rheos_constant_float(f.scope, 1, NULL);
  const rheos_op_def *op = rheos_operation_op_def(rheos_output_operation(x));
  assert_ptr_equal(op, rheos_op_def_find(f.graph, "Const"));
  assert_ptr_equal(op, rheos_op_def_find(NULL, "Const"));
  fixture_free(&f);
}

static void test_definition__of_nothing_is_empty(void **state) {
  (void)state;
  assert_null(rheos_op_def_find(NULL, "NoSuchOp"));
  assert_null(rheos_op_def_find(NULL, NULL));
  assert_null(rheos_operation_op_def((rheos_operation){NULL, 0}));
  assert_string_equal(rheos_op_def_type(NULL), "");
  assert_string_equal(rheos_op_def_description(NULL), "");
  assert_int_equal(rheos_op_def_num_attrs(NULL), 0);
  assert_null(rheos_op_def_attr(NULL, 0).name);
  const rheos_op_def *op = rheos_op_def_find(NULL, "MatMul");
  assert_null(rheos_op_def_input(op, 2).name);
  assert_null(rheos_op_def_input(op, -1).name);
  assert_null(rheos_op_def_attr(op, rheos_op_def_num_attrs(op)).name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_definition__has_all_that_a_signature_says),
      cmocka_unit_test(test_definition__has_lists_minimums_and_texts),
      cmocka_unit_test(test_definition__flags_are_tensorflows),
      cmocka_unit_test(test_definition__of_an_operation_is_its_ops),
      cmocka_unit_test(test_definition__of_nothing_is_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
