// A member's part in what ranks do together (ranks.c): its note to rank 0, its tensors, and the
// doing of it once rank 0 says that it is next.
#ifndef RHEOS_SRC_NET_RANK_PART_H
#define RHEOS_SRC_NET_RANK_PART_H

#include "net/rank_exchange.h"
#include "net/rank_order.h"
#include "resource/membership.h"

typedef struct rheos__rank_part {
  struct rheos__rank_part *next;
  rheos__membership *membership;  // counted
  rheos_tensor *output;           // counted
  rheos__rank_note note;
  bool is_told, has_left;  // it is told to rank 0
} rheos__rank_part;

// A part with all the memory that it needs, which takes the caller's reference of the membership
// unless it fails.
rheos_status *rheos__rank_part_new(rheos__membership *membership, rheos__rank_part **out_part);
// Ends the membership, with the failure or with the output, and frees the part.
void rheos__rank_part_end_take(rheos__rank_part *part, rheos_status *failed);

enum { RHEOS__RANK_PACKED_BYTES = 4 << 20 };

// Does the first of the parts, or the first few, if they are small sums of one kind, which are
// packed and go in one. `packed` are places for what goes and what comes, of
// RHEOS__RANK_PACKED_BYTES each; `source` is that of the first part. False: it was stopped.
bool rheos__rank_parts_do(rheos__rank_exchange *e, char *const *packed,
                          rheos__rank_part *const *parts, size_t count, int32_t source,
                          size_t *out_num_done);

#endif  // RHEOS_SRC_NET_RANK_PART_H
