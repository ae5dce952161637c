// Columns of a graph: gathered first from messages of the graph or of a function, then written.
#include "graph_data.h"

#include <stdlib.h>
#include <string.h>

#include "../attribute.h"
#include "../command.h"
#include "../message.h"
#include "hierarchy.h"
#include "nodes.h"

enum { MOST_VALUE_BYTES = 1000 };

static int64_t number_in(name_table *table, const char *bytes, size_t size_bytes) {
  name_table_row(table, bytes, size_bytes)->count++;
  return (int64_t)(name_table_row(table, bytes, size_bytes) - table->rows);
}

static int64_t string_of(graph_data *d, const char *text) {
  return number_in(&d->strings, text, strlen(text));
}

void graph_data_init(graph_data *d, const view *v) {
  *d = (graph_data){.view = v};
  const Tensorflow__FunctionDefLibrary *library = v->def->library;
  string_of(d, "");  // number 0
  for (size_t i = 0; library != NULL && i < library->n_function; i++) {
    const Tensorflow__OpDef *signature = library->function[i]->signature;
    const char *name = signature != NULL ? signature->name : "";
    name_row *row = name_table_row(&d->functions, name, strlen(name));
    if (row->count++ == 0) row->least = (int64_t)i;
  }
}

void graph_data_deinit(graph_data *d) {
  name_table_deinit(&d->strings);
  name_table_deinit(&d->attr_sets);
  name_table_deinit(&d->functions);
}

// ---- Columns of nodes

static void json_ints(json *j, const char *key, const int64_t *values, size_t count) {
  json_begin(j, key, '[');
  for (size_t i = 0; i < count; i++) json_int(j, NULL, values[i]);
  json_end(j, ']');
}

static void json_labels(json *j, const hierarchy *h, int32_t first, int32_t end) {
  json_begin(j, "label", '[');
  for (int32_t i = first; i < end; i++) {
    json_bytes(j, NULL, h->items[i].label, h->items[i].label_bytes);
  }
  json_end(j, ']');
}

static void json_texts(graph_data *d, json *j, const char *key, const char *const *texts,
                       int32_t count) {
  json_begin(j, key, '[');
  for (int32_t i = 0; i < count; i++) json_int(j, NULL, string_of(d, texts[i]));
  json_end(j, ']');
}

static void json_inputs(json *j, const page_nodes *n) {
  json_begin(j, "inputs", '[');
  for (int32_t i = 0; i < n->count; i++) {
    json_begin(j, NULL, '[');
    for (size_t at = n->first_edge[i]; at < n->first_edge[i + 1]; at++) {
      json_int(j, NULL, n->edges[at].from);
      json_int(j, NULL, n->edges[at].output);
    }
    json_end(j, ']');
  }
  json_end(j, ']');
}

static void json_outputs(graph_data *d, json *j, const page_nodes *n) {
  json_begin(j, "outputs", '[');
  for (int32_t i = 0; i < n->count; i++) {
    json_begin(j, NULL, '[');
    for (size_t at = n->first_output[i]; at < n->first_output[i + 1]; at++) {
      json_int(j, NULL, string_of(d, n->types.rows[n->outputs[at].type].name));
    }
    json_end(j, ']');
  }
  json_end(j, ']');
}

// The value in one line, cut where it is long.
static int64_t value_of(graph_data *d, const Tensorflow__AttrValue *value) {
  char *text = NULL;
  size_t size_bytes = 0;
  FILE *out = open_memstream(&text, &size_bytes);
  if (out != NULL) attribute_print(out, value);
  if (out == NULL || fclose(out) != 0) return 0;
  char *cut = NULL;
  if (size_bytes > MOST_VALUE_BYTES) {
    size_t most = MOST_VALUE_BYTES;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80) most--;
    cut = command_format("%.*s... (%zu bytes)", (int)most, text, size_bytes);
  }
  const int64_t number = string_of(d, cut != NULL ? cut : text);
  free(cut);
  free(text);
  return number;
}

static int64_t attr_set_of(graph_data *d, const Tensorflow__NodeDef *def) {
  const size_t count = def != NULL ? def->n_attr : 0;
  int64_t *numbers = command_alloc(2 * count * sizeof *numbers);
  for (size_t i = 0; i < count; i++) {
    numbers[2 * i] = string_of(d, def->attr[i]->key);
    numbers[2 * i + 1] = value_of(d, def->attr[i]->value);
  }
  const int64_t set = number_in(&d->attr_sets, (const char *)numbers, 2 * count * sizeof *numbers);
  free(numbers);
  return set;
}

static void json_attrs(graph_data *d, json *j, const page_nodes *n) {
  json_begin(j, "attrs", '[');
  for (int32_t i = 0; i < n->count; i++) json_int(j, NULL, attr_set_of(d, n->defs[i]));
  json_end(j, ']');
}

