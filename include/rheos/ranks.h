// Ranks: processes of one program that mpirun, or a like of it, has started. Each is a task of a
// cluster, /job:worker/task:RANK, and takes part in the collectives of all by MPI.
#ifndef RHEOS_RANKS_H
#define RHEOS_RANKS_H

#include <rheos/host.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rheos_ranks rheos_ranks;

// Whether mpirun has started this process, as one of several: what it tells its processes by the
// environment.
RHEOS_API bool rheos_ranks_are_there(void);

// Joins the other ranks, which a process does once, and waits for all of them to do so.
// RHEOS_UNIMPLEMENTED where MPI is not there, saying what to install; RHEOS_FAILED_PRECONDITION in
// a process that mpirun has not started, or another MPI's, or that has joined already.
RHEOS_STATUS rheos_ranks_join(rheos_ranks **out_ranks);

RHEOS_API int32_t rheos_ranks_rank(const rheos_ranks *ranks);   // of this process; -1: no ranks
RHEOS_API int32_t rheos_ranks_count(const rheos_ranks *ranks);  // of all; 0: no ranks

// What an eager context or a session is given to take part in the collectives of all ranks: with
// one device, of this rank, and the cores that are this rank's. The ranks', until they are freed,
// unless it is counted; then collectives fail, and nothing else does.
RHEOS_API rheos_host *rheos_ranks_host(const rheos_ranks *ranks);

// Takes part in nothing more, waits until all ranks do so, and frees them. Collectives that others
// still wait for this rank in fail there. Not for a process that has failed: others may never end.
RHEOS_API void rheos_ranks_free(rheos_ranks *ranks);

// Ends the processes of all ranks, this one too, with an error: MPI_Abort.
RHEOS_API void rheos_ranks_abort(rheos_ranks *ranks);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_RANKS_H
