// The checkpoints of a run: which stay, what the list says, what is deleted.
#include <rheos/format.h>
#include <rheos/saved_model.h>
#include <rheos/scope.h>
#include <rheos/session.h>
#include <rheos/train.h>
#include <unistd.h>

#include "base/file.h"
#include "format/format_support.h"

typedef struct run {
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_session *session;
  rheos_saver saver;
  char *folder, path[200];
} run;

static int set_up(void **state) {
  run *r = calloc(1, sizeof *r);
  r->folder = new_folder();
  snprintf(r->path, sizeof r->path, "%s/model", r->folder);
  r->graph = rheos_graph_new();
  r->scope = rheos_scope_new(r->graph);
  rheos_get_variable(r->scope, "v", RHEOS_FLOAT, RHEOS_SHAPE(2), rheos_constant_initializer(0));
  r->saver = rheos_saver_new(r->scope, NULL, NULL, 0, NULL);
  const rheos_operation init = rheos_global_variables_initializer(r->scope);
  expect_ok(rheos_scope_finish(r->scope));
  expect_ok(rheos_session_new(r->graph, NULL, &r->session));
  expect_ok(rheos_session_run(r->session, NULL, 0, NULL, 0, &init, 1, NULL));
  *state = r;
  return 0;
}

static int tear_down(void **state) {
  run *r = *state;
  remove_folder(r->folder);
  rheos_session_free(r->session);
  rheos_scope_free(r->scope);
  rheos_graph_unref(r->graph);
  free(r);
  return 0;
}

static bool has_file(const run *r, const char *name) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", r->folder, name);
  return access(path, F_OK) == 0;
}

// The steps of the checkpoints in the list, in order.
static void expect_list(const run *r, const char *file_name, const char *const *names,
                        size_t count) {
  rheos_checkpoint_state list;
  expect_ok(rheos_checkpoint_state_read(r->folder, file_name, &list));
  assert_int_equal(list.num_paths, count);
  for (size_t i = 0; i < count; i++) {
    const char *slash = strrchr(list.all_model_checkpoint_paths[i], '/');
    assert_string_equal(slash + 1, names[i]);
  }
  assert_string_equal(strrchr(list.model_checkpoint_path, '/') + 1, names[count - 1]);
  rheos_checkpoint_state_deinit(&list);
}

static void test_keeper__the_newest_stay(void **state) {
  run *r = *state;
  rheos_checkpoint_keeper *keeper;
  const rheos_checkpoint_keeper_options options = {.max_to_keep = rheos_int(2)};
  expect_ok(rheos_checkpoint_keeper_new(r->saver, &options, &keeper));
  // One that another name merely begins like.
  char other[220];
  snprintf(other, sizeof other, "%s-10", r->path);
  expect_ok(rheos_saver_save(r->saver, r->session, other));
  for (int64_t step = 1; step <= 3; step++) {
    expect_ok(rheos_checkpoint_keeper_save(keeper, r->session, r->path, step));
  }
  expect_list(r, NULL, (const char *const[]){"model-2", "model-3"}, 2);
  assert_false(has_file(r, "model-1.index") || has_file(r, "model-1.meta") ||
               has_file(r, "model-1.data-00000-of-00001"));
  assert_true(has_file(r, "model-10.index") && has_file(r, "model-10.data-00000-of-00001"));
  assert_true(has_file(r, "model-2.index") && has_file(r, "model-3.meta"));
  // Written again, it is the newest, and once there.
  expect_ok(rheos_checkpoint_keeper_save(keeper, r->session, r->path, 2));
  expect_list(r, NULL, (const char *const[]){"model-3", "model-2"}, 2);
  char *newest;
  expect_ok(rheos_latest_checkpoint(r->folder, NULL, &newest));
  expect_ok(rheos_saver_restore(r->saver, r->session, newest));
  rheos_free(newest);
  rheos_checkpoint_keeper_free(keeper);
}

