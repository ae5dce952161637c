// Functions built in C: arguments, captures, results, calls of all kinds, export and import,
// errors.
#include <pthread.h>
#include <rheos/rheos.h>

#include "graph/graph_fixture.h"

#include "base/alloc.h"

static float run_float(rheos_graph *graph, rheos_output output) {
  rheos_session *session;
  assert_ok(rheos_session_new(graph, NULL, &session));
  rheos_fetch fetch = {.output = output};
  assert_ok(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const float value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
  return value;
}

static rheos_output binary(rheos_scope *s, const char *type, rheos_output x, rheos_output y) {
  const rheos_output both[] = {x, y};
  return output_of_op(add_op(s, type, NULL, both, 2));
}

// x * factor + x, of which `factor` is outside.
static rheos_function *make_scale(rheos_scope *s, const char *name, rheos_output factor) {
  rheos_function *f = rheos_function_begin(s, name, NULL);
  assert_non_null(f);
  rheos_scope *inside = rheos_function_scope(f);
  rheos_output x = rheos_function_argument(f, "x", RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_output y = binary(inside, "Mul", x, factor);
  rheos_function_result(f, "y", binary(inside, "AddV2", y, x));
  assert_true(rheos_function_finish(f, s));
  return f;
}

static void test_function__called_with_captures(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output factor = rheos_constant_float(f.scope, 5, "outer/factor");
  rheos_function *scale = make_scale(f.scope, "scale", factor);
  assert_int_equal(rheos_function_num_arguments(scale), 2);
  assert_int_equal(rheos_function_num_captures(scale), 1);
  rheos_output inside;
  assert_int_equal(rheos_function_capture_at(scale, 0, &inside).id, factor.id);
  assert_operation_name(rheos_output_operation(inside), "outer_factor");
  assert_null(rheos_function_capture_at(scale, 1, &inside).graph);
  assert_false(rheos_function_is_stateful(scale));
  const rheos_output three = rheos_constant_float(f.scope, 3, NULL);
  const rheos_operation call = rheos_function_call(f.scope, scale, &three, 1, NULL);
  assert_scope_ok(f.scope);
  assert_string_equal(rheos_operation_type(call), "PartitionedCall");
  assert_shape_text(rheos_output_shape(output_of_op(call)), "[]");
  assert_float_equal(run_float(f.graph, output_of_op(call)), 18, 0);
  // By its name as an op
  const rheos_output args[] = {three, factor};
  const rheos_output by_name = output_of_op(add_op(f.scope, "scale", NULL, args, 2));
  rheos_function_free(scale);  // the library keeps it
  assert_float_equal(run_float(f.graph, by_name), 18, 0);
  fixture_free(&f);
}

// Functions each of which calls the one before it, as many as would fill a stack if freeing went
// from one to the next, and all but the last leave the library.
static void test_function__calls_what_has_left_the_library(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  char name[32], before[32];
  for (int i = 0; i < 3000; ++i) {
    snprintf(name, sizeof name, "chain_%d", i);
    rheos_function *function = rheos_function_begin(f.scope, name, NULL);
    rheos_output x = rheos_function_argument(function, "x", RHEOS_FLOAT, RHEOS_SCALAR);
    rheos_scope *inside = rheos_function_scope(function);
    if (i > 0 && i < 40) {
      x = output_of_op(add_op(inside, before, NULL, &x, 1));
    } else if (i >= 40) {  // so that plans stay small
      const rheos_output both[] = {x, output_of_op(add_op(inside, before, NULL, &x, 1))};
      x = output_of_op(add_op(inside, "Shape", NULL, &both[1], 1));
      x = binary(inside, "AddV2", both[0], rheos_constant_float(inside, 1, NULL));
    }
    rheos_function_result(function, "y", binary(inside, "AddV2", x, x));
    assert_true(rheos_function_finish(function, f.scope));
    rheos_function_free(function);
    snprintf(before, sizeof before, "%s", name);
  }
  const rheos_output three = rheos_constant_float(f.scope, 3, NULL);
  const rheos_output call = output_of_op(add_op(f.scope, "chain_9", NULL, &three, 1));
  const rheos_output last = output_of_op(add_op(f.scope, before, NULL, &three, 1));
  for (int i = 0; i < 2999; ++i) {
    snprintf(name, sizeof name, "chain_%d", i);
    if (i != 9) assert_null(rheos_graph_remove_function(f.graph, name));
  }
  assert_float_equal(run_float(f.graph, call), 3 * 1024, 0);
  assert_float_equal(run_float(f.graph, last), 8, 0);
  rheos_status *status = rheos_graph_remove_function(f.graph, "chain_9");
  assert_null(status);
  fixture_free(&f);
}

static void test_function__captures_through_functions_around(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output factor = rheos_constant_float(f.scope, 5, "factor");
  rheos_function *outer = rheos_function_begin(f.scope, "outer", NULL);
  rheos_scope *in_outer = rheos_function_scope(outer);
  rheos_output x = rheos_function_argument(outer, NULL, RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_function *inner = make_scale(in_outer, "inner", factor);
  assert_int_equal(rheos_function_num_captures(outer), 1);
  const rheos_operation call = rheos_function_call(in_outer, inner, &x, 1, NULL);
  rheos_function_result(outer, NULL, binary(in_outer, "Sub", output_of_op(call), factor));
  rheos_function_result(outer, NULL, factor);  // a capture as it is
  assert_true(rheos_function_finish(outer, f.scope));
  assert_int_equal(rheos_function_num_captures(outer), 1);
  assert_int_equal(rheos_function_num_results(outer), 2);
  const rheos_output three = rheos_constant_float(f.scope, 3, NULL);
  const rheos_operation whole = rheos_function_call(f.scope, outer, &three, 1, "whole");
  assert_scope_ok(f.scope);
  assert_float_equal(run_float(f.graph, output_of_op(whole)), 13, 0);
  assert_float_equal(run_float(f.graph, rheos_operation_output(whole, 1)), 5, 0);
  rheos_function_free(inner);
  rheos_function_free(outer);
  fixture_free(&f);
}

static rheos_output stand_in(void *argument, rheos_function *function, rheos_output value) {
  rheos_output *seen = argument;
  *seen = value;
  return rheos_constant_float(rheos_function_scope(function), 7, "stand_in");
}

static void test_function__asks_the_program_what_stands_for_a_tensor(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output factor = rheos_constant_float(f.scope, 5, "factor");
  rheos_output seen = {NULL, 0, 0};
  const rheos_function_options options = {.capture = stand_in, .capture_argument = &seen};
  rheos_function *fn = rheos_function_begin(f.scope, "f", &options);
  rheos_function_result(fn, NULL, binary(rheos_function_scope(fn), "Mul", factor, factor));
  assert_true(rheos_function_finish(fn, f.scope));
  assert_int_equal(seen.id, factor.id);
  assert_int_equal(rheos_function_num_arguments(fn), 0);
  const rheos_operation call = rheos_function_call(f.scope, fn, NULL, 0, NULL);
  assert_float_equal(run_float(f.graph, output_of_op(call)), 49, 0);
  rheos_function_free(fn);
  fixture_free(&f);
}

// ---- As attributes: a loop, with a variable that the body counts up

static rheos_function *make_condition(rheos_scope *s) {
  rheos_function *f = rheos_function_begin(s, "below", NULL);
  rheos_output x = rheos_function_argument(f, "x", RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_function_argument(f, "v", RHEOS_RESOURCE, RHEOS_SCALAR);
  rheos_scope *inside = rheos_function_scope(f);
  rheos_function_result(f, NULL, binary(inside, "Less", x, rheos_constant_float(inside, 6, NULL)));
  assert_true(rheos_function_finish(f, s));
  return f;
}

static rheos_function *make_body(rheos_scope *s) {
  rheos_function *f = rheos_function_begin(s, "step", NULL);
  rheos_scope *inside = rheos_function_scope(f);
  rheos_output x = rheos_function_argument(f, "x", RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_output v = rheos_function_argument(f, "v", RHEOS_RESOURCE, RHEOS_SCALAR);
  const rheos_output assign[] = {v, x};
  rheos_op_args args = {.type = "AssignAddVariableOp", .inputs = assign, .num_inputs = 2};
  rheos_function_control_output(f, NULL, rheos_op(inside, &args));
  rheos_function_result(f, NULL, binary(inside, "AddV2", x, rheos_constant_float(inside, 1, NULL)));
  rheos_function_result(f, NULL, v);
  assert_true(rheos_function_finish(f, s));
  assert_true(rheos_function_is_stateful(f));
  return f;
}

typedef struct loop_graph {
  rheos_output value, read;
  rheos_operation init;
} loop_graph;

static loop_graph make_loop(rheos_scope *s) {
  const rheos_shape scalar = RHEOS_SCALAR;
  const rheos_attr of_variable[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                                    rheos_attr_shape("shape", &scalar)};
  const rheos_output v = output_of_op(add_op_attrs(s, "VarHandleOp", NULL, 0, of_variable, 2));
  const rheos_output zero[] = {v, rheos_constant_float(s, 0, NULL)};
  loop_graph g = {.init = add_op(s, "AssignVariableOp", "init", zero, 2)};
  rheos_function *condition = make_condition(s), *body = make_body(s);
  const rheos_output inputs[] = {rheos_constant_float(s, 2, NULL), v};
  const rheos_attr attrs[] = {rheos_attr_func("cond", rheos_function_func(condition)),
                              rheos_attr_func("body", rheos_function_func(body))};
  const rheos_operation loop = add_op_attrs(s, "While", inputs, 2, attrs, 2);
  g.value = rheos_operation_output(loop, 0);
  rheos_push_control_dependencies(s, &loop, 1);
  const rheos_attr of_read[] = {rheos_attr_type("dtype", RHEOS_FLOAT)};
  g.read = output_of_op(add_op_attrs(s, "ReadVariableOp", &v, 1, of_read, 1));
  rheos_scope_pop(s);
  rheos_function_free(condition);
  rheos_function_free(body);
  assert_scope_ok(s);
  return g;
}

static void expect_loop(rheos_graph *graph, const loop_graph *g) {
  rheos_session *session;
  assert_ok(rheos_session_new(graph, NULL, &session));
  assert_ok(rheos_session_run(session, NULL, 0, NULL, 0, &g->init, 1, NULL));
  rheos_fetch fetches[] = {{.output = g->value}, {.output = g->read}};
  assert_ok(rheos_session_run(session, NULL, 0, fetches, 2, NULL, 0, NULL));
  assert_float_equal(*(const float *)rheos_tensor_data(fetches[0].value), 6, 0);
  assert_float_equal(*(const float *)rheos_tensor_data(fetches[1].value), 2 + 3 + 4 + 5, 0);
  rheos_tensor_unref(fetches[0].value);
  rheos_tensor_unref(fetches[1].value);
  rheos_session_free(session);
}

// ---- Conditions that are no numbers

static rheos_function *make_handed_on(rheos_scope *s) {
  rheos_function *f = rheos_function_begin(s, "handed_on", NULL);
  rheos_function_result(f, NULL, rheos_function_argument(f, "v", RHEOS_RESOURCE, RHEOS_SCALAR));
  assert_true(rheos_function_finish(f, s));
  return f;
}

static void expect_no_condition(rheos_graph *graph, rheos_operation op) {
  rheos_session *session;
  assert_ok(rheos_session_new(graph, NULL, &session));
  rheos_status *status = rheos_session_run(session, NULL, 0, NULL, 0, &op, 1, NULL);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_non_null(
      strstr(rheos_status_message(status), "resource cannot be converted to a boolean"));
  rheos_status_free(status);
  rheos_session_free(session);
}

static void test_function__a_handle_is_no_condition(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_function *same = make_handed_on(f.scope);
  const rheos_dtype dtype = RHEOS_FLOAT, resource = RHEOS_RESOURCE;
  const rheos_attr of_queue[] = {rheos_attr_types("component_types", &dtype, 1)};
  const rheos_output queue =
      output_of_op(add_op_attrs(f.scope, "FIFOQueueV2", NULL, 0, of_queue, 1));
  const rheos_output inputs[] = {queue, queue};
  const rheos_attr of_if[] = {rheos_attr_types("Tout", &resource, 1),
                              rheos_attr_func("then_branch", rheos_function_func(same)),
                              rheos_attr_func("else_branch", rheos_function_func(same))};
  expect_no_condition(f.graph, add_op_attrs(f.scope, "If", inputs, 2, of_if, 3));
  const rheos_attr of_loop[] = {rheos_attr_func("cond", rheos_function_func(same)),
                                rheos_attr_func("body", rheos_function_func(same))};
  expect_no_condition(f.graph, add_op_attrs(f.scope, "While", &queue, 1, of_loop, 2));
  rheos_function_free(same);
  fixture_free(&f);
}

static rheos_output again(rheos_graph *graph, rheos_output output) {
  char name[128];
  rheos_operation_name(rheos_output_operation(output), name, sizeof name);
  return rheos_operation_output(rheos_graph_operation(graph, name), output.index);
}

static void test_function__goes_through_a_file(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const loop_graph g = make_loop(f.scope);
  expect_loop(f.graph, &g);
  void *bytes, *bytes_again;
  size_t size_bytes, size_again;
  assert_ok(rheos_graph_to_graph_def(f.graph, &bytes, &size_bytes));
  graph_fixture other = fixture_new();
  rheos_import_graph_def(other.scope, bytes, size_bytes, NULL);
  assert_scope_ok(other.scope);
  const loop_graph theirs = {again(other.graph, g.value), again(other.graph, g.read),
                             rheos_graph_operation(other.graph, "init")};
  expect_loop(other.graph, &theirs);
  assert_ok(rheos_graph_to_graph_def(other.graph, &bytes_again, &size_again));
  assert_int_equal(size_bytes, size_again);
  assert_memory_equal(bytes, bytes_again, size_bytes);
  // Into the graph that has these functions; into one that has another of that name.
  const rheos_import_options options = {.prefix = "again"};
  rheos_import_graph_def(f.scope, bytes, size_bytes, &options);
  assert_scope_ok(f.scope);
  graph_fixture third = fixture_new();
  rheos_function_free(make_scale(third.scope, "step", rheos_constant_float(third.scope, 1, NULL)));
  rheos_import_graph_def(third.scope, bytes, size_bytes, NULL);
  expect_error(third.scope, RHEOS_INVALID_ARGUMENT, "Cannot add function 'step'");
  rheos_free(bytes);
  rheos_free(bytes_again);
  fixture_free(&third);
  fixture_free(&other);
  fixture_free(&f);
}

static void test_function__read_from_a_file_can_be_taken_out_and_read_again(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const loop_graph g = make_loop(f.scope);
  void *bytes, *bytes_again;
  size_t size_bytes, size_again;
  assert_ok(rheos_graph_to_graph_def(f.graph, &bytes, &size_bytes));
  graph_fixture other = fixture_new();
  for (int i = 0; i < 3; ++i) {
    const rheos_import_options options = {.prefix = i == 0 ? NULL : i == 1 ? "b" : "c"};
    rheos_import_graph_def(other.scope, bytes, size_bytes, &options);
    assert_scope_ok(other.scope);
    if (i == 0) {
      const loop_graph theirs = {again(other.graph, g.value), again(other.graph, g.read),
                                 rheos_graph_operation(other.graph, "init")};
      expect_loop(other.graph, &theirs);
    }
    assert_ok(rheos_graph_remove_function(other.graph, "step"));
    rheos_status *status = rheos_graph_remove_function(other.graph, "step");
    assert_int_equal(rheos_status_code(status), RHEOS_NOT_FOUND);
    rheos_status_free(status);
    assert_ok(rheos_graph_to_graph_def(other.graph, &bytes_again, &size_again));
    graph_fixture third = fixture_new();
    rheos_function_free(
        make_scale(third.scope, "step", rheos_constant_float(third.scope, 1, NULL)));
    const rheos_import_options elsewhere = {.prefix = "read"};
    rheos_import_graph_def(third.scope, bytes_again, size_again, &elsewhere);
    assert_scope_ok(third.scope);  // the file has no function of that name
    fixture_free(&third);
    rheos_free(bytes_again);
  }
  rheos_free(bytes);
  fixture_free(&other);
  fixture_free(&f);
}

// ---- Errors

static void test_function__refuses(void **state) {
  (void)state;
  graph_fixture f = fixture_new(), other = fixture_new();
  const rheos_output x = rheos_constant_float(f.scope, 5, "x");
  assert_null(rheos_function_begin(f.scope, "not a name", NULL));
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "'not a name' is not a valid name");
  rheos_function *fn = make_scale(f.scope, "f", x);
  rheos_function_argument(fn, NULL, RHEOS_FLOAT, RHEOS_SCALAR);
  expect_error(rheos_function_scope(fn), RHEOS_FAILED_PRECONDITION, "the function f is finished");
  rheos_function_call(f.scope, fn, NULL, 0, NULL);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "function f takes 1, the call has 0");
  rheos_function_free(fn);
  // The name again, or that of an op
  static const char *const names[] = {"f", "MatMul"};
  for (int i = 0; i < 2; i++) {
    fn = rheos_function_begin(f.scope, names[i], NULL);
    assert_false(rheos_function_finish(fn, f.scope));
    expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "Cannot add function");
    rheos_function_call(f.scope, fn, NULL, 0, NULL);
    expect_error(f.scope, RHEOS_FAILED_PRECONDITION, "is not finished");
    rheos_function_free(fn);
  }
  fn = rheos_function_begin(f.scope, "g", NULL);
  rheos_function_capture(fn, x);
  rheos_function_argument(fn, NULL, RHEOS_FLOAT, RHEOS_SCALAR);
  expect_error(rheos_function_scope(fn), RHEOS_FAILED_PRECONDITION, "takes no more arguments");
  rheos_function_result(fn, NULL, rheos_constant_float(other.scope, 1, NULL));
  expect_error(rheos_function_scope(fn), RHEOS_INVALID_ARGUMENT, "of no graph around");
  rheos_function_result(fn, NULL, (rheos_output){NULL, 0, 0});
  expect_error(rheos_function_scope(fn), RHEOS_INVALID_ARGUMENT, "the result is no tensor");
  rheos_function_capture(fn, (rheos_output){f.graph, 99, 0});
  expect_error(rheos_function_scope(fn), RHEOS_INVALID_ARGUMENT, "to be captured");
  // An error inside comes out at the end.
  binary(rheos_function_scope(fn), "NoSuchOp", x, x);
  assert_false(rheos_function_finish(fn, f.scope));
  expect_error(f.scope, RHEOS_NOT_FOUND, "NoSuchOp");
  rheos_function_free(fn);
  assert_false(rheos_function_finish(NULL, f.scope));
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "rheos_function_finish() needs function");
  rheos_function_free(NULL);
  fixture_free(&other);
  fixture_free(&f);
}

// ---- Arguments that the program makes itself, and the order of effects

static rheos_output resource(rheos_scope *s, const char *name) {
  const rheos_shape shape = RHEOS_SCALAR;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape),
                              rheos_attr_string("shared_name", name, strlen(name))};
  const rheos_op_args args = {.type = "VarHandleOp", .name = name, .attrs = attrs, .num_attrs = 3};
  return output_of_op(rheos_op(s, &args));
}

