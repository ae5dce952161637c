// SparseSegment: rows picked by indices and joined by ascending segment ids, and the ops that take
// gradients back to the rows.
#include <math.h>
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/math/segment.h"

#define SUM_TYPES \
  "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
#define FLOAT_TYPES "{bfloat16, half, float, double}"
#define INDEX_TYPES "; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32"

typedef struct sparse_segment {
  const rheos__operands *operands;
  rheos__segment_kind kind;
  rheos__change join;
} sparse_segment;

static rheos_status *check_vectors(const rheos__infer *c) {
  rheos_shape indices, ids;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &indices));
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &ids));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  if (indices.dims[0] < 0 || ids.dims[0] < 0 || indices.dims[0] == ids.dims[0]) return NULL;
  return RHEOS_INVALID("segment_ids and indices should have same size, got %lld and %lld",
                       (long long)ids.dims[0], (long long)indices.dims[0]);
}

static rheos_status *shape_sparse_segment(rheos__infer *c) {
  rheos_shape ignored;
  int64_t rows = -1;
  RHEOS_TRY(check_vectors(c));
  if (c->num_inputs > 3) {
    RHEOS_TRY(rheos__infer_rank(c, 3, 0, &ignored));
    if (rheos__infer_int(c, 3, &rows) && rows < 0) {
      return RHEOS_INVALID("Cannot specify a negative value for num_segments or output_dim0: %lld",
                           (long long)rows);
    }
  }
  if (c->input_shapes[0].rank < 0) return NULL;
  c->output_shapes[0] = c->input_shapes[0];
  c->output_shapes[0].dims[0] = rows;
  return NULL;
}

static double divisor_of(rheos__segment_kind kind, int64_t count) {
  if (count <= 1 || kind == RHEOS__SEGMENT_SUM) return 1;
  return kind == RHEOS__SEGMENT_MEAN ? (double)count : sqrt((double)count);
}

// The ids are below `limit` and ascend if they have to, the indices lie in [0, rows).
static rheos_status *check_values(const rheos_tensor *indices, int64_t rows,
                                  const rheos_tensor *ids, int64_t limit, bool ascending) {
  int64_t previous = 0;
  for (int64_t i = 0; i < ids->num_elements; ++i) {
    const int64_t index = rheos__tensor_int_at(indices, i), id = rheos__tensor_int_at(ids, i);
    RHEOS_TRY(rheos__check_segment(id, previous, limit));
    if (index < 0 || index >= rows) {
      return RHEOS_INVALID("indices[%lld] = %lld out of range [0, %lld)", (long long)i,
                           (long long)index, (long long)rows);
    }
    if (ascending) previous = id;
  }
  return NULL;
}

static rheos_status *compute_sparse_segment(void *state, rheos__step *step,
                                            rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  static const char zero[16];
  const sparse_segment *k = state;
  const rheos_tensor *data = inputs[0], *indices = inputs[1], *ids = inputs[2];
  const int64_t count = ids->num_elements;
  const int64_t last = count == 0 ? -1 : rheos__tensor_int_at(ids, count - 1);
  const bool given = k->operands->num_inputs > 3;
  if (last == INT64_MAX) return RHEOS_INVALID("Segment id %lld is too large", (long long)last);
  const int64_t limit = given ? rheos__tensor_int_at(inputs[3], 0) : last + 1;
  if (limit < 0) return RHEOS_INVALID("segment ids must be >= 0, got %lld", (long long)limit);
  RHEOS_TRY(check_values(indices, data->shape.dims[0], ids, limit, true));
  rheos_shape shape = data->shape;
  shape.dims[0] = limit;
  RHEOS_TRY(rheos__tensor_new(data->dtype, &shape, &outputs[0]));
  RHEOS_TRY(rheos__fill_elements(data->dtype, outputs[0]->data, zero, outputs[0]->num_elements));
  const int64_t run = rheos__shape_product(&shape, 1, shape.rank);
  const int64_t bytes = run * (int64_t)rheos_dtype_size(data->dtype);
  int64_t since = 0;
  for (int64_t i = 0, first = 0; i < count; ++i) {
    if (rheos__stops_after(&since, run + 8, RHEOS__POLLED_ELEMENTS)) return rheos__stopped();
    const int64_t id = rheos__tensor_int_at(ids, i);
    char *to = (char *)outputs[0]->data + id * bytes;
    k->join(to, (const char *)data->data + rheos__tensor_int_at(indices, i) * bytes, run, false);
    if (i + 1 < count && rheos__tensor_int_at(ids, i + 1) == id) continue;
    const double divisor = divisor_of(k->kind, i + 1 - first);
    if (divisor != 1) rheos__divide_row(data->dtype, to, run, divisor);
    first = i + 1;
  }
  return NULL;
}

