// ImageProjectiveTransform: output pixel (x, y) is the input at
//   ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)   with   k = c0 x + c1 y + 1,
// by the nearest pixel or between two by two. The arithmetic is float, as TensorFlow's.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

typedef enum fill_mode { CONSTANT, REFLECT, WRAP, NEAREST } fill_mode;

typedef struct projective {
  int64_t in_height, in_width, height, width, channels;
  bool one_transform, bilinear;
  fill_mode fill;
  rheos_dtype dtype;
} projective;

static rheos_status *read_modes(const rheos__attrs *attrs, projective *out) {
  static const char *const names[] = {"CONSTANT", "REFLECT", "WRAP", "NEAREST"};
  const char *interpolation = rheos__attr_string(attrs, "interpolation");
  const rheos_attr_value *fill = rheos__attrs_find(attrs, "fill_mode");
  out->bilinear = strcmp(interpolation, "BILINEAR") == 0;
  if (!out->bilinear && strcmp(interpolation, "NEAREST") != 0) {
    return RHEOS_INVALID("Invalid interpolation %s. Supported types: NEAREST, BILINEAR",
                         interpolation);
  }
  out->fill = CONSTANT;
  if (fill == NULL) return NULL;
  const char *name = rheos__attr_string(attrs, "fill_mode");
  for (int i = 0; i < 4; i++) {
    out->fill = (fill_mode)i;
    if (strcmp(names[i], name) == 0) return NULL;
  }
  return RHEOS_INVALID("Invalid mode %s. Supported types: REFLECT, WRAP, CONSTANT, NEAREST", name);
}

// ---- Places outside

// A coordinate brought into the picture of `size` pixels; as it is where that is not asked for.
static float bring_in(fill_mode mode, float at, int64_t size) {
  const float length = (float)size, last = length - 1;
  if (mode == CONSTANT || isnan(at)) return at;
  if (mode == NEAREST) return at < 0 ? 0 : at > last ? last : at;
  if (isinf(at)) return 0;
  if (mode == WRAP) {
    if (at >= 0 && at <= last) return at;
    if (size <= 1) return 0;
    float in = at;
    if (at < 0) {
      in += length * truncf(-at / last + 1);
    } else {
      in -= length * truncf(at / last);
    }
    return in < 0 ? 0 : in > last ? last : in;
  }
  if (size <= 1) return at < 0 || at > last ? 0 : at;
  const float period = 2 * length;
  float in = at;
  if (in < 0) {
    if (in < period) in += period * truncf(-in / period);
    in = in < -length ? in + period : -in - 1;
  } else if (in > last) {
    in -= period * truncf(in / period);
    if (in >= length) in = period - in - 1;
  }
  return in < 0 ? 0 : in > last ? last : in;
}

// A coordinate as an index; -1 where it is far outside, or NaN.
static int64_t index_of(float at, int64_t size) {
  return at > -2 && at < (float)size + 2 ? (int64_t)at : -1;
}

// ---- The kernels

typedef void (*row_fn)(const projective *s, const void *image, const float *transform, float fill,
                       void *out, int64_t y);

static bool place_of(const projective *s, const float *t, int64_t x, int64_t y, float *in_x,
                     float *in_y) {
  const float fx = (float)x, fy = (float)y, k = t[6] * fx + t[7] * fy + 1.0f;
  if (k == 0) return false;
  *in_x = bring_in(s->fill, (t[0] * fx + t[1] * fy + t[2]) / k, s->in_width);
  *in_y = bring_in(s->fill, (t[3] * fx + t[4] * fy + t[5]) / k, s->in_height);
  return true;
}

static bool inside(const projective *s, int64_t y, int64_t x) {
  return y >= 0 && y < s->in_height && x >= 0 && x < s->in_width;
}

