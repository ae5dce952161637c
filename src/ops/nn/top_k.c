// TopK: the largest elements of each row, found with a heap of k, the first of equal ones first.
// NthElement: the last of these. InTopK: whether a class is among them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"

enum { LANES = 64, HEADS = 32, FEW = 16 };

// The k best of n elements into `values` and `indices`; `heap` has room for k indices.
typedef void (*top_k_fn)(const void *x, int64_t n, int64_t k, int64_t *heap, void *values,
                         int64_t *indices);

// Elements of a large heap that are moved between two polls.
enum { SUNK_BETWEEN_POLLS = 1 << 14 };

// a before b: larger, or as large and earlier; NaN comes after all numbers. The root of the heap is
// the worst that is kept.
#define TOP_K(S, unused)                                                                \
  static bool before_##S(const rheos__stored_##S *xs, int64_t a, int64_t b) {           \
    const rheos__computed_##S x = RHEOS__LOAD_##S(xs[a]), y = RHEOS__LOAD_##S(xs[b]);   \
    if ((x != x) | (y != y)) return x == x || (y != y && a < b);                        \
    return x > y || (!(x < y) && a < b);                                                \
  }                                                                                     \
  static void sink_##S(const rheos__stored_##S *xs, int64_t *heap, int64_t count) {     \
    int64_t at = 0;                                                                     \
    const int64_t moved = heap[0];                                                      \
    for (int64_t child = 1; child < count; child = 2 * at + 1) {                        \
      if (child + 1 < count && before_##S(xs, heap[child], heap[child + 1])) child++;   \
      if (before_##S(xs, heap[child], moved)) break;                                    \
      heap[at] = heap[child];                                                           \
      at = child;                                                                       \
    }                                                                                   \
    heap[at] = moved;                                                                   \
  }                                                                                     \
  FEW_OF_MANY(S)                                                                        \
  static void top_##S(const void *x, int64_t n, int64_t k, int64_t *heap, void *values, \
                      int64_t *indices) {                                               \
    const rheos__stored_##S *xs = x;                                                    \
    rheos__stored_##S *zs = values;                                                     \
    if (k <= FEW && n >= 4 * LANES && few_##S(xs, n, k, zs, indices)) return;           \
    for (int64_t i = 0; i < n; i++) {                                                   \
      if (i % SUNK_BETWEEN_POLLS == 0 && i > 0 && rheos__is_stopping()) return;         \
      if (i < k) {                                                                      \
        int64_t at = i;                                                                 \
        for (; at > 0 && before_##S(xs, heap[(at - 1) / 2], i); at = (at - 1) / 2) {    \
          heap[at] = heap[(at - 1) / 2];                                                \
        }                                                                               \
        heap[at] = i;                                                                   \
      } else if (before_##S(xs, i, heap[0])) {                                          \
        heap[0] = i;                                                                    \
        sink_##S(xs, heap, k);                                                          \
      }                                                                                 \
    }                                                                                   \
    for (int64_t left = k; left > 0; left--) {                                          \
      if (left % SUNK_BETWEEN_POLLS == 0 && rheos__is_stopping()) return;               \
      indices[left - 1] = heap[0];                                                      \
      zs[left - 1] = xs[heap[0]];                                                       \
      heap[0] = heap[left - 1];                                                         \
      sink_##S(xs, heap, left - 1);                                                     \
    }                                                                                   \
  }

// A few of many without NaN (else false): every element has one of HEADS lanes; the largest of each
// lane are found first. At least k elements are as large as the k-th of these, and few larger; they
// are sorted as they are met. Which is in which place is what the heap says.
#define FEW_OF_MANY(S)                                                                            \
  RHEOS__WIDE static bool heads_##S(const rheos__stored_##S *xs, int64_t n,                       \
                                    rheos__computed_##S *heads) {                                 \
    typedef rheos__computed_##S C;                                                                \
    C lanes[HEADS];                                                                               \
    for (int j = 0; j < HEADS; j++) lanes[j] = RHEOS__LOAD_##S(xs[j]);                            \
    for (int64_t i = HEADS; i + HEADS <= n; i += HEADS) {                                         \
      RHEOS__KEEP_LANES for (int j = 0; j < HEADS; j++) {                                         \
        const C x = RHEOS__LOAD_##S(xs[i + j]), a = lanes[j];                                     \
        lanes[j] = (x > a) | (x != x) ? x : a;                                                    \
      }                                                                                           \
    }                                                                                             \
    int is_nan = 0;                                                                               \
    for (int64_t i = n / HEADS * HEADS; i < n; i++) {                                             \
      const C x = RHEOS__LOAD_##S(xs[i]);                                                         \
      is_nan |= x != x;                                                                           \
    }                                                                                             \
    for (int j = 0; j < HEADS; j++) {                                                             \
      is_nan |= lanes[j] != lanes[j];                                                             \
      heads[j] = lanes[j];                                                                        \
    }                                                                                             \
    return !is_nan;                                                                               \
  }                                                                                               \
  /* The k-th largest of the heads, of equal ones each counted. */                                \
  RHEOS__WIDE static rheos__computed_##S bound_##S(const rheos__computed_##S *heads, int64_t k) { \
    int32_t larger[HEADS] = {0};                                                                  \
    for (int i = 0; i < HEADS; i++) {                                                             \
      for (int j = 0; j < HEADS; j++) larger[j] += heads[i] > heads[j];                           \
    }                                                                                             \
    int least = -1;                                                                               \
    for (int j = 0; j < HEADS; j++) {                                                             \
      if (larger[j] < k && (least < 0 || heads[j] < heads[least])) least = j;                     \
    }                                                                                             \
    return heads[least];                                                                          \
  }                                                                                               \
  /* From i on, the start of the next LANES elements of which one is as large as `bound`, with    \
     which of them are. */                                                                        \
  RHEOS__WIDE static int64_t next_##S(const rheos__stored_##S *xs, int64_t i, int64_t n,          \
                                      rheos__computed_##S bound, uint8_t *which) {                \
    for (; i + LANES <= n; i += LANES) {                                                          \
      int found = 0;                                                                              \
      RHEOS__KEEP_LANES for (int j = 0; j < LANES; j++) {                                         \
        found |= RHEOS__LOAD_##S(xs[i + j]) >= bound;                                             \
      }                                                                                           \
      if (!found) continue;                                                                       \
      for (int j = 0; j < LANES; j++) which[j] = RHEOS__LOAD_##S(xs[i + j]) >= bound;             \
      return i;                                                                                   \
    }                                                                                             \
    for (int64_t j = i; j < n; j++) which[j - i] = RHEOS__LOAD_##S(xs[j]) >= bound;               \
    for (int64_t j = n; j < i + LANES; j++) which[j - i] = 0;                                     \
    return i;                                                                                     \
  }                                                                                               \
  static bool few_##S(const rheos__stored_##S *xs, int64_t n, int64_t k, rheos__stored_##S *zs,   \
                      int64_t *indices) {                                                         \
    rheos__computed_##S heads[HEADS], kept[FEW + 1];                                              \
    uint8_t which[LANES];                                                                         \
    if (!heads_##S(xs, n, heads)) return false;                                                   \
    const rheos__computed_##S bound = bound_##S(heads, k);                                        \
    int64_t count = 0;                                                                            \
    for (int64_t i = 0; i < n; i += LANES) {                                                      \
      i = next_##S(xs, i, n, bound, which);                                                       \
      for (int word = 0; word < LANES; word += 8) {                                               \
        uint64_t bytes;                                                                           \
        memcpy(&bytes, which + word, sizeof bytes);                                               \
        for (int j = word; bytes != 0 && j < word + 8; j++) {                                     \
          const rheos__computed_##S value = which[j] ? RHEOS__LOAD_##S(xs[i + j]) : bound;        \
          if (!which[j] || (count == k && !(value > kept[k - 1]))) continue;                      \
          int64_t at = count == k ? k - 1 : count++;                                              \
          for (; at > 0 && value > kept[at - 1]; at--) {                                          \
            kept[at] = kept[at - 1];                                                              \
            indices[at] = indices[at - 1];                                                        \
          }                                                                                       \
          kept[at] = value;                                                                       \
          indices[at] = i + j;                                                                    \
        }                                                                                         \
      }                                                                                           \
    }                                                                                             \
    for (int64_t j = 0; j < k; j++) zs[j] = xs[indices[j]];                                       \
    return true;                                                                                  \
  }
RHEOS__NUMBERS(TOP_K, )

#define TOP_K_ENTRY(S, unused) [RHEOS__DTYPE_##S] = top_##S,
static const top_k_fn top_k_fns[RHEOS__NUM_DTYPES] = {RHEOS__NUMBERS(TOP_K_ENTRY, )};

typedef struct top_k {
  top_k_fn fn;
  int64_t count, n, k;  // rows, elements of one, how many of them
  int64_t unit_rows, num_units;
  int64_t element_bytes, index_bytes;
  rheos_dtype dtype, index_dtype;
} top_k;

static void store_index(void *out, rheos_dtype dtype, int64_t at, int64_t index) {
  switch (dtype) {
    case RHEOS_INT64: ((int64_t *)out)[at] = index; break;
    case RHEOS_INT16: ((int16_t *)out)[at] = (int16_t)index; break;
    default: ((int32_t *)out)[at] = (int32_t)index; break;
  }
}

static rheos_status *run(const void *state, const void *const *inputs, void *const *outputs,
                         void *scratch, int64_t first_unit, int64_t last_unit) {
  const top_k *t = state;
  int64_t *heap = scratch, *indices = heap + t->k;
  int64_t end = last_unit * t->unit_rows;
  if (end > t->count) end = t->count;
  if (t->k == 0) return NULL;
  for (int64_t i = first_unit * t->unit_rows; i < end; i++) {
    t->fn((const char *)inputs[0] + i * t->n * t->element_bytes, t->n, t->k, heap,
          (char *)outputs[0] + i * t->k * t->element_bytes, indices);
    // What was left half done names no elements.
    if (t->n > SUNK_BETWEEN_POLLS && rheos__is_stopping()) return rheos__stopped();
    for (int64_t j = 0; j < t->k; j++) {
      store_index(outputs[1], t->index_dtype, i * t->k + j, indices[j]);
    }
  }
  return NULL;
}

static rheos_status *plan(top_k *t, const rheos_shape *shape, int64_t k) {
  if (k < 0) return RHEOS_INVALID("Need k >= 0, got %lld", (long long)k);
  t->k = k;
  t->n = shape->dims[shape->rank - 1];
  if (t->n < k) {
    return RHEOS_INVALID("input must have at least k columns. Had %lld, needed %lld",
                         (long long)t->n, (long long)k);
  }
  t->count = 1;
  for (int32_t d = 0; d < shape->rank - 1; d++) t->count *= shape->dims[d];
  const int64_t work = t->n * 4;
  t->unit_rows = work > 0 && work < RHEOS__UNIT_ELEMENTS ? RHEOS__UNIT_ELEMENTS / work : 1;
  t->num_units = (t->count + t->unit_rows - 1) / t->unit_rows;
  if (t->num_units == 0) t->num_units = 1;
  return NULL;
}

static rheos_shape top_shape(const rheos_shape *shape, int64_t k) {
  rheos_shape out = *shape;
  out.dims[out.rank - 1] = k;
  return out;
}

// k is known only now.
static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  top_k t = *(const top_k *)state;
  const rheos_shape *shape = &inputs[0]->shape;
  RHEOS_TRY(plan(&t, shape, rheos__tensor_int_at(inputs[1], 0)));
  RHEOS_TRY(rheos_tensor_new(t.dtype, top_shape(shape, t.k), &outputs[0]));
  RHEOS_TRY(rheos_tensor_new(t.index_dtype, top_shape(shape, t.k), &outputs[1]));
  int64_t *scratch = rheos__alloc_array((size_t)t.k * 2 + 1, sizeof *scratch);
  if (scratch == NULL) return rheos__out_of_memory();
  const void *in = inputs[0]->data;
  void *const out[] = {outputs[0]->data, outputs[1]->data};
  rheos_status *status = NULL;  // a unit is of some thousand elements, or one row
  for (int64_t i = 0; status == NULL && i < t.num_units; i++) {
    status =
        rheos__step_should_stop(step) ? rheos__stopped() : run(&t, &in, out, scratch, i, i + 1);
  }
  rheos__free(scratch);
  return status;
}

