// The gradient of a function in two parts. See function_split.h.
#include "autodiff/function_split.h"

#include <stdio.h>
#include <string.h>

#include "autodiff/accumulate.h"

char *rheos__gradient_name(rheos_graph *library, const char *kind, const char *function) {
  const size_t room = strlen(kind) + strlen(function) + 32;
  char *name = rheos__alloc(room);
  for (int64_t i = 0; name != NULL; i++) {
    snprintf(name, room, "__%s_%s_%lld", kind, function, (long long)i);
    rheos__graph_lock(library);
    const bool is_taken = rheos__graph_signature(library, name) != NULL;
    rheos__graph_unlock(library);
    if (!is_taken) break;
  }
  return name;
}

rheos_dtype rheos__split_dtype(const rheos__split *split, rheos__edge edge) {
  return rheos_dtype_base(rheos__graph_node(split->graph, edge.id)->outputs[edge.index].dtype);
}

rheos_shape rheos__split_shape(const rheos__split *split, rheos__edge edge) {
  return *rheos__graph_node(split->graph, edge.id)->outputs[edge.index].shape;
}

static bool has_gradient(rheos_dtype dtype) {
  return rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype) ||
         dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT;
}

// ---- The copy

static void copy_body(rheos__split *s) {
  const rheos__function *f = s->of;
  rheos_scope *inside = rheos_function_scope(s->work);
  rheos__copier c;
  rheos_status *status = rheos__copier_init(&c, f->graph, inside);
  for (int32_t i = 0; i < f->num_args && status == NULL; i++) {
    const rheos__node *node = rheos__graph_node(f->graph, f->args[i].id);
    char *name = rheos__node_name(f->graph, node);
    const rheos_output arg = rheos_function_argument(s->work, name, rheos__function_arg_dtype(f, i),
                                                     *node->outputs[f->args[i].index].shape);
    rheos__free(name);
    rheos__copier_put(&c, f->args[i], arg);
  }
  rheos_scope_fail_take(inside, status);
  bool *wanted = rheos__alloc((size_t)c.num_nodes + 1);
  if (wanted == NULL) rheos_scope_fail_take(inside, rheos__out_of_memory());
  for (int32_t id = 0; wanted != NULL && id < c.num_nodes; id++) {
    wanted[id] = (rheos__graph_node(f->graph, id)->signature->op->flags & RHEOS_OP_RETVAL) == 0;
  }
  if (rheos_scope_status(inside) == NULL) rheos__copy_nodes(&c, wanted);
  for (int32_t i = 0; i < f->num_results && rheos_scope_status(inside) == NULL; i++) {
    const rheos_output result = rheos__copier_at(&c, f->results[i]);
    s->results[i] = (rheos__edge){result.id, result.index};
  }
  for (int32_t i = 0; i < f->num_targets && rheos_scope_status(inside) == NULL; i++) {
    const int32_t copy = c.nodes[f->targets[i]];
    if (copy >= 0) s->controls[s->num_controls++] = copy;
  }
  rheos__free(wanted);
  rheos__copier_deinit(&c);
}

// ---- Its gradients

typedef struct ends {
  rheos_output *ys, *grad_ys, *xs;
  rheos_gradient *grads;
  int32_t *args;  // by x
  size_t num_ys, num_xs;
} ends;

static bool init_ends(ends *e, const rheos__function *f) {
  const size_t num_args = (size_t)f->num_args + 1, num_results = (size_t)f->num_results + 1;
  e->ys = rheos__alloc_array(num_results, sizeof *e->ys);
  e->grad_ys = rheos__alloc_array(num_results, sizeof *e->grad_ys);
  e->xs = rheos__alloc_array(num_args, sizeof *e->xs);
  e->grads = rheos__alloc_array(num_args, sizeof *e->grads);
  e->args = rheos__alloc_array(num_args, sizeof *e->args);
  return e->ys != NULL && e->grad_ys != NULL && e->xs != NULL && e->grads != NULL &&
         e->args != NULL;
}

