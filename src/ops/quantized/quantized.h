// Arithmetic on quantized numbers: integers that stand for floats of a range.
#ifndef RHEOS_SRC_OPS_QUANTIZED_QUANTIZED_H
#define RHEOS_SRC_OPS_QUANTIZED_QUANTIZED_H

#include "graph/op_def.h"

#define RHEOS__QUANTIZED "{qint8, quint8, qint32, qint16, quint16}"

typedef struct rheos__range {
  float lowest, highest;
} rheos__range;

// The number that `value` stands for in the range, and the number nearest to a float (which may lie
// beyond those of the dtype).
float rheos__from_quantized(rheos_dtype dtype, int64_t value, rheos__range range);
int64_t rheos__to_quantized(rheos_dtype dtype, double value, rheos__range range);

void rheos__quantized_limits(rheos_dtype dtype, int64_t *out_lowest, int64_t *out_highest);
int64_t rheos__quantized_at(rheos_dtype dtype, const void *data, int64_t index);
// What does not fit becomes the nearest number that does.
void rheos__set_quantized(rheos_dtype dtype, void *data, int64_t index, int64_t value);

// The range in the scalar inputs `first` and `first` + 1; a status naming `what` unless they are
// scalars, and finite ones in order if `ordered`.
rheos_status *rheos__range_of(rheos_tensor *const *inputs, int32_t first, bool ordered,
                              const char *what, rheos__range *out_range);
// Outputs 1 and 2.
rheos_status *rheos__put_range(rheos__range range, rheos_tensor **outputs);

// Shape functions: inputs [first, last) are scalars; outputs 1 and 2 are.
rheos_status *rheos__infer_scalars(const rheos__infer *c, int32_t first, int32_t last);
void rheos__infer_range(rheos__infer *c);

#endif  // RHEOS_SRC_OPS_QUANTIZED_QUANTIZED_H
