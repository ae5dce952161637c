// Convolutions as matrix products without making the matrix: with the channels last, a window's row
// lies in one piece in the image, so the pixels of a row of the result are rows of an operand whose
// steps are known. The filter is laid down in panels: a block that stays in the second-level cache
// at a time, or where the filter stays all of it, once. What of a window lies outside the image is
// left out; so pixels at the sides, whose windows are narrower, go by columns of the result, all
// others by rows.
//
// A unit is some rows of the result by some of its channels. Each element is the sum over the
// window in order, whatever the units: so neither they nor threads change the bits.
//
// The gradient by the image of windows that move by one pixel is such a convolution too: of the
// result's gradient, with the filter's taps in the opposite order and its channels exchanged. That
// is how the filter is laid down then.
#include "device/cpu/conv_float.h"

#include <string.h>

#include "base/numbers.h"
#include "device/cpu/panels.h"
#include "ops/nn/conv.h"
#include "ops/nn/fused.h"

// Of a block of the filter; of the result that goes over it while it is in the cache. The result is
// read and written once a block: few deep ones are better, as for panels. Where a window is one
// pixel, pixels are so cheap that the result binds: in small blocks its lines are written, and a
// sum's other operand is read, while their pages are known.
enum { BLOCK_DEPTH = 1024, BLOCK_COLUMNS = 256, BLOCK_PIXELS = 240, FLAT_BLOCK_PIXELS = 48 };
enum { UNIT_PIXELS = 384, MOST_UNIT_PIXELS = 2048, MOST_UNITS = 32, LEAST_COLUMNS = 128 };

static const int64_t LEAST_FLOPS = 2048;

// Of the image, for its gradient: with fewer, tiles are not whole, and oneDNN is a tenth faster,
// unless there is so little to do that its call is what counts.
static const int64_t LEAST_TURNED_CHANNELS = 64, FEW_FLOPS = 1 << 17;

typedef struct conv_float {
  rheos__dense_fn run;
  rheos__window y, x;
  int64_t images, depth, n;                      // depth channels of the image, n of the result
  int64_t first_inner_x, last_inner_x;           // columns of the result whose windows are whole
  bool flat;                                     // pixels of image and result are the same
  int32_t image;                                 // input; the filter is input 1
  bool transposed;                               // the filter is
  int64_t unit_images, unit_rows, unit_columns;  // all rows where images are more than one
  int64_t row_units, column_units;
  bool keeps_filter;            // as pack_filter() puts it
  bool has_epilogue, in_loops;  // it is done by the loops
  rheos__epilogue epilogue;
} conv_float;

static int64_t parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

// ---- The window in segments of about BLOCK_DEPTH rows of the filter
//
// Either some whole rows of the window, or a part of one.

typedef struct segment {
  int64_t y, taps;       // rows of the window
  int64_t first, depth;  // of the numbers of such a row: its pixels' channels
} segment;

static int64_t numbers_of_row(const conv_float *c) { return c->x.kernel * c->depth; }
static int64_t rows_of_filter(const conv_float *c) { return c->y.kernel * numbers_of_row(c); }

// The segment behind `s`; false at the end.
static bool next_segment(const conv_float *c, segment *s) {
  const int64_t row = numbers_of_row(c);
  if (row <= BLOCK_DEPTH) {
    s->y += s->taps;
    s->taps = rheos__min(BLOCK_DEPTH / row, c->y.kernel - s->y);
    s->depth = row;
    return s->y < c->y.kernel;
  }
  s->first += s->depth;
  if (s->first == row) {
    s->first = 0;
    s->y++;
  }
  s->taps = 1;
  s->depth = rheos__min(parts(row, parts(row, BLOCK_DEPTH)), row - s->first);
  return s->y < c->y.kernel;
}
static const segment before_all = {0, 0, 0, 0};

static bool is_last(const conv_float *c, const segment *s) {
  segment next = *s;
  return !next_segment(c, &next);
}

// Rows of the filter before the segment, and in it.
static int64_t rows_before(const conv_float *c, const segment *s) {
  return s->y * numbers_of_row(c) + s->first;
}
static int64_t rows_in(const segment *s) { return s->taps * s->depth; }

// ---- A piece: some rows of one image of the result, by one panel of the filter's columns

typedef struct piece {
  const conv_float *conv;
  const segment *segment;
  rheos__dense dense;  // for whole windows
  const float *image, *panel;
  float *out;  // at its first row and the panel's first column
  int64_t first_row, rows;
  bool is_first, is_last;  // segment
} piece;