// Numbers a float does not name: NaN and what is out of range become 0 or the ends.
#define FLOAT_TO_float(v) (v)
#define FLOAT_TO_double(v) ((double)(v))
#define FLOAT_TO_half(v) rheos__float_to_half(v)
#define FLOAT_TO_bfloat16(v) rheos__float_to_bfloat16(v)
#define FLOAT_TO_uint8(v) ((uint8_t)((v) >= 255 ? 255 : (v) > 0 ? (v) : 0))
#define FLOAT_TO_int32(v) \
  ((v) >= 0x1p31f ? INT32_MAX : (v) <= -0x1p31f ? INT32_MIN : (v) == (v) ? (int32_t)(v) : 0)
#define FLOAT_TO_int64(v) \
  ((v) >= 0x1p63f ? INT64_MAX : (v) <= -0x1p63f ? INT64_MIN : (v) == (v) ? (int64_t)(v) : 0)

#define DTYPES(M, ...) \
  RHEOS__FLOATS(M, __VA_ARGS__) M(uint8, __VA_ARGS__) M(int32, __VA_ARGS__) M(int64, __VA_ARGS__)

#define KERNEL(S, unused)                                                                      \
  static float value_##S(const projective *s, const rheos__stored_##S *image, int64_t y,       \
                         int64_t x, int64_t k, float fill) {                                   \
    if (!inside(s, y, x)) return fill;                                                         \
    return (float)RHEOS__LOAD_##S(image[(y * s->in_width + x) * s->channels + k]);             \
  }                                                                                            \
  static void row_##S(const projective *s, const void *image, const float *transform,          \
                      float fill_value, void *out, int64_t y) {                                \
    const rheos__stored_##S *from = image, fill = FLOAT_TO_##S(fill_value);                    \
    const float outside = (float)RHEOS__LOAD_##S(fill);                                        \
    rheos__stored_##S *to = out;                                                               \
    for (int64_t x = 0; x < s->width; x++, to += s->channels) {                                \
      float in_x = 0, in_y = 0;                                                                \
      const bool somewhere = place_of(s, transform, x, y, &in_x, &in_y);                       \
      if (!somewhere || !s->bilinear) {                                                        \
        const int64_t at_x = index_of(roundf(in_x), s->in_width);                              \
        const int64_t at_y = index_of(roundf(in_y), s->in_height);                             \
        const bool seen = somewhere && inside(s, at_y, at_x);                                  \
        for (int64_t k = 0; k < s->channels; k++) {                                            \
          to[k] = seen ? from[(at_y * s->in_width + at_x) * s->channels + k] : fill;           \
        }                                                                                      \
        continue;                                                                              \
      }                                                                                        \
      const float left = floorf(in_x), top = floorf(in_y), right = left + 1, bottom = top + 1; \
      const int64_t x0 = index_of(left, s->in_width), x1 = index_of(right, s->in_width);       \
      const int64_t y0 = index_of(top, s->in_height), y1 = index_of(bottom, s->in_height);     \
      for (int64_t k = 0; k < s->channels; k++) {                                              \
        const float upper = (right - in_x) * value_##S(s, from, y0, x0, k, outside) +          \
                            (in_x - left) * value_##S(s, from, y0, x1, k, outside);            \
        const float lower = (right - in_x) * value_##S(s, from, y1, x0, k, outside) +          \
                            (in_x - left) * value_##S(s, from, y1, x1, k, outside);            \
        const float mixed = (bottom - in_y) * upper + (in_y - top) * lower;                    \
        to[k] = FLOAT_TO_##S(mixed);                                                           \
      }                                                                                        \
    }                                                                                          \
  }
DTYPES(KERNEL, )

#define ENTRY(S, unused) [RHEOS__DTYPE_##S] = row_##S,
static const row_fn row_fns[RHEOS__NUM_DTYPES] = {DTYPES(ENTRY, )};

typedef struct call {
  projective projective;
  const char *in;
  char *out;
  const float *transforms;
  float fill;
} call;

