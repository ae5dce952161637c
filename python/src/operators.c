// The operators of tensors and variables: `x + 1` adds its nodes without a line of Python.
//
// Names and structure are TensorFlow 1.15's: an arithmetic operator opens a name scope ("add"),
// puts the other operand in it as a constant ("add/y"), and names the operation after the scope.

#include <string.h>

#include "eager_object.h"
#include "graph_object.h"

typedef struct operator_form {
  const char *scope;  // the operator's name scope, also X of __rX__
  const char *type;   // the op
  bool strict;        // the right operand has to be of the left one's dtype (comparisons)
} operator_form;

bool output_of(PyObject *object, rheos_output *out_output, graph_object **out_graph) {
  if (is_tensor(object)) {
    tensor_object *tensor = (tensor_object *)object;
    if (tensor->value) return false;  // converting it captures it
    *out_output = (rheos_output){tensor->graph->graph, tensor->id, tensor->index};
    *out_graph = tensor->graph;
    return true;
  }
  if (is_variable(object) && ((variable_object *)object)->graph) {
    *out_output = read_variable((variable_object *)object, out_graph);
    return out_output->graph != NULL;
  }
  return false;
}

rheos_output read_variable(const variable_object *self, graph_object **out_graph) {
  const rheos_output none = {NULL, 0, 0};
  *out_graph = self->graph;
  if (!rheos_variable_is_resource(self->variable)) return self->variable.value;
  graph_object *graph = graph_for_adding(self->graph, NULL);
  if (graph && graph->reads_outside) Py_SETREF(graph, (graph_object *)Py_NewRef(self->graph));
  rheos_scope *scope = graph ? graph_scope_for_adding(graph) : NULL;
  Py_XDECREF(graph);  // what is default, or holds the variable, keeps it
  if (!scope) return none;
  bool waits = self->after.graph == graph->graph;
  if (waits) rheos_push_control_dependencies(scope, &self->after, 1);
  rheos_output value = rheos_variable_read(scope, self->variable);
  if (waits) rheos_scope_pop(scope);
  if (value.graph == graph->graph) *out_graph = graph;
  return raise_scope_error(scope) ? none : value;
}

static bool is_variable_that_is_set_up(PyObject *object) {
  return is_variable(object) && ((variable_object *)object)->graph;
}

// What stands for an operand in the body of a function. None with an exception.
static rheos_output captured(graph_object *graph, PyObject *object, rheos_output output) {
  if (!graph->function || !is_tensor(object) || ((tensor_object *)object)->graph == graph) {
    return output;
  }
  rheos_output inside = {NULL, 0, 0};
  graph_object *unused;
  PyObject *found = PyObject_CallMethod((PyObject *)graph, "capture", "O", object);
  if (found) output_of(found, &inside, &unused);
  Py_XDECREF(found);
  return inside;
}

// ---- Operands that are not tensors

static bool holds_objects(PyObject *list) {
  Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!is_plain_value(PySequence_Fast_GET_ITEM(list, i))) return true;
  }
  return false;
}

bool is_plain_value(PyObject *value) {
  if (PyFloat_Check(value) || PyLong_Check(value) || PyUnicode_Check(value) ||
      PyBytes_Check(value) || PyComplex_Check(value) || PyByteArray_Check(value)) {
    return true;
  }
  if (is_numpy(value)) return true;
  if (!PyList_CheckExact(value) && !PyTuple_CheckExact(value)) return false;
  if (Py_EnterRecursiveCall(" while converting a nested list")) {
    PyErr_Clear();
    return false;
  }
  bool plain = !holds_objects(value);
  Py_LeaveRecursiveCall();
  return plain;
}

