// A graph as rules look at it, and how they tell what they find.
#ifndef RHEOS_SRC_LINT_LINT_H
#define RHEOS_SRC_LINT_LINT_H

#include <rheos/lint.h>

#include "base/arena.h"
#include "graph/graph.h"

// An input that takes an output of a node; of a control edge `input` and `index` are -1.
typedef struct rheos__lint_use {
  int32_t id, input, index;
} rheos__lint_use;

// One graph, or the body of one function.
typedef struct rheos__lint_graph {
  rheos_graph *graph;
  const char *function;  // "" for the graph itself
  int32_t num_nodes;     // when the look began
  const rheos__node **nodes;
  const char **ops;       // of each node, the op's name
  int32_t *first_use;     // of each node, and one more
  rheos__lint_use *uses;  // by the node whose output is taken
  bool *asked;            // operations that are fetched, run or fed, as far as it is known
  bool *reached;          // what these need, themselves included; without any asked: nothing
  bool has_asked;         // whether any is known
  bool is_serving;
  const rheos_run_log *runs;  // NULL: none are known
} rheos__lint_graph;

// Takes what rules find. `is_short`: memory was; what was found until then is dropped.
typedef struct rheos__lint_findings {
  rheos__arena *arena;
  rheos_finding *items;
  int32_t *times;  // how often each was found at its line
  size_t capacity, times_capacity, count;
  const rheos_lint_rule *rule;  // that is looking
  bool notes, is_short;
} rheos__lint_findings;

typedef void (*rheos__lint_look)(rheos__lint_findings *found, const rheos__lint_graph *g);

// A rule and what finds it: NULL where a front end does. Functions may have several rules.
typedef struct rheos__lint_row {
  rheos_lint_rule rule;
  rheos__lint_look look;
} rheos__lint_row;

// The rows of rules.c, by name.
const rheos__lint_row *rheos__lint_rows(size_t *out_count);

// Tells of a node (-1: of the whole graph) what was seen, without a full stop; the rule's remedy
// comes behind it. Of several at one line of the program the first is told, with their number.
void rheos__lint_tell(rheos__lint_findings *found, const rheos__lint_graph *g, int32_t id,
                      const char *format, ...) RHEOS_PRINTF(4, 5);
// As rheos__lint_tell() of what a line of the program did, not a node.
void rheos__lint_tell_line(rheos__lint_findings *found, const char *file, int32_t line,
                           const char *format, ...) RHEOS_PRINTF(4, 5);

// ---- Looking (lint_graph.c)

// Makes `*out_graph` of a graph; false when memory is short. What is asked for and reached is
// marked by the caller.
bool rheos__lint_graph_init(rheos__lint_graph *out_graph, rheos_graph *graph, const char *function);
void rheos__lint_graph_deinit(rheos__lint_graph *g);
// Marks in `marks` all that the marked nodes need; false when memory is short.
bool rheos__lint_mark_needed(const rheos__lint_graph *g, bool *marks);

static inline bool rheos__lint_is(const rheos__lint_graph *g, int32_t id, const char *op) {
  return id >= 0 && strcmp(g->ops[id], op) == 0;
}
// Whether the node's op is one of a list that ends with NULL.
bool rheos__lint_is_one(const rheos__lint_graph *g, int32_t id, const char *const *ops);
// The edge into an input; {-1, -1} if there is no such input.
rheos__edge rheos__lint_input(const rheos__lint_graph *g, int32_t id, int32_t input);
// Behind nodes that pass a value on: Identity and its like, and with `reshapes` what only gives it
// another shape.
rheos__edge rheos__lint_behind(const rheos__lint_graph *g, rheos__edge edge, bool reshapes);
static inline int32_t rheos__lint_num_uses(const rheos__lint_graph *g, int32_t id) {
  return g->first_use[id + 1] - g->first_use[id];
}
const rheos_shape *rheos__lint_shape(const rheos__lint_graph *g, rheos__edge edge);
rheos_dtype rheos__lint_dtype(const rheos__lint_graph *g, rheos__edge edge);
// VariableV2, VarHandleOp and their like; what reads them; what changes them.
bool rheos__lint_is_variable(const rheos__lint_graph *g, int32_t id);
bool rheos__lint_is_update(const rheos__lint_graph *g, int32_t id);
// Whether it is an optimizer's update, ApplyAdam and its like.
bool rheos__lint_is_training(const rheos__lint_graph *g, int32_t id);
// The variable that a handle or reference comes from; -1 if it is not found.
int32_t rheos__lint_variable_of(const rheos__lint_graph *g, rheos__edge edge);
// Whether an assignment gives a variable its first value, or one that was saved. Of a variable of
// which only the nodes are known every assignment may.
bool rheos__lint_is_first_value(const rheos__lint_graph *g, int32_t id);
// Whether the value depends on a variable, by data.
bool rheos__lint_needs_variable(rheos__lint_findings *found, const rheos__lint_graph *g,
                                rheos__edge edge);
bool rheos__lint_has_variables(const rheos__lint_graph *g);
// A node's name in the arena of what is found, "" when memory is short.
const char *rheos__lint_name(rheos__lint_findings *found, const rheos__lint_graph *g, int32_t id);
// Memory for a rule, zeroed, until all is looked at; NULL, and noted, when memory is short.
void *rheos__lint_alloc(rheos__lint_findings *found, size_t count, size_t element_bytes);

// Fills in, for each node, the first that computes the same: itself, if none does. `sizes` gets how
// many nodes before it, itself included, are copies as well; at most. Both are zeros.
void rheos__lint_find_copies(rheos__lint_findings *found, const rheos__lint_graph *g,
                             int32_t *first, int32_t *sizes);

// ---- The rules, in their files

// loss_rules.c
void rheos__lint_double_softmax(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_double_sigmoid(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_log_at_zero(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_log_of_softmax(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_root_at_zero(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_swapped_labels(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_one_hot_labels(rheos__lint_findings *found, const rheos__lint_graph *g);
// value_rules.c
void rheos__lint_outer_broadcast(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_accidental_float64(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_large_constant(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_medium_constant(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_graph_near_limit(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_unknown_rank(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_device_ping_pong(rheos__lint_findings *found, const rheos__lint_graph *g);
// twice_rules.c
void rheos__lint_duplicate_constant(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_duplicate_subgraph(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_saver_in_loop(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_initializer_in_loop(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_summaries_in_loop(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_training_in_loop(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_copied_layer(rheos__lint_findings *found, const rheos__lint_graph *g);
// unused_rules.c
void rheos__lint_unused_check(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_unused_placeholder(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_unused_updates(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_unreached_ops(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_training_mode(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_unrun_update(rheos__lint_findings *found, const rheos__lint_graph *g);
// mode_rules.c
void rheos__lint_dropout_in_runs(rheos__lint_findings *found, const rheos__lint_graph *g);
// variable_rules.c
void rheos__lint_unread_variable(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_untrained_variable(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_uninitialized_variable(rheos__lint_findings *found, const rheos__lint_graph *g);
// run_rules.c
void rheos__lint_growing_graph(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_new_fetches(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_many_shapes(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_partial_batch(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_fed_labels(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_unscaled_input(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_queue_not_filled(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_fed_variable(rheos__lint_findings *found, const rheos__lint_graph *g);
void rheos__lint_constant_phase(rheos__lint_findings *found, const rheos__lint_graph *g);

#endif  // RHEOS_SRC_LINT_LINT_H
