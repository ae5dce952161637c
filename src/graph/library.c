// Functions of a graph, made when they are asked for. See library.h.
#include "graph/library.h"

#include <string.h>

#include "graph/effect_order.h"
#include "graph/graph_impl.h"

struct rheos__library {
  rheos__make_body make_body;
  struct instance {
    rheos_func func;
    rheos__function *function;
    struct instance *next;
    bool is_removed;
  } *instances;  // those that are not removed, and all by what is called
  rheos__intern_set by_func;
  rheos__made_function **made;
  size_t made_capacity, num_made;
  struct gradient {
    const char *function, *gradient;  // interned by the graph
    bool is_made;
  } *gradients;
  size_t gradients_capacity, num_gradients;
};

rheos_graph *rheos__library_graph(rheos_graph *graph) {
  while (graph->outer != NULL) graph = graph->outer;
  return graph;
}

rheos_graph *rheos__graph_new_within(rheos_graph *graph) {
  rheos_graph *inner = rheos_graph_new();
  if (inner != NULL) inner->outer = rheos__library_graph(graph);
  return inner;
}

// The graph is locked.
static rheos_status *make_library(rheos_graph *graph) {
  if (graph->library == NULL) graph->library = rheos__graph_alloc(graph, sizeof *graph->library);
  return graph->library != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__graph_set_body_maker(rheos_graph *graph, rheos__make_body make_body) {
  rheos__graph_lock(graph);
  rheos_status *status = make_library(graph);
  if (status == NULL) graph->library->make_body = make_body;
  rheos__graph_unlock(graph);
  return status;
}

void rheos__library_free(rheos_graph *graph) {
  rheos__library *library = graph->library;
  if (library == NULL) return;
  for (struct instance *at = library->instances; at != NULL; at = at->next) {
    rheos_graph_unref(at->function->graph);
  }
  rheos__free(library->by_func.slots);
  for (size_t i = 0; i < library->num_made; ++i) {
    rheos_graph_unref(library->made[i]->function.graph);
  }
  rheos__free(library->made);
  rheos__free(library->gradients);
}

// ---- A body's arguments, results and targets

static bool has_flag(const rheos__node *node, unsigned flag) {
  return (node->signature->op->flags & flag) != 0;
}

// What has effects is run by each call, whoever needs its outputs. What only gives a cell has none.
bool rheos__has_effects(const rheos__node *node) {
  const unsigned quiet = RHEOS_OP_ARG | RHEOS_OP_RETVAL | RHEOS_OP_PLACEHOLDER | RHEOS_OP_VARIABLE;
  return has_flag(node, RHEOS_OP_STATEFUL | RHEOS_OP_WRITES) && !has_flag(node, quiet);
}

typedef struct counts {
  int32_t args, results, targets;
} counts;

static counts count_nodes(const rheos_graph *body) {
  counts n = {0};
  for (int32_t id = 0; id < rheos_graph_num_operations(body); ++id) {
    const rheos__node *node = rheos__graph_node(body, id);
    n.args += has_flag(node, RHEOS_OP_ARG);
    n.results += has_flag(node, RHEOS_OP_RETVAL);
    n.targets += rheos__has_effects(node);
  }
  return n;
}

// Puts an argument or result in the place that its index names.
static rheos_status *put(rheos__edge *edges, int32_t count, const rheos__node *node,
                         rheos__edge edge, const char *what) {
  const int64_t index = rheos__attr_int(node->attrs, "index");
  if (index >= 0 && index < count && edges[index].id < 0) {
    edges[index] = edge;
    return NULL;
  }
  return RHEOS_INVALID("%s %lld of the function is there twice, or one before it is missing", what,
                       (long long)index);
}

static rheos_status *list_nodes(rheos__function *function) {
  rheos_graph *body = function->graph;
  const counts n = count_nodes(body);
  const int32_t num_listed = function->num_targets;
  const size_t num_edges = (size_t)n.args + (size_t)n.results;
  rheos__edge *edges = rheos__graph_alloc(body, (num_edges + 1) * sizeof *edges);
  int32_t *targets =
      rheos__graph_alloc(body, ((size_t)num_listed + (size_t)n.targets + 1) * sizeof *targets);
  if (edges == NULL || targets == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < num_edges; ++i) edges[i].id = -1;
  if (num_listed > 0) memcpy(targets, function->targets, (size_t)num_listed * sizeof *targets);
  function->args = edges;
  function->results = edges + n.args;
  function->targets = targets;
  function->num_args = n.args;
  function->num_results = n.results;
  for (int32_t id = 0; id < rheos_graph_num_operations(body); ++id) {
    const rheos__node *node = rheos__graph_node(body, id);
    if (has_flag(node, RHEOS_OP_ARG)) {
      RHEOS_TRY(put(function->args, n.args, node, (rheos__edge){id, 0}, "argument"));
    } else if (has_flag(node, RHEOS_OP_RETVAL)) {
      RHEOS_TRY(put(function->results, n.results, node, node->edges[0], "result"));
    } else if (rheos__has_effects(node)) {
      targets[function->num_targets++] = id;
    }
  }
  return NULL;
}

// ---- Instances

static uint64_t hash_of_func(const rheos_func *func) {
  return rheos__attr_hash(0, &(rheos_attr){"f", {.kind = RHEOS_ATTR_FUNC, .func = func}});
}

static uint64_t hash_of_instance(const void *candidate) {
  return hash_of_func(&((const struct instance *)candidate)->func);
}

static bool same_func(const void *candidate, const void *wanted) {
  const rheos_func *func = &((const struct instance *)candidate)->func;
  return rheos__attr_value_equal(&(rheos_attr_value){.kind = RHEOS_ATTR_FUNC, .func = func},
                                 &(rheos_attr_value){.kind = RHEOS_ATTR_FUNC, .func = wanted});
}

static rheos_status *make_function(rheos_graph *graph, const rheos_func *func,
                                   rheos__function **out_function) {
  rheos__function *function = rheos__graph_alloc(graph, sizeof *function);
  char *name = rheos__graph_alloc(graph, func->name.size_bytes + 1);
  if (function == NULL || name == NULL) return rheos__out_of_memory();
  memcpy(name, func->name.data, func->name.size_bytes);
  *function = (rheos__function){.name = name, .graph = rheos_graph_new()};
  if (function->graph == NULL) return rheos__out_of_memory();
  function->graph->outer = graph;
  rheos_status *status = graph->library->make_body(graph, func, function);
  if (status == NULL) status = list_nodes(function);
  if (status == NULL) {
    *out_function = function;
    return NULL;
  }
  rheos_graph_unref(function->graph);
  return status;
}

static rheos__made_function *find_made(const rheos_graph *graph, const char *name, size_t length) {
  const rheos__library *library = graph->library;
  for (size_t i = 0; library != NULL && i < library->num_made; ++i) {
    const char *of_made = library->made[i]->function.name;
    if (strlen(of_made) == length && memcmp(of_made, name, length) == 0) return library->made[i];
  }
  return NULL;
}

const rheos__made_function *rheos__library_find_made(const rheos_graph *graph, const char *name) {
  return find_made(graph, name, strlen(name));
}

rheos_status *rheos__other_function(const char *name) {
  return RHEOS_INVALID(
      "Cannot add function '%s' because a different function with the same name already exists.",
      name);
}

static rheos_status *find_function(rheos_graph *graph, const rheos_func *func,
                                   rheos__function **out_function) {
  rheos__library *library = graph->library;
  rheos__made_function *made = find_made(graph, func->name.data, func->name.size_bytes);
  if (made != NULL) {
    *out_function = &made->function;
    return NULL;
  }
  if (library == NULL || library->make_body == NULL) {
    return rheos_status_new(RHEOS_NOT_FOUND, "Function %.*s is not defined.",
                            (int)func->name.size_bytes, func->name.data);
  }
  const void **slot = rheos__intern_find(&library->by_func, hash_of_func(func), same_func, func);
  const struct instance *known = slot != NULL ? *slot : NULL;
  if (known != NULL && !known->is_removed) {
    *out_function = known->function;
    return NULL;
  }
  // The caller's may be of a graph that goes before this one.
  const rheos_attr item = {"f", {.kind = RHEOS_ATTR_FUNC, .func = func}};
  const rheos__attrs *kept = rheos__intern_attrs(graph, &item, 1);
  if (kept == NULL) return rheos__out_of_memory();
  func = kept->items[0].value.func;
  struct instance *instance = rheos__graph_alloc(graph, sizeof *instance);
  if (instance == NULL) return rheos__out_of_memory();
  RHEOS_TRY(make_function(graph, func, out_function));
  // Making a body may have made others: the slot is looked for now.
  slot =
      rheos__intern_slot(&library->by_func, hash_of_func(func), same_func, hash_of_instance, func);
  if (slot == NULL) {
    rheos_graph_unref((*out_function)->graph);
    return rheos__out_of_memory();
  }
  *instance = (struct instance){*func, *out_function, library->instances, false};
  library->instances = instance;
  if (*slot == NULL) library->by_func.count++;
  *slot = instance;
  return NULL;
}

// ---- Functions that programs make

static rheos__arg *args_of(rheos_graph *graph, const rheos__function *function, bool is_result) {
  const int32_t count = is_result ? function->num_results : function->num_args;
  const rheos__made_function *made = (const rheos__made_function *)function;
  rheos__arg *args = rheos__graph_alloc(graph, ((size_t)count + 1) * sizeof *args);
  for (int32_t i = 0; args != NULL && i < count; ++i) {
    const char *name = is_result ? made->result_names[i] : made->arg_names[i];
    args[i] = (rheos__arg){.name = rheos__intern_text(graph, name, strlen(name)),
                           .dtype = is_result ? rheos__function_result_dtype(function, i)
                                              : rheos__function_arg_dtype(function, i),
                           .type_attr = -1,
                           .number_attr = -1,
                           .type_list_attr = -1};
    if (args[i].name == NULL) return NULL;
  }
  return args;
}

// The function's name as an op.
static rheos_status *add_call_op(rheos_graph *graph, rheos__made_function *made) {
  const rheos__function *function = &made->function;
  struct own_op {
    rheos__op_def op;
    rheos__signature signature;
  } *own = rheos__graph_alloc(graph, sizeof *own);
  const rheos__arg *inputs = args_of(graph, function, false);
  const rheos__arg *outputs = args_of(graph, function, true);
  if (own == NULL || inputs == NULL || outputs == NULL) return rheos__out_of_memory();
  own->op = (rheos__op_def){.name = function->name,
                            .signature = "",
                            .doc = "",
                            .flags = RHEOS_OP_CALLS | RHEOS_OP_IS_CALL | RHEOS_OP_ANY_MEMORY |
                                     (made->is_stateful ? RHEOS_OP_STATEFUL | RHEOS_OP_WRITES : 0),
                            .gradient = rheos__gradient_call_by_name,
                            .prepare = rheos__prepare_call_by_name};
  own->signature = (rheos__signature){.op = &own->op,
                                      .inputs = inputs,
                                      .num_inputs = function->num_args,
                                      .outputs = outputs,
                                      .num_outputs = function->num_results};
  made->op = &own->op;
  return rheos__graph_add_signature(graph, &own->signature);
}

static rheos_status *add_made(rheos_graph *graph, rheos__made_function *made) {
  RHEOS_TRY(make_library(graph));
  rheos__library *library = graph->library;
  if (rheos__graph_signature(graph, made->function.name) != NULL) {
    return rheos__other_function(made->function.name);
  }
  if (!RHEOS_RESERVE(library->made, library->made_capacity, library->num_made + 1)) {
    return rheos__out_of_memory();
  }
  RHEOS_TRY(add_call_op(graph, made));
  rheos_graph_ref(made->function.graph);
  library->made[library->num_made++] = made;
  return NULL;
}

typedef struct called_list {
  const rheos__function **items;
  size_t count, capacity;
} called_list;

static rheos_status *note_called(const rheos_graph *graph, const char *name, size_t length,
                                 called_list *list) {
  const rheos__made_function *made = find_made(graph, name, length);
  for (size_t i = 0; made != NULL && i < list->count; ++i) {
    if (list->items[i] == &made->function) return NULL;
  }
  if (made == NULL) return NULL;
  if (!RHEOS_RESERVE(list->items, list->capacity, list->count + 1)) return rheos__out_of_memory();
  list->items[list->count++] = &made->function;
  return NULL;
}

static rheos_status *note_called_by(const rheos_graph *graph, const rheos__node *node,
                                    called_list *list) {
  const rheos__op_def *op = node->signature->op;
  if ((op->flags & RHEOS_OP_CALLS) == 0) return NULL;
  RHEOS_TRY(note_called(graph, op->name, strlen(op->name), list));
  for (int32_t i = 0; i < node->attrs->count; ++i) {
    const rheos_attr_value *value = &node->attrs->items[i].value;
    const bool is_one = value->kind == RHEOS_ATTR_FUNC;
    const rheos_func *funcs = is_one ? value->func : value->funcs;
    if (!is_one && value->kind != RHEOS_ATTR_LIST_FUNC) continue;
    for (int32_t k = 0; k < (is_one ? 1 : value->count); ++k) {
      RHEOS_TRY(note_called(graph, funcs[k].name.data, funcs[k].name.size_bytes, list));
    }
  }
  return NULL;
}

// Has the body keep what it calls. A function is of later make than what it keeps, so none keeps
// itself.
static rheos_status *keep_called(const rheos_graph *graph, rheos_graph *body) {
  called_list list = {0};
  rheos_status *status = NULL;
  const int32_t count = rheos_graph_num_operations(body);
  for (int32_t id = 0; id < count && status == NULL; ++id) {
    status = note_called_by(graph, rheos__graph_node(body, id), &list);
  }
  const size_t bytes = list.count * sizeof *list.items;
  if (status == NULL && list.count > 0) {
    body->called = rheos__graph_alloc(body, bytes);
    if (body->called == NULL) status = rheos__out_of_memory();
  }
  for (size_t i = 0; status == NULL && i < list.count; ++i) {
    rheos_graph_ref(list.items[i]->graph);
    body->called[body->num_called++] = list.items[i];
  }
  rheos__free(list.items);
  return status;
}

rheos_status *rheos__library_add(rheos_graph *graph, rheos__made_function *made) {
  rheos__graph_lock(graph);
  rheos_status *status = keep_called(graph, made->function.graph);
  if (status == NULL) status = add_made(graph, made);
  rheos__graph_unlock(graph);
  return status;
}

static void forget(rheos__graph_slot *slot, rheos_graph *graph, const rheos__function *function) {
  if (slot->forget != NULL) slot->forget(graph, function);
}

static void remove_made(rheos_graph *graph, rheos__made_function *made) {
  rheos__library *library = graph->library;
  forget(&graph->autodiff_slot, graph, &made->function);
  size_t i = 0;
  while (library->made[i] != made) i++;
  library->num_made--;
  memmove(&library->made[i], &library->made[i + 1], (library->num_made - i) * sizeof(made));
  made->op->flags |= RHEOS_OP_REMOVED;
  atomic_store(&made->function.is_removed, true);
}

static struct instance *take_instance(rheos__library *library, const char *name) {
  struct instance **link = &library->instances;
  while (*link != NULL && strcmp((*link)->function->name, name) != 0) link = &(*link)->next;
  struct instance *found = *link;
  if (found != NULL) *link = found->next;
  return found;
}

static void forget_said_gradient(rheos__library *library, const char *function) {
  for (size_t i = 0; i < library->num_gradients; ++i) {
    if (strcmp(library->gradients[i].function, function) != 0) continue;
    library->gradients[i] = library->gradients[--library->num_gradients];
    return;
  }
}

// Of a function that came with a file; gives its instances, whose bodies are to be let go of.
static struct instance *remove_read(rheos_graph *graph, const char *name) {
  struct instance *all = NULL, *one;
  while ((one = take_instance(graph->library, name)) != NULL) {
    one->is_removed = true;
    forget(&graph->autodiff_slot, graph, one->function);
    atomic_store(&one->function->is_removed, true);
    one->next = all;
    all = one;
  }
  const rheos__op_def *op = rheos__graph_signature(graph, name)->op;
  const rheos__function uncalled = {.name = op->name};
  forget(&graph->autodiff_slot, graph, &uncalled);
  forget(&graph->format_slot, graph, &uncalled);
  forget_said_gradient(graph->library, name);
  ((rheos__op_def *)(uintptr_t)op)->flags |= RHEOS_OP_REMOVED;  // the graph's own
  return all;
}

bool rheos__library_has(rheos_graph *graph, const char *name) {
  const rheos__signature *signature = rheos__graph_signature(graph, name);
  return signature != NULL && signature->op->prepare == rheos__prepare_call_by_name;
}

rheos_status *rheos__library_remove(rheos_graph *graph, const char *name) {
  graph = rheos__library_graph(graph);
  rheos__graph_lock(graph);
  const bool is_there = rheos__library_has(graph, name);
  rheos__made_function *made = find_made(graph, name, strlen(name));
  struct instance *read = NULL;
  if (made != NULL) {
    remove_made(graph, made);
  } else if (is_there) {
    read = remove_read(graph, name);
  }
  rheos__graph_unlock(graph);
  if (!is_there) {
    return rheos_status_new(RHEOS_NOT_FOUND, "the library has no function %s", name);
  }
  if (made != NULL) rheos_graph_unref(made->function.graph);
  while (read != NULL) {
    rheos_graph *body = read->function->graph;
    read = read->next;
    rheos_graph_unref(body);
  }
  return NULL;
}

const rheos__made_function *rheos__library_made_at(const rheos_graph *graph, size_t index) {
  const rheos__library *library = graph->library;
  return library != NULL && index < library->num_made ? library->made[index] : NULL;
}

// ---- Gradients of functions

static struct gradient *find_gradient(const rheos_graph *graph, const char *function) {
  const rheos__library *library = graph->library;
  for (size_t i = 0; library != NULL && i < library->num_gradients; ++i) {
    if (strcmp(library->gradients[i].function, function) == 0) return &library->gradients[i];
  }
  return NULL;
}

static rheos_status *set_gradient(rheos_graph *graph, struct gradient said) {
  RHEOS_TRY(make_library(graph));
  const struct gradient *known = find_gradient(graph, said.function);
  if (known != NULL && strcmp(known->gradient, said.gradient) == 0) return NULL;
  if (known != NULL) {
    return RHEOS_INVALID(
        "Cannot assign gradient function '%s' to '%s' because it already has gradient function "
        "'%s'",
        said.gradient, said.function, known->gradient);
  }
  rheos__library *library = graph->library;
  said.function = rheos__intern_text(graph, said.function, strlen(said.function));
  said.gradient = rheos__intern_text(graph, said.gradient, strlen(said.gradient));
  if (said.function == NULL || said.gradient == NULL ||
      !RHEOS_RESERVE(library->gradients, library->gradients_capacity, library->num_gradients + 1)) {
    return rheos__out_of_memory();
  }
  library->gradients[library->num_gradients++] = said;
  return NULL;
}

rheos_status *rheos__library_set_gradient(rheos_graph *graph, const char *function,
                                          const char *gradient, bool is_made) {
  graph = rheos__library_graph(graph);
  rheos__graph_lock(graph);
  rheos_status *status = set_gradient(graph, (struct gradient){function, gradient, is_made});
  rheos__graph_unlock(graph);
  return status;
}

const char *rheos__library_gradient_of(const rheos_graph *graph, const char *function) {
  const struct gradient *found = find_gradient(graph, function);
  return found != NULL ? found->gradient : NULL;
}

bool rheos__library_made_gradient_at(const rheos_graph *graph, size_t index,
                                     const char **out_function, const char **out_gradient) {
  const rheos__library *library = graph->library;
  for (size_t i = 0; library != NULL && i < library->num_gradients; ++i) {
    const struct gradient *gradient = &library->gradients[i];
    if (!gradient->is_made || index-- > 0) continue;
    *out_function = gradient->function;
    *out_gradient = gradient->gradient;
    return true;
  }
  return false;
}

// Of a body, which does not change: what it keeps.
static const rheos__function *find_called(const rheos_graph *body, const rheos_func *func) {
  for (size_t i = 0; i < body->num_called; ++i) {
    const char *name = body->called[i]->name;
    const size_t length = func->name.size_bytes;
    if (strlen(name) == length && memcmp(name, func->name.data, length) == 0) {
      return body->called[i];
    }
  }
  return NULL;
}

rheos_status *rheos__graph_function(rheos_graph *graph, const rheos_func *func,
                                    const rheos__function **out_function) {
  *out_function = find_called(graph, func);
  if (*out_function != NULL) return NULL;
  graph = rheos__library_graph(graph);
  rheos__function *function = NULL;
  rheos__graph_lock(graph);
  rheos_status *status = find_function(graph, func, &function);
  rheos__graph_unlock(graph);
  *out_function = function;
  return status;
}

// ---- Waiting

enum { HOLDS_NOT_KNOWN = 0, HOLDS_KNOWN = 8 };  // the latter beside how it holds
enum { MAX_HOLDING_DEPTH = 64 };                // of functions in each other that are looked into
enum {
  HOLDS_IN_ALL_WAYS = RHEOS__HELD_BY_WAITING | RHEOS__HELD_BY_PROGRAM | RHEOS__HAS_LOOSE_EFFECTS
};

static unsigned node_holds(rheos_graph *graph, const rheos__node *node, int depth);

static unsigned function_holds(rheos_graph *graph, const rheos_func *func, int depth) {
  const rheos__function *found;
  rheos_status *status = rheos__graph_function(graph, func, &found);
  if (status != NULL || depth == MAX_HOLDING_DEPTH) {
    rheos_status_free(status);
    return 0;
  }
  rheos__function *function = (rheos__function *)(uintptr_t)found;
  const int8_t known = atomic_load_explicit(&function->holds, memory_order_relaxed);
  if (known != HOLDS_NOT_KNOWN) return (unsigned)known & HOLDS_IN_ALL_WAYS;
  atomic_store_explicit(&function->holds, HOLDS_KNOWN, memory_order_relaxed);  // it may call itself
  unsigned holds = 0;
  const int32_t count = rheos_graph_num_operations(function->graph);
  for (int32_t id = 0; id < count && holds != HOLDS_IN_ALL_WAYS; ++id) {
    holds |= node_holds(function->graph, rheos__graph_node(function->graph, id), depth + 1);
  }
  atomic_store_explicit(&function->holds, (int8_t)(HOLDS_KNOWN | holds), memory_order_relaxed);
  return holds;
}

static unsigned called_holds(rheos_graph *graph, const rheos__node *node, int depth) {
  const rheos__op_def *op = node->signature->op;
  if (op->prepare == rheos__prepare_call_by_name) {
    const rheos_func func = {.name = {(char *)(uintptr_t)op->name, strlen(op->name)},
                             .attrs = node->attrs->items,
                             .num_attrs = (size_t)node->attrs->count};
    return function_holds(graph, &func, depth);
  }
  unsigned holds = 0;
  for (int32_t i = 0; i < node->attrs->count; ++i) {
    const rheos_attr_value *value = &node->attrs->items[i].value;
    if (value->kind == RHEOS_ATTR_FUNC) holds |= function_holds(graph, value->func, depth);
    if (value->kind != RHEOS_ATTR_LIST_FUNC) continue;
    for (int32_t k = 0; k < value->count; ++k) {
      holds |= function_holds(graph, &value->funcs[k], depth);
    }
  }
  return holds;
}

static unsigned node_holds(rheos_graph *graph, const rheos__node *node, int depth) {
  const unsigned flags = node->signature->op->flags;
  unsigned holds = 0;
  if ((flags & RHEOS_OP_WAITS) != 0) holds |= RHEOS__HELD_BY_WAITING;
  if ((flags & RHEOS_OP_CALLS_PROGRAM) != 0) holds |= RHEOS__HELD_BY_PROGRAM;
  if ((flags & RHEOS_OP_CALLS) == 0) {
    return rheos__has_loose_effects(graph, node) ? holds | RHEOS__HAS_LOOSE_EFFECTS : holds;
  }
  const unsigned called = called_holds(graph, node, depth);
  // Who makes a dataset does not call its functions.
  const bool keeps = (flags & RHEOS_OP_TAKES_VARIANTS) != 0;
  return holds | (keeps ? called & RHEOS__HELD_BY_WAITING : called);
}

unsigned rheos__node_holds(rheos_graph *graph, const rheos__node *node) {
  return node_holds(graph, node, 0);
}

static rheos_dtype dtype_at(const rheos__function *function, rheos__edge edge) {
  return rheos_dtype_base(rheos__graph_node(function->graph, edge.id)->outputs[edge.index].dtype);
}

rheos_dtype rheos__function_arg_dtype(const rheos__function *function, int32_t arg) {
  return dtype_at(function, function->args[arg]);
}

rheos_dtype rheos__function_result_dtype(const rheos__function *function, int32_t result) {
  return dtype_at(function, function->results[result]);
}
