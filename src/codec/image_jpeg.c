// JPEG over libjpeg-turbo. Its errors arrive by longjmp: what must outlive one is in a struct of
// the caller of the function that sets the jump, never in that function's own variables.
#include "codec/image.h"

#ifdef RHEOS_WITH_IMAGES
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include <jerror.h>

// ---- Errors

typedef struct failure {
  struct jpeg_error_mgr base;
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
} failure;

static void on_error(j_common_ptr info) {
  failure *f = (failure *)info->err;
  info->err->format_message(info, f->message);
  longjmp(f->jump, 1);
}

static void on_message(j_common_ptr info) { (void)info; }

static struct jpeg_error_mgr *init_failure(failure *f) {
  jpeg_std_error(&f->base);
  f->base.error_exit = on_error;
  f->base.output_message = on_message;
  f->message[0] = 0;
  return &f->base;
}

static rheos_status *failed(const failure *f) {
  return RHEOS_INVALID("Invalid JPEG data: %s", f->message[0] ? f->message : "it is cut short");
}

// ---- Reading from memory

typedef struct decoder {
  struct jpeg_decompress_struct info;
  failure failure;
  struct jpeg_source_mgr source;
  struct jpeg_progress_mgr progress;
  bool recover_truncated;
  rheos_tensor *tensor;
  uint8_t *line;  // where a line is wider, or has more channels, than in the tensor
  int64_t first_line, lines_read, height, width, channels, skip_columns;
} decoder;

static void ignore_source(j_decompress_ptr info) { (void)info; }

// At the end of the data: an end marker made up; or, as in TensorFlow, an error between two pieces
// of the file and "wait for more" inside one, which ends the reading.
static boolean fill_input(j_decompress_ptr info) {
  static const JOCTET end_marker[2] = {0xff, JPEG_EOI};
  decoder *d = (decoder *)((char *)info->src - offsetof(decoder, source));
  if (!d->recover_truncated && info->src->bytes_in_buffer == 0) ERREXIT(info, JERR_INPUT_EOF);
  if (!d->recover_truncated) return FALSE;
  info->src->next_input_byte = end_marker;
  info->src->bytes_in_buffer = sizeof end_marker;
  return TRUE;
}

static void skip_input(j_decompress_ptr info, long count) {
  struct jpeg_source_mgr *source = info->src;
  if (count <= 0) return;
  const size_t skipped =
      (size_t)count > source->bytes_in_buffer ? source->bytes_in_buffer : (size_t)count;
  source->next_input_byte += skipped;
  source->bytes_in_buffer -= skipped;
}

// A small file can ask for very many passes over a large picture.
enum { MOST_SCANS = 500 };
static void check_progress(j_common_ptr info) {
  j_decompress_ptr d = (j_decompress_ptr)info;
  if (d->input_scan_number > MOST_SCANS) ERREXIT(info, JERR_BAD_PROGRESSION);
}

static void init_decoder(decoder *d, const void *data, size_t size_bytes) {
  d->info.err = init_failure(&d->failure);
  jpeg_create_decompress(&d->info);
  d->source = (struct jpeg_source_mgr){
      .next_input_byte = data,
      .bytes_in_buffer = size_bytes,
      .init_source = ignore_source,
      .fill_input_buffer = fill_input,
      .skip_input_data = skip_input,
      .resync_to_restart = jpeg_resync_to_restart,
      .term_source = ignore_source,
  };
  d->info.src = &d->source;
  d->progress.progress_monitor = check_progress;
  d->info.progress = &d->progress;
}

static void deinit_decoder(decoder *d) {
  jpeg_destroy_decompress(&d->info);
  rheos__free(d->line);
}

static bool is_cmyk(const struct jpeg_decompress_struct *info) {
  return info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
}

// ---- Decoding

