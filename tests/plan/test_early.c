// What a plan on tokens begins with: its order of entries.
#include <rheos/ops.h>

#include "ops/queue_fixture.h"
#include "plan/plan_text.h"
#include "runtime/call/bodies.h"

// ---- Graphs

static rheos_output queue_of(fixture *f, const char *name) {
  return scalar_queue(f, "FIFOQueueV2", RHEOS_FLOAT, 20, name);
}

static rheos_output twice_and_one(fixture *f, rheos_output x) {
  return rheos_add(f->scope, rheos_mul(f->scope, x, float_scalar(f, 2)), float_scalar(f, 1));
}

static rheos_operation put(fixture *f, rheos_output queue, rheos_output value) {
  return add(f, "QueueEnqueueV2", (const rheos_output[]){queue, value}, 2, NULL, 0);
}

static rheos_operation send(fixture *f, rheos_output value) {
  const rheos_attr attrs[] = {
      rheos_attr_string("tensor_name", "x", 1), rheos_attr_string("send_device", "/job:a", 6),
      rheos_attr_int("send_device_incarnation", 1), rheos_attr_string("recv_device", "/job:b", 6)};
  return rheos_op(f->scope, &(rheos_op_args){.type = "_Send",
                                             .name = "send",
                                             .inputs = &value,
                                             .num_inputs = 1,
                                             .attrs = attrs,
                                             .num_attrs = 4});
}

// ---- Plans

typedef struct made {
  rheos__plan_context context;
  rheos__bodies *bodies;
  rheos__plan *plan;
} made;

// For release(). The targets are visited in their order.
static made plan_of(fixture *f, rheos_output fed, const rheos_operation *targets, int count) {
  made m = {.context = {
                .resources = rheos__resources_new(), .devices = plan_devices(), .num_devices = 1}};
  m.bodies = rheos__bodies_new(&m.context);
  m.context.bodies = m.bodies;
  const rheos__edge feed = {fed.id, fed.index};
  int32_t ids[8];
  check(rheos_scope_finish(f->scope));
  for (int i = 0; i < count; i++) ids[i] = targets[i].id;
  check(rheos__plan_new(f->graph, &m.context, &feed, 1, NULL, 0, ids, count, &m.plan));
  assert_non_null(m.plan->flow);
  return m;
}

static void release(made *m) {
  rheos__plan_free(m->plan);
  rheos__bodies_clear(m->bodies);
  rheos__bodies_unref(m->bodies);
  rheos__resources_free(m->context.resources);
}

static bool gives(const rheos__entry *entry, rheos_output output) {
  if (entry->structure == NULL) return entry->id == output.id;
  for (int32_t i = 0; i < entry->structure->num_outputs; i++) {
    if (entry->structure->outputs[i].id == output.id) return true;
  }
  return false;
}

static int place_of(const made *m, rheos_output output) {
  for (int i = 0; i < m->plan->num_entries; i++) {
    if (gives(&m->plan->entries[i], output)) return i;
  }
  fail_msg("no entry gives output %d of node %d", output.index, output.id);
  return -1;
}

static int place_of_node(const made *m, rheos_operation operation) {
  return place_of(m, (rheos_output){.id = operation.id});
}

// ---- What begins

static void test_early__waits_come_before_what_could_run(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output computed = twice_and_one(f, x);
  const rheos_output a = dequeued(f, RHEOS_FLOAT, queue_of(f, "a"));
  const rheos_output b = dequeued(f, RHEOS_FLOAT, queue_of(f, "b"));
  const rheos_operation targets[] = {put(f, queue_of(f, "c"), computed), rheos_output_operation(a),
                                     rheos_output_operation(b)};
  made m = plan_of(f, x, targets, 3);
  assert_true(place_of(&m, a) < place_of(&m, b));
  assert_true(place_of(&m, b) < place_of(&m, computed));
  assert_true(place_of(&m, computed) < place_of_node(&m, targets[0]));
  release(&m);
}

