// Sets in the last dimension of tensors, dense or sparse: their sizes, differences, intersections
// and unions. The results are sparse, with the elements of each set in order.
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/sparse/sparse_util.h"

// The sets of one operand, one after the other in row-major order.
typedef struct sets {
  bool is_sparse;
  rheos__sparse sparse;  // dense: `values`, `dims` and `rank` only
  int64_t dense_dims[RHEOS_MAX_RANK];
  int64_t at;                // the place of the next set: a row, or the number of the set
  int64_t *group;            // rank - 1 leading indices of the set at hand
  int64_t *elements, count;  // its elements, in order, each once: places in `values`
  bool ended;
} sets;

static int compare_elements(const rheos_tensor *x, int64_t i, const rheos_tensor *y, int64_t j) {
  if (x->dtype == RHEOS_STRING) {
    const rheos_string *a = (const rheos_string *)x->data + i;
    const rheos_string *b = (const rheos_string *)y->data + j;
    const size_t both = a->size_bytes < b->size_bytes ? a->size_bytes : b->size_bytes;
    const int order = both == 0 ? 0 : memcmp(a->data, b->data, both);
    return order != 0 ? order : (a->size_bytes > b->size_bytes) - (a->size_bytes < b->size_bytes);
  }
  const int64_t a = rheos__int_in(x->dtype, x->data, i), b = rheos__int_in(y->dtype, y->data, j);
  return (a > b) - (a < b);
}

// Sifts element `at` of a heap down, the largest at the root.
static void sink(const rheos_tensor *values, int64_t *heap, int64_t at, int64_t count) {
  const int64_t moved = heap[at];
  for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && compare_elements(values, heap[child], values, heap[child + 1]) < 0) {
      child++;
    }
    if (compare_elements(values, moved, values, heap[child]) >= 0) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

enum { ELEMENTS_BETWEEN_POLLS = 1 << 15 };

static rheos_status *sort_elements(sets *s) {
  int64_t since = 0;
  for (int64_t i = s->count / 2 - 1; i >= 0; --i) {
    if (rheos__stops_after(&since, 1, ELEMENTS_BETWEEN_POLLS)) return rheos__stopped();
    sink(s->sparse.values, s->elements, i, s->count);
  }
  for (int64_t last = s->count - 1; last > 0; --last) {
    if (rheos__stops_after(&since, 1, ELEMENTS_BETWEEN_POLLS)) return rheos__stopped();
    const int64_t largest = s->elements[0];
    s->elements[0] = s->elements[last];
    s->elements[last] = largest;
    sink(s->sparse.values, s->elements, 0, last);
  }
  int64_t kept = 0;
  for (int64_t i = 0; i < s->count; ++i) {
    const bool again = kept > 0 && compare_elements(s->sparse.values, s->elements[i],
                                                    s->sparse.values, s->elements[kept - 1]) == 0;
    if (!again) s->elements[kept++] = s->elements[i];
  }
  s->count = kept;
  return NULL;
}

static void next_sparse_set(sets *s) {
  const rheos__sparse *x = &s->sparse;
  s->ended = s->at >= x->count;
  if (s->ended) return;
  memcpy(s->group, x->indices + s->at * x->rank, (size_t)(x->rank - 1) * sizeof *s->group);
  while (s->at < x->count &&
         rheos__sparse_compare(x->indices + s->at * x->rank, s->group, x->rank - 1) == 0) {
    s->elements[s->count++] = s->at++;
  }
}

static void next_dense_set(sets *s) {
  const rheos__sparse *x = &s->sparse;
  const int64_t size = x->dims[x->rank - 1];
  const int64_t num_sets = size > 0 ? x->values->num_elements / size : 0;
  s->ended = s->at >= num_sets;
  if (s->ended) return;
  int64_t left = s->at;
  for (int64_t d = x->rank - 2; d >= 0; --d) {
    s->group[d] = left % x->dims[d];
    left /= x->dims[d];
  }
  for (int64_t i = 0; i < size; ++i) s->elements[s->count++] = s->at * size + i;
  s->at++;
}

static rheos_status *next_set(sets *s) {
  s->count = 0;
  if (s->is_sparse) {
    next_sparse_set(s);
  } else {
    next_dense_set(s);
  }
  return s->ended ? NULL : sort_elements(s);
}

