// Sessions: run the part of a graph that the fetches need.
#ifndef RHEOS_SESSION_H
#define RHEOS_SESSION_H

#include <rheos/credentials.h>
#include <rheos/graph.h>
#include <rheos/host.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rheos_session rheos_session;

// What a session does to the graph's operations when it plans a step: fewer and faster ones with
// the same results. The graph itself never changes. Groups of rules have the names of TensorFlow's
// RewriterConfig.
typedef enum rheos_toggle {
  RHEOS_TOGGLE_DEFAULT,  // on
  RHEOS_TOGGLE_ON,
  RHEOS_TOGGLE_OFF,
  RHEOS_TOGGLE_AGGRESSIVE,  // on, with rules that may change the last bits of a result
} rheos_toggle;

typedef struct rheos_rewrite_options {
  bool disable_meta_optimizer RHEOS_LEFT_OUT;    // no rules at all
  rheos_toggle constant_folding RHEOS_LEFT_OUT;  // compute once what depends on constants alone
  rheos_toggle common_subgraph_elimination RHEOS_LEFT_OUT;  // compute once what is written twice
  rheos_toggle arithmetic_optimization
      RHEOS_LEFT_OUT;  // x * 1, transposes into matrix products, ...
  rheos_toggle dependency_optimization RHEOS_LEFT_OUT;  // operations that only pass values on
  rheos_toggle remapping RHEOS_LEFT_OUT;                // several operations as one kernel
  rheos_toggle elementwise_fusion
      RHEOS_LEFT_OUT;  // elementwise ones as one loop; off with remapping too
  rheos_toggle compiled_loops RHEOS_LEFT_OUT;      // of those, what runs often, where LLVM is there
  rheos_toggle layout_optimizer RHEOS_LEFT_OUT;    // operands that stay, kept as kernels like them
  rheos_toggle raise_control_flow RHEOS_LEFT_OUT;  // version 1's loops and conditionals as bodies
  rheos_toggle function_optimization
      RHEOS_LEFT_OUT;  // bodies of small functions in the place of their calls
  rheos_toggle reserved_[5] RHEOS_LEFT_OUT;  // zeros
} rheos_rewrite_options;

typedef struct rheos_session_options {
  const char *target RHEOS_LEFT_OUT;       // NULL or "": this process; "grpc://host:port": a server
  int32_t num_cpu_devices RHEOS_LEFT_OUT;  // 0: one, /device:CPU:0
  int32_t num_threads RHEOS_LEFT_OUT;      // the session's threads; 0: one for each core
  // Of those threads, how many operations that do not need each other may be spread over; 0: all,
  // 1: operations run one after the other.
  int32_t num_threads_between_ops RHEOS_LEFT_OUT;
  int32_t max_cached_plans RHEOS_LEFT_OUT;  // 0: 256
  bool allow_soft_placement
      RHEOS_LEFT_OUT;  // run on a device that exists when the one asked for does not
  bool log_device_placement
      RHEOS_LEFT_OUT;  // print each node's device to standard error when a plan is made
  // The variables and other resources are those of the host, which all sessions that say so share
  // by their names, and which outlive them: as of sessions on one of TensorFlow's servers.
  // Otherwise they are the session's own. Nothing is shared without a host.
  bool shares_resources RHEOS_LEFT_OUT;
  rheos_rewrite_options rewrites RHEOS_LEFT_OUT;
  // What to run on, which the session holds on to; num_cpu_devices and num_threads are the host's
  // then. NULL: a host of its own.
  rheos_host *host RHEOS_LEFT_OUT;
  rheos_program_function program_function RHEOS_LEFT_OUT;  // what PyFunc calls; NULL: it fails
  void *program_argument RHEOS_LEFT_OUT;                   // the function's
  // A step that is to stop (cancelled, too late, its session closed) does not wait for functions of
  // the program that other threads call for it: these go on, so that the function and its argument
  // have to last until they have come back.
  bool leaves_functions RHEOS_LEFT_OUT;
  // A run's feed may have another shape than what the graph knows of its tensor, as in TensorFlow's
  // C interface. A step with such feeds has a plan of its own, without rewrites.
  bool feeds_any_shape RHEOS_LEFT_OUT;
  bool reserved_[6] RHEOS_LEFT_OUT;  // zeros
  // For a session on a server: the bytes of a ConfigProto message, which goes there instead of what
  // the options above say. NULL: they count.
  const void *config RHEOS_LEFT_OUT;
  size_t config_bytes RHEOS_LEFT_OUT;
  rheos_credentials credentials RHEOS_LEFT_OUT;  // for a session on a server
  int32_t num_gpu_devices RHEOS_LEFT_OUT;        // as rheos_host_options says, of a host of its own
  int32_t reserved_number_ RHEOS_LEFT_OUT;       // zero
  const rheos_gpu_device *gpu_devices RHEOS_LEFT_OUT;  // likewise
} rheos_session_options;

