// Ops that hand values on as they are: constants, placeholders, identities, stops for gradients.
#include "graph/build.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// ---- Const

static rheos_status *shape_const(rheos__infer *c) {
  const rheos_attr_value *value = rheos__attrs_find(c->attrs, "value");
  if (value == NULL || value->tensor == NULL) return NULL;
  if (value->tensor->dtype != c->output_dtypes[0]) {
    return RHEOS_INVALID("Inconsistent values for attr 'dtype' %s vs. %s",
                         rheos_dtype_name(c->output_dtypes[0]),
                         rheos_dtype_name(value->tensor->dtype));
  }
  c->output_shapes[0] = value->tensor->shape;
  return NULL;
}

static rheos_status *compute_const(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs;
  outputs[0] = rheos_tensor_ref(state);
  return NULL;
}

static rheos_status *prepare_const(rheos__prepare *p) {
  const rheos_attr_value *value = rheos__attrs_find(p->attrs, "value");
  if (value == NULL || value->tensor == NULL) return RHEOS_INVALID("a constant without a value");
  p->state = value->tensor;  // lives as long as the graph
  p->compute = compute_const;
  return NULL;
}

const rheos__op_def rheos__op_Const = {
    .name = "Const",
    .signature = "-> output: dtype; value: tensor; dtype: type",
    .doc = "The tensor `value`.",
    .flags = RHEOS_OP_CONSTANT,
    .shape = shape_const,
    .gradient = rheos__no_gradient,
    .prepare = prepare_const,
};

// ---- Placeholders

typedef struct not_fed {
  const char *name;
  rheos_dtype dtype;
  rheos_shape shape;
} not_fed;

static rheos_status *compute_placeholder(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step, (void)inputs, (void)outputs;
  const not_fed *n = state;
  const char *dtype = rheos_dtype_name(n->dtype);
  if (n->shape.rank <= 0) {
    return RHEOS_INVALID("You must feed a value for placeholder tensor '%s' with dtype %s", n->name,
                         dtype);
  }
  rheos__shape_text text;
  return RHEOS_INVALID(
      "You must feed a value for placeholder tensor '%s' with dtype %s and shape %s", n->name,
      dtype, rheos__shape_text_of(&n->shape, &text));
}

static rheos_status *prepare_placeholder(rheos__prepare *p) {
  not_fed *n = RHEOS_NEW_STATE(p, not_fed);
  if (n == NULL) return rheos__out_of_memory();
  n->name = rheos__arena_strdup(p->arena, p->node_name != NULL ? p->node_name : "");
  if (n->name == NULL) return rheos__out_of_memory();
  n->dtype = p->output_dtypes[0];
  n->shape = rheos__attr_shape(p->attrs, "shape");
  p->compute = compute_placeholder;
  return NULL;
}

const rheos__op_def rheos__op_Placeholder = {
    .name = "Placeholder",
    .signature = "-> output: dtype; dtype: type; shape: shape = ?",
    .doc = "A value that the caller feeds.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_PLACEHOLDER,
    .shape = rheos__shape_of_attr,
    .gradient = rheos__no_gradient,
    .prepare = prepare_placeholder,
};

const rheos__op_def rheos__op_PlaceholderV2 = {
    .name = "PlaceholderV2",
    .signature = "-> output: dtype; dtype: type; shape: shape",
    .doc = "A value that the caller feeds.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_PLACEHOLDER,
    .shape = rheos__shape_of_attr,
    .gradient = rheos__no_gradient,
    .prepare = prepare_placeholder,
};

// ---- Identities

// All inputs as they are: a tensor that lives in somebody else's storage is copied; a handle of a
// cell has no bytes.
static rheos_status *compute_pass_on(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step;
  const int32_t *count = state;
  for (int32_t i = 0; i < *count; ++i) {
    if (inputs[i] != NULL) RHEOS_TRY(rheos__tensor_keep(inputs[i], &outputs[i]));
  }
  return NULL;
}

static rheos_status *prepare_pass_on(rheos__prepare *p) {
  int32_t *count = RHEOS_NEW_STATE(p, int32_t);
  if (count == NULL) return rheos__out_of_memory();
  *count = p->num_inputs;
  const size_t size = (size_t)p->num_inputs * sizeof *p->called_resources;
  p->called_resources = rheos__arena_copy(p->arena, p->input_resources, size);
  if (p->called_resources == NULL) return rheos__out_of_memory();
  p->compute = compute_pass_on;
  return NULL;
}

static void gradient_identity(rheos__grad *g) {
  for (int32_t i = 0; i < g->num_inputs; ++i) g->in_grads[i] = g->out_grads[i];
}

