// Gradients of calls, branches and loops: for programs that TensorFlow recorded (tests/golden/
// make_function_gradients.py), first and second ones are what it gave. All of a program's runs are
// of one session.
#include <math.h>
#include <rheos/rheos.h>

#include "format/format_support.h"

#include "autodiff/accumulate.h"
#include "graph/counting_allocator.h"

enum { MAX_NAMES = 16 };

typedef struct program {
  char name[64];
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_session *session;
  rheos_operation init;
  rheos_output y, xs[MAX_NAMES], first[MAX_NAMES], second[MAX_NAMES];
  rheos_feed feeds[MAX_NAMES];
  rheos_output feed_values[MAX_NAMES], answers[2][MAX_NAMES];
  size_t num_xs, num_feeds, num_answers[2];
} program;

static int num_wrong;

static void note_wrong(const program *p, const char *what) {
  fprintf(stderr, "  %s: %s\n", p->name, what);
  num_wrong++;
}

static rheos_output output_named(rheos_graph *graph, const char *name) {
  rheos_output output;
  expect_ok(rheos_graph_output(graph, name, &output));
  return output;
}

static rheos_tensor *value_of(rheos_session *session, rheos_output output) {
  rheos_fetch fetch = {.output = output};
  expect_ok(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  return fetch.value;
}

static bool is_close(const rheos_tensor *got, const rheos_tensor *wanted) {
  if (!rheos_shape_equal(rheos_tensor_shape(got), rheos_tensor_shape(wanted))) return false;
  const float *a = rheos_tensor_data(got), *b = rheos_tensor_data(wanted);
  for (int64_t i = 0; i < rheos_tensor_num_elements(got); i++) {
    if (!(fabsf(a[i] - b[i]) <= 2e-5f * fabsf(b[i]) + 2e-6f)) return false;
  }
  return true;
}

// The sum of the gradients of `ys`, those that are there.
static bool add_gradients(program *p, const rheos_output *ys, size_t num_ys, rheos_output *out) {
  rheos_output given[MAX_NAMES];
  rheos_gradient gradients[MAX_NAMES] = {{{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}}};
  size_t num_given = 0;
  for (size_t i = 0; i < num_ys; i++) {
    if (ys[i].graph != NULL) given[num_given++] = ys[i];
  }
  if (num_given > 0) {
    rheos_gradients(p->scope, given, num_given, p->xs, p->num_xs, NULL, gradients);
  }
  for (size_t i = 0; i < p->num_xs; i++) {
    out[i] = rheos__gradient_to_dense(p->scope, &gradients[i], NULL);
  }
  rheos_status *status = rheos_scope_finish(p->scope);
  if (status == NULL) return true;
  note_wrong(p, rheos_status_message(status));
  rheos_status_free(status);
  return false;
}

static void compare(program *p, const rheos_output *gradients, int order) {
  for (size_t i = 0; i < p->num_xs; i++) {
    const rheos_output answer = p->answers[order][i];
    if (gradients[i].graph == NULL || answer.graph == NULL) {
      // TensorFlow gives zeros where it cannot see that there is no gradient, and so does this.
      if (gradients[i].graph == NULL && answer.graph != NULL) {
        rheos_tensor *zeros = value_of(p->session, answer);
        for (int64_t k = 0; k < rheos_tensor_num_elements(zeros); k++) {
          if (((const float *)rheos_tensor_data(zeros))[k] != 0) {
            note_wrong(p, "a gradient is missing");
            break;
          }
        }
        rheos_tensor_unref(zeros);
      }
      continue;
    }
    rheos_fetch fetch = {.output = gradients[i]};
    rheos_status *status =
        rheos_session_run(p->session, p->feeds, p->num_feeds, &fetch, 1, NULL, 0, NULL);
    if (status != NULL) {
      note_wrong(p, rheos_status_message(status));
      rheos_status_free(status);
      continue;
    }
    rheos_tensor *wanted = value_of(p->session, answer);
    if (!is_close(fetch.value, wanted)) {
      note_wrong(p, order == 0 ? "a first gradient differs" : "a second gradient differs");
    }
    rheos_tensor_unref(wanted);
    rheos_tensor_unref(fetch.value);
  }
}

static void end_run(program *p) {
  if (p->session == NULL) return;
  for (size_t i = 0; i < p->num_feeds; i++) {
    p->feeds[i].value = value_of(p->session, p->feed_values[i]);
  }
  if (p->first[0].graph != NULL || p->num_xs > 1) compare(p, p->first, 0);
  compare(p, p->second, 1);
  for (size_t i = 0; i < p->num_feeds; i++) rheos_tensor_unref(p->feeds[i].value);
  p->num_feeds = p->num_answers[0] = p->num_answers[1] = 0;
}

static void end_program(program *p) {
  end_run(p);
  rheos_session_free(p->session);
  rheos_scope_free(p->scope);
  rheos_graph_unref(p->graph);
  *p = (program){0};
}

static void begin_program(program *p, const char *name) {
  end_program(p);
  snprintf(p->name, sizeof p->name, "%s", name);
  char *path =
      rheos__text_format("%s/tests/golden/function_gradients/%s.pb", RHEOS_SOURCE_DIR, name);
  bytes b = read_bytes(path);
  p->graph = rheos_graph_new();
  p->scope = rheos_scope_new(p->graph);
  rheos_import_graph_def(p->scope, b.data, b.size_bytes, NULL);
  expect_ok(rheos_scope_finish(p->scope));
  rheos__free(b.data);
  rheos__free(path);
}

// Differentiates when the first run is listed.
static void need_session(program *p) {
  if (p->session != NULL) return;
  if (add_gradients(p, &p->y, 1, p->first)) add_gradients(p, p->first, p->num_xs, p->second);
  expect_ok(rheos_session_new(p->graph, NULL, &p->session));
  if (p->init.graph != NULL) {
    expect_ok(rheos_session_run(p->session, NULL, 0, NULL, 0, &p->init, 1, NULL));
  }
}

static void take_line(program *p, char *line) {
  char *rest;
  const char *word = strtok_r(line, " ", &rest), *name = strtok_r(NULL, " ", &rest);
  const char *value = strtok_r(NULL, " ", &rest);
  assert_true(p->num_xs < MAX_NAMES && p->num_feeds < MAX_NAMES);
  if (strcmp(word, "program") == 0) {
    begin_program(p, name);
  } else if (strcmp(word, "init") == 0) {
    p->init = rheos_graph_operation(p->graph, name);
  } else if (strcmp(word, "y") == 0) {
    p->y = output_named(p->graph, name);
  } else if (strcmp(word, "x") == 0) {
    p->xs[p->num_xs++] = output_named(p->graph, name);
  } else if (strcmp(word, "run") == 0) {
    end_run(p);
  } else if (strcmp(word, "feed") == 0) {
    p->feeds[p->num_feeds].output = output_named(p->graph, name);
    p->feed_values[p->num_feeds++] = output_named(p->graph, value);
  } else {
    need_session(p);
    const int order = strcmp(word, "second") == 0;
    assert_true(order == 1 || strcmp(word, "first") == 0);
    const rheos_output none = {NULL, 0, 0};
    p->answers[order][p->num_answers[order]++] =
        strcmp(name, "none") == 0 ? none : output_named(p->graph, name);
  }
}

static void test_function_gradients__are_tensorflows(void **state) {
  (void)state;
  char *path =
      rheos__text_format("%s/tests/golden/function_gradients/gradients.txt", RHEOS_SOURCE_DIR);
  bytes b = read_bytes(path);
  char *text = rheos__strndup(b.data, b.size_bytes), *rest;
  const char *only = getenv("ONLY");
  program p = {0};
  bool skips = false;
  for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    if (strncmp(line, "program ", 8) == 0) {
      end_program(&p);
      skips = only != NULL && strcmp(only, line + 8) != 0;
    }
    if (!skips) take_line(&p, line);
  }
  end_program(&p);
  rheos__free(text);
  rheos__free(b.data);
  rheos__free(path);
  assert_int_equal(num_wrong, 0);
}

