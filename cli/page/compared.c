// Two graphs on one page: the second one, with the nodes that only the first has among it, and what
// `rheos diff` tells. What a node that went has taken is what became of it.
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../diff.h"
#include "../files.h"
#include "../graph_match.h"
#include "../status.h"
#include "page.h"
#include "shown.h"

typedef struct node_array {
  Tensorflow__NodeDef **nodes;
  size_t count;
} node_array;

// What is made for the graph of both; the rest is borrowed.
typedef struct merged {
  Tensorflow__GraphDef def;
  Tensorflow__FunctionDefLibrary library;
  node_array all;  // nodes that only the first has, with inputs of their own
} merged;

// An input of the first graph by the name that it has in the second; for free().
static char *input_in_b(const node_match *m, const char *input) {
  const char *rest;
  const int32_t a = node_of_input(&m->a, input, &rest);
  const int32_t b = a != NODE_NONE ? m->of_a[a] : NODE_NONE;
  if (b == NODE_NONE) return command_format("%s", input);
  return command_format("%s%s%s", *input == '^' ? "^" : "", m->b.nodes[b]->name, rest);
}

static Tensorflow__NodeDef *node_of_a(merged *g, const node_match *m, int32_t number) {
  Tensorflow__NodeDef *node = command_alloc(sizeof *node);
  *node = *m->a.nodes[number];
  node->input = command_alloc(node->n_input * sizeof *node->input);
  for (size_t i = 0; i < node->n_input; i++) {
    node->input[i] = input_in_b(m, m->a.nodes[number]->input[i]);
  }
  g->all.nodes = command_realloc(g->all.nodes, (g->all.count + 1) * sizeof *g->all.nodes);
  g->all.nodes[g->all.count++] = node;
  return node;
}

// The nodes of the second list, and behind them those that only the first has.
static node_array merge_nodes(merged *g, const node_match *m) {
  node_array list = {command_alloc((size_t)(m->a.count + m->b.count) * sizeof *list.nodes), 0};
  for (int32_t i = 0; i < m->b.count; i++) list.nodes[list.count++] = m->b.nodes[i];
  for (int32_t i = 0; i < m->a.count; i++) {
    if (m->of_a[i] == NODE_NONE) list.nodes[list.count++] = node_of_a(g, m, i);
  }
  return list;
}

static Tensorflow__FunctionDef *merge_function(merged *g, const graph_match *m,
                                               const Tensorflow__FunctionDef *a,
                                               const Tensorflow__FunctionDef *b) {
  Tensorflow__FunctionDef *function = command_alloc(sizeof *function);
  *function = *b;
  node_match nodes;
  node_match_init(&nodes, &m->names, a->node_def, a->n_node_def, b->node_def, b->n_node_def);
  const node_array list = merge_nodes(g, &nodes);
  function->node_def = list.nodes;
  function->n_node_def = list.count;
  node_match_deinit(&nodes);
  return function;
}

static void merge_functions(merged *g, const graph_match *m) {
  Tensorflow__FunctionDefLibrary empty = TENSORFLOW__FUNCTION_DEF_LIBRARY__INIT;
  g->library = g->def.library != NULL ? *g->def.library : empty;
  g->library.function = command_alloc((m->a.count + m->b.count) * sizeof *g->library.function);
  g->library.n_function = 0;
  for (size_t i = 0; i < m->b.count; i++) {
    Tensorflow__FunctionDef *function = m->b.functions[i];
    if (m->of_b[i] != NODE_NONE) {
      function = merge_function(g, m, m->a.functions[m->of_b[i]], function);
    }
    g->library.function[g->library.n_function++] = function;
  }
  for (size_t i = 0; i < m->a.count; i++) {
    if (m->of_a[i] == NODE_NONE) {
      g->library.function[g->library.n_function++] = m->a.functions[i];
    }
  }
  g->def.library = &g->library;
}

