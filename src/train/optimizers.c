// Optimizers: the nodes that update variables from their gradients, one place for each kind. Names
// and order are TensorFlow 1's, so that its checkpoints restore here and the other way round.
#include <string.h>

#include "autodiff/accumulate.h"
#include "autodiff/dependencies.h"
#include "train/slots.h"

static const rheos_operation no_operation = {NULL, 0};
static const rheos_output none = {NULL, 0, 0};

rheos_optimizer rheos_gradient_descent(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_GRADIENT_DESCENT,
                           .learning_rate = learning_rate};
}

rheos_optimizer rheos_momentum(double learning_rate, double momentum) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_MOMENTUM,
                           .learning_rate = learning_rate,
                           .momentum = momentum};
}

rheos_optimizer rheos_adagrad(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_ADAGRAD,
                           .learning_rate = learning_rate,
                           .initial_accumulator_value = 0.1};
}

rheos_optimizer rheos_adam(double learning_rate) {
  return (rheos_optimizer){.kind = RHEOS_OPTIMIZER_ADAM,
                           .learning_rate = learning_rate,
                           .beta1 = 0.9,
                           .beta2 = 0.999,
                           .epsilon = 1e-8};
}

// ---- compute_gradients

static bool is_trainable_dtype(rheos_dtype dtype) {
  return rheos_dtype_is_floating(rheos_dtype_base(dtype));
}

static rheos_status *check_dtype(rheos_output output) {
  if (is_trainable_dtype(rheos_output_dtype(output))) return NULL;
  char *name = rheos__name_of_output(output);
  rheos_status *status = RHEOS_INVALID(
      "Invalid type tf.%s for %s, expected: [tf.float32, tf.float64, tf.float16, tf.bfloat16].",
      rheos__python_dtype(rheos_output_dtype(output)), name != NULL ? name : "?");
  rheos__free(name);
  return status;
}

static rheos_status *differentiate(rheos_scope *s, rheos_output loss,
                                   const rheos_variable *variables, size_t count,
                                   rheos_gradient *gradients) {
  if (count == 0) return RHEOS_INVALID("No variables to optimize.");
  RHEOS_TRY(check_dtype(loss));
  rheos_output *handles = rheos__alloc_array(count, sizeof(rheos_output));
  if (handles == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) handles[i] = variables[i].handle;
  rheos_gradients(s, &loss, 1, handles, count, &(rheos_gradients_options){.gate_gradients = true},
                  gradients);
  rheos__free(handles);
  for (size_t i = 0; i < count && rheos_scope_status(s) == NULL; i++) {
    if (rheos__is_some(gradients[i].values)) RHEOS_TRY(check_dtype(variables[i].handle));
  }
  return NULL;
}

size_t rheos_compute_gradients(rheos_scope *s, rheos_optimizer optimizer, rheos_output loss,
                               const rheos_variable *variables, size_t num_variables,
                               rheos_variable **out_variables, rheos_gradient **out_gradients) {
  (void)optimizer;  // all kinds want the plain gradients
  *out_gradients = NULL;
  if (out_variables != NULL) *out_variables = NULL;
  if (rheos_scope_status(s) != NULL) return 0;
  rheos_variable *all = NULL;
  if (variables == NULL) {
    num_variables = rheos_graph_collect_variables(rheos_scope_graph(s),
                                                  RHEOS_COLLECTION_TRAINABLE_VARIABLES, &all);
    variables = all;
  }
  rheos_gradient *gradients = rheos__alloc_array(num_variables, sizeof(rheos_gradient));
  rheos_status *status = NULL;
  if (gradients == NULL || variables == NULL) {
    status = rheos__out_of_memory();
  } else if (loss.graph != rheos_scope_graph(s)) {
    status = RHEOS_INVALID("the loss is %s",
                           loss.graph == NULL ? "no tensor" : "from another graph");
  } else {
    status = differentiate(s, loss, variables, num_variables, gradients);
  }
  if (status != NULL) rheos_scope_fail_take(s, status);
  if (rheos_scope_status(s) != NULL) {
    rheos__free(gradients);
    rheos__free(all);
    return 0;
  }
  *out_gradients = gradients;
  if (out_variables != NULL) {
    *out_variables = all;
  } else {
    rheos__free(all);
  }
  return num_variables;
}

