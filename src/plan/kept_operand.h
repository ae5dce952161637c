// Operands that kernels find in a form of their own: see tensor/operand_form.h. In a stretch such an
// operand stands for a place behind the values of the plan, which the executor points at the value and
// its form before the instruction runs; everything else about the step is as with the value itself.
#ifndef RHEOS_SRC_PLAN_KEPT_OPERAND_H
#define RHEOS_SRC_PLAN_KEPT_OPERAND_H

#include "plan/stretch.h"

// One of a stretch, numbered from 0: `data[plan->num_values + number]` of the frame points at its
// rheos__formed.
struct rheos__kept_operand {
  int32_t root;  // the value that it is a form of
  rheos__form_wish wish;
  rheos__form *form;
};

// Which variables a plan writes: looked for when it is first asked.
typedef struct rheos__written {
  const rheos__plan *plan;
  bool *values;  // by value: a writing op takes this reference or handle
} rheos__written;

void rheos__written_deinit(rheos__written *w);

// Whether the bytes of an operand are the same in step after step: a constant's, or those of a variable
// that the plan does not write.
bool rheos__operand_stays(const rheos__stretch *stretch, rheos__written *w, int32_t root);

// Notes the wish of the kernel of the stretch's latest instruction.
rheos_status *rheos__keep_operand(rheos__stretch *stretch, const rheos__form_wish *wish);
// Once everything is in its place: the operands stand for their forms.
void rheos__place_kept_operands(rheos__stretch *stretch);
// What the forms take; other stretches of the session may have some of them too.
size_t rheos__kept_bytes(const rheos__stretch *stretch);
void rheos__kept_operands_deinit(rheos__stretch *stretch);

// Puts the form of the instruction's operand, if there is one already, into the frame, until the next one
// takes its place.
rheos_status *rheos__take_kept_operand(const rheos__stretch *stretch, const rheos__instruction *in,
                                       rheos__frame *frame);
// At the end of a step.
void rheos__release_kept_operands(rheos__frame *frame);

#endif  // RHEOS_SRC_PLAN_KEPT_OPERAND_H
