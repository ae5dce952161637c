// Tensors: memory, sharing, strings, views.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/counting_allocator.h"
#include "tensor/tensor.h"

static rheos_tensor *tensor_of(rheos_dtype dtype, rheos_shape shape, const void *values) {
  rheos_tensor *tensor;
  assert_null(rheos_tensor_from_values(dtype, shape, values, &tensor));
  return tensor;
}

static void test_tensor__data_is_aligned_whatever_its_size(void **state) {
  (void)state;
  const int64_t counts[] = {0, 1, 7, 4096, 4097, 100000};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    rheos_tensor *tensor;
    assert_null(rheos_tensor_new(RHEOS_INT8, RHEOS_SHAPE(counts[i]), &tensor));
    assert_int_equal((uintptr_t)rheos_tensor_data(tensor) % 64, 0);
    assert_int_equal(rheos_tensor_num_elements(tensor), counts[i]);
    memset(rheos_tensor_data(tensor), 1, rheos_tensor_size_bytes(tensor));
    assert_true(rheos__tensor_is_exclusive(tensor));
    rheos_tensor_unref(tensor);
  }
}

static void test_tensor__impossible_ones_are_a_status(void **state) {
  (void)state;
  rheos_tensor *tensor = (rheos_tensor *)1;
  rheos_status *status = rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(2, -1), &tensor);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_null(tensor);
  rheos_status_free(status);
  const int64_t million = 1 << 20;
  status = rheos_tensor_new(RHEOS_DOUBLE, RHEOS_SHAPE(million, million, million), &tensor);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
}

static void *refuse_large(void *user, size_t size_bytes) {
  (void)user;
  return size_bytes < 1 << 20 ? test_malloc(size_bytes) : NULL;
}

static void *refuse_growth(void *user, void *memory, size_t size_bytes) {
  (void)user;
  return test_realloc(memory, size_bytes);
}

static void release(void *user, void *memory) {
  (void)user;
  test_free(memory);
}

static void test_tensor__memory_that_cannot_be_had_is_a_status(void **state) {
  (void)state;
  rheos_allocator small = {refuse_large, refuse_growth, release, NULL};
  rheos_set_allocator(&small);
  rheos_tensor *tensor;
  rheos_status *status = rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(INT64_C(1) << 40), &tensor);
  assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
  assert_non_null(strstr(rheos_status_message(status), "[1099511627776]"));
  assert_null(tensor);
  rheos_status_free(status);
  rheos_set_allocator(NULL);
}

static void test_tensor__reshaped_shares_the_bytes(void **state) {
  (void)state;
  rheos_tensor *tensor = tensor_of(RHEOS_INT32, RHEOS_SHAPE(2, 3), (int32_t[]){1, 2, 3, 4, 5, 6});
  rheos_tensor *flat, *column;
  assert_null(rheos_tensor_reshaped(tensor, RHEOS_SHAPE(6), &flat));
  assert_null(rheos_tensor_reshaped(flat, RHEOS_SHAPE(6, 1), &column));
  assert_ptr_equal(rheos_tensor_data(column), rheos_tensor_data(tensor));
  assert_false(rheos__tensor_is_exclusive(tensor));
  assert_false(rheos__tensor_is_exclusive(flat));
  assert_true(rheos__tensor_can_keep(column));
  rheos_tensor_unref(tensor);
  rheos_tensor_unref(flat);
  assert_int_equal(((int32_t *)rheos_tensor_data(column))[5], 6);
  rheos_tensor *wrong;
  rheos_status *status = rheos_tensor_reshaped(column, RHEOS_SHAPE(7), &wrong);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  assert_null(wrong);
  rheos_tensor_unref(column);
}

static void count_release(void *argument) { ++*(int *)argument; }

static void test_tensor__borrowed_data_is_released_once(void **state) {
  (void)state;
  float data[2] = {1, 2};
  int released = 0;
  rheos_tensor *tensor;
  assert_null(
      rheos_tensor_borrow(RHEOS_FLOAT, RHEOS_SHAPE(2), data, count_release, &released, &tensor));
  assert_ptr_equal(rheos_tensor_data(tensor), data);
  assert_false(rheos__tensor_is_exclusive(tensor));
  assert_false(rheos__tensor_can_keep(tensor));
  rheos_tensor *copy;
  assert_null(rheos_tensor_copy(tensor, &copy));
  assert_true(rheos__tensor_can_keep(copy));
  assert_ptr_equal(rheos_tensor_ref(tensor), tensor);
  rheos_tensor_unref(tensor);
  assert_int_equal(released, 0);
  rheos_tensor_unref(tensor);
  assert_int_equal(released, 1);
  rheos_tensor_unref(copy);
}

