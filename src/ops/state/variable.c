// Variables and their assignments, as references (TensorFlow 1) and as resources.
//
// A variable's kernel only names its cell; ops that take the reference find the cell in
// p->input_resources. The executor reads cells where a value is needed.
#include "graph/build.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/variable_util.h"
#include "resource/variable_shape.h"

#include <string.h>

#define ANY_NUMBER "number"

// ---- Variable, VariableV2, VarHandleOp

// Before VariableV2, a variable of shape [] was one of unknown shape.
static rheos_status *shape_old_variable(rheos__infer *c) {
  RHEOS_TRY(rheos__shape_of_attr(c));
  if (c->output_shapes[0].rank == 0) c->output_shapes[0] = RHEOS_UNKNOWN_SHAPE;
  return NULL;
}

static void unref_cell(void *state) { rheos__resource_unref(state); }

static rheos_status *prepare_variable(rheos__prepare *p) {
  rheos__resource *cell = NULL;
  const rheos_dtype dtype = rheos__attr_type(p->attrs, "dtype");
  RHEOS_TRY(rheos__named_resource(p, &rheos__variable_kind, &dtype, &cell));
  const rheos_dtype held = ((rheos__variable_cell *)cell)->dtype;
  if (held != dtype) {
    rheos_status *status = RHEOS_INVALID("variable %s holds %s, not %s", cell->name,
                                         rheos_dtype_name(held), rheos_dtype_name(dtype));
    rheos__resource_unref(cell);
    return status;
  }
  p->state = cell;
  p->release = unref_cell;
  p->output_resource = cell;
  return NULL;
}

const rheos__op_def rheos__op_Variable = {
    .name = "Variable",
    .signature =
        "-> ref: Ref(dtype); shape: shape; dtype: type; container: string = \"\"; "
        "shared_name: string = \"\"",
    .doc = "A variable as graphs before version 5 have it: `shape` [] means unknown.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = shape_old_variable,
    .gradient = rheos__no_gradient,
    .prepare = prepare_variable,
};

const rheos__op_def rheos__op_VariableV2 = {
    .name = "VariableV2",
    .signature =
        "-> ref: Ref(dtype); shape: shape; dtype: type; container: string = \"\"; "
        "shared_name: string = \"\"",
    .doc =
        "A reference to a variable that lives in the session under `shared_name` or the node's "
        "name.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_of_attr,
    .gradient = rheos__no_gradient,
    .prepare = prepare_variable,
};

const rheos__op_def rheos__op_VarHandleOp = {
    .name = "VarHandleOp",
    .signature =
        "-> resource: resource; container: string = \"\"; shared_name: string = \"\"; "
        "debug_name: string = \"\"; dtype: type; shape: shape; "
        "allowed_devices: list(string) = []",
    .doc =
        "A handle to a variable that lives in the session under `shared_name` or the node's name.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_VARIABLE,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_variable,
};

// ---- RefIdentity

static rheos_status *compute_same(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)state, (void)step, (void)inputs, (void)outputs;
  return NULL;
}

static rheos_status *prepare_ref_identity(rheos__prepare *p) {
  rheos__cells cells;
  RHEOS_TRY(rheos__cells_of(p, 1, &cells));
  p->compute = compute_same;
  rheos__pass_reference(p);
  return NULL;
}

static void gradient_ref_identity(rheos__grad *g) { g->in_grads[0] = g->out_grads[0]; }

const rheos__op_def rheos__op_RefIdentity = {
    .name = "RefIdentity",
    .signature = "input: Ref(T) -> output: Ref(T); T: type",
    .doc = "The reference `input` itself.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_UNINITIALIZED,
    .shape = rheos__shape_unchanged,
    .gradient = gradient_ref_identity,
    .prepare = prepare_ref_identity,
};

// ---- Whether it has a value

static rheos_status *compute_is_initialized(void *state, rheos__step *step,
                                            rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step, (void)inputs;
  rheos_tensor *value = rheos__variable_read(state);
  bool initialized = value != NULL;
  rheos_tensor_unref(value);
  return rheos_tensor_from_values(RHEOS_BOOL, RHEOS_SCALAR, &initialized, &outputs[0]);
}

static rheos_status *prepare_is_initialized(rheos__prepare *p) {
  rheos__cells cells;
  RHEOS_TRY(rheos__cells_of(p, 1, &cells));
  p->state = cells.items[0];
  p->compute = compute_is_initialized;
  return NULL;
}

