// What ops on queues share with those that take from queues, readers, and with barriers.
#ifndef RHEOS_SRC_OPS_DATA_FLOW_QUEUE_UTIL_H
#define RHEOS_SRC_OPS_DATA_FLOW_QUEUE_UTIL_H

#include "ops/data_flow/queue.h"

// The queue behind input `input`, borrowed; a status if there is another kind of resource.
rheos_status *rheos__queue_of(const rheos__prepare *p, int32_t input, rheos__queue **out_queue);

// Row `row` of a tensor as a tensor of its own.
rheos_status *rheos__copy_row(const rheos_tensor *from, int64_t row, rheos_tensor **out_tensor);
// The answer of an op that takes `n`, a tensor, tuples as rows, but `most` at most.
rheos_status *rheos__dequeue_many(rheos__queue *queue, rheos__step *step, const rheos_tensor *n,
                                  int64_t most, bool allows_fewer, rheos_tensor **outputs);
// Whether the components of the queue have these dtypes.
rheos_status *rheos__queue_check_dtypes(const rheos__queue *queue, const rheos_dtype *dtypes,
                                        int32_t count);
// A reference has the shape of its two strings in TensorFlow's first version, a resource is a
// scalar.
rheos_status *rheos__shape_handle(rheos__infer *c);

#endif  // RHEOS_SRC_OPS_DATA_FLOW_QUEUE_UTIL_H
