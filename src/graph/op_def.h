// What an op is: signature, shape function, gradient, kernel. One constant rheos__op_def each.
//
// Signatures are text, "inputs -> outputs; attributes":
//   "a: T, b: T -> product: T; transpose_a: bool = false; T: {half, float, double}"
// An argument is `name: TYPE` with TYPE one of
//   float, int32, string, resource, ...   a dtype by TensorFlow's name
//   T                                     the dtype in the attribute T
//   N * T, N * int32                      a list of N tensors of one dtype
//   Tlist                                 a list with the dtypes in the list(type) attribute
//   Ref(T)                                a reference to a variable
// An attribute is `name: KIND [>= minimum] [= default]` with KIND one of int, float, bool, string,
// type, shape, tensor, func, list(...) of one of these, {float, double} (a type out of these),
// list({..}), or {"a", "b"} (a string out of these). Type sets may use the words `number`, `real`,
// `floating`, `integer`, `index` ({int32, int64}). Defaults are written as Python would: 1, 1.5,
// true, "text", float, [1, 2], [], for shapes {} (scalar), {2, -1} or ? (unknown), and for tensors
// uint8 [1, 2].
#ifndef RHEOS_SRC_GRAPH_OP_DEF_H
#define RHEOS_SRC_GRAPH_OP_DEF_H

#include <rheos/gradients.h>
#include <rheos/op_def.h>

#include "base/arena.h"
#include "resource/packing.h"
#include "resource/resource.h"
#include "resource/waitable.h"
#include "tensor/tensor.h"

typedef struct rheos__op_def rheos__op_def;
typedef struct rheos__device rheos__device;          // device/device.h
typedef struct rheos__rendezvous rheos__rendezvous;  // resource/rendezvous.h
typedef struct rheos__instances rheos__instances;    // resource/collective.h

// ---- Attributes of a node, all those of the signature first and in its order, defaults filled in.
// Interned by the graph: nodes with the same attributes share one.
typedef struct rheos__attrs {
  uint64_t hash;
  int32_t count;
  rheos_attr items[];
} rheos__attrs;

// NULL if there is none of that name.
const rheos_attr_value *rheos__attrs_find(const rheos__attrs *attrs, const char *name);
bool rheos__attr_value_equal(const rheos_attr_value *a, const rheos_attr_value *b);
// Whether a value that a program gives can be looked at and kept at all.
bool rheos__attr_value_is_sound(const rheos_attr_value *value);
// Of name and value; equal ones have equal hashes.
uint64_t rheos__attr_hash(uint64_t hash, const rheos_attr *attr);
// Gives back the tensors of a value that holds references to them.
void rheos__attr_release(const rheos_attr_value *value);
// For attributes that the signature guarantees.
int64_t rheos__attr_int(const rheos__attrs *attrs, const char *name);
float rheos__attr_float(const rheos__attrs *attrs, const char *name);
bool rheos__attr_bool(const rheos__attrs *attrs, const char *name);
rheos_dtype rheos__attr_type(const rheos__attrs *attrs, const char *name);
rheos_shape rheos__attr_shape(const rheos__attrs *attrs, const char *name);
const char *rheos__attr_string(const rheos__attrs *attrs, const char *name);  // NUL-terminated

// ---- Shape inference
//
// Called when a node is added (with what is known then) and when a plan is specialised (with every
// input shape known, and the values of the inputs that are constant). It states what is wrong
// ("expected a matrix, got shape [3]"); the caller adds the node.
typedef struct rheos__infer {
  const rheos__op_def *op;
  const rheos__attrs *attrs;
  int32_t num_inputs, num_outputs;
  const rheos_dtype *input_dtypes;
  const rheos_shape *input_shapes;
  rheos_tensor *const *input_values;  // NULL entries where the value is not known
  // The declared shape of the variable behind each input that is a handle, or that of the elements
  // of a tensor array or list; NULL entries where the input is none or nothing is known. NULL:
  // nothing is known of any.
  const rheos_shape *const *handle_shapes;
  const rheos_dtype *output_dtypes;
  rheos_shape *output_shapes;  // the answer; unknown at the start
  // Set by the caller: how to learn parts of an integer vector's value; may be NULL.
  bool (*partial)(void *argument, int32_t input, rheos_shape *out_shape);
  // How to learn the whole value of an integer scalar or vector that follows from shapes; with it.
  bool (*whole)(void *argument, int32_t input, int64_t *values, int32_t capacity,
                int32_t *out_count);
  void *partial_argument;
} rheos__infer;

