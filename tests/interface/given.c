// The values: a graph with variables of both kinds, a session on it, and files in the current
// folder.
#include "interface/given.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/private_device.h"
#include "tensor/tensor.h"

// ---- What lives until the end of a call

typedef void (*release_function)(void *);

enum { MAX_MADE = 512 };

static struct {
  void *memory;
  release_function release;
} made[MAX_MADE];
static int num_made;

// What most calls need is made once a call; all others for each parameter.
static struct {
  rheos_graph *graph, *other_graph;
  rheos_scope *scope;
  rheos_session *session;
  rheos_output x, y, text, resource, other;
  rheos_variable v, w, other_variable;
  rheos_saver saver;
  rheos_operation init;
} common;

static void *made_by(void *memory, release_function release) {
  if (memory == NULL || num_made == MAX_MADE) {
    fprintf(stderr, "what a call needs cannot be made\n");
    abort();
  }
  made[num_made].memory = memory;
  made[num_made++].release = release;
  return memory;
}
#define MADE_BY(handle, release) made_by((void *)(handle), (release_function)(release))

static void must(rheos_status *status) {
  if (status == NULL) return;
  fprintf(stderr, "what a call needs: %s\n", rheos_status_message(status));
  abort();
}

void *kept(const void *bytes, size_t size_bytes) {
  void *memory = MADE_BY(calloc(1, size_bytes), free);
  if (bytes != NULL) memcpy(memory, bytes, size_bytes);
  return memory;
}

void let_go(const void *handle) {
  for (int i = num_made - 1; i >= 0; i--) {
    if (made[i].memory != handle) continue;
    made[i].memory = NULL;  // one reference of several
    return;
  }
}

static bool is_given(const void *handle) {
  for (int i = 0; i < num_made; i++) {
    if (made[i].memory == handle) return true;
  }
  return false;
}

void things_free(void) {
  while (num_made > 0) {
    num_made--;
    if (made[num_made].memory != NULL) made[num_made].release(made[num_made].memory);
  }
  memset(&common, 0, sizeof common);
}

enum { MAX_OUT = 4 };

void drop_out(void *out, release_function release) {
  void **slots = out;
  for (int i = 0; i < MAX_OUT && slots != NULL; i++) {
    if (slots[i] != NULL && !is_given(slots[i])) release(slots[i]);
    slots[i] = NULL;
  }
}

void drop_rheos_fetch(rheos_fetch *fetches) {
  for (int i = 0; i < MAX_OUT && fetches != NULL; i++) {
    if (!is_given(fetches[i].value)) rheos_tensor_unref(fetches[i].value);
  }
}

void drop_rheos_named_tensor(rheos_named_tensor *outputs) {
  for (int i = 0; i < MAX_OUT && outputs != NULL; i++) {
    if (!is_given(outputs[i].value)) rheos_tensor_unref(outputs[i].value);
  }
}

void drop_event_writer(void *writer) { rheos_status_free(rheos_event_writer_close(writer)); }
void drop_record_writer(void *writer) { rheos_status_free(rheos_record_writer_close(writer)); }

void see_status(rheos_status *status) {
  if (status != NULL &&
      (rheos_status_code(status) == RHEOS_OK || *rheos_status_message(status) == '\0')) {
    abort();
  }
  rheos_status_free(status);
}

void see_text(const char *text) {
  if (text != NULL && strlen(text) == SIZE_MAX) abort();  // reads it
}

// ---- Plain values

// Texts lie in memory of at least given_bytes(0) bytes, as functions want that take a size beside.
static const char *kept_text(const char *text) {
  const size_t length = strlen(text);
  char *memory = kept(NULL, length + 64);
  memcpy(memory, text, length);
  return memory;
}

const char *given_text(int choice, const char *usual) {
  char text[5001];
  switch (choice) {
    case 0: break;
    case 1: return NULL;
    case 2: return kept_text("");
    case 3:
      memset(text, 'x', sizeof text - 1);
      text[sizeof text - 1] = '\0';
      return kept_text(text);
    default: return kept_text("\xff\xfe/%s:7^ ../");
  }
  if (strncmp(usual, "golden ", 7) != 0) return kept_text(usual);
  snprintf(text, sizeof text, "%s/tests/golden/%s", RHEOS_SOURCE_DIR, usual + 7);
  return kept_text(text);
}

