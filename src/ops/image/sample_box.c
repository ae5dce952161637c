// Random parts of pictures that cover enough of an object, bit for bit TensorFlow's for the same
// seeds.
#include <math.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/random_fill.h"

typedef struct sampler {
  rheos__generator *generator;  // NULL: the last input is the seed
  rheos_dtype dtype;
  bool covered_is_input, use_image;
  float min_covered, aspects[2], areas[2];
  int64_t attempts;
} sampler;

typedef struct box {
  int32_t left, top, right, bottom;
} box;

// ---- Random choices

// 0 to n - 1, every number as often.
static uint32_t below(rheos__philox_singles *singles, uint32_t n) {
  if ((n & (n - 1)) == 0) return rheos__philox_next(singles) & (n - 1);
  const uint32_t rest = UINT32_MAX % n + 1;
  uint32_t x;
  do {
    x = rheos__philox_next(singles);
  } while (x < rest);
  return x % n;
}

static int64_t rounded(float x) { return lrintf(x); }

// A part of the picture of that aspect ratio and an area within the limits; false if there is none.
static bool draw_part(const sampler *s, int32_t width, int32_t height, float aspect,
                      rheos__philox_singles *singles, box *out) {
  if (s->areas[1] <= 0 || aspect <= 0 || width <= 0 || height <= 0 || s->areas[0] > s->areas[1]) {
    return false;
  }
  const float least = s->areas[0] * (float)width * (float)height;
  const float most = s->areas[1] * (float)width * (float)height;
  int64_t h = rounded(sqrtf(least / aspect)), max_h = rounded(sqrtf(most / aspect));
  if (rounded((float)max_h * aspect) > width) {
    const float epsilon = 0.0000001f;
    max_h = (int64_t)(((double)width + 0.5 - (double)epsilon) / (double)aspect);
    if (rounded((float)max_h * aspect) > width) max_h--;
  }
  if (max_h > height) max_h = height;
  if (h >= max_h) h = max_h;
  if (h < max_h) h += below(singles, (uint32_t)(max_h - h + 1));
  int64_t w = rounded((float)h * aspect);
  // Rounding may have led outside the limits: try one line more, or less.
  if ((float)(w * h) < least) w = rounded((float)++h * aspect);
  if ((float)(w * h) > most) w = rounded((float)--h * aspect);
  const float area = (float)(w * h);
  if (!(area >= least && area <= most) || w > width || h > height || w <= 0 || h <= 0) {
    return false;
  }
  const int32_t y = h < height ? (int32_t)below(singles, (uint32_t)(height - h)) : 0;
  const int32_t x = w < width ? (int32_t)below(singles, (uint32_t)(width - w)) : 0;
  *out = (box){x, y, x + (int32_t)w, y + (int32_t)h};
  return true;
}

static float area_of(box b) {
  return b.right > b.left && b.bottom > b.top
             ? (float)((int64_t)(b.right - b.left) * (b.bottom - b.top))
             : 0;
}

static box common(box a, box b) {
  return (box){a.left > b.left ? a.left : b.left, a.top > b.top ? a.top : b.top,
               a.right < b.right ? a.right : b.right, a.bottom < b.bottom ? a.bottom : b.bottom};
}

static box object_of(const float *corners, int32_t width, int32_t height) {
  return (box){(int32_t)(corners[1] * (float)width), (int32_t)(corners[0] * (float)height),
               (int32_t)(corners[3] * (float)width), (int32_t)(corners[2] * (float)height)};
}

// Whether `part` covers enough of one of the objects; without any, of the whole picture.
static bool covers(const float *objects, int64_t count, int32_t width, int32_t height, box part,
                   float wanted) {
  if (area_of(part) < 1) return false;
  for (int64_t i = 0; i < (count > 0 ? count : 1); i++) {
    const box object =
        count > 0 ? object_of(objects + 4 * i, width, height) : (box){0, 0, width, height};
    if (area_of(object) < 1) continue;
    if (area_of(common(part, object)) / area_of(object) >= wanted) return true;
  }
  return false;
}

