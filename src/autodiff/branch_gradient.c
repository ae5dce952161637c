// The gradient of If and Case: a choice, by the same condition, of the gradients of the branches.
// What that of one branch needs of its body the node gives in optionals, which the other branches
// leave empty; its attributes and number of outputs change for that, as in TensorFlow.
#include "ops/flow/call.h"

#include <string.h>

#include "autodiff/accumulate.h"
#include "autodiff/call_gradient.h"
#include "ops/kit/op_util.h"

typedef struct branch {
  const rheos__function *of;
  rheos__split split;
  int32_t first_optional;  // of its own among all
  rheos_function *forward, *backward;
} branch;

typedef struct choice {
  rheos__grad *g;
  branch *branches;
  int32_t count;
  bool is_if;
  int32_t num_args, num_results, num_optionals;
  bool *has_grad;     // by result
  bool *wants;        // by argument: some branch has a gradient of it
  bool *is_sparse;    // by argument: some branch has a sparse one, so that of all branches are
  bool *uses_arg;     // by argument: some gradient reads it
  bool *uses_result;  // the same of results
} choice;

static bool failed(const choice *c) { return rheos_scope_status(c->g->scope) != NULL; }

static void fail(choice *c, rheos_status *status) { rheos_scope_fail_take(c->g->scope, status); }

// ---- The branches

static const rheos_func *func_at(const choice *c, int32_t i) {
  if (!c->is_if) return &rheos__attrs_find(c->g->attrs, "branches")->funcs[i];
  return rheos__attrs_find(c->g->attrs, i == 0 ? "then_branch" : "else_branch")->func;
}

static bool split_branch(choice *c, branch *b) {
  if (b->of->num_args != c->num_args || b->of->num_results != c->num_results) {
    fail(c, RHEOS_INVALID("function %s does not fit its call", b->of->name));
    return false;
  }
  if (!rheos__enter_gradient(c->g, b->of)) return false;
  const bool is_made =
      rheos__split_init(&b->split, c->g->scope, b->of, c->has_grad, true, c->g->options);
  rheos__leave_gradient(c->g);
  return is_made;
}

static bool init_choice(choice *c, rheos__grad *g) {
  *c = (choice){.g = g, .num_args = g->num_inputs - 1, .num_results = g->num_outputs};
  const rheos_attr_value *listed = rheos__attrs_find(g->attrs, "branches");
  c->is_if = listed == NULL;
  const int32_t count = c->is_if ? 2 : listed->count;
  const size_t num_args = (size_t)c->num_args + 1, num_results = (size_t)c->num_results + 1;
  c->branches = rheos__alloc_array((size_t)count + 1, sizeof *c->branches);
  c->has_grad = rheos__alloc_array(num_results, sizeof *c->has_grad);
  c->wants = rheos__alloc_array(num_args, sizeof *c->wants);
  c->is_sparse = rheos__alloc_array(num_args, sizeof *c->is_sparse);
  c->uses_arg = rheos__alloc_array(num_args, sizeof *c->uses_arg);
  c->uses_result = rheos__alloc_array(num_results, sizeof *c->uses_result);
  if (c->branches == NULL || c->has_grad == NULL || c->wants == NULL || c->uses_arg == NULL ||
      c->uses_result == NULL || c->is_sparse == NULL) {
    fail(c, rheos__out_of_memory());
    return false;
  }
  c->count = count;
  for (int32_t i = 0; i < c->num_results; i++) c->has_grad[i] = rheos__call_has_grad(g, i);
  for (int32_t i = 0; i < count; i++) {
    branch *b = &c->branches[i];
    b->of = rheos__function_of(g, func_at(c, i));
    if (b->of == NULL || !split_branch(c, b)) return false;
    b->first_optional = c->num_optionals;
    c->num_optionals += b->split.num_from_body;
  }
  return true;
}

static void deinit_choice(choice *c) {
  for (int32_t i = 0; i < c->count; i++) {
    rheos__split_deinit(&c->branches[i].split);
    rheos_function_free(c->branches[i].forward);
    rheos_function_free(c->branches[i].backward);
  }
  rheos__free(c->branches);
  rheos__free(c->has_grad);
  rheos__free(c->wants);
  rheos__free(c->is_sparse);
  rheos__free(c->uses_arg);
  rheos__free(c->uses_result);
}

