// How bytes go between ranks: MPI, in a library of its own that is found at run time, so that only
// programs that mpirun has started load it. It knows neither tensors nor collectives of graphs. All
// its functions are called by one thread, the one that called start(), so MPI needs to support no
// more than that. An error in MPI ends the processes of all ranks.
#ifndef RHEOS_SRC_NET_RANK_LINK_H
#define RHEOS_SRC_NET_RANK_LINK_H

#include <rheos/base.h>

// Bytes for a rank, or of one.
typedef struct rheos__rank_piece {
  int32_t rank;
  bool is_for_it;
  void *data;
  size_t size_bytes;
} rheos__rank_piece;

typedef struct rheos__rank_wait {
  bool (*should_stop)(void *argument);  // asked while bytes are waited for
  void *argument;
} rheos__rank_wait;

enum {
  RHEOS__RANK_ERROR_BYTES = 256,
  RHEOS__PIECES_PER_RANK = 4,
  RHEOS__MAX_PIECE_BYTES = 1 << 30,  // of a piece, and of a broadcast: MPI's sizes are ints
};

// What rheos__rank_link_find() finds.
typedef struct rheos__rank_link {
  const char *version;  // of Rheos

  // Waits for all ranks. On failure writes why into `error`.
  bool (*start)(int32_t *out_rank, int32_t *out_count, char *error);
  void (*finish)(void);  // waits for all ranks
  void (*abort)(void);   // ends all processes

  // ---- Notes: short, taken in the order in which a rank sends them

  void (*send)(int32_t rank, const void *note, size_t size_bytes);  // does not wait; copies
  // Of a note that has come: how long it is, and from which rank. False: none has.
  bool (*next)(int32_t *out_rank, size_t *out_size_bytes);
  void (*receive)(int32_t rank, void *note, size_t size_bytes);  // what next() has told of

  // ---- Bytes of tensors: all ranks call the same functions in the same order. They return when
  // all has come and gone; false: they were stopped, and then only abort() may follow.

  // At most RHEOS__PIECES_PER_RANK pieces for each rank; those between two ranks fit in their
  // order.
  bool (*exchange)(const rheos__rank_piece *pieces, size_t count, const rheos__rank_wait *wait);
  bool (*broadcast)(int32_t source, void *data, size_t size_bytes, const rheos__rank_wait *wait);
} rheos__rank_link;

#define RHEOS__RANK_LINK_NAME "rheos__mpi_link"
#define RHEOS__RANK_LINK_FILE "librheos-mpi.so"

// The link, loaded once. RHEOS_UNIMPLEMENTED with what to install where there is none.
rheos_status *rheos__rank_link_find(const rheos__rank_link **out_link);

#endif  // RHEOS_SRC_NET_RANK_LINK_H
