// Changes to rows of variables, which are never left half done: a step that is to stop waits for
// them, some nanoseconds an element.
#include "graph/build.h"
#include "ops/state/scatter.h"

#include <string.h>

#define ANY_NUMBER "number"
#define COMPARABLE "{half, bfloat16, float, double, int32, int64}"

// updates.shape must be indices.shape + variable.shape[1:], or []: one number for all.
static rheos_status *check_updates(const rheos_shape *variable, const rheos_shape *indices,
                                   const rheos_shape *updates) {
  if (variable->rank == 0) return RHEOS_INVALID("the variable is a scalar: it has no rows");
  if (updates->rank == 0) return NULL;
  bool fits = updates->rank == indices->rank + variable->rank - 1;
  for (int32_t i = 0; fits && i < updates->rank; ++i) {
    int64_t expected = i < indices->rank ? indices->dims[i] : variable->dims[i - indices->rank + 1];
    fits = updates->dims[i] == expected;
  }
  if (fits) return NULL;
  rheos__shape_text a, b, c;
  return RHEOS_INVALID(
      "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
      "got updates.shape %s, indices.shape %s, params.shape %s",
      rheos__shape_text_of(updates, &a), rheos__shape_text_of(indices, &b),
      rheos__shape_text_of(variable, &c));
}

// Nothing is changed unless everything can be.
static rheos_status *scatter(rheos_tensor *variable, rheos__change_kind change,
                             const rheos_tensor *indices, const rheos_tensor *updates) {
  RHEOS_TRY(check_updates(&variable->shape, &indices->shape, &updates->shape));
  RHEOS_TRY(rheos__check_divisors(change, updates));
  int64_t rows = variable->shape.dims[0];
  RHEOS_TRY(rheos__check_indices(indices, rows));
  if (variable->num_elements == 0) return NULL;
  int64_t width = variable->num_elements / rows;
  size_t row_bytes = (size_t)width * rheos_dtype_size(variable->dtype);
  bool repeated = updates->shape.rank == 0;
  for (int64_t i = 0; i < indices->num_elements; ++i) {
    char *to = (char *)variable->data + (size_t)rheos__tensor_int_at(indices, i) * row_bytes;
    const char *from = (const char *)updates->data + (repeated ? 0 : (size_t)i * row_bytes);
    RHEOS_TRY(rheos__change_elements(change, variable->dtype, to, from, width, repeated));
  }
  return NULL;
}

static rheos_status *compute_scatter(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const rheos__scatter *s = state;
  rheos_tensor *values[RHEOS__MAX_CELLS];
  RHEOS_TRY(rheos__cells_begin_write(&s->cells, values));
  rheos_status *status = scatter(values[0], s->change, inputs[1], inputs[2]);
  rheos__cells_end_write(&s->cells);
  return status;
}

static rheos_status *prepare_scatter(rheos__prepare *p, rheos__change_kind kind) {
  rheos__scatter *s = RHEOS_NEW_STATE(p, rheos__scatter);
  if (s == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__cells_of(p, 1, &s->cells));
  s->change = kind;
  s->check = check_updates;
  RHEOS_TRY(rheos__check_change(p, kind, p->input_dtypes[2]));
  p->compute = compute_scatter;
  rheos__pass_reference(p);
  return NULL;
}

static rheos_status *shape_scatter(rheos__infer *c) {
  rheos_shape behind = rheos__infer_variable_shape(c, 0);
  if (c->num_outputs > 0) c->output_shapes[0] = behind;
  const rheos_shape *variable = &behind, *indices = &c->input_shapes[1];
  const rheos_shape *updates = &c->input_shapes[2];
  if (variable->rank < 0 || indices->rank < 0 || updates->rank <= 0) return NULL;
  if (variable->rank == 0) return RHEOS_INVALID("the variable is a scalar: it has no rows");
  if (updates->rank != indices->rank + variable->rank - 1) {
    rheos__shape_text a, b, d;
    return RHEOS_INVALID("updates %s do not fit indices %s of a variable %s",
                         rheos__shape_text_of(updates, &a), rheos__shape_text_of(indices, &b),
                         rheos__shape_text_of(variable, &d));
  }
  // What is known of indices.shape + variable.shape[1:] has to fit.
  rheos_shape wanted = *indices, merged;
  for (int32_t i = 1; i < variable->rank; i++) wanted.dims[wanted.rank++] = variable->dims[i];
  return rheos__shape_merge(updates, &wanted, &merged);
}

