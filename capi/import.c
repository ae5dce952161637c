// Importing GraphDefs.
#include "handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct TF_ImportGraphDefOptions {
  capi_pool pool;
  const char *prefix, *default_device;
  bool uniquify_names, uniquify_prefix, any_colocation;
  rheos_import_mapping *mappings;  // `from` as files write it: "x:1", "^x"
  TF_Operation **mapped;           // whose outputs they are
  size_t num_mappings;
  rheos_operation *control_inputs;
  size_t num_control_inputs;
  rheos_import_element *outputs, *operations;
  size_t num_outputs, num_operations;
  bool failed;  // memory was short
};

struct TF_ImportGraphDefResults {
  capi_pool pool;
  TF_Output *outputs;
  int num_outputs;
  TF_Operation **operations;
  int num_operations;
  const char **missing_names;
  int *missing_indexes;
  int num_missing;
};

TF_ImportGraphDefOptions *TF_NewImportGraphDefOptions(void) {
  return calloc(1, sizeof(TF_ImportGraphDefOptions));
}

void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions *opts) {
  if (opts == NULL) return;
  free(opts->mappings);
  free(opts->mapped);
  free(opts->control_inputs);
  free(opts->outputs);
  free(opts->operations);
  capi_pool_free(&opts->pool);
  free(opts);
}

static const char *keep(TF_ImportGraphDefOptions *opts, const char *text) {
  const char *copy = capi_pool_text(&opts->pool, text, strlen(text));
  opts->failed |= copy == NULL;
  return copy;
}

void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions *opts, const char *prefix) {
  if (opts != NULL) opts->prefix = prefix == NULL ? NULL : keep(opts, prefix);
}

void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions *opts, const char *device) {
  if (opts != NULL) opts->default_device = device == NULL ? NULL : keep(opts, device);
}

void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions *opts,
                                              unsigned char uniquify_names) {
  if (opts != NULL) opts->uniquify_names = uniquify_names != 0;
}

void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions *opts,
                                               unsigned char uniquify_prefix) {
  if (opts != NULL) opts->uniquify_prefix = uniquify_prefix != 0;
}

void TF_ImportGraphDefOptionsSetValidateColocationConstraints(TF_ImportGraphDefOptions *opts,
                                                              unsigned char enable) {
  if (opts != NULL) opts->any_colocation = enable == 0;
}

static void add_mapping(TF_ImportGraphDefOptions *opts, const char *from, TF_Operation *to,
                        int index) {
  if (from == NULL || !capi_grow(&opts->mappings, opts->num_mappings, sizeof *opts->mappings) ||
      !capi_grow(&opts->mapped, opts->num_mappings, sizeof(TF_Operation *))) {
    opts->failed = true;
    return;
  }
  rheos_output output = rheos_operation_output(capi_operation_of(to), index);
  opts->mapped[opts->num_mappings] = to;
  opts->mappings[opts->num_mappings++] = (rheos_import_mapping){.from = from, .to = output};
}

// "name:index" or "^name" in the options' memory.
static const char *file_name_of(TF_ImportGraphDefOptions *opts, const char *name, int index) {
  size_t size = strlen(name) + 16;
  char *text = capi_pool_get(&opts->pool, size);
  if (text == NULL) return NULL;
  if (index < 0) {
    snprintf(text, size, "^%s", name);
  } else {
    snprintf(text, size, "%s:%d", name, index);
  }
  return text;
}

void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions *opts, const char *src_name,
                                             int src_index, TF_Output dst) {
  if (opts == NULL || src_name == NULL) return;
  const char *from = file_name_of(opts, src_name, src_index);
  add_mapping(opts, from, dst.oper, src_index < 0 ? 0 : dst.index);
}

void TF_ImportGraphDefOptionsRemapControlDependency(TF_ImportGraphDefOptions *opts,
                                                    const char *src_name, TF_Operation *dst) {
  if (opts == NULL || src_name == NULL) return;
  add_mapping(opts, file_name_of(opts, src_name, -1), dst, 0);
}