// What is put into "a", through another node of that name, and the size of "b", which is in the
// stretch, are asked for before what is taken of these.
static void test_early__effects_on_one_queue_keep_their_order(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT), b = queue_of(f, "b");
  const rheos_output computed = twice_and_one(f, x);
  const rheos_operation filled = put(f, queue_of(f, "a"), computed);
  const rheos_operation size = add(f, "QueueSizeV2", &b, 1, NULL, 0);
  const rheos_output of_a = dequeued(f, RHEOS_FLOAT, queue_of(f, "a"));
  const rheos_output of_b = dequeued(f, RHEOS_FLOAT, b);
  const rheos_output of_c = dequeued(f, RHEOS_FLOAT, queue_of(f, "c"));
  const rheos_operation targets[] = {filled, size, rheos_output_operation(of_a),
                                     rheos_output_operation(of_b), rheos_output_operation(of_c)};
  made m = plan_of(f, x, targets, 5);
  assert_true(place_of(&m, of_c) < place_of(&m, computed));
  assert_true(place_of(&m, computed) < place_of_node(&m, filled));
  assert_true(place_of_node(&m, filled) < place_of(&m, of_a));
  assert_true(place_of(&m, computed) < place_of(&m, of_b));
  release(&m);
}

static void test_early__what_waits_for_an_operation_stays_behind_it(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_operation filled = put(f, queue_of(f, "a"), twice_and_one(f, x));
  const rheos_output c = dequeued(f, RHEOS_FLOAT, queue_of(f, "c"));
  rheos_push_control_dependencies(f->scope, &filled, 1);
  const rheos_output b = dequeued(f, RHEOS_FLOAT, queue_of(f, "b"));
  rheos_scope_pop(f->scope);
  const rheos_operation targets[] = {rheos_output_operation(b), rheos_output_operation(c)};
  made m = plan_of(f, x, targets, 2);
  assert_true(place_of_node(&m, filled) < place_of(&m, b));
  assert_true(place_of(&m, c) < place_of_node(&m, filled));
  release(&m);
}

// The second stretch needs the first one, which so comes before it, and is sent by what is asked
// for last.
static void test_early__sends_come_right_behind_what_they_take(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output a = dequeued(f, RHEOS_FLOAT, queue_of(f, "a"));
  const rheos_output b = dequeued(f, RHEOS_FLOAT, queue_of(f, "b"));
  const rheos_output first = twice_and_one(f, rheos_add(f->scope, a, x));
  const rheos_output second = twice_and_one(f, rheos_add(f->scope, first, b));
  const rheos_operation targets[] = {send(f, second), send(f, first)};
  made m = plan_of(f, x, targets, 2);
  assert_int_equal(place_of_node(&m, targets[1]), place_of(&m, first) + 1);
  assert_true(place_of_node(&m, targets[1]) < place_of(&m, second));
  release(&m);
}

static rheos_output member_of(fixture *f, rheos_output value, int64_t instance) {
  const rheos_attr attrs[] = {rheos_attr_int("group_size", 2),
                              rheos_attr_int("group_key", 1),
                              rheos_attr_int("instance_key", instance),
                              rheos_attr_string("merge_op", "Add", 3),
                              rheos_attr_string("final_op", "Id", 2),
                              rheos_attr_ints("subdiv_offsets", (int64_t[]){0}, 1)};
  const rheos_operation op = rheos_op(f->scope, &(rheos_op_args){.type = "CollectiveReduce",
                                                                 .inputs = &value,
                                                                 .num_inputs = 1,
                                                                 .attrs = attrs,
                                                                 .num_attrs = 6});
  return rheos_operation_output(op, 0);
}

// As gradients do: one follows from less than the other, and what is asked for first needs both and
// more. Each member begins before what it does not need is computed.
static void test_early__members_begin_when_their_values_are_there(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output less = twice_and_one(f, x), more = twice_and_one(f, less);
  const rheos_output rest = twice_and_one(f, more);
  const rheos_output of_more = member_of(f, more, 1), of_less = member_of(f, less, 2);
  const rheos_operation targets[] = {rheos_output_operation(rest), rheos_output_operation(of_more),
                                     rheos_output_operation(of_less)};
  made m = plan_of(f, x, targets, 3);
  assert_int_equal(place_of(&m, of_less), place_of(&m, less) + 1);
  assert_true(place_of(&m, of_less) < place_of(&m, more));
  assert_int_equal(place_of(&m, of_more), place_of(&m, more) + 1);
  assert_true(place_of(&m, of_more) < m.plan->num_entries - 1);  // the rest comes last
  release(&m);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_early__waits_come_before_what_could_run),
      TEST(test_early__effects_on_one_queue_keep_their_order),
      TEST(test_early__what_waits_for_an_operation_stays_behind_it),
      TEST(test_early__sends_come_right_behind_what_they_take),
      TEST(test_early__members_begin_when_their_values_are_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
