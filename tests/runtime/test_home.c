// Whatever a step runs, it begins and ends in its home: what stops it, what tells that it waits,
// and what becomes of later ones is the same for runs, callables, parts, operations at once and
// datasets.
#include <pthread.h>
#include <time.h>

#include "ops/queue_fixture.h"
#include "runtime/step/home.h"

// A session and an eager context, whose steps take an element from an empty queue 'a'.
typedef struct house {
  fixture *f;
  rheos_output element;  // that the queue gives
  rheos_callable *callable, *bound;
  rheos_tensor *result;
  rheos_dataset_iterator *iterator;
  rheos_eager *eager;
  rheos_region *part;
  rheos_tensor *handle;  // of the eager context's queue
} house;

typedef rheos_status *(*run_fn)(house *h, const rheos_run_options *options);

// ---- The doors

static rheos_status *drop_take(rheos_status *status, rheos_tensor *value) {
  assert_true((status == NULL) == (value != NULL));
  rheos_tensor_unref(value);
  return status;
}

static rheos_status *run(house *h, const rheos_run_options *options) {
  rheos_fetch fetch = {h->element, NULL};
  rheos_status *status = rheos_session_run(h->f->session, NULL, 0, &fetch, 1, NULL, 0, options);
  return drop_take(status, fetch.value);
}

static rheos_status *run_named(house *h, const rheos_run_options *options) {
  rheos_named_tensor fetch = {.name = "taken"};
  rheos_status *status = rheos_session_run_named(h->f->session, NULL, 0, &fetch, 1, options);
  return drop_take(status, fetch.value);
}

static rheos_status *run_callable(house *h, const rheos_run_options *options) {
  rheos_tensor *value = NULL;
  rheos_status *status = rheos_callable_run(h->callable, NULL, &value, options);
  return drop_take(status, value);
}

static rheos_status *run_bound(house *h, const rheos_run_options *options) {
  return rheos_callable_run_bound(h->bound, options);
}

static rheos_status *run_part(house *h, const rheos_run_options *options) {
  int64_t handle;
  rheos_status *status =
      rheos_session_partial_setup(h->f->session, NULL, 0, &h->element, 1, NULL, 0, &handle);
  if (status != NULL) return status;
  rheos_fetch fetch = {h->element, NULL};
  status = rheos_session_partial_run(h->f->session, handle, NULL, 0, &fetch, 1, options);
  return drop_take(status, fetch.value);
}

static rheos_status *run_dataset(house *h, const rheos_run_options *options) {
  rheos_tensor *element = NULL;
  bool end;
  rheos_status *status = rheos_dataset_iterator_next(h->iterator, &element, &end, options);
  assert_false(end);
  return drop_take(status, element);
}

static rheos_status *run_eager(house *h, const rheos_run_options *options) {
  rheos_tensor *value = NULL;
  rheos_status *status = rheos_region_run(h->part, &h->handle, &value, options);
  return drop_take(status, value);
}

typedef struct door {
  const char *name;
  run_fn run;
  bool is_eager;
} door;

static const door doors[] = {
    {"run", run, false},
    {"run by names", run_named, false},
    {"callable", run_callable, false},
    {"bound callable", run_bound, false},
    {"part", run_part, false},
    {"dataset", run_dataset, false},
    {"operation", run_eager, true},
};
enum { NUM_DOORS = sizeof doors / sizeof doors[0] };

// ---- The house

// A dataset of as many elements of the queue as there are.
static rheos_output dataset(fixture *f) {
  rheos_function *take = rheos_function_begin(f->scope, "take_one", NULL);
  rheos_function_argument(take, "x", RHEOS_INT64, RHEOS_SCALAR);
  fixture inside = *f;
  inside.scope = rheos_function_scope(take);
  rheos_function_result(
      take, NULL,
      dequeued(&inside, RHEOS_INT32, scalar_queue(&inside, "FIFOQueueV2", RHEOS_INT32, 8, "a")));
  assert_true(rheos_function_finish(take, f->scope));
  const rheos_output range = rheos_dataset_range(f->scope, 0, 100, 1);
  const rheos_output taken = rheos_dataset_map(f->scope, range, take, 1);
  rheos_function_free(take);
  return taken;
}