static void deinit_ends(ends *e) {
  rheos__free(e->ys);
  rheos__free(e->grad_ys);
  rheos__free(e->xs);
  rheos__free(e->grads);
  rheos__free(e->args);
}

static void list_ends(rheos__split *s, const bool *has_grad, ends *e) {
  for (int32_t i = 0; i < s->of->num_results; i++) {
    if (!has_grad[i]) continue;
    char name[32];
    snprintf(name, sizeof name, "gradients_of_%d", (int)i);
    s->grad_ys[i] = rheos_function_argument(s->work, name, rheos__split_dtype(s, s->results[i]),
                                            rheos__split_shape(s, s->results[i]));
    e->ys[e->num_ys] = (rheos_output){s->graph, s->results[i].id, s->results[i].index};
    e->grad_ys[e->num_ys++] = s->grad_ys[i];
  }
  for (int32_t i = 0; i < s->of->num_args; i++) {
    if (!has_gradient(rheos__function_arg_dtype(s->of, i))) continue;
    e->xs[e->num_xs] = rheos_function_argument_at(s->work, (size_t)i);
    e->args[e->num_xs++] = i;
  }
}

static void differentiate(rheos__split *s, const bool *has_grad, bool keeps_sparse,
                          const rheos_gradients_options *outer) {
  rheos_scope *inside = rheos_function_scope(s->work);
  ends e = {0};
  if (!init_ends(&e, s->of)) rheos_scope_fail_take(inside, rheos__out_of_memory());
  if (rheos_scope_status(inside) == NULL) list_ends(s, has_grad, &e);
  if (rheos_scope_status(inside) == NULL && e.num_ys > 0 && e.num_xs > 0) {
    const rheos_gradients_options options = {
        .grad_ys = e.grad_ys,
        .gradient_function = outer != NULL ? outer->gradient_function : NULL,
        .gradient_argument = outer != NULL ? outer->gradient_argument : NULL};
    rheos_gradients(inside, e.ys, e.num_ys, e.xs, e.num_xs, &options, e.grads);
  }
  for (size_t i = 0; i < e.num_xs && rheos_scope_status(inside) == NULL; i++) {
    rheos_gradient grad = e.grads[i];
    if (!rheos__is_some(grad.values)) continue;
    if (!keeps_sparse) {
      grad = (rheos_gradient){.values = rheos__gradient_to_dense(inside, &grad, NULL)};
    }
    s->grads[e.args[i]] = grad;
  }
  deinit_ends(&e);
}

// ---- The two parts

// Whether the node makes integers, such as shapes, of what the forward part has: cheaper to keep.
static bool is_cheap(const rheos__split *s, const rheos__node *node) {
  const unsigned wrong =
      RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_PLACEHOLDER | RHEOS_OP_CALLS;
  if (node->num_inputs == 0 || (node->signature->op->flags & wrong) != 0) return false;
  bool any = false;
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const int32_t from = node->edges[i].id;
    if (s->forward[from]) any = true;
    if (!s->forward[from] && !rheos__is_free(rheos__graph_node(s->graph, from))) return false;
  }
  for (int32_t i = 0; i < node->num_outputs; i++) {
    const rheos_dtype dtype = node->outputs[i].dtype;
    if (dtype != RHEOS_INT32 && dtype != RHEOS_INT64) return false;
  }
  return any;
}

// What stands in the table of outputs, besides the indices of results.
enum { NO_RESULT = -1, IS_INTERMEDIATE = -2 };

