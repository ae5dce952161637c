// The gradient of RGBToHSV.
#ifndef RHEOS_SRC_OPS_IMAGE_COLOR_GRAD_H
#define RHEOS_SRC_OPS_IMAGE_COLOR_GRAD_H

#include "graph/op_def.h"

void rheos__gradient_RGBToHSV(rheos__grad *g);

#endif  // RHEOS_SRC_OPS_IMAGE_COLOR_GRAD_H
