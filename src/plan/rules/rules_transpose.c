// Transposes and reshapes that cancel out, and transposes that a matrix product can do on its way:
// the product may then choose another kernel, as it does by shape.
#include "plan/rules/rewrite.h"

#include <string.h>

// The constant permutation that a Transpose takes, if it is one of all dimensions of its input: so
// it cannot fail.
static bool permutation_of(rheos__rewriter *r, const rheos__entry *transpose, rheos_shape *out) {
  const rheos_tensor *t = rheos__rule_constant(r, rheos__rule_input(r, transpose, 1));
  const int32_t rank = rheos__rule_shape(r, rheos__rule_input(r, transpose, 0))->rank;
  if (t == NULL || t->shape.rank != 1 || rank < 0 || t->num_elements != rank) return false;
  uint32_t seen = 0;
  out->rank = rank;
  for (int32_t i = 0; i < rank; ++i) {
    int64_t at =
        t->dtype == RHEOS_INT64 ? ((const int64_t *)t->data)[i] : ((const int32_t *)t->data)[i];
    if (at < 0) at += rank;
    if (at < 0 || at >= rank || (seen >> at & 1) != 0) return false;
    seen |= UINT32_C(1) << at;
    out->dims[i] = at;
  }
  return true;
}

static bool changes_nothing(const rheos_shape *permutation) {
  for (int32_t i = 0; i < permutation->rank; ++i) {
    if (permutation->dims[i] != i) return false;
  }
  return true;
}

static rheos_status *cancel(rheos__rewriter *r, rheos__entry *entry) {
  rheos_shape outer, inner;
  if (!permutation_of(r, entry, &outer)) return NULL;
  const int32_t input = rheos__rule_input(r, entry, 0);
  if (changes_nothing(&outer)) return rheos__rule_pass_on(r, entry, input);
  const rheos__entry *before = rheos__rule_source(r, input, &rheos__op_Transpose);
  if (before == NULL || !permutation_of(r, before, &inner)) return NULL;
  for (int32_t i = 0; i < outer.rank; ++i) outer.dims[i] = inner.dims[outer.dims[i]];
  if (!changes_nothing(&outer)) return NULL;
  return rheos__rule_pass_on(r, entry, rheos__rule_input(r, before, 0));
}

static bool swaps_last_two(const rheos_shape *permutation) {
  const int32_t rank = permutation->rank;
  if (rank < 2) return false;
  for (int32_t i = 0; i < rank - 2; ++i) {
    if (permutation->dims[i] != i) return false;
  }
  return permutation->dims[rank - 1] == rank - 2;
}

// The product with the flags `flag_x` and `flag_y` takes its operands as they were before a
// transpose.
static rheos_status *take_in(rheos__rewriter *r, rheos__entry *entry, const char *flag_x,
                             const char *flag_y) {
  const char *const flags[] = {flag_x, flag_y};
  enum { MOST = 16 };
  rheos_attr items[MOST];
  if (entry->num_inputs != 2 || entry->attrs->count > MOST) return NULL;
  int32_t inputs[2];
  bool any = false;
  for (int32_t i = 0; i < entry->attrs->count; ++i) items[i] = entry->attrs->items[i];
  for (int32_t side = 0; side < 2; ++side) {
    inputs[side] = rheos__rule_input(r, entry, side);
    const rheos__entry *transpose = rheos__rule_source(r, inputs[side], &rheos__op_Transpose);
    rheos_shape permutation;
    if (transpose == NULL || !permutation_of(r, transpose, &permutation) ||
        !swaps_last_two(&permutation)) {
      continue;
    }
    inputs[side] = rheos__rule_input(r, transpose, 0);
    any = true;
    for (int32_t i = 0; i < entry->attrs->count; ++i) {
      if (strcmp(items[i].name, flags[side]) == 0) items[i].value.b = !items[i].value.b;
    }
  }
  if (!any) return NULL;
  const rheos__attrs *attrs;
  const rheos__op_def *op = entry->signature->op;
  RHEOS_TRY(rheos__rule_attrs(r, op, items, entry->attrs->count, &attrs));
  return rheos__rule_become(r, entry, op, attrs, inputs, 2);
}

static rheos_status *take_in_matmul(rheos__rewriter *r, rheos__entry *entry) {
  return take_in(r, entry, "transpose_a", "transpose_b");
}

// Adjoint is transposed where numbers are real.
static rheos_status *take_in_batch(rheos__rewriter *r, rheos__entry *entry) {
  const rheos_dtype dtype = rheos__rule_dtype(r, entry->first_value);
  if (dtype == RHEOS_COMPLEX64 || dtype == RHEOS_COMPLEX128) return NULL;
  return take_in(r, entry, "adj_x", "adj_y");
}

// ---- Reshapes

static bool is_known(const rheos__rewriter *r, int32_t value) {
  return rheos_shape_is_known(rheos__rule_shape(r, value));
}

// Whether a Reshape cannot fail: it goes from a known shape to a known, constant one.
static bool is_sure(rheos__rewriter *r, const rheos__entry *reshape) {
  return is_known(r, rheos__rule_input(r, reshape, 0)) && is_known(r, reshape->first_value) &&
         rheos__rule_constant(r, rheos__rule_input(r, reshape, 1)) != NULL;
}

static rheos_status *reshape(rheos__rewriter *r, rheos__entry *entry) {
  const int32_t input = rheos__rule_input(r, entry, 0);
  if (!is_sure(r, entry)) return NULL;
  if (rheos_shape_equal(rheos__rule_shape(r, input), rheos__rule_shape(r, entry->first_value))) {
    return rheos__rule_pass_on(r, entry, input);
  }
  const rheos__entry *before = rheos__rule_source(r, input, &rheos__op_Reshape);
  if (before == NULL || !is_sure(r, before)) return NULL;
  const int32_t inputs[] = {rheos__rule_input(r, before, 0), rheos__rule_input(r, entry, 1)};
  return rheos__rule_become(r, entry, &rheos__op_Reshape, entry->attrs, inputs, 2);
}

#define RULE(op, function) {&rheos__op_##op, #function, function, RHEOS__RULES_ARITHMETIC, false}

const rheos__rule rheos__transpose_rules[] = {
    RULE(BatchMatMul, take_in_batch), RULE(BatchMatMulV2, take_in_batch),
    RULE(MatMul, take_in_matmul),     RULE(Reshape, reshape),
    RULE(Transpose, cancel),          {0},
};
