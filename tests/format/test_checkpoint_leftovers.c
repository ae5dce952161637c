// What a save sweeps of what killed ones left beside its checkpoint, by kind and age; what it
// leaves.
#include <rheos/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "format/checkpoint/bundle_files.h"
#include "format/format_support.h"

enum { YOUNG = 500, OLD = 700 };  // seconds since a file's last change; ten minutes are the limit

// The library asks this clock how late it is: files cannot be made to look old, their last change
// is the system's to say.
static time_t seconds_later;
time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const time_t told = now.tv_sec + seconds_later;
  if (out != NULL) *out = told;
  return told;
}

static char *path_in(const char *folder, const char *name) {
  char *path = rheos__path_join(folder, name);
  assert_non_null(path);
  return path;
}

static void make_file(const char *folder, const char *name) {
  char *path = path_in(folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("cut off", file);
  assert_int_equal(fclose(file), 0);
  rheos__free(path);
}

static bool is_there(const char *folder, const char *name) {
  char *path = path_in(folder, name);
  struct stat info;
  const bool found = stat(path, &info) == 0;
  rheos__free(path);
  return found;
}

// What is there after a save of model-7, `seconds` after `name` was made.
static bool stays(const char *name, time_t seconds) {
  char *folder = new_folder(), *prefix = path_in(folder, "model-7");
  make_file(folder, name);
  seconds_later = seconds;
  expect_ok(rheos__checkpoint_sweep(prefix));
  seconds_later = 0;
  const bool there = is_there(folder, name);
  rheos__free(prefix);
  remove_folder(folder);
  return there;
}

static void test_checkpoint_leftovers__a_file_that_nobody_holds_goes_at_once(void **state) {
  (void)state;
  assert_false(stays("model-5.data-00000-of-00001.new", 0));
  assert_false(stays("model.data-00000-of-00001.new", 0));
}

static void test_checkpoint_leftovers__a_file_being_written_stays(void **state) {
  (void)state;
  char *folder = new_folder(), *prefix = path_in(folder, "model-7");
  const char name[] = "model-5.data-00000-of-00001.new";
  make_file(folder, name);
  char *path = path_in(folder, name);
  const int hold = rheos__file_hold(path);
  assert_true(hold >= 0);
  seconds_later = OLD;
  expect_ok(rheos__checkpoint_sweep(prefix));
  assert_true(is_there(folder, name));
  rheos__file_let_go(hold);
  expect_ok(rheos__checkpoint_sweep(prefix));
  seconds_later = 0;
  assert_false(is_there(folder, name));
  rheos__free(path);
  rheos__free(prefix);
  remove_folder(folder);
}

static void test_checkpoint_leftovers__shards_and_states_go_when_they_are_old(void **state) {
  (void)state;
  const char *const names[] = {"model-5.data-00001-of-00002.new", "checkpoint.new4711"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_true(stays(names[i], YOUNG));
    assert_false(stays(names[i], OLD));
  }
}

static void test_checkpoint_leftovers__other_files_stay_however_old(void **state) {
  (void)state;
  const char *const names[] = {
      "model-7.data-00000-of-00001.new",  // is being saved
      "other-5.data-00000-of-00001.new",
      "model-five.data-00000-of-00001.new",
      "model-5.data-00000-of-00001",
      "model-5.index",
      "checkpoint.newer",
      "checkpoint",
      "notes.new",
      "model_temp_0123456789abcdef",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_true(stays(names[i], OLD));
}

// A folder in which shards are made goes when it and all in it are old.
static void test_checkpoint_leftovers__folders_of_shards_go_when_all_is_old(void **state) {
  (void)state;
  const char name[] = "model-5_temp_0123456789abcdef0123456789abcdef";
  char *folder = new_folder(), *prefix = path_in(folder, "model-7"),
       *shards = path_in(folder, name);
  assert_int_equal(mkdir(shards, 0700), 0);
  make_file(shards, "part-00000-of-00002.data-00000-of-00001");
  seconds_later = YOUNG;
  expect_ok(rheos__checkpoint_sweep(prefix));
  assert_true(is_there(shards, "part-00000-of-00002.data-00000-of-00001"));
  seconds_later = OLD;
  expect_ok(rheos__checkpoint_sweep(prefix));
  seconds_later = 0;
  assert_false(is_there(folder, name));
  rheos__free(shards);
  rheos__free(prefix);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checkpoint_leftovers__a_file_that_nobody_holds_goes_at_once),
      cmocka_unit_test(test_checkpoint_leftovers__a_file_being_written_stays),
      cmocka_unit_test(test_checkpoint_leftovers__shards_and_states_go_when_they_are_old),
      cmocka_unit_test(test_checkpoint_leftovers__other_files_stay_however_old),
      cmocka_unit_test(test_checkpoint_leftovers__folders_of_shards_go_when_all_is_old),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
