// Writing at places that indices name: into zeros (ScatterNd), or into a copy of a tensor.
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/variable_util.h"

// ---- ScatterNd: into zeros

static rheos_status *shape_scatter_nd(rheos__infer *c) {
  const rheos_shape *indices = &c->input_shapes[0], *updates = &c->input_shapes[1];
  rheos_shape ignored, *out = &c->output_shapes[0];
  rheos__shape_text a, b;
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &ignored));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 1, 1));
  int64_t values[RHEOS_MAX_RANK];
  int32_t count;
  if (rheos__infer_ints(c, 2, values, RHEOS_MAX_RANK, &count)) {
    for (int32_t d = 0; d < count; ++d) {
      if (values[d] < 0) {
        return RHEOS_INVALID("Dimension %lld must be >= 0", (long long)values[d]);
      }
    }
  }
  RHEOS_TRY(rheos__infer_shape_value(c, 2, out));
  if (indices->rank < 0 || updates->rank < 0 || out->rank < 0) return NULL;
  int64_t depth = indices->dims[indices->rank - 1];
  if (depth < 0) return NULL;
  if (depth > out->rank) {
    return RHEOS_INVALID(
        "The innermost dimension of indices must be <= the rank of shape; saw: "
        "%lld vs. %d",
        (long long)depth, out->rank);
  }
  int32_t outer = indices->rank - 1, inner = out->rank - (int32_t)depth;
  bool fits = updates->rank == outer + inner;
  for (int32_t d = 0; d < outer && fits; ++d) {
    fits = updates->dims[d] < 0 || indices->dims[d] < 0 || updates->dims[d] == indices->dims[d];
  }
  if (!fits) {
    return RHEOS_INVALID(
        "The outer dimensions of updates and indices must match. Got indices.shape %s, "
        "updates.shape %s",
        rheos__shape_text_of(indices, &a), rheos__shape_text_of(updates, &b));
  }
  for (int32_t d = 0; d < inner; ++d) {
    int64_t from = updates->dims[outer + d], to = out->dims[depth + d];
    if (from >= 0 && to >= 0 && from != to) {
      return RHEOS_INVALID(
          "The inner %d dimensions of output.shape=%s must match the inner %d "
          "dimensions of updates.shape=%s",
          inner, rheos__shape_text_of(out, &a), inner, rheos__shape_text_of(updates, &b));
    }
  }
  if (rheos_shape_num_elements(out) == 0 && rheos_shape_num_elements(updates) > 0) {
    return RHEOS_INVALID("Indices and updates specified for empty output shape");
  }
  return NULL;
}

// Strings are joined.
static rheos_status *append(rheos_string *to, const rheos_string *from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (from[i].size_bytes == 0) continue;
    char *joined = rheos__alloc(to[i].size_bytes + from[i].size_bytes);
    if (joined == NULL) return rheos__out_of_memory();
    if (to[i].size_bytes > 0) memcpy(joined, to[i].data, to[i].size_bytes);
    memcpy(joined + to[i].size_bytes, from[i].data, from[i].size_bytes);
    const rheos_string sum = {joined, to[i].size_bytes + from[i].size_bytes};
    rheos_status *status = rheos__copy_elements(RHEOS_STRING, &to[i], &sum, 1);
    rheos__free(joined);
    RHEOS_TRY(status);
  }
  return NULL;
}

