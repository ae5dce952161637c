// Sparse tensors as strings or variants, three each, and back: what ops that keep them share.
#ifndef RHEOS_SRC_OPS_SPARSE_SPARSE_SERIALIZE_H
#define RHEOS_SRC_OPS_SPARSE_SPARSE_SERIALIZE_H

#include "graph/op_def.h"

// `inputs`, indices, values and shape, as a vector of three; fails where their ranks do not fit.
rheos_status *rheos__serialize_sparse(rheos_tensor *const *inputs, rheos_dtype dtype,
                                      rheos_tensor **outputs);
// The slices along the first dimension, a row of three each.
rheos_status *rheos__serialize_rows(rheos_tensor *const *inputs, rheos_dtype dtype,
                                    rheos__step *step, rheos_tensor **outputs);
// The sparse tensors in `serialized` (..., 3), whose values have that dtype, as the indices, values
// and shape of one.
rheos_status *rheos__deserialize_sparse(const rheos_tensor *serialized, rheos_dtype dtype,
                                        rheos_tensor **outputs);

#endif  // RHEOS_SRC_OPS_SPARSE_SPARSE_SERIALIZE_H
