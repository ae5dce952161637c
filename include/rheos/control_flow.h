// Conditionals and loops, of version 1's nodes: Switch and Merge, Enter, NextIteration and Exit, with
// the names and the structure that TensorFlow 1.15 gives them.
//
// A branch, a condition or a body is a function of the caller that adds operations to the scope. It may
// use any tensor of the graph: what comes from outside is led in, once for each value. Operations that
// it adds run only when the branch is taken, or once a trip.
#ifndef RHEOS_CONTROL_FLOW_H
#define RHEOS_CONTROL_FLOW_H

#include <rheos/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- With functions that build

// Builds a branch: sets outputs[0 .. num_outputs). Errors go to the scope.
typedef void (*rheos_branch_function)(rheos_scope *scope, void *argument, rheos_output *outputs,
                                      size_t num_outputs);

// outputs[i] is what `if_true` gives where `pred`, a boolean scalar, holds, else what `if_false` gives;
// both give as many outputs, of the same dtypes. `name` NULL: "cond". After an error, which is in the
// scope, outputs are none.
RHEOS_API void rheos_cond(rheos_scope *scope, rheos_output pred, rheos_branch_function if_true,
                          rheos_branch_function if_false, void *argument, const char *name,
                          rheos_output *outputs, size_t num_outputs);

typedef struct rheos_case_branch {
  rheos_output pred;
  rheos_branch_function function;
} rheos_case_branch;

// What the first branch gives whose predicate holds, else what `otherwise` gives. `name` NULL: "case".
RHEOS_API void rheos_case(rheos_scope *scope, const rheos_case_branch *branches,
                          size_t num_branches, rheos_branch_function otherwise, void *argument,
                          const char *name, rheos_output *outputs, size_t num_outputs);

// Builds the condition of a loop: a boolean scalar of the loop variables.
typedef rheos_output (*rheos_condition_function)(rheos_scope *scope, void *argument,
                                                 const rheos_output *variables,
                                                 size_t num_variables);
// Builds the body of a loop: sets next[0 .. num_variables).
typedef void (*rheos_body_function)(rheos_scope *scope, void *argument,
                                    const rheos_output *variables, rheos_output *next,
                                    size_t num_variables);

typedef struct rheos_while_options {
  const char *name RHEOS_LEFT_OUT;  // NULL: "while"
  const rheos_shape *shapes
      RHEOS_LEFT_OUT;  // one for each variable: what holds on every trip; NULL: as they enter
  int32_t parallel_iterations RHEOS_LEFT_OUT;  // 0: 10
  bool no_back_prop RHEOS_LEFT_OUT;            // gradients do not go through the loop
  bool swap_memory RHEOS_LEFT_OUT;             // what gradients keep may go to slower memory
  rheos_output max_iterations RHEOS_LEFT_OUT;  // an integer scalar; none: no limit
} rheos_while_options;

// Runs `body` on the variables as long as `condition` holds; outputs[0 .. num_variables) are their values
// at the end. `options` may be NULL. After an error, which is in the scope, outputs are none.
static inline void rheos_while_loop(rheos_scope *scope, rheos_condition_function condition,
                                    rheos_body_function body, void *argument,
                                    const rheos_output *variables, size_t num_variables,
                                    const rheos_while_options *options, rheos_output *outputs);

// ---- Step by step, for front ends whose branches and bodies are not functions of C

// A branch of a conditional, or a loop, that operations are made in. It lives as long as its graph.
typedef struct rheos_control_context rheos_control_context;

// Operations made inside are in `context`; NULL: in none. Undone by rheos_scope_pop().
RHEOS_API void rheos_push_control_context(rheos_scope *scope, rheos_control_context *context);
RHEOS_API rheos_control_context *rheos_scope_control_context(const rheos_scope *scope);

// The contexts of both branches of a conditional, that for false first; to be pushed and popped one
// after the other. False with an error in the scope.
RHEOS_API bool rheos_cond_begin(rheos_scope *scope, rheos_output pred,
                                rheos_control_context *out_branches[2]);
// What the branch that is the scope's context hands to the Merge for `value`.
RHEOS_API rheos_output rheos_cond_result(rheos_scope *scope, rheos_output value);
// For an operation without a value: a boolean that waits for it.
RHEOS_API rheos_output rheos_cond_result_after(rheos_scope *scope, rheos_operation operation);
// With both contexts popped.
RHEOS_API rheos_output rheos_cond_merge(rheos_scope *scope, rheos_output if_false,
                                        rheos_output if_true);

