// Convolutions and their gradients as products: see product.cl. The batch of these are the groups
// of channels. A place is a place in the image (x, y, z) and, as the fourth, how many elements of
// memory it is from the image's first one: what a window begins at, plus what a tap of it moves by.
typedef struct conv {
  windows w;
  int groups, group_in, group_out;
} conv;
#define PARAMETERS , conv c
#define ALL_OUT (c.groups * c.group_out)

int4 with_offset(int4 place, const int *steps, int more) {
  place.w = place.x * steps[0] + place.y * steps[1] + place.z * steps[2] + more;
  return place;
}

// Where the window begins, which may be before the image.
int4 window_start(const windows *w, int window) {
  const int4 o = place_of(window, w->out), none = 0;
  return with_offset(covered(w, o, none), w->in_steps, o.w * w->in_batch);
}
// How far tap `tap` of a window is from its beginning.
int4 tap_step(const windows *w, int tap, int more) {
  int4 k = place_of(tap, w->taps);
  k.x *= w->dilation[0];
  k.y *= w->dilation[1];
  k.z *= w->dilation[2];
  return with_offset(k, w->in_steps, more);
}
COMPUTED image(global const STORED *xs, const windows *w, int4 i) {
  return is_inside(w, i) ? LOAD(xs[i.w]) : 0;
}

// From where windows would begin that cover a place of the image with their first tap; each tap
// goes back. Strides are part of the text: dividing by them is dear.
int4 place_start(const windows *w, int place) {
  int4 i = place_of(place, w->in);
  i.x += w->before[0];
  i.y += w->before[1];
  i.z += w->before[2];
  i.w *= w->out_batch;
  return i;
}
int4 tap_back(const windows *w, int tap, int more) {
  const int4 k = place_of(tap, w->taps);
  return (int4)(-k.x * w->dilation[0], -k.y * w->dilation[1], -k.z * w->dilation[2], more);
}
COMPUTED arrived(global const STORED *ys, const windows *w, int4 start) {
  const int4 o = (int4)(start.x / STRIDE_0, start.y / STRIDE_1, start.z / STRIDE_2, start.w);
  const bool is_there = start.x >= 0 && start.y >= 0 && start.z >= 0 && o.x < w->out[0] &&
                        o.y < w->out[1] && o.z < w->out[2] && o.x * STRIDE_0 == start.x &&
                        o.y * STRIDE_1 == start.y && o.z * STRIDE_2 == start.z;
  return is_there ? LOAD(ys[with_offset(o, w->out_steps, start.w).w]) : 0;
}

// Element (window, 0) of the result, (place, 0) of the image.
int of_result(const windows *w, int window) { return result_at(w, place_of(window, w->out), 0); }
int of_image(const windows *w, int place) { return image_at(w, place_of(place, w->in), 0); }

#define SET_UP                                                                      \
  global const STORED *a = (global const STORED *)(ba + oa);                        \
  global const STORED *b = (global const STORED *)(bb + ob);                        \
  global STORED *to = (global STORED *)(bc + oc);                                   \
  const int first_in = (int)at * c.group_in, first_out = (int)at * c.group_out;
#define A_PLACE int4
#define B_PLACE int
#define B_AT(column, deep) LOAD(b[(column) + (deep)])
#define C_AT(row, column) to[(row) + (column)]
#if CONV_FORWARD  // a: image, b: filter
#define A_ROW(row) window_start(&c.w, (int)(row))
#define A_DEEP(deep)                                                                \
  tap_step(&c.w, (int)(deep) / c.group_in,                                          \
           (first_in + (int)(deep) % c.group_in) * c.w.in_channel)
#define A_AT(row, deep) image(a, &c.w, (row) + (deep))
#define B_DEEP(deep) ((int)(deep) * ALL_OUT)
#define B_COLUMN(column) (first_out + (int)(column))
#define C_ROW(row) of_result(&c.w, (int)(row))
#define C_COLUMN(column) ((first_out + (int)(column)) * c.w.out_channel)
#define A_ALONG_DEEP CHANNELS_LAST
#define B_ALONG_COLUMN 1
#elif CONV_BY_INPUT  // a: result's gradient, b: filter
#define A_ROW(row) place_start(&c.w, (int)(row))
#define A_DEEP(deep)                                                                \
  tap_back(&c.w, (int)(deep) / c.group_out,                                         \
           (first_out + (int)(deep) % c.group_out) * c.w.out_channel)
#define A_AT(row, deep) arrived(a, &c.w, (row) + (deep))
#define B_DEEP(deep)                                                                \
  ((int)(deep) / c.group_out * c.group_in * ALL_OUT + first_out + (int)(deep) % c.group_out)
#define B_COLUMN(column) ((int)(column) * ALL_OUT)
#define C_ROW(row) of_image(&c.w, (int)(row))
#define C_COLUMN(column) ((first_in + (int)(column)) * c.w.in_channel)
#define A_ALONG_DEEP CHANNELS_LAST
#define B_ALONG_COLUMN 0
#else  // a: image, b: result's gradient
#define A_ROW(row)                                                                  \
  tap_step(&c.w, (int)(row) / c.group_in, (first_in + (int)(row) % c.group_in) * c.w.in_channel)
#define A_DEEP(deep) window_start(&c.w, (int)(deep))
#define A_AT(row, deep) image(a, &c.w, (row) + (deep))
#define B_DEEP(deep) of_result(&c.w, (int)(deep))
#define B_COLUMN(column) ((first_out + (int)(column)) * c.w.out_channel)
#define C_ROW(row) ((int)(row) * ALL_OUT)
#define C_COLUMN(column) (first_out + (int)(column))
#define A_ALONG_DEEP !CHANNELS_LAST
#define B_ALONG_COLUMN CHANNELS_LAST
#endif
