// NumPy's files of one array: a header in the words of Python, then the elements. The array comes
// out row by row in the machine's byte order, whatever the file's; the header is read by hand,
// never run.
//
//   "\x93NUMPY", version (2 bytes), header length (16 bits in version 1, 32 later)
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   padded with spaces to a "\n"
//   elements
#include <rheos/format.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "codec/buffer.h"
#include "tensor/tensor.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, MAX_HEADER_BYTES = 1 << 20, HEADER_ALIGNMENT = 64 };

// ---- The header

typedef struct header {
  rheos_dtype dtype;
  char kind;               // NumPy's letter; 'S' and 'U' are texts
  uint64_t element_bytes;  // in the file
  bool is_big_endian, is_fortran;
  rheos_shape shape;
  bool has_descr, has_order, has_shape;
} header;

typedef struct reader {
  const char *at, *end;
} reader;

static rheos_status *damaged(const char *what) {
  return rheos_status_new(RHEOS_DATA_LOSS, "not a sound .npy file: %s", what);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static char peek(reader *r) {
  while (r->at < r->end && rheos__is_space(*r->at)) r->at++;
  return r->at < r->end ? *r->at : '\0';
}

static bool take(reader *r, char c) {
  if (r->at == r->end || peek(r) != c || r->at == r->end) return false;
  r->at++;
  return true;
}

static bool take_word(reader *r, const char *word) {
  const size_t size_bytes = strlen(word);
  peek(r);
  if ((size_t)(r->end - r->at) < size_bytes || memcmp(r->at, word, size_bytes) != 0) return false;
  r->at += size_bytes;
  return true;
}

// A quoted text without escapes.
static bool take_quoted(reader *r, char *text, size_t capacity) {
  const char quote = peek(r);
  if (quote != '\'' && quote != '"') return false;
  const char *start = ++r->at;
  while (r->at < r->end && *r->at != quote && *r->at != '\\') r->at++;
  const size_t size_bytes = (size_t)(r->at - start);
  if (r->at == r->end || *r->at != quote || size_bytes >= capacity) return false;
  memcpy(text, start, size_bytes);
  text[size_bytes] = '\0';
  r->at++;
  return true;
}

// Digits, with the "L" that Python 2 put behind some.
static bool take_number(reader *r, int64_t *out_value) {
  *out_value = 0;
  peek(r);
  const char *start = r->at;
  for (; r->at < r->end && is_digit(*r->at); r->at++) {
    if (__builtin_mul_overflow(*out_value, 10, out_value) ||
        __builtin_add_overflow(*out_value, *r->at - '0', out_value)) {
      return false;
    }
  }
  if (r->at == start) return false;
  if (r->at < r->end && *r->at == 'L') r->at++;
  return true;
}

typedef struct kind_row {
  char kind;
  uint64_t element_bytes;
  rheos_dtype dtype;
} kind_row;

static const kind_row kinds[] = {
    {'f', 2, RHEOS_HALF},
    {'f', 4, RHEOS_FLOAT},
    {'f', 8, RHEOS_DOUBLE},
    {'i', 1, RHEOS_INT8},
    {'i', 2, RHEOS_INT16},
    {'i', 4, RHEOS_INT32},
    {'i', 8, RHEOS_INT64},
    {'u', 1, RHEOS_UINT8},
    {'u', 2, RHEOS_UINT16},
    {'u', 4, RHEOS_UINT32},
    {'u', 8, RHEOS_UINT64},
    {'b', 1, RHEOS_BOOL},
    {'c', 8, RHEOS_COMPLEX64},
    {'c', 16, RHEOS_COMPLEX128},
    {'V', 2, RHEOS_BFLOAT16},
    // Written for tensors of these, so that their bytes can be had; read as the integers they are.
    {'i', 1, RHEOS_QINT8},
    {'u', 1, RHEOS_QUINT8},
    {'i', 2, RHEOS_QINT16},
    {'u', 2, RHEOS_QUINT16},
    {'i', 4, RHEOS_QINT32},
};
enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

// '<f4': byte order, kind, bytes of an element (of a 'U' characters of four bytes). Where the key
// comes again the last one counts, as in Python.
static rheos_status *read_descr(reader *r, header *h) {
  char text[32];
  if (!take_quoted(r, text, sizeof text)) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "arrays with fields are not read");
  }
  const char *at = text;
  h->dtype = RHEOS_INVALID_DTYPE;
  h->is_big_endian = false;
  h->element_bytes = 0;
  if (*at != '\0' && strchr("<>=|", *at) != NULL) h->is_big_endian = *at++ == '>';
  h->kind = *at;
  const size_t digits = *at != '\0' ? strspn(at + 1, "0123456789") : 0;
  if (digits > 0 && digits < 10 && at[1 + digits] == '\0') {
    h->element_bytes = strtoull(at + 1, NULL, 10);
    if (h->kind == 'S' || h->kind == 'U') h->dtype = RHEOS_STRING;
    if (h->kind == 'U') h->element_bytes *= 4;
    for (size_t i = 0; i < NUM_KINDS && h->dtype == RHEOS_INVALID_DTYPE; i++) {
      if (kinds[i].kind == h->kind && kinds[i].element_bytes == h->element_bytes) {
        h->dtype = kinds[i].dtype;
      }
    }
  }
  h->has_descr = h->dtype != RHEOS_INVALID_DTYPE;
  if (h->has_descr) return NULL;
  for (char *c = text; *c != '\0'; c++) {
    if (*c < ' ' || *c > '~') *c = '?';
  }
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "arrays of NumPy's type '%s' are not read", text);
}

