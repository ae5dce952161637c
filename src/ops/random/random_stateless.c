// Random ops without a state: the numbers follow from a seed, or from a key and a counter.
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/random_fill.h"

// ---- Kernels

typedef struct stateless_state {
  const rheos__distribution *distribution;
  rheos_dtype dtype;
  rheos__random_inputs told;
} stateless_state;

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const stateless_state *s = state;
  rheos__philox philox;
  rheos_shape shape;
  rheos__random_range range;
  RHEOS_TRY(rheos__random_shape_of(inputs[0], &shape));
  RHEOS_TRY(rheos__random_inputs_read(&s->told, inputs, &shape, &philox, &range));
  RHEOS_TRY(rheos__tensor_new(s->dtype, &shape, &outputs[0]));
  return rheos__random_fill(step, s->distribution, philox, range, outputs[0]);
}

static rheos_status *prepare(rheos__prepare *p, rheos__distribution_kind kind) {
  stateless_state *state = RHEOS_NEW_STATE(p, stateless_state);
  if (state == NULL) return rheos__out_of_memory();
  state->dtype = p->output_dtypes[0];
  state->distribution = rheos__distribution_of(kind, state->dtype);
  if (state->distribution == NULL) return rheos__no_kernel(p, state->dtype);
  state->told = rheos__random_inputs_of(p);
  p->compute = compute;
  return NULL;
}

static rheos_status *prepare_uniform(rheos__prepare *p) { return prepare(p, RHEOS__UNIFORM); }
static rheos_status *prepare_full_int(rheos__prepare *p) { return prepare(p, RHEOS__FULL_INT); }
static rheos_status *prepare_normal(rheos__prepare *p) { return prepare(p, RHEOS__NORMAL); }
static rheos_status *prepare_truncated(rheos__prepare *p) { return prepare(p, RHEOS__TRUNCATED); }

// ---- Shapes

static rheos_status *check_seed_input(const rheos__infer *c, int32_t input) {
  rheos_shape seed;
  RHEOS_TRY(rheos__infer_rank(c, input, 1, &seed));
  return seed.dims[0] >= 0 ? rheos__check_seed(&seed) : NULL;
}

static rheos_status *check_scalars(const rheos__infer *c, int32_t first) {
  rheos_shape scalar;
  for (int32_t k = first; k < c->num_inputs; k++) {
    RHEOS_TRY(rheos__infer_rank(c, k, 0, &scalar));
  }
  return NULL;
}

static rheos_status *shape_seeded(rheos__infer *c) {
  RHEOS_TRY(check_seed_input(c, 1));
  RHEOS_TRY(check_scalars(c, 2));
  return rheos__infer_shape_vector(c, 0, &c->output_shapes[0]);
}

static rheos_status *shape_keyed(rheos__infer *c) {
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &vector));
  RHEOS_TRY(rheos__check_key(c));
  RHEOS_TRY(check_scalars(c, 3));
  return rheos__infer_shape_vector(c, 0, &c->output_shapes[0]);
}

// ---- Definitions

#define FLOATS "dtype: " RHEOS__RANDOM_FLOATS " = float; "
#define INDEX "T: {int32, int64} = int32; "
#define SEED "Tseed: {int32, int64} = int64"
#define KEY "key: uint64, counter: uint64, alg: int32"
#define KEYED "shape: Tshape, " KEY " -> output: dtype; "
#define KEYED_INDEX "Tshape: {int32, int64} = int32"

#define STATELESS(op, text, about, shape_fn, prepare_fn) \
  const rheos__op_def rheos__op_##op = {                 \
      .name = #op,                                       \
      .signature = text,                                 \
      .doc = about,                                      \
      .shape = shape_fn,                                 \
      .gradient = rheos__no_gradient,                    \
      .prepare = prepare_fn,                             \
  }

STATELESS(StatelessRandomUniform, "shape: T, seed: Tseed -> output: dtype; " FLOATS INDEX SEED,
          "Uniform numbers from 0 up to 1, without 1: the same ones for the same `seed`.",
          shape_seeded, prepare_uniform);
STATELESS(StatelessRandomNormal, "shape: T, seed: Tseed -> output: dtype; " FLOATS INDEX SEED,
          "Normal numbers of mean 0 and standard deviation 1: the same ones for the same `seed`.",
          shape_seeded, prepare_normal);
STATELESS(StatelessTruncatedNormal, "shape: T, seed: Tseed -> output: dtype; " FLOATS INDEX SEED,
          "Normal numbers within 2 of 0: the same ones for the same `seed`.", shape_seeded,
          prepare_truncated);
