// Sorting of keys, all different, in rows of a power of 2, by merging of Batcher, 1968: who includes
// this says how large a GROUP is.
#define CHUNK (2 * GROUP)

// The smaller of two first, or the larger.
#define ORDER(a, b, up)                  \
  {                                      \
    const ulong left = a, right = b;     \
    if ((left > right) == (up)) {        \
      a = right;                         \
      b = left;                          \
    }                                    \
  }

// Whether the part of `width` keys that a place of a row is in comes out rising.
bool rises(ulong at, ulong width, ulong row) { return (at & (row - 1) & width) == 0; }

// Of each pair that is `apart` within a chunk in a group's own memory.
void merge(local ulong *all, ulong first, ulong width, ulong apart, ulong row) {
  const ulong mine = get_local_id(0);
  for (; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong at = 2 * mine - (mine & (apart - 1));
    ORDER(all[at], all[at + apart], rises(first + at, width, row))
  }
}

// Chunks by themselves: from `width` 2 on if `all_widths`, else only of this one.
kernel void sort_chunks(global char *bk, ulong ok, ulong row, ulong width, long all_widths) {
  local ulong all[CHUNK];
  const ulong first = get_group_id(0) * CHUNK, mine = get_local_id(0);
  global ulong *keys = (global ulong *)(bk + ok) + first;
  all[mine] = keys[mine];
  all[mine + GROUP] = keys[mine + GROUP];
  if (all_widths) {
    for (ulong part = 2; part < CHUNK; part *= 2) merge(all, first, part, part / 2, row);
  }
  merge(all, first, width, CHUNK / 2, row);
  barrier(CLK_LOCAL_MEM_FENCE);
  keys[mine] = all[mine];
  keys[mine + GROUP] = all[mine + GROUP];
}

// Pairs in different chunks.
kernel void sort_apart(global char *bk, ulong ok, ulong row, ulong width, ulong apart, long pairs) {
  const ulong mine = get_global_id(0);
  if (mine >= (ulong)pairs) return;
  global ulong *keys = (global ulong *)(bk + ok);
  const ulong at = 2 * mine - (mine & (apart - 1));
  ORDER(keys[at], keys[at + apart], rises(at, width, row))
}
