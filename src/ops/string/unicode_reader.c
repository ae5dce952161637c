// See unicode_reader.h. A character is read at a time, since ill-formed bytes are to be replaced
// one by one and every character's place is wanted.
#include "ops/string/unicode_reader.h"

#include <errno.h>
#include <string.h>

#include "ops/kit/string_util.h"

enum { ASCII, LATIN_1, UTF_8, UTF_16, UTF_32, OTHER };

// Small letters and digits alone.
static bool plain_name(const char *name, char *out, size_t capacity) {
  size_t count = 0;
  for (; *name != '\0'; name++) {
    const char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
    if (c == '-' || c == '_' || c == ' ') continue;
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) || count + 1 == capacity) return false;
    out[count++] = c;
  }
  out[count] = '\0';
  return count > 0;
}

static bool is_one_of(const char *name, const char *const *names) {
  for (; *names != NULL; names++) {
    if (strcmp(name, *names) == 0) return true;
  }
  return false;
}

rheos_status *rheos__unicode_open(const char *encoding, rheos__unicode_reader *out) {
  static const char *const ascii[] = {"ascii", "usascii", "iso646us", "ansix3.41968", NULL};
  static const char *const latin[] = {"latin1", "iso88591", "l1", "ibm819", "cp819", NULL};
  static const char *const utf8[] = {"utf8", NULL};
  static const char *const utf16[] = {"utf16", "utf16be", "utf16le", NULL};
  static const char *const utf32[] = {"utf32", "utf32be", "utf32le", NULL};
  char name[64];
  *out = (rheos__unicode_reader){.kind = OTHER, .big_endian = true};
  if (plain_name(encoding, name, sizeof name)) {
    const size_t length = strlen(name);
    if (is_one_of(name, ascii)) out->kind = ASCII;
    if (is_one_of(name, latin)) out->kind = LATIN_1;
    if (is_one_of(name, utf8)) out->kind = UTF_8;
    if (is_one_of(name, utf16)) out->kind = UTF_16;
    if (is_one_of(name, utf32)) out->kind = UTF_32;
    out->looks_for_mark = length == 5 && (out->kind == UTF_16 || out->kind == UTF_32);
    if (out->kind != OTHER) {
      out->big_endian = strcmp(name + length - 2, "le") != 0;
      return NULL;
    }
  }
  // A slash would start options of iconv's own.
  const bool asks = encoding[0] != '\0' && strchr(encoding, '/') == NULL;
  out->converter = asks ? iconv_open("UTF-32BE", encoding) : (iconv_t)-1;
  if (out->converter == (iconv_t)-1 && asks && strlen(encoding) < sizeof name) {
    // ICU, which TensorFlow asks, takes euc_kr for EUC-KR.
    strcpy(name, encoding);
    for (char *c = name; (c = strchr(c, '_')) != NULL;) *c = '-';
    out->converter = iconv_open("UTF-32BE", name);
  }
  if (out->converter != (iconv_t)-1) return NULL;
  return RHEOS_INVALID("Could not create converter for input encoding: %s", encoding);
}

void rheos__unicode_close(rheos__unicode_reader *reader) {
  if (reader->kind == OTHER) (void)iconv_close(reader->converter);
}

static uint32_t unit_at(const rheos__unicode_reader *reader, const char *at, int bytes) {
  uint32_t unit = 0;
  for (int i = 0; i < bytes; i++) {
    unit = unit << 8 | (unsigned char)at[reader->big_endian ? i : bytes - 1 - i];
  }
  return unit;
}

const char *rheos__unicode_begin(rheos__unicode_reader *reader, const char *at, const char *end) {
  if (reader->kind == OTHER) (void)iconv(reader->converter, NULL, NULL, NULL, NULL);
  if (!reader->looks_for_mark) return at;
  const int bytes = reader->kind == UTF_16 ? 2 : 4;
  reader->big_endian = true;
  if (end - at < bytes) return at;
  if (unit_at(reader, at, bytes) == 0xfeff) return at + bytes;
  reader->big_endian = false;
  if (unit_at(reader, at, bytes) == 0xfeff) return at + bytes;
  reader->big_endian = true;
  return at;
}

static const char *next_utf16(const rheos__unicode_reader *reader, const char *at, const char *end,
                              int32_t *out_char) {
  *out_char = -1;
  if (end - at < 2) return end;
  const uint32_t unit = unit_at(reader, at, 2);
  at += 2;
  if (unit < 0xd800 || unit > 0xdfff) *out_char = (int32_t)unit;
  if (unit < 0xd800 || unit > 0xdbff) return at;
  if (end - at < 2) return end;
  const uint32_t low = unit_at(reader, at, 2);
  if (low < 0xdc00 || low > 0xdfff) return at;
  *out_char = (int32_t)(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
  return at + 2;
}

static const char *next_utf32(const rheos__unicode_reader *reader, const char *at, const char *end,
                              int32_t *out_char) {
  *out_char = -1;
  if (end - at < 4) return end;
  const uint32_t unit = unit_at(reader, at, 4);
  if (unit <= RHEOS__MAX_CODE_POINT && (unit < 0xd800 || unit > 0xdfff)) *out_char = (int32_t)unit;
  return at + 4;
}

// Room for one character is given to iconv, so that it stops behind it.
static const char *next_other(rheos__unicode_reader *reader, const char *at, const char *end,
                              int32_t *out_char) {
  char *in = (char *)(uintptr_t)at;
  size_t in_left = (size_t)(end - at);
  char bytes[4];
  char *out = bytes;
  size_t out_left = sizeof bytes;
  const size_t result = iconv(reader->converter, &in, &in_left, &out, &out_left);
  if (out_left == 0) {
    const rheos__unicode_reader big = {.big_endian = true};
    *out_char = (int32_t)unit_at(&big, bytes, 4);
    return in;
  }
  if (result != (size_t)-1) {
    *out_char = -2;  // shifts alone
    return end;
  }
  *out_char = -1;
  if (errno == EINVAL) return end;
  return in > at ? in : at + 1;
}

const char *rheos__unicode_next(rheos__unicode_reader *reader, const char *at, const char *end,
                                int32_t *out_char) {
  if (at == end) {
    *out_char = -2;
    return end;
  }
  switch (reader->kind) {
    case ASCII:
    case LATIN_1:
      *out_char = (unsigned char)*at;
      if (reader->kind == ASCII && *out_char > 0x7f) *out_char = -1;
      return at + 1;
    case UTF_8: return at + rheos__utf8_decode(at, end, out_char);
    case UTF_16: return next_utf16(reader, at, end, out_char);
    case UTF_32: return next_utf32(reader, at, end, out_char);
    default: return next_other(reader, at, end, out_char);
  }
}
