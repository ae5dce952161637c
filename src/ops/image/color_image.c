// Colors of pictures: hue, saturation, value, and contrast. What becomes of a pixel is in
// color_formulas.h.
#include <math.h>

#include "ops/image/color_formulas.h"
#include "ops/image/color_grad.h"
#include "ops/image/resize.h"
#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

enum { UNIT_PIXELS = 4096 };

typedef struct color_op color_op;
struct color_op {
  void (*pixel)(const float *in, float amount, float *out);
  int64_t pixels;
  rheos_dtype dtype;
};

// Element `index` of the output, rounded to its dtype.
static void store(rheos_dtype dtype, void *data, int64_t index, float value) {
  switch (dtype) {
    case RHEOS_HALF: ((uint16_t *)data)[index] = rheos__float_to_half(value); break;
    case RHEOS_BFLOAT16: ((uint16_t *)data)[index] = rheos__float_to_bfloat16(value); break;
    case RHEOS_DOUBLE: ((double *)data)[index] = (double)value; break;
    default: ((float *)data)[index] = value; break;
  }
}

// ---- Pixels, in float

static void hsv_pixel(const float *in, float amount, float *out) {
  (void)amount;
  to_hsv(in, out);
}
static void rgb_pixel(const float *in, float amount, float *out) {
  (void)amount;
  to_rgb(in, out);
}

// ---- Kernels: a unit is some thousand pixels

static rheos_status *run_pixels(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first_unit, int64_t last_unit) {
  const color_op *c = state;
  (void)scratch;
  const int64_t end = last_unit * UNIT_PIXELS < c->pixels ? last_unit * UNIT_PIXELS : c->pixels;
  const rheos__load_floats_fn load = rheos__load_floats_of(c->dtype);
  const float amount = inputs[1] != NULL ? *(const float *)inputs[1] : 0;
  for (int64_t i = first_unit * UNIT_PIXELS; i < end; i++) {
    float in[3], out[3];
    load(inputs[0], 3 * i, 3, in);
    c->pixel(in, amount, out);
    for (int k = 0; k < 3; k++) store(c->dtype, outputs[0], 3 * i + k, out[k]);
  }
  return NULL;
}

static rheos_status *run_plain(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  const void *with_none[] = {inputs[0], NULL};
  return run_pixels(state, with_none, outputs, scratch, first_unit, last_unit);
}

static rheos_status *run_wide(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  const color_op *c = state;
  (void)scratch;
  const int64_t end = last_unit * UNIT_PIXELS < c->pixels ? last_unit * UNIT_PIXELS : c->pixels;
  for (int64_t i = first_unit * UNIT_PIXELS; i < end; i++) {
    const double *in = (const double *)inputs[0] + 3 * i;
    double *out = (double *)outputs[0] + 3 * i;
    if (c->pixel == hsv_pixel) {
      to_hsv_wide(in, out);
    } else {
      to_rgb_wide(in, out);
    }
  }
  return NULL;
}

static rheos_status *prepare(rheos__prepare *p, int32_t min_rank,
                             void (*pixel)(const float *, float, float *)) {
  const rheos_shape *shape = &p->input_shapes[0];
  rheos__shape_text text;
  if (shape->rank < min_rank) {
    return RHEOS_INVALID("input must be at least %d-D, got shape %s", min_rank,
                         rheos__shape_text_of(shape, &text));
  }
  if (shape->dims[shape->rank - 1] != 3) {
    return RHEOS_INVALID("input must have 3 channels but instead has %lld channels.",
                         (long long)shape->dims[shape->rank - 1]);
  }
  color_op *c = RHEOS_NEW_STATE(p, color_op);
  if (c == NULL) return rheos__out_of_memory();
  *c = (color_op){pixel, rheos_shape_num_elements(shape) / 3, p->input_dtypes[0]};
  p->run = p->num_inputs > 1 ? run_pixels : c->dtype == RHEOS_DOUBLE ? run_wide : run_plain;
  p->num_units = (c->pixels + UNIT_PIXELS - 1) / UNIT_PIXELS;
  p->flops = rheos__flops((double)c->pixels * 40);
  return NULL;
}

static rheos_status *prepare_RGBToHSV(rheos__prepare *p) { return prepare(p, 1, hsv_pixel); }
static rheos_status *prepare_HSVToRGB(rheos__prepare *p) { return prepare(p, 1, rgb_pixel); }
static rheos_status *prepare_AdjustHue(rheos__prepare *p) { return prepare(p, 3, hue_pixel); }
static rheos_status *prepare_AdjustSaturation(rheos__prepare *p) {
  return prepare(p, 3, saturation_pixel);
}

static rheos_status *colors_shape(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  c->output_shapes[0] = *in;
  if (in->rank < 0) return NULL;
  int64_t *channels = &c->output_shapes[0].dims[in->rank - 1];
  if (*channels != -1 && *channels != 3) {
    return RHEOS_INVALID("Dimension must be 3 but is %lld", (long long)*channels);
  }
  *channels = 3;
  return NULL;
}

