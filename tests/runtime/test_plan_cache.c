// Plans are made side by side, each signature once; who waits can be stopped; what failed is not
// kept.
#include "runtime/session/plan_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <rheos/scope.h>

#include "plan/plan_text.h"
#include "runtime/step/home.h"

enum { NUM_THREADS = 16, PATIENCE_S = 60, CHAIN = 20000, LARGE_BYTES = 256 * 1024 };

// A place where threads wait until so many are there at once, but not for ever: a test that is
// wrong shall end.
typedef struct meeting {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int expected, there;
  bool failed;
} meeting;

static void meeting_init(meeting *m, int expected) {
  memset(m, 0, sizeof *m);
  pthread_mutex_init(&m->mutex, NULL);
  pthread_cond_init(&m->changed, NULL);
  m->expected = expected;
}

static void arrive_and_wait(meeting *m) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE_S;
  pthread_mutex_lock(&m->mutex);
  ++m->there;
  pthread_cond_broadcast(&m->changed);
  while (m->there < m->expected && !m->failed) {
    m->failed = pthread_cond_timedwait(&m->changed, &m->mutex, &until) != 0;
  }
  pthread_mutex_unlock(&m->mutex);
}

static rheos_output zero(rheos_scope *s) {
  rheos_tensor *value = NULL;
  const float number = 0;
  assert_null(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &number, &value));
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_tensor("value", value)};
  rheos_op_args args = {.type = "Const", .attrs = attrs, .num_attrs = 2};
  const rheos_output output = rheos_operation_output(rheos_op(s, &args), 0);
  rheos_tensor_unref(value);
  return output;
}

// ---- The cache by itself

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *scope;
  pthread_mutex_t mutex;
  rheos__home home;
  rheos__plan_cache cache;
  meeting meeting;  // of those who make a plan
  _Atomic int num_making;
  _Atomic bool fails;
  rheos__edge fetches[NUM_THREADS];
} fixture;

static rheos_status *make(void *argument, const rheos__signature_ids *ids, rheos__plan **out_plan) {
  fixture *f = argument;
  atomic_fetch_add(&f->num_making, 1);
  arrive_and_wait(&f->meeting);
  if (atomic_load(&f->fails)) return rheos_status_new(RHEOS_ABORTED, "no plan");
  const rheos__plan_context context = {.devices = plan_devices(), .num_devices = 1};
  return rheos__plan_new(f->graph, &context, ids->feeds, ids->num_feeds, ids->fetches,
                         ids->num_fetches, ids->targets, ids->num_targets, out_plan);
}

// `num_meeting`: how many wait for each other in make().
static void set_up(fixture *f, int num_meeting) {
  memset(f, 0, sizeof *f);
  f->graph = rheos_graph_new();
  f->scope = rheos_scope_new(f->graph);
  for (int i = 0; i < NUM_THREADS; i++) {
    const rheos_output output = zero(f->scope);
    f->fetches[i] = (rheos__edge){output.id, output.index};
  }
  assert_null(rheos_scope_finish(f->scope));
  pthread_mutex_init(&f->mutex, NULL);
  meeting_init(&f->meeting, num_meeting);
  assert_null(rheos__home_init(&f->home, &(rheos__home_options){.owner = "Session"}));
  f->cache = (rheos__plan_cache){
      .make = make, .argument = f, .mutex = &f->mutex, .home = &f->home, .max_plans = 64};
  rheos__plan_cache_init(&f->cache);
}

static void tear_down(fixture *f) {
  rheos__plan_cache_deinit(&f->cache);
  rheos__home_deinit(&f->home);
  rheos_scope_free(f->scope);
  rheos_graph_unref(f->graph);
}

typedef struct request {
  fixture *fixture;
  int fetch;
  const rheos_run_options *options;
  rheos__cached_plan *plan;  // the answers
  rheos_status *status;
} request;

static void *get(void *argument) {
  request *r = argument;
  rheos__signature_ids ids = {.fetches = &r->fixture->fetches[r->fetch], .num_fetches = 1};
  rheos__signature_ids_hash(&ids);
  pthread_mutex_lock(&r->fixture->mutex);
  r->status = rheos__plan_cache_get(&r->fixture->cache, &ids, r->options, &r->plan);
  pthread_mutex_unlock(&r->fixture->mutex);
  return NULL;
}

