// Every function is called with nothing, by calls that generate_null_calls.py makes of the headers:
// none crashes, with and without a status.
#include "capi/capi_fixture.h"

#include <stdio.h>

// What comes back is nobody's: the test is of the calls.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
static void __lsan_disable(void) {}
static void __lsan_enable(void) {}
#endif

// What is being called, for who looks at a crash.
static const char *volatile called;

static size_t call_all(TF_Status *status, int number) {
  size_t count = 0;
#define CALL(name, arguments) called = #name, (void)name arguments, count++;
#include "capi_null_calls.inc"
#undef CALL
  return count;
}

static void test_nulls__crash_nothing(void **state) {
  (void)state;
  TF_Status *status = TF_NewStatus();
  __lsan_disable();
  for (int number = -1; number <= 1; number++) {
    assert_int_equal(call_all(NULL, number), 450);
    assert_int_equal(call_all(status, number), 450);
  }
  __lsan_enable();
  assert_string_not_equal(called, "");
  TF_DeleteStatus(status);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nulls__crash_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
