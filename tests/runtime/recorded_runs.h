// Graphs that TensorFlow ran, with what it was asked for and gave: the format of
// tests/golden/flow/cases.txt.
#ifndef RHEOS_TESTS_RUNTIME_RECORDED_RUNS_H
#define RHEOS_TESTS_RUNTIME_RECORDED_RUNS_H

#include <rheos/format.h>
#include <stdio.h>

#include "base/file.h"
#include "ops/array_fixture.h"

enum { MAX_VALUES = 32, LINE_BYTES = 1 << 16 };

typedef struct recorded recorded;
struct recorded {
  const char *folder;
  const char *device;               // that all nodes ask for; NULL: none
  void (*begin_case)(recorded *r);  // the graph is there
  void (*run)(recorded *r);
  void (*end_case)(recorded *r);
  void *user;
  fixture f;  // graph and scope
  char name[128];
  rheos_feed feeds[MAX_VALUES];
  rheos_fetch fetches[MAX_VALUES];
  rheos_operation targets[MAX_VALUES];
  rheos_tensor *expected[MAX_VALUES];
  size_t num_feeds, num_fetches, num_targets, num_expected;
  int error;
  int refused;  // the code of the error of a graph that the library does not take
  bool has_run;
  int num_runs, num_cases;
};

static inline void set_element(rheos_tensor *tensor, int64_t i, const char *word) {
  void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_FLOAT: ((float *)data)[i] = strtof(word, NULL); return;
    case RHEOS_DOUBLE: ((double *)data)[i] = strtod(word, NULL); return;
    case RHEOS_HALF: ((uint16_t *)data)[i] = rheos__float_to_half(strtof(word, NULL)); return;
    case RHEOS_STRING: check(rheos_tensor_set_string(tensor, i, word, strlen(word))); return;
    case RHEOS_BOOL: ((bool *)data)[i] = word[0] == '1'; return;
    case RHEOS_INT8: ((int8_t *)data)[i] = (int8_t)atoi(word); return;
    case RHEOS_UINT8: ((uint8_t *)data)[i] = (uint8_t)atoi(word); return;
    case RHEOS_INT16: ((int16_t *)data)[i] = (int16_t)atoi(word); return;
    case RHEOS_INT32: ((int32_t *)data)[i] = (int32_t)atol(word); return;
    case RHEOS_INT64: ((int64_t *)data)[i] = atoll(word); return;
    default: fail_msg("no reader of %s", rheos_dtype_name(rheos_tensor_dtype(tensor)));
  }
}

// The words that are left: dtype, rank, dimensions, elements.
static inline rheos_tensor *read_tensor(char **rest) {
  const rheos_dtype dtype = rheos_dtype_from_name(strtok_r(NULL, " \n", rest));
  rheos_shape shape = {.rank = atoi(strtok_r(NULL, " \n", rest))};
  for (int32_t i = 0; i < shape.rank; i++) shape.dims[i] = atoll(strtok_r(NULL, " \n", rest));
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(dtype, shape, &tensor));
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    set_element(tensor, i, strtok_r(NULL, " \n", rest));
  }
  return tensor;
}

static inline rheos_output output_named(const recorded *r, char *name) {
  char *colon = strchr(name, ':');
  const int32_t index = colon != NULL ? atoi(colon + 1) : 0;
  if (colon != NULL) *colon = '\0';
  const rheos_operation op = rheos_graph_operation(r->f.graph, name);
  if (op.graph == NULL) fail_msg("%s: there is no %s", r->name, name);
  return rheos_operation_output(op, index);
}

