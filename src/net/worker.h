// The worker of a server: it keeps parts of graphs for masters, as sessions of its host, and runs
// them as parts of steps.
#ifndef RHEOS_SRC_NET_WORKER_H
#define RHEOS_SRC_NET_WORKER_H

#include <rheos/format.h>
#include <rheos/session.h>

#include "net/graph_limits.h"
#include "net/ids.h"
#include "net/worker_step.h"

typedef struct rheos__worker_graph rheos__worker_graph;
typedef struct rheos__worker_session rheos__worker_session;

typedef struct rheos__worker {
  rheos_host *host;
  uint64_t incarnation;  // tells its devices from those of a task that was here before
  rheos_program_function program_function;  // what PyFunc calls; NULL: it fails
  void *program_argument;
  rheos__graph_limits limits;                   // for graphs of others
  struct rheos__task_collectives *collectives;  // the server's
  rheos__worker_steps steps;
  pthread_mutex_t mutex;        // guards what follows
  rheos__worker_graph *graphs;  // latest first
  rheos__worker_session *sessions;
  int32_t num_begun;  // parts that run by themselves
  pthread_cond_t none_runs;
} rheos__worker;

// Of the host and the peers of a server, which last longer.
void rheos__worker_init(rheos__worker *worker, rheos_host *host, rheos__peers *peers,
                        int32_t own_task);
// Ends steps, sessions and graphs. Nobody runs any.
void rheos__worker_deinit(rheos__worker *worker);

// ---- Sessions, by the names that their masters gave them

typedef struct rheos__session_from_master {
  const char *handle;
  bool is_isolated;             // its variables and other resources are its own; else the host's
  const char *master;           // the task that made it; "": it did not say
  uint64_t master_incarnation;  // tells it from a task that was there before
  const Tensorflow__ClusterDef
      *cluster;  // the session's own, of which this is task `task` of `job`
  const char *job;
  int32_t task;
  bool names_frames;  // its steps number the frames of loops by their names: TensorFlow 1 is there
} rheos__session_from_master;
// RHEOS_ALREADY_EXISTS. Sessions of a master that was there before go: nobody else ends them.
rheos_status *rheos__worker_create_session(rheos__worker *worker,
                                           const rheos__session_from_master *from);
// Ends the sessions that a master made before it had this incarnation; 0: all of that master's.
void rheos__worker_end_orphans(rheos__worker *worker, const char *master, uint64_t incarnation);
// Which tasks of the cluster have sessions here, by number.
void rheos__worker_find_masters(rheos__worker *worker, bool *is_master);
// With its graphs, and its resources if they are its own.
rheos_status *rheos__worker_delete_session(rheos__worker *worker, const char *handle);

// ---- Graphs

// A part of a graph, for a session; "" is one that needs not be created.
rheos_status *rheos__worker_register(rheos__worker *worker, const char *session,
                                     const void *graph_def, size_t size_bytes,
                                     char out_handle[RHEOS__ID_BYTES]);
rheos_status *rheos__worker_deregister(rheos__worker *worker, const char *handle);

// What a step gives a part, and takes from it, by keys of the rendezvous.
typedef struct rheos__part_run {
  const char *graph;
  int64_t step;
  char *const *send_keys;
  rheos_tensor *const *sends;
  size_t num_sends;
  char *const *recv_keys;
  size_t num_recvs;
  bool is_partial, is_last;  // one call of several that feed and fetch the part; the last of them
  rheos_tensor **received;   // set by a success, then the caller's
  const rheos_run_options *options;
} rheos__part_run;
rheos_status *rheos__worker_run(rheos__worker *worker, const rheos__part_run *run);

// Ends the step, and what waits in it.
void rheos__worker_clean_up(rheos__worker *worker, int64_t step);
// Lets go of variables and other resources of the host: of these containers; none: of all.
rheos_status *rheos__worker_reset(rheos__worker *worker, char *const *containers, size_t count);

// What it has at this moment.
typedef struct rheos__worker_counts {
  int32_t sessions, graphs, steps;
} rheos__worker_counts;
rheos__worker_counts rheos__worker_count(rheos__worker *worker);

// ---- Of its own files

struct rheos__worker_graph {
  char handle[RHEOS__ID_BYTES];
  char *of_session;                 // the handle; "": of none
  rheos__session_cluster *cluster;  // the session's, in use; NULL: it has none
  rheos_graph *graph;
  rheos_session *session;
  rheos_callable *callable;
  bool names_frames;   // as its session
  int32_t references;  // the list and runs; guarded by the worker's mutex
  rheos__worker_graph *next;
};

void rheos__worker_graph_unref(rheos__worker *worker, rheos__worker_graph *graph);

// Runs the graph as a part of a step that is fed and fetched in several calls, of which this is
// one.
rheos_status *rheos__worker_run_partial(rheos__worker *worker, rheos__worker_graph *graph,
                                        rheos__worker_step *step, const rheos__part_run *run);
void rheos__worker_wait_for_begun(rheos__worker *worker);

#endif  // RHEOS_SRC_NET_WORKER_H
