// What every optimizer update shares: which input is what, the checks, the walk over elements or
// rows. The formulas and the ops are in apply.c.
#ifndef RHEOS_SRC_OPS_STATE_APPLY_H
#define RHEOS_SRC_OPS_STATE_APPLY_H

#include "ops/kit/variable_util.h"

enum { RHEOS__MAX_NUMBERS = 6 };  // the rates and decays of an optimizer

// Updates n elements of the cells (the variable, then its slots) from n elements of the gradient.
// `numbers` are the op's numbers as complex double: rounded to the variable's type before, as their
// tensors were. `flag` is the op's one bool attribute that matters.
typedef void (*rheos__apply_loop)(void *const *cells, const void *grad,
                                  const double _Complex *numbers, bool flag, int64_t n);

// Where TensorFlow looks whether the numbers make sense.
typedef enum rheos__apply_checks {
  RHEOS__CHECKS_NOWHERE,
  RHEOS__CHECKS_EVERYWHERE,
  RHEOS__CHECKS_IN_ROWS,  // in the forms with indices
} rheos__apply_checks;

// Fills in `p` for an op of `num_cells` cells. `loop` NULL: there is none for this dtype.
rheos_status *rheos__prepare_apply(rheos__prepare *p, int32_t num_cells, rheos__apply_loop loop,
                                   bool flag, rheos__apply_checks checks);
rheos_status *rheos__shape_apply(rheos__infer *c);

#endif  // RHEOS_SRC_OPS_STATE_APPLY_H
