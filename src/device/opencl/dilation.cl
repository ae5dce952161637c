// Dilation: the largest sum of a window of the picture and the filter, channel by channel.
typedef struct dilation {
  windows w;
  int channels;
} dilation;

#define FOR_TAPS(k)                                  \
  int4 k = (int4)(0, 0, 0, 0);                       \
  for (k.y = 0; k.y < p.w.taps[1]; k.y++)            \
    for (k.z = 0; k.z < p.w.taps[2]; k.z++)
#define TAP(k) ((k).y * p.w.taps[2] + (k).z)

// The largest sum at `o`, and the tap that gives it first; -1: no tap is inside. The first one inside
// wins if no sum exceeds the lowest number.
COMPUTED largest(dilation p, global const STORED *xs, global const STORED *fs, int4 o, int c,
                 int *tap) {
  COMPUTED best = LEAST;
  *tap = -1;
  FOR_TAPS(k) {
    const int4 i = covered(&p.w, o, k);
    if (!is_inside(&p.w, i)) continue;
    const COMPUTED x = LOAD(xs[image_at(&p.w, i, c)]), f = LOAD(fs[TAP(k) * p.channels + c]);
    const COMPUTED sum = (COMPUTED)(W(x) + W(f));
    if (*tap >= 0 && !(sum > best)) continue;
    if (sum > best) best = sum;
    *tap = TAP(k);
  }
  return best;
}

#define RESULT                                                    \
  const int at = get_global_id(0);                                \
  if (at >= count) return;                                        \
  const int c = at % p.channels;                                  \
  const int4 o = place_of(at / p.channels, p.w.out);              \
  global const STORED *xs = (global const STORED *)(bx + ox);     \
  global const STORED *fs = (global const STORED *)(bf + of);     \
  int tap;

kernel void forward(global const char *bx, ulong ox, global const char *bf, ulong of,
                    global char *bz, ulong oz, dilation p, int count) {
  RESULT
  ((global STORED *)(bz + oz))[result_at(&p.w, o, c)] = STORE(largest(p, xs, fs, o, c, &tap));
}

// The taps, as the result lies.
kernel void taps(global const char *bx, ulong ox, global const char *bf, ulong of, global char *bt,
                 ulong ot, dilation p, int count) {
  RESULT
  largest(p, xs, fs, o, c, &tap);
  ((global int *)(bt + ot))[result_at(&p.w, o, c)] = tap;
}

// In the order of the windows, which is that of falling taps.
kernel void by_input(global const char *bt, ulong ot, global const char *bd, ulong od,
                     global char *bz, ulong oz, dilation p, int count) {
  const int at = get_global_id(0);
  if (at >= count) return;
  const int c = at % p.channels;
  const int4 i = place_of(at / p.channels, p.w.in);
  COMPUTED sum = 0;
  int4 k = (int4)(0, 0, 0, 0);
  for (k.y = p.w.taps[1] - 1; k.y >= 0; k.y--) {
    for (k.z = p.w.taps[2] - 1; k.z >= 0; k.z--) {
      const int4 o = window_over(&p.w, i, k);
      if (!is_window(o)) continue;
      const int from = result_at(&p.w, o, c);
      if (((global const int *)(bt + ot))[from] != TAP(k)) continue;
      const COMPUTED d = LOAD(((global const STORED *)(bd + od))[from]);
      sum = (COMPUTED)LOAD(STORE(W(sum) + W(d)));
    }
  }
  ((global STORED *)(bz + oz))[image_at(&p.w, i, c)] = STORE(sum);
}

// A group for each element of the filter, which has `windows` of them.
kernel void by_filter(global const char *bt, ulong ot, global const char *bd, ulong od,
                      global char *bz, ulong oz, dilation p, int windows) {
  local TOTAL all[GROUP];
  const int element = get_group_id(0), c = element % p.channels, tap = element / p.channels;
  TOTAL sum = 0;
  for (int at = get_local_id(0); at < windows; at += GROUP) {
    const int from = result_at(&p.w, place_of(at, p.w.out), c);
    if (((global const int *)(bt + ot))[from] == tap) {
      sum += (TOTAL)LOAD(((global const STORED *)(bd + od))[from]);
    }
  }
  sum = sum_of(all, sum);
  if (get_local_id(0) == 0) ((global STORED *)(bz + oz))[element] = STORE((COMPUTED)sum);
}
