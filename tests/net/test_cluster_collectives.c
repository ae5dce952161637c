// Collectives of several tasks: of eager contexts on their servers, and in a step of a session.
#include "net/cluster_fixture.h"
#include "net/member_fixture.h"
#include "net/server.h"

#define REDUCE "CollectiveReduceV2"

// Workers with `cpus` devices each, and an eager context on each.
typedef struct workers {
  cluster cluster;
  rheos_eager *eager[MAX_TASKS];
} workers;

static void start_workers(workers *w, int count, int cpus) {
  w->cluster = (cluster){.text = "{"};
  add_job(&w->cluster, "worker", count);
  strcat(w->cluster.text, "}");
  for (int i = 0; i < count; i++) {
    rheos_server **server = &w->cluster.servers[w->cluster.num_servers++];
    check(rheos_server_new(&(rheos_server_options){.cluster = w->cluster.text,
                                                   .job = "worker",
                                                   .task = i,
                                                   .num_cpu_devices = cpus,
                                                   .num_threads = 2},
                           server));
    check(
        rheos_eager_new(&(rheos_eager_options){.host = rheos_server_host(*server)}, &w->eager[i]));
  }
}

static void stop_workers(workers *w) {
  for (int i = 0; i < w->cluster.num_servers; i++) rheos_eager_free(w->eager[i]);
  stop_cluster(&w->cluster);
}

static rheos_tensor *numbers(rheos_shape shape, float first) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) values[i] = first + (float)i;
  return tensor;
}

// One of `size` members, on a device of a task; it brings first, first + 1, ...
static member member_of(const workers *w, int task, int cpu, const char *type, rheos_shape shape,
                        float first) {
  member m = {.eager = w->eager[task],
              .type = type,
              .dtype = RHEOS_FLOAT,
              .shape = shape,
              .size = w->cluster.num_servers,
              .group = 1,
              .instance = 1,
              .num_rounds = 1};
  snprintf(m.device, sizeof m.device, "/job:worker/task:%d/device:CPU:%d", task, cpu);
  if (strcmp(type, "CollectiveBcastRecvV2") != 0) m.input = numbers(shape, first);
  return m;
}

static void expect_numbers(member *m, rheos_shape shape, const float *values) {
  check(m->status);
  expect_floats(m->output, shape, values);
  m->output = NULL;
}

// ---- What comes out

// Lengths at which chunks end in the middle, are missing, and where TensorFlow's rule adds one.
static void test_cluster_collectives__sums_go_round(void **state) {
  (void)state;
  if (!can_serve()) return;
  static const int64_t lengths[] = {1, 2, 16, 31, 32, 33, 48, 100, 1024, 100000};
  workers w;
  start_workers(&w, 3, 1);
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    member m[3];
    for (int i = 0; i < 3; i++) {
      m[i] = member_of(&w, i, 0, REDUCE, RHEOS_SHAPE(lengths[k]), (float)(i + 1));
      m[i].num_rounds = 3;
      m[i].instance = (int32_t)k;
    }
    run_all(m, 3);
    for (int i = 0; i < 3; i++) {
      check(m[i].status);
      const float *sum = rheos_tensor_data(m[i].output);
      for (int64_t n = 0; n < lengths[k]; n++) assert_true(sum[n] == 6 + 3 * (float)n);
    }
    drop(m, 3);
  }
  stop_workers(&w);
}

static void test_cluster_collectives__a_task_may_have_several_members(void **state) {
  (void)state;
  if (!can_serve()) return;
  workers w;
  start_workers(&w, 2, 2);
  static const char *const types[] = {"CollectiveReduceV2", "CollectiveGatherV2",
                                      "CollectiveAllToAllV2", "CollectiveReduceScatterV2"};
  static const float sum[] = {64, 68, 72, 76};
  member m[4];
  for (int32_t k = 0; k < 4; k++) {
    for (int i = 0; i < 4; i++) {
      m[i] = member_of(&w, i / 2, i % 2, types[k], RHEOS_SHAPE(4), (float)(10 * i + 1));
      m[i].num_rounds = 2;
      m[i].size = 4;
      m[i].instance = k;
    }
    run_all(m, 4);
    for (int i = 0; i < 4; i++) {
      const float fi = (float)i;
      const float exchanged[] = {fi + 1, fi + 11, fi + 21, fi + 31};
      float gathered[16];
      for (int n = 0; n < 16; n++) gathered[n] = (float)(n / 4 * 10 + n % 4 + 1);
      if (k == 0) expect_numbers(&m[i], RHEOS_SHAPE(4), sum);
      if (k == 1) expect_numbers(&m[i], RHEOS_SHAPE(16), gathered);
      if (k == 2) expect_numbers(&m[i], RHEOS_SHAPE(4), exchanged);
      if (k == 3) expect_numbers(&m[i], RHEOS_SHAPE(1), &sum[i]);
    }
    drop(m, 4);
  }
  stop_workers(&w);
}

