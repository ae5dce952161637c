// Collectives of several devices of one process: in steps of a session, and of threads that run
// operations eagerly.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "graph/counting_allocator.h"
#include "ops/array_fixture.h"

enum { NUM_DEVICES = 3 };

static int set_up_devices(void **state) {
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->graph = rheos_graph_new();
  f->scope = rheos_scope_new(f->graph);
  const rheos_session_options options = {.num_cpu_devices = NUM_DEVICES, .num_threads = 2};
  check(rheos_session_new(f->graph, &options, &f->session));
  *state = f;
  return 0;
}

#define ON_DEVICES(name) cmocka_unit_test_setup_teardown(name, set_up_devices, tear_down)

// ---- Nodes of the second version

static rheos_operation on_device(fixture *f, int device, const char *type,
                                 const rheos_output *inputs, size_t num_inputs,
                                 const rheos_attr *attrs, size_t num_attrs) {
  char name[32];
  snprintf(name, sizeof name, "/device:CPU:%d", device);
  return rheos_op(f->scope, &(rheos_op_args){.type = type,
                                             .inputs = inputs,
                                             .num_inputs = num_inputs,
                                             .attrs = attrs,
                                             .num_attrs = num_attrs,
                                             .device = name});
}

typedef struct keys {
  int32_t size, group, instance;
} keys;

// `x` is none where the op takes no value; `last` one more input, or none.
static rheos_output collective(fixture *f, int device, const char *type, rheos_output x, keys k,
                               const rheos_attr *attrs, size_t num_attrs) {
  const rheos_output inputs[] = {x, int_scalar(f, k.size), int_scalar(f, k.group),
                                 int_scalar(f, k.instance)};
  return rheos_operation_output(on_device(f, device, type, inputs, 4, attrs, num_attrs), 0);
}

static rheos_output reduce(fixture *f, int device, rheos_output x, keys k, const char *merge,
                           const char *final) {
  const rheos_attr attrs[] = {rheos_attr_string("merge_op", merge, strlen(merge)),
                              rheos_attr_string("final_op", final, strlen(final))};
  return collective(f, device, "CollectiveReduceV2", x, k, attrs, 2);
}

static rheos_output receive(fixture *f, int device, keys k, int32_t length) {
  const rheos_output inputs[] = {int_scalar(f, k.size), int_scalar(f, k.group),
                                 int_scalar(f, k.instance), ints(f, RHEOS_SHAPE(1), &length)};
  const rheos_attr attr = rheos_attr_type("T", RHEOS_FLOAT);
  return rheos_operation_output(on_device(f, device, "CollectiveBcastRecvV2", inputs, 4, &attr, 1),
                                0);
}

static rheos_status *run_all(fixture *f, const rheos_output *outputs, size_t count,
                             rheos_tensor **out_values, const rheos_run_options *options) {
  rheos_fetch fetches[8] = {0};
  check(rheos_scope_finish(f->scope));
  for (size_t i = 0; i < count; ++i) fetches[i].output = outputs[i];
  rheos_status *status = rheos_session_run(f->session, NULL, 0, fetches, count, NULL, 0, options);
  for (size_t i = 0; i < count; ++i) out_values[i] = fetches[i].value;
  return status;
}

static rheos_output pair(fixture *f, float a, float b) {
  return floats(f, RHEOS_SHAPE(2), (const float[]){a, b});
}

// ---- What comes out

static void test_collectives__all_members_get_the_merged_values(void **state) {
  fixture *f = *state;
  const struct {
    const char *merge, *final;
    float values[2];
  } rows[] = {{"Add", "Id", {9, -3}},
              {"Add", "Div", {3, -1}},
              {"Mul", "Id", {15, 24}},
              {"Min", "Id", {1, -4}},
              {"Max", "Div", {5.0f / 3, 1}}};
  for (int r = 0; r < 5; ++r) {
    rheos_output y[3];
    rheos_tensor *values[3];
    const keys k = {3, 1, r};
    y[2] = reduce(f, 2, pair(f, 1, 3), k, rows[r].merge, rows[r].final);
    y[0] = reduce(f, 0, pair(f, 3, -2), k, rows[r].merge, rows[r].final);
    y[1] = reduce(f, 1, pair(f, 5, -4), k, rows[r].merge, rows[r].final);
    check(run_all(f, y, 3, values, NULL));
    for (int i = 0; i < 3; ++i) expect_floats(values[i], RHEOS_SHAPE(2), rows[r].values);
  }
}

