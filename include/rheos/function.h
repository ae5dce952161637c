// Functions: graphs with arguments and results, which operations of another graph call, or take as
// attributes (If, While, Case, ...).
//
// A function is built on a graph of its own, its body, by a scope of its own. Operations of the
// body may use tensors of the graphs around it: such a tensor is captured, which makes one more
// argument that stands for it inside. Finishing the function puts it into the library of the
// outermost graph.
//
//   rheos_function *f = rheos_function_begin(scope, "scale", NULL);
//   rheos_output x = rheos_function_argument(f, "x", RHEOS_FLOAT, RHEOS_UNKNOWN_SHAPE);
//   rheos_function_result(f, NULL, rheos_mul(rheos_function_scope(f), x, factor_of_outside));
//   rheos_function_finish(f, scope);
//   rheos_operation call = rheos_function_call(scope, f, &value, 1, NULL);
//   rheos_function_free(f);
#ifndef RHEOS_FUNCTION_H
#define RHEOS_FUNCTION_H

#include <rheos/scope.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rheos_function rheos_function;

// What stands in the body for `value`, a tensor of a graph around it that is used there for the
// first time: a tensor of the body, or none to have it captured. Errors go to the function's scope.
typedef rheos_output (*rheos_capture_function)(void *argument, rheos_function *function,
                                               rheos_output value);

typedef struct rheos_function_options {
  rheos_capture_function capture RHEOS_LEFT_OUT;  // NULL: all are captured
  void *capture_argument RHEOS_LEFT_OUT;
  const rheos_attr *attrs
      RHEOS_LEFT_OUT;  // of the function, such as "_noinline"; borrowed for the call
  size_t num_attrs RHEOS_LEFT_OUT;
} rheos_function_options;

// Begins a function around which is the graph of `scope`, that of another function's body perhaps,
// which then is not finished yet. `name` may be used once in a library. NULL with an error in the
// scope.
static inline rheos_function *rheos_function_begin(rheos_scope *scope, const char *name,
                                                   const rheos_function_options *options);
// What was finished stays in the library.
RHEOS_API void rheos_function_free(rheos_function *function);

RHEOS_API const char *rheos_function_name(const rheos_function *function);
// Another name, before the function is finished.
RHEOS_API void rheos_function_rename(rheos_function *function, const char *name);
// The scope that adds to the body; the function's.
RHEOS_API rheos_scope *rheos_function_scope(rheos_function *function);

// The next argument, a Placeholder. `name` NULL: "args_0" and so on. Arguments come before
// captures: once something is captured, there are no further ones (RHEOS_FAILED_PRECONDITION).
RHEOS_API rheos_output rheos_function_argument(rheos_function *function, const char *name,
                                               rheos_dtype dtype, rheos_shape shape);
// A Placeholder of the body, not an argument yet, with the dtype and all that is known of the
// shapes of `value`, a tensor of any graph. `name` NULL: made of that of its node.
RHEOS_API rheos_output rheos_function_stand_in(rheos_function *function, const char *name,
                                               rheos_output value);
// Makes a Placeholder of the body the next argument. It may stand for what was captured by other
// means too: rheos_function_capture() gives no argument to what the function's `capture` finds for
// it.
RHEOS_API void rheos_function_adopt_argument(rheos_function *function, const char *name,
                                             rheos_output placeholder);
// What stands for `value`, a tensor of a graph around the body, inside it: the same for the same
// one. A tensor of the body stands for itself.
RHEOS_API rheos_output rheos_function_capture(rheos_function *function, rheos_output value);
// The next result: a tensor of the body, or one to be captured. `name` NULL: the node's.
RHEOS_API void rheos_function_result(rheos_function *function, const char *name,
                                     rheos_output value);
// An operation of the body that every call runs, whichever results it wants. Operations that have
// effects are run by every call anyway. `name` NULL: the node's.
RHEOS_API void rheos_function_control_output(rheos_function *function, const char *name,
                                             rheos_operation operation);

// Makes effects in the body happen in the order in which its operations were added, by control
// inputs: among operations that take the same resource a write is ordered with what reads and
// writes; operations with effects on nothing that is known are ordered among each other and with
// writes: what stands before an assertion that fails has happened. Whatever of it is not a read
// becomes a control output. Only operations from number `first` on are looked at: 0 for all.
RHEOS_API void rheos_function_order_effects(rheos_function *function, int32_t first);

// Puts the function into the library; the first error of its scope goes to `scope`, which is on the
// graph around it (RHEOS_INVALID_ARGUMENT too if the library has the name). False after an error.
// The body should not be changed from now on.
RHEOS_API bool rheos_function_finish(rheos_function *function, rheos_scope *scope);

// Says, in the library of `graph`, that the gradient of `function` is what the function `gradient`
// gives for its arguments and a gradient for each of its results: one for each argument. Calls of
// `function` by its name as an op have that gradient. RHEOS_INVALID_ARGUMENT if another one was
// said before.
RHEOS_STATUS rheos_graph_set_function_gradient(rheos_graph *graph, const char *function,
                                               const char *gradient);

// Takes a function, made by a program or read from a file, out of the library of `graph`, with
// those that its gradients added. Calls of it, old ones too, fail with RHEOS_NOT_FOUND; what was
// planned before goes on, and keeps the body's memory as long as its session. RHEOS_NOT_FOUND if
// there is none of the name.
RHEOS_STATUS rheos_graph_remove_function(rheos_graph *graph, const char *name);

// Calls a finished function: PartitionedCall, or StatefulPartitionedCall if its body has effects or
// state. `inputs` are the arguments, to which what was captured is added. None with an error in the
// scope.
RHEOS_API rheos_operation rheos_function_call(rheos_scope *scope, const rheos_function *function,
                                              const rheos_output *inputs, size_t num_inputs,
                                              const char *name);
// Learns the shapes that a call gives from the function's body, by the shapes of the call's inputs
// and those of their values that are known. Nothing where the body tells no more by them, or is too
// large.
RHEOS_STATUS rheos_function_infer_call(rheos_operation call);
// The function as an attribute's value, as long as the function is not freed. Inputs of an
// operation that takes it have to have what was captured at their end.
RHEOS_API const rheos_func *rheos_function_func(const rheos_function *function);

// ---- Looking at it. An index past the end gives none.

RHEOS_API size_t rheos_function_num_arguments(const rheos_function *function);  // and captures
RHEOS_API rheos_output rheos_function_argument_at(const rheos_function *function, size_t index);
RHEOS_API size_t rheos_function_num_captures(const rheos_function *function);
// The tensor around the body; `out_inside` (may be NULL): the argument.
RHEOS_API rheos_output rheos_function_capture_at(const rheos_function *function, size_t index,
                                                 rheos_output *out_inside);
RHEOS_API size_t rheos_function_num_control_outputs(const rheos_function *function);
RHEOS_API rheos_operation rheos_function_control_output_at(const rheos_function *function,
                                                           size_t index);
RHEOS_API size_t rheos_function_num_results(const rheos_function *function);
RHEOS_API rheos_output rheos_function_result_at(const rheos_function *function, size_t index);
RHEOS_API bool rheos_function_is_stateful(const rheos_function *function);  // its body so far

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_API rheos_function *rheos_function_begin_sized(rheos_scope *scope, const char *name,
                                                     const rheos_function_options *options,
                                                     size_t options_bytes);
static inline rheos_function *rheos_function_begin(rheos_scope *scope, const char *name,
                                                   const rheos_function_options *options) {
  return rheos_function_begin_sized(scope, name, options, sizeof *options);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_FUNCTION_H
