// Programs that TensorFlow recorded, run again.
#include "runtime/recorded_programs.h"

#include <math.h>
#include <rheos/rheos.h>

#include "format/format_support.h"
#include "graph.pb-c.h"
#include "runtime/watch_all.h"
#include "runtime/session/watched_run.h"

enum { MAX_NAMES = 32, NUM_SESSIONS = 3, WATCHED = 2 };

typedef struct recorded_run {
  rheos_feed feeds[MAX_NAMES];
  rheos_fetch feed_values[MAX_NAMES];  // constants of the graph
  rheos_fetch fetches[MAX_NAMES], answers[MAX_NAMES];
  rheos_operation targets[MAX_NAMES];
  rheos_tensor *before[MAX_NAMES];  // what the session before gave
  size_t num_feeds, num_fetches, num_targets;
  int error;           // 0: none
  char message[4096];  // of the session before
} recorded_run;

static int num_wrong;  // of the programs that a test runs

static void note_wrong(const char *program, const char *what) {
  fprintf(stderr, "  %s: %s\n", program, what);
  num_wrong++;
}

static rheos_output output_named(rheos_graph *graph, const char *name) {
  rheos_output output;
  assert_non_null(name);
  expect_ok(rheos_graph_output(graph, name, &output));
  return output;
}

static void compare(const rheos_tensor *got, const rheos_tensor *wanted, const char *program) {
  assert_int_equal(rheos_tensor_dtype(got), rheos_tensor_dtype(wanted));
  if (!rheos_shape_equal(rheos_tensor_shape(got), rheos_tensor_shape(wanted))) {
    note_wrong(program, "the shapes differ");
    return;
  }
  const int64_t count = rheos_tensor_num_elements(got);
  const void *a = rheos_tensor_data(got), *b = rheos_tensor_data(wanted);
  for (int64_t i = 0; i < count; i++) {
    bool same;
    switch (rheos_tensor_dtype(got)) {
      case RHEOS_FLOAT: {
        const float x = ((const float *)a)[i], y = ((const float *)b)[i];
        same = x == y || fabsf(x - y) <= 1e-5f * fabsf(y) + 1e-6f || (isnan(x) && isnan(y));
        break;
      }
      case RHEOS_STRING: {
        const rheos_string x = ((const rheos_string *)a)[i], y = ((const rheos_string *)b)[i];
        same = x.size_bytes == y.size_bytes &&
               (x.size_bytes == 0 || memcmp(x.data, y.data, x.size_bytes) == 0);
        break;
      }
      default: {
        const size_t size = rheos_dtype_size(rheos_tensor_dtype(got));
        same = memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size,
                      size) == 0;
      }
    }
    if (same) continue;
    note_wrong(program, "values differ");
    return;
  }
}

static void free_values(rheos_fetch *fetches, size_t count) {
  for (size_t i = 0; i < count; i++) rheos_tensor_unref(fetches[i].value);
}

// Of strings it looks at the lengths only: what they say has been compared.
static bool same_bits(const rheos_tensor *a, const rheos_tensor *b) {
  if (rheos_tensor_dtype(a) == RHEOS_STRING)
    return rheos_tensor_num_elements(a) == rheos_tensor_num_elements(b);
  return rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)) &&
         memcmp(rheos_tensor_data((rheos_tensor *)(uintptr_t)a),
                rheos_tensor_data((rheos_tensor *)(uintptr_t)b), rheos_tensor_size_bytes(a)) == 0;
}

// Compares with what the session before gave, and keeps what this one gave.
static void compare_sessions(recorded_run *run, const char *program, bool is_first) {
  for (size_t i = 0; i < run->num_fetches; i++) {
    if (!is_first && run->before[i] != NULL && !same_bits(run->fetches[i].value, run->before[i])) {
      note_wrong(program, "inlining or watching changes bits");
    }
    rheos_tensor_unref(run->before[i]);
    run->before[i] = rheos_tensor_ref(run->fetches[i].value);
  }
}

