// Random ops whose generator is a variable of int64: a counter of two elements, then the key.
// StatefulUniform and others, RngReadAndSkip, RngSkip.
#include "ops/random/rng_variable.h"

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/random_fill.h"

typedef struct rng_state {
  rheos__cells cells;
  const rheos__distribution *distribution;
  rheos_dtype dtype;
  bool has_range, gives_state;
} rng_state;

static rheos_status *check_variable(const rheos_tensor *value) {
  if (value->dtype != RHEOS_INT64) {
    return RHEOS_INVALID("dtype of RNG state variable must be int64, not %s",
                         rheos_dtype_name(value->dtype));
  }
  if (value->shape.rank != 1) {
    return RHEOS_INVALID("RNG state must have one and only one dimension, not %d",
                         value->shape.rank);
  }
  if (value->num_elements < 3) {
    return RHEOS_INVALID("For the Philox algorithm, the size of state must be at least 3; got %lld",
                         (long long)value->num_elements);
  }
  return NULL;
}

static rheos_status *check_algorithm(const rheos_tensor *algorithm) {
  rheos__shape_text text;
  if (algorithm->shape.rank == 0) {
    return rheos__check_rng_algorithm(rheos__tensor_int_at(algorithm, 0));
  }
  return RHEOS_INVALID("algorithm must be of shape [], not %s",
                       rheos__shape_text_of(&algorithm->shape, &text));
}

// The generator of a variable, which then goes on by `steps`.
static rheos__philox reserve(rheos_tensor *value, uint64_t steps) {
  uint64_t *state = value->data;
  const rheos__philox philox = {
      {(uint32_t)state[2], (uint32_t)(state[2] >> 32)},
      {(uint32_t)state[0], (uint32_t)(state[0] >> 32), (uint32_t)state[1],
       (uint32_t)(state[1] >> 32)},
  };
  rheos__philox after = philox;
  rheos__philox_skip(&after, steps);
  state[0] = after.counter[0] | (uint64_t)after.counter[1] << 32;
  state[1] = after.counter[2] | (uint64_t)after.counter[3] << 32;
  return philox;
}

rheos_status *rheos__rng_reserve(const rheos__cells *cells, const rheos_tensor *algorithm,
                                 uint64_t steps, rheos__philox *out_philox) {
  rheos_tensor *values[RHEOS__MAX_CELLS];
  RHEOS_TRY(check_algorithm(algorithm));
  RHEOS_TRY(rheos__cells_begin_write(cells, values));
  rheos_status *status = check_variable(values[0]);
  if (status == NULL) *out_philox = reserve(values[0], steps);
  rheos__cells_end_write(cells);
  return status;
}

// The attribute `dtype` is that of the numbers, not of the variable, as rheos__cells_of() takes it.
rheos_status *rheos__rng_of(const rheos__prepare *p, rheos__cells *out_cells) {
  rheos__resource *resource = p->input_resources[0];
  if (resource == NULL || resource->kind != &rheos__variable_kind) {
    return RHEOS_INVALID("input 0 is not a variable");
  }
  *out_cells = (rheos__cells){1, {(rheos__variable_cell *)resource}, p->memory};
  return NULL;
}

// ---- Stateful*: inputs are the variable, the algorithm, the shape, and perhaps a range

static rheos_status *compute_fill(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const rng_state *s = state;
  rheos_shape shape;
  rheos__random_range range = {0};
  rheos__philox philox;
  RHEOS_TRY(check_algorithm(inputs[1]));
  RHEOS_TRY(rheos__random_shape_of(inputs[2], &shape));
  if (s->has_range) {
    RHEOS_TRY(rheos__random_range_of(inputs[3], inputs[4], &shape, &range));
  }
  RHEOS_TRY(rheos__tensor_new(s->dtype, &shape, &outputs[0]));
  RHEOS_TRY(
      rheos__rng_reserve(&s->cells, inputs[1], (uint64_t)outputs[0]->num_elements * 256, &philox));
  return rheos__random_fill(step, s->distribution, philox, range, outputs[0]);
}

static rheos_status *prepare_state(rheos__prepare *p, rheos__compute_fn compute) {
  rng_state *state = RHEOS_NEW_STATE(p, rng_state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__rng_of(p, &state->cells));
  p->compute = compute;
  return NULL;
}

static rheos_status *prepare_fill(rheos__prepare *p, rheos__distribution_kind kind, bool integers) {
  const rheos_dtype dtype = p->output_dtypes[0];
  const rheos__distribution *found = rheos__distribution_of(kind, dtype);
  if (found == NULL || rheos_dtype_is_integer(dtype) != integers) {
    return rheos__no_kernel(p, dtype);
  }
  const rheos_dtype index = p->input_dtypes[2];
  if (index != RHEOS_INT32 && index != RHEOS_INT64) {
    return RHEOS_INVALID("shape must be a vector of {int32,int64}.");
  }
  RHEOS_TRY(prepare_state(p, compute_fill));
  rng_state *state = p->state;
  state->distribution = found;
  state->dtype = dtype;
  state->has_range = p->num_inputs == 5;
  return NULL;
}