static rheos_operation on_resource(rheos_scope *s, const char *type, rheos_output handle,
                                   const rheos_output *value) {
  const rheos_output inputs[] = {handle, value != NULL ? *value : handle};
  const rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  const rheos_op_args args = {.type = type,
                              .inputs = inputs,
                              .num_inputs = value != NULL ? 2 : 1,
                              .attrs = &dtype,
                              .num_attrs = 1};
  return rheos_op(s, &args);
}

static void test_function__adopts_placeholders(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output variable = resource(f.scope, "v");
  rheos_function *fn = rheos_function_begin(f.scope, "first_name", NULL);
  rheos_scope *s = rheos_function_scope(fn);
  const rheos_output handle = rheos_function_stand_in(fn, "handle", variable);
  // What is behind a handle is known through it.
  const rheos_output read = output_of_op(on_resource(s, "ReadVariableOp", handle, NULL));
  assert_shape_text(rheos_output_shape(read), "[]");
  rheos_function_adopt_argument(fn, NULL, handle);
  rheos_function_adopt_argument(fn, NULL, handle);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "two arguments");
  rheos_function_adopt_argument(fn, NULL, read);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "no Placeholder");
  rheos_function_result(fn, NULL, read);
  rheos_function_rename(fn, "a b");
  expect_error(s, RHEOS_INVALID_ARGUMENT, "not a valid name");
  rheos_function_rename(fn, "last_name");
  assert_true(rheos_function_finish(fn, f.scope));
  assert_string_equal(rheos_function_name(fn), "last_name");
  rheos_function_rename(fn, "too_late");
  expect_error(s, RHEOS_FAILED_PRECONDITION, "is finished");
  const rheos_output one = rheos_constant_float(f.scope, 1.5F, NULL);
  const rheos_operation set = on_resource(f.scope, "AssignVariableOp", variable, &one);
  rheos_push_control_dependencies(f.scope, &set, 1);
  const rheos_operation call = rheos_function_call(f.scope, fn, &variable, 1, NULL);
  rheos_scope_pop(f.scope);
  assert_scope_ok(f.scope);
  assert_float_equal(run_float(f.graph, output_of_op(call)), 1.5F, 0);
  rheos_function_free(fn);
  fixture_free(&f);
}

