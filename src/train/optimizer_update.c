// The parts of a training step: slots, numbers, the update of one variable, what comes after all
// updates. Which op and which inputs, optimizer_table.c says; Adam's rows, which have no op, and
// gradient descent's rows are spelled out here.
#include <rheos/train.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "graph/handles.h"
#include "autodiff/accumulate.h"
#include "graph/dependencies.h"
#include "ops/kit/op_util.h"
#include "train/optimizer_table.h"

static const rheos_operation no_operation = {NULL, 0};
static const rheos_output none = {NULL, 0, 0};

// ---- Short forms

static rheos_output cast(rheos_scope *s, rheos_output x, rheos_dtype dtype) {
  if (!rheos__is_some(x) || rheos_dtype_base(rheos_output_dtype(x)) == dtype) return x;
  rheos_attr to = rheos_attr_type("DstT", dtype);
  return rheos_operation_output(rheos__op_n(s, "Cast", NULL, &x, 1, &to, 1), 0);
}

static rheos_output mul(rheos_scope *s, rheos_output a, rheos_output b) {
  return rheos__named_2(s, "Mul", "mul", a, b);
}

// The node that carries the name of the scope that is open.
static rheos_operation scope_node(rheos_scope *s, const char *type, const rheos_output *inputs,
                                  size_t num_inputs, const rheos_attr *attrs, size_t num_attrs) {
  char *name = rheos__scope_node_name(s);
  rheos_operation operation = no_operation;
  if (name != NULL) operation = rheos__op_n(s, type, name, inputs, num_inputs, attrs, num_attrs);
  rheos__free(name);
  return operation;
}

// OP(constant, x) or OP(x, constant), the constant inside the node's name scope.
static rheos_output with_constant(rheos_scope *s, const char *type, const char *name, double number,
                                  rheos_output x, bool constant_first) {
  rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(x));
  rheos_push_name_scope(s, name);
  rheos_output constant = rheos__const_scalar(s, dtype, number, constant_first ? "x" : "y");
  rheos_output inputs[] = {constant_first ? constant : x, constant_first ? x : constant};
  rheos_output result = rheos_operation_output(scope_node(s, type, inputs, 2, NULL, 0), 0);
  rheos_scope_pop(s);
  return result;
}

static rheos_output one_minus(rheos_scope *s, rheos_output x) {
  return rheos__is_some(x) ? with_constant(s, "Sub", "sub", 1, x, true) : none;
}

// A number as a constant of its own that is cast to `dtype`.
static rheos_output cast_constant(rheos_scope *s, double number, rheos_output tensor,
                                  rheos_dtype dtype) {
  if (rheos__is_some(tensor)) return cast(s, tensor, dtype);
  rheos_push_name_scope(s, "Cast");
  rheos_output result = rheos__const_scalar(s, RHEOS_FLOAT, number, "x");
  if (dtype != RHEOS_FLOAT) {
    rheos_attr to = rheos_attr_type("DstT", dtype);
    result = rheos_operation_output(scope_node(s, "Cast", &result, 1, &to, 1), 0);
  }
  rheos_scope_pop(s);
  return result;
}

// ---- Slots

static rheos_variable slot_of(rheos_scope *s, const rheos_optimizer *o, rheos_variable variable,
                              const char *slot_name) {
  rheos_variable slot = rheos__optimizer_find_slot(s, o, variable, slot_name);
  if (slot.graph == NULL && rheos_scope_status(s) == NULL) {
    rheos_scope_fail_take(s, RHEOS_INVALID("%s has no slot \"%s\": rheos_optimizer_make_slots() "
                                           "comes first",
                                           rheos__optimizer_name(o), slot_name));
  }
  return slot;
}

