// Checkpoints of the first kind against those TensorFlow 1.15 wrote
// (tests/golden/make_checkpoints.py): read, written again byte for byte, and damaged. Tensors saved
// in parts, in both kinds.
#include "codec/table.h"
#include "format/checkpoint/bundle.h"
#include "format/checkpoint/checkpoint_v1.h"
#include "format/format_support.h"

static char *golden(const char *name) {
  return rheos__text_format("%s/tests/golden/checkpoints/%s", RHEOS_SOURCE_DIR, name);
}

static rheos__v1_checkpoint *open_golden(const char *name) {
  char *path = golden(name);
  rheos__v1_checkpoint *checkpoint;
  expect_ok(rheos__v1_checkpoint_open(path, &checkpoint));
  rheos__free(path);
  return checkpoint;
}

static const rheos__v1_entry *entry_of(const rheos__v1_checkpoint *checkpoint, const char *name) {
  const rheos__v1_entry *entry = rheos__v1_checkpoint_find(checkpoint, name, strlen(name));
  if (entry == NULL) fail_msg("no tensor '%s'", name);
  return entry;
}

static rheos__slice slice_of(const char *text, rheos_shape *out_shape) {
  rheos_string string = {(char *)(uintptr_t)text, strlen(text)};
  rheos__slice slice;
  rheos_shape part;
  expect_ok(rheos__slice_parse(&string, out_shape, &slice, &part));
  return slice;
}

static rheos_tensor *read_all_of(rheos__v1_checkpoint *checkpoint, const char *name) {
  const rheos__v1_entry *entry = entry_of(checkpoint, name);
  const rheos__slice all = rheos__slice_whole(entry->shape.rank);
  rheos_tensor *tensor;
  expect_ok(rheos__v1_checkpoint_read(checkpoint, entry, &all, &tensor));
  return tensor;
}

static void expect_floats(const rheos_tensor *tensor, rheos_shape shape, const float *values) {
  assert_int_equal(tensor->dtype, RHEOS_FLOAT);
  assert_true(rheos_shape_equal(&tensor->shape, &shape));
  assert_memory_equal(tensor->data, values, tensor->size_bytes);
}