// A table of all outputs of the graph: those that are results.
static bool list_outputs(rheos__split *s) {
  const int32_t count = rheos_graph_num_operations(s->graph);
  s->starts = rheos__alloc_array((size_t)count + 1, sizeof *s->starts);
  if (s->starts == NULL) return false;
  int32_t num_outputs = 0;
  for (int32_t id = 0; id < count; id++) {
    s->starts[id] = num_outputs;
    num_outputs += rheos__graph_node(s->graph, id)->num_outputs;
  }
  s->outputs = rheos__alloc_array((size_t)num_outputs + 1, sizeof *s->outputs);
  if (s->outputs == NULL) return false;
  for (int32_t i = 0; i < num_outputs; i++) s->outputs[i] = NO_RESULT;
  for (int32_t i = s->of->num_results - 1; i >= 0; i--) {
    s->outputs[s->starts[s->results[i].id] + s->results[i].index] = i;
  }
  return true;
}

static int32_t argument_of(const rheos__split *s, rheos__edge edge) {
  const rheos__node *node = rheos__graph_node(s->graph, edge.id);
  if ((node->signature->op->flags & RHEOS_OP_PLACEHOLDER) == 0) return -1;
  for (int32_t i = 0; i < s->of->num_args; i++) {
    if (rheos_function_argument_at(s->work, (size_t)i).id == edge.id) return i;
  }
  return -1;
}

static bool need_intermediate(rheos__split *s, rheos__edge edge) {
  int32_t *known = &s->outputs[s->starts[edge.id] + edge.index];
  if (*known == IS_INTERMEDIATE) return true;
  if (!RHEOS_RESERVE(s->intermediates, s->intermediates_capacity,
                     (size_t)s->num_intermediates + 1)) {
    return false;
  }
  rheos__intermediate *added = &s->intermediates[s->num_intermediates++];
  const int32_t argument = argument_of(s, edge);
  if (argument >= 0) {
    *added = (rheos__intermediate){edge, RHEOS__FROM_ARGUMENT, argument};
  } else if (*known != NO_RESULT) {
    *added = (rheos__intermediate){edge, RHEOS__FROM_RESULT, *known};
  } else {
    *added = (rheos__intermediate){edge, RHEOS__FROM_BODY, s->num_from_body++};
  }
  *known = IS_INTERMEDIATE;
  return true;
}

// The outputs that make up a gradient: one, or three of a sparse one.
static int list_parts(const rheos_gradient *gradient, rheos_output parts[3]) {
  if (!rheos__is_some(gradient->values)) return 0;
  parts[0] = gradient->values;
  if (!rheos__gradient_is_sparse(gradient)) return 1;
  parts[1] = gradient->indices;
  parts[2] = gradient->dense_shape;
  return rheos__is_some(gradient->dense_shape) ? 3 : 2;
}

static bool need_edge(rheos__split *s, rheos__edge edge) {
  const rheos__node *from = rheos__graph_node(s->graph, edge.id);
  return !s->forward[edge.id] || rheos__is_free(from) || need_intermediate(s, edge);
}

static bool list_intermediates(rheos__split *s) {
  const int32_t count = rheos_graph_num_operations(s->graph);
  rheos__free(s->starts);
  rheos__free(s->outputs);
  s->outputs = NULL;
  if (!list_outputs(s)) return false;
  for (int32_t id = 0; id < count; id++) {
    if (!s->backward[id]) continue;
    const rheos__node *node = rheos__graph_node(s->graph, id);
    for (int32_t i = 0; i < node->num_inputs; i++) {
      if (!need_edge(s, node->edges[i])) return false;
    }
  }
  for (int32_t i = 0; i < s->of->num_args; i++) {
    rheos_output parts[3];
    const int num_parts = list_parts(&s->grads[i], parts);
    for (int k = 0; k < num_parts; k++) {
      if (!need_edge(s, (rheos__edge){parts[k].id, parts[k].index})) return false;
    }
  }
  return true;
}

// Marks all that the gradients need as backward.
static bool mark_gradients(rheos__split *s) {
  for (int32_t i = 0; i < s->of->num_args; i++) {
    rheos_output parts[3];
    const int num_parts = list_parts(&s->grads[i], parts);
    for (int k = 0; k < num_parts; k++) s->backward[parts[k].id] = true;
  }
  return rheos__mark_inputs(s->graph, s->backward, false);
}

