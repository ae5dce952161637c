// Pictures resized: the nearest pixel, and interpolation between two by two, with their gradients.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "ops/image/resize.h"

#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

// ---- Shared

#define LOAD_FLOATS(S, unused)                                                      \
  static void load_##S(const void *from, int64_t first, int64_t count, float *to) { \
    const rheos__stored_##S *values = (const rheos__stored_##S *)from + first;      \
    for (int64_t i = 0; i < count; i++) to[i] = (float)RHEOS__LOAD_##S(values[i]);  \
  }
RHEOS__NUMBERS(LOAD_FLOATS, )
#define LOAD_ENTRY(S, unused) [RHEOS__DTYPE_##S] = load_##S,
static const rheos__load_floats_fn load_floats_fns[RHEOS__NUM_DTYPES] = {
    RHEOS__NUMBERS(LOAD_ENTRY, )};

rheos__load_floats_fn rheos__load_floats_of(rheos_dtype dtype) { return load_floats_fns[dtype]; }

static rheos_status *infer_sized(rheos__infer *c, const rheos_shape *like) {
  rheos_shape size;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &size));
  if (size.dims[0] != -1 && size.dims[0] != 2) {
    return RHEOS_INVALID("size must have two elements, got %lld", (long long)size.dims[0]);
  }
  int64_t values[2] = {-1, -1};
  int32_t count;
  if (rheos__infer_ints(c, 1, values, 2, &count) && (values[0] <= 0 || values[1] <= 0)) {
    return RHEOS_INVALID("output dimensions must be positive, got %lld and %lld",
                         (long long)values[0], (long long)values[1]);
  }
  c->output_shapes[0] = RHEOS_SHAPE(like->dims[0], values[0], values[1], like->dims[3]);
  return NULL;
}

rheos_status *rheos__resize_shape(rheos__infer *c) {
  rheos_shape images;
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &images));
  return infer_sized(c, &images);
}

rheos_status *rheos__resize_grad_shape(rheos__infer *c) {
  rheos_shape grads, image;
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &grads));
  RHEOS_TRY(rheos__infer_rank(c, 1, 4, &image));
  for (int32_t d = 0; d < 4; d += 3) {
    if (grads.dims[d] >= 0 && image.dims[d] >= 0 && grads.dims[d] != image.dims[d]) {
      rheos__shape_text a, b;
      return RHEOS_INVALID(
          "grads of shape %s and original_image of shape %s differ in dimension %d",
          rheos__shape_text_of(&grads, &a), rheos__shape_text_of(&image, &b), d);
    }
    if (image.dims[d] < 0) image.dims[d] = grads.dims[d];
  }
  c->output_shapes[0] = image;
  return NULL;
}

static float scale_of(int64_t in, int64_t out, bool align_corners) {
  return align_corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
}

rheos_status *rheos__resize_init(rheos__prepare *p, const rheos_shape *from, const rheos_shape *to,
                                 rheos__resize **out_state) {
  rheos__resize *r = RHEOS_NEW_STATE(p, rheos__resize);
  if (r == NULL) return rheos__out_of_memory();
  const rheos_attr_value *half_pixel = rheos__attrs_find(p->attrs, "half_pixel_centers");
  *r = (rheos__resize){
      .batch = from->dims[0],
      .in_height = from->dims[1],
      .in_width = from->dims[2],
      .out_height = to->dims[1],
      .out_width = to->dims[2],
      .channels = from->dims[3],
      .align_corners = rheos__attr_bool(p->attrs, "align_corners"),
      .half_pixel = half_pixel != NULL && half_pixel->b,
      .dtype = p->input_dtypes[0],
      .load = rheos__load_floats_of(p->input_dtypes[0]),
  };
  if (r->align_corners && r->half_pixel) {
    return RHEOS_INVALID("If half_pixel_centers is True, align_corners must be False.");
  }
  if (r->load == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  if (r->channels <= 0) return RHEOS_INVALID("image must have at least one channel");
  if (r->in_height <= 0 || r->in_width <= 0) {
    return RHEOS_INVALID("input image must be of non-zero size");
  }
  if (r->out_height <= 0 || r->out_width <= 0) {
    return RHEOS_INVALID("output dimensions must be positive");
  }
  r->height_scale = scale_of(r->in_height, r->out_height, r->align_corners);
  r->width_scale = scale_of(r->in_width, r->out_width, r->align_corners);
  *out_state = r;
  return NULL;
}

static rheos_status *run_nothing(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)state, (void)inputs, (void)outputs, (void)scratch, (void)first_unit, (void)last_unit;
  return NULL;
}

