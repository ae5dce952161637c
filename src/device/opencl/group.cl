// What a group makes together. Who includes this says what TOTAL is, and how large a GROUP.

TOTAL sum_of(local TOTAL *all, TOTAL mine) {
  const int at = get_local_id(0);
  all[at] = mine;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at < width) all[at] += all[at + width];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const TOTAL sum = all[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum;
}

// A NaN is the largest.
TOTAL largest_of(local TOTAL *all, TOTAL mine) {
  const int at = get_local_id(0);
  all[at] = mine;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const TOTAL a = all[at], b = all[(at + width) % GROUP];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at < width) all[at] = (b > a) || (b != b) ? b : a;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const TOTAL largest = all[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return largest;
}
