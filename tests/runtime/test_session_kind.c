// A session of another kind: it records what is asked of it, and asks for the same elsewhere, on a
// graph that was sent there as GraphDefs, by names and tensors alone. So the table of a kind is
// enough for a session on a server.
#include <rheos/front_end.h>
#include <stdio.h>

#include "ops/array_fixture.h"
#include "runtime/session/direct_session.h"

// ---- The recording kind

typedef struct recording {
  rheos_session base;
  int32_t num_sent;    // operations of the graph
  rheos_scope *scope;  // of the graph over there
  rheos_graph *graph;
  rheos_session *session;
  char told[4096];
} recording;

typedef struct recording_callable {
  rheos_callable base;
  rheos_callable *there;
} recording_callable;

typedef struct ends {
  rheos_output feeds[8], fetches[8];
  rheos_operation targets[8];
} ends;

static void tell(recording *r, const char *text) {
  assert_true(strlen(r->told) + strlen(text) < sizeof r->told);
  strcat(r->told, text);
}

static bool is_for(const char *target) { return strncmp(target, "recorded://", 11) == 0; }

// What nodes to be sent take of those that were sent before.
static size_t known_outputs(recording *r, rheos_import_mapping *mappings, char (*names)[64]) {
  size_t count = 0;
  for (int32_t i = 0; i < r->num_sent; i++) {
    const rheos_operation operation = {r->base.graph, i};
    char name[48];
    rheos_operation_name(operation, name, sizeof name);
    for (int32_t k = 0; k < rheos_operation_num_outputs(operation); k++, count++) {
      assert_true(count < 64);
      snprintf(names[count], sizeof names[count], k == 0 ? "%s" : "%s:%d", name, (int)k);
      mappings[count] = (rheos_import_mapping){.from = names[count]};
      check(rheos_graph_output(r->graph, names[count], &mappings[count].to));
    }
  }
  return count;
}

static rheos_status *send_graph(recording *r) {
  const int32_t count = rheos_graph_num_operations(r->base.graph);
  if (count == r->num_sent) return NULL;
  void *bytes = NULL;
  size_t size_bytes;
  rheos_import_mapping mappings[64];
  char names[64][64], line[64];
  rheos_status *status =
      rheos_graph_to_graph_def_from(r->base.graph, r->num_sent, &bytes, &size_bytes);
  if (status != NULL) return status;
  const rheos_import_options options = {.input_map = mappings,
                                        .num_mappings = known_outputs(r, mappings, names)};
  rheos_import_graph_def(r->scope, bytes, size_bytes, &options);
  rheos_free(bytes);
  snprintf(line, sizeof line, "extend by %d\n", (int)(count - r->num_sent));
  tell(r, line);
  r->num_sent = count;
  return rheos_scope_finish(r->scope);
}

static rheos_output output_there(recording *r, rheos__edge edge) {
  char name[64], output[80];
  rheos_output found;
  rheos_operation_name((rheos_operation){r->base.graph, edge.id}, name, sizeof name);
  snprintf(output, sizeof output, "%s:%d", name, (int)edge.index);
  check(rheos_graph_output(r->graph, output, &found));
  tell(r, " ");
  tell(r, output);
  return found;
}

static rheos_operation operation_there(recording *r, int32_t id) {
  char name[64];
  rheos_operation_name((rheos_operation){r->base.graph, id}, name, sizeof name);
  tell(r, " ");
  tell(r, name);
  return rheos_graph_operation(r->graph, name);
}

// What is asked, in a line; the ends as they are called there.
static rheos_status *find_ends(recording *r, const char *what, const rheos__signature_ids *ids,
                               ends *out_ends) {
  rheos_status *status = send_graph(r);
  if (status != NULL) return status;
  assert_true(ids->num_feeds <= 8 && ids->num_fetches <= 8 && ids->num_targets <= 8);
  tell(r, what);
  for (int32_t i = 0; i < ids->num_feeds; i++) {
    out_ends->feeds[i] = output_there(r, ids->feeds[i]);
  }
  tell(r, " ->");
  for (int32_t i = 0; i < ids->num_fetches; i++) {
    out_ends->fetches[i] = output_there(r, ids->fetches[i]);
  }
  for (int32_t i = 0; i < ids->num_targets; i++) {
    out_ends->targets[i] = operation_there(r, ids->targets[i]);
  }
  tell(r, "\n");
  return NULL;
}

static rheos_status *init(rheos_session *session, const rheos_session_options *options) {
  recording *r = (recording *)session;
  rheos_session_options there = *options;
  there.target = NULL;
  r->graph = rheos_graph_new();
  r->scope = rheos_scope_new(r->graph);
  return rheos_session_new(r->graph, &there, &r->session);
}

static void close_recording(rheos_session *session) {
  recording *r = (recording *)session;
  tell(r, "close\n");
  rheos_session_close(r->session);
}