// ---- Short forms

// The number as a float32 node, or the caller's tensor in its place.
static rheos_output hyper(rheos_scope *s, double number, rheos_output tensor, const char *name) {
  return rheos__is_some(tensor) ? tensor : rheos__const_scalar(s, RHEOS_FLOAT, number, name);
}

static rheos_output cast(rheos_scope *s, rheos_output x, rheos_dtype dtype) {
  if (!rheos__is_some(x) || rheos_dtype_base(rheos_output_dtype(x)) == dtype) return x;
  rheos_attr to = rheos_attr_type("DstT", dtype);
  return rheos_operation_output(rheos__op_n(s, "Cast", NULL, &x, 1, &to, 1), 0);
}

static rheos_output binary(rheos_scope *s, const char *type, const char *name, rheos_output a,
                           rheos_output b) {
  rheos_output inputs[] = {a, b};
  return rheos_operation_output(rheos__op_n(s, type, name, inputs, 2, NULL, 0), 0);
}

static rheos_output mul(rheos_scope *s, rheos_output a, rheos_output b) {
  return binary(s, "Mul", "mul", a, b);
}

// 1 - x
static rheos_output one_minus(rheos_scope *s, rheos_output x, rheos_dtype dtype) {
  rheos_push_name_scope(s, "sub");
  rheos_output one = rheos__const_scalar(s, dtype, 1, "x");
  char *name = rheos__scope_node_name(s);
  rheos_output result = name != NULL ? binary(s, "Sub", name, one, x) : none;
  rheos__free(name);
  rheos_scope_pop(s);
  return result;
}

// An op on the variable: Assign, ScatterAdd, ApplyAdam, ...
static rheos_operation update_op(rheos_scope *s, const rheos_optimizer *o, const char *type,
                                 const rheos_output *inputs, size_t num_inputs) {
  rheos_attr attrs[] = {rheos_attr_bool("use_locking", o->use_locking),
                        rheos_attr_bool("use_nesterov", o->use_nesterov)};
  bool takes_nesterov = o->kind == RHEOS_OPTIMIZER_MOMENTUM;
  return rheos__op_n(s, type, NULL, inputs, num_inputs, attrs, takes_nesterov ? 2 : 1);
}

// ---- One step of one variable

typedef struct apply {
  rheos_scope *s;
  const rheos_optimizer *o;
  rheos_output learning_rate, momentum, beta1, beta2, epsilon;
  rheos_variable beta1_power, beta2_power;
} apply;

// The slots are made before any update, so one that is not found is a lookup without memory.
static rheos_variable slot_of(const apply *a, rheos_variable variable, const char *slot_name) {
  rheos_variable slot = rheos_optimizer_own_slot(variable.graph, *a->o, variable, slot_name);
  if (slot.graph == NULL) rheos_scope_fail_take(a->s, rheos__out_of_memory());
  return slot;
}

