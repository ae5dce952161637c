// Graphs: operations and the tensors that flow between them, and how to look at them.
#ifndef RHEOS_GRAPH_H
#define RHEOS_GRAPH_H

#include <rheos/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

// A graph only grows. It is counted: sessions and scopes hold a reference of their own.
typedef struct rheos_graph rheos_graph;

RHEOS_API rheos_graph *rheos_graph_new(void);  // NULL when memory is short
RHEOS_API rheos_graph *rheos_graph_ref(rheos_graph *graph);
RHEOS_API void rheos_graph_unref(rheos_graph *graph);

// A node of a graph. `graph` is NULL for "none". Ids are dense, from 0, in order of creation.
typedef struct rheos_operation {
  rheos_graph *graph;
  int32_t id;  // among the graph's
} rheos_operation;

// One output of a node: a tensor of the graph. `graph` is NULL for "none".
typedef struct rheos_output {
  rheos_graph *graph;
  int32_t id;     // of the node
  int32_t index;  // among the node's outputs
} rheos_output;

static inline rheos_operation rheos_output_operation(rheos_output output) {
  rheos_operation operation;
  operation.graph = output.graph;
  operation.id = output.id;
  return operation;
}

static inline rheos_output rheos_operation_output(rheos_operation operation, int32_t index) {
  rheos_output output;
  output.graph = operation.graph;
  output.id = operation.id;
  output.index = index;
  return output;
}

// ---- Attributes

typedef enum rheos_attr_kind {
  RHEOS_ATTR_NONE = 0,
  RHEOS_ATTR_STRING,
  RHEOS_ATTR_INT,
  RHEOS_ATTR_FLOAT,
  RHEOS_ATTR_BOOL,
  RHEOS_ATTR_TYPE,
  RHEOS_ATTR_SHAPE,
  RHEOS_ATTR_TENSOR,
  RHEOS_ATTR_FUNC,         // a function of the graph's library
  RHEOS_ATTR_PLACEHOLDER,  // stands for an attribute of the enclosing function
  RHEOS_ATTR_LIST_STRING,
  RHEOS_ATTR_LIST_INT,
  RHEOS_ATTR_LIST_FLOAT,
  RHEOS_ATTR_LIST_BOOL,
  RHEOS_ATTR_LIST_TYPE,
  RHEOS_ATTR_LIST_SHAPE,
  RHEOS_ATTR_LIST_TENSOR,
  RHEOS_ATTR_LIST_FUNC,
} rheos_attr_kind;

// A function of the graph's library, and the values for its own attributes.
typedef struct rheos_func {
  rheos_string name;               // in the library
  const struct rheos_attr *attrs;  // by name
  size_t num_attrs;
  // The library's: how a file wrote it, where that has more than the above says.
  rheos_string original_;
} rheos_func;

// The value of an attribute. Pointers are borrowed: by the callee for the time of the call, or by
// the caller from the graph.
typedef struct rheos_attr_value {
  rheos_attr_kind kind;  // says which of the union it holds
  int32_t count;         // of a list
  union {
    // One each of int, float, bool, type, string, func, shape and tensor, then `count` of each.
    int64_t i;
    float f;
    bool b;
    rheos_dtype type;
    rheos_string s;  // also PLACEHOLDER
    const rheos_func *func;
    const rheos_shape *shape;
    rheos_tensor *tensor;
    const int64_t *ints;
    const float *floats;
    const bool *bools;
    const rheos_dtype *types;
    const rheos_shape *shapes;
    const rheos_string *strings;
    const rheos_func *funcs;
    rheos_tensor *const *tensors;
  };
} rheos_attr_value;

typedef struct rheos_attr {
  const char *name;        // NUL-terminated
  rheos_attr_value value;  // of any kind
} rheos_attr;

// ---- Looking at a graph

// The operations are {graph, id} with id from 0 up to this number: what a graph got since a program
// looked last is what begins at the number that it had then.
RHEOS_API int32_t rheos_graph_num_operations(const rheos_graph *graph);

// The operation of that name, e.g. "outer/c"; none if there is no such operation.
RHEOS_API rheos_operation rheos_graph_operation(rheos_graph *graph, const char *name);

// The tensor of that name, "outer/c:0" or "outer/c" for output 0. RHEOS_INVALID_ARGUMENT for a
// name that is not of this form, RHEOS_NOT_FOUND for one the graph does not have.
RHEOS_STATUS rheos_graph_output(rheos_graph *graph, const char *name, rheos_output *out_output);

