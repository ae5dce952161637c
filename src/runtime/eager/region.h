// What runs at once: regions of graphs, each with a plan and the calls of it that are idle, and
// what they have in common. A region of one operation is what eager execution keeps for it; the
// gradient of a region is another region of the same graph, so that it can be run, remembered and
// differentiated in turn.
#ifndef RHEOS_SRC_RUNTIME_EAGER_REGION_H
#define RHEOS_SRC_RUNTIME_EAGER_REGION_H

#include <rheos/eager.h>

#include "runtime/call/watched_calls.h"
#include "runtime/run/executor.h"
#include "runtime/step/home.h"
#include "runtime/step/watch_list.h"

typedef struct rheos__op_cache rheos__op_cache;  // eager.c

struct rheos_eager {
  _Atomic int32_t references;  // the program's, and one of each region and tape
  rheos__home home;            // closed when the program frees it
  rheos_graph *graph;
  rheos_gradient_function gradient_function;
  void *gradient_argument;
  rheos__op_cache *ops;
  rheos__watch_list *watches;
  struct rheos__leaving *leaving;   // functions that go when nothing recorded calls them: eager.c
  size_t num_leaving, max_leaving;  // of these, and how many are too many
  pthread_mutex_t mutex;            // of the tapes
  rheos_tape *tapes;                // that record
  _Atomic int32_t num_tapes;        // of these
};

rheos_eager *rheos__eager_ref(rheos_eager *eager);
void rheos__eager_unref(rheos_eager *eager);

// A call of a region's plan. Where regions take cells there is one for each set of cells, so that
// it always finds the way it went before.
typedef struct rheos__region_call {
  rheos__call call;
  struct rheos__region_call *next;
  uint64_t cells_hash;
} rheos__region_call;

enum { RHEOS__REGION_BUCKETS = 64 };

// Which of a region's inputs or outputs an input of its gradient is, or which output's gradient.
typedef enum rheos__backward_source {
  RHEOS__BACKWARD_INPUT,
  RHEOS__BACKWARD_OUTPUT,
  RHEOS__BACKWARD_GRADIENT,
} rheos__backward_source;

typedef struct rheos__backward_input {
  rheos__backward_source source;
  int32_t index;
} rheos__backward_input;

// The gradient with respect to some inputs for gradients of some outputs.
typedef struct rheos__region_gradient {
  struct rheos__region_gradient *next;
  bool *mask;                     // by output: a gradient arrives; then by input: one is wanted
  rheos_region *region;           // NULL: none flows
  rheos__backward_input *inputs;  // of that region
  struct {
    int32_t first, count;  // among its outputs: nothing, a dense gradient, a sparse one
  } *grads;                // by input of what is differentiated
} rheos__region_gradient;

// What a region asks of an input, beside the rest of its shape, which the graph knows.
typedef struct rheos__region_input {
  rheos_dtype dtype;
  bool scalars_fit;
} rheos__region_input;

struct rheos_region {
  _Atomic int32_t references;
  rheos_eager *eager;
  rheos_graph *graph;
  rheos__edge *feeds, *fetches;
  int32_t *targets;
  int32_t num_feeds, num_fetches, num_targets;
  rheos__region_input *inputs;  // by feed
  bool takes_cells;             // one of the feeds is a handle
  bool reads_variable;          // it is the operation that does that, and nothing else
  bool assigns_variable;        // likewise
  bool may_sleep;               // in its run; what that takes is not known
  bool extends;  // its gradients make the operation give more than it does: it calls functions
  _Atomic bool has_no_gradient;  // what it calls has an operation without one: it runs as it is
  int32_t node;                  // the operation that it is; -1: no single one
  rheos_region *watches;  // borrowed: the region that this one watches; NULL: it is not watched
  rheos__bodies *watched_bodies;  // of one that watches what functions compute; else NULL
  _Atomic int64_t cost_ns;
  _Atomic(rheos__region_call *) idle;  // of a region without cells: the one that ran last
  pthread_mutex_t mutex;               // guards what follows
  rheos__plan *plan;                   // made when it first runs
  rheos__resources *state;             // what the operation keeps under its name; NULL: nothing
  rheos__region_call *calls;           // idle too
  rheos__region_call **buckets;        // of a region with cells, by their hash; NULL until one is
  int32_t num_bucketed;
  rheos__region_gradient *gradients;
  rheos_region
      *recorded;  // what runs in its place when a tape remembers it; it gives more. NULL: itself
  rheos_region *watched;          // what runs in its place while it is watched; NULL: itself
  rheos__watch_set *watched_set;  // of that region: its plan watches equal ones
  int64_t watched_version;        // of the watches when these two were found; 0: never
};