static const float twelve[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static void test_checkpoint_v1__reads_every_dtype(void **state) {
  (void)state;
  rheos__v1_checkpoint *checkpoint = open_golden("v1_dtypes");
  assert_int_equal(rheos__v1_checkpoint_count(checkpoint), 15);
  for (size_t i = 0; i < rheos__v1_checkpoint_count(checkpoint); i++) {
    const rheos__v1_entry *entry = rheos__v1_checkpoint_at(checkpoint, i);
    assert_int_equal(entry->dtype, rheos_dtype_from_name(entry->name + strlen("dtype/")));
    rheos_tensor *tensor = read_all_of(checkpoint, entry->name);
    assert_true(rheos_shape_equal(&tensor->shape, &RHEOS_SHAPE(2, 3)));
    const bool is_int = entry->dtype == RHEOS_INT8 || entry->dtype == RHEOS_INT16 ||
                        entry->dtype == RHEOS_INT32 || entry->dtype == RHEOS_INT64 ||
                        entry->dtype == RHEOS_UINT8 || entry->dtype == RHEOS_UINT16;
    for (int64_t k = 0; is_int && k < 6; k++) {
      assert_int_equal(rheos__tensor_int_at(tensor, k), k);
    }
    if (entry->dtype == RHEOS_HALF) {
      assert_true(rheos__half_to_float(((uint16_t *)tensor->data)[5]) == 5);
    }
    if (entry->dtype == RHEOS_COMPLEX128) {
      assert_true(((double *)tensor->data)[10] == 5 && ((double *)tensor->data)[11] == 5);
    }
    rheos_tensor_unref(tensor);
  }
  rheos__v1_checkpoint_close(checkpoint);
}

static void test_checkpoint_v1__reads_strings_and_scalars(void **state) {
  (void)state;
  rheos__v1_checkpoint *checkpoint = open_golden("v1_shapes");
  rheos_tensor *words = read_all_of(checkpoint, "words");
  assert_true(rheos_shape_equal(&words->shape, &RHEOS_SHAPE(1, 2)));
  assert_int_equal(((rheos_string *)words->data)[0].size_bytes, 0);
  assert_memory_equal(((rheos_string *)words->data)[1].data, "one", 3);
  rheos_tensor *scalar = read_all_of(checkpoint, "scalar");
  expect_floats(scalar, RHEOS_SCALAR, (float[]){7});
  rheos_tensor *empty = read_all_of(checkpoint, "empty");
  assert_true(rheos_shape_equal(&empty->shape, &RHEOS_SHAPE(0, 3)));
  rheos_tensor_unref(words);
  rheos_tensor_unref(scalar);
  rheos_tensor_unref(empty);
  assert_null(rheos__v1_checkpoint_find(checkpoint, "other", 5));
  rheos__v1_checkpoint_close(checkpoint);
}

// Parts of a 4 by 3 matrix that was saved as two halves, in one file or two.
static void expect_parts(const char *pattern) {
  rheos__v1_checkpoint *checkpoint = open_golden(pattern);
  const rheos__v1_entry *entry = entry_of(checkpoint, "t");
  rheos_shape shape;
  rheos_tensor *tensor = read_all_of(checkpoint, "t");
  expect_floats(tensor, RHEOS_SHAPE(4, 3), twelve);
  rheos_tensor_unref(tensor);
  rheos__slice middle = slice_of("4 3 1,2:1,2", &shape);
  expect_ok(rheos__v1_checkpoint_read(checkpoint, entry, &middle, &tensor));
  expect_floats(tensor, RHEOS_SHAPE(2, 2), (float[]){4, 5, 7, 8});
  rheos_tensor_unref(tensor);
  rheos__slice outside = rheos__slice_whole(1);
  expect_error(rheos__v1_checkpoint_read(checkpoint, entry, &outside, &tensor), RHEOS_INTERNAL,
               "Mismatching ranks");
  rheos__v1_checkpoint_close(checkpoint);
}

static void test_checkpoint_v1__puts_slices_together(void **state) {
  (void)state;
  expect_parts("v1_sliced");
  expect_parts("v1_shard-*-of-0000[2]");
  rheos__v1_checkpoint *checkpoint;
  expect_error(rheos__v1_checkpoint_open("/nowhere/at-*", &checkpoint), RHEOS_NOT_FOUND,
               "Failed to find any matching files for /nowhere/at-*");
}

static void test_checkpoint_v1__missing_slices_are_told(void **state) {
  (void)state;
  rheos__v1_checkpoint *checkpoint = open_golden("v1_shard-00001-of-00002");
  const rheos__v1_entry *entry = entry_of(checkpoint, "t");
  const rheos__slice all = rheos__slice_whole(2);
  rheos_tensor *tensor;
  expect_error(rheos__v1_checkpoint_read(checkpoint, entry, &all, &tensor), RHEOS_INVALID_ARGUMENT,
               "Error copying slice data");
  rheos__v1_checkpoint_close(checkpoint);
}

// ---- Writing

// Reads each tensor of a golden file, in the slices of these texts (NULL: whole), and writes them.
static void expect_same_when_written(const char *name, const char *const *tensors,
                                     const char *const *slices, size_t count) {
  char *folder = new_folder(), *path = rheos__path_join(folder, "written"), *from = golden(name);
  rheos__v1_checkpoint *checkpoint = open_golden(name);
  rheos__v1_item items[16];
  rheos_tensor *held[16];
  for (size_t i = 0; i < count; i++) {
    const rheos__v1_entry *entry = entry_of(checkpoint, tensors[i]);
    rheos_shape shape;
    rheos__slice slice = slices != NULL && slices[i] != NULL
                             ? slice_of(slices[i], &shape)
                             : rheos__slice_whole(entry->shape.rank);
    expect_ok(rheos__v1_checkpoint_read(checkpoint, entry, &slice, &held[i]));
    items[i] = (rheos__v1_item){tensors[i], strlen(tensors[i]), entry->shape, slice, held[i]};
  }
  expect_ok(rheos__v1_checkpoint_write(path, items, count));
  expect_same_files(from, path);
  for (size_t i = 0; i < count; i++) rheos_tensor_unref(held[i]);
  rheos__v1_checkpoint_close(checkpoint);
  rheos__free(path);
  rheos__free(from);
  remove_folder(folder);
}

static void test_checkpoint_v1__writes_the_bytes_of_tensorflow(void **state) {
  (void)state;
  const char *sliced[] = {"t", "u", "t"};
  const char *slices[] = {"4 3 0,2:-", NULL, "4 3 2,2:-"};
  expect_same_when_written("v1_sliced", sliced, slices, 3);
  const char *shapes[] = {"words", "scalar", "empty"};
  expect_same_when_written("v1_shapes", shapes, NULL, 3);
  const char *far[] = {"far", "far", "far"};
  const char *far_slices[] = {"2000000 63,1", "2000000 8191,64", "2000000 1048576,2"};
  expect_same_when_written("v1_far", far, far_slices, 3);
  rheos__v1_checkpoint *checkpoint = open_golden("v1_dtypes");
  const char *names[16];
  const size_t count = rheos__v1_checkpoint_count(checkpoint);
  for (size_t i = 0; i < count; i++) {
    names[i] = rheos__v1_checkpoint_at(checkpoint, count - 1 - i)->name;  // any order will do
  }
  expect_same_when_written("v1_dtypes", names, NULL, count);
  rheos__v1_checkpoint_close(checkpoint);
}

static void test_checkpoint_v1__refuses_what_does_not_fit(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "written");
  float numbers[6] = {0};
  rheos_tensor *matrix, *bytes;
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(2, 3), numbers, &matrix));
  expect_ok(rheos_tensor_from_values(RHEOS_BFLOAT16, RHEOS_SHAPE(2, 3), numbers, &bytes));
  rheos_shape shape;
  rheos__slice top = slice_of("4 3 0,2:-", &shape), bottom = slice_of("4 3 2,2:-", &shape);
  rheos__v1_item one = {"t", 1, shape, top, matrix}, two = {"t", 1, shape, bottom, matrix};
  rheos__v1_item items[] = {one, one};
  expect_error(rheos__v1_checkpoint_write(path, items, 2), RHEOS_INVALID_ARGUMENT,
               "Adding duplicate key: t");
  items[0] = one, items[1] = two;
  items[1].shape = RHEOS_SHAPE(5, 3);
  expect_error(rheos__v1_checkpoint_write(path, items, 2), RHEOS_INTERNAL, "Mismatching shapes");
  items[0] = one, items[1] = two;
  items[1].slice = rheos__slice_whole(2);
  expect_error(rheos__v1_checkpoint_write(path, items, 2), RHEOS_INVALID_ARGUMENT,
               "does not match the shape of the tensor");
  items[0] = one;
  items[0].tensor = bytes;
  expect_error(rheos__v1_checkpoint_write(path, items, 1), RHEOS_UNIMPLEMENTED,
               "Saving data type bfloat16 not yet supported");
  char **names;
  size_t count;
  expect_ok(rheos__file_list(folder, &names, &count));
  assert_int_equal(count, 0);  // nothing half-done stays
  rheos__file_list_free(names, count);
  rheos_tensor_unref(matrix);
  rheos_tensor_unref(bytes);
  rheos__free(path);
  remove_folder(folder);
}

