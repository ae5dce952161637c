// A batch of examples gives what each of them gives by itself, whatever their entries have in
// common: a parser that expects the next example to be like the one before must not be led astray.
#include <stdio.h>

#include "codec/wire.h"
#include "ops/array_fixture.h"

enum { BATCH = 40, ROUNDS = 60, NUM_KEYS = 8, MAX_VALUES = 4 };

static uint32_t random_state;

static uint32_t random_below(uint32_t bound) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % bound;
}

// ---- Messages

// Two keys that begin alike, one that no column asks for, one that two columns ask for.
static const char *const KEYS[NUM_KEYS] = {
    "floats_of_a_row", "floats_of_any", "whole", "whole_ones", "text", "texts", "both", "nobody"};

static void put_values(rheos__buffer *list, int kind, uint32_t count) {
  rheos__buffer packed = {0};
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t number = random_below(4) == 0 ? -(uint64_t)random_below(9) : random_below(200);
    const float real = (float)random_below(1000) / 8;
    char text[40];
    const int size = snprintf(text, sizeof text, "%.*s%u", (int)random_below(3), "abc", i);
    if (kind == 1) rheos__wire_put_bytes(list, 1, text, (size_t)size);
    if (kind == 2) rheos__buffer_put(&packed, &real, sizeof real);
    if (kind == 3) rheos__buffer_put_varint(&packed, number);
  }
  if (kind != 1) rheos__wire_put_bytes(list, 1, packed.data, packed.size_bytes);
  rheos__buffer_deinit(&packed);
}

// Mostly what its column wants.
static void put_entry(rheos__buffer *map, uint32_t key, bool is_odd) {
  static const int kinds[NUM_KEYS] = {2, 2, 3, 3, 1, 1, 2, 3};
  static const uint32_t counts[NUM_KEYS] = {2, 0, 1, 0, 1, 0, 2, 0};
  const int kind = is_odd ? (int)random_below(4) : kinds[key];
  const uint32_t count = counts[key] > 0 && !is_odd ? counts[key] : random_below(MAX_VALUES + 1);
  rheos__buffer list = {0}, feature = {0}, entry = {0};
  if (kind > 0) {
    put_values(&list, kind, count);
    rheos__wire_put_message(&feature, kind, &list);
  }
  rheos__wire_put_bytes(&entry, 1, KEYS[key], strlen(KEYS[key]));
  rheos__wire_put_message(&entry, 2, &feature);
  rheos__wire_put_message(map, 1, &entry);
}

// The keys in order, or in another one, with some that are missing, twice there or odd.
static rheos__buffer make_example(bool may_be_odd) {
  rheos__buffer map = {0}, example = {0};
  const uint32_t first = random_below(3) == 0 ? random_below(NUM_KEYS) : 0;
  for (uint32_t i = 0; i < NUM_KEYS; i++) {
    const uint32_t key = (first + i) % NUM_KEYS, luck = random_below(24);
    if (luck == 0 && key % 2 == 1) continue;
    put_entry(&map, key, may_be_odd && random_below(60) == 0);
    if (luck == 1) put_entry(&map, key, may_be_odd && random_below(4) == 0);
  }
  rheos__wire_put_message(&example, 1, &map);
  if (may_be_odd && random_below(40) == 0 && example.size_bytes > 3) {
    example.data[random_below((uint32_t)example.size_bytes)] ^= (char)(1u << random_below(8));
  }
  assert_false(example.failed);
  return example;
}

// ---- The op

static rheos_output key_list(fixture *f, const char *const *keys, int64_t count) {
  return strings(f, RHEOS_SHAPE(count), keys);
}

static rheos_operation parse_node(fixture *f, rheos_output serialized) {
  static const char *const sparse[] = {"whole_ones", "both"}, *const ragged[] = {"texts"},
                           *const dense[] = {"floats_of_a_row", "whole", "text", "both",
                                             "floats_of_any"};
  static const rheos_dtype sparse_types[] = {RHEOS_INT64, RHEOS_FLOAT},
                           ragged_types[] = {RHEOS_STRING}, split_types[] = {RHEOS_INT64};
  const rheos_shape shapes[] = {RHEOS_SHAPE(2), RHEOS_SCALAR, RHEOS_SCALAR, RHEOS_SHAPE(2),
                                RHEOS_SHAPE(-1)};
  const float zero = 0;
  const int64_t none = 7;
  const char *const missing = "missing";
  const rheos_output inputs[] = {serialized,
                                 strings(f, RHEOS_SHAPE(0), NULL),
                                 key_list(f, sparse, 2),
                                 key_list(f, dense, 5),
                                 key_list(f, ragged, 1),
                                 floats(f, RHEOS_SHAPE(0), NULL),
                                 constant(f, RHEOS_INT64, RHEOS_SCALAR, &none),
                                 strings(f, RHEOS_SCALAR, &missing),
                                 floats(f, RHEOS_SHAPE(0), NULL),
                                 floats(f, RHEOS_SCALAR, &zero)};
  const rheos_attr attrs[] = {
      rheos_attr_int("num_sparse", 2),
      rheos_attr_types("sparse_types", sparse_types, 2),
      rheos_attr_types("ragged_value_types", ragged_types, 1),
      rheos_attr_types("ragged_split_types", split_types, 1),
      {"dense_shapes", {.kind = RHEOS_ATTR_LIST_SHAPE, .count = 5, .shapes = shapes}}};
  return add(f, "ParseExampleV2", inputs, 10, attrs, 5);
}