// Notes an error, which inlining and watching must not change.
static void compare_errors(recorded_run *run, const rheos_status *status, const char *program,
                           bool is_first) {
  if ((int)rheos_status_code(status) != run->error) {
    note_wrong(program, status != NULL ? rheos_status_message(status) : "does not fail");
  }
  const char *message = status != NULL ? rheos_status_message(status) : "";
  if (!is_first && strcmp(message, run->message) != 0) {
    note_wrong(program, "inlining or watching changes the message");
    fprintf(stderr, "    %s\n    %s\n", run->message, message);
  }
  snprintf(run->message, sizeof run->message, "%s", message);
}

static rheos_status *take_value(void *argument, const rheos__delivered *delivered) {
  (void)argument;
  return delivered->value != NULL ? NULL : rheos_status_new(RHEOS_INTERNAL, "nothing is delivered");
}

// `watches` NULL: nothing is watched.
static void do_run(rheos_session *session, recorded_run *run, const char *program, bool is_first,
                   rheos__watches *watches) {
  expect_ok(rheos_session_run(session, NULL, 0, run->feed_values, run->num_feeds, NULL, 0, NULL));
  for (size_t i = 0; i < run->num_feeds; i++) run->feeds[i].value = run->feed_values[i].value;
  const rheos__observer observer = {.deliver = take_value};
  rheos_status *status = rheos__session_run_watched(
      session, run->feeds, run->num_feeds, run->fetches, run->num_fetches, run->targets,
      run->num_targets, NULL, watches, watches != NULL ? &observer : NULL);
  free_values(run->feed_values, run->num_feeds);
  if (run->error != 0) {
    compare_errors(run, status, program, is_first);
    if (status == NULL) free_values(run->fetches, run->num_fetches);
    rheos_status_free(status);
    return;
  }
  if (status != NULL) {
    note_wrong(program, rheos_status_message(status));
    rheos_status_free(status);
    return;
  }
  expect_ok(rheos_session_run(session, NULL, 0, run->answers, run->num_fetches, NULL, 0, NULL));
  for (size_t i = 0; i < run->num_fetches; i++) {
    compare(run->fetches[i].value, run->answers[i].value, program);
  }
  compare_sessions(run, program, is_first);
  free_values(run->fetches, run->num_fetches);
  free_values(run->answers, run->num_fetches);
}

static void ask_for_device(Tensorflow__NodeDef *const *nodes, size_t count, const char *device) {
  for (size_t i = 0; i < count; i++) {
    if (nodes[i]->device != protobuf_c_empty_string) free(nodes[i]->device);
    nodes[i]->device = strdup(device);
  }
}

// The message with the device for all nodes, those of functions too.
static void set_device(bytes *b, const char *device) {
  Tensorflow__GraphDef *def =
      tensorflow__graph_def__unpack(NULL, b->size_bytes, (const uint8_t *)b->data);
  assert_non_null(def);
  ask_for_device(def->node, def->n_node, device);
  for (size_t i = 0; def->library != NULL && i < def->library->n_function; i++) {
    const Tensorflow__FunctionDef *function = def->library->function[i];
    ask_for_device(function->node_def, function->n_node_def, device);
  }
  rheos__free(b->data);
  b->data = rheos__alloc(tensorflow__graph_def__get_packed_size(def));
  b->size_bytes = tensorflow__graph_def__pack(def, (uint8_t *)b->data);
  tensorflow__graph_def__free_unpacked(def, NULL);
}

static rheos_graph *read_program(const char *folder, const char *name, const char *device) {
  char *path = rheos__text_format("%s/tests/golden/%s/%s.pb", RHEOS_SOURCE_DIR, folder, name);
  bytes b = read_bytes(path);
  if (device != NULL) set_device(&b, device);
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_import_graph_def(scope, b.data, b.size_bytes, NULL);
  expect_ok(rheos_scope_finish(scope));
  rheos_scope_free(scope);
  rheos__free(b.data);
  rheos__free(path);
  return graph;
}

