// Picture files: what was encoded comes back, and a file that is cut or damaged at any byte gives a
// picture or a status.
#ifdef RHEOS_WITH_IMAGES
#include <stdio.h>

#include <jpeglib.h>
#endif

#include "codec/image.h"
#include "format/format_support.h"

#ifdef RHEOS_WITH_IMAGES

enum { HEIGHT = 19, WIDTH = 23 };

static void paint(uint8_t *pixels, int channels) {
  for (int i = 0; i < HEIGHT * WIDTH * channels; i++) {
    pixels[i] = (uint8_t)(i / channels * 3 + i % channels * 50);
  }
}

static const rheos__jpeg_decode_options plain = {
    .ratio = 1, .fancy_upscaling = true, .acceptable_fraction = 1};

static rheos__buffer jpeg_of(int channels, bool progressive) {
  uint8_t pixels[HEIGHT * WIDTH * 3];
  const rheos__jpeg_encode_options options = {.quality = 90,
                                              .progressive = progressive,
                                              .optimize_size = true,
                                              .chroma_downsampling = true,
                                              .xmp_metadata = "<x/>"};
  rheos__buffer buffer = {0};
  paint(pixels, channels);
  expect_ok(rheos__jpeg_encode(pixels, HEIGHT, WIDTH, channels, &options, &buffer));
  return buffer;
}

static rheos__buffer png_of(int channels, int bits) {
  uint8_t pixels[HEIGHT * WIDTH * 4 * 2] = {0};
  rheos__buffer buffer = {0};
  paint(pixels, channels);
  expect_ok(rheos__png_encode(pixels, HEIGHT, WIDTH, channels, bits, -1, &buffer));
  return buffer;
}

// Two frames of 2 bits a pixel, the second with a see-through color.
static rheos__buffer gif_of_two(void) {
  static const unsigned char bytes[] =
      "GIF89a\x02\0\x02\0\x81\0\0\xff\0\0\0\xff\0\0\0\xff\x09\x08\x07"
      "\x2c\0\0\0\0\x02\0\x02\0\0\x02\x03\x44\x64\x05\0"
      "\x21\xf9\x04\x01\x05\0\x01\0\x2c\0\0\0\0\x02\0\x02\0\0\x02\x03\x44\x64\x05\0\x3b";
  rheos__buffer buffer = {0};
  rheos__buffer_put(&buffer, bytes, sizeof bytes - 1);
  return buffer;
}

static rheos__buffer bmp_of(void) {
  unsigned char bytes[54 + 16] = "BM";
  bytes[10] = 54, bytes[14] = 40, bytes[18] = 2, bytes[22] = 2, bytes[26] = 1, bytes[28] = 24;
  for (int i = 54; i < 70; i++) bytes[i] = (unsigned char)i;
  rheos__buffer buffer = {0};
  rheos__buffer_put(&buffer, bytes, sizeof bytes);
  return buffer;
}

// Decodes by what the first bytes say, or by `kind` if they are damaged.
static rheos_status *decode(const void *data, size_t size_bytes, rheos__image_kind kind,
                            bool recover, rheos_tensor **out) {
  rheos__jpeg_decode_options options = plain;
  options.recover_truncated = recover;
  switch (kind) {
    case RHEOS__IMAGE_JPEG: return rheos__jpeg_decode(data, size_bytes, &options, out);
    case RHEOS__IMAGE_PNG: return rheos__png_decode(data, size_bytes, 0, RHEOS_UINT8, out);
    case RHEOS__IMAGE_GIF: return rheos__gif_decode(data, size_bytes, false, out);
    default: return rheos__bmp_decode(data, size_bytes, 0, out);
  }
}

static void expect_tensor_or_status(const char *data, size_t size_bytes, rheos__image_kind kind) {
  for (int recover = 0; recover < 2; recover++) {
    rheos_tensor *tensor = NULL;
    // In a block of its own, so that the sanitizers see a read past the end.
    char *copy = rheos__alloc(size_bytes);
    if (size_bytes > 0) memcpy(copy, data, size_bytes);
    rheos_status *status = decode(copy, size_bytes, kind, recover, &tensor);
    rheos__free(copy);
    if (status != NULL) {
      assert_null(tensor);
      assert_true(rheos_status_message(status)[0] != 0);
      assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
    } else {
      assert_non_null(tensor);
    }
    rheos_status_free(status);
    rheos_tensor_unref(tensor);
  }
}

static void damage_take(rheos__buffer file, rheos__image_kind kind) {
  assert_int_equal(rheos__image_kind_of(file.data, file.size_bytes), kind);
  for (size_t cut = 0; cut < file.size_bytes; cut++) {
    expect_tensor_or_status(file.data, cut, kind);
  }
  for (size_t i = 0; i < file.size_bytes; i++) {
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    // Sizes of gigabytes are honest requests; they would only make the test slow.
    const bool size_field = kind == RHEOS__IMAGE_BMP && i >= 18 && i < 26;
    for (int k = 0; k < 3 && !size_field; k++) {
      file.data[i] ^= (char)flips[k];
      expect_tensor_or_status(file.data, file.size_bytes, kind);
      file.data[i] ^= (char)flips[k];
    }
  }
  rheos__buffer_deinit(&file);
}

