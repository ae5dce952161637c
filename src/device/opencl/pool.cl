// Pooling: a work-item for each element of what comes out. A gradient is gathered: each element of
// the image asks the windows that have it, so nothing is added twice at the same time.
typedef struct pool {
  int batch, channels, depth, batch_in_index;
  int in[3], out[3], taps[3], stride[3], dilation[3], before[3];
  int in_batch, in_steps[3], in_channel, out_batch, out_steps[3], out_channel;
} pool;

inline int image_at(const pool *p, int n, int z, int y, int x, int c) {
  return n * p->in_batch + z * p->in_steps[0] + y * p->in_steps[1] + x * p->in_steps[2] +
         c * p->in_channel;
}
inline int result_at(const pool *p, int n, int z, int y, int x, int c) {
  return n * p->out_batch + z * p->out_steps[0] + y * p->out_steps[1] + x * p->out_steps[2] +
         c * p->out_channel;
}

// Elements of the window at (oz, oy, ox) inside the image: z, y, x.
#define FOR_WINDOW                                                            \
  for (int kz = 0; kz < p->taps[0]; kz++)                                     \
    for (int ky = 0; ky < p->taps[1]; ky++)                                   \
      for (int kx = 0; kx < p->taps[2]; kx++)                                 \
        for (int z = oz * p->stride[0] - p->before[0] + kz * p->dilation[0],  \
                 y = oy * p->stride[1] - p->before[1] + ky * p->dilation[1],  \
                 x = ox * p->stride[2] - p->before[2] + kx * p->dilation[2],  \
                 once = z >= 0 && z < p->in[0] && y >= 0 && y < p->in[1] && x >= 0 && x < p->in[2]; \
             once; once = 0)
// Windows that have the image's element (z, y, x): oz, oy, ox.
#define FOR_COVERING                                                          \
  for (int kz = 0; kz < p->taps[0]; kz++)                                     \
    for (int ky = 0; ky < p->taps[1]; ky++)                                   \
      for (int kx = 0; kx < p->taps[2]; kx++)                                 \
        for (int oz = window_with(p, 0, z, kz), oy = window_with(p, 1, y, ky), \
                 ox = window_with(p, 2, x, kx), once = oz >= 0 && oy >= 0 && ox >= 0; \
             once; once = 0)

inline int window_with(const pool *p, int d, int i, int k) {
  const int start = i + p->before[d] - k * p->dilation[d];
  if (start < 0 || start % p->stride[d] != 0 || start / p->stride[d] >= p->out[d]) return -1;
  return start / p->stride[d];
}

// The first element of a window that no other exceeds; -1: it has none.
inline int first_largest(const pool *p, global const STORED *xs, int n, int oz, int oy, int ox,
                         int c) {
  int best = -1;
  FOR_WINDOW {
    const int i = image_at(p, n, z, y, x, c);
    if (best < 0 || LOAD(xs[i]) > LOAD(xs[best])) best = i;
  }
  return best;
}

inline int inside(const pool *p, int oz, int oy, int ox) {
  int count = 0;
  FOR_WINDOW count++;
  return count;
}

// A number of a work-item as batch entry, place and channel of `sizes`.
#define PLACE(sizes)                                       \
  int rest = (int)at;                                      \
  const int c = rest % p->channels;                        \
  rest /= p->channels;                                     \
  const int px = rest % p->sizes[2];                       \
  rest /= p->sizes[2];                                     \
  const int py = rest % p->sizes[1];                       \
  rest /= p->sizes[1];                                     \
  const int pz = rest % p->sizes[0], n = rest / p->sizes[0];

#define BEGIN                                              \
  const ulong at = get_global_id(0);                       \
  if (at >= (ulong)count) return;                          \
  const pool *p = &given;

