// Pictures as summaries: PNG files in a message. Numbers that are not bytes are brought to bytes,
// each picture by itself: by its largest value if none is negative, else around 128 by the largest
// distance from 0. The arithmetic is that of the dtype.
#include <math.h>
#include <string.h>

#include "codec/image.h"
#include "ops/io/summary.h"
#include "ops/kit/op_util.h"
#include "ops/kit/string_util.h"

enum { MAX_CHANNELS = 4 };

typedef struct image_state {
  int64_t max_images;
  int64_t num_colors;  // of bad_color
  uint8_t bad_color[MAX_CHANNELS];
} image_state;

typedef struct pictures {
  const rheos_tensor *tensor;
  int64_t pixels, channels;  // of each
} pictures;

static double value_at(const rheos_tensor *tensor, int64_t i) {
  switch (tensor->dtype) {
    case RHEOS_HALF: return (double)rheos__half_to_float(((const uint16_t *)tensor->data)[i]);
    case RHEOS_FLOAT: return (double)((const float *)tensor->data)[i];
    default: return ((const double *)tensor->data)[i];
  }
}

static bool is_finite(const pictures *p, int64_t first) {
  for (int64_t c = 0; c < p->channels; c++) {
    if (!isfinite(value_at(p->tensor, first + c))) return false;
  }
  return true;
}

static double rounded(rheos_dtype dtype, double value) {
  switch (dtype) {
    case RHEOS_HALF: return (double)rheos__half_to_float(rheos__float_to_half((float)value));
    case RHEOS_FLOAT: return (double)(float)value;
    default: return value;
  }
}

typedef struct scaling {
  double scale, offset;
} scaling;

