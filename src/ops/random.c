// Random numbers, bit for bit TensorFlow's for the same seeds: Philox, the ways its bits become
// numbers, and how far each run moves the generator on. The generator is a resource of the session
// under the node's name. Groups of numbers are independent, so threads do not change them.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ops/elementwise.h"
#include "ops/op_util.h"
#include "ops/philox.h"

// ---- The generator

typedef struct seeds {
  uint64_t seed, seed2;
} seeds;

typedef struct generator {
  rheos__resource base;
  pthread_mutex_t mutex;
  rheos__philox philox;
} generator;

static rheos_status *init_generator(rheos__resource *resource, const void *argument) {
  generator *g = (generator *)resource;
  seeds s = *(const seeds *)argument;
  if (s.seed == 0 && s.seed2 == 0 && getrandom(&s, sizeof s, 0) != (ssize_t)sizeof s) {
    return rheos_status_new(RHEOS_UNAVAILABLE, "the system gives no random seed");
  }
  g->philox = rheos__philox_of(s.seed, s.seed2);
  if (pthread_mutex_init(&g->mutex, NULL) != 0) return rheos__out_of_memory();
  return NULL;
}

static void deinit_generator(rheos__resource *resource) {
  pthread_mutex_destroy(&((generator *)resource)->mutex);
}

static const rheos__resource_kind generator_kind = {
    "random generator",
    sizeof(generator),
    init_generator,
    deinit_generator,
};

// The generator as it stands, which then goes on by `steps`.
static rheos__philox reserve(generator *g, uint64_t steps) {
  pthread_mutex_lock(&g->mutex);
  const rheos__philox philox = g->philox;
  rheos__philox_skip(&g->philox, steps);
  pthread_mutex_unlock(&g->mutex);
  return philox;
}

// ---- Bits to numbers: the fraction of a number in [1, 2), less 1

static float fraction(uint32_t x) {
  const uint32_t bits = (uint32_t)127 << 23 | (x & 0x7fffffu);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value - 1.0f;
}

static double wide_fraction(uint32_t x0, uint32_t x1) {
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
  const float epsilon = 1.0e-7f, uniform = fraction(x0);
  const float u = uniform < epsilon ? epsilon : uniform;
  const float angle = (float)(2.0f * M_PI * fraction(x1));
  const float radius = sqrtf(-2.0f * logf(u));
  out[0] = sinf(angle) * radius;
  out[1] = cosf(angle) * radius;
}

static void wide_normal_pair(const uint32_t *x, double *out) {
  const double epsilon = 1.0e-7, uniform = wide_fraction(x[0], x[1]);
  const double u = uniform < epsilon ? epsilon : uniform;
  const double angle = 2 * M_PI * wide_fraction(x[2], x[3]);
  const double radius = sqrt(-2.0 * log(u));
  out[0] = sin(angle) * radius;
  out[1] = cos(angle) * radius;
}

// ---- Distributions: each makes one group of numbers, `group_size` of them, from the generator at
// the group's place, `group_steps` after the one before.

typedef struct range {
  int64_t low;
  uint64_t width;
} range;

typedef struct distribution {
  int group_size;
  int group_steps;
  void (*fill)(rheos__philox philox, const range *range, void *out);
} distribution;

static void uniform_float(rheos__philox philox, const range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  for (int i = 0; i < 4; i++) ((float *)out)[i] = fraction(x[i]);
}
static void uniform_half(rheos__philox philox, const range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  for (int i = 0; i < 4; i++) ((uint16_t *)out)[i] = half_fraction(x[i]);
}
static void uniform_bfloat16(rheos__philox philox, const range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  for (int i = 0; i < 4; i++) ((uint16_t *)out)[i] = bfloat16_fraction(x[i]);
}
static void uniform_double(rheos__philox philox, const range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  for (int i = 0; i < 2; i++) ((double *)out)[i] = wide_fraction(x[2 * i], x[2 * i + 1]);
}
static void uniform_int32(rheos__philox philox, const range *range, void *out) {
  uint32_t x[4];
  rheos__philox_block(&philox, x);
  for (int i = 0; i < 4; i++) {
    ((int32_t *)out)[i] = (int32_t)((uint32_t)range->low + x[i] % (uint32_t)range->width);
  }
}
static void uniform_int64(rheos__philox philox, const range *range, void *out) {
  uint32_t x[4];
  rheos__philox_block(&philox, x);
  for (int i = 0; i < 2; i++) {
    const uint64_t wide = x[2 * i] | (uint64_t)x[2 * i + 1] << 32;
    ((int64_t *)out)[i] = (int64_t)((uint64_t)range->low + wide % range->width);
  }
}

