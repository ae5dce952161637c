// Statuses, buffers, strings, tensors: layouts that programs rely on, who frees what.
#include "capi/capi_fixture.h"

#include <errno.h>

_Static_assert(sizeof(TF_TString) == 24, "programs read strings themselves");
_Static_assert(sizeof(TF_Buffer) == 24 && sizeof(TF_Output) == 16, "given by value");
_Static_assert(sizeof(TF_AttrMetadata) == 32 && sizeof(TF_WhileParams) == 72, "given by value");

static void test_status__keeps_code_and_message(void **state) {
  (void)state;
  TF_Status *status = TF_NewStatus();
  assert_int_equal(TF_GetCode(status), TF_OK);
  assert_string_equal(TF_Message(status), "");
  TF_SetStatus(status, TF_CANCELLED, "cancel");
  failed(status, TF_CANCELLED, "cancel");
  TF_SetStatus(status, TF_OK, "ignored");
  assert_string_equal(TF_Message(status), "");
  TF_SetStatusFromIOError(status, ENOENT, "x");
  failed(status, TF_NOT_FOUND, "x; No such file or directory");
  TF_DeleteStatus(status);
  TF_DeleteStatus(NULL);
  TF_SetStatus(NULL, TF_CANCELLED, "nobody");
  assert_int_equal(TF_GetCode(NULL), TF_OK);
}

static void count_payload(const char *key, const char *value, void *capture) {
  if (strcmp(key, "a") == 0) assert_string_equal(value, "2");
  ++*(int *)capture;
}

static void test_status__has_payloads(void **state) {
  (void)state;
  int count = 0;
  TF_Status *status = TF_NewStatus();
  TF_SetPayload(status, "a", "1");  // not of TF_OK
  TF_SetStatus(status, TF_UNKNOWN, "");
  TF_SetPayload(status, "a", "1");
  TF_SetPayload(status, "b", "1");
  TF_SetPayload(status, "a", "2");
  TF_ForEachPayload(status, count_payload, &count);
  assert_int_equal(count, 2);
  TF_DeleteStatus(status);
}

static void test_buffer__of_bytes_is_a_copy(void **state) {
  (void)state;
  char bytes[] = "abc";
  TF_Buffer *buffer = TF_NewBufferFromString(bytes, 3);
  bytes[0] = 'x';
  TF_Buffer seen = TF_GetBuffer(buffer);
  assert_int_equal(seen.length, 3);
  assert_memory_equal(seen.data, "abc", 3);
  TF_DeleteBuffer(buffer);
  TF_DeleteBuffer(NULL);
}

static void test_strings__of_each_kind_are_read(void **state) {
  (void)state;
  static const char text[] = "a text of more than twenty-two bytes";
  TF_TString string;
  TF_StringInit(&string);
  assert_int_equal(TF_StringGetSize(&string), 0);
  TF_StringCopy(&string, text, 22);
  assert_int_equal(TF_StringGetType(&string), TF_TSTR_SMALL);
  assert_int_equal(string.u.raw.raw[0], 22 << 2);
  assert_memory_equal(TF_StringGetDataPointer(&string), text, 22);
  TF_StringCopy(&string, text, sizeof text);
  assert_int_equal(TF_StringGetType(&string), TF_TSTR_LARGE);
  assert_int_equal(TF_StringGetCapacity(&string) % 16, 15);
  assert_string_equal(TF_StringGetDataPointer(&string), text);
  TF_StringAssignView(&string, text, 5);
  assert_int_equal(TF_StringGetType(&string), TF_TSTR_VIEW);
  assert_ptr_equal(TF_StringGetDataPointer(&string), text);
  assert_int_equal(TF_StringGetSize(&string), 5);
  TF_TString_AppendN(&string, "xyz", 3);
  assert_memory_equal(TF_StringGetDataPointer(&string), "a texxyz", 8);
  TF_StringDealloc(&string);
}

static void count_call(void *data, size_t length, void *argument) {
  (void)data;
  (void)length;
  ++*(int *)argument;
}

static void test_tensor__keeps_the_programs_bytes(void **state) {
  (void)state;
  int calls = 0;
  _Alignas(64) float data[6] = {1, 2, 3, 4, 5, 6};
  int64_t dims[] = {2, 3}, other[] = {3, 2};
  TF_Tensor *tensor = TF_NewTensor(TF_FLOAT, dims, 2, data, sizeof data, count_call, &calls);
  assert_ptr_equal(TF_TensorData(tensor), data);
  assert_int_equal(TF_TensorType(tensor), TF_FLOAT);
  assert_int_equal(TF_NumDims(tensor), 2);
  assert_int_equal(TF_Dim(tensor, 1), 3);
  assert_int_equal(TF_Dim(tensor, 2), -1);
  assert_int_equal(TF_TensorElementCount(tensor), 6);
  assert_int_equal(TF_TensorByteSize(tensor), 24);
  assert_true(TF_TensorIsAligned(tensor));
  assert_null(TF_TensorMaybeMove(tensor));
  TF_SetShape(tensor, other, 2);
  assert_int_equal(TF_Dim(tensor, 0), 3);
  assert_int_equal(calls, 0);
  TF_DeleteTensor(tensor);
  assert_int_equal(calls, 1);
}

