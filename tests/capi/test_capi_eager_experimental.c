// Eager execution beyond operations: errors told later, attributes apart, cancellation, shapes.
#include "capi/eager_fixture.h"

// ---- Executors

// a @ a, or with a vector, which does not fit.
static TFE_Op *product(fixture *f, TFE_TensorHandle *by) {
  TFE_Op *op = new_op(f, "MatMul");
  TFE_OpAddInput(op, f->matrix, f->status);
  TFE_OpAddInput(op, by, f->status);
  succeeded(f->status);
  return op;
}

static TFE_TensorHandle *row(fixture *f) {
  TF_Tensor *tensor = float_tensor((const int64_t[]){1, 3}, 2, MATRIX);
  TFE_TensorHandle *handle = TFE_NewTensorHandle(tensor, f->status);
  succeeded(f->status);
  TF_DeleteTensor(tensor);
  return handle;
}

static void test_async__errors_are_told_later(void **state) {
  (void)state;
  fixture *f = new_fixture(true);
  TFE_TensorHandle *wrong = row(f), *result = NULL;
  TFE_Op *bad = product(f, wrong), *good = product(f, f->matrix);
  int count = 1;
  TFE_Execute(bad, &result, &count, f->status);
  succeeded(f->status);
  assert_non_null(result);
  assert_null(TFE_TensorHandleResolve(result, f->status));
  failed(f->status, TF_INVALID_ARGUMENT, "Matrix size-incompatible");
  assert_int_equal(TFE_TensorHandleNumDims(result, f->status), -1);
  failed(f->status, TF_INVALID_ARGUMENT, "Matrix size-incompatible");
  TFE_OpAddInput(good, result, f->status);
  failed(f->status, TF_INVALID_ARGUMENT, "Matrix size-incompatible");
  TFE_DeleteTensorHandle(result);
  TFE_ContextAsyncWait(f->context, f->status);
  failed(f->status, TF_INVALID_ARGUMENT, "Matrix size-incompatible");
  TFE_Executor *executor = TFE_ContextGetExecutorForThread(f->context);
  assert_true(TFE_ExecutorIsAsync(executor));
  TFE_Execute(good, &result, &count, f->status);
  failed(f->status, TF_INVALID_ARGUMENT, "Matrix size-incompatible");
  TFE_ExecutorClearError(executor);
  TFE_ExecutorWaitForAllPendingNodes(executor, f->status);
  succeeded(f->status);
  TFE_Execute(good, &result, &count, f->status);
  succeeded(f->status);
  assert_float_equal(first_of(f, result), 7, 0);
  TFE_DeleteOp(bad);
  TFE_DeleteOp(good);
  TFE_DeleteTensorHandle(wrong);
  end((void *[]){f});
  TFE_DeleteExecutor(executor);  // outlives the context
}

static void test_executor__is_a_threads_own(void **state) {
  fixture *f = *state;
  TFE_Executor *mine = TFE_NewExecutor(true, false, 0);
  TFE_Executor *before = TFE_ContextGetExecutorForThread(f->context);
  assert_false(TFE_ExecutorIsAsync(before));
  TFE_ContextSetExecutorForThread(f->context, mine);
  TFE_Executor *now = TFE_ContextGetExecutorForThread(f->context);
  assert_ptr_equal(now, mine);
  TFE_ContextSetExecutorForThread(f->context, before);
  TFE_DeleteExecutor(now);
  TFE_DeleteExecutor(mine);
  TFE_DeleteExecutor(before);
}

// ---- Attributes

static void test_attributes__go_to_another_operation(void **state) {
  fixture *f = *state;
  TFE_Op *from = new_op(f, "VarHandleOp"), *to = new_op(f, "VarHandleOp");
  TFE_OpSetAttrType(from, "dtype", TF_INT64);
  TFE_OpSetAttrShape(from, "shape", (const int64_t[]){2, -1}, 2, f->status);
  TFE_OpSetAttrString(from, "shared_name", "it", 2);
  TFE_OpSetAttrType(to, "dtype", TF_FLOAT);
  TFE_OpAddAttrs(to, TFE_OpGetAttrs(from));
  TFE_OpAddAttrs(to, NULL);
  TFE_OpAddAttrs(NULL, TFE_OpGetAttrs(from));
  TFE_DeleteOp(from);
  TF_Buffer *buffer = TF_NewBuffer();
  TFE_OpAttrsSerialize(TFE_OpGetAttrs(to), buffer, f->status);
  succeeded(f->status);
  // A NameAttrList: what was set first stays.
  assert_memory_equal(buffer->data, "\x0a\x0bVarHandleOp", 13);
  assert_non_null(memmem(buffer->data, buffer->length,
                         "\x0a\x05"
                         "dtype\x12\x02\x30\x01",
                         11));
  assert_non_null(memmem(buffer->data, buffer->length, "shared_name\x12\x04\x12\x02it", 17));
  TFE_OpAttrsSerialize(NULL, buffer, f->status);
  failed(f->status, TF_INVALID_ARGUMENT, "NULL");
  TF_DeleteBuffer(buffer);
  TFE_DeleteOp(to);
}

