// Graphs that are cut over two tasks, each a host with a session of its own, give the bits of the
// whole: those of tests/golden/flow, flow_by_hand and functions, cut at random, but for what must
// stay together.
#include "format/partition/graph_cut.h"
#include "format/partition/lowering.h"

#include "graph/counting_allocator.h"
#include "graph/graph_impl.h"
#include "runtime/parts.h"
#include "runtime/recorded_runs.h"

static counting_allocator counter;

enum { NUM_TASKS = 2, NUM_DEVICES = 4, NUM_CUTS = 4, MAX_NODES = 8192 };

static const rheos__cut_device all_devices[NUM_DEVICES] = {
    {"/job:worker/replica:0/task:0/device:CPU:0", 11, 0},
    {"/job:worker/replica:0/task:1/device:CPU:0", 22, 1},
    {"/job:worker/replica:0/task:0/device:CPU:1", 33, 0},
    {"/job:worker/replica:0/task:1/device:CPU:1", 44, 1}};

typedef struct cut_session {
  rheos_graph *graph;  // borrowed
  const rheos__lowered_calls *lowered;
  rheos_host *hosts[NUM_TASKS];
  int16_t device_of[MAX_NODES];
  bool times_out;  // it may wait for what never comes
} cut_session;

typedef struct sessions {
  rheos_session *whole;
  cut_session cuts[NUM_CUTS];
  int num_sends;
  bool lowers;  // all calls, in a copy of the graph
  rheos_graph *lowered_graph;
  rheos__lowered_calls lowered;
  bool is_left_out;  // the case: it cannot be lowered
  int num_left_out;
  bool are_sound;  // the graphs: else the parts of one that the whole refuses may give something,
                   // or wait
} sessions;

// ---- Where nodes are

static int32_t leader(int32_t *links, int32_t id) {
  while (links[id] != id) id = links[id];
  return id;
}

static bool is_read_of_reference(const rheos_graph *graph, rheos__edge edge) {
  const rheos__node *node = rheos__graph_node(graph, edge.id);
  while ((node->signature->op->flags & RHEOS_OP_FORWARDS) != 0 && node->num_inputs == 1) {
    edge = node->edges[0];
    node = rheos__graph_node(graph, edge.id);
  }
  return edge.index >= 0 && rheos_dtype_is_ref(node->outputs[edge.index].dtype);
}

// A loop that captured a variable reads it in each trip, whoever read it before.
static bool stays_together(const rheos_graph *graph, const rheos__node *taker, rheos__edge edge) {
  const rheos__node *node = rheos__graph_node(graph, edge.id);
  const rheos_dtype dtype = node->outputs[edge.index].dtype;
  if (rheos_dtype_is_ref(dtype) || dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) return true;
  if (taker->signature->op->flow == RHEOS__FLOW_ENTER) return is_read_of_reference(graph, edge);
  return node->signature->op->flow == RHEOS__FLOW_ENTER &&
         is_read_of_reference(graph, node->edges[0]);
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 16;
}

// What hands on a reference or handle is where that is.
static void place(const rheos_graph *graph, uint32_t seed, int num_devices, int16_t *device_of) {
  static int32_t links[MAX_NODES];
  const int32_t count = rheos_graph_num_operations(graph);
  assert_true(count <= MAX_NODES);
  for (int32_t i = 0; i < count; i++) links[i] = i;
  for (int32_t i = 0; i < count; i++) {
    const rheos__node *node = rheos__graph_node(graph, i);
    for (int32_t k = 0; k < node->num_inputs; k++) {
      if (!stays_together(graph, node, node->edges[k])) continue;
      links[leader(links, i)] = leader(links, node->edges[k].id);
    }
  }
  for (int32_t i = 0; i < count; i++) {
    if (links[i] == i) device_of[i] = (int16_t)(next_random(&seed) % (uint32_t)num_devices);
  }
  for (int32_t i = 0; i < count; i++) device_of[i] = device_of[leader(links, i)];
}

// ---- A step in parts

typedef struct part_graph {
  rheos_graph *graph;
  rheos_session *session;
} part_graph;

