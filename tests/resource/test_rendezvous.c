// Where sends and receives meet.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "resource/rendezvous.h"

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static rheos_tensor *scalar(int32_t value) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
  return tensor;
}

static void put(rheos__rendezvous *r, const char *key, int32_t value) {
  rheos_tensor *tensor = scalar(value);
  check(rheos__rendezvous_send(r, key, tensor));
  rheos_tensor_unref(tensor);
}

static rheos__attempt *receive(rheos__rendezvous *r, const char *key) {
  rheos__attempt *attempt = NULL;
  check(rheos__rendezvous_receive(r, key, RHEOS_INT32, &attempt));
  return attempt;
}

// What an attempt that is done answers; -1: a dead value.
static int32_t answer(rheos__attempt *attempt) {
  assert_true(rheos__attempt_is_done(attempt));
  rheos_tensor *output = NULL;
  check(attempt->status);
  check(attempt->kind->finish(attempt, NULL, &output));
  rheos__attempt_free(attempt);
  const int32_t value = output != NULL ? *(const int32_t *)rheos_tensor_data(output) : -1;
  rheos_tensor_unref(output);
  return value;
}

static void expect_code(rheos_status *status, rheos_code code, const char *text) {
  assert_int_equal(rheos_status_code(status), code);
  assert_non_null(strstr(rheos_status_message(status), text));
  rheos_status_free(status);
}

static void test_rendezvous__a_value_is_there_before_or_after_it_is_asked_for(void **state) {
  (void)state;
  rheos__rendezvous *r = rheos__rendezvous_new(NULL);
  rheos__bell bell = {0};
  put(r, "a", 7);
  rheos__attempt *early = receive(r, "a"), *late = receive(r, "b");
  assert_true(rheos__attempt_begin(early, &bell));
  assert_false(rheos__attempt_begin(late, &bell));
  put(r, "b", 8);
  assert_int_equal(answer(early), 7);
  assert_int_equal(answer(late), 8);
  assert_int_equal(rheos__rendezvous_num_keys(r), 0);  // a loop's trips leave nothing behind
  rheos__rendezvous_unref(r);
}

static void test_rendezvous__values_of_one_key_keep_their_order(void **state) {
  (void)state;
  rheos__rendezvous *r = rheos__rendezvous_new(NULL);
  rheos__bell bell = {0};
  for (int32_t i = 0; i < 3; i++) put(r, "a", i);
  check(rheos__rendezvous_send(r, "a", NULL));
  for (int32_t i = 0; i < 4; i++) {
    rheos__attempt *attempt = receive(r, "a");
    assert_true(rheos__attempt_begin(attempt, &bell));
    assert_int_equal(answer(attempt), i < 3 ? i : -1);
  }
  rheos__rendezvous_unref(r);
}

static void test_rendezvous__a_withdrawn_receive_takes_nothing(void **state) {
  (void)state;
  rheos__rendezvous *r = rheos__rendezvous_new(NULL);
  rheos__bell bell = {0};
  rheos__attempt *given_up = receive(r, "a"), *other = receive(r, "a");
  assert_false(rheos__attempt_begin(given_up, &bell));
  assert_false(rheos__attempt_begin(other, &bell));
  assert_true(rheos__attempt_withdraw(given_up));
  rheos__attempt_free(given_up);
  put(r, "a", 5);
  assert_int_equal(answer(other), 5);
  rheos__rendezvous_unref(r);
}

static void test_rendezvous__another_dtype_is_an_error(void **state) {
  (void)state;
  rheos__rendezvous *r = rheos__rendezvous_new(NULL);
  rheos__bell bell = {0};
  put(r, "a", 5);
  rheos__attempt *attempt = NULL;
  check(rheos__rendezvous_receive(r, "a", RHEOS_FLOAT, &attempt));
  assert_true(rheos__attempt_begin(attempt, &bell));
  rheos_tensor *output = NULL;
  expect_code(attempt->kind->finish(attempt, NULL, &output), RHEOS_INVALID_ARGUMENT,
              "a value of dtype int32 was sent as 'a', where one of dtype float");
  rheos__attempt_free(attempt);
  rheos__rendezvous_unref(r);
}

