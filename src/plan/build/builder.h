// What making a plan works on: the entries that needed nodes become, before their order is known.
//
// visit.c goes through the nodes that are needed and, for each one all of whose inputs have been
// visited, has drafts.c make its entry; what the inputs are, with inlined bodies and raised
// structures in the places of their nodes, tells inputs.c. plan.c puts the entries into their
// order.
#ifndef RHEOS_SRC_PLAN_BUILD_BUILDER_H
#define RHEOS_SRC_PLAN_BUILD_BUILDER_H

#include "plan/entries/flow.h"
#include "plan/entries/inline.h"
#include "plan/entries/plan.h"
#include "plan/raise/raise.h"

enum { RHEOS__MARK_ON_STACK = -1, RHEOS__MARK_DONE = -2 };
enum { RHEOS__CALL_STAYS = -1, RHEOS__CALL_ONLY_READS = -2 };

typedef struct rheos__mark {  // of a node
  int32_t state;  // 0 not seen, RHEOS__MARK_ON_STACK, RHEOS__MARK_DONE, else 1 + its entry
  int32_t call;   // 0 not looked at, RHEOS__CALL_..., else 1 + the inlined call that it is
  int32_t holds;  // of nodes that may hold up the step, how many are on a path to it, at most
} rheos__mark;

typedef struct rheos__source {  // where an operand comes from
  int32_t draft;                // the producer, or -1 for a feed
  int32_t index;                // its output, or the feed
} rheos__source;

typedef struct rheos__read_slot {
  rheos__edge edge;
  int32_t level;
  int32_t draft;  // -1: empty
} rheos__read_slot;

// With control flow there are more passes: one meets it, one finds the frames, one makes entries.
// RHEOS__RAISED, if control flow can be raised, makes entries of a straight plan. Where several ops
// may have to wait, entries in frames are structures too: stretches.c.
typedef enum rheos__pass {
  RHEOS__WITHOUT_FLOW,
  RHEOS__FIND_FRAMES,
  RHEOS__RAISED,
  RHEOS__WITH_FRAMES
} rheos__pass;

typedef struct rheos__builder {
  rheos__plan *plan;
  rheos__mark *marks;  // of nodes, then of structures or of what is inlined
  size_t mark_capacity;
  int32_t num_nodes;
  bool *is_target;  // by node
  struct rheos__visit {
    int32_t id, next;
  } *stack;
  size_t stack_capacity, stack_count;
  // Entries before the final order is known: their operands name producers, their waits name
  // drafts.
  rheos__entry *drafts;
  size_t draft_capacity, num_drafts;
  rheos__source *sources;
  size_t source_capacity, num_sources;
  int32_t *waits;  // drafts
  size_t wait_capacity, num_waits;
  rheos__read_slot *reads;  // open addressing, a power of two
  size_t num_read_slots, num_reads;
  rheos__pass pass;
  bool has_flow;        // the needed nodes have control flow, or it is to be run as if they had
  int32_t num_waiting;  // of the needed nodes, those that may have to wait
  // Of the needed nodes, those at which the program may hold up the step too, and how many of them
  // are on one path at most.
  int32_t num_holding, most_on_path;
  bool calls_program;
  rheos__flow_frames frames;
  int32_t *order;  // needed nodes, as RHEOS__FIND_FRAMES has met them
  size_t order_capacity, num_order;
  rheos__raised raised;  // their marks lie behind those of the nodes
  bool has_cycle;        // met while raised: the plan stays on tokens
  // Needed too: nodes from which loops go back, and what inlined calls run for its effects.
  int32_t *later;
  size_t later_capacity, num_later;
  struct rheos__way_back {  // an operand whose producer comes later
    size_t source;
    rheos__edge edge;
  } *ways_back;
  size_t way_back_capacity, num_ways_back;
} rheos__builder;

// Whether nothing has to run for the edge.
static inline bool rheos__builder_has(const rheos__builder *b, rheos__edge edge) {
  return rheos__plan_feed_of(b->plan, edge) >= 0 || b->marks[edge.id].state == RHEOS__MARK_DONE;
}

static inline const rheos__node *rheos__builder_node(const rheos__builder *b, int32_t id) {
  return rheos__plan_node(b->plan, id);
}

static inline const rheos__inlined_call *rheos__builder_call_around(const rheos__builder *b,
                                                                    int32_t id) {
  return rheos__inlined_call_of(b->plan->inlined, id);
}

static inline rheos__flow_role rheos__node_role(const rheos__node *node) {
  return node->signature->op->flow;
}

// ---- inputs.c

typedef enum rheos__part { RHEOS__PART_NODE, RHEOS__PART_BEGINNING, RHEOS__PART_END } rheos__part;

