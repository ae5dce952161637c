// Batch normalization: groups sum up what channels have, in double where there is one; then every
// element is normalized, in float, as which it is stored at most: cards compute doubles many times
// slower. Elements are counted by `place`, an int where that is enough.
//
// Who includes this says of how many LANES a group sums the channels side by side: neighbours in
// memory are read together.
typedef struct norm {
  long batch, channels, spatial, batch_step, channel_step, spatial_step;
} norm;
#define DEPTH (GROUP / LANES)

// A part of the rows, which are all elements of a channel, and the channel of a work-item.
typedef struct part {
  place channel, number, first, last;
  int is_there, is_first;  // whether there is such a channel; whether it is the item that writes
} part;

part part_of(const norm *k, place pieces) {
  const place tiles = ((place)k->channels + LANES - 1) / LANES, group = get_group_id(0);
  const place rows = (place)k->batch * (place)k->spatial, each = (rows + pieces - 1) / pieces;
  part p;
  p.channel = group % tiles * LANES + get_local_id(0) % LANES;
  p.number = group / tiles;
  p.first = p.number * each;
  p.last = min(p.first + each, rows);
  p.is_there = p.channel < (place)k->channels;
  p.is_first = p.is_there && get_local_id(0) < LANES;
  return p;
}

place element(const norm *k, place channel, place row) {
  const place spatial = (place)k->spatial;
  return row / spatial * (place)k->batch_step + channel * (place)k->channel_step +
         row % spatial * (place)k->spatial_step;
}

#define EACH_ROW(p) \
  for (place row = p.first + get_local_id(0) / LANES; p.is_there && row < p.last; row += DEPTH)

// The sum of a channel's items, for each of them.
TOTAL sum_of_lane(local TOTAL *all, TOTAL mine) {
  const int at = get_local_id(0);
  all[at] = mine;
  for (int width = GROUP / 2; width >= LANES; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at < width) all[at] += all[at + width];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const TOTAL sum = all[at % LANES];
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum;
}

// Mean and variance of a channel, mixed into the running ones, and beside them.
void put_moments(global const char *bmean, global const char *bvariance, global char *b1,
                 global char *b2, global char *b3, global char *b4, place c, place count,
                 TOTAL mean, TOTAL variance, int has_mean, float factor) {
  TOTAL run_mean = mean, run_variance = variance;
  if (count > 1) run_variance *= (TOTAL)count / (count - 1);
  if (has_mean && factor != 1) {
    run_mean =
        (1 - (TOTAL)factor) * ((global const PARAM *)bmean)[c] + (TOTAL)factor * run_mean;
    run_variance = (1 - (TOTAL)factor) * ((global const PARAM *)bvariance)[c] +
                   (TOTAL)factor * run_variance;
  }
  ((global PARAM *)b1)[c] = run_mean;
  ((global PARAM *)b2)[c] = run_variance;
  ((global PARAM *)b3)[c] = mean;
  ((global PARAM *)b4)[c] = variance;
}

// Of each part of the rows the mean and the sum of squared distances from it; of all rows, where
// they are one part, what put_moments() makes of them.
kernel void moments(global const char *bx, ulong ox, global const char *bmean, ulong omean,
                    global const char *bvariance, ulong ovariance, global char *b1, ulong o1,
                    global char *b2, ulong o2, global char *b3, ulong o3, global char *b4, ulong o4,
                    global char *bparts, ulong oparts, norm k, int has_mean, float factor,
                    long pieces) {
  local TOTAL all[GROUP];
  const part p = part_of(&k, pieces);
  const place count = p.last - p.first;
  global const STORED *x = (global const STORED *)(bx + ox);
  TOTAL sum = 0, squares = 0;
  EACH_ROW(p) sum += LOAD(x[element(&k, p.channel, row)]);
  const TOTAL mean = sum_of_lane(all, sum) / count;
  EACH_ROW(p) {
    const TOTAL d = LOAD(x[element(&k, p.channel, row)]) - mean;
    squares += d * d;
  }
  squares = sum_of_lane(all, squares);
  if (!p.is_first) return;
  if (pieces == 1) {
    put_moments(bmean + omean, bvariance + ovariance, b1 + o1, b2 + o2, b3 + o3, b4 + o4,
                p.channel, count, mean, squares / count, has_mean, factor);
    return;
  }
  global TOTAL *parts = (global TOTAL *)(bparts + oparts);
  const place at = 2 * (p.number * (place)k.channels + p.channel);
  parts[at] = mean;
  parts[at + 1] = squares;
}

