// Sorting values into bins, and counting what is in them.
#include "ops/math/binning.h"

#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

// ---- Bucketize: the number of boundaries that are not above a value, by halving

typedef struct bucketize {
  const float *boundaries;
  int32_t count;
  int64_t num_elements;
  rheos_dtype dtype;
} bucketize;

// Whether the value is below the boundary, compared as C does; NaN is below none.
#define BUCKETS(S)                                                                              \
  static void buckets_of_##S(const bucketize *b, const rheos__stored_##S *values, int32_t *out, \
                             int64_t first, int64_t last) {                                     \
    for (int64_t i = first; i < last; i++) {                                                    \
      int32_t low = 0, high = b->count;                                                         \
      while (low < high) {                                                                      \
        const int32_t middle = low + (high - low) / 2;                                          \
        if (values[i] < b->boundaries[middle]) {                                                \
          high = middle;                                                                        \
        } else {                                                                                \
          low = middle + 1;                                                                     \
        }                                                                                       \
      }                                                                                         \
      out[i] = low;                                                                             \
    }                                                                                           \
  }
BUCKETS(float)
BUCKETS(double)
BUCKETS(int32)
BUCKETS(int64)

static rheos_status *run_bucketize(const void *state, const void *const *inputs,
                                   void *const *outputs, void *scratch, int64_t first_unit,
                                   int64_t last_unit) {
  const bucketize *b = state;
  (void)scratch;
  const int64_t first = first_unit * RHEOS__UNIT_ELEMENTS;
  int64_t last = last_unit * RHEOS__UNIT_ELEMENTS;
  if (last > b->num_elements) last = b->num_elements;
  switch (b->dtype) {
    case RHEOS_FLOAT: buckets_of_float(b, inputs[0], outputs[0], first, last); break;
    case RHEOS_DOUBLE: buckets_of_double(b, inputs[0], outputs[0], first, last); break;
    case RHEOS_INT32: buckets_of_int32(b, inputs[0], outputs[0], first, last); break;
    default: buckets_of_int64(b, inputs[0], outputs[0], first, last); break;
  }
  return NULL;
}

static rheos_status *prepare_bucketize(rheos__prepare *p) {
  const rheos_attr_value *boundaries = rheos__attrs_find(p->attrs, "boundaries");
  for (int32_t i = 1; i < boundaries->count; i++) {
    if (boundaries->floats[i] < boundaries->floats[i - 1]) {
      return RHEOS_INVALID("Expected sorted boundaries");
    }
  }
  bucketize *b = RHEOS_NEW_STATE(p, bucketize);
  if (b == NULL) return rheos__out_of_memory();
  b->boundaries = boundaries->floats;
  b->count = boundaries->count;
  b->num_elements = rheos_shape_num_elements(&p->output_shapes[0]);
  b->dtype = p->input_dtypes[0];
  const int64_t units = (b->num_elements + RHEOS__UNIT_ELEMENTS - 1) / RHEOS__UNIT_ELEMENTS;
  p->flops = rheos__flops((double)b->num_elements * 16);
  return rheos__answer_run(p, run_bucketize, units);
}

const rheos__op_def rheos__op_Bucketize = {
    .name = "Bucketize",
    .signature =
        "input: T -> output: int32; T: {int32, int64, float, double}; "
        "boundaries: list(float)",
    .doc = "For each of `input`, how many of the ascending `boundaries` are not above it.",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_bucketize,
};

// ---- Bincount, DenseBincount: how often each whole number occurs, or the sum of its weights

typedef struct counting {
  const rheos__operands *operands;
  bool binary;
} counting;

static rheos_status *check_weights(const rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0], *weights = &c->input_shapes[2];
  if (in->rank < 0 || weights->rank < 0 || rheos_shape_num_elements(weights) == 0) return NULL;
  if (rheos_shape_compatible(in, weights)) return NULL;
  rheos__shape_text a, b;
  return RHEOS_INVALID("weights must have the shape of the numbers or no elements: %s and %s",
                       rheos__shape_text_of(weights, &a), rheos__shape_text_of(in, &b));
}