static rheos_status *choose_colors(decoder *d, int channels) {
  if (channels == 0) channels = d->info.num_components < 3 ? d->info.num_components : 3;
  if (channels != 1 && channels != 3) {
    return RHEOS_INVALID("a JPEG has 1 or 3 channels, not %d", channels);
  }
  d->channels = channels;
  if (channels == 1) {
    d->info.out_color_space = JCS_GRAYSCALE;
  } else {
    d->info.out_color_space = is_cmyk(&d->info) ? JCS_CMYK : JCS_RGB;
  }
  return NULL;
}

static rheos_status *choose_window(decoder *d, const rheos__jpeg_decode_options *options) {
  const int64_t height = d->info.output_height, width = d->info.output_width;
  d->height = height;
  d->width = width;
  if (!options->crop) return NULL;
  const int64_t y = options->crop_y, x = options->crop_x;
  d->height = options->crop_height;
  d->width = options->crop_width;
  if (y >= 0 && x >= 0 && d->height > 0 && d->width > 0 && y <= height && x <= width &&
      d->height <= height - y && d->width <= width - x) {
    return NULL;
  }
  return RHEOS_INVALID(
      "Invalid crop window: x=%lld, y=%lld, w=%lld, h=%lld for image_width: %lld "
      "and image_height: %lld",
      (long long)x, (long long)y, (long long)d->width, (long long)d->height, (long long)width,
      (long long)height);
}

// Cropping starts at a column that the library chooses, at or before the one that is wanted.
static void skip_to_window(decoder *d, const rheos__jpeg_decode_options *options) {
  JDIMENSION x = (JDIMENSION)options->crop_x, width = (JDIMENSION)options->crop_width;
  if (!options->crop) return;
  jpeg_crop_scanline(&d->info, &x, &width);
  d->skip_columns = options->crop_x - x;
  d->first_line = options->crop_y;
  if (d->first_line > 0) jpeg_skip_scanlines(&d->info, (JDIMENSION)d->first_line);
}

static rheos_status *allocate(decoder *d) {
  const int64_t line_bytes = (int64_t)d->info.output_width * d->info.output_components;
  d->line = rheos__alloc((size_t)line_bytes);
  if (d->line == NULL) return rheos__out_of_memory();
  RHEOS_TRY(
      rheos_tensor_new(RHEOS_UINT8, RHEOS_SHAPE(d->height, d->width, d->channels), &d->tensor));
  memset(d->tensor->data, 0, d->tensor->size_bytes);
  return NULL;
}

// Inverted CMYK, as Adobe's programs write it, and the other one.
static void line_of_cmyk(const uint8_t *from, uint8_t *to, int64_t width, bool inverted) {
  for (int64_t i = 0; i < width; i++, from += 4, to += 3) {
    const int k = from[3];
    for (int j = 0; j < 3; j++) {
      to[j] = (uint8_t)(inverted ? from[j] * k / 255 : (255 - from[j]) * (255 - k) / 255);
    }
  }
}

static void take_line(decoder *d, int64_t line) {
  uint8_t *to = (uint8_t *)d->tensor->data + line * d->width * d->channels;
  const uint8_t *from = d->line + d->skip_columns * d->info.output_components;
  if (d->info.out_color_space == JCS_CMYK) {
    line_of_cmyk(from, to, d->width, d->info.saw_Adobe_marker);
  } else {
    memcpy(to, from, (size_t)(d->width * d->channels));
  }
}

static void read_lines(decoder *d) {
  while (d->lines_read < d->height) {
    JSAMPROW row = d->line;
    if (jpeg_read_scanlines(&d->info, &row, 1) != 1) return;
    take_line(d, d->lines_read);
    d->lines_read++;
  }
}

// Everything up to the allocation of the picture; a failure from here on is one of the file.
static rheos_status *start(decoder *d, const rheos__jpeg_decode_options *options) {
  if (setjmp(d->failure.jump) != 0) return failed(&d->failure);
  if (jpeg_read_header(&d->info, TRUE) != JPEG_HEADER_OK) return failed(&d->failure);
  RHEOS_TRY(choose_colors(d, options->channels));
  d->info.do_fancy_upsampling = options->fancy_upscaling;
  d->info.scale_num = 1;
  d->info.scale_denom = (unsigned)options->ratio;
  d->info.dct_method = options->accurate ? JDCT_ISLOW : JDCT_IFAST;
  jpeg_calc_output_dimensions(&d->info);
  RHEOS_TRY(rheos__image_check_size("JPEG", d->info.output_width, d->info.output_height));
  RHEOS_TRY(choose_window(d, options));
  if (!jpeg_start_decompress(&d->info)) return failed(&d->failure);
  return allocate(d);
}