static char last_words[4096];

static void deinit(rheos_session *session) {
  recording *r = (recording *)session;
  strcpy(last_words, r->told);
  rheos_session_free(r->session);
  rheos_scope_free(r->scope);
  rheos_graph_unref(r->graph);
}

static rheos_status *list_devices(rheos_session *session,
                                  const rheos_device_attributes **out_devices, size_t *out_count) {
  return rheos_session_list_devices(((recording *)session)->session, out_devices, out_count);
}

static rheos_status *waiting(rheos_session *session, char **out_text) {
  return rheos_session_waiting(((recording *)session)->session, out_text);
}

static void get_stats(rheos_session *session, rheos_session_stats *out_stats) {
  rheos_session_get_stats(((recording *)session)->session, out_stats);
}

static void fill_feeds(const rheos__signature_ids *ids, const ends *e, rheos_tensor *const *values,
                       rheos_feed *feeds) {
  for (int32_t i = 0; i < ids->num_feeds; i++) feeds[i] = (rheos_feed){e->feeds[i], values[i]};
}

static rheos_status *run(rheos_session *session, const rheos__signature_ids *ids,
                         rheos_tensor *const *values, rheos_tensor **out_values,
                         const rheos_run_options *options) {
  recording *r = (recording *)session;
  ends e;
  rheos_status *status = find_ends(r, "run", ids, &e);
  if (status != NULL) return status;
  rheos_feed feeds[8];
  rheos_fetch fetches[8];
  fill_feeds(ids, &e, values, feeds);
  for (int32_t i = 0; i < ids->num_fetches; i++) fetches[i] = (rheos_fetch){e.fetches[i], NULL};
  status =
      rheos_session_run(r->session, feeds, (size_t)ids->num_feeds, fetches,
                        (size_t)ids->num_fetches, e.targets, (size_t)ids->num_targets, options);
  for (int32_t i = 0; i < ids->num_fetches; i++) out_values[i] = fetches[i].value;
  return status;
}

static rheos_status *partial_setup(rheos_session *session, const rheos__signature_ids *ids,
                                   int64_t *out_handle) {
  recording *r = (recording *)session;
  ends e;
  rheos_status *status = find_ends(r, "setup", ids, &e);
  if (status != NULL) return status;
  return rheos_session_partial_setup(r->session, e.feeds, (size_t)ids->num_feeds, e.fetches,
                                     (size_t)ids->num_fetches, e.targets, (size_t)ids->num_targets,
                                     out_handle);
}

static rheos_status *partial_run(rheos_session *session, int64_t handle,
                                 const rheos__signature_ids *ids, rheos_tensor *const *values,
                                 rheos_tensor **out_values, const rheos_run_options *options) {
  recording *r = (recording *)session;
  ends e;
  rheos_status *status = find_ends(r, "part", ids, &e);
  if (status != NULL) return status;
  rheos_feed feeds[8];
  rheos_fetch fetches[8];
  fill_feeds(ids, &e, values, feeds);
  for (int32_t i = 0; i < ids->num_fetches; i++) fetches[i] = (rheos_fetch){e.fetches[i], NULL};
  status = rheos_session_partial_run(r->session, handle, feeds, (size_t)ids->num_feeds, fetches,
                                     (size_t)ids->num_fetches, options);
  for (int32_t i = 0; i < ids->num_fetches; i++) out_values[i] = fetches[i].value;
  return status;
}

static void partial_end(rheos_session *session, int64_t handle) {
  recording *r = (recording *)session;
  tell(r, "end\n");
  rheos_session_partial_end(r->session, handle);
}

static rheos_status *make_callable(rheos_callable *callable) {
  recording *r = (recording *)callable->session;
  const rheos__signature_ids *ids = &callable->ids;
  ends e;
  rheos_status *status = find_ends(r, "make", ids, &e);
  if (status != NULL) return status;
  return rheos_callable_new(r->session, e.feeds, (size_t)ids->num_feeds, e.fetches,
                            (size_t)ids->num_fetches, e.targets, (size_t)ids->num_targets,
                            &((recording_callable *)callable)->there);
}

static rheos_status *run_callable(rheos_callable *callable, rheos_tensor *const *values,
                                  rheos_tensor **out_values, const rheos_run_options *options) {
  tell((recording *)callable->session, "call\n");
  return rheos_callable_run(((recording_callable *)callable)->there, values, out_values, options);
}

static void release_callable(rheos_callable *callable) {
  tell((recording *)callable->session, "release\n");
  rheos_callable_free(((recording_callable *)callable)->there);
}

