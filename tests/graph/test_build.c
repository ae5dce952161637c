// Adding nodes: how inputs and attributes are fitted to a signature, and what is said when they
// do not fit. An error adds nothing.
#include "graph/graph_fixture.h"
#include "graph/tiny_ops.h"

#include "graph/build.h"

static void test_build__types_follow_from_the_inputs(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = rheos_constant_float(f.scope, 1, NULL);
  rheos_output y = rheos_constant_float(f.scope, 2, NULL);
  rheos_output z = rheos__op_2(f.scope, "Add", x, y);
  assert_int_equal(rheos_output_dtype(z), RHEOS_FLOAT);
  rheos_operation add = rheos_output_operation(z);
  assert_string_equal(rheos_operation_type(add), "Add");
  assert_int_equal(rheos_operation_attr(add, "T").type, RHEOS_FLOAT);
  assert_int_equal(rheos_operation_num_inputs(add), 2);
  assert_int_equal(rheos_operation_input(add, 1).id, y.id);
  fixture_free(&f);
}

static void test_build__list_lengths_follow_from_the_inputs(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, NULL), i = rheos_constant_int(s, 0, NULL);
  rheos_operation concat = add_op(s, "ConcatV2", NULL, (rheos_output[]){x, x, x, i}, 4);
  assert_int_equal(rheos_operation_attr(concat, "N").i, 3);
  assert_int_equal(rheos_operation_attr(concat, "Tidx").type, RHEOS_INT32);
  rheos_operation many = add_op(s, "IdentityN", NULL, (rheos_output[]){x, i}, 2);
  assert_int_equal(rheos_operation_attr(many, "T").count, 2);
  assert_int_equal(rheos_operation_attr(many, "T").types[1], RHEOS_INT32);
  assert_int_equal(rheos_operation_num_outputs(many), 2);
  assert_int_equal(rheos_output_dtype(rheos_operation_output(many, 1)), RHEOS_INT32);
  rheos_operation shared = add_op(s, "Merge2", NULL, (rheos_output[]){x, x, x, x}, 4);
  assert_int_equal(rheos_operation_num_outputs(shared), 2);
  add_op(s, "Merge2", NULL, (rheos_output[]){x, x, x}, 3);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "2 lists of one length, got 3 inputs");
  assert_int_equal(rheos_operation_num_outputs(add_op(s, "Merge2", NULL, NULL, 0)), 0);
  fixture_free(&f);
}

static void test_build__lists_that_cannot_be_told_apart_need_attributes(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, NULL), i = rheos_constant_int(s, 0, NULL);
  rheos_output inputs[] = {x, i, i};
  add_op(s, "Pair", NULL, inputs, 3);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "attribute 'Ta' or 'Tb' must be given");
  rheos_attr first = rheos_attr_types("Ta", (rheos_dtype[]){RHEOS_FLOAT}, 1);
  rheos_operation pair = add_op_attrs(s, "Pair", inputs, 3, &first, 1);
  assert_int_equal(rheos_operation_attr(pair, "Tb").count, 2);
  first = rheos_attr_types("Ta", (rheos_dtype[]){RHEOS_INT32}, 1);
  add_op_attrs(s, "Pair", inputs, 3, &first, 1);
  expect_error(s, RHEOS_INVALID_ARGUMENT,
               "has type float32 that does not match expected type of "
               "int32");
  fixture_free(&f);
}

static void test_build__outputs_follow_from_attributes(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, NULL), i = rheos_constant_int(s, 0, NULL);
  rheos_attr number = rheos_attr_int("num_split", 3);
  rheos_operation split = add_op_attrs(s, "Split", (rheos_output[]){i, x}, 2, &number, 1);
  assert_int_equal(rheos_operation_num_outputs(split), 3);
  assert_int_equal(rheos_output_shape(rheos_operation_output(split, 2)).rank, -1);
  number = rheos_attr_int("num_split", INT64_MAX);
  add_op_attrs(s, "Split", (rheos_output[]){i, x}, 2, &number, 1);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "too many outputs");
  fixture_free(&f);
}