static void test_keeper__goes_on_with_those_of_an_earlier_run(void **state) {
  run *r = *state;
  rheos_checkpoint_keeper *keeper;
  const rheos_checkpoint_keeper_options options = {.max_to_keep = rheos_int(3)};
  for (int64_t first = 1; first <= 4; first += 3) {
    expect_ok(rheos_checkpoint_keeper_new(r->saver, &options, &keeper));
    if (first > 1) {
      rheos_checkpoint_state list;
      expect_ok(rheos_checkpoint_state_read(r->folder, NULL, &list));
      char gone[220];
      snprintf(gone, sizeof gone, "%s-2.index", r->path);
      assert_int_equal(unlink(gone), 0);
      expect_ok(rheos_checkpoint_keeper_recover(
          keeper, (const char *const *)list.all_model_checkpoint_paths, list.num_paths));
      rheos_checkpoint_state_deinit(&list);
    }
    const int64_t last = first == 1 ? 3 : 5;
    for (int64_t step = first; step <= last; step++) {
      expect_ok(rheos_checkpoint_keeper_save(keeper, r->session, r->path, step));
    }
    rheos_checkpoint_keeper_free(keeper);
  }
  // 1 was deleted in its turn; 2 was no checkpoint any more.
  expect_list(r, NULL, (const char *const[]){"model-3", "model-4", "model-5"}, 3);
  assert_false(has_file(r, "model-1.index"));
  assert_true(has_file(r, "model-3.index"));
}

static void test_keeper__some_stay_for_good(void **state) {
  run *r = *state;
  rheos_checkpoint_keeper *keeper;
  const rheos_checkpoint_keeper_options options = {
      .max_to_keep = rheos_int(1), .keep_every_n_hours = rheos_float(0), .no_meta_graph = true};
  expect_ok(rheos_checkpoint_keeper_new(r->saver, &options, &keeper));
  for (int64_t step = 1; step <= 3; step++) {
    expect_ok(rheos_checkpoint_keeper_save(keeper, r->session, r->path, step));
  }
  expect_list(r, NULL, (const char *const[]){"model-3"}, 1);
  assert_true(has_file(r, "model-1.index") && has_file(r, "model-2.index"));
  assert_false(has_file(r, "model-3.meta"));
  rheos_checkpoint_keeper_free(keeper);
}

static void test_keeper__all_stay_if_told(void **state) {
  run *r = *state;
  rheos_checkpoint_keeper *keeper;
  const rheos_checkpoint_keeper_options options = {.max_to_keep = rheos_int(0),
                                                   .latest_filename = "list"};
  expect_ok(rheos_checkpoint_keeper_new(r->saver, &options, &keeper));
  for (int64_t step = 0; step < 7; step++) {
    expect_ok(rheos_checkpoint_keeper_save(keeper, r->session, r->path, step));
  }
  expect_ok(rheos_checkpoint_keeper_save(keeper, r->session, r->path, -1));
  assert_true(has_file(r, "model-0.index") && has_file(r, "model-6.index"));
  expect_list(r, "list", (const char *const[]){"model"}, 1);
  rheos_checkpoint_keeper_free(keeper);
}

static void test_keeper__what_cannot_be_is_an_error(void **state) {
  run *r = *state;
  rheos_checkpoint_keeper *keeper;
  const rheos_checkpoint_keeper_options options = {.latest_filename = "sub/list"};
  expect_error(rheos_checkpoint_keeper_new(r->saver, &options, &keeper), RHEOS_INVALID_ARGUMENT,
               "sub/list");
  expect_ok(rheos_checkpoint_keeper_new(r->saver, NULL, &keeper));
  expect_ok(rheos_checkpoint_keeper_save(keeper, r->session, r->path, 1));
  // Not a folder, but a file.
  snprintf(r->path, sizeof r->path, "%s/model-1.index/model", r->folder);
  rheos_status *status = rheos_checkpoint_keeper_save(keeper, r->session, r->path, 2);
  assert_non_null(status);
  rheos_status_free(status);
  expect_list(r, NULL, (const char *const[]){"model-1"}, 1);
  rheos_checkpoint_keeper_free(keeper);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_keeper__the_newest_stay, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_keeper__goes_on_with_those_of_an_earlier_run, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_keeper__some_stay_for_good, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_keeper__all_stay_if_told, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_keeper__what_cannot_be_is_an_error, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
