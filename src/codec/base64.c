// Base64 in its web-safe alphabet (RFC 4648, section 5).
#include "codec/base64.h"

#include <assert.h>

static int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

rheos_status *rheos__base64_decode(const rheos_string *in, rheos__text *out) {
  size_t size = in->size_bytes;
  if (size > 0 && size % 4 == 0) {  // padded, then to whole groups
    if (in->data[size - 1] == '=') size--;
    if (size % 4 == 3 && in->data[size - 1] == '=') size--;
  }
  if (size % 4 == 1) return RHEOS_INVALID("Base64 string length cannot be 1 modulo 4.");
  for (size_t i = 0; i < size; i += 4) {
    const size_t left = size - i < 4 ? size - i : 4;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; k++) {
      const int digit = k < left ? digit_of(in->data[i + k]) : 0;
      if (digit < 0) return RHEOS_INVALID("Invalid character found in base64.");
      group = group << 6 | (uint32_t)digit;
    }
    assert(left >= 2 && group < 1u << 24);
    const char bytes[] = {(char)(group >> 16), (char)(group >> 8), (char)group};
    rheos__text_add(out, bytes, left - 1);
  }
  return NULL;
}