// The variable whose name comes first, as "NAME:0".
static rheos_variable first_by_name(const rheos_variable *variables, size_t count) {
  assert(count > 0);
  size_t first = 0;
  char *first_name = NULL;
  for (size_t i = 0; i < count; i++) {
    char *name = rheos__name_of_output(variables[i].handle);
    if (name != NULL && (first_name == NULL || strcmp(name, first_name) < 0)) {
      rheos__free(first_name);
      first_name = name;
      first = i;
    } else {
      rheos__free(name);
    }
  }
  rheos__free(first_name);
  return variables[first];
}

static rheos_initializer start_of(const rheos_optimizer *o, rheos__slot_start start) {
  if (start == RHEOS__SLOT_ONES) return rheos_ones();
  if (start == RHEOS__SLOT_ZEROS || start == RHEOS__SLOT_CONSTANT_ZEROS) return rheos_zeros();
  return rheos_constant_initializer(o->initial_accumulator_value);
}

// Where the slot's first value is a constant beside the variable: that constant as an initializer.
static rheos_initializer constant_start(rheos_scope *s, rheos_variable variable,
                                        rheos_initializer start) {
  rheos_shape shape = rheos_variable_static_shape(variable);
  if (!rheos_shape_is_known(&shape)) return start;
  rheos_push_control_dependencies(s, NULL, 0);
  rheos_push_colocation(s, rheos_output_operation(variable.handle));
  rheos_initializer value = {.kind = RHEOS_INIT_VALUE};
  value.value = rheos__const_fill(s, rheos_variable_dtype(variable), shape,
                                  start.kind == RHEOS_INIT_CONSTANT ? start.a : 0, "Const");
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  return value;
}

static void make_slots_of(rheos_scope *s, const rheos_optimizer *o, const rheos__optimizer_row *row,
                          rheos_variable variable) {
  rheos_initializer starts[RHEOS_OPTIMIZER_MAX_SLOTS];
  bool is_new[RHEOS_OPTIMIZER_MAX_SLOTS];
  for (int i = 0; i < RHEOS_OPTIMIZER_MAX_SLOTS && row->slots[i].name != NULL; i++) {
    const rheos__slot_row *slot = &row->slots[i];
    is_new[i] = rheos__optimizer_find_slot(s, o, variable, slot->name).graph == NULL;
    starts[i] = start_of(o, slot->start);
    if (is_new[i] && slot->start >= RHEOS__SLOT_CONSTANT_ZEROS) {
      starts[i] = constant_start(s, variable, starts[i]);
    }
  }
  for (int i = 0; i < RHEOS_OPTIMIZER_MAX_SLOTS && row->slots[i].name != NULL; i++) {
    const rheos__slot_row *slot = &row->slots[i];
    const char *name = NULL;
    if (slot->own_name != 0) memcpy(&name, (const char *)o + slot->own_name, sizeof name);
    if (is_new[i]) rheos_optimizer_make_slot(s, *o, variable, slot->name, starts[i], name);
  }
}

static const rheos__optimizer_row *checked_row(rheos_scope *s, const rheos_optimizer *o) {
  const rheos__optimizer_row *row = o != NULL ? rheos__optimizer_row_of(o) : NULL;
  if (row == NULL && rheos_scope_status(s) == NULL) {
    rheos_scope_fail_take(
        s, RHEOS_INVALID("an optimizer of unknown kind %d", o != NULL ? (int)o->kind : 0));
  }
  return rheos_scope_status(s) == NULL ? row : NULL;
}

void rheos_optimizer_make_slots(rheos_scope *s, rheos_optimizer optimizer,
                                const rheos_variable *variables, size_t count) {
  const rheos__optimizer_row *row = checked_row(s, &optimizer);
  if (row == NULL || count == 0) return;
  rheos_status *status = rheos__check_variables(rheos_scope_graph(s), variables, count);
  if (!rheos__scope_goes_on(s, status)) return;
  if (optimizer.kind == RHEOS_OPTIMIZER_ADAM) {
    rheos_variable first = first_by_name(variables, count);
    rheos__optimizer_make_scalar(s, &optimizer, "beta1_power", optimizer.beta1, first);
    rheos__optimizer_make_scalar(s, &optimizer, "beta2_power", optimizer.beta2, first);
  }
  for (size_t i = 0; i < count && rheos_scope_status(s) == NULL; i++) {
    make_slots_of(s, &optimizer, row, variables[i]);
  }
}

