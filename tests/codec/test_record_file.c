// Compression, and files of records that are compressed: all comes back, damage and lies are
// statuses.
#include <rheos/format.h>

#include "base/crc32c.h"
#include "codec/compress.h"
#include "codec/record.h"
#include "format/format_support.h"

static rheos_status *append(void *argument, const void *data, size_t size_bytes) {
  rheos__buffer_put(argument, data, size_bytes);
  return NULL;
}

static rheos__buffer compressed(rheos_compression kind, const void *data, size_t size_bytes) {
  rheos__buffer out = {0};
  rheos__deflater *deflater;
  expect_ok(rheos__deflater_new(kind, -1, &deflater));
  expect_ok(rheos__deflater_run(deflater, data, size_bytes, RHEOS__DEFLATE_END, append, &out));
  rheos__deflater_free(deflater);
  return out;
}

static void test_compress__comes_back(void **state) {
  (void)state;
  const size_t size = 300000;
  char *data = malloc(size);
  for (size_t i = 0; i < size; i++) data[i] = (char)(i * i / 7);
  for (int kind = RHEOS_ZLIB; kind <= RHEOS_GZIP; kind++) {
    for (size_t part = 0; part <= size; part += size / 3) {
      rheos__buffer small = compressed((rheos_compression)kind, data, part), large = {0};
      expect_ok(rheos__decompress((rheos_compression)kind, small.data, small.size_bytes, &large));
      assert_int_equal(large.size_bytes, part);
      if (part > 0) assert_memory_equal(large.data, data, part);
      rheos__buffer_deinit(&small);
      rheos__buffer_deinit(&large);
    }
  }
  free(data);
}

static void test_compress__damage_is_data_loss(void **state) {
  (void)state;
  rheos__buffer small = compressed(RHEOS_GZIP, "hello hello hello", 17);
  for (size_t size = 1; size < small.size_bytes; size++) {
    rheos__buffer out = {0};
    expect_error(rheos__decompress(RHEOS_GZIP, small.data, size, &out), RHEOS_DATA_LOSS, "cut");
    rheos__buffer_deinit(&out);
  }
  for (size_t bit = 0; bit < 8 * small.size_bytes; bit++) {
    rheos__buffer out = {0};
    small.data[bit / 8] ^= (char)(1 << bit % 8);
    rheos_status *status = rheos__decompress(RHEOS_GZIP, small.data, small.size_bytes, &out);
    small.data[bit / 8] ^= (char)(1 << bit % 8);
    // Some bits of the header, such as the time, mean nothing for the bytes.
    if (status == NULL)
      assert_int_equal(out.size_bytes, 17);
    else
      assert_int_equal(rheos_status_code(status), RHEOS_DATA_LOSS);
    rheos_status_free(status);
    rheos__buffer_deinit(&out);
  }
  rheos__buffer_deinit(&small);
}

static void test_record_file__comes_back(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "records");
  for (int kind = RHEOS_NO_COMPRESSION; kind <= RHEOS_GZIP; kind++) {
    rheos_record_writer *writer;
    expect_ok(rheos_record_writer_open(path, (rheos_compression)kind, 1, &writer));
    for (int i = 0; i < 1000; i++) expect_ok(rheos_record_writer_write(writer, folder, i % 9));
    expect_ok(rheos_record_writer_close(writer));
    rheos_record_reader *reader;
    expect_ok(rheos_record_reader_open(path, (rheos_compression)kind, &reader));
    const void *data;
    size_t size;
    for (int i = 0; i < 1000; i++) {
      expect_ok(rheos_record_reader_next(reader, &data, &size));
      assert_int_equal(size, i % 9);
      if (size > 0) assert_memory_equal(data, folder, size);
    }
    expect_error(rheos_record_reader_next(reader, &data, &size), RHEOS_OUT_OF_RANGE, "no more");
    assert_null(data);
    rheos_record_reader_close(reader);
  }
  rheos__free(path);
  remove_folder(folder);
}

