// Functions, which are FunctionDefs: their attributes, and the libraries of graphs.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

// ---- FunctionDefs

void TF_DeleteFunction(TF_Function *func) {
  if (func == NULL) return;
  free(func->name);
  free(func->def);
  free(func);
}

const char *TF_FunctionName(TF_Function *func) { return func == NULL ? NULL : func->name; }

// The name is field 1 of the signature, an OpDef, which is field 1.
static char *name_of(const void *bytes, size_t size_bytes) {
  capi_wire signature = {0}, name = {0};
  if (!capi_wire_find(capi_wire_of(bytes, size_bytes), 1, &signature) ||
      !capi_wire_find(signature, 1, &name)) {
    return NULL;
  }
  return strndup((const char *)name.at, capi_wire_size(name));
}

TF_Function *capi_function_of(const void *bytes, size_t size_bytes, TF_Status *status) {
  TF_Function *function = calloc(1, sizeof *function);
  if (function != NULL) {
    function->name = name_of(bytes, size_bytes);
    function->def = malloc(size_bytes + 1);
    function->def_bytes = size_bytes;
  }
  if (function == NULL || function->def == NULL) {
    TF_DeleteFunction(function);
    capi_fail_for_memory(status);
    return NULL;
  }
  if (function->name == NULL) {
    TF_DeleteFunction(function);
    capi_fail(status, TF_INVALID_ARGUMENT, "the FunctionDef has no name");
    return NULL;
  }
  memcpy(function->def, bytes, size_bytes);
  return function;
}

TF_Function *TF_FunctionImportFunctionDef(const void *proto, size_t proto_len, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(proto, "the FunctionDef", status)) return NULL;
  rheos_status *error = rheos_message_check("FunctionDef", proto, proto_len);
  if (error != NULL) {
    rheos_status_free(error);
    capi_fail(status, TF_INVALID_ARGUMENT,
              "Invalid FunctionDef given to TF_FunctionImportFunctionDef");
    return NULL;
  }
  return capi_function_of(proto, proto_len, status);
}

void TF_FunctionToFunctionDef(TF_Function *func, TF_Buffer *output_func_def, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(func, "the function", status)) return;
  capi_buffer_copy(output_func_def, func->def, func->def_bytes, status);
}

// Attributes are field 5, a map.
void TF_FunctionSetAttrValueProto(TF_Function *func, const char *attr_name, const void *proto,
                                  size_t proto_len, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(func, "the function", status) || !capi_need(attr_name, "the name", status) ||
      (proto_len > 0 && !capi_need(proto, "the AttrValue", status))) {
    return;
  }
  rheos_status *error = rheos_message_check("AttrValue", proto, proto_len);
  if (error != NULL) {
    rheos_status_free(error);
    capi_fail(status, TF_INVALID_ARGUMENT,
              "Unparseable AttrValue proto passed to "
              "TF_FunctionSetAttrValueProto");
    return;
  }
  capi_message entry = {0}, def = {0};
  capi_write_text(&entry, 1, attr_name);
  capi_write_bytes(&entry, 2, proto, proto_len);
  capi_write_message(&def, 5, &entry);
  uint8_t *grown = def.failed ? NULL : realloc(func->def, func->def_bytes + def.size);
  if (grown == NULL) {
    capi_fail_for_memory(status);
  } else {
    memcpy(grown + func->def_bytes, def.bytes, def.size);
    func->def = grown;
    func->def_bytes += def.size;
  }
  free(def.bytes);
}

void TF_FunctionGetAttrValueProto(TF_Function *func, const char *attr_name,
                                  TF_Buffer *output_attr_value, TF_Status *status) {
  capi_wire found = {0};
  bool is_found = false;
  capi_succeed(status);
  if (!capi_need(func, "the function", status) || !capi_need(attr_name, "the name", status)) return;
  capi_wire def = capi_wire_of(func->def, func->def_bytes);
  size_t length = strlen(attr_name);
  for (capi_field field; capi_wire_next(&def, &field);) {
    capi_wire key = {0};
    if (field.number != 5 || !capi_wire_find(field.bytes, 1, &key)) continue;
    if (capi_wire_size(key) != length || memcmp(key.at, attr_name, length) != 0) continue;
    found = (capi_wire){0};
    capi_wire_find(field.bytes, 2, &found);
    is_found = true;  // the last one counts
  }
  if (is_found) {
    capi_buffer_copy(output_attr_value, found.at, capi_wire_size(found), status);
  } else {
    capi_fail(status, TF_INVALID_ARGUMENT, "Function '%s' has no attr named '%s'.", func->name,
              attr_name);
  }
}

