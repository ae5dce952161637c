// Pictures to files, over the codecs of codec/image.h.
#include "codec/image.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// Element `index` of the strings `out` becomes what is in `buffer`, which ends here.
static rheos_status *store_take(rheos_status *status, rheos__buffer *buffer, rheos_tensor *out,
                                int64_t index) {
  if (status == NULL) {
    status = rheos_tensor_set_string(out, index, buffer->data, buffer->size_bytes);
  }
  rheos__buffer_deinit(buffer);
  return status;
}

static rheos_status *check_picture(const rheos_tensor *image) {
  if (image->shape.rank == 3) return NULL;
  rheos__shape_text text;
  return RHEOS_INVALID("image must be 3-dimensional, got shape %s",
                       rheos__shape_text_of(&image->shape, &text));
}

// ---- EncodePng

typedef struct png_state {
  int bits, compression;
} png_state;

static rheos_status *compute_png(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  const png_state *s = state;
  const rheos_tensor *images = inputs[0];
  rheos_shape batch = images->shape;
  if (batch.rank < 3) return check_picture(images);
  batch.rank -= 3;
  const int64_t *dims = images->shape.dims + batch.rank;
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &batch, &outputs[0]));
  const int64_t picture = dims[0] * dims[1] * dims[2] * (s->bits / 8);
  for (int64_t i = 0; i < outputs[0]->num_elements; i++) {
    if (step != NULL && rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    rheos__buffer buffer = {0};
    rheos_status *status = rheos__png_encode((const char *)images->data + i * picture, dims[0],
                                             dims[1], dims[2], s->bits, s->compression, &buffer);
    RHEOS_TRY(store_take(status, &buffer, outputs[0], i));
  }
  return NULL;
}

static rheos_status *prepare_EncodePng(rheos__prepare *p) {
  const int64_t compression = rheos__attr_int(p->attrs, "compression");
  if (compression < -1 || compression > 9) {
    return RHEOS_INVALID("compression should be in [-1,9], got %lld", (long long)compression);
  }
  png_state *s = RHEOS_NEW_STATE(p, png_state);
  if (s == NULL) return rheos__out_of_memory();
  s->bits = p->input_dtypes[0] == RHEOS_UINT16 ? 16 : 8;
  s->compression = (int)compression;
  p->compute = compute_png;
  return NULL;
}

static rheos_status *png_shape(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 3));
  const rheos_shape *images = &c->input_shapes[0];
  if (images->rank < 0) return NULL;
  c->output_shapes[0] = *images;
  c->output_shapes[0].rank -= 3;
  return NULL;
}

const rheos__op_def rheos__op_EncodePng = {
    .name = "EncodePng",
    .signature = "image: T -> contents: string; compression: int = -1; T: {uint8, uint16} = uint8",
    .doc = "The PNG file of each picture [height, width, channels].",
    .shape = png_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_EncodePng,
};

// ---- EncodeJpeg

typedef struct jpeg_state {
  int64_t channels;  // 0: what the picture has
  bool quality_is_input;
  rheos__jpeg_encode_options options;
} jpeg_state;

static rheos_status *check_channels(const jpeg_state *s, const rheos_shape *shape) {
  const int64_t channels = shape->dims[2];
  if (s->channels != 0 && s->channels != channels) {
    return RHEOS_INVALID("format expects %lld channels, got an image with %lld",
                         (long long)s->channels, (long long)channels);
  }
  if (channels == 1 || channels == 3) return NULL;
  return RHEOS_INVALID("image must have 1 or 3 channels, got %lld", (long long)channels);
}

static rheos_status *check_quality(int64_t quality) {
  if (quality >= 0 && quality <= 100) return NULL;
  return RHEOS_INVALID("quality must be in [0,100], got %lld", (long long)quality);
}

