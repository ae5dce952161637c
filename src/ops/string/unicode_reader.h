// Characters out of bytes in any encoding: UTF-8, UTF-16, UTF-32, ASCII and Latin-1 are read here,
// others by the C library's iconv.
#ifndef RHEOS_SRC_OPS_STRING_UNICODE_READER_H
#define RHEOS_SRC_OPS_STRING_UNICODE_READER_H

#include <iconv.h>

#include "base/status.h"

typedef struct rheos__unicode_reader {
  int kind;
  bool big_endian, looks_for_mark;  // a byte order mark says which
  iconv_t converter;
} rheos__unicode_reader;

enum { RHEOS__MAX_CODE_POINT = 0x10ffff };

// Fails if the encoding is not known. Letters' case, hyphens and underscores in its name are all
// one.
rheos_status *rheos__unicode_open(const char *encoding, rheos__unicode_reader *out_reader);
void rheos__unicode_close(rheos__unicode_reader *reader);

// To be called before the first character of a string: passes over a mark of the byte order.
const char *rheos__unicode_begin(rheos__unicode_reader *reader, const char *at, const char *end);
// Reads the character at `at`, before `end`; returns where the next one starts. `*out_char` is -1
// for bytes that are ill-formed, and -2 where there is no character left.
const char *rheos__unicode_next(rheos__unicode_reader *reader, const char *at, const char *end,
                                int32_t *out_char);

#endif  // RHEOS_SRC_OPS_STRING_UNICODE_READER_H
