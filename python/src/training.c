// What graphs do for training: gradients, variables, optimizers, savers.

#include <rheos/front_end.h>
#include <stddef.h>
#include <string.h>

#include "graph_object.h"

// ---- Gradients

static PyObject *gradient_part(graph_object *graph, rheos_output output) {
  if (!output.graph) Py_RETURN_NONE;
  return graph_tensor(graph, output.id, output.index);
}

// None, a Tensor, or the tuple (values, indices, dense_shape).
static PyObject *gradient_to_python(graph_object *graph, const rheos_gradient *gradient) {
  if (!gradient->values.graph) Py_RETURN_NONE;
  if (!gradient->indices.graph) return gradient_part(graph, gradient->values);
  return Py_BuildValue("(NNN)", gradient_part(graph, gradient->values),
                       gradient_part(graph, gradient->indices),
                       gradient_part(graph, gradient->dense_shape));
}

static PyObject *gradients_to_python(graph_object *graph, const rheos_gradient *gradients,
                                     size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    PyObject *item = gradient_to_python(graph, &gradients[i]);
    if (!item)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, (Py_ssize_t)i, item);
  }
  return list;
}

static PyObject *out_gradients_of(graph_object *graph, rheos_operation operation,
                                  const rheos_gradient *gradients) {
  return gradients_to_python(graph, gradients, (size_t)rheos_operation_num_outputs(operation));
}

// None, a Tensor, or the tuple (values, indices, dense_shape or None).
static int gradient_from_python(PyObject *value, rheos_gradient *out_gradient) {
  graph_object *graph;
  if (value == Py_None || output_of(value, &out_gradient->values, &graph)) return 0;
  PyObject *values, *indices, *shape;
  if (PyTuple_Check(value) && PyArg_ParseTuple(value, "OOO", &values, &indices, &shape) &&
      output_of(values, &out_gradient->values, &graph) &&
      output_of(indices, &out_gradient->indices, &graph) &&
      (shape == Py_None || output_of(shape, &out_gradient->dense_shape, &graph))) {
    return 0;
  }
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a gradient must be a Tensor or None");
  return -1;
}

// Calls the package's function(operation, type, gradients of the outputs): a list of the gradients
// of the inputs, or None if the program has no gradient of that type.
static bool program_gradient(void *argument, rheos_scope *scope, rheos_operation operation,
                             const char *type, const rheos_gradient *out_gradients,
                             rheos_gradient *in_gradients) {
  graph_object *graph = argument;
  PyObject *arrived = out_gradients_of(graph, operation, out_gradients);
  PyObject *node = arrived ? graph_operation(graph, operation.id) : NULL;
  PyObject *found =
      node ? PyObject_CallMethod((PyObject *)graph, "_program_gradient", "OsO", node, type, arrived)
           : NULL;
  Py_XDECREF(arrived);
  Py_XDECREF(node);
  if (found == Py_None) {
    Py_DECREF(found);
    return false;
  }
  const Py_ssize_t count = rheos_operation_num_inputs(operation);
  bool sound = found && PyList_Check(found) && PyList_GET_SIZE(found) == count;
  for (Py_ssize_t i = 0; sound && i < count; ++i) {
    sound = gradient_from_python(PyList_GET_ITEM(found, i), &in_gradients[i]) == 0;
  }
  Py_XDECREF(found);
  if (!sound) {  // what was raised stands above this status
    rheos_scope_fail_take(scope, rheos_status_new(RHEOS_INVALID_ARGUMENT,
                                                  "the gradient function of %s failed", type));
  }
  return true;
}

// The error of the scope, unless a function of the program raised one.
static bool raise_gradient_error(rheos_scope *scope) {
  const rheos_status *status = rheos_scope_status(scope);
  if (!PyErr_Occurred() && status && rheos_status_code(status) == RHEOS_NOT_FOUND) {
    PyErr_SetString(PyExc_LookupError, rheos_status_message(status));
  }
  if (!PyErr_Occurred()) return raise_scope_error(scope);
  rheos_status_free(rheos_scope_finish(scope));
  return true;
}

static void recorded_deinit(rheos_recorded *recorded) {
  PyMem_Free((void *)(uintptr_t)recorded->spans);
  PyMem_Free((void *)(uintptr_t)recorded->watched);
  PyMem_Free((void *)(uintptr_t)recorded->since);
}