// ---- Damage

// Opens the file and reads all it holds. Returns the code of the first error.
static rheos_code read_everything(const char *path) {
  rheos__v1_checkpoint *checkpoint;
  rheos_status *status = rheos__v1_checkpoint_open(path, &checkpoint);
  for (size_t i = 0; status == NULL && i < rheos__v1_checkpoint_count(checkpoint); i++) {
    const rheos__v1_entry *entry = rheos__v1_checkpoint_at(checkpoint, i);
    const rheos__slice all = rheos__slice_whole(entry->shape.rank);
    rheos_tensor *tensor;
    status = rheos__v1_checkpoint_read(checkpoint, entry, &all, &tensor);
    rheos_tensor_unref(tensor);
  }
  rheos_code code = rheos_status_code(status);
  rheos_status_free(status);
  rheos__v1_checkpoint_close(checkpoint);
  return code;
}

static void test_checkpoint_v1__damage_is_data_loss(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "damaged");
  char *from = golden("v1_sliced");
  bytes file = read_bytes(from);
  int found = 0;
  for (size_t at = 0; at < file.size_bytes; at++) {
    write_bytes(path, file.data, at);
    assert_int_equal(read_everything(path), RHEOS_DATA_LOSS);
    file.data[at] ^= (char)(1 << (at & 7));
    write_bytes(path, file.data, file.size_bytes);
    rheos_code code = read_everything(path);
    assert_true(code == RHEOS_OK || code == RHEOS_DATA_LOSS);
    found += code != RHEOS_OK;
    file.data[at] ^= (char)(1 << (at & 7));
  }
  assert_true(found > (int)file.size_bytes - 60);  // all but padding and the empty block
  write_bytes(path, file.data, file.size_bytes);
  assert_int_equal(read_everything(path), RHEOS_OK);
  rheos__free(file.data);
  rheos__free(from);
  rheos__free(path);
  remove_folder(folder);
}