static void test_rendezvous__abort_ends_what_waits_and_what_comes_later(void **state) {
  (void)state;
  rheos__rendezvous *r = rheos__rendezvous_new(NULL);
  rheos__bell bell = {0};
  rheos__attempt *waits = receive(r, "a"), *has_not_begun = receive(r, "b");
  put(r, "b", 1);
  put(r, "c", 1);
  assert_false(rheos__attempt_begin(waits, &bell));
  rheos_status *why = rheos_status_new(RHEOS_UNAVAILABLE, "task 1 is gone");
  rheos_status *later = rheos_status_new(RHEOS_CANCELLED, "too late to count");
  rheos__rendezvous_abort(r, why);
  rheos__rendezvous_abort(r, later);
  rheos__attempt *comes_later = receive(r, "d");
  rheos__attempt *const all[] = {waits, has_not_begun, comes_later};
  for (int i = 0; i < 3; i++) {
    if (i > 0) assert_true(rheos__attempt_begin(all[i], &bell));
    assert_true(rheos__attempt_is_done(all[i]));
    assert_int_equal(rheos_status_code(all[i]->status), RHEOS_UNAVAILABLE);
    assert_string_equal(rheos_status_message(all[i]->status), "task 1 is gone");
    rheos__attempt_free(all[i]);
  }
  rheos_tensor *value = scalar(3);
  expect_code(rheos__rendezvous_send(r, "a", value), RHEOS_UNAVAILABLE, "task 1 is gone");
  rheos_tensor_unref(value);
  rheos_status_free(why);
  rheos_status_free(later);
  rheos__rendezvous_unref(r);
}

typedef struct told {
  int times;
  int32_t value;  // -1: dead
  rheos_code code;
} told;

static void note(void *argument, rheos_status *failed, rheos_tensor *value) {
  told *t = argument;
  t->times++;
  t->code = rheos_status_code(failed);
  t->value = value != NULL ? *(const int32_t *)rheos_tensor_data(value) : -1;
  rheos_tensor_unref(value);
  rheos_status_free(failed);
}

static void test_rendezvous__who_is_no_step_is_told(void **state) {
  (void)state;
  rheos__rendezvous *r = rheos__rendezvous_new(NULL);
  told there = {0}, later = {0}, dead = {0}, never = {0};
  put(r, "a", 7);
  check(rheos__rendezvous_receive_for(r, "a", note, &there));
  check(rheos__rendezvous_receive_for(r, "b", note, &later));
  check(rheos__rendezvous_receive_for(r, "c", note, &dead));
  check(rheos__rendezvous_receive_for(r, "d", note, &never));
  assert_true(there.times == 1 && there.value == 7 && later.times == 0);
  put(r, "b", 8);
  check(rheos__rendezvous_send(r, "c", NULL));
  assert_true(later.times == 1 && later.value == 8);
  assert_true(dead.times == 1 && dead.value == -1 && dead.code == RHEOS_OK);
  rheos_status *why = rheos_status_new(RHEOS_ABORTED, "over");
  rheos__rendezvous_abort(r, why);
  assert_true(never.times == 1 && never.code == RHEOS_ABORTED);
  told after = {0};
  check(rheos__rendezvous_receive_for(r, "e", note, &after));
  assert_true(after.times == 1 && after.code == RHEOS_ABORTED);
  assert_true(there.times == 1 && later.times == 1 && dead.times == 1);
  rheos_status_free(why);
  rheos__rendezvous_unref(r);
}

// A step of two parts, each with a rendezvous of its own: values are brought from the other one.
typedef struct bringing {
  rheos__rendezvous *from, *to;
  char key[8];
  int times;
} bringing;

static void bring(void *argument, rheos_status *failed, rheos_tensor *value) {
  bringing *b = argument;
  if (failed != NULL) {
    rheos__rendezvous_abort(b->to, failed);
  } else {
    check(rheos__rendezvous_send(b->to, b->key, value));
  }
  rheos_tensor_unref(value);
  rheos_status_free(failed);
}

