// Operations that run at once without a line of Python between the call and the kernel: op_plan.c
// binds values to an op's inputs and attributes, op_function.c the arguments of a function of the
// package.
#ifndef RHEOS_PYTHON_OP_PLAN_H
#define RHEOS_PYTHON_OP_PLAN_H

#include "attr.h"
#include "eager_object.h"

enum { max_plan_inputs = 8, max_plan_types = 4, max_plan_values = 32 };

// What the extension knows of an op, read from its signature once.
typedef struct op_plan {
  PyObject *name;  // str, kept: `type` is its text
  const char *type;
  int num_inputs;
  signed char kinds[max_plan_inputs];  // a dtype, or the attribute that says it: -1, -2, ...
  bool is_list[max_plan_inputs];
  signed char defaults[max_plan_types];  // dtypes of these attributes; 0: none
  Py_ssize_t num_attrs;
  PyObject *attrs;  // tuple of (name, kind), names interned
  bool can_run;     // no input is a reference, and there is room for all
} op_plan;

// By op; borrowed, and kept for the process. NULL with an exception.
const op_plan *op_plan_of(PyObject *type);

// The place of an attribute, -1 if there is none of that name.
Py_ssize_t op_plan_attr(const op_plan *plan, PyObject *name);

// The values of one call.
typedef struct op_call {
  const op_plan *plan;
  PyObject *held[max_plan_values];  // owned: what inputs became
  rheos_tensor *values[max_plan_values];
  int num_values;
  rheos_dtype types[max_plan_types];  // of attributes that inputs say; 0: none has said it yet
  attr_list attrs;
} op_call;

void op_call_init(op_call *call, const op_plan *plan);
void op_call_deinit(op_call *call);

// Gives it `plan->num_inputs` inputs: tensors, variables, Python's values, lists of these where the
// op takes lists. False: the operation is left to Python, which says what is wrong with it too; no
// exception.
bool op_call_inputs(op_call *call, PyObject *const *inputs);
// Adds an attribute; None is left out.
bool op_call_attr(op_call *call, Py_ssize_t place, PyObject *value);

// Runs the op and gives its only output. NULL: an exception, or none: the operation is left to
// Python.
PyObject *op_call_run(op_call *call);

int op_plan_init(PyObject *module);
int op_function_init(PyObject *module);

#endif  // RHEOS_PYTHON_OP_PLAN_H
