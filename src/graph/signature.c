// Signatures: the text of every op, parsed once for the process into fixed storage, so that this
// can neither fail for want of memory nor hold memory of a replaced allocator. A text that does not
// parse is a mistake in the op table: an assertion, and no signature.
#include "graph/op_def.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { STORAGE_BYTES = 2 << 20, MAX_OPS = 2048, NUM_SLOTS = 4096 };

static struct {
  _Alignas(16) char storage[STORAGE_BYTES];
  size_t used;
  rheos__signature signatures[MAX_OPS];
  int32_t count;
  uint16_t slots[NUM_SLOTS];  // index + 1 by hash of the name
} table;

static void *store(size_t size_bytes) {
  size_t rounded = (size_bytes + 15) & ~(size_t)15;
  if (rounded > STORAGE_BYTES - table.used) return NULL;
  void *memory = table.storage + table.used;
  table.used += rounded;
  return memory;
}

static void *store_copy(const void *data, size_t size_bytes) {
  void *memory = store(size_bytes + 1);
  if (memory != NULL && size_bytes != 0) memcpy(memory, data, size_bytes);
  return memory;  // a NUL follows: the storage starts out zeroed
}

// ---- Words

typedef struct parser {
  const char *at;
  bool failed;
} parser;

typedef struct span {
  const char *text;
  size_t length;
} span;

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

static void skip_spaces(parser *p) {
  while (*p->at == ' ' || *p->at == '\n') p->at++;
}

static bool accept(parser *p, const char *token) {
  skip_spaces(p);
  size_t length = strlen(token);
  if (strncmp(p->at, token, length) != 0) return false;
  if (is_word_char(token[0]) && is_word_char(p->at[length])) return false;
  p->at += length;
  return true;
}

static void expect(parser *p, const char *token) {
  if (!accept(p, token)) p->failed = true;
}

static span word(parser *p) {
  skip_spaces(p);
  span s = {p->at, 0};
  while (is_word_char(p->at[s.length])) s.length++;
  p->at += s.length;
  if (s.length == 0) p->failed = true;
  return s;
}

static bool is_word(span s, const char *text) {
  return strlen(text) == s.length && memcmp(s.text, text, s.length) == 0;
}

static rheos_dtype dtype_of(span s) {
  char name[32];
  if (s.length >= sizeof name) return RHEOS_INVALID_DTYPE;
  memcpy(name, s.text, s.length);
  name[s.length] = '\0';
  return rheos_dtype_from_name(name);
}

static int64_t integer(parser *p) {
  skip_spaces(p);
  char *end;
  errno = 0;
  int64_t value = strtoll(p->at, &end, 10);
  if (end == p->at || errno != 0) p->failed = true;
  p->at = end;
  return value;
}

static float floating(parser *p) {
  skip_spaces(p);
  char *end;
  float value = strtof(p->at, &end);
  if (end == p->at) p->failed = true;
  p->at = end;
  return value;
}

// Text in double quotes. The one escape is \n.
static void unescape(rheos_string *string) {
  size_t length = 0;
  for (size_t i = 0; i < string->size_bytes; i++) {
    const bool escaped = string->data[i] == '\\' && i + 1 < string->size_bytes;
    if (escaped) i++;
    const char c = string->data[i];
    string->data[length++] = (char)(!escaped ? c : c == 'n' ? '\n' : c == 't' ? '\t' : c);
  }
  string->data[length] = '\0';
  string->size_bytes = length;
}

static rheos_string quoted(parser *p) {
  rheos_string string = {NULL, 0};
  expect(p, "\"");
  if (p->failed) return string;
  string.size_bytes = strcspn(p->at, "\"");
  string.data = store_copy(p->at, string.size_bytes);
  p->at += string.size_bytes;
  expect(p, "\"");
  p->failed |= string.data == NULL;
  if (string.data != NULL) unescape(&string);
  return string;
}

// ---- Kinds of attributes

