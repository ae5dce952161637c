// Tensor, Operation and Variable objects: small handles on a node, made when they are asked for.
//
// They compare and hash by identity, and there is at most one of each alive, so that
// `op.outputs[0] is t` holds. Setting an attribute makes the graph keep the object.

#include <stddef.h>
#include <string.h>

#include "attr.h"
#include "eager_object.h"
#include "graph_object.h"

#include <structmember.h>  // behind Python.h

// ---- Names, shapes, dtypes

const char *text_of(PyObject *string) {
  Py_ssize_t length = 0;
  const char *text = NULL;
  if (PyBytes_Check(string)) {
    text = PyBytes_AS_STRING(string);
    length = PyBytes_GET_SIZE(string);
  } else {
    text = PyUnicode_AsUTF8AndSize(string, &length);
  }
  if (!text || strlen(text) == (size_t)length) return text;
  PyErr_Format(PyExc_ValueError, "embedded null character in %R", string);
  return NULL;
}

const char **texts_of(PyObject *strings) {
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(strings);
  const char **texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
  if (!texts) PyErr_NoMemory();
  for (Py_ssize_t i = 0; texts && i < count; ++i) {
    texts[i] = text_of(PySequence_Fast_GET_ITEM(strings, i));
    if (texts[i]) continue;
    PyMem_Free(texts);
    texts = NULL;
  }
  return texts;
}

int text_or_none(PyObject *string, void *out_text) {
  const char **text = (const char **)out_text;
  *text = string == Py_None ? NULL : text_of(string);
  return *text != NULL || string == Py_None;
}

PyObject *fixed_sequence(PyObject *value, const char *message) {
  return PyList_Check(value) ? PyList_AsTuple(value) : PySequence_Fast(value, message);
}

static PyObject *name_with_index(rheos_operation operation, int32_t index) {
  char buffer[256];
  size_t length = rheos_operation_name(operation, buffer, sizeof buffer - 16);
  char *text = buffer;
  if (length >= sizeof buffer - 16) {
    text = PyMem_Malloc(length + 16);
    if (!text) return PyErr_NoMemory();
    rheos_operation_name(operation, text, length + 1);
  }
  if (index >= 0) length += (size_t)snprintf(text + length, 16, ":%d", (int)index);
  PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, NULL);
  if (text != buffer) PyMem_Free(text);
  return result;
}

PyObject *operation_name(rheos_operation operation) { return name_with_index(operation, -1); }

PyObject *output_name(rheos_output output) {
  return name_with_index(rheos_output_operation(output), output.index);
}

PyObject *shape_to_python(const rheos_shape *shape) {
  if (shape->rank < 0) Py_RETURN_NONE;
  PyObject *dims = PyTuple_New(shape->rank);
  for (int32_t i = 0; dims && i < shape->rank; ++i) {
    int64_t dim = shape->dims[i];
    PyObject *item = dim < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(dim);
    if (!item)
      Py_CLEAR(dims);
    else
      PyTuple_SET_ITEM(dims, i, item);
  }
  return dims;
}

static int dim_from_python(PyObject *item, int64_t *out) {
  PyObject *value = NULL;
  *out = -1;
  if (item == Py_None) return 0;
  if (!PyLong_Check(item) && !is_numpy(item) && PyObject_HasAttrString(item, "value")) {
    value = PyObject_GetAttrString(item, "value");  // a Dimension
    if (!value) return -1;
    if (value == Py_None) {
      Py_DECREF(value);
      return 0;
    }
    item = value;
  }
  PyObject *index = PyNumber_Index(item);
  Py_XDECREF(value);
  if (!index) return -1;
  int overflow = 0;
  *out = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (overflow) PyErr_Format(PyExc_ValueError, "Dimension %S does not fit into 64 bits", index);
  Py_DECREF(index);
  if (PyErr_Occurred()) return -1;
  if (*out >= -1) return 0;
  PyErr_Format(PyExc_ValueError, "Dimension %lld must be >= 0", (long long)*out);
  return -1;
}