// v = 1; a = v; v += 1; v += 1; b = v; gives a + 10 * b
static void test_function__has_effects_in_the_order_of_the_program(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output variable = resource(f.scope, "v");
  rheos_function *fn = rheos_function_begin(f.scope, "f", NULL);
  rheos_scope *s = rheos_function_scope(fn);
  const rheos_output one = rheos_constant_float(s, 1, NULL);
  on_resource(s, "AssignVariableOp", variable, &one);
  const rheos_output a = output_of_op(on_resource(s, "ReadVariableOp", variable, NULL));
  const rheos_operation first = on_resource(s, "AssignAddVariableOp", variable, &one);
  const rheos_operation second = on_resource(s, "AssignAddVariableOp", variable, &one);
  const rheos_output b = output_of_op(on_resource(s, "ReadVariableOp", variable, NULL));
  const rheos_output ten = rheos_constant_float(s, 10, NULL);
  rheos_function_result(fn, NULL, binary(s, "AddV2", a, binary(s, "Mul", ten, b)));
  rheos_function_order_effects(fn, 0);
  assert_scope_ok(s);
  assert_int_equal(rheos_operation_control_input(second, 0).id, first.id);
  assert_int_equal(rheos_operation_num_control_inputs(second), 1);
  assert_int_equal(rheos_operation_num_control_inputs(rheos_output_operation(b)), 1);
  assert_int_equal(rheos_function_num_control_outputs(fn), 3);
  assert_int_equal(rheos_function_control_output_at(fn, 1).id, first.id);
  rheos_function_order_effects(fn, 0);  // changes nothing more
  assert_int_equal(rheos_function_num_control_outputs(fn), 3);
  assert_int_equal(rheos_operation_num_control_inputs(second), 1);
  assert_true(rheos_function_finish(fn, f.scope));
  const rheos_operation call = rheos_function_call(f.scope, fn, NULL, 0, NULL);
  assert_scope_ok(f.scope);
  assert_float_equal(run_float(f.graph, output_of_op(call)), 31, 0);
  rheos_function_free(fn);
  fixture_free(&f);
}

