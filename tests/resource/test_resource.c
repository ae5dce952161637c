// Resources: the table, and variables that are snapshots to their readers.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "resource/resource.h"

static rheos__variable_cell *cell_of(rheos__resources *resources, const char *name) {
  rheos__resource *resource;
  assert_null(rheos__resources_get(resources, &rheos__variable_kind, name, NULL, &resource));
  return (rheos__variable_cell *)resource;
}

static rheos_tensor *pair(int64_t a, int64_t b) {
  rheos_tensor *tensor;
  assert_null(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(2), (int64_t[]){a, b}, &tensor));
  return tensor;
}

static int64_t element(const rheos_tensor *tensor, int index) {
  return ((const int64_t *)rheos_tensor_data(tensor))[index];
}

static void test_resource__the_same_name_is_the_same_resource(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  rheos__variable_cell *first = cell_of(resources, "a"), *again = cell_of(resources, "a");
  rheos__variable_cell *other = cell_of(resources, "b");
  assert_ptr_equal(first, again);
  assert_ptr_not_equal(first, other);
  rheos__resource_unref(&again->base);
  rheos__resource_unref(&other->base);
  rheos__resources_free(resources);
  assert_string_equal(first->base.name, "a");  // our reference keeps it
  rheos__resource_unref(&first->base);
}

static void test_resource__many_are_found_again(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  rheos__resources *resources = rheos__resources_new();
  void *cells[COUNT];
  char name[16];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < COUNT; i++) {
      snprintf(name, sizeof name, "v_%d", i);
      rheos__variable_cell *cell = cell_of(resources, name);
      if (round == 0) cells[i] = cell;
      assert_ptr_equal(cell, cells[i]);
      rheos__resource_unref(&cell->base);
    }
  }
  rheos__resources_free(resources);
}

static rheos_status *refuse(rheos__resource *resource, const void *argument) {
  (void)resource, (void)argument;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "no");
}

static void test_resource__that_cannot_be_made_is_not_entered(void **state) {
  (void)state;
  const rheos__resource_kind kind = {"refused", sizeof(rheos__resource), refuse, NULL};
  rheos__resources *resources = rheos__resources_new();
  rheos__resource *resource = (rheos__resource *)1;
  for (int i = 0; i < 2; i++) {
    rheos_status *status = rheos__resources_get(resources, &kind, "x", NULL, &resource);
    assert_int_equal(rheos_status_code(status), RHEOS_UNIMPLEMENTED);
    assert_null(resource);
    rheos_status_free(status);
  }
  rheos__resources_free(resources);
}

static void test_variable__uninitialized_has_no_value(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  rheos__variable_cell *cell = cell_of(resources, "count");
  assert_null(rheos__variable_read(cell));
  rheos_tensor *value;
  rheos_status *status = rheos__variable_begin_write(cell, NULL, &value);
  assert_int_equal(rheos_status_code(status), RHEOS_FAILED_PRECONDITION);
  assert_string_equal(rheos_status_message(status), "Attempting to use uninitialized value count");
  rheos_status_free(status);
  rheos__variable_assign_take(cell, pair(1, 2));  // the failure left it unlocked
  rheos__resource_unref(&cell->base);
  rheos__resources_free(resources);
}

static void test_variable__a_reader_keeps_what_it_read(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  rheos__variable_cell *cell = cell_of(resources, "v");
  rheos__variable_assign_take(cell, pair(1, 2));
  rheos_tensor *snapshot = rheos__variable_read(cell), *value;
  assert_null(rheos__variable_begin_write(cell, NULL, &value));
  assert_ptr_not_equal(value, snapshot);
  ((int64_t *)rheos_tensor_data(value))[0] = 9;
  rheos__variable_end_write(cell);
  assert_int_equal(element(snapshot, 0), 1);
  rheos_tensor_unref(snapshot);
  snapshot = rheos__variable_read(cell);
  assert_int_equal(element(snapshot, 0), 9);
  rheos_tensor_unref(snapshot);
  rheos__resource_unref(&cell->base);
  rheos__resources_free(resources);
}

static void test_variable__is_changed_in_place_when_nobody_reads(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  rheos__variable_cell *cell = cell_of(resources, "v");
  rheos_tensor *given = pair(1, 2), *value;
  rheos__variable_assign_take(cell, given);
  assert_null(rheos__variable_begin_write(cell, NULL, &value));
  assert_ptr_equal(value, given);
  rheos__variable_end_write(cell);
  rheos__resource_unref(&cell->base);
  rheos__resources_free(resources);
}

static void *add_to_both(void *argument) {
  rheos__variable_cell *cell = argument;
  for (int i = 0; i < 2000; i++) {
    rheos_tensor *value;
    rheos_status *status = rheos__variable_begin_write(cell, NULL, &value);
    if (status != NULL) return status;
    int64_t *data = rheos_tensor_data(value);
    data[0]++;
    data[1]++;
    rheos__variable_end_write(cell);
  }
  return NULL;
}

static void test_variable__reads_never_tear(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  rheos__variable_cell *cell = cell_of(resources, "v");
  rheos__variable_assign_take(cell, pair(0, 0));
  pthread_t writers[2];
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pthread_create(&writers[i], NULL, add_to_both, cell), 0);
  }
  for (int i = 0; i < 2000; i++) {
    rheos_tensor *snapshot = rheos__variable_read(cell);
    assert_int_equal(element(snapshot, 0), element(snapshot, 1));
    rheos_tensor_unref(snapshot);
  }
  for (int i = 0; i < 2; i++) {
    void *failure;
    pthread_join(writers[i], &failure);
    assert_null(failure);
  }
  assert_int_equal(element(cell->value, 0), 4000);
  rheos__resource_unref(&cell->base);
  rheos__resources_free(resources);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_resource__the_same_name_is_the_same_resource),
      cmocka_unit_test(test_resource__many_are_found_again),
      cmocka_unit_test(test_resource__that_cannot_be_made_is_not_entered),
      cmocka_unit_test(test_variable__uninitialized_has_no_value),
      cmocka_unit_test(test_variable__a_reader_keeps_what_it_read),
      cmocka_unit_test(test_variable__is_changed_in_place_when_nobody_reads),
      cmocka_unit_test(test_variable__reads_never_tear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