static rheos_status *shape_bincount(rheos__infer *c) {
  rheos_shape ignored;
  int64_t size = -1;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &ignored));
  if (rheos__infer_int(c, 1, &size) && size < 0) {
    return RHEOS_INVALID("size (%lld) must be non-negative", (long long)size);
  }
  RHEOS_TRY(check_weights(c));
  c->output_shapes[0] = RHEOS_SHAPE(size);
  return NULL;
}

static rheos_status *shape_dense_bincount(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(shape_bincount(c));
  const int64_t size = c->output_shapes[0].dims[0];
  if (in->rank > 2 || in->rank == 0) {
    return RHEOS_INVALID("Shape must be at most rank 2 but is rank %d", in->rank);
  }
  if (in->rank < 0) c->output_shapes[0] = RHEOS_UNKNOWN_SHAPE;
  if (in->rank == 2) c->output_shapes[0] = RHEOS_SHAPE(in->dims[0], size);
  return NULL;
}

rheos_status *rheos__count(const rheos__counting *k, int64_t row, int64_t value, int64_t weight) {
  static const int32_t one_int = 1;
  static const int64_t one_long = 1;
  static const float one_float = 1;
  static const double one_double = 1;
  if (value < 0) {
    return RHEOS_INVALID("Input arr must be non-negative! Found %lld", (long long)value);
  }
  if (value >= k->size) return NULL;
  const int64_t bytes = (int64_t)rheos_dtype_size(k->dtype);
  char *to = (char *)k->bins + (row * k->size + value) * bytes;
  const void *from = k->dtype == RHEOS_FLOAT    ? (const void *)&one_float
                     : k->dtype == RHEOS_DOUBLE ? (const void *)&one_double
                     : k->dtype == RHEOS_INT32  ? (const void *)&one_int
                                                : (const void *)&one_long;
  if (k->weights != NULL && !k->binary) from = (const char *)k->weights + weight * bytes;
  if (k->binary) {
    memcpy(to, from, (size_t)bytes);
  } else {
    k->add(to, from, 1);
  }
  return NULL;
}

static rheos_status *run_bincount(const void *state, const void *const *inputs,
                                  void *const *outputs, void *scratch, int64_t first_unit,
                                  int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  static const char zero[16];
  const counting *c = state;
  const rheos__operands *o = c->operands;
  const rheos_shape *in = &o->input_shapes[0], *out = &o->output_shapes[0];
  const int64_t count = rheos_shape_num_elements(in);
  const int64_t columns = out->rank == 2 ? in->dims[1] : count;
  const rheos__counting k = {
      .dtype = o->output_dtypes[0],
      .size = out->dims[out->rank - 1],
      .binary = c->binary,
      .weights = rheos_shape_num_elements(&o->input_shapes[2]) > 0 ? inputs[2] : NULL,
      .bins = outputs[0],
      .add = rheos__add_of(o->output_dtypes[0]),
  };
  RHEOS_TRY(rheos__fill_elements(k.dtype, k.bins, zero, rheos_shape_num_elements(out)));
  for (int64_t i = 0; i < count; ++i) {
    RHEOS_TRY(rheos__count(&k, i / columns, rheos__operand_int(o, inputs, 0, i), i));
  }
  return NULL;
}

static rheos_status *prepare_bincount(rheos__prepare *p) {
  counting *k = RHEOS_NEW_STATE(p, counting);
  if (k == NULL) return rheos__out_of_memory();
  k->operands = rheos__keep_operands(p);
  if (k->operands == NULL) return rheos__out_of_memory();
  const rheos_attr_value *binary = rheos__attrs_find(p->attrs, "binary_output");
  k->binary = binary != NULL && binary->b;
  return rheos__answer_run(p, run_bincount, 1);
}

const rheos__op_def rheos__op_Bincount = {
    .name = "Bincount",
    .signature = "arr: int32, size: int32, weights: T -> bins: T; T: {int32, int64, float, double}",
    .doc = "How often each number below `size` occurs in `arr`, or the sum of its `weights`.",
    .shape = shape_bincount,
    .prepare = prepare_bincount,
};

