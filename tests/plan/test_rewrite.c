// The rules, before and after: what a plan runs in place of what the program wrote, and that the bits
// are the same.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan_text.h"

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x;  // floats, [?, 4]
} fixture;

static int set_up(void **state) {
  fixture *f = malloc(sizeof *f);
  f->graph = rheos_graph_new();
  f->s = rheos_scope_new(f->graph);
  f->x = rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(-1, 4), .name = "x");
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
  free(f);
  feed_extremes = false;
  return 0;
}

static rheos_output int_vector(rheos_scope *s, int count, const int32_t *numbers) {
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(count), &tensor);
  assert_null(status);
  memcpy(rheos_tensor_data(tensor), numbers, (size_t)count * sizeof *numbers);
  rheos_output vector = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return vector;
}

// ---- Passing on

static void test_rewrite__what_passes_on_goes(void **state) {
  fixture *f = *state;
  rheos_output same = rheos_identity(f->s, f->x);
  same = rheos_stop_gradient(f->s, rheos_identity(f->s, same));
  check_plan_of(f->s, f->x, rheos_neg(f->s, same, .name = "y"), "y = Neg(x)\n");
}

static void test_rewrite__a_fetched_identity_is_its_input(void **state) {
  fixture *f = *state;
  rheos_output y = rheos_neg(f->s, f->x, .name = "y");
  rheos_output same = rheos_identity(f->s, y);
  rheos_output fetches[] = {same, y, rheos_identity(f->s, f->x)};
  check_plan(f->s, NULL, &f->x, 1, fetches, 3, "y = Neg(x)\n");
}

static void test_rewrite__a_fed_identity_stays(void **state) {
  fixture *f = *state;
  rheos_output same = rheos_identity(f->s, f->x, .name = "same");
  rheos_output y = rheos_neg(f->s, rheos_identity(f->s, same), .name = "y");
  check_plan_of(f->s, same, y, "y = Neg(same)\n");
}

static void test_rewrite__options_turn_groups_off(void **state) {
  fixture *f = *state;
  rheos_output same = rheos_identity(f->s, f->x, .name = "same");
  rheos_output fetches[] = {rheos_neg(f->s, same, .name = "y"), rheos_neg(f->s, same, .name = "z")};
  rheos_rewrite_options off = {.dependency_optimization = RHEOS_TOGGLE_OFF};
  check_plan(f->s, &off, &f->x, 1, fetches, 2, "same = Identity(x)\ny = Neg(same)\n");
  off = (rheos_rewrite_options){.common_subgraph_elimination = RHEOS_TOGGLE_OFF};
  check_plan(f->s, &off, &f->x, 1, fetches, 2, "y = Neg(x)\nz = Neg(x)\n");
  off = (rheos_rewrite_options){.disable_meta_optimizer = true};
  check_plan(f->s, &off, &f->x, 1, fetches, 2, "same = Identity(x)\ny = Neg(same)\nz = Neg(same)\n");
}

// ---- Common subexpressions

static void test_rewrite__the_same_twice_runs_once(void **state) {
  fixture *f = *state;
  rheos_output ys[2];
  for (int i = 0; i < 2; ++i) {
    rheos_output two = rheos_constant_float(f->s, 2, NULL);
    ys[i] = rheos_mul(f->s, rheos_exp(f->s, f->x, .name = "exp"), two, .name = "mul");
  }
  rheos_output y = rheos_sub(f->s, ys[0], ys[1], .name = "y");
  check_plan_of(f->s, f->x, y, "exp = Exp(x)\nmul = Mul(exp, Const)\ny = Sub(mul, mul)\n");
}

static void test_rewrite__random_numbers_stay_apart(void **state) {
  fixture *f = *state;
  rheos_output shape = int_vector(f->s, 1, (int32_t[]){2});
  rheos_output a = rheos_random_uniform(f->s, shape, RHEOS_FLOAT, .seed = 1, .name = "a");
  rheos_output b = rheos_random_uniform(f->s, shape, RHEOS_FLOAT, .seed = 1, .name = "b");
  check_plan_of(f->s, (rheos_output){0}, rheos_sub(f->s, a, b, .name = "y"),
                "a = RandomUniform(Const)\nb = RandomUniform(Const)\ny = Sub(a, b)\n");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_rewrite__what_passes_on_goes),
      TEST(test_rewrite__a_fetched_identity_is_its_input),
      TEST(test_rewrite__a_fed_identity_stays),
      TEST(test_rewrite__options_turn_groups_off),
      TEST(test_rewrite__the_same_twice_runs_once),
      TEST(test_rewrite__random_numbers_stay_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
