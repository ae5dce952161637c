// What ops have in common that make patches of images.
#ifndef RHEOS_SRC_OPS_IMAGE_PATCHES_H
#define RHEOS_SRC_OPS_IMAGE_PATCHES_H

#include "ops/kit/window.h"

// The state of the kernel.
typedef struct rheos__patches {
  rheos__windows windows;
  rheos__steps in;
  int64_t batch, channels;
  size_t element_bytes;
} rheos__patches;

#endif  // RHEOS_SRC_OPS_IMAGE_PATCHES_H