// Reads what comes behind the last line wanted, up to an end marker: it has to be sound as far as
// it goes. Behind a window TensorFlow does not look.
static void finish(decoder *d) {
  if (d->lines_read < d->height) return;
  const JDIMENSION rest = d->info.output_height - d->info.output_scanline;
  if (rest > 0) jpeg_skip_scanlines(&d->info, rest);
  jpeg_finish_decompress(&d->info);
}

// Lines into the tensor until all are there or the data end.
static rheos_status *read_picture(decoder *d, const rheos__jpeg_decode_options *options) {
  if (setjmp(d->failure.jump) != 0) return failed(&d->failure);
  skip_to_window(d, options);
  read_lines(d);
  finish(d);
  return NULL;
}

static rheos_status *decode(decoder *d, const rheos__jpeg_decode_options *options) {
  RHEOS_TRY(start(d, options));
  RHEOS_TRY(read_picture(d, options));
  const float fraction = (float)d->lines_read / (float)d->height;
  const float wanted = options->acceptable_fraction < 1 ? options->acceptable_fraction : 1;
  if (fraction < wanted) {
    return RHEOS_INVALID("Invalid JPEG data: %lld of %lld lines could be read (it is cut short)",
                         (long long)d->lines_read, (long long)d->height);
  }
  return NULL;
}

rheos_status *rheos__jpeg_decode(const void *data, size_t size_bytes,
                                 const rheos__jpeg_decode_options *options,
                                 rheos_tensor **out_tensor) {
  decoder d = {.recover_truncated = options->recover_truncated};
  init_decoder(&d, data, size_bytes);
  rheos_status *status = decode(&d, options);
  deinit_decoder(&d);
  if (status == NULL) {
    *out_tensor = d.tensor;
  } else {
    rheos_tensor_unref(d.tensor);
  }
  return status;
}

static rheos_status *read_shape(decoder *d, int64_t out_shape[3]) {
  if (setjmp(d->failure.jump) != 0) return failed(&d->failure);
  if (jpeg_read_header(&d->info, TRUE) != JPEG_HEADER_OK) return failed(&d->failure);
  jpeg_calc_output_dimensions(&d->info);
  out_shape[0] = d->info.output_height;
  out_shape[1] = d->info.output_width;
  out_shape[2] = d->info.num_components;
  return NULL;
}

rheos_status *rheos__jpeg_shape(const void *data, size_t size_bytes, int64_t out_shape[3]) {
  decoder d = {0};
  init_decoder(&d, data, size_bytes);
  rheos_status *status = read_shape(&d, out_shape);
  deinit_decoder(&d);
  return status;
}

// ---- Encoding

enum { PIECE_BYTES = 16384 };

typedef struct encoder {
  struct jpeg_compress_struct info;
  failure failure;
  struct jpeg_destination_mgr destination;
  rheos__buffer *buffer;
  uint8_t piece[PIECE_BYTES];
} encoder;

static encoder *encoder_of(j_compress_ptr info) {
  return (encoder *)((char *)info->dest - offsetof(encoder, destination));
}

static void init_destination(j_compress_ptr info) {
  info->dest->next_output_byte = encoder_of(info)->piece;
  info->dest->free_in_buffer = PIECE_BYTES;
}

static boolean empty_output(j_compress_ptr info) {
  encoder *e = encoder_of(info);
  rheos__buffer_put(e->buffer, e->piece, PIECE_BYTES);
  init_destination(info);
  return TRUE;
}

static void term_destination(j_compress_ptr info) {
  encoder *e = encoder_of(info);
  rheos__buffer_put(e->buffer, e->piece, PIECE_BYTES - info->dest->free_in_buffer);
}