// Gradients of the same arguments come from all branches: zeros, which are made of the argument,
// from those that have none.
static void list_uses(choice *c) {
  for (int32_t i = 0; i < c->count; i++) {
    const rheos__split *s = &c->branches[i].split;
    for (int32_t k = 0; k < c->num_args; k++) {
      c->wants[k] = c->wants[k] || rheos__is_some(s->grads[k].values);
      c->is_sparse[k] = c->is_sparse[k] || rheos__is_some(s->grads[k].indices);
    }
    for (int32_t k = 0; k < s->num_intermediates; k++) {
      const rheos__intermediate *between = &s->intermediates[k];
      if (between->kind == RHEOS__FROM_ARGUMENT) c->uses_arg[between->index] = true;
      if (between->kind == RHEOS__FROM_RESULT) c->uses_result[between->index] = true;
    }
  }
  for (int32_t i = 0; i < c->count; i++) {
    for (int32_t k = 0; k < c->num_args; k++) {
      const bool lacks = !rheos__is_some(c->branches[i].split.grads[k].values);
      if (c->wants[k] && lacks) c->uses_arg[k] = true;
    }
  }
}

// ---- The branches with their optionals

static void give_optionals(const choice *c, const branch *b, rheos_function *f,
                           rheos__copier *copier) {
  rheos_scope *s = rheos_function_scope(f);
  for (int32_t i = 0; i < c->count; i++) {
    const rheos__split *of = &c->branches[i].split;
    for (int32_t k = 0; k < of->num_intermediates; k++) {
      if (of->intermediates[k].kind != RHEOS__FROM_BODY) continue;
      rheos_output value = {NULL, 0, 0};
      size_t count = 0;
      const char *type = "OptionalNone";
      if (&c->branches[i] == b) {
        value = rheos__copier_at(copier, of->intermediates[k].edge);
        type = "OptionalFromValue";
        count = 1;
      }
      const rheos_operation optional = rheos__op_n(s, type, NULL, &value, count, NULL, 0);
      rheos_function_result(f, NULL, rheos_operation_output(optional, 0));
    }
  }
}

static void fill_forward(choice *c, branch *b, rheos_function *f, rheos__copier *copier) {
  rheos__split_copy_forward(&b->split, f, copier);
  rheos__copy_nodes(copier, b->split.forward);
  for (int32_t i = 0; i < c->num_results; i++) {
    rheos_function_result(f, NULL, rheos__copier_at(copier, b->split.results[i]));
  }
  give_optionals(c, b, f, copier);
  rheos__split_copy_controls(&b->split, f, copier);
}

static rheos_function *make_function(choice *c, branch *b, const char *kind,
                                     void (*fill)(choice *c, branch *b, rheos_function *f,
                                                  rheos__copier *copier)) {
  rheos_function *f = rheos__begin_gradient_function(c->g, kind, b->of->name);
  if (f == NULL) return NULL;
  rheos__copier copier;
  fail(c, rheos__copier_init(&copier, b->split.graph, rheos_function_scope(f)));
  if (!failed(c)) fill(c, b, f, &copier);
  rheos__copier_deinit(&copier);
  if (!failed(c) && rheos_function_finish(f, c->g->scope)) return f;
  rheos_function_free(f);
  return NULL;
}

// The functions as the attributes that the node has them in; `funcs` has room, as `attrs` for two.
static size_t func_attrs(const choice *c, bool forward, rheos_func *funcs, rheos_attr *attrs) {
  for (int32_t i = 0; i < c->count; i++) {
    const branch *b = &c->branches[i];
    funcs[i] = *rheos_function_func(forward ? b->forward : b->backward);
  }
  if (c->is_if) {
    attrs[0] = rheos_attr_func("then_branch", &funcs[0]);
    attrs[1] = rheos_attr_func("else_branch", &funcs[1]);
    return 2;
  }
  attrs[0] =
      (rheos_attr){"branches", {.kind = RHEOS_ATTR_LIST_FUNC, .count = c->count, .funcs = funcs}};
  return 1;
}

