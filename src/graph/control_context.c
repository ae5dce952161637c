// What being in a context does to a node. The node is added first, as it was asked for, and then
// its edges are changed: TensorFlow does so too, which gives Switch and Enter nodes names below the
// node's and ids behind it, and shapes that follow from what the program passed.
#include "graph/control_context.h"

#include <string.h>

#include "base/hash.h"
#include "graph/backward_loop.h"
#include "graph/build.h"
#include "graph/graph_impl.h"
#include "graph/handles.h"

static const rheos__edge no_edge = {-1, 0};

static bool is_same(rheos__edge a, rheos__edge b) { return a.id == b.id && a.index == b.index; }

// ---- What a context has seen

static uint64_t hash_of(rheos__edge value) {
  return rheos__hash_mix((uint64_t)(uint32_t)value.id, (uint64_t)(uint32_t)value.index);
}

static uint32_t *slot_of(const rheos__context_values *values, rheos__edge value) {
  size_t mask = values->num_slots - 1;
  size_t at = (size_t)hash_of(value) & mask;
  while (values->slots[at] != 0 && !is_same(values->items[values->slots[at] - 1].value, value)) {
    at = (at + 1) & mask;
  }
  return &values->slots[at];
}

static bool grow_slots(rheos__context_values *values) {
  size_t count = values->num_slots != 0 ? values->num_slots * 2 : 16;
  uint32_t *slots = rheos__alloc_zeroed(count * sizeof *slots);
  if (slots == NULL) return false;
  rheos__free(values->slots);
  values->slots = slots;
  values->num_slots = count;
  for (size_t i = 0; i < values->count; i++) {
    *slot_of(values, values->items[i].value) = (uint32_t)i + 1;
  }
  return true;
}

const rheos__context_value *rheos__values_find(const rheos__context_values *values,
                                               rheos__edge value) {
  if (values->num_slots == 0) return NULL;
  uint32_t at = *slot_of(values, value);
  return at != 0 ? &values->items[at - 1] : NULL;
}

rheos_status *rheos__values_know(rheos__context_values *values, rheos__edge value,
                                 rheos__edge inside) {
  if ((values->count + 1) * 2 > values->num_slots && !grow_slots(values)) {
    return rheos__out_of_memory();
  }
  uint32_t *slot = slot_of(values, value);
  if (*slot == 0) {
    if (!RHEOS_RESERVE(values->items, values->capacity, values->count + 1)) {
      return rheos__out_of_memory();
    }
    values->items[values->count++] = (rheos__context_value){value, no_edge};
    *slot = (uint32_t)values->count;
  }
  if (inside.id >= 0) values->items[*slot - 1].inside = inside;
  return NULL;
}

void rheos__values_deinit(rheos__context_values *values) {
  rheos__free(values->items);
  rheos__free(values->slots);
}

const rheos__context_value *rheos__context_find(const rheos_control_context *context,
                                                rheos__edge value) {
  return rheos__values_find(&context->seen, value);
}

rheos_status *rheos__context_know(rheos_control_context *context, rheos__edge value,
                                  rheos__edge inside) {
  return rheos__values_know(&context->seen, value, inside);
}

void rheos__context_forget(rheos_control_context *context) {
  context->seen.count = 0;
  const size_t size = context->seen.num_slots * sizeof(uint32_t);
  if (size != 0) memset(context->seen.slots, 0, size);
}

static void know(rheos_scope *s, rheos_control_context *context, rheos__edge value,
                 rheos__edge inside) {
  rheos_status *status = rheos__context_know(context, value, inside);
  if (status != NULL) rheos_scope_fail_take(s, status);
}

// All contexts around may use it too.
static void know_outwards(rheos_scope *s, rheos_control_context *context, rheos__edge value) {
  for (; context != NULL; context = context->outer) know(s, context, value, no_edge);
}

// ---- Contexts of a graph

static void free_context(rheos_control_context *context) {
  rheos__values_deinit(&context->seen);
  rheos__backward_loop_free(context->backward);
}

void rheos__contexts_deinit(rheos__contexts *contexts) {
  for (size_t i = 0; i < contexts->count; i++) free_context(contexts->items[i]);
  rheos__free(contexts->items);
  rheos__free(contexts->of_node);
}

