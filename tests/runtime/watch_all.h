// Watches of all edges of a graph.
#ifndef RHEOS_TESTS_RUNTIME_WATCH_ALL_H
#define RHEOS_TESTS_RUNTIME_WATCH_ALL_H

#include <rheos/format.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_impl.h"
#include "graph/library.h"
#include "plan/entries/watch.h"

typedef struct watch_list {
  rheos__watch *items;
  int32_t count;
} watch_list;

static inline void watch_graph(watch_list *list, rheos_graph *graph, bool with_flow) {
  const int32_t num_nodes = rheos_graph_num_operations(graph);
  for (int32_t id = 0; id < num_nodes; id++) {
    const rheos__node *node = rheos__graph_node(graph, id);
    if (node->signature->op->flow != RHEOS__FLOW_NONE && !with_flow) continue;
    const size_t count = (size_t)(list->count + node->num_outputs + 1);
    list->items = realloc(list->items, count * sizeof *list->items);
    for (int32_t i = 0; i < node->num_outputs; i++) {
      list->items[list->count++] = (rheos__watch){graph, {id, i}};
    }
  }
}

// Watches of all edges of the functions of its library too, but for functions that only calls make
// whole. Without what moves values, control flow is raised where it can be.
static inline rheos__watches *watch_all(rheos_graph *graph, bool with_flow) {
  watch_list list = {NULL, 0};
  watch_graph(&list, graph, with_flow);
  const size_t num_functions = rheos_graph_num_functions(graph);
  for (size_t i = 0; i < num_functions; i++) {
    const char *name = rheos_graph_function_name(graph, i);
    const rheos_func func = {.name = {(char *)(uintptr_t)name, strlen(name)}};
    const rheos__function *function = NULL;
    rheos_status *status = rheos__graph_function(graph, &func, &function);
    if (status == NULL) watch_graph(&list, function->graph, with_flow);
    rheos_status_free(status);
  }
  rheos__watches *watches = rheos__watches_new(list.items, list.count);
  free(list.items);
  return watches;
}

#endif  // RHEOS_TESTS_RUNTIME_WATCH_ALL_H