static void get_in_threads(request *requests, int count) {
  pthread_t threads[NUM_THREADS];
  for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, get, &requests[i]);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void wait_until_made(fixture *f, int num_making) {
  while (atomic_load(&f->num_making) < num_making) nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static void test_plan_cache__signatures_are_planned_side_by_side(void **state) {
  (void)state;
  fixture f;
  set_up(&f, NUM_THREADS);
  request requests[NUM_THREADS] = {0};
  for (int i = 0; i < NUM_THREADS; i++) requests[i] = (request){.fixture = &f, .fetch = i};
  get_in_threads(requests, NUM_THREADS);
  assert_false(f.meeting.failed);
  for (int i = 0; i < NUM_THREADS; i++) {
    assert_null(requests[i].status);
    assert_int_equal(requests[i].plan->plan->fetches[0].id, f.fetches[i].id);
    rheos__cached_plan_unref(requests[i].plan);
  }
  assert_int_equal(f.cache.num_made, NUM_THREADS);
  tear_down(&f);
}

static void test_plan_cache__a_signature_is_planned_once(void **state) {
  (void)state;
  fixture f;
  set_up(&f, 1);
  request requests[NUM_THREADS] = {0};
  for (int i = 0; i < NUM_THREADS; i++) requests[i] = (request){.fixture = &f};
  get_in_threads(requests, NUM_THREADS);
  for (int i = 0; i < NUM_THREADS; i++) {
    assert_null(requests[i].status);
    assert_ptr_equal(requests[i].plan, requests[0].plan);
    rheos__cached_plan_unref(requests[i].plan);
  }
  assert_int_equal(f.num_making, 1);
  tear_down(&f);
}

static void test_plan_cache__a_failure_is_not_kept(void **state) {
  (void)state;
  fixture f;
  set_up(&f, 1);
  f.fails = true;
  request requests[NUM_THREADS] = {0};
  for (int i = 0; i < NUM_THREADS; i++) requests[i] = (request){.fixture = &f};
  get_in_threads(requests, NUM_THREADS);
  for (int i = 0; i < NUM_THREADS; i++) {
    assert_int_equal(rheos_status_code(requests[i].status), RHEOS_ABORTED);
    assert_null(requests[i].plan);
    rheos_status_free(requests[i].status);
  }
  assert_int_equal(f.cache.num_plans, 0);
  f.fails = false;
  request again = {.fixture = &f};
  get(&again);
  assert_null(again.status);
  rheos__cached_plan_unref(again.plan);
  assert_int_equal(f.cache.num_made, 1);
  tear_down(&f);
}

// One thread makes the plan until a second one comes, which here never asks for one.
static void expect_stopped(const rheos_run_options *options, rheos_code code, bool closes) {
  fixture f;
  set_up(&f, 2);
  request first = {.fixture = &f}, second = {.fixture = &f, .options = options};
  pthread_t maker;
  pthread_create(&maker, NULL, get, &first);
  wait_until_made(&f, 1);
  if (closes) rheos__home_close(&f.home);
  get(&second);
  assert_int_equal(rheos_status_code(second.status), code);
  assert_null(second.plan);
  rheos_status_free(second.status);
  arrive_and_wait(&f.meeting);
  pthread_join(maker, NULL);
  assert_null(first.status);
  assert_int_equal(f.num_making, 1);
  rheos__cached_plan_unref(first.plan);
  tear_down(&f);
}

static void test_plan_cache__waiting_is_cancelled(void **state) {
  (void)state;
  rheos_cancellation *cancellation = rheos_cancellation_new();
  rheos_cancel(cancellation);
  expect_stopped(&(rheos_run_options){.cancellation = cancellation}, RHEOS_CANCELLED, false);
  rheos_cancellation_free(cancellation);
}

static void test_plan_cache__waiting_ends_at_the_deadline(void **state) {
  (void)state;
  expect_stopped(&(rheos_run_options){.timeout_ms = 30}, RHEOS_DEADLINE_EXCEEDED, false);
}

static void test_plan_cache__waiting_ends_when_the_session_closes(void **state) {
  (void)state;
  expect_stopped(NULL, RHEOS_CANCELLED, true);
}

// A plan that leaves while it is made is good for who asked for it.
static void test_plan_cache__a_plan_may_leave_while_it_is_made(void **state) {
  (void)state;
  fixture f;
  set_up(&f, 2);
  f.cache.max_plans = 1;
  request requests[2] = {{.fixture = &f}, {.fixture = &f, .fetch = 1}};
  get_in_threads(requests, 2);
  assert_false(f.meeting.failed);
  for (int i = 0; i < 2; i++) {
    assert_null(requests[i].status);
    assert_int_equal(requests[i].plan->plan->fetches[0].id, f.fetches[i].id);
    rheos__cached_plan_unref(requests[i].plan);
  }
  assert_int_equal(f.cache.num_plans, 1);
  tear_down(&f);
}

// ---- Sessions
//
// Threads meet at the first large block that each asks for while it runs: the plan's entries.

static meeting allocating;
static _Thread_local bool meets;

static void *meet_and_allocate(void *user, size_t size_bytes) {
  (void)user;
  if (meets && size_bytes >= LARGE_BYTES) {
    meets = false;
    arrive_and_wait(&allocating);
  }
  return malloc(size_bytes);
}
static void *reallocate(void *user, void *memory, size_t size_bytes) {
  (void)user;
  return realloc(memory, size_bytes);
}
static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

typedef struct session_run {
  rheos_session *session;
  rheos_output fetch;
  rheos_status *status;
} session_run;

static void *run_once(void *argument) {
  session_run *r = argument;
  rheos_fetch fetch = {.output = r->fetch};
  meets = true;
  r->status = rheos_session_run(r->session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  meets = false;
  rheos_tensor_unref(fetch.value);
  return NULL;
}

static void test_plan_cache__a_session_plans_side_by_side(void **state) {
  (void)state;
  const rheos_allocator allocator = {meet_and_allocate, reallocate, release, NULL};
  rheos_set_allocator(&allocator);
  meeting_init(&allocating, NUM_THREADS);
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  session_run runs[NUM_THREADS] = {0};
  rheos_output y = zero(s);
  for (int i = 0; i < CHAIN + NUM_THREADS; i++) {
    rheos_op_args args = {.type = "Neg", .inputs = &y, .num_inputs = 1};
    y = rheos_operation_output(rheos_op(s, &args), 0);
    if (i >= CHAIN) runs[i - CHAIN].fetch = y;
  }
  assert_null(rheos_scope_finish(s));
  rheos_session *session = NULL;
  assert_null(rheos_session_new(graph, NULL, &session));
  pthread_t threads[NUM_THREADS];
  for (int i = 0; i < NUM_THREADS; i++) {
    runs[i].session = session;
    pthread_create(&threads[i], NULL, run_once, &runs[i]);
  }
  for (int i = 0; i < NUM_THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_null(runs[i].status);
  }
  assert_int_equal(allocating.there, NUM_THREADS);
  assert_false(allocating.failed);
  rheos_session_stats stats;
  rheos_session_get_stats(session, &stats);
  assert_int_equal(stats.num_plans, NUM_THREADS);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  rheos_set_allocator(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plan_cache__signatures_are_planned_side_by_side),
      cmocka_unit_test(test_plan_cache__a_signature_is_planned_once),
      cmocka_unit_test(test_plan_cache__a_failure_is_not_kept),
      cmocka_unit_test(test_plan_cache__waiting_is_cancelled),
      cmocka_unit_test(test_plan_cache__waiting_ends_at_the_deadline),
      cmocka_unit_test(test_plan_cache__waiting_ends_when_the_session_closes),
      cmocka_unit_test(test_plan_cache__a_plan_may_leave_while_it_is_made),
      cmocka_unit_test(test_plan_cache__a_session_plans_side_by_side),
  };
  return cmocka_run_group_tests_name("plan_cache", tests, NULL, NULL);
}
