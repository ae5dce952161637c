// Binds values to the inputs and attributes of an op, and runs it. What is unusual in any way is
// left to the package, whose op_call.py says the same at greater length: so nothing here raises for
// a program's mistake.

#include "op_plan.h"

#include <string.h>

#include "graph_object.h"

// ---- Plans

static PyObject *plans;  // dict from an op to a capsule

static void free_plan(PyObject *capsule) {
  op_plan *plan = PyCapsule_GetPointer(capsule, NULL);
  Py_XDECREF(plan->name);
  Py_XDECREF(plan->attrs);
  PyMem_Free(plan);
}

static int read_description(op_plan *plan, PyObject *description) {
  const char *kinds, *lists, *defaults;
  Py_ssize_t num_kinds, num_lists, num_defaults;
  PyObject *attrs;
  if (!PyArg_ParseTuple(description, "y#y#y#O!", &kinds, &num_kinds, &lists, &num_lists, &defaults,
                        &num_defaults, &PyTuple_Type, &attrs)) {
    return -1;
  }
  plan->attrs = Py_NewRef(attrs);
  plan->num_attrs = PyTuple_GET_SIZE(attrs);
  if (num_kinds > max_plan_inputs || num_defaults > max_plan_types) return 0;
  plan->num_inputs = (int)num_kinds;
  for (Py_ssize_t i = 0; i < num_kinds; ++i) {
    plan->kinds[i] = (signed char)kinds[i];
    plan->is_list[i] = lists[i] != 0;
  }
  for (Py_ssize_t i = 0; i < num_defaults; ++i) plan->defaults[i] = (signed char)defaults[i];
  plan->can_run = true;
  return 0;
}

static const op_plan *make_plan(PyObject *type) {
  PyObject *description =
      package.describe_op ? PyObject_CallOneArg(package.describe_op, type) : NULL;
  op_plan *plan = description ? PyMem_Calloc(1, sizeof *plan) : NULL;
  PyObject *capsule = plan ? PyCapsule_New(plan, NULL, free_plan) : NULL;
  if (!capsule) PyMem_Free(plan);
  bool is_made = false;
  if (capsule) {
    plan->name = Py_NewRef(type);
    plan->type = text_of(type);
    is_made = plan->type && (description == Py_None || read_description(plan, description) == 0) &&
              PyDict_SetItem(plans, type, capsule) == 0;
  } else if (!PyErr_Occurred()) {
    PyErr_NoMemory();
  }
  Py_XDECREF(description);
  Py_XDECREF(capsule);  // the dict has one
  return is_made ? plan : NULL;
}

const op_plan *op_plan_of(PyObject *type) {
  PyObject *capsule = PyDict_GetItemWithError(plans, type);
  if (capsule) return PyCapsule_GetPointer(capsule, NULL);
  return PyErr_Occurred() ? NULL : make_plan(type);
}

static PyObject *attr_name(const op_plan *plan, Py_ssize_t place) {
  return PyTuple_GET_ITEM(PyTuple_GET_ITEM(plan->attrs, place), 0);
}

Py_ssize_t op_plan_attr(const op_plan *plan, PyObject *name) {
  for (Py_ssize_t i = 0; i < plan->num_attrs; ++i) {
    if (attr_name(plan, i) == name) return i;
  }
  for (Py_ssize_t i = 0; i < plan->num_attrs; ++i) {
    if (PyUnicode_Compare(attr_name(plan, i), name) == 0) return i;
  }
  return -1;
}

// ---- Inputs

void op_call_init(op_call *call, const op_plan *plan) {
  call->plan = plan;
  call->num_values = 0;
  memset(call->types, 0, sizeof call->types);
  attr_list_begin(&call->attrs, 0);
}

void op_call_deinit(op_call *call) {
  for (int i = 0; i < call->num_values; ++i) Py_XDECREF(call->held[i]);
  attr_list_deinit(&call->attrs);
}

// Takes what an input became. False: it is none, or of another dtype than others say.
static bool take_value(op_call *call, int at, signed char kind, PyObject *tensor) {
  call->held[at] = tensor;
  call->values[at] = tensor ? eager_value(tensor) : NULL;
  if (!call->values[at]) return false;
  const rheos_dtype dtype = rheos_tensor_dtype(call->values[at]);
  if (kind > 0) return dtype == (rheos_dtype)kind;
  rheos_dtype *type = &call->types[-kind - 1];
  if (!*type) *type = dtype;
  return *type == dtype;
}