// A list of numbers.
static int32_t *ids_from_python(PyObject *object, size_t *out_count) {
  PyObject *list = PySequence_Fast(object, "expected a list of numbers");
  if (!list) return NULL;
  *out_count = (size_t)PySequence_Fast_GET_SIZE(list);
  int32_t *numbers = PyMem_Calloc(*out_count + 1, sizeof *numbers);
  if (!numbers) PyErr_NoMemory();
  for (size_t i = 0; numbers && i < *out_count; ++i) {
    numbers[i] = (int32_t)PyLong_AsLong(PySequence_Fast_GET_ITEM(list, (Py_ssize_t)i));
  }
  Py_DECREF(list);
  if (!PyErr_Occurred()) return numbers;
  PyMem_Free(numbers);
  return NULL;
}

// (first ids and ends, tensors that are watched, since which ids), or None.
static int recorded_from_python(PyObject *object, rheos_recorded *out) {
  if (object == Py_None) return 0;
  PyObject *spans, *watched, *since;
  size_t num_bounds, num_since;
  rheos_output *outputs = NULL;
  if (!PyArg_ParseTuple(object, "OOO", &spans, &watched, &since)) return -1;
  if (!(out->spans = ids_from_python(spans, &num_bounds))) return -1;
  if (!(out->since = ids_from_python(since, &num_since))) return -1;
  if (flat_outputs(watched, &outputs, &out->num_watched) < 0) return -1;
  out->watched = outputs;
  out->num_spans = num_bounds / 2;
  if (num_bounds % 2 == 0 && num_since == out->num_watched) return 0;
  PyErr_SetString(PyExc_ValueError, "expected pairs of ids, and an id for each tensor");
  return -1;
}

PyObject *graph_gradients(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"ys",   "xs",       "grad_ys", "stop_gradients", "name", "colocate",
                          "gate", "recorded", NULL};
  graph_object *graph = (graph_object *)self;
  PyObject *ys_object, *xs_object, *grad_ys_object = Py_None, *stop_object = Py_None;
  PyObject *recorded_object = Py_None;
  rheos_gradients_options options = {0};
  int colocate = 0, gate = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOzppO", names, &ys_object, &xs_object,
                                   &grad_ys_object, &stop_object, &options.name, &colocate, &gate,
                                   &recorded_object)) {
    return NULL;
  }
  rheos_scope *scope = graph_scope_for_adding(graph);
  if (!scope) return NULL;
  rheos_output *ys = NULL, *xs = NULL, *grad_ys = NULL, *stop = NULL;
  size_t num_ys = 0, num_xs = 0, num_grad_ys = 0, num_stop = 0;
  rheos_recorded recorded = {0};
  PyObject *result = NULL;
  rheos_gradient *gradients = NULL;
  if (flat_outputs(ys_object, &ys, &num_ys) == 0 && flat_outputs(xs_object, &xs, &num_xs) == 0 &&
      (grad_ys_object == Py_None || flat_outputs(grad_ys_object, &grad_ys, &num_grad_ys) == 0) &&
      (stop_object == Py_None || flat_outputs(stop_object, &stop, &num_stop) == 0) &&
      recorded_from_python(recorded_object, &recorded) == 0) {
    gradients = PyMem_Calloc(num_xs + 1, sizeof *gradients);
    if (!gradients) PyErr_NoMemory();
  }
  if (gradients) {
    options.grad_ys = grad_ys;
    options.stop_gradients = stop;
    options.num_stop_gradients = num_stop;
    options.colocate_gradients_with_ops = colocate;
    options.gate_gradients = gate;
    options.gradient_function = program_gradient;
    options.gradient_argument = graph;
    options.recorded = recorded_object != Py_None ? &recorded : NULL;
    int32_t first = graph_begin_adding(graph, scope);
    rheos_gradients(scope, ys, num_ys, xs, num_xs, &options, gradients);
    int asked = graph_end_adding(graph, scope, first, false);
    if (asked == 0 && !raise_gradient_error(scope))
      result = gradients_to_python(graph, gradients, num_xs);
  }
  PyMem_Free(gradients);
  PyMem_Free(ys);
  PyMem_Free(xs);
  PyMem_Free(grad_ys);
  PyMem_Free(stop);
  recorded_deinit(&recorded);
  return result;
}

// ---- Variables

static PyObject *fill(graph_object *graph, PyObject *object, rheos_variable variable) {
  if (!is_variable(object)) {
    PyErr_SetString(PyExc_TypeError, "expected a Variable");
    return NULL;
  }
  variable_object *self = (variable_object *)object;
  Py_XSETREF(self->graph, (graph_object *)Py_NewRef((PyObject *)graph));
  self->variable = variable;
  Py_RETURN_NONE;
}

