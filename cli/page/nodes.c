// Reads nodes from a view or from the definition of a function.
#include "nodes.h"

#include <rheos/host.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../message.h"
#include "function_types.h"

static void make_room(page_nodes *n, size_t num_edges) {
  const size_t count = (size_t)n->count;
  n->names = command_alloc(count * sizeof *n->names);
  n->ops = command_alloc(count * sizeof *n->ops);
  n->devices = command_alloc(count * sizeof *n->devices);
  n->frames = command_alloc(count * sizeof *n->frames);
  n->defs = command_alloc(count * sizeof *n->defs);
  n->first_edge = command_alloc((count + 1) * sizeof *n->first_edge);
  n->edges = command_alloc(num_edges * sizeof *n->edges);
  n->first_output = command_alloc((count + 1) * sizeof *n->first_output);
}

void page_nodes_deinit(page_nodes *n) {
  free(n->names);
  free(n->ops);
  free(n->devices);
  free(n->frames);
  free(n->defs);
  free(n->first_edge);
  free(n->edges);
  free(n->first_output);
  free(n->outputs);
  name_table_deinit(&n->types);
  name_table_deinit(&n->frame_names);
}

static const char *frame_of(page_nodes *n, const Tensorflow__NodeDef *def) {
  if (strcmp(def->op, "Enter") != 0 && strcmp(def->op, "RefEnter") != 0) return NULL;
  const Tensorflow__AttrValue *name = view_attr(def, "frame_name");
  if (name == NULL || name->value_case != TENSORFLOW__ATTR_VALUE__VALUE_S) return NULL;
  return name_table_row(&n->frame_names, (const char *)name->s.data, name->s.len)->name;
}

static void set_node(page_nodes *n, int32_t i, const Tensorflow__NodeDef *def) {
  n->defs[i] = def;
  n->names[i] = def->name;
  n->ops[i] = def->op;
  n->devices[i] = def->device;
  n->frames[i] = frame_of(n, def);
}

// ---- Types

static int32_t type_row(page_nodes *n, rheos_dtype dtype, const rheos_shape *shape) {
  char text[256], dims[192] = "";
  if (shape->rank >= 0) rheos_shape_format(shape, dims, sizeof dims);
  const bool is_known = dtype != RHEOS_INVALID_DTYPE;
  snprintf(text, sizeof text, "%s%s%s", is_known ? rheos_dtype_name(dtype) : "",
           is_known && dims[0] != '\0' ? " " : "", dims);
  name_table_row(&n->types, text, strlen(text))->count++;
  return (int32_t)(name_table_row(&n->types, text, strlen(text)) - n->types.rows);
}

static int64_t bytes_of(rheos_dtype dtype, const rheos_shape *shape) {
  int64_t bytes = (int64_t)rheos_dtype_size(rheos_dtype_base(dtype));
  for (int32_t i = 0; i < shape->rank; i++) {
    const int64_t dim = shape->dims[i] < 0 ? 1 : shape->dims[i];
    if (__builtin_mul_overflow(bytes, dim, &bytes)) return INT64_MAX;
  }
  return bytes;
}

// Outputs are added node by node, `first_output` of the next one after each.
static void add_output(page_nodes *n, int32_t node, rheos_dtype dtype, const rheos_shape *shape) {
  const size_t at = n->first_output[node + 1]++;
  if (at == n->output_capacity) {
    n->output_capacity = 2 * n->output_capacity + 64;
    n->outputs = command_realloc(n->outputs, n->output_capacity * sizeof *n->outputs);
  }
  n->outputs[at] = (page_output){type_row(n, dtype, shape), bytes_of(dtype, shape)};
}