static rheos_status *read_shape(reader *r, header *h) {
  h->shape.rank = 0;
  if (!take(r, '(')) return damaged("the shape is no tuple");
  while (peek(r) != ')') {
    int64_t dim;
    if (!take_number(r, &dim)) return damaged("a bad dimension");
    if (h->shape.rank == RHEOS_MAX_RANK) {
      return RHEOS_INVALID("an array of more than %d dimensions", RHEOS_MAX_RANK);
    }
    h->shape.dims[h->shape.rank++] = dim;
    if (!take(r, ',') && peek(r) != ')') return damaged("the shape has no end");
  }
  take(r, ')');
  h->has_shape = true;
  return NULL;
}

static rheos_status *read_dictionary(reader *r, header *h) {
  char key[32];
  if (!take(r, '{')) return damaged("the header is no dictionary");
  while (peek(r) != '}') {
    if (!take_quoted(r, key, sizeof key) || !take(r, ':')) return damaged("a bad key");
    if (strcmp(key, "descr") == 0) {
      RHEOS_TRY(read_descr(r, h));
    } else if (strcmp(key, "shape") == 0) {
      RHEOS_TRY(read_shape(r, h));
    } else if (strcmp(key, "fortran_order") == 0) {
      h->is_fortran = take_word(r, "True");
      if (!h->is_fortran && !take_word(r, "False")) return damaged("a bad order");
      h->has_order = true;
    } else {
      return damaged("a key that should not be there");
    }
    if (!take(r, ',') && peek(r) != '}') return damaged("the header has no end");
  }
  if (!h->has_descr || !h->has_order || !h->has_shape) return damaged("a key is missing");
  return NULL;
}

// On success `*at` is where the elements begin.
static rheos_status *read_header(const char **at, const char *end, header *h) {
  if (end - *at < MAGIC_BYTES + 4 || memcmp(*at, magic, MAGIC_BYTES) != 0) {
    return damaged("it does not begin as one");
  }
  const unsigned char *bytes = (const unsigned char *)*at + MAGIC_BYTES;
  const int version = bytes[0];
  if (version < 1 || version > 3) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, ".npy files of version %d are not read", version);
  }
  size_t size_bytes = bytes[2] | (size_t)bytes[3] << 8;
  *at += MAGIC_BYTES + 4;
  if (version > 1) {
    if (end - *at < 2) return damaged("it is cut short");
    size_bytes |= (size_t)bytes[4] << 16 | (size_t)bytes[5] << 24;
    *at += 2;
  }
  if (size_bytes > (size_t)(end - *at)) return damaged("it is cut short");
  if (size_bytes > MAX_HEADER_BYTES) return damaged("its header is too long");
  reader r = {*at, *at + size_bytes};
  *at += size_bytes;
  return read_dictionary(&r, h);
}

// ---- Elements

// Where the file has the element that comes next, row by row.
typedef struct walk {
  int32_t rank;
  int64_t dims[RHEOS_MAX_RANK], index[RHEOS_MAX_RANK], strides[RHEOS_MAX_RANK];
  int64_t at;
} walk;

