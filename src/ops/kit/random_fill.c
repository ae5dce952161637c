// How random ops make numbers: Philox, the ways its bits become numbers, and how far each group
// moves the generator on. Groups of numbers are independent, so threads do not change them.
#include "ops/kit/random_fill.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "ops/kit/elementwise.h"

// ---- The generator

typedef struct seeds {
  uint64_t seed, seed2;
} seeds;

struct rheos__generator {
  rheos__resource base;
  pthread_mutex_t mutex;
  rheos__philox philox;
};

static rheos_status *init_generator(rheos__resource *resource, const void *argument) {
  rheos__generator *g = (rheos__generator *)resource;
  seeds s = *(const seeds *)argument;
  if (s.seed == 0 && s.seed2 == 0 && getrandom(&s, sizeof s, 0) != (ssize_t)sizeof s) {
    return rheos_status_new(RHEOS_UNAVAILABLE, "the system gives no random seed");
  }
  g->philox = rheos__philox_of(s.seed, s.seed2);
  if (pthread_mutex_init(&g->mutex, NULL) != 0) return rheos__out_of_memory();
  return NULL;
}

static void deinit_generator(rheos__resource *resource) {
  pthread_mutex_destroy(&((rheos__generator *)resource)->mutex);
}

static const rheos__resource_kind generator_kind = {
    "random generator",
    sizeof(rheos__generator),
    init_generator,
    deinit_generator,
};

rheos_status *rheos__generator_of_node(rheos__prepare *p, rheos__generator **out_generator) {
  *out_generator = NULL;
  rheos__resources *const own = p->node_resources, *resources = own != NULL ? own : p->resources;
  if (resources == NULL) {
    return rheos_status_new(RHEOS_INTERNAL, "%s needs the resources of a session", p->op->name);
  }
  const seeds s = {(uint64_t)rheos__attr_int(p->attrs, "seed"),
                   (uint64_t)rheos__attr_int(p->attrs, "seed2")};
  rheos__resource *resource;
  RHEOS_TRY(rheos__resources_get(resources, &generator_kind, p->node_name, &s, &resource));
  *out_generator = (rheos__generator *)resource;
  return NULL;
}

void rheos__generator_unref(rheos__generator *generator) {
  rheos__resource_unref(&generator->base);
}

rheos__philox rheos__generator_reserve(rheos__generator *generator, uint64_t steps) {
  pthread_mutex_lock(&generator->mutex);
  const rheos__philox philox = generator->philox;
  rheos__philox_skip(&generator->philox, steps);
  pthread_mutex_unlock(&generator->mutex);
  return philox;
}

// ---- Generators without a state of their own

rheos_status *rheos__check_key(const rheos__infer *c) {
  rheos_shape key;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &key));
  if (key.dims[0] < 0 || key.dims[0] == 1) return NULL;
  return RHEOS_INVALID("key must have 1 element, got %lld", (long long)key.dims[0]);
}

rheos_status *rheos__check_seed(const rheos_shape *seed) {
  if (seed->rank == 1 && seed->dims[0] == 2) return NULL;
  rheos__shape_text text;
  return RHEOS_INVALID("seed must have shape [2], not %s", rheos__shape_text_of(seed, &text));
}

rheos_status *rheos__check_rng_algorithm(int64_t algorithm) {
  if (algorithm == 1 || algorithm == 3) return NULL;
  if (algorithm == 2) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "the algorithm ThreeFry is not available");
  }
  return RHEOS_INVALID("Unsupported algorithm id: %lld", (long long)algorithm);
}

// Seeds may differ in few bits: Philox itself scatters them.
rheos__philox rheos__philox_of_seed(const rheos_tensor *seed) {
  assert(seed->num_elements == 2);  // rheos__check_seed()
  const uint64_t s0 = (uint64_t)rheos__tensor_int_at(seed, 0);
  const uint64_t s1 = (uint64_t)rheos__tensor_int_at(seed, 1);
  const rheos__philox scatter = {
      {0x3ec8f720, 0x02461e29},
      {(uint32_t)s0, (uint32_t)(s0 >> 32), (uint32_t)s1, (uint32_t)(s1 >> 32)},
  };
  uint32_t mix[4];
  rheos__philox_block(&scatter, mix);
  return (rheos__philox){{mix[0], mix[1]}, {0, 0, mix[2], mix[3]}};
}

