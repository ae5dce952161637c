// Functions made of a graph: its nodes as a FunctionDef has them, with inputs by the names of what
// gives them.
#include "handles.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
  const TF_Graph *graph;
  const char *name;
  capi_pool pool;
  const TF_Output *inputs;
  const char **input_names;
  int num_inputs;
  const TF_Operation **body;
  const char **body_names;  // what they are called in the function
  size_t num_body;
  const char **names;  // that are taken, by arguments, results, nodes
  size_t num_names;
  rheos_status *error;
} builder;

static void fail_for_memory(builder *b) {
  if (b->error == NULL) b->error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
}

static bool is_taken(const builder *b, const char *name) {
  for (size_t i = 0; i < b->num_names; i++) {
    if (strcmp(b->names[i], name) == 0) return true;
  }
  return false;
}

static const char *take_name(builder *b, const char *name) {
  if (!capi_grow(&b->names, b->num_names, sizeof(char *))) {
    fail_for_memory(b);
    return "";
  }
  b->names[b->num_names++] = name;
  return name;
}

// Makes a name of `length` bytes, with room behind it for a number, one that no other has.
static const char *make_unique(builder *b, char *name, size_t length) {
  for (int i = 0; is_taken(b, name); i++) sprintf(name + length, "_%d", i);
  return take_name(b, name);
}

static char *new_name(builder *b, size_t length) {
  char *name = capi_pool_get(&b->pool, length + 20);
  if (name == NULL) fail_for_memory(b);
  return name;
}

// What an operation's name becomes as the name of an argument: small letters, digits and "_", which
// begins with a letter, and which no other has.
static const char *argument_name(builder *b, const char *operation) {
  char *name = new_name(b, strlen(operation) + sizeof "unknown");
  if (name == NULL) return "";
  size_t at = 0;
  for (const char *c = operation; *c != '\0'; c++) {
    if (at == 0 && !isalpha((unsigned char)*c)) continue;
    name[at++] = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
  }
  if (at == 0) at = (size_t)(stpcpy(name, "unknown") - name);
  return make_unique(b, name, at);
}

// Nodes keep their names, unless an argument or a result has it.
static void name_nodes(builder *b) {
  for (size_t i = 0; i < b->num_body; i++) {
    size_t length = strlen(b->body[i]->name);
    char *name = new_name(b, length);
    if (name == NULL) return;
    b->body_names[i] = make_unique(b, strcpy(name, b->body[i]->name), length);
  }
}

// What a node is called in the function; NULL if it is not in the body.
static const char *node_name(const builder *b, rheos_operation operation) {
  for (size_t i = 0; i < b->num_body; i++) {
    if (b->body[i]->id == operation.id) return b->body_names[i];
  }
  return NULL;
}

static const char *input_name(const builder *b, rheos_output output) {
  for (int i = 0; i < b->num_inputs; i++) {
    if (b->inputs[i].oper->id == output.id && b->inputs[i].index == output.index) {
      return b->input_names[i];
    }
  }
  return NULL;
}

static int argument_length(rheos_operation operation, rheos_op_argument argument) {
  const char *name = argument.number_attr != NULL ? argument.number_attr : argument.type_list_attr;
  if (name == NULL) return 1;
  rheos_attr_value value = rheos_operation_attr(operation, name);
  return value.kind == RHEOS_ATTR_INT ? (int)value.i : value.count;
}

// "node:argument:index", as nodes of functions name outputs.
static const char *output_name(builder *b, const char *node, rheos_output output) {
  rheos_operation operation = rheos_output_operation(output);
  const rheos_op_def *op = rheos_operation_op_def(operation);
  int index = output.index;
  rheos_op_argument argument = {.name = "output"};
  for (int i = 0; i < rheos_op_def_num_outputs(op); i++) {
    argument = rheos_op_def_output(op, i);
    int length = argument_length(operation, argument);
    if (index < length) break;
    index -= length;
  }
  size_t size = strlen(node) + strlen(argument.name) + 20;
  char *name = capi_pool_get(&b->pool, size);
  if (name == NULL) {
    fail_for_memory(b);
    return "";
  }
  snprintf(name, size, "%s:%s:%d", node, argument.name, index);
  return name;
}

