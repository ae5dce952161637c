// Rows and places read from variables behind handles.
#include "graph/build.h"
#include "ops/array/gather.h"
#include "ops/kit/op_util.h"
#include "ops/kit/variable_util.h"

typedef struct gather_state {
  rheos__variable_cell *cell;
  rheos__memory *memory;
  const rheos__attrs *attrs;
} gather_state;

static rheos_status *prepare_reader(rheos__prepare *p, rheos__compute_fn compute) {
  rheos__cells cells;
  RHEOS_TRY(rheos__cells_of(p, 1, &cells));
  gather_state *s = RHEOS_NEW_STATE(p, gather_state);
  if (s == NULL) return rheos__out_of_memory();
  *s = (gather_state){cells.items[0], p->memory, p->attrs};
  p->compute = compute;
  return NULL;
}

// ---- ResourceGather

static rheos_status *compute_gather(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const gather_state *s = state;
  rheos_tensor *variable = NULL;
  RHEOS_TRY(rheos__variable_read_in(s->cell, s->memory, &variable));
  rheos_status *status = rheos__gather_rows(s->attrs, variable, inputs[1], &outputs[0]);
  rheos_tensor_unref(variable);
  return status;
}

static rheos_status *prepare_gather(rheos__prepare *p) { return prepare_reader(p, compute_gather); }

static rheos_status *shape_gather(rheos__infer *c) {
  rheos_shape variable = rheos__infer_variable_shape(c, 0);
  return rheos__gathered_rows_shape(c->attrs, &variable, &c->input_shapes[1], &c->output_shapes[0]);
}

static void gradient_gather(rheos__grad *g) {
  if (rheos__attr_int(g->attrs, "batch_dims") != 0) {
    rheos_scope_fail_take(g->scope, rheos_status_new(RHEOS_UNIMPLEMENTED,
                                                     "no gradient of ResourceGather with "
                                                     "batch_dims"));
    return;
  }
  rheos__gradient_of_rows(g, rheos__variable_shape(g->scope, g->inputs[0]));
}

const rheos__op_def rheos__op_ResourceGather = {
    .name = "ResourceGather",
    .signature =
        "resource: resource, indices: Tindices -> output: dtype; batch_dims: int = 0; "
        "validate_indices: bool = true; dtype: type; Tindices: index",
    .doc = "The rows `indices` of the variable.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_ONLY_READS,
    .shape = shape_gather,
    .gradient = gradient_gather,
    .prepare = prepare_gather,
};

// ---- ResourceGatherNd

static rheos_status *compute_gather_nd(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  const gather_state *s = state;
  rheos_tensor *variable = NULL;
  RHEOS_TRY(rheos__variable_read_in(s->cell, s->memory, &variable));
  rheos_status *status = rheos__gather_places(variable, inputs[1], &outputs[0]);
  rheos_tensor_unref(variable);
  return status;
}

static rheos_status *prepare_gather_nd(rheos__prepare *p) {
  return prepare_reader(p, compute_gather_nd);
}

static rheos_status *shape_gather_nd(rheos__infer *c) {
  rheos_shape variable = rheos__infer_variable_shape(c, 0);
  return rheos__gathered_places_shape(&variable, &c->input_shapes[1], &c->output_shapes[0]);
}

static void gradient_gather_nd(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0), indices = g->inputs[1];
  if (rheos_scope_status(s) != NULL) return;
  rheos_attr out_type = rheos_attr_type("out_type", rheos_dtype_base(rheos_output_dtype(indices)));
  rheos_output shape = rheos_operation_output(
      rheos__op_n(s, "VariableShape", NULL, &g->inputs[0], 1, &out_type, 1), 0);
  rheos__grad_set(g, 0, rheos__op_3(s, "ScatterNd", indices, grad, shape));
}

const rheos__op_def rheos__op_ResourceGatherNd = {
    .name = "ResourceGatherNd",
    .signature =
        "resource: resource, indices: Tindices -> output: dtype; dtype: type; "
        "Tindices: index",
    .doc = "The elements or slices of the variable at the places `indices`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_ONLY_READS,
    .shape = shape_gather_nd,
    .gradient = gradient_gather_nd,
    .prepare = prepare_gather_nd,
};
