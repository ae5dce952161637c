// Reading examples where they lie: entries in their order, lists of every form, values that do not
// fit.
#include "codec/example.h"

#include "format/format_support.h"

static rheos__wire wire(const char *data, size_t size_bytes) {
  return rheos__wire_of(data, size_bytes);
}
#define WIRE(literal) wire((literal), sizeof(literal) - 1)

static void take(void *argument, rheos__wire key, rheos__wire value) {
  rheos__buffer *seen = argument;
  rheos__buffer_put(seen, key.at, rheos__wire_size(key));
  rheos__buffer_put(seen, "=", 1);
  rheos__buffer_put(seen, value.at, rheos__wire_size(value));
  rheos__buffer_put(seen, ";", 1);
}

static bool entries(rheos__wire example, uint32_t field, const char *expected) {
  rheos__buffer seen = {0};
  const bool sound = rheos__example_entries(example, field, take, &seen);
  assert_int_equal(seen.size_bytes, strlen(expected));
  if (seen.size_bytes > 0) assert_memory_equal(seen.data, expected, seen.size_bytes);
  rheos__buffer_deinit(&seen);
  return sound;
}

static void test_example__entries_come_in_their_order(void **state) {
  (void)state;
  // Two entries, an unknown field, and another message behind it; value before key in the second.
  assert_true(entries(WIRE("\x0a\x10\x0a\x06\x0a\x01"
                           "a\x12\x01"
                           "A\x0a\x06\x12\x01"
                           "B\x0a\x01"
                           "b"
                           "\x10\x07\x0a\x08\x0a\x06\x0a\x01"
                           "a\x12\x01"
                           "C"),
                      RHEOS__EXAMPLE_FEATURES, "a=A;b=B;a=C;"));
  assert_true(entries(WIRE("\x0a\x08\x0a\x06\x0a\x01"
                           "a\x12\x01"
                           "A"),
                      RHEOS__SEQUENCE_FEATURE_LISTS, ""));
  assert_true(entries(WIRE(""), RHEOS__EXAMPLE_FEATURES, ""));
  assert_false(entries(WIRE("\x0a\x05\x0a\x03\x0a\x01"
                            "a"),
                       RHEOS__EXAMPLE_FEATURES, ""));
  assert_false(entries(WIRE("\x0a\x02\x10\x01"), RHEOS__EXAMPLE_FEATURES, ""));
}

static void test_example__a_feature_is_its_first_list(void **state) {
  (void)state;
  rheos_dtype dtype;
  rheos__wire list;
  assert_true(rheos__feature_read(WIRE("\x1a\x03\x0a\x01\x05\x12\x00"), &dtype, &list));
  assert_int_equal(dtype, RHEOS_INT64);
  assert_int_equal(rheos__wire_size(list), 3);
  assert_true(rheos__feature_read(WIRE(""), &dtype, &list));
  assert_int_equal(dtype, RHEOS_INVALID_DTYPE);
  assert_false(rheos__feature_read(WIRE("\x22\x00"), &dtype, &list));
  assert_false(rheos__feature_read(WIRE("\x1a\x09"), &dtype, &list));
}

static void test_example__values_that_do_not_fit_are_counted(void **state) {
  (void)state;
  rheos_tensor *tensor;
  int64_t count, *values;
  expect_ok(rheos_tensor_new(RHEOS_INT64, RHEOS_SHAPE(4), &tensor));
  values = tensor->data;
  memset(values, 0, tensor->size_bytes);
  // Packed, one by one, packed again.
  const rheos__wire list = WIRE("\x0a\x02\x01\x02\x08\x03\x0a\x03\x04\x80\x01");
  rheos__feature_values(RHEOS_INT64, list, tensor, 1, 2, &count);
  assert_int_equal(count, 5);
  assert_true(values[0] == 0 && values[1] == 1 && values[2] == 2 && values[3] == 0);
  rheos__feature_values(RHEOS_INT64, list, NULL, 0, 9, &count);
  assert_int_equal(count, 5);
  rheos__feature_values(RHEOS_FLOAT,
                        WIRE("\x0a\x03"
                             "abc"),
                        NULL, 0, 9, &count);
  assert_int_equal(count, -1);
  rheos__feature_values(RHEOS_STRING, WIRE("\x08\x01"), NULL, 0, 9, &count);
  assert_int_equal(count, -1);
  rheos_tensor_unref(tensor);
}

// Strings are borrowed until the tensor owns them; then they may be overwritten like any others.
static void test_example__strings_are_borrowed_then_owned(void **state) {
  (void)state;
  rheos_tensor *tensor, *copy;
  int64_t count;
  expect_ok(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(4), &tensor));
  const rheos__wire list = WIRE(
      "\x0a\x02"
      "ab"
      "\x0a\x00"
      "\x0a\x01"
      "c"
      "\x0a\x03"
      "def");
  rheos__feature_values(RHEOS_STRING, list, tensor, 0, 4, &count);
  assert_int_equal(count, 4);
  rheos_string *strings = tensor->data;
  assert_ptr_equal(strings[0].data, list.at + 2);
  expect_ok(rheos__tensor_own_strings(tensor));
  assert_string_equal(strings[0].data, "ab");
  assert_int_equal(strings[1].size_bytes, 0);
  assert_string_equal(strings[2].data, "c");
  assert_string_equal(strings[3].data, "def");
  expect_ok(rheos_tensor_set_string(tensor, 0, "a longer one", 12));
  expect_ok(rheos_tensor_set_string(tensor, 1, "b", 1));
  expect_ok(rheos__copy_elements(RHEOS_STRING, strings + 2, strings + 3, 1));
  expect_ok(rheos_tensor_copy(tensor, &copy));
  rheos_tensor_unref(tensor);
  strings = copy->data;
  assert_string_equal(strings[0].data, "a longer one");
  assert_string_equal(strings[1].data, "b");
  assert_string_equal(strings[2].data, "def");
  assert_string_equal(strings[3].data, "def");
  rheos_tensor_unref(copy);
}

static void test_example__feature_lists_end_soundly_or_not(void **state) {
  (void)state;
  bool sound;
  rheos__wire list = WIRE("\x0a\x00\x0a\x02\x1a\x00\x10\x01"), feature;
  assert_true(rheos__feature_list_next(&list, &feature, &sound));
  assert_int_equal(rheos__wire_size(feature), 0);
  assert_true(rheos__feature_list_next(&list, &feature, &sound));
  assert_int_equal(rheos__wire_size(feature), 2);
  assert_false(rheos__feature_list_next(&list, &feature, &sound));
  assert_false(sound);
  rheos__wire empty = WIRE("");
  assert_false(rheos__feature_list_next(&empty, &feature, &sound));
  assert_true(sound);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_example__entries_come_in_their_order),
      cmocka_unit_test(test_example__a_feature_is_its_first_list),
      cmocka_unit_test(test_example__values_that_do_not_fit_are_counted),
      cmocka_unit_test(test_example__strings_are_borrowed_then_owned),
      cmocka_unit_test(test_example__feature_lists_end_soundly_or_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
