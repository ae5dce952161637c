// Tapes as the package sees them; GradientTape is made of one.

#include <rheos/front_end.h>
#include <string.h>

#include "eager_object.h"

typedef struct tape_object {
  PyObject_HEAD rheos_tape *tape;
} tape_object;

static PyObject *tape_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)args, (void)kwargs;
  tape_object *self = (tape_object *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  rheos_status *status = rheos_tape_new(eager_context(), &self->tape);
  if (!status) return (PyObject *)self;
  Py_DECREF(self);
  raise_run_error_take(status, NULL);
  return NULL;
}

static void tape_dealloc(PyObject *object) {
  rheos_tape_free(((tape_object *)object)->tape);
  Py_TYPE(object)->tp_free(object);
}

static PyObject *done(rheos_status *status) {
  if (!status) Py_RETURN_NONE;
  raise_run_error_take(status, NULL);
  return NULL;
}

static PyObject *tape_record(PyObject *self, PyObject *unused) {
  (void)unused;
  return done(rheos_tape_record(((tape_object *)self)->tape));
}

static PyObject *tape_stop(PyObject *self, PyObject *unused) {
  (void)unused;
  rheos_tape_stop(((tape_object *)self)->tape);
  Py_RETURN_NONE;
}

static PyObject *tape_reset(PyObject *self, PyObject *unused) {
  (void)unused;
  rheos_tape_reset(((tape_object *)self)->tape);
  Py_RETURN_NONE;
}

static PyObject *tape_watch(PyObject *self, PyObject *tensor) {
  rheos_tensor *value = eager_value(tensor);
  if (value) return done(rheos_tape_watch(((tape_object *)self)->tape, value));
  PyErr_Format(PyExc_TypeError, "expected an eager tensor, got %R", tensor);
  return NULL;
}

static PyObject *tape_is_watched(PyObject *self, PyObject *tensor) {
  rheos_tensor *value = eager_value(tensor);
  return PyBool_FromLong(rheos_tape_is_watched(((tape_object *)self)->tape, value));
}

// None, a tensor, or (values, indices, dense_shape). Takes the references.
static PyObject *gradient_to_python_take(rheos_tensor_gradient *gradient) {
  if (!gradient->values) Py_RETURN_NONE;
  PyObject *values = eager_tensor_take(gradient->values);
  if (!gradient->indices) return values;
  PyObject *indices = eager_tensor_take(gradient->indices);
  PyObject *shape =
      gradient->dense_shape ? eager_tensor_take(gradient->dense_shape) : Py_NewRef(Py_None);
  PyObject *all = values && indices && shape ? PyTuple_Pack(3, values, indices, shape) : NULL;
  Py_XDECREF(values);
  Py_XDECREF(indices);
  Py_XDECREF(shape);
  return all;
}

static PyObject *gradients_to_python_take(rheos_tensor_gradient *gradients, size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; i < count; ++i) {
    PyObject *gradient = gradient_to_python_take(&gradients[i]);
    if (gradient && list)
      PyList_SET_ITEM(list, (Py_ssize_t)i, gradient);
    else
      Py_CLEAR(list);
  }
  return list;
}

// By target: a tensor, or NULL where there is None.
static int weights_from_python(PyObject *items, rheos_tensor **weights) {
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(items, i);
    weights[i] = eager_value(item);
    if (weights[i] || item == Py_None) continue;
    PyErr_Format(PyExc_TypeError, "expected an eager tensor or None, got %R", item);
    return -1;
  }
  return 0;
}

static void raise_gradient_error_take(rheos_status *status) {
  PyObject *failed = package.failed_gradient;
  package.failed_gradient = NULL;
  if (failed && !PyErr_Occurred()) Py_XDECREF(PyObject_CallNoArgs(failed));
  Py_XDECREF(failed);
  if (PyErr_Occurred()) {
    rheos_status_free(status);
  } else if (rheos_status_code(status) == RHEOS_NOT_FOUND) {
    PyErr_SetString(PyExc_LookupError, rheos_status_message(status));
    rheos_status_free(status);
  } else {
    raise_run_error_take(status, NULL);
  }
}