const rheos__op_def rheos__op_DenseBincount = {
    .name = "DenseBincount",
    .signature =
        "input: Tidx, size: Tidx, weights: T -> output: T; Tidx: {int32, int64}; "
        "T: {int32, int64, float, double}; binary_output: bool = false",
    .doc =
        "How often each number below `size` occurs in `input`, or in each of its rows, or the "
        "sum of its `weights`, or whether it occurs.",
    .shape = shape_dense_bincount,
    .prepare = prepare_bincount,
};

// ---- HistogramFixedWidth

static rheos_status *shape_histogram(rheos__infer *c) {
  rheos_shape range, ignored;
  int64_t bins = -1;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &range));
  RHEOS_TRY(rheos__infer_rank(c, 2, 0, &ignored));
  if (range.dims[0] >= 0 && range.dims[0] != 2) {
    return RHEOS_INVALID(
        "value_range should be a vector of 2 elements: Dimension must be 2 but "
        "is %lld",
        (long long)range.dims[0]);
  }
  if (rheos__infer_int(c, 2, &bins) && bins <= 0) {
    return RHEOS_INVALID("nbins should be a positive number, but got '%lld': Requires nbins > 0",
                         (long long)bins);
  }
  c->output_shapes[0] = RHEOS_SHAPE(bins);
  return NULL;
}

static double number_in(rheos_dtype dtype, const void *data, int64_t i) {
  if (dtype == RHEOS_FLOAT) return ((const float *)data)[i];
  if (dtype == RHEOS_DOUBLE) return ((const double *)data)[i];
  return (double)rheos__int_in(dtype, data, i);
}

static rheos_status *run_histogram(const void *state, const void *const *inputs,
                                   void *const *outputs, void *scratch, int64_t first_unit,
                                   int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  static const char zero[16];
  const rheos__operands *o = state;
  const rheos_dtype dtype = o->input_dtypes[0];
  const int64_t bins = o->output_shapes[0].dims[0];
  const int64_t count = rheos_shape_num_elements(&o->input_shapes[0]);
  const double low = number_in(dtype, inputs[1], 0), high = number_in(dtype, inputs[1], 1);
  if (!(low < high)) {
    return RHEOS_INVALID(
        "value_range should satisfy value_range[0] < value_range[1], but got '[%g, %g]'", low,
        high);
  }
  RHEOS_TRY(rheos__fill_elements(o->output_dtypes[0], outputs[0], zero, bins));
  const double step = (high - low) / (double)bins;
  for (int64_t i = 0; i < count; ++i) {
    const double place = (number_in(dtype, inputs[0], i) - low) / step;
    const int64_t bin = !(place > 0) ? 0 : place >= (double)bins ? bins - 1 : (int64_t)place;
    const int64_t so_far = rheos__int_in(o->output_dtypes[0], outputs[0], bin);
    rheos__set_int(o->output_dtypes[0], outputs[0], bin, so_far + 1);
  }
  return NULL;
}

static rheos_status *prepare_histogram(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_histogram, 1);
}

const rheos__op_def rheos__op_HistogramFixedWidth = {
    .name = "HistogramFixedWidth",
    .signature =
        "values: T, value_range: T, nbins: int32 -> out: dtype; "
        "T: {int32, int64, float, double}; dtype: {int32, int64} = int32",
    .doc =
        "How many of `values` fall into each of `nbins` bins of one width over `value_range`; "
        "the outer bins take what lies outside.",
    .shape = shape_histogram,
    .prepare = prepare_histogram,
};

// ---- LowerBound, UpperBound: where values belong among sorted ones, row by row

