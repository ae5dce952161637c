// Clients that use a cluster at the same time, each with sessions that come and go.
#include <pthread.h>

#include "net/cluster_fixture.h"

enum { CLIENTS = 4, SESSIONS = 5, STEPS = 12 };

// One graph for all: a variable on the parameter server, a value that goes there and back, and a
// value that never comes.
typedef struct program {
  fixture *f;
  cluster c;
  rheos_operation start;
  rheos_output count, more, there_and_back, never;
} program;

static rheos_output on(program *p, const char *device, const char *op, const rheos_output *inputs,
                       int count) {
  rheos_push_device(p->f->scope, device);
  const rheos_output output = rheos_operation_output(add(p->f, op, inputs, count, NULL, 0), 0);
  rheos_scope_pop(p->f->scope);
  return output;
}

static void build(program *p) {
  static const char ps[] = "/job:ps/task:0", worker[] = "/job:worker/task:1";
  fixture *f = p->f;
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", dtype),
                              rheos_attr_shape("shape", &(rheos_shape){.rank = 0})};
  const rheos_attr held[] = {rheos_attr_types("component_types", &dtype, 1)};
  rheos_push_device(f->scope, ps);
  p->count = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  const rheos_output first[] = {p->count, float_scalar(f, 0)};
  const rheos_output next[] = {p->count, float_scalar(f, 1)};
  p->start = add(f, "Assign", first, 2, NULL, 0);
  const rheos_attr locking = rheos_attr_bool("use_locking", true);
  p->more = rheos_operation_output(add(f, "AssignAdd", next, 2, &locking, 1), 0);
  const rheos_output queue = rheos_operation_output(add(f, "FIFOQueueV2", NULL, 0, held, 1), 0);
  const rheos_output none = rheos_operation_output(add(f, "QueueDequeueV2", &queue, 1, held, 1), 0);
  rheos_scope_pop(f->scope);
  p->never = on(p, worker, "Neg", &none, 1);
  const rheos_output x = float_scalar(f, 3), there = on(p, worker, "Square", &x, 1);
  p->there_and_back = on(p, ps, "Neg", &there, 1);
  check(rheos_scope_finish(f->scope));
}

static float fetched(rheos_session *session, rheos_output output) {
  rheos_fetch fetch = {.output = output};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const float value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  return value;
}

static void wait_in_vain(rheos_session *session, rheos_output output) {
  rheos_fetch fetch = {.output = output};
  const rheos_run_options options = {.timeout_ms = 30};
  rheos_status *status = rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, &options);
  assert_int_equal(rheos_status_code(status), RHEOS_DEADLINE_EXCEEDED);
  rheos_status_free(status);
}

typedef struct client {
  const program *p;
  int number;
  pthread_t thread;
} client;

static void *work(void *argument) {
  const client *own = argument;
  const program *p = own->p;
  for (int i = 0; i < SESSIONS; i++) {
    rheos_session *session = session_on(p->f->graph, p->c.servers[(own->number + i) % 3]);
    for (int k = 0; k < STEPS; k++) {
      assert_true(fetched(session, p->more) >= (float)(i * STEPS + k + 1));
      assert_float_equal(fetched(session, p->there_and_back), -9, 0);
    }
    if (i % 2 == own->number % 2) wait_in_vain(session, p->never);
    rheos_session_free(session);
  }
  return NULL;
}

static void test_many_clients__share_what_is_on_the_servers(void **state) {
  program p = {.f = *state};
  client clients[CLIENTS];
  start_cluster(&p.c, 2, 1);
  build(&p);
  rheos_session *session = session_on(p.f->graph, p.c.servers[0]);
  check(rheos_session_run(session, NULL, 0, NULL, 0, &p.start, 1, NULL));
  for (int i = 0; i < CLIENTS; i++) {
    clients[i] = (client){.p = &p, .number = i};
    assert_int_equal(pthread_create(&clients[i].thread, NULL, work, &clients[i]), 0);
  }
  for (int i = 0; i < CLIENTS; i++) pthread_join(clients[i].thread, NULL);
  assert_float_equal(fetched(session, p.count), CLIENTS * SESSIONS * STEPS, 0);
  rheos_session_free(session);
  stop_cluster(&p.c);
}

// One of several threads that use a session.
typedef struct user {
  const program *p;
  rheos_session *session;
  pthread_t thread;
  rheos_status *status;
} user;

static void *run_until_closed(void *argument) {
  user *own = argument;
  while (own->status == NULL) {
    rheos_fetch fetch = {.output = own->p->there_and_back};
    own->status = rheos_session_run(own->session, NULL, 0, &fetch, 1, NULL, 0, NULL);
    rheos_tensor_unref(fetch.value);
  }
  return NULL;
}

static void test_many_clients__end_with_their_session(void **state) {
  program p = {.f = *state};
  user users[CLIENTS];
  start_cluster(&p.c, 2, 1);
  build(&p);
  rheos_session *session = session_on(p.f->graph, p.c.servers[0]);
  for (int i = 0; i < CLIENTS; i++) {
    users[i] = (user){.p = &p, .session = session};
    assert_int_equal(pthread_create(&users[i].thread, NULL, run_until_closed, &users[i]), 0);
  }
  fetched(session, p.there_and_back);
  rheos_session_close(session);
  for (int i = 0; i < CLIENTS; i++) {
    pthread_join(users[i].thread, NULL);
    const rheos_code code = rheos_status_code(users[i].status);  // of one under way, or of the next
    if (code != RHEOS_CANCELLED && code != RHEOS_FAILED_PRECONDITION) check(users[i].status);
    rheos_status_free(users[i].status);
  }
  rheos_session_free(session);
  stop_cluster(&p.c);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_many_clients__share_what_is_on_the_servers),
      TEST(test_many_clients__end_with_their_session),
  };
  if (!can_serve()) return 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
