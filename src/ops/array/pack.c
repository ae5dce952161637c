// Pack, ParallelConcat, Unpack.
#include <stdio.h>

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/row_parts.h"
#include "tensor/variant.h"

// ---- Pack

static rheos_status *pack_axis(const rheos__attrs *attrs, int32_t rank, int32_t *out_axis) {
  int64_t axis = rheos__attr_int(attrs, "axis");
  if (axis < -(int64_t)rank || axis >= rank) {
    return RHEOS_INVALID("axis = %lld not in [%d, %d)", (long long)axis, -rank, rank);
  }
  *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
  return NULL;
}

// In which way two shapes do not go together.
static void tell_unlike(const rheos_shape *a, const rheos_shape *b, char *text, size_t size) {
  int32_t d = 0;
  if (a->rank != b->rank) {
    snprintf(text, size, "Shapes must be equal rank, but are %d and %d", a->rank, b->rank);
    return;
  }
  while (d + 1 < a->rank && (a->dims[d] < 0 || b->dims[d] < 0 || a->dims[d] == b->dims[d])) ++d;
  snprintf(text, size, "Dimension %d in both shapes must be equal", d);
}

static rheos_status *shape_pack(rheos__infer *c) {
  rheos_shape merged = RHEOS_UNKNOWN_SHAPE;
  for (int32_t i = 0; i < c->num_inputs; ++i) {
    rheos_shape before = merged;
    rheos__shape_text a, b;
    if (!rheos_shape_compatible(&merged, &c->input_shapes[i])) {
      char why[64];
      tell_unlike(&merged, &c->input_shapes[i], why, sizeof why);
      return RHEOS_INVALID(
          "Shapes of all inputs must match: values[0].shape = %s != values[%d].shape = %s: %s",
          rheos__shape_text_of(&c->input_shapes[0], &a), i,
          rheos__shape_text_of(&c->input_shapes[i], &b), why);
    }
    RHEOS_TRY(rheos__shape_merge(&before, &c->input_shapes[i], &merged));
  }
  if (merged.rank < 0) return NULL;
  int32_t axis = 0;
  RHEOS_TRY(pack_axis(c->attrs, merged.rank + 1, &axis));
  rheos_shape *out = &c->output_shapes[0];
  *out = RHEOS_SCALAR;
  RHEOS_TRY(rheos__shape_append_range(out, &merged, 0, axis));
  RHEOS_TRY(rheos__shape_append(out, c->num_inputs));
  return rheos__shape_append_range(out, &merged, axis, merged.rank);
}

// Of variants, which are counted: what is packed is [outer, num, inner], each part [outer, inner].
typedef struct variant_parts {
  rheos_shape part, whole;
  int64_t outer, inner;
  int32_t num;
} variant_parts;

static rheos_status *compute_pack_variants(void *state, rheos__step *step,
                                           rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const variant_parts *v = state;
  RHEOS_TRY(rheos_tensor_new(RHEOS_VARIANT, v->whole, &outputs[0]));
  rheos__variant **to = outputs[0]->data;
  for (int64_t o = 0; o < v->outer; ++o) {
    for (int32_t k = 0; k < v->num; ++k) {
      rheos__variant *const *from = (rheos__variant *const *)inputs[k]->data + o * v->inner;
      for (int64_t i = 0; i < v->inner; ++i) *to++ = rheos__variant_ref(from[i]);
    }
  }
  return NULL;
}

static rheos_status *compute_unpack_variants(void *state, rheos__step *step,
                                             rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const variant_parts *v = state;
  for (int32_t k = 0; k < v->num; ++k) {
    RHEOS_TRY(rheos_tensor_new(RHEOS_VARIANT, v->part, &outputs[k]));
    rheos__variant **to = outputs[k]->data;
    for (int64_t o = 0; o < v->outer; ++o) {
      rheos__variant *const *from =
          (rheos__variant *const *)inputs[0]->data + (o * v->num + k) * v->inner;
      for (int64_t i = 0; i < v->inner; ++i) *to++ = rheos__variant_ref(from[i]);
    }
  }
  return NULL;
}

static rheos_status *prepare_variants(rheos__prepare *p, const rheos_shape *whole,
                                      const rheos_shape *part, int32_t axis, int32_t num) {
  variant_parts *v = RHEOS_NEW_STATE(p, variant_parts);
  if (v == NULL) return rheos__out_of_memory();
  *v = (variant_parts){.whole = *whole, .outer = 1, .inner = 1, .num = num};
  if (part != NULL) v->part = *part;
  for (int32_t d = 0; d < whole->rank; ++d) {
    if (d != axis) *(d < axis ? &v->outer : &v->inner) *= whole->dims[d];
  }
  return NULL;
}

static rheos_status *prepare_pack(rheos__prepare *p) {
  int32_t axis = 0;
  RHEOS_TRY(pack_axis(p->attrs, p->output_shapes[0].rank, &axis));
  if (p->output_dtypes[0] == RHEOS_VARIANT) {
    p->compute = compute_pack_variants;
    return prepare_variants(p, &p->output_shapes[0], NULL, axis, p->num_inputs);
  }
  return rheos__prepare_join(p, 0, p->num_inputs, axis);
}

