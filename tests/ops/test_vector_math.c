// The float functions that loops are made of, against the C library's in double.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/kit/vector_trig.h"

// How far `got` is from `exact`, in units of the last place of a float.
static double distance(float got, double exact) {
  int exponent;
  if (isnan(exact)) return isnan(got) ? 0 : INFINITY;
  if (isinf(got) || isinf((float)exact)) return got == (float)exact ? 0 : INFINITY;
  (void)frexp(exact, &exponent);
  return fabs((double)got - exact) / fmax(ldexp(1, exponent - 24), 0x1p-149);
}

typedef struct function {
  const char *name;
  float (*f)(float);
  double (*exact)(double);
  double within;  // units
} function;

static void check_at(const function *c, float x) {
  const double off = distance(c->f(x), c->exact((double)x));
  if (!(off <= c->within)) fail_msg("%s(%a) is %g units off", c->name, (double)x, off);
}

// Over floats of every exponent and both signs, NaN among them, and the ends.
static void check(function c, uint32_t step) {
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step) {
    check_at(&c, rheos__float_of_bits((uint32_t)bits));
  }
  const float ends[] = {0, -0.0f, 1, -1, 0x1p-149f, FLT_MAX, -FLT_MAX, INFINITY, -INFINITY};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) check_at(&c, ends[i]);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

// The C library's functions of double are exact enough to tell a hundredth of a float's unit.
static void test_vector_math__is_within_two_units(void **state) {
  (void)state;
  check((function){"exp", rheos__expf, exp, 1.1}, 997);
  check((function){"log", rheos__logf, log, 1}, 997);
  check((function){"tanh", rheos__tanhf, tanh, 2}, 997);
  check((function){"erf", rheos__erff, erf, 2}, 997);
  check((function){"expm1", rheos__expm1f, expm1, 2}, 9973);
  check((function){"sigmoid", rheos__sigmoidf, sigmoid, 2.5}, 9973);
  check((function){"softplus", rheos__softplusf, softplus, 3}, 9973);
  check((function){"sin", rheos__sinf, sin, 1}, 9973);
  check((function){"cos", rheos__cosf, cos, 1}, 9973);
  check((function){"tan", rheos__tanf, tan, 1}, 9973);
}

// The exponential of softmax: like exp, but for answers that are not normal numbers.
static void test_vector_math__exp_of_what_is_not_positive(void **state) {
  (void)state;
  for (float x = 0; x >= -120; x -= 0.00137f) {
    const float got = rheos__expf_normal(x);
    if (x < -87) {
      assert_true(got == 0);
    } else if (distance(got, exp((double)x)) > 2) {
      fail_msg("exp(%a) is %a", (double)x, (double)got);
    }
  }
  assert_true(rheos__expf_normal(0) == 1 && rheos__expf_normal(-INFINITY) == 0);
  assert_true(isnan(rheos__expf_normal(NAN)));
}

// The faster forms for angles that are not huge; tan of them is the same to the bit.
static void test_vector_math__near_angles_are_within_1_6_units(void **state) {
  (void)state;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 997) {
    const float x = rheos__float_of_bits((uint32_t)bits);
    if (!(fabsf(x) < RHEOS__NEAR_ANGLE)) continue;
    const double sine = distance(rheos__sinf_near(x), sin((double)x));
    const double cosine = distance(rheos__cosf_near(x), cos((double)x));
    if (sine > 1.6 || cosine > 1.6) fail_msg("at %a %g and %g units off", (double)x, sine, cosine);
    const float near = rheos__tanf_near(x), far = rheos__tanf(x);
    assert_true(memcmp(&near, &far, sizeof near) == 0);
  }
  assert_true(signbit(rheos__sinf_near(-0.0f)) && signbit(rheos__tanf_near(-0.0f)));
}

// The C library's exp() is itself within half a unit, nearly.
static void test_vector_math__exp_of_double_is_within_one_unit(void **state) {
  (void)state;
  for (double x = -750; x < 712; x += 0.0137) {
    const double exact = exp(x), got = rheos__exp(x);
    const double unit = nextafter(exact, INFINITY) - exact;
    if (isinf(exact) ? got != exact : fabs(got - exact) > unit) {
      fail_msg("exp(%a) is %a, not %a", x, got, exact);
    }
  }
  assert_true(rheos__exp(0) == 1 && rheos__exp(-0.0) == 1);
  assert_true(rheos__exp(INFINITY) == INFINITY && rheos__exp(-INFINITY) == 0);
  assert_true(isnan(rheos__exp(NAN)));
}

// In units of the last place of a double; the exact answers are long doubles.
static double distance_of_double(double got, long double exact) {
  int exponent;
  if (isnan(exact)) return isnan(got) ? 0 : INFINITY;
  if (isinf(got) || isinf((double)exact) || exact == 0) return got == (double)exact ? 0 : INFINITY;
  (void)frexpl(exact, &exponent);
  return (double)(fabsl((long double)got - exact) / fmaxl(ldexpl(1, exponent - 53), 0x1p-1074L));
}