static part_graph part_graph_new(const rheos__cut_part *part, rheos_host *host, int *num_sends) {
  part_graph p = {.graph = rheos_graph_new()};
  rheos_scope *scope = rheos_scope_new(p.graph);
  const rheos_import_options options = {.any_colocation = true};
  rheos__scope_take_internal_names(scope);
  rheos_import_graph_def(scope, part->graph_def, part->size_bytes, &options);
  check(rheos_scope_finish(scope));
  rheos_scope_free(scope);
  rheos__graph_check(p.graph);
  const rheos_session_options session = {
      .host = host, .shares_resources = true, .allow_soft_placement = true};  // as workers have it
  check(rheos_session_new(p.graph, &session, &p.session));
  for (int32_t i = 0; i < rheos_graph_num_operations(p.graph); i++) {
    const char *op = rheos__graph_node(p.graph, i)->signature->op->name;
    if (strcmp(op, "_Send") == 0) ++*num_sends;
  }
  return p;
}

// What nobody takes or waits for: all of the part is needed for that.
static size_t find_ends(const rheos_graph *graph, rheos_operation *ends) {
  static bool is_taken[2 * MAX_NODES];
  const int32_t count = rheos_graph_num_operations(graph);
  assert_true(count <= 2 * MAX_NODES);
  memset(is_taken, 0, sizeof is_taken);
  for (int32_t i = 0; i < count; i++) {
    const rheos__node *node = rheos__graph_node(graph, i);
    for (int32_t k = 0; k < node->num_inputs + node->num_control_inputs; k++) {
      is_taken[node->edges[k].id] = true;
    }
  }
  size_t num_ends = 0;
  for (int32_t i = 0; i < count; i++) {
    if (!is_taken[i]) ends[num_ends++] = (rheos_operation){(rheos_graph *)(uintptr_t)graph, i};
  }
  return num_ends;
}

typedef struct fetched {
  rheos_tensor *value;
  bool has_come;
} fetched;

static void take(void *argument, rheos_status *failed, rheos_tensor *value) {
  fetched *f = argument;
  if (failed == NULL) *f = (fetched){value, true};
  rheos_status_free(failed);
}

static rheos_status *get_fetches(rheos__rendezvous *rendezvous, const rheos__cut_part *parts,
                                 rheos_tensor **values) {
  rheos_status *status = NULL;
  for (int t = 0; t < NUM_TASKS; t++) {
    for (size_t i = 0; i < parts[t].num_fetches; i++) {
      fetched f = {NULL, false};
      check(rheos__rendezvous_receive_for(rendezvous, parts[t].fetches[i].key, take, &f));
      values[parts[t].fetches[i].index] = f.value;
      if (f.value == NULL && status == NULL) {
        status = f.has_come ? RHEOS_INVALID("the fetched value is dead")
                            : rheos_status_new(RHEOS_INTERNAL, "the fetched tensor is in a loop");
      }
      rheos_status *over = rheos_status_new(RHEOS_ABORTED, "over");
      if (!f.has_come) rheos__rendezvous_abort(rendezvous, over);
      rheos_status_free(over);
    }
  }
  return status;
}

static rheos_status *run_cut(recorded *r, cut_session *s, const rheos__cut_part *parts,
                             rheos_tensor **values, int *num_sends) {
  static rheos_operation ends[2 * MAX_NODES];
  const rheos_run_options options = {.timeout_ms = s->times_out ? 200 : 20000};
  rheos__rendezvous *rendezvous = rheos__rendezvous_new(NULL);
  part_graph graphs[NUM_TASKS];
  part_run runs[NUM_TASKS] = {{.options = &options}, {.options = &options}};
  rheos_status *status = NULL;
  for (int t = 0; t < NUM_TASKS; t++) {
    graphs[t] = part_graph_new(&parts[t], s->hosts[t], num_sends);
    const size_t num_ends = find_ends(graphs[t].graph, ends);
    rheos_status *planned =
        rheos_callable_new(graphs[t].session, NULL, 0, NULL, 0, ends, num_ends, &runs[t].callable);
    if (status == NULL) {
      status = planned;
    } else {
      rheos_status_free(planned);
    }
    for (size_t i = 0; i < parts[t].num_feeds; i++) {
      check(rheos__rendezvous_send(rendezvous, parts[t].feeds[i].key,
                                   r->feeds[parts[t].feeds[i].index].value));
    }
  }
  if (status == NULL) {
    run_parts(runs, NUM_TASKS, rendezvous);
    for (int t = 0; t < NUM_TASKS; t++) {
      if (status == NULL) {
        status = runs[t].status;
      } else {
        rheos_status_free(runs[t].status);
      }
    }
    if (status == NULL) status = get_fetches(rendezvous, parts, values);
  }
  for (int t = 0; t < NUM_TASKS; t++) {
    rheos_callable_free(runs[t].callable);
    rheos_session_free(graphs[t].session);
    rheos_graph_unref(graphs[t].graph);
  }
  rheos__rendezvous_unref(rendezvous);
  return status;
}

