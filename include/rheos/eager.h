// Eager execution: operations run at once on tensors; tapes remember them for gradients.
//
//   rheos_eager *eager = NULL;
//   rheos_status *status = rheos_eager_new(NULL, &eager);
//   rheos_tensor *inputs[] = {x, y}, *sum = NULL;
//   rheos_eager_op add = {.type = "AddV2", .inputs = inputs, .num_inputs = 2};
//   if (status == NULL) status = rheos_eager_execute(eager, &add, &sum, 1);
//
// An operation is the smallest region of a graph: it is prepared once for its attributes and the
// dtypes of its inputs, specialised to shapes as a session's plans are, and kept. Every output is a
// tensor of its own, even where it shares another's bytes, so that a tape knows values by their
// tensors. Tensors of RHEOS_RESOURCE and RHEOS_VARIANT hold on to what they stand for: a variable
// lives as long as a handle of it.
#ifndef RHEOS_EAGER_H
#define RHEOS_EAGER_H

#include <rheos/host.h>
#include <rheos/scope.h>
#include <rheos/gradients.h>
#include <rheos/session.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rheos_eager rheos_eager;

typedef struct rheos_eager_options {
  rheos_host *host RHEOS_LEFT_OUT;        // what to run on, counted; NULL: a host of its own
  int32_t num_threads RHEOS_LEFT_OUT;     // of a host of its own; 0: one for each core
  int32_t max_cached_ops RHEOS_LEFT_OUT;  // 0: 4096
  rheos_program_function program_function RHEOS_LEFT_OUT;  // what PyFunc calls; NULL: it fails
  void *program_argument RHEOS_LEFT_OUT;
  rheos_gradient_function gradient_function
      RHEOS_LEFT_OUT;  // asked where the library has no gradient; may be NULL
  void *gradient_argument RHEOS_LEFT_OUT;
  bool leaves_functions RHEOS_LEFT_OUT;  // as in rheos_session_options
  bool reserved_[7] RHEOS_LEFT_OUT;      // zeros
} rheos_eager_options;

// May be used by any number of threads at once. `options` may be NULL.
RHEOS_MUST_USE static inline rheos_status *rheos_eager_new(const rheos_eager_options *options,
                                                           rheos_eager **out_eager);
// Operations that run are cancelled and waited for. Tapes and regions that are still there hold on
// to what they need, but later runs fail with RHEOS_FAILED_PRECONDITION.
RHEOS_API void rheos_eager_free(rheos_eager *eager);

// What its operations wait for at this moment, as rheos_session_waiting() tells it.
RHEOS_STATUS rheos_eager_waiting(rheos_eager *eager, char **out_text);

// The graph in whose library operations find the functions that they call.
RHEOS_API rheos_graph *rheos_eager_graph(const rheos_eager *eager);
RHEOS_API rheos_host *rheos_eager_host(const rheos_eager *eager);

// Forgets prepared operations and calls of functions, and with them the state that random
// operations keep.
RHEOS_API void rheos_eager_clear(rheos_eager *eager);

// ---- Operations

typedef struct rheos_eager_op {
  const char *type;             // "MatMul"
  rheos_tensor *const *inputs;  // the elements of lists one after the other
  size_t num_inputs;
  const rheos_attr *attrs;  // those left out follow from the inputs, or are the defaults
  size_t num_attrs;
  const char *device;  // NULL: any
} rheos_eager_op;

// Part of a graph that can be run, prepared.
typedef struct rheos_region rheos_region;

// The operation, prepared for its attributes and the dtypes of its inputs, of which nothing else
// counts but for the shapes where the op's gradient has to know them (Svd, Qr). The caller gets a
// reference.
RHEOS_MUST_USE static inline rheos_status *rheos_eager_region(rheos_eager *eager,
                                                              const rheos_eager_op *op,
                                                              rheos_region **out_region);

// A region of any graph: what computes `fetches` and `targets` from `feeds`. The graph may have
// functions of its own. It is planned when it first runs.
RHEOS_STATUS rheos_region_new(rheos_eager *eager, const rheos_output *feeds, size_t num_feeds,
                              const rheos_output *fetches, size_t num_fetches,
                              const rheos_operation *targets, size_t num_targets,
                              rheos_region **out_region);
RHEOS_API rheos_region *rheos_region_ref(rheos_region *region);
RHEOS_API void rheos_region_unref(rheos_region *region);

RHEOS_API int32_t rheos_region_num_inputs(const rheos_region *region);
RHEOS_API int32_t rheos_region_num_outputs(const rheos_region *region);

// Runs it: `inputs` and `out_outputs` (the caller's; NULL after a failure) are as many as it has.
// Tapes that record on this thread remember it. `options` may be NULL.
RHEOS_MUST_USE static inline rheos_status *rheos_region_run(rheos_region *region,
                                                            rheos_tensor *const *inputs,
                                                            rheos_tensor **out_outputs,
                                                            const rheos_run_options *options);

// Both at once. RHEOS_INVALID_ARGUMENT if the operation gives more than `num_outputs`; if it gives
// less, the others are NULL.
RHEOS_MUST_USE static inline rheos_status *rheos_eager_execute(rheos_eager *eager,
                                                               const rheos_eager_op *op,
                                                               rheos_tensor **out_outputs,
                                                               size_t num_outputs);

