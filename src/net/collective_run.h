// A member's part in a collective of several tasks, as TensorFlow's CPUs do it, so these may be
// members too: sums and gathered tensors go round a ring of all members in chunks, a broadcast goes
// down a tree over the tasks and one inside each task. A piece of a tensor waits at the rendezvous
// of its step, under a key that both sides know, until the member that it is for takes it: by
// RecvBuf, if that one is of another task.
//
// All of it is done by whoever brings a piece: nothing waits in a thread.
#ifndef RHEOS_SRC_NET_COLLECTIVE_RUN_H
#define RHEOS_SRC_NET_COLLECTIVE_RUN_H

#include "net/collective_groups.h"
#include "net/worker_step.h"

// Runs the part of a member, with references of the callee's to the membership and the step, in
// which it ends. `source_rank` is a broadcast's. `ended(argument)` is called last.
void rheos__collective_run_take(rheos__membership *membership, rheos__worker_step *step,
                                const rheos__task_group *group, int32_t source_rank,
                                void (*ended)(void *argument), void *argument);

#endif  // RHEOS_SRC_NET_COLLECTIVE_RUN_H
