// Branches of version 1: nodes that pass a value on to one of several places, and that take it from
// one of several. What runs a plan with such nodes moves their values (runtime/run/flow_run.c).
#include "graph/control_context.h"
#include "ops/flow/loop_grad.h"
#include "ops/kit/op_util.h"

// ---- Gradients

static rheos_operation switch_by(rheos_scope *s, const char *name, rheos_output data,
                                 rheos_output pred) {
  const rheos_output inputs[] = {data, pred};
  return rheos__op_n(s, "Switch", name, inputs, 2, NULL, 0);
}

static bool is_of_loop(rheos_control_context *context) {
  return context != NULL && context->is_while;
}

// Whichever side the value took, its gradient comes back from there; from the other side come
// zeros.
static void gradient_switch(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_control_context *context = rheos__context_of(g->operation.graph, g->operation.id);
  if (is_of_loop((rheos_control_context *)(uintptr_t)context) &&
      g->inputs[1].id == context->pivot.id) {
    rheos__gradient_loop_switch(g);
    return;
  }
  for (int32_t i = 0; i < 2; ++i) {
    if (!rheos__is_some(g->out_grads[i].values)) return;  // a handle that only one side uses
  }
  if (context != NULL && !context->is_while) {
    g->in_grads[0] = rheos__merge_gradients(s, "cond_grad", g->out_grads);
    return;
  }
  rheos_output sides[2];
  for (int32_t i = 0; i < 2; ++i) {
    sides[i] = rheos_operation_output(switch_by(s, NULL, rheos__grad_dense(g, i), g->inputs[1]), i);
  }
  rheos__grad_set(g, 0,
                  rheos_operation_output(rheos__op_n(s, "Merge", NULL, sides, 2, NULL, 0), 0));
}

// The predicate of a conditional in a loop: as it was in the trip that is gone back through.
static rheos_output pred_of_trip(rheos_scope *s, rheos__backward_loop *b, rheos_output pred) {
  const rheos__edge edge = {pred.id, pred.index};
  const rheos__context_value *known = rheos__values_find(&b->history, edge);
  if (known != NULL) return (rheos_output){pred.graph, known->inside.id, known->inside.index};
  const rheos_output stack = rheos__backward_push(s, b, pred, false);
  const rheos_output popped = rheos__backward_pop(s, b, stack, pred, false);
  if (rheos_scope_status(s) == NULL) {
    const rheos__edge inside = {popped.id, popped.index};
    rheos_scope_fail_take(s, rheos__values_know(&b->history, edge, inside));
  }
  return popped;
}

// The gradient goes to the side that the value came from.
static void gradient_merge(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_graph *graph = g->operation.graph;
  rheos_control_context *context = rheos__output_context_of(graph, g->inputs[0].id);
  if (is_of_loop(context)) {
    rheos__gradient_loop_merge(g);
    return;
  }
  if (context != NULL && g->num_inputs == 2) {
    rheos_output pred = {graph, context->pred.id, context->pred.index};
    rheos__backward_loop *b = rheos__grad_loop(g);
    if (b != NULL) pred = pred_of_trip(s, b, pred);
    rheos__switch_gradient(s, "cond_grad", &g->out_grads[0], pred, g->in_grads);
    return;
  }
  const rheos_output gradient = rheos__grad_dense(g, 0);
  rheos_output *taken =
      g->num_inputs > 0 ? rheos__alloc_array((size_t)g->num_inputs, sizeof *taken) : NULL;
  if (taken == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return;
  }
  for (int32_t i = 0; i < g->num_inputs; ++i) {
    taken[i] = rheos__op_with_number(s, "Equal", "Equal", g->outputs[1], i);
  }
  for (int32_t i = 0; i < g->num_inputs; ++i) {
    rheos__grad_set(g, i, rheos_operation_output(switch_by(s, NULL, gradient, taken[i]), 1));
  }
  rheos__free(taken);
}

// ---- Switch

// Every output may be input `data`, where it is not dead.
static rheos_status *shape_switch(rheos__infer *c) {
  rheos_shape selector;
  RHEOS_TRY(rheos__infer_rank(c, c->num_inputs - 1, 0, &selector));
  return rheos__shape_unchanged(c);
}

