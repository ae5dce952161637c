// Methods of graph objects for conditionals and loops: the steps of <rheos/control_flow.h>.
// Contexts are numbers here, 0 for none.

#include <rheos/control_context.h>

#include "graph_object.h"

static PyObject *number_of(const rheos_control_context *context) {
  return PyLong_FromLong(context ? rheos_control_context_describe(context).number : 0);
}

// Converter of arguments: a number. The graph has to be there already.
static int context_from(graph_object *graph, PyObject *number,
                        rheos_control_context **out_context) {
  long value = PyLong_AsLong(number);
  if (value == -1 && PyErr_Occurred()) return -1;
  *out_context = rheos_graph_control_context(graph->graph, value > INT32_MAX ? 0 : (int32_t)value);
  if (*out_context || value == 0) return 0;
  PyErr_Format(PyExc_ValueError, "there is no context %ld", value);
  return -1;
}

static PyObject *tensor_or_none(graph_object *graph, rheos_output output) {
  if (!output.graph) Py_RETURN_NONE;
  return graph_tensor(graph, output.id, output.index);
}

static PyObject *tensor_list(graph_object *graph, const rheos_output *outputs, size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    PyObject *tensor = tensor_or_none(graph, outputs[i]);
    if (tensor)
      PyList_SET_ITEM(list, (Py_ssize_t)i, tensor);
    else
      Py_CLEAR(list);
  }
  return list;
}

static int one_output(PyObject *object, rheos_output *out_output) {
  graph_object *unused;
  if (output_of(object, out_output, &unused)) return 0;
  if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "expected a Tensor, got %R", object);
  return -1;
}

PyObject *graph_push_context(PyObject *self, PyObject *number) {
  graph_object *graph = (graph_object *)self;
  rheos_control_context *context;
  rheos_scope *scope = graph_scope(graph);
  if (!scope || context_from(graph, number, &context) < 0) return NULL;
  rheos_push_control_context(scope, context);
  return graph_pushed(graph, scope);
}

PyObject *graph_current_context(PyObject *self, PyObject *unused) {
  (void)unused;
  rheos_scope *scope = graph_scope((graph_object *)self);
  return scope ? number_of(rheos_scope_control_context(scope)) : NULL;
}

PyObject *graph_context_of(PyObject *self, PyObject *id) {
  long number = PyLong_AsLong(id);
  if (number == -1 && PyErr_Occurred()) return NULL;
  rheos_operation operation = {((graph_object *)self)->graph, (int32_t)number};
  return number_of(rheos_operation_control_context(operation));
}

PyObject *graph_set_context_of(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  int id;
  PyObject *number;
  rheos_control_context *context;
  if (!PyArg_ParseTuple(args, "iO", &id, &number)) return NULL;
  if (context_from(graph, number, &context) < 0) return NULL;
  rheos_status *status =
      rheos_operation_set_control_context((rheos_operation){graph->graph, id}, context);
  if (!status) Py_RETURN_NONE;
  raise_build_error_take(status);
  return NULL;
}

PyObject *graph_is_fetchable(PyObject *self, PyObject *id) {
  long number = PyLong_AsLong(id);
  if (number == -1 && PyErr_Occurred()) return NULL;
  rheos_operation operation = {((graph_object *)self)->graph, (int32_t)number};
  return PyBool_FromLong(rheos_operation_is_fetchable(operation));
}

PyObject *graph_is_feedable(PyObject *self, PyObject *id) {
  long number = PyLong_AsLong(id);
  if (number == -1 && PyErr_Occurred()) return NULL;
  rheos_operation operation = {((graph_object *)self)->graph, (int32_t)number};
  return PyBool_FromLong(rheos_operation_is_feedable(operation));
}

// ---- Conditionals