// ---- Numbers

// The step that is being made: the counter + 1.
static rheos_output next_step(rheos_scope *s, const rheos_optimizer *o) {
  if (o->global_step.graph != rheos_scope_graph(s)) {
    rheos_scope_fail_take(
        s, RHEOS_INVALID("%s needs a global_step of this graph", rheos__optimizer_name(o)));
    return none;
  }
  rheos_push_colocation(s, rheos_output_operation(o->prepared[0]));
  rheos_push_name_scope(s, "Identity");
  rheos_output counter = rheos_variable_read(s, o->global_step);
  rheos_output step = rheos_operation_output(scope_node(s, "Identity", &counter, 1, NULL, 0), 0);
  rheos_scope_pop(s);
  if (rheos__is_some(step)) step = with_constant(s, "AddV2", "add", 1, step, false);
  rheos_scope_pop(s);
  return step;
}

void rheos_optimizer_prepare(rheos_scope *s, rheos_optimizer *o) {
  const rheos__optimizer_row *row = checked_row(s, o);
  if (row == NULL) return;
  for (int i = 0; i < RHEOS_OPTIMIZER_MAX_NUMBERS && row->numbers[i].name != NULL; i++) {
    double number;
    memcpy(&number, (const char *)o + row->numbers[i].number, sizeof number);
    memcpy(&o->prepared[i], (const char *)o + row->numbers[i].tensor, sizeof(rheos_output));
    if (rheos__is_some(o->prepared[i])) continue;
    o->prepared[i] = rheos__const_scalar(s, RHEOS_FLOAT, number, row->numbers[i].name);
  }
  if (o->kind == RHEOS_OPTIMIZER_ADAGRAD_DA) o->prepared_step = next_step(s, o);
}

// ---- Changing variables

// Assign, AssignSub or ScatterAdd on a reference.
static rheos_operation on_reference(rheos_scope *s, const rheos_optimizer *o, const char *type,
                                    const rheos_output *inputs, size_t num_inputs) {
  rheos_attr attr = rheos_attr_bool("use_locking", o->use_locking);
  return rheos__op_n(s, type, NULL, inputs, num_inputs, &attr, 1);
}

// Sets a variable ("Assign") or subtracts from it ("AssignSub"); of a resource it is also read, for
// nobody, because TensorFlow does.
static rheos_operation assign(rheos_scope *s, const rheos_optimizer *o, const char *type,
                              rheos_variable variable, rheos_output value) {
  rheos_output inputs[] = {variable.handle, value};
  if (!rheos_variable_is_resource(variable)) return on_reference(s, o, type, inputs, 2);
  char resource_type[32];
  snprintf(resource_type, sizeof resource_type, "%sVariableOp", type);
  rheos_operation done = rheos__op_n(s, resource_type, NULL, inputs, 2, NULL, 0);
  rheos_attr dtype = rheos_attr_type("dtype", rheos_variable_dtype(variable));
  rheos_push_control_dependencies(s, &done, 1);
  rheos__op_n(s, "ReadVariableOp", NULL, &variable.handle, 1, &dtype, 1);
  rheos_scope_pop(s);
  return done;
}

// The variable with rows added.
static rheos_output scatter_add(rheos_scope *s, const rheos_optimizer *o, rheos_variable variable,
                                rheos_output indices, rheos_output rows) {
  rheos_output inputs[] = {variable.handle, indices, rows};
  if (!rheos_variable_is_resource(variable)) {
    return rheos_operation_output(on_reference(s, o, "ScatterAdd", inputs, 3), 0);
  }
  rheos_operation done = rheos__op_n(s, "ResourceScatterAdd", NULL, inputs, 3, NULL, 0);
  rheos_push_control_dependencies(s, &done, 1);
  rheos_output value = rheos_variable_read(s, variable);
  rheos_scope_pop(s);
  return value;
}