// Pictures of rank 3 at least; everything else is a scalar.
static rheos_status *adjusted_shape(rheos__infer *c) {
  rheos_shape scalar;
  for (int32_t i = 1; i < c->num_inputs; i++) RHEOS_TRY(rheos__infer_rank(c, i, 0, &scalar));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 3));
  c->output_shapes[0] = c->input_shapes[0];
  return NULL;
}

const rheos__op_def rheos__op_RGBToHSV = {
    .name = "RGBToHSV",
    .signature = "images: T -> output: T; T: {half, bfloat16, float, double} = float",
    .doc = "Red, green, blue in the last dimension to hue, saturation, value, all from 0 to 1.",
    .shape = colors_shape,
    .gradient = rheos__gradient_RGBToHSV,
    .prepare = prepare_RGBToHSV,
};

const rheos__op_def rheos__op_HSVToRGB = {
    .name = "HSVToRGB",
    .signature = "images: T -> output: T; T: {half, bfloat16, float, double} = float",
    .doc = "Hue, saturation, value in the last dimension to red, green, blue, all from 0 to 1.",
    .shape = colors_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_HSVToRGB,
};

const rheos__op_def rheos__op_AdjustHue = {
    .name = "AdjustHue",
    .signature = "images: T, delta: float -> output: T; T: {half, float} = float",
    .doc = "RGB `images` with their hue turned by `delta` of the circle.",
    .shape = adjusted_shape,
    .prepare = prepare_AdjustHue,
};

const rheos__op_def rheos__op_AdjustSaturation = {
    .name = "AdjustSaturation",
    .signature = "images: T, scale: float -> output: T; T: {half, float} = float",
    .doc = "RGB `images` with their saturation times `scale`.",
    .shape = adjusted_shape,
    .prepare = prepare_AdjustSaturation,
};

// ---- Contrast: a unit is a picture, of which each channel has its mean

typedef struct contrast {
  int64_t pictures, pixels, channels;
  rheos_dtype dtype;
  bool clip;
} contrast;

static rheos_status *run_contrast(const void *state, const void *const *inputs,
                                  void *const *outputs, void *scratch, int64_t first_unit,
                                  int64_t last_unit) {
  const contrast *c = state;
  (void)scratch;
  const rheos__load_floats_fn load = rheos__load_floats_of(c->dtype);
  const rheos_dtype out_dtype = c->clip ? RHEOS_FLOAT : c->dtype;
  const float factor = *(const float *)inputs[1];
  const float low = c->clip ? *(const float *)inputs[2] : 0;
  const float high = c->clip ? *(const float *)inputs[3] : 0;
  if (last_unit > c->pictures) last_unit = c->pictures;
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    for (int64_t k = 0; k < c->channels; k++) {
      const int64_t start = unit * c->pixels * c->channels + k;
      double sum = 0;
      float x;
      for (int64_t i = 0; i < c->pixels; i++) {
        load(inputs[0], start + i * c->channels, 1, &x);
        sum += (double)x;
      }
      const float mean = (float)(sum / (double)c->pixels);
      for (int64_t i = 0; i < c->pixels; i++) {
        load(inputs[0], start + i * c->channels, 1, &x);
        float y = (x - mean) * factor + mean;
        if (c->clip) y = fmaxf(fminf(y, high), low);
        store(out_dtype, outputs[0], start + i * c->channels, y);
      }
    }
  }
  return NULL;
}

static rheos_status *prepare_contrast(rheos__prepare *p) {
  const rheos_shape *shape = &p->input_shapes[0];
  contrast *c = RHEOS_NEW_STATE(p, contrast);
  if (c == NULL) return rheos__out_of_memory();
  const int32_t front = shape->rank - 3;
  *c = (contrast){rheos__shape_product(shape, 0, front),
                  rheos__shape_product(shape, front, front + 2), shape->dims[front + 2],
                  p->input_dtypes[0], p->num_inputs > 2};
  if (rheos_shape_num_elements(shape) == 0) c->pictures = 0;
  if (rheos__load_floats_of(c->dtype) == NULL) return rheos__no_kernel(p, c->dtype);
  p->run = run_contrast;
  p->num_units = c->pictures;
  p->flops = rheos__flops((double)rheos_shape_num_elements(shape) * 8);
  return NULL;
}

const rheos__op_def rheos__op_AdjustContrast = {
    .name = "AdjustContrast",
    .signature =
        "images: T, contrast_factor: float, min_value: float, max_value: float -> output: "
        "float; T: {uint8, int8, int16, int32, int64, float, double}",
    .doc = "Each channel's differences from its mean times `contrast_factor`, clipped.",
    .shape = adjusted_shape,
    .prepare = prepare_contrast,
};

const rheos__op_def rheos__op_AdjustContrastv2 = {
    .name = "AdjustContrastv2",
    .signature = "images: T, contrast_factor: float -> output: T; T: {half, float} = float",
    .doc = "Each channel's differences from its mean times `contrast_factor`.",
    .shape = adjusted_shape,
    .prepare = prepare_contrast,
};