// Adam's step for rows: every row's moments decay, only the rows with a gradient get a new share.
static rheos_operation adam_rows(apply *a, rheos_variable variable, rheos_dtype dtype,
                                 const rheos_gradient *rows) {
  rheos_scope *s = a->s;
  rheos_output m = slot_of(a, variable, "m").handle, v = slot_of(a, variable, "v").handle;
  rheos_output m_read = slot_of(a, variable, "m").value, v_read = slot_of(a, variable, "v").value;
  rheos_output beta1_power = cast(s, a->beta1_power.value, dtype);
  rheos_output beta2_power = cast(s, a->beta2_power.value, dtype);
  rheos_output learning_rate = cast(s, a->learning_rate, dtype);
  rheos_output beta1 = cast(s, a->beta1, dtype), beta2 = cast(s, a->beta2, dtype);
  rheos_output epsilon = cast(s, a->epsilon, dtype);

  // rate = learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t)
  rheos_output root = rheos__op_1(s, "Sqrt", one_minus(s, beta2_power, dtype));
  rheos_output scaled = mul(s, learning_rate, root);
  rheos_output rate =
      binary(s, "RealDiv", "truediv", scaled, one_minus(s, beta1_power, dtype));

  // m = beta1 * m + (1 - beta1) * g
  rheos_output share = mul(s, rows->values, one_minus(s, beta1, dtype));
  rheos_output decay[] = {m, mul(s, m_read, beta1)};
  rheos_operation decayed = update_op(s, a->o, "Assign", decay, 2);
  rheos_push_control_dependencies(s, &decayed, 1);
  rheos_operation m_now = update_op(s, a->o, "ScatterAdd",
                                    (rheos_output[]){m, rows->indices, share}, 3);
  rheos_scope_pop(s);

  // v = beta2 * v + (1 - beta2) * g * g
  rheos_output square = mul(s, rows->values, rows->values);
  share = mul(s, square, one_minus(s, beta2, dtype));
  rheos_output decay_v[] = {v, mul(s, v_read, beta2)};
  decayed = update_op(s, a->o, "Assign", decay_v, 2);
  rheos_push_control_dependencies(s, &decayed, 1);
  rheos_operation v_now = update_op(s, a->o, "ScatterAdd",
                                    (rheos_output[]){v, rows->indices, share}, 3);
  rheos_scope_pop(s);

  // variable -= rate * m / (sqrt(v) + epsilon)
  rheos_output sqrt_v = rheos__op_1(s, "Sqrt", rheos_operation_output(v_now, 0));
  rheos_output numerator = mul(s, rate, rheos_operation_output(m_now, 0));
  rheos_output denominator = binary(s, "AddV2", "add", sqrt_v, epsilon);
  rheos_output step[] = {variable.handle,
                         binary(s, "RealDiv", "truediv", numerator, denominator)};
  rheos_operation done[] = {update_op(s, a->o, "AssignSub", step, 2), m_now, v_now};
  return rheos_group(s, done, 3, NULL);
}

// Rows that occur more than once are summed up first: the ops after want each row once.
static rheos_gradient unique_rows(rheos_scope *s, const rheos_gradient *gradient) {
  rheos_operation unique = rheos__op_n(s, "Unique", NULL, &gradient->indices, 1, NULL, 0);
  rheos_gradient rows = {.indices = rheos_operation_output(unique, 0)};
  rheos_output size = rheos__first_element(s, rheos__op_1(s, "Shape", rows.indices));
  rows.values = rheos__op_3(s, "UnsortedSegmentSum", gradient->values,
                            rheos_operation_output(unique, 1), size);
  return rows;
}

static rheos_operation update_rows(apply *a, rheos_variable variable, rheos_dtype dtype,
                                   const rheos_gradient *gradient) {
  rheos_scope *s = a->s;
  if (a->o->kind == RHEOS_OPTIMIZER_GRADIENT_DESCENT) {
    // Subtracting a row twice is subtracting the sum.
    rheos_output rate = cast(s, a->learning_rate, dtype);
    rheos_output step[] = {variable.handle, gradient->indices, mul(s, gradient->values, rate)};
    return update_op(s, a->o, "ScatterSub", step, 3);
  }
  rheos_gradient rows = unique_rows(s, gradient);
  if (a->o->kind == RHEOS_OPTIMIZER_ADAM) return adam_rows(a, variable, dtype, &rows);
  rheos_output rate = cast(s, a->learning_rate, dtype);
  if (a->o->kind == RHEOS_OPTIMIZER_ADAGRAD) {
    rheos_output accumulator = slot_of(a, variable, "accumulator").handle;
    rheos_output inputs[] = {variable.handle, accumulator, rate, rows.values, rows.indices};
    return update_op(s, a->o, "SparseApplyAdagrad", inputs, 5);
  }
  rheos_output accumulator = slot_of(a, variable, "momentum").handle;
  rheos_output inputs[] = {variable.handle, accumulator,  rate,
                           rows.values,     rows.indices, cast(s, a->momentum, dtype)};
  return update_op(s, a->o, "SparseApplyMomentum", inputs, 6);
}