static void json_sources(graph_data *d, json *j, const page_nodes *n) {
  json_begin(j, "source", '[');
  for (int32_t i = 0; i < n->count; i++) {
    char *source = page_nodes_source(n, i);
    json_int(j, NULL, source != NULL ? string_of(d, source) : 0);
    free(source);
  }
  json_end(j, ']');
}

// ---- Calls: of functions, by attributes or by the op's name

static void json_call(graph_data *d, json *j, int32_t node, const char *role,
                      const char *function) {
  const name_row *row = name_table_row(&d->functions, function, strlen(function));
  if (row->count == 0) return;  // missing from the library
  json_int(j, NULL, node);
  json_int(j, NULL, string_of(d, role));
  json_int(j, NULL, 1 + row->least);
}

static void json_calls(graph_data *d, json *j, const page_nodes *n) {
  json_begin(j, "calls", '[');
  for (int32_t i = 0; d->functions.count > 0 && i < n->count; i++) {
    const Tensorflow__NodeDef *def = n->defs[i];
    json_call(d, j, i, "", n->ops[i]);
    for (size_t k = 0; def != NULL && k < def->n_attr; k++) {
      const Tensorflow__AttrValue *value = def->attr[k]->value;
      if (value == NULL) continue;
      if (value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC) {
        json_call(d, j, i, def->attr[k]->key, value->func->name);
      }
      if (value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST) continue;
      for (size_t f = 0; f < value->list->n_func; f++) {
        json_call(d, j, i, def->attr[k]->key, value->list->func[f]->name);
      }
    }
  }
  json_end(j, ']');
}

// ---- Groups

static void json_groups(graph_data *d, json *j, const hierarchy *h) {
  const int32_t root = hierarchy_root(h);
  const size_t count = (size_t)(h->count - root);
  int64_t *column = command_alloc(count * sizeof *column);
  json_begin(j, "groups", '{');
  json_labels(j, h, root, h->count);
  for (size_t i = 0; i < count; i++) column[i] = (int64_t)h->items[(size_t)root + i].kind;
  json_ints(j, "kind", column, count);
  for (size_t i = 0; i < count; i++) column[i] = h->items[(size_t)root + i].parent;
  json_ints(j, "parent", column, count);
  for (size_t i = 0; i < count; i++) column[i] = h->items[(size_t)root + i].num_nodes;
  json_ints(j, "nodes", column, count);
  for (size_t i = 0; i < count; i++) column[i] = h->classes[(size_t)root + i];
  json_ints(j, "class", column, count);
  for (size_t i = 0; i < count; i++) column[i] = (int64_t)h->items[(size_t)root + i].aside;
  json_ints(j, "aside", column, count);
  for (size_t i = 0; i < count; i++) {
    const char *loop = h->items[(size_t)root + i].loop;
    column[i] = loop != NULL ? string_of(d, loop) : 0;
  }
  json_ints(j, "loop", column, count);
  json_end(j, '}');
  free(column);
}

// The links of each group, whose first is number 0: [from, to, count, controls, type, bytes, ...].
static void json_links(graph_data *d, json *j, const page_nodes *n, const hierarchy *h) {
  json_begin(j, "links", '[');
  size_t at = 0;
  for (int32_t group = hierarchy_root(h); group < h->count; group++) {
    json_begin(j, NULL, '[');
    for (; at < h->num_links && h->links[at].group == group; at++) {
      const hierarchy_link *link = &h->links[at];
      const int64_t type =
          link->type == HIERARCHY_MIXED ? -1 : string_of(d, n->types.rows[link->type].name);
      const int64_t row[] = {link->from, link->to, link->count, link->controls, type, link->bytes};
      for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) json_int(j, NULL, row[k]);
    }
    json_end(j, ']');
  }
  json_end(j, ']');
}

// ---- The whole

static hierarchy hierarchy_of(const page_nodes *n) {
  const hierarchy_nodes nodes = {n->count, n->names, n->ops, n->first_edge, n->edges, n->frames};
  hierarchy h;
  hierarchy_init(&h, &nodes);
  return h;
}

static void json_graph(graph_data *d, json *j, const char *name, const page_nodes *n) {
  hierarchy h = hierarchy_of(n);
  int64_t *column = command_alloc((size_t)n->count * sizeof *column);
  json_begin(j, NULL, '{');
  json_text(j, "name", name);
  json_labels(j, &h, 0, n->count);
  for (int32_t i = 0; i < n->count; i++) column[i] = h.items[i].parent;
  json_ints(j, "parent", column, (size_t)n->count);
  json_texts(d, j, "op", n->ops, n->count);
  json_texts(d, j, "device", n->devices, n->count);
  json_inputs(j, n);
  json_outputs(d, j, n);
  json_attrs(d, j, n);
  json_sources(d, j, n);
  for (int32_t i = 0; i < n->count; i++) column[i] = (int64_t)h.items[i].aside;
  json_ints(j, "aside", column, (size_t)n->count);
  json_calls(d, j, n);
  json_groups(d, j, &h);
  json_links(d, j, n, &h);
  json_end(j, '}');
  free(column);
  hierarchy_deinit(&h);
}

