// Gradients of calls. The function called becomes one that gives what its gradient needs too (the
// node's attribute and number of outputs change, as in TensorFlow), and another one has the nodes
// that compute the gradient. Both are kept with the library: calls of one function share them.
#include "autodiff/call_gradient.h"

#include <stdio.h>
#include <string.h>

#include "autodiff/accumulate.h"
#include "autodiff/gradient_functions.h"
#include "ops/flow/call.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"

// A function's gradient with respect to all arguments, for gradients of some of its results.
typedef struct pair {
  struct pair *next;
  const rheos__function *of;
  bool *has_grad;  // by result
  const rheos__function *forward, *backward;
  struct pair_input {
    rheos__source_kind kind;  // an argument or a result of `forward`
    int32_t index;
  } *inputs;
  int32_t num_inputs;
  struct pair_grad {
    int32_t first, count;  // among the results of `backward`: none, a dense or a sparse gradient
  } *grads;                // by argument
  bool backward_is_stateful;
} pair;

// A function's gradient as a function.
typedef struct symbolic {
  struct symbolic *next;
  const rheos__function *of;
  rheos__function *made;
} symbolic;

// A function that was made for a gradient of another, by their names.
typedef struct derived {
  struct derived *next;
  char *of, *made;
} derived;

typedef struct gradient_functions {
  pair *pairs;
  derived *derived;
  symbolic *symbolics;
  struct open {
    struct open *outer;
    const rheos__function *of;
  } *making;
} gradient_functions;

// ---- What is kept with the library

static void free_pair(pair *p) {
  if (p == NULL) return;
  rheos__free(p->has_grad);
  rheos__free(p->inputs);
  rheos__free(p->grads);
  rheos__free(p);
}

static void free_symbolic(symbolic *s) {
  rheos_graph_unref(s->made->graph);
  rheos__free(s);
}

static void free_derived(derived *d) {
  if (d == NULL) return;
  rheos__free(d->of);
  rheos__free(d->made);
  rheos__free(d);
}

static void release(void *data) {
  gradient_functions *all = data;
  while (all->derived != NULL) {
    derived *d = all->derived;
    all->derived = d->next;
    free_derived(d);
  }
  while (all->symbolics != NULL) {
    symbolic *s = all->symbolics;
    all->symbolics = s->next;
    free_symbolic(s);
  }
  while (all->pairs != NULL) {
    pair *p = all->pairs;
    all->pairs = p->next;
    free_pair(p);
  }
  while (all->making != NULL) {
    struct open *outer = all->making->outer;
    rheos__free(all->making);
    all->making = outer;
  }
  rheos__free(all);
}

// Drops what was made for gradients of a function that goes, and the functions made for that.
static void forget_function(rheos_graph *library, const rheos__function *function) {
  gradient_functions *all = rheos__graph_autodiff_slot(library)->data;
  for (symbolic **at = &all->symbolics; *at != NULL;) {
    symbolic *s = *at;
    if (s->of != function) {
      at = &s->next;
      continue;
    }
    *at = s->next;
    free_symbolic(s);
  }
  for (pair **at = &all->pairs; *at != NULL;) {
    pair *p = *at;
    if (p->of != function) {
      at = &p->next;
      continue;
    }
    *at = p->next;
    // Removing comes back here, for gradients of gradients.
    if (p->forward != function) rheos_status_free(rheos__library_remove(library, p->forward->name));
    rheos_status_free(rheos__library_remove(library, p->backward->name));
    free_pair(p);
    at = &all->pairs;
  }
}

static void forget(rheos_graph *library, const rheos__function *function) {
  gradient_functions *all = rheos__graph_autodiff_slot(library)->data;
  forget_function(library, function);
  for (derived **at = &all->derived; *at != NULL;) {
    derived *d = *at;
    if (strcmp(d->of, function->name) != 0) {
      at = &d->next;
      continue;
    }
    *at = d->next;
    rheos_status_free(rheos__library_remove(library, d->made));
    free_derived(d);
    at = &all->derived;  // removing comes back here
  }
}