// A session on a graph (counted). The graph may grow while the session lives. `options` may be
// NULL.
RHEOS_MUST_USE static inline rheos_status *rheos_session_new(rheos_graph *graph,
                                                             const rheos_session_options *options,
                                                             rheos_session **out_session);

// Ends the session: running steps are cancelled and waited for, variables that are its own are
// freed; later runs fail with RHEOS_FAILED_PRECONDITION.
RHEOS_API void rheos_session_close(rheos_session *session);

// What the session's steps wait for at this moment: a line for each operation that waits, with what
// for and how long, "" if none does. Any thread may ask. The caller frees it by rheos_free().
RHEOS_STATUS rheos_session_waiting(rheos_session *session, char **out_text);

// Closes it, and frees the handle.
RHEOS_API void rheos_session_free(rheos_session *session);

RHEOS_API rheos_graph *rheos_session_graph(const rheos_session *session);

// The names of the session's devices, "/job:localhost/replica:0/task:0/device:CPU:0", ...; none
// where a server does not tell.
RHEOS_API int32_t rheos_session_num_devices(const rheos_session *session);
RHEOS_API const char *rheos_session_device(const rheos_session *session, int32_t index);

// What is known of them, as the list says until the session is freed. A server is asked once for
// those of its cluster; its error is the status.
RHEOS_STATUS rheos_session_list_devices(rheos_session *session,
                                        const rheos_device_attributes **out_devices,
                                        size_t *out_count);

// ---- Running

typedef struct rheos_feed {
  rheos_output output;  // of the graph
  rheos_tensor *value;  // borrowed during the run
} rheos_feed;

typedef struct rheos_fetch {
  rheos_output output;  // of the graph
  rheos_tensor *value
      RHEOS_LEFT_OUT;  // set by a successful run, owned by the caller; NULL after a failure
} rheos_fetch;

// Stops running steps from another thread, or from a signal handler.
typedef struct rheos_cancellation rheos_cancellation;
RHEOS_API rheos_cancellation *rheos_cancellation_new(void);  // NULL when memory is short
RHEOS_API void rheos_cancellation_free(rheos_cancellation *cancellation);  // no run may use it
RHEOS_API void rheos_cancel(rheos_cancellation *cancellation);             // async-signal-safe

// What runs did, op by op; written by the functions of trace.h. A trace may be given to any number
// of runs, one after the other.
typedef struct rheos_trace rheos_trace;
enum {
  RHEOS_TRACE_STEPS = 1,             // when each op began and ended, shapes, memory
  RHEOS_TRACE_PARTITION_GRAPHS = 2,  // the graph as it was run
};
RHEOS_API rheos_trace *rheos_trace_new(uint32_t what);  // NULL when memory is short
RHEOS_API void rheos_trace_free(rheos_trace *trace);
RHEOS_API void rheos_trace_clear(rheos_trace *trace);  // forgets the runs, keeps the memory

typedef struct rheos_run_options {
  int64_t timeout_ms RHEOS_LEFT_OUT;  // 0: none. Afterwards the run fails: RHEOS_DEADLINE_EXCEEDED
  rheos_cancellation *cancellation
      RHEOS_LEFT_OUT;  // may be NULL. A cancelled run fails: RHEOS_CANCELLED
  // Called about every 10 ms from the thread that runs; returning true cancels the step.
  bool (*should_stop)(void *argument) RHEOS_LEFT_OUT;
  void *should_stop_argument RHEOS_LEFT_OUT;
  rheos_trace *trace RHEOS_LEFT_OUT;  // may be NULL. What the run does is added to it
} rheos_run_options;

// Runs what the fetches and targets need, with the feeds in place of the outputs they name, and
// sets the values of `fetches`. A failed run leaves session and graph usable.
RHEOS_MUST_USE static inline rheos_status *rheos_session_run(
    rheos_session *session, const rheos_feed *feeds, size_t num_feeds, rheos_fetch *fetches,
    size_t num_fetches, const rheos_operation *targets, size_t num_targets,
    const rheos_run_options *options);

// A tensor by a name. Who owns it, the function says.
typedef struct rheos_named_tensor {
  const char *name;
  rheos_tensor *value;  // NULL: none
} rheos_named_tensor;

// As rheos_session_run(), by names as the graph has them: "x:0", or "x" for its first output.
// Values of `feeds` are borrowed; those of `fetches` are set, and the caller's, or NULL after a
// failure. RHEOS_NOT_FOUND or RHEOS_INVALID_ARGUMENT for a name that the graph does not have.
// `options` may be NULL.
RHEOS_MUST_USE static inline rheos_status *rheos_session_run_named(
    rheos_session *session, const rheos_named_tensor *feeds, size_t num_feeds,
    rheos_named_tensor *fetches, size_t num_fetches, const rheos_run_options *options);