// The tensor in the memory of the first device that the name fits, such as "/gpu:0" or "/cpu:0":
// itself, counted once more, where it lies there or may lie nowhere but in the host's memory. Tapes
// remember it. RHEOS_INVALID_ARGUMENT, which lists the devices, where there is no such one.
RHEOS_STATUS rheos_eager_copy(rheos_eager *eager, rheos_tensor *tensor, const char *device,
                              rheos_tensor **out_tensor);

// A handle of a new variable of that dtype without a value, for AssignVariableOp, ReadVariableOp
// and the others of TensorFlow's resource variables. The variable goes with its last handle. Errors
// call it `name`.
RHEOS_STATUS rheos_eager_variable(rheos_eager *eager, rheos_dtype dtype, const char *name,
                                  rheos_tensor **out_handle);

// ---- Tapes

// Remembers what is computed from the tensors that it watches, by the thread that records on it.
typedef struct rheos_tape rheos_tape;

RHEOS_STATUS rheos_tape_new(rheos_eager *eager, rheos_tape **out_tape);
RHEOS_API void rheos_tape_free(rheos_tape *tape);

// Begins to remember what the calling thread runs, and ends. Any number of tapes may record at
// once.
RHEOS_STATUS rheos_tape_record(rheos_tape *tape);
RHEOS_API void rheos_tape_stop(rheos_tape *tape);
// Forgets all.
RHEOS_API void rheos_tape_reset(rheos_tape *tape);

// Gradients with respect to the tensor will be asked for. Of a variable, watch its handle.
RHEOS_STATUS rheos_tape_watch(rheos_tape *tape, rheos_tensor *tensor);
RHEOS_API bool rheos_tape_is_watched(const rheos_tape *tape, const rheos_tensor *tensor);
// A gradient: dense (`values` alone), or rows at `indices` of a tensor of shape `dense_shape`. All
// NULL: none.
typedef struct rheos_tensor_gradient {
  rheos_tensor *values, *indices, *dense_shape;
} rheos_tensor_gradient;

// The program's gradient of something it computed: sets in_gradients, all none at the start, the
// callee's references. Where no gradient arrives at an output, there are zeros.
typedef rheos_status *(*rheos_backward_function)(void *argument, rheos_tensor *const *out_gradients,
                                                 size_t num_outputs,
                                                 rheos_tensor_gradient *in_gradients,
                                                 size_t num_inputs);

// Tells the tapes that record on this thread and watch an input that `outputs` were computed from
// `inputs`. `release(argument)` is called when no tape needs it any more, in any case once.
RHEOS_STATUS rheos_eager_record(rheos_eager *eager, rheos_tensor *const *inputs, size_t num_inputs,
                                rheos_tensor *const *outputs, size_t num_outputs,
                                rheos_backward_function backward, void *argument,
                                void (*release)(void *argument));

// d sum(targets) / d sources: `output_gradients`, by target, weigh the targets; NULL, or an element
// NULL: ones. What it runs is remembered by the tapes that record, this one too. `out_gradients` by
// source: owned by the caller, none where the targets do not depend on it.
RHEOS_STATUS rheos_tape_gradient(rheos_tape *tape, rheos_tensor *const *targets, size_t num_targets,
                                 rheos_tensor *const *output_gradients,
                                 rheos_tensor *const *sources, size_t num_sources,
                                 rheos_tensor_gradient *out_gradients);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_STATUS rheos_eager_new_sized(const rheos_eager_options *options, size_t options_bytes,
                                   rheos_eager **out_eager);
RHEOS_MUST_USE static inline rheos_status *rheos_eager_new(const rheos_eager_options *options,
                                                           rheos_eager **out_eager) {
  return rheos_eager_new_sized(options, sizeof *options, out_eager);
}

RHEOS_STATUS rheos_eager_region_sized(rheos_eager *eager, const rheos_eager_op *op, size_t op_bytes,
                                      rheos_region **out_region);
RHEOS_MUST_USE static inline rheos_status *rheos_eager_region(rheos_eager *eager,
                                                              const rheos_eager_op *op,
                                                              rheos_region **out_region) {
  return rheos_eager_region_sized(eager, op, sizeof *op, out_region);
}

RHEOS_STATUS rheos_region_run_sized(rheos_region *region, rheos_tensor *const *inputs,
                                    rheos_tensor **out_outputs, const rheos_run_options *options,
                                    size_t options_bytes);
RHEOS_MUST_USE static inline rheos_status *rheos_region_run(rheos_region *region,
                                                            rheos_tensor *const *inputs,
                                                            rheos_tensor **out_outputs,
                                                            const rheos_run_options *options) {
  return rheos_region_run_sized(region, inputs, out_outputs, options, sizeof *options);
}

RHEOS_STATUS rheos_eager_execute_sized(rheos_eager *eager, const rheos_eager_op *op,
                                       size_t op_bytes, rheos_tensor **out_outputs,
                                       size_t num_outputs);
RHEOS_MUST_USE static inline rheos_status *rheos_eager_execute(rheos_eager *eager,
                                                               const rheos_eager_op *op,
                                                               rheos_tensor **out_outputs,
                                                               size_t num_outputs) {
  return rheos_eager_execute_sized(eager, op, sizeof *op, out_outputs, num_outputs);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_EAGER_H
