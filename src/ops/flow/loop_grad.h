// Gradients of what loops are made of, and gradients that pass a Switch or a Merge.
#ifndef RHEOS_SRC_OPS_FLOW_LOOP_GRAD_H
#define RHEOS_SRC_OPS_FLOW_LOOP_GRAD_H

#include "graph/backward_loop.h"
#include "graph/op_def.h"

void rheos__gradient_enter(rheos__grad *g);
void rheos__gradient_exit(rheos__grad *g);
void rheos__gradient_next_iteration(rheos__grad *g);
// Of a Switch, or Merge, of a loop's variable.
void rheos__gradient_loop_switch(rheos__grad *g);
void rheos__gradient_loop_merge(rheos__grad *g);

// StackPush has none; by this function it is known.
void rheos__gradient_stack_push(rheos__grad *g);
// The error of what goes back through a loop that computes gradients itself.
void rheos__refuse_second_order(rheos_scope *scope);

// The loop backward that gradients are being made in; NULL: none.
rheos__backward_loop *rheos__grad_loop(const rheos__grad *g);

// Both sides of a Switch named `name` of a gradient, dense or sparse.
void rheos__switch_gradient(rheos_scope *s, const char *name, const rheos_gradient *gradient,
                            rheos_output pred, rheos_gradient out_sides[2]);
// The Merge named `name` of two gradients; sparse if both are.
rheos_gradient rheos__merge_gradients(rheos_scope *s, const char *name,
                                      const rheos_gradient gradients[2]);

#endif  // RHEOS_SRC_OPS_FLOW_LOOP_GRAD_H