typedef struct gradient_call {
  rheos_tensor **targets, **sources, **weights;
  size_t num_targets, num_sources;
  rheos_tensor_gradient *gradients;
} gradient_call;

// The gradients as outputs of one operation, by source; false with an exception, and gone then.
static bool are_gradients_sound(const gradient_call *call) {
  rheos_tensor **values = PyMem_Calloc(call->num_sources + 1, sizeof *values);
  if (!values) PyErr_NoMemory();
  for (size_t i = 0; values && i < call->num_sources; ++i) values[i] = call->gradients[i].values;
  const eager_ran ran = {.type = "GradientTape.gradient",
                         .outputs = values,
                         .num_outputs = (int32_t)call->num_sources};
  const bool is_sound = values && eager_check_numbers(&ran) == 0;
  for (size_t i = 0; !is_sound && i < call->num_sources; ++i) {
    rheos_tensor_unref(call->gradients[i].values);
    rheos_tensor_unref(call->gradients[i].indices);
    rheos_tensor_unref(call->gradients[i].dense_shape);
  }
  PyMem_Free(values);
  return is_sound;
}

static PyObject *call_gradient(rheos_tape *tape, gradient_call *call) {
  call->gradients = PyMem_Calloc(call->num_sources + 1, sizeof *call->gradients);
  if (!call->gradients) return PyErr_NoMemory();
  Py_CLEAR(package.failed_gradient);
  rheos_status *status;
  Py_BEGIN_ALLOW_THREADS  // functions of the program may be called by several threads
      status = rheos_tape_gradient(tape, call->targets, call->num_targets, call->weights,
                                   call->sources, call->num_sources, call->gradients);
  Py_END_ALLOW_THREADS;
  if (status) {
    raise_gradient_error_take(status);
    return NULL;
  }
  if (eager_numbers_are_checked() && !are_gradients_sound(call)) return NULL;
  return gradients_to_python_take(call->gradients, call->num_sources);
}

PyDoc_STRVAR(gradient_doc,
             "_gradient(targets, sources, output_gradients): by source None, a tensor, or a tuple "
             "(values, indices, dense_shape).");
static PyObject *tape_gradient(PyObject *self, PyObject *args) {
  PyObject *targets, *sources, *weights;
  if (!PyArg_ParseTuple(args, "O!O!O!", &PyList_Type, &targets, &PyList_Type, &sources,
                        &PyList_Type, &weights)) {
    return NULL;
  }
  gradient_call call = {0};
  PyObject *result = NULL;
  call.targets = eager_values(targets, &call.num_targets);
  call.sources = call.targets ? eager_values(sources, &call.num_sources) : NULL;
  call.weights = PyMem_Calloc(call.num_targets + 1, sizeof *call.weights);
  if (call.sources && !call.weights) PyErr_NoMemory();
  if (call.sources && call.weights) {
    if ((size_t)PyList_GET_SIZE(weights) != call.num_targets)
      PyErr_SetString(PyExc_ValueError, "as many output gradients as targets are needed");
    else if (weights_from_python(weights, call.weights) == 0)
      result = call_gradient(((tape_object *)self)->tape, &call);
  }
  PyMem_Free(call.targets);
  PyMem_Free(call.sources);
  PyMem_Free(call.weights);
  PyMem_Free(call.gradients);
  return result;
}

// The value of a tensor, or the handle of a variable, that has one.
static rheos_tensor *known_by(PyObject *source) {
  if (is_eager_variable(source) && ((variable_object *)source)->handle) {
    return eager_value(((variable_object *)source)->handle);
  }
  return eager_value(source);
}

static bool are_at_once(PyObject *target, PyObject *sources) {
  if (!eager_value(target) || !PyList_CheckExact(sources)) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(sources); ++i) {
    if (!known_by(PyList_GET_ITEM(sources, i))) return false;
  }
  return true;
}