// ---- As the gradient of a node

// dy * x * 100, as the gradient of an IdentityN of (2 x, x). `input`: whose gradient it is said to
// be.
static rheos_output with_own_gradient(graph_fixture *f, rheos_output x, int64_t input) {
  rheos_function *g = rheos_function_begin(f->scope, "own", NULL);
  rheos_scope *inside = rheos_function_scope(g);
  rheos_output dy = rheos_function_argument(g, "dy", RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_output kept = rheos_function_argument(g, "x", RHEOS_FLOAT, RHEOS_SCALAR);
  dy = binary(inside, "Mul", binary(inside, "Mul", dy, kept),
              rheos_constant_float(inside, 100, NULL));
  rheos_function_result(g, NULL, dy);
  assert_true(rheos_function_finish(g, f->scope));
  const rheos_output inputs[] = {binary(f->scope, "AddV2", x, x), x};
  const rheos_attr attrs[] = {
      rheos_attr_func("_custom_gradient", rheos_function_func(g)),
      {"_custom_gradient_args",
       {.kind = RHEOS_ATTR_LIST_INT, .count = 2, .ints = (int64_t[]){0, -2}}},
      {"_custom_gradient_results",
       {.kind = RHEOS_ATTR_LIST_INT, .count = 1, .ints = (int64_t[]){input}}}};
  const rheos_op_args args = {
      .type = "IdentityN", .inputs = inputs, .num_inputs = 2, .attrs = attrs, .num_attrs = 3};
  const rheos_output y = rheos_operation_output(rheos_op(f->scope, &args), 0);
  rheos_function_free(g);
  return y;
}

static void test_function__is_the_gradient_that_a_node_names(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output x = rheos_constant_float(f.scope, 3, NULL);
  const rheos_output y = with_own_gradient(&f, x, 1);
  rheos_gradient first = {0}, second = {0};
  rheos_gradients(f.scope, &y, 1, &x, 1, NULL, &first);
  assert_scope_ok(f.scope);
  rheos_gradients(f.scope, &first.values, 1, &x, 1, NULL, &second);
  assert_scope_ok(f.scope);
  assert_float_equal(run_float(f.graph, y), 6, 0);
  assert_float_equal(run_float(f.graph, first.values), 300, 0);
  assert_float_equal(run_float(f.graph, second.values), 100, 0);
  fixture_free(&f);
}

static void test_function__that_does_not_fit_its_node_is_no_gradient(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output x = rheos_constant_float(f.scope, 3, NULL);
  const rheos_output y = with_own_gradient(&f, x, 2);
  rheos_gradient gradient = {0};
  rheos_gradients(f.scope, &y, 1, &x, 1, NULL, &gradient);
  rheos_status *status = rheos_scope_finish(f.scope);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  fixture_free(&f);
}

enum { NUM_CALLS = 40 };

typedef struct chain {
  rheos_graph *graph;
  rheos_output x, ys[NUM_CALLS];
} chain;

// Differentiates each call, by which its node is extended.
static void *differentiate(void *argument) {
  const chain *c = argument;
  rheos_scope *s = rheos_scope_new(c->graph);
  for (int i = 0; i < NUM_CALLS; i++) {
    rheos_gradient gradient;
    rheos_gradients(s, &c->ys[i], 1, &c->x, 1, NULL, &gradient);
  }
  rheos_status *status = rheos_scope_finish(s);
  rheos_scope_free(s);
  return status;
}

static void test_function__is_differentiated_while_plans_are_made(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output factor = rheos_constant_float(f.scope, 0.5f, "factor");
  rheos_function *scale = make_scale(f.scope, "scale", factor);
  chain c = {.graph = f.graph, .x = rheos_constant_float(f.scope, 1, "x")};
  rheos_output at = c.x;
  for (int i = 0; i < NUM_CALLS; i++) {
    at = c.ys[i] = output_of_op(rheos_function_call(f.scope, scale, &at, 1, NULL));
  }
  assert_scope_ok(f.scope);
  rheos_session *session;
  assert_ok(rheos_session_new(f.graph, NULL, &session));
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, differentiate, &c), 0);
  float wanted = 1;
  for (int i = 0; i < NUM_CALLS; i++) {
    rheos_fetch fetch = {.output = c.ys[i]};
    assert_ok(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
    wanted += wanted * 0.5f;
    assert_float_equal(*(const float *)rheos_tensor_data(fetch.value), wanted, wanted * 1e-5f);
    rheos_tensor_unref(fetch.value);
  }
  void *status;
  pthread_join(thread, &status);
  assert_ok(status);
  rheos_session_free(session);
  rheos_function_free(scale);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_function__adopts_placeholders),
      cmocka_unit_test(test_function__has_effects_in_the_order_of_the_program),
      cmocka_unit_test(test_function__called_with_captures),
      cmocka_unit_test(test_function__calls_what_has_left_the_library),
      cmocka_unit_test(test_function__captures_through_functions_around),
      cmocka_unit_test(test_function__asks_the_program_what_stands_for_a_tensor),
      cmocka_unit_test(test_function__a_handle_is_no_condition),
      cmocka_unit_test(test_function__goes_through_a_file),
      cmocka_unit_test(test_function__read_from_a_file_can_be_taken_out_and_read_again),
      cmocka_unit_test(test_function__refuses),
      cmocka_unit_test(test_function__is_the_gradient_that_a_node_names),
      cmocka_unit_test(test_function__that_does_not_fit_its_node_is_no_gradient),
      cmocka_unit_test(test_function__is_differentiated_while_plans_are_made),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
