// What a kernel calls: functions of the graph's library (library.h), each with plans of its own
// that all calls with the same shapes share. Defined by the runtime.
#ifndef RHEOS_SRC_GRAPH_CALLS_H
#define RHEOS_SRC_GRAPH_CALLS_H

#include "graph/library.h"
#include "graph/op_def.h"

// What a body is given, by argument.
typedef struct rheos__parameters {
  rheos_tensor *const *tensors;   // NULL where an argument is a cell
  rheos__resource *const *cells;  // what is behind references and handles; NULL: no argument is one
  // Tensors whose reference goes to the run, even if it fails: nobody else holds them, so results
  // may be written over them. NULL: none.
  const bool *given;
  bool any_memory;  // results may lie in any memory; else they are brought to the host's
} rheos__parameters;

// A place that calls a function; made by `prepare`, for any number of steps at once.
typedef struct rheos__site rheos__site;

// One call under way. Kept by the site from call to call, so that with the same shapes and cells it
// takes neither a lock nor memory. For one thread at a time.
typedef struct rheos__site_call rheos__site_call;

// What a site takes and gives.
typedef struct rheos__site_types {
  const rheos_dtype *args, *results;
  int32_t num_args, num_results;
} rheos__site_types;

// What the function takes and gives, in lists for rheos__free().
rheos_status *rheos__site_types_of(const rheos__prepare *p, const rheos_func *func,
                                   rheos_dtype **out_args, int32_t *out_num_args,
                                   rheos_dtype **out_results, int32_t *out_num_results);

// A part of a graph that a plan calls as a body: it belongs to that plan.
typedef struct rheos__graph_part {
  const char *role;  // "cond", "body", "then_branch", "else_branch": as the functions of a While,
                     // an If; "stretch"
  rheos__function function;  // of the plan's own graph; it has no name
  const int32_t *done;       // nodes that the body waits for and that ran before
  int32_t num_done;
  int32_t node;   // of the loop or conditional, as errors name it; -1: they do not
  int32_t depth;  // of parts in each other, 1 for those of a plan that is none
  rheos__resources *node_resources;  // the plan's
  struct body *body;                 // the runtime's; NULL until the part is called
} rheos__graph_part;

// What of the ops inside of a structure holds for it.
enum { RHEOS__RAISED_EFFECTS = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_ASSERTS };

typedef enum rheos__structure_kind {
  RHEOS__CONDITIONAL,
  RHEOS__LOOP,
  RHEOS__STRETCH,
} rheos__structure_kind;

// A loop or conditional of version 1 that was raised, or a stretch between waits:
// plan/raise/raise.h.
struct rheos__structure {
  rheos__structure *next;
  rheos__structure_kind kind;
  int32_t num_variables;     // of a loop: its first inputs, which are also the results of its body
  const int32_t *variables;  // of a loop, by output: the variable that it is
  rheos__graph_part parts[2];  // of a loop its condition and its body; of a conditional the false
                               // side, the true side
  int32_t num_parts;
  int32_t node;               // whose name errors have
  const rheos__edge *inputs;  // of a conditional first the predicate
  const rheos__edge *outputs;
  const int32_t *waits;  // nodes
  int32_t num_inputs, num_outputs, num_waits;
  unsigned effects;  // flags of the ops inside: those of RHEOS__RAISED_EFFECTS
};

rheos_status *rheos__site_new_of_part(const rheos__prepare *p, rheos__graph_part *part,
                                      rheos__site **out_site);
// The plan that it belongs to goes, and has no sites any more.
void rheos__graph_part_forget(rheos__bodies *bodies, rheos__graph_part *part);

// RHEOS_NOT_FOUND if the library has no such function, RHEOS_INVALID_ARGUMENT if it takes or gives
// something else.
rheos_status *rheos__site_new(const rheos__prepare *p, const rheos_func *func,
                              const rheos__site_types *types, rheos__site **out_site);
