// Operations that run at once.
#include "capi/eager_fixture.h"

// Runs and deletes an operation with one result.
static TFE_TensorHandle *execute(fixture *f, TFE_Op *op) {
  TFE_TensorHandle *result = NULL;
  int count = 1;
  TFE_Execute(op, &result, &count, f->status);
  succeeded(f->status);
  assert_int_equal(count, 1);
  TFE_DeleteOp(op);
  return result;
}

static void test_handle__tells_of_its_tensor(void **state) {
  fixture *f = *state;
  assert_int_equal(TFE_TensorHandleDataType(f->matrix), TF_FLOAT);
  assert_int_equal(TFE_TensorHandleNumDims(f->matrix, f->status), 2);
  assert_int_equal(TFE_TensorHandleDim(f->matrix, 1, f->status), 2);
  assert_int_equal(TFE_TensorHandleNumElements(f->matrix, f->status), 4);
  assert_string_equal(TFE_TensorHandleDeviceName(f->matrix, f->status),
                      "/job:localhost/replica:0/task:0/device:CPU:0");
  assert_int_equal(TFE_TensorHandleDim(f->matrix, 2, f->status), -1);
  failed(f->status, TF_INVALID_ARGUMENT, "dimension 2");
  assert_int_equal(TFE_TensorHandleNumDims(NULL, f->status), -1);
  failed(f->status, TF_INVALID_ARGUMENT, "Invalid handle");
  TF_Tensor *first = TFE_TensorHandleResolve(f->matrix, f->status);
  TF_Tensor *second = TFE_TensorHandleResolve(f->matrix, f->status);
  assert_ptr_equal(TF_TensorData(first), TF_TensorData(second));
  TF_DeleteTensor(first);
  TF_DeleteTensor(second);
}

// Programs free the texts by what a handle resolves to, whoever has the handle.
static void test_handle__of_texts_resolves_to_them(void **state) {
  static const char text[] = "a text of more than twenty-two bytes";
  fixture *f = *state;
  TF_Tensor *tensor = TF_AllocateTensor(TF_STRING, NULL, 0, sizeof(TF_TString));
  TF_TString *element = TF_TensorData(tensor);
  TF_StringInit(element);
  TF_StringCopy(element, text, strlen(text));
  TFE_TensorHandle *handle = TFE_NewTensorHandle(tensor, f->status);
  succeeded(f->status);
  TF_DeleteTensor(tensor);
  TFE_TensorHandle *copy = TFE_TensorHandleCopyToDevice(handle, f->context, "/cpu:0", f->status);
  succeeded(f->status);
  TFE_DeleteTensorHandle(handle);
  TFE_TensorHandle *shared = TFE_TensorHandleCopySharingTensor(copy, f->status);
  TFE_DeleteTensorHandle(copy);
  TF_Tensor *resolved = TFE_TensorHandleResolve(shared, f->status);
  assert_ptr_equal(TF_TensorData(resolved), element);
  assert_memory_equal(TF_StringGetDataPointer(element), text, strlen(text));
  TF_StringDealloc(element);
  TF_DeleteTensor(resolved);
  TFE_DeleteTensorHandle(shared);
}

static void test_op__runs(void **state) {
  fixture *f = *state;
  TFE_Op *op = new_op(f, "MatMul");
  TFE_OpAddInput(op, f->matrix, f->status);
  TFE_OpAddInput(op, f->matrix, f->status);
  TFE_OpSetAttrBool(op, "transpose_a", 1);
  succeeded(f->status);
  assert_string_equal(TFE_OpGetName(op, f->status), "MatMul");
  assert_int_equal(TFE_OpGetInputLength(op, "a", f->status), 1);
  unsigned char is_list = 1;
  assert_int_equal(TFE_OpGetAttrType(op, "T", &is_list, f->status), TF_ATTR_TYPE);
  assert_int_equal(is_list, 0);
  assert_true(first_of(f, execute(f, op)) == 10);
}

