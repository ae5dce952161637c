// A session as its master keeps it: the client's graph, placed on the devices of the cluster, and
// for each signature of steps the parts into which the graph is cut, registered with the workers.
#ifndef RHEOS_SRC_NET_MASTER_SESSION_H
#define RHEOS_SRC_NET_MASTER_SESSION_H

#include <rheos/format.h>
#include <rheos/session.h>

#include "device/device.h"
#include "format/partition/lowering.h"
#include "net/run_stats.h"
#include "net/worker.h"

typedef struct rheos__master_device {
  rheos__device device;
  uint64_t incarnation;
  int64_t memory_limit_bytes;
  int32_t task;  // of the peers
} rheos__master_device;

typedef struct rheos__master_plan rheos__master_plan;
typedef struct rheos__master_step rheos__master_step;
typedef struct rheos__master_callable rheos__master_callable;
typedef struct rheos__master_partial rheos__master_partial;

typedef struct rheos__master_session {
  char handle[RHEOS__ID_BYTES];
  rheos__peers *peers;
  rheos__worker *worker;  // of the master's own task
  int32_t own_task;
  rheos__session_cluster *cluster;  // that the client brought; NULL: none
  bool allow_soft_placement, is_isolated;
  bool has_old_tasks;  // of TensorFlow 1
  bool log_device_placement;
  int64_t timeout_ms;  // of a step that says none; 0: none
  rheos_graph *graph;
  rheos__lowered_calls lowered;   // in the graph
  rheos__master_device *devices;  // the own task's first
  int32_t num_devices;
  bool *is_asked;     // by task: it is another one, and has told of its devices
  bool *has_session;  // by task: it was told of this session
  _Atomic int32_t references;
  _Atomic int64_t last_call_ns, last_end_ns;  // when a call for it came last, and ended
  _Atomic int32_t num_calls;                  // under way for it

  // Guarded by the master's mutex (master.h).
  bool is_listed;           // among the master's sessions
  rheos__incoming *holder;  // a call that shows that the client is there; NULL: none
  int64_t gone_ns;          // since when it is not; 0: it may be there

  pthread_mutex_t mutex;  // guards what follows, and the graph
  pthread_cond_t none_runs;
  int64_t version;     // of the graph
  int16_t *device_of;  // by node: where it was when the graph was placed last
  int32_t num_placed;
  rheos__master_plan *plans;
  rheos__master_step *steps;  // that run
  rheos__master_callable *callables;
  int64_t last_callable;  // its handle
  rheos__master_partial *partials;
  int64_t last_partial;
  bool is_closed;
} rheos__master_session;

typedef struct rheos__master_options {
  rheos__peers *peers;
  rheos__worker *worker;
  int32_t own_task;
  const Tensorflow__ConfigProto *config;
  const char *target;  // by which the client found this server
  const void *graph_def;
  size_t graph_bytes;
  // Whether whoever asked for the session has gone.
  bool (*should_stop)(void *argument);
  void *should_stop_argument;
} rheos__master_options;

// Whether one of the filters (parts of names of devices) lets the task through, or there are none.
rheos_status *rheos__is_filtered_in(char *const *filters, size_t count,
                                    const rheos__device_name *task, bool *out_is);

// Waits for the tasks that the configuration does not filter out, asks them for their devices and
// tells them of the session. Counted.
rheos_status *rheos__master_session_new(const rheos__master_options *options,
                                        rheos__master_session **out_session);
void rheos__master_session_unref(rheos__master_session *session);

// Adds nodes and functions to the graph, which is to be of that version.
rheos_status *rheos__master_session_extend(rheos__master_session *session, int64_t version,
                                           const void *graph_def, size_t size_bytes,
                                           int64_t *out_version);
// Stops steps and waits for them, and takes the session from all workers. Later steps fail.
void rheos__master_session_close(rheos__master_session *session, const char *why);

// ---- Steps

// What a client asks for, by names.
typedef struct rheos__master_run {
  char *const *feeds;
  rheos_tensor *const *values;  // of the feeds
  char *const *fetches;
  char *const *targets;
  size_t num_feeds, num_fetches, num_targets;
  rheos__master_plan *plan;  // for these names; NULL: it is looked for
  int64_t step;              // of which this is one call of several; 0: a step of its own
  bool is_last;              // of its calls
  uint32_t traced;           // what is told of it: RHEOS_TRACE_*
  rheos__run_stats *stats;   // where that goes; NULL where nothing is told
  rheos_tensor **results;    // set by a success, then the caller's
  int64_t timeout_ms;        // 0: the session's
  bool (*should_stop)(void *argument);
  void *should_stop_argument;
} rheos__master_run;
rheos_status *rheos__master_session_run(rheos__master_session *session,
                                        const rheos__master_run *run);

// ---- Of its own files

// A part of a plan, with one worker.
typedef struct rheos__master_part {
  int32_t task;
  char graph[RHEOS__ID_BYTES];  // as the worker calls it; "": none
  int32_t *feeds, *fetches;     // numbers among the step's
  char **feed_keys, **fetch_keys;
  size_t num_feeds, num_fetches;
} rheos__master_part;

struct rheos__master_plan {
  char *signature;
  int64_t version;  // of the graph when it was made: nodes that came later change nothing
  rheos__master_part *parts;
  int32_t num_parts;
  // Of collectives in the graph; 0: it has none. Whether members are missing, which other sessions
  // have then.
  int64_t collective_key;
  bool is_shared;
  _Atomic int32_t references;
  rheos__master_plan *next;
};

// The plan for what a run asks for, with a reference. With the session's mutex held.
rheos_status *rheos__master_plan_get(rheos__master_session *session, const rheos__master_run *run,
                                     rheos__master_plan **out_plan);
void rheos__master_plan_unref(rheos__master_session *session, rheos__master_plan *plan);

// Tells all tasks of the plan that the step is over.
void rheos__master_clean_up(const rheos__master_session *session, const rheos__master_plan *plan,
                            int64_t step);

// Fails the session's steps that run, from outside. With the session's mutex held.
void rheos__master_steps_fail(rheos__master_session *session, const rheos_status *why);

#endif  // RHEOS_SRC_NET_MASTER_SESSION_H