static rheos_status *check_order(const rheos__sparse *x) {
  int64_t since = 0;
  for (int64_t i = 1; i < x->count; ++i) {
    if (rheos__stops_after(&since, 1, RHEOS__POLLED_ELEMENTS)) return rheos__stopped();
    const int64_t *row = x->indices + i * x->rank;
    if (rheos__sparse_compare(row - x->rank, row, x->rank) >= 0) {
      return rheos__sparse_bad_row(row, x->rank, i, "is out of order or repeated");
    }
  }
  return NULL;
}

static rheos_status *open_sets(rheos_tensor *const *inputs, bool is_sparse, bool validate,
                               sets *s) {
  *s = (sets){.is_sparse = is_sparse};
  if (is_sparse) {
    RHEOS_TRY(rheos__sparse_of(inputs, &s->sparse));
    RHEOS_TRY(rheos__sparse_check_bounds(&s->sparse));
    if (validate) RHEOS_TRY(check_order(&s->sparse));
  } else {
    s->sparse.values = inputs[0];
    s->sparse.rank = inputs[0]->shape.rank;
    s->sparse.count = inputs[0]->num_elements;
    memcpy(s->dense_dims, inputs[0]->shape.dims, sizeof s->dense_dims);
    s->sparse.dims = s->dense_dims;
  }
  if (s->sparse.rank < 2) {
    return RHEOS_INVALID("sets need a rank of at least 2, got %lld", (long long)s->sparse.rank);
  }
  s->group = rheos__alloc_array((size_t)s->sparse.rank, sizeof *s->group);
  s->elements = rheos__alloc_array((size_t)s->sparse.count, sizeof *s->elements);
  return s->group != NULL && s->elements != NULL ? NULL : rheos__out_of_memory();
}

static void close_sets(sets *s) {
  rheos__free(s->group);
  rheos__free(s->elements);
}

// ---- Two operands

typedef enum operation { A_MINUS_B, B_MINUS_A, INTERSECTION, UNION } operation;

typedef struct pair {
  sets a, b;
  operation operation;
  // One element of a result each: from which operand, its place there, the place in the result.
  int64_t *found, num_found, longest;  // (num_found, 3)
  int64_t *groups;                     // (num_found, rank - 1)
} pair;

static void keep(pair *p, const int64_t *group, int64_t operand, int64_t element, int64_t place) {
  const int64_t rank = p->a.sparse.rank;
  int64_t *found = p->found + 3 * p->num_found;
  found[0] = operand, found[1] = element, found[2] = place;
  memcpy(p->groups + p->num_found * (rank - 1), group, (size_t)(rank - 1) * sizeof *group);
  p->num_found++;
  if (place + 1 > p->longest) p->longest = place + 1;
}