static void test_image__withstands_damage(void **state) {
  (void)state;
  damage_take(jpeg_of(3, false), RHEOS__IMAGE_JPEG);
  damage_take(jpeg_of(1, true), RHEOS__IMAGE_JPEG);
  damage_take(png_of(3, 8), RHEOS__IMAGE_PNG);
  damage_take(png_of(2, 16), RHEOS__IMAGE_PNG);
  damage_take(gif_of_two(), RHEOS__IMAGE_GIF);
  damage_take(bmp_of(), RHEOS__IMAGE_BMP);
}

static void test_png__comes_back(void **state) {
  (void)state;
  for (int channels = 1; channels <= 4; channels++) {
    uint8_t pixels[HEIGHT * WIDTH * 4];
    rheos__buffer file = png_of(channels, 8);
    rheos_tensor *tensor = NULL;
    paint(pixels, channels);
    expect_ok(rheos__png_decode(file.data, file.size_bytes, 0, RHEOS_UINT8, &tensor));
    assert_int_equal(tensor->shape.dims[0], HEIGHT);
    assert_int_equal(tensor->shape.dims[1], WIDTH);
    assert_int_equal(tensor->shape.dims[2], channels);
    assert_memory_equal(tensor->data, pixels, tensor->size_bytes);
    rheos_tensor_unref(tensor);
    rheos__buffer_deinit(&file);
  }
}

static void test_jpeg__comes_back_nearly(void **state) {
  (void)state;
  uint8_t pixels[HEIGHT * WIDTH];
  rheos__buffer file = jpeg_of(1, false);
  rheos_tensor *tensor = NULL;
  paint(pixels, 1);
  expect_ok(rheos__jpeg_decode(file.data, file.size_bytes, &plain, &tensor));
  int64_t difference = 0;
  for (int i = 0; i < HEIGHT * WIDTH; i++) {
    difference += llabs((int64_t)pixels[i] - ((const uint8_t *)tensor->data)[i]);
  }
  assert_true(difference < HEIGHT * WIDTH * 6);
  rheos_tensor_unref(tensor);
  rheos__buffer_deinit(&file);
}

// A JPEG of four inks, as print shops write it: black ink over everything else.
static void test_jpeg__of_four_inks_is_mixed(void **state) {
  (void)state;
  struct jpeg_compress_struct info;
  struct jpeg_error_mgr errors;
  unsigned char *file = NULL;
  unsigned long size_bytes = 0;
  uint8_t inks[8 * 4];
  JSAMPROW row = inks;
  for (int i = 0; i < 8; i++) {
    inks[4 * i] = 255, inks[4 * i + 1] = 128, inks[4 * i + 2] = 0, inks[4 * i + 3] = 200;
  }
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &file, &size_bytes);
  info.image_width = 8, info.image_height = 8;
  info.input_components = 4, info.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < 8; y++) jpeg_write_scanlines(&info, &row, 1);
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  rheos_tensor *tensor = NULL;
  expect_ok(rheos__jpeg_decode(file, size_bytes, &plain, &tensor));
  assert_int_equal(tensor->shape.dims[2], 3);
  const uint8_t *pixel = tensor->data;  // libjpeg writes Adobe's marker: the inks are inverted
  assert_in_range(pixel[0], 198, 202);
  assert_in_range(pixel[1], 98, 102);
  assert_in_range(pixel[2], 0, 2);
  rheos_tensor_unref(tensor);
  free(file);
}

static void test_gif__keeps_the_frame_before(void **state) {
  (void)state;
  rheos__buffer file = gif_of_two();
  rheos_tensor *tensor = NULL;
  expect_ok(rheos__gif_decode(file.data, file.size_bytes, false, &tensor));
  assert_int_equal(tensor->shape.dims[0], 2);
  const uint8_t *frames = tensor->data;
  assert_memory_equal(frames, frames + 12, 12);
  rheos_tensor_unref(tensor);
  rheos__buffer_deinit(&file);
}

static void test_image__refuses_sizes(void **state) {
  (void)state;
  const int64_t sizes[][2] = {
      {0, 1}, {1, 0}, {-1, 5}, {1 << 27, 1}, {1, 1 << 27}, {1 << 15, 1 << 14}, {INT64_MAX, 2}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    rheos_status *status = rheos__image_check_size("PNG", sizes[i][0], sizes[i][1]);
    assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
    rheos_status_free(status);
  }
  assert_null(rheos__image_check_size("PNG", 1 << 15, (1 << 14) - 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_image__withstands_damage),
      cmocka_unit_test(test_png__comes_back),
      cmocka_unit_test(test_jpeg__comes_back_nearly),
      cmocka_unit_test(test_jpeg__of_four_inks_is_mixed),
      cmocka_unit_test(test_gif__keeps_the_frame_before),
      cmocka_unit_test(test_image__refuses_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else

static void test_image__says_that_it_is_missing(void **state) {
  (void)state;
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos__png_decode("", 0, 0, RHEOS_UINT8, &tensor);
  assert_int_equal(rheos_status_code(status), RHEOS_UNIMPLEMENTED);
  assert_non_null(strstr(rheos_status_message(status), "built without image codecs"));
  rheos_status_free(status);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_image__says_that_it_is_missing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