static void test_collectives__whole_numbers_are_divided_towards_zero(void **state) {
  fixture *f = *state;
  rheos_output y[2];
  rheos_tensor *values[2];
  y[0] = reduce(f, 0, ints(f, RHEOS_SHAPE(3), (const int32_t[]){1, 2, -3}), (keys){2, 1, 1}, "Add",
                "Div");
  y[1] = reduce(f, 1, ints(f, RHEOS_SHAPE(3), (const int32_t[]){2, 5, -4}), (keys){2, 1, 1}, "Add",
                "Div");
  check(run_all(f, y, 2, values, NULL));
  for (int i = 0; i < 2; ++i) {
    expect_ints(values[i], RHEOS_SHAPE(3), (const int32_t[]){1, 3, -3});
  }
}

static void test_collectives__parts_go_where_ranks_say(void **state) {
  fixture *f = *state;
  rheos_output y[6];
  rheos_tensor *values[6];
  const rheos_attr merged[] = {rheos_attr_string("merge_op", "Add", 3),
                               rheos_attr_string("final_op", "Id", 2)};
  for (int i = 0; i < 2; ++i) {
    const rheos_output x = pair(f, (float)(1 + 2 * i), (float)(2 + 2 * i));
    y[i] = collective(f, i, "CollectiveGatherV2", x, (keys){2, 1, 1}, NULL, 0);
    y[2 + i] = collective(f, i, "CollectiveAllToAllV2", x, (keys){2, 1, 2}, NULL, 0);
    y[4 + i] = collective(f, i, "CollectiveReduceScatterV2", x, (keys){2, 1, 3}, merged, 2);
  }
  check(run_all(f, y, 6, values, NULL));
  expect_floats(values[0], RHEOS_SHAPE(4), (const float[]){1, 2, 3, 4});
  expect_floats(values[1], RHEOS_SHAPE(4), (const float[]){1, 2, 3, 4});
  expect_floats(values[2], RHEOS_SHAPE(2), (const float[]){1, 3});
  expect_floats(values[3], RHEOS_SHAPE(2), (const float[]){2, 4});
  expect_floats(values[4], RHEOS_SHAPE(1), (const float[]){4});
  expect_floats(values[5], RHEOS_SHAPE(1), (const float[]){6});
}

static void test_collectives__a_broadcast_has_one_source(void **state) {
  fixture *f = *state;
  rheos_output y[4];
  rheos_tensor *values[4];
  y[0] = receive(f, 0, (keys){2, 1, 1}, 2);
  y[1] = collective(f, 1, "CollectiveBcastSendV2", pair(f, 1, 2), (keys){2, 1, 1}, NULL, 0);
  check(run_all(f, y, 2, values, NULL));
  for (int i = 0; i < 2; ++i) expect_floats(values[i], RHEOS_SHAPE(2), (const float[]){1, 2});
  y[0] = receive(f, 0, (keys){2, 1, 2}, 2);
  y[1] = receive(f, 1, (keys){2, 1, 2}, 2);
  expect_error(run_all(f, y, 2, values, NULL), RHEOS_INTERNAL, "found no source for broadcast");
  for (int i = 0; i < 2; ++i) {
    y[i] = collective(f, i, "CollectiveBcastSendV2", pair(f, 1, 2), (keys){2, 1, 3}, NULL, 0);
  }
  expect_error(run_all(f, y, 2, values, NULL), RHEOS_INTERNAL, "already has source 0");
}