static void open_eager(house *h) {
  const rheos_dtype dtype = RHEOS_INT32;
  const rheos_shape scalar = {.rank = 0};
  const rheos_attr attrs[] = {rheos_attr_types("component_types", &dtype, 1),
                              {"shapes", {RHEOS_ATTR_LIST_SHAPE, 1, {.shapes = &scalar}}},
                              rheos_attr_string("shared_name", "a", 1)};
  const rheos_eager_op queue = {.type = "FIFOQueueV2", .attrs = attrs, .num_attrs = 3};
  check(rheos_eager_new(NULL, &h->eager));
  check(rheos_eager_execute(h->eager, &queue, &h->handle, 1));
  const rheos_eager_op take = {.type = "QueueDequeueV2",
                               .inputs = &h->handle,
                               .num_inputs = 1,
                               .attrs = attrs,
                               .num_attrs = 1};
  check(rheos_eager_region(h->eager, &take, &h->part));
}

static void open_house(house *h, fixture *f) {
  *h = (house){.f = f};
  const rheos_output queue = scalar_queue(f, "FIFOQueueV2", RHEOS_INT32, 8, "a");
  const rheos_dtype dtype = RHEOS_INT32;
  const rheos_attr attr = rheos_attr_types("component_types", &dtype, 1);
  const rheos_op_args take = {.type = "QueueDequeueV2",
                              .name = "taken",
                              .inputs = &queue,
                              .num_inputs = 1,
                              .attrs = &attr,
                              .num_attrs = 1};
  h->element = rheos_operation_output(rheos_op(f->scope, &take), 0);
  const rheos_output elements = dataset(f);
  check(rheos_scope_finish(f->scope));
  check(rheos_callable_new(f->session, NULL, 0, &h->element, 1, NULL, 0, &h->callable));
  check(rheos_callable_new(f->session, NULL, 0, &h->element, 1, NULL, 0, &h->bound));
  check(rheos_tensor_new(RHEOS_INT32, RHEOS_SCALAR, &h->result));
  check(rheos_callable_bind(h->bound, NULL, &h->result));
  check(rheos_dataset_iterator_new(f->session, elements, &h->iterator));
  open_eager(h);
}

static void leave_house(house *h) {
  rheos_callable_free(h->callable);
  rheos_callable_free(h->bound);
  rheos_tensor_unref(h->result);
  rheos_dataset_iterator_free(h->iterator);
  rheos_region_unref(h->part);
  rheos_tensor_unref(h->handle);
  rheos_eager_free(h->eager);
}

static int set_up_house(void **state) {
  house *h = calloc(1, sizeof *h);
  assert_non_null(h);
  void *f;
  set_up(&f);
  open_house(h, f);
  *state = h;
  return 0;
}

static int tear_down_house(void **state) {
  house *h = *state;
  leave_house(h);
  void *f = h->f;
  free(h);
  return tear_down(&f);
}

// ---- A step that waits

typedef struct waiting {
  house *h;
  const door *door;
  const rheos_run_options *options;
  rheos_status *status;
  pthread_t thread;
} waiting;

static void *run_door(void *argument) {
  waiting *w = argument;
  w->status = w->door->run(w->h, w->options);
  return NULL;
}

static char *report(const house *h, const door *d) {
  char *text = NULL;
  check(d->is_eager ? rheos_eager_waiting(h->eager, &text)
                    : rheos_session_waiting(h->f->session, &text));
  return text;
}