// Gradients of rows are what the package makes of them.
static int finish_gradients(PyObject *list, PyObject *finish) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    if (!PyTuple_Check(PyList_GET_ITEM(list, i))) continue;
    PyObject *finished = PyObject_CallOneArg(finish, PyList_GET_ITEM(list, i));
    if (!finished || PyList_SetItem(list, i, finished) < 0) return -1;
  }
  return 0;
}

PyDoc_STRVAR(plain_gradient_doc,
             "_plain_gradient(target, sources, finish): the gradients by a list of tensors and "
             "variables, finish() of those that are tuples; None: one of all has no value.");
static PyObject *tape_plain_gradient(PyObject *self, PyObject *args) {
  PyObject *target, *sources, *finish;
  if (!PyArg_ParseTuple(args, "OO!O", &target, &PyList_Type, &sources, &finish)) return NULL;
  if (!are_at_once(target, sources)) Py_RETURN_NONE;
  const Py_ssize_t count = PyList_GET_SIZE(sources);
  rheos_tensor *value = eager_value(target);
  gradient_call call = {.targets = &value, .num_targets = 1, .num_sources = (size_t)count};
  call.sources = PyMem_Calloc((size_t)count + 1, sizeof *call.sources);
  if (!call.sources) return PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count; ++i) {
    call.sources[i] = rheos_tensor_ref(known_by(PyList_GET_ITEM(sources, i)));
  }
  PyObject *found = call_gradient(((tape_object *)self)->tape, &call);
  if (found && finish_gradients(found, finish) < 0) Py_CLEAR(found);
  for (Py_ssize_t i = 0; i < count; ++i) rheos_tensor_unref(call.sources[i]);
  PyMem_Free(call.sources);
  PyMem_Free(call.gradients);
  return found;
}

static PyObject *are_all_at_once(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *target, *sources;
  if (!PyArg_ParseTuple(args, "OO", &target, &sources)) return NULL;
  return PyBool_FromLong(are_at_once(target, sources));
}

static PyMethodDef tape_methods[] = {
    {"_record", tape_record, METH_NOARGS, "_record()"},
    {"_stop", tape_stop, METH_NOARGS, "_stop()"},
    {"_reset", tape_reset, METH_NOARGS, "_reset()"},
    {"_watch", tape_watch, METH_O, "_watch(tensor)"},
    {"_is_watched", tape_is_watched, METH_O, "_is_watched(tensor)"},
    {"_plain_gradient", tape_plain_gradient, METH_VARARGS, plain_gradient_doc},
    {"_gradient", tape_gradient, METH_VARARGS, gradient_doc},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject tape_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.TapeBase",
    .tp_basicsize = sizeof(tape_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "A tape of the C library.",
    .tp_new = tape_new,
    .tp_dealloc = tape_dealloc,
    .tp_methods = tape_methods,
};

// ---- Gradients of the program

// `argument` is a function of a list of tensors that gives a list of None, tensors and triples.
static rheos_status *call_backward(void *argument, rheos_tensor *const *out_gradients,
                                   size_t num_outputs, rheos_tensor_gradient *in_gradients,
                                   size_t num_inputs) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *list = PyList_New((Py_ssize_t)num_outputs);
  for (size_t i = 0; list && i < num_outputs; ++i) {
    PyObject *tensor = eager_tensor_take(rheos_tensor_ref(out_gradients[i]));
    if (tensor)
      PyList_SET_ITEM(list, (Py_ssize_t)i, tensor);
    else
      Py_CLEAR(list);
  }
  PyObject *answer = list ? PyObject_CallOneArg(argument, list) : NULL;
  PyObject *items = answer ? PySequence_Fast(answer, "expected a list of gradients") : NULL;
  if (items && PySequence_Fast_GET_SIZE(items) != (Py_ssize_t)num_inputs) {
    PyErr_Format(PyExc_ValueError, "expected %zu gradients, got %zd", num_inputs,
                 PySequence_Fast_GET_SIZE(items));
    Py_CLEAR(items);
  }
  for (size_t i = 0; items && i < num_inputs; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(items, (Py_ssize_t)i);
    if (PyTuple_Check(item) && PyTuple_GET_SIZE(item) == 3) {
      in_gradients[i].values = rheos_tensor_ref(eager_value(PyTuple_GET_ITEM(item, 0)));
      in_gradients[i].indices = rheos_tensor_ref(eager_value(PyTuple_GET_ITEM(item, 1)));
      in_gradients[i].dense_shape = rheos_tensor_ref(eager_value(PyTuple_GET_ITEM(item, 2)));
    } else if (item != Py_None) {
      in_gradients[i].values = rheos_tensor_ref(eager_value(item));
    }
  }
  rheos_status *status =
      items ? NULL : rheos_status_new(RHEOS_UNKNOWN, "a gradient of the program failed");
  Py_XDECREF(list);
  Py_XDECREF(answer);
  Py_XDECREF(items);
  PyGILState_Release(gil);
  return status;
}

