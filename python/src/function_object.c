// Methods of graph objects that are bodies of functions: the steps of <rheos/function.h>.

#include <rheos/front_end.h>
#include <rheos/function.h>

#include "attr.h"
#include "graph_object.h"

// Ends what the extension looks out for: operations that may belong into the body.
static void close_function(graph_object *graph) {
  if (!graph->is_open) return;
  graph->is_open = false;
  package.num_open_functions--;
}

void graph_free_function(graph_object *graph) {
  close_function(graph);
  rheos_function_free(graph->function);
  graph->function = NULL;
}

graph_object *graph_for_adding(graph_object *graph, bool *out_captures) {
  if (out_captures) *out_captures = false;
  if (package.num_open_functions == 0) return (graph_object *)Py_NewRef((PyObject *)graph);
  PyObject *current = PyObject_CallNoArgs(package.default_graph);
  if (!current) return NULL;
  if (is_graph(current) && ((graph_object *)current)->function) {
    if (out_captures) *out_captures = true;
    return (graph_object *)current;
  }
  Py_DECREF(current);
  return (graph_object *)Py_NewRef((PyObject *)graph);
}

// The object of a graph around the body.
static graph_object *object_around(graph_object *body, const rheos_graph *graph) {
  graph_object *at = body->around;
  while (at && at->graph != graph) at = at->around;
  return at;
}

// What the package says that stands for a tensor of a graph around the body. An exception stays
// pending.
static rheos_output ask_package(void *argument, rheos_function *function, rheos_output value) {
  graph_object *body = argument;
  rheos_output inside = {NULL, 0, 0};
  graph_object *around = object_around(body, value.graph), *unused;
  PyObject *outer = around ? graph_tensor(around, value.id, value.index) : NULL;
  PyObject *found = outer ? PyObject_CallMethod((PyObject *)body, "capture", "O", outer) : NULL;
  if (found) output_of(found, &inside, &unused);
  if (!inside.graph) {
    rheos_status *status = rheos_status_new(RHEOS_INTERNAL, "a tensor could not be captured");
    rheos_scope_fail_take(rheos_function_scope(function), status);
  }
  Py_XDECREF(outer);
  Py_XDECREF(found);
  return inside;
}

// Whether the scope of the function is in order; else its error is raised.
static PyObject *function_done(graph_object *graph) {
  if (raise_scope_error(rheos_function_scope(graph->function))) return NULL;
  Py_RETURN_NONE;
}

static graph_object *function_of(PyObject *self) {
  graph_object *graph = (graph_object *)self;
  if (graph->function) return graph;
  PyErr_SetString(PyExc_ValueError, "the graph is no function's");
  return NULL;
}

PyObject *graph_begin_function(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self, *around;
  const char *name;
  PyObject *attr_values;
  if (!PyArg_ParseTuple(args, "O!sO!", &graph_base_type, &around, &name, &PyTuple_Type,
                        &attr_values)) {
    return NULL;
  }
  if (graph->function || rheos_graph_num_operations(graph->graph) > 0 || graph->num_scopes > 0) {
    PyErr_SetString(PyExc_ValueError, "the graph is in use already");
    return NULL;
  }
  rheos_scope *scope = graph_scope(around);
  attr_list attrs;
  if (!scope || attr_list_init(&attrs, attr_values) < 0) return NULL;
  rheos_function_options options = {.capture = ask_package,
                                    .capture_argument = graph,
                                    .attrs = attrs.items,
                                    .num_attrs = attrs.count};
  rheos_function *function = rheos_function_begin(scope, name, &options);
  attr_list_deinit(&attrs);
  if (raise_scope_error(scope)) return NULL;
  rheos_graph_unref(graph->graph);
  graph->graph = rheos_graph_ref(rheos_scope_graph(rheos_function_scope(function)));
  graph->function = function;
  graph->around = (graph_object *)Py_NewRef((PyObject *)around);
  graph->is_open = true;
  package.num_open_functions++;
  Py_RETURN_NONE;
}

PyObject *graph_stand_in(PyObject *self, PyObject *args) {
  graph_object *graph = function_of(self), *of;
  PyObject *object;
  const char *name;
  rheos_output value;
  if (!graph || !PyArg_ParseTuple(args, "Oz", &object, &name)) return NULL;
  if (!is_tensor(object) || !output_of(object, &value, &of)) {
    PyErr_SetString(PyExc_TypeError, "what an argument stands for is a Tensor");
    return NULL;
  }
  rheos_output inside = rheos_function_stand_in(graph->function, name, value);
  if (raise_scope_error(rheos_function_scope(graph->function))) return NULL;
  return graph_tensor(graph, inside.id, inside.index);
}

PyObject *graph_adopt_argument(PyObject *self, PyObject *args) {
  graph_object *graph = function_of(self), *of;
  PyObject *object;
  const char *name;
  rheos_output output;
  if (!graph || !PyArg_ParseTuple(args, "Oz", &object, &name)) return NULL;
  if (!is_tensor(object) || !output_of(object, &output, &of)) {
    PyErr_SetString(PyExc_TypeError, "an argument of a function is a Tensor of its graph");
    return NULL;
  }
  rheos_function_adopt_argument(graph->function, name, output);
  return function_done(graph);
}

