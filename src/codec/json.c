// One character of JSON after the other.
#include "codec/json.h"

#include <assert.h>
#include <string.h>

#include "codec/base64.h"

rheos__json rheos__json_of(const char *text, size_t size_bytes, const char *complaint) {
  const char *start = size_bytes > 0 ? text : "";
  return (rheos__json){
      .start = start, .at = start, .end = start + size_bytes, .complaint = complaint};
}

void rheos__json_deinit(rheos__json *json) { rheos__text_deinit(&json->string); }

rheos_status *rheos__json_wrong(const rheos__json *json, const char *what) {
  return RHEOS_INVALID("%s: %s at byte %zu", json->complaint, what,
                       (size_t)(json->at - json->start));
}

char rheos__json_peek(rheos__json *json) {
  assert(json->start <= json->at && json->at <= json->end);
  while (json->at < json->end && rheos__is_space(*json->at)) json->at++;
  return json->at < json->end ? *json->at : '\0';
}

bool rheos__json_is_at_end(rheos__json *json) {
  rheos__json_peek(json);
  return json->at == json->end;
}

bool rheos__json_take(rheos__json *json, char c) {
  if (rheos__json_peek(json) != c || json->at == json->end) return false;
  json->at++;
  return true;
}

bool rheos__json_take_word(rheos__json *json, const char *word) {
  const size_t size = strlen(word);
  rheos__json_peek(json);
  if ((size_t)(json->end - json->at) < size || memcmp(json->at, word, size) != 0) return false;
  json->at += size;
  return true;
}

// ---- Strings

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The four digits of "\uXXXX".
static rheos_status *read_hex(rheos__json *json, int32_t *out_value) {
  *out_value = 0;
  for (int i = 0; i < 4; i++, json->at++) {
    const int digit = json->at < json->end ? hex_digit(*json->at) : -1;
    if (digit < 0) return rheos__json_wrong(json, "a bad \\u escape");
    *out_value = *out_value << 4 | digit;
  }
  return NULL;
}

static rheos_status *read_unicode(rheos__json *json) {
  int32_t character, low;
  RHEOS_TRY(read_hex(json, &character));
  if (character >= 0xd800 && character < 0xdc00 && json->end - json->at >= 2 &&
      json->at[0] == '\\' && json->at[1] == 'u') {
    json->at += 2;
    RHEOS_TRY(read_hex(json, &low));
    if (low < 0xdc00 || low > 0xdfff) return rheos__json_wrong(json, "an unpaired surrogate");
    character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
  } else if (character >= 0xd800 && character <= 0xdfff) {
    return rheos__json_wrong(json, "an unpaired surrogate");
  }
  rheos__utf8_add(&json->string, character);
  return NULL;
}

static rheos_status *read_escape(rheos__json *json) {
  static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  const char c = json->at < json->end ? *json->at++ : '\0';
  if (c == 'u') return read_unicode(json);
  const char *found = c != '\0' ? strchr(escapes, c) : NULL;
  if (found == NULL) return rheos__json_wrong(json, "a bad escape");
  rheos__text_add(&json->string, &meant[found - escapes], 1);
  return NULL;
}

rheos_status *rheos__json_read_string(rheos__json *json) {
  json->string.size = 0;
  if (!rheos__json_take(json, '"')) return rheos__json_wrong(json, "expected a string");
  while (json->at < json->end && *json->at != '"') {
    if (*json->at == '\\') {
      json->at++;
      RHEOS_TRY(read_escape(json));
      continue;
    }
    int32_t character;
    const size_t size = rheos__utf8_decode(json->at, json->end, &character);
    if (character < 0x20) {
      return rheos__json_wrong(json, "a string that is not UTF-8, or has control characters");
    }
    rheos__text_add(&json->string, json->at, size);
    json->at += size;
  }
  if (json->string.failed) return rheos__out_of_memory();
  return rheos__json_take(json, '"') ? NULL : rheos__json_wrong(json, "a string without an end");
}

rheos_status *rheos__json_read_base64(rheos__json *json, rheos__text *to) {
  RHEOS_TRY(rheos__json_read_string(json));
  for (size_t i = 0; i < json->string.size; i++) {
    char *c = &json->string.data[i];
    *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
  }
  const rheos_string text = rheos__json_string(json);
  rheos_status *status = rheos__base64_decode(&text, to);
  if (status != NULL) {
    rheos_status_free(status);
    return rheos__json_wrong(json, "expected base64");
  }
  return to->failed ? rheos__out_of_memory() : NULL;
}

rheos_string rheos__json_string(const rheos__json *json) {
  static char nothing[1];
  return (rheos_string){json->string.size > 0 ? json->string.data : nothing, json->string.size};
}

bool rheos__json_string_is(const rheos__json *json, const char *text) {
  const rheos_string string = rheos__json_string(json);
  return string.size_bytes == strlen(text) && memcmp(string.data, text, string.size_bytes) == 0;
}

// ---- Numbers

rheos_status *rheos__json_read_number(rheos__json *json, bool *out_quoted) {
  *out_quoted = rheos__json_peek(json) == '"';
  if (*out_quoted) {
    RHEOS_TRY(rheos__json_read_string(json));
  } else {
    const char *start = json->at;
    while (json->at < json->end && *json->at != '\0' &&
           strchr("0123456789+-.eE", *json->at) != NULL) {
      json->at++;
    }
    json->string.size = 0;
    rheos__text_add(&json->string, start, (size_t)(json->at - start));
  }
  if (json->string.failed) return rheos__out_of_memory();
  const rheos_string text = rheos__json_string(json);
  const size_t sign = text.size_bytes > 0 && text.data[0] == '-';
  const char *digits = text.data + sign;
  const size_t count = text.size_bytes - sign;
  const bool starts = count > 0 && digits[0] >= '0' && digits[0] <= '9';
  const bool octal = count > 1 && digits[0] == '0' && memchr(".eE", digits[1], 3) == NULL;
  return starts && !octal ? NULL : rheos__json_wrong(json, "expected a number");
}
