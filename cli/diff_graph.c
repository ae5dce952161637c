// What differs between two graphs: nodes of the one or the other alone, others by name, and what is
// set differently in those that both have; of the functions in their libraries likewise.
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "command.h"
#include "diff.h"
#include "graph_match.h"
#include "view.h"

// Where what differs goes, and how much there is.
typedef struct report {
  const diff_options *options;
  json *j;             // NULL: text
  const char *inside;  // the function whose nodes are compared; NULL: the graph
  bool is_inside;      // its head is printed
  int64_t num_same, num_changed, num_renamed, num_only_a, num_only_b;
} report;

static void print_name(const char *name) { text_print(stdout, name, strlen(name)); }

// The start of a line, behind the head of the function that it is in.
static void begin_line(report *r, char sign) {
  if (r->inside != NULL && !r->is_inside) {
    fputs("~ function ", stdout);
    print_name(r->inside);
    putchar('\n');
  }
  r->is_inside = r->inside != NULL;
  printf("%s%c ", r->is_inside ? "    " : "", sign);
}

// ---- Nodes that one side has

// By position in the order of names: how many of those before it are alone.
static int32_t *count_alone(const node_list *list, const int32_t *others) {
  int32_t *sums = command_alloc(((size_t)list->count + 1) * sizeof *sums);
  for (int32_t i = 0; i < list->count; i++) {
    sums[i + 1] = sums[i] + (others[list->by_name[i]] == NODE_NONE);
  }
  return sums;
}

