// Requests of the protocol that come twice, late, in another order or from who has gone, as clients
// may send them that are not ours.
#include "master.pb-c.h"
#include "net/cluster_fixture.h"
#include "net/server.h"
#include "net/remote_call.h"
#include "worker.pb-c.h"

typedef struct caller {
  cluster c;
  rheos__remote_server server;
  rheos__received reply;
} caller;

static void set_up_caller(caller *a) {
  *a = (caller){.reply = {.bytes = ""}};
  start_cluster(&a->c, 1, 0);
  const rheos_credentials none = {0};
  check(rheos__remote_connect(&a->server, rheos_server_target(a->c.servers[0]), &none));
}

static void tear_down_caller(caller *a) {
  rheos__received_deinit(&a->reply);
  rheos__remote_disconnect(&a->server);
  stop_cluster(&a->c);
}

// The reply is there until the next call.
static rheos_status *ask(caller *a, rheos__method method, rheos__message *request,
                         const ProtobufCMessageDescriptor *reply) {
  const bool has_tensors = method == RHEOS__RUN_STEP;
  const rheos__message_form form = {
      .descriptor = reply, .tensors = has_tensors ? 1 : 0, .are_named = has_tensors};
  rheos__received_deinit(&a->reply);
  rheos_status *status =
      rheos__remote_call(&a->server, method, request, 20000, NULL, &form, &a->reply);
  rheos__message_deinit(request);
  return status;
}

static rheos_status *ask_fields(caller *a, rheos__method method, const ProtobufCMessage *fields,
                                const ProtobufCMessageDescriptor *reply) {
  rheos__message request = {0};
  rheos__message_put(&request, fields);
  return ask(a, method, &request, reply);
}

static rheos_output build_variable(fixture *f) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &(rheos_shape){.rank = 0})};
  return rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
}

static void build_addition(fixture *f, rheos_output v) {
  const rheos_output more[] = {v, float_scalar(f, 1)};
  add(f, "AssignAdd", more, 2, NULL, 0);
  check(rheos_scope_finish(f->scope));
}

// A variable, what sets it to 0, and what adds 1 to it.
static void build_counter(fixture *f) {
  const rheos_output v = build_variable(f), start[] = {v, float_scalar(f, 0)};
  add(f, "Assign", start, 2, NULL, 0);
  build_addition(f, v);
}

static void put_graph(fixture *f, rheos__message *request, int field) {
  void *bytes;
  size_t size_bytes;
  check(rheos_graph_to_graph_def(f->graph, &bytes, &size_bytes));
  rheos__message_put_bytes(request, field, bytes, size_bytes);
  rheos_free(bytes);
}

// ---- A master's

static char *create_session(caller *a, fixture *f) {
  rheos__message request = {0};
  put_graph(f, &request, 1);
  check(ask(a, RHEOS__CREATE_SESSION, &request, &tensorflow__create_session_response__descriptor));
  const Tensorflow__CreateSessionResponse *r = (const void *)a->reply.message;
  return strdup(r->session_handle);
}

// One step; 0: no id. Returns what is fetched, if anything is.
static rheos_status *run_step(caller *a, const char *session, const char *fetch, int64_t id,
                              float *out_value) {
  Tensorflow__RunStepRequest fields = TENSORFLOW__RUN_STEP_REQUEST__INIT;
  char *fetches[] = {(char *)(uintptr_t)fetch};
  fields.session_handle = (char *)(uintptr_t)session;
  fields.fetch = fetches;
  fields.n_fetch = 1;
  fields.request_id = id;
  RHEOS_TRY(
      ask_fields(a, RHEOS__RUN_STEP, &fields.base, &tensorflow__run_step_response__descriptor));
  assert_int_equal(a->reply.num_tensors, 1);
  *out_value = *(const float *)rheos_tensor_data(a->reply.tensors[0]);
  return NULL;
}

