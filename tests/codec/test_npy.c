// NumPy's files: every dtype comes back, NumPy's own files are read, damage and lies are statuses.
#include <rheos/format.h>

#include "codec/buffer.h"
#include "format/format_support.h"

static rheos_tensor *decode(const char *descr, const char *rest, const void *data,
                            size_t size_bytes, rheos_status **out_status) {
  rheos__buffer file = {0};
  char *header = rheos__text_format("{'descr': %s, %s}\n", descr, rest);
  const size_t length = strlen(header);
  const char start[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)length, (char)(length >> 8)};
  rheos__buffer_put(&file, start, sizeof start);
  rheos__buffer_put(&file, header, length);
  rheos__buffer_put(&file, data, size_bytes);
  rheos_tensor *tensor;
  *out_status = rheos_npy_decode(file.data, file.size_bytes, &tensor);
  rheos__free(header);
  rheos__buffer_deinit(&file);
  return tensor;
}

static rheos_tensor *expect_decoded(const char *descr, const char *rest, const void *data,
                                    size_t size_bytes) {
  rheos_status *status;
  rheos_tensor *tensor = decode(descr, rest, data, size_bytes, &status);
  expect_ok(status);
  return tensor;
}

static void expect_refused(const char *descr, const char *rest, size_t size_bytes,
                           rheos_code code) {
  static const char zeros[256];
  rheos_status *status;
  assert_null(decode(descr, rest, zeros, size_bytes, &status));
  assert_int_equal(rheos_status_code(status), code);
  rheos_status_free(status);
}

static void expect_same(const rheos_tensor *a, const rheos_tensor *b) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)));
  assert_int_equal(rheos_tensor_dtype(a), rheos_tensor_dtype(b));
  assert_memory_equal(rheos_tensor_data(a), rheos_tensor_data(b), rheos_tensor_size_bytes(a));
}

static void test_npy__every_dtype_comes_back(void **state) {
  (void)state;
  static const rheos_dtype dtypes[] = {
      RHEOS_FLOAT,  RHEOS_DOUBLE, RHEOS_HALF,  RHEOS_BFLOAT16,  RHEOS_INT8,
      RHEOS_INT16,  RHEOS_INT32,  RHEOS_INT64, RHEOS_UINT8,     RHEOS_UINT16,
      RHEOS_UINT32, RHEOS_UINT64, RHEOS_BOOL,  RHEOS_COMPLEX64, RHEOS_COMPLEX128};
  static const rheos_shape shapes[] = {{.rank = 0},
                                       {.rank = 1, .dims = {1}},
                                       {.rank = 2, .dims = {0, 3}},
                                       {.rank = 8, .dims = {1, 2, 1, 3, 1, 1, 2, 1}}};
  for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      rheos_tensor *tensor, *again;
      expect_ok(rheos_tensor_new(dtypes[d], shapes[s], &tensor));
      char *data = rheos_tensor_data(tensor);
      for (size_t i = 0; i < rheos_tensor_size_bytes(tensor); i++) {
        data[i] = (char)(dtypes[d] == RHEOS_BOOL ? i % 2 : i * 7);
      }
      void *bytes;
      size_t size_bytes;
      expect_ok(rheos_npy_encode(tensor, &bytes, &size_bytes));
      assert_int_equal((size_bytes - rheos_tensor_size_bytes(tensor)) % 64, 0);
      expect_ok(rheos_npy_decode(bytes, size_bytes, &again));
      expect_same(tensor, again);
      for (size_t cut = 0; cut < size_bytes; cut++) {
        char *part = rheos__alloc(cut);
        memcpy(part, bytes, cut);
        rheos_tensor *none;
        expect_error(rheos_npy_decode(part, cut, &none), RHEOS_DATA_LOSS, "not a sound .npy");
        rheos__free(part);
      }
      rheos_free(bytes);
      rheos_tensor_unref(tensor);
      rheos_tensor_unref(again);
    }
  }
}

static void test_npy__any_order_of_bytes_and_axes(void **state) {
  (void)state;
  const uint8_t big[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6};
  rheos_tensor *tensor =
      expect_decoded("'>i2'", "'fortran_order': True, 'shape': (2, 3), ", big, sizeof big);
  const int16_t rows[] = {1, 3, 5, 2, 4, 6};
  assert_memory_equal(rheos_tensor_data(tensor), rows, sizeof rows);
  rheos_tensor_unref(tensor);
  // Python 2 wrote long integers; keys may come in any order.
  tensor = expect_decoded("\"<u1\"", "'shape': (2L, 3L,), 'fortran_order': False", big, 6);
  assert_memory_equal(rheos_tensor_data(tensor), big, 6);
  rheos_tensor_unref(tensor);
  const uint8_t parts[] = {0x3f, 0x80, 0, 0, 0x40, 0, 0, 0};
  tensor = expect_decoded("'>c8'", "'fortran_order': False, 'shape': ()", parts, 8);
  const float complex_parts[] = {1.0f, 2.0f};
  assert_memory_equal(rheos_tensor_data(tensor), complex_parts, sizeof complex_parts);
  rheos_tensor_unref(tensor);
  const uint8_t truths[] = {0, 1, 2, 255}, clean[] = {0, 1, 1, 1};
  tensor = expect_decoded("'|b1'", "'fortran_order': False, 'shape': (4,)", truths, 4);
  assert_memory_equal(rheos_tensor_data(tensor), clean, 4);
  rheos_tensor_unref(tensor);
}