// ---- Steps in parts

// A step whose feeds and fetches are named now and given later, in several calls of
// rheos_session_partial_run(): what is computed in one is there for the next ones, and no operation
// with an effect runs twice. Nothing runs yet. `*out_handle` is never 0. Any number of such steps
// may be open; closing the session ends them.
RHEOS_STATUS rheos_session_partial_setup(rheos_session *session, const rheos_output *feeds,
                                         size_t num_feeds, const rheos_output *fetches,
                                         size_t num_fetches, const rheos_operation *targets,
                                         size_t num_targets, int64_t *out_handle);

// The next part: feeds some of what was named, and computes some of the fetches, as
// rheos_session_run() does. Targets run in the first part that has all they need. Each tensor is
// fed once and fetched in one part. RHEOS_INVALID_ARGUMENT for another handle, a tensor that was
// not named or was there before, a fetch that needs what is not fed yet: then the step is as
// before. A part that fails while it runs ends the step, and so does the last feed and fetch.
RHEOS_MUST_USE static inline rheos_status *rheos_session_partial_run(
    rheos_session *session, int64_t handle, const rheos_feed *feeds, size_t num_feeds,
    rheos_fetch *fetches, size_t num_fetches, const rheos_run_options *options);

// Ends the step early, which frees what it kept. No handle of an open step: nothing happens.
RHEOS_API void rheos_session_partial_end(rheos_session *session, int64_t handle);

// ---- Callables: a signature resolved once, for many runs

typedef struct rheos_callable rheos_callable;

RHEOS_STATUS rheos_callable_new(rheos_session *session, const rheos_output *feeds, size_t num_feeds,
                                const rheos_output *fetches, size_t num_fetches,
                                const rheos_operation *targets, size_t num_targets,
                                rheos_callable **out_callable);
// Free callables before their session.
RHEOS_API void rheos_callable_free(rheos_callable *callable);

// `values` are in the order of the feeds, `out_values` in the order of the fetches (owned by the
// caller; NULL after a failure). May be called from any number of threads. `options` may be NULL.
RHEOS_MUST_USE static inline rheos_status *rheos_callable_run(rheos_callable *callable,
                                                              rheos_tensor *const *values,
                                                              rheos_tensor **out_values,
                                                              const rheos_run_options *options);

// Binds the callable to tensors: `values` for the feeds, `results` for the fetches, all counted.
// From then on rheos_callable_run_bound() reads the bytes that `values` have at that time and
// writes the fetches into `results`, whose dtypes and shapes have to be right; what the step
// computes itself then needs no memory that is not there already. A result may be one of the
// values: the next run goes on from it. Nobody else may hold a result (a variable, another
// session). Binding again lets go of the tensors bound before.
RHEOS_STATUS rheos_callable_bind(rheos_callable *callable, rheos_tensor *const *values,
                                 rheos_tensor *const *results);
// Not from two threads at once. After a failure the bytes of the results may be anything.
RHEOS_MUST_USE static inline rheos_status *rheos_callable_run_bound(
    rheos_callable *callable, const rheos_run_options *options);

// ---- Looking at plans

// What a step would run for feeds of these known shapes, planned and not run, as text for people:
// entries, values with the place of their bytes, instructions, memory, then the bodies that it
// calls. The caller frees it by rheos_free(). RHEOS_INVALID_ARGUMENT for a shape that is not known
// or does not fit.
RHEOS_STATUS rheos_session_plan_text(rheos_session *session, const rheos_output *feeds,
                                     const rheos_shape *shapes, size_t num_feeds,
                                     const rheos_output *fetches, size_t num_fetches,
                                     const rheos_operation *targets, size_t num_targets,
                                     char **out_text);
// What rheos_session_plan_text() tells, as JSON: one object. Its members are those that rheos(1)
// has of `show --plan --json`: "entries", "waited_together", "fetches", "on_tokens", "segments",
// "bodies". Members may be added.
RHEOS_STATUS rheos_session_plan_json(rheos_session *session, const rheos_output *feeds,
                                     const rheos_shape *shapes, size_t num_feeds,
                                     const rheos_output *fetches, size_t num_fetches,
                                     const rheos_operation *targets, size_t num_targets,
                                     char **out_text);

// What memory a step would need, planned and not run, as text for people: bytes of intermediate
// values, of what kernels make and of the results, the largest values with the lines of the program
// that made them, then the bodies that the step calls.
RHEOS_STATUS rheos_session_memory_text(rheos_session *session, const rheos_output *feeds,
                                       const rheos_shape *shapes, size_t num_feeds,
                                       const rheos_output *fetches, size_t num_fetches,
                                       const rheos_operation *targets, size_t num_targets,
                                       char **out_text);