static void test_build__references_pass_for_values_but_not_the_other_way(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, NULL);
  rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                        rheos_attr_shape("shape", &RHEOS_SCALAR)};
  rheos_output v = output_of_op(add_op_attrs(s, "VariableV2", NULL, 0, attrs, 2));
  assert_int_equal(rheos_output_dtype(v), RHEOS_FLOAT + RHEOS_REF);
  rheos_output assigned = rheos__op_2(s, "Assign", v, v);
  assert_int_equal(rheos_output_dtype(assigned), RHEOS_FLOAT + RHEOS_REF);
  assert_int_equal(rheos_output_dtype(rheos__op_2(s, "Add", assigned, x)), RHEOS_FLOAT);
  rheos__op_2(s, "Assign", x, x);
  expect_error(s, RHEOS_INVALID_ARGUMENT,
               "'Assign' Op requires that input 'ref' be a mutable tensor");
  fixture_free(&f);
}

static void test_build__dtypes_that_do_not_fit_are_named(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, NULL), i = rheos_constant_int(s, 0, NULL);
  rheos_output text = rheos__const_string(s, "text", NULL);
  rheos__op_2(s, "Add", i, x);
  expect_error(s, RHEOS_INVALID_ARGUMENT,
               "Input 'y' of 'Add' Op has type float32 that does not "
               "match type int32 of argument 'x'.");
  rheos__op_2(s, "Add", text, text);
  expect_error(s, RHEOS_INVALID_ARGUMENT,
               "Value passed to parameter 'x' has DataType string not "
               "in list of allowed values: float32, float64, int32");
  rheos__op_2(s, "Pack", x, i);
  expect_error(s, RHEOS_INVALID_ARGUMENT,
               "Tensors in list passed to 'values' of 'Pack' Op have "
               "types [float32, int32] that don't all match.");
  rheos__op_2(s, "Reshape", x, x);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "parameter 'shape' has DataType float32");
  rheos_attr number = rheos_attr_int("num_split", 1);
  add_op_attrs(s, "Split", (rheos_output[]){x, x}, 2, &number, 1);
  expect_error(s, RHEOS_INVALID_ARGUMENT,
               "Input 'split_dim' of 'Split' Op has type float32 that "
               "does not match expected type of int32.");
  rheos_attr type = rheos_attr_type("T", RHEOS_INT32);
  add_op_attrs(s, "Identity", &x, 1, &type, 1);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "expected type of int32");
  fixture_free(&f);
}

static void test_build__wrong_numbers_of_inputs_are_refused(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, NULL);
  rheos__op_1(s, "Add", x);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "'Add' Op takes 2 inputs, got 1");
  rheos__op_3(s, "Add", x, x, x);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "takes 2 inputs, got 3");
  add_op(s, "ConcatV2", NULL, NULL, 0);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "takes 1 inputs, got 0");
  add_op(s, "Pack", NULL, NULL, 0);
  expect_error(s, RHEOS_INVALID_ARGUMENT,
               "List argument 'values' to 'Pack' Op with length 0 "
               "shorter than minimum length 1.");
  fixture_free(&f);
}

static void test_build__inputs_that_are_not_there_are_refused(void **state) {
  (void)state;
  graph_fixture f = fixture_new(), other = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, "x");
  rheos_output foreign = add_placeholder(other.scope, RHEOS_INT32, RHEOS_SHAPE(2, -1));
  rheos__op_2(s, "Add", x, (rheos_output){0});
  expect_error(s, RHEOS_INVALID_ARGUMENT, "input 1 is no tensor");
  rheos__op_2(s, "Add", x, foreign);
  expect_error(s, RHEOS_INVALID_ARGUMENT,
               "Tensor(\"Placeholder:0\", shape=(2, ?), dtype=int32) must be from the same graph "
               "as Tensor(\"x:0\", shape=(), dtype=float32).");
  rheos__op_1(s, "Identity", foreign);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "same graph as the operation 'Identity'");
  const rheos_output missing[] = {
      {f.graph, 99, 0}, {f.graph, -1, 0}, {f.graph, 0, 1}, {f.graph, 0, -1}};
  for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
    rheos__op_1(s, "Identity", missing[i]);
    expect_error(s, RHEOS_INVALID_ARGUMENT, "is not in the graph");
  }
  fixture_free(&other);
  fixture_free(&f);
}

