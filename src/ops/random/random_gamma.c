// Gamma and Poisson numbers by rejection, with and without a generator of their own: each number
// has room for 256 blocks of the generator, so that it does not depend on the others. Bit for bit
// TensorFlow's, up to the C library's functions.
#include <math.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/elements.h"
#include "ops/kit/op_util.h"
#include "ops/kit/random_fill.h"
#include "ops/kit/special_math.h"

enum { BLOCKS = 256 };

// Numbers in pairs, of which the second is used first.
typedef struct pairs {
  rheos__philox *philox;
  double uniform[2], normal[2];
  int num_uniform, num_normal;
} pairs;

static double next_uniform(pairs *p) {
  if (p->num_uniform == 0) {
    uint32_t x[4];
    rheos__philox_block(p->philox, x);
    rheos__philox_skip(p->philox, 1);
    for (int i = 0; i < 2; i++) p->uniform[i] = rheos__random_double(x[2 * i], x[2 * i + 1]);
    p->num_uniform = 2;
  }
  return p->uniform[--p->num_uniform];
}

static double next_normal(pairs *p) {
  if (p->num_normal == 0) {
    uint32_t x[4];
    rheos__philox_block(p->philox, x);
    rheos__philox_skip(p->philox, 1);
    rheos__normal_doubles(x, p->normal);
    p->num_normal = 2;
  }
  return p->normal[--p->num_normal];
}

// Marsaglia and Tsang (2000).
static double draw_gamma(double alpha, double largest, pairs *p) {
  (void)largest;
  if (alpha == 1.0) return -log1p(-next_uniform(p));
  if (!(alpha >= 0)) return NAN;
  const bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3);
  const double c = 1.0 / 3 / sqrt(d);
  for (;;) {
    const double x = next_normal(p);
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = next_uniform(p);
    if (u >= 1 - 0.0331 * (x * x) * (x * x) && log(u) >= 0.5 * x * x + d * (1 - v + log(v))) {
      continue;
    }
    const double result = d * v;
    return small ? result * pow(next_uniform(p), 1 / alpha) : result;
  }
}

// Counts events until their waiting times pass one unit (Knuth).
static double count_events(double rate, double largest, pairs *p) {
  const double end = exp(-rate);
  double product = 1, count = 0;
  for (;;) {
    product *= next_uniform(p);
    if (product <= end && count <= largest) return count;
    count += 1;
  }
}

// Transformed rejection (Hormann, 1993). A rate so large that its numbers do not fit would never
// find one: it gives the largest.
static double draw_poisson(double rate, double largest, pairs *p) {
  if (isnan(rate)) return NAN;
  if (rate < 10) return count_events(rate, largest, p);
  if (isinf(rate)) return INFINITY;
  if (rate - 40 * sqrt(rate) > largest) return largest;
  const double log_rate = log(rate);
  const double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (int tries = 0; tries < 100000; tries++) {
    const double u = next_uniform(p) - 0.5, v = next_uniform(p);
    const double from_edge = 0.5 - fabs(u);
    const double k = floor((2 * a / from_edge + b) * u + rate + 0.43);
    if (k > largest) continue;
    if (from_edge >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (from_edge < 0.013 && v > from_edge)) continue;
    const double s = log(v * inverse_alpha / (a / (from_edge * from_edge) + b));
    if (s <= -rate + k * log_rate - rheos__lgamma(k + 1)) return k;
  }
  return largest;
}

typedef double (*draw_fn)(double parameter, double largest, pairs *p);

// ---- Kernels

typedef struct gamma_state {
  rheos__generator *generator;  // NULL: the numbers follow from a seed, or from a key and a counter
  draw_fn draw;
  rheos_dtype dtype;
} gamma_state;

static void release(void *state) { rheos__generator_unref(((gamma_state *)state)->generator); }

static double largest_of(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_HALF: return 65504;
    case RHEOS_FLOAT: return 0x1.fffffep127;
    case RHEOS_DOUBLE: return 0x1.fffffffffffffp1023;
    case RHEOS_INT32: return INT32_MAX;
    default: return 0x1p63;
  }
}

typedef struct job {
  draw_fn draw;
  rheos__philox philox;
  const rheos_tensor *parameters;
  rheos_tensor *out;
  int64_t samples;  // of each parameter
} job;

// Numbers are drawn parameter by parameter, and stand side by side.
static rheos_status *draw_numbers(void *argument, int64_t first, int64_t last) {
  const job *j = argument;
  const int64_t num_parameters = j->parameters->num_elements;
  const double largest = largest_of(j->out->dtype);
  for (int64_t i = first; i < last; i++) {
    const int64_t parameter = i / j->samples, sample = i % j->samples;
    rheos__philox philox = j->philox;
    rheos__philox_skip(&philox, (uint64_t)i * BLOCKS);
    pairs p = {.philox = &philox};
    const double drawn = j->draw(rheos__real_at(j->parameters, parameter), largest, &p);
    rheos__set_real_near(j->out, sample * num_parameters + parameter, drawn);
  }
  return NULL;
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const gamma_state *s = state;
  rheos_shape shape;
  RHEOS_TRY(rheos__random_shape_of(inputs[0], &shape));
  RHEOS_TRY(rheos__shape_append_range(&shape, &inputs[1]->shape, 0, inputs[1]->shape.rank));
  RHEOS_TRY(rheos__tensor_new(s->dtype, &shape, &outputs[0]));
  const int64_t count = outputs[0]->num_elements;
  if (count == 0) return NULL;
  job j = {s->draw, rheos__generator_reserve(s->generator, (uint64_t)count * BLOCKS), inputs[1],
           outputs[0], count / inputs[1]->num_elements};
  return rheos__random_parallel(step, count, 300, draw_numbers, &j);
}

