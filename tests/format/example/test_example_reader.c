// Reading examples without a graph: features and lists by key, tensors of described features, bytes
// that are cut or flipped.
#include <rheos/examples.h>

#include "format/format_support.h"

typedef struct message {
  rheos_example_builder *builder;
  const void *data;
  size_t size_bytes;
} message;

static message make_message(bool is_sequence) {
  message m = {.builder = rheos_example_builder_new()};
  const int64_t ints[] = {1, -5, INT64_MAX, INT64_MIN};
  const float floats[] = {0.5f, -2, 3, 4};
  rheos_example_builder_add_ints(m.builder, "ints", ints, 4);
  rheos_example_builder_add_floats(m.builder, "floats", floats, 4);
  rheos_example_builder_add_text(m.builder, "text", "first");
  rheos_example_builder_add_text(m.builder, "text", "second");
  if (is_sequence) {
    rheos_example_builder_step_ints(m.builder, "words", ints, 2);
    rheos_example_builder_step_ints(m.builder, "words", ints + 2, 1);
    rheos_example_builder_step_floats(m.builder, "frames", floats, 3);
    expect_ok(rheos_example_builder_sequence(m.builder, &m.data, &m.size_bytes));
  } else {
    expect_ok(rheos_example_builder_example(m.builder, &m.data, &m.size_bytes));
  }
  return m;
}

static void test_example_reader__gives_features_by_key(void **state) {
  (void)state;
  message m = make_message(false);
  rheos_example *example;
  expect_ok(rheos_example_read(m.data, m.size_bytes, &example));
  assert_int_equal(rheos_example_num_features(example), 3);
  assert_memory_equal(rheos_example_feature(example, 0).key.data, "floats", 6);
  rheos_feature feature;
  assert_false(rheos_example_find(example, "none", &feature));
  assert_true(rheos_example_find(example, "ints", &feature));
  assert_int_equal(feature.dtype, RHEOS_INT64);
  assert_int_equal(feature.count, 4);
  int64_t ints[4];
  rheos_feature_ints(&feature, ints);
  assert_true(ints[1] == -5 && ints[2] == INT64_MAX && ints[3] == INT64_MIN);
  rheos_tensor *tensor;
  expect_ok(rheos_feature_tensor(&feature, &tensor));
  assert_memory_equal(rheos_tensor_data(tensor), ints, sizeof ints);
  rheos_tensor_unref(tensor);
  assert_true(rheos_example_find(example, "floats", &feature));
  float floats[4];
  rheos_feature_floats(&feature, floats);
  assert_true(floats[0] == 0.5f && floats[3] == 4);
  assert_true(rheos_example_find(example, "text", &feature));
  rheos_string strings[2];
  rheos_feature_strings(&feature, strings);
  assert_int_equal(strings[1].size_bytes, 6);
  assert_memory_equal(strings[1].data, "second", 6);
  rheos_example_free(example);
  rheos_example_free(NULL);
  rheos_example_builder_free(m.builder);
}

static void test_example_reader__gives_lists_by_key(void **state) {
  (void)state;
  message m = make_message(true);
  rheos_example *example;
  expect_ok(rheos_sequence_example_read(m.data, m.size_bytes, &example));
  assert_int_equal(rheos_example_num_features(example), 3);
  assert_int_equal(rheos_example_num_lists(example), 2);
  assert_memory_equal(rheos_example_list_key(example, 0).data, "frames", 6);
  size_t list = 0;
  assert_false(rheos_example_find_list(example, "text", &list));
  assert_true(rheos_example_find_list(example, "words", &list));
  assert_int_equal(list, 1);
  assert_int_equal(rheos_example_list_steps(example, list), 2);
  assert_int_equal(rheos_example_list_feature(example, list, 0).count, 2);
  const rheos_feature last = rheos_example_list_feature(example, list, 1);
  int64_t value;
  assert_int_equal(last.count, 1);
  rheos_feature_ints(&last, &value);
  assert_true(value == INT64_MAX);
  rheos_example_free(example);
  rheos_example_builder_free(m.builder);
}

static void test_example_reader__takes_the_last_of_a_key(void **state) {
  (void)state;
  // Two maps; "a" comes three times, the last time without a list.
  static const char bytes[] =
      "\x0a\x0a\x0a\x08\x0a\x01"
      "a\x12\x03\x1a\x01\x01\x0a\x1b\x0a\x0a\x0a\x01"
      "a\x12\x05\x1a\x03\x0a\x01\x02\x0a\x0d\x0a\x01"
      "b\x12\x08\x12\x06\x0a\x04\x00\x00\x80\x3f";
  rheos_example *example;
  // The first list holds a field that is no value.
  expect_ok(rheos_example_read(bytes, sizeof bytes - 1, &example));
  assert_int_equal(rheos_example_num_features(example), 2);
  int64_t value;
  const rheos_feature a = rheos_example_feature(example, 0);
  assert_int_equal(a.count, 1);
  rheos_feature_ints(&a, &value);
  assert_int_equal(value, 2);
  rheos_example_free(example);
  static const char empty[] =
      "\x0a\x07\x0a\x05\x0a\x01"
      "a\x12\x00";
  expect_ok(rheos_example_read(empty, sizeof empty - 1, &example));
  const rheos_feature none = rheos_example_feature(example, 0);
  assert_int_equal(none.dtype, RHEOS_INVALID_DTYPE);
  rheos_tensor *tensor;
  expect_error(rheos_feature_tensor(&none, &tensor), RHEOS_INVALID_ARGUMENT, "holds no list");
  rheos_example_free(example);
}

