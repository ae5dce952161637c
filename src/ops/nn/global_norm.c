// BatchNormWithGlobalNormalization and its gradient, of graphs before version 9:
//   (t - m) / sqrt(v + epsilon) * gamma + beta    for each channel, the last dimension.
#include <math.h>

#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

enum { T, M, V };                       // inputs of both
enum { BETA = 3, GAMMA = 4 };           // of the op
enum { GRAD_GAMMA = 3, BACKPROP = 4 };  // of the gradient
enum { DX, DM, DV, DB, DG };            // outputs of the gradient

// The images [batch, height, width, channels], and the vectors' one dimension put into it.
static rheos_status *merged_shapes(const rheos__infer *c, int32_t first_vector, int32_t last_vector,
                                   rheos_shape *out_images) {
  RHEOS_TRY(rheos__infer_rank(c, T, 4, out_images));
  for (int32_t i = first_vector; i <= last_vector; i++) {
    rheos_shape vector;
    int64_t *channels = &out_images->dims[3];
    RHEOS_TRY(rheos__infer_rank(c, i, 1, &vector));
    if (*channels >= 0 && vector.dims[0] >= 0 && *channels != vector.dims[0]) {
      return RHEOS_INVALID("input %d has %lld elements for %lld channels", i,
                           (long long)vector.dims[0], (long long)*channels);
    }
    if (*channels < 0) *channels = vector.dims[0];
  }
  return NULL;
}

static rheos_status *shape_norm(rheos__infer *c) {
  return merged_shapes(c, M, GAMMA, &c->output_shapes[0]);
}

static rheos_status *shape_norm_grad(rheos__infer *c) {
  rheos_shape images, arriving;
  RHEOS_TRY(merged_shapes(c, M, GRAD_GAMMA, &images));
  RHEOS_TRY(rheos__infer_rank(c, BACKPROP, 4, &arriving));
  if (!rheos_shape_compatible(&images, &arriving)) {
    rheos__shape_text a, b;
    return RHEOS_INVALID("t has the shape %s and backprop %s", rheos__shape_text_of(&images, &a),
                         rheos__shape_text_of(&arriving, &b));
  }
  RHEOS_TRY(rheos__shape_merge(&images, &arriving, &c->output_shapes[DX]));
  const int64_t channels = c->output_shapes[DX].dims[3];
  for (int32_t i = DM; i <= DG; i++) c->output_shapes[i] = RHEOS_SHAPE(channels);
  return NULL;
}

// ---- Kernels

typedef struct norm norm;
struct norm {
  int64_t pixels, channels;
  double epsilon;
  bool scaled;  // by gamma
  void (*forward)(const norm *s, const void *const *inputs, void *out, int64_t first, int64_t last);
  void (*backward)(const norm *s, const void *const *inputs, void *const *outputs, int64_t channel);
};

#define IN(S, i, at) ((double)RHEOS__LOAD_##S(((const rheos__stored_##S *)inputs[i])[at]))
#define OUT(S, i, at, value) ((rheos__stored_##S *)outputs[i])[at] = RHEOS__STORE_##S(value)

#define KERNELS(S, unused)                                                                     \
  static void forward_##S(const norm *s, const void *const *inputs, void *out, int64_t first,  \
                          int64_t last) {                                                      \
    void *const outputs[] = {out};                                                             \
    for (int64_t c = 0; c < s->channels; c++) {                                                \
      const double scale = (s->scaled ? IN(S, GAMMA, c) : 1) / sqrt(IN(S, V, c) + s->epsilon); \
      const double mean = IN(S, M, c), offset = IN(S, BETA, c);                                \
      for (int64_t i = first * s->channels + c; i < last * s->channels; i += s->channels) {    \
        OUT(S, 0, i, (IN(S, T, i) - mean) * scale + offset);                                   \
      }                                                                                        \
    }                                                                                          \
  }                                                                                            \
  static void backward_##S(const norm *s, const void *const *inputs, void *const *outputs,     \
                           int64_t c) {                                                        \
    const double variance = IN(S, V, c) + s->epsilon, root = 1 / sqrt(variance);               \
    const double gamma = s->scaled ? IN(S, GRAD_GAMMA, c) : 1, mean = IN(S, M, c);             \
    double sum = 0, product = 0;                                                               \
    for (int64_t i = c; i < s->pixels * s->channels; i += s->channels) {                       \
      const double dy = IN(S, BACKPROP, i);                                                    \
      sum += dy;                                                                               \
      product += dy * (IN(S, T, i) - mean);                                                    \
      OUT(S, DX, i, dy *gamma *root);                                                          \
    }                                                                                          \
    OUT(S, DM, c, -sum *gamma *root);                                                          \
    OUT(S, DV, c, -0.5 * product * gamma * root / variance);                                   \
    OUT(S, DB, c, sum);                                                                        \
    OUT(S, DG, c, s->scaled ? product *root : 0);                                              \
  }
