// FakeQuantWithMinMax*: each channel has a range of its own, or all have that of the op.
typedef struct fake_quant {
  long count, channels;
  int num_bits, narrow_range, has_range;
  float lowest, highest;
} fake_quant;

rheos__fake_grid grid_at(fake_quant k, global const float *lowest, global const float *highest,
                         long channel) {
  return rheos__fake_grid_of(k.has_range ? k.lowest : lowest[channel],
                             k.has_range ? k.highest : highest[channel], k.num_bits,
                             k.narrow_range);
}
#define GRID(channel) \
  grid_at(k, (global const float *)(bl + ol), (global const float *)(bh + oh), channel)

kernel void forward(global const char *bx, ulong ox, global const char *bl, ulong ol,
                    global const char *bh, ulong oh, global char *by, ulong oy, fake_quant k) {
  const long at = get_global_id(0);
  if (at >= k.count) return;
  const float x = ((global const float *)(bx + ox))[at];
  ((global float *)(by + oy))[at] = rheos__on_fake_grid(GRID(at % k.channels), x);
}

// Products with 0 and 1, so that a gradient that is not finite shows.
kernel void backward(global const char *bg, ulong og, global const char *bx, ulong ox,
                     global const char *bl, ulong ol, global const char *bh, ulong oh,
                     global char *by, ulong oy, fake_quant k) {
  const long at = get_global_id(0);
  if (at >= k.count) return;
  const float x = ((global const float *)(bx + ox))[at];
  const float is_inside = rheos__is_on_fake_grid(GRID(at % k.channels), x);
  ((global float *)(by + oy))[at] = ((global const float *)(bg + og))[at] * is_inside;
}

// What goes to the ends of the range of each channel, in so many pieces: a group for each piece.
kernel void pieces(global const char *bg, ulong og, global const char *bx, ulong ox,
                   global const char *bl, ulong ol, global const char *bh, ulong oh,
                   global char *bs, ulong os, fake_quant k, long num_pieces) {
  local TOTAL all[GROUP];
  const long channel = get_group_id(0) / num_pieces, piece = get_group_id(0) % num_pieces;
  const long rows = k.count / k.channels, each = (rows + num_pieces - 1) / num_pieces;
  const long last = min((piece + 1) * each, rows);
  const rheos__fake_grid grid = GRID(channel);
  TOTAL below = 0, above = 0;
  for (long row = piece * each + get_local_id(0); row < last; row += GROUP) {
    const long at = row * k.channels + channel;
    const float x = ((global const float *)(bx + ox))[at];
    const float g = ((global const float *)(bg + og))[at];
    const bool is_inside = rheos__is_on_fake_grid(grid, x);
    below += g * (float)(!is_inside && x < grid.lowest);
    above += g * (float)(!is_inside && x > grid.highest);
  }
  below = sum_of(all, below);
  above = sum_of(all, above);
  if (get_local_id(0) != 0) return;
  ((global TOTAL *)(bs + os))[2 * get_group_id(0)] = below;
  ((global TOTAL *)(bs + os))[2 * get_group_id(0) + 1] = above;
}

kernel void joined(global const char *bs, ulong os, global char *bl, ulong ol, global char *bh,
                   ulong oh, fake_quant k, long num_pieces) {
  const long channel = get_global_id(0);
  if (channel >= k.channels) return;
  global const TOTAL *sums = (global const TOTAL *)(bs + os) + 2 * channel * num_pieces;
  TOTAL below = 0, above = 0;
  for (long piece = 0; piece < num_pieces; piece++) {
    below += sums[2 * piece];
    above += sums[2 * piece + 1];
  }
  ((global float *)(bl + ol))[channel] = below;
  ((global float *)(bh + oh))[channel] = above;
}
