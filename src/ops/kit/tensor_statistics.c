// Floats are added up in blocks, each in lanes that the compiler keeps in vectors, as long as all
// of them are finite; a block that is not, and every other dtype, number by number.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include "ops/kit/tensor_statistics.h"

#include <math.h>

#include "ops/kit/elements.h"
#include "ops/kit/elementwise.h"

enum { LANES = 16, BLOCK = 4096 };

typedef struct sums {
  rheos_statistics s;  // without mean and norm
  double sum, squares;
  int64_t num_finite;
} sums;

bool rheos__has_numbers(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_STRING:
    case RHEOS_RESOURCE:
    case RHEOS_VARIANT:
    case RHEOS_INVALID_DTYPE: return false;
    default: return true;
  }
}

static void add_finite(sums *a, double value) {
  if (a->num_finite == 0 || value < a->s.least) a->s.least = value;
  if (a->num_finite == 0 || value > a->s.most) a->s.most = value;
  a->sum += value;
  a->squares += value * value;
  a->num_finite++;
}

static void add(sums *a, double value) {
  a->s.count++;
  a->s.num_nan += isnan(value);
  a->s.num_negative += value < 0;
  a->s.num_zero += value == 0;
  a->s.num_positive += value > 0;
  a->s.num_negative_infinite += value == -INFINITY;
  a->s.num_positive_infinite += value == INFINITY;
  if (isfinite(value)) add_finite(a, value);
}

typedef struct lanes {
  float least[LANES], most[LANES], sum[LANES], squares[LANES];
  int32_t negative[LANES], zero[LANES];
} lanes;

// x (BLOCK). What is not finite makes a sum that is not.
RHEOS__WIDEST static void add_block(const float *x, lanes *out_lanes) {
  lanes l = *out_lanes;
  for (int i = 0; i < BLOCK; i += LANES) {
    for (int k = 0; k < LANES; k++) {
      const float value = x[i + k];
      l.least[k] = value < l.least[k] ? value : l.least[k];
      l.most[k] = value > l.most[k] ? value : l.most[k];
      l.sum[k] += value;
      l.squares[k] += value * value;
      l.negative[k] += value < 0;
      l.zero[k] += value == 0;
    }
  }
  *out_lanes = l;
}

// False: not all are finite, or their squares do not fit; nothing is added then.
static bool take_lanes(const lanes *l, sums *a) {
  double sum = 0, squares = 0;
  int64_t negative = 0, zero = 0;
  for (int k = 0; k < LANES; k++) {
    sum += (double)l->sum[k];
    squares += (double)l->squares[k];
    negative += l->negative[k];
    zero += l->zero[k];
  }
  if (!isfinite(sum) || !isfinite(squares)) return false;
  for (int k = 0; k < LANES; k++) {
    const double least = (double)l->least[k], most = (double)l->most[k];
    if ((k == 0 && a->num_finite == 0) || least < a->s.least) a->s.least = least;
    if ((k == 0 && a->num_finite == 0) || most > a->s.most) a->s.most = most;
  }
  a->s.count += BLOCK;
  a->s.num_negative += negative;
  a->s.num_zero += zero;
  a->s.num_positive += BLOCK - negative - zero;
  a->num_finite += BLOCK;
  a->sum += sum;
  a->squares += squares;
  return true;
}

static void add_floats(const float *x, int64_t count, sums *a) {
  int64_t i = 0;
  for (; i + BLOCK <= count; i += BLOCK) {
    lanes l = {.negative = {0}};
    for (int k = 0; k < LANES; k++) l.least[k] = l.most[k] = x[i + k];
    add_block(x + i, &l);
    if (take_lanes(&l, a)) continue;
    for (int k = 0; k < BLOCK; k++) add(a, (double)x[i + k]);
  }
  for (; i < count; i++) add(a, (double)x[i]);
}

static bool is_complex(rheos_dtype dtype) {
  return dtype == RHEOS_COMPLEX64 || dtype == RHEOS_COMPLEX128;
}

rheos_statistics rheos__statistics_of(const rheos_tensor *tensor) {
  sums a = {.num_finite = 0};
  if (tensor->dtype == RHEOS_FLOAT) {
    add_floats(tensor->data, tensor->num_elements, &a);
  } else {
    for (int64_t i = 0; i < tensor->num_elements; i++) {
      if (is_complex(tensor->dtype)) {
        const double complex value = rheos__complex_at(tensor->dtype, tensor->data, i);
        add(&a, creal(value));
        add(&a, cimag(value));
      } else {
        add(&a, rheos__real_at(tensor, i));
      }
    }
  }
  if (a.num_finite > 0) a.s.mean = a.sum / (double)a.num_finite;
  a.s.norm = sqrt(a.squares);
  return a.s;
}

