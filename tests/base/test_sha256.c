// SHA-256 against the examples of FIPS 180-4, taken whole and in pieces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"

static void assert_digest(const char *data, size_t size, size_t piece, const char *expected) {
  rheos__sha256 sha;
  uint8_t digest[RHEOS__SHA256_BYTES];
  char text[RHEOS__SHA256_TEXT];
  rheos__sha256_init(&sha);
  for (size_t at = 0; at < size; at += piece) {
    rheos__sha256_add(&sha, data + at, size - at < piece ? size - at : piece);
  }
  rheos__sha256_finish(&sha, digest);
  rheos__sha256_text(digest, text);
  assert_string_equal(text, expected);
}

static void test_known_digests(void **unused) {
  (void)unused;
  static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  static char million[1000000];
  memset(million, 'a', sizeof million);
  for (size_t piece = 1; piece < 130; piece += 16) {
    assert_digest("", 0, piece, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", 3, piece,
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest(two, sizeof two - 1, piece,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_digest(million, sizeof million, piece,
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_digests)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