static void test_op__keeps_what_a_tensor_had(void **state) {
  fixture *f = *state;
  const int64_t dims[] = {2, 2};
  TF_Tensor *tensor = float_tensor(dims, 2, MATRIX);
  TFE_Op *op = new_op(f, "Const");
  TFE_OpSetAttrTensor(op, "value", tensor, f->status);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  succeeded(f->status);
  *(float *)TF_TensorData(tensor) = 7;
  assert_true(first_of(f, execute(f, op)) == 1);
  TF_DeleteTensor(tensor);
}

static void test_op__infers_lists(void **state) {
  fixture *f = *state;
  TFE_TensorHandle *three[] = {f->matrix, f->matrix, f->matrix}, *results[4];
  int count = 4;
  TFE_Op *sum = new_op(f, "AddN"), *same = new_op(f, "IdentityN");
  TFE_OpAddInputList(sum, three, 3, f->status);
  assert_int_equal(TFE_OpGetInputLength(sum, "inputs", f->status), 3);
  assert_true(first_of(f, execute(f, sum)) == 3);
  TFE_OpAddInputList(same, three, 2, f->status);
  assert_int_equal(TFE_OpGetOutputLength(same, "output", f->status), 2);
  TFE_Execute(same, results, &count, f->status);
  succeeded(f->status);
  assert_int_equal(count, 2);
  for (int i = 0; i < count; i++) TFE_DeleteTensorHandle(results[i]);
  TFE_DeleteOp(same);
}

static void test_op__takes_the_first_value_of_an_attribute(void **state) {
  fixture *f = *state;
  int64_t length = 3;
  float value = 7;
  TFE_TensorHandle *dims = NULL, *filled = NULL;
  TF_Tensor *tensor = TF_AllocateTensor(TF_INT64, (int64_t[]){1}, 1, sizeof length);
  memcpy(TF_TensorData(tensor), &length, sizeof length);
  dims = TFE_NewTensorHandle(tensor, f->status);
  filled = TFE_NewTensorHandleFromScalar(TF_FLOAT, &value, sizeof value, f->status);
  succeeded(f->status);
  TFE_Op *op = new_op(f, "Fill");
  TFE_OpAddInput(op, dims, f->status);
  TFE_OpAddInput(op, filled, f->status);
  TFE_OpSetAttrType(op, "index_type", TF_INT32);  // the input has said TF_INT64
  assert_true(first_of(f, execute(f, op)) == 7);
  TF_DeleteTensor(tensor);
  TFE_DeleteTensorHandle(dims);
  TFE_DeleteTensorHandle(filled);
}

static void test_op__that_does_not_fit_is_refused(void **state) {
  fixture *f = *state;
  TFE_TensorHandle *result = NULL;
  int count = 0;
  assert_null(TFE_NewOp(f->context, "NoSuchOp", f->status));
  failed(f->status, TF_NOT_FOUND, "'NoSuchOp' is neither a type of a primitive operation");
  TFE_Op *op = new_op(f, "MatMul");
  TFE_OpAddInput(op, f->matrix, f->status);
  count = 1;
  TFE_Execute(op, &result, &count, f->status);
  assert_int_equal(TF_GetCode(f->status), TF_INVALID_ARGUMENT);
  TFE_OpAddInput(op, f->matrix, f->status);
  count = 0;
  TFE_Execute(op, &result, &count, f->status);
  failed(f->status, TF_INVALID_ARGUMENT, "Expecting 1 outputs, but *num_retvals is 0");
  TFE_OpAddInput(op, NULL, f->status);
  failed(f->status, TF_INVALID_ARGUMENT, "Invalid handle");
  TFE_OpGetInputLength(op, "none", f->status);
  failed(f->status, TF_INVALID_ARGUMENT, "'none' not found");
  TFE_OpGetAttrType(op, "none", NULL, f->status);
  failed(f->status, TF_INVALID_ARGUMENT, "Attribute 'none' does not exist");
  TFE_OpReset(op, "Neg", NULL, f->status);
  succeeded(f->status);
  TFE_OpAddInput(op, f->matrix, f->status);
  assert_true(first_of(f, execute(f, op)) == -1);
}

