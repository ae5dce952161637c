// Text that grows, and the characters of UTF-8 in it.
#include "base/text.h"

#include <assert.h>
#include <string.h>

void rheos__text_add(rheos__text *text, const char *data, size_t size_bytes) {
  if (text->failed || !RHEOS_RESERVE(text->data, text->capacity, text->size + size_bytes + 1)) {
    text->failed = true;
    return;
  }
  if (size_bytes > 0) memcpy(text->data + text->size, data, size_bytes);
  text->size += size_bytes;
  assert(text->size < text->capacity);
  text->data[text->size] = '\0';
}

void rheos__text_add_string(rheos__text *text, const char *string) {
  rheos__text_add(text, string, strlen(string));
}

int rheos__compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// ---- UTF-8

// Bytes of a character that starts with `lead`, and the range of its second byte; 0: none does.
static size_t char_bytes(unsigned char lead, unsigned char *low, unsigned char *high) {
  *low = 0x80;
  *high = 0xbf;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead == 0xe0) *low = 0xa0;
  if (lead == 0xed) *high = 0x9f;
  if (lead == 0xf0) *low = 0x90;
  if (lead == 0xf4) *high = 0x8f;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

size_t rheos__utf8_decode(const char *at, const char *end, int32_t *out_char) {
  const unsigned char *s = (const unsigned char *)at;
  assert(at < end);
  const size_t left = (size_t)(end - at);
  unsigned char low, high;
  const size_t bytes = char_bytes(s[0], &low, &high);
  *out_char = -1;
  if (bytes == 0) return 1;
  if (bytes == 1) {
    *out_char = s[0];
    return 1;
  }
  int32_t value = s[0] & (0x7f >> bytes);
  for (size_t i = 1; i < bytes; i++) {
    if (i == left || s[i] < low || s[i] > high) return i;
    value = value << 6 | (s[i] & 0x3f);
    low = 0x80;
    high = 0xbf;
  }
  *out_char = value;
  return bytes;
}

void rheos__utf8_add(rheos__text *text, int32_t c) {
  assert(c >= 0 && c <= 0x10ffff);
  char bytes[4];
  size_t count = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = count - 1; i > 0; i--, c >>= 6) bytes[i] = (char)(0x80 | (c & 0x3f));
  bytes[0] = (char)(count == 1 ? c : (0xf00 >> count & 0xff) | c);
  rheos__text_add(text, bytes, count);
}