static walk walk_of(const header *h) {
  walk w = {.rank = h->shape.rank};
  int64_t stride = 1;
  for (int32_t k = 0; k < w.rank; k++) {
    const int32_t d = h->is_fortran ? k : w.rank - 1 - k;
    w.dims[d] = h->shape.dims[d];
    w.strides[d] = stride;
    stride *= h->shape.dims[d];
  }
  return w;
}

static void walk_on(walk *w) {
  for (int32_t d = w->rank - 1; d >= 0; d--) {
    w->at += w->strides[d];
    if (++w->index[d] < w->dims[d]) return;
    w->at -= w->strides[d] * w->dims[d];
    w->index[d] = 0;
  }
}

static void swap_bytes(char *data, size_t count, size_t unit_bytes) {
  for (size_t i = 0; i < count; i++, data += unit_bytes) {
    for (size_t low = 0, high = unit_bytes - 1; low < high; low++, high--) {
      const char c = data[low];
      data[low] = data[high];
      data[high] = c;
    }
  }
}

static void read_numbers(const header *h, const char *from, rheos_tensor *tensor) {
  char *to = rheos_tensor_data(tensor);
  const size_t count = (size_t)rheos_tensor_num_elements(tensor), size = (size_t)h->element_bytes;
  if (count == 0) return;
  if (!h->is_fortran || h->shape.rank < 2) {
    memcpy(to, from, count * size);
  } else {
    walk w = walk_of(h);
    for (size_t i = 0; i < count; i++, walk_on(&w)) {
      memcpy(to + i * size, from + (size_t)w.at * size, size);
    }
  }
  if (h->is_big_endian) {
    const size_t parts = h->kind == 'c' ? 2 : 1;
    swap_bytes(to, count * parts, size / parts);
  }
  // A byte that is no truth value would be one that compilers do not expect.
  for (size_t i = 0; h->dtype == RHEOS_BOOL && i < count; i++) to[i] = to[i] != 0;
}

// NumPy fills short texts up with NULs.
static rheos_status *read_bytes(const header *h, const char *from, rheos_tensor *tensor,
                                int64_t index) {
  size_t size_bytes = (size_t)h->element_bytes;
  while (size_bytes > 0 && from[size_bytes - 1] == '\0') size_bytes--;
  return rheos_tensor_set_string(tensor, index, from, size_bytes);
}

// Characters of four bytes each, to UTF-8.
static rheos_status *read_characters(const header *h, const char *from, rheos__text *text) {
  size_t count = (size_t)h->element_bytes / 4;
  while (count > 0 && rheos__load_32(from + 4 * (count - 1)) == 0) count--;
  for (size_t i = 0; i < count; i++) {
    uint32_t character = rheos__load_32(from + 4 * i);
    if (h->is_big_endian) character = __builtin_bswap32(character);
    if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) {
      return damaged("a character that Unicode does not have");
    }
    rheos__utf8_add(text, (int32_t)character);
  }
  return text->failed ? rheos__out_of_memory() : NULL;
}

static rheos_status *read_texts(const header *h, const char *from, rheos_tensor *tensor) {
  const int64_t count = rheos_tensor_num_elements(tensor);
  if (count == 0) return NULL;
  walk w = walk_of(h);
  rheos__text text = {0};
  rheos_status *status = NULL;
  for (int64_t i = 0; i < count && status == NULL; i++, walk_on(&w)) {
    const char *at = from + (size_t)w.at * (size_t)h->element_bytes;
    if (h->kind == 'S') {
      status = read_bytes(h, at, tensor, i);
      continue;
    }
    text.size = 0;
    status = read_characters(h, at, &text);
    if (status == NULL) status = rheos_tensor_set_string(tensor, i, text.data, text.size);
  }
  rheos__text_deinit(&text);
  return status;
}