// A key of one and a counter of two numbers of 64 bits, least significant first.
static rheos__philox philox_at(const rheos_tensor *key, const rheos_tensor *counter) {
  const uint64_t k = *(const uint64_t *)key->data;
  const uint64_t *c = counter->data;
  return (rheos__philox){
      {(uint32_t)k, (uint32_t)(k >> 32)},
      {(uint32_t)c[0], (uint32_t)(c[0] >> 32), (uint32_t)c[1], (uint32_t)(c[1] >> 32)}};
}

static rheos_status *check_key(const rheos_shape *key, const rheos_shape *counter) {
  rheos__shape_text text;
  if (key->rank != 1 || key->dims[0] != 1) {
    return RHEOS_INVALID("key must have shape [1], not %s", rheos__shape_text_of(key, &text));
  }
  if (counter->rank != 1 || counter->dims[0] < 2) {
    return RHEOS_INVALID("counter must be a vector with length at least 2; got shape: %s",
                         rheos__shape_text_of(counter, &text));
  }
  return NULL;
}

rheos_status *rheos__philox_of_key(rheos_tensor *const *inputs, int first,
                                   rheos__philox *out_philox) {
  const rheos_tensor *algorithm = inputs[first + 2];
  RHEOS_TRY(check_key(&inputs[first]->shape, &inputs[first + 1]->shape));
  if (algorithm->shape.rank != 0) return RHEOS_INVALID("algorithm must be of shape []");
  RHEOS_TRY(rheos__check_rng_algorithm(rheos__tensor_int_at(algorithm, 0)));
  *out_philox = philox_at(inputs[first], inputs[first + 1]);
  return NULL;
}

// ---- Bits to numbers: the fraction of a number in [1, 2), less 1

float rheos__random_float(uint32_t x) {
  const uint32_t bits = (uint32_t)127 << 23 | (x & 0x7fffffu);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value - 1.0f;
}

double rheos__random_double(uint32_t x0, uint32_t x1) {
  const uint64_t bits = (uint64_t)1023 << 52 | (uint64_t)(x0 & 0xfffffu) << 32 | x1;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value - 1.0;
}

static uint16_t half_fraction(uint32_t x) {
  const uint16_t bits = (uint16_t)(15 << 10 | (x & 0x3ffu));
  return rheos__float_to_half(rheos__half_to_float(bits) - 1.0f);
}

static uint16_t bfloat16_fraction(uint32_t x) {
  const uint16_t bits = (uint16_t)(127 << 7 | (x & 0x7fu));
  return rheos__float_to_bfloat16(rheos__bfloat16_to_float(bits) - 1.0f);
}

// Two normal numbers of two uniform ones (Box and Muller, 1958).
static void normal_pair(uint32_t x0, uint32_t x1, float *out) {
  const float epsilon = 1.0e-7f, uniform = rheos__random_float(x0);
  const float u = uniform < epsilon ? epsilon : uniform;
  const float angle = (float)(2.0f * M_PI * rheos__random_float(x1));
  const float radius = sqrtf(-2.0f * logf(u));
  out[0] = sinf(angle) * radius;
  out[1] = cosf(angle) * radius;
}

void rheos__normal_doubles(const uint32_t *x, double *out) {
  const double epsilon = 1.0e-7, uniform = rheos__random_double(x[0], x[1]);
  const double u = uniform < epsilon ? epsilon : uniform;
  const double angle = 2 * M_PI * rheos__random_double(x[2], x[3]);
  const double radius = sqrt(-2.0 * log(u));
  out[0] = sin(angle) * radius;
  out[1] = cos(angle) * radius;
}

// ---- Distributions: each makes one group of numbers, `group_size` of them, from the generator at
// the group's place, `group_steps` after the one before.

