// The gradient of While and For: a While that takes the trips back. The loop itself is given one
// list more for each value of its body that the way back needs and that changes from trip to trip,
// and counts its trips; its attributes, inputs and outputs change for that, as in TensorFlow.
//
// The body of For takes the number of its trip before the variables, and the node where the numbers
// begin and end. What a trip leaves as it is (captures, mostly) needs no list. Gradients of it are
// summed up over the trips; those of the other variables are handed from trip to trip.
#include "ops/flow/call.h"

#include <string.h>

#include "autodiff/accumulate.h"
#include "autodiff/call_gradient.h"
#include "ops/kit/op_util.h"

typedef struct variable {
  bool stays;    // the body gives it back as it is
  bool carries;  // its gradient goes from trip to trip
  bool sums;     // it stays and has a gradient: what trips add to it
  int32_t at;    // of these: its place among the variables of the way back
} variable;

typedef struct backward_loop {
  rheos__grad *g;
  const rheos__function *condition, *body;  // the condition NULL: it is For
  int32_t first_input;                      // of the node that is a variable
  int32_t first_arg;                        // of the body that is one
  int32_t count;                            // of variables
  variable *variables;
  bool *has_grad;  // those that carry
  rheos__split split;
  int32_t *lists;  // by intermediate: the number of its list, -1: none
  int32_t num_lists;
  rheos_operation loop;
} backward_loop;

static bool failed(const backward_loop *l) { return rheos_scope_status(l->g->scope) != NULL; }

static void fail(backward_loop *l, rheos_status *status) {
  rheos_scope_fail_take(l->g->scope, status);
}

static bool is_float(rheos_dtype dtype) {
  dtype = rheos_dtype_base(dtype);
  return rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype);
}

// What stands for variable `i` in the body, and what the loop begins with.
static rheos__edge variable_arg(const backward_loop *l, int32_t i) {
  return l->body->args[l->first_arg + i];
}
static rheos_output first_value(const backward_loop *l, int32_t i) {
  return l->g->inputs[l->first_input + i];
}
// The gradient of the body's results with respect to it.
static rheos_output variable_grad(const backward_loop *l, int32_t i) {
  return l->split.grads[l->first_arg + i].values;
}

// ---- Which variables have gradients

// Marks what depends, by values that gradients go through, on variable `i` in the body.
static bool reaches(const backward_loop *l, int32_t variable, bool *marked,
                    rheos_status **out_status) {
  const rheos_graph *graph = l->body->graph;
  rheos__copier order;  // for the order of the nodes only
  *out_status = rheos__copier_init(&order, l->body->graph, l->g->scope);
  for (int32_t i = 0; i < order.num_nodes && *out_status == NULL; i++) {
    const int32_t id = order.order[i];
    const rheos__node *node = rheos__graph_node(graph, id);
    marked[id] = id == variable_arg(l, variable).id;
    for (int32_t k = 0; k < node->num_inputs; k++) {
      const rheos__edge edge = node->edges[k];
      const rheos_dtype dtype =
          rheos_dtype_base(rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype);
      if (!marked[edge.id]) continue;
      if (is_float(dtype) || dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) marked[id] = true;
    }
  }
  rheos__copier_deinit(&order);
  return *out_status == NULL;
}

// A variable carries if the loop's result has a gradient, or the result of another that carries
// depends on it.
static void find_carrying(backward_loop *l) {
  const size_t num_nodes = (size_t)rheos_graph_num_operations(l->body->graph);
  bool *marked = rheos__alloc_array(num_nodes + 1, sizeof *marked);
  bool *depends = rheos__alloc_array((size_t)l->count * (size_t)l->count + 1, sizeof *depends);
  rheos_status *status = marked == NULL || depends == NULL ? rheos__out_of_memory() : NULL;
  for (int32_t i = 0; i < l->count && status == NULL; i++) {
    if (!reaches(l, i, marked, &status)) break;
    for (int32_t k = 0; k < l->count; k++) {
      depends[k * l->count + i] = marked[l->body->results[k].id];
    }
  }
  bool changes = status == NULL;
  while (changes) {
    changes = false;
    for (int32_t i = 0; i < l->count; i++) {
      const rheos_dtype dtype = rheos__function_arg_dtype(l->body, l->first_arg + i);
      if (l->has_grad[i] || l->variables[i].stays || !(is_float(dtype) || dtype == RHEOS_VARIANT)) {
        continue;
      }
      for (int32_t k = 0; k < l->count && !l->has_grad[i]; k++) {
        l->has_grad[i] = l->has_grad[k] && depends[k * l->count + i];
      }
      changes = changes || l->has_grad[i];
    }
  }
  rheos__free(marked);
  rheos__free(depends);
  fail(l, status);
}

