// Which calls are lowered, and what became of their outputs. See lowering.h.
#include "format/partition/lowering.h"

#include <stdlib.h>
#include <string.h>

#include "graph/device_name.h"
#include "graph/graph_impl.h"

// ---- Calls and their functions

rheos__call_kind rheos__call_kind_of(const rheos__node *node) {
  static const struct {
    const char *name;
    rheos__call_kind kind;
  } kinds[] = {{"If", RHEOS__CALL_IF},       {"StatelessIf", RHEOS__CALL_IF},
               {"Case", RHEOS__CALL_CASE},   {"StatelessCase", RHEOS__CALL_CASE},
               {"While", RHEOS__CALL_WHILE}, {"StatelessWhile", RHEOS__CALL_WHILE}};
  const rheos__op_def *op = node->signature->op;
  if ((op->flags & RHEOS_OP_CALLS) == 0) return RHEOS__NO_CALL;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(op->name, kinds[i].name) == 0) return kinds[i].kind;
  }
  return (op->flags & RHEOS_OP_IS_CALL) != 0 ? RHEOS__CALL : RHEOS__NO_CALL;
}

static size_t max_functions(const rheos__node *node) {
  const rheos_attr_value *branches = rheos__attrs_find(node->attrs, "branches");
  return branches != NULL ? (size_t)branches->count + 2 : 2;
}

static rheos_status *add_function(rheos_graph *graph, const rheos_func *func,
                                  const rheos__function **functions, size_t *count) {
  RHEOS_TRY(rheos__graph_function(graph, func, &functions[*count]));
  ++*count;
  return NULL;
}

static rheos_status *list_functions(rheos_graph *graph, const rheos__node *node,
                                    const rheos__function **functions, size_t *count) {
  static const char *const names[] = {"f", "then_branch", "else_branch", "cond", "body"};
  bool has_any = false;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const rheos_attr_value *value = rheos__attrs_find(node->attrs, names[i]);
    if (value == NULL || value->kind != RHEOS_ATTR_FUNC) continue;
    RHEOS_TRY(add_function(graph, value->func, functions, count));
    has_any = true;
  }
  const rheos_attr_value *branches = rheos__attrs_find(node->attrs, "branches");
  for (int32_t i = 0; branches != NULL && i < branches->count; i++) {
    RHEOS_TRY(add_function(graph, &branches->funcs[i], functions, count));
    has_any = true;
  }
  if (has_any) return NULL;
  const char *name = node->signature->op->name;
  const rheos_func by_name = {.name = {(char *)(uintptr_t)name, strlen(name)},
                              .attrs = node->attrs->items,
                              .num_attrs = (size_t)node->attrs->count};
  return add_function(graph, &by_name, functions, count);
}

rheos_status *rheos__functions_of_call(rheos_graph *graph, const rheos__node *node,
                                       const rheos__function ***out_functions, size_t *out_count) {
  *out_count = 0;
  *out_functions = rheos__alloc_array(max_functions(node), sizeof **out_functions);
  if (*out_functions == NULL) return rheos__out_of_memory();
  rheos_status *status = list_functions(graph, node, *out_functions, out_count);
  if (status == NULL) return NULL;
  rheos__free(*out_functions);
  *out_functions = NULL;
  *out_count = 0;
  return status;
}

// ---- Which tasks a call asks for

// Of calls in each other that are looked into, and of nodes that are looked at, for one call:
// functions may call themselves. Of calls in each other that are lowered, whose names stand in each
// other too, and of calls in all.
enum { MAX_DEPTH = 64, MAX_LOOKS = 1000000, MAX_LOWERED_DEPTH = 100, MAX_LOWERED = 20000 };

typedef struct asked_task {
  rheos__device_name name;
  bool is_given;
} asked_task;

static asked_task task_of(const char *device) {
  asked_task task = {.is_given = false};
  rheos_status *status = rheos__device_name_parse(device, &task.name);
  if (status != NULL) {  // placing it says what is wrong
    rheos_status_free(status);
    return task;
  }
  task.is_given = task.name.job[0] != '\0' || task.name.replica >= 0 || task.name.task >= 0;
  return task;
}

static bool differ(const asked_task *a, const asked_task *b) {
  const rheos__device_name *x = &a->name, *y = &b->name;
  return (x->job[0] != '\0' && y->job[0] != '\0' && strcmp(x->job, y->job) != 0) ||
         (x->replica >= 0 && y->replica >= 0 && x->replica != y->replica) ||
         (x->task >= 0 && y->task >= 0 && x->task != y->task);
}

