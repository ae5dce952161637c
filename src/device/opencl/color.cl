// Colors of pictures.

#ifdef PIXEL
// A work-item for each pixel. What becomes of one is PIXEL(in, amount, out), in numbers of type C.
kernel void pixels(global const char *bx, ulong ox, global const char *ba, ulong oa,
                   global char *bz, ulong oz, long count) {
  const long at = get_global_id(0);
  if (at >= count) return;
  const float amount = *(global const float *)(ba + oa);
  C in[3], out[3];
  for (int k = 0; k < 3; k++) in[k] = LOAD(((global const STORED *)(bx + ox))[3 * at + k]);
  PIXEL(in, amount, out);
  for (int k = 0; k < 3; k++) ((global STORED *)(bz + oz))[3 * at + k] = STORE(out[k]);
}
#else
// The mean of each channel of each picture: a group for each.
kernel void means(global const char *bx, ulong ox, global char *bm, ulong om, long pixels,
                  long channels) {
  local TOTAL all[GROUP];
  const long each = get_group_id(0);
  global const STORED *xs = (global const STORED *)(bx + ox) +
                            each / channels * pixels * channels + each % channels;
  TOTAL sum = 0;
  for (long i = get_local_id(0); i < pixels; i += GROUP) sum += (float)LOAD(xs[i * channels]);
  sum = sum_of(all, sum);
  if (get_local_id(0) == 0) ((global float *)(bm + om))[each] = (float)(sum / pixels);
}

kernel void contrast(global const char *bx, ulong ox, global const char *bm, ulong om,
                     global const char *bf, ulong of, global const char *bl, ulong ol,
                     global const char *bh, ulong oh, global char *bz, ulong oz, long count,
                     long pixels, long channels) {
  const long at = get_global_id(0);
  if (at >= count) return;
  const long each = at / (pixels * channels) * channels + at % channels;
  const float mean = ((global const float *)(bm + om))[each];
  const float x = (float)LOAD(((global const STORED *)(bx + ox))[at]);
  const float y = (x - mean) * *(global const float *)(bf + of) + mean;
#if CLIPS
  ((global float *)(bz + oz))[at] =
      fmax(fmin(y, *(global const float *)(bh + oh)), *(global const float *)(bl + ol));
#else
  ((global STORED *)(bz + oz))[at] = STORE(y);
#endif
}
#endif