rheos_output constant_for(graph_object *graph, PyObject *value, rheos_dtype dtype,
                          rheos_dtype preferred, const char *name) {
  rheos_output none = {NULL, 0, 0};
  rheos_scope *scope = graph_scope_for_adding(graph);
  if (!scope) return none;
  rheos_tensor *tensor = tensor_from_python(value, dtype ? dtype : preferred, NULL, false);
  if (!tensor && !dtype && preferred &&
      (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError))) {
    PyErr_Clear();
    tensor = tensor_from_python(value, RHEOS_INVALID_DTYPE, NULL, false);
  }
  if (!tensor) return none;
  return graph_add_constant_take(graph, scope, tensor, name ? name : "Const");
}

// Any operand as an output of the graph. None with an exception.
static rheos_output operand(graph_object *graph, PyObject *value, rheos_dtype dtype,
                            rheos_dtype preferred, const char *name) {
  if (is_plain_value(value)) return constant_for(graph, value, dtype, preferred, name);
  rheos_output output = {NULL, 0, 0};
  PyObject *wanted = dtype ? dtype_to_python(dtype) : Py_None;
  PyObject *hint = preferred ? dtype_to_python(preferred) : Py_None;
  if (!wanted || !hint) return output;
  PyObject *tensor =
      PyObject_CallFunction(package.convert, "OOOsO", value, wanted, hint, name, graph);
  graph_object *unused;
  if (tensor && !output_of(tensor, &output, &unused) && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_TypeError, "the conversion did not give a Tensor");
  }
  Py_XDECREF(tensor);
  return output;
}

// Whether a failed conversion leaves it to the right operand to do the operation; then the
// exception is cleared.
static bool leave_it_to(PyObject *value, const char *scope) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError)) {
    return false;
  }
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);  // looking for the method would drop it
  char method[32];
  snprintf(method, sizeof method, "__r%s__", scope);
  PyObject *right = (PyObject *)Py_TYPE(value);
  bool found = PyObject_HasAttrString(right, method) ||
               PyObject_HasAttrString(right, "_compares_to_tensors");
  PyErr_Restore(type, error, traceback);
  if (found) PyErr_Clear();
  return found;
}

// Whether a value is of Python's own, whose operators know nothing of tensors.
static bool is_of_python(PyObject *value) {
  return PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) ||
         PyUnicode_CheckExact(value) || PyBytes_CheckExact(value) || PyList_CheckExact(value) ||
         PyTuple_CheckExact(value) || PyComplex_CheckExact(value);
}

// ---- Adding the nodes

static int check_same_graph(PyObject *a, PyObject *b, graph_object *graph_a,
                            graph_object *graph_b) {
  if (graph_a == graph_b) return 0;
  PyErr_Format(PyExc_ValueError, "%S must be from the same graph as %S.", b, a);
  return -1;
}

static int check_same_dtype(rheos_output x, rheos_output y, const char *type) {
  rheos_dtype left = rheos_dtype_base(rheos_output_dtype(x));
  rheos_dtype right = rheos_dtype_base(rheos_output_dtype(y));
  if (left == right) return 0;
  PyObject *left_dtype = dtype_to_python(left), *right_dtype = dtype_to_python(right);
  if (!left_dtype || !right_dtype) return -1;
  PyObject *left_name = PyObject_GetAttrString(left_dtype, "name");
  PyObject *right_name = PyObject_GetAttrString(right_dtype, "name");
  if (left_name && right_name) {
    PyErr_Format(PyExc_TypeError,
                 "Input 'y' of '%s' Op has type %U that does not match type %U of argument 'x'.",
                 type, right_name, left_name);
  }
  Py_XDECREF(left_name);
  Py_XDECREF(right_name);
  return -1;
}

// The current name scope with its last "/", so that an operation gets just that name.
static char *scope_as_name(rheos_scope *scope, char *buffer, size_t size) {
  size_t length = rheos_scope_name(scope, buffer, size);
  char *text = buffer;
  if (length + 2 > size) {
    text = PyMem_Malloc(length + 2);
    if (!text) return NULL;
    rheos_scope_name(scope, text, length + 1);
  }
  memcpy(text + length, "/", 2);
  return text;
}

