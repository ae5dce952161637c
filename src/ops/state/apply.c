// Optimizers: one row each, from which follow the ops that update a variable and its slots, whole
// or by rows, by reference or by handle. The formulas are in apply_formulas.h.
#pragma GCC optimize("O3")
#include "ops/state/apply.h"

#include <tgmath.h>

#include "graph/build.h"
#include "ops/kit/elementwise.h"
#include "ops/state/apply_formulas.h"

// ---- The rows
//
// ROW(name, which ops, cells, the gradient of dense ops, number of cells, inputs before the
//     gradient, inputs after it, flag, checked or none, qualifier of the loops, formula, what it
//     does)
#define VAR(C) "var: " C ", "
#define ACCUM(C) VAR(C) "accum: " C ", "
#define TWO_SUMS(C) VAR(C) "gradient_accumulator: " C ", gradient_squared_accumulator: " C ", "
#define UPDATES(C) ACCUM(C) "accum_update: " C ", "
#define LINEAR(C) ACCUM(C) "linear: " C ", "
#define MOMENT(C) VAR(C) "m: " C ", "
#define M_V(C) MOMENT(C) "v: " C ", "
#define M_V_VHAT(C) M_V(C) "vhat: " C ", "
#define MS_MOM(C) VAR(C) "ms: " C ", mom: " C ", "
#define MG_MS_MOM(C) VAR(C) "mg: " C ", ms: " C ", mom: " C ", "
#define FLAG_none NULL
#define FLAG_checked NULL
#define FLAG_use_nesterov "use_nesterov"
#define FLAG_update_slots "update_slots"
#define FLAG_multiply_linear_by_lr "multiply_linear_by_lr"
#define FLAG_TEXT_none ""
#define FLAG_TEXT_checked ""
#define FLAG_TEXT_use_nesterov "; use_nesterov: bool = false"
#define FLAG_TEXT_update_slots "; update_slots: bool = true"
#define FLAG_TEXT_multiply_linear_by_lr "; multiply_linear_by_lr: bool = false"
#define CHECKS_none RHEOS__CHECKS_NOWHERE
#define CHECKS_checked RHEOS__CHECKS_EVERYWHERE
#define CHECKS_use_nesterov RHEOS__CHECKS_NOWHERE
#define CHECKS_update_slots RHEOS__CHECKS_NOWHERE
#define CHECKS_multiply_linear_by_lr RHEOS__CHECKS_IN_ROWS
#define GRAD "grad: T"
#define DELTA "delta: T"
#define ADAM_NUMBERS "beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, "

// Optimizers whose formulas hold for complex numbers too.
#define COMPLEX_ROWS(ROW)                                                                       \
  ROW(GradientDescent, DENSE, VAR, DELTA, 1, "alpha: T, ", "", none, RHEOS__WIDE,               \
      GRADIENT_DESCENT, "`var` -= `alpha` * `delta`.")                                          \
  ROW(Momentum, ALL, ACCUM, GRAD, 2, "lr: T, ", ", momentum: T", use_nesterov, RHEOS__WIDE,     \
      MOMENTUM, "`accum` = `accum` * `momentum` + `grad`; `var` -= `lr` * `accum`.")            \
  ROW(KerasMomentum, RESOURCE, ACCUM, GRAD, 2, "lr: T, ", ", momentum: T", use_nesterov,        \
      RHEOS__WIDE, KERAS_MOMENTUM,                                                              \
      "`accum` = `accum` * `momentum` - `lr` * `grad`; `var` += `accum`.")                      \
  ROW(Adagrad, ALL, ACCUM, GRAD, 2, "lr: T, ", "", update_slots, RHEOS__WIDE, ADAGRAD,          \
      "`accum` += `grad`^2; `var` -= `lr` * `grad` / sqrt(`accum`).")                           \
  ROW(AdagradV2, ALL, ACCUM, GRAD, 2, "lr: T, epsilon: T, ", "", update_slots, RHEOS__WIDE,     \
      ADAGRAD_V2, "`accum` += `grad`^2; `var` -= `lr` * `grad` / (sqrt(`accum`) + `epsilon`).") \
  ROW(Adadelta, ALL, UPDATES, GRAD, 3, "lr: T, rho: T, epsilon: T, ", "", none, RHEOS__WIDE,    \
      ADADELTA, "Adadelta's update of `var`.")                                                  \
  ROW(RMSProp, ALL, MS_MOM, GRAD, 3, "lr: T, rho: T, momentum: T, epsilon: T, ", "", none,      \
      RHEOS__WIDE, RMSPROP, "RMSProp's update of `var`.")                                       \
  ROW(CenteredRMSProp, ALL, MG_MS_MOM, GRAD, 4, "lr: T, rho: T, momentum: T, epsilon: T, ", "", \
      none, RHEOS__WIDE, CENTERED_RMSPROP, "RMSProp by the variance of the gradient.")          \
  ROW(Adam, DENSE, M_V, GRAD, 3, ADAM_NUMBERS, "", use_nesterov, RHEOS__WIDE, ADAM,             \
      "Adam's update of `var`.")