// As rheos__site_new(), for the function's gradient: rheos__symbolic_gradient().
rheos_status *rheos__site_new_of_gradient(const rheos__prepare *p, const rheos_func *func,
                                          const rheos__site_types *types, rheos__site **out_site);
void rheos__site_free(rheos__site *site);

// The bodies of the same functions whose nodes are on that device where they ask for none and it
// has a better kernel than a CPU. They go with `bodies`; these themselves where memory is short.
rheos__bodies *rheos__bodies_on(rheos__bodies *bodies, const char *device);

// What the results will be for arguments of these shapes and cells (an element NULL where an
// argument is none): shapes, unknown where only a run tells, and the cells behind those that are
// handles.
void rheos__site_infer(rheos__site *site, const rheos__prepare *p, const rheos_shape *shapes,
                       rheos__resource *const *cells, rheos_shape *out_shapes,
                       rheos__resource **out_cells);

rheos_status *rheos__site_enter(rheos__site *site, rheos__step *step, rheos__site_call **out_call);
// Runs the body in the step. `values` by result: NULL for a handle. Tensors that they hold before
// are taken: a result of the same dtype and shape is computed there if nobody else holds the
// tensor. After a failure they are NULL.
rheos_status *rheos__site_call_run(rheos__site_call *call, const rheos__parameters *parameters,
                                   rheos__step *step, rheos_tensor **values);
void rheos__site_leave(rheos__site *site, rheos__site_call *call);
// The whole call of a dataset's function, where somebody watches something of it; otherwise nothing
// is done, and it says so.
rheos_status *rheos__site_call_watched(rheos__site *site, const rheos__parameters *parameters,
                                       rheos__step *step, rheos_tensor **results,
                                       bool *out_is_watched);

// Whether values may lie in different memories in the body.
bool rheos__site_call_is_mixed(const rheos__site_call *call);
// An argument of a loop of such a body, brought to where the body takes it, or the condition where
// only that does, so that it is not moved in each trip; NULL where it is good as it is. `condition`
// may be NULL.
rheos_status *rheos__loop_bring(const rheos__site_call *condition, const rheos__site_call *body,
                                int32_t argument, rheos_tensor *tensor, rheos_tensor **out_brought);

// What functions that draw random numbers keep for one who calls them in its own right, such as an
// iterator: for each the generators begin anew. Counted; for any thread.
typedef struct rheos__call_states rheos__call_states;
rheos__call_states *rheos__call_states_new(void);  // NULL when memory is short
rheos__call_states *rheos__call_states_ref(rheos__call_states *states);
void rheos__call_states_unref(rheos__call_states *states);  // NULL: nothing
// A site of the same function that goes by these states and lives as long as they; the site itself
// if they are NULL. All sites of the function have the same one.
rheos_status *rheos__site_for(rheos__site *site, rheos__call_states *states,
                              rheos__site **out_site);
// The states of what the step is going over now, borrowed; NULL: of nothing. Setting gives the ones
// before.
rheos__call_states *rheos__step_states(const rheos__step *step);
rheos__call_states *rheos__step_set_states(rheos__step *step, rheos__call_states *states);

// A loop between two trips: what it has of each variable. `variables` are all arguments of both;
// those behind the body's results stay.
typedef struct rheos__trips {
  rheos__site_call *condition, *body;
  rheos_tensor **variables;
  rheos__resource *const *cells;  // of arguments; NULL: none is one
  int32_t count, num_variables;
  bool *given;            // nobody else holds it: the body may write over it
  bool *owned;            // the loop has a reference
  const bool *has_two;    // its results go to the other of two tensors
  rheos_tensor **spares;  // which is here; or NULL
  uint8_t *kinds;         // room
  rheos_tensor **holds;   // what the condition gave
} rheos__trips;

// Checks the condition and takes a trip, at most `most` times, as long as each is like the one
// before: none where they are not as simple. `*out_ended`: the condition did not hold.
rheos_status *rheos__trips_run(const rheos__trips *trips, rheos__step *step, int64_t most,
                               int64_t *out_count, bool *out_ended);

#endif  // RHEOS_SRC_GRAPH_CALLS_H