static rheos_status *new_context(rheos_scope *s, bool is_while, const char *name, size_t length,
                                 rheos_control_context **out_context) {
  rheos_graph *graph = s->graph;
  rheos__contexts *contexts = &graph->contexts;
  rheos_control_context *context = rheos__graph_alloc(graph, sizeof *context);
  if (context == NULL || !RHEOS_RESERVE(contexts->items, contexts->capacity, contexts->count + 1)) {
    return rheos__out_of_memory();
  }
  *context = (rheos_control_context){.graph = graph,
                                     .outer = s->now.context,
                                     .number = (int32_t)contexts->count + 1,
                                     .is_while = is_while,
                                     .name = rheos__intern_text(graph, name, length),
                                     .pivot = no_edge,
                                     .pred = no_edge,
                                     .pivot_for_pred = no_edge,
                                     .pivot_for_body = no_edge,
                                     .maximum_iterations = no_edge};
  if (context->name == NULL) return rheos__out_of_memory();
  contexts->items[contexts->count++] = context;
  *out_context = context;
  return NULL;
}

// "text", or "text_N" if it is in use, below `parent`.
static rheos_status *take_name(rheos_graph *graph, uint32_t parent, const char *text, size_t length,
                               const char **out_name) {
  uint32_t entry;
  RHEOS_TRY(rheos__names_take(&graph->names, parent, text, length, &entry));
  const size_t size_bytes = rheos__names_format(&graph->names, entry, NULL, 0);
  char *name = rheos__alloc(size_bytes + 1);
  if (name == NULL) return rheos__out_of_memory();
  rheos__names_format(&graph->names, entry, name, size_bytes + 1);
  *out_name = rheos__intern_text(graph, name, size_bytes);
  rheos__free(name);
  return *out_name != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__graph_take_frame(rheos_graph *graph, const char *text, size_t length,
                                      const char **out_name) {
  if (rheos__name_is_valid(0, text, length)) return take_name(graph, 0, text, length, out_name);
  *out_name = rheos__intern_text(graph, text, length);  // as no program of ours names one
  return *out_name != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *new_unique_context(rheos_scope *s, bool is_while, const char *base,
                                        rheos_control_context **out_context) {
  const char *name;
  RHEOS_TRY(take_name(s->graph, s->now.name, base, strlen(base), &name));
  return new_context(s, is_while, name, strlen(name), out_context);
}

rheos_control_context *rheos__context_new(rheos_scope *s, bool is_while, const char *name) {
  if (s->status != NULL) return NULL;
  rheos_control_context *context = NULL;
  rheos__graph_lock(s->graph);
  rheos_status *status = new_unique_context(s, is_while, name, &context);
  rheos__graph_unlock(s->graph);
  if (status != NULL) rheos_scope_fail_take(s, status);
  return context;
}

rheos_control_context *rheos__context_named(rheos_scope *s, bool is_while, const char *name) {
  if (s->status != NULL) return NULL;
  rheos_control_context *context = NULL;
  rheos__graph_lock(s->graph);
  rheos_status *status = new_context(s, is_while, name, strlen(name), &context);
  rheos__graph_unlock(s->graph);
  if (status != NULL) rheos_scope_fail_take(s, status);
  return context;
}

rheos_control_context *rheos__while_context(rheos_control_context *context) {
  while (context != NULL && !context->is_while) context = context->outer;
  return context;
}

static bool contains(const rheos_control_context *outer, const rheos_control_context *context) {
  while (context != NULL && context != outer) context = context->outer;
  return context == outer;
}

// ---- Contexts of nodes

enum { mark_bits = 3, mark_mask = RHEOS__UNFETCHABLE | RHEOS__UNFEEDABLE };

static uint32_t word_of(const rheos_graph *graph, int32_t id) {
  const rheos__contexts *contexts = &graph->contexts;
  return (size_t)id < contexts->num_nodes ? contexts->of_node[id] : 0;
}

// Room for the node's word; NULL when memory is short.
static uint32_t *word_at(rheos_graph *graph, int32_t id) {
  rheos__contexts *contexts = &graph->contexts;
  if ((size_t)id >= contexts->num_nodes) {
    if (!RHEOS_RESERVE(contexts->of_node, contexts->nodes_capacity, (size_t)id + 1)) return NULL;
    size_t added = contexts->nodes_capacity - contexts->num_nodes;
    memset(contexts->of_node + contexts->num_nodes, 0, added * sizeof(uint32_t));
    contexts->num_nodes = contexts->nodes_capacity;
  }
  return &contexts->of_node[id];
}

static rheos_control_context *context_numbered(const rheos_graph *graph, uint32_t number) {
  return number != 0 ? graph->contexts.items[number - 1] : NULL;
}

bool rheos__graph_is_unordered(const rheos_graph *graph) {
  rheos__graph_lock((rheos_graph *)(uintptr_t)graph);
  const bool is_unordered = graph->contexts.count != 0 || graph->contexts.has_loops;
  rheos__graph_unlock((rheos_graph *)(uintptr_t)graph);
  return is_unordered;
}

rheos_control_context *rheos__context_of(const rheos_graph *graph, int32_t id) {
  rheos__graph_lock((rheos_graph *)(uintptr_t)graph);
  rheos_control_context *context = context_numbered(graph, word_of(graph, id) >> mark_bits);
  rheos__graph_unlock((rheos_graph *)(uintptr_t)graph);
  return context;
}

static bool has_type(const rheos_graph *graph, int32_t id, const char *type) {
  return strcmp(rheos__graph_node(graph, id)->signature->op->name, type) == 0;
}

static bool is_exit(const rheos_graph *graph, int32_t id) {
  return has_type(graph, id, "Exit") || has_type(graph, id, "RefExit");
}

rheos_control_context *rheos__output_context_of(const rheos_graph *graph, int32_t id) {
  rheos_control_context *context = rheos__context_of(graph, id);
  return context != NULL && is_exit(graph, id) ? context->outer : context;
}

rheos_status *rheos__node_mark(rheos_graph *graph, int32_t id, uint32_t marks) {
  rheos__graph_lock(graph);
  uint32_t *word = word_at(graph, id);
  if (word != NULL) *word |= marks;
  rheos__graph_unlock(graph);
  return word != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__node_set_context(rheos_graph *graph, int32_t id,
                                      const rheos_control_context *context) {
  rheos__graph_lock(graph);
  uint32_t *word = word_at(graph, id);
  uint32_t number = context != NULL ? (uint32_t)context->number : 0;
  if (word != NULL) *word = (*word & mark_mask) | number << mark_bits;
  rheos__graph_unlock(graph);
  return word != NULL ? NULL : rheos__out_of_memory();
}

bool rheos__node_take_foreign(rheos_graph *graph, int32_t id) {
  rheos__graph_lock(graph);
  const bool is_foreign = (word_of(graph, id) & RHEOS__FOREIGN) != 0;
  if (is_foreign) graph->contexts.of_node[id] &= ~(uint32_t)RHEOS__FOREIGN;
  rheos__graph_unlock(graph);
  return is_foreign;
}

static void mark(rheos_scope *s, int32_t id, uint32_t marks) {
  rheos_status *status = rheos__node_mark(s->graph, id, marks);
  if (status != NULL) rheos_scope_fail_take(s, status);
}

static void set_context(rheos_scope *s, int32_t id, const rheos_control_context *context) {
  rheos_status *status = rheos__node_set_context(s->graph, id, context);
  if (status != NULL) rheos_scope_fail_take(s, status);
}

// ---- Values from outside

static rheos_output output_of(const rheos_scope *s, rheos__edge edge) {
  return (rheos_output){s->graph, edge.id, edge.index};
}

static bool is_reference(const rheos_graph *graph, rheos__edge edge) {
  return rheos_dtype_is_ref(rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype);
}

rheos_operation rheos__switch_by(rheos_scope *s, rheos__edge data, rheos__edge pred) {
  const rheos_output inputs[] = {output_of(s, data), output_of(s, pred)};
  rheos_push_colocation(s, (rheos_operation){NULL, 0});
  rheos_push_colocation(s, rheos_output_operation(inputs[0]));
  const char *type = is_reference(s->graph, data) ? "RefSwitch" : "Switch";
  rheos_operation operation = rheos__op_n(s, type, "Switch", inputs, 2, NULL, 0);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  return operation;
}

rheos_operation rheos__enter_frame(rheos_scope *s, const rheos_control_context *context,
                                   rheos__edge data, bool is_constant) {
  const rheos_attr attrs[] = {rheos_attr_string("frame_name", context->name, strlen(context->name)),
                              rheos_attr_bool("is_constant", is_constant),
                              rheos_attr_int("parallel_iterations", context->parallel_iterations)};
  rheos_output input = output_of(s, data);
  bool is_ref = is_reference(s->graph, data);
  rheos_push_control_dependencies(s, NULL, 0);
  if (is_ref) rheos_push_colocation(s, rheos_output_operation(input));
  const char *type = is_ref ? "RefEnter" : "Enter";
  rheos_operation operation = rheos__op_n(s, type, type, &input, 1, attrs, 3);
  if (is_ref) rheos_scope_pop(s);
  rheos_scope_pop(s);
  if (operation.graph != NULL) mark(s, operation.id, RHEOS__UNFEEDABLE);
  return operation;
}

// Whether a node in `context` may be waited for by what enters a loop in `around`.
static bool may_wait(rheos_control_context *around, const rheos_control_context *context) {
  const rheos_control_context *loop = rheos__while_context(around);
  for (; around != context; around = around->outer) {
    if (around == NULL || around == loop) return false;
  }
  return true;
}

static bool fix_controls(rheos_scope *s, const rheos_control_context *context, int32_t id) {
  const rheos__node *node = rheos__graph_node(s->graph, id);
  size_t most = rheos__scope_max_controls(s);
  if (most == 0) return true;
  int32_t *controls = rheos__alloc_array(most, sizeof *controls);
  if (controls == NULL || !rheos__scope_reserve_seen(s)) {
    rheos__free(controls);
    return false;
  }
  rheos_output input = output_of(s, node->edges[0]);
  size_t count = rheos__scope_controls(s, &input, 1, controls), kept = 0;
  for (size_t i = 0; i < count; i++) {
    const rheos_control_context *theirs = rheos__output_context_of(s->graph, controls[i]);
    if (may_wait(context->outer, theirs)) controls[kept++] = controls[i];
  }
  bool fits = rheos__graph_add_controls(s->graph, id, controls, kept);
  rheos__free(controls);
  if (fits) rheos__scope_record(s, id);
  return fits;
}

void rheos__fix_enter(rheos_scope *s, rheos_control_context *context, int32_t id) {
  set_context(s, id, context);
  if (!fix_controls(s, context, id)) rheos_scope_fail_take(s, rheos__out_of_memory());
}

// Through a constant Enter.
static rheos__edge enter_value(rheos_scope *s, rheos_control_context *context, rheos__edge value) {
  know(s, context, value, no_edge);
  rheos__edge result = rheos__context_value_of(s, context->outer, value);
  rheos_operation enter = rheos__enter_frame(s, context, result, true);
  if (s->status != NULL) return value;
  rheos__fix_enter(s, context, enter.id);
  result = (rheos__edge){enter.id, 0};
  know(s, context, result, no_edge);
  know(s, context, value, result);
  return result;
}

// Through a Switch.
static rheos__edge switch_value(rheos_scope *s, rheos_control_context *context, rheos__edge value) {
  know(s, context, value, no_edge);
  rheos__edge result = value;
  if (context->outer != NULL) {
    result = rheos__context_value_of(s, context->outer, value);
    know(s, context, result, result);
  }
  rheos_push_control_dependencies(s, NULL, 0);
  rheos_operation operation = rheos__switch_by(s, result, context->pred);
  rheos_scope_pop(s);
  if (s->status != NULL) return value;
  mark(s, operation.id, RHEOS__UNFETCHABLE);
  set_context(s, operation.id, context);
  result = (rheos__edge){operation.id, context->branch};
  know_outwards(s, context, result);
  know(s, context, value, result);
  return result;
}

rheos__edge rheos__context_value_of(rheos_scope *s, rheos_control_context *context,
                                    rheos__edge value) {
  if (context == NULL || s->status != NULL) return value;
  const rheos__context_value *known = rheos__context_find(context, value);
  if (known != NULL) return known->inside.id >= 0 ? known->inside : value;
  if (!context->is_while) return switch_value(s, context, value);
  if (rheos__context_of(s->graph, value.id) == context) return value;
  rheos__backward_loop *backward = rheos__backward_loop_of(s, value.id);
  if (backward == NULL) return enter_value(s, context, value);
  know(s, context, value, no_edge);
  const rheos__edge inside = rheos__backward_value(s, backward, value);
  know(s, context, value, inside);
  return inside;
}

// ---- Nodes

// Takes from the node the control inputs that are outside of the loop around it, and gives them;
// for rheos__free().
static int32_t *take_external_controls(rheos_scope *s, int32_t id, size_t *out_count) {
  rheos_graph *graph = s->graph;
  const rheos__node *node = rheos__graph_node(graph, id);
  const rheos_control_context *loop = rheos__while_context(s->now.context);
  *out_count = 0;
  if (loop == NULL || node->num_control_inputs == 0) return NULL;
  size_t count = (size_t)node->num_control_inputs, num_internal = 0, num_external = 0;
  int32_t *ids = rheos__alloc_array(count, 2 * sizeof *ids);
  if (ids == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    int32_t from = node->edges[(size_t)node->num_inputs + i].id;
    bool is_internal = rheos__while_context(rheos__output_context_of(graph, from)) == loop;
    if (is_internal) ids[count + num_internal++] = from;
    if (!is_internal) ids[num_external++] = from;
  }
  if (num_external != 0) rheos__graph_keep_controls(graph, id, ids + count, num_internal);
  *out_count = num_external;
  return ids;
}

static void add_control(rheos_scope *s, int32_t id, int32_t from) {
  if (!rheos__graph_add_controls(s->graph, id, &from, 1)) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  }
}

int32_t rheos__control_pivot(const rheos_control_context *context) {
  if (!context->is_while) return context->pivot.id;
  return context->pivot_for_body.id >= 0 ? context->pivot_for_body.id : context->pivot_for_pred.id;
}

static void lead_inputs_in(rheos_scope *s, int32_t id) {
  const rheos__node *node = rheos__graph_node(s->graph, id);
  for (int32_t i = 0; i < node->num_inputs && s->status == NULL; i++) {
    rheos__edge value = node->edges[i];
    // The back edge of a loop that is being imported: it will be inside.
    if (has_type(s->graph, id, "Merge") && has_type(s->graph, value.id, "NextIteration")) continue;
    rheos__edge inside = rheos__context_value_of(s, s->now.context, value);
    if (!is_same(inside, value)) rheos__graph_rewire(s->graph, id, i, inside);
  }
}

static bool waits_for_context(const rheos_graph *graph, int32_t id,
                              const rheos_control_context *context) {
  const rheos__node *node = rheos__graph_node(graph, id);
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    int32_t from = node->edges[node->num_inputs + i].id;
    if (contains(context, rheos__context_of(graph, from))) return true;
  }
  return false;
}

// Calls wait for the pivot in any case.
static bool is_call(const rheos_graph *graph, int32_t id) {
  return has_type(graph, id, "SymbolicGradient");
}

static void add_to_branch(rheos_scope *s, int32_t id) {
  rheos_control_context *context = s->now.context;
  const rheos__node *node = rheos__graph_node(s->graph, id);
  bool is_free = node->num_inputs == 0;
  lead_inputs_in(s, id);
  size_t num_external;
  rheos__free(take_external_controls(s, id, &num_external));
  if (is_free ? !waits_for_context(s->graph, id, context) : is_call(s->graph, id)) {
    add_control(s, id, context->pivot.id);
  }
  for (int32_t i = 0; i < node->num_outputs; i++) {
    know_outwards(s, context, (rheos__edge){id, i});
  }
}

static bool is_enter(const rheos_graph *graph, int32_t id) {
  return has_type(graph, id, "Enter") || has_type(graph, id, "RefEnter");
}

// Of the loop itself: what a file's loop takes in belongs to that.
static bool is_constant_enter(const rheos_graph *graph, int32_t id,
                              const rheos_control_context *context) {
  if (!is_enter(graph, id)) return false;
  const rheos__attrs *attrs = rheos__graph_node(graph, id)->attrs;
  return rheos__attr_bool(attrs, "is_constant") &&
         strcmp(rheos__attr_string(attrs, "frame_name"), context->name) == 0;
}

// Whether only what is the same in all trips of the loop leads to the node.
static bool is_free_in_loop(const rheos_graph *graph, int32_t id,
                            const rheos_control_context *context) {
  const rheos__node *node = rheos__graph_node(graph, id);
  if (node->num_control_inputs != 0) return false;
  if (is_call(graph, id)) return true;
  for (int32_t i = 0; i < node->num_inputs; i++) {
    if (!is_constant_enter(graph, node->edges[i].id, context)) return false;
  }
  return true;
}

// Waits for an operation outside of the loop by a value of it that is led in.
static void wait_for_external(rheos_scope *s, int32_t id, int32_t from) {
  if (rheos__graph_node(s->graph, from)->num_outputs == 0) return;
  rheos_control_context *context = s->now.context;
  rheos_push_control_dependencies(s, NULL, 0);
  rheos_push_control_context(s, context);
  rheos_output value = rheos__op_1(s, "Identity", output_of(s, (rheos__edge){from, 0}));
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  if (s->status == NULL) add_control(s, id, value.id);
}

static void add_to_loop(rheos_scope *s, int32_t id) {
  rheos_control_context *context = s->now.context;
  const rheos__node *node = rheos__graph_node(s->graph, id);
  lead_inputs_in(s, id);
  size_t num_external;
  int32_t *external = take_external_controls(s, id, &num_external);
  if (s->status == NULL && is_free_in_loop(s->graph, id, context)) {
    add_control(s, id, rheos__control_pivot(context));
  }
  for (int32_t i = 0; i < node->num_outputs; i++) {
    know(s, context, (rheos__edge){id, i}, no_edge);
  }
  for (size_t i = 0; i < num_external; i++) wait_for_external(s, id, external[i]);
  rheos__free(external);
}

static bool is_about_shape(const rheos_graph *graph, int32_t id) {
  return has_type(graph, id, "Shape") || has_type(graph, id, "Size") || has_type(graph, id, "Rank");
}

void rheos__context_add_node(rheos_scope *s, int32_t id) {
  rheos_control_context *context = s->now.context;
  if (context == NULL) return;
  rheos_graph *graph = s->graph;
  // What is known of a value by its shape is computed where the value is, and kept instead of it.
  const rheos_control_context *own = context;
  if (context->is_while && is_about_shape(graph, id)) {
    const int32_t from = rheos__graph_node(graph, id)->edges[0].id;
    if (rheos__backward_loop_by_context(s, from) != NULL) {
      context = rheos__context_of(graph, from);
    }
  }
  if (context != own) rheos_push_control_context(s, context);
  set_context(s, id, context);
  // What is made for the node is named below it; constants are made without a scope of their own.
  const rheos__node *node = rheos__graph_node(graph, id);
  bool is_const = node->signature == graph->const_signature;
  rheos__push_name(s, is_const ? s->now.name : node->name);
  if (s->status == NULL) (context->is_while ? add_to_loop : add_to_branch)(s, id);
  rheos_scope_pop(s);
  if (context != own) rheos_scope_pop(s);
  if (context->outer != NULL || !is_exit(graph, id)) {
    mark(s, id, RHEOS__UNFETCHABLE | (context->is_while ? RHEOS__UNFEEDABLE : 0));
  }
}

// ---- Inputs

static bool is_among(const char *type, const char *a, const char *b, const char *c, const char *d) {
  return strcmp(type, a) == 0 || strcmp(type, b) == 0 || strcmp(type, c) == 0 ||
         strcmp(type, d) == 0;
}

int64_t rheos__context_wrong_input(const rheos_scope *s, const char *type,
                                   const rheos_output *inputs, size_t num_inputs) {
  rheos_control_context *mine = s->now.context;
  const rheos_control_context *my_loop = rheos__while_context(mine);
  for (size_t i = 0; i < num_inputs; i++) {
    rheos_control_context *theirs = rheos__output_context_of(s->graph, inputs[i].id);
    const rheos_control_context *their_loop = rheos__while_context(theirs);
    if (theirs == mine || their_loop == NULL) continue;
    if (my_loop == NULL && is_among(type, "Enter", "RefEnter", "Switch", "RefSwitch")) continue;
    if (my_loop != NULL && contains(their_loop, my_loop)) continue;
    const rheos_control_context *forward = my_loop != NULL ? rheos__forward_of(my_loop) : NULL;
    if (forward != NULL && contains(their_loop, forward)) continue;
    return (int64_t)i;
  }
  return -1;
}

rheos_status *rheos__context_refuse_input(const rheos_scope *s, const char *name,
                                          rheos_output input) {
  char theirs[256];
  rheos_operation_name(rheos_output_operation(input), theirs, sizeof theirs);
  if (rheos__while_context(s->now.context) != NULL) {
    return RHEOS_INVALID(
        "Cannot use '%s' as input to '%s' because they are in different while loops. "
        "See info log for more details.",
        theirs, name);
  }
  return RHEOS_INVALID(
      "Cannot use '%s' as input to '%s' because '%s' is in a while loop. "
      "See info log for more details.",
      theirs, name, theirs);
}

// ---- The public ones

void rheos_push_control_context(rheos_scope *s, rheos_control_context *context) {
  if (s == NULL) return;
  rheos__push_unchanged(s);
  if (s->status != NULL) return;
  if (context != NULL && context->graph != s->graph) {
    rheos_scope_fail_take(s, RHEOS_INVALID("the context '%s' is of another graph", context->name));
    return;
  }
  s->now.context = context;
}

rheos_control_context *rheos_scope_control_context(const rheos_scope *s) {
  return s != NULL ? s->now.context : NULL;
}

static bool is_operation(rheos_operation operation) {
  return operation.graph != NULL && operation.id >= 0 &&
         operation.id < rheos_graph_num_operations(operation.graph);
}

rheos_control_context *rheos_operation_control_context(rheos_operation operation) {
  return is_operation(operation) ? rheos__context_of(operation.graph, operation.id) : NULL;
}

rheos_status *rheos_operation_set_control_context(rheos_operation operation,
                                                  rheos_control_context *context) {
  if (!is_operation(operation)) return RHEOS_INVALID("there is no operation to put into a context");
  if (context != NULL && context->graph != operation.graph) {
    return RHEOS_INVALID("the context '%s' is of another graph", context->name);
  }
  return rheos__node_set_context(operation.graph, operation.id, context);
}

static bool has_mark(rheos_operation operation, uint32_t which) {
  if (!is_operation(operation)) return false;
  rheos__graph_lock(operation.graph);
  bool marked = (word_of(operation.graph, operation.id) & which) != 0;
  rheos__graph_unlock(operation.graph);
  return marked;
}

bool rheos_operation_is_fetchable(rheos_operation operation) {
  return !has_mark(operation, RHEOS__UNFETCHABLE);
}

bool rheos_operation_is_feedable(rheos_operation operation) {
  return !has_mark(operation, RHEOS__UNFEEDABLE);
}

static rheos_output public_output(const rheos_control_context *context, rheos__edge edge) {
  if (edge.id < 0) return (rheos_output){NULL, 0, 0};
  return (rheos_output){context->graph, edge.id, edge.index};
}

rheos_control_context_info rheos_control_context_describe(const rheos_control_context *context) {
  if (context == NULL) return (rheos_control_context_info){0};
  return (rheos_control_context_info){
      .outer = context->outer,
      .number = context->number,
      .is_while = context->is_while,
      .name = context->name,
      .pivot = public_output(context, context->pivot),
      .pred = public_output(context, context->pred),
      .branch = context->branch,
      .pivot_for_pred = public_output(context, context->pivot_for_pred),
      .pivot_for_body = public_output(context, context->pivot_for_body),
      .max_iterations = public_output(context, context->maximum_iterations),
      .num_enters = context->num_enters,
      .num_exits = context->num_exits,
      .parallel_iterations = context->parallel_iterations,
      .back_prop = context->back_prop,
      .swap_memory = context->swap_memory};
}

rheos_output rheos_control_context_enter(const rheos_control_context *context, int32_t index) {
  const bool is_there = context != NULL && index >= 0 && index < context->num_enters;
  return is_there ? public_output(context, context->enters[index]) : (rheos_output){NULL, 0, 0};
}

rheos_output rheos_control_context_exit(const rheos_control_context *context, int32_t index) {
  const bool is_there = context != NULL && index >= 0 && index < context->num_exits;
  return is_there ? public_output(context, context->exits[index]) : (rheos_output){NULL, 0, 0};
}

rheos_control_context *rheos_graph_control_context(const rheos_graph *graph, int32_t number) {
  if (graph == NULL) return NULL;
  rheos__graph_lock((rheos_graph *)(uintptr_t)graph);
  bool is_there = number > 0 && (size_t)number <= graph->contexts.count;
  rheos_control_context *context = is_there ? graph->contexts.items[number - 1] : NULL;
  rheos__graph_unlock((rheos_graph *)(uintptr_t)graph);
  return context;
}

rheos_output rheos_control_context_value(rheos_scope *s, rheos_control_context *context,
                                         rheos_output value) {
  rheos_output none = {NULL, 0, 0};
  if (s == NULL || !rheos__scope_goes_on(s, rheos__check_output(s->graph, value, "the value"))) {
    return none;
  }
  if (context == NULL || context->graph != s->graph) {
    rheos_scope_fail_take(s, RHEOS_INVALID("the context is not one of the graph"));
    return none;
  }
  rheos__graph_lock(s->graph);
  rheos__edge inside = rheos__context_value_of(s, context, (rheos__edge){value.id, value.index});
  rheos__graph_unlock(s->graph);
  return s->status == NULL ? output_of(s, inside) : none;
}

size_t rheos_control_context_num_values(const rheos_control_context *context) {
  return context != NULL ? context->seen.count : 0;
}

rheos_output rheos_control_context_value_at(const rheos_control_context *context, size_t index,
                                            rheos_output *out_inside) {
  const bool is_there = context != NULL && index < context->seen.count;
  if (out_inside != NULL) {
    *out_inside = is_there ? public_output(context, context->seen.items[index].inside)
                           : (rheos_output){NULL, 0, 0};
  }
  if (!is_there) return (rheos_output){NULL, 0, 0};
  return public_output(context, context->seen.items[index].value);
}

static rheos__edge edge_or_none(rheos_output output) {
  return output.graph != NULL ? (rheos__edge){output.id, output.index} : no_edge;
}

static rheos__edge *copy_edges(rheos_scope *s, const rheos_output *outputs, int32_t count) {
  rheos__edge *edges = rheos__graph_alloc(s->graph, ((size_t)count + 1) * sizeof *edges);
  for (int32_t i = 0; edges != NULL && i < count; i++) edges[i] = edge_or_none(outputs[i]);
  return edges;
}

static void restore_values(rheos_scope *s, rheos_control_context *context,
                           const rheos_output *values, const rheos_output *insides, size_t count) {
  for (size_t i = 0; i < count && s->status == NULL; i++) {
    know(s, context, edge_or_none(values[i]), edge_or_none(insides[i]));
    if (insides[i].graph == NULL) set_context(s, values[i].id, context);
  }
}

static rheos_status *check_list(const rheos_scope *s, const rheos_output *outputs, size_t count,
                                const char *what) {
  RHEOS_NEED_LIST(outputs, count);
  return rheos__check_outputs(s->graph, outputs, count, what, true);
}

static rheos_status *check_info(const rheos_scope *s, const rheos_control_context_info *info) {
  RHEOS_NEED(info);
  RHEOS_NEED(info->name);
  if (info->num_enters < 0 || info->num_exits < 0 || (info->branch != 0 && info->branch != 1)) {
    return RHEOS_INVALID("the context '%s' has %d enters, %d exits, branch %d", info->name,
                         (int)info->num_enters, (int)info->num_exits, (int)info->branch);
  }
  const rheos_output outputs[] = {info->pivot, info->pred, info->pivot_for_pred,
                                  info->pivot_for_body, info->max_iterations};
  return check_list(s, outputs, 5, "a part of the context");
}

// A frame that came with a file may have been given another name than the file says.
static const char *name_to_restore(const rheos_control_context_info *info,
                                   const rheos_output *enters) {
  if (!info->is_while || info->num_enters == 0 || enters[0].graph == NULL) return info->name;
  if (!is_enter(enters[0].graph, enters[0].id)) return info->name;
  const rheos__node *enter = rheos__graph_node(enters[0].graph, enters[0].id);
  const char *frame = rheos__attr_string(enter->attrs, "frame_name");
  return frame[0] != '\0' ? frame : info->name;
}

rheos_control_context *rheos_control_context_restore(
    rheos_scope *s, const rheos_control_context_info *info, const rheos_output *enters,
    const rheos_output *exits, const rheos_output *values, const rheos_output *insides,
    size_t num_values) {
  if (s == NULL || !rheos__scope_goes_on(s, check_info(s, info)) ||
      !rheos__scope_goes_on(s, check_list(s, enters, (size_t)info->num_enters, "enters")) ||
      !rheos__scope_goes_on(s, check_list(s, exits, (size_t)info->num_exits, "exits")) ||
      !rheos__scope_goes_on(s, check_list(s, values, num_values, "values")) ||
      !rheos__scope_goes_on(s, check_list(s, insides, num_values, "insides"))) {
    return NULL;
  }
  rheos_control_context *context =
      rheos__context_named(s, info->is_while, name_to_restore(info, enters));
  if (context == NULL) return NULL;
  context->pivot = edge_or_none(info->pivot);
  context->pred = edge_or_none(info->pred);
  context->branch = info->branch;
  context->pivot_for_pred = edge_or_none(info->pivot_for_pred);
  context->pivot_for_body = edge_or_none(info->pivot_for_body);
  context->maximum_iterations = edge_or_none(info->max_iterations);
  context->parallel_iterations = info->parallel_iterations;
  context->back_prop = info->back_prop;
  context->swap_memory = info->swap_memory;
  context->enters = copy_edges(s, enters, info->num_enters);
  context->exits = copy_edges(s, exits, info->num_exits);
  if (context->enters == NULL || context->exits == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return NULL;
  }
  context->num_enters = info->num_enters;
  context->num_exits = info->num_exits;
  restore_values(s, context, values, insides, num_values);
  return s->status == NULL ? context : NULL;
}