static int dims_from_sequence(PyObject *value, rheos_shape *out_shape) {
  PyObject *items = fixed_sequence(value, "expected a shape: None, a number or a list of numbers");
  if (!items) return -1;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  int result = 0;
  if (count > RHEOS_MAX_RANK) {
    PyErr_Format(PyExc_ValueError, "a shape of rank %zd: at most %d dimensions are supported",
                 count, RHEOS_MAX_RANK);
    result = -1;
  }
  for (Py_ssize_t i = 0; i < count && result == 0; ++i) {
    result = dim_from_python(PySequence_Fast_GET_ITEM(items, i), &out_shape->dims[i]);
  }
  out_shape->rank = (int32_t)count;
  Py_DECREF(items);
  return result;
}

int shape_from_python(PyObject *value, rheos_shape *out_shape) {
  *out_shape = RHEOS_UNKNOWN_SHAPE;
  if (value == Py_None) return 0;
  if (PyObject_HasAttrString(value, "_dims_tuple")) {  // a TensorShape
    PyObject *dims = PyObject_GetAttrString(value, "_dims_tuple");
    if (!dims) return -1;
    int result = dims == Py_None ? 0 : dims_from_sequence(dims, out_shape);
    Py_DECREF(dims);
    return result;
  }
  if (PyLong_Check(value)) {
    out_shape->rank = 1;
    if (dim_from_python(value, &out_shape->dims[0]) < 0) return -1;
    if (out_shape->dims[0] >= 0) return 0;
    PyErr_SetString(PyExc_ValueError, "Dimension -1 must be >= 0");
    return -1;
  }
  return dims_from_sequence(value, out_shape);
}

PyObject *dtype_to_python(rheos_dtype dtype) {
  size_t number = (size_t)dtype;
  PyObject *object =
      number < sizeof package.dtypes / sizeof *package.dtypes ? package.dtypes[number] : NULL;
  if (!object) PyErr_Format(PyExc_TypeError, "unknown dtype %d", (int)dtype);
  return object;
}

int dtype_from_python(PyObject *value, rheos_dtype *out_dtype) {
  PyObject *number =
      PyLong_Check(value) ? Py_NewRef(value) : PyObject_GetAttrString(value, "_type_enum");
  long dtype = number ? PyLong_AsLong(number) : -1;
  Py_XDECREF(number);
  if (dtype == -1 && PyErr_Occurred()) return -1;
  if (dtype < 0 || dtype > 2 * RHEOS_REF) {
    PyErr_Format(PyExc_TypeError, "unknown dtype %ld", dtype);
    return -1;
  }
  *out_dtype = (rheos_dtype)dtype;
  return 0;
}

// ---- Shared by the three types

// Only the C side makes these objects; the package's classes add methods, not state.
static PyObject *no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)args;
  (void)kwargs;
  PyErr_Format(PyExc_TypeError, "%s objects come from a graph and cannot be made directly",
               type->tp_name);
  return NULL;
}

static Py_hash_t hash_identity(PyObject *object) {
  size_t bits = (size_t)(uintptr_t)object;
  Py_hash_t hash = (Py_hash_t)(bits >> 4 | bits << (8 * sizeof bits - 4));
  return hash == -1 ? -2 : hash;
}

// ---- Tensors

static rheos_output output_of_tensor(const tensor_object *tensor) {
  return (rheos_output){tensor->graph->graph, tensor->id, tensor->index};
}

static int tensor_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((tensor_object *)object)->graph);
  return 0;
}

// What ends with a handle may belong to threads that want the GIL, to let go of an array.
static void unref_value(rheos_tensor *value) {
  if (rheos_tensor_dtype(value) != RHEOS_RESOURCE) {
    rheos_tensor_unref(value);
    return;
  }
  Py_BEGIN_ALLOW_THREADS rheos_tensor_unref(value);
  Py_END_ALLOW_THREADS
}

static void tensor_dealloc(PyObject *object) {
  tensor_object *self = (tensor_object *)object;
  PyObject_GC_UnTrack(object);
  if (self->value)
    unref_value(self->value);
  else if (self->graph)
    graph_forget_tensor(self->graph, self);
  Py_CLEAR(self->graph);
  Py_TYPE(object)->tp_free(object);
}