static rheos_status *run_scatter_nd(const void *state, const void *const *inputs,
                                    void *const *outputs, void *scratch, int64_t first_unit,
                                    int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  static const char zero[16];
  const rheos__operands *o = state;
  const rheos_shape *indices = &o->input_shapes[0], *out = &o->output_shapes[0];
  rheos_dtype dtype = o->output_dtypes[0];
  int64_t depth = indices->dims[indices->rank - 1], size = (int64_t)rheos_dtype_size(dtype);
  int64_t rows = rheos__shape_product(indices, 0, indices->rank - 1), place;
  int64_t run = rheos__shape_product(out, (int32_t)depth, out->rank);
  rheos__add_fn add = rheos__add_of(dtype);
  RHEOS_TRY(rheos__fill_elements(dtype, outputs[0], zero, rheos_shape_num_elements(out)));
  int64_t since = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (rheos__stops_after(&since, 8 + run, RHEOS__POLLED_ELEMENTS)) return rheos__stopped();
    if (!rheos__place_of(o->input_dtypes[0], inputs[0], row, depth, out, &place)) {
      if (o->ignore_bad_indices) continue;
      return rheos__bad_place(o, inputs[0], 0, row, depth, out, "shape");
    }
    if (dtype == RHEOS_STRING) {
      RHEOS_TRY(append((rheos_string *)outputs[0] + place * run,
                       (const rheos_string *)inputs[1] + row * run, run));
      continue;
    }
    add((char *)outputs[0] + place * run * size, (const char *)inputs[1] + row * run * size, run);
  }
  return NULL;
}

static rheos_status *prepare_scatter_nd(rheos__prepare *p) {
  if (p->output_dtypes[0] != RHEOS_STRING && rheos__add_of(p->output_dtypes[0]) == NULL) {
    p->decline_reason = "elements of this dtype cannot be added";
    return NULL;
  }
  rheos__operands *o = rheos__keep_operands(p);
  if (o == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__bad_indices_policy(p->attrs, &o->ignore_bad_indices));
  p->state = o;
  return rheos__answer_run(p, run_scatter_nd, 1);
}

// What is at the places that input `indices` names; places that the op passes over give zeros.
static rheos_output gathered(rheos__grad *g, rheos_output from, int32_t indices) {
  rheos_attr policy;
  const size_t num_attrs = rheos__bad_indices_attr(g, &policy);
  const rheos_output inputs[] = {from, g->inputs[indices]};
  return rheos__named_n(g->scope, "GatherNd", NULL, inputs, 2, &policy, num_attrs);
}

static void gradient_scatter_nd(rheos__grad *g) {
  rheos__grad_set(g, 1, gathered(g, rheos__grad_dense(g, 0), 0));
}

const rheos__op_def rheos__op_ScatterNd = {
    .name = "ScatterNd",
    .signature =
        "indices: Tindices, updates: T, shape: Tindices -> output: T; T: type; "
        "Tindices: {int16, int32, int64}" RHEOS__BAD_INDICES_POLICY,
    .doc = "Zeros of `shape` with `updates` added at the places that `indices` names.",
    .shape = shape_scatter_nd,
    .gradient = gradient_scatter_nd,
    .prepare = prepare_scatter_nd,
};

// ---- TensorScatter: into a copy of a tensor

typedef struct tensor_scatter {
  const rheos__operands *operands;
  rheos__change change;  // NULL: elements are copied
} tensor_scatter;

static rheos_status *shape_tensor_scatter(rheos__infer *c) {
  const rheos_shape *tensor = &c->input_shapes[0], *indices = &c->input_shapes[1];
  const rheos_shape *updates = &c->input_shapes[2];
  rheos__shape_text a, b, d;
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 1, 1));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 2, 1));
  c->output_shapes[0] = *tensor;
  if (tensor->rank < 0 || indices->rank < 0 || updates->rank < 0) return NULL;
  if (rheos_shape_num_elements(tensor) == 0 &&
      (rheos_shape_num_elements(indices) > 0 || rheos_shape_num_elements(updates) > 0)) {
    return RHEOS_INVALID("Indices and updates specified for empty input of shape %s",
                         rheos__shape_text_of(tensor, &a));
  }
  const int64_t depth = indices->dims[indices->rank - 1];
  if (depth < 0) return NULL;
  if (depth > tensor->rank) {
    return RHEOS_INVALID(
        "The innermost dimension of indices must be <= the rank of the tensor; "
        "saw: %lld vs. %d",
        (long long)depth, tensor->rank);
  }
  const int32_t outer = indices->rank - 1;
  bool fits = updates->rank == outer + tensor->rank - depth;
  for (int32_t i = 0; i < updates->rank && fits; ++i) {
    const int64_t wanted = i < outer ? indices->dims[i] : tensor->dims[i - outer + depth];
    fits = wanted < 0 || updates->dims[i] < 0 || wanted == updates->dims[i];
  }
  if (fits) return NULL;
  return RHEOS_INVALID(
      "updates of shape %s do not fit indices of shape %s into a tensor of shape %s",
      rheos__shape_text_of(updates, &a), rheos__shape_text_of(indices, &b),
      rheos__shape_text_of(tensor, &d));
}

