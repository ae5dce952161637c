// Protobuf's wire format by hand: its bytes are protobuf's, and hostile ones are refused.
#include "codec/wire.h"
#include "format/format_support.h"

static void expect_bytes(rheos__buffer *b, const char *bytes, size_t size_bytes) {
  assert_false(b->failed);
  assert_int_equal(b->size_bytes, size_bytes);
  assert_memory_equal(b->data, bytes, size_bytes);
  rheos__buffer_deinit(b);
}

static void test_wire__writes_protobufs_bytes(void **state) {
  (void)state;
  rheos__buffer b = {0}, inner = {0};
  rheos__wire_put_varint(&b, 1, 150);
  rheos__wire_put_bytes(&b, 2, "testing", 7);
  rheos__wire_put_float(&b, 3, 1.0F);
  rheos__wire_put_varint(&inner, 1, 150);
  rheos__wire_put_message(&b, 4, &inner);
  assert_null(inner.data);
  rheos__wire_put_double(&b, 16, -2.0);
  static const char expected[] =
      "\x08\x96\x01"
      "\x12\x07testing"
      "\x1d\0\0\x80\x3f"
      "\x22\x03\x08\x96\x01"
      "\x81\x01\0\0\0\0\0\0\0\xc0";
  expect_bytes(&b, expected, sizeof expected - 1);
}

static void test_wire__writes_shapes(void **state) {
  (void)state;
  rheos__buffer b = {0};
  rheos__wire_put_shape(&b, 2, &(rheos_shape){.rank = 2, .dims = {3, 0}});
  expect_bytes(&b, "\x12\x06\x12\x02\x08\x03\x12\x00", 8);
  rheos__wire_put_shape(&b, 2, &(rheos_shape){.rank = -1});
  expect_bytes(&b, "\x12\x02\x18\x01", 4);
  rheos__wire_put_shape(&b, 2, &(rheos_shape){.rank = 0});
  expect_bytes(&b, "\x12\x00", 2);
}

static void test_wire__writes_tensors(void **state) {
  (void)state;
  rheos__buffer b = {0};
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(2), &tensor));
  memcpy(rheos_tensor_data(tensor), (int32_t[]){1, -1}, 8);
  rheos__wire_put_tensor(&b, tensor);
  rheos_tensor_unref(tensor);
  expect_bytes(&b, "\x08\x03\x12\x04\x12\x02\x08\x02\x22\x08\x01\0\0\0\xff\xff\xff\xff", 18);
  expect_ok(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(2), &tensor));
  expect_ok(rheos_tensor_set_string(tensor, 1, "ab", 2));
  rheos__wire_put_tensor(&b, tensor);
  rheos_tensor_unref(tensor);
  expect_bytes(&b,
               "\x08\x07\x12\x04\x12\x02\x08\x02\x42\x00\x42\x02"
               "ab",
               14);
}

static void test_wire__reads_what_was_written(void **state) {
  (void)state;
  rheos__buffer b = {0};
  rheos__wire_put_varint(&b, 1, UINT64_MAX);
  rheos__wire_put_float(&b, 2, 1.0F);
  rheos__wire_put_double(&b, 3, 1.0);
  rheos__wire_put_bytes(&b, 1000, "xyz", 3);
  rheos__wire wire = rheos__wire_of(b.data, b.size_bytes);
  rheos__wire_field f;
  bool sound;
  assert_true(rheos__wire_next(&wire, &f, &sound));
  assert_true(f.number == 1 && f.type == RHEOS__WIRE_VARINT && f.value == UINT64_MAX);
  assert_true(rheos__wire_next(&wire, &f, &sound));
  assert_true(f.number == 2 && f.type == RHEOS__WIRE_32 && f.value == 0x3f800000);
  assert_true(rheos__wire_next(&wire, &f, &sound));
  assert_true(f.number == 3 && f.type == RHEOS__WIRE_64);
  assert_true(f.value == UINT64_C(0x3ff0000000000000));
  assert_true(rheos__wire_next(&wire, &f, &sound));
  assert_true(f.number == 1000 && f.type == RHEOS__WIRE_BYTES);
  assert_int_equal(rheos__wire_size(f.data), 3);
  assert_memory_equal(f.data.at, "xyz", 3);
  assert_false(rheos__wire_next(&wire, &f, &sound));
  assert_true(sound);
  rheos__buffer_deinit(&b);
}

static void expect_unsound(const char *bytes, size_t size_bytes) {
  rheos__wire wire = rheos__wire_of(bytes, size_bytes);
  rheos__wire_field f;
  bool sound;
  assert_false(rheos__wire_next(&wire, &f, &sound));
  assert_false(sound);
}

static void test_wire__refuses_what_is_no_message(void **state) {
  (void)state;
  expect_unsound("\x08", 1);                // no value
  expect_unsound("\x0d\0\0\0", 4);          // three bytes of four
  expect_unsound("\x09\0\0\0\0\0\0\0", 8);  // seven of eight
  expect_unsound(
      "\x0a\x03"
      "ab",
      4);  // two of three
  expect_unsound("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
  expect_unsound("\x02\x00", 2);                      // field 0
  expect_unsound("\x0b", 1);                          // groups are not known
  expect_unsound("\x0f", 1);                          // nor is type 7
  expect_unsound("\x80\x80\x80\x80\x80\x01\x00", 7);  // a number beyond 32 bits
}

static void test_wire_take__is_for_short_fields_of_bytes(void **state) {
  (void)state;
  rheos__wire wire = rheos__wire_of(
                  "\x0a\x02"
                  "ab\x12\x01"
                  "c",
                  7),
              data;
  assert_false(rheos__wire_take(&wire, 0x12, &data));
  assert_int_equal(rheos__wire_size(wire), 7);
  assert_true(rheos__wire_take(&wire, 0x0a, &data));
  assert_int_equal(rheos__wire_size(data), 2);
  assert_memory_equal(data.at, "ab", 2);
  assert_true(rheos__wire_take(&wire, 0x12, &data));
  assert_int_equal(rheos__wire_size(wire), 0);
  assert_false(rheos__wire_take(&wire, 0x12, &data));
  wire = rheos__wire_of(
      "\x0a\x03"
      "ab",
      4);
  assert_false(rheos__wire_take(&wire, 0x0a, &data));
  assert_int_equal(rheos__wire_size(wire), 4);
}

static void test_wire_take__knows_longer_lengths(void **state) {
  (void)state;
  rheos__buffer b = {0};
  char bytes[300] = {1};
  rheos__wire_put_bytes(&b, 1, bytes, sizeof bytes);
  rheos__wire wire = rheos__wire_of(b.data, b.size_bytes), data = {0};
  assert_true(rheos__wire_take(&wire, 0x0a, &data));
  assert_int_equal(rheos__wire_size(data), sizeof bytes);
  assert_int_equal(data.at[0], 1);
  rheos__buffer_deinit(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wire__writes_protobufs_bytes),
      cmocka_unit_test(test_wire__writes_shapes),
      cmocka_unit_test(test_wire__writes_tensors),
      cmocka_unit_test(test_wire__reads_what_was_written),
      cmocka_unit_test(test_wire__refuses_what_is_no_message),
      cmocka_unit_test(test_wire_take__is_for_short_fields_of_bytes),
      cmocka_unit_test(test_wire_take__knows_longer_lengths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
