// Calls of traced functions that were made before with arguments like these. What a call comes down to is
// remembered by dtypes and shapes of tensors and by values of Python: the region that runs the function, what
// it captures and which variables tapes are told of. Other calls are the package's, which says what to
// remember of them.

#include "traced_call.h"

#include <stddef.h>
#include <string.h>

#include "attr.h"
#include "eager_object.h"

enum { max_arguments = 64, max_entries = 256, few_outputs = 16 };

typedef struct argument {
  PyObject *value;  // owned: a value of Python; NULL: a tensor
  rheos_dtype dtype;
  rheos_shape shape;
} argument;

typedef enum result_form { result_other, result_none, result_tensor, result_tuple } result_form;

typedef struct entry {
  struct entry *next;  // the next one that was used less recently
  argument *arguments;
  Py_ssize_t count, num_names;
  PyObject *names;     // of the last `num_names` arguments, a tuple
  PyObject *concrete;  // what structures the results; NULL: what is called
  PyObject *captures;  // a list of eager tensors
  PyObject *touched;   // a list of variables
  PyObject *type;      // the op that calls, str
  rheos_region *region;
  int64_t epoch;
  result_form form;
} entry;

typedef struct traced_object {
  PyObject_HEAD entry *entries;  // the latest first
  int32_t num_entries;
  int64_t num_calls;  // that were found here since the package asked
  PyObject *weak_references;
} traced_object;

static int64_t current_epoch;  // changes where prepared operations are forgotten
static bool runs_eagerly;      // functions are called as Python

void traced_calls_forget(void) { ++current_epoch; }

// ---- Entries

static void free_entry(entry *e) {
  for (Py_ssize_t i = 0; i < e->count; ++i) Py_XDECREF(e->arguments[i].value);
  PyMem_Free(e->arguments);
  Py_XDECREF(e->names);
  Py_XDECREF(e->concrete);
  Py_XDECREF(e->captures);
  Py_XDECREF(e->touched);
  Py_XDECREF(e->type);
  rheos_region_unref(e->region);
  PyMem_Free(e);
}

static void forget_all(traced_object *self) {
  entry *e = self->entries;
  self->entries = NULL;
  self->num_entries = 0;
  while (e) {
    entry *next = e->next;
    free_entry(e);
    e = next;
  }
}

static bool is_value(PyObject *value) {
  return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) ||
         PyFloat_CheckExact(value) || PyUnicode_CheckExact(value);
}

static bool fits(const argument *a, PyObject *value) {
  if (a->value) {
    if (a->value == value) return true;
    if (Py_TYPE(a->value) != Py_TYPE(value)) return false;
    return PyObject_RichCompareBool(a->value, value, Py_EQ) > 0;
  }
  const rheos_tensor *tensor = eager_value(value);
  return tensor && rheos_tensor_dtype(tensor) == a->dtype &&
         rheos_shape_equal(rheos_tensor_shape(tensor), &a->shape);
}

// By position, then by keyword. False: there are too many.
static bool list_arguments(PyObject *args, PyObject *kwargs, PyObject **values, PyObject **names,
                           Py_ssize_t *out_count, Py_ssize_t *out_num_names) {
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  const Py_ssize_t more = kwargs ? PyDict_GET_SIZE(kwargs) : 0;
  if (count + more > max_arguments) return false;
  for (Py_ssize_t i = 0; i < count; ++i) values[i] = PyTuple_GET_ITEM(args, i);
  Py_ssize_t position = 0, n = 0;
  while (kwargs && PyDict_Next(kwargs, &position, &names[n], &values[count + n])) ++n;
  *out_count = count + n;
  *out_num_names = n;
  return n == more;
}

static bool is_for(const entry *e, PyObject *const *values, Py_ssize_t count,
                   PyObject *const *names, Py_ssize_t num_names) {
  if (e->count != count || e->num_names != num_names) return false;
  for (Py_ssize_t i = 0; i < num_names; ++i) {
    PyObject *mine = PyTuple_GET_ITEM(e->names, i);
    if (mine != names[i] && PyUnicode_Compare(mine, names[i]) != 0) return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!fits(&e->arguments[i], values[i])) return false;
  }
  return true;
}