static void normal_float(rheos__philox philox, const range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  normal_pair(x[0], x[1], out);
  normal_pair(x[2], x[3], (float *)out + 2);
}
static void normal_double(rheos__philox philox, const range *range, void *out) {
  uint32_t x[4];
  (void)range;
  rheos__philox_block(&philox, x);
  wide_normal_pair(x, out);
}

static void truncated_float(rheos__philox philox, const range *range, void *out) {
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
static void truncated_double(rheos__philox philox, const range *range, void *out) {
  rheos__philox_singles singles = rheos__philox_singles_of(philox);
  (void)range;
  for (int count = 0; count < 2;) {
    uint32_t x[4];
    double pair[2];
    for (int i = 0; i < 4; i++) x[i] = rheos__philox_next(&singles);
    wide_normal_pair(x, pair);
    if (fabs(pair[0]) < 2.0) ((double *)out)[count++] = pair[0];
    if (count < 2 && fabs(pair[1]) < 2.0) ((double *)out)[count++] = pair[1];
  }
}

// Halves are rounded from floats.
#define ROUNDED(name, to)                                                               \
  static void name##_##to(rheos__philox philox, const range *range, void *out) {        \
    float values[4];                                                                    \
    name##_float(philox, range, values);                                                \
    for (int i = 0; i < 4; i++) ((uint16_t *)out)[i] = rheos__float_to_##to(values[i]); \
  }
ROUNDED(normal, half)
ROUNDED(normal, bfloat16)
ROUNDED(truncated, half)
ROUNDED(truncated, bfloat16)

enum { UNIFORM, NORMAL, TRUNCATED, NUM_DISTRIBUTIONS };
static const distribution distributions[NUM_DISTRIBUTIONS][RHEOS__NUM_DTYPES] = {
    [UNIFORM] = {[RHEOS_FLOAT] = {4, 1, uniform_float},
                 [RHEOS_DOUBLE] = {2, 1, uniform_double},
                 [RHEOS_HALF] = {4, 1, uniform_half},
                 [RHEOS_BFLOAT16] = {4, 1, uniform_bfloat16},
                 [RHEOS_INT32] = {4, 1, uniform_int32},
                 [RHEOS_INT64] = {2, 1, uniform_int64}},
    [NORMAL] = {[RHEOS_FLOAT] = {4, 1, normal_float},
                [RHEOS_DOUBLE] = {2, 1, normal_double},
                [RHEOS_HALF] = {4, 1, normal_half},
                [RHEOS_BFLOAT16] = {4, 1, normal_bfloat16}},
    // These take a number of samples that is not known beforehand: each has room for 256.
    [TRUNCATED] = {[RHEOS_FLOAT] = {4, 256, truncated_float},
                   [RHEOS_DOUBLE] = {2, 128, truncated_double},
                   [RHEOS_HALF] = {4, 256, truncated_half},
                   [RHEOS_BFLOAT16] = {4, 256, truncated_bfloat16}},
};

// ---- Kernels

typedef struct random_state {
  generator *generator;
  const distribution *distribution;
  rheos_dtype dtype;
} random_state;

static void release_state(void *state) {
  rheos__resource_unref(&((random_state *)state)->generator->base);
}

// Finds the node's generator. `kind` -1: for the ops that use no distribution of the table.
static rheos_status *prepare(rheos__prepare *p, int kind, rheos_dtype dtype,
                             rheos__compute_fn compute) {
  if (p->resources == NULL) {
    return rheos_status_new(RHEOS_INTERNAL, "%s needs the resources of a session", p->op->name);
  }
  random_state *state = RHEOS_NEW_STATE(p, random_state);
  if (state == NULL) return rheos__out_of_memory();
  state->dtype = dtype;
  if (kind >= 0) state->distribution = &distributions[kind][dtype];
  if (kind >= 0 && state->distribution->fill == NULL) return rheos__no_kernel(p, dtype);
  const seeds s = {(uint64_t)rheos__attr_int(p->attrs, "seed"),
                   (uint64_t)rheos__attr_int(p->attrs, "seed2")};
  rheos__resource *resource;
  RHEOS_TRY(rheos__resources_get(p->resources, &generator_kind, p->node_name, &s, &resource));
  state->generator = (generator *)resource;
  p->release = release_state;
  p->compute = compute;
  return NULL;
}

enum { UNIT_GROUPS = 4096, SLICE_UNITS = 512 };  // a slice between two looks whether to stop

