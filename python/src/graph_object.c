// Graph objects: the graph, a scope for each thread, and the live Python objects of its nodes.

#include <string.h>

#include "attr.h"
#include "eager_object.h"
#include "graph_object.h"

// ---- Life

static PyObject *graph_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)args;
  (void)kwargs;
  graph_object *self = (graph_object *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->graph = rheos_graph_new();
  if (!self->graph) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  return (PyObject *)self;
}

static int graph_traverse(PyObject *object, visitproc visit, void *arg) {
  graph_object *self = (graph_object *)object;
  Py_VISIT(self->kept);
  Py_VISIT(self->device_function);
  Py_VISIT(self->around);
  return 0;
}

static int graph_clear(PyObject *object) {
  graph_object *self = (graph_object *)object;
  Py_CLEAR(self->kept);
  Py_CLEAR(self->device_function);
  if (!self->function) Py_CLEAR(self->around);
  return 0;
}

static void graph_dealloc(PyObject *object) {
  graph_object *self = (graph_object *)object;
  PyObject_GC_UnTrack(object);
  graph_clear(object);
  for (int32_t i = 0; i < self->num_scopes; ++i) rheos_scope_free(self->scopes[i].scope);
  PyMem_Free(self->scopes);
  for (int32_t i = 0; i < self->num_nodes; ++i) PyMem_Free(self->nodes[i].others);
  PyMem_Free(self->nodes);
  graph_free_function(self);
  Py_CLEAR(self->around);
  rheos_graph_unref(self->graph);
  rheos_eager_free(self->eager);
  Py_TYPE(object)->tp_free(object);
}

// ---- Live objects

// Room for the objects of node `id`; NULL with an exception.
static node_objects *objects_of(graph_object *graph, int32_t id) {
  if (id < graph->num_nodes) return &graph->nodes[id];
  int32_t room = graph->num_nodes < 64 ? 64 : graph->num_nodes;
  while (room <= id) room = room > INT32_MAX / 2 ? INT32_MAX : room * 2;
  node_objects *nodes = PyMem_Realloc(graph->nodes, (size_t)room * sizeof *nodes);
  if (!nodes) {
    PyErr_NoMemory();
    return NULL;
  }
  memset(nodes + graph->num_nodes, 0, (size_t)(room - graph->num_nodes) * sizeof *nodes);
  graph->nodes = nodes;
  graph->num_nodes = room;
  return &nodes[id];
}

// Where the object of one output is, or is to be; NULL with an exception. Valid until a node or
// another output gets room.
static tensor_object **slot_of(graph_object *graph, int32_t id, int32_t index) {
  node_objects *objects = objects_of(graph, id);
  if (!objects) return NULL;
  if (index == 0) return &objects->first;
  if (index > objects->num_others) {
    int32_t room = objects->num_others < 2 ? 2 : objects->num_others;
    while (room < index) room = room > INT32_MAX / 2 ? INT32_MAX : room * 2;
    tensor_object **others = PyMem_Realloc(objects->others, (size_t)room * sizeof(tensor_object *));
    if (!others) {
      PyErr_NoMemory();
      return NULL;
    }
    memset(others + objects->num_others, 0,
           (size_t)(room - objects->num_others) * sizeof(tensor_object *));
    objects->others = others;
    objects->num_others = room;
  }
  return &objects->others[index - 1];
}

PyObject *graph_tensor(graph_object *graph, int32_t id, int32_t index) {
  tensor_object **slot = slot_of(graph, id, index);
  if (!slot) return NULL;
  // One that is being freed, and whose finalizers run, is gone for everybody else.
  if (*slot && Py_REFCNT(*slot) > 0) return Py_NewRef((PyObject *)*slot);
  tensor_object *tensor = (tensor_object *)package.tensor_type->tp_alloc(package.tensor_type, 0);
  if (!tensor) return NULL;
  tensor->graph = (graph_object *)Py_NewRef((PyObject *)graph);
  tensor->id = id;
  tensor->index = index;
  *slot_of(graph, id, index) = tensor;  // an allocation may have run the collector
  return (PyObject *)tensor;
}

PyObject *graph_operation(graph_object *graph, int32_t id) {
  node_objects *objects = objects_of(graph, id);
  if (!objects) return NULL;
  if (objects->operation && Py_REFCNT(objects->operation) > 0)
    return Py_NewRef((PyObject *)objects->operation);
  PyTypeObject *type = package.operation_type;
  operation_object *operation = (operation_object *)type->tp_alloc(type, 0);
  if (!operation) return NULL;
  operation->graph = (graph_object *)Py_NewRef((PyObject *)graph);
  operation->id = id;
  graph->nodes[id].operation = operation;
  return (PyObject *)operation;
}

