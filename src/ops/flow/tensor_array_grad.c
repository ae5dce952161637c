// The gradient of reading from an array is writing to its gradient array, and the other way round.
// The flow's gradient orders that: it comes from what read the array's gradient, so all of it is
// written before it is read. Nodes and names are those of TensorFlow 1.15.
#include "ops/flow/tensor_array_grad.h"

#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "ops/kit/op_util.h"

// "gradients" or "outer/gradients_1": the scope of the call that adds gradients, by which gradient
// arrays of several calls are told apart.
static void source_of(rheos_scope *s, char *source, size_t size) {
  rheos_scope_name(s, source, size);
  char *end = NULL;
  for (char *at = source; *at != '\0';) {
    char *slash = strchr(at, '/');
    if (strncmp(at, "gradients", 9) == 0) end = slash != NULL ? slash : at + strlen(at);
    if (slash == NULL) break;
    at = slash + 1;
  }
  if (end == NULL) end = strrchr(source, '/');  // under a name of the program's own
  if (end != NULL) *end = '\0';
}

// What follows the name of the op in all ops of its version: "", "V2" or "V3".
static const char *version_of(const rheos__grad *g) {
  const char *end = g->op->name + strlen(g->op->name) - 2;
  return strcmp(end, "V2") == 0 || strcmp(end, "V3") == 0 ? end : "";
}

// The op `type` of the node's version, named by itself inside a scope `scope` (NULL: in none).
static rheos_operation array_op(rheos__grad *g, const char *scope, const char *type,
                                const rheos_output *inputs, size_t num_inputs,
                                const rheos_attr *attrs, size_t num_attrs) {
  char versioned[64];
  snprintf(versioned, sizeof versioned, "%s%s", type, version_of(g));
  if (scope != NULL) rheos_push_name_scope(g->scope, scope);
  const rheos_operation operation =
      rheos__op_n(g->scope, versioned, NULL, inputs, num_inputs, attrs, num_attrs);
  if (scope != NULL) rheos_scope_pop(g->scope);
  return operation;
}

typedef struct gradient_array {
  rheos_output handle, flow;
} gradient_array;

// The gradient of the array behind input 0, made once `flow` is there.
static gradient_array gradient_of(rheos__grad *g, rheos_output flow) {
  rheos_scope *s = g->scope;
  char source[1024];
  source_of(s, source, sizeof source);
  const rheos_attr attr = {
      "source", {.kind = RHEOS_ATTR_STRING, .s = rheos__borrow_string(source, strlen(source))}};
  const rheos_output inputs[] = {g->inputs[0], flow};
  rheos_push_name_scope(s, "TensorArrayGrad");
  rheos_push_colocation(s, rheos_output_operation(g->inputs[0]));
  const rheos_operation made = array_op(g, NULL, "TensorArrayGrad", inputs, 2, &attr, 1);
  gradient_array gradient = {.handle = rheos_operation_output(made, 0)};
  rheos_push_control_dependencies(s, &made, made.graph != NULL);
  gradient.flow =
      rheos_operation_output(rheos__op_n(s, "Identity", "gradient_flow", &flow, 1, NULL, 0), 0);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  return gradient;
}

static rheos_attr dtype_attr(rheos_dtype dtype) {
  return (rheos_attr){"dtype", {.kind = RHEOS_ATTR_TYPE, .type = rheos_dtype_base(dtype)}};
}

void rheos__gradient_array_read(rheos__grad *g) {
  const rheos_output grad = rheos__grad_dense(g, 0);
  const gradient_array a = gradient_of(g, g->inputs[2]);
  const rheos_output inputs[] = {a.handle, g->inputs[1], grad, a.flow};
  rheos__grad_set(g, 2,
                  rheos_operation_output(
                      array_op(g, "TensorArrayWrite", "TensorArrayWrite", inputs, 4, NULL, 0), 0));
}

void rheos__gradient_array_write(rheos__grad *g) {
  const rheos_output flow = rheos__grad_dense(g, 0);
  const gradient_array a = gradient_of(g, flow);
  const rheos_output inputs[] = {a.handle, g->inputs[1], a.flow};
  const rheos_attr attr = dtype_attr(rheos_output_dtype(g->inputs[2]));
  rheos__grad_set(
      g, 2, rheos_operation_output(array_op(g, NULL, "TensorArrayRead", inputs, 3, &attr, 1), 0));
  rheos__grad_set(g, 3, flow);
}

void rheos__gradient_array_gather(rheos__grad *g) {
  const rheos_output grad = rheos__grad_dense(g, 0);
  const gradient_array a = gradient_of(g, g->inputs[2]);
  const rheos_output inputs[] = {a.handle, g->inputs[1], grad, a.flow};
  rheos__grad_set(
      g, 2,
      rheos_operation_output(
          array_op(g, "TensorArrayScatter", "TensorArrayScatter", inputs, 4, NULL, 0), 0));
}

void rheos__gradient_array_scatter(rheos__grad *g) {
  const rheos_output flow = rheos__grad_dense(g, 0);
  const gradient_array a = gradient_of(g, flow);
  const rheos_output inputs[] = {a.handle, g->inputs[1], a.flow};
  const rheos_attr attr = dtype_attr(rheos_output_dtype(g->inputs[2]));
  rheos__grad_set(
      g, 2, rheos_operation_output(array_op(g, NULL, "TensorArrayGather", inputs, 3, &attr, 1), 0));
  rheos__grad_set(g, 3, flow);
}

void rheos__gradient_array_concat(rheos__grad *g) {
  const rheos_output grad = rheos__grad_dense(g, 0);
  const gradient_array a = gradient_of(g, g->inputs[1]);
  const rheos_output inputs[] = {a.handle, grad, g->outputs[1], a.flow};
  rheos__grad_set(g, 1,
                  rheos_operation_output(
                      array_op(g, "TensorArraySplit", "TensorArraySplit", inputs, 4, NULL, 0), 0));
}

void rheos__gradient_array_split(rheos__grad *g) {
  const rheos_output flow = rheos__grad_dense(g, 0);
  const gradient_array a = gradient_of(g, flow);
  const rheos_output inputs[] = {a.handle, a.flow};
  const rheos_attr attr = dtype_attr(rheos_output_dtype(g->inputs[1]));
  rheos__grad_set(
      g, 1, rheos_operation_output(array_op(g, NULL, "TensorArrayConcat", inputs, 2, &attr, 1), 0));
  rheos__grad_set(g, 3, flow);
}