static void test_attr_builder__knows_kernels(void **state) {
  fixture *f = *state;
  TF_AttrBuilder *builder = TF_NewAttrBuilder("MatMul");
  TF_AttrBuilderSetType(builder, "T", TF_FLOAT);
  TF_AttrBuilderSetTypeList(builder, "_types", (TF_DataType[]){TF_FLOAT}, 1);
  TF_AttrBuilderCheckCanRunOnDevice(builder, "CPU", f->status);
  succeeded(f->status);
  TF_AttrBuilderCheckCanRunOnDevice(builder, "TPU", f->status);
  failed(f->status, TF_NOT_FOUND, "no kernel for 'TPU'");
  TF_AttrBuilderSetTypeList(builder, "_types", NULL, -1);
  TF_AttrBuilderCheckCanRunOnDevice(builder, "CPU", f->status);
  failed(f->status, TF_INVALID_ARGUMENT, "_types");
  TF_DeleteAttrBuilder(builder);
  builder = TF_NewAttrBuilder("NoSuchOp");
  TF_AttrBuilderCheckCanRunOnDevice(builder, "CPU", f->status);
  failed(f->status, TF_NOT_FOUND, "NoSuchOp");
  TF_DeleteAttrBuilder(builder);
}

// ---- Cancellation

static void count_up(void *context) { ++*(int *)context; }

static void test_cancellation__calls_back_once(void **state) {
  (void)state;
  TFE_CancellationManager *manager = TFE_NewCancellationManager();
  int kept = 0, taken = 0;
  TFE_CancelCallback keep = {count_up, &kept}, take = {count_up, &taken};
  TFE_CancellationToken a = TFE_CancellationManagerGetToken(manager);
  TFE_CancellationToken b = TFE_CancellationManagerGetToken(manager);
  assert_int_not_equal(a, b);
  assert_true(TFE_CancellationManagerRegisterCallback(manager, a, &keep, "keep"));
  assert_true(TFE_CancellationManagerRegisterCallback(manager, b, &take, "take"));
  assert_true(TFE_CancellationManagerDeregisterCallback(manager, b));
  assert_false(TFE_CancellationManagerTryDeregisterCallback(manager, b));
  assert_false(TFE_CancellationManagerIsCancelled(manager));
  TFE_CancellationManagerStartCancel(manager);
  TFE_CancellationManagerStartCancel(manager);
  assert_true(TFE_CancellationManagerIsCancelled(manager));
  assert_false(TFE_CancellationManagerIsCancelling(manager));
  assert_false(TFE_CancellationManagerRegisterCallback(manager, a, &keep, "late"));
  assert_int_equal(kept, 1);
  assert_int_equal(taken, 0);
  TFE_DeleteCancellationManager(manager);
}

static void test_cancellation__stops_operations(void **state) {
  fixture *f = *state;
  TFE_CancellationManager *manager = TFE_NewCancellationManager();
  TFE_Op *op = product(f, f->matrix);
  TFE_TensorHandle *result = NULL;
  int count = 1;
  TFE_OpSetCancellationManager(op, manager, f->status);
  TFE_Execute(op, &result, &count, f->status);
  succeeded(f->status);
  TFE_DeleteTensorHandle(result);
  TFE_CancellationManagerStartCancel(manager);
  TFE_Execute(op, &result, &count, f->status);
  failed(f->status, TF_CANCELLED, "MatMul");
  TFE_DeleteOp(op);
  TFE_DeleteCancellationManager(manager);
}

// ---- Shapes

static void check_inferred(fixture *f, TFE_Op *op, TF_ShapeAndTypeList *inputs, TF_Tensor **values,
                           int num_dims, const int64_t *dims) {
  TF_ShapeAndTypeList *outputs = NULL;
  TFE_InferShapes(op, inputs, values, NULL, NULL, &outputs, NULL, f->status);
  succeeded(f->status);
  assert_int_equal(outputs->num_items, 1);
  assert_int_equal(outputs->items[0].num_dims, num_dims);
  if (num_dims > 0) {
    assert_memory_equal(outputs->items[0].dims, dims, (size_t)num_dims * sizeof *dims);
  }
  TF_DeleteShapeAndTypeList(outputs);
}

