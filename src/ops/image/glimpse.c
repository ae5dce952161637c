// ExtractGlimpse: a window of each picture, around a place of its own. What lies outside the
// picture is noise, the same each time.
#include <math.h>
#include <string.h>

#include "ops/image/resize.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/random_fill.h"

typedef enum noise { UNIFORM, GAUSSIAN, ZERO } noise;

typedef struct glimpse {
  int64_t height, width, depth;  // of the pictures
  int64_t rows, columns;         // of the windows
  bool normalized, centered, second;
  noise noise;
} glimpse;

// The first row or column of a window; far outside if it is beyond what pictures have.
static int64_t start_of(const glimpse *g, float at, int64_t size, int64_t window) {
  if (g->normalized) at *= (float)size;
  const bool halved = g->centered && (g->normalized || !g->second);
  if (halved) at /= 2;
  if (g->centered) at += (float)size / 2;
  if (halved || !g->second) at -= (float)window / 2;  // from the middle to the corner
  if (isnan(at)) return 0;
  return at >= 0x1p40f ? INT64_C(1) << 40 : at > -0x1p40f ? (int64_t)at : -(INT64_C(1) << 40);
}

static bool is_inside(int64_t start, int64_t window, int64_t size) {
  return start >= 0 && window <= size && start <= size - window;
}

// The mean and standard deviation of a picture.
static void measure(const float *picture, int64_t count, double *mean, double *deviation) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) sum += (double)picture[i];
  *mean = count > 0 ? sum / (double)count : 0;
  for (int64_t i = 0; i < count; ++i) {
    const double off = (double)picture[i] - *mean;
    squares += off * off;
  }
  *deviation = count > 0 ? sqrt(squares / (double)count) : 0;
}

static void fill_noise(const glimpse *g, int64_t number, const float *picture, float *window) {
  const int64_t count = g->rows * g->columns * g->depth;
  if (g->noise == ZERO) {
    memset(window, 0, (size_t)count * sizeof *window);
    return;
  }
  double mean = 0, deviation = 1;
  if (g->noise == GAUSSIAN) {
    measure(picture, g->height * g->width * g->depth, &mean, &deviation);
  }
  rheos__philox philox = rheos__philox_of(0, (uint64_t)number);
  for (int64_t i = 0; i < count; i += 2) {
    uint32_t x[4];
    double pair[2];
    rheos__philox_block(&philox, x);
    rheos__philox_skip(&philox, 1);
    if (g->noise == GAUSSIAN) {
      rheos__normal_doubles(x, pair);
    } else {
      for (int k = 0; k < 2; ++k) pair[k] = (double)rheos__random_float(x[k]);
    }
    for (int64_t k = i; k < i + 2 && k < count; ++k) {
      window[k] = (float)(mean + deviation * pair[k - i]);
    }
  }
}

static void copy_window(const glimpse *g, const float *picture, int64_t top, int64_t left,
                        float *window) {
  for (int64_t y = 0; y < g->rows; ++y) {
    if (top + y < 0 || top + y >= g->height) continue;
    const int64_t first = left < 0 ? -left : 0;
    const int64_t last = left + g->columns > g->width ? g->width - left : g->columns;
    if (first >= last) continue;
    memcpy(window + (y * g->columns + first) * g->depth,
           picture + ((top + y) * g->width + left + first) * g->depth,
           (size_t)((last - first) * g->depth) * sizeof *window);
  }
}

// A unit is a picture.
static rheos_status *run_glimpse(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first, int64_t last) {
  const glimpse *g = state;
  (void)scratch;
  if (g->depth == 0 || g->rows == 0 || g->columns == 0) return NULL;
  for (int64_t b = first; b < last; ++b) {
    const float *offset = (const float *)inputs[2] + 2 * b;
    const float *picture = (const float *)inputs[0] + b * g->height * g->width * g->depth;
    float *window = (float *)outputs[0] + b * g->rows * g->columns * g->depth;
    const int64_t top = start_of(g, offset[0], g->height, g->rows);
    const int64_t left = start_of(g, offset[1], g->width, g->columns);
    if (!is_inside(top, g->rows, g->height) || !is_inside(left, g->columns, g->width)) {
      fill_noise(g, b, picture, window);
    }
    copy_window(g, picture, top, left, window);
  }
  return NULL;
}