void graph_forget_tensor(graph_object *graph, tensor_object *tensor) {
  if (tensor->id >= graph->num_nodes) return;
  node_objects *objects = &graph->nodes[tensor->id];
  if (tensor->index > objects->num_others) return;
  tensor_object **slot = tensor->index == 0 ? &objects->first : &objects->others[tensor->index - 1];
  if (*slot == tensor) *slot = NULL;
}

void graph_forget_operation(graph_object *graph, operation_object *operation) {
  if (operation->id < graph->num_nodes && graph->nodes[operation->id].operation == operation) {
    graph->nodes[operation->id].operation = NULL;
  }
}

int graph_keep(graph_object *graph, PyObject *object) {
  if (!graph->kept) graph->kept = PyList_New(0);
  return graph->kept ? PyList_Append(graph->kept, object) : -1;
}

// ---- Scopes

enum { scopes_before_reuse = 8 };

static rheos_scope *new_scope(graph_object *graph, uint64_t thread) {
  // Threads come and go; a scope on which nothing is pushed means nothing to its thread.
  for (int32_t i = 0; i < graph->num_scopes && graph->num_scopes >= scopes_before_reuse; ++i) {
    if (graph->scopes[i].depth > 0) continue;
    graph->scopes[i].thread = thread;
    return graph->scopes[i].scope;
  }
  size_t count = (size_t)graph->num_scopes + 1;
  thread_scope *scopes = PyMem_Realloc(graph->scopes, count * sizeof *scopes);
  if (scopes) graph->scopes = scopes;
  rheos_scope *scope = scopes ? rheos_scope_new(graph->graph) : NULL;
  if (!scope) {
    PyErr_NoMemory();
    return NULL;
  }
  scopes[graph->num_scopes++] = (thread_scope){thread, 0, scope};
  return scope;
}

static thread_scope *thread_scope_of(graph_object *graph) {
  uint64_t thread = PyThreadState_GetID(PyThreadState_Get());
  for (int32_t i = 0; i < graph->num_scopes; ++i) {
    if (graph->scopes[i].thread == thread) return &graph->scopes[i];
  }
  rheos_scope *scope = new_scope(graph, thread);
  for (int32_t i = 0; scope && i < graph->num_scopes; ++i) {
    if (graph->scopes[i].thread == thread) return &graph->scopes[i];
  }
  return NULL;
}

rheos_scope *graph_scope(graph_object *graph) {
  thread_scope *scope = thread_scope_of(graph);
  return scope ? scope->scope : NULL;
}

// With the line of the program, since what adds a node may look like a computation.
static void raise_finalized(void) {
  const char *file;
  int32_t line;
  find_source(&file, &line);
  PyErr_Format(PyExc_RuntimeError, "Graph is finalized and cannot be modified. (%s:%d)",
               file ? file : "?", (int)line);
}

rheos_scope *graph_scope_for_adding(graph_object *graph) {
  if (graph->finalized && graph->function) {
    PyErr_Format(PyExc_TypeError,
                 "A tensor of the function %s is out of scope and cannot be used here. Use return "
                 "values, explicit Python locals or TensorFlow collections to access it.",
                 rheos_function_name(graph->function));
    return NULL;
  }
  if (graph->finalized) {
    raise_finalized();
    return NULL;
  }
  rheos_scope *scope = graph_scope(graph);
  if (scope) scope_set_source(scope);
  return scope;
}

int32_t graph_begin_adding(graph_object *graph, rheos_scope *scope) {
  if (!graph->device_function || graph->num_adding > 0) return -1;
  graph->num_adding++;
  rheos_push_device(scope, NULL);
  return rheos_graph_num_operations(graph->graph);
}

int graph_end_adding(graph_object *graph, rheos_scope *scope, int32_t first, bool is_one) {
  if (first < 0) return 0;
  graph->num_adding--;
  rheos_scope_pop(scope);
  if (rheos_scope_status(scope) || PyErr_Occurred()) return 0;  // the caller's to tell
  PyObject *asked =
      PyObject_CallFunction(graph->device_function, "iO", first, is_one ? Py_True : Py_False);
  Py_XDECREF(asked);
  return asked ? 0 : -1;
}

rheos_operation graph_add(graph_object *graph, rheos_scope *scope, const rheos_op_args *args) {
  rheos_operation none = {NULL, 0};
  int32_t first = graph_begin_adding(graph, scope);
  rheos_operation operation = rheos_op(scope, args);
  int asked = graph_end_adding(graph, scope, first, true);
  if (asked < 0 || raise_scope_error(scope)) return none;
  return operation;
}

