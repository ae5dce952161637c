// The structs of <rheos/ops.h>, which hold the arguments of one op each: their fields, in order.
// The generator of that header and the function that reads the structs both follow this
// description.
//
// Inputs come first, then attributes without a default, then those with one, then an unused char
// (so that a macro can end its initialiser with a designator) and the name of the node. What inputs
// tell (dtypes, lengths of lists) is no field.
#ifndef RHEOS_SRC_GRAPH_OP_ARGS_H
#define RHEOS_SRC_GRAPH_OP_ARGS_H

#include "graph/op_def.h"

// X(KIND, type in C, type of the count that follows it as `num_NAME`; char: none follows)
#define RHEOS__OP_FIELDS(X)                     \
  X(INPUT, rheos_output, char)                  \
  X(INPUTS, const rheos_output *, size_t)       \
  X(INT, int64_t, char)                         \
  X(OPTIONAL_INT, rheos_optional_int, char)     \
  X(FLOAT, float, char)                         \
  X(OPTIONAL_FLOAT, rheos_optional_float, char) \
  X(BOOL, bool, char)                           \
  X(NOT_BOOL, bool, char)                       \
  X(DTYPE, rheos_dtype, char)                   \
  X(TEXT, const char *, char)                   \
  X(SHAPE, const rheos_shape *, char)           \
  X(TENSOR, rheos_tensor *, char)               \
  X(LIST_STRING, const rheos_string *, int32_t) \
  X(LIST_INT, const int64_t *, int32_t)         \
  X(LIST_FLOAT, const float *, int32_t)         \
  X(LIST_BOOL, const bool *, int32_t)           \
  X(LIST_TYPE, const rheos_dtype *, int32_t)    \
  X(LIST_SHAPE, const rheos_shape *, int32_t)   \
  X(END, char, char)                            \
  X(NAME, const char *, char)

typedef enum rheos__op_field_kind {
  RHEOS__FIELD_NONE,
#define ENUMERATOR(kind, type, count_type) RHEOS__FIELD_##kind,
  RHEOS__OP_FIELDS(ENUMERATOR)
#undef ENUMERATOR
} rheos__op_field_kind;

typedef struct rheos__op_field {
  rheos__op_field_kind kind;
  int32_t index;  // of the input or the attribute
  size_t offset_bytes, size_bytes;
} rheos__op_field;

// Moves `field`, NONE at the start, to the next field of the op's struct; false past the last one.
bool rheos__next_op_field(const rheos__signature *signature, rheos__op_field *field);

// The size of the struct.
size_t rheos__op_args_bytes(const rheos__signature *signature);

#endif  // RHEOS_SRC_GRAPH_OP_ARGS_H