// ---- Adam

// A power of a beta in the variable's dtype. A resource whose dtype fits is left to be read later:
// then the answer is none.
static rheos_output power(rheos_scope *s, rheos_variable variable, rheos_dtype dtype) {
  if (!rheos_variable_is_resource(variable)) return cast(s, variable.value, dtype);
  if (dtype == RHEOS_FLOAT) return none;
  rheos_push_name_scope(s, "Cast");
  rheos_output value = rheos_variable_read(s, variable);
  rheos_attr to = rheos_attr_type("DstT", dtype);
  value = rheos_operation_output(scope_node(s, "Cast", &value, 1, &to, 1), 0);
  rheos_scope_pop(s);
  return value;
}

static rheos_output one_minus_power(rheos_scope *s, rheos_variable variable, rheos_output value) {
  return one_minus(s, rheos__is_some(value) ? value : rheos_variable_read(s, variable));
}

// moment = beta * moment, then plus (1 - beta) * rows at the rows.
static rheos_output decay_rows(rheos_scope *s, const rheos_optimizer *o, rheos_variable moment,
                               rheos_output indices, rheos_output rows, rheos_output beta) {
  rheos_output share = mul(s, rows, one_minus(s, beta));
  rheos_output decayed = mul(s, rheos_variable_read(s, moment), beta);
  rheos_operation done = assign(s, o, "Assign", moment, decayed);
  rheos_push_control_dependencies(s, &done, 1);
  rheos_output now = scatter_add(s, o, moment, indices, share);
  rheos_scope_pop(s);
  return now;
}

// Every row's moments decay, only the rows with a gradient get a new share.
static rheos_operation adam_rows(rheos_scope *s, const rheos_optimizer *o, rheos_variable variable,
                                 const rheos_gradient *rows) {
  rheos_dtype dtype = rheos_variable_dtype(variable);
  rheos_variable beta1_power = slot_of(s, o, (rheos_variable){0}, "beta1_power");
  rheos_variable beta2_power = slot_of(s, o, (rheos_variable){0}, "beta2_power");
  rheos_variable m = slot_of(s, o, variable, "m"), v = slot_of(s, o, variable, "v");
  if (rheos_scope_status(s) != NULL) return no_operation;
  rheos_output power1 = power(s, beta1_power, dtype), power2 = power(s, beta2_power, dtype);
  rheos_output numbers[4];
  for (int i = 0; i < 4; i++) numbers[i] = cast(s, o->prepared[i], dtype);
  rheos_output learning_rate = numbers[0], beta1 = numbers[1], beta2 = numbers[2];

  // rate = learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t)
  rheos_output root = rheos__op_1(s, "Sqrt", one_minus_power(s, beta2_power, power2));
  rheos_output scaled = mul(s, learning_rate, root);
  rheos_output rate =
      rheos__named_2(s, "RealDiv", "truediv", scaled, one_minus_power(s, beta1_power, power1));

  rheos_output m_now = decay_rows(s, o, m, rows->indices, rows->values, beta1);
  rheos_output squares = mul(s, rows->values, rows->values);
  rheos_output v_now = decay_rows(s, o, v, rows->indices, squares, beta2);

  // variable -= rate * m / (sqrt(v) + epsilon)
  rheos_output sqrt_v = rheos__op_1(s, "Sqrt", v_now);
  rheos_output numerator = mul(s, rate, m_now);
  rheos_output denominator = rheos__named_2(s, "AddV2", "add", sqrt_v, numbers[3]);
  rheos_output step = rheos__named_2(s, "RealDiv", "truediv", numerator, denominator);
  rheos_operation done[] = {assign(s, o, "AssignSub", variable, step),
                            rheos_output_operation(m_now), rheos_output_operation(v_now)};
  return rheos_group(s, done, 3, NULL);
}

// ---- The update of one variable

