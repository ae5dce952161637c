// Watched edges: what is delivered is what a fetch of the edge gives, at its place in the order, in
// loops, branches and functions too; and what is watched is computed as if it were not.
#include <rheos/ops.h>
#include <stdio.h>

#include "graph/counting_allocator.h"
#include "graph/library.h"
#include "ops/array_fixture.h"
#include "plan/segment/segment.h"
#include "runtime/watch_all.h"
#include "runtime/session/watched_run.h"

enum { SIDE = 8, MANY = 512 };

typedef struct seen {
  rheos__observer observer;
  int32_t watches[MANY];
  rheos_tensor *values[MANY];
  char places[MANY][96];
  int32_t count, num_loops;  // instructions that run a kernel
} seen;

static rheos_status *keep(void *argument, const rheos__delivered *delivered) {
  seen *s = argument;
  assert_true(s->count < MANY);
  rheos__text text = {0};
  rheos__place_text(delivered->place, &text);
  snprintf(s->places[s->count], sizeof s->places[0], "%s", text.data != NULL ? text.data : "");
  rheos__text_deinit(&text);
  s->watches[s->count] = delivered->watch;
  s->values[s->count++] = rheos_tensor_ref(delivered->value);
  return NULL;
}

static rheos_status *count_loops(void *argument, const rheos__observed *entry) {
  const rheos__instruction *in = entry->instruction;
  if (in != NULL && in->kind == RHEOS__RUN) ((seen *)argument)->num_loops++;
  return NULL;
}

static void seen_init(seen *s) {
  *s = (seen){.observer = {.deliver = keep, .entry_ended = count_loops}};
  s->observer.argument = s;
}

static void seen_clear(seen *s) {
  for (int32_t i = 0; i < s->count; i++) rheos_tensor_unref(s->values[i]);
  s->count = s->num_loops = 0;
}

static rheos_tensor *square(float first) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(SIDE, SIDE), &tensor));
  float *data = rheos_tensor_data(tensor);
  for (int i = 0; i < SIDE * SIDE; i++) data[i] = first + (float)i / 16;
  return tensor;
}

static void expect_bits(rheos_tensor *a, rheos_tensor *b) {
  assert_non_null(a);
  assert_int_equal(rheos_tensor_dtype(a), rheos_tensor_dtype(b));
  assert_true(rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)));
  assert_memory_equal(rheos_tensor_data(a), rheos_tensor_data(b), rheos_tensor_size_bytes(a));
}

static rheos_session *session_of(fixture *f, rheos_toggle raises) {
  rheos_session *session = NULL;
  check(rheos_scope_finish(f->scope));
  const rheos_session_options options = {.num_threads = 2, .rewrites.raise_control_flow = raises};
  check(rheos_session_new(f->graph, &options, &session));
  return session;
}

// What is watched of a step that fetches `y`, whose value has the bits of an unwatched step's.
static void watch(rheos_session *session, const rheos_feed *feed, rheos_output y,
                  rheos__watches *watches, seen *s) {
  rheos_fetch plain = {y, NULL}, watched = {y, NULL};
  const size_t num_feeds = feed != NULL ? 1 : 0;
  check(rheos_session_run(session, feed, num_feeds, &plain, 1, NULL, 0, NULL));
  check(rheos__session_run_watched(session, feed, num_feeds, &watched, 1, NULL, 0, NULL, watches,
                                   &s->observer));
  expect_bits(watched.value, plain.value);
  rheos_tensor_unref(watched.value);
  rheos_tensor_unref(plain.value);
}

static rheos__watches *watch_one(rheos_output output) {
  const rheos__watch item = {output.graph, {output.id, output.index}};
  return rheos__watches_new(&item, 1);
}

static void expect_fetches(rheos_session *session, const rheos_feed *feed, rheos_graph *graph,
                           const rheos__watches *watches, const seen *s) {
  for (int32_t i = 0; i < s->count; i++) {
    const rheos__edge edge = watches->items[s->watches[i]].edge;
    rheos_fetch fetch = {{graph, edge.id, edge.index}, NULL};
    check(rheos_session_run(session, feed, 1, &fetch, 1, NULL, 0, NULL));
    expect_bits(s->values[i], fetch.value);
    rheos_tensor_unref(fetch.value);
  }
}

// ---- Straight plans

