// Binomial numbers, by a seed or the generator in a variable. Each number begins at a place of the
// generator of its own, so that it does not depend on the others. Bit for bit TensorFlow's, up to
// the C library's functions.
#include <math.h>

#include "ops/kit/array_util.h"
#include "ops/kit/elements.h"
#include "ops/kit/op_util.h"
#include "ops/kit/random_fill.h"
#include "ops/random/rng_variable.h"

enum {
  INVERSION_STEPS = 42,  // of the generator between one number and the next
  REJECTION_STEPS = 256,
  RESERVED_STEPS = 200 * 256,  // that four numbers of a pair take of the generator in a variable
};

// Uniform numbers in pairs, of which the second is used first.
typedef struct pairs {
  rheos__philox philox;
  double uniform[2];
  int left;
} pairs;

static double next_uniform(pairs *p) {
  if (p->left == 0) {
    uint32_t x[4];
    rheos__philox_block(&p->philox, x);
    rheos__philox_skip(&p->philox, 1);
    for (int i = 0; i < 2; i++) p->uniform[i] = rheos__random_double(x[2 * i], x[2 * i + 1]);
    p->left = 2;
  }
  return p->uniform[--p->left];
}

// Counts successes by the geometric waits between them (Kachitvichyanukul and Schmeiser, 1988).
static double by_inversion(double count, double probability, pairs *p) {
  double waited = 0, successes = 0;
  for (;;) {
    waited += ceil(log(next_uniform(p)) / log1p(-probability));
    if (!(waited <= count)) return successes;
    successes += 1;
  }
}

