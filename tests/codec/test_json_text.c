// JSON as it is written: commas, indents, escapes.
#include "codec/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_json_text__is_indented_with_commas_between(void **state) {
  (void)state;
  rheos__json_text j = {0};
  rheos__json_begin(&j, NULL, '{');
  rheos__json_add_int(&j, "a", INT64_MIN);
  rheos__json_begin(&j, "list", '[');
  rheos__json_add_unsigned(&j, NULL, UINT64_MAX);
  rheos__json_add_bool(&j, NULL, true);
  rheos__json_end(&j, ']');
  rheos__json_begin(&j, "none", '[');
  rheos__json_end(&j, ']');
  rheos__json_add_text(&j, "b", NULL);
  rheos__json_end(&j, '}');
  assert_string_equal(
      j.text.data,
      "{\n  \"a\": -9223372036854775808,\n  \"list\": [\n"
      "    18446744073709551615,\n    true\n  ],\n  \"none\": [],\n  \"b\": null\n}\n");
  rheos__text_deinit(&j.text);
}

static void test_json_text__escapes_what_is_no_text(void **state) {
  (void)state;
  rheos__json_text j = {0};
  rheos__json_add_text(&j, NULL, "a\"b\\c\n\x7f\xc3\xa9\xff\xe2\x82");
  assert_string_equal(j.text.data, "\"a\\\"b\\\\c\\u000a\\u007f\xc3\xa9\\\\xff\\\\xe2\\\\x82\"");
  rheos__text_deinit(&j.text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_json_text__is_indented_with_commas_between),
      cmocka_unit_test(test_json_text__escapes_what_is_no_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
