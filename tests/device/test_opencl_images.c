// Pictures of many sizes on a graphics card: what PoCL makes of a processor gives the CPU's bits.
// Skipped where there is no device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/card_trial.h"
#include "device/opencl/opencl.h"

typedef struct sizes {
  int32_t batch, in[2], out[2], channels;
} sizes;

static const sizes of_pictures[] = {
    {0, {3, 4}, {2, 2}, 3},      {1, {1, 1}, {1, 1}, 1},   {1, {1, 1}, {5, 7}, 2},
    {2, {5, 3}, {1, 1}, 1},      {1, {2, 33}, {31, 3}, 3}, {3, {17, 9}, {17, 9}, 1},
    {1, {64, 65}, {13, 130}, 2}, {2, {7, 1}, {29, 4}, 5},
};
enum { NUM_SIZES = sizeof of_pictures / sizeof *of_pictures };

typedef struct resizing {
  const char *op;
  bool is_gradient, takes_size;  // of the gradients one takes a size, the others the picture
  bool has_centers;
  rheos_dtype dtype;
} resizing;

static void try_resize(const resizing *r, const sizes *s, bool align, bool center) {
  card_trial t = {.op = r->op, .num_outputs = 1};
  const rheos_shape small = RHEOS_SHAPE(s->batch, s->in[0], s->in[1], s->channels);
  const rheos_shape large = RHEOS_SHAPE(s->batch, s->out[0], s->out[1], s->channels);
  const bool grad_is_float = r->is_gradient && !r->takes_size;
  card_trial_add(&t, card_trial_numbers(grad_is_float ? RHEOS_FLOAT : r->dtype,
                                        r->is_gradient ? large : small, 7));
  if (r->takes_size) {
    card_trial_add(&t, card_trial_ints(r->is_gradient ? s->in : s->out, 2));
  } else {
    card_trial_add(&t, card_trial_numbers(r->dtype, small, 11));
  }
  card_trial_add_attr(&t, rheos_attr_bool("align_corners", align));
  if (r->has_centers) card_trial_add_attr(&t, rheos_attr_bool("half_pixel_centers", center));
  card_trial_check(&t);
}

static void test_resizes_of_all_sizes(void **unused) {
  (void)unused;
  static const resizing all[] = {
      {"ResizeNearestNeighbor", false, true, true, RHEOS_HALF},
      {"ResizeBilinear", false, true, true, RHEOS_FLOAT},
      {"ResizeBilinear", false, true, true, RHEOS_BFLOAT16},
      {"ResizeBicubic", false, true, true, RHEOS_FLOAT},
      {"ResizeArea", false, true, false, RHEOS_DOUBLE},
      {"ResizeNearestNeighborGrad", true, true, true, RHEOS_FLOAT},
      {"ResizeNearestNeighborGrad", true, true, true, RHEOS_HALF},
      {"ResizeBilinearGrad", true, false, true, RHEOS_FLOAT},
      {"ResizeBilinearGrad", true, false, true, RHEOS_BFLOAT16},
      {"ResizeBicubicGrad", true, false, true, RHEOS_FLOAT},
      {"ResizeBicubicGrad", true, false, true, RHEOS_DOUBLE},
  };
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    for (int mode = 0; mode < 2 + all[k].has_centers; mode++) {
      for (int i = 0; i < NUM_SIZES; i++) {
        try_resize(&all[k], &of_pictures[i], mode == 1, mode == 2);
      }
    }
  }
}

// ---- Scaled and moved

static rheos_tensor *pair(float first, float second) {
  const float values[] = {first, second};
  rheos_tensor *tensor = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(2), values, &tensor));
  return tensor;
}

static void try_scaling(const sizes *s, const char *filter, bool antialias, bool is_gradient,
                        bool is_constant) {
  const rheos_shape small = RHEOS_SHAPE(s->batch, s->in[0], s->in[1], s->channels);
  const rheos_shape large = RHEOS_SHAPE(s->batch, s->out[0], s->out[1], s->channels);
  card_trial t = {.op = is_gradient ? "ScaleAndTranslateGrad" : "ScaleAndTranslate",
                  .first_constant = is_constant ? 2 : 0,
                  .num_outputs = 1};
  card_trial_add(&t, card_trial_numbers(RHEOS_FLOAT, is_gradient ? large : small, 71));
  card_trial_add(
      &t, is_gradient ? card_trial_numbers(RHEOS_FLOAT, small, 73) : card_trial_ints(s->out, 2));
  card_trial_add(&t, pair((float)s->out[0] / (float)s->in[0], 0.7f));
  card_trial_add(&t, pair(0.25f, -1.5f));
  card_trial_add_attr(&t, rheos_attr_string("kernel_type", filter, strlen(filter)));
  card_trial_add_attr(&t, rheos_attr_bool("antialias", antialias));
  card_trial_check(&t);
}

