// Reads recorded answers: words separated by blanks, one fact a line.
#include "ops/op_cases.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tensor/tensor.h"

typedef struct reader {
  const char *path;
  int line;
  op_case *c;
} reader;

// ---- The folder of a case with files

const char *op_cases_folder(void) {
  static char path[64];
  if (!*path) snprintf(path, sizeof path, "/tmp/rheos-op-cases-%ld", (long)getpid());
  return path;
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *walk) {
  (void)about, (void)kind, (void)walk;
  return remove(path);
}

void op_cases_clear_folder(bool make) {
  nftw(op_cases_folder(), remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  if (make && mkdir(op_cases_folder(), 0700) != 0) perror(op_cases_folder());
}

// ---- Words

static void refuse(const reader *r, const char *what, const char *word) {
  fprintf(stderr, "%s:%d: %s: '%s'\n", r->path, r->line, what, word ? word : "");
  exit(2);
}

static char *next_word(reader *r, char **rest) {
  char *word = strtok_r(NULL, " \n", rest);
  if (!word) refuse(r, "the line ends too early", NULL);
  return word;
}

static rheos_dtype parse_dtype(reader *r, const char *word) {
  rheos_dtype dtype = rheos_dtype_from_name(word);
  if (dtype == RHEOS_INVALID_DTYPE) refuse(r, "not a dtype", word);
  return dtype;
}

// "[2,?,3]" or "?"
static rheos_shape parse_shape(reader *r, const char *word) {
  if (strcmp(word, "?") == 0) return RHEOS_UNKNOWN_SHAPE;
  rheos_shape shape = RHEOS_SCALAR;
  if (*word != '[') refuse(r, "not a shape", word);
  for (const char *p = word + 1; *p && *p != ']';) {
    char *end = (char *)p + 1;
    shape.dims[shape.rank++] = *p == '?' ? -1 : strtoll(p, &end, 10);
    p = *end == ',' ? end + 1 : end;
  }
  return shape;
}

static void *must(void *memory) {
  if (!memory) exit(2);
  return memory;
}

static void *copy_bytes(const void *data, size_t size_bytes) {
  char *copy = must(malloc(size_bytes + 1));
  if (size_bytes > 0) memcpy(copy, data, size_bytes);
  copy[size_bytes] = 0;
  return copy;
}

// Undoes \xHH in place; returns the length.
static size_t unescape(char *text) {
  size_t n = 0;
  for (const char *p = text; *p; n++) {
    if (p[0] == '\\' && p[1] == 'x') {
      char digits[3] = {p[2], p[3], 0};
      text[n] = (char)strtol(digits, NULL, 16);
      p += 4;
    } else {
      text[n] = *p++;
    }
  }
  return n;
}

// "..." with escapes, and perhaps "$TMP" somewhere, as bytes of its own.
static rheos_string parse_string(reader *r, const char *word) {
  char *text = must(strdup(*word == '"' ? word + 1 : ""));
  char *quote = strrchr(text, '"');
  if (!quote) refuse(r, "not a string", word);
  *quote = 0;
  char *folder = strstr(text, "$TMP");
  if (folder) {
    char *longer = NULL;
    if (asprintf(&longer, "%.*s%s%s", (int)(folder - text), text, op_cases_folder(), folder + 4) <
        0) {
      exit(2);
    }
    free(text);
    text = longer;
    r->c->has_files = true;
  }
  return (rheos_string){text, unescape(text)};
}

// "re,im" is complex, "im" left out is 0.
static void store_complex(rheos_dtype dtype, char *at, const char *word) {
  char *end = NULL;
  double real = strtod(word, &end);
  double imaginary = *end == ',' ? strtod(end + 1, NULL) : 0;
  if (dtype == RHEOS_COMPLEX64) {
    ((float *)at)[0] = (float)real;
    ((float *)at)[1] = (float)imaginary;
  } else {
    ((double *)at)[0] = real;
    ((double *)at)[1] = imaginary;
  }
}

static void store_number(rheos_dtype dtype, char *at, const char *word) {
  switch (dtype) {
    case RHEOS_FLOAT: *(float *)at = strtof(word, NULL); break;
    case RHEOS_DOUBLE: *(double *)at = strtod(word, NULL); break;
    case RHEOS_COMPLEX64:
    case RHEOS_COMPLEX128: store_complex(dtype, at, word); break;
    case RHEOS_HALF: *(uint16_t *)at = rheos__float_to_half(strtof(word, NULL)); break;
    case RHEOS_BFLOAT16: *(uint16_t *)at = rheos__float_to_bfloat16(strtof(word, NULL)); break;
    case RHEOS_BOOL: *(bool *)at = *word == '1'; break;
    case RHEOS_INT8:
    case RHEOS_UINT8:
    case RHEOS_INT4:
    case RHEOS_UINT4:
    case RHEOS_QINT8:
    case RHEOS_QUINT8: *(int8_t *)at = (int8_t)strtoll(word, NULL, 10); break;
    case RHEOS_INT16:
    case RHEOS_UINT16:
    case RHEOS_QINT16:
    case RHEOS_QUINT16: *(int16_t *)at = (int16_t)strtoll(word, NULL, 10); break;
    case RHEOS_INT32:
    case RHEOS_UINT32:
    case RHEOS_QINT32: *(int32_t *)at = (int32_t)strtoll(word, NULL, 10); break;
    case RHEOS_INT64: *(int64_t *)at = strtoll(word, NULL, 10); break;
    case RHEOS_UINT64: *(uint64_t *)at = strtoull(word, NULL, 10); break;
    default: break;
  }
}

static void store_value(reader *r, rheos_tensor *tensor, int64_t index, const char *word) {
  rheos_dtype dtype = rheos_tensor_dtype(tensor);
  if (dtype != RHEOS_STRING) {
    char *data = rheos_tensor_data(tensor);
    store_number(dtype, data + (size_t)index * rheos_dtype_size(dtype), word);
    return;
  }
  rheos_string text = parse_string(r, word);
  rheos_status *status = rheos_tensor_set_string(tensor, index, text.data, text.size_bytes);
  if (status) refuse(r, rheos_status_message(status), word);
  free(text.data);
}

// The words after dtype and shape, each perhaps "value*count".
static rheos_tensor *parse_tensor(reader *r, char **rest) {
  rheos_dtype dtype = parse_dtype(r, next_word(r, rest));
  rheos_shape shape = parse_shape(r, next_word(r, rest));
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_new(dtype, shape, &tensor);
  if (status) refuse(r, rheos_status_message(status), NULL);
  int64_t count = rheos_tensor_num_elements(tensor);
  for (int64_t i = 0; i < count;) {
    char *word = next_word(r, rest);
    char *star = strrchr(word, '*');
    bool repeated = star && (*word != '"' || star > strrchr(word, '"'));
    int64_t times = repeated ? atoll(star + 1) : 1;
    if (repeated) *star = 0;
    for (; times > 0 && i < count; times--) store_value(r, tensor, i++, word);
  }
  if (strtok_r(NULL, " \n", rest)) refuse(r, "more values than the shape has", NULL);
  return tensor;
}

// Makes room for one more element, zeroed, at the end of `array`; returns the array.
static void *one_more(void *array, int count, size_t element_bytes) {
  char *grown = must(realloc(array, (size_t)(count + 1) * element_bytes));
  memset(grown + (size_t)count * element_bytes, 0, element_bytes);
  return grown;
}
#define ONE_MORE(array, count) \
  ((array) = one_more((array), (count), sizeof *(array)), &(array)[(count)++])

// The words of a list, in an array of its own.
static char **list_words(char **rest, int32_t *out_count) {
  char **words = NULL;
  int32_t n = 0;
  for (char *word; (word = strtok_r(NULL, " \n", rest)); n++) {
    if (n % 16 == 0) words = must(realloc(words, (size_t)(n + 16) * sizeof *words));
    words[n] = word;
  }
  *out_count = n;
  return words;
}

typedef struct list_kind {
  const char *name;
  rheos_attr_kind kind;
  size_t element_bytes;
} list_kind;
static const list_kind list_kinds[] = {
    {"ints", RHEOS_ATTR_LIST_INT, sizeof(int64_t)},
    {"floats", RHEOS_ATTR_LIST_FLOAT, sizeof(float)},
    {"bools", RHEOS_ATTR_LIST_BOOL, sizeof(bool)},
    {"types", RHEOS_ATTR_LIST_TYPE, sizeof(rheos_dtype)},
    {"shapes", RHEOS_ATTR_LIST_SHAPE, sizeof(rheos_shape)},
    {"strings", RHEOS_ATTR_LIST_STRING, sizeof(rheos_string)},
};

static void parse_element(reader *r, rheos_attr_kind kind, void *at, const char *word) {
  if (kind == RHEOS_ATTR_LIST_INT) {
    *(int64_t *)at = strtoll(word, NULL, 10);
  } else if (kind == RHEOS_ATTR_LIST_FLOAT) {
    *(float *)at = strtof(word, NULL);
  } else if (kind == RHEOS_ATTR_LIST_BOOL) {
    *(bool *)at = *word == '1';
  } else if (kind == RHEOS_ATTR_LIST_TYPE) {
    *(rheos_dtype *)at = parse_dtype(r, word);
  } else if (kind == RHEOS_ATTR_LIST_SHAPE) {
    *(rheos_shape *)at = parse_shape(r, word);
  } else {
    *(rheos_string *)at = parse_string(r, word);
  }
}

static void parse_list(reader *r, rheos_attr_value *value, const list_kind *list, char **rest) {
  char **words = list_words(rest, &value->count);
  char *elements = must(calloc((size_t)value->count + 1, list->element_bytes));
  for (int32_t i = 0; i < value->count; i++) {
    parse_element(r, list->kind, elements + (size_t)i * list->element_bytes, words[i]);
  }
  free(words);
  value->kind = list->kind;
  value->ints = (void *)elements;
}

// The node whose lines are being read; NULL: the op itself.
static op_node *current_node(op_case *c) { return c->in_node ? &c->nodes[c->num_nodes - 1] : NULL; }

static rheos_attr *new_attr(reader *r, op_case *c) {
  op_node *node = current_node(c);
  if ((node ? node->num_attrs : c->num_attrs) == CASE_MAX_ATTRS) {
    refuse(r, "too many attributes", NULL);
  }
  return node ? ONE_MORE(node->attrs, node->num_attrs) : ONE_MORE(c->attrs, c->num_attrs);
}

static op_input *new_input(reader *r, op_case *c) {
  op_node *node = current_node(c);
  if ((node ? node->num_inputs : c->num_inputs) == CASE_MAX_INPUTS) {
    refuse(r, "too many inputs", NULL);
  }
  return node ? ONE_MORE(node->inputs, node->num_inputs) : ONE_MORE(c->inputs, c->num_inputs);
}

static void parse_attr(reader *r, op_case *c, char **rest) {
  rheos_attr *attr = new_attr(r, c);
  attr->name = must(strdup(next_word(r, rest)));
  const char *kind = next_word(r, rest);
  for (size_t i = 0; i < sizeof list_kinds / sizeof *list_kinds; i++) {
    if (strcmp(kind, list_kinds[i].name) == 0) {
      parse_list(r, &attr->value, &list_kinds[i], rest);
      return;
    }
  }
  if (strcmp(kind, "tensor") == 0) {
    *attr = rheos_attr_tensor(attr->name, parse_tensor(r, rest));
    return;
  }
  char *word = next_word(r, rest);
  if (strcmp(kind, "int") == 0) {
    *attr = rheos_attr_int(attr->name, strtoll(word, NULL, 10));
  } else if (strcmp(kind, "float") == 0) {
    *attr = rheos_attr_float(attr->name, strtof(word, NULL));
  } else if (strcmp(kind, "bool") == 0) {
    *attr = rheos_attr_bool(attr->name, *word == '1');
  } else if (strcmp(kind, "type") == 0) {
    *attr = rheos_attr_type(attr->name, parse_dtype(r, word));
  } else if (strcmp(kind, "shape") == 0) {
    rheos_shape shape = parse_shape(r, word);
    *attr = rheos_attr_shape(attr->name, copy_bytes(&shape, sizeof shape));
  } else if (strcmp(kind, "string") == 0) {
    rheos_string text = parse_string(r, word);
    *attr = rheos_attr_string(attr->name, text.data, text.size_bytes);
  } else {
    refuse(r, "not a kind of attribute", kind);
  }
}

static rheos_code parse_code(reader *r, const char *word) {
  for (int code = 0; code <= 16; code++) {
    if (strcmp(rheos_code_name((rheos_code)code), word) == 0) return (rheos_code)code;
  }
  refuse(r, "not a code", word);
  return RHEOS_OK;
}

// "node made|first|last OP", or "node op" for the op itself.
static void parse_node(reader *r, op_case *c, char **rest) {
  static const char *const roles[] = {"made", "first", "last"};
  const char *role = next_word(r, rest);
  c->in_node = strcmp(role, "op") != 0;
  if (!c->in_node) {
    for (int i = 0; i < c->num_nodes; i++) c->nodes[i].after_op = false;
    return;
  }
  if (c->num_nodes == CASE_MAX_NODES) refuse(r, "too many nodes", NULL);
  op_node *node = ONE_MORE(c->nodes, c->num_nodes);
  node->after_op = true;
  while (strcmp(role, roles[node->role]) != 0) {
    if (++node->role > NODE_LAST) refuse(r, "not a role", role);
  }
  snprintf(node->op, sizeof node->op, "%s", next_word(r, rest));
}

static void parse_input(reader *r, op_case *c, op_input_kind kind, char **rest) {
  op_input *input = new_input(r, c);
  input->kind = kind;
  if (kind == INPUT_NODE) {
    const char *word = next_word(r, rest);
    input->node = strcmp(word, "op") == 0 ? THE_OP : atoi(word);
    return;
  }
  if (kind == INPUT_UNSET) {
    input->is_handle = strncmp(*rest, "handle ", 7) == 0;
    if (input->is_handle) next_word(r, rest);
    input->dtype = parse_dtype(r, next_word(r, rest));
    input->shape = parse_shape(r, next_word(r, rest));
    return;
  }
  input->any_shape = strncmp(*rest, "any ", 4) == 0;
  if (input->any_shape) next_word(r, rest);
  input->tensor = parse_tensor(r, rest);
  input->dtype = rheos_tensor_dtype(input->tensor);
  input->shape = *rheos_tensor_shape(input->tensor);
}

static void parse_wait(reader *r, op_case *c, char **rest) {
  op_node *node = current_node(c);
  int *waits = node ? node->waits : c->waits, *count = node ? &node->num_waits : &c->num_waits;
  const char *word = next_word(r, rest);
  if (*count == CASE_MAX_WAITS) refuse(r, "too many nodes to wait for", NULL);
  waits[(*count)++] = strcmp(word, "op") == 0 ? THE_OP : atoi(word);
}

static void parse_output(reader *r, op_case *c, char **rest) {
  if (c->num_outputs == CASE_MAX_OUTPUTS) refuse(r, "too many outputs", NULL);
  op_output *output = ONE_MORE(c->outputs, c->num_outputs);
  output->run = c->num_runs - 1;
  bool has_static = strncmp(*rest, "static ", 7) == 0;
  if (has_static) {
    next_word(r, rest);
    output->static_shape = parse_shape(r, next_word(r, rest));
  }
  output->tensor = parse_tensor(r, rest);
  if (!has_static) output->static_shape = *rheos_tensor_shape(output->tensor);
}

static void parse_line(reader *r, op_case *c, const char *key, char **rest) {
  if (strcmp(key, "attr") == 0) {
    parse_attr(r, c, rest);
  } else if (strcmp(key, "node") == 0) {
    parse_node(r, c, rest);
  } else if (strcmp(key, "from") == 0) {
    parse_input(r, c, INPUT_NODE, rest);
  } else if (strcmp(key, "wait") == 0) {
    parse_wait(r, c, rest);
  } else if (strcmp(key, "unfetched") == 0) {
    c->unfetched = true;
  } else if (strcmp(key, "feed") == 0) {
    parse_input(r, c, INPUT_FEED, rest);
  } else if (strcmp(key, "const") == 0) {
    parse_input(r, c, INPUT_CONST, rest);
  } else if (strcmp(key, "var") == 0) {
    parse_input(r, c, INPUT_VARIABLE, rest);
  } else if (strcmp(key, "handle") == 0) {
    parse_input(r, c, INPUT_VARIABLE, rest);
    c->inputs[c->num_inputs - 1].is_handle = true;
  } else if (strcmp(key, "unset") == 0) {
    parse_input(r, c, INPUT_UNSET, rest);
  } else if (strcmp(key, "out") == 0) {
    parse_output(r, c, rest);
  } else if (strcmp(key, "again") == 0) {
    c->num_runs++;
  } else if (strcmp(key, "gradient") == 0) {
    c->check_gradient = true;
  } else if (strcmp(key, "after") == 0) {
    bool unset = strncmp(*rest, "unset", 5) == 0;
    rheos_tensor **after = ONE_MORE(c->after, c->num_after);
    *after = unset ? NULL : parse_tensor(r, rest);
  } else if (strcmp(key, "tolerance") == 0) {
    c->tolerance = strtof(next_word(r, rest), NULL);
  } else if (strcmp(key, "error") == 0) {
    c->error = parse_code(r, next_word(r, rest));
    c->error_unknown_shapes = parse_code(r, next_word(r, rest));
  } else {
    refuse(r, "not a key", key);
  }
}

static op_case *new_case(op_cases *cases, const char *op, const char *tag) {
  if (cases->count == cases->capacity) {
    cases->capacity = cases->capacity * 2 + 64;
    cases->items = must(realloc(cases->items, cases->capacity * sizeof *cases->items));
  }
  op_case *c = &cases->items[cases->count++];
  memset(c, 0, sizeof *c);
  snprintf(c->op, sizeof c->op, "%s", op);
  snprintf(c->tag, sizeof c->tag, "%s", tag);
  c->num_runs = 1;
  c->tolerance = -1;
  return c;
}

static void read_file(op_cases *cases, const char *path) {
  FILE *file = fopen(path, "r");
  reader r = {path, 0, NULL};
  if (!file) refuse(&r, "cannot open", path);
  char *text = NULL;
  size_t capacity = 0;
  op_case *c = NULL;
  while (getline(&text, &capacity, file) > 0) {
    r.line++;
    char *rest = NULL;
    char *key = strtok_r(text, " \n", &rest);
    if (!key || *key == '#') continue;
    if (strcmp(key, "case") == 0) {
      const char *op = next_word(&r, &rest);
      r.c = c = new_case(cases, op, next_word(&r, &rest));
    } else if (strcmp(key, "end") == 0) {
      c = NULL;
    } else if (c) {
      parse_line(&r, c, key, &rest);
    } else {
      refuse(&r, "not inside a case", key);
    }
  }
  free(text);
  fclose(file);
}

static int order(const void *a, const void *b) {
  const op_case *x = a, *y = b;
  int by_op = strcmp(x->op, y->op);
  return by_op ? by_op : strcmp(x->tag, y->tag);
}

void op_cases_load(op_cases *cases) {
  const char *folder = RHEOS_SOURCE_DIR "/tests/golden/ops";
  memset(cases, 0, sizeof *cases);
  DIR *dir = opendir(folder);
  reader r = {folder, 0, NULL};
  if (!dir) refuse(&r, "cannot open", folder);
  for (struct dirent *entry; (entry = readdir(dir));) {
    const char *dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ".txt") != 0) continue;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    read_file(cases, path);
  }
  closedir(dir);
  qsort(cases->items, cases->count, sizeof *cases->items, order);
}