static void test_shapes__are_inferred(void **state) {
  fixture *f = *state;
  TFE_Op *op = new_op(f, "MatMul");
  TF_ShapeAndTypeList *inputs = TF_NewShapeAndTypeList(2), *outputs;
  TF_ShapeAndTypeListSetShape(inputs, 0, (const int64_t[]){3, 2}, 2);
  check_inferred(f, op, inputs, NULL, 2, (const int64_t[]){3, -1});
  TF_ShapeAndTypeListSetShape(inputs, 1, (const int64_t[]){2, 4}, 2);
  TF_ShapeAndTypeListSetShape(inputs, 7, (const int64_t[]){2, 4}, 2);  // nothing is there
  check_inferred(f, op, inputs, NULL, 2, (const int64_t[]){3, 4});
  TF_ShapeAndTypeListSetShape(inputs, 1, (const int64_t[]){5, 4}, 2);
  TFE_InferShapes(op, inputs, NULL, NULL, NULL, &outputs, NULL, f->status);
  assert_int_equal(TF_GetCode(f->status), TF_INVALID_ARGUMENT);
  assert_null(outputs);
  TFE_DeleteOp(op);
  // Of a reshape by the value of its shape; of an attribute that the op does not have nothing.
  op = new_op(f, "Reshape");
  TFE_OpSetAttrType(op, "T", TF_DOUBLE);
  TFE_OpSetAttrType(op, "none", TF_DOUBLE);
  TF_Tensor *shape = TF_AllocateTensor(TF_INT32, (const int64_t[]){2}, 1, 8),
            *values[] = {NULL, shape};
  memcpy(TF_TensorData(shape), (const int32_t[]){1, 6}, 8);
  TF_ShapeAndTypeListSetUnknownShape(inputs, 0);
  check_inferred(f, op, inputs, values, 2, (const int64_t[]){1, 6});
  TF_DeleteTensor(shape);
  TF_DeleteShapeAndTypeList(inputs);
  TFE_DeleteOp(op);
}

// ---- Contexts and handles

static void test_context__exports_what_ran(void **state) {
  fixture *f = *state;
  TF_Buffer *buffer = TF_NewBuffer();
  TFE_Op *op = product(f, f->matrix);
  TFE_TensorHandle *result = NULL;
  int count = 1;
  TFE_ContextEnableRunMetadata(f->context);
  TFE_Execute(op, &result, &count, f->status);
  succeeded(f->status);
  TFE_ContextExportRunMetadata(f->context, buffer, f->status);
  succeeded(f->status);
  assert_non_null(memmem(buffer->data, buffer->length, "MatMul", 6));
  TFE_ContextDisableRunMetadata(f->context);
  TFE_DeleteTensorHandle(result);
  TFE_DeleteOp(op);
  TF_DeleteBuffer(buffer);
}

static void count_release(void *data, size_t length, void *argument) {
  (void)data;
  (void)length;
  ++*(int *)argument;
}

static void test_handle__is_made_of_memory(void **state) {
  fixture *f = *state;
  static const int64_t dims[] = {2, 2};
  static float values[4] = {5, 6, 7, 8};
  int released = 0;
  TFE_TensorHandle *handle =
      TFE_NewTensorHandleFromDeviceMemory(f->context, "CPU:0", TF_FLOAT, dims, 2, values,
                                          sizeof values, count_release, &released, f->status);
  succeeded(f->status);
  TFE_TensorDebugInfo *info = TFE_TensorHandleTensorDebugInfo(handle, f->status);
  assert_int_equal(TFE_TensorDebugInfoOnDeviceNumDims(info), 2);
  assert_int_equal(TFE_TensorDebugInfoOnDeviceDim(info, 1), 2);
  assert_int_equal(TFE_TensorDebugInfoOnDeviceDim(info, 2), -1);
  TFE_DeleteTensorDebugInfo(info);
  assert_float_equal(first_of(f, handle), 5, 0);
  assert_int_equal(released, 1);
  assert_null(TFE_NewTensorHandleFromDeviceMemory(f->context, "TPU:0", TF_FLOAT, dims, 2, values,
                                                  sizeof values, NULL, NULL, f->status));
  failed(f->status, TF_INVALID_ARGUMENT, "TPU:0 unknown device.");
}

static void test_server_def__is_read_from_text(void **state) {
  fixture *f = *state;
  TF_Buffer *def = TFE_GetServerDef("job_name: \"worker\" task_index: 1", f->status);
  succeeded(f->status);
  assert_memory_equal(def->data, "\x12\x06worker\x18\x01", 10);
  TF_DeleteBuffer(def);
  assert_null(TFE_GetServerDef("cluster { job {", f->status));
  failed(f->status, TF_INVALID_ARGUMENT, "Invalid text proto for ServerDef");
  assert_true(TF_PickUnusedPortOrDie() > 0);
  TF_Buffer *address = TF_NewBuffer();
  TFE_HostAddressSpace(f->context, address);
  assert_memory_equal(address->data, "/job:localhost/replica:0/task:0", 31);
  TF_DeleteBuffer(address);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_async__errors_are_told_later),
      cmocka_unit_test_setup_teardown(test_executor__is_a_threads_own, begin, end),
      cmocka_unit_test_setup_teardown(test_attributes__go_to_another_operation, begin, end),
      cmocka_unit_test_setup_teardown(test_attr_builder__knows_kernels, begin, end),
      cmocka_unit_test(test_cancellation__calls_back_once),
      cmocka_unit_test_setup_teardown(test_cancellation__stops_operations, begin, end),
      cmocka_unit_test_setup_teardown(test_shapes__are_inferred, begin, end),
      cmocka_unit_test_setup_teardown(test_context__exports_what_ran, begin, end),
      cmocka_unit_test_setup_teardown(test_handle__is_made_of_memory, begin, end),
      cmocka_unit_test_setup_teardown(test_server_def__is_read_from_text, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