const rheos__op_def rheos__op_Switch = {
    .name = "Switch",
    .signature = "data: T, pred: bool -> output_false: T, output_true: T; T: type",
    .doc = "`data` at the output that `pred` tells; the other one is dead.",
    .shape = shape_switch,
    .gradient = gradient_switch,
    .flow = RHEOS__FLOW_SWITCH,
};

const rheos__op_def rheos__op_RefSwitch = {
    .name = "RefSwitch",
    .signature = "data: Ref(T), pred: bool -> output_false: Ref(T), output_true: Ref(T); T: type",
    .doc = "The reference `data` at the output that `pred` tells; the other one is dead.",
    .flags = RHEOS_OP_TAKES_UNINITIALIZED,
    .shape = shape_switch,
    .gradient = gradient_switch,
    .flow = RHEOS__FLOW_SWITCH,
};

const rheos__op_def rheos__op__SwitchN = {
    .name = "_SwitchN",
    .signature =
        "data: T, output_index: int32 -> outputs: num_outs * T; num_outs: int >= 1; "
        "T: type",
    .doc =
        "`data` at the output of number `output_index`, the last one if there is none of that "
        "number; the others are dead.",
    .shape = shape_switch,
    .flow = RHEOS__FLOW_SWITCH,
};

// ---- Select

static rheos_status *shape_ref_select(rheos__infer *c) {
  rheos_shape index;
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &index));
  for (int32_t i = 2; i < c->num_inputs; ++i) {
    if (!rheos_shape_equal(&c->input_shapes[1], &c->input_shapes[i])) return NULL;
  }
  c->output_shapes[0] = c->input_shapes[1];
  return NULL;
}

const rheos__op_def rheos__op_RefSelect = {
    .name = "RefSelect",
    .signature = "index: int32, inputs: Ref(N * T) -> output: Ref(T); T: type; N: int >= 1",
    .doc = "The reference of number `index` among `inputs`.",
    .shape = shape_ref_select,
    .flow = RHEOS__FLOW_SELECT,
};

// ---- Merge

// What all inputs agree on.
static rheos_status *shape_merge(rheos__infer *c) {
  rheos_shape shape = c->input_shapes[0];
  for (int32_t i = 1; i < c->num_inputs; ++i) {
    shape = rheos__shape_common(&shape, &c->input_shapes[i]);
  }
  c->output_shapes[0] = shape;
  c->output_shapes[1] = RHEOS_SCALAR;
  return NULL;
}

const rheos__op_def rheos__op_Merge = {
    .name = "Merge",
    .signature = "inputs: N * T -> output: T, value_index: int32; T: type; N: int >= 1",
    .doc = "The first of `inputs` that comes and is not dead, and its number.",
    .shape = shape_merge,
    .gradient = gradient_merge,
    .flow = RHEOS__FLOW_MERGE,
};

const rheos__op_def rheos__op_RefMerge = {
    .name = "RefMerge",
    .signature = "inputs: Ref(N * T) -> output: Ref(T), value_index: int32; T: type; N: int >= 1",
    .doc = "The first of the references `inputs` that comes and is not dead, and its number.",
    .shape = shape_merge,
    .gradient = gradient_merge,
    .flow = RHEOS__FLOW_MERGE,
};

// ---- Without values

const rheos__op_def rheos__op_ControlTrigger = {
    .name = "ControlTrigger",
    .signature = "->",
    .doc = "Does nothing, after what it waits for; not dead where that is.",
    .flags = RHEOS_OP_STATEFUL,
    .flow = RHEOS__FLOW_CONTROL_TRIGGER,
};

static rheos_status *compute_abort(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs, (void)outputs;
  const char *message = state;
  return rheos_status_new(RHEOS_ABORTED, "%s", message[0] != '\0' ? message : "Abort was called");
}

// TensorFlow ends the process; a library fails the step.
static rheos_status *prepare_abort(rheos__prepare *p) {
  p->state = rheos__arena_strdup(p->arena, rheos__attr_string(p->attrs, "error_msg"));
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_abort;
  return NULL;
}

const rheos__op_def rheos__op_Abort = {
    .name = "Abort",
    .signature = "->; error_msg: string = \"\"; exit_without_error: bool = false",
    .doc = "Fails the step with `error_msg`.",
    .flags = RHEOS_OP_STATEFUL,
    .prepare = prepare_abort,
};