void *given_out(int choice) { return choice == 0 ? kept(NULL, 1024) : NULL; }
bool given_bool(int choice) { return choice != 0; }

size_t given_count(int choice, size_t element_bytes) {
  const size_t counts[] = {1, 0, SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / element_bytes + 2};
  return counts[choice];
}

size_t given_bytes(int choice) {
  const size_t sizes[] = {16, 0, SIZE_MAX, SIZE_MAX / 2 + 1};
  return sizes[choice];
}

size_t given_room(int choice) {
  const size_t sizes[] = {1024, 0, 1};
  return sizes[choice];
}

int32_t given_length(int choice) {
  const int32_t lengths[] = {1, 0, -1, INT32_MIN};
  return lengths[choice];
}

size_t given_index(int choice) {
  const size_t indices[] = {0, 7, SIZE_MAX, SIZE_MAX / 2 + 1};
  return indices[choice];
}

int given_int(int choice) { return given_int32_t(choice); }
int32_t given_int32_t(int choice) {
  const int32_t numbers[] = {1, 0, -1, INT32_MIN, INT32_MAX};
  return numbers[choice];
}
uint16_t given_uint16_t(int choice) { return (uint16_t)given_int32_t(choice); }
uint32_t given_uint32_t(int choice) { return (uint32_t)given_int32_t(choice); }
int64_t given_int64_t(int choice) {
  const int64_t numbers[] = {1, 0, -1, INT64_MIN, INT64_MAX};
  return numbers[choice];
}
float given_float(int choice) { return (float)given_double(choice); }
double given_double(int choice) {
  const double numbers[] = {0.5, 0, -1e300, (double)INFINITY, (double)NAN};
  return numbers[choice];
}

int given_enum(int choice, int usual) {
  const int numbers[] = {usual, -1, 1000, INT_MAX};
  return numbers[choice];
}

void *given_memory(int choice, const char *name) {
  if (choice == 1) return NULL;
  const bool is_struct = strcmp(name, "args") == 0;
  if (choice == 2 && !is_struct) return (char *)kept(NULL, 256) + 1;  // not aligned
  return kept(NULL, 256);
}

rheos_dtype given_rheos_dtype(int choice) {
  const int dtypes[] = {RHEOS_FLOAT, RHEOS_INVALID_DTYPE, RHEOS_STRING, RHEOS_FLOAT + RHEOS_REF, -1,
                        1000,        RHEOS_VARIANT};
  return (rheos_dtype)dtypes[choice];
}

rheos_shape given_rheos_shape(int choice) {
  const rheos_shape shapes[] = {
      {.rank = 1, .dims = {4}},
      {.rank = 0},
      {.rank = -1},
      {.rank = 100, .dims = {1}},
      {.rank = INT32_MIN},
      {.rank = 2, .dims = {-7, INT64_MIN}},
      {.rank = 8, .dims = {INT64_MAX, INT64_MAX, 3, 3, 3, 3, 3, 3}},
      {.rank = 1, .dims = {INT64_MAX / 2}},
  };
  return shapes[choice];
}

rheos_string given_rheos_string(int choice) {
  if (choice == 0) return (rheos_string){.data = kept("text", 5), .size_bytes = 4};
  return (rheos_string){.data = NULL, .size_bytes = choice == 1 ? 4 : SIZE_MAX};
}

// ---- The graph

