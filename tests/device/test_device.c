// Devices with a memory of their own in a session: placement, copies, missing kernels.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/private_device.h"
#include "plan/show/show.h"
#include "runtime/step/host.h"
#include "runtime/session/session_plan.h"

enum { ROWS = 5, COLUMNS = 7, UNITS = 3, STEPS = 4 };

// A graph, and sessions on a host with one CPU, /device:TEST:0 and /device:TEST:1.
typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_host *host;
  rheos__device devices[2];
  rheos_session *session;
} fixture;

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->graph = rheos_graph_new();
  f->s = rheos_scope_new(f->graph);
  check(rheos_host_new(NULL, &f->host));
  for (int i = 0; i < 2; ++i) {
    check(private_device_init(&f->devices[i], i));
    check(rheos__host_add_device(f->host, &f->devices[i]));
  }
  check(rheos_session_new(f->graph, &(rheos_session_options){.host = f->host}, &f->session));
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  rheos_session_free(f->session);
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
  rheos_host_unref(f->host);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(private_device_count(&f->devices[i]).blocks_in_use, 0);
    private_device_deinit(&f->devices[i]);
  }
  free(f);
  return 0;
}

static private_device_counts count(const fixture *f) {
  return private_device_count(&f->devices[0]);
}

static rheos_tensor *numbers(int64_t rows, int64_t columns, int seed) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(rows, columns), &tensor));
  float *data = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rows * columns; ++i) data[i] = (float)((i * 37 + seed) % 64 - 31) / 16;
  return tensor;
}

static rheos_output constant(fixture *f, int64_t rows, int64_t columns, int seed,
                             const char *name) {
  rheos_tensor *tensor = numbers(rows, columns, seed);
  rheos_output output = rheos_constant(f->s, tensor, name);
  rheos_tensor_unref(tensor);
  return output;
}

static rheos_output placeholder(fixture *f) {
  return rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(ROWS, COLUMNS), .name = "x");
}

// What the session gives for `fetch` where `x` is fed.
static rheos_tensor *run(fixture *f, rheos_session *session, rheos_output x, rheos_output fetch) {
  check(rheos_scope_finish(f->s));
  rheos_feed feed = {x, numbers(ROWS, COLUMNS, 5)};
  rheos_fetch fetched = {fetch, NULL};
  check(rheos_session_run(session, &feed, 1, &fetched, 1, NULL, 0, NULL));
  rheos_tensor_unref(feed.value);
  return fetched.value;
}

static rheos_status *run_status(fixture *f, rheos_session *session, rheos_output x,
                                rheos_output fetch) {
  check(rheos_scope_finish(f->s));
  rheos_feed feed = {x, numbers(ROWS, COLUMNS, 5)};
  rheos_fetch fetched = {fetch, NULL};
  rheos_status *status = rheos_session_run(session, &feed, 1, &fetched, 1, NULL, 0, NULL);
  rheos_tensor_unref(feed.value);
  rheos_tensor_unref(fetched.value);
  return status;
}

static void assert_same(const rheos_tensor *a, const rheos_tensor *b) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)));
  assert_memory_equal(rheos_tensor_data(a), rheos_tensor_data(b), rheos_tensor_size_bytes(a));
}

// Fetches the same value as `expected`, computed on the CPU, twice.
static void assert_same_twice(fixture *f, rheos_output x, rheos_output fetch,
                              rheos_output expected) {
  rheos_tensor *on_cpu = run(f, f->session, x, expected);
  for (int i = 0; i < 2; ++i) {
    rheos_tensor *value = run(f, f->session, x, fetch);
    assert_same(value, on_cpu);
    rheos_tensor_unref(value);
  }
  rheos_tensor_unref(on_cpu);
}

static void expect(rheos_status *status, const char *part) {
  if (strstr(rheos_status_message(status), part) == NULL) {
    fail_msg("'%s' is not in '%s'", part, rheos_status_message(status));
  }
}

static rheos_session *soft_session(fixture *f) {
  rheos_session *session = NULL;
  check(rheos_session_new(
      f->graph, &(rheos_session_options){.host = f->host, .allow_soft_placement = true}, &session));
  return session;
}

// ---- Copies

static rheos_output layer(fixture *f, rheos_output x, const char *device) {
  if (device != NULL) rheos_push_device(f->s, device);
  rheos_output w = constant(f, COLUMNS, UNITS, 11, NULL);
  rheos_output y = rheos_relu(f->s, rheos_matmul(f->s, x, w));
  if (device != NULL) rheos_scope_pop(f->s);
  return y;
}

