// The tables that keys are looked up in, against a plain list.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "resource/lookup_table.h"

enum { NUM_KEYS = 200, NUM_CHANGES = 3000 };

static void expect_ok(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static void expect_code(rheos_status *status, rheos_code code) {
  assert_int_equal(rheos_status_code(status), code);
  rheos_status_free(status);
}

static rheos__table *new_table(rheos__resources *resources, bool is_fixed, rheos_dtype key,
                               rheos_dtype value, rheos_shape shape) {
  const rheos__table_spec spec = {is_fixed, key, value, shape};
  rheos__resource *resource;
  expect_ok(rheos__resources_get(resources, &rheos__table_kind, "table", &spec, &resource));
  return (rheos__table *)resource;
}

static rheos_tensor *numbers(int64_t count, const int64_t *values) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(count), values, &tensor));
  return tensor;
}

// Strings as values: "v17" for 17.
static rheos_tensor *text_of(int64_t number) {
  char text[24];
  int length = snprintf(text, sizeof text, "v%lld", (long long)number);
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(1), &tensor));
  expect_ok(rheos_tensor_set_string(tensor, 0, text, (size_t)length));
  return tensor;
}

static void expect_found(rheos__table *table, int64_t key, int64_t number) {
  rheos_tensor *keys = numbers(1, &key), *none = text_of(-1), *expected = text_of(number), *found;
  expect_ok(rheos__table_find(table, keys, none, NULL, &found));
  const rheos_string *a = found->data, *b = expected->data;
  assert_int_equal(a->size_bytes, b->size_bytes);
  assert_memory_equal(a->data, b->data, a->size_bytes);
  rheos_tensor_unref(keys);
  rheos_tensor_unref(none);
  rheos_tensor_unref(expected);
  rheos_tensor_unref(found);
}

static void change(rheos__table *table, int64_t *model, int64_t key, int64_t number) {
  rheos_tensor *keys = numbers(1, &key);
  if (number < 0) {
    expect_ok(rheos__table_remove(table, keys));
  } else {
    rheos_tensor *values = text_of(number);
    expect_ok(rheos__table_insert(table, keys, values, NULL));
    rheos_tensor_unref(values);
  }
  model[key] = number < 0 ? -1 : number;
  rheos_tensor_unref(keys);
}

static int64_t count_of(const int64_t *model) {
  int64_t count = 0;
  for (int i = 0; i < NUM_KEYS; i++) count += model[i] >= 0;
  return count;
}

static void test_lookup_table__behaves_as_a_list_does(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  rheos__table *table = new_table(resources, false, RHEOS_INT64, RHEOS_STRING, RHEOS_SCALAR);
  int64_t model[NUM_KEYS];
  for (int i = 0; i < NUM_KEYS; i++) model[i] = -1;
  uint32_t random = 1;
  for (int i = 0; i < NUM_CHANGES; i++) {
    random = random * 1664525 + 1013904223;
    const int64_t key = random >> 8 & 0xffff;
    change(table, model, key % NUM_KEYS, (random >> 28) < 7 ? -1 : i);
    if (i % 100 != 0) continue;
    assert_int_equal(rheos__table_size(table), count_of(model));
    for (int k = 0; k < NUM_KEYS; k++) expect_found(table, k, model[k]);
  }
  rheos_tensor *keys, *values;
  expect_ok(rheos__table_export(table, &keys, &values));
  assert_int_equal(keys->num_elements, count_of(model));
  for (int64_t i = 0; i < keys->num_elements; i++) {
    assert_true(model[((const int64_t *)keys->data)[i]] >= 0);
  }
  expect_ok(rheos__table_import(table, keys, values, NULL));
  for (int k = 0; k < NUM_KEYS; k++) expect_found(table, k, model[k]);
  rheos_tensor_unref(keys);
  rheos_tensor_unref(values);
  rheos__resource_unref((rheos__resource *)table);
  rheos__resources_free(resources);
}