#define REAL_ROWS(ROW)                                                                             \
  ROW(ProximalGradientDescent, ALL, VAR, DELTA, 1, "alpha: T, l1: T, l2: T, ", "", none,           \
      RHEOS__WIDE, PROXIMAL_GRADIENT_DESCENT, "Gradient descent with L1 and L2 regularization.")   \
  ROW(ProximalAdagrad, ALL, ACCUM, GRAD, 2, "lr: T, l1: T, l2: T, ", "", checked, RHEOS__WIDE,     \
      PROXIMAL_ADAGRAD, "Adagrad with L1 and L2 regularization.")                                  \
  ROW(AdagradDA, ALL, TWO_SUMS, GRAD, 3, "", ", lr: T, l1: T, l2: T, global_step: int64", none,    \
      RHEOS__WIDE, ADAGRAD_DA, "Adagrad by dual averaging.")                                       \
  ROW(AdamWithAmsgrad, RESOURCE_DENSE, M_V_VHAT, GRAD, 4, ADAM_NUMBERS, "", none, RHEOS__WIDE,     \
      AMSGRAD, "Adam by the largest second moment so far.")                                        \
  ROW(AdaMax, DENSE, M_V, GRAD, 3, "beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, ", "",  \
      none, RHEOS__WIDE, ADAMAX, "AdaMax's update of `var`.")                                      \
  ROW(Ftrl, ALL, LINEAR, GRAD, 3, "", ", lr: T, l1: T, l2: T, lr_power: T", multiply_linear_by_lr, \
      , FTRL, "Ftrl-proximal's update of `var`.")                                                  \
  ROW(FtrlV2, ALL, LINEAR, GRAD, 3, "", ", lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T",     \
      multiply_linear_by_lr, , FTRL_V2, "Ftrl-proximal's update of `var`, with shrinkage.")        \
  ROW(AddSign, DENSE, MOMENT, GRAD, 2, "lr: T, alpha: T, sign_decay: T, beta: T, ", "", none,      \
      RHEOS__WIDE, ADD_SIGN, "Larger steps where gradient and momentum agree in sign.")            \
  ROW(PowerSign, DENSE, MOMENT, GRAD, 2, "lr: T, logbase: T, sign_decay: T, beta: T, ", "", none,  \
      , POWER_SIGN, "Exponentially larger steps where gradient and momentum agree in sign.")

#define ROWS(ROW) COMPLEX_ROWS(ROW) REAL_ROWS(ROW)

// ---- From rows to loops

#define LOOP(S, name, count, qualifier, formula)                                                   \
  qualifier static void apply_##name##_##S(void *const *cells, const void *grad,                   \
                                           const double _Complex *numbers, bool flag, int64_t n) { \
    typedef rheos__computed_##S C;                                                                 \
    rheos__stored_##S *vars = cells[0], *s1s = cells[1], *s2s = cells[2], *s3s = cells[3];         \
    const rheos__stored_##S *gs = grad;                                                            \
    C h[RHEOS__MAX_NUMBERS];                                                                       \
    for (int i = 0; i < RHEOS__MAX_NUMBERS; ++i) h[i] = (C)numbers[i];                             \
    const bool f = flag;                                                                           \
    (void)f;                                                                                       \
    RHEOS__INDEPENDENT for (int64_t i = 0; i < n; ++i) {                                           \
      C var = RHEOS__LOAD_##S(vars[i]);                                                            \
      C s1 __attribute__((unused)) = (count) > 1 ? RHEOS__LOAD_##S(s1s[i]) : 0;                    \
      C s2 __attribute__((unused)) = (count) > 2 ? RHEOS__LOAD_##S(s2s[i]) : 0;                    \
      C s3 __attribute__((unused)) = (count) > 3 ? RHEOS__LOAD_##S(s3s[i]) : 0;                    \
      const C g = RHEOS__LOAD_##S(gs[i]);                                                          \
      formula vars[i] = RHEOS__STORE_##S(var);                                                     \
      if ((count) > 1) s1s[i] = RHEOS__STORE_##S(s1);                                              \
      if ((count) > 2) s2s[i] = RHEOS__STORE_##S(s2);                                              \
      if ((count) > 3) s3s[i] = RHEOS__STORE_##S(s3);                                              \
    }                                                                                              \
  }

