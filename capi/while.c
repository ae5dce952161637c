// Loops: condition and body are built as graphs of their own, which then are copied into the loop.
#include "handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The placeholder that stands for a variable of the loop.
static bool add_placeholder(TF_Graph *graph, const char *prefix, int index, TF_Output variable,
                            TF_Output *out_output, TF_Status *status) {
  char name[40];
  snprintf(name, sizeof name, "%s%d", prefix, index);
  rheos_shape shape = rheos_output_shape(capi_output_of(variable));
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", name);
  TF_SetAttrType(desc, "dtype", TF_OperationOutputType(variable));
  TF_SetAttrShape(desc, "shape", shape.dims, shape.rank);
  *out_output = (TF_Output){.oper = TF_FinishOperation(desc, status), .index = 0};
  return out_output->oper != NULL;
}

static void free_loop(const TF_WhileParams *params) {
  TF_DeleteGraph(params->cond_graph);
  TF_DeleteGraph(params->body_graph);
  free((TF_Output *)(uintptr_t)params->cond_inputs);  // one block for all
}

TF_WhileParams TF_NewWhile(TF_Graph *g, TF_Output *inputs, int ninputs, TF_Status *status) {
  TF_WhileParams none = {.cond_output = {.index = -1}};
  rheos_output checked;
  capi_succeed(status);
  if (!capi_need(g, "the graph", status)) return none;
  if (ninputs <= 0) {
    capi_fail(status, TF_INVALID_ARGUMENT, "TF_NewWhile() must be passed at least one input");
    return none;
  }
  if (!capi_need(inputs, "the list of inputs", status)) return none;
  for (int i = 0; i < ninputs; i++) {
    if (!capi_output_get(g, inputs[i], &checked, status)) return none;
  }
  // Inputs of the condition, of the body, outputs of the body; then what they stand for.
  size_t count = (size_t)ninputs;
  TF_Output *all = calloc(4 * count, sizeof *all);
  TF_Graph *cond = TF_NewGraph(), *body = TF_NewGraph();
  TF_WhileParams params = {
      .ninputs = ninputs,
      .cond_graph = cond,
      .cond_inputs = all,
      .cond_output = {.oper = NULL, .index = -1},
      .body_graph = body,
      .body_inputs = all == NULL ? NULL : all + count,
      .body_outputs = all == NULL ? NULL : all + 2 * count,
      .name = NULL,
  };
  bool is_whole = all != NULL && cond != NULL && body != NULL;
  if (!is_whole) capi_fail_for_memory(status);
  for (int i = 0; is_whole && i < ninputs; i++) {
    is_whole = add_placeholder(cond, "cond_input", i, inputs[i], &all[i], status) &&
               add_placeholder(body, "body_input", i, inputs[i], &all[count + (size_t)i], status);
    all[2 * count + (size_t)i].index = -1;
    all[3 * count + (size_t)i] = inputs[i];
  }
  if (!is_whole) {
    free_loop(&params);
    return none;
  }
  return params;
}

void TF_AbortWhile(const TF_WhileParams *params) {
  if (params != NULL && params->cond_inputs != NULL) free_loop(params);
}

// ---- Copying a graph into the loop

// What building the loop knows.
typedef struct building {
  const TF_WhileParams *params;
} building;

// The bytes of a GraphDef without its placeholders for variables: the first ones.
static rheos_status *graph_without_inputs(TF_Graph *graph, int num_inputs, capi_message *out_def) {
  void *bytes = NULL;
  size_t size = 0;
  rheos_status *error = rheos_graph_to_graph_def(graph->graph, &bytes, &size);
  capi_wire wire = capi_wire_of(bytes, error == NULL ? size : 0);
  int skipped = 0;
  for (capi_field field; capi_wire_next(&wire, &field);) {
    if (field.type != 2) continue;
    if (field.number == 1 && skipped++ < num_inputs) continue;
    capi_write_bytes(out_def, field.number, field.bytes.at, capi_wire_size(field.bytes));
  }
  rheos_free(bytes);
  if (error == NULL && out_def->failed) {
    error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  }
  return error;
}

static int input_index(const TF_Output *inputs, int count, TF_Output output) {
  for (int i = 0; i < count; i++) {
    if (inputs[i].oper == output.oper) return i;
  }
  return -1;
}