// What the node tells of shapes, then scalars; empty if it tells nothing.
static rheos_attr more_shapes(const choice *c, rheos_shape *shapes) {
  const rheos_attr_value *told = rheos__attrs_find(c->g->attrs, "output_shapes");
  int32_t count = told != NULL ? told->count : 0;
  if (count > 0) memcpy(shapes, told->shapes, (size_t)count * sizeof *shapes);
  for (int32_t i = 0; told != NULL && told->count > 0 && i < c->num_optionals; i++) {
    shapes[count++] = RHEOS_SCALAR;
  }
  return (rheos_attr){"output_shapes",
                      {.kind = RHEOS_ATTR_LIST_SHAPE, .count = count, .shapes = shapes}};
}

static void extend_choice(choice *c) {
  const size_t count = (size_t)c->num_optionals;
  rheos_func *funcs = rheos__alloc_array((size_t)c->count + 1, sizeof *funcs);
  rheos_dtype *dtypes = rheos__alloc_array(count + 1, sizeof *dtypes);
  rheos_shape *shapes = rheos__alloc_array(count + 1, sizeof *shapes);
  rheos_shape *told = rheos__alloc_array(count + (size_t)c->num_results + 1, sizeof *told);
  for (size_t i = 0; dtypes != NULL && shapes != NULL && i < count; i++) {
    dtypes[i] = RHEOS_VARIANT;
    shapes[i] = RHEOS_SCALAR;
  }
  rheos_dtype *types = dtypes != NULL ? rheos__more_types(c->g, "Tout", dtypes, count) : NULL;
  if (funcs == NULL || types == NULL || shapes == NULL || told == NULL) {
    fail(c, rheos__out_of_memory());
  } else {
    rheos_attr attrs[4];
    size_t num_attrs = func_attrs(c, true, funcs, attrs);
    attrs[num_attrs++] = rheos_attr_types("Tout", types, c->num_results + c->num_optionals);
    attrs[num_attrs++] = more_shapes(c, told);
    const rheos__extension extension = {.attrs = attrs,
                                        .num_attrs = num_attrs,
                                        .output_dtypes = dtypes,
                                        .output_shapes = shapes,
                                        .num_outputs = count};
    fail(c, rheos__graph_extend_node(c->g->operation.graph, c->g->operation.id, &extension));
  }
  rheos__free(funcs);
  rheos__free(dtypes);
  rheos__free(types);
  rheos__free(shapes);
  rheos__free(told);
}

static void rewrite_choice(choice *c) {
  if (c->num_optionals == 0) return;
  for (int32_t i = 0; i < c->count && !failed(c); i++) {
    c->branches[i].forward = make_function(c, &c->branches[i], "forward", fill_forward);
  }
  if (!failed(c)) extend_choice(c);
}

// ---- The way back. Its functions take gradients of results, arguments, results, optionals.

// The number of the first argument of each kind.
typedef struct places {
  size_t args, results, optionals, count;
} places;

static size_t count_true(const bool *flags, int32_t count) {
  size_t n = 0;
  for (int32_t i = 0; i < count; i++) n += flags[i];
  return n;
}

static places places_of(const choice *c) {
  places at = {.args = count_true(c->has_grad, c->num_results)};
  at.results = at.args + count_true(c->uses_arg, c->num_args);
  at.optionals = at.results + count_true(c->uses_result, c->num_results);
  at.count = at.optionals + (size_t)c->num_optionals;
  return at;
}

// Where argument or result `index` is among those used.
static size_t place_in(const bool *uses, int32_t index, size_t first) {
  return first + count_true(uses, index);
}

static void list_back_inputs(choice *c, rheos_output *inputs) {
  size_t at = 0;
  inputs[at++] = c->g->inputs[0];
  for (int32_t i = 0; i < c->num_results; i++) {
    if (c->has_grad[i]) inputs[at++] = rheos__grad_dense(c->g, i);
  }
  for (int32_t i = 0; i < c->num_args; i++) {
    if (c->uses_arg[i]) inputs[at++] = c->g->inputs[1 + i];
  }
  for (int32_t i = 0; i < c->num_results; i++) {
    if (c->uses_result[i]) inputs[at++] = c->g->outputs[i];
  }
  for (int32_t i = 0; i < c->num_optionals; i++) {
    inputs[at++] = rheos_operation_output(c->g->operation, c->num_results + i);
  }
}

