// What the kernels of Softmax, its logarithm and the cross entropies over it have in common: rows
// of `n` logits each.
#ifndef RHEOS_SRC_OPS_NN_SOFTMAX_H
#define RHEOS_SRC_OPS_NN_SOFTMAX_H

#include "graph/op_def.h"

typedef enum rheos__softmax_kind {
  RHEOS__SOFTMAX,
  RHEOS__LOG_SOFTMAX,
  RHEOS__DENSE_LOSS,   // inputs: logits, a row of labels each; outputs: losses, backprop
  RHEOS__SPARSE_LOSS,  // inputs: logits, a class each; outputs: losses, backprop
  RHEOS__NUM_SOFTMAX_KINDS,
} rheos__softmax_kind;

// The state of the reference kernels.
typedef struct rheos__softmax_rows {
  rheos__softmax_kind kind;
  rheos_dtype dtype;
  int64_t count, n;  // rows, and elements of one
  int64_t unit_rows;
  int64_t element_bytes;
  // Elements that logits and labels move from row to row and within a row: 0 if broadcast
  int64_t logit_row, logit_step, label_row, label_step;
  bool wide_labels;  // int64, else int32
} rheos__softmax_rows;

// One more than the last row of the units before `last_unit`.
static inline int64_t rheos__softmax_last_row(const rheos__softmax_rows *r, int64_t last_unit) {
  return last_unit * r->unit_rows < r->count ? last_unit * r->unit_rows : r->count;
}

// The class of row `i`, and the status when it is not one.
static inline int64_t rheos__softmax_label(const rheos__softmax_rows *r, const void *labels,
                                           int64_t i) {
  return r->wide_labels ? ((const int64_t *)labels)[i] : ((const int32_t *)labels)[i];
}
rheos_status *rheos__softmax_bad_label(const rheos__softmax_rows *r, const void *labels,
                                       int64_t bad);

#endif  // RHEOS_SRC_OPS_NN_SOFTMAX_H