// What the outputs are is known; now the edges' types follow.
static void set_types_of_edges(page_nodes *n) {
  const int32_t unknown = type_row(n, RHEOS_INVALID_DTYPE, &RHEOS_UNKNOWN_SHAPE);
  for (size_t at = 0; at < n->first_edge[n->count]; at++) {
    hierarchy_edge *edge = &n->edges[at];
    edge->type = unknown;
    if (edge->from == HIERARCHY_MISSING || edge->output < 0) continue;
    const size_t output = n->first_output[edge->from] + (size_t)edge->output;
    if (output >= n->first_output[edge->from + 1]) continue;
    edge->type = n->outputs[output].type;
    edge->bytes = n->outputs[output].bytes;
  }
}

// ---- Of a graph

void page_nodes_of_graph(page_nodes *n, const view *v) {
  *n = (page_nodes){.view = v, .count = v->num_nodes};
  make_room(n, v->first_edge[v->num_nodes]);
  for (int32_t i = 0; i < n->count; i++) {
    set_node(n, i, v->def->node[i]);
    n->first_edge[i + 1] = v->first_edge[i + 1];
    for (size_t at = v->first_edge[i]; at < v->first_edge[i + 1]; at++) {
      n->edges[at] = (hierarchy_edge){.from = v->edges[at].node, .output = v->edges[at].index};
    }
    n->first_output[i + 1] = n->first_output[i];
    const int32_t num_outputs = view_num_outputs(v, i);
    for (int32_t k = 0; k < num_outputs; k++) {
      rheos_dtype dtype;
      rheos_shape shape;
      view_output(v, i, k, &dtype, &shape);
      add_output(n, i, dtype, &shape);
    }
  }
  set_types_of_edges(n);
}

// ---- Of a function

static void set_end(page_nodes *n, int32_t i, const char *name, const char *op) {
  n->names[i] = name;
  n->ops[i] = op;
  n->devices[i] = "";
}

// How many tensors an output has that a node's definition names.
static int32_t count_of(const Tensorflow__NodeDef *def, const rheos_op_argument *output) {
  enum { MOST = 10000 };
  const Tensorflow__AttrValue *number =
      output->number_attr != NULL ? view_attr(def, output->number_attr) : NULL;
  const Tensorflow__AttrValue *types =
      output->type_list_attr != NULL ? view_attr(def, output->type_list_attr) : NULL;
  if (number != NULL && number->value_case == TENSORFLOW__ATTR_VALUE__VALUE_I) {
    return number->i < 0 ? 0 : number->i > MOST ? MOST : (int32_t)number->i;
  }
  if (types != NULL && types->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST) {
    return types->list->n_type > MOST ? MOST : (int32_t)types->list->n_type;
  }
  return 1;
}

static rheos_dtype dtype_of(int64_t number) {
  return number > 0 && number <= RHEOS_UINT4 ? (rheos_dtype)number : RHEOS_INVALID_DTYPE;
}

static rheos_dtype default_dtype(const rheos_op_def *op, const char *name) {
  for (int32_t i = 0; i < rheos_op_def_num_attrs(op); i++) {
    const rheos_op_attr attr = rheos_op_def_attr(op, i);
    if (strcmp(attr.name, name) != 0) continue;
    if (attr.default_value.kind == RHEOS_ATTR_TYPE) return attr.default_value.type;
  }
  return RHEOS_INVALID_DTYPE;
}

static rheos_dtype dtype_at(const rheos_op_def *op, const Tensorflow__NodeDef *def,
                            const rheos_op_argument *output, int32_t index) {
  const char *name = output->type_list_attr != NULL ? output->type_list_attr : output->type_attr;
  const Tensorflow__AttrValue *value = name != NULL ? view_attr(def, name) : NULL;
  if (name == NULL) return output->dtype;
  if (value == NULL) return default_dtype(op, name);
  if (value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE) return dtype_of(value->type);
  const bool is_list = value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST &&
                       index < (int32_t)value->list->n_type;
  return is_list ? dtype_of(value->list->type[index]) : RHEOS_INVALID_DTYPE;
}

