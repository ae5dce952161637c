// Sends and receives: of a step by itself, and of two that are parts of one.
#include <stdio.h>

#include "base/fingerprint.h"
#include "ops/array_fixture.h"
#include "runtime/parts.h"

// ---- Nodes

#define DEVICE "/job:worker/replica:0/task:%d/device:CPU:0"

typedef struct ends {
  rheos_attr attrs[5];
  char from[64], to[64];
} ends;

static void set_ends(ends *e, rheos_attr dtype, int from, int to, const char *name) {
  snprintf(e->from, sizeof e->from, DEVICE, from);
  snprintf(e->to, sizeof e->to, DEVICE, to);
  e->attrs[0] = dtype;
  e->attrs[1] = rheos_attr_string("tensor_name", name, strlen(name));
  e->attrs[2] = rheos_attr_string("send_device", e->from, strlen(e->from));
  e->attrs[3] = rheos_attr_int("send_device_incarnation", 1);
  e->attrs[4] = rheos_attr_string("recv_device", e->to, strlen(e->to));
}

// What task `from` sends to the other one.
static rheos_operation send(fixture *f, int from, const char *name, rheos_output value) {
  ends e;
  set_ends(&e, rheos_attr_type("T", rheos_output_dtype(value)), from, 1 - from, name);
  return rheos_op(f->scope, &(rheos_op_args){.type = "_Send",
                                             .name = "send",
                                             .inputs = &value,
                                             .num_inputs = 1,
                                             .attrs = e.attrs,
                                             .num_attrs = 5});
}

static rheos_output receive(fixture *f, int from, const char *name, rheos_dtype dtype) {
  ends e;
  set_ends(&e, rheos_attr_type("tensor_type", dtype), from, 1 - from, name);
  const rheos_op_args args = {.type = "_Recv", .name = "receive", .attrs = e.attrs, .num_attrs = 5};
  return rheos_operation_output(rheos_op(f->scope, &args), 0);
}

static rheos_output twice_and_one(fixture *f, rheos_output x) {
  return rheos_add(f->scope, rheos_mul(f->scope, x, float_scalar(f, 2)), float_scalar(f, 1));
}

// ---- Two tasks

typedef struct tasks {
  fixture f[2];
  rheos_host *hosts[2];
  part_run parts[2];
  rheos__rendezvous *rendezvous;
} tasks;

static int set_up_tasks(void **state) {
  tasks *t = calloc(1, sizeof *t);
  assert_non_null(t);
  for (int i = 0; i < 2; i++) {
    const rheos_host_options options = {.num_threads = 1, .job = "worker", .task = i};
    check(rheos_host_new(&options, &t->hosts[i]));
    t->f[i].graph = rheos_graph_new();
    t->f[i].scope = rheos_scope_new(t->f[i].graph);
    const rheos_session_options session = {.host = t->hosts[i]};
    check(rheos_session_new(t->f[i].graph, &session, &t->f[i].session));
  }
  t->rendezvous = rheos__rendezvous_new(NULL);
  *state = t;
  return 0;
}

static int tear_down_tasks(void **state) {
  tasks *t = *state;
  for (int i = 0; i < 2; i++) {
    rheos_callable_free(t->parts[i].callable);
    rheos_session_free(t->f[i].session);
    rheos_scope_free(t->f[i].scope);
    rheos_graph_unref(t->f[i].graph);
    rheos_host_unref(t->hosts[i]);
  }
  rheos__rendezvous_unref(t->rendezvous);
  free(t);
  return 0;
}

static void ask(tasks *t, int task, const rheos_output *fetches, size_t num_fetches,
                const rheos_operation *targets, size_t num_targets) {
  check(rheos_scope_finish(t->f[task].scope));
  check(rheos_callable_new(t->f[task].session, NULL, 0, fetches, num_fetches, targets, num_targets,
                           &t->parts[task].callable));
}

static void run_both(tasks *t) {
  run_parts(t->parts, 2, t->rendezvous);
  for (int i = 0; i < 2; i++) check(t->parts[i].status);
}

static float result(tasks *t, int task, int index) {
  rheos_tensor **value = &t->parts[task].results[index];
  const float number = *(const float *)rheos_tensor_data(*value);
  rheos_tensor_unref(*value);
  *value = NULL;
  return number;
}

// ---- A step by itself

