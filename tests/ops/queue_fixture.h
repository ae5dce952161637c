// Queues of scalars, for tests of what waits.
#ifndef RHEOS_TESTS_OPS_QUEUE_FIXTURE_H
#define RHEOS_TESTS_OPS_QUEUE_FIXTURE_H

#include "ops/array_fixture.h"

// `type` is FIFOQueue or FIFOQueueV2; queues of one name, unless it is "", are one.
static inline rheos_output scalar_queue(fixture *f, const char *type, rheos_dtype dtype,
                                        int64_t capacity, const char *name) {
  const rheos_shape scalar = {.rank = 0};
  const rheos_attr attrs[] = {rheos_attr_types("component_types", &dtype, 1),
                              {"shapes", {RHEOS_ATTR_LIST_SHAPE, 1, {.shapes = &scalar}}},
                              rheos_attr_int("capacity", capacity),
                              rheos_attr_string("shared_name", name, strlen(name))};
  return rheos_operation_output(add(f, type, NULL, 0, attrs, 4), 0);
}

static inline rheos_operation dequeue_op_of(fixture *f, const char *type, rheos_dtype dtype,
                                            const rheos_output *inputs, int32_t num_inputs) {
  const rheos_attr attr = rheos_attr_types("component_types", &dtype, 1);
  return add(f, type, inputs, num_inputs, &attr, 1);
}

static inline rheos_output dequeued(fixture *f, rheos_dtype dtype, rheos_output queue) {
  return rheos_operation_output(dequeue_op_of(f, "QueueDequeueV2", dtype, &queue, 1), 0);
}

#endif  // RHEOS_TESTS_OPS_QUEUE_FIXTURE_H
