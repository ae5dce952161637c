// Escapes for terminals and for JSON.
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t text_character(const char *at, size_t size_bytes) {
  const unsigned char *u = (const unsigned char *)at;
  if (size_bytes == 0) return 0;
  if (u[0] < 0x80) return 1;
  const size_t length = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
  if (u[0] < 0xc2 || u[0] > 0xf4 || length > size_bytes) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((u[i] & 0xc0) != 0x80) return 0;
  }
  const bool is_overlong = (u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xf0 && u[1] < 0x90);
  const bool is_outside = (u[0] == 0xed && u[1] > 0x9f) || (u[0] == 0xf4 && u[1] > 0x8f);
  return is_overlong || is_outside ? 0 : length;
}

// Whether a character of that length is one that moves a terminal's cursor: C0, DEL, C1.
static bool is_control(const char *at, size_t length) {
  const unsigned char c = (unsigned char)at[0];
  if (length == 1) return c < ' ' || c == 0x7f;
  return length == 2 && c == 0xc2 && (unsigned char)at[1] < 0xa0;
}

static void print_escape(FILE *out, unsigned char c) {
  if (c == '\n') {
    fputs("\\n", out);
  } else if (c == '\t') {
    fputs("\\t", out);
  } else {
    fprintf(out, "\\x%02x", c);
  }
}

void text_print(FILE *out, const char *data, size_t size_bytes) {
  for (size_t i = 0; i < size_bytes;) {
    const size_t length = text_character(data + i, size_bytes - i);
    if (length == 0 || is_control(data + i, length)) {
      print_escape(out, (unsigned char)data[i++]);
      continue;
    }
    fwrite(data + i, 1, length, out);
    i += length;
  }
}

void text_print_number(FILE *out, double value, bool is_float) {
  if (isnan(value)) {
    fputs("NaN", out);
  } else if (isinf(value)) {
    fputs(value > 0 ? "Infinity" : "-Infinity", out);
  } else {
    char text[40];
    const int most = is_float ? 9 : 17;
    for (int digits = is_float ? 6 : 15; digits <= most; digits++) {
      snprintf(text, sizeof text, "%.*g", digits, value);
      const double again = strtod(text, NULL);
      if (is_float ? (float)again == (float)value : again == value) break;
    }
    fputs(text, out);
  }
}

// ---- JSON

static void print_quoted(const json *j, const char *data, size_t size_bytes) {
  FILE *out = j->out;
  fputc('"', out);
  for (size_t i = 0; i < size_bytes;) {
    const size_t length = text_character(data + i, size_bytes - i);
    const unsigned char c = (unsigned char)data[i];
    if (length == 0) {
      fprintf(out, "\\\\x%02x", c);
      i++;
      continue;
    }
    if (c == '"' || c == '\\') {
      fprintf(out, "\\%c", c);
    } else if (c < ' ' || c == 0x7f || (c == '<' && j->is_compact)) {
      fprintf(out, "\\u%04x", c);
    } else {
      fwrite(data + i, 1, length, out);
    }
    i += length;
  }
  fputc('"', out);
}

// The comma behind the value before, the new line, the key.
static void begin_value(json *j, const char *key) {
  if (j->key_is_there) {
    j->key_is_there = false;
    return;
  }
  if (j->depth > 0) {
    if (j->has_items[j->depth]) fputc(',', j->out);
    j->has_items[j->depth] = true;
    if (!j->is_compact) fprintf(j->out, "\n%*s", 2 * j->depth, "");
  }
  if (key != NULL) {
    print_quoted(j, key, strlen(key));
    fputs(j->is_compact ? ":" : ": ", j->out);
  }
}

void json_bytes_key(json *j, const char *key, size_t key_bytes) {
  begin_value(j, NULL);
  print_quoted(j, key, key_bytes);
  fputs(j->is_compact ? ":" : ": ", j->out);
  j->key_is_there = true;
}

void json_key(json *j, const char *key) {
  if (key != NULL) json_bytes_key(j, key, strlen(key));
}

void json_begin(json *j, const char *key, char bracket) {
  begin_value(j, key);
  fputc(bracket, j->out);
  j->has_items[++j->depth] = false;
}

void json_end(json *j, char bracket) {
  if (j->has_items[j->depth--] && !j->is_compact) fprintf(j->out, "\n%*s", 2 * j->depth, "");
  fputc(bracket, j->out);
  if (j->depth == 0) fputc('\n', j->out);
}

void json_bytes(json *j, const char *key, const char *data, size_t size_bytes) {
  begin_value(j, key);
  print_quoted(j, data, size_bytes);
}

void json_base64(json *j, const char *key, const char *data, size_t size_bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  begin_value(j, key);
  fputc('"', j->out);
  for (size_t i = 0; i < size_bytes; i += 3) {
    uint32_t group = 0;
    const size_t count = size_bytes - i < 3 ? size_bytes - i : 3;
    for (size_t k = 0; k < 3; k++) {
      group = group << 8 | (k < count ? (unsigned char)data[i + k] : 0);
    }
    for (size_t k = 0; k < 4; k++) {
      fputc(k <= count ? digits[group >> (18 - 6 * k) & 63] : '=', j->out);
    }
  }
  fputc('"', j->out);
}

void json_text(json *j, const char *key, const char *text) {
  json_bytes(j, key, text, strlen(text));
}

void json_value(json *j, const char *key, const char *text) {
  bool is_inside = false;  // a text of it
  begin_value(j, key);
  for (; *text != '\0'; text++) {
    if (j->is_compact && *text == '<') {
      fputs("\\u003c", j->out);
    } else if (!j->is_compact || is_inside || strchr(" \n", *text) == NULL) {
      fputc(*text, j->out);
    }
    if (*text == '"') is_inside = !is_inside;
    if (*text == '\\' && text[1] != '\0') fputc(*++text, j->out);
  }
}

void json_int(json *j, const char *key, int64_t value) {
  begin_value(j, key);
  fprintf(j->out, "%lld", (long long)value);
}

void json_unsigned(json *j, const char *key, uint64_t value) {
  begin_value(j, key);
  fprintf(j->out, "%llu", (unsigned long long)value);
}

void json_bool(json *j, const char *key, bool value) {
  begin_value(j, key);
  fputs(value ? "true" : "false", j->out);
}

void json_null(json *j, const char *key) {
  begin_value(j, key);
  fputs("null", j->out);
}

void json_number(json *j, const char *key, double value, bool is_float) {
  begin_value(j, key);
  if (!isfinite(value)) fputc('"', j->out);
  text_print_number(j->out, value, is_float);
  if (!isfinite(value)) fputc('"', j->out);
}

void json_members(json *j, const char *object) {
  // Between its first line, the bracket, and the line of the last bracket.
  const char *first = strchr(object, '\n'), *end = strrchr(object, '}');
  if (first == NULL || end == NULL || end <= first) return;
  while (end > first && end[-1] == '\n') end--;
  fputs(j->has_items[j->depth] ? "," : "", j->out);
  j->has_items[j->depth] = true;
  fwrite(first, 1, (size_t)(end - first), j->out);
}