// log(k!) less Stirling's approximation.
static double stirling_rest(double k) {
  static const double rests[] = {
      0.0810614667953272,  0.0413406959554092,  0.0276779256849983, 0.02079067210376509,
      0.0166446911898211,  0.0138761288230707,  0.0118967099458917, 0.0104112652619720,
      0.00925546218271273, 0.00833056343336287,
  };
  if (k <= 9) return rests[(int)k];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Transformed rejection (Hormann, 1993).
static double by_rejection(double count, double probability, pairs *p) {
  const double deviation = sqrt(count * probability * (1 - probability));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * probability;
  const double c = count * probability + 0.5, sure = 0.92 - 4.2 / b;
  const double odds = probability / (1 - probability);
  const double alpha = (2.83 + 5.1 / b) * deviation, m = floor((count + 1) * probability);
  for (;;) {
    const double u = next_uniform(p) - 0.5, v = next_uniform(p);
    const double from_edge = 0.5 - fabs(u);
    const double k = floor((2 * a / from_edge + b) * u + c);
    if (from_edge >= 0.07 && v <= sure) return k;
    if (!(k >= 0 && k <= count)) continue;
    const double height = log(v * alpha / (a / (from_edge * from_edge) + b));
    const double bound = (m + 0.5) * log((m + 1) / (odds * (count - m + 1))) +
                         (count + 1) * log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * log(odds * (count - k + 1) / (k + 1)) + stirling_rest(m) +
                         stirling_rest(count - m) - stirling_rest(k) - stirling_rest(count - k);
    if (height <= bound) return k;
  }
}

// Number `index` of all that are drawn.
static double draw(double count, double probability, rheos__philox philox, int64_t index) {
  if (isnan(count) || isnan(probability)) return NAN;
  if (count <= 0 || probability <= 0) return 0;
  if (probability >= 1 || isinf(count)) return count;
  const bool rare = probability <= 0.5;
  const double p = rare ? probability : 1 - probability;
  const bool rejects = count * p >= 10;
  rheos__philox_skip(&philox, (uint64_t)index * (rejects ? REJECTION_STEPS : INVERSION_STEPS));
  pairs uniform = {.philox = philox};
  const double drawn =
      rejects ? by_rejection(count, p, &uniform) : by_inversion(count, p, &uniform);
  return rare ? drawn : count - drawn;
}

// ---- Kernels

typedef struct binomial_state {
  rheos_dtype dtype;
  bool is_stateful;
  rheos__cells cells;  // where it is
} binomial_state;

typedef struct job {
  rheos__philox philox;
  const rheos_tensor *counts, *probabilities;
  const rheos_shape *pairs;  // of counts and probabilities
  rheos_tensor *out;
  int64_t num_pairs, samples;  // of each pair
} job;

// Numbers are drawn pair by pair, and stand side by side.
static rheos_status *draw_numbers(void *argument, int64_t first, int64_t last) {
  const job *j = argument;
  for (int64_t i = first; i < last; i++) {
    const int64_t pair = i / j->samples, sample = i % j->samples;
    const int64_t count = rheos__broadcast_index(&j->counts->shape, j->pairs, pair);
    const int64_t probability = rheos__broadcast_index(&j->probabilities->shape, j->pairs, pair);
    rheos__set_real_near(j->out, sample * j->num_pairs + pair,
                         draw(rheos__real_at(j->counts, count),
                              rheos__real_at(j->probabilities, probability), j->philox, i));
  }
  return NULL;
}

static rheos_status *check_end(const rheos_shape *whole, const rheos_shape *end) {
  rheos__shape_text text, own;
  const int32_t samples = whole->rank - end->rank;
  bool fits = samples >= 0;
  for (int32_t d = 0; fits && d < end->rank; d++) fits = whole->dims[samples + d] == end->dims[d];
  if (fits) return NULL;
  return RHEOS_INVALID("Shape passed in must end with broadcasted shape: %s does not end with %s",
                       rheos__shape_text_of(whole, &text), rheos__shape_text_of(end, &own));
}

static rheos_status *compute_binomial(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  const binomial_state *s = state;
  const int32_t first = s->is_stateful ? 2 : 0;
  rheos_shape shape, pairs_shape;
  job j = {.counts = inputs[first + (s->is_stateful ? 1 : 2)],
           .probabilities = inputs[first + (s->is_stateful ? 2 : 3)],
           .pairs = &pairs_shape};
  RHEOS_TRY(rheos__random_shape_of(inputs[first], &shape));
  RHEOS_TRY(rheos__shape_broadcast(&j.counts->shape, &j.probabilities->shape, &pairs_shape));
  RHEOS_TRY(check_end(&shape, &pairs_shape));
  if (!s->is_stateful) {
    RHEOS_TRY(rheos__check_seed(&inputs[1]->shape));
    j.philox = rheos__philox_of_seed(inputs[1]);
  }
  RHEOS_TRY(rheos__tensor_new(s->dtype, &shape, &outputs[0]));
  j.out = outputs[0];
  j.num_pairs = rheos_shape_num_elements(&pairs_shape);
  const int64_t count = j.out->num_elements;
  j.samples = j.num_pairs > 0 ? count / j.num_pairs : 0;
  if (s->is_stateful) {
    const uint64_t steps = (uint64_t)j.num_pairs * RESERVED_STEPS * ((uint64_t)j.samples + 3) / 4;
    RHEOS_TRY(rheos__rng_reserve(&s->cells, inputs[1], steps, &j.philox));
  }
  if (count == 0) return NULL;
  return rheos__random_parallel(step, count, 300, draw_numbers, &j);
}

static rheos_status *prepare_binomial(rheos__prepare *p) {
  binomial_state *state = RHEOS_NEW_STATE(p, binomial_state);
  if (state == NULL) return rheos__out_of_memory();
  state->dtype = p->output_dtypes[0];
  state->is_stateful = p->num_inputs == 5;
  const rheos_dtype dtype = p->input_dtypes[p->num_inputs - 1];
  if (rheos_dtype_is_integer(dtype)) return rheos__no_kernel(p, dtype);
  if (state->is_stateful) RHEOS_TRY(rheos__rng_of(p, &state->cells));
  p->compute = compute_binomial;
  return NULL;
}

static rheos_status *shape_stateless(rheos__infer *c) {
  rheos_shape seed;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &seed));
  if (seed.dims[0] >= 0) RHEOS_TRY(rheos__check_seed(&seed));
  return rheos__infer_shape_vector(c, 0, &c->output_shapes[0]);
}

static rheos_status *shape_stateful(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  return rheos__infer_shape_vector(c, 2, &c->output_shapes[0]);
}

const rheos__op_def rheos__op_StatelessRandomBinomial = {
    .name = "StatelessRandomBinomial",
    .signature =
        "shape: S, seed: Tseed, counts: T, probs: T -> output: dtype; S: {int32, int64}; "
        "Tseed: {int32, int64} = int64; T: {half, float, double, int32, int64} = double; "
        "dtype: {half, float, double, int32, int64} = int64",
    .doc =
        "How many of `counts` trials of the probability `probs` succeed: the same numbers for the "
        "same "
        "`seed`. `shape` ends with that of both, broadcast.",
    .shape = shape_stateless,
    .gradient = rheos__no_gradient,
    .prepare = prepare_binomial,
};

const rheos__op_def rheos__op_StatefulRandomBinomial = {
    .name = "StatefulRandomBinomial",
    .signature =
        "resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype; "
        "S: {int32, int64}; T: {half, float, double, int32, int64} = double; "
        "dtype: {half, float, double, int32, int64} = int64",
    .doc = "StatelessRandomBinomial by the generator in a variable.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
    .shape = shape_stateful,
    .gradient = rheos__no_gradient,
    .prepare = prepare_binomial,
};