PyObject *graph_cond_begin(PyObject *self, PyObject *object) {
  graph_object *graph = (graph_object *)self;
  rheos_output pred;
  rheos_scope *scope = graph_scope_for_adding(graph);
  if (!scope || one_output(object, &pred) < 0) return NULL;
  rheos_control_context *branches[2];
  int32_t first = graph_begin_adding(graph, scope);
  rheos_cond_begin(scope, pred, branches);
  int asked = graph_end_adding(graph, scope, first, false);
  if (asked < 0 || raise_scope_error(scope)) return NULL;
  return Py_BuildValue("NN", number_of(branches[0]), number_of(branches[1]));
}

PyObject *graph_cond_result(PyObject *self, PyObject *object) {
  graph_object *graph = (graph_object *)self;
  rheos_output value = {NULL, 0, 0};
  rheos_scope *scope = graph_scope_for_adding(graph);
  bool is_after = is_operation(object);
  if (!scope || (!is_after && one_output(object, &value) < 0)) return NULL;
  int32_t first = graph_begin_adding(graph, scope);
  if (is_after) {
    rheos_operation operation = {graph->graph, ((operation_object *)object)->id};
    value = rheos_cond_result_after(scope, operation);
  } else {
    value = rheos_cond_result(scope, value);
  }
  int asked = graph_end_adding(graph, scope, first, false);
  if (asked < 0 || raise_scope_error(scope)) return NULL;
  return graph_tensor(graph, value.id, value.index);
}

PyObject *graph_cond_merge(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  PyObject *objects[2];
  rheos_output sides[2];
  rheos_scope *scope = graph_scope_for_adding(graph);
  if (!scope || !PyArg_ParseTuple(args, "OO", &objects[0], &objects[1])) return NULL;
  if (one_output(objects[0], &sides[0]) < 0 || one_output(objects[1], &sides[1]) < 0) return NULL;
  int32_t first = graph_begin_adding(graph, scope);
  rheos_output merged = rheos_cond_merge(scope, sides[0], sides[1]);
  int asked = graph_end_adding(graph, scope, first, true);
  if (asked < 0 || raise_scope_error(scope)) return NULL;
  return graph_tensor(graph, merged.id, merged.index);
}

// ---- Loops

// An array of `count` shapes from a sequence of them, for PyMem_Free(); NULL with an exception.
static rheos_shape *shapes_of(PyObject *sequence, size_t count) {
  PyObject *items = PySequence_Fast(sequence, "expected a list of shapes");
  if (!items) return NULL;
  rheos_shape *shapes = NULL;
  if ((size_t)PySequence_Fast_GET_SIZE(items) != count) {
    PyErr_SetString(PyExc_ValueError, "expected a shape for each loop variable");
  } else {
    shapes = PyMem_Calloc(count + 1, sizeof *shapes);
    if (!shapes) PyErr_NoMemory();
  }
  for (size_t i = 0; shapes && i < count; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(items, (Py_ssize_t)i);
    if (shape_from_python(item, &shapes[i]) == 0) continue;
    PyMem_Free(shapes);
    shapes = NULL;
  }
  Py_DECREF(items);
  return shapes;
}

static PyObject *begin_loop(graph_object *graph, rheos_scope *scope, const rheos_output *variables,
                            size_t count, const rheos_while_options *options) {
  rheos_output *inside = PyMem_Calloc(count + 1, sizeof *inside);
  if (!inside) return PyErr_NoMemory();
  int32_t first = graph_begin_adding(graph, scope);
  rheos_control_context *context = rheos_while_begin(scope, variables, count, options, inside);
  int asked = graph_end_adding(graph, scope, first, false);
  PyObject *result = NULL;
  if (asked >= 0 && !raise_scope_error(scope)) {
    result = Py_BuildValue("NN", number_of(context), tensor_list(graph, inside, count));
  }
  PyMem_Free(inside);
  return result;
}