// The entry, which becomes the first; NULL if there is none.
static entry *find(traced_object *self, PyObject *const *values, Py_ssize_t count,
                   PyObject *const *names, Py_ssize_t num_names) {
  for (entry **link = &self->entries; *link; link = &(*link)->next) {
    entry *e = *link;
    if (!is_for(e, values, count, names, num_names)) continue;
    *link = e->next;
    e->next = self->entries;
    self->entries = e;
    return e;
  }
  return NULL;
}

// ---- Calls

static PyObject *tensors_take(rheos_tensor **outputs, int32_t count, bool is_tuple) {
  PyObject *all = is_tuple ? PyTuple_New(count) : PyList_New(count);
  bool failed = !all;
  for (int32_t i = 0; i < count; ++i) {
    PyObject *tensor = failed ? NULL : eager_tensor_take(outputs[i]);
    if (failed) rheos_tensor_unref(outputs[i]);
    if (!tensor)
      failed = true;
    else if (is_tuple)
      PyTuple_SET_ITEM(all, i, tensor);
    else
      PyList_SET_ITEM(all, i, tensor);
  }
  if (failed) Py_CLEAR(all);
  return all;
}

static PyObject *results_take(result_form form, PyObject *concrete, rheos_tensor **outputs,
                              int32_t count) {
  if (form == result_tensor && count == 1) return eager_tensor_take(outputs[0]);
  PyObject *all = tensors_take(outputs, count, form == result_tuple);
  if (!all || form == result_tuple) return all;
  PyObject *results = form == result_none ? Py_NewRef(Py_None)
                                          : PyObject_CallMethod(concrete, "_structured", "O", all);
  Py_DECREF(all);
  return results;
}

static bool touch_all(PyObject *variables) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(variables); ++i) {
    variable_object *variable = (variable_object *)PyList_GET_ITEM(variables, i);
    if (variable->trainable == Py_True && !tapes_watch((PyObject *)variable, variable->handle)) {
      return false;
    }
  }
  return true;
}

// Runs what the entry says. The entry may go while it runs: nothing of it is used afterwards.
static PyObject *run_entry(PyObject *self, const entry *e, PyObject *const *values) {
  rheos_tensor *few_inputs[2 * max_arguments], *few[few_outputs] = {NULL};
  rheos_tensor **inputs = few_inputs, **outputs = few;
  const Py_ssize_t num_captures = PyList_GET_SIZE(e->captures);
  const int32_t num_outputs = rheos_region_num_outputs(e->region);
  if (e->count + num_captures > 2 * max_arguments) {
    inputs = PyMem_Calloc((size_t)(e->count + num_captures), sizeof(rheos_tensor *));
  }
  if (num_outputs > few_outputs) {
    outputs = PyMem_Calloc((size_t)num_outputs, sizeof(rheos_tensor *));
  }
  PyObject *result = NULL;
  if (!inputs || !outputs) {
    PyErr_NoMemory();
  } else {
    int32_t at = 0;
    for (Py_ssize_t i = 0; i < e->count; ++i) {
      if (!e->arguments[i].value) inputs[at++] = eager_value(values[i]);
    }
    for (Py_ssize_t i = 0; i < num_captures; ++i) {
      inputs[at++] = eager_value(PyList_GET_ITEM(e->captures, i));
    }
    PyObject *concrete = Py_NewRef(e->concrete ? e->concrete : self),
             *captures = Py_NewRef(e->captures);
    PyObject *type = Py_NewRef(e->type);
    rheos_region *region = rheos_region_ref(e->region);
    const result_form form = e->form;
    if (eager_run_region(region, inputs, outputs, PyUnicode_AsUTF8(type)) == 0) {
      result = results_take(form, concrete, outputs, num_outputs);
    }
    rheos_region_unref(region);
    Py_DECREF(type);
    Py_DECREF(captures);
    Py_DECREF(concrete);
  }
  if (inputs != few_inputs) PyMem_Free(inputs);
  if (outputs != few) PyMem_Free(outputs);
  return result;
}

static PyObject *call_slowly(PyObject *self, PyObject *args, PyObject *kwargs) {
  PyObject *method = PyObject_GetAttrString(self, "_call_slowly");
  PyObject *result = method ? PyObject_Call(method, args, kwargs) : NULL;
  Py_XDECREF(method);
  return result;
}

