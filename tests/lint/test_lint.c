// What is found in graphs that C programs build, and told of: lines, order, what is ignored, how
// runs are noted, what mending leaves.
#include <rheos/rheos.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/format_support.h"

typedef struct graph_fixture {
  rheos_graph *graph;
  rheos_scope *scope;
} graph_fixture;

static void assert_ok(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static graph_fixture fixture_new(void) {
  rheos_graph *graph = rheos_graph_new();
  return (graph_fixture){graph, rheos_scope_new(graph)};
}

static void fixture_free(graph_fixture *f) {
  assert_string_equal(rheos_status_message(rheos_scope_status(f->scope)), "");
  rheos_scope_free(f->scope);
  rheos_graph_unref(f->graph);
}

// The number of findings by that rule; the text of the first goes to `text` if that is not NULL.
static int count_of(const rheos_lint *lint, const char *rule, char text[512]) {
  const rheos_finding *finding;
  int count = 0;
  for (size_t i = 0; (finding = rheos_lint_finding_at(lint, i)) != NULL; i++) {
    if (strcmp(finding->rule->name, rule) != 0) continue;
    if (count++ == 0 && text != NULL) snprintf(text, 512, "%s", finding->text);
  }
  return count;
}

static int lint_count(rheos_graph *graph, const char *rule) {
  const rheos_lint_options options = {.notes = true};
  rheos_lint *lint;
  assert_ok(rheos_graph_lint(graph, &options, &lint));
  const int count = count_of(lint, rule, NULL);
  rheos_lint_free(lint);
  return count;
}

static rheos_output placeholder(rheos_scope *scope, int64_t columns, const char *name) {
  const rheos_shape shape = RHEOS_SHAPE(4, columns);
  return rheos_placeholder(scope, RHEOS_FLOAT, .shape = &shape, .name = name);
}

static void test_lint__rules_are_by_name_and_have_texts(void **state) {
  (void)state;
  const rheos_lint_rule *rule, *before = NULL;
  for (size_t i = 0; (rule = rheos_lint_rule_at(i)) != NULL; i++) {
    assert_true(rule->sign[0] != '\0' && rule->remedy[0] != '\0');
    assert_true(rule->remedy[strlen(rule->remedy) - 1] != '.');
    if (before != NULL) assert_true(strcmp(before->name, rule->name) < 0);
    assert_ptr_equal(rheos_lint_rule_named(rule->name), rule);
    before = rule;
  }
  assert_null(rheos_lint_rule_named("none"));
}

static void test_lint__a_softmax_before_its_loss_is_found(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output logits = placeholder(f.scope, 3, "logits");
  const rheos_output labels = placeholder(f.scope, 3, "labels");
  rheos_softmax_cross_entropy_with_logits(f.scope, logits, labels);
  assert_int_equal(lint_count(f.graph, "double-softmax"), 0);
  const rheos_output squashed = rheos_identity(f.scope, rheos_softmax(f.scope, logits));
  rheos_softmax_cross_entropy_with_logits(f.scope, squashed, labels, .name = "loss");
  rheos_lint *lint;
  char text[512];
  assert_ok(rheos_graph_lint(f.graph, NULL, &lint));
  assert_int_equal(count_of(lint, "double-softmax", text), 1);
  assert_non_null(strstr(text, "'loss'"));
  assert_non_null(strstr(text, "; give the loss what goes into the softmax"));
  const rheos_finding *finding = rheos_lint_finding_at(lint, 0);
  assert_string_equal(finding->node, "loss");
  assert_non_null(strstr(finding->file, "test_lint.c"));
  assert_true(finding->line > 0);
  assert_string_equal(finding->function, "");
  assert_null(rheos_lint_finding_at(lint, 1));
  rheos_lint_free(lint);
  fixture_free(&f);
}

static void test_lint__notes_are_told_when_they_are_asked_for(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_log(f.scope, rheos_softmax(f.scope, placeholder(f.scope, 3, "x")));
  rheos_lint *lint;
  assert_ok(rheos_graph_lint(f.graph, NULL, &lint));
  assert_int_equal(rheos_lint_num_findings(lint), 0);
  rheos_lint_free(lint);
  assert_int_equal(lint_count(f.graph, "log-of-softmax"), 1);
  fixture_free(&f);
}

// A program, of which each line makes a loss of what is squashed already.
static const char program[] =
    "loss = f(x)  # rheos: ignore=double-softmax\n"
    "loss = f(x)  // rheos: ignore=a, double-softmax\r\n"
    "loss = f(x)  # rheos: ignore\n"
    "loss = f(x)  # rheos: ignore=double-softmaxes\n"
    "loss = f(x)";

static void test_lint__a_line_can_say_what_to_ignore(void **state) {
  (void)state;
  char path[] = "/tmp/rheos-lint-XXXXXX";
  const int file = mkstemp(path);
  assert_int_equal(write(file, program, sizeof program - 1), sizeof program - 1);
  close(file);
  graph_fixture f = fixture_new();
  const rheos_output x = placeholder(f.scope, 3, "x");
  const rheos_output inputs[] = {rheos_softmax(f.scope, x), x};
  for (int line = 1; line <= 5; line++) {
    rheos_scope_set_source(f.scope, path, line);
    (rheos_op)(f.scope,
               &(rheos_op_args){
                   .type = "SoftmaxCrossEntropyWithLogits", .inputs = inputs, .num_inputs = 2});
    assert_int_equal(rheos_lint_is_ignored(path, line, "double-softmax"), line < 4);
  }
  rheos_lint *lint;
  assert_ok(rheos_graph_lint(f.graph, NULL, &lint));
  assert_int_equal(count_of(lint, "double-softmax", NULL), 2);
  assert_int_equal(rheos_lint_finding_at(lint, 0)->line, 4);
  assert_int_equal(rheos_lint_finding_at(lint, 1)->line, 5);
  rheos_lint_free(lint);
  assert_false(rheos_lint_is_ignored("no such file", 1, "double-softmax"));
  assert_false(rheos_lint_is_ignored(path, 6, "double-softmax"));
  unlink(path);
  fixture_free(&f);
}

static void test_lint__one_line_is_told_once_with_the_number(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output y = placeholder(f.scope, 3, "y");
  for (int i = 0; i < 3; i++)
    rheos_softmax_cross_entropy_with_logits(f.scope, rheos_softmax(f.scope, y), y);
  rheos_lint *lint;
  char text[512];
  assert_ok(rheos_graph_lint(f.graph, NULL, &lint));
  assert_int_equal(count_of(lint, "double-softmax", text), 1);
  assert_non_null(strstr(text, "(3 times at this line)"));
  rheos_lint_free(lint);
  fixture_free(&f);
}

static void test_lint__what_is_asked_for_is_used(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output x = placeholder(f.scope, 3, "x");
  rheos_lint *lint;
  assert_ok(rheos_graph_lint(f.graph, NULL, &lint));
  assert_int_equal(count_of(lint, "unused-placeholder", NULL), 1);
  rheos_lint_free(lint);
  const rheos_operation asked = rheos_output_operation(x);
  const rheos_lint_options options = {.asked = &asked, .num_asked = 1};
  assert_ok(rheos_graph_lint(f.graph, &options, &lint));
  assert_int_equal(rheos_lint_num_findings(lint), 0);
  rheos_lint_free(lint);
  graph_fixture other = fixture_new();
  expect_error(rheos_graph_lint(other.graph, &options, &lint), RHEOS_INVALID_ARGUMENT,
               "is from another graph");
  fixture_free(&other);
  fixture_free(&f);
}

// ---- Functions

static void test_lint__functions_are_looked_at(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_function *function = rheos_function_begin(f.scope, "loss_of", NULL);
  const rheos_output x = rheos_function_argument(function, "x", RHEOS_FLOAT, RHEOS_SHAPE(4, 3));
  rheos_scope *inside = rheos_function_scope(function);
  const rheos_softmax_cross_entropy_with_logits_outputs loss =
      rheos_softmax_cross_entropy_with_logits(inside, rheos_softmax(inside, x), x);
  rheos_function_result(function, NULL, loss.loss);
  assert_true(rheos_function_finish(function, f.scope));
  assert_int_equal(lint_count(f.graph, "double-softmax"), 0);  // nothing calls it
  const rheos_output value = placeholder(f.scope, 3, "value");
  rheos_function_call(f.scope, function, &value, 1, NULL);
  rheos_lint *lint;
  assert_ok(rheos_graph_lint(f.graph, NULL, &lint));
  assert_int_equal(count_of(lint, "double-softmax", NULL), 1);
  assert_string_equal(rheos_lint_finding_at(lint, 0)->function, "loss_of");
  rheos_lint_free(lint);
  rheos_function_free(function);
  fixture_free(&f);
}

// ---- Runs

static void add_run(rheos_run_log *log, rheos_output fetch, const rheos_feed *feeds,
                    size_t num_feeds) {
  const rheos_logged_run run = {.feeds = feeds,
                                .num_feeds = num_feeds,
                                .fetches = &fetch,
                                .num_fetches = 1,
                                .file = "loop.c",
                                .line = 7};
  assert_ok(rheos_run_log_add(log, &run));
}

static int lint_runs(rheos_graph *graph, const rheos_run_log *log, const char *rule,
                     char text[512]) {
  const rheos_lint_options options = {.notes = true, .runs = log};
  rheos_lint *lint;
  assert_ok(rheos_graph_lint(graph, &options, &lint));
  const int count = count_of(lint, rule, text);
  rheos_lint_free(lint);
  return count;
}

static void test_lint__growth_between_runs_has_its_line(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_run_log *log = rheos_run_log_new(f.graph);
  rheos_growth *growth = rheos_growth_new();
  char text[512];
  rheos_output x = rheos_constant_float(f.scope, 1, NULL);
  int line = 0, told = 0;
  for (int i = 0; i < 20; i++) {
    add_run(log, x, NULL, 0);
    told += rheos_growth_note(growth, f.graph);
    line = __LINE__ + 1;
    for (int k = 0; k < 2; k++) x = rheos_add(f.scope, x, x);
  }
  assert_int_equal(told, 1);
  assert_int_equal(lint_runs(f.graph, log, "growing-graph", text), 1);
  char expected[128];
  snprintf(expected, sizeof expected, "line %d added 38 nodes in 19 runs", line);
  assert_non_null(strstr(text, expected));
  const char *file;
  char *told_text;
  int32_t told_line;
  assert_ok(rheos_growth_text(growth, &file, &told_line, &told_text));
  assert_int_equal(told_line, line);
  assert_non_null(strstr(told_text, "added 20 nodes in 10 runs; "));
  rheos_free(told_text);
  rheos_growth_free(growth);
  rheos_run_log_free(log);
  fixture_free(&f);
}

static void test_lint__a_graph_built_from_many_lines_grows_by_none(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_growth *growth = rheos_growth_new();
  int told = 0;
  for (int i = 0; i < 40; i++) {  // as cells of a notebook
    rheos_scope_set_source(f.scope, "cell.py", i);
    rheos_constant_values(f.scope, RHEOS_FLOAT, RHEOS_SCALAR, &(float){1}, NULL);
    rheos_scope_set_source(f.scope, "cell.py", i);
    (rheos_constant_float)(f.scope, 1, NULL);
    told += rheos_growth_note(growth, f.graph);
  }
  assert_int_equal(told, 0);
  for (int i = 0; i < 1000; i++) told += rheos_growth_note(growth, f.graph);
  assert_int_equal(told, 0);
  rheos_growth_free(growth);
  fixture_free(&f);
}

static void test_lint__new_fetches_of_a_line_are_found(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_run_log *log = rheos_run_log_new(f.graph);
  rheos_output values[12];
  for (int i = 0; i < 12; i++) values[i] = rheos_constant_float(f.scope, (float)i, NULL);
  for (int i = 0; i < 100; i++) add_run(log, values[i % 2], NULL, 0);
  assert_int_equal(lint_runs(f.graph, log, "new-fetches", NULL), 0);
  rheos_run_log_free(log);
  log = rheos_run_log_new(f.graph);
  for (int i = 0; i < 12; i++) add_run(log, values[i], NULL, 0);
  assert_int_equal(lint_runs(f.graph, log, "new-fetches", NULL), 1);
  rheos_run_log_free(log);
  fixture_free(&f);
}

static void test_lint__fed_shapes_and_labels_are_looked_at(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_run_log *log = rheos_run_log_new(f.graph);
  const rheos_output labels = rheos_placeholder(f.scope, RHEOS_FLOAT, .name = "labels");
  const rheos_output x = placeholder(f.scope, 3, "x");
  const rheos_softmax_cross_entropy_with_logits_outputs loss =
      rheos_softmax_cross_entropy_with_logits(f.scope, x, labels);
  for (int i = 1; i < 12; i++) {
    rheos_tensor *value;
    assert_ok(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(i, 3), &value));
    for (int k = 0; k < 3 * i; k++) ((float *)rheos_tensor_data(value))[k] = 1;
    const rheos_feed feed = {labels, value};
    add_run(log, loss.loss, &feed, 1);
    rheos_tensor_unref(value);
  }
  char text[512];
  assert_int_equal(lint_runs(f.graph, log, "many-shapes", text), 1);
  assert_non_null(strstr(text, "'labels' was fed values of 11 shapes"));
  assert_int_equal(lint_runs(f.graph, log, "fed-labels", NULL), 1);
  rheos_run_log_free(log);
  fixture_free(&f);
}

