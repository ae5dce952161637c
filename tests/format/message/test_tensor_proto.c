// Shapes and tensors as messages: the typed lists, a last value that stands for the rest, and what
// is refused.
#include "format/message/tensor_proto.h"

#include <rheos/format.h>

#include "format/format_support.h"

static rheos_tensor *tensor_of(const Tensorflow__TensorProto *proto) {
  rheos_tensor *tensor;
  expect_ok(rheos__tensor_from_proto(proto, &tensor));
  return tensor;
}

// A message of a vector of that many elements.
static Tensorflow__TensorProto vector_of(rheos_dtype dtype, Tensorflow__TensorShapeProto *shape,
                                         int64_t size) {
  static Tensorflow__TensorShapeProto__Dim dim = TENSORFLOW__TENSOR_SHAPE_PROTO__DIM__INIT;
  static Tensorflow__TensorShapeProto__Dim *dims[] = {&dim};
  dim.size = size;
  *shape = (Tensorflow__TensorShapeProto)TENSORFLOW__TENSOR_SHAPE_PROTO__INIT;
  shape->n_dim = 1;
  shape->dim = dims;
  Tensorflow__TensorProto proto = TENSORFLOW__TENSOR_PROTO__INIT;
  proto.dtype = (Tensorflow__DataType)dtype;
  proto.tensor_shape = shape;
  return proto;
}

static void test_tensor_proto__the_last_value_stands_for_the_rest(void **state) {
  (void)state;
  Tensorflow__TensorShapeProto shape;
  Tensorflow__TensorProto proto = vector_of(RHEOS_INT32, &shape, 5);
  proto.n_int_val = 2;
  proto.int_val = (int32_t[]){7, 9};
  rheos_tensor *tensor = tensor_of(&proto);
  assert_int_equal(rheos_tensor_num_elements(tensor), 5);
  assert_memory_equal(rheos_tensor_data(tensor), ((int32_t[]){7, 9, 9, 9, 9}), 20);
  rheos_tensor_unref(tensor);
  proto.n_int_val = 0;
  tensor = tensor_of(&proto);
  assert_memory_equal(rheos_tensor_data(tensor), ((int32_t[5]){0}), 20);
  rheos_tensor_unref(tensor);
}

static void test_tensor_proto__content_has_the_bytes(void **state) {
  (void)state;
  Tensorflow__TensorShapeProto shape;
  Tensorflow__TensorProto proto = vector_of(RHEOS_FLOAT, &shape, 2);
  float numbers[] = {1.5F, -2};
  proto.tensor_content = (ProtobufCBinaryData){sizeof numbers, (uint8_t *)numbers};
  rheos_tensor *tensor = tensor_of(&proto);
  assert_memory_equal(rheos_tensor_data(tensor), numbers, sizeof numbers);
  rheos_tensor_unref(tensor);
  proto.tensor_content.len = 7;
  expect_error(rheos__tensor_from_proto(&proto, &tensor), RHEOS_INVALID_ARGUMENT, "7");
  assert_null(tensor);
}

static void test_tensor_proto__leaves_out_values_beyond_the_shape(void **state) {
  (void)state;
  Tensorflow__TensorShapeProto shape;
  Tensorflow__TensorProto proto = vector_of(RHEOS_INT64, &shape, 1);
  proto.n_int64_val = 2;
  proto.int64_val = (int64_t[]){1, 2};
  rheos_tensor *tensor = tensor_of(&proto);
  assert_int_equal(rheos_tensor_num_elements(tensor), 1);
  assert_int_equal(*(int64_t *)rheos_tensor_data(tensor), 1);
  rheos_tensor_unref(tensor);
}

static void test_tensor_proto__refuses_dtypes_that_no_tensor_has(void **state) {
  (void)state;
  rheos_dtype dtype;
  expect_ok(rheos__dtype_from_proto(RHEOS_BFLOAT16, &dtype));
  assert_int_equal(dtype, RHEOS_BFLOAT16);
  expect_error(rheos__dtype_from_proto(99, &dtype), RHEOS_INVALID_ARGUMENT, "99");
  expect_error(rheos__dtype_from_proto(-1, &dtype), RHEOS_INVALID_ARGUMENT, "-1");
  expect_error(rheos__dtype_from_proto(0, &dtype), RHEOS_INVALID_ARGUMENT, "0");
}

static void expect_round_trip(rheos_tensor *tensor) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__TensorProto *proto;
  expect_ok(rheos__tensor_to_proto(tensor, &arena, &proto));
  rheos_tensor *again = tensor_of(proto);
  assert_int_equal(rheos_tensor_dtype(again), rheos_tensor_dtype(tensor));
  assert_true(rheos_shape_equal(rheos_tensor_shape(again), rheos_tensor_shape(tensor)));
  assert_int_equal(rheos_tensor_size_bytes(again), rheos_tensor_size_bytes(tensor));
  assert_memory_equal(rheos_tensor_data(again), rheos_tensor_data(tensor),
                      rheos_tensor_size_bytes(tensor));
  rheos_tensor_unref(again);
  rheos_tensor_unref(tensor);
  rheos__arena_deinit(&arena);
}