// Notes it, so that it goes with the other. Where memory is short it stays.
static void keep_derived(rheos_graph *library, const char *of, const char *made) {
  derived *d = rheos__alloc_zeroed(sizeof *d);
  if (d == NULL) return;
  d->of = rheos__strdup(of);
  d->made = rheos__strdup(made);
  if (d->of == NULL || d->made == NULL) {
    free_derived(d);
    return;
  }
  rheos__graph_lock(library);
  gradient_functions *all = rheos__graph_autodiff_slot(library)->data;
  d->next = all->derived;
  all->derived = d;
  rheos__graph_unlock(library);
}

static gradient_functions *functions_of(rheos_scope *scope) {
  rheos_graph *library = rheos__library_graph(rheos_scope_graph(scope));
  rheos__graph_lock(library);
  rheos__graph_slot *slot = rheos__graph_autodiff_slot(library);
  if (slot->data == NULL) {
    slot->data = rheos__alloc_zeroed(sizeof(gradient_functions));
    slot->release = slot->data != NULL ? release : NULL;
    slot->forget = slot->data != NULL ? forget : NULL;
  }
  gradient_functions *all = slot->data;
  rheos__graph_unlock(library);
  if (all == NULL) rheos_scope_fail_take(scope, rheos__out_of_memory());
  return all;
}

const rheos__function *rheos__find_symbolic(rheos_graph *library, const rheos__function *of) {
  const gradient_functions *all = rheos__graph_autodiff_slot(library)->data;
  for (const symbolic *s = all != NULL ? all->symbolics : NULL; s != NULL; s = s->next) {
    if (s->of == of) return s->made;
  }
  return NULL;
}

rheos_status *rheos__keep_symbolic_take(rheos_graph *library, const rheos__function *of,
                                        rheos__function *made) {
  gradient_functions *all = rheos__graph_autodiff_slot(library)->data;
  symbolic *s = rheos__alloc(sizeof *s);
  if (s == NULL) {
    rheos_graph_unref(made->graph);
    return rheos__out_of_memory();
  }
  *s = (symbolic){all->symbolics, of, made};
  all->symbolics = s;
  return NULL;
}

bool rheos__enter_gradient_of(rheos_scope *scope, const rheos__function *function) {
  gradient_functions *all = functions_of(scope);
  if (all == NULL) return false;
  for (const struct open *at = all->making; at != NULL; at = at->outer) {
    if (at->of != function) continue;
    rheos_scope_fail_take(
        scope, rheos_status_new(RHEOS_UNIMPLEMENTED,
                                "the gradient of the function %s, which calls itself, would "
                                "never end",
                                function->name));
    return false;
  }
  if (rheos__is_stopping()) {
    rheos_scope_fail_take(scope, rheos__stopped());
    return false;
  }
  struct open *inner = rheos__alloc_zeroed(sizeof *inner);
  if (inner == NULL) {
    rheos_scope_fail_take(scope, rheos__out_of_memory());
    return false;
  }
  *inner = (struct open){all->making, function};
  all->making = inner;
  return true;
}

void rheos__leave_gradient_of(rheos_graph *library) {
  gradient_functions *all = rheos__graph_autodiff_slot(library)->data;
  struct open *inner = all->making;
  all->making = inner->outer;
  rheos__free(inner);
}

bool rheos__enter_gradient(rheos__grad *g, const rheos__function *function) {
  return rheos__enter_gradient_of(g->scope, function);
}

void rheos__leave_gradient(rheos__grad *g) {
  rheos__leave_gradient_of(rheos__library_graph(rheos_scope_graph(g->scope)));
}

// ---- Shared with branches and loops

bool rheos__call_has_grad(const rheos__grad *g, int32_t i) {
  if (!rheos__is_some(g->out_grads[i].values)) return false;
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(g->outputs[i]));
  return dtype == RHEOS_VARIANT || rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype);
}

const rheos__function *rheos__function_of(rheos__grad *g, const rheos_func *func) {
  const rheos__function *function = NULL;
  rheos_scope_fail_take(g->scope, rheos__graph_function(g->operation.graph, func, &function));
  return rheos_scope_status(g->scope) == NULL ? function : NULL;
}

