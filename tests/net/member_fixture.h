// Members of a group of collectives, for tests: each is a thread that runs an op by the eager
// context of its task.
#ifndef RHEOS_TESTS_NET_MEMBER_FIXTURE_H
#define RHEOS_TESTS_NET_MEMBER_FIXTURE_H

#include <pthread.h>
#include <rheos/eager.h>
#include <unistd.h>

#include "ops/array_fixture.h"

typedef struct member {
  pthread_t thread;
  rheos_eager *eager;
  char device[64];      // "": the context's own
  const char *type;     // of the op
  rheos_tensor *input;  // counted; NULL: it receives
  rheos_dtype dtype;
  rheos_shape shape;  // of what is received
  int32_t size, group, instance, num_rounds, delay_us;
  int64_t timeout_ms;
  float timeout_s;  // the op's own
  rheos_tensor *output;
  rheos_status *status;
} member;

static inline rheos_tensor *ints_tensor(rheos_shape shape, const int32_t *values) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, shape, values, &tensor));
  return tensor;
}

static inline rheos_status *take_part(member *m) {
  const bool reduces = strstr(m->type, "Reduce") != NULL;
  const int32_t length = (int32_t)m->shape.dims[0];
  rheos_tensor *keys[] = {ints_tensor(RHEOS_SCALAR, &m->size), ints_tensor(RHEOS_SCALAR, &m->group),
                          ints_tensor(RHEOS_SCALAR, &m->instance)};
  rheos_tensor *value =
      m->input != NULL ? rheos_tensor_ref(m->input) : ints_tensor(RHEOS_SHAPE(1), &length);
  rheos_tensor *inputs[4] = {value, keys[0], keys[1], keys[2]};
  rheos_tensor *received[4] = {keys[0], keys[1], keys[2], value};
  const rheos_attr merged[] = {rheos_attr_string("merge_op", "Add", 3),
                               rheos_attr_string("final_op", "Id", 2),
                               rheos_attr_float("timeout_seconds", m->timeout_s)};
  const rheos_attr dtype = rheos_attr_type("T", m->dtype);
  const rheos_eager_op op = {.type = m->type,
                             .inputs = m->input == NULL ? received : inputs,
                             .num_inputs = 4,
                             .attrs = reduces ? merged : &dtype,
                             .num_attrs = reduces ? 3 : 1,
                             .device = m->device[0] != '\0' ? m->device : NULL};
  const rheos_run_options options = {.timeout_ms = m->timeout_ms};
  rheos_region *region = NULL;
  rheos_status *status = rheos_eager_region(m->eager, &op, &region);
  rheos_tensor_unref(m->output);
  m->output = NULL;
  if (status == NULL) status = rheos_region_run(region, op.inputs, &m->output, &options);
  rheos_region_unref(region);
  for (int i = 0; i < 4; i++) rheos_tensor_unref(inputs[i]);
  return status;
}

static inline void *run_member(void *argument) {
  member *m = argument;
  usleep((useconds_t)m->delay_us);
  for (int32_t i = 0; i < m->num_rounds && m->status == NULL; i++) m->status = take_part(m);
  return NULL;
}

static inline void run_all(member *members, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    assert_int_equal(pthread_create(&members[i].thread, NULL, run_member, &members[i]), 0);
  }
  for (int32_t i = 0; i < count; i++) pthread_join(members[i].thread, NULL);
}

static inline void drop(member *members, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    rheos_tensor_unref(members[i].input);
    rheos_tensor_unref(members[i].output);
  }
}

#endif  // RHEOS_TESTS_NET_MEMBER_FIXTURE_H