static void test_lint__runs_of_another_graph_are_refused(void **state) {
  (void)state;
  graph_fixture f = fixture_new(), other = fixture_new();
  rheos_run_log *log = rheos_run_log_new(f.graph);
  const rheos_output x = rheos_constant_float(other.scope, 1, NULL);
  const rheos_logged_run run = {.fetches = &x, .num_fetches = 1};
  rheos_lint *lint;
  expect_error(rheos_run_log_add(log, &run), RHEOS_INVALID_ARGUMENT, "another graph");
  const rheos_lint_options options = {.runs = log};
  expect_error(rheos_graph_lint(other.graph, &options, &lint), RHEOS_INVALID_ARGUMENT,
               "the runs are of another graph");
  rheos_run_log_free(log);
  fixture_free(&other);
  fixture_free(&f);
}

// ---- Mending

static void test_lint__mending_merges_what_is_the_same(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output x = placeholder(f.scope, 3, "x");
  const rheos_output one = rheos_exp(f.scope, rheos_neg(f.scope, x));
  const rheos_output two = rheos_exp(f.scope, rheos_neg(f.scope, x));
  rheos_add(f.scope, one, two, .name = "sum");
  rheos_neg(f.scope, x, .name = "unused");
  void *bytes, *mended;
  size_t size_bytes, mended_bytes;
  int32_t num_removed;
  assert_ok(rheos_graph_to_graph_def(f.graph, &bytes, &size_bytes));
  assert_ok(rheos_graph_def_mend(bytes, size_bytes, NULL, 0, &mended, &mended_bytes, &num_removed));
  assert_int_equal(num_removed, 2);  // what nothing takes stays: a program may ask for it
  rheos_free(mended);
  const char *output = "sum";
  assert_ok(
      rheos_graph_def_mend(bytes, size_bytes, &output, 1, &mended, &mended_bytes, &num_removed));
  assert_int_equal(num_removed, 3);
  rheos_free(mended);
  output = "none";
  expect_error(
      rheos_graph_def_mend(bytes, size_bytes, &output, 1, &mended, &mended_bytes, &num_removed),
      RHEOS_NOT_FOUND, "none");
  assert_null(mended);
  rheos_free(bytes);
  fixture_free(&f);
}