static rheos__edge edge_of(rheos_output output) { return (rheos__edge){output.id, output.index}; }

// In the graph that is cut.
static rheos__edge edge_there(const cut_session *s, rheos_output output) {
  char name[512], full[544];
  rheos_output found;
  if (s->graph == output.graph) return edge_of(output);
  rheos_operation_name(rheos_output_operation(output), name, sizeof name);
  snprintf(full, sizeof full, "%s:%d", name, (int)output.index);
  check(rheos__lowered_output(s->lowered, s->graph, full, &found));
  return edge_of(found);
}

static int32_t target_there(const cut_session *s, rheos_operation target) {
  char name[512];
  rheos_operation_name(target, name, sizeof name);
  return rheos_graph_operation(s->graph, name).id;
}

static rheos_status *cut_and_run(recorded *r, cut_session *s, rheos_tensor **values,
                                 int *num_sends) {
  rheos__edge feeds[MAX_VALUES], fetches[MAX_VALUES];
  int32_t targets[MAX_VALUES];
  for (size_t i = 0; i < r->num_feeds; i++) feeds[i] = edge_there(s, r->feeds[i].output);
  for (size_t i = 0; i < r->num_fetches; i++) fetches[i] = edge_there(s, r->fetches[i].output);
  for (size_t i = 0; i < r->num_targets; i++) targets[i] = target_there(s, r->targets[i]);
  const rheos__cut cut = {.feeds = feeds,
                          .fetches = fetches,
                          .targets = targets,
                          .num_feeds = (int32_t)r->num_feeds,
                          .num_fetches = (int32_t)r->num_fetches,
                          .num_targets = (int32_t)r->num_targets,
                          .devices = all_devices,
                          .num_devices = NUM_DEVICES,
                          .num_parts = NUM_TASKS,
                          .device_of = s->device_of};
  rheos__cut_part parts[NUM_TASKS];
  RHEOS_TRY(rheos__graph_cut(s->graph, &cut, parts));
  rheos_status *status = run_cut(r, s, parts, values, num_sends);
  for (int t = 0; t < NUM_TASKS; t++) rheos__cut_part_deinit(&parts[t]);
  return status;
}

// ---- Recorded graphs

static bool same_bits(const rheos_tensor *a, const rheos_tensor *b) {
  if (rheos_tensor_dtype(a) != rheos_tensor_dtype(b) ||
      !rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b))) {
    return false;
  }
  if (rheos_tensor_dtype(a) != RHEOS_STRING) return memcmp(a->data, b->data, a->size_bytes) == 0;
  for (int64_t i = 0; i < a->num_elements; i++) {
    const rheos_string *x = &((const rheos_string *)a->data)[i];
    if (!rheos__string_equal(x, &((const rheos_string *)b->data)[i])) return false;
  }
  return true;
}

// Each function asks for a task that no other asks for.
static void spread_bodies(rheos_graph *graph, int *num_tasks) {
  for (int32_t i = 0; i < rheos_graph_num_operations(graph); i++) {
    const rheos__function **functions;
    size_t count;
    const rheos__node *node = rheos__graph_node(graph, i);
    if (rheos__call_kind_of(node) == RHEOS__NO_CALL) continue;
    rheos_status *status = rheos__functions_of_call(graph, node, &functions, &count);
    rheos_status_free(status);  // one that runs refuse, and lowering does
    for (size_t k = 0; k < count; k++) {
      rheos_graph *body = functions[k]->graph;
      const int32_t num_nodes = rheos_graph_num_operations(body);
      if (num_nodes == 0 || rheos__graph_node(body, 0)->device[0] != '\0') continue;
      char task[64];
      snprintf(task, sizeof task, "/job:worker/task:%d", ++*num_tasks);
      for (int32_t n = 0; n < num_nodes; n++) {
        check(rheos_operation_set_device((rheos_operation){body, n}, task));
      }
      spread_bodies(body, num_tasks);
    }
    rheos__free(functions);
  }
}