static void release_backward(void *argument) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE gil = PyGILState_Ensure();
  Py_DECREF((PyObject *)argument);
  PyGILState_Release(gil);
}

static PyObject *record(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *inputs, *outputs, *backward;
  if (!PyArg_ParseTuple(args, "O!O!O", &PyList_Type, &inputs, &PyList_Type, &outputs, &backward)) {
    return NULL;
  }
  size_t num_inputs = 0, num_outputs = 0;
  rheos_tensor **in = eager_values(inputs, &num_inputs);
  rheos_tensor **out = in ? eager_values(outputs, &num_outputs) : NULL;
  PyObject *result = NULL;
  if (out) {
    result = done(rheos_eager_record(eager_context(), in, num_inputs, out, num_outputs,
                                     call_backward, Py_NewRef(backward), release_backward));
  }
  PyMem_Free(in);
  PyMem_Free(out);
  return result;
}

static PyObject *is_any_watched(PyObject *module, PyObject *items) {
  (void)module;
  size_t count = 0;
  if (!PyList_Check(items)) {
    PyErr_SetString(PyExc_TypeError, "expected a list of eager tensors");
    return NULL;
  }
  rheos_tensor **values = eager_values(items, &count);
  if (!values) return NULL;
  const bool found = rheos_eager_is_watched(eager_context(), values, count);
  PyMem_Free(values);
  return PyBool_FromLong(found);
}

static PyMethodDef tape_functions[] = {
    {"_record_gradient", record, METH_VARARGS, "_record_gradient(inputs, outputs, backward)"},
    {"_are_at_once", are_all_at_once, METH_VARARGS,
     "_are_at_once(target, sources): whether a tensor and a list of tensors and variables have "
     "values."},
    {"_is_any_watched", is_any_watched, METH_O, "_is_any_watched(list of tensors)"},
    {NULL, NULL, 0, NULL},
};

// ---- Who is told of the variables that are read

typedef struct listener {
  PyObject *object;     // owned: has a method _watch(variable)
  tape_object *tape;    // owned: what watches for it at once, or NULL
  PyObject *variables;  // owned: its dict of these, by id; NULL without a tape
  unsigned long thread;
  int watches;  // whether it is told of what is read
} listener;

static listener *listeners;  // of all threads, the latest last
static Py_ssize_t num_listeners, max_listeners;

static void listener_deinit(listener *l) {
  Py_XDECREF(l->object);
  Py_XDECREF((PyObject *)l->tape);
  Py_XDECREF(l->variables);
}

PyDoc_STRVAR(listen_doc,
             "_listen(object, tape, variables, watches): it is told, by object._watch(), of the "
             "trainable variables that this thread reads, if it watches; of those that have values "
             "by having the tape watch them, in a dict by id. Without one tape and variables are "
             "None.");