// A tensor or the value of a variable at once; `*out_waits`: a value that others tell the dtype of.
static bool take_tensor(op_call *call, int at, signed char kind, PyObject *value, bool *out_waits) {
  if (eager_value(value)) return take_value(call, at, kind, Py_NewRef(value));
  if (is_eager_variable(value)) return take_value(call, at, kind, eager_variable_read(value));
  call->held[at] = NULL;
  *out_waits = true;
  return is_plain_value(value);
}

// Whether a value is a complex number of Python's, or a list with one in it.
static bool holds_complex(PyObject *value) {
  if (PyComplex_CheckExact(value)) return true;
  if (!PyList_Check(value) && !PyTuple_Check(value)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
    if (holds_complex(PySequence_Fast_GET_ITEM(value, i))) return true;
  }
  return false;
}

static bool take_plain(op_call *call, int at, signed char kind, PyObject *value) {
  const bool is_fixed = kind > 0;
  const rheos_dtype dtype = is_fixed ? (rheos_dtype)kind : call->types[-kind - 1];
  rheos_dtype preferred = is_fixed ? 0 : (rheos_dtype)call->plan->defaults[-kind - 1];
  if (preferred == RHEOS_COMPLEX64 && holds_complex(value)) preferred = RHEOS_COMPLEX128;
  return take_value(call, at, kind, eager_constant(value, dtype, preferred, NULL, false));
}

static PyObject *element(PyObject *list, Py_ssize_t i) {
  return PyList_CheckExact(list) ? PyList_GET_ITEM(list, i) : PyTuple_GET_ITEM(list, i);
}

// The elements of an exact list or tuple.
static bool take_list(op_call *call, signed char kind, PyObject *list, bool *out_waits) {
  if (!PyList_CheckExact(list) && !PyTuple_CheckExact(list)) return false;
  for (Py_ssize_t i = 0; i < Py_SIZE(list); ++i) {
    if (call->num_values >= max_plan_values) return false;
    const int at = call->num_values++;
    if (!take_tensor(call, at, kind, element(list, i), out_waits)) return false;
  }
  return true;
}

// Tensors and variables say the dtypes that Python's values beside them take.
static bool take_inputs(op_call *call, PyObject *const *inputs) {
  const op_plan *plan = call->plan;
  bool waits = false;
  for (int i = 0; i < plan->num_inputs; ++i) {
    bool is_taken;
    if (plan->is_list[i]) {
      is_taken = take_list(call, plan->kinds[i], inputs[i], &waits);
    } else {
      is_taken = call->num_values < max_plan_values &&
                 take_tensor(call, call->num_values++, plan->kinds[i], inputs[i], &waits);
    }
    if (!is_taken) return false;
  }
  if (!waits) return true;
  int at = 0;
  for (int i = 0; i < plan->num_inputs; ++i) {
    for (Py_ssize_t k = 0; k < (plan->is_list[i] ? Py_SIZE(inputs[i]) : 1); ++k, ++at) {
      if (at >= call->num_values) return false;  // the list has changed
      if (call->held[at]) continue;
      PyObject *value = Py_NewRef(plan->is_list[i] ? element(inputs[i], k) : inputs[i]);
      const bool is_taken = take_plain(call, at, plan->kinds[i], value);
      Py_DECREF(value);
      if (!is_taken) return false;
    }
  }
  return at == call->num_values;
}

bool op_call_inputs(op_call *call, PyObject *const *inputs) {
  const int first = call->num_values;
  for (int i = first; i < max_plan_values; ++i) call->held[i] = NULL;
  if (take_inputs(call, inputs)) return true;
  PyErr_Clear();
  return false;
}

// ---- Attributes

bool op_call_attr(op_call *call, Py_ssize_t place, PyObject *value) {
  if (value == Py_None) return true;
  PyObject *pair = PyTuple_GET_ITEM(call->plan->attrs, place);
  const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(pair, 0));
  const long kind = PyLong_AsLong(PyTuple_GET_ITEM(pair, 1));
  const size_t room = sizeof call->attrs.few / sizeof *call->attrs.few;
  if (kind == RHEOS_ATTR_TYPE && PyUnicode_CheckExact(value)) {
    value = PyDict_GetItemWithError(package.dtype_names, value);  // others are the package's
    if (!value) return PyErr_Clear(), false;
  }
  if (name && call->attrs.count < room &&
      attr_list_add(&call->attrs, name, (int)kind, value) == 0) {
    return true;
  }
  PyErr_Clear();
  return false;
}