// `k` -1: not known
static rheos_status *prepare(rheos__prepare *p, bool known, int64_t k) {
  const top_k_fn fn = top_k_fns[p->input_dtypes[0]];
  if (fn == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  top_k *t = RHEOS_NEW_STATE(p, top_k);
  if (t == NULL) return rheos__out_of_memory();
  t->fn = fn;
  t->dtype = p->input_dtypes[0];
  t->index_dtype = p->output_dtypes[1];
  t->element_bytes = (int64_t)rheos_dtype_size(t->dtype);
  if (!known) {
    p->compute = compute;
    return NULL;
  }
  RHEOS_TRY(plan(t, &p->input_shapes[0], k));
  p->run = run;
  p->num_units = t->num_units;
  p->scratch_bytes = (size_t)k * 2 * sizeof(int64_t);
  p->flops = rheos__flops((double)t->count * t->n * 4);
  return NULL;
}

static rheos_status *prepare_TopKV2(rheos__prepare *p) {
  const rheos_tensor *k = p->input_values[1];
  return prepare(p, k != NULL, k != NULL ? rheos__tensor_int_at(k, 0) : 0);
}
static rheos_status *prepare_TopK(rheos__prepare *p) {
  return prepare(p, true, rheos__attr_int(p->attrs, "k"));
}

static rheos_status *infer_top(rheos__infer *c, bool known, int64_t k) {
  const rheos_shape *in = &c->input_shapes[0];
  if (in->rank == 0) return RHEOS_INVALID("input must be >= 1-D, got shape []");
  if (known && k < 0) return RHEOS_INVALID("Need k >= 0, got %lld", (long long)k);
  if (in->rank < 0) return NULL;
  const int64_t n = in->dims[in->rank - 1];
  if (known && n >= 0 && n < k) {
    return RHEOS_INVALID("input must have at least k columns. Had %lld, needed %lld", (long long)n,
                         (long long)k);
  }
  c->output_shapes[0] = c->output_shapes[1] = top_shape(in, known ? k : -1);
  return NULL;
}

static rheos_status *top_k_v2_shape(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  const rheos_tensor *k = rheos__infer_value(c, 1);
  return infer_top(c, k != NULL, k != NULL ? rheos__tensor_int_at(k, 0) : 0);
}
static rheos_status *top_k_shape(rheos__infer *c) {
  return infer_top(c, true, rheos__attr_int(c->attrs, "k"));
}

// ---- Gradient: what arrives is scattered to where it was taken from, in the flat input.

static rheos_output list_node(rheos_scope *s, const char *name, const rheos_output *items,
                              size_t count) {
  const rheos_attr length = rheos_attr_int("N", (int64_t)count);
  return rheos_operation_output(rheos__op_n(s, "Pack", name, items, count, &length, 1), 0);
}

// The last element of a vector of dimensions, as int64.
static rheos_output last_dim(rheos_scope *s, rheos_output dims) {
  const rheos_output wide = rheos__cast_to(s, dims, RHEOS_INT64);
  const rheos_shape of_dims = rheos_output_shape(dims);
  const rheos_output size =
      rheos_shape_is_known(&of_dims)
          ? rheos__const_scalar(s, RHEOS_INT32, (double)of_dims.dims[0], "Size")
          : rheos__op_1(s, "Size", dims);
  const rheos_output last = rheos__op_with_number(s, "Sub", "sub", size, 1);
  rheos__node_scope inside;
  rheos__push_node_scope(s, "GatherV2", &inside);
  const rheos_output inputs[] = {wide, last, rheos__const_scalar(s, RHEOS_INT32, 0, "axis")};
  const rheos_operation node = rheos__op_n(s, "GatherV2", inside.name, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  return rheos_operation_output(node, 0);
}

// Element 0 of a vector, as Python's x[0] builds it.
static rheos_output first_of(rheos_scope *s, rheos_output x) {
  const int32_t zero = 0, one = 1;
  rheos__node_scope inside;
  rheos__push_node_scope(s, "strided_slice", &inside);
  const rheos_output inputs[] = {x, rheos__const_ints(s, &zero, 1, "stack"),
                                 rheos__const_ints(s, &one, 1, "stack_1"),
                                 rheos__const_ints(s, &one, 1, "stack_2")};
  const rheos_attr shrink = rheos_attr_int("shrink_axis_mask", 1);
  const rheos_operation node = rheos__op_n(s, "StridedSlice", inside.name, inputs, 4, &shrink, 1);
  rheos_scope_pop(s);
  return rheos_operation_output(node, 0);
}

static rheos_output column_of(rheos_scope *s, rheos_output x) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "ExpandDims", &inside);
  const rheos_output dim = rheos__const_scalar(s, RHEOS_INT32, -1, "dim");
  const rheos_output column = rheos__named_2(s, "ExpandDims", inside.name, x, dim);
  rheos_scope_pop(s);
  return column;
}