// Adobe's extensible metadata are an APP1 marker under a name.
static rheos_status *write_metadata(encoder *e, const char *xmp) {
  static const char name[] = "http://ns.adobe.com/xap/1.0/";
  const size_t length = strlen(xmp), most = 65533 - sizeof name;
  if (length == 0) return NULL;
  if (length > most) {
    return RHEOS_INVALID("xmp_metadata has %zu bytes, at most %zu fit", length, most);
  }
  jpeg_write_m_header(&e->info, JPEG_APP0 + 1, (unsigned)(sizeof name + length));
  for (size_t i = 0; i < sizeof name; i++) jpeg_write_m_byte(&e->info, name[i]);
  for (size_t i = 0; i < length; i++) jpeg_write_m_byte(&e->info, (uint8_t)xmp[i]);
  return NULL;
}

static void choose_form(encoder *e, const rheos__jpeg_encode_options *options) {
  jpeg_set_defaults(&e->info);
  if (options->optimize_size) e->info.optimize_coding = TRUE;
  e->info.density_unit = options->per_cm ? 2 : 1;
  e->info.X_density = (UINT16)options->x_density;
  e->info.Y_density = (UINT16)options->y_density;
  if (!options->chroma_downsampling) {
    for (int i = 0; i < e->info.num_components; i++) {
      e->info.comp_info[i].h_samp_factor = e->info.comp_info[i].v_samp_factor = 1;
    }
  }
  jpeg_set_quality(&e->info, options->quality, TRUE);
  if (options->progressive) jpeg_simple_progression(&e->info);
}

static rheos_status *encode(encoder *e, const uint8_t *pixels,
                            const rheos__jpeg_encode_options *options) {
  if (setjmp(e->failure.jump) != 0) {
    return RHEOS_INVALID("the JPEG could not be encoded: %s", e->failure.message);
  }
  choose_form(e, options);
  jpeg_start_compress(&e->info, TRUE);
  RHEOS_TRY(write_metadata(e, options->xmp_metadata));
  const size_t row_bytes = (size_t)e->info.image_width * (size_t)e->info.input_components;
  while (e->info.next_scanline < e->info.image_height) {
    JSAMPROW row = (JSAMPROW)(uintptr_t)(pixels + row_bytes * e->info.next_scanline);
    jpeg_write_scanlines(&e->info, &row, 1);
  }
  jpeg_finish_compress(&e->info);
  return NULL;
}

rheos_status *rheos__jpeg_encode(const uint8_t *pixels, int64_t height, int64_t width,
                                 int64_t channels, const rheos__jpeg_encode_options *options,
                                 rheos__buffer *buffer) {
  if (height <= 0 || width <= 0 || height > JPEG_MAX_DIMENSION || width > JPEG_MAX_DIMENSION) {
    return RHEOS_INVALID("a JPEG has 1 to %ld lines and columns, not %lld by %lld",
                         JPEG_MAX_DIMENSION, (long long)height, (long long)width);
  }
  encoder *e = rheos__alloc_zeroed(sizeof *e);
  if (e == NULL) return rheos__out_of_memory();
  e->buffer = buffer;
  e->info.err = init_failure(&e->failure);
  jpeg_create_compress(&e->info);
  e->destination = (struct jpeg_destination_mgr){.init_destination = init_destination,
                                                 .empty_output_buffer = empty_output,
                                                 .term_destination = term_destination};
  e->info.dest = &e->destination;
  e->info.image_width = (JDIMENSION)width;
  e->info.image_height = (JDIMENSION)height;
  e->info.input_components = (int)channels;
  e->info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  rheos_status *status = encode(e, pixels, options);
  jpeg_destroy_compress(&e->info);
  rheos__free(e);
  if (status == NULL && buffer->failed) return rheos__out_of_memory();
  return status;
}
#else
typedef int rheos__no_jpeg;  // a file has to hold something
#endif  // RHEOS_WITH_IMAGES