static void make_graph(void) {
  if (common.graph != NULL) return;
  common.graph = MADE_BY(rheos_graph_new(), rheos_graph_unref);
  common.scope = MADE_BY(rheos_scope_new(common.graph), rheos_scope_free);
  rheos_scope *s = common.scope;
  const rheos_shape shape = RHEOS_SHAPE(4);
  common.x = rheos_placeholder(s, RHEOS_FLOAT, .shape = &shape, .name = "x");
  common.v = rheos_get_variable_record(s, "v", RHEOS_FLOAT, shape, rheos_ones(), true);
  rheos_graph_use_resource_variables(common.graph, true);
  common.w = rheos_get_variable_record(s, "w", RHEOS_FLOAT, shape, rheos_zeros(), true);
  rheos_graph_use_resource_variables(common.graph, false);
  common.y = rheos_add(s, rheos_mul(s, common.x, common.v.value), common.w.value, .name = "y");
  common.text = rheos_as_string(s, common.x, .name = "text");
  common.resource = common.w.handle;
  common.saver = rheos_saver_new(s, NULL, NULL, 0, NULL);
  common.init = rheos_global_variables_initializer(s);
  must(rheos_scope_finish(s));

  common.other_graph = MADE_BY(rheos_graph_new(), rheos_graph_unref);
  rheos_scope *other = rheos_scope_new(common.other_graph);
  for (int i = 0; i < 100; i++) rheos_no_op(other, .name = "nothing");
  common.other = rheos_placeholder(other, RHEOS_FLOAT, .name = "far");
  common.other_variable =
      rheos_get_variable_record(other, "u", RHEOS_FLOAT, shape, rheos_ones(), true);
  must(rheos_scope_finish(other));
  rheos_scope_free(other);
}

rheos_graph *given_rheos_graph_handle(int choice) {
  make_graph();
  rheos_graph *const graphs[] = {common.graph, NULL, common.other_graph};
  return choice == 1 ? NULL : rheos_graph_ref(MADE_BY(graphs[choice], rheos_graph_unref));
}

rheos_output given_rheos_output(int choice) {
  make_graph();
  const rheos_output outputs[] = {
      common.y,
      {NULL, 0, 0},
      {common.graph, -1, 0},
      {common.graph, INT32_MAX, 0},
      {common.graph, common.y.id, -1},
      {common.graph, common.y.id, INT32_MAX},
      common.other,
      common.text,
      common.resource,
      common.v.handle,
      rheos_operation_output(common.init, 0),
  };
  return outputs[choice];
}

rheos_operation given_rheos_operation(int choice) {
  make_graph();
  const rheos_operation operations[] = {
      common.init,
      {NULL, 0},
      {common.graph, -1},
      {common.graph, INT32_MAX},
      rheos_output_operation(common.other),
      rheos_output_operation(common.v.handle),
  };
  return operations[choice];
}

rheos_variable given_rheos_variable(int choice) {
  make_graph();
  rheos_variable variable = common.v;
  switch (choice) {
    case 1: memset(&variable, 0, sizeof variable); break;
    case 2: variable.index = -1; break;
    case 3: variable.index = INT32_MAX; break;
    case 4: variable = common.other_variable; break;
    case 5: variable.handle = common.text; break;
    case 6: variable.handle = variable.value = given_rheos_output(3); break;
    case 7: variable.handle = common.other; break;
    case 8: variable = common.w; break;
    default: break;
  }
  return variable;
}

rheos_optimizer given_rheos_optimizer(int choice) {
  rheos_optimizer optimizer = rheos_momentum(0.1, 0.9);
  switch (choice) {
    case 1: optimizer.kind = (rheos_optimizer_kind)0; break;
    case 2: optimizer.kind = (rheos_optimizer_kind)1000; break;
    case 3: return rheos_adam((double)NAN);
    case 4: optimizer.learning_rate_tensor = given_rheos_output(6); break;
    case 5: optimizer.learning_rate_tensor = given_rheos_output(7); break;
    case 6: return rheos_adagrad_da(0.1, given_rheos_variable(1));
    case 7: return rheos_adagrad_da(0.1, given_rheos_variable(4));
    case 8: optimizer.name = ":/ "; break;
    case 9: return rheos_ftrl(0.1);
    case 10: optimizer.momentum_tensor = given_rheos_output(3); break;
    case 11: optimizer.prepared[0] = given_rheos_output(3); break;
    default: break;
  }
  return optimizer;
}

