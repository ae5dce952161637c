#include "function_types.h"

#include <rheos/format.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../message.h"

// Each function is imported with the whole library: this many nodes times functions at most.
enum { MOST_WORK = 4000000 };

static bool is_too_much(const view *v) {
  const Tensorflow__FunctionDefLibrary *library = v->def->library;
  int64_t num_nodes = 0;
  for (size_t i = 0; i < library->n_function; i++) {
    num_nodes += (int64_t)library->function[i]->n_node_def;
  }
  num_nodes += v->num_nodes;  // which are looked through for who calls
  return num_nodes * (int64_t)library->n_function > MOST_WORK;
}

// ---- Shapes of arguments

static bool calls(const Tensorflow__NodeDef *node, const char *function) {
  if (strcmp(node->op, function) == 0) return true;
  for (size_t i = 0; i < node->n_attr; i++) {
    const Tensorflow__AttrValue *value = node->attr[i]->value;
    if (value == NULL) continue;
    const bool is_it = value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC &&
                       strcmp(value->func->name, function) == 0;
    if (is_it) return true;
    if (value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST) continue;
    for (size_t k = 0; k < value->list->n_func; k++) {
      if (strcmp(value->list->func[k]->name, function) == 0) return true;
    }
  }
  return false;
}

static bool is_one_of(const char *op, const char *const *ops) {
  for (; *ops != NULL; ops++) {
    if (strcmp(op, *ops) == 0) return true;
  }
  return false;
}

// The shape that a node of the graph gives an argument of the function that it calls. A loop's
// values have the shapes of what it gives, since they may change from trip to trip.
static rheos_shape shape_by_caller(const view *v, int32_t node, const char *function,
                                   size_t argument) {
  static const char *const loops[] = {"While", "StatelessWhile", NULL};
  static const char *const choices[] = {"If", "StatelessIf", "Case", "StatelessCase", NULL};
  static const char *const plain[] = {"PartitionedCall", "StatefulPartitionedCall", NULL};
  const char *op = v->def->node[node]->op;
  rheos_dtype dtype;
  rheos_shape shape = RHEOS_UNKNOWN_SHAPE;
  if (is_one_of(op, loops)) {
    if ((int32_t)argument < view_num_outputs(v, node)) {
      view_output(v, node, (int32_t)argument, &dtype, &shape);
    }
    return shape;
  }
  const bool chooses = is_one_of(op, choices);
  if (!chooses && !is_one_of(op, plain) && strcmp(op, function) != 0) return shape;
  const size_t at = v->first_edge[node] + argument + chooses;
  if (at >= v->first_edge[node + 1] || v->edges[at].node < 0 || v->edges[at].index < 0)
    return shape;
  view_output(v, v->edges[at].node, v->edges[at].index, &dtype, &shape);
  return shape;
}

// Of the function's own notes.
static rheos_shape shape_by_notes(const Tensorflow__FunctionDef *function, size_t argument) {
  for (size_t i = 0; i < function->n_arg_attr; i++) {
    const Tensorflow__FunctionDef__ArgAttrEntry *entry = function->arg_attr[i];
    if (entry->key != argument || entry->value == NULL) continue;
    for (size_t k = 0; k < entry->value->n_attr; k++) {
      const Tensorflow__AttrValue *value = entry->value->attr[k]->value;
      if (strcmp(entry->value->attr[k]->key, "_output_shapes") != 0 || value == NULL ||
          value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST || value->list->n_shape == 0) {
        continue;
      }
      return message_shape(value->list->shape[0]);
    }
  }
  return RHEOS_UNKNOWN_SHAPE;
}

static rheos_shape shape_of_argument(const view *v, const Tensorflow__FunctionDef *function,
                                     int32_t caller, size_t argument) {
  const rheos_shape shape = shape_by_notes(function, argument);
  if (shape.rank >= 0 || caller < 0) return shape;
  return shape_by_caller(v, caller, function->signature->name, argument);
}

// The one node of the graph that calls the function; -1: there is none, or there are several.
static int32_t find_caller(const view *v, const char *function) {
  int32_t caller = -1;
  for (int32_t i = 0; i < v->num_nodes; i++) {
    if (!calls(v->def->node[i], function)) continue;
    if (caller >= 0) return -1;
    caller = i;
  }
  return caller;
}

// ---- The graph

// A placeholder, with the messages that it points to.
typedef struct argument_node {
  Tensorflow__NodeDef node;
  Tensorflow__NodeDef__AttrEntry entries[2], *entry_pointers[2];
  Tensorflow__AttrValue values[2];
  Tensorflow__TensorShapeProto shape;
  Tensorflow__TensorShapeProto__Dim dims[RHEOS_MAX_RANK], *dim_pointers[RHEOS_MAX_RANK];
} argument_node;