static void test_build__functions_are_kept_by_value(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  char name[] = "Twice", attr_name[] = "n";
  rheos_attr attr = rheos_attr_int(attr_name, 3);
  rheos_func func = {.name = {name, 5}, .attrs = &attr, .num_attrs = 1};
  const rheos_attr attrs[] = {rheos_attr_func("_f", &func)};
  const rheos_operation first = add_op_attrs(f.scope, "NoOp", NULL, 0, attrs, 1);
  const rheos_operation same = add_op_attrs(f.scope, "NoOp", NULL, 0, attrs, 1);
  attr.value.i = 4;
  const rheos_operation other = add_op_attrs(f.scope, "NoOp", NULL, 0, attrs, 1);
  name[0] = attr_name[0] = '?';
  const rheos_func *kept = rheos_operation_attr(first, "_f").func;
  assert_string_equal(kept->name.data, "Twice");
  assert_string_equal(kept->attrs[0].name, "n");
  assert_int_equal(kept->attrs[0].value.i, 3);
  assert_ptr_equal(rheos_operation_attr(same, "_f").func, kept);
  assert_int_equal(rheos_operation_attr(other, "_f").func->attrs[0].value.i, 4);
  func.name.data = NULL;
  add_op_attrs(f.scope, "NoOp", NULL, 0, attrs, 1);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "_f");
  fixture_free(&f);
}

static void test_build__attributes_are_checked(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, NULL);
  const int64_t four[] = {1, 2, 3, 4};
  rheos_attr ksize = rheos_attr_ints("ksize", four, 4);
  rheos_attr padding = rheos_attr_string("padding", "SAME", 4);
  rheos_shape broken = {.rank = 1, .dims = {-2}};
  struct {
    rheos_attr attrs[3];
    const char *expected;
  } cases[] = {
      {{ksize, padding, rheos_attr_int("speed", 1)}, "'Pool' Op has no attribute 'speed'"},
      {{ksize, padding, rheos_attr_int("rate", 1)},
       "attribute 'rate' of 'Pool' Op is a float, got a int"},
      {{rheos_attr_ints("ksize", four, 1), padding, padding},
       "Attr 'ksize' of 'Pool' Op passed list of length 1 less than minimum 4."},
      {{ksize, rheos_attr_string("padding", "FOO", 3), ksize},
       "Attr 'padding' of 'Pool' Op passed string 'FOO' not in: \"SAME\", \"VALID\"."},
      {{ksize, ksize, ksize}, "'Pool' Op needs the attribute 'padding' (string)"},
      {{ksize, padding, rheos_attr_shape("area", &broken)}, "'area' of 'Pool' Op has no valid"},
      {{ksize, padding, rheos_attr_shape("area", NULL)}, "'area' of 'Pool' Op has no valid"},
      {{ksize, padding, rheos_attr_type("T", (rheos_dtype)77)}, "'T' of 'Pool' Op has no valid"},
      {{ksize, padding, rheos_attr_int(NULL, 1)}, "has no name"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_null(add_op_attrs(s, "Pool", &x, 1, cases[i].attrs, 3).graph);
    expect_error(s, RHEOS_INVALID_ARGUMENT, cases[i].expected);
  }
  assert_int_equal(rheos_graph_num_operations(f.graph), 1);
  rheos_attr zero = rheos_attr_int("num_split", 0);
  rheos_output i = rheos_constant_int(s, 0, NULL);
  add_op_attrs(s, "Split", (rheos_output[]){i, x}, 2, &zero, 1);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "passed 0 less than minimum 1");
  fixture_free(&f);
}

static void test_build__defaults_are_filled_in_and_order_is_the_signatures(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = rheos_constant_float(f.scope, 1, NULL);
  const int64_t four[] = {1, 2, 3, 4};
  rheos_attr attrs[] = {rheos_attr_int("_mine", 5), rheos_attr_string("padding", "SAME", 4),
                        rheos_attr_ints("ksize", four, 4), rheos_attr_ints("none", NULL, 0)};
  rheos_operation pool = add_op_attrs(f.scope, "Pool", &x, 1, attrs, 4);
  static const char *const order[] = {"T",    "ksize", "padding", "rate", "names",
                                      "dims", "none",  "area",    "ends", "_mine"};
  assert_int_equal(rheos_operation_num_attrs(pool), 10);
  for (int32_t i = 0; i < 10; i++) {
    assert_string_equal(rheos_operation_attr_at(pool, i).name, order[i]);
  }
  assert_true(rheos_operation_attr(pool, "rate").f == 1.5f);
  assert_int_equal(rheos_operation_attr(pool, "none").kind, RHEOS_ATTR_LIST_TYPE);
  assert_int_equal(rheos_operation_attr(pool, "_mine").i, 5);
  assert_int_equal(rheos_operation_attr(pool, "other").kind, RHEOS_ATTR_NONE);
  assert_null(rheos_operation_attr_at(pool, 10).name);
  fixture_free(&f);
}

