// BMP: rows of 8, 24 or 32 bits a pixel without compression, the last row first unless the height
// is negative.
#include "codec/image.h"

enum { HEADER_BYTES = 30, WIDTH_AT = 18, HEIGHT_AT = 22, BITS_AT = 28, PIXELS_AT = 10 };

typedef struct bmp {
  int64_t pixels_at, width, height, channels, row_bytes;
  bool top_down;
} bmp;

static rheos_status *read_header(const char *data, size_t size_bytes, int channels, bmp *out) {
  if (size_bytes < HEADER_BYTES + 2) {
    return RHEOS_INVALID(
        "Incomplete bmp content, requires at least 32 bytes to find the header "
        "size, width, height, and bpp, got %llu bytes",
        (unsigned long long)size_bytes);
  }
  if (rheos__image_kind_of(data, size_bytes) != RHEOS__IMAGE_BMP) {
    return RHEOS_INVALID("this is no BMP file");
  }
  uint16_t bits;
  memcpy(&bits, data + BITS_AT, sizeof bits);
  const int64_t height = (int32_t)rheos__load_32(data + HEIGHT_AT);
  *out = (bmp){
      .pixels_at = (int32_t)rheos__load_32(data + PIXELS_AT),
      .width = (int32_t)rheos__load_32(data + WIDTH_AT),
      .height = height < 0 ? -height : height,
      .channels = bits / 8,
      .top_down = height < 0,
  };
  if (out->width <= 0) return RHEOS_INVALID("Width must be positive");
  if (out->height == 0) return RHEOS_INVALID("Height must be nonzero");
  if (out->pixels_at < 0) return RHEOS_INVALID("header size must be nonnegative");
  RHEOS_TRY(rheos__image_check_size("BMP", out->width, out->height));
  if (bits % 8 != 0 || (bits != 8 && bits != 24 && bits != 32)) {
    return RHEOS_INVALID("Number of channels inherent in the image must be 1, 3 or 4, was %d bits",
                         bits);
  }
  if (channels != 0 && channels < 3 && channels != out->channels) {
    return RHEOS_INVALID("channels attribute %d does not match bits per pixel from file %lld",
                         channels, (long long)out->channels);
  }
  return NULL;
}

// From `from_channels` a pixel to `to_channels`: gray is repeated, a missing alpha is opaque.
static void copy_row(const uint8_t *from, int64_t from_channels, uint8_t *to, int64_t to_channels,
                     int64_t width) {
  for (int64_t x = 0; x < width; x++, from += from_channels, to += to_channels) {
    const bool gray = from_channels == 1;
    to[0] = gray ? from[0] : from[2];
    if (to_channels == 1) continue;
    to[1] = gray ? from[0] : from[1];
    to[2] = from[0];
    if (to_channels == 4) to[3] = from_channels == 4 ? from[3] : 255;
  }
}

rheos_status *rheos__bmp_decode(const void *data, size_t size_bytes, int channels,
                                rheos_tensor **out_tensor) {
  bmp b = {0};
  RHEOS_TRY(read_header(data, size_bytes, channels, &b));
  // Rows begin at multiples of 4 bytes.
  b.row_bytes = (b.width * b.channels + 3) / 4 * 4;
  const int64_t needed = b.pixels_at + b.row_bytes * b.height;
  if (needed > (int64_t)size_bytes) {
    return RHEOS_INVALID("Incomplete bmp content, requires at least %lld bytes, got %llu bytes",
                         (long long)needed, (unsigned long long)size_bytes);
  }
  const int64_t out_channels = channels != 0 ? channels : b.channels;
  RHEOS_TRY(
      rheos_tensor_new(RHEOS_UINT8, RHEOS_SHAPE(b.height, b.width, out_channels), out_tensor));
  for (int64_t y = 0; y < b.height; y++) {
    const int64_t from = b.top_down ? y : b.height - 1 - y;
    copy_row((const uint8_t *)data + b.pixels_at + from * b.row_bytes, b.channels,
             (uint8_t *)(*out_tensor)->data + y * b.width * out_channels, out_channels, b.width);
  }
  return NULL;
}