rheos_saver given_rheos_saver(int choice) {
  make_graph();
  rheos_saver saver = common.saver;
  if (choice == 1) memset(&saver, 0, sizeof saver);
  if (choice == 2) saver.filename = given_rheos_output(3);
  if (choice == 3) saver.save_path = common.other;
  if (choice == 4) saver.restore = given_rheos_operation(3);
  return saver;
}

rheos_attr given_rheos_attr(int choice) {
  static const int64_t ints[] = {1};
  static const rheos_shape shape = {.rank = 100};
  switch (choice) {
    case 0: return rheos_attr_int("_number", 3);
    case 1: return rheos_attr_int(NULL, 3);
    case 2: return (rheos_attr){.name = "_x", .value = {.kind = (rheos_attr_kind)1000}};
    case 3: return rheos_attr_ints("_ints", ints, -1);
    case 4: return rheos_attr_ints("_ints", NULL, 3);
    case 5: return rheos_attr_shape("_shape", &shape);
    case 6: return rheos_attr_tensor("_tensor", NULL);
    default: return rheos_attr_string("_text", NULL, 3);
  }
}

rheos_item given_rheos_item(int choice) {
  make_graph();
  rheos_item item = {.kind = RHEOS_ITEM_OUTPUT, .id = common.y.id};
  switch (choice) {
    case 1: item.kind = (rheos_item_kind)1000; break;
    case 2: item.id = -1; break;
    case 3: item.id = INT32_MAX; break;
    case 4: item.index = INT32_MAX; break;
    case 5: return (rheos_item){.kind = RHEOS_ITEM_VARIABLE, .index = -1};
    case 6: return (rheos_item){.kind = RHEOS_ITEM_BYTES, .bytes = {NULL, 5}};
    case 7: return (rheos_item){.kind = RHEOS_ITEM_VARIABLE, .index = INT32_MAX};
    default: break;
  }
  return item;
}

rheos_func given_rheos_func(int choice) {
  if (choice == 0) return (rheos_func){.name = {"f", 1}};
  if (choice == 1) return (rheos_func){.name = {NULL, 1}};
  return (rheos_func){.name = {"f", 1}, .num_attrs = 1};
}

rheos_fetch given_rheos_fetch(int choice) {
  return (rheos_fetch){.output = given_rheos_output(choice)};
}

rheos_checkpoint_state given_rheos_checkpoint_state(int choice) {
  rheos_checkpoint_state state = {.model_checkpoint_path = choice == 1 ? NULL : "saved/model"};
  if (choice == 2) state.num_paths = state.num_timestamps = 3;
  return state;
}

// ---- Functions that build branches and loops

static void build_branch(rheos_scope *scope, void *argument, rheos_output *outputs,
                         size_t num_outputs) {
  (void)argument;
  // Huge counts are refused before anything is built.
  for (size_t i = 0; i < num_outputs; i++) outputs[i] = rheos_const_f32(scope, 1);
}
static void build_no_branch(rheos_scope *scope, void *argument, rheos_output *outputs,
                            size_t num_outputs) {
  (void)scope, (void)argument, (void)outputs, (void)num_outputs;
}
rheos_branch_function given_rheos_branch_function(int choice) {
  return choice == 0 ? build_branch : choice == 1 ? NULL : build_no_branch;
}

static rheos_output build_condition(rheos_scope *scope, void *argument,
                                    const rheos_output *variables, size_t num_variables) {
  (void)argument, (void)variables, (void)num_variables;
  return rheos_const_bool(scope, false);
}
static rheos_output build_no_condition(rheos_scope *scope, void *argument,
                                       const rheos_output *variables, size_t num_variables) {
  (void)scope, (void)argument, (void)variables, (void)num_variables;
  return (rheos_output){NULL, 0, 0};
}
rheos_condition_function given_rheos_condition_function(int choice) {
  return choice == 0 ? build_condition : choice == 1 ? NULL : build_no_condition;
}