void TF_ImportGraphDefOptionsAddControlDependency(TF_ImportGraphDefOptions *opts,
                                                  TF_Operation *oper) {
  if (opts == NULL || oper == NULL) return;
  if (!capi_grow(&opts->control_inputs, opts->num_control_inputs, sizeof *opts->control_inputs)) {
    opts->failed = true;
    return;
  }
  opts->control_inputs[opts->num_control_inputs++] = capi_operation_of(oper);
}

void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions *opts, const char *oper_name,
                                             int index) {
  if (opts == NULL || oper_name == NULL) return;
  const char *name = file_name_of(opts, oper_name, index < 0 ? 0 : index);
  if (name == NULL || !capi_grow(&opts->outputs, opts->num_outputs, sizeof *opts->outputs)) {
    opts->failed = true;
    return;
  }
  opts->outputs[opts->num_outputs++] = (rheos_import_element){.name = name};
}

int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions *opts) {
  return opts == NULL ? 0 : (int)opts->num_outputs;
}

void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions *opts,
                                                const char *oper_name) {
  if (opts == NULL || oper_name == NULL) return;
  const char *name = keep(opts, oper_name);
  if (name == NULL ||
      !capi_grow(&opts->operations, opts->num_operations, sizeof *opts->operations)) {
    opts->failed = true;
    return;
  }
  opts->operations[opts->num_operations++] = (rheos_import_element){.name = name};
}

int TF_ImportGraphDefOptionsNumReturnOperations(const TF_ImportGraphDefOptions *opts) {
  return opts == NULL ? 0 : (int)opts->num_operations;
}

// ---- Results

void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults *results, int *num_outputs,
                                           TF_Output **outputs) {
  if (num_outputs != NULL) *num_outputs = results == NULL ? 0 : results->num_outputs;
  if (outputs != NULL) *outputs = results == NULL ? NULL : results->outputs;
}

void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults *results, int *num_opers,
                                              TF_Operation ***opers) {
  if (num_opers != NULL) *num_opers = results == NULL ? 0 : results->num_operations;
  if (opers != NULL) *opers = results == NULL ? NULL : results->operations;
}

void TF_ImportGraphDefResultsMissingUnusedInputMappings(TF_ImportGraphDefResults *results,
                                                        int *num_missing_unused_input_mappings,
                                                        const char ***src_names,
                                                        int **src_indexes) {
  if (num_missing_unused_input_mappings != NULL) {
    *num_missing_unused_input_mappings = results == NULL ? 0 : results->num_missing;
  }
  if (src_names != NULL) *src_names = results == NULL ? NULL : results->missing_names;
  if (src_indexes != NULL) *src_indexes = results == NULL ? NULL : results->missing_indexes;
}

void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults *results) {
  if (results == NULL) return;
  capi_pool_free(&results->pool);
  free(results);
}

// ---- The import

// What an import asks for, in memory of its own: options may serve several imports at once.
typedef struct request {
  rheos_import_mapping *mappings;
  rheos_import_element *elements;  // outputs, then operations
} request;

// The prefix, or "prefix_1" and so on if it is in use; NULL: none, or memory was short.
static const char *make_prefix(TF_Graph *graph, const TF_ImportGraphDefOptions *opts,
                               capi_pool *pool) {
  if (opts->prefix == NULL || opts->prefix[0] == '\0') return NULL;
  if (!opts->uniquify_prefix || !capi_prefix_is_in_use(graph, opts->prefix)) return opts->prefix;
  size_t size = strlen(opts->prefix) + 16;
  char *made = capi_pool_get(pool, size);
  for (int i = 1; made != NULL; i++) {
    snprintf(made, size, "%s_%d", opts->prefix, i);
    if (!capi_prefix_is_in_use(graph, made)) break;
  }
  return made;
}