static void test_tensor__that_cannot_be_is_null_and_freed(void **state) {
  (void)state;
  int calls = 0;
  float data[6] = {0};
  int64_t dims[] = {2, 3}, negative[] = {-1, 3}, huge[] = {INT64_MAX, INT64_MAX};
  assert_null(TF_NewTensor(TF_FLOAT, dims, 2, data, 20, count_call, &calls));
  assert_null(TF_NewTensor(TF_FLOAT, negative, 2, data, 24, count_call, &calls));
  assert_null(TF_NewTensor(TF_FLOAT, huge, 2, data, 24, count_call, &calls));
  assert_null(TF_NewTensor(TF_FLOAT, NULL, 2, data, 24, count_call, &calls));
  assert_null(TF_NewTensor((TF_DataType)99, dims, 2, data, 24, count_call, &calls));
  assert_int_equal(calls, 5);
  assert_null(TF_AllocateTensor(TF_FLOAT, dims, 2, 20));
  TF_DeleteTensor(NULL);
}

static void test_tensor__of_strings_is_not_read_when_made(void **state) {
  (void)state;
  int calls = 0;
  int64_t dims[] = {2};
  TF_TString strings[2];
  memset(strings, 0xff, sizeof strings);
  TF_Tensor *tensor = TF_NewTensor(TF_STRING, dims, 1, strings, sizeof strings, count_call, &calls);
  assert_non_null(tensor);
  assert_ptr_equal(TF_TensorData(tensor), strings);
  TF_DeleteTensor(tensor);
  assert_int_equal(calls, 1);
}

// As Java's binding has it, which counts the length and the text of a small one.
static void test_tensor__of_strings_has_whole_elements(void **state) {
  (void)state;
  const int64_t dims[] = {2};
  TF_Tensor *tensor = TF_AllocateTensor(TF_STRING, dims, 1, 5);
  assert_int_equal(TF_TensorByteSize(tensor), 5);
  TF_TString *strings = TF_TensorData(tensor);
  memcpy(strings,
         "\x10"
         "abcd",
         5);
  assert_int_equal(TF_StringGetSize(&strings[0]), 4);
  assert_int_equal(TF_StringGetSize(&strings[1]), 0);
  TF_DeleteTensor(tensor);
  assert_null(TF_AllocateTensor(TF_STRING, (int64_t[]){INT64_MAX / 64}, 1, 5));
}

static void test_tensor__of_other_bits_shares_memory(void **state) {
  (void)state;
  float one = 1;
  int32_t bits;
  TF_Status *status = TF_NewStatus();
  TF_Tensor *from = float_tensor(NULL, 0, &one), *to = int_tensor(7);
  TF_TensorBitcastFrom(from, TF_DOUBLE, to, NULL, 0, status);
  assert_int_equal(TF_GetCode(status), TF_INVALID_ARGUMENT);
  TF_TensorBitcastFrom(from, TF_INT32, to, NULL, 0, status);
  succeeded(status);
  TF_DeleteTensor(from);
  memcpy(&bits, TF_TensorData(to), sizeof bits);
  assert_int_equal(bits, 0x3f800000);
  TF_DeleteTensor(to);
  TF_DeleteStatus(status);
}

static void test_sizes__are_tensorflows(void **state) {
  (void)state;
  static const size_t sizes[] = {4,  8, 4, 1, 2, 1, 0, 8, 8, 1, 1, 1, 4, 2, 2, 2, 2,
                                 16, 2, 0, 0, 4, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    assert_int_equal(TF_DataTypeSize((TF_DataType)(i + 1)), sizes[i]);
  }
  assert_int_equal(TF_DataTypeSize((TF_DataType)99), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_status__keeps_code_and_message),
      cmocka_unit_test(test_status__has_payloads),
      cmocka_unit_test(test_buffer__of_bytes_is_a_copy),
      cmocka_unit_test(test_strings__of_each_kind_are_read),
      cmocka_unit_test(test_tensor__keeps_the_programs_bytes),
      cmocka_unit_test(test_tensor__that_cannot_be_is_null_and_freed),
      cmocka_unit_test(test_tensor__of_strings_is_not_read_when_made),
      cmocka_unit_test(test_tensor__of_strings_has_whole_elements),
      cmocka_unit_test(test_tensor__of_other_bits_shares_memory),
      cmocka_unit_test(test_sizes__are_tensorflows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
