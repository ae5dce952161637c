// Pictures from files: what TensorFlow's decoding ops accept, over the codecs of codec/image.h. All
// but DecodeAndCropJpeg and DecodeBmp look at the contents, not at their own name, for the format.
#include "codec/image.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

typedef enum decode_op { ANY, PNG_OR_JPEG, ONLY_GIF, ONLY_BMP, CROP } decode_op;

typedef struct decode {
  decode_op op;
  const char *name;
  rheos_dtype dtype;
  int channels;
  bool expand_animations;
  rheos__jpeg_decode_options jpeg;
} decode;

// ---- Other dtypes than uint8

// Numbers of 8 bits become the same share of 16 bits, as TensorFlow scales, or of 1.
static rheos_status *convert_bytes(const rheos_tensor *from, rheos_dtype dtype,
                                   rheos_tensor **out_tensor) {
  const uint8_t *bytes = from->data;
  RHEOS_TRY(rheos__tensor_new(dtype, &from->shape, out_tensor));
  for (int64_t i = 0; i < from->num_elements; i++) {
    if (dtype == RHEOS_UINT16) {
      ((uint16_t *)(*out_tensor)->data)[i] = (uint16_t)(bytes[i] * 256);
    } else {
      ((float *)(*out_tensor)->data)[i] = bytes[i] * (1.0f / 255);
    }
  }
  return NULL;
}

static rheos_status *convert_wide(const rheos_tensor *from, rheos_tensor **out_tensor) {
  const uint16_t *values = from->data;
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &from->shape, out_tensor));
  for (int64_t i = 0; i < from->num_elements; i++) {
    ((float *)(*out_tensor)->data)[i] = values[i] * (1.0f / 65535);
  }
  return NULL;
}

static rheos_status *to_dtype_take(rheos_tensor *tensor, rheos_dtype dtype,
                                   rheos_tensor **out_tensor) {
  if (tensor->dtype == dtype) {
    *out_tensor = tensor;
    return NULL;
  }
  rheos_status *status = tensor->dtype == RHEOS_UINT16 ? convert_wide(tensor, out_tensor)
                                                       : convert_bytes(tensor, dtype, out_tensor);
  rheos_tensor_unref(tensor);
  return status;
}

// The picture under a shape with or without a dimension of 1 in front.
static rheos_status *frames_take(rheos_tensor *tensor, bool with_frames,
                                 rheos_tensor **out_tensor) {
  const rheos_shape *shape = &tensor->shape;
  if ((shape->rank == 4) == with_frames) {
    *out_tensor = tensor;
    return NULL;
  }
  const int32_t skip = with_frames ? 0 : 1;
  const int64_t *dims = shape->dims + skip;
  const rheos_shape other = with_frames ? RHEOS_SHAPE(1, dims[0], dims[1], dims[2])
                                        : RHEOS_SHAPE(dims[0], dims[1], dims[2]);
  rheos_status *status = rheos_tensor_reshaped(tensor, other, out_tensor);
  rheos_tensor_unref(tensor);
  return status;
}

// ---- By format

static rheos_status *decode_gif(const decode *d, const rheos_string *contents,
                                rheos_tensor **out_tensor) {
  if (d->channels != 0 && d->channels != 3) {
    return RHEOS_INVALID("channels must be 0 or 3 for GIF, got %d", d->channels);
  }
  const bool only_first = d->op == ANY && !d->expand_animations;
  RHEOS_TRY(rheos__gif_decode(contents->data, contents->size_bytes, only_first, out_tensor));
  const int64_t frames = (*out_tensor)->shape.dims[0];
  if (d->op == PNG_OR_JPEG && frames != 1) {
    rheos_tensor_unref(*out_tensor);
    *out_tensor = NULL;
    return RHEOS_INVALID(
        "Got %lld frames, but animated gifs can only be decoded by "
        "DecodeGif or DecodeImage",
        (long long)frames);
  }
  return NULL;
}

