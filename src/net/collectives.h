// Collectives of the tasks of a cluster: what a server does for those that its devices take part in
// (resource/collective.h). First the group is found out, then the source of a broadcast, both from
// the leader; then the members bring each other pieces of their tensors (collective_run.h).
#ifndef RHEOS_SRC_NET_COLLECTIVES_H
#define RHEOS_SRC_NET_COLLECTIVES_H

#include <rheos/host.h>

#include "net/collective_groups.h"
#include "net/worker_step.h"

typedef struct rheos__task_collectives rheos__task_collectives;
struct rheos__task_collectives {
  rheos__groups groups;
  rheos__worker_steps *steps;
  rheos__collectives *opened;  // the host's, which go through here; counted; NULL: not yet
  pthread_mutex_t mutex;       // guards what follows
  pthread_cond_t none_left;
  int32_t num_begun;  // parts that have not ended
  struct step_sequence *sequences;
};

// Has all that runs on the host take part here. `leader` is a task.
rheos_status *rheos__task_collectives_init(rheos__task_collectives *c, rheos_host *host,
                                           rheos__peers *peers, rheos__worker_steps *steps,
                                           int32_t own_task, int32_t leader, uint64_t incarnation);
// Ends what waits, and waits for its end. The steps are over.
void rheos__task_collectives_end(rheos__task_collectives *c);
void rheos__task_collectives_deinit(rheos__task_collectives *c);

// ---- Numbers of steps
//
// Processes that run graphs with parts of the same collectives, each by a session of its own, run
// them in steps of the same numbers: one after the other from one on that the leader tells, by the
// key of the graphs. A number is the next one until its step is over, which it is nowhere before
// all have begun it; so who asks while others are in a step gets that.

// At the leader: the next number.
rheos_status *rheos__task_collectives_tell_step(rheos__task_collectives *c, int64_t graph_key,
                                                int64_t *out_step);
// The number of a step that begins here.
rheos_status *rheos__task_collectives_next_step(rheos__task_collectives *c, int64_t graph_key,
                                                bool (*should_stop)(void *),
                                                void *should_stop_argument, int64_t *out_step);
// A step is over. After one that has failed the leader is asked anew.
void rheos__task_collectives_end_step(rheos__task_collectives *c, int64_t graph_key, int64_t step,
                                      bool has_failed);

#endif  // RHEOS_SRC_NET_COLLECTIVES_H
