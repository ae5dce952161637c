// Parts of pictures cut out by boxes and resized to one size, with the gradients by picture and by
// box. Boxes are [y1, x1, y2, x2], 0 the first and 1 the last row or column; they may lie outside.
#include "ops/image/crop_and_resize.h"

#include <math.h>
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

#define IMAGES "{uint8, uint16, int8, int16, int32, int64, half, float, double}"
#define METHODS "method: {\"bilinear\", \"nearest\"} = \"bilinear\""

// ---- Shared

typedef rheos__crop crop;
typedef rheos__crop_line line;
typedef rheos__crop_place place;

static line line_of(float from, float to, int64_t crop_size, int64_t size) {
  return rheos__crop_line_of(from, to, crop_size, size);
}
static place place_of(line l, int64_t at, int64_t size) {
  return rheos__crop_place_of(l, at, size);
}

static rheos_status *check_index(const crop *c, int64_t box, int32_t index) {
  if (index >= 0 && index < c->batch) return NULL;
  return rheos_status_new(RHEOS_OUT_OF_RANGE, "box_index[%lld] = %d has values outside [0, %lld)",
                          (long long)box, index, (long long)c->batch);
}

static rheos_status *init(rheos__prepare *p, const rheos_shape *image, const rheos_shape *crops,
                          crop **out_state) {
  crop *c = RHEOS_NEW_STATE(p, crop);
  if (c == NULL) return rheos__out_of_memory();
  const rheos_attr_value *outside = rheos__attrs_find(p->attrs, "extrapolation_value");
  *c = (crop){
      .batch = image->dims[0],
      .height = image->dims[1],
      .width = image->dims[2],
      .channels = image->dims[3],
      .count = crops->dims[0],
      .crop_height = crops->dims[1],
      .crop_width = crops->dims[2],
      .nearest = strcmp(rheos__attr_string(p->attrs, "method"), "nearest") == 0,
      .outside = outside != NULL ? outside->f : 0,
  };
  if (c->height <= 0 || c->width <= 0) return RHEOS_INVALID("image dimensions must be positive");
  if (c->crop_height <= 0 || c->crop_width <= 0) {
    return RHEOS_INVALID("crop dimensions must be positive");
  }
  *out_state = c;
  return NULL;
}

// Boxes [n, 4] and box indices [n]; *out_count is n, or -1.
static rheos_status *infer_boxes(rheos__infer *c, int32_t boxes_input, int64_t *out_count) {
  rheos_shape boxes, indices;
  RHEOS_TRY(rheos__infer_rank(c, boxes_input, 2, &boxes));
  RHEOS_TRY(rheos__infer_rank(c, boxes_input + 1, 1, &indices));
  if (boxes.dims[1] != -1 && boxes.dims[1] != 4) {
    return RHEOS_INVALID("boxes must have 4 columns, got %lld", (long long)boxes.dims[1]);
  }
  if (boxes.dims[0] >= 0 && indices.dims[0] >= 0 && boxes.dims[0] != indices.dims[0]) {
    return RHEOS_INVALID("%lld boxes have %lld box indices", (long long)boxes.dims[0],
                         (long long)indices.dims[0]);
  }
  *out_count = boxes.dims[0] >= 0 ? boxes.dims[0] : indices.dims[0];
  return NULL;
}

// The gradient that arrives has a crop for each box.
static rheos_status *infer_grads(rheos__infer *c, int64_t count, rheos_shape *out_grads) {
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, out_grads));
  if (count < 0 || out_grads->dims[0] < 0 || out_grads->dims[0] == count) return NULL;
  return RHEOS_INVALID("%lld boxes have gradients of %lld crops", (long long)count,
                       (long long)out_grads->dims[0]);
}

static int64_t flops_of(const crop *c) {
  return rheos__flops(16.0 * c->count * c->crop_height * c->crop_width * c->channels);
}

// ---- CropAndResize

