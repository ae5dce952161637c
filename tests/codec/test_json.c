// The tokens of JSON.
#include "codec/json.h"
#include "format/format_support.h"

static rheos__json json_of(const char *text) {
  return rheos__json_of(text, strlen(text), "bad JSON");
}

static void test_json__takes_tokens_and_skips_white_space(void **state) {
  (void)state;
  rheos__json json = json_of(" { \"a\"\t:\n true , null}\r ");
  assert_false(rheos__json_take(&json, '['));
  assert_true(rheos__json_take(&json, '{'));
  expect_ok(rheos__json_read_string(&json));
  assert_true(rheos__json_string_is(&json, "a"));
  assert_false(rheos__json_string_is(&json, "ab"));
  assert_true(rheos__json_take(&json, ':'));
  assert_false(rheos__json_take_word(&json, "false"));
  assert_true(rheos__json_take_word(&json, "true"));
  assert_int_equal(rheos__json_peek(&json), ',');
  assert_true(rheos__json_take(&json, ','));
  assert_true(rheos__json_take_word(&json, "null"));
  assert_false(rheos__json_is_at_end(&json));
  assert_true(rheos__json_take(&json, '}'));
  assert_true(rheos__json_is_at_end(&json));
  assert_int_equal(rheos__json_peek(&json), '\0');
  assert_false(rheos__json_take(&json, '\0'));
  rheos__json_deinit(&json);
}

static void expect_text(const char *text, const char *expected, size_t size_bytes) {
  rheos__json json = json_of(text);
  expect_ok(rheos__json_read_string(&json));
  const rheos_string string = rheos__json_string(&json);
  assert_int_equal(string.size_bytes, size_bytes);
  assert_memory_equal(string.data, expected, size_bytes);
  assert_true(rheos__json_is_at_end(&json));
  rheos__json_deinit(&json);
}

static void test_json__strings_have_escapes(void **state) {
  (void)state;
  expect_text("\"\"", "", 0);
  expect_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
  expect_text("\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac", 6);
  expect_text("\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", 4);
  expect_text("\"\\u0000\"", "\0", 1);
  expect_text("\"\xc3\xa9\"", "\xc3\xa9", 2);
}

static void expect_wrong(const char *text, const char *message) {
  rheos__json json = json_of(text);
  expect_error(rheos__json_read_string(&json), RHEOS_INVALID_ARGUMENT, message);
  rheos__json_deinit(&json);
}

static void test_json__refuses_bad_strings_with_their_place(void **state) {
  (void)state;
  expect_wrong(" 1", "bad JSON: expected a string at byte 1");
  expect_wrong("\"a", "a string without an end at byte 2");
  expect_wrong("\"a\\x\"", "a bad escape at byte 4");
  expect_wrong("\"\\u12g4\"", "a bad \\u escape at byte 5");
  expect_wrong("\"\\u12", "a bad \\u escape at byte 5");
  expect_wrong("\"\\ud83d\"", "an unpaired surrogate");
  expect_wrong("\"\\ude00\"", "an unpaired surrogate");
  expect_wrong("\"\\ud83d\\u0041\"", "an unpaired surrogate");
  expect_wrong("\"\n\"", "control characters at byte 1");
  expect_wrong("\"\xff\"", "not UTF-8");
  expect_wrong("\"\\", "a bad escape");
}

static void test_json__reads_base64_of_both_alphabets(void **state) {
  (void)state;
  rheos__json json = json_of("\"+/-_\" \"YQ==\" \"YQ\" \"a\"");
  rheos__text text = {0};
  expect_ok(rheos__json_read_base64(&json, &text));
  expect_ok(rheos__json_read_base64(&json, &text));
  expect_ok(rheos__json_read_base64(&json, &text));
  assert_int_equal(text.size, 5);
  assert_memory_equal(text.data,
                      "\xfb\xff\xbf"
                      "aa",
                      5);
  expect_error(rheos__json_read_base64(&json, &text), RHEOS_INVALID_ARGUMENT, "expected base64");
  rheos__text_deinit(&text);
  rheos__json_deinit(&json);
}

static void expect_number(const char *text, bool quoted, const char *expected) {
  rheos__json json = json_of(text);
  bool is_quoted;
  rheos_status *status = rheos__json_read_number(&json, &is_quoted);
  if (expected == NULL) {
    expect_error(status, RHEOS_INVALID_ARGUMENT, "expected a number");
  } else {
    expect_ok(status);
    assert_true(rheos__json_string_is(&json, expected));
  }
  assert_int_equal(is_quoted, quoted);
  rheos__json_deinit(&json);
}

static void test_json__numbers_start_with_a_digit(void **state) {
  (void)state;
  expect_number("12,", false, "12");
  expect_number("-0.5e+3]", false, "-0.5e+3");
  expect_number("0", false, "0");
  expect_number("0e1", false, "0e1");
  expect_number("\"7\"", true, "7");
  expect_number("01", false, NULL);
  expect_number("-01", false, NULL);
  expect_number("+1", false, NULL);
  expect_number(".5", false, NULL);
  expect_number("-", false, NULL);
  expect_number("", false, NULL);
  expect_number("x", false, NULL);
  expect_number("\"NaN\"", true, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_json__takes_tokens_and_skips_white_space),
      cmocka_unit_test(test_json__strings_have_escapes),
      cmocka_unit_test(test_json__refuses_bad_strings_with_their_place),
      cmocka_unit_test(test_json__reads_base64_of_both_alphabets),
      cmocka_unit_test(test_json__numbers_start_with_a_digit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