PyObject *graph_add_result(PyObject *self, PyObject *args) {
  graph_object *graph = function_of(self), *of;
  PyObject *object;
  const char *name;
  rheos_output output;
  if (!graph || !PyArg_ParseTuple(args, "Oz", &object, &name)) return NULL;
  if (!is_tensor(object) || !output_of(object, &output, &of)) {
    PyErr_SetString(PyExc_TypeError, "a result of a function is a Tensor");
    return NULL;
  }
  rheos_function_result(graph->function, name, output);
  return function_done(graph);
}

PyObject *graph_add_control_output(PyObject *self, PyObject *args) {
  graph_object *graph = function_of(self);
  PyObject *object;
  const char *name;
  if (!graph || !PyArg_ParseTuple(args, "Oz", &object, &name)) return NULL;
  if (!is_operation(object)) {
    PyErr_SetString(PyExc_TypeError, "a control output of a function is an Operation");
    return NULL;
  }
  operation_object *operation = (operation_object *)object;
  rheos_function_control_output(graph->function, name,
                                (rheos_operation){operation->graph->graph, operation->id});
  return function_done(graph);
}

PyObject *graph_control_outputs(PyObject *self, PyObject *unused) {
  (void)unused;
  graph_object *graph = function_of(self);
  size_t count = graph ? rheos_function_num_control_outputs(graph->function) : 0;
  PyObject *list = graph ? PyList_New((Py_ssize_t)count) : NULL;
  for (size_t i = 0; list && i < count; ++i) {
    rheos_operation operation = rheos_function_control_output_at(graph->function, i);
    PyObject *item = graph_operation(graph, operation.id);
    if (item)
      PyList_SET_ITEM(list, (Py_ssize_t)i, item);
    else
      Py_CLEAR(list);
  }
  return list;
}

PyObject *graph_read_outside(PyObject *self, PyObject *value) {
  graph_object *graph = function_of(self);
  int truth = graph ? PyObject_IsTrue(value) : -1;
  if (truth < 0) return NULL;
  graph->reads_outside = truth;
  Py_RETURN_NONE;
}

PyObject *graph_order_effects(PyObject *self, PyObject *number) {
  graph_object *graph = function_of(self);
  long first = PyLong_AsLong(number);
  if (!graph || (first == -1 && PyErr_Occurred())) return NULL;
  rheos_function_order_effects(graph->function, first > INT32_MAX ? INT32_MAX : (int32_t)first);
  return function_done(graph);
}

PyObject *graph_rename_function(PyObject *self, PyObject *name) {
  graph_object *graph = function_of(self);
  const char *text = graph ? text_of(name) : NULL;
  if (!text) return NULL;
  rheos_function_rename(graph->function, text);
  return function_done(graph);
}

PyObject *graph_finish_function(PyObject *self, PyObject *unused) {
  (void)unused;
  graph_object *graph = function_of(self);
  rheos_scope *scope = graph ? graph_scope(graph->around) : NULL;
  if (!scope) return NULL;
  rheos_function_finish(graph->function, scope);
  if (raise_scope_error(scope)) return NULL;
  close_function(graph);
  graph->finalized = true;
  Py_RETURN_NONE;
}

PyObject *graph_function_name(PyObject *self, PyObject *unused) {
  (void)unused;
  graph_object *graph = function_of(self);
  return graph ? PyUnicode_FromString(rheos_function_name(graph->function)) : NULL;
}

PyObject *graph_is_stateful(PyObject *self, PyObject *unused) {
  (void)unused;
  graph_object *graph = function_of(self);
  return graph ? PyBool_FromLong(rheos_function_is_stateful(graph->function)) : NULL;
}

static PyObject *library_done(rheos_status *status) {
  if (!status) Py_RETURN_NONE;
  raise_build_error_take(status);
  return NULL;
}

PyObject *graph_set_function_gradient(PyObject *self, PyObject *args) {
  const char *function, *gradient;
  if (!PyArg_ParseTuple(args, "ss", &function, &gradient)) return NULL;
  return library_done(
      rheos_graph_set_function_gradient(((graph_object *)self)->graph, function, gradient));
}

PyObject *graph_sweep_functions(PyObject *self, PyObject *unused) {
  (void)unused;
  rheos_eager_sweep(((graph_object *)self)->eager);
  Py_RETURN_NONE;
}

PyObject *graph_remove_function(PyObject *self, PyObject *name) {
  const char *text = text_of(name);
  if (!text) return NULL;
  graph_object *graph = (graph_object *)self;
  return library_done(graph->eager ? rheos_eager_remove_function(graph->eager, text)
                                   : rheos_graph_remove_function(graph->graph, text));
}

PyObject *graph_infer_call(PyObject *self, PyObject *id) {
  const long number = PyLong_AsLong(id);
  if (number == -1 && PyErr_Occurred()) return NULL;
  const rheos_operation call = {((graph_object *)self)->graph, (int32_t)number};
  rheos_status *status = rheos_function_infer_call(call);
  if (!status) Py_RETURN_NONE;
  raise_build_error_take(status);
  return NULL;
}

PyObject *graph_remove_functions(PyObject *self, PyObject *names) {
  graph_object *graph = (graph_object *)self;
  PyObject *items = PySequence_Fast(names, "expected a list of names");
  const char **texts = items ? texts_of(items) : NULL;
  PyObject *done = NULL;
  if (texts) {
    const size_t count = (size_t)PySequence_Fast_GET_SIZE(items);
    done = library_done(rheos_eager_remove_functions(graph->eager, texts, count));
  }
  PyMem_Free(texts);
  Py_XDECREF(items);
  return done;
}