static void crop_pixel(const crop *c, const void *image, int64_t picture, place down, place across,
                       float *rows, float *out) {
  const int64_t n = c->channels;
  const int64_t row = picture * c->height;
  if (c->nearest) {
    c->load(image, ((row + down.nearest) * c->width + across.nearest) * n, n, out);
    return;
  }
  float *corners[4];
  for (int i = 0; i < 4; i++) {
    corners[i] = rows + i * n;
    c->load(image,
            ((row + (i < 2 ? down.low : down.high)) * c->width +
             (i % 2 == 0 ? across.low : across.high)) *
                n,
            n, corners[i]);
  }
  for (int64_t k = 0; k < n; k++) {
    out[k] = rheos__between(corners[0][k], corners[1][k], corners[2][k], corners[3][k],
                            across.share, down.share);
  }
}

// A unit is a crop.
static rheos_status *run_crop(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  const crop *c = state;
  if (last_unit > c->count) last_unit = c->count;
  for (int64_t box = first_unit; box < last_unit; box++) {
    const float *corners = (const float *)inputs[1] + 4 * box;
    const int32_t picture = ((const int32_t *)inputs[2])[box];
    RHEOS_TRY(check_index(c, box, picture));
    for (int k = 0; k < 4; k++) {
      if (isfinite(corners[k])) continue;
      return RHEOS_INVALID("Boxes contains at least one element that is not finite");
    }
    const line down = line_of(corners[0], corners[2], c->crop_height, c->height);
    const line across = line_of(corners[1], corners[3], c->crop_width, c->width);
    float *out = (float *)outputs[0] + box * c->crop_height * c->crop_width * c->channels;
    for (int64_t y = 0; y < c->crop_height; y++) {
      const place row = place_of(down, y, c->height);
      for (int64_t x = 0; x < c->crop_width; x++, out += c->channels) {
        const place column = place_of(across, x, c->width);
        if (row.valid && column.valid) {
          crop_pixel(c, inputs[0], picture, row, column, scratch, out);
        } else {
          for (int64_t k = 0; k < c->channels; k++) out[k] = c->outside;
        }
      }
    }
  }
  return NULL;
}

static rheos_status *prepare_CropAndResize(rheos__prepare *p) {
  crop *c = NULL;
  RHEOS_TRY(init(p, &p->input_shapes[0], &p->output_shapes[0], &c));
  c->load = rheos__load_floats_of(p->input_dtypes[0]);
  if (c->load == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  p->run = run_crop;
  p->num_units = c->count;
  p->scratch_bytes = (size_t)c->channels * 4 * sizeof(float);
  p->flops = flops_of(c);
  return NULL;
}

static rheos_status *crop_shape(rheos__infer *c) {
  rheos_shape image, size;
  int64_t count, values[2] = {-1, -1};
  int32_t length;
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &image));
  RHEOS_TRY(infer_boxes(c, 1, &count));
  RHEOS_TRY(rheos__infer_rank(c, 3, 1, &size));
  if (size.dims[0] != -1 && size.dims[0] != 2) {
    return RHEOS_INVALID("crop_size must have two elements, got %lld", (long long)size.dims[0]);
  }
  if (rheos__infer_ints(c, 3, values, 2, &length) && (values[0] <= 0 || values[1] <= 0)) {
    return RHEOS_INVALID("crop dimensions must be positive, got %lld and %lld",
                         (long long)values[0], (long long)values[1]);
  }
  c->output_shapes[0] = RHEOS_SHAPE(count, values[0], values[1], image.dims[3]);
  return NULL;
}