static void classify(backward_loop *l) {
  for (int32_t i = 0; i < l->count; i++) {
    const rheos__edge arg = variable_arg(l, i), result = l->body->results[i];
    l->variables[i].stays = arg.id == result.id && arg.index == result.index;
    l->has_grad[i] = !l->variables[i].stays && rheos__call_has_grad(l->g, i);
  }
  find_carrying(l);
}

// ---- The loop with its lists

static bool needs_list(const backward_loop *l, const rheos__intermediate *between) {
  const int32_t variable = between->index - l->first_arg;
  return between->kind != RHEOS__FROM_ARGUMENT || variable < 0 || !l->variables[variable].stays;
}

static void number_lists(backward_loop *l) {
  l->lists = rheos__alloc_array((size_t)l->split.num_intermediates + 1, sizeof *l->lists);
  if (l->lists == NULL) {
    fail(l, rheos__out_of_memory());
    return;
  }
  for (int32_t i = 0; i < l->split.num_intermediates; i++) {
    const rheos__intermediate *between = &l->split.intermediates[i];
    l->lists[i] = needs_list(l, between) ? l->num_lists++ : -1;
    if (l->lists[i] < 0 || rheos__split_dtype(&l->split, between->edge) != RHEOS_RESOURCE) continue;
    fail(l, rheos_status_new(RHEOS_UNIMPLEMENTED,
                             "gradients of a loop that handles of other variables go through in "
                             "each trip"));
  }
}

// What is known of the shape of a list's elements, as a tensor.
static rheos_output element_shape(rheos_scope *s, const rheos_shape *shape) {
  if (shape->rank < 0) return rheos__const_scalar(s, RHEOS_INT32, -1, "element_shape");
  int32_t dims[RHEOS_MAX_RANK] = {0};
  for (int32_t i = 0; i < shape->rank; i++) {
    dims[i] = shape->dims[i] <= INT32_MAX ? (int32_t)shape->dims[i] : -1;
  }
  return rheos__const_ints(s, dims, shape->rank, "element_shape");
}

static rheos_shape element_shape_of(const backward_loop *l, int32_t intermediate) {
  return rheos__split_shape(&l->split, l->split.intermediates[intermediate].edge);
}

static rheos_dtype element_dtype_of(const backward_loop *l, int32_t intermediate) {
  return rheos__split_dtype(&l->split, l->split.intermediates[intermediate].edge);
}

static rheos_output add_int(rheos_scope *s, rheos_output x, double number) {
  return rheos__op_2(s, "AddV2", x, rheos__const_scalar(s, RHEOS_INT32, number, NULL));
}

static void fill_loop_body(backward_loop *l, rheos_function *f, rheos__copier *c) {
  rheos_scope *s = rheos_function_scope(f);
  rheos__split_copy_forward(&l->split, f, c);
  const rheos_output trips = rheos_function_argument(f, "trips", RHEOS_INT32, RHEOS_SCALAR);
  const size_t first_list = rheos_function_num_arguments(f);
  for (int32_t i = 0; i < l->num_lists; i++) {
    rheos_function_argument(f, "list", RHEOS_VARIANT, RHEOS_SCALAR);
  }
  rheos__copy_nodes(c, l->split.forward);
  for (int32_t i = 0; i < l->count; i++) {
    rheos_function_result(f, NULL, rheos__copier_at(c, l->split.results[i]));
  }
  rheos_function_result(f, NULL, add_int(s, trips, 1));
  for (int32_t i = 0; i < l->split.num_intermediates; i++) {
    if (l->lists[i] < 0) continue;
    const rheos_output list = rheos_function_argument_at(f, first_list + (size_t)l->lists[i]);
    const rheos_output value = rheos__copier_at(c, l->split.intermediates[i].edge);
    rheos_function_result(f, NULL, rheos__op_2(s, "TensorListPushBack", list, value));
  }
  rheos__split_copy_controls(&l->split, f, c);
}

