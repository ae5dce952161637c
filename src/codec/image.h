// Pictures as files: JPEG, PNG, GIF and BMP decoded into tensors and encoded from pixels.
//
// A decoder looks at the size that the file claims before it asks for memory, takes damaged and cut
// files for what they are, and gives INVALID_ARGUMENT for what it cannot read. All but BMP need the
// libraries that RHEOS_WITH_IMAGES builds in; without them they say so (UNIMPLEMENTED).
#ifndef RHEOS_SRC_CODEC_IMAGE_H
#define RHEOS_SRC_CODEC_IMAGE_H

#include "codec/buffer.h"
#include "tensor/tensor.h"

typedef enum rheos__image_kind {
  RHEOS__IMAGE_UNKNOWN,
  RHEOS__IMAGE_JPEG,
  RHEOS__IMAGE_PNG,
  RHEOS__IMAGE_GIF,
  RHEOS__IMAGE_BMP,
} rheos__image_kind;

// By the first bytes.
rheos__image_kind rheos__image_kind_of(const void *data, size_t size_bytes);

// Fails for pictures that TensorFlow refuses as too large: 2^27 along a side, 2^29 pixels in all.
rheos_status *rheos__image_check_size(const char *format, int64_t width, int64_t height);

typedef struct rheos__jpeg_decode_options {
  int channels;  // 0: as in the file (CMYK becomes 3), 1, 3
  int ratio;     // 1, 2, 4, 8: how much smaller
  bool fancy_upscaling;
  bool recover_truncated;     // what is missing is made up instead of being an error
  float acceptable_fraction;  // of the lines: fewer are an error, missing ones become black
  bool accurate;              // the slower, exact transform
  bool crop;
  int64_t crop_y, crop_x, crop_height, crop_width;  // in the picture scaled by `ratio`
} rheos__jpeg_decode_options;

// uint8 [height, width, channels].
rheos_status *rheos__jpeg_decode(const void *data, size_t size_bytes,
                                 const rheos__jpeg_decode_options *options,
                                 rheos_tensor **out_tensor);
// Height, width and channels, from the header alone.
rheos_status *rheos__jpeg_shape(const void *data, size_t size_bytes, int64_t out_shape[3]);

typedef struct rheos__jpeg_encode_options {
  int quality;  // 0 to 100
  bool progressive, optimize_size, chroma_downsampling;
  bool per_cm;  // the densities are per centimetre, not inch
  int x_density, y_density;
  const char *xmp_metadata;  // may be ""
} rheos__jpeg_encode_options;

// Appends the file of `pixels`, [height, width, channels] with 1 or 3 channels.
rheos_status *rheos__jpeg_encode(const uint8_t *pixels, int64_t height, int64_t width,
                                 int64_t channels, const rheos__jpeg_encode_options *options,
                                 rheos__buffer *buffer);

// uint8 or uint16 (by `dtype`) [height, width, channels]; channels 0: as in the file, or 1 to 4.
rheos_status *rheos__png_decode(const void *data, size_t size_bytes, int channels,
                                rheos_dtype dtype, rheos_tensor **out_tensor);

// Appends the file of `pixels`, [height, width, channels] of uint8, or uint16 if `bits` is 16, with
// 1 to 4 channels. `compression` is zlib's level, -1 its default. The bytes are those that
// TensorFlow writes.
rheos_status *rheos__png_encode(const void *pixels, int64_t height, int64_t width, int64_t channels,
                                int bits, int compression, rheos__buffer *buffer);

// uint8 [frames, height, width, 3], each frame drawn over the one before; only the first if
// `only_first`. Of a damaged file, the frames before the damage.
rheos_status *rheos__gif_decode(const void *data, size_t size_bytes, bool only_first,
                                rheos_tensor **out_tensor);

// uint8 [height, width, channels]; channels 0: as in the file, 3, 4, or 1 if it is that.
rheos_status *rheos__bmp_decode(const void *data, size_t size_bytes, int channels,
                                rheos_tensor **out_tensor);

#endif  // RHEOS_SRC_CODEC_IMAGE_H
