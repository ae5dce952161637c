// Lists keep what they held however many came of them, and a long chain of changes costs one
// allocation each: a copy takes three.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/counting_allocator.h"
#include "ops/flow/tensor_list.h"

enum { MANY = 10 * 1000 * 1000, FEW = 40 };

static const rheos__list_spec spec = {.dtype = RHEOS_INT32, .shape = {.rank = 0}, .max_length = -1};

static rheos_tensor *number(int32_t value) {
  rheos_tensor *tensor = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
  return tensor;
}

static rheos__list *new_list(int64_t length) {
  rheos__list *list = NULL;
  assert_null(rheos__list_new(&spec, length, &list));
  return list;
}

// -1: nothing is there.
static int32_t value_at(rheos__list *list, int64_t index) {
  rheos_tensor *item = rheos__list_item(list, index);
  const int32_t value = item != NULL ? *(int32_t *)rheos_tensor_data(item) : -1;
  rheos_tensor_unref(item);
  return value;
}

// The list that comes of `list`, which is let go of.
static rheos__list *set_to(rheos__list *list, int64_t index, rheos_tensor *item) {
  rheos__list *changed = NULL;
  assert_null(rheos__list_set_take(list, index, rheos_tensor_ref(item), &changed));
  rheos__list_unref(list);
  return changed;
}

static rheos__list *push_to(rheos__list *list, rheos_tensor *item) {
  rheos__list *longer = NULL;
  assert_null(rheos__list_push_take(list, rheos_tensor_ref(item), &longer));
  rheos__list_unref(list);
  return longer;
}

static rheos__list *pop_from(rheos__list *list) {
  rheos__list *shorter = NULL;
  rheos_tensor *item = NULL;
  assert_null(rheos__list_pop(list, &shorter, &item));
  rheos_tensor_unref(item);
  rheos__list_unref(list);
  return shorter;
}

static void test_tensor_list__ten_million_writes_copy_nothing(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  rheos_tensor *item = number(7);
  rheos__list *list = new_list(MANY);
  int64_t before = counter.requests;
  for (int64_t i = 0; i < MANY; i++) list = set_to(list, i, item);
  assert_in_range(counter.requests - before, 1, MANY);
  assert_int_equal(value_at(list, 0), 7);
  assert_int_equal(value_at(list, MANY - 1), 7);
  rheos__list_unref(list);
  list = new_list(0);
  before = counter.requests;
  for (int64_t i = 0; i < MANY; i++) list = push_to(list, item);
  assert_in_range(counter.requests - before, 1, MANY + 64);
  before = counter.requests;
  for (int64_t i = 0; i < MANY; i++) list = pop_from(list);
  assert_in_range(counter.requests - before, 1, MANY);
  rheos__list_unref(list);
  rheos_tensor_unref(item);
  assert_int_equal(counter.alive, 0);
  rheos_set_allocator(NULL);
}

// Every version of a list that was pushed to, set, and popped from, read in both orders.
static void test_tensor_list__earlier_lists_keep_what_they_held(void **state) {
  (void)state;
  rheos__list *versions[2 * FEW + 1] = {new_list(3)};
  for (int32_t i = 0; i < FEW; i++) {
    assert_null(rheos__list_set_take(versions[i], i % 3, number(i), &versions[i + 1]));
  }
  for (int32_t i = FEW; i < 2 * FEW; i++) {
    if (i % 4 == 3) {
      rheos_tensor *item = NULL;
      assert_null(rheos__list_pop(versions[i], &versions[i + 1], &item));
      rheos_tensor_unref(item);
    } else {
      assert_null(rheos__list_push_take(versions[i], number(i), &versions[i + 1]));
    }
  }
  for (int pass = 0; pass < 2; pass++) {  // in the second some have copies of their own
    for (int32_t v = FEW; v >= 0; v--) {
      assert_int_equal(rheos__list_length(versions[v]), 3);
      for (int32_t k = 0; k < 3; k++) {
        const int32_t latest = v - 1 - (v - 1 - k + 3) % 3;
        assert_int_equal(value_at(versions[v], k), v > k ? latest : -1);
      }
    }
    for (int32_t v = FEW; v < 2 * FEW; v++) {
      const int64_t length = rheos__list_length(versions[v]);
      const bool pops = v % 4 == 3;
      assert_int_equal(rheos__list_length(versions[v + 1]), pops ? length - 1 : length + 1);
      if (!pops) assert_int_equal(value_at(versions[v + 1], length), v);
      assert_int_equal(value_at(versions[v], 0), FEW - 1);
    }
  }
  for (int32_t v = 0; v <= 2 * FEW; v++) rheos__list_unref(versions[v]);
}

static void test_tensor_list__two_lists_may_come_of_one(void **state) {
  (void)state;
  rheos__list *first = new_list(1), *a = NULL, *b = NULL;
  assert_null(rheos__list_push_take(first, number(1), &a));
  assert_null(rheos__list_push_take(first, number(2), &b));
  assert_int_equal(value_at(a, 1), 1);
  assert_int_equal(value_at(b, 1), 2);
  assert_int_equal(rheos__list_length(first), 1);
  rheos__list_unref(a);
  rheos__list_unref(first);
  assert_int_equal(value_at(b, 1), 2);
  rheos__list_unref(b);
}

// A program over lists, whose n'th allocation may fail; whether it got to its end.
static bool run_program(void) {
  rheos__list *list = NULL, *longer = NULL, *other = NULL, *set = NULL;
  rheos_status *status = rheos__list_new(&spec, 2, &list);
  if (status == NULL) status = rheos__list_push_take(list, NULL, &longer);
  if (status == NULL) status = rheos__list_push_take(list, NULL, &other);  // a copy
  if (status == NULL) status = rheos__list_set_take(other, 9, NULL, &set);
  if (longer != NULL) assert_int_equal(rheos__list_length(longer), 3);
  if (list != NULL) assert_int_equal(rheos__list_length(list), 2);
  rheos__list_unref(list);
  rheos__list_unref(longer);
  rheos__list_unref(other);
  rheos__list_unref(set);
  const bool done = status == NULL;
  if (!done) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
  rheos_status_free(status);
  return done;
}

static void test_tensor_list__failing_allocations_leave_lists_as_they_were(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  bool done = false;
  int64_t n = 0;
  while (!done) {
    assert_true(++n < 100);
    counter.requests = 0;
    counter.fail_at = n;
    done = run_program();
    assert_int_equal(counter.alive, 0);
  }
  assert_true(n > 5);
  rheos_set_allocator(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tensor_list__ten_million_writes_copy_nothing),
      cmocka_unit_test(test_tensor_list__earlier_lists_keep_what_they_held),
      cmocka_unit_test(test_tensor_list__two_lists_may_come_of_one),
      cmocka_unit_test(test_tensor_list__failing_allocations_leave_lists_as_they_were),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