static void test_tensor_proto__numbers_come_back(void **state) {
  (void)state;
  static const rheos_dtype dtypes[] = {RHEOS_FLOAT, RHEOS_DOUBLE,    RHEOS_INT8,      RHEOS_UINT16,
                                       RHEOS_HALF,  RHEOS_BFLOAT16,  RHEOS_INT64,     RHEOS_UINT64,
                                       RHEOS_BOOL,  RHEOS_COMPLEX64, RHEOS_COMPLEX128};
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    const rheos_shape shapes[] = {RHEOS_SCALAR, RHEOS_SHAPE(2, 3), RHEOS_SHAPE(1)};
    for (size_t k = 0; k < 3; k++) {
      rheos_tensor *tensor;
      expect_ok(rheos_tensor_new(dtypes[i], shapes[k], &tensor));
      char *bytes = rheos_tensor_data(tensor);
      for (size_t b = 0; b < rheos_tensor_size_bytes(tensor); b++) bytes[b] = b % 2 == 0;
      expect_round_trip(tensor);
    }
  }
}

static void test_tensor_proto__strings_come_back(void **state) {
  (void)state;
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(2), &tensor));
  expect_ok(rheos_tensor_set_string(tensor, 0, "a\0b", 3));
  Tensorflow__TensorProto *proto;
  expect_ok(rheos__tensor_to_proto(tensor, &arena, &proto));
  assert_int_equal(rheos__tensor_proto_length(proto, RHEOS_STRING), 2);
  rheos_tensor *again = tensor_of(proto);
  const rheos_string *strings = rheos_tensor_data(again);
  assert_int_equal(strings[0].size_bytes, 3);
  assert_memory_equal(strings[0].data, "a\0b", 3);
  assert_int_equal(strings[1].size_bytes, 0);
  rheos_tensor_unref(again);
  rheos_tensor_unref(tensor);
  rheos__arena_deinit(&arena);
}

static void test_shape_proto__comes_back(void **state) {
  (void)state;
  rheos__arena arena;
  rheos__arena_init(&arena);
  const rheos_shape shapes[] = {RHEOS_SCALAR, RHEOS_UNKNOWN_SHAPE, RHEOS_SHAPE(2, -1, 0)};
  for (size_t i = 0; i < 3; i++) {
    Tensorflow__TensorShapeProto *proto;
    rheos_shape again;
    expect_ok(rheos__shape_to_proto(&shapes[i], &arena, &proto));
    expect_ok(rheos__shape_from_proto(proto, &again));
    assert_int_equal(again.rank, shapes[i].rank);
    for (int32_t d = 0; d < again.rank; d++) assert_int_equal(again.dims[d], shapes[i].dims[d]);
  }
  rheos_shape scalar;
  expect_ok(rheos__shape_from_proto(NULL, &scalar));
  assert_int_equal(scalar.rank, 0);
  rheos__arena_deinit(&arena);
}

static void test_tensor_proto__programs_read_tensors(void **state) {
  (void)state;
  static const char text[] =
      "dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: 1 float_val: 2.5";
  void *message;
  size_t size_bytes;
  rheos_tensor *tensor;
  expect_ok(rheos_message_from_text("TensorProto", text, sizeof text - 1, &message, &size_bytes));
  expect_ok(rheos_tensor_from_proto(message, size_bytes, &tensor));
  const float expected[] = {1, 2.5f, 2.5f};  // the last one again
  assert_int_equal(rheos_tensor_dtype(tensor), RHEOS_FLOAT);
  assert_int_equal(rheos_tensor_num_elements(tensor), 3);
  assert_memory_equal(rheos_tensor_data(tensor), expected, sizeof expected);
  rheos_tensor_unref(tensor);
  expect_error(rheos_tensor_from_proto(message, size_bytes - 1, &tensor), RHEOS_DATA_LOSS, "");
  assert_null(tensor);
  rheos_free(message);
  expect_error(rheos_tensor_from_proto("", 0, &tensor), RHEOS_INVALID_ARGUMENT, "dtype");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tensor_proto__the_last_value_stands_for_the_rest),
      cmocka_unit_test(test_tensor_proto__content_has_the_bytes),
      cmocka_unit_test(test_tensor_proto__leaves_out_values_beyond_the_shape),
      cmocka_unit_test(test_tensor_proto__refuses_dtypes_that_no_tensor_has),
      cmocka_unit_test(test_tensor_proto__numbers_come_back),
      cmocka_unit_test(test_tensor_proto__strings_come_back),
      cmocka_unit_test(test_shape_proto__comes_back),
      cmocka_unit_test(test_tensor_proto__programs_read_tensors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