rheos_function *rheos__begin_gradient_function(rheos__grad *g, const char *kind, const char *name) {
  rheos_graph *library = rheos__library_graph(rheos_scope_graph(g->scope));
  char *own = rheos__gradient_name(library, kind, name);
  rheos_function *function = NULL;
  if (own == NULL) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
  } else {
    function = rheos_function_begin(g->scope, own, NULL);
    if (functions_of(g->scope) != NULL) keep_derived(library, name, own);
  }
  rheos__free(own);
  return function;
}

rheos_dtype *rheos__more_types(rheos__grad *g, const char *attr, const rheos_dtype *more,
                               size_t num_more) {
  const rheos_attr_value *list = rheos__attrs_find(g->attrs, attr);
  const size_t count = list != NULL ? (size_t)list->count : 0;
  rheos_dtype *types = rheos__alloc_array(count + num_more + 1, sizeof *types);
  if (types == NULL) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
    return NULL;
  }
  if (count > 0) memcpy(types, list->types, count * sizeof *types);
  if (num_more > 0) memcpy(types + count, more, num_more * sizeof *types);
  return types;
}

// ---- Making the two functions

static const rheos__function *finish(rheos__grad *g, rheos_function *f, bool *out_is_stateful) {
  if (out_is_stateful != NULL) *out_is_stateful = rheos_function_is_stateful(f);
  if (!rheos_function_finish(f, g->scope)) return NULL;
  return rheos__function_of(g, rheos_function_func(f));
}

static void fill_forward(const rheos__split *s, rheos_function *f, rheos__copier *c) {
  rheos__split_copy_forward(s, f, c);
  rheos__copy_nodes(c, s->forward);
  for (int32_t i = 0; i < s->of->num_results; i++) {
    rheos_function_result(f, NULL, rheos__copier_at(c, s->results[i]));
  }
  for (int32_t i = 0; i < s->num_intermediates; i++) {
    const rheos__intermediate *between = &s->intermediates[i];
    if (between->kind != RHEOS__FROM_BODY) continue;
    rheos_function_result(f, NULL, rheos__copier_at(c, between->edge));
  }
  rheos__split_copy_controls(s, f, c);
}

static const rheos__function *make_forward(rheos__grad *g, const rheos__split *s) {
  if (s->num_from_body == 0) return s->of;
  rheos_function *f = rheos__begin_gradient_function(g, "forward", s->of->name);
  if (f == NULL) return NULL;
  rheos__copier c;
  rheos_scope_fail_take(g->scope, rheos__copier_init(&c, s->graph, rheos_function_scope(f)));
  const rheos__function *made = NULL;
  if (rheos_scope_status(g->scope) == NULL) {
    fill_forward(s, f, &c);
    made = finish(g, f, NULL);
  }
  rheos__copier_deinit(&c);
  rheos_function_free(f);
  return made;
}

static void fill_backward_args(const rheos__split *s, rheos_function *f, rheos__copier *c) {
  for (int32_t i = 0; i < s->of->num_results; i++) {
    if (!rheos__is_some(s->grad_ys[i])) continue;
    const rheos__edge edge = {s->grad_ys[i].id, 0};
    rheos__copier_put(c, edge,
                      rheos_function_argument(f, NULL, rheos_output_dtype(s->grad_ys[i]),
                                              rheos_output_shape(s->grad_ys[i])));
  }
  for (int32_t i = 0; i < s->num_intermediates; i++) {
    const rheos__edge edge = s->intermediates[i].edge;
    rheos__copier_put(
        c, edge,
        rheos_function_argument(f, NULL, rheos__split_dtype(s, edge), rheos__split_shape(s, edge)));
  }
}

static void fill_backward(const rheos__split *s, rheos_function *f, rheos__copier *c, pair *p) {
  fill_backward_args(s, f, c);
  rheos__copy_nodes(c, s->backward);
  for (int32_t i = 0; i < s->of->num_args; i++) {
    const rheos_gradient *grad = &s->grads[i];
    if (!rheos__is_some(grad->values)) continue;
    const rheos_output parts[] = {grad->values, grad->indices, grad->dense_shape};
    p->grads[i].first = (int32_t)rheos_function_num_results(f);
    for (int k = 0; k < 3 && rheos__is_some(parts[k]); k++) {
      const rheos__edge edge = {parts[k].id, parts[k].index};
      rheos_function_result(f, NULL, rheos__copy_edge(c, edge));
      p->grads[i].count++;
    }
  }
}

