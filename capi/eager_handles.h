// What the handles of eager execution are.
#ifndef RHEOS_CAPI_EAGER_HANDLES_H
#define RHEOS_CAPI_EAGER_HANDLES_H

#include "handles.h"

struct TFE_ContextOptions {
  TF_SessionOptions session;
  bool is_async;
  TFE_ContextDevicePlacementPolicy policy;
};

typedef struct capi_thread_executor capi_thread_executor;

struct TFE_Context {
  rheos_eager *eager;
  rheos_scope *scope;    // of the graph whose library has the functions
  pthread_mutex_t lock;  // of the scope
  TFE_ContextDevicePlacementPolicy policy;
  TFE_Executor *executor;           // of threads that have none of their own
  capi_thread_executor *executors;  // of those that have, under the lock
  rheos_trace *trace;               // of runs, where their metadata is wanted; under the lock
  uint64_t id;
};

// Of a run whose error is told later, `value` is NULL.
struct TFE_TensorHandle {
  rheos_tensor *value;
  // The program's texts that it was made of, or NULL: who resolves the handle gets these again,
  // since programs free the elements then.
  TF_Tensor *texts;
  TF_Status *error;
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
  TFE_CancellationManager *cancellation;  // the program's
};

// Whether an earlier run has failed there and nobody has cleared the error, which is told.
bool capi_executor_has_failed(TFE_Executor *executor, TF_Status *status);
void capi_executor_fail(TFE_Executor *executor, const TF_Status *error);
void capi_free_executors(TFE_Context *context);

// Whether it is a handle of a value; an error otherwise.
bool capi_need_handle(const TFE_TensorHandle *h, TF_Status *status);

// Whether a device of the context is meant; an error otherwise.
bool capi_need_device(TFE_Context *context, const char *name, TF_Status *status);

// A handle of a value, which it counts; NULL with an error.
TFE_TensorHandle *capi_tensor_handle(rheos_tensor *value, TF_Status *status);

#endif  // RHEOS_CAPI_EAGER_HANDLES_H
