// Temporary variables: cells that a step makes, fills, changes and takes the value out of.
//
// A cell is the session's, like that of any variable, so two steps that run at the same time share
// it. The step notes which it has, so that it can make a variable again only when it has destroyed
// it. It holds zeros when it is made, never memory that nothing was written to.
#include "graph/build.h"
#include "ops/kit/op_util.h"
#include "ops/kit/variable_util.h"

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

// A step's note about the temporary variable of this name.
typedef struct note {
  rheos__resource base;
  bool is_there;
} note;

static const rheos__resource_kind note_kind = {"note of a temporary variable", sizeof(note), NULL,
                                               NULL};

// Whether the step has the variable; from now on as `is_there` says.
static rheos_status *exchange(rheos__step *step, const rheos__variable_cell *cell, bool is_there,
                              bool *out_was_there) {
  rheos__resources *resources = rheos__step_resources(step);
  if (resources == NULL) return rheos__out_of_memory();
  rheos__resource *found = NULL;
  RHEOS_TRY(rheos__resources_get(resources, &note_kind, cell->base.name, NULL, &found));
  *out_was_there = ((note *)found)->is_there;
  ((note *)found)->is_there = is_there;
  rheos__resource_unref(found);
  return NULL;
}

typedef struct temporary {
  rheos__variable_cell *cell;
  rheos_dtype dtype;
  rheos_shape shape;
} temporary;

static const char *name_of(const rheos__variable_cell *cell) {
  return cell->base.name + sizeof prefix - 1;
}

static rheos_status *compute_temporary(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)inputs, (void)outputs;
  const temporary *t = state;
  bool was_there = false;
  RHEOS_TRY(exchange(step, t->cell, true, &was_there));
  if (was_there) {
    return rheos_status_new(RHEOS_ALREADY_EXISTS, "this step has a temporary variable %s already",
                            name_of(t->cell));
  }
  return fill_with_zeros(t->cell, t->dtype, &t->shape);
}

static void release_temporary(void *state) {
  temporary *t = state;
  rheos__resource_unref(&t->cell->base);
}

// The cell of that name, with a value of the shape that plans will see.
static rheos_status *get_cell(rheos__prepare *p, const char *name, rheos_dtype dtype,
                              const rheos_shape *shape, rheos__variable_cell **out_cell) {
  rheos__resource *resource = NULL;
  RHEOS_TRY(rheos__resources_get(p->resources, &rheos__variable_kind, name, &dtype, &resource));
  rheos__variable_cell *cell = (rheos__variable_cell *)resource;
  rheos_tensor *value = rheos__variable_read(cell);
  rheos_status *status = NULL;
  if (cell->dtype != dtype) {
    status = RHEOS_INVALID("temporary variable %s holds %s, not %s", name_of(cell),
                           rheos_dtype_name(cell->dtype), rheos_dtype_name(dtype));
  } else if (value == NULL || !rheos_shape_equal(&value->shape, shape)) {
    status = fill_with_zeros(cell, dtype, shape);
  }
  rheos_tensor_unref(value);
  if (status == NULL) {
    *out_cell = cell;
  } else {
    rheos__resource_unref(resource);
  }
  return status;
}

static rheos_status *prepare_temporary(rheos__prepare *p) {
  const char *name = rheos__attr_string(p->attrs, "var_name");
  if (name == NULL || name[0] == '\0') name = p->node_name;
  char *cell_name = rheos__arena_alloc(p->arena, sizeof prefix + strlen(name));
  if (cell_name == NULL) return rheos__out_of_memory();
  strcpy(cell_name, prefix);
  strcat(cell_name, name);
  temporary t = {.dtype = rheos__attr_type(p->attrs, "dtype"),
                 .shape = rheos__attr_shape(p->attrs, "shape")};
  temporary *made = rheos__arena_alloc(p->arena, sizeof *made);
  if (made == NULL) return rheos__out_of_memory();
  RHEOS_TRY(get_cell(p, cell_name, t.dtype, &t.shape, &t.cell));
  *made = t;
  p->state = made;
  p->release = release_temporary;
  p->compute = compute_temporary;
  p->output_resource = &t.cell->base;
  return NULL;
}

const rheos__op_def rheos__op_TemporaryVariable = {
    .name = "TemporaryVariable",
    .signature = "-> ref: Ref(dtype); shape: shape; dtype: type; var_name: string = \"\"",
    .doc = "A reference to a variable for the duration of a step.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_of_attr,
    .gradient = rheos__no_gradient,
    .prepare = prepare_temporary,
};

static rheos_status *compute_destroy(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)inputs;
  const temporary *t = state;
  bool was_there = false;
  RHEOS_TRY(exchange(step, t->cell, false, &was_there));
  if (!was_there) {
    return rheos_status_new(RHEOS_NOT_FOUND, "this step has no temporary variable %s any more",
                            name_of(t->cell));
  }
  RHEOS_TRY(rheos__variable_read_in(t->cell, NULL, &outputs[0]));
  return fill_with_zeros(t->cell, outputs[0]->dtype, &outputs[0]->shape);
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
  temporary *t = rheos__arena_alloc_zeroed(p->arena, sizeof *t);
  if (t == NULL) return rheos__out_of_memory();
  *t = (temporary){.cell = cells.items[0]};
  p->state = t;
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