static rheos_status *shape_identity_n(rheos__infer *c) {
  for (int32_t i = 0; i < c->num_outputs; ++i) c->output_shapes[i] = c->input_shapes[i];
  return NULL;
}

const rheos__op_def rheos__op_Identity = {
    .name = "Identity",
    .signature = "input: T -> output: T; T: type",
    .doc = "The value of `input`.",
    .flags = RHEOS_OP_FORWARDS,
    .shape = rheos__shape_unchanged,
    .gradient = gradient_identity,
    .prepare = rheos__prepare_alias,
};

const rheos__op_def rheos__op_IdentityN = {
    .name = "IdentityN",
    .signature = "input: T -> output: T; T: list(type) >= 1",
    .doc = "The values of `input`, all of them once one is asked for.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_identity_n,
    .gradient = gradient_identity,
    .prepare = prepare_pass_on,
};

const rheos__op_def rheos__op_Snapshot = {
    .name = "Snapshot",
    .signature = "input: T -> output: T; T: type",
    .doc = "The value of `input`.",
    .shape = rheos__shape_unchanged,
    .prepare = rheos__prepare_alias,
};

const rheos__op_def rheos__op_DeepCopy = {
    .name = "DeepCopy",
    .signature = "x: T -> y: T; T: type",
    .doc = "The value of `x`; no later change to `x` is seen.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_unchanged,
    .prepare = rheos__prepare_alias,
};

const rheos__op_def rheos__op_StopGradient = {
    .name = "StopGradient",
    .signature = "input: T -> output: T; T: type",
    .doc = "The value of `input`, taken for a constant by gradients.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = rheos__prepare_alias,
};

const rheos__op_def rheos__op_GuaranteeConst = {
    .name = "GuaranteeConst",
    .signature = "input: T -> output: T; T: type",
    .doc = "The value of `input`, which the program promises not to change.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_unchanged,
    .prepare = rheos__prepare_alias,
};

static void gradient_prevented(rheos__grad *g) {
  rheos_scope_fail_take(
      g->scope, rheos_status_new(RHEOS_NOT_FOUND, "Gradient explicitly disabled. Reason: %s",
                                 rheos__attr_string(g->attrs, "message")));
}

const rheos__op_def rheos__op_PreventGradient = {
    .name = "PreventGradient",
    .signature = "input: T -> output: T; T: type; message: string = \"\"",
    .doc = "The value of `input`; asking for its gradient is an error with `message`.",
    .shape = rheos__shape_unchanged,
    .gradient = gradient_prevented,
    .prepare = rheos__prepare_alias,
};

// ---- Shapes that are promised

// What is known of both the input and the attribute.
static rheos_status *shape_merged_with_attr(rheos__infer *c) {
  rheos_shape promised = rheos__attr_shape(c->attrs, "shape");
  rheos__shape_text actual_text, promised_text;
  if (!rheos_shape_compatible(&c->input_shapes[0], &promised)) {
    return RHEOS_INVALID("Shape of tensor %s is not compatible with expected shape %s.",
                         rheos__shape_text_of(&c->input_shapes[0], &actual_text),
                         rheos__shape_text_of(&promised, &promised_text));
  }
  return rheos__shape_merge(&c->input_shapes[0], &promised, &c->output_shapes[0]);
}

// The default must fit, the value fed may be of any shape that `shape` allows.
static rheos_status *shape_placeholder_with_default(rheos__infer *c) {
  RHEOS_TRY(shape_merged_with_attr(c));
  return rheos__shape_of_attr(c);
}

const rheos__op_def rheos__op_EnsureShape = {
    .name = "EnsureShape",
    .signature = "input: T -> output: T; shape: shape; T: type",
    .doc = "The value of `input`; fails unless its shape fits `shape`.",
    .shape = shape_merged_with_attr,
    .gradient = gradient_identity,
    .prepare = rheos__prepare_alias,
};

const rheos__op_def rheos__op_PlaceholderWithDefault = {
    .name = "PlaceholderWithDefault",
    .signature = "input: dtype -> output: dtype; dtype: type; shape: shape",
    .doc = "The value that the caller feeds, else that of `input`.",
    .shape = shape_placeholder_with_default,
    .gradient = gradient_identity,
    .prepare = prepare_pass_on,  // no alias: the shape is the input's, not the attribute's
};

// ---- NoOp

static rheos_status *compute_nothing(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)state, (void)step, (void)inputs, (void)outputs;
  return NULL;
}

const rheos__op_def rheos__op_NoOp = {
    .name = "NoOp",
    .signature = "->",
    .doc = "Nothing: a place for control dependencies.",
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
    .compute = compute_nothing,
};
