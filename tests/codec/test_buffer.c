// Buffers that grow, and varints.
#include "codec/buffer.h"
#include "format/format_support.h"

static void test_buffer__puts_integers_little_endian(void **state) {
  (void)state;
  rheos__buffer b = {0};
  rheos__buffer_put_32(&b, 0x04030201);
  rheos__buffer_put_64(&b, UINT64_C(0x0c0b0a0908070605));
  rheos__buffer_put(&b, "\x0d\x0e", 2);
  assert_int_equal(b.size_bytes, 14);
  for (int i = 0; i < 14; i++) assert_int_equal(b.data[i], i + 1);
  assert_int_equal(rheos__load_32(b.data), 0x04030201);
  assert_true(rheos__load_64(b.data + 4) == UINT64_C(0x0c0b0a0908070605));
  rheos__buffer_deinit(&b);
  assert_null(b.data);
}

static void test_buffer__extends_at_the_end(void **state) {
  (void)state;
  rheos__buffer b = {0};
  for (int i = 0; i < 1000; i++) {
    char *room = rheos__buffer_extend(&b, 3);
    assert_ptr_equal(room, b.data + 3 * i);
    memset(room, i & 127, 3);
  }
  assert_int_equal(b.size_bytes, 3000);
  assert_true(b.capacity >= b.size_bytes);
  for (int i = 0; i < 3000; i++) assert_int_equal(b.data[i], i / 3 & 127);
  rheos__buffer_deinit(&b);
}

static void expect_varint(uint64_t value, size_t size_bytes) {
  rheos__buffer b = {0};
  rheos__buffer_put_varint(&b, value);
  assert_int_equal(b.size_bytes, size_bytes);
  const char *at = b.data, *const end = b.data + b.size_bytes;
  uint64_t again;
  assert_true(rheos__read_varint(&at, end, &again));
  assert_true(again == value);
  assert_ptr_equal(at, end);
  for (size_t cut = 0; cut < size_bytes; cut++) {
    at = b.data;
    assert_false(rheos__read_varint(&at, b.data + cut, &again));
  }
  rheos__buffer_deinit(&b);
}

static void test_varint__comes_back_and_may_not_be_cut(void **state) {
  (void)state;
  expect_varint(0, 1);
  expect_varint(127, 1);
  expect_varint(128, 2);
  expect_varint(300, 2);
  expect_varint((1 << 21) - 1, 3);
  expect_varint(UINT32_MAX, 5);
  expect_varint(UINT64_MAX >> 1, 9);
  expect_varint(UINT64_MAX, 10);
}

static void test_varint__has_64_bits_at_most(void **state) {
  (void)state;
  char bytes[11];
  memset(bytes, 0x80, sizeof bytes);
  bytes[10] = 1;
  const char *at = bytes;
  uint64_t value;
  assert_false(rheos__read_varint(&at, bytes + 11, &value));
}

static void *refuse(void *user, size_t size_bytes) {
  (void)user;
  (void)size_bytes;
  return NULL;
}
static void *refuse_more(void *user, void *memory, size_t size_bytes) {
  (void)user;
  (void)memory;
  (void)size_bytes;
  return NULL;
}
static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

static void test_buffer__stays_failed_when_memory_is_short(void **state) {
  (void)state;
  rheos__buffer b = {0};
  rheos_set_allocator(&(rheos_allocator){refuse, refuse_more, release, NULL});
  rheos__buffer_put(&b, "abc", 3);
  rheos_set_allocator(NULL);
  assert_true(b.failed);
  rheos__buffer_put(&b, "abc", 3);  // memory is there again, but a piece is missing
  assert_int_equal(b.size_bytes, 0);
  assert_null(rheos__buffer_extend(&b, 1));
  rheos__buffer_deinit(&b);
  assert_false(b.failed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_buffer__puts_integers_little_endian),
      cmocka_unit_test(test_buffer__extends_at_the_end),
      cmocka_unit_test(test_varint__comes_back_and_may_not_be_cut),
      cmocka_unit_test(test_varint__has_64_bits_at_most),
      cmocka_unit_test(test_buffer__stays_failed_when_memory_is_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