PyObject *graph_variable_new(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  PyObject *object, *initial_value;
  rheos_variable_options options = {.no_collections = true};
  int any_shape = 0, not_trainable = 0, use_resource = 0, own_class = 0;
  PyObject *shape_object = Py_None;
  rheos_shape shape;
  if (!PyArg_ParseTuple(args, "OOz|pppzOp", &object, &initial_value, &options.name, &any_shape,
                        &not_trainable, &use_resource, &options.caching_device, &shape_object,
                        &own_class)) {
    return NULL;
  }
  if (shape_object != Py_None) {
    if (shape_from_python(shape_object, &shape) < 0) return NULL;
    options.shape = &shape;
  }
  options.any_shape = any_shape;
  options.not_trainable = not_trainable;
  options.use_resource = use_resource;
  options.own_class = own_class;
  rheos_output output;
  graph_object *other;
  if (!output_of(initial_value, &output, &other)) {
    PyErr_SetString(PyExc_TypeError, "the initial value must be a Tensor");
    return NULL;
  }
  rheos_scope *scope = graph_scope_for_adding(graph);
  if (!scope) return NULL;
  int32_t first = graph_begin_adding(graph, scope);
  rheos_variable variable = rheos_variable_new(scope, output, &options);
  int asked = graph_end_adding(graph, scope, first, false);
  if (asked < 0 || raise_scope_error(scope)) return NULL;
  return fill(graph, object, variable);
}

// A variable as it is after an operation on it: `element` is a read that waits for it.
PyObject *graph_fill_read(PyObject *self, PyObject *args) {
  PyObject *object, *variable, *element, *operation;
  if (!PyArg_ParseTuple(args, "OO!O!O!", &object, &variable_base_type, &variable, &tensor_base_type,
                        &element, &operation_base_type, &operation)) {
    return NULL;
  }
  rheos_variable read = ((variable_object *)variable)->variable;
  tensor_object *tensor = (tensor_object *)element;
  operation_object *after = (operation_object *)operation;
  read.value = (rheos_output){tensor->graph->graph, tensor->id, tensor->index};
  read.cached = (rheos_output){NULL, 0, 0};
  PyObject *filled = fill((graph_object *)self, object, read);
  if (filled) {
    ((variable_object *)object)->after = (rheos_operation){after->graph->graph, after->id};
  }
  return filled;
}

PyObject *graph_fill_variable(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  PyObject *object;
  int index;
  if (!PyArg_ParseTuple(args, "Oi", &object, &index)) return NULL;
  if (index < 0 || index >= rheos_graph_num_variables(graph->graph)) {
    PyErr_SetString(PyExc_IndexError, "no variable of that number");
    return NULL;
  }
  return fill(graph, object, rheos_graph_variable(graph->graph, index));
}

// What is None stays out of the variable.
static bool tensor_or_none(PyObject *object, rheos_output *out_output) {
  graph_object *graph;
  if (object == Py_None || output_of(object, out_output, &graph)) return true;
  PyErr_SetString(PyExc_TypeError, "expected a Tensor");
  return false;
}

PyObject *graph_variable_from_nodes(PyObject *self, PyObject *args) {
  PyObject *handle, *value, *cached, *initial_value, *initializer;
  rheos_variable nodes = {0};
  int trainable;
  if (!PyArg_ParseTuple(args, "OOOOOp", &handle, &value, &cached, &initial_value, &initializer,
                        &trainable)) {
    return NULL;
  }
  if (!tensor_or_none(handle, &nodes.handle) || !tensor_or_none(value, &nodes.value) ||
      !tensor_or_none(cached, &nodes.cached) ||
      !tensor_or_none(initial_value, &nodes.initial_value)) {
    return NULL;
  }
  if (initializer != Py_None) {
    if (!PyObject_TypeCheck(initializer, &operation_base_type)) {
      PyErr_SetString(PyExc_TypeError, "expected an Operation");
      return NULL;
    }
    operation_object *operation = (operation_object *)initializer;
    nodes.initializer = (rheos_operation){operation->graph->graph, operation->id};
  }
  nodes.trainable = trainable;
  rheos_scope *scope = graph_scope((graph_object *)self);
  if (!scope) return NULL;
  const rheos_variable variable = rheos_variable_from_nodes(scope, nodes);
  if (raise_scope_error(scope)) return NULL;
  return PyLong_FromLong(variable.index);
}

