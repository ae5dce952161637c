// Ops whose shapes depend on values: they stand in one segment until a shape is needed, what was
// prepared for them serves other steps only where it may, threads do not meet in it, and short
// memory leaves nothing behind.
#include <pthread.h>
#include <stdatomic.h>

#include "ops/array_fixture.h"
#include "plan/segment/segment.h"
#include "plan/plan_text.h"
#include "plan/printed.h"

enum { NUM_THREADS = 4, RUNS = 100 };

static rheos_output placeholder(fixture *f, rheos_dtype dtype, rheos_shape shape) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &shape)};
  return rheos_operation_output(add(f, "Placeholder", NULL, 0, attrs, 2), 0);
}

static rheos_output op_1(fixture *f, const char *type, rheos_output a) {
  return rheos_operation_output(add(f, type, &a, 1, NULL, 0), 0);
}

static void test_dynamic__ops_share_a_segment_until_a_shape_is_needed(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, RHEOS_FLOAT, RHEOS_SHAPE(6));
  const rheos_output some = op_1(f, "Unique", x), others = op_1(f, "Unique", op_1(f, "Neg", x));
  const rheos_output concat_inputs[] = {some, others, int_scalar(f, 0)};
  const rheos_output both =
      rheos_operation_output(add(f, "ConcatV2", concat_inputs, 3, NULL, 0), 0);
  check(rheos_scope_finish(f->scope));
  rheos__resources *resources = rheos__resources_new();
  assert_non_null(resources);
  const rheos__plan_context context = {
      .resources = resources, .devices = plan_devices(), .num_devices = 1, .num_threads = 1};
  const rheos__edge in = {x.id, 0}, out = {both.id, 0};
  rheos__plan *plan = NULL;
  check(rheos__plan_new(f->graph, &context, &in, 1, &out, 1, NULL, 0, &plan));
  rheos__segment *segment = NULL;
  const rheos_shape shape = RHEOS_SHAPE(6);
  check(rheos__segment_new(plan, NULL, &shape, 1, NULL, &segment));
  assert_int_equal(segment->num_dynamic_values, 2);
  assert_int_equal(segment->end_entry, plan->num_entries - 1);
  rheos__segments_free(segment);
  rheos__plan_free(plan);
  rheos__resources_free(resources);
}

// The sum of 0, 1, ... below a fed limit, how many values of a fed vector are not zero, and how
// many there are that differ.
typedef struct program {
  rheos_output limit, x, fetches[3];
} program;

static program build(fixture *f) {
  program p = {.limit = placeholder(f, RHEOS_INT32, RHEOS_SCALAR),
               .x = placeholder(f, RHEOS_FLOAT, RHEOS_SHAPE(-1))};
  const int32_t zero = 0, one = 1;
  const rheos_output start = ints(f, RHEOS_SCALAR, &zero), step = ints(f, RHEOS_SCALAR, &one);
  const rheos_output range_inputs[] = {start, p.limit, step};
  const rheos_output range = rheos_operation_output(add(f, "Range", range_inputs, 3, NULL, 0), 0);
  const rheos_output sum_inputs[] = {range, ints(f, RHEOS_SHAPE(1), &zero)};
  p.fetches[0] = rheos_operation_output(add(f, "Sum", sum_inputs, 2, NULL, 0), 0);
  p.fetches[1] = op_1(f, "Size", op_1(f, "Where", p.x));
  p.fetches[2] = op_1(f, "Size", op_1(f, "Unique", p.x));
  check(rheos_scope_finish(f->scope));
  return p;
}

// x is 1, 2, ... `differing`, over and over, with `zeros` zeros behind.
static rheos_status *run(rheos_session *session, const program *p, int32_t limit, int differing,
                         int zeros, bool *out_right) {
  float values[32] = {0};
  const int count = 16;
  for (int i = 0; i < count - zeros; i++) values[i] = 1 + (float)(i % differing);
  rheos_tensor *n = NULL, *x = NULL;
  rheos_status *status = rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &limit, &n);
  if (!status) status = rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(count), values, &x);
  rheos_feed feeds[] = {{p->limit, n}, {p->x, x}};
  rheos_fetch fetches[] = {{p->fetches[0], NULL}, {p->fetches[1], NULL}, {p->fetches[2], NULL}};
  if (!status) status = rheos_session_run(session, feeds, 2, fetches, 3, NULL, 0, NULL);
  const int32_t expected[] = {limit * (limit - 1) / 2, count - zeros, differing + (zeros > 0)};
  *out_right = !status;
  for (int i = 0; i < 3; i++) {
    *out_right = *out_right && *(int32_t *)rheos_tensor_data(fetches[i].value) == expected[i];
    rheos_tensor_unref(fetches[i].value);
  }
  rheos_tensor_unref(n);
  rheos_tensor_unref(x);
  return status;
}