// The device of the operations from number `first` on that ask for none.
static void set_devices(TF_Graph *graph, int32_t first, const char *device) {
  int32_t count = rheos_graph_num_operations(graph->graph);
  for (int32_t id = first; id < count; id++) {
    TF_Operation *oper = capi_operation(graph, (rheos_operation){.graph = graph->graph, .id = id});
    if (oper != NULL && TF_OperationDevice(oper)[0] == '\0') {
      capi_operation_set_device(oper, device);
    }
  }
}

static rheos_status *import(TF_Graph *graph, const TF_Buffer *graph_def,
                            const TF_ImportGraphDefOptions *opts, capi_pool *pool,
                            request *out_request) {
  static const TF_ImportGraphDefOptions none;
  if (opts == NULL) opts = &none;
  if (opts->failed) return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  for (size_t i = 0; i < opts->num_mappings; i++) {
    if (opts->mapped[i] == NULL || opts->mapped[i]->graph != graph) {
      return rheos_status_new(RHEOS_INVALID_ARGUMENT,
                              "input '%s' is mapped to no operation of the graph",
                              opts->mappings[i].from);
    }
  }
  size_t num_elements = opts->num_outputs + opts->num_operations;
  request r = {
      .mappings = capi_pool_copy(pool, opts->mappings, opts->num_mappings * sizeof *opts->mappings),
      .elements = capi_pool_get(pool, num_elements * sizeof *opts->outputs),
  };
  if (r.mappings == NULL || r.elements == NULL) {
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  }
  for (size_t i = 0; i < opts->num_outputs; i++) r.elements[i] = opts->outputs[i];
  for (size_t i = 0; i < opts->num_operations; i++) {
    r.elements[opts->num_outputs + i] = opts->operations[i];
  }
  const char *prefix = make_prefix(graph, opts, pool);
  if (prefix == NULL && opts->prefix != NULL && opts->prefix[0] != '\0') {
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  }
  rheos_import_options options = {
      .prefix = prefix,
      .input_map = r.mappings,
      .num_mappings = opts->num_mappings,
      .any_colocation = opts->any_colocation,
      .uniquify_names = opts->uniquify_names,
      .elements = r.elements,
      .num_elements = num_elements,
  };
  int32_t first = rheos_graph_num_operations(graph->graph);
  rheos_push_control_dependencies(graph->scope, opts->control_inputs, opts->num_control_inputs);
  rheos_import_graph_def(graph->scope, graph_def->data, graph_def->length, &options);
  rheos_status *status = rheos_scope_finish(graph->scope);
  rheos_scope_pop(graph->scope);
  if (status == NULL && opts->default_device != NULL) {
    set_devices(graph, first, opts->default_device);
  }
  *out_request = r;
  if (rheos_status_code(status) != RHEOS_DATA_LOSS) return status;
  rheos_status *told = rheos_status_new(RHEOS_INVALID_ARGUMENT, "Invalid GraphDef: %s",
                                        rheos_status_message(status));
  rheos_status_free(status);
  return told;
}

// Mappings that nothing in the GraphDef has, by name and index.
static bool list_missing(TF_ImportGraphDefResults *results, const TF_ImportGraphDefOptions *opts,
                         const request *made) {
  size_t count = opts->num_mappings;
  results->missing_names = capi_pool_get(&results->pool, count * sizeof(char *));
  results->missing_indexes = capi_pool_get(&results->pool, count * sizeof(int));
  if (results->missing_names == NULL || results->missing_indexes == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    const rheos_import_mapping *mapping = &made->mappings[i];
    if (mapping->was_used || mapping->was_found) continue;
    bool is_control = mapping->from[0] == '^';
    const char *name = mapping->from + is_control;
    const char *colon = is_control ? NULL : strrchr(name, ':');
    size_t length = colon == NULL ? strlen(name) : (size_t)(colon - name);
    char *copy = capi_pool_text(&results->pool, name, length);
    if (copy == NULL) return false;
    results->missing_names[results->num_missing] = copy;
    results->missing_indexes[results->num_missing++] = colon == NULL ? -1 : atoi(colon + 1);
  }
  return true;
}

