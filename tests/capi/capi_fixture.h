// What the tests of TensorFlow's C interface share: short ways to tensors and operations, which
// fail the test when they do not succeed.
#ifndef RHEOS_TESTS_CAPI_FIXTURE_H
#define RHEOS_TESTS_CAPI_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tensorflow/c/c_api.h>
#include <tensorflow/c/c_api_experimental.h>
#include <tensorflow/c/eager/c_api_experimental.h>

static inline void succeeded(const TF_Status *status) {
  if (TF_GetCode(status) != TF_OK) fail_msg("%s", TF_Message(status));
}

// The call's code and a part of its message.
static inline void failed(const TF_Status *status, TF_Code code, const char *part) {
  if (TF_GetCode(status) != code || strstr(TF_Message(status), part) == NULL) {
    fail_msg("expected %d '%s', got %d '%s'", (int)code, part, (int)TF_GetCode(status),
             TF_Message(status));
  }
}

static inline TF_Tensor *int_tensor(int32_t value) {
  TF_Tensor *tensor = TF_AllocateTensor(TF_INT32, NULL, 0, sizeof value);
  memcpy(TF_TensorData(tensor), &value, sizeof value);
  return tensor;
}

static inline TF_Tensor *float_tensor(const int64_t *dims, int num_dims, const float *values) {
  size_t count = 1;
  for (int i = 0; i < num_dims; i++) count *= (size_t)dims[i];
  TF_Tensor *tensor = TF_AllocateTensor(TF_FLOAT, dims, num_dims, count * sizeof *values);
  memcpy(TF_TensorData(tensor), values, count * sizeof *values);
  return tensor;
}

static inline TF_Output finish(TF_OperationDescription *desc) {
  TF_Status *status = TF_NewStatus();
  TF_Operation *oper = TF_FinishOperation(desc, status);
  succeeded(status);
  TF_DeleteStatus(status);
  return (TF_Output){.oper = oper, .index = 0};
}

static inline TF_Output placeholder(TF_Graph *graph, const char *name, TF_DataType dtype) {
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", name);
  TF_SetAttrType(desc, "dtype", dtype);
  return finish(desc);
}

static inline TF_Output constant(TF_Graph *graph, const char *name, TF_Tensor *value) {
  TF_Status *status = TF_NewStatus();
  TF_OperationDescription *desc = TF_NewOperation(graph, "Const", name);
  TF_SetAttrTensor(desc, "value", value, status);
  succeeded(status);
  TF_SetAttrType(desc, "dtype", TF_TensorType(value));
  TF_DeleteStatus(status);
  TF_DeleteTensor(value);
  return finish(desc);
}

static inline TF_Output unary(TF_Graph *graph, const char *type, const char *name, TF_Output x) {
  TF_OperationDescription *desc = TF_NewOperation(graph, type, name);
  TF_AddInput(desc, x);
  return finish(desc);
}

static inline TF_Output binary(TF_Graph *graph, const char *type, const char *name, TF_Output a,
                               TF_Output b) {
  TF_OperationDescription *desc = TF_NewOperation(graph, type, name);
  TF_AddInput(desc, a);
  TF_AddInput(desc, b);
  return finish(desc);
}

static inline TF_Session *new_session(TF_Graph *graph) {
  TF_Status *status = TF_NewStatus();
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Session *session = TF_NewSession(graph, options, status);
  succeeded(status);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(status);
  return session;
}

static inline void end_session(TF_Session *session) {
  TF_Status *status = TF_NewStatus();
  TF_CloseSession(session, status);
  succeeded(status);
  TF_DeleteSession(session, status);
  succeeded(status);
  TF_DeleteStatus(status);
}

// The int32 scalar that an output has for int32 scalars as inputs.
static inline int32_t run_ints(TF_Session *session, const TF_Output *inputs, const int32_t *values,
                               int ninputs, TF_Output output) {
  TF_Status *status = TF_NewStatus();
  TF_Tensor *fed[8] = {0}, *got = NULL;
  for (int i = 0; i < ninputs; i++) fed[i] = int_tensor(values[i]);
  TF_SessionRun(session, NULL, inputs, fed, ninputs, &output, &got, 1, NULL, 0, NULL, status);
  succeeded(status);
  int32_t result;
  memcpy(&result, TF_TensorData(got), sizeof result);
  for (int i = 0; i < ninputs; i++) TF_DeleteTensor(fed[i]);
  TF_DeleteTensor(got);
  TF_DeleteStatus(status);
  return result;
}

#endif  // RHEOS_TESTS_CAPI_FIXTURE_H
