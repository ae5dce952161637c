// Calls, branches and loops by functions: programs that TensorFlow recorded (tests/golden/
// make_functions.py) give what they gave there, on any number of threads.
#include <rheos/rheos.h>

#include "format/format_support.h"
#include "runtime/recorded_programs.h"

static void test_functions__give_what_tensorflow_gave(void **state) {
  (void)state;
  run_recorded_programs("functions", 1);
}

static void test_functions__give_it_on_threads_too(void **state) {
  (void)state;
  run_recorded_programs("functions", 2);
  run_recorded_programs("functions", 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_functions__give_what_tensorflow_gave),
      cmocka_unit_test(test_functions__give_it_on_threads_too),
  };
  return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
