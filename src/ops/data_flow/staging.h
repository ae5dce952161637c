// What both kinds of staging areas share: tuples that wait to be taken, within a number and a size.
#ifndef RHEOS_SRC_OPS_DATA_FLOW_STAGING_H
#define RHEOS_SRC_OPS_DATA_FLOW_STAGING_H

#include "graph/op_def.h"
#include "resource/waitable.h"

// Tensors in one allocation; one may be NULL where it was not put yet or is taken already.
typedef struct rheos__staged {
  rheos_tensor **tensors;
  int32_t count;
} rheos__staged;

void rheos__staged_free(rheos__staged *staged);
// References to the tensors, or to copies where they cannot be kept.
rheos_status *rheos__staged_keep(rheos_tensor *const *tensors, int32_t count,
                                 rheos__staged *out_staged);
int64_t rheos__staged_bytes(const rheos__staged *staged);

// What an area may hold; 0: without limit. The argument of a new area.
typedef struct rheos__staging_limits {
  int64_t capacity, memory_limit;
} rheos__staging_limits;

rheos__staging_limits rheos__staging_limits_of(const rheos__prepare *p);
// A status if a tuple would never fit.
rheos_status *rheos__staging_check_bytes(const rheos__staging_limits *limits, int64_t bytes);
// Whether something of that size fits beside what is there.
static inline bool rheos__staging_has_bytes(const rheos__staging_limits *limits, int64_t held,
                                            int64_t bytes) {
  return limits->memory_limit <= 0 || held + bytes <= limits->memory_limit;
}
static inline bool rheos__staging_has_room(const rheos__staging_limits *limits, int64_t held) {
  return limits->capacity <= 0 || held < limits->capacity;
}

// Finds or makes the area of a node; its state is the area, counted.
rheos_status *rheos__prepare_staging(rheos__prepare *p, const rheos__resource_kind *kind);
rheos_status *rheos__give_int32(int64_t value, rheos_tensor **output);

#define RHEOS__STAGING_LIMITS "capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; "
#define RHEOS__STAGING_NAMING "; container: string = \"\"; shared_name: string = \"\""

#endif  // RHEOS_SRC_OPS_DATA_FLOW_STAGING_H
