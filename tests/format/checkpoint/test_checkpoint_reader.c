// Checkpoints without a graph, of both kinds, and the list of them with times.
#include <rheos/format.h>

#include "format/format_support.h"
#include "tensor/tensor.h"

static void expect_numbers(const char *name) {
  char *prefix = rheos__text_format("%s/tests/golden/checkpoints/%s", RHEOS_SOURCE_DIR, name);
  rheos_checkpoint_reader *reader;
  expect_ok(rheos_checkpoint_reader_open(prefix, &reader));
  assert_int_equal(rheos_checkpoint_reader_count(reader), 2);
  assert_string_equal(rheos_checkpoint_reader_name(reader, 0), "t");
  assert_string_equal(rheos_checkpoint_reader_name(reader, 1), "u");
  assert_int_equal(rheos_checkpoint_reader_dtype(reader, 1), RHEOS_INT32);
  const rheos_shape shape = rheos_checkpoint_reader_shape(reader, 0);
  assert_true(rheos_shape_equal(&shape, &RHEOS_SHAPE(4, 3)));
  rheos_tensor *tensor;
  expect_ok(rheos_checkpoint_reader_read(reader, 0, &tensor));
  for (int i = 0; i < 12; i++) assert_true(((float *)tensor->data)[i] == (float)i);
  rheos_tensor_unref(tensor);
  expect_error(rheos_checkpoint_reader_read(reader, 2, &tensor), RHEOS_INVALID_ARGUMENT,
               "no tensor 2");
  size_t index = 7;
  assert_true(rheos_checkpoint_reader_find(reader, "u", &index));
  assert_int_equal(index, 1);
  assert_true(rheos_checkpoint_reader_find(reader, "t", NULL));
  assert_false(rheos_checkpoint_reader_find(reader, "tt", &index));
  expect_ok(rheos_checkpoint_reader_read_named(reader, "t", &tensor));
  assert_true(((float *)tensor->data)[11] == 11);
  rheos_tensor_unref(tensor);
  expect_error(rheos_checkpoint_reader_read_named(reader, "s", &tensor), RHEOS_NOT_FOUND,
               "Key s not found in checkpoint");
  rheos_checkpoint_reader_free(reader);
  rheos__free(prefix);
}

static void test_checkpoint_reader__reads_both_kinds(void **state) {
  (void)state;
  expect_numbers("sliced");
  expect_numbers("sliced.index");
  expect_numbers("sliced.data-00000-of-00001");
  expect_numbers("v1_sliced");
  rheos_checkpoint_reader *reader;
  expect_error(rheos_checkpoint_reader_open("/nowhere/model", &reader), RHEOS_NOT_FOUND,
               "Failed to find any matching files for /nowhere/model");
  rheos_checkpoint_reader_free(NULL);
}

static void test_checkpoint_state__keeps_times(void **state) {
  (void)state;
  char *folder = new_folder();
  char *paths[] = {"m-1", "m-2"};
  double times[] = {1.5, 1795282593.25};
  const rheos_checkpoint_state written = {"m-2", paths, 2, times, 2, 3};
  expect_ok(rheos_checkpoint_state_write_timed(folder, NULL, &written));
  char *path = rheos__path_join(folder, "checkpoint");
  bytes text = read_bytes(path);
  assert_non_null(strstr(text.data, "all_model_checkpoint_timestamps: 1795282593.25\n"));
  assert_non_null(strstr(text.data, "last_preserved_timestamp: 3.0\n"));
  rheos_checkpoint_state read;
  expect_ok(rheos_checkpoint_state_read(folder, NULL, &read));
  assert_int_equal(read.num_paths, 2);
  assert_int_equal(read.num_timestamps, 2);
  assert_true(read.all_model_checkpoint_timestamps[1] == times[1]);
  assert_true(read.last_preserved_timestamp == 3);
  rheos_checkpoint_state_deinit(&read);
  rheos__free(text.data);
  rheos__free(path);
  remove_folder(folder);
}

// The last part of a path may be a pattern for the shards of the first kind; the folders may not.
static void test_latest_checkpoint__is_no_pattern_for_folders(void **state) {
  (void)state;
  char *folder = new_folder();
  char *shard = rheos__path_join(folder, "m-00000-of-00001");
  write_bytes(shard, "x", 1);
  const struct {
    const char *folder, *name;
    bool found;
  } cases[] = {{folder, "m-*-of-00001", true},
               {folder, "n-*-of-00001", false},
               {"/*", "*", false},
               {"/*/*", "m-00000-of-00001", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char *prefix = rheos__path_join(cases[i].folder, cases[i].name), *newest;
    const rheos_checkpoint_state written = {.model_checkpoint_path = prefix};
    expect_ok(rheos_checkpoint_state_write_timed(folder, NULL, &written));
    expect_ok(rheos_latest_checkpoint(folder, NULL, &newest));
    assert_int_equal(newest != NULL, cases[i].found);
    rheos_free(newest);
    rheos__free(prefix);
  }
  rheos__free(shard);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checkpoint_reader__reads_both_kinds),
      cmocka_unit_test(test_checkpoint_state__keeps_times),
      cmocka_unit_test(test_latest_checkpoint__is_no_pattern_for_folders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
