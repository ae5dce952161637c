// Ops whose output shapes depend on values: Where, DynamicPartition, DynamicStitch.
#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/position_text.h"

// ---- Where

static rheos_status *shape_where(rheos__infer *c) {
  int32_t rank = c->input_shapes[0].rank;
  if (rank == 0) return RHEOS_INVALID("WhereOp : Unhandled input dimensions: 0");
  c->output_shapes[0] = RHEOS_SHAPE(-1, rank);
  return NULL;
}

static rheos_status *compute_where(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)state, (void)step;
  const rheos_tensor *x = inputs[0];
  int32_t rank = x->shape.rank;
  int64_t count = 0, steps[RHEOS_MAX_RANK];
  for (int64_t i = 0; i < x->num_elements; ++i) {
    if (i % RHEOS__POLLED_ELEMENTS == 0 && rheos__is_stopping()) return rheos__stopped();
    count += rheos__is_nonzero(x->dtype, x->data, i);
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, rank), &outputs[0]));
  rheos__row_major_steps(&x->shape, steps);
  int64_t *row = outputs[0]->data;
  for (int64_t i = 0; i < x->num_elements; ++i) {
    if (i % RHEOS__POLLED_ELEMENTS == 0 && rheos__is_stopping()) return rheos__stopped();
    if (!rheos__is_nonzero(x->dtype, x->data, i)) continue;
    int64_t rest = i;
    for (int32_t d = 0; d < rank; ++d) {
      *row++ = rest / steps[d];
      rest %= steps[d];
    }
  }
  return NULL;
}

static rheos_status *prepare_where(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_where);
}

const rheos__op_def rheos__op_Where = {
    .name = "Where",
    .signature = "input: T -> index: int64; T: {number, bool} = bool",
    .doc = "The places of the elements of `input` that are not zero, one in each row.",
    .shape = shape_where,
    .gradient = rheos__no_gradient,
    .prepare = prepare_where,
};

// ---- DynamicPartition

// Fails unless `shape` starts with `prefix`.
static bool starts_with(const rheos_shape *shape, const rheos_shape *prefix) {
  if (shape->rank < 0 || prefix->rank < 0) return true;
  if (prefix->rank > shape->rank) return false;
  for (int32_t d = 0; d < prefix->rank; ++d) {
    int64_t a = shape->dims[d], b = prefix->dims[d];
    if (a >= 0 && b >= 0 && a != b) return false;
  }
  return true;
}

static rheos_status *shape_dynamic_partition(rheos__infer *c) {
  const rheos_shape *data = &c->input_shapes[0], *partitions = &c->input_shapes[1];
  rheos__shape_text a, b;
  if (!starts_with(data, partitions)) {
    return RHEOS_INVALID(
        "data.shape must start with partitions.shape, got data.shape = %s, partitions.shape = %s",
        rheos__shape_text_of(data, &a), rheos__shape_text_of(partitions, &b));
  }
  if (data->rank < 0 || partitions->rank < 0) return NULL;
  for (int32_t i = 0; i < c->num_outputs; ++i) {
    c->output_shapes[i] = RHEOS_SHAPE(-1);
    RHEOS_TRY(rheos__shape_append_range(&c->output_shapes[i], data, partitions->rank, data->rank));
  }
  return NULL;
}

// Counts the rows of each partition, and fails on an index that is out of range.
static rheos_status *count_rows(const rheos_tensor *partitions, int64_t *counts,
                                int32_t num_partitions) {
  const int32_t *values = partitions->data;
  for (int64_t i = 0; i < partitions->num_elements; ++i) {
    if (values[i] >= 0 && values[i] < num_partitions) {
      counts[values[i]]++;
      continue;
    }
    rheos__position_text where;
    return RHEOS_INVALID("partitions%s = %d is not in [0, %d)",
                         rheos__position_text_of(&partitions->shape, i, &where), values[i],
                         num_partitions);
  }
  return NULL;
}

