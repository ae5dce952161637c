#include "graph_match.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

const char *function_name(const Tensorflow__FunctionDef *function) {
  return function->signature != NULL ? function->signature->name : "";
}

static function_library library_of(const Tensorflow__GraphDef *def) {
  if (def->library == NULL) return (function_library){NULL, 0};
  return (function_library){def->library->function, def->library->n_function};
}

static int compare_pairs(const void *x, const void *y) {
  const struct function_pair *a = x, *b = y;
  return strcmp(a->a, b->a);
}

static int32_t *none_of(size_t count) {
  int32_t *numbers = command_alloc(count * sizeof *numbers);
  for (size_t i = 0; i < count; i++) numbers[i] = NODE_NONE;
  return numbers;
}

// One function of the second library, by its name or by what that is without its number.
static void match_function(graph_match *m, size_t i, bool by_stem) {
  const char *name = function_name(m->a.functions[i]);
  const size_t stem = function_stem(name);
  for (size_t k = 0; k < m->b.count && m->of_a[i] == NODE_NONE; k++) {
    const char *other = function_name(m->b.functions[k]);
    if (m->of_b[k] != NODE_NONE) continue;
    const bool is_same = by_stem ? stem == function_stem(other) && strncmp(name, other, stem) == 0
                                 : strcmp(name, other) == 0;
    if (!is_same) continue;
    m->of_a[i] = (int32_t)k;
    m->of_b[k] = (int32_t)i;
  }
}

void graph_match_init(graph_match *m, const Tensorflow__GraphDef *a,
                      const Tensorflow__GraphDef *b) {
  *m = (graph_match){.a = library_of(a), .b = library_of(b)};
  m->of_a = none_of(m->a.count);
  m->of_b = none_of(m->b.count);
  for (size_t i = 0; i < m->a.count; i++) match_function(m, i, false);
  for (size_t i = 0; i < m->a.count; i++) match_function(m, i, true);
  m->names.pairs = command_alloc(m->a.count * sizeof *m->names.pairs);
  for (size_t i = 0; i < m->a.count; i++) {
    if (m->of_a[i] == NODE_NONE) continue;
    m->names.pairs[m->names.count++] = (struct function_pair){
        function_name(m->a.functions[i]), function_name(m->b.functions[m->of_a[i]])};
  }
  qsort(m->names.pairs, m->names.count, sizeof *m->names.pairs, compare_pairs);
}

void graph_match_deinit(graph_match *m) {
  free(m->of_a);
  free(m->of_b);
  free(m->names.pairs);
}
