// Where nodes of a graph are placed among the devices of several tasks, some of which are graphics
// cards: a group is on one task, each of its nodes on whichever device of that.
#include <rheos/placement.h>

#include "ops/array_fixture.h"

static const char *const names[] = {
    "/job:ps/replica:0/task:0/device:CPU:0",     "/job:ps/replica:0/task:0/device:GPU:0",
    "/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0",
    "/job:worker/replica:0/task:1/device:GPU:0", "/job:worker/replica:0/task:1/device:GPU:1"};
static const char *const PS = "/job:ps/replica:0/task:0/device:CPU:0";
static const char *const PS_CARD = "/job:ps/replica:0/task:0/device:GPU:0";
static const char *const WORKER = "/job:worker/replica:0/task:1/device:CPU:0";
static const char *const WORKER_CARD = "/job:worker/replica:0/task:1/device:GPU:0";

static rheos_status *place(const fixture *f, bool soft, rheos_placement **out_list) {
  const rheos_placement_options options = {
      .devices = names, .num_devices = sizeof names / sizeof *names, .allow_soft_placement = soft};
  size_t count;
  check(rheos_scope_finish(f->scope));
  return rheos_graph_place(f->graph, &options, out_list, &count);
}

static rheos_operation on(fixture *f, const char *device, const char *op,
                          const rheos_output *inputs, int32_t count) {
  rheos_push_device(f->scope, device);
  const rheos_operation made = add(f, op, inputs, count, NULL, 0);
  rheos_scope_pop(f->scope);
  return made;
}

static rheos_output variable(fixture *f, const char *device) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  rheos_push_device(f->scope, device);
  const rheos_output v = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  rheos_scope_pop(f->scope);
  return v;
}

static void test_place_cards__floats_are_on_a_card_of_the_task(void **state) {
  fixture *f = *state;
  const rheos_output x = float_scalar(f, 1), number = int_scalar(f, 1);
  const struct {
    const char *asked;
    rheos_output input;
    const char *expected;
  } rows[] = {{"", x, PS_CARD},
              {"", number, PS},
              {"/gpu:0", x, PS_CARD},
              {"/job:worker/task:1", x, WORKER_CARD},
              {"/job:worker/task:1", number, WORKER},
              {"/job:worker/task:1/cpu:0", x, WORKER},
              {"/job:worker/task:1/gpu:1", x, names[5]},
              {"/job:worker/task:0", x, names[2]}};
  enum { NUM_ROWS = sizeof rows / sizeof *rows };
  rheos_operation nodes[NUM_ROWS];
  rheos_placement *list;
  for (int i = 0; i < NUM_ROWS; i++) nodes[i] = on(f, rows[i].asked, "Neg", &rows[i].input, 1);
  check(place(f, false, &list));
  for (int i = 0; i < NUM_ROWS; i++) {
    assert_string_equal(list[nodes[i].id].given, rows[i].expected);
  }
  rheos_free(list);
}

static void test_place_cards__what_takes_a_reference_is_on_its_task(void **state) {
  fixture *f = *state;
  const rheos_output v = variable(f, "/job:ps/cpu:0"), w = variable(f, "/job:ps");
  const rheos_output to_v[] = {v, float_scalar(f, 2)}, to_w[] = {w, float_scalar(f, 2)};
  const rheos_operation assign = on(f, "/job:worker/task:1/gpu:0", "Assign", to_v, 2);
  const rheos_operation free = on(f, "", "AssignAdd", to_v, 2);
  const rheos_operation other = on(f, "/job:worker/task:1", "Assign", to_w, 2);
  rheos_placement *list;
  check(place(f, true, &list));
  assert_string_equal(list[v.id].given, PS);
  assert_string_equal(list[w.id].given, PS_CARD);
  assert_string_equal(list[assign.id].given, PS_CARD);  // as it asks, of the variable's task
  assert_string_equal(list[free.id].given, PS);         // beside it
  assert_string_equal(list[other.id].given, PS_CARD);
  rheos_free(list);
}

static rheos_operation colocated(fixture *f, const char *device) {
  const rheos_string group = {(char *)(uintptr_t)"loc:@x", 6};
  const rheos_attr attrs[] = {
      {"_class", {.kind = RHEOS_ATTR_LIST_STRING, .count = 1, .strings = &group}}};
  const rheos_output one = float_scalar(f, 1);
  rheos_push_device(f->scope, device);
  const rheos_operation node = add(f, "Neg", &one, 1, attrs, 1);
  rheos_scope_pop(f->scope);
  return node;
}

static void test_place_cards__a_group_is_on_one_task(void **state) {
  fixture *f = *state;
  rheos_push_device(f->scope, "/job:worker/task:1/gpu:1");
  const rheos_output x = rheos_neg(f->scope, float_scalar(f, 1), .name = "x");
  rheos_scope_pop(f->scope);
  const rheos_operation free = colocated(f, ""), on_cpu = colocated(f, "/cpu:0");
  const rheos_operation on_card = colocated(f, "/job:worker/gpu:0");
  rheos_placement *list;
  check(place(f, false, &list));
  assert_string_equal(list[x.id].given, names[5]);
  assert_string_equal(list[free.id].given, names[5]);
  assert_string_equal(list[on_cpu.id].given, WORKER);
  assert_string_equal(list[on_card.id].given, WORKER_CARD);
  rheos_free(list);
  colocated(f, "/job:ps/gpu:0");
  expect_error(place(f, true, &list), RHEOS_INVALID_ARGUMENT, "incompatible jobs");
}

static void test_place_cards__constants_are_on_the_task_that_takes_them(void **state) {
  fixture *f = *state;
  const rheos_output x = float_scalar(f, 1), y = float_scalar(f, 2);
  on(f, "/job:worker/task:1/gpu:0", "Neg", &x, 1);
  on(f, "/job:worker/task:1/cpu:0", "Neg", &x, 1);
  on(f, "/job:worker/task:1", "Neg", &y, 1);
  on(f, "/job:ps", "Neg", &y, 1);
  rheos_placement *list;
  check(place(f, false, &list));
  assert_string_equal(list[x.id].given, WORKER_CARD);
  assert_string_equal(list[y.id].given, PS);  // the first task's, for it is taken on both
  rheos_free(list);
}

static void test_place_cards__soft_placement_stays_on_the_task(void **state) {
  fixture *f = *state;
  const char *const word = "a";
  const rheos_output text = strings(f, RHEOS_SCALAR, &word), x = float_scalar(f, 1);
  const rheos_operation no_kernel = on(f, "/job:worker/task:1/gpu:0", "StringLower", &text, 1);
  rheos_placement *list;
  expect_error(place(f, false, &list), RHEOS_INVALID_ARGUMENT, "GPU:0");
  const rheos_operation no_card = on(f, "/job:worker/task:0/gpu:0", "Neg", &x, 1);
  check(place(f, true, &list));
  assert_string_equal(list[no_kernel.id].given, WORKER);
  assert_string_equal(list[no_card.id].given, names[2]);
  rheos_free(list);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_place_cards__floats_are_on_a_card_of_the_task),
      TEST(test_place_cards__what_takes_a_reference_is_on_its_task),
      TEST(test_place_cards__a_group_is_on_one_task),
      TEST(test_place_cards__constants_are_on_the_task_that_takes_them),
      TEST(test_place_cards__soft_placement_stays_on_the_task),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
