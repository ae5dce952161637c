// What ops have in common that cut crops out of pictures.
#ifndef RHEOS_SRC_OPS_IMAGE_CROP_AND_RESIZE_H
#define RHEOS_SRC_OPS_IMAGE_CROP_AND_RESIZE_H

#include "ops/image/resize.h"

// The state of the kernels.
typedef struct rheos__crop {
  int64_t batch, height, width, channels;  // of the pictures
  int64_t count, crop_height, crop_width;  // of the crops
  bool nearest;
  float outside;
  rheos_dtype dtype;
  rheos__load_floats_fn load;
} rheos__crop;

#endif  // RHEOS_SRC_OPS_IMAGE_CROP_AND_RESIZE_H
