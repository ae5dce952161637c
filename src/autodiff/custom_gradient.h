// Gradients that a program gave to a piece of its graph, as a function of the library.
//
// The piece ends in an IdentityN of its results, of what the gradients go to, and of what the
// function captures, with three attributes:
//   _custom_gradient          the function
//   _custom_gradient_args     by argument of the function: i >= 0, the gradient of the node's
//   output i;
//                             or -1 - i, the node's input i itself
//   _custom_gradient_results  by result of the function: the node's input that it is the gradient
//   of
// Inputs that no result is for have no gradient.
#ifndef RHEOS_SRC_AUTODIFF_CUSTOM_GRADIENT_H
#define RHEOS_SRC_AUTODIFF_CUSTOM_GRADIENT_H

#include "graph/build.h"

// Whether a node with these attributes brings its gradient along.
bool rheos__has_custom_gradient(const rheos__attrs *attrs);
// Errors go to the scope, also for attributes that do not fit the node.
void rheos__custom_gradient(rheos__grad *g);

#endif  // RHEOS_SRC_AUTODIFF_CUSTOM_GRADIENT_H