// What a node of the body writes for an input; fails if nothing in the function gives it.
static const char *reference(builder *b, rheos_output output, rheos_operation by, int index) {
  const char *name = input_name(b, output);
  if (name != NULL) return name;
  const char *node = node_name(b, rheos_output_operation(output));
  if (node != NULL) return output_name(b, node, output);
  char from[256], to[256];
  rheos_operation_name(rheos_output_operation(output), from, sizeof from);
  rheos_operation_name(by, to, sizeof to);
  if (b->error == NULL) {
    b->error = rheos_status_new(
        RHEOS_INVALID_ARGUMENT,
        "Input %d, '%s:%d', of node '%s' in function '%s' is not available. You might need to "
        "include it in inputs or include its source node in the body",
        index, from, output.index, to, b->name);
  }
  return "";
}

// The number that TensorFlow gives an edge, which its message names: edges count as they are added,
// one before all others, an operation's inputs before its control inputs.
static int edge_id(rheos_operation to, int control_input) {
  int count = 1;
  for (rheos_operation at = {.graph = to.graph}; at.id < to.id; at.id++) {
    count += rheos_operation_num_inputs(at) + rheos_operation_num_control_inputs(at);
  }
  return count + rheos_operation_num_inputs(to) + control_input;
}

// What a node of the body writes for a control input: a node, or the argument that its place takes.
static const char *control_name(const builder *b, rheos_operation from) {
  const char *name = node_name(b, from);
  for (int i = 0; name == NULL && i < b->num_inputs; i++) {
    if (b->inputs[i].oper->id == from.id) name = b->input_names[i];
  }
  return name;
}

static void write_control_inputs(builder *b, rheos_operation operation, capi_message *node) {
  for (int i = 0; b->error == NULL && i < rheos_operation_num_control_inputs(operation); i++) {
    rheos_operation from = rheos_operation_control_input(operation, i);
    const char *name = control_name(b, from);
    char *text = name == NULL ? NULL : capi_pool_get(&b->pool, strlen(name) + 2);
    if (text != NULL) {
      capi_write_text(node, 3, strcat(strcpy(text, "^"), name));
    } else if (name != NULL) {
      fail_for_memory(b);
    } else {
      char to[256], source[256];
      rheos_operation_name(from, source, sizeof source);
      rheos_operation_name(operation, to, sizeof to);
      b->error = rheos_status_new(
          RHEOS_INVALID_ARGUMENT,
          "The source of control edge [id=%d %s:-1 -> %s:-1] is not in the body. Encountered while "
          "creating function '%s'",
          edge_id(operation, i), source, to, b->name);
    }
  }
}

// A NodeDef whose field 3, the inputs, are those of a function.
static void write_node(builder *b, size_t place, capi_message *def) {
  void *bytes = NULL;
  size_t size = 0;
  capi_message node = {0};
  rheos_operation operation = capi_operation_of(b->body[place]);
  if (b->error != NULL) return;
  b->error = rheos_operation_to_node_def(operation, &bytes, &size);
  capi_wire wire = capi_wire_of(bytes, b->error == NULL ? size : 0);
  capi_write_text(&node, 1, b->body_names[place]);
  for (capi_field field; capi_wire_next(&wire, &field);) {
    if (field.type == 2 && field.number != 1 && field.number != 3) {
      capi_write_bytes(&node, field.number, field.bytes.at, capi_wire_size(field.bytes));
    }
  }
  for (int i = 0; b->error == NULL && i < rheos_operation_num_inputs(operation); i++) {
    rheos_output input = rheos_operation_input(operation, i);
    capi_write_text(&node, 3, reference(b, input, operation, i));
  }
  write_control_inputs(b, operation, &node);
  capi_write_message(def, 3, &node);
  rheos_free(bytes);
}

// An ArgDef: field 1 is the name, field 3 the type.
static void write_argument(capi_message *signature, int field, const char *name,
                           rheos_dtype dtype) {
  capi_message argument = {0};
  capi_write_text(&argument, 1, name);
  capi_write_number(&argument, 3, (uint64_t)rheos_dtype_base(dtype));
  capi_write_message(signature, field, &argument);
}

static void write_pair(capi_message *def, int field, const char *key, const char *value) {
  capi_message entry = {0};
  capi_write_text(&entry, 1, key);
  capi_write_text(&entry, 2, value);
  capi_write_message(def, field, &entry);
}