static void import_program(rheos_scope *scope, const char *name) {
  char path[512], *bytes = NULL;
  size_t size = 0;
  snprintf(path, sizeof path, RHEOS_SOURCE_DIR "/tests/golden/functions/%s.pb", name);
  check(rheos__file_read_all(path, 1 << 24, &bytes, &size));
  rheos_import_graph_def(scope, bytes, size, NULL);
  check(rheos_scope_finish(scope));
  rheos__free(bytes);
}

static void lower_copy(const recorded *r, sessions *s) {
  s->is_left_out = strcmp(r->name, "long_loop") == 0;  // 100,000 trips, values sent in each
  if (s->is_left_out) return;
  s->lowered_graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(s->lowered_graph);
  import_program(scope, r->name);
  rheos_scope_free(scope);
  spread_bodies(s->lowered_graph, &(int){0});
  rheos_status *status = rheos__lower_calls(s->lowered_graph, 0, &s->lowered);
  s->is_left_out = status != NULL;
  s->num_left_out += s->is_left_out;
  rheos_status_free(status);
  if (s->is_left_out) return;
  for (int32_t i = 0; i < rheos_graph_num_operations(s->lowered_graph); i++) {
    const rheos__node *node = rheos__graph_node(s->lowered_graph, i);
    assert_int_equal(rheos__call_kind_of(node), RHEOS__NO_CALL);
  }
  rheos__graph_check(s->lowered_graph);
}

static void begin_case(recorded *r) {
  sessions *s = r->user;
  check(rheos_session_new(r->f.graph, NULL, &s->whole));
  s->lowered_graph = NULL;
  s->lowered = (rheos__lowered_calls){0};
  if (s->lowers) lower_copy(r, s);
  for (int i = 0; i < NUM_CUTS; i++) {
    // Every other cut is over one device of each task.
    s->cuts[i].graph = s->lowers ? s->lowered_graph : r->f.graph;
    s->cuts[i].lowered = &s->lowered;
    place(s->cuts[i].graph, (uint32_t)(r->num_cases * NUM_CUTS + i),
          i % 2 ? NUM_DEVICES : NUM_TASKS, s->cuts[i].device_of);
    for (int t = 0; t < NUM_TASKS; t++) {
      const rheos_host_options options = {
          .num_cpu_devices = 2, .num_threads = 1, .job = "worker", .task = t};
      check(rheos_host_new(&options, &s->cuts[i].hosts[t]));
    }
  }
}

static void end_case(recorded *r) {
  sessions *s = r->user;
  rheos_session_free(s->whole);
  rheos__lowered_calls_deinit(&s->lowered);
  rheos_graph_unref(s->lowered_graph);
  for (int i = 0; i < NUM_CUTS; i++) {
    for (int t = 0; t < NUM_TASKS; t++) rheos_host_unref(s->cuts[i].hosts[t]);
  }
}

static void compare(const recorded *r, const sessions *s, int cut, const rheos_status *status,
                    rheos_tensor *const *values, const rheos_status *whole) {
  if (whole != NULL && !s->are_sound) return;  // they have ended
  if (rheos_status_code(status) != rheos_status_code(whole)) {
    fail_msg("%s, run %d, cut %d: the whole says '%s' (%d), the parts say '%s' (%d)", r->name,
             r->num_runs, cut, rheos_status_message(whole), (int)rheos_status_code(whole),
             rheos_status_message(status), (int)rheos_status_code(status));
  }
  for (size_t i = 0; whole == NULL && i < r->num_fetches; i++) {
    if (values[i] == NULL) continue;  // it was fed
    if (same_bits(values[i], r->fetches[i].value)) continue;
    fail_msg("%s, run %d, cut %d: fetch %d has other bits", r->name, r->num_runs, cut, (int)i);
  }
}

static void run(recorded *r) {
  sessions *s = r->user;
  if (s->is_left_out) return;
  rheos_status *whole = rheos_session_run(s->whole, r->feeds, r->num_feeds, r->fetches,
                                          r->num_fetches, r->targets, r->num_targets, NULL);
  for (int i = 0; i < NUM_CUTS; i++) {
    rheos_tensor *values[MAX_VALUES] = {NULL};
    s->cuts[i].times_out = whole != NULL && !s->are_sound;
    rheos_status *status = cut_and_run(r, &s->cuts[i], values, &s->num_sends);
    compare(r, s, i, status, values, whole);
    for (size_t k = 0; k < r->num_fetches; k++) rheos_tensor_unref(values[k]);
    rheos_status_free(status);
  }
  for (size_t i = 0; i < r->num_fetches; i++) {
    rheos_tensor_unref(r->fetches[i].value);
    r->fetches[i].value = NULL;
  }
  rheos_status_free(whole);
}

