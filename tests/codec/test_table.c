// Tables: what is written comes back in order, plain or compressed, and damage is found.
#include <snappy-c.h>

#include "base/crc32c.h"
#include "codec/table.h"
#include "format/format_support.h"

typedef struct seen {
  int count;
  size_t total_bytes;
  char last_key[64];
} seen;

static rheos_status *remember(void *argument, const char *key, size_t key_bytes, const char *value,
                              size_t value_bytes) {
  seen *s = argument;
  char expected[64];
  snprintf(expected, sizeof expected, "prefix/%05d", s->count * 3);
  assert_int_equal(key_bytes, strlen(expected));
  assert_memory_equal(key, expected, key_bytes);
  for (size_t i = 0; i < value_bytes; i++) assert_int_equal(value[i], (char)s->count);
  s->count++;
  s->total_bytes += value_bytes;
  return NULL;
}

static bytes write_table(const char *folder, int count, size_t value_bytes) {
  char *path = rheos__path_join(folder, "table");
  char *value = rheos__alloc(value_bytes);
  rheos__file_writer *file;
  expect_ok(rheos__file_writer_open(path, &file));
  rheos__table_writer *writer = rheos__table_writer_new(file);
  assert_non_null(writer);
  for (int i = 0; i < count; i++) {
    char key[64];
    snprintf(key, sizeof key, "prefix/%05d", i * 3);
    memset(value, i, value_bytes);
    expect_ok(rheos__table_writer_add(writer, key, strlen(key), value, value_bytes));
  }
  expect_ok(rheos__table_writer_finish(writer));
  rheos__table_writer_free(writer);
  expect_ok(rheos__file_writer_close_take(file));
  bytes b = read_bytes(path);
  rheos__free(value);
  rheos__free(path);
  return b;
}

static void expect_entries(bytes table, int count) {
  seen s = {0};
  expect_ok(rheos__table_each("table", table.data, table.size_bytes, remember, &s));
  assert_int_equal(s.count, count);
}

static void test_table__comes_back_in_order(void **state) {
  (void)state;
  char *folder = new_folder();
  int counts[] = {0, 1, 16, 17, 100, 5000};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    bytes table = write_table(folder, counts[i], 10);
    expect_entries(table, counts[i]);
    rheos__free(table.data);
  }
  remove_folder(folder);
}

static void test_table__holds_many_blocks(void **state) {
  (void)state;
  char *folder = new_folder();
  bytes table = write_table(folder, 60, 100000);
  assert_true(table.size_bytes > 6000000);
  expect_entries(table, 60);
  rheos__free(table.data);
  remove_folder(folder);
}

static void put_block(rheos__buffer *file, const char *data, size_t size, bool compress,
                      rheos__buffer *handle) {
  rheos__buffer block = {0};
  size_t packed = snappy_max_compressed_length(size);
  if (compress) {
    char *to = rheos__buffer_extend(&block, packed);
    assert_int_equal(snappy_compress(data, size, to, &packed), SNAPPY_OK);
    block.size_bytes = packed;
  } else {
    rheos__buffer_put(&block, data, size);
  }
  rheos__buffer_put_varint(handle, file->size_bytes);
  rheos__buffer_put_varint(handle, block.size_bytes);
  rheos__buffer_put(&block, compress ? "\1" : "\0", 1);
  uint32_t crc = rheos__crc32c(0, block.data, block.size_bytes);
  rheos__buffer_put_32(&block, rheos__crc32c_mask(crc));
  rheos__buffer_put(file, block.data, block.size_bytes);
  rheos__buffer_deinit(&block);
}

static void put_entry(rheos__buffer *block, const char *key, const void *value, size_t size) {
  rheos__buffer_put_varint(block, 0);
  rheos__buffer_put_varint(block, strlen(key));
  rheos__buffer_put_varint(block, size);
  rheos__buffer_put(block, key, strlen(key));
  rheos__buffer_put(block, value, size);
}

// A table of one data block that the index names `times` times.
static rheos__buffer table_by_hand(const char *const *keys, int count, bool compress, int times) {
  rheos__buffer file = {0}, block = {0}, handle = {0}, index = {0}, footer = {0};
  for (int i = 0; i < count; i++) put_entry(&block, keys[i], "", 0);
  rheos__buffer_put_32(&block, 0);
  rheos__buffer_put_32(&block, 1);
  put_block(&file, block.data, block.size_bytes, compress, &handle);
  put_block(&file, "\0\0\0\0\1\0\0\0", 8, false, &footer);
  for (int i = 0; i < times; i++) {
    put_entry(&index, i == 0 ? "x" : "y", handle.data, handle.size_bytes);
  }
  rheos__buffer_put_32(&index, 0);
  rheos__buffer_put_32(&index, 1);
  put_block(&file, index.data, index.size_bytes, compress, &footer);
  while (footer.size_bytes < 40) rheos__buffer_put(&footer, "", 1);
  rheos__buffer_put_64(&footer, 0xdb4775248b80fb57u);
  rheos__buffer_put(&file, footer.data, footer.size_bytes);
  rheos__buffer_deinit(&block);
  rheos__buffer_deinit(&handle);
  rheos__buffer_deinit(&index);
  rheos__buffer_deinit(&footer);
  return file;
}

