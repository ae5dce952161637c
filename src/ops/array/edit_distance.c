// EditDistance: how many insertions, deletions and substitutions turn one sequence into another
// (Levenshtein, 1966). Sequences are the last dimension of two sparse tensors.
#include <math.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/sparse/sparse_util.h"

// The rows of a sparse tensor in order, cut into sequences of the same leading indices.
typedef struct sequences {
  rheos__sparse sparse;
  int64_t *order;       // for rheos__free()
  int64_t first, last;  // the sequence at hand: places in `order`
} sequences;

static const int64_t *row_of(const sequences *s, int64_t place) {
  return s->sparse.indices + s->order[place] * s->sparse.rank;
}

static void next_sequence(sequences *s) {
  s->first = s->last;
  while (s->last < s->sparse.count &&
         rheos__sparse_compare(row_of(s, s->first), row_of(s, s->last), s->sparse.rank - 1) == 0) {
    s->last++;
  }
}

static int64_t length_of(const sequences *s) { return s->last - s->first; }

enum { COSTS_BETWEEN_POLLS = 1 << 20 };  // some milliseconds

// `costs` has room for one more than the second sequence is long.
static int64_t distance(const sequences *a, const sequences *b, int64_t *costs) {
  const int64_t n = length_of(a), m = length_of(b);
  const rheos_tensor *x = a->sparse.values, *y = b->sparse.values;
  int64_t since = 0;
  for (int64_t j = 0; j <= m; ++j) costs[j] = j;
  for (int64_t i = 1; i <= n; ++i) {
    if (rheos__stops_after(&since, m, COSTS_BETWEEN_POLLS)) break;  // the caller looks too
    int64_t diagonal = costs[0];
    costs[0] = i;
    for (int64_t j = 1; j <= m; ++j) {
      const bool same = rheos__same_element(x->dtype, x->data, a->order[a->first + i - 1], y->data,
                                            b->order[b->first + j - 1]);
      const int64_t changed = diagonal + !same;
      const int64_t shifted = (costs[j] < costs[j - 1] ? costs[j] : costs[j - 1]) + 1;
      diagonal = costs[j];
      costs[j] = changed < shifted ? changed : shifted;
    }
  }
  return costs[m];
}

static float normalized(int64_t edits, int64_t length, bool normalize) {
  if (!normalize) return (float)edits;
  return length > 0 ? (float)edits / (float)length : edits > 0 ? INFINITY : 0;
}

static int64_t place_of(const int64_t *row, const rheos_shape *shape) {
  int64_t place = 0;
  for (int32_t d = 0; d < shape->rank; ++d) place = place * shape->dims[d] + row[d];
  return place;
}

// Sequences that only one side has are compared with empty ones.
static rheos_status *compare_all(sequences *hypothesis, sequences *truth, bool normalize,
                                 int64_t *costs, rheos__step *step, rheos_tensor *out) {
  next_sequence(hypothesis);
  next_sequence(truth);
  while (length_of(hypothesis) > 0 || length_of(truth) > 0) {
    if (rheos__step_should_stop(step)) {
      return rheos__stopped();
    }
    const int64_t n = length_of(hypothesis), m = length_of(truth);
    const int side =
        n == 0   ? 1
        : m == 0 ? -1
                 : rheos__sparse_compare(row_of(hypothesis, hypothesis->first),
                                         row_of(truth, truth->first), truth->sparse.rank - 1);
    const sequences *at = side > 0 ? truth : hypothesis;
    float *result = (float *)out->data + place_of(row_of(at, at->first), &out->shape);
    if (side < 0) {
      *result = normalized(n, 0, normalize);
    } else if (side > 0) {
      *result = normalized(m, m, normalize);
    } else {
      *result = normalized(distance(hypothesis, truth, costs), m, normalize);
    }
    if (side <= 0) next_sequence(hypothesis);
    if (side >= 0) next_sequence(truth);
  }
  return rheos__step_should_stop(step) ? rheos__stopped() : NULL;
}