static void set_argument(argument_node *a, Tensorflow__OpDef__ArgDef *argument,
                         const rheos_shape *shape) {
  static char op[] = "Placeholder", *const keys[] = {"dtype", "shape"};
  tensorflow__node_def__init(&a->node);
  tensorflow__tensor_shape_proto__init(&a->shape);
  a->node.name = argument->name;
  a->node.op = op;
  a->node.n_attr = 2;
  a->node.attr = a->entry_pointers;
  for (size_t i = 0; i < 2; i++) {
    tensorflow__node_def__attr_entry__init(&a->entries[i]);
    tensorflow__attr_value__init(&a->values[i]);
    a->entry_pointers[i] = &a->entries[i];
    a->entries[i].key = keys[i];
    a->entries[i].value = &a->values[i];
  }
  a->values[0].value_case = TENSORFLOW__ATTR_VALUE__VALUE_TYPE;
  a->values[0].type = argument->type;
  a->values[1].value_case = TENSORFLOW__ATTR_VALUE__VALUE_SHAPE;
  a->values[1].shape = &a->shape;
  a->shape.unknown_rank = shape->rank < 0;
  a->shape.n_dim = shape->rank > 0 ? (size_t)shape->rank : 0;
  a->shape.dim = a->dim_pointers;
  for (int32_t i = 0; i < shape->rank; i++) {
    tensorflow__tensor_shape_proto__dim__init(&a->dims[i]);
    a->dims[i].size = shape->dims[i];
    a->dim_pointers[i] = &a->dims[i];
  }
}

// An input as graphs write it, for free(); what is missing is told by the import.
static char *input_text(const page_nodes *n, const hierarchy_edge *edge) {
  if (edge->from == HIERARCHY_MISSING) return command_format("?");
  const char *name = n->names[edge->from];
  if (edge->output == HIERARCHY_CONTROL) return command_format("^%s", name);
  return edge->output == 0 ? command_format("%s", name)
                           : command_format("%s:%d", name, (int)edge->output);
}

// Of the graph that is made; results of the function are left out.
typedef struct body_nodes {
  Tensorflow__NodeDef **nodes, *copies;
  argument_node *arguments;
  size_t count, num_arguments;
} body_nodes;

static void make_nodes(body_nodes *b, const page_nodes *n,
                       const Tensorflow__FunctionDef *function) {
  const Tensorflow__OpDef *signature = function->signature;
  const int32_t caller = find_caller(n->view, signature->name);
  b->num_arguments = signature->n_input_arg;
  b->count = b->num_arguments + function->n_node_def;
  b->nodes = command_alloc(b->count * sizeof *b->nodes);
  b->arguments = command_alloc(b->num_arguments * sizeof *b->arguments);
  b->copies = command_alloc(function->n_node_def * sizeof *b->copies);
  for (size_t i = 0; i < b->num_arguments; i++) {
    const rheos_shape shape = shape_of_argument(n->view, function, caller, i);
    set_argument(&b->arguments[i], signature->input_arg[i], &shape);
    b->nodes[i] = &b->arguments[i].node;
  }
  for (size_t i = 0; i < function->n_node_def; i++) {
    Tensorflow__NodeDef *copy = &b->copies[i];
    const size_t first = n->first_edge[b->num_arguments + i];
    *copy = *function->node_def[i];
    copy->input = command_alloc(copy->n_input * sizeof *copy->input);
    for (size_t k = 0; k < copy->n_input; k++) {
      copy->input[k] = input_text(n, &n->edges[first + k]);
    }
    b->nodes[b->num_arguments + i] = copy;
  }
}

static void free_nodes(body_nodes *b) {
  for (size_t i = 0; i < b->count - b->num_arguments; i++) {
    for (size_t k = 0; k < b->copies[i].n_input; k++) free(b->copies[i].input[k]);
    free(b->copies[i].input);
  }
  free(b->nodes);
  free(b->arguments);
  free(b->copies);
}

static rheos_graph *import(const void *bytes, size_t size_bytes) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  const rheos_import_options options = {.keep_unknown_ops = true, .any_colocation = true};
  if (scope != NULL) rheos_import_graph_def(scope, bytes, size_bytes, &options);
  rheos_status *status = scope != NULL ? rheos_scope_finish(scope) : NULL;
  const bool is_made = scope != NULL && status == NULL;
  rheos_status_free(status);
  rheos_scope_free(scope);
  if (is_made) return graph;
  rheos_graph_unref(graph);
  return NULL;
}

rheos_graph *function_types_graph(const page_nodes *n, const Tensorflow__FunctionDef *function) {
  if (is_too_much(n->view)) return NULL;
  body_nodes b;
  make_nodes(&b, n, function);
  Tensorflow__GraphDef def = TENSORFLOW__GRAPH_DEF__INIT;
  def.node = b.nodes;
  def.n_node = b.count;
  def.library = n->view->def->library;
  def.versions = n->view->def->versions;
  const size_t size_bytes = tensorflow__graph_def__get_packed_size(&def);
  void *bytes = command_alloc(size_bytes);
  tensorflow__graph_def__pack(&def, bytes);
  rheos_graph *graph = import(bytes, size_bytes);
  free(bytes);
  free_nodes(&b);
  return graph;
}