static void gradient_pack(rheos__grad *g) {
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos_attr attrs[] = {rheos_attr_int("num", g->num_inputs),
                        rheos_attr_int("axis", rheos__attr_int(g->attrs, "axis"))};
  rheos_operation apart = rheos__op_n(g->scope, "Unpack", "unstack", &grad, 1, attrs, 2);
  for (int32_t i = 0; i < g->num_inputs && apart.graph != NULL; ++i) {
    rheos__grad_set(g, i, rheos_operation_output(apart, i));
  }
}

const rheos__op_def rheos__op_Pack = {
    .name = "Pack",
    .signature = "values: N * T -> output: T; N: int >= 1; T: type; axis: int = 0",
    .doc = "`values`, all of one shape, along a new dimension `axis`.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_pack,
    .gradient = gradient_pack,
    .prepare = prepare_pack,
};

// ---- ParallelConcat: Pack of rows [1, ..], of which the op says the whole shape beforehand

static rheos_status *shape_parallel_concat(rheos__infer *c) {
  rheos__shape_text a, b;
  const rheos_shape whole = rheos__attr_shape(c->attrs, "shape");
  if (!rheos_shape_is_known(&whole)) {
    return RHEOS_INVALID("shape attr must be fully defined");
  }
  if (whole.rank == 0 || whole.dims[0] != c->num_inputs) {
    return RHEOS_INVALID("%d values do not make the shape %s", c->num_inputs,
                         rheos__shape_text_of(&whole, &b));
  }
  rheos_shape row = whole;
  row.dims[0] = 1;
  for (int32_t i = 0; i < c->num_inputs; ++i) {
    if (rheos_shape_compatible(&c->input_shapes[i], &row)) continue;
    return RHEOS_INVALID("value %d has the shape %s, not %s", i,
                         rheos__shape_text_of(&c->input_shapes[i], &a),
                         rheos__shape_text_of(&row, &b));
  }
  c->output_shapes[0] = whole;
  return NULL;
}

static rheos_status *prepare_parallel_concat(rheos__prepare *p) {
  return rheos__prepare_join(p, 0, p->num_inputs, 0);
}

const rheos__op_def rheos__op_ParallelConcat = {
    .name = "ParallelConcat",
    .signature = "values: N * T -> output: T; N: int >= 1; T: type; shape: shape",
    .doc = "`values`, each one row [1, ..], as the rows of a tensor of shape `shape`.",
    .shape = shape_parallel_concat,
    .prepare = prepare_parallel_concat,
};

// ---- Unpack

static rheos_status *shape_unpack(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  if (in->rank < 0) return NULL;
  if (in->rank == 0) return RHEOS_INVALID("Shape must be at least rank 1 but is rank 0");
  int32_t axis = 0;
  RHEOS_TRY(pack_axis(c->attrs, in->rank, &axis));
  if (in->dims[axis] >= 0 && in->dims[axis] != c->num_outputs) {
    rheos__shape_text text;
    return RHEOS_INVALID("Input shape axis %d must equal %d, got shape %s", axis, c->num_outputs,
                         rheos__shape_text_of(in, &text));
  }
  for (int32_t i = 0; i < c->num_outputs; ++i) {
    c->output_shapes[i] = RHEOS_SCALAR;
    RHEOS_TRY(rheos__shape_append_range(&c->output_shapes[i], in, 0, axis));
    RHEOS_TRY(rheos__shape_append_range(&c->output_shapes[i], in, axis + 1, in->rank));
  }
  return NULL;
}

static rheos_status *prepare_unpack(rheos__prepare *p) {
  int32_t axis = 0;
  RHEOS_TRY(pack_axis(p->attrs, p->input_shapes[0].rank, &axis));
  if (p->input_dtypes[0] == RHEOS_VARIANT && p->num_outputs > 0) {
    p->compute = compute_unpack_variants;
    return prepare_variants(p, &p->input_shapes[0], &p->output_shapes[0], axis, p->num_outputs);
  }
  return rheos__prepare_take_apart(p, 0, axis);
}

static void gradient_unpack(rheos__grad *g) {
  rheos_output *grads = rheos__alloc_array((size_t)g->num_outputs, sizeof *grads);
  if (grads == NULL) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
    return;
  }
  for (int32_t i = 0; i < g->num_outputs; ++i) grads[i] = rheos__grad_dense(g, i);
  int32_t axis = (int32_t)rheos__attr_int(g->attrs, "axis");
  rheos__grad_set(g, 0, rheos__stack(g->scope, grads, g->num_outputs, axis));
  rheos__free(grads);
}

const rheos__op_def rheos__op_Unpack = {
    .name = "Unpack",
    .signature = "value: T -> output: num * T; num: int >= 0; T: type; axis: int = 0",
    .doc = "The `num` parts of `value` along dimension `axis`, which they lose.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_unpack,
    .gradient = gradient_unpack,
    .prepare = prepare_unpack,
};
