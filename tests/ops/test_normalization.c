// Gradients, and gradients of gradients, of the fused normalizations, against those of the same
// formula made of simple ops.
#include <math.h>
#include <stdio.h>

#include "ops/array_fixture.h"

static rheos_output op2(fixture *f, const char *type, rheos_output a, rheos_output b) {
  return rheos_operation_output(add(f, type, (const rheos_output[]){a, b}, 2, NULL, 0), 0);
}
static rheos_output op1(fixture *f, const char *type, rheos_output a) {
  return rheos_operation_output(add(f, type, &a, 1, NULL, 0), 0);
}

static rheos_output noise(fixture *f, rheos_shape shape, float phase) {
  float values[64];
  for (int i = 0; i < rheos_shape_num_elements(&shape); i++) {
    values[i] = sinf(phase + 1.7f * (float)i) + 0.02f * (float)i;
  }
  return floats(f, shape, values);
}

// d sum(y * weights) / d x for each x; the results replace the xs.
static void gradients_of(fixture *f, rheos_output y, const rheos_output *xs, int count,
                         rheos_output weights, rheos_output *out) {
  rheos_gradient gradients[4];
  rheos_gradients_options options = {.grad_ys = &weights};
  rheos_gradients(f->scope, &y, 1, xs, (size_t)count, &options, gradients);
  for (int i = 0; i < count; i++) out[i] = gradients[i].values;
}

static void assert_close(fixture *f, rheos_output expected, rheos_output actual, const char *what) {
  rheos_tensor *tensors[2];
  // The formula may not depend on what the fused op has zeros for.
  const rheos_output outputs[] = {expected.graph != NULL ? expected : op1(f, "ZerosLike", actual),
                                  actual};
  check(rheos_scope_finish(f->scope));
  for (int k = 0; k < 2; k++) {
    assert_non_null(outputs[k].graph);
    rheos_fetch fetch = {outputs[k], NULL};
    check(rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL));
    tensors[k] = fetch.value;
  }
  assert_true(rheos_shape_equal(rheos_tensor_shape(tensors[0]), rheos_tensor_shape(tensors[1])));
  const float *x = rheos_tensor_data(tensors[0]), *y = rheos_tensor_data(tensors[1]);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensors[0]); i++) {
    if (!(fabsf(x[i] - y[i]) <= 2e-4f * (1 + fabsf(x[i])))) {
      fail_msg("%s, element %d: %g, expected %g", what, (int)i, (double)y[i], (double)x[i]);
    }
  }
  rheos_tensor_unref(tensors[0]);
  rheos_tensor_unref(tensors[1]);
}

// ---- Batch normalization

typedef struct setting {
  const char *version, *format;
  bool training;
} setting;

static rheos_output fused(fixture *f, const setting *s, const rheos_output *xs) {
  char type[32];
  snprintf(type, sizeof type, "FusedBatchNorm%s", s->version);
  const float mean[] = {0.25f, -0.5f}, variance[] = {2, 0.5f};
  const rheos_shape given = RHEOS_SHAPE(s->training ? 0 : 2);
  const rheos_output inputs[] = {xs[0], xs[1], xs[2], floats(f, given, mean),
                                 floats(f, given, variance)};
  const rheos_attr attrs[] = {rheos_attr_bool("is_training", s->training),
                              rheos_attr_float("epsilon", 0.01f),
                              rheos_attr_string("data_format", s->format, 4)};
  return rheos_operation_output(add(f, type, inputs, 5, attrs, 3), 0);
}

static rheos_output mean_of(fixture *f, rheos_output x, const int32_t *axes) {
  const rheos_output inputs[] = {x, ints(f, RHEOS_SHAPE(3), axes)};
  const rheos_attr keep = rheos_attr_bool("keep_dims", true);
  return rheos_operation_output(add(f, "Mean", inputs, 2, &keep, 1), 0);
}