static void test_cluster_collectives__any_member_may_be_the_source(void **state) {
  (void)state;
  if (!can_serve()) return;
  workers w;
  start_workers(&w, 3, 2);
  for (int source = 0; source < 6; source++) {
    member m[6];
    for (int i = 0; i < 6; i++) {
      const char *type = i == source ? "CollectiveBcastSendV2" : "CollectiveBcastRecvV2";
      m[i] = member_of(&w, i / 2, i % 2, type, RHEOS_SHAPE(2), (float)source);
      m[i].num_rounds = 2;
      m[i].size = 6;
      m[i].instance = source;
    }
    run_all(m, 6);
    const float values[] = {(float)source, (float)source + 1};
    for (int i = 0; i < 6; i++) expect_numbers(&m[i], RHEOS_SHAPE(2), values);
    drop(m, 6);
  }
  stop_workers(&w);
}

// ---- What goes wrong

static void test_cluster_collectives__shapes_that_differ_end_it_for_all(void **state) {
  (void)state;
  if (!can_serve()) return;
  workers w;
  start_workers(&w, 2, 1);
  member m[2];
  for (int i = 0; i < 2; i++) m[i] = member_of(&w, i, 0, REDUCE, RHEOS_SHAPE(2 + i), 0);
  run_all(m, 2);
  for (int i = 0; i < 2; i++) expect_error(m[i].status, RHEOS_INVALID_ARGUMENT, "Shape mismatch");
  drop(m, 2);
  stop_workers(&w);
}

static void test_cluster_collectives__who_is_stopped_ends_it_for_others(void **state) {
  (void)state;
  if (!can_serve()) return;
  workers w;
  start_workers(&w, 2, 1);
  member m[2];
  for (int i = 0; i < 2; i++) m[i] = member_of(&w, i, 0, REDUCE, RHEOS_SHAPE(2), 0);
  run_all(m, 2);  // a group first
  for (int i = 0; i < 2; i++) check(m[i].status);
  m[1].timeout_ms = 100;
  run_member(&m[1]);
  expect_error(m[1].status, RHEOS_DEADLINE_EXCEEDED, "group 1, instance 1");
  run_member(&m[0]);
  expect_error(m[0].status, RHEOS_CANCELLED, "task:1/device:CPU:0 has left");
  drop(m, 2);
  stop_workers(&w);
}

static void test_cluster_collectives__an_op_may_wait_so_long_only(void **state) {
  (void)state;
  if (!can_serve()) return;
  workers w;
  start_workers(&w, 2, 1);
  member m = member_of(&w, 1, 0, REDUCE, RHEOS_SHAPE(2), 0);
  m.timeout_s = 0.1f;
  run_member(&m);
  expect_error(m.status, RHEOS_DEADLINE_EXCEEDED, "task:1/device:CPU:0 waited 0.1 s in group 1");
  drop(&m, 1);
  stop_workers(&w);
}

static void *stop_later(void *server) {
  usleep(200000);
  rheos_server_stop(server, 0);
  return NULL;
}

static void test_cluster_collectives__a_server_that_stops_ends_the_wait(void **state) {
  (void)state;
  if (!can_serve()) return;
  workers w;
  start_workers(&w, 2, 1);
  member m = member_of(&w, 0, 0, REDUCE, RHEOS_SHAPE(2), 0);
  pthread_t stopper;
  assert_int_equal(pthread_create(&stopper, NULL, stop_later, w.cluster.servers[0]), 0);
  run_member(&m);
  pthread_join(stopper, NULL);
  expect_error(m.status, RHEOS_UNAVAILABLE, "stopped");
  drop(&m, 1);
  stop_workers(&w);
}

// ---- In a step

