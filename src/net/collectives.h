// Collectives of the tasks of a cluster: what a server does for those that its devices take part in
// (resource/collective.h). First the group is found out, then the source of a broadcast, both from
// the leader; then the members bring each other pieces of their tensors (collective_run.h).
#ifndef RHEOS_SRC_NET_COLLECTIVES_H
#define RHEOS_SRC_NET_COLLECTIVES_H

#include <rheos/host.h>

#include "net/collective_groups.h"
#include "net/worker_step.h"

typedef struct rheos__task_collectives {
  rheos__groups groups;
  rheos__worker_steps *steps;
  rheos__collectives *opened;  // the host's, which go through here; counted; NULL: not yet
  pthread_mutex_t mutex;       // guards what follows
  pthread_cond_t none_left;
  int32_t num_begun;  // parts that have not ended
  struct step_sequence *sequences;
} rheos__task_collectives;

// Has all that runs on the host take part here. `leader` is a task.
rheos_status *rheos__task_collectives_init(rheos__task_collectives *c, rheos_host *host,
                                           rheos__peers *peers, rheos__worker_steps *steps,
                                           int32_t own_task, int32_t leader, uint64_t incarnation);
// Ends what waits, and waits for its end. The steps are over.
void rheos__task_collectives_end(rheos__task_collectives *c);
void rheos__task_collectives_deinit(rheos__task_collectives *c);

// The number of the next step of graphs with that key, for all who ask.
rheos_status *rheos__task_collectives_next_step(rheos__task_collectives *c, int64_t graph_key,
                                                int64_t *out_step);

#endif  // RHEOS_SRC_NET_COLLECTIVES_H
