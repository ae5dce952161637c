// Device strings: what is understood, how it is written, what fits what.
#include "graph/graph_fixture.h"

#include "graph/device_name.h"

static rheos__device_name parse(const char *text) {
  rheos__device_name name;
  assert_ok(rheos__device_name_parse(text, &name));
  return name;
}

static void assert_canonical(const char *text, const char *expected) {
  rheos__device_name name = parse(text);
  char canonical[256];
  assert_int_equal(rheos__device_name_format(&name, canonical, sizeof canonical), strlen(expected));
  assert_string_equal(canonical, expected);
}

static void test_device_name__many_spellings_mean_the_same(void **state) {
  (void)state;
  static const char *const spellings[] = {
      "/cpu:0", "cpu:0", "CPU:0", "/CPU:0", "/device:CPU:0", "device:cpu:0", "/device:cpu:0/"};
  for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
    assert_canonical(spellings[i], "/device:CPU:0");
  }
  assert_canonical("/device:CPU:*", "/device:CPU:*");
  assert_canonical("/gpu", "/device:GPU:*");
  assert_canonical("/device:XLA_GPU:2", "/device:XLA_GPU:2");
  assert_canonical("", "");
  assert_canonical("job:ps", "/job:ps");
  assert_canonical("/task:1/job:ps/cpu:0/replica:2", "/job:ps/replica:2/task:1/device:CPU:0");
}

static void test_device_name__malformed_ones_are_named(void **state) {
  (void)state;
  static const char *const texts[] = {
      "/nonsense:0",  "/cpu:x",   "/cpu:-1",           "/task:",   "/job:",
      "/cpu:0/gpu:0", "/device:", "/task:99999999999", "/job:a b", "hello"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    rheos__device_name name;
    expect_status_take(rheos__device_name_parse(texts[i], &name), RHEOS_INVALID_ARGUMENT, texts[i]);
    assert_int_equal(name.id, -1);
  }
  char long_job[100] = "/job:";
  memset(long_job + 5, 'a', 80);
  rheos__device_name name;
  expect_status_take(rheos__device_name_parse(long_job, &name), RHEOS_INVALID_ARGUMENT, long_job);
}

static void test_device_name__the_inner_overrides_what_it_gives(void **state) {
  (void)state;
  static const struct {
    const char *outer, *inner, *expected;
  } cases[] = {
      {"/job:ps", "/task:1/cpu:0", "/job:ps/task:1/device:CPU:0"},
      {"/job:ps/cpu:1", "/job:w", "/job:w/device:CPU:1"},
      {"/cpu:1", "/gpu:*", "/device:GPU:1"},
      {"/cpu:1", "", "/device:CPU:1"},
      {"", "/cpu:1", "/device:CPU:1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    rheos__device_name outer = parse(cases[i].outer), inner = parse(cases[i].inner);
    rheos__device_name merged = rheos__device_name_merge(&outer, &inner);
    char text[256];
    rheos__device_name_format(&merged, text, sizeof text);
    assert_string_equal(text, cases[i].expected);
  }
}

static void test_device_name__matching_asks_only_for_what_is_given(void **state) {
  (void)state;
  rheos__device_name device = parse("/job:localhost/replica:0/task:0/device:CPU:1");
  static const struct {
    const char *wanted;
    bool fits;
  } cases[] = {{"", true},           {"/cpu:1", true},        {"/cpu:*", true},
               {"/cpu:0", false},    {"/gpu:1", false},       {"/job:localhost", true},
               {"/job:ps", false},   {"/task:0/cpu:1", true}, {"/task:1", false},
               {"/replica:1", false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    rheos__device_name wanted = parse(cases[i].wanted);
    assert_int_equal(rheos__device_name_matches(&wanted, &device), cases[i].fits);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_device_name__many_spellings_mean_the_same),
      cmocka_unit_test(test_device_name__malformed_ones_are_named),
      cmocka_unit_test(test_device_name__the_inner_overrides_what_it_gives),
      cmocka_unit_test(test_device_name__matching_asks_only_for_what_is_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
