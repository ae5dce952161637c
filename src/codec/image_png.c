// PNG over libpng, with its memory from our allocator. Its errors arrive by longjmp: what must
// outlive one is in a struct of the caller of the function that sets the jump.
#include "codec/image.h"

#ifdef RHEOS_WITH_IMAGES
#include <stdio.h>

#include <png.h>

typedef struct codec {
  png_structp png;
  png_infop info;
  char message[100];
  // Decoding
  const char *at, *end;
  int channels;
  bool wide;  // 16 bits are wanted
  rheos_tensor *tensor;
  // Encoding
  rheos__buffer *buffer;
} codec;

static void on_error(png_structp png, png_const_charp message) {
  codec *c = png_get_error_ptr(png);
  snprintf(c->message, sizeof c->message, "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

static png_voidp allocate(png_structp png, png_alloc_size_t size_bytes) {
  (void)png;
  return rheos__alloc(size_bytes);
}

static void release(png_structp png, png_voidp memory) {
  (void)png;
  rheos__free(memory);
}

static rheos_status *failed(const codec *c) {
  return RHEOS_INVALID("Invalid PNG data: %s", c->message);
}

// ---- Decoding

static void read_bytes(png_structp png, png_bytep to, size_t count) {
  codec *c = png_get_io_ptr(png);
  if ((size_t)(c->end - c->at) < count) png_error(png, "it is cut short");
  memcpy(to, c->at, count);
  c->at += count;
}

static int channels_of_file(const codec *c) {
  if (png_get_color_type(c->png, c->info) != PNG_COLOR_TYPE_PALETTE) {
    return png_get_channels(c->png, c->info);
  }
  return png_get_valid(c->png, c->info, PNG_INFO_tRNS) ? 4 : 3;
}

static void choose_alpha(codec *c, int depth, bool has_alpha) {
  const bool has_transparent = png_get_valid(c->png, c->info, PNG_INFO_tRNS) != 0;
  if (c->channels % 2 == 1) {
    if (has_alpha || has_transparent) png_set_strip_alpha(c->png);
  } else if (!has_alpha && has_transparent) {
    png_set_tRNS_to_alpha(c->png);
  } else if (!has_alpha) {
    png_set_add_alpha(c->png, (1u << depth) - 1, PNG_FILLER_AFTER);
  }
}

// What libpng shall make of the file's pixels.
static void choose_form(codec *c) {
  const int depth = png_get_bit_depth(c->png, c->info);
  const int color = png_get_color_type(c->png, c->info);
  const bool is_gray = !(color & PNG_COLOR_MASK_COLOR), want_gray = c->channels < 3;
  choose_alpha(c, depth, (color & PNG_COLOR_MASK_ALPHA) != 0);
  if (depth > 8 && !c->wide) png_set_strip_16(c->png);
  png_set_packing(c->png);
  png_set_interlace_handling(c->png);
  if (c->wide) png_set_swap(c->png);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(c->png);
  if (is_gray && depth < 8) png_set_expand_gray_1_2_4_to_8(c->png);
  if (want_gray && !is_gray) png_set_rgb_to_gray(c->png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (!want_gray && is_gray) png_set_gray_to_rgb(c->png);
  png_read_update_info(c->png, c->info);
}

// zlib makes at most 1032 bytes of one: more lines than that cannot be in what is left of the file.
enum { MOST_EXPANSION = 1032 };

static bool may_hold_pixels(const codec *c, int64_t height) {
  const uint64_t line_bytes = png_get_rowbytes(c->png, c->info);
  return line_bytes * (uint64_t)height / MOST_EXPANSION <= (uint64_t)(c->end - c->at);
}

static rheos_status *start(codec *c, rheos_dtype dtype) {
  if (setjmp(png_jmpbuf(c->png)) != 0) return failed(c);
  png_set_read_fn(c->png, c, read_bytes);
  png_read_info(c->png, c->info);
  const int64_t width = png_get_image_width(c->png, c->info);
  const int64_t height = png_get_image_height(c->png, c->info);
  RHEOS_TRY(rheos__image_check_size("PNG", width, height));
  if (!may_hold_pixels(c, height)) return RHEOS_INVALID("Invalid PNG data: it is cut short");
  if (c->channels == 0) c->channels = channels_of_file(c);
  choose_form(c);
  // 16 bits are made here from pictures that have fewer.
  const size_t row_bytes =
      (size_t)width * (size_t)c->channels * (png_get_bit_depth(c->png, c->info) == 16 ? 2 : 1);
  if (png_get_rowbytes(c->png, c->info) != row_bytes) {
    return RHEOS_INVALID("Invalid PNG data: rows of %zu bytes, expected %zu",
                         png_get_rowbytes(c->png, c->info), row_bytes);
  }
  return rheos_tensor_new(dtype, RHEOS_SHAPE(height, width, c->channels), &c->tensor);
}

static rheos_status *read_rows(codec *c) {
  if (setjmp(png_jmpbuf(c->png)) != 0) return failed(c);
  const int64_t height = c->tensor->shape.dims[0];
  const size_t row_bytes = c->tensor->size_bytes / (size_t)height;
  const int passes = png_get_interlace_type(c->png, c->info) == PNG_INTERLACE_NONE ? 1 : 7;
  if (passes > 1) memset(c->tensor->data, 0, c->tensor->size_bytes);
  for (int pass = 0; pass < passes; pass++) {
    for (int64_t y = 0; y < height; y++) {
      png_read_row(c->png, (png_bytep)c->tensor->data + (size_t)y * row_bytes, NULL);
    }
  }
  png_read_end(c->png, c->info);
  return NULL;
}

// Rows that hold bytes in the first half of their room become 16 bits in place, from the end.
static void widen_rows(rheos_tensor *tensor) {
  const int64_t height = tensor->shape.dims[0], count = tensor->num_elements / height;
  for (int64_t y = 0; y < height; y++) {
    uint16_t *row = (uint16_t *)tensor->data + y * count;
    const uint8_t *bytes = (const uint8_t *)row;
    for (int64_t i = count; i > 0; i--) {
      const uint8_t value = bytes[i - 1];
      row[i - 1] = (uint16_t)(value << 8 | value);
    }
  }
}

static rheos_status *decode(codec *c, rheos_dtype dtype) {
  c->info = png_create_info_struct(c->png);
  if (c->info == NULL) return rheos__out_of_memory();
  c->wide = dtype == RHEOS_UINT16;
  RHEOS_TRY(start(c, dtype));
  const bool widen = c->wide && png_get_bit_depth(c->png, c->info) <= 8;
  RHEOS_TRY(read_rows(c));
  if (widen) widen_rows(c->tensor);
  return NULL;
}

rheos_status *rheos__png_decode(const void *data, size_t size_bytes, int channels,
                                rheos_dtype dtype, rheos_tensor **out_tensor) {
  codec c = {.at = data, .end = (const char *)data + size_bytes, .channels = channels};
  c.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &c, on_error, on_warning, NULL, allocate,
                                   release);
  if (c.png == NULL) return rheos__out_of_memory();
  rheos_status *status = decode(&c, dtype);
  png_destroy_read_struct(&c.png, &c.info, NULL);
  if (status == NULL) {
    *out_tensor = c.tensor;
  } else {
    rheos_tensor_unref(c.tensor);
  }
  return status;
}

// ---- Encoding

static void write_bytes(png_structp png, png_bytep from, size_t count) {
  codec *c = png_get_io_ptr(png);
  rheos__buffer_put(c->buffer, from, count);
  if (c->buffer->failed) png_error(png, "out of memory");
}

static void flush_bytes(png_structp png) { (void)png; }

typedef struct picture {
  const char *pixels;
  uint32_t height, width;
  int channels, bits, compression;
} picture;

static rheos_status *encode(codec *c, const picture *p) {
  static const int colors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                               PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  c->info = png_create_info_struct(c->png);
  if (c->info == NULL) return rheos__out_of_memory();
  if (setjmp(png_jmpbuf(c->png)) != 0) {
    return RHEOS_INVALID("the PNG could not be encoded: %s", c->message);
  }
  png_set_write_fn(c->png, c, write_bytes, flush_bytes);
  png_set_compression_level(c->png, p->compression);
  png_set_compression_mem_level(c->png, 9);
  png_set_IHDR(c->png, c->info, p->width, p->height, p->bits, colors[p->channels],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(c->png, c->info);
  if (p->bits == 16) png_set_swap(c->png);
  const size_t row_bytes = (size_t)p->width * (size_t)p->channels * (size_t)(p->bits / 8);
  for (uint32_t y = 0; y < p->height; y++) {
    png_write_row(c->png, (png_const_bytep)p->pixels + y * row_bytes);
  }
  png_write_end(c->png, NULL);
  return NULL;
}

rheos_status *rheos__png_encode(const void *pixels, int64_t height, int64_t width, int64_t channels,
                                int bits, int compression, rheos__buffer *buffer) {
  RHEOS_TRY(rheos__image_check_size("PNG", width, height));
  if (channels < 1 || channels > 4) {
    return RHEOS_INVALID("image must have 1, 2, 3, or 4 channels, got %lld", (long long)channels);
  }
  const picture p = {pixels, (uint32_t)height, (uint32_t)width, (int)channels, bits, compression};
  codec c = {.buffer = buffer};
  c.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &c, on_error, on_warning, NULL, allocate,
                                    release);
  if (c.png == NULL) return rheos__out_of_memory();
  rheos_status *status = encode(&c, &p);
  png_destroy_write_struct(&c.png, &c.info);
  return status;
}
#else
typedef int rheos__no_png;  // a file has to hold something
#endif  // RHEOS_WITH_IMAGES
