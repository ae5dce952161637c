// Local response normalization: every element over a power of the sum of squares of its neighbours
// along the channels.
//   y[c] = x[c] * norm[c] ^ -beta,  norm[c] = bias + alpha * sum of x[k]^2 for |k - c| <= radius
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/vector_math.h"

typedef struct lrn {
  int64_t positions, channels, unit_positions;
  int64_t radius;
  double bias, alpha, beta;
  rheos_dtype dtype;
} lrn;

static int64_t reach_of(const lrn *s) {
  return s->radius < s->channels - 1 ? s->radius : s->channels - 1;
}

// sums[c] = terms[k] for |k - c| <= radius, added up in order.
RHEOS__WIDEST static void sum_neighbours(const double *terms, int64_t n, int64_t reach,
                                         double *sums) {
  for (int64_t c = 0; c < n; c++) sums[c] = 0;
  for (int64_t d = -reach; d <= reach; d++) {
    const int64_t first = d < 0 ? -d : 0, last = d > 0 ? n - d : n;
    for (int64_t c = first; c < last; c++) sums[c] += terms[c + d];
  }
}

// norm[c], and its power.
RHEOS__WIDEST static void powers_of(const lrn *s, double *norm, double *power) {
  const float exponent = (float)-s->beta;
  for (int64_t c = 0; c < s->channels; c++) {
    norm[c] = s->bias + s->alpha * norm[c];
    power[c] = (double)rheos__powf((float)norm[c], exponent);
  }
}

// What both directions need, for one position; arrays of `channels` each.
typedef struct around {
  double *x, *norm, *power, *terms;
} around;

static around around_of(const lrn *s, double *scratch) {
  const int64_t n = s->channels;
  return (around){scratch, scratch + n, scratch + 2 * n, scratch + 3 * n};
}

static void normalize(const lrn *s, const around *a) {
  for (int64_t c = 0; c < s->channels; c++) a->terms[c] = a->x[c] * a->x[c];
  sum_neighbours(a->terms, s->channels, reach_of(s), a->norm);
  powers_of(s, a->norm, a->power);
}

enum { SCRATCH_ARRAYS = 4 };

#define KERNELS(S, unused)                                                                        \
  static void forward_##S(const lrn *s, const void *const *inputs, void *out, double *scratch,    \
                          int64_t at) {                                                           \
    const rheos__stored_##S *xs = (const rheos__stored_##S *)inputs[0] + at;                      \
    rheos__stored_##S *ys = (rheos__stored_##S *)out + at;                                        \
    const around a = around_of(s, scratch);                                                       \
    for (int64_t c = 0; c < s->channels; c++) a.x[c] = (double)RHEOS__LOAD_##S(xs[c]);            \
    normalize(s, &a);                                                                             \
    for (int64_t c = 0; c < s->channels; c++) ys[c] = RHEOS__STORE_##S(a.x[c] * a.power[c]);      \
  }                                                                                               \
  /* dx[k] = dy[k] norm[k]^-beta - 2 alpha beta x[k] sum of dy[c] y[c] / norm[c], |c - k| <= r */ \
  static void backward_##S(const lrn *s, const void *const *inputs, void *out, double *scratch,   \
                           int64_t at) {                                                          \
    const rheos__stored_##S *dys = (const rheos__stored_##S *)inputs[0] + at;                     \
    const rheos__stored_##S *xs = (const rheos__stored_##S *)inputs[1] + at;                      \
    const rheos__stored_##S *ys = (const rheos__stored_##S *)inputs[2] + at;                      \
    rheos__stored_##S *dxs = (rheos__stored_##S *)out + at;                                       \
    const around a = around_of(s, scratch);                                                       \
    const double factor = -2 * s->alpha * s->beta;                                                \
    for (int64_t c = 0; c < s->channels; c++) a.x[c] = (double)RHEOS__LOAD_##S(xs[c]);            \
    normalize(s, &a);                                                                             \
    for (int64_t c = 0; c < s->channels; c++) {                                                   \
      const double dy = (double)RHEOS__LOAD_##S(dys[c]), y = (double)RHEOS__LOAD_##S(ys[c]);      \
      a.terms[c] = factor * dy * y / a.norm[c];                                                   \
    }                                                                                             \
    sum_neighbours(a.terms, s->channels, reach_of(s), a.norm);                                    \
    for (int64_t c = 0; c < s->channels; c++) {                                                   \
      const double dy = (double)RHEOS__LOAD_##S(dys[c]);                                          \
      dxs[c] = RHEOS__STORE_##S(a.x[c] * a.norm[c] + dy * a.power[c]);                            \
    }                                                                                             \
  }
#define DTYPES(M, ...) M(float, __VA_ARGS__) M(half, __VA_ARGS__) M(bfloat16, __VA_ARGS__)
DTYPES(KERNELS, )

