// DrawBoundingBoxes: the outlines of boxes on pictures, in colors taken in turn. A box is
// [y1, x1, y2, x2], 0 the first and 1 the last row or column; what lies outside is left out.
#include <math.h>
#include <string.h>

#include "ops/image/resize.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// Yellow, blue, red, lime, purple, olive, maroon, navy blue, aqua, fuchsia.
static const float default_colors[10][4] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5f, 0, 0.5f, 1},
    {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1},
};

typedef struct draw {
  rheos_dtype dtype;
  int64_t height, width, depth, num_boxes, num_colors;  // num_colors 0: the default ones
  int64_t color_channels;                               // at least `depth`
} draw;

static float channel_of(const draw *d, const float *colors, int64_t box, int64_t channel) {
  if (d->num_colors > 0) return colors[box % d->num_colors * d->color_channels + channel];
  return d->depth == 1 ? 1 : default_colors[box % 10][channel];
}

static void paint(const draw *d, void *picture, const float *colors, int64_t box, int64_t row,
                  int64_t column) {
  const int64_t start = (row * d->width + column) * d->depth;
  for (int64_t k = 0; k < d->depth; ++k) {
    const float value = channel_of(d, colors, box, k);
    if (d->dtype == RHEOS_HALF) {
      ((uint16_t *)picture)[start + k] = rheos__float_to_half(value);
    } else {
      ((float *)picture)[start + k] = value;
    }
  }
}

// A row or column, rounded towards 0; far outside if it is beyond what pictures have.
static int64_t place_of(float share, int64_t size) {
  const float at = share * (float)(size - 1);
  return at >= 0x1p40f ? INT64_C(1) << 40 : at > -0x1p40f ? (int64_t)at : -(INT64_C(1) << 40);
}

static void draw_box(const draw *d, const float *at, void *picture, const float *colors,
                     int64_t box) {
  if (isnan(at[0]) || isnan(at[1]) || isnan(at[2]) || isnan(at[3])) return;
  const int64_t top = place_of(at[0], d->height), bottom = place_of(at[2], d->height);
  const int64_t left = place_of(at[1], d->width), right = place_of(at[3], d->width);
  if (top > bottom || left > right) return;
  if (top >= d->height || bottom < 0 || left >= d->width || right < 0) return;
  const int64_t first_row = top < 0 ? 0 : top, first_column = left < 0 ? 0 : left;
  const int64_t last_row = bottom < d->height ? bottom : d->height - 1;
  const int64_t last_column = right < d->width ? right : d->width - 1;
  for (int64_t x = first_column; x <= last_column; ++x) {
    if (top >= 0) paint(d, picture, colors, box, top, x);
    if (bottom < d->height) paint(d, picture, colors, box, bottom, x);
  }
  for (int64_t y = first_row; y <= last_row; ++y) {
    if (left >= 0) paint(d, picture, colors, box, y, left);
    if (right < d->width) paint(d, picture, colors, box, y, right);
  }
}

// A unit is a picture.
static rheos_status *run_draw(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first, int64_t last) {
  const draw *d = state;
  const int64_t bytes = d->height * d->width * d->depth * (int64_t)rheos_dtype_size(d->dtype);
  const float *boxes = inputs[1], *colors = d->num_colors > 0 ? inputs[2] : NULL;
  (void)scratch;
  if (bytes == 0) return NULL;
  for (int64_t b = first; b < last; ++b) {
    char *picture = (char *)outputs[0] + b * bytes;
    memcpy(picture, (const char *)inputs[0] + b * bytes, (size_t)bytes);
    for (int64_t i = 0; i < d->num_boxes; ++i) {
      draw_box(d, boxes + (b * d->num_boxes + i) * 4, picture, colors, i);
    }
  }
  return NULL;
}

static rheos_status *prepare_draw(rheos__prepare *p) {
  draw *d = RHEOS_NEW_STATE(p, draw);
  if (d == NULL) return rheos__out_of_memory();
  const rheos_shape *images = &p->input_shapes[0], *boxes = &p->input_shapes[1];
  *d = (draw){
      p->input_dtypes[0], images->dims[1], images->dims[2], images->dims[3], boxes->dims[1], 0, 0};
  if (d->depth != 1 && d->depth != 3 && d->depth != 4) {
    return RHEOS_INVALID("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  }
  if (p->num_inputs == 3) {
    const rheos_shape *colors = &p->input_shapes[2];
    if (colors->dims[1] < d->depth) {
      return RHEOS_INVALID("colors must have at least the channels of the image: %lld and %lld",
                           (long long)colors->dims[1], (long long)d->depth);
    }
    d->color_channels = colors->dims[1];
    d->num_colors = colors->dims[0];
  }
  p->flops = rheos__flops((double)rheos_shape_num_elements(images));
  rheos__resize_answer(p, run_draw, images->dims[0]);
  return NULL;
}

static rheos_status *shape_draw(rheos__infer *c) {
  rheos_shape boxes, colors;
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &c->output_shapes[0]));
  RHEOS_TRY(rheos__infer_rank(c, 1, 3, &boxes));
  if (c->num_inputs == 3) RHEOS_TRY(rheos__infer_rank(c, 2, 2, &colors));
  if (boxes.dims[2] >= 0 && boxes.dims[2] != 4) {
    return RHEOS_INVALID("boxes must have 4 coordinates, got %lld", (long long)boxes.dims[2]);
  }
  const int64_t images = c->output_shapes[0].dims[0], channels = c->output_shapes[0].dims[3];
  if (channels >= 0 && channels != 1 && channels != 3 && channels != 4) {
    return RHEOS_INVALID("images have 1, 3 or 4 channels, got %lld", (long long)channels);
  }
  if (images < 0 || boxes.dims[0] < 0 || images == boxes.dims[0]) return NULL;
  return RHEOS_INVALID("The batch sizes should be the same: %lld and %lld", (long long)images,
                       (long long)boxes.dims[0]);
}

const rheos__op_def rheos__op_DrawBoundingBoxes = {
    .name = "DrawBoundingBoxes",
    .signature = "images: T, boxes: float -> output: T; T: {float, half} = float",
    .doc = "The outlines of `boxes` on `images`, in ten colors.",
    .shape = shape_draw,
    .gradient = rheos__no_gradient,
    .prepare = prepare_draw,
};

const rheos__op_def rheos__op_DrawBoundingBoxesV2 = {
    .name = "DrawBoundingBoxesV2",
    .signature = "images: T, boxes: float, colors: float -> output: T; T: {float, half} = float",
    .doc = "The outlines of `boxes` on `images`, in `colors`, or in ten colors if these are none.",
    .shape = shape_draw,
    .prepare = prepare_draw,
};