// From the pixels that are finite.
static scaling scaling_of(const pictures *p, int64_t first) {
  const float nothing = 1e-6f;
  float least = INFINITY, most = -INFINITY;
  for (int64_t i = first; i < first + p->pixels * p->channels; i += p->channels) {
    if (!is_finite(p, i)) continue;
    for (int64_t c = 0; c < p->channels; c++) {
      const float value = (float)value_at(p->tensor, i + c);
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  const rheos_dtype dtype = p->tensor->dtype;
  if (least < 0) {
    const float largest = fmaxf(fabsf(least), fabsf(most));
    return (scaling){rounded(dtype, (double)(largest < nothing ? 0 : 127.0f / largest)), 128};
  }
  return (scaling){rounded(dtype, (double)(most < nothing ? 0 : 255.0f / most)), 0};
}

// Scaled values are below 256, unless the scale is beyond a half.
static uint8_t to_byte(double value) { return value >= 0 && value < 256 ? (uint8_t)value : 0; }

static void fill_bytes(const image_state *state, const pictures *p, int64_t first, uint8_t *bytes) {
  const rheos_dtype dtype = p->tensor->dtype;
  const scaling s = scaling_of(p, first);
  for (int64_t i = first; i < first + p->pixels * p->channels; i += p->channels) {
    const bool good = is_finite(p, i);
    for (int64_t c = 0; c < p->channels; c++) {
      const double scaled = rounded(dtype, value_at(p->tensor, i + c) * s.scale);
      *bytes++ = good ? to_byte(rounded(dtype, scaled + s.offset)) : state->bad_color[c];
    }
  }
}

static rheos_status *check_pictures(const image_state *state, const rheos_tensor *tensor) {
  rheos__shape_text text;
  const rheos_shape *shape = &tensor->shape;
  const int64_t channels = shape->rank == 4 ? shape->dims[3] : 0;
  if (channels != 1 && channels != 3 && channels != 4) {
    return RHEOS_INVALID("Tensor must be 4-D with last dim 1, 3, or 4, not %s",
                         rheos__shape_text_of(shape, &text));
  }
  if (shape->dims[1] == 0 || shape->dims[2] == 0) {
    return RHEOS_INVALID("input tensor must have non-zero dims. Found: %s.",
                         rheos__shape_text_of(shape, &text));
  }
  if (tensor->dtype != RHEOS_UINT8 && channels > state->num_colors) {
    return RHEOS_INVALID(
        "expected depth <= bad_color.size, got depth = %lld, bad_color.size = %lld",
        (long long)channels, (long long)state->num_colors);
  }
  return rheos__image_check_size("PNG", shape->dims[2], shape->dims[1]);
}

// Appends the value of one of the pictures. `bytes` is work space for one.
static rheos_status *put_picture(const image_state *state, const pictures *p, int64_t index,
                                 const rheos_string *tag, uint8_t *bytes, rheos__buffer *summary) {
  const int64_t first = index * p->pixels * p->channels;
  const int64_t *dims = p->tensor->shape.dims;
  const uint8_t *from = bytes;
  if (p->tensor->dtype == RHEOS_UINT8) {
    from = (const uint8_t *)p->tensor->data + first;
  } else {
    fill_bytes(state, p, first, bytes);
  }
  rheos__buffer value = {0}, image = {0}, png = {0};
  rheos_status *status = rheos__png_encode(from, dims[1], dims[2], p->channels, 8, -1, &png);
  if (status != NULL) {
    rheos__buffer_deinit(&png);
    return status;
  }
  rheos__put_media_tag(&value, tag, "/image", index, state->max_images);
  rheos__wire_put_varint(&image, 1, (uint64_t)dims[1]);
  rheos__wire_put_varint(&image, 2, (uint64_t)dims[2]);
  rheos__wire_put_varint(&image, 3, (uint64_t)p->channels);
  rheos__wire_put_message(&image, 4, &png);
  rheos__wire_put_message(&value, RHEOS__VALUE_IMAGE, &image);
  rheos__wire_put_message(summary, RHEOS__SUMMARY_VALUE, &value);
  return NULL;
}

static rheos_status *put_all(const image_state *state, const rheos_tensor *tensor,
                             const rheos_string *tag, rheos__step *step, rheos__buffer *summary) {
  const int64_t *dims = tensor->shape.dims;
  const pictures p = {tensor, dims[1] * dims[2], dims[3]};
  const int64_t count = dims[0] < state->max_images ? dims[0] : state->max_images;
  uint8_t *bytes = rheos__alloc_array((size_t)p.pixels, (size_t)p.channels);
  if (bytes == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (int64_t i = 0; status == NULL && i < count; i++) {
    if (step != NULL && rheos__step_should_stop(step)) {
      status = rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    } else {
      status = put_picture(state, &p, i, tag, bytes, summary);
    }
  }
  rheos__free(bytes);
  return status;
}

rheos_status *rheos__put_pictures(const rheos_string *tag, const rheos_tensor *pictures,
                                  int64_t max_images, rheos__buffer *summary) {
  const image_state state = {
      .max_images = max_images, .num_colors = MAX_CHANNELS, .bad_color = {255, 0, 0, 255}};
  RHEOS_TRY(check_pictures(&state, pictures));
  return put_all(&state, pictures, tag, NULL, summary);
}

static rheos_status *compute_image(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  const image_state *state = argument;
  if (inputs[0]->shape.rank != 0) return RHEOS_INVALID("Tags must be a scalar");
  RHEOS_TRY(check_pictures(state, inputs[1]));
  rheos__buffer summary = {0};
  rheos_status *status = put_all(state, inputs[1], inputs[0]->data, step, &summary);
  if (status == NULL) return rheos__give_summary(&summary, &outputs[0]);
  rheos__buffer_deinit(&summary);
  return status;
}

static rheos_status *prepare_image(rheos__prepare *p) {
  image_state *state = RHEOS_NEW_STATE(p, image_state);
  if (state == NULL) return rheos__out_of_memory();
  const rheos_tensor *color = rheos__attrs_find(p->attrs, "bad_color")->tensor;
  rheos__shape_text text;
  if (color->dtype != RHEOS_UINT8) {
    return RHEOS_INVALID("bad_color must be uint8, got %s", rheos_dtype_name(color->dtype));
  }
  if (color->shape.rank != 1) {
    return RHEOS_INVALID("bad_color must be a vector, got shape %s",
                         rheos__shape_text_of(&color->shape, &text));
  }
  state->max_images = rheos__attr_int(p->attrs, "max_images");
  state->num_colors = color->num_elements;
  const size_t used = color->size_bytes < MAX_CHANNELS ? color->size_bytes : MAX_CHANNELS;
  if (used > 0) memcpy(state->bad_color, color->data, used);
  p->compute = compute_image;
  return NULL;
}

const rheos__op_def rheos__op_ImageSummary = {
    .name = "ImageSummary",
    .signature =
        "tag: string, tensor: T -> summary: string; max_images: int >= 1 = 3; "
        "T: {uint8, float, half, double} = float; "
        "bad_color: tensor = uint8 [255, 0, 0, 255]",
    .doc =
        "A summary of up to `max_images` pictures [batch, height, width, channels], scaled to "
        "bytes; "
        "pixels that are not finite get `bad_color`.",
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_image,
};