static void expect_text(const rheos_tensor *tensor, int64_t index, const char *text) {
  const rheos_string *string = (const rheos_string *)rheos_tensor_data(tensor) + index;
  assert_int_equal(string->size_bytes, strlen(text));
  if (string->size_bytes > 0) assert_memory_equal(string->data, text, string->size_bytes);
}

static void test_npy__texts(void **state) {
  (void)state;
  rheos_tensor *tensor =
      expect_decoded("'|S3'", "'fortran_order': True, 'shape': (2, 2)", "ab\0\0\0\0xyz\0q\0", 12);
  expect_text(tensor, 0, "ab");
  expect_text(tensor, 1, "xyz");
  expect_text(tensor, 2, "");
  assert_int_equal(((rheos_string *)rheos_tensor_data(tensor))[3].size_bytes, 2);
  rheos_tensor *again;
  void *bytes;
  size_t size_bytes;
  expect_ok(rheos_npy_encode(tensor, &bytes, &size_bytes));
  expect_ok(rheos_npy_decode(bytes, size_bytes, &again));
  expect_text(again, 1, "xyz");
  rheos_free(bytes);
  rheos_tensor_unref(again);
  expect_ok(rheos_tensor_set_string(tensor, 0, "a\0", 2));
  expect_error(rheos_npy_encode(tensor, &bytes, &size_bytes), RHEOS_INVALID_ARGUMENT, "NUL");
  rheos_tensor_unref(tensor);
  const uint32_t characters[] = {0x1f600, 0xe9, 0, 0};
  tensor = expect_decoded("'<U2'", "'fortran_order': False, 'shape': (2,)", characters, 16);
  expect_text(tensor, 0, "\xf0\x9f\x98\x80\xc3\xa9");
  expect_text(tensor, 1, "");
  rheos_tensor_unref(tensor);
  const uint32_t wrong[] = {0xd800};
  rheos_status *status;
  assert_null(decode("'<U1'", "'fortran_order': False, 'shape': ()", wrong, 4, &status));
  expect_error(status, RHEOS_DATA_LOSS, "character");
}

static void test_npy__lies_are_refused(void **state) {
  (void)state;
  static const char *const rests[] = {
      "'fortran_order': False, 'shape': (100,)",
      "'fortran_order': False, 'shape': (4611686018427387904, 4, 4)",
      "'fortran_order': False, 'shape': (99999999999999999999,)",
      "'fortran_order': False, 'shape': (-1,)",
      "'fortran_order': False, 'shape': (1, 2",
      "'fortran_order': False, 'shape': 3",
      "'fortran_order': 0, 'shape': (1,)",
      "'fortran_order': False",
      "'shape': (1,)",
      "'fortran_order': False, 'shape': (1,), 'more': 1",
      "'fortran_order': False, 'shape",
  };
  for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
    expect_refused("'<f4'", rests[i], 64, RHEOS_DATA_LOSS);
  }
  static const char fine[] = "'fortran_order': False, 'shape': (1,)";
  expect_refused("'|S0'", "'fortran_order': False, 'shape': (1000000000000,)", 0, RHEOS_DATA_LOSS);
  expect_refused("'|O'", fine, 64, RHEOS_UNIMPLEMENTED);
  expect_refused("'<f16'", fine, 64, RHEOS_UNIMPLEMENTED);
  expect_refused("'<M8[ns]'", fine, 64, RHEOS_UNIMPLEMENTED);
  expect_refused("[('a', '<f4')]", fine, 64, RHEOS_UNIMPLEMENTED);
  expect_refused("'<f4'", "'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)", 64,
                 RHEOS_INVALID_ARGUMENT);
}

// ---- Archives

static rheos__buffer archive(bool compress) {
  rheos_tensor *tensors[2];
  expect_ok(rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(500), &tensors[0]));
  for (int i = 0; i < 500; i++) ((int32_t *)rheos_tensor_data(tensors[0]))[i] = i / 10;
  const double value = 2.5;
  expect_ok(rheos_tensor_from_values(RHEOS_DOUBLE, RHEOS_SCALAR, &value, &tensors[1]));
  static const char *const names[] = {"numbers", "one/value"};
  void *bytes;
  size_t size_bytes;
  expect_ok(rheos_npz_encode(names, tensors, 2, compress, &bytes, &size_bytes));
  rheos_tensor_unref(tensors[0]);
  rheos_tensor_unref(tensors[1]);
  return (rheos__buffer){.data = bytes, .size_bytes = size_bytes};
}

