// Pooling by a ratio that is no whole number (Graham, 2014): regions of k or k + 1 rows or columns,
// in a random order that is bit for bit TensorFlow's for the same seeds; its gradients.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/random_fill.h"

// ---- Regions: [0, .., size], where each one starts

// ceil(alpha (i + u)) for one random u, such that every region has k or k + 1 rows.
static void pseudo_random(int64_t in, int64_t out, rheos__philox_singles *numbers,
                          int64_t *starts) {
  const double alpha = (double)in / (double)out;
  const int64_t k = in / out;
  const double most_left = (double)(k + 2) / alpha - 1;
  const double most_right = (double)(in + 1 - k) / alpha - (double)(out - 1);
  const double u = rheos__philox_next_double(numbers) * fmin(most_left, most_right);
  for (int64_t i = 1; i < out; i++) starts[i] = (int64_t)ceil(alpha * ((double)i + u)) - 1;
  starts[0] = 0;
  starts[out] = in;
}

// The sizes shuffled.
static void shuffled(int64_t in, int64_t out, rheos__philox_singles *numbers, int64_t *starts) {
  int64_t *sizes = starts + 1;
  for (int64_t i = 0; i < out; i++) sizes[i] = in / out + (i < in % out);
  for (int64_t i = 0; i < out - 1; i++) {
    const int64_t other = i + rheos__philox_next(numbers) % (uint32_t)(out - i);
    const int64_t kept = sizes[i];
    sizes[i] = sizes[other];
    sizes[other] = kept;
  }
  starts[0] = 0;
  for (int64_t i = 1; i <= out; i++) starts[i] += starts[i - 1];
}

// Takes its numbers from `philox`, which goes on.
static void make_regions(bool pseudo, int64_t in, int64_t out, rheos__philox *philox,
                         int64_t *starts) {
  rheos__philox_singles numbers = rheos__philox_singles_of(*philox);
  (pseudo ? pseudo_random : shuffled)(in, out, &numbers, starts);
  rheos__philox_skip(philox, pseudo ? 1 : ((uint64_t)out + 3) / 4);
}

// ---- Pooling

typedef struct pool {
  int64_t batch, in[2], out[2], channels;  // rows and columns
  const int64_t *starts[2];
  bool overlapping, average;
} pool;

// The region `at` of rows or columns is [first, last).
static void region(const pool *p, int d, int64_t at, int64_t *first, int64_t *last) {
  const int64_t end = p->starts[d][at + 1] + p->overlapping;
  *first = p->starts[d][at];
  *last = end < p->in[d] ? end : p->in[d];
}

#define FOR_REGION(p, n, oy, ox, pixel)  \
  int64_t top, bottom, left, right;      \
  region(p, 0, oy, &top, &bottom);       \
  region(p, 1, ox, &left, &right);       \
  for (int64_t y = top; y < bottom; y++) \
    for (int64_t x = left, pixel = ((n) * p->in[0] + y) * p->in[1] + x; x < right; x++, pixel++)

#define LOWEST_float -FLT_MAX
#define LOWEST_double -DBL_MAX
#define LOWEST_int32 INT32_MIN
#define LOWEST_int64 INT64_MIN
#define DTYPES(M, ...) RHEOS__REALS(M, __VA_ARGS__) M(int32, __VA_ARGS__) M(int64, __VA_ARGS__)

typedef void (*row_fn)(const pool *p, const void *in, void *out, int64_t row);
typedef void (*spread_fn)(const pool *p, const void *in, const void *grad, void *out, double *sums,
                          int64_t n);

