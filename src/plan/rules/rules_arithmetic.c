// Arithmetic that need not be done. Bits are kept, also those of -0.0, infinities and NaN, so what
// is left out for floating point is little: x * 1, x / 1, x - 0, x + -0.0.
#include "plan/rules/rewrite.h"

#include <stdint.h>
#include <string.h>

// ---- Numbers that change nothing

// Whether the value is a constant of one element: `number`, with its sign if it is a zero. Only
// dtypes whose arithmetic passes a NaN on as it is.
static bool is_number(const rheos__rewriter *r, int32_t value, double number) {
  const rheos_tensor *t = rheos__rule_constant(r, value);
  if (t == NULL || t->num_elements != 1) return false;
  if (t->dtype == RHEOS_FLOAT) {
    const float wanted = (float)number;
    return memcmp(t->data, &wanted, sizeof wanted) == 0;
  }
  if (t->dtype == RHEOS_DOUBLE) return memcmp(t->data, &number, sizeof number) == 0;
  if (!rheos_dtype_is_integer(t->dtype)) return false;
  const uint64_t wanted = (uint64_t)(int64_t)number;  // as many low bytes of it as the dtype has
  return memcmp(t->data, &wanted, rheos_dtype_size(t->dtype)) == 0;
}

// Whether a constant of one element leaves the shape of `value` as it is.
static bool keeps_shape(const rheos__rewriter *r, int32_t value, int32_t constant) {
  const int32_t rank = rheos__rule_constant(r, constant)->shape.rank;
  return rank == 0 || rank <= rheos__rule_shape(r, value)->rank;
}

// x OP number, and number OP x where `either`.
static rheos_status *drop_number(rheos__rewriter *r, rheos__entry *entry, double number,
                                 bool either) {
  for (int32_t side = either ? 0 : 1; side < 2; ++side) {
    const int32_t constant = rheos__rule_input(r, entry, side);
    const int32_t value = rheos__rule_input(r, entry, 1 - side);
    if (is_number(r, constant, number) && keeps_shape(r, value, constant)) {
      return rheos__rule_pass_on(r, entry, value);
    }
  }
  return NULL;
}

static rheos_status *times_one(rheos__rewriter *r, rheos__entry *entry) {
  return drop_number(r, entry, 1, true);
}

static rheos_status *over_one(rheos__rewriter *r, rheos__entry *entry) {
  return drop_number(r, entry, 1, false);
}

// Of integers it has no kernel.
static rheos_status *real_over_one(rheos__rewriter *r, rheos__entry *entry) {
  if (rheos_dtype_is_integer(rheos__rule_dtype(r, entry->first_value))) return NULL;
  return drop_number(r, entry, 1, false);
}

static rheos_status *integer_over_one(rheos__rewriter *r, rheos__entry *entry) {
  if (!rheos_dtype_is_integer(rheos__rule_dtype(r, entry->first_value))) return NULL;
  return drop_number(r, entry, 1, false);
}

static rheos_status *plus_zero(rheos__rewriter *r, rheos__entry *entry) {
  return drop_number(r, entry, -0.0, true);  // x + 0.0 makes 0.0 of -0.0
}

static rheos_status *minus_zero(rheos__rewriter *r, rheos__entry *entry) {
  return drop_number(r, entry, 0.0, false);
}

// ---- Twice

// f(f(x)) = x
static rheos_status *undo(rheos__rewriter *r, rheos__entry *entry) {
  const rheos__entry *inner =
      rheos__rule_source(r, rheos__rule_input(r, entry, 0), entry->signature->op);
  if (inner == NULL) return NULL;
  return rheos__rule_pass_on(r, entry, rheos__rule_input(r, inner, 0));
}

// f(f(x)) = f(x)
static rheos_status *only_once(rheos__rewriter *r, rheos__entry *entry) {
  const int32_t input = rheos__rule_input(r, entry, 0);
  if (rheos__rule_source(r, input, entry->signature->op) == NULL) return NULL;
  return rheos__rule_pass_on(r, entry, input);
}

// ---- To the same

static rheos_status *cast_to_same(rheos__rewriter *r, rheos__entry *entry) {
  const int32_t input = rheos__rule_input(r, entry, 0);
  if (rheos__rule_dtype(r, input) != rheos__rule_dtype(r, entry->first_value)) return NULL;
  return rheos__rule_pass_on(r, entry, input);
}