static int run_cases(const char *folder, bool are_sound, int *out_num_sends) {
  sessions s = {.are_sound = are_sound};
  recorded r = {.begin_case = begin_case, .run = run, .end_case = end_case, .user = &s};
  const int count = run_recorded(&r, folder);
  *out_num_sends = s.num_sends;
  return count;
}

static void test_cut__recorded_graphs_give_the_bits_of_the_whole(void **state) {
  (void)state;
  int num_sends;
  assert_true(run_cases("flow", true, &num_sends) >= 60);
  assert_true(num_sends > 1000);
}

static void test_cut__graphs_put_together_by_hand_too(void **state) {
  (void)state;
  int num_sends;
  assert_true(run_cases("flow_by_hand", false, &num_sends) >= 30);
}

// ---- Programs with functions: tests/golden/functions/programs.txt

static void read_graph(recorded *r, const char *name) {
  snprintf(r->name, sizeof r->name, "%s", name);
  r->f.graph = rheos_graph_new();
  r->f.scope = rheos_scope_new(r->f.graph);
  import_program(r->f.scope, name);
  begin_case(r);
  r->num_cases++;
  r->num_runs = 0;
}

static void end_program(recorded *r) {
  if (r->f.graph == NULL) return;
  end_case(r);
  rheos_scope_free(r->f.scope);
  rheos_graph_unref(r->f.graph);
  r->f.graph = NULL;
}

static void run_program(recorded *r) {
  if (r->num_fetches + r->num_targets > 0) run(r);
  for (size_t i = 0; i < r->num_feeds; i++) rheos_tensor_unref(r->feeds[i].value);
  r->num_feeds = r->num_fetches = r->num_targets = 0;
  r->num_runs++;
}

// What is fed is a constant of the graph.
static void add_constant_feed(recorded *r, char *name, char *value) {
  rheos_fetch constant = {output_named(r, value), NULL};
  const sessions *s = r->user;
  check(rheos_session_run(s->whole, NULL, 0, &constant, 1, NULL, 0, NULL));
  r->feeds[r->num_feeds++] = (rheos_feed){output_named(r, name), constant.value};
}

static void read_program_line(recorded *r, char *line) {
  char *rest = NULL;
  const char *kind = strtok_r(line, " \n", &rest);
  char *name = strtok_r(NULL, " \n", &rest), *value = strtok_r(NULL, " \n", &rest);
  if (kind == NULL) return;
  if (strcmp(kind, "program") == 0 || strcmp(kind, "run") == 0) run_program(r);
  if (strcmp(kind, "program") == 0) {
    end_program(r);
    read_graph(r, name);
  } else if (strcmp(kind, "target") == 0) {
    r->targets[r->num_targets++] = rheos_graph_operation(r->f.graph, name);
  } else if (strcmp(kind, "feed") == 0) {
    add_constant_feed(r, name, value);
  } else if (strcmp(kind, "run") != 0) {
    r->fetches[r->num_fetches++] = (rheos_fetch){output_named(r, name), NULL};
  }
  assert_true(r->num_feeds < MAX_VALUES && r->num_fetches < MAX_VALUES);
}

static void run_programs(bool lowers) {
  sessions s = {.are_sound = true, .lowers = lowers};
  recorded r = {.user = &s};
  FILE *file = fopen(RHEOS_SOURCE_DIR "/tests/golden/functions/programs.txt", "r");
  assert_non_null(file);
  char *line = malloc(LINE_BYTES);
  while (fgets(line, LINE_BYTES, file) != NULL) read_program_line(&r, line);
  run_program(&r);
  end_program(&r);
  fclose(file);
  free(line);
  assert_true(r.num_cases >= 30 && s.num_sends > 1000 && s.num_left_out <= 1);
}

static void test_cut__programs_with_functions_too(void **state) {
  (void)state;
  run_programs(false);
}

static void test_cut__functions_cut_too(void **state) {
  (void)state;
  run_programs(true);
}

// ---- What parts are made of

