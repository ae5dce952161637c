// Conditionals and loops of version 1's nodes, step by step: for front ends of other languages,
// whose
// branches and bodies are not functions of C (<rheos/control_flow.h>), and for tools that look at a
// graph's
// branches and loops. Not part of <rheos/rheos.h>.
#ifndef RHEOS_CONTROL_CONTEXT_H
#define RHEOS_CONTROL_CONTEXT_H

#include <rheos/control_flow.h>

#ifdef __cplusplus
extern "C" {
#endif

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

// The context of a new loop, to be pushed until its end is made, and in out_variables what its
// condition
// is made of. The name in the options is not used: the caller opens a name scope. NULL with an
// error in
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

typedef struct rheos_control_context_info {
  rheos_control_context *outer;  // NULL: none
  int32_t number;                // among the graph's, from 1
  bool is_while;                 // a loop; else a branch
  const char *name;              // its name scope
  rheos_output pivot;            // none before a loop has its condition
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
// The values that the context has seen, in order, and what stands for each inside: none for those
// that
// are used as they are. `index` is below the count.
RHEOS_API size_t rheos_control_context_num_values(const rheos_control_context *context);
RHEOS_API rheos_output rheos_control_context_value_at(const rheos_control_context *context,
                                                      size_t index, rheos_output *out_inside);
// The context of that number; NULL if there is none.
RHEOS_API rheos_control_context *rheos_graph_control_context(const rheos_graph *graph,
                                                             int32_t number);

// A context inside that of the scope, for a branch or loop that came with a file: as `info`
// describes it,
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

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is
// declared above is inline over these

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

#endif  // RHEOS_CONTROL_CONTEXT_H