static const rheos__function *make_backward(rheos__grad *g, const rheos__split *s, pair *p) {
  rheos_function *f = rheos__begin_gradient_function(g, "backward", s->of->name);
  if (f == NULL) return NULL;
  rheos__copier c;
  rheos_scope_fail_take(g->scope, rheos__copier_init(&c, s->graph, rheos_function_scope(f)));
  const rheos__function *made = NULL;
  if (rheos_scope_status(g->scope) == NULL) {
    fill_backward(s, f, &c, p);
    made = finish(g, f, &p->backward_is_stateful);
  }
  rheos__copier_deinit(&c);
  rheos_function_free(f);
  return made;
}

static void list_pair_inputs(const rheos__split *s, pair *p) {
  for (int32_t i = 0; i < s->num_intermediates; i++) {
    const rheos__intermediate *between = &s->intermediates[i];
    struct pair_input *input = &p->inputs[p->num_inputs++];
    *input = (struct pair_input){between->kind, between->index};
    if (between->kind != RHEOS__FROM_BODY) continue;
    *input = (struct pair_input){RHEOS__FROM_RESULT, s->of->num_results + between->index};
  }
}

static pair *new_pair(const rheos__split *s, const bool *has_grad) {
  const size_t num_results = (size_t)s->of->num_results;
  pair *p = rheos__alloc_zeroed(sizeof *p);
  if (p == NULL) return NULL;
  p->of = s->of;
  p->has_grad = rheos__alloc_array(num_results + 1, sizeof *p->has_grad);
  p->inputs = rheos__alloc_array((size_t)s->num_intermediates + 1, sizeof *p->inputs);
  p->grads = rheos__alloc_array((size_t)s->of->num_args + 1, sizeof *p->grads);
  if (p->has_grad == NULL || p->inputs == NULL || p->grads == NULL) {
    free_pair(p);
    return NULL;
  }
  memcpy(p->has_grad, has_grad, num_results * sizeof *has_grad);
  list_pair_inputs(s, p);
  return p;
}

// More than any program means to have: functions that call each other twice, with effects.
enum { MAX_INTERMEDIATES = 1 << 20 };

// Whether what the forward function hands on is fit to be handed on.
static bool limit_intermediates(rheos__grad *g, rheos__split *s) {
  if (rheos__split_has_too_many(s) && !rheos__split_recompute(s)) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
    return false;
  }
  if (s->num_from_body <= MAX_INTERMEDIATES) return true;
  rheos_scope_fail_take(
      g->scope, rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                                 "the gradient of the function %s needs %d of the values "
                                 "that calls in it compute, at most %d are kept",
                                 s->of->name, (int)s->num_from_body, (int)MAX_INTERMEDIATES));
  return false;
}

static pair *make_pair(rheos__grad *g, const rheos__function *function, const bool *has_grad) {
  rheos__split s;
  pair *p = NULL;
  if (rheos__split_init(&s, g->scope, function, has_grad, true, g->options) &&
      limit_intermediates(g, &s)) {
    p = new_pair(&s, has_grad);
    if (p == NULL) rheos_scope_fail_take(g->scope, rheos__out_of_memory());
  }
  if (p != NULL) p->forward = make_forward(g, &s);
  if (p != NULL && p->forward != NULL) p->backward = make_backward(g, &s, p);
  rheos__split_deinit(&s);
  if (p != NULL && p->backward != NULL) return p;
  free_pair(p);
  return NULL;
}

static pair *find_pair(const gradient_functions *all, const rheos__function *function,
                       const bool *has_grad) {
  const size_t num_results = (size_t)function->num_results;
  for (pair *p = all->pairs; p != NULL; p = p->next) {
    if (p->of == function && memcmp(p->has_grad, has_grad, num_results * sizeof *has_grad) == 0) {
      return p;
    }
  }
  return NULL;
}