static int tensor_setattr(PyObject *object, PyObject *name, PyObject *value) {
  tensor_object *self = (tensor_object *)object;
  if (self->value) return PyObject_GenericSetAttr(object, name, value);
  if (PyObject_GenericSetAttr(object, name, value) < 0) return -1;
  if (self->kept || !value) return 0;
  self->kept = true;
  return graph_keep(self->graph, object);
}

// What only a node of a graph has: true with an exception for an eager tensor.
static bool lacks(PyObject *self, const char *what) {
  if (!((tensor_object *)self)->value) return false;
  PyErr_Format(PyExc_AttributeError, "Tensor.%s is undefined when eager execution is enabled.",
               what);
  return true;
}

static PyObject *tensor_get_name(PyObject *self, void *unused) {
  (void)unused;
  if (lacks(self, "name")) return NULL;
  return output_name(output_of_tensor((tensor_object *)self));
}

static PyObject *tensor_get_graph(PyObject *self, void *unused) {
  (void)unused;
  if (lacks(self, "graph")) return NULL;
  return Py_NewRef((PyObject *)((tensor_object *)self)->graph);
}

static PyObject *tensor_get_op(PyObject *self, void *unused) {
  (void)unused;
  if (lacks(self, "op")) return NULL;
  return graph_operation(((tensor_object *)self)->graph, ((tensor_object *)self)->id);
}

static PyObject *tensor_get_index(PyObject *self, void *unused) {
  (void)unused;
  if (lacks(self, "value_index")) return NULL;
  return PyLong_FromLong(((tensor_object *)self)->index);
}

static PyObject *tensor_get_dtype(PyObject *self, void *unused) {
  (void)unused;
  if (eager_value(self)) return Py_XNewRef(dtype_to_python(rheos_tensor_dtype(eager_value(self))));
  const rheos_dtype dtype = rheos_output_dtype(output_of_tensor((tensor_object *)self));
  if (dtype != RHEOS_INVALID_DTYPE) return Py_XNewRef(dtype_to_python(dtype));
  PyObject *name = PyObject_GetAttrString(self, "name");
  if (!name) return NULL;
  PyErr_Format(PyExc_TypeError, "the dtype of '%U' is not known: its op type is not registered",
               name);
  Py_DECREF(name);
  return NULL;
}

static PyObject *tensor_get_dims(PyObject *self, void *unused) {
  (void)unused;
  if (eager_value(self)) return shape_to_python(rheos_tensor_shape(eager_value(self)));
  rheos_shape shape = rheos_output_shape(output_of_tensor((tensor_object *)self));
  return shape_to_python(&shape);
}

static PyObject *tensor_get_shape(PyObject *self, void *unused) {
  PyObject *dims = tensor_get_dims(self, unused);
  PyTypeObject *type = package.shape_type;
  PyObject *shape = dims ? type->tp_alloc(type, 0) : NULL;
  if (shape && PyObject_SetAttr(shape, package.dims_name, dims) < 0) Py_CLEAR(shape);
  Py_XDECREF(dims);
  return shape;
}

static PyObject *tensor_set_shape(PyObject *self, PyObject *value) {
  rheos_shape shape;
  if (shape_from_python(value, &shape) < 0) return NULL;
  if (eager_value(self)) {
    if (rheos_shape_compatible(&shape, rheos_tensor_shape(eager_value(self)))) Py_RETURN_NONE;
    PyErr_SetString(PyExc_ValueError, "Tensor's shape is not compatible with supplied shape");
    return NULL;
  }
  rheos_status *status = rheos_output_set_shape(output_of_tensor((tensor_object *)self), shape);
  if (!status) Py_RETURN_NONE;
  raise_build_error_take(status);
  return NULL;
}

// The value of a constant, None for other tensors.
static PyObject *tensor_constant_value(PyObject *self, PyObject *unused) {
  (void)unused;
  tensor_object *tensor = (tensor_object *)self;
  if (tensor->value) return tensor_to_python_take(rheos_tensor_ref(tensor->value));
  rheos_operation operation = {tensor->graph->graph, tensor->id};
  if (strcmp(rheos_operation_type(operation), "Const") != 0) Py_RETURN_NONE;
  return attr_to_python(rheos_operation_attr(operation, "value"));
}

