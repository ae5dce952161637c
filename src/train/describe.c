// Tensors and variables as Python prints them, for TensorFlow's own error texts.
#include "train/variables.h"

#include <stdio.h>
#include <string.h>

const char *rheos__tuple_text_of(const rheos_shape *shape, rheos__tuple_text *buffer) {
  char *text = buffer->text;
  size_t size = sizeof(buffer->text), used = 0;
  if (shape->rank < 0) return strcpy(text, "<unknown>");
  text[used++] = '(';
  for (int32_t i = 0; i < shape->rank; i++) {
    const char *comma = i > 0 ? ", " : "";
    int length = shape->dims[i] < 0 ? snprintf(text + used, size - used, "%s?", comma)
                                    : snprintf(text + used, size - used, "%s%lld", comma,
                                               (long long)shape->dims[i]);
    used += (size_t)length;
  }
  strcpy(text + used, shape->rank == 1 ? ",)" : ")");
  return text;
}

// printf into a fresh string.
static char *format(const char *pattern, ...) RHEOS_PRINTF(1, 2);
static char *format(const char *pattern, ...) {
  va_list args, again;
  va_start(args, pattern);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, pattern, args);
  char *text = rheos__alloc((size_t)length + 1);
  if (text != NULL) vsnprintf(text, (size_t)length + 1, pattern, again);
  va_end(again);
  va_end(args);
  return text;
}

static char *node_name(rheos_output output) {
  return rheos__node_name(output.graph, rheos__graph_node(output.graph, output.id));
}

char *rheos__name_of_output(rheos_output output) {
  char *name = node_name(output);
  char *text = name != NULL ? format("%s:%d", name, (int)output.index) : NULL;
  rheos__free(name);
  return text;
}

char *rheos__output_text(rheos_output output) {
  char *name = node_name(output);
  if (name == NULL) return NULL;
  rheos_shape shape = rheos_output_shape(output);
  rheos__tuple_text shape_text;
  const char *dtype = rheos__python_dtype(rheos_output_dtype(output));
  char *text = shape.rank < 0
                   ? format("Tensor(\"%s:%d\", dtype=%s)", name, (int)output.index, dtype)
                   : format("Tensor(\"%s:%d\", shape=%s, dtype=%s)", name, (int)output.index,
                            rheos__tuple_text_of(&shape, &shape_text), dtype);
  rheos__free(name);
  return text;
}

static char *variable_text(const rheos_variable *variable) {
  char *name = node_name(variable->handle);
  if (name == NULL) return NULL;
  rheos_shape shape = rheos_variable_static_shape(*variable);
  rheos__tuple_text shape_text;
  rheos_dtype dtype = rheos_variable_is_resource(*variable) ? rheos_variable_dtype(*variable)
                                                            : rheos_output_dtype(variable->handle);
  char *text = format("<tf.Variable '%s:0' shape=%s dtype=%s>", name,
                      rheos__tuple_text_of(&shape, &shape_text), rheos__python_dtype(dtype));
  rheos__free(name);
  return text;
}

char *rheos__variables_text(const rheos_variable *variables, size_t count) {
  char *list = NULL;
  size_t capacity = 0, used = 0;
  if (!RHEOS_RESERVE(list, capacity, 2)) return NULL;
  list[used++] = '[';
  for (size_t i = 0; i < count; i++) {
    char *text = variable_text(&variables[i]);
    size_t length = text != NULL ? strlen(text) : 0;
    if (text == NULL || !RHEOS_RESERVE(list, capacity, used + length + 7)) {
      rheos__free(text);
      rheos__free(list);
      return NULL;
    }
    used += (size_t)sprintf(list + used, "%s\"%s\"", i > 0 ? ", " : "", text);
    rheos__free(text);
  }
  if (!RHEOS_RESERVE(list, capacity, used + 2)) {
    rheos__free(list);
    return NULL;
  }
  strcpy(list + used, "]");
  return list;
}
