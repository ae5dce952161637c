// Graphs as lines of text, so that two of them can be compared and a difference read.
#include "train/graph_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/graph/graph_def.h"

// Text that grows; the tests stop when memory is short.
typedef struct text {
  char *data;
  size_t size, capacity;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  size_t length = (size_t)vsnprintf(NULL, 0, format, args);
  if (t->size + length + 1 > t->capacity) {
    t->capacity = 2 * (t->size + length + 1);
    t->data = realloc(t->data, t->capacity);
    if (t->data == NULL) abort();
  }
  vsnprintf(t->data + t->size, length + 1, format, again);
  t->size += length;
  va_end(again);
  va_end(args);
}

static int compare_strings(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

// "name=value", by name.
static int compare_attrs(const void *a, const void *b) {
  const char *x = *(char *const *)a, *y = *(char *const *)b;
  while (*x == *y && *x != '=') x++, y++;
  return (*x == '=' ? 0 : *x) - (*y == '=' ? 0 : *y);
}

static char *name_of(rheos_operation operation) {
  size_t size = rheos_operation_name(operation, NULL, 0) + 1;
  char *name = malloc(size);
  if (name == NULL) abort();
  rheos_operation_name(operation, name, size);
  return name;
}

static void put_inputs(text *t, rheos_operation operation) {
  const char *blank = "";
  for (int32_t i = 0; i < rheos_operation_num_inputs(operation); i++) {
    rheos_output input = rheos_operation_input(operation, i);
    char *name = name_of(rheos_output_operation(input));
    put(t, "%s%s:%d", blank, name, (int)input.index);
    free(name);
    blank = " ";
  }
  int32_t count = rheos_operation_num_control_inputs(operation);
  char **names = calloc((size_t)count + 1, sizeof(char *));
  if (names == NULL) abort();
  for (int32_t i = 0; i < count; i++) {
    names[i] = name_of(rheos_operation_control_input(operation, i));
  }
  qsort(names, (size_t)count, sizeof(char *), compare_strings);
  for (int32_t i = 0; i < count; i++) {
    put(t, "%s^%s", blank, names[i]);
    free(names[i]);
    blank = " ";
  }
  free(names);
}

static void put_string(text *t, rheos_string string) {
  put(t, "%.*s", (int)string.size_bytes, string.data);
}

static bool put_attr_value(text *t, const char *name, const rheos_attr_value *value) {
  switch (value->kind) {
    case RHEOS_ATTR_TYPE: put(t, "%s=%s", name, rheos_dtype_name(value->type)); return true;
    case RHEOS_ATTR_BOOL: put(t, "%s=%s", name, value->b ? "true" : "false"); return true;
    case RHEOS_ATTR_INT: put(t, "%s=%lld", name, (long long)value->i); return true;
    case RHEOS_ATTR_FLOAT: put(t, "%s=%.9g", name, (double)value->f); return true;
    case RHEOS_ATTR_STRING:
      put(t, "%s=", name);
      put_string(t, value->s);
      return true;
    case RHEOS_ATTR_SHAPE: {
      char shape[128];
      rheos_shape_format(value->shape, shape, sizeof(shape));
      put(t, "%s=%s", name, shape);
      return true;
    }
    case RHEOS_ATTR_LIST_TYPE:
      if (value->count == 0) return false;
      for (int32_t i = 0; i < value->count; i++) {
        if (i == 0) put(t, "%s=[", name);
        put(t, "%s%s", i > 0 ? "," : "", rheos_dtype_name(value->types[i]));
      }
      put(t, "]");
      return true;
    default: return false;
  }
}

static void put_attrs(text *t, rheos_operation operation) {
  int32_t count = rheos_operation_num_attrs(operation);
  char **shown = calloc((size_t)count + 1, sizeof(char *));
  size_t num_shown = 0;
  const rheos__signature *signature = rheos__signature_by_name(rheos_operation_type(operation));
  if (shown == NULL || signature == NULL) abort();
  for (int32_t i = 0; i < count; i++) {
    rheos_attr attr = rheos_operation_attr_at(operation, i);
    text one = {NULL, 0, 0};
    if (rheos__attr_is_left_out(signature, &attr) || strcmp(attr.name, "_class") == 0 ||
        strcmp(attr.name, "value") == 0 || !put_attr_value(&one, attr.name, &attr.value)) {
      free(one.data);
      continue;
    }
    shown[num_shown++] = one.data;
  }
  qsort(shown, num_shown, sizeof(char *), compare_attrs);
  for (size_t i = 0; i < num_shown; i++) {
    put(t, "%s%s", i > 0 ? " " : "", shown[i]);
    free(shown[i]);
  }
  free(shown);
}

static void put_element(text *t, const rheos_tensor *tensor, int64_t i) {
  const void *data = rheos_tensor_data(tensor);
  switch ((int)rheos_tensor_dtype(tensor)) {
    case RHEOS_FLOAT: put(t, "%.9g", (double)((const float *)data)[i]); break;
    case RHEOS_DOUBLE: put(t, "%.17g", ((const double *)data)[i]); break;
    case RHEOS_INT32: put(t, "%d", (int)((const int32_t *)data)[i]); break;
    case RHEOS_INT64: put(t, "%lld", (long long)((const int64_t *)data)[i]); break;
    case RHEOS_BOOL: put(t, "%d", (int)((const uint8_t *)data)[i]); break;
    case RHEOS_STRING: put_string(t, ((const rheos_string *)data)[i]); break;
    default: put(t, "?"); break;
  }
}

static void put_value(text *t, rheos_operation operation) {
  if (strcmp(rheos_operation_type(operation), "Const") != 0) return;
  const rheos_tensor *tensor = rheos_operation_attr(operation, "value").tensor;
  char shape[128];
  rheos_shape_format(rheos_tensor_shape(tensor), shape, sizeof(shape));
  put(t, "%s ", shape);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    if (i > 0) put(t, " ");
    put_element(t, tensor, i);
  }
}