#define BIT(dtype) (UINT64_C(1) << (dtype))
static const uint64_t FLOATING_TYPES =
    BIT(RHEOS_HALF) | BIT(RHEOS_BFLOAT16) | BIT(RHEOS_FLOAT) | BIT(RHEOS_DOUBLE);
static const uint64_t INTEGER_TYPES = BIT(RHEOS_INT8) | BIT(RHEOS_INT16) | BIT(RHEOS_INT32) |
                                      BIT(RHEOS_INT64) | BIT(RHEOS_UINT8) | BIT(RHEOS_UINT16) |
                                      BIT(RHEOS_UINT32) | BIT(RHEOS_UINT64);
static const uint64_t COMPLEX_TYPES = BIT(RHEOS_COMPLEX64) | BIT(RHEOS_COMPLEX128);
static const uint64_t QUANTIZED_TYPES = BIT(RHEOS_QINT8) | BIT(RHEOS_QUINT8) | BIT(RHEOS_QINT16) |
                                        BIT(RHEOS_QUINT16) | BIT(RHEOS_QINT32);

// The dtypes that a word stands for; 0 if none.
static uint64_t types_of_word(span s) {
  if (is_word(s, "number")) {
    return FLOATING_TYPES | INTEGER_TYPES | COMPLEX_TYPES | QUANTIZED_TYPES;
  }
  if (is_word(s, "real")) return FLOATING_TYPES | INTEGER_TYPES;
  if (is_word(s, "floating")) return FLOATING_TYPES;
  if (is_word(s, "integer")) return INTEGER_TYPES;
  if (is_word(s, "index")) return BIT(RHEOS_INT32) | BIT(RHEOS_INT64);
  rheos_dtype dtype = dtype_of(s);
  return dtype != RHEOS_INVALID_DTYPE ? BIT(dtype) : 0;
}

// What follows "{": dtypes or strings.
static rheos_attr_kind parse_choice(parser *p, rheos__attr_def *attr) {
  skip_spaces(p);
  const char *strings[RHEOS__MAX_SIGNATURE_ITEMS + 1] = {0};
  size_t num_strings = 0;
  do {
    skip_spaces(p);
    if (*p->at == '"') {
      if (num_strings == RHEOS__MAX_SIGNATURE_ITEMS) p->failed = true;
      if (p->failed) break;
      strings[num_strings++] = quoted(p).data;
    } else {
      uint64_t types = types_of_word(word(p));
      p->failed |= types == 0;
      attr->allowed_types |= types;
    }
  } while (!p->failed && accept(p, ","));
  expect(p, "}");
  if (num_strings == 0) return RHEOS_ATTR_TYPE;
  attr->allowed_strings = store_copy(strings, (num_strings + 1) * sizeof *strings);
  p->failed |= attr->allowed_types != 0 || attr->allowed_strings == NULL;
  return RHEOS_ATTR_STRING;
}

static rheos_attr_kind parse_element_kind(parser *p, rheos__attr_def *attr) {
  static const struct {
    const char *word;
    rheos_attr_kind kind;
  } kinds[] = {{"int", RHEOS_ATTR_INT},       {"float", RHEOS_ATTR_FLOAT},
               {"bool", RHEOS_ATTR_BOOL},     {"string", RHEOS_ATTR_STRING},
               {"type", RHEOS_ATTR_TYPE},     {"shape", RHEOS_ATTR_SHAPE},
               {"tensor", RHEOS_ATTR_TENSOR}, {"func", RHEOS_ATTR_FUNC}};
  if (accept(p, "{")) return parse_choice(p, attr);
  span s = word(p);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (is_word(s, kinds[i].word)) return kinds[i].kind;
  }
  attr->allowed_types = types_of_word(s);  // a set by its name: "number", "index"
  p->failed |= attr->allowed_types == 0;
  return RHEOS_ATTR_TYPE;
}