static rheos_output add_node(graph_object *graph, rheos_scope *scope, const char *type,
                             const char *name, const rheos_output *inputs, size_t num_inputs) {
  rheos_op_args args = {.type = type, .name = name, .inputs = inputs, .num_inputs = num_inputs};
  rheos_operation operation = graph_add(graph, scope, &args);
  return rheos_operation_output(operation, 0);
}

static rheos_output add_cast(graph_object *graph, rheos_scope *scope, rheos_output x,
                             rheos_dtype to) {
  rheos_attr attr = rheos_attr_type("DstT", to);
  rheos_op_args args = {
      .type = "Cast", .inputs = &x, .num_inputs = 1, .attrs = &attr, .num_attrs = 1};
  return rheos_operation_output(graph_add(graph, scope, &args), 0);
}

// Division of integers is done in floating point.
static int cast_for_division(graph_object *graph, rheos_scope *scope, rheos_output *operands) {
  rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(operands[0]));
  if (!rheos_dtype_is_integer(dtype)) return 0;
  rheos_dtype wide = rheos_dtype_size(dtype) <= 2 ? RHEOS_FLOAT : RHEOS_DOUBLE;
  for (int i = 0; i < 2; ++i) {
    operands[i] = add_cast(graph, scope, operands[i], wide);
    if (!operands[i].graph) return -1;
  }
  return 0;
}

// Inside the operator's scope: converts the other operand, and adds the operation.
static PyObject *binary_in_scope(graph_object *graph, rheos_scope *scope, PyObject *a, PyObject *b,
                                 const rheos_output *known, const bool *is_known,
                                 const operator_form *form) {
  rheos_output operands[2] = {known[0], known[1]};
  if (!is_known[1]) {
    rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(operands[0]));
    operands[1] = operand(graph, b, form->strict ? dtype : 0, form->strict ? 0 : dtype, "y");
    if (!operands[1].graph) {
      if (!leave_it_to(b, form->scope)) return NULL;
      Py_RETURN_NOTIMPLEMENTED;
    }
  } else if (!is_known[0]) {
    rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(operands[1]));
    operands[0] = operand(graph, a, dtype, 0, "x");
    if (!operands[0].graph) return NULL;
  }
  const char *type = form->type;
  rheos_dtype left = rheos_dtype_base(rheos_output_dtype(operands[0]));
  if (left == RHEOS_STRING && strcmp(type, "AddV2") == 0) type = "Add";
  if (check_same_dtype(operands[0], operands[1], type) < 0) return NULL;
  if (strcmp(type, "RealDiv") == 0 && cast_for_division(graph, scope, operands) < 0) return NULL;
  char buffer[256];
  char *name = scope_as_name(scope, buffer, sizeof buffer);
  if (!name) return PyErr_NoMemory();
  scope_set_source(scope);
  rheos_output result = add_node(graph, scope, type, name, operands, 2);
  if (name != buffer) PyMem_Free(name);
  return result.graph ? graph_tensor(graph, result.id, 0) : NULL;
}

// With eager operands while a graph is built, they become tensors of the graph first.
static PyObject *in_default_graph(PyObject *value) {
  if (!eager_value(value)) return Py_NewRef(value);
  PyObject *graph = PyObject_CallNoArgs(package.default_graph);
  if (!graph) return NULL;
  PyObject *inside =
      PyObject_CallFunction(package.convert, "OOOOO", value, Py_None, Py_None, Py_None, graph);
  Py_DECREF(graph);
  return inside;
}

static bool has_handle(PyObject *object) {
  return is_eager_variable(object) && ((variable_object *)object)->handle;
}

static PyObject *binary(PyObject *a, PyObject *b, const operator_form *form);
static PyObject *unary(PyObject *a, const char *type, const rheos_attr *attr);

