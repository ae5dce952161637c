// Programs of C that build a loop over an array with its gradient, a call, a pipeline, a queue:
// each allocation of building, planning and running fails in turn, without a crash, a leak or
// another answer than that memory is short.
#include <rheos/rheos.h>
#include <string.h>

#include "graph/counting_allocator.h"
#include "graph/graph_fixture.h"

static counting_allocator counter;

typedef rheos_status *(*program_function)(rheos_graph *graph, rheos_scope *scope);

static rheos_status *in_session(rheos_graph *graph, rheos_scope *scope, rheos_fetch *fetches,
                                size_t num_fetches, const rheos_operation *targets,
                                size_t num_targets) {
  rheos_session *session = NULL;
  RHEOS_TRY(rheos_scope_finish(scope));
  const rheos_session_options options = {.num_threads = 2};
  rheos_status *status = rheos_session_new(graph, &options, &session);
  for (int i = 0; i < 2 && status == NULL; i++) {
    status = rheos_session_run(session, NULL, 0, fetches, num_fetches, targets, num_targets, NULL);
    for (size_t k = 0; k < num_fetches; k++) {
      rheos_tensor_unref(fetches[k].value);
      fetches[k].value = NULL;
    }
  }
  rheos_session_free(session);
  return status;
}

// ---- A loop that reads one array and fills another, and its gradient

typedef struct arrays {
  rheos_array from, to;
  rheos_output scale;
} arrays;

static rheos_output goes_on(rheos_scope *s, void *argument, const rheos_output *variables,
                            size_t num_variables) {
  (void)argument;
  (void)num_variables;
  const rheos_output three = rheos_constant_int(s, 3, NULL);
  return rheos_less(s, variables[0], three);
}

static rheos_output negative(rheos_scope *s, void *argument) {
  return rheos_neg(s, *(rheos_output *)argument);
}
static void if_even(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  (void)num_outputs;
  outputs[0] = negative(s, argument);
}
static void if_odd(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  (void)num_outputs;
  outputs[0] = rheos_tanh(s, *(rheos_output *)argument);
}

static void step(rheos_scope *s, void *argument, const rheos_output *variables, rheos_output *next,
                 size_t num_variables) {
  const arrays *a = argument;
  (void)num_variables;
  rheos_output value = rheos_mul(s, rheos_array_read(s, a->from, variables[0]), a->scale);
  const rheos_output two = rheos_constant_int(s, 2, NULL), zero = rheos_constant_int(s, 0, NULL);
  const rheos_output is_even = rheos_equal(s, rheos_floormod(s, variables[0], two), zero);
  rheos_output chosen;
  rheos_cond(s, is_even, if_even, if_odd, &value, NULL, &chosen, 1);
  const rheos_array filled =
      rheos_array_write(s, rheos_array_with_flow(a->to, variables[1]), variables[0], chosen);
  next[0] = rheos_add(s, variables[0], rheos_constant_int(s, 1, NULL));
  next[1] = filled.flow;
}

static rheos_status *loop_over_arrays(rheos_graph *graph, rheos_scope *s) {
  const rheos_output count = rheos_constant_int(s, 3, NULL);
  arrays a = {.scale = rheos_constant_float(s, 2, "scale")};
  rheos_tensor *rows = NULL;
  rheos_status *status =
      rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(3, 2), (float[]){1, 2, 3, 4, 5, 6}, &rows);
  if (status != NULL) return status;
  a.from = rheos_array_unstack(s, rheos_array_new(s, RHEOS_FLOAT, count, NULL),
                               rheos_constant(s, rows, "rows"));
  rheos_tensor_unref(rows);
  a.to = rheos_array_new(s, RHEOS_FLOAT, count, NULL);
  const rheos_output start[] = {rheos_constant_int(s, 0, "start"), a.to.flow};
  rheos_output after[2];
  rheos_while_loop(s, goes_on, step, &a, start, 2, NULL, after);
  const rheos_output stacked = rheos_array_stack(s, rheos_array_with_flow(a.to, after[1]));
  rheos_gradient gradient;
  rheos_gradients(s, &stacked, 1, &a.scale, 1, NULL, &gradient);
  rheos_fetch fetches[] = {{.output = stacked}, {.output = gradient.values}};
  return in_session(graph, s, fetches, 2, NULL, 0);
}