static rheos_attr_kind list_of(rheos_attr_kind element) {
  switch (element) {
    case RHEOS_ATTR_INT: return RHEOS_ATTR_LIST_INT;
    case RHEOS_ATTR_FLOAT: return RHEOS_ATTR_LIST_FLOAT;
    case RHEOS_ATTR_BOOL: return RHEOS_ATTR_LIST_BOOL;
    case RHEOS_ATTR_STRING: return RHEOS_ATTR_LIST_STRING;
    case RHEOS_ATTR_TYPE: return RHEOS_ATTR_LIST_TYPE;
    case RHEOS_ATTR_SHAPE: return RHEOS_ATTR_LIST_SHAPE;
    case RHEOS_ATTR_TENSOR: return RHEOS_ATTR_LIST_TENSOR;
    default: return RHEOS_ATTR_LIST_FUNC;
  }
}

// ---- Defaults

static rheos_shape parse_shape(parser *p) {
  if (accept(p, "?")) return RHEOS_UNKNOWN_SHAPE;
  rheos_shape shape = {.rank = 0};
  expect(p, "{");
  if (p->failed || accept(p, "}")) return shape;
  do {
    if (shape.rank == RHEOS_MAX_RANK) p->failed = true;
    if (p->failed) return shape;
    shape.dims[shape.rank++] = integer(p);
  } while (accept(p, ","));
  expect(p, "}");
  return shape;
}

static bool parse_bool(parser *p) {
  if (accept(p, "true")) return true;
  expect(p, "false");
  return false;
}

static rheos_dtype parse_dtype(parser *p) {
  rheos_dtype dtype = dtype_of(word(p));
  p->failed |= dtype == RHEOS_INVALID_DTYPE;
  return dtype;
}

static void parse_list_default(parser *p, rheos_attr_value *value) {
  int64_t ints[RHEOS__MAX_SIGNATURE_ITEMS];
  float floats[RHEOS__MAX_SIGNATURE_ITEMS];
  bool bools[RHEOS__MAX_SIGNATURE_ITEMS];
  rheos_dtype types[RHEOS__MAX_SIGNATURE_ITEMS];
  rheos_string strings[RHEOS__MAX_SIGNATURE_ITEMS];
  expect(p, "[");
  if (p->failed || accept(p, "]")) return;
  int32_t count = 0;
  do {
    if (count == RHEOS__MAX_SIGNATURE_ITEMS) p->failed = true;
    if (p->failed) return;
    if (value->kind == RHEOS_ATTR_LIST_INT)
      ints[count] = integer(p);
    else if (value->kind == RHEOS_ATTR_LIST_FLOAT)
      floats[count] = floating(p);
    else if (value->kind == RHEOS_ATTR_LIST_BOOL)
      bools[count] = parse_bool(p);
    else if (value->kind == RHEOS_ATTR_LIST_TYPE)
      types[count] = parse_dtype(p);
    else if (value->kind == RHEOS_ATTR_LIST_STRING)
      strings[count] = quoted(p);
    else
      p->failed = true;
    count++;
  } while (accept(p, ","));
  expect(p, "]");
  if (p->failed) return;
  const void *items = value->kind == RHEOS_ATTR_LIST_INT     ? (const void *)ints
                      : value->kind == RHEOS_ATTR_LIST_FLOAT ? (const void *)floats
                      : value->kind == RHEOS_ATTR_LIST_BOOL  ? (const void *)bools
                      : value->kind == RHEOS_ATTR_LIST_TYPE  ? (const void *)types
                                                             : (const void *)strings;
  size_t element_bytes = value->kind == RHEOS_ATTR_LIST_INT     ? sizeof ints[0]
                         : value->kind == RHEOS_ATTR_LIST_FLOAT ? sizeof floats[0]
                         : value->kind == RHEOS_ATTR_LIST_BOOL  ? sizeof bools[0]
                         : value->kind == RHEOS_ATTR_LIST_TYPE  ? sizeof types[0]
                                                                : sizeof strings[0];
  value->count = count;
  value->ints = store_copy(items, (size_t)count * element_bytes);
  p->failed |= value->ints == NULL;
}