rheos_output graph_add_constant_take(graph_object *graph, rheos_scope *scope, rheos_tensor *tensor,
                                     const char *name) {
  rheos_output none = {NULL, 0, 0};
  int32_t first = graph_begin_adding(graph, scope);
  rheos_output output = rheos_constant(scope, tensor, name);
  int asked = graph_end_adding(graph, scope, first, true);
  rheos_tensor_unref(tensor);
  if (asked < 0 || raise_scope_error(scope)) return none;
  return output;
}

// ---- Methods: scopes

static PyObject *scope_text(rheos_scope *scope) {
  char buffer[512];
  size_t length = rheos_scope_name(scope, buffer, sizeof buffer - 1);
  char *text = buffer;
  if (length >= sizeof buffer - 1) {
    text = PyMem_Malloc(length + 2);
    if (!text) return PyErr_NoMemory();
    rheos_scope_name(scope, text, length + 1);
  }
  if (length) text[length++] = '/';
  PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, NULL);
  if (text != buffer) PyMem_Free(text);
  return result;
}

PyObject *graph_pushed(graph_object *graph, rheos_scope *scope) {
  if (raise_scope_error(scope)) {
    rheos_scope_pop(scope);  // a push that failed is undone all the same
    return NULL;
  }
  thread_scope *mine = thread_scope_of(graph);
  if (mine) mine->depth++;
  Py_RETURN_NONE;
}

PyDoc_STRVAR(push_name_doc, "_push_name_scope(name): opens a name scope; returns 'outer/name/'.");
static PyObject *push_name(PyObject *self, PyObject *name) {
  graph_object *graph = (graph_object *)self;
  const char *text = name == Py_None ? "" : text_of(name);
  rheos_scope *scope = text ? graph_scope(graph) : NULL;
  if (!scope) return NULL;
  rheos_push_name_scope(scope, text);
  PyObject *done = graph_pushed(graph, scope);
  Py_XDECREF(done);
  return done ? scope_text(scope) : NULL;
}

static PyObject *push_device(PyObject *self, PyObject *device) {
  graph_object *graph = (graph_object *)self;
  const char *text = device == Py_None ? NULL : text_of(device);
  if (!text && device != Py_None) return NULL;
  rheos_scope *scope = graph_scope(graph);
  if (!scope) return NULL;
  rheos_push_device(scope, text);
  return graph_pushed(graph, scope);
}

// The operations of a sequence of Operation objects; NULL with an exception, never NULL for none.
static rheos_operation *operations_of(PyObject *sequence, size_t *out_count) {
  Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
  rheos_operation *operations = PyMem_Calloc((size_t)count + 1, sizeof *operations);
  if (!operations) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(sequence, i);
    if (!is_operation(item)) {
      PyErr_Format(PyExc_TypeError,
                   "Control input must be an Operation, a Tensor, or a Variable: %R", item);
      PyMem_Free(operations);
      return NULL;
    }
    operation_object *op = (operation_object *)item;
    operations[i] = (rheos_operation){op->graph->graph, op->id};
  }
  *out_count = (size_t)count;
  return operations;
}

static PyObject *push_control_dependencies(PyObject *self, PyObject *sequence) {
  graph_object *graph = (graph_object *)self;
  rheos_scope *scope = graph_scope(graph);
  if (!scope) return NULL;
  if (sequence == Py_None) {
    rheos_push_control_dependencies(scope, NULL, 0);
    return graph_pushed(graph, scope);
  }
  PyObject *items = PySequence_Fast(sequence, "expected a list of operations");
  size_t count = 0;
  rheos_operation *operations = items ? operations_of(items, &count) : NULL;
  Py_XDECREF(items);
  if (!operations) return NULL;
  rheos_push_control_dependencies(scope, operations, count);
  PyMem_Free(operations);
  return graph_pushed(graph, scope);
}

static PyObject *push_colocation(PyObject *self, PyObject *operation) {
  graph_object *graph = (graph_object *)self;
  if (operation != Py_None && !is_operation(operation)) {
    PyErr_SetString(PyExc_TypeError, "colocate_with needs an operation");
    return NULL;
  }
  rheos_scope *scope = graph_scope(graph);
  if (!scope) return NULL;
  operation_object *op = (operation_object *)operation;
  rheos_push_colocation(scope, operation == Py_None ? (rheos_operation){NULL, 0}
                                                    : (rheos_operation){op->graph->graph, op->id});
  return graph_pushed(graph, scope);
}