static void build_body(rheos_scope *scope, void *argument, const rheos_output *variables,
                       rheos_output *next, size_t num_variables) {
  (void)argument;
  for (size_t i = 0; i < num_variables; i++) next[i] = rheos_identity(scope, variables[i]);
}
static void build_no_body(rheos_scope *scope, void *argument, const rheos_output *variables,
                          rheos_output *next, size_t num_variables) {
  (void)scope, (void)argument, (void)variables, (void)next, (void)num_variables;
}
rheos_body_function given_rheos_body_function(int choice) {
  return choice == 0 ? build_body : choice == 1 ? NULL : build_no_body;
}

static void build_row(rheos_scope *scope, void *argument, const rheos_output *rows, size_t num_rows,
                      rheos_output *outputs, size_t num_outputs) {
  (void)argument;
  for (size_t i = 0; i < num_outputs && num_rows > 0; i++) {
    outputs[i] = rheos_identity(scope, rows[0]);
  }
}
static void build_no_row(rheos_scope *scope, void *argument, const rheos_output *rows,
                         size_t num_rows, rheos_output *outputs, size_t num_outputs) {
  (void)scope, (void)argument, (void)rows, (void)num_rows, (void)outputs, (void)num_outputs;
}
rheos_row_function given_rheos_row_function(int choice) {
  return choice == 0 ? build_row : choice == 1 ? NULL : build_no_row;
}

// One, none, one without its flow, one that is a number.
rheos_array given_rheos_array(int choice) {
  const rheos_output x = given_rheos_output(0);
  rheos_array array = {{NULL, 0, 0}, {NULL, 0, 0}, RHEOS_FLOAT};
  if (choice == 3) array = (rheos_array){x, x, RHEOS_FLOAT};
  if (choice == 1 || choice == 3 || x.graph == NULL) return array;
  rheos_scope *scope = rheos_scope_new(x.graph);
  array = rheos_array_new(scope, RHEOS_FLOAT, rheos_const_i32(scope, 3), NULL);
  rheos_status_free(rheos_scope_finish(scope));
  rheos_scope_free(scope);
  if (choice == 2) array.flow = (rheos_output){NULL, 0, 0};
  return array;
}

// ---- Handles

// One with an argument, none, one of another graph, one that is finished.
rheos_function *given_rheos_function_handle(int choice) {
  make_graph();
  if (choice == 1) return NULL;
  rheos_scope *scope = rheos_scope_new(choice == 2 ? common.other_graph : common.graph);
  MADE_BY(scope, rheos_scope_free);
  char name[32];
  static int made;
  snprintf(name, sizeof name, "given_%d", made++);
  rheos_function *function = rheos_function_begin(scope, name, NULL);
  if (function == NULL) abort();
  const rheos_output x = rheos_function_argument(function, "x", RHEOS_FLOAT, RHEOS_SHAPE(2));
  if (choice == 3) {
    rheos_function_result(function, "y", rheos_neg(rheos_function_scope(function), x));
    if (!rheos_function_finish(function, scope)) abort();
  }
  return MADE_BY(function, rheos_function_free);
}

// A branch, none, one of another graph, a loop whose condition is not there yet and one whose is.
rheos_control_context *given_rheos_control_context_handle(int choice) {
  make_graph();
  if (choice == 1) return NULL;
  rheos_scope *scope = rheos_scope_new(choice == 2 ? common.other_graph : common.graph);
  MADE_BY(scope, rheos_scope_free);
  rheos_control_context *branches[2] = {NULL, NULL};
  if (choice != 3 && choice != 4) {
    if (!rheos_cond_begin(scope, rheos_const_bool(scope, true), branches)) abort();
    return branches[1];
  }
  const rheos_output zero = rheos_const_i32(scope, 0);
  rheos_output inside;
  rheos_control_context *loop = rheos_while_begin(scope, &zero, 1, NULL, &inside);
  if (loop == NULL) abort();
  if (choice == 4) {
    rheos_push_control_context(scope, loop);
    rheos_while_body(scope, rheos_less(scope, inside, rheos_const_i32(scope, 2)), &inside);
  }
  return loop;
}

rheos_scope *given_rheos_scope_handle(int choice) {
  make_graph();
  if (choice == 1) return NULL;
  rheos_scope *scope = rheos_scope_new(choice == 3 ? common.other_graph : common.graph);
  if (choice == 2) {
    rheos_scope_fail_take(scope, rheos_status_new(RHEOS_ABORTED, "failed before"));
  }
  return MADE_BY(scope, rheos_scope_free);
}

