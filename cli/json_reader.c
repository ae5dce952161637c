// One pass over the text gathers the elements and the lengths of the lists; then the tensor is
// made. No recursion: a list inside a list is a level, and there are as many as a tensor has
// dimensions.
#include "json_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "command.h"
#include "elements.h"

// One level more than dimensions, for the pairs of complex numbers.
enum { MAX_LEVELS = RHEOS_MAX_RANK + 1, NOT_KNOWN = -1 };

typedef struct reader {
  const char *start, *at, *end;
  element *elements;
  size_t count, capacity;
  char *texts;  // of strings, one after the other; elements hold offsets until the end
  size_t texts_bytes, texts_capacity;
  int32_t rank;  // of the elements, NOT_KNOWN before the first
  int64_t lengths[MAX_LEVELS];
} reader;

static rheos_status *wrong(const reader *r, const char *what) {
  return RHEOS_INVALID("not JSON that a tensor can be made of: %s at byte %zu", what,
                       (size_t)(r->at - r->start));
}

static char peek(reader *r) {
  while (r->at < r->end && *r->at != '\0' && strchr(" \t\r\n", *r->at) != NULL) r->at++;
  return r->at < r->end ? *r->at : '\0';
}

static bool take(reader *r, char c) {
  if (peek(r) != c || r->at == r->end) return false;
  r->at++;
  return true;
}

static bool take_word(reader *r, const char *word) {
  const size_t size = strlen(word);
  if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0) return false;
  r->at += size;
  return true;
}

// ---- Texts

static void put_byte(reader *r, unsigned char c) {
  if (r->texts_bytes == r->texts_capacity) {
    r->texts_capacity = r->texts_capacity * 2 + 256;
    r->texts = command_realloc(r->texts, r->texts_capacity);
  }
  r->texts[r->texts_bytes++] = (char)c;
}

static void put_character(reader *r, uint32_t c) {
  if (c < 0x80) {
    put_byte(r, (unsigned char)c);
  } else if (c < 0x800) {
    put_byte(r, (unsigned char)(0xc0 | c >> 6));
    put_byte(r, (unsigned char)(0x80 | (c & 63)));
  } else if (c < 0x10000) {
    put_byte(r, (unsigned char)(0xe0 | c >> 12));
    put_byte(r, (unsigned char)(0x80 | (c >> 6 & 63)));
    put_byte(r, (unsigned char)(0x80 | (c & 63)));
  } else {
    put_byte(r, (unsigned char)(0xf0 | c >> 18));
    put_byte(r, (unsigned char)(0x80 | (c >> 12 & 63)));
    put_byte(r, (unsigned char)(0x80 | (c >> 6 & 63)));
    put_byte(r, (unsigned char)(0x80 | (c & 63)));
  }
}

static bool read_hex(reader *r, uint32_t *out_value) {
  *out_value = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    if (r->at == r->end) return false;
    const char c = *r->at;
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return false;
    *out_value = *out_value << 4 | (uint32_t)digit;
  }
  return true;
}

static bool read_escape(reader *r) {
  static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  if (r->at == r->end) return false;
  const char c = *r->at++;
  if (c != 'u') {
    const char *found = c != '\0' ? strchr(escapes, c) : NULL;
    if (found != NULL) put_byte(r, (unsigned char)meant[found - escapes]);
    return found != NULL;
  }
  uint32_t character, low;
  if (!read_hex(r, &character)) return false;
  if (character >= 0xd800 && character < 0xdc00) {
    if (!take_word(r, "\\u") || !read_hex(r, &low) || low < 0xdc00 || low > 0xdfff) return false;
    character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
  } else if (character >= 0xdc00 && character <= 0xdfff) {
    return false;
  }
  put_character(r, character);
  return true;
}

// Behind the opening quote; the text is what was put behind `r->texts_bytes`.
static rheos_status *read_text(reader *r) {
  while (r->at < r->end && *r->at != '"') {
    if (*r->at == '\\') {
      r->at++;
      if (!read_escape(r)) return wrong(r, "a bad escape");
    } else {
      put_byte(r, (unsigned char)*r->at++);
    }
  }
  return take(r, '"') ? NULL : wrong(r, "a text without an end");
}

static int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