const rheos__op_def rheos__op_IsVariableInitialized = {
    .name = "IsVariableInitialized",
    .signature = "ref: Ref(dtype) -> is_initialized: bool; dtype: type",
    .doc = "Whether the variable has a value.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_ONLY_READS | RHEOS_OP_TAKES_UNINITIALIZED,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_is_initialized,
};

const rheos__op_def rheos__op_VarIsInitializedOp = {
    .name = "VarIsInitializedOp",
    .signature = "resource: resource -> is_initialized: bool",
    .doc = "Whether the variable has a value.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_ONLY_READS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_is_initialized,
};

// ---- DisableCopyOnRead: a hint about sharing, which every read here does anyway

static rheos_status *compute_nothing(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)state, (void)step, (void)inputs, (void)outputs;
  return NULL;
}

static rheos_status *prepare_hint(rheos__prepare *p) {
  rheos__cells cells;
  RHEOS_TRY(rheos__cells_of(p, 1, &cells));
  p->compute = compute_nothing;
  return NULL;
}

const rheos__op_def rheos__op_DisableCopyOnRead = {
    .name = "DisableCopyOnRead",
    .signature = "resource: resource ->",
    .doc = "Says that reads of the variable need not copy it.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
    .prepare = prepare_hint,
};

// ---- ReadVariableOp

typedef struct read_state {
  rheos__variable_cell *cell;
  rheos__memory *memory;
  rheos_shape shape;  // that the graph says
} read_state;

static rheos_status *compute_read(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step, (void)inputs;
  const read_state *s = state;
  RHEOS_TRY(rheos__variable_read_in(s->cell, s->memory, &outputs[0]));
  if (rheos_shape_compatible(&s->shape, &outputs[0]->shape)) return NULL;
  rheos__shape_text is, was;
  return RHEOS_INVALID("variable %s holds a value of shape %s, the graph says %s",
                       s->cell->base.name, rheos__shape_text_of(&outputs[0]->shape, &is),
                       rheos__shape_text_of(&s->shape, &was));
}

static rheos_status *prepare_read(rheos__prepare *p) {
  rheos__cells cells;
  RHEOS_TRY(rheos__cells_of(p, 1, &cells));
  read_state *s = RHEOS_NEW_STATE(p, read_state);
  if (s == NULL) return rheos__out_of_memory();
  *s = (read_state){cells.items[0], p->memory, p->output_shapes[0]};
  p->compute = compute_read;
  return NULL;
}

static rheos_status *shape_read(rheos__infer *c) {
  c->output_shapes[0] = rheos__infer_variable_shape(c, 0);
  return NULL;
}

// The handle stands for the value: its gradient is the variable's, rows stay rows.
static void gradient_read(rheos__grad *g) { g->in_grads[0] = g->out_grads[0]; }

const rheos__op_def rheos__op_ReadVariableOp = {
    .name = "ReadVariableOp",
    .signature = "resource: resource -> value: dtype; dtype: type",
    .doc = "The value of the variable.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_READS_VARIABLE | RHEOS_OP_ONLY_READS,
    .shape = shape_read,
    .gradient = gradient_read,
    .prepare = prepare_read,
};

// ---- VariableShape

typedef struct shape_state {
  rheos__variable_cell *cell;
  rheos_dtype dtype;
} shape_state;

static rheos_status *compute_shape(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs;
  const shape_state *s = state;
  rheos_tensor *value = rheos__variable_read(s->cell);
  if (value == NULL) return rheos__variable_uninitialized(s->cell);
  const rheos_dtype dtype = s->dtype;
  rheos_status *status = rheos__tensor_new(dtype, &RHEOS_SHAPE(value->shape.rank), &outputs[0]);
  for (int32_t d = 0; d < value->shape.rank && status == NULL; ++d) {
    int64_t dim = value->shape.dims[d];
    if (dtype == RHEOS_INT32 && dim > INT32_MAX) {
      status = RHEOS_INVALID("dimension %d of size %lld does not fit int32", d, (long long)dim);
    } else {
      rheos__set_int(dtype, outputs[0]->data, d, dim);
    }
  }
  rheos_tensor_unref(value);
  return status;
}

