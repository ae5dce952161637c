// Convolutions by our own loops and their gradients against the reference kernels in double:
// windows that hang over the sides, sizes around those of segments, panels, blocks and units; and
// the same bits with any number of threads, whether the filter is laid down once or by blocks.
#include <math.h>
#include <stdio.h>

#include "ops/array_fixture.h"
#include "runtime/session/session_plan.h"

typedef struct setting {
  int64_t image[4], filter[4], strides[2];
  int64_t before[2], after[2];  // of padding: rows, columns
} setting;

static rheos_shape dims_of(const int64_t *dims) {
  return RHEOS_SHAPE(dims[0], dims[1], dims[2], dims[3]);
}

static rheos_output in_double(fixture *f, rheos_output x) {
  const rheos_attr to = rheos_attr_type("DstT", RHEOS_DOUBLE);
  return rheos_operation_output(add(f, "Cast", &x, 1, &to, 1), 0);
}

static rheos_output operation(fixture *f, const setting *s, const char *op,
                              const rheos_output *inputs, size_t num_inputs) {
  const int64_t strides[] = {1, s->strides[0], s->strides[1], 1};
  const int64_t paddings[] = {0, 0, s->before[0], s->after[0], s->before[1], s->after[1], 0, 0};
  const rheos_attr attrs[] = {rheos_attr_ints("strides", strides, 4),
                              rheos_attr_string("padding", "EXPLICIT", 8),
                              rheos_attr_ints("explicit_paddings", paddings, 8)};
  return rheos_operation_output(add(f, op, inputs, num_inputs, attrs, 3), 0);
}

static rheos_output convolution(fixture *f, const setting *s, rheos_output x, rheos_output k) {
  return operation(f, s, "Conv2D", (const rheos_output[]){x, k}, 2);
}

static rheos_output sizes_of(fixture *f, const int64_t *dims) {
  int32_t sizes[4];
  for (int i = 0; i < 4; i++) sizes[i] = (int32_t)dims[i];
  return ints(f, RHEOS_SHAPE(4), sizes);
}

static rheos_output by_image(fixture *f, const setting *s, rheos_output k, rheos_output dy) {
  return operation(f, s, "Conv2DBackpropInput",
                   (const rheos_output[]){sizes_of(f, s->image), k, dy}, 3);
}

static rheos_output by_filter(fixture *f, const setting *s, rheos_output x, rheos_output dy) {
  return operation(f, s, "Conv2DBackpropFilter",
                   (const rheos_output[]){x, sizes_of(f, s->filter), dy}, 3);
}

static rheos_shape result_of(const setting *s) {
  int64_t dims[2];
  for (int d = 0; d < 2; d++) {
    const int64_t room = s->image[1 + d] + s->before[d] + s->after[d] - s->filter[d];
    dims[d] = room / s->strides[d] + 1;
  }
  return RHEOS_SHAPE(s->image[0], dims[0], dims[1], s->filter[3]);
}

static rheos_tensor *run_with(fixture *f, rheos_output output, int threads, rheos_toggle keeps) {
  rheos_session *session = NULL;
  const rheos_session_options options = {
      .num_threads = threads,
      .rewrites = {.constant_folding = RHEOS_TOGGLE_OFF, .layout_optimizer = keeps}};
  check(rheos_session_new(f->graph, &options, &session));
  rheos_fetch fetch = {output, NULL};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  rheos_session_free(session);
  return fetch.value;
}

static void compare(const setting *s, const rheos_tensor *actual, const rheos_tensor *expected) {
  const float *x = rheos_tensor_data(actual);
  const double *y = rheos_tensor_data(expected);
  const int64_t count = rheos_tensor_num_elements(actual);
  assert_int_equal(count, rheos_tensor_num_elements(expected));
  double largest = 1;
  for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(y[i]));
  for (int64_t i = 0; i < count; i++) {
    if (!(fabs((double)x[i] - y[i]) <= 1e-5 * largest)) {
      fail_msg("image %dx%d of %d, filter %dx%d to %d: element %d is %g, expected %g",
               (int)s->image[1], (int)s->image[2], (int)s->image[3], (int)s->filter[0],
               (int)s->filter[1], (int)s->filter[3], (int)i, (double)x[i], y[i]);
    }
  }
}

static void check_output(fixture *f, const setting *s, rheos_output single, rheos_output twice) {
  rheos_tensor *expected = run_with(f, twice, 2, RHEOS_TOGGLE_DEFAULT);
  rheos_tensor *first = run_with(f, single, 1, RHEOS_TOGGLE_OFF);
  compare(s, first, expected);
  static const int threads[] = {1, 2, 3, 8};
  for (int i = 0; i < 8; i++) {
    rheos_tensor *again =
        run_with(f, single, threads[i / 2], i % 2 == 0 ? RHEOS_TOGGLE_DEFAULT : RHEOS_TOGGLE_OFF);
    assert_memory_equal(rheos_tensor_data(first), rheos_tensor_data(again),
                        rheos_tensor_size_bytes(first));
    rheos_tensor_unref(again);
  }
  rheos_tensor_unref(first);
  rheos_tensor_unref(expected);
}

static void check_setting(fixture *f, const setting *s) {
  const rheos_output x = waves(f, 1, dims_of(s->image), 0.3f),
                     k = waves(f, 1, dims_of(s->filter), 1.1f),
                     dy = waves(f, 1, result_of(s), 2.2f);
  const rheos_output wide_x = in_double(f, x), wide_k = in_double(f, k), wide_dy = in_double(f, dy);
  check_output(f, s, convolution(f, s, x, k), convolution(f, s, wide_x, wide_k));
  check_output(f, s, by_image(f, s, k, dy), by_image(f, s, wide_k, wide_dy));
  check_output(f, s, by_filter(f, s, x, dy), by_filter(f, s, wide_x, wide_dy));
}