static void test_build__an_error_leaves_no_trace(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = add_placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(2));
  rheos_output y = add_placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(3));
  add_op(s, "Add", "sum", (rheos_output[]){x, y}, 2);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "Dimensions must be equal, but are 2 and 3");
  assert_null(rheos_graph_operation(f.graph, "sum").graph);
  assert_int_equal(rheos_graph_num_operations(f.graph), 2);
  assert_operation_name(add_op(s, "Add", "sum", (rheos_output[]){x, x}, 2), "sum");
  fixture_free(&f);
}

static void test_build__shape_errors_say_where_and_with_what(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = add_placeholder(f.scope, RHEOS_FLOAT, RHEOS_SHAPE(3));
  rheos_push_name_scope(f.scope, "outer");
  add_op(f.scope, "Transpose", "t", &x, 1);
  rheos_scope_pop(f.scope);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "Shape must be rank 2 but is rank 1");
  add_op(f.scope, "Transpose", "t", &x, 1);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT,
               "for 't' (op: 'Transpose') with input shapes: [3].");
  fixture_free(&f);
}

static void test_build__many_inputs_are_ordinary(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  enum { COUNT = 5000 };
  static rheos_output inputs[COUNT];
  rheos_output x = rheos_constant_float(f.scope, 1, NULL);
  for (int i = 0; i < COUNT; i++) inputs[i] = x;
  rheos_operation pack = add_op(f.scope, "Pack", NULL, inputs, COUNT);
  assert_int_equal(rheos_operation_num_inputs(pack), COUNT);
  assert_shape_text(rheos_output_shape(output_of_op(pack)), "[5000]");
  fixture_free(&f);
}

static void test_build__constants_share_what_is_equal(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output a = rheos_constant_float(s, 1, NULL), b = rheos_constant_float(s, 1, NULL);
  rheos_output c = rheos_constant_float(s, -0.0f, NULL), d = rheos_constant_float(s, 0.0f, NULL);
  assert_int_not_equal(a.id, b.id);
  rheos_tensor *shared = rheos_operation_attr(rheos_output_operation(a), "value").tensor;
  assert_ptr_equal(rheos_operation_attr(rheos_output_operation(b), "value").tensor, shared);
  assert_ptr_not_equal(rheos_operation_attr(rheos_output_operation(c), "value").tensor,
                       rheos_operation_attr(rheos_output_operation(d), "value").tensor);
  fixture_free(&f);
}

static void test_build__short_forms_make_constants(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output filled = rheos__const_fill(s, RHEOS_HALF, RHEOS_SHAPE(2, 2), 1.5, "h");
  rheos_tensor *value = rheos_operation_attr(rheos_output_operation(filled), "value").tensor;
  assert_int_equal(((uint16_t *)rheos_tensor_data(value))[3], 0x3e00);
  assert_shape_text(rheos_output_shape(filled), "[2,2]");
  rheos_output words = rheos__const_strings(s, (const char *[]){"a", "bc"}, 2, "w");
  value = rheos_operation_attr(rheos_output_operation(words), "value").tensor;
  assert_string_equal(((rheos_string *)rheos_tensor_data(value))[1].data, "bc");
  rheos_output ints = rheos__const_ints(s, (int32_t[]){4, 5}, 2, "i");
  assert_shape_text(rheos_output_shape(ints), "[2]");
  char *name = rheos__name_with_suffix(s, rheos_output_operation(ints), "_grad");
  assert_string_equal(name, "i_grad");
  rheos_free(name);
  rheos__const_scalar(s, RHEOS_STRING, 1, NULL);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "of dtype string");
  fixture_free(&f);
}

