// Programs as readers of bytes: graphs of branches, loops and functions, imported or built node by
// node as the bytes say, are run for a moment. Whatever comes of that, a value or a status, the
// session goes on.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rheos/rheos.h>

#include "base/status.h"
#include "format/graph/graph_def.h"
#include "format/readers.h"
#include "graph/graph_check.h"

enum { MAX_RUNS = 8, RUN_MS = 4 };

static rheos_output output_of(rheos_operation op, int32_t index) {
  if (op.graph == NULL || index >= rheos_operation_num_outputs(op)) return (rheos_output){0};
  return rheos_operation_output(op, index);
}

// ---- Running

// Feeds for placeholders: one element of each that can be one.
typedef struct fed_values {
  rheos_feed feeds[4];
  size_t count;
} fed_values;

static void feed_placeholders(rheos_graph *graph, fed_values *fed) {
  for (int32_t id = 0; id < rheos_graph_num_operations(graph) && fed->count < 4; id++) {
    const rheos_operation op = {graph, id};
    if (strcmp(rheos_operation_type(op), "Placeholder") != 0) continue;
    const rheos_output output = output_of(op, 0);
    rheos_shape shape = rheos_output_shape(output);
    if (shape.rank < 0) shape = RHEOS_SCALAR;
    for (int32_t i = 0; i < shape.rank; i++) shape.dims[i] = shape.dims[i] < 0 ? 1 : shape.dims[i];
    rheos_tensor *tensor = NULL;
    rheos_status *status = rheos_tensor_new(rheos_output_dtype(output), shape, &tensor);
    if (status == NULL && rheos_tensor_size_bytes(tensor) < 4096 &&
        rheos_tensor_dtype(tensor) != RHEOS_STRING) {
      memset(rheos_tensor_data(tensor), 0, rheos_tensor_size_bytes(tensor));
      fed->feeds[fed->count++] = (rheos_feed){output, tensor};
    } else {
      rheos_tensor_unref(tensor);
    }
    rheos_status_free(status);
  }
}

static rheos_status *run_one(rheos_session *session, const fed_values *fed, rheos_operation op) {
  const rheos_run_options options = {.timeout_ms = RUN_MS};
  rheos_fetch fetch = {output_of(op, 0), NULL};
  const size_t num_fetches = fetch.output.graph != NULL ? 1 : 0;
  rheos_status *status =
      rheos_session_run(session, fed->feeds, fed->count, &fetch, num_fetches, &op, 1, &options);
  rheos_tensor_unref(fetch.value);
  return status;
}

static bool is_run(rheos_operation op) {
  const char *type = rheos_operation_type(op);
  return strcmp(type, "Const") != 0 && strcmp(type, "Placeholder") != 0;
}

// The last nodes, each by itself. An error if none ran.
static rheos_status *run_each(rheos_session *session, const fed_values *fed, rheos_graph *graph) {
  rheos_status *last = RHEOS_INVALID("nothing to run");
  bool any_ran = false;
  int num_runs = 0;
  for (int32_t id = rheos_graph_num_operations(graph) - 1; id >= 0 && num_runs < MAX_RUNS; id--) {
    const rheos_operation op = {graph, id};
    if (!is_run(op)) continue;
    num_runs++;
    rheos_status_free(last);
    last = run_one(session, fed, op);
    any_ran = any_ran || last == NULL;
  }
  if (!any_ran) return last;
  rheos_status_free(last);
  return NULL;
}

static rheos_status *run_all(rheos_graph *graph) {
  rheos_session *session = NULL;
  const rheos_session_options options = {.num_threads = 1};
  RHEOS_TRY(rheos_session_new(graph, &options, &session));
  fed_values fed = {0};
  feed_placeholders(graph, &fed);
  rheos_status *status = run_each(session, &fed, graph);
  for (size_t i = 0; i < fed.count; i++) rheos_tensor_unref(fed.feeds[i].value);
  rheos_session_free(session);
  return status;
}

// ---- Graphs in files

// Whether a node might touch files, or a kernel take long for few bytes.
static bool is_kept_out(const char *op) {
  static const char *const parts[] = {"File",    "Save",   "Restore", "Checkpoint", "Dataset",
                                      "Summary", "Record", "Reader",  "Immutable",  "Print",
                                      "Svd",     "Eig",    "Py"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (strstr(op, parts[i]) != NULL) return true;
  }
  return false;
}

static bool any_kept_out(Tensorflow__NodeDef *const *nodes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (is_kept_out(nodes[i]->op)) return true;
  }
  return false;
}

