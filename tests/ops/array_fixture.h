// One graph, scope and session, and short forms to run one op: for tests of single ops.
#ifndef RHEOS_TESTS_OPS_ARRAY_FIXTURE_H
#define RHEOS_TESTS_OPS_ARRAY_FIXTURE_H

#include <math.h>
#include <rheos/rheos.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph_check.h"

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_session *session;
} fixture;

static inline void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

// Frees the status; fails unless it has the code and `part` in its message.
static inline void expect_error(rheos_status *status, rheos_code code, const char *part) {
  assert_non_null(status);
  if (strstr(rheos_status_message(status), part) == NULL) {
    fail_msg("'%s' is not in '%s'", part, rheos_status_message(status));
  }
  assert_int_equal(rheos_status_code(status), code);
  rheos_status_free(status);
}

static inline int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->graph = rheos_graph_new();
  f->scope = rheos_scope_new(f->graph);
  check(rheos_session_new(f->graph, NULL, &f->session));
  *state = f;
  return 0;
}

static inline int tear_down(void **state) {
  fixture *f = *state;
  rheos_session_free(f->session);
  rheos_scope_free(f->scope);
  rheos__graph_check(f->graph);
  rheos_graph_unref(f->graph);
  free(f);
  return 0;
}

static inline rheos_output constant(fixture *f, rheos_dtype dtype, rheos_shape shape,
                                    const void *values) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(dtype, shape, values, &tensor));
  rheos_output output = rheos_constant(f->scope, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static inline rheos_output ints(fixture *f, rheos_shape shape, const int32_t *values) {
  return constant(f, RHEOS_INT32, shape, values);
}

static inline rheos_output floats(fixture *f, rheos_shape shape, const float *values) {
  return constant(f, RHEOS_FLOAT, shape, values);
}

// Numbers between -size and size, no two neighbours alike: for inputs whose values do not matter.
static inline rheos_output waves(fixture *f, float size, rheos_shape shape, float phase) {
  const int64_t count = rheos_shape_num_elements(&shape);
  float *values = malloc((size_t)count * sizeof *values + 1);
  assert_non_null(values);
  for (int64_t i = 0; i < count; i++) values[i] = size * sinf(phase + 1.7f * (float)(i % 4099));
  const rheos_output output = floats(f, shape, values);
  free(values);
  return output;
}

static inline rheos_output int_scalar(fixture *f, int32_t value) {
  return ints(f, RHEOS_SCALAR, &value);
}

static inline rheos_output float_scalar(fixture *f, float value) {
  return floats(f, RHEOS_SCALAR, &value);
}

static inline rheos_output strings(fixture *f, rheos_shape shape, const char *const *values) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_STRING, shape, &tensor));
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); ++i) {
    check(rheos_tensor_set_string(tensor, i, values[i], strlen(values[i])));
  }
  rheos_output output = rheos_constant(f->scope, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

// A value that the plan knows nothing of: fed through a placeholder of no shape.
typedef struct fed {
  rheos_feed feeds[4];
  size_t count;
} fed;

static inline rheos_output feed(fixture *f, fed *into, rheos_dtype dtype, rheos_shape shape,
                                const void *values) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(dtype, shape, values, &tensor));
  rheos_attr attr = rheos_attr_type("dtype", dtype);
  rheos_operation op =
      rheos_op(f->scope, &(rheos_op_args){.type = "Placeholder", .attrs = &attr, .num_attrs = 1});
  rheos_output output = rheos_operation_output(op, 0);
  into->feeds[into->count++] = (rheos_feed){output, tensor};
  return output;
}

static inline void free_feeds(fed *values) {
  for (size_t i = 0; i < values->count; ++i) rheos_tensor_unref(values->feeds[i].value);
  values->count = 0;
}

// Adds a node; the error, if any, stays in the scope.
static inline rheos_operation add(fixture *f, const char *type, const rheos_output *inputs,
                                  size_t num_inputs, const rheos_attr *attrs, size_t num_attrs) {
  return rheos_op(f->scope, &(rheos_op_args){.type = type,
                                             .inputs = inputs,
                                             .num_inputs = num_inputs,
                                             .attrs = attrs,
                                             .num_attrs = num_attrs});
}

// Runs output `index` of the node; owned by the caller.
static inline rheos_status *run_output(fixture *f, rheos_operation op, int32_t index,
                                       const fed *values, rheos_tensor **out) {
  *out = NULL;
  rheos_status *status = rheos_scope_finish(f->scope);
  if (status != NULL) return status;
  rheos_fetch fetch = {rheos_operation_output(op, index), NULL};
  status = rheos_session_run(f->session, values != NULL ? values->feeds : NULL,
                             values != NULL ? values->count : 0, &fetch, 1, NULL, 0, NULL);
  *out = fetch.value;
  return status;
}

static inline rheos_status *run_target(fixture *f, rheos_operation op) {
  rheos_status *status = rheos_scope_finish(f->scope);
  if (status != NULL) return status;
  return rheos_session_run(f->session, NULL, 0, NULL, 0, &op, 1, NULL);
}

static inline void assert_shape(const rheos_tensor *tensor, rheos_shape shape) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(tensor), &shape));
}

// Frees the tensor; fails unless it has the shape and the elements.
static inline void expect_ints(rheos_tensor *tensor, rheos_shape shape, const int32_t *values) {
  assert_int_equal(rheos_tensor_dtype(tensor), RHEOS_INT32);
  assert_shape(tensor, shape);
  const int32_t *data = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); ++i) {
    assert_int_equal(data[i], values[i]);
  }
  rheos_tensor_unref(tensor);
}

static inline void expect_floats(rheos_tensor *tensor, rheos_shape shape, const float *values) {
  assert_int_equal(rheos_tensor_dtype(tensor), RHEOS_FLOAT);
  assert_shape(tensor, shape);
  const float *data = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); ++i) {
    assert_float_equal(data[i], values[i], 1e-6f);
  }
  rheos_tensor_unref(tensor);
}

// Floats within 0.2 of 0 that differ from element to element.
static inline rheos_tensor *wave(rheos_shape shape, float phase) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    values[i] = 0.2f * sinf(phase + 1.3f * (float)(i % 4099));
  }
  return tensor;
}

static inline void expect_strings(rheos_tensor *tensor, rheos_shape shape,
                                  const char *const *values) {
  assert_int_equal(rheos_tensor_dtype(tensor), RHEOS_STRING);
  assert_shape(tensor, shape);
  const rheos_string *data = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); ++i) {
    assert_int_equal(data[i].size_bytes, strlen(values[i]));
    if (values[i][0] != '\0') assert_memory_equal(data[i].data, values[i], data[i].size_bytes);
  }
  rheos_tensor_unref(tensor);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif  // RHEOS_TESTS_OPS_ARRAY_FIXTURE_H