static rheos_status *do_rows(void *argument, int64_t first, int64_t last) {
  const call *c = argument;
  const projective *s = &c->projective;
  const int64_t size = (int64_t)rheos_dtype_size(s->dtype);
  const int64_t image = s->in_height * s->in_width * s->channels * size;
  const int64_t row = s->width * s->channels * size;
  for (int64_t r = first; r < last; r++) {
    const int64_t n = r / s->height;
    row_fns[s->dtype](s, c->in + n * image, c->transforms + (s->one_transform ? 0 : 8 * n), c->fill,
                      c->out + r * row, r % s->height);
  }
  return NULL;
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const rheos__operands *o = state;
  const rheos_shape *in = &inputs[0]->shape, *transforms = &inputs[1]->shape;
  const int64_t height = rheos__tensor_int_at(inputs[2], 0);
  const int64_t width = rheos__tensor_int_at(inputs[2], 1);
  call c = {.projective = {.in_height = in->dims[1],
                           .in_width = in->dims[2],
                           .height = height,
                           .width = width,
                           .channels = in->dims[3],
                           .one_transform = transforms->dims[0] == 1,
                           .dtype = inputs[0]->dtype}};
  RHEOS_TRY(read_modes(o->attrs, &c.projective));
  if (height <= 0 || width <= 0) {
    return RHEOS_INVALID("new dimensions must be positive: %lld, %lld", (long long)height,
                         (long long)width);
  }
  RHEOS_TRY(rheos__tensor_new(inputs[0]->dtype,
                              &RHEOS_SHAPE(in->dims[0], height, width, in->dims[3]), &outputs[0]));
  if (outputs[0]->num_elements == 0) return NULL;
  c.in = inputs[0]->data;
  c.out = outputs[0]->data;
  c.transforms = inputs[1]->data;
  c.fill = o->num_inputs > 3 ? *(const float *)inputs[3]->data : 0;
  return rheos__step_parallel(step, in->dims[0] * height,
                              rheos__flops((double)outputs[0]->num_elements * 20), do_rows, &c);
}

static rheos_status *prepare(rheos__prepare *p) {
  if (row_fns[p->input_dtypes[0]] == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute;
  return NULL;
}

// ---- Shapes

static rheos_status *shape(rheos__infer *c) {
  rheos_shape images, transforms, size, scalar;
  projective modes;
  int64_t sizes[2] = {-1, -1};
  int32_t count;
  RHEOS_TRY(read_modes(c->attrs, &modes));
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &images));
  RHEOS_TRY(rheos__infer_rank(c, 1, 2, &transforms));
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &size));
  if (c->num_inputs > 3) RHEOS_TRY(rheos__infer_rank(c, 3, 0, &scalar));
  if ((transforms.dims[1] >= 0 && transforms.dims[1] != 8) ||
      (transforms.dims[0] >= 0 && transforms.dims[0] != 1 && images.dims[0] >= 0 &&
       transforms.dims[0] != images.dims[0])) {
    rheos__shape_text text;
    return RHEOS_INVALID("Input transform should be num_images x 8 or 1 x 8, got %s",
                         rheos__shape_text_of(&transforms, &text));
  }
  if (size.dims[0] >= 0 && size.dims[0] != 2) {
    return RHEOS_INVALID("output shape must have two elements, got %lld", (long long)size.dims[0]);
  }
  if (rheos__infer_ints(c, 2, sizes, 2, &count) && (sizes[0] <= 0 || sizes[1] <= 0)) {
    return RHEOS_INVALID("new dimensions must be positive: %lld, %lld", (long long)sizes[0],
                         (long long)sizes[1]);
  }
  c->output_shapes[0] = RHEOS_SHAPE(images.dims[0], sizes[0], sizes[1], images.dims[3]);
  return NULL;
}

// ---- Gradient: what arrives, moved by the inverse transforms

