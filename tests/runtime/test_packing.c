// Operands kept in the form that kernels want: made once, made again when the variable has changed,
// one for all steps of a session, and the bits that come without them.
#include "ops/array_fixture.h"
#include "runtime/session/session_plan.h"

enum { K = 70, N = 300 };  // some panels of columns, the last one narrow

// ---- The table

static rheos_status *double_up(const void *state, const void *from, void *packing) {
  (void)state;
  for (int i = 0; i < 4; i++) ((float *)packing)[i] = 2 * ((const float *)from)[i];
  return NULL;
}

static rheos__packing_request wish_of(const int *key) {
  return (rheos__packing_request){.bytes = 4 * sizeof(float),
                                  .at_once = true,
                                  .key = key,
                                  .key_bytes = sizeof *key,
                                  .make = double_up};
}

static rheos_tensor *four(float value) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(4), (const float[]){value, 1, 2, 3},
                                 &tensor));
  return tensor;
}

static void expect_first(rheos__packing *packing, const rheos__packing_request *wish,
                         rheos_tensor *from, float first) {
  rheos_tensor *taken = NULL;
  check(rheos__packing_take(packing, wish, from, &taken));
  assert_true(*(const float *)rheos_tensor_data(taken) == first);
  rheos_tensor_unref(taken);
}

static void test_packing__equal_wishes_share_a_form(void **state) {
  (void)state;
  rheos__packings *packings = rheos__packings_new();
  rheos_tensor *x = four(1), *y = four(1);
  const rheos__packing_request one = wish_of(&(int){1}), other = wish_of(&(int){2});
  rheos__packing *a, *b, *c, *d;
  check(rheos__packings_get(packings, NULL, x, &one, &a));
  check(rheos__packings_get(packings, NULL, x, &one, &b));
  check(rheos__packings_get(packings, NULL, x, &other, &c));
  check(rheos__packings_get(packings, NULL, y, &one, &d));
  assert_ptr_equal(a, b);
  assert_ptr_not_equal(a, c);
  assert_ptr_not_equal(a, d);
  expect_first(a, &one, x, 2);
  expect_first(b, &one, x, 2);
  assert_int_equal(rheos__packings_made(packings), 1);
  assert_int_equal(rheos__packings_bytes(packings), 16);
  rheos__packings_unref(packings);  // forms outlive the session
  rheos__packing_unref(a);
  expect_first(b, &one, x, 2);
  rheos__packing_unref(b);
  rheos__packing_unref(c);
  rheos__packing_unref(d);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
}

static void test_packing__a_changed_variable_makes_it_anew(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  rheos__packings *packings = rheos__packings_new();
  rheos__resource *resource = NULL;
  check(rheos__resources_get(resources, &rheos__variable_kind, "v", NULL, &resource));
  rheos__variable_cell *cell = (rheos__variable_cell *)resource;
  rheos__variable_assign_take(cell, four(1));
  const rheos__packing_request wish = wish_of(&(int){1});
  rheos__packing *packing = NULL;
  check(rheos__packings_get(packings, resource, NULL, &wish, &packing));
  rheos_tensor *value = rheos__variable_read(cell), *before = NULL;
  check(rheos__packing_take(packing, &wish, value, &before));
  rheos_tensor_unref(value);
  for (int i = 0; i < 3; i++) {  // in place: the form does not hold on to the value
    rheos_tensor *written = NULL;
    const void *const at = cell->value->data;
    check(rheos__variable_begin_write(cell, NULL, &written));
    ((float *)rheos_tensor_data(written))[0] += 1;
    rheos__variable_end_write(cell);
    assert_ptr_equal(cell->value->data, at);
    expect_first(packing, &wish, cell->value, 2 * (float)(i + 2));
    expect_first(packing, &wish, cell->value, 2 * (float)(i + 2));
  }
  rheos__variable_assign_take(cell, four(9));
  expect_first(packing, &wish, cell->value, 18);
  assert_int_equal(rheos__packings_made(packings), 5);
  assert_true(*(const float *)rheos_tensor_data(before) == 2);  // of the step that took it
  rheos_tensor_unref(before);
  rheos__packing_unref(packing);
  rheos__packings_unref(packings);
  rheos__resource_unref(resource);
  rheos__resources_free(resources);
}