static void test_scaling_of_all_sizes(void **unused) {
  (void)unused;
  for (int i = 0; i < NUM_SIZES; i++) {
    for (int k = 0; k < 4; k++) {
      try_scaling(&of_pictures[i], "lanczos3", k % 2 == 0, k / 2 != 0, k % 2 == 0);
      try_scaling(&of_pictures[i], "triangle", k % 2 == 0, k / 2 != 0, k % 2 != 0);
    }
  }
}

// ---- Crops

typedef struct crops {
  int32_t batch, in[2], count, size[2], channels;
} crops;

// Boxes from -1.25 to 1.25: many of them lie outside in part, some are turned round.
static rheos_tensor *boxes(int32_t count) {
  rheos_tensor *tensor = card_trial_numbers(RHEOS_FLOAT, RHEOS_SHAPE(count, 4), 19);
  float *values = rheos_tensor_data(tensor);
  for (int32_t i = 0; i < 4 * count; i++) values[i] /= 16;
  for (int32_t i = 0; i < 4 && count > 2; i++) values[8 + i] = i < 2 ? 0 : 1;
  return tensor;
}

static rheos_tensor *pictures_of(const crops *c) {
  int32_t values[64];
  for (int32_t i = 0; i < c->count; i++) values[i] = i * 7 % c->batch;
  return card_trial_ints(values, c->count);
}

static void try_crops(const crops *c, const char *method, rheos_dtype dtype) {
  const rheos_shape image = RHEOS_SHAPE(c->batch, c->in[0], c->in[1], c->channels);
  const rheos_shape cut = RHEOS_SHAPE(c->count, c->size[0], c->size[1], c->channels);
  const int32_t size[] = {c->batch, c->in[0], c->in[1], c->channels};
  card_trial t = {.op = "CropAndResize", .num_outputs = 1};
  card_trial_add(&t, card_trial_numbers(dtype, image, 23));
  card_trial_add(&t, boxes(c->count));
  card_trial_add(&t, pictures_of(c));
  card_trial_add(&t, card_trial_ints(c->size, 2));
  card_trial_add_attr(&t, rheos_attr_string("method", method, strlen(method)));
  card_trial_add_attr(&t, rheos_attr_float("extrapolation_value", 0.75f));
  card_trial_check(&t);
  card_trial back = {.op = "CropAndResizeGradImage", .num_outputs = 1};
  card_trial_add(&back, card_trial_numbers(RHEOS_FLOAT, cut, 29));
  card_trial_add(&back, boxes(c->count));
  card_trial_add(&back, pictures_of(c));
  card_trial_add(&back, card_trial_ints(size, 4));
  card_trial_add_attr(&back, rheos_attr_string("method", method, strlen(method)));
  card_trial_add_attr(&back, rheos_attr_type("T", dtype));
  card_trial_check(&back);
  card_trial of_boxes = {.op = "CropAndResizeGradBoxes", .num_outputs = 1, .tolerance = 1e-5};
  card_trial_add(&of_boxes, card_trial_numbers(RHEOS_FLOAT, cut, 31));
  card_trial_add(&of_boxes, card_trial_numbers(dtype, image, 37));
  card_trial_add(&of_boxes, boxes(c->count));
  card_trial_add(&of_boxes, pictures_of(c));
  card_trial_check(&of_boxes);
}

static void test_crops_of_all_sizes(void **unused) {
  (void)unused;
  static const crops all[] = {
      {1, {1, 1}, 1, {1, 1}, 1},   {2, {5, 7}, 0, {2, 3}, 1},     {1, {9, 4}, 3, {1, 5}, 2},
      {3, {6, 33}, 17, {7, 1}, 3}, {2, {40, 3}, 40, {13, 11}, 1},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    try_crops(&all[i], "bilinear", RHEOS_FLOAT);
    try_crops(&all[i], "nearest", RHEOS_FLOAT);
    try_crops(&all[i], "bilinear", RHEOS_HALF);
    try_crops(&all[i], "bilinear", RHEOS_DOUBLE);
  }
}

