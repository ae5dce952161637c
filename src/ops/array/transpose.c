// Dimensions in another order, and permutations themselves.
#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"

// ---- Transpose, ConjugateTranspose

// Checks that `perm` holds each of 0 .. rank - 1 once. Negative ones are counted from the end, as
// TensorFlow 2 does it.
static rheos_status *check_permutation(int64_t *perm, int32_t rank) {
  unsigned seen = 0;
  for (int32_t i = 0; i < rank; ++i) {
    if (perm[i] < -(int64_t)rank || perm[i] >= rank) {
      return RHEOS_INVALID("perm dim %lld is out of range [0 .. %d)", (long long)perm[i], rank);
    }
    if (perm[i] < 0) perm[i] += rank;
    seen |= 1u << perm[i];
  }
  for (int32_t i = 0; i < rank; ++i) {
    if ((seen >> i & 1) == 0) return RHEOS_INVALID("%d is missing from the permutation", i);
  }
  return NULL;
}

static rheos_status *shape_transpose(rheos__infer *c) {
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &vector));
  const rheos_shape *in = &c->input_shapes[0];
  int64_t length = vector.dims[0];
  if (in->rank >= 0 && length >= 0 && length != in->rank) {
    return RHEOS_INVALID(
        "transpose expects a vector of size %d. But input(1) is a vector of size %lld", in->rank,
        (long long)length);
  }
  if (length > RHEOS_MAX_RANK) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "a shape of more than %d dimensions",
                            RHEOS_MAX_RANK);
  }
  int64_t perm[RHEOS_MAX_RANK];
  int32_t rank = in->rank >= 0 ? in->rank : (int32_t)length;
  if (rank < 0) return NULL;
  c->output_shapes[0] = rheos__shape_of_rank(rank);
  if (!rheos__infer_ints(c, 1, perm, RHEOS_MAX_RANK, &rank)) return NULL;
  RHEOS_TRY(check_permutation(perm, rank));
  for (int32_t i = 0; i < rank && in->rank >= 0; ++i) {
    c->output_shapes[0].dims[i] = in->dims[perm[i]];
  }
  return NULL;
}

static rheos_status *make_transpose(const rheos__operands *o, const void *const *inputs,
                                    rheos__copy *out_copy) {
  const rheos_shape *in = &o->input_shapes[0];
  int64_t perm[RHEOS_MAX_RANK], in_steps[RHEOS_MAX_RANK], out_steps[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < in->rank; ++i) perm[i] = rheos__operand_int(o, inputs, 1, i);
  RHEOS_TRY(check_permutation(perm, in->rank));
  rheos__row_major_steps(in, in_steps);
  rheos__row_major_steps(&o->output_shapes[0], out_steps);
  rheos__copy_init(out_copy, o->output_dtypes[0]);
  for (int32_t i = 0; i < in->rank; ++i) {
    if (in->dims[perm[i]] != o->output_shapes[0].dims[i]) {
      return RHEOS_INVALID("the permutation does not lead to the expected shape");
    }
    rheos__copy_add(out_copy, in->dims[perm[i]], in_steps[perm[i]], out_steps[i]);
  }
  return NULL;
}

static rheos_status *prepare_transpose(rheos__prepare *p) {
  return rheos__answer_copy(p, 0, make_transpose);
}

static rheos_output inverse_of(rheos__grad *g) {
  return rheos__op_1(g->scope, "InvertPermutation", g->inputs[1]);
}

static void gradient_transpose(rheos__grad *g) {
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, rheos__transpose_by(g->scope, grad, inverse_of(g), false));
}

const rheos__op_def rheos__op_Transpose = {
    .name = "Transpose",
    .signature = "x: T, perm: Tperm -> y: T; T: type; Tperm: {int32, int64} = int32",
    .doc = "Dimension i of the result is dimension `perm`[i] of `x`.",
    .shape = shape_transpose,
    .gradient = gradient_transpose,
    .prepare = prepare_transpose,
};

static rheos_status *run_conjugate_transpose(const void *state, const void *const *inputs,
                                             void *const *outputs, void *scratch,
                                             int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  rheos__copy copy;
  RHEOS_TRY(make_transpose(o, inputs, &copy));
  RHEOS_TRY(rheos__copy_all(&copy, inputs[0], outputs[0]));
  if (o->output_dtypes[0] == RHEOS_COMPLEX64) {
    float *parts = outputs[0];
    for (int64_t i = 0; i < copy.num_elements; ++i) parts[2 * i + 1] = -parts[2 * i + 1];
  } else {
    double *parts = outputs[0];
    for (int64_t i = 0; i < copy.num_elements; ++i) parts[2 * i + 1] = -parts[2 * i + 1];
  }
  return NULL;
}

static rheos_status *prepare_conjugate_transpose(rheos__prepare *p) {
  if (!rheos_dtype_is_complex(p->input_dtypes[0])) return prepare_transpose(p);
  return rheos__answer_run_operands(p, run_conjugate_transpose, 1);
}

static void gradient_conjugate_transpose(rheos__grad *g) {
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, rheos__transpose_by(g->scope, grad, inverse_of(g), true));
}

const rheos__op_def rheos__op_ConjugateTranspose = {
    .name = "ConjugateTranspose",
    .signature = "x: T, perm: Tperm -> y: T; T: type; Tperm: {int32, int64} = int32",
    .doc = "The complex conjugate of `x` with its dimensions in the order `perm`.",
    .shape = shape_transpose,
    .gradient = gradient_conjugate_transpose,
    .prepare = prepare_conjugate_transpose,
};

// ---- InvertPermutation

static rheos_status *shape_vector_unchanged(rheos__infer *c) {
  return rheos__infer_rank(c, 0, 1, &c->output_shapes[0]);
}

static rheos_status *run_invert(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  int64_t count = o->input_shapes[0].dims[0];
  rheos_dtype dtype = o->output_dtypes[0];
  for (int64_t i = 0; i < count; ++i) rheos__set_int(dtype, outputs[0], i, -1);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = rheos__operand_int(o, inputs, 0, i);
    if (at < 0 || at >= count) {
      return RHEOS_INVALID("%lld is not between 0 and %lld", (long long)at, (long long)count);
    }
    if (rheos__int_in(dtype, outputs[0], at) != -1) {
      return RHEOS_INVALID("%lld is duplicated in the input.", (long long)at);
    }
    rheos__set_int(dtype, outputs[0], at, i);
  }
  return NULL;
}

static rheos_status *prepare_invert(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_invert, 1);
}

const rheos__op_def rheos__op_InvertPermutation = {
    .name = "InvertPermutation",
    .signature = "x: T -> y: T; T: {int32, int64} = int32",
    .doc = "The permutation y with y[x[i]] = i.",
    .shape = shape_vector_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_invert,
};