static void test_build__a_known_shape_is_a_constant(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output known = add_placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(2, 3));
  rheos_output unknown = add_placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(-1, 3));
  rheos_operation constant = rheos_output_operation(rheos__shape_of(s, known, RHEOS_INT64));
  rheos_operation shape = rheos_output_operation(rheos__shape_of(s, unknown, RHEOS_INT64));
  assert_string_equal(rheos_operation_type(constant), "Const");
  assert_operation_name(constant, "Shape");
  assert_string_equal(rheos_operation_type(shape), "Shape");
  assert_int_equal(rheos_output_dtype(output_of_op(shape)), RHEOS_INT64);
  fixture_free(&f);
}

// A node like the one before it is not thought about again; one that differs in anything is.
static void test_build__likeness_is_not_mistaken(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = add_placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(2, 3));
  rheos_output row = add_placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(3));
  rheos_output other = add_placeholder(s, RHEOS_DOUBLE, RHEOS_SHAPE(3));
  rheos_output bad = add_placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(4));
  for (int i = 0; i < 3; i++) {
    assert_shape_text(rheos_output_shape(rheos__op_2(s, "Add", x, row)), "[2,3]");
    assert_shape_text(rheos_output_shape(rheos__op_2(s, "Add", row, row)), "[3]");
    rheos_output sum = rheos__op_2(s, "Add", other, other);
    assert_shape_text(rheos_output_shape(sum), "[3]");
    assert_int_equal(rheos_output_dtype(sum), RHEOS_DOUBLE);
    assert_int_equal(rheos_operation_attr(rheos_output_operation(sum), "T").type, RHEOS_DOUBLE);
    assert_scope_ok(s);
    rheos__op_2(s, "Add", x, bad);
    expect_error(s, RHEOS_INVALID_ARGUMENT, "for 'Add_");
    rheos__op_2(s, "Add", row, other);
    expect_error(s, RHEOS_INVALID_ARGUMENT, "does not match");
  }
  rheos_output plain = rheos__op_2(s, "Add", row, row);
  rheos_push_attr(s, rheos_attr_string("_tag", "text", 4));
  rheos_output tagged = rheos__op_2(s, "Add", row, row);
  rheos_scope_pop(s);
  rheos_push_device(s, "/cpu:1");
  rheos_operation placed = rheos_output_operation(rheos__op_2(s, "Add", row, row));
  rheos_scope_pop(s);
  rheos_output after = rheos__op_2(s, "Add", row, row);
  assert_int_equal(rheos_operation_attr(rheos_output_operation(plain), "_tag").kind,
                   RHEOS_ATTR_NONE);
  assert_int_equal(rheos_operation_attr(rheos_output_operation(tagged), "_tag").kind,
                   RHEOS_ATTR_STRING);
  assert_int_equal(rheos_operation_attr(rheos_output_operation(after), "_tag").kind,
                   RHEOS_ATTR_NONE);
  assert_string_equal(rheos_operation_device(placed), "/device:CPU:1");
  assert_string_equal(rheos_operation_device(rheos_output_operation(after)), "");
  assert_operation_name(rheos_output_operation(after), "Add_12");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_build__types_follow_from_the_inputs),
      cmocka_unit_test(test_build__list_lengths_follow_from_the_inputs),
      cmocka_unit_test(test_build__lists_that_cannot_be_told_apart_need_attributes),
      cmocka_unit_test(test_build__outputs_follow_from_attributes),
      cmocka_unit_test(test_build__references_pass_for_values_but_not_the_other_way),
      cmocka_unit_test(test_build__dtypes_that_do_not_fit_are_named),
      cmocka_unit_test(test_build__wrong_numbers_of_inputs_are_refused),
      cmocka_unit_test(test_build__inputs_that_are_not_there_are_refused),
      cmocka_unit_test(test_build__functions_are_kept_by_value),
      cmocka_unit_test(test_build__attributes_are_checked),
      cmocka_unit_test(test_build__defaults_are_filled_in_and_order_is_the_signatures),
      cmocka_unit_test(test_build__an_error_leaves_no_trace),
      cmocka_unit_test(test_build__shape_errors_say_where_and_with_what),
      cmocka_unit_test(test_build__many_inputs_are_ordinary),
      cmocka_unit_test(test_build__constants_share_what_is_equal),
      cmocka_unit_test(test_build__short_forms_make_constants),
      cmocka_unit_test(test_build__a_known_shape_is_a_constant),
      cmocka_unit_test(test_build__likeness_is_not_mistaken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