static void test_device__feeds_and_fetches_cross(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f);
  rheos_output there = layer(f, x, "/device:TEST:0"), here = layer(f, x, NULL);
  assert_same_twice(f, x, there, here);
  const private_device_counts counts = count(f);
  assert_int_equal(counts.num_kernels, 2);        // the product and what follows it are one
  assert_int_equal(counts.num_from_host, 1 + 2);  // the constant once, the feed in each step
  assert_int_equal(counts.num_to_host, 2);
  assert_int_equal(counts.num_synchronized, 2);
}

// One line for each entry but constants: name, op, inputs, and the device of what copies.
static rheos_status *print_line(void *argument, const rheos__shown *shown) {
  if (strcmp(shown->op, "Const") == 0) return NULL;
  fprintf(argument, "%s = %s(", shown->name, shown->op);
  for (int32_t i = 0; i < shown->num_inputs; ++i) {
    fprintf(argument, "%s%s", i > 0 ? ", " : "", shown->inputs[i]);
  }
  fprintf(argument, ")\n");
  return NULL;
}

static void test_device__consumers_share_a_copy(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f);
  rheos_push_device(f->s, "/device:TEST:0");
  rheos_output a = rheos_exp(f->s, x, .name = "a"), b = rheos_abs(f->s, x, .name = "b");
  rheos_output c = rheos_add(f->s, a, b, .name = "c");
  rheos_scope_pop(f->s);
  rheos_output d = rheos_mul(f->s, c, rheos_add(f->s, c, x, .name = "e"), .name = "d");
  check(rheos_scope_finish(f->s));
  const rheos_shape shape = RHEOS_SHAPE(ROWS, COLUMNS);
  rheos__plan *plan = NULL;
  const rheos__segment *segment = NULL;
  check(rheos__session_plan(f->session, &(rheos__step_ends){&x, 1, &d, 1, NULL, 0}, &shape, &plan,
                            &segment));
  rheos__plan_check(plan);
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  check(rheos__plan_show(plan, print_line, file));
  fclose(file);
  assert_string_equal(text,
                      "x/_copy_0 = Identity(x)\n"
                      "a = Exp(x/_copy_0)\n"
                      "b = Abs(x/_copy_0)\n"
                      "c = Add(a, b)\n"
                      "c/_copy_4 = Identity(c)\n"
                      "e = Add(c/_copy_4, x)\n"
                      "d = Mul(c/_copy_4, e)\n");
  free(text);
  assert_ptr_equal(segment->device, &f->devices[0]);
  assert_int_equal(segment->end_entry, 4);
  assert_int_equal(segment->num_instructions, 4);
  rheos__plan_free(plan);
}

static void test_device__values_pass_between_devices(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f), results[2];
  for (int i = 0; i < 2; ++i) {
    rheos_push_device(f->s, i == 0 ? "/device:TEST:0" : "/cpu:0");
    rheos_output a = rheos_exp(f->s, x);
    rheos_scope_pop(f->s);
    rheos_push_device(f->s, i == 0 ? "/device:TEST:1" : "/cpu:0");
    rheos_output b = rheos_mul(f->s, a, a);
    rheos_scope_pop(f->s);
    results[i] = rheos_sub(f->s, b, a);
  }
  assert_same_twice(f, x, results[0], results[1]);
  const private_device_counts second = private_device_count(&f->devices[1]);
  assert_int_equal(second.num_between, 2);
  assert_int_equal(second.num_from_host, 0);
  assert_int_equal(second.num_kernels, 2);
}

// Shapes that a step tells: Where's depends on values, and so does Tile's, whose multiples are fed.
static void test_device__shapes_may_come_late(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f), multiples = rheos_placeholder(f->s, RHEOS_INT32);
  rheos_fetch fetches[2];
  for (int i = 0; i < 2; ++i) {
    if (i == 0) rheos_push_device(f->s, "/device:TEST:0");
    rheos_output tiled = rheos_exp(f->s, rheos_tile(f->s, rheos_abs(f->s, x), multiples));
    rheos_output large = rheos_greater(f->s, tiled, rheos_constant_float(f->s, 2, NULL));
    if (i == 0) rheos_scope_pop(f->s);
    rheos_output places = rheos_where(f->s, large);
    if (i == 0) rheos_push_device(f->s, "/device:TEST:0");
    fetches[i] = (rheos_fetch){rheos_mul(f->s, places, places), NULL};
    if (i == 0) rheos_scope_pop(f->s);
  }
  check(rheos_scope_finish(f->s));
  for (int32_t step = 0; step < STEPS; ++step) {
    const int32_t numbers_of[] = {1 + step % 2, 2};
    rheos_feed feeds[] = {{x, numbers(ROWS, COLUMNS, step)}, {multiples, NULL}};
    check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2), numbers_of, &feeds[1].value));
    check(rheos_session_run(f->session, feeds, 2, fetches, 2, NULL, 0, NULL));
    assert_same(fetches[0].value, fetches[1].value);
    for (int i = 0; i < 2; ++i) {
      rheos_tensor_unref(fetches[i].value);
      rheos_tensor_unref(feeds[i].value);
    }
  }
  assert_true(count(f).num_kernels >= 3 * STEPS);
}

