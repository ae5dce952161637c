// ExtractImagePatches, ExtractVolumePatches: each window of an image as one vector of channels.
#include "ops/image/patches.h"

#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

static rheos_status *read_numbers(const rheos__attrs *attrs, const char *name,
                                  const rheos__layout *layout, int64_t *numbers) {
  int64_t batch, channel;
  const rheos_attr_value *list = rheos__attrs_find(attrs, name);
  const bool is_stride = strcmp(name, "strides") == 0;
  for (int32_t i = 0; i < list->count && !is_stride; i++) {
    if (list->ints[i] < 1 || list->ints[i] > INT32_MAX) {
      return rheos_status_new(RHEOS_OUT_OF_RANGE, "%s is out of range.", name);
    }
  }
  RHEOS_TRY(rheos__window_numbers(attrs, name, layout, NULL, numbers, &batch, &channel));
  if (batch == 1 && channel == 1) return NULL;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "Only support %s across space.", name);
}

static rheos_status *fit(const rheos__attrs *attrs, const rheos_shape *image, rheos__patches *out,
                         rheos_shape *out_shape) {
  memset(out, 0, sizeof *out);
  const int32_t spatial = image->rank - 2;
  rheos__window *w = out->windows.dims;
  const rheos__layout *layout = &out->windows.layout;
  int64_t sizes[RHEOS__WINDOW_DIMS], strides[RHEOS__WINDOW_DIMS];
  int64_t rates[RHEOS__WINDOW_DIMS] = {1, 1, 1};
  RHEOS_TRY(rheos__layout_of(attrs, spatial, &out->windows.layout));
  RHEOS_TRY(read_numbers(attrs, "ksizes", layout, sizes));
  RHEOS_TRY(read_numbers(attrs, "strides", layout, strides));
  if (spatial == 2) RHEOS_TRY(read_numbers(attrs, "rates", layout, rates));
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    const int32_t at = d - (RHEOS__WINDOW_DIMS - spatial);
    w[d] = (rheos__window){.in = at >= 0 ? image->dims[1 + at] : 1,
                           .kernel = sizes[d],
                           .stride = strides[d],
                           .dilation = rates[d]};
  }
  out->batch = image->dims[0];
  out->channels = image->dims[spatial + 1];
  RHEOS_TRY(rheos__windows_fit(&out->windows, attrs));
  int64_t depth = -1;
  if (out->channels >= 0 && (__builtin_mul_overflow(w[1].kernel, w[2].kernel, &depth) ||
                             __builtin_mul_overflow(depth, w[0].kernel, &depth) ||
                             __builtin_mul_overflow(depth, out->channels, &depth))) {
    return RHEOS_INVALID("patches are too large");
  }
  const int64_t out_sizes[] = {w[0].out, w[1].out, w[2].out};
  *out_shape = rheos__layout_shape(layout, out->batch, out_sizes + 3 - spatial, depth);
  return NULL;
}

static rheos_status *shape_of_rank(rheos__infer *c, int32_t rank) {
  rheos_shape image;
  rheos__patches ignored;
  RHEOS_TRY(rheos__infer_rank(c, 0, rank, &image));
  return fit(c->attrs, &image, &ignored, &c->output_shapes[0]);
}
static rheos_status *patches_shape(rheos__infer *c) { return shape_of_rank(c, 4); }
static rheos_status *volume_patches_shape(rheos__infer *c) { return shape_of_rank(c, 5); }

// A unit is a row of patches. Outside the image there is 0.
static rheos_status *run_patches(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const rheos__patches *s = state;
  const rheos__window *w = s->windows.dims;
  const size_t pixel = (size_t)s->channels * s->element_bytes;
  const size_t patch = pixel * (size_t)(w[0].kernel * w[1].kernel * w[2].kernel);
  const size_t row = patch * (size_t)w[2].out;
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    const int64_t oy = unit % w[1].out, oz = unit / w[1].out % w[0].out;
    const int64_t n = unit / w[1].out / w[0].out;
    char *to = (char *)outputs[0] + (size_t)unit * row;
    memset(to, 0, row);
    for (int64_t ox = 0; ox < w[2].out; ox++, to += patch) {
      RHEOS__FOR(kz, inside, &w[0], oz)
      RHEOS__FOR(ky, inside, &w[1], oy) RHEOS__FOR(kx, inside, &w[2], ox) {
        const int64_t at = n * s->in.batch + rheos__window_at(&w[0], oz, kz) * s->in.dims[0] +
                           rheos__window_at(&w[1], oy, ky) * s->in.dims[1] +
                           rheos__window_at(&w[2], ox, kx) * s->in.dims[2];
        const int64_t tap = (kz * w[1].kernel + ky) * w[2].kernel + kx;
        memcpy(to + (size_t)tap * pixel, (const char *)inputs[0] + (size_t)at * s->element_bytes,
               pixel);
      }
    }
  }
  return NULL;
}

static rheos_status *run_nothing(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)state, (void)inputs, (void)outputs, (void)scratch, (void)first_unit, (void)last_unit;
  return NULL;
}