// Row i of `grad` belongs to segment i and goes back to all rows that were joined there, in
// whatever order the ids are.
static rheos_status *compute_gradient(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)step;
  static const char zero[16];
  const sparse_segment *k = state;
  const rheos_tensor *grad = inputs[0], *indices = inputs[1], *ids = inputs[2];
  const int64_t rows = rheos__tensor_int_at(inputs[3], 0), count = ids->num_elements;
  if (rows < 0) return RHEOS_INVALID("output_dim0 must be >= 0, got %lld", (long long)rows);
  RHEOS_TRY(check_values(indices, rows, ids, grad->shape.dims[0], false));
  rheos_shape shape = grad->shape;
  shape.dims[0] = rows;
  RHEOS_TRY(rheos__tensor_new(grad->dtype, &shape, &outputs[0]));
  RHEOS_TRY(rheos__fill_elements(grad->dtype, outputs[0]->data, zero, outputs[0]->num_elements));
  const int64_t run = rheos__shape_product(&shape, 1, shape.rank);
  const int64_t bytes = run * (int64_t)rheos_dtype_size(grad->dtype);
  if (bytes == 0) return NULL;
  char *scaled = rheos__alloc((size_t)bytes);
  int64_t *counts = rheos__alloc_array((size_t)grad->shape.dims[0], sizeof *counts);
  rheos_status *status = scaled == NULL || counts == NULL ? rheos__out_of_memory() : NULL;
  for (int64_t i = 0; i < count && status == NULL; ++i) counts[rheos__tensor_int_at(ids, i)]++;
  int64_t since = 0;
  for (int64_t i = 0, previous = -1; i < count && status == NULL; ++i) {
    const int64_t id = rheos__tensor_int_at(ids, i), index = rheos__tensor_int_at(indices, i);
    if (rheos__stops_after(&since, run + 8, RHEOS__POLLED_ELEMENTS)) status = rheos__stopped();
    if (id != previous) {
      memcpy(scaled, (const char *)grad->data + id * bytes, (size_t)bytes);
      const double divisor = divisor_of(k->kind, counts[id]);
      if (divisor != 1) rheos__divide_row(grad->dtype, scaled, run, divisor);
    }
    k->join((char *)outputs[0]->data + index * bytes, scaled, run, false);
    previous = id;
  }
  rheos__free(counts);
  rheos__free(scaled);
  return status;
}

static rheos_status *prepare_sparse(rheos__prepare *p, rheos__segment_kind kind,
                                    rheos__compute_fn compute) {
  sparse_segment *k = RHEOS_NEW_STATE(p, sparse_segment);
  if (k == NULL) return rheos__out_of_memory();
  k->operands = rheos__keep_operands(p);
  if (k->operands == NULL) return rheos__out_of_memory();
  k->kind = kind;
  k->join = rheos__segment_join(kind, p->output_dtypes[0]);
  p->compute = compute;
  return k->join == NULL ? rheos__no_kernel(p, p->output_dtypes[0]) : NULL;
}

static void gradient_by(rheos__grad *g, const char *type) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const rheos_output zero = rheos__const_scalar(s, RHEOS_INT32, 0, "Const");
  const rheos_output inputs[] = {grad, g->inputs[1], g->inputs[2], rheos__gather(s, dims, zero)};
  rheos__grad_set(g, 0, rheos__named_n(s, type, NULL, inputs, 4, NULL, 0));
}

#define SPARSE(op, kind, types, about)                                                           \
  static rheos_status *prepare_##op(rheos__prepare *p) {                                         \
    return prepare_sparse(p, RHEOS__SEGMENT_##kind, compute_sparse_segment);                     \
  }                                                                                              \
  static rheos_status *prepare_##op##_grad(rheos__prepare *p) {                                  \
    return prepare_sparse(p, RHEOS__SEGMENT_##kind, compute_gradient);                           \
  }                                                                                              \
  static void gradient_##op(rheos__grad *g) { gradient_by(g, "SparseSegment" #op "Grad"); }      \
  const rheos__op_def rheos__op_SparseSegment##op = {                                            \
      .name = "SparseSegment" #op,                                                               \
      .signature =                                                                               \
          "data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T; T: " types INDEX_TYPES \
          "; sparse_gradient: bool = false",                                                     \
      .doc = "The " about " of the rows `indices` of `data` by ascending `segment_ids`.",        \
      .shape = shape_sparse_segment,                                                             \
      .gradient = gradient_##op,                                                                 \
      .prepare = prepare_##op,                                                                   \
  };                                                                                             \
  const rheos__op_def rheos__op_SparseSegment##op##WithNumSegments = {                           \
      .name = "SparseSegment" #op "WithNumSegments",                                             \
      .signature =                                                                               \
          "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> "     \
          "output: T; T: " types INDEX_TYPES                                                     \
          "; Tnumsegments: {int32, int64} = int32; "                                             \
          "sparse_gradient: bool = false",                                                       \
      .doc = "The " about                                                                        \
             " of the rows `indices` of `data` by ascending `segment_ids`, of "                  \
             "`num_segments` segments.",                                                         \
      .shape = shape_sparse_segment,                                                             \
      .gradient = gradient_##op,                                                                 \
      .prepare = prepare_##op,                                                                   \
  };                                                                                             \
  const rheos__op_def rheos__op_SparseSegment##op##Grad = {                                      \
      .name = "SparseSegment" #op "Grad",                                                        \
      .signature =                                                                               \
          "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T; "  \
          "T: " FLOAT_TYPES INDEX_TYPES,                                                         \
      .doc = "The gradient of SparseSegment" #op " for its `data` of `output_dim0` rows.",       \
      .shape = shape_sparse_segment,                                                             \
      .prepare = prepare_##op##_grad,                                                            \
  };
SPARSE(Sum, SUM, SUM_TYPES, "sums")
SPARSE(Mean, MEAN, FLOAT_TYPES, "means")
SPARSE(SqrtN, SQRT_N, FLOAT_TYPES, "sums divided by the root of the number")
