// Sums of spans along one dimension of [outer, length, inner]: those of `from` elements become `to`.
// Where each begins, how long it is and its weights are a table, which begins with how many weights
// each has room for.
typedef struct spans {
  long outer, from, to, inner;
} spans;

#define TABLE                                                              \
  const long width = *(global const int *)(bt + ot);                       \
  global const int *starts = (global const int *)(bt + ot) + 1;            \
  global const int *counts = starts + k.to;                                \
  global const float *weights = (global const float *)(counts + k.to);

#define ELEMENT(length)                                        \
  const long element = get_global_id(0);                       \
  if (element >= k.outer * (length) * k.inner) return;         \
  const long at = element / k.inner % (length);                \
  const long row = element / k.inner / (length);

kernel void forward(global const char *bx, ulong ox, global const char *bt, ulong ot,
                    global char *bz, ulong oz, spans k) {
  TABLE
  ELEMENT(k.to)
  global const STORED *xs = (global const STORED *)(bx + ox) +
                            (row * k.from + starts[at]) * k.inner + element % k.inner;
  float sum = 0;
  for (int i = 0; i < counts[at]; i++) {
    sum += (float)LOAD(xs[i * k.inner]) * weights[at * width + i];
  }
  ((global float *)(bz + oz))[element] = sum;
}

// What each of `from` gets of the sums that it is in, in their order.
kernel void backward(global const char *bg, ulong og, global const char *bt, ulong ot,
                     global char *bz, ulong oz, spans k) {
  TABLE
  ELEMENT(k.from)
  global const float *gs = (global const float *)(bg + og) + row * k.to * k.inner +
                           element % k.inner;
  float sum = 0;
  for (long to = 0; to < k.to; to++) {
    const long i = at - starts[to];
    if (i < 0 || i >= counts[to]) continue;
    sum += gs[to * k.inner] * weights[to * width + i];
  }
  ((global float *)(bz + oz))[element] = sum;
}