static int64_t image_row(const conv_float *c) { return c->x.in * c->depth; }

// The sums begin with nothing, where the first segment is not one of them.
static void clear(const piece *p, int64_t row, int64_t pixel, int64_t rows, int64_t pixels) {
  const conv_float *c = p->conv;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t k = 0; k < pixels; k++) {
      memset(p->out + ((row + i) * c->x.out + pixel + k) * c->n, 0,
             (size_t)p->dense.n * sizeof(float));
    }
  }
}

// Bias and activation, where the last segment is not one of the window.
static void finish(const piece *p, int64_t row, int64_t pixel, int64_t pixel_step, int64_t pixels) {
  rheos__dense d = p->dense;
  d.k = d.taps = 0;
  d.adds = true;
  d.c_row = pixel_step;
  p->conv->run(&d, p->image, p->panel, p->out + (row * p->conv->x.out + pixel) * p->conv->n, 0,
               pixels);
}

static void run_inner_row(const piece *p, int64_t row) {
  const conv_float *c = p->conv;
  const segment *s = p->segment;
  const int64_t first = c->first_inner_x, pixels = c->last_inner_x - first;
  const int64_t y = p->first_row + row;
  int64_t last_tap, tap = rheos__max(rheos__window_inside(&c->y, y, &last_tap), s->y);
  last_tap = rheos__min(last_tap, s->y + s->taps);
  if (tap >= last_tap) {
    if (p->is_first) clear(p, row, first, 1, pixels);
    if (p->is_last) finish(p, row, first, c->n, pixels);
    return;
  }
  rheos__dense d = p->dense;
  d.taps = last_tap - tap;
  d.adds = !p->is_first;
  c->run(&d,
         p->image + rheos__window_at(&c->y, y, tap) * image_row(c) +
             rheos__window_at(&c->x, first, 0) * c->depth + s->first,
         p->panel + (tap - s->y) * s->depth * d.b_row, p->out + (row * c->x.out + first) * c->n, 0,
         pixels);
}

// A column of the result at a side, one row of the window after the other.
static void run_side(const piece *p, int64_t x) {
  const conv_float *c = p->conv;
  const segment *s = p->segment;
  int64_t last_k, first_k = rheos__window_inside(&c->x, x, &last_k);
  const int64_t first = rheos__max(first_k * c->depth, s->first);
  const int64_t last = rheos__min(last_k * c->depth, s->first + s->depth);
  if (p->is_first) clear(p, 0, x, p->rows, 1);
  rheos__dense d = p->dense;
  d.k = last - first;
  d.taps = 0;
  d.a_row = c->y.stride * image_row(c);
  d.c_row = c->x.out * c->n;
  d.adds = true;
  d.bias = NULL;
  d.activation = RHEOS__NO_ACTIVATION;
  for (int64_t tap = s->y; tap < s->y + s->taps && first < last; tap++) {
    int64_t end, row = rheos__max(rheos__window_outputs(&c->y, tap, &end), p->first_row);
    end = rheos__min(end, p->first_row + p->rows);
    if (row >= end) continue;
    c->run(&d,
           p->image + rheos__window_at(&c->y, row, tap) * image_row(c) +
               (x * c->x.stride - c->x.before) * c->depth + first,
           p->panel + ((tap - s->y) * s->depth + first - s->first) * d.b_row,
           p->out + ((row - p->first_row) * c->x.out + x) * c->n, 0, end - row);
  }
  if (p->is_last) finish(p, 0, x, d.c_row, p->rows);
}

static void run_piece(const piece *p) {
  const conv_float *c = p->conv;
  for (int64_t x = 0; x < c->first_inner_x; x++) run_side(p, x);
  for (int64_t row = 0; row < p->rows && c->first_inner_x < c->last_inner_x; row++) {
    run_inner_row(p, row);
  }
  for (int64_t x = c->last_inner_x; x < c->x.out; x++) run_side(p, x);
}

// ---- Units

typedef struct work {
  const conv_float *conv;
  const void *const *inputs;
  float *out;
  // Of some units: rows of the result, of all images one after the other
  int64_t first_row, last_row;
} work;

