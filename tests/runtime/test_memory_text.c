// What memory a step needs, as text and as JSON, through the public interface.
#include <rheos/rheos.h>

#include "graph/counting_allocator.h"
#include "graph/graph_fixture.h"

typedef struct fixture {
  graph_fixture graph;
  rheos_session *session;
  rheos_output x, y;
} fixture;

static fixture set_up(void) {
  fixture f = {.graph = fixture_new()};
  rheos_scope *s = f.graph.scope;
  f.x = rheos_placeholder(s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(-1, 3), .name = "x");
  f.y = rheos_relu(s, rheos_matmul(s, f.x, f.x, .transpose_b = true), .name = "y");
  assert_scope_ok(s);
  assert_ok(rheos_session_new(f.graph.graph, NULL, &f.session));
  return f;
}

static void tear_down(fixture *f) {
  rheos_session_free(f->session);
  fixture_free(&f->graph);
}

static void test_memory_text__has_bytes_and_the_largest_values(void **state) {
  (void)state;
  fixture f = set_up();
  const rheos_shape shape = RHEOS_SHAPE(2, 3);
  char *text;
  assert_ok(rheos_session_memory_text(f.session, &f.x, &shape, 1, &f.y, 1, NULL, 0, &text));
  // [2,2] of floats for the caller, and nothing beside it: the product is made in its place.
  assert_non_null(strstr(text,
                         "a step needs 16 bytes: 0 for intermediate values (0 side by side), "
                         "16 for its results\nfed: x float [2,3]\n"));
  assert_non_null(strstr(text, "largest:\n  16 bytes: y:0 float [2,2]"));
  rheos_free(text);
  assert_ok(rheos_session_memory_json(f.session, &f.x, &shape, 1, &f.y, 1, NULL, 0, &text));
  const char *const members[] = {"\"peak_bytes\": 16",   "\"result_bytes\": 16",
                                 "\"on_tokens\": false", "\"waits_for\": null",
                                 "\"node\": \"y\"",      "\"bodies\": []"};
  for (size_t i = 0; i < 6; i++) assert_non_null(strstr(text, members[i]));
  assert_string_equal(text + strlen(text) - 2, "}\n");
  rheos_free(text);
  tear_down(&f);
}

static void test_memory_text__refuses_shapes_that_do_not_fit(void **state) {
  (void)state;
  fixture f = set_up();
  const rheos_shape shapes[] = {
      RHEOS_SHAPE(2, 4), RHEOS_SHAPE(-1, 3), RHEOS_UNKNOWN_SHAPE, {.rank = 99}};
  const char *const words[] = {"not [2,4]", "is not known", "is not known", "is not known"};
  for (size_t i = 0; i < 4; i++) {
    char *text;
    expect_status_take(
        rheos_session_memory_text(f.session, &f.x, &shapes[i], 1, &f.y, 1, NULL, 0, &text),
        RHEOS_INVALID_ARGUMENT, words[i]);
    assert_null(text);
  }
  tear_down(&f);
}

static void test_memory_text__survives_short_memory(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  int failures = 0;
  for (int64_t n = 1; n < 2000; n++) {
    fixture f = set_up();
    const rheos_shape shape = RHEOS_SHAPE(2, 3);
    char *text;
    counter.requests = 0;
    counter.fail_at = n;
    rheos_status *status =
        rheos_session_memory_json(f.session, &f.x, &shape, 1, &f.y, 1, NULL, 0, &text);
    const bool was_met = counter.requests >= n;
    counter.fail_at = 0;
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    failures += status != NULL;
    rheos_status_free(status);
    rheos_free(text);
    tear_down(&f);
    if (!was_met) break;
  }
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
  assert_true(failures > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory_text__has_bytes_and_the_largest_values),
      cmocka_unit_test(test_memory_text__refuses_shapes_that_do_not_fit),
      cmocka_unit_test(test_memory_text__survives_short_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
