// Which memory values lie in where a device has one of its own: variables where they were written
// last, and what a training step copies. The device counts copies.
#include "device/private_fixture.h"

enum { BATCH = 4, SIDE = 12, CLASSES = 10, STEPS = 5 };

static rheos_session *session_on(const fixture *f, rheos_graph *graph) {
  rheos_session *session = NULL;
  check(rheos_session_new(graph, &(rheos_session_options){.host = f->host}, &session));
  return session;
}

static void assert_same(const rheos_tensor *a, const rheos_tensor *b) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)));
  assert_memory_equal(rheos_tensor_data(a), rheos_tensor_data(b), rheos_tensor_size_bytes(a));
}

// ---- LeNet

typedef struct lenet {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output images, labels, loss, filter;
  rheos_operation train, init;
} lenet;

static rheos_output weights(rheos_scope *s, const char *name, rheos_shape shape) {
  return rheos_get_variable(s, name, RHEOS_FLOAT, shape, rheos_constant_initializer(0.03125));
}

static rheos_output conv_layer(rheos_scope *s, rheos_output x, const char *filter, const char *bias,
                               int64_t in, int64_t out) {
  static const int64_t ones[] = {1, 1, 1, 1}, twos[] = {1, 2, 2, 1};
  rheos_output w = weights(s, filter, RHEOS_SHAPE(3, 3, in, out));
  rheos_output b = weights(s, bias, RHEOS_SHAPE(out));
  rheos_output y = rheos_conv2d(s, x, w, ones, 4, "SAME");
  y = rheos_relu(s, rheos_bias_add(s, y, b));
  return rheos_max_pool(s, y, twos, 4, twos, 4, "VALID");
}

static rheos_output dense_layer(rheos_scope *s, rheos_output x, const char *matrix,
                                const char *bias, int64_t in, int64_t out) {
  rheos_output w = weights(s, matrix, RHEOS_SHAPE(in, out));
  rheos_output b = weights(s, bias, RHEOS_SHAPE(out));
  return rheos_bias_add(s, rheos_matmul(s, x, w), b);
}

static rheos_output vector(rheos_scope *s, const int32_t *values, int64_t count) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(count), values, &tensor));
  rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

// All of it on the device; NULL: on none.
static void build_lenet(lenet *m, const char *device, bool uses_resources,
                        rheos_optimizer optimizer) {
  m->graph = rheos_graph_new();
  m->s = rheos_scope_new(m->graph);
  rheos_scope *s = m->s;
  if (uses_resources) rheos_graph_use_resource_variables(m->graph, true);
  if (device != NULL) rheos_push_device(s, device);
  m->images = rheos_placeholder(s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(-1, SIDE, SIDE, 1));
  m->labels = rheos_placeholder(s, RHEOS_INT32, .shape = &RHEOS_SHAPE(-1));
  rheos_output x = conv_layer(s, m->images, "f1", "c1", 1, 4);
  x = conv_layer(s, x, "f2", "c2", 4, 8);
  const int64_t flat = SIDE / 4 * SIDE / 4 * 8;
  x = rheos_reshape(s, x, vector(s, (const int32_t[]){-1, (int32_t)flat}, 2));
  x = rheos_relu(s, dense_layer(s, x, "w1", "b1", flat, 16));
  x = dense_layer(s, x, "w2", "b2", 16, CLASSES);
  rheos_output each = rheos_sparse_softmax_cross_entropy_with_logits(s, x, m->labels).loss;
  m->loss = rheos_mean(s, each, vector(s, (const int32_t[]){0}, 1));
  m->train = rheos_minimize(s, optimizer, m->loss);
  m->init = rheos_global_variables_initializer(s);
  if (device != NULL) rheos_scope_pop(s);
  m->filter = rheos_graph_variable(m->graph, 0).value;
  check(rheos_scope_finish(s));
}

