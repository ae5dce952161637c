// Reading by indices, shared by the ops on tensors and those on variables behind handles.
#ifndef RHEOS_SRC_OPS_ARRAY_GATHER_H
#define RHEOS_SRC_OPS_ARRAY_GATHER_H

#include "graph/op_def.h"

// Shapes of the results; unknown where the inputs do not tell.
rheos_status *rheos__gathered_rows_shape(const rheos__attrs *attrs, const rheos_shape *params,
                                         const rheos_shape *indices, rheos_shape *out_shape);
rheos_status *rheos__gathered_places_shape(const rheos_shape *params, const rheos_shape *indices,
                                           rheos_shape *out_shape);

// Gather along the dimension after the `batch_dims` of `attrs`, and GatherNd.
rheos_status *rheos__gather_rows(const rheos__attrs *attrs, const rheos_tensor *params,
                                 const rheos_tensor *indices, rheos_tensor **out_rows);
rheos_status *rheos__gather_places(const rheos_tensor *params, const rheos_tensor *indices,
                                   rheos_tensor **out_places);

// IndexedSlices for a gather along dimension 0 of something of the shape `params_shape` (int32).
void rheos__gradient_of_rows(rheos__grad *g, rheos_output params_shape);

#endif  // RHEOS_SRC_OPS_ARRAY_GATHER_H