// A function from the split's work graph, filled in by `fill`; NULL with an error in the scope.
static rheos_function *make_function(backward_loop *l, const char *kind, const char *name,
                                     rheos_graph *from,
                                     void (*fill)(backward_loop *l, rheos_function *f,
                                                  rheos__copier *c)) {
  rheos_function *f = rheos__begin_gradient_function(l->g, kind, name);
  if (f == NULL) return NULL;
  rheos__copier c;
  fail(l, rheos__copier_init(&c, from, rheos_function_scope(f)));
  if (!failed(l)) fill(l, f, &c);
  rheos__copier_deinit(&c);
  if (!failed(l) && rheos_function_finish(f, l->g->scope)) return f;
  rheos_function_free(f);
  return NULL;
}

// The condition, which takes the lists too.
static void fill_loop_condition(backward_loop *l, rheos_function *f, rheos__copier *c) {
  const rheos__function *of = l->condition;
  for (int32_t i = 0; i < of->num_args; i++) {
    const rheos__edge arg = of->args[i];
    const rheos_shape shape = *rheos__graph_node(of->graph, arg.id)->outputs[arg.index].shape;
    rheos__copier_put(c, arg,
                      rheos_function_argument(f, NULL, rheos__function_arg_dtype(of, i), shape));
  }
  const rheos_shape scalar = RHEOS_SCALAR;
  rheos_function_argument(f, "trips", RHEOS_INT32, scalar);
  for (int32_t i = 0; i < l->num_lists; i++) {
    rheos_function_argument(f, "list", RHEOS_VARIANT, scalar);
  }
  bool *wanted = rheos__alloc_array((size_t)c->num_nodes + 1, sizeof *wanted);
  if (wanted == NULL) {
    rheos_scope_fail_take(c->to, rheos__out_of_memory());
    return;
  }
  for (int32_t id = 0; id < c->num_nodes; id++) {
    const unsigned flags = rheos__graph_node(of->graph, id)->signature->op->flags;
    wanted[id] = (flags & RHEOS_OP_RETVAL) == 0;
  }
  rheos__copy_nodes(c, wanted);
  rheos__free(wanted);
  for (int32_t i = 0; i < of->num_results; i++) {
    rheos_function_result(f, NULL, rheos__copier_at(c, of->results[i]));
  }
}

// The numbers of trips and the lists that the loop begins with. They wait for nothing around.
static void make_first_lists(backward_loop *l, rheos_output *inputs) {
  rheos_scope *s = l->g->scope;
  rheos_push_control_dependencies(s, NULL, 0);  // the loop itself may be among these
  inputs[0] = rheos__const_scalar(s, RHEOS_INT32, 0, "trips");
  const rheos_output none = rheos__const_scalar(s, RHEOS_INT32, -1, "max_num_elements");
  for (int32_t i = 0; i < l->split.num_intermediates; i++) {
    if (l->lists[i] < 0) continue;
    const rheos_shape shape = element_shape_of(l, i);
    const rheos_output ends[] = {element_shape(s, &shape), none};
    const rheos_attr attr = rheos_attr_type("element_dtype", element_dtype_of(l, i));
    inputs[1 + l->lists[i]] =
        rheos_operation_output(rheos__op_n(s, "EmptyTensorList", NULL, ends, 2, &attr, 1), 0);
  }
  rheos_scope_pop(s);
}

typedef struct more {
  rheos_output *inputs;
  rheos_dtype *dtypes, *types;
  rheos_shape *shapes, *told;
} more;

static void free_more(more *m) {
  rheos__free(m->inputs);
  rheos__free(m->dtypes);
  rheos__free(m->types);
  rheos__free(m->shapes);
  rheos__free(m->told);
}

// The shapes that the attribute tells, and those of the lists: none if it tells none.
static rheos_shape *more_shapes(const backward_loop *l, const rheos_shape *shapes, size_t count,
                                size_t *out_count) {
  const rheos_attr_value *told = rheos__attrs_find(l->g->attrs, "output_shapes");
  const size_t before = told != NULL && told->count > 0 ? (size_t)told->count : 0;
  rheos_shape *all = rheos__alloc_array(before + count + 1, sizeof *all);
  *out_count = before > 0 ? before + count : 0;
  if (all == NULL || before == 0) return all;
  memcpy(all, told->shapes, before * sizeof *all);
  memcpy(all + before, shapes, count * sizeof *all);
  return all;
}