static rheos_status *open_sequences(rheos_tensor *const *inputs, sequences *s) {
  RHEOS_TRY(rheos__sparse_of(inputs, &s->sparse));
  if (s->sparse.rank < 2) return RHEOS_INVALID("sequences need a rank of at least 2");
  RHEOS_TRY(rheos__sparse_check_bounds(&s->sparse));
  return rheos__sparse_order(s->sparse.indices, s->sparse.count, s->sparse.rank, &s->order);
}

static rheos_status *new_output(const rheos__sparse *a, const rheos__sparse *b,
                                rheos_tensor **out) {
  rheos_shape shape;
  if (a->rank != b->rank) {
    return RHEOS_INVALID(
        "truth_shape and hypothesis_shape must have the same rank, got %lld and "
        "%lld",
        (long long)b->rank, (long long)a->rank);
  }
  if (a->rank - 1 > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("rank %lld is more than the maximum of %d", (long long)a->rank - 1,
                         RHEOS_MAX_RANK);
  }
  shape.rank = (int32_t)(a->rank - 1);
  for (int32_t d = 0; d < shape.rank; ++d) {
    shape.dims[d] = a->dims[d] > b->dims[d] ? a->dims[d] : b->dims[d];
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &shape, out));
  for (int64_t i = 0; i < (*out)->num_elements; ++i) ((float *)(*out)->data)[i] = 0;
  return NULL;
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const rheos__operands *o = state;
  sequences hypothesis = {0}, truth = {0};
  int64_t *costs = NULL;
  rheos_status *status = open_sequences(inputs, &hypothesis);
  if (status == NULL) status = open_sequences(inputs + 3, &truth);
  if (status == NULL) status = new_output(&hypothesis.sparse, &truth.sparse, &outputs[0]);
  if (status == NULL) {
    costs = rheos__alloc_array((size_t)truth.sparse.count + 1, sizeof *costs);
    if (costs == NULL) status = rheos__out_of_memory();
  }
  if (status == NULL) {
    status = compare_all(&hypothesis, &truth, rheos__attr_bool(o->attrs, "normalize"), costs, step,
                         outputs[0]);
  }
  rheos__free(hypothesis.order);
  rheos__free(truth.order);
  rheos__free(costs);
  return status;
}

static rheos_status *prepare(rheos__prepare *p) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute;
  return NULL;
}

static rheos_status *shape(rheos__infer *c) {
  rheos_shape dims[2];
  int64_t rank[2];
  RHEOS_TRY(rheos__infer_sparse(c, 0, &rank[0]));
  RHEOS_TRY(rheos__infer_sparse(c, 3, &rank[1]));
  if (rank[0] >= 0 && rank[1] >= 0 && rank[0] != rank[1]) {
    return RHEOS_INVALID(
        "truth_shape and hypothesis_shape must have the same rank, got %lld and "
        "%lld",
        (long long)rank[1], (long long)rank[0]);
  }
  if (rheos__infer_value(c, 2) == NULL || rheos__infer_value(c, 5) == NULL) return NULL;
  RHEOS_TRY(rheos__infer_shape_value(c, 2, &dims[0]));
  RHEOS_TRY(rheos__infer_shape_value(c, 5, &dims[1]));
  if (dims[0].rank < 1 || dims[0].rank != dims[1].rank) return NULL;
  c->output_shapes[0] = rheos__shape_of_rank(dims[0].rank - 1);
  for (int32_t d = 0; d + 1 < dims[0].rank; ++d) {
    const int64_t a = dims[0].dims[d], b = dims[1].dims[d];
    c->output_shapes[0].dims[d] = a < 0 || b < 0 ? -1 : a > b ? a : b;
  }
  return NULL;
}

const rheos__op_def rheos__op_EditDistance = {
    .name = "EditDistance",
    .signature =
        "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
        "truth_indices: int64, truth_values: T, truth_shape: int64 -> output: float; "
        "normalize: bool = true; T: type",
    .doc =
        "How many edits turn each sequence of the hypothesis into that of the truth; a share of "
        "the latter's length if `normalize`.",
    .shape = shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare,
};
