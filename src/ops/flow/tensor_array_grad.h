// Gradients of the ops of tensor arrays, of all versions.
#ifndef RHEOS_SRC_OPS_FLOW_TENSOR_ARRAY_GRAD_H
#define RHEOS_SRC_OPS_FLOW_TENSOR_ARRAY_GRAD_H

#include "graph/op_def.h"

void rheos__gradient_array_write(rheos__grad *g);
void rheos__gradient_array_read(rheos__grad *g);
void rheos__gradient_array_gather(rheos__grad *g);
void rheos__gradient_array_scatter(rheos__grad *g);
void rheos__gradient_array_concat(rheos__grad *g);
void rheos__gradient_array_split(rheos__grad *g);

#endif  // RHEOS_SRC_OPS_FLOW_TENSOR_ARRAY_GRAD_H
