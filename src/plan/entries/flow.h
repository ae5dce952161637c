// Plans with version 1's control flow, or several ops that may wait: entries in frames, whose
// values move as tokens. What lies between ops that wait is one entry where it can be: stretches.c.
//
// A frame is a loop by its name; the root frame is what lies in none. A node is in the frame that
// its inputs come from; Enter and Exit hand on to another one. That is checked when the plan is
// made, so the frame of an entry is fixed. A trip of a loop starts when the trip before it is done,
// which `parallel_iterations` allows: then a frame is there once at a time, and what is known of an
// entry in the trip under way has one place. So a trip takes no memory, and what has effects keeps
// its order.
//
// The order of the entries is as in other plans, as if no loop went back, with a loop's Exits
// behind what leads to its next trip. Of what can run, the first in that order does.
#ifndef RHEOS_SRC_PLAN_ENTRIES_FLOW_H
#define RHEOS_SRC_PLAN_ENTRIES_FLOW_H

#include "plan/entries/plan.h"

// ---- Frames of nodes, while a plan is made

typedef struct rheos__flow_frame {
  int32_t parent;    // -1: it is the root
  const char *name;  // the graph's; "" of the root
  int32_t num_enters;
  // While a plan is made:
  int32_t *next_iterations;  // nodes
  size_t next_iteration_capacity;
  int32_t num_next_iterations, num_visited;
  int32_t level;  // behind what leads to its next trip
  // In the plan:
  int32_t first_member, num_members;  // its entries, in flow->members
  // What hands tokens to its trips: NextIterations and constant Enters, in flow->movers.
  int32_t first_mover, num_movers;
} rheos__flow_frame;

typedef struct rheos__flow_frames {
  rheos__flow_frame *items;  // the root first, parents before their children
  size_t capacity;
  int32_t count;
  int32_t *slots;  // by the hash of the name: one more than the frame's number; open addressing
  size_t num_slots;
  int32_t *of_node;  // one more than the frame's number; 0: not needed
} rheos__flow_frames;

rheos_status *rheos__flow_frames_init(rheos__flow_frames *frames, int32_t num_nodes);
void rheos__flow_frames_deinit(rheos__flow_frames *frames);
// Finds the frame of a node whose inputs have theirs, but for those that come from a loop's end.
rheos_status *rheos__flow_frames_add(rheos__flow_frames *frames, const rheos__plan *plan,
                                     int32_t id);
// When all nodes are there: what comes back into a Merge comes from its own frame.
rheos_status *rheos__flow_frames_check(const rheos__flow_frames *frames, const rheos__plan *plan,
                                       int32_t id);
// The frame in which the outputs of a node are.
int32_t rheos__flow_frame_behind(const rheos__flow_frames *frames, const rheos_graph *graph,
                                 int32_t id);
// Whether the input of the node comes back from the end of a loop.
bool rheos__flow_is_way_back(const rheos_graph *graph, const rheos__node *node, int32_t input);

// ---- The flow of a plan

// Where a token goes.
typedef struct rheos__flow_use {
  int32_t entry;    // below 0: the complement of a fetch's number
  int32_t operand;  // in plan->operands; -1: none, it is a control edge
} rheos__flow_use;

// What an entry waits for before it runs.
typedef struct rheos__flow_counts {
  // Tokens to come. Of a Merge, twice the control edges, and 1 until an input came that is not
  // dead.
  int32_t pending;
  int32_t dead;   // of those that came
  int32_t taken;  // of a Merge: the input that came first
} rheos__flow_counts;

typedef struct rheos__flow {
  int64_t made_ns;  // of the monotonic clock: with the address, unique in the process
  rheos__flow_frame *frames;
  int32_t num_frames;
  int32_t *members;             // entries by frame
  int32_t *movers;              // entries by frame
  int32_t *frame_of;            // by entry: where it waits for its inputs
  int32_t *frame_behind;        // by entry: where its outputs go
  uint8_t *roles;               // by entry, of its op: each token that comes asks for it
  bool *is_constant;            // by entry: its outputs go to every trip of the frame
  rheos__flow_counts *counts;   // by entry: at the start of a trip
  bool *ends_quietly;           // by entry: nothing that it leads to has state or waits
  bool *reads;                  // by operand: it is the value behind the reference that comes
  int32_t *first_uses;          // by value, and the end: in `uses`
  int32_t *first_control_uses;  // by entry, and the end: in `uses`, behind those of all values
  rheos__flow_use *uses;
} rheos__flow;

// Makes it for a plan whose entries are in order; `frames` gives its frames away.
rheos_status *rheos__flow_new(const rheos__plan *plan, rheos__flow_frames *frames,
                              rheos__flow **out_flow);
void rheos__flow_free(rheos__flow *flow);
// Asserts what the flow of a plan promises: flow_check.c.
void rheos__flow_check(const rheos__plan *plan);
// The node that stands for a loop: its LoopCond if it has one, else what enters it first.
int32_t rheos__flow_node_of_frame(const rheos__plan *plan, int32_t frame);

// ---- A step under way

typedef struct rheos__flow_token {  // neither of both: dead, or none
  rheos_tensor *tensor;             // counted
  rheos__resource *cell;            // counted: what is behind a reference or handle
} rheos__flow_token;

typedef struct rheos__flow_trip {  // of a frame
  bool is_active;
  bool has_dead_exits;
  int32_t num_active;          // entries that can run, and frames inside under way
  int32_t num_pending_enters;  // that have not come yet
  int32_t num_next;            // values that wait for the next trip
  int32_t num_tokens;          // that operands of its entries hold
  rheos__trip now;             // the trip under way; its number is from 0 on
} rheos__flow_trip;

// An entry that waits: resource/waitable.h.
typedef struct rheos__flow_aside {
  int32_t entry;
  rheos__attempt *attempt;  // owned
} rheos__flow_aside;

// Part of a workspace. Between steps all tokens are empty.
typedef struct rheos__flow_state {
  rheos__flow_counts *counts;   // by entry
  bool *is_dead;                // by entry that can run
  bool *has_kept;               // by entry: it has a token in `kept`, or came out of its loop dead
  bool *has_left;               // by entry: it came out of its loop alive
  rheos__flow_token *operands;  // by operand
  rheos__flow_token *kept;      // by entry: constants of a loop, values for the next trip
  rheos__flow_trip *trips;      // by frame
  int32_t *ready;               // entries: a heap, the first in order at its top
  int32_t num_ready;
  rheos__flow_aside *asides;  // entries that wait, the first to begin first; NULL: none can
  int32_t num_asides;
  int32_t
      *put_off;  // entries that would wait on the spot, so everything else goes first; NULL: none
  int32_t num_put_off;
  rheos__flow_token *fetched;  // by fetch
  bool *is_fetched;
  int32_t fetched_twice;  // a fetch, or -1
  // Room for an entry's operands.
  rheos_tensor **inputs;
  rheos__resource **cells;
  int64_t num_run;  // entries, in this step
} rheos__flow_state;

// NULL when memory is short.
rheos__flow_state *rheos__flow_state_new(const rheos__plan *plan);
void rheos__flow_state_free(rheos__flow_state *state);
// Asserts that a step has left nothing in it.
void rheos__flow_state_check(const rheos__plan *plan, const rheos__flow_state *state);

#endif  // RHEOS_SRC_PLAN_ENTRIES_FLOW_H