PyObject *graph_num_variables(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyLong_FromLong(rheos_graph_num_variables(((graph_object *)self)->graph));
}

static PyObject *index_or_none(rheos_variable variable) {
  if (!variable.graph) Py_RETURN_NONE;
  return PyLong_FromLong(variable.index);
}

PyObject *graph_find_variable(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  const char *name;
  int reuse;
  PyObject *dtype_object, *shape_object;
  if (!PyArg_ParseTuple(args, "siOO", &name, &reuse, &dtype_object, &shape_object)) return NULL;
  rheos_dtype dtype;
  rheos_shape shape;
  if (dtype_from_python(dtype_object, &dtype) < 0) return NULL;
  if (shape_from_python(shape_object, &shape) < 0) return NULL;
  rheos_scope *scope = graph_scope(graph);
  if (!scope) return NULL;
  rheos_variable variable = {0};
  rheos_find_variable(scope, name, (rheos_reuse)reuse, dtype, shape, &variable);
  if (raise_scope_error(scope)) return NULL;
  return index_or_none(variable);
}

PyObject *graph_share_variable(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  const char *name;
  PyObject *object;
  if (!PyArg_ParseTuple(args, "sO!", &name, &variable_base_type, &object)) return NULL;
  rheos_scope *scope = graph_scope(graph);
  if (!scope) return NULL;
  rheos_share_variable(scope, name, ((variable_object *)object)->variable);
  if (raise_scope_error(scope)) return NULL;
  Py_RETURN_NONE;
}

PyObject *graph_set_slice(PyObject *self, PyObject *args) {
  PyObject *variable;
  const char *full_name, *shape_and_slice;
  if (!PyArg_ParseTuple(args, "O!ss", &variable_base_type, &variable, &full_name,
                        &shape_and_slice)) {
    return NULL;
  }
  rheos_scope *scope = graph_scope((graph_object *)self);
  if (!scope) return NULL;
  rheos_variable_set_slice(scope, ((variable_object *)variable)->variable, full_name,
                           shape_and_slice);
  if (raise_scope_error(scope)) return NULL;
  Py_RETURN_NONE;
}

PyObject *graph_slice_of(PyObject *self, PyObject *variable) {
  (void)self;
  const char *full_name, *shape_and_slice;
  if (!is_variable(variable) || !rheos_variable_slice(((variable_object *)variable)->variable,
                                                      &full_name, &shape_and_slice)) {
    Py_RETURN_NONE;
  }
  return Py_BuildValue("(ss)", full_name, shape_and_slice);
}

// An array from a sequence of Variable objects; for PyMem_Free(). NULL with an exception.
static rheos_variable *variables_of(PyObject *sequence, size_t *out_count) {
  PyObject *items = PySequence_Fast(sequence, "expected a list of variables");
  if (!items) return NULL;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  rheos_variable *variables = PyMem_Calloc((size_t)count + 1, sizeof *variables);
  if (!variables) PyErr_NoMemory();
  for (Py_ssize_t i = 0; variables && i < count; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(items, i);
    if (is_variable(item)) {
      variables[i] = ((variable_object *)item)->variable;
      continue;
    }
    PyErr_Format(PyExc_TypeError, "expected a Variable, got %R", item);
    PyMem_Free(variables);
    variables = NULL;
  }
  Py_DECREF(items);
  *out_count = (size_t)count;
  return variables;
}

// ---- Optimizers

static int number_or_tensor(PyObject *options, const char *key, double *number,
                            rheos_output *tensor) {
  PyObject *value = PyDict_GetItemString(options, key);
  graph_object *unused;
  if (!value || value == Py_None || (tensor && output_of(value, tensor, &unused))) return 0;
  *number = PyFloat_AsDouble(value);
  return PyErr_Occurred() ? -1 : 0;
}

typedef struct number_field {
  const char *key;
  size_t number, tensor;  // offsets in rheos_optimizer; no tensor: 0
} number_field;

