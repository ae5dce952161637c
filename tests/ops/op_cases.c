// Reads recorded answers: words separated by blanks, one fact a line.
#include "ops/op_cases.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/tensor.h"

typedef struct reader {
  const char *path;
  int line;
} reader;

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

static void store_number(rheos_dtype dtype, char *at, const char *word) {
  switch (dtype) {
    case RHEOS_FLOAT:
      *(float *)at = strtof(word, NULL);
      break;
    case RHEOS_DOUBLE:
      *(double *)at = strtod(word, NULL);
      break;
    case RHEOS_HALF:
      *(uint16_t *)at = rheos__float_to_half(strtof(word, NULL));
      break;
    case RHEOS_BFLOAT16:
      *(uint16_t *)at = rheos__float_to_bfloat16(strtof(word, NULL));
      break;
    case RHEOS_BOOL:
      *(bool *)at = *word == '1';
      break;
    case RHEOS_INT8:
    case RHEOS_UINT8:
      *(int8_t *)at = (int8_t)strtoll(word, NULL, 10);
      break;
    case RHEOS_INT16:
    case RHEOS_UINT16:
      *(int16_t *)at = (int16_t)strtoll(word, NULL, 10);
      break;
    case RHEOS_INT32:
    case RHEOS_UINT32:
      *(int32_t *)at = (int32_t)strtoll(word, NULL, 10);
      break;
    case RHEOS_INT64:
      *(int64_t *)at = strtoll(word, NULL, 10);
      break;
    case RHEOS_UINT64:
      *(uint64_t *)at = strtoull(word, NULL, 10);
      break;
    default:
      break;
  }
}

static void store_value(reader *r, rheos_tensor *tensor, int64_t index, const char *word) {
  rheos_dtype dtype = rheos_tensor_dtype(tensor);
  if (dtype != RHEOS_STRING) {
    char *data = rheos_tensor_data(tensor);
    store_number(dtype, data + (size_t)index * rheos_dtype_size(dtype), word);
    return;
  }
  char text[256];
  snprintf(text, sizeof text, "%s", word + 1);
  char *quote = strrchr(text, '"');
  if (*word != '"' || !quote) refuse(r, "not a string", word);
  *quote = 0;
  rheos_status *status = rheos_tensor_set_string(tensor, index, text, unescape(text));
  if (status) refuse(r, rheos_status_message(status), word);
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

static void *must(void *memory) {
  if (!memory) exit(2);
  return memory;
}

static void *copy_bytes(const void *data, size_t size_bytes) {
  char *copy = must(malloc(size_bytes + 1));
  memcpy(copy, data, size_bytes);
  copy[size_bytes] = 0;
  return copy;
}

static void parse_attr(reader *r, op_case *c, char **rest) {
  rheos_attr *attr = &c->attrs[c->num_attrs++];
  attr->name = must(strdup(next_word(r, rest)));
  const char *kind = next_word(r, rest);
  bool is_ints = strcmp(kind, "ints") == 0;
  if (is_ints || strcmp(kind, "types") == 0) {
    int64_t *ints = must(calloc(16, sizeof *ints));
    rheos_dtype *types = (rheos_dtype *)(void *)ints;
    int32_t n = 0;
    for (char *word; (word = strtok_r(NULL, " \n", rest)) && n < 16; n++) {
      if (is_ints)
        ints[n] = atoll(word);
      else
        types[n] = parse_dtype(r, word);
    }
    *attr = is_ints ? rheos_attr_ints(attr->name, ints, n) : rheos_attr_types(attr->name, types, n);
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
    char *text = must(strdup(word + 1));
    text[strlen(text) - 1] = 0;
    *attr = rheos_attr_string(attr->name, text, unescape(text));
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

static void parse_input(reader *r, op_case *c, op_input_kind kind, char **rest) {
  if (c->num_inputs == CASE_MAX_INPUTS) refuse(r, "too many inputs", NULL);
  op_input *input = &c->inputs[c->num_inputs++];
  input->kind = kind;
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

static void parse_output(reader *r, op_case *c, char **rest) {
  if (c->num_outputs == CASE_MAX_OUTPUTS) refuse(r, "too many outputs", NULL);
  op_output *output = &c->outputs[c->num_outputs++];
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
    c->after[c->num_after++] = unset ? NULL : parse_tensor(r, rest);
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
  return c;
}

static void read_file(op_cases *cases, const char *path) {
  FILE *file = fopen(path, "r");
  reader r = {path, 0};
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
      c = new_case(cases, op, next_word(&r, &rest));
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
  reader r = {folder, 0};
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

static void free_attr(rheos_attr *attr) {
  free((char *)(uintptr_t)attr->name);
  if (attr->value.kind == RHEOS_ATTR_LIST_INT) free((void *)(uintptr_t)attr->value.ints);
  if (attr->value.kind == RHEOS_ATTR_LIST_TYPE) free((void *)(uintptr_t)attr->value.types);
  if (attr->value.kind == RHEOS_ATTR_STRING) free(attr->value.s.data);
  if (attr->value.kind == RHEOS_ATTR_SHAPE) free((void *)(uintptr_t)attr->value.shape);
}

void op_case_free(op_case *c) {
  for (int i = 0; i < c->num_attrs; i++) free_attr(&c->attrs[i]);
  for (int i = 0; i < c->num_inputs; i++) rheos_tensor_unref(c->inputs[i].tensor);
  for (int i = 0; i < c->num_outputs; i++) rheos_tensor_unref(c->outputs[i].tensor);
  for (int i = 0; i < c->num_after; i++) rheos_tensor_unref(c->after[i]);
}

void op_case_copy(const op_case *from, op_case *to) {
  *to = *from;
  for (int i = 0; i < to->num_attrs; i++) {
    rheos_attr *attr = &to->attrs[i];
    attr->name = must(strdup(attr->name));
    rheos_attr_value *v = &attr->value;
    if (v->kind == RHEOS_ATTR_LIST_INT) v->ints = copy_bytes(v->ints, 16 * sizeof *v->ints);
    if (v->kind == RHEOS_ATTR_LIST_TYPE) v->types = copy_bytes(v->types, 16 * sizeof(int64_t));
    if (v->kind == RHEOS_ATTR_SHAPE) v->shape = copy_bytes(v->shape, sizeof *v->shape);
    if (v->kind == RHEOS_ATTR_STRING) v->s.data = copy_bytes(v->s.data, v->s.size_bytes);
  }
  for (int i = 0; i < to->num_inputs; i++) {
    if (to->inputs[i].tensor) rheos_tensor_ref(to->inputs[i].tensor);
  }
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