// Subtracting a row twice is subtracting the sum.
static rheos_operation descend_rows(rheos_scope *s, const rheos_optimizer *o,
                                    rheos_variable variable, const rheos_gradient *gradient) {
  if (!rheos_variable_is_resource(variable)) {
    rheos_output rate = cast(s, o->prepared[0], rheos_variable_dtype(variable));
    rheos_output step[] = {variable.handle, gradient->indices, mul(s, gradient->values, rate)};
    return on_reference(s, o, "ScatterSub", step, 3);
  }
  rheos_output negative = rheos__op_1(s, "Neg", gradient->values);
  if (!rheos__is_some(negative)) return no_operation;
  rheos_output step = rheos__is_some(o->learning_rate_tensor)
                          ? mul(s, negative, o->learning_rate_tensor)
                          : with_constant(s, "Mul", "mul", o->learning_rate, negative, false);
  rheos_output inputs[] = {variable.handle, gradient->indices, step};
  return rheos__op_n(s, "ResourceScatterAdd", NULL, inputs, 3, NULL, 0);
}

rheos_gradient rheos_unique_rows(rheos_scope *s, rheos_gradient gradient) {
  rheos_operation unique = rheos__op_n(s, "Unique", NULL, &gradient.indices, 1, NULL, 0);
  rheos_gradient rows = {.indices = rheos_operation_output(unique, 0),
                         .dense_shape = gradient.dense_shape};
  rheos_output size = rheos__first_element(s, rheos__op_1(s, "Shape", rows.indices));
  rows.values = rheos__op_3(s, "UnsortedSegmentSum", gradient.values,
                            rheos_operation_output(unique, 1), size);
  return rows;
}

enum { MAX_INPUTS = 16 };

typedef struct update_inputs {
  rheos_output items[MAX_INPUTS];
  size_t count;
} update_inputs;

static rheos_variable power_variable(rheos_scope *s, const rheos_optimizer *o, char which) {
  return slot_of(s, o, (rheos_variable){0}, which == 'p' ? "beta1_power" : "beta2_power");
}

static rheos_output input(rheos_scope *s, const rheos_optimizer *o, const rheos__optimizer_row *row,
                          rheos_variable variable, char which) {
  rheos_dtype dtype = rheos_variable_dtype(variable);
  switch (which) {
    case 'a':
    case 'b':
    case 'c': return slot_of(s, o, variable, row->slots[which - 'a'].name).handle;
    case 'p':
    case 'q': return power(s, power_variable(s, o, which), dtype);
    case 'l':
      return cast_constant(s, o->l1_regularization_strength, o->l1_regularization_strength_tensor,
                           dtype);
    case 'm':
      return cast_constant(s, o->l2_regularization_strength, o->l2_regularization_strength_tensor,
                           dtype);
    default: return cast(s, o->prepared[which - '0'], dtype);
  }
}

static void collect_inputs(rheos_scope *s, const rheos_optimizer *o,
                           const rheos__optimizer_row *row, rheos_variable variable,
                           const rheos_gradient *gradient, update_inputs *in) {
  rheos_output step = none;
  if (strchr(row->inputs, 's') != NULL) {
    step = cast(s, rheos__op_1(s, "Identity", o->prepared_step), RHEOS_INT64);
  }
  in->items[in->count++] = variable.handle;
  for (const char *at = row->inputs; *at != '\0' && rheos_scope_status(s) == NULL; at++) {
    if (*at != 'g') {
      in->items[in->count++] = *at == 's' ? step : input(s, o, row, variable, *at);
      continue;
    }
    in->items[in->count++] = gradient->values;
    if (rheos__gradient_is_sparse(gradient)) in->items[in->count++] = gradient->indices;
  }
}