static void merge(merged *g, const Tensorflow__GraphDef *a, const Tensorflow__GraphDef *b) {
  graph_match m;
  node_match nodes;
  *g = (merged){.def = *b};
  graph_match_init(&m, a, b);
  node_match_init(&nodes, &m.names, a->node, a->n_node, b->node, b->n_node);
  const node_array list = merge_nodes(g, &nodes);
  g->def.node = list.nodes;
  g->def.n_node = list.count;
  node_match_deinit(&nodes);
  merge_functions(g, &m);
  graph_match_deinit(&m);
}

static void free_merged(merged *g, const Tensorflow__GraphDef *b) {
  const size_t num_b = b->library != NULL ? b->library->n_function : 0;
  for (size_t i = 0; i < num_b; i++) {
    Tensorflow__FunctionDef *function = g->library.function[i];
    if (function == b->library->function[i]) continue;
    free(function->node_def);
    free(function);
  }
  for (size_t i = 0; i < g->all.count; i++) {
    for (size_t k = 0; k < g->all.nodes[i]->n_input; k++) free(g->all.nodes[i]->input[k]);
    free(g->all.nodes[i]->input);
    free(g->all.nodes[i]);
  }
  free(g->all.nodes);
  free(g->library.function);
  free(g->def.node);
}

// ---- The page

static void print_data(void *argument, FILE *out) { shown_json(argument, NULL, out); }

static void print_page(void *argument, FILE *out) { page_print(out, print_data, argument); }

static rheos_status *write_page(shown *s, const char *path) {
  char *bytes;
  size_t size_bytes;
  rheos_status *status = page_text(print_page, s, &bytes, &size_bytes);
  if (status == NULL && strcmp(path, "-") == 0) {
    fwrite(bytes, 1, size_bytes, stdout);
  } else if (status == NULL) {
    status = file_replace(path, bytes, size_bytes);
  }
  free(bytes);
  return status;
}

static bool tell(shown *s, const Tensorflow__GraphDef *a, const Tensorflow__GraphDef *b) {
  size_t size_bytes;
  FILE *out = open_memstream(&s->diff, &size_bytes);
  if (out == NULL) return false;
  const bool differs = diff_graphs_json(a, b, out);
  fclose(out);
  return differs;
}

static rheos_status *show_both(const view *of_a, const char *path_a, source *b,
                               const diff_options *options, diff_result *out) {
  static const Tensorflow__GraphDef empty = TENSORFLOW__GRAPH_DEF__INIT;
  const Tensorflow__MetaGraphDef *meta_graph;
  const char *bytes;
  size_t size_bytes;
  TRY(source_read_message(b));
  TRY(source_meta_graph(b, options->tags, &meta_graph));
  TRY(source_graph_bytes(b, meta_graph, &bytes, &size_bytes));
  const Tensorflow__GraphDef *def_b = meta_graph != NULL ? meta_graph->graph_def : b->graph_def;
  if (def_b == NULL) def_b = &empty;
  if (def_b->n_node + of_a->def->n_node > INT32_MAX / 4) {
    return INVALID("the graphs have too many nodes");
  }
  char *title = command_format("%s -> %s", path_a, b->path);
  shown s = {.path = title, .has_view = true};
  merged g;
  out->differs = tell(&s, of_a->def, def_b);
  merge(&g, of_a->def, def_b);
  view_init(&s.view, &g.def, bytes, size_bytes);
  s.view.other = of_a->graph;
  out->failed = options->page;
  rheos_status *status = s.diff != NULL ? write_page(&s, options->page) : NO_MEMORY();
  shown_free(&s);
  free_merged(&g, def_b);
  free(title);
  return status;
}

rheos_status *diff_page(source *a, source *b, const diff_options *options, diff_result *out) {
  const Tensorflow__MetaGraphDef *meta_graph;
  view of_a;
  out->failed = a->path;
  TRY(view_open(&of_a, a, options->tags, &meta_graph));
  out->failed = b->path;
  rheos_status *status = show_both(&of_a, a->path, b, options, out);
  view_deinit(&of_a);
  return status;
}