static PyObject *binary_by_package(PyObject *a, PyObject *b, const operator_form *form) {
  PyObject *x = in_default_graph(a), *y = x ? in_default_graph(b) : NULL;
  PyObject *result = NULL;
  if (y && !eager_value(x) && !eager_value(y)) {
    result = binary(x, y, form);
  } else if (y) {
    PyErr_SetString(PyExc_TypeError, "an eager tensor cannot be used in this graph");
  }
  Py_XDECREF(x);
  Py_XDECREF(y);
  return result;
}

static PyObject *unary_by_package(PyObject *a, const char *type, const rheos_attr *attr) {
  PyObject *x = in_default_graph(a);
  PyObject *result = NULL;
  if (x && !eager_value(x)) {
    result = unary(x, type, attr);
  } else if (x) {
    PyErr_SetString(PyExc_TypeError, "an eager tensor cannot be used in this graph");
  }
  Py_XDECREF(x);
  return result;
}

// Whether an operator has an eager operand; `*out_runs`: and is run at once, since no graph is
// built.
static bool is_eager_operator(PyObject *a, PyObject *b, bool *out_runs) {
  const bool is_eager = eager_value(a) || (b && eager_value(b));
  *out_runs = is_eager && executing_eagerly() && (eager_value(a) || !is_tensor(a)) &&
              (!b || eager_value(b) || !is_tensor(b));
  return is_eager;
}

// With the values of eager variables in their place: `a` is one, or `b`.
static PyObject *binary_of_values(PyObject *a, PyObject *b, const operator_form *form) {
  PyObject *x = is_eager_variable(a) ? eager_variable_read(a) : Py_NewRef(a);
  PyObject *y = !x ? NULL : is_eager_variable(b) ? eager_variable_read(b) : Py_NewRef(b);
  PyObject *result = y ? binary(x, y, form) : NULL;
  Py_XDECREF(x);
  Py_XDECREF(y);
  return result;
}

static PyObject *binary(PyObject *a, PyObject *b, const operator_form *form) {
  bool runs_at_once;
  if (has_handle(a) || has_handle(b)) return binary_of_values(a, b, form);
  if (is_eager_operator(a, b, &runs_at_once)) {
    if (!runs_at_once) return binary_by_package(a, b, form);
    PyObject *result = eager_binary(a, b, form->type);
    if (result || is_of_python(a) || is_of_python(b) || !leave_it_to(b, form->scope)) {
      return result;
    }
    Py_RETURN_NOTIMPLEMENTED;
  }
  graph_object *graphs[2] = {NULL, NULL};
  rheos_output known[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
  // A resource variable on the right is read inside the scope, one whose method is called before
  // it.
  bool is_known[2] = {output_of(a, &known[0], &graphs[0]), is_variable_that_is_set_up(b)};
  if (PyErr_Occurred()) return NULL;
  if (!is_known[0] || !is_known[1]) is_known[1] = output_of(b, &known[1], &graphs[1]);
  if (PyErr_Occurred()) return NULL;
  if (!is_known[0] && !is_known[1]) Py_RETURN_NOTIMPLEMENTED;
  if (!graphs[1] && is_known[1]) graphs[1] = ((variable_object *)b)->graph;
  bool captures;
  graph_object *graph = graph_for_adding(is_known[0] ? graphs[0] : graphs[1], &captures);
  if (!graph) return NULL;
  Py_DECREF(graph);  // what is default, or holds the operand, keeps it
  if (is_known[0] && is_known[1] && !captures && check_same_graph(a, b, graphs[0], graphs[1]) < 0) {
    return NULL;
  }
  PyObject *const operands[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    if (!known[i].graph) continue;
    known[i] = captured(graph, operands[i], known[i]);
    if (!known[i].graph) return NULL;
  }
  rheos_scope *scope = graph_scope_for_adding(graph);
  if (!scope) return NULL;
  rheos_push_name_scope(scope, form->scope);
  if (raise_scope_error(scope)) {
    rheos_scope_pop(scope);
    return NULL;
  }
  bool is_read = !is_known[1] || known[1].graph || output_of(b, &known[1], &graphs[1]);
  PyObject *result = is_read ? binary_in_scope(graph, scope, a, b, known, is_known, form) : NULL;
  rheos_scope_pop(scope);
  return result;
}

static PyObject *unary_of_value(PyObject *a, const char *type, const rheos_attr *attr) {
  PyObject *x = eager_variable_read(a);
  PyObject *result = x ? unary(x, type, attr) : NULL;
  Py_XDECREF(x);
  return result;
}

static PyObject *unary(PyObject *a, const char *type, const rheos_attr *attr) {
  bool runs_at_once;
  if (has_handle(a)) return unary_of_value(a, type, attr);
  if (is_eager_operator(a, NULL, &runs_at_once)) {
    return runs_at_once ? eager_unary(a, type, attr) : unary_by_package(a, type, attr);
  }
  graph_object *graph = NULL;
  rheos_output x;
  if (!output_of(a, &x, &graph)) {
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NOTIMPLEMENTED;
  }
  graph = graph_for_adding(graph, NULL);
  rheos_scope *scope = graph ? graph_scope_for_adding(graph) : NULL;
  Py_XDECREF(graph);
  if (!scope) return NULL;
  x = captured(graph, a, x);
  if (!x.graph) return NULL;
  rheos_op_args args = {
      .type = type, .inputs = &x, .num_inputs = 1, .attrs = attr, .num_attrs = attr != NULL};
  rheos_output result = rheos_operation_output(graph_add(graph, scope, &args), 0);
  return result.graph ? graph_tensor(graph, result.id, 0) : NULL;
}

// ---- The slots

#define BINARY(name, scope_, type_)                           \
  static PyObject *op_##name(PyObject *a, PyObject *b) {      \
    static const operator_form form = {scope_, type_, false}; \
    return binary(a, b, &form);                               \
  }
