// Sorting values into bins: Bucketize.
#include "ops/array_util.h"
#include "ops/elementwise.h"

// ---- Bucketize: the number of boundaries that are not above a value, by halving

typedef struct bucketize {
  const float *boundaries;
  int32_t count;
  int64_t num_elements;
  rheos_dtype dtype;
} bucketize;

// Whether the value is below the boundary, compared as C does; NaN is below none.
#define BUCKETS(S)                                                                          \
  static void buckets_of_##S(const bucketize *b, const rheos__stored_##S *values, int32_t *out, \
                             int64_t first, int64_t last) {                                 \
    for (int64_t i = first; i < last; i++) {                                                \
      int32_t low = 0, high = b->count;                                                     \
      while (low < high) {                                                                  \
        const int32_t middle = low + (high - low) / 2;                                      \
        if (values[i] < b->boundaries[middle]) {                                            \
          high = middle;                                                                    \
        } else {                                                                            \
          low = middle + 1;                                                                 \
        }                                                                                   \
      }                                                                                     \
      out[i] = low;                                                                         \
    }                                                                                       \
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
  p->flops = b->num_elements * 16;
  return rheos__answer_run(p, run_bucketize, units);
}

const rheos__op_def rheos__op_Bucketize = {
    .name = "Bucketize",
    .signature = "input: T -> output: int32; T: {int32, int64, float, double}; "
                 "boundaries: list(float)",
    .doc = "For each of `input`, how many of the ascending `boundaries` are not above it.",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_bucketize,
};
