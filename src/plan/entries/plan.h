// Plans: what a session keeps for one signature (feeds, fetches, targets).
//
// A plan has two levels. The plan itself does not depend on shapes: which nodes are needed, in
// which order, which value each input is. Under it hang segments: for given shapes, the
// instructions with prepared kernels and the place of every intermediate. A graph whose shapes all
// follow from those of the feeds is one segment; where an op's output shape depends on values,
// whatever needs that shape ends the segment, and what follows is specialised once it is known. So
// the segments of a plan form a tree keyed by shapes, and a shape seen before costs a comparison.
//
// Order. Every node has a level: the number of writes to variables it must wait for. Within a
// level, nodes that change variables come last. So a read that is not ordered after a write happens
// before it, always: `run([loss, train_op])` gives the loss before the update. Reading a variable
// happens when the consumer needs the value: control dependencies on an assignment are honoured
// even through the read node that was made with the variable. A variable that is itself fetched is
// read at the end.
#ifndef RHEOS_SRC_PLAN_ENTRIES_PLAN_H
#define RHEOS_SRC_PLAN_ENTRIES_PLAN_H

#include <pthread.h>

#include <rheos/session.h>

#include "device/device.h"
#include "graph/graph.h"
#include "plan/entries/inline.h"
#include "plan/entries/watch.h"

typedef enum rheos__entry_kind {
  RHEOS__ENTRY_NODE,
  RHEOS__ENTRY_READ,     // the value behind a reference, output `read_index` of node `id`
  RHEOS__ENTRY_COPY,     // the same value in the memory of another device: copies.h
  RHEOS__ENTRY_BRING,    // a value of whatever memory in that of its device: copies.h
  RHEOS__ENTRY_WATCH,    // delivers what it takes, watch number `read_index` of node `id`: watch.h
  RHEOS__ENTRY_DROPPED,  // only while the plan is rewritten
} rheos__entry_kind;

typedef struct rheos__entry {
  // What is run: the node's own, unless a rule has put another op in its place (rewrite.h).
  const rheos__signature *signature;
  const rheos__attrs *attrs;
  int32_t id;     // the node that it stands for, for rheos__plan_node(): name, source line, errors
  int32_t level;  // the number of writes that it waits for, one after another
  uint8_t kind;
  bool has_effects;  // in plan->effects
  bool only_reads;   // a call of a function that only reads, whatever its op may do
  bool may_wait;     // it, or what it calls, may have to wait; on tokens also for the program's
                     // functions
  int16_t device;    // in the context's list
  int16_t kept_on;   // of what keeps tensors: in whose memory; 0: in whatever memory they come
  uint16_t rule;     // one more than the rule's number that made it what it is; 0: as in the graph
  int32_t read_index;
  int32_t first_operand;  // in plan->operands
  int32_t num_inputs;
  int32_t first_value;  // of its outputs
  int32_t num_outputs;
  int32_t first_wait;  // in plan->waits: whom it waits for beside its operands
  int32_t num_waits;
  rheos__structure *structure;  // that was raised: raise.h; NULL
} rheos__entry;

// What an entry does besides computing its outputs from its inputs' bytes. Two entries whose
// effects are not all reads keep their order if they meet in one cell; where a cell is not known,
// it may be any.
typedef enum rheos__effect_kind {
  RHEOS__EFFECT_READS,   // looks at what is behind a reference or handle
  RHEOS__EFFECT_WRITES,  // changes it
  RHEOS__EFFECT_STATE,   // has state, or an effect outside, that no operand stands for
} rheos__effect_kind;

typedef struct rheos__effect {
  int32_t entry;  // whose it is
  int32_t value;  // the reference or handle, as its source gave it; -1: none
  uint8_t kind;
} rheos__effect;

// Several entries that others wait for together: the place of what was dropped.
typedef struct rheos__join {
  int32_t first_wait, num_waits;  // in plan->waits
} rheos__join;

