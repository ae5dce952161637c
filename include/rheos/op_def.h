// Definitions of ops: what each takes, gives and has as attributes.
#ifndef RHEOS_OP_DEF_H
#define RHEOS_OP_DEF_H

#include <rheos/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- The ops of the library

RHEOS_API int32_t rheos_num_ops(void);
RHEOS_API const char *rheos_op_type(int32_t index);  // NULL past the end

// A signature as text, "inputs -> outputs; attributes", NULL if there is no such op:
//   "a: T, b: T -> product: T; transpose_a: bool = false; T: {half, float, double}"
// What is behind an argument's name is a dtype, the attribute that holds one (T), a list of one
// dtype (N * T) or with the dtypes of an attribute, or Ref(T), a reference to a variable. Behind an
// attribute's are its kind or what it may be, ">= minimum", and "= default".
RHEOS_API const char *rheos_op_signature(const char *type);

// ---- One of them, or of the ops that only a graph has

// Lives as long as the library, of an op that only a graph has as long as the graph. What is asked
// of NULL, or past the end, is empty.
typedef struct rheos_op_def rheos_op_def;

// The definition of an op; with a graph also of those that only it has: its functions, and what a
// file defined. NULL if there is none.
RHEOS_API const rheos_op_def *rheos_op_def_find(rheos_graph *graph, const char *type);
// The definition of an operation's op, NULL for none. Of an op that nobody defines it has what the
// operation has.
RHEOS_API const rheos_op_def *rheos_operation_op_def(rheos_operation operation);

RHEOS_API const char *rheos_op_def_type(const rheos_op_def *op);  // "MatMul"
// One line, with arguments in `backquotes`; "" for ops that only a graph has.
RHEOS_API const char *rheos_op_def_description(const rheos_op_def *op);

RHEOS_API bool rheos_op_def_is_stateful(const rheos_op_def *op);     // two of them are never one
RHEOS_API bool rheos_op_def_is_commutative(const rheos_op_def *op);  // in its inputs
RHEOS_API bool rheos_op_def_is_aggregate(const rheos_op_def *op);    // sums of its sums are one sum
// Whether the op takes references to variables that have no value yet.
RHEOS_API bool rheos_op_def_allows_uninitialized_input(const rheos_op_def *op);

// An input or output. What it says by an attribute is that attribute's name, else NULL.
typedef struct rheos_op_argument {
  const char *name;       // NULL: there is none
  rheos_dtype dtype;      // RHEOS_INVALID_DTYPE: an attribute tells
  const char *type_attr;  // that has the dtype
  const char
      *number_attr;  // that has the number of tensors; NULL: one, or as `type_list_attr` says
  const char *type_list_attr;  // that has a dtype for each tensor
  bool is_ref;                 // a reference to a variable of that dtype
} rheos_op_argument;

RHEOS_API int32_t rheos_op_def_num_inputs(const rheos_op_def *op);
RHEOS_API rheos_op_argument rheos_op_def_input(const rheos_op_def *op, int32_t index);
RHEOS_API int32_t rheos_op_def_num_outputs(const rheos_op_def *op);
RHEOS_API rheos_op_argument rheos_op_def_output(const rheos_op_def *op, int32_t index);

typedef struct rheos_op_attr {
  const char *name;                    // NULL: there is none
  rheos_attr_kind kind;                // of its values
  rheos_attr_value default_value;      // its kind is RHEOS_ATTR_NONE: it has to be given
  bool has_minimum;                    // of an int, or of the length of a list
  int64_t minimum;                     // the least that is allowed
  uint64_t allowed_types;              // bit 1 << dtype for each that it may be; 0: any
  const char *const *allowed_strings;  // ends with NULL; NULL: any
} rheos_op_attr;

RHEOS_API int32_t rheos_op_def_num_attrs(const rheos_op_def *op);
RHEOS_API rheos_op_attr rheos_op_def_attr(const rheos_op_def *op, int32_t index);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_OP_DEF_H