static PyMethodDef tensor_methods[] = {
    {"_set_shape", tensor_set_shape, METH_O, "_set_shape(dims or None)"},
    {"_constant_value", tensor_constant_value, METH_NOARGS, "The value of a constant, or None."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef tensor_getters[] = {
    {"name", tensor_get_name, NULL, "The name of this tensor, 'scope/op:0'.", NULL},
    {"graph", tensor_get_graph, NULL, "The Graph it belongs to.", NULL},
    {"op", tensor_get_op, NULL, "The Operation that produces it.", NULL},
    {"value_index", tensor_get_index, NULL, "Its place among the outputs of its operation.", NULL},
    {"dtype", tensor_get_dtype, NULL, "The DType of its elements.", NULL},
    {"shape", tensor_get_shape, NULL, "What is known about the shape, a TensorShape.", NULL},
    {"_dims", tensor_get_dims, NULL, "None, or a tuple of int and None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject tensor_base_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.TensorBase",
    .tp_basicsize = sizeof(tensor_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "An output of an operation.",
    .tp_new = no_new,
    .tp_dealloc = tensor_dealloc,
    .tp_traverse = tensor_traverse,
    .tp_setattro = tensor_setattr,
    .tp_hash = hash_identity,
    .tp_richcompare = tensor_compare,
    .tp_as_number = &tensor_number_methods,
    .tp_methods = tensor_methods,
    .tp_getset = tensor_getters,
};

// ---- Operations

static rheos_operation handle_of(PyObject *object) {
  operation_object *self = (operation_object *)object;
  return (rheos_operation){self->graph->graph, self->id};
}

static int operation_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((operation_object *)object)->graph);
  return 0;
}

static void operation_dealloc(PyObject *object) {
  operation_object *self = (operation_object *)object;
  PyObject_GC_UnTrack(object);
  if (self->graph) graph_forget_operation(self->graph, self);
  Py_CLEAR(self->graph);
  Py_TYPE(object)->tp_free(object);
}

static int operation_setattr(PyObject *object, PyObject *name, PyObject *value) {
  operation_object *self = (operation_object *)object;
  if (PyObject_GenericSetAttr(object, name, value) < 0) return -1;
  if (self->kept || !value) return 0;
  self->kept = true;
  return graph_keep(self->graph, object);
}

static PyObject *operation_get_name(PyObject *self, void *unused) {
  (void)unused;
  return operation_name(handle_of(self));
}

static PyObject *operation_get_type(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(rheos_operation_type(handle_of(self)));
}

static PyObject *operation_get_device(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(rheos_operation_device(handle_of(self)));
}

static PyObject *operation_get_graph(PyObject *self, void *unused) {
  (void)unused;
  return Py_NewRef((PyObject *)((operation_object *)self)->graph);
}

static PyObject *operation_get_id(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(((operation_object *)self)->id);
}

static PyObject *operation_get_inputs(PyObject *self, void *unused) {
  (void)unused;
  rheos_operation operation = handle_of(self);
  int32_t count = rheos_operation_num_inputs(operation);
  PyObject *list = PyTuple_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    rheos_output input = rheos_operation_input(operation, i);
    PyObject *tensor = graph_tensor(((operation_object *)self)->graph, input.id, input.index);
    if (!tensor)
      Py_CLEAR(list);
    else
      PyTuple_SET_ITEM(list, i, tensor);
  }
  return list;
}

static PyObject *operation_get_outputs(PyObject *self, void *unused) {
  (void)unused;
  int32_t count = rheos_operation_num_outputs(handle_of(self));
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    operation_object *operation = (operation_object *)self;
    PyObject *tensor = graph_tensor(operation->graph, operation->id, i);
    if (!tensor)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, tensor);
  }
  return list;
}

static PyObject *operation_get_control_inputs(PyObject *self, void *unused) {
  (void)unused;
  rheos_operation operation = handle_of(self);
  int32_t count = rheos_operation_num_control_inputs(operation);
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    rheos_operation input = rheos_operation_control_input(operation, i);
    PyObject *object = graph_operation(((operation_object *)self)->graph, input.id);
    if (!object)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, object);
  }
  return list;
}