static box sample(const sampler *s, rheos__philox philox, const float *objects, int64_t count,
                  int32_t width, int32_t height, float wanted) {
  rheos__philox_singles singles = rheos__philox_singles_of(philox);
  for (int64_t i = 0; i < s->attempts; i++) {
    box part;
    const float share = rheos__random_float(rheos__philox_next(&singles));
    const float aspect = share * (s->aspects[1] - s->aspects[0]) + s->aspects[0];
    if (draw_part(s, width, height, aspect, &singles, &part) &&
        covers(objects, count, width, height, part, wanted)) {
      return part;
    }
  }
  return (box){0, 0, width, height};
}

// ---- The kernel

static rheos_status *check_objects(const sampler *s, const rheos_tensor *objects) {
  rheos__shape_text text;
  const float *corners = objects->data;
  if (objects->num_elements > 0 && (objects->shape.rank != 3 || objects->shape.dims[2] != 4)) {
    return RHEOS_INVALID("bounding_boxes must be [batch, n, 4], got shape %s",
                         rheos__shape_text_of(&objects->shape, &text));
  }
  if (objects->num_elements == 0 && !s->use_image) {
    return RHEOS_INVALID(
        "No bounding boxes provided as input. One must enable "
        "use_image_if_no_bounding_boxes if you wish to not provide any bounding "
        "boxes.");
  }
  for (int64_t i = 0; i < objects->num_elements; i++) {
    if (!(corners[i] >= 0 && corners[i] <= 1)) {
      return RHEOS_INVALID("All bounding box coordinates must be in [0.0, 1.0]: %g",
                           (double)corners[i]);
    }
  }
  return NULL;
}

static rheos_status *read_size(const rheos_tensor *size, int32_t *out_height, int32_t *out_width) {
  if (size->shape.rank != 1 || size->num_elements != 3) {
    return RHEOS_INVALID("image_size must have three elements");
  }
  const int64_t height = rheos__tensor_int_at(size, 0), width = rheos__tensor_int_at(size, 1);
  if (height <= 0 || width <= 0 || height > INT32_MAX / 4 || width > INT32_MAX / 4) {
    return RHEOS_INVALID("Image height and width must be positive, got %lld and %lld",
                         (long long)height, (long long)width);
  }
  *out_height = (int32_t)height;
  *out_width = (int32_t)width;
  return NULL;
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const sampler *s = state;
  int32_t height = 0, width = 0;
  (void)step;
  RHEOS_TRY(read_size(inputs[0], &height, &width));
  RHEOS_TRY(check_objects(s, inputs[1]));
  const float wanted = s->covered_is_input ? *(const float *)inputs[2]->data : s->min_covered;
  if (!(wanted >= 0 && wanted <= 1)) {
    return RHEOS_INVALID("Min object covered must be in [0.0, 1.0], got %g", (double)wanted);
  }
  if (s->generator == NULL) RHEOS_TRY(rheos__check_seed(&inputs[3]->shape));
  const rheos__philox philox =
      s->generator == NULL
          ? rheos__philox_of_seed(inputs[3])
          : rheos__generator_reserve(s->generator, ((uint64_t)s->attempts * 4 + 3) / 4);
  const box part =
      sample(s, philox, inputs[1]->data, inputs[1]->num_elements / 4, width, height, wanted);
  const int64_t begin[] = {part.top, part.left, 0};
  const int64_t size[] = {part.bottom - part.top, part.right - part.left, -1};
  RHEOS_TRY(rheos__tensor_new(s->dtype, &RHEOS_SHAPE(3), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(s->dtype, &RHEOS_SHAPE(3), &outputs[1]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &RHEOS_SHAPE(1, 1, 4), &outputs[2]));
  for (int i = 0; i < 3; i++) {
    rheos__set_int(s->dtype, outputs[0]->data, i, begin[i]);
    rheos__set_int(s->dtype, outputs[1]->data, i, size[i]);
  }
  float *corners = outputs[2]->data;
  corners[0] = (float)part.top / (float)height;
  corners[1] = (float)part.left / (float)width;
  corners[2] = (float)part.bottom / (float)height;
  corners[3] = (float)part.right / (float)width;
  return NULL;
}

static void release(void *state) {
  rheos__generator *generator = ((sampler *)state)->generator;
  if (generator != NULL) rheos__generator_unref(generator);
}

static rheos_status *read_range(const rheos__prepare *p, const char *name, float out[2]) {
  const rheos_attr_value *range = rheos__attrs_find(p->attrs, name);
  if (range->count != 2) return RHEOS_INVALID("%s must have two elements", name);
  out[0] = range->floats[0];
  out[1] = range->floats[1];
  if (out[0] > 0 && out[1] > 0 && out[0] < 1e6f && out[1] < 1e6f) return NULL;
  return RHEOS_INVALID("%s must be positive, got %g and %g", name, (double)out[0], (double)out[1]);
}

static rheos_status *prepare(rheos__prepare *p) {
  sampler *s = RHEOS_NEW_STATE(p, sampler);
  if (s == NULL) return rheos__out_of_memory();
  s->dtype = p->output_dtypes[0];
  s->use_image = rheos__attr_bool(p->attrs, "use_image_if_no_bounding_boxes");
  s->attempts = rheos__attr_int(p->attrs, "max_attempts");
  s->covered_is_input = p->num_inputs > 2;
  if (!s->covered_is_input) s->min_covered = rheos__attr_float(p->attrs, "min_object_covered");
  RHEOS_TRY(read_range(p, "aspect_ratio_range", s->aspects));
  RHEOS_TRY(read_range(p, "area_range", s->areas));
  if (s->areas[1] > 1) return RHEOS_INVALID("Max area must be in (0.0, 1.0]");
  if (s->attempts <= 0 || s->attempts > INT32_MAX) {
    return RHEOS_INVALID("Max attempts must be positive, got %lld", (long long)s->attempts);
  }
  if (p->num_inputs < 4) RHEOS_TRY(rheos__generator_of_node(p, &s->generator));
  p->release = release;
  p->compute = compute;
  return NULL;
}

static rheos_status *shape(rheos__infer *c) {
  rheos_shape size, objects, scalar;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &size));
  RHEOS_TRY(rheos__infer_rank(c, 1, 3, &objects));
  if (c->num_inputs > 2) RHEOS_TRY(rheos__infer_rank(c, 2, 0, &scalar));
  if (c->num_inputs > 3) {
    rheos_shape seed;
    RHEOS_TRY(rheos__infer_rank(c, 3, 1, &seed));
    if (seed.dims[0] != -1) RHEOS_TRY(rheos__check_seed(&seed));
  }
  if (size.dims[0] != -1 && size.dims[0] != 3) {
    return RHEOS_INVALID("image_size must have three elements, got %lld", (long long)size.dims[0]);
  }
  if (objects.dims[2] != -1 && objects.dims[2] != 4) {
    return RHEOS_INVALID("bounding_boxes must have 4 columns, got %lld",
                         (long long)objects.dims[2]);
  }
  c->output_shapes[0] = c->output_shapes[1] = RHEOS_SHAPE(3);
  c->output_shapes[2] = RHEOS_SHAPE(1, 1, 4);
  return NULL;
}