// Outputs of the node: 2 x (indices, values, shape), 5 dense ones, values and splits.
enum { INDICES = 0, VALUES = 2, DENSE = 6, ANY = 10, RAGGED = 11, SPLITS = 12, NUM_OUTPUTS = 13 };

static rheos_status *parse(fixture *f, rheos_operation op, rheos_output serialized,
                           rheos__buffer *examples, int64_t count, rheos_tensor **outputs) {
  rheos_tensor *tensor = NULL;
  rheos_fetch fetches[NUM_OUTPUTS];
  check(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(count), &tensor));
  for (int64_t i = 0; i < count; i++) {
    check(rheos_tensor_set_string(tensor, i, examples[i].data, examples[i].size_bytes));
  }
  for (int32_t i = 0; i < NUM_OUTPUTS; i++) {
    fetches[i] = (rheos_fetch){rheos_operation_output(op, i), NULL};
  }
  const rheos_feed feed = {serialized, tensor};
  rheos_status *status =
      rheos_session_run(f->session, &feed, 1, fetches, NUM_OUTPUTS, NULL, 0, NULL);
  for (int i = 0; i < NUM_OUTPUTS; i++) outputs[i] = status == NULL ? fetches[i].value : NULL;
  rheos_tensor_unref(tensor);
  return status;
}

// Elements of `whole` from `first` on are those of `part`.
static void expect_part(const rheos_tensor *whole, int64_t first, const rheos_tensor *part,
                        int64_t count) {
  assert_true(first + count <= rheos_tensor_num_elements(whole));
  for (int64_t i = 0; i < count; i++) {
    if (rheos_tensor_dtype(whole) == RHEOS_STRING) {
      const rheos_string *a = (const rheos_string *)rheos_tensor_data(whole) + first + i,
                         *b = (const rheos_string *)rheos_tensor_data(part) + i;
      assert_int_equal(a->size_bytes, b->size_bytes);
      if (a->size_bytes > 0) assert_memory_equal(a->data, b->data, a->size_bytes);
    } else {
      const size_t size = rheos_dtype_size(rheos_tensor_dtype(whole));
      assert_memory_equal((const char *)rheos_tensor_data(whole) + (size_t)(first + i) * size,
                          (const char *)rheos_tensor_data(part) + (size_t)i * size, size);
    }
  }
}

// What the batch has of an example is what the example has; `at` counts what came before.
static void expect_example(rheos_tensor *const *batch, rheos_tensor *const *one, int64_t example,
                           int64_t *at) {
  for (int i = 0; i < 2; i++) {
    const int64_t count = rheos_tensor_num_elements(one[VALUES + i]);
    expect_part(batch[VALUES + i], at[i], one[VALUES + i], count);
    const int64_t *indices = rheos_tensor_data(batch[INDICES + i]);
    for (int64_t k = 0; k < count; k++) {
      assert_int_equal(indices[2 * (at[i] + k)], example);
      assert_int_equal(indices[2 * (at[i] + k) + 1], k);
    }
    at[i] += count;
  }
  for (int i = DENSE; i < ANY; i++) {
    const int64_t stride = rheos_tensor_num_elements(one[i]);
    expect_part(batch[i], example * stride, one[i], stride);
  }
  const int64_t row = rheos_tensor_num_elements(batch[ANY]) / BATCH,
                count = rheos_tensor_num_elements(one[ANY]);
  expect_part(batch[ANY], example * row, one[ANY], count);
  for (int64_t k = count; k < row; k++) {
    assert_float_equal(((const float *)rheos_tensor_data(batch[ANY]))[example * row + k], 0, 0);
  }
  const int64_t *splits = rheos_tensor_data(batch[SPLITS]);
  assert_int_equal(splits[example], at[2]);
  expect_part(batch[RAGGED], at[2], one[RAGGED], rheos_tensor_num_elements(one[RAGGED]));
  at[2] += rheos_tensor_num_elements(one[RAGGED]);
}

static void free_outputs(rheos_tensor **outputs) {
  for (int i = 0; i < NUM_OUTPUTS; i++) rheos_tensor_unref(outputs[i]);
}

// True if the examples parse.
static bool compare(fixture *f, rheos_operation op, rheos_output serialized,
                    rheos__buffer *examples) {
  rheos_tensor *batch[NUM_OUTPUTS], *one[NUM_OUTPUTS];
  rheos_status *status = parse(f, op, serialized, examples, BATCH, batch), *single = NULL;
  const bool sound = status == NULL;
  int64_t at[3] = {0};
  for (int64_t i = 0; i < BATCH && single == NULL; i++) {
    single = parse(f, op, serialized, &examples[i], 1, one);
    if (single == NULL && sound) expect_example(batch, one, i, at);
    free_outputs(one);
  }
  assert_int_equal(rheos_status_code(status), rheos_status_code(single));
  rheos_status_free(status);
  rheos_status_free(single);
  free_outputs(batch);
  return sound;
}