// 0, step, 2 step, ... below `limit`, in int64.
static rheos_output row_starts(rheos_scope *s, rheos_output limit, rheos_output step) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "range", &inside);
  const rheos_output start =
      rheos__cast_to(s, rheos__const_scalar(s, RHEOS_INT32, 0, "start"), RHEOS_INT64);
  const rheos_output inputs[] = {start, limit, step};
  const rheos_operation node = rheos__op_n(s, "Range", inside.name, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  return rheos_operation_output(node, 0);
}

static rheos_output matrix_of_rows(rheos_scope *s, rheos_output x, rheos_output columns) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "stack", &inside);
  const rheos_output sizes[] = {rheos__const_scalar(s, RHEOS_INT64, -1, "0"), columns};
  const rheos_output dims = list_node(s, inside.name, sizes, 2);
  rheos_scope_pop(s);
  return rheos__op_2(s, "Reshape", x, dims);
}

static void grad_top_k(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_shape flat = RHEOS_SHAPE(-1);
  const int32_t zero = 0;
  const rheos_output dy = rheos__grad_dense(g, 0);
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const rheos_output index_dims = rheos__shape_of(s, g->outputs[1], RHEOS_INT32);
  if (rheos_scope_status(s) != NULL) return;
  const rheos_output indices = matrix_of_rows(s, g->outputs[1], last_dim(s, index_dims));
  const rheos_output columns = last_dim(s, dims);
  const rheos_output rows = first_of(s, rheos__shape_of(s, indices, RHEOS_INT32));
  const rheos_output total = rheos__py_mul(s, rheos__cast_to(s, rows, RHEOS_INT64), columns);
  const rheos_output starts = column_of(s, row_starts(s, total, columns));
  const rheos_output places = rheos__py_add(s, rheos__cast_to(s, indices, RHEOS_INT32),
                                            rheos__cast_to(s, starts, RHEOS_INT32));
  const rheos_output flat_places = column_of(s, rheos__reshape_to(s, places, &flat));
  const rheos_output updates = rheos__reshape_to(s, dy, &flat);
  const rheos_output axes = rheos__const_ints(s, &zero, 1, "Const");
  const rheos_output size = rheos__op_2(s, "Prod", dims, axes);
  rheos__node_scope inside;
  rheos__push_node_scope(s, "ScatterNd", &inside);
  const rheos_output inputs[] = {flat_places, updates, list_node(s, "shape", &size, 1)};
  const rheos_operation scatter = rheos__op_n(s, "ScatterNd", inside.name, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  rheos__grad_set(g, 0, rheos__op_2(s, "Reshape", rheos_operation_output(scatter, 0), dims));
  rheos__const_scalar(s, RHEOS_INT32, 0, "zeros");  // TensorFlow's for k; default seeds count it
}

#define REAL_TYPES \
  "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

const rheos__op_def rheos__op_TopK = {
    .name = "TopK",
    .signature =
        "input: T -> values: T, indices: int32; k: int >= 0; sorted: bool = true; " REAL_TYPES,
    .doc = "The `k` largest elements of each row of `input`, and where they are.",
    .shape = top_k_shape,
    .gradient = grad_top_k,
    .prepare = prepare_TopK,
};

const rheos__op_def rheos__op_TopKV2 = {
    .name = "TopKV2",
    .signature =
        "input: T, k: Tk -> values: T, indices: index_type; sorted: bool = true; " REAL_TYPES
        "; Tk: {int16, int32, int64} = int32; index_type: {int16, int32, int64} = int32",
    .doc = "The `k` largest elements of each row of `input`, and where they are.",
    .shape = top_k_v2_shape,
    .gradient = grad_top_k,
    .prepare = prepare_TopKV2,
};

// ---- NthElement

typedef struct nth {
  top_k_fn fn;
  int64_t count, n, element_bytes;
  bool reverse;
} nth;

// The largest elements down to the one that is asked for, in scratch memory: a heap of indices, the
// indices, the values.
static rheos_status *run_nth(const void *state, const void *const *inputs, void *const *outputs,
                             void *scratch, int64_t first_unit, int64_t last_unit) {
  const nth *t = state;
  const int64_t wanted = ((const int32_t *)inputs[1])[0];
  int64_t *heap = scratch, *indices = heap + t->n;
  char *values = (char *)(indices + t->n);
  (void)first_unit, (void)last_unit;
  if (wanted < 0) return RHEOS_INVALID("Need n >= 0, got %lld", (long long)wanted);
  if (wanted >= t->n) {
    return RHEOS_INVALID("Input must have at least n+1 columns: %lld columns, n %lld",
                         (long long)t->n, (long long)wanted);
  }
  const int64_t k = t->reverse ? wanted + 1 : t->n - wanted;
  for (int64_t i = 0; i < t->count; i++) {
    t->fn((const char *)inputs[0] + i * t->n * t->element_bytes, t->n, k, heap, values, indices);
    memcpy((char *)outputs[0] + i * t->element_bytes, values + (k - 1) * t->element_bytes,
           (size_t)t->element_bytes);
  }
  return NULL;
}

static rheos_status *prepare_nth(rheos__prepare *p) {
  nth *t = RHEOS_NEW_STATE(p, nth);
  if (t == NULL) return rheos__out_of_memory();
  const rheos_shape *in = &p->input_shapes[0];
  t->fn = top_k_fns[p->input_dtypes[0]];
  if (t->fn == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  t->n = in->dims[in->rank - 1];
  t->count = rheos_shape_num_elements(&p->output_shapes[0]);
  t->element_bytes = (int64_t)rheos_dtype_size(p->input_dtypes[0]);
  t->reverse = rheos__attr_bool(p->attrs, "reverse");
  if (t->n > INT64_MAX / 64) return rheos__out_of_memory();
  p->scratch_bytes = (size_t)t->n * (2 * sizeof(int64_t) + (size_t)t->element_bytes);
  p->flops = rheos__flops(10.0 * (double)t->count * (double)t->n);
  p->run = run_nth;
  return NULL;
}

static rheos_status *shape_nth(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape scalar;
  int64_t n;
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  if (rheos__infer_int(c, 1, &n)) {
    if (n < 0) return RHEOS_INVALID("n must be non-negative but is %lld", (long long)n);
    if (in->rank > 0 && in->dims[in->rank - 1] >= 0 && n >= in->dims[in->rank - 1]) {
      return RHEOS_INVALID("Input must have last dimension > n = %lld but is %lld", (long long)n,
                           (long long)in->dims[in->rank - 1]);
    }
  }
  c->output_shapes[0] = *in;
  if (in->rank > 0) c->output_shapes[0].rank--;
  return NULL;
}

// Elements that are equal to the answer share its gradient.
static void grad_nth(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_output found = rheos__expand_dims(s, g->outputs[0], -1);
  const rheos_output same =
      rheos__cast_to(s, rheos__op_2(s, "Equal", found, g->inputs[0]), rheos_output_dtype(grad));
  const int32_t last[1] = {-1};
  const rheos_output count = rheos__sum_axes(s, same, last, 1, true);
  const rheos_output share = rheos__op_2(s, "RealDiv", same, count);
  rheos__grad_set(g, 0, rheos__py_mul(s, share, rheos__expand_dims(s, grad, -1)));
}

const rheos__op_def rheos__op_NthElement = {
    .name = "NthElement",
    .signature = "input: T, n: int32 -> values: T; reverse: bool = false; " REAL_TYPES,
    .doc = "The element of each row of `input` that would stand at place `n` if they were sorted.",
    .shape = shape_nth,
    .gradient = grad_nth,
    .prepare = prepare_nth,
};

// ---- InTopK

typedef struct in_top_k {
  int64_t count, n, k;
  bool wide, k_is_input;  // targets of int64; k is input 2
} in_top_k;

static int64_t int_at(const void *values, bool wide, int64_t i) {
  return wide ? ((const int64_t *)values)[i] : ((const int32_t *)values)[i];
}

// A row with a prediction that is not finite decides nothing.
static bool is_in_top(const float *row, int64_t n, int64_t target, int64_t k) {
  int64_t more = 0;
  if (target < 0 || target >= n || !isfinite(row[target])) return false;
  for (int64_t j = 0; j < n; j++) {
    if (!isfinite(row[j])) return false;
    more += row[j] > row[target];
  }
  return more < k;
}

static rheos_status *run_in_top(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first_unit, int64_t last_unit) {
  const in_top_k *t = state;
  (void)scratch, (void)first_unit, (void)last_unit;
  const int64_t k = t->k_is_input ? int_at(inputs[2], t->wide, 0) : t->k;
  for (int64_t i = 0; i < t->count; i++) {
    const int64_t target = int_at(inputs[1], t->wide, i);
    ((bool *)outputs[0])[i] = is_in_top((const float *)inputs[0] + i * t->n, t->n, target, k);
  }
  return NULL;
}

static rheos_status *prepare_in_top(rheos__prepare *p, bool k_is_input, int64_t k) {
  in_top_k *t = RHEOS_NEW_STATE(p, in_top_k);
  if (t == NULL) return rheos__out_of_memory();
  t->count = p->input_shapes[0].dims[0];
  t->n = p->input_shapes[0].dims[1];
  t->wide = p->input_dtypes[1] == RHEOS_INT64;
  t->k_is_input = k_is_input;
  t->k = k;
  p->run = run_in_top;
  p->flops = rheos__flops((double)t->count * t->n);
  return NULL;
}

static rheos_status *prepare_InTopK(rheos__prepare *p) {
  return prepare_in_top(p, false, rheos__attr_int(p->attrs, "k"));
}
static rheos_status *prepare_InTopKV2(rheos__prepare *p) { return prepare_in_top(p, true, 0); }

static rheos_status *in_top_shape(rheos__infer *c) {
  rheos_shape predictions, targets, k;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &predictions));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &targets));
  if (c->num_inputs > 2) RHEOS_TRY(rheos__infer_rank(c, 2, 0, &k));
  const int64_t a = predictions.dims[0], b = targets.dims[0];
  if (a >= 0 && b >= 0 && a != b) {
    return RHEOS_INVALID("First dimension of predictions %lld must match length of targets %lld",
                         (long long)a, (long long)b);
  }
  c->output_shapes[0] = RHEOS_SHAPE(a >= 0 ? a : b);
  return NULL;
}

const rheos__op_def rheos__op_InTopK = {
    .name = "InTopK",
    .signature =
        "predictions: float, targets: T -> precision: bool; k: int; T: {int32, int64} = int32",
    .doc = "Whether fewer than `k` of each row of `predictions` are above that of `targets`.",
    .shape = in_top_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_InTopK,
};

const rheos__op_def rheos__op_InTopKV2 = {
    .name = "InTopKV2",
    .signature =
        "predictions: float, targets: T, k: T -> precision: bool; T: {int32, int64} = int32",
    .doc = "Whether fewer than `k` of each row of `predictions` are above that of `targets`.",
    .shape = in_top_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_InTopKV2,
};