// Whether what is asked for is what the task that is known already says.
static bool is_said(const asked_task *known, const asked_task *wanted) {
  const rheos__device_name *x = &known->name, *y = &wanted->name;
  return (y->job[0] == '\0' || strcmp(x->job, y->job) == 0) &&
         (y->replica < 0 || x->replica == y->replica) && (y->task < 0 || x->task == y->task);
}

// The device that the node asks for which makes what a handle or reference is of. What passes it
// on, such as the Enter of a loop that was lowered, may ask for that of a call.
static const char *device_of_handle(const rheos_graph *graph, rheos__edge edge) {
  const rheos__node *node = rheos__graph_node(graph, edge.id);
  for (int32_t i = 0; i < MAX_DEPTH && node->num_inputs > 0; i++) {
    const rheos_dtype dtype = node->outputs[edge.index].dtype;
    int32_t k = 0;
    while (k < node->num_inputs) {
      const rheos__edge input = node->edges[k];
      if (rheos__graph_node(graph, input.id)->outputs[input.index].dtype == dtype) break;
      k++;
    }
    if (k == node->num_inputs) break;
    edge = node->edges[k];
    node = rheos__graph_node(graph, edge.id);
  }
  return node->device;
}

static bool is_bound(rheos_dtype dtype) {
  return dtype == RHEOS_RESOURCE || rheos_dtype_is_ref(dtype);
}

// Whether variables that the call is given are elsewhere than it or than each other.
static bool is_given_far(const rheos_graph *graph, const rheos__node *node) {
  asked_task known = task_of(node->device);
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const rheos__edge edge = node->edges[i];
    if (!is_bound(rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype)) continue;
    const asked_task task = task_of(device_of_handle(graph, edge));
    if (!task.is_given) continue;
    if (known.is_given && differ(&known, &task)) return true;
    known = task;
  }
  return false;
}

typedef struct search {
  asked_task known;  // where the call is
  int32_t num_looks;
  bool found;  // a node that asks for another task
} search;

static rheos_status *look_at(search *s, rheos_graph *graph, const rheos__node *node, int32_t depth);

static bool goes_on(const search *s) { return !s->found && s->num_looks < MAX_LOOKS; }

static rheos_status *look_into(search *s, rheos_graph *graph, const rheos__node *call,
                               int32_t depth) {
  const rheos__function **functions;
  size_t count;
  RHEOS_TRY(rheos__functions_of_call(graph, call, &functions, &count));
  rheos_status *status = NULL;
  for (size_t k = 0; k < count; k++) {
    rheos_graph *body = functions[k]->graph;
    const int32_t num_nodes = rheos_graph_num_operations(body);
    for (int32_t i = 0; i < num_nodes && status == NULL && goes_on(s); i++) {
      status = look_at(s, body, rheos__graph_node(body, i), depth + 1);
    }
  }
  rheos__free(functions);
  return status;
}

static rheos_status *look_at(search *s, rheos_graph *graph, const rheos__node *node,
                             int32_t depth) {
  const asked_task task = task_of(node->device);
  s->num_looks++;
  s->found = task.is_given && !is_said(&s->known, &task);
  if (s->found || depth >= MAX_DEPTH || rheos__call_kind_of(node) == RHEOS__NO_CALL) return NULL;
  return look_into(s, graph, node, depth);
}

static rheos_status *is_spread(rheos_graph *graph, const rheos__node *call, bool *out_is) {
  search s = {.known = task_of(call->device)};
  *out_is = is_given_far(graph, call);
  if (*out_is) return NULL;
  RHEOS_TRY(look_into(&s, graph, call, 0));
  *out_is = s.found;
  return NULL;
}

// ---- All calls

