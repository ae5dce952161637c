// Conditionals and loops, of version 1's nodes: Switch and Merge, Enter, NextIteration and Exit,
// with the names and the structure that TensorFlow 1.15 gives them.
//
// A branch, a condition or a body is a function of the caller that adds operations to the scope. It
// may use any tensor of the graph: what comes from outside is led in, once for each value.
// Operations that it adds run only when the branch is taken, or once a trip.
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

// outputs[i] is what `if_true` gives where `pred`, a boolean scalar, holds, else what `if_false`
// gives; both give as many outputs, of the same dtypes. `name` NULL: "cond". After an error, which
// is in the scope, outputs are none.
RHEOS_API void rheos_cond(rheos_scope *scope, rheos_output pred, rheos_branch_function if_true,
                          rheos_branch_function if_false, void *argument, const char *name,
                          rheos_output *outputs, size_t num_outputs);

typedef struct rheos_case_branch {
  rheos_output pred;               // a scalar bool
  rheos_branch_function function;  // adds what is run where it is the first true one
} rheos_case_branch;

// What the first branch gives whose predicate holds, else what `otherwise` gives. `name` NULL:
// "case".
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

// Runs `body` on the variables as long as `condition` holds; outputs[0 .. num_variables) are their
// values at the end. `options` may be NULL. After an error, which is in the scope, outputs are
// none.
static inline void rheos_while_loop(rheos_scope *scope, rheos_condition_function condition,
                                    rheos_body_function body, void *argument,
                                    const rheos_output *variables, size_t num_variables,
                                    const rheos_while_options *options, rheos_output *outputs);

// ---- Looking at operations of branches and loops

// Whether programs should leave it alone: what is computed only in a branch or in some trip has no
// value that a run could be asked for.
RHEOS_API bool rheos_operation_is_fetchable(rheos_operation operation);
RHEOS_API bool rheos_operation_is_feedable(rheos_operation operation);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

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

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_CONTROL_FLOW_H