static rheos_status *sum_of_one(rheos__rewriter *r, rheos__entry *entry) {
  return entry->num_inputs == 1 ? rheos__rule_pass_on(r, entry, rheos__rule_input(r, entry, 0))
                                : NULL;
}

// ---- Branches that are never taken

// A constant says which of two it is, for all elements. The other one need not be computed.
static rheos_status *take_branch(rheos__rewriter *r, rheos__entry *entry) {
  const rheos_tensor *condition = rheos__rule_constant(r, rheos__rule_input(r, entry, 0));
  if (condition == NULL || condition->num_elements == 0) return NULL;
  const bool *each = condition->data;
  for (int64_t i = 1; i < condition->num_elements; i++) {
    if (each[i] != each[0]) return NULL;
  }
  const int32_t taken = rheos__rule_input(r, entry, each[0] ? 1 : 2);
  const rheos_shape *shape = rheos__rule_shape(r, entry->first_value);
  const rheos_shape *other = rheos__rule_shape(r, rheos__rule_input(r, entry, each[0] ? 2 : 1));
  if (!rheos_shape_is_known(shape) || !rheos_shape_is_known(other)) return NULL;
  if (!rheos_shape_equal(shape, rheos__rule_shape(r, taken))) return NULL;
  return rheos__rule_pass_on(r, entry, taken);
}

// ---- Where the last bits may change

static bool is_two(const rheos__rewriter *r, int32_t value) { return is_number(r, value, 2); }

static rheos_status *square(rheos__rewriter *r, rheos__entry *entry) {
  const int32_t x = rheos__rule_input(r, entry, 0), exponent = rheos__rule_input(r, entry, 1);
  if (!is_two(r, exponent) || !keeps_shape(r, x, exponent)) return NULL;
  const rheos_attr type = {"T", {.kind = RHEOS_ATTR_TYPE, .type = rheos__rule_dtype(r, x)}};
  const rheos__attrs *attrs;
  RHEOS_TRY(rheos__rule_attrs(r, &rheos__op_Square, &type, 1, &attrs));
  return rheos__rule_become(r, entry, &rheos__op_Square, attrs, &x, 1);
}

static rheos_status *log_softmax(rheos__rewriter *r, rheos__entry *entry) {
  const rheos__entry *softmax =
      rheos__rule_source(r, rheos__rule_input(r, entry, 0), &rheos__op_Softmax);
  if (softmax == NULL) return NULL;
  const int32_t logits = rheos__rule_input(r, softmax, 0);
  const rheos_attr type = {"T", {.kind = RHEOS_ATTR_TYPE, .type = rheos__rule_dtype(r, logits)}};
  const rheos__attrs *attrs;
  RHEOS_TRY(rheos__rule_attrs(r, &rheos__op_LogSoftmax, &type, 1, &attrs));
  return rheos__rule_become(r, entry, &rheos__op_LogSoftmax, attrs, &logits, 1);
}

#define RULE(op, function) {&rheos__op_##op, #function, function, RHEOS__RULES_ARITHMETIC, false}
#define AGGRESSIVE(op, function) \
  {&rheos__op_##op, #function, function, RHEOS__RULES_ARITHMETIC, true}

const rheos__rule rheos__arithmetic_rules[] = {
    RULE(Abs, only_once),
    RULE(Add, plus_zero),
    RULE(AddN, sum_of_one),
    RULE(AddV2, plus_zero),
    RULE(Cast, cast_to_same),
    RULE(Ceil, only_once),
    RULE(Conj, undo),
    RULE(Div, over_one),
    RULE(Floor, only_once),
    RULE(FloorDiv, integer_over_one),
    RULE(Invert, undo),
    RULE(LogicalNot, undo),
    RULE(Mul, times_one),
    RULE(Neg, undo),
    RULE(RealDiv, real_over_one),
    RULE(Relu, only_once),
    RULE(Rint, only_once),
    RULE(Round, only_once),
    RULE(Select, take_branch),
    RULE(SelectV2, take_branch),
    RULE(Sub, minus_zero),
    RULE(TruncateDiv, integer_over_one),
    AGGRESSIVE(Log, log_softmax),
    AGGRESSIVE(Pow, square),
    {0},
};