// The parts joined, a group for each channel. Source: T. F. Chan, G. H. Golub, R. J. LeVeque,
// "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
kernel void join_moments(global const char *bparts, ulong oparts, global const char *bmean,
                         ulong omean, global const char *bvariance, ulong ovariance,
                         global char *b1, ulong o1, global char *b2, ulong o2, global char *b3,
                         ulong o3, global char *b4, ulong o4, norm k, int has_mean, float factor,
                         long pieces) {
  local TOTAL all[GROUP];
  const place c = get_group_id(0), rows = (place)k.batch * (place)k.spatial;
  const place each = (rows + (place)pieces - 1) / (place)pieces;
  global const TOTAL *parts = (global const TOTAL *)(bparts + oparts);
  TOTAL sum = 0, squares = 0;
  for (place i = get_local_id(0); i < (place)pieces; i += GROUP) {
    const place count = min((i + 1) * each, rows) - i * each;
    sum += parts[2 * (i * (place)k.channels + c)] * count;
  }
  const TOTAL mean = sum_of(all, sum) / rows;
  for (place i = get_local_id(0); i < (place)pieces; i += GROUP) {
    const place at = 2 * (i * (place)k.channels + c);
    const place count = min((i + 1) * each, rows) - i * each;
    const TOTAL d = parts[at] - mean;
    squares += parts[at + 1] + d * d * count;
  }
  squares = sum_of(all, squares);
  if (get_local_id(0) != 0) return;
  put_moments(bmean + omean, bvariance + ovariance, b1 + o1, b2 + o2, b3 + o3, b4 + o4, c, rows,
              mean, squares / rows, has_mean, factor);
}

// The statistics that are given, as outputs.
kernel void given(global const char *bmean, ulong omean, global const char *bvariance,
                  ulong ovariance, global char *b1, ulong o1, global char *b2, ulong o2,
                  global char *b3, ulong o3, global char *b4, ulong o4, long channels) {
  const place c = get_global_id(0);
  if (c >= (place)channels) return;
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

// The sums that gradients need, of what arrives and of its products with x - mean: of each part of
// the rows, or of all where they are one part.
void put_sums(global const char *bvariance, global char *bscale, global char *boffset,
              global char *bsums, place c, TOTAL sum, TOTAL product, float epsilon) {
  const TOTAL variance = ((global const PARAM *)bvariance)[c];
  ((global PARAM *)bscale)[c] = product / sqrt(variance + (TOTAL)epsilon);
  ((global PARAM *)boffset)[c] = sum;
  ((global TOTAL *)bsums)[2 * c] = sum;
  ((global TOTAL *)bsums)[2 * c + 1] = product;
}

kernel void grad_sums(global const char *bdy, ulong ody, global const char *bx, ulong ox,
                      global const char *bmean, ulong omean, global const char *bvariance,
                      ulong ovariance, global char *bscale, ulong oscale, global char *boffset,
                      ulong ooffset, global char *bsums, ulong osums, global char *bparts,
                      ulong oparts, norm k, float epsilon, long pieces) {
  local TOTAL all[GROUP];
  const part p = part_of(&k, pieces);
  global const STORED *x = (global const STORED *)(bx + ox);
  global const STORED *dy = (global const STORED *)(bdy + ody);
  TOTAL sum = 0, product = 0;
  const TOTAL mean = p.is_there ? ((global const PARAM *)(bmean + omean))[p.channel] : 0;
  EACH_ROW(p) {
    const place at = element(&k, p.channel, row);
    const TOTAL d = LOAD(dy[at]);
    sum += d;
    product += d * (LOAD(x[at]) - mean);
  }
  sum = sum_of_lane(all, sum);
  product = sum_of_lane(all, product);
  if (!p.is_first) return;
  if (pieces == 1) {
    put_sums(bvariance + ovariance, bscale + oscale, boffset + ooffset, bsums + osums, p.channel,
             sum, product, epsilon);
    return;
  }
  global TOTAL *parts = (global TOTAL *)(bparts + oparts);
  const place at = 2 * (p.number * (place)k.channels + p.channel);
  parts[at] = sum;
  parts[at + 1] = product;
}

// The parts joined, a group for each channel.
kernel void join_sums(global const char *bparts, ulong oparts, global const char *bvariance,
                      ulong ovariance, global char *bscale, ulong oscale, global char *boffset,
                      ulong ooffset, global char *bsums, ulong osums, norm k, float epsilon,
                      long pieces) {
  local TOTAL all[GROUP];
  const place c = get_group_id(0);
  global const TOTAL *parts = (global const TOTAL *)(bparts + oparts);
  TOTAL sum = 0, product = 0;
  for (place i = get_local_id(0); i < (place)pieces; i += GROUP) {
    const place at = 2 * (i * (place)k.channels + c);
    sum += parts[at];
    product += parts[at + 1];
  }
  sum = sum_of(all, sum);
  product = sum_of(all, product);
  if (get_local_id(0) != 0) return;
  put_sums(bvariance + ovariance, bscale + oscale, boffset + ooffset, bsums + osums, c, sum,
           product, epsilon);
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