// A region of edges, whose arrays are copied. `graph` gets a reference.
rheos_status *rheos__region_new(rheos_eager *eager, rheos_graph *graph, const rheos__edge *feeds,
                                int32_t num_feeds, const rheos__edge *fetches, int32_t num_fetches,
                                const int32_t *targets, int32_t num_targets,
                                rheos_region **out_region);
// Runs it without a look at tapes.
rheos_status *rheos__region_run_alone(rheos_region *region, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs, const rheos_run_options *options);

// Without a look at watches. `observer` may be NULL.
rheos_status *rheos__region_run_observed(rheos_region *region, rheos_tensor *const *inputs,
                                         rheos_tensor **outputs, const rheos_run_options *options,
                                         const rheos__observer *observer);

// ---- Watches (region_watch.c)

// While watches are on: as rheos__region_run_alone(), and they are told.
rheos_status *rheos__region_run_watched(rheos_region *region, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs, const rheos_run_options *options);
// What the plan of a region that watches another one is made with.
void rheos__region_watch_context(const rheos_region *region, rheos__plan_context *context);
// Lets go of what it has for that; its plan has gone.
void rheos__region_watch_deinit(rheos_region *region);

// ----

rheos_dtype rheos__region_input_dtype(const rheos_region *region, int32_t index);
rheos_dtype rheos__region_output_dtype(const rheos_region *region, int32_t index);

// Whether others than its one owner hold on to the region, or to one that belongs to it.
bool rheos__region_is_shared(rheos_region *region);

// The region's gradient; made if there is none for the mask yet. Borrowed from the region.
rheos_status *rheos__gradient_of_region(rheos_region *region, const bool *mask,
                                        const rheos__region_gradient **out_gradient);
// The region that gives what gradients need too: the first outputs are the region's own. Borrowed.
rheos_status *rheos__region_recorded(rheos_region *region, rheos_region **out_recorded);

static inline bool rheos__is_differentiable(rheos_dtype dtype) {
  return rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype) ||
         dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT;
}

// ---- Handles outside of a step (handle.c)

// A handle that holds on to a cell. Takes the reference, on failure too.
rheos_status *rheos__cell_handle_take(rheos__resource *cell, rheos_tensor **out_handle);
// The cell that a handle stands for; NULL if it stands for something else.
rheos__resource *rheos__cell_of(const rheos_tensor *handle);

// A tensor that nobody else has: the one given, or another one over the same bytes. Takes the
// reference.
rheos_status *rheos__own_tensor_take(rheos_tensor *tensor, rheos_tensor **out_tensor);

// ---- Tapes (tape.c)

// Whether a tape that records on this thread watches one of the inputs.
bool rheos__tapes_want(rheos_eager *eager, rheos_tensor *const *inputs, int32_t num_inputs);
// Tells those tapes. `num_more` outputs behind the others belong to the tapes alone.
rheos_status *rheos__tapes_remember(rheos_region *region, rheos_tensor *const *inputs,
                                    rheos_tensor *const *outputs);

#endif  // RHEOS_SRC_RUNTIME_EAGER_REGION_H