void rheos__resize_answer(rheos__prepare *p, rheos__run_fn run, int64_t num_units) {
  p->run = num_units > 0 ? run : run_nothing;
  p->num_units = num_units;
}

static const rheos_attr *copied_attrs(const rheos__grad *g, rheos_attr attrs[2]) {
  attrs[0] = rheos_attr_bool("align_corners", rheos__attr_bool(g->attrs, "align_corners"));
  attrs[1] =
      rheos_attr_bool("half_pixel_centers", rheos__attr_bool(g->attrs, "half_pixel_centers"));
  return attrs;
}

// The gradient ops that take the image itself, for its shape.
static void grad_by_image(rheos__grad *g, const char *type) {
  rheos_attr attrs[2];
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), g->inputs[0]};
  const rheos_operation node =
      rheos__op_n(g->scope, type, type, inputs, 2, copied_attrs(g, attrs), 2);
  rheos__grad_set(g, 0, rheos_operation_output(node, 0));
}

#define ATTRS "align_corners: bool = false; half_pixel_centers: bool = false"
#define IMAGES "{int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}"

// ---- ResizeBilinear

typedef rheos__two_taps tap;

static tap tap_at(const rheos__resize *r, int64_t at, float scale, int64_t count) {
  return rheos__two_taps_at(rheos__resize_at(at, scale, r->half_pixel), count);
}

static void bilinear_row(const rheos__resize *r, const tap *taps, float share, const float *above,
                         const float *below, float *out) {
  const int64_t c = r->channels;
  for (int64_t x = 0; x < r->out_width; x++, out += c) {
    const int64_t low = taps[x].low * c, high = taps[x].high * c;
    const float across = taps[x].share;
    for (int64_t k = 0; k < c; k++) {
      out[k] = rheos__between(above[low + k], above[high + k], below[low + k], below[high + k],
                              across, share);
    }
  }
}

// A unit is a row of the output.
static rheos_status *run_bilinear(const void *state, const void *const *inputs,
                                  void *const *outputs, void *scratch, int64_t first_unit,
                                  int64_t last_unit) {
  const rheos__resize *r = state;
  const int64_t row = r->in_width * r->channels;
  tap *taps = scratch;
  float *above = (float *)(taps + r->out_width), *below = above + row;
  for (int64_t x = 0; x < r->out_width; x++) {
    taps[x] = tap_at(r, x, r->width_scale, r->in_width);
  }
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    const int64_t image = unit / r->out_height * r->in_height;
    const tap down = tap_at(r, unit % r->out_height, r->height_scale, r->in_height);
    r->load(inputs[0], (image + down.low) * row, row, above);
    r->load(inputs[0], (image + down.high) * row, row, below);
    bilinear_row(r, taps, down.share, above, below,
                 (float *)outputs[0] + unit * r->out_width * r->channels);
  }
  return NULL;
}

static rheos_status *prepare_ResizeBilinear(rheos__prepare *p) {
  rheos__resize *r = NULL;
  RHEOS_TRY(rheos__resize_init(p, &p->input_shapes[0], &p->output_shapes[0], &r));
  rheos__resize_answer(p, run_bilinear, r->batch * r->out_height);
  p->scratch_bytes =
      (size_t)r->out_width * sizeof(tap) + (size_t)(r->in_width * r->channels) * 2 * sizeof(float);
  p->flops = rheos__flops((double)p->num_units * r->out_width * r->channels * 8);
  return NULL;
}

static void grad_bilinear(rheos__grad *g) { grad_by_image(g, "ResizeBilinearGrad"); }

const rheos__op_def rheos__op_ResizeBilinear = {
    .name = "ResizeBilinear",
    .signature = "images: T, size: int32 -> resized_images: float; T: " IMAGES "; " ATTRS,
    .doc =
        "`images` [batch, height, width, channels] at another `size` [height, width], "
        "interpolated between two by two pixels.",
    .shape = rheos__resize_shape,
    .gradient = grad_bilinear,
    .prepare = prepare_ResizeBilinear,
};

// ---- ResizeBilinearGrad: what each pixel was made of gets its share; a unit is an image

