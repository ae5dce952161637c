// Text from files on a terminal and in JSON: names may hold any bytes.
#ifndef RHEOS_CLI_TEXT_H
#define RHEOS_CLI_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// The bytes of the UTF-8 character at `at`, 0 if there is none.
size_t text_character(const char *at, size_t size_bytes);

// Printed so that a terminal shows it in one line: control characters and bytes that are no UTF-8
// as "\n" or "\xff", a backslash as itself.
void text_print(FILE *out, const char *data, size_t size_bytes);

// A number with the fewest digits that give the same double (or float) again; "NaN", "Infinity".
void text_print_number(FILE *out, double value, bool is_float);

// ---- JSON, written as it comes: indented, commas where they belong

typedef struct json {
  FILE *out;
  bool is_compact;  // without spaces, and with no '<', so that it can stand inside HTML
  int depth;
  bool has_items[64];
  bool key_is_there;
} json;

// `key` is NULL inside an array and at the top.
void json_begin(json *j, const char *key, char bracket);  // '{' or '['
void json_end(json *j, char bracket);                     // '}' or ']'
// Bytes that are no UTF-8 become the four characters "\xff" (in JSON's spelling, "\\xff").
void json_text(json *j, const char *key, const char *text);
void json_bytes(json *j, const char *key, const char *data, size_t size_bytes);
// A text of base64 that stands for the bytes.
void json_base64(json *j, const char *key, const char *data, size_t size_bytes);
// A key whose value comes next, with key NULL; NULL: none.
void json_key(json *j, const char *key);
void json_bytes_key(json *j, const char *key, size_t key_bytes);
void json_int(json *j, const char *key, int64_t value);
void json_unsigned(json *j, const char *key, uint64_t value);
void json_bool(json *j, const char *key, bool value);
// What JSON has no number for is a text: "NaN", "Infinity", "-Infinity".
void json_number(json *j, const char *key, double value, bool is_float);
void json_null(json *j, const char *key);
// A value that is JSON text already; spaces go where there are to be none.
void json_value(json *j, const char *key, const char *text);
// The members of an object that stands at the top of other JSON text, written as here.
void json_members(json *j, const char *object);

#endif  // RHEOS_CLI_TEXT_H
