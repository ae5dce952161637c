// Temporary variables: cells that a step fills, changes and takes the value out of.
//
// A cell is the session's, like that of any variable, so two steps that run at the same time share it.
// It holds zeros when it is made and after its value was taken, never memory that nothing was written
// to.
#include "graph/build.h"
#include "ops/variable_util.h"

#include <string.h>

static const char prefix[] = "temporary/";

static rheos_status *fill_with_zeros(rheos__variable_cell *cell, rheos_dtype dtype,
                                     const rheos_shape *shape) {
  rheos_tensor *zeros = NULL;
  RHEOS_TRY(rheos__tensor_new(dtype, shape, &zeros));
  if (dtype != RHEOS_STRING && zeros->size_bytes > 0) memset(zeros->data, 0, zeros->size_bytes);
  rheos__variable_assign_take(cell, zeros);
  return NULL;
}

static void unref_cell(void *state) { rheos__resource_unref(state); }

static rheos_status *prepare_temporary(rheos__prepare *p) {
  const char *name = rheos__attr_string(p->attrs, "var_name");
  if (name == NULL || name[0] == '\0') name = p->node_name;
  char *cell_name = rheos__arena_alloc(p->arena, sizeof prefix + strlen(name));
  if (cell_name == NULL) return rheos__out_of_memory();
  strcpy(cell_name, prefix);
  strcat(cell_name, name);
  const rheos_dtype dtype = rheos__attr_type(p->attrs, "dtype");
  const rheos_shape shape = rheos__attr_shape(p->attrs, "shape");
  rheos__resource *resource = NULL;
  RHEOS_TRY(rheos__resources_get(p->resources, &rheos__variable_kind, cell_name, &dtype,
                                 &resource));
  rheos__variable_cell *cell = (rheos__variable_cell *)resource;
  rheos_tensor *value = rheos__variable_read(cell);
  rheos_status *status = NULL;
  if (cell->dtype != dtype) {
    status = RHEOS_INVALID("temporary variable %s holds %s, not %s", name,
                           rheos_dtype_name(cell->dtype), rheos_dtype_name(dtype));
  } else if (value == NULL || !rheos_shape_equal(&value->shape, &shape)) {
    status = fill_with_zeros(cell, dtype, &shape);
  }
  rheos_tensor_unref(value);
  if (status != NULL) {
    rheos__resource_unref(resource);
    return status;
  }
  p->state = resource;
  p->release = unref_cell;
  p->output_resource = resource;
  return NULL;
}

static rheos_status *shape_temporary(rheos__infer *c) {
  c->output_shapes[0] = rheos__attr_shape(c->attrs, "shape");
  return NULL;
}

const rheos__op_def rheos__op_TemporaryVariable = {
    .name = "TemporaryVariable",
    .signature = "-> ref: Ref(dtype); shape: shape; dtype: type; var_name: string = \"\"",
    .doc = "A reference to a variable for the duration of a step.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = shape_temporary,
    .gradient = rheos__no_gradient,
    .prepare = prepare_temporary,
};

static rheos_status *compute_destroy(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step, (void)inputs;
  rheos__variable_cell *cell = state;
  rheos_tensor *value = rheos__variable_read(cell);
  if (value == NULL) return rheos__variable_uninitialized(cell);
  outputs[0] = value;
  return fill_with_zeros(cell, value->dtype, &value->shape);
}

static rheos_status *prepare_destroy(rheos__prepare *p) {
  rheos__cells cells;
  RHEOS_TRY(rheos__cells_of(p, 1, &cells));
  const char *wanted = rheos__attr_string(p->attrs, "var_name");
  const char *name = cells.items[0]->base.name;
  bool is_temporary = strncmp(name, prefix, sizeof prefix - 1) == 0;
  if (wanted == NULL || !is_temporary || strcmp(name + sizeof prefix - 1, wanted) != 0) {
    return rheos_status_new(RHEOS_NOT_FOUND, "no temporary variable %s: the reference is to %s",
                            wanted != NULL ? wanted : "", name);
  }
  p->state = cells.items[0];
  p->compute = compute_destroy;
  return NULL;
}

const rheos__op_def rheos__op_DestroyTemporaryVariable = {
    .name = "DestroyTemporaryVariable",
    .signature = "ref: Ref(T) -> value: T; T: type; var_name: string",
    .doc = "Takes the value out of the temporary variable `var_name`.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_destroy,
};