// What is forward, or given, is not backward.
static void unmark_forward(rheos__split *s) {
  const int32_t count = rheos_graph_num_operations(s->graph);
  for (int32_t id = 0; id < count; id++) {
    const rheos__node *node = rheos__graph_node(s->graph, id);
    const bool is_arg = (node->signature->op->flags & RHEOS_OP_PLACEHOLDER) != 0;
    s->backward[id] = s->backward[id] && !s->forward[id] && !is_arg;
  }
}

// `num_forward`: nodes of the copy.
static bool tell_parts_apart(rheos__split *s, int32_t num_forward) {
  const size_t count = (size_t)rheos_graph_num_operations(s->graph);
  s->forward = rheos__alloc_array(count + 1, sizeof *s->forward);
  s->backward = rheos__alloc_array(count + 1, sizeof *s->backward);
  if (s->forward == NULL || s->backward == NULL) return false;
  for (int32_t id = 0; id < num_forward; id++) s->forward[id] = true;
  if (!rheos__mark_inputs(s->graph, s->forward, true)) return false;
  if (!mark_gradients(s)) return false;
  for (int32_t id = num_forward; id < (int32_t)count; id++) {
    const rheos__node *node = rheos__graph_node(s->graph, id);
    if (s->backward[id] && !s->forward[id] && is_cheap(s, node)) s->forward[id] = true;
  }
  unmark_forward(s);
  // What no gradient reads any more since it became forward goes: constants come along by
  // themselves.
  return list_intermediates(s);
}

// ---- Too many intermediates

// So many that a body which does not call others hardly has as many.
enum { MANY_INTERMEDIATES = 2048 };

typedef struct function_list {
  const rheos__function **items;
  size_t count, capacity;
} function_list;

static bool add_function(function_list *list, const rheos_graph *graph, const rheos_func *func) {
  const rheos__function *function = NULL;
  rheos_status *status = rheos__graph_function((rheos_graph *)(uintptr_t)graph, func, &function);
  rheos_status_free(status);
  if (status != NULL) return false;
  for (size_t i = 0; i < list->count; i++) {
    if (list->items[i] == function) return true;
  }
  if (!RHEOS_RESERVE(list->items, list->capacity, list->count + 1)) return false;
  list->items[list->count++] = function;
  return true;
}

// Whether the nodes of a function's body give the same again; adds the functions that they call.
static bool has_pure_nodes(function_list *list, const rheos__function *function) {
  const unsigned wrong = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_READS_VARIABLE;
  const int32_t num_nodes = rheos_graph_num_operations(function->graph);
  for (int32_t id = 0; id < num_nodes; id++) {
    const rheos__node *node = rheos__graph_node(function->graph, id);
    const unsigned flags = node->signature->op->flags;
    if ((flags & wrong) != 0 && (flags & RHEOS_OP_PLACEHOLDER) == 0) return false;
    for (int32_t i = 0; i < node->attrs->count; i++) {
      const rheos_attr_value *value = &node->attrs->items[i].value;
      if (value->kind == RHEOS_ATTR_FUNC && !add_function(list, function->graph, value->func)) {
        return false;
      }
      for (int32_t k = 0; value->kind == RHEOS_ATTR_LIST_FUNC && k < value->count; k++) {
        if (!add_function(list, function->graph, &value->funcs[k])) return false;
      }
    }
  }
  return true;
}

static bool is_pure(const rheos__function *function) {
  function_list list = {0};
  bool pure = RHEOS_RESERVE(list.items, list.capacity, 1);
  if (pure) list.items[list.count++] = function;
  for (size_t i = 0; pure && i < list.count; i++) pure = has_pure_nodes(&list, list.items[i]);
  rheos__free(list.items);
  return pure;
}