// What a plan needs to know of the session it belongs to.
typedef struct rheos__plan_context {
  rheos__resources *resources;
  rheos__resources *node_resources;     // for what nodes keep under their names; NULL: `resources`
  rheos__packings *packings;            // of operands; NULL: none are kept
  const rheos__device *const *devices;  // the first is a CPU; they and the list outlive the plan
  int32_t num_devices;
  bool allow_soft_placement, log_device_placement;
  bool prefers_cards;  // what asks for no device goes to one that would rather have it
  bool any_memory;     // the plan takes and gives values in whatever memory they lie, as bodies do
  const char *default_device;  // what nodes that ask for none are on, if better there; NULL: any
  rheos_program_function program_function;  // what PyFunc calls, with its argument; may be NULL
  void *program_argument;
  bool leaves_functions;  // as the session's options say
  rheos__bodies *bodies;  // of the functions that kernels call; NULL: none can be called
  rheos_rewrite_options rewrites;
  int32_t num_threads;  // that ops may run on side by side; 0 or 1: one after the other
  // Nodes that ran before, in another part of the step: nobody waits for them, and a reference that
  // one of them gives is the one it takes. Other outputs of theirs are fed. Looked at while the
  // plan is made.
  const int32_t *done;
  int32_t num_done;
  int32_t depth;     // of the part that the plan is of, in others; 0: it is of none
  const char *body;  // the function or the part's role that the plan is of; NULL: it is of none
  rheos__watches *watches;  // edges that are watched; NULL: none is. Plans count them
} rheos__plan_context;

// The home of a value that may lie in any memory.
enum { RHEOS__ANYWHERE = -1 };

typedef struct rheos__segment rheos__segment;
typedef struct rheos__workspace rheos__workspace;
typedef struct rheos__flow rheos__flow;  // flow.h

struct rheos__plan {
  rheos_graph *graph;   // counted
  int64_t num_changes;  // when the plan was made: see rheos__plan_is_current()
  rheos__plan_context context;
  rheos__edge *feeds, *fetches;
  int32_t num_feeds, num_fetches;
  struct rheos__sorted_feed *sorted_feeds;  // where they are many
  int32_t *fetch_values;
  rheos__entry *entries;
  int32_t num_entries;
  int32_t *operands;        // values
  int32_t num_values;       // feeds first, then the outputs of the entries in order
  rheos__inlined *inlined;  // calls whose bodies are in the plan
  rheos__edge
      *origins;        // of each value: the output in the graph, or in an inlined body, that it is
  uint8_t *dtypes;     // of each value; may be a reference
  int32_t *last_uses;  // of each value: the last entry that takes it; INT32_MAX: fetched
  int32_t *waits;      // entries; or, below 0, the complement of a join's number
  rheos__join *joins;  // each waits for joins before it only
  rheos__effect *effects;  // in the order of the entries
  int32_t num_waits, num_joins, num_effects;
  int64_t num_rewrite_steps;  // what the rewriter went over, which grows as the plan does
  int32_t max_operands;
  bool may_wait;        // one of the entries may have to
  bool calls_program;   // one of them, or a function that it calls, calls functions of the program
  bool is_mixed;        // values may lie in different memories
  bool runs_elsewhere;  // entries run on devices with memories of their own
  // Of a mixed plan that takes values in any memory: by feed, the first device in whose memory it
  // is taken, or RHEOS__ANYWHERE. NULL: all are taken in the host's.
  int16_t *feed_homes;
  rheos__flow *flow;  // of version 1's control flow: it has no segments; NULL: it has none
  rheos__structure *structures;  // of version 1's control flow, raised: raise.h; in the arena
  rheos__arena arena;            // what rules have made
  // The rest is guarded by the mutex.
  pthread_mutex_t mutex;
  rheos__segment *roots;  // by the shapes of the feeds, latest first
  rheos__workspace *free_workspaces;
  int64_t num_specializations;
  int64_t clock;
};

// `fetches` and `feeds` are outputs, `targets` nodes of `graph`. All ids must exist.
rheos_status *rheos__plan_new(rheos_graph *graph, const rheos__plan_context *context,
                              const rheos__edge *feeds, int32_t num_feeds,
                              const rheos__edge *fetches, int32_t num_fetches,
                              const int32_t *targets, int32_t num_targets, rheos__plan **out_plan);
// NoOp and its like, whose place in the order is all there is to them. An op with inputs and no
// outputs, such as Unpack of none, still has shapes to check.
static inline bool rheos__is_nothing(const rheos__entry *entry) {
  return entry->num_outputs == 0 && entry->num_inputs == 0 &&
         (entry->signature->op->flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) == 0;
}

