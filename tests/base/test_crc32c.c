// CRC32C against published values, and the instruction against the table.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/crc32c.h"

// Values of RFC 3720, section B.4.
static void test_crc32c__has_published_values(void **state) {
  (void)state;
  unsigned char data[32];
  memset(data, 0, sizeof data);
  assert_int_equal(rheos__crc32c(0, data, 32), 0x8a9136aau);
  memset(data, 0xff, sizeof data);
  assert_int_equal(rheos__crc32c(0, data, 32), 0x62a8ab43u);
  for (int i = 0; i < 32; i++) data[i] = (unsigned char)i;
  assert_int_equal(rheos__crc32c(0, data, 32), 0x46dd794eu);
  assert_int_equal(rheos__crc32c(0, "123456789", 9), 0xe3069283u);
  assert_int_equal(rheos__crc32c(0, "", 0), 0);
}

static void fill(unsigned char *data, size_t size_bytes) {
  uint32_t seed = 1;
  for (size_t i = 0; i < size_bytes; i++) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = (unsigned char)(seed >> 24);
  }
}

static void test_crc32c__parts_can_be_joined(void **state) {
  (void)state;
  unsigned char data[5000];
  fill(data, sizeof data);
  const uint32_t whole = rheos__crc32c(0, data, sizeof data);
  for (size_t cut = 0; cut <= sizeof data; cut += 125) {
    const uint32_t first = rheos__crc32c(0, data, cut);
    const uint32_t second = rheos__crc32c(0, data + cut, sizeof data - cut);
    assert_int_equal(rheos__crc32c_join(first, second, sizeof data - cut), whole);
  }
}

static void test_crc32c__can_be_made_in_parts(void **state) {
  (void)state;
  const char *text = "a checksum made in two parts is that of the whole";
  size_t size = strlen(text);
  uint32_t whole = rheos__crc32c(0, text, size);
  for (size_t cut = 0; cut <= size; cut++) {
    assert_int_equal(rheos__crc32c(rheos__crc32c(0, text, cut), text + cut, size - cut), whole);
  }
}

static void test_crc32c__is_the_same_by_table(void **state) {
  (void)state;
  unsigned char data[300], large[20000];
  fill(data, sizeof data);
  fill(large, sizeof large);
  for (size_t size = 0; size < sizeof large; size += 97) {
    assert_int_equal(rheos__crc32c(5, large, size), rheos__crc32c_by_table(5, large, size));
  }
  for (size_t start = 0; start < 9; start++) {
    for (size_t size = 0; size < sizeof data - start; size += 7) {
      assert_int_equal(rheos__crc32c(7, data + start, size),
                       rheos__crc32c_by_table(7, data + start, size));
    }
  }
}

static void test_crc32c__mask_is_undone_by_unmask(void **state) {
  (void)state;
  assert_int_equal(rheos__crc32c_mask(0), 0xa282ead8u);
  for (uint32_t crc = 1; crc != 0; crc <<= 1) {
    assert_int_not_equal(rheos__crc32c_mask(crc), crc);
    assert_int_equal(rheos__crc32c_unmask(rheos__crc32c_mask(crc)), crc);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_crc32c__has_published_values),
      cmocka_unit_test(test_crc32c__can_be_made_in_parts),
      cmocka_unit_test(test_crc32c__parts_can_be_joined),
      cmocka_unit_test(test_crc32c__is_the_same_by_table),
      cmocka_unit_test(test_crc32c__mask_is_undone_by_unmask),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