// Begins it, and comes back when the report has it.
static void begin(waiting *w) {
  assert_int_equal(pthread_create(&w->thread, NULL, run_door, w), 0);
  for (bool told = false; !told;) {
    char *text = report(w->h, w->door);
    told = strstr(text, " s for an element of queue 'a'\n") != NULL;
    rheos_free(text);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

static rheos_status *end(waiting *w) {
  pthread_join(w->thread, NULL);
  char *text = report(w->h, w->door);
  assert_string_equal(text, "");
  rheos_free(text);
  return w->status;
}

static void test_home__steps_that_wait_end_at_their_deadline(void **state) {
  house *h = *state;
  const rheos_run_options options = {.timeout_ms = 20};
  for (int i = 0; i < NUM_DOORS; i++) {
    expect_error(doors[i].run(h, &options), RHEOS_DEADLINE_EXCEEDED,
                 "Timed out: the step took longer than 20 ms; it waited");
  }
}

static void test_home__steps_that_wait_are_told_and_can_be_cancelled(void **state) {
  house *h = *state;
  for (int i = 0; i < NUM_DOORS; i++) {
    const rheos_run_options options = {.cancellation = rheos_cancellation_new()};
    waiting w = {.h = h, .door = &doors[i], .options = &options};
    begin(&w);
    rheos_cancel(options.cancellation);
    expect_error(end(&w), RHEOS_CANCELLED, "Step was cancelled.; it waited");
    // Nor does one begin.
    expect_error(doors[i].run(h, &options), RHEOS_CANCELLED, "Step was cancelled.");
    rheos_cancellation_free(options.cancellation);
  }
}

static bool says_stop(void *argument) { return atomic_load((_Atomic bool *)argument); }

static void test_home__steps_that_wait_ask_whether_to_stop(void **state) {
  house *h = *state;
  for (int i = 0; i < NUM_DOORS; i++) {
    _Atomic bool stops = false;
    const rheos_run_options options = {.should_stop = says_stop, .should_stop_argument = &stops};
    waiting w = {.h = h, .door = &doors[i], .options = &options};
    begin(&w);
    atomic_store(&stops, true);
    expect_error(end(&w), RHEOS_CANCELLED, "Step was cancelled.; it waited");
  }
}

static void close_home(house *h, const door *d) {
  if (!d->is_eager) {
    rheos_session_close(h->f->session);
    return;
  }
  rheos_eager_free(h->eager);
  h->eager = NULL;
}

// The report of an eager context is gone with it.
static rheos_status *end_closed(waiting *w) {
  if (!w->door->is_eager) return end(w);
  pthread_join(w->thread, NULL);
  return w->status;
}

static void test_home__steps_that_wait_end_when_it_is_closed(void **state) {
  (void)state;
  for (int i = 0; i < NUM_DOORS; i++) {
    const door *d = &doors[i];
    void *h;
    set_up_house(&h);
    waiting w = {.h = h, .door = d};
    begin(&w);
    close_home(h, d);
    expect_error(end_closed(&w), RHEOS_CANCELLED,
                 d->is_eager ? "eager context was closed: the step was cancelled.; it waited"
                             : "Session was closed: the step was cancelled.; it waited");
    expect_error(d->run(h, NULL), RHEOS_FAILED_PRECONDITION,
                 d->is_eager ? "Attempted to use a closed eager context."
                             : "Attempted to use a closed Session.");
    tear_down_house(&h);
  }
}

// ---- A step that does not wait, and ends late

static rheos_status *sleep_long(void *argument, const char *token, rheos_tensor *const *inputs,
                                size_t num_inputs, rheos_tensor **outputs, size_t num_outputs) {
  (void)argument, (void)token, (void)inputs, (void)num_inputs;
  nanosleep(&(struct timespec){.tv_nsec = 40 * 1000000}, NULL);
  assert_int_equal(num_outputs, 1);
  const int32_t value = 7;
  return rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &outputs[0]);
}

static void test_home__what_ends_late_has_failed(void **state) {
  fixture *f = ((house *)*state)->f;
  const rheos_dtype dtype = RHEOS_INT32;
  const rheos_attr attrs[] = {rheos_attr_string("token", "sleep", 5),
                              rheos_attr_types("Tout", &dtype, 1)};
  const rheos_run_options late = {.timeout_ms = 10}, early = {.timeout_ms = 60000};
  const rheos_session_options session_options = {.program_function = sleep_long};
  house h = {.element = rheos_operation_output(add(f, "PyFunc", NULL, 0, attrs, 2), 0)};
  fixture other = *f;
  h.f = &other;
  check(rheos_session_new(f->graph, &session_options, &other.session));
  check(rheos_callable_new(other.session, NULL, 0, &h.element, 1, NULL, 0, &h.callable));
  check(rheos_eager_new(&(rheos_eager_options){.program_function = sleep_long}, &h.eager));
  const rheos_eager_op op = {.type = "PyFunc", .attrs = attrs, .num_attrs = 2};
  check(rheos_eager_region(h.eager, &op, &h.part));
  const run_fn runs[] = {run, run_callable, run_part, run_eager};
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    expect_error(runs[i](&h, &late), RHEOS_DEADLINE_EXCEEDED, "Timed out: the step took longer");
    check(runs[i](&h, &early));
  }
  rheos_callable_free(h.callable);
  rheos_session_free(other.session);
  rheos_region_unref(h.part);
  rheos_eager_free(h.eager);
}