static void test_sends__meet_receives_of_the_same_step(void **state) {
  fixture *f = *state;
  const rheos_operation sent = send(f, 0, "x", float_scalar(f, 5));
  const rheos_output got = twice_and_one(f, receive(f, 0, "x", RHEOS_FLOAT));
  for (int i = 0; i < 3; i++) {
    rheos_fetch fetch = {got, NULL};
    check(rheos_scope_finish(f->scope));
    check(rheos_session_run(f->session, NULL, 0, &fetch, 1, &sent, 1, NULL));
    assert_true(*(const float *)rheos_tensor_data(fetch.value) == 11);
    rheos_tensor_unref(fetch.value);
  }
}

static void test_sends__a_deadline_says_what_did_not_come(void **state) {
  fixture *f = *state;
  rheos_fetch fetch = {receive(f, 1, "never_sent", RHEOS_FLOAT), NULL};
  const rheos_run_options options = {.timeout_ms = 30};
  check(rheos_scope_finish(f->scope));
  expect_error(rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, &options),
               RHEOS_DEADLINE_EXCEEDED,
               "for a value of rendezvous '/job:worker/replica:0/task:1/device:CPU:0;"
               "0000000000000001;/job:worker/replica:0/task:0/device:CPU:0;never_sent;0:0'");
}

// ---- Steps of two parts

static void test_sends__go_both_ways_in_one_step(void **state) {
  tasks *t = *state;
  fixture *a = &t->f[0], *b = &t->f[1];
  const rheos_operation first = send(a, 0, "x", float_scalar(a, 3));
  const rheos_output x = twice_and_one(b, receive(b, 0, "x", RHEOS_FLOAT));
  const rheos_operation back = send(b, 1, "y", x);
  const rheos_output y = twice_and_one(a, receive(a, 1, "y", RHEOS_FLOAT));
  ask(t, 0, &y, 1, &first, 1);
  ask(t, 1, &x, 1, &back, 1);
  for (int i = 0; i < 20; i++) {
    run_both(t);
    assert_true(result(t, 0, 0) == 15 && result(t, 1, 0) == 7);
  }
  assert_int_equal(rheos__rendezvous_num_keys(t->rendezvous), 0);
}

// Either side of a Switch comes to a Merge of the other task, with a dead value for the side not
// taken.
static void test_sends__of_a_dead_value_make_what_takes_it_dead(void **state) {
  tasks *t = *state;
  fixture *a = &t->f[0], *b = &t->f[1];
  const rheos_output pred = rheos_placeholder(a->scope, RHEOS_BOOL);
  const rheos_operation sides =
      add(a, "Switch", (const rheos_output[]){float_scalar(a, 3), pred}, 2, NULL, 0);
  rheos_operation sends[3];
  sends[0] = send(a, 0, "no", rheos_operation_output(sides, 0));
  sends[1] = send(a, 0, "yes", twice_and_one(a, rheos_operation_output(sides, 1)));
  const rheos_output no = twice_and_one(b, twice_and_one(b, receive(b, 0, "no", RHEOS_FLOAT)));
  const rheos_output yes = twice_and_one(b, receive(b, 0, "yes", RHEOS_FLOAT));
  const rheos_output both[] = {no, yes};
  const rheos_output merged = rheos_operation_output(add(b, "Merge", both, 2, NULL, 0), 0);
  check(rheos_scope_finish(a->scope));
  check(rheos_callable_new(a->session, &pred, 1, NULL, 0, sends, 2, &t->parts[0].callable));
  ask(t, 1, &merged, 1, NULL, 0);
  for (int i = 0; i < 4; i++) {
    const bool taken = i % 2 == 1;
    rheos_tensor *value = NULL;
    check(rheos_tensor_from_values(RHEOS_BOOL, RHEOS_SCALAR, &taken, &value));
    t->parts[0].values = &value;
    run_both(t);
    rheos_tensor_unref(value);
    assert_true(result(t, 1, 0) == 15);
  }
  assert_int_equal(rheos__rendezvous_num_keys(t->rendezvous), 0);
}

// ---- A source

enum { NUM_ASKED = 8 };

// Sends, once all are asked for, to each its number.
typedef struct asked {
  char *keys[NUM_ASKED];
  int count;
  int count_at_send;  // when the part sent what it has without any of them
  float sum;          // that it sent last
} asked;

static void answer_all(asked *a, rheos__rendezvous *rendezvous) {
  for (int i = 0; i < NUM_ASKED; i++) {
    const float number = strstr(a->keys[i], ";x")[2] - '0';
    rheos_tensor *value = NULL;
    check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &number, &value));
    check(rheos__rendezvous_send(rendezvous, a->keys[i], value));
    rheos_tensor_unref(value);
    free(a->keys[i]);
  }
}