static rheos_status *prepare_shape(rheos__prepare *p) {
  rheos__cells cells;
  RHEOS_TRY(rheos__cells_of(p, 1, &cells));
  shape_state *s = RHEOS_NEW_STATE(p, shape_state);
  if (s == NULL) return rheos__out_of_memory();
  *s = (shape_state){cells.items[0], p->output_dtypes[0]};
  p->compute = compute_shape;
  return NULL;
}

static rheos_status *shape_shape(rheos__infer *c) {
  rheos_shape variable = rheos__infer_variable_shape(c, 0);
  c->output_shapes[0] = RHEOS_SHAPE(variable.rank);  // -1: not known
  return NULL;
}

const rheos__op_def rheos__op_VariableShape = {
    .name = "VariableShape",
    .signature = "input: resource -> output: out_type; out_type: {int32, int64} = int32",
    .doc = "The shape of the variable.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_ONLY_READS,
    .shape = shape_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_shape,
};

// ---- DestroyResourceOp

typedef struct destroy_state {
  rheos__variable_cell *cell;
  bool ignore_missing;
} destroy_state;

static rheos_status *compute_destroy(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step, (void)inputs, (void)outputs;
  const destroy_state *s = state;
  rheos_tensor *value = rheos__variable_read(s->cell);
  bool missing = value == NULL;
  rheos_tensor_unref(value);
  rheos__variable_assign_take(s->cell, NULL);
  if (!missing || s->ignore_missing) return NULL;
  return rheos_status_new(RHEOS_NOT_FOUND, "Resource %s does not exist", s->cell->base.name);
}

static rheos_status *prepare_destroy(rheos__prepare *p) {
  rheos__cells cells;
  RHEOS_TRY(rheos__cells_of(p, 1, &cells));
  destroy_state *s = RHEOS_NEW_STATE(p, destroy_state);
  if (s == NULL) return rheos__out_of_memory();
  *s = (destroy_state){cells.items[0], rheos__attr_bool(p->attrs, "ignore_lookup_error")};
  p->compute = compute_destroy;
  return NULL;
}

// ---- Assign

typedef struct assign_state {
  rheos__variable_cell *cell;
  bool validate, validate_value;
  rheos_shape shape;  // that the variable was declared with
} assign_state;

// As AssignVariableOp's validate_shape asks: the value may not have another shape than the one
// before.
static rheos_status *check_like_value(rheos__variable_cell *cell, const rheos_tensor *value) {
  rheos_tensor *before = rheos__variable_read(cell);
  if (before == NULL) return NULL;
  rheos_shape expected = before->shape;
  rheos_tensor_unref(before);
  rheos__shape_text left, right;
  if (rheos_shape_equal(&expected, &value->shape)) return NULL;
  return RHEOS_INVALID(
      "Trying to assign to variable with tensor with wrong shape. Expected %s got %s",
      rheos__shape_text_of(&expected, &left), rheos__shape_text_of(&value->shape, &right));
}

// The shape that the variable has or, before its first value, was declared with.
static rheos_shape shape_before(const assign_state *s) {
  rheos_tensor *before =
      rheos__variable_has_any_shape(s->cell) ? rheos__variable_read(s->cell) : NULL;
  const rheos_shape shape = before != NULL ? before->shape : s->shape;
  rheos_tensor_unref(before);
  return shape;
}

static rheos_status *check_shape(const assign_state *s, const rheos_shape *given) {
  const rheos_shape expected = shape_before(s);
  rheos__shape_text left, right;
  if (rheos_shape_compatible(&expected, given)) return NULL;
  return RHEOS_INVALID(
      "Assign requires shapes of both tensors to match. lhs shape= %s rhs shape= %s",
      rheos__shape_text_of(&expected, &left), rheos__shape_text_of(given, &right));
}

static rheos_status *compute_assign(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const assign_state *s = state;
  if (s->validate) RHEOS_TRY(check_shape(s, &inputs[1]->shape));
  if (s->validate_value) RHEOS_TRY(check_like_value(s->cell, inputs[1]));
  return rheos__variable_assign(s->cell, inputs[1]);
}

static rheos_status *prepare_assign_to(rheos__prepare *p, bool validate) {
  rheos__cells cells;
  RHEOS_TRY(rheos__cells_of(p, 1, &cells));
  assign_state *s = RHEOS_NEW_STATE(p, assign_state);
  if (s == NULL) return rheos__out_of_memory();
  *s = (assign_state){.cell = cells.items[0], .validate = validate, .shape = p->input_shapes[0]};
  p->compute = compute_assign;
  rheos__pass_reference(p);
  return NULL;
}