// A table whose checksums hold, but whose values lie.
typedef struct copied {
  rheos__table_writer *table;
  uint32_t random;
} copied;

static uint32_t next_random(copied *c) {
  c->random = c->random * 1664525u + 1013904223u;
  return c->random >> 8;
}

static rheos_status *copy_changed(void *argument, const char *key, size_t key_bytes,
                                  const char *value, size_t value_bytes) {
  copied *c = argument;
  char changed[4096];
  assert_true(value_bytes > 0 && value_bytes <= sizeof changed);
  memcpy(changed, value, value_bytes);
  for (uint32_t i = next_random(c) % 3; i > 0; i--) {
    changed[next_random(c) % value_bytes] = (char)next_random(c);
  }
  return rheos__table_writer_add(c->table, key, key_bytes, changed, value_bytes);
}

static void write_changed(const bytes *file, const char *path, uint32_t seed) {
  rheos__file_writer *writer;
  copied c = {.random = seed};
  expect_ok(rheos__file_writer_open(path, &writer));
  c.table = rheos__table_writer_new(writer);
  expect_ok(rheos__table_each("t", file->data, file->size_bytes, copy_changed, &c));
  expect_ok(rheos__table_writer_finish(c.table));
  rheos__table_writer_free(c.table);
  expect_ok(rheos__file_writer_close_take(writer));
}

static void test_checkpoint_v1__lies_do_no_harm(void **state) {
  (void)state;
  const char *const names[] = {"v1_sliced", "v1_dtypes", "v1_shapes"};
  char *folder = new_folder(), *path = rheos__path_join(folder, "changed");
  int refused = 0;
  for (int k = 0; k < 3; k++) {
    char *from = golden(names[k]);
    bytes file = read_bytes(from);
    for (uint32_t seed = 0; seed < 100; seed++) {
      write_changed(&file, path, seed);
      refused += read_everything(path) != RHEOS_OK;
    }
    rheos__free(file.data);
    rheos__free(from);
  }
  assert_true(refused > 100);
  rheos__free(path);
  remove_folder(folder);
}

// ---- Bundles with tensors in parts

