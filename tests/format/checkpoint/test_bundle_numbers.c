// Checkpoints over threads: the same files and the same tensors as with one, however the tensors
// fall into pieces.
#include "format/checkpoint/bundle.h"
#include "format/format_support.h"
#include "runtime/step/home.h"

// A piece is 256 KiB; large tensors begin at 1 MiB.
static const int64_t SIZES[] = {
    0, 1, 7, (1 << 18) - 1, 1 << 18, (1 << 20), (1 << 20) + 1, 3 << 20, (5 << 18) - 3, 100003};
enum { NUM_TENSORS = sizeof SIZES / sizeof *SIZES };

static void fill(rheos_tensor *tensor, uint32_t seed) {
  unsigned char *bytes = tensor->data;
  for (size_t i = 0; i < tensor->size_bytes; i++) {
    seed = seed * 1664525u + 1013904223u;
    bytes[i] = (unsigned char)(seed >> 24);
  }
}

static void tensor_name(int i, char name[16]) { snprintf(name, 16, "t%02d", i); }

static void save_all(const char *prefix, rheos__step *step) {
  rheos__bundle_writer *writer;
  expect_ok(rheos__bundle_writer_open(prefix, &writer));
  rheos__bundle_writer_use(writer, step);
  for (int i = 0; i < NUM_TENSORS; i++) {
    char name[16];
    rheos_tensor *tensor;
    expect_ok(rheos_tensor_new(RHEOS_UINT8, RHEOS_SHAPE(SIZES[i]), &tensor));
    fill(tensor, (uint32_t)i);
    tensor_name(i, name);
    expect_ok(rheos__bundle_writer_add(writer, name, strlen(name), tensor));
    rheos_tensor_unref(tensor);
  }
  expect_ok(rheos__bundle_writer_finish_take(writer));
}

static rheos_status *read_all(const char *prefix, rheos__step *step,
                              rheos_tensor *tensors[NUM_TENSORS]) {
  rheos__bundle *bundle;
  const rheos__bundle_entry *entries[NUM_TENSORS];
  expect_ok(rheos__bundle_open(prefix, &bundle));
  for (int i = 0; i < NUM_TENSORS; i++) {
    char name[16];
    tensor_name(i, name);
    entries[i] = rheos__bundle_find(bundle, name, strlen(name));
    assert_non_null(entries[i]);
  }
  rheos_status *status = rheos__bundle_read_all(bundle, entries, NUM_TENSORS, step, tensors);
  rheos__bundle_close(bundle);
  return status;
}

static void test_bundle_numbers__are_the_same_over_any_threads(void **state) {
  (void)state;
  char *folder = new_folder(), *one = rheos__path_join(folder, "one");
  char *many = rheos__path_join(folder, "many");
  save_all(one, NULL);
  for (int threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
    rheos__home home = {0};
    expect_ok(
        rheos__home_init(&home, &(rheos__home_options){.own_host = {.num_threads = threads}}));
    rheos__step step;
    rheos__step_init(&step, &home, NULL);
    save_all(many, &step);
    for (int part = 0; part < 2; part++) {
      const char *const suffix = part ? ".index" : ".data-00000-of-00001";
      char *a = rheos__text_format("%s%s", one, suffix),
           *b = rheos__text_format("%s%s", many, suffix);
      expect_same_files(a, b);
      rheos__free(a);
      rheos__free(b);
    }
    rheos_tensor *tensors[NUM_TENSORS], *expected;
    expect_ok(read_all(many, &step, tensors));
    for (int i = 0; i < NUM_TENSORS; i++) {
      expect_ok(rheos_tensor_new(RHEOS_UINT8, RHEOS_SHAPE(SIZES[i]), &expected));
      fill(expected, (uint32_t)i);
      assert_int_equal(tensors[i]->size_bytes, expected->size_bytes);
      assert_memory_equal(tensors[i]->data, expected->data, expected->size_bytes);
      rheos_tensor_unref(tensors[i]);
      rheos_tensor_unref(expected);
    }
    rheos__home_deinit(&home);
  }
  rheos__free(one);
  rheos__free(many);
  remove_folder(folder);
}

// A byte in each piece of the largest tensor.
static void test_bundle_numbers__a_damaged_byte_is_found(void **state) {
  (void)state;
  char *folder = new_folder(), *prefix = rheos__path_join(folder, "model");
  char *path = rheos__text_format("%s.data-00000-of-00001", prefix), *bytes;
  size_t size_bytes, first = 0;
  rheos__home home = {0};
  expect_ok(rheos__home_init(&home, &(rheos__home_options){.own_host = {.num_threads = 3}}));
  rheos__step step;
  rheos__step_init(&step, &home, NULL);
  save_all(prefix, &step);
  expect_ok(rheos__file_read_all(path, (size_t)1 << 30, &bytes, &size_bytes));
  for (int i = 0; i < 7; i++) first += (size_t)SIZES[i];
  for (size_t at = 0; at < (size_t)SIZES[7]; at += (1 << 18) + 7001) {
    bytes[first + at] ^= 1;
    expect_ok(rheos__file_replace(path, bytes, size_bytes));
    bytes[first + at] ^= 1;
    rheos_tensor *tensors[NUM_TENSORS];
    expect_error(read_all(prefix, &step, tensors), RHEOS_DATA_LOSS, "'t07'");
    for (int i = 0; i < NUM_TENSORS; i++) assert_null(tensors[i]);
  }
  rheos__home_deinit(&home);
  rheos__free(bytes);
  rheos__free(path);
  rheos__free(prefix);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bundle_numbers__are_the_same_over_any_threads),
      cmocka_unit_test(test_bundle_numbers__a_damaged_byte_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
