// QuantizeAndDequantize*: elements are [outer, slices, inner], with a range for each slice.
typedef struct rounding {
  long outer, slices, inner;
} rounding;
typedef COMPUTED C;

// The range of each slice, in so many pieces: a group for each piece.
kernel void measured(global const char *bx, ulong ox, global char *br, ulong ot, rounding k,
                     long num_pieces) {
  local C least[GROUP], most[GROUP];
  const long slice = get_group_id(0) / num_pieces, piece = get_group_id(0) % num_pieces;
  const int mine = get_local_id(0);
  const long count = k.outer * k.inner, each = (count + num_pieces - 1) / num_pieces;
  const long last = min((piece + 1) * each, count);
  C lowest = LARGEST, highest = -LARGEST;
  for (long i = piece * each + mine; i < last; i += GROUP) {
    const C x =
        ((global const C *)(bx + ox))[(i / k.inner * k.slices + slice) * k.inner + i % k.inner];
    if (x < lowest) lowest = x;
    if (x > highest) highest = x;
  }
  least[mine] = lowest;
  most[mine] = highest;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine >= width) continue;
    if (least[mine + width] < least[mine]) least[mine] = least[mine + width];
    if (most[mine + width] > most[mine]) most[mine] = most[mine + width];
  }
  if (mine != 0) return;
  ((global C *)(br + ot))[2 * get_group_id(0)] = least[0];
  ((global C *)(br + ot))[2 * get_group_id(0) + 1] = most[0];
}

// All lowest numbers, then all highest.
kernel void joined(global const char *bp, ulong op, global char *bl, ulong ol, rounding k,
                   long num_pieces) {
  const long slice = get_global_id(0);
  if (slice >= k.slices) return;
  global const C *pieces = (global const C *)(bp + op) + 2 * slice * num_pieces;
  C lowest = pieces[0], highest = pieces[1];
  for (long piece = 1; piece < num_pieces; piece++) {
    if (pieces[2 * piece] < lowest) lowest = pieces[2 * piece];
    if (pieces[2 * piece + 1] > highest) highest = pieces[2 * piece + 1];
  }
  ((global C *)(bl + ol))[slice] = lowest;
  ((global C *)(bl + ol))[k.slices + slice] = highest;
}

#define SLICE                                      \
  const long at = get_global_id(0);                \
  if (at >= k.outer * k.slices * k.inner) return;  \
  const long slice = at / k.inner % k.slices;

kernel void rounded(global const char *bx, ulong ox, global const char *bl, ulong ol,
                    global const char *bh, ulong oh, global char *by, ulong oy, rounding k,
                    C low, C high, C given_lowest, C given_highest, int is_given, int clamps,
                    int half_up) {
  SLICE
  const C lowest = is_given ? given_lowest : ((global const C *)(bl + ol))[slice];
  const C highest = is_given ? given_highest : ((global const C *)(bh + oh))[slice];
  ((global C *)(by + oy))[at] =
      ON_GRID(GRID_OF(low, high, lowest, highest), ((global const C *)(bx + ox))[at], clamps,
              half_up);
}

// Numbers inside the range pass their gradient on.
kernel void backward(global const char *bg, ulong og, global const char *bx, ulong ox,
                     global const char *bl, ulong ol, global const char *bh, ulong oh,
                     global char *by, ulong oy, rounding k) {
  SLICE
  const C x = ((global const C *)(bx + ox))[at];
  const bool is_inside = x >= ((global const C *)(bl + ol))[slice] &&
                         x <= ((global const C *)(bh + oh))[slice];
  ((global C *)(by + oy))[at] = is_inside ? ((global const C *)(bg + og))[at] : 0;
}