// `uint8 [1, 2]`: small integers. A view, so that nobody counts it.
static rheos_tensor *parse_tensor(parser *p) {
  uint8_t items[RHEOS__MAX_SIGNATURE_ITEMS];
  p->failed |= parse_dtype(p) != RHEOS_UINT8;
  expect(p, "[");
  int64_t count = 0;
  while (!p->failed && !accept(p, "]")) {
    if (count > 0) expect(p, ",");
    const int64_t item = integer(p);
    p->failed |= item < 0 || item > UINT8_MAX || count == RHEOS__MAX_SIGNATURE_ITEMS;
    if (!p->failed) items[count++] = (uint8_t)item;
  }
  rheos_tensor *tensor = store(sizeof *tensor);
  void *data = store_copy(items, (size_t)count);
  p->failed |= tensor == NULL || data == NULL;
  if (!p->failed) rheos__tensor_init_view(tensor, RHEOS_UINT8, &RHEOS_SHAPE(count), data);
  return tensor;
}

static void parse_default(parser *p, rheos_attr_value *value) {
  rheos_shape shape;
  switch (value->kind) {
    case RHEOS_ATTR_INT: value->i = integer(p); break;
    case RHEOS_ATTR_FLOAT: value->f = floating(p); break;
    case RHEOS_ATTR_BOOL: value->b = parse_bool(p); break;
    case RHEOS_ATTR_TYPE: value->type = parse_dtype(p); break;
    case RHEOS_ATTR_STRING: value->s = quoted(p); break;
    case RHEOS_ATTR_SHAPE:
      shape = parse_shape(p);
      value->shape = store_copy(&shape, sizeof shape);
      p->failed |= value->shape == NULL;
      break;
    case RHEOS_ATTR_TENSOR: value->tensor = parse_tensor(p); break;
    default: parse_list_default(p, value);
  }
}

// ---- Attributes and arguments

static const char *store_word(parser *p, span s) {
  const char *text = store_copy(s.text, s.length);
  p->failed |= text == NULL;
  return text;
}

// `name: KIND [>= minimum] [= default]`
static rheos__attr_def parse_attr(parser *p) {
  rheos__attr_def attr = {0};
  attr.name = store_word(p, word(p));
  expect(p, ":");
  if (accept(p, "list")) {
    expect(p, "(");
    attr.kind = list_of(parse_element_kind(p, &attr));
    expect(p, ")");
  } else {
    attr.kind = parse_element_kind(p, &attr);
  }
  if (accept(p, ">=")) {
    attr.has_minimum = true;
    attr.minimum = integer(p);
  }
  attr.default_value.kind = attr.kind;
  if (accept(p, "=")) {
    attr.has_default = true;
    parse_default(p, &attr.default_value);
  }
  return attr;
}

static int16_t attr_index(const rheos__signature *signature, span name) {
  for (int32_t i = 0; i < signature->num_attrs; i++) {
    if (is_word(name, signature->attrs[i].name)) return (int16_t)i;
  }
  return -1;
}

// Sets what the type word of an argument means: a dtype or an attribute.
static void resolve_type(parser *p, const rheos__signature *signature, span s, rheos__arg *arg) {
  int16_t index = attr_index(signature, s);
  if (index < 0) {
    arg->dtype = dtype_of(s);
    p->failed |= arg->dtype == RHEOS_INVALID_DTYPE;
  } else if (signature->attrs[index].kind == RHEOS_ATTR_LIST_TYPE) {
    arg->type_list_attr = index;
  } else {
    arg->type_attr = index;
    p->failed |= signature->attrs[index].kind != RHEOS_ATTR_TYPE;
  }
}