typedef struct fill {
  const distribution *distribution;
  rheos__philox philox;
  range range;
  char *out;
  int64_t num_elements, element_bytes, num_groups;
  int64_t first_unit;  // of the slice
} fill;

static rheos_status *fill_units(void *argument, int64_t first, int64_t last) {
  const fill *f = argument;
  const int64_t size = f->distribution->group_size;
  int64_t end = (f->first_unit + last) * UNIT_GROUPS;
  if (end > f->num_groups) end = f->num_groups;
  for (int64_t group = (f->first_unit + first) * UNIT_GROUPS; group < end; group++) {
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

static rheos_status *shape_of(const rheos_tensor *dims, rheos_shape *out_shape) {
  if (dims->shape.rank != 1) {
    rheos__shape_text text;
    return RHEOS_INVALID("shape must be a vector of {int32,int64}, got shape %s",
                         rheos__shape_text_of(&dims->shape, &text));
  }
  if (dims->num_elements > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("rank %lld is more than the maximum of %d",
                         (long long)dims->num_elements, RHEOS_MAX_RANK);
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

static rheos_status *fill_new(const random_state *state, rheos__step *step,
                              const rheos_tensor *dims, range range, rheos_tensor **out) {
  rheos_shape shape;
  RHEOS_TRY(shape_of(dims, &shape));
  RHEOS_TRY(rheos_tensor_new(state->dtype, shape, out));
  const int64_t n = (*out)->num_elements, size = state->distribution->group_size;
  if (n == 0) return NULL;
  fill f = {
      .distribution = state->distribution,
      .philox = reserve(state->generator, (uint64_t)n * 256),
      .range = range,
      .out = (*out)->data,
      .num_elements = n,
      .element_bytes = (int64_t)rheos_dtype_size(state->dtype),
      .num_groups = (n + size - 1) / size,
  };
  const int64_t units = (f.num_groups + UNIT_GROUPS - 1) / UNIT_GROUPS;
  for (; f.first_unit < units; f.first_unit += SLICE_UNITS) {
    if (f.first_unit > 0 && rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    int64_t count = units - f.first_unit < SLICE_UNITS ? units - f.first_unit : SLICE_UNITS;
    int64_t flops = n < INT64_MAX / 30 ? n * 30 : INT64_MAX;
    RHEOS_TRY(rheos__step_parallel(step, count, flops, fill_units, &f));
  }
  return NULL;
}

static rheos_status *compute_floats(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  return fill_new(state, step, inputs[0], (range){0}, &outputs[0]);
}

static rheos_status *compute_ints(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  rheos_shape shape;
  RHEOS_TRY(shape_of(inputs[0], &shape));
  for (int k = 1; k < 3; k++) {
    if (inputs[k]->shape.rank == 0) continue;
    rheos__shape_text text;
    return RHEOS_INVALID("%s must be 0-D, got shape %s", k == 1 ? "minval" : "maxval",
                         rheos__shape_text_of(&inputs[k]->shape, &text));
  }
  const int64_t low = rheos__tensor_int_at(inputs[1], 0);
  const int64_t high = rheos__tensor_int_at(inputs[2], 0);
  if (low >= high && rheos_shape_num_elements(&shape) != 0) {
    return RHEOS_INVALID("Need minval < maxval, got %lld >= %lld", (long long)low,
                         (long long)high);
  }
  const range between = {low, (uint64_t)high - (uint64_t)low};
  return fill_new(state, step, inputs[0], between, &outputs[0]);
}

static rheos_status *prepare_RandomUniform(rheos__prepare *p) {
  return prepare(p, UNIFORM, p->output_dtypes[0], compute_floats);
}
static rheos_status *prepare_RandomUniformInt(rheos__prepare *p) {
  return prepare(p, UNIFORM, p->output_dtypes[0], compute_ints);
}
static rheos_status *prepare_RandomStandardNormal(rheos__prepare *p) {
  return prepare(p, NORMAL, p->output_dtypes[0], compute_floats);
}
static rheos_status *prepare_TruncatedNormal(rheos__prepare *p) {
  return prepare(p, TRUNCATED, p->output_dtypes[0], compute_floats);
}

static rheos_status *random_shape(rheos__infer *c) {
  for (int32_t k = 1; k < c->num_inputs; k++) {
    rheos_shape scalar;
    RHEOS_TRY(rheos__infer_rank(c, k, 0, &scalar));
  }
  return rheos__infer_shape_value(c, 0, &c->output_shapes[0]);
}

#define SEEDS "seed: int = 0; seed2: int = 0; "
#define FLOATS "dtype: {half, bfloat16, float, double}; "
#define INDEX "T: {int32, int64}"

const rheos__op_def rheos__op_RandomUniform = {
    "RandomUniform",
    "shape: T -> output: dtype; " SEEDS FLOATS INDEX,
    "Uniform numbers from 0 up to 1, without 1.",
    RHEOS_OP_STATEFUL,
    random_shape,
    rheos__no_gradient,
    prepare_RandomUniform,
};

const rheos__op_def rheos__op_RandomUniformInt = {
    "RandomUniformInt",
    "shape: T, minval: Tout, maxval: Tout -> output: Tout; " SEEDS "Tout: {int32, int64}; " INDEX,
    "Uniform whole numbers from `minval` up to `maxval`, without `maxval`.",
    RHEOS_OP_STATEFUL,
    random_shape,
    rheos__no_gradient,
    prepare_RandomUniformInt,
};

const rheos__op_def rheos__op_RandomStandardNormal = {
    "RandomStandardNormal",
    "shape: T -> output: dtype; " SEEDS FLOATS INDEX,
    "Normal numbers of mean 0 and standard deviation 1.",
    RHEOS_OP_STATEFUL,
    random_shape,
    rheos__no_gradient,
    prepare_RandomStandardNormal,
};

const rheos__op_def rheos__op_TruncatedNormal = {
    "TruncatedNormal",
    "shape: T -> output: dtype; " SEEDS FLOATS INDEX,
    "Normal numbers, drawn again where they are further than 2 from 0.",
    RHEOS_OP_STATEFUL,
    random_shape,
    rheos__no_gradient,
    prepare_TruncatedNormal,
};

// ---- Multinomial

static double logit_at(const rheos_tensor *logits, int64_t i) {
  switch (logits->dtype) {
    case RHEOS_FLOAT: return (double)((const float *)logits->data)[i];
    case RHEOS_DOUBLE: return ((const double *)logits->data)[i];
    case RHEOS_HALF: return (double)rheos__half_to_float(((const uint16_t *)logits->data)[i]);
    case RHEOS_BFLOAT16:
      return (double)rheos__bfloat16_to_float(((const uint16_t *)logits->data)[i]);
    default: return (double)rheos__tensor_int_at(logits, i);
  }
}

// Running sums of the (not scaled) probabilities; infinite and NaN logits have none.
static double accumulate(const rheos_tensor *logits, int64_t row, int64_t classes, double *sums) {
  double largest = -INFINITY, total = 0;
  for (int64_t j = 0; j < classes; j++) {
    const double logit = logit_at(logits, row * classes + j);
    if (isfinite(logit) && logit > largest) largest = logit;
  }
  for (int64_t j = 0; j < classes; j++) {
    const double logit = logit_at(logits, row * classes + j);
    if (isfinite(logit)) total += exp(logit - largest);
    sums[j] = total;
  }
  return total;
}

// The first place whose sum is above `wanted`; `n` if there is none.
static int64_t first_above(const double *sums, int64_t n, double wanted) {
  int64_t low = 0, high = n;
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

static void sample_row(rheos__philox_singles *singles, const double *sums, int64_t classes,
                       double total, int64_t samples, int64_t row, rheos_tensor *out) {
  for (int64_t j = 0; j < samples; j++) {
    const uint32_t x0 = rheos__philox_next(singles), x1 = rheos__philox_next(singles);
    const int64_t found = first_above(sums, classes, wide_fraction(x0, x1) * total);
    if (out->dtype == RHEOS_INT64) {
      ((int64_t *)out->data)[row * samples + j] = found;
    } else {
      ((int32_t *)out->data)[row * samples + j] = (int32_t)found;
    }
  }
}

static rheos_status *check_multinomial(const rheos_tensor *logits, const rheos_tensor *samples) {
  rheos__shape_text text;
  if (logits->shape.rank != 2) {
    return RHEOS_INVALID("logits should be a matrix, got shape %s",
                         rheos__shape_text_of(&logits->shape, &text));
  }
  if (samples->shape.rank != 0) {
    return RHEOS_INVALID("num_samples should be a scalar, got shape %s",
                         rheos__shape_text_of(&samples->shape, &text));
  }
  const int64_t count = rheos__tensor_int_at(samples, 0);
  if (count < 0) {
    return RHEOS_INVALID("num_samples should be nonnegative, got %lld", (long long)count);
  }
  if (logits->shape.dims[0] > 0 && logits->shape.dims[1] == 0) {
    return RHEOS_INVALID("num_classes should be positive, got 0");
  }
  return NULL;
}

static rheos_status *compute_multinomial(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const random_state *r = state;
  (void)step;
  RHEOS_TRY(check_multinomial(inputs[0], inputs[1]));
  const int64_t batch = inputs[0]->shape.dims[0], classes = inputs[0]->shape.dims[1];
  const int64_t samples = rheos__tensor_int_at(inputs[1], 0);
  RHEOS_TRY(rheos_tensor_new(r->dtype, RHEOS_SHAPE(batch, samples), &outputs[0]));
  if (outputs[0]->num_elements == 0) return NULL;
  double *sums = rheos__alloc_array((size_t)classes, sizeof *sums);
  if (sums == NULL) return rheos__out_of_memory();
  // Two numbers of 32 bits a sample; TensorFlow reserves room for 256 times as many.
  const uint64_t rounded = (uint64_t)(samples + 3) / 4 * 4;
  rheos__philox_singles singles =
      rheos__philox_singles_of(reserve(r->generator, (uint64_t)batch * rounded * 2 * 256));
  for (int64_t row = 0; row < batch; row++) {
    const double total = accumulate(inputs[0], row, classes, sums);
    sample_row(&singles, sums, classes, total, samples, row, outputs[0]);
  }
  rheos__free(sums);
  return NULL;
}

static rheos_status *multinomial_shape(rheos__infer *c) {
  rheos_shape logits, scalar;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &logits));
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  const rheos_tensor *samples = rheos__infer_value(c, 1);
  const int64_t count = samples != NULL ? rheos__tensor_int_at(samples, 0) : -1;
  if (samples != NULL && count < 0) {
    return RHEOS_INVALID("num_samples should be nonnegative, got %lld", (long long)count);
  }
  c->output_shapes[0] = RHEOS_SHAPE(logits.dims[0], count);
  return NULL;
}

static rheos_status *prepare_Multinomial(rheos__prepare *p) {
  return prepare(p, -1, p->output_dtypes[0], compute_multinomial);
}

const rheos__op_def rheos__op_Multinomial = {
    "Multinomial",
    "logits: T, num_samples: int32 -> output: output_dtype; " SEEDS
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}; "
    "output_dtype: {int32, int64} = int64",
    "`num_samples` classes for each row of `logits`, which are logarithms of probabilities.",
    RHEOS_OP_STATEFUL,
    multinomial_shape,
    rheos__no_gradient,
    prepare_Multinomial,
};

// ---- RandomShuffle

static void shuffle(rheos__philox philox, int64_t *order, int64_t n) {
  rheos__philox_singles singles = rheos__philox_singles_of(philox);
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t i = 0; i < n - 1; i++) {
    const int64_t other = i + rheos__philox_next(&singles) % (uint32_t)(n - i);
    const int64_t kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

static rheos_status *copy_rows(const rheos_tensor *in, const int64_t *order, rheos_tensor *out) {
  const int64_t rows = in->shape.dims[0], row_elements = in->num_elements / rows;
  const int64_t row_bytes = row_elements * (int64_t)rheos_dtype_size(in->dtype);
  for (int64_t i = 0; i < rows; i++) {
    RHEOS_TRY(rheos__copy_elements(in->dtype, (char *)out->data + i * row_bytes,
                                   (const char *)in->data + order[i] * row_bytes, row_elements));
  }
  return NULL;
}

static rheos_status *compute_shuffle(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  const random_state *r = state;
  const rheos_tensor *in = inputs[0];
  (void)step;
  if (in->num_elements <= 1 || in->shape.dims[0] <= 1) {
    return rheos_tensor_copy(in, &outputs[0]);
  }
  const int64_t rows = in->shape.dims[0];
  RHEOS_TRY(rheos_tensor_new(r->dtype, in->shape, &outputs[0]));
  int64_t *order = rheos__alloc_array((size_t)rows, sizeof *order);
  if (order == NULL) return rheos__out_of_memory();
  shuffle(reserve(r->generator, (uint64_t)(rows - 1 + 3) / 4), order, rows);
  rheos_status *status = copy_rows(in, order, outputs[0]);
  rheos__free(order);
  return status;
}

static rheos_status *prepare_RandomShuffle(rheos__prepare *p) {
  return prepare(p, -1, p->output_dtypes[0], compute_shuffle);
}

const rheos__op_def rheos__op_RandomShuffle = {
    "RandomShuffle",
    "value: T -> output: T; " SEEDS "T: type",
    "The rows of `value` in random order.",
    RHEOS_OP_STATEFUL,
    rheos__shape_unchanged,
    NULL,
    prepare_RandomShuffle,
};
