// Batch normalization: a group for each channel sums up, in double where there is one; then every
// element is normalized, in float, as which it is stored at most: cards compute doubles many times
// slower. The channel of an element is found by `place`, an int where that is enough.
typedef struct norm {
  long batch, channels, spatial, batch_step, channel_step, spatial_step;
} norm;
#define AT(n, c, s) ((n) * k.batch_step + (c) * k.channel_step + (s) * k.spatial_step)

// Mean and variance of each channel, mixed into the running ones, and beside them.
kernel void moments(global const char *bx, ulong ox, global const char *bmean, ulong omean,
                    global const char *bvariance, ulong ovariance, global char *b1, ulong o1,
                    global char *b2, ulong o2, global char *b3, ulong o3, global char *b4, ulong o4,
                    norm k, int has_mean, float factor) {
  local TOTAL all[GROUP];
  const long c = get_group_id(0), count = k.batch * k.spatial;
  global const STORED *x = (global const STORED *)(bx + ox);
  TOTAL sum = 0, squares = 0;
  for (long i = get_local_id(0); i < count; i += GROUP) {
    sum += LOAD(x[AT(i / k.spatial, c, i % k.spatial)]);
  }
  const TOTAL mean = sum_of(all, sum) / count;
  for (long i = get_local_id(0); i < count; i += GROUP) {
    const TOTAL d = LOAD(x[AT(i / k.spatial, c, i % k.spatial)]) - mean;
    squares += d * d;
  }
  const TOTAL variance = sum_of(all, squares) / count;
  if (get_local_id(0) != 0) return;
  TOTAL run_mean = mean, run_variance = variance;
  if (count > 1) run_variance *= (TOTAL)count / (count - 1);
  if (has_mean && factor != 1) {
    run_mean = (1 - (TOTAL)factor) * ((global const PARAM *)(bmean + omean))[c] +
               (TOTAL)factor * run_mean;
    run_variance = (1 - (TOTAL)factor) * ((global const PARAM *)(bvariance + ovariance))[c] +
                   (TOTAL)factor * run_variance;
  }
  ((global PARAM *)(b1 + o1))[c] = run_mean;
  ((global PARAM *)(b2 + o2))[c] = run_variance;
  ((global PARAM *)(b3 + o3))[c] = mean;
  ((global PARAM *)(b4 + o4))[c] = variance;
}

// The statistics that are given, as outputs.
kernel void given(global const char *bmean, ulong omean, global const char *bvariance,
                  ulong ovariance, global char *b1, ulong o1, global char *b2, ulong o2,
                  global char *b3, ulong o3, global char *b4, ulong o4, long channels) {
  const long c = get_global_id(0);
  if (c >= channels) return;
  const PARAM mean = ((global const PARAM *)(bmean + omean))[c];
  const PARAM variance = ((global const PARAM *)(bvariance + ovariance))[c];
  ((global PARAM *)(b1 + o1))[c] = ((global PARAM *)(b3 + o3))[c] = mean;
  ((global PARAM *)(b2 + o2))[c] = ((global PARAM *)(b4 + o4))[c] = variance;
}

kernel void normalized(global const char *bx, ulong ox, global const char *bscale, ulong oscale,
                      global const char *boffset, ulong ooffset, global const char *bmean,
                      ulong omean, global const char *bvariance, ulong ovariance, global char *by,
                      ulong oy, norm k, float epsilon) {
  const place at = get_global_id(0);
  if (at >= (place)(k.batch * k.channels * k.spatial)) return;
  const place c = at / (place)k.channel_step % (place)k.channels;
  const PARAM mean = ((global const PARAM *)(bmean + omean))[c];
  const PARAM variance = ((global const PARAM *)(bvariance + ovariance))[c];
  const PARAM scale = ((global const PARAM *)(bscale + oscale))[c] / sqrt(variance + epsilon);
  const PARAM offset = ((global const PARAM *)(boffset + ooffset))[c];
  const PARAM x = LOAD(((global const STORED *)(bx + ox))[at]);
  ((global STORED *)(by + oy))[at] = STORE((x - mean) * scale + offset);
}

// The gradients of scale and offset, and the sums that the gradient of x needs.
kernel void grad_sums(global const char *bdy, ulong ody, global const char *bx, ulong ox,
                      global const char *bmean, ulong omean, global const char *bvariance,
                      ulong ovariance, global char *bscale, ulong oscale, global char *boffset,
                      ulong ooffset, global char *bsums, ulong osums, norm k, float epsilon) {
  local TOTAL all[GROUP];
  const long c = get_group_id(0), count = k.batch * k.spatial;
  global const STORED *x = (global const STORED *)(bx + ox);
  global const STORED *dy = (global const STORED *)(bdy + ody);
  const TOTAL mean = ((global const PARAM *)(bmean + omean))[c];
  const TOTAL variance = ((global const PARAM *)(bvariance + ovariance))[c];
  TOTAL sum = 0, product = 0;
  for (long i = get_local_id(0); i < count; i += GROUP) {
    const long at = AT(i / k.spatial, c, i % k.spatial);
    const TOTAL d = LOAD(dy[at]);
    sum += d;
    product += d * (LOAD(x[at]) - mean);
  }
  sum = sum_of(all, sum);
  product = sum_of(all, product);
  if (get_local_id(0) != 0) return;
  ((global PARAM *)(bscale + oscale))[c] = product / sqrt(variance + (TOTAL)epsilon);
  ((global PARAM *)(boffset + ooffset))[c] = sum;
  ((global TOTAL *)(bsums + osums))[2 * c] = sum;
  ((global TOTAL *)(bsums + osums))[2 * c + 1] = product;
}

kernel void grad_x(global const char *bdy, ulong ody, global const char *bx, ulong ox,
                   global const char *bscale, ulong oscale, global const char *bmean, ulong omean,
                   global const char *bvariance, ulong ovariance, global const char *bsums,
                   ulong osums, global char *bdx, ulong odx, norm k, float epsilon, int trains) {
  const place at = get_global_id(0);
  if (at >= (place)(k.batch * k.channels * k.spatial)) return;
  const place c = at / (place)k.channel_step % (place)k.channels;
  const PARAM count = k.batch * k.spatial;
  const PARAM mean = ((global const PARAM *)(bmean + omean))[c];
  const PARAM variance = ((global const PARAM *)(bvariance + ovariance))[c];
  const PARAM rstd = 1 / sqrt(variance + epsilon);
  PARAM mean_dy = 0, slope = 0;
  if (trains) {
    mean_dy = (PARAM)((global const TOTAL *)(bsums + osums))[2 * c] / count;
    slope = (PARAM)((global const TOTAL *)(bsums + osums))[2 * c + 1] * rstd * rstd / count;
  }
  const PARAM centered = LOAD(((global const STORED *)(bx + ox))[at]) - mean;
  const PARAM d = LOAD(((global const STORED *)(bdy + ody))[at]) - mean_dy - centered * slope;
  ((global STORED *)(bdx + odx))[at] =
      STORE(d * ((global const float *)(bscale + oscale))[c] * rstd);
}