// `name: TYPE`, with the attributes known already.
static rheos__arg parse_arg(parser *p, const rheos__signature *signature) {
  rheos__arg arg = {.type_attr = -1, .number_attr = -1, .type_list_attr = -1};
  arg.name = store_word(p, word(p));
  expect(p, ":");
  arg.is_ref = accept(p, "Ref");
  if (arg.is_ref) expect(p, "(");
  span first = word(p);
  if (accept(p, "*")) {
    arg.number_attr = attr_index(signature, first);
    p->failed |= arg.number_attr < 0 || signature->attrs[arg.number_attr].kind != RHEOS_ATTR_INT;
    first = word(p);
  }
  if (!p->failed) resolve_type(p, signature, first, &arg);
  if (arg.is_ref) expect(p, ")");
  return arg;
}

// Arguments up to `end`; returns how many, in `*out_args`.
static int32_t parse_args(parser *p, const rheos__signature *signature, const char *end,
                          const rheos__arg **out_args) {
  rheos__arg args[RHEOS__MAX_SIGNATURE_ITEMS];
  int32_t count = 0;
  skip_spaces(p);
  while (!p->failed && p->at < end) {
    if (count == RHEOS__MAX_SIGNATURE_ITEMS) p->failed = true;
    if (p->failed) return 0;
    args[count++] = parse_arg(p, signature);
    skip_spaces(p);
    if (p->at < end) expect(p, ",");
  }
  *out_args = store_copy(args, (size_t)count * sizeof *args);
  p->failed |= *out_args == NULL || p->at != end;
  return count;
}

static bool parse_signature(const rheos__op_def *op, rheos__signature *out_signature) {
  rheos__signature signature = {.op = op};
  rheos__attr_def attrs[RHEOS__MAX_SIGNATURE_ITEMS];
  parser p = {op->signature, false};
  const char *arrow = strstr(op->signature, "->");
  const char *end = op->signature + strcspn(op->signature, ";");
  if (arrow == NULL || arrow > end) return false;
  p.at = end;
  while (!p.failed && accept(&p, ";")) {
    if (signature.num_attrs == RHEOS__MAX_SIGNATURE_ITEMS) return false;
    attrs[signature.num_attrs++] = parse_attr(&p);
  }
  skip_spaces(&p);
  if (p.failed || *p.at != '\0') return false;
  signature.attrs = store_copy(attrs, (size_t)signature.num_attrs * sizeof *attrs);
  if (signature.attrs == NULL) return false;
  p.at = op->signature;
  signature.num_inputs = parse_args(&p, &signature, arrow, &signature.inputs);
  expect(&p, "->");
  signature.num_outputs = p.failed ? 0 : parse_args(&p, &signature, end, &signature.outputs);
  *out_signature = signature;
  return !p.failed;
}

// ---- The table

static uint16_t *find_slot(const char *name) {
  size_t i = rheos__hash_bytes(0, name, strlen(name)) % NUM_SLOTS;
  while (table.slots[i] != 0 && strcmp(table.signatures[table.slots[i] - 1].op->name, name) != 0) {
    i = (i + 1) % NUM_SLOTS;
  }
  return &table.slots[i];
}

static void make_table(void) {
  for (int32_t i = 0; i < rheos__op_table_size && table.count < MAX_OPS; i++) {
    bool parsed = parse_signature(rheos__op_table[i], &table.signatures[table.count]);
    assert(parsed && "every op's signature is well formed");
    if (!parsed) continue;
    uint16_t *slot = find_slot(rheos__op_table[i]->name);
    table.count++;
    if (*slot == 0) *slot = (uint16_t)table.count;
  }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

const rheos__signature *rheos__signature_by_name(const char *name) {
  pthread_once(&once, make_table);
  uint16_t slot = *find_slot(name);
  return slot != 0 ? &table.signatures[slot - 1] : NULL;
}

const rheos__signature *rheos__signature_at(int32_t index) {
  pthread_once(&once, make_table);
  return index >= 0 && index < table.count ? &table.signatures[index] : NULL;
}