// ---- Colors

static void try_colors(const char *op, int64_t rows, rheos_dtype dtype, bool has_amount) {
  card_trial t = {.op = op, .num_outputs = 1};
  card_trial_add(&t, card_trial_numbers(dtype, RHEOS_SHAPE(rows, 5, 3), 41));
  if (has_amount) {
    rheos_tensor *amount = card_trial_numbers(RHEOS_FLOAT, RHEOS_SCALAR, 43);
    *(float *)rheos_tensor_data(amount) = 0.35f;
    card_trial_add(&t, amount);
  }
  if (strcmp(op, "AdjustContrastv2") == 0) t.tolerance = dtype == RHEOS_HALF ? 1e-3 : 1e-6;
  card_trial_check(&t);
}

static void test_colors_of_all_sizes(void **unused) {
  (void)unused;
  static const int64_t rows[] = {0, 1, 3, 129};
  for (int i = 0; i < 4; i++) {
    try_colors("RGBToHSV", rows[i], RHEOS_FLOAT, false);
    try_colors("RGBToHSV", rows[i], RHEOS_DOUBLE, false);
    try_colors("HSVToRGB", rows[i], RHEOS_BFLOAT16, false);
    try_colors("AdjustHue", rows[i], RHEOS_HALF, true);
    try_colors("AdjustSaturation", rows[i], RHEOS_FLOAT, true);
    try_colors("AdjustContrastv2", rows[i], RHEOS_FLOAT, true);
    try_colors("AdjustContrastv2", rows[i], RHEOS_HALF, true);
  }
}

// ---- Neighbours

static void try_lrn(int64_t batch, int64_t channels, int64_t radius, rheos_dtype dtype) {
  const rheos_shape shape = RHEOS_SHAPE(batch, 2, 3, channels);
  card_trial t = {.op = "LRN", .num_outputs = 1};
  card_trial back = {.op = "LRNGrad", .num_outputs = 1};
  t.tolerance = back.tolerance = dtype == RHEOS_FLOAT ? 2e-6 : 1e-2;
  card_trial_add(&t, card_trial_numbers(dtype, shape, 47));
  for (uint32_t i = 0; i < 3; i++) card_trial_add(&back, card_trial_numbers(dtype, shape, 53 + i));
  card_trial_add_attr(&t, rheos_attr_int("depth_radius", radius));
  card_trial_add_attr(&t, rheos_attr_float("alpha", 0.3f));
  card_trial_add_attr(&t, rheos_attr_float("beta", 0.75f));
  for (int i = 0; i < t.num_attrs; i++) card_trial_add_attr(&back, t.attrs[i]);
  card_trial_check(&t);
  card_trial_check(&back);
}

static void test_neighbours_of_all_channels(void **unused) {
  (void)unused;
  static const int64_t channels[] = {1, 2, 7, 96}, radii[] = {0, 2, 5, 100};
  for (int i = 0; i < 16; i++) {
    try_lrn(i % 3, channels[i / 4], radii[i % 4], i % 5 == 4 ? RHEOS_BFLOAT16 : RHEOS_FLOAT);
  }
}

typedef struct dilated {
  int64_t in[4], filter[2], strides[4], rates[4], out[2];  // out: by "SAME", which rounds up
} dilated;

static void try_dilation(const dilated *d, rheos_dtype dtype) {
  static const char *const names[] = {"Dilation2D", "Dilation2DBackpropInput",
                                      "Dilation2DBackpropFilter"};
  for (int k = 0; k < 3; k++) {
    card_trial t = {.op = names[k], .num_outputs = 1};
    card_trial_add(
        &t, card_trial_numbers(dtype, RHEOS_SHAPE(d->in[0], d->in[1], d->in[2], d->in[3]), 59));
    card_trial_add(
        &t, card_trial_numbers(dtype, RHEOS_SHAPE(d->filter[0], d->filter[1], d->in[3]), 61));
    if (k > 0) {
      card_trial_add(
          &t, card_trial_numbers(dtype, RHEOS_SHAPE(d->in[0], d->out[0], d->out[1], d->in[3]), 67));
    }
    card_trial_add_attr(&t, rheos_attr_ints("strides", d->strides, 4));
    card_trial_add_attr(&t, rheos_attr_ints("rates", d->rates, 4));
    card_trial_add_attr(&t, rheos_attr_string("padding", "SAME", 4));
    if (k == 2) t.tolerance = 1e-6;
    card_trial_check(&t);
  }
}