// In place: the bytes behind `first` become what they stand for.
static bool decode_base64(reader *r, size_t first) {
  size_t to = first, from = first;
  uint32_t group = 0;
  int bits = 0;
  for (; from < r->texts_bytes && r->texts[from] != '='; from++) {
    const int value = base64_value(r->texts[from]);
    if (value < 0) return false;
    group = group << 6 | (uint32_t)value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    r->texts[to++] = (char)(group >> bits & 0xff);
  }
  for (; from < r->texts_bytes; from++) {
    if (r->texts[from] != '=') return false;
  }
  r->texts_bytes = to;
  return true;
}

// {"b64": "..."}
static rheos_status *read_base64(reader *r) {
  const size_t first = r->texts_bytes;
  if (!take(r, '"')) return wrong(r, "an object that is not {\"b64\": \"...\"}");
  RHEOS_TRY(read_text(r));
  if (r->texts_bytes - first != 3 || memcmp(r->texts + first, "b64", 3) != 0 || !take(r, ':') ||
      !take(r, '"')) {
    return wrong(r, "an object that is not {\"b64\": \"...\"}");
  }
  r->texts_bytes = first;
  RHEOS_TRY(read_text(r));
  if (!decode_base64(r, first)) return wrong(r, "bad base64");
  return take(r, '}') ? NULL : wrong(r, "a } is missing");
}

// ---- Elements

// What JSON has no numbers for.
static const struct {
  const char *word;
  double value;
} words[] = {
    {"NaN", (double)NAN}, {"Infinity", (double)INFINITY}, {"-Infinity", -(double)INFINITY}};

static rheos_status *read_number(reader *r, element *e) {
  e->kind = ELEMENT_REAL;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    e->re = words[i].value;
    if (take_word(r, words[i].word)) return NULL;
  }
  char text[400];
  size_t size = 0;
  bool is_whole = true;
  for (; r->at < r->end && *r->at != '\0' && strchr("+-0123456789.eE", *r->at) != NULL; r->at++) {
    if (size + 1 == sizeof text) return wrong(r, "a number that is too long");
    is_whole = is_whole && strchr(".eE", *r->at) == NULL;
    text[size++] = *r->at;
  }
  text[size] = '\0';
  char *end = text;
  if (is_whole) {
    errno = 0;
    const bool is_negative = text[0] == '-';
    e->kind = is_negative ? ELEMENT_SIGNED : ELEMENT_UNSIGNED;
    if (is_negative) {
      e->i = strtoll(text, &end, 10);
    } else {
      e->u = strtoull(text, &end, 10);
    }
    if (errno == ERANGE) is_whole = false;
  }
  if (!is_whole) {
    e->kind = ELEMENT_REAL;
    e->re = strtod(text, &end);
  }
  return size > 0 && *end == '\0' ? NULL : wrong(r, "no value");
}

static rheos_status *read_element(reader *r) {
  element e = {.kind = ELEMENT_TRUTH};
  const size_t first = r->texts_bytes;
  const char c = peek(r);
  if (c == '"' || c == '{') {
    r->at++;
    RHEOS_TRY(c == '"' ? read_text(r) : read_base64(r));
    e.kind = ELEMENT_BYTES;
    e.u = first;
    e.bytes.size_bytes = r->texts_bytes - first;
  } else if (take_word(r, "true")) {
    e.u = 1;
  } else if (!take_word(r, "false")) {
    RHEOS_TRY(read_number(r, &e));
  }
  if (r->count == r->capacity) {
    r->capacity = r->capacity * 2 + 64;
    r->elements = command_realloc(r->elements, r->capacity * sizeof *r->elements);
  }
  r->elements[r->count++] = e;
  return NULL;
}

// ---- Lists

// The end of a list at `level` with so many items.
static rheos_status *note_length(reader *r, int level, int64_t length) {
  if (r->lengths[level] == NOT_KNOWN) r->lengths[level] = length;
  if (r->lengths[level] == length) return NULL;
  return wrong(r, "a list that is longer or shorter than the one before it");
}

static rheos_status *read_value(reader *r) {
  int64_t items[MAX_LEVELS];
  int depth = 0;
  for (;;) {
    if (take(r, '[')) {
      if (depth == MAX_LEVELS) return wrong(r, "too many lists in one another");
      if (r->rank != NOT_KNOWN && depth >= r->rank) return wrong(r, "a list where a value was");
      items[depth++] = 0;
      if (peek(r) != ']') continue;
      // Below an empty list nothing is known, but nothing else may be there either.
      if (r->rank == NOT_KNOWN) r->rank = depth;
    } else {
      if (r->rank == NOT_KNOWN) r->rank = depth;
      if (depth != r->rank) return wrong(r, "a value where a list was");
      RHEOS_TRY(read_element(r));
      if (depth > 0) items[depth - 1]++;
    }
    while (depth > 0 && take(r, ']')) {
      RHEOS_TRY(note_length(r, depth - 1, items[depth - 1]));
      if (--depth > 0) items[depth - 1]++;
    }
    if (depth == 0) return NULL;
    if (!take(r, ',')) return wrong(r, "a comma is missing");
  }
}