// The node of an id that an entry or an origin has: of the graph, or of an inlined body.
static inline const rheos__node *rheos__plan_node(const rheos__plan *plan, int32_t id) {
  return rheos__inlined_node(plan->inlined, plan->graph, id);
}
// The status with the node's name and source line.
static inline rheos_status *rheos__plan_status_at_take(rheos_status *status,
                                                       const rheos__plan *plan, int32_t id) {
  return status == NULL ? NULL
                        : rheos__inlined_status_at_take(status, plan->inlined, plan->graph, id);
}
// How many ids there are.
static inline int32_t rheos__plan_num_ids(const rheos__plan *plan) { return plan->inlined->end; }

// The node that whoever looks at the plan knows the entry by: the one whose outputs it gives. For a
// product that took in what follows it that is the last of them, as in TensorFlow's traces; `id` is
// the product's, for errors.
static inline int32_t rheos__entry_node(const rheos__plan *plan, const rheos__entry *entry) {
  const bool gives = entry->kind == RHEOS__ENTRY_NODE && entry->num_outputs > 0;
  return gives ? plan->origins[entry->first_value].id : entry->id;
}
static inline const rheos__device *rheos__entry_device(const rheos__plan *plan,
                                                       const rheos__entry *entry) {
  return plan->context.devices[entry->device];
}

// Whether calls run the plan, as the body of a function or of a part of a graph.
static inline bool rheos__plan_is_body(const rheos__plan *plan) {
  return plan->context.body != NULL;
}

// Whether the plan takes and gives values in whatever memory they lie.
static inline bool rheos__plan_hands_on(const rheos__plan *plan) {
  return plan->context.any_memory || rheos__plan_is_body(plan);
}

// The device of those nodes of a body that ask for none, and of bodies that they call: the one that
// the call asks for which node `id` is in, else that of the plan. NULL: none is said.
static inline const char *rheos__plan_default_device(const rheos__plan *plan, int32_t id) {
  const rheos__inlined_call *call;
  while ((call = rheos__inlined_call_of(plan->inlined, id)) != NULL) {
    id = call->id;
    const char *device = rheos__plan_node(plan, id)->device;
    if (device[0] != '\0') return device;
  }
  return plan->context.default_device;
}

// Where a feed is taken: a device, the first of the list for the host's memory, or RHEOS__ANYWHERE.
static inline int32_t rheos__feed_home(const rheos__plan *plan, int32_t feed) {
  return plan->feed_homes != NULL ? plan->feed_homes[feed] : 0;
}

// The number of the feed that stands in for an edge, or -1. Who waits for an operation with a fed
// output has nothing to wait for.
int32_t rheos__plan_feed_of(const rheos__plan *plan, rheos__edge edge);
// Sorts many feeds by their edges, so that one is found in few steps; false when memory is short.
bool rheos__plan_sort_feeds(rheos__plan *plan);

// The entry whose output the value is, -1 for a feed.
int32_t rheos__plan_producer(const rheos__plan *plan, int32_t value);

// Whether the entry changes what is behind its input 0.
static inline bool rheos__entry_writes(const rheos__entry *entry) {
  return entry->kind == RHEOS__ENTRY_NODE && !entry->only_reads &&
         (entry->signature->op->flags & RHEOS_OP_WRITES) != 0;
}

// Whether the entry gives the value that it takes in another memory.
static inline bool rheos__is_moved(const rheos__entry *entry) {
  return entry->kind == RHEOS__ENTRY_COPY || entry->kind == RHEOS__ENTRY_BRING;
}

// The level of what waits for the entry.
static inline int32_t rheos__level_behind(const rheos__entry *entry) {
  return entry->level + (rheos__entry_writes(entry) ? 1 : 0);
}

// By what entries are sorted: by level, within a level those that write last, and of these those
// that may have to wait.
enum { RHEOS__PLACES_OF_LEVEL = 3 };
static inline int32_t rheos__place_in_order(const rheos__entry *entry) {
  if (!rheos__entry_writes(entry)) return entry->level * RHEOS__PLACES_OF_LEVEL;
  return entry->level * RHEOS__PLACES_OF_LEVEL + (entry->may_wait ? 2 : 1);
}

// In builds with assertions, asserts what every pass leaves behind: operands and waits lie before
// who takes them, values are numbered in the order of their entries, levels are those that waits
// and effects ask for.
void rheos__plan_check(const rheos__plan *plan);

// Whether nothing that the plan looked at has changed since: existing nodes, and the variables
// whose values have the shapes that the graph says.
bool rheos__plan_is_current(const rheos__plan *plan);

// No run may be using it.
void rheos__plan_free(rheos__plan *plan);

#endif  // RHEOS_SRC_PLAN_ENTRIES_PLAN_H