PyObject *graph_while_begin(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  PyObject *variables, *shape_list, *limit;
  int parallel_iterations, back_prop, swap_memory;
  if (!PyArg_ParseTuple(args, "OOippO", &variables, &shape_list, &parallel_iterations, &back_prop,
                        &swap_memory, &limit)) {
    return NULL;
  }
  rheos_while_options options = {.parallel_iterations = parallel_iterations,
                                 .no_back_prop = !back_prop,
                                 .swap_memory = swap_memory};
  if (limit != Py_None && one_output(limit, &options.max_iterations) < 0) return NULL;
  rheos_scope *scope = graph_scope_for_adding(graph);
  rheos_output *outputs = NULL;
  size_t count;
  if (!scope || flat_outputs(variables, &outputs, &count) < 0) return NULL;
  PyObject *result = NULL;
  rheos_shape *shapes = shape_list != Py_None ? shapes_of(shape_list, count) : NULL;
  options.shapes = shapes;
  if (shapes || shape_list == Py_None) {
    result = begin_loop(graph, scope, outputs, count, &options);
  }
  PyMem_Free(shapes);
  PyMem_Free(outputs);
  return result;
}

// How many variables the loop that is the scope's context has.
static size_t num_variables(const rheos_scope *scope) {
  const rheos_control_context *context = rheos_scope_control_context(scope);
  return context ? (size_t)rheos_control_context_describe(context).num_enters : 0;
}

PyObject *graph_while_body(PyObject *self, PyObject *object) {
  graph_object *graph = (graph_object *)self;
  rheos_output condition;
  rheos_scope *scope = graph_scope_for_adding(graph);
  if (!scope || one_output(object, &condition) < 0) return NULL;
  size_t count = num_variables(scope);
  rheos_output *inside = PyMem_Calloc(count + 1, sizeof *inside);
  if (!inside) return PyErr_NoMemory();
  int32_t first = graph_begin_adding(graph, scope);
  rheos_while_body(scope, condition, inside);
  int asked = graph_end_adding(graph, scope, first, false);
  PyObject *list = NULL;
  if (asked >= 0 && !raise_scope_error(scope)) list = tensor_list(graph, inside, count);
  PyMem_Free(inside);
  return list;
}

PyObject *graph_while_end(PyObject *self, PyObject *next_values) {
  graph_object *graph = (graph_object *)self;
  rheos_scope *scope = graph_scope_for_adding(graph);
  rheos_output *next = NULL;
  size_t count;
  if (!scope || flat_outputs(next_values, &next, &count) < 0) return NULL;
  if (count != num_variables(scope)) {
    PyMem_Free(next);
    PyErr_SetString(PyExc_ValueError, "expected a value for each loop variable");
    return NULL;
  }
  rheos_output *after = PyMem_Calloc(count + 1, sizeof *after);
  PyObject *list = NULL;
  if (!after) {
    PyErr_NoMemory();
  } else {
    int32_t first = graph_begin_adding(graph, scope);
    rheos_while_end(scope, next, after);
    int asked = graph_end_adding(graph, scope, first, false);
    if (asked >= 0 && !raise_scope_error(scope)) list = tensor_list(graph, after, count);
  }
  PyMem_Free(after);
  PyMem_Free(next);
  return list;
}

// ---- Looking at contexts, and contexts of files

static PyObject *ends_of(graph_object *graph, const rheos_control_context *context, int32_t count,
                         rheos_output (*end)(const rheos_control_context *, int32_t)) {
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    PyObject *tensor = tensor_or_none(graph, end(context, i));
    if (tensor)
      PyList_SET_ITEM(list, i, tensor);
    else
      Py_CLEAR(list);
  }
  return list;
}

static PyObject *values_of(graph_object *graph, const rheos_control_context *context) {
  size_t count = rheos_control_context_num_values(context);
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    rheos_output inside, value = rheos_control_context_value_at(context, i, &inside);
    PyObject *pair =
        Py_BuildValue("NN", tensor_or_none(graph, value), tensor_or_none(graph, inside));
    if (pair)
      PyList_SET_ITEM(list, (Py_ssize_t)i, pair);
    else
      Py_CLEAR(list);
  }
  return list;
}