#define FIELD(name) \
  {#name, offsetof(rheos_optimizer, name), offsetof(rheos_optimizer, name##_tensor)}
static const number_field number_fields[] = {
    FIELD(learning_rate),
    FIELD(momentum),
    FIELD(beta1),
    FIELD(beta2),
    FIELD(epsilon),
    FIELD(decay),
    FIELD(l1_regularization_strength),
    FIELD(l2_regularization_strength),
    FIELD(l2_shrinkage_regularization_strength),
    FIELD(learning_rate_power),
    {"initial_accumulator_value", offsetof(rheos_optimizer, initial_accumulator_value), 0},
};
#undef FIELD

static int numbers_from_python(PyObject *options, rheos_optimizer *out) {
  for (size_t i = 0; i < sizeof number_fields / sizeof *number_fields; ++i) {
    const number_field *field = &number_fields[i];
    double number = 0;
    rheos_output tensor = {NULL, 0, 0};
    if (number_or_tensor(options, field->key, &number, field->tensor ? &tensor : NULL) < 0) {
      return -1;
    }
    memcpy((char *)out + field->number, &number, sizeof number);
    if (field->tensor) memcpy((char *)out + field->tensor, &tensor, sizeof tensor);
  }
  return 0;
}

static const char *optional_text(PyObject *options, const char *key) {
  PyObject *text = PyDict_GetItemString(options, key);
  return text && text != Py_None ? text_of(text) : NULL;
}

// The tensors that rheos_optimizer_prepare() made, the step last.
static int prepared_from_python(PyObject *options, rheos_optimizer *out) {
  PyObject *tensors = PyDict_GetItemString(options, "prepared");
  if (!tensors) return 0;
  graph_object *unused;
  for (Py_ssize_t i = 0; i <= RHEOS_OPTIMIZER_MAX_NUMBERS && i < PySequence_Size(tensors); ++i) {
    PyObject *tensor = PySequence_GetItem(tensors, i);
    rheos_output *to = i < RHEOS_OPTIMIZER_MAX_NUMBERS ? &out->prepared[i] : &out->prepared_step;
    if (tensor && tensor != Py_None) output_of(tensor, to, &unused);
    Py_XDECREF(tensor);
  }
  return PyErr_Occurred() ? -1 : 0;
}

// The kind that the library calls so; none if there is none.
static rheos_optimizer_kind kind_of(const char *wanted) {
  rheos_optimizer optimizer = {.kind = (rheos_optimizer_kind)1};
  const char *name = rheos_optimizer_describe(optimizer).kind;
  while (wanted && name && strcmp(name, wanted) != 0) {
    optimizer.kind = (rheos_optimizer_kind)(optimizer.kind + 1);
    name = rheos_optimizer_describe(optimizer).kind;
  }
  return wanted && name ? optimizer.kind : (rheos_optimizer_kind)0;
}

// {"kind": "Adam", "name": "MyAdam", "learning_rate": 0.1 or a Tensor, ...}
static int optimizer_from_python(PyObject *options, rheos_optimizer *out) {
  double nesterov = 0, locking = 0, identity = 0, centered = 0;
  *out = (rheos_optimizer){0};
  if (number_or_tensor(options, "use_nesterov", &nesterov, NULL) < 0 ||
      number_or_tensor(options, "centered", &centered, NULL) < 0 ||
      number_or_tensor(options, "use_locking", &locking, NULL) < 0 ||
      number_or_tensor(options, "identity", &identity, NULL) < 0 ||
      numbers_from_python(options, out) < 0 || prepared_from_python(options, out) < 0) {
    return -1;
  }
  out->kind = kind_of(optional_text(options, "kind"));
  out->use_nesterov = nesterov != 0;
  out->use_locking = locking != 0;
  out->centered = centered != 0;
  out->identity = (int64_t)identity;  // optimizers of one name and different numbers share nothing
  out->name = optional_text(options, "name");
  out->slot_scope = optional_text(options, "slot_scope");
  out->accum_name = optional_text(options, "accum_name");
  out->linear_name = optional_text(options, "linear_name");
  PyObject *step = PyDict_GetItemString(options, "global_step");
  if (step && is_variable(step)) out->global_step = ((variable_object *)step)->variable;
  return PyErr_Occurred() ? -1 : 0;
}

// [(name, number), ...] up to a name of NULL.
static PyObject *named_numbers(const char *const *names, const double *numbers, Py_ssize_t most) {
  Py_ssize_t count = 0;
  while (count < most && names[count]) ++count;
  PyObject *list = PyList_New(count);
  for (Py_ssize_t i = 0; list && i < count; ++i) {
    PyObject *item = Py_BuildValue("sd", names[i], numbers[i]);
    if (!item)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, item);
  }
  return list;
}

