// Optimizers: from a loss to gradients to one operation that updates all variables.
#include <rheos/train.h>

#include <string.h>

#include "autodiff/accumulate.h"
#include "base/options.h"
#include "graph/dependencies.h"
#include "graph/handles.h"
#include "train/slots.h"

static const rheos_operation no_operation = {NULL, 0};

// ---- compute_gradients

static bool is_trainable_dtype(rheos_dtype dtype) {
  return rheos_dtype_is_floating(rheos_dtype_base(dtype));
}

static rheos_status *check_dtype(rheos_output output, rheos_dtype dtype) {
  if (is_trainable_dtype(dtype)) return NULL;
  char *name = rheos__name_of_output(output);
  rheos_status *status =
      RHEOS_INVALID("Invalid type %s for %s, expected: [float32, float64, float16, bfloat16].",
                    rheos__python_dtype(dtype), name != NULL ? name : "?");
  rheos__free(name);
  return status;
}

static rheos_status *check_variable(rheos_variable variable) {
  return check_dtype(variable.handle, rheos_variable_is_resource(variable)
                                          ? rheos_variable_dtype(variable)
                                          : rheos_output_dtype(variable.handle));
}

static rheos_status *differentiate(rheos_scope *s, rheos_output loss,
                                   const rheos_variable *variables, size_t count,
                                   const rheos_gradients_options *options,
                                   rheos_gradient *gradients) {
  if (count == 0) return RHEOS_INVALID("No variables to optimize.");
  RHEOS_TRY(check_dtype(loss, rheos_output_dtype(loss)));
  rheos_output *handles = rheos__alloc_array(count, sizeof(rheos_output));
  if (handles == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) handles[i] = variables[i].handle;
  rheos_gradients(s, &loss, 1, handles, count, options, gradients);
  rheos__free(handles);
  for (size_t i = 0; i < count && rheos_scope_status(s) == NULL; i++) {
    if (rheos__is_some(gradients[i].values)) RHEOS_TRY(check_variable(variables[i]));
  }
  return NULL;
}