// The pair that the function is the forward one of, if gradients arrive at the results alone that
// it has in common with the function before, and at none that the pair has no gradient for: nothing
// is to be made.
static pair *find_pair_of_forward(const gradient_functions *all, const rheos__function *function,
                                  const bool *has_grad) {
  for (pair *p = all->pairs; p != NULL; p = p->next) {
    if (p->forward != function || p->of == function) continue;
    bool fits = true;
    for (int32_t i = 0; i < function->num_results; i++) {
      fits = fits && (!has_grad[i] || (i < p->of->num_results && p->has_grad[i]));
    }
    if (fits) return p;
  }
  return NULL;
}

static const pair *pair_of(rheos__grad *g, const rheos__function *function, const bool *has_grad) {
  gradient_functions *all = functions_of(g->scope);
  if (all == NULL) return NULL;
  pair *p = find_pair(all, function, has_grad);
  if (p == NULL) p = find_pair_of_forward(all, function, has_grad);
  if (p != NULL) return p;
  if (!rheos__enter_gradient(g, function)) return NULL;
  p = make_pair(g, function, has_grad);
  rheos__leave_gradient(g);
  if (p == NULL) return NULL;
  p->next = all->pairs;
  all->pairs = p;
  return p;
}

// ---- The call

// Lets the call give what `forward` gives. False with an error in the scope.
static bool extend_call(rheos__grad *g, const pair *p) {
  const int32_t before = g->num_outputs, after = p->forward->num_results;
  if (after == before) return true;
  const size_t count = (size_t)(after - before);
  rheos_dtype *more = rheos__alloc_array(count, sizeof *more);
  rheos_shape *shapes = rheos__alloc_array(count, sizeof *shapes);
  for (int32_t i = before; more != NULL && shapes != NULL && i < after; i++) {
    const rheos__edge edge = p->forward->results[i];
    more[i - before] = rheos__function_result_dtype(p->forward, i);
    shapes[i - before] = *rheos__graph_node(p->forward->graph, edge.id)->outputs[edge.index].shape;
  }
  rheos_dtype *types = more != NULL ? rheos__more_types(g, "Tout", more, count) : NULL;
  rheos_status *status = types == NULL || shapes == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) {
    const rheos_func func = {
        .name = {(char *)(uintptr_t)p->forward->name, strlen(p->forward->name)}};
    const rheos_attr attrs[] = {rheos_attr_func("f", &func),
                                rheos_attr_types("Tout", types, after)};
    const rheos__extension extension = {.attrs = attrs,
                                        .num_attrs = 2,
                                        .output_dtypes = more,
                                        .output_shapes = shapes,
                                        .num_outputs = count};
    status = rheos__graph_extend_node(g->operation.graph, g->operation.id, &extension);
  }
  rheos__free(types);
  rheos__free(more);
  rheos__free(shapes);
  rheos_scope_fail_take(g->scope, status);
  return rheos_scope_status(g->scope) == NULL;
}

static rheos_operation call_backward(rheos__grad *g, const pair *p) {
  const rheos__function *f = p->backward;
  rheos_output *inputs = rheos__alloc_array((size_t)f->num_args + 1, sizeof *inputs);
  rheos_dtype *types = rheos__alloc_array((size_t)f->num_results + 1, sizeof *types);
  rheos_operation call = {NULL, 0};
  if (inputs == NULL || types == NULL) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
  } else {
    size_t count = 0;
    for (int32_t i = 0; i < p->of->num_results; i++) {
      if (!p->has_grad[i]) continue;
      inputs[count++] = rheos__is_some(g->out_grads[i].values)
                            ? rheos__grad_dense(g, i)
                            : rheos__op_1(g->scope, "ZerosLike", g->outputs[i]);
    }
    for (int32_t i = 0; i < p->num_inputs; i++) {
      const struct pair_input input = p->inputs[i];
      inputs[count++] = input.kind == RHEOS__FROM_ARGUMENT
                            ? g->inputs[input.index]
                            : rheos_operation_output(g->operation, input.index);
    }
    for (int32_t i = 0; i < f->num_results; i++) types[i] = rheos__function_result_dtype(f, i);
    const rheos_func func = {.name = {(char *)(uintptr_t)f->name, strlen(f->name)}};
    const rheos_attr attrs[] = {rheos_attr_func("f", &func),
                                rheos_attr_types("Tout", types, f->num_results)};
    const char *type = p->backward_is_stateful ? "StatefulPartitionedCall" : "PartitionedCall";
    call = rheos__op_n(g->scope, type, NULL, inputs, count, attrs, 2);
  }
  rheos__free(inputs);
  rheos__free(types);
  return call;
}

