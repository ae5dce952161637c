// Recorded programs of loops, conditionals, calls, arrays, lists, datasets, iterators and queues of
// which an allocation fails, or that and all later ones: the step that it was for says so, nothing
// is lost, and what keeps nothing from step to step runs as if nothing had been. RHEOS_FAILURES=N
// tries up to N allocations of each program (0: all of them); a program that is named is tried
// alone.
#include <rheos/rheos.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/file.h"
#include "format/format_support.h"
#include "graph/counting_allocator.h"

enum { MAX_ENDS = 32, MAX_RUNS = 64, FEW_FAILURES = 16, TIMEOUT_MS = 60000 };

typedef struct recorded_run {
  const char *feeds[MAX_ENDS],
      *values[MAX_ENDS];  // names in the graph, or of what is fed the tensor
  rheos_tensor *tensors[MAX_ENDS];
  const char *fetches[MAX_ENDS], *targets[MAX_ENDS];
  size_t num_feeds, num_fetches, num_targets;
  int error;  // that TensorFlow gives; 0: none
} recorded_run;

typedef struct recorded_program {
  const char *folder, *name;
  bytes graph;
  recorded_run runs[MAX_RUNS];
  size_t num_runs;
  bool keeps_state;  // a run that is done again gives something else
} recorded_program;

static counting_allocator counter;
static int64_t most_failures = FEW_FAILURES;
static const char *only;  // the program of this name; NULL: all

// ---- One go at a program

typedef struct attempt {
  const recorded_program *program;
  rheos_graph *graph;
  rheos_session *session;
  rheos_status *failure;  // of memory: where the program ended
} attempt;

static rheos_status *import(attempt *a) {
  a->graph = rheos_graph_new();
  rheos_scope *scope = a->graph != NULL ? rheos_scope_new(a->graph) : NULL;
  if (scope == NULL) return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "no scope");
  rheos_import_graph_def(scope, a->program->graph.data, a->program->graph.size_bytes, NULL);
  rheos_status *status = rheos_scope_finish(scope);
  rheos_scope_free(scope);
  return status;
}

static rheos_status *find(const attempt *a, const char *name, rheos_output *out_output) {
  return rheos_graph_output(a->graph, name, out_output);
}

// The values to feed, which the graph has as constants, or which were read with the program.
static rheos_status *read_feeds(const attempt *a, const recorded_run *run, rheos_feed *feeds) {
  rheos_fetch values[MAX_ENDS] = {{.value = NULL}};
  size_t num_values = 0;
  for (size_t i = 0; i < run->num_feeds; i++) {
    feeds[i].value = run->tensors[i];
    RHEOS_TRY(find(a, run->feeds[i], &feeds[i].output));
    if (run->tensors[i] == NULL) {
      RHEOS_TRY(find(a, run->values[i], &values[num_values++].output));
    }
  }
  RHEOS_TRY(rheos_session_run(a->session, NULL, 0, values, num_values, NULL, 0, NULL));
  for (size_t i = 0, k = 0; i < run->num_feeds; i++) {
    if (run->tensors[i] == NULL) feeds[i].value = values[k++].value;
  }
  return NULL;
}

static rheos_status *run_with(const attempt *a, const recorded_run *run, const rheos_feed *feeds) {
  rheos_fetch fetches[MAX_ENDS] = {{.value = NULL}};
  rheos_operation targets[MAX_ENDS];
  for (size_t i = 0; i < run->num_fetches; i++) {
    RHEOS_TRY(find(a, run->fetches[i], &fetches[i].output));
  }
  for (size_t i = 0; i < run->num_targets; i++) {
    targets[i] = rheos_graph_operation(a->graph, run->targets[i]);
  }
  const rheos_run_options options = {.timeout_ms = TIMEOUT_MS};
  rheos_status *status = rheos_session_run(a->session, feeds, run->num_feeds, fetches,
                                           run->num_fetches, targets, run->num_targets, &options);
  for (size_t i = 0; i < run->num_fetches; i++) rheos_tensor_unref(fetches[i].value);
  return status;
}

static rheos_status *do_run(const attempt *a, const recorded_run *run) {
  rheos_feed feeds[MAX_ENDS] = {{.value = NULL}};
  rheos_status *status = read_feeds(a, run, feeds);
  if (status == NULL) status = run_with(a, run, feeds);
  for (size_t i = 0; i < run->num_feeds; i++) {
    if (run->tensors[i] == NULL) rheos_tensor_unref(feeds[i].value);
  }
  return status;
}