// ---- The home itself

static void *leave_later(void *argument) {
  nanosleep(&(struct timespec){.tv_nsec = 20 * 1000000}, NULL);
  rheos__home_leave(argument);
  return NULL;
}

static void *close_too(void *argument) {
  rheos__home_close(argument);
  return NULL;
}

static void test_home__closing_waits_for_who_is_in_it(void **state) {
  (void)state;
  rheos__home home = {0};
  check(rheos__home_init(&home, &(rheos__home_options){.owner = "house"}));
  check(rheos__home_enter(&home));
  check(rheos__home_enter(&home));
  pthread_t threads[3];
  assert_int_equal(pthread_create(&threads[0], NULL, leave_later, &home), 0);
  assert_int_equal(pthread_create(&threads[1], NULL, leave_later, &home), 0);
  assert_int_equal(pthread_create(&threads[2], NULL, close_too, &home), 0);
  rheos__home_close(&home);
  assert_true(home.is_empty);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  rheos__step step;
  expect_error(rheos__home_begin_step(&home, NULL, &step), RHEOS_FAILED_PRECONDITION,
               "Attempted to use a closed house.");
  rheos__home_deinit(&home);
}

static void test_home__steps_lie_in_each_other(void **state) {
  (void)state;
  rheos__home home = {0};
  check(rheos__home_init(&home, &(rheos__home_options){.owner = "house"}));
  rheos__step outer, inner;
  check(rheos__home_begin_step(&home, NULL, &outer));
  assert_ptr_equal(rheos__pool_step(), &outer);
  check(rheos__home_begin_step(&home, NULL, &inner));
  assert_ptr_equal(rheos__pool_step(), &inner);
  check(rheos__home_end_step_take(&inner, NULL));
  assert_ptr_equal(rheos__pool_step(), &outer);
  rheos__step_stop(&outer);
  expect_error(rheos__home_end_step_take(&outer, NULL), RHEOS_CANCELLED, "Step was cancelled.");
  assert_null(rheos__pool_step());
  rheos__home_deinit(&home);
}

static void test_home__has_the_devices_of_its_host(void **state) {
  (void)state;
  rheos_host *host = NULL;
  check(rheos_host_new(&(rheos_host_options){.num_threads = 3, .num_cpu_devices = 2}, &host));
  rheos__home home = {0}, other = {0};
  check(rheos__home_init(&home, &(rheos__home_options){.host = host, .context.num_threads = 2}));
  assert_int_equal(home.context.num_devices, 2);
  assert_int_equal(home.context.num_threads, 2);
  assert_ptr_equal(home.context.resources, host->resources);
  rheos__home_deinit(&home);
  const rheos__home_options both = {.host = host, .own_host.num_threads = 1};
  expect_error(rheos__home_init(&other, &both), RHEOS_INVALID_ARGUMENT, "and none of its own");
  rheos__home_deinit(&other);
  rheos_host_unref(host);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_home__steps_that_wait_end_at_their_deadline,
                                      set_up_house, tear_down_house),
      cmocka_unit_test_setup_teardown(test_home__steps_that_wait_are_told_and_can_be_cancelled,
                                      set_up_house, tear_down_house),
      cmocka_unit_test_setup_teardown(test_home__steps_that_wait_ask_whether_to_stop, set_up_house,
                                      tear_down_house),
      cmocka_unit_test(test_home__steps_that_wait_end_when_it_is_closed),
      cmocka_unit_test_setup_teardown(test_home__what_ends_late_has_failed, set_up_house,
                                      tear_down_house),
      cmocka_unit_test(test_home__closing_waits_for_who_is_in_it),
      cmocka_unit_test(test_home__steps_lie_in_each_other),
      cmocka_unit_test(test_home__has_the_devices_of_its_host),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
