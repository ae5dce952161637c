// Discrete Fourier transforms, one line at a time.
#pragma GCC optimize("O3")
#include "ops/signal/fft_plan.h"

#include <math.h>
#include <string.h>

#include "ops/kit/polling.h"

enum { BLOCK = 1 << 17 };  // elements between two polls: some milliseconds

static bool stops_before(int64_t k) { return k % BLOCK == 0 && k > 0 && rheos__is_stopping(); }

// Products of finite numbers: what C says about infinities costs more than the product.
static inline double complex times(double complex a, double complex b) {
  const double x = creal(a), y = cimag(a), u = creal(b), v = cimag(b);
  return CMPLX(x * u - y * v, x * v + y * u);
}

enum { LARGEST_FACTOR = 31 };

// exp(-2 pi i k / n), exact in the eighths of the circle.
static double complex root_of_unity(int64_t k, int64_t n) {
  const int64_t eighth = 8 * k / n;
  const int64_t nearest = (eighth + 1) / 2;  // quarters of the circle
  const double angle = 2 * M_PI * ((double)(4 * k - nearest * n) / (4 * (double)n));
  const double c = cos(angle), s = sin(angle);
  switch (nearest % 4) {
    case 0: return CMPLX(c, -s);
    case 1: return CMPLX(-s, -c);
    case 2: return CMPLX(-c, s);
    default: return CMPLX(s, c);
  }
}

// False if a prime factor is too large.
static bool factor(rheos__fft_plan *plan) {
  int64_t rest = plan->n;
  plan->num_factors = 0;
  while (rest % 4 == 0) {
    plan->factors[plan->num_factors++] = 4;
    rest /= 4;
  }
  for (int32_t p = 2; p <= LARGEST_FACTOR && rest > 1; ++p) {
    while (rest % p == 0) {
      plan->factors[plan->num_factors++] = p;
      rest /= p;
    }
  }
  return rest == 1;
}

static bool make_bluestein(rheos__arena *arena, rheos__fft_plan *plan) {
  const int64_t n = plan->n;
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  plan->inner = rheos__fft_plan_new(arena, m);
  plan->chirp = rheos__arena_alloc(arena, (size_t)n * sizeof *plan->chirp);
  plan->kernel = rheos__arena_alloc_zeroed(arena, (size_t)m * sizeof *plan->kernel);
  if (plan->inner == NULL || plan->chirp == NULL || plan->kernel == NULL) return false;
  double complex *work = rheos__arena_alloc(arena, (size_t)m * sizeof *work);
  if (work == NULL) return false;
  int64_t square = 0;  // k^2 mod 2n
  for (int64_t k = 0; k < n; ++k) {
    if (stops_before(k)) return false;
    plan->chirp[k] = root_of_unity(square, 2 * n);
    const double complex turned = conj(plan->chirp[k]);
    plan->kernel[k] = turned;
    if (k > 0) plan->kernel[m - k] = turned;
    square = (square + 2 * k + 1) % (2 * n);
  }
  return rheos__fft_run(plan->inner, false, plan->kernel, work);
}

rheos__fft_plan *rheos__fft_plan_new(rheos__arena *arena, int64_t n) {
  rheos__fft_plan *plan = rheos__arena_alloc_zeroed(arena, sizeof *plan);
  if (plan == NULL) return NULL;
  plan->n = n;
  if (!factor(plan)) return make_bluestein(arena, plan) ? plan : NULL;
  plan->roots = rheos__arena_alloc(arena, (size_t)n * sizeof *plan->roots);
  if (plan->roots == NULL) return NULL;
  for (int64_t k = 0; k < n; ++k) {
    if (stops_before(k)) return NULL;
    plan->roots[k] = root_of_unity(k, n);
  }
  return plan;
}

int64_t rheos__fft_work(const rheos__fft_plan *plan) {
  return plan->inner != NULL ? 2 * plan->inner->n : plan->n;
}

// ---- A pass: transforms of length p of elements n/p apart, each then turned by its root.
// from (groups, p, inner) -> to (p, groups, inner)

typedef struct pass {
  const rheos__fft_plan *plan;
  int64_t groups, inner;
  // What is done at once of both
  int64_t first_group, end_group, first, end;
} pass;

static void pass_2(const pass *s, const double complex *from, double complex *to) {
  const int64_t half = s->groups * s->inner;
  for (int64_t g = s->first_group; g < s->end_group; ++g) {
    const double complex *x = from + g * 2 * s->inner;
    double complex *y = to + g * s->inner;
    for (int64_t i = s->first; i < s->end; ++i) {
      const double complex a = x[i], b = x[i + s->inner];
      y[i] = a + b;
      y[i + half] = times(a - b, s->plan->roots[i * s->groups]);
    }
  }
}