static bool is_of_memory(const rheos_status *status) {
  return rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED;
}

static void check_answer(const attempt *a, const recorded_run *run, rheos_status *status,
                         const char *when) {
  if (status == NULL || (int)rheos_status_code(status) == run->error) return;
  fail_msg("%s/%s, allocation %lld, %s: %s: %s", a->program->folder, a->program->name,
           (long long)counter.fail_at, when, rheos_code_name(rheos_status_code(status)),
           rheos_status_message(status));
}

// The runs up to one for which memory is short, which is done again then.
static void do_runs(attempt *a) {
  const recorded_program *p = a->program;
  for (size_t i = 0; i < p->num_runs && a->failure == NULL; i++) {
    rheos_status *status = do_run(a, &p->runs[i]);
    if (status != NULL && is_of_memory(status) && p->runs[i].error != RHEOS_RESOURCE_EXHAUSTED) {
      a->failure = status;
      const int64_t failed_at = counter.fail_at;
      counter.fail_at = 0;
      status = p->keeps_state ? NULL : do_run(a, &p->runs[i]);
      counter.fail_at = failed_at;
      check_answer(a, &p->runs[i], status, "when it is run again");
    } else if (!p->keeps_state || counter.fail_at == 0) {
      check_answer(a, &p->runs[i], status, "where memory is not the fact");
    }
    rheos_status_free(status);
  }
}

static bool try_program(const recorded_program *p, int32_t num_threads, int64_t fail_at,
                        bool fail_after) {
  attempt a = {.program = p};
  const int64_t alive = counter.alive;
  counter.requests = 0;
  counter.fail_at = fail_at;
  counter.fail_after = fail_after;
  a.failure = import(&a);
  const rheos_session_options options = {.num_threads = num_threads};
  if (a.failure == NULL) a.failure = rheos_session_new(a.graph, &options, &a.session);
  if (a.failure == NULL) do_runs(&a);
  counter.fail_at = 0;
  if (a.failure != NULL && !is_of_memory(a.failure)) {
    fail_msg("%s/%s, allocation %lld: %s", p->folder, p->name, (long long)fail_at,
             rheos_status_message(a.failure));
  }
  const bool has_failed = a.failure != NULL;
  rheos_status_free(a.failure);
  rheos_session_free(a.session);
  rheos_graph_unref(a.graph);
  if (counter.alive != alive) {
    fail_msg("%s/%s, allocation %lld: %lld blocks are lost", p->folder, p->name, (long long)fail_at,
             (long long)(counter.alive - alive));
  }
  return has_failed;
}

static int64_t num_programs, num_failed;

static void sweep(const recorded_program *p) {
  if (only != NULL && strcmp(p->name, only) != 0) return;
  const int32_t num_threads = num_programs++ % 2 == 0 ? 1 : 2;
  try_program(p, num_threads, 0, false);  // what the process keeps is made
  try_program(p, num_threads, 0, false);
  const int64_t count = counter.requests;
  const int64_t step = most_failures > 0 && count > most_failures ? count / most_failures : 1;
  for (int64_t n = 1 + num_programs % step; n <= count; n += step) {
    num_failed += try_program(p, num_threads, n, n % 4 == 0);
  }
}

// ---- Reading programs

static char *text_of(const char *path) {
  bytes b = read_bytes(path);
  char *text = rheos__text_format("%.*s", (int)b.size_bytes, b.data);
  rheos__free(b.data);
  return text;
}

static void begin_program(recorded_program *p, const char *folder, const char *name) {
  char *path = rheos__text_format("%s/tests/golden/%s/%s.pb", RHEOS_SOURCE_DIR, folder, name);
  *p = (recorded_program){.folder = folder, .name = name, .graph = read_bytes(path)};
  rheos__free(path);
}

static void end_program(recorded_program *p) {
  if (p->name != NULL) sweep(p);
  for (size_t i = 0; i < p->num_runs; i++) {
    for (size_t k = 0; k < p->runs[i].num_feeds; k++) rheos_tensor_unref(p->runs[i].tensors[k]);
  }
  rheos__free(p->graph.data);
  *p = (recorded_program){.name = NULL};
}

static recorded_run *last_run(recorded_program *p) {
  if (p->num_runs == 0) p->num_runs = 1;
  recorded_run *run = &p->runs[p->num_runs - 1];
  assert_true(run->num_feeds < MAX_ENDS && run->num_fetches < MAX_ENDS &&
              run->num_targets < MAX_ENDS);
  return run;
}