STATELESS(StatelessRandomUniformInt,
          "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype; "
          "dtype: {int32, int64}; T: {int32, int64}; " SEED,
          "Uniform whole numbers from `minval` up to `maxval`, without `maxval`: the same ones "
          "for the same `seed`.",
          shape_seeded, prepare_uniform);
STATELESS(
    StatelessRandomUniformFullInt,
    "shape: T, seed: Tseed -> output: dtype; dtype: {int32, int64, uint32, uint64} = uint64; " INDEX
    "Tseed: {int32, int64, uint32, uint64} = int64",
    "Uniform whole numbers out of all of the dtype: the same ones for the same `seed`.",
    shape_seeded, prepare_full_int);

STATELESS(StatelessRandomUniformV2, KEYED FLOATS KEYED_INDEX,
          "Uniform numbers from 0 up to 1, without 1, by the generator at `key` and `counter`.",
          shape_keyed, prepare_uniform);
STATELESS(StatelessRandomNormalV2, KEYED FLOATS KEYED_INDEX,
          "Normal numbers of mean 0 and standard deviation 1, by the generator at `key` and "
          "`counter`.",
          shape_keyed, prepare_normal);
STATELESS(StatelessTruncatedNormalV2, KEYED FLOATS KEYED_INDEX,
          "Normal numbers within 2 of 0, by the generator at `key` and `counter`.", shape_keyed,
          prepare_truncated);
STATELESS(StatelessRandomUniformIntV2,
          "shape: Tshape, " KEY
          ", minval: dtype, maxval: dtype -> output: dtype; "
          "dtype: {int32, int64, uint32, uint64}; " KEYED_INDEX,
          "Uniform whole numbers from `minval` up to `maxval`, without `maxval`, by the generator "
          "at `key` and `counter`.",
          shape_keyed, prepare_uniform);
STATELESS(StatelessRandomUniformFullIntV2,
          KEYED "dtype: {int32, int64, uint32, uint64} = uint64; " KEYED_INDEX,
          "Uniform whole numbers out of all of the dtype, by the generator at `key` and `counter`.",
          shape_keyed, prepare_full_int);

// ---- Seeds to keys

static rheos_status *compute_key(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  const rheos__operands *o = state;
  (void)step;
  RHEOS_TRY(rheos__check_seed(&inputs[0]->shape));
  const rheos__philox philox = rheos__philox_of_seed(inputs[0]);
  RHEOS_TRY(rheos__tensor_new(RHEOS_UINT64, &RHEOS_SHAPE(1), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_UINT64, &RHEOS_SHAPE(2), &outputs[1]));
  *(uint64_t *)outputs[0]->data = philox.key[0] | (uint64_t)philox.key[1] << 32;
  for (int i = 0; i < 2; i++) {
    ((uint64_t *)outputs[1]->data)[i] = philox.counter[2 * i] | (uint64_t)philox.counter[2 * i + 1]
                                                                    << 32;
  }
  if (o->num_outputs < 3) return NULL;
  return rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &(int32_t){1}, &outputs[2]);
}

static rheos_status *prepare_key(rheos__prepare *p) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_key;
  return NULL;
}

static rheos_status *shape_key(rheos__infer *c) {
  RHEOS_TRY(check_seed_input(c, 0));
  c->output_shapes[0] = RHEOS_SHAPE(1);
  c->output_shapes[1] = RHEOS_SHAPE(2);
  if (c->num_outputs > 2) c->output_shapes[2] = RHEOS_SCALAR;
  return NULL;
}

STATELESS(StatelessRandomGetKeyCounter, "seed: Tseed -> key: uint64, counter: uint64; " SEED,
          "The key and the counter at which the generator starts for `seed`.", shape_key,
          prepare_key);
STATELESS(StatelessRandomGetKeyCounterAlg,
          "seed: Tseed -> key: uint64, counter: uint64, alg: int32; " SEED,
          "The key and the counter at which the generator starts for `seed`, and the algorithm.",
          shape_key, prepare_key);

static rheos_status *run_algorithm(const void *state, const void *const *inputs,
                                   void *const *outputs, void *scratch, int64_t first,
                                   int64_t last) {
  (void)state, (void)inputs, (void)scratch, (void)first, (void)last;
  *(int32_t *)outputs[0] = 1;
  return NULL;
}

static rheos_status *prepare_algorithm(rheos__prepare *p) {
  p->run = run_algorithm;
  return NULL;
}

const rheos__op_def rheos__op_StatelessRandomGetAlg = {
    .name = "StatelessRandomGetAlg",
    .signature = "-> alg: int32",
    .doc = "The algorithm that the stateless random ops use: 1, Philox.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_algorithm,
};