static void test_requests__a_step_is_run_once(void **state) {
  fixture *f = *state;
  caller a;
  float value;
  set_up_caller(&a);
  build_counter(f);
  char *session = create_session(&a, f);
  check(run_step(&a, session, "Assign:0", 77, &value));
  check(run_step(&a, session, "AssignAdd:0", 78, &value));
  expect_error(run_step(&a, session, "AssignAdd:0", 78, &value), RHEOS_ABORTED,
               "The same RunStep request was received twice. request_id: 78");
  check(run_step(&a, session, "AssignAdd:0", 0, &value));  // of a client that counts none
  check(run_step(&a, session, "AssignAdd:0", 0, &value));
  assert_float_equal(value, 3, 0);
  free(session);
  tear_down_caller(&a);
}

static rheos_status *close_session(caller *a, char *session) {
  Tensorflow__CloseSessionRequest fields = TENSORFLOW__CLOSE_SESSION_REQUEST__INIT;
  fields.session_handle = session;
  return ask_fields(a, RHEOS__CLOSE_SESSION, &fields.base,
                    &tensorflow__close_session_response__descriptor);
}

static void test_requests__a_closed_session_stays_closed(void **state) {
  fixture *f = *state;
  caller a;
  float value;
  set_up_caller(&a);
  build_counter(f);
  char *session = create_session(&a, f), *other = create_session(&a, f);
  check(run_step(&a, session, "Assign:0", 1, &value));
  check(close_session(&a, session));
  expect_error(close_session(&a, session), RHEOS_ABORTED, session);
  expect_error(run_step(&a, session, "AssignAdd:0", 2, &value), RHEOS_ABORTED, session);
  check(run_step(&a, other, "AssignAdd:0", 3, &value));
  assert_float_equal(value, 1, 0);
  free(session);
  free(other);
  tear_down_caller(&a);
}

// ---- A worker's

static rheos_status *create_worker_session(caller *a, char *session, char *master,
                                           int64_t incarnation) {
  Tensorflow__CreateWorkerSessionRequest fields = TENSORFLOW__CREATE_WORKER_SESSION_REQUEST__INIT;
  fields.session_handle = session;
  fields.master_task = master;
  fields.master_incarnation = incarnation;
  return ask_fields(a, RHEOS__CREATE_WORKER_SESSION, &fields.base,
                    &tensorflow__create_worker_session_response__descriptor);
}

// For a session; NULL: for none.
static char *register_graph(caller *a, fixture *f, char *session) {
  Tensorflow__RegisterGraphRequest fields = TENSORFLOW__REGISTER_GRAPH_REQUEST__INIT;
  rheos__message request = {0};
  if (session != NULL) fields.session_handle = session;
  fields.create_worker_session_called = session != NULL;
  rheos__message_put(&request, &fields.base);
  put_graph(f, &request, 2);
  check(ask(a, RHEOS__REGISTER_GRAPH, &request, &tensorflow__register_graph_response__descriptor));
  const Tensorflow__RegisterGraphResponse *r = (const void *)a->reply.message;
  return strdup(r->graph_handle);
}

static rheos_status *run_graph(caller *a, char *graph, int64_t step, int64_t id) {
  Tensorflow__RunGraphRequest fields = TENSORFLOW__RUN_GRAPH_REQUEST__INIT;
  fields.graph_handle = graph;
  fields.step_id = step;
  fields.request_id = id;
  return ask_fields(a, RHEOS__RUN_GRAPH, &fields.base, &tensorflow__run_graph_response__descriptor);
}

static rheos_status *clean_up(caller *a, int64_t step) {
  Tensorflow__CleanupGraphRequest fields = TENSORFLOW__CLEANUP_GRAPH_REQUEST__INIT;
  fields.step_id = step;
  return ask_fields(a, RHEOS__CLEANUP_GRAPH, &fields.base,
                    &tensorflow__cleanup_graph_response__descriptor);
}