static rheos_status *decode_bytes(const decode *d, const rheos_string *contents,
                                  rheos_tensor **out_tensor) {
  const void *data = contents->data;
  const size_t size_bytes = contents->size_bytes;
  const rheos__image_kind kind = rheos__image_kind_of(data, size_bytes);
  if (d->op == CROP && kind != RHEOS__IMAGE_JPEG) {
    return RHEOS_INVALID("DecodeAndCropJpeg operation can run on JPEG only");
  }
  if ((kind == RHEOS__IMAGE_BMP) != (d->op == ONLY_BMP) && d->op != ANY) {
    return RHEOS_INVALID(
        "%s cannot decode this format: BMP is for DecodeBmp and DecodeImage, and "
        "DecodeBmp only for BMP",
        d->name);
  }
  switch (kind) {
    case RHEOS__IMAGE_JPEG: return rheos__jpeg_decode(data, size_bytes, &d->jpeg, out_tensor);
    case RHEOS__IMAGE_GIF: return decode_gif(d, contents, out_tensor);
    case RHEOS__IMAGE_BMP: return rheos__bmp_decode(data, size_bytes, d->channels, out_tensor);
    case RHEOS__IMAGE_PNG: {
      const rheos_dtype dtype = d->dtype == RHEOS_UINT8 ? RHEOS_UINT8 : RHEOS_UINT16;
      return rheos__png_decode(data, size_bytes, d->channels, dtype, out_tensor);
    }
    default: break;
  }
  if (size_bytes == 0)
    return RHEOS_INVALID("Expected image (JPEG, PNG, GIF or BMP), got empty file");
  return RHEOS_INVALID("Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
}

// ---- The kernel

static rheos_status *read_window(const rheos_tensor *window, rheos__jpeg_decode_options *options) {
  if (window->shape.rank != 1 || window->num_elements != 4) {
    rheos__shape_text text;
    return RHEOS_INVALID("crop_window must have four elements, got shape %s",
                         rheos__shape_text_of(&window->shape, &text));
  }
  const int32_t *values = window->data;
  options->crop = true;
  options->crop_y = values[0];
  options->crop_x = values[1];
  options->crop_height = values[2];
  options->crop_width = values[3];
  return NULL;
}

static rheos_status *check_scalar(const rheos_tensor *contents) {
  if (contents->shape.rank == 0) return NULL;
  rheos__shape_text text;
  return RHEOS_INVALID("contents must be scalar, got shape %s",
                       rheos__shape_text_of(&contents->shape, &text));
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  decode d = *(const decode *)state;
  (void)step;
  RHEOS_TRY(check_scalar(inputs[0]));
  if (d.op == CROP) RHEOS_TRY(read_window(inputs[1], &d.jpeg));
  rheos_tensor *decoded = NULL, *converted = NULL;
  RHEOS_TRY(decode_bytes(&d, inputs[0]->data, &decoded));
  RHEOS_TRY(to_dtype_take(decoded, d.dtype, &converted));
  const bool animated = d.op == ANY && d.expand_animations && converted->shape.rank == 4;
  return frames_take(converted, d.op == ONLY_GIF || animated, &outputs[0]);
}

static rheos_status *read_jpeg_attrs(const rheos__prepare *p, decode *d) {
  const int64_t ratio = rheos__attr_int(p->attrs, "ratio");
  const char *method = rheos__attr_string(p->attrs, "dct_method");
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8) {
    return RHEOS_INVALID("ratio must be 1, 2, 4, or 8, got %lld", (long long)ratio);
  }
  d->jpeg.ratio = (int)ratio;
  d->jpeg.fancy_upscaling = rheos__attr_bool(p->attrs, "fancy_upscaling");
  d->jpeg.recover_truncated = rheos__attr_bool(p->attrs, "try_recover_truncated");
  d->jpeg.acceptable_fraction = rheos__attr_float(p->attrs, "acceptable_fraction");
  d->jpeg.accurate = strcmp(method, "INTEGER_ACCURATE") == 0;
  if (!d->jpeg.accurate && *method != 0 && strcmp(method, "INTEGER_FAST") != 0) {
    return RHEOS_INVALID("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}");
  }
  return NULL;
}

static rheos_status *prepare(rheos__prepare *p, decode_op op) {
  const bool has_channels = op != ONLY_GIF;
  const int64_t channels = has_channels ? rheos__attr_int(p->attrs, "channels") : 3;
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4) {
    return RHEOS_INVALID("channels must be 0, 1, 3, or 4, got %lld", (long long)channels);
  }
  decode *d = RHEOS_NEW_STATE(p, decode);
  if (d == NULL) return rheos__out_of_memory();
  *d = (decode){
      .op = op,
      .name = p->op->name,
      .dtype = p->output_dtypes[0],
      .channels = (int)channels,
      .expand_animations = op == ANY && rheos__attr_bool(p->attrs, "expand_animations"),
      .jpeg = {.channels = (int)channels,
               .ratio = 1,
               .fancy_upscaling = true,
               .acceptable_fraction = 1},
  };
  if (rheos__attrs_find(p->attrs, "ratio") != NULL) RHEOS_TRY(read_jpeg_attrs(p, d));
  p->compute = compute;
  return NULL;
}

static rheos_status *prepare_DecodeImage(rheos__prepare *p) { return prepare(p, ANY); }
static rheos_status *prepare_DecodePng(rheos__prepare *p) { return prepare(p, PNG_OR_JPEG); }
static rheos_status *prepare_DecodeGif(rheos__prepare *p) { return prepare(p, ONLY_GIF); }
static rheos_status *prepare_DecodeBmp(rheos__prepare *p) { return prepare(p, ONLY_BMP); }
static rheos_status *prepare_DecodeAndCropJpeg(rheos__prepare *p) { return prepare(p, CROP); }

// ---- Shapes

// [height, width, channels], with channels -1 where the file decides.
static rheos_status *infer_picture(rheos__infer *c, int64_t height, int64_t width) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &scalar));
  const int64_t channels = rheos__attr_int(c->attrs, "channels");
  if (channels < 0) {
    return RHEOS_INVALID("channels must be non-negative, got %lld", (long long)channels);
  }
  c->output_shapes[0] = RHEOS_SHAPE(height, width, channels == 0 ? -1 : channels);
  return NULL;
}