// Of the outputs that a node has by its op the number of the one that is called so; 0: there is
// none.
static int32_t output_number(const page_nodes *n, int32_t node, const char *name,
                             size_t name_bytes) {
  const Tensorflow__NodeDef *def = n->defs[node];
  const rheos_op_def *op = def != NULL ? rheos_op_def_find(n->view->graph, def->op) : NULL;
  int32_t number = 0;
  for (int32_t i = 0; op != NULL && i < rheos_op_def_num_outputs(op); i++) {
    const rheos_op_argument output = rheos_op_def_output(op, i);
    if (strlen(output.name) == name_bytes && memcmp(output.name, name, name_bytes) == 0) {
      return number;
    }
    number += count_of(def, &output);
  }
  return 0;
}

// What a node's op and attributes say; shapes only where a program noted them.
static void add_outputs_by_op(page_nodes *n, int32_t node) {
  const Tensorflow__NodeDef *def = n->defs[node];
  const rheos_op_def *op = rheos_op_def_find(n->view->graph, def->op);
  const Tensorflow__AttrValue *shapes = view_attr(def, "_output_shapes");
  size_t number = 0;
  for (int32_t i = 0; op != NULL && i < rheos_op_def_num_outputs(op); i++) {
    const rheos_op_argument output = rheos_op_def_output(op, i);
    const int32_t count = count_of(def, &output);
    for (int32_t k = 0; k < count; k++, number++) {
      rheos_shape shape = RHEOS_UNKNOWN_SHAPE;
      if (shapes != NULL && shapes->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST &&
          number < shapes->list->n_shape) {
        shape = message_shape(shapes->list->shape[number]);
      }
      add_output(n, node, dtype_at(op, def, &output, k), &shape);
    }
  }
}

// What inference found; false where it did not get there.
static bool add_inferred_outputs(page_nodes *n, int32_t node, rheos_graph *graph) {
  if (graph == NULL) return false;
  const rheos_operation operation = rheos_graph_operation(graph, n->names[node]);
  if (operation.graph == NULL) return false;
  const int32_t num_outputs = rheos_operation_num_outputs(operation);
  for (int32_t i = 0; i < num_outputs; i++) {
    const rheos_output output = rheos_operation_output(operation, i);
    const rheos_shape shape = rheos_output_shape(output);
    add_output(n, node, rheos_output_dtype(output), &shape);
  }
  return true;
}

// "^name", "name" of an argument, "name:output:0" of a node.
static hierarchy_edge edge_of(const page_nodes *n, name_table *by_name, const char *input) {
  const bool is_control = input[0] == '^';
  const char *name = input + is_control, *last = strrchr(name, ':');
  const size_t name_bytes = strcspn(name, ":");
  hierarchy_edge edge = {.from = HIERARCHY_MISSING, .output = is_control ? HIERARCHY_CONTROL : 0};
  if (last != NULL && last[1] >= '0' && last[1] <= '9' && strlen(last) < 10) {
    edge.output = (int32_t)strtol(last + 1, NULL, 10);
  }
  const name_row *row = name_table_row(by_name, name, name_bytes);
  if (row->count == 0) return edge;
  edge.from = (int32_t)row->least;
  if (last > name + name_bytes) {
    const char *output = name + name_bytes + 1;
    edge.output += output_number(n, edge.from, output, (size_t)(last - output));
  }
  return edge;
}

static const char *result_of(const Tensorflow__FunctionDef *function, const char *name) {
  for (size_t i = 0; i < function->n_ret; i++) {
    if (strcmp(function->ret[i]->key, name) == 0) return function->ret[i]->value;
  }
  return NULL;
}

static size_t count_inputs(const Tensorflow__FunctionDef *function) {
  size_t count = function->signature != NULL ? function->signature->n_output_arg : 0;
  for (size_t i = 0; i < function->n_node_def; i++) count += function->node_def[i]->n_input;
  return count;
}

