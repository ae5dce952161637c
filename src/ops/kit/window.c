// Sizes and positions of sliding windows. Sizes come from attributes and shapes that anybody may
// have written, so every sum and product here is checked or cannot overflow.
#include "ops/kit/window.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "ops/kit/array_util.h"

// ---- Layout

rheos_status *rheos__layout_of(const rheos__attrs *attrs, int32_t spatial,
                               rheos__layout *out_layout) {
  assert(spatial >= 1 && spatial <= RHEOS__WINDOW_DIMS);
  const rheos_attr_value *format = rheos__attrs_find(attrs, "data_format");
  const char *name = format != NULL ? rheos__attr_string(attrs, "data_format") : "N";
  if (strcmp(name, "NCHW_VECT_C") == 0) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "data_format NCHW_VECT_C is not available");
  }
  const bool second = name[1] == 'C';
  *out_layout = (rheos__layout){
      .spatial = spatial, .first = second ? 2 : 1, .channel = second ? 1 : spatial + 1};
  return NULL;
}

rheos_shape rheos__layout_shape(const rheos__layout *layout, int64_t batch, const int64_t *spatial,
                                int64_t channels) {
  rheos_shape shape = {.rank = layout->spatial + 2};
  shape.dims[0] = batch;
  shape.dims[layout->channel] = channels;
  for (int32_t d = 0; d < layout->spatial; d++) shape.dims[layout->first + d] = spatial[d];
  return shape;
}

rheos__steps rheos__layout_steps(const rheos__layout *layout, const rheos_shape *shape) {
  int64_t steps[RHEOS_MAX_RANK];
  rheos__row_major_steps(shape, steps);
  rheos__steps out = {.batch = steps[0], .channel = steps[layout->channel]};
  for (int32_t d = 0; d < layout->spatial; d++) {
    out.dims[RHEOS__WINDOW_DIMS - layout->spatial + d] = steps[layout->first + d];
  }
  return out;
}

// ---- Windows

rheos_status *rheos__window_numbers(const rheos__attrs *attrs, const char *name,
                                    const rheos__layout *layout, const int64_t *values,
                                    int64_t *numbers, int64_t *out_batch, int64_t *out_channel) {
  const int32_t rank = layout->spatial + 2;
  if (values == NULL) {
    const rheos_attr_value *list = rheos__attrs_find(attrs, name);
    if (list == NULL || list->count != rank) {
      return RHEOS_INVALID("%s must have %d values, got %d", name, rank,
                           list != NULL ? list->count : 0);
    }
    values = list->ints;
  }
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    const int32_t at = d - (RHEOS__WINDOW_DIMS - layout->spatial);
    numbers[d] = at >= 0 ? values[layout->first + at] : 1;
  }
  *out_batch = values[0];
  *out_channel = values[layout->channel];
  for (int32_t d = 0; d < rank; d++) {
    if (values[d] < 1) {
      return RHEOS_INVALID("every element of %s must be > 0, got %" PRId64, name, values[d]);
    }
  }
  return NULL;
}

// Elements of the input that a window spans.
static rheos_status *window_extent(const rheos__window *w, int64_t *out_extent) {
  int64_t reach;
  if (__builtin_mul_overflow(w->kernel - 1, w->dilation, &reach) || reach == INT64_MAX) {
    return RHEOS_INVALID("a window of %" PRId64 " elements that are %" PRId64 " apart is too large",
                         w->kernel, w->dilation);
  }
  *out_extent = reach + 1;
  return NULL;
}

static void fit_same(rheos__window *w, int64_t extent) {
  assert(w->in >= 0 && w->stride >= 1);
  w->out = w->in / w->stride + (w->in % w->stride != 0);
  const int64_t excess = w->out == 0 ? -w->in : (w->out - 1) * w->stride - w->in;
  const int64_t padding = excess + extent > 0 ? excess + extent : 0;
  w->before = padding / 2;
  w->after = padding - w->before;
  assert(w->before <= w->after);
}

static rheos_status *fit_padded(rheos__window *w, int64_t extent) {
  int64_t padded;
  if (__builtin_add_overflow(w->in, w->before, &padded) ||
      __builtin_add_overflow(padded, w->after, &padded)) {
    return RHEOS_INVALID("paddings of %" PRId64 " and %" PRId64 " elements are too large",
                         w->before, w->after);
  }
  const int64_t room = padded - extent;
  w->out = room >= 0 ? room / w->stride + 1 : (room + w->stride) / w->stride;
  if (w->out >= 0) return NULL;
  return RHEOS_INVALID("Computed output size would be negative: %" PRId64 " [input_size: %" PRId64
                       ", effective_filter_size: %" PRId64 ", stride: %" PRId64 "]",
                       w->out, w->in, extent, w->stride);
}

