// Saved models of Keras 2 and 3 (LSTM, CNN, transformer, text), made by TensorFlow 2.21
// (tests/golden/make_keras_saved_models.py), give its outputs when they are loaded from C.
#include <math.h>
#include <rheos/saved_model.h>

#include "codec/json.h"
#include "format/format_support.h"

enum { MAX_ELEMENTS = 4096, MAX_DEPTH = 8, MAX_NAMES = 4 };

typedef struct named_values {
  char *names[MAX_NAMES];
  rheos_tensor *values[MAX_NAMES];
  size_t count;
} named_values;

typedef struct keras_case {
  char *name, *signature;
  bool in_sessions;
  named_values inputs, outputs;
  rheos_dtype dtype;  // of the inputs
} keras_case;

static char *copy_of_string(const rheos__json *json) {
  const rheos_string s = rheos__json_string(json);
  return rheos__text_format("%.*s", (int)s.size_bytes, s.data);
}

static char *read_string(rheos__json *json) {
  expect_ok(rheos__json_read_string(json));
  return copy_of_string(json);
}

// Lists in lists of numbers, or of texts.
typedef struct elements {
  double numbers[MAX_ELEMENTS];
  char *texts[MAX_ELEMENTS];
  int64_t count;
  int64_t dims[MAX_DEPTH];
  int32_t rank;
} elements;

static void read_element(rheos__json *json, elements *e) {
  assert_true(e->count < MAX_ELEMENTS);
  e->texts[e->count] = NULL;
  if (rheos__json_peek(json) == '"') {
    e->texts[e->count++] = read_string(json);
    return;
  }
  bool quoted;
  expect_ok(rheos__json_read_number(json, &quoted));
  char *text = copy_of_string(json);
  e->numbers[e->count++] = strtod(text, NULL);
  rheos__free(text);
}

static void read_elements(rheos__json *json, elements *e) {
  int64_t counts[MAX_DEPTH] = {0};
  int32_t depth = 0;
  e->count = e->rank = 0;
  do {
    if (rheos__json_take(json, '[')) {
      assert_true(depth < MAX_DEPTH);
      counts[depth++] = 0;
      if (depth > e->rank) e->rank = depth;
      continue;
    }
    if (rheos__json_take(json, ']')) {
      depth--;
      e->dims[depth] = counts[depth];
    } else {
      read_element(json, e);
    }
    if (depth > 0) counts[depth - 1]++;
    rheos__json_take(json, ',');
  } while (depth > 0);
}

static rheos_tensor *tensor_of(elements *e, rheos_dtype dtype) {
  rheos_shape shape = {.rank = e->rank};
  for (int32_t i = 0; i < e->rank; i++) shape.dims[i] = e->dims[i];
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(dtype, shape, &tensor));
  assert_int_equal(rheos_tensor_num_elements(tensor), e->count);
  void *data = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < e->count; i++) {
    if (dtype == RHEOS_FLOAT) ((float *)data)[i] = (float)e->numbers[i];
    if (dtype == RHEOS_INT32) ((int32_t *)data)[i] = (int32_t)e->numbers[i];
    if (dtype == RHEOS_STRING) {
      expect_ok(rheos_tensor_set_string(tensor, i, e->texts[i], strlen(e->texts[i])));
    }
    rheos__free(e->texts[i]);
  }
  return tensor;
}

// The dtypes come behind the values, so these are told from the values: numbers are floats until
// then.
static void read_values(rheos__json *json, named_values *to) {
  elements *e = malloc(sizeof *e);
  assert_true(rheos__json_take(json, '{'));
  while (!rheos__json_take(json, '}')) {
    assert_true(to->count < MAX_NAMES);
    to->names[to->count] = read_string(json);
    assert_true(rheos__json_take(json, ':'));
    read_elements(json, e);
    const bool is_text = e->count > 0 && e->texts[0] != NULL;
    to->values[to->count++] = tensor_of(e, is_text ? RHEOS_STRING : RHEOS_FLOAT);
    rheos__json_take(json, ',');
  }
  free(e);
}

static void read_dtypes(rheos__json *json, keras_case *c) {
  assert_true(rheos__json_take(json, '{'));
  while (!rheos__json_take(json, '}')) {
    rheos__free(read_string(json));
    assert_true(rheos__json_take(json, ':'));
    char *name = read_string(json);
    c->dtype = rheos_dtype_from_name(name);
    rheos__free(name);
    rheos__json_take(json, ',');
  }
}