PyObject *optimizer_parts(PyObject *module, PyObject *options) {
  (void)module;
  rheos_optimizer optimizer;
  if (!PyDict_Check(options)) return PyErr_Format(PyExc_TypeError, "expected a dict");
  if (optimizer_from_python(options, &optimizer) < 0) return NULL;
  const rheos_optimizer_parts parts = rheos_optimizer_describe(optimizer);
  return Py_BuildValue("ssNN", parts.op, parts.inputs,
                       named_numbers(parts.slots, parts.slot_values, RHEOS_OPTIMIZER_MAX_SLOTS),
                       named_numbers(parts.numbers, parts.defaults, RHEOS_OPTIMIZER_MAX_NUMBERS));
}

// A gradient is None, a tensor or (values, indices, dense_shape).
static int gradient_of(PyObject *item, rheos_gradient *out) {
  graph_object *unused;
  *out = (rheos_gradient){0};
  bool fits = item == Py_None || output_of(item, &out->values, &unused);
  if (!fits && PyTuple_Check(item) && PyTuple_GET_SIZE(item) == 3) {
    fits = output_of(PyTuple_GET_ITEM(item, 0), &out->values, &unused) &&
           output_of(PyTuple_GET_ITEM(item, 1), &out->indices, &unused);
    output_of(PyTuple_GET_ITEM(item, 2), &out->dense_shape, &unused);
  }
  if (!fits && !PyErr_Occurred()) {
    PyErr_Format(PyExc_TypeError, "Gradient must be a Tensor, IndexedSlices, or None: %R", item);
  }
  return PyErr_Occurred() ? -1 : 0;
}

static rheos_gradient *gradients_of(PyObject *sequence, size_t count) {
  rheos_gradient *gradients = PyMem_Calloc(count + 1, sizeof *gradients);
  if (!gradients) PyErr_NoMemory();
  for (size_t i = 0; gradients && i < count; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(sequence, (Py_ssize_t)i);
    if (gradient_of(item, &gradients[i]) == 0) continue;
    PyMem_Free(gradients);
    gradients = NULL;
  }
  return gradients;
}

PyObject *graph_apply_gradients(PyObject *self, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"options", "variables", "gradients", "global_step", "name", NULL};
  graph_object *graph = (graph_object *)self;
  PyObject *options, *variable_list, *gradient_list, *step = Py_None;
  const char *name = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO!|Oz", names, &PyDict_Type, &options,
                                   &variable_list, &PyList_Type, &gradient_list, &step, &name)) {
    return NULL;
  }
  rheos_optimizer optimizer;
  if (optimizer_from_python(options, &optimizer) < 0) return NULL;
  if (step != Py_None && !is_variable(step)) {
    PyErr_SetString(PyExc_TypeError, "global_step must be a Variable");
    return NULL;
  }
  size_t count = 0;
  rheos_variable *variables = variables_of(variable_list, &count);
  if (variables && count != (size_t)PyList_GET_SIZE(gradient_list)) {
    PyErr_SetString(PyExc_ValueError, "as many gradients as variables are needed");
    PyMem_Free(variables);
    return NULL;
  }
  rheos_gradient *gradients = variables ? gradients_of(gradient_list, count) : NULL;
  rheos_scope *scope = gradients ? graph_scope_for_adding(graph) : NULL;
  PyObject *result = NULL;
  if (scope) {
    int32_t first = graph_begin_adding(graph, scope);
    rheos_operation operation =
        rheos_apply_gradients(scope, optimizer, variables, gradients, count,
                              step == Py_None ? NULL : &((variable_object *)step)->variable, name);
    int asked = graph_end_adding(graph, scope, first, false);
    if (asked == 0 && !raise_scope_error(scope)) result = graph_operation(graph, operation.id);
  }
  PyMem_Free(variables);
  PyMem_Free(gradients);
  return result;
}

// ---- The parts of a step, for optimizers that change some of them

PyObject *graph_optimizer_make_slots(PyObject *self, PyObject *args) {
  PyObject *options, *variable_list;
  rheos_optimizer optimizer;
  if (!PyArg_ParseTuple(args, "O!O", &PyDict_Type, &options, &variable_list)) return NULL;
  if (optimizer_from_python(options, &optimizer) < 0) return NULL;
  size_t count = 0;
  rheos_variable *variables = variables_of(variable_list, &count);
  rheos_scope *scope = variables ? graph_scope_for_adding((graph_object *)self) : NULL;
  if (scope) rheos_optimizer_make_slots(scope, optimizer, variables, count);
  PyMem_Free(variables);
  if (!scope || raise_scope_error(scope)) return NULL;
  Py_RETURN_NONE;
}

