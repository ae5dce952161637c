// File helpers: what they write comes back, and every failure names the path.
#include "format/format_support.h"

static void test_file__comes_back_as_written(void **state) {
  (void)state;
  char *folder = new_folder();
  char *path = rheos__path_join(folder, "data");
  size_t size = 300000;  // several buffers
  char *data = rheos__alloc(size);
  for (size_t i = 0; i < size; i++) data[i] = (char)(i * 7 >> 3);
  rheos__file_writer *writer;
  expect_ok(rheos__file_writer_open(path, &writer));
  for (size_t at = 0, step = 1; at < size; at += step, step = step * 3 % 100003) {
    if (step > size - at) step = size - at;
    expect_ok(rheos__file_writer_write(writer, data + at, step));
    assert_int_equal(rheos__file_writer_position(writer), at + step);
  }
  expect_ok(rheos__file_writer_sync(writer));
  expect_ok(rheos__file_writer_close_take(writer));
  bytes b = read_bytes(path);
  assert_int_equal(b.size_bytes, size);
  assert_memory_equal(b.data, data, size);
  assert_int_equal(b.data[size], '\0');
  rheos__free(b.data);
  rheos__free(data);
  rheos__free(path);
  remove_folder(folder);
}

static void test_file__errors_name_path_and_reason(void **state) {
  (void)state;
  char *folder = new_folder();
  char *path = rheos__path_join(folder, "missing");
  rheos__file *file;
  rheos_status *status = rheos__file_open(path, &file);
  assert_null(file);
  assert_non_null(strstr(rheos_status_message(status), path));
  expect_error(status, RHEOS_NOT_FOUND, "No such file or directory");
  expect_error(rheos__file_open(folder, &file), RHEOS_FAILED_PRECONDITION, "Is a directory");
  rheos__file_writer *writer;
  expect_error(rheos__file_writer_open("/no/such/folder/x", &writer), RHEOS_NOT_FOUND,
               "/no/such/folder/x");
  char **names;
  size_t count;
  expect_error(rheos__file_list(path, &names, &count), RHEOS_NOT_FOUND, path);
  expect_error(rheos__file_rename(path, folder), RHEOS_NOT_FOUND, path);
  expect_ok(rheos__file_remove(path));
  rheos__free(path);
  remove_folder(folder);
}

static void test_file__reading_is_bounded(void **state) {
  (void)state;
  char *folder = new_folder();
  char *path = rheos__path_join(folder, "data");
  write_bytes(path, "12345", 5);
  char *data;
  size_t size;
  expect_error(rheos__file_read_all(path, 4, &data, &size), RHEOS_RESOURCE_EXHAUSTED, "5 bytes");
  assert_null(data);
  rheos__file *file;
  expect_ok(rheos__file_open(path, &file));
  assert_int_equal(rheos__file_size(file), 5);
  char two[2];
  expect_ok(rheos__file_read_at(file, 3, two, 2));
  assert_memory_equal(two, "45", 2);
  expect_error(rheos__file_read_at(file, 4, two, 2), RHEOS_DATA_LOSS, "1 bytes too early");
  rheos__file_close(file);
  rheos__free(path);
  remove_folder(folder);
}

static void test_file__lists_sorted_names(void **state) {
  (void)state;
  char *folder = new_folder();
  const char *made[] = {"b", "a", "c"};
  for (int i = 0; i < 3; i++) {
    char *path = rheos__path_join(folder, made[i]);
    write_bytes(path, "", 0);
    rheos__free(path);
  }
  char **names;
  size_t count;
  expect_ok(rheos__file_list(folder, &names, &count));
  assert_int_equal(count, 3);
  assert_string_equal(names[0], "a");
  assert_string_equal(names[2], "c");
  rheos__file_list_free(names, count);
  remove_folder(folder);
}

static void test_file__makes_folders_and_paths(void **state) {
  (void)state;
  char *folder = new_folder();
  char *inner = rheos__text_format("%s/one/two", folder);
  char *outer = rheos__path_folder(inner);
  expect_ok(rheos__file_make_dirs(inner));
  expect_ok(rheos__file_make_dirs(inner));
  bool exists;
  expect_ok(rheos__file_exists(inner, &exists));
  assert_true(exists);
  char *file = rheos__path_join(inner, "file");
  write_bytes(file, "x", 1);
  expect_error(rheos__file_make_dirs(file), RHEOS_FAILED_PRECONDITION, "Not a directory");
  unlink(file);
  rheos__free(file);
  expect_ok(rheos__file_remove_dir(inner));
  expect_ok(rheos__file_remove_dir(outer));
  assert_string_equal(rheos__path_base(inner), "two");
  rheos__free(inner);
  rheos__free(outer);
  char *text = rheos__path_folder("name");
  assert_string_equal(text, ".");
  rheos__free(text);
  text = rheos__path_folder("/name");
  assert_string_equal(text, "/");
  rheos__free(text);
  text = rheos__path_join("a", "/b");
  assert_string_equal(text, "/b");
  rheos__free(text);
  remove_folder(folder);
}

// Whichever call fails, the old file or the new one is there, whole.
static void test_file__replace_leaves_old_or_new(void **state) {
  (void)state;
  char *folder = new_folder();
  char *path = rheos__path_join(folder, "data");
  for (int kill = 0; kill < 2; kill++) {
    for (int n = 0;; n++) {
      write_bytes(path, "old", 3);
      io_failure failure;
      fail_io_after(&failure, n, kill);
      rheos_status *status = rheos__file_replace(path, "newer", 5);
      rheos__set_file_hook(NULL);
      bytes b = read_bytes(path);
      if (b.size_bytes == 3)
        assert_memory_equal(b.data, "old", 3);
      else
        assert_memory_equal(b.data, "newer", 5);
      if (!failure.has_failed) assert_int_equal(b.size_bytes, 5);
      assert_true(failure.has_failed == (status != NULL));
      rheos__free(b.data);
      rheos_status_free(status);
      if (!failure.has_failed) break;
    }
  }
  rheos__free(path);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_file__comes_back_as_written),
      cmocka_unit_test(test_file__errors_name_path_and_reason),
      cmocka_unit_test(test_file__reading_is_bounded),
      cmocka_unit_test(test_file__lists_sorted_names),
      cmocka_unit_test(test_file__makes_folders_and_paths),
      cmocka_unit_test(test_file__replace_leaves_old_or_new),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
