// What goes along one dimension of `rows` elements, `inner` apart; a column is one such line.

#ifdef STEP
// Running totals: `before` and `value` make the next one by STEP, two of them one by JOIN.
#ifdef FLOATING
TOTAL log_sum(TOTAL a, TOTAL b) {
  const TOTAL most = a > b ? a : b, least = a > b ? b : a;
  if (a != a || b != b) return NAN;
  return isinf((float)most) ? most : most + log1p(exp(least - most));
}
#endif

#define LINE(column)                                                                       \
  const long start = (column) / inner * rows * inner + (column) % inner;                   \
  const long step = reverse ? -inner : inner;                                              \
  global const STORED *x =                                                                 \
      (global const STORED *)(bx + ox) + start + (reverse ? (rows - 1) * inner : 0);       \
  global STORED *z = (global STORED *)(bz + oz) + start + (reverse ? (rows - 1) * inner : 0);

// A work-item for each column.
kernel void scan_each(global const char *bx, ulong ox, global char *bz, ulong oz, long columns,
                      long rows, long inner, long reverse, long exclusive) {
  const long column = get_global_id(0);
  if (column >= columns) return;
  LINE(column)
  TOTAL before = START;
  for (long i = 0; i < rows; i++) {
    const COMPUTED value = LOAD(x[i * step]);
    const TOTAL next = STEP;
    z[i * step] = STORE(exclusive ? before : next);
    before = next;
  }
}

// A group for each column: work-items have a part each, and begin with the total of those before.
kernel void scan_parts(global const char *bx, ulong ox, global char *bz, ulong oz, long columns,
                       long rows, long inner, long reverse, long exclusive) {
  local TOTAL all[GROUP];
  const int mine = get_local_id(0);
  LINE((long)get_group_id(0))
  const long part = (rows + GROUP - 1) / GROUP, first = mine * part;
  const long last = min(first + part, rows);
  TOTAL before = START;
  for (long i = first; i < last; i++) {
    const COMPUTED value = LOAD(x[i * step]);
    before = STEP;
  }
  all[mine] = before;
  barrier(CLK_LOCAL_MEM_FENCE);
  before = START;
  for (int j = 0; j < mine; j++) before = JOIN(before, all[j]);
  for (long i = first; i < last; i++) {
    const COMPUTED value = LOAD(x[i * step]);
    const TOTAL next = STEP;
    z[i * step] = STORE(exclusive ? before : next);
    before = next;
  }
}
#endif

#ifdef INDEX
// Whether x at `a` comes before y at `b`: the larger, of equal ones the first; NaN last.
bool is_before(COMPUTED x, long a, COMPUTED y, long b) {
  if (x != x || y != y) return x == x || (y != y && a < b);
  return x > y || (!(x < y) && a < b);
}

// The k first, one after the other, of a row of n; a group for each row.
kernel void top_by_turns(global const char *bx, ulong ox, global char *bv, ulong ov,
                         global char *bi, ulong oi, long n, long k) {
  local COMPUTED values[GROUP];
  local long places[GROUP];
  const long row = get_group_id(0);
  const int mine = get_local_id(0);
  global const STORED *x = (global const STORED *)(bx + ox) + row * n;
  COMPUTED last = 0;
  long last_at = -1;
  for (long turn = 0; turn < k; turn++) {
    COMPUTED best = 0;
    long best_at = -1;
    for (long i = mine; i < n; i += GROUP) {
      const COMPUTED v = LOAD(x[i]);
      if (turn > 0 && !is_before(last, last_at, v, i)) continue;
      if (best_at < 0 || is_before(v, i, best, best_at)) {
        best = v;
        best_at = i;
      }
    }
    values[mine] = best;
    places[mine] = best_at;
    for (int width = GROUP / 2; width > 0; width /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (mine >= width) continue;
      const COMPUTED other = values[mine + width];
      const long other_at = places[mine + width];
      if (other_at < 0) continue;
      if (places[mine] < 0 || is_before(other, other_at, values[mine], places[mine])) {
        values[mine] = other;
        places[mine] = other_at;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    last = values[0];
    last_at = places[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine != 0) continue;
    ((global STORED *)(bv + ov))[row * k + turn] = x[last_at];
    ((global INDEX *)(bi + oi))[row * k + turn] = (INDEX)last_at;
  }
}

#ifdef RISING
// Keys that ascend as the elements come, for dtypes of 32 bits at most; rows are filled up.
kernel void top_keys(global const char *bx, ulong ox, global char *bk, ulong ok, long n,
                     long padded, long count) {
  const long at = get_global_id(0);
  if (at >= count) return;
  const long place = at % padded;
  ulong key = ULONG_MAX;
  if (place < n) {
    const COMPUTED v = LOAD(((global const STORED *)(bx + ox))[at / padded * n + place]);
    const uint rising = RISING(v);
    key = (ulong)(v != v ? UINT_MAX : ~rising) << 32 | (ulong)place;
  }
  ((global ulong *)(bk + ok))[at] = key;
}

kernel void top_taken(global const char *bx, ulong ox, global const char *bk, ulong ok,
                      global char *bv, ulong ov, global char *bi, ulong oi, long n, long padded,
                      long k, long count) {
  const long at = get_global_id(0);
  if (at >= count) return;
  const long row = at / k;
  const uint place = (uint)((global const ulong *)(bk + ok))[row * padded + at % k];
  ((global STORED *)(bv + ov))[at] = ((global const STORED *)(bx + ox))[row * n + place];
  ((global INDEX *)(bi + oi))[at] = (INDEX)place;
}
#endif
#endif