static rheos_operation update_dense(apply *a, rheos_variable variable, rheos_dtype dtype,
                                    rheos_output gradient) {
  rheos_scope *s = a->s;
  switch (a->o->kind) {
    case RHEOS_OPTIMIZER_GRADIENT_DESCENT: {
      rheos_output inputs[] = {variable.handle, cast(s, a->learning_rate, dtype), gradient};
      return update_op(s, a->o, "ApplyGradientDescent", inputs, 3);
    }
    case RHEOS_OPTIMIZER_MOMENTUM: {
      rheos_output rate = cast(s, a->learning_rate, dtype);
      rheos_output inputs[] = {variable.handle, slot_of(a, variable, "momentum").handle, rate,
                               gradient, cast(s, a->momentum, dtype)};
      return update_op(s, a->o, "ApplyMomentum", inputs, 5);
    }
    case RHEOS_OPTIMIZER_ADAGRAD: {
      rheos_output inputs[] = {variable.handle, slot_of(a, variable, "accumulator").handle,
                               cast(s, a->learning_rate, dtype), gradient};
      return update_op(s, a->o, "ApplyAdagrad", inputs, 4);
    }
    case RHEOS_OPTIMIZER_ADAM: {
      rheos_output inputs[10] = {variable.handle, slot_of(a, variable, "m").handle,
                                 slot_of(a, variable, "v").handle};
      const rheos_output numbers[] = {a->beta1_power.value, a->beta2_power.value,
                                      a->learning_rate,     a->beta1,
                                      a->beta2,             a->epsilon};
      for (int i = 0; i < 6; i++) inputs[3 + i] = cast(s, numbers[i], dtype);
      inputs[9] = gradient;
      return update_op(s, a->o, "ApplyAdam", inputs, 10);
    }
  }
  return no_operation;
}

// "update_NAME/...", placed with the variable.
static rheos_operation update_variable(apply *a, rheos_variable variable,
                                       const rheos_gradient *gradient) {
  rheos_scope *s = a->s;
  rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(variable.handle));
  char *name = rheos__node_name(variable.graph,
                                rheos__graph_node(variable.graph, variable.handle.id));
  char *scope_name = name != NULL ? rheos__alloc(strlen(name) + sizeof("update_")) : NULL;
  rheos_operation update = no_operation;
  if (scope_name == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  } else {
    strcpy(scope_name, "update_");
    strcat(scope_name, name);
    rheos_push_name_scope(s, scope_name);
    rheos_push_colocation(s, rheos_output_operation(variable.handle));
    update = rheos__gradient_is_sparse(gradient)
                 ? update_rows(a, variable, dtype, gradient)
                 : update_dense(a, variable, dtype, gradient->values);
    rheos_scope_pop(s);
    rheos_scope_pop(s);
  }
  rheos__free(scope_name);
  rheos__free(name);
  return update;
}

// ---- apply_gradients