static void add_back_arguments(const choice *c, const branch *b, rheos_function *f) {
  const rheos__split *s = &b->split;
  for (int32_t i = 0; i < c->num_results; i++) {
    if (!c->has_grad[i]) continue;
    rheos_function_argument(f, "gradient", rheos_output_dtype(s->grad_ys[i]),
                            rheos_output_shape(s->grad_ys[i]));
  }
  for (int32_t i = 0; i < c->num_args; i++) {
    if (!c->uses_arg[i]) continue;
    const rheos_output arg = rheos_function_argument_at(s->work, (size_t)i);
    rheos_function_argument(f, "argument", rheos_output_dtype(arg), rheos_output_shape(arg));
  }
  for (int32_t i = 0; i < c->num_results; i++) {
    if (!c->uses_result[i]) continue;
    rheos_function_argument(f, "result", rheos__split_dtype(s, s->results[i]),
                            rheos__split_shape(s, s->results[i]));
  }
  for (int32_t i = 0; i < c->num_optionals; i++) {
    rheos_function_argument(f, "optional", RHEOS_VARIANT, RHEOS_SCALAR);
  }
}

static rheos_output take_optional(const branch *b, rheos_function *f, rheos__edge edge,
                                  size_t place) {
  const rheos_output optional = rheos_function_argument_at(f, place);
  const rheos_dtype dtype = rheos__split_dtype(&b->split, edge);
  const rheos_shape shape = rheos__split_shape(&b->split, edge);
  const rheos_attr attrs[] = {
      rheos_attr_types("output_types", &dtype, 1),
      {"output_shapes", {.kind = RHEOS_ATTR_LIST_SHAPE, .count = 1, .shapes = &shape}}};
  return rheos_operation_output(
      rheos__op_n(rheos_function_scope(f), "OptionalGetValue", NULL, &optional, 1, attrs, 2), 0);
}

static void put_intermediates(const choice *c, const branch *b, rheos_function *f,
                              rheos__copier *copier) {
  const rheos__split *s = &b->split;
  const places at = places_of(c);
  for (int32_t i = 0; i < c->num_results; i++) {
    if (!c->has_grad[i]) continue;
    rheos__copier_put(copier, (rheos__edge){s->grad_ys[i].id, 0},
                      rheos_function_argument_at(f, place_in(c->has_grad, i, 0)));
  }
  for (int32_t i = 0; i < s->num_intermediates; i++) {
    const rheos__intermediate *between = &s->intermediates[i];
    rheos_output value;
    if (between->kind == RHEOS__FROM_ARGUMENT) {
      value = rheos_function_argument_at(f, place_in(c->uses_arg, between->index, at.args));
    } else if (between->kind == RHEOS__FROM_RESULT) {
      value = rheos_function_argument_at(f, place_in(c->uses_result, between->index, at.results));
    } else {
      const size_t own = (size_t)b->first_optional + (size_t)between->index;
      value = take_optional(b, f, between->edge, at.optionals + own);
    }
    rheos__copier_put(copier, between->edge, value);
  }
}

// A gradient of argument `arg` from the branches that have one.
static rheos_dtype grad_dtype(const choice *c, int32_t arg) {
  for (int32_t i = 0; i < c->count; i++) {
    const rheos_output grad = c->branches[i].split.grads[arg].values;
    if (rheos__is_some(grad)) return rheos_dtype_base(rheos_output_dtype(grad));
  }
  return RHEOS_FLOAT;
}

static rheos_output zeros_of_argument(const choice *c, rheos_function *f, int32_t arg) {
  rheos_scope *s = rheos_function_scope(f);
  const rheos_output value =
      rheos_function_argument_at(f, place_in(c->uses_arg, arg, places_of(c).args));
  if (rheos_output_dtype(value) != RHEOS_RESOURCE) return rheos__op_1(s, "ZerosLike", value);
  return rheos__op_2(s, "Fill", rheos__op_1(s, "VariableShape", value),
                     rheos__const_scalar(s, grad_dtype(c, arg), 0, NULL));
}

// ---- Sparse gradients: the rows that a branch has, with their numbers

