// Made breadth first, each function gone into once, where it lies least deep; told depth first.
// Both go over lists, since functions may call each other to any depth.
#include "nesting.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "show.h"

// ---- The library

static int by_function_name(const void *a, const void *b) {
  const Tensorflow__FunctionDef *const *x = a, *const *y = b;
  return strcmp((*x)->signature->name, (*y)->signature->name);
}

static void sort_library(nesting *n, const Tensorflow__FunctionDefLibrary *library) {
  const size_t count = library != NULL ? library->n_function : 0;
  n->by_name = command_alloc(count * sizeof *n->by_name);
  for (size_t i = 0; i < count; i++) {
    if (library->function[i]->signature == NULL) continue;
    n->by_name[n->num_functions++] = library->function[i];
  }
  if (n->num_functions > 1) {
    qsort(n->by_name, n->num_functions, sizeof *n->by_name, by_function_name);
  }
}

static size_t function_index(const nesting *n, const char *name) {
  size_t low = 0, high = n->num_functions;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = strcmp(n->by_name[middle]->signature->name, name);
    if (order == 0) return middle;
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return n->num_functions;
}

const Tensorflow__FunctionDef *nesting_function(const nesting *n, const char *name) {
  const size_t index = function_index(n, name);
  return index < n->num_functions ? n->by_name[index] : NULL;
}

// ---- Items

static int32_t add_item(nesting *n, int32_t parent, nested item) {
  if ((size_t)n->count == n->capacity) {
    n->capacity = 2 * n->capacity + 64;
    n->items = command_realloc(n->items, n->capacity * sizeof *n->items);
  }
  item.parent = parent;
  item.depth = parent >= 0 ? n->items[parent].depth + 1 : 0;
  item.first_child = item.last_child = item.next_sibling = -1;
  const int32_t own = n->count++;
  n->items[own] = item;
  if (parent >= 0 && n->items[parent].last_child >= 0) {
    n->items[n->items[parent].last_child].next_sibling = own;
  } else if (parent >= 0) {
    n->items[parent].first_child = own;
  }
  if (parent >= 0) n->items[parent].last_child = own;
  return own;
}

static void add_call(nesting *n, int32_t parent, const Tensorflow__NodeDef *node, int32_t at,
                     const char *role, int32_t number, const char *function, int32_t *seen) {
  if (function[0] == '\0') return;
  const size_t index = function_index(n, function);
  const bool is_there = index < n->num_functions;
  const Tensorflow__FunctionDef *body = is_there ? n->by_name[index] : NULL;
  add_item(n, parent,
           (nested){.node = node->name,
                    .op = node->op,
                    .role = role,
                    .number = number,
                    .function = function,
                    .body = body,
                    .num_nodes = is_there ? (int64_t)body->n_node_def : 0,
                    .at = at,
                    .drawn_as = is_there && seen[index] > 0 ? seen[index] - 1 : n->count,
                    .is_again = is_there && seen[index] > 0});
  if (is_there && seen[index] == 0) seen[index] = n->count;
}

static void add_calls(nesting *n, int32_t parent, const Tensorflow__NodeDef *node, int32_t at,
                      int32_t *seen) {
  if (nesting_function(n, node->op) != NULL) {
    add_call(n, parent, node, at, "call", -1, node->op, seen);
  }
  for (size_t i = 0; i < node->n_attr; i++) {
    const Tensorflow__AttrValue *value = node->attr[i]->value;
    if (value == NULL) continue;
    if (value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC) {
      add_call(n, parent, node, at, node->attr[i]->key, -1, value->func->name, seen);
    }
    if (value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST) continue;
    for (size_t k = 0; k < value->list->n_func; k++) {
      add_call(n, parent, node, at, node->attr[i]->key, (int32_t)k, value->list->func[k]->name,
               seen);
    }
  }
}