static rheos_status *read_explicit(rheos__windows *w, const rheos_attr_value *list) {
  const rheos__layout *layout = &w->layout;
  const int32_t rank = layout->spatial + 2;
  if (list == NULL || list->count != 2 * rank) {
    return RHEOS_INVALID("explicit_paddings attribute must contain %d values, but got: %d",
                         2 * rank, list != NULL ? list->count : 0);
  }
  for (int32_t i = 0; i < 2 * rank; i++) {
    if (list->ints[i] < 0) {
      return RHEOS_INVALID("All elements of explicit_paddings must be nonnegative, got %" PRId64,
                           list->ints[i]);
    }
    const int32_t d = i / 2;
    if ((d == 0 || d == layout->channel) && list->ints[i] != 0) {
      return RHEOS_INVALID(
          "Nonzero explicit padding in the batch or depth dimensions is not supported");
    }
  }
  for (int32_t d = 0; d < layout->spatial; d++) {
    rheos__window *one = &w->dims[RHEOS__WINDOW_DIMS - layout->spatial + d];
    one->before = list->ints[2 * (layout->first + d)];
    one->after = list->ints[2 * (layout->first + d) + 1];
  }
  return NULL;
}

rheos_status *rheos__windows_fit(rheos__windows *w, const rheos__attrs *attrs) {
  const char *padding = rheos__attr_string(attrs, "padding");
  const rheos_attr_value *list = rheos__attrs_find(attrs, "explicit_paddings");
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) w->dims[d].before = w->dims[d].after = 0;
  if (strcmp(padding, "EXPLICIT") == 0) {
    RHEOS_TRY(read_explicit(w, list));
  } else if (list != NULL && list->count > 0) {
    return RHEOS_INVALID(
        "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
  }
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    rheos__window *one = &w->dims[d];
    int64_t extent = 0;
    if (one->kernel > 0) RHEOS_TRY(window_extent(one, &extent));
    one->out = -1;
    if (one->in < 0) continue;
    if (strcmp(padding, "SAME") == 0) {
      fit_same(one, extent);
    } else if (one->kernel >= 0) {
      RHEOS_TRY(fit_padded(one, extent));
    }
  }
  return NULL;
}

// Whether a window is larger than its input with the padding, unless that follows from the window.
static bool is_too_large(const rheos__window *w, int64_t *out_extent, int64_t *out_room) {
  rheos_status *status = w->kernel > 0 ? window_extent(w, out_extent) : NULL;
  if (status != NULL || w->kernel <= 0 || w->in < 0) {
    rheos_status_free(status);
    return false;
  }
  return !__builtin_add_overflow(w->in, w->before, out_room) &&
         !__builtin_add_overflow(*out_room, w->after, out_room) && *out_extent > *out_room;
}

rheos_status *rheos__windows_inferred_take(const rheos__infer *c, const rheos__windows *w,
                                           rheos_status *fitted) {
  if (strcmp(rheos__attr_string(c->attrs, "padding"), "SAME") == 0) {
    return fitted;
  }
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    int64_t extent = 0, room = 0;
    if (!is_too_large(&w->dims[d], &extent, &room)) continue;
    rheos_status_free(fitted);
    return RHEOS_INVALID("Negative dimension size caused by subtracting %" PRId64 " from %" PRId64,
                         extent, room);
  }
  return fitted;
}

int64_t rheos__estimate(const int64_t *factors, int32_t count) {
  int64_t product = 1;
  for (int32_t i = 0; i < count; i++) {
    if (__builtin_mul_overflow(product, factors[i], &product)) product = INT64_MAX / 4;
    if (product > INT64_MAX / 4) product = INT64_MAX / 4;
  }
  return product;
}

// ---- Gradients

size_t rheos__attrs_by_name(const rheos__grad *g, const char *const *names, rheos_attr *out_attrs) {
  size_t count = 0;
  for (; *names != NULL; names++) {
    const rheos_attr_value *value = rheos__attrs_find(g->attrs, *names);
    if (value != NULL) out_attrs[count++] = (rheos_attr){*names, *value};
  }
  return count;
}