static void test_dynamic__values_may_change_from_step_to_step(void **state) {
  fixture *f = *state;
  const program p = build(f);
  const int limits[] = {3, 3, 5, 3, 0, 0, 300, 300, 5};
  for (int i = 0; i < 90; i++) {
    bool right = false;
    check(run(f->session, &p, limits[i % 9], 1 + i % 7, i % 4, &right));
    assert_true(right);
  }
}

// A session that goes on after an error of a late op: the limit is on the wrong side.
static void test_dynamic__errors_do_not_stay(void **state) {
  fixture *f = *state;
  const program p = build(f);
  for (int i = 0; i < 3; i++) {
    bool right = false;
    check(run(f->session, &p, 4, 2, 1, &right));
    assert_true(right);
    expect_error(run(f->session, &p, -1, 2, 1, &right), RHEOS_INVALID_ARGUMENT, "Range");
  }
}

typedef struct thread {
  pthread_t id;
  rheos_session *session;
  const program *p;
  int number;
} thread;

static atomic_int wrong;  // cmocka's assertions are for the main thread only

static void *run_many(void *argument) {
  const thread *t = argument;
  for (int i = 0; i < RUNS; i++) {
    bool right = false;
    rheos_status *status =
        run(t->session, t->p, t->number * 10 + i / 10 % 3, 1 + t->number, i / 5 % 2, &right);
    if (status || !right) atomic_fetch_add(&wrong, 1);
    rheos_status_free(status);
  }
  return NULL;
}

static void test_dynamic__threads_run_one_plan_with_values_of_their_own(void **state) {
  fixture *f = *state;
  const program p = build(f);
  thread threads[NUM_THREADS];
  for (int i = 0; i < NUM_THREADS; i++) {
    threads[i] = (thread){.session = f->session, .p = &p, .number = i};
    assert_int_equal(pthread_create(&threads[i].id, NULL, run_many, &threads[i]), 0);
  }
  for (int i = 0; i < NUM_THREADS; i++) pthread_join(threads[i].id, NULL);
  assert_int_equal(atomic_load(&wrong), 0);
}

// ---- Short memory

static long long until_failure;  // allocations that still work; negative: all do

static void *allocate(void *user, size_t size_bytes) {
  (void)user;
  if (until_failure == 0) return NULL;
  if (until_failure > 0) until_failure--;
  return malloc(size_bytes);
}

static void *reallocate(void *user, void *memory, size_t size_bytes) {
  (void)user;
  if (until_failure == 0) return NULL;
  if (until_failure > 0) until_failure--;
  return realloc(memory, size_bytes);
}

static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

static void fail_once_at(long long allocation) {
  fixture *f = NULL;
  set_up((void **)&f);
  const program p = build(f);
  bool right = false;
  check(run(f->session, &p, 2, 3, 1, &right));  // another step has been there
  until_failure = allocation;
  rheos_status *status = run(f->session, &p, 7, 4, 2, &right);
  until_failure = -1;
  if (status) {
    assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
  }
  for (int i = 0; i < 2; i++) {
    check(run(f->session, &p, 7, 4, 2, &right));
    assert_true(right);
  }
  tear_down((void **)&f);
}

static void test_dynamic__short_memory_is_no_lasting_harm(void **state) {
  (void)state;
  const rheos_allocator failing = {allocate, reallocate, release, NULL};
  until_failure = -1;
  rheos_set_allocator(&failing);
  for (int n = 0; n < 60; n++) fail_once_at(n);
  rheos_set_allocator(NULL);
}

static void test_dynamic__a_segment_ends_where_a_shape_is_needed(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f, RHEOS_FLOAT, RHEOS_SHAPE(6));
  const rheos_output y = op_1(f, "Size", op_1(f, "Neg", op_1(f, "Unique", x)));
  check(rheos_scope_finish(f->scope));
  expect_printed(f->session,
                 &(rheos__step_ends){.feeds = &x, .num_feeds = 1, .fetches = &y, .num_fetches = 1},
                 &RHEOS_SHAPE(6), "segment instructions then",
                 "segment: entries e0 to e0, depth 0, for [6]\n"
                 "instructions\n"
                 "  i0 dynamic e0 of v0 -> v1, v2; releases v2\n"
                 "then: from e1 on, when the shapes are known of v1\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_dynamic__ops_share_a_segment_until_a_shape_is_needed),
      TEST(test_dynamic__values_may_change_from_step_to_step),
      TEST(test_dynamic__errors_do_not_stay),
      TEST(test_dynamic__threads_run_one_plan_with_values_of_their_own),
      cmocka_unit_test(test_dynamic__short_memory_is_no_lasting_harm),
      TEST(test_dynamic__a_segment_ends_where_a_shape_is_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