#define ROW_LOOPS(name, forms, cells, grad, count, before, after, flag, qualifier, formula, text) \
  RHEOS__FLOATS(LOOP, name, count, qualifier, formula)
#define COMPLEX_LOOPS(name, forms, cells, grad, count, before, after, flag, qualifier, formula, \
                      text)                                                                     \
  RHEOS__COMPLEXES(LOOP, name, count, , formula)
ROWS(ROW_LOOPS)
COMPLEX_ROWS(COMPLEX_LOOPS)

// ---- From rows to kernels

#define ENTRY(S, name) [RHEOS__DTYPE_##S] = apply_##name##_##S,

#define KERNEL(name, count, flag, formula, ...)                                                 \
  static rheos_status *prepare_##name(rheos__prepare *p) {                                      \
    static const rheos__apply_loop loops[RHEOS__NUM_DTYPES] = {__VA_ARGS__};                    \
    rheos_dtype dtype = rheos__attr_type(p->attrs, "T");                                        \
    const char *flag_name = FLAG_##flag;                                                        \
    return rheos__prepare_apply(p, count, (int)dtype < RHEOS__NUM_DTYPES ? loops[dtype] : NULL, \
                                flag_name != NULL && rheos__attr_bool(p->attrs, flag_name),     \
                                CHECKS_##flag, formula);                                        \
  }

#define COMPLEX_KERNEL(name, forms, cells, grad, count, before, after, flag, qualifier, formula, \
                       text)                                                                     \
  KERNEL(name, count, flag, #formula, RHEOS__FLOATS(ENTRY, name) RHEOS__COMPLEXES(ENTRY, name))
#define REAL_KERNEL(name, forms, cells, grad, count, before, after, flag, qualifier, formula, \
                    text)                                                                     \
  KERNEL(name, count, flag, #formula, RHEOS__FLOATS(ENTRY, name))
COMPLEX_ROWS(COMPLEX_KERNEL)
REAL_ROWS(REAL_KERNEL)

// ---- From rows to ops

#define OP(op, row, arguments, result, indices_text, flag_text, text) \
  const rheos__op_def rheos__op_##op = {                              \
      .name = #op,                                                    \
      .signature = arguments " -> " result "; T: number" indices_text \
                             "; use_locking: bool = false" flag_text, \
      .doc = text,                                                    \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,                   \
      .shape = rheos__shape_apply,                                    \
      .gradient = rheos__no_gradient,                                 \
      .prepare = prepare_##row,                                       \
  };

#define GRADIENT_ROWS "grad: T, indices: Tindices"
#define ROWS_INDEX "; Tindices: index"

#define REF_DENSE(name, grad, cells, before, after, flag_text, text) \
  OP(Apply##name, name, cells("Ref(T)") before grad after, "out: Ref(T)", "", flag_text, text)
#define RESOURCE_DENSE(name, grad, cells, before, after, flag_text, text) \
  OP(ResourceApply##name, name, cells("resource") before grad after, "", "", flag_text, text)
#define REF_SPARSE(name, cells, before, after, flag_text)                                \
  OP(SparseApply##name, name, cells("Ref(T)") before GRADIENT_ROWS after, "out: Ref(T)", \
     ROWS_INDEX, flag_text, "Apply" #name " on the rows `indices`.")
#define RESOURCE_SPARSE(name, cells, before, after, flag_text)                          \
  OP(ResourceSparseApply##name, name, cells("resource") before GRADIENT_ROWS after, "", \
     ROWS_INDEX, flag_text, "ResourceApply" #name " on the rows `indices`.")

#define DENSE(name, grad, cells, before, after, flag_text, text) \
  REF_DENSE(name, grad, cells, before, after, flag_text, text)   \
  RESOURCE_DENSE(name, grad, cells, before, after, flag_text, text)
#define RESOURCE(name, grad, cells, before, after, flag_text, text) \
  RESOURCE_DENSE(name, grad, cells, before, after, flag_text, text) \
  RESOURCE_SPARSE(name, cells, before, after, flag_text)
#define ALL(name, grad, cells, before, after, flag_text, text) \
  DENSE(name, grad, cells, before, after, flag_text, text)     \
  REF_SPARSE(name, cells, before, after, flag_text)            \
  RESOURCE_SPARSE(name, cells, before, after, flag_text)

#define ROW_OPS(name, forms, cells, grad, count, before, after, flag, qualifier, formula, text) \
  forms(name, grad, cells, before, after, FLAG_TEXT_##flag, text)
ROWS(ROW_OPS)
