// Kinds of sessions. What a program may ask of a session and of its callables is a table of
// functions; a direct session runs steps in this process, others ask for them elsewhere, or tell
// what was asked. A session of any kind is on a graph that it may read, and is given ids of that
// and tensors: enough for one that only knows how to send a graph, names and tensors.
#ifndef RHEOS_SRC_RUNTIME_SESSION_SESSION_KIND_H
#define RHEOS_SRC_RUNTIME_SESSION_SESSION_KIND_H

#include "plan/segment/segment.h"
#include "runtime/run/bound.h"
#include "runtime/step/home.h"
#include "runtime/session/run_signature.h"

typedef struct rheos__session_kind rheos__session_kind;

// At the start of the kind's own struct.
struct rheos_session {
  const rheos__session_kind *kind;
  rheos_graph *graph;  // counted
};

// At the start of the kind's own struct of a callable.
struct rheos_callable {
  const rheos__session_kind *kind;
  rheos_session *session;
  rheos__signature_ids ids;
  void *memory;         // of the ids
  rheos__bound *bound;  // NULL: to nothing
};

// Lists are checked: what they name is in the graph. Values are not: rheos__check_feed(). What
// comes out is NULL after a failure, or not set by one. NULL functions are allowed where it says
// so.
struct rheos__session_kind {
  const char *name;                      // in errors: "direct"
  bool (*is_for)(const char *target);    // as the options say it, "" for NULL
  size_t session_bytes, callable_bytes;  // of the kind's structs

  // ---- The session, zeros but for its first struct. The options are the caller's.
  rheos_status *(*init)(rheos_session *session, const rheos_session_options *options);
  // Steps are stopped and waited for; later ones fail with RHEOS_FAILED_PRECONDITION. May come
  // again, and after a failed init().
  void (*close)(rheos_session *session);
  void (*deinit)(rheos_session *session);  // after close()
  // The list stays as it is until deinit().
  rheos_status *(*list_devices)(rheos_session *session, const rheos_device_attributes **out_devices,
                                size_t *out_count);
  rheos_status *(*waiting)(rheos_session *session, char **out_text);
  void (*get_stats)(rheos_session *session, rheos_session_stats *out_stats);

  // ---- Steps
  rheos_status *(*run)(rheos_session *session, const rheos__signature_ids *ids,
                       rheos_tensor *const *values, rheos_tensor **out_values,
                       const rheos_run_options *options);
  rheos_status *(*partial_setup)(rheos_session *session, const rheos__signature_ids *ids,
                                 int64_t *out_handle);
  rheos_status *(*partial_run)(rheos_session *session, int64_t handle,
                               const rheos__signature_ids *ids, rheos_tensor *const *values,
                               rheos_tensor **out_values, const rheos_run_options *options);
  void (*partial_end)(rheos_session *session, int64_t handle);

  // ---- Callables, which are gone before the session is
  rheos_status *(*make_callable)(rheos_callable *callable);  // zeros but for its first struct
  void (*release_callable)(rheos_callable *callable);        // after a failed make_callable() too
  rheos_status *(*run_callable)(rheos_callable *callable, rheos_tensor *const *values,
                                rheos_tensor **out_values, const rheos_run_options *options);
  // With the tensors that it is bound to. NULL: results are computed elsewhere and copied.
  rheos_status *(*run_bound)(rheos_callable *callable, const rheos_run_options *options);
  int64_t (*callable_cost_ns)(const rheos_callable *callable);  // NULL: it is not known

  // ---- What only sessions of this process have; NULL: this one is none
  // What steps of other things than plans begin in, such as those that go over datasets.
  rheos__home *(*home)(rheos_session *session);
  struct rheos__watch_list *(*watches)(rheos_session *session);
  // As rheos__session_plan() has it.
  rheos_status *(*make_plan)(rheos_session *session, const rheos__step_ends *ends,
                             const rheos_shape *shapes, rheos__plan **out_plan,
                             const rheos__segment **out_segment);
};

// Sessions on servers, by a higher layer.
extern const rheos__session_kind rheos__remote_session_kind;

// A session of that kind, whatever the target.
rheos_status *rheos__session_new_of_kind(const rheos__session_kind *kind, rheos_graph *graph,
                                         const rheos_session_options *options,
                                         rheos_session **out_session);

// The first one of the kinds that is for the target; NULL: none is.
const rheos__session_kind *rheos__find_session_kind(const rheos__session_kind *const *kinds,
                                                    size_t num_kinds, const char *target);

// RHEOS_UNIMPLEMENTED where the session is not of this process.
rheos_status *rheos__session_home(rheos_session *session, rheos__home **out_home);

#endif  // RHEOS_SRC_RUNTIME_SESSION_SESSION_KIND_H