static rheos_status *receive(caller *a, int64_t step, int64_t id) {
  Tensorflow__RecvTensorRequest fields = TENSORFLOW__RECV_TENSOR_REQUEST__INIT;
  char key[256];
  Tensorflow__GetStatusRequest nothing = TENSORFLOW__GET_STATUS_REQUEST__INIT;
  check(ask_fields(a, RHEOS__GET_STATUS, &nothing.base,
                   &tensorflow__get_status_response__descriptor));
  const Tensorflow__GetStatusResponse *r = (const void *)a->reply.message;
  snprintf(key, sizeof key, "%s;%016llx;%s;edge_1_v;0:0", r->device_attributes[0]->name,
           (unsigned long long)r->device_attributes[0]->incarnation, "/job:worker/task:0/cpu:0");
  fields.step_id = step;
  fields.request_id = id;
  fields.rendezvous_key = key;
  return ask_fields(a, RHEOS__RECV_TENSOR, &fields.base,
                    &tensorflow__recv_tensor_response__descriptor);
}

static void test_requests__a_part_is_run_once(void **state) {
  fixture *f = *state, *part;
  caller a;
  float value;
  set_up_caller(&a);
  build_counter(f);
  set_up((void **)&part);
  build_addition(part, build_variable(part));
  char *session = create_session(&a, f), *graph = register_graph(&a, part, NULL);
  check(run_step(&a, session, "Assign:0", 1, &value));
  check(run_graph(&a, graph, 1000, 5));
  expect_error(run_graph(&a, graph, 1000, 5), RHEOS_ABORTED, "The same RunGraph request");
  check(clean_up(&a, 1000));
  check(clean_up(&a, 1000));
  expect_error(run_graph(&a, graph, 1000, 6), RHEOS_ABORTED, "step 1000 is over");
  check(clean_up(&a, 1001));  // before its step
  expect_error(run_graph(&a, graph, 1001, 7), RHEOS_ABORTED, "step 1001 is over");
  expect_error(receive(&a, 1000, 8), RHEOS_ABORTED, "step 1000 is over");
  check(run_step(&a, session, "VariableV2:0", 9, &value));
  assert_float_equal(value, 1, 0);
  free(graph);
  free(session);
  tear_down((void **)&part);
  tear_down_caller(&a);
}

static void test_requests__a_master_that_was_started_anew_leaves_nothing(void **state) {
  fixture *f = *state;
  caller a;
  set_up_caller(&a);
  add(f, "NoOp", NULL, 0, NULL, 0);
  check(rheos_scope_finish(f->scope));
  static char one[] = "/job:worker/replica:0/task:1", two[] = "/job:worker/replica:0/task:2";
  char *names[] = {"1", "2", "3", "4"}, *graphs[4];
  check(create_worker_session(&a, names[0], one, 11));
  check(create_worker_session(&a, names[1], one, 11));
  check(create_worker_session(&a, names[2], two, 12));
  check(create_worker_session(&a, names[3], "", 0));  // TensorFlow 1's do not tell
  for (int i = 0; i < 4; i++) graphs[i] = register_graph(&a, f, names[i]);
  for (int i = 0; i < 4; i++) check(run_graph(&a, graphs[i], 10 + i, 20 + i));
  expect_error(create_worker_session(&a, names[1], one, 11), RHEOS_ALREADY_EXISTS, "session 2");
  assert_int_equal(rheos__worker_count(&a.c.servers[0]->worker).steps, 4);
  check(create_worker_session(&a, names[0], one, 13));
  assert_int_equal(rheos__worker_count(&a.c.servers[0]->worker).steps, 2);  // nobody cleaned up
  for (int i = 0; i < 4; i++) {
    rheos_status *status = run_graph(&a, graphs[i], 30 + i, 40 + i);
    if (i >= 2) check(status);
    if (i < 2) expect_error(status, RHEOS_ABORTED, graphs[i]);
    free(graphs[i]);
  }
  tear_down_caller(&a);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_requests__a_step_is_run_once),
      TEST(test_requests__a_closed_session_stays_closed),
      TEST(test_requests__a_part_is_run_once),
      TEST(test_requests__a_master_that_was_started_anew_leaves_nothing),
  };
  if (!can_serve()) return 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