static rheos_output grad_of_image(rheos__grad *g, rheos_output dy) {
  rheos_scope *s = g->scope;
  const rheos_shape shape = rheos_output_shape(g->inputs[0]);
  const bool known = rheos_shape_is_known(&shape);
  const char *method = rheos__attr_string(g->attrs, "method");
  const rheos_attr attrs[] = {rheos_attr_type("T", rheos_output_dtype(g->inputs[0])),
                              rheos_attr_string("method", method, strlen(method))};
  rheos_output inputs[] = {dy, g->inputs[1], g->inputs[2], {0}};
  if (!known) inputs[3] = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  rheos__node_scope inside;
  rheos__push_node_scope(s, "CropAndResizeGradImage", &inside);
  if (known) {
    const int32_t dims[] = {(int32_t)shape.dims[0], (int32_t)shape.dims[1], (int32_t)shape.dims[2],
                            (int32_t)shape.dims[3]};
    inputs[3] = rheos__const_ints(s, dims, 4, "image_size");
  }
  const rheos_operation node =
      rheos__op_n(s, "CropAndResizeGradImage", inside.name, inputs, 4, attrs, 2);
  rheos_scope_pop(s);
  return rheos_operation_output(node, 0);
}

// Boxes have no exact gradient for the nearest pixel: the one of bilinear crops stands in, as in
// TensorFlow.
static void grad_crop(rheos__grad *g) {
  const rheos_output dy = rheos__grad_dense(g, 0);
  const rheos_dtype dtype = rheos_output_dtype(g->inputs[0]);
  if (dtype == RHEOS_HALF || dtype == RHEOS_FLOAT || dtype == RHEOS_DOUBLE) {
    rheos__grad_set(g, 0, grad_of_image(g, dy));
  }
  const rheos_output inputs[] = {dy, g->inputs[0], g->inputs[1], g->inputs[2]};
  const rheos_operation boxes =
      rheos__op_n(g->scope, "CropAndResizeGradBoxes", "CropAndResizeGradBoxes", inputs, 4, NULL, 0);
  rheos__grad_set(g, 1, rheos_operation_output(boxes, 0));
}

const rheos__op_def rheos__op_CropAndResize = {
    .name = "CropAndResize",
    .signature =
        "image: T, boxes: float, box_ind: int32, crop_size: int32 -> crops: float; T: " IMAGES
        "; " METHODS "; extrapolation_value: float = 0",
    .doc = "For each of the `boxes` the part of the picture `box_ind`, resized to `crop_size`.",
    .shape = crop_shape,
    .gradient = grad_crop,
    .prepare = prepare_CropAndResize,
};

// ---- CropAndResizeGradImage: crops may overlap, so there is one unit

