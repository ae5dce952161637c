// Packed operands of a plan: what stays from step to step is packed once for the products that read
// it, and what the step writes is not.
#include "ops/array_fixture.h"
#include "plan/printed.h"

enum { ROWS = 1500, K = 70, N = 300 };

static rheos_output product(fixture *f, rheos_output x, rheos_output by, const char *name) {
  return rheos_matmul(f->scope, x, by, .transpose_b = true, .name = name);
}

static void test_packed_operand__of_what_stays(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "x");
  const rheos_output stays = waves(f, 1, RHEOS_SHAPE(N, K), 0);
  const rheos_output fed = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "fed");
  const rheos_output ends[] = {x, fed};
  const rheos_output fetches[] = {product(f, x, stays, "y"), product(f, x, fed, "z")};
  check(rheos_scope_finish(f->scope));
  const rheos_shape shapes[] = {RHEOS_SHAPE(ROWS, K), RHEOS_SHAPE(N, K)};
  expect_printed(
      f->session,
      &(rheos__step_ends){.feeds = ends, .num_feeds = 2, .fetches = fetches, .num_fetches = 2},
      shapes, "entries instructions",
      "entries\n"
      "  e0 Const = Const() -> v2\n"
      "  e1 y = MatMul(v0, v2) -> v3\n"
      "  e2 z = MatMul(v0, v1) -> v4\n"
      "instructions\n"
      "  i0 run e1 of v0, v2 -> v3; packed operand v2\n"
      "  i1 run e2 of v0, v1 -> v4\n");
}

static void test_packed_operand__of_variables_that_the_step_leaves(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "x");
  const rheos_variable w = rheos_variable_new(f->scope, waves(f, 1, RHEOS_SHAPE(N, K), 0), NULL);
  const rheos_output y = product(f, x, w.value, "y");
  const rheos_output inputs[] = {w.handle, waves(f, 1, RHEOS_SHAPE(N, K), 1)};
  const rheos_operation write = add(f, "Assign", inputs, 2, NULL, 0);
  check(rheos_scope_finish(f->scope));
  rheos__step_ends ends = {
      .feeds = &x, .num_feeds = 1, .fetches = &y, .num_fetches = 1, .targets = &write};
  expect_printed(f->session, &ends, &RHEOS_SHAPE(ROWS, K), "instructions",
                 "instructions\n"
                 "  i0 read e1 of v1 -> v2\n"
                 "  i1 run e2 of v0, v2 -> v3; packed operand v2; releases v2\n");
  ends.num_targets = 1;
  expect_printed(f->session, &ends, &RHEOS_SHAPE(ROWS, K), "instructions",
                 "instructions\n"
                 "  i0 read e1 of v1 -> v2\n"
                 "  i1 run e2 of v0, v2 -> v3; releases v2\n"
                 "  i2 compute e4 of v1, v4 -> v5\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_packed_operand__of_what_stays),
      TEST(test_packed_operand__of_variables_that_the_step_leaves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
