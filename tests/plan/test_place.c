// Where nodes of a graph are placed, among devices of several tasks. Placement of plans is tested
// by tests/device/test_device.c.
#include <stdio.h>

#include "device/cpu/cpu.h"
#include "graph/counting_allocator.h"
#include "ops/array_fixture.h"
#include "plan/entries/place.h"

enum { NUM_DEVICES = 3, MAX_NODES = 32 };

static rheos__device all[NUM_DEVICES];
static const rheos__device *devices[NUM_DEVICES];

// ps:0, then two of worker:1.
static void init_devices(void) {
  for (int i = 0; i < NUM_DEVICES; i++) {
    rheos__device_name task = {.task = i > 0 ? 1 : 0};
    snprintf(task.job, sizeof task.job, "%s", i > 0 ? "worker" : "ps");
    rheos__device_init(&all[i], &rheos__cpu_kind, i > 0 ? i - 1 : 0, NULL, NULL);
    rheos__device_set_task(&all[i], &task);
    devices[i] = &all[i];
  }
}

static rheos_status *place(const fixture *f, bool soft, int16_t *out_devices) {
  init_devices();
  check(rheos_scope_finish(f->scope));
  return rheos__place_graph(f->graph, devices, NUM_DEVICES, soft, 0, out_devices);
}

static rheos_output on(fixture *f, const char *device) {
  rheos_push_device(f->scope, device);
  const rheos_output x = float_scalar(f, 1);
  rheos_scope_pop(f->scope);
  return x;
}

static void test_place__nodes_are_where_they_ask_to_be(void **state) {
  fixture *f = *state;
  const char *const asked[] = {"", "/job:worker", "/job:worker/task:1/cpu:1", "/job:ps/task:0"};
  const int16_t expected[] = {0, 1, 2, 0};
  int16_t placed[MAX_NODES];
  rheos_output nodes[4];
  for (int i = 0; i < 4; i++) nodes[i] = on(f, asked[i]);
  check(place(f, false, placed));
  for (int i = 0; i < 4; i++) assert_int_equal(placed[nodes[i].id], expected[i]);
}

static void test_place__what_takes_a_reference_is_where_that_is(void **state) {
  fixture *f = *state;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  rheos_push_device(f->scope, "/job:worker/task:1/cpu:1");
  const rheos_output v = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  rheos_scope_pop(f->scope);
  const rheos_output pair[] = {v, float_scalar(f, 2)};
  const rheos_operation assign = add(f, "Assign", pair, 2, NULL, 0);
  int16_t placed[MAX_NODES];
  check(place(f, false, placed));
  assert_int_equal(placed[assign.id], 2);
  assert_int_equal(placed[pair[1].id], 2);
}

static void test_place__a_device_that_is_not_there_is_an_error(void **state) {
  fixture *f = *state;
  on(f, "/job:worker/task:7");
  int16_t placed[MAX_NODES];
  expect_error(
      place(f, false, placed), RHEOS_INVALID_ARGUMENT,
      "was explicitly assigned to /job:worker/task:7 but available devices are [ "
      "/job:ps/replica:0/task:0/device:CPU:0, /job:worker/replica:0/task:1/device:CPU:0, ");
  // Soft placement chooses another device, no other task.
  expect_error(place(f, true, placed), RHEOS_INVALID_ARGUMENT, "available devices are [ ");
}

static void test_place__soft_placement_stays_on_the_task(void **state) {
  fixture *f = *state;
  const rheos_output gpu = on(f, "/job:worker/task:1/gpu:0"), far = on(f, "/job:worker/cpu:9");
  int16_t placed[MAX_NODES];
  check(place(f, true, placed));
  assert_int_equal(placed[gpu.id], 1);
  assert_int_equal(placed[far.id], 1);
}

// ---- Groups

static rheos_operation beside(fixture *f, const char *class, const char *device) {
  const rheos_string group = {(char *)(uintptr_t)class, strlen(class)};
  const rheos_attr attrs[] = {
      {"_class", {.kind = RHEOS_ATTR_LIST_STRING, .count = 1, .strings = &group}}};
  const rheos_output x = float_scalar(f, 1);
  rheos_push_device(f->scope, device);
  const rheos_operation node = add(f, "Neg", &x, 1, attrs, 1);
  rheos_scope_pop(f->scope);
  return node;
}

static rheos_output named_on(fixture *f, const char *name, const char *device) {
  rheos_push_device(f->scope, device);
  const rheos_output x = rheos_neg(f->scope, float_scalar(f, 1), .name = name);
  rheos_scope_pop(f->scope);
  return x;
}