static rheos_output composed(fixture *f, const setting *s, const rheos_output *xs) {
  const bool second = s->format[1] == 'C';
  const int32_t axes[2][3] = {{0, 1, 2}, {0, 2, 3}};
  const int32_t spread[2][4] = {{1, 1, 1, 2}, {1, 2, 1, 1}};
  const rheos_output shape = ints(f, RHEOS_SHAPE(4), spread[second]);
  const float given_mean[] = {0.25f, -0.5f}, given_variance[] = {2, 0.5f};
  const rheos_output mean = s->training
                                ? mean_of(f, xs[0], axes[second])
                                : op2(f, "Reshape", floats(f, RHEOS_SHAPE(2), given_mean), shape);
  const rheos_output centered = op2(f, "Sub", xs[0], mean);
  const rheos_output variance =
      s->training ? mean_of(f, op1(f, "Square", centered), axes[second])
                  : op2(f, "Reshape", floats(f, RHEOS_SHAPE(2), given_variance), shape);
  const rheos_output rstd = op1(f, "Rsqrt", op2(f, "AddV2", variance, float_scalar(f, 0.01f)));
  const rheos_output scaled =
      op2(f, "Mul", op2(f, "Mul", centered, rstd), op2(f, "Reshape", xs[1], shape));
  return op2(f, "AddV2", scaled, op2(f, "Reshape", xs[2], shape));
}

static void check_setting(fixture *f, const setting *s) {
  const rheos_shape image = RHEOS_SHAPE(2, 2, 3, 2), vector = RHEOS_SHAPE(2);
  const rheos_output xs[] = {noise(f, image, 0.3f), noise(f, vector, 0.9f), noise(f, vector, 2.0f)};
  const rheos_output dy = noise(f, image, 4.0f), w = noise(f, image, 5.0f);
  const rheos_output v = noise(f, vector, 6.0f);
  rheos_output first[2][3], of_x[2][3], of_scale[2][3];
  // dy is a variable of the second derivative as well
  const rheos_output seconds[] = {dy, xs[0], xs[1]};
  for (int k = 0; k < 2; k++) {
    const rheos_output y = k == 0 ? composed(f, s, xs) : fused(f, s, xs);
    gradients_of(f, y, xs, 3, dy, first[k]);
    gradients_of(f, first[k][0], seconds, 3, w, of_x[k]);
    gradients_of(f, first[k][1], seconds, 2, v, of_scale[k]);
  }
  for (int i = 0; i < 3; i++) assert_close(f, first[0][i], first[1][i], "gradient");
  for (int i = 0; i < 3; i++) assert_close(f, of_x[0][i], of_x[1][i], "gradient of x's");
  for (int i = 0; i < 2; i++) assert_close(f, of_scale[0][i], of_scale[1][i], "of scale's");
}

static void test_batch_norm__gradients_are_those_of_the_formula(void **state) {
  const char *const versions[] = {"", "V2", "V3"}, *const formats[] = {"NHWC", "NCHW"};
  for (int i = 0; i < 12; i++) {
    const setting s = {versions[i / 4], formats[i / 2 % 2], i % 2 == 0};
    check_setting(*state, &s);
  }
}

// ---- LRN

// bias + alpha * the squares of the three neighbours, by a product with a band matrix.
static void test_lrn__gradient_is_that_of_the_formula(void **state) {
  fixture *f = *state;
  const rheos_shape image = RHEOS_SHAPE(1, 2, 2, 5);
  float band[25];
  for (int i = 0; i < 25; i++) band[i] = abs(i / 5 - i % 5) <= 1 ? 0.3f : 0;
  const rheos_output x = noise(f, image, 0.4f), dy = noise(f, image, 2.2f);
  const int32_t dims[2][4] = {{4, 5}, {1, 2, 2, 5}};
  const rheos_output flat = op2(f, "Reshape", x, ints(f, RHEOS_SHAPE(2), dims[0]));
  const rheos_output sums =
      op2(f, "MatMul", op1(f, "Square", flat), floats(f, RHEOS_SHAPE(5, 5), band));
  const rheos_output norm = op2(f, "AddV2", sums, float_scalar(f, 1.5f));
  const rheos_output power = op2(f, "Pow", norm, float_scalar(f, -0.75f));
  const rheos_output expected =
      op2(f, "Reshape", op2(f, "Mul", flat, power), ints(f, RHEOS_SHAPE(4), dims[1]));
  const rheos_attr attrs[] = {rheos_attr_int("depth_radius", 1), rheos_attr_float("bias", 1.5f),
                              rheos_attr_float("alpha", 0.3f), rheos_attr_float("beta", 0.75f)};
  const rheos_output actual = rheos_operation_output(add(f, "LRN", &x, 1, attrs, 4), 0);
  rheos_output gradients[2];
  gradients_of(f, expected, &x, 1, dy, &gradients[0]);
  gradients_of(f, actual, &x, 1, dy, &gradients[1]);
  assert_close(f, expected, actual, "LRN");
  assert_close(f, gradients[0], gradients[1], "gradient");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_batch_norm__gradients_are_those_of_the_formula, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_lrn__gradient_is_that_of_the_formula, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