static void uniform_float(rheos__philox philox, const rheos__random_range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  for (int i = 0; i < 4; i++) ((float *)out)[i] = rheos__random_float(x[i]);
}
static void uniform_half(rheos__philox philox, const rheos__random_range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  for (int i = 0; i < 4; i++) ((uint16_t *)out)[i] = half_fraction(x[i]);
}
static void uniform_bfloat16(rheos__philox philox, const rheos__random_range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  for (int i = 0; i < 4; i++) ((uint16_t *)out)[i] = bfloat16_fraction(x[i]);
}
static void uniform_double(rheos__philox philox, const rheos__random_range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  for (int i = 0; i < 2; i++) ((double *)out)[i] = rheos__random_double(x[2 * i], x[2 * i + 1]);
}
// A function that fills a group of `count` integers of 32 or 64 bits.
#define INTS(name, type, count, bits, value)                                            \
  static void name(rheos__philox philox, const rheos__random_range *range, void *out) { \
    uint32_t x[4];                                                                      \
    (void)range;                                                                        \
    rheos__philox_block(&philox, x);                                                    \
    for (int i = 0; i < count; i++) {                                                   \
      const type drawn = bits;                                                          \
      ((type *)out)[i] = value;                                                         \
    }                                                                                   \
  }
#define WIDE (x[2 * i] | (uint64_t)x[2 * i + 1] << 32)
INTS(uniform_32, uint32_t, 4, x[i], (uint32_t)range->low + drawn % (uint32_t)range->width)
INTS(uniform_64, uint64_t, 2, WIDE, range->low + drawn % range->width)
INTS(full_32, uint32_t, 4, x[i], drawn)
INTS(full_64, uint64_t, 2, WIDE, drawn)

static void normal_float(rheos__philox philox, const rheos__random_range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  normal_pair(x[0], x[1], out);
  normal_pair(x[2], x[3], (float *)out + 2);
}
static void normal_double(rheos__philox philox, const rheos__random_range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  rheos__normal_doubles(x, out);
}

static void truncated_float(rheos__philox philox, const rheos__random_range *range, void *out) {
  rheos__philox_singles singles = rheos__philox_singles_of(philox);
  (void)range;
  for (int count = 0; count < 4;) {
    float pair[2];
    const uint32_t x0 = rheos__philox_next(&singles), x1 = rheos__philox_next(&singles);
    normal_pair(x0, x1, pair);
    if (fabsf(pair[0]) < 2.0f) ((float *)out)[count++] = pair[0];
    if (count < 4 && fabsf(pair[1]) < 2.0f) ((float *)out)[count++] = pair[1];
  }
}
static void truncated_double(rheos__philox philox, const rheos__random_range *range, void *out) {
  rheos__philox_singles singles = rheos__philox_singles_of(philox);
  (void)range;
  for (int count = 0; count < 2;) {
    uint32_t x[4];
    double pair[2];
    for (int i = 0; i < 4; i++) x[i] = rheos__philox_next(&singles);
    rheos__normal_doubles(x, pair);
    if (fabs(pair[0]) < 2.0) ((double *)out)[count++] = pair[0];
    if (count < 2 && fabs(pair[1]) < 2.0) ((double *)out)[count++] = pair[1];
  }
}

// Halves are rounded from floats.
#define ROUNDED(name, to)                                                                      \
  static void name##_##to(rheos__philox philox, const rheos__random_range *range, void *out) { \
    float values[4];                                                                           \
    name##_float(philox, range, values);                                                       \
    for (int i = 0; i < 4; i++) ((uint16_t *)out)[i] = rheos__float_to_##to(values[i]);        \
  }
ROUNDED(normal, half)
ROUNDED(normal, bfloat16)
ROUNDED(truncated, half)
ROUNDED(truncated, bfloat16)

