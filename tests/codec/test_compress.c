// zlib's compression: what goes in comes out, in pieces of any size, and damage is found.
#include "codec/compress.h"
#include "format/format_support.h"

enum { SIZE = 200000 };

static char *make_text(void) {
  char *text = rheos__alloc(SIZE);
  uint32_t random = 1;
  for (int i = 0; i < SIZE; i++) {
    random = random * 1664525 + 1013904223;
    text[i] = (char)('a' + (random >> 29));
  }
  return text;
}

static rheos_status *append(void *argument, const void *data, size_t size_bytes) {
  rheos__buffer_put(argument, data, size_bytes);
  return NULL;
}

static rheos__buffer compressed(rheos_compression compression, const char *text, size_t size_bytes,
                                size_t piece_bytes) {
  rheos__buffer out = {0};
  rheos__deflater *deflater;
  expect_ok(rheos__deflater_new(compression, -1, &deflater));
  for (size_t at = 0; at < size_bytes; at += piece_bytes) {
    const size_t left = size_bytes - at, piece = left < piece_bytes ? left : piece_bytes;
    expect_ok(rheos__deflater_run(deflater, text + at, piece, RHEOS__DEFLATE_FULL, append, &out));
  }
  expect_ok(rheos__deflater_run(deflater, NULL, 0, RHEOS__DEFLATE_END, append, &out));
  rheos__deflater_free(deflater);
  assert_false(out.failed);
  return out;
}

static void expect_back(rheos_compression compression, const rheos__buffer *in, const char *text,
                        size_t size_bytes) {
  rheos__buffer out = {0};
  expect_ok(rheos__decompress(compression, in->data, in->size_bytes, &out));
  assert_int_equal(out.size_bytes, size_bytes);
  if (size_bytes > 0) assert_memory_equal(out.data, text, size_bytes);
  rheos__buffer_deinit(&out);
}

static void test_compress__what_goes_in_comes_out(void **state) {
  (void)state;
  char *text = make_text();
  const size_t sizes[] = {0, 1, 100, SIZE}, pieces[] = {1000, 65536, SIZE};
  for (rheos_compression kind = RHEOS_ZLIB; kind <= RHEOS_GZIP; kind++) {
    for (size_t i = 0; i < 4; i++) {
      for (size_t k = 0; k < 3; k++) {
        rheos__buffer bytes = compressed(kind, text, sizes[i], pieces[k]);
        if (sizes[i] == SIZE) assert_true(bytes.size_bytes < SIZE / 2);
        expect_back(kind, &bytes, text, sizes[i]);
        rheos__buffer_deinit(&bytes);
      }
    }
  }
  rheos__free(text);
}

static void test_compress__streams_may_follow_each_other(void **state) {
  (void)state;
  rheos__buffer both = compressed(RHEOS_GZIP, "abc", 3, 3);
  rheos__buffer second = compressed(RHEOS_GZIP, "defg", 4, 4);
  rheos__buffer_put(&both, second.data, second.size_bytes);
  expect_back(RHEOS_GZIP, &both, "abcdefg", 7);
  rheos__buffer_deinit(&both);
  rheos__buffer_deinit(&second);
}

static void test_compress__finds_cuts_and_damage(void **state) {
  (void)state;
  rheos__buffer bytes = compressed(RHEOS_ZLIB, "what is to be damaged", 21, 21), out = {0};
  for (size_t size = 1; size < bytes.size_bytes; size++) {
    expect_error(rheos__decompress(RHEOS_ZLIB, bytes.data, size, &out), RHEOS_DATA_LOSS,
                 "cut short");
  }
  bytes.data[bytes.size_bytes - 1] ^= 1;  // of the checksum
  expect_error(rheos__decompress(RHEOS_ZLIB, bytes.data, bytes.size_bytes, &out), RHEOS_DATA_LOSS,
               "incorrect data check");
  expect_error(rheos__decompress(RHEOS_ZLIB, "plain text", 10, &out), RHEOS_DATA_LOSS, "damaged");
  rheos__buffer_deinit(&out);
  rheos__buffer_deinit(&bytes);
}

static void test_inflater__fills_small_rooms(void **state) {
  (void)state;
  rheos__buffer bytes = compressed(RHEOS_ZLIB, "abcdefghij", 10, 10);
  rheos__inflater *inflater;
  expect_ok(rheos__inflater_new(RHEOS_ZLIB, &inflater));
  assert_true(rheos__inflater_is_whole(inflater));
  const char *in = bytes.data;
  size_t in_bytes = bytes.size_bytes, made;
  char room[4] = {0}, all[13] = {0};
  for (int i = 0; i < 3; i++) {
    expect_ok(rheos__inflater_run(inflater, &in, &in_bytes, room, 4, &made));
    assert_int_equal(made, i < 2 ? 4 : 2);
    memcpy(all + 4 * i, room, made);
  }
  assert_string_equal(all, "abcdefghij");
  assert_int_equal(in_bytes, 0);
  assert_true(rheos__inflater_is_whole(inflater));
  rheos__inflater_free(inflater);
  rheos__buffer_deinit(&bytes);
}

static void test_deflater__flushes_what_came(void **state) {
  (void)state;
  rheos__deflater *deflater;
  rheos__inflater *inflater;
  rheos__buffer out = {0};
  expect_ok(rheos__deflater_new(RHEOS_ZLIB, 9, &deflater));
  expect_ok(rheos__deflater_run(deflater, "abc", 3, RHEOS__DEFLATE_FLUSH, append, &out));
  expect_ok(rheos__inflater_new(RHEOS_ZLIB, &inflater));
  const char *in = out.data;
  size_t in_bytes = out.size_bytes, made;
  char room[10];
  expect_ok(rheos__inflater_run(inflater, &in, &in_bytes, room, sizeof room, &made));
  assert_int_equal(made, 3);
  assert_memory_equal(room, "abc", 3);
  assert_false(rheos__inflater_is_whole(inflater));
  rheos__inflater_free(inflater);
  rheos__deflater_free(deflater);
  rheos__buffer_deinit(&out);
}

static void test_compression__has_tensorflows_names(void **state) {
  (void)state;
  rheos_compression kind;
  assert_true(rheos__compression_of("", &kind) && kind == RHEOS_NO_COMPRESSION);
  assert_true(rheos__compression_of("ZLIB", &kind) && kind == RHEOS_ZLIB);
  assert_true(rheos__compression_of("GZIP", &kind) && kind == RHEOS_GZIP);
  assert_false(rheos__compression_of("zlib", &kind));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_compress__what_goes_in_comes_out),
      cmocka_unit_test(test_compress__streams_may_follow_each_other),
      cmocka_unit_test(test_compress__finds_cuts_and_damage),
      cmocka_unit_test(test_inflater__fills_small_rooms),
      cmocka_unit_test(test_deflater__flushes_what_came),
      cmocka_unit_test(test_compression__has_tensorflows_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