static rheos_status *partition(const rheos__operands *o, const rheos_tensor *data,
                               const rheos_tensor *partitions, int64_t *counts,
                               rheos_tensor **outputs) {
  RHEOS_TRY(count_rows(partitions, counts, o->num_outputs));
  int32_t outer = partitions->shape.rank;
  rheos_shape shape = RHEOS_SHAPE(0);
  RHEOS_TRY(rheos__shape_append_range(&shape, &data->shape, outer, data->shape.rank));
  for (int32_t i = 0; i < o->num_outputs; ++i) {
    shape.dims[0] = counts[i];
    RHEOS_TRY(rheos__tensor_new(data->dtype, &shape, &outputs[i]));
    counts[i] = 0;
  }
  int64_t run = rheos__shape_product(&data->shape, outer, data->shape.rank);
  int64_t bytes = run * (int64_t)rheos_dtype_size(data->dtype);
  for (int64_t row = 0; row < partitions->num_elements; ++row) {
    int32_t to = ((const int32_t *)partitions->data)[row];
    RHEOS_TRY(rheos__copy_elements(data->dtype, (char *)outputs[to]->data + counts[to]++ * bytes,
                                   (const char *)data->data + row * bytes, run));
  }
  return NULL;
}

static rheos_status *compute_dynamic_partition(void *state, rheos__step *step,
                                               rheos_tensor *const *inputs,
                                               rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  int64_t *counts = rheos__alloc_array((size_t)o->num_outputs, sizeof *counts);
  if (counts == NULL) return rheos__out_of_memory();
  rheos_status *status = partition(o, inputs[0], inputs[1], counts, outputs);
  rheos__free(counts);
  return status;
}

static rheos_status *prepare_dynamic_partition(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_dynamic_partition);
}

// d data: the places of the rows, partitioned alike, tell where to stitch the gradients.
static void gradient_dynamic_partition(rheos__grad *g) {
  rheos_scope *s = g->scope;
  int32_t count = g->num_outputs;
  rheos_output *inputs = rheos__alloc_array(2 * (size_t)count, sizeof *inputs);
  if (inputs == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return;
  }
  for (int32_t i = 0; i < count; ++i) inputs[count + i] = rheos__grad_dense(g, i);
  rheos_output prefix = rheos__shape_of(s, g->inputs[1], RHEOS_INT32);
  rheos_output zero = rheos__const_ints(s, (int32_t[]){0}, 1, "Const");
  rheos_output total = rheos__op_2(s, "Prod", prefix, zero);
  rheos_output places = rheos__range(s, (rheos_output){0}, 0, total, 0, 1);
  rheos_output table[] = {rheos__op_2(s, "Reshape", places, prefix), g->inputs[1]};
  rheos_attr attr = rheos_attr_int("num_partitions", count);
  rheos_operation apart = rheos__op_n(s, "DynamicPartition", NULL, table, 2, &attr, 1);
  if (apart.graph != NULL) {
    for (int32_t i = 0; i < count; ++i) inputs[i] = rheos_operation_output(apart, i);
    rheos_output whole =
        rheos__named_n(s, "DynamicStitch", NULL, inputs, 2 * (size_t)count, NULL, 0);
    rheos_output shape = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
    rheos__grad_set(g, 0, rheos__op_2(s, "Reshape", whole, shape));
  }
  rheos__free(inputs);
}

const rheos__op_def rheos__op_DynamicPartition = {
    .name = "DynamicPartition",
    .signature =
        "data: T, partitions: int32 -> outputs: num_partitions * T; "
        "num_partitions: int >= 1; T: type",
    .doc = "The rows of `data` sorted into `num_partitions` tensors by `partitions`.",
    .shape = shape_dynamic_partition,
    .gradient = gradient_dynamic_partition,
    .prepare = prepare_dynamic_partition,
};

// ---- DynamicStitch

// Number of rows of the result: the largest index and one; -1 if there is no index.
static int64_t largest_index(rheos_tensor *const *indices, int32_t count) {
  int64_t largest = -1;
  for (int32_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < indices[i]->num_elements; ++k) {
      int32_t value = ((const int32_t *)indices[i]->data)[k];
      if (value > largest) largest = value;
    }
  }
  return largest;
}

// As largest_index(), of indices whose values only the graph tells; -1 if it does not tell all.
static int64_t largest_inferred_index(const rheos__infer *c, int32_t count) {
  int64_t largest = -1, values[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < count; ++i) {
    int32_t length;
    if (!rheos__infer_ints(c, i, values, RHEOS_MAX_RANK, &length)) return -1;
    for (int32_t k = 0; k < length; ++k) largest = values[k] > largest ? values[k] : largest;
  }
  return largest;
}