static PyObject *operation_get_source(PyObject *self, void *unused) {
  (void)unused;
  const char *file = NULL;
  int32_t line = 0;
  rheos_operation_source(handle_of(self), &file, &line);
  if (!file) Py_RETURN_NONE;
  return Py_BuildValue("(si)", file, (int)line);
}

PyDoc_STRVAR(output_doc, "_output(index): one output.");
static PyObject *operation_output(PyObject *self, PyObject *index) {
  long number = PyLong_AsLong(index);
  if (number == -1 && PyErr_Occurred()) return NULL;
  if (number < 0 || number >= rheos_operation_num_outputs(handle_of(self))) {
    PyErr_SetString(PyExc_IndexError, "no output of that number");
    return NULL;
  }
  operation_object *operation = (operation_object *)self;
  return graph_tensor(operation->graph, operation->id, (int32_t)number);
}

PyDoc_STRVAR(attr_doc, "_attr(name): (kind, value), kind 0 if there is no such attribute.");
static PyObject *operation_attr(PyObject *self, PyObject *name) {
  const char *text = text_of(name);
  if (!text) return NULL;
  rheos_attr_value value = rheos_operation_attr(handle_of(self), text);
  PyObject *object = attr_to_python(value);
  return object ? Py_BuildValue("(iN)", (int)value.kind, object) : NULL;
}

static PyObject *operation_attr_names(PyObject *self, PyObject *unused) {
  (void)unused;
  rheos_operation operation = handle_of(self);
  int32_t count = rheos_operation_num_attrs(operation);
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    PyObject *name = PyUnicode_FromString(rheos_operation_attr_at(operation, i).name);
    if (!name)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, name);
  }
  return list;
}

