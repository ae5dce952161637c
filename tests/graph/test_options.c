// Structs of options that grow: what an older and a newer program hand over.
#include <rheos/rheos.h>

#include "graph/graph_fixture.h"

// A field that comes later lies behind what was there before: nothing is padded at the end.
#define ENDS_ON(type, field)                                                               \
  _Static_assert(sizeof(type) == offsetof(type, field) + sizeof(((const type *)0)->field), \
                 #type " has room behind " #field)
ENDS_ON(rheos_op_args, device);
ENDS_ON(rheos_gradients_options, reserved_);
ENDS_ON(rheos_host_options, gpu_devices);
ENDS_ON(rheos_server_options, reserved_number_);
ENDS_ON(rheos_placement_options, reserved_);
ENDS_ON(rheos_session_options, gpu_devices);
ENDS_ON(rheos_run_options, trace);
ENDS_ON(rheos_session_stats, num_instructions);
ENDS_ON(rheos_variable_options, caching_device);
ENDS_ON(rheos_while_options, max_iterations);
ENDS_ON(rheos_array_options, element_shape);
ENDS_ON(rheos_function_options, num_attrs);
ENDS_ON(rheos_minimize_options, gradient_argument);
ENDS_ON(rheos_saver_options, num_saveables);
ENDS_ON(rheos_checkpoint_keeper_options, latest_filename);
ENDS_ON(rheos_freeze_options, num_kept_variables);
ENDS_ON(rheos_import_options, op_list_bytes);
ENDS_ON(rheos_record_options, strategy);
ENDS_ON(rheos_saved_model_options, session);
ENDS_ON(rheos_meta_graph_options, num_collections);
ENDS_ON(rheos_lint_options, runs);

static const char newer[] = "the program was built for a newer one";

static void test_options__unknown_fields_must_be_zero(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  struct {
    rheos_session_options known;
    int64_t not_known;
  } options = {.known.num_threads = 1};
  rheos_session *session;
  assert_ok(rheos_session_new_sized(f.graph, &options.known, sizeof options, &session));
  rheos_session_free(session);
  options.not_known = 1;
  expect_status_take(rheos_session_new_sized(f.graph, &options.known, sizeof options, &session),
                     RHEOS_FAILED_PRECONDITION, newer);
  assert_null(session);
  options.not_known = 0;
  options.known.rewrites.reserved_[4] = RHEOS_TOGGLE_ON;
  expect_status_take(rheos_session_new(f.graph, &options.known, &session),
                     RHEOS_FAILED_PRECONDITION, newer);
  assert_null(session);
  fixture_free(&f);
}

static void test_options__a_run_with_unknown_fields_sets_nothing(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_session *session;
  assert_ok(rheos_session_new(f.graph, NULL, &session));
  rheos_fetch fetch = {.output = rheos_constant_float(f.scope, 2, NULL)};
  struct {
    rheos_run_options known;
    int64_t not_known;
  } options = {.not_known = 1};
  expect_status_take(
      rheos_session_run_sized(session, NULL, 0, &fetch, 1, NULL, 0, &options.known, sizeof options),
      RHEOS_FAILED_PRECONDITION, newer);
  assert_null(fetch.value);
  options.not_known = 0;
  assert_ok(rheos_session_run_sized(session, NULL, 0, &fetch, 1, NULL, 0, &options.known,
                                    sizeof options));
  assert_float_equal(*(const float *)rheos_tensor_data(fetch.value), 2, 0);
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
  fixture_free(&f);
}

static void test_options__errors_go_to_the_scope(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  struct {
    rheos_variable_options known;
    int64_t not_known;
  } options = {.known.name = "v", .not_known = 1};
  rheos_output value = rheos_constant_float(f.scope, 2, NULL);
  rheos_variable variable =
      rheos_variable_new_sized(f.scope, value, &options.known, sizeof options);
  assert_null(variable.graph);
  expect_error(f.scope, RHEOS_FAILED_PRECONDITION, newer);
  struct {
    rheos_op_args known;
    int64_t not_known;
  } args = {.known.type = "NoOp", .not_known = 1};
  assert_null(rheos_op_sized(f.scope, &args.known, sizeof args).graph);
  expect_error(f.scope, RHEOS_FAILED_PRECONDITION, newer);
  fixture_free(&f);
}

// The fields behind what the program has are not looked at.
static void test_options__an_older_program_gets_defaults(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output value = rheos_constant_float(f.scope, 2, NULL);
  const rheos_variable_options options = {.name = "v", .caching_device = "no such device"};
  rheos_variable variable = rheos_variable_new_sized(
      f.scope, value, &options, offsetof(rheos_variable_options, caching_device));
  assert_scope_ok(f.scope);
  assert_operation_name(rheos_output_operation(variable.handle), "v");
  rheos_session *session;
  assert_ok(rheos_session_new(f.graph, NULL, &session));
  rheos_session_stats stats = {.num_instructions = -1};
  rheos_session_get_stats_sized(session, &stats, offsetof(rheos_session_stats, num_instructions));
  assert_int_equal(stats.num_instructions, -1);
  assert_int_equal(stats.num_runs, 0);
  rheos_session_free(session);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_options__unknown_fields_must_be_zero),
      cmocka_unit_test(test_options__a_run_with_unknown_fields_sets_nothing),
      cmocka_unit_test(test_options__errors_go_to_the_scope),
      cmocka_unit_test(test_options__an_older_program_gets_defaults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