// ---- Libraries. A GraphDef's field 2 is the library, whose field 1 is a function.

rheos_status *capi_add_function(rheos_scope *scope, const void *bytes, size_t size_bytes) {
  void *there = NULL;
  size_t there_bytes = 0;
  char *name = name_of(bytes, size_bytes);
  if (name == NULL) return rheos_status_new(RHEOS_INVALID_ARGUMENT, "Invalid FunctionDef proto");
  // What is there already may be added once more.
  rheos_status *missing =
      rheos_graph_function_def(rheos_scope_graph(scope), name, &there, &there_bytes);
  bool is_there =
      missing == NULL && there_bytes == size_bytes && memcmp(there, bytes, size_bytes) == 0;
  rheos_status_free(missing);
  rheos_free(there);
  free(name);
  if (is_there) return NULL;
  capi_message library = {0}, graph = {0};
  capi_write_bytes(&library, 1, bytes, size_bytes);
  capi_write_message(&graph, 2, &library);
  rheos_status *error = NULL;
  if (graph.failed) {
    error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  } else {
    rheos_import_graph_def(scope, graph.bytes, graph.size, NULL);
    error = rheos_scope_finish(scope);
  }
  free(graph.bytes);
  return error;
}

void TF_GraphCopyFunction(TF_Graph *g, const TF_Function *func, const TF_Function *grad,
                          TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(g, "the graph", status) || func == NULL) {
    if (g != NULL) {
      capi_fail(status, TF_INVALID_ARGUMENT,
                "'func' argument to TF_GraphCopyFunction cannot be null");
    }
    return;
  }
  pthread_mutex_lock(&g->lock);
  rheos_status *error = capi_add_function(g->scope, func->def, func->def_bytes);
  if (error == NULL && grad != NULL) {
    error = capi_add_function(g->scope, grad->def, grad->def_bytes);
    if (error == NULL) {
      error = rheos_graph_set_function_gradient(g->graph, func->name, grad->name);
    }
  }
  pthread_mutex_unlock(&g->lock);
  capi_take(status, error);
}

int TF_GraphNumFunctions(TF_Graph *g) {
  if (g == NULL) return 0;
  pthread_mutex_lock(&g->lock);
  size_t count = rheos_graph_num_functions(g->graph);
  pthread_mutex_unlock(&g->lock);
  return (int)count;
}

int TF_GraphGetFunctions(TF_Graph *g, TF_Function **funcs, int max_func, TF_Status *status) {
  int count = 0;
  capi_succeed(status);
  if (!capi_need(g, "the graph", status)) return 0;
  if (max_func <= 0 || !capi_need(funcs, "the list of functions", status)) return 0;
  pthread_mutex_lock(&g->lock);
  for (const char *name;
       count < max_func && (name = rheos_graph_function_name(g->graph, (size_t)count)) != NULL;) {
    void *bytes = NULL;
    size_t size = 0;
    funcs[count] = NULL;
    if (capi_take(status, rheos_graph_function_def(g->graph, name, &bytes, &size))) {
      funcs[count] = capi_function_of(bytes, size, status);
    }
    rheos_free(bytes);
    if (funcs[count] == NULL) break;
    count++;
  }
  pthread_mutex_unlock(&g->lock);
  return count;
}

void TF_GraphRemoveFunction(TF_Graph *g, const char *func_name, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(g, "the graph", status) || !capi_need(func_name, "the name", status)) return;
  pthread_mutex_lock(&g->lock);
  rheos_status *error = rheos_graph_remove_function(g->graph, func_name);
  pthread_mutex_unlock(&g->lock);
  if (rheos_status_code(error) == RHEOS_NOT_FOUND) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Tried to remove non-existent function '%s'.",
              func_name);
    rheos_status_free(error);
  } else {
    capi_take(status, error);
  }
}