typedef rheos_status *(*rheos__shape_fn)(rheos__infer *c);

// The value of input `input`, a vector of dimensions, as a shape; dimensions or the rank are -1
// where they are not known. A scalar -1 is an unknown shape. A status if it is a value but not a
// valid shape (e.g. a dimension below -1).
rheos_status *rheos__infer_shape_value(rheos__infer *c, int32_t input, rheos_shape *out_shape);

// The shape of the variable behind input `input`, a reference or a handle, as far as it is known.
rheos_shape rheos__infer_variable_shape(const rheos__infer *c, int32_t input);

// Fails unless the rank is `rank` or unknown; on success `*out_shape` has that rank.
rheos_status *rheos__infer_rank(const rheos__infer *c, int32_t input, int32_t rank,
                                rheos_shape *out_shape);

// The sum of two dimensions: -1 if one of them is not known, a status if it is beyond the integers.
rheos_status *rheos__dim_add(int64_t dim, int64_t more, int64_t *out_sum);

// Ready-made shape functions
rheos_status *rheos__shape_unchanged(rheos__infer *c);    // every output like input 0
rheos_status *rheos__shape_scalar(rheos__infer *c);       // every output a scalar
rheos_status *rheos__shape_broadcast_2(rheos__infer *c);  // output 0: inputs 0 and 1 broadcast
rheos_status *rheos__shape_none(rheos__infer *c);         // leaves the outputs unknown

// ---- Gradients
//
// Adds nodes through `scope` (whose name scope is already "gradients/NODE_grad") and sets in_grads.
// Errors go to the scope.
typedef struct rheos__grad {
  rheos_scope *scope;
  const rheos__op_def *op;    // whose gradient function runs
  rheos_operation operation;  // the node being differentiated
  const rheos__attrs *attrs;
  int32_t num_inputs, num_outputs;
  const rheos_output *inputs, *outputs;
  // One for each output, none where no gradient arrives. If any arrives at all, absent ones of
  // differentiable dtypes are zeros already, but for ops that call functions.
  const rheos_gradient *out_grads;
  rheos_gradient *in_grads;                // one for each input; all none at the start
  const rheos_gradients_options *options;  // of the whole
} rheos__grad;

typedef void (*rheos__gradient_fn)(rheos__grad *g);

// For ops whose outputs do not depend differentiably on their inputs (Shape, comparisons, ...).
void rheos__no_gradient(rheos__grad *g);

// ---- Kernels: the contract
//
// `prepare` is called once a node and set of input shapes. It may decline by setting
// `decline_reason` (the next variant is asked; the reference in the op_def is asked last). Else it
// puts its state in the arena and answers with ONE of
//   run      all output shapes are known beforehand; it computes units [first, last) of the output
//            from the buffers it is given. It touches only these, allocates nothing and locks
//            nothing, so that it can be split over threads. Every unit writes its own part of the
//            output, and what a unit computes does not depend on how units are grouped.
//   compute  takes and returns tensors: for outputs whose shape depends on values, for ops with
//   state
//            or side effects, for strings and resources.
//   alias_input >= 0: output 0 is that input's bytes under the output's shape; nothing runs.
// Both report data errors (an index out of range) by a status; the caller adds the node.

// inputs: one pointer for each input, then outputs: one for each output. scratch: scratch_bytes of
// its own for each call, 64-byte aligned.
typedef rheos_status *(*rheos__run_fn)(const void *state, const void *const *inputs,
                                       void *const *outputs, void *scratch, int64_t first_unit,
                                       int64_t last_unit);

// `outputs` are NULL at the start; on success each holds a tensor with a reference for the caller
// (an input may be passed on with a new reference), in the memory that `prepare` was told. Inputs
// that are references or resources are NULL: their cells came with `prepare`. An input tensor may
// be a view: copy, don't keep it, unless rheos__tensor_can_keep(). On failure, outputs already made
// are freed by the caller.
typedef rheos_status *(*rheos__compute_fn)(void *state, rheos__step *step,
                                           rheos_tensor *const *inputs, rheos_tensor **outputs);

