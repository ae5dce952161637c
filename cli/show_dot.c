// `rheos show --dot`: the graph for Graphviz. Loops and conditionals of version 1 are boxes around
// their nodes; functions are boxes where they are called first, and a dotted line leads from each
// call.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "nesting.h"
#include "show.h"

enum { MOST_LABEL = 60 };

// ---- The graph's own nodes

// In quotes, as Graphviz wants it; long names lose their beginning.
static void print_label(const char *text) {
  const size_t size_bytes = strlen(text);
  if (size_bytes > MOST_LABEL) {
    fputs("...", stdout);
    text += size_bytes - MOST_LABEL;
  }
  for (; *text != '\0';) {
    const size_t length = text_character(text, strnlen(text, 4));
    if (length == 0 || (length == 1 && (*text < ' ' || *text == 0x7f))) {
      putchar('?');
      text++;
      continue;
    }
    if (*text == '"' || *text == '\\') putchar('\\');
    fwrite(text, 1, length, stdout);
    text += length;
  }
}

static void print_dot_edge(const view *v, int32_t node, size_t at) {
  const view_edge edge = v->edges[at];
  if (edge.node == VIEW_MISSING) return;
  printf("  n%d -> n%d", edge.node, node);
  if (edge.index == VIEW_CONTROL) {
    puts(" [style=dashed];");
    return;
  }
  rheos_dtype dtype;
  rheos_shape shape;
  view_output(v, edge.node, edge.index, &dtype, &shape);
  fputs(" [label=\"", stdout);
  if (edge.index > 0) printf(":%d ", edge.index);
  show_type(dtype, &shape);
  puts("\"];");
}

static void print_node(const view *v, int32_t node) {
  printf("  n%d [label=\"", node);
  print_label(v->def->node[node]->name);
  fputs("\\n", stdout);
  print_label(v->def->node[node]->op);
  fputs("\"", stdout);
  if (view_is_input(v, node)) fputs(", style=bold", stdout);
  puts("];");
}

// ---- Functions: f3_a0 is an argument of item 3, f3_n0 a node

static void print_function_nodes(const Tensorflow__FunctionDef *body, int32_t item) {
  for (size_t i = 0; i < body->signature->n_input_arg; i++) {
    printf("  f%d_a%zu [style=rounded, label=\"", (int)item, i);
    print_label(body->signature->input_arg[i]->name);
    puts("\"];");
  }
  for (size_t i = 0; i < body->n_node_def; i++) {
    printf("  f%d_n%zu [label=\"", (int)item, i);
    print_label(body->node_def[i]->name);
    fputs("\\n", stdout);
    print_label(body->node_def[i]->op);
    puts("\"];");
  }
}

// The name of an argument or a node, by which what follows is found.
typedef struct named_end {
  const char *name;
  char letter;
  size_t index;
} named_end;

static int by_end_name(const void *a, const void *b) {
  return strcmp(((const named_end *)a)->name, ((const named_end *)b)->name);
}

static named_end *ends_of(const Tensorflow__FunctionDef *body, size_t *out_count) {
  const size_t num_args = body->signature->n_input_arg, count = num_args + body->n_node_def;
  named_end *ends = command_alloc(count * sizeof *ends);
  for (size_t i = 0; i < num_args; i++) {
    ends[i] = (named_end){body->signature->input_arg[i]->name, 'a', i};
  }
  for (size_t i = 0; i < body->n_node_def; i++) {
    ends[num_args + i] = (named_end){body->node_def[i]->name, 'n', i};
  }
  if (count > 1) qsort(ends, count, sizeof *ends, by_end_name);
  *out_count = count;
  return ends;
}

// "^name", "name" of an argument, "name:output:0" of a node.
static void print_function_edge(const named_end *ends, size_t count, const char *input,
                                int32_t item, size_t node) {
  const bool is_control = input[0] == '^';
  char *name = command_format("%s", input + is_control);
  name[strcspn(name, ":")] = '\0';
  const named_end wanted = {.name = name};
  const named_end *end =
      count > 0 ? bsearch(&wanted, ends, count, sizeof *ends, by_end_name) : NULL;
  if (end != NULL) {
    printf("  f%d_%c%zu -> f%d_n%zu%s;\n", (int)item, end->letter, end->index, (int)item, node,
           is_control ? " [style=dashed]" : "");
  }
  free(name);
}

