// Savers: values written by one session are read by another, of another graph, by their names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rheos/rheos.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
  char folder[64], prefix[96];
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof(fixture));
  f->graph = rheos_graph_new();
  f->s = rheos_scope_new(f->graph);
  strcpy(f->folder, "/tmp/rheos-saver-XXXXXX");
  *state = f;
  if (mkdtemp(f->folder) == NULL) return 1;
  snprintf(f->prefix, sizeof(f->prefix), "%s/model", f->folder);
  return f->s == NULL;
}

static int teardown(void **state) {
  fixture *f = *state;
  char file[160];
  snprintf(file, sizeof(file), "%s.index", f->prefix);
  remove(file);
  snprintf(file, sizeof(file), "%s.data-00000-of-00001", f->prefix);
  remove(file);
  remove(f->prefix);  // a checkpoint of the first kind
  rmdir(f->folder);
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
  free(f);
  return 0;
}

static void assert_ok(rheos_status *status) {
  if (status != NULL) fprintf(stderr, "%s\n", rheos_status_message(status));
  assert_null(status);
}

static void assert_fails(rheos_scope *s, const char *want) {
  rheos_status *status = rheos_scope_finish(s);
  assert_non_null(status);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_string_equal(rheos_status_message(status), want);
  rheos_status_free(status);
}

static rheos_variable filled(rheos_scope *s, const char *name, rheos_dtype dtype, rheos_shape shape,
                             double value) {
  return rheos_get_variable_record(s, name, dtype, shape, rheos_constant_initializer(value), true);
}