static void test_conv_float__agrees_with_the_reference(void **state) {
  static const setting settings[] = {
      // Segments: some rows of the window, all of it, a part of a row
      {{2, 9, 8, 20}, {3, 3, 20, 48}, {1, 1}, {1, 1}, {1, 1}},
      {{1, 7, 7, 100}, {3, 3, 100, 70}, {1, 1}, {1, 1}, {1, 1}},
      {{1, 6, 5, 37}, {5, 4, 37, 33}, {1, 1}, {2, 1}, {2, 2}},
      {{1, 17, 15, 3}, {7, 7, 3, 16}, {2, 2}, {2, 3}, {3, 2}},
      {{1, 3, 4, 300}, {1, 1, 300, 65}, {1, 1}, {0, 0}, {0, 0}},
      {{1, 3, 4, 260}, {2, 3, 260, 5}, {1, 1}, {0, 1}, {1, 1}},
      // Windows that are larger than the image, or lie outside as a whole
      {{1, 2, 2, 16}, {5, 5, 16, 17}, {1, 1}, {2, 2}, {2, 2}},
      {{1, 1, 1, 90}, {3, 3, 90, 16}, {1, 1}, {1, 1}, {1, 1}},
      {{1, 2, 3, 8}, {2, 2, 8, 16}, {1, 1}, {4, 5}, {3, 6}},
      {{1, 3, 3, 100}, {1, 3, 100, 16}, {2, 2}, {3, 4}, {2, 1}},
      // Strides, with and without padding
      {{2, 9, 11, 24}, {3, 2, 24, 40}, {2, 3}, {0, 0}, {0, 0}},
      {{1, 14, 14, 32}, {1, 1, 32, 64}, {2, 2}, {0, 0}, {0, 0}},
      {{1, 11, 13, 8}, {3, 5, 8, 64}, {3, 2}, {1, 2}, {1, 2}},
      // Units: many images, rows of one, columns of few pixels
      {{30, 5, 5, 4}, {3, 3, 4, 20}, {1, 1}, {1, 1}, {1, 1}},
      {{1, 45, 40, 3}, {3, 3, 3, 8}, {1, 1}, {1, 1}, {1, 1}},
      {{2, 23, 37, 4}, {2, 2, 4, 130}, {1, 1}, {0, 0}, {1, 1}},
      {{1, 4, 4, 40}, {3, 3, 40, 700}, {1, 1}, {1, 1}, {1, 1}},
      {{5, 8, 300, 2}, {1, 1, 2, 10}, {1, 1}, {0, 0}, {0, 0}},
      {{3, 9, 11, 1100}, {1, 1, 1100, 20}, {1, 1}, {0, 0}, {0, 0}},
      {{2, 13, 11, 70}, {1, 1, 70, 300}, {1, 1}, {0, 0}, {0, 0}},
      // Units of gradients, whose windows are transposed
      {{30, 5, 5, 66}, {3, 2, 66, 4}, {1, 1}, {2, 0}, {0, 1}},
      {{1, 45, 40, 64}, {3, 3, 64, 3}, {1, 1}, {1, 1}, {1, 1}},
      {{2, 4, 4, 700}, {3, 3, 700, 30}, {1, 1}, {1, 1}, {1, 1}},
      {{3, 20, 20, 130}, {1, 2, 130, 200}, {1, 1}, {0, 0}, {0, 1}},
      {{2, 9, 8, 70}, {2, 3, 70, 90}, {1, 1}, {0, 0}, {0, 0}},
  };
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    check_setting(*state, &settings[i]);
  }
}

static void test_conv_float__lays_a_variable_down_once(void **state) {
  fixture *f = *state;
  static const setting s = {{2, 8, 8, 20}, {3, 3, 20, 70}, {1, 1}, {1, 1}, {1, 1}};
  const rheos_variable k = rheos_variable_new(f->scope, waves(f, 1, dims_of(s.filter), 1.1f), NULL);
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output y = convolution(f, &s, x, k.value);
  const rheos_operation init = rheos_global_variables_initializer(f->scope);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = NULL;
  const rheos_session_options options = {.num_threads = 2};
  check(rheos_session_new(f->graph, &options, &session));
  check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  const rheos_shape shape = RHEOS_SHAPE(2, 8, 8, 20);
  rheos__plan *plan = NULL;
  const rheos__segment *segment = NULL;
  check(rheos__session_plan(session, &(rheos__step_ends){&x, 1, &y, 1, NULL, 0}, &shape, &plan,
                            &segment));
  assert_int_equal(segment->num_packed_operands, 1);
  rheos_tensor *image = wave(shape, 0.3f);
  for (int i = 0; i < 3; i++) {
    rheos_feed feed = {x, image};
    rheos_fetch fetch = {y, NULL};
    check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
    rheos_tensor_unref(fetch.value);
    assert_int_equal(rheos__packings_made(plan->context.packings), i > 0 ? 1 : 0);
  }
  assert_int_equal(rheos__packings_bytes(plan->context.packings),
                   3 * 3 * 20 * 70 * (int)sizeof(float));
  rheos__plan_free(plan);
  rheos_tensor_unref(image);
  rheos_session_free(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_conv_float__agrees_with_the_reference, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_conv_float__lays_a_variable_down_once, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