static PyObject *push_attr(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  PyObject *attr;
  const char *op_type;
  if (!PyArg_ParseTuple(args, "Oz", &attr, &op_type)) return NULL;
  rheos_scope *scope = graph_scope(graph);
  PyObject *one = scope ? PyTuple_Pack(1, attr) : NULL;
  attr_list attrs;
  if (!one || attr_list_init(&attrs, one) < 0) {
    Py_XDECREF(one);
    return NULL;
  }
  if (op_type)
    rheos_push_attr_of_type(scope, op_type, attrs.items[0]);
  else
    rheos_push_attr(scope, attrs.items[0]);
  attr_list_deinit(&attrs);
  Py_DECREF(one);
  return graph_pushed(graph, scope);
}

static PyObject *pop(PyObject *self, PyObject *unused) {
  (void)unused;
  thread_scope *mine = thread_scope_of((graph_object *)self);
  if (!mine) return NULL;
  if (mine->depth > 0) {
    mine->depth--;
    rheos_scope_pop(mine->scope);
  }
  Py_RETURN_NONE;
}

static PyObject *current_scope(PyObject *self, PyObject *unused) {
  (void)unused;
  rheos_scope *scope = graph_scope((graph_object *)self);
  return scope ? scope_text(scope) : NULL;
}

static PyObject *unique_name(PyObject *self, PyObject *args) {
  const char *name;
  PyObject *given;
  int mark = 1;
  if (!PyArg_ParseTuple(args, "O|p", &given, &mark) || !(name = text_of(given))) return NULL;
  rheos_scope *scope = graph_scope((graph_object *)self);
  if (!scope) return NULL;
  char buffer[512];
  size_t length = rheos_scope_unique_name(scope, name, false, buffer, sizeof buffer);
  if (!length) {
    PyErr_Format(PyExc_ValueError, "'%s' is not a valid name", name);
    return NULL;
  }
  char *text = length < sizeof buffer ? buffer : PyMem_Malloc(length + 1);
  if (!text) return PyErr_NoMemory();
  rheos_scope_unique_name(scope, name, mark, text, length + 1);
  PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, NULL);
  if (text != buffer) PyMem_Free(text);
  return result;
}

// ---- Methods: nodes

static PyObject *num_operations(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyLong_FromLong(rheos_graph_num_operations(((graph_object *)self)->graph));
}

static PyObject *operation_by_id(PyObject *self, PyObject *id) {
  long number = PyLong_AsLong(id);
  if (number == -1 && PyErr_Occurred()) return NULL;
  graph_object *graph = (graph_object *)self;
  if (number < 0 || number >= rheos_graph_num_operations(graph->graph)) {
    PyErr_SetString(PyExc_IndexError, "no operation of that number");
    return NULL;
  }
  return graph_operation(graph, (int32_t)number);
}

static PyObject *operation_by_name(PyObject *self, PyObject *name) {
  graph_object *graph = (graph_object *)self;
  const char *text = text_of(name);
  if (!text) return NULL;
  rheos_operation operation = rheos_graph_operation(graph->graph, text);
  if (!operation.graph) Py_RETURN_NONE;
  return graph_operation(graph, operation.id);
}

int flat_outputs(PyObject *sequence, rheos_output **out_outputs, size_t *out_count) {
  *out_outputs = NULL;
  PyObject *items = PySequence_Fast(sequence, "expected a list of tensors");
  if (!items) return -1;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  rheos_output *outputs = PyMem_Calloc((size_t)count + 1, sizeof *outputs);
  if (!outputs) PyErr_NoMemory();
  for (Py_ssize_t i = 0; outputs && i < count; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(items, i);
    graph_object *unused;
    if (item == Py_None) continue;
    if (output_of(item, &outputs[i], &unused)) continue;
    if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "expected a Tensor, got %R", item);
    PyMem_Free(outputs);
    outputs = NULL;
  }
  Py_DECREF(items);
  *out_outputs = outputs;
  *out_count = (size_t)count;
  return outputs ? 0 : -1;
}

