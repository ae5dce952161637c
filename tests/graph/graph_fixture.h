// What most tests of graphs begin and end with.
#ifndef RHEOS_TESTS_GRAPH_GRAPH_FIXTURE_H
#define RHEOS_TESTS_GRAPH_GRAPH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph_check.h"
#include <rheos/scope.h>

typedef struct graph_fixture {
  rheos_graph *graph;
  rheos_scope *scope;
} graph_fixture;

static inline graph_fixture fixture_new(void) {
  graph_fixture f = {rheos_graph_new(), NULL};
  f.scope = rheos_scope_new(f.graph);
  assert_non_null(f.scope);
  return f;
}

static inline void assert_scope_ok(rheos_scope *scope) {
  assert_string_equal(rheos_status_message(rheos_scope_status(scope)), "");
}

static inline void fixture_free(graph_fixture *f) {
  assert_scope_ok(f->scope);
  rheos_scope_free(f->scope);
  rheos__graph_check(f->graph);
  rheos_graph_unref(f->graph);
}

// The scope's error has this code and contains this text; it is cleared.
static inline void expect_error(rheos_scope *scope, rheos_code code, const char *text) {
  rheos_status *status = rheos_scope_finish(scope);
  if (strstr(rheos_status_message(status), text) == NULL) {
    fail_msg("expected an error with '%s', got '%s'", text, rheos_status_message(status));
  }
  assert_int_equal(rheos_status_code(status), code);
  rheos_status_free(status);
}

static inline void expect_status_take(rheos_status *status, rheos_code code, const char *text) {
  if (strstr(rheos_status_message(status), text) == NULL) {
    fail_msg("expected an error with '%s', got '%s'", text, rheos_status_message(status));
  }
  assert_int_equal(rheos_status_code(status), code);
  rheos_status_free(status);
}

static inline void assert_ok(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static inline void assert_operation_name(rheos_operation operation, const char *name) {
  char text[256];
  rheos_operation_name(operation, text, sizeof text);
  assert_string_equal(text, name);
}

static inline void assert_shape_text(rheos_shape shape, const char *expected) {
  char text[256];
  rheos_shape_format(&shape, text, sizeof text);
  assert_string_equal(text, expected);
}

static inline rheos_operation add_op(rheos_scope *s, const char *type, const char *name,
                                     const rheos_output *inputs, size_t num_inputs) {
  rheos_op_args args = {.type = type, .name = name, .inputs = inputs, .num_inputs = num_inputs};
  return rheos_op(s, &args);
}

static inline rheos_operation add_op_attrs(rheos_scope *s, const char *type,
                                           const rheos_output *inputs, size_t num_inputs,
                                           const rheos_attr *attrs, size_t num_attrs) {
  rheos_op_args args = {.type = type,
                        .inputs = inputs,
                        .num_inputs = num_inputs,
                        .attrs = attrs,
                        .num_attrs = num_attrs};
  return rheos_op(s, &args);
}

static inline rheos_operation no_op(rheos_scope *s, const char *name) {
  return add_op(s, "NoOp", name, NULL, 0);
}

static inline rheos_output output_of_op(rheos_operation operation) {
  return rheos_operation_output(operation, 0);
}

static inline rheos_output add_placeholder(rheos_scope *s, rheos_dtype dtype, rheos_shape shape) {
  rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &shape)};
  return output_of_op(add_op_attrs(s, "Placeholder", NULL, 0, attrs, 2));
}

#endif  // RHEOS_TESTS_GRAPH_GRAPH_FIXTURE_H