static bool fill_results(TF_Graph *graph, const TF_ImportGraphDefOptions *opts, const request *made,
                         TF_ImportGraphDefResults *results) {
  if (opts == NULL) return true;
  results->outputs = capi_pool_get(&results->pool, opts->num_outputs * sizeof(TF_Output));
  results->operations =
      capi_pool_get(&results->pool, opts->num_operations * sizeof(TF_Operation *));
  if (results->outputs == NULL || results->operations == NULL) return false;
  for (size_t i = 0; i < opts->num_outputs; i++) {
    const rheos_import_element *element = &made->elements[i];
    results->outputs[i] =
        (TF_Output){.oper = capi_operation(graph, element->operation), .index = element->index};
  }
  for (size_t i = 0; i < opts->num_operations; i++) {
    results->operations[i] = capi_operation(graph, made->elements[opts->num_outputs + i].operation);
  }
  results->num_outputs = (int)opts->num_outputs;
  results->num_operations = (int)opts->num_operations;
  return list_missing(results, opts, made);
}

TF_ImportGraphDefResults *TF_GraphImportGraphDefWithResults(TF_Graph *graph,
                                                            const TF_Buffer *graph_def,
                                                            const TF_ImportGraphDefOptions *options,
                                                            TF_Status *status) {
  request made = {0};
  capi_succeed(status);
  if (!capi_need(graph, "the graph", status) || !capi_need(graph_def, "the GraphDef", status)) {
    return NULL;
  }
  TF_ImportGraphDefResults *results = calloc(1, sizeof *results);
  if (results == NULL) {
    capi_fail_for_memory(status);
    return NULL;
  }
  pthread_mutex_lock(&graph->lock);
  rheos_status *error = import(graph, graph_def, options, &results->pool, &made);
  if (error == NULL && !fill_results(graph, options, &made, results)) {
    error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  }
  pthread_mutex_unlock(&graph->lock);
  if (capi_take(status, error)) return results;
  TF_DeleteImportGraphDefResults(results);
  return NULL;
}

TF_ImportGraphDefResults *TF_GraphImportGraphDefWithResultsNoSerialization(
    TF_Graph *graph, const TF_Buffer *graph_def, const TF_ImportGraphDefOptions *options,
    TF_Status *status) {
  (void)graph;
  (void)graph_def;
  (void)options;
  capi_fail(status, TF_UNIMPLEMENTED, "the buffer would hold an object of C++");
  return NULL;
}

void TF_GraphImportGraphDefWithReturnOutputs(TF_Graph *graph, const TF_Buffer *graph_def,
                                             const TF_ImportGraphDefOptions *options,
                                             TF_Output *return_outputs, int num_return_outputs,
                                             TF_Status *status) {
  if (num_return_outputs != TF_ImportGraphDefOptionsNumReturnOutputs(options)) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Expected 'num_return_outputs' to be %d, got %d",
              TF_ImportGraphDefOptionsNumReturnOutputs(options), num_return_outputs);
    return;
  }
  if (num_return_outputs > 0 && !capi_need(return_outputs, "return_outputs", status)) return;
  TF_ImportGraphDefResults *results =
      TF_GraphImportGraphDefWithResults(graph, graph_def, options, status);
  if (results != NULL && num_return_outputs > 0) {
    memcpy(return_outputs, results->outputs, (size_t)num_return_outputs * sizeof *return_outputs);
  }
  TF_DeleteImportGraphDefResults(results);
}

void TF_GraphImportGraphDef(TF_Graph *graph, const TF_Buffer *graph_def,
                            const TF_ImportGraphDefOptions *options, TF_Status *status) {
  TF_DeleteImportGraphDefResults(
      TF_GraphImportGraphDefWithResults(graph, graph_def, options, status));
}
