// Signatures: what their texts mean.
#include "graph/graph_fixture.h"
#include "graph/tiny_ops.h"

static const rheos__signature *signature(const char *name) {
  const rheos__signature *found = rheos__signature_by_name(name);
  assert_non_null(found);
  return found;
}

static void test_signature__every_op_parses_and_is_found(void **state) {
  (void)state;
  for (int32_t i = 0; i < rheos__op_table_size; i++) {
    assert_ptr_equal(signature(rheos__op_table[i]->name)->op, rheos__op_table[i]);
    assert_ptr_equal(rheos__signature_at(i)->op, rheos__op_table[i]);
  }
  assert_null(rheos__signature_at(-1));
  assert_null(rheos__signature_at(rheos__op_table_size));
  assert_null(rheos__signature_by_name("nothing"));
  assert_null(rheos__signature_by_name(""));
}

static void test_signature__arguments_refer_to_attributes(void **state) {
  (void)state;
  const rheos__signature *concat = signature("ConcatV2");
  assert_int_equal(concat->num_inputs, 2);
  assert_int_equal(concat->num_outputs, 1);
  assert_string_equal(concat->inputs[0].name, "values");
  assert_string_equal(concat->attrs[concat->inputs[0].number_attr].name, "N");
  assert_string_equal(concat->attrs[concat->inputs[0].type_attr].name, "T");
  assert_int_equal(concat->inputs[1].number_attr, -1);
  assert_string_equal(concat->attrs[concat->inputs[1].type_attr].name, "Tidx");
  const rheos__signature *many = signature("IdentityN");
  assert_int_equal(many->inputs[0].type_list_attr, 0);
  assert_int_equal(many->inputs[0].type_attr, -1);
  const rheos__signature *assign = signature("Assign");
  assert_true(assign->inputs[0].is_ref);
  assert_false(assign->inputs[1].is_ref);
  assert_true(assign->outputs[0].is_ref);
  assert_int_equal(signature("Split")->inputs[0].dtype, RHEOS_INT32);
  const rheos__signature *nothing = signature("NoOp");
  assert_int_equal(nothing->num_inputs + nothing->num_outputs + nothing->num_attrs, 0);
}

static const rheos__attr_def *attr_of(const rheos__signature *s, const char *name) {
  for (int32_t i = 0; i < s->num_attrs; i++) {
    if (strcmp(s->attrs[i].name, name) == 0) return &s->attrs[i];
  }
  fail_msg("no attribute %s", name);
  return NULL;
}

static void test_signature__attributes_have_kinds_limits_and_defaults(void **state) {
  (void)state;
  const rheos__signature *pool = signature("Pool");
  assert_int_equal(attr_of(pool, "T")->allowed_types, 1u << RHEOS_HALF | 1u << RHEOS_BFLOAT16 |
                                                          1u << RHEOS_FLOAT | 1u << RHEOS_DOUBLE);
  assert_int_equal(attr_of(pool, "T")->default_value.type, RHEOS_FLOAT);
  const rheos__attr_def *ksize = attr_of(pool, "ksize");
  assert_int_equal(ksize->kind, RHEOS_ATTR_LIST_INT);
  assert_true(ksize->has_minimum && ksize->minimum == 4 && !ksize->has_default);
  const rheos__attr_def *padding = attr_of(pool, "padding");
  assert_int_equal(padding->kind, RHEOS_ATTR_STRING);
  assert_string_equal(padding->allowed_strings[1], "VALID");
  assert_null(padding->allowed_strings[2]);
  assert_true(attr_of(pool, "rate")->default_value.f == 1.5f);
  const rheos_attr_value *names = &attr_of(pool, "names")->default_value;
  assert_int_equal(names->count, 2);
  assert_string_equal(names->strings[1].data, "b");
  assert_int_equal(attr_of(pool, "dims")->default_value.ints[1], -2);
  assert_int_equal(attr_of(pool, "none")->default_value.kind, RHEOS_ATTR_LIST_TYPE);
  assert_int_equal(attr_of(pool, "none")->default_value.count, 0);
  assert_shape_text(*attr_of(pool, "area")->default_value.shape, "[2,?]");
  assert_int_equal(attr_of(signature("Placeholder"), "shape")->default_value.shape->rank, -1);
  assert_string_equal(attr_of(signature("VariableV2"), "container")->default_value.s.data, "");
  assert_string_equal(attr_of(pool, "ends")->default_value.s.data, "\t\n\\");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_signature__every_op_parses_and_is_found),
      cmocka_unit_test(test_signature__arguments_refer_to_attributes),
      cmocka_unit_test(test_signature__attributes_have_kinds_limits_and_defaults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
