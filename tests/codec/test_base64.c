// Web-safe base64.
#include "codec/base64.h"
#include "format/format_support.h"

static rheos_status *decode(const char *text, rheos__text *out) {
  const rheos_string in = {(char *)(uintptr_t)text, strlen(text)};
  return rheos__base64_decode(&in, out);
}

static void expect_decoded(const char *text, const char *expected, size_t size_bytes) {
  rheos__text out = {0};
  expect_ok(decode(text, &out));
  assert_int_equal(out.size, size_bytes);
  if (size_bytes > 0) assert_memory_equal(out.data, expected, size_bytes);
  rheos__text_deinit(&out);
}

static void test_base64__decodes_padded_or_not(void **state) {
  (void)state;
  expect_decoded("", "", 0);
  expect_decoded("Zg==", "f", 1);
  expect_decoded("Zg", "f", 1);
  expect_decoded("Zm8=", "fo", 2);
  expect_decoded("Zm8", "fo", 2);
  expect_decoded("Zm9v", "foo", 3);
  expect_decoded("Zm9vYmFy", "foobar", 6);
  expect_decoded("-_-_AAAA", "\xfb\xff\xbf\0\0\0", 6);
}

static void test_base64__appends(void **state) {
  (void)state;
  rheos__text out = {0};
  expect_ok(decode("YQ", &out));
  expect_ok(decode("Yg", &out));
  assert_string_equal(out.data, "ab");
  rheos__text_deinit(&out);
}

static void expect_refused(const char *text, const char *message) {
  rheos__text out = {0};
  expect_error(decode(text, &out), RHEOS_INVALID_ARGUMENT, message);
  rheos__text_deinit(&out);
}

static void test_base64__refuses_what_it_is_not(void **state) {
  (void)state;
  expect_refused("Zm9vY", "1 modulo 4");
  expect_refused("Zm+v", "Invalid character");
  expect_refused("Zm/v", "Invalid character");
  expect_refused("Z=9v", "Invalid character");
  expect_refused("Z===", "Invalid character");
  expect_refused("Zm 9", "Invalid character");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_base64__decodes_padded_or_not),
      cmocka_unit_test(test_base64__appends),
      cmocka_unit_test(test_base64__refuses_what_it_is_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