PyDoc_STRVAR(node_doc, "_node(type, name, inputs, attrs, device=None): adds any operation.");
static PyObject *node(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  const char *type, *name, *device = NULL;
  PyObject *inputs, *attr_values;
  if (!PyArg_ParseTuple(args, "sO&OO|z", &type, text_or_none, &name, &inputs, &attr_values,
                        &device)) {
    return NULL;
  }
  if (graph->eager) return eager_node(type, inputs, attr_values, device);
  rheos_scope *scope = graph_scope_for_adding(graph);
  rheos_op_args op = {.type = type, .name = name, .device = device};
  rheos_output *outputs = NULL;
  if (!scope || flat_outputs(inputs, &outputs, &op.num_inputs) < 0) return NULL;
  op.inputs = outputs;
  attr_list attrs;
  PyObject *items = fixed_sequence(attr_values, "expected a list of attributes");
  if (!items || attr_list_init(&attrs, items) < 0) {
    Py_XDECREF(items);
    PyMem_Free(outputs);
    return NULL;
  }
  op.attrs = attrs.items;
  op.num_attrs = attrs.count;
  rheos_operation operation = graph_add(graph, scope, &op);
  attr_list_deinit(&attrs);
  Py_DECREF(items);
  PyMem_Free(outputs);
  return operation.graph ? graph_operation(graph, operation.id) : NULL;
}

static PyObject *constant(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  PyObject *value, *dtype_object, *shape_object;
  const char *name;
  int exact = 0;
  if (!PyArg_ParseTuple(args, "OOOO&|p", &value, &dtype_object, &shape_object, text_or_none, &name,
                        &exact)) {
    return NULL;
  }
  rheos_dtype dtype = RHEOS_INVALID_DTYPE;
  rheos_shape shape;
  if (dtype_object != Py_None && dtype_from_python(dtype_object, &dtype) < 0) return NULL;
  if (shape_object != Py_None && shape_from_python(shape_object, &shape) < 0) return NULL;
  if (graph->eager) {
    return eager_constant(value, rheos_dtype_base(dtype), RHEOS_INVALID_DTYPE,
                          shape_object == Py_None ? NULL : &shape, exact);
  }
  rheos_scope *scope = graph_scope_for_adding(graph);
  if (!scope) return NULL;
  rheos_tensor *tensor = tensor_from_python(value, rheos_dtype_base(dtype),
                                            shape_object == Py_None ? NULL : &shape, exact);
  if (!tensor) return NULL;
  rheos_output output = graph_add_constant_take(graph, scope, tensor, name ? name : "Const");
  return output.graph ? graph_tensor(graph, output.id, output.index) : NULL;
}

PyDoc_STRVAR(
    convert_doc,
    "_convert(value, dtype, preferred, name): a Tensor for plain values; NotImplemented for "
    "objects that the package has to convert.");
static PyObject *convert(PyObject *self, PyObject *args) {
  PyObject *value, *dtype_object, *preferred_object;
  const char *name;
  if (!PyArg_ParseTuple(args, "OOOO&", &value, &dtype_object, &preferred_object, text_or_none,
                        &name)) {
    return NULL;
  }
  rheos_dtype dtype = RHEOS_INVALID_DTYPE, preferred = RHEOS_INVALID_DTYPE;
  if (dtype_object != Py_None && dtype_from_python(dtype_object, &dtype) < 0) return NULL;
  if (preferred_object != Py_None && dtype_from_python(preferred_object, &preferred) < 0) {
    return NULL;
  }
  if (!is_plain_value(value)) Py_RETURN_NOTIMPLEMENTED;
  graph_object *graph = (graph_object *)self;
  if (graph->eager) {
    return eager_constant(value, rheos_dtype_base(dtype), rheos_dtype_base(preferred), NULL, false);
  }
  rheos_output output =
      constant_for(graph, value, rheos_dtype_base(dtype), rheos_dtype_base(preferred), name);
  return output.graph ? graph_tensor(graph, output.id, output.index) : NULL;
}

static PyObject *set_seed(PyObject *self, PyObject *seed) {
  graph_object *graph = (graph_object *)self;
  if (seed == Py_None) {
    rheos_graph_set_seed(graph->graph, false, 0);
    Py_RETURN_NONE;
  }
  int64_t number = PyLong_AsLongLong(seed);
  if (number == -1 && PyErr_Occurred()) return NULL;
  rheos_graph_set_seed(graph->graph, true, number);
  Py_RETURN_NONE;
}

static PyObject *finalize(PyObject *self, PyObject *value) {
  int truth = PyObject_IsTrue(value);
  if (truth < 0) return NULL;
  ((graph_object *)self)->finalized = truth;
  Py_RETURN_NONE;
}

static PyObject *is_finalized(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((graph_object *)self)->finalized);
}

static PyObject *restrict_runs(PyObject *self, PyObject *unused) {
  (void)unused;
  ((graph_object *)self)->restricts_runs = true;
  Py_RETURN_NONE;
}

static PyObject *set_device_function(PyObject *self, PyObject *function) {
  graph_object *graph = (graph_object *)self;
  Py_XSETREF(graph->device_function, function == Py_None ? NULL : Py_NewRef(function));
  Py_RETURN_NONE;
}

