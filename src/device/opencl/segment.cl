// Rows of ascending ids, or those that indices pick for them, joined in their order by a FORMULA in
// x, which is joined so far, and y. A work-item for each element of the result.

// The first row whose id is not below `id`.
ulong first_of(global const ID *ids, ulong rows, ulong id) {
  ulong low = 0, high = rows;
  while (low < high) {
    const ulong middle = (low + high) / 2;
    if (ids[middle] < (ID)id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

kernel void segments(global const char *bx, ulong ox, global const char *bi, ulong oi,
                     global const char *bs, ulong os, global char *bz, ulong oz, long count,
                     ulong rows, ulong run, ulong data_rows) {
  const ulong at = get_global_id(0), id = at / run;
  if (at >= (ulong)count) return;
  global const STORED *data = (global const STORED *)(bx + ox) + at % run;
  global const ID *ids = (global const ID *)(bs + os);
  COMPUTED x = (COMPUTED)START;
  ulong joined = 0;
  for (ulong i = first_of(ids, rows, id); i < rows && ids[i] == (ID)id; i++) {
#ifdef INDEX
    const long row = ((global const INDEX *)(bi + oi))[i];
    const COMPUTED y = row >= 0 && (ulong)row < data_rows ? LOAD(data[row * run]) : (COMPUTED)0;
    x = (COMPUTED)LOAD(STORE(FORMULA));
#else
    const COMPUTED y = LOAD(data[i * run]);
    x = joined == 0 ? y : (COMPUTED)LOAD(STORE(FORMULA));
#endif
    joined++;
  }
  if (joined > 1) x = (COMPUTED)(DIVIDED);
  ((global STORED *)(bz + oz))[at] = STORE(x);
}
