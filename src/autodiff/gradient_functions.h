// What gradients of functions keep with the library that the functions are of.
#ifndef RHEOS_SRC_AUTODIFF_GRADIENT_FUNCTIONS_H
#define RHEOS_SRC_AUTODIFF_GRADIENT_FUNCTIONS_H

#include "graph/library.h"

// As rheos__enter_gradient(), for a scope on the library's graph.
bool rheos__enter_gradient_of(rheos_scope *scope, const rheos__function *function);
void rheos__leave_gradient_of(rheos_graph *library);

// The gradient of a function as a function, which is none of the library; NULL if none is kept.
const rheos__function *rheos__find_symbolic(rheos_graph *library, const rheos__function *of);
// Takes a reference to the graph of `made` from the caller, even if it fails.
rheos_status *rheos__keep_symbolic_take(rheos_graph *library, const rheos__function *of,
                                        rheos__function *made);

#endif  // RHEOS_SRC_AUTODIFF_GRADIENT_FUNCTIONS_H
