// The steps of a worker: by number, each with the rendezvous where what its graphs send and receive
// meets what other tasks ask for. A step is there from the first word of it, whoever says that,
// until it is cleaned up; after that nobody brings it back.
#ifndef RHEOS_SRC_NET_WORKER_STEP_H
#define RHEOS_SRC_NET_WORKER_STEP_H

#include <rheos/session.h>

#include "net/rpc_log.h"
#include "net/session_cluster.h"
#include "resource/rendezvous.h"

enum { RHEOS__STEP_BUCKETS = 64, RHEOS__STEPS_REMEMBERED = 1024 };

typedef struct rheos__worker_step rheos__worker_step;

// A part of the step that runs by itself, since it is fed and fetched in several calls.
typedef struct rheos__begun_part {
  const void *graph;  // which part it is
  bool is_over;
  rheos_status *status;  // of one that is over
  struct rheos__begun_part *next;
} rheos__begun_part;

typedef struct rheos__worker_steps {
  rheos__peers *peers;
  int32_t own_task;
  pthread_mutex_t mutex;  // guards what follows
  rheos__worker_step *buckets[RHEOS__STEP_BUCKETS];
  int64_t over[RHEOS__STEPS_REMEMBERED];  // those that were cleaned up last, in a ring
  uint64_t num_over;
  rheos__rpc_log log;
} rheos__worker_steps;

struct rheos__worker_step {
  rheos__worker_steps *steps;
  int64_t id;
  rheos__session_cluster *_Atomic cluster;  // of its session, in use; NULL: the server's
  rheos__worker_step *next;                 // in its bucket
  rheos__rendezvous *rendezvous;
  _Atomic int32_t references;        // the table, graphs that run, values on their way
  rheos_cancellation *cancellation;  // of its parts; the end of the step
  pthread_mutex_t mutex;             // guards what follows
  pthread_cond_t changed;            // such parts, and what their callers wait for
  struct incoming_value *incoming;   // that are asked for elsewhere
  rheos__begun_part *parts;
  bool is_over;
  char session[64];  // the handle's beginning, of the one whose part ran first; "": none did
};

void rheos__worker_steps_init(rheos__worker_steps *steps, rheos__peers *peers, int32_t own_task);
void rheos__worker_steps_deinit(rheos__worker_steps *steps);  // none is left
int32_t rheos__worker_steps_count(rheos__worker_steps *steps);

// The step of that number, which begins with this if it has not, with a reference. RHEOS_ABORTED if
// it is over.
rheos_status *rheos__worker_steps_get(rheos__worker_steps *steps, int64_t id,
                                      rheos__worker_step **out_step);
// Says of which session the step is, and of which cluster (NULL: the server's), before a part of it
// runs.
void rheos__worker_step_join(rheos__worker_step *step, const char *session,
                             rheos__session_cluster *cluster);
// Aborts the steps in which a graph runs by itself, and forgets them.
void rheos__worker_steps_end_running(rheos__worker_steps *steps, const void *graph,
                                     const rheos_status *why);
// Aborts the steps of a session: whoever made it may have gone before it cleaned them up. Of the
// session "", which nobody made, none.
void rheos__worker_steps_end_of_session(rheos__worker_steps *steps, const char *session,
                                        const rheos_status *why);
// Aborts the steps of a cluster, and forgets them.
void rheos__worker_steps_end_of(rheos__worker_steps *steps, const rheos__session_cluster *cluster,
                                const rheos_status *why);
rheos__worker_step *rheos__worker_step_ref(rheos__worker_step *step);  // returns its argument
void rheos__worker_step_unref(rheos__worker_step *step);

// A piece of a tensor that another task has for a collective of the step.
typedef struct rheos__wanted_buffer {
  int32_t task;
  const char *key;
  const char *from_device, *to_device;
  uint64_t incarnation;  // of the first
  size_t size_bytes;
} rheos__wanted_buffer;
// Asks for it: it comes to the rendezvous, under that key, as a vector of uint8. If it does not,
// the step is aborted.
rheos_status *rheos__worker_step_fetch(rheos__worker_step *step,
                                       const rheos__wanted_buffer *wanted);

// Ends what waits in the step with that error, here, and takes back what was asked for elsewhere.
void rheos__worker_step_abort(rheos__worker_step *step, const rheos_status *why);
// Aborts the step, if there is one, and forgets it.
void rheos__worker_steps_end(rheos__worker_steps *steps, int64_t id, const rheos_status *why);
void rheos__worker_steps_end_all(rheos__worker_steps *steps, const rheos_status *why);

#endif  // RHEOS_SRC_NET_WORKER_STEP_H