PyObject *graph_optimizer_prepare(PyObject *self, PyObject *options) {
  graph_object *graph = (graph_object *)self;
  rheos_optimizer optimizer;
  if (!PyDict_Check(options)) return PyErr_Format(PyExc_TypeError, "expected a dict");
  if (optimizer_from_python(options, &optimizer) < 0) return NULL;
  rheos_scope *scope = graph_scope_for_adding(graph);
  if (!scope) return NULL;
  rheos_optimizer_prepare(scope, &optimizer);
  if (raise_scope_error(scope)) return NULL;
  PyObject *list = PyList_New(RHEOS_OPTIMIZER_MAX_NUMBERS + 1);
  for (Py_ssize_t i = 0; list && i <= RHEOS_OPTIMIZER_MAX_NUMBERS; ++i) {
    PyObject *tensor = gradient_part(
        graph, i < RHEOS_OPTIMIZER_MAX_NUMBERS ? optimizer.prepared[i] : optimizer.prepared_step);
    if (!tensor)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, tensor);
  }
  return list;
}

static PyObject *operation_or_error(graph_object *graph, rheos_scope *scope,
                                    rheos_operation operation) {
  if (raise_scope_error(scope)) return NULL;
  return graph_operation(graph, operation.id);
}

PyObject *graph_optimizer_update(PyObject *self, PyObject *args) {
  PyObject *options, *variable, *gradient_object;
  rheos_optimizer optimizer;
  rheos_gradient gradient;
  if (!PyArg_ParseTuple(args, "O!O!O", &PyDict_Type, &options, &variable_base_type, &variable,
                        &gradient_object)) {
    return NULL;
  }
  if (optimizer_from_python(options, &optimizer) < 0) return NULL;
  if (gradient_of(gradient_object, &gradient) < 0) return NULL;
  rheos_scope *scope = graph_scope_for_adding((graph_object *)self);
  if (!scope) return NULL;
  rheos_operation update =
      rheos_optimizer_update(scope, optimizer, ((variable_object *)variable)->variable, gradient);
  return operation_or_error((graph_object *)self, scope, update);
}

static int operations_of(PyObject *list, rheos_operation *out) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject *item = PyList_GET_ITEM(list, i);
    if (!is_operation(item)) {
      PyErr_Format(PyExc_TypeError, "expected an Operation, got %R", item);
      return -1;
    }
    operation_object *operation = (operation_object *)item;
    out[i] = (rheos_operation){operation->graph->graph, operation->id};
  }
  return 0;
}

PyObject *graph_optimizer_finish(PyObject *self, PyObject *args) {
  PyObject *options, *list;
  const char *name;
  rheos_optimizer optimizer;
  if (!PyArg_ParseTuple(args, "O!O!s", &PyDict_Type, &options, &PyList_Type, &list, &name)) {
    return NULL;
  }
  if (optimizer_from_python(options, &optimizer) < 0) return NULL;
  size_t count = (size_t)PyList_GET_SIZE(list);
  rheos_operation *updates = PyMem_Calloc(count + 1, sizeof *updates);
  if (!updates) return PyErr_NoMemory();
  rheos_scope *scope =
      operations_of(list, updates) == 0 ? graph_scope_for_adding((graph_object *)self) : NULL;
  PyObject *result = NULL;
  if (scope) {
    rheos_operation done = rheos_optimizer_finish(scope, optimizer, updates, count, name);
    result = operation_or_error((graph_object *)self, scope, done);
  }
  PyMem_Free(updates);
  return result;
}

PyObject *graph_optimizer_set_slot(PyObject *self, PyObject *args) {
  PyObject *options, *variable, *slot;
  const char *name;
  rheos_optimizer optimizer;
  if (!PyArg_ParseTuple(args, "O!OsO!", &PyDict_Type, &options, &variable, &name,
                        &variable_base_type, &slot)) {
    return NULL;
  }
  if (optimizer_from_python(options, &optimizer) < 0) return NULL;
  rheos_scope *scope = graph_scope((graph_object *)self);
  if (!scope) return NULL;
  rheos_variable primary = {0};  // none: a number for all variables
  if (is_variable(variable)) primary = ((variable_object *)variable)->variable;
  rheos_optimizer_set_slot(scope, optimizer, primary, name, ((variable_object *)slot)->variable);
  if (raise_scope_error(scope)) return NULL;
  Py_RETURN_NONE;
}