static void test_packing__waits_for_the_second_time(void **state) {
  (void)state;
  rheos__packings *packings = rheos__packings_new();
  rheos_tensor *x = four(1), *y = four(5), *taken = NULL;
  rheos__packing_request wish = wish_of(&(int){1});
  wish.at_once = false;
  rheos__packing *packing = NULL;
  check(rheos__packings_get(packings, NULL, x, &wish, &packing));
  rheos_tensor *const wanted[] = {x, y, x};  // never twice of the same bytes
  for (int i = 0; i < 3; i++) {
    check(rheos__packing_take(packing, &wish, wanted[i], &taken));
    assert_null(taken);
  }
  assert_int_equal(rheos__packings_made(packings), 0);
  assert_int_equal(rheos__packings_bytes(packings), 0);
  expect_first(packing, &wish, x, 2);
  check(rheos__packing_take(packing, &wish, y, &taken));  // that of x is of no use to it
  assert_null(taken);
  expect_first(packing, &wish, y, 10);
  assert_int_equal(rheos__packings_made(packings), 2);
  rheos__packing_unref(packing);
  rheos__packings_unref(packings);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
}

// ---- In steps

typedef struct model {
  rheos_output x, y, next;
  rheos_operation init, assign, train;
} model;

static rheos_tensor *noise(rheos_shape shape, float phase) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    values[i] = sinf(phase + 1.7f * (float)(i % 4099));
  }
  return tensor;
}

static rheos_output noise_constant(fixture *f, rheos_shape shape, float phase) {
  rheos_tensor *tensor = noise(shape, phase);
  const rheos_output output = rheos_constant(f->scope, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

// relu(x w^T + b) c^T, w a variable and c a constant, and something that changes w.
static model build(fixture *f, bool use_resource) {
  model m = {.x = rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(-1, K))};
  const rheos_variable w =
      rheos_variable_new(f->scope, noise_constant(f, RHEOS_SHAPE(N, K), 0.1f),
                         &(rheos_variable_options){.use_resource = use_resource});
  m.next = rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(N, K));
  const rheos_output product = rheos_matmul(f->scope, m.x, w.value, .transpose_b = true);
  const rheos_output h = rheos_relu(
      f->scope, rheos_bias_add(f->scope, product, noise_constant(f, RHEOS_SHAPE(N), 0.5f)));
  m.y = rheos_matmul(f->scope, h, noise_constant(f, RHEOS_SHAPE(20, N), 0.7f), .transpose_b = true);
  const rheos_output inputs[] = {w.handle, m.next};
  m.assign = add(f, use_resource ? "AssignVariableOp" : "Assign", inputs, 2, NULL, 0);
  m.train = rheos_minimize(f->scope, rheos_gradient_descent(1e-3), m.y);
  m.init = rheos_global_variables_initializer(f->scope);
  check(rheos_scope_finish(f->scope));
  return m;
}

static rheos_session *start(fixture *f, const model *m, int threads, rheos_toggle toggle) {
  rheos_session *session = NULL;
  const rheos_session_options options = {.num_threads = threads,
                                         .rewrites = {.layout_optimizer = toggle}};
  check(rheos_session_new(f->graph, &options, &session));
  check(rheos_session_run(session, NULL, 0, NULL, 0, &m->init, 1, NULL));
  return session;
}

static rheos_tensor *run(rheos_session *session, const model *m, rheos_tensor *x) {
  rheos_feed feed = {m->x, x};
  rheos_fetch fetch = {m->y, NULL};
  check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  return fetch.value;
}

static void assign(rheos_session *session, const model *m, float phase) {
  rheos_tensor *next = noise(RHEOS_SHAPE(N, K), phase);
  rheos_feed feed = {m->next, next};
  check(rheos_session_run(session, &feed, 1, NULL, 0, &m->assign, 1, NULL));
  rheos_tensor_unref(next);
}

static void train(rheos_session *session, const model *m, rheos_tensor *x) {
  rheos_feed feed = {m->x, x};
  check(rheos_session_run(session, &feed, 1, NULL, 0, &m->train, 1, NULL));
}

static void expect_same(rheos_session *session, rheos_session *plain, const model *m,
                        rheos_tensor *x) {
  rheos_tensor *a = run(session, m, x), *b = run(plain, m, x);
  assert_int_equal(rheos_tensor_size_bytes(a), rheos_tensor_size_bytes(b));
  assert_memory_equal(rheos_tensor_data(a), rheos_tensor_data(b), rheos_tensor_size_bytes(a));
  rheos_tensor_unref(a);
  rheos_tensor_unref(b);
}