bool rheos__split_has_too_many(const rheos__split *s) {
  const int32_t num_nodes = rheos_graph_num_operations(s->of->graph);
  return s->num_from_body >= MANY_INTERMEDIATES && s->num_from_body / 4 > num_nodes &&
         is_pure(s->of);
}

bool rheos__split_recompute(rheos__split *s) {
  const size_t count = (size_t)rheos_graph_num_operations(s->graph);
  memset(s->forward, 0, count * sizeof *s->forward);
  memset(s->backward, 0, count * sizeof *s->backward);
  for (int32_t i = 0; i < s->of->num_args; i++) {
    s->forward[rheos_function_argument_at(s->work, (size_t)i).id] = true;
  }
  if (!mark_gradients(s)) return false;
  unmark_forward(s);
  s->num_intermediates = s->num_from_body = 0;
  return list_intermediates(s);
}

// ---- The whole

static bool alloc_lists(rheos__split *s) {
  s->results = rheos__alloc_array((size_t)s->of->num_results + 1, sizeof *s->results);
  s->grad_ys = rheos__alloc_array((size_t)s->of->num_results + 1, sizeof *s->grad_ys);
  s->grads = rheos__alloc_array((size_t)s->of->num_args + 1, sizeof *s->grads);
  s->controls = rheos__alloc_array((size_t)s->of->num_targets + 1, sizeof *s->controls);
  return s->controls != NULL && s->results != NULL && s->grad_ys != NULL && s->grads != NULL;
}

bool rheos__split_init(rheos__split *s, rheos_scope *scope, const rheos__function *function,
                       const bool *has_grad, bool keeps_sparse,
                       const rheos_gradients_options *options) {
  *s = (rheos__split){.of = function};
  s->work = rheos_function_begin(scope, function->name, NULL);
  if (s->work == NULL) return false;
  rheos_scope *inside = rheos_function_scope(s->work);
  s->graph = rheos_scope_graph(inside);
  if (!alloc_lists(s)) rheos_scope_fail_take(inside, rheos__out_of_memory());
  if (rheos_scope_status(inside) == NULL) copy_body(s);
  const int32_t num_forward = rheos_graph_num_operations(s->graph);
  if (rheos_scope_status(inside) == NULL) differentiate(s, has_grad, keeps_sparse, options);
  if (rheos_scope_status(inside) == NULL && !tell_parts_apart(s, num_forward)) {
    rheos_scope_fail_take(inside, rheos__out_of_memory());
  }
  rheos_status *status = rheos_scope_finish(inside);
  if (status == NULL) return true;
  rheos_scope_fail_take(scope, rheos__status_in_function_take(status, function->name));
  return false;
}

void rheos__split_deinit(rheos__split *s) {
  rheos_function_free(s->work);
  rheos__free(s->results);
  rheos__free(s->controls);
  rheos__free(s->grad_ys);
  rheos__free(s->grads);
  rheos__free(s->forward);
  rheos__free(s->backward);
  rheos__free(s->starts);
  rheos__free(s->outputs);
  rheos__free(s->intermediates);
  *s = (rheos__split){0};
}

void rheos__split_copy_forward(const rheos__split *s, rheos_function *f, rheos__copier *c) {
  for (int32_t i = 0; i < s->of->num_args; i++) {
    const rheos_output arg = rheos_function_argument_at(s->work, (size_t)i);
    char *name = rheos__node_name(s->graph, rheos__graph_node(s->graph, arg.id));
    rheos__copier_put(
        c, (rheos__edge){arg.id, 0},
        rheos_function_argument(f, name, rheos_output_dtype(arg), rheos_output_shape(arg)));
    rheos__free(name);
  }
}

void rheos__split_copy_controls(const rheos__split *s, rheos_function *f, const rheos__copier *c) {
  for (int32_t i = 0; i < s->num_controls && rheos_scope_status(c->to) == NULL; i++) {
    const rheos_operation copy = {rheos_scope_graph(c->to), c->nodes[s->controls[i]]};
    rheos_function_control_output(f, NULL, copy);
  }
}
