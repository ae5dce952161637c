// Convolutions and their gradients as products: see product.cl. The third dimension is the group.
typedef struct conv {
  int batch, groups, group_in, group_out;
  int in[3], out[3], taps[3], stride[3], dilation[3], before[3];
  int in_batch, in_steps[3], in_channel, out_batch, out_steps[3], out_channel;
} conv;
#define PARAMETERS , conv c
#define ALL_OUT (c.groups * c.group_out)

// An index as (batch, three places), of `sizes`.
inline int4 places(int index, const int *sizes) {
  int4 p;
  p.z = index % sizes[2];
  index /= sizes[2];
  p.y = index % sizes[1];
  index /= sizes[1];
  p.x = index % sizes[0];
  p.w = index / sizes[0];
  return p;
}

// Where the image has what tap `k` of the window at `o` covers, without the channel; -1: padding.
inline int image_at(const conv *c, int4 o, int4 k) {
  const int z = o.x * c->stride[0] - c->before[0] + k.x * c->dilation[0];
  const int y = o.y * c->stride[1] - c->before[1] + k.y * c->dilation[1];
  const int x = o.z * c->stride[2] - c->before[2] + k.z * c->dilation[2];
  if (z < 0 || z >= c->in[0] || y < 0 || y >= c->in[1] || x < 0 || x >= c->in[2]) return -1;
  return o.w * c->in_batch + z * c->in_steps[0] + y * c->in_steps[1] + x * c->in_steps[2];
}

// The window along dimension d that has its tap k at `i`; -1: none.
inline int window_with(const conv *c, int d, int i, int k) {
  const int start = i + c->before[d] - k * c->dilation[d];
  if (start < 0 || start % c->stride[d] != 0 || start / c->stride[d] >= c->out[d]) return -1;
  return start / c->stride[d];
}

// Where the result has the window that covers `i` with tap `k`, without the channel; -1: none.
inline int result_at(const conv *c, int4 i, int4 k) {
  const int z = window_with(c, 0, i.x, k.x), y = window_with(c, 1, i.y, k.y);
  const int x = window_with(c, 2, i.z, k.z);
  if (z < 0 || y < 0 || x < 0) return -1;
  return i.w * c->out_batch + z * c->out_steps[0] + y * c->out_steps[1] + x * c->out_steps[2];
}

inline COMPUTED image(global const STORED *xs, const conv *c, int window, int tap, int channel) {
  const int at = image_at(c, places(window, c->out), places(tap, c->taps));
  return at < 0 ? 0 : LOAD(xs[at + channel * c->in_channel]);
}

inline COMPUTED arrived(global const STORED *ys, const conv *c, int place, int tap, int channel) {
  const int at = result_at(c, places(place, c->in), places(tap, c->taps));
  return at < 0 ? 0 : LOAD(ys[at + channel * c->out_channel]);
}

// Element (window, channel) of the result, (place, channel) of the image.
inline int of_result(const conv *c, int window, int channel) {
  const int4 o = places(window, c->out);
  return o.w * c->out_batch + o.x * c->out_steps[0] + o.y * c->out_steps[1] +
         o.z * c->out_steps[2] + channel * c->out_channel;
}
inline int of_image(const conv *c, int place, int channel) {
  const int4 i = places(place, c->in);
  return i.w * c->in_batch + i.x * c->in_steps[0] + i.y * c->in_steps[1] + i.z * c->in_steps[2] +
         channel * c->in_channel;
}

#define SET_UP                                                                      \
  global const STORED *a = (global const STORED *)(ba + oa);                        \
  global const STORED *b = (global const STORED *)(bb + ob);                        \
  global STORED *to = (global STORED *)(bc + oc);                                   \
  const int first_in = (int)at * c.group_in, first_out = (int)at * c.group_out;
#if CONV_FORWARD  // a: image, b: filter
#define A(row, deep)                                                                \
  image(a, &c, (int)(row), (int)(deep) / c.group_in, first_in + (int)(deep) % c.group_in)
#define B(deep, column) LOAD(b[(int)(deep) * ALL_OUT + first_out + (int)(column)])
#define C(row, column) to[of_result(&c, (int)(row), first_out + (int)(column))]
#define A_DEEP 1
#define B_COLUMN 1
#elif CONV_BY_INPUT  // a: result's gradient, b: filter
#define A(row, deep)                                                                \
  arrived(a, &c, (int)(row), (int)(deep) / c.group_out, first_out + (int)(deep) % c.group_out)
#define B(deep, column)                                                             \
  LOAD(b[((int)(deep) / c.group_out * c.group_in + (int)(column)) * ALL_OUT + first_out + \
         (int)(deep) % c.group_out])
#define C(row, column) to[of_image(&c, (int)(row), first_in + (int)(column))]
#define A_DEEP 1
#define B_COLUMN 0
#else  // a: image, b: result's gradient
#define A(row, deep)                                                                \
  image(a, &c, (int)(deep), (int)(row) / c.group_in, first_in + (int)(row) % c.group_in)
#define B(deep, column) LOAD(b[of_result(&c, (int)(deep), first_out + (int)(column))])
#define C(row, column) to[(int)(row) * ALL_OUT + first_out + (int)(column)]
#define A_DEEP 0
#define B_COLUMN 1
#endif