BINARY(add, "add", "AddV2")
BINARY(sub, "sub", "Sub")
BINARY(mul, "mul", "Mul")
BINARY(truediv, "truediv", "RealDiv")
BINARY(floordiv, "floordiv", "FloorDiv")
BINARY(mod, "mod", "FloorMod")
#undef BINARY

static PyObject *op_pow(PyObject *a, PyObject *b, PyObject *modulus) {
  static const operator_form form = {"pow", "Pow", false};
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary(a, b, &form);
}

static PyObject *op_neg(PyObject *a) { return unary(a, "Neg", NULL); }

// The dtype of an operand; `other` of one that has none, such as a number.
static rheos_dtype operand_dtype(PyObject *a, rheos_dtype other) {
  rheos_dtype dtype = other;
  rheos_output x;
  graph_object *graph;
  if (eager_value(a)) {
    dtype = rheos_tensor_dtype(eager_value(a));
  } else if (has_handle(a)) {
    dtype = ((variable_object *)a)->dtype;
  } else if (is_variable_that_is_set_up(a)) {
    dtype = rheos_variable_dtype(((variable_object *)a)->variable);
  } else if (output_of(a, &x, &graph)) {
    dtype = rheos_dtype_base(rheos_output_dtype(x));
  }
  return dtype;
}

// Of integers and, or and not are of their bits.
static bool is_of_integers(PyObject *a, PyObject *b) {
  rheos_dtype dtype = operand_dtype(a, RHEOS_BOOL);
  if (dtype == RHEOS_BOOL && b) dtype = operand_dtype(b, RHEOS_BOOL);
  return rheos_dtype_is_integer(dtype);
}

static PyObject *op_and(PyObject *a, PyObject *b) {
  static const operator_form logical = {"and", "LogicalAnd", false};
  static const operator_form bitwise = {"and", "BitwiseAnd", false};
  return binary(a, b, is_of_integers(a, b) ? &bitwise : &logical);
}

static PyObject *op_or(PyObject *a, PyObject *b) {
  static const operator_form logical = {"or", "LogicalOr", false};
  static const operator_form bitwise = {"or", "BitwiseOr", false};
  return binary(a, b, is_of_integers(a, b) ? &bitwise : &logical);
}