PyObject *graph_describe_context(PyObject *self, PyObject *number) {
  graph_object *graph = (graph_object *)self;
  long value = PyLong_AsLong(number);
  if (value == -1 && PyErr_Occurred()) return NULL;
  const rheos_control_context *context = rheos_graph_control_context(graph->graph, (int32_t)value);
  if (!context) Py_RETURN_NONE;
  rheos_control_context_info info = rheos_control_context_describe(context);
  return Py_BuildValue(
      "{s:N,s:s,s:O,s:N,s:N,s:i,s:N,s:N,s:N,s:N,s:N,s:i,s:O,s:O}", "outer", number_of(info.outer),
      "name", info.name, "is_while", info.is_while ? Py_True : Py_False, "pivot",
      tensor_or_none(graph, info.pivot), "pred", tensor_or_none(graph, info.pred), "branch",
      (int)info.branch, "pivot_for_pred", tensor_or_none(graph, info.pivot_for_pred),
      "pivot_for_body", tensor_or_none(graph, info.pivot_for_body), "maximum_iterations",
      tensor_or_none(graph, info.max_iterations), "enters",
      ends_of(graph, context, info.num_enters, rheos_control_context_enter), "exits",
      ends_of(graph, context, info.num_exits, rheos_control_context_exit), "parallel_iterations",
      (int)info.parallel_iterations, "back_prop", info.back_prop ? Py_True : Py_False,
      "swap_memory", info.swap_memory ? Py_True : Py_False);
}

PyObject *graph_context_values(PyObject *self, PyObject *number) {
  graph_object *graph = (graph_object *)self;
  rheos_control_context *context;
  if (context_from(graph, number, &context) < 0) return NULL;
  return context ? values_of(graph, context) : PyList_New(0);
}

// One field of a description; none where it is None.
static int field_output(PyObject *fields, const char *name, rheos_output *out_output) {
  PyObject *object = PyDict_GetItemString(fields, name);
  if (!object || object == Py_None) return 0;
  return one_output(object, out_output);
}

static long field_long(PyObject *fields, const char *name) {
  PyObject *object = PyDict_GetItemString(fields, name);
  return object ? PyLong_AsLong(object) : 0;
}

PyObject *graph_restore_context(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  PyObject *fields, *lists[4];
  rheos_control_context_info info = {0};
  if (!PyArg_ParseTuple(args, "O!sOOOO", &PyDict_Type, &fields, &info.name, &lists[0], &lists[1],
                        &lists[2], &lists[3])) {
    return NULL;
  }
  rheos_scope *scope = graph_scope(graph);
  if (!scope || field_output(fields, "pivot", &info.pivot) < 0 ||
      field_output(fields, "pred", &info.pred) < 0 ||
      field_output(fields, "pivot_for_pred", &info.pivot_for_pred) < 0 ||
      field_output(fields, "pivot_for_body", &info.pivot_for_body) < 0 ||
      field_output(fields, "maximum_iterations", &info.max_iterations) < 0) {
    return NULL;
  }
  info.is_while = field_long(fields, "is_while") != 0;
  info.branch = (int32_t)field_long(fields, "branch");
  info.parallel_iterations = (int32_t)field_long(fields, "parallel_iterations");
  info.back_prop = field_long(fields, "back_prop") != 0;
  info.swap_memory = field_long(fields, "swap_memory") != 0;
  if (PyErr_Occurred()) return NULL;
  rheos_output *outputs[4] = {NULL};
  size_t counts[4] = {0};
  int failed = 0;
  for (int i = 0; i < 4 && !failed; ++i) {
    failed = flat_outputs(lists[i], &outputs[i], &counts[i]) < 0;
  }
  PyObject *result = NULL;
  if (!failed && counts[2] != counts[3]) {
    PyErr_SetString(PyExc_ValueError, "expected as many values outside as inside");
  } else if (!failed) {
    info.num_enters = (int32_t)counts[0];
    info.num_exits = (int32_t)counts[1];
    rheos_control_context *context = rheos_control_context_restore(
        scope, &info, outputs[0], outputs[1], outputs[2], outputs[3], counts[2]);
    if (!raise_scope_error(scope)) result = number_of(context);
  }
  for (int i = 0; i < 4; ++i) PyMem_Free(outputs[i]);
  return result;
}