static void test_dilations_of_all_sizes(void **unused) {
  (void)unused;
  static const dilated all[] = {
      {{1, 1, 1, 1}, {1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1}},
      {{0, 3, 4, 2}, {2, 2}, {1, 1, 1, 1}, {1, 1, 1, 1}, {3, 4}},
      {{2, 7, 5, 3}, {3, 2}, {1, 2, 3, 1}, {1, 1, 2, 1}, {4, 2}},
      {{3, 33, 17, 1}, {5, 3}, {1, 1, 1, 1}, {1, 2, 1, 1}, {33, 17}},
  };
  for (int i = 0; i < 4; i++) {
    try_dilation(&all[i], RHEOS_FLOAT);
    try_dilation(&all[i], RHEOS_DOUBLE);
  }
}

// ---- What only moves

static void try_blocks(const int64_t *in, const int32_t *block, const int32_t *paddings) {
  card_trial t = {.op = "SpaceToBatchND", .num_outputs = 1};
  card_trial_add(&t, card_trial_numbers(RHEOS_FLOAT, RHEOS_SHAPE(in[0], in[1], in[2], in[3]), 3));
  card_trial_add(&t, card_trial_ints(block, 2));
  rheos_tensor *table = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2, 2), paddings, &table));
  card_trial_add(&t, table);
  card_trial_check(&t);
}

static void try_unblocks(const int64_t *in, const int32_t *block, const int32_t *crops) {
  card_trial t = {.op = "BatchToSpaceND", .num_outputs = 1};
  card_trial_add(&t, card_trial_numbers(RHEOS_HALF, RHEOS_SHAPE(in[0], in[1], in[2], in[3]), 3));
  card_trial_add(&t, card_trial_ints(block, 2));
  rheos_tensor *table = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2, 2), crops, &table));
  card_trial_add(&t, table);
  card_trial_check(&t);
}

static void try_roll(const int64_t *in, int32_t shift, int32_t other) {
  const int32_t shifts[] = {shift, other, shift}, axes[] = {1, -1, 1};
  card_trial t = {.op = "Roll", .num_outputs = 1};
  card_trial_add(&t, card_trial_numbers(RHEOS_DOUBLE, RHEOS_SHAPE(in[0], in[1], in[2], in[3]), 5));
  card_trial_add(&t, card_trial_ints(shifts, 3));
  card_trial_add(&t, card_trial_ints(axes, 3));
  card_trial_check(&t);
}

static void test_moves_of_all_sizes(void **unused) {
  (void)unused;
  static const int64_t spaces[][4] = {{0, 4, 6, 2}, {1, 1, 3, 1}, {3, 5, 12, 2}, {2, 0, 6, 3}};
  static const int32_t frames[][4] = {{0, 0, 0, 0}, {2, 1, 3, 3}, {1, 2, 0, 6}, {3, 0, 0, 0}};
  static const int32_t shifts[] = {0, 1, -7, 1000000007};
  for (int i = 0; i < 4; i++) {
    const int32_t rows = frames[i][0] + frames[i][1] + (int32_t)spaces[i][1];
    const int32_t block[] = {rows % 3 == 0 ? 3 : rows % 2 == 0 ? 2 : 1, 3};
    try_blocks(spaces[i], block, frames[i]);
    const int64_t deep[] = {6 * spaces[i][0], spaces[i][1], spaces[i][2], spaces[i][3]};
    const int32_t six[] = {2, 3}, crops[] = {spaces[i][1] > 0, 0, 1, 4};
    try_unblocks(deep, six, crops);
    for (int k = 0; k < 4; k++) try_roll(spaces[i], shifts[k], shifts[3 - k]);
  }
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_resizes_of_all_sizes),
                                     cmocka_unit_test(test_scaling_of_all_sizes),
                                     cmocka_unit_test(test_crops_of_all_sizes),
                                     cmocka_unit_test(test_colors_of_all_sizes),
                                     cmocka_unit_test(test_neighbours_of_all_channels),
                                     cmocka_unit_test(test_dilations_of_all_sizes),
                                     cmocka_unit_test(test_moves_of_all_sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