// The end of the names that begin as the one at `at` does, up to a '/' at `length`.
static int32_t scope_end(const node_list *list, int32_t at, size_t length) {
  const char *name = list->nodes[list->by_name[at]]->name;
  int32_t low = at + 1, high = list->count;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (strncmp(list->nodes[list->by_name[middle]]->name, name, length + 1) == 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Whether a scope begins at that place whose nodes are all alone: the outermost.
static bool find_scope(const node_list *list, const int32_t *sums, int32_t at, size_t *out_length,
                       int32_t *out_end) {
  const char *name = list->nodes[list->by_name[at]]->name;
  for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    const size_t length = (size_t)(slash - name);
    const bool began_before =
        at > 0 && strncmp(list->nodes[list->by_name[at - 1]]->name, name, length + 1) == 0;
    const int32_t end = scope_end(list, at, length);
    if (began_before || end - at < 2 || sums[end] - sums[at] < end - at) continue;
    *out_length = length;
    *out_end = end;
    return true;
  }
  return false;
}

static void tell_alone(report *r, const node_list *list, const int32_t *others, bool is_a) {
  int32_t *sums = count_alone(list, others);
  if (r->j != NULL) json_begin(r->j, is_a ? "only_in_a" : "only_in_b", '[');
  for (int32_t at = 0; at < list->count; at++) {
    const Tensorflow__NodeDef *node = list->nodes[list->by_name[at]];
    size_t length;
    int32_t end;
    if (others[list->by_name[at]] != NODE_NONE) continue;
    ++*(is_a ? &r->num_only_a : &r->num_only_b);
    if (r->j != NULL) {
      json_begin(r->j, NULL, '{');
      json_text(r->j, "name", node->name);
      json_text(r->j, "op", node->op);
      json_end(r->j, '}');
    } else if (!r->options->all && find_scope(list, sums, at, &length, &end)) {
      begin_line(r, is_a ? '-' : '+');
      text_print(stdout, node->name, length);
      printf("/ (%d nodes)\n", (int)(end - at));
      *(is_a ? &r->num_only_a : &r->num_only_b) += end - at - 1;
      at = end - 1;
    } else {
      begin_line(r, is_a ? '-' : '+');
      print_name(node->name);
      printf(" (%s)\n", node->op);
    }
  }
  if (r->j != NULL) json_end(r->j, ']');
  free(sums);
}

// ---- Nodes by other names

typedef struct renamed {
  const char *a, *b;
  size_t length_a, length_b;  // without what both end with
} renamed;

static renamed what_differs(const char *a, const char *b) {
  renamed r = {a, b, strlen(a), strlen(b)};
  size_t from_a = r.length_a, from_b = r.length_b;
  while (from_a > 0 && from_b > 0 && a[from_a - 1] == b[from_b - 1]) {
    from_a--;
    from_b--;
    if (a[from_a] != '/') continue;
    r.length_a = from_a;
    r.length_b = from_b;
  }
  return r;
}

static int compare_parts(const char *a, size_t length_a, const char *b, size_t length_b) {
  const int order = memcmp(a, b, length_a < length_b ? length_a : length_b);
  return order != 0 ? order : (length_a > length_b) - (length_a < length_b);
}

static int compare_renamed(const void *x, const void *y) {
  const renamed *a = x, *b = y;
  const int order = compare_parts(a->a, a->length_a, b->a, b->length_a);
  return order != 0 ? order : compare_parts(a->b, a->length_b, b->b, b->length_b);
}

static void tell_renamed_as_json(report *r, const renamed *all, size_t count) {
  json_begin(r->j, "renamed", '[');
  for (size_t i = 0; i < count; i++) {
    json_begin(r->j, NULL, '{');
    json_text(r->j, "a", all[i].a);
    json_text(r->j, "b", all[i].b);
    json_end(r->j, '}');
  }
  json_end(r->j, ']');
}

static void tell_renamed_as_text(report *r, const renamed *all, size_t count) {
  for (size_t i = 0, end; i < count; i = end) {
    end = i + 1;
    while (!r->options->all && end < count && compare_renamed(&all[i], &all[end]) == 0) end++;
    begin_line(r, '>');
    const bool is_scope = end - i > 1;
    text_print(stdout, all[i].a, is_scope ? all[i].length_a : strlen(all[i].a));
    fputs(is_scope ? "/ -> " : " -> ", stdout);
    text_print(stdout, all[i].b, is_scope ? all[i].length_b : strlen(all[i].b));
    if (is_scope) printf("/ (%zu nodes)", end - i);
    putchar('\n');
  }
}

static void tell_renamed(report *r, const node_match *m) {
  renamed *all = command_alloc((size_t)m->a.count * sizeof *all);
  size_t count = 0;
  for (int32_t a = 0; a < m->a.count; a++) {
    const int32_t b = m->of_a[a];
    if (b == NODE_NONE || strcmp(m->a.nodes[a]->name, m->b.nodes[b]->name) == 0) continue;
    all[count++] = what_differs(m->a.nodes[a]->name, m->b.nodes[b]->name);
  }
  qsort(all, count, sizeof *all, compare_renamed);
  r->num_renamed += (int64_t)count;
  if (r->j != NULL) {
    tell_renamed_as_json(r, all, count);
  } else {
    tell_renamed_as_text(r, all, count);
  }
  free(all);
}

// ---- Nodes that both have

// What differs in one node: "~ NAME: what, what".
typedef struct node_report {
  report *r;
  const Tensorflow__NodeDef *a, *b;
  bool differs;
} node_report;

static void begin_change(node_report *n, const char *what, const char *which) {
  if (n->r->j != NULL) {
    if (!n->differs) {
      json_begin(n->r->j, NULL, '{');
      json_text(n->r->j, "name", n->a->name);
      json_text(n->r->j, "name_in_b", n->b->name);
      json_begin(n->r->j, "changes", '[');
    }
    json_begin(n->r->j, NULL, '{');
    json_text(n->r->j, "what", what);
    if (which[0] != '\0') json_text(n->r->j, "which", which);
  } else {
    if (n->differs) {
      fputs(", ", stdout);
    } else {
      begin_line(n->r, '~');
      print_name(n->a->name);
      fputs(": ", stdout);
    }
    fputs(what, stdout);
    if (which[0] != '\0') {
      putchar(' ');
      print_name(which);
    }
  }
  n->differs = true;
}

static void tell_texts(node_report *n, const char *a, const char *b) {
  if (n->r->j != NULL) {
    json_text(n->r->j, "a", a);
    json_text(n->r->j, "b", b);
    json_end(n->r->j, '}');
    return;
  }
  putchar(' ');
  print_name(a[0] != '\0' ? a : "(none)");
  fputs(" -> ", stdout);
  print_name(b[0] != '\0' ? b : "(none)");
}

static char *attribute_text(const Tensorflow__AttrValue *value) {
  char *text = NULL;
  size_t size = 0;
  if (value == NULL) return command_format("(not set)");
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return command_format("?");
  attribute_print(out, value);
  fclose(out);
  return text;
}

static void tell_attr(node_report *n, const char *key, const Tensorflow__AttrValue *a,
                      const Tensorflow__AttrValue *b) {
  char *text_a = attribute_text(a), *text_b = attribute_text(b);
  begin_change(n, "attribute", key);
  tell_texts(n, text_a, text_b);
  free(text_a);
  free(text_b);
}

// Notes of tools, which say nothing of what runs.
static bool is_note(const char *key) { return strcmp(key, "_output_shapes") == 0; }

static void compare_attrs(node_report *n, const node_match *m) {
  for (size_t i = 0; i < n->a->n_attr; i++) {
    const char *key = n->a->attr[i]->key;
    const Tensorflow__AttrValue *b = view_attr(n->b, key);
    if (is_note(key) || node_attrs_equal(m, n->a->attr[i]->value, b)) continue;
    tell_attr(n, key, n->a->attr[i]->value, b);
  }
  for (size_t i = 0; i < n->b->n_attr; i++) {
    const char *key = n->b->attr[i]->key;
    if (is_note(key) || view_attr(n->a, key) != NULL) continue;
    tell_attr(n, key, NULL, n->b->attr[i]->value);
  }
}

static size_t count_data(const Tensorflow__NodeDef *node) {
  size_t count = 0;
  while (count < node->n_input && node->input[count][0] != '^') count++;
  return count;
}

static bool has_control(const node_match *m, const Tensorflow__NodeDef *node, const char *input,
                        bool is_a) {
  for (size_t i = count_data(node); i < node->n_input; i++) {
    if (is_a ? node_inputs_equal(m, node->input[i], input)
             : node_inputs_equal(m, input, node->input[i])) {
      return true;
    }
  }
  return false;
}

static void compare_inputs(node_report *n, const node_match *m) {
  const size_t num_a = count_data(n->a), num_b = count_data(n->b);
  for (size_t i = 0; i < num_a || i < num_b; i++) {
    const char *a = i < num_a ? n->a->input[i] : "", *b = i < num_b ? n->b->input[i] : "";
    if (i < num_a && i < num_b && node_inputs_equal(m, a, b)) continue;
    char number[32];
    snprintf(number, sizeof number, "%zu", i);
    begin_change(n, "input", number);
    tell_texts(n, a, b);
  }
  for (size_t i = num_a; i < n->a->n_input; i++) {
    if (has_control(m, n->b, n->a->input[i], false)) continue;
    begin_change(n, "waits for", "");
    tell_texts(n, n->a->input[i] + 1, "");
  }
  for (size_t i = num_b; i < n->b->n_input; i++) {
    if (has_control(m, n->a, n->b->input[i], true)) continue;
    begin_change(n, "waits for", "");
    tell_texts(n, "", n->b->input[i] + 1);
  }
}

static void compare_node(report *r, const node_match *m, int32_t a) {
  node_report n = {.r = r, .a = m->a.nodes[a], .b = m->b.nodes[m->of_a[a]]};
  if (strcmp(n.a->op, n.b->op) != 0) {
    begin_change(&n, "op", "");
    tell_texts(&n, n.a->op, n.b->op);
  }
  if (strcmp(n.a->device, n.b->device) != 0) {
    begin_change(&n, "device", "");
    tell_texts(&n, n.a->device, n.b->device);
  }
  compare_inputs(&n, m);
  compare_attrs(&n, m);
  ++*(n.differs ? &r->num_changed : &r->num_same);
  if (!n.differs) return;
  if (r->j == NULL) {
    putchar('\n');
    return;
  }
  json_end(r->j, ']');
  json_end(r->j, '}');
}

// ---- Lists of nodes

// Of a graph, or of a function with what it gives.
typedef struct body {
  Tensorflow__NodeDef **nodes;
  size_t num_nodes;
  Tensorflow__FunctionDef__RetEntry **results;
  size_t num_results;
} body;

static const char *result_named(const body *b, const char *name) {
  for (size_t i = 0; i < b->num_results; i++) {
    if (strcmp(b->results[i]->key, name) == 0) return b->results[i]->value;
  }
  return "";
}

static void tell_result(report *r, const char *name, const char *a, const char *b) {
  r->num_changed++;
  if (r->j == NULL) {
    begin_line(r, '~');
    fputs("result ", stdout);
    print_name(name);
    fputs(": ", stdout);
    print_name(a[0] != '\0' ? a : "(none)");
    fputs(" -> ", stdout);
    print_name(b[0] != '\0' ? b : "(none)");
    putchar('\n');
    return;
  }
  json_begin(r->j, NULL, '{');
  json_text(r->j, "name", name);
  json_text(r->j, "a", a);
  json_text(r->j, "b", b);
  json_end(r->j, '}');
}

static void compare_results(report *r, const node_match *m, const body *a, const body *b) {
  if (r->j != NULL) json_begin(r->j, "results", '[');
  for (size_t i = 0; i < a->num_results; i++) {
    const char *other = result_named(b, a->results[i]->key);
    if (other[0] == '\0' || !node_inputs_equal(m, a->results[i]->value, other)) {
      tell_result(r, a->results[i]->key, a->results[i]->value, other);
    }
  }
  for (size_t i = 0; i < b->num_results; i++) {
    if (result_named(a, b->results[i]->key)[0] != '\0') continue;
    tell_result(r, b->results[i]->key, "", b->results[i]->value);
  }
  if (r->j != NULL) json_end(r->j, ']');
}

static void compare_bodies(report *r, const function_names *functions, const body *a,
                           const body *b) {
  node_match m;
  node_match_init(&m, functions, a->nodes, a->num_nodes, b->nodes, b->num_nodes);
  tell_alone(r, &m.a, m.of_a, true);
  tell_alone(r, &m.b, m.of_b, false);
  tell_renamed(r, &m);
  if (r->j != NULL) json_begin(r->j, "changed", '[');
  for (int32_t i = 0; i < m.a.count; i++) {
    if (m.of_a[i] != NODE_NONE) compare_node(r, &m, i);
  }
  if (r->j != NULL) json_end(r->j, ']');
  if (r->inside != NULL) compare_results(r, &m, a, b);
  node_match_deinit(&m);
}

// ---- Functions

static void tell_function(report *r, char sign, const Tensorflow__FunctionDef *function) {
  ++*(sign == '-' ? &r->num_only_a : &r->num_only_b);
  if (r->j != NULL) {
    json_begin(r->j, NULL, '{');
    json_text(r->j, "name", function_name(function));
    json_text(r->j, "only_in", sign == '-' ? "a" : "b");
    json_end(r->j, '}');
    return;
  }
  printf("%c function ", sign);
  print_name(function_name(function));
  printf(" (%zu nodes)\n", function->n_node_def);
}

static void compare_function(report *r, const function_names *names,
                             const Tensorflow__FunctionDef *a, const Tensorflow__FunctionDef *b) {
  r->inside = function_name(a);
  r->is_inside = false;
  if (r->j != NULL) {
    json_begin(r->j, NULL, '{');
    json_text(r->j, "name", function_name(a));
    json_text(r->j, "name_in_b", function_name(b));
  }
  const body of_a = {a->node_def, a->n_node_def, a->ret, a->n_ret};
  const body of_b = {b->node_def, b->n_node_def, b->ret, b->n_ret};
  compare_bodies(r, names, &of_a, &of_b);
  if (r->j != NULL) json_end(r->j, '}');
  r->inside = NULL;
  r->is_inside = false;
}

static void compare_graphs(report *r, const Tensorflow__GraphDef *a,
                           const Tensorflow__GraphDef *b) {
  graph_match m;
  graph_match_init(&m, a, b);
  const body nodes_a = {.nodes = a->node, .num_nodes = a->n_node};
  const body nodes_b = {.nodes = b->node, .num_nodes = b->n_node};
  compare_bodies(r, &m.names, &nodes_a, &nodes_b);
  if (r->j != NULL) json_begin(r->j, "functions", '[');
  for (size_t i = 0; i < m.a.count; i++) {
    if (m.of_a[i] == NODE_NONE) {
      tell_function(r, '-', m.a.functions[i]);
    } else {
      compare_function(r, &m.names, m.a.functions[i], m.b.functions[m.of_a[i]]);
    }
  }
  for (size_t i = 0; i < m.b.count; i++) {
    if (m.of_b[i] == NODE_NONE) tell_function(r, '+', m.b.functions[i]);
  }
  if (r->j != NULL) json_end(r->j, ']');
  graph_match_deinit(&m);
}

// ---- The whole

static rheos_status *graph_of(source *s, const char *tags, const Tensorflow__GraphDef **out_def,
                              diff_result *out) {
  const Tensorflow__MetaGraphDef *meta_graph = NULL;
  out->failed = s->path;
  rheos_status *status = source_read_message(s);
  if (status == NULL) status = source_meta_graph(s, tags, &meta_graph);
  if (status != NULL) return status;
  *out_def = meta_graph != NULL ? meta_graph->graph_def : s->graph_def;
  return *out_def != NULL ? NULL : rheos_status_new(RHEOS_DATA_LOSS, "it holds no graph");
}

static void tell_counts(const report *r) {
  if (r->j == NULL) {
    printf(
        "%lld nodes the same, %lld changed, %lld by other names, %lld only in the first, %lld "
        "only in the second\n",
        (long long)r->num_same, (long long)r->num_changed, (long long)r->num_renamed,
        (long long)r->num_only_a, (long long)r->num_only_b);
    return;
  }
  json_begin(r->j, "counts", '{');
  json_int(r->j, "same", r->num_same);
  json_int(r->j, "changed", r->num_changed);
  json_int(r->j, "renamed", r->num_renamed);
  json_int(r->j, "only_in_a", r->num_only_a);
  json_int(r->j, "only_in_b", r->num_only_b);
  json_end(r->j, '}');
}

static bool tell_all(report *r, const Tensorflow__GraphDef *a, const Tensorflow__GraphDef *b) {
  if (r->j != NULL) {
    json_begin(r->j, NULL, '{');
    json_text(r->j, "kind", "graphs");
  }
  compare_graphs(r, a, b);
  tell_counts(r);
  if (r->j != NULL) json_end(r->j, '}');
  return r->num_changed + r->num_renamed + r->num_only_a + r->num_only_b > 0;
}

bool diff_graphs_json(const Tensorflow__GraphDef *a, const Tensorflow__GraphDef *b, FILE *out) {
  const diff_options options = {.json = true};
  json j = {.out = out};
  report r = {.options = &options, .j = &j};
  return tell_all(&r, a, b);
}

rheos_status *diff_models(source *a, source *b, const diff_options *options, diff_result *out) {
  json j = {.out = stdout};
  report r = {.options = options, .j = options->json ? &j : NULL};
  const Tensorflow__GraphDef *def_a, *def_b;
  rheos_status *status = graph_of(a, options->tags, &def_a, out);
  if (status == NULL) status = graph_of(b, options->tags, &def_b, out);
  if (status == NULL) out->differs = tell_all(&r, def_a, def_b);
  return status;
}