// How kernels that change variables are run side by side, where they stand together in a plan: one
// after another they begin, their units are spread over the threads as if they were one kernel's,
// and they end. They have `compute` too, which does the same by itself; their outputs are
// references.
typedef struct rheos__grouped_update {
  size_t work_bytes;  // what each keeps from begin to end
  // Takes the first of `count` kernels, one at least, that do not change the same variables.
  // `out_state`, in the arena, is what the functions below get.
  rheos_status *(*prepare)(void *const *states, int32_t count, rheos__arena *arena,
                           void **out_state, int32_t *out_taken);
  // `inputs[i]` are those of kernel i. Fills in `works` and, of each kernel, how many units it has
  // and their arithmetic. False, with nothing changed, where one of them fails: alone it tells why.
  bool (*begin)(const void *state, rheos_tensor *const *const *inputs, void *works,
                int64_t *out_units, int64_t *out_flops);
  void (*run)(const void *works, int32_t kernel, int64_t first_unit, int64_t last_unit);
  void (*end)(const void *state);
} rheos__grouped_update;

typedef struct rheos__prepare rheos__prepare;
typedef struct rheos__bodies rheos__bodies;        // runtime/call/bodies.h
typedef struct rheos__structure rheos__structure;  // graph/calls.h
typedef rheos_status *(*rheos__prepare_fn)(rheos__prepare *p);

struct rheos__prepare {
  // Given
  const rheos__device *device;  // that the kernel is for
  const char *device_name;      // in full, of the one that the node was placed on
  // Where the inputs and outputs lie, and what it changes; but what reads shapes only may be given
  // anything.
  rheos__memory *memory;
  // The device's kernels for an op, best first, NULL-terminated, for kernels that are made of
  // others; NULL, as the answer too: none.
  const rheos__prepare_fn *(*variants)(const rheos__op_def *op);
  const rheos__op_def *op;
  const rheos__attrs *attrs;
  const char *node_name;
  int32_t num_inputs, num_outputs;
  const rheos_dtype *input_dtypes;          // never references: the base dtypes
  const rheos_shape *input_shapes;          // known
  rheos_tensor *const *input_values;        // the constant ones, NULL for others
  rheos__resource *const *input_resources;  // the cell behind a reference or handle, else NULL
  const rheos_shape *const *handle_shapes;  // as in rheos__infer
  const rheos_dtype *output_dtypes;
  const rheos_shape *output_shapes;    // known, except where they depend on values
  rheos__resources *resources;         // of the session; NULL while constants are folded
  rheos__resources *device_resources;  // of the device that the node asks for; NULL: `resources`
  rheos__resources *node_resources;    // of what runs the node's graph, under nodes' names; or NULL
  rheos_graph *graph;                  // the node's, for functions of its library
  rheos__bodies *bodies;               // the session's, which run them; NULL: none do
  rheos__structure *structure;         // that the op is, raised; NULL: it is none
  rheos__step *step;                   // that waits for the kernel; NULL: none
  rheos_program_function program_function;  // of the session, for the functions of the program
  void *program_argument;
  bool leaves_functions;  // as the session's options say
  bool is_finished;       // it is part of a segment, which the device finishes before it runs
  rheos__arena *arena;    // for `state`
  // Whether the bytes of an input stay from step to step: see rheos__input_stays().
  bool (*stays)(void *argument, int32_t input);
  void *stays_argument;
  // The answer
  const char *decline_reason;
  void *state;
  void (*release)(void *state);  // frees what the state holds outside the arena; may be NULL
  rheos__run_fn run;
  rheos__compute_fn compute;
  const rheos__grouped_update *grouped;  // beside `compute`; NULL: always by itself
  size_t scratch_bytes;
  int64_t num_units;      // 0 or 1: not to be split
  int64_t unit_elements;  // units make equal parts of output 0 in order, of so many elements (the
                          // last one what is left); 0: they do not, or nothing is said
  int32_t alias_input;    // -1: none
  int32_t
      reuse_input;  // output 0 may be written over this input (same size, element by element); -1
  int64_t flops;    // arithmetic of the whole call: a multiply-add is 2, a transcendental about 10
  int64_t bytes;    // moved by the whole call; 0: inputs and outputs once
  rheos__packing_request
      packing;  // of an input that stays: `run` gets a rheos__packed in its place
  rheos__resource
      *output_resource;  // the cell that output 0 refers to (references, handles), borrowed
  // Of an op that calls functions, in the arena: the shapes of all outputs, as far as these tell,
  // and the cells of those that are handles.
  rheos_shape *called_shapes;
  rheos__resource **called_resources;
};