static char *node_text(rheos_operation operation) {
  text t = {NULL, 0, 0};
  char *name = name_of(operation);
  put(&t, "%s\t%s\t", name, rheos_operation_type(operation));
  free(name);
  put_inputs(&t, operation);
  put(&t, "\t");
  rheos_attr_value groups = rheos_operation_attr(operation, "_class");
  for (int32_t i = 0; groups.kind == RHEOS_ATTR_LIST_STRING && i < groups.count; i++) {
    if (i > 0) put(&t, " ");
    put_string(&t, groups.strings[i]);
  }
  put(&t, "\t%s\t", rheos_operation_device(operation));
  put_attrs(&t, operation);
  put(&t, "\t");
  put_value(&t, operation);
  return t.data;
}

char **graph_text(rheos_graph *graph, size_t *out_count) {
  size_t count = (size_t)rheos_graph_num_operations(graph);
  char **lines = calloc(count + 1, sizeof(char *));
  if (lines == NULL) abort();
  for (size_t i = 0; i < count; i++) lines[i] = node_text((rheos_operation){graph, (int32_t)i});
  qsort(lines, count, sizeof(char *), compare_strings);
  *out_count = count;
  return lines;
}

void graph_text_free(char **lines, size_t count) {
  for (size_t i = 0; i < count; i++) free(lines[i]);
  free(lines);
}

static char **read_lines(const char *path, size_t *out_count) {
  *out_count = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL) return NULL;
  char **lines = NULL, *line = NULL;
  size_t capacity = 0;
  for (ssize_t length; (length = getline(&line, &capacity, file)) >= 0;) {
    if (length > 0 && line[length - 1] == '\n') line[length - 1] = '\0';
    lines = realloc(lines, (*out_count + 1) * sizeof(char *));
    if (lines == NULL) abort();
    lines[(*out_count)++] = strdup(line);
  }
  free(line);
  fclose(file);
  qsort(lines, *out_count, sizeof(char *), compare_strings);
  return lines;
}

int graph_text_differences(rheos_graph *graph, const char *name) {
  char path[512];
  snprintf(path, sizeof(path), "%s/tests/golden/training_graphs/%s.tsv", RHEOS_SOURCE_DIR, name);
  size_t num_want, num_got;
  char **want = read_lines(path, &num_want);
  char **got = graph_text(graph, &num_got);
  if (want == NULL) fprintf(stderr, "cannot read %s\n", path);
  int differences = want == NULL;
  for (size_t i = 0, k = 0; i < num_want || k < num_got;) {
    int order = i == num_want ? 1 : k == num_got ? -1 : strcmp(want[i], got[k]);
    if (order != 0) {
      differences++;
      fprintf(stderr, "%s %s\n", order < 0 ? "-" : "+", order < 0 ? want[i] : got[k]);
    }
    i += order <= 0;
    k += order >= 0;
  }
  graph_text_free(want, num_want);
  graph_text_free(got, num_got);
  return differences;
}
