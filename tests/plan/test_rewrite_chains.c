// What rewriting a chain of one op takes, for every op that can stand on itself: as much for each
// of its nodes, however long it is. Counted in what the rewriter goes over, not in time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan_text.h"

// What stands beside the chain: operands taken in turn, before or behind it.
typedef enum beside {
  BESIDE_NOTHING,
  BESIDE_ITSELF,
  BESIDE_X,
  BEHIND_X,
  BESIDE_ONE,
  BESIDE_AXES,
  BESIDE_SHAPES,
  IN_BRANCHES,
  NUM_BESIDES
} beside;

typedef struct chain {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x, one, yes, axes, shapes[2];
} chain;

static rheos_output constant(rheos_scope *s, rheos_dtype dtype, rheos_shape shape,
                             const void *values) {
  rheos_tensor *tensor = NULL;
  assert_null(rheos_tensor_from_values(dtype, shape, values, &tensor));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static chain chain_new(rheos_dtype dtype) {
  const union {
    float f;
    int32_t i;
    bool b;
  } ones[] = {[RHEOS_FLOAT] = {.f = 1}, [RHEOS_INT32] = {.i = 1}, [RHEOS_BOOL] = {.b = true}};
  const int32_t shapes[][2] = {{3, 2}, {2, 3}}, axes[] = {1, 0};
  const bool yes = true;
  chain c = {.graph = rheos_graph_new()};
  c.s = rheos_scope_new(c.graph);
  c.x = rheos_placeholder(c.s, dtype, .shape = &RHEOS_SHAPE(2, 3), .name = "x");
  c.one = constant(c.s, dtype, RHEOS_SCALAR, &ones[dtype]);
  c.yes = constant(c.s, RHEOS_BOOL, RHEOS_SCALAR, &yes);
  c.axes = int_vector(c.s, 2, axes);
  for (int i = 0; i < 2; ++i) c.shapes[i] = int_vector(c.s, 2, shapes[i]);
  return c;
}

static void chain_deinit(chain *c) {
  rheos_scope_free(c->s);
  rheos_graph_unref(c->graph);
}

static size_t operands_of(const chain *c, beside beside, rheos_output last, int number,
                          rheos_output *out) {
  const rheos_output seconds[NUM_BESIDES] = {
      [BESIDE_ITSELF] = last, [BEHIND_X] = last,       [BESIDE_X] = c->x,
      [BESIDE_ONE] = c->one,  [BESIDE_AXES] = c->axes, [BESIDE_SHAPES] = c->shapes[number % 2],
  };
  out[0] = beside == BEHIND_X ? c->x : last;
  out[1] = seconds[beside];
  if (beside != IN_BRANCHES) return beside == BESIDE_NOTHING ? 1 : 2;
  out[0] = c->yes;
  out[1] = last;
  out[2] = c->x;
  return 3;
}

// The last of `length` nodes; none if the op cannot stand on itself.
static rheos_output extend(chain *c, const char *op, beside beside, int length) {
  rheos_output last = c->x;
  for (int i = 0; i < length && last.graph != NULL; ++i) {
    rheos_output operands[3];
    const size_t count = operands_of(c, beside, last, i, operands);
    const rheos_operation made =
        rheos_op(c->s, &(rheos_op_args){.type = op, .inputs = operands, .num_inputs = count});
    last = made.graph == NULL || rheos_operation_num_outputs(made) == 0
               ? (rheos_output){0}
               : rheos_operation_output(made, 0);
  }
  return last;
}

// -1: it has no plan, as a chain of Enter has none.
static int64_t steps_to(const chain *c, rheos_output last) {
  const rheos__plan_context context = {.devices = plan_devices(), .num_devices = 1};
  const rheos__edge fed = {c->x.id, c->x.index}, fetched = {last.id, last.index};
  rheos__plan *plan = NULL;
  rheos_status *status = rheos__plan_new(c->graph, &context, &fed, 1, &fetched, 1, NULL, 0, &plan);
  if (status != NULL) {
    rheos_status_free(status);
    return -1;
  }
  const int64_t steps = plan->num_rewrite_steps;
  rheos__plan_free(plan);
  return steps;
}

// -1: there is no such chain.
static int64_t steps_of(const char *op, rheos_dtype dtype, beside beside, int length) {
  chain c = chain_new(dtype);
  const rheos_output last = extend(&c, op, beside, length);
  const int64_t steps = last.graph == NULL ? -1 : steps_to(&c, last);
  chain_deinit(&c);
  return steps;
}

static void test_rewrite_chains__any_op_takes_as_much_for_each_node(void **state) {
  (void)state;
  enum { SHORT = 60 };
  static const rheos_dtype dtypes[] = {RHEOS_FLOAT, RHEOS_INT32, RHEOS_BOOL};
  int num_chains = 0;
  for (int32_t i = 0; i < rheos__op_table_size; ++i) {
    const char *op = rheos__op_table[i]->name;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; ++d) {
      for (beside b = 0; b < NUM_BESIDES; ++b) {
        if (steps_of(op, dtypes[d], b, 2) < 0) continue;
        const int64_t once = steps_of(op, dtypes[d], b, SHORT);
        const int64_t of_four = steps_of(op, dtypes[d], b, 4 * SHORT);
        if (once < 0 || of_four < 0) continue;  // its shapes grow
        ++num_chains;
        if (of_four > 5 * once + SHORT) {
          fail_msg("%s beside %d: %lld steps for %d nodes, %lld for four times as many", op, (int)b,
                   (long long)once, SHORT, (long long)of_four);
        }
      }
    }
  }
  assert_true(num_chains > 300);
}

static void test_rewrite_chains__long_ones_of_what_cancels_out(void **state) {
  (void)state;
  enum { LONG = 100000 };
  static const struct {
    const char *op;
    beside beside;
  } rows[] = {{"Neg", BESIDE_NOTHING},  {"Abs", BESIDE_NOTHING},    {"Identity", BESIDE_NOTHING},
              {"Relu", BESIDE_NOTHING}, {"Exp", BESIDE_NOTHING},    {"Mul", BESIDE_ONE},
              {"AddV2", BESIDE_X},      {"Reshape", BESIDE_SHAPES}, {"Transpose", BESIDE_AXES},
              {"SelectV2", IN_BRANCHES}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    assert_in_range(steps_of(rows[i].op, RHEOS_FLOAT, rows[i].beside, LONG), 1, 10 * LONG);
  }
}

// Between two dtypes, so that each takes the other's attribute.
static void test_rewrite_chains__casts_there_and_back(void **state) {
  (void)state;
  enum { LENGTH = 20000 };
  chain c = chain_new(RHEOS_FLOAT);
  rheos_output last = c.x;
  for (int i = 0; i < LENGTH; ++i) {
    last = rheos_cast(c.s, last, i % 3 == 0 ? RHEOS_DOUBLE : RHEOS_FLOAT);
  }
  assert_in_range(steps_to(&c, last), 1, 10 * LENGTH);
  chain_deinit(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rewrite_chains__any_op_takes_as_much_for_each_node),
      cmocka_unit_test(test_rewrite_chains__long_ones_of_what_cancels_out),
      cmocka_unit_test(test_rewrite_chains__casts_there_and_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
