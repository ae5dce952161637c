// Factors of larger matrices put together again, values without vectors, and whose threads work.
#include "ops/kernel_fixture.h"

#ifdef RHEOS_WITH_LAPACK

#include <cblas.h>
#include <math.h>

static const float *data_of(const kernel *k, int output) {
  return rheos_tensor_data(k->outputs[output]);
}

static void assert_near(float a, float b) {
  assert_true(fabsf(a - b) <= 2e-4f * fmaxf(1, fabsf(b)));
}

// The sum over k of a[i,k] scale[k] b[j,k], `columns` to a row; scale may be NULL.
static float combined(const float *a, const float *scale, const float *b, int64_t i, int64_t j,
                      int64_t columns) {
  double sum = 0;
  for (int64_t k = 0; k < columns; k++) {
    sum += (double)a[i * columns + k] * (scale ? scale[k] : 1) * b[j * columns + k];
  }
  return (float)sum;
}

static kernel svd_of(rheos_tensor *x, bool vectors) {
  return (kernel){
      .op = "Svd",
      .inputs = {x},
      .attrs = {rheos_attr_bool("compute_uv", vectors), rheos_attr_bool("full_matrices", false)},
      .output_dtypes = {RHEOS_FLOAT, RHEOS_FLOAT, RHEOS_FLOAT}};
}

static void test_svd__factors_give_the_matrix(void **state) {
  (void)state;
  for (int turned = 0; turned < 2; turned++) {
    const int64_t m = turned ? 40 : 70, n = turned ? 70 : 40, inner = 40;
    kernel k = svd_of(noise_of(RHEOS_SHAPE(m, n), 3), true);
    kernel_run_ok(&k);
    const float *x = rheos_tensor_data(k.inputs[0]);
    const float *s = data_of(&k, 0), *u = data_of(&k, 1), *v = data_of(&k, 2);
    for (int64_t i = 0; i < m; i++) {
      for (int64_t j = 0; j < n; j++) assert_near(combined(u, s, v, i, j, inner), x[i * n + j]);
    }
    for (int64_t i = 1; i < inner; i++) assert_true(s[i] <= s[i - 1]);
    kernel values = svd_of(k.inputs[0], false);
    kernel_run_ok(&values);
    for (int64_t i = 0; i < inner; i++) assert_near(data_of(&values, 0)[i], s[i]);
    for (int i = 1; i < 3; i++) {
      assert_true(rheos_shape_equal(rheos_tensor_shape(values.outputs[i]), &RHEOS_SHAPE(0)));
    }
    kernel_clear(&values);
    kernel_clear(&k);
    kernel_free_inputs(&k);
  }
}

static kernel eigh_of(rheos_tensor *x, bool vectors) {
  return (kernel){.op = "SelfAdjointEigV2",
                  .inputs = {x},
                  .attrs = {rheos_attr_bool("compute_v", vectors)},
                  .output_dtypes = {RHEOS_FLOAT, RHEOS_FLOAT}};
}

static void test_eigh__factors_give_the_matrix(void **state) {
  (void)state;
  enum { N = 50 };
  kernel k = eigh_of(noise_of(RHEOS_SHAPE(N, N), 7), true);
  kernel_run_ok(&k);
  const float *x = rheos_tensor_data(k.inputs[0]);
  const float *e = data_of(&k, 0), *v = data_of(&k, 1);
  for (int64_t i = 0; i < N; i++) {
    for (int64_t j = 0; j <= i; j++) assert_near(combined(v, e, v, i, j, N), x[i * N + j]);
  }
  kernel values = eigh_of(k.inputs[0], false);
  kernel_run_ok(&values);
  for (int64_t i = 0; i < N; i++) assert_near(data_of(&values, 0)[i], e[i]);
  assert_true(rheos_shape_equal(rheos_tensor_shape(values.outputs[1]), &RHEOS_SHAPE(0)));
  kernel_clear(&values);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

static void test_linalg__leaves_the_number_of_threads_alone(void **state) {
  (void)state;
  openblas_set_num_threads(2);
  kernel k = svd_of(noise_of(RHEOS_SHAPE(3, 3), 1), true);
  kernel_run_ok(&k);
  assert_int_equal(openblas_get_num_threads(), 2);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

static void test_linalg__matrices_past_the_limit_are_refused(void **state) {
  (void)state;
  rheos_tensor *x = NULL;
  assert_null(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(20000, 1), &x));
  kernel k = svd_of(x, true);
  kernel_run_fails(&k, RHEOS_UNIMPLEMENTED, "16384");
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

#else

static void test_linalg__a_build_without_says_so(void **state) {
  (void)state;
  kernel k = {.op = "MatrixInverse",
              .inputs = {noise_of(RHEOS_SHAPE(2, 2), 1)},
              .output_dtypes = {RHEOS_FLOAT}};
  kernel_run_fails(&k, RHEOS_UNIMPLEMENTED, "MatrixInverse is not available: Rheos was built");
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

#endif  // RHEOS_WITH_LAPACK

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef RHEOS_WITH_LAPACK
      cmocka_unit_test(test_svd__factors_give_the_matrix),
      cmocka_unit_test(test_eigh__factors_give_the_matrix),
      cmocka_unit_test(test_linalg__leaves_the_number_of_threads_alone),
      cmocka_unit_test(test_linalg__matrices_past_the_limit_are_refused),
#else
      cmocka_unit_test(test_linalg__a_build_without_says_so),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