static PyObject *op_invert(PyObject *a) {
  return unary(a, is_of_integers(a, NULL) ? "Invert" : "LogicalNot", NULL);
}

static PyObject *op_abs(PyObject *a) {
  rheos_dtype dtype = operand_dtype(a, RHEOS_FLOAT);
  if (!rheos_dtype_is_complex(dtype)) return unary(a, "Abs", NULL);
  rheos_attr real = rheos_attr_type("Tout", dtype == RHEOS_COMPLEX64 ? RHEOS_FLOAT : RHEOS_DOUBLE);
  return unary(a, "ComplexAbs", &real);
}

PyNumberMethods tensor_number_methods = {
    .nb_add = op_add,
    .nb_subtract = op_sub,
    .nb_multiply = op_mul,
    .nb_true_divide = op_truediv,
    .nb_floor_divide = op_floordiv,
    .nb_remainder = op_mod,
    .nb_power = op_pow,
    .nb_and = op_and,
    .nb_or = op_or,
    .nb_negative = op_neg,
    .nb_invert = op_invert,
    .nb_absolute = op_abs,
};

// Whether an exception tells of shapes that do not broadcast, and not of what is no operand.
static bool is_of_shapes(PyObject *a, PyObject *b) {
  const bool is_invalid = PyErr_ExceptionMatches(package.error_classes[RHEOS_INVALID_ARGUMENT]);
  if (!is_invalid && (eager_value(a) || !PyErr_ExceptionMatches(PyExc_ValueError))) return false;
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  const rheos_dtype left = operand_dtype(a, RHEOS_INVALID_DTYPE);
  const rheos_dtype right = operand_dtype(b, left);
  const bool is_operand = right != RHEOS_INVALID_DTYPE || is_plain_value(b);
  PyErr_Restore(type, error, traceback);
  return is_operand && left == right;
}

// Element by element; what cannot be broadcast to each other is not equal.
static PyObject *equal_elements(PyObject *a, PyObject *b, int op) {
  static const operator_form equal = {"eq", "Equal", false}, not_equal = {"ne", "NotEqual", false};
  if (b == Py_None) return PyBool_FromLong(op == Py_NE);
  PyObject *result = binary(a, b, op == Py_EQ ? &equal : &not_equal);
  if (result || !is_of_shapes(a, b)) return result;
  PyErr_Clear();
  return PyBool_FromLong(op == Py_NE);
}

// Whether == and != go element by element, as in TensorFlow 2: of eager tensors, and of symbolic
// ones in the bodies of functions while eager execution is on.
static bool compares_elements(PyObject *object) {
  if (eager_value(object)) return true;
  if (!package.eager_is_on || !is_tensor(object)) return false;
  PyObject *graph = (PyObject *)((tensor_object *)object)->graph;
  PyObject *found = graph ? PyObject_GetAttrString(graph, "building_function") : NULL;
  if (!found) PyErr_Clear();
  const bool is_body = found == Py_True;
  Py_XDECREF(found);
  return is_body;
}

// == and != of other symbolic tensors are identity, as in TensorFlow 1; the others add a
// comparison.
PyObject *tensor_compare(PyObject *a, PyObject *b, int op) {
  static const operator_form less = {"Less", "Less", true};
  static const operator_form less_equal = {"LessEqual", "LessEqual", true};
  static const operator_form greater = {"Greater", "Greater", true};
  static const operator_form greater_equal = {"GreaterEqual", "GreaterEqual", true};
  if ((op == Py_EQ || op == Py_NE) && (compares_elements(a) || compares_elements(b))) {
    return equal_elements(a, b, op);
  }
  switch (op) {
    case Py_LT: return binary(a, b, &less);
    case Py_LE: return binary(a, b, &less_equal);
    case Py_GT: return binary(a, b, &greater);
    case Py_GE: return binary(a, b, &greater_equal);
    case Py_EQ: return PyBool_FromLong(a == b);
    default: return PyBool_FromLong(a != b);
  }
}
