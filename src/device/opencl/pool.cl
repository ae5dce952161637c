// Pooling: a work-item for each element of what comes out. A gradient is gathered: each element of
// the image asks the windows that have it, so nothing is added twice at the same time.
typedef struct pool {
  windows w;
  int channels, depth, batch_in_index;
} pool;

// Elements of the window at (oz, oy, ox) inside the image: z, y, x.
#define FOR_TAPS(k)                          \
  for (int4 k = 0; k.x < p->w.taps[0]; k.x++) \
    for (k.y = 0; k.y < p->w.taps[1]; k.y++)  \
      for (k.z = 0; k.z < p->w.taps[2]; k.z++)
// The last first.
#define FOR_TAPS_BACK(k)                              \
  for (int4 k = p->w.taps[0] - 1; k.x >= 0; k.x--)    \
    for (k.y = p->w.taps[1] - 1; k.y >= 0; k.y--)     \
      for (k.z = p->w.taps[2] - 1; k.z >= 0; k.z--)

// The first element of a window that no other exceeds; -1: it has none.
int first_largest(const pool *p, global const STORED *xs, int4 o, int c) {
  int best = -1;
  FOR_TAPS(k) {
    const int4 i = covered(&p->w, o, k);
    if (!is_inside(&p->w, i)) continue;
    const int at = image_at(&p->w, i, c);
    if (best < 0 || LOAD(xs[at]) > LOAD(xs[best])) best = at;
  }
  return best;
}

int count_inside(const pool *p, int4 o) {
  int count = 0;
  FOR_TAPS(k) count += is_inside(&p->w, covered(&p->w, o, k));
  return count;
}

#define BEGIN                                \
  const ulong at = get_global_id(0);         \
  if (at >= (ulong)count) return;            \
  const pool *p = &given;                    \
  const int c = (int)((uint)at % (uint)p->channels);

#if POOL_FORWARD
kernel void run(global const char *bx, ulong ox, global char *bz, ulong oz, global char *bi,
                ulong oi, pool given, long count) {
  BEGIN
  global const STORED *xs = (global const STORED *)(bx + ox);
  global STORED *zs = (global STORED *)(bz + oz);
  const int4 o = place_of((int)((uint)at / (uint)p->channels), p->w.out);
  const int to = result_at(&p->w, o, c);
#if POOL_ARGMAX
  const int best = first_largest(p, xs, o, c);
  zs[to] = xs[best];
  ((global INDEX *)(bi + oi))[to] = best - (p->batch_in_index ? 0 : o.w * p->w.in_batch);
#else
#if POOL_MAX
  COMPUTED total = LOWEST;
#elif POOL_MAX_3D
  COMPUTED total = -INFINITY;
#else
  TOTAL total = 0;
#endif
  FOR_TAPS(k) {
    const int4 i = covered(&p->w, o, k);
    if (!is_inside(&p->w, i)) continue;
#if POOL_MAX
    for (int d = c * p->depth; d < (c + 1) * p->depth; d++) {
      const COMPUTED v = LOAD(xs[image_at(&p->w, i, d)]);
      if (v > total) total = v;
    }
#elif POOL_MAX_3D
    const COMPUTED v = LOAD(xs[image_at(&p->w, i, c)]);
    total = total > v ? total : v;
#else
    total += LOAD(xs[image_at(&p->w, i, c)]);
#endif
  }
#if POOL_MAX || POOL_MAX_3D
  zs[to] = STORE(total);
#else
  zs[to] = STORE(total / count_inside(p, o));
#endif
#endif
}
#elif POOL_GRAD_GRAD
// What arrives at the first element that equals the largest; bx: the image, by: the result, bg: what
// arrives.
kernel void run(global const char *bx, ulong ox, global const char *by, ulong oy,
                global const char *bg, ulong og, global char *bz, ulong oz, pool given,
                long count) {
  BEGIN
  const int4 o = place_of((int)(at / (ulong)p->channels), p->w.out);
  const int to = result_at(&p->w, o, c);
  const COMPUTED largest = LOAD(((global const STORED *)(by + oy))[to]);
  int found = -1;
  FOR_TAPS(k) {
    const int4 i = covered(&p->w, o, k);
    if (found >= 0 || !is_inside(&p->w, i)) continue;
    const int from = image_at(&p->w, i, c);
    if (LOAD(((global const STORED *)(bx + ox))[from]) == largest) found = from;
  }
  STORED z = STORE(0);
  if (found >= 0) z = ((global const STORED *)(bg + og))[found];
  ((global STORED *)(bz + oz))[to] = z;
}
#else
// bx: the image (not read for averages), by: the result, bd: what arrives. In the order of the
// windows, which is that of falling taps.
kernel void run(global const char *bx, ulong ox, global const char *by, ulong oy,
                global const char *bd, ulong od, global char *bz, ulong oz, pool given,
                long count) {
  BEGIN
  global const STORED *xs = (global const STORED *)(bx + ox);
  global const STORED *ys = (global const STORED *)(by + oy);
  global const STORED *ds = (global const STORED *)(bd + od);
  const int4 i = place_of((int)((uint)at / (uint)p->channels), p->w.in);
  const int mine = image_at(&p->w, i, c);
#if POOL_AVERAGE
  TOTAL sum = 0;
#else
  COMPUTED sum = 0;
#endif
  FOR_TAPS_BACK(k) {
    const int4 o = window_over(&p->w, i, k);
    if (!is_window(o)) continue;
    const int from = result_at(&p->w, o, c);
#if POOL_AVERAGE
    sum += LOAD(ds[from]) / (TOTAL)count_inside(p, o);
#else
#if POOL_MAX
    if (first_largest(p, xs, o, c) != mine) continue;
#else
    if (LOAD(xs[mine]) != LOAD(ys[from])) continue;
#endif
    sum = (COMPUTED)LOAD(STORE(sum + LOAD(ds[from])));
#endif
  }
  ((global STORED *)(bz + oz))[mine] = STORE(sum);
}
#endif