PyObject *graph_optimizer_slot(PyObject *self, PyObject *args) {
  PyObject *options, *object;
  const char *slot;
  if (!PyArg_ParseTuple(args, "O!Os", &PyDict_Type, &options, &object, &slot)) return NULL;
  rheos_optimizer optimizer;
  if (optimizer_from_python(options, &optimizer) < 0) return NULL;
  rheos_variable variable = {0};
  if (is_variable(object)) variable = ((variable_object *)object)->variable;
  return index_or_none(
      rheos_optimizer_own_slot(((graph_object *)self)->graph, optimizer, variable, slot));
}

// ---- Savers

typedef struct saver_object {
  PyObject_HEAD graph_object *graph;
  rheos_saver saver;
} saver_object;

static void saver_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  Py_CLEAR(((saver_object *)object)->graph);
  Py_TYPE(object)->tp_free(object);
}

static int saver_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((saver_object *)object)->graph);
  return 0;
}

static PyObject *saver_filename(PyObject *object, void *unused) {
  (void)unused;
  saver_object *self = (saver_object *)object;
  return graph_tensor(self->graph, self->saver.filename.id, self->saver.filename.index);
}

static PyObject *saver_save_path(PyObject *object, void *unused) {
  (void)unused;
  saver_object *self = (saver_object *)object;
  return graph_tensor(self->graph, self->saver.save_path.id, self->saver.save_path.index);
}

static PyObject *saver_restore(PyObject *object, void *unused) {
  (void)unused;
  saver_object *self = (saver_object *)object;
  return graph_operation(self->graph, self->saver.restore.id);
}

static PyGetSetDef saver_getters[] = {
    {"filename", saver_filename, NULL, "Feed it the prefix of the checkpoint.", NULL},
    {"save_path", saver_save_path, NULL, "Fetch it to save.", NULL},
    {"restore", saver_restore, NULL, "Run it to restore.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject saver_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.SaverNodes",
    .tp_basicsize = sizeof(saver_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "The nodes that save and restore variables.",
    .tp_dealloc = saver_dealloc,
    .tp_traverse = saver_traverse,
    .tp_getset = saver_getters,
};

PyObject *graph_saver_new(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  PyObject *variable_list, *name_list;
  rheos_saver_options options = {0};
  int write_v1 = 0, reshape = 0, sharded = 0;
  if (!PyArg_ParseTuple(args, "OO!|zzppp", &variable_list, &PyList_Type, &name_list, &options.name,
                        &options.filename, &write_v1, &reshape, &sharded)) {
    return NULL;
  }
  options.sharded = sharded;
  options.write_v1 = write_v1;
  options.reshape = reshape;
  size_t count = 0;
  rheos_variable *variables = variables_of(variable_list, &count);
  const char **names = variables ? texts_of(name_list) : NULL;
  rheos_scope *scope = names ? graph_scope_for_adding(graph) : NULL;
  saver_object *result = NULL;
  if (scope && count != (size_t)PyList_GET_SIZE(name_list)) {
    PyErr_SetString(PyExc_ValueError, "as many names as variables are needed");
  } else if (scope) {
    rheos_saver saver = rheos_saver_new_with(scope, variables, names, count, &options);
    if (!raise_scope_error(scope)) result = PyObject_GC_New(saver_object, &saver_type);
    if (result) {
      result->graph = (graph_object *)Py_NewRef((PyObject *)graph);
      result->saver = saver;
      PyObject_GC_Track(result);
    }
  }
  PyMem_Free(variables);
  PyMem_Free(names);
  return (PyObject *)result;
}

PyObject *graph_restore_check(PyObject *self, PyObject *args) {
  operation_object *restore;
  const char *checkpoint;
  if (!PyArg_ParseTuple(args, "O!s", &operation_base_type, &restore, &checkpoint)) return NULL;
  const rheos_operation operation = {((graph_object *)self)->graph, restore->id};
  rheos_status *status = rheos_restore_check(operation, checkpoint);
  PyObject *text =
      status ? PyUnicode_DecodeUTF8(rheos_status_message(status),
                                    (Py_ssize_t)strlen(rheos_status_message(status)), "replace")
             : Py_NewRef(Py_None);
  rheos_status_free(status);
  return text;
}

int training_init_types(PyObject *module) { return PyModule_AddType(module, &saver_type); }
