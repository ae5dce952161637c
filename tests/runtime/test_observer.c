// Observers: what a step tells those who look on, in which order and with which bytes; one that
// fails, one that holds its step up while others go on, and several at once.
#include <pthread.h>
#include <rheos/ops.h>
#include <stdio.h>

#include "ops/array_fixture.h"
#include "runtime/run/executor.h"
#include "runtime/session/session_kind.h"
#include "runtime/session/session_plan.h"
#include "runtime/step/trace.h"

enum { SIDE = 8, MANY = 256 };

// ---- A plan that is run under the eyes of observers

typedef struct watched {
  rheos_host *host;
  rheos_session *session;
  rheos__plan *plan;
} watched;

static watched watched_new(fixture *f, rheos_session_options options, const rheos_output *feeds,
                           size_t num_feeds, const rheos_shape *shapes, const rheos_output *fetches,
                           size_t num_fetches) {
  watched w = {.host = NULL};
  check(rheos_scope_finish(f->scope));
  const rheos_host_options host = {.num_threads = options.num_threads};
  check(rheos_host_new(&host, &w.host));
  options.host = w.host;
  options.num_threads = 0;
  check(rheos_session_new(f->graph, &options, &w.session));
  const rheos__segment *segment;
  check(rheos__session_plan(
      w.session,
      &(rheos__step_ends){
          .feeds = feeds, .num_feeds = num_feeds, .fetches = fetches, .num_fetches = num_fetches},
      shapes, &w.plan, &segment));
  return w;
}

static void watched_free(watched *w) {
  rheos__plan_free(w->plan);
  rheos_session_free(w->session);
  rheos_host_unref(w->host);
}

static rheos_status *run(const watched *w, rheos_tensor *const *feeds,
                         const rheos__observer *const *observers, size_t count,
                         rheos_tensor **values) {
  rheos__step step;
  double cost_ns;
  rheos__home *home;
  check(rheos__session_home(w->session, &home));
  rheos__step_init(&step, home, NULL);
  rheos__observers room;
  for (size_t i = 0; i < count; i++) rheos__step_observe(&step, observers[i], &room);
  check(rheos__step_begin(&step));
  rheos_status *status = rheos__execute(w->plan, feeds, NULL, &step, values, &cost_ns);
  assert_true(count == 0 ? step.observers == NULL : step.observers->place == NULL);
  return rheos__step_end_take(&step, status);
}

static char *name_at(const rheos__place *place) {
  const int32_t id = place->plan->entries[place->entry].id;
  return rheos__inlined_name(place->plan->inlined, place->plan->graph, id);
}

// ---- One that writes down what it is told

typedef struct notes {
  rheos__observer observer;
  char names[MANY][64];
  int32_t depths[MANY];  // of calls
  rheos_tensor *values[MANY];
  int32_t count, begun, num_steps, ended_steps, visits, open_visits, shared;
  rheos_code code;
} notes;

static void note_step(void *argument, const rheos__step *step) {
  (void)step;
  ((notes *)argument)->num_steps++;
}

static void note_step_end(void *argument, const rheos_status *status) {
  notes *l = argument;
  l->ended_steps++;
  l->code = rheos_status_code(status);
  assert_int_equal(l->open_visits, 0);
}

static void note_visit(void *argument, const rheos__place *place) {
  notes *l = argument;
  assert_int_equal(place->visit, l->visits);
  assert_true((place->segment == NULL) == (place->plan->flow != NULL));
  l->visits++;
  l->open_visits++;
}

static void note_visit_end(void *argument, const rheos__place *place) {
  (void)place;
  ((notes *)argument)->open_visits--;
}

static rheos_status *note_begin(void *argument, const rheos__observed *entry) {
  notes *l = argument;
  assert_non_null(entry->workspace);
  l->begun++;
  return NULL;
}