rheos_session *given_rheos_session_handle(int choice) {
  make_graph();
  if (choice == 1) return NULL;
  const rheos_session_options options = {.num_threads = 1};
  rheos_session *session;
  must(rheos_session_new(choice == 3 ? common.other_graph : common.graph, &options, &session));
  MADE_BY(session, rheos_session_free);
  if (choice == 0) must(rheos_session_run(session, NULL, 0, NULL, 0, &common.init, 1, NULL));
  if (choice == 2) rheos_session_close(session);
  return session;
}

// In a memory that ends the program where anybody reads it but by a copy.
static rheos_tensor *tensor_elsewhere(const float *values) {
  static rheos__device device;
  rheos_tensor *here, *there;
  if (device.kind == NULL) must(private_device_init(&device, 0));
  must(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(4), values, &here));
  must(rheos__tensor_copy_to(here, device.memory, &there));
  rheos_tensor_unref(here);
  return there;
}

rheos_tensor *given_rheos_tensor_handle(int choice) {
  static const float values[4] = {1, 2, 3, 4};
  if (choice == 1) return NULL;
  rheos_tensor *tensor = NULL;
  switch (choice) {
    case 2: must(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(4), &tensor)); break;
    case 3: must(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(0, 3), &tensor)); break;
    case 4: must(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, values, &tensor)); break;
    case 5:
      must(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(1, 2, 2, 1), values, &tensor));
      break;
    case 6: tensor = tensor_elsewhere(values); break;
    default: must(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(4), values, &tensor)); break;
  }
  return MADE_BY(tensor, rheos_tensor_unref);
}

rheos_status *given_rheos_status_handle(int choice) {
  if (choice == 1) return NULL;
  return MADE_BY(rheos_status_new(RHEOS_ABORTED, "given"), rheos_status_free);
}

rheos_host *given_rheos_host_handle(int choice) {
  if (choice == 1) return NULL;
  const rheos_host_options options = {.num_threads = 1};
  rheos_host *host;
  must(rheos_host_new(&options, &host));
  return MADE_BY(host, rheos_host_unref);
}

// NULL too where there is no gRPC.
rheos_server *given_rheos_server_handle(int choice) {
  if (choice == 1) return NULL;
  const rheos_server_options options = {
      .cluster = "{\"worker\": [\"127.0.0.1:0\"]}", .job = "worker", .num_threads = 1};
  rheos_server *server;
  rheos_status *status = rheos_server_new(&options, &server);
  if (rheos_status_code(status) != RHEOS_UNIMPLEMENTED) must(status);
  rheos_status_free(status);
  return server != NULL ? MADE_BY(server, rheos_server_free) : NULL;
}

// There are none without mpirun.
rheos_ranks *given_rheos_ranks_handle(int choice) {
  (void)choice;
  return NULL;
}

rheos_eager *given_rheos_eager_handle(int choice) {
  if (choice == 1) return NULL;
  const rheos_eager_options options = {.num_threads = 1};
  rheos_eager *eager;
  must(rheos_eager_new(&options, &eager));
  return MADE_BY(eager, rheos_eager_free);
}

rheos_op_def *given_rheos_op_def_handle(int choice) {
  return choice == 0 ? (rheos_op_def *)(uintptr_t)rheos_op_def_find(NULL, "MatMul") : NULL;
}

rheos_region *given_rheos_region_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_tensor *x = given_rheos_tensor_handle(choice == 0 ? 0 : 2);
  const rheos_eager_op op = {.type = "Identity", .inputs = &x, .num_inputs = 1};
  rheos_region *region;
  must(rheos_eager_region(given_rheos_eager_handle(0), &op, &region));
  return MADE_BY(region, rheos_region_unref);
}