static const rheos__session_kind recording_kind = {
    .name = "recording",
    .is_for = is_for,
    .session_bytes = sizeof(recording),
    .callable_bytes = sizeof(recording_callable),
    .init = init,
    .close = close_recording,
    .deinit = deinit,
    .list_devices = list_devices,
    .waiting = waiting,
    .get_stats = get_stats,
    .run = run,
    .partial_setup = partial_setup,
    .partial_run = partial_run,
    .partial_end = partial_end,
    .make_callable = make_callable,
    .release_callable = release_callable,
    .run_callable = run_callable,
};

// ---- A program that uses a session in every way

typedef struct program {
  fixture *f;
  rheos_output x, y, v;
  rheos_operation init, add;
} program;

static program program_new(fixture *f) {
  program p = {.f = f};
  const rheos_op_args x = {.type = "Placeholder",
                           .name = "x",
                           .attrs = (const rheos_attr[]){rheos_attr_type("dtype", RHEOS_FLOAT)},
                           .num_attrs = 1};
  p.x = rheos_operation_output(rheos_op(f->scope, &x), 0);
  const rheos_variable v = rheos_variable_new(f->scope, float_scalar(f, 3), NULL);
  p.v = v.handle;
  const rheos_output both[] = {p.x, v.value}, to[] = {v.handle, p.x};
  const rheos_op_args y = {.type = "Mul", .name = "y", .inputs = both, .num_inputs = 2};
  p.y = rheos_operation_output(rheos_op(f->scope, &y), 0);
  const rheos_op_args added = {.type = "AssignAdd", .name = "add", .inputs = to, .num_inputs = 2};
  p.add = rheos_op(f->scope, &added);
  p.init = rheos_global_variables_initializer(f->scope);
  check(rheos_scope_finish(f->scope));
  return p;
}

static rheos_tensor *scalar(float value) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &tensor));
  return tensor;
}

static float taken(rheos_tensor *tensor) {
  const float value = *(const float *)rheos_tensor_data(tensor);
  rheos_tensor_unref(tensor);
  return value;
}

enum { NUM_VALUES = 7 };

static void use(const program *p, rheos_session *session, float *values) {
  rheos_tensor *two = scalar(2), *result = NULL;
  const rheos_feed feed = {p->x, two};
  rheos_fetch fetch = {p->y, NULL};
  check(rheos_session_run(session, NULL, 0, NULL, 0, &p->init, 1, NULL));
  check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  values[0] = taken(fetch.value);
  check(rheos_session_run(session, &feed, 1, NULL, 0, &p->add, 1, NULL));

  const rheos_named_tensor fed = {"x", two};
  rheos_named_tensor named = {"y:0", NULL};
  check(rheos_session_run_named(session, &fed, 1, &named, 1, NULL));
  values[1] = taken(named.value);

  rheos_callable *callable = NULL;
  check(rheos_callable_new(session, &p->x, 1, &p->y, 1, NULL, 0, &callable));
  check(rheos_callable_run(callable, &two, &result, NULL));
  values[2] = taken(result);
  rheos_tensor *bound = scalar(0), *two_of_its_own = scalar(2);
  check(rheos_callable_bind(callable, &two_of_its_own, &bound));
  check(rheos_callable_run_bound(callable, NULL));
  values[3] = *(const float *)rheos_tensor_data(bound);
  assert_true(rheos_callable_cost_ns(callable) >= 0);
  rheos_callable_free(callable);
  rheos_tensor_unref(bound);
  rheos_tensor_unref(two_of_its_own);

  int64_t handle;
  check(rheos_session_partial_setup(session, &p->x, 1, &p->y, 1, NULL, 0, &handle));
  check(rheos_session_partial_run(session, handle, &feed, 1, &fetch, 1, NULL));
  values[4] = taken(fetch.value);
  check(rheos_session_partial_setup(session, &p->x, 1, &p->y, 1, NULL, 0, &handle));
  rheos_session_partial_end(session, handle);
  expect_error(rheos_session_partial_run(session, handle, &feed, 1, &fetch, 1, NULL),
               RHEOS_INVALID_ARGUMENT, "Must run 'setup'");

  char *text = NULL;
  check(rheos_session_waiting(session, &text));
  assert_string_equal(text, "");
  rheos_free(text);
  rheos_session_stats stats;
  rheos_session_get_stats(session, &stats);
  values[5] = (float)stats.num_runs;
  values[6] = (float)rheos_session_num_devices(session);
  assert_string_equal(rheos_session_device(session, 0),
                      "/job:localhost/replica:0/task:0/device:CPU:0");
  rheos_tensor_unref(two);
}

static void check_closed(const program *p, rheos_session *session) {
  rheos_fetch fetch = {p->v, NULL};
  rheos_session_close(session);
  expect_error(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL),
               RHEOS_FAILED_PRECONDITION, "closed Session");
}

