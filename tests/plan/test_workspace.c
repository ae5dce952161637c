// Workspaces: what they point at once they stand for a segment, and what they keep from one to the
// next.
#include "ops/array_fixture.h"
#include "plan/plan_text.h"
#include "plan/segment/segment.h"

static rheos_output op_1(fixture *f, const char *type, rheos_output x) {
  return rheos_operation_output(add(f, type, &x, 1, NULL, 0), 0);
}

// Exp(Neg(x)), op by op, for x of any length.
static rheos__plan *plan_of(fixture *f) {
  const rheos_shape shape = RHEOS_SHAPE(-1);
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &shape);
  const rheos_output y = op_1(f, "Exp", op_1(f, "Neg", x));
  check(rheos_scope_finish(f->scope));
  const rheos__plan_context context = {
      .devices = plan_devices(), .num_devices = 1, .rewrites = {.disable_meta_optimizer = true}};
  const rheos__edge feed = {x.id, 0}, fetch = {y.id, 0};
  rheos__plan *plan = NULL;
  check(rheos__plan_new(f->graph, &context, &feed, 1, &fetch, 1, NULL, 0, &plan));
  return plan;
}

static rheos__segment *segment_of(rheos__plan *plan, int64_t length) {
  const rheos_shape shape = RHEOS_SHAPE(length);
  rheos__segment *segment = NULL;
  check(rheos__segment_new(plan, NULL, &shape, 1, NULL, &segment));
  rheos__segment_link(plan, segment);
  return segment;
}

static void expect_bound(const rheos__workspace *workspace, const rheos__segment *segment) {
  const rheos__binding *binding = &workspace->bindings[segment->depth];
  assert_int_equal(binding->serial, segment->serial);
  assert_true(binding->memory_bytes >= segment->memory_bytes);
  int in_block = 0;
  for (int32_t i = 0; i < segment->num_values; ++i) {
    if (segment->values[i].kind != RHEOS__VALUE_ARENA) continue;
    assert_ptr_equal(workspace->data[segment->first_value + i],
                     binding->memory + segment->values[i].offset);
    ++in_block;
  }
  assert_int_equal(in_block, 1);
}

static void test_workspace__points_into_its_block_for_the_segment(void **state) {
  rheos__plan *plan = plan_of(*state);
  rheos__segment *small = segment_of(plan, 100), *large = segment_of(plan, 100000);
  rheos__workspace *workspace = rheos__workspace_new(plan);
  assert_non_null(workspace);
  check(rheos__workspace_bind(workspace, small));
  expect_bound(workspace, small);
  check(rheos__workspace_bind(workspace, large));
  expect_bound(workspace, large);
  const char *block = workspace->bindings[0].memory;
  check(rheos__workspace_bind(workspace, small));  // in the block that is there
  expect_bound(workspace, small);
  assert_ptr_equal(workspace->bindings[0].memory, block);
  assert_int_equal(workspace->num_bindings, 1);
  rheos__workspaces_free(workspace);
  rheos__plan_free(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_workspace__points_into_its_block_for_the_segment, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