// The transforms as matrices [n, 3, 3] inverted, the last element scaled to 1, as rows of 8.
static rheos_output inverted(rheos_scope *s, rheos_output transforms) {
  const rheos_output rows = rheos__shape_of(s, transforms, RHEOS_INT32);
  const int32_t zero = 0, one = 1, nine[] = {-1, 9}, square[] = {-1, 3, 3};
  const int32_t first[] = {0, 0}, eight[] = {-1, 8};
  const rheos_output count = rheos__op_3(s, "Slice", rows, rheos__const_ints(s, &zero, 1, "begin"),
                                         rheos__const_ints(s, &one, 1, "size"));
  const rheos_output pair[] = {count, rheos__const_ints(s, &one, 1, "one"),
                               rheos__const_scalar(s, RHEOS_INT32, 0, "axis")};
  const rheos_attr two = rheos_attr_int("N", 2);
  const rheos_output column =
      rheos_operation_output(rheos__op_n(s, "ConcatV2", NULL, pair, 3, &two, 1), 0);
  const rheos_output ones =
      rheos__op_2(s, "Fill", column, rheos__const_scalar(s, RHEOS_FLOAT, 1, "value"));
  const rheos_output whole[] = {transforms, ones, rheos__const_scalar(s, RHEOS_INT32, 1, "axis")};
  const rheos_output flat =
      rheos_operation_output(rheos__op_n(s, "ConcatV2", NULL, whole, 3, &two, 1), 0);
  const rheos_output matrices =
      rheos__op_2(s, "Reshape", flat, rheos__const_ints(s, square, 3, "shape"));
  const rheos_output inverse = rheos__op_2(s, "Reshape", rheos__op_1(s, "MatrixInverse", matrices),
                                           rheos__const_ints(s, nine, 2, "shape"));
  const int32_t corner[] = {0, 8}, one_wide[] = {-1, 1};
  const rheos_output last =
      rheos__op_3(s, "Slice", inverse, rheos__const_ints(s, corner, 2, "begin"),
                  rheos__const_ints(s, one_wide, 2, "size"));
  const rheos_output scaled = rheos__op_2(s, "RealDiv", inverse, last);
  return rheos__op_3(s, "Slice", scaled, rheos__const_ints(s, first, 2, "begin"),
                     rheos__const_ints(s, eight, 2, "size"));
}

static void gradient(rheos__grad *g) {
  static const char *const names[] = {"interpolation", "fill_mode"};
  rheos_scope *s = g->scope;
  rheos_attr attrs[2];
  size_t count = 0;
  for (int i = 0; i < 2; i++) {
    const rheos_attr_value *value = rheos__attrs_find(g->attrs, names[i]);
    if (value != NULL) attrs[count++] = (rheos_attr){names[i], *value};
  }
  const int32_t begin = 1, size = 2;
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const rheos_output sizes = rheos__op_3(s, "Slice", dims, rheos__const_ints(s, &begin, 1, "begin"),
                                         rheos__const_ints(s, &size, 1, "size"));
  rheos_output inputs[] = {rheos__grad_dense(g, 0), inverted(s, g->inputs[1]), sizes, {0}};
  if (g->num_inputs > 3) inputs[3] = g->inputs[3];
  const rheos_operation node = rheos__op_n(s, rheos_operation_type(g->operation), NULL, inputs,
                                           (size_t)g->num_inputs, attrs, count);
  if (node.graph != NULL) rheos__grad_set(g, 0, rheos_operation_output(node, 0));
}

#define IMAGES "dtype: {uint8, int32, int64, half, bfloat16, float, double}; "
#define MODES "interpolation: string; fill_mode: string = \"CONSTANT\""
#define DOC                                                                                   \
  "`images` where each output pixel (x, y) is the input at the place that the projection in " \
  "`transforms` [n, 8] moves it to."

const rheos__op_def rheos__op_ImageProjectiveTransformV2 = {
    .name = "ImageProjectiveTransformV2",
    .signature =
        "images: dtype, transforms: float, output_shape: int32 -> transformed_images: "
        "dtype; " IMAGES MODES,
    .doc = DOC,
    .shape = shape,
    .gradient = gradient,
    .prepare = prepare,
};

const rheos__op_def rheos__op_ImageProjectiveTransformV3 = {
    .name = "ImageProjectiveTransformV3",
    .signature =
        "images: dtype, transforms: float, output_shape: int32, fill_value: float -> "
        "transformed_images: dtype; " IMAGES MODES,
    .doc = DOC " `fill_value` outside.",
    .shape = shape,
    .gradient = gradient,
    .prepare = prepare,
};