static const rheos__distribution distributions[RHEOS__NUM_DISTRIBUTIONS][RHEOS__NUM_DTYPES] = {
    [RHEOS__UNIFORM] = {[RHEOS_FLOAT] = {4, 1, uniform_float},
                        [RHEOS_DOUBLE] = {2, 1, uniform_double},
                        [RHEOS_HALF] = {4, 1, uniform_half},
                        [RHEOS_BFLOAT16] = {4, 1, uniform_bfloat16},
                        [RHEOS_INT32] = {4, 1, uniform_32},
                        [RHEOS_UINT32] = {4, 1, uniform_32},
                        [RHEOS_INT64] = {2, 1, uniform_64},
                        [RHEOS_UINT64] = {2, 1, uniform_64}},
    [RHEOS__FULL_INT] = {[RHEOS_INT32] = {4, 1, full_32},
                         [RHEOS_UINT32] = {4, 1, full_32},
                         [RHEOS_INT64] = {2, 1, full_64},
                         [RHEOS_UINT64] = {2, 1, full_64}},
    [RHEOS__NORMAL] = {[RHEOS_FLOAT] = {4, 1, normal_float},
                       [RHEOS_DOUBLE] = {2, 1, normal_double},
                       [RHEOS_HALF] = {4, 1, normal_half},
                       [RHEOS_BFLOAT16] = {4, 1, normal_bfloat16}},
    // Truncated normals take a number of samples that is not known beforehand: each has room for
    // 256.
    [RHEOS__TRUNCATED] = {[RHEOS_FLOAT] = {4, 256, truncated_float},
                          [RHEOS_DOUBLE] = {2, 128, truncated_double},
                          [RHEOS_HALF] = {4, 256, truncated_half},
                          [RHEOS_BFLOAT16] = {4, 256, truncated_bfloat16}},
};

const rheos__distribution *rheos__distribution_of(rheos__distribution_kind kind,
                                                  rheos_dtype dtype) {
  const rheos__distribution *found = &distributions[kind][dtype];
  return found->fill != NULL ? found : NULL;
}

// ---- Filling

typedef struct slice {
  rheos__random_body body;
  void *argument;
  int64_t count, unit, first_unit;
} slice;

static rheos_status *run_units(void *argument, int64_t first, int64_t last) {
  const slice *s = argument;
  int64_t end = (s->first_unit + last) * s->unit;
  if (end > s->count) end = s->count;
  return s->body(s->argument, (s->first_unit + first) * s->unit, end);
}

enum { UNIT_FLOPS = 500000, SLICE_UNITS = 512 };  // a slice between two looks whether to stop

