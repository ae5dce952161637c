// Bitcast: the same bytes under another dtype. Where the sizes of elements differ, the last
// dimension is taken up or given off.
#include <string.h>

#include "ops/kit/array_util.h"

static rheos_status *shape_bitcast(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape *out = &c->output_shapes[0];
  const int64_t from = (int64_t)rheos_dtype_size(c->input_dtypes[0]);
  const int64_t to = (int64_t)rheos_dtype_size(c->output_dtypes[0]);
  if (in->rank < 0) return NULL;
  *out = *in;
  if (from == to) return NULL;
  if (from > to) return rheos__shape_append(out, from / to);
  const int64_t last = in->rank > 0 ? in->dims[in->rank - 1] : 0;
  if (in->rank == 0 || (last >= 0 && last != to / from)) {
    rheos__shape_text text;
    return RHEOS_INVALID(
        "Cannot bitcast due to shape. %lld does not match %lld: from %s to %s, "
        "shape %s",
        (long long)last, (long long)(to / from), rheos_dtype_name(c->input_dtypes[0]),
        rheos_dtype_name(c->output_dtypes[0]), rheos__shape_text_of(in, &text));
  }
  out->rank--;
  return NULL;
}

static rheos_status *run_bitcast(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  const int64_t count = rheos_shape_num_elements(&o->output_shapes[0]);
  if (count > 0) {
    memcpy(outputs[0], inputs[0], (size_t)count * rheos_dtype_size(o->output_dtypes[0]));
  }
  return NULL;
}

// Bytes that a caller lent are aligned for their own dtype, perhaps not for a wider one.
static rheos_status *prepare_bitcast(rheos__prepare *p) {
  if (rheos_dtype_size(p->output_dtypes[0]) > rheos_dtype_size(p->input_dtypes[0])) {
    return rheos__answer_run_operands(p, run_bitcast, 1);
  }
  p->alias_input = 0;
  return NULL;
}

#define PLAIN_TYPES                                                                            \
  "{bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, " \
  "complex64, complex128, qint8, quint8, qint16, quint16, qint32}"

const rheos__op_def rheos__op_Bitcast = {
    .name = "Bitcast",
    .signature = "input: T -> output: type; T: " PLAIN_TYPES "; type: " PLAIN_TYPES,
    .doc = "The bytes of `input` as elements of dtype `type`.",
    .shape = shape_bitcast,
    .prepare = prepare_bitcast,
};
