// Source lines in errors that came from elsewhere.
#include "graph/node_mentions.h"

#include <stdlib.h>

#include "graph/counting_allocator.h"
#include "graph/graph_fixture.h"
#include <rheos/scope.h>

static char *told_of(graph_fixture *f, const char *message, char **out_node) {
  rheos_status *status = rheos__status_with_lines_take(
      rheos_status_new(RHEOS_INVALID_ARGUMENT, "%s", message), f->graph);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  const char *node = rheos_status_node(status);
  *out_node = node != NULL ? strdup(node) : NULL;
  char *told = strdup(rheos_status_message(status));
  rheos_status_free(status);
  return told;
}

static void expect_told(graph_fixture *f, const char *message, const char *expected,
                        const char *expected_node) {
  char *node, *told = told_of(f, message, &node);
  assert_string_equal(told, expected);
  if (expected_node == NULL) {
    assert_null(node);
  } else {
    assert_string_equal(node, expected_node);
  }
  free(told);
  free(node);
}

static void test_node_mentions__known_nodes_get_their_lines(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope_set_source(f.scope, "model.py", 3);
  rheos_constant_float(f.scope, 1, "a/b");
  expect_told(&f, "bad\n\t [[node a/b]]", "bad\n\t [[node a/b (defined at model.py:3)]]", "a/b");
  expect_told(&f, "bad [[{{node a/b}}]]", "bad [[node a/b (defined at model.py:3)]]", "a/b");
  expect_told(&f, "{{node x}} with {{node a/b}} twice {{colocation_node a/b}}",
              "{{node x}} with node a/b (defined at model.py:3) twice node a/b (defined at "
              "model.py:3)",
              "a/b");
  fixture_free(&f);
}

static void test_node_mentions__all_else_stays(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_constant_float(f.scope, 1, "a");
  const char *const others[] = {
      "",          "node a",     "[[node a",    "[[node a (defined at other.py:1)]]",
      "{{node }}", "[[node b]]", "[[{{node a]]"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    expect_told(&f, others[i], others[i], NULL);
  }
  rheos_status *known =
      rheos__status_at_node_take(rheos_status_new(RHEOS_ABORTED, "[[node a]]"), "b", NULL, 0);
  known = rheos__status_with_lines_take(known, f.graph);
  assert_string_equal(rheos_status_node(known), "b");
  rheos_status_free(known);
  assert_null(rheos__status_with_lines_take(NULL, f.graph));
  fixture_free(&f);
}

static void test_node_mentions__others_are_told_in_their_form(void **state) {
  (void)state;
  rheos_status *status = rheos__status_for_others_take(
      RHEOS_INVALID("bad\n\t [[node a/b]] [[node c (defined at x.py:1)]] [[{{node d}}]] [[node "));
  assert_string_equal(rheos_status_message(status),
                      "bad\n\t [[{{node a/b}}]] [[node c (defined at x.py:1)]] [[{{node d}}]] "
                      "[[node ");
  rheos_status_free(status);
  assert_null(rheos__status_for_others_take(NULL));
}

// Where memory is short the error is told as it came.
static void test_node_mentions__survive_that_memory_is_short(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_constant_float(f.scope, 1, "a");
  for (int64_t n = 1, requests = n; requests >= n; n++) {
    counting_allocator counter = {.fail_at = n, .fail_after = true};
    counting_allocator_install(&counter);
    rheos_status *status = rheos_status_new(RHEOS_ABORTED, "x [[node a]] {{node a}}");
    status = rheos__status_for_others_take(rheos__status_with_lines_take(status, f.graph));
    const rheos_code code = rheos_status_code(status);
    assert_true(code == RHEOS_ABORTED || code == RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
    rheos_set_allocator(NULL);
    assert_int_equal(counter.alive, 0);
    requests = counter.requests;
  }
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_node_mentions__known_nodes_get_their_lines),
      cmocka_unit_test(test_node_mentions__all_else_stays),
      cmocka_unit_test(test_node_mentions__survive_that_memory_is_short),
      cmocka_unit_test(test_node_mentions__others_are_told_in_their_form),
  };
  return cmocka_run_group_tests_name("node_mentions", tests, NULL, NULL);
}
