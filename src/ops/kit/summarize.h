// The values of a tensor as text, for messages to people.
#ifndef RHEOS_SRC_OPS_KIT_SUMMARIZE_H
#define RHEOS_SRC_OPS_KIT_SUMMARIZE_H

#include "base/text.h"
#include "tensor/tensor.h"

// Appends at most `max_entries` elements (negative: all) the way TensorFlow 1 prints them: rows in
// brackets but for the outermost, "1 2 3...", floats with as many digits as they need.
void rheos__summarize(rheos__text *text, const rheos_tensor *tensor, int64_t max_entries);

// As rheos__summarize(), but the way tf.print and TensorFlow 2 do: brackets around every dimension,
// strings in quotes, at most `edge_items` elements (negative: all) at each end of a dimension,
// "..." for the others.
void rheos__summarize_v2(rheos__text *text, const rheos_tensor *tensor, int64_t edge_items);

#endif  // RHEOS_SRC_OPS_KIT_SUMMARIZE_H