// ---- Histograms

// Halves, because the range itself may be no double.
typedef struct buckets {
  rheos_histogram *h;
  double half_least, per_half;  // of the range
} buckets;

static void count(const buckets *b, double value) {
  if (!isfinite(value)) return;
  const double place = (value / 2 - b->half_least) * b->per_half;
  const int bucket = place < RHEOS_HISTOGRAM_BUCKETS ? (int)place : RHEOS_HISTOGRAM_BUCKETS - 1;
  b->h->counts[bucket > 0 ? bucket : 0]++;
}

enum { PLACES = 256, TABLES = 4 };

// x (PLACES), all finite.
RHEOS__WIDE static void find_places(const buckets *b, const float *x, int32_t *places) {
  const double half_least = b->half_least, per_half = b->per_half;
  for (int k = 0; k < PLACES; k++) {
    const double place = ((double)x[k] / 2 - half_least) * per_half;
    places[k] = (int32_t)(place < RHEOS_HISTOGRAM_BUCKETS ? place : RHEOS_HISTOGRAM_BUCKETS - 1);
  }
}

// All finite. Neighbours are counted in tables of their own, so that none waits for the other.
static void count_finite(const buckets *b, const float *x, int64_t num_elements) {
  int64_t tables[TABLES][RHEOS_HISTOGRAM_BUCKETS] = {{0}}, i = 0;
  int32_t places[PLACES];
  for (; i + PLACES <= num_elements; i += PLACES) {
    find_places(b, x + i, places);
    for (int k = 0; k < PLACES; k++) tables[k % TABLES][places[k]]++;
  }
  for (int k = 0; k < TABLES * RHEOS_HISTOGRAM_BUCKETS; k++) {
    b->h->counts[k % RHEOS_HISTOGRAM_BUCKETS] += (&tables[0][0])[k];
  }
  for (; i < num_elements; i++) count(b, (double)x[i]);
}

void rheos__histogram_of(const rheos_tensor *tensor, const rheos_statistics *statistics,
                         rheos_histogram *out_histogram) {
  *out_histogram = (rheos_histogram){.least = statistics->least, .most = statistics->most};
  const double half_range = statistics->most / 2 - statistics->least / 2;
  const buckets b = {.h = out_histogram,
                     .half_least = statistics->least / 2,
                     .per_half = half_range > 0 ? RHEOS_HISTOGRAM_BUCKETS / half_range : 0};
  if (tensor->dtype == RHEOS_FLOAT && statistics->num_nan + rheos__num_infinite(statistics) == 0) {
    count_finite(&b, tensor->data, tensor->num_elements);
    return;
  }
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    if (is_complex(tensor->dtype)) {
      const double complex value = rheos__complex_at(tensor->dtype, tensor->data, i);
      count(&b, creal(value));
      count(&b, cimag(value));
    } else {
      count(&b, rheos__real_at(tensor, i));
    }
  }
}

// ---- Of tensors that may have none

static rheos_status *find_numbers(const rheos_tensor **tensor) {
  if (rheos__has_numbers((*tensor)->dtype)) return rheos__tensor_to_host(tensor);
  return RHEOS_INVALID("a tensor of %s has no numbers to add up",
                       rheos_dtype_name((*tensor)->dtype));
}

rheos_status *rheos_tensor_statistics(const rheos_tensor *tensor,
                                      rheos_statistics *out_statistics) {
  RHEOS_NEED(tensor);
  RHEOS_NEED(out_statistics);
  *out_statistics = (rheos_statistics){0};
  RHEOS_TRY(find_numbers(&tensor));
  *out_statistics = rheos__statistics_of(tensor);
  return NULL;
}

rheos_status *rheos_tensor_histogram(const rheos_tensor *tensor, rheos_histogram *out_histogram) {
  RHEOS_NEED(tensor);
  RHEOS_NEED(out_histogram);
  *out_histogram = (rheos_histogram){0};
  RHEOS_TRY(find_numbers(&tensor));
  const rheos_statistics statistics = rheos__statistics_of(tensor);
  rheos__histogram_of(tensor, &statistics, out_histogram);
  return NULL;
}