rheos_tape *given_rheos_tape_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_tape *tape;
  must(rheos_tape_new(given_rheos_eager_handle(0), &tape));
  must(rheos_tape_watch(tape, given_rheos_tensor_handle(0)));
  if (choice == 2) must(rheos_tape_record(tape));
  return MADE_BY(tape, rheos_tape_free);
}

rheos_profile *given_rheos_profile_handle(int choice) {
  return choice == 1 ? NULL : MADE_BY(rheos_profile_new(), rheos_profile_free);
}

rheos_trace *given_rheos_trace_handle(int choice) {
  return choice == 1 ? NULL : MADE_BY(rheos_trace_new(RHEOS_TRACE_STEPS), rheos_trace_free);
}

rheos_cancellation *given_rheos_cancellation_handle(int choice) {
  return choice == 1 ? NULL : MADE_BY(rheos_cancellation_new(), rheos_cancellation_free);
}

static rheos_status *look_away(void *argument, const rheos_seen *seen) {
  (void)argument;
  (void)seen;
  return NULL;
}

rheos_watch *given_rheos_watch_handle(int choice) {
  if (choice == 1) return NULL;
  const rheos_watch_options options = {.seen = look_away};
  rheos_watch *watch;
  must(rheos_session_watch(given_rheos_session_handle(0), &options, &watch));
  return MADE_BY(watch, rheos_watch_free);
}

rheos_run_log *given_rheos_run_log_handle(int choice) {
  return choice == 1 ? NULL
                     : MADE_BY(rheos_run_log_new(given_rheos_graph_handle(0)), rheos_run_log_free);
}

rheos_growth *given_rheos_growth_handle(int choice) {
  return choice == 1 ? NULL : MADE_BY(rheos_growth_new(), rheos_growth_free);
}

rheos_lint *given_rheos_lint_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_lint *lint;
  must(rheos_graph_lint(given_rheos_graph_handle(0), NULL, &lint));
  return MADE_BY(lint, rheos_lint_free);
}

rheos_callable *given_rheos_callable_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_session *session = given_rheos_session_handle(0);
  rheos_callable *callable;
  must(rheos_callable_new(session, &common.x, 1, &common.y, 1, NULL, 0, &callable));
  return MADE_BY(callable, rheos_callable_free);
}

rheos_dataset_iterator *given_rheos_dataset_iterator_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_session *session = given_rheos_session_handle(0);
  rheos_scope *scope = rheos_scope_new(common.graph);
  rheos_output dataset = rheos_dataset_range(scope, 0, 3, 1);
  rheos_scope_free(scope);
  rheos_dataset_iterator *iterator;
  must(rheos_dataset_iterator_new(session, dataset, &iterator));
  return MADE_BY(iterator, rheos_dataset_iterator_free);
}

rheos_event_writer *given_rheos_event_writer_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_event_writer *writer;
  must(rheos_event_writer_open("logs", NULL, &writer));
  return MADE_BY(writer, drop_event_writer);
}

rheos_event_writer_cache *given_rheos_event_writer_cache_handle(int choice) {
  if (choice == 1) return NULL;
  return MADE_BY(rheos_event_writer_cache_new(), rheos_event_writer_cache_free);
}

rheos_event_reader *given_rheos_event_reader_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_event_reader *reader;
  must(rheos_event_reader_open(given_text(0, "golden events/all.tfevents"), &reader));
  return MADE_BY(reader, rheos_event_reader_close);
}

rheos_summary_value *given_rheos_summary_value_handle(int choice) {
  if (choice == 1) return NULL;
  const rheos_summary_value value = {.tag = "t", .node_name = "", .plugin_name = ""};
  return kept(&value, sizeof value);
}

rheos_example_builder *given_rheos_example_builder_handle(int choice) {
  if (choice == 1) return NULL;
  return MADE_BY(rheos_example_builder_new(), rheos_example_builder_free);
}

rheos_example *given_rheos_example_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_example_builder *builder = given_rheos_example_builder_handle(0);
  rheos_example_builder_add_text(builder, "variables", "a text");
  const void *data;
  size_t size_bytes;
  must(rheos_example_builder_example(builder, &data, &size_bytes));
  rheos_example *example;
  must(rheos_example_read(kept(data, size_bytes), size_bytes, &example));
  return MADE_BY(example, rheos_example_free);
}