// By one panel, rows [first, last), or pixels where these are the same in image and result.
static void run_rows(const work *w, piece *p, int64_t first, int64_t last, int64_t column) {
  const conv_float *c = w->conv;
  const float *image = w->inputs[c->image];
  const int64_t image_step = c->y.in * image_row(c), row_pixels = c->x.out;
  if (c->flat) {
    p->dense.adds = !p->is_first;
    c->run(&p->dense, image + first * c->depth + p->segment->first, p->panel,
           w->out + first * c->n + column, 0, last - first);
  } else {
    for (int64_t row = first; row < last; row += p->rows) {
      p->first_row = row % c->y.out;
      p->rows = rheos__min(last - row, c->y.out - p->first_row);
      p->image = image + row / c->y.out * image_step;
      p->out = w->out + row * row_pixels * c->n + column;
      run_piece(p);
    }
  }
}

// A segment of the window for some columns, whose panels are at hand, each of `depth` rows of which
// these are some: as many rows of the result at a time as stay in the cache beside them.
static void run_segment(const work *w, const segment *s, const float *panels, int64_t depth,
                        int64_t skipped, int64_t column, int64_t columns) {
  const conv_float *c = w->conv;
  const int64_t width = rheos__dense_columns();
  const int64_t pixels = c->flat ? 1 : c->x.out;  // of what a block is counted in
  const int64_t first_row = w->first_row * c->x.out / pixels;
  const int64_t last_row = w->last_row * c->x.out / pixels;
  const int64_t block = c->flat ? FLAT_BLOCK_PIXELS : rheos__max(BLOCK_PIXELS / pixels, 1);
  piece p = {.conv = c,
             .segment = s,
             .is_first = rows_before(c, s) == 0,
             .is_last = is_last(c, s),
             .dense = {.k = s->depth,
                       .a_row = c->x.stride * c->depth,
                       .a_column = 1,
                       .a_tap = image_row(c),
                       .c_row = c->n}};
  const bool finishes = c->in_loops && p.is_last;
  if (finishes) {
    p.dense.activation = c->epilogue.activation;
    p.dense.alpha = (float)c->epilogue.alpha;
  }
  for (int64_t first = first_row; first < last_row; first += block) {
    const int64_t last = rheos__min(first + block, last_row);
    for (int64_t j = 0; j < columns; j += width) {
      p.dense.n = p.dense.b_row = p.dense.end_column = rheos__min(width, columns - j);
      p.panel = panels + j * depth + skipped * p.dense.n;
      if (finishes && c->epilogue.bias >= 0) {
        p.dense.bias = (const float *)w->inputs[c->epilogue.bias] + column + j;
      }
      run_rows(w, &p, first, last, column + j);
    }
    if (c->has_epilogue && !c->in_loops && p.is_last) {
      rheos__epilogue_run_piece(&c->epilogue, w->inputs, w->out, first * pixels, last * pixels,
                                column, column + columns);
    }
  }
}

// Units follow by rows, then by columns. Row of the result, of all images, at which row unit `unit`
// begins.
static int64_t first_row(const conv_float *c, int64_t unit) {
  const int64_t per_image = parts(c->y.out, c->unit_rows);
  const int64_t image = rheos__min(unit / per_image * c->unit_images, c->images);
  return image * c->y.out + (image < c->images ? unit % per_image * c->unit_rows : 0);
}

// The end of the units from `unit` on that are best done together, before `last_unit`: of the same
// columns, for which the filter is laid down.
static int64_t together(const conv_float *c, int64_t unit, int64_t last_unit) {
  const int64_t before = unit / c->row_units * c->row_units;  // of other columns
  const int64_t first = first_row(c, unit - before), most_rows = MOST_UNIT_PIXELS / c->x.out;
  last_unit = rheos__min(last_unit, before + c->row_units);
  int64_t end = unit + 1;
  while (end < last_unit && first_row(c, end + 1 - before) - first <= most_rows) end++;
  return end;
}

// The segment's rows of the filter in panels.
static void pack(const conv_float *c, const float *filter, const segment *s, int64_t column,
                 int64_t columns, float *to) {
  if (!c->transposed) {
    rheos__panels_pack(filter + rows_before(c, s) * c->n + column, c->n, 1, rows_in(s), columns, to,
                       0, rows_in(s));
    return;
  }
  for (int64_t row = 0; row < rows_in(s);) {
    const int64_t y = s->y + row / s->depth, at = s->first + row % s->depth;
    const int64_t x = at / c->depth, channel = at % c->depth;
    const int64_t count = rheos__min(c->depth - channel, s->depth - row % s->depth);
    const int64_t tap = (c->y.kernel - 1 - y) * c->x.kernel + c->x.kernel - 1 - x;
    rheos__panels_pack(filter + (tap * c->n + column) * c->depth + channel, 1, c->depth, count,
                       columns, to, row, rows_in(s));
    row += count;
  }
}