// A header that is right about itself, but not about what follows.
static void test_record_file__a_length_that_lies_costs_nothing(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "records");
  rheos__buffer record = {0};
  expect_ok(rheos__record_put(append, &record, "abc", 3));
  static const char lie[] = "\xff\xff\xff\xff\xff\x7f\0";
  rheos__buffer bytes = {0};
  rheos__buffer_put(&bytes, record.data, record.size_bytes);
  rheos__buffer_put(&bytes, lie, 8);
  const uint32_t crc = rheos__crc32c_mask(rheos__crc32c(0, lie, 8));
  rheos__buffer_put_32(&bytes, crc);
  rheos__buffer_put(&bytes, "abc", 3);
  for (int kind = RHEOS_NO_COMPRESSION; kind <= RHEOS_GZIP; kind++) {
    rheos__buffer file = {0};
    if (kind == RHEOS_NO_COMPRESSION)
      rheos__buffer_put(&file, bytes.data, bytes.size_bytes);
    else
      file = compressed((rheos_compression)kind, bytes.data, bytes.size_bytes);
    write_bytes(path, file.data, file.size_bytes);
    rheos__buffer_deinit(&file);
    rheos_record_reader *reader;
    const void *data;
    size_t size;
    expect_ok(rheos_record_reader_open(path, (rheos_compression)kind, &reader));
    expect_ok(rheos_record_reader_next(reader, &data, &size));
    expect_error(rheos_record_reader_next(reader, &data, &size), RHEOS_DATA_LOSS,
                 "truncated record at 19");
    rheos_record_reader_close(reader);
  }
  rheos__buffer_deinit(&record);
  rheos__buffer_deinit(&bytes);
  rheos__free(path);
  remove_folder(folder);
}

static void test_record_file__missing_files_are_errors(void **state) {
  (void)state;
  rheos_record_reader *reader;
  rheos_record_writer *writer;
  expect_error(rheos_record_reader_open("/no/such/file", RHEOS_GZIP, &reader), RHEOS_NOT_FOUND,
               "/no/such/file");
  assert_null(reader);
  expect_error(rheos_record_writer_open("/no/such/file", RHEOS_GZIP, -1, &writer), RHEOS_NOT_FOUND,
               "/no/such/file");
  assert_null(writer);
  expect_error(rheos_record_writer_open("/no/such/file", RHEOS_GZIP, 10, &writer),
               RHEOS_INVALID_ARGUMENT, "level");
  rheos_record_reader_close(NULL);
  expect_ok(rheos_record_writer_close(NULL));
}

static void test_record_file__takes_options(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "records");
  char data[5000];
  // Repeats itself, but not within a window of 512 bytes.
  for (size_t i = 0; i < sizeof data; i++) data[i] = (char)((i % 900) * (i % 900) >> 3);
  size_t sizes[3];
  const rheos_record_options options[] = {{RHEOS_GZIP, 9, 0, 0, RHEOS_STRATEGY_DEFAULT},
                                          {RHEOS_ZLIB, 6, 9, 1, RHEOS_STRATEGY_DEFAULT},
                                          {RHEOS_ZLIB, -1, 0, 0, RHEOS_STRATEGY_HUFFMAN_ONLY}};
  for (int i = 0; i < 3; i++) {
    rheos_record_writer *writer;
    expect_ok(rheos_record_writer_open_with(path, &options[i], &writer));
    expect_ok(rheos_record_writer_write(writer, data, sizeof data));
    expect_ok(rheos_record_writer_close(writer));
    bytes b = read_bytes(path);
    sizes[i] = b.size_bytes;
    rheos__free(b.data);
    rheos_record_reader *reader;
    const void *record;
    size_t size_bytes;
    expect_ok(rheos_record_reader_open(path, options[i].compression, &reader));
    expect_ok(rheos_record_reader_next(reader, &record, &size_bytes));
    assert_int_equal(size_bytes, sizeof data);
    assert_memory_equal(record, data, sizeof data);
    rheos_record_reader_close(reader);
  }
  assert_true(2 * sizes[0] < sizes[1] && 2 * sizes[0] < sizes[2]);
  const rheos_record_options bad[] = {{RHEOS_GZIP, 10, 0, 0, RHEOS_STRATEGY_DEFAULT},
                                      {RHEOS_GZIP, 1, 16, 0, RHEOS_STRATEGY_DEFAULT},
                                      {RHEOS_GZIP, 1, 0, 10, RHEOS_STRATEGY_DEFAULT},
                                      {RHEOS_GZIP, 1, 0, 0, (rheos_compression_strategy)5}};
  for (int i = 0; i < 4; i++) {
    rheos_record_writer *writer;
    expect_error(rheos_record_writer_open_with(path, &bad[i], &writer), RHEOS_INVALID_ARGUMENT,
                 "is not between");
  }
  rheos__free(path);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_compress__comes_back),
      cmocka_unit_test(test_compress__damage_is_data_loss),
      cmocka_unit_test(test_record_file__comes_back),
      cmocka_unit_test(test_record_file__a_length_that_lies_costs_nothing),
      cmocka_unit_test(test_record_file__missing_files_are_errors),
      cmocka_unit_test(test_record_file__takes_options),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