static void test_place__a_group_is_where_all_ask_to_be(void **state) {
  fixture *f = *state;
  const rheos_output x = named_on(f, "x", "/job:worker");
  const rheos_operation y = beside(f, "loc:@x", "/cpu:1"), z = beside(f, "loc:@x", "");
  int16_t placed[MAX_NODES];
  check(place(f, false, placed));
  assert_int_equal(placed[x.id], 2);
  assert_int_equal(placed[y.id], 2);
  assert_int_equal(placed[z.id], 2);
}

static void test_place__a_group_that_cannot_be_in_one_place_is_an_error(void **state) {
  fixture *f = *state;
  const rheos_output x = named_on(f, "x", "/job:worker/cpu:0");
  const rheos_operation y = beside(f, "loc:@x", "/cpu:1");
  int16_t placed[MAX_NODES];
  rheos_status *status = place(f, false, placed);
  const char *told = rheos_status_message(status);
  assert_non_null(strstr(told, "Cannot colocate nodes Neg (defined at "));
  assert_non_null(strstr(told, ") and x (defined at "));
  assert_non_null(strstr(told,
                         "): Cannot merge devices with incompatible ids: "
                         "'/job:worker/device:CPU:0' and '/device:CPU:1'\n\t [[node Neg "));
  rheos_status_free(status);
  check(place(f, true, placed));
  assert_int_equal(placed[x.id], placed[y.id]);
}

static void test_place__an_error_names_who_asks(void **state) {
  fixture *f = *state;
  const rheos_string group = {(char *)(uintptr_t)"loc:@x", 6};
  const rheos_attr attrs[] = {
      {"_class", {.kind = RHEOS_ATTR_LIST_STRING, .count = 1, .strings = &group}}};
  const rheos_output one = float_scalar(f, 1);
  add(f, "Neg", &one, 1, attrs, 1);
  named_on(f, "x", "/job:nowhere");
  int16_t placed[MAX_NODES];
  rheos_status *status = place(f, false, placed);
  const char *told = rheos_status_message(status);
  assert_non_null(strstr(told, "for operation Neg: it is to be with x (defined at "));
  assert_non_null(strstr(told, "), which was explicitly assigned to /job:nowhere but available "));
  rheos_status_free(status);
}

static void test_place__jobs_are_never_merged(void **state) {
  fixture *f = *state;
  named_on(f, "x", "/job:worker");
  beside(f, "loc:@x", "/job:ps");
  int16_t placed[MAX_NODES];
  expect_error(place(f, true, placed), RHEOS_INVALID_ARGUMENT, "incompatible jobs");
}

// TensorFlow says so of both kinds of variables.
static void test_place__a_variable_says_where_its_update_is(void **state) {
  fixture *f = *state;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  rheos_push_device(f->scope, "/job:worker/cpu:1");
  const rheos_output v = rheos_operation_output(add(f, "VarHandleOp", NULL, 0, attrs, 2), 0);
  rheos_scope_pop(f->scope);
  const rheos_output pair[] = {v, float_scalar(f, 2)};
  rheos_push_device(f->scope, "/job:ps");
  const rheos_operation assign = add(f, "AssignVariableOp", pair, 2, NULL, 0);
  rheos_scope_pop(f->scope);
  int16_t placed[MAX_NODES];
  check(place(f, false, placed));
  assert_int_equal(placed[assign.id], 2);
  assert_int_equal(placed[pair[1].id], 2);  // taken only there
}

static void test_place__constants_and_shapes_are_where_they_are_used(void **state) {
  fixture *f = *state;
  const rheos_output one = float_scalar(f, 1), both = float_scalar(f, 2);
  rheos_push_device(f->scope, "/job:worker/cpu:1");
  const rheos_output sum = rheos_add(f->scope, one, both);
  rheos_scope_pop(f->scope);
  const rheos_output other = rheos_neg(f->scope, both), size = rheos_size(f->scope, sum);
  int16_t placed[MAX_NODES];
  check(place(f, false, placed));
  assert_int_equal(placed[one.id], 2);
  assert_int_equal(placed[both.id], 0);
  assert_int_equal(placed[other.id], 0);
  assert_int_equal(placed[size.id], 2);
}

// ---- What stays, and what is told

