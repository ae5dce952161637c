// Crops of pictures by boxes [y1, x1, y2, x2], resized.
typedef struct crop {
  int batch, height, width, channels;      // of the pictures
  int count, crop_height, crop_width;      // of the crops
  int nearest;
  float outside;
} crop;

typedef struct lines {
  rheos__crop_line down, across;
} lines;

lines lines_of(crop k, global const float *boxes, int box) {
  lines l;
  l.down = rheos__crop_line_of(boxes[4 * box], boxes[4 * box + 2], k.crop_height, k.height);
  l.across = rheos__crop_line_of(boxes[4 * box + 1], boxes[4 * box + 3], k.crop_width, k.width);
  return l;
}

#define IMAGE_AT(n, y, x, c) ((((n) * k.height + (y)) * k.width + (x)) * k.channels + (c))
#define PIXEL(y, x) ((float)LOAD(xs[IMAGE_AT(picture, y, x, c)]))

// A work-item for each channel of each pixel of a crop.
kernel void forward(global const char *bx, ulong ox, global const char *bb, ulong ob,
                    global const char *bi, ulong oi, global char *bz, ulong oz, crop k, int count) {
  const int at = get_global_id(0), c = at % k.channels;
  const int x = at / k.channels % k.crop_width, y = at / k.channels / k.crop_width % k.crop_height;
  if (at >= count) return;
  const int box = at / k.channels / k.crop_width / k.crop_height;
  const int picture = ((global const int *)(bi + oi))[box];
  global const STORED *xs = (global const STORED *)(bx + ox);
  const lines l = lines_of(k, (global const float *)(bb + ob), box);
  const rheos__crop_place row = rheos__crop_place_of(l.down, y, k.height);
  const rheos__crop_place column = rheos__crop_place_of(l.across, x, k.width);
  float z = k.outside;
  if (picture < 0 || picture >= k.batch) {
    z = 0;
  } else if (row.valid && column.valid && k.nearest) {
    z = PIXEL(row.nearest, column.nearest);
  } else if (row.valid && column.valid) {
    z = rheos__between(PIXEL(row.low, column.low), PIXEL(row.low, column.high),
                       PIXEL(row.high, column.low), PIXEL(row.high, column.high), column.share,
                       row.share);
  }
  ((global float *)(bz + oz))[at] = z;
}

// The pixels [x, y) of a line that may lie within a pixel of `at`.
int2 near(rheos__crop_line line, int at, int count) {
  const float a = ((float)at - 1 - line.first) / line.step;
  const float b = ((float)at + 1 - line.first) / line.step;
  if (line.step == 0 || a != a || b != b) return (int2)(0, count);
  return (int2)(clamp(convert_int_sat(fmin(a, b) - 2), 0, count),
                clamp(convert_int_sat(fmax(a, b) + 3), 0, count));
}

// A work-item for each channel of each pixel of the pictures, which asks all crops in their order.
kernel void to_image(global const char *bg, ulong og, global const char *bb, ulong ob,
                     global const char *bi, ulong oi, global char *bz, ulong oz, crop k,
                     int count) {
  const int at = get_global_id(0), c = at % k.channels;
  const int x = at / k.channels % k.width, y = at / k.channels / k.width % k.height;
  const int n = at / k.channels / k.width / k.height;
  if (at >= count) return;
  global const int *pictures = (global const int *)(bi + oi);
  COMPUTED sum = 0;
  for (int box = 0; box < k.count; box++) {
    if (pictures[box] != n) continue;
    const lines l = lines_of(k, (global const float *)(bb + ob), box);
    const int2 rows = near(l.down, y, k.crop_height), columns = near(l.across, x, k.crop_width);
    for (int i = rows.x; i < rows.y; i++) {
      const rheos__crop_place down = rheos__crop_place_of(l.down, i, k.height);
      if (!down.valid || (down.low != y && down.high != y && down.nearest != y)) continue;
      for (int j = columns.x; j < columns.y; j++) {
        const rheos__crop_place across = rheos__crop_place_of(l.across, j, k.width);
        if (!across.valid) continue;
        const float g = ((global const float *)(
            bg + og))[((box * k.crop_height + i) * k.crop_width + j) * k.channels + c];
        for (int corner = 0; corner < (k.nearest ? 1 : 4); corner++) {
          const bool below = corner >= 2, right = corner % 2 != 0;
          if (k.nearest ? down.nearest != y || across.nearest != x
                        : (below ? down.high : down.low) != y ||
                              (right ? across.high : across.low) != x) {
            continue;
          }
          const float share = below ? down.share : 1 - down.share;
          const float part = right ? across.share : 1 - across.share;
          sum = LOAD(STORE(sum + LOAD(STORE(k.nearest ? g : part * (share * g)))));
        }
      }
    }
  }
  ((global STORED *)(bz + oz))[at] = STORE(sum);
}

// A group for each box.
kernel void to_boxes(global const char *bg, ulong og, global const char *bx, ulong ox,
                     global const char *bb, ulong ob, global const char *bi, ulong oi,
                     global char *bz, ulong oz, crop k) {
  local TOTAL all[GROUP];
  const int box = get_group_id(0), picture = ((global const int *)(bi + oi))[box];
  const int each = k.crop_height * k.crop_width * k.channels;
  global const STORED *xs = (global const STORED *)(bx + ox);
  global const float *gs = (global const float *)(bg + og) + (long)box * each;
  const lines l = lines_of(k, (global const float *)(bb + ob), box);
  TOTAL sums[4] = {0, 0, 0, 0};
  for (int at = get_local_id(0); at < each && picture >= 0 && picture < k.batch; at += GROUP) {
    const int c = at % k.channels, x = at / k.channels % k.crop_width;
    const int y = at / k.channels / k.crop_width;
    const rheos__crop_place down = rheos__crop_place_of(l.down, y, k.height);
    const rheos__crop_place across = rheos__crop_place_of(l.across, x, k.width);
    if (!down.valid || !across.valid) continue;
    const float a = PIXEL(down.low, across.low), b = PIXEL(down.low, across.high);
    const float d = PIXEL(down.high, across.low), e = PIXEL(down.high, across.high);
    const float by_y = ((1 - across.share) * (d - a) + across.share * (e - b)) * gs[at];
    const float by_x = ((1 - down.share) * (b - a) + down.share * (e - d)) * gs[at];
    float parts[4];
    rheos__crop_box_grad(by_y, y, k.crop_height, k.height, &parts[0], &parts[2]);
    rheos__crop_box_grad(by_x, x, k.crop_width, k.width, &parts[1], &parts[3]);
    for (int i = 0; i < 4; i++) sums[i] += parts[i];
  }
  for (int i = 0; i < 4; i++) {
    const TOTAL sum = sum_of(all, sums[i]);
    if (get_local_id(0) == 0) ((global float *)(bz + oz))[4 * box + i] = (float)sum;
  }
}
