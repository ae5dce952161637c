// One character after the other.
#include "json_lexer.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "status.h"
#include "text.h"

json_lexer json_lexer_of(const char *text, size_t size_bytes) {
  const char *start = size_bytes > 0 ? text : "";
  return (json_lexer){.start = start, .at = start, .end = start + size_bytes};
}

void json_lexer_deinit(json_lexer *l) { free(l->text); }

rheos_status *json_lexer_wrong(const json_lexer *l, const char *what) {
  return INVALID("not JSON that a tensor can be made of: %s at byte %zu", what,
                 (size_t)(l->at - l->start));
}

char json_lexer_peek(json_lexer *l) {
  while (l->at < l->end && (*l->at == ' ' || (*l->at >= '\t' && *l->at <= '\r'))) l->at++;
  return l->at < l->end ? *l->at : '\0';
}

bool json_lexer_is_at_end(json_lexer *l) {
  json_lexer_peek(l);
  return l->at == l->end;
}

bool json_lexer_take(json_lexer *l, char c) {
  if (json_lexer_peek(l) != c || l->at == l->end) return false;
  l->at++;
  return true;
}

bool json_lexer_take_word(json_lexer *l, const char *word) {
  const size_t size = strlen(word);
  json_lexer_peek(l);
  if ((size_t)(l->end - l->at) < size || memcmp(l->at, word, size) != 0) return false;
  l->at += size;
  return true;
}

static void add(json_lexer *l, const char *bytes, size_t size_bytes) {
  if (l->capacity - l->text_bytes <= size_bytes) {
    l->capacity = l->capacity * 2 + size_bytes + 64;
    l->text = command_realloc(l->text, l->capacity);
  }
  memcpy(l->text + l->text_bytes, bytes, size_bytes);
  l->text_bytes += size_bytes;
  l->text[l->text_bytes] = '\0';
}

static void clear(json_lexer *l) {
  l->text_bytes = 0;
  add(l, "", 0);
}

// ---- Strings

static void add_character(json_lexer *l, uint32_t c) {
  char bytes[4];
  size_t count = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = count; i-- > 0; c >>= 6) {
    bytes[i] = (char)(i > 0 ? 0x80 | (c & 0x3f) : marks[count] | c);
  }
  add(l, bytes, count);
}

// The four digits of "\uXXXX".
static rheos_status *read_hex(json_lexer *l, uint32_t *out_value) {
  static const char digits[] = "0123456789abcdefABCDEF";
  *out_value = 0;
  for (int i = 0; i < 4; i++, l->at++) {
    const char *found = l->at < l->end && *l->at != '\0' ? strchr(digits, *l->at) : NULL;
    if (found == NULL) return json_lexer_wrong(l, "a bad \\u escape");
    const uint32_t digit = (uint32_t)(found - digits);
    *out_value = *out_value << 4 | (digit < 16 ? digit : digit - 6);
  }
  return NULL;
}

static rheos_status *read_unicode(json_lexer *l) {
  uint32_t c, low;
  TRY(read_hex(l, &c));
  if (c >= 0xd800 && c < 0xdc00 && l->end - l->at >= 2 && memcmp(l->at, "\\u", 2) == 0) {
    l->at += 2;
    TRY(read_hex(l, &low));
    if (low < 0xdc00 || low > 0xdfff) return json_lexer_wrong(l, "an unpaired surrogate");
    c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
  } else if (c >= 0xd800 && c <= 0xdfff) {
    return json_lexer_wrong(l, "an unpaired surrogate");
  }
  add_character(l, c);
  return NULL;
}

static rheos_status *read_escape(json_lexer *l) {
  static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  const char c = l->at < l->end ? *l->at++ : '\0';
  if (c == 'u') return read_unicode(l);
  const char *found = c != '\0' ? strchr(escapes, c) : NULL;
  if (found == NULL) return json_lexer_wrong(l, "a bad escape");
  add(l, &meant[found - escapes], 1);
  return NULL;
}

rheos_status *json_lexer_read_string(json_lexer *l) {
  if (!json_lexer_take(l, '"')) return json_lexer_wrong(l, "expected a string");
  clear(l);
  while (l->at < l->end && *l->at != '"') {
    if (*l->at == '\\') {
      l->at++;
      TRY(read_escape(l));
      continue;
    }
    const size_t size = text_character(l->at, (size_t)(l->end - l->at));
    if (size == 0 || (size == 1 && (unsigned char)*l->at < 0x20)) {
      return json_lexer_wrong(l, "a string that is not UTF-8, or has control characters");
    }
    add(l, l->at, size);
    l->at += size;
  }
  return json_lexer_take(l, '"') ? NULL : json_lexer_wrong(l, "a string without an end");
}

// The six bits of a digit of base64, in either alphabet; -1 for others.
static int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

rheos_status *json_lexer_read_base64(json_lexer *l) {
  TRY(json_lexer_read_string(l));
  size_t count = l->text_bytes, num_bytes = 0;
  for (int i = 0; i < 2 && l->text_bytes % 4 == 0 && count > 0 && l->text[count - 1] == '='; i++) {
    count--;
  }
  bool sound = count % 4 != 1;
  uint32_t bits = 0;
  for (size_t i = 0; i < count && sound; i++) {
    const int digit = base64_digit(l->text[i]);
    sound = digit >= 0;
    bits = bits << 6 | (uint32_t)(digit & 63);
    // Of four digits all but the first end a byte.
    if (i % 4 != 0) l->text[num_bytes++] = (char)(bits >> (6 - 2 * (i % 4)));
  }
  l->text_bytes = num_bytes;
  return sound ? NULL : json_lexer_wrong(l, "expected base64");
}

// ---- Numbers

rheos_status *json_lexer_read_number(json_lexer *l) {
  json_lexer_peek(l);
  const char *start = l->at;
  while (l->at < l->end && *l->at != '\0' && strchr("0123456789+-.eE", *l->at) != NULL) l->at++;
  clear(l);
  add(l, start, (size_t)(l->at - start));
  const char *digits = l->text + (l->text[0] == '-');
  const bool starts = digits[0] >= '0' && digits[0] <= '9';
  const bool octal = digits[0] == '0' && digits[1] != '\0' && strchr(".eE", digits[1]) == NULL;
  return starts && !octal ? NULL : json_lexer_wrong(l, "expected a number");
}