// ---- The tensor

static rheos_dtype dtype_of(const reader *r) {
  if (r->count == 0) return RHEOS_FLOAT;
  bool is_real = false, is_wide = false;
  for (size_t i = 0; i < r->count; i++) {
    const element *e = &r->elements[i];
    if (e->kind == ELEMENT_BYTES) return RHEOS_STRING;
    if (e->kind == ELEMENT_TRUTH) return RHEOS_BOOL;
    is_real = is_real || e->kind == ELEMENT_REAL;
    is_wide = is_wide || (e->kind == ELEMENT_UNSIGNED && e->u > INT32_MAX) ||
              (e->kind == ELEMENT_SIGNED && e->i < INT32_MIN);
  }
  return is_real ? RHEOS_FLOAT : is_wide ? RHEOS_INT64 : RHEOS_INT32;
}

// The texts "NaN" and so on are numbers where numbers are wanted.
static void read_words(element *e) {
  if (e->kind != ELEMENT_BYTES) return;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i].word) != e->bytes.size_bytes ||
        memcmp(words[i].word, e->bytes.data, e->bytes.size_bytes) != 0) {
      continue;
    }
    *e = (element){.kind = ELEMENT_REAL, .re = words[i].value};
    return;
  }
}

static rheos_status *parts_to_complex(reader *r) {
  if (r->rank < 1 || r->lengths[r->rank - 1] != 2) return NULL;
  for (size_t i = 0; i + 1 < r->count; i += 2) {
    rheos_tensor *pair;
    RHEOS_TRY(rheos_tensor_new(RHEOS_DOUBLE, RHEOS_SHAPE(2), &pair));
    rheos_status *status = element_set(pair, 0, &r->elements[i]);
    if (status == NULL) status = element_set(pair, 1, &r->elements[i + 1]);
    const double *parts = rheos_tensor_data(pair);
    r->elements[i / 2] = (element){.kind = ELEMENT_COMPLEX, .re = parts[0], .im = parts[1]};
    rheos_tensor_unref(pair);
    if (status != NULL) return status;
  }
  r->count /= 2;
  r->rank--;
  return NULL;
}

static rheos_status *make_tensor(reader *r, rheos_dtype dtype, rheos_tensor **out_tensor) {
  for (size_t i = 0; i < r->count; i++) {
    element *e = &r->elements[i];
    if (e->kind == ELEMENT_BYTES && r->texts != NULL) e->bytes.data = r->texts + e->u;
    if (dtype != RHEOS_STRING && dtype != RHEOS_INVALID_DTYPE) read_words(e);
  }
  if (rheos_dtype_is_complex(dtype)) RHEOS_TRY(parts_to_complex(r));
  if (r->rank > RHEOS_MAX_RANK) return wrong(r, "too many lists in one another");
  rheos_shape shape = {.rank = r->rank};
  for (int32_t i = 0; i < r->rank; i++) shape.dims[i] = r->lengths[i];
  rheos_tensor *tensor;
  RHEOS_TRY(rheos_tensor_new(dtype != RHEOS_INVALID_DTYPE ? dtype : dtype_of(r), shape, &tensor));
  for (size_t i = 0; i < r->count; i++) {
    rheos_status *status = element_set(tensor, (int64_t)i, &r->elements[i]);
    if (status == NULL) continue;
    rheos_tensor_unref(tensor);
    return status;
  }
  *out_tensor = tensor;
  return NULL;
}

rheos_status *json_read_tensor(const char *text, size_t size_bytes, rheos_dtype dtype,
                               rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  reader r = {.start = text, .at = text, .end = text + size_bytes, .rank = NOT_KNOWN};
  for (int i = 0; i < MAX_LEVELS; i++) r.lengths[i] = NOT_KNOWN;
  rheos_status *status = read_value(&r);
  if (status == NULL && (peek(&r) != '\0' || r.at != r.end)) {
    status = wrong(&r, "more than a value");
  }
  if (status == NULL) status = make_tensor(&r, dtype, out_tensor);
  free(r.elements);
  free(r.texts);
  return status;
}