static rheos_status *prepare_uniform(rheos__prepare *p) {
  return prepare_fill(p, RHEOS__UNIFORM, false);
}
static rheos_status *prepare_uniform_int(rheos__prepare *p) {
  return prepare_fill(p, RHEOS__UNIFORM, true);
}
static rheos_status *prepare_full_int(rheos__prepare *p) {
  return prepare_fill(p, RHEOS__FULL_INT, true);
}
static rheos_status *prepare_normal(rheos__prepare *p) {
  return prepare_fill(p, RHEOS__NORMAL, false);
}
static rheos_status *prepare_truncated(rheos__prepare *p) {
  return prepare_fill(p, RHEOS__TRUNCATED, false);
}

static rheos_status *check_scalars(const rheos__infer *c, int32_t first) {
  rheos_shape scalar;
  for (int32_t k = first; k < c->num_inputs; k++) {
    RHEOS_TRY(rheos__infer_rank(c, k, 0, &scalar));
  }
  return NULL;
}

static rheos_status *shape_fill(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  RHEOS_TRY(check_scalars(c, 3));
  const rheos_dtype index = c->input_dtypes[2];
  if (index != RHEOS_INT32 && index != RHEOS_INT64) return NULL;
  return rheos__infer_shape_vector(c, 2, &c->output_shapes[0]);
}

#define FLAGS (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)
#define RNG "resource: resource, algorithm: int64, shape: shape_dtype"
#define DTYPES(dtype) " -> output: dtype; dtype: type = " dtype "; shape_dtype: type = int64"
#define STATEFUL(op, text, about, prepare_fn) \
  const rheos__op_def rheos__op_##op = {      \
      .name = #op,                            \
      .signature = text,                      \
      .doc = about,                           \
      .flags = FLAGS,                         \
      .shape = shape_fill,                    \
      .gradient = rheos__no_gradient,         \
      .prepare = prepare_fn,                  \
  }

STATEFUL(StatefulUniform, RNG DTYPES("float"),
         "Uniform numbers from 0 up to 1, without 1, by the generator in a variable.",
         prepare_uniform);
STATEFUL(
    StatefulUniformInt, RNG ", minval: dtype, maxval: dtype" DTYPES("int64"),
    "Uniform whole numbers from `minval` up to `maxval`, without `maxval`, by the generator in "
    "a variable.",
    prepare_uniform_int);
STATEFUL(StatefulUniformFullInt, RNG DTYPES("uint64"),
         "Uniform whole numbers out of all of the dtype, by the generator in a variable.",
         prepare_full_int);
STATEFUL(StatefulStandardNormalV2, RNG DTYPES("float"),
         "Normal numbers of mean 0 and standard deviation 1, by the generator in a variable.",
         prepare_normal);
STATEFUL(StatefulTruncatedNormal, RNG DTYPES("float"),
         "Normal numbers within 2 of 0, by the generator in a variable.", prepare_truncated);

// ---- RngReadAndSkip, RngSkip: on by as many numbers as 256 times `delta` samples give

static rheos_status *skip(const rng_state *s, uint64_t delta, rheos_tensor **out) {
  rheos_tensor *values[RHEOS__MAX_CELLS];
  RHEOS_TRY(rheos__cells_begin_write(&s->cells, values));
  rheos_status *status = check_variable(values[0]);
  if (status == NULL && s->gives_state) {
    status = rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(3), values[0]->data, out);
  }
  if (status == NULL) reserve(values[0], delta * 256);
  rheos__cells_end_write(&s->cells);
  return status;
}

static rheos_status *compute_skip(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  rheos__shape_text text;
  (void)step;
  RHEOS_TRY(check_algorithm(inputs[1]));
  if (inputs[2]->shape.rank != 0) {
    return RHEOS_INVALID("delta must be of shape [], not %s",
                         rheos__shape_text_of(&inputs[2]->shape, &text));
  }
  return skip(state, (uint64_t)rheos__tensor_int_at(inputs[2], 0), outputs);
}

static rheos_status *prepare_skip(rheos__prepare *p) {
  RHEOS_TRY(prepare_state(p, compute_skip));
  ((rng_state *)p->state)->gives_state = p->num_outputs == 1;
  return NULL;
}

static rheos_status *shape_skip(rheos__infer *c) {
  RHEOS_TRY(check_scalars(c, 1));
  if (c->num_outputs == 1) c->output_shapes[0] = RHEOS_SHAPE(3);
  return NULL;
}

const rheos__op_def rheos__op_RngReadAndSkip = {
    .name = "RngReadAndSkip",
    .signature = "resource: resource, alg: int32, delta: uint64 -> value: int64",
    .doc = "The generator in a variable as it is; then moves it on by `delta` numbers.",
    .flags = FLAGS,
    .shape = shape_skip,
    .gradient = rheos__no_gradient,
    .prepare = prepare_skip,
};

const rheos__op_def rheos__op_RngSkip = {
    .name = "RngSkip",
    .signature = "resource: resource, algorithm: int64, delta: int64 ->",
    .doc = "Moves the generator in a variable on by `delta` numbers.",
    .flags = FLAGS,
    .shape = shape_skip,
    .gradient = rheos__no_gradient,
    .prepare = prepare_skip,
};