// The variable whose name comes first, as "NAME:0".
static rheos_variable first_by_name(const rheos_variable *variables, size_t count) {
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

static void make_slots(apply *a, const rheos_variable *variables, size_t count) {
  const rheos_optimizer *o = a->o;
  rheos_scope *s = a->s;
  if (o->kind == RHEOS_OPTIMIZER_ADAM) {
    rheos_variable first = first_by_name(variables, count);
    double beta1 = o->beta1, beta2 = o->beta2;
    a->beta1_power = rheos__optimizer_make_scalar(s, o, "beta1_power", beta1, first);
    a->beta2_power = rheos__optimizer_make_scalar(s, o, "beta2_power", beta2, first);
  }
  for (size_t i = 0; i < count; i++) {
    switch (o->kind) {
      case RHEOS_OPTIMIZER_GRADIENT_DESCENT: break;
      case RHEOS_OPTIMIZER_MOMENTUM:
        rheos_optimizer_make_slot(s, *o, variables[i], "momentum", rheos_zeros(), NULL);
        break;
      case RHEOS_OPTIMIZER_ADAGRAD:
        rheos_optimizer_make_slot(s, *o, variables[i], "accumulator",
                                  rheos_constant_initializer(o->initial_accumulator_value), NULL);
        break;
      case RHEOS_OPTIMIZER_ADAM:
        rheos_optimizer_make_slot(s, *o, variables[i], "m", rheos_zeros(), NULL);
        rheos_optimizer_make_slot(s, *o, variables[i], "v", rheos_zeros(), NULL);
        break;
    }
  }
}

static void make_numbers(apply *a) {
  const rheos_optimizer *o = a->o;
  a->learning_rate = hyper(a->s, o->learning_rate, o->learning_rate_tensor, "learning_rate");
  if (o->kind == RHEOS_OPTIMIZER_MOMENTUM) {
    a->momentum = hyper(a->s, o->momentum, o->momentum_tensor, "momentum");
  }
  if (o->kind == RHEOS_OPTIMIZER_ADAM) {
    a->beta1 = hyper(a->s, o->beta1, o->beta1_tensor, "beta1");
    a->beta2 = hyper(a->s, o->beta2, o->beta2_tensor, "beta2");
    a->epsilon = hyper(a->s, o->epsilon, o->epsilon_tensor, "epsilon");
  }
}

// power *= beta, after the updates.
static rheos_operation advance_power(apply *a, rheos_variable power, rheos_output beta) {
  rheos_output inputs[] = {power.handle, mul(a->s, power.value, beta)};
  return update_op(a->s, a->o, "Assign", inputs, 2);
}

// What comes after the updates of all variables. `updates` has room for two more.
static rheos_operation finish(apply *a, rheos_operation *updates, size_t count,
                              const char *name) {
  rheos_scope *s = a->s;
  if (a->o->kind == RHEOS_OPTIMIZER_ADAM) {
    rheos_push_control_dependencies(s, updates, count);
    rheos_push_colocation(s, rheos_output_operation(a->beta1_power.handle));
    rheos_operation first = advance_power(a, a->beta1_power, a->beta1);
    updates[count + 1] = advance_power(a, a->beta2_power, a->beta2);
    updates[count] = first;
    rheos_scope_pop(s);
    rheos_scope_pop(s);
    count += 2;
  }
  return rheos_group(s, updates, count, name);
}

static rheos_operation count_step(apply *a, const rheos_variable *global_step,
                                  rheos_operation updated, const char *name) {
  rheos_scope *s = a->s;
  rheos_push_control_dependencies(s, &updated, 1);
  rheos_push_colocation(s, rheos_output_operation(global_step->handle));
  rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(global_step->handle));
  rheos_output inputs[] = {global_step->handle, rheos__const_scalar(s, dtype, 1, "value")};
  rheos_operation step = rheos__op_n(s, "AssignAdd", name, inputs, 2, NULL, 0);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  return step;
}

static void add_train_op(rheos_scope *s, rheos_operation operation) {
  rheos_graph *graph = rheos_scope_graph(s);
  rheos_item item = {RHEOS_ITEM_OPERATION, operation.id, 0, {NULL, 0}};
  rheos_status *status =
      rheos_graph_add_to_collection(graph, RHEOS_COLLECTION_TRAIN_OP, item);
  if (status != NULL) rheos_scope_fail_take(s, status);
}

// `variables` and `gradients` are those with a gradient; `updates` has room for two more than
// count.
static rheos_operation apply_all(apply *a, const rheos_variable *variables,
                                 const rheos_gradient *gradients, size_t count,
                                 const rheos_variable *global_step, const char *name,
                                 rheos_operation *updates) {
  rheos_scope *s = a->s;
  make_slots(a, variables, count);
  rheos_push_name_scope(s, name);
  char *own_name = rheos__scope_node_name(s);
  make_numbers(a);
  for (size_t i = 0; i < count && rheos_scope_status(s) == NULL; i++) {
    updates[i] = update_variable(a, variables[i], &gradients[i]);
  }
  rheos_operation result = no_operation;
  if (rheos_scope_status(s) == NULL) {
    result = finish(a, updates, count, global_step != NULL ? "update" : own_name);
    if (global_step != NULL) result = count_step(a, global_step, result, own_name);
  }
  rheos__free(own_name);
  rheos_scope_pop(s);
  if (rheos_scope_status(s) == NULL) add_train_op(s, result);
  return result;
}