static void free_lenet(lenet *m) {
  rheos_scope_free(m->s);
  rheos_graph_unref(m->graph);
}

static rheos_tensor *images(int step) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(BATCH, SIDE, SIDE, 1), &tensor));
  float *data = rheos_tensor_data(tensor);
  for (int i = 0; i < BATCH * SIDE * SIDE; ++i) data[i] = (float)((i * 31 + step) % 17 - 8) / 8;
  return tensor;
}

static rheos_tensor *labels(int step) {
  int32_t values[BATCH];
  for (int i = 0; i < BATCH; ++i) values[i] = (i + step) % CLASSES;
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(BATCH), values, &tensor));
  return tensor;
}

static rheos_tensor *step_of(const lenet *m, rheos_session *session, int step) {
  rheos_feed feeds[] = {{m->images, images(step)}, {m->labels, labels(step)}};
  rheos_fetch fetch = {m->loss, NULL};
  check(rheos_session_run(session, feeds, 2, &fetch, 1, &m->train, 1, NULL));
  for (int i = 0; i < 2; ++i) rheos_tensor_unref(feeds[i].value);
  return fetch.value;
}

static rheos_tensor *filter_of(const lenet *m, rheos_session *session) {
  rheos_fetch fetch = {m->filter, NULL};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  return fetch.value;
}

// What the same steps give on the CPU, they give on the device, where a step copies two feeds to
// it, and the loss back.
static void check_lenet(const fixture *f, bool uses_resources, rheos_optimizer optimizer) {
  lenet here, there;
  build_lenet(&here, NULL, uses_resources, optimizer);
  build_lenet(&there, "/device:TEST:0", uses_resources, optimizer);
  rheos_session *on_cpu = session_on(f, here.graph), *on_device = session_on(f, there.graph);
  check(rheos_session_run(on_cpu, NULL, 0, NULL, 0, &here.init, 1, NULL));
  check(rheos_session_run(on_device, NULL, 0, NULL, 0, &there.init, 1, NULL));
  private_device_counts before = {0};
  for (int step = 0; step < STEPS; ++step) {
    if (step == 1) before = private_device_count(&f->device);  // constants are there
    rheos_tensor *expected = step_of(&here, on_cpu, step), *loss = step_of(&there, on_device, step);
    assert_same(loss, expected);
    rheos_tensor_unref(expected);
    rheos_tensor_unref(loss);
  }
  const private_device_counts after = private_device_count(&f->device);
  assert_int_equal(after.num_from_host - before.num_from_host, 2 * (STEPS - 1));
  assert_int_equal(after.num_to_host - before.num_to_host, STEPS - 1);
  assert_int_equal(after.num_within, before.num_within);
  rheos_tensor *expected = filter_of(&here, on_cpu), *filter = filter_of(&there, on_device);
  assert_same(filter, expected);
  assert_string_equal(rheos_tensor_device(filter), "");
  rheos_tensor_unref(expected);
  rheos_tensor_unref(filter);
  rheos_session_free(on_cpu);
  rheos_session_free(on_device);
  free_lenet(&here);
  free_lenet(&there);
}

static void test_device_memory__a_step_copies_feeds_and_fetches(void **state) {
  check_lenet(*state, false, rheos_gradient_descent(0.125));
}

static void test_device_memory__momentum_stays_on_the_device(void **state) {
  check_lenet(*state, false, rheos_momentum(0.125, 0.5));
}

static void test_device_memory__resource_variables_too(void **state) {
  check_lenet(*state, true, rheos_momentum(0.125, 0.5));
}

// ---- Variables between memories

typedef struct counter {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_session *session;
  rheos_output value, there;     // the variable; its double, computed on the device
  rheos_operation init, add[2];  // on the CPU, on the device
} counter;