static void test_tensor__borrowing_what_cannot_be_lent_fails(void **state) {
  (void)state;
  int released = 0;
  rheos_tensor *tensor;
  rheos_string strings[1] = {{NULL, 0}};
  rheos_status *status =
      rheos_tensor_borrow(RHEOS_STRING, RHEOS_SHAPE(1), strings, count_release, &released, &tensor);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  status =
      rheos_tensor_borrow(RHEOS_FLOAT, RHEOS_SHAPE(1), NULL, count_release, &released, &tensor);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  assert_int_equal(released, 0);
}

static void test_tensor__a_view_is_copied_not_kept(void **state) {
  (void)state;
  int32_t data[4] = {1, 2, 3, 4};
  rheos_tensor view;
  rheos__tensor_init_view(&view, RHEOS_INT32, &RHEOS_SHAPE(2, 2), data);
  assert_int_equal(rheos_tensor_num_elements(&view), 4);
  assert_int_equal(rheos_tensor_size_bytes(&view), 16);
  assert_false(rheos__tensor_can_keep(&view));
  assert_false(rheos__tensor_is_exclusive(&view));
  rheos_tensor *flat;
  assert_null(rheos_tensor_reshaped(&view, RHEOS_SHAPE(4), &flat));
  assert_ptr_not_equal(rheos_tensor_data(flat), data);
  assert_int_equal(((int32_t *)rheos_tensor_data(flat))[3], 4);
  assert_int_equal(rheos_tensor_shape(flat)->rank, 1);
  rheos_tensor_unref(flat);
}

static void test_tensor__strings_are_owned(void **state) {
  (void)state;
  rheos_tensor *tensor, *copy;
  assert_null(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(2), &tensor));
  const rheos_string *strings = rheos_tensor_data(tensor);
  assert_int_equal(strings[0].size_bytes, 0);
  char text[] = "a\0b";
  assert_null(rheos_tensor_set_string(tensor, 1, text, 3));
  text[0] = 'x';
  assert_null(rheos_tensor_copy(tensor, &copy));
  assert_null(rheos_tensor_set_string(tensor, 1, "longer than before", 18));
  const rheos_string *copies = rheos_tensor_data(copy);
  assert_int_equal(copies[1].size_bytes, 3);
  assert_memory_equal(copies[1].data, "a\0b", 4);
  assert_int_equal(strings[1].size_bytes, 18);
  rheos_status *status = rheos_tensor_set_string(tensor, 2, "", 0);
  assert_int_equal(rheos_status_code(status), RHEOS_OUT_OF_RANGE);
  rheos_status_free(status);
  rheos_tensor_unref(tensor);
  rheos_tensor_unref(copy);
}

// Ten thousand of them would take a hundred times the limit by themselves.
static void test_tensor__equal_strings_share_their_bytes(void **state) {
  (void)state;
  enum { COUNT = 10000, SIZE = 10000 };
  static char text[SIZE];
  static rheos_string strings[COUNT];
  memset(text, 'x', SIZE);
  for (int i = 0; i < COUNT; i++) strings[i] = (rheos_string){text, SIZE};
  strings[COUNT - 1] = (rheos_string){text, 3};
  counting_allocator counter = {.limit_bytes = 1 << 20};
  counting_allocator_install(&counter);
  rheos_tensor *tensor = tensor_of(RHEOS_STRING, RHEOS_SHAPE(COUNT), strings);
  assert_null(rheos_tensor_set_string(tensor, 1, "other", 5));
  const rheos_string *own = rheos_tensor_data(tensor);
  assert_int_equal(own[0].size_bytes, SIZE);
  assert_memory_equal(own[0].data, text, SIZE);
  assert_string_equal(own[1].data, "other");
  assert_memory_equal(own[2].data, text, SIZE);
  assert_string_equal(own[COUNT - 1].data, "xxx");
  rheos_tensor_unref(tensor);
  assert_int_equal(counter.alive, 0);
  rheos_set_allocator(NULL);
}