static rheos_status *note_entry(void *argument, const rheos__observed *entry) {
  notes *l = argument;
  assert_true(l->count < MANY);
  char *name = name_at(entry->place);
  snprintf(l->names[l->count], sizeof l->names[0], "%s", name);
  rheos__free(name);
  for (const rheos__place *at = entry->place->outer; at != NULL; at = at->outer) {
    l->depths[l->count]++;
  }
  rheos_tensor view;
  const rheos__entry *e = &entry->place->plan->entries[entry->place->entry];
  if (e->num_outputs > 0 && rheos__observed_output(entry, 0, &view)) {
    check(rheos_tensor_copy(&view, &l->values[l->count]));
  }
  if (entry->shares != NULL) l->shared++;
  l->count++;
  return NULL;
}

static void note_init(notes *l) {
  *l = (notes){.observer = {.step_begins = note_step,
                            .visit_begins = note_visit,
                            .visit_ended = note_visit_end,
                            .entry_begins = note_begin,
                            .entry_ended = note_entry,
                            .step_ended = note_step_end}};
  l->observer.argument = l;
}

static void note_clear(notes *l) {
  for (int32_t i = 0; i < l->count; i++) rheos_tensor_unref(l->values[i]);
  l->count = l->begun = l->visits = l->shared = 0;
  memset(l->depths, 0, sizeof l->depths);
}

static int32_t find(const notes *l, const char *name) {
  for (int32_t i = 0; i < l->count; i++) {
    if (strcmp(l->names[i], name) == 0) return i;
  }
  return -1;
}

static int32_t count_of(const notes *l, const char *name) {
  int32_t count = 0;
  for (int32_t i = 0; i < l->count; i++) count += strcmp(l->names[i], name) == 0;
  return count;
}

// ---- Graphs

static rheos_output named(fixture *f, const char *type, const char *name,
                          const rheos_output *inputs, size_t num_inputs) {
  const rheos_op_args args = {
      .type = type, .name = name, .inputs = inputs, .num_inputs = num_inputs};
  return rheos_operation_output(rheos_op(f->scope, &args), 0);
}

static rheos_output placeholder(fixture *f) {
  const rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  const rheos_op_args args = {.type = "Placeholder", .name = "x", .attrs = &dtype, .num_attrs = 1};
  return rheos_operation_output(rheos_op(f->scope, &args), 0);
}

static rheos_tensor *square(float first) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(SIDE, SIDE), &tensor));
  float *data = rheos_tensor_data(tensor);
  for (int i = 0; i < SIDE * SIDE; i++) data[i] = first + (float)i / 16;
  return tensor;
}

static void expect_bits(const rheos_tensor *a, const rheos_tensor *b) {
  assert_non_null(a);
  assert_int_equal(rheos_tensor_dtype(a), rheos_tensor_dtype(b));
  assert_true(rheos_tensor_size_bytes(a) == rheos_tensor_size_bytes(b));
  assert_memory_equal(rheos_tensor_data((rheos_tensor *)(uintptr_t)a),
                      rheos_tensor_data((rheos_tensor *)(uintptr_t)b), rheos_tensor_size_bytes(a));
}

// y = tanh(matmul(x, x)) + log(x)
typedef struct small {
  rheos_output x, product, tanh, log, y;
} small;

static small small_graph(fixture *f) {
  small g = {.x = placeholder(f)};
  g.product = named(f, "MatMul", "product", (const rheos_output[]){g.x, g.x}, 2);
  g.tanh = named(f, "Tanh", "tanh", &g.product, 1);
  g.log = named(f, "Log", "log", &g.x, 1);
  g.y = named(f, "AddV2", "y", (const rheos_output[]){g.tanh, g.log}, 2);
  return g;
}

// Each op an entry of its own.
static watched small_new(fixture *f, const small *g, int32_t num_threads) {
  const rheos_shape shape = RHEOS_SHAPE(SIDE, SIDE);
  const rheos_session_options options = {
      .num_threads = num_threads,
      .rewrites = {.elementwise_fusion = RHEOS_TOGGLE_OFF, .remapping = RHEOS_TOGGLE_OFF}};
  return watched_new(f, options, &g->x, 1, &shape, &g->y, 1);
}

