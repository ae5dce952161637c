// The table of all ops, expanded from ops.def. A constant: nothing is registered at run time.
#include "graph/op_def.h"

#define RHEOS_OP(op) extern const rheos__op_def rheos__op_##op;
#include "ops/ops.def"
#undef RHEOS_OP

const rheos__op_def *const rheos__op_table[] = {
#define RHEOS_OP(op) &rheos__op_##op,
#include "ops/ops.def"
#undef RHEOS_OP
    NULL,
};

const int32_t rheos__op_table_size =
    (int32_t)(sizeof rheos__op_table / sizeof rheos__op_table[0]) - 1;