static void test_tensor__integers_of_any_width_are_read(void **state) {
  (void)state;
  const struct {
    rheos_dtype dtype;
    const void *value;
    int64_t expected;
  } cases[] = {
      {RHEOS_INT8, &(int8_t){-3}, -3},
      {RHEOS_UINT8, &(uint8_t){200}, 200},
      {RHEOS_INT16, &(int16_t){-300}, -300},
      {RHEOS_UINT16, &(uint16_t){60000}, 60000},
      {RHEOS_INT32, &(int32_t){-70000}, -70000},
      {RHEOS_UINT32, &(uint32_t){4000000000u}, 4000000000},
      {RHEOS_INT64, &(int64_t){INT64_MIN}, INT64_MIN},
      {RHEOS_BOOL, &(bool){true}, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    rheos_tensor *tensor = tensor_of(cases[i].dtype, RHEOS_SCALAR, cases[i].value);
    assert_true(rheos__tensor_int_at(tensor, 0) == cases[i].expected);
    rheos_tensor_unref(tensor);
  }
}

static void expect_unfilled(const rheos_tensor *values, rheos_shape shape) {
  rheos_tensor *none;
  rheos_status *status = rheos_tensor_filled(values, shape, &none);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_null(none);
  rheos_status_free(status);
}

static void test_tensor__the_last_value_fills_the_rest(void **state) {
  (void)state;
  const int32_t expected[] = {1, 2, 2, 2, 2};
  rheos_tensor *two = tensor_of(RHEOS_INT32, RHEOS_SHAPE(2), expected), *five, *empty, *none;
  assert_null(rheos_tensor_filled(two, RHEOS_SHAPE(5), &five));
  assert_memory_equal(rheos_tensor_data(five), expected, sizeof expected);
  assert_null(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(0), &empty));
  assert_null(rheos_tensor_filled(empty, RHEOS_SHAPE(3, 0), &none));
  expect_unfilled(five, RHEOS_SHAPE(2, 2));
  expect_unfilled(empty, RHEOS_SHAPE(1));
  expect_unfilled(two, RHEOS_UNKNOWN_SHAPE);
  rheos_tensor_unref(none);
  rheos_tensor_unref(empty);
  rheos_tensor_unref(five);
  rheos_tensor_unref(two);
}

static void test_tensor__borrowed_data_must_be_aligned(void **state) {
  (void)state;
  static const struct {
    rheos_dtype dtype;
    size_t alignment_bytes;
  } kinds[] = {{RHEOS_UINT8, 1}, {RHEOS_HALF, 2},      {RHEOS_FLOAT, 4},
               {RHEOS_INT64, 8}, {RHEOS_COMPLEX64, 4}, {RHEOS_COMPLEX128, 8}};
  _Alignas(16) char bytes[64];
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    for (size_t offset = 0; offset <= 16; offset++) {
      rheos_tensor *tensor;
      rheos_status *status =
          rheos_tensor_borrow(kinds[i].dtype, RHEOS_SHAPE(2), bytes + offset, NULL, NULL, &tensor);
      assert_int_equal(status == NULL, offset % kinds[i].alignment_bytes == 0);
      assert_int_equal(status == NULL, tensor != NULL);
      rheos_status_free(status);
      rheos_tensor_unref(tensor);
    }
  }
}

static void test_tensor__null_is_accepted_where_it_may_be(void **state) {
  (void)state;
  rheos_tensor_unref(NULL);
  assert_null(rheos_tensor_ref(NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tensor__data_is_aligned_whatever_its_size),
      cmocka_unit_test(test_tensor__impossible_ones_are_a_status),
      cmocka_unit_test(test_tensor__memory_that_cannot_be_had_is_a_status),
      cmocka_unit_test(test_tensor__reshaped_shares_the_bytes),
      cmocka_unit_test(test_tensor__borrowed_data_is_released_once),
      cmocka_unit_test(test_tensor__borrowing_what_cannot_be_lent_fails),
      cmocka_unit_test(test_tensor__a_view_is_copied_not_kept),
      cmocka_unit_test(test_tensor__strings_are_owned),
      cmocka_unit_test(test_tensor__equal_strings_share_their_bytes),
      cmocka_unit_test(test_tensor__integers_of_any_width_are_read),
      cmocka_unit_test(test_tensor__the_last_value_fills_the_rest),
      cmocka_unit_test(test_tensor__borrowed_data_must_be_aligned),
      cmocka_unit_test(test_tensor__null_is_accepted_where_it_may_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