static rheos_status *check_ops(const void *data, size_t size_bytes) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__GraphDef *def;
  rheos_status *status = RHEOS_PROTO_UNPACK(graph_def, data, size_bytes, &arena, &def);
  bool kept_out = status == NULL && any_kept_out(def->node, def->n_node);
  const Tensorflow__FunctionDefLibrary *library = status == NULL ? def->library : NULL;
  for (size_t i = 0; library != NULL && i < library->n_function && !kept_out; i++) {
    kept_out = any_kept_out(library->function[i]->node_def, library->function[i]->n_node_def);
  }
  rheos__arena_deinit(&arena);
  if (kept_out) return RHEOS_INVALID("an op that is not run here");
  return status;
}

rheos_status *read_by_running(const void *data, size_t size_bytes) {
  RHEOS_TRY(check_ops(data, size_bytes));
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  rheos_status *status = scope != NULL ? NULL : rheos__out_of_memory();
  if (status == NULL) {
    rheos_import_graph_def(scope, data, size_bytes, NULL);
    status = rheos_scope_finish(scope);
  }
  if (status == NULL) status = run_all(graph);
  rheos_scope_free(scope);
  if (graph != NULL) rheos__graph_check(graph);
  rheos_graph_unref(graph);
  return status;
}

// ---- Programs
//
// A node is four bytes: what it is, and three numbers, of values that came before, the last one
// first, or of a name. Levels are functions in each other.

enum { MAX_LEVELS = 4, MAX_VALUES = 64, NUM_NAMES = 4, NODE_BYTES = 4 };

typedef struct level {
  rheos_function *function;  // NULL: the graph itself
  rheos_scope *scope;
  rheos_output values[MAX_VALUES];
  size_t num_values;
} level;

typedef struct program {
  rheos_graph *graph;
  level levels[MAX_LEVELS];
  int depth;
  int num_functions;
} program;

static level *inside(program *p) { return &p->levels[p->depth]; }

static rheos_output value_at(program *p, uint8_t number) {
  const level *l = inside(p);
  return l->num_values > 0 ? l->values[(l->num_values - 1 - number % l->num_values) % MAX_VALUES]
                           : (rheos_output){0};
}

static void keep(program *p, rheos_output value) {
  level *l = inside(p);
  if (value.graph == NULL || l->num_values == MAX_VALUES) return;
  l->values[l->num_values++] = value;
}

static void add(program *p, const char *type, const rheos_output *inputs, size_t num_inputs,
                const rheos_attr *attrs, size_t num_attrs) {
  const rheos_operation op = rheos_op(inside(p)->scope, &(rheos_op_args){.type = type,
                                                                         .inputs = inputs,
                                                                         .num_inputs = num_inputs,
                                                                         .attrs = attrs,
                                                                         .num_attrs = num_attrs});
  for (int32_t i = 0; i < 3; i++) keep(p, output_of(op, i));
}

static rheos_func function_named(uint8_t number, char *name) {
  snprintf(name, 8, "f%d", number % NUM_NAMES);
  return (rheos_func){.name = {name, strlen(name)}};
}

static void begin_function(program *p) {
  if (p->depth + 1 == MAX_LEVELS || p->num_functions == NUM_NAMES) return;
  char name[8];
  snprintf(name, sizeof name, "f%d", p->num_functions++);
  rheos_function *function = rheos_function_begin(inside(p)->scope, name, NULL);
  if (function == NULL) return;
  p->levels[++p->depth] = (level){.function = function, .scope = rheos_function_scope(function)};
}

static void end_function(program *p, uint8_t result) {
  if (p->depth == 0) return;
  level *l = inside(p);
  const rheos_output value = value_at(p, result);
  if (value.graph != NULL) rheos_function_result(l->function, NULL, value);
  rheos_function_finish(l->function, p->levels[p->depth - 1].scope);
  rheos_function_free(l->function);
  p->depth--;
}

static void add_argument(program *p, uint8_t dtype) {
  static const rheos_dtype dtypes[] = {RHEOS_FLOAT, RHEOS_INT32, RHEOS_BOOL, RHEOS_RESOURCE};
  if (p->depth == 0) return;
  keep(p,
       rheos_function_argument(inside(p)->function, NULL, dtypes[dtype % 4], RHEOS_UNKNOWN_SHAPE));
}

static void capture(program *p, uint8_t number) {
  if (p->depth == 0) return;
  --p->depth;
  const rheos_output value = value_at(p, number);
  ++p->depth;
  if (value.graph != NULL) keep(p, rheos_function_capture(inside(p)->function, value));
}

