// What ranks do with each other's tensors. Values are merged in the order of ranks, as they are
// within a process (ops/collective/collective_combine.h), and element by element: the bits are the
// same on all ranks, whoever comes when and however much goes in one go. MPI_Allreduce promises
// none of this: it recommends the same bits on all ranks, and may choose the order by the size. So
// here each rank merges a part of the elements and gives that to all, which moves as many bytes as
// the best of MPI's own ways.
#ifndef RHEOS_SRC_NET_RANK_EXCHANGE_H
#define RHEOS_SRC_NET_RANK_EXCHANGE_H

#include "net/rank_link.h"
#include "resource/collective_member.h"

typedef struct rheos__rank_exchange {
  const rheos__rank_link *link;
  rheos__rank_wait wait;
  int32_t rank, num_ranks;
  char *scratch;  // pieces of others
  size_t scratch_bytes;
  rheos__rank_piece *pieces;
  size_t num_pieces;
  const void **runs;  // of each rank, what is to be merged
} rheos__rank_exchange;

// Makes room, so that nothing is allocated later.
rheos_status *rheos__rank_exchange_init(rheos__rank_exchange *e, const rheos__rank_link *link,
                                        const rheos__rank_wait *wait, int32_t rank,
                                        int32_t num_ranks);
void rheos__rank_exchange_deinit(rheos__rank_exchange *e);

// All ranks call the same function in the same order, with the same sizes. False: it was stopped.

// `count` elements of all ranks, merged as `what` says.
bool rheos__rank_reduce(rheos__rank_exchange *e, const rheos__collective *what, const void *input,
                        void *output, int64_t count);
// Of the elements of all, merged, the `count` that are this rank's.
bool rheos__rank_reduce_scatter(rheos__rank_exchange *e, const rheos__collective *what,
                                const void *input, void *output, int64_t count);
// The bytes of all ranks, one after the other: `size_bytes` of each.
bool rheos__rank_gather(rheos__rank_exchange *e, const void *input, void *output,
                        size_t size_bytes);
// To each rank its bytes of the input, `size_bytes` for each, and from each one's in the output.
bool rheos__rank_all_to_all(rheos__rank_exchange *e, const void *input, void *output,
                            size_t size_bytes);
bool rheos__rank_broadcast(rheos__rank_exchange *e, int32_t source, void *data, size_t size_bytes);

#endif  // RHEOS_SRC_NET_RANK_EXCHANGE_H