static rheos_status *shape_dynamic_stitch(rheos__infer *c) {
  int32_t count = c->num_inputs / 2;
  const rheos_shape *indices = c->input_shapes, *data = c->input_shapes + count;
  rheos_shape rest = RHEOS_UNKNOWN_SHAPE, own;
  rheos__shape_text a, b, d, e;
  bool values_known = c->input_values != NULL;
  for (int32_t i = 0; i < count; ++i) {
    values_known = values_known && c->input_values[i] != NULL;
    if (!starts_with(&data[i], &indices[i])) {
      return RHEOS_INVALID("data[%d].shape = %s does not start with indices[%d].shape = %s", i,
                           rheos__shape_text_of(&data[i], &a), i,
                           rheos__shape_text_of(&indices[i], &b));
    }
    if (data[i].rank < 0 || indices[i].rank < 0) continue;
    own = RHEOS_SCALAR;
    RHEOS_TRY(rheos__shape_append_range(&own, &data[i], indices[i].rank, data[i].rank));
    if (!rheos_shape_compatible(&rest, &own)) {
      return RHEOS_INVALID(
          "Need data[0].shape[%d:] = data[%d].shape[%d:], got data[0].shape = %s, "
          "data[%d].shape = %s, indices[0].shape = %s, indices[%d].shape = %s",
          indices[0].rank, i, indices[i].rank, rheos__shape_text_of(&data[0], &a), i,
          rheos__shape_text_of(&data[i], &b), rheos__shape_text_of(&indices[0], &d), i,
          rheos__shape_text_of(&indices[i], &e));
    }
    rheos_shape before = rest;
    RHEOS_TRY(rheos__shape_merge(&before, &own, &rest));
  }
  if (rest.rank < 0) return NULL;
  int64_t largest = values_known ? -1 : largest_inferred_index(c, count);
  c->output_shapes[0] = RHEOS_SHAPE(values_known   ? largest_index(c->input_values, count) + 1
                                    : largest >= 0 ? largest + 1
                                                   : -1);
  return rheos__shape_append_range(&c->output_shapes[0], &rest, 0, rest.rank);
}

static rheos_status *compute_dynamic_stitch(void *state, rheos__step *step,
                                            rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  int32_t count = o->num_inputs / 2;
  rheos_tensor *const *indices = inputs, *const *data = inputs + count;
  rheos_dtype dtype = o->output_dtypes[0];
  rheos_shape shape = RHEOS_SHAPE(largest_index(indices, count) + 1);
  RHEOS_TRY(rheos__shape_append_range(&shape, &data[0]->shape, indices[0]->shape.rank,
                                      data[0]->shape.rank));
  RHEOS_TRY(rheos__tensor_new(dtype, &shape, &outputs[0]));
  if (dtype != RHEOS_STRING && outputs[0]->size_bytes > 0) {
    memset(outputs[0]->data, 0, outputs[0]->size_bytes);  // rows that no index names
  }
  int64_t run = rheos__shape_product(&shape, 1, shape.rank);
  int64_t bytes = run * (int64_t)rheos_dtype_size(dtype);
  for (int32_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < indices[i]->num_elements; ++k) {
      int32_t to = ((const int32_t *)indices[i]->data)[k];
      if (to < 0) return RHEOS_INVALID("indices[%lld] is out of range", (long long)k);
      RHEOS_TRY(rheos__copy_elements(dtype, (char *)outputs[0]->data + to * bytes,
                                     (const char *)data[i]->data + k * bytes, run));
    }
  }
  return NULL;
}

static rheos_status *prepare_dynamic_stitch(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_dynamic_stitch);
}

static void gradient_dynamic_stitch(rheos__grad *g) {
  int32_t count = g->num_inputs / 2;
  rheos_output grad = rheos__grad_dense(g, 0);
  for (int32_t i = 0; i < count; ++i) {
    rheos__grad_set(g, count + i, rheos__gather(g->scope, grad, g->inputs[i]));
  }
}

const rheos__op_def rheos__op_DynamicStitch = {
    .name = "DynamicStitch",
    .signature = "indices: N * int32, data: N * T -> merged: T; N: int >= 1; T: type",
    .doc = "Row `indices`[i][k] of the result is row k of `data`[i]; later ones win.",
    .shape = shape_dynamic_stitch,
    .gradient = gradient_dynamic_stitch,
    .prepare = prepare_dynamic_stitch,
};

const rheos__op_def rheos__op_ParallelDynamicStitch = {
    .name = "ParallelDynamicStitch",
    .signature = "indices: N * int32, data: N * T -> merged: T; N: int >= 1; T: type",
    .doc = "Row `indices`[i][k] of the result is row k of `data`[i]; which one wins is open.",
    .shape = shape_dynamic_stitch,
    .gradient = gradient_dynamic_stitch,
    .prepare = prepare_dynamic_stitch,
};
