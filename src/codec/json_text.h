// JSON, written as it comes: indented, commas where they belong.
#ifndef RHEOS_SRC_CODEC_JSON_TEXT_H
#define RHEOS_SRC_CODEC_JSON_TEXT_H

#include "base/text.h"

enum { RHEOS__JSON_DEPTH = 16 };

typedef struct rheos__json_text {
  rheos__text text;  // that is written; the caller's to free
  int depth;
  bool has_items[RHEOS__JSON_DEPTH];
} rheos__json_text;

// `key` is NULL inside an array and at the top.
void rheos__json_begin(rheos__json_text *j, const char *key, char bracket);  // '{' or '['
void rheos__json_end(rheos__json_text *j, char bracket);                     // '}' or ']'
// Bytes that are no UTF-8 become the four characters "\xff" (in JSON's spelling, "\\xff"). NULL:
// null.
void rheos__json_add_text(rheos__json_text *j, const char *key, const char *text);
void rheos__json_add_int(rheos__json_text *j, const char *key, int64_t value);
void rheos__json_add_unsigned(rheos__json_text *j, const char *key, uint64_t value);
void rheos__json_add_bool(rheos__json_text *j, const char *key, bool value);
void rheos__json_add_null(rheos__json_text *j, const char *key);

#endif  // RHEOS_SRC_CODEC_JSON_TEXT_H