static rheos_status *noise_of(const rheos__attrs *attrs, noise *out_noise) {
  const char *name = rheos__attr_string(attrs, "noise");
  const bool uniform = rheos__attr_bool(attrs, "uniform_noise");
  if (*name == '\0') {
    *out_noise = uniform ? UNIFORM : GAUSSIAN;
    return NULL;
  }
  *out_noise = strcmp(name, "zero") == 0       ? ZERO
               : strcmp(name, "gaussian") == 0 ? GAUSSIAN
                                               : UNIFORM;
  if (*out_noise == UNIFORM && strcmp(name, "uniform") != 0) {
    return RHEOS_INVALID("noise could only be uniform or gaussian or zero, got %s", name);
  }
  if (uniform && *out_noise != UNIFORM) {
    return RHEOS_INVALID("The uniform_noise and noise could not be specified at the same time");
  }
  return NULL;
}

typedef struct glimpse_family {
  bool second;  // the second version
} glimpse_family;

static const glimpse_family first_version = {.second = false}, second_version = {.second = true};

static rheos_status *prepare_glimpse(rheos__prepare *p) {
  const glimpse_family *family = p->op->family;
  glimpse *g = RHEOS_NEW_STATE(p, glimpse);
  if (g == NULL) return rheos__out_of_memory();
  const rheos_shape *in = &p->input_shapes[0], *out = &p->output_shapes[0];
  *g = (glimpse){
      .height = in->dims[1],
      .width = in->dims[2],
      .depth = in->dims[3],
      .normalized = rheos__attr_bool(p->attrs, "normalized"),
      .centered = rheos__attr_bool(p->attrs, "centered"),
      .second = family->second,
  };
  RHEOS_TRY(noise_of(p->attrs, &g->noise));
  g->rows = out->dims[1];
  g->columns = out->dims[2];
  p->flops = rheos__flops(4.0 * (double)rheos_shape_num_elements(out));
  rheos__resize_answer(p, run_glimpse, in->dims[0]);
  return NULL;
}

static rheos_status *shape_glimpse(rheos__infer *c) {
  rheos_shape images, size, offsets, merged;
  rheos__shape_text text;
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &images));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &size));
  RHEOS_TRY(rheos__infer_rank(c, 2, 2, &offsets));
  if (size.dims[0] >= 0 && size.dims[0] != 2) {
    return RHEOS_INVALID("size must be a vector of size 2 (height, width), got shape %s",
                         rheos__shape_text_of(&size, &text));
  }
  const rheos_shape wanted = RHEOS_SHAPE(images.dims[0], 2);
  RHEOS_TRY(rheos__shape_merge(&wanted, &offsets, &merged));
  int64_t values[2] = {-1, -1};
  int32_t count;
  if (rheos__infer_ints(c, 1, values, 2, &count) && (values[0] < 0 || values[1] < 0)) {
    return RHEOS_INVALID("size must not be negative, got %lld and %lld", (long long)values[0],
                         (long long)values[1]);
  }
  c->output_shapes[0] = RHEOS_SHAPE(merged.dims[0], values[0], values[1], images.dims[3]);
  return NULL;
}

#define SIGNATURE                                                                        \
  "input: float, size: int32, offsets: float -> glimpse: float; centered: bool = true; " \
  "normalized: bool = true; uniform_noise: bool = true; noise: string = \"uniform\""

const rheos__op_def rheos__op_ExtractGlimpse = {
    .name = "ExtractGlimpse",
    .signature = SIGNATURE,
    .doc = "Windows of `size` of the pictures `input`, about their `offsets`.",
    .shape = shape_glimpse,
    .gradient = rheos__no_gradient,
    .prepare = prepare_glimpse,
    .family = &first_version,
};

const rheos__op_def rheos__op_ExtractGlimpseV2 = {
    .name = "ExtractGlimpseV2",
    .signature = SIGNATURE,
    .doc =
        "ExtractGlimpse whose offsets are those of corners, unless they are normalized and "
        "centered.",
    .shape = shape_glimpse,
    .prepare = prepare_glimpse,
    .family = &second_version,
};