// Whether input `input` is a constant, or a variable that the plan only reads: a form of it, made
// once, is worth while (resource/packing.h). False where the kernel runs but once.
static inline bool rheos__input_stays(const rheos__prepare *p, int32_t input) {
  return p->stays != NULL && p->stays(p->stays_argument, input);
}

// An estimate for `flops`, of factors whose product may be beyond the integers.
static inline int64_t rheos__flops(double flops) {
  return flops < 0x1p62 ? (int64_t)flops : INT64_C(1) << 62;
}

// State in the arena, zeroed; NULL when memory is short (return rheos__out_of_memory()).
#define RHEOS_NEW_STATE(p, type) \
  ((type *)((p)->state = rheos__arena_alloc_zeroed((p)->arena, sizeof(type))))

// What `compute` may ask of the step it runs in.
// True once the step is cancelled or past its deadline: stop soon, with any status.
bool rheos__step_should_stop(rheos__step *step);
// As rheos__step_should_stop(), of the step that the calling thread works for, on any of its
// threads: for `run` and `prepare`, between pieces of work that take longer than a few
// milliseconds.
bool rheos__is_stopping(void);
// Resources that live as long as the step, for the thread that runs it; NULL when memory is short.
rheos__resources *rheos__step_resources(rheos__step *step);
// Runs body(argument, first, last) over [0, num_units) on the session's threads and waits. The
// first error wins; it may be that the step is to stop, which is asked every few milliseconds by
// `flops`.
rheos_status *rheos__step_parallel(rheos__step *step, int64_t num_units, int64_t flops,
                                   rheos_status *(*body)(void *argument, int64_t first,
                                                         int64_t last),
                                   void *argument);
// As rheos__step_parallel(), not stopped in between: for changes that others would see half of,
// such as of variables.
rheos_status *rheos__step_parallel_whole(rheos__step *step, int64_t num_units, int64_t flops,
                                         rheos_status *(*body)(void *argument, int64_t first,
                                                               int64_t last),
                                         void *argument);
// Begins an attempt on a resource that others may have to change first, and gives its answer; takes
// the attempt. Where that has to wait the step may go on without it: what comes back is to be
// returned from `compute`, whatever it is. Of an op with RHEOS_OP_WAITS or RHEOS_OP_CALLS_PROGRAM.
rheos_status *rheos__step_attempt_take(rheos__step *step, rheos__attempt *attempt,
                                       rheos_tensor **outputs);

// Where the step's sends and receives meet, which lasts as long as the step; NULL when memory is
// short.
rheos__rendezvous *rheos__step_rendezvous(rheos__step *step);
// The collectives that the step takes part in with others; NULL when memory is short, or where it
// has no home.
rheos__instances *rheos__step_instances(rheos__step *step);
// The trip of a loop on tokens that the kernel runs in; zeros outside of all. A frame has a number
// of its own for each time that it is entered, the same wherever a part of the step runs.
typedef struct rheos__trip {
  uint64_t frame, number;
} rheos__trip;
rheos__trip rheos__step_trip(const rheos__step *step);

// Whether the step has something that it could do while the kernel waits. Without a step: false.
bool rheos__step_can_go_on(const rheos__step *step);
// Calls run(argument) on a thread that belongs to no step. False: none can be had.
bool rheos__run_beside(void (*run)(void *argument), void *argument);

// ---- The definition

