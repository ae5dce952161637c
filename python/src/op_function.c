// Functions of the package that run one operation. Called with tensors that have values, one binds
// its arguments here and runs the operation; anything else it is called with goes to the Python
// function that it is made of, which means the same.

#include "op_plan.h"

#include <stddef.h>
#include <string.h>

#include "graph_object.h"

enum { max_parameters = 24 };

// What a parameter is for. Places of attributes are found with the plan, in the first call.
typedef enum parameter_role {
  role_default,  // has to have its default
  role_name,     // of the operation: says nothing where it runs at once
  role_attr,
  role_list_attr,  // of a list; a number is a list of one
  role_input,      // None: what `otherwise` is
  role_all_axes,   // an input; None: all dimensions of the first one
  role_reversed,   // an input; None: these from the last to the first
} parameter_role;

typedef struct parameter {
  parameter_role role;
  int place;            // of an input, or among the attributes
  PyObject *attr;       // the name of an attribute, borrowed
  PyObject *otherwise;  // borrowed
} parameter;

typedef struct op_function {
  PyObject_HEAD PyObject *function;
  vectorcallfunc vectorcall;
  PyObject *dict, *weak_references;
  PyObject *type;       // the op
  PyObject *names;      // of the parameters, a tuple
  PyObject *defaults;   // of the last ones, a tuple
  PyObject *roles;      // as given: keeps the names of attributes
  const op_plan *plan;  // NULL before the first call
  int num_parameters, num_positional, num_defaults;
  parameter parameters[max_parameters];
  // What the operation is not run for here
  int min_rank, max_rank;  // of the inputs that are tensors; of the largest
  const char *numbers;     // "real", "floating" or NULL: what the first input has to be of
  bool changes_type;       // where an attribute says the first input's dtype, that is given back
  bool no_variables;       // the first input may not be one
} op_function;

// ---- Arguments

// Sets `bound` by parameter. False: the arguments are others than the function's.
static bool bind(const op_function *f, PyObject *const *args, Py_ssize_t count, PyObject *names,
                 PyObject **bound) {
  if (count > f->num_positional) return false;
  for (int i = 0; i < f->num_parameters; ++i) bound[i] = i < count ? args[i] : NULL;
  const Py_ssize_t num_names = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t k = 0; k < num_names; ++k) {
    PyObject *name = PyTuple_GET_ITEM(names, k);
    int i = 0;
    while (i < f->num_parameters && PyTuple_GET_ITEM(f->names, i) != name) ++i;
    if (i == f->num_parameters || bound[i]) return false;
    bound[i] = args[count + k];
  }
  const int first = f->num_parameters - f->num_defaults;
  for (int i = 0; i < f->num_parameters; ++i) {
    if (bound[i]) continue;
    if (i < first) return false;
    bound[i] = PyTuple_GET_ITEM(f->defaults, i - first);
  }
  return true;
}

static bool is_default(const op_function *f, int i, PyObject *value) {
  const int first = f->num_parameters - f->num_defaults;
  return i >= first && PyTuple_GET_ITEM(f->defaults, i - first) == value;
}

// The numbers of the dimensions, from the first or from the last.
static PyObject *axes_of(const rheos_tensor *tensor, bool reversed) {
  const int32_t rank = rheos_tensor_shape(tensor)->rank;
  rheos_tensor *axes = NULL;
  rheos_shape shape = {.rank = 1, .dims = {rank}};
  rheos_status *status = rheos_tensor_new(RHEOS_INT32, shape, &axes);
  if (status) {
    rheos_status_free(status);
    return NULL;
  }
  int32_t *numbers = rheos_tensor_data(axes);
  for (int32_t i = 0; i < rank; ++i) numbers[i] = reversed ? rank - 1 - i : i;
  return eager_tensor_take(axes);
}

// ---- What is run here

static bool is_of_numbers(const char *numbers, rheos_dtype dtype) {
  if (numbers[0] == 'f') return rheos_dtype_is_floating(dtype);
  return rheos_dtype_is_floating(dtype) || rheos_dtype_is_integer(dtype);
}