// The parts of a graph, placed by its own devices; `fetch` is what the step is asked for.
static void place_and_cut(const fixture *f, rheos_output fetch, rheos_operation target,
                          rheos__cut_part *parts) {
  static int16_t device_of[MAX_NODES];
  check(rheos_scope_finish(f->scope));
  for (int32_t i = 0; i < rheos_graph_num_operations(f->graph); i++) {
    device_of[i] = strstr(rheos__graph_node(f->graph, i)->device, "task:1") != NULL;
  }
  const rheos__edge fetched = edge_of(fetch);
  const rheos__cut cut = {.fetches = &fetched,
                          .targets = &target.id,
                          .num_fetches = 1,
                          .num_targets = 1,
                          .devices = all_devices,
                          .num_devices = NUM_DEVICES,
                          .num_parts = NUM_TASKS,
                          .device_of = device_of};
  check(rheos__graph_cut(f->graph, &cut, parts));
}

// "name op inputs" of each node, a line each.
static void tell_nodes(const rheos__cut_part *part, char *text, size_t size_bytes) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos__scope_take_internal_names(scope);
  rheos_import_graph_def(scope, part->graph_def, part->size_bytes, NULL);
  check(rheos_scope_finish(scope));
  size_t length = 0;
  for (int32_t i = 0; i < rheos_graph_num_operations(graph); i++) {
    const rheos__node *node = rheos__graph_node(graph, i);
    char *name = rheos__node_name(graph, node);
    length += (size_t)snprintf(text + length, size_bytes - length, "%s %s", name,
                               node->signature->op->name);
    rheos__free(name);
    for (int32_t k = 0; k < node->num_inputs + node->num_control_inputs; k++) {
      name = rheos__node_name(graph, rheos__graph_node(graph, node->edges[k].id));
      length += (size_t)snprintf(text + length, size_bytes - length, " %s%s",
                                 node->edges[k].index < 0 ? "^" : "", name);
      rheos__free(name);
    }
    length += (size_t)snprintf(text + length, size_bytes - length, "\n");
    assert_true(length < size_bytes);
  }
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
}

static rheos_output named(fixture *f, const char *type, const char *name, const char *device,
                          const rheos_output *inputs, size_t num_inputs) {
  return rheos_operation_output(rheos_op(f->scope, &(rheos_op_args){.type = type,
                                                                    .name = name,
                                                                    .device = device,
                                                                    .inputs = inputs,
                                                                    .num_inputs = num_inputs}),
                                0);
}

static void test_cut__brings_a_value_once_to_each_part(void **state) {
  fixture *f = *state;
  const rheos_output a = rheos_constant_float(f->scope, 1, "a");
  const char *there = "/job:worker/task:1";
  const rheos_output b = named(f, "Neg", "b", there, &a, 1);
  const rheos_output c = named(f, "Mul", "c", there, (const rheos_output[]){a, b}, 2);
  const rheos_output d = named(f, "Neg", "d", "/job:worker/task:0", &c, 1);
  rheos__cut_part parts[NUM_TASKS];
  place_and_cut(f, d, rheos_output_operation(d), parts);
  char text[4096];
  tell_nodes(&parts[0], text, sizeof text);
  assert_string_equal(text, "a Const\na_S1 _Send a\nc_S4 _Recv\nd Neg c_S4\n_send_d_S0 _Send d\n");
  tell_nodes(&parts[1], text, sizeof text);
  assert_string_equal(text, "a_S2 _Recv\nb Neg a_S2\nc Mul a_S2 b\nc_S3 _Send c\n");
  assert_int_equal(parts[0].num_fetches, 1);
  assert_string_equal(parts[0].fetches[0].key,
                      "/job:worker/replica:0/task:0/device:CPU:0;000000000000000b;"
                      "/job:worker/replica:0/task:0/device:CPU:0;d:0;0:0");
  for (int t = 0; t < NUM_TASKS; t++) rheos__cut_part_deinit(&parts[t]);
}