static rheos_status *prepare_patches(rheos__prepare *p) {
  rheos__patches *s = RHEOS_NEW_STATE(p, rheos__patches);
  rheos_shape out;
  if (s == NULL) return rheos__out_of_memory();
  RHEOS_TRY(fit(p->attrs, &p->input_shapes[0], s, &out));
  s->in = rheos__layout_steps(&s->windows.layout, &p->input_shapes[0]);
  s->element_bytes = rheos_dtype_size(p->output_dtypes[0]);
  p->run = run_patches;
  if (rheos_shape_num_elements(&out) == 0) {
    p->run = run_nothing;
    return NULL;
  }
  p->num_units = s->batch * s->windows.dims[0].out * s->windows.dims[1].out;
  p->flops = rheos_shape_num_elements(&out);
  return NULL;
}

// ---- Gradient: patches of an image that holds the number of each pixel tell where every element
// came from; the gradient is a sum by these numbers. Those of the padding are -1, which no sum
// takes.

static rheos_output picked(rheos_scope *s, rheos_output dims, int32_t first, int32_t count) {
  const int32_t at[] = {first, first + 1, first + 2};
  return rheos__op_2(s, "Gather", dims, rheos__const_ints(s, at, count, "at"));
}

static rheos_output joined(rheos_scope *s, rheos_output a, rheos_output b, rheos_output c) {
  const rheos_output inputs[] = {a, b, c, rheos__const_scalar(s, RHEOS_INT32, 0, "axis")};
  const rheos_attr count = rheos_attr_int("N", 3);
  return rheos_operation_output(rheos__op_n(s, "ConcatV2", NULL, inputs, 4, &count, 1), 0);
}

// [a, b, c] to [b, a, c]
static rheos_output swapped(rheos_scope *s, rheos_output x) {
  const int32_t order[] = {1, 0, 2};
  return rheos__op_2(s, "Transpose", x, rheos__const_ints(s, order, 3, "perm"));
}

static void grad_by_places(rheos__grad *g, int32_t spatial) {
  static const char *const names[] = {"ksizes", "strides", "rates", "padding", NULL};
  rheos_scope *s = g->scope;
  rheos_attr attrs[8];
  const size_t count = rheos__attrs_by_name(g, names, attrs);
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const int32_t axis = 0, ones[] = {1};
  const rheos_output area = picked(s, dims, 1, spatial);
  const rheos_output one = rheos__const_ints(s, ones, 1, "one");
  const rheos_output pixels = rheos__op_2(s, "Prod", area, rheos__const_ints(s, &axis, 1, "axis"));
  const rheos_output unit = rheos__const_scalar(s, RHEOS_INT32, 1, "unit");
  const rheos_output numbers =
      rheos__op_3(s, "Range", unit, rheos__op_2(s, "AddV2", pixels, unit), unit);
  const rheos_output image = rheos__op_2(s, "Reshape", numbers, joined(s, one, area, one));
  const rheos_output of_patches = rheos_operation_output(
      rheos__op_n(s, rheos_operation_type(g->operation), NULL, &image, 1, attrs, count), 0);
  const int32_t flat[] = {-1};
  const rheos_output from = rheos__op_2(
      s, "Sub", rheos__op_2(s, "Reshape", of_patches, rheos__const_ints(s, flat, 1, "flat")), unit);
  const rheos_output arriving =
      rheos__op_2(s, "Reshape", rheos__grad_dense(g, 0),
                  joined(s, picked(s, dims, 0, 1), rheos__shape_of(s, from, RHEOS_INT32),
                         picked(s, dims, spatial + 1, 1)));
  const rheos_output sums =
      rheos__op_3(s, "UnsortedSegmentSum", swapped(s, arriving), from, pixels);
  rheos__grad_set(g, 0, rheos__op_2(s, "Reshape", swapped(s, sums), dims));
}

static void grad_patches(rheos__grad *g) { grad_by_places(g, 2); }
static void grad_volume_patches(rheos__grad *g) { grad_by_places(g, 3); }

const rheos__op_def rheos__op_ExtractImagePatches = {
    .name = "ExtractImagePatches",
    .signature =
        "images: T -> patches: T; ksizes: list(int) >= 4; strides: list(int) >= 4; "
        "rates: list(int) >= 4; T: {bfloat16, half, float, double, int8, int16, int32, int64, "
        "uint8, "
        "uint16, uint32, uint64, complex64, complex128, bool}; padding: {\"SAME\", \"VALID\"}",
    .doc = "Each window of the images `images` as one vector of channels.",
    .shape = patches_shape,
    .gradient = grad_patches,
    .prepare = prepare_patches,
};

const rheos__op_def rheos__op_ExtractVolumePatches = {
    .name = "ExtractVolumePatches",
    .signature =
        "input: T -> patches: T; ksizes: list(int) >= 5; strides: list(int) >= 5; "
        "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, "
        "uint64}; "
        "padding: {\"SAME\", \"VALID\"}",
    .doc = "Each window of the volumes `input` as one vector of channels.",
    .shape = volume_patches_shape,
    .gradient = grad_volume_patches,
    .prepare = prepare_patches,
};