static void test_watched_run__delivers_what_fetches_give(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  const rheos_output x = rheos_placeholder(s, RHEOS_FLOAT);
  const rheos_output two = rheos_constant_float(s, 2, "two");
  const rheos_output folded = rheos_mul(s, two, rheos_add(s, two, two));
  const rheos_output same = rheos_identity(s, x);
  const rheos_output flat =
      rheos_reshape(s, rheos_matmul(s, same, x, .transpose_b = true), rheos_shape_op(s, x));
  const rheos_output cluster =
      rheos_tanh(s, rheos_mul(s, rheos_add(s, flat, folded), rheos_neg(s, rheos_neg(s, x))));
  const rheos_output positive = rheos_where(s, rheos_greater(s, cluster, two));
  const rheos_output sum = rheos_sum(s, cluster, rheos_constant_int(s, 0, NULL));
  const rheos_output y = rheos_add(s, sum, rheos_cast(s, rheos_size(s, positive), RHEOS_FLOAT));
  const rheos_output unused = rheos_log(s, x);
  rheos_session *session = session_of(f, RHEOS_TOGGLE_ON);
  rheos_tensor *in = square(1);
  const rheos_feed feed = {x, in};
  rheos__watches *watches = watch_all(f->graph, true);
  seen all;
  seen_init(&all);
  for (int i = 0; i < 2; i++) {
    watch(session, &feed, y, watches, &all);
    assert_true(all.count >= 18);
    bool was_seen[MANY] = {false};
    for (int32_t k = 0; k < all.count; k++) {
      assert_false(was_seen[all.watches[k]]);  // once each
      was_seen[all.watches[k]] = true;
      assert_string_equal(all.places[k], "");
      assert_true(watches->items[all.watches[k]].edge.id != unused.id);
    }
    expect_fetches(session, &feed, f->graph, watches, &all);
    seen_clear(&all);
  }
  rheos__watches_unref(watches);
  rheos_session_free(session);
  rheos_tensor_unref(in);
}

static void test_watched_run__leaves_clusters_whole(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  rheos_output y = x, middle = x;
  for (int i = 0; i < 6; i++) {
    y = rheos_tanh(f->scope, rheos_neg(f->scope, y));
    if (i == 2) middle = y;
  }
  rheos_session *session = session_of(f, RHEOS_TOGGLE_ON);
  rheos_tensor *in = square(0);
  const rheos_feed feed = {x, in};
  rheos__watches *watches = watch_one(middle);
  seen s;
  seen_init(&s);
  watch(session, &feed, y, watches, &s);
  assert_int_equal(s.count, 1);
  assert_int_equal(s.num_loops, 1);
  expect_fetches(session, &feed, f->graph, watches, &s);
  seen_clear(&s);
  rheos__watches_unref(watches);
  rheos_session_free(session);
  rheos_tensor_unref(in);
}

static void test_watched_run__reads_variables_that_have_a_value(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  const rheos_output v = rheos_variable_v2(s, &RHEOS_SCALAR, RHEOS_FLOAT);
  const rheos_output made = rheos_assign(s, v, rheos_constant_float(s, 5, "five"));
  const rheos_output more = rheos_assign_add(s, v, rheos_constant_float(s, 1, "one"));
  rheos_session *session = session_of(f, RHEOS_TOGGLE_ON);
  rheos__watches *watches = watch_all(f->graph, true);
  seen all;
  seen_init(&all);
  for (int i = 0; i < 2; i++) {
    rheos_fetch fetch = {i == 0 ? made : more, NULL};
    check(rheos__session_run_watched(session, NULL, 0, &fetch, 1, NULL, 0, NULL, watches,
                                     &all.observer));
    float last = 0;
    int32_t before = 0;
    for (int32_t k = 0; k < all.count; k++) {
      const int32_t id = watches->items[all.watches[k]].edge.id;
      if (id == v.id) before++;
      if (id == fetch.output.id) last = *(float *)rheos_tensor_data(all.values[k]);
    }
    assert_int_equal(before, i);  // it has none before the first step
    assert_true(last == (i == 0 ? 5.f : 6.f));
    rheos_tensor_unref(fetch.value);
    seen_clear(&all);
  }
  rheos__watches_unref(watches);
  rheos_session_free(session);
}

// ---- Loops, branches, functions

static rheos_output below(rheos_scope *s, void *argument, const rheos_output *v, size_t count) {
  (void)argument, (void)count;
  return rheos_less(s, v[0], rheos_constant_float(s, 3, "limit"));
}

static void next_values(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                        size_t count) {
  (void)count;
  next[0] = rheos_add(s, v[0], rheos_constant_float(s, 1, "one"));
  next[1] = rheos_tanh(s, rheos_matmul(s, v[1], v[1]));
  *(rheos_output *)argument = next[1];
}