PyDoc_STRVAR(set_operation_device_doc,
             "_set_operation_device(id, device): asks for another device.");
static PyObject *set_operation_device(PyObject *self, PyObject *args) {
  int id;
  const char *device;
  rheos_graph *graph = ((graph_object *)self)->graph;
  if (!PyArg_ParseTuple(args, "is", &id, &device)) return NULL;
  if (id < 0 || id >= rheos_graph_num_operations(graph)) {
    PyErr_Format(PyExc_IndexError, "there is no operation %d", id);
    return NULL;
  }
  rheos_status *status = rheos_operation_set_device((rheos_operation){graph, id}, device);
  if (status) {
    raise_build_error_take(status);
    return NULL;
  }
  Py_RETURN_NONE;
}

PyDoc_STRVAR(add_control_input_doc,
             "_add_control_input(id, from): has operation `id` wait for an earlier one too.");
static PyObject *add_control_input(PyObject *self, PyObject *args) {
  int id, from;
  rheos_graph *graph = ((graph_object *)self)->graph;
  if (!PyArg_ParseTuple(args, "ii", &id, &from)) return NULL;
  rheos_status *status = rheos_operation_add_control_input((rheos_operation){graph, id},
                                                           (rheos_operation){graph, from});
  if (status) {
    raise_build_error_take(status);
    return NULL;
  }
  Py_RETURN_NONE;
}

// A list of what was found, each operation once; takes the consumers.
static PyObject *operations_take(graph_object *graph, rheos_consumer *consumers, size_t count) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < count; ++i) {
    int32_t id = consumers[i].operation.id;
    if (i > 0 && id == consumers[i - 1].operation.id) continue;  // by another input
    PyObject *operation = graph_operation(graph, id);
    if (!operation || PyList_Append(list, operation) < 0) Py_CLEAR(list);
    Py_XDECREF(operation);
  }
  PyMem_Free(consumers);
  return list;
}

static PyObject *consumers(PyObject *self, PyObject *object) {
  graph_object *graph = (graph_object *)self;
  if (!is_tensor(object) || ((tensor_object *)object)->graph != graph) {
    PyErr_SetString(PyExc_TypeError, "expected a Tensor of this graph");
    return NULL;
  }
  tensor_object *tensor = (tensor_object *)object;
  const rheos_output output = {graph->graph, tensor->id, tensor->index};
  size_t count = 0, capacity;
  rheos_consumer *found = NULL;
  do {  // another thread may add some in between
    capacity = count;
    PyMem_Free(found);
    found = PyMem_New(rheos_consumer, capacity + 1);
    rheos_status *status = found ? rheos_output_consumers(output, found, capacity, &count) : NULL;
    if (!found || status) {
      PyMem_Free(found);
      if (!status) return PyErr_NoMemory();
      raise_build_error_take(status);
      return NULL;
    }
  } while (count > capacity);
  return operations_take(graph, found, count);
}

static PyObject *waiting(PyObject *self, PyObject *arg) {
  graph_object *graph = (graph_object *)self;
  const long id = PyLong_AsLong(arg);
  if (id == -1 && PyErr_Occurred()) return NULL;
  const rheos_operation operation = {graph->graph, (int32_t)id};
  size_t count = 0, capacity;
  rheos_operation *found = NULL;
  do {
    capacity = count;
    PyMem_Free(found);
    found = PyMem_New(rheos_operation, capacity + 1);
    rheos_status *status =
        found ? rheos_operation_control_outputs(operation, found, capacity, &count) : NULL;
    if (!found || status) {
      PyMem_Free(found);
      if (!status) return PyErr_NoMemory();
      raise_build_error_take(status);
      return NULL;
    }
  } while (count > capacity);
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    PyObject *one = graph_operation(graph, found[i].id);
    if (!one) {
      Py_CLEAR(list);
    } else {
      PyList_SET_ITEM(list, (Py_ssize_t)i, one);
    }
  }
  PyMem_Free(found);
  return list;
}