// ---- Tests

static void test_observer__is_told_of_each_entry_with_its_bytes(void **state) {
  fixture *f = *state;
  const small g = small_graph(f);
  watched w = small_new(f, &g, 1);
  rheos_fetch fetches[] = {{g.product, NULL}, {g.tanh, NULL}, {g.log, NULL}, {g.y, NULL}};
  rheos_tensor *x = square(1), *value = NULL;
  check(rheos_session_run(w.session, &(rheos_feed){g.x, x}, 1, fetches, 4, NULL, 0, NULL));
  notes l;
  note_init(&l);
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  const rheos__observer *observers[] = {&trace->observer, &l.observer};
  for (int32_t run_number = 1; run_number <= 2; run_number++) {
    check(run(&w, &x, observers, 2, &value));
    expect_bits(value, fetches[3].value);
    rheos_tensor_unref(value);
    assert_int_equal(l.num_steps, run_number);
    assert_int_equal(l.ended_steps, run_number);
    assert_int_equal(l.visits, 1);
    assert_int_equal(l.count, 4);
    assert_int_equal(l.begun, 4);
    const char *const names[] = {"product", "tanh", "log", "y"};
    for (int i = 0; i < 4; i++) {
      const int32_t at = find(&l, names[i]);
      assert_true(at >= 0);
      assert_int_equal(l.depths[at], 0);
      expect_bits(l.values[at], fetches[i].value);
    }
    assert_true(find(&l, "product") < find(&l, "tanh") && find(&l, "y") == 3);
    assert_int_equal(trace->num_events, (size_t)(4 * run_number));
    note_clear(&l);
  }
  assert_int_equal(trace->num_runs, 2);
  rheos_trace_free(trace);
  for (int i = 0; i < 4; i++) rheos_tensor_unref(fetches[i].value);
  rheos_tensor_unref(x);
  watched_free(&w);
}

static rheos_status *check_numbers(void *argument, const rheos__observed *entry) {
  (void)argument;
  const rheos__entry *e = &entry->place->plan->entries[entry->place->entry];
  for (int32_t i = 0; i < e->num_outputs; i++) {
    rheos_tensor view;
    if (!rheos__observed_output(entry, i, &view) || view.dtype != RHEOS_FLOAT) continue;
    for (int64_t k = 0; k < view.num_elements; k++) {
      if (!isnan(((const float *)view.data)[k])) continue;
      return rheos_status_new(RHEOS_INVALID_ARGUMENT, "output %d is not a number", (int)i);
    }
  }
  return NULL;
}

static void test_observer__ends_the_step_by_its_error(void **state) {
  fixture *f = *state;
  const small g = small_graph(f);
  watched w = small_new(f, &g, 1);
  notes l;
  note_init(&l);
  const rheos__observer checker = {.entry_ended = check_numbers};
  const rheos__observer *observers[] = {&checker, &l.observer};
  for (int i = 0; i < 4; i++) {
    rheos_tensor *x = square(i % 2 == 0 ? -1 : 1), *value = NULL;
    rheos_status *status = run(&w, &x, observers, 2, &value);
    if (i % 2 == 0) {
      expect_error(status, RHEOS_INVALID_ARGUMENT, "output 0 is not a number");
      assert_int_equal(l.code, RHEOS_INVALID_ARGUMENT);
      assert_null(value);
      assert_int_equal(find(&l, "log"), -1);
    } else {
      check(status);
      assert_int_equal(l.code, RHEOS_OK);
    }
    rheos_tensor_unref(value);
    rheos_tensor_unref(x);
    note_clear(&l);
  }
  watched_free(&w);
}