size_t op_cases_end(const op_cases *cases, size_t first) {
  size_t i = first;
  while (i < cases->count && strcmp(cases->items[i].op, cases->items[first].op) == 0) i++;
  return i;
}

static const list_kind *list_kind_of(rheos_attr_kind kind) {
  for (size_t i = 0; i < sizeof list_kinds / sizeof *list_kinds; i++) {
    if (list_kinds[i].kind == kind) return &list_kinds[i];
  }
  return NULL;
}

static void free_attr(rheos_attr *attr) {
  rheos_attr_value *v = &attr->value;
  free((char *)(uintptr_t)attr->name);
  for (int32_t i = 0; v->kind == RHEOS_ATTR_LIST_STRING && i < v->count; i++) {
    free(v->strings[i].data);
  }
  if (list_kind_of(v->kind)) free((void *)(uintptr_t)v->ints);
  if (v->kind == RHEOS_ATTR_STRING) free(v->s.data);
  if (v->kind == RHEOS_ATTR_SHAPE) free((void *)(uintptr_t)v->shape);
  if (v->kind == RHEOS_ATTR_TENSOR) rheos_tensor_unref(v->tensor);
}

static void copy_attr(rheos_attr *attr) {
  rheos_attr_value *v = &attr->value;
  const list_kind *list = list_kind_of(v->kind);
  attr->name = must(strdup(attr->name));
  if (list) v->ints = copy_bytes(v->ints, (size_t)v->count * list->element_bytes);
  for (int32_t i = 0; v->kind == RHEOS_ATTR_LIST_STRING && i < v->count; i++) {
    rheos_string *s = (rheos_string *)(uintptr_t)&v->strings[i];
    s->data = copy_bytes(s->data, s->size_bytes);
  }
  if (v->kind == RHEOS_ATTR_SHAPE) v->shape = copy_bytes(v->shape, sizeof *v->shape);
  if (v->kind == RHEOS_ATTR_STRING) v->s.data = copy_bytes(v->s.data, v->s.size_bytes);
  if (v->kind == RHEOS_ATTR_TENSOR) rheos_tensor_ref(v->tensor);
}