// Of what is dynamic the values that shapes depend on come to the host, and no others.
static void test_device__dynamic_entries_run_there(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f), multiples = rheos_placeholder(f->s, RHEOS_INT32);
  rheos_output y[2];
  for (int i = 0; i < 2; ++i) {
    if (i == 1) rheos_push_device(f->s, "/device:TEST:0");
    y[i] = rheos_exp(f->s, rheos_tile(f->s, rheos_abs(f->s, x), multiples));
    if (i == 1) rheos_scope_pop(f->s);
  }
  check(rheos_scope_finish(f->s));
  for (int32_t step = 0; step < STEPS; ++step) {
    const int32_t numbers_of[] = {1 + step % 2, 2};
    rheos_tensor *values[2] = {NULL, NULL};
    for (int i = 0; i < 2; ++i) {
      rheos_feed feeds[] = {{x, numbers(ROWS, COLUMNS, step)}, {multiples, NULL}};
      check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2), numbers_of, &feeds[1].value));
      rheos_fetch fetch = {y[i], NULL};
      check(rheos_session_run(f->session, feeds, 2, &fetch, 1, NULL, 0, NULL));
      values[i] = fetch.value;
      for (int k = 0; k < 2; ++k) rheos_tensor_unref(feeds[k].value);
    }
    assert_same(values[1], values[0]);
    for (int i = 0; i < 2; ++i) rheos_tensor_unref(values[i]);
  }
  const private_device_counts counts = count(f);
  assert_int_equal(counts.num_kernels, 3 * STEPS);
  assert_int_equal(counts.num_from_host, 2 * STEPS);
  assert_int_equal(counts.num_to_host, 2 * STEPS);  // the multiples, and what is fetched
}

// ---- A model

typedef struct model {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x, loss, weights;
  rheos_operation train, init;
} model;

// Two layers and their gradients, all but the variables on a device.
static void build_model(model *m, const char *device) {
  m->graph = rheos_graph_new();
  m->s = rheos_scope_new(m->graph);
  m->x = rheos_placeholder(m->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(-1, COLUMNS));
  const rheos_variable variables[] = {
      rheos_get_variable_record(m->s, "w", RHEOS_FLOAT, RHEOS_SHAPE(COLUMNS, UNITS),
                                rheos_constant_initializer(0.125), true),
      rheos_get_variable_record(m->s, "b", RHEOS_FLOAT, RHEOS_SHAPE(UNITS), rheos_ones(), true)};
  const rheos_output w[] = {variables[0].value, variables[1].value};
  if (device != NULL) rheos_push_device(m->s, device);
  rheos_output hidden = rheos_bias_add(m->s, rheos_matmul(m->s, m->x, w[0]), w[1]);
  rheos_output y = rheos_softmax(m->s, rheos_tanh(m->s, hidden));
  const int32_t all[] = {0, 1};
  rheos_tensor *axes = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2), all, &axes));
  m->loss = rheos_mean(m->s, rheos_square(m->s, y), rheos_constant(m->s, axes, NULL));
  rheos_tensor_unref(axes);
  rheos_gradient gradients[2];
  rheos_gradients(m->s, &m->loss, 1, w, 2, NULL, gradients);
  if (device != NULL) rheos_scope_pop(m->s);
  rheos_operation updates[2];
  rheos_output rate = rheos_constant_float(m->s, 0.5F, NULL);
  for (int i = 0; i < 2; ++i) {
    updates[i] = rheos_output_operation(
        rheos_apply_gradient_descent(m->s, variables[i].handle, rate, gradients[i].values));
  }
  m->train = rheos_group(m->s, updates, 2, NULL);
  m->weights = w[0];
  m->init = rheos_global_variables_initializer(m->s);
  check(rheos_scope_finish(m->s));
}

