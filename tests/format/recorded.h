// What TensorFlow computed with the models and graphs of tests/golden/make_saved_models.py: files
// of lines "NAME DTYPE DIMS VALUES".
#ifndef RHEOS_TESTS_FORMAT_RECORDED_H
#define RHEOS_TESTS_FORMAT_RECORDED_H

#include <math.h>
#include <rheos/tensor.h>

#include "format/format_support.h"

static inline rheos_shape recorded_shape(const char *text) {
  rheos_shape shape = {.rank = 0};
  for (char *end; *text >= '0' && *text <= '9'; text = *end == ',' ? end + 1 : end) {
    shape.dims[shape.rank++] = strtoll(text, &end, 10);
  }
  return shape;
}

static inline rheos_tensor *recorded_values(rheos_dtype dtype, const char *dims, char **rest) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(dtype, recorded_shape(dims), &tensor));
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    const char *word = strtok_r(NULL, " ", rest);
    assert_non_null(word);
    if (dtype == RHEOS_STRING) {
      expect_ok(rheos_tensor_set_string(tensor, i, word, strlen(word)));
    } else if (dtype == RHEOS_FLOAT) {
      ((float *)rheos_tensor_data(tensor))[i] = strtof(word, NULL);
    } else {
      ((int64_t *)rheos_tensor_data(tensor))[i] = strtoll(word, NULL, 10);
    }
  }
  return tensor;
}

// The tensor `name` of tests/golden/FILE.txt, one reference.
static inline rheos_tensor *recorded_tensor(const char *file, const char *name) {
  char *path = rheos__text_format("%s/tests/golden/%s.txt", RHEOS_SOURCE_DIR, file);
  bytes b = read_bytes(path);
  rheos_tensor *found = NULL;
  char *lines;
  for (char *line = strtok_r(b.data, "\n", &lines); line != NULL && found == NULL;
       line = strtok_r(NULL, "\n", &lines)) {
    char *rest;
    const char *word = strtok_r(line, " ", &rest);
    const char *dtype = strtok_r(NULL, " ", &rest);
    const char *dims = strtok_r(NULL, " ", &rest);
    if (strcmp(word, name) == 0) {
      found = recorded_values(rheos_dtype_from_name(dtype), dims, &rest);
    }
  }
  if (found == NULL) fail_msg("there is no '%s' in %s", name, path);
  rheos__free(b.data);
  rheos__free(path);
  return found;
}

// Two tensors have one dtype, shape and values; floats to within `tolerance`.
static inline void expect_close(const rheos_tensor *got, const rheos_tensor *expected,
                                float tolerance) {
  assert_int_equal(rheos_tensor_dtype(got), rheos_tensor_dtype(expected));
  assert_true(rheos_shape_equal(rheos_tensor_shape(got), rheos_tensor_shape(expected)));
  if (rheos_tensor_dtype(got) != RHEOS_FLOAT) {
    assert_memory_equal(rheos_tensor_data(got), rheos_tensor_data(expected),
                        rheos_tensor_size_bytes(got));
    return;
  }
  const float *a = rheos_tensor_data(got), *b = rheos_tensor_data(expected);
  for (int64_t i = 0; i < rheos_tensor_num_elements(got); i++) {
    if (!(fabsf(a[i] - b[i]) <= tolerance)) fail_msg("%lld: %g, not %g", (long long)i, a[i], b[i]);
  }
}

#endif  // RHEOS_TESTS_FORMAT_RECORDED_H
