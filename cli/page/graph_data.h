// Graphs as the page wants them: nodes, scopes and links as columns of numbers, with every text
// once.
#ifndef RHEOS_CLI_PAGE_GRAPH_DATA_H
#define RHEOS_CLI_PAGE_GRAPH_DATA_H

#include "../table.h"
#include "../text.h"
#include "../view.h"

typedef struct graph_data {
  const view *view;
  name_table strings;    // texts by number
  name_table attr_sets;  // lists of numbers of keys and values, as bytes
  name_table functions;  // of the library, by number
} graph_data;

void graph_data_init(graph_data *d, const view *v);
void graph_data_deinit(graph_data *d);

// Members "graphs" (the graph, then the functions of its library), "attr_sets", "strings" of the
// object that is open; docs/view.md describes them.
void graph_data_json(graph_data *d, json *j);

// The scopes of the graph itself as they are drawn before any is opened, for Graphviz.
void graph_data_dot(const view *v, FILE *out);

#endif  // RHEOS_CLI_PAGE_GRAPH_DATA_H