// The whole shape is given: the shape of the samples, then that of the parameters.
static rheos_status *check_samples(const rheos_shape *whole, const rheos_shape *parameters) {
  rheos__shape_text text, own;
  const int32_t samples = whole->rank - parameters->rank;
  bool fits = samples >= 0;
  for (int32_t d = 0; fits && d < parameters->rank; d++) {
    fits = whole->dims[samples + d] == parameters->dims[d];
  }
  if (fits) return NULL;
  return RHEOS_INVALID("Shape passed in must end with broadcasted shape: %s does not end with %s",
                       rheos__shape_text_of(whole, &text), rheos__shape_text_of(parameters, &own));
}

static rheos_status *compute_stateless(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  const gamma_state *s = state;
  const bool is_keyed = inputs[1]->dtype == RHEOS_UINT64;
  const rheos_tensor *parameters = inputs[is_keyed ? 4 : 2];
  rheos__philox philox;
  rheos_shape shape;
  if (is_keyed) {
    RHEOS_TRY(rheos__philox_of_key(inputs, 1, &philox));
  } else {
    RHEOS_TRY(rheos__check_seed(&inputs[1]->shape));
    philox = rheos__philox_of_seed(inputs[1]);
  }
  RHEOS_TRY(rheos__random_shape_of(inputs[0], &shape));
  RHEOS_TRY(check_samples(&shape, &parameters->shape));
  RHEOS_TRY(rheos__tensor_new(s->dtype, &shape, &outputs[0]));
  const int64_t count = outputs[0]->num_elements;
  if (count == 0) return NULL;
  job j = {s->draw, philox, parameters, outputs[0], count / parameters->num_elements};
  return rheos__random_parallel(step, count, 300, draw_numbers, &j);
}

static rheos_status *prepare_stateless(rheos__prepare *p, draw_fn draw) {
  gamma_state *state = RHEOS_NEW_STATE(p, gamma_state);
  if (state == NULL) return rheos__out_of_memory();
  state->draw = draw;
  state->dtype = p->output_dtypes[0];
  p->compute = compute_stateless;
  return NULL;
}

static rheos_status *prepare_stateless_gamma(rheos__prepare *p) {
  return prepare_stateless(p, draw_gamma);
}
static rheos_status *prepare_stateless_poisson(rheos__prepare *p) {
  return prepare_stateless(p, draw_poisson);
}

static rheos_status *prepare(rheos__prepare *p, draw_fn draw) {
  gamma_state *state = RHEOS_NEW_STATE(p, gamma_state);
  if (state == NULL) return rheos__out_of_memory();
  state->draw = draw;
  state->dtype = p->output_dtypes[0];
  RHEOS_TRY(rheos__generator_of_node(p, &state->generator));
  p->release = release;
  p->compute = compute;
  return NULL;
}

static rheos_status *prepare_gamma(rheos__prepare *p) { return prepare(p, draw_gamma); }
static rheos_status *prepare_poisson(rheos__prepare *p) { return prepare(p, draw_poisson); }

static rheos_status *shape(rheos__infer *c) {
  const rheos_shape *parameters = &c->input_shapes[1];
  RHEOS_TRY(rheos__infer_shape_vector(c, 0, &c->output_shapes[0]));
  if (parameters->rank < 0 || c->output_shapes[0].rank < 0) {
    c->output_shapes[0] = RHEOS_UNKNOWN_SHAPE;
    return NULL;
  }
  return rheos__shape_append_range(&c->output_shapes[0], parameters, 0, parameters->rank);
}

static rheos_status *shape_stateless(rheos__infer *c) {
  const rheos_shape *parameters = &c->input_shapes[c->num_inputs - 1];
  rheos_shape seed, scalar;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &seed));
  if (c->num_inputs == 5) {
    RHEOS_TRY(rheos__check_key(c));
    RHEOS_TRY(rheos__infer_rank(c, 2, 1, &seed));
    RHEOS_TRY(rheos__infer_rank(c, 3, 0, &scalar));
  } else if (seed.dims[0] >= 0) {
    RHEOS_TRY(rheos__check_seed(&seed));
  }
  RHEOS_TRY(rheos__infer_shape_vector(c, 0, &c->output_shapes[0]));
  if (!rheos_shape_is_known(&c->output_shapes[0]) || !rheos_shape_is_known(parameters)) return NULL;
  return check_samples(&c->output_shapes[0], parameters);
}