static PyObject *traced_call(PyObject *object, PyObject *args, PyObject *kwargs) {
  traced_object *self = (traced_object *)object;
  PyObject *values[max_arguments], *names[max_arguments];
  Py_ssize_t count, num_names;
  if (!self->entries || runs_eagerly || !executing_eagerly() ||
      !list_arguments(args, kwargs, values, names, &count, &num_names)) {
    return call_slowly(object, args, kwargs);
  }
  entry *e = find(self, values, count, names, num_names);
  if (e && e->epoch != current_epoch) {
    forget_all(self);
    e = NULL;
  }
  if (!e || PyErr_Occurred()) {
    PyErr_Clear();
    return call_slowly(object, args, kwargs);
  }
  ++self->num_calls;
  PyObject *touched = Py_NewRef(e->touched);
  const bool is_told = PyList_GET_SIZE(touched) == 0 || touch_all(touched);
  Py_DECREF(touched);
  if (!is_told) return NULL;
  if (self->entries != e) e = find(self, values, count, names, num_names);  // telling runs Python
  return e ? run_entry(object, e, values) : call_slowly(object, args, kwargs);
}

// ---- What is remembered

static bool set_arguments(entry *e, PyObject *const *values) {
  e->arguments = PyMem_Calloc((size_t)e->count + 1, sizeof *e->arguments);
  if (!e->arguments) return false;
  for (Py_ssize_t i = 0; i < e->count; ++i) {
    const rheos_tensor *tensor = eager_value(values[i]);
    if (tensor) {
      e->arguments[i].dtype = rheos_tensor_dtype(tensor);
      e->arguments[i].shape = *rheos_tensor_shape(tensor);
    } else if (is_value(values[i])) {
      e->arguments[i].value = Py_NewRef(values[i]);
    } else {
      return false;
    }
  }
  return true;
}

// Whether the tensors that the function was called with are those among the arguments, in order. One given by
// two names would hide that the names are in another order than the parameters.
static bool are_arguments(PyObject *tensors, PyObject *const *values, Py_ssize_t count,
                          Py_ssize_t num_names) {
  Py_ssize_t at = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!eager_value(values[i])) continue;
    if (at == PyList_GET_SIZE(tensors) || PyList_GET_ITEM(tensors, at) != values[i]) return false;
    for (Py_ssize_t k = count - num_names; k < i; ++k) {
      if (values[k] == values[i]) return false;
    }
    ++at;
  }
  return at == PyList_GET_SIZE(tensors);
}

static bool are_eager(PyObject *list) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    if (!eager_value(PyList_GET_ITEM(list, i))) return false;
  }
  return true;
}

static bool are_variables(PyObject *list) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    if (!is_eager_variable(PyList_GET_ITEM(list, i))) return false;
  }
  return true;
}

// The region that calls the function with such arguments; NULL without an exception if there is none.
static rheos_region *region_for(PyObject *tensors, PyObject *captures, PyObject *type,
                                PyObject *attr_values) {
  PyObject *all = PySequence_Concat(tensors, captures);
  rheos_eager_op op = {.type = PyUnicode_AsUTF8(type)};
  rheos_tensor **inputs = all ? eager_values(all, &op.num_inputs) : NULL;
  rheos_region *region = NULL;
  attr_list attrs;
  if (inputs && attr_list_init(&attrs, attr_values) == 0) {
    op.inputs = inputs;
    op.attrs = attrs.items;
    op.num_attrs = attrs.count;
    rheos_status_free(rheos_eager_region(eager_context(), &op, &region));
    attr_list_deinit(&attrs);
  }
  PyErr_Clear();
  PyMem_Free(inputs);
  Py_XDECREF(all);
  return region;
}

static void drop_oldest(traced_object *self) {
  entry **link = &self->entries;
  while (*link && (*link)->next) link = &(*link)->next;
  entry *oldest = *link;
  if (!oldest) return;
  *link = NULL;
  --self->num_entries;
  free_entry(oldest);
}

PyDoc_STRVAR(
    remember_doc,
    "_remember(args, kwargs, tensors, concrete, form, op_type, attrs, captures, touched)\n\n"
    "Has calls with arguments like these come down to the operation, on `tensors`, which "
    "have to be those among the arguments, and on `captures`. form: 'tensor', 'none', "
    "'tuple', or '': concrete._structured() makes the results of a list.");
