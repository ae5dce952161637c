// The ranks of a program that mpirun has started, as members of collectives: a door (membership.h)
// behind which one thread speaks MPI. It tells rank 0 what this rank has come to, and does what
// rank 0 says is next (rank_order.h, rank_exchange.h). Nobody else waits in MPI: members wait by
// attempts, while the program computes.
#ifndef RHEOS_SRC_NET_RANKS_H
#define RHEOS_SRC_NET_RANKS_H

#include <rheos/ranks.h>

#include "net/rank_link.h"

// Joins by a link. Of each link a process has one rank at a time.
rheos_status *rheos__ranks_join_by(const rheos__rank_link *link, rheos_ranks **out_ranks);

#endif  // RHEOS_SRC_NET_RANKS_H