static void add_contexts(nesting *n) {
  for (int32_t i = 0; i < n->contexts.count; i++) {
    const context *at = &n->contexts.items[i];
    add_item(n, at->parent,
             (nested){.node = at->name,
                      .role = at->is_loop ? "loop" : "conditional",
                      .number = -1,
                      .num_nodes = at->num_nodes});
  }
}

static void put_in_order(nesting *n) {
  n->order = command_alloc((size_t)n->count * sizeof *n->order);
  int32_t *stack = command_alloc((size_t)n->count * sizeof *stack), depth = 0, placed = 0;
  for (int32_t i = 0; i < n->count; i++) {
    if (n->items[i].parent >= 0) continue;
    stack[depth++] = i;
    while (depth > 0) {
      const int32_t at = stack[--depth];
      n->order[placed++] = at;
      const int32_t first = depth;
      for (int32_t k = n->items[at].first_child; k >= 0; k = n->items[k].next_sibling) {
        stack[depth++] = k;
      }
      for (int32_t a = first, b = depth - 1; a < b; a++, b--) {
        const int32_t item = stack[a];
        stack[a] = stack[b];
        stack[b] = item;
      }
    }
  }
  free(stack);
}

void nesting_init(nesting *n, const view *v) {
  *n = (nesting){.count = 0};
  contexts_init(&n->contexts, v);
  sort_library(n, v->def->library);
  add_contexts(n);
  int32_t *seen = command_alloc(n->num_functions * sizeof *seen);
  for (int32_t i = 0; i < v->num_nodes; i++) {
    add_calls(n, n->contexts.of_node[i], v->def->node[i], i, seen);
  }
  for (int32_t i = 0; i < n->count; i++) {
    const nested item = n->items[i];
    if (item.body == NULL || item.is_again) continue;
    for (size_t k = 0; k < item.body->n_node_def; k++) {
      add_calls(n, i, item.body->node_def[k], (int32_t)k, seen);
    }
  }
  free(seen);
  put_in_order(n);
}

void nesting_deinit(nesting *n) {
  free(n->items);
  free(n->order);
  free(n->by_name);
  contexts_deinit(&n->contexts);
}

// ---- Showing them

static void show_nested(const nested *item) {
  printf("  %*s", 2 * (int)item->depth, "");
  show_name(item->node);
  fputs("  ", stdout);
  if (item->op != NULL) {
    show_name(item->op);
    fputs("  ", stdout);
  }
  show_name(item->role);
  if (item->number >= 0) printf(" %d", (int)item->number);
  if (item->function != NULL) {
    fputs(": ", stdout);
    show_name(item->function);
  }
  if (item->function != NULL && item->body == NULL) {
    puts("  (missing)");
  } else if (item->is_again) {
    puts("  (as above)");
  } else {
    printf("  %lld nodes\n", (long long)item->num_nodes);
  }
}

void show_nesting(const nesting *n, int32_t most) {
  if (n->count > 0) puts("bodies");
  for (int32_t i = 0; i < n->count && i < most; i++) show_nested(&n->items[n->order[i]]);
  if (n->count > most) printf("  ... and %d more; --json lists them\n", (int)(n->count - most));
}

void show_nesting_json(const nesting *n, json *j) {
  json_begin(j, "bodies", '[');
  for (int32_t i = 0; i < n->count; i++) {
    const nested *item = &n->items[n->order[i]];
    json_begin(j, NULL, '{');
    json_int(j, "depth", item->depth);
    json_text(j, "node", item->node);
    if (item->op != NULL) json_text(j, "op", item->op);
    json_text(j, "role", item->role);
    if (item->number >= 0) json_int(j, "number", item->number);
    if (item->function != NULL) json_text(j, "function", item->function);
    json_bool(j, "missing", item->function != NULL && item->body == NULL);
    json_bool(j, "again", item->is_again);
    json_int(j, "nodes", item->num_nodes);
    json_end(j, '}');
  }
  json_end(j, ']');
}