typedef struct program {
  const char *folder;
  int32_t num_threads;
  rheos_host *host;    // of all sessions but the first; NULL: the CPU's
  const char *device;  // of it, that all nodes ask for; NULL: none
  char name[64];
  rheos_graph *graph;
  // The first inlines calls; of the last all edges are watched.
  rheos_session *sessions[NUM_SESSIONS];
  recorded_run run;
} program;

static void end_run(program *p) {
  for (int i = 0; i < NUM_SESSIONS && p->sessions[i] != NULL; i++) {
    rheos__watches *watches = i == WATCHED ? watch_all(p->graph, true) : NULL;
    do_run(p->sessions[i], &p->run, p->name, i == 0, watches);
    rheos__watches_unref(watches);
  }
  for (size_t i = 0; i < p->run.num_fetches; i++) rheos_tensor_unref(p->run.before[i]);
  p->run = (recorded_run){0};
}

static void end_program(program *p) {
  end_run(p);
  for (int i = 0; i < NUM_SESSIONS; i++) rheos_session_free(p->sessions[i]);
  rheos_graph_unref(p->graph);
  for (int i = 0; i < NUM_SESSIONS; i++) p->sessions[i] = NULL;
  p->graph = NULL;
}

static void begin_program(program *p, const char *name) {
  end_program(p);
  snprintf(p->name, sizeof p->name, "%s", name);
  p->graph = read_program(p->folder, name, p->device);
  for (int i = 0; i < NUM_SESSIONS; i++) {
    rheos_host *const host = i == 0 ? NULL : p->host;
    const rheos_session_options options = {
        .num_threads = host == NULL ? p->num_threads : 0,
        .host = host,
        .allow_soft_placement = p->device != NULL,
        .rewrites.function_optimization = i == 0 ? RHEOS_TOGGLE_ON : RHEOS_TOGGLE_OFF};
    expect_ok(rheos_session_new(p->graph, &options, &p->sessions[i]));
  }
}

static void take_line(program *p, char *line) {
  char *rest;
  const char *word = strtok_r(line, " ", &rest), *name = strtok_r(NULL, " ", &rest);
  const char *value = strtok_r(NULL, " ", &rest);
  recorded_run *run = &p->run;
  assert_true(run->num_feeds < MAX_NAMES && run->num_fetches < MAX_NAMES);
  if (strcmp(word, "program") == 0) {
    begin_program(p, name);
  } else if (strcmp(word, "run") == 0) {
    end_run(p);
  } else if (strcmp(word, "target") == 0) {
    run->targets[run->num_targets++] = rheos_graph_operation(p->graph, name);
  } else if (strcmp(word, "feed") == 0) {
    run->feeds[run->num_feeds].output = output_named(p->graph, name);
    run->feed_values[run->num_feeds++].output = output_named(p->graph, value);
  } else if (strcmp(word, "fails") == 0) {
    run->fetches[run->num_fetches++].output = output_named(p->graph, name);
    run->error = atoi(value);
  } else {
    assert_string_equal(word, "fetch");
    run->fetches[run->num_fetches].output = output_named(p->graph, name);
    run->answers[run->num_fetches++].output = output_named(p->graph, value);
  }
}

static void run_programs(program p) {
  char *path = rheos__text_format("%s/tests/golden/%s/programs.txt", RHEOS_SOURCE_DIR, p.folder);
  bytes text = read_bytes(path);
  rheos__free(path);
  char *lines = rheos__text_format("%.*s", (int)text.size_bytes, text.data), *rest;
  num_wrong = 0;
  for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    take_line(&p, line);
  }
  end_program(&p);
  rheos__free(lines);
  rheos__free(text.data);
  assert_int_equal(num_wrong, 0);
}

void run_recorded_programs(const char *folder, int32_t num_threads) {
  run_programs((program){.folder = folder, .num_threads = num_threads});
}

void run_recorded_programs_on(const char *folder, rheos_host *host, const char *device) {
  run_programs((program){.folder = folder, .num_threads = 1, .host = host, .device = device});
}