static void test_vector_math__log_tanh_sin_and_cos_of_double(void **state) {
  (void)state;
  uint64_t bits = UINT64_C(88172645463325252);
  for (int i = 0; i < 400000; i++) {
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const double part = (double)(bits >> 11) * 0x1p-53 - 0.5;
    const double any = rheos__double_of_bits(bits), quarters = i * 1.5707963267948966;
    const double xs[] = {any,       part + 1,   part * 4,
                         part * 50, part * 2e5, part < 0 ? quarters / 5 : 1};
    for (size_t k = 0; k < sizeof xs / sizeof *xs; k++) {
      const double x = xs[k];
      assert_true(distance_of_double(rheos__log(x), logl((long double)x)) <= 1);
      assert_true(distance_of_double(rheos__tanh(x), tanhl((long double)x)) <= 2);
      if (!(fabs(x) < (double)RHEOS__NEAR_ANGLE)) continue;
      assert_true(distance_of_double(rheos__sin_near(x), sinl((long double)x)) <= 1);
      assert_true(distance_of_double(rheos__cos_near(x), cosl((long double)x)) <= 1);
    }
  }
  assert_true(rheos__log(0) == -INFINITY && rheos__log(-0.0) == -INFINITY && rheos__log(1) == 0);
  assert_true(rheos__log(INFINITY) == INFINITY && isnan(rheos__log(-1)) && isnan(rheos__log(NAN)));
  assert_true(rheos__tanh(INFINITY) == 1 && rheos__tanh(-INFINITY) == -1);
  assert_true(signbit(rheos__tanh(-0.0)) && signbit(rheos__sin_near(-0.0)));
  assert_true(isnan(rheos__tanh(NAN)) && isnan(rheos__sin_near(NAN)) &&
              isnan(rheos__cos_near(NAN)));
}

static void test_vector_math__pow_is_within_1_3_units(void **state) {
  (void)state;
  const float special[] = {0, 1, 2, 3, 0.5f, 2.5f, 16777217, 1e-40f, 1e38f, INFINITY, NAN};
  enum { NUM = sizeof special / sizeof special[0] };
  for (int i = 0; i < 4 * NUM * NUM; i++) {
    const float x = (i & 1 ? -1 : 1) * special[i / 4 % NUM];
    const float y = (i & 2 ? -1 : 1) * special[i / 4 / NUM];
    const double exact = pow((double)x, (double)y);
    const float got = rheos__powf(x, y);
    if (distance(got, exact) > 1 || !signbit(got) != !signbit(exact)) {
      if (!isnan(exact)) fail_msg("pow(%a, %a) is %a", (double)x, (double)y, (double)got);
    }
  }
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 9973) {
    const float x = rheos__float_of_bits((uint32_t)bits);
    const float y = rheos__float_of_bits((uint32_t)(bits * 2654435761u));
    // Any power, a small one, one whose answer may have any exponent, and such a one near 1
    const float near = 0.5f + (float)(bits & 0xffffff) * 0x1p-24f;
    const float t = remainderf(y, 277) - 11;
    const float wide = t / log2f(fabsf(x)), far = t / log2f(near);
    const float of[] = {x, x, x, near}, to[] = {y, remainderf(y, 40), wide, far};
    for (int k = 0; k < 4; k++) {
      const float got = rheos__powf(of[k], to[k]);
      const double off = distance(got, pow((double)of[k], (double)to[k]));
      if (!(off <= 1.3)) fail_msg("pow(%a, %a) is %g off", (double)of[k], (double)to[k], off);
      if (!rheos__pow_is_plain(of[k], to[k])) continue;
      assert_true(rheos__plain_powf(of[k], to[k]) == got);
    }
  }
}

static void check_power(double x, double y) {
  const long double exact = powl((long double)x, (long double)y);
  const double got = rheos__pow(x, y), off = distance_of_double(got, exact);
  const int is_normal = fabsl(exact) >= 0x1p-1022L;
  if (!(off <= (is_normal ? 0.7 : 0.9))) fail_msg("pow(%a, %a) is %a, %g off", x, y, got, off);
  if (rheos__pow_is_plain_double(x, y)) assert_true(rheos__plain_pow(x, y) == got);
}