static rheos_status *shape_bound(rheos__infer *c) {
  rheos_shape sorted, values;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &sorted));
  RHEOS_TRY(rheos__infer_rank(c, 1, 2, &values));
  if (sorted.dims[0] >= 0 && values.dims[0] >= 0 && sorted.dims[0] != values.dims[0]) {
    return RHEOS_INVALID("Leading dim_size of both tensors must match: %lld and %lld",
                         (long long)sorted.dims[0], (long long)values.dims[0]);
  }
  c->output_shapes[0] = values;
  if (values.dims[0] < 0) c->output_shapes[0].dims[0] = sorted.dims[0];
  return NULL;
}

// How many of the `count` sorted elements are below the value, or not above it.
typedef int64_t (*bound_fn)(const void *sorted, int64_t count, const void *value, bool upper);
#define BOUND(S, ...)                                                                             \
  static int64_t bound_of_##S(const void *sorted, int64_t count, const void *value, bool upper) { \
    const rheos__stored_##S *elements = sorted;                                                   \
    const rheos__computed_##S y = RHEOS__LOAD_##S(*(const rheos__stored_##S *)value);             \
    int64_t low = 0, high = count;                                                                \
    while (low < high) {                                                                          \
      const int64_t middle = low + (high - low) / 2;                                              \
      const rheos__computed_##S x = RHEOS__LOAD_##S(elements[middle]);                            \
      if (upper ? !(y < x) : x < y) {                                                             \
        low = middle + 1;                                                                         \
      } else {                                                                                    \
        high = middle;                                                                            \
      }                                                                                           \
    }                                                                                             \
    return low;                                                                                   \
  }
RHEOS__NUMBERS(BOUND, )
#define BOUND_ENTRY(S, ...) [RHEOS__DTYPE_##S] = bound_of_##S,
static const bound_fn bounds[RHEOS__NUM_DTYPES] = {RHEOS__NUMBERS(BOUND_ENTRY, )};

static rheos_status *run_bound(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  const rheos_shape *sorted = &o->input_shapes[0], *values = &o->input_shapes[1];
  const int64_t size = (int64_t)rheos_dtype_size(o->input_dtypes[0]);
  const int64_t count = rheos_shape_num_elements(values);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = i / values->dims[1];
    const int64_t place = bounds[o->input_dtypes[0]](
        (const char *)inputs[0] + row * sorted->dims[1] * size, sorted->dims[1],
        (const char *)inputs[1] + i * size, o->numbers[0] != 0);
    rheos__set_int(o->output_dtypes[0], outputs[0], i, place);
  }
  return NULL;
}

static rheos_status *prepare_bound(rheos__prepare *p, bool upper) {
  const rheos_dtype dtype = p->input_dtypes[0];
  if ((int)dtype >= RHEOS__NUM_DTYPES || bounds[dtype] == NULL) return rheos__no_kernel(p, dtype);
  if (p->output_dtypes[0] == RHEOS_INT32 && p->input_shapes[0].dims[1] > INT32_MAX) {
    return RHEOS_INVALID("too many sorted inputs for int32: %lld",
                         (long long)p->input_shapes[0].dims[1]);
  }
  rheos__operands *o = rheos__keep_operands(p);
  if (o == NULL) return rheos__out_of_memory();
  o->numbers[0] = upper;
  p->state = o;
  return rheos__answer_run(p, run_bound, 1);
}
static rheos_status *prepare_lower_bound(rheos__prepare *p) { return prepare_bound(p, false); }
static rheos_status *prepare_upper_bound(rheos__prepare *p) { return prepare_bound(p, true); }

#define BOUND_SIGNATURE                                        \
  "sorted_inputs: T, values: T -> output: out_type; T: type; " \
  "out_type: {int32, int64} = int32"
const rheos__op_def rheos__op_LowerBound = {
    .name = "LowerBound",
    .signature = BOUND_SIGNATURE,
    .doc = "How many of each row of `sorted_inputs` are below each of the row of `values`.",
    .shape = shape_bound,
    .prepare = prepare_lower_bound,
};

const rheos__op_def rheos__op_UpperBound = {
    .name = "UpperBound",
    .signature = BOUND_SIGNATURE,
    .doc = "How many of each row of `sorted_inputs` are not above each of the row of `values`.",
    .shape = shape_bound,
    .prepare = prepare_upper_bound,
};