static void test_watched_run__delivers_each_trip(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output start[] = {rheos_constant_float(f->scope, 0, "zero"), x};
  rheos_output outputs[2], inside;
  rheos_while_loop(f->scope, below, next_values, &inside, start, 2, NULL, outputs);
  rheos_tensor *in = square(0);
  const rheos_feed feed = {x, in};
  seen ways[2];
  for (int i = 0; i < 2; i++) {
    rheos_session *session = session_of(f, i == 0 ? RHEOS_TOGGLE_ON : RHEOS_TOGGLE_OFF);
    rheos__watches *watches = watch_one(inside);
    seen_init(&ways[i]);
    watch(session, &feed, outputs[1], watches, &ways[i]);
    assert_int_equal(ways[i].count, 3);
    for (int k = 0; k < 3; k++) {
      const char *number = strrchr(ways[i].places[k], ';');
      assert_non_null(number);
      assert_int_equal(atoi(number + 1), k);
      assert_non_null(strstr(ways[i].places[k], "while/"));
    }
    rheos__watches_unref(watches);
    rheos_session_free(session);
  }
  for (int k = 0; k < 3; k++) expect_bits(ways[0].values[k], ways[1].values[k]);
  for (int i = 0; i < 2; i++) seen_clear(&ways[i]);
  rheos_tensor_unref(in);
}

typedef struct sides {
  rheos_output x, yes, no;
} sides;

static void if_true(rheos_scope *s, void *argument, rheos_output *outputs, size_t count) {
  sides *at = argument;
  (void)count;
  outputs[0] = at->yes = rheos_exp(s, at->x);
}

static void if_false(rheos_scope *s, void *argument, rheos_output *outputs, size_t count) {
  sides *at = argument;
  (void)count;
  outputs[0] = at->no = rheos_neg(s, at->x);
}

static void test_watched_run__delivers_of_the_branch_that_runs(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  sides at = {.x = rheos_placeholder(s, RHEOS_FLOAT)};
  const rheos_output mean =
      rheos_sum(s, at.x,
                rheos_range(s, rheos_constant_int(s, 0, NULL), rheos_constant_int(s, 2, NULL),
                            rheos_constant_int(s, 1, NULL)));
  const rheos_output pred = rheos_greater(s, mean, rheos_constant_float(s, 0, NULL));
  rheos_output y;
  rheos_cond(s, pred, if_true, if_false, &at, NULL, &y, 1);
  for (int i = 0; i < 2; i++) {
    rheos_session *session = session_of(f, i == 0 ? RHEOS_TOGGLE_ON : RHEOS_TOGGLE_OFF);
    const rheos__watch items[] = {{f->graph, {at.yes.id, 0}}, {f->graph, {at.no.id, 0}}};
    rheos__watches *watches = rheos__watches_new(items, 2);
    for (int k = 0; k < 2; k++) {
      rheos_tensor *in = square(k == 0 ? 1 : -9);
      seen all;
      seen_init(&all);
      watch(session, &(rheos_feed){at.x, in}, y, watches, &all);
      assert_int_equal(all.count, 1);
      assert_int_equal(all.watches[0], k);
      seen_clear(&all);
      rheos_tensor_unref(in);
    }
    rheos__watches_unref(watches);
    rheos_session_free(session);
  }
}

static void test_watched_run__delivers_of_bodies(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  rheos_function *made = rheos_function_begin(s, "scale", NULL);
  const rheos_output argument =
      rheos_function_argument(made, "x", RHEOS_FLOAT, RHEOS_UNKNOWN_SHAPE);
  rheos_scope *inner = rheos_function_scope(made);
  const rheos_output product = rheos_mul(inner, argument, argument);
  rheos_function_result(made, NULL, rheos_tanh(inner, product));
  rheos_function_finish(made, s);
  const rheos_output x = rheos_placeholder(s, RHEOS_FLOAT);
  rheos_output y = x;
  for (int i = 0; i < 2; i++) {
    y = rheos_operation_output(rheos_function_call(s, made, &y, 1, NULL), 0);
  }
  check(rheos_scope_finish(s));
  rheos_func func = {.name = {(char *)(uintptr_t)rheos_function_name(made), 0}};
  func.name.size_bytes = strlen(func.name.data);
  const rheos__function *function;
  check(rheos__graph_function(f->graph, &func, &function));
  rheos_session *session = session_of(f, RHEOS_TOGGLE_ON);
  rheos__watches *watches = watch_all(function->graph, true);
  rheos_tensor *in = square(0);
  const rheos_feed feed = {x, in};
  seen all;
  seen_init(&all);
  for (int i = 0; i < 2; i++) {
    watch(session, &feed, y, watches, &all);
    assert_true(all.count >= 4 && all.count % 2 == 0);
    for (int32_t k = 0; k < all.count; k++) {
      assert_true(strlen(all.places[k]) > 2 &&
                  strcmp(all.places[k] + strlen(all.places[k]) - 2, ";0") == 0);
    }
    seen_clear(&all);
  }
  rheos__watches_unref(watches);
  rheos_session_free(session);
  rheos_tensor_unref(in);
  rheos_function_free(made);
}