static void free_attrs(rheos_attr *attrs, int count) {
  for (int i = 0; i < count; i++) free_attr(&attrs[i]);
  free(attrs);
}

static void free_inputs(op_input *inputs, int count) {
  for (int i = 0; i < count; i++) rheos_tensor_unref(inputs[i].tensor);
  free(inputs);
}

void op_case_free(op_case *c) {
  free_attrs(c->attrs, c->num_attrs);
  free_inputs(c->inputs, c->num_inputs);
  for (int i = 0; i < c->num_nodes; i++) {
    free_attrs(c->nodes[i].attrs, c->nodes[i].num_attrs);
    free_inputs(c->nodes[i].inputs, c->nodes[i].num_inputs);
  }
  free(c->nodes);
  for (int i = 0; i < c->num_outputs; i++) rheos_tensor_unref(c->outputs[i].tensor);
  for (int i = 0; i < c->num_after; i++) rheos_tensor_unref(c->after[i]);
  free(c->outputs);
  free(c->after);
}

static rheos_attr *copy_attrs(const rheos_attr *from, int count) {
  rheos_attr *attrs = copy_bytes(from, (size_t)count * sizeof *from);
  for (int i = 0; i < count; i++) copy_attr(&attrs[i]);
  return attrs;
}

static op_input *copy_inputs(const op_input *from, int count) {
  op_input *inputs = copy_bytes(from, (size_t)count * sizeof *from);
  for (int i = 0; i < count; i++) {
    if (inputs[i].tensor) rheos_tensor_ref(inputs[i].tensor);
  }
  return inputs;
}