static void test_cluster_collectives__members_may_be_in_one_step(void **state) {
  (void)state;
  if (!can_serve()) return;
  cluster c;
  start_cluster(&c, 2, 0);
  fixture f = {.graph = rheos_graph_new()};
  f.scope = rheos_scope_new(f.graph);
  f.session = session_on(f.graph, c.servers[0]);
  const rheos_attr attrs[] = {rheos_attr_string("merge_op", "Add", 3),
                              rheos_attr_string("final_op", "Div", 3)};
  rheos_fetch fetches[2] = {0};
  for (int i = 0; i < 2; i++) {
    char device[64];
    snprintf(device, sizeof device, "/job:worker/task:%d/device:CPU:0", i);
    const rheos_output inputs[] = {
        floats(&f, RHEOS_SHAPE(2), (const float[]){1 + 2 * (float)i, 10}), int_scalar(&f, 2),
        int_scalar(&f, 1), int_scalar(&f, 1)};
    const rheos_operation op = rheos_op(f.scope, &(rheos_op_args){.type = "CollectiveReduceV2",
                                                                  .inputs = inputs,
                                                                  .num_inputs = 4,
                                                                  .attrs = attrs,
                                                                  .num_attrs = 2,
                                                                  .device = device});
    fetches[i].output = rheos_operation_output(op, 0);
  }
  check(rheos_scope_finish(f.scope));
  for (int step = 0; step < 3; step++) {
    check(rheos_session_run(f.session, NULL, 0, fetches, 2, NULL, 0, NULL));
    for (int i = 0; i < 2; i++) {
      expect_floats(fetches[i].value, RHEOS_SHAPE(2), (const float[]){2, 10});
    }
  }
  rheos_session_free(f.session);
  rheos_scope_free(f.scope);
  rheos_graph_unref(f.graph);
  stop_cluster(&c);
}

// ---- In steps of sessions that know nothing of each other

typedef struct program {
  pthread_t thread;
  const rheos_server *server;
  int task;
  rheos_status *failed;
  float last;  // of the sums
} program;

// A graph with one member of a group of two, as each process would have it.
static void *run_program(void *argument) {
  program *p = argument;
  const int64_t offset = 0;
  fixture f = {.graph = rheos_graph_new()};
  f.scope = rheos_scope_new(f.graph);
  f.session = session_on(f.graph, p->server);
  const rheos_attr attrs[] = {
      rheos_attr_int("group_size", 2),        rheos_attr_int("group_key", 1),
      rheos_attr_int("instance_key", 1),      rheos_attr_string("merge_op", "Add", 3),
      rheos_attr_string("final_op", "Id", 2), rheos_attr_ints("subdiv_offsets", &offset, 1)};
  char device[64];
  snprintf(device, sizeof device, "/job:worker/task:%d/device:CPU:0", p->task);
  const rheos_output x = floats(&f, RHEOS_SHAPE(2), (const float[]){1 + (float)p->task, 10});
  const rheos_operation op = rheos_op(f.scope, &(rheos_op_args){.type = "CollectiveReduce",
                                                                .inputs = &x,
                                                                .num_inputs = 1,
                                                                .attrs = attrs,
                                                                .num_attrs = 6,
                                                                .device = device});
  check(rheos_scope_finish(f.scope));
  for (int step = 0; step < 20 && p->failed == NULL; step++) {
    rheos_fetch fetch = {rheos_operation_output(op, 0), NULL};
    p->failed = rheos_session_run(f.session, NULL, 0, &fetch, 1, NULL, 0, NULL);
    if (p->failed == NULL) p->last = *(float *)rheos_tensor_data(fetch.value);
    rheos_tensor_unref(fetch.value);
  }
  rheos_session_free(f.session);
  rheos_scope_free(f.scope);
  rheos_graph_unref(f.graph);
  return NULL;
}

static void test_cluster_collectives__sessions_meet_step_by_step(void **state) {
  (void)state;
  if (!can_serve()) return;
  cluster c;
  start_cluster(&c, 2, 0);
  program programs[2];
  for (int i = 0; i < 2; i++) {
    programs[i] = (program){.server = c.servers[i], .task = i};
    assert_int_equal(pthread_create(&programs[i].thread, NULL, run_program, &programs[i]), 0);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(programs[i].thread, NULL);
    check(programs[i].failed);
    assert_true(programs[i].last == 3);
  }
  stop_cluster(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cluster_collectives__sums_go_round),
      cmocka_unit_test(test_cluster_collectives__a_task_may_have_several_members),
      cmocka_unit_test(test_cluster_collectives__any_member_may_be_the_source),
      cmocka_unit_test(test_cluster_collectives__shapes_that_differ_end_it_for_all),
      cmocka_unit_test(test_cluster_collectives__who_is_stopped_ends_it_for_others),
      cmocka_unit_test(test_cluster_collectives__an_op_may_wait_so_long_only),
      cmocka_unit_test(test_cluster_collectives__a_server_that_stops_ends_the_wait),
      cmocka_unit_test(test_cluster_collectives__members_may_be_in_one_step),
      cmocka_unit_test(test_cluster_collectives__sessions_meet_step_by_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