// A scalar or a tensor: dtype, rank, dimensions, elements.
static rheos_tensor *read_tensor(char **rest) {
  const rheos_dtype dtype = rheos_dtype_from_name(strtok_r(NULL, " ", rest));
  rheos_shape shape = {.rank = atoi(strtok_r(NULL, " ", rest))};
  for (int32_t i = 0; i < shape.rank; i++) shape.dims[i] = atoll(strtok_r(NULL, " ", rest));
  rheos_tensor *tensor = NULL;
  expect_ok(rheos_tensor_new(dtype, shape, &tensor));
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    const char *word = strtok_r(NULL, " ", rest);
    void *data = rheos_tensor_data(tensor);
    switch (dtype) {
      case RHEOS_FLOAT: ((float *)data)[i] = strtof(word, NULL); break;
      case RHEOS_DOUBLE: ((double *)data)[i] = strtod(word, NULL); break;
      case RHEOS_INT32: ((int32_t *)data)[i] = (int32_t)atol(word); break;
      case RHEOS_INT64: ((int64_t *)data)[i] = atoll(word); break;
      case RHEOS_BOOL: ((bool *)data)[i] = word[0] == '1'; break;
      case RHEOS_STRING: expect_ok(rheos_tensor_set_string(tensor, i, word, strlen(word))); break;
      default: fail_msg("no reader of %s", rheos_dtype_name(dtype));
    }
  }
  return tensor;
}

static void read_line(recorded_program *p, const char *folder, char *line) {
  char *rest = NULL;
  const char *word = strtok_r(line, " ", &rest);
  if (strcmp(word, "program") == 0 || strcmp(word, "case") == 0) {
    end_program(p);
    begin_program(p, folder, strtok_r(NULL, " ", &rest));
    p->keeps_state = strcmp(folder, "datasets") == 0;
  } else if (strcmp(word, "run") == 0) {
    assert_true(p->num_runs < MAX_RUNS);
    p->num_runs++;
  } else if (strcmp(word, "feed") == 0) {
    recorded_run *run = last_run(p);
    run->feeds[run->num_feeds] = strtok_r(NULL, " ", &rest);
    if (strcmp(folder, "flow") == 0) {
      run->tensors[run->num_feeds] = read_tensor(&rest);
    } else {
      run->values[run->num_feeds] = strtok_r(NULL, " ", &rest);
    }
    run->num_feeds++;
  } else if (strcmp(word, "fetch") == 0 || strcmp(word, "fails") == 0) {
    recorded_run *run = last_run(p);
    run->fetches[run->num_fetches++] = strtok_r(NULL, " ", &rest);
    if (word[1] == 'a') run->error = atoi(strtok_r(NULL, " ", &rest));
  } else if (strcmp(word, "target") == 0) {
    recorded_run *run = last_run(p);
    run->targets[run->num_targets++] = strtok_r(NULL, " ", &rest);
  } else if (strcmp(word, "error") == 0) {
    last_run(p)->error = atoi(strtok_r(NULL, " ", &rest));
  }
}

static void sweep_folder(const char *folder, const char *list) {
  char *path = rheos__text_format("%s/tests/golden/%s/%s", RHEOS_SOURCE_DIR, folder, list);
  char *lines = text_of(path), *rest = NULL;
  recorded_program *p = calloc(1, sizeof *p);
  num_programs = num_failed = 0;
  for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    read_line(p, folder, line);
  }
  end_program(p);
  free(p);
  rheos__free(lines);
  rheos__free(path);
  print_message("%s: %lld programs ended %lld times for want of memory\n", folder,
                (long long)num_programs, (long long)num_failed);
  if (only == NULL) assert_true(num_failed > num_programs);
}

static void test_failing_programs__of_version_1_control_flow_survive(void **state) {
  (void)state;
  sweep_folder("flow", "cases.txt");
}

static void test_failing_programs__of_functions_survive(void **state) {
  (void)state;
  sweep_folder("functions", "programs.txt");
}

static void test_failing_programs__of_datasets_survive(void **state) {
  (void)state;
  sweep_folder("datasets", "programs.txt");
}

int main(int argc, char **argv) {
  const char *failures = getenv("RHEOS_FAILURES");
  if (failures != NULL) most_failures = atoll(failures);
  if (argc > 1) only = argv[1];
  counting_allocator_install(&counter);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failing_programs__of_version_1_control_flow_survive),
      cmocka_unit_test(test_failing_programs__of_functions_survive),
      cmocka_unit_test(test_failing_programs__of_datasets_survive),
  };
  return cmocka_run_group_tests_name("failing_programs", tests, NULL, NULL);
}