static int compare_rounds(fixture *f, bool may_be_odd) {
  const rheos_attr attr = rheos_attr_type("dtype", RHEOS_STRING);
  const rheos_output serialized =
      rheos_operation_output(add(f, "Placeholder", NULL, 0, &attr, 1), 0);
  const rheos_operation op = parse_node(f, serialized);
  check(rheos_scope_finish(f->scope));
  int sound = 0;
  random_state = 1;
  for (int round = 0; round < ROUNDS; round++) {
    rheos__buffer examples[BATCH];
    for (int i = 0; i < BATCH; i++) examples[i] = make_example(may_be_odd);
    sound += compare(f, op, serialized, examples);
    for (int i = 0; i < BATCH; i++) rheos__buffer_deinit(&examples[i]);
  }
  return sound;
}

static void test_parse_batches__sound_examples_are_as_by_themselves(void **state) {
  assert_int_equal(compare_rounds(*state, false), ROUNDS);
}

static void test_parse_batches__odd_examples_are_as_by_themselves(void **state) {
  assert_in_range(compare_rounds(*state, true), 1, ROUNDS - 1);
}

// ---- Lists of every length, each number another

enum { LENGTHS = 140 };

static rheos__buffer make_floats(int length) {
  rheos__buffer packed = {0}, list = {0}, feature = {0}, entry = {0}, map = {0}, example = {0};
  for (int i = 0; i < length; i++) {
    const float value = (float)(1000 * length + i);
    rheos__buffer_put(&packed, &value, sizeof value);
  }
  rheos__wire_put_bytes(&list, 1, packed.data, packed.size_bytes);
  rheos__wire_put_message(&feature, 2, &list);
  rheos__wire_put_bytes(&entry, 1, "both", 4);
  rheos__wire_put_message(&entry, 2, &feature);
  rheos__wire_put_message(&map, 1, &entry);
  rheos__wire_put_message(&example, 1, &map);
  rheos__buffer_deinit(&packed);
  assert_false(example.failed);
  return example;
}

static rheos_operation floats_node(fixture *f, rheos_output serialized) {
  static const rheos_dtype sparse_types[] = {RHEOS_FLOAT};
  const char *const key = "both";
  const rheos_output inputs[] = {serialized, strings(f, RHEOS_SHAPE(0), NULL),
                                 strings(f, RHEOS_SCALAR, &key)};
  const rheos_attr attrs[] = {rheos_attr_int("Nsparse", 1),
                              rheos_attr_int("Ndense", 0),
                              rheos_attr_types("sparse_types", sparse_types, 1),
                              rheos_attr_types("Tdense", NULL, 0),
                              {"dense_shapes", {.kind = RHEOS_ATTR_LIST_SHAPE}}};
  return add(f, "ParseExample", inputs, 3, attrs, 5);
}

static void expect_all_lengths(const rheos_tensor *indices, const rheos_tensor *values) {
  const int64_t *index = rheos_tensor_data(indices);
  const float *value = rheos_tensor_data(values);
  assert_int_equal(rheos_tensor_num_elements(values), LENGTHS * (LENGTHS - 1) / 2);
  assert_int_equal(rheos_tensor_num_elements(indices), LENGTHS * (LENGTHS - 1));
  for (int length = 0; length < LENGTHS; length++) {
    for (int i = 0; i < length; i++) {
      assert_int_equal(*index++, length);
      assert_int_equal(*index++, i);
      assert_float_equal(*value++, 1000 * length + i, 0);
    }
  }
}

static void test_parse_batches__lists_of_every_length_are_whole(void **state) {
  fixture *f = *state;
  rheos_tensor *serialized;
  check(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(LENGTHS), &serialized));
  for (int i = 0; i < LENGTHS; i++) {
    rheos__buffer example = make_floats(i);
    check(rheos_tensor_set_string(serialized, i, example.data, example.size_bytes));
    rheos__buffer_deinit(&example);
  }
  const rheos_operation op = floats_node(f, rheos_constant(f->scope, serialized, NULL));
  check(rheos_scope_finish(f->scope));
  rheos_fetch fetches[] = {{rheos_operation_output(op, 0), NULL},
                           {rheos_operation_output(op, 1), NULL}};
  check(rheos_session_run(f->session, NULL, 0, fetches, 2, NULL, 0, NULL));
  expect_all_lengths(fetches[0].value, fetches[1].value);
  rheos_tensor_unref(fetches[0].value);
  rheos_tensor_unref(fetches[1].value);
  rheos_tensor_unref(serialized);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_parse_batches__sound_examples_are_as_by_themselves,
                                      set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_parse_batches__odd_examples_are_as_by_themselves, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_parse_batches__lists_of_every_length_are_whole, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