static void find_function_nodes(page_nodes *n, const Tensorflow__FunctionDef *function,
                                name_table *by_name) {
  const Tensorflow__OpDef *signature = function->signature;
  int32_t at = 0;
  for (size_t i = 0; i < signature->n_input_arg; i++) {
    set_end(n, at++, signature->input_arg[i]->name, "_Arg");
  }
  for (size_t i = 0; i < function->n_node_def; i++) set_node(n, at++, function->node_def[i]);
  for (int32_t i = 0; i < at; i++) {
    name_row *row = name_table_row(by_name, n->names[i], strlen(n->names[i]));
    if (row->count++ == 0) row->least = i;
  }
  for (size_t i = 0; i < signature->n_output_arg; i++) {
    set_end(n, at++, signature->output_arg[i]->name, "_Retval");
  }
}

static void read_function_edges(page_nodes *n, const Tensorflow__FunctionDef *function,
                                name_table *by_name) {
  const Tensorflow__OpDef *signature = function->signature;
  size_t count = 0;
  for (int32_t i = 0; i < n->count; i++) {
    const Tensorflow__NodeDef *def = n->defs[i];
    for (size_t k = 0; def != NULL && k < def->n_input; k++) {
      n->edges[count++] = edge_of(n, by_name, def->input[k]);
    }
    const bool is_result = (size_t)i >= signature->n_input_arg + function->n_node_def;
    const char *result = is_result ? result_of(function, n->names[i]) : NULL;
    if (result != NULL) n->edges[count++] = edge_of(n, by_name, result);
    n->first_edge[i + 1] = count;
  }
}

void page_nodes_of_function(page_nodes *n, const view *v, const Tensorflow__FunctionDef *function) {
  const Tensorflow__OpDef *signature = function->signature;
  *n = (page_nodes){.view = v, .is_function = true};
  if (signature != NULL) {
    n->count = (int32_t)(signature->n_input_arg + function->n_node_def + signature->n_output_arg);
  }
  make_room(n, count_inputs(function));
  if (signature == NULL) return;
  name_table by_name = {.count = 0};
  find_function_nodes(n, function, &by_name);
  read_function_edges(n, function, &by_name);
  name_table_deinit(&by_name);
  const rheos_shape unknown = RHEOS_UNKNOWN_SHAPE;
  rheos_graph *graph = function_types_graph(n, function);
  for (int32_t i = 0; i < n->count; i++) {
    n->first_output[i + 1] = n->first_output[i];
    const bool is_result = (size_t)i >= signature->n_input_arg + function->n_node_def;
    if (!is_result && add_inferred_outputs(n, i, graph)) continue;
    if ((size_t)i < signature->n_input_arg) {
      add_output(n, i, dtype_of((int64_t)signature->input_arg[i]->type), &unknown);
    } else if (n->defs[i] != NULL) {
      add_outputs_by_op(n, i);
    }
  }
  rheos_graph_unref(graph);
  set_types_of_edges(n);
}

// ---- Source lines

// The innermost line that a trace of the graph tells, else NULL.
static char *line_of_trace(const Tensorflow__GraphDebugInfo *info, const char *name) {
  for (size_t i = 0; info != NULL && i < info->n_traces; i++) {
    const Tensorflow__GraphDebugInfo__StackTrace *trace = info->traces[i]->value;
    if (strcmp(info->traces[i]->key, name) != 0 || trace == NULL) continue;
    if (trace->n_file_line_cols == 0) return NULL;
    const Tensorflow__GraphDebugInfo__FileLineCol *line =
        trace->file_line_cols[trace->n_file_line_cols - 1];
    if (line->file_index < 0 || (size_t)line->file_index >= info->n_files) return NULL;
    return command_format("%s:%d", info->files[line->file_index], (int)line->line);
  }
  return NULL;
}

char *page_nodes_source(const page_nodes *n, int32_t node) {
  if (n->is_function) return NULL;
  const rheos_operation operation = view_operation(n->view, node);
  const char *file = NULL;
  int32_t line = 0;
  if (operation.graph != NULL) rheos_operation_source(operation, &file, &line);
  if (file != NULL) return command_format("%s:%d", file, (int)line);
  return line_of_trace(n->view->def->debug_info, n->names[node]);
}
