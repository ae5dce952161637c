// Frozen models that TensorFlow wrote (tests/golden/make_models.py) give what they gave there.
#include <math.h>
#include <rheos/rheos.h>

#include "format/format_support.h"

enum { MAX_TENSORS = 4 };

typedef struct named_tensor {
  char *name;
  rheos_tensor *value;
} named_tensor;

typedef struct answers {
  named_tensor feeds[MAX_TENSORS], fetches[MAX_TENSORS];
  size_t num_feeds, num_fetches;
} answers;

// "[2,3]"
static rheos_shape read_shape(const char *text) {
  rheos_shape shape = RHEOS_SCALAR;
  for (const char *at = text + 1; *at != ']' && *at != '\0'; at += *at == ',') {
    char *end;
    shape.dims[shape.rank++] = strtoll(at, &end, 10);
    at = end;
  }
  return shape;
}

// Parses the values into a new tensor: what is left of the line, separated by blanks.
static rheos_tensor *read_values(const char *dtype_name, const char *shape, char **rest) {
  rheos_dtype dtype = strcmp(dtype_name, "int32") == 0 ? RHEOS_INT32 : RHEOS_FLOAT;
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(dtype, read_shape(shape), &tensor));
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    const char *word = strtok_r(NULL, " ", rest);
    assert_non_null(word);
    if (dtype == RHEOS_INT32) {
      ((int32_t *)rheos_tensor_data(tensor))[i] = (int32_t)strtol(word, NULL, 10);
    } else {
      ((float *)rheos_tensor_data(tensor))[i] = strtof(word, NULL);
    }
  }
  return tensor;
}

static void read_line(char *line, answers *a) {
  char *rest;
  const char *kind = strtok_r(line, " ", &rest);
  const char *name = strtok_r(NULL, " ", &rest);
  const char *dtype = strtok_r(NULL, " ", &rest);
  const char *shape = strtok_r(NULL, " ", &rest);
  assert_non_null(shape);
  const bool is_feed = strcmp(kind, "feed") == 0;
  named_tensor *to = is_feed ? &a->feeds[a->num_feeds++] : &a->fetches[a->num_fetches++];
  to->name = rheos__text_format("%s", name);
  to->value = read_values(dtype, shape, &rest);
}

static bytes read_model(const char *name, const char *suffix) {
  char *path =
      rheos__text_format("%s/tests/golden/models/%s_frozen.%s", RHEOS_SOURCE_DIR, name, suffix);
  bytes b = read_bytes(path);
  rheos__free(path);
  return b;
}

static void read_answers(const char *name, answers *a) {
  bytes text = read_model(name, "txt");
  char *lines = rheos__text_format("%.*s", (int)text.size_bytes, text.data), *rest;
  for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    read_line(line, a);
  }
  rheos__free(lines);
  rheos__free(text.data);
  assert_true(a->num_feeds > 0 && a->num_fetches > 0);
}

static void free_answers(answers *a) {
  for (size_t i = 0; i < a->num_feeds; i++) {
    rheos__free(a->feeds[i].name);
    rheos_tensor_unref(a->feeds[i].value);
  }
  for (size_t i = 0; i < a->num_fetches; i++) {
    rheos__free(a->fetches[i].name);
    rheos_tensor_unref(a->fetches[i].value);
  }
}

// "x:0"
static rheos_output output_named(rheos_graph *graph, const char *name) {
  char *node = rheos__text_format("%.*s", (int)(strlen(name) - 2), name);
  rheos_operation operation = rheos_graph_operation(graph, node);
  rheos__free(node);
  assert_non_null(operation.graph);
  return rheos_operation_output(operation, 0);
}

static void expect_close(const rheos_tensor *actual, const rheos_tensor *expected) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(actual), rheos_tensor_shape(expected)));
  const float *x = rheos_tensor_data((rheos_tensor *)(uintptr_t)actual);
  const float *y = rheos_tensor_data((rheos_tensor *)(uintptr_t)expected);
  for (int64_t i = 0; i < rheos_tensor_num_elements(expected); i++) {
    if (!(fabsf(x[i] - y[i]) <= 1e-5f * (1 + fabsf(y[i])))) {
      fail_msg("element %lld is %.9g, in TensorFlow %.9g", (long long)i, x[i], y[i]);
    }
  }
}

static void expect_answers(const char *name) {
  answers a = {0};
  read_answers(name, &a);
  bytes model = read_model(name, "pb");
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_import_graph_def(scope, model.data, model.size_bytes, NULL);
  expect_ok(rheos_scope_finish(scope));
  rheos_session *session;
  expect_ok(rheos_session_new(graph, NULL, &session));
  rheos_feed feeds[MAX_TENSORS];
  rheos_fetch fetches[MAX_TENSORS];
  for (size_t i = 0; i < a.num_feeds; i++) {
    feeds[i] = (rheos_feed){output_named(graph, a.feeds[i].name), a.feeds[i].value};
  }
  for (size_t i = 0; i < a.num_fetches; i++) {
    fetches[i] = (rheos_fetch){output_named(graph, a.fetches[i].name), NULL};
  }
  expect_ok(rheos_session_run(session, feeds, a.num_feeds, fetches, a.num_fetches, NULL, 0, NULL));
  for (size_t i = 0; i < a.num_fetches; i++) {
    expect_close(fetches[i].value, a.fetches[i].value);
    rheos_tensor_unref(fetches[i].value);
  }
  rheos_session_free(session);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  rheos__free(model.data);
  free_answers(&a);
}

static void test_models__perceptrons_answer_as_in_tensorflow(void **state) {
  (void)state;
  expect_answers("mlp_ref");
  expect_answers("mlp_resource");
}

static void test_models__convolutional_networks_answer_as_in_tensorflow(void **state) {
  (void)state;
  expect_answers("cnn_ref");
  expect_answers("cnn_resource");
}

static void test_models__a_transformer_block_answers_as_in_tensorflow(void **state) {
  (void)state;
  expect_answers("transformer");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_models__perceptrons_answer_as_in_tensorflow),
      cmocka_unit_test(test_models__convolutional_networks_answer_as_in_tensorflow),
      cmocka_unit_test(test_models__a_transformer_block_answers_as_in_tensorflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
