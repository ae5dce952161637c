// What ops on queues share with those that take from queues: readers.
#ifndef RHEOS_SRC_OPS_DATA_QUEUE_UTIL_H
#define RHEOS_SRC_OPS_DATA_QUEUE_UTIL_H

#include "ops/data/queue.h"

// The queue behind input `input`, borrowed; a status if there is another kind of resource.
rheos_status *rheos__queue_of(const rheos__prepare *p, int32_t input, rheos__queue **out_queue);

#endif  // RHEOS_SRC_OPS_DATA_QUEUE_UTIL_H