// FNV's hash of the function's bytes: as long as TensorFlow's, of other bytes.
static uint64_t hash_of(const void *bytes, size_t size_bytes) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < size_bytes; i++) {
    hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
  }
  return hash;
}

// What a function is to be made of, as the call has it.
typedef struct wanted {
  const TF_Output *outputs;
  const char *const *output_names;
  int num_outputs;
  const TF_Operation *const *control_outputs;
  const char *const *control_names;
  int num_control_outputs;
  const char *description;
  bool has_hash;
} wanted;

static const char *result_name(builder *b, const wanted *w, int index) {
  if (w->output_names == NULL) return argument_name(b, w->outputs[index].oper->name);
  const char *name = w->output_names[index];
  if (name == NULL || is_taken(b, name)) {
    if (b->error == NULL) {
      b->error = rheos_status_new(RHEOS_INVALID_ARGUMENT,
                                  "Cannot have duplicate output names. Name '%s' appears more than "
                                  "once in 'output_names' array.",
                                  name == NULL ? "(NULL)" : name);
    }
    return "";
  }
  return take_name(b, name);
}

static bool is_stateful(const builder *b) {
  for (size_t i = 0; i < b->num_body; i++) {
    if (rheos_op_def_is_stateful(rheos_operation_op_def(capi_operation_of(b->body[i])))) {
      return true;
    }
  }
  return false;
}

// The attributes of inputs whose names begin with "_" are the arguments': FunctionDef's field 7, a
// map of places, whose value's field 1 is a map of attributes.
static void write_argument_attrs(builder *b, capi_message *body) {
  for (int i = 0; b->error == NULL && i < b->num_inputs; i++) {
    void *bytes = NULL;
    size_t size = 0;
    capi_message attrs = {0}, entry = {0};
    b->error = rheos_operation_to_node_def(capi_operation_of(b->inputs[i].oper), &bytes, &size);
    capi_wire node = capi_wire_of(bytes, b->error == NULL ? size : 0);
    for (capi_field field; capi_wire_next(&node, &field);) {
      capi_wire key = {0};
      if (field.number != 5 || !capi_wire_find(field.bytes, 1, &key)) continue;
      if (capi_wire_size(key) == 0 || key.at[0] != '_') continue;
      capi_write_bytes(&attrs, 1, field.bytes.at, capi_wire_size(field.bytes));
    }
    rheos_free(bytes);
    if (attrs.size > 0) {
      capi_write_number(&entry, 1, (uint64_t)i);
      capi_write_message(&entry, 2, &attrs);
      capi_write_message(body, 7, &entry);
    } else {
      body->failed |= attrs.failed;
    }
    free(attrs.bytes);
  }
}

// What control outputs are called, and which nodes they are.
static void write_control_outputs(builder *b, const wanted *w, capi_message *signature,
                                  capi_message *body) {
  for (int i = 0; b->error == NULL && i < w->num_control_outputs; i++) {
    const TF_Operation *oper = w->control_outputs[i];
    const char *node = node_name(b, capi_operation_of(oper));
    const char *name = w->control_names == NULL ? node : w->control_names[i];
    if (node == NULL || name == NULL) {
      b->error = rheos_status_new(RHEOS_INVALID_ARGUMENT,
                                  "control output '%s' of function '%s' is not in the body",
                                  oper->name, b->name);
      return;
    }
    capi_write_text(signature, 20, name);
    write_pair(body, 6, name, node);
  }
}

// What a result is of: a node of the body, or an argument.
static const char *result_source(builder *b, const TF_Output *of) {
  rheos_output output = capi_output_of(*of);
  const char *name = input_name(b, output);
  if (name != NULL) return name;
  const char *node = node_name(b, rheos_output_operation(output));
  if (node != NULL) return output_name(b, node, output);
  if (b->error == NULL) {
    b->error = rheos_status_new(RHEOS_INVALID_ARGUMENT,
                                "TF_Output %s:%d is neither in the function body nor among "
                                "function inputs. Encountered while creating function '%s'",
                                of->oper->name, of->index, b->name);
  }
  return "";
}