static PyMethodDef operation_methods[] = {
    {"_output", operation_output, METH_O, output_doc},
    {"_attr", operation_attr, METH_O, attr_doc},
    {"_attr_names", operation_attr_names, METH_NOARGS, "_attr_names()"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef operation_getters[] = {
    {"name", operation_get_name, NULL, "The full name of the operation.", NULL},
    {"type", operation_get_type, NULL, "The op, e.g. 'MatMul'.", NULL},
    {"device", operation_get_device, NULL, "The device asked for, '' if none was.", NULL},
    {"graph", operation_get_graph, NULL, "The Graph it belongs to.", NULL},
    {"_id", operation_get_id, NULL, "Its number in the graph, in order of creation.", NULL},
    {"_input_tuple", operation_get_inputs, NULL, "The tensors it reads.", NULL},
    {"outputs", operation_get_outputs, NULL, "The tensors it produces.", NULL},
    {"control_inputs", operation_get_control_inputs, NULL, "The operations it waits for.", NULL},
    {"_source", operation_get_source, NULL, "(file, line) of the program, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject operation_base_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.OperationBase",
    .tp_basicsize = sizeof(operation_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A node of a graph.",
    .tp_new = no_new,
    .tp_dealloc = operation_dealloc,
    .tp_traverse = operation_traverse,
    .tp_setattro = operation_setattr,
    .tp_hash = hash_identity,
    .tp_methods = operation_methods,
    .tp_getset = operation_getters,
};

// ---- Variables

static int variable_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((variable_object *)object)->graph);
  Py_VISIT(((variable_object *)object)->handle);
  Py_VISIT(((variable_object *)object)->trainable);
  return 0;
}

static int variable_clear(PyObject *object) {
  Py_CLEAR(((variable_object *)object)->graph);
  Py_CLEAR(((variable_object *)object)->handle);
  Py_CLEAR(((variable_object *)object)->trainable);
  return 0;
}

static void variable_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  variable_clear(object);
  Py_TYPE(object)->tp_free(object);
}

static variable_object *set_up(PyObject *object) {
  variable_object *self = (variable_object *)object;
  if (self->graph) return self;
  PyErr_SetString(PyExc_RuntimeError, "the variable was not set up: __init__ did not run");
  return NULL;
}

static PyObject *tensor_of(variable_object *self, rheos_output output) {
  if (!output.graph) Py_RETURN_NONE;
  return graph_tensor(self->graph, output.id, output.index);
}

static PyObject *variable_get_handle(PyObject *object, void *unused) {
  (void)unused;
  variable_object *self = set_up(object);
  return self ? tensor_of(self, self->variable.handle) : NULL;
}

static PyObject *variable_get_snapshot(PyObject *object, void *unused) {
  (void)unused;
  variable_object *self = set_up(object);
  if (!self) return NULL;
  graph_object *graph;
  rheos_output value = read_variable(self, &graph);
  return value.graph ? graph_tensor(graph, value.id, value.index) : NULL;
}

static PyObject *variable_get_element(PyObject *object, void *unused) {
  (void)unused;
  variable_object *self = set_up(object);
  return self ? tensor_of(self, element_of(self)) : NULL;
}

static PyObject *variable_get_initial_value(PyObject *object, void *unused) {
  (void)unused;
  variable_object *self = set_up(object);
  return self ? tensor_of(self, self->variable.initial_value) : NULL;
}

static PyObject *variable_get_initializer(PyObject *object, void *unused) {
  (void)unused;
  variable_object *self = set_up(object);
  if (!self) return NULL;
  if (!self->variable.initializer.graph) Py_RETURN_NONE;
  return graph_operation(self->graph, self->variable.initializer.id);
}

static int variable_set_initializer(PyObject *object, PyObject *value, void *unused) {
  (void)unused;
  variable_object *self = set_up(object);
  if (!self) return -1;
  if (!value || !is_operation(value) || ((operation_object *)value)->graph != self->graph) {
    PyErr_SetString(PyExc_TypeError, "an initializer is an Operation of the variable's graph");
    return -1;
  }
  self->variable.initializer =
      (rheos_operation){self->graph->graph, ((operation_object *)value)->id};
  return 0;
}

static PyObject *variable_get_graph(PyObject *object, void *unused) {
  (void)unused;
  variable_object *self = set_up(object);
  return self ? Py_NewRef((PyObject *)self->graph) : NULL;
}

static PyObject *variable_get_index(PyObject *object, void *unused) {
  (void)unused;
  variable_object *self = set_up(object);
  return self ? PyLong_FromLong(self->variable.index) : NULL;
}

static PyGetSetDef variable_getters[] = {
    {"_variable", variable_get_handle, NULL, "The reference that assignments take.", NULL},
    {"_snapshot", variable_get_snapshot, NULL, "Reads the variable.", NULL},
    {"_element", variable_get_element, NULL, "What a session fetches and feeds for it.", NULL},
    {"initial_value", variable_get_initial_value, NULL, "What the variable starts as.", NULL},
    {"initializer", variable_get_initializer, variable_set_initializer,
     "Assigns the initial value.", NULL},
    {"graph", variable_get_graph, NULL, "The Graph it belongs to.", NULL},
    {"_index", variable_get_index, NULL, "Its number among the graph's variables.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef variable_methods[] = {
    {"_read_now", variable_read_now, METH_NOARGS,
     "The value of an eager variable; None where it cannot be read at once."},
    {"_assign_now", variable_assign_now, METH_VARARGS,
     "_assign_now(op_type, value): whether the operation on the variable was run."},
    {"_set_up_now", variable_set_up_now, METH_VARARGS,
     "_set_up_now(handle, dtype, shape): of an eager variable."},
    {"_same_as", variable_same_as, METH_O, "_same_as(variable): takes the other's handle."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef variable_members[] = {
    {"_trainable", T_OBJECT, offsetof(variable_object, trainable), 0, NULL},
    {"_own_handle", T_OBJECT, offsetof(variable_object, handle), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject variable_base_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.VariableBase",
    .tp_basicsize = sizeof(variable_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A variable of a graph.",
    .tp_new = PyType_GenericNew,
    .tp_dealloc = variable_dealloc,
    .tp_traverse = variable_traverse,
    .tp_clear = variable_clear,
    .tp_hash = hash_identity,
    .tp_richcompare = tensor_compare,
    .tp_as_number = &tensor_number_methods,
    .tp_methods = variable_methods,
    .tp_members = variable_members,
    .tp_getset = variable_getters,
};

int tensor_init_types(PyObject *module) {
  if (PyModule_AddType(module, &tensor_base_type) < 0) return -1;
  if (PyModule_AddType(module, &operation_base_type) < 0) return -1;
  return PyModule_AddType(module, &variable_base_type);
}