// ---- Short memory

static rheos_status *look(void *argument) {
  rheos_lint *lint;
  const rheos_lint_options options = {.notes = true};
  rheos_status *status = rheos_graph_lint(argument, &options, &lint);
  rheos_lint_free(lint);
  return status;
}

static rheos_status *log_a_run(void *argument) {
  const rheos_output *fetch = argument;
  rheos_run_log *log = rheos_run_log_new(fetch->graph);
  if (log == NULL) return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  const rheos_logged_run run = {.fetches = fetch, .num_fetches = 1, .file = "a.py", .line = 3};
  rheos_status *status = rheos_run_log_add(log, &run);
  rheos_lint *lint = NULL;
  const rheos_lint_options options = {.runs = log, .notes = true};
  if (status == NULL) status = rheos_graph_lint(fetch->graph, &options, &lint);
  rheos_lint_free(lint);
  rheos_run_log_free(log);
  return status;
}

typedef struct message {
  void *bytes;
  size_t size_bytes;
} message;

static rheos_status *mend(void *argument) {
  const message *m = argument;
  void *bytes;
  size_t size_bytes;
  int32_t num_removed;
  rheos_status *status =
      rheos_graph_def_mend(m->bytes, m->size_bytes, NULL, 0, &bytes, &size_bytes, &num_removed);
  rheos_free(bytes);
  return status;
}

