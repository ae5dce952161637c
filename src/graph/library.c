// Functions of a graph, made when they are asked for. See library.h.
#include "graph/library.h"

#include <string.h>

#include "graph/graph_impl.h"

struct rheos__library {
  rheos__make_body make_body;
  struct instance {
    rheos_func func;
    rheos__function *function;
  } *instances;
  size_t capacity, count;
};

static rheos_graph *library_graph(rheos_graph *graph) {
  while (graph->outer != NULL) graph = graph->outer;
  return graph;
}

rheos_status *rheos__graph_set_body_maker(rheos_graph *graph, rheos__make_body make_body) {
  rheos__graph_lock(graph);
  if (graph->library == NULL) graph->library = rheos__graph_alloc(graph, sizeof *graph->library);
  rheos_status *status = NULL;
  if (graph->library != NULL) {
    graph->library->make_body = make_body;
  } else {
    status = rheos__out_of_memory();
  }
  rheos__graph_unlock(graph);
  return status;
}

void rheos__library_free(rheos_graph *graph) {
  rheos__library *library = graph->library;
  if (library == NULL) return;
  for (size_t i = 0; i < library->count; ++i) {
    rheos_graph_unref(library->instances[i].function->graph);
  }
  rheos__free(library->instances);
}

// ---- A body's arguments, results and targets

static bool has_flag(const rheos__node *node, unsigned flag) {
  return (node->signature->op->flags & flag) != 0;
}

// What has effects is run by each call, whoever needs its outputs. What only gives a cell has none.
static bool is_target(const rheos__node *node) {
  const unsigned quiet = RHEOS_OP_ARG | RHEOS_OP_RETVAL | RHEOS_OP_PLACEHOLDER | RHEOS_OP_VARIABLE;
  return has_flag(node, RHEOS_OP_STATEFUL | RHEOS_OP_WRITES) && !has_flag(node, quiet);
}

typedef struct counts {
  int32_t args, results, targets;
} counts;

static counts count_nodes(const rheos_graph *body) {
  counts n = {0};
  for (int32_t id = 0; id < rheos_graph_num_operations(body); ++id) {
    const rheos__node *node = rheos__graph_node(body, id);
    n.args += has_flag(node, RHEOS_OP_ARG);
    n.results += has_flag(node, RHEOS_OP_RETVAL);
    n.targets += is_target(node);
  }
  return n;
}

// Puts an argument or result in the place that its index names.
static rheos_status *put(rheos__edge *edges, int32_t count, const rheos__node *node,
                         rheos__edge edge, const char *what) {
  const int64_t index = rheos__attr_int(node->attrs, "index");
  if (index >= 0 && index < count && edges[index].id < 0) {
    edges[index] = edge;
    return NULL;
  }
  return RHEOS_INVALID("%s %lld of the function is there twice, or one before it is missing", what,
                       (long long)index);
}

static rheos_status *list_nodes(rheos__function *function) {
  rheos_graph *body = function->graph;
  const counts n = count_nodes(body);
  const int32_t num_listed = function->num_targets;
  const size_t num_edges = (size_t)n.args + (size_t)n.results;
  rheos__edge *edges = rheos__graph_alloc(body, (num_edges + 1) * sizeof *edges);
  int32_t *targets =
      rheos__graph_alloc(body, ((size_t)num_listed + (size_t)n.targets + 1) * sizeof *targets);
  if (edges == NULL || targets == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < num_edges; ++i) edges[i].id = -1;
  if (num_listed > 0) memcpy(targets, function->targets, (size_t)num_listed * sizeof *targets);
  function->args = edges;
  function->results = edges + n.args;
  function->targets = targets;
  function->num_args = n.args;
  function->num_results = n.results;
  for (int32_t id = 0; id < rheos_graph_num_operations(body); ++id) {
    const rheos__node *node = rheos__graph_node(body, id);
    if (has_flag(node, RHEOS_OP_ARG)) {
      RHEOS_TRY(put(function->args, n.args, node, (rheos__edge){id, 0}, "argument"));
    } else if (has_flag(node, RHEOS_OP_RETVAL)) {
      RHEOS_TRY(put(function->results, n.results, node, node->edges[0], "result"));
    } else if (is_target(node)) {
      targets[function->num_targets++] = id;
    }
  }
  return NULL;
}

// ---- Instances

static bool same_func(const rheos_func *a, const rheos_func *b) {
  return rheos__attr_value_equal(&(rheos_attr_value){.kind = RHEOS_ATTR_FUNC, .func = a},
                                 &(rheos_attr_value){.kind = RHEOS_ATTR_FUNC, .func = b});
}

static rheos_status *make_function(rheos_graph *graph, const rheos_func *func,
                                   rheos__function **out_function) {
  rheos__function *function = rheos__graph_alloc(graph, sizeof *function);
  char *name = rheos__graph_alloc(graph, func->name.size_bytes + 1);
  if (function == NULL || name == NULL) return rheos__out_of_memory();
  memcpy(name, func->name.data, func->name.size_bytes);
  *function = (rheos__function){.name = name, .graph = rheos_graph_new()};
  if (function->graph == NULL) return rheos__out_of_memory();
  function->graph->outer = graph;
  rheos_status *status = graph->library->make_body(graph, func, function);
  if (status == NULL) status = list_nodes(function);
  if (status == NULL) {
    *out_function = function;
    return NULL;
  }
  rheos_graph_unref(function->graph);
  return status;
}

static rheos_status *find_function(rheos_graph *graph, const rheos_func *func,
                                   rheos__function **out_function) {
  rheos__library *library = graph->library;
  if (library == NULL) {
    return rheos_status_new(RHEOS_NOT_FOUND, "Function %.*s is not defined.",
                            (int)func->name.size_bytes, func->name.data);
  }
  for (size_t i = 0; i < library->count; ++i) {
    if (!same_func(&library->instances[i].func, func)) continue;
    *out_function = library->instances[i].function;
    return NULL;
  }
  if (!RHEOS_RESERVE(library->instances, library->capacity, library->count + 1)) {
    return rheos__out_of_memory();
  }
  RHEOS_TRY(make_function(graph, func, out_function));
  library->instances[library->count++] = (struct instance){*func, *out_function};
  return NULL;
}

rheos_status *rheos__graph_function(rheos_graph *graph, const rheos_func *func,
                                    const rheos__function **out_function) {
  graph = library_graph(graph);
  rheos__function *function = NULL;
  rheos__graph_lock(graph);
  rheos_status *status = find_function(graph, func, &function);
  rheos__graph_unlock(graph);
  *out_function = function;
  return status;
}

static rheos_dtype dtype_at(const rheos__function *function, rheos__edge edge) {
  return rheos_dtype_base(rheos__graph_node(function->graph, edge.id)->outputs[edge.index].dtype);
}

rheos_dtype rheos__function_arg_dtype(const rheos__function *function, int32_t arg) {
  return dtype_at(function, function->args[arg]);
}

rheos_dtype rheos__function_result_dtype(const rheos__function *function, int32_t result) {
  return dtype_at(function, function->results[result]);
}