// Arguments and results in the signature, the nodes, and which of their outputs the results are.
// The results are named first, then the arguments: of equal names, the results keep theirs.
static void write_body(builder *b, const wanted *w, capi_message *signature, capi_message *body) {
  const char **names = capi_pool_get(&b->pool, (size_t)w->num_outputs * sizeof(char *));
  if (names == NULL) {
    fail_for_memory(b);
    return;
  }
  for (int i = 0; i < w->num_outputs; i++) names[i] = result_name(b, w, i);
  for (int i = 0; i < b->num_inputs; i++) {
    b->input_names[i] = argument_name(b, b->inputs[i].oper->name);
    write_argument(signature, 2, b->input_names[i],
                   rheos_output_dtype(capi_output_of(b->inputs[i])));
  }
  for (int i = 0; i < w->num_outputs; i++) {
    write_argument(signature, 3, names[i], rheos_output_dtype(capi_output_of(w->outputs[i])));
  }
  name_nodes(b);
  for (size_t i = 0; b->error == NULL && i < b->num_body; i++) write_node(b, i, body);
  for (int i = 0; b->error == NULL && i < w->num_outputs; i++) {
    write_pair(body, 4, names[i], result_source(b, &w->outputs[i]));
  }
  write_control_outputs(b, w, signature, body);
  write_argument_attrs(b, body);
  if (w->description != NULL) capi_write_text(signature, 6, w->description);
  if (is_stateful(b)) capi_write_number(signature, 17, 1);
}

static TF_Function *build(builder *b, const wanted *w, TF_Status *status) {
  capi_message signature = {0}, body = {0}, def = {0}, named = {0};
  write_body(b, w, &signature, &body);
  char hash[20] = "";
  if (w->has_hash) {
    snprintf(hash, sizeof hash, "_%llx", (unsigned long long)hash_of(body.bytes, body.size));
  }
  char *name = capi_pool_get(&b->pool, strlen(b->name) + sizeof hash);
  if (name == NULL) {
    fail_for_memory(b);
  } else {
    capi_write_text(&named, 1, strcat(strcpy(name, b->name), hash));
  }
  capi_write_fields(&named, signature.bytes, signature.size);
  named.failed |= signature.failed;
  capi_write_message(&def, 1, &named);
  capi_write_fields(&def, body.bytes, body.size);
  if (def.failed || body.failed) fail_for_memory(b);
  TF_Function *function = NULL;
  if (capi_take(status, b->error)) function = capi_function_of(def.bytes, def.size, status);
  b->error = NULL;
  free(signature.bytes);
  free(body.bytes);
  free(def.bytes);
  return function;
}

// Which operations the body has: those given, or all but those that inputs stand for.
static bool choose_body(builder *b, int num_opers, const TF_Operation *const *opers,
                        TF_Status *status) {
  TF_Graph *graph = (TF_Graph *)(uintptr_t)b->graph;
  size_t count =
      num_opers >= 0 ? (size_t)num_opers : (size_t)rheos_graph_num_operations(graph->graph);
  b->body = capi_pool_get(&b->pool, count * sizeof(TF_Operation *));
  b->body_names = capi_pool_get(&b->pool, count * sizeof(char *));
  b->input_names = capi_pool_get(&b->pool, (size_t)b->num_inputs * sizeof(char *));
  if (b->body == NULL || b->body_names == NULL || b->input_names == NULL) {
    capi_fail_for_memory(status);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    rheos_operation operation = {.graph = graph->graph, .id = (int32_t)i};
    const TF_Operation *oper = num_opers >= 0 ? opers[i] : capi_operation(graph, operation);
    bool is_input = false;
    for (int k = 0; num_opers < 0 && k < b->num_inputs; k++) is_input |= b->inputs[k].oper == oper;
    if (oper == NULL || oper->graph != graph) {
      capi_fail(status, TF_INVALID_ARGUMENT, "operation %zu is none of the graph", i);
      return false;
    }
    if (!is_input) b->body[b->num_body++] = oper;
  }
  return true;
}

// Adds to what is wrong with an output which one it is.
static void fail_output(TF_Output output, const char *what, const char *name, TF_Status *status) {
  char *told = status == NULL || output.oper == NULL ? NULL : strdup(TF_Message(status));
  capi_fail(status, TF_GetCode(status), "%s\n\tEncountered while processing %s '%s'",
            told == NULL ? "Node is null" : told, what, name);
  free(told);
}

