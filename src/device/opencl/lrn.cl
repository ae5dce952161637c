// Local response normalization, a work-item for each element:
//   y[c] = x[c] * norm[c] ^ -beta,  norm[c] = bias + alpha * sum of x[k]^2 for |k - c| <= reach
typedef double TOTAL;
typedef struct lrn {
  long count, channels, reach;
  float bias, alpha, beta;
} lrn;

#define CHANNEL                        \
  const long at = get_global_id(0);    \
  if (at >= k.count) return;           \
  const long c = at % k.channels;
// Neighbours of channel c that there are, as what lies before or behind it.
#define FOR_NEIGHBOURS(d) \
  for (long d = -min(k.reach, c); d <= min(k.reach, k.channels - 1 - c); d++)

TOTAL norm_at(lrn k, global const STORED *x, long c) {
  TOTAL sum = 0;
  FOR_NEIGHBOURS(d) {
    const TOTAL v = LOAD(x[d]);
    sum += v * v;
  }
  return (TOTAL)k.bias + (TOTAL)k.alpha * sum;
}

// As the CPU's, a power of floats.
TOTAL power_of(lrn k, TOTAL norm) { return (TOTAL)pow((float)norm, -k.beta); }

kernel void forward(global const char *bx, ulong ox, global char *by, ulong oy, lrn k) {
  CHANNEL
  global const STORED *x = (global const STORED *)(bx + ox) + at;
  ((global STORED *)(by + oy))[at] = STORE((TOTAL)LOAD(*x) * power_of(k, norm_at(k, x, c)));
}

// What each element's gradient says about its neighbours.
kernel void terms(global const char *bdy, ulong ody, global const char *bx, ulong ox,
                  global const char *by, ulong oy, global char *bt, ulong ot, lrn k) {
  CHANNEL
  const TOTAL norm = norm_at(k, (global const STORED *)(bx + ox) + at, c);
  const TOTAL dy = LOAD(((global const STORED *)(bdy + ody))[at]);
  const TOTAL y = LOAD(((global const STORED *)(by + oy))[at]);
  ((global float *)(bt + ot))[at] =
      (float)(-2 * (TOTAL)k.alpha * (TOTAL)k.beta * dy * y / norm);
}

kernel void backward(global const char *bdy, ulong ody, global const char *bx, ulong ox,
                     global const char *bt, ulong ot, global char *bdx, ulong odx, lrn k) {
  CHANNEL
  global const STORED *x = (global const STORED *)(bx + ox) + at;
  global const float *terms = (global const float *)(bt + ot) + at;
  const TOTAL dy = LOAD(((global const STORED *)(bdy + ody))[at]);
  TOTAL sum = 0;
  FOR_NEIGHBOURS(d) sum += terms[d];
  ((global STORED *)(bdx + odx))[at] =
      STORE((TOTAL)LOAD(*x) * sum + dy * power_of(k, norm_at(k, x, c)));
}