static rheos_status *refuse(void *argument, const rheos__delivered *delivered) {
  (void)argument, (void)delivered;
  return rheos_status_new(RHEOS_INVALID_ARGUMENT, "seen enough");
}

static void test_watched_run__ends_the_step_by_an_error(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output middle = rheos_exp(f->scope, x);
  const rheos_output y = rheos_matmul(f->scope, middle, middle);
  rheos_session *session = session_of(f, RHEOS_TOGGLE_ON);
  rheos_tensor *in = square(0);
  const rheos_feed feed = {x, in};
  rheos__watches *watches = watch_one(middle);
  const rheos__observer observer = {.deliver = refuse};
  rheos_fetch fetch = {y, NULL};
  for (int i = 0; i < 2; i++) {
    expect_error(
        rheos__session_run_watched(session, &feed, 1, &fetch, 1, NULL, 0, NULL, watches, &observer),
        RHEOS_INVALID_ARGUMENT, "seen enough");
    assert_null(fetch.value);
  }
  check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  rheos_tensor_unref(fetch.value);
  rheos__watches_unref(watches);
  rheos_session_free(session);
  rheos_tensor_unref(in);
}

static rheos_status *count_value(void *argument, const rheos__delivered *delivered) {
  (void)delivered;
  ++*(int32_t *)argument;
  return NULL;
}

// Whether memory was enough. What is watched and fetched is all that is made.
static bool watch_loop(fixture *f, rheos_output inside, const rheos_feed *feed, rheos_output y,
                       counting_allocator *counter, int64_t nth) {
  rheos_session *session = session_of(f, RHEOS_TOGGLE_ON);
  int32_t count = 0;
  const rheos__observer observer = {.deliver = count_value, .argument = &count};
  rheos_fetch fetch = {y, NULL};
  bool failed = false;
  for (int i = 0; i < 2; i++) {
    if (i == 0) counter->fail_at = counter->requests + nth;
    rheos__watches *watches = watch_one(inside);
    rheos_status *status = watches == NULL
                               ? NULL
                               : rheos__session_run_watched(session, feed, 1, &fetch, 1, NULL, 0,
                                                            NULL, watches, &observer);
    counter->fail_at = 0;
    if (i == 0) failed = watches == NULL || status != NULL;
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    assert_true(i == 0 || (status == NULL && count >= 3));
    rheos_status_free(status);
    rheos_tensor_unref(fetch.value);
    fetch.value = NULL;
    rheos__watches_unref(watches);
  }
  rheos_session_free(session);
  return !failed;
}

static void test_watched_run__fails_cleanly_where_memory_is_short(void **state) {
  tear_down(state);
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  set_up(state);
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output start[] = {rheos_constant_float(f->scope, 0, "zero"), x};
  rheos_output outputs[2], inside;
  rheos_while_loop(f->scope, below, next_values, &inside, start, 2, NULL, outputs);
  rheos_tensor *in = square(0);
  const rheos_feed feed = {x, in};
  int64_t nth = 1;
  while (!watch_loop(f, inside, &feed, outputs[1], &counter, nth)) nth++;
  assert_true(nth > 20);
  rheos_tensor_unref(in);
  tear_down(state);
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
  set_up(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_watched_run__delivers_what_fetches_give),
      TEST(test_watched_run__leaves_clusters_whole),
      TEST(test_watched_run__reads_variables_that_have_a_value),
      TEST(test_watched_run__delivers_each_trip),
      TEST(test_watched_run__delivers_of_the_branch_that_runs),
      TEST(test_watched_run__delivers_of_bodies),
      TEST(test_watched_run__ends_the_step_by_an_error),
      TEST(test_watched_run__fails_cleanly_where_memory_is_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