static rheos_dtype index_dtype(const choice *c, int32_t arg) {
  for (int32_t i = 0; i < c->count; i++) {
    const rheos_output indices = c->branches[i].split.grads[arg].indices;
    if (rheos__is_some(indices) && rheos_output_dtype(indices) == RHEOS_INT64) return RHEOS_INT64;
  }
  return RHEOS_INT32;
}

static rheos_output cast_indices(rheos_scope *s, rheos_output indices, rheos_dtype dtype) {
  if (indices.graph == NULL || rheos_output_dtype(indices) == dtype) return indices;
  const rheos_attr attr = rheos_attr_type("DstT", dtype);
  return rheos_operation_output(rheos__op_n(s, "Cast", NULL, &indices, 1, &attr, 1), 0);
}

static rheos_output shape_of(rheos_scope *s, rheos_output value) {
  const bool is_handle = rheos_dtype_base(rheos_output_dtype(value)) == RHEOS_RESOURCE;
  return rheos__op_1(s, is_handle ? "VariableShape" : "Shape", value);
}

// Part of a vector from `first` on; of one element, or of all that follow.
static rheos_output part_of_vector(rheos_scope *s, rheos_output vector, int32_t first, bool one) {
  const int32_t end = first + 1, step = 1;
  const rheos_output inputs[] = {vector, rheos__const_ints(s, &first, 1, NULL),
                                 rheos__const_ints(s, &end, 1, NULL),
                                 rheos__const_ints(s, &step, 1, NULL)};
  const rheos_attr attr = rheos_attr_int(one ? "shrink_axis_mask" : "end_mask", 1);
  return rheos_operation_output(rheos__op_n(s, "StridedSlice", NULL, inputs, 4, &attr, 1), 0);
}

// All rows of a dense one.
static void give_all_rows(rheos_function *f, rheos_output values, rheos_dtype dtype) {
  rheos_scope *s = rheos_function_scope(f);
  const rheos_output ends[] = {rheos__const_scalar(s, RHEOS_INT32, 0, NULL),
                               part_of_vector(s, rheos__op_1(s, "Shape", values), 0, true),
                               rheos__const_scalar(s, RHEOS_INT32, 1, NULL)};
  const rheos_operation rows = rheos__op_n(s, "Range", NULL, ends, 3, NULL, 0);
  rheos_function_result(f, NULL, values);
  if (rows.graph == NULL) return;
  rheos_function_result(f, NULL, cast_indices(s, rheos_operation_output(rows, 0), dtype));
}

// No row.
static void give_no_rows(const choice *c, rheos_function *f, int32_t arg, rheos_dtype dtype) {
  rheos_scope *s = rheos_function_scope(f);
  const rheos_output value =
      rheos_function_argument_at(f, place_in(c->uses_arg, arg, places_of(c).args));
  const int32_t zero = 0;
  const rheos_output parts[] = {rheos__const_ints(s, &zero, 1, NULL),
                                part_of_vector(s, shape_of(s, value), 1, false),
                                rheos__const_scalar(s, RHEOS_INT32, 0, NULL)};
  const rheos_operation shape = rheos__op_n(s, "ConcatV2", NULL, parts, 3, NULL, 0);
  if (shape.graph == NULL) return;
  rheos_function_result(f, NULL,
                        rheos__op_2(s, "Fill", rheos_operation_output(shape, 0),
                                    rheos__const_scalar(s, grad_dtype(c, arg), 0, NULL)));
  rheos_function_result(f, NULL, cast_indices(s, rheos__const_ints(s, &zero, 0, NULL), dtype));
}

static void give_sparse(const choice *c, const branch *b, int32_t arg, rheos_function *f,
                        rheos__copier *copier) {
  const rheos_gradient *grad = &b->split.grads[arg];
  const rheos_dtype dtype = index_dtype(c, arg);
  if (!rheos__is_some(grad->values)) {
    give_no_rows(c, f, arg, dtype);
    return;
  }
  const rheos_output values =
      rheos__copy_edge(copier, (rheos__edge){grad->values.id, grad->values.index});
  if (!rheos__is_some(grad->indices)) {
    give_all_rows(f, values, dtype);
    return;
  }
  const rheos_output indices =
      rheos__copy_edge(copier, (rheos__edge){grad->indices.id, grad->indices.index});
  rheos_function_result(f, NULL, values);
  rheos_function_result(f, NULL, cast_indices(rheos_function_scope(f), indices, dtype));
}