static void test_lookup_table__a_fixed_one_is_filled_once(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  rheos__table *table = new_table(resources, true, RHEOS_INT64, RHEOS_INT64, RHEOS_SCALAR);
  const int64_t data[] = {3, 4, 3, 9};
  rheos_tensor *two = numbers(2, data), *one = numbers(1, data), *twice = numbers(3, data);
  rheos_tensor *other = numbers(3, data + 1), *out;
  expect_code(rheos__table_find(table, two, one, NULL, &out), RHEOS_INVALID_ARGUMENT);
  expect_code(rheos__table_find(table, one, one, NULL, &out), RHEOS_FAILED_PRECONDITION);
  rheos_tensor_unref(out);
  expect_code(rheos__table_initialize(table, twice, other, NULL), RHEOS_FAILED_PRECONDITION);
  expect_code(rheos__table_initialize(table, two, one, NULL), RHEOS_INVALID_ARGUMENT);
  assert_int_equal(rheos__table_size(table), 0);
  expect_ok(rheos__table_initialize(table, two, two, NULL));
  expect_ok(rheos__table_initialize(table, two, two, NULL));
  expect_code(rheos__table_initialize(table, one, one, NULL), RHEOS_FAILED_PRECONDITION);
  expect_code(rheos__table_insert(table, one, one, NULL), RHEOS_UNIMPLEMENTED);
  expect_code(rheos__table_remove(table, one), RHEOS_UNIMPLEMENTED);
  assert_int_equal(rheos__table_size(table), 2);
  rheos_tensor_unref(two);
  rheos_tensor_unref(one);
  rheos_tensor_unref(twice);
  rheos_tensor_unref(other);
  rheos__resource_unref((rheos__resource *)table);
  rheos__resources_free(resources);
}

static void test_lookup_table__values_may_be_vectors(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  rheos__table *table = new_table(resources, false, RHEOS_INT64, RHEOS_INT64, RHEOS_SHAPE(2));
  const int64_t data[] = {1, 2, 10, 20};
  rheos_tensor *keys = numbers(2, data), *flat = numbers(4, data), *values, *found;
  expect_ok(rheos_tensor_reshaped(flat, RHEOS_SHAPE(2, 2), &values));
  expect_code(rheos__table_insert(table, keys, flat, NULL), RHEOS_INVALID_ARGUMENT);
  expect_ok(rheos__table_insert(table, keys, values, NULL));
  expect_ok(rheos__table_find(table, keys, keys, NULL, &found));
  assert_memory_equal(found->data, data, sizeof data);
  expect_ok(rheos__table_reserve(table, keys, NULL));  // the first element: 1
  rheos_tensor_unref(found);
  expect_code(rheos__table_find(table, keys, keys, NULL, &found), RHEOS_INVALID_ARGUMENT);
  rheos_tensor_unref(keys);
  rheos_tensor_unref(flat);
  rheos_tensor_unref(values);
  rheos__resource_unref((rheos__resource *)table);
  rheos__resources_free(resources);
}

static bool stop(void) { return true; }

static void test_lookup_table__many_keys_can_be_stopped(void **state) {
  (void)state;
  enum { MANY = 100000 };
  rheos__resources *resources = rheos__resources_new();
  rheos__table *table =
      new_table(resources, false, RHEOS_INT64, RHEOS_INT64, (rheos_shape){.rank = 0});
  rheos_tensor *keys, *none, *found = NULL;
  const int64_t zero = 0;
  expect_ok(rheos_tensor_new(RHEOS_INT64, RHEOS_SHAPE(MANY), &keys));
  expect_ok(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, &zero, &none));
  for (int64_t i = 0; i < MANY; i++) ((int64_t *)keys->data)[i] = i;
  expect_code(rheos__table_insert(table, keys, keys, stop), RHEOS_CANCELLED);
  const int64_t some = rheos__table_size(table);
  assert_true(some > 0 && some < MANY);
  expect_ok(rheos__table_insert(table, keys, keys, NULL));
  assert_int_equal(rheos__table_size(table), MANY);
  expect_code(rheos__table_find(table, keys, none, stop, &found), RHEOS_CANCELLED);
  rheos_tensor_unref(found);
  rheos_tensor_unref(keys);
  rheos_tensor_unref(none);
  rheos__resource_unref((rheos__resource *)table);
  rheos__resources_free(resources);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lookup_table__behaves_as_a_list_does),
      cmocka_unit_test(test_lookup_table__a_fixed_one_is_filled_once),
      cmocka_unit_test(test_lookup_table__values_may_be_vectors),
      cmocka_unit_test(test_lookup_table__many_keys_can_be_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