// `condition` is NULL for For.
static void extend_loop(backward_loop *l, const rheos_function *condition,
                        const rheos_function *body) {
  const size_t count = 1 + (size_t)l->num_lists;
  size_t num_told = 0;
  more m = {.inputs = rheos__alloc_array(count, sizeof *m.inputs),
            .dtypes = rheos__alloc_array(count, sizeof *m.dtypes),
            .shapes = rheos__alloc_array(count, sizeof *m.shapes)};
  if (m.inputs != NULL && m.dtypes != NULL && m.shapes != NULL) {
    for (size_t i = 0; i < count; i++) {
      m.dtypes[i] = i == 0 ? RHEOS_INT32 : RHEOS_VARIANT;
      m.shapes[i] = RHEOS_SCALAR;
    }
    make_first_lists(l, m.inputs);
    m.types = rheos__more_types(l->g, "T", m.dtypes, count);
    m.told = more_shapes(l, m.shapes, count, &num_told);
  }
  if (m.types == NULL || m.told == NULL) {
    fail(l, rheos__out_of_memory());
  } else if (!failed(l)) {
    rheos_attr attrs[4] = {rheos_attr_func("body", rheos_function_func(body)),
                           rheos_attr_types("T", m.types, l->count + (int32_t)count)};
    size_t num_attrs = 2;
    if (condition != NULL) {
      attrs[num_attrs++] = rheos_attr_func("cond", rheos_function_func(condition));
      attrs[num_attrs++] = (rheos_attr){
          "output_shapes",
          {.kind = RHEOS_ATTR_LIST_SHAPE, .count = (int32_t)num_told, .shapes = m.told}};
    }
    const rheos__extension extension = {.attrs = attrs,
                                        .num_attrs = num_attrs,
                                        .inputs = m.inputs,
                                        .num_inputs = count,
                                        .output_dtypes = m.dtypes,
                                        .output_shapes = m.shapes,
                                        .num_outputs = count};
    fail(l, rheos__graph_extend_node(l->g->operation.graph, l->g->operation.id, &extension));
  }
  free_more(&m);
}

static void rewrite_loop(backward_loop *l) {
  rheos_function *body = make_function(l, "forward", l->body->name, l->split.graph, fill_loop_body);
  rheos_function *condition = NULL;
  if (body != NULL && l->condition != NULL) {
    condition =
        make_function(l, "forward", l->condition->name, l->condition->graph, fill_loop_condition);
  }
  if (body != NULL && !failed(l)) extend_loop(l, condition, body);
  rheos_function_free(condition);
  rheos_function_free(body);
}

// ---- The way back: the trips that are left, gradients, the lists, what stays

static bool sums(const backward_loop *l, int32_t i) {
  return l->variables[i].stays && rheos__is_some(variable_grad(l, i));
}

// The variables of the way back, in order; what they are at the start, and in `f` (NULL: not
// asked).
static size_t num_backward(const backward_loop *l) {
  size_t count = 1 + (size_t)l->split.num_intermediates;
  for (int32_t i = 0; i < l->count; i++) count += l->has_grad[i] || sums(l, i);
  return count;
}

static rheos_output zeros_of_variable(backward_loop *l, int32_t i) {
  rheos_scope *s = l->g->scope;
  const rheos_output grad = variable_grad(l, i);
  const rheos_output value = first_value(l, i);
  if (rheos_dtype_base(rheos_output_dtype(value)) != RHEOS_RESOURCE) {
    return rheos__op_1(s, "ZerosLike", value);
  }
  const rheos_output shape = rheos__op_1(s, "VariableShape", value);
  return rheos__op_2(s, "Fill", shape,
                     rheos__const_scalar(s, rheos_dtype_base(rheos_output_dtype(grad)), 0, NULL));
}

static void list_start(backward_loop *l, rheos_output *values) {
  size_t at = 0;
  values[at++] = rheos_operation_output(l->g->operation, l->count);
  for (int32_t i = 0; i < l->count; i++) {
    if (!l->has_grad[i] && !sums(l, i)) continue;
    l->variables[i].at = (int32_t)at;
    const bool is_given = rheos__is_some(l->g->out_grads[i].values);
    if (is_given) {
      values[at++] = rheos__grad_dense(l->g, i);
    } else if (l->has_grad[i]) {
      values[at++] = rheos__op_1(l->g->scope, "ZerosLike", l->g->outputs[i]);
    } else {
      values[at++] = zeros_of_variable(l, i);
    }
  }
  for (int32_t i = 0; i < l->split.num_intermediates; i++) {
    const rheos__intermediate *between = &l->split.intermediates[i];
    values[at++] = l->lists[i] < 0
                       ? first_value(l, between->index - l->first_arg)
                       : rheos_operation_output(l->g->operation, l->count + 1 + l->lists[i]);
  }
}