// ---- Running

static rheos_eager_op op_of(const op_call *call) {
  return (rheos_eager_op){.type = call->plan->type,
                          .inputs = call->values,
                          .num_inputs = (size_t)call->num_values,
                          .attrs = call->attrs.items,
                          .num_attrs = call->attrs.count};
}

PyObject *op_call_run(op_call *call) {
  const rheos_eager_op op = op_of(call);
  return eager_run_quickly(&op);
}

// op1() for what can be run at once. NULL: an exception, or none: the package is asked.
static PyObject *run_quickly(PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const op_plan *plan = op_plan_of(args[0]);
  if (!plan) return NULL;
  if (!plan->can_run || count != plan->num_inputs + 2) return NULL;
  op_call call;
  op_call_init(&call, plan);
  bool is_bound = op_call_inputs(&call, args + 2);
  const Py_ssize_t num_names = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < num_names && is_bound; ++i) {
    const Py_ssize_t place = op_plan_attr(plan, PyTuple_GET_ITEM(names, i));
    is_bound = place >= 0 && op_call_attr(&call, place, args[count + i]);
  }
  PyObject *result = is_bound ? op_call_run(&call) : NULL;
  op_call_deinit(&call);
  return result;
}

PyDoc_STRVAR(op1_doc,
             "op1(op_type, name, *inputs, **attrs)\n\nThe only output of a new operation; one that "
             "runs at once if operations do.");
static PyObject *op1(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  (void)module;
  if (count >= 2 && PyUnicode_CheckExact(args[0]) && executing_eagerly()) {
    PyObject *result = run_quickly(args, count, names);
    if (result || PyErr_Occurred()) return result;
  }
  return PyObject_Vectorcall(package.add_op, args, (size_t)count, names);
}

PyDoc_STRVAR(run_now_doc,
             "_run_now(op_type, inputs, attrs): what the operation gave; None: it cannot be run at "
             "once, or something is wrong with it.");
static PyObject *run_now(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *type, *inputs, *attrs;
  if (!PyArg_ParseTuple(args, "UO!O!", &type, &PyTuple_Type, &inputs, &PyDict_Type, &attrs)) {
    return NULL;
  }
  const op_plan *plan = op_plan_of(type);
  if (!plan) return NULL;
  if (!plan->can_run || PyTuple_GET_SIZE(inputs) != plan->num_inputs) Py_RETURN_NONE;
  op_call call;
  op_call_init(&call, plan);
  bool is_bound = op_call_inputs(&call, PySequence_Fast_ITEMS(inputs));
  PyObject *name, *value;
  Py_ssize_t position = 0;
  while (is_bound && PyDict_Next(attrs, &position, &name, &value)) {
    const Py_ssize_t place = PyUnicode_Check(name) ? op_plan_attr(plan, name) : -1;
    is_bound = place >= 0 && op_call_attr(&call, place, value);
  }
  PyObject *results = NULL;
  if (is_bound) {
    const rheos_eager_op op = op_of(&call);
    results = eager_run_all_quickly(&op);
  }
  op_call_deinit(&call);
  return results || PyErr_Occurred() ? results : Py_NewRef(Py_None);
}

static PyObject *register_ops(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *describe, *add, *names;
  if (!PyArg_ParseTuple(args, "OOO!", &describe, &add, &PyDict_Type, &names)) return NULL;
  Py_XSETREF(package.dtype_names, Py_NewRef(names));
  Py_XSETREF(package.describe_op, Py_NewRef(describe));
  Py_XSETREF(package.add_op, Py_NewRef(add));
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_register_ops", register_ops, METH_VARARGS,
     "_register_ops(describe, add, dtypes): what says how ops are, what adds operations, and "
     "dtypes by their names."},
    {"_run_now", run_now, METH_VARARGS, run_now_doc},
    {"op1", (PyCFunction)(void (*)(void))op1, METH_FASTCALL | METH_KEYWORDS, op1_doc},
    {NULL, NULL, 0, NULL},
};

int op_plan_init(PyObject *module) {
  plans = PyDict_New();
  if (!plans || PyModule_AddFunctions(module, functions) < 0) return -1;
  return op_function_init(module);
}