static void test_table__reads_snappy_blocks(void **state) {
  (void)state;
  const char *keys[] = {"prefix/00000", "prefix/00003", "prefix/00006"};
  rheos__buffer file = table_by_hand(keys, 3, true, 1);
  expect_entries((bytes){file.data, file.size_bytes}, 3);
  rheos__buffer_deinit(&file);
}

static void expect_lookups(const char *path, const char *const *keys, const int *values,
                           int count) {
  rheos__table *table;
  rheos__buffer value = {0};
  bool found;
  expect_ok(rheos__table_open(path, &table));
  for (int i = 0; i < count; i++) {
    expect_ok(rheos__table_get(table, keys[i], strlen(keys[i]), &value, &found));
    assert_int_equal(found, values[i] >= 0);
    if (value.size_bytes > 0) assert_int_equal((unsigned char)value.data[0], values[i]);
  }
  rheos__buffer_deinit(&value);
  rheos__table_close(table);
}

static void test_table__keys_are_looked_up(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "table");
  // In one block and in many; forwards, backwards, and keys that are not there.
  const char *keys[] = {"prefix/00000",
                        "prefix/00057",
                        "prefix/00177",
                        "prefix/00003",
                        "",
                        "a",
                        "prefix/00001",
                        "prefix/00178",
                        "z"};
  const int values[] = {0, 19, 59, 1, -1, -1, -1, -1, -1};
  bytes table = write_table(folder, 60, 10);
  rheos__free(table.data);
  expect_lookups(path, keys, values, 9);
  table = write_table(folder, 60, 100000);
  rheos__free(table.data);
  expect_lookups(path, keys, values, 9);
  const char *packed_keys[] = {"prefix/00000", "prefix/00003", "prefix/00006"};
  const int packed_values[] = {0, 1, 2};
  rheos__buffer packed = table_by_hand(packed_keys, 3, true, 1);
  write_bytes(path, packed.data, packed.size_bytes);
  expect_lookups(path, packed_keys, packed_values, 3);
  rheos__buffer_deinit(&packed);
  rheos__table *unused;
  write_bytes(path, "short", 5);
  expect_error(rheos__table_open(path, &unused), RHEOS_DATA_LOSS, "it is too short");
  rheos__free(path);
  remove_folder(folder);
}

static rheos_status *ignore(void *argument, const char *key, size_t key_bytes, const char *value,
                            size_t value_bytes) {
  (void)key;
  (void)key_bytes;
  (void)value;
  (void)value_bytes;
  *(int *)argument += 1;
  return NULL;
}

static void test_table__keys_must_rise(void **state) {
  (void)state;
  const char *falling[] = {"b", "a"}, *twice[] = {"a", "a"}, *one[] = {"a"};
  int count = 0;
  rheos__buffer file = table_by_hand(falling, 2, false, 1);
  expect_error(rheos__table_each("t", file.data, file.size_bytes, ignore, &count), RHEOS_DATA_LOSS,
               "not in order");
  rheos__buffer_deinit(&file);
  file = table_by_hand(twice, 2, false, 1);
  expect_error(rheos__table_each("t", file.data, file.size_bytes, ignore, &count), RHEOS_DATA_LOSS,
               "not in order");
  rheos__buffer_deinit(&file);
  // A block that is named again and again must not be walked as often.
  file = table_by_hand(one, 1, false, 2);
  expect_error(rheos__table_each("t", file.data, file.size_bytes, ignore, &count), RHEOS_DATA_LOSS,
               "not in order");
  rheos__buffer_deinit(&file);
  file = table_by_hand(one, 0, false, 1);
  expect_error(rheos__table_each("t", file.data, file.size_bytes, ignore, &count), RHEOS_DATA_LOSS,
               "an empty block");
  rheos__buffer_deinit(&file);
}

static void test_table__damage_is_data_loss(void **state) {
  (void)state;
  char *folder = new_folder();
  bytes table = write_table(folder, 40, 5);
  int count = 0;
  for (size_t size = 0; size < table.size_bytes; size++) {
    expect_error(rheos__table_each("t", table.data, size, ignore, &count), RHEOS_DATA_LOSS,
                 "'t' is not a sound table file");
  }
  // All but the padding of the footer is under a checksum or checked by itself.
  for (size_t at = 0; at < table.size_bytes - 48; at++) {
    char *copy = rheos__alloc(table.size_bytes);
    memcpy(copy, table.data, table.size_bytes);
    copy[at] ^= (char)(1 << (at & 7));
    rheos_status *status = rheos__table_each("t", copy, table.size_bytes, ignore, &count);
    // The empty block between data and index is not read.
    if (status != NULL) expect_error(status, RHEOS_DATA_LOSS, "checksum mismatch");
    rheos__free(copy);
  }
  rheos__free(table.data);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table__comes_back_in_order),
      cmocka_unit_test(test_table__holds_many_blocks),
      cmocka_unit_test(test_table__reads_snappy_blocks),
      cmocka_unit_test(test_table__keys_are_looked_up),
      cmocka_unit_test(test_table__keys_must_rise),
      cmocka_unit_test(test_table__damage_is_data_loss),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
