// Multinomial and its stateless form: classes drawn by their logarithms of probabilities.
#include <math.h>

#include "ops/kit/elements.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/random_fill.h"

enum { POLLED = 1 << 16 };  // classes or samples between two polls: a few milliseconds

// Running sums of the (not scaled) probabilities; infinite and NaN logits have none. Of no use if
// the step is to stop.
static double accumulate(const rheos_tensor *logits, int64_t row, int64_t classes, double *sums) {
  double largest = -INFINITY, total = 0;
  int64_t since = 0;
  for (int64_t j = 0; j < classes && !rheos__stops_after(&since, 1, POLLED); j++) {
    const double logit = rheos__real_at(logits, row * classes + j);
    if (isfinite(logit) && logit > largest) largest = logit;
  }
  for (int64_t j = 0; j < classes && !rheos__stops_after(&since, 1, POLLED); j++) {
    const double logit = rheos__real_at(logits, row * classes + j);
    if (isfinite(logit)) total += exp(logit - largest);
    sums[j] = total;
  }
  return total;
}

static void sample_row(rheos__philox_singles *singles, const double *sums, int64_t classes,
                       double total, int64_t samples, int64_t row, rheos_tensor *out) {
  int64_t since = 0;
  for (int64_t j = 0; j < samples && !rheos__stops_after(&since, 1, POLLED); j++) {
    const double wanted = rheos__philox_next_double(singles) * total;
    const int64_t found = rheos__first_above(sums, classes, wanted);
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

typedef struct classes_state {
  rheos__generator *generator;  // NULL: the third input is the seed
  rheos_dtype dtype;
} classes_state;

static void release_state(void *state) {
  rheos__generator_unref(((classes_state *)state)->generator);
}

// Two numbers of 32 bits a sample; TensorFlow reserves room for 256 times as many.
static rheos__philox philox_for(const classes_state *state, rheos_tensor *const *inputs,
                                int64_t batch, int64_t samples) {
  if (state->generator == NULL) return rheos__philox_of_seed(inputs[2]);
  const uint64_t rounded = (uint64_t)(samples + 3) / 4 * 4;
  return rheos__generator_reserve(state->generator, (uint64_t)batch * rounded * 2 * 256);
}

static rheos_status *compute_multinomial(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const classes_state *c = state;
  RHEOS_TRY(check_multinomial(inputs[0], inputs[1]));
  if (c->generator == NULL) RHEOS_TRY(rheos__check_seed(&inputs[2]->shape));
  const int64_t batch = inputs[0]->shape.dims[0], classes = inputs[0]->shape.dims[1];
  const int64_t samples = rheos__tensor_int_at(inputs[1], 0);
  RHEOS_TRY(rheos__tensor_new(c->dtype, &RHEOS_SHAPE(batch, samples), &outputs[0]));
  if (outputs[0]->num_elements == 0) return NULL;
  double *sums = rheos__alloc_array((size_t)classes, sizeof *sums);
  if (sums == NULL) return rheos__out_of_memory();
  rheos__philox_singles singles = rheos__philox_singles_of(philox_for(c, inputs, batch, samples));
  for (int64_t row = 0; row < batch && !rheos__step_should_stop(step); row++) {
    const double total = accumulate(inputs[0], row, classes, sums);
    sample_row(&singles, sums, classes, total, samples, row, outputs[0]);
  }
  rheos__free(sums);
  return rheos__step_should_stop(step) ? rheos__stopped() : NULL;
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

static rheos_status *stateless_multinomial_shape(rheos__infer *c) {
  RHEOS_TRY(multinomial_shape(c));
  rheos_shape seed;
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &seed));
  return seed.dims[0] >= 0 ? rheos__check_seed(&seed) : NULL;
}

static rheos_status *prepare_stateless(rheos__prepare *p) {
  classes_state *state = RHEOS_NEW_STATE(p, classes_state);
  if (state == NULL) return rheos__out_of_memory();
  state->dtype = p->output_dtypes[0];
  p->compute = compute_multinomial;
  return NULL;
}

static rheos_status *prepare_stateful(rheos__prepare *p) {
  RHEOS_TRY(prepare_stateless(p));
  RHEOS_TRY(rheos__generator_of_node(p, &((classes_state *)p->state)->generator));
  p->release = release_state;
  return NULL;
}

#define TYPES \
  "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}; "

const rheos__op_def rheos__op_Multinomial = {
    .name = "Multinomial",
    .signature = "logits: T, num_samples: int32 -> output: output_dtype; " RHEOS__RANDOM_SEEDS TYPES
                 "output_dtype: {int32, int64} = int64",
    .doc = "`num_samples` classes for each row of `logits`, which are logarithms of probabilities.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = multinomial_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_stateful,
};

const rheos__op_def rheos__op_StatelessMultinomial = {
    .name = "StatelessMultinomial",
    .signature = "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype; " TYPES
                 "Tseed: {int32, int64} = int64; output_dtype: {int32, int64} = int64",
    .doc = "`num_samples` classes for each row of `logits`, the same ones for the same `seed`.",
    .shape = stateless_multinomial_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_stateless,
};