static void build_counter(const fixture *f, counter *c) {
  c->graph = rheos_graph_new();
  c->s = rheos_scope_new(c->graph);
  rheos_variable v =
      rheos_get_variable_record(c->s, "v", RHEOS_FLOAT, RHEOS_SHAPE(3), rheos_ones(), true);
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(3), (const float[]){1, 2, 4}, &tensor));
  for (int i = 0; i < 2; ++i) {
    rheos_push_device(c->s, i == 0 ? "/cpu:0" : "/device:TEST:0");
    rheos_output amount = rheos_constant(c->s, tensor, NULL);
    c->add[i] = rheos_output_operation(rheos_assign_add(c->s, v.handle, amount));
    if (i == 1) c->there = rheos_add(c->s, v.value, v.value);
    rheos_scope_pop(c->s);
  }
  rheos_tensor_unref(tensor);
  c->value = v.value;
  c->init = rheos_global_variables_initializer(c->s);
  check(rheos_scope_finish(c->s));
  c->session = session_on(f, c->graph);
  check(rheos_session_run(c->session, NULL, 0, NULL, 0, &c->init, 1, NULL));
}

static void free_counter(counter *c) {
  rheos_session_free(c->session);
  rheos_scope_free(c->s);
  rheos_graph_unref(c->graph);
}

static void add(const counter *c, int where) {
  check(rheos_session_run(c->session, NULL, 0, NULL, 0, &c->add[where], 1, NULL));
}

static void expect_numbers(const counter *c, rheos_output output, float first, float last) {
  rheos_fetch fetch = {output, NULL};
  check(rheos_session_run(c->session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const float *data = rheos_tensor_data(fetch.value);
  assert_true(data[0] == first && data[2] == last);
  rheos_tensor_unref(fetch.value);
}

static void test_device_memory__writers_take_turns(void **state) {
  const fixture *f = *state;
  counter c;
  build_counter(f, &c);
  add(&c, 1);
  expect_numbers(&c, c.value, 2, 5);
  add(&c, 0);
  expect_numbers(&c, c.there, 6, 18);
  add(&c, 1);
  expect_numbers(&c, c.there, 8, 26);
  expect_numbers(&c, c.value, 4, 13);
  free_counter(&c);
}

// A variable that the CPU wrote is copied to who reads it on the device once, until it changes.
static void test_device_memory__what_is_only_read_is_copied_once(void **state) {
  const fixture *f = *state;
  counter c;
  build_counter(f, &c);
  add(&c, 0);
  expect_numbers(&c, c.there, 4, 10);
  private_device_counts before = private_device_count(&f->device);
  for (int step = 0; step < STEPS; ++step) expect_numbers(&c, c.there, 4, 10);
  private_device_counts after = private_device_count(&f->device);
  assert_int_equal(after.num_from_host, before.num_from_host);
  add(&c, 0);
  expect_numbers(&c, c.there, 6, 18);
  after = private_device_count(&f->device);
  assert_int_equal(after.num_from_host, before.num_from_host + 1);
  free_counter(&c);
}

// A value that was fetched does not change when the device changes the variable.
static void test_device_memory__fetched_values_are_snapshots(void **state) {
  const fixture *f = *state;
  counter c;
  build_counter(f, &c);
  add(&c, 1);
  rheos_fetch fetch = {c.value, NULL};
  check(rheos_session_run(c.session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  add(&c, 1);
  assert_true(((const float *)rheos_tensor_data(fetch.value))[2] == 5);
  assert_string_equal(rheos_tensor_device(fetch.value), "");
  rheos_tensor_unref(fetch.value);
  free_counter(&c);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_device_memory__a_step_copies_feeds_and_fetches),
      TEST(test_device_memory__momentum_stays_on_the_device),
      TEST(test_device_memory__resource_variables_too),
      TEST(test_device_memory__writers_take_turns),
      TEST(test_device_memory__what_is_only_read_is_copied_once),
      TEST(test_device_memory__fetched_values_are_snapshots),
  };
  return cmocka_run_group_tests_name("device_memory", tests, NULL, NULL);
}