static void test_npz__comes_back(void **state) {
  (void)state;
  for (int compress = 0; compress < 2; compress++) {
    rheos__buffer file = archive(compress);
    rheos_npz *npz;
    expect_ok(rheos_npz_open(file.data, file.size_bytes, &npz));
    assert_int_equal(rheos_npz_count(npz), 2);
    assert_string_equal(rheos_npz_name(npz, 1), "one/value");
    rheos_tensor *tensor;
    expect_ok(rheos_npz_read(npz, 0, &tensor));
    assert_int_equal(((int32_t *)rheos_tensor_data(tensor))[499], 49);
    rheos_tensor_unref(tensor);
    expect_ok(rheos_npz_read(npz, 1, &tensor));
    assert_true(*(double *)rheos_tensor_data(tensor) == 2.5);
    rheos_tensor_unref(tensor);
    expect_error(rheos_npz_read(npz, 2, &tensor), RHEOS_INVALID_ARGUMENT, "no array");
    rheos_npz_free(npz);
    rheos__buffer_deinit(&file);
  }
}

// Reads all there is; whether all of it could be read.
static bool read_all(const char *bytes, size_t size_bytes) {
  char *copy = rheos__alloc(size_bytes);  // so that a sanitizer sees its end
  if (size_bytes > 0) memcpy(copy, bytes, size_bytes);
  rheos_npz *npz;
  rheos_status *status = rheos_npz_open(copy, size_bytes, &npz);
  bool all = status == NULL;
  rheos_status_free(status);
  for (size_t i = 0; npz != NULL && i < rheos_npz_count(npz); i++) {
    rheos_tensor *tensor;
    status = rheos_npz_read(npz, i, &tensor);
    all = all && status == NULL;
    rheos_status_free(status);
    rheos_tensor_unref(tensor);
  }
  rheos_npz_free(npz);
  rheos__free(copy);
  return all;
}

static void test_npz__damage_is_found(void **state) {
  (void)state;
  for (int compress = 0; compress < 2; compress++) {
    rheos__buffer file = archive(compress);
    assert_true(read_all(file.data, file.size_bytes));
    for (size_t cut = 0; cut < file.size_bytes; cut++) assert_false(read_all(file.data, cut));
    // Bits of dates and the like mean nothing; no bit may do harm.
    size_t unharmed = 0;
    for (size_t bit = 0; bit < 8 * file.size_bytes; bit++) {
      file.data[bit / 8] ^= (char)(1 << bit % 8);
      unharmed += read_all(file.data, file.size_bytes);
      file.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(unharmed < file.size_bytes * 8 / 2);
    rheos__buffer_deinit(&file);
  }
}

static void test_npy__the_last_of_equal_keys_counts(void **state) {
  (void)state;
  static const unsigned char ones[24] = {0x3f, 0xf0, 0, 0, 0,    0,    0, 0, 0x3f, 0xf0, 0, 0,
                                         0,    0,    0, 0, 0x3f, 0xf0, 0, 0, 0,    0,    0, 0};
  rheos_tensor *tensor = expect_decoded(
      "'<f4'", "'fortran_order': False, 'descr': '>f8', 'shape': (9,), 'shape': (3,)", ones,
      sizeof ones);
  assert_int_equal(rheos_tensor_dtype(tensor), RHEOS_DOUBLE);
  assert_int_equal(rheos_tensor_num_elements(tensor), 3);
  const double *values = rheos_tensor_data(tensor);
  assert_true(values[0] == 1 && values[1] == 1 && values[2] == 1);
  rheos_tensor_unref(tensor);
  static const char bytes[3] = {1, 2, 3};
  tensor = expect_decoded("'>f8'", "'fortran_order': False, 'shape': (3,), 'descr': '|i1'", bytes,
                          sizeof bytes);
  assert_int_equal(rheos_tensor_dtype(tensor), RHEOS_INT8);
  assert_memory_equal(rheos_tensor_data(tensor), bytes, sizeof bytes);
  rheos_tensor_unref(tensor);
  expect_refused("'<f4'", "'fortran_order': False, 'shape': (3,), 'descr': '<q4'", 12,
                 RHEOS_UNIMPLEMENTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_npy__every_dtype_comes_back),
      cmocka_unit_test(test_npy__any_order_of_bytes_and_axes),
      cmocka_unit_test(test_npy__the_last_of_equal_keys_counts),
      cmocka_unit_test(test_npy__texts),
      cmocka_unit_test(test_npy__lies_are_refused),
      cmocka_unit_test(test_npz__comes_back),
      cmocka_unit_test(test_npz__damage_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