static void want(void *argument, rheos__rendezvous *rendezvous, const char *key) {
  asked *a = argument;
  if (strstr(key, ";x") == NULL) return;  // what the part sends itself
  assert_true(a->count < NUM_ASKED);
  a->keys[a->count++] = strdup(key);
  if (a->count == NUM_ASKED) answer_all(a, rendezvous);
}

static void note_own(void *argument, rheos_status *failed, rheos_tensor *value) {
  asked *a = argument;
  check(failed);
  a->count_at_send = a->count;
  rheos_tensor_unref(value);
}

static void note_sum(void *argument, rheos_status *failed, rheos_tensor *value) {
  asked *a = argument;
  check(failed);
  a->sum = *(const float *)rheos_tensor_data(value);
  rheos_tensor_unref(value);
}

static void listen_to(rheos__rendezvous *rendezvous, const char *name, rheos__received_fn received,
                      asked *a) {
  ends e;
  set_ends(&e, rheos_attr_type("T", RHEOS_FLOAT), 0, 1, name);
  char *key = rheos__rendezvous_key(e.from, 1, e.to, name, 0, 0);
  check(rheos__rendezvous_receive_for(rendezvous, key, received, a));
  rheos_free(key);
}

// Every value is taken by a stretch of its own, and the next one is added to what that gives.
static rheos_output sum_of_received(fixture *f) {
  rheos_output sum = float_scalar(f, 0);
  for (int i = 0; i < NUM_ASKED; i++) {
    const char name[] = {'x', (char)('0' + i), '\0'};
    sum = rheos_add(f->scope, sum, twice_and_one(f, receive(f, 1, name, RHEOS_FLOAT)));
  }
  return sum;
}

// What is fed is computed and sent first of all, in the order in which it is asked for.
static void test_sends__a_part_asks_first_for_all_that_it_receives(void **state) {
  tasks *t = *state;
  fixture *f = &t->f[0];
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_operation own = send(f, 0, "own", twice_and_one(f, x));
  const rheos_operation targets[] = {own, send(f, 0, "sum", sum_of_received(f))};
  check(rheos_scope_finish(f->scope));
  check(rheos_callable_new(f->session, &x, 1, NULL, 0, targets, 2, &t->parts[0].callable));
  asked a = {.count = 0};
  const rheos__rendezvous_source source = {.want = want, .argument = &a};
  rheos__rendezvous *rendezvous = rheos__rendezvous_new(&source);
  const rheos_run_options options = {.timeout_ms = 20000};
  const float fed = 1;
  rheos_tensor *value = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &fed, &value));
  t->parts[0].values = &value;
  t->parts[0].options = &options;
  for (int i = 0; i < 3; i++) {
    a = (asked){.count_at_send = -1};
    listen_to(rendezvous, "own", note_own, &a);
    listen_to(rendezvous, "sum", note_sum, &a);
    run_parts(t->parts, 1, rendezvous);
    check(t->parts[0].status);
    assert_true(a.sum == 2 * 28 + 8);
    assert_int_equal(a.count_at_send, NUM_ASKED);
  }
  rheos_tensor_unref(value);
  assert_int_equal(rheos__rendezvous_num_keys(rendezvous), 0);
  rheos__rendezvous_unref(rendezvous);
}

// ---- Failures

static void expect_both(tasks *t, rheos_code code, const char *part) {
  run_parts(t->parts, 2, t->rendezvous);
  for (int i = 0; i < 2; i++) expect_error(t->parts[i].status, code, part);
}

static void test_sends__the_other_part_ends_with_the_error_of_one(void **state) {
  tasks *t = *state;
  fixture *a = &t->f[0], *b = &t->f[1];
  const rheos_output no_number = float_scalar(a, NAN);
  const rheos_attr message = rheos_attr_string("message", "not finite", 10);
  const rheos_operation checked = add(a, "CheckNumerics", &no_number, 1, &message, 1);
  const rheos_operation sent = send(a, 0, "x", rheos_operation_output(checked, 0));
  const rheos_output got = receive(b, 0, "x", RHEOS_FLOAT);
  ask(t, 0, NULL, 0, &sent, 1);
  ask(t, 1, &got, 1, NULL, 0);
  expect_both(t, RHEOS_INVALID_ARGUMENT, "not finite : Tensor had NaN values");
}