static bool keeps_type(const op_call *call) {
  const rheos_dtype dtype = rheos_tensor_dtype(call->values[0]);
  for (size_t i = 0; i < call->attrs.count; ++i) {
    const rheos_attr_value *value = &call->attrs.items[i].value;
    if (value->kind == RHEOS_ATTR_TYPE && value->type == dtype) return true;
  }
  return false;
}

static bool fits(const op_function *f, const op_call *call) {
  if (f->numbers && !is_of_numbers(f->numbers, rheos_tensor_dtype(call->values[0]))) return false;
  if (f->max_rank < 0) return true;
  int largest = 0;
  for (int i = 0; i < call->num_values; ++i) {
    const int rank = rheos_tensor_shape(call->values[i])->rank;
    if (rank < f->min_rank) return false;
    if (rank > largest) largest = rank;
  }
  return largest <= f->max_rank;
}

static bool has_tensor(PyObject *value) {
  if (eager_value(value) || is_eager_variable(value)) return true;
  if (PyList_CheckExact(value) && PyList_GET_SIZE(value) > 0) {
    return has_tensor(PyList_GET_ITEM(value, 0));
  }
  return PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) > 0 &&
         has_tensor(PyTuple_GET_ITEM(value, 0));
}

static bool add_list(op_call *call, int place, PyObject *value) {
  if (!PyLong_CheckExact(value)) return op_call_attr(call, place, value);
  PyObject *list = PyTuple_Pack(1, value);
  const bool is_added = list && op_call_attr(call, place, list);
  Py_XDECREF(list);
  return is_added;
}

// Fills in the inputs and adds the attributes. `out_made`: an input that was made, the caller's.
static bool distribute(const op_function *f, PyObject **bound, op_call *call, PyObject **inputs,
                       PyObject **out_made) {
  for (int i = 0; i < f->num_parameters; ++i) {
    const parameter *p = &f->parameters[i];
    switch (p->role) {
      case role_default:
        if (!is_default(f, i, bound[i])) return false;
        break;
      case role_name:
        if (bound[i] != Py_None && !PyUnicode_Check(bound[i])) return false;
        break;
      case role_attr:
        if (!op_call_attr(call, p->place, bound[i])) return false;
        break;
      case role_list_attr:
        if (!add_list(call, p->place, bound[i])) return false;
        break;
      case role_all_axes:
      case role_reversed:
        if (bound[i] == Py_None) {
          if (!eager_value(inputs[0])) return false;
          *out_made = axes_of(eager_value(inputs[0]), p->role == role_reversed);
          if (!*out_made) return false;
          bound[i] = *out_made;
        }
        inputs[p->place] = bound[i];
        break;
      case role_input: inputs[p->place] = bound[i] == Py_None ? p->otherwise : bound[i]; break;
    }
  }
  if (f->no_variables && is_variable(inputs[0])) return false;
  if (f->numbers) return has_tensor(inputs[0]);
  return has_tensor(inputs[0]) || (call->plan->num_inputs > 1 && has_tensor(inputs[1]));
}

// NULL: an exception, or none: the Python function is called.
static PyObject *run_here(const op_function *f, PyObject *const *args, Py_ssize_t count,
                          PyObject *names) {
  PyObject *bound[max_parameters], *inputs[max_plan_inputs] = {NULL}, *made = NULL, *result = NULL;
  if (!bind(f, args, count, names, bound)) return NULL;
  op_call call;
  op_call_init(&call, f->plan);
  if (distribute(f, bound, &call, inputs, &made) && op_call_inputs(&call, inputs) &&
      fits(f, &call)) {
    if (f->changes_type && keeps_type(&call))
      result = is_plain_value(inputs[0]) ? NULL : Py_NewRef(inputs[0]);
    else
      result = op_call_run(&call);
  } else {
    PyErr_Clear();
  }
  op_call_deinit(&call);
  Py_XDECREF(made);
  return result;
}