static void add_backward_arguments(const backward_loop *l, rheos_function *f) {
  const rheos_shape scalar = RHEOS_SCALAR, unknown = RHEOS_UNKNOWN_SHAPE;
  rheos_function_argument(f, "trips", RHEOS_INT32, scalar);
  for (int32_t i = 0; i < l->count; i++) {
    if (!l->has_grad[i] && !sums(l, i)) continue;
    const bool carries = l->has_grad[i];
    const rheos_output like = carries ? l->split.grad_ys[i] : variable_grad(l, i);
    rheos_function_argument(f, "gradient", rheos_dtype_base(rheos_output_dtype(like)),
                            carries ? rheos_output_shape(like) : unknown);
  }
  for (int32_t i = 0; i < l->split.num_intermediates; i++) {
    const bool is_list = l->lists[i] >= 0;
    rheos_function_argument(f, is_list ? "list" : "value",
                            is_list ? RHEOS_VARIANT : element_dtype_of(l, i),
                            is_list ? scalar : element_shape_of(l, i));
  }
}

// Takes the values of the trip off the lists, which `rests` get.
static void take_off(backward_loop *l, rheos_function *f, rheos__copier *c, rheos_output *rests) {
  rheos_scope *s = rheos_function_scope(f);
  const size_t first = num_backward(l) - (size_t)l->split.num_intermediates;
  for (int32_t i = 0; i < l->split.num_intermediates; i++) {
    const rheos_output given = rheos_function_argument_at(f, first + (size_t)i);
    const rheos__edge edge = l->split.intermediates[i].edge;
    rests[i] = given;
    if (l->lists[i] < 0) {
      rheos__copier_put(c, edge, given);
      continue;
    }
    const rheos_shape shape = element_shape_of(l, i);
    const rheos_output inputs[] = {given, element_shape(s, &shape)};
    const rheos_attr attr = rheos_attr_type("element_dtype", element_dtype_of(l, i));
    const rheos_operation pop = rheos__op_n(s, "TensorListPopBack", NULL, inputs, 2, &attr, 1);
    rests[i] = rheos_operation_output(pop, 0);
    rheos__copier_put(c, edge, rheos_operation_output(pop, 1));
  }
}

static void add_backward_results(backward_loop *l, rheos_function *f, rheos__copier *c) {
  rheos_scope *s = rheos_function_scope(f);
  rheos_function_result(f, NULL, add_int(s, rheos_function_argument_at(f, 0), -1));
  for (int32_t i = 0; i < l->count; i++) {
    if (!l->has_grad[i] && !sums(l, i)) continue;
    const rheos_output before = rheos_function_argument_at(f, (size_t)l->variables[i].at);
    const rheos_output grad = variable_grad(l, i);
    rheos_output result;
    if (!rheos__is_some(grad)) {
      result = rheos__op_1(s, "ZerosLike", before);
    } else {
      result = rheos__copy_edge(c, (rheos__edge){grad.id, grad.index});
      const rheos_output both[] = {before, result};
      if (sums(l, i)) {
        result = rheos_operation_output(rheos__op_n(s, "AddN", NULL, both, 2, NULL, 0), 0);
      }
    }
    rheos_function_result(f, NULL, result);
  }
}

static void fill_backward_body(backward_loop *l, rheos_function *f, rheos__copier *c) {
  const size_t num_rests = (size_t)l->split.num_intermediates;
  rheos_output *rests = rheos__alloc_array(num_rests + 1, sizeof *rests);
  if (rests == NULL) {
    rheos_scope_fail_take(c->to, rheos__out_of_memory());
    return;
  }
  add_backward_arguments(l, f);
  for (int32_t i = 0; i < l->count; i++) {
    if (!l->has_grad[i]) continue;
    rheos__copier_put(c, (rheos__edge){l->split.grad_ys[i].id, 0},
                      rheos_function_argument_at(f, (size_t)l->variables[i].at));
  }
  take_off(l, f, c, rests);
  rheos__copy_nodes(c, l->split.backward);
  add_backward_results(l, f, c);
  for (size_t i = 0; i < num_rests; i++) rheos_function_result(f, NULL, rests[i]);
  rheos__free(rests);
}

