// One pass over the text gathers the elements and the lengths of the lists; then the tensor is
// made. No recursion: a list inside a list is a level, and there are as many as a tensor has
// dimensions.
#include "json_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "elements.h"
#include "json_lexer.h"
#include "status.h"

// One level more than dimensions, for the pairs of complex numbers.
enum { MAX_LEVELS = RHEOS_MAX_RANK + 1, NOT_KNOWN = -1 };

typedef struct reader {
  json_lexer lexer;
  element *elements;
  size_t count, capacity;
  char *texts;  // of strings, one after the other; elements hold offsets until the end
  size_t texts_bytes, texts_capacity;
  int32_t rank;  // of the elements, NOT_KNOWN before the first
  int64_t lengths[MAX_LEVELS];
} reader;

static rheos_status *wrong(const reader *r, const char *what) {
  return json_lexer_wrong(&r->lexer, what);
}

static bool take(reader *r, char c) { return json_lexer_take(&r->lexer, c); }

// ---- Texts

static void put_text(reader *r, const char *data, size_t size) {
  if (r->texts_capacity - r->texts_bytes < size) {
    r->texts_capacity = r->texts_capacity * 2 + size + 256;
    r->texts = command_realloc(r->texts, r->texts_capacity);
  }
  if (size > 0) memcpy(r->texts + r->texts_bytes, data, size);
  r->texts_bytes += size;
}

static rheos_status *read_text(reader *r) {
  TRY(json_lexer_read_string(&r->lexer));
  put_text(r, r->lexer.text, r->lexer.text_bytes);
  return NULL;
}

// {"b64": "..."}
static rheos_status *read_base64(reader *r) {
  static const char is_else[] = "an object that is not {\"b64\": \"...\"}";
  if (!take(r, '{') || json_lexer_peek(&r->lexer) != '"') return wrong(r, is_else);
  TRY(json_lexer_read_string(&r->lexer));
  const bool is_base64 = r->lexer.text_bytes == 3 && memcmp(r->lexer.text, "b64", 3) == 0;
  if (!is_base64 || !take(r, ':') || json_lexer_peek(&r->lexer) != '"') return wrong(r, is_else);
  TRY(json_lexer_read_base64(&r->lexer));
  put_text(r, r->lexer.text, r->lexer.text_bytes);
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
    if (json_lexer_take_word(&r->lexer, words[i].word)) return NULL;
  }
  TRY(json_lexer_read_number(&r->lexer));
  const char *text = r->lexer.text;
  char *end = NULL;
  errno = 0;
  if (strpbrk(text, ".eE") == NULL) {
    e->kind = text[0] == '-' ? ELEMENT_SIGNED : ELEMENT_UNSIGNED;
    if (e->kind == ELEMENT_SIGNED) e->i = strtoll(text, &end, 10);
    if (e->kind == ELEMENT_UNSIGNED) e->u = strtoull(text, &end, 10);
    if (*end == '\0' && errno == 0) return NULL;
  }
  e->kind = ELEMENT_REAL;
  e->re = strtod(text, &end);
  return *end == '\0' ? NULL : wrong(r, "no value");
}

static rheos_status *read_element(reader *r) {
  element e = {.kind = ELEMENT_TRUTH};
  const size_t first = r->texts_bytes;
  const char c = json_lexer_peek(&r->lexer);
  if (c == '"' || c == '{') {
    TRY(c == '"' ? read_text(r) : read_base64(r));
    e.kind = ELEMENT_BYTES;
    e.u = first;
    e.bytes.size_bytes = r->texts_bytes - first;
  } else if (json_lexer_take_word(&r->lexer, "true")) {
    e.u = 1;
  } else if (!json_lexer_take_word(&r->lexer, "false")) {
    TRY(read_number(r, &e));
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
      if (json_lexer_peek(&r->lexer) != ']') continue;
      // Below an empty list nothing is known, but nothing else may be there either.
      if (r->rank == NOT_KNOWN) r->rank = depth;
    } else {
      if (r->rank == NOT_KNOWN) r->rank = depth;
      if (depth != r->rank) return wrong(r, "a value where a list was");
      TRY(read_element(r));
      if (depth > 0) items[depth - 1]++;
    }
    while (depth > 0 && take(r, ']')) {
      TRY(note_length(r, depth - 1, items[depth - 1]));
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
    TRY(rheos_tensor_new(RHEOS_DOUBLE, RHEOS_SHAPE(2), &pair));
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
  if (rheos_dtype_is_complex(dtype)) TRY(parts_to_complex(r));
  if (r->rank > RHEOS_MAX_RANK) return wrong(r, "too many lists in one another");
  rheos_shape shape = {.rank = r->rank};
  for (int32_t i = 0; i < r->rank; i++) shape.dims[i] = r->lengths[i];
  rheos_tensor *tensor;
  TRY(rheos_tensor_new(dtype != RHEOS_INVALID_DTYPE ? dtype : dtype_of(r), shape, &tensor));
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
  reader r = {.lexer = json_lexer_of(text, size_bytes), .rank = NOT_KNOWN};
  for (int i = 0; i < MAX_LEVELS; i++) r.lengths[i] = NOT_KNOWN;
  rheos_status *status = read_value(&r);
  if (status == NULL && !json_lexer_is_at_end(&r.lexer)) status = wrong(&r, "more than a value");
  if (status == NULL) status = make_tensor(&r, dtype, out_tensor);
  json_lexer_deinit(&r.lexer);
  free(r.elements);
  free(r.texts);
  return status;
}
