// Variables of eager execution: what reads and assigns them without a line of Python. A variable
// keeps its handle, an eager tensor, and the shape that values have to have; in the body of a
// function its handle may be symbolic, and all is left to the package.

#include "eager_object.h"
#include "op_plan.h"

#include <string.h>

#include "graph_object.h"

static rheos_region *reads[32];  // what reads a variable, by dtype; kept for the process

static rheos_region *read_region(rheos_tensor *handle, rheos_dtype dtype) {
  const size_t number = (size_t)dtype;
  if (number >= sizeof reads / sizeof *reads) return NULL;
  if (reads[number]) return reads[number];
  const rheos_attr attr = rheos_attr_type("dtype", dtype);
  const rheos_eager_op op = {
      .type = "ReadVariableOp", .inputs = &handle, .num_inputs = 1, .attrs = &attr, .num_attrs = 1};
  rheos_status *status = rheos_eager_region(eager_context(), &op, &reads[number]);
  rheos_status_free(status);
  return reads[number];
}

// The handle where the variable can be read and assigned at once, else NULL.
static rheos_tensor *handle_at_once(const variable_object *variable) {
  if (variable->graph || !variable->handle || !executing_eagerly()) return NULL;
  if (package.num_eager_watches > 0) return NULL;  // who is told takes the GIL
  return eager_value(variable->handle);
}

// Tells the tapes that record; false with an exception.
static bool touch(variable_object *variable) {
  return variable->trainable != Py_True || tapes_watch((PyObject *)variable, variable->handle);
}

// What it holds. NULL: an exception, or none: the package reads it.
static PyObject *read_at_once(variable_object *variable) {
  rheos_tensor *handle = handle_at_once(variable), *value = NULL;
  if (!handle || !touch(variable)) return NULL;
  rheos_region *region = read_region(handle, variable->dtype);
  if (!region) return NULL;
  rheos_status *status = rheos_region_run(region, &handle, &value, NULL);
  if (!status) return eager_tensor_take(value);
  rheos_status_free(status);  // the package says what is wrong
  return NULL;
}

PyObject *eager_variable_read(PyObject *object) {
  PyObject *value = read_at_once((variable_object *)object);
  if (value || PyErr_Occurred()) return value;
  return PyObject_GetAttrString(object, "_snapshot");
}

PyObject *variable_read_now(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *value = read_at_once((variable_object *)self);
  return value || PyErr_Occurred() ? value : Py_NewRef(Py_None);
}

// Whether the value, which is that of an input already, may be given to the variable.
static bool may_assign(const variable_object *variable, const rheos_tensor *value) {
  return rheos_tensor_dtype(value) == variable->dtype &&
         rheos_shape_compatible(&variable->shape, rheos_tensor_shape(value));
}

PyObject *variable_assign_now(PyObject *self, PyObject *args) {
  variable_object *variable = (variable_object *)self;
  PyObject *type, *given;
  if (!PyArg_ParseTuple(args, "UO", &type, &given)) return NULL;
  rheos_tensor *handle = handle_at_once(variable);
  if (!handle) Py_RETURN_FALSE;
  PyObject *value = NULL;
  if (eager_value(given))
    value = Py_NewRef(given);
  else if (is_eager_variable(given))
    value = eager_variable_read(given);
  else if (is_plain_value(given))
    value = eager_constant(given, variable->dtype, 0, NULL, false);
  int done = 0;
  if (value && eager_value(value) && may_assign(variable, eager_value(value))) {
    rheos_tensor *inputs[] = {handle, eager_value(value)};
    const rheos_eager_op op = {.type = PyUnicode_AsUTF8(type), .inputs = inputs, .num_inputs = 2};
    done = eager_run_target(&op);
  }
  Py_XDECREF(value);
  if (done < 0) return NULL;
  if (!done) PyErr_Clear();  // the package does it, or says what is wrong
  return PyBool_FromLong(done);
}

PyObject *variable_set_up_now(PyObject *self, PyObject *args) {
  variable_object *variable = (variable_object *)self;
  PyObject *handle, *dtype, *dims;
  rheos_dtype number;
  if (!PyArg_ParseTuple(args, "OOO", &handle, &dtype, &dims)) return NULL;
  if (dtype_from_python(dtype, &number) < 0 || shape_from_python(dims, &variable->shape) < 0) {
    return NULL;
  }
  variable->dtype = rheos_dtype_base(number);
  Py_XSETREF(variable->handle, Py_NewRef(handle));
  Py_RETURN_NONE;
}

PyObject *variable_same_as(PyObject *self, PyObject *other) {
  variable_object *variable = (variable_object *)self;
  if (!is_variable(other)) {
    PyErr_SetString(PyExc_TypeError, "expected a variable");
    return NULL;
  }
  const variable_object *known = (variable_object *)other;
  variable->dtype = known->dtype;
  variable->shape = known->shape;
  Py_XSETREF(variable->handle, Py_XNewRef(known->handle));
  Py_XSETREF(variable->trainable, Py_XNewRef(known->trainable));
  Py_RETURN_NONE;
}
