// Text that grows, and the characters of UTF-8 in it.
#ifndef RHEOS_SRC_BASE_TEXT_H
#define RHEOS_SRC_BASE_TEXT_H

#include "base/alloc.h"

// Starts as zeros and is ended by rheos__text_deinit(). Once memory is short it stays `failed`, so
// a writer checks once, at the end.
typedef struct rheos__text {
  char *data;  // NUL-terminated; NULL while empty
  size_t size, capacity;
  bool failed;
} rheos__text;

void rheos__text_add(rheos__text *text, const char *data, size_t size_bytes);
void rheos__text_add_string(rheos__text *text, const char *string);

static inline void rheos__text_deinit(rheos__text *text) {
  rheos__free(text->data);
  *text = (rheos__text){0};
}

// White space as C's "C" locale has it, whatever the program's locale.
static inline bool rheos__is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The order of two `char *`, by their addresses: for qsort() and bsearch().
int rheos__compare_texts(const void *a, const void *b);

// ---- UTF-8

// Whether a byte continues a character.
static inline bool rheos__is_trail_byte(char c) { return ((unsigned char)c & 0xc0) == 0x80; }
// Decodes the character at `at` (before `end`); returns its bytes. Ill-formed input is 1 byte or
// the longest beginning of a character, as Unicode recommends, and -1 as the character.
size_t rheos__utf8_decode(const char *at, const char *end, int32_t *out_char);
void rheos__utf8_add(rheos__text *text, int32_t character);

#endif  // RHEOS_SRC_BASE_TEXT_H
