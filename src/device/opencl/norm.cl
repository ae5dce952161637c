// Batch normalization: a group for each channel sums up, in double where there is one; then every
// element is normalized, in float, as which it is stored at most: cards compute doubles many times
// slower. The channel of an element is found by `place`, an int where that is enough.
typedef struct norm {
  long batch, channels, spatial, batch_step, channel_step, spatial_step;
} norm;
#define AT(n, c, s) ((n) * k.batch_step + (c) * k.channel_step + (s) * k.spatial_step)

#define MOMENTS                                                                              \
  global const char *bmean, ulong omean, global const char *bvariance, ulong ovariance,      \
      global char *b1, ulong o1, global char *b2, ulong o2, global char *b3, ulong o3,       \
      global char *b4, ulong o4, norm k, int has_mean, float factor

// Mean and variance of a channel, mixed into the running ones, and beside them.
void put_moments(MOMENTS, long c, TOTAL mean, TOTAL variance) {
  const long count = k.batch * k.spatial;
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
#define PUT_MOMENTS(c, mean, variance)                                                       \
  put_moments(bmean, omean, bvariance, ovariance, b1, o1, b2, o2, b3, o3, b4, o4, k, has_mean, \
              factor, c, mean, variance)

kernel void moments(global const char *bx, ulong ox, MOMENTS) {
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
  if (get_local_id(0) == 0) PUT_MOMENTS(c, mean, variance);
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

// ---- Where channels are neighbours: a group sums up ACROSS of them, side by side

#define ACROSS 32
#define DOWN (GROUP / ACROSS)

// Of a piece of the elements, two sums for each channel: of x (WHAT 0), of the squares of what x
// differs by from the mean (1), of dy and of its products with that (2). Means are in double, or as
// parameters.
kernel void channel_sums(global const char *bx, ulong ox, global const char *bdy, ulong ody,
                         global const char *bmean, ulong omean, global char *bsums, ulong osums,
                         norm k, long pieces, int what) {
  local TOTAL all[2][DOWN][ACROSS];
  const int x = get_local_id(0) % ACROSS, y = get_local_id(0) / ACROSS;
  const long piece = get_group_id(0) % pieces, c = get_group_id(0) / pieces * ACROSS + x;
  const long count = k.batch * k.spatial, share = (count + pieces - 1) / pieces;
  const long last = c < k.channels ? min((piece + 1) * share, count) : 0;
  global const STORED *xs = (global const STORED *)(bx + ox);
  global const STORED *dys = (global const STORED *)(bdy + ody);
  TOTAL mean = 0, first_sum = 0, second_sum = 0;
  if (what == 1 && c < k.channels) mean = ((global const TOTAL *)(bmean + omean))[c];
  if (what == 2 && c < k.channels) mean = ((global const PARAM *)(bmean + omean))[c];
  for (long i = piece * share + y; i < last; i += DOWN) {
    const TOTAL d = LOAD(xs[i * k.channels + c]) - mean;
    const TOTAL dy = what == 2 ? LOAD(dys[i * k.channels + c]) : d;
    first_sum += dy;
    second_sum += dy * d;
  }
  all[0][y][x] = first_sum;
  all[1][y][x] = second_sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (y != 0 || c >= k.channels) return;
  for (int i = 1; i < DOWN; i++) {
    first_sum += all[0][i][x];
    second_sum += all[1][i][x];
  }
  global TOTAL *sums = (global TOTAL *)(bsums + osums);
  sums[piece * k.channels + c] = first_sum;
  sums[(pieces + piece) * k.channels + c] = second_sum;
}

// All pieces' sums of a channel, the first or the second, in their order.
TOTAL joined(global const char *bsums, ulong osums, norm k, long pieces, long c, int which) {
  global const TOTAL *sums = (global const TOTAL *)(bsums + osums);
  TOTAL sum = 0;
  for (long i = 0; i < pieces; i++) sum += sums[(which * pieces + i) * k.channels + c];
  return sum;
}

kernel void channel_means(global const char *bsums, ulong osums, global char *bmeans, ulong omeans,
                          norm k, long pieces) {
  const long c = get_global_id(0);
  if (c >= k.channels) return;
  ((global TOTAL *)(bmeans + omeans))[c] =
      joined(bsums, osums, k, pieces, c, 0) / (k.batch * k.spatial);
}

kernel void channel_moments(global const char *bsums, ulong osums, global const char *bmeans,
                            ulong omeans, MOMENTS, long pieces) {
  const long c = get_global_id(0);
  if (c >= k.channels) return;
  const TOTAL variance = joined(bsums, osums, k, pieces, c, 1) / (k.batch * k.spatial);
  PUT_MOMENTS(c, ((global const TOTAL *)(bmeans + omeans))[c], variance);
}

kernel void channel_grads(global const char *bparts, ulong oparts, global const char *bvariance,
                          ulong ovariance, global char *bscale, ulong oscale, global char *boffset,
                          ulong ooffset, global char *bsums, ulong osums, norm k, float epsilon,
                          long pieces) {
  const long c = get_global_id(0);
  if (c >= k.channels) return;
  const TOTAL sum = joined(bparts, oparts, k, pieces, c, 0);
  const TOTAL product = joined(bparts, oparts, k, pieces, c, 1);
  const TOTAL variance = ((global const PARAM *)(bvariance + ovariance))[c];
  ((global PARAM *)(bscale + oscale))[c] = product / sqrt(variance + (TOTAL)epsilon);
  ((global PARAM *)(boffset + ooffset))[c] = sum;
  ((global TOTAL *)(bsums + osums))[2 * c] = sum;
  ((global TOTAL *)(bsums + osums))[2 * c + 1] = product;
}

// ---- Gradients

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