rheos_feature *given_rheos_feature_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_feature feature = {.dtype = RHEOS_INVALID_DTYPE};
  if (choice == 0) feature = rheos_example_feature(given_rheos_example_handle(0), 0);
  return kept(&feature, sizeof feature);
}

rheos_record_writer *given_rheos_record_writer_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_record_writer *writer;
  must(rheos_record_writer_open("records", RHEOS_NO_COMPRESSION, -1, &writer));
  return MADE_BY(writer, drop_record_writer);
}

rheos_record_reader *given_rheos_record_reader_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_record_reader *reader;
  must(rheos_record_reader_open(given_text(0, "golden events/all.tfevents"), RHEOS_NO_COMPRESSION,
                                &reader));
  return MADE_BY(reader, rheos_record_reader_close);
}

rheos_checkpoint_reader *given_rheos_checkpoint_reader_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_checkpoint_reader *reader;
  must(rheos_checkpoint_reader_open(given_text(0, "golden checkpoints/dtypes"), &reader));
  return MADE_BY(reader, rheos_checkpoint_reader_free);
}

rheos_checkpoint_writer *given_rheos_checkpoint_writer_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_checkpoint_writer *writer;
  must(rheos_checkpoint_writer_open("saved/written", &writer));
  return MADE_BY(writer, rheos_checkpoint_writer_abandon);
}

rheos_checkpoint_keeper *given_rheos_checkpoint_keeper_handle(int choice) {
  if (choice == 1) return NULL;
  make_graph();
  rheos_checkpoint_keeper *keeper;
  must(rheos_checkpoint_keeper_new(common.saver, NULL, &keeper));
  return MADE_BY(keeper, rheos_checkpoint_keeper_free);
}

rheos_npz *given_rheos_npz_handle(int choice) {
  if (choice == 1) return NULL;
  const char *names[] = {"a"};
  rheos_tensor *tensors[] = {given_rheos_tensor_handle(0)};
  void *bytes;
  size_t size_bytes;
  must(rheos_npz_encode(names, tensors, 1, false, &bytes, &size_bytes));
  MADE_BY(bytes, rheos_free);
  rheos_npz *npz;
  must(rheos_npz_open(bytes, size_bytes, &npz));
  return MADE_BY(npz, rheos_npz_free);
}

rheos_meta_graph *given_rheos_meta_graph_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_meta_graph *meta_graph;
  must(rheos_meta_graph_read(given_text(0, "golden meta_graphs/training.meta"), &meta_graph));
  return MADE_BY(meta_graph, rheos_meta_graph_free);
}

rheos_saved_model_def *given_rheos_saved_model_def_handle(int choice) {
  if (choice == 1) return NULL;
  rheos_saved_model_def *def;
  must(rheos_saved_model_read(given_text(0, "golden saved_models/mlp"), &def));
  return MADE_BY(def, rheos_saved_model_def_free);
}

rheos_saved_model *given_rheos_saved_model_handle(int choice) {
  if (choice == 1) return NULL;
  const char *tags[] = {"serve"};
  const rheos_session_options session = {.num_threads = 1};
  const rheos_saved_model_options options = {.session = &session};
  rheos_saved_model *model;
  must(rheos_saved_model_load(given_text(0, "golden saved_models/mlp"), tags, 1, &options, &model));
  return MADE_BY(model, rheos_saved_model_free);
}

rheos_saved_model_builder *given_rheos_saved_model_builder_handle(int choice) {
  if (choice == 1) return NULL;
  static int number;
  char folder[64];
  snprintf(folder, sizeof folder, "model_%d_%d", (int)getpid(), number++);
  rheos_saved_model_builder *builder;
  must(rheos_saved_model_builder_new(folder, &builder));
  return MADE_BY(builder, rheos_saved_model_builder_free);
}

rheos_default_value *given_rheos_default_value_handle(int choice) {
  if (choice == 1) return NULL;
  const rheos_default_value value = {.key = "x"};
  return kept(&value, sizeof value);
}
