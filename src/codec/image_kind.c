// What a picture's first bytes tell, the limits of all formats, and what a build without the
// libraries answers.
#include "codec/image.h"

static bool starts_with(const void *data, size_t size_bytes, const char *magic, size_t length) {
  return size_bytes >= length && memcmp(data, magic, length) == 0;
}

rheos__image_kind rheos__image_kind_of(const void *data, size_t size_bytes) {
  if (starts_with(data, size_bytes, "\xff\xd8\xff", 3)) return RHEOS__IMAGE_JPEG;
  if (starts_with(data, size_bytes, "\x89PNG\r\n\x1a\n", 8)) return RHEOS__IMAGE_PNG;
  if (starts_with(data, size_bytes, "GIF8", 4)) return RHEOS__IMAGE_GIF;
  if (starts_with(data, size_bytes, "BM", 2)) return RHEOS__IMAGE_BMP;
  return RHEOS__IMAGE_UNKNOWN;
}

rheos_status *rheos__image_check_size(const char *format, int64_t width, int64_t height) {
  const int64_t side = (int64_t)1 << 27, pixels = (int64_t)1 << 29;
  if (width > 0 && height > 0 && width < side && height < side && width * height < pixels) {
    return NULL;
  }
  return RHEOS_INVALID("%s size is not supported: %lld by %lld", format, (long long)width,
                       (long long)height);
}

#ifndef RHEOS_WITH_IMAGES

static rheos_status *missing(const char *format) {
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "%s is not available: Rheos was built without image codecs "
                          "(RHEOS_WITH_IMAGES)",
                          format);
}

rheos_status *rheos__jpeg_decode(const void *data, size_t size_bytes,
                                 const rheos__jpeg_decode_options *options,
                                 rheos_tensor **out_tensor) {
  (void)data, (void)size_bytes, (void)options, (void)out_tensor;
  return missing("JPEG");
}

rheos_status *rheos__jpeg_shape(const void *data, size_t size_bytes, int64_t out_shape[3]) {
  (void)data, (void)size_bytes, (void)out_shape;
  return missing("JPEG");
}

rheos_status *rheos__jpeg_encode(const uint8_t *pixels, int64_t height, int64_t width,
                                 int64_t channels, const rheos__jpeg_encode_options *options,
                                 rheos__buffer *buffer) {
  (void)pixels, (void)height, (void)width, (void)channels, (void)options, (void)buffer;
  return missing("JPEG");
}

rheos_status *rheos__png_decode(const void *data, size_t size_bytes, int channels,
                                rheos_dtype dtype, rheos_tensor **out_tensor) {
  (void)data, (void)size_bytes, (void)channels, (void)dtype, (void)out_tensor;
  return missing("PNG");
}

rheos_status *rheos__png_encode(const void *pixels, int64_t height, int64_t width, int64_t channels,
                                int bits, int compression, rheos__buffer *buffer) {
  (void)pixels, (void)height, (void)width, (void)channels, (void)bits, (void)compression;
  (void)buffer;
  return missing("PNG");
}

rheos_status *rheos__gif_decode(const void *data, size_t size_bytes, bool only_first,
                                rheos_tensor **out_tensor) {
  (void)data, (void)size_bytes, (void)only_first, (void)out_tensor;
  return missing("GIF");
}

#endif  // RHEOS_WITH_IMAGES