static rheos_status *prepare_assign(rheos__prepare *p) {
  const bool validate = rheos__attr_bool(p->attrs, "validate_shape");
  RHEOS_TRY(prepare_assign_to(p, validate));
  if (!validate && !rheos_shape_compatible(&p->input_shapes[0], &p->input_shapes[1])) {
    rheos__variable_allow_any_shape(p->resources, ((const assign_state *)p->state)->cell);
  }
  return NULL;
}

static rheos_status *prepare_assign_resource(rheos__prepare *p) {
  RHEOS_TRY(prepare_assign_to(p, false));
  assign_state *s = p->state;
  s->validate_value = rheos__attr_bool(p->attrs, "validate_shape");
  return NULL;
}

static rheos_status *shape_assign(rheos__infer *c) {
  if (!rheos__attr_bool(c->attrs, "validate_shape")) {
    c->output_shapes[0] = c->input_shapes[1];
    return NULL;
  }
  const rheos_shape *ref = &c->input_shapes[0], *value = &c->input_shapes[1];
  return rheos__shape_unfit(rheos__shape_merge(ref, value, &c->output_shapes[0]),
                            "Assign requires shapes of both tensors to match. lhs shape=", ref,
                            " rhs shape=", value);
}

static rheos_status *shape_no_output(rheos__infer *c) {
  (void)c;
  return NULL;
}

static rheos_status *shape_assign_resource(rheos__infer *c) {
  const rheos_shape variable = rheos__infer_variable_shape(c, 0);
  rheos_shape both;
  return rheos__shape_merge(&variable, &c->input_shapes[1], &both);
}

const rheos__op_def rheos__op_DestroyResourceOp = {
    .name = "DestroyResourceOp",
    .signature = "resource: resource ->; ignore_lookup_error: bool = true",
    .doc = "Takes the variable's value away.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
    .shape = shape_no_output,
    .gradient = rheos__no_gradient,
    .prepare = prepare_destroy,
};

const rheos__op_def rheos__op_Assign = {
    .name = "Assign",
    .signature =
        "ref: Ref(T), value: T -> output_ref: Ref(T); T: type; "
        "validate_shape: bool = true; use_locking: bool = true",
    .doc = "Gives the variable the `value`; the reference comes out again.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_TAKES_UNINITIALIZED,
    .shape = shape_assign,
    .gradient = rheos__no_gradient,
    .prepare = prepare_assign,
};

const rheos__op_def rheos__op_AssignVariableOp = {
    .name = "AssignVariableOp",
    .signature =
        "resource: resource, value: dtype ->; dtype: type; "
        "validate_shape: bool = false",
    .doc = "Gives the variable the `value`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_ASSIGNS,
    .shape = shape_assign_resource,
    .gradient = rheos__no_gradient,
    .prepare = prepare_assign_resource,
};

// ---- AssignAdd, AssignSub

typedef struct change_state {
  rheos__cells cells;
  rheos__change change;
} change_state;

static rheos_status *apply_change(rheos_tensor *variable, rheos__change change,
                                  const rheos_tensor *value) {
  if (!rheos_shape_equal(&variable->shape, &value->shape)) {
    rheos__shape_text left, right;
    return RHEOS_INVALID("the variable has shape %s, its change %s",
                         rheos__shape_text_of(&variable->shape, &left),
                         rheos__shape_text_of(&value->shape, &right));
  }
  change(variable->data, value->data, variable->num_elements, false);
  return NULL;
}

static rheos_status *compute_change(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const change_state *s = state;
  rheos_tensor *values[RHEOS__MAX_CELLS];
  RHEOS_TRY(rheos__cells_begin_write(&s->cells, values));
  rheos_status *status = apply_change(values[0], s->change, inputs[1]);
  rheos__cells_end_write(&s->cells);
  return status;
}

static rheos_status *prepare_change(rheos__prepare *p, rheos__change_kind kind) {
  change_state *s = RHEOS_NEW_STATE(p, change_state);
  if (s == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__cells_of(p, 1, &s->cells));
  s->change = rheos__change_of(kind, p->input_dtypes[1]);
  if (s->change == NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s is not available for dtype %s", p->op->name,
                            rheos_dtype_name(p->input_dtypes[1]));
  }
  p->compute = compute_change;
  rheos__pass_reference(p);
  return NULL;
}