// As rheos_compute_gradients(), with these options.
static size_t compute_gradients(rheos_scope *s, rheos_output loss, const rheos_variable *variables,
                                size_t num_variables, const rheos_gradients_options *options,
                                rheos_variable **out_variables, rheos_gradient **out_gradients) {
  if (out_variables != NULL) *out_variables = NULL;
  if (out_gradients != NULL) *out_gradients = NULL;
  if (!rheos__scope_goes_on(s, RHEOS_LIST_STATUS(out_gradients, 1)) ||
      !rheos__scope_goes_on(s, rheos__check_output(rheos_scope_graph(s), loss, "the loss"))) {
    return 0;
  }
  rheos_variable *all = NULL;
  if (variables == NULL) {
    num_variables = rheos_graph_collect_variables(rheos_scope_graph(s),
                                                  RHEOS_COLLECTION_TRAINABLE_VARIABLES, &all);
    variables = all;
  }
  rheos_status *status = rheos__check_variables(rheos_scope_graph(s), variables, num_variables);
  if (!rheos__scope_goes_on(s, status)) {
    rheos__free(all);
    return 0;
  }
  rheos_gradient *gradients = rheos__alloc_array(num_variables, sizeof(rheos_gradient));
  if (gradients == NULL || variables == NULL) {
    status = rheos__out_of_memory();
  } else {
    status = differentiate(s, loss, variables, num_variables, options, gradients);
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

size_t rheos_compute_gradients(rheos_scope *s, rheos_optimizer optimizer, rheos_output loss,
                               const rheos_variable *variables, size_t num_variables,
                               rheos_variable **out_variables, rheos_gradient **out_gradients) {
  (void)optimizer;  // all kinds want the plain gradients
  const rheos_gradients_options options = {.gate_gradients = true};
  return compute_gradients(s, loss, variables, num_variables, &options, out_variables,
                           out_gradients);
}

// ---- apply_gradients

// "update_NAME/...", placed with the variable.
static rheos_operation update_variable(rheos_scope *s, const rheos_optimizer *o,
                                       rheos_variable variable, const rheos_gradient *gradient) {
  char *name =
      rheos__node_name(variable.graph, rheos__graph_node(variable.graph, variable.handle.id));
  char *scope_name = name != NULL ? rheos__alloc(strlen(name) + sizeof("update_")) : NULL;
  rheos_operation update = no_operation;
  if (scope_name == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  } else {
    strcpy(scope_name, "update_");
    strcat(scope_name, name);
    rheos_push_name_scope(s, scope_name);
    rheos_push_colocation(s, rheos_output_operation(variable.handle));
    update = rheos_optimizer_update(s, *o, variable, *gradient);
    rheos_scope_pop(s);
    rheos_scope_pop(s);
  }
  rheos__free(scope_name);
  rheos__free(name);
  return update;
}

static rheos_operation count_step(rheos_scope *s, rheos_variable global_step,
                                  rheos_operation updated, const char *name) {
  bool is_resource = rheos_variable_is_resource(global_step);
  rheos_push_control_dependencies(s, &updated, 1);
  rheos_push_colocation(s, rheos_output_operation(global_step.handle));
  rheos_dtype dtype = rheos_variable_dtype(global_step);
  rheos_output inputs[] = {global_step.handle,
                           rheos__const_scalar(s, dtype, 1, is_resource ? "Const" : "value")};
  rheos_operation step =
      rheos__op_n(s, is_resource ? "AssignAddVariableOp" : "AssignAdd", name, inputs, 2, NULL, 0);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  return step;
}

static void add_train_op(rheos_scope *s, rheos_operation operation) {
  rheos_graph *graph = rheos_scope_graph(s);
  const rheos_item item = {.kind = RHEOS_ITEM_OPERATION, .id = operation.id};
  rheos_status *status = rheos_graph_add_to_collection(graph, RHEOS_COLLECTION_TRAIN_OP, item);
  if (status != NULL) rheos_scope_fail_take(s, status);
}

// `variables` and `gradients` are those with a gradient; `updates` has room for count.
static rheos_operation apply_all(rheos_scope *s, rheos_optimizer *o,
                                 const rheos_variable *variables, const rheos_gradient *gradients,
                                 size_t count, const rheos_variable *global_step, const char *name,
                                 rheos_operation *updates) {
  rheos_optimizer_make_slots(s, *o, variables, count);
  rheos_push_name_scope(s, name);
  char *own_name = rheos__scope_node_name(s);
  rheos_optimizer_prepare(s, o);
  for (size_t i = 0; i < count && rheos_scope_status(s) == NULL; i++) {
    updates[i] = update_variable(s, o, variables[i], &gradients[i]);
  }
  rheos_operation result = no_operation;
  if (rheos_scope_status(s) == NULL) {
    const char *last = global_step != NULL ? "update" : own_name;
    result = rheos_optimizer_finish(s, *o, updates, count, last);
    if (global_step != NULL) result = count_step(s, *global_step, result, own_name);
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
  RHEOS_TRY(rheos__check_variables(graph, variables, count));
  RHEOS_TRY(rheos__check_gradients(graph, gradients, count));
  size_t num_gradients = 0;
  for (size_t i = 0; i < count; i++) {
    if (!rheos__is_some(gradients[i].values)) continue;
    RHEOS_TRY(check_variable(variables[i]));
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
  if (status == NULL && global_step != NULL) {
    status = rheos__check_variables(rheos_scope_graph(s), global_step, 1);
  }
  const char *own_name = rheos__optimizer_name(&optimizer);
  if (status == NULL && (own_name == NULL || optimizer.kind == 0)) {
    status = RHEOS_INVALID("an optimizer of unknown kind %d", (int)optimizer.kind);
  }
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
    return no_operation;
  }
  rheos_variable *with = rheos__alloc_array(count, sizeof(rheos_variable));
  rheos_gradient *their = rheos__alloc_array(count, sizeof(rheos_gradient));
  rheos_operation *updates = rheos__alloc_array(count, sizeof(rheos_operation));
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
    result = apply_all(s, &optimizer, with, their, num_with, global_step,
                       name != NULL ? name : own_name, updates);
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

rheos_operation rheos_minimize_with_sized(rheos_scope *s, rheos_optimizer optimizer,
                                          rheos_output loss, const rheos_minimize_options *options,
                                          size_t options_bytes) {
  rheos_minimize_options known;
  rheos_scope_fail_take(s,
                        RHEOS_READ_OPTIONS(rheos_minimize_options, options, options_bytes, &known));
  rheos_variable *all = NULL;
  rheos_gradient *gradients = NULL;
  const rheos_gradients_options how = {.gate_gradients = true,
                                       .gradient_function = known.gradient_function,
                                       .gradient_argument = known.gradient_argument};
  size_t count = compute_gradients(s, loss, known.variables, known.num_variables, &how,
                                   known.variables == NULL ? &all : NULL, &gradients);
  const rheos_variable *variables = known.variables != NULL ? known.variables : all;
  rheos_operation result = no_operation;
  if (rheos_scope_status(s) == NULL) {
    bool any = false;
    for (size_t i = 0; i < count; i++) any = any || rheos__is_some(gradients[i].values);
    if (any) {
      result = rheos_apply_gradients(s, optimizer, variables, gradients, count, known.global_step,
                                     known.name);
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