// Constants of one tensor, each of which counts, since a file has them all.
static int near_limit(int num_constants, int64_t megabytes) {
  graph_fixture f = fixture_new();
  rheos_tensor *tensor = NULL;
  assert_ok(rheos_tensor_new(RHEOS_UINT8, RHEOS_SHAPE(megabytes << 20), &tensor));
  for (int i = 0; i < num_constants; i++) rheos_const(f.scope, tensor, RHEOS_UINT8);
  rheos_tensor_unref(tensor);
  const int count = lint_count(f.graph, "graph-near-limit");
  fixture_free(&f);
  return count;
}

static void test_lint__a_graph_of_one_and_a_half_gigabytes_is_found(void **state) {
  (void)state;
  const int found[][2] = {{24, 64}, {25, 64}, {16, 96}, {48, 32}, {97, 16}};
  const int near[][2] = {{23, 64}, {15, 96}, {47, 32}, {95, 16}, {1, 1}};
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(near_limit(found[i][0], found[i][1]), 1);
    assert_int_equal(near_limit(near[i][0], near[i][1]), 0);
  }
}

static void test_lint__short_memory_is_an_error(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = placeholder(f.scope, 3, "x");
  for (int i = 0; i < 25; i++) rheos_exp(f.scope, rheos_softmax(f.scope, x));
  const rheos_softmax_cross_entropy_with_logits_outputs loss =
      rheos_softmax_cross_entropy_with_logits(f.scope, rheos_softmax(f.scope, x), x);
  sweep_allocations(look, f.graph);
  rheos_output fetch = loss.loss;
  sweep_allocations(log_a_run, &fetch);
  message m;
  assert_ok(rheos_graph_to_graph_def(f.graph, &m.bytes, &m.size_bytes));
  sweep_allocations(mend, &m);
  rheos_free(m.bytes);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lint__rules_are_by_name_and_have_texts),
      cmocka_unit_test(test_lint__a_softmax_before_its_loss_is_found),
      cmocka_unit_test(test_lint__notes_are_told_when_they_are_asked_for),
      cmocka_unit_test(test_lint__a_line_can_say_what_to_ignore),
      cmocka_unit_test(test_lint__one_line_is_told_once_with_the_number),
      cmocka_unit_test(test_lint__what_is_asked_for_is_used),
      cmocka_unit_test(test_lint__functions_are_looked_at),
      cmocka_unit_test(test_lint__growth_between_runs_has_its_line),
      cmocka_unit_test(test_lint__a_graph_built_from_many_lines_grows_by_none),
      cmocka_unit_test(test_lint__new_fetches_of_a_line_are_found),
      cmocka_unit_test(test_lint__fed_shapes_and_labels_are_looked_at),
      cmocka_unit_test(test_lint__runs_of_another_graph_are_refused),
      cmocka_unit_test(test_lint__mending_merges_what_is_the_same),
      cmocka_unit_test(test_lint__a_graph_of_one_and_a_half_gigabytes_is_found),
      cmocka_unit_test(test_lint__short_memory_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