// The context of a new loop, to be pushed until its end is made, and in out_variables what its condition
// is made of. The name in the options is not used: the caller opens a name scope. NULL with an error in
// the scope.
static inline rheos_control_context *rheos_while_begin(rheos_scope *scope,
                                                       const rheos_output *variables,
                                                       size_t num_variables,
                                                       const rheos_while_options *options,
                                                       rheos_output *out_variables);
// Given the condition, sets out_variables, which the body of the scope's loop is made of.
RHEOS_API void rheos_while_body(rheos_scope *scope, rheos_output condition,
                                rheos_output *out_variables);
// Given what the body makes of the variables, sets their values after the loop.
RHEOS_API void rheos_while_end(rheos_scope *scope, const rheos_output *next,
                               rheos_output *out_variables);

// ---- Looking at contexts

// The context that the operation is in; NULL for none.
RHEOS_API rheos_control_context *rheos_operation_control_context(rheos_operation operation);
// Puts the operation into another context, without changing its inputs.
RHEOS_STATUS rheos_operation_set_control_context(rheos_operation operation,
                                                 rheos_control_context *context);

// Whether programs should leave it alone: what is computed only in a branch or in some trip has no value
// that a run could be asked for.
RHEOS_API bool rheos_operation_is_fetchable(rheos_operation operation);
RHEOS_API bool rheos_operation_is_feedable(rheos_operation operation);

typedef struct rheos_control_context_info {
  rheos_control_context *outer;  // NULL: none
  int32_t number;                // among the graph's, from 1
  bool is_while;
  const char *name;
  rheos_output pivot;  // none before a loop has its condition
  // Branches
  rheos_output pred;
  int32_t branch;
  // Loops
  rheos_output pivot_for_pred, pivot_for_body, max_iterations;
  int32_t num_enters, num_exits;
  int32_t parallel_iterations;
  bool back_prop, swap_memory;
} rheos_control_context_info;

RHEOS_API rheos_control_context_info
rheos_control_context_describe(const rheos_control_context *context);
// What the loop variables are outside of it: index is below num_enters or num_exits.
RHEOS_API rheos_output rheos_control_context_enter(const rheos_control_context *context,
                                                   int32_t index);
RHEOS_API rheos_output rheos_control_context_exit(const rheos_control_context *context,
                                                  int32_t index);
// The values that the context has seen, in order, and what stands for each inside: none for those that
// are used as they are. `index` is below the count.
RHEOS_API size_t rheos_control_context_num_values(const rheos_control_context *context);
RHEOS_API rheos_output rheos_control_context_value_at(const rheos_control_context *context,
                                                      size_t index, rheos_output *out_inside);
// The context of that number; NULL if there is none.
RHEOS_API rheos_control_context *rheos_graph_control_context(const rheos_graph *graph,
                                                             int32_t number);

// A context inside that of the scope, for a branch or loop that came with a file: as `info` describes it,
// whose `outer` and `number` are not read. The values are as above, num_values of each. Nodes whose
// values are used as they are get into the context.
RHEOS_API rheos_control_context *rheos_control_context_restore(
    rheos_scope *scope, const rheos_control_context_info *info, const rheos_output *enters,
    const rheos_output *exits, const rheos_output *values, const rheos_output *insides,
    size_t num_values);

// What stands for `value` inside the context, made where it is not there yet.
RHEOS_API rheos_output rheos_control_context_value(rheos_scope *scope,
                                                   rheos_control_context *context,
                                                   rheos_output value);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what is
// declared above is inline over these

RHEOS_API void rheos_while_loop_sized(rheos_scope *scope, rheos_condition_function condition,
                                      rheos_body_function body, void *argument,
                                      const rheos_output *variables, size_t num_variables,
                                      const rheos_while_options *options, size_t options_bytes,
                                      rheos_output *outputs);
static inline void rheos_while_loop(rheos_scope *scope, rheos_condition_function condition,
                                    rheos_body_function body, void *argument,
                                    const rheos_output *variables, size_t num_variables,
                                    const rheos_while_options *options, rheos_output *outputs) {
  rheos_while_loop_sized(scope, condition, body, argument, variables, num_variables, options,
                         sizeof *options, outputs);
}

RHEOS_API rheos_control_context *rheos_while_begin_sized(
    rheos_scope *scope, const rheos_output *variables, size_t num_variables,
    const rheos_while_options *options, size_t options_bytes, rheos_output *out_variables);
static inline rheos_control_context *rheos_while_begin(rheos_scope *scope,
                                                       const rheos_output *variables,
                                                       size_t num_variables,
                                                       const rheos_while_options *options,
                                                       rheos_output *out_variables) {
  return rheos_while_begin_sized(scope, variables, num_variables, options, sizeof *options,
                                 out_variables);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_CONTROL_FLOW_H