static void fill_backward_condition(backward_loop *l, rheos_function *f, rheos__copier *c) {
  rheos_scope *s = c->to;
  add_backward_arguments(l, f);
  const rheos_output trips = rheos_function_argument_at(f, 0);
  const rheos_output zero = rheos__const_scalar(s, RHEOS_INT32, 0, NULL);
  rheos_function_result(f, NULL, rheos__op_2(s, "Greater", trips, zero));
}

static void set_gradients(backward_loop *l, rheos_operation back) {
  for (int32_t i = 0; i < l->count && back.graph != NULL; i++) {
    if (l->has_grad[i] || sums(l, i)) {
      rheos__grad_set(l->g, l->first_input + i, rheos_operation_output(back, l->variables[i].at));
    } else if (l->variables[i].stays) {
      l->g->in_grads[l->first_input + i] = l->g->out_grads[i];
    }
  }
}

static void add_backward_loop(backward_loop *l) {
  const size_t count = num_backward(l);
  rheos_output *values = rheos__alloc_array(count + 1, sizeof *values);
  rheos_function *body = NULL, *condition = NULL;
  if (values == NULL) fail(l, rheos__out_of_memory());
  if (values != NULL) list_start(l, values);
  if (!failed(l)) {
    body = make_function(l, "backward", l->body->name, l->split.graph, fill_backward_body);
  }
  if (body != NULL) {
    const char *name = l->condition != NULL ? l->condition->name : l->body->name;
    condition = make_function(l, "backward", name, l->split.graph, fill_backward_condition);
  }
  if (condition != NULL) {
    const rheos_attr attrs[] = {rheos_attr_func("cond", rheos_function_func(condition)),
                                rheos_attr_func("body", rheos_function_func(body))};
    const char *type = rheos_function_is_stateful(body) ? "While" : "StatelessWhile";
    set_gradients(l, rheos__op_n(l->g->scope, type, NULL, values, count, attrs, 2));
  }
  rheos_function_free(condition);
  rheos_function_free(body);
  rheos__free(values);
}

// ---- The whole

static bool fits(const backward_loop *l) {
  return l->body->num_args == l->first_arg + l->count && l->body->num_results == l->count &&
         (l->condition == NULL || l->condition->num_args == l->count);
}

static bool init_backward_loop(backward_loop *l, rheos__grad *g) {
  const rheos_attr_value *condition = rheos__attrs_find(g->attrs, "cond");
  *l = (backward_loop){.g = g,
                       .first_input = g->num_inputs - g->num_outputs,
                       .first_arg = condition == NULL ? 1 : 0,
                       .count = g->num_outputs};
  l->body = rheos__function_of(g, rheos__attrs_find(g->attrs, "body")->func);
  if (l->body == NULL) return false;
  if (condition != NULL) l->condition = rheos__function_of(g, condition->func);
  if (condition != NULL && l->condition == NULL) return false;
  if (!fits(l)) {
    fail(l, RHEOS_INVALID("function %s does not fit the loop", l->body->name));
    return false;
  }
  l->variables = rheos__alloc_array((size_t)l->count + 1, sizeof *l->variables);
  l->has_grad = rheos__alloc_array((size_t)l->count + 1, sizeof *l->has_grad);
  if (l->variables != NULL && l->has_grad != NULL) return true;
  fail(l, rheos__out_of_memory());
  return false;
}

void rheos__gradient_loop(rheos__grad *g) {
  backward_loop l;
  bool is_open = false;
  if (init_backward_loop(&l, g)) {
    classify(&l);
    is_open = !failed(&l) && rheos__enter_gradient(g, l.body);
    if (is_open && rheos__split_init(&l.split, g->scope, l.body, l.has_grad, false, g->options)) {
      number_lists(&l);
      if (!failed(&l)) rewrite_loop(&l);
      if (!failed(&l)) add_backward_loop(&l);
    }
  }
  if (is_open) rheos__leave_gradient(g);
  rheos__split_deinit(&l.split);
  rheos__free(l.variables);
  rheos__free(l.has_grad);
  rheos__free(l.lists);
}