// What of a call the id stands for; RHEOS__PART_NODE for other nodes.
rheos__part rheos__builder_part(const rheos__builder *b, int32_t id);
// The inputs of a node, its control inputs behind the others; what a part of a call waits for.
int32_t rheos__builder_num_edges(const rheos__builder *b, int32_t id);
// What the inputs are by now. Where only a wait is left of one, its index is -1.
rheos_status *rheos__builder_edge(rheos__builder *b, int32_t id, int32_t i, rheos__edge *out_edge);
// What gives the value of a data edge: of an argument of an inlined body what the call was given,
// of an inlined call what its body gives, of a reference that a node gave before what that one
// took.
rheos_status *rheos__builder_resolve(rheos__builder *b, rheos__edge *edge);
// Looks, once, at whether a node is a call that is inlined.
rheos_status *rheos__builder_look_at_call(rheos__builder *b, int32_t id);
// The node is needed too.
rheos_status *rheos__builder_add_later(rheos__builder *b, int32_t id);
// What is visited for a node: itself, or the structure that took it, which has a number behind all
// nodes.
int32_t rheos__builder_visited(const rheos__builder *b, int32_t id);
rheos__structure *rheos__builder_structure(const rheos__builder *b, int32_t visited);

// ---- drafts.c

// What has to be visited before a structure: its inputs, then what it waits for.
rheos__edge rheos__structure_edge(const rheos__structure *s, int32_t i);
// Make the entry; all that it needs has one.
rheos_status *rheos__builder_finish_structure(rheos__builder *b, int32_t visited);
rheos_status *rheos__builder_finish_node(rheos__builder *b, int32_t id);
// What is inlined waits for nothing.
bool rheos__builder_may_wait(const rheos__builder *b, int32_t id);
// Whether functions of the program, or one and an op that waits, may hold up the step side by side:
// those that may are not all on one path. When all needed nodes have been visited.
static inline bool rheos__builder_is_held_twice(const rheos__builder *b) {
  return b->calls_program && b->num_holding > b->most_on_path;
}
// Entries that watch what is fed to a plan that is in no other.
rheos_status *rheos__builder_watch_feeds(rheos__builder *b);
// If `edge` is a reference, or the plain read node of one, gives that reference.
bool rheos__builder_find_reference(const rheos__builder *b, rheos__edge edge,
                                   rheos__edge *out_reference);
// The source of an ordinary input or fetch of level `level`.
rheos_status *rheos__builder_find_value(rheos__builder *b, rheos__edge edge, int32_t level,
                                        rheos__source *out_source);
bool rheos__builder_is_way_back(const rheos__builder *b, const rheos__node *node, int32_t input);
// What an Exit comes behind, though it does not wait for it: what leads to the next trip, one by
// one.
int32_t rheos__builder_next_before_exit(const rheos__builder *b, const rheos__node *node,
                                        int32_t id);

// ---- phases.c

// For each node that is needed, how many phases come before its own, by which members of
// collectives (of what may wait, which `waits` says by node) begin early. Zeros where it is called.
rheos_status *rheos__find_phases(rheos__builder *b, const int32_t *waits, int32_t *phases);

// ---- stretches.c

// Raises what lies between the ops that may wait, of a level whose needed nodes are listed in
// `order`. `raised.count` is 0 where nothing is raised.
rheos_status *rheos__raise_stretches(rheos__builder *b, const int32_t *targets,
                                     int32_t num_targets);

// ---- homes.c

// Whether the output is a reference or a handle.
bool rheos__node_gives_cell(const rheos__node *node, int32_t output);
// Whether all that the node does is to name a cell, the same wherever it stands.
bool rheos__node_names_cell(const rheos__node *node);
// Whether its outputs are values that follow from its inputs alone, whenever it runs.
bool rheos__node_is_pure(const rheos__node *node);

// ---- early.c

// Moves what waits, of a plan on tokens, to the front of the order of its drafts.
rheos_status *rheos__builder_move_early(const rheos__builder *b, int32_t *order);

// ---- visit.c

// Whether the node decides which values are alive, or may give dead ones. Where nothing is dead a
// ControlTrigger is a NoOp.
static inline bool rheos__builder_moves_values(const rheos__node *node) {
  const rheos__flow_role role = rheos__node_role(node);
  return (role != RHEOS__FLOW_NONE && role != RHEOS__FLOW_CONTROL_TRIGGER) ||
         (node->signature->op->flags & RHEOS_OP_MAY_GIVE_DEAD) != 0;
}

// Makes entries of all that the plan's fetches and the targets need.
rheos_status *rheos__builder_visit(rheos__builder *b, const int32_t *targets, int32_t num_targets);

#endif  // RHEOS_SRC_PLAN_BUILD_BUILDER_H