// Does the run that has been read, if there is one.
static inline void end_run(recorded *r) {
  if (r->has_run && r->refused != 0) {  // TensorFlow refuses it when it is run
    if (r->error != r->refused) fail_msg("%s: the graph is refused: %d", r->name, r->refused);
  } else if (r->has_run) {
    assert_true(r->error != 0 || r->num_expected == r->num_fetches);
    r->run(r);
    r->num_runs++;
  }
  for (size_t i = 0; i < r->num_feeds; i++) rheos_tensor_unref(r->feeds[i].value);
  for (size_t i = 0; i < r->num_expected; i++) rheos_tensor_unref(r->expected[i]);
  r->num_feeds = r->num_fetches = r->num_targets = r->num_expected = 0;
  r->error = 0;
  r->has_run = false;
}

static inline void read_case(recorded *r, const char *name) {
  snprintf(r->name, sizeof r->name, "%s", name);
  char path[512], *bytes = NULL;
  size_t size = 0;
  snprintf(path, sizeof path, RHEOS_SOURCE_DIR "/tests/golden/%s/%s.pb", r->folder, name);
  check(rheos__file_read_all(path, 1 << 24, &bytes, &size));
  r->f.graph = rheos_graph_new();
  r->f.scope = rheos_scope_new(r->f.graph);
  rheos_import_options options = {.prefix = ""};
  if (r->device != NULL) rheos_push_device(r->f.scope, r->device);
  rheos_import_graph_def(r->f.scope, bytes, size, &options);
  if (r->device != NULL) rheos_scope_pop(r->f.scope);
  rheos_status *status = rheos_scope_finish(r->f.scope);
  r->refused = (int)rheos_status_code(status);
  rheos_status_free(status);
  rheos__free(bytes);
  r->begin_case(r);
  r->num_cases++;
  r->num_runs = 0;
}

static inline void drop_case(recorded *r) {
  r->end_case(r);
  rheos_scope_free(r->f.scope);
  rheos__graph_check(r->f.graph);
  rheos_graph_unref(r->f.graph);
}

static inline void read_line(recorded *r, char *line) {
  char *rest = NULL;
  const char *kind = strtok_r(line, " \n", &rest);
  if (kind == NULL) return;
  if (strcmp(kind, "case") == 0) {
    read_case(r, strtok_r(NULL, " \n", &rest));
  } else if (strcmp(kind, "run") == 0 || strcmp(kind, "end") == 0) {
    end_run(r);
    r->has_run = kind[0] == 'r';
    if (kind[0] == 'e') drop_case(r);
  } else if (strcmp(kind, "error") == 0) {
    r->error = atoi(strtok_r(NULL, " \n", &rest));
  } else if (r->refused != 0) {
    assert_null(strstr(kind, "out"));
  } else if (strcmp(kind, "feed") == 0) {
    const rheos_output output = output_named(r, strtok_r(NULL, " \n", &rest));
    r->feeds[r->num_feeds++] = (rheos_feed){output, read_tensor(&rest)};
  } else if (strcmp(kind, "fetch") == 0) {
    const rheos_output output = output_named(r, strtok_r(NULL, " \n", &rest));
    r->fetches[r->num_fetches++] = (rheos_fetch){output, NULL};
  } else if (strcmp(kind, "target") == 0) {
    const rheos_output output = output_named(r, strtok_r(NULL, " \n", &rest));
    r->targets[r->num_targets++] = rheos_output_operation(output);
  } else if (strcmp(kind, "out") == 0) {
    r->expected[r->num_expected++] = read_tensor(&rest);
  } else {
    fail_msg("what is '%s'?", kind);
  }
}

// All cases of a folder of tests/golden; how many they are.
static inline int run_recorded(recorded *r, const char *folder) {
  char path[512];
  snprintf(path, sizeof path, RHEOS_SOURCE_DIR "/tests/golden/%s/cases.txt", folder);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *line = malloc(LINE_BYTES);
  r->folder = folder;
  r->num_cases = 0;
  while (fgets(line, LINE_BYTES, file) != NULL) read_line(r, line);
  fclose(file);
  free(line);
  return r->num_cases;
}

#endif  // RHEOS_TESTS_RUNTIME_RECORDED_RUNS_H
