// Nodes that gradients of linear algebra are made of.
#ifndef RHEOS_SRC_OPS_LINALG_LINALG_GRAD_H
#define RHEOS_SRC_OPS_LINALG_LINALG_GRAD_H

#include "ops/kit/op_util.h"

// a b for batches of matrices, either of them adjoint.
rheos_output rheos__matmul_adj(rheos_scope *s, rheos_output a, bool adjoint_a, rheos_output b,
                               bool adjoint_b);
// The conjugate transposes of the matrices in the last two dimensions, of any rank.
rheos_output rheos__adjoint(rheos_scope *s, rheos_output x);
// MatrixBandPart by constants; -1: all.
rheos_output rheos__band_part(rheos_scope *s, rheos_output x, int32_t lower, int32_t upper);
// The lower triangle with half of the diagonal.
rheos_output rheos__lower_half_diagonal(rheos_scope *s, rheos_output x);
rheos_output rheos__triangular_solve_node(rheos_scope *s, rheos_output matrix, rheos_output rhs,
                                          bool lower, bool adjoint);
rheos_output rheos__negated(rheos_scope *s, rheos_output x);
// x / (x^2 + 1e-20): 1 / x, and 0 at 0.
rheos_output rheos__safe_reciprocal(rheos_scope *s, rheos_output x);
// x[..., first:last] by columns; last 0: to the end.
rheos_output rheos__columns(rheos_scope *s, rheos_output x, int32_t first, int32_t last);

#endif  // RHEOS_SRC_OPS_LINALG_LINALG_GRAD_H