rheos_status *rheos__random_parallel(rheos__step *step, int64_t count, int64_t flops,
                                     rheos__random_body body, void *argument) {
  const int64_t unit = flops < UNIT_FLOPS ? UNIT_FLOPS / flops : 1;
  slice s = {.body = body, .argument = argument, .count = count, .unit = unit};
  const int64_t units = count / unit + (count % unit != 0);
  for (; s.first_unit < units; s.first_unit += SLICE_UNITS) {
    if (s.first_unit > 0 && rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    const int64_t left = units - s.first_unit;
    const int64_t some = left < SLICE_UNITS ? left : SLICE_UNITS;
    const int64_t elements = count < some * unit ? count : some * unit;
    RHEOS_TRY(rheos__step_parallel(step, some, elements * flops, run_units, &s));
  }
  return NULL;
}

typedef struct fill {
  const rheos__distribution *distribution;
  rheos__philox philox;
  rheos__random_range range;
  char *out;
  int64_t num_elements, element_bytes;
} fill;

static rheos_status *fill_groups(void *argument, int64_t first, int64_t last) {
  const fill *f = argument;
  const int64_t size = f->distribution->group_size;
  for (int64_t group = first; group < last; group++) {
    rheos__philox philox = f->philox;
    rheos__philox_skip(&philox, (uint64_t)group * (uint64_t)f->distribution->group_steps);
    char *to = f->out + group * size * f->element_bytes;
    const int64_t left = f->num_elements - group * size;
    if (left >= size) {
      f->distribution->fill(philox, &f->range, to);
    } else {
      double whole[4];
      f->distribution->fill(philox, &f->range, whole);
      memcpy(to, whole, (size_t)(left * f->element_bytes));
    }
  }
  return NULL;
}

rheos_status *rheos__random_fill(rheos__step *step, const rheos__distribution *distribution,
                                 rheos__philox philox, rheos__random_range range,
                                 rheos_tensor *out) {
  const int64_t n = out->num_elements, size = distribution->group_size;
  if (n == 0) return NULL;
  fill f = {
      .distribution = distribution,
      .philox = philox,
      .range = range,
      .out = out->data,
      .num_elements = n,
      .element_bytes = (int64_t)rheos_dtype_size(out->dtype),
  };
  return rheos__random_parallel(step, n / size + (n % size != 0), 120, fill_groups, &f);
}

int64_t rheos__first_above(const double *sums, int64_t count, double wanted) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (sums[middle] > wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// ---- Inputs

rheos_status *rheos__random_shape_of(const rheos_tensor *dims, rheos_shape *out_shape) {
  if (dims->shape.rank != 1) {
    rheos__shape_text text;
    return RHEOS_INVALID("shape must be a vector of {int32,int64}, got shape %s",
                         rheos__shape_text_of(&dims->shape, &text));
  }
  if (dims->num_elements > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("rank %lld is more than the maximum of %d", (long long)dims->num_elements,
                         RHEOS_MAX_RANK);
  }
  out_shape->rank = (int32_t)dims->num_elements;
  for (int32_t d = 0; d < out_shape->rank; d++) {
    out_shape->dims[d] = rheos__tensor_int_at(dims, d);
    if (out_shape->dims[d] < 0) {
      return RHEOS_INVALID("Dimension %lld must be >= 0", (long long)out_shape->dims[d]);
    }
  }
  return NULL;
}

rheos_status *rheos__random_range_of(const rheos_tensor *low, const rheos_tensor *high,
                                     const rheos_shape *shape, rheos__random_range *out_range) {
  rheos__shape_text text;
  *out_range = (rheos__random_range){0};
  for (int k = 0; k < 2; k++) {
    const rheos_tensor *bound = k == 0 ? low : high;
    if (bound->shape.rank == 0) continue;
    return RHEOS_INVALID("%s must be 0-D, got shape %s", k == 0 ? "minval" : "maxval",
                         rheos__shape_text_of(&bound->shape, &text));
  }
  const int64_t first = rheos__tensor_int_at(low, 0), end = rheos__tensor_int_at(high, 0);
  const bool in_order = low->dtype == RHEOS_UINT64 ? (uint64_t)first < (uint64_t)end : first < end;
  if (!in_order && rheos_shape_num_elements(shape) != 0) {
    return RHEOS_INVALID("Need minval < maxval, got %lld >= %lld", (long long)first,
                         (long long)end);
  }
  *out_range = (rheos__random_range){(uint64_t)first, (uint64_t)end - (uint64_t)first};
  return NULL;
}

rheos__random_inputs rheos__random_inputs_of(const rheos__prepare *p) {
  const bool keyed = p->num_inputs >= 4 && p->input_dtypes[1] == RHEOS_UINT64 &&
                     p->input_dtypes[2] == RHEOS_UINT64 && p->input_dtypes[3] == RHEOS_INT32;
  const bool has_range = p->num_inputs == (keyed ? 6 : 4);
  return (rheos__random_inputs){keyed, has_range ? p->num_inputs - 2 : 0};
}

rheos_status *rheos__random_inputs_read(const rheos__random_inputs *told,
                                        rheos_tensor *const *inputs, const rheos_shape *shape,
                                        rheos__philox *out_philox, rheos__random_range *out_range) {
  *out_range = (rheos__random_range){0};
  if (told->keyed) {
    RHEOS_TRY(rheos__philox_of_key(inputs, 1, out_philox));
  } else {
    RHEOS_TRY(rheos__check_seed(&inputs[1]->shape));
    *out_philox = rheos__philox_of_seed(inputs[1]);
  }
  if (told->first_bound == 0) return NULL;
  return rheos__random_range_of(inputs[told->first_bound], inputs[told->first_bound + 1], shape,
                                out_range);
}