static void train_model(const model *m, rheos_session *session, rheos_tensor **losses,
                        rheos_tensor **out_weights) {
  check(rheos_session_run(session, NULL, 0, NULL, 0, &m->init, 1, NULL));
  for (int step = 0; step < STEPS; ++step) {
    rheos_feed feed = {m->x, numbers(ROWS + step % 2, COLUMNS, step)};
    rheos_fetch fetch = {m->loss, NULL};
    check(rheos_session_run(session, &feed, 1, &fetch, 1, &m->train, 1, NULL));
    losses[step] = fetch.value;
    rheos_tensor_unref(feed.value);
  }
  rheos_fetch fetch = {m->weights, NULL};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  *out_weights = fetch.value;
}

// Tanh has no kernel there: it and what has references are the CPU's.
static void test_device__a_model_trains_to_the_same_bits(void **state) {
  fixture *f = *state;
  rheos_tensor *losses[2][STEPS], *weights[2];
  for (int i = 0; i < 2; ++i) {
    model m;
    rheos_session *session = NULL;
    build_model(&m, i == 0 ? NULL : "/device:TEST:0");
    check(rheos_session_new(m.graph,
                            &(rheos_session_options){.host = f->host, .allow_soft_placement = true},
                            &session));
    train_model(&m, session, losses[i], &weights[i]);
    rheos_session_free(session);
    rheos_scope_free(m.s);
    rheos_graph_unref(m.graph);
    assert_int_equal(count(f).num_kernels > 0, i);
  }
  assert_true(count(f).num_kernels >= 5 * STEPS);
  for (int step = 0; step < STEPS; ++step) {
    assert_same(losses[1][step], losses[0][step]);
    for (int i = 0; i < 2; ++i) rheos_tensor_unref(losses[i][step]);
  }
  assert_same(weights[1], weights[0]);
  for (int i = 0; i < 2; ++i) rheos_tensor_unref(weights[i]);
}

// ---- Placement

static void test_device__a_missing_kernel_is_an_error_or_the_cpus(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f);
  rheos_push_device(f->s, "/device:TEST:0");
  rheos_output y = rheos_exp(f->s, rheos_tanh(f->s, x, .name = "bend"));
  rheos_scope_pop(f->s);
  rheos_output expected = rheos_exp(f->s, rheos_tanh(f->s, x));
  rheos_status *status = run_status(f, f->session, x, y);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  expect(status,
         "Cannot assign a device for operation bend: Could not satisfy explicit device "
         "specification '/device:TEST:0' because no supported kernel for TEST devices is "
         "available. Tanh has kernels for [ CPU ].");
  rheos_status_free(status);
  rheos_session *soft = soft_session(f);
  rheos_tensor *value = run(f, soft, x, y), *on_cpu = run(f, soft, x, expected);
  assert_same(value, on_cpu);
  assert_int_equal(count(f).num_kernels, 1);
  rheos_tensor_unref(value);
  rheos_tensor_unref(on_cpu);
  rheos_session_free(soft);
}

static void test_device__a_missing_device_is_an_error_or_the_cpu(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f), y = layer(f, x, "/device:TEST:7");
  rheos_status *status = run_status(f, f->session, x, y);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  expect(status,
         "was explicitly assigned to /device:TEST:7 but available devices are [ "
         "/job:localhost/replica:0/task:0/device:CPU:0, "
         "/job:localhost/replica:0/task:0/device:TEST:0, "
         "/job:localhost/replica:0/task:0/device:TEST:1 ]");
  rheos_status_free(status);
  rheos_session *soft = soft_session(f);
  rheos_tensor *value = run(f, soft, x, y);
  assert_int_equal(count(f).num_kernels, 0);
  rheos_tensor_unref(value);
  rheos_session_free(soft);
}

// Of a dtype that the device has no kernels for, there is no variable on it.
static void test_device__variables_of_strings_stay_on_the_cpu(void **state) {
  fixture *f = *state;
  rheos_push_device(f->s, "/device:TEST:0");
  rheos_output w = rheos_variable_v2(f->s, &RHEOS_SCALAR, RHEOS_STRING, .name = "w");
  rheos_scope_pop(f->s);
  rheos_output text = rheos_constant_texts(f->s, (const char *const[]){"text"}, 1, NULL);
  rheos_operation init = rheos_output_operation(rheos_assign(f->s, w, text));
  check(rheos_scope_finish(f->s));
  rheos_status *status = rheos_session_run(f->session, NULL, 0, NULL, 0, &init, 1, NULL);
  expect(status, "Cannot assign a device for operation w");
  rheos_status_free(status);
  rheos_session *soft = soft_session(f);
  check(rheos_session_run(soft, NULL, 0, NULL, 0, &init, 1, NULL));
  rheos_fetch fetch = {w, NULL};
  check(rheos_session_run(soft, NULL, 0, &fetch, 1, NULL, 0, NULL));
  assert_int_equal(((const rheos_string *)rheos_tensor_data(fetch.value))->size_bytes, 4);
  assert_int_equal(count(f).num_kernels, 0);
  rheos_tensor_unref(fetch.value);
  rheos_session_free(soft);
}