// Powers that were left to be read are read in the op's own scope.
static void read_powers(rheos_scope *s, const rheos_optimizer *o, const rheos__optimizer_row *row,
                        update_inputs *in) {
  const char *first = strchr(row->inputs, 'p');
  if (first == NULL) return;
  size_t at = (size_t)(first - row->inputs) + 1;
  for (size_t i = 0; i < 2; i++) {
    if (rheos__is_some(in->items[at + i])) continue;
    in->items[at + i] = rheos_variable_read(s, power_variable(s, o, "pq"[i]));
  }
}

static rheos_operation apply_row(rheos_scope *s, const rheos_optimizer *o,
                                 const rheos__optimizer_row *row, rheos_variable variable,
                                 const rheos_gradient *gradient) {
  update_inputs in = {.count = 0};
  collect_inputs(s, o, row, variable, gradient, &in);
  if (rheos_scope_status(s) != NULL) return no_operation;
  char type[64];
  snprintf(type, sizeof type, "%s%sApply%s", rheos_variable_is_resource(variable) ? "Resource" : "",
           rheos__gradient_is_sparse(gradient) ? "Sparse" : "", row->op);
  rheos_attr attrs[] = {rheos_attr_bool("use_locking", o->use_locking),
                        rheos_attr_bool("use_nesterov", o->use_nesterov)};
  size_t num_attrs = o->kind == RHEOS_OPTIMIZER_MOMENTUM ? 2 : 1;
  rheos_push_name_scope(s, type);
  read_powers(s, o, row, &in);
  rheos_operation update = scope_node(s, type, in.items, in.count, attrs, num_attrs);
  rheos_scope_pop(s);
  return update;
}

rheos_operation rheos_optimizer_update(rheos_scope *s, rheos_optimizer optimizer,
                                       rheos_variable variable, rheos_gradient gradient) {
  const rheos__optimizer_row *row = checked_row(s, &optimizer);
  if (row == NULL) return no_operation;
  if (!rheos__gradient_is_sparse(&gradient)) {
    return apply_row(s, &optimizer, row, variable, &gradient);
  }
  if (optimizer.kind == RHEOS_OPTIMIZER_GRADIENT_DESCENT) {
    return descend_rows(s, &optimizer, variable, &gradient);
  }
  rheos_gradient rows = rheos_unique_rows(s, gradient);
  if (optimizer.kind == RHEOS_OPTIMIZER_ADAM) return adam_rows(s, &optimizer, variable, &rows);
  return apply_row(s, &optimizer, row, variable, &rows);
}

// ---- The end of a step

// power *= beta, after the updates.
static rheos_operation advance_power(rheos_scope *s, const rheos_optimizer *o,
                                     rheos_variable variable, rheos_output beta) {
  return assign(s, o, "Assign", variable, mul(s, rheos_variable_read(s, variable), beta));
}

rheos_operation rheos_optimizer_finish(rheos_scope *s, rheos_optimizer optimizer,
                                       const rheos_operation *updates, size_t count,
                                       const char *name) {
  if (checked_row(s, &optimizer) == NULL ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(updates, count))) {
    return no_operation;
  }
  if (optimizer.kind != RHEOS_OPTIMIZER_ADAM) return rheos_group(s, updates, count, name);
  rheos_operation *all = rheos__alloc_array(count + 2, sizeof(rheos_operation));
  if (all == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return no_operation;
  }
  if (count > 0) memcpy(all, updates, count * sizeof(rheos_operation));
  rheos_variable beta1_power = power_variable(s, &optimizer, 'p');
  rheos_variable beta2_power = power_variable(s, &optimizer, 'q');
  rheos_operation group = no_operation;
  if (rheos_scope_status(s) == NULL) {
    rheos_push_control_dependencies(s, updates, count);
    rheos_push_colocation(s, rheos_output_operation(beta1_power.handle));
    all[count] = advance_power(s, &optimizer, beta1_power, optimizer.prepared[1]);
    all[count + 1] = advance_power(s, &optimizer, beta2_power, optimizer.prepared[2]);
    rheos_scope_pop(s);
    rheos_scope_pop(s);
    group = rheos_group(s, all, count + 2, name);
  }
  rheos__free(all);
  return group;
}