#define SCATTER_KERNEL(op, kind)                                 \
  static rheos_status *prepare_scatter_##op(rheos__prepare *p) { \
    return prepare_scatter(p, RHEOS__CHANGE_##kind);             \
  }

#define SCATTER_REF(op, types, locking, text)                                                    \
  const rheos__op_def rheos__op_Scatter##op = {                                                  \
      .name = "Scatter" #op,                                                                     \
      .signature = "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T); T: " types \
                   "; Tindices: index; use_locking: bool = " locking,                            \
      .doc = text,                                                                               \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,                                              \
      .shape = shape_scatter,                                                                    \
      .gradient = rheos__no_gradient,                                                            \
      .prepare = prepare_scatter_##op,                                                           \
  };

#define SCATTER_RESOURCE(op, types, text)                                                    \
  const rheos__op_def rheos__op_ResourceScatter##op = {                                      \
      .name = "ResourceScatter" #op,                                                         \
      .signature = "resource: resource, indices: Tindices, updates: dtype ->; dtype: " types \
                   "; Tindices: index",                                                      \
      .doc = text,                                                                           \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,                                          \
      .shape = shape_scatter,                                                                \
      .gradient = rheos__no_gradient,                                                        \
      .prepare = prepare_scatter_##op,                                                       \
  };

SCATTER_KERNEL(Update, SET)
SCATTER_KERNEL(Add, ADD)
SCATTER_KERNEL(Sub, SUB)
SCATTER_KERNEL(Mul, MUL)
SCATTER_KERNEL(Div, DIV)
SCATTER_KERNEL(Min, MIN)
SCATTER_KERNEL(Max, MAX)

SCATTER_REF(Update, "type", "true", "Sets the rows `indices` of the variable to `updates`.")
SCATTER_REF(Add, ANY_NUMBER, "false", "Adds `updates` to the rows `indices` of the variable.")
SCATTER_REF(Sub, ANY_NUMBER, "false",
            "Subtracts `updates` from the rows `indices` of the variable.")
SCATTER_REF(Mul, ANY_NUMBER, "false", "Multiplies the rows `indices` of the variable by `updates`.")
SCATTER_REF(Div, ANY_NUMBER, "false", "Divides the rows `indices` of the variable by `updates`.")
SCATTER_REF(Min, COMPARABLE, "false", "Lowers the rows `indices` of the variable to `updates`.")
SCATTER_REF(Max, COMPARABLE, "false", "Raises the rows `indices` of the variable to `updates`.")
SCATTER_RESOURCE(Update, "type", "Sets the rows `indices` of the variable to `updates`.")
SCATTER_RESOURCE(Add, ANY_NUMBER, "Adds `updates` to the rows `indices` of the variable.")
SCATTER_RESOURCE(Sub, ANY_NUMBER, "Subtracts `updates` from the rows `indices` of the variable.")
SCATTER_RESOURCE(Mul, ANY_NUMBER, "Multiplies the rows `indices` of the variable by `updates`.")
SCATTER_RESOURCE(Div, ANY_NUMBER, "Divides the rows `indices` of the variable by `updates`.")
SCATTER_RESOURCE(Min, ANY_NUMBER, "Lowers the rows `indices` of the variable to `updates`.")
SCATTER_RESOURCE(Max, ANY_NUMBER, "Raises the rows `indices` of the variable to `updates`.")