rheos_status *rheos_npy_decode(const void *bytes, size_t size_bytes, rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  const char *at = size_bytes > 0 ? bytes : "", *end = at + size_bytes;
  header h = {0};
  RHEOS_TRY(read_header(&at, end, &h));
  const int64_t count = rheos_shape_num_elements(&h.shape);
  size_t data_bytes;
  if (count < 0 || !rheos__mul_size((size_t)count, (size_t)h.element_bytes, &data_bytes) ||
      data_bytes > (size_t)(end - at)) {
    return damaged("it is cut short");
  }
  // So that memory stays in proportion to the file: texts of no bytes cost it nothing.
  if (h.element_bytes == 0 && count > 0 && (size_t)count > size_bytes) {
    return damaged("too many texts of no bytes");
  }
  rheos_tensor *tensor;
  RHEOS_TRY(rheos_tensor_new(h.dtype, h.shape, &tensor));
  if (h.dtype == RHEOS_STRING) {
    rheos_status *status = read_texts(&h, at, tensor);
    if (status != NULL) {
      rheos_tensor_unref(tensor);
      return status;
    }
  } else {
    read_numbers(&h, at, tensor);
  }
  *out_tensor = tensor;
  return NULL;
}

// ---- Writing

// The bytes that each text takes: those of the longest, and 1 at least, as in NumPy. A NUL at the
// end of a text would be lost.
static rheos_status *text_width(const rheos_tensor *tensor, size_t *out_width) {
  const rheos_string *strings = rheos_tensor_data(tensor);
  *out_width = 1;
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    const size_t size_bytes = strings[i].size_bytes;
    if (size_bytes > 0 && strings[i].data[size_bytes - 1] == '\0') {
      return RHEOS_INVALID("element %lld ends in a NUL byte, which NumPy's texts cannot",
                           (long long)i);
    }
    if (size_bytes > *out_width) *out_width = size_bytes;
  }
  return NULL;
}

static rheos_status *descr_of(const rheos_tensor *tensor, char text[32], size_t *out_width) {
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  if (dtype == RHEOS_STRING) {
    RHEOS_TRY(text_width(tensor, out_width));
    snprintf(text, 32, "|S%zu", *out_width);
    return NULL;
  }
  for (size_t i = 0; i < NUM_KINDS; i++) {
    if (kinds[i].dtype != dtype) continue;
    *out_width = (size_t)kinds[i].element_bytes;
    snprintf(text, 32, "%c%c%zu", *out_width > 1 ? '<' : '|', kinds[i].kind, *out_width);
    return NULL;
  }
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "NumPy has no arrays of %s",
                          rheos_dtype_name(dtype));
}

static void put_header(rheos__buffer *buffer, const char *descr, const rheos_shape *shape) {
  char text[512];
  int length =
      snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (int32_t i = 0; i < shape->rank; i++) {
    length +=
        snprintf(text + length, sizeof text - (size_t)length, "%lld%s", (long long)shape->dims[i],
                 i + 1 < shape->rank ? ", "
                 : shape->rank == 1  ? ","
                                     : "");
  }
  length += snprintf(text + length, sizeof text - (size_t)length, "), }");
  while ((MAGIC_BYTES + 4 + length + 1) % HEADER_ALIGNMENT != 0) text[length++] = ' ';
  text[length++] = '\n';
  const char head[4] = {1, 0, (char)(length & 0xff), (char)(length >> 8)};
  rheos__buffer_put(buffer, magic, MAGIC_BYTES);
  rheos__buffer_put(buffer, head, sizeof head);
  rheos__buffer_put(buffer, text, (size_t)length);
}

static void put_texts(rheos__buffer *buffer, const rheos_tensor *tensor, size_t width) {
  const rheos_string *strings = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    char *to = rheos__buffer_extend(buffer, width);
    if (to == NULL) return;
    memset(to, 0, width);
    if (strings[i].size_bytes > 0) memcpy(to, strings[i].data, strings[i].size_bytes);
  }
}

rheos_status *rheos_npy_encode(const rheos_tensor *tensor, void **out_bytes,
                               size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(tensor);
  RHEOS_TRY(rheos__tensor_to_host(&tensor));
  char descr[32];
  size_t width = 0;
  RHEOS_TRY(descr_of(tensor, descr, &width));
  rheos__buffer buffer = {0};
  put_header(&buffer, descr, rheos_tensor_shape(tensor));
  if (rheos_tensor_dtype(tensor) == RHEOS_STRING) {
    put_texts(&buffer, tensor, width);
  } else {
    rheos__buffer_put(&buffer, rheos_tensor_data(tensor), rheos_tensor_size_bytes(tensor));
  }
  if (buffer.failed) {
    rheos__buffer_deinit(&buffer);
    return rheos__out_of_memory();
  }
  *out_bytes = buffer.data;
  *out_size_bytes = buffer.size_bytes;
  return NULL;
}
