// Gradients of the ops of factor.c.
#ifndef RHEOS_SRC_OPS_LINALG_FACTOR_GRAD_H
#define RHEOS_SRC_OPS_LINALG_FACTOR_GRAD_H

#include "graph/op_def.h"

void rheos__gradient_qr(rheos__grad *g);
void rheos__gradient_svd(rheos__grad *g);
void rheos__gradient_eigh(rheos__grad *g);

#endif  // RHEOS_SRC_OPS_LINALG_FACTOR_GRAD_H