static void read_bundle(const char *prefix) {
  rheos__bundle *bundle;
  rheos_status *status = rheos__bundle_open(prefix, &bundle);
  for (size_t i = 0; status == NULL && i < rheos__bundle_count(bundle); i++) {
    rheos_tensor *tensor;
    rheos_status_free(rheos__bundle_read(bundle, rheos__bundle_at(bundle, i), &tensor));
    rheos_tensor_unref(tensor);
  }
  rheos_status_free(status);
  rheos__bundle_close(bundle);
}

static void test_bundle__lies_about_slices_do_no_harm(void **state) {
  (void)state;
  char *folder = new_folder(), *prefix = rheos__path_join(folder, "changed");
  char *index = rheos__text_format("%s.index", prefix);
  char *data = rheos__text_format("%s.data-00000-of-00001", prefix);
  char *from = golden("sliced.index"), *from_data = golden("sliced.data-00000-of-00001");
  bytes file = read_bytes(from), elements = read_bytes(from_data);
  write_bytes(data, elements.data, elements.size_bytes);
  for (uint32_t seed = 0; seed < 200; seed++) {
    write_changed(&file, index, seed);
    read_bundle(prefix);
  }
  rheos__free(file.data);
  rheos__free(elements.data);
  rheos__free(from);
  rheos__free(from_data);
  rheos__free(index);
  rheos__free(data);
  rheos__free(prefix);
  remove_folder(folder);
}

static void expect_bundle_parts(const char *name) {
  char *prefix = golden(name);
  rheos__bundle *bundle;
  expect_ok(rheos__bundle_open(prefix, &bundle));
  const rheos__bundle_entry *entry = rheos__bundle_find(bundle, "t", 1);
  assert_non_null(entry);
  assert_int_equal(entry->num_slices, 2);
  rheos_tensor *tensor;
  expect_ok(rheos__bundle_read(bundle, entry, &tensor));
  expect_floats(tensor, RHEOS_SHAPE(4, 3), twelve);
  rheos_tensor_unref(tensor);
  rheos_shape shape;
  rheos__slice middle = slice_of("4 3 1,2:1,2", &shape);
  expect_ok(rheos__bundle_read_slice(bundle, entry, &middle, &tensor));
  expect_floats(tensor, RHEOS_SHAPE(2, 2), (float[]){4, 5, 7, 8});
  rheos_tensor_unref(tensor);
  rheos__bundle_close(bundle);
  rheos__free(prefix);
}

static void test_bundle__puts_slices_together(void **state) {
  (void)state;
  expect_bundle_parts("sliced");
  expect_bundle_parts("sliced_shards");
}

static rheos_tensor *rows(int first, int count) {
  rheos_tensor *tensor;
  expect_ok(
      rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(count, 3), twelve + 3 * first, &tensor));
  return tensor;
}

static void add_rows(rheos__bundle_writer *writer, const char *text, int first, int count) {
  rheos_shape shape;
  rheos__slice slice = slice_of(text, &shape);
  rheos_tensor *tensor = rows(first, count);
  expect_ok(rheos__bundle_writer_add_slice(writer, "t", 1, &shape, &slice, tensor));
  rheos_tensor_unref(tensor);
}

static void expect_same_bundle(const char *name, const char *prefix, const char *suffix) {
  char *from = golden(name);
  char *expected = rheos__text_format("%s%s", from, suffix);
  char *actual = rheos__text_format("%s%s", prefix, suffix);
  expect_same_files(expected, actual);
  rheos__free(from);
  rheos__free(expected);
  rheos__free(actual);
}

static void test_bundle__writes_slices_as_tensorflow(void **state) {
  (void)state;
  char *folder = new_folder(), *prefix = rheos__path_join(folder, "model");
  rheos__bundle_writer *writer;
  expect_ok(rheos__bundle_writer_open(prefix, &writer));
  int32_t seven = 7;
  rheos_tensor *scalar;
  expect_ok(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &seven, &scalar));
  add_rows(writer, "4 3 0,2:-", 0, 2);
  expect_ok(rheos__bundle_writer_add(writer, "u", 1, scalar));
  add_rows(writer, "4 3 2,2:-", 2, 2);
  expect_ok(rheos__bundle_writer_finish_take(writer));
  expect_same_bundle("sliced", prefix, ".index");
  expect_same_bundle("sliced", prefix, ".data-00000-of-00001");
  rheos_tensor_unref(scalar);
  rheos__free(prefix);
  remove_folder(folder);
}