static rheos_status *check_apply(rheos_scope *s, const rheos_variable *variables,
                                 const rheos_gradient *gradients, size_t count) {
  rheos_graph *graph = rheos_scope_graph(s);
  if (count == 0) return RHEOS_INVALID("No variables provided.");
  size_t num_gradients = 0;
  for (size_t i = 0; i < count; i++) {
    if (variables[i].graph != graph) return RHEOS_INVALID("variables[%zu] is not of this graph", i);
    if (!rheos__is_some(gradients[i].values)) continue;
    if (gradients[i].values.graph != graph) {
      return RHEOS_INVALID("gradients[%zu] is from another graph", i);
    }
    RHEOS_TRY(check_dtype(variables[i].handle));
    num_gradients++;
  }
  if (num_gradients > 0) return NULL;
  char *text = rheos__variables_text(variables, count);
  rheos_status *status =
      RHEOS_INVALID("No gradients provided for any variable: %s.", text != NULL ? text : "?");
  rheos__free(text);
  return status;
}

rheos_operation rheos_apply_gradients(rheos_scope *s, rheos_optimizer optimizer,
                                      const rheos_variable *variables,
                                      const rheos_gradient *gradients, size_t count,
                                      const rheos_variable *global_step, const char *name) {
  if (rheos_scope_status(s) != NULL) return no_operation;
  rheos_status *status = check_apply(s, variables, gradients, count);
  const char *own_name = rheos__optimizer_name(&optimizer);
  if (status == NULL && (own_name == NULL || optimizer.kind == 0)) {
    status = RHEOS_INVALID("an optimizer of unknown kind %d", (int)optimizer.kind);
  }
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
    return no_operation;
  }
  apply a = {.s = s, .o = &optimizer};
  rheos_variable *with = rheos__alloc_array(count, sizeof(rheos_variable));
  rheos_gradient *their = rheos__alloc_array(count, sizeof(rheos_gradient));
  rheos_operation *updates = rheos__alloc_array(count + 2, sizeof(rheos_operation));
  rheos_operation result = no_operation;
  if (with == NULL || their == NULL || updates == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  } else {
    size_t num_with = 0;
    for (size_t i = 0; i < count; i++) {
      if (!rheos__is_some(gradients[i].values)) continue;
      with[num_with] = variables[i];
      their[num_with++] = gradients[i];
    }
    result = apply_all(&a, with, their, num_with, global_step, name != NULL ? name : own_name,
                       updates);
  }
  rheos__free(updates);
  rheos__free(their);
  rheos__free(with);
  return rheos_scope_status(s) == NULL ? result : no_operation;
}

static rheos_status *no_gradients(rheos_output loss, const rheos_variable *variables,
                                  size_t count) {
  char *list = rheos__variables_text(variables, count);
  char *text = rheos__output_text(loss);
  rheos_status *status = RHEOS_INVALID(
      "No gradients provided for any variable, check your graph for ops that do not support "
      "gradients, between variables %s and loss %s.",
      list != NULL ? list : "?", text != NULL ? text : "?");
  rheos__free(text);
  rheos__free(list);
  return status;
}

rheos_operation rheos_minimize_with(rheos_scope *s, rheos_optimizer optimizer, rheos_output loss,
                                    const rheos_minimize_options *options) {
  static const rheos_minimize_options defaults = {.name = NULL};
  if (options == NULL) options = &defaults;
  rheos_variable *all = NULL;
  rheos_gradient *gradients = NULL;
  size_t count =
      rheos_compute_gradients(s, optimizer, loss, options->variables, options->num_variables,
                              options->variables == NULL ? &all : NULL, &gradients);
  const rheos_variable *variables = options->variables != NULL ? options->variables : all;
  rheos_operation result = no_operation;
  if (rheos_scope_status(s) == NULL) {
    bool any = false;
    for (size_t i = 0; i < count; i++) any = any || rheos__is_some(gradients[i].values);
    if (any) {
      result = rheos_apply_gradients(s, optimizer, variables, gradients, count,
                                     options->global_step, options->name);
    } else {
      rheos_scope_fail_take(s, no_gradients(loss, variables, count));
    }
  }
  rheos_free(gradients);
  rheos_free(all);
  return result;
}

rheos_operation rheos_minimize(rheos_scope *s, rheos_optimizer optimizer, rheos_output loss) {
  return rheos_minimize_with(s, optimizer, loss, NULL);
}