// Merges two sets in order; either may be missing (count 0).
static rheos_status *combine(pair *p, const int64_t *group, int64_t num_a, int64_t num_b,
                             int64_t *since) {
  int64_t i = 0, j = 0, place = 0;
  while (i < num_a || j < num_b) {
    if (rheos__stops_after(since, 1, ELEMENTS_BETWEEN_POLLS)) return rheos__stopped();
    const int order = i == num_a   ? 1
                      : j == num_b ? -1
                                   : compare_elements(p->a.sparse.values, p->a.elements[i],
                                                      p->b.sparse.values, p->b.elements[j]);
    const bool wanted = p->operation == UNION || (p->operation == A_MINUS_B && order < 0) ||
                        (p->operation == B_MINUS_A && order > 0) ||
                        (p->operation == INTERSECTION && order == 0);
    if (wanted) keep(p, group, order > 0, order > 0 ? p->b.elements[j] : p->a.elements[i], place++);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return NULL;
}

static rheos_status *combine_all(pair *p) {
  const int64_t rank = p->a.sparse.rank;
  int64_t since = 0;
  RHEOS_TRY(next_set(&p->a));
  RHEOS_TRY(next_set(&p->b));
  while (!p->a.ended || !p->b.ended) {
    if (rheos__stops_after(&since, 1, ELEMENTS_BETWEEN_POLLS)) return rheos__stopped();
    const int side = p->a.ended   ? 1
                     : p->b.ended ? -1
                                  : rheos__sparse_compare(p->a.group, p->b.group, rank - 1);
    RHEOS_TRY(combine(p, side > 0 ? p->b.group : p->a.group, side <= 0 ? p->a.count : 0,
                      side >= 0 ? p->b.count : 0, &since));
    if (side <= 0) RHEOS_TRY(next_set(&p->a));
    if (side >= 0) RHEOS_TRY(next_set(&p->b));
  }
  return NULL;
}

static rheos_status *store_found(const pair *p, rheos_tensor **outputs) {
  const int64_t rank = p->a.sparse.rank;
  RHEOS_TRY(rheos__sparse_new(p->a.sparse.values->dtype, p->num_found, rank, outputs));
  int64_t *indices = outputs[0]->data, *dims = outputs[2]->data, since = 0;
  for (int64_t i = 0; i < p->num_found; ++i) {
    if (rheos__stops_after(&since, 1, ELEMENTS_BETWEEN_POLLS)) return rheos__stopped();
    const int64_t *found = p->found + 3 * i;
    memcpy(indices + i * rank, p->groups + i * (rank - 1), (size_t)(rank - 1) * sizeof *indices);
    indices[i * rank + rank - 1] = found[2];
    const rheos_tensor *from = found[0] == 0 ? p->a.sparse.values : p->b.sparse.values;
    RHEOS_TRY(rheos__copy_value(outputs[1], i, from, found[1]));
  }
  memcpy(dims, p->a.sparse.dims, (size_t)(rank - 1) * sizeof *dims);
  dims[rank - 1] = p->longest;
  return NULL;
}

static rheos_status *check_groups(const sets *a, const sets *b) {
  bool same = a->sparse.rank == b->sparse.rank;
  for (int64_t d = 0; same && d + 1 < a->sparse.rank; ++d) {
    same = a->sparse.dims[d] == b->sparse.dims[d];
  }
  return same ? NULL : RHEOS_INVALID("Mismatched group shapes of the two sets");
}

static rheos_status *combine_sets(pair *p, rheos_tensor **outputs) {
  RHEOS_TRY(check_groups(&p->a, &p->b));
  const size_t most = (size_t)p->a.sparse.count + (size_t)p->b.sparse.count;
  p->found = rheos__alloc_array(most, 3 * sizeof *p->found);
  p->groups = rheos__alloc_array(most, (size_t)p->a.sparse.rank * sizeof *p->groups);
  if (p->found == NULL || p->groups == NULL) return rheos__out_of_memory();
  RHEOS_TRY(combine_all(p));
  return store_found(p, outputs);
}

static operation operation_of(const rheos__attrs *attrs) {
  const char *name = rheos__attr_string(attrs, "set_operation");
  return strcmp(name, "a-b") == 0            ? A_MINUS_B
         : strcmp(name, "b-a") == 0          ? B_MINUS_A
         : strcmp(name, "intersection") == 0 ? INTERSECTION
                                             : UNION;
}

// A dense operand is one input, a sparse one three.
static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const rheos__operands *o = state;
  const bool validate = rheos__attr_bool(o->attrs, "validate_indices");
  pair p = {.operation = operation_of(o->attrs)};
  (void)step;
  rheos_status *status = open_sets(inputs, o->num_inputs == 6, validate, &p.a);
  if (status == NULL) {
    status = open_sets(inputs + (o->num_inputs == 6 ? 3 : 1), o->num_inputs > 2, validate, &p.b);
  }
  if (status == NULL) status = combine_sets(&p, outputs);
  close_sets(&p.a);
  close_sets(&p.b);
  rheos__free(p.found);
  rheos__free(p.groups);
  return status;
}

static rheos_status *answer(rheos__prepare *p, rheos__compute_fn fn) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = fn;
  return NULL;
}

static rheos_status *prepare(rheos__prepare *p) {
  static const char *const names[] = {"a-b", "b-a", "intersection", "union"};
  const char *name = rheos__attr_string(p->attrs, "set_operation");
  for (int i = 0; i < 4; ++i) {
    if (strcmp(name, names[i]) == 0) return answer(p, compute);
  }
  return RHEOS_INVALID("Invalid set_operation %s.", name);
}

static rheos_status *infer_operand(rheos__infer *c, int32_t first, bool is_sparse,
                                   int64_t *out_rank) {
  if (is_sparse) {
    RHEOS_TRY(rheos__infer_sparse(c, first, out_rank));
  } else {
    *out_rank = c->input_shapes[first].rank;
  }
  if (*out_rank < 0 || *out_rank >= 2) return NULL;
  return RHEOS_INVALID("sets need a rank of at least 2, got %lld", (long long)*out_rank);
}