#define BILINEAR_GRAD(S, unused)                                                                 \
  static void spread_##S(const rheos__resize *r, const float *grads, rheos__stored_##S *out) {   \
    const int64_t c = r->channels;                                                               \
    for (int64_t y = 0; y < r->out_height; y++) {                                                \
      const tap down = tap_at(r, y, r->height_scale, r->in_height);                              \
      for (int64_t x = 0; x < r->out_width; x++, grads += c) {                                   \
        const tap across = tap_at(r, x, r->width_scale, r->in_width);                            \
        const float shares[4] = {1 - down.share, 1 - down.share, down.share, down.share};        \
        const float parts[4] = {1 - across.share, across.share, 1 - across.share, across.share}; \
        for (int corner = 0; corner < 4; corner++) {                                             \
          rheos__stored_##S *to = out + ((corner < 2 ? down.low : down.high) * r->in_width +     \
                                         (corner % 2 == 0 ? across.low : across.high)) *         \
                                            c;                                                   \
          for (int64_t k = 0; k < c; k++) {                                                      \
            const rheos__stored_##S part =                                                       \
                RHEOS__STORE_##S(grads[k] * shares[corner] * parts[corner]);                     \
            to[k] = RHEOS__STORE_##S(RHEOS__LOAD_##S(to[k]) + RHEOS__LOAD_##S(part));            \
          }                                                                                      \
        }                                                                                        \
      }                                                                                          \
    }                                                                                            \
  }
RHEOS__FLOATS(BILINEAR_GRAD, )

static rheos_status *run_bilinear_grad(const void *state, const void *const *inputs,
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
    switch (r->dtype) {
      case RHEOS_HALF: spread_half(r, grads, out); break;
      case RHEOS_BFLOAT16: spread_bfloat16(r, grads, out); break;
      case RHEOS_DOUBLE: spread_double(r, grads, out); break;
      default: spread_float(r, grads, out); break;
    }
  }
  return NULL;
}

static rheos_status *prepare_ResizeBilinearGrad(rheos__prepare *p) {
  rheos__resize *r = NULL;
  RHEOS_TRY(rheos__resize_init(p, &p->input_shapes[1], &p->input_shapes[0], &r));
  r->dtype = p->output_dtypes[0];
  rheos__resize_answer(p, run_bilinear_grad, r->batch);
  p->flops = rheos__flops((double)r->batch * r->out_height * r->out_width * r->channels * 16);
  return NULL;
}

// Linear in `grads`: its gradient is the resizing itself, to the size of these.
static void gradient_ResizeBilinearGrad(rheos__grad *g) {
  rheos_attr attrs[2];
  const rheos_output shape = rheos__shape_of(g->scope, g->inputs[0], RHEOS_INT32);
  const rheos_output size =
      rheos__vector_slice(g->scope, shape, (rheos__bound){.present = true, .number = 1},
                          (rheos__bound){.present = true, .number = 3});
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), size};
  rheos__grad_set(
      g, 0, rheos__named_n(g->scope, "ResizeBilinear", NULL, inputs, 2, copied_attrs(g, attrs), 2));
}

const rheos__op_def rheos__op_ResizeBilinearGrad = {
    .name = "ResizeBilinearGrad",
    .signature =
        "grads: float, original_image: T -> output: T; T: {float, bfloat16, half, double}; " ATTRS,
    .doc = "The gradient of ResizeBilinear, of the shape of `original_image`.",
    .shape = rheos__resize_grad_shape,
    .gradient = gradient_ResizeBilinearGrad,
    .prepare = prepare_ResizeBilinearGrad,
};

// ---- ResizeNearestNeighbor

static int64_t nearest(const rheos__resize *r, int64_t at, float scale, int64_t count) {
  return rheos__nearest_at(at, scale, count, r->half_pixel, r->align_corners);
}

static rheos_status *run_nearest(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  const rheos__resize *r = state;
  (void)scratch;
  const size_t pixel = (size_t)r->channels * rheos_dtype_size(r->dtype);
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    const int64_t y = nearest(r, unit % r->out_height, r->height_scale, r->in_height);
    const char *from = (const char *)inputs[0] +
                       (size_t)((unit / r->out_height * r->in_height + y) * r->in_width) * pixel;
    char *to = (char *)outputs[0] + (size_t)(unit * r->out_width) * pixel;
    for (int64_t x = 0; x < r->out_width; x++, to += pixel) {
      memcpy(to, from + (size_t)nearest(r, x, r->width_scale, r->in_width) * pixel, pixel);
    }
  }
  return NULL;
}