static void print_function_edges(const Tensorflow__FunctionDef *body, int32_t item) {
  size_t count;
  named_end *ends = ends_of(body, &count);
  for (size_t i = 0; i < body->n_node_def; i++) {
    for (size_t k = 0; k < body->node_def[i]->n_input; k++) {
      print_function_edge(ends, count, body->node_def[i]->input[k], item, i);
    }
  }
  free(ends);
}

// ---- Boxes

// The item of the function that an item's caller is a node of; -1: it is of the graph.
static int32_t function_around(const nesting *n, int32_t item) {
  int32_t at = n->items[item].parent;
  while (at >= 0 && n->items[at].function == NULL) at = n->items[at].parent;
  return at;
}

static void print_call(const nesting *n, int32_t item) {
  const nested *called = &n->items[item];
  if (called->body == NULL) return;
  const int32_t drawn = called->drawn_as, around = function_around(n, item);
  const bool has_args = called->body->signature->n_input_arg > 0;
  if (!has_args && called->body->n_node_def == 0) return;
  fputs("  ", stdout);
  if (around >= 0) printf("f%d_", (int)n->items[around].drawn_as);
  printf("n%d -> f%d_%c0 [style=dotted, lhead=cluster_%d, label=\"", (int)called->at, (int)drawn,
         has_args ? 'a' : 'n', (int)drawn);
  print_label(called->role);
  puts("\"];");
}

// The nodes by their context: those of context c are from out_starts[c] to before out_starts[c +
// 1].
static int32_t *nodes_by_context(const view *v, const contexts *c, int32_t **out_starts) {
  int32_t *starts = command_alloc(((size_t)c->count + 2) * sizeof *starts);
  int32_t *nodes = command_alloc((size_t)v->num_nodes * sizeof *nodes);
  for (int32_t i = 0; i < v->num_nodes; i++) {
    if (c->of_node[i] >= 0) starts[c->of_node[i] + 2]++;
  }
  for (int32_t i = 1; i <= c->count; i++) starts[i + 1] += starts[i];
  for (int32_t i = 0; i < v->num_nodes; i++) {
    if (c->of_node[i] >= 0) nodes[starts[c->of_node[i] + 1]++] = i;
  }
  *out_starts = starts;
  return nodes;
}

static void print_boxes(const view *v, const nesting *n) {
  int32_t depth = 0, *starts;
  int32_t *nodes = nodes_by_context(v, &n->contexts, &starts);
  for (int32_t i = 0; i < n->count; i++) {
    const int32_t number = n->order[i];
    const nested *item = &n->items[number];
    if (item->function != NULL && (item->body == NULL || item->is_again)) continue;
    for (; depth > item->depth; depth--) puts("  }");
    printf("  subgraph cluster_%d {\n  label=\"", (int)number);
    print_label(item->function != NULL ? item->function : item->node);
    printf("\\n%s\";\n", item->function != NULL ? "function" : item->role);
    depth++;
    if (item->body != NULL) print_function_nodes(item->body, number);
    if (item->function != NULL) continue;
    for (int32_t k = starts[number]; k < starts[number + 1]; k++) {  // contexts are the first items
      print_node(v, nodes[k]);
    }
  }
  for (; depth > 0; depth--) puts("  }");
  free(nodes);
  free(starts);
}

void show_dot(const view *v) {
  nesting n;
  nesting_init(&n, v);
  puts("digraph graph_def {");
  puts("  compound=true;");
  puts("  node [shape=box, fontname=\"Helvetica\"];");
  for (int32_t i = 0; i < v->num_nodes; i++) {
    if (n.contexts.of_node[i] < 0) print_node(v, i);
  }
  print_boxes(v, &n);
  for (int32_t i = 0; i < v->num_nodes; i++) {
    for (size_t at = v->first_edge[i]; at < v->first_edge[i + 1]; at++) print_dot_edge(v, i, at);
  }
  for (int32_t i = 0; i < n.count; i++) {
    const nested *item = &n.items[i];
    if (item->body != NULL && !item->is_again) print_function_edges(item->body, i);
    if (item->function != NULL) print_call(&n, i);
  }
  puts("}");
  nesting_deinit(&n);
}