// Finds the op and the places of its attributes; false with an exception.
static bool need_plan(op_function *f) {
  const op_plan *plan = op_plan_of(f->type);
  if (!plan) return false;
  int num_inputs = 0;
  for (int i = 0; i < f->num_parameters; ++i) {
    parameter *p = &f->parameters[i];
    const bool is_input = p->role >= role_input;
    if (p->attr) p->place = (int)op_plan_attr(plan, p->attr);
    num_inputs += is_input;
    if (p->place >= 0 && (!is_input || p->place < plan->num_inputs)) continue;
    PyErr_Format(PyExc_TypeError, "%U has no place for parameter '%U'", f->type,
                 PyTuple_GET_ITEM(f->names, i));
    return false;
  }
  if (plan->can_run && num_inputs != plan->num_inputs) {
    PyErr_Format(PyExc_TypeError, "%U has %d inputs, not %d", f->type, plan->num_inputs,
                 num_inputs);
    return false;
  }
  f->plan = plan;
  return true;
}

static PyObject *call_function(PyObject *self, PyObject *const *args, size_t count_and_flag,
                               PyObject *names) {
  op_function *f = (op_function *)self;
  if (executing_eagerly()) {
    if (!f->plan && !need_plan(f)) return NULL;
    PyObject *result =
        f->plan->can_run ? run_here(f, args, PyVectorcall_NARGS(count_and_flag), names) : NULL;
    if (result) return result;
    if (PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
      PyErr_Clear();  // the Python function says it in its own way
    }
  }
  return PyObject_Vectorcall(f->function, args, count_and_flag, names);
}

// ---- Making one

static int read_role(op_function *f, int i, PyObject *role) {
  parameter *p = &f->parameters[i];
  const char *kind;
  PyObject *value;
  p->otherwise = Py_None;
  if (!PyArg_ParseTuple(role, "sO|O", &kind, &value, &p->otherwise)) return -1;
  p->role = strcmp(kind, "input") == 0      ? role_input
            : strcmp(kind, "axes") == 0     ? role_all_axes
            : strcmp(kind, "reversed") == 0 ? role_reversed
            : strcmp(kind, "attr") == 0     ? role_attr
            : strcmp(kind, "list") == 0     ? role_list_attr
            : strcmp(kind, "name") == 0     ? role_name
                                            : role_default;
  if (p->role == role_attr || p->role == role_list_attr) {
    p->attr = value;
  } else if (p->role >= role_input) {
    p->place = (int)PyLong_AsLong(value);
    if (PyErr_Occurred()) return -1;
    if (p->place < 0 || p->place >= max_plan_inputs) {
      PyErr_SetString(PyExc_ValueError, "too many inputs");
      return -1;
    }
  }
  return 0;
}

static int read_limits(op_function *f, PyObject *ranks, PyObject *numbers) {
  f->min_rank = 0;
  f->max_rank = -1;
  if (ranks != Py_None && !PyArg_ParseTuple(ranks, "ii", &f->min_rank, &f->max_rank)) return -1;
  if (numbers == Py_None) return 0;
  f->numbers = text_of(numbers);
  return f->numbers ? 0 : -1;
}

PyDoc_STRVAR(
    op_function_doc,
    "OpFunction(function, op_type, names, num_positional, defaults, roles, ranks, numbers, "
    "changes_type, no_variables)\n\n"
    "The function, which runs one operation at once where it can. names, defaults: of its "
    "parameters. roles: by parameter, (what for, place or attribute, value for None). The "
    "rest as runs_op() takes it.");
