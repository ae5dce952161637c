// What the files that raise control flow share.
#ifndef RHEOS_SRC_PLAN_RAISE_RAISE_IMPL_H
#define RHEOS_SRC_PLAN_RAISE_RAISE_IMPL_H

#include "plan/raise/raise.h"

typedef struct rheos__raiser {
  rheos__plan *plan;
  const rheos__flow_frames *frames;
  const int32_t *order;
  int32_t num_order, num_nodes;
  bool refused;  // the level stays on tokens
  // By node: the side of a conditional that it is in, 0: none. raise_conditionals.c
  int32_t *sides;
  bool *is_done;   // by node: it ran before
  uint8_t *cones;  // by node of a loop: bits of the parts that it is in
  int32_t
      *variable_of;   // by Enter, Merge and Switch of a loop: one more than the variable's number
  int32_t *input_of;  // by Switch of a conditional: one more than the number of the input
  rheos__raised *raised;
  size_t structure_capacity;
} rheos__raiser;

static inline rheos__flow_role rheos__role_of(const rheos__node *node) {
  return node->signature->op->flow;
}

// A growing list of numbers.
typedef struct rheos__numbers {
  int32_t *items;
  size_t count, capacity;
} rheos__numbers;

static inline rheos_status *rheos__numbers_add(rheos__numbers *list, int32_t number) {
  if (!RHEOS_RESERVE(list->items, list->capacity, list->count + 1)) return rheos__out_of_memory();
  list->items[list->count++] = number;
  return NULL;
}

// A structure under way: what it takes, by input, and what each part is fed for it.
typedef struct rheos__draft_input {
  rheos__edge outer, fed[2];
} rheos__draft_input;
typedef struct rheos__draft_output {
  rheos__edge edge, results[2];  // of a conditional or stretch: what its parts give
  int32_t variable;              // of a loop
} rheos__draft_output;
typedef struct rheos__draft {
  rheos__draft_input *inputs;
  size_t num_inputs, input_capacity;
  rheos__draft_output *outputs;
  size_t num_outputs, output_capacity;
  rheos__edge *next;  // of a loop: what its NextIterations take
  size_t num_next, next_capacity;
  rheos__edge condition;
  rheos__numbers waits;       // nodes that the structure waits for
  rheos__numbers done;        // nodes outside that the parts wait for
  rheos__numbers targets[2];  // by part: nodes with effects that no result needs
  unsigned effects;
  int32_t node;
  rheos__structure_kind kind;
} rheos__draft;

rheos_status *rheos__draft_add_input(rheos__draft *draft, rheos__edge outer, rheos__edge fed_0,
                                     rheos__edge fed_1);
rheos_status *rheos__draft_add_output(rheos__draft *draft, const rheos__draft_output *output);
void rheos__draft_deinit(rheos__draft *draft);
// Adds it to those that are raised, with what it outputs.
rheos_status *rheos__raiser_add(rheos__raiser *r, const rheos__draft *draft);

// Whether nothing has to be computed for the edge.
bool rheos__raiser_is_there(const rheos__raiser *r, rheos__edge edge);
// Whether the node's inputs and outputs are values, which a part can be fed.
bool rheos__raiser_takes_values(const rheos__raiser *r, const rheos__node *node);
// The number of the frame outside of all others that the frame is in, or is.
int32_t rheos__raiser_outermost(const rheos__raiser *r, int32_t frame);

// Raises the loop that is a frame of the level.
rheos_status *rheos__raise_loop(rheos__raiser *r, int32_t frame, const int32_t *members,
                                int32_t num_members);
// Finds the sides that nodes of the level are on, and raises its conditionals. By frame of the
// level: the side that the loop is on, 0: none.
rheos_status *rheos__raise_conditionals(rheos__raiser *r, int32_t *side_of_frame);

#endif  // RHEOS_SRC_PLAN_RAISE_RAISE_IMPL_H