static void test_variables__keep_values(void **state) {
  fixture *f = *state;
  static const int64_t dims[] = {2, 2};
  TFE_Op *op = new_op(f, "VarHandleOp");
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  TFE_OpSetAttrShape(op, "shape", dims, 2, f->status);
  TFE_OpSetAttrString(op, "shared_name", "", 0);
  TFE_TensorHandle *variable = execute(f, op);
  assert_int_equal(TFE_TensorHandleDataType(variable), TF_RESOURCE);
  int count = 0;
  op = new_op(f, "AssignVariableOp");
  TFE_OpAddInput(op, variable, f->status);
  TFE_OpAddInput(op, f->matrix, f->status);
  TFE_Execute(op, NULL, &count, f->status);
  succeeded(f->status);
  TFE_DeleteOp(op);
  op = new_op(f, "ReadVariableOp");
  TFE_OpAddInput(op, variable, f->status);
  TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
  assert_true(first_of(f, execute(f, op)) == 1);
  TFE_DeleteTensorHandle(variable);
}

static void test_functions__run(void **state) {
  fixture *f = *state;
  TF_Graph *body = TF_NewGraph();
  TF_Output x = placeholder(body, "x", TF_FLOAT), y = unary(body, "Neg", "y", x);
  TF_Function *function =
      TF_GraphToFunction(body, "Negate", 0, -1, NULL, 1, &x, 1, &y, NULL, NULL, NULL, f->status);
  succeeded(f->status);
  TF_DeleteGraph(body);
  TFE_ContextAddFunction(f->context, function, f->status);
  succeeded(f->status);
  TF_DeleteFunction(function);
  assert_true(TFE_ContextHasFunction(f->context, "Negate"));
  TFE_Op *op = new_op(f, "Negate");
  TFE_OpAddInput(op, f->matrix, f->status);
  assert_true(first_of(f, execute(f, op)) == -1);
  TFE_ContextRemoveFunction(f->context, "Negate", f->status);
  succeeded(f->status);
  assert_false(TFE_ContextHasFunction(f->context, "Negate"));
  TFE_ContextRemoveFunction(f->context, "Negate", f->status);
  failed(f->status, TF_INVALID_ARGUMENT, "Tried to remove non-existent function 'Negate'.");
}

static void test_context__lists_its_devices(void **state) {
  fixture *f = *state;
  TF_DeviceList *list = TFE_ContextListDevices(f->context, f->status);
  assert_int_equal(TF_DeviceListCount(list), 1);
  assert_string_equal(TF_DeviceListType(list, 0, f->status), "CPU");
  TF_DeleteDeviceList(list);
  TFE_TensorHandle *copy = TFE_TensorHandleCopyToDevice(f->matrix, f->context, "CPU:0", f->status);
  succeeded(f->status);
  assert_true(first_of(f, copy) == 1);
  assert_null(TFE_TensorHandleCopyToDevice(f->matrix, f->context, "/device:CPU:7", f->status));
  failed(f->status, TF_INVALID_ARGUMENT, "/device:CPU:7 unknown device.");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_handle__tells_of_its_tensor, begin, end),
      cmocka_unit_test_setup_teardown(test_handle__of_texts_resolves_to_them, begin, end),
      cmocka_unit_test_setup_teardown(test_op__runs, begin, end),
      cmocka_unit_test_setup_teardown(test_op__keeps_what_a_tensor_had, begin, end),
      cmocka_unit_test_setup_teardown(test_op__infers_lists, begin, end),
      cmocka_unit_test_setup_teardown(test_op__takes_the_first_value_of_an_attribute, begin, end),
      cmocka_unit_test_setup_teardown(test_op__that_does_not_fit_is_refused, begin, end),
      cmocka_unit_test_setup_teardown(test_variables__keep_values, begin, end),
      cmocka_unit_test_setup_teardown(test_functions__run, begin, end),
      cmocka_unit_test_setup_teardown(test_context__lists_its_devices, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
