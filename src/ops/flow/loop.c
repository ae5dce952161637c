// Loops of version 1: nodes that pass a value into a loop, to its next trip, and out of it. A loop
// is the nodes of one frame; what runs a plan with such nodes moves their values
// (runtime/run/flow_run.c).
#include "ops/flow/loop_grad.h"
#include "ops/kit/op_util.h"

// What enters once may be followed by other shapes, from the loop's end.
static rheos_status *shape_enter(rheos__infer *c) {
  return rheos__attr_bool(c->attrs, "is_constant") ? rheos__shape_unchanged(c) : NULL;
}

const rheos__op_def rheos__op_Enter = {
    .name = "Enter",
    .signature =
        "data: T -> output: T; T: type; frame_name: string; is_constant: bool = false; "
        "parallel_iterations: int = 10",
    .doc = "`data` in the first trip of the loop `frame_name`; in each of them if `is_constant`.",
    .shape = shape_enter,
    .gradient = rheos__gradient_enter,
    .flow = RHEOS__FLOW_ENTER,
};

const rheos__op_def rheos__op_RefEnter = {
    .name = "RefEnter",
    .signature =
        "data: Ref(T) -> output: Ref(T); T: type; frame_name: string; "
        "is_constant: bool = false; parallel_iterations: int = 10",
    .doc =
        "The reference `data` in the first trip of the loop `frame_name`; in each of them if "
        "`is_constant`.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__gradient_enter,
    .flow = RHEOS__FLOW_ENTER,
};

const rheos__op_def rheos__op_Exit = {
    .name = "Exit",
    .signature = "data: T -> output: T; T: type",
    .doc = "`data` outside of the loop.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__gradient_exit,
    .flow = RHEOS__FLOW_EXIT,
};

const rheos__op_def rheos__op_RefExit = {
    .name = "RefExit",
    .signature = "data: Ref(T) -> output: Ref(T); T: type",
    .doc = "The reference `data` outside of the loop.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__gradient_exit,
    .flow = RHEOS__FLOW_EXIT,
};

const rheos__op_def rheos__op_NextIteration = {
    .name = "NextIteration",
    .signature = "data: T -> output: T; T: type",
    .doc = "`data` in the loop's next trip.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__gradient_next_iteration,
    .flow = RHEOS__FLOW_NEXT_ITERATION,
};

const rheos__op_def rheos__op_RefNextIteration = {
    .name = "RefNextIteration",
    .signature = "data: Ref(T) -> output: Ref(T); T: type",
    .doc = "The reference `data` in the loop's next trip.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__gradient_next_iteration,
    .flow = RHEOS__FLOW_NEXT_ITERATION,
};

static rheos_status *shape_loop_cond(rheos__infer *c) {
  return rheos__infer_rank(c, 0, 0, &c->output_shapes[0]);
}

const rheos__op_def rheos__op_LoopCond = {
    .name = "LoopCond",
    .signature = "input: bool -> output: bool",
    .doc = "`input`, which tells whether the loop goes on.",
    .shape = shape_loop_cond,
    .gradient = rheos__no_gradient,
    .flow = RHEOS__FLOW_LOOP_COND,
};