static rheos_status *shape(rheos__infer *c) {
  int64_t a, b;
  RHEOS_TRY(infer_operand(c, 0, c->num_inputs == 6, &a));
  RHEOS_TRY(infer_operand(c, c->num_inputs == 6 ? 3 : 1, c->num_inputs > 2, &b));
  if (a >= 0 && b >= 0 && a != b) {
    return RHEOS_INVALID("Mismatched ranks of the two sets: %lld and %lld", (long long)a,
                         (long long)b);
  }
  if (c->num_inputs == 2 && a >= 0 && b >= 0) {
    rheos_shape x = c->input_shapes[0], y = c->input_shapes[1], groups;
    x.rank = y.rank = (int32_t)a - 1;
    RHEOS_TRY(rheos__shape_merge(&x, &y, &groups));
  }
  rheos__infer_sparse_output(c, 0, a >= 0 ? a : b);
  return NULL;
}

// ---- SetSize

static rheos_status *count_sets(sets *s, const rheos_shape *groups, rheos_tensor *out) {
  int32_t *sizes = out->data;
  int64_t since = 0;
  memset(sizes, 0, out->size_bytes);
  for (;;) {
    if (rheos__stops_after(&since, 1, ELEMENTS_BETWEEN_POLLS)) return rheos__stopped();
    RHEOS_TRY(next_set(s));
    if (s->ended) return NULL;
    int64_t place = 0;
    for (int32_t d = 0; d < groups->rank; ++d) place = place * groups->dims[d] + s->group[d];
    sizes[place] = (int32_t)s->count;
  }
}

static rheos_status *compute_size(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const rheos__operands *o = state;
  sets s;
  rheos_shape groups;
  (void)step;
  rheos_status *status =
      open_sets(inputs, true, rheos__attr_bool(o->attrs, "validate_indices"), &s);
  if (status == NULL) status = rheos__sparse_dense_shape(s.sparse.dims, s.sparse.rank - 1, &groups);
  if (status == NULL) status = rheos__tensor_new(RHEOS_INT32, &groups, &outputs[0]);
  if (status == NULL) status = count_sets(&s, &groups, outputs[0]);
  close_sets(&s);
  return status;
}

static rheos_status *prepare_size(rheos__prepare *p) { return answer(p, compute_size); }

static rheos_status *shape_size(rheos__infer *c) {
  int64_t rank;
  rheos_shape dims;
  RHEOS_TRY(infer_operand(c, 0, true, &rank));
  if (rheos__infer_value(c, 2) == NULL) return NULL;
  RHEOS_TRY(rheos__infer_shape_value(c, 2, &dims));
  if (dims.rank < 2) return NULL;
  dims.rank--;
  c->output_shapes[0] = dims;
  return NULL;
}

// ---- Definitions

#define RESULT                                                                                \
  " -> result_indices: int64, result_values: T, result_shape: int64; set_operation: string; " \
  "validate_indices: bool = true; " SET_TYPES
#define SET_TYPES "T: {int8, int16, int32, int64, uint8, uint16, string}"
#define SPARSE(name) name "_indices: int64, " name "_values: T, " name "_shape: int64"
#define SET_OP(op, text, words, infer, kernel)                          \
  const rheos__op_def rheos__op_##op = {.name = #op,                    \
                                        .signature = text,              \
                                        .doc = words,                   \
                                        .shape = infer,                 \
                                        .gradient = rheos__no_gradient, \
                                        .prepare = kernel}

SET_OP(DenseToDenseSetOperation, "set1: T, set2: T" RESULT,
       "\"a-b\", \"b-a\", \"intersection\" or \"union\" of the sets in the last dimension.", shape,
       prepare);
SET_OP(DenseToSparseSetOperation, "set1: T, " SPARSE("set2") RESULT,
       "DenseToDenseSetOperation whose second operand is sparse.", shape, prepare);
SET_OP(SparseToSparseSetOperation, SPARSE("set1") ", " SPARSE("set2") RESULT,
       "DenseToDenseSetOperation of sparse operands.", shape, prepare);
SET_OP(SetSize, SPARSE("set") " -> size: int32; validate_indices: bool = true; " SET_TYPES,
       "How many different elements each of the sets in the last dimension has.", shape_size,
       prepare_size);