static void test_collectives__keys_may_be_attributes(void **state) {
  fixture *f = *state;
  rheos_output y[2], z[2];
  rheos_tensor *values[2];
  const int64_t offset = 0;
  const rheos_shape two = RHEOS_SHAPE(2), four = RHEOS_SHAPE(4);
  for (int i = 0; i < 2; ++i) {
    const rheos_attr keys_of[] = {
        rheos_attr_int("group_size", 2),        rheos_attr_int("group_key", 7),
        rheos_attr_int("instance_key", 1),      rheos_attr_string("merge_op", "Add", 3),
        rheos_attr_string("final_op", "Id", 2), rheos_attr_ints("subdiv_offsets", &offset, 1)};
    const rheos_attr gather[] = {rheos_attr_int("group_size", 2), rheos_attr_int("group_key", 7),
                                 rheos_attr_int("instance_key", 2),
                                 rheos_attr_shape("shape", &four)};
    const rheos_output x = pair(f, (float)i, 5);
    y[i] = rheos_operation_output(on_device(f, i, "CollectiveReduce", &x, 1, keys_of, 6), 0);
    z[i] = rheos_operation_output(on_device(f, i, "CollectiveGather", &y[i], 1, gather, 4), 0);
  }
  check(run_all(f, z, 2, values, NULL));
  for (int i = 0; i < 2; ++i) {
    expect_floats(values[i], RHEOS_SHAPE(4), (const float[]){1, 10, 1, 10});
  }
  rheos_attr sent[] = {rheos_attr_int("group_size", 2), rheos_attr_int("group_key", 7),
                       rheos_attr_int("instance_key", 3), rheos_attr_shape("shape", &two),
                       rheos_attr_type("T", RHEOS_FLOAT)};
  const rheos_output x = pair(f, 8, 9);
  y[0] = rheos_operation_output(on_device(f, 0, "CollectiveBcastSend", &x, 1, sent, 5), 0);
  y[1] = rheos_operation_output(on_device(f, 1, "CollectiveBcastRecv", NULL, 0, sent, 5), 0);
  check(run_all(f, y, 2, values, NULL));
  for (int i = 0; i < 2; ++i) expect_floats(values[i], RHEOS_SHAPE(2), (const float[]){8, 9});
}

static void test_collectives__groups_are_rows_of_an_assignment(void **state) {
  fixture *f = *state;
  const rheos_output inputs[] = {ints(f, RHEOS_SHAPE(2, 2), (const int32_t[]){0, 1, 2, 3}),
                                 int_scalar(f, 2), int_scalar(f, 7)};
  const rheos_operation op = add(f, "CollectiveAssignGroupV2", inputs, 3, NULL, 0);
  rheos_tensor *value = NULL;
  check(run_output(f, op, 0, NULL, &value));
  expect_ints(value, RHEOS_SCALAR, (const int32_t[]){2});
  check(run_output(f, op, 1, NULL, &value));
  expect_ints(value, RHEOS_SCALAR, (const int32_t[]){8});
  const rheos_output none[] = {inputs[0], int_scalar(f, 9), inputs[2]};
  const rheos_operation bad = add(f, "CollectiveAssignGroupV2", none, 3, NULL, 0);
  expect_error(run_output(f, bad, 0, NULL, &value), RHEOS_INVALID_ARGUMENT,
               "device_index 9 is not found");
}

