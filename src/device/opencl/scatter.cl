// Rows that go to places which indices name. Keys, the place in their upper half and the row in the
// lower, are sorted, so one work-item finds all rows of a place, in their order: sums have the same
// bits each time.
#define NOWHERE 0xffffffffu

#ifdef INDEX
// d0 to d7: the sizes of the dimensions that coordinates are in, as many as `depth` says. `run`, how
// many elements each place has, is kept behind the keys.
kernel void keys(global const char *bi, ulong oi, global char *bk, ulong ok, long rows, long padded,
                 long depth, ulong d0, ulong d1, ulong d2, ulong d3, ulong d4, ulong d5, ulong d6,
                 ulong d7, ulong run) {
  const ulong row = get_global_id(0);
  if (row >= (ulong)padded) return;
  if (row == 0) ((global ulong *)(bk + ok))[padded] = run;
  const ulong sizes[8] = {d0, d1, d2, d3, d4, d5, d6, d7};
  global const INDEX *index = (global const INDEX *)(bi + oi) + row * depth;
  ulong place = 0;
  bool is_there = row < (ulong)rows;
  for (long d = 0; d < depth && is_there; d++) {
    is_there = index[d] >= 0 && (ulong)index[d] < sizes[d];
    place = place * sizes[d] + (ulong)index[d];
  }
  ((global ulong *)(bk + ok))[row] = (is_there ? place : NOWHERE) << 32 | row;
}
#endif

#ifdef FORMULA
// The elements of a place, joined with those of all rows that go there; for each row `lanes`
// work-items, or one for each element. Element e of row r is at r * from_row + e * from_each.
kernel void join(global const char *bk, ulong ok, global const char *bx, ulong ox, global char *bz,
                 ulong oz, long rows, long padded, long lanes, long from_row, long from_each) {
  const ulong at = get_global_id(0);
  if (at >= (ulong)(rows * lanes)) return;
  global const ulong *keys = (global const ulong *)(bk + ok);
  global const STORED *xs = (global const STORED *)(bx + ox);
  const ulong run = keys[padded];
  const long first = at / lanes;
  const uint place = (uint)(keys[first] >> 32);
  if (place == NOWHERE || (first > 0 && (uint)(keys[first - 1] >> 32) == place)) return;
  global STORED *z = (global STORED *)(bz + oz) + place * run;
  for (ulong e = at % lanes; e < run; e += lanes) {
    COMPUTED x = LOAD(z[e]);
    for (long i = first; i < rows && (uint)(keys[i] >> 32) == place; i++) {
      const COMPUTED y = LOAD(xs[(uint)keys[i] * (ulong)from_row + e * from_each]);
      x = (COMPUTED)LOAD(STORE(FORMULA));
    }
    z[e] = STORE(x);
  }
}
#endif
