// Pictures as files and as tensors, by TensorFlow's ops.
#ifndef RHEOS_CLI_PICTURES_H
#define RHEOS_CLI_PICTURES_H

#include <rheos/tensor.h>

// Whether it begins as a JPEG, PNG, GIF or BMP does.
bool picture_is(const char *bytes, size_t size_bytes);

// The pixels, [height, width, channels]; of a GIF whose frames are wanted a batch of these.
// `channels` 0: as
// the file has them. RHEOS_UINT16 is for PNG, others give RHEOS_UINT8.
rheos_status *picture_decode(const char *bytes, size_t size_bytes, int channels, rheos_dtype dtype,
                             bool all_frames, rheos_tensor **out_pixels);

// A file of pixels [height, width, channels] as a string.
rheos_status *picture_encode(rheos_tensor *pixels, bool as_png, rheos_tensor **out_file);

#endif  // RHEOS_CLI_PICTURES_H