#define GRAD_IMAGE(S, unused)                                                                  \
  static void spread_##S(const crop *c, int64_t picture, place down, place across,             \
                         const float *grads, void *out) {                                      \
    const float shares[4] = {1 - down.share, 1 - down.share, down.share, down.share};          \
    const float parts[4] = {1 - across.share, across.share, 1 - across.share, across.share};   \
    for (int i = 0; i < (c->nearest ? 1 : 4); i++) {                                           \
      const int64_t y = c->nearest ? down.nearest : i < 2 ? down.low : down.high;              \
      const int64_t x = c->nearest ? across.nearest : i % 2 == 0 ? across.low : across.high;   \
      rheos__stored_##S *to =                                                                  \
          (rheos__stored_##S *)out + ((picture * c->height + y) * c->width + x) * c->channels; \
      for (int64_t k = 0; k < c->channels; k++) {                                              \
        const float part = c->nearest ? grads[k] : parts[i] * (shares[i] * grads[k]);          \
        const rheos__stored_##S rounded = RHEOS__STORE_##S(part);                              \
        to[k] = RHEOS__STORE_##S(RHEOS__LOAD_##S(to[k]) + RHEOS__LOAD_##S(rounded));           \
      }                                                                                        \
    }                                                                                          \
  }
GRAD_IMAGE(float, )
GRAD_IMAGE(double, )
GRAD_IMAGE(half, )

static rheos_status *run_grad_image(const void *state, const void *const *inputs,
                                    void *const *outputs, void *scratch, int64_t first_unit,
                                    int64_t last_unit) {
  const crop *c = state;
  const float *grads = inputs[0];
  (void)scratch, (void)first_unit, (void)last_unit;
  memset(outputs[0], 0,
         (size_t)(c->batch * c->height * c->width * c->channels) * rheos_dtype_size(c->dtype));
  for (int64_t box = 0; box < c->count; box++) {
    const float *corners = (const float *)inputs[1] + 4 * box;
    const int32_t picture = ((const int32_t *)inputs[2])[box];
    RHEOS_TRY(check_index(c, box, picture));
    const line down = line_of(corners[0], corners[2], c->crop_height, c->height);
    const line across = line_of(corners[1], corners[3], c->crop_width, c->width);
    for (int64_t y = 0; y < c->crop_height; y++) {
      const place row = place_of(down, y, c->height);
      for (int64_t x = 0; x < c->crop_width; x++, grads += c->channels) {
        const place column = place_of(across, x, c->width);
        if (!row.valid || !column.valid) continue;
        switch (c->dtype) {
          case RHEOS_HALF: spread_half(c, picture, row, column, grads, outputs[0]); break;
          case RHEOS_DOUBLE: spread_double(c, picture, row, column, grads, outputs[0]); break;
          default: spread_float(c, picture, row, column, grads, outputs[0]); break;
        }
      }
    }
  }
  return NULL;
}

static rheos_status *check_depth(const rheos_shape *grads, const rheos_shape *image) {
  if (grads->dims[3] == image->dims[3]) return NULL;
  return RHEOS_INVALID("image_size and grads are incompatible: %lld and %lld channels",
                       (long long)image->dims[3], (long long)grads->dims[3]);
}

static rheos_status *prepare_CropAndResizeGradImage(rheos__prepare *p) {
  crop *c = NULL;
  RHEOS_TRY(check_depth(&p->input_shapes[0], &p->output_shapes[0]));
  RHEOS_TRY(init(p, &p->output_shapes[0], &p->input_shapes[0], &c));
  c->dtype = p->output_dtypes[0];
  p->run = run_grad_image;
  p->flops = flops_of(c);
  return NULL;
}

static rheos_status *grad_image_shape(rheos__infer *c) {
  rheos_shape grads, size;
  int64_t count, values[4] = {-1, -1, -1, -1};
  int32_t length;
  RHEOS_TRY(infer_boxes(c, 1, &count));
  RHEOS_TRY(infer_grads(c, count, &grads));
  RHEOS_TRY(rheos__infer_rank(c, 3, 1, &size));
  if (size.dims[0] != -1 && size.dims[0] != 4) {
    return RHEOS_INVALID("image_size must have four elements, got %lld", (long long)size.dims[0]);
  }
  if (rheos__infer_ints(c, 3, values, 4, &length)) {
    for (int i = 0; i < 4; i++) {
      if (values[i] < 0) return RHEOS_INVALID("image_size[%d] must not be negative", i);
    }
  }
  c->output_shapes[0] = RHEOS_SHAPE(values[0], values[1], values[2], values[3]);
  return NULL;
}

const rheos__op_def rheos__op_CropAndResizeGradImage = {
    .name = "CropAndResizeGradImage",
    .signature =
        "grads: float, boxes: float, box_ind: int32, image_size: int32 -> output: T; T: "
        "{float, half, double}; " METHODS,
    .doc = "The gradient of CropAndResize by its pictures, whose shape is `image_size`.",
    .shape = grad_image_shape,
    .prepare = prepare_CropAndResizeGradImage,
};

// ---- CropAndResizeGradBoxes: a unit is a box

// Adds what one pixel of the crop says about the box; y and x are its place in the crop.
static void add_pixel(const crop *c, const float *rows, const float *grads, place down,
                      place across, int64_t y, int64_t x, float *out) {
  const int64_t n = c->channels;
  for (int64_t k = 0; k < n; k++) {
    const float a = rows[k], b = rows[n + k], d = rows[2 * n + k], e = rows[3 * n + k];
    const float by_y = ((1 - across.share) * (d - a) + across.share * (e - b)) * grads[k];
    const float by_x = ((1 - down.share) * (b - a) + down.share * (e - d)) * grads[k];
    float parts[4];
    rheos__crop_box_grad(by_y, y, c->crop_height, c->height, &parts[0], &parts[2]);
    rheos__crop_box_grad(by_x, x, c->crop_width, c->width, &parts[1], &parts[3]);
    for (int i = 0; i < 4; i++) out[i] += parts[i];
  }
}

static rheos_status *run_grad_boxes(const void *state, const void *const *inputs,
                                    void *const *outputs, void *scratch, int64_t first_unit,
                                    int64_t last_unit) {
  const crop *c = state;
  float *rows = scratch;
  if (last_unit > c->count) last_unit = c->count;
  for (int64_t box = first_unit; box < last_unit; box++) {
    const float *corners = (const float *)inputs[2] + 4 * box;
    const int32_t picture = ((const int32_t *)inputs[3])[box];
    RHEOS_TRY(check_index(c, box, picture));
    const line down = line_of(corners[0], corners[2], c->crop_height, c->height);
    const line across = line_of(corners[1], corners[3], c->crop_width, c->width);
    const float *grads =
        (const float *)inputs[0] + box * c->crop_height * c->crop_width * c->channels;
    float *out = (float *)outputs[0] + 4 * box;
    memset(out, 0, 4 * sizeof *out);
    for (int64_t y = 0; y < c->crop_height; y++) {
      const place row = place_of(down, y, c->height);
      for (int64_t x = 0; x < c->crop_width; x++, grads += c->channels) {
        const place column = place_of(across, x, c->width);
        if (!row.valid || !column.valid) continue;
        for (int i = 0; i < 4; i++) {
          const int64_t at = (picture * c->height + (i < 2 ? row.low : row.high)) * c->width +
                             (i % 2 == 0 ? column.low : column.high);
          c->load(inputs[1], at * c->channels, c->channels, rows + i * c->channels);
        }
        add_pixel(c, rows, grads, row, column, y, x, out);
      }
    }
  }
  return NULL;
}

static rheos_status *prepare_CropAndResizeGradBoxes(rheos__prepare *p) {
  crop *c = NULL;
  RHEOS_TRY(check_depth(&p->input_shapes[0], &p->input_shapes[1]));
  RHEOS_TRY(init(p, &p->input_shapes[1], &p->input_shapes[0], &c));
  c->load = rheos__load_floats_of(p->input_dtypes[1]);
  if (c->load == NULL) return rheos__no_kernel(p, p->input_dtypes[1]);
  p->run = run_grad_boxes;
  p->num_units = c->count;
  p->scratch_bytes = (size_t)c->channels * 4 * sizeof(float);
  p->flops = flops_of(c);
  return NULL;
}

static rheos_status *grad_boxes_shape(rheos__infer *c) {
  rheos_shape image, grads;
  int64_t count;
  RHEOS_TRY(rheos__infer_rank(c, 1, 4, &image));
  RHEOS_TRY(infer_boxes(c, 2, &count));
  RHEOS_TRY(infer_grads(c, count, &grads));
  c->output_shapes[0] = RHEOS_SHAPE(count, 4);
  return NULL;
}

const rheos__op_def rheos__op_CropAndResizeGradBoxes = {
    .name = "CropAndResizeGradBoxes",
    .signature = "grads: float, image: T, boxes: float, box_ind: int32 -> output: float; T: " IMAGES
                 "; method: {\"bilinear\"} = \"bilinear\"",
    .doc = "The gradient of CropAndResize by its boxes.",
    .shape = grad_boxes_shape,
    .prepare = prepare_CropAndResizeGradBoxes,
};