// d sample / d alpha, summed over the samples of each alpha. `alpha` gets as many leading
// dimensions of 1 as there are dimensions of samples.
static void gradient_of_alpha(rheos__grad *g, int32_t input, rheos_output num_samples) {
  rheos_scope *s = g->scope;
  const rheos_output alpha = g->inputs[input];
  const int32_t one[1] = {1};
  const rheos_output length =
      rheos__op_2(s, "ExpandDims", num_samples, rheos__const_scalar(s, RHEOS_INT32, 0, "axis"));
  const rheos_output ones = rheos__op_2(s, "Tile", rheos__const_ints(s, one, 1, "ones"), length);
  const rheos_output parts[] = {ones, rheos__shape_node(s, alpha)};
  const rheos_output wide = rheos__op_2(s, "Reshape", alpha, rheos__concat(s, parts, 2, 0));
  const rheos_output partial = rheos__op_2(s, "RandomGammaGrad", wide, g->outputs[0]);
  const rheos_output product = rheos__py_mul(s, rheos__grad_dense(g, 0), partial);
  rheos__grad_set(g, input, rheos__sum_over(s, product, rheos__py_range(s, num_samples), false));
}

static rheos_output rank_of_shape_input(rheos__grad *g) {
  return rheos__vector_at(g->scope, rheos__shape_node(g->scope, g->inputs[0]),
                          rheos__const_scalar(g->scope, RHEOS_INT32, 0, "zero"));
}

static void gradient_gamma(rheos__grad *g) {
  rheos__push_after_grad(g);
  gradient_of_alpha(g, 1, rank_of_shape_input(g));
  rheos_scope_pop(g->scope);
}

static void gradient_stateless_gamma(rheos__grad *g) {
  const int32_t input = g->num_inputs - 1;
  rheos__push_after_grad(g);
  const rheos_output rank = rheos__op_1(g->scope, "Rank", g->inputs[input]);
  gradient_of_alpha(g, input, rheos__py_sub(g->scope, rank_of_shape_input(g), rank));
  rheos_scope_pop(g->scope);
}

#define SHAPED(op, text, about, gradient_fn, prepare_fn) \
  const rheos__op_def rheos__op_##op = {                 \
      .name = #op,                                       \
      .signature = text,                                 \
      .doc = about,                                      \
      .flags = RHEOS_OP_STATEFUL,                        \
      .shape = shape,                                    \
      .gradient = gradient_fn,                           \
      .prepare = prepare_fn,                             \
  }

SHAPED(
    RandomGamma,
    "shape: S, alpha: T -> output: T; " RHEOS__RANDOM_SEEDS
    "S: {int32, int64}; T: {half, float, double}",
    "`shape` numbers for each element of `alpha`, of the gamma distribution with it and scale 1.",
    gradient_gamma, prepare_gamma);
SHAPED(RandomPoisson,
       "shape: S, rate: dtype -> output: dtype; " RHEOS__RANDOM_SEEDS
       "S: {int32, int64}; dtype: {half, float, double}",
       "`shape` numbers for each element of `rate`, of the Poisson distribution with that mean.",
       rheos__no_gradient, prepare_poisson);
SHAPED(RandomPoissonV2,
       "shape: S, rate: R -> output: dtype; " RHEOS__RANDOM_SEEDS
       "S: {int32, int64}; R: {half, float, double, int32, int64} = double; "
       "dtype: {half, float, double, int32, int64} = int64",
       "`shape` numbers for each element of `rate`, of the Poisson distribution with that mean.",
       rheos__no_gradient, prepare_poisson);

#define STATELESS(op, text, about, gradient_fn, prepare_fn) \
  const rheos__op_def rheos__op_##op = {                    \
      .name = #op,                                          \
      .signature = text,                                    \
      .doc = about,                                         \
      .shape = shape_stateless,                             \
      .gradient = gradient_fn,                              \
      .prepare = prepare_fn,                                \
  }

STATELESS(StatelessRandomGammaV2,
          "shape: T, seed: Tseed, alpha: dtype -> output: dtype; dtype: {half, float, double}; "
          "T: {int32, int64}; Tseed: {int32, int64} = int64",
          "Numbers of the gamma distributions with `alpha` and scale 1: the same ones for the same "
          "`seed`. `shape` ends with that of `alpha`.",
          gradient_stateless_gamma, prepare_stateless_gamma);
STATELESS(StatelessRandomGammaV3,
          "shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype -> "
          "output: dtype; dtype: {half, float, double}; shape_dtype: {int32, int64} = int32",
          "StatelessRandomGammaV2 by the generator at `key` and `counter`.",
          gradient_stateless_gamma, prepare_stateless_gamma);
STATELESS(StatelessRandomPoisson,
          "shape: T, seed: Tseed, lam: Rtype -> output: dtype; "
          "Rtype: {half, float, double, int32, int64}; "
          "dtype: {half, float, double, int32, int64}; T: {int32, int64}; "
          "Tseed: {int32, int64} = int64",
          "Numbers of the Poisson distributions with the means `lam`: the same ones for the same "
          "`seed`. `shape` ends with that of `lam`.",
          rheos__no_gradient, prepare_stateless_poisson);