static void check_bits(fixture *f, bool use_resource) {
  const model m = build(f, use_resource);
  static const int threads[] = {1, 2, 3, 8}, batches[] = {3, 20, 1500};
  rheos_session *plain = start(f, &m, 1, RHEOS_TOGGLE_OFF);
  for (int t = 0; t < 4; t++) {
    rheos_session *session = start(f, &m, threads[t], RHEOS_TOGGLE_DEFAULT);
    for (int b = 0; b < 3; b++) {
      rheos_tensor *x = noise(RHEOS_SHAPE(batches[b], K), (float)b);
      for (int i = 0; i < 2; i++) {
        expect_same(session, plain, &m, x);
        train(session, &m, x);
        train(plain, &m, x);
        expect_same(session, plain, &m, x);
        expect_same(session, plain, &m, x);
        assign(session, &m, (float)(i + b + t));
        assign(plain, &m, (float)(i + b + t));
      }
      rheos_tensor_unref(x);
    }
    rheos_session_free(session);
    rheos_session_free(plain);
    plain = start(f, &m, 1, RHEOS_TOGGLE_OFF);
  }
  rheos_session_free(plain);
}

static void test_packing__keeps_the_bits(void **state) { check_bits(*state, false); }
static void test_packing__keeps_the_bits_of_resources(void **state) { check_bits(*state, true); }

// The forms of the plan for y; how many operands it finds in them.
static rheos__packings *packings_of(rheos_session *session, const model *m, int64_t batch,
                                    rheos__plan **out_plan, int32_t *out_num_kept) {
  const rheos_shape shape = RHEOS_SHAPE(batch, K);
  const rheos__segment *segment = NULL;
  check(rheos__session_plan(session, &(rheos__step_ends){&m->x, 1, &m->y, 1, NULL, 0}, &shape,
                            out_plan, &segment));
  *out_num_kept = segment->num_packed_operands;
  return (*out_plan)->context.packings;
}

static void test_packing__is_made_once_for_all_batches(void **state) {
  fixture *f = *state;
  const model m = build(f, true);
  rheos_session *session = start(f, &m, 2, RHEOS_TOGGLE_DEFAULT);
  rheos__plan *plan = NULL;
  int32_t num_kept = 0;
  rheos__packings *packings = packings_of(session, &m, 1500, &plan, &num_kept);
  assert_int_equal(num_kept, 2);
  rheos_tensor *x = noise(RHEOS_SHAPE(1500, K), 0), *y = noise(RHEOS_SHAPE(1600, K), 0);
  rheos_tensor_unref(run(session, &m, x));
  assert_int_equal(rheos__packings_made(packings), 0);
  for (int i = 0; i < 3; i++) {
    rheos_tensor_unref(run(session, &m, y));
    assert_int_equal(rheos__packings_made(packings), 2);
    rheos_tensor_unref(run(session, &m, x));
  }
  assert_int_equal(rheos__packings_bytes(packings), (N * K + 20 * N) * (int)sizeof(float));
  assign(session, &m, 1);
  rheos_tensor_unref(run(session, &m, x));
  assert_int_equal(rheos__packings_made(packings), 2);
  rheos_tensor_unref(run(session, &m, y));
  assert_int_equal(rheos__packings_made(packings), 3);  // of the variable alone
  train(session, &m, x);
  train(session, &m, x);
  assert_int_equal(rheos__packings_made(packings), 3);  // a step that writes it makes none
  rheos_tensor_unref(run(session, &m, x));
  rheos_tensor_unref(run(session, &m, x));
  assert_int_equal(rheos__packings_made(packings), 4);
  rheos__plan_free(plan);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
  rheos_session_free(session);
}

static void test_packing__options_turn_it_off(void **state) {
  fixture *f = *state;
  const model m = build(f, false);
  rheos_session *session = start(f, &m, 2, RHEOS_TOGGLE_OFF);
  rheos__plan *plan = NULL;
  int32_t num_kept = 1;
  assert_null(packings_of(session, &m, 1500, &plan, &num_kept));
  assert_int_equal(num_kept, 0);
  rheos__plan_free(plan);
  rheos_session_free(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_packing__equal_wishes_share_a_form),
      cmocka_unit_test(test_packing__a_changed_variable_makes_it_anew),
      cmocka_unit_test(test_packing__waits_for_the_second_time),
      cmocka_unit_test_setup_teardown(test_packing__keeps_the_bits, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_packing__keeps_the_bits_of_resources, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_packing__is_made_once_for_all_batches, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_packing__options_turn_it_off, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