static void test_bundle__merges_slices_as_tensorflow(void **state) {
  (void)state;
  char *folder = new_folder(), *merged = rheos__path_join(folder, "merged");
  char *parts[2];
  for (int i = 0; i < 2; i++) {
    rheos__bundle_writer *writer;
    parts[i] = rheos__text_format("%s/part%d", folder, i);
    expect_ok(rheos__bundle_writer_open(parts[i], &writer));
    add_rows(writer, i == 0 ? "4 3 0,2:-" : "4 3 2,2:-", 2 * i, 2);
    expect_ok(rheos__bundle_writer_finish_take(writer));
  }
  expect_ok(rheos__bundle_merge((const char *const *)parts, 2, merged));
  expect_same_bundle("sliced_shards", merged, ".index");
  expect_same_bundle("sliced_shards", merged, ".data-00001-of-00002");
  for (int i = 0; i < 2; i++) rheos__free(parts[i]);
  rheos__free(merged);
  remove_folder(folder);
}

static void test_bundle__missing_and_overlapping_slices_are_told(void **state) {
  (void)state;
  char *folder = new_folder(), *prefix = rheos__path_join(folder, "model");
  rheos__bundle_writer *writer;
  expect_ok(rheos__bundle_writer_open(prefix, &writer));
  add_rows(writer, "4 3 0,2:-", 0, 2);
  expect_ok(rheos__bundle_writer_finish_take(writer));
  rheos__bundle *bundle;
  rheos_tensor *tensor;
  expect_ok(rheos__bundle_open(prefix, &bundle));
  expect_error(rheos__bundle_read(bundle, rheos__bundle_find(bundle, "t", 1), &tensor),
               RHEOS_INVALID_ARGUMENT,
               "Does not have sufficient slices for partitioned tensor t to restore in slice_spec: "
               "-:-");
  rheos__bundle_close(bundle);
  expect_ok(rheos__bundle_writer_open(prefix, &writer));
  add_rows(writer, "4 3 0,2:-", 0, 2);
  add_rows(writer, "4 3 1,3:-", 1, 3);
  expect_ok(rheos__bundle_writer_finish_take(writer));
  expect_ok(rheos__bundle_open(prefix, &bundle));
  expect_error(rheos__bundle_read(bundle, rheos__bundle_find(bundle, "t", 1), &tensor),
               RHEOS_INTERNAL, "Overlapping slices");
  rheos__bundle_close(bundle);
  rheos__free(prefix);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checkpoint_v1__reads_every_dtype),
      cmocka_unit_test(test_checkpoint_v1__reads_strings_and_scalars),
      cmocka_unit_test(test_checkpoint_v1__puts_slices_together),
      cmocka_unit_test(test_checkpoint_v1__missing_slices_are_told),
      cmocka_unit_test(test_checkpoint_v1__writes_the_bytes_of_tensorflow),
      cmocka_unit_test(test_checkpoint_v1__refuses_what_does_not_fit),
      cmocka_unit_test(test_checkpoint_v1__damage_is_data_loss),
      cmocka_unit_test(test_checkpoint_v1__lies_do_no_harm),
      cmocka_unit_test(test_bundle__lies_about_slices_do_no_harm),
      cmocka_unit_test(test_bundle__puts_slices_together),
      cmocka_unit_test(test_bundle__writes_slices_as_tensorflow),
      cmocka_unit_test(test_bundle__merges_slices_as_tensorflow),
      cmocka_unit_test(test_bundle__missing_and_overlapping_slices_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