static PyObject *op_function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *function, *op, *names, *defaults, *roles, *ranks, *numbers;
  int num_positional, changes_type, no_variables;
  if (kwargs && PyDict_GET_SIZE(kwargs) > 0) {
    PyErr_SetString(PyExc_TypeError, "OpFunction takes no keyword arguments");
    return NULL;
  }
  if (!PyArg_ParseTuple(args, "OUO!iO!O!OOpp", &function, &op, &PyTuple_Type, &names,
                        &num_positional, &PyTuple_Type, &defaults, &PyTuple_Type, &roles, &ranks,
                        &numbers, &changes_type, &no_variables)) {
    return NULL;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(names);
  if (count > max_parameters || PyTuple_GET_SIZE(roles) != count ||
      PyTuple_GET_SIZE(defaults) > count || num_positional > count) {
    PyErr_SetString(PyExc_ValueError, "the parameters do not fit each other");
    return NULL;
  }
  op_function *f = (op_function *)type->tp_alloc(type, 0);
  if (!f) return NULL;
  f->vectorcall = call_function;
  f->function = Py_NewRef(function);
  f->type = Py_NewRef(op);
  f->names = Py_NewRef(names);
  f->defaults = Py_NewRef(defaults);
  f->roles = PyTuple_Pack(2, roles, numbers);
  f->num_parameters = (int)count;
  f->num_positional = num_positional;
  f->num_defaults = (int)PyTuple_GET_SIZE(defaults);
  f->changes_type = changes_type;
  f->no_variables = no_variables;
  int failed = f->roles ? read_limits(f, ranks, numbers) : -1;
  for (int i = 0; i < count && !failed; ++i) failed = read_role(f, i, PyTuple_GET_ITEM(roles, i));
  if (!failed) return (PyObject *)f;
  Py_DECREF(f);
  return NULL;
}

static int op_function_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(((op_function *)self)->function);
  Py_VISIT(((op_function *)self)->dict);
  Py_VISIT(((op_function *)self)->defaults);
  return 0;
}

static int op_function_clear(PyObject *self) {
  Py_CLEAR(((op_function *)self)->function);
  Py_CLEAR(((op_function *)self)->dict);
  return 0;
}

static void op_function_dealloc(PyObject *self) {
  op_function *f = (op_function *)self;
  PyObject_GC_UnTrack(self);
  if (f->weak_references) PyObject_ClearWeakRefs(self);
  op_function_clear(self);
  Py_CLEAR(f->type);
  Py_CLEAR(f->names);
  Py_CLEAR(f->defaults);
  Py_CLEAR(f->roles);
  Py_TYPE(self)->tp_free(self);
}

// ---- Looking like the function

static PyObject *op_function_getattro(PyObject *self, PyObject *name) {
  PyObject *found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_GetAttr(((op_function *)self)->function, name);
}

static PyObject *op_function_bind(PyObject *self, PyObject *object, PyObject *type) {
  (void)type;
  return !object || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

static PyObject *op_function_repr(PyObject *self) {
  return PyObject_Repr(((op_function *)self)->function);
}

// Programs ask whether what they are given is a function.
static PyObject *op_function_class(PyObject *self, void *unused) {
  (void)self, (void)unused;
  return Py_NewRef((PyObject *)&PyFunction_Type);
}

static PyObject *op_function_reduce(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyObject_GetAttrString(self, "__qualname__");
}

static PyObject *op_function_deepcopy(PyObject *self, PyObject *unused) {
  (void)unused;
  return Py_NewRef(self);
}

static PyMethodDef op_function_methods[] = {
    {"__reduce__", op_function_reduce, METH_NOARGS, "Pickled by name."},
    {"__copy__", op_function_deepcopy, METH_NOARGS, "Itself."},
    {"__deepcopy__", op_function_deepcopy, METH_O, "Itself."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef op_function_getters[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"__class__", op_function_class, NULL, "That of functions.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject op_function_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.OpFunction",
    .tp_basicsize = sizeof(op_function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_doc = op_function_doc,
    .tp_new = op_function_new,
    .tp_dealloc = op_function_dealloc,
    .tp_traverse = op_function_traverse,
    .tp_clear = op_function_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(op_function, vectorcall),
    .tp_dictoffset = offsetof(op_function, dict),
    .tp_weaklistoffset = offsetof(op_function, weak_references),
    .tp_getattro = op_function_getattro,
    .tp_descr_get = op_function_bind,
    .tp_repr = op_function_repr,
    .tp_methods = op_function_methods,
    .tp_getset = op_function_getters,
};

int op_function_init(PyObject *module) { return PyModule_AddType(module, &op_function_type); }