static rheos_status *run_tensor_scatter(const void *state, const void *const *inputs,
                                        void *const *outputs, void *scratch, int64_t first_unit,
                                        int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const tensor_scatter *k = state;
  const rheos__operands *o = k->operands;
  const rheos_shape *indices = &o->input_shapes[1], *out = &o->output_shapes[0];
  const rheos_dtype dtype = o->output_dtypes[0];
  const int64_t size = (int64_t)rheos_dtype_size(dtype);
  const int64_t depth = indices->dims[indices->rank - 1];
  const int64_t run = rheos__shape_product(out, (int32_t)depth, out->rank);
  const int64_t rows = rheos__shape_product(indices, 0, indices->rank - 1);
  int64_t place;
  if (outputs[0] != inputs[0]) {
    RHEOS_TRY(rheos__copy_elements(dtype, outputs[0], inputs[0], rheos_shape_num_elements(out)));
  }
  if (rheos_shape_num_elements(out) == 0) return NULL;
  for (int64_t row = 0; row < rows; ++row) {
    if (!rheos__place_of(o->input_dtypes[1], inputs[1], row, depth, out, &place)) {
      if (o->ignore_bad_indices) continue;
      return rheos__bad_place(o, inputs[1], 1, row, depth, out, "shape");
    }
    char *to = (char *)outputs[0] + place * run * size;
    const char *from = (const char *)inputs[2] + row * run * size;
    if (k->change != NULL) {
      k->change(to, from, run, false);
    } else {
      RHEOS_TRY(rheos__copy_elements(dtype, to, from, run));
    }
  }
  return NULL;
}

static rheos_status *prepare_by(rheos__prepare *p, rheos__change_kind kind) {
  tensor_scatter *k = rheos__arena_alloc_zeroed(p->arena, sizeof *k);
  if (k == NULL) return rheos__out_of_memory();
  if (kind != RHEOS__CHANGE_SET) {
    k->change = rheos__change_of(kind, p->output_dtypes[0]);
    if (k->change == NULL) return rheos__no_kernel(p, p->output_dtypes[0]);
  }
  rheos__operands *o = rheos__keep_operands(p);
  if (o == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__bad_indices_policy(p->attrs, &o->ignore_bad_indices));
  k->operands = o;
  p->state = k;
  if (p->output_dtypes[0] != RHEOS_STRING) p->reuse_input = 0;
  return rheos__answer_run(p, run_tensor_scatter, 1);
}

static rheos_output scattered(rheos__grad *g, const char *type, rheos_output tensor,
                              rheos_output updates) {
  rheos_attr policy;
  const size_t num_attrs = rheos__bad_indices_attr(g, &policy);
  const rheos_output inputs[] = {tensor, g->inputs[1], updates};
  return rheos__named_n(g->scope, type, NULL, inputs, 3, &policy, num_attrs);
}

// What was overwritten has no influence.
static void gradient_update(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 2, gathered(g, grad, 1));
  const rheos_output zeros = rheos__zeros_like(s, g->inputs[2]);
  rheos__grad_set(g, 0,
                  scattered(g, "TensorScatterUpdate", rheos__op_1(s, "Identity", grad), zeros));
}

