// Watches: a session tells of the values of operations while its steps run, an eager context of
// what runs at once. The graph is not changed, and what is computed has the same bits; what nobody
// watches costs nothing more.
#ifndef RHEOS_WATCH_H
#define RHEOS_WATCH_H

#include <rheos/eager.h>
#include <rheos/session.h>
#include <rheos/statistics.h>

#ifdef __cplusplus
extern "C" {
#endif

// What is told of a value.
typedef enum rheos_watch_what {
  RHEOS_WATCH_VALUES,      // the tensor
  RHEOS_WATCH_STATISTICS,  // its numbers
  // Of each step the first operation that made a NaN of numbers that were none, or that took one
  // that was fed or came from what is not watched; and what it took.
  RHEOS_WATCH_FIRST_NAN,
  RHEOS_WATCH_NOT_FINITE,  // the numbers of each value that has a NaN or an infinity
  RHEOS_WATCH_HISTOGRAM,   // its numbers, and how they are spread
} rheos_watch_what;

typedef struct rheos_seen_input {
  rheos_output output;                 // that the operation took
  const rheos_statistics *statistics;  // NULL: it has no numbers, or is not watched
} rheos_seen_input;

// A value that a step computed, for as long as the function runs.
typedef struct rheos_seen {
  rheos_output output;  // of the graph, or of a function's body
  const char *name;     // of the output: "outer/c:0"
  const char *place;  // "": the session's graph; else the calls and loops that it is in, each with
                      // the number of its trip, 0 of what is no loop: "while;3;body/call;0"
  int64_t step;       // among the session's watched ones, from 0 on
  rheos_tensor *value;  // NULL unless values are watched; the caller may keep a reference
  const rheos_statistics *statistics;  // NULL where values are watched, or have no numbers
  const rheos_seen_input *inputs;      // of the first NaN; else none
  size_t num_inputs;
  rheos_dtype dtype;
  const rheos_shape *shape;
  const rheos_histogram *histogram;  // NULL unless histograms are watched, and it has numbers
} rheos_seen;

// Is told of values in the order in which the step computes them, by one thread at a time. An error
// ends the step and is the operation's.
typedef rheos_status *(*rheos_watch_function)(void *argument, const rheos_seen *seen);

typedef struct rheos_watch_options {
  // Names of operations, of the graph and of its functions: "*" stands for any letters, "?" for
  // one; several with "," in between. NULL: all.
  const char *names RHEOS_LEFT_OUT;
  rheos_watch_what what RHEOS_LEFT_OUT;
  rheos_watch_function seen RHEOS_LEFT_OUT;  // must be given
  void *argument RHEOS_LEFT_OUT;
} rheos_watch_options;

typedef struct rheos_watch rheos_watch;

// From the next step on, tells of what it computes of the outputs of these operations; nothing runs
// for being watched, and what a step does not need is not told. Operations that come later count.
// RHEOS_NOT_FOUND with names that are near where there is no such operation, RHEOS_UNIMPLEMENTED
// for a session on a server.
RHEOS_MUST_USE static inline rheos_status *rheos_session_watch(rheos_session *session,
                                                               const rheos_watch_options *options,
                                                               rheos_watch **out_watch);
// From now on, tells of what operations give that run at once, and of what functions compute that
// they call: branches, loops and gradients too. Each operation that the program runs is a step; its
// own values have the name of its type ("MatMul:0"), those of functions the name in the function.
// RHEOS_WATCH_FIRST_NAN tells of a NaN that an operation without functions was given, or read, only
// if the watch has told of none before. Nothing is told of what a watch's own function runs.
//
// Watches of both kinds tell of the functions of datasets too, whoever made these: each call is a
// step, and its place begins with the function's name; it may be told of by another thread, ahead
// of the step that asks for the element.
RHEOS_MUST_USE static inline rheos_status *rheos_eager_watch(rheos_eager *eager,
                                                             const rheos_watch_options *options,
                                                             rheos_watch **out_watch);
// Ends it, and frees the handle: nothing is told when this has returned. Before or after its
// session or context.
RHEOS_API void rheos_watch_free(rheos_watch *watch);

// Whether anything was met so far that it names: where an eager context is watched, names may be of
// functions that come later.
RHEOS_API bool rheos_watch_has_matched(const rheos_watch *watch);

// ---- What the functions above call

RHEOS_STATUS rheos_session_watch_sized(rheos_session *session, const rheos_watch_options *options,
                                       size_t options_bytes, rheos_watch **out_watch);
RHEOS_MUST_USE static inline rheos_status *rheos_session_watch(rheos_session *session,
                                                               const rheos_watch_options *options,
                                                               rheos_watch **out_watch) {
  return rheos_session_watch_sized(session, options, sizeof *options, out_watch);
}

RHEOS_STATUS rheos_eager_watch_sized(rheos_eager *eager, const rheos_watch_options *options,
                                     size_t options_bytes, rheos_watch **out_watch);
RHEOS_MUST_USE static inline rheos_status *rheos_eager_watch(rheos_eager *eager,
                                                             const rheos_watch_options *options,
                                                             rheos_watch **out_watch) {
  return rheos_eager_watch_sized(eager, options, sizeof *options, out_watch);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_WATCH_H