static PyObject *remember(PyObject *object, PyObject *args) {
  traced_object *self = (traced_object *)object;
  PyObject *given, *by_name, *tensors, *concrete, *type, *attrs, *captures, *touched;
  const char *form;
  if (!PyArg_ParseTuple(args, "O!O!O!OsUO!O!O!", &PyTuple_Type, &given, &PyDict_Type, &by_name,
                        &PyList_Type, &tensors, &concrete, &form, &type, &PyList_Type, &attrs,
                        &PyList_Type, &captures, &PyList_Type, &touched)) {
    return NULL;
  }
  PyObject *values[max_arguments], *names[max_arguments];
  Py_ssize_t count, num_names;
  if (!list_arguments(given, by_name, values, names, &count, &num_names) ||
      !are_arguments(tensors, values, count, num_names) || !are_eager(captures) ||
      !are_variables(touched)) {
    Py_RETURN_NONE;
  }
  entry *e = PyMem_Calloc(1, sizeof *e);
  if (!e) return PyErr_NoMemory();
  e->count = count;
  e->num_names = num_names;
  e->concrete = concrete == object ? NULL : Py_NewRef(concrete);
  e->captures = PySequence_List(captures);
  e->touched = PySequence_List(touched);
  e->type = Py_NewRef(type);
  e->names = PyTuple_New(num_names);
  e->epoch = current_epoch;
  e->form = strcmp(form, "tensor") == 0  ? result_tensor
            : strcmp(form, "none") == 0  ? result_none
            : strcmp(form, "tuple") == 0 ? result_tuple
                                         : result_other;
  if (e->names && e->captures && e->touched && set_arguments(e, values)) {
    for (Py_ssize_t i = 0; i < num_names; ++i) PyTuple_SET_ITEM(e->names, i, Py_NewRef(names[i]));
    e->region = region_for(tensors, captures, type, attrs);
  }
  if (!e->region) {
    free_entry(e);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
  }
  if (self->num_entries >= max_entries) drop_oldest(self);
  e->next = self->entries;
  self->entries = e;
  ++self->num_entries;
  Py_RETURN_NONE;
}

static PyObject *forget(PyObject *self, PyObject *unused) {
  (void)unused;
  forget_all((traced_object *)self);
  Py_RETURN_NONE;
}

static PyObject *take_calls(PyObject *self, PyObject *unused) {
  (void)unused;
  const int64_t count = ((traced_object *)self)->num_calls;
  ((traced_object *)self)->num_calls = 0;
  return PyLong_FromLongLong(count);
}

// ---- The type

static int traced_traverse(PyObject *object, visitproc visit, void *arg) {
  for (const entry *e = ((traced_object *)object)->entries; e; e = e->next) {
    Py_VISIT(e->concrete);
    Py_VISIT(e->captures);
    Py_VISIT(e->touched);
  }
  return 0;
}

static int traced_clear(PyObject *object) {
  forget_all((traced_object *)object);
  return 0;
}

static void traced_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  if (((traced_object *)object)->weak_references) PyObject_ClearWeakRefs(object);
  traced_clear(object);
  Py_TYPE(object)->tp_free(object);
}

static PyMethodDef traced_methods[] = {
    {"_remember", remember, METH_VARARGS, remember_doc},
    {"_forget", forget, METH_NOARGS, "_forget(): all that was remembered."},
    {"_take_calls", take_calls, METH_NOARGS, "How many calls were remembered ones since then."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject traced_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.TracedBase",
    .tp_basicsize = sizeof(traced_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc =
        "A function that is traced: remembers what calls come down to; others are "
        "_call_slowly().",
    .tp_new = PyType_GenericNew,
    .tp_dealloc = traced_dealloc,
    .tp_traverse = traced_traverse,
    .tp_clear = traced_clear,
    .tp_call = traced_call,
    .tp_weaklistoffset = offsetof(traced_object, weak_references),
    .tp_methods = traced_methods,
};

static PyObject *run_traced_eagerly(PyObject *module, PyObject *value) {
  (void)module;
  const int truth = PyObject_IsTrue(value);
  if (truth < 0) return NULL;
  runs_eagerly = truth;
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_run_traced_eagerly", run_traced_eagerly, METH_O,
     "_run_traced_eagerly(bool): no call is a remembered one."},
    {NULL, NULL, 0, NULL},
};

int traced_init_types(PyObject *module) {
  if (PyModule_AddType(module, &traced_type) < 0) return -1;
  return PyModule_AddFunctions(module, functions);
}
