// Windows that slide over images: convolutions, pooling, dilation and patches share the arithmetic
// of sizes, padding and positions. Every op is treated as one of three spatial dimensions, the
// leading ones of size 1, and every layout (channels last or second) as steps between elements.
#ifndef RHEOS_SRC_OPS_KIT_WINDOW_H
#define RHEOS_SRC_OPS_KIT_WINDOW_H

#include "graph/op_def.h"

enum { RHEOS__WINDOW_DIMS = 3 };

// ---- Layout

// Which dimension of a tensor is which: batch is the first.
typedef struct rheos__layout {
  int32_t spatial;  // number of spatial dimensions
  int32_t first;    // the first of them
  int32_t channel;
} rheos__layout;

// By the attribute `data_format` if there is one; channels are last otherwise.
rheos_status *rheos__layout_of(const rheos__attrs *attrs, int32_t spatial,
                               rheos__layout *out_layout);
// Dimensions of a tensor of this layout.
rheos_shape rheos__layout_shape(const rheos__layout *layout, int64_t batch, const int64_t *spatial,
                                int64_t channels);

// Elements from one batch entry, position and channel to the next.
typedef struct rheos__steps {
  int64_t batch, dims[RHEOS__WINDOW_DIMS], channel;
} rheos__steps;
rheos__steps rheos__layout_steps(const rheos__layout *layout, const rheos_shape *shape);

// ---- Windows along one dimension

typedef struct rheos__window {
  int64_t in, out;  // elements; -1 where not known
  int64_t kernel, stride, dilation;
  int64_t before, after;  // elements of padding
} rheos__window;

typedef struct rheos__windows {
  rheos__layout layout;
  rheos__window dims[RHEOS__WINDOW_DIMS];
} rheos__windows;

// A list attribute with one number for each dimension of the layout: those of the spatial ones go
// to `numbers` (1 for leading dimensions that there are not), the others to `out_batch`,
// `out_channel`. `values`, if not NULL, replaces the attribute.
rheos_status *rheos__window_numbers(const rheos__attrs *attrs, const char *name,
                                    const rheos__layout *layout, const int64_t *values,
                                    int64_t *numbers, int64_t *out_batch, int64_t *out_channel);

// Fills in `out`, `before` and `after` of all dimensions from the others and the attributes
// `padding` and `explicit_paddings`. Sizes of -1 are not known.
rheos_status *rheos__windows_fit(rheos__windows *w, const rheos__attrs *attrs);

// For shape functions: `fitted`, what became of rheos__windows_fit(), unless a window is larger
// than its padded input, which is an error.
rheos_status *rheos__windows_inferred_take(const rheos__infer *c, const rheos__windows *w,
                                           rheos_status *fitted);

// The elements of the window at `out` that lie inside the input are [first, last); returns the
// first.
static inline int64_t rheos__window_inside(const rheos__window *w, int64_t out, int64_t *last) {
  const int64_t start = out * w->stride - w->before;
  *last = start < w->in ? (w->in - 1 - start) / w->dilation + 1 : 0;
  if (*last > w->kernel) *last = w->kernel;
  return start < 0 ? (-start - 1) / w->dilation + 1 : 0;
}

// The windows whose element k lies inside the input are [first, last); returns the first.
static inline int64_t rheos__window_outputs(const rheos__window *w, int64_t k, int64_t *last) {
  const int64_t start = k * w->dilation - w->before;
  *last = start < w->in ? (w->in - 1 - start) / w->stride + 1 : 0;
  if (*last > w->out) *last = w->out;
  return start < 0 ? (-start - 1) / w->stride + 1 : 0;
}

// The elements that windows may have at input element `in` are [first, last); returns the first.
static inline int64_t rheos__window_covering(const rheos__window *w, int64_t in, int64_t *last) {
  const int64_t reach = in + w->before, least = reach - (w->out - 1) * w->stride;
  *last = w->out == 0 ? 0 : reach / w->dilation + 1;
  if (*last > w->kernel) *last = w->kernel;
  return least > 0 ? (least - 1) / w->dilation + 1 : 0;
}

// for (k ...) over one of these: RHEOS__FOR(k, inside, &window, out)
#define RHEOS__FOR(k, which, window, at) \
  for (int64_t k##_last, k = rheos__window_##which(window, at, &k##_last); k < k##_last; k++)

// The window that has its element k at input element `in`, or -1.
static inline int64_t rheos__window_with(const rheos__window *w, int64_t in, int64_t k) {
  const int64_t start = in + w->before - k * w->dilation;
  return start % w->stride == 0 ? start / w->stride : -1;
}

// Input element of element k of a window.
static inline int64_t rheos__window_at(const rheos__window *w, int64_t out, int64_t k) {
  return out * w->stride - w->before + k * w->dilation;
}

// The product of sizes for estimates: stays at the largest number instead of overflowing.
int64_t rheos__estimate(const int64_t *factors, int32_t count);

// ---- Gradients

// The attributes of `g` by these names, NULL-terminated, for the node of a gradient. At most 8.
size_t rheos__attrs_by_name(const rheos__grad *g, const char *const *names, rheos_attr *out_attrs);

#endif  // RHEOS_SRC_OPS_KIT_WINDOW_H