#define RUN(name)                                                                          \
  static rheos_status *run_##name(const void *state, const void *const *inputs,            \
                                  void *const *outputs, void *scratch, int64_t first_unit, \
                                  int64_t last_unit) {                                     \
    const lrn *s = state;                                                                  \
    int64_t end = last_unit * s->unit_positions;                                           \
    if (end > s->positions) end = s->positions;                                            \
    for (int64_t i = first_unit * s->unit_positions; i < end; i++) {                       \
      const int64_t at = i * s->channels;                                                  \
      if (s->dtype == RHEOS_FLOAT) name##_float(s, inputs, outputs[0], scratch, at);       \
      if (s->dtype == RHEOS_HALF) name##_half(s, inputs, outputs[0], scratch, at);         \
      if (s->dtype == RHEOS_BFLOAT16) name##_bfloat16(s, inputs, outputs[0], scratch, at); \
    }                                                                                      \
    return NULL;                                                                           \
  }
RUN(forward)
RUN(backward)

static rheos_status *prepare_lrn(rheos__prepare *p, rheos__run_fn run) {
  lrn *s = RHEOS_NEW_STATE(p, lrn);
  if (s == NULL) return rheos__out_of_memory();
  s->radius = rheos__attr_int(p->attrs, "depth_radius");
  if (s->radius < 0 || s->radius > INT32_MAX) {
    return RHEOS_INVALID("depth_radius = %" PRId64 " larger than int max", s->radius);
  }
  const int64_t elements = rheos_shape_num_elements(&p->output_shapes[0]);
  s->channels = p->output_shapes[0].dims[3];
  s->positions = elements == 0 ? 0 : elements / s->channels;
  s->unit_positions = s->channels < 2048 && s->channels > 0 ? 2048 / s->channels : 1;
  s->bias = (double)rheos__attr_float(p->attrs, "bias");
  s->alpha = (double)rheos__attr_float(p->attrs, "alpha");
  s->beta = (double)rheos__attr_float(p->attrs, "beta");
  s->dtype = p->output_dtypes[0];
  p->num_units = (s->positions + s->unit_positions - 1) / s->unit_positions;
  if (!rheos__mul_size((size_t)s->channels, SCRATCH_ARRAYS * sizeof(double), &p->scratch_bytes)) {
    return rheos__out_of_memory();
  }
  const int64_t window = 2 * s->radius + 1 < s->channels ? 2 * s->radius + 1 : s->channels;
  p->flops = rheos__flops((double)elements * (4.0 * window + 60));
  p->run = run;
  return NULL;
}

static rheos_status *prepare_LRN(rheos__prepare *p) { return prepare_lrn(p, run_forward); }

static rheos_status *prepare_LRNGrad(rheos__prepare *p) {
  if (!rheos_shape_equal(&p->input_shapes[0], &p->input_shapes[1]) ||
      !rheos_shape_equal(&p->input_shapes[0], &p->input_shapes[2])) {
    return RHEOS_INVALID("input_grads, input_image, and out_image should have the same shape");
  }
  return prepare_lrn(p, run_backward);
}

static rheos_status *lrn_shape(rheos__infer *c) {
  for (int32_t i = c->num_inputs - 1; i >= 0; i--) {
    RHEOS_TRY(rheos__infer_rank(c, i, 4, &c->output_shapes[0]));
  }
  for (int32_t i = 1; i < c->num_inputs; i++) {
    const rheos_shape *shape = &c->input_shapes[i];
    if (!rheos_shape_compatible(&c->output_shapes[0], shape)) {
      return RHEOS_INVALID("input_grads, input_image, and out_image should have the same shape");
    }
    for (int32_t d = 0; d < shape->rank; d++) {
      if (c->output_shapes[0].dims[d] < 0) c->output_shapes[0].dims[d] = shape->dims[d];
    }
  }
  return NULL;
}

static void grad_LRN(rheos__grad *g) {
  static const char *const names[] = {"depth_radius", "bias", "alpha", "beta"};
  rheos_attr attrs[4];
  for (int i = 0; i < 4; i++)
    attrs[i] = (rheos_attr){names[i], *rheos__attrs_find(g->attrs, names[i])};
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), g->inputs[0], g->outputs[0]};
  rheos__grad_set(
      g, 0, rheos_operation_output(rheos__op_n(g->scope, "LRNGrad", NULL, inputs, 3, attrs, 4), 0));
}

#define ATTRS                                                                              \
  "; depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; T: " \
  "{half, bfloat16, float} = float"

const rheos__op_def rheos__op_LRN = {
    .name = "LRN",
    .signature = "input: T -> output: T" ATTRS,
    .doc =
        "The images `input` over (bias + alpha * the sum of squares of neighbouring "
        "channels)^beta.",
    .shape = lrn_shape,
    .gradient = grad_LRN,
    .prepare = prepare_LRN,
};

const rheos__op_def rheos__op_LRNGrad = {
    .name = "LRNGrad",
    .signature = "input_grads: T, input_image: T, output_image: T -> output: T" ATTRS,
    .doc = "The gradient of LRN.",
    .shape = lrn_shape,
    .prepare = prepare_LRNGrad,
};
