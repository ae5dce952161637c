// The library's own op table: every signature parses, every op is found once.
#include "graph/graph_fixture.h"

#include "graph/op_def.h"

static void test_op_table__every_signature_parses(void **state) {
  (void)state;
  assert_true(rheos__op_table_size > 0);
  for (int32_t i = 0; i < rheos__op_table_size; i++) {
    const rheos__op_def *op = rheos__op_table[i];
    const rheos__signature *signature = rheos__signature_by_name(op->name);
    // An op that is missing here did not parse; another one of its name came first.
    if (signature == NULL || signature->op != op) fail_msg("%s: %s", op->name, op->signature);
    assert_ptr_equal(rheos__signature_at(i), signature);
  }
}

static void test_op_table__every_op_is_documented(void **state) {
  (void)state;
  for (int32_t i = 0; i < rheos__op_table_size; i++) {
    const char *doc = rheos__op_table[i]->doc;
    if (doc == NULL || doc[0] == '\0') fail_msg("%s has no doc line", rheos__op_table[i]->name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_op_table__every_signature_parses),
      cmocka_unit_test(test_op_table__every_op_is_documented),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