static bool check_outputs(const TF_Graph *graph, const TF_Output *outputs, int count, bool is_input,
                          const char *name, TF_Status *status) {
  rheos_output output;
  const char *what = is_input ? "inputs" : "outputs";
  if (count < 0) capi_fail(status, TF_INVALID_ARGUMENT, "there are %d %s", count, what);
  if (count < 0 || (count > 0 && !capi_need(outputs, what, status))) return false;
  for (int i = 0; i < count; i++) {
    if (!capi_output_get((TF_Graph *)(uintptr_t)graph, outputs[i], &output, status)) {
      char place[64];
      snprintf(place, sizeof place, is_input ? "input %d into function" : "output %d from function",
               i);
      fail_output(outputs[i], place, name, status);
      return false;
    }
    for (int k = 0; is_input && k < i; k++) {
      if (outputs[k].oper != outputs[i].oper || outputs[k].index != outputs[i].index) continue;
      capi_fail(status, TF_INVALID_ARGUMENT,
                "TF_Output %s:%d appears more than once in the input list", outputs[i].oper->name,
                outputs[i].index);
      return false;
    }
  }
  return true;
}

// Where the body is all operations but those that give the inputs, these can give nothing else.
static bool check_input_operations(const TF_Output *inputs, int count, const char *name,
                                   TF_Status *status) {
  for (int i = 0; i < count; i++) {
    int num_outputs = TF_OperationNumOutputs(inputs[i].oper);
    if (num_outputs == 1) continue;
    capi_fail(status, TF_INVALID_ARGUMENT,
              "When `num_opers` is set to -1, nodes referenced in `inputs` must have a single "
              "output. Node %s has %d outputs. Encountered while creating function '%s'",
              inputs[i].oper->name, num_outputs, name);
    return false;
  }
  return true;
}

TF_Function *TF_GraphToFunctionWithControlOutputs(
    const TF_Graph *fn_body, const char *fn_name, unsigned char append_hash_to_fn_name,
    int num_opers, const TF_Operation *const *opers, int ninputs, const TF_Output *inputs,
    int noutputs, const TF_Output *outputs, const char *const *output_names, int ncontrol_outputs,
    const TF_Operation *const *control_outputs, const char *const *control_output_names,
    const TF_FunctionOptions *opts, const char *description, TF_Status *status) {
  (void)opts;
  capi_succeed(status);
  if (!capi_need(fn_body, "the graph", status) || !capi_need(fn_name, "the name", status) ||
      !check_outputs(fn_body, inputs, ninputs, true, fn_name, status) ||
      !check_outputs(fn_body, outputs, noutputs, false, fn_name, status) ||
      (num_opers < 0 && !check_input_operations(inputs, ninputs, fn_name, status)) ||
      (num_opers > 0 && !capi_need(opers, "the list of operations", status)) ||
      (ncontrol_outputs > 0 && !capi_need(control_outputs, "control outputs", status))) {
    return NULL;
  }
  builder b = {.graph = fn_body, .name = fn_name, .inputs = inputs, .num_inputs = ninputs};
  wanted w = {.outputs = outputs,
              .output_names = output_names,
              .num_outputs = noutputs,
              .control_outputs = control_outputs,
              .control_names = control_output_names,
              .num_control_outputs = ncontrol_outputs,
              .description = description,
              .has_hash = append_hash_to_fn_name != 0};
  for (int i = 0; i < ncontrol_outputs; i++) {
    if (!capi_need(control_outputs[i], "a control output", status)) return NULL;
  }
  TF_Graph *graph = (TF_Graph *)(uintptr_t)fn_body;
  pthread_mutex_lock(&graph->lock);
  TF_Function *function = NULL;
  if (choose_body(&b, num_opers, opers, status)) function = build(&b, &w, status);
  pthread_mutex_unlock(&graph->lock);
  free(b.names);
  capi_pool_free(&b.pool);
  return function;
}

TF_Function *TF_GraphToFunction(const TF_Graph *fn_body, const char *fn_name,
                                unsigned char append_hash_to_fn_name, int num_opers,
                                const TF_Operation *const *opers, int ninputs,
                                const TF_Output *inputs, int noutputs, const TF_Output *outputs,
                                const char *const *output_names, const TF_FunctionOptions *opts,
                                const char *description, TF_Status *status) {
  return TF_GraphToFunctionWithControlOutputs(
      fn_body, fn_name, append_hash_to_fn_name, num_opers, opers, ninputs, inputs, noutputs,
      outputs, output_names, 0, NULL, NULL, opts, description, status);
}
