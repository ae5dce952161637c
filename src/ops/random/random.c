// Random numbers, bit for bit TensorFlow's for the same seeds. The generator is a resource of the
// session under the node's name.
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/random_fill.h"

// ---- Kernels

typedef struct random_state {
  rheos__generator *generator;
  const rheos__distribution *distribution;
  rheos_dtype dtype;
} random_state;

static void release_state(void *state) {
  rheos__generator_unref(((random_state *)state)->generator);
}

static rheos_status *prepare(rheos__prepare *p, const rheos__distribution *distribution,
                             rheos__compute_fn compute) {
  random_state *state = RHEOS_NEW_STATE(p, random_state);
  if (state == NULL) return rheos__out_of_memory();
  state->dtype = p->output_dtypes[0];
  state->distribution = distribution;
  RHEOS_TRY(rheos__generator_of_node(p, &state->generator));
  p->release = release_state;
  p->compute = compute;
  return NULL;
}

static rheos_status *prepare_fill(rheos__prepare *p, rheos__distribution_kind kind,
                                  rheos__compute_fn compute) {
  const rheos__distribution *found = rheos__distribution_of(kind, p->output_dtypes[0]);
  if (found == NULL) return rheos__no_kernel(p, p->output_dtypes[0]);
  return prepare(p, found, compute);
}

static rheos_status *fill_new(const random_state *state, rheos__step *step, rheos_shape shape,
                              rheos__random_range range, rheos_tensor **out) {
  RHEOS_TRY(rheos__tensor_new(state->dtype, &shape, out));
  const uint64_t count = (uint64_t)(*out)->num_elements;
  if (count == 0) return NULL;
  const rheos__philox philox = rheos__generator_reserve(state->generator, count * 256);
  return rheos__random_fill(step, state->distribution, philox, range, *out);
}

static rheos_status *compute_floats(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  rheos_shape shape;
  RHEOS_TRY(rheos__random_shape_of(inputs[0], &shape));
  return fill_new(state, step, shape, (rheos__random_range){0}, &outputs[0]);
}

static rheos_status *compute_ints(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  rheos_shape shape;
  rheos__random_range range;
  RHEOS_TRY(rheos__random_shape_of(inputs[0], &shape));
  RHEOS_TRY(rheos__random_range_of(inputs[1], inputs[2], &shape, &range));
  return fill_new(state, step, shape, range, &outputs[0]);
}

static rheos_status *prepare_RandomUniform(rheos__prepare *p) {
  return prepare_fill(p, RHEOS__UNIFORM, compute_floats);
}
static rheos_status *prepare_RandomUniformInt(rheos__prepare *p) {
  return prepare_fill(p, RHEOS__UNIFORM, compute_ints);
}
static rheos_status *prepare_RandomStandardNormal(rheos__prepare *p) {
  return prepare_fill(p, RHEOS__NORMAL, compute_floats);
}
static rheos_status *prepare_TruncatedNormal(rheos__prepare *p) {
  return prepare_fill(p, RHEOS__TRUNCATED, compute_floats);
}

static rheos_status *random_shape(rheos__infer *c) {
  for (int32_t k = 1; k < c->num_inputs; k++) {
    rheos_shape scalar;
    RHEOS_TRY(rheos__infer_rank(c, k, 0, &scalar));
  }
  return rheos__infer_shape_vector(c, 0, &c->output_shapes[0]);
}

#define FLOATS "dtype: " RHEOS__RANDOM_FLOATS "; "
#define INDEX "T: {int32, int64}"

const rheos__op_def rheos__op_RandomUniform = {
    .name = "RandomUniform",
    .signature = "shape: T -> output: dtype; " RHEOS__RANDOM_SEEDS FLOATS INDEX,
    .doc = "Uniform numbers from 0 up to 1, without 1.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = random_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_RandomUniform,
};

const rheos__op_def rheos__op_RandomUniformInt = {
    .name = "RandomUniformInt",
    .signature = "shape: T, minval: Tout, maxval: Tout -> output: Tout; " RHEOS__RANDOM_SEEDS
                 "Tout: {int32, int64}; " INDEX,
    .doc = "Uniform whole numbers from `minval` up to `maxval`, without `maxval`.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = random_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_RandomUniformInt,
};

const rheos__op_def rheos__op_RandomStandardNormal = {
    .name = "RandomStandardNormal",
    .signature = "shape: T -> output: dtype; " RHEOS__RANDOM_SEEDS FLOATS INDEX,
    .doc = "Normal numbers of mean 0 and standard deviation 1.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = random_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_RandomStandardNormal,
};

const rheos__op_def rheos__op_TruncatedNormal = {
    .name = "TruncatedNormal",
    .signature = "shape: T -> output: dtype; " RHEOS__RANDOM_SEEDS FLOATS INDEX,
    .doc = "Normal numbers, drawn again where they are further than 2 from 0.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = random_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_TruncatedNormal,
};