// Ranks are those that were asked for, here the other way round than those of devices.
static void test_collectives__a_communicator_tells_ranks(void **state) {
  fixture *f = *state;
  rheos_output y[4];
  rheos_tensor *values[4];
  const rheos_attr merged = rheos_attr_string("reduction", "Add", 3);
  const rheos_output none = ints(f, RHEOS_SHAPE(0, 0), NULL);
  for (int i = 0; i < 2; ++i) {
    const rheos_output who[] = {int_scalar(f, 3), int_scalar(f, 1 - i), int_scalar(f, 2)};
    const rheos_operation c = on_device(f, i, "CollectiveInitializeCommunicator", who, 3, NULL, 0);
    const rheos_output inputs[] = {pair(f, 1 + (float)i, 5 + (float)i),
                                   rheos_operation_output(c, 0), none};
    y[i] = rheos_operation_output(on_device(f, i, "CollectiveAllToAllV3", inputs, 3, NULL, 0), 0);
    const rheos_output next[] = {y[i], inputs[1], none};
    y[2 + i] =
        rheos_operation_output(on_device(f, i, "CollectiveReduceV3", next, 3, &merged, 1), 0);
  }
  check(run_all(f, y, 4, values, NULL));
  expect_floats(values[0], RHEOS_SHAPE(2), (const float[]){2, 1});  // TensorFlow 2.21's answers
  expect_floats(values[1], RHEOS_SHAPE(2), (const float[]){6, 5});
  for (int i = 2; i < 4; ++i) expect_floats(values[i], RHEOS_SHAPE(2), (const float[]){8, 6});
  const rheos_output bad[] = {int_scalar(f, 4), int_scalar(f, 2), int_scalar(f, 2)};
  y[0] = rheos_operation_output(
      on_device(f, 0, "CollectiveInitializeCommunicator", bad, 3, NULL, 0), 0);
  expect_error(run_all(f, y, 1, values, NULL), RHEOS_INVALID_ARGUMENT,
               "rank must be less than group size but got 2 >= 2");
}

// Sums of floats depend on their order: the bits are those of the order of ranks, for tensors that
// threads share too, whoever comes first.
static void test_collectives__bits_are_those_of_ranks(void **state) {
  fixture *f = *state;
  enum { LENGTH = 300000 };
  rheos_output x[3], y[3];
  rheos_tensor *values[3], *given[3];
  for (int i = 0; i < 3; ++i) x[i] = waves(f, 1e3f / (float)(1 + i * i), RHEOS_SHAPE(LENGTH), i);
  for (int i = 2; i >= 0; --i) y[i] = reduce(f, i, x[i], (keys){3, 1, 1}, "Add", "Div");
  check(run_all(f, x, 3, given, NULL));
  for (int round = 0; round < 3; ++round) {
    check(run_all(f, y, 3, values, NULL));
    const float *a = rheos_tensor_data(given[0]), *b = rheos_tensor_data(given[1]);
    const float *c = rheos_tensor_data(given[2]), *sum = rheos_tensor_data(values[0]);
    for (int i = 0; i < LENGTH; ++i) {
      const float ab = a[i] + b[i], abc = ab + c[i];
      assert_true(sum[i] == abc / 3);
    }
    for (int i = 0; i < 3; ++i) rheos_tensor_unref(values[i]);
  }
  for (int i = 0; i < 3; ++i) rheos_tensor_unref(given[i]);
}

// ---- What goes wrong

static void test_collectives__members_have_to_agree(void **state) {
  fixture *f = *state;
  rheos_output y[2];
  rheos_tensor *values[2];
  y[0] = reduce(f, 0, pair(f, 1, 2), (keys){2, 1, 1}, "Add", "Id");
  y[1] = reduce(f, 1, float_scalar(f, 1), (keys){2, 1, 1}, "Add", "Id");
  expect_error(run_all(f, y, 2, values, NULL), RHEOS_INVALID_ARGUMENT,
               "Shape mismatch in the collective instance 1");
  y[1] =
      reduce(f, 1, ints(f, RHEOS_SHAPE(2), (const int32_t[]){1, 2}), (keys){2, 1, 1}, "Add", "Id");
  expect_error(run_all(f, y, 2, values, NULL), RHEOS_INTERNAL, "Collective instance 1 expected");
  y[1] = collective(f, 1, "CollectiveGatherV2", float_scalar(f, 1), (keys){2, 1, 1}, NULL, 0);
  expect_error(rheos_scope_finish(f->scope), RHEOS_INVALID_ARGUMENT, "rank");
}