static keras_case read_case(rheos__json *json) {
  keras_case c = {.name = read_string(json)};
  assert_true(rheos__json_take(json, ':'));
  assert_true(rheos__json_take(json, '{'));
  while (!rheos__json_take(json, '}')) {
    char *key = read_string(json);
    assert_true(rheos__json_take(json, ':'));
    if (strcmp(key, "in_sessions") == 0) {
      c.in_sessions = rheos__json_take_word(json, "true");
      if (!c.in_sessions) assert_true(rheos__json_take_word(json, "false"));
    } else if (strcmp(key, "signature") == 0) {
      c.signature = read_string(json);
    } else if (strcmp(key, "inputs") == 0) {
      read_values(json, &c.inputs);
    } else if (strcmp(key, "outputs") == 0) {
      read_values(json, &c.outputs);
    } else {
      assert_string_equal(key, "dtypes");
      read_dtypes(json, &c);
    }
    rheos__free(key);
    rheos__json_take(json, ',');
  }
  return c;
}

static void free_values(named_values *v) {
  for (size_t i = 0; i < v->count; i++) {
    rheos__free(v->names[i]);
    rheos_tensor_unref(v->values[i]);
  }
}

static void free_case(keras_case *c) {
  rheos__free(c->name);
  rheos__free(c->signature);
  free_values(&c->inputs);
  free_values(&c->outputs);
}

// Numbers were read as floats.
static void convert_inputs(keras_case *c) {
  for (size_t i = 0; c->dtype == RHEOS_INT32 && i < c->inputs.count; i++) {
    rheos_tensor *from = c->inputs.values[i], *to;
    expect_ok(rheos_tensor_new(RHEOS_INT32, *rheos_tensor_shape(from), &to));
    const float *numbers = rheos_tensor_data(from);
    for (int64_t k = 0; k < rheos_tensor_num_elements(from); k++) {
      ((int32_t *)rheos_tensor_data(to))[k] = (int32_t)numbers[k];
    }
    rheos_tensor_unref(from);
    c->inputs.values[i] = to;
  }
}

static void expect_close(const char *model, rheos_tensor *value, rheos_tensor *wanted) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(value), rheos_tensor_shape(wanted)));
  const float *x = rheos_tensor_data(value), *y = rheos_tensor_data(wanted);
  for (int64_t i = 0; i < rheos_tensor_num_elements(value); i++) {
    if (fabsf(x[i] - y[i]) <= 1e-5f + 1e-5f * fabsf(y[i])) continue;
    fail_msg("%s: element %lld is %g, not %g", model, (long long)i, (double)x[i], (double)y[i]);
  }
}

static void run_case(keras_case *c, const rheos_saved_model_options *options) {
  static const char *const serve[] = {"serve"};
  char *folder =
      rheos__text_format("%s/tests/golden/keras_saved_models/%s", RHEOS_SOURCE_DIR, c->name);
  rheos_saved_model *model;
  expect_ok(rheos_saved_model_load(folder, serve, 1, options, &model));
  rheos_named_tensor inputs[MAX_NAMES], outputs[MAX_NAMES];
  for (size_t i = 0; i < c->inputs.count; i++) {
    inputs[i] = (rheos_named_tensor){c->inputs.names[i], c->inputs.values[i]};
  }
  for (int run = 0; run < 2; run++) {
    for (size_t i = 0; i < c->outputs.count; i++) {
      outputs[i] = (rheos_named_tensor){c->outputs.names[i], NULL};
    }
    expect_ok(rheos_saved_model_call(model, c->signature, inputs, c->inputs.count, outputs,
                                     c->outputs.count, NULL));
    for (size_t i = 0; i < c->outputs.count; i++) {
      expect_close(c->name, outputs[i].value, c->outputs.values[i]);
      rheos_tensor_unref(outputs[i].value);
    }
  }
  rheos_saved_model_free(model);
  rheos__free(folder);
}

static void run_all(const rheos_saved_model_options *options) {
  char *path =
      rheos__text_format("%s/tests/golden/keras_saved_models/cases.json", RHEOS_SOURCE_DIR);
  bytes text = read_bytes(path);
  rheos__free(path);
  rheos__json json = rheos__json_of(text.data, text.size_bytes, "cases.json");
  int num_run = 0;
  assert_true(rheos__json_take(&json, '{'));
  while (!rheos__json_take(&json, '}')) {
    keras_case c = read_case(&json);
    convert_inputs(&c);
    if (c.in_sessions) {
      run_case(&c, options);
      num_run++;
    }
    free_case(&c);
    rheos__json_take(&json, ',');
  }
  assert_true(num_run >= 8);
  rheos__json_deinit(&json);
  rheos__free(text.data);
}

static void test_keras_saved_models__give_what_tensorflow_gave(void **state) {
  (void)state;
  run_all(NULL);
}

static void test_keras_saved_models__give_it_without_inlining_too(void **state) {
  (void)state;
  const rheos_session_options session = {.num_threads = 2,
                                         .rewrites.function_optimization = RHEOS_TOGGLE_OFF};
  run_all(&(rheos_saved_model_options){.session = &session});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keras_saved_models__give_what_tensorflow_gave),
      cmocka_unit_test(test_keras_saved_models__give_it_without_inlining_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