static void add_constant(program *p, rheos_dtype dtype, uint8_t value) {
  const float real = value;
  const int32_t whole = value;
  const bool flag = value % 2 == 1;
  const void *const bytes = dtype == RHEOS_FLOAT   ? (const void *)&real
                            : dtype == RHEOS_INT32 ? (const void *)&whole
                                                   : (const void *)&flag;
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_from_values(dtype, RHEOS_SCALAR, bytes, &tensor);
  rheos_status_free(status);
  if (status == NULL) keep(p, rheos_constant(inside(p)->scope, tensor, NULL));
  rheos_tensor_unref(tensor);
}

static void add_call(program *p, const uint8_t *node) {
  char names[2][8];
  const rheos_func f = function_named(node[3], names[0]), g = function_named(node[3] / 4, names[1]);
  const rheos_output inputs[] = {value_at(p, node[1]), value_at(p, node[2])};
  if (inputs[0].graph == NULL) return;
  const rheos_dtype dtypes[] = {rheos_output_dtype(inputs[0]), rheos_output_dtype(inputs[1])};
  const rheos_attr call[] = {rheos_attr_types("Tin", dtypes, 2),
                             rheos_attr_types("Tout", &dtypes[1], 1), rheos_attr_func("f", &f)};
  const rheos_attr choose[] = {
      rheos_attr_types("Tin", &dtypes[1], 1), rheos_attr_types("Tout", &dtypes[1], 1),
      rheos_attr_func("then_branch", &f), rheos_attr_func("else_branch", &g)};
  const rheos_attr loop[] = {rheos_attr_types("T", dtypes, 2), rheos_attr_func("cond", &f),
                             rheos_attr_func("body", &g)};
  switch (node[3] / 16 % 4) {
    case 0: add(p, "PartitionedCall", inputs, 2, call, 3); break;
    case 1: add(p, "If", inputs, 2, choose, 4); break;
    case 2: add(p, "While", inputs, 2, loop, 3); break;
    default: add(p, "StatefulPartitionedCall", inputs, 2, call, 3); break;
  }
}

static void add_enter(program *p, const uint8_t *node) {
  static const char *const frames[] = {"outer", "inner", "third", "outer"};
  const char *frame = frames[node[2] % 4];
  const rheos_attr attrs[] = {rheos_attr_string("frame_name", frame, strlen(frame)),
                              rheos_attr_bool("is_constant", node[3] % 2 == 1)};
  const rheos_output input = value_at(p, node[1]);
  add(p, "Enter", &input, 1, attrs, 2);
}

static void close_loop(program *p, const uint8_t *node) {
  const rheos_output merge = value_at(p, node[1]), next = value_at(p, node[2]);
  if (merge.graph == NULL) return;
  rheos_status_free(rheos_operation_close_loop(rheos_output_operation(merge), node[3] % 2, next));
}

static void add_queue(program *p, uint8_t name) {
  const rheos_dtype dtype = RHEOS_FLOAT;
  const char text[] = {(char)('a' + name % 2)};
  const rheos_attr attrs[] = {rheos_attr_types("component_types", &dtype, 1),
                              rheos_attr_int("capacity", 1),
                              rheos_attr_string("shared_name", text, 1)};
  add(p, "FIFOQueueV2", NULL, 0, attrs, 3);
}

static void add_plain(program *p, const char *type, const uint8_t *node, size_t num_inputs) {
  const rheos_output inputs[] = {value_at(p, node[1]), value_at(p, node[2]), value_at(p, node[3])};
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attr = rheos_attr_types("component_types", &dtype, 1);
  for (size_t i = 0; i < num_inputs; i++) {
    if (inputs[i].graph == NULL) return;
  }
  const bool dequeues = strcmp(type, "QueueDequeueV2") == 0;
  add(p, type, inputs, num_inputs, &attr, dequeues ? 1 : 0);
}

// The next node waits for what gives a value.
static void add_behind(program *p, const uint8_t *node) {
  const rheos_output value = value_at(p, node[1]);
  if (value.graph == NULL) return;
  const rheos_operation control = rheos_output_operation(value);
  rheos_push_control_dependencies(inside(p)->scope, &control, 1);
  if (node[3] % 2 == 0) {
    add_constant(p, RHEOS_FLOAT, node[2]);
  } else {
    add(p, "ControlTrigger", NULL, 0, NULL, 0);
  }
  rheos_scope_pop(inside(p)->scope);
}

typedef struct plain_op {
  const char *type;
  size_t num_inputs;
} plain_op;

static const plain_op plain_ops[] = {
    {"AddV2", 2},         {"Less", 2},     {"Switch", 2},         {"Exit", 1},
    {"NextIteration", 1}, {"LoopCond", 1}, {"QueueEnqueueV2", 2}, {"QueueDequeueV2", 1},
    {"Identity", 1},      {"Select", 3},   {"CheckNumerics", 1},  {"RefSwitch", 2},
};
enum { NUM_PLAIN = sizeof plain_ops / sizeof *plain_ops };