static void test_collectives__a_session_goes_on_after_a_step_that_failed(void **state) {
  fixture *f = *state;
  rheos_output y[2];
  rheos_tensor *values[2];
  y[0] = reduce(f, 0, pair(f, 1, 2), (keys){2, 1, 1}, "Add", "Id");
  y[1] = reduce(f, 1, float_scalar(f, 1), (keys){2, 1, 1}, "Add", "Id");
  expect_error(run_all(f, y, 2, values, NULL), RHEOS_INVALID_ARGUMENT, "Shape mismatch");
  y[1] = reduce(f, 1, pair(f, 3, 4), (keys){2, 1, 1}, "Add", "Id");
  check(run_all(f, y, 2, values, NULL));
  for (int i = 0; i < 2; ++i) expect_floats(values[i], RHEOS_SHAPE(2), (const float[]){4, 6});
}

static void test_collectives__groups_keep_their_size(void **state) {
  fixture *f = *state;
  rheos_output y[3];
  rheos_tensor *values[3];
  y[0] = reduce(f, 0, pair(f, 1, 2), (keys){2, 1, 1}, "Add", "Id");
  y[1] = reduce(f, 1, pair(f, 1, 2), (keys){3, 1, 1}, "Add", "Id");
  expect_error(run_all(f, y, 2, values, NULL), RHEOS_INTERNAL, "group_key=1");
  for (int i = 0; i < 2; ++i) {
    y[i] = reduce(f, i, pair(f, 1, 2), (keys){2, 2, 1}, "Add", "Id");
  }
  check(run_all(f, y, 2, values, NULL));
  for (int i = 0; i < 2; ++i) rheos_tensor_unref(values[i]);
  y[2] = reduce(f, 2, pair(f, 1, 2), (keys){2, 2, 1}, "Add", "Id");
  expect_error(run_all(f, &y[2], 1, values, NULL), RHEOS_INTERNAL, "CPU:2");
  y[0] = reduce(f, 0, pair(f, 1, 2), (keys){0, 3, 1}, "Add", "Id");
  expect_error(run_all(f, y, 1, values, NULL), RHEOS_INVALID_ARGUMENT,
               "group_size must be positive integer but got 0");
  y[0] = reduce(f, 0, pair(f, 1, 2), (keys){4, 3, 1}, "Add", "Id");
  expect_error(run_all(f, y, 1, values, NULL), RHEOS_INVALID_ARGUMENT, "there are 3 devices");
}

static void test_collectives__a_deadline_ends_the_wait_for_others(void **state) {
  fixture *f = *state;
  rheos_tensor *value = NULL;
  const rheos_output y = reduce(f, 0, pair(f, 1, 2), (keys){2, 1, 5}, "Add", "Id");
  rheos_status *status = run_all(f, &y, 1, &value, &(rheos_run_options){.timeout_ms = 50});
  assert_string_not_equal(rheos_status_message(status), "");
  assert_non_null(strstr(rheos_status_message(status), "group 1, instance 5"));
  expect_error(status, RHEOS_DEADLINE_EXCEEDED, "the other members of collective");
}

// ---- Memory that is short

// The step says so, or nothing is wrong; nothing is lost, and nobody waits for ever.
static void test_collectives__an_allocation_may_fail(void **state) {
  fixture *f = *state;
  rheos_output y[4];
  rheos_tensor *values[4];
  for (int i = 0; i < 2; ++i) {
    y[i] = reduce(f, i, pair(f, 1, 2), (keys){2, 1, 1}, "Add", "Id");
    y[2 + i] = collective(f, i, "CollectiveGatherV2", y[i], (keys){2, 1, 2}, NULL, 0);
  }
  check(run_all(f, y, 4, values, NULL));
  for (int i = 0; i < 4; ++i) rheos_tensor_unref(values[i]);
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  for (int64_t n = 1;; ++n) {
    counter.requests = 0;
    counter.fail_at = n;
    rheos_status *status = run_all(f, y, 4, values, &(rheos_run_options){.timeout_ms = 10000});
    const bool has_failed = counter.requests >= n;
    counter.fail_at = 0;
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
    for (int i = 0; i < 4; ++i) rheos_tensor_unref(values[i]);
    if (!has_failed) break;
  }
  rheos_set_allocator(NULL);
  check(run_all(f, y, 4, values, NULL));
  for (int i = 0; i < 4; ++i) rheos_tensor_unref(values[i]);
}

