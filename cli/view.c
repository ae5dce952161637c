// Reads a GraphDef into tables: names, edges in both directions, ops, what stands in the way.
#include "view.h"

#include <rheos/host.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "message.h"
#include "status.h"

// ---- Names

typedef struct named {
  const char *name;
  int32_t node;
} named;

static int compare_named(const void *a, const void *b) {
  return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static void sort_names(view *v) {
  named *names = command_alloc((size_t)v->num_nodes * sizeof *names);
  for (int32_t i = 0; i < v->num_nodes; i++) names[i] = (named){v->def->node[i]->name, i};
  qsort(names, (size_t)v->num_nodes, sizeof *names, compare_named);
  for (int32_t i = 0; i < v->num_nodes; i++) v->by_name[i] = names[i].node;
  free(names);
}

int32_t view_find(const view *v, const char *name, size_t name_bytes) {
  int32_t low = 0, high = v->num_nodes;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    const char *other = v->def->node[v->by_name[middle]]->name;
    int order = strncmp(other, name, name_bytes);
    if (order == 0 && other[name_bytes] != '\0') order = 1;
    if (order == 0) return v->by_name[middle];
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return VIEW_MISSING;
}

// ---- Edges

static view_edge read_edge(const view *v, const char *input) {
  const bool is_control = input[0] == '^';
  const char *name = input + is_control, *colon = is_control ? NULL : strrchr(name, ':');
  view_edge edge = {VIEW_MISSING, is_control ? VIEW_CONTROL : 0};
  size_t name_bytes = strlen(name);
  if (colon != NULL && colon[1] >= '0' && colon[1] <= '9' && strlen(colon) < 10) {
    name_bytes = (size_t)(colon - name);
    edge.index = (int32_t)strtol(colon + 1, NULL, 10);
  }
  edge.node = view_find(v, name, name_bytes);
  return edge;
}

static void read_edges(view *v) {
  size_t count = 0;
  for (int32_t i = 0; i < v->num_nodes; i++) {
    v->first_edge[i] = count;
    count += v->def->node[i]->n_input;
  }
  v->first_edge[v->num_nodes] = count;
  v->edges = command_alloc(count * sizeof *v->edges);
  v->uses = command_alloc(count * sizeof *v->uses);
  for (int32_t i = 0; i < v->num_nodes; i++) {
    for (size_t k = 0; k < v->def->node[i]->n_input; k++) {
      const view_edge edge = read_edge(v, v->def->node[i]->input[k]);
      v->edges[v->first_edge[i] + k] = edge;
      if (edge.node != VIEW_MISSING) v->first_use[edge.node + 1]++;
    }
  }
  for (int32_t i = 0; i < v->num_nodes; i++) v->first_use[i + 1] += v->first_use[i];
  size_t *next = command_alloc(((size_t)v->num_nodes + 1) * sizeof *next);
  memcpy(next, v->first_use, ((size_t)v->num_nodes + 1) * sizeof *next);
  for (int32_t i = 0; i < v->num_nodes; i++) {
    for (size_t at = v->first_edge[i]; at < v->first_edge[i + 1]; at++) {
      const view_edge edge = v->edges[at];
      if (edge.node == VIEW_MISSING) continue;
      v->uses[next[edge.node]++] = (view_use){i, (int32_t)(at - v->first_edge[i]), edge.index};
    }
  }
  free(next);
}

// ---- Ops

static view_reason reason_of(const view *v, const char *op) {
  const Tensorflow__FunctionDefLibrary *library = v->def->library;
  // A node of an op that nobody defines got a definition, but only for itself.
  const rheos_op_def *definition = rheos_op_def_find(v->graph, op);
  if (rheos_op_def_has_kernel(definition)) return VIEW_RUNS;
  for (size_t i = 0; library != NULL && i < library->n_function; i++) {
    const Tensorflow__OpDef *function = library->function[i]->signature;
    if (function != NULL && strcmp(function->name, op) == 0) return VIEW_FUNCTION;
  }
  return definition != NULL ? VIEW_NO_KERNEL : VIEW_UNKNOWN_OP;
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_counts(const void *a, const void *b) {
  const view_op *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return strcmp(x->name, y->name);
}

static void count_ops(view *v) {
  const char **names = command_alloc((size_t)v->num_nodes * sizeof *names);
  for (int32_t i = 0; i < v->num_nodes; i++) names[i] = v->def->node[i]->op;
  qsort(names, (size_t)v->num_nodes, sizeof *names, compare_texts);
  v->ops = command_alloc((size_t)v->num_nodes * sizeof *v->ops);
  for (int32_t i = 0; i < v->num_nodes; i++) {
    if (i == 0 || strcmp(names[i], names[i - 1]) != 0) {
      v->ops[v->num_ops++] = (view_op){names[i], 0, reason_of(v, names[i])};
    }
    v->ops[v->num_ops - 1].count++;
  }
  qsort(v->ops, v->num_ops, sizeof *v->ops, compare_counts);
  free(names);
}

// ---- What cannot run

static void add_obstacle(view *v, const Tensorflow__NodeDef *node, const char *function,
                         view_reason reason) {
  if (v->num_obstacles == v->obstacle_capacity) {
    v->obstacle_capacity = v->obstacle_capacity * 2 + 16;
    v->obstacles = command_realloc(v->obstacles, v->obstacle_capacity * sizeof *v->obstacles);
  }
  v->obstacles[v->num_obstacles++] = (view_obstacle){node->op, function, node->name, reason};
}

static int compare_obstacles(const void *a, const void *b) {
  const view_obstacle *x = a, *y = b;
  const int order = strcmp(x->op, y->op);
  return order != 0 ? order : strcmp(x->node, y->node);
}

// In the order of the ops, then of the nodes; those of each function by their names.
static void find_obstacles(view *v) {
  for (size_t k = 0; k < v->num_ops; k++) {
    if (v->ops[k].reason == VIEW_RUNS) continue;
    for (int32_t i = 0; i < v->num_nodes; i++) {
      const Tensorflow__NodeDef *node = v->def->node[i];
      if (strcmp(node->op, v->ops[k].name) == 0) add_obstacle(v, node, NULL, v->ops[k].reason);
    }
  }
  // Of functions only what no version of the graph could run.
  const Tensorflow__FunctionDefLibrary *library = v->def->library;
  for (size_t i = 0; library != NULL && i < library->n_function; i++) {
    const Tensorflow__FunctionDef *function = library->function[i];
    const size_t first = v->num_obstacles;
    for (size_t k = 0; function->signature != NULL && k < function->n_node_def; k++) {
      const Tensorflow__NodeDef *node = function->node_def[k];
      if (reason_of(v, node->op) == VIEW_UNKNOWN_OP) {
        add_obstacle(v, node, function->signature->name, VIEW_UNKNOWN_OP);
      }
    }
    if (v->num_obstacles > first) {
      qsort(v->obstacles + first, v->num_obstacles - first, sizeof *v->obstacles,
            compare_obstacles);
    }
  }
}

const char *view_reason_text(view_reason reason) {
  static const char *const texts[] = {"", "unknown op", "no kernel", "function call"};
  return texts[reason];
}

// ---- Parameters

const Tensorflow__AttrValue *view_attr(const Tensorflow__NodeDef *node, const char *name) {
  for (size_t i = 0; i < node->n_attr; i++) {
    if (strcmp(node->attr[i]->key, name) == 0) return node->attr[i]->value;
  }
  return NULL;
}

const char *view_dtype_name(int64_t number) {
  const rheos_dtype dtype = number > 0 && number < 200 ? (rheos_dtype)number : RHEOS_INVALID_DTYPE;
  return rheos_dtype_size(rheos_dtype_base(dtype)) > 0 ? rheos_dtype_name(dtype) : "?";
}

static void add_elements(int64_t *sum, const rheos_shape *shape) {
  const int64_t count = rheos_shape_num_elements(shape);
  if (count > 0 && __builtin_add_overflow(*sum, count, sum)) *sum = INT64_MAX;
}

static bool is_one_of(const char *op, const char *const *names) {
  for (; *names != NULL; names++) {
    if (strcmp(op, *names) == 0) return true;
  }
  return false;
}

static void count_parameters(view *v) {
  static const char *const variables[] = {"VariableV2", "Variable", "VarHandleOp", NULL};
  for (int32_t i = 0; i < v->num_nodes; i++) {
    const Tensorflow__NodeDef *node = v->def->node[i];
    const Tensorflow__AttrValue *shape = view_attr(node, "shape");
    const Tensorflow__AttrValue *value = view_attr(node, "value");
    if (is_one_of(node->op, variables)) {
      v->num_variables++;
      if (shape != NULL && shape->value_case == TENSORFLOW__ATTR_VALUE__VALUE_SHAPE) {
        const rheos_shape dims = message_shape(shape->shape);
        add_elements(&v->variable_elements, &dims);
      }
    } else if (strcmp(node->op, "Const") == 0) {
      v->num_constants++;
      if (value != NULL && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TENSOR) {
        const rheos_shape dims = message_shape(value->tensor->tensor_shape);
        add_elements(&v->constant_elements, &dims);
      }
    }
  }
}

// ---- The whole

static void import(view *v, const void *bytes, size_t size_bytes) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  if (scope == NULL) {
    rheos_graph_unref(graph);
    v->problem = command_format("out of memory");
    return;
  }
  const rheos_import_options options = {.keep_unknown_ops = true, .any_colocation = true};
  rheos_import_graph_def(scope, bytes, size_bytes, &options);
  rheos_status *status = rheos_scope_finish(scope);
  rheos_scope_free(scope);
  if (status == NULL) {
    v->graph = graph;
    return;
  }
  v->problem = command_format("%s", rheos_status_message(status));
  rheos_status_free(status);
  rheos_graph_unref(graph);
}

void view_init(view *v, const Tensorflow__GraphDef *def, const void *bytes, size_t size_bytes) {
  *v = (view){.def = def, .num_nodes = (int32_t)def->n_node};
  const size_t count = (size_t)v->num_nodes + 1;
  v->by_name = command_alloc(count * sizeof *v->by_name);
  v->first_edge = command_alloc(count * sizeof *v->first_edge);
  v->first_use = command_alloc(count * sizeof *v->first_use);
  import(v, bytes, size_bytes);
  sort_names(v);
  read_edges(v);
  count_ops(v);
  find_obstacles(v);
  count_parameters(v);
}

void view_deinit(view *v) {
  rheos_graph_unref(v->graph);
  free(v->problem);
  free(v->by_name);
  free(v->first_edge);
  free(v->edges);
  free(v->first_use);
  free(v->uses);
  free(v->ops);
  free(v->obstacles);
}

bool view_is_input(const view *v, int32_t node) {
  static const char *const ops[] = {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault", NULL};
  return is_one_of(v->def->node[node]->op, ops);
}

bool view_is_output(const view *v, int32_t node) {
  return v->first_use[node] == v->first_use[node + 1] && !view_is_input(v, node);
}

rheos_operation view_operation(const view *v, int32_t node) {
  const char *name = v->def->node[node]->name;
  rheos_operation found = {NULL, 0};
  if (v->graph != NULL) found = rheos_graph_operation(v->graph, name);
  if (found.graph == NULL && v->other != NULL) found = rheos_graph_operation(v->other, name);
  return found;
}

int32_t view_num_outputs(const view *v, int32_t node) {
  const rheos_operation operation = view_operation(v, node);
  return operation.graph != NULL ? rheos_operation_num_outputs(operation) : 0;
}

void view_output(const view *v, int32_t node, int32_t index, rheos_dtype *out_dtype,
                 rheos_shape *out_shape) {
  *out_dtype = RHEOS_INVALID_DTYPE;
  *out_shape = RHEOS_UNKNOWN_SHAPE;
  const rheos_operation operation = view_operation(v, node);
  if (operation.graph != NULL) {
    if (index >= rheos_operation_num_outputs(operation)) return;
    const rheos_output output = rheos_operation_output(operation, index);
    *out_dtype = rheos_output_dtype(output);
    *out_shape = rheos_output_shape(output);
    return;
  }
  // A graph that cannot be imported still says what its placeholders take.
  const Tensorflow__AttrValue *dtype = view_attr(v->def->node[node], "dtype");
  const Tensorflow__AttrValue *shape = view_attr(v->def->node[node], "shape");
  if (dtype != NULL && dtype->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE) {
    const int number = (int)dtype->type;
    if (number > 0 && number <= RHEOS_UINT4) *out_dtype = (rheos_dtype)number;
  }
  if (shape != NULL && shape->value_case == TENSORFLOW__ATTR_VALUE__VALUE_SHAPE) {
    *out_shape = message_shape(shape->shape);
  }
}

rheos_status *view_open(view *v, source *s, const char *tags,
                        const Tensorflow__MetaGraphDef **out_meta_graph) {
  static const Tensorflow__GraphDef empty = TENSORFLOW__GRAPH_DEF__INIT;
  const Tensorflow__MetaGraphDef *meta_graph;
  const char *bytes;
  size_t size_bytes;
  *v = (view){.def = NULL};
  TRY(source_read_message(s));
  TRY(source_meta_graph(s, tags, &meta_graph));
  const Tensorflow__GraphDef *def = meta_graph != NULL ? meta_graph->graph_def : s->graph_def;
  if (def == NULL) def = &empty;
  if (def->n_node > INT32_MAX / 4) return INVALID("the graph has too many nodes");
  TRY(source_graph_bytes(s, meta_graph, &bytes, &size_bytes));
  view_init(v, def, bytes, size_bytes);
  *out_meta_graph = meta_graph;
  return NULL;
}