static rheos_status *look_at_inputs(void *argument, const rheos__observed *entry) {
  const rheos__entry *e = &entry->place->plan->entries[entry->place->entry];
  rheos_tensor *const *expected = argument;
  char *name = name_at(entry->place);
  rheos_tensor view;
  for (int32_t i = 0; i < e->num_inputs; i++) {
    assert_true(rheos__observed_input(entry, i, &view));
    if (strcmp(name, "y") == 0) expect_bits(&view, expected[1 + i]);
    if (strcmp(name, "tanh") == 0) expect_bits(&view, expected[0]);
  }
  rheos__free(name);
  return NULL;
}

static void test_observer__sees_the_inputs_of_what_begins(void **state) {
  fixture *f = *state;
  const small g = small_graph(f);
  watched w = small_new(f, &g, 1);
  rheos_fetch fetches[] = {{g.product, NULL}, {g.tanh, NULL}, {g.log, NULL}};
  rheos_tensor *x = square(1), *value = NULL, *values[3];
  check(rheos_session_run(w.session, &(rheos_feed){g.x, x}, 1, fetches, 3, NULL, 0, NULL));
  for (int i = 0; i < 3; i++) values[i] = fetches[i].value;
  const rheos__observer observer = {.entry_begins = look_at_inputs, .argument = values};
  check(run(&w, &x, (const rheos__observer *[]){&observer}, 1, &value));
  for (int i = 0; i < 3; i++) rheos_tensor_unref(values[i]);
  rheos_tensor_unref(value);
  rheos_tensor_unref(x);
  watched_free(&w);
}

// ---- One that holds its step up

typedef struct gate {
  const watched *w;
  rheos_tensor *x, *value;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool is_stopped, goes_on;
} gate;

static rheos_status *stop(void *argument, const rheos__observed *entry) {
  gate *g = argument;
  char *name = name_at(entry->place);
  const bool is_here = strcmp(name, "tanh") == 0;
  rheos__free(name);
  if (!is_here) return NULL;
  pthread_mutex_lock(&g->mutex);
  g->is_stopped = true;
  pthread_cond_broadcast(&g->changed);
  while (!g->goes_on) pthread_cond_wait(&g->changed, &g->mutex);
  pthread_mutex_unlock(&g->mutex);
  return NULL;
}

static void *run_gated(void *argument) {
  gate *g = argument;
  const rheos__observer observer = {.entry_begins = stop, .argument = g, .one_by_one = true};
  rheos_status *status = run(g->w, &g->x, (const rheos__observer *[]){&observer}, 1, &g->value);
  assert_null(status);
  return NULL;
}

static void test_observer__holds_up_its_own_step_only(void **state) {
  fixture *f = *state;
  const small s = small_graph(f);
  watched w = small_new(f, &s, 2);
  gate g = {.w = &w, .x = square(1)};
  pthread_mutex_init(&g.mutex, NULL);
  pthread_cond_init(&g.changed, NULL);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, run_gated, &g), 0);
  pthread_mutex_lock(&g.mutex);
  while (!g.is_stopped) pthread_cond_wait(&g.changed, &g.mutex);
  pthread_mutex_unlock(&g.mutex);
  rheos_tensor *value = NULL;
  for (int i = 0; i < 3; i++) {
    rheos_tensor_unref(value);
    check(run(&w, &g.x, NULL, 0, &value));  // of the same plan
  }
  assert_null(g.value);
  pthread_mutex_lock(&g.mutex);
  g.goes_on = true;
  pthread_cond_broadcast(&g.changed);
  pthread_mutex_unlock(&g.mutex);
  pthread_join(thread, NULL);
  expect_bits(g.value, value);
  rheos_tensor_unref(value);
  rheos_tensor_unref(g.value);
  rheos_tensor_unref(g.x);
  pthread_mutex_destroy(&g.mutex);
  pthread_cond_destroy(&g.changed);
  watched_free(&w);
}

// ---- Loops, on tokens and raised, and sections

static rheos_output below(rheos_scope *s, void *argument, const rheos_output *v, size_t count) {
  (void)argument, (void)count;
  return rheos_less(s, v[0], rheos_constant_float(s, 3, "limit"));
}