#define SEEDS "T: {uint8, int8, int16, int32, int64}; seed: int = 0; seed2: int = 0; "
#define RANGES                                                                              \
  "aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1.0]; " \
  "max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false"

const rheos__op_def rheos__op_SampleDistortedBoundingBox = {
    .name = "SampleDistortedBoundingBox",
    .signature = "image_size: T, bounding_boxes: float -> begin: T, size: T, bboxes: float; " SEEDS
                 "min_object_covered: float = 0.1; " RANGES,
    .doc = "A random part of a picture that covers enough of one of its `bounding_boxes`.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare,
};

const rheos__op_def rheos__op_SampleDistortedBoundingBoxV2 = {
    .name = "SampleDistortedBoundingBoxV2",
    .signature =
        "image_size: T, bounding_boxes: float, min_object_covered: float -> begin: T, "
        "size: T, bboxes: float; " SEEDS RANGES,
    .doc = "A random part of a picture that covers enough of one of its `bounding_boxes`.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare,
};

const rheos__op_def rheos__op_StatelessSampleDistortedBoundingBox = {
    .name = "StatelessSampleDistortedBoundingBox",
    .signature =
        "image_size: T, bounding_boxes: float, min_object_covered: float, seed: Tseed -> begin: T, "
        "size: T, bboxes: float; T: {uint8, int8, int16, int32, int64}; "
        "Tseed: {int32, int64}; " RANGES,
    .doc = "A part of a picture, chosen by `seed`, that covers enough of one of its boxes.",
    .shape = shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare,
};