static double first_of(rheos_session *session, rheos_output output) {
  rheos_fetch fetch = {.output = output};
  assert_ok(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const void *data = rheos_tensor_data(fetch.value);
  double value = rheos_tensor_dtype(fetch.value) == RHEOS_FLOAT ? (double)*(const float *)data
                                                                : (double)*(const int64_t *)data;
  rheos_tensor_unref(fetch.value);
  return value;
}

static void test_saver__restores_in_another_graph(void **state) {
  fixture *f = *state;
  filled(f->s, "b", RHEOS_FLOAT, RHEOS_SHAPE(3, 2), 1.5);
  filled(f->s, "a", RHEOS_INT64, RHEOS_SCALAR, 7);
  rheos_operation init = rheos_global_variables_initializer(f->s);
  rheos_saver saver = rheos_saver_new(f->s, NULL, NULL, 0, NULL);
  assert_ok(rheos_scope_finish(f->s));
  rheos_session *session = NULL;
  assert_ok(rheos_session_new(f->graph, NULL, &session));
  assert_ok(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  assert_ok(rheos_saver_save(saver, session, f->prefix));
  rheos_session_free(session);

  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_variable number = filled(s, "number", RHEOS_INT64, RHEOS_SCALAR, 0);
  rheos_variable matrix = filled(s, "matrix", RHEOS_FLOAT, RHEOS_SHAPE(3, 2), 0);
  const rheos_variable variables[] = {matrix, number};
  const char *const names[] = {"b", "a"};
  saver = rheos_saver_new(s, variables, names, 2, "load");
  assert_ok(rheos_scope_finish(s));
  assert_ok(rheos_session_new(graph, NULL, &session));
  assert_ok(rheos_saver_restore(saver, session, f->prefix));
  assert_true(first_of(session, number.value) == 7);
  assert_true(first_of(session, matrix.value) == 1.5);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static void test_saver__writes_the_first_kind_and_reshapes(void **state) {
  fixture *f = *state;
  filled(f->s, "a", RHEOS_FLOAT, RHEOS_SHAPE(2, 3), 2.5);
  rheos_variable flat = filled(f->s, "flat", RHEOS_FLOAT, RHEOS_SHAPE(6), 0);
  rheos_operation init = rheos_global_variables_initializer(f->s);
  rheos_saver saver =
      rheos_saver_new_with(f->s, NULL, NULL, 0, &(rheos_saver_options){.write_v1 = true});
  const char *const name = "a";
  rheos_saver plain = rheos_saver_new(f->s, &flat, &name, 1, "plain");
  rheos_saver reshaping = rheos_saver_new_with(
      f->s, &flat, &name, 1, &(rheos_saver_options){.name = "reshaping", .reshape = true});
  assert_ok(rheos_scope_finish(f->s));
  rheos_session *session = NULL;
  assert_ok(rheos_session_new(f->graph, NULL, &session));
  assert_ok(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  assert_ok(rheos_saver_save(saver, session, f->prefix));
  assert_int_equal(access(f->prefix, F_OK), 0);  // one file of that very name
  rheos_status *status = rheos_saver_restore(plain, session, f->prefix);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  assert_ok(rheos_saver_restore(reshaping, session, f->prefix));
  assert_true(first_of(session, flat.value) == 2.5);
  assert_ok(rheos_saver_restore(saver, session, f->prefix));
  rheos_session_free(session);
}

static void test_saver__tells_what_is_missing(void **state) {
  fixture *f = *state;
  filled(f->s, "a", RHEOS_FLOAT, RHEOS_SCALAR, 1);
  rheos_operation init = rheos_global_variables_initializer(f->s);
  rheos_saver saver = rheos_saver_new(f->s, NULL, NULL, 0, NULL);
  assert_ok(rheos_scope_finish(f->s));
  rheos_session *session = NULL;
  assert_ok(rheos_session_new(f->graph, NULL, &session));
  rheos_status *status = rheos_saver_restore(saver, session, f->prefix);
  assert_int_equal(rheos_status_code(status), RHEOS_NOT_FOUND);
  rheos_status_free(status);
  status = rheos_saver_save(saver, session, f->prefix);  // not initialised
  assert_int_equal(rheos_status_code(status), RHEOS_FAILED_PRECONDITION);
  rheos_status_free(status);
  assert_ok(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  assert_ok(rheos_saver_save(saver, session, f->prefix));
  assert_ok(rheos_saver_restore(saver, session, f->prefix));
  // A name that the checkpoint does not have.
  rheos_variable b = filled(f->s, "b", RHEOS_FLOAT, RHEOS_SCALAR, 1);
  rheos_saver other = rheos_saver_new(f->s, &b, NULL, 1, NULL);
  assert_ok(rheos_scope_finish(f->s));
  status = rheos_saver_restore(other, session, f->prefix);
  assert_int_equal(rheos_status_code(status), RHEOS_NOT_FOUND);
  assert_non_null(strstr(rheos_status_message(status), "Key b not found in checkpoint"));
  rheos_status_free(status);
  rheos_session_free(session);
}

// Saves "layer/kernel" [2,3], "layer/bias" [3] and "step" to the fixture's prefix.
static void save_a_layer(fixture *f) {
  filled(f->s, "layer/kernel", RHEOS_FLOAT, RHEOS_SHAPE(2, 3), 1.5);
  filled(f->s, "layer/bias", RHEOS_FLOAT, RHEOS_SHAPE(3), 2.5);
  filled(f->s, "step", RHEOS_INT64, RHEOS_SCALAR, 7);
  rheos_operation init = rheos_global_variables_initializer(f->s);
  rheos_saver saver = rheos_saver_new(f->s, NULL, NULL, 0, NULL);
  assert_ok(rheos_scope_finish(f->s));
  rheos_session *session = NULL;
  assert_ok(rheos_session_new(f->graph, NULL, &session));
  assert_ok(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  assert_ok(rheos_saver_save(saver, session, f->prefix));
  rheos_session_free(session);
}

typedef struct other {
  rheos_graph *graph;
  rheos_scope *s;
} other;

static other new_other(void) {
  rheos_graph *graph = rheos_graph_new();
  return (other){graph, rheos_scope_new(graph)};
}

// Restores all variables of the other graph, and frees it.
static rheos_status *restore_other(other o, const char *name) {
  rheos_saver saver = rheos_saver_new(o.s, NULL, NULL, 0, NULL);
  assert_ok(rheos_scope_finish(o.s));
  rheos_session *session = NULL;
  assert_ok(rheos_session_new(o.graph, NULL, &session));
  rheos_status *status = rheos_saver_restore(saver, session, name);
  rheos_session_free(session);
  rheos_scope_free(o.s);
  rheos_graph_unref(o.graph);
  return status;
}

static void test_saver__lists_all_that_does_not_fit(void **state) {
  fixture *f = *state;
  save_a_layer(f);
  other o = new_other();
  filled(o.s, "model/layer/kernel", RHEOS_FLOAT, RHEOS_SHAPE(2, 3), 0);
  filled(o.s, "layer/biases", RHEOS_FLOAT, RHEOS_SHAPE(3), 0);
  filled(o.s, "step", RHEOS_INT64, RHEOS_SHAPE(2), 0);
  filled(o.s, "unlike", RHEOS_FLOAT, RHEOS_SCALAR, 0);
  rheos_status *status = restore_other(o, f->prefix);
  char want[400];
  snprintf(want, sizeof want,
           "Key layer/biases not found in checkpoint; 3 missing: layer/biases (nearest: "
           "layer/bias), model/layer/kernel (nearest: layer/kernel), unlike; 1 of another shape: "
           "step is [2], there []; not asked for: layer/bias, layer/kernel (checkpoint %s)",
           f->prefix);
  assert_int_equal(rheos_status_code(status), RHEOS_NOT_FOUND);
  assert_string_equal(rheos_status_message(status), want);
  rheos_status_free(status);
  // Only shapes, of both kinds of variables
  for (int resource = 0; resource < 2; resource++) {
    o = new_other();
    rheos_graph_use_resource_variables(o.graph, resource);
    filled(o.s, "layer/kernel", RHEOS_FLOAT, RHEOS_SHAPE(3, 2), 0);
    filled(o.s, "layer/bias", RHEOS_FLOAT, RHEOS_SHAPE(4), 0);
    status = restore_other(o, f->prefix);
    snprintf(want, sizeof want,
             "Assign requires shapes of both tensors to match. lhs shape= [4] rhs shape= [3]; 2 of "
             "another shape: layer/bias is [4], there [3], layer/kernel is [3,2], there [2,3]; not "
             "asked for: step (checkpoint %s)",
             f->prefix);
    assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
    assert_string_equal(rheos_status_message(status), want);
    rheos_status_free(status);
  }
  // Dtypes
  o = new_other();
  filled(o.s, "step", RHEOS_FLOAT, RHEOS_SCALAR, 0);
  status = restore_other(o, f->prefix);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_non_null(strstr(rheos_status_message(status),
                         "tensor_name = step; expected dtype float does not equal original dtype "
                         "int64; 1 of another dtype: step is float, there int64;"));
  rheos_status_free(status);
}

static void test_saver__writes_a_shard_for_each_device(void **state) {
  fixture *f = *state;
  const char *const devices[] = {"/cpu:1", "/cpu:0", "/cpu:1"};
  const char *const names[] = {"a", "b", "c"};
  rheos_variable variables[3];
  for (int i = 0; i < 3; i++) {
    rheos_push_device(f->s, devices[i]);
    variables[i] = filled(f->s, names[i], RHEOS_FLOAT, RHEOS_SHAPE(2), i + 1);
    rheos_scope_pop(f->s);
  }
  rheos_operation init = rheos_global_variables_initializer(f->s);
  rheos_saver saver =
      rheos_saver_new_with(f->s, NULL, NULL, 0, &(rheos_saver_options){.sharded = true});
  assert_ok(rheos_scope_finish(f->s));
  const rheos_session_options options = {.num_cpu_devices = 2};
  rheos_session *session = NULL;
  assert_ok(rheos_session_new(f->graph, &options, &session));
  assert_ok(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  assert_ok(rheos_saver_save(saver, session, f->prefix));
  rheos_session_free(session);
  assert_ok(rheos_session_new(f->graph, &options, &session));
  char shard[160];
  snprintf(shard, sizeof shard, "%s.data-00001-of-00002", f->prefix);
  assert_ok(rheos_saver_restore(saver, session, shard));
  for (int i = 0; i < 3; i++) assert_true(first_of(session, variables[i].value) == i + 1);
  rheos_session_free(session);
  assert_int_equal(remove(shard), 0);
  snprintf(shard, sizeof shard, "%s.data-00000-of-00002", f->prefix);
  assert_int_equal(remove(shard), 0);
}

// The message stays short however much is wrong.
static void test_saver__keeps_the_list_short(void **state) {
  fixture *f = *state;
  save_a_layer(f);
  other o = new_other();
  char name[300];
  for (int i = 0; i < 100; i++) {
    memset(name, 'x', sizeof name);
    snprintf(name + 290, sizeof name - 290, "%d", i);
    filled(o.s, name, RHEOS_FLOAT, RHEOS_SCALAR, 0);
  }
  rheos_status *status = restore_other(o, f->prefix);
  assert_int_equal(rheos_status_code(status), RHEOS_NOT_FOUND);
  assert_non_null(strstr(rheos_status_message(status), "; 100 missing: x"));
  assert_non_null(strstr(rheos_status_message(status), " and 80 more; "));
  assert_true(strlen(rheos_status_message(status)) < 5000);
  rheos_status_free(status);
}

static void test_saver__restores_by_any_name_of_the_checkpoint(void **state) {
  fixture *f = *state;
  save_a_layer(f);
  const char *const paths[] = {f->prefix};
  assert_ok(rheos_checkpoint_state_write(f->folder, NULL, f->prefix, paths, 1));
  const char *const forms[] = {"%s/model", "%s/model.index", "%s/model.data-00000-of-00001", "%s",
                               "%s/"};
  char name[160];
  for (int i = 0; i < 5; i++) {
    other o = new_other();
    filled(o.s, "step", RHEOS_INT64, RHEOS_SCALAR, 0);
    snprintf(name, sizeof name, forms[i], f->folder);
    assert_ok(restore_other(o, name));
  }
  // Relative to where the program runs
  char here[500];
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(f->folder), 0);
  const char *const local[] = {"model", "./model", "model.index", "."};
  for (int i = 0; i < 4; i++) {
    other o = new_other();
    filled(o.s, "step", RHEOS_INT64, RHEOS_SCALAR, 0);
    assert_ok(restore_other(o, local[i]));
  }
  assert_int_equal(chdir(here), 0);
  snprintf(name, sizeof name, "%s/checkpoint", f->folder);
  remove(name);
  other o = new_other();
  filled(o.s, "step", RHEOS_INT64, RHEOS_SCALAR, 0);
  rheos_status *status = restore_other(o, f->folder);
  assert_int_equal(rheos_status_code(status), RHEOS_NOT_FOUND);
  assert_non_null(strstr(rheos_status_message(status), "has no checkpoint"));
  rheos_status_free(status);
}

static void test_saver__refuses_what_it_cannot_name(void **state) {
  fixture *f = *state;
  rheos_saver saver = rheos_saver_new(f->s, NULL, NULL, 0, NULL);
  assert_fails(f->s, "No variables to save");
  rheos_status *status = rheos_saver_restore(saver, NULL, f->prefix);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  rheos_variable a = filled(f->s, "a", RHEOS_FLOAT, RHEOS_SCALAR, 1);
  const rheos_variable twice[] = {a, a};
  rheos_saver_new(f->s, twice, NULL, 2, NULL);
  assert_fails(f->s, "At least two variables have the same name: a");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_saver__##name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(restores_in_another_graph),
      TEST(writes_the_first_kind_and_reshapes),
      TEST(tells_what_is_missing),
      TEST(lists_all_that_does_not_fit),
      TEST(writes_a_shard_for_each_device),
      TEST(keeps_the_list_short),
      TEST(restores_by_any_name_of_the_checkpoint),
      TEST(refuses_what_it_cannot_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