static rheos_status *run_conv(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  const conv_float *c = state;
  const rheos__packed *packed = c->keeps_filter ? inputs[1] : NULL;
  const float *filter = packed != NULL ? packed->plain : inputs[1];
  const float *panels = packed != NULL ? packed->packed : NULL;
  for (int64_t unit = first_unit; unit < last_unit;) {
    const int64_t end = together(c, unit, last_unit), rows = unit % c->row_units;
    work w = {c, inputs, outputs[0], first_row(c, rows), first_row(c, rows + end - unit)};
    const int64_t first = unit / c->row_units * c->unit_columns;
    const int64_t last = rheos__min(first + c->unit_columns, c->n);
    unit = end;
    for (int64_t column = first; column < last; column += BLOCK_COLUMNS) {
      const int64_t columns = rheos__min(BLOCK_COLUMNS, last - column);
      segment s = before_all;
      while (next_segment(c, &s)) {
        const int64_t before = rows_before(c, &s);
        if (panels != NULL) {
          run_segment(&w, &s, panels + column * rows_of_filter(c), rows_of_filter(c), before,
                      column, columns);
          continue;
        }
        pack(c, filter, &s, column, columns, scratch);
        run_segment(&w, &s, scratch, rows_in(&s), 0, column, columns);
      }
    }
  }
  return NULL;
}

// ---- Preparing

// Units of at least UNIT_PIXELS, if there are as many; rows of one image or whole images. Where
// these are few, of some channels each.
static void cut(conv_float *c) {
  const int64_t pixels = c->y.out * c->x.out, all = c->images * pixels;
  const int64_t wanted = rheos__min(parts(all, MOST_UNITS), MOST_UNIT_PIXELS);
  const int64_t unit_pixels = rheos__max(wanted, UNIT_PIXELS);
  c->unit_images = 1;
  c->unit_rows = rheos__min(parts(unit_pixels, c->x.out), c->y.out);
  if (c->unit_rows == c->y.out) {
    c->unit_images = rheos__min(parts(unit_pixels, pixels), c->images);
  } else {
    c->unit_rows = parts(c->y.out, parts(c->y.out, c->unit_rows));
  }
  c->row_units = parts(c->images, c->unit_images) * parts(c->y.out, c->unit_rows);
  const int64_t wide = rheos__min(parts(c->n, LEAST_COLUMNS), parts(MOST_UNITS / 2, c->row_units));
  c->unit_columns = parts(parts(c->n, wide), 64) * 64;
  c->column_units = parts(c->n, c->unit_columns);
}

static const char *why_not(const rheos__prepare *p, const rheos__conv *c) {
  const rheos__window *y = &c->windows.dims[1], *x = &c->windows.dims[2];
  if (p->flops < LEAST_FLOPS) return "too small";
  for (int32_t i = 0; i < p->num_inputs; i++) {
    if (rheos_shape_num_elements(&p->input_shapes[i]) == 0) return "nothing to do";
  }
  if (rheos_shape_num_elements(&p->output_shapes[0]) == 0) return "nothing to do";
  if (c->groups != 1) return "in groups";
  if (c->in.channel != 1 || c->out.channel != 1) return "the channels are not last";
  if ((y->dilation > 1 && y->kernel > 1) || (x->dilation > 1 && x->kernel > 1)) return "dilated";
  return NULL;
}

static void describe(conv_float *c, rheos__window y, rheos__window x, int64_t images, int64_t depth,
                     int64_t n) {
  c->y = y;
  c->x = x;
  c->images = images;
  c->depth = depth;
  c->n = n;
  // Where the first and the last element of the window are inside
  int64_t last, first = rheos__window_outputs(&c->x, 0, &last);
  int64_t end, begin = rheos__window_outputs(&c->x, c->x.kernel - 1, &end);
  c->first_inner_x = rheos__min(rheos__max(first, begin), c->x.out);
  c->last_inner_x = rheos__max(rheos__min(last, end), c->first_inner_x);
  c->flat = c->y.kernel == 1 && c->x.kernel == 1 && c->y.in == c->y.out && c->x.in == c->x.out &&
            c->y.before == 0 && c->x.before == 0 && c->x.stride == 1 && c->y.stride == 1;
}

// A filter that stays is laid down once. The bits are the same.
static rheos_status *pack_filter(const void *state, const void *from, void *packed) {
  const conv_float *c = state;
  rheos__panels_pack(from, c->n, 1, rows_of_filter(c), c->n, packed, 0, rows_of_filter(c));
  return NULL;
}