static void test_example_reader__parses_what_is_described(void **state) {
  (void)state;
  message m = make_message(false);
  rheos_tensor *nine, *out[4];
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &(float){9}, &nine));
  const rheos_feature_spec specs[] = {
      {"text", RHEOS_STRING, RHEOS_UNKNOWN_SHAPE, NULL},
      {"floats", RHEOS_FLOAT, RHEOS_SHAPE(2, 2), NULL},
      {"missing", RHEOS_FLOAT, RHEOS_SCALAR, nine},
      {"absent", RHEOS_INT64, RHEOS_UNKNOWN_SHAPE, NULL},
  };
  expect_ok(rheos_example_parse(m.data, m.size_bytes, specs, 4, out));
  assert_int_equal(rheos_tensor_num_elements(out[0]), 2);
  assert_memory_equal(((rheos_string *)rheos_tensor_data(out[0]))[1].data, "second", 6);
  assert_int_equal(rheos_tensor_shape(out[1])->rank, 2);
  assert_true(((float *)rheos_tensor_data(out[1]))[3] == 4);
  assert_true(*(float *)rheos_tensor_data(out[2]) == 9);
  assert_int_equal(rheos_tensor_num_elements(out[3]), 0);
  for (int i = 0; i < 4; i++) rheos_tensor_unref(out[i]);
  const rheos_feature_spec bad[] = {
      {"missing", RHEOS_FLOAT, RHEOS_SCALAR, NULL},
      {"floats", RHEOS_FLOAT, RHEOS_SHAPE(3), NULL},
      {"ints", RHEOS_FLOAT, RHEOS_UNKNOWN_SHAPE, NULL},
      {"ints", RHEOS_INT32, RHEOS_UNKNOWN_SHAPE, NULL},
      {"ints", RHEOS_INT64, RHEOS_SHAPE(-1, 2), NULL},
      {"ints", RHEOS_INT64, RHEOS_SCALAR, nine},
  };
  const char *const words[] = {"missing",
                               "floats",
                               "ints",
                               "no values of dtype int32",
                               "not known in all dimensions",
                               "its default value of float"};
  for (int i = 0; i < 6; i++) {
    expect_error(rheos_example_parse(m.data, m.size_bytes, &bad[i], 1, out), RHEOS_INVALID_ARGUMENT,
                 words[i]);
    assert_null(out[0]);
  }
  rheos_tensor_unref(nine);
  rheos_example_builder_free(m.builder);
}

static rheos_status *read_all(void *argument) {
  const message *m = argument;
  rheos_example *example;
  RHEOS_TRY(rheos_sequence_example_read(m->data, m->size_bytes, &example));
  rheos_status *status = NULL;
  for (size_t i = 0; status == NULL && i < rheos_example_num_features(example); i++) {
    const rheos_feature feature = rheos_example_feature(example, i);
    if (feature.dtype == RHEOS_INVALID_DTYPE) continue;
    rheos_tensor *tensor;
    status = rheos_feature_tensor(&feature, &tensor);
    rheos_tensor_unref(tensor);
  }
  rheos_example_free(example);
  if (status != NULL) return status;
  rheos_tensor *out[2];
  const rheos_feature_spec specs[] = {{"text", RHEOS_STRING, RHEOS_UNKNOWN_SHAPE, NULL},
                                      {"floats", RHEOS_FLOAT, RHEOS_SHAPE(4), NULL}};
  status = rheos_example_parse(m->data, m->size_bytes, specs, 2, out);
  for (int i = 0; i < 2; i++) rheos_tensor_unref(out[i]);
  return status;
}

static void test_example_reader__damage_is_a_status(void **state) {
  (void)state;
  message m = make_message(true);
  char *copy = malloc(m.size_bytes);
  for (size_t size = 0; size < m.size_bytes; size++) {
    const message cut = {.data = m.data, .size_bytes = size};
    rheos_status_free(read_all((void *)(uintptr_t)&cut));
  }
  for (size_t bit = 0; bit < 8 * m.size_bytes; bit++) {
    memcpy(copy, m.data, m.size_bytes);
    copy[bit / 8] ^= (char)(1 << bit % 8);
    const message flipped = {.data = copy, .size_bytes = m.size_bytes};
    rheos_status_free(read_all((void *)(uintptr_t)&flipped));
  }
  free(copy);
  rheos_example *example;
  expect_error(rheos_example_read(m.data, m.size_bytes - 1, &example), RHEOS_DATA_LOSS,
               "not a valid Example");
  rheos_example_builder_free(m.builder);
}

static void test_example_reader__survives_short_memory(void **state) {
  (void)state;
  message m = make_message(true);
  sweep_allocations(read_all, &m);
  rheos_example_builder_free(m.builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_example_reader__gives_features_by_key),
      cmocka_unit_test(test_example_reader__gives_lists_by_key),
      cmocka_unit_test(test_example_reader__takes_the_last_of_a_key),
      cmocka_unit_test(test_example_reader__parses_what_is_described),
      cmocka_unit_test(test_example_reader__damage_is_a_status),
      cmocka_unit_test(test_example_reader__survives_short_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