// What an op means to the engine, which never asks for its name.
enum {
  // Never folded, merged or dropped as unused within the computed path.
  RHEOS_OP_STATEFUL = 1 << 0,
  // Changes what is behind input 0: runs after reads not ordered after it.
  RHEOS_OP_WRITES = 1 << 1,
  RHEOS_OP_COMMUTATIVE = 1 << 2,
  // The outputs follow from the input shapes: the kernel never looks at the inputs' bytes (its
  // pointers may be NULL). Folded once shapes are known.
  RHEOS_OP_READS_SHAPES = 1 << 3,
  // `prepare` is told the node's name (to copy), as with stateful ops.
  RHEOS_OP_WANTS_NAME = 1 << 4,
  // Counts the variants in what it reads and makes; other kernels, which would copy pointers, are
  // not
  // run on variants.
  RHEOS_OP_TAKES_VARIANTS = 1 << 5,
  // Output 0 is the attribute `value`, a tensor.
  RHEOS_OP_CONSTANT = 1 << 6,
  // The caller feeds the value.
  RHEOS_OP_PLACEHOLDER = 1 << 7,
  // Output 0 is input 0: who reads it through the node reads what the input refers to.
  RHEOS_OP_FORWARDS = 1 << 8,
  // Output 0 is a handle of a variable, whose values have the attribute `shape`.
  RHEOS_OP_VARIABLE = 1 << 9,
  // Output 0 is the tensor that the variable behind input 0, a handle, holds.
  RHEOS_OP_READS_VARIABLE = 1 << 10,
  // Fails the step with a message of the program's, depending on the inputs.
  RHEOS_OP_ASSERTS = 1 << 11,
  // Row r of output 0 needs row r of input 0 (its column r, if `transpose_a` is set), and all of
  // the
  // other inputs.
  RHEOS_OP_BY_ROWS = 1 << 12,
  // Calls functions: `prepare` may tell more of the outputs' shapes, and cells of all of them.
  RHEOS_OP_CALLS = 1 << 13,
  // Output 0 is the argument `index` of the function whose body it is in; input 0 is its result.
  RHEOS_OP_ARG = 1 << 14,
  RHEOS_OP_RETVAL = 1 << 15,
  // Output 0 is a list of tensors; input `element_shape` tells what is known of their shapes.
  RHEOS_OP_MAKES_LIST = 1 << 16,
  // Output 0 is a list with elements of the shapes that the list in input 0 has.
  RHEOS_OP_CHANGES_LIST = 1 << 17,
  // May have to wait for what other steps, or other ops of its step, do.
  RHEOS_OP_WAITS = 1 << 18,
  // Looks at what is behind the handles it takes, and leaves it as it is.
  RHEOS_OP_ONLY_READS = 1 << 19,
  // The name of a function that the library has no longer.
  RHEOS_OP_REMOVED = 1 << 20,
  // All it does is call the function `f`, or the one of its name, with its inputs.
  RHEOS_OP_IS_CALL = 1 << 21,
  // Gives the variable behind input 0, a handle, the tensor that is input 1, and does nothing else
  // unless
  // the attribute `validate_shape` is set.
  RHEOS_OP_ASSIGNS = 1 << 22,
  // The op's outputs have the shapes that the graph says they have; its shape function cannot tell.
  RHEOS_OP_SHAPES_OF_GRAPH = 1 << 23,
  // Calls a function of the program, which may wait for what other ops of its step call.
  RHEOS_OP_CALLS_PROGRAM = 1 << 24,
  // The op's gradient has to know the shapes of its inputs.
  RHEOS_OP_GRADIENT_OF_SHAPES = 1 << 25,
  // A sum of its inputs: sums of sums are one. Said of the op, as the flag below; nothing here
  // asks.
  RHEOS_OP_AGGREGATE = 1 << 26,
  // Takes references to variables that have no value yet.
  RHEOS_OP_TAKES_UNINITIALIZED = 1 << 27,
  // May give dead values, though nothing that it takes is dead: then `compute` leaves its outputs
  // NULL.
  RHEOS_OP_MAY_GIVE_DEAD = 1 << 28,
  // Hands what its last argument lists, or all inputs if it is a call, to the functions that it
  // calls, and their results on, in whatever memory they lie. Of an op that calls nothing: keeps
  // tensors and gives them back so, those of the dtype that an attribute tells of the elements.
  RHEOS_OP_ANY_MEMORY = 1 << 29,
  // Reads or writes files whose names a program chooses; see `file_argument`.
  RHEOS_OP_USES_FILES = 1 << 30,
};

