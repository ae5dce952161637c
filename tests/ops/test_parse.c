// The ops that parse examples, on bytes that are cut, damaged or lie about their lengths: an answer
// or a status, and never more memory than the bytes are worth. What sound bytes give is recorded in
// tests/golden.
#include "codec/wire.h"
#include "graph/counting_allocator.h"
#include "ops/array_fixture.h"

// ---- Messages

static void put_feature(rheos__buffer *map, const char *key, rheos__buffer *feature) {
  rheos__buffer entry = {0};
  rheos__wire_put_bytes(&entry, 1, key, strlen(key));
  rheos__wire_put_message(&entry, 2, feature);
  rheos__wire_put_message(map, 1, &entry);
}

static rheos__buffer ints_feature(const unsigned char *varints, size_t size_bytes) {
  rheos__buffer list = {0}, feature = {0};
  rheos__wire_put_bytes(&list, 1, varints, size_bytes);
  rheos__wire_put_message(&feature, 3, &list);
  return feature;
}

static rheos__buffer floats_feature(void) {
  rheos__buffer list = {0}, feature = {0};
  rheos__wire_put_float(&list, 1, 1.5f);
  rheos__wire_put_float(&list, 1, -2.0f);
  rheos__wire_put_message(&feature, 2, &list);
  return feature;
}

static rheos__buffer strings_feature(void) {
  rheos__buffer list = {0}, feature = {0};
  rheos__wire_put_bytes(&list, 1, "hello", 5);
  rheos__wire_put_bytes(&list, 1, "", 0);
  rheos__wire_put_message(&feature, 1, &list);
  return feature;
}

static void put_features(rheos__buffer *map) {
  static const unsigned char two[] = {1, 0xac, 2};
  rheos__buffer ints = ints_feature(two, sizeof two), floats = floats_feature(),
                strings = strings_feature();
  put_feature(map, "i", &ints);
  put_feature(map, "f", &floats);
  put_feature(map, "s", &strings);
}

static rheos__buffer example(void) {
  rheos__buffer map = {0}, example = {0};
  put_features(&map);
  rheos__wire_put_message(&example, 1, &map);
  return example;
}

static void put_list(rheos__buffer *map, const char *key, rheos__buffer *first,
                     rheos__buffer *second) {
  rheos__buffer list = {0};
  rheos__wire_put_message(&list, 1, first);
  rheos__wire_put_message(&list, 1, second);
  put_feature(map, key, &list);
}

static rheos__buffer sequence(void) {
  static const unsigned char two[] = {5, 6};
  rheos__buffer context = {0}, lists = {0}, sequence = {0};
  put_features(&context);
  rheos__buffer a = ints_feature(two, 2), b = ints_feature(two, 2), c = strings_feature(),
                d = strings_feature(), e = floats_feature(), g = floats_feature();
  put_list(&lists, "i", &a, &b);
  put_list(&lists, "s", &c, &d);
  put_list(&lists, "f", &e, &g);
  rheos__wire_put_message(&sequence, 1, &context);
  rheos__wire_put_message(&sequence, 2, &lists);
  return sequence;
}

// ---- Nodes

static const rheos_dtype INT[] = {RHEOS_INT64}, FLOAT[] = {RHEOS_FLOAT}, STRING[] = {RHEOS_STRING},
                         SPLITS[] = {RHEOS_INT32};

static rheos_attr shape_list(const char *name, const rheos_shape *shape) {
  return (rheos_attr){.name = name,
                      .value = {.kind = RHEOS_ATTR_LIST_SHAPE, .count = 1, .shapes = shape}};
}

static rheos_output placeholder(fixture *f) {
  rheos_attr attr = rheos_attr_type("dtype", RHEOS_STRING);
  return rheos_operation_output(add(f, "Placeholder", NULL, 0, &attr, 1), 0);
}

static rheos_output keys(fixture *f, const char *key) { return strings(f, RHEOS_SHAPE(1), &key); }

static rheos_output no_strings(fixture *f) { return strings(f, RHEOS_SHAPE(0), NULL); }

