// The ends of a function's body.
#include "ops/kit/op_util.h"

const rheos__op_def rheos__op__Arg = {
    .name = "_Arg",
    .signature = "-> output: T; T: type; index: int >= 0",
    .doc = "Argument `index` of the function whose body it is in.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_ARG | RHEOS_OP_PLACEHOLDER,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
};

const rheos__op_def rheos__op__Retval = {
    .name = "_Retval",
    .signature = "input: T ->; T: type; index: int >= 0",
    .doc = "`input` is result `index` of the function whose body it is in.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_RETVAL,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
};