static void gradient_add(rheos__grad *g) {
  const rheos_output grad = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 2, gathered(g, grad, 1));
  rheos__grad_set(g, 0, rheos__op_1(g->scope, "Identity", grad));
}

static void gradient_sub(rheos__grad *g) {
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_output updates = gathered(g, grad, 1);
  rheos__grad_set(g, 0, rheos__op_1(g->scope, "Identity", grad));
  rheos__grad_set(g, 2, rheos__op_1(g->scope, "Neg", updates));
}

// Shared equally among all that are the extreme: the tensor's element, and updates.
static void gradient_extreme(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  if (rheos_scope_status(s) != NULL) return;
  const rheos_dtype dtype = rheos_output_dtype(grad);
  const rheos_output kept =
      rheos__cast_to(s, rheos__op_2(s, "Equal", g->inputs[0], g->outputs[0]), dtype);
  const rheos_output chosen = gathered(g, g->outputs[0], 1);
  const rheos_output taken =
      rheos__cast_to(s, rheos__op_2(s, "Equal", g->inputs[2], chosen), dtype);
  const rheos_output number = scattered(g, "TensorScatterAdd", kept, taken);
  const rheos_output share = rheos__py_div(s, grad, number);
  rheos__grad_set(g, 0, rheos__py_mul(s, share, kept));
  rheos__grad_set(g, 2, rheos__py_mul(s, gathered(g, share, 1), taken));
}

#define TENSOR_SCATTER(op, kind, types, places, slope, about)                         \
  static rheos_status *prepare_##op(rheos__prepare *p) {                              \
    return prepare_by(p, RHEOS__CHANGE_##kind);                                       \
  }                                                                                   \
  const rheos__op_def rheos__op_##op = {                                              \
      .name = #op,                                                                    \
      .signature = "tensor: T, indices: Tindices, updates: T -> output: T; T: " types \
                   "; Tindices: " places RHEOS__BAD_INDICES_POLICY,                   \
      .doc = about,                                                                   \
      .shape = shape_tensor_scatter,                                                  \
      .gradient = slope,                                                              \
      .prepare = prepare_##op,                                                        \
  };
TENSOR_SCATTER(TensorScatterUpdate, SET, "type", "{int16, int32, int64, uint16}", gradient_update,
               "`tensor` with `updates` at the places that `indices` names.")
TENSOR_SCATTER(TensorScatterAdd, ADD, "type", "index", gradient_add,
               "`tensor` with `updates` added at the places that `indices` names.")
TENSOR_SCATTER(TensorScatterSub, SUB, "type", "index", gradient_sub,
               "`tensor` with `updates` subtracted at the places that `indices` names.")
TENSOR_SCATTER(TensorScatterMin, MIN, "type", "index", gradient_extreme,
               "`tensor` where larger than the `updates` at `indices` replaced by these.")
TENSOR_SCATTER(TensorScatterMax, MAX, "type", "index", gradient_extreme,
               "`tensor` where smaller than the `updates` at `indices` replaced by these.")

static rheos_status *prepare_non_aliasing_add(rheos__prepare *p) {
  return prepare_by(p, RHEOS__CHANGE_ADD);
}

static void gradient_non_aliasing_add(rheos__grad *g) {
  const rheos_output grad = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, grad);
  rheos__grad_set(g, 2, gathered(g, grad, 1));
}

const rheos__op_def rheos__op_ScatterNdNonAliasingAdd = {
    .name = "ScatterNdNonAliasingAdd",
    .signature =
        "input: T, indices: Tindices, updates: T -> output: T; "
        "T: {number, bool}; Tindices: index" RHEOS__BAD_INDICES_POLICY,
    .doc = "`input` with `updates` added at the places that `indices` names.",
    .shape = shape_tensor_scatter,
    .gradient = gradient_non_aliasing_add,
    .prepare = prepare_non_aliasing_add,
};