// "i" sparse, "f" dense, "s" ragged.
static rheos_operation example_node(fixture *f, rheos_output serialized) {
  static const rheos_shape two = {.rank = 1, .dims = {2}};
  const rheos_output inputs[] = {serialized,   no_strings(f), keys(f, "i"),
                                 keys(f, "f"), keys(f, "s"),  floats(f, RHEOS_SHAPE(0), NULL)};
  const rheos_attr attrs[] = {
      rheos_attr_int("num_sparse", 1),
      rheos_attr_types("sparse_types", INT, 1),
      rheos_attr_types("ragged_value_types", STRING, 1),
      rheos_attr_types("ragged_split_types", SPLITS, 1),
      shape_list("dense_shapes", &two),
  };
  return add(f, "ParseExampleV2", inputs, 6, attrs, 5);
}

// Sparse, dense and ragged features in the context, and in the feature lists.
static rheos_operation sequence_node(fixture *f, rheos_output serialized) {
  static const rheos_shape two = {.rank = 1, .dims = {2}};
  static const bool missing[] = {false};
  const rheos_output inputs[] = {serialized,
                                 no_strings(f),
                                 keys(f, "i"),
                                 keys(f, "f"),
                                 keys(f, "s"),
                                 keys(f, "i"),
                                 keys(f, "f"),
                                 keys(f, "s"),
                                 constant(f, RHEOS_BOOL, RHEOS_SHAPE(1), missing),
                                 floats(f, RHEOS_SHAPE(0), NULL)};
  const rheos_attr attrs[] = {
      rheos_attr_int("Ncontext_sparse", 1),
      rheos_attr_types("context_sparse_types", INT, 1),
      rheos_attr_types("context_ragged_value_types", STRING, 1),
      rheos_attr_types("context_ragged_split_types", SPLITS, 1),
      shape_list("context_dense_shapes", &two),
      rheos_attr_int("Nfeature_list_sparse", 1),
      rheos_attr_types("feature_list_sparse_types", INT, 1),
      rheos_attr_int("Nfeature_list_dense", 1),
      rheos_attr_types("feature_list_dense_types", FLOAT, 1),
      shape_list("feature_list_dense_shapes", &two),
      rheos_attr_types("feature_list_ragged_value_types", STRING, 1),
      rheos_attr_types("feature_list_ragged_split_types", SPLITS, 1),
  };
  return add(f, "ParseSequenceExampleV2", inputs, 10, attrs, 12);
}

// Runs the node on a vector of the message twice; NULL or the error.
static rheos_status *parse(fixture *f, rheos_operation op, rheos_output serialized,
                           const void *data, size_t size_bytes) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(2), &tensor));
  check(rheos_tensor_set_string(tensor, 0, data, size_bytes));
  check(rheos_tensor_set_string(tensor, 1, data, size_bytes));
  const rheos_feed feed = {serialized, tensor};
  rheos_fetch fetches[16];
  const size_t count = (size_t)rheos_operation_num_outputs(op);
  for (size_t i = 0; i < count; i++) {
    fetches[i] = (rheos_fetch){rheos_operation_output(op, (int32_t)i), NULL};
  }
  rheos_status *status = rheos_session_run(f->session, &feed, 1, fetches, count, NULL, 0, NULL);
  for (size_t i = 0; i < count; i++) rheos_tensor_unref(fetches[i].value);
  rheos_tensor_unref(tensor);
  return status;
}

// Sound bytes parse, each beginning of them is an answer or an INVALID_ARGUMENT, and so is what
// many flips of bits make of them.
static void damage(fixture *f, rheos_operation op, rheos_output serialized, rheos__buffer *bytes) {
  check(rheos_scope_finish(f->scope));
  assert_false(bytes->failed);
  check(parse(f, op, serialized, bytes->data, bytes->size_bytes));
  char *copy = malloc(bytes->size_bytes);
  for (size_t size = 0; size < bytes->size_bytes; size++) {
    memcpy(copy, bytes->data, size);
    expect_error(parse(f, op, serialized, copy, size), RHEOS_INVALID_ARGUMENT, "");
  }
  uint32_t random = 1;
  int sound = 0;
  for (int round = 0; round < 3000; round++) {
    memcpy(copy, bytes->data, bytes->size_bytes);
    for (int flips = round % 4; flips >= 0; flips--) {
      random = random * 1664525u + 1013904223u;
      copy[(random >> 8) % bytes->size_bytes] ^= (char)(1 << (random >> 29));
    }
    rheos_status *status = parse(f, op, serialized, copy, bytes->size_bytes);
    sound += status == NULL;
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
    rheos_status_free(status);
  }
  assert_in_range(sound, 1, 2999);
  free(copy);
  rheos__buffer_deinit(bytes);
}

