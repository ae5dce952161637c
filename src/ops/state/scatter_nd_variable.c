// Changes to elements and slices of variables at places: indices (..., depth) name `depth`
// coordinates each, updates (..., rest of the variable) are what goes there. They are never left
// half done: a step that is to stop waits for them, some nanoseconds an element.
#include "graph/build.h"
#include "ops/kit/array_util.h"
#include "ops/state/scatter.h"

// Shapes may have unknown parts, which fit everything.
static rheos_status *check_shapes(const rheos_shape *variable, const rheos_shape *indices,
                                  const rheos_shape *updates) {
  if (indices->rank == 0) return RHEOS_INVALID("indices must be at least a vector");
  if (updates->rank == 0) return RHEOS_INVALID("updates must be at least a vector");
  if (rheos_shape_num_elements(variable) == 0 &&
      (rheos_shape_num_elements(indices) > 0 || rheos_shape_num_elements(updates) > 0)) {
    return RHEOS_INVALID("Indices and updates specified for an empty variable");
  }
  if (variable->rank < 0 || indices->rank < 0 || updates->rank < 0) return NULL;
  int64_t depth = indices->dims[indices->rank - 1];
  if (depth < 0) return NULL;
  if (depth > variable->rank) {
    return RHEOS_INVALID("indices of %lld coordinates do not fit a variable of rank %d",
                         (long long)depth, variable->rank);
  }
  rheos_shape expected = RHEOS_SCALAR;
  RHEOS_TRY(rheos__shape_append_range(&expected, indices, 0, indices->rank - 1));
  RHEOS_TRY(rheos__shape_append_range(&expected, variable, (int32_t)depth, variable->rank));
  if (rheos_shape_compatible(&expected, updates)) return NULL;
  rheos__shape_text a, b, c, d;
  return RHEOS_INVALID(
      "Must have updates.shape = indices.shape[:-1] + params.shape[depth:] = %s, got "
      "updates.shape %s, indices.shape %s, params.shape %s",
      rheos__shape_text_of(&expected, &a), rheos__shape_text_of(updates, &b),
      rheos__shape_text_of(indices, &c), rheos__shape_text_of(variable, &d));
}

// Nothing is changed unless everything can be.
static rheos_status *scatter(rheos_tensor *variable, const rheos__scatter *s,
                             const rheos_tensor *indices, const rheos_tensor *updates) {
  const rheos_shape *shape = &variable->shape;
  RHEOS_TRY(check_shapes(shape, &indices->shape, &updates->shape));
  const rheos__named_places named = rheos__places_of(&indices->shape);
  const int64_t depth = named.depth, rows = named.rows;
  int64_t place;
  int64_t run = rheos__shape_product(shape, (int32_t)depth, shape->rank);
  int64_t size = run * (int64_t)rheos_dtype_size(variable->dtype);
  for (int64_t row = 0; row < rows && !s->ignore_bad_indices; ++row) {
    if (!rheos__place_of(indices->dtype, indices->data, row, depth, shape, &place)) {
      const rheos__operands o = {.input_dtypes = &indices->dtype, .input_shapes = &indices->shape};
      return rheos__bad_place(&o, indices->data, 0, row, depth, shape, "shape");
    }
  }
  if (updates->num_elements == 0) return NULL;
  for (int64_t row = 0; row < rows; ++row) {
    if (!rheos__place_of(indices->dtype, indices->data, row, depth, shape, &place)) continue;
    RHEOS_TRY(rheos__change_elements(s->change, variable->dtype,
                                     (char *)variable->data + place * size,
                                     (const char *)updates->data + row * size, run, false));
  }
  return NULL;
}

static rheos_status *compute_scatter(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const rheos__scatter *s = state;
  rheos_tensor *values[RHEOS__MAX_CELLS];
  RHEOS_TRY(rheos__cells_begin_write(&s->cells, values));
  rheos_status *status = scatter(values[0], s, inputs[1], inputs[2]);
  rheos__cells_end_write(&s->cells);
  return status;
}

static rheos_status *prepare_scatter(rheos__prepare *p, rheos__change_kind kind) {
  rheos__scatter *s = RHEOS_NEW_STATE(p, rheos__scatter);
  if (s == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__cells_of(p, 1, &s->cells));
  RHEOS_TRY(rheos__check_change(p, kind, p->input_dtypes[2]));
  RHEOS_TRY(rheos__bad_indices_policy(p->attrs, &s->ignore_bad_indices));
  s->change = kind;
  s->by_coordinates = true;
  s->check = check_shapes;
  p->compute = compute_scatter;
  rheos__pass_reference(p);
  return NULL;
}

static rheos_status *shape_scatter(rheos__infer *c) {
  rheos_shape variable = rheos__infer_variable_shape(c, 0);
  if (c->num_outputs > 0) c->output_shapes[0] = variable;
  return check_shapes(&variable, &c->input_shapes[1], &c->input_shapes[2]);
}

#define ANY_NUMBER "number"

#define SCATTER_ND(op, kind, types, locking, text)                                               \
  static rheos_status *prepare_##op(rheos__prepare *p) {                                         \
    return prepare_scatter(p, RHEOS__CHANGE_##kind);                                             \
  }                                                                                              \
  const rheos__op_def rheos__op_ScatterNd##op = {                                                \
      .name = "ScatterNd" #op,                                                                   \
      .signature = "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T); T: " types \
                   "; Tindices: index; use_locking: bool = " locking RHEOS__BAD_INDICES_POLICY,  \
      .doc = text,                                                                               \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,                                              \
      .shape = shape_scatter,                                                                    \
      .gradient = rheos__no_gradient,                                                            \
      .prepare = prepare_##op,                                                                   \
  };                                                                                             \
  const rheos__op_def rheos__op_ResourceScatterNd##op = {                                        \
      .name = "ResourceScatterNd" #op,                                                           \
      .signature =                                                                               \
          "ref: resource, indices: Tindices, updates: T ->; T: type; Tindices: index; "          \
          "use_locking: bool = true" RHEOS__BAD_INDICES_POLICY,                                  \
      .doc = text,                                                                               \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,                                              \
      .shape = shape_scatter,                                                                    \
      .gradient = rheos__no_gradient,                                                            \
      .prepare = prepare_##op,                                                                   \
  };

SCATTER_ND(Update, SET, "type", "true", "Sets the places `indices` of the variable to `updates`.")
SCATTER_ND(Add, ADD, ANY_NUMBER, "false", "Adds `updates` at the places `indices` of the variable.")
SCATTER_ND(Sub, SUB, ANY_NUMBER, "false",
           "Subtracts `updates` at the places `indices` of the variable.")
SCATTER_ND(Max, MAX, ANY_NUMBER, "false",
           "The larger of the variable and `updates` at the places `indices`.")
SCATTER_ND(Min, MIN, ANY_NUMBER, "false",
           "The smaller of the variable and `updates` at the places `indices`.")