static void want(void *argument, rheos__rendezvous *to, const char *key) {
  bringing *b = argument;
  b->to = to;
  b->times++;
  snprintf(b->key, sizeof b->key, "%s", key);
  check(rheos__rendezvous_receive_for(b->from, key, bring, b));
}

static void test_rendezvous__values_come_from_elsewhere(void **state) {
  (void)state;
  rheos__rendezvous *far = rheos__rendezvous_new(NULL);
  bringing b = {.from = far};
  rheos__rendezvous *near = rheos__rendezvous_new(&(rheos__rendezvous_source){want, &b, 0});
  rheos__bell bell = {0};
  put(far, "a", 1);
  rheos__attempt *first = receive(near, "a");
  assert_true(rheos__attempt_begin(first, &bell));
  assert_int_equal(answer(first), 1);
  rheos__attempt *second = receive(near, "b");
  assert_false(rheos__attempt_begin(second, &bell));
  put(far, "b", 2);
  assert_int_equal(answer(second), 2);
  assert_int_equal(b.times, 2);
  put(near, "c", 3);  // is there: nobody is asked
  rheos__attempt *third = receive(near, "c");
  assert_true(rheos__attempt_begin(third, &bell));
  assert_int_equal(answer(third), 3);
  assert_int_equal(b.times, 2);
  rheos__attempt *last = receive(near, "d");
  assert_false(rheos__attempt_begin(last, &bell));
  rheos_status *why = rheos_status_new(RHEOS_UNAVAILABLE, "gone");
  rheos__rendezvous_abort(far, why);
  assert_true(rheos__attempt_is_done(last));
  assert_int_equal(rheos_status_code(last->status), RHEOS_UNAVAILABLE);
  rheos__attempt_free(last);
  rheos_status_free(why);
  rheos__rendezvous_unref(near);
  rheos__rendezvous_unref(far);
}

static void test_rendezvous__many_keys(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  rheos__rendezvous *r = rheos__rendezvous_new(NULL);
  rheos__bell bell = {0};
  rheos__attempt *attempts[COUNT];
  char key[16];
  for (int32_t i = 0; i < COUNT; i++) {
    snprintf(key, sizeof key, "key_%d", (int)i);
    attempts[i] = receive(r, key);
    assert_false(rheos__attempt_begin(attempts[i], &bell));
  }
  for (int32_t i = COUNT; i-- > 0;) {
    snprintf(key, sizeof key, "key_%d", (int)i);
    put(r, key, i);
  }
  for (int32_t i = 0; i < COUNT; i++) assert_int_equal(answer(attempts[i]), i);
  assert_int_equal(rheos__rendezvous_num_keys(r), 0);
  rheos__rendezvous_unref(r);
}

static void test_rendezvous__keys_are_tensorflows(void **state) {
  (void)state;
  char *key = rheos__rendezvous_key("/job:ps/replica:0/task:1/device:CPU:0", 0xabc,
                                    "/job:worker/replica:0/task:0/device:CPU:0", "edge_5_v", 0, 0);
  assert_string_equal(key,
                      "/job:ps/replica:0/task:1/device:CPU:0;0000000000000abc;"
                      "/job:worker/replica:0/task:0/device:CPU:0;edge_5_v;0:0");
  rheos__free(key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rendezvous__a_value_is_there_before_or_after_it_is_asked_for),
      cmocka_unit_test(test_rendezvous__values_of_one_key_keep_their_order),
      cmocka_unit_test(test_rendezvous__a_withdrawn_receive_takes_nothing),
      cmocka_unit_test(test_rendezvous__another_dtype_is_an_error),
      cmocka_unit_test(test_rendezvous__abort_ends_what_waits_and_what_comes_later),
      cmocka_unit_test(test_rendezvous__who_is_no_step_is_told),
      cmocka_unit_test(test_rendezvous__values_come_from_elsewhere),
      cmocka_unit_test(test_rendezvous__many_keys),
      cmocka_unit_test(test_rendezvous__keys_are_tensorflows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