// The op's own deadline; the session goes on.
static void test_collectives__an_op_may_wait_so_long_only(void **state) {
  fixture *f = *state;
  rheos_tensor *value = NULL;
  const rheos_attr attrs[] = {rheos_attr_float("timeout_seconds", 0.05f),
                              rheos_attr_string("merge_op", "Add", 3),
                              rheos_attr_string("final_op", "Id", 2)};
  const rheos_output y =
      collective(f, 1, "CollectiveReduceV2", pair(f, 1, 2), (keys){2, 1, 5}, attrs, 3);
  expect_error(run_all(f, &y, 1, &value, NULL), RHEOS_DEADLINE_EXCEEDED,
               "of the 2 members of group 1, instance 5 1 came, "
               "/job:localhost/replica:0/task:0/device:CPU:1");
}

// ---- Threads that run operations eagerly

typedef struct replica {
  rheos_eager *eager;
  pthread_t thread;
  int device, num_rounds, length;
  rheos_cancellation *cancellation;
  rheos_status *status;
  rheos_tensor *last;
} replica;

static rheos_tensor *int_tensor(int32_t value) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
  return tensor;
}

static rheos_status *run_once(replica *r, int round) {
  float values[3] = {(float)(r->device + 1), (float)round, 0};
  rheos_tensor *inputs[4] = {NULL, int_tensor(2), int_tensor(1), int_tensor(1)};
  char device[32];
  rheos_region *region = NULL;
  snprintf(device, sizeof device, "/device:CPU:%d", r->device);
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(r->length), values, &inputs[0]));
  const rheos_attr attrs[] = {rheos_attr_string("merge_op", "Add", 3),
                              rheos_attr_string("final_op", "Id", 2)};
  const rheos_eager_op op = {.type = "CollectiveReduceV2",
                             .inputs = inputs,
                             .num_inputs = 4,
                             .attrs = attrs,
                             .num_attrs = 2,
                             .device = device};
  const rheos_run_options options = {.cancellation = r->cancellation};
  check(rheos_eager_region(r->eager, &op, &region));
  rheos_tensor_unref(r->last);
  rheos_status *status = rheos_region_run(region, inputs, &r->last, &options);
  rheos_region_unref(region);
  for (int i = 0; i < 4; ++i) rheos_tensor_unref(inputs[i]);
  return status;
}

static void *run_replica(void *argument) {
  replica *r = argument;
  for (int i = 0; i < r->num_rounds && r->status == NULL; ++i) r->status = run_once(r, i);
  return NULL;
}

static rheos_eager *eager_of_devices(void) {
  rheos_host *host = NULL;
  rheos_eager *eager = NULL;
  check(rheos_host_new(&(rheos_host_options){.num_cpu_devices = 2, .num_threads = 2}, &host));
  check(rheos_eager_new(&(rheos_eager_options){.host = host}, &eager));
  rheos_host_unref(host);
  return eager;
}

// A thread that is ahead waits in each round for the other one; the keys stay the same.
static void test_collectives__threads_meet_round_after_round(void **state) {
  (void)state;
  rheos_eager *eager = eager_of_devices();
  replica r[2];
  for (int i = 0; i < 2; ++i) {
    r[i] = (replica){.eager = eager, .device = i, .num_rounds = 200, .length = 2};
    assert_int_equal(pthread_create(&r[i].thread, NULL, run_replica, &r[i]), 0);
  }
  for (int i = 0; i < 2; ++i) pthread_join(r[i].thread, NULL);
  for (int i = 0; i < 2; ++i) {
    check(r[i].status);
    expect_floats(r[i].last, RHEOS_SHAPE(2), (const float[]){3, 398});
  }
  rheos_eager_free(eager);
}

static void wait_until_waiting(rheos_eager *eager) {
  for (bool is_waiting = false; !is_waiting; usleep(1000)) {
    char *text = NULL;
    check(rheos_eager_waiting(eager, &text));
    is_waiting = strstr(text, "the other members of collective 'group 1, instance 1'") != NULL;
    rheos_free(text);
  }
}