// What an op does to the flow of control. It has no kernel: what runs the plan moves its values.
typedef enum rheos__flow_role {
  RHEOS__FLOW_NONE,
  RHEOS__FLOW_SWITCH,  // the output that the last input selects gets input 0, the others are dead
  RHEOS__FLOW_SELECT,  // output 0 is that one of the inputs behind input 0 which it selects
  RHEOS__FLOW_MERGE,   // the first input that is not dead, and which one it is
  RHEOS__FLOW_ENTER,   // into the loop `frame_name`
  RHEOS__FLOW_EXIT,    // out of a loop
  RHEOS__FLOW_NEXT_ITERATION,   // into the loop's next trip
  RHEOS__FLOW_LOOP_COND,        // whether a loop goes on
  RHEOS__FLOW_CONTROL_TRIGGER,  // runs whether what it waits for is dead or not
} rheos__flow_role;

struct rheos__op_def {
  const char *name;
  const char *signature;
  const char *doc;  // one line; arguments in `backquotes`
  unsigned flags;
  rheos__shape_fn shape;
  rheos__gradient_fn gradient;  // NULL: none is defined, asking for one is an error
  // The reference kernel: `prepare`, or `compute` alone where that wants no state. Neither: the op
  // cannot run.
  rheos__prepare_fn prepare;
  rheos__compute_fn compute;
  rheos__flow_role flow;
  // What an op without outputs does where something is dead that it takes or waits for; NULL:
  // nothing.
  rheos_status *(*run_dead)(const rheos__attrs *attrs, rheos__step *step);
  // What tells the ops of a family apart in the functions that they share, of a type that the
  // family defines; NULL: nothing.
  const void *family;
  // Of an op that uses files only where it is told a name: the input or attribute with it, where ""
  // is none, nor is a stream of PrintV2. NULL: it always does.
  const char *file_argument;
};

// Asks the reference kernel; the op has one.
rheos_status *rheos__prepare_reference(rheos__prepare *p);
static inline bool rheos__has_reference(const rheos__op_def *op) {
  return op->prepare != NULL || op->compute != NULL;
}
// Whether a CPU runs it without a kernel of its own for it.
static inline bool rheos__runs_by_itself(const rheos__op_def *op) {
  return rheos__has_reference(op) || op->flow != RHEOS__FLOW_NONE;
}

// All ops, in the order of ops.def. Defined in ops/op_table.c.
extern const rheos__op_def *const rheos__op_table[];
extern const int32_t rheos__op_table_size;

// ---- Parsed signatures: made once for the process, constant afterwards

// Inputs, outputs or attributes of one op, or items of one list in its signature.
enum { RHEOS__MAX_SIGNATURE_ITEMS = 64 };

typedef struct rheos__arg {
  const char *name;
  rheos_dtype dtype;       // fixed; RHEOS_INVALID_DTYPE if it comes from an attribute
  int16_t type_attr;       // index of the attribute with the dtype, or -1
  int16_t number_attr;     // index of the attribute with the length of the list, or -1
  int16_t type_list_attr;  // index of the list(type) attribute, or -1
  bool is_ref;
} rheos__arg;

typedef struct rheos__attr_def {
  const char *name;
  rheos_attr_kind kind;
  bool has_default, has_minimum;
  rheos_attr_value default_value;
  int64_t minimum;                     // of an int, or of the length of a list
  uint64_t allowed_types;              // bit for each dtype; 0: any
  const char *const *allowed_strings;  // NULL-terminated; NULL: any
} rheos__attr_def;

typedef struct rheos_op_def {
  const rheos__op_def *op;
  int32_t num_inputs, num_outputs, num_attrs;
  const rheos__arg *inputs, *outputs;
  const rheos__attr_def *attrs;
} rheos__signature;

// NULL if there is no such op, or memory was short when the table was made.
const rheos__signature *rheos__signature_by_name(const char *name);
// The index'th op of the table.
const rheos__signature *rheos__signature_at(int32_t index);

#endif  // RHEOS_SRC_GRAPH_OP_DEF_H
