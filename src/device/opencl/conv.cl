// Convolutions and their gradients as products: see product.cl. The third dimension is the group.
typedef struct conv {
  windows w;
  int groups, group_in, group_out;
} conv;
#define PARAMETERS , conv c
#define ALL_OUT (c.groups * c.group_out)

COMPUTED image(global const STORED *xs, const windows *w, int window, int tap,
                      int channel) {
  const int4 i = covered(w, place_of(window, w->out), place_of(tap, w->taps));
  return is_inside(w, i) ? LOAD(xs[image_at(w, i, channel)]) : 0;
}

COMPUTED arrived(global const STORED *ys, const windows *w, int place, int tap,
                        int channel) {
  const int4 o = window_over(w, place_of(place, w->in), place_of(tap, w->taps));
  return is_window(o) ? LOAD(ys[result_at(w, o, channel)]) : 0;
}

// Element (window, channel) of the result, (place, channel) of the image.
int of_result(const windows *w, int window, int channel) {
  return result_at(w, place_of(window, w->out), channel);
}
int of_image(const windows *w, int place, int channel) {
  return image_at(w, place_of(place, w->in), channel);
}

#define SET_UP                                                                      \
  global const STORED *a = (global const STORED *)(ba + oa);                        \
  global const STORED *b = (global const STORED *)(bb + ob);                        \
  global STORED *to = (global STORED *)(bc + oc);                                   \
  const int first_in = (int)at * c.group_in, first_out = (int)at * c.group_out;
#if CONV_FORWARD  // a: image, b: filter
#define A(row, deep)                                                                \
  image(a, &c.w, (int)(row), (int)(deep) / c.group_in, first_in + (int)(deep) % c.group_in)
#define B(deep, column) LOAD(b[(int)(deep) * ALL_OUT + first_out + (int)(column)])
#define C(row, column) to[of_result(&c.w, (int)(row), first_out + (int)(column))]
#define A_DEEP 1
#define B_COLUMN 1
#elif CONV_BY_INPUT  // a: result's gradient, b: filter
#define A(row, deep)                                                                \
  arrived(a, &c.w, (int)(row), (int)(deep) / c.group_out, first_out + (int)(deep) % c.group_out)
#define B(deep, column)                                                             \
  LOAD(b[((int)(deep) / c.group_out * c.group_in + (int)(column)) * ALL_OUT + first_out + \
         (int)(deep) % c.group_out])
#define C(row, column) to[of_image(&c.w, (int)(row), first_in + (int)(column))]
#define A_DEEP 1
#define B_COLUMN 0
#else  // a: image, b: result's gradient
#define A(row, deep)                                                                \
  image(a, &c.w, (int)(deep), (int)(row) / c.group_in, first_in + (int)(row) % c.group_in)
#define B(deep, column) LOAD(b[of_result(&c.w, (int)(deep), first_out + (int)(column))])
#define C(row, column) to[(int)(row) * ALL_OUT + first_out + (int)(column)]
#define A_DEEP 0
#define B_COLUMN 1
#endif
