// The tokens of JSON: which may follow one another is for the reader to say. The text may be
// hostile.
#ifndef RHEOS_CLI_JSON_LEXER_H
#define RHEOS_CLI_JSON_LEXER_H

#include <rheos/base.h>

typedef struct json_lexer {
  const char *start, *at, *end;
  char *text;  // the string or number that was read last, with a NUL behind it
  size_t text_bytes, capacity;
} json_lexer;

// The text is borrowed.
json_lexer json_lexer_of(const char *text, size_t size_bytes);
void json_lexer_deinit(json_lexer *l);

rheos_status *json_lexer_wrong(const json_lexer *l, const char *what);  // with the place

// The next character that is no white space; NUL at the end.
char json_lexer_peek(json_lexer *l);
bool json_lexer_is_at_end(json_lexer *l);
// Takes that character, or these, if they come next.
bool json_lexer_take(json_lexer *l, char c);
bool json_lexer_take_word(json_lexer *l, const char *word);

rheos_status *json_lexer_read_string(json_lexer *l);  // which has to be UTF-8
rheos_status *json_lexer_read_base64(json_lexer *l);  // a string, of which `text` gets the bytes
rheos_status *json_lexer_read_number(json_lexer *l);  // its spelling

#endif  // RHEOS_CLI_JSON_LEXER_H