// As in graphs of other programs, where the node asks for no device itself.
static void test_device__what_is_colocated_runs_beside(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f);
  rheos_push_device(f->s, "/device:TEST:0");
  rheos_output a = rheos_exp(f->s, x, .name = "a");
  rheos_scope_pop(f->s);
  const rheos_string beside = {(char *)(uintptr_t)"loc:@a", 6};
  const rheos_attr attrs[] = {
      {"_class", {.kind = RHEOS_ATTR_LIST_STRING, .count = 1, .strings = &beside}}};
  rheos_operation b = rheos_op(
      f->s, &(rheos_op_args){
                .type = "Abs", .inputs = &a, .num_inputs = 1, .attrs = attrs, .num_attrs = 1});
  rheos_tensor_unref(run(f, f->session, x, rheos_operation_output(b, 0)));
  assert_int_equal(count(f).num_kernels, 2);
  assert_int_equal(count(f).num_to_host, 1);
}

// What is written to standard error meanwhile, for free().
static char *log_of_a_plan(fixture *f, rheos_output x, rheos_output y) {
  rheos_session *session = NULL;
  check(rheos_session_new(
      f->graph, &(rheos_session_options){.host = f->host, .log_device_placement = true}, &session));
  FILE *file = tmpfile();
  fflush(stderr);
  const int before = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  rheos_tensor *value = run(f, session, x, y);
  fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  rheos_tensor_unref(value);
  rheos_session_free(session);
  char *text = calloc(1, 4096);
  rewind(file);
  assert_true(fread(text, 1, 4095, file) > 0);
  fclose(file);
  return text;
}

static void test_device__placement_is_logged(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f);
  rheos_push_device(f->s, "/device:TEST:1");
  rheos_output a = rheos_abs(f->s, rheos_exp(f->s, x, .name = "e"), .name = "a");
  rheos_scope_pop(f->s);
  char *text = log_of_a_plan(f, x, rheos_square(f->s, a, .name = "s"));
  assert_string_equal(text,
                      "e: (Exp): /job:localhost/replica:0/task:0/device:TEST:1\n"
                      "a: (Abs): /job:localhost/replica:0/task:0/device:TEST:1\n"
                      "s: (Square): /job:localhost/replica:0/task:0/device:CPU:0\n");
  free(text);
}

static void test_device__traces_name_devices(void **state) {
  fixture *f = *state;
  rheos_output x = placeholder(f), y = layer(f, x, "/device:TEST:0");
  check(rheos_scope_finish(f->s));
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  rheos_feed feed = {x, numbers(ROWS, COLUMNS, 5)};
  rheos_fetch fetch = {y, NULL};
  check(rheos_session_run(f->session, &feed, 1, &fetch, 1, NULL, 0,
                          &(rheos_run_options){.trace = trace}));
  char *text = NULL;
  size_t size = 0;
  check(rheos_trace_to_chrome(trace, &text, &size));
  assert_non_null(strstr(text, "/device:TEST:0"));
  assert_non_null(strstr(text, "/device:CPU:0"));
  assert_non_null(strstr(text, "\"copy\""));
  rheos_free(text);
  rheos_trace_free(trace);
  rheos_tensor_unref(feed.value);
  rheos_tensor_unref(fetch.value);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_device__feeds_and_fetches_cross),
      TEST(test_device__consumers_share_a_copy),
      TEST(test_device__values_pass_between_devices),
      TEST(test_device__shapes_may_come_late),
      TEST(test_device__dynamic_entries_run_there),
      TEST(test_device__a_model_trains_to_the_same_bits),
      TEST(test_device__a_missing_kernel_is_an_error_or_the_cpus),
      TEST(test_device__a_missing_device_is_an_error_or_the_cpu),
      TEST(test_device__variables_of_strings_stay_on_the_cpu),
      TEST(test_device__what_is_colocated_runs_beside),
      TEST(test_device__placement_is_logged),
      TEST(test_device__traces_name_devices),
  };
  return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
