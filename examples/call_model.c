// Loads a SavedModel, of Rheos or of TensorFlow, and calls a signature with ones:
//
//   call_model FOLDER [SIGNATURE]
//
// Without a folder it first writes a model of its own, y = 2 x + 1, to a temporary one.
#define _XOPEN_SOURCE 700  // mkdtemp()
#include <rheos/rheos.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 16 };

// ---- A model

static rheos_status *build_line(rheos_scope *s, rheos_argument *in, rheos_argument *out,
                                rheos_operation *out_init) {
  rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .name = "x");
  rheos_output slope =
      rheos_get_variable(s, "slope", RHEOS_FLOAT, RHEOS_SCALAR, rheos_constant_initializer(2));
  rheos_output offset = rheos_get_variable(s, "offset", RHEOS_FLOAT, RHEOS_SCALAR, rheos_ones());
  rheos_output y = rheos_add(s, rheos_mul(s, slope, x), offset, .name = "y");
  in->name = "x";
  in->tensor = x;
  out->name = "y";
  out->tensor = y;
  *out_init = rheos_global_variables_initializer(s);
  return rheos_scope_finish(s);
}

static rheos_status *write_line(const char *folder) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_argument in, out;
  memset(&in, 0, sizeof in);
  memset(&out, 0, sizeof out);
  rheos_operation init;
  rheos_session *session = NULL;
  rheos_status *status = build_line(scope, &in, &out, &init);
  if (!status) status = rheos_session_new(graph, NULL, &session);
  if (!status) status = rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL);
  if (!status) status = rheos_saved_model_simple_save(session, folder, &in, 1, &out, 1);
  rheos_session_free(session);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  return status;
}

// ---- A call

// Ones of the argument's dtype and shape, 1 for dimensions that it leaves open.
static rheos_status *ones_for(const rheos_tensor_info *info, rheos_tensor **out_tensor) {
  rheos_shape shape = info->shape;
  if (shape.rank < 0) shape = RHEOS_SCALAR;
  for (int32_t d = 0; d < shape.rank; d++) {
    if (shape.dims[d] < 0) shape.dims[d] = 1;
  }
  if (info->dtype != RHEOS_FLOAT) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "'%s' is not of floats", info->key);
  }
  rheos_status *status = rheos_tensor_new(RHEOS_FLOAT, shape, out_tensor);
  if (status) return status;
  float *values = (float *)rheos_tensor_data(*out_tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(*out_tensor); i++) values[i] = 1;
  return NULL;
}

static void print_output(const rheos_named_tensor *output) {
  char shape[128];
  rheos_shape_format(rheos_tensor_shape(output->value), shape, sizeof shape);
  printf("%s: %s%s", output->name, rheos_dtype_name(rheos_tensor_dtype(output->value)), shape);
  if (rheos_tensor_dtype(output->value) == RHEOS_FLOAT) {
    const float *values = (const float *)rheos_tensor_data(output->value);
    const int64_t count = rheos_tensor_num_elements(output->value);
    for (int64_t i = 0; i < count && i < 8; i++) printf(" %g", (double)values[i]);
  }
  printf("\n");
}

static rheos_status *call(const rheos_saved_model *model, const rheos_signature_def *signature) {
  rheos_named_tensor inputs[MAX_ARGUMENTS] = {{NULL, NULL}};
  rheos_named_tensor outputs[MAX_ARGUMENTS] = {{NULL, NULL}};
  const size_t num_inputs = signature->num_inputs, num_outputs = signature->num_outputs;
  if (num_inputs > MAX_ARGUMENTS || num_outputs > MAX_ARGUMENTS) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "more than %d arguments", MAX_ARGUMENTS);
  }
  rheos_status *status = NULL;
  for (size_t i = 0; i < num_inputs && !status; i++) {
    inputs[i].name = signature->inputs[i].key;
    status = ones_for(&signature->inputs[i], &inputs[i].value);
  }
  for (size_t i = 0; i < num_outputs; i++) outputs[i].name = signature->outputs[i].key;
  if (!status) {
    status = rheos_saved_model_call(model, signature->key, inputs, num_inputs, outputs, num_outputs,
                                    NULL);
  }
  for (size_t i = 0; i < num_outputs && !status; i++) print_output(&outputs[i]);
  for (size_t i = 0; i < num_inputs; i++) rheos_tensor_unref(inputs[i].value);
  for (size_t i = 0; i < num_outputs; i++) rheos_tensor_unref(outputs[i].value);
  return status;
}

static rheos_status *load_and_call(const char *folder, const char *key) {
  const char *tags[] = {"serve"};
  rheos_saved_model *model;
  rheos_status *status = rheos_saved_model_load(folder, tags, 1, NULL, &model);
  if (status) return status;
  const rheos_signature_def *signature =
      rheos_meta_graph_signature(rheos_saved_model_meta_graph(model), key);
  status = signature ? call(model, signature)
                     : rheos_status_new(RHEOS_NOT_FOUND, "there is no signature '%s'", key);
  rheos_saved_model_free(model);
  return status;
}

int main(int argc, char **argv) {
  char own[] = "/tmp/call_model.XXXXXX";
  const char *folder = argc > 1 ? argv[1] : mkdtemp(own);
  const char *key = argc > 2 ? argv[2] : "serving_default";
  rheos_status *status =
      folder ? NULL : rheos_status_new(RHEOS_UNAVAILABLE, "cannot make a folder in /tmp");
  if (!status && argc < 2) status = write_line(folder);
  if (!status) status = load_and_call(folder, key);
  if (status) fprintf(stderr, "%s\n", rheos_status_message(status));
  int failed = status != NULL;
  rheos_status_free(status);
  return failed;
}
