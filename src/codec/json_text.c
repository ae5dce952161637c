// JSON as text: what is written is two spaces in for each bracket that is open.
#include "codec/json_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_quoted(rheos__text *text, const char *string) {
  rheos__text_add_string(text, "\"");
  for (const char *at = string, *end = string + strlen(string); at < end;) {
    int32_t character;
    const size_t length = rheos__utf8_decode(at, end, &character);
    char escape[16] = "";
    if (character < 0) {
      for (size_t i = 0; i < length; i++) {
        snprintf(escape, sizeof escape, "\\\\x%02x", (unsigned char)at[i]);
        rheos__text_add_string(text, escape);
      }
      at += length;
      continue;
    }
    if (character == '"' || character == '\\') {
      snprintf(escape, sizeof escape, "\\%c", (char)character);
    } else if (character < ' ' || character == 0x7f) {
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)character);
    }
    if (escape[0] != '\0') {
      rheos__text_add_string(text, escape);
    } else {
      rheos__text_add(text, at, length);
    }
    at += length;
  }
  rheos__text_add_string(text, "\"");
}

static void begin_line(rheos__json_text *j) {
  rheos__text_add_string(&j->text, "\n");
  for (int i = 0; i < j->depth; i++) rheos__text_add_string(&j->text, "  ");
}

// The comma behind the value before, the new line, the key.
static void begin_value(rheos__json_text *j, const char *key) {
  if (j->depth > 0) {
    if (j->has_items[j->depth]) rheos__text_add_string(&j->text, ",");
    j->has_items[j->depth] = true;
    begin_line(j);
  }
  if (key == NULL) return;
  add_quoted(&j->text, key);
  rheos__text_add_string(&j->text, ": ");
}

void rheos__json_begin(rheos__json_text *j, const char *key, char bracket) {
  begin_value(j, key);
  rheos__text_add(&j->text, &bracket, 1);
  assert(j->depth + 1 < RHEOS__JSON_DEPTH);
  j->has_items[++j->depth] = false;
}

void rheos__json_end(rheos__json_text *j, char bracket) {
  const bool has_items = j->has_items[j->depth--];
  if (has_items) begin_line(j);
  rheos__text_add(&j->text, &bracket, 1);
  if (j->depth == 0) rheos__text_add_string(&j->text, "\n");
}

void rheos__json_add_text(rheos__json_text *j, const char *key, const char *text) {
  if (text == NULL) {
    rheos__json_add_null(j, key);
    return;
  }
  begin_value(j, key);
  add_quoted(&j->text, text);
}

void rheos__json_add_int(rheos__json_text *j, const char *key, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  begin_value(j, key);
  rheos__text_add_string(&j->text, text);
}

void rheos__json_add_unsigned(rheos__json_text *j, const char *key, uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  begin_value(j, key);
  rheos__text_add_string(&j->text, text);
}

void rheos__json_add_bool(rheos__json_text *j, const char *key, bool value) {
  begin_value(j, key);
  rheos__text_add_string(&j->text, value ? "true" : "false");
}

void rheos__json_add_null(rheos__json_text *j, const char *key) {
  begin_value(j, key);
  rheos__text_add_string(&j->text, "null");
}
