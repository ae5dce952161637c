// What the tests of eager execution share: a context and a matrix.
#ifndef RHEOS_TESTS_EAGER_FIXTURE_H
#define RHEOS_TESTS_EAGER_FIXTURE_H

#include "capi/capi_fixture.h"

static const float MATRIX[] = {1, 2, 3, 4};

typedef struct fixture {
  TF_Status *status;
  TFE_Context *context;
  TFE_TensorHandle *matrix;  // [2, 2], of MATRIX
} fixture;

static inline fixture *new_fixture(bool is_async) {
  static const int64_t dims[] = {2, 2};
  fixture *f = calloc(1, sizeof *f);
  f->status = TF_NewStatus();
  TFE_ContextOptions *options = TFE_NewContextOptions();
  TFE_ContextOptionsSetAsync(options, is_async);
  f->context = TFE_NewContext(options, f->status);
  succeeded(f->status);
  TFE_DeleteContextOptions(options);
  TF_Tensor *tensor = float_tensor(dims, 2, MATRIX);
  f->matrix = TFE_NewTensorHandle(tensor, f->status);
  succeeded(f->status);
  TF_DeleteTensor(tensor);
  return f;
}

static inline int begin(void **state) {
  *state = new_fixture(false);
  return 0;
}

static inline int end(void **state) {
  fixture *f = *state;
  TFE_DeleteTensorHandle(f->matrix);
  TFE_DeleteContext(f->context);
  TF_DeleteStatus(f->status);
  free(f);
  return 0;
}

static inline TFE_Op *new_op(fixture *f, const char *type) {
  TFE_Op *op = TFE_NewOp(f->context, type, f->status);
  succeeded(f->status);
  return op;
}

// The first element of what a handle holds; deletes the handle.
static inline float first_of(fixture *f, TFE_TensorHandle *handle) {
  TF_Tensor *tensor = TFE_TensorHandleResolve(handle, f->status);
  succeeded(f->status);
  float value = *(float *)TF_TensorData(tensor);
  TF_DeleteTensor(tensor);
  TFE_DeleteTensorHandle(handle);
  return value;
}

#endif  // RHEOS_TESTS_EAGER_FIXTURE_H
