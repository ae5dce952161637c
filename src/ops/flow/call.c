// Calls of functions: PartitionedCall, StatefulPartitionedCall, and the function's name as an op.
#include "ops/flow/call.h"

#include <string.h>

#include "graph/library.h"
#include "ops/kit/op_util.h"

rheos_status *rheos__call_args_init(const rheos__prepare *p, int32_t first,
                                    rheos__call_args *out_args) {
  *out_args = (rheos__call_args){.first = first, .count = p->num_inputs - first};
  bool any = false;
  for (int32_t i = first; i < p->num_inputs; ++i) any = any || p->input_resources[i] != NULL;
  if (!any) return NULL;
  out_args->cells = rheos__arena_copy(p->arena, p->input_resources + first,
                                      (size_t)out_args->count * sizeof *out_args->cells);
  return out_args->cells != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__call_site(const rheos__prepare *p, const rheos_func *func,
                               const rheos__call_args *args, const rheos_dtype *results,
                               int32_t num_results, rheos__site **out_site) {
  const rheos__site_types types = {.args = p->input_dtypes + args->first,
                                   .num_args = args->count,
                                   .results = results != NULL ? results : p->output_dtypes,
                                   .num_results = results != NULL ? num_results : p->num_outputs};
  return rheos__site_new(p, func, &types, out_site);
}

rheos_status *rheos__infer_called(rheos__prepare *p, const rheos__call_args *args,
                                  rheos__site *const *sites, int32_t num_sites) {
  const size_t count = (size_t)p->num_outputs;
  rheos_shape *shapes = rheos__arena_alloc(p->arena, (count + 1) * sizeof *shapes);
  rheos__resource **cells = rheos__arena_alloc(p->arena, (count + 1) * sizeof *cells);
  p->called_shapes = rheos__arena_alloc(p->arena, (count + 1) * sizeof *shapes);
  p->called_resources = rheos__arena_alloc(p->arena, (count + 1) * sizeof *cells);
  if (shapes == NULL || cells == NULL || p->called_shapes == NULL || p->called_resources == NULL) {
    return rheos__out_of_memory();
  }
  for (int32_t k = 0; k < num_sites; ++k) {
    rheos__site_infer(sites[k], p, p->input_shapes + args->first, args->cells, shapes, cells);
    for (int32_t i = 0; i < p->num_outputs; ++i) {
      rheos_shape *shape = &p->called_shapes[i];
      if (k == 0) {
        *shape = shapes[i];
        p->called_resources[i] = cells[i];
        continue;
      }
      if (!rheos_shape_equal(shape, &shapes[i])) *shape = RHEOS_UNKNOWN_SHAPE;
      if (p->called_resources[i] == cells[i]) continue;
      return rheos_status_new(RHEOS_UNIMPLEMENTED,
                              "output %d is a handle of one variable or of another: which follows "
                              "from values only",
                              (int)i);
    }
  }
  return NULL;
}

rheos_status *rheos__call_once(rheos__site *site, const rheos__call_args *args, rheos__step *step,
                               rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const rheos__parameters parameters = {
      .tensors = inputs + args->first, .cells = args->cells, .any_memory = true};
  rheos__site_call *call = NULL;
  RHEOS_TRY(rheos__site_enter(site, step, &call));
  rheos_status *status = rheos__site_call_run(call, &parameters, step, outputs);
  rheos__site_leave(site, call);
  return status;
}

static bool is_true(const rheos_tensor *tensor) {
  if (tensor->shape.rank != 0) return tensor->num_elements > 0;
  if (tensor->dtype == RHEOS_STRING) return ((const rheos_string *)tensor->data)->size_bytes > 0;
  if (tensor->dtype == RHEOS_BOOL) return *(const bool *)tensor->data;
  switch (tensor->dtype) {  // -0.0 is not true, NaN is
    case RHEOS_FLOAT: return *(const float *)tensor->data != 0;
    case RHEOS_DOUBLE: return *(const double *)tensor->data != 0;
    default: break;
  }
  const char *bytes = tensor->data;
  for (size_t i = 0; i < tensor->size_bytes; ++i) {
    if (bytes[i] != 0) return true;
  }
  return false;
}

rheos_status *rheos__is_true(const rheos_tensor *tensor, bool *out_true) {
  const rheos_dtype dtype = tensor != NULL ? tensor->dtype : RHEOS_RESOURCE;  // a handle
  if (dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) {
    return RHEOS_INVALID("%s cannot be converted to a boolean", rheos_dtype_name(dtype));
  }
  *out_true = is_true(tensor);
  return NULL;
}

// ---- Calls

typedef struct call_state {
  rheos__site *site;
  rheos__call_args args;
} call_state;

static rheos_status *compute_call(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const call_state *call = state;
  return rheos__call_once(call->site, &call->args, step, inputs, outputs);
}

static void release_call(void *state) { rheos__site_free(((call_state *)state)->site); }

// `of_gradient`: of the function's gradient.
static rheos_status *prepare_call_of(rheos__prepare *p, const rheos_func *func, bool of_gradient) {
  call_state *call = RHEOS_NEW_STATE(p, call_state);
  if (call == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__call_args_init(p, 0, &call->args));
  if (of_gradient) {
    const rheos__site_types types = {.args = p->input_dtypes,
                                     .num_args = p->num_inputs,
                                     .results = p->output_dtypes,
                                     .num_results = p->num_outputs};
    RHEOS_TRY(rheos__site_new_of_gradient(p, func, &types, &call->site));
  } else {
    RHEOS_TRY(rheos__call_site(p, func, &call->args, NULL, 0, &call->site));
  }
  p->release = release_call;
  p->compute = compute_call;
  rheos_status *status = rheos__infer_called(p, &call->args, &call->site, 1);
  if (status != NULL) release_call(call);
  return status;
}

rheos_status *rheos__prepare_call_by_name(rheos__prepare *p) {
  const rheos_func func = {.name = {(char *)(uintptr_t)p->op->name, strlen(p->op->name)},
                           .attrs = p->attrs->items,
                           .num_attrs = (size_t)p->attrs->count};
  return prepare_call_of(p, &func, false);
}

static rheos_status *prepare_call(rheos__prepare *p) {
  return prepare_call_of(p, rheos__attrs_find(p->attrs, "f")->func, false);
}

static rheos_status *prepare_symbolic_gradient(rheos__prepare *p) {
  return prepare_call_of(p, rheos__attrs_find(p->attrs, "f")->func, true);
}

static rheos_status *prepare_stretch(rheos__prepare *p) {
  if (p->structure == NULL) return RHEOS_INVALID("it is made by plans only");
  call_state *call = RHEOS_NEW_STATE(p, call_state);
  if (call == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__call_args_init(p, 0, &call->args));
  RHEOS_TRY(rheos__site_new_of_part(p, &p->structure->parts[0], &call->site));
  p->release = release_call;
  p->compute = compute_call;
  rheos_status *status = rheos__infer_called(p, &call->args, &call->site, 1);
  if (status != NULL) release_call(call);
  return status;
}

// A gradient is like what it is the gradient of.
static rheos_status *shape_symbolic_gradient(rheos__infer *c) {
  for (int32_t i = 0; i < c->num_outputs && i < c->num_inputs; ++i) {
    c->output_shapes[i] = c->input_shapes[i];
  }
  return NULL;
}

#define CALL(op, more_flags, text)                                                      \
  const rheos__op_def rheos__op_##op = {                                                \
      .name = #op,                                                                      \
      .signature =                                                                      \
          "args: Tin -> output: Tout; Tin: list(type) >= 0; Tout: list(type) >= 0; f: " \
          "func; config: string = \"\"; config_proto: string = \"\"; executor_type: "   \
          "string = \"\"",                                                              \
      .doc = text,                                                                      \
      .flags = RHEOS_OP_CALLS | RHEOS_OP_IS_CALL | RHEOS_OP_ANY_MEMORY | (more_flags),  \
      .shape = rheos__shape_none,                                                       \
      .gradient = rheos__gradient_call,                                                 \
      .prepare = prepare_call,                                                          \
  };
CALL(PartitionedCall, 0, "The results of the function `f`, which has no effects, for `args`.")
CALL(StatefulPartitionedCall, RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
     "The results of the function `f` for `args`.")

#define RAISED(op, more_flags, text) RHEOS__RAISED(op, "", more_flags, prepare_stretch, text)
RAISED(_RaisedStretch, RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
       "What a step does between ops that may have to wait, in the plan of the step.")
RAISED(_RaisedStatefulStretch, RHEOS_OP_STATEFUL, "_RaisedStretch, of nodes that write nothing.")
RAISED(_RaisedStatelessStretch, 0, "_RaisedStretch, of nodes that have no effects.")

const rheos__op_def rheos__op_SymbolicGradient = {
    .name = "SymbolicGradient",
    .signature = "input: Tin -> output: Tout; Tin: list(type) >= 1; Tout: list(type) >= 1; f: func",
    .doc =
        "The gradients of the function `f` for its arguments, of its arguments and a gradient for "
        "each of its results.",
    .flags = RHEOS_OP_CALLS | RHEOS_OP_ANY_MEMORY,
    .shape = shape_symbolic_gradient,
    .prepare = prepare_symbolic_gradient,
};