// Writes the name and a NUL into `buffer`, cut to `size_bytes`; returns the length of the whole
// name.
RHEOS_API size_t rheos_operation_name(rheos_operation operation, char *buffer, size_t size_bytes);

RHEOS_API const char *rheos_operation_type(rheos_operation operation);  // "MatMul"
RHEOS_API const char *rheos_operation_device(
    rheos_operation operation);  // "" if none was asked for
RHEOS_API int32_t rheos_operation_num_inputs(rheos_operation operation);
RHEOS_API rheos_output rheos_operation_input(rheos_operation operation, int32_t index);
RHEOS_API int32_t rheos_operation_num_control_inputs(rheos_operation operation);
RHEOS_API rheos_operation rheos_operation_control_input(rheos_operation operation, int32_t index);
RHEOS_API int32_t rheos_operation_num_outputs(rheos_operation operation);

// An input that takes an output.
typedef struct rheos_consumer {
  rheos_operation operation;  // that has the input
  int32_t input;              // among the operation's
} rheos_consumer;

// The inputs that take an output, by operation, then by input. `out_count` gets their number, of
// which the first `capacity` are filled in: with 0 (and NULL) the call only counts. The first call
// for a graph looks at all of it, later ones at what came since.
RHEOS_STATUS rheos_output_consumers(rheos_output output, rheos_consumer *out_consumers,
                                    size_t capacity, size_t *out_count);
// The operations of which this one is a control input, in their order; filled in and counted
// likewise.
RHEOS_STATUS rheos_operation_control_outputs(rheos_operation operation,
                                             rheos_operation *out_operations, size_t capacity,
                                             size_t *out_count);

// Attributes, in the order of the op's signature, then any others.
RHEOS_API int32_t rheos_operation_num_attrs(rheos_operation operation);
RHEOS_API rheos_attr rheos_operation_attr_at(rheos_operation operation, int32_t index);
// kind RHEOS_ATTR_NONE if the operation has no such attribute.
RHEOS_API rheos_attr_value rheos_operation_attr(rheos_operation operation, const char *name);

// Asks for another device ("": for none), written as it is given. RHEOS_INVALID_ARGUMENT if
// `device` names none.
RHEOS_STATUS rheos_operation_set_device(rheos_operation operation, const char *device);

// Has it wait for `from` too, an operation of its graph that was made before it.
RHEOS_STATUS rheos_operation_add_control_input(rheos_operation operation, rheos_operation from);

// Has it wait for nobody any more but those whose outputs it takes.
RHEOS_STATUS rheos_operation_clear_control_inputs(rheos_operation operation);

// Has it take `output`, of an operation of its graph that was made before it, as input `input`: of
// the dtype of what it took before. What was known about shapes from it on, and does not follow any
// more, is forgotten.
RHEOS_STATUS rheos_operation_set_input(rheos_operation operation, int32_t input,
                                       rheos_output output);

// Closes a loop: input `input` of a Merge or RefMerge, made with anything of the dtype in its
// place, comes from `next`, an output of a NextIteration or RefNextIteration that was made later.
// What is known about shapes from the Merge on becomes what holds in every trip.
RHEOS_STATUS rheos_operation_close_loop(rheos_operation merge, int32_t input, rheos_output next);

// The file and line of the program that made the operation; file NULL if they are not known.
RHEOS_API void rheos_operation_source(rheos_operation operation, const char **out_file,
                                      int32_t *out_line);

RHEOS_API rheos_dtype rheos_output_dtype(rheos_output output);
RHEOS_API rheos_shape rheos_output_shape(rheos_output output);

// Refines what is known about the shape of an output. RHEOS_INVALID_ARGUMENT if it contradicts what
// is known already.
RHEOS_STATUS rheos_output_set_shape(rheos_output output, rheos_shape shape);

// ---- Random seeds: the seed of the graph, from which operations without one derive theirs

RHEOS_API void rheos_graph_set_seed(rheos_graph *graph, bool has_seed, int64_t seed);

// ---- Functions of the program, which the ops PyFunc and PyFuncStateless call by their tokens

// Sets outputs[0 .. num_outputs), owned by the caller, who frees those that are set after a
// failure. `inputs` are borrowed. Called from any thread, and from several at once, also for one
// step: of its functions those that do not need each other run side by side, and may wait for each
// other. `argument` is what the session's options give beside the function.
typedef rheos_status *(*rheos_program_function)(void *argument, const char *token,
                                                rheos_tensor *const *inputs, size_t num_inputs,
                                                rheos_tensor **outputs, size_t num_outputs);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_GRAPH_H