static void test_cut__sends_a_constant_along_a_control_edge(void **state) {
  fixture *f = *state;
  const rheos_output a = rheos_constant_float(f->scope, 1, "a");
  rheos_push_control_dependencies(f->scope, &(rheos_operation){a.graph, a.id}, 1);
  const rheos_output b = named(f, "NoOp", "b", "/job:worker/task:1", NULL, 0);
  rheos_scope_pop(f->scope);
  rheos__cut_part parts[NUM_TASKS];
  place_and_cut(f, a, rheos_output_operation(b), parts);
  char text[4096];
  tell_nodes(&parts[1], text, sizeof text);
  assert_string_equal(text, "a_S3 _Recv\na_S4 Identity a_S3\nb NoOp ^a_S4\n");
  tell_nodes(&parts[0], text, sizeof text);
  assert_string_equal(text,
                      "a Const\na/ctrl_S1 Const ^a\na_S2 _Send a/ctrl_S1\n_send_a_S0 _Send a\n");
  for (int t = 0; t < NUM_TASKS; t++) rheos__cut_part_deinit(&parts[t]);
}

static void test_cut__ends_where_memory_is_short(void **state) {
  (void)state;
  fixture f = {.graph = rheos_graph_new()};
  f.scope = rheos_scope_new(f.graph);
  char *bytes = NULL;
  size_t size = 0;
  check(rheos__file_read_all(RHEOS_SOURCE_DIR "/tests/golden/flow/count_7.pb", 1 << 24, &bytes,
                             &size));
  rheos_import_graph_def(f.scope, bytes, size, NULL);
  check(rheos_scope_finish(f.scope));
  rheos__free(bytes);
  static int16_t device_of[MAX_NODES];
  place(f.graph, 5, NUM_DEVICES, device_of);
  rheos_output fed, fetched;
  check(rheos_graph_output(f.graph, "Placeholder:0", &fed));
  check(rheos_graph_output(f.graph, "while/Exit:0", &fetched));
  const rheos__edge feed = edge_of(fed), fetch = edge_of(fetched);
  const rheos__cut cut = {.feeds = &feed,
                          .fetches = &fetch,
                          .num_feeds = 1,
                          .num_fetches = 1,
                          .devices = all_devices,
                          .num_devices = NUM_DEVICES,
                          .num_parts = NUM_TASKS,
                          .device_of = device_of};
  bool reached = true;
  for (int64_t n = 1; reached; n++) {
    rheos__cut_part parts[NUM_TASKS];
    const int64_t alive = counter.alive;
    counter.fail_at = counter.requests + n;
    rheos_status *status = rheos__graph_cut(f.graph, &cut, parts);
    reached = counter.requests >= counter.fail_at;
    counter.fail_at = 0;
    assert_int_equal(rheos_status_code(status), reached ? RHEOS_RESOURCE_EXHAUSTED : RHEOS_OK);
    rheos_status_free(status);
    for (int t = 0; t < NUM_TASKS; t++) rheos__cut_part_deinit(&parts[t]);
    assert_int_equal(counter.alive, alive);
  }
  rheos_scope_free(f.scope);
  rheos_graph_unref(f.graph);
}

static void test_cut__refuses_to_send_a_handle(void **state) {
  fixture *f = *state;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  const rheos_output v = rheos_operation_output(add(f, "VarHandleOp", NULL, 0, attrs, 2), 0);
  const rheos_operation read = add(f, "ReadVariableOp", &v, 1, attrs, 1);
  check(rheos_scope_finish(f->scope));
  int16_t device_of[MAX_NODES] = {0};
  device_of[read.id] = 1;
  const rheos__cut cut = {.targets = &read.id,
                          .num_targets = 1,
                          .devices = all_devices,
                          .num_devices = NUM_DEVICES,
                          .num_parts = NUM_TASKS,
                          .device_of = device_of};
  rheos__cut_part parts[NUM_TASKS];
  expect_error(rheos__graph_cut(f->graph, &cut, parts), RHEOS_INVALID_ARGUMENT,
               "a resource of 'VarHandleOp' on /job:worker/replica:0/task:0/device:CPU:0 cannot be "
               "sent to 'ReadVariableOp' on /job:worker/replica:0/task:1/device:CPU:0");
}

int main(void) {
  counting_allocator_install(&counter);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cut__recorded_graphs_give_the_bits_of_the_whole),
      cmocka_unit_test(test_cut__graphs_put_together_by_hand_too),
      cmocka_unit_test(test_cut__programs_with_functions_too),
      cmocka_unit_test(test_cut__functions_cut_too),
      cmocka_unit_test_setup_teardown(test_cut__brings_a_value_once_to_each_part, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_cut__sends_a_constant_along_a_control_edge, set_up,
                                      tear_down),
      cmocka_unit_test(test_cut__ends_where_memory_is_short),
      cmocka_unit_test_setup_teardown(test_cut__refuses_to_send_a_handle, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
