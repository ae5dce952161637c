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
// `formula`: its name in apply_formulas.h.
rheos_status *rheos__prepare_apply(rheos__prepare *p, int32_t num_cells, rheos__apply_loop loop,
                                   bool flag, rheos__apply_checks checks, const char *formula);

// ---- For devices that update by kernels of their own, and say so to what the above has made

typedef struct rheos__apply_parts {
  const char *formula;
  bool flag;
  int32_t num_cells, num_numbers;
  int32_t grad, indices, numbers[RHEOS__MAX_NUMBERS];  // inputs; indices -1: there are none
} rheos__apply_parts;
rheos__apply_parts rheos__apply_parts_of(const void *state);

// Locks the cells, whose values are brought to the memory that `p` told of, checks the shapes and
// calls `run` on them, unless the gradient has no elements. Numbers and indices are not looked at.
rheos_status *rheos__apply_by(const void *state, rheos_tensor *const *inputs,
                              rheos_status *(*run)(void *argument, rheos_tensor *const *cells,
                                                   rheos_tensor *const *inputs),
                              void *argument);

rheos_status *rheos__shape_apply(rheos__infer *c);

#endif  // RHEOS_SRC_OPS_STATE_APPLY_H