static rheos_status *keep_filter(rheos__prepare *p, conv_float *c) {
  const int64_t key[] = {c->n, rows_of_filter(c)};
  p->packing = (rheos__packing_request){.input = 1,
                                        .bytes = (size_t)(c->n * rows_of_filter(c)) * sizeof(float),
                                        .key = rheos__arena_copy(p->arena, key, sizeof key),
                                        .key_bytes = sizeof key,
                                        .make = pack_filter,
                                        .state = c};
  if (p->packing.key == NULL) return rheos__out_of_memory();
  c->keeps_filter = true;
  return NULL;
}

static void answer(rheos__prepare *p, conv_float *c) {
  c->run = rheos__dense_kernel();
  cut(c);
  p->scratch_bytes = BLOCK_DEPTH * BLOCK_COLUMNS * sizeof(float);
  p->num_units = c->row_units * c->column_units;
  if (c->column_units == 1 && c->y.out % c->unit_rows == 0) {
    p->unit_elements = c->unit_images * c->unit_rows * c->x.out * c->n;
  }
  p->run = run_conv;
}

static bool is_float(rheos__prepare *p) {
  if (p->output_dtypes[0] == RHEOS_FLOAT) return true;
  p->decline_reason = "not float32";
  return false;
}

// NULL in `out_conv` where it declines.
static rheos_status *prepare(rheos__prepare *p, conv_float **out_conv) {
  *out_conv = NULL;
  if (!is_float(p)) return NULL;
  rheos__conv of;
  RHEOS_TRY(rheos__conv_of_forward(p, &of));
  p->flops = rheos__conv_flops(&of);
  p->decline_reason = why_not(p, &of);
  if (p->decline_reason != NULL) return NULL;
  conv_float *c = RHEOS_NEW_STATE(p, conv_float);
  if (c == NULL) return rheos__out_of_memory();
  describe(c, of.windows.dims[1], of.windows.dims[2], of.batch, of.group_in, of.group_out);
  answer(p, c);
  *out_conv = c;
  return rheos__input_stays(p, 1) ? keep_filter(p, c) : NULL;
}

rheos_status *rheos__conv_prepare_float(rheos__prepare *p) {
  conv_float *c;
  return prepare(p, &c);
}

static bool moves_by_one(const rheos__window *w) {
  return w->stride == 1 && w->before >= 0 && w->before < w->kernel;
}

static rheos__window transposed_window(const rheos__window *w) {
  return (rheos__window){.in = w->out,
                         .out = w->in,
                         .kernel = w->kernel,
                         .stride = 1,
                         .dilation = 1,
                         .before = w->kernel - 1 - w->before};
}

rheos_status *rheos__conv_prepare_float_by_input(rheos__prepare *p) {
  if (!is_float(p)) return NULL;
  rheos__conv of;
  RHEOS_TRY(rheos__conv_of_backprop_input(p, &of));
  const rheos__window *y = &of.windows.dims[1], *x = &of.windows.dims[2];
  p->flops = rheos__conv_flops(&of);
  p->decline_reason = why_not(p, &of);
  if (p->decline_reason == NULL && (!moves_by_one(y) || !moves_by_one(x))) {
    p->decline_reason = "the windows do not move by one";
  }
  if (p->decline_reason == NULL && of.group_in < LEAST_TURNED_CHANNELS && p->flops > FEW_FLOPS) {
    p->decline_reason = "few channels";
  }
  if (p->decline_reason == NULL && y->kernel == 1 && x->kernel == 1) {
    p->decline_reason = "a matrix product, which oneDNN does as fast";
  }
  if (p->decline_reason != NULL) return NULL;
  conv_float *c = RHEOS_NEW_STATE(p, conv_float);
  if (c == NULL) return rheos__out_of_memory();
  describe(c, transposed_window(y), transposed_window(x), of.batch, of.group_out, of.group_in);
  c->image = 2;
  c->transposed = true;
  answer(p, c);
  return NULL;
}

rheos_status *rheos__conv_prepare_fused_float(rheos__prepare *p) {
  conv_float *c;
  RHEOS_TRY(prepare(p, &c));
  if (c == NULL) return NULL;
  RHEOS_TRY(rheos__epilogue_of(p, c->n, 1, &c->epilogue));
  c->has_epilogue = true;
  c->in_loops = rheos__dense_does(&c->epilogue);
  const double elements = (double)rheos_shape_num_elements(&p->output_shapes[0]);
  p->flops = rheos__flops((double)p->flops + elements * (double)c->epilogue.flops);
  return NULL;
}