// As many bits as a long double has beyond a double's tell a hundredth of a unit.
static void test_vector_math__pow_of_double_is_within_a_unit(void **state) {
  (void)state;
  uint64_t bits = UINT64_C(88172645463325252);
  for (int i = 0; i < 300000; i++) {
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t other = bits * UINT64_C(0x9e3779b97f4a7c15);
    const double part = (double)(bits >> 11) * 0x1p-53, any = rheos__double_of_bits(other >> 1);
    // A power whose answer may have any exponent, one of a number near 1, small ones, any
    const double t = (double)(other >> 32) * 0x1p-32 * 2150 - 1076, near = 0.5 + part;
    check_power(any, t / log2(any));
    check_power(near, t / log2(near));
    check_power(1 + part * 0x1p-20, t / log2(1 + part * 0x1p-20));
    check_power(part * 20, (double)(other >> 40) * 0x1p-24 * 20 - 10);
    check_power(rheos__double_of_bits(bits), rheos__double_of_bits(other));
  }
}

static void test_vector_math__pow_of_double_knows_the_special_values(void **state) {
  (void)state;
  const double special[] = {0,      1,      2,     3,        0.5, 2.5,    9007199254740993.0,
                            0x1p53, 5e-324, 1e308, INFINITY, NAN, 1e-310, 4503599627370497.0};
  enum { NUM = sizeof special / sizeof special[0] };
  for (int i = 0; i < 4 * NUM * NUM; i++) {
    const double x = (i & 1 ? -1 : 1) * special[i / 4 % NUM];
    const double y = (i & 2 ? -1 : 1) * special[i / 4 / NUM];
    const double exact = pow(x, y), got = rheos__pow(x, y);
    const int same_sign = isnan(exact) || !signbit(got) == !signbit(exact);
    if (!same_sign || distance_of_double(got, (long double)exact) > 1) {
      fail_msg("pow(%a, %a) is %a, not %a", x, y, got, exact);
    }
  }
}

static void test_vector_math__pow_is_exact_where_the_answer_is_a_double(void **state) {
  (void)state;
  for (int i = -3000; i <= 3000; i++) {
    for (int power = -12; power <= 40; power++) {
      const long double exact = powl(i / 8.0L, power);
      if ((long double)(double)exact != exact) continue;
      if (rheos__pow(i / 8.0, power) != (double)exact) fail_msg("(%d/8)^%d", i, power);
    }
    assert_true(rheos__pow((double)i * i, 0.5) == fabs((double)i));
  }
}

static void test_vector_math__pow_is_exact_where_the_answer_is_a_float(void **state) {
  (void)state;
  for (int i = -3000; i <= 3000; i++) {
    for (int power = -8; power <= 32; power++) {
      const double exact = pow(i / 8.0, power);
      if ((double)(float)exact != exact) continue;
      if (rheos__powf((float)i / 8, (float)power) != (float)exact) fail_msg("(%d/8)^%d", i, power);
    }
    assert_true(rheos__powf((float)i * (float)i, 0.5f) == fabsf((float)i));
  }
}

static void test_vector_math__knows_the_special_values(void **state) {
  (void)state;
  assert_true(rheos__expf(INFINITY) == INFINITY && rheos__expf(-INFINITY) == 0);
  assert_true(rheos__expf(0) == 1 && rheos__expf(89) == INFINITY);
  assert_true(rheos__logf(0) == -INFINITY && rheos__logf(INFINITY) == INFINITY);
  assert_true(rheos__logf(1) == 0 && isnan(rheos__logf(-1)));
  assert_true(rheos__tanhf(INFINITY) == 1 && rheos__tanhf(-INFINITY) == -1);
  assert_true(signbit(rheos__tanhf(-0.0f)) && signbit(rheos__expm1f(-0.0f)));
  assert_true(rheos__sigmoidf(INFINITY) == 1 && rheos__sigmoidf(-INFINITY) == 0);
  assert_true(rheos__softplusf(-INFINITY) == 0 && rheos__softplusf(INFINITY) == INFINITY);
  assert_true(isnan(rheos__expf(NAN)) && isnan(rheos__logf(NAN)) && isnan(rheos__tanhf(NAN)));
  assert_true(isnan(rheos__expm1f(NAN)) && isnan(rheos__sigmoidf(NAN)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vector_math__is_within_two_units),
      cmocka_unit_test(test_vector_math__exp_of_what_is_not_positive),
      cmocka_unit_test(test_vector_math__near_angles_are_within_1_6_units),
      cmocka_unit_test(test_vector_math__exp_of_double_is_within_one_unit),
      cmocka_unit_test(test_vector_math__log_tanh_sin_and_cos_of_double),
      cmocka_unit_test(test_vector_math__pow_is_within_1_3_units),
      cmocka_unit_test(test_vector_math__pow_is_exact_where_the_answer_is_a_float),
      cmocka_unit_test(test_vector_math__pow_of_double_is_within_a_unit),
      cmocka_unit_test(test_vector_math__pow_of_double_knows_the_special_values),
      cmocka_unit_test(test_vector_math__pow_is_exact_where_the_answer_is_a_double),
      cmocka_unit_test(test_vector_math__knows_the_special_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
