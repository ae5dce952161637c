// In which order ranks do what they do together. Ranks come to collectives in any order, each in
// its own; rank 0 hears of all who come, and says what is next once all have come to it. So
// whatever is done is done by all ranks, one after the other, in one order. Here is what rank 0
// keeps for that, which knows nothing of how it hears.
#ifndef RHEOS_SRC_NET_RANK_ORDER_H
#define RHEOS_SRC_NET_RANK_ORDER_H

#include <rheos/tensor.h>

// What ranks do together: an instance of a group, in the trip of a loop. A rank that comes to it
// again takes part in its next round.
typedef struct rheos__rank_key {
  int32_t group_key, instance_key;
  uint64_t frame, trip;
} rheos__rank_key;

bool rheos__rank_key_equal(const rheos__rank_key *a, const rheos__rank_key *b);

// What a rank says.
typedef enum rheos__rank_says {
  RHEOS__RANK_COMES,   // to a round
  RHEOS__RANK_LEAVES,  // a round that it has come to
  // And comes to nothing more: RHEOS_UNAVAILABLE where it wants to end, which it does once;
  // RHEOS_RESOURCE_EXHAUSTED where it could not take part in something for want of memory.
  RHEOS__RANK_ENDS,
} rheos__rank_says;

// Bytes between processes of one program, on machines of one kind. Zeros where nothing is said.
typedef struct rheos__rank_note {
  rheos__rank_says says;
  rheos_code why;   // of one that ends
  uint64_t serial;  // of this rank's comings
  rheos__rank_key key;
  int32_t rank;  // that the program says it has in the group; -1: none
  // What a rank wants to do, in which all have to agree but for `is_source`:
  int32_t type, group_size, dtype, merge;
  bool divides, is_source;
  rheos_shape shape;
} rheos__rank_note;

// What rank 0 says: that a round is next, to all; that it has failed, to one.
typedef struct rheos__rank_verdict {
  rheos__rank_key key;
  rheos_code why;   // RHEOS_OK: it is next, the first one of that key that a rank has come to
  uint64_t serial;  // of one that has failed: of the coming to it
  int32_t source;   // of a broadcast
  bool is_end;      // of all: all ranks have ended. Nothing else is said then
} rheos__rank_verdict;

enum { RHEOS__RANK_TEXT_BYTES = 256 };

typedef struct rheos__rank_order rheos__rank_order;

rheos__rank_order *rheos__rank_order_new(int32_t num_ranks);  // NULL when memory is short
void rheos__rank_order_free(rheos__rank_order *order);

// A rank says something. False when memory is short, and then nothing was heard.
bool rheos__rank_order_hear(rheos__rank_order *order, int32_t rank, const rheos__rank_note *note);
// The next verdict, in order. It is for all ranks, or for `*out_rank` if that is not -1, and then
// with a text of RHEOS__RANK_TEXT_BYTES. False: there is none.
bool rheos__rank_order_next(rheos__rank_order *order, rheos__rank_verdict *out_verdict,
                            int32_t *out_rank, char *out_text);

#endif  // RHEOS_SRC_NET_RANK_ORDER_H