static PyObject *listen(PyObject *module, PyObject *args) {
  (void)module;
  listener l = {.thread = PyThread_get_thread_ident()};
  PyObject *tape, *variables;
  if (!PyArg_ParseTuple(args, "OOOp", &l.object, &tape, &variables, &l.watches)) return NULL;
  if (tape != Py_None) {
    if (!PyObject_TypeCheck(tape, &tape_type) || !PyDict_Check(variables)) {
      PyErr_SetString(PyExc_TypeError, "expected a tape and a dict");
      return NULL;
    }
    l.tape = (tape_object *)Py_NewRef(tape);
    l.variables = Py_NewRef(variables);
  }
  Py_INCREF(l.object);
  if (num_listeners == max_listeners) {
    const Py_ssize_t more = max_listeners ? 2 * max_listeners : 8;
    listener *larger = PyMem_Realloc(listeners, (size_t)more * sizeof *larger);
    if (!larger) {
      listener_deinit(&l);
      return PyErr_NoMemory();
    }
    listeners = larger;
    max_listeners = more;
  }
  listeners[num_listeners++] = l;
  Py_RETURN_NONE;
}

static PyObject *stop_listening(PyObject *module, PyObject *object) {
  (void)module;
  const unsigned long thread = PyThread_get_thread_ident();
  for (Py_ssize_t i = num_listeners; i-- > 0;) {
    if (listeners[i].object != object || listeners[i].thread != thread) continue;
    listener found = listeners[i];
    memmove(listeners + i, listeners + i + 1, (size_t)(--num_listeners - i) * sizeof *listeners);
    listener_deinit(&found);
    Py_RETURN_TRUE;
  }
  Py_RETURN_FALSE;
}

static PyObject *list_listeners(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  PyObject *list = PyList_New(0);
  for (Py_ssize_t i = 0; list && i < num_listeners; ++i) {
    if (listeners[i].thread != PyThread_get_thread_ident()) continue;
    if (PyList_Append(list, listeners[i].object) < 0) Py_CLEAR(list);
  }
  return list;
}

// Tells one; the entry may go or move meanwhile. -1 with an exception.
static int tell(listener l, PyObject *variable, PyObject *handle) {
  rheos_tensor *value = handle && l.tape ? eager_value(handle) : NULL;
  if (!value) {
    Py_INCREF(l.object);
    PyObject *done = PyObject_CallMethod(l.object, "_watch", "O", variable);
    Py_DECREF(l.object);
    Py_XDECREF(done);
    return done ? 0 : -1;
  }
  if (rheos_tape_is_watched(l.tape->tape, value)) return 0;
  PyObject *watched = done(rheos_tape_watch(l.tape->tape, value));
  PyObject *id = watched ? PyLong_FromVoidPtr(variable) : NULL;
  const int result = id ? PyDict_SetItem(l.variables, id, variable) : -1;
  Py_XDECREF(watched);
  Py_XDECREF(id);
  return result;
}

bool anything_listens(void) { return num_listeners > 0; }

bool tapes_watch(PyObject *variable, PyObject *handle) {
  if (num_listeners == 0) return true;
  const unsigned long thread = PyThread_get_thread_ident();
  for (Py_ssize_t i = 0; i < num_listeners; ++i) {
    if (listeners[i].thread != thread || !listeners[i].watches) continue;
    if (tell(listeners[i], variable, handle) < 0) return false;
  }
  return true;
}

static PyObject *variable_was_read(PyObject *module, PyObject *variable) {
  (void)module;
  if (!is_variable(variable)) {
    PyErr_SetString(PyExc_TypeError, "expected a variable");
    return NULL;
  }
  return tapes_watch(variable, ((variable_object *)variable)->handle) ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef listener_functions[] = {
    {"_listen", listen, METH_VARARGS, listen_doc},
    {"_stop_listening", stop_listening, METH_O, "_stop_listening(object): whether it did listen."},
    {"_listeners", list_listeners, METH_NOARGS, "_listeners(): those of this thread."},
    {"_variable_was_read", variable_was_read, METH_O, "_variable_was_read(variable)"},
    {NULL, NULL, 0, NULL},
};

int tape_init_types(PyObject *module) {
  if (PyModule_AddFunctions(module, listener_functions) < 0) return -1;
  if (PyModule_AddType(module, &tape_type) < 0) return -1;
  return PyModule_AddFunctions(module, tape_functions);
}