static rheos_status *picture_shape(rheos__infer *c) { return infer_picture(c, -1, -1); }

static rheos_status *crop_shape(rheos__infer *c) {
  rheos_shape window;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &window));
  if (window.dims[0] != -1 && window.dims[0] != 4) {
    return RHEOS_INVALID("crop_window must have four elements, got %lld",
                         (long long)window.dims[0]);
  }
  int64_t values[4] = {-1, -1, -1, -1};
  int32_t count;
  const bool known = rheos__infer_ints(c, 1, values, 4, &count) && count == 4;
  // What is not positive is refused by the kernel.
  return infer_picture(c, known && values[2] > 0 ? values[2] : -1,
                       known && values[3] > 0 ? values[3] : -1);
}

static rheos_status *gif_shape(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &scalar));
  c->output_shapes[0] = RHEOS_SHAPE(-1, -1, -1, 3);
  return NULL;
}

static rheos_status *image_shape(rheos__infer *c) {
  RHEOS_TRY(picture_shape(c));
  // An animation has a dimension more.
  if (rheos__attr_bool(c->attrs, "expand_animations")) c->output_shapes[0] = RHEOS_UNKNOWN_SHAPE;
  return NULL;
}

#define JPEG_ATTRS                                                                               \
  "channels: int = 0; ratio: int = 1; fancy_upscaling: bool = true; "                            \
  "try_recover_truncated: bool = false; acceptable_fraction: float = 1.0; dct_method: string = " \
  "\"\""

const rheos__op_def rheos__op_DecodeJpeg = {
    .name = "DecodeJpeg",
    .signature = "contents: string -> image: uint8; " JPEG_ATTRS,
    .doc = "The picture in a JPEG (or PNG, or still GIF) file, [height, width, channels].",
    .shape = picture_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_DecodePng,
};

const rheos__op_def rheos__op_DecodeAndCropJpeg = {
    .name = "DecodeAndCropJpeg",
    .signature = "contents: string, crop_window: int32 -> image: uint8; " JPEG_ATTRS,
    .doc = "The part of a JPEG in `crop_window` = [y, x, height, width]; the rest is not decoded.",
    .shape = crop_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_DecodeAndCropJpeg,
};

const rheos__op_def rheos__op_DecodePng = {
    .name = "DecodePng",
    .signature =
        "contents: string -> image: dtype; channels: int = 0; dtype: {uint8, uint16} = "
        "uint8",
    .doc = "The picture in a PNG (or JPEG, or still GIF) file, [height, width, channels].",
    .shape = picture_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_DecodePng,
};

const rheos__op_def rheos__op_DecodeGif = {
    .name = "DecodeGif",
    .signature = "contents: string -> image: uint8",
    .doc = "The pictures in a GIF (or PNG, or JPEG) file, [frames, height, width, 3].",
    .shape = gif_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_DecodeGif,
};

const rheos__op_def rheos__op_DecodeBmp = {
    .name = "DecodeBmp",
    .signature = "contents: string -> image: uint8; channels: int = 0",
    .doc = "The picture in a BMP file, [height, width, channels].",
    .shape = picture_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_DecodeBmp,
};

const rheos__op_def rheos__op_DecodeImage = {
    .name = "DecodeImage",
    .signature =
        "contents: string -> image: dtype; channels: int = 0; dtype: {uint8, uint16, "
        "float} = uint8; expand_animations: bool = true",
    .doc = "The picture in a JPEG, PNG, BMP or GIF file; with frames in front if it is a GIF.",
    .shape = image_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_DecodeImage,
};

// ---- ExtractJpegShape

static rheos_status *compute_shape(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  const rheos_dtype dtype = *(const rheos_dtype *)state;
  int64_t shape[3];
  (void)step;
  RHEOS_TRY(check_scalar(inputs[0]));
  const rheos_string *contents = inputs[0]->data;
  RHEOS_TRY(rheos__jpeg_shape(contents->data, contents->size_bytes, shape));
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(3), &outputs[0]));
  for (int i = 0; i < 3; i++) rheos__set_int(dtype, outputs[0]->data, i, shape[i]);
  return NULL;
}

static rheos_status *prepare_ExtractJpegShape(rheos__prepare *p) {
  rheos_dtype *dtype = RHEOS_NEW_STATE(p, rheos_dtype);
  if (dtype == NULL) return rheos__out_of_memory();
  *dtype = p->output_dtypes[0];
  p->compute = compute_shape;
  return NULL;
}

static rheos_status *jpeg_shape_shape(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &scalar));
  c->output_shapes[0] = RHEOS_SHAPE(3);
  return NULL;
}

const rheos__op_def rheos__op_ExtractJpegShape = {
    .name = "ExtractJpegShape",
    .signature =
        "contents: string -> image_shape: output_type; output_type: {int32, int64} = int32",
    .doc = "Height, width and channels of a JPEG, from its header alone.",
    .shape = jpeg_shape_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_ExtractJpegShape,
};