RHEOS__FLOATS(KERNELS, )

#define ENTRY(S, direction) [RHEOS__DTYPE_##S] = direction##_##S,
static void (*const forward_fns[RHEOS__NUM_DTYPES])(const norm *, const void *const *, void *,
                                                    int64_t,
                                                    int64_t) = {RHEOS__FLOATS(ENTRY, forward)};
static void (*const backward_fns[RHEOS__NUM_DTYPES])(const norm *, const void *const *,
                                                     void *const *,
                                                     int64_t) = {RHEOS__FLOATS(ENTRY, backward)};

enum { UNIT = 256 };  // pixels

static rheos_status *run_forward(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const norm *s = state;
  const int64_t last = last_unit * UNIT < s->pixels ? last_unit * UNIT : s->pixels;
  s->forward(s, inputs, outputs[0], first_unit * UNIT, last);
  return NULL;
}

// A unit is a channel.
static rheos_status *run_backward(const void *state, const void *const *inputs,
                                  void *const *outputs, void *scratch, int64_t first_unit,
                                  int64_t last_unit) {
  (void)scratch;
  const norm *s = state;
  if (last_unit > s->channels) last_unit = s->channels;
  for (int64_t c = first_unit; c < last_unit; c++) s->backward(s, inputs, outputs, c);
  return NULL;
}

static rheos_status *prepare_norm(rheos__prepare *p) {
  norm *s = RHEOS_NEW_STATE(p, norm);
  if (s == NULL) return rheos__out_of_memory();
  const rheos_shape *images = &p->input_shapes[T];
  const bool is_gradient = p->num_outputs > 1;
  s->channels = images->dims[3];
  s->pixels = rheos_shape_num_elements(images) == 0 ? 0 : rheos__shape_product(images, 0, 3);
  s->epsilon = (double)rheos__attr_float(p->attrs, "variance_epsilon");
  s->scaled = rheos__attr_bool(p->attrs, "scale_after_normalization");
  s->forward = forward_fns[p->input_dtypes[0]];
  s->backward = backward_fns[p->input_dtypes[0]];
  if (s->forward == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  p->num_units = is_gradient ? s->channels : (s->pixels + UNIT - 1) / UNIT;
  p->run = is_gradient ? run_backward : run_forward;
  p->flops = rheos__flops((double)s->pixels * (double)s->channels * 8);
  return NULL;
}

// ---- Gradient

static void gradient_norm(rheos__grad *g) {
  static const char *const names[] = {"variance_epsilon", "scale_after_normalization", NULL};
  rheos_attr attrs[2];
  size_t count = 0;
  for (; names[count] != NULL; count++) {
    attrs[count] = (rheos_attr){names[count], *rheos__attrs_find(g->attrs, names[count])};
  }
  const rheos_output inputs[] = {g->inputs[T], g->inputs[M], g->inputs[V], g->inputs[GAMMA],
                                 rheos__grad_dense(g, 0)};
  const rheos_operation back =
      rheos__op_n(g->scope, "BatchNormWithGlobalNormalizationGrad", NULL, inputs, 5, attrs, count);
  for (int32_t i = 0; i < g->num_inputs; i++) {
    rheos__grad_set(g, i, rheos_operation_output(back, i));
  }
}

#define ATTRS "T: number; variance_epsilon: float; scale_after_normalization: bool"

const rheos__op_def rheos__op_BatchNormWithGlobalNormalization = {
    .name = "BatchNormWithGlobalNormalization",
    .signature = "t: T, m: T, v: T, beta: T, gamma: T -> result: T; " ATTRS,
    .doc = "(`t` - `m`) / sqrt(`v` + epsilon) * `gamma` + `beta` for each channel of images.",
    .shape = shape_norm,
    .gradient = gradient_norm,
    .prepare = prepare_norm,
};

const rheos__op_def rheos__op_BatchNormWithGlobalNormalizationGrad = {
    .name = "BatchNormWithGlobalNormalizationGrad",
    .signature =
        "t: T, m: T, v: T, gamma: T, backprop: T -> dx: T, dm: T, dv: T, db: T, dg: T; " ATTRS,
    .doc = "The gradients of BatchNormWithGlobalNormalization for its inputs.",
    .shape = shape_norm_grad,
    .prepare = prepare_norm,
};
