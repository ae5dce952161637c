// Sums of gradients, dense and sparse.
#ifndef RHEOS_SRC_AUTODIFF_ACCUMULATE_H
#define RHEOS_SRC_AUTODIFF_ACCUMULATE_H

#include <rheos/gradients.h>

#include "graph/build.h"

static inline bool rheos__gradient_is_sparse(const rheos_gradient *gradient) {
  return rheos__is_some(gradient->indices);
}

// The sum of `count` >= 1 gradients of one tensor: dense if any is dense, else sparse. The array is
// used as scratch.
rheos_gradient rheos__sum_gradients(rheos_scope *s, rheos_gradient *gradients, size_t count);

// The rows of a sparse gradient summed up in a tensor of its dense shape; `name` for the node.
rheos_output rheos__gradient_to_dense(rheos_scope *s, const rheos_gradient *gradient,
                                      const char *name);

#endif  // RHEOS_SRC_AUTODIFF_ACCUMULATE_H