static void add_merge(program *p, const uint8_t *node) {
  const rheos_output inputs[] = {value_at(p, node[1]), value_at(p, node[2])};
  if (inputs[0].graph != NULL) add(p, "Merge", inputs, 2, NULL, 0);
}

static void add_node(program *p, const uint8_t *node) {
  const uint8_t what = node[0] % (NUM_PLAIN + 12);
  if (what < NUM_PLAIN) {
    add_plain(p, plain_ops[what].type, node, plain_ops[what].num_inputs);
    return;
  }
  switch (what - NUM_PLAIN) {
    case 0: add_merge(p, node); break;
    case 1: add_enter(p, node); break;
    case 2: close_loop(p, node); break;
    case 3: begin_function(p); break;
    case 4: end_function(p, node[1]); break;
    case 5: add_argument(p, node[1]); break;
    case 6: capture(p, node[1]); break;
    case 7: add_call(p, node); break;
    case 8: add_queue(p, node[1]); break;
    case 9: add_behind(p, node); break;
    case 10: add_constant(p, RHEOS_INT32, node[1]); break;
    default: add_constant(p, node[2] % 2 == 1 ? RHEOS_BOOL : RHEOS_FLOAT, node[1]); break;
  }
}

rheos_status *read_as_program(const void *data, size_t size_bytes) {
  program p = {.graph = rheos_graph_new()};
  if (p.graph == NULL) return rheos__out_of_memory();
  p.levels[0].scope = rheos_scope_new(p.graph);
  const uint8_t *bytes = data;
  for (size_t at = 0; p.levels[0].scope != NULL && at + NODE_BYTES <= size_bytes;
       at += NODE_BYTES) {
    add_node(&p, bytes + at);
    rheos_status_free(rheos_scope_finish(inside(&p)->scope));
  }
  while (p.depth > 0) end_function(&p, 0);
  rheos_status *status = p.levels[0].scope != NULL ? rheos_scope_finish(p.levels[0].scope) : NULL;
  rheos_status_free(status);
  status = run_all(p.graph);
  rheos_scope_free(p.levels[0].scope);
  rheos__graph_check(p.graph);
  rheos_graph_unref(p.graph);
  return status;
}

// ---- Programs to begin with

enum {
  ADD,
  LESS,
  SWITCH,
  EXIT,
  NEXT,
  COND,
  ENQUEUE,
  DEQUEUE,
  MERGE = NUM_PLAIN,
  ENTER,
  CLOSE,
  BEGIN,
  END,
  ARGUMENT,
  CAPTURE,
  CALL,
  QUEUE,
  BEHIND,
  INT,
  REAL
};

void flow_program_seeds(take_seed take, void *argument) {
  // Values are numbered from the last one back.
  static const uint8_t loop[] = {
      INT,   5, 0, 0, INT,   1, 0, 0, INT,    0, 0, 0,  // limit, one, start
      ENTER, 2, 0, 1, ENTER, 2, 0, 1, ENTER,  2, 0, 0,  // of limit and one, constant, of start
      MERGE, 0, 0, 0,                                   // and which input it took
      LESS,  1, 4, 0, COND,  0, 0, 0, SWITCH, 3, 0, 0,  // goes on? false, true
      ADD,   0, 7, 0, NEXT,  0, 0, 0, CLOSE,  7, 0, 1, EXIT, 3, 0, 0,
  };
  static const uint8_t functions[] = {
      BEGIN, 0, 0, 0, ARGUMENT, 1, 0, 0, ARGUMENT, 1, 0, 0, LESS, 0, 1, 0,    END,  0, 0, 0,
      BEGIN, 0, 0, 0, ARGUMENT, 1, 0, 0, ARGUMENT, 1, 0, 0, ADD,  0, 1, 0,    END,  0, 0, 0,
      INT,   3, 0, 0, INT,      9, 0, 0, CALL,     0, 1, 1, CALL, 0, 1, 0x24, CALL, 1, 2, 0x31,
  };
  static const uint8_t queues[] = {
      QUEUE,   0, 0, 0, QUEUE,   1, 0, 0, REAL,    7, 0, 0,    BEGIN, 0, 0, 0, CAPTURE, 1, 0, 0,
      CAPTURE, 2, 0, 0, DEQUEUE, 0, 0, 0, ENQUEUE, 1, 0, 0,    END,   0, 0, 0, ENQUEUE, 1, 0, 0,
      DEQUEUE, 1, 0, 0, BEHIND,  0, 3, 0, CALL,    2, 3, 0x30,
  };
  take(argument, loop, sizeof loop);
  take(argument, functions, sizeof functions);
  take(argument, queues, sizeof queues);
}
