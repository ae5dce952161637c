// Pictures resized by cubic interpolation between four by four pixels, and by the mean over the
// area that an output pixel covers.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>
#include <string.h>

#include "ops/image/resize.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

#define ATTRS "align_corners: bool = false; half_pixel_centers: bool = false"
#define IMAGES "{int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}"

// ---- ResizeBicubic

typedef rheos__four_taps tap;

static tap tap_at(const rheos__resize *r, int64_t at, float scale, int64_t count) {
  return rheos__four_taps_at(at, scale, count, r->half_pixel);
}

// A unit is a row of the output: four rows become one, of which four pixels become one.
static rheos_status *run_bicubic(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  const rheos__resize *r = state;
  const int64_t c = r->channels, row = r->in_width * c;
  tap *taps = scratch;
  float *rows = (float *)(taps + r->out_width), *mixed = rows + 4 * row;
  for (int64_t x = 0; x < r->out_width; x++) taps[x] = tap_at(r, x, r->width_scale, r->in_width);
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    const int64_t image = unit / r->out_height * r->in_height;
    const tap down = tap_at(r, unit % r->out_height, r->height_scale, r->in_height);
    float *out = (float *)outputs[0] + unit * r->out_width * c;
    for (int i = 0; i < 4; i++) {
      r->load(inputs[0], (image + down.index[i]) * row, row, rows + i * row);
    }
    for (int64_t i = 0; i < row; i++) {
      mixed[i] =
          rheos__mixed(down.weight, rows[i], rows[row + i], rows[2 * row + i], rows[3 * row + i]);
    }
    for (int64_t x = 0; x < r->out_width; x++, out += c) {
      const int64_t *index = taps[x].index;
      for (int64_t k = 0; k < c; k++) {
        out[k] = rheos__mixed(taps[x].weight, mixed[index[0] * c + k], mixed[index[1] * c + k],
                              mixed[index[2] * c + k], mixed[index[3] * c + k]);
      }
    }
  }
  return NULL;
}

static rheos_status *prepare_ResizeBicubic(rheos__prepare *p) {
  rheos__resize *r = NULL;
  RHEOS_TRY(rheos__resize_init(p, &p->input_shapes[0], &p->output_shapes[0], &r));
  rheos__resize_answer(p, run_bicubic, r->batch * r->out_height);
  p->scratch_bytes =
      (size_t)r->out_width * sizeof(tap) + (size_t)(r->in_width * r->channels) * 5 * sizeof(float);
  p->flops = rheos__flops((double)p->num_units * r->out_width * r->channels * 16);
  return NULL;
}

// TensorFlow has it for float and double images only.
static void grad_bicubic(rheos__grad *g) {
  const rheos_dtype dtype = rheos_output_dtype(g->inputs[0]);
  if (dtype != RHEOS_FLOAT && dtype != RHEOS_DOUBLE) return;
  const rheos_attr attrs[] = {
      rheos_attr_bool("align_corners", rheos__attr_bool(g->attrs, "align_corners")),
      rheos_attr_bool("half_pixel_centers", rheos__attr_bool(g->attrs, "half_pixel_centers"))};
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), g->inputs[0]};
  const rheos_operation node =
      rheos__op_n(g->scope, "ResizeBicubicGrad", "ResizeBicubicGrad", inputs, 2, attrs, 2);
  rheos__grad_set(g, 0, rheos_operation_output(node, 0));
}

const rheos__op_def rheos__op_ResizeBicubic = {
    .name = "ResizeBicubic",
    .signature = "images: T, size: int32 -> resized_images: float; T: " IMAGES "; " ATTRS,
    .doc =
        "`images` [batch, height, width, channels] at another `size` [height, width], by a cubic "
        "of four by four pixels.",
    .shape = rheos__resize_shape,
    .gradient = grad_bicubic,
    .prepare = prepare_ResizeBicubic,
};

// ---- ResizeBicubicGrad: a unit is an image

#define BICUBIC_GRAD(S)                                                              \
  static void spread_##S(const rheos__resize *r, const float *grads, S *out) {       \
    const int64_t c = r->channels;                                                   \
    for (int64_t y = 0; y < r->out_height; y++) {                                    \
      const tap down = tap_at(r, y, r->height_scale, r->in_height);                  \
      for (int64_t x = 0; x < r->out_width; x++, grads += c) {                       \
        const tap across = tap_at(r, x, r->width_scale, r->in_width);                \
        for (int i = 0; i < 16; i++) {                                               \
          S *to = out + (down.index[i / 4] * r->in_width + across.index[i % 4]) * c; \
          for (int64_t k = 0; k < c; k++) {                                          \
            to[k] += (S)grads[k] * down.weight[i / 4] * across.weight[i % 4];        \
          }                                                                          \
        }                                                                            \
      }                                                                              \
    }                                                                                \
  }