#define KERNELS(S, unused)                                                                         \
  static void row_##S(const pool *p, const void *in, void *out, int64_t row) {                     \
    typedef rheos__wrapping_##S wrapping;                                                          \
    const rheos__stored_##S *from = in;                                                            \
    rheos__stored_##S *to = (rheos__stored_##S *)out + row * p->out[1] * p->channels;              \
    for (int64_t ox = 0; ox < p->out[1]; ox++, to += p->channels) {                                \
      int64_t count = 0;                                                                           \
      for (int64_t k = 0; k < p->channels; k++) {                                                  \
        to[k] = (rheos__stored_##S)(p->average ? 0 : LOWEST_##S);                                  \
      }                                                                                            \
      FOR_REGION(p, row / p->out[0], row % p->out[0], ox, pixel) {                                 \
        const rheos__stored_##S *x_at = from + pixel * p->channels;                                \
        count++;                                                                                   \
        if (p->average) {                                                                          \
          for (int64_t k = 0; k < p->channels; k++) {                                              \
            to[k] = (rheos__stored_##S)((wrapping)to[k] + (wrapping)x_at[k]);                      \
          }                                                                                        \
        } else {                                                                                   \
          for (int64_t k = 0; k < p->channels; k++) to[k] = to[k] < x_at[k] ? x_at[k] : to[k];     \
        }                                                                                          \
      }                                                                                            \
      if (!p->average || count == 0) continue;                                                     \
      for (int64_t k = 0; k < p->channels; k++) to[k] /= (rheos__stored_##S)count;                 \
    }                                                                                              \
  }                                                                                                \
  /* To the first of the largest of each region. */                                                \
  static void to_largest_##S(const pool *p, const void *in, const void *grad, void *out,           \
                             double *sums, int64_t n) {                                            \
    typedef rheos__wrapping_##S wrapping;                                                          \
    const rheos__stored_##S *from = in, *dy = grad;                                                \
    rheos__stored_##S *dx = out;                                                                   \
    (void)sums;                                                                                    \
    for (int64_t oy = 0; oy < p->out[0]; oy++) {                                                   \
      for (int64_t ox = 0; ox < p->out[1]; ox++) {                                                 \
        const int64_t at = ((n * p->out[0] + oy) * p->out[1] + ox) * p->channels;                  \
        for (int64_t k = 0; k < p->channels; k++) {                                                \
          int64_t best = -1;                                                                       \
          FOR_REGION(p, n, oy, ox, pixel) {                                                        \
            const int64_t i = pixel * p->channels + k;                                             \
            if (best < 0 || from[best] < from[i]) best = i;                                        \
          }                                                                                        \
          if (best < 0) continue;                                                                  \
          dx[best] = (rheos__stored_##S)((wrapping)dx[best] + (wrapping)dy[at + k]);               \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  /* Shared evenly by each region. */                                                              \
  static void to_all_##S(const pool *p, const void *in, const void *grad, void *out, double *sums, \
                         int64_t n) {                                                              \
    const int64_t image = p->in[0] * p->in[1] * p->channels;                                       \
    const rheos__stored_##S *dy = grad;                                                            \
    rheos__stored_##S *dx = (rheos__stored_##S *)out + n * image;                                  \
    (void)in;                                                                                      \
    memset(sums, 0, (size_t)image * sizeof *sums);                                                 \
    for (int64_t oy = 0; oy < p->out[0]; oy++) {                                                   \
      for (int64_t ox = 0; ox < p->out[1]; ox++) {                                                 \
        const int64_t at = ((n * p->out[0] + oy) * p->out[1] + ox) * p->channels;                  \
        FOR_REGION(p, 0, oy, ox, pixel) {                                                          \
          const double count = (double)((bottom - top) * (right - left));                          \
          for (int64_t k = 0; k < p->channels; k++) {                                              \
            sums[pixel * p->channels + k] += (double)dy[at + k] / count;                           \
          }                                                                                        \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
    for (int64_t i = 0; i < image; i++) dx[i] = FROM_DOUBLE_##S(sums[i]);                          \
  }
// Sums of shares of integers pass the largest integer when regions overlap.
#define FROM_DOUBLE_float(v) ((float)(v))
#define FROM_DOUBLE_double(v) (v)
#define FROM_DOUBLE_int32(v) ((v) >= 0x1p31 ? INT32_MAX : (v) <= -0x1p31 ? INT32_MIN : (int32_t)(v))
#define FROM_DOUBLE_int64(v) ((v) >= 0x1p63 ? INT64_MAX : (v) <= -0x1p63 ? INT64_MIN : (int64_t)(v))
DTYPES(KERNELS, )

#define ENTRY(S, name) [RHEOS__DTYPE_##S] = name##_##S,
static const row_fn row_fns[RHEOS__NUM_DTYPES] = {DTYPES(ENTRY, row)};
static const spread_fn spread_fns[2][RHEOS__NUM_DTYPES] = {{DTYPES(ENTRY, to_largest)},
                                                           {DTYPES(ENTRY, to_all)}};

// ---- The ops that pool

typedef struct settings {
  bool average, overlapping, pseudo;
  float ratios[4];
  uint64_t seed, seed2;
  rheos__generator *generator;  // without seeds: other regions in each run
} settings;

static rheos_status *read_ratios(const rheos__attrs *attrs, float ratios[4]) {
  const rheos_attr_value *list = rheos__attrs_find(attrs, "pooling_ratio");
  if (list->count != 4) return RHEOS_INVALID("pooling_ratio field must specify 4 dimensions");
  for (int i = 0; i < 4; i++) {
    ratios[i] = list->floats[i];
    if (!(ratios[i] >= 1) || ratios[i] > 0x1p31f) {
      return RHEOS_INVALID("pooling_ratio cannot be smaller than 1, got: %g", (double)ratios[i]);
    }
  }
  if (ratios[0] == 1 && ratios[3] == 1) return NULL;
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "Fractional pooling is not yet supported on the batch "
                          "nor channel dimension.");
}

static rheos_status *pooled_shape(const float ratios[4], const rheos_shape *in, rheos_shape *out) {
  *out = *in;
  for (int d = 1; d < 3; d++) {
    if (in->dims[d] < 0) continue;
    if ((float)in->dims[d] < ratios[d] || in->dims[d] > INT32_MAX) {
      return RHEOS_INVALID(
          "Pooling ratio is higher than input dimension size for dimension %d. "
          "Input dim size: %lld pooling ratio: %g",
          d, (long long)in->dims[d], (double)ratios[d]);
    }
    out->dims[d] = (int64_t)floorf((float)in->dims[d] / ratios[d]);
  }
  return NULL;
}

static rheos_status *shape_pool(rheos__infer *c) {
  rheos_shape in;
  float ratios[4];
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &in));
  RHEOS_TRY(read_ratios(c->attrs, ratios));
  rheos_shape *out = &c->output_shapes[0];
  RHEOS_TRY(pooled_shape(ratios, &in, out));
  for (int d = 1; d < 3; d++) {
    c->output_shapes[d] = RHEOS_SHAPE(-1);
    RHEOS_TRY(rheos__dim_add(out->dims[d], 1, &c->output_shapes[d].dims[0]));
  }
  return NULL;
}

typedef struct call {
  pool pool;
  rheos_dtype dtype;
  const void *in, *grad;
  void *out;
} call;

static rheos_status *pool_rows(void *argument, int64_t first, int64_t last) {
  const call *c = argument;
  for (int64_t row = first; row < last; row++) row_fns[c->dtype](&c->pool, c->in, c->out, row);
  return NULL;
}

static rheos_status *compute_pool(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const settings *s = state;
  const rheos_shape *in = &inputs[0]->shape;
  rheos_shape out;
  rheos__philox philox = rheos__philox_of(s->seed, s->seed2);
  RHEOS_TRY(pooled_shape(s->ratios, in, &out));
  if (s->generator != NULL) {
    const uint64_t regions = (uint64_t)(out.dims[1] + out.dims[2]);
    philox = rheos__generator_reserve(s->generator, regions + 2);
  }
  RHEOS_TRY(rheos__tensor_new(inputs[0]->dtype, &out, &outputs[0]));
  call c = {.pool = {.batch = in->dims[0],
                     .channels = in->dims[3],
                     .overlapping = s->overlapping,
                     .average = s->average},
            .dtype = inputs[0]->dtype,
            .in = inputs[0]->data,
            .out = outputs[0]->data};
  for (int d = 0; d < 2; d++) {
    const int64_t size = in->dims[1 + d], regions = out.dims[1 + d];
    RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(regions + 1), &outputs[1 + d]));
    make_regions(s->pseudo, size, regions, &philox, outputs[1 + d]->data);
    c.pool.in[d] = size;
    c.pool.out[d] = regions;
    c.pool.starts[d] = outputs[1 + d]->data;
  }
  if (outputs[0]->num_elements == 0) return NULL;
  return rheos__step_parallel(step, c.pool.batch * c.pool.out[0],
                              rheos__flops((double)inputs[0]->num_elements * 2), pool_rows, &c);
}

static void release_settings(void *state) {
  rheos__generator *generator = ((settings *)state)->generator;
  if (generator != NULL) rheos__generator_unref(generator);
}

typedef struct fractional_family {
  bool average;
} fractional_family;

static const fractional_family of_largest = {.average = false}, of_average = {.average = true};

static bool is_average(const rheos__op_def *op) {
  const fractional_family *family = op->family;
  return family->average;
}

static rheos_status *prepare_pool(rheos__prepare *p) {
  settings *s = RHEOS_NEW_STATE(p, settings);
  if (s == NULL) return rheos__out_of_memory();
  RHEOS_TRY(read_ratios(p->attrs, s->ratios));
  s->average = is_average(p->op);
  s->overlapping = rheos__attr_bool(p->attrs, "overlapping");
  s->pseudo = rheos__attr_bool(p->attrs, "pseudo_random");
  s->seed = (uint64_t)rheos__attr_int(p->attrs, "seed");
  s->seed2 = (uint64_t)rheos__attr_int(p->attrs, "seed2");
  if (!rheos__attr_bool(p->attrs, "deterministic") && (s->seed != 0 || s->seed2 != 0)) {
    return RHEOS_INVALID("Both seed and seed2 should be 0 if deterministic is false.");
  }
  if (s->seed == 0 && s->seed2 == 0) RHEOS_TRY(rheos__generator_of_node(p, &s->generator));
  p->release = release_settings;
  if (row_fns[p->input_dtypes[0]] == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  p->compute = compute_pool;
  return NULL;
}

// ---- Their gradients

static rheos_status *check_regions(const rheos_tensor *starts, int64_t in, int64_t out,
                                   const char *what) {
  const int64_t *at = starts->data;
  if (starts->num_elements != out + 1) {
    return RHEOS_INVALID("%s sequence has %lld elements for %lld regions", what,
                         (long long)starts->num_elements, (long long)out);
  }
  for (int64_t i = 0; i <= out; i++) {
    if (at[i] < 0) {
      return RHEOS_INVALID("%s sequence tensor values must not be negative, got %lld", what,
                           (long long)at[i]);
    }
    if (at[i] > in || (i > 0 && at[i] <= at[i - 1])) {
      return RHEOS_INVALID("%s sequence has %lld at %lld: it must rise up to %lld", what,
                           (long long)at[i], (long long)i, (long long)in);
    }
  }
  return NULL;
}

static rheos_status *spread_images(void *argument, int64_t first, int64_t last) {
  const call *c = argument;
  const pool *p = &c->pool;
  double *sums = NULL;
  if (p->average) {
    sums = rheos__alloc_array((size_t)(p->in[0] * p->in[1] * p->channels), sizeof *sums);
    if (sums == NULL) return rheos__out_of_memory();
  }
  for (int64_t n = first; n < last; n++) {
    spread_fns[p->average][c->dtype](p, c->in, c->grad, c->out, sums, n);
  }
  rheos__free(sums);
  return NULL;
}

static rheos_status *spread(call *c, rheos__step *step, const rheos_shape *image,
                            const rheos_tensor *grad, rheos_tensor *const *starts,
                            rheos_tensor **output) {
  static const char *const names[] = {"Row", "Column"};
  pool *p = &c->pool;
  for (int d = 0; d < 2; d++) {
    p->in[d] = image->dims[1 + d];
    p->out[d] = grad->shape.dims[1 + d];
    p->starts[d] = starts[d]->data;
    RHEOS_TRY(check_regions(starts[d], p->in[d], p->out[d], names[d]));
  }
  p->batch = image->dims[0];
  p->channels = image->dims[3];
  if (grad->shape.dims[0] != p->batch || grad->shape.dims[3] != p->channels) {
    rheos__shape_text a, b;
    return RHEOS_INVALID("out_backprop of shape %s does not fit images of shape %s",
                         rheos__shape_text_of(&grad->shape, &a), rheos__shape_text_of(image, &b));
  }
  RHEOS_TRY(rheos__tensor_new(c->dtype, image, output));
  c->grad = grad->data;
  c->out = (*output)->data;
  if ((*output)->num_elements == 0) return NULL;
  memset(c->out, 0, (size_t)(*output)->num_elements * rheos_dtype_size(c->dtype));
  return rheos__step_parallel(step, p->batch, rheos__flops((double)(*output)->num_elements * 4),
                              spread_images, c);
}

static rheos_status *compute_max_grad(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  const bool *overlapping = state;
  call c = {
      .pool = {.overlapping = *overlapping}, .dtype = inputs[0]->dtype, .in = inputs[0]->data};
  if (!rheos_shape_equal(&inputs[1]->shape, &inputs[2]->shape)) {
    rheos__shape_text a, b;
    return RHEOS_INVALID("orig_output of shape %s and out_backprop of shape %s differ",
                         rheos__shape_text_of(&inputs[1]->shape, &a),
                         rheos__shape_text_of(&inputs[2]->shape, &b));
  }
  return spread(&c, step, &inputs[0]->shape, inputs[2], inputs + 3, &outputs[0]);
}

static rheos_status *compute_avg_grad(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  static const char *const names[] = {"Batch", "Rows", "Columns", "Depth"};
  const bool *overlapping = state;
  call c = {.pool = {.overlapping = *overlapping, .average = true}, .dtype = inputs[1]->dtype};
  rheos_shape image = {.rank = 4};
  if (inputs[0]->num_elements != 4) {
    return RHEOS_INVALID("original input tensor shape must be 1-dimensional and 4 elements");
  }
  for (int d = 0; d < 4; d++) {
    image.dims[d] = rheos__tensor_int_at(inputs[0], d);
    if (image.dims[d] <= 0) {
      return RHEOS_INVALID("%s dimension of input must be positive, got %lld", names[d],
                           (long long)image.dims[d]);
    }
  }
  return spread(&c, step, &image, inputs[1], inputs + 2, &outputs[0]);
}

static rheos_status *prepare_grad(rheos__prepare *p) {
  bool *overlapping = RHEOS_NEW_STATE(p, bool);
  if (overlapping == NULL) return rheos__out_of_memory();
  *overlapping = rheos__attr_bool(p->attrs, "overlapping");
  if (row_fns[p->output_dtypes[0]] == NULL) return rheos__no_kernel(p, p->output_dtypes[0]);
  p->compute = is_average(p->op) ? compute_avg_grad : compute_max_grad;
  return NULL;
}

static rheos_status *check_ranks(const rheos__infer *c, int32_t first_image, int32_t images) {
  rheos_shape ignored;
  for (int32_t i = first_image; i < first_image + images; i++) {
    RHEOS_TRY(rheos__infer_rank(c, i, 4, &ignored));
  }
  for (int32_t i = first_image + images; i < c->num_inputs; i++) {
    RHEOS_TRY(rheos__infer_rank(c, i, 1, &ignored));
  }
  return NULL;
}

static rheos_status *shape_max_grad(rheos__infer *c) {
  RHEOS_TRY(check_ranks(c, 0, 3));
  return rheos__infer_rank(c, 0, 4, &c->output_shapes[0]);
}

static rheos_status *shape_avg_grad(rheos__infer *c) {
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &vector));
  RHEOS_TRY(check_ranks(c, 1, 1));
  RHEOS_TRY(rheos__infer_shape_value(c, 0, &c->output_shapes[0]));
  if (c->output_shapes[0].rank < 0) c->output_shapes[0] = rheos__shape_of_rank(4);
  if (c->output_shapes[0].rank == 4) return NULL;
  return RHEOS_INVALID("original input tensor shape must be 1-dimensional and 4 elements");
}

static void add_grad(rheos__grad *g, const char *type, const rheos_output *inputs, size_t count) {
  const rheos_attr attr = rheos_attr_bool("overlapping", rheos__attr_bool(g->attrs, "overlapping"));
  const rheos_operation node = rheos__op_n(g->scope, type, NULL, inputs, count, &attr, 1);
  if (node.graph != NULL) rheos__grad_set(g, 0, rheos_operation_output(node, 0));
}

static void gradient_max(rheos__grad *g) {
  const rheos_output inputs[] = {g->inputs[0], g->outputs[0], rheos__grad_dense(g, 0),
                                 g->outputs[1], g->outputs[2]};
  add_grad(g, "FractionalMaxPoolGrad", inputs, 5);
}

static void gradient_avg(rheos__grad *g) {
  const rheos_output inputs[] = {rheos__shape_of(g->scope, g->inputs[0], RHEOS_INT64),
                                 rheos__grad_dense(g, 0), g->outputs[1], g->outputs[2]};
  add_grad(g, "FractionalAvgPoolGrad", inputs, 4);
}

#define POOL                                                                                  \
  "value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64; "         \
  "pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = false; " \
  "deterministic: bool = false; seed: int = 0; seed2: int = 0; T: {float, double, int32, int64}"
#define GRAD "; overlapping: bool = false; T: {float, double, int32, int64}"

const rheos__op_def rheos__op_FractionalMaxPool = {
    .name = "FractionalMaxPool",
    .signature = POOL,
    .doc = "The largest of each region of the images `value`, 1/`pooling_ratio` of their size.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = shape_pool,
    .gradient = gradient_max,
    .prepare = prepare_pool,
    .family = &of_largest,
};

const rheos__op_def rheos__op_FractionalAvgPool = {
    .name = "FractionalAvgPool",
    .signature = POOL,
    .doc = "The mean of each region of the images `value`, 1/`pooling_ratio` of their size.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = shape_pool,
    .gradient = gradient_avg,
    .prepare = prepare_pool,
    .family = &of_average,
};

const rheos__op_def rheos__op_FractionalMaxPoolGrad = {
    .name = "FractionalMaxPoolGrad",
    .signature =
        "orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, "
        "col_pooling_sequence: int64 -> output: T" GRAD,
    .doc = "The gradient of FractionalMaxPool for its images.",
    .shape = shape_max_grad,
    .prepare = prepare_grad,
    .family = &of_largest,
};

const rheos__op_def rheos__op_FractionalAvgPoolGrad = {
    .name = "FractionalAvgPoolGrad",
    .signature =
        "orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, "
        "col_pooling_sequence: int64 -> output: T" GRAD,
    .doc = "The gradient of FractionalAvgPool for its images.",
    .shape = shape_avg_grad,
    .prepare = prepare_grad,
    .family = &of_average,
};
