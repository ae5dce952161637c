// What the handles of eager execution are.
#ifndef RHEOS_CAPI_EAGER_HANDLES_H
#define RHEOS_CAPI_EAGER_HANDLES_H

#include "handles.h"

struct TFE_ContextOptions {
  TF_SessionOptions session;
  bool is_async;
  TFE_ContextDevicePlacementPolicy policy;
};

struct TFE_Context {
  rheos_eager *eager;
  rheos_scope *scope;    // of the graph whose library has the functions
  pthread_mutex_t lock;  // of the scope
  TFE_ContextDevicePlacementPolicy policy;
  bool is_async;
  uint64_t id;
};

struct TFE_TensorHandle {
  rheos_tensor *value;
};

struct TFE_Op {
  TFE_Context *context;
  char *type, *device;
  const rheos_op_def *def;
  rheos_tensor **inputs;  // counted
  size_t num_inputs;
  int num_arguments;  // of the signature's inputs, how many were given
  bool is_flat;       // elements of lists were given one by one: what follows is not counted
  capi_attrs attrs;
};

// A handle of a value, which it counts; NULL with an error.
TFE_TensorHandle *capi_tensor_handle(rheos_tensor *value, TF_Status *status);

#endif  // RHEOS_CAPI_EAGER_HANDLES_H