#if POOL_FORWARD
kernel void run(global const char *bx, ulong ox_, global char *bz, ulong oz_, global char *bi,
                ulong oi_, pool given, long count) {
  BEGIN
  PLACE(out)
  global const STORED *xs = (global const STORED *)(bx + ox_);
  global STORED *zs = (global STORED *)(bz + oz_);
  const int oz = pz, oy = py, ox = px, to = result_at(p, n, oz, oy, ox, c);
#if POOL_MAX
  COMPUTED best = LOWEST;
  FOR_WINDOW {
    for (int d = c * p->depth; d < (c + 1) * p->depth; d++) {
      const COMPUTED v = LOAD(xs[image_at(p, n, z, y, x, d)]);
      if (v > best) best = v;
    }
  }
  zs[to] = STORE(best);
#elif POOL_MAX_3D
  COMPUTED best = -INFINITY;
  FOR_WINDOW {
    const COMPUTED v = LOAD(xs[image_at(p, n, z, y, x, c)]);
    best = best > v ? best : v;
  }
  zs[to] = STORE(best);
#elif POOL_ARGMAX
  const int best = first_largest(p, xs, n, oz, oy, ox, c);
  zs[to] = xs[best];
  ((global INDEX *)(bi + oi_))[to] = best - (p->batch_in_index ? 0 : n * p->in_batch);
#else
  TOTAL sum = 0;
  FOR_WINDOW sum += LOAD(xs[image_at(p, n, z, y, x, c)]);
  zs[to] = STORE(sum / inside(p, oz, oy, ox));
#endif
}
#else
// bx: the image (not read for averages), by: the result, bd: what arrives
kernel void run(global const char *bx, ulong ox_, global const char *by, ulong oy_,
                global const char *bd, ulong od_, global char *bz, ulong oz_, pool given,
                long count) {
  BEGIN
  PLACE(in)
  global const STORED *xs = (global const STORED *)(bx + ox_);
  global const STORED *ys = (global const STORED *)(by + oy_);
  global const STORED *ds = (global const STORED *)(bd + od_);
  const int z = pz, y = py, x = px, mine = image_at(p, n, z, y, x, c);
#if POOL_AVERAGE
  TOTAL sum = 0;
  FOR_COVERING sum += LOAD(ds[result_at(p, n, oz, oy, ox, c)]) / (TOTAL)inside(p, oz, oy, ox);
#elif POOL_MAX
  COMPUTED sum = 0;
  // In the order of the windows, which is that of falling places in them.
  for (int kz = p->taps[0] - 1; kz >= 0; kz--) {
    for (int ky = p->taps[1] - 1; ky >= 0; ky--) {
      for (int kx = p->taps[2] - 1; kx >= 0; kx--) {
        const int oz = window_with(p, 0, z, kz), oy = window_with(p, 1, y, ky);
        const int ox = window_with(p, 2, x, kx);
        if (oz < 0 || oy < 0 || ox < 0) continue;
        if (first_largest(p, xs, n, oz, oy, ox, c) != mine) continue;
        sum = (COMPUTED)LOAD(STORE(sum + LOAD(ds[result_at(p, n, oz, oy, ox, c)])));
      }
    }
  }
#else
  COMPUTED sum = 0;
  for (int kz = p->taps[0] - 1; kz >= 0; kz--) {
    for (int ky = p->taps[1] - 1; ky >= 0; ky--) {
      for (int kx = p->taps[2] - 1; kx >= 0; kx--) {
        const int oz = window_with(p, 0, z, kz), oy = window_with(p, 1, y, ky);
        const int ox = window_with(p, 2, x, kx);
        if (oz < 0 || oy < 0 || ox < 0) continue;
        const int from = result_at(p, n, oz, oy, ox, c);
        if (LOAD(xs[mine]) == LOAD(ys[from])) {
          sum = (COMPUTED)LOAD(STORE(sum + LOAD(ds[from])));
        }
      }
    }
  }
#endif
  ((global STORED *)(bz + oz_))[mine] = STORE(sum);
}
#endif