static rheos_status *compute_jpeg(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const jpeg_state *s = state;
  rheos__jpeg_encode_options options = s->options;
  (void)step;
  RHEOS_TRY(check_picture(inputs[0]));
  const int64_t *dims = inputs[0]->shape.dims;
  RHEOS_TRY(check_channels(s, &inputs[0]->shape));
  if (s->quality_is_input) {
    if (inputs[1]->shape.rank != 0) return RHEOS_INVALID("quality must be scalar");
    const int64_t quality = rheos__tensor_int_at(inputs[1], 0);
    RHEOS_TRY(check_quality(quality));
    options.quality = (int)quality;
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &outputs[0]));
  rheos__buffer buffer = {0};
  rheos_status *status =
      rheos__jpeg_encode(inputs[0]->data, dims[0], dims[1], dims[2], &options, &buffer);
  return store_take(status, &buffer, outputs[0], 0);
}

static rheos_status *read_attrs(const rheos__prepare *p, jpeg_state *s) {
  const char *format = rheos__attr_string(p->attrs, "format");
  const int64_t quality = rheos__attr_int(p->attrs, "quality");
  const int64_t x = rheos__attr_int(p->attrs, "x_density");
  const int64_t y = rheos__attr_int(p->attrs, "y_density");
  RHEOS_TRY(check_quality(quality));
  if (x < 0 || x > UINT16_MAX || y < 0 || y > UINT16_MAX) {
    return RHEOS_INVALID("densities must be in [0,65535], got %lld and %lld", (long long)x,
                         (long long)y);
  }
  s->channels = *format == 0 ? 0 : strcmp(format, "rgb") == 0 ? 3 : 1;
  const char *xmp = rheos__attr_string(p->attrs, "xmp_metadata");
  s->options = (rheos__jpeg_encode_options){
      .quality = (int)quality,
      .progressive = rheos__attr_bool(p->attrs, "progressive"),
      .optimize_size = rheos__attr_bool(p->attrs, "optimize_size"),
      .chroma_downsampling = rheos__attr_bool(p->attrs, "chroma_downsampling"),
      .per_cm = strcmp(rheos__attr_string(p->attrs, "density_unit"), "cm") == 0,
      .x_density = (int)x,
      .y_density = (int)y,
      .xmp_metadata = rheos__arena_copy(p->arena, xmp, strlen(xmp) + 1),
  };
  return s->options.xmp_metadata != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *prepare_EncodeJpeg(rheos__prepare *p) {
  jpeg_state *s = RHEOS_NEW_STATE(p, jpeg_state);
  if (s == NULL) return rheos__out_of_memory();
  p->compute = compute_jpeg;
  return read_attrs(p, s);
}

static rheos_status *prepare_EncodeJpegVariableQuality(rheos__prepare *p) {
  jpeg_state *s = RHEOS_NEW_STATE(p, jpeg_state);
  if (s == NULL) return rheos__out_of_memory();
  s->quality_is_input = true;
  s->options = (rheos__jpeg_encode_options){
      .chroma_downsampling = true, .x_density = 300, .y_density = 300, .xmp_metadata = ""};
  p->compute = compute_jpeg;
  return NULL;
}

static rheos_status *jpeg_shape(rheos__infer *c) {
  rheos_shape shape;
  RHEOS_TRY(rheos__infer_rank(c, 0, 3, &shape));
  if (c->num_inputs > 1) RHEOS_TRY(rheos__infer_rank(c, 1, 0, &shape));
  c->output_shapes[0] = RHEOS_SCALAR;
  return NULL;
}

const rheos__op_def rheos__op_EncodeJpeg = {
    .name = "EncodeJpeg",
    .signature =
        "image: uint8 -> contents: string; format: {\"\", \"grayscale\", \"rgb\"} = \"\"; "
        "quality: int = 95; progressive: bool = false; optimize_size: bool = false; "
        "chroma_downsampling: bool = true; density_unit: {\"in\", \"cm\"} = \"in\"; "
        "x_density: int = 300; y_density: int = 300; xmp_metadata: string = \"\"",
    .doc = "The JPEG file of a picture [height, width, channels] of 1 or 3 channels.",
    .shape = jpeg_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_EncodeJpeg,
};

const rheos__op_def rheos__op_EncodeJpegVariableQuality = {
    .name = "EncodeJpegVariableQuality",
    .signature = "images: uint8, quality: int32 -> contents: string",
    .doc = "The JPEG file of a picture, of a `quality` from 0 to 100.",
    .shape = jpeg_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_EncodeJpegVariableQuality,
};