static rheos_status *prepare_ResizeNearestNeighbor(rheos__prepare *p) {
  rheos__resize *r = NULL;
  RHEOS_TRY(rheos__resize_init(p, &p->input_shapes[0], &p->output_shapes[0], &r));
  rheos__resize_answer(p, run_nearest, r->batch * r->out_height);
  return NULL;
}

// Height and width of the image, a constant where they are known.
static rheos_output image_size(rheos_scope *s, rheos_output image) {
  const rheos_shape shape = rheos_output_shape(image);
  if (shape.rank == 4 && shape.dims[1] >= 0 && shape.dims[2] >= 0) {
    const int32_t size[] = {(int32_t)shape.dims[1], (int32_t)shape.dims[2]};
    return rheos__const_ints(s, size, 2, "size");
  }
  return rheos__vector_slice(s, rheos__shape_of(s, image, RHEOS_INT32),
                             (rheos__bound){.present = true, .number = 1},
                             (rheos__bound){.present = true, .number = 3});
}

static void grad_nearest(rheos__grad *g) {
  rheos_attr attrs[2];
  rheos_scope *s = g->scope;
  const rheos_shape shape = rheos_output_shape(g->inputs[0]);
  const bool known = shape.rank == 4 && shape.dims[1] >= 0 && shape.dims[2] >= 0;
  rheos_output inputs[] = {rheos__grad_dense(g, 0), {0}};
  if (!known) inputs[1] = image_size(s, g->inputs[0]);
  rheos__node_scope inside;
  rheos__push_node_scope(s, "ResizeNearestNeighborGrad", &inside);
  if (known) inputs[1] = image_size(s, g->inputs[0]);
  const rheos_operation node = rheos__op_n(s, "ResizeNearestNeighborGrad", inside.name, inputs, 2,
                                           copied_attrs(g, attrs), 2);
  rheos_scope_pop(s);
  rheos__grad_set(g, 0, rheos_operation_output(node, 0));
}

const rheos__op_def rheos__op_ResizeNearestNeighbor = {
    .name = "ResizeNearestNeighbor",
    .signature = "images: T, size: int32 -> resized_images: T; T: " IMAGES "; " ATTRS,
    .doc =
        "`images` [batch, height, width, channels] at another `size` [height, width], each pixel "
        "the nearest one.",
    .shape = rheos__resize_shape,
    .gradient = grad_nearest,
    .prepare = prepare_ResizeNearestNeighbor,
};

static rheos_status *run_nearest_grad(const void *state, const void *const *inputs,
                                      void *const *outputs, void *scratch, int64_t first_unit,
                                      int64_t last_unit) {
  const rheos__resize *r = state;
  (void)scratch;
  const size_t pixel = (size_t)r->channels * rheos_dtype_size(r->dtype);
  const size_t image_bytes = (size_t)(r->in_height * r->in_width) * pixel;
  const rheos__add_fn add = rheos__add_of(r->dtype);
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    const char *from =
        (const char *)inputs[0] + (size_t)(unit * r->out_height * r->out_width) * pixel;
    char *out = (char *)outputs[0] + (size_t)unit * image_bytes;
    memset(out, 0, image_bytes);
    for (int64_t y = 0; y < r->out_height; y++) {
      char *row =
          out + (size_t)(nearest(r, y, r->height_scale, r->in_height) * r->in_width) * pixel;
      for (int64_t x = 0; x < r->out_width; x++, from += pixel) {
        add(row + (size_t)nearest(r, x, r->width_scale, r->in_width) * pixel, from, r->channels);
      }
    }
  }
  return NULL;
}

// Backwards: from the size of the output to that of the gradient that arrived.
static rheos_status *prepare_ResizeNearestNeighborGrad(rheos__prepare *p) {
  rheos__resize *r = NULL;
  RHEOS_TRY(rheos__resize_init(p, &p->output_shapes[0], &p->input_shapes[0], &r));
  if (rheos__add_of(r->dtype) == NULL) return rheos__no_kernel(p, r->dtype);
  rheos__resize_answer(p, run_nearest_grad, r->batch);
  return NULL;
}

const rheos__op_def rheos__op_ResizeNearestNeighborGrad = {
    .name = "ResizeNearestNeighborGrad",
    .signature =
        "grads: T, size: int32 -> output: T; T: {uint8, int8, int32, half, float, double, "
        "bfloat16}; " ATTRS,
    .doc = "The gradient of ResizeNearestNeighbor for images of `size`.",
    .shape = rheos__resize_shape,
    .prepare = prepare_ResizeNearestNeighborGrad,
};
