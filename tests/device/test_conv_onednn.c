// Convolutions of float32, which the library computes, against the reference kernels in double: the
// channels, strides, dilations, groups and layouts that real networks have.
#include <math.h>
#include <stdio.h>

#include "graph/op_def.h"
#include "ops/array_fixture.h"

typedef struct setting {
  const char *op;
  int64_t image[4], filter[4], result[4];  // with the channels last
  int64_t stride, dilation;
  bool same, channels_second;
} setting;

static rheos_shape image_shape(const setting *s, const int64_t *dims) {
  if (s->channels_second) return RHEOS_SHAPE(dims[0], dims[3], dims[1], dims[2]);
  return RHEOS_SHAPE(dims[0], dims[1], dims[2], dims[3]);
}

static rheos_output shape_constant(fixture *f, rheos_shape shape) {
  int32_t dims[4];
  for (int i = 0; i < 4; i++) dims[i] = (int32_t)shape.dims[i];
  return ints(f, RHEOS_SHAPE(4), dims);
}

static rheos_output in_double(fixture *f, rheos_output x) {
  if (rheos_output_dtype(x) != RHEOS_FLOAT) return x;
  const rheos_attr to = rheos_attr_type("DstT", RHEOS_DOUBLE);
  return rheos_operation_output(add(f, "Cast", &x, 1, &to, 1), 0);
}

static rheos_operation convolution(fixture *f, const setting *s, const char *suffix,
                                   const rheos_output *inputs, size_t num_inputs) {
  char type[64];
  snprintf(type, sizeof type, "%s%s", s->op, suffix);
  const int64_t a = s->stride, b = s->dilation;
  const int64_t strides[] = {1, s->channels_second ? 1 : a, a, s->channels_second ? a : 1};
  const int64_t dilations[] = {1, s->channels_second ? 1 : b, b, s->channels_second ? b : 1};
  const rheos_attr attrs[] = {
      rheos_attr_ints("strides", strides, 4), rheos_attr_ints("dilations", dilations, 4),
      rheos_attr_string("padding", s->same ? "SAME" : "VALID", s->same ? 4 : 5),
      rheos_attr_string("data_format", s->channels_second ? "NCHW" : "NHWC", 4)};
  return add(f, type, inputs, num_inputs, attrs, 4);
}

static void check_op(fixture *f, const setting *s, const char *suffix, const rheos_output *inputs,
                     size_t num_inputs) {
  rheos_output doubles[3];
  for (size_t i = 0; i < num_inputs; i++) doubles[i] = in_double(f, inputs[i]);
  rheos_tensor *actual = NULL, *expected = NULL;
  check(run_output(f, convolution(f, s, suffix, inputs, num_inputs), 0, NULL, &actual));
  check(run_output(f, convolution(f, s, suffix, doubles, num_inputs), 0, NULL, &expected));
  assert_true(rheos_shape_equal(rheos_tensor_shape(actual), rheos_tensor_shape(expected)));
  const float *x = rheos_tensor_data(actual);
  const double *y = rheos_tensor_data(expected);
  const int64_t count = rheos_tensor_num_elements(actual);
  double largest = 1;
  for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(y[i]));
  for (int64_t i = 0; i < count; i++) {
    if (!(fabs(x[i] - y[i]) <= 2e-5 * largest)) {
      fail_msg("%s%s, filter %dx%d of %d: element %d is %g, expected %g", s->op, suffix,
               (int)s->filter[0], (int)s->filter[1], (int)s->filter[2], (int)i, (double)x[i], y[i]);
    }
  }
  rheos_tensor_unref(actual);
  rheos_tensor_unref(expected);
}

static void check_setting(fixture *f, const setting *s) {
  const rheos_shape filter = RHEOS_SHAPE(s->filter[0], s->filter[1], s->filter[2], s->filter[3]);
  const rheos_output x = waves(f, 1, image_shape(s, s->image), 0.3f);
  const rheos_output k = waves(f, 1, filter, 1.1f);
  const rheos_output dy = waves(f, 1, image_shape(s, s->result), 2.2f);
  const rheos_output image_sizes = shape_constant(f, image_shape(s, s->image));
  const rheos_output filter_sizes = shape_constant(f, filter);
  check_op(f, s, "", (const rheos_output[]){x, k}, 2);
  check_op(f, s, "BackpropInput", (const rheos_output[]){image_sizes, k, dy}, 3);
  check_op(f, s, "BackpropFilter", (const rheos_output[]){x, filter_sizes, dy}, 3);
}

static void test_conv_onednn__agrees_with_the_reference(void **state) {
  static const setting settings[] = {
      {"Conv2D", {3, 9, 8, 32}, {3, 3, 32, 48}, {3, 9, 8, 48}, 1, 1, true, false},
      {"Conv2D", {2, 7, 9, 64}, {1, 1, 64, 32}, {2, 7, 9, 32}, 1, 1, true, false},
      {"Conv2D", {2, 8, 8, 40}, {1, 1, 40, 24}, {2, 4, 4, 24}, 2, 1, true, false},
      {"Conv2D", {2, 17, 15, 3}, {7, 7, 3, 16}, {2, 9, 8, 16}, 2, 1, true, false},
      {"Conv2D", {2, 12, 11, 16}, {3, 3, 16, 16}, {2, 8, 7, 16}, 1, 2, false, false},
      {"Conv2D", {2, 6, 6, 32}, {3, 3, 8, 64}, {2, 6, 6, 64}, 1, 1, true, false},
      {"Conv2D", {2, 9, 8, 16}, {3, 3, 16, 20}, {2, 4, 3, 20}, 2, 1, false, true},
      {"Conv2D", {19, 5, 5, 1}, {3, 2, 1, 6}, {19, 3, 4, 6}, 1, 1, false, false},
      {"DepthwiseConv2dNative", {2, 9, 7, 32}, {3, 3, 32, 1}, {2, 9, 7, 32}, 1, 1, true, false},
      {"DepthwiseConv2dNative", {2, 9, 7, 24}, {3, 3, 24, 2}, {2, 5, 4, 48}, 2, 1, true, false},
      {"DepthwiseConv2dNative", {2, 9, 7, 17}, {3, 3, 17, 1}, {2, 9, 7, 17}, 1, 1, true, true},
  };
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    check_setting(*state, &settings[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_conv_onednn__agrees_with_the_reference, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