static void test_place__what_has_state_stays_where_it_was(void **state) {
  fixture *f = *state;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  int16_t placed[MAX_NODES];
  const rheos_output v = rheos_operation_output(add(f, "VarHandleOp", NULL, 0, attrs, 2), 0);
  check(place(f, false, placed));
  assert_int_equal(placed[v.id], 0);
  const int32_t num_placed = rheos_graph_num_operations(f->graph);
  const rheos_output pair[] = {v, float_scalar(f, 2)};
  rheos_push_device(f->scope, "/job:worker");
  const rheos_operation assign = add(f, "AssignVariableOp", pair, 2, NULL, 0);
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  check(rheos__place_graph(f->graph, devices, NUM_DEVICES, false, num_placed, placed));
  assert_int_equal(placed[v.id], 0);
  assert_int_equal(placed[assign.id], 0);
}

static void test_place__the_list_says_why(void **state) {
  fixture *f = *state;
  const char *const names[] = {"/job:ps/task:0/replica:0/cpu:0", "/job:w/task:1/replica:0/cpu:1"};
  const rheos_placement_options options = {.devices = names, .num_devices = 2};
  const rheos_output x = named_on(f, "x", "/job:w");
  const rheos_operation y = beside(f, "loc:@x", "");
  const rheos_output size = rheos_size(f->scope, x), one = float_scalar(f, 1);
  rheos_push_device(f->scope, "/job:w");
  rheos_neg(f->scope, one);
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  rheos_placement *list;
  size_t count;
  check(rheos_graph_place(f->graph, &options, &list, &count));
  assert_int_equal(count, rheos_graph_num_operations(f->graph));
  assert_string_equal(list[x.id].asked, "/job:w");
  assert_string_equal(list[x.id].given, "/job:w/replica:0/task:1/device:CPU:1");
  assert_string_equal(list[x.id].why, "asked for");
  assert_int_equal(list[y.id].operation.id, y.id);
  assert_string_equal(list[y.id].why, "colocated with x");
  assert_string_equal(list[size.id].why, "looks at the shape of x");
  assert_string_equal(list[one.id].why, "taken only there, first by Neg_1");
  rheos_free(list);
  expect_error(rheos_graph_place(f->graph, NULL, &list, &count), RHEOS_INVALID_ARGUMENT,
               "available devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ]");
  assert_null(list);
}

static void test_place__a_list_needs_whole_names_of_cpus(void **state) {
  fixture *f = *state;
  const char *const wrong[] = {"/cpu:0", "/job:w/replica:0/task:0/gpu:0", "nonsense:"};
  for (int i = 0; i < 3; i++) {
    const rheos_placement_options options = {.devices = &wrong[i], .num_devices = 1};
    rheos_placement *list;
    size_t count;
    rheos_status *status = rheos_graph_place(f->graph, &options, &list, &count);
    assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
    rheos_status_free(status);
  }
}

// By the number of the allocation, until none fails.
static void test_place__survives_that_memory_is_short(void **state) {
  fixture *f = *state;
  const char *const names[] = {"/job:ps/task:0/replica:0/cpu:0", "/job:w/task:1/replica:0/cpu:1"};
  const rheos_placement_options options = {.devices = names, .num_devices = 2};
  named_on(f, "x", "/job:w");
  beside(f, "loc:@x", "/task:1");
  rheos_size(f->scope, float_scalar(f, 1));
  check(rheos_scope_finish(f->scope));
  for (int64_t n = 1;; n++) {
    counting_allocator counter = {.fail_at = n};
    rheos_placement *list;
    size_t count;
    counting_allocator_install(&counter);
    rheos_status *status = rheos_graph_place(f->graph, &options, &list, &count);
    const bool has_failed = counter.requests >= n;
    assert_int_equal(rheos_status_code(status), has_failed ? RHEOS_RESOURCE_EXHAUSTED : RHEOS_OK);
    assert_true((list == NULL) == has_failed);
    rheos_status_free(status);
    rheos_free(list);
    rheos_set_allocator(NULL);
    assert_int_equal(counter.alive, 0);
    if (!has_failed) break;
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_place__nodes_are_where_they_ask_to_be),
      TEST(test_place__what_takes_a_reference_is_where_that_is),
      TEST(test_place__a_device_that_is_not_there_is_an_error),
      TEST(test_place__soft_placement_stays_on_the_task),
      TEST(test_place__a_group_is_where_all_ask_to_be),
      TEST(test_place__a_group_that_cannot_be_in_one_place_is_an_error),
      TEST(test_place__an_error_names_who_asks),
      TEST(test_place__jobs_are_never_merged),
      TEST(test_place__a_variable_says_where_its_update_is),
      TEST(test_place__what_has_state_stays_where_it_was),
      TEST(test_place__the_list_says_why),
      TEST(test_place__a_list_needs_whole_names_of_cpus),
      TEST(test_place__survives_that_memory_is_short),
      TEST(test_place__constants_and_shapes_are_where_they_are_used),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