// ---- Functions made in C

static rheos_output binary(rheos_scope *s, const char *type, rheos_output x, rheos_output y) {
  const rheos_output both[] = {x, y};
  const rheos_op_args args = {.type = type, .inputs = both, .num_inputs = 2};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static float float_of(rheos_session *session, rheos_output output) {
  rheos_tensor *value = value_of(session, output);
  const float number = *(const float *)rheos_tensor_data(value);
  rheos_tensor_unref(value);
  return number;
}

// x * x * x, counting its calls in the variable v.
static rheos_function *make_counting_cube(rheos_scope *s, rheos_output v) {
  rheos_function *f = rheos_function_begin(s, "cube", NULL);
  rheos_scope *inside = rheos_function_scope(f);
  const rheos_output x = rheos_function_argument(f, "x", RHEOS_FLOAT, RHEOS_SCALAR);
  const rheos_output count[] = {v, rheos_constant_float(inside, 1, NULL)};
  const rheos_op_args args = {.type = "AssignAddVariableOp", .inputs = count, .num_inputs = 2};
  rheos_op(inside, &args);
  rheos_function_result(f, NULL, binary(inside, "Mul", binary(inside, "Mul", x, x), x));
  assert_true(rheos_function_finish(f, s));
  return f;
}

static void test_function_gradients__effects_happen_once(void **state) {
  (void)state;
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  const rheos_shape scalar = RHEOS_SCALAR;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &scalar)};
  const rheos_op_args handle = {.type = "VarHandleOp", .attrs = attrs, .num_attrs = 2};
  const rheos_output v = rheos_operation_output(rheos_op(s, &handle), 0);
  const rheos_output zero[] = {v, rheos_constant_float(s, 0, NULL)};
  const rheos_op_args assign = {.type = "AssignVariableOp", .inputs = zero, .num_inputs = 2};
  const rheos_operation init = rheos_op(s, &assign);
  rheos_function *f = make_counting_cube(s, v);
  const rheos_output x = rheos_constant_float(s, 3, NULL);
  const rheos_operation call = rheos_function_call(s, f, &x, 1, NULL);
  rheos_function_free(f);
  const rheos_output y = rheos_operation_output(call, 0);
  rheos_gradient first, second;
  rheos_gradients(s, &y, 1, &x, 1, NULL, &first);
  rheos_gradients(s, &first.values, 1, &x, 1, NULL, &second);
  const rheos_op_args read = {
      .type = "ReadVariableOp", .inputs = &v, .num_inputs = 1, .attrs = attrs, .num_attrs = 1};
  const rheos_output count = rheos_operation_output(rheos_op(s, &read), 0);
  expect_ok(rheos_scope_finish(s));
  rheos_session *session;
  expect_ok(rheos_session_new(graph, NULL, &session));
  expect_ok(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  assert_float_equal(float_of(session, first.values), 27, 1e-5);
  assert_float_equal(float_of(session, count), 1, 0);
  assert_float_equal(float_of(session, second.values), 18, 1e-5);
  assert_float_equal(float_of(session, count), 2, 0);
  assert_float_equal(float_of(session, y), 27, 1e-5);
  assert_float_equal(float_of(session, count), 3, 0);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static rheos_operation call_named(rheos_scope *s, const char *name, rheos_output x) {
  const rheos_func func = {.name = {(char *)(uintptr_t)name, strlen(name)}};
  const rheos_dtype types[] = {RHEOS_FLOAT};
  const rheos_attr attrs[] = {rheos_attr_func("f", &func), rheos_attr_types("Tout", types, 1)};
  const rheos_op_args args = {
      .type = "PartitionedCall", .inputs = &x, .num_inputs = 1, .attrs = attrs, .num_attrs = 2};
  return rheos_op(s, &args);
}

static void test_function_gradients__refuse(void **state) {
  (void)state;
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_function *f = rheos_function_begin(s, "again", NULL);
  rheos_output x = rheos_function_argument(f, "x", RHEOS_FLOAT, RHEOS_SCALAR);
  const rheos_operation inner = call_named(rheos_function_scope(f), "again", x);
  rheos_function_result(f, NULL, rheos_operation_output(inner, 0));
  assert_true(rheos_function_finish(f, s));
  rheos_function_free(f);
  x = rheos_constant_float(s, 2, NULL);
  rheos_gradient gradient;
  rheos_output y = rheos_operation_output(call_named(s, "again", x), 0);
  for (int i = 0; i < 2; i++) {
    rheos_gradients(s, &y, 1, &x, 1, NULL, &gradient);
    expect_error(rheos_scope_finish(s), RHEOS_UNIMPLEMENTED,
                 "the gradient of the function again, which calls itself, would never end");
    assert_null(gradient.values.graph);
  }
  y = rheos_operation_output(call_named(s, "nothing", x), 0);
  rheos_gradients(s, &y, 1, &x, 1, NULL, &gradient);
  expect_error(rheos_scope_finish(s), RHEOS_NOT_FOUND, "Function nothing is not defined.");
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

// ---- Functions that call each other twice

// f0 is the sine, fK is f(K-1) of f(K-1). Calls the last of them.
static rheos_output call_doubled(rheos_scope *s, rheos_output x, int num_functions) {
  char name[16], inner[16] = "";
  for (int k = 0; k < num_functions; k++) {
    snprintf(name, sizeof name, "f%d", k);
    rheos_function *f = rheos_function_begin(s, name, NULL);
    rheos_scope *inside = rheos_function_scope(f);
    rheos_output y = rheos_function_argument(f, "x", RHEOS_FLOAT, RHEOS_SCALAR);
    if (k == 0) {
      const rheos_op_args args = {.type = "Sin", .inputs = &y, .num_inputs = 1};
      y = rheos_operation_output(rheos_op(inside, &args), 0);
    }
    for (int i = 0; i < 2 && k > 0; i++) {
      y = rheos_operation_output(call_named(inside, inner, y), 0);
    }
    rheos_function_result(f, NULL, y);
    assert_true(rheos_function_finish(f, s));
    rheos_function_free(f);
    memcpy(inner, name, sizeof inner);
  }
  return rheos_operation_output(call_named(s, inner, x), 0);
}

// What is handed on from the calls doubles from one function to the next: from some size on it is
// computed again, so that a gradient needs no time that grows as the calls do before it runs.
static void test_function_gradients__are_made_once_for_a_function(void **state) {
  (void)state;
  enum { NUM_FUNCTIONS = 14 };
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  const rheos_output x = rheos_constant_float(s, 1, NULL);
  const rheos_output y = call_doubled(s, x, NUM_FUNCTIONS);
  rheos_gradient first, second;
  rheos_gradients(s, &y, 1, &x, 1, NULL, &first);
  rheos_gradients(s, &first.values, 1, &x, 1, NULL, &second);
  expect_ok(rheos_scope_finish(s));
  double value = 1, wanted = 1, wanted_second = 0;
  for (int i = 0; i < 1 << (NUM_FUNCTIONS - 1); i++) {
    wanted_second = cos(value) * wanted_second - sin(value) * wanted * wanted;
    wanted *= cos(value);
    value = sin(value);
  }
  rheos_session *session;
  expect_ok(rheos_session_new(graph, NULL, &session));
  assert_float_equal(float_of(session, first.values) / wanted, 1, 1e-2);
  assert_float_equal(float_of(session, second.values) / wanted_second, 1, 1e-2);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

// ---- When memory is short

// Whether there was enough.
static bool differentiate_and_free(const bytes *message) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  if (s != NULL) rheos_import_graph_def(s, message->data, message->size_bytes, NULL);
  rheos_output y, x;
  rheos_status *status = rheos_scope_finish(s);
  if (status == NULL) status = rheos_graph_output(graph, "y:0", &y);
  if (status == NULL) status = rheos_graph_output(graph, "x:0", &x);
  if (status == NULL) {
    rheos_gradient gradient;
    rheos_gradients(s, &y, 1, &x, 1, NULL, &gradient);
    status = rheos_scope_finish(s);
    assert_true(status != NULL || gradient.values.graph != NULL);
  }
  const bool enough = status == NULL;
  rheos_status_free(status);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return enough;
}

static void test_function_gradients__fail_with_a_status_when_memory_is_short(void **state) {
  (void)state;
  bytes message =
      read_bytes(RHEOS_SOURCE_DIR "/tests/golden/function_gradients/branches_in_a_loop.pb");
  assert_true(differentiate_and_free(&message));  // makes what is the process's
  // Every one of the first requests, then some of the later ones.
  bool enough = false;
  for (int64_t at = 1; !enough; at += 1 + at / 64) {
    counting_allocator counter = {.fail_at = at, .fail_after = true};
    counting_allocator_install(&counter);
    enough = differentiate_and_free(&message);
    rheos_set_allocator(NULL);
    assert_int_equal(counter.alive, 0);
  }
  rheos__free(message.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_function_gradients__are_tensorflows),
      cmocka_unit_test(test_function_gradients__effects_happen_once),
      cmocka_unit_test(test_function_gradients__refuse),
      cmocka_unit_test(test_function_gradients__are_made_once_for_a_function),
      cmocka_unit_test(test_function_gradients__fail_with_a_status_when_memory_is_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
