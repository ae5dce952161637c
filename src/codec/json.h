// The tokens of JSON, for those who read it: which tokens may follow one another is theirs to say.
// The text may be hostile, and nothing here recurses.
#ifndef RHEOS_SRC_CODEC_JSON_H
#define RHEOS_SRC_CODEC_JSON_H

#include "base/text.h"
#include "tensor/tensor.h"

typedef struct rheos__json {
  const char *start, *at, *end;
  const char *complaint;  // what errors begin with
  rheos__text string;     // the string or number read last
} rheos__json;

// To be freed by deinit. The text is borrowed.
rheos__json rheos__json_of(const char *text, size_t size_bytes, const char *complaint);
void rheos__json_deinit(rheos__json *json);

// RHEOS_INVALID_ARGUMENT with the place.
rheos_status *rheos__json_wrong(const rheos__json *json, const char *what);

// The next character that is no white space; NUL at the end, and for a NUL.
char rheos__json_peek(rheos__json *json);
bool rheos__json_is_at_end(rheos__json *json);
// Takes that character, or these, if they come next.
bool rheos__json_take(rheos__json *json, char c);
bool rheos__json_take_word(rheos__json *json, const char *word);

// A string, which is UTF-8 without control characters.
rheos_status *rheos__json_read_string(rheos__json *json);
// What the string is base64 of, in either alphabet, behind `to`.
rheos_status *rheos__json_read_base64(rheos__json *json, rheos__text *to);
// The text of a number, quoted or not. It has a digit first, or behind a minus, and no needless 0
// there; else it is for the caller to parse.
rheos_status *rheos__json_read_number(rheos__json *json, bool *out_quoted);

// The string read last; never NULL data.
rheos_string rheos__json_string(const rheos__json *json);
bool rheos__json_string_is(const rheos__json *json, const char *text);

#endif  // RHEOS_SRC_CODEC_JSON_H