// What rheos_session_memory_text() tells, as JSON: one object. Its members are those that rheos(1)
// has of `show --memory --json`: "peak_bytes", ..., "largest", "bodies". Members may be added.
RHEOS_STATUS rheos_session_memory_json(rheos_session *session, const rheos_output *feeds,
                                       const rheos_shape *shapes, size_t num_feeds,
                                       const rheos_output *fetches, size_t num_fetches,
                                       const rheos_operation *targets, size_t num_targets,
                                       char **out_text);

// How much planning a session has done: for tests and profiles.
typedef struct rheos_session_stats {
  int64_t num_plans;            // signatures planned
  int64_t num_specializations;  // shapes prepared
  int64_t num_runs;
  int64_t arena_bytes;       // intermediates of the plans that are cached
  int64_t num_instructions;  // kernels and reads of the plans that are cached
} rheos_session_stats;
static inline void rheos_session_get_stats(const rheos_session *session,
                                           rheos_session_stats *out_stats);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_STATUS rheos_session_new_sized(rheos_graph *graph, const rheos_session_options *options,
                                     size_t options_bytes, rheos_session **out_session);
RHEOS_MUST_USE static inline rheos_status *rheos_session_new(rheos_graph *graph,
                                                             const rheos_session_options *options,
                                                             rheos_session **out_session) {
  return rheos_session_new_sized(graph, options, sizeof *options, out_session);
}

RHEOS_STATUS rheos_session_run_sized(rheos_session *session, const rheos_feed *feeds,
                                     size_t num_feeds, rheos_fetch *fetches, size_t num_fetches,
                                     const rheos_operation *targets, size_t num_targets,
                                     const rheos_run_options *options, size_t options_bytes);
RHEOS_MUST_USE static inline rheos_status *rheos_session_run(
    rheos_session *session, const rheos_feed *feeds, size_t num_feeds, rheos_fetch *fetches,
    size_t num_fetches, const rheos_operation *targets, size_t num_targets,
    const rheos_run_options *options) {
  return rheos_session_run_sized(session, feeds, num_feeds, fetches, num_fetches, targets,
                                 num_targets, options, sizeof *options);
}

RHEOS_STATUS rheos_session_run_named_sized(rheos_session *session, const rheos_named_tensor *feeds,
                                           size_t num_feeds, rheos_named_tensor *fetches,
                                           size_t num_fetches, const rheos_run_options *options,
                                           size_t options_bytes);
RHEOS_MUST_USE static inline rheos_status *rheos_session_run_named(
    rheos_session *session, const rheos_named_tensor *feeds, size_t num_feeds,
    rheos_named_tensor *fetches, size_t num_fetches, const rheos_run_options *options) {
  return rheos_session_run_named_sized(session, feeds, num_feeds, fetches, num_fetches, options,
                                       sizeof *options);
}

RHEOS_STATUS rheos_session_partial_run_sized(rheos_session *session, int64_t handle,
                                             const rheos_feed *feeds, size_t num_feeds,
                                             rheos_fetch *fetches, size_t num_fetches,
                                             const rheos_run_options *options,
                                             size_t options_bytes);
RHEOS_MUST_USE static inline rheos_status *rheos_session_partial_run(
    rheos_session *session, int64_t handle, const rheos_feed *feeds, size_t num_feeds,
    rheos_fetch *fetches, size_t num_fetches, const rheos_run_options *options) {
  return rheos_session_partial_run_sized(session, handle, feeds, num_feeds, fetches, num_fetches,
                                         options, sizeof *options);
}

RHEOS_STATUS rheos_callable_run_sized(rheos_callable *callable, rheos_tensor *const *values,
                                      rheos_tensor **out_values, const rheos_run_options *options,
                                      size_t options_bytes);
RHEOS_MUST_USE static inline rheos_status *rheos_callable_run(rheos_callable *callable,
                                                              rheos_tensor *const *values,
                                                              rheos_tensor **out_values,
                                                              const rheos_run_options *options) {
  return rheos_callable_run_sized(callable, values, out_values, options, sizeof *options);
}

RHEOS_STATUS rheos_callable_run_bound_sized(rheos_callable *callable,
                                            const rheos_run_options *options, size_t options_bytes);
RHEOS_MUST_USE static inline rheos_status *rheos_callable_run_bound(
    rheos_callable *callable, const rheos_run_options *options) {
  return rheos_callable_run_bound_sized(callable, options, sizeof *options);
}

RHEOS_API void rheos_session_get_stats_sized(const rheos_session *session,
                                             rheos_session_stats *out_stats, size_t stats_bytes);
static inline void rheos_session_get_stats(const rheos_session *session,
                                           rheos_session_stats *out_stats) {
  rheos_session_get_stats_sized(session, out_stats, sizeof *out_stats);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_SESSION_H