static void next_values(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                        size_t count) {
  (void)argument, (void)count;
  rheos_push_name_scope(s, "inside");
  next[0] = rheos_add(s, v[0], rheos_constant_float(s, 1, "one"));
  next[1] = rheos_matmul(s, v[1], v[1]);
  rheos_scope_pop(s);
}

static void test_observer__is_told_of_each_trip(void **state) {
  fixture *f = *state;
  const rheos_output x = placeholder(f);
  const rheos_output start[] = {rheos_constant_float(f->scope, 0, "zero"), x};
  rheos_output outputs[2];
  rheos_while_loop(f->scope, below, next_values, NULL, start, 2, NULL, outputs);
  const rheos_shape shape = RHEOS_SHAPE(SIDE, SIDE);
  rheos_tensor *in = square(0), *values[2] = {NULL};
  for (int is_raised = 0; is_raised < 2; is_raised++) {
    const rheos_session_options options = {
        .num_threads = 1,
        .rewrites.raise_control_flow = is_raised ? RHEOS_TOGGLE_ON : RHEOS_TOGGLE_OFF};
    watched w = watched_new(f, options, &x, 1, &shape, &outputs[1], 1);
    assert_true((w.plan->flow == NULL) == (is_raised != 0));
    notes l;
    note_init(&l);
    check(run(&w, &in, (const rheos__observer *[]){&l.observer}, 1, &values[is_raised]));
    const char *name = "while/inside/MatMul";
    assert_int_equal(count_of(&l, name), 3);
    assert_int_equal(l.depths[find(&l, name)], is_raised);
    assert_int_equal(l.count, l.begun);
    note_clear(&l);
    watched_free(&w);
  }
  expect_bits(values[0], values[1]);
  for (int i = 0; i < 2; i++) rheos_tensor_unref(values[i]);
  rheos_tensor_unref(in);
}

// Wide enough that threads share sections: products side by side.
static void test_observer__may_want_entries_one_by_one(void **state) {
  fixture *f = *state;
  enum { WIDE = 8, LARGE = 64 };
  const rheos_output x = placeholder(f);
  rheos_output sum = {0};
  for (int i = 0; i < WIDE; i++) {
    rheos_output at = x;
    for (int k = 0; k < 3; k++) {
      at = rheos_tanh(f->scope, rheos_matmul(f->scope, at, at));
      at = rheos_mul(f->scope, at, rheos_constant_float(f->scope, (float)(i + k) / 64, NULL));
    }
    sum = i == 0 ? at : rheos_add(f->scope, sum, at);
  }
  const rheos_shape shape = RHEOS_SHAPE(LARGE, LARGE);
  const rheos_session_options options = {.num_threads = 4};
  watched w = watched_new(f, options, &x, 1, &shape, &sum, 1);
  rheos_tensor *in = NULL, *values[3] = {NULL};
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &in));
  for (int i = 0; i < LARGE * LARGE; i++) ((float *)rheos_tensor_data(in))[i] = (float)(i % 7) / 9;
  notes l;
  note_init(&l);
  check(run(&w, &in, NULL, 0, &values[0]));
  int32_t count = 0;
  for (int i = 0; i < 2; i++) {
    l.observer.one_by_one = i == 1;
    check(run(&w, &in, (const rheos__observer *[]){&l.observer}, 1, &values[1 + i]));
    assert_int_equal(l.count, l.begun);
    assert_true(i == 0 ? l.shared > 0 : l.shared == 0);
    if (i == 0) count = l.count;
    assert_int_equal(l.count, count);
    expect_bits(values[1 + i], values[0]);
    note_clear(&l);
  }
  for (int i = 0; i < 3; i++) rheos_tensor_unref(values[i]);
  rheos_tensor_unref(in);
  watched_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_observer__is_told_of_each_entry_with_its_bytes, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_observer__ends_the_step_by_its_error, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_observer__sees_the_inputs_of_what_begins, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_observer__holds_up_its_own_step_only, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_observer__is_told_of_each_trip, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_observer__may_want_entries_one_by_one, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
