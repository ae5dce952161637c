// Definitions of ops as OpDef messages.
#include "format/format_support.h"
#include "format/graph/graph_def.h"

static Tensorflow__OpDef *op_def(const char *type, rheos__arena *arena) {
  void *data;
  size_t size_bytes;
  expect_ok(rheos_op_to_op_def(type, &data, &size_bytes));
  Tensorflow__OpDef *def;
  expect_ok(RHEOS_PROTO_UNPACK(op_def, data, size_bytes, arena, &def));
  rheos_free(data);
  return def;
}

static void test_op_def__says_what_the_signature_says(void **state) {
  (void)state;
  rheos__arena arena;
  rheos__arena_init(&arena);
  const Tensorflow__OpDef *def = op_def("MatMul", &arena);
  assert_string_equal(def->name, "MatMul");
  assert_int_equal(def->n_input_arg, 2);
  assert_string_equal(def->input_arg[1]->name, "b");
  assert_string_equal(def->input_arg[1]->type_attr, "T");
  assert_string_equal(def->output_arg[0]->name, "product");
  const Tensorflow__OpDef__AttrDef *attr = def->attr[0];
  assert_string_equal(attr->name, "transpose_a");
  assert_string_equal(attr->type, "bool");
  assert_int_equal(attr->default_value->value_case, TENSORFLOW__ATTR_VALUE__VALUE_B);
  for (size_t i = 0; i < def->n_attr; i++) {
    if (strcmp(def->attr[i]->name, "T") != 0) continue;
    assert_null(def->attr[i]->default_value);
    assert_true(def->attr[i]->allowed_values->list->n_type >= 6);
  }
  assert_false(def->is_stateful);
  rheos__arena_deinit(&arena);
}

static void test_op_def__lists_strings_and_references(void **state) {
  (void)state;
  rheos__arena arena;
  rheos__arena_init(&arena);
  const Tensorflow__OpDef *pool = op_def("MaxPool", &arena);
  for (size_t i = 0; i < pool->n_attr; i++) {
    const Tensorflow__OpDef__AttrDef *attr = pool->attr[i];
    if (strcmp(attr->name, "padding") == 0) {
      assert_string_equal(attr->type, "string");
      assert_memory_equal(attr->allowed_values->list->s[0].data, "SAME", 4);
    } else if (strcmp(attr->name, "ksize") == 0) {
      assert_string_equal(attr->type, "list(int)");
      assert_true(attr->has_minimum);
      assert_int_equal(attr->minimum, 4);
    }
  }
  const Tensorflow__OpDef *concat = op_def("ConcatV2", &arena);
  assert_string_equal(concat->input_arg[0]->number_attr, "N");
  assert_int_equal(concat->attr[0]->minimum, 2);
  const Tensorflow__OpDef *variable = op_def("VariableV2", &arena);
  assert_true(variable->is_stateful);
  assert_true(variable->output_arg[0]->is_ref);
  assert_int_equal(op_def("ReadVariableOp", &arena)->input_arg[0]->type,
                   TENSORFLOW__DATA_TYPE__DT_RESOURCE);
  rheos__arena_deinit(&arena);
}

static void test_op_def__every_op_has_one(void **state) {
  (void)state;
  rheos__arena arena;
  rheos__arena_init(&arena);
  for (int32_t i = 0; i < rheos_num_ops(); i++) {
    const rheos__signature *signature = rheos__signature_at(i);
    const Tensorflow__OpDef *def = op_def(rheos_op_type(i), &arena);
    assert_string_equal(def->name, rheos_op_type(i));
    assert_int_equal(def->n_attr, signature->num_attrs);
    for (int32_t k = 0; k < signature->num_attrs; k++) {
      assert_int_equal(def->attr[k]->default_value != NULL, signature->attrs[k].has_default);
    }
  }
  rheos__arena_deinit(&arena);
}

static void test_op_def__an_unknown_op_has_none(void **state) {
  (void)state;
  void *data;
  size_t size_bytes;
  expect_error(rheos_op_to_op_def("NoSuchOp", &data, &size_bytes), RHEOS_NOT_FOUND, "NoSuchOp");
  assert_null(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_op_def__says_what_the_signature_says),
      cmocka_unit_test(test_op_def__lists_strings_and_references),
      cmocka_unit_test(test_op_def__every_op_has_one),
      cmocka_unit_test(test_op_def__an_unknown_op_has_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