static void fill_backward(choice *c, branch *b, rheos_function *f, rheos__copier *copier) {
  add_back_arguments(c, b, f);
  put_intermediates(c, b, f, copier);
  rheos__copy_nodes(copier, b->split.backward);
  for (int32_t i = 0; i < c->num_args && !failed(c); i++) {
    if (!c->wants[i]) continue;
    if (c->is_sparse[i]) {
      give_sparse(c, b, i, f, copier);
      continue;
    }
    const rheos_output grad = b->split.grads[i].values;
    rheos_function_result(f, NULL,
                          rheos__is_some(grad)
                              ? rheos__copy_edge(copier, (rheos__edge){grad.id, grad.index})
                              : zeros_of_argument(c, f, i));
  }
}

static rheos_operation add_back_choice(choice *c, const rheos_output *inputs, size_t num_inputs,
                                       rheos_func *funcs, rheos_dtype *types) {
  bool is_stateful = false;
  int32_t count = 0;
  for (int32_t i = 0; i < c->num_args; i++) {
    if (c->wants[i]) types[count++] = grad_dtype(c, i);
    if (c->wants[i] && c->is_sparse[i]) types[count++] = index_dtype(c, i);
  }
  for (int32_t i = 0; i < c->count; i++) {
    is_stateful = is_stateful || rheos_function_is_stateful(c->branches[i].backward);
  }
  rheos_attr attrs[3];
  size_t num_attrs = func_attrs(c, false, funcs, attrs);
  attrs[num_attrs++] = rheos_attr_types("Tout", types, count);
  const char *type =
      c->is_if ? (is_stateful ? "If" : "StatelessIf") : (is_stateful ? "Case" : "StatelessCase");
  return rheos__op_n(c->g->scope, type, NULL, inputs, num_inputs, attrs, num_attrs);
}

static void set_gradients(choice *c, rheos_operation back) {
  int32_t at = 0;
  for (int32_t i = 0; i < c->num_args && back.graph != NULL; i++) {
    if (!c->wants[i]) continue;
    const rheos_output grad = rheos_operation_output(back, at++);
    const rheos_output input = c->g->inputs[1 + i];
    if (c->is_sparse[i]) {
      c->g->in_grads[1 + i] =
          (rheos_gradient){grad, rheos_operation_output(back, at++), shape_of(c->g->scope, input)};
      continue;
    }
    rheos__grad_set(c->g, 1 + i, grad);
    if (rheos_dtype_base(rheos_output_dtype(input)) == RHEOS_RESOURCE) continue;
    fail(c, rheos_output_set_shape(grad, rheos_output_shape(input)));
  }
}

static void add_backward(choice *c) {
  const size_t num_inputs = 1 + places_of(c).count;
  for (int32_t i = 0; i < c->count && !failed(c); i++) {
    c->branches[i].backward = make_function(c, &c->branches[i], "backward", fill_backward);
  }
  if (failed(c)) return;
  rheos_output *inputs = rheos__alloc_array(num_inputs, sizeof *inputs);
  rheos_func *funcs = rheos__alloc_array((size_t)c->count + 1, sizeof *funcs);
  rheos_dtype *types = rheos__alloc_array(2 * (size_t)c->num_args + 1, sizeof *types);
  if (inputs == NULL || funcs == NULL || types == NULL) {
    fail(c, rheos__out_of_memory());
  } else {
    list_back_inputs(c, inputs);
    set_gradients(c, add_back_choice(c, inputs, num_inputs, funcs, types));
  }
  rheos__free(inputs);
  rheos__free(funcs);
  rheos__free(types);
}

void rheos__gradient_branches(rheos__grad *g) {
  choice c;
  if (init_choice(&c, g)) {
    list_uses(&c);
    if (count_true(c.wants, c.num_args) > 0) {
      rewrite_choice(&c);
      if (!failed(&c)) add_backward(&c);
    }
  }
  deinit_choice(&c);
}
