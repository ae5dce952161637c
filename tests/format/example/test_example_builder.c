// Building examples: the bytes are TensorFlow's, what does not fit is told at the end, memory that
// is short too.
#include <rheos/examples.h>

#include "format/format_support.h"

// Made with TensorFlow, keys sorted.
static const char EXAMPLE[] =
    "\x0a\x55\x0a\x1a\x0a\x05"
    "label\x12\x11\x1a\x0f\x0a\x0d\x01\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01\xac\x02\x0a\x13\x0a"
    "\x04"
    "name\x12\x0b\x0a\x09\x0a\x01x\x0a\x00\x0a\x02yz\x0a\x0a\x0a\x04"
    "none\x12\x02\x12\x00\x0a\x16\x0a\x06"
    "weight\x12\x0c\x12\x0a\x0a\x08\x00\x00\xc0\x3f\x00\x00\x00\xc0";
static const char SEQUENCE[] =
    "\x0a\x0d\x0a\x0b\x0a\x02id\x12\x05\x1a\x03\x0a\x01\x07\x12\x2c\x0a\x17\x0a\x01"
    "c\x12\x12\x0a\x06\x0a\x04\x0a\x02"
    "ab\x0a\x08\x12\x06\x0a\x04\x00\x00\x00\x3f\x0a\x11\x0a\x01w\x12\x0c\x0a\x06\x1a\x04\x0a\x02"
    "\x01"
    "\x02\x0a\x02\x1a\x00";

static void add_example(rheos_example_builder *b) {
  const int64_t labels[] = {1, -5, 300};
  const float weights[] = {1.5f, -2};
  const rheos_string names[] = {{(char[]){"x"}, 1}, {NULL, 0}, {(char[]){"yz"}, 2}};
  rheos_example_builder_add_floats(b, "weight", weights, 2);
  rheos_example_builder_add_bytes(b, "name", names, 1);
  rheos_example_builder_add_floats(b, "none", NULL, 0);
  rheos_example_builder_add_ints(b, "label", labels, 3);
  rheos_example_builder_add_bytes(b, "name", names + 1, 2);
}

static void add_sequence(rheos_example_builder *b) {
  const int64_t id = 7, words[] = {1, 2};
  const float half = 0.5f;
  const rheos_string text = {(char[]){"ab"}, 2};
  rheos_example_builder_add_ints(b, "id", &id, 1);
  rheos_example_builder_step_ints(b, "w", words, 2);
  rheos_example_builder_step_bytes(b, "c", &text, 1);
  rheos_example_builder_step_ints(b, "w", NULL, 0);
  rheos_example_builder_step_floats(b, "c", &half, 1);
}

static void expect_bytes(const void *data, size_t size_bytes, const char *expected,
                         size_t expected_bytes) {
  assert_int_equal(size_bytes, expected_bytes);
  assert_memory_equal(data, expected, expected_bytes);
}

static void test_example_builder__writes_the_bytes_of_tensorflow(void **state) {
  (void)state;
  rheos_example_builder *b = rheos_example_builder_new();
  const void *data;
  size_t size_bytes;
  for (int round = 0; round < 3; round++) {
    add_example(b);
    expect_ok(rheos_example_builder_example(b, &data, &size_bytes));
    expect_bytes(data, size_bytes, EXAMPLE, sizeof EXAMPLE - 1);
    rheos_example_builder_clear(b);
    add_sequence(b);
    expect_ok(rheos_example_builder_sequence(b, &data, &size_bytes));
    expect_bytes(data, size_bytes, SEQUENCE, sizeof SEQUENCE - 1);
    rheos_example_builder_clear(b);
  }
  expect_ok(rheos_example_builder_example(b, &data, &size_bytes));
  assert_int_equal(size_bytes, 0);
  rheos_example_builder_free(b);
  rheos_example_builder_free(NULL);
}

static void test_example_builder__tells_what_does_not_fit(void **state) {
  (void)state;
  rheos_example_builder *b = rheos_example_builder_new();
  const void *data;
  size_t size_bytes;
  add_sequence(b);
  expect_error(rheos_example_builder_example(b, &data, &size_bytes), RHEOS_INVALID_ARGUMENT,
               "lists of features");
  const float one = 1;
  rheos_example_builder_add_floats(b, "id", &one, 1);
  expect_error(rheos_example_builder_sequence(b, &data, &size_bytes), RHEOS_INVALID_ARGUMENT,
               "'id' was given values of two kinds");
  rheos_example_builder_clear(b);
  rheos_example_builder_add_floats(b, "id", &one, 1);
  rheos_example_builder_add_text(b, "text", "words");
  expect_ok(rheos_example_builder_example(b, &data, &size_bytes));
  assert_int_equal(size_bytes, 2 + 16 + 19);  // the map, its two entries
  rheos_example_builder_free(b);
}

static rheos_status *build(void *unused) {
  (void)unused;
  rheos_example_builder *b = rheos_example_builder_new();
  if (b == NULL) return rheos__out_of_memory();
  add_example(b);
  add_sequence(b);
  const void *data;
  size_t size_bytes;
  rheos_status *status = rheos_example_builder_sequence(b, &data, &size_bytes);
  rheos_example_builder_free(b);
  return status;
}

static void test_example_builder__survives_short_memory(void **state) {
  (void)state;
  sweep_allocations(build, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_example_builder__writes_the_bytes_of_tensorflow),
      cmocka_unit_test(test_example_builder__tells_what_does_not_fit),
      cmocka_unit_test(test_example_builder__survives_short_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