// Adds the graph, with `variables` in the place of its inputs, and gives its outputs.
static void copy_graph(building *b, rheos_scope *scope, TF_Graph *graph, const char *part,
                       const TF_Output *inputs, const TF_Output *outputs, int num_outputs,
                       const rheos_output *variables, rheos_output *out_outputs) {
  int count = b->params->ninputs;
  size_t scope_length = rheos_scope_name(scope, NULL, 0);
  capi_pool pool = {0};
  capi_message def = {0};
  char *prefix = capi_pool_get(&pool, scope_length + strlen(part) + 2);
  rheos_import_mapping *map = capi_pool_get(&pool, (size_t)count * sizeof *map);
  rheos_import_element *elements = capi_pool_get(&pool, (size_t)num_outputs * sizeof *elements);
  rheos_status *error = NULL;
  if (prefix == NULL || map == NULL || elements == NULL) {
    error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  } else {
    rheos_scope_name(scope, prefix, scope_length + 1);
    strcat(strcat(prefix, scope_length > 0 ? "/" : ""), part);
    error = graph_without_inputs(graph, count, &def);
  }
  for (int i = 0; error == NULL && i < count; i++) {
    char *from = capi_pool_get(&pool, strlen(inputs[i].oper->name) + 3);
    if (from == NULL) {
      error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
    } else {
      map[i].from = strcat(strcpy(from, inputs[i].oper->name), ":0");
      map[i].to = variables[i];
    }
  }
  size_t num_elements = 0;
  for (int i = 0; error == NULL && i < num_outputs; i++) {
    if (input_index(inputs, count, outputs[i]) >= 0) continue;
    size_t size = strlen(outputs[i].oper->name) + 16;
    char *name = capi_pool_get(&pool, size);
    if (name == NULL) {
      error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
    } else {
      snprintf(name, size, "%s:%d", outputs[i].oper->name, outputs[i].index);
      elements[num_elements++].name = name;
    }
  }
  if (error != NULL) {
    rheos_scope_fail_take(scope, error);
  } else {
    rheos_import_graph_def(scope, def.bytes, def.size,
                           &(rheos_import_options){.prefix = prefix,
                                                   .input_map = map,
                                                   .num_mappings = (size_t)count,
                                                   .uniquify_names = true,
                                                   .elements = elements,
                                                   .num_elements = num_elements});
  }
  num_elements = 0;
  for (int i = 0; rheos_scope_status(scope) == NULL && i < num_outputs; i++) {
    int index = input_index(inputs, count, outputs[i]);
    if (index >= 0) {
      out_outputs[i] = variables[index];
    } else {
      const rheos_import_element *element = &elements[num_elements++];
      out_outputs[i] = rheos_operation_output(element->operation, element->index);
    }
  }
  free(def.bytes);
  capi_pool_free(&pool);
}

static rheos_output build_condition(rheos_scope *scope, void *argument,
                                    const rheos_output *variables, size_t num_variables) {
  building *b = argument;
  rheos_output output = {0};
  (void)num_variables;
  copy_graph(b, scope, b->params->cond_graph, "cond", b->params->cond_inputs,
             &b->params->cond_output, 1, variables, &output);
  return output;
}

static void build_body(rheos_scope *scope, void *argument, const rheos_output *variables,
                       rheos_output *next, size_t num_variables) {
  building *b = argument;
  copy_graph(b, scope, b->params->body_graph, "body", b->params->body_inputs,
             b->params->body_outputs, (int)num_variables, variables, next);
}

// A result of a graph of the loop, which has to be of that graph.
static bool check_result(TF_Graph *graph, TF_Output output, TF_Status *status) {
  if (output.oper->graph != graph) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Requested return tensor '%s:%d' not found in graph def",
              output.oper->name, output.index);
    return false;
  }
  int count = TF_OperationNumOutputs(output.oper);
  if (output.index >= 0 && output.index < count) return true;
  capi_fail(status, TF_INVALID_ARGUMENT,
            "Invalid return output %d of node '%s', which has %d output(s)", output.index,
            output.oper->name, count);
  return false;
}

static bool is_condition(TF_Output output, TF_Status *status) {
  TF_DataType dtype = TF_OperationOutputType(output);
  if (dtype == TF_BOOL) return true;
  capi_fail(status, TF_INVALID_ARGUMENT,
            "BuildWhileLoop: 'cond' argument must return a boolean output, got %s",
            rheos_dtype_name((rheos_dtype)dtype));
  return false;
}

static bool is_complete(const TF_WhileParams *params, TF_Status *status) {
  if (params->cond_output.oper == NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "TF_WhileParams `cond_output` field isn't set");
    return false;
  }
  for (int i = 0; i < params->ninputs; i++) {
    if (params->body_outputs[i].oper == NULL) {
      capi_fail(status, TF_INVALID_ARGUMENT, "TF_WhileParams `body_outputs[%d]` field isn't set",
                i);
      return false;
    }
    if (!check_result(params->body_graph, params->body_outputs[i], status)) return false;
  }
  if (params->name == NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "TF_WhileParams `name` field is null");
    return false;
  }
  return check_result(params->cond_graph, params->cond_output, status) &&
         is_condition(params->cond_output, status);
}

static void add_loop(const TF_WhileParams *params, TF_Status *status, TF_Output *outputs) {
  int count = params->ninputs;
  const TF_Output *inputs = params->cond_inputs + 3 * count;
  TF_Graph *graph = inputs[0].oper->graph;
  rheos_output *variables = calloc(2 * (size_t)count, sizeof *variables);
  if (variables == NULL) {
    capi_fail_for_memory(status);
    return;
  }
  rheos_output *made = variables + count;
  for (int i = 0; i < count; i++) variables[i] = capi_output_of(inputs[i]);
  building b = {.params = params};
  pthread_mutex_lock(&graph->lock);
  rheos_while_loop(graph->scope, build_condition, build_body, &b, variables, (size_t)count,
                   &(rheos_while_options){.name = params->name}, made);
  if (capi_take(status, rheos_scope_finish(graph->scope))) {
    for (int i = 0; i < count; i++) outputs[i] = capi_output(graph, made[i]);
  }
  pthread_mutex_unlock(&graph->lock);
  free(variables);
}

void TF_FinishWhile(const TF_WhileParams *params, TF_Status *status, TF_Output *outputs) {
  capi_succeed(status);
  if (!capi_need(params, "the loop", status)) return;
  if (!capi_need(params->cond_inputs, "the loop's inputs", status)) return;
  if (is_complete(params, status) && capi_need(outputs, "the list of outputs", status)) {
    add_loop(params, status, outputs);
  }
  free_loop(params);
}
