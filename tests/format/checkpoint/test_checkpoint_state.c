// The text file "checkpoint" of a folder.
#include <rheos/format.h>

#include "format/format_support.h"

static void expect_file(const char *folder, const char *name, const char *text) {
  char *path = rheos__path_join(folder, name);
  bytes b = read_bytes(path);
  assert_int_equal(b.size_bytes, strlen(text));
  assert_memory_equal(b.data, text, b.size_bytes);
  rheos__free(b.data);
  rheos__free(path);
}

static void write_state(const char *folder, const char *text) {
  char *path = rheos__path_join(folder, "checkpoint");
  write_bytes(path, text, strlen(text));
  rheos__free(path);
}

static void test_checkpoint_state__lists_the_newest_last(void **state) {
  (void)state;
  char *folder = new_folder();
  const char *const all[] = {"m-1", "m-2"};
  expect_ok(rheos_checkpoint_state_write(folder, NULL, "m-2", all, 2));
  expect_file(folder, "checkpoint",
              "model_checkpoint_path: \"m-2\"\n"
              "all_model_checkpoint_paths: \"m-1\"\n"
              "all_model_checkpoint_paths: \"m-2\"\n");
  expect_ok(rheos_checkpoint_state_write(folder, "latest", "m-3", all, 2));
  expect_file(folder, "latest",
              "model_checkpoint_path: \"m-3\"\n"
              "all_model_checkpoint_paths: \"m-1\"\n"
              "all_model_checkpoint_paths: \"m-2\"\n"
              "all_model_checkpoint_paths: \"m-3\"\n");
  remove_folder(folder);
}

static void test_checkpoint_state__comes_back_with_the_folder(void **state) {
  (void)state;
  char *folder = new_folder();
  write_state(folder,
              "model_checkpoint_path: \"m-2\"\n"
              "all_model_checkpoint_paths: \"/elsewhere/m-1\"\n"
              "all_model_checkpoint_paths: 'm-2'\n"
              "all_model_checkpoint_timestamps: 1.5\n"
              "all_model_checkpoint_timestamps: 2.5e3\n"
              "last_preserved_timestamp: 1\n");
  rheos_checkpoint_state s;
  expect_ok(rheos_checkpoint_state_read(folder, NULL, &s));
  char *newest = rheos__path_join(folder, "m-2");
  assert_string_equal(s.model_checkpoint_path, newest);
  assert_int_equal(s.num_paths, 2);
  assert_string_equal(s.all_model_checkpoint_paths[0], "/elsewhere/m-1");
  assert_string_equal(s.all_model_checkpoint_paths[1], newest);
  assert_int_equal(s.num_timestamps, 2);
  assert_true(s.all_model_checkpoint_timestamps[0] == 1.5);
  assert_true(s.all_model_checkpoint_timestamps[1] == 2500);
  assert_true(s.last_preserved_timestamp == 1);
  rheos_checkpoint_state_deinit(&s);
  rheos__free(newest);
  remove_folder(folder);
}

static void test_checkpoint_state__times_are_written(void **state) {
  (void)state;
  char *folder = new_folder();
  char *paths[] = {"a", "b"};
  double times[] = {1, 2.5};
  const rheos_checkpoint_state written = {.model_checkpoint_path = "b",
                                          .all_model_checkpoint_paths = paths,
                                          .num_paths = 2,
                                          .all_model_checkpoint_timestamps = times,
                                          .num_timestamps = 2,
                                          .last_preserved_timestamp = 0.5};
  expect_ok(rheos_checkpoint_state_write_timed(folder, NULL, &written));
  expect_file(folder, "checkpoint",
              "model_checkpoint_path: \"b\"\n"
              "all_model_checkpoint_paths: \"a\"\n"
              "all_model_checkpoint_paths: \"b\"\n"
              "all_model_checkpoint_timestamps: 1.0\n"
              "all_model_checkpoint_timestamps: 2.5\n"
              "last_preserved_timestamp: 0.5\n");
  remove_folder(folder);
}

static void test_checkpoint_state__refuses_other_files(void **state) {
  (void)state;
  char *folder = new_folder();
  rheos_checkpoint_state s;
  expect_error(rheos_checkpoint_state_read(folder, NULL, &s), RHEOS_NOT_FOUND, "checkpoint");
  write_state(folder, "model_checkpoint_path: 7");
  expect_error(rheos_checkpoint_state_read(folder, NULL, &s), RHEOS_DATA_LOSS, "checkpoint:1:24");
  write_state(folder, "no_such_field: \"a\"");
  expect_error(rheos_checkpoint_state_read(folder, NULL, &s), RHEOS_DATA_LOSS, "no_such_field");
  remove_folder(folder);
}

static void test_latest_checkpoint__is_none_where_its_files_are_gone(void **state) {
  (void)state;
  char *folder = new_folder(), *prefix;
  expect_ok(rheos_latest_checkpoint(folder, NULL, &prefix));
  assert_null(prefix);
  write_state(folder, "model_checkpoint_path: \"m-2\"");
  expect_ok(rheos_latest_checkpoint(folder, NULL, &prefix));
  assert_null(prefix);
  char *index = rheos__path_join(folder, "m-2.index");
  write_bytes(index, "", 0);
  expect_ok(rheos_latest_checkpoint(folder, NULL, &prefix));
  assert_non_null(prefix);
  assert_string_equal(prefix + strlen(folder), "/m-2");
  rheos_free(prefix);
  rheos__free(index);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checkpoint_state__lists_the_newest_last),
      cmocka_unit_test(test_checkpoint_state__comes_back_with_the_folder),
      cmocka_unit_test(test_checkpoint_state__times_are_written),
      cmocka_unit_test(test_checkpoint_state__refuses_other_files),
      cmocka_unit_test(test_latest_checkpoint__is_none_where_its_files_are_gone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