static void learn_result_shapes(rheos__grad *g, const rheos__function *f, rheos_operation call) {
  for (int32_t i = 0; i < f->num_results && call.graph != NULL; i++) {
    const rheos__edge edge = f->results[i];
    const rheos_shape shape = *rheos__graph_node(f->graph, edge.id)->outputs[edge.index].shape;
    rheos_scope_fail_take(g->scope, rheos_output_set_shape(rheos_operation_output(call, i), shape));
  }
}

void rheos__gradient_call(rheos__grad *g) {
  const rheos__function *function = rheos__function_of(g, rheos__attrs_find(g->attrs, "f")->func);
  bool *has_grad = rheos__alloc_array((size_t)g->num_outputs + 1, sizeof *has_grad);
  if (has_grad == NULL) rheos_scope_fail_take(g->scope, rheos__out_of_memory());
  bool any = false;
  for (int32_t i = 0; has_grad != NULL && i < g->num_outputs; i++) {
    has_grad[i] = rheos__call_has_grad(g, i);
    any = any || has_grad[i];
  }
  const bool fits = function != NULL && function->num_args == g->num_inputs &&
                    function->num_results == g->num_outputs;
  if (function != NULL && !fits) {
    rheos_scope_fail_take(g->scope,
                          RHEOS_INVALID("function %s does not fit its call", function->name));
  }
  const pair *p = fits && any && has_grad != NULL ? pair_of(g, function, has_grad) : NULL;
  rheos__free(has_grad);
  if (p == NULL || !extend_call(g, p)) return;
  if (p->backward->num_results == 0) return;
  const rheos_operation call = call_backward(g, p);
  learn_result_shapes(g, p->backward, call);
  for (int32_t i = 0; i < g->num_inputs && call.graph != NULL; i++) {
    const struct pair_grad grad = p->grads[i];
    if (grad.count > 0) g->in_grads[i].values = rheos_operation_output(call, grad.first);
    if (grad.count > 1) g->in_grads[i].indices = rheos_operation_output(call, grad.first + 1);
    if (grad.count > 2) g->in_grads[i].dense_shape = rheos_operation_output(call, grad.first + 2);
  }
}

// ---- Calls by the function's name: SymbolicGradient, as TensorFlow 1.15 has it

void rheos__gradient_call_by_name(rheos__grad *g) {
  const size_t num_inputs = (size_t)g->num_inputs, count = num_inputs + (size_t)g->num_outputs;
  rheos_output *inputs = rheos__alloc_array(count + 1, sizeof *inputs);
  rheos_dtype *types = rheos__alloc_array(num_inputs + 1, sizeof *types);
  if (inputs == NULL || types == NULL) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
  } else {
    for (size_t i = 0; i < num_inputs; i++) {
      inputs[i] = g->inputs[i];
      types[i] = rheos_dtype_base(rheos_output_dtype(g->inputs[i]));
    }
    for (int32_t i = 0; i < g->num_outputs; i++) {
      inputs[num_inputs + (size_t)i] = rheos__is_some(g->out_grads[i].values)
                                           ? rheos__grad_dense(g, i)
                                           : rheos__op_1(g->scope, "ZerosLike", g->outputs[i]);
    }
    const char *name = rheos_operation_type(g->operation);
    const rheos_func func = {.name = {(char *)(uintptr_t)name, strlen(name)},
                             .attrs = g->attrs->items,
                             .num_attrs = (size_t)g->attrs->count};
    const rheos_attr attrs[] = {rheos_attr_func("f", &func),
                                rheos_attr_types("Tout", types, g->num_inputs)};
    const rheos_operation gradient =
        rheos__op_n(g->scope, "SymbolicGradient", NULL, inputs, count, attrs, 2);
    for (int32_t i = 0; i < g->num_inputs && gradient.graph != NULL; i++) {
      rheos__grad_set(g, i, rheos_operation_output(gradient, i));
    }
  }
  rheos__free(inputs);
  rheos__free(types);
}