BICUBIC_GRAD(float)
BICUBIC_GRAD(double)

static rheos_status *run_bicubic_grad(const void *state, const void *const *inputs,
                                      void *const *outputs, void *scratch, int64_t first_unit,
                                      int64_t last_unit) {
  const rheos__resize *r = state;
  (void)scratch;
  const int64_t image = r->in_height * r->in_width * r->channels;
  const size_t image_bytes = (size_t)image * rheos_dtype_size(r->dtype);
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    const float *grads =
        (const float *)inputs[0] + unit * r->out_height * r->out_width * r->channels;
    void *out = (char *)outputs[0] + (size_t)unit * image_bytes;
    memset(out, 0, image_bytes);
    if (r->dtype == RHEOS_DOUBLE) {
      spread_double(r, grads, out);
    } else {
      spread_float(r, grads, out);
    }
  }
  return NULL;
}

static rheos_status *prepare_ResizeBicubicGrad(rheos__prepare *p) {
  rheos__resize *r = NULL;
  RHEOS_TRY(rheos__resize_init(p, &p->input_shapes[1], &p->input_shapes[0], &r));
  r->dtype = p->output_dtypes[0];
  rheos__resize_answer(p, run_bicubic_grad, r->batch);
  p->flops = rheos__flops((double)r->batch * r->out_height * r->out_width * r->channels * 64);
  return NULL;
}

const rheos__op_def rheos__op_ResizeBicubicGrad = {
    .name = "ResizeBicubicGrad",
    .signature = "grads: float, original_image: T -> output: T; T: {float, double}; " ATTRS,
    .doc = "The gradient of ResizeBicubic, of the shape of `original_image`.",
    .shape = rheos__resize_grad_shape,
    .prepare = prepare_ResizeBicubicGrad,
};

// ---- ResizeArea

// A unit is a row of the output. Sums are taken in TensorFlow's order: along a row, then over rows.
static rheos_status *run_area(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  const rheos__resize *r = state;
  const int64_t c = r->channels, row_elements = r->in_width * c;
  const float scale = (float)(1.0 / (double)(r->height_scale * r->width_scale));
  float *row = scratch;
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    const int64_t image = unit / r->out_height * r->in_height, y = unit % r->out_height;
    const float top = (float)y * r->height_scale, bottom = (float)(y + 1) * r->height_scale;
    float *out = (float *)outputs[0] + unit * r->out_width * c;
    memset(out, 0, (size_t)(r->out_width * c) * sizeof *out);
    for (int64_t i = (int64_t)floorf(top); i < (int64_t)ceilf(bottom); i++) {
      const float share = rheos__covered(i, top, bottom, r->height_scale);
      r->load(inputs[0], (image + rheos__clamp_index(i, r->in_height)) * row_elements, row_elements,
              row);
      for (int64_t x = 0; x < r->out_width; x++) {
        const float left = (float)x * r->width_scale, right = (float)(x + 1) * r->width_scale;
        const int64_t first = (int64_t)floorf(left), end = (int64_t)ceilf(right);
        for (int64_t k = 0; k < c; k++) {
          float sum = row[rheos__clamp_index(first, r->in_width) * c + k] *
                      rheos__covered(first, left, right, r->width_scale);
          for (int64_t j = first + 1; j < end; j++) {
            const float value = row[rheos__clamp_index(j, r->in_width) * c + k];
            sum += j + 1 < end ? value : value * rheos__covered(j, left, right, r->width_scale);
          }
          out[x * c + k] += sum * share;
        }
      }
    }
    for (int64_t i = 0; i < r->out_width * c; i++) out[i] *= scale;
  }
  return NULL;
}

static rheos_status *prepare_ResizeArea(rheos__prepare *p) {
  rheos__resize *r = NULL;
  RHEOS_TRY(rheos__resize_init(p, &p->input_shapes[0], &p->output_shapes[0], &r));
  // Between the corners of a single row or column nothing lies: it is repeated.
  if (r->height_scale == 0) r->height_scale = 1;
  if (r->width_scale == 0) r->width_scale = 1;
  rheos__resize_answer(p, run_area, r->batch * r->out_height);
  p->scratch_bytes = (size_t)(r->in_width * r->channels) * sizeof(float);
  p->flops = rheos__flops((double)r->batch * r->channels * (r->in_height + r->out_height) *
                          (r->in_width + r->out_width) * 2);
  return NULL;
}

const rheos__op_def rheos__op_ResizeArea = {
    .name = "ResizeArea",
    .signature = "images: T, size: int32 -> resized_images: float; T: " IMAGES
                 "; align_corners: bool = false",
    .doc =
        "`images` [batch, height, width, channels] at another `size` [height, width], each pixel "
        "the mean of the area it covers.",
    .shape = rheos__resize_shape,
    .prepare = prepare_ResizeArea,
};