// ---- A pipeline with a function that captures

static rheos_status *go_over(rheos_graph *graph, rheos_scope *s, rheos_output dataset) {
  rheos_session *session = NULL;
  rheos_dataset_iterator *iterator = NULL;
  RHEOS_TRY(rheos_scope_finish(s));
  const rheos_session_options options = {.num_threads = 2};
  rheos_status *status = rheos_session_new(graph, &options, &session);
  if (status == NULL) status = rheos_dataset_iterator_new(session, dataset, &iterator);
  for (bool end = false; !end && status == NULL;) {
    rheos_tensor *element = NULL;
    status = rheos_dataset_iterator_next(iterator, &element, &end, NULL);
    rheos_tensor_unref(element);
  }
  char *text = NULL;
  if (status == NULL) status = rheos_dataset_explain(iterator, &text);
  rheos_free(text);
  rheos_dataset_iterator_free(iterator);
  rheos_session_free(session);
  return status;
}

static rheos_status *pipeline(rheos_graph *graph, rheos_scope *s) {
  const rheos_output one = rheos_constant_int(s, 1, NULL);
  const rheos_output outside = rheos_cast(s, one, RHEOS_INT64);
  rheos_function *f = rheos_function_begin(s, "add_outside", NULL);
  if (f == NULL) return rheos_scope_finish(s);
  const rheos_output x = rheos_function_argument(f, "x", RHEOS_INT64, RHEOS_SCALAR);
  rheos_function_result(f, NULL, rheos_add(rheos_function_scope(f), x, outside));
  rheos_output d = rheos_dataset_range(s, 0, 20, 1);
  if (rheos_function_finish(f, s)) {
    d = rheos_dataset_shuffle(s, rheos_dataset_map(s, d, f, 2), 4, 7);
    d = rheos_dataset_cache(s, rheos_dataset_batch(s, d, 3, false));
    d = rheos_dataset_prefetch(s, rheos_dataset_repeat(s, d, 2), 2);
  }
  rheos_function_free(f);
  return go_over(graph, s, d);
}

// ---- Queues

static const rheos_dtype of_queues[] = {RHEOS_FLOAT};