static void pass_4(const pass *s, const double complex *from, double complex *to) {
  const int64_t quarter = s->groups * s->inner;
  const double complex *roots = s->plan->roots;
  for (int64_t g = s->first_group; g < s->end_group; ++g) {
    const double complex *x = from + g * 4 * s->inner;
    double complex *y = to + g * s->inner;
    for (int64_t i = s->first; i < s->end; ++i) {
      const double complex a = x[i] + x[i + 2 * s->inner], b = x[i] - x[i + 2 * s->inner];
      const double complex c = x[i + s->inner] + x[i + 3 * s->inner];
      const double complex d = x[i + s->inner] - x[i + 3 * s->inner];
      const double complex e = CMPLX(cimag(d), -creal(d));  // -i d
      const int64_t turn = i * s->groups;
      y[i] = a + c;
      y[i + quarter] = times(b + e, roots[turn]);
      y[i + 2 * quarter] = times(a - c, roots[2 * turn]);
      y[i + 3 * quarter] = times(b - e, roots[3 * turn]);
    }
  }
}

static void pass_any(const pass *s, int64_t p, const double complex *from, double complex *to) {
  const int64_t n = s->plan->n, part = s->groups * s->inner, step = n / p;
  const double complex *roots = s->plan->roots;
  for (int64_t g = s->first_group; g < s->end_group; ++g) {
    const double complex *x = from + g * p * s->inner;
    double complex *y = to + g * s->inner;
    for (int64_t i = s->first; i < s->end; ++i) {
      for (int64_t j = 0; j < p; ++j) {
        double complex sum = x[i];
        for (int64_t k = 1; k < p; ++k) sum += times(x[i + k * s->inner], roots[j * k % p * step]);
        y[i + j * part] = times(sum, roots[j * i * s->groups]);
      }
    }
  }
}

static void run_block(const pass *s, int32_t p, const double complex *from, double complex *to) {
  if (p == 2) {
    pass_2(s, from, to);
  } else if (p == 4) {
    pass_4(s, from, to);
  } else {
    pass_any(s, p, from, to);
  }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Whole groups at once, or parts of long ones.
static bool run_pass(pass *s, int32_t p, const double complex *from, double complex *to) {
  const int64_t part = least(s->inner, BLOCK / p);
  const int64_t groups = least(s->groups, BLOCK / (p * part));
  for (int64_t g = 0; g < s->groups; g += groups) {
    for (int64_t i = 0; i < s->inner; i += part) {
      if (g + i > 0 && rheos__is_stopping()) return false;
      s->first_group = g;
      s->end_group = least(g + groups, s->groups);
      s->first = i;
      s->end = least(i + part, s->inner);
      run_block(s, p, from, to);
    }
  }
  return true;
}

static bool run_forward(const rheos__fft_plan *plan, double complex *data, double complex *work) {
  double complex *from = data, *to = work;
  pass s = {.plan = plan, .groups = 1, .inner = plan->n};
  for (int32_t f = 0; f < plan->num_factors; ++f) {
    const int32_t p = plan->factors[f];
    s.inner /= p;
    if (!run_pass(&s, p, from, to)) return false;
    s.groups *= p;
    double complex *other = from;
    from = to;
    to = other;
  }
  if (from != data) memcpy(data, from, (size_t)plan->n * sizeof *data);
  return true;
}

// x_k c_k convolved with conj(c), times c_j, where c is the chirp: jk = (j^2 + k^2 - (j - k)^2)
// / 2.
static bool run_bluestein(const rheos__fft_plan *plan, double complex *data, double complex *work) {
  const int64_t n = plan->n, m = plan->inner->n;
  for (int64_t k = 0; k < n; ++k) {
    if (stops_before(k)) return false;
    work[k] = times(data[k], plan->chirp[k]);
  }
  memset(work + n, 0, (size_t)(m - n) * sizeof *work);
  if (!run_forward(plan->inner, work, work + m)) return false;
  for (int64_t k = 0; k < m; ++k) {
    if (stops_before(k)) return false;
    work[k] = conj(times(work[k], plan->kernel[k]));
  }
  if (!run_forward(plan->inner, work, work + m)) return false;
  for (int64_t k = 0; k < n; ++k) {
    if (stops_before(k)) return false;
    data[k] = times(conj(work[k]), plan->chirp[k]) / (double)m;
  }
  return true;
}

bool rheos__fft_run(const rheos__fft_plan *plan, bool inverse, double complex *data,
                    double complex *work) {
  for (int64_t k = 0; inverse && k < plan->n; ++k) data[k] = conj(data[k]);
  const bool done =
      plan->inner != NULL ? run_bluestein(plan, data, work) : run_forward(plan, data, work);
  for (int64_t k = 0; inverse && k < plan->n; ++k) data[k] = conj(data[k]);
  return done;
}
