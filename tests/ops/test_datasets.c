// Pipelines of datasets that TensorFlow 1.15 and 2 recorded (tests/golden/make_datasets.py) give
// the same elements in the same order, and fail where they failed.
#include <rheos/rheos.h>
#include <unistd.h>

#include "format/format_support.h"
#include "runtime/recorded_programs.h"

static void test_datasets__give_what_tensorflow_gave(void **state) {
  (void)state;
  assert_int_equal(chdir(RHEOS_SOURCE_DIR), 0);  // the graphs name files from there
  run_recorded_programs("datasets", 1);
}

static void test_datasets__give_it_on_threads_too(void **state) {
  (void)state;
  assert_int_equal(chdir(RHEOS_SOURCE_DIR), 0);
  run_recorded_programs("datasets", 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_datasets__give_what_tensorflow_gave),
      cmocka_unit_test(test_datasets__give_it_on_threads_too),
  };
  return cmocka_run_group_tests_name("datasets", tests, NULL, NULL);
}