static rheos_status *prepare_assign_add(rheos__prepare *p) {
  return prepare_change(p, RHEOS__CHANGE_ADD);
}

static rheos_status *prepare_assign_sub(rheos__prepare *p) {
  return prepare_change(p, RHEOS__CHANGE_SUB);
}

static rheos_status *shape_change(rheos__infer *c) {
  return rheos__shape_merge(&c->input_shapes[0], &c->input_shapes[1], &c->output_shapes[0]);
}

#define ASSIGN_CHANGE(op, kernel, text)                                          \
  const rheos__op_def rheos__op_Assign##op = {                                   \
      .name = "Assign" #op,                                                      \
      .signature = "ref: Ref(T), value: T -> output_ref: Ref(T); T: " ANY_NUMBER \
                   "; use_locking: bool = false",                                \
      .doc = text,                                                               \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,                              \
      .shape = shape_change,                                                     \
      .gradient = rheos__no_gradient,                                            \
      .prepare = kernel,                                                         \
  };                                                                             \
  const rheos__op_def rheos__op_Assign##op##VariableOp = {                       \
      .name = "Assign" #op "VariableOp",                                         \
      .signature = "resource: resource, value: dtype ->; dtype: type",           \
      .doc = text,                                                               \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,                              \
      .shape = shape_assign_resource,                                            \
      .gradient = rheos__no_gradient,                                            \
      .prepare = kernel,                                                         \
  };

ASSIGN_CHANGE(Add, prepare_assign_add, "Adds `value` to the variable.")
ASSIGN_CHANGE(Sub, prepare_assign_sub, "Subtracts `value` from the variable.")

// ---- CountUpTo

typedef struct count_state {
  rheos__cells cells;
  int64_t limit;
} count_state;

static rheos_status *count(rheos_tensor *variable, int64_t limit, rheos_tensor **output) {
  if (variable->shape.rank != 0) return RHEOS_INVALID("CountUpTo needs a scalar variable");
  int64_t now = rheos__tensor_int_at(variable, 0);
  if (now >= limit) {
    return rheos_status_new(RHEOS_OUT_OF_RANGE, "Reached limit of %lld", (long long)limit);
  }
  RHEOS_TRY(rheos_tensor_copy(variable, output));
  if (variable->dtype == RHEOS_INT32) {
    *(int32_t *)variable->data = (int32_t)(now + 1);
  } else {
    *(int64_t *)variable->data = now + 1;
  }
  return NULL;
}

static rheos_status *compute_count(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs;
  const count_state *s = state;
  rheos_tensor *values[RHEOS__MAX_CELLS];
  RHEOS_TRY(rheos__cells_begin_write(&s->cells, values));
  rheos_status *status = count(values[0], s->limit, &outputs[0]);
  rheos__cells_end_write(&s->cells);
  return status;
}

static rheos_status *shape_count(rheos__infer *c) {
  const rheos_shape counter = rheos__infer_variable_shape(c, 0);
  if (counter.rank <= 0) return rheos__shape_scalar(c);
  rheos__shape_text text;
  return RHEOS_INVALID("a counter is a scalar, not of shape %s",
                       rheos__shape_text_of(&counter, &text));
}

static rheos_status *prepare_count(rheos__prepare *p) {
  count_state *s = RHEOS_NEW_STATE(p, count_state);
  if (s == NULL) return rheos__out_of_memory();
  s->limit = rheos__attr_int(p->attrs, "limit");
  p->compute = compute_count;
  return rheos__cells_of(p, 1, &s->cells);
}

const rheos__op_def rheos__op_CountUpTo = {
    .name = "CountUpTo",
    .signature = "ref: Ref(T) -> output: T; limit: int; T: {int32, int64}",
    .doc = "The value of a counter before it goes up by 1; OutOfRange once it is at `limit`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
    .shape = shape_count,
    .gradient = rheos__no_gradient,
    .prepare = prepare_count,
};

const rheos__op_def rheos__op_ResourceCountUpTo = {
    .name = "ResourceCountUpTo",
    .signature = "resource: resource -> output: T; limit: int; T: {int32, int64}",
    .doc = "The value of a counter before it goes up by 1; OutOfRange once it is at `limit`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
    .shape = shape_count,
    .gradient = rheos__no_gradient,
    .prepare = prepare_count,
};