void op_case_copy(const op_case *from, op_case *to) {
  *to = *from;
  to->attrs = copy_attrs(from->attrs, from->num_attrs);
  to->inputs = copy_inputs(from->inputs, from->num_inputs);
  to->nodes = copy_bytes(from->nodes, (size_t)from->num_nodes * sizeof *from->nodes);
  for (int i = 0; i < to->num_nodes; i++) {
    to->nodes[i].attrs = copy_attrs(from->nodes[i].attrs, from->nodes[i].num_attrs);
    to->nodes[i].inputs = copy_inputs(from->nodes[i].inputs, from->nodes[i].num_inputs);
  }
  to->outputs = copy_bytes(from->outputs, (size_t)from->num_outputs * sizeof *from->outputs);
  to->after = copy_bytes(from->after, (size_t)from->num_after * sizeof *from->after);
  for (int i = 0; i < to->num_outputs; i++) rheos_tensor_ref(to->outputs[i].tensor);
  for (int i = 0; i < to->num_after; i++) {
    if (to->after[i]) rheos_tensor_ref(to->after[i]);
  }
}

void op_cases_free(op_cases *cases) {
  for (size_t i = 0; i < cases->count; i++) op_case_free(&cases->items[i]);
  free(cases->items);
  memset(cases, 0, sizeof *cases);
}