static rheos_output new_queue(rheos_scope *s, const char *name) {
  static const rheos_shape shapes[] = {{.rank = 0}};
  const rheos_attr attrs[] = {rheos_attr_types("component_types", of_queues, 1),
                              {"shapes", {RHEOS_ATTR_LIST_SHAPE, 1, {.shapes = shapes}}},
                              rheos_attr_int("capacity", 2),
                              rheos_attr_string("shared_name", name, strlen(name))};
  const rheos_op_args args = {.type = "FIFOQueueV2", .attrs = attrs, .num_attrs = 4};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_operation put(rheos_scope *s, rheos_output queue, rheos_output value) {
  const rheos_output in[] = {queue, value};
  return rheos_op(s, &(rheos_op_args){.type = "QueueEnqueueV2", .inputs = in, .num_inputs = 2});
}

static rheos_output take(rheos_scope *s, rheos_output queue) {
  const rheos_attr taken[] = {rheos_attr_types("component_types", of_queues, 1)};
  const rheos_op_args args = {
      .type = "QueueDequeueV2", .inputs = &queue, .num_inputs = 1, .attrs = taken, .num_attrs = 1};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_status *queues(rheos_graph *graph, rheos_scope *s) {
  const rheos_output queue = new_queue(s, "queue");
  const rheos_operation enqueue = put(s, queue, rheos_constant_float(s, 1, NULL));
  // The dequeue waits for the enqueue of its own step.
  rheos_fetch fetch = {.output = take(s, queue)};
  return in_session(graph, s, &fetch, 1, &enqueue, 1);
}

// A function that twice gives on what it takes, the first time perhaps what it has itself.
static rheos_output call_of_turns(rheos_scope *s, const char *name, rheos_output from,
                                  rheos_output to, bool begins) {
  rheos_function *f = rheos_function_begin(s, name, NULL);
  if (f == NULL) return (rheos_output){0};
  rheos_scope *inside = rheos_function_scope(f);
  const rheos_output source = rheos_function_capture(f, from), goal = rheos_function_capture(f, to);
  rheos_output value = begins ? rheos_constant_float(inside, 1, NULL) : take(inside, source);
  for (int i = 0; i < 2; i++) {
    const rheos_operation given = put(inside, goal, value);
    rheos_push_control_dependencies(inside, &given, 1);
    value = i == 0 || begins ? take(inside, source) : rheos_identity(inside, value);
    rheos_scope_pop(inside);
  }
  rheos_function_result(f, NULL, value);
  rheos_operation call = {0};
  if (rheos_function_finish(f, s)) call = rheos_function_call(s, f, NULL, 0, NULL);
  rheos_function_free(f);
  return rheos_operation_output(call, 0);
}

static rheos_status *bodies_in_turn(rheos_graph *graph, rheos_scope *s) {
  const rheos_output there = new_queue(s, "there"), back = new_queue(s, "back");
  rheos_fetch fetches[] = {{call_of_turns(s, "asks", back, there, true), NULL},
                           {call_of_turns(s, "answers", there, back, false), NULL}};
  return in_session(graph, s, fetches, 2, NULL, 0);
}

// ---- The sweep

static rheos_status *run(program_function program) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  rheos_status *status = scope != NULL ? program(graph, scope)
                                       : rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "no memory");
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  return status;
}

static void sweep(program_function program) {
  counter.fail_at = 0;
  assert_ok(run(program));
  counter.requests = 0;
  assert_ok(run(program));
  const int64_t count = counter.requests;
  int64_t num_failed = 0;
  for (int64_t i = 2; i <= 2 * count + 1; i++) {
    const int64_t alive = counter.alive;
    counter.requests = 0;
    counter.fail_after = i % 2 == 1;
    counter.fail_at = i / 2;
    rheos_status *status = run(program);
    counter.fail_at = 0;
    if (status != NULL && rheos_status_code(status) != RHEOS_RESOURCE_EXHAUSTED) {
      fail_msg("allocation %lld: %s", (long long)i / 2, rheos_status_message(status));
    }
    num_failed += status != NULL;
    rheos_status_free(status);
    if (counter.alive != alive) {
      fail_msg("allocation %lld: %lld blocks lost", (long long)i / 2,
               (long long)(counter.alive - alive));
    }
  }
  assert_true(num_failed > count);
}

static void test_failing_bodies__of_loops_survive(void **state) {
  (void)state;
  sweep(loop_over_arrays);
}
static void test_failing_bodies__of_pipelines_survive(void **state) {
  (void)state;
  sweep(pipeline);
}
static void test_failing_bodies__beside_queues_survive(void **state) {
  (void)state;
  sweep(queues);
}

static void test_failing_bodies__that_wait_for_each_other_survive(void **state) {
  (void)state;
  sweep(bodies_in_turn);
}

int main(void) {
  counting_allocator_install(&counter);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failing_bodies__of_loops_survive),
      cmocka_unit_test(test_failing_bodies__of_pipelines_survive),
      cmocka_unit_test(test_failing_bodies__beside_queues_survive),
      cmocka_unit_test(test_failing_bodies__that_wait_for_each_other_survive),
  };
  return cmocka_run_group_tests_name("failing_bodies", tests, NULL, NULL);
}