static void test_session_kind__a_session_elsewhere_answers_as_one_here(void **state) {
  const program p = program_new(*state);
  rheos_session *direct = p.f->session, *elsewhere = NULL;
  const rheos_session_options options = {.num_threads = 1};
  check(rheos__session_new_of_kind(&recording_kind, p.f->graph, &options, &elsewhere));
  float here[NUM_VALUES], there[NUM_VALUES];
  use(&p, direct, here);
  use(&p, elsewhere, there);
  for (int i = 0; i < NUM_VALUES; i++) assert_true(here[i] == there[i]);
  assert_true(here[0] == 6 && here[1] == 10);
  check_closed(&p, direct);
  check_closed(&p, elsewhere);
  rheos_session_free(elsewhere);
  assert_string_equal(last_words,
                      "extend by 8\nrun -> init\nrun x:0 -> y:0\nrun x:0 -> add\nrun x:0 -> y:0\n"
                      "make x:0 -> y:0\ncall\ncall\nrelease\n"
                      "setup x:0 -> y:0\npart x:0 -> y:0\nsetup x:0 -> y:0\nend\n"
                      "part x:0 -> y:0\nclose\nrun -> Variable:0\nclose\n");
}

static void test_session_kind__a_graph_that_grows_is_sent_on(void **state) {
  const program p = program_new(*state);
  fixture *f = p.f;
  rheos_session *session = NULL;
  check(
      rheos__session_new_of_kind(&recording_kind, f->graph, &(rheos_session_options){0}, &session));
  check(rheos_session_run(session, NULL, 0, NULL, 0, &p.init, 1, NULL));
  const rheos_output both[] = {p.y, p.x};
  const rheos_op_args z = {.type = "Sub", .name = "z", .inputs = both, .num_inputs = 2};
  rheos_tensor *five = scalar(5);
  const rheos_feed feed = {p.x, five};
  rheos_fetch fetch = {rheos_operation_output(rheos_op(f->scope, &z), 0), NULL};
  check(rheos_scope_finish(f->scope));
  check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  assert_true(taken(fetch.value) == 10);
  rheos_tensor_unref(five);
  rheos_session_free(session);
  assert_non_null(strstr(last_words, "extend by 1\nrun x:0 -> z:0\n"));
}

static void test_session_kind__what_is_here_alone_is_refused(void **state) {
  const program p = program_new(*state);
  rheos_session *session = NULL;
  check(rheos__session_new_of_kind(&recording_kind, p.f->graph, &(rheos_session_options){0},
                                   &session));
  char *text = NULL;
  expect_error(rheos_session_plan_text(session, NULL, NULL, 0, &p.v, 1, NULL, 0, &text),
               RHEOS_UNIMPLEMENTED, "a recording session has no plans in this process");
  const rheos_output range = rheos_dataset_range(p.f->scope, 0, 3, 1);
  check(rheos_scope_finish(p.f->scope));
  rheos_dataset_iterator *iterator = NULL;
  expect_error(rheos_dataset_iterator_new(session, range, &iterator), RHEOS_UNIMPLEMENTED,
               "a recording session has no steps in this process");
  assert_null(iterator);
  rheos_session_free(session);
}

static rheos_status *fail_init(rheos_session *session, const rheos_session_options *options) {
  (void)session;
  return rheos_status_new(RHEOS_UNAVAILABLE, "no server at '%s'", options->target);
}

static void do_nothing(rheos_session *session) { (void)session; }

static void test_session_kind__is_found_by_the_target(void **state) {
  fixture *f = *state;
  const rheos__session_kind *const kinds[] = {&recording_kind, &rheos__direct_session_kind};
  assert_ptr_equal(rheos__find_session_kind(kinds, 2, "recorded://here"), &recording_kind);
  assert_ptr_equal(rheos__find_session_kind(kinds, 2, ""), &rheos__direct_session_kind);
  assert_ptr_equal(rheos__find_session_kind(kinds, 2, NULL), &rheos__direct_session_kind);
  assert_null(rheos__find_session_kind(kinds, 2, "grpc://localhost:2222"));
  const rheos_session_options options = {.target = "carrier-pigeon://here"};
  rheos_session *session = NULL;
  expect_error(rheos_session_new(f->graph, &options, &session), RHEOS_INVALID_ARGUMENT,
               "no kind of session is for the target 'carrier-pigeon://here'");
  rheos__session_kind gone = recording_kind;
  gone.init = fail_init;
  gone.close = gone.deinit = do_nothing;
  expect_error(rheos__session_new_of_kind(&gone, f->graph, &options, &session), RHEOS_UNAVAILABLE,
               "no server at 'carrier-pigeon://here'");
  assert_null(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_session_kind__a_session_elsewhere_answers_as_one_here,
                                      set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_session_kind__a_graph_that_grows_is_sent_on, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_session_kind__what_is_here_alone_is_refused, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_session_kind__is_found_by_the_target, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
