// What gradients of calls, branches and loops share.
#ifndef RHEOS_SRC_AUTODIFF_CALL_GRADIENT_H
#define RHEOS_SRC_AUTODIFF_CALL_GRADIENT_H

#include "autodiff/function_split.h"
#include "graph/build.h"

// Whether output `i` of the call has a gradient that is passed on; the gradient, dense.
bool rheos__call_has_grad(const rheos__grad *g, int32_t i);

// In a function's gradient being made: one that leads to itself is an error in the scope, and
// false.
bool rheos__enter_gradient(rheos__grad *g, const rheos__function *function);
void rheos__leave_gradient(rheos__grad *g);

// The function in an attribute of the node; NULL with an error in the scope.
const rheos__function *rheos__function_of(rheos__grad *g, const rheos_func *func);

// Begins, in the library of the graph, a function "__KIND_NAME_NUMBER".
rheos_function *rheos__begin_gradient_function(rheos__grad *g, const char *kind, const char *name);

// An attribute's list with more at its end, in a fresh array; NULL with an error in the scope.
rheos_dtype *rheos__more_types(rheos__grad *g, const char *attr, const rheos_dtype *more,
                               size_t num_more);

#endif  // RHEOS_SRC_AUTODIFF_CALL_GRADIENT_H