static void test_sends__both_end_by_the_deadline_of_one(void **state) {
  tasks *t = *state;
  const rheos_output a = receive(&t->f[0], 1, "x", RHEOS_FLOAT);
  const rheos_output b = receive(&t->f[1], 0, "y", RHEOS_FLOAT);
  const rheos_run_options options = {.timeout_ms = 50};
  ask(t, 0, &a, 1, NULL, 0);
  ask(t, 1, &b, 1, NULL, 0);
  t->parts[0].options = &options;
  expect_both(t, RHEOS_DEADLINE_EXCEEDED, "for a value of rendezvous");
}

static void test_sends__both_end_where_one_is_cancelled(void **state) {
  tasks *t = *state;
  const rheos_output a = receive(&t->f[0], 1, "x", RHEOS_FLOAT);
  const rheos_output b = receive(&t->f[1], 0, "y", RHEOS_FLOAT);
  ask(t, 0, &a, 1, NULL, 0);
  ask(t, 1, &b, 1, NULL, 0);
  rheos_cancellation *cancellation = rheos_cancellation_new();
  const rheos_run_options options = {.cancellation = cancellation};
  t->parts[1].options = &options;
  for (int i = 0; i < 2; i++) {
    t->parts[i].rendezvous = t->rendezvous;
    pthread_create(&t->parts[i].thread, NULL, run_part, &t->parts[i]);
  }
  char *text = NULL;
  do {
    rheos_free(text);
    check(rheos_session_waiting(t->f[0].session, &text));
  } while (text[0] == '\0');
  assert_non_null(strstr(text, "for a value of rendezvous '/job:worker/replica:0/task:1"));
  rheos_free(text);
  rheos_cancel(cancellation);
  for (int i = 0; i < 2; i++) {
    pthread_join(t->parts[i].thread, NULL);
    expect_error(t->parts[i].status, RHEOS_CANCELLED, "");
  }
  rheos_cancellation_free(cancellation);
}

// ---- Frames of loops

static rheos_output enter(fixture *f, rheos_output value, const char *frame) {
  const rheos_attr attrs[] = {rheos_attr_string("frame_name", frame, strlen(frame))};
  return rheos_operation_output(
      rheos_op(
          f->scope,
          &(rheos_op_args){
              .type = "Enter", .inputs = &value, .num_inputs = 1, .attrs = attrs, .num_attrs = 1}),
      0);
}

static void take_in_frame(rheos__rendezvous *rendezvous, const char *frame, asked *a) {
  ends e;
  set_ends(&e, rheos_attr_type("T", RHEOS_FLOAT), 0, 1, "x");
  const uint64_t number = rheos__murmur_hash(frame, strlen(frame));
  char *key = rheos__rendezvous_key(e.from, 1, e.to, "x", number, 0);
  check(rheos__rendezvous_receive_for(rendezvous, key, note_sum, a));
  rheos_free(key);
}

// TensorFlow 1's workers number them so.
static void test_sends__frames_may_be_numbered_by_their_whole_names(void **state) {
  tasks *t = *state;
  fixture *f = &t->f[0];
  const rheos_output inner = enter(f, enter(f, float_scalar(f, 7), "outer"), "inner");
  const rheos_operation sent = send(f, 0, "x", inner);
  ask(t, 0, NULL, 0, &sent, 1);
  asked a = {.sum = 0};
  rheos__rendezvous_name_frames(t->rendezvous);
  assert_true(rheos__rendezvous_names_frames(t->rendezvous));
  take_in_frame(t->rendezvous, ";0;outer;0;inner", &a);
  run_parts(t->parts, 1, t->rendezvous);
  check(t->parts[0].status);
  assert_true(a.sum == 7);
}

int main(void) {
#define TASKS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_tasks, tear_down_tasks)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_sends__meet_receives_of_the_same_step, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_sends__a_deadline_says_what_did_not_come, set_up,
                                      tear_down),
      TASKS_TEST(test_sends__go_both_ways_in_one_step),
      TASKS_TEST(test_sends__of_a_dead_value_make_what_takes_it_dead),
      TASKS_TEST(test_sends__a_part_asks_first_for_all_that_it_receives),
      TASKS_TEST(test_sends__the_other_part_ends_with_the_error_of_one),
      TASKS_TEST(test_sends__both_end_by_the_deadline_of_one),
      TASKS_TEST(test_sends__both_end_where_one_is_cancelled),
      TASKS_TEST(test_sends__frames_may_be_numbered_by_their_whole_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