static void json_tables(const graph_data *d, json *j) {
  json_begin(j, "attr_sets", '[');
  for (size_t i = 0; i < d->attr_sets.count; i++) {
    const name_row *row = &d->attr_sets.rows[i];
    int64_t *numbers = command_alloc(row->name_bytes);
    memcpy(numbers, row->name, row->name_bytes);
    json_ints(j, NULL, numbers, row->name_bytes / sizeof *numbers);
    free(numbers);
  }
  json_end(j, ']');
  json_begin(j, "strings", '[');
  for (size_t i = 0; i < d->strings.count; i++) {
    json_bytes(j, NULL, d->strings.rows[i].name, d->strings.rows[i].name_bytes);
  }
  json_end(j, ']');
}

void graph_data_json(graph_data *d, json *j) {
  const Tensorflow__FunctionDefLibrary *library = d->view->def->library;
  page_nodes n;
  json_begin(j, "graphs", '[');
  page_nodes_of_graph(&n, d->view);
  json_graph(d, j, "", &n);
  page_nodes_deinit(&n);
  for (size_t i = 0; library != NULL && i < library->n_function; i++) {
    page_nodes_of_function(&n, d->view, library->function[i]);
    json_graph(d, j,
               library->function[i]->signature != NULL ? library->function[i]->signature->name : "",
               &n);
    page_nodes_deinit(&n);
  }
  json_end(j, ']');
  json_tables(d, j);
}

// ---- For Graphviz

static void print_dot_label(FILE *out, const char *text, size_t size_bytes) {
  enum { MOST = 80 };
  for (size_t i = 0; i < size_bytes && i < MOST;) {
    const size_t length = text_character(text + i, size_bytes - i);
    if (length == 0 || (unsigned char)text[i] < ' ' || text[i] == 0x7f) {
      fputc('?', out);
      i++;
      continue;
    }
    if (text[i] == '"' || text[i] == '\\') fputc('\\', out);
    fwrite(text + i, 1, length, out);
    i += length;
  }
  if (size_bytes > MOST) fputs("...", out);
}

static void print_dot_item(FILE *out, const hierarchy *h, int32_t number) {
  static const char *const shapes[] = {
      "box, style=rounded", "box3d", "folder", "folder", "tab", "folder"};
  const hierarchy_item *item = &h->items[number];
  fprintf(out, "  n%d [shape=%s, label=\"", (int)number, shapes[item->kind]);
  print_dot_label(out, item->label, item->label_bytes);
  if (item->kind == ITEM_NODE) {
    fputs("\\n", out);
    print_dot_label(out, h->nodes.ops[number], strlen(h->nodes.ops[number]));
  } else {
    fprintf(out, "\\n%d nodes", (int)item->num_nodes);
  }
  fputs("\"];\n", out);
}

void graph_data_dot(const view *v, FILE *out) {
  page_nodes n;
  page_nodes_of_graph(&n, v);
  hierarchy h = hierarchy_of(&n);
  const int32_t root = hierarchy_root(&h);
  fputs("digraph rheos {\n  node [fontname=\"Helvetica\", fontsize=11];\n", out);
  fputs("  edge [fontname=\"Helvetica\", fontsize=9];\n", out);
  for (int32_t i = 0; i < h.count; i++) {
    if (h.items[i].parent == root && h.items[i].aside == ASIDE_NOT) print_dot_item(out, &h, i);
  }
  for (size_t i = 0; i < h.num_links; i++) {
    const hierarchy_link *link = &h.links[i];
    if (link->group != root || h.items[link->from].aside != ASIDE_NOT ||
        h.items[link->to].aside != ASIDE_NOT) {
      continue;
    }
    fprintf(out, "  n%d -> n%d [", (int)link->from, (int)link->to);
    if (link->count == 0) {
      fputs("style=dashed", out);
    } else if (link->type == HIERARCHY_MIXED) {
      fprintf(out, "label=\"%d tensors\"", (int)link->count);
    } else {
      fputs("label=\"", out);
      print_dot_label(out, n.types.rows[link->type].name, n.types.rows[link->type].name_bytes);
      fputc('"', out);
    }
    fputs("];\n", out);
  }
  fputs("}\n", out);
  hierarchy_deinit(&h);
  page_nodes_deinit(&n);
}