static void test_collectives__who_leaves_ends_the_round_for_others(void **state) {
  (void)state;
  rheos_eager *eager = eager_of_devices();
  replica r[2];
  for (int i = 0; i < 2; ++i) {
    r[i] = (replica){.eager = eager, .device = i, .num_rounds = 1, .length = 2};
  }
  r[0].cancellation = rheos_cancellation_new();
  assert_int_equal(pthread_create(&r[0].thread, NULL, run_replica, &r[0]), 0);
  wait_until_waiting(eager);
  rheos_cancel(r[0].cancellation);
  pthread_join(r[0].thread, NULL);
  expect_error(r[0].status, RHEOS_CANCELLED, "cancelled");
  run_replica(&r[1]);
  expect_error(r[1].status, RHEOS_CANCELLED, "CPU:0 has left the collective");
  rheos_cancellation_free(r[0].cancellation);
  // Then both have come: the next round is a new one.
  for (int i = 0; i < 2; ++i) {
    r[i] = (replica){.eager = eager, .device = i, .num_rounds = 1, .length = 2};
    assert_int_equal(pthread_create(&r[i].thread, NULL, run_replica, &r[i]), 0);
  }
  for (int i = 0; i < 2; ++i) {
    pthread_join(r[i].thread, NULL);
    check(r[i].status);
    rheos_tensor_unref(r[i].last);
  }
  rheos_eager_free(eager);
}

static void test_collectives__a_failed_round_is_told_to_all(void **state) {
  (void)state;
  rheos_eager *eager = eager_of_devices();
  replica r[2];
  for (int i = 0; i < 2; ++i) {
    r[i] = (replica){.eager = eager, .device = i, .num_rounds = 1, .length = 2 + i};
    assert_int_equal(pthread_create(&r[i].thread, NULL, run_replica, &r[i]), 0);
  }
  for (int i = 0; i < 2; ++i) {
    pthread_join(r[i].thread, NULL);
    expect_error(r[i].status, RHEOS_INVALID_ARGUMENT, "Shape mismatch");
  }
  rheos_eager_free(eager);
}

static void test_collectives__closing_ends_the_wait(void **state) {
  (void)state;
  rheos_eager *eager = eager_of_devices();
  replica r = {.eager = eager, .device = 0, .num_rounds = 1, .length = 2};
  assert_int_equal(pthread_create(&r.thread, NULL, run_replica, &r), 0);
  wait_until_waiting(eager);
  rheos_eager_free(eager);
  pthread_join(r.thread, NULL);
  expect_error(r.status, RHEOS_CANCELLED, "closed");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      ON_DEVICES(test_collectives__all_members_get_the_merged_values),
      ON_DEVICES(test_collectives__whole_numbers_are_divided_towards_zero),
      ON_DEVICES(test_collectives__parts_go_where_ranks_say),
      ON_DEVICES(test_collectives__a_broadcast_has_one_source),
      ON_DEVICES(test_collectives__keys_may_be_attributes),
      ON_DEVICES(test_collectives__groups_are_rows_of_an_assignment),
      ON_DEVICES(test_collectives__a_communicator_tells_ranks),
      ON_DEVICES(test_collectives__bits_are_those_of_ranks),
      ON_DEVICES(test_collectives__members_have_to_agree),
      ON_DEVICES(test_collectives__a_session_goes_on_after_a_step_that_failed),
      ON_DEVICES(test_collectives__groups_keep_their_size),
      ON_DEVICES(test_collectives__a_deadline_ends_the_wait_for_others),
      ON_DEVICES(test_collectives__an_allocation_may_fail),
      ON_DEVICES(test_collectives__an_op_may_wait_so_long_only),
      cmocka_unit_test(test_collectives__threads_meet_round_after_round),
      cmocka_unit_test(test_collectives__who_leaves_ends_the_round_for_others),
      cmocka_unit_test(test_collectives__a_failed_round_is_told_to_all),
      cmocka_unit_test(test_collectives__closing_ends_the_wait),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