static const rheos__lowered_call *find_call(const rheos__lowered_calls *calls, int32_t id) {
  size_t low = 0, high = calls->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (calls->items[middle].id < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < calls->count && calls->items[low].id == id ? &calls->items[low] : NULL;
}

// Where that is which was the output of a call, if it was lowered; else the edge itself.
static rheos__edge lowered_edge(const rheos__lowered_calls *calls, rheos__edge edge) {
  for (;;) {
    const rheos__lowered_call *call = edge.index >= 0 ? find_call(calls, edge.id) : NULL;
    if (call == NULL || edge.index >= call->num_outputs) return edge;
    edge = call->outputs[edge.index];
  }
}

// The edge that "name:index", or "name" for output 0, was; false if that is no lowered call.
static bool find_lowered(const rheos__lowered_calls *calls, rheos_graph *graph, const char *name,
                         rheos__edge *out_edge) {
  const char *colon = strrchr(name, ':');
  char *node = rheos__strndup(name, colon != NULL ? (size_t)(colon - name) : strlen(name));
  if (node == NULL) return false;
  const rheos_operation operation = rheos_graph_operation(graph, node);
  rheos__free(node);
  const rheos__lowered_call *call = operation.graph != NULL ? find_call(calls, operation.id) : NULL;
  if (call == NULL) return false;
  char *end = NULL;
  const long index = colon != NULL ? strtol(colon + 1, &end, 10) : 0;
  if ((end != NULL && *end != '\0') || index < 0 || index >= call->num_outputs) return false;
  *out_edge = lowered_edge(calls, call->outputs[index]);
  return true;
}

rheos_status *rheos__lowered_output(const rheos__lowered_calls *calls, rheos_graph *graph,
                                    const char *name, rheos_output *out_output) {
  rheos__edge edge;
  if (calls->count == 0 || !find_lowered(calls, graph, name, &edge)) {
    return rheos_graph_output(graph, name, out_output);
  }
  *out_output = (rheos_output){graph, edge.id, edge.index};
  return NULL;
}

void rheos__lowered_calls_deinit(rheos__lowered_calls *calls) {
  for (size_t i = 0; i < calls->count; i++) rheos__free(calls->items[i].outputs);
  rheos__free(calls->items);
  *calls = (rheos__lowered_calls){0};
}

// How many calls, which were lowered, the node is in.
static int32_t depth_of(const rheos__lowered_calls *calls, int32_t id) {
  size_t low = 0, high = calls->count;
  while (low < high) {  // the first that was lowered when the node was there
    const size_t middle = low + (high - low) / 2;
    if (calls->items[middle].first_behind <= id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < calls->count && id >= calls->items[low].first_made ? calls->items[low].depth : 0;
}

static rheos_status *lower(rheos_graph *graph, int32_t id, rheos__lowered_calls *calls) {
  const int32_t first_made = rheos_graph_num_operations(graph);
  const int32_t num_outputs = rheos__graph_node(graph, id)->num_outputs;
  rheos__edge *outputs = rheos__alloc_array((size_t)num_outputs + 1, sizeof *outputs);
  if (outputs == NULL || !RHEOS_RESERVE(calls->items, calls->capacity, calls->count + 1)) {
    rheos__free(outputs);
    return rheos__out_of_memory();
  }
  rheos_status *status = rheos__lower_call(graph, id, outputs);
  if (status != NULL) {
    rheos__free(outputs);
    return status;
  }
  calls->items[calls->count] =
      (rheos__lowered_call){.id = id,
                            .num_outputs = num_outputs,
                            .outputs = outputs,
                            .first_made = first_made,
                            .first_behind = rheos_graph_num_operations(graph),
                            .depth = depth_of(calls, id) + 1};
  calls->count++;
  return NULL;
}

// Leads inputs of the node to where they are now.
static void lead_inputs(rheos_graph *graph, const rheos__lowered_calls *calls, int32_t id) {
  const rheos__node *node = rheos__graph_node(graph, id);
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const rheos__edge edge = node->edges[i], now = lowered_edge(calls, edge);
    if (now.id != edge.id || now.index != edge.index) rheos__graph_rewire(graph, id, i, now);
  }
}

rheos_status *rheos__lower_calls(rheos_graph *graph, int32_t first, rheos__lowered_calls *calls) {
  const size_t before = calls->count;
  for (int32_t id = first; id < rheos_graph_num_operations(graph); id++) {  // it grows
    const rheos__node *node = rheos__graph_node(graph, id);
    bool spreads = false;
    lead_inputs(graph, calls, id);
    if (rheos__call_kind_of(node) == RHEOS__NO_CALL) continue;
    RHEOS_TRY(is_spread(graph, node, &spreads));
    if (!spreads) continue;
    if (calls->count - before == MAX_LOWERED || depth_of(calls, id) == MAX_LOWERED_DEPTH) {
      return rheos_status_new(RHEOS_UNIMPLEMENTED,
                              "%s lies on several tasks and calls itself, or calls too many others",
                              node->signature->op->name);
    }
    RHEOS_TRY(lower(graph, id, calls));
  }
  // Of nodes before those that were lowered too: loops go back to them.
  const int32_t num_nodes = calls->count > before ? rheos_graph_num_operations(graph) : 0;
  for (int32_t id = 0; id < num_nodes; id++) lead_inputs(graph, calls, id);
  return NULL;
}