static PyMethodDef graph_methods[] = {
    {"_push_name_scope", push_name, METH_O, push_name_doc},
    {"_push_device", push_device, METH_O, "_push_device(text or None)"},
    {"_push_control_dependencies", push_control_dependencies, METH_O,
     "_push_control_dependencies(operations or None)"},
    {"_push_colocation", push_colocation, METH_O, "_push_colocation(operation)"},
    {"_push_attr", push_attr, METH_VARARGS, "_push_attr((name, kind, value), op_type or None)"},
    {"_pop", pop, METH_NOARGS, "_pop(): undoes the latest push."},
    {"_scope_name", current_scope, METH_NOARGS, "_scope_name(): 'outer/inner/' or ''."},
    {"_unique_name", unique_name, METH_VARARGS, "_unique_name(name, mark_as_used=True)"},
    {"_num_operations", num_operations, METH_NOARGS, "_num_operations()"},
    {"_operation", operation_by_id, METH_O, "_operation(id)"},
    {"_find_operation", operation_by_name, METH_O, "_find_operation(name): or None."},
    {"_become_eager", graph_become_eager, METH_VARARGS,
     "_become_eager(program_function, num_threads=0, server=None): it stands for eager execution."},
    {"_node", node, METH_VARARGS, node_doc},
    {"_constant", constant, METH_VARARGS, "_constant(value, dtype, shape, name, exact=False)"},
    {"_convert", convert, METH_VARARGS, convert_doc},
    {"_set_seed", set_seed, METH_O, "_set_seed(number or None)"},
    {"_set_finalized", finalize, METH_O, "_set_finalized(bool)"},
    {"_set_operation_device", set_operation_device, METH_VARARGS, set_operation_device_doc},
    {"_add_control_input", add_control_input, METH_VARARGS, add_control_input_doc},
    {"_restrict_runs", restrict_runs, METH_NOARGS, "_restrict_runs(): runs ask _check_run()."},
    {"_set_device_function", set_device_function, METH_O, "_set_device_function(function or None)"},
    {"_consumers", consumers, METH_O, "_consumers(tensor): operations that read it."},
    {"_waiting", waiting, METH_O, "_waiting(id): operations that wait for the operation."},
    {"_gradients", (PyCFunction)(void (*)(void))graph_gradients, METH_VARARGS | METH_KEYWORDS,
     "_gradients(ys, xs, grad_ys=None, stop_gradients=(), name=None, colocate=False, gate=False, "
     "recorded=None)"},
    {"_variable_new", graph_variable_new, METH_VARARGS,
     "_variable_new(variable, initial_value, name, any_shape, not_trainable, use_resource, "
     "caching_device, shape, own_class=False)"},
    {"_fill_read", graph_fill_read, METH_VARARGS, "_fill_read(variable, of, element, operation)"},
    {"_set_slice", graph_set_slice, METH_VARARGS, "_set_slice(variable, full_name, spec)"},
    {"_slice_of", graph_slice_of, METH_O, "_slice_of(variable): (full_name, spec) or None"},
    {"_find_variable", graph_find_variable, METH_VARARGS,
     "_find_variable(full_name, reuse, dtype, shape): index or None."},
    {"_share_variable", graph_share_variable, METH_VARARGS, "_share_variable(full_name, variable)"},
    {"_apply_gradients", (PyCFunction)(void (*)(void))graph_apply_gradients,
     METH_VARARGS | METH_KEYWORDS, "_apply_gradients(options, variables, gradients, step, name)"},
    {"_optimizer_slot", graph_optimizer_slot, METH_VARARGS,
     "_optimizer_slot(options, variable or None, slot_name): index or None."},
    {"_optimizer_make_slots", graph_optimizer_make_slots, METH_VARARGS,
     "_optimizer_make_slots(options, variables)"},
    {"_optimizer_prepare", graph_optimizer_prepare, METH_O,
     "_optimizer_prepare(options): a list for options['prepared']"},
    {"_optimizer_update", graph_optimizer_update, METH_VARARGS,
     "_optimizer_update(options, variable, gradient): the operation"},
    {"_optimizer_finish", graph_optimizer_finish, METH_VARARGS,
     "_optimizer_finish(options, updates, name): the operation"},
    {"_optimizer_set_slot", graph_optimizer_set_slot, METH_VARARGS,
     "_optimizer_set_slot(options, variable, slot_name, slot)"},
    {"_fill_variable", graph_fill_variable, METH_VARARGS, "_fill_variable(variable, index)"},
    {"_variable_from_nodes", graph_variable_from_nodes, METH_VARARGS,
     "_variable_from_nodes(handle, value, cached, initial_value, initializer, trainable): index."},
    {"_num_variables", graph_num_variables, METH_NOARGS, "_num_variables()"},
    {"_graph_def_bytes", graph_to_graph_def, METH_VARARGS,
     "_graph_def_bytes(first=0): a GraphDef of the operations from that number on."},
    {"_import_graph_def", graph_import_graph_def, METH_VARARGS,
     "_import_graph_def(bytes, prefix=None, input_map=[(from, id, output)], keep_unknown=False, "
     "elements=[]): which of the input map is there, and (id, output or -1) for each element."},
    {"_write", graph_write, METH_VARARGS, "_write(path, side_file_bytes)"},
    {"_node_def_bytes", graph_node_def, METH_O, "_node_def_bytes(id): a NodeDef."},
    {"_saver_new", graph_saver_new, METH_VARARGS, "_saver_new(variables, names, name)"},
    {"_begin_function", graph_begin_function, METH_VARARGS,
     "_begin_function(graph around, name, attrs): makes the graph the body of a function."},
    {"_stand_in", graph_stand_in, METH_VARARGS, "_stand_in(tensor, name or None): a Placeholder."},
    {"_adopt_argument", graph_adopt_argument, METH_VARARGS, "_adopt_argument(tensor, name)"},
    {"_add_result", graph_add_result, METH_VARARGS, "_add_result(tensor, name or None)"},
    {"_add_control_output", graph_add_control_output, METH_VARARGS,
     "_add_control_output(operation, name or None)"},
    {"_control_outputs", graph_control_outputs, METH_NOARGS, "_control_outputs(): operations"},
    {"_read_outside", graph_read_outside, METH_O, "_read_outside(bool): reads of variables are."},
    {"_order_effects", graph_order_effects, METH_O, "_order_effects(number of the first)"},
    {"_rename_function", graph_rename_function, METH_O, "_rename_function(name)"},
    {"_finish_function", graph_finish_function, METH_NOARGS,
     "_finish_function(): puts it into the library."},
    {"_function_name", graph_function_name, METH_NOARGS, "_function_name()"},
    {"_is_stateful", graph_is_stateful, METH_NOARGS, "_is_stateful(): whether the body is."},
    {"_set_function_gradient", graph_set_function_gradient, METH_VARARGS,
     "_set_function_gradient(function, gradient): names of the library."},
    {"_infer_call", graph_infer_call, METH_O, "_infer_call(id): its shapes, from the body."},
    {"_remove_function", graph_remove_function, METH_O, "_remove_function(name)"},
    {"_remove_functions", graph_remove_functions, METH_O,
     "_remove_functions(names): of eager execution, takes them out of its library."},
    {"_sweep_functions", graph_sweep_functions, METH_NOARGS,
     "_sweep_functions(): of eager execution, takes out those that were removed and held on to."},
    {"_push_context", graph_push_context, METH_O, "_push_context(number): 0 for none."},
    {"_current_context", graph_current_context, METH_NOARGS, "_current_context(): a number."},
    {"_context_of", graph_context_of, METH_O, "_context_of(id): a number."},
    {"_set_context_of", graph_set_context_of, METH_VARARGS, "_set_context_of(id, number)"},
    {"_may_fetch", graph_is_fetchable, METH_O, "_may_fetch(id)"},
    {"_may_feed", graph_is_feedable, METH_O, "_may_feed(id)"},
    {"_cond_begin", graph_cond_begin, METH_O, "_cond_begin(pred): contexts for false and true."},
    {"_cond_result", graph_cond_result, METH_O, "_cond_result(tensor or operation): a tensor."},
    {"_cond_merge", graph_cond_merge, METH_VARARGS, "_cond_merge(if_false, if_true): a tensor."},
    {"_while_begin", graph_while_begin, METH_VARARGS,
     "_while_begin(variables, shapes or None, parallel_iterations, back_prop, swap_memory, "
     "max_iterations or None): context, variables."},
    {"_while_body", graph_while_body, METH_O, "_while_body(condition): variables."},
    {"_while_end", graph_while_end, METH_O, "_while_end(next): variables."},
    {"_describe_context", graph_describe_context, METH_O,
     "_describe_context(number): a dict, None if there is none."},
    {"_context_values", graph_context_values, METH_O, "_context_values(number): pairs of tensors."},
    {"_restore_context", graph_restore_context, METH_VARARGS,
     "_restore_context(description, name, enters, exits, values, insides): a number."},
    {"_restore_check", graph_restore_check, METH_VARARGS,
     "_restore_check(operation, checkpoint): what does not fit, None if all does"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef graph_getters[] = {
    {"finalized", is_finalized, NULL, "Whether the graph may no longer grow.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject graph_base_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.GraphBase",
    .tp_basicsize = sizeof(graph_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A graph of the C library.",
    .tp_new = graph_new,
    .tp_dealloc = graph_dealloc,
    .tp_traverse = graph_traverse,
    .tp_clear = graph_clear,
    .tp_methods = graph_methods,
    .tp_getset = graph_getters,
};

int graph_init_types(PyObject *module) { return PyModule_AddType(module, &graph_base_type); }