static void test_parse__damaged_examples_are_errors(void **state) {
  fixture *f = *state;
  rheos_output serialized = placeholder(f);
  rheos__buffer bytes = example();
  damage(f, example_node(f, serialized), serialized, &bytes);
}

static void test_parse__damaged_sequences_are_errors(void **state) {
  fixture *f = *state;
  rheos_output serialized = placeholder(f);
  rheos__buffer bytes = sequence();
  damage(f, sequence_node(f, serialized), serialized, &bytes);
}

// ---- Lengths that lie

static void test_parse__lengths_beyond_the_bytes_are_errors(void **state) {
  static const char *const lies[] = {
      "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",               // features of 2^64 - 1 bytes
      "\x0a\x0c\x0a\xff\xff\xff\xff\xff\xff\xff\x7f\x0a",           // an entry of 2^63 - 1
      "\x0a\x09\x0a\x07\x0a\x01i\x12\xff\xff\xff",                  // a feature whose length is cut
      "\x0a\x0d\x0a\x0b\x0a\x01i\x12\x06\x1a\x04\x0a\x7f\x01\x01",  // a list longer than its
                                                                    // feature
      "\x0a\x0e\x0a\x0c\x0a\x01i\x12\x07\x12\x05\x0a\x03\x01\x01\x01",  // floats of 3 bytes
  };
  fixture *f = *state;
  rheos_output serialized = placeholder(f);
  rheos_operation op = example_node(f, serialized);
  check(rheos_scope_finish(f->scope));
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    expect_error(parse(f, op, serialized, lies[i], strlen(lies[i])), RHEOS_INVALID_ARGUMENT, "");
  }
}

// JSON is read by hand too.
static void test_parse__damaged_json_is_an_error(void **state) {
  static const char json[] =
      "{\"features\": {\"feature\": {\"a\\u00e9\": {\"int64List\": {\"value\": [\"1\", -2]}}, "
      "\"b\": {\"floatList\": {\"value\": [0.5, \"NaN\"]}}, "
      "\"c\": {\"bytesList\": {\"value\": [\"aGk=\"]}}}}}";
  fixture *f = *state;
  rheos_output serialized = placeholder(f);
  rheos__buffer bytes = {0};
  rheos__buffer_put(&bytes, json, sizeof json - 1);
  damage(f, add(f, "DecodeJSONExample", &serialized, 1, NULL, 0), serialized, &bytes);
}

// Every request for memory in turn fails: the run does too, and nothing is lost.
static void test_parse__short_memory_is_an_error(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  rheos__buffer bytes = sequence();
  fixture f = {.graph = rheos_graph_new()};
  f.scope = rheos_scope_new(f.graph);
  check(rheos_session_new(f.graph, NULL, &f.session));
  rheos_output serialized = placeholder(&f);
  rheos_operation op = sequence_node(&f, serialized);
  check(rheos_scope_finish(f.scope));
  check(parse(&f, op, serialized, bytes.data, bytes.size_bytes));
  // The feed itself takes the first few requests; the test's own must not fail.
  counter.requests = 0;
  check(parse(&f, op, serialized, bytes.data, bytes.size_bytes));
  const int64_t all = counter.requests;
  for (int64_t n = 4; n <= all; n++) {
    counter.requests = 0;
    counter.fail_at = n;
    const int64_t alive = counter.alive;
    rheos_status *status = parse(&f, op, serialized, bytes.data, bytes.size_bytes);
    counter.fail_at = 0;
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
    assert_true(counter.alive <= alive + 8);  // the session may keep a little
  }
  rheos__buffer_deinit(&bytes);
  rheos_session_free(f.session);
  rheos_scope_free(f.scope);
  rheos_graph_unref(f.graph);
  assert_int_equal(counter.alive, 0);
  rheos_set_allocator(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_parse__damaged_examples_are_errors),
      TEST(test_parse__damaged_sequences_are_errors),
      TEST(test_parse__lengths_beyond_the_bytes_are_errors),
      TEST(test_parse__damaged_json_is_an_error),
      cmocka_unit_test(test_parse__short_memory_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
