// Calls of traced functions that were made before with arguments like these. What a call comes down
// to is remembered by dtypes and shapes of tensors and by values of Python: the region that runs
// the function, what it captures and which variables tapes are told of. Other calls are the
// package's, which says what to remember of them.

#include "traced_call.h"

#include <stddef.h>
#include <string.h>

#include "attr.h"
#include "eager_object.h"

enum { max_tokens = 128, max_entries = 256, max_depth = 16, few_outputs = 16 };

// The arguments of a call, one after the other and each before its parts.
typedef enum token_kind {
  token_tensor,
  token_variable,
  token_value,  // of Python
  token_name,   // of an argument, or a key of a dict: the next token is what it names
  token_list,
  token_tuple,
  token_dict,
  token_object,  // known by itself: an iterator; its tensors follow
} token_kind;

typedef struct token {
  token_kind kind;
  Py_ssize_t size;       // of a list, tuple or dict
  PyObject *object;      // owned: a value, a name or a variable
  rheos_tensor *tensor;  // owned: of a tensor, or the handle of a variable
  bool is_made;          // the tensor was made for the call: of an array
} token;

typedef struct call_tokens {
  token items[max_tokens];
  Py_ssize_t count, num_tensors;
  bool has_names_in_disorder;  // more than one argument by name, or a dict whose keys do not ascend
  bool has_variables;
} call_tokens;

// What an entry keeps of a token.
typedef struct pattern {
  token_kind kind;
  rheos_dtype dtype;
  Py_ssize_t size;
  PyObject
      *object;  // owned: a value, or a name; of a variable whether it is trained; a weak reference
  rheos_shape shape;
} pattern;

typedef enum result_form { result_other, result_none, result_tensor, result_tuple } result_form;

typedef struct entry {
  struct entry *next;  // the next one that was used less recently
  pattern *patterns;
  Py_ssize_t count;
  int16_t *order;           // by input, which of the arguments' tensors it is
  PyObject *concrete;       // what structures the results; NULL: what is called
  PyObject *captures;       // a list of eager tensors, nobody else's
  rheos_tensor **captured;  // what they stand for
  PyObject *touched;        // a list of variables
  PyObject *type;           // the op that calls, str
  const char *device;       // that was asked for then; NULL: none
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

void traced_calls_forget(void) { ++current_epoch; }

// ---- Entries

static void free_entry(entry *e) {
  for (Py_ssize_t i = 0; e->patterns && i < e->count; ++i) Py_XDECREF(e->patterns[i].object);
  PyMem_Free(e->patterns);
  PyMem_Free(e->order);
  Py_XDECREF(e->concrete);
  Py_XDECREF(e->captures);
  PyMem_Free(e->captured);
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

// ---- The arguments of a call

static bool is_value(PyObject *value) {
  return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) ||
         PyFloat_CheckExact(value) || PyUnicode_CheckExact(value);
}

static void tokens_deinit(call_tokens *tokens) {
  for (Py_ssize_t i = 0; i < tokens->count; ++i) {
    Py_XDECREF(tokens->items[i].object);
    rheos_tensor_unref(tokens->items[i].tensor);
  }
}

static token *add_token(call_tokens *tokens, token_kind kind, PyObject *object) {
  if (tokens->count == max_tokens) return NULL;
  token *t = &tokens->items[tokens->count++];
  *t = (token){.kind = kind, .object = Py_XNewRef(object)};
  if (kind == token_tensor || kind == token_variable) ++tokens->num_tensors;
  return t;
}

static bool add_argument(call_tokens *tokens, PyObject *value, int depth);

static bool add_items(call_tokens *tokens, token_kind kind, PyObject *list, int depth) {
  token *t = add_token(tokens, kind, NULL);
  if (!t || depth == max_depth) return false;
  t->size = Py_SIZE(list);
  for (Py_ssize_t i = 0; i < Py_SIZE(list); ++i) {
    if (!add_argument(tokens, PySequence_Fast_ITEMS(list)[i], depth + 1)) return false;
  }
  return true;
}

static bool add_named(call_tokens *tokens, PyObject *dict, int depth) {
  PyObject *name, *value, *before = NULL;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict, &position, &name, &value)) {
    if (!PyUnicode_CheckExact(name) || !add_token(tokens, token_name, name)) return false;
    if (before && PyUnicode_Compare(before, name) > 0) tokens->has_names_in_disorder = true;
    before = name;
    if (!add_argument(tokens, value, depth + 1)) return false;
  }
  return true;
}

static bool add_dict(call_tokens *tokens, PyObject *dict, int depth) {
  token *t = add_token(tokens, token_dict, NULL);
  if (!t || depth == max_depth) return false;
  t->size = PyDict_GET_SIZE(dict);
  return add_named(tokens, dict, depth);
}

static bool add_array(call_tokens *tokens, PyObject *array) {
  token *t = add_token(tokens, token_tensor, NULL);
  if (!t) return false;
  t->tensor = tensor_from_python(array, RHEOS_INVALID_DTYPE, NULL, false);
  t->is_made = t->tensor != NULL;
  return t->is_made;
}

// An object whose class says that it is known by itself, and its tensors.
static bool add_object(call_tokens *tokens, PyObject *value, int depth) {
  PyObject *says = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "_known_by_itself");
  const bool is_known = says == Py_True;
  Py_XDECREF(says);
  if (!is_known || !add_token(tokens, token_object, value)) return false;
  PyObject *parts = PyObject_GetAttrString(value, "_parts");
  const bool are_added =
      parts && PyList_CheckExact(parts) && add_items(tokens, token_list, parts, depth);
  Py_XDECREF(parts);
  return are_added;
}

// False: it is left to the package; an exception may be there.
static bool add_argument(call_tokens *tokens, PyObject *value, int depth) {
  if (eager_value(value)) {
    token *t = add_token(tokens, token_tensor, value);
    if (t) t->tensor = rheos_tensor_ref(eager_value(value));
    return t;
  }
  if (is_value(value)) return add_token(tokens, token_value, value);
  if (PyTuple_CheckExact(value)) return add_items(tokens, token_tuple, value, depth);
  if (PyList_CheckExact(value)) return add_items(tokens, token_list, value, depth);
  if (PyDict_CheckExact(value)) return add_dict(tokens, value, depth);
  if (is_numpy(value)) return add_array(tokens, value);
  if (!is_eager_variable(value)) return add_object(tokens, value, depth);
  PyObject *handle = ((variable_object *)value)->handle;
  token *t = handle && eager_value(handle) ? add_token(tokens, token_variable, value) : NULL;
  if (t) t->tensor = rheos_tensor_ref(eager_value(handle));
  tokens->has_variables = true;
  return t;
}

// A variable that is there twice is traced in another way.
static bool has_variable_twice(const call_tokens *tokens) {
  for (Py_ssize_t i = 0; tokens->has_variables && i < tokens->count; ++i) {
    for (Py_ssize_t k = 0; tokens->items[i].kind == token_variable && k < i; ++k) {
      if (tokens->items[k].kind == token_variable &&
          tokens->items[k].tensor == tokens->items[i].tensor)
        return true;
    }
  }
  return false;
}

static bool read_arguments(call_tokens *tokens, PyObject *args, PyObject *kwargs) {
  tokens->count = tokens->num_tensors = 0;
  tokens->has_names_in_disorder = kwargs && PyDict_GET_SIZE(kwargs) > 1;
  tokens->has_variables = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    if (!add_argument(tokens, PyTuple_GET_ITEM(args, i), 0)) return false;
  }
  if (kwargs && PyDict_GET_SIZE(kwargs) > 0 && !add_named(tokens, kwargs, 0)) return false;
  return !has_variable_twice(tokens);
}

// ---- Finding what is remembered

static bool same_object(PyObject *mine, PyObject *given) {
  if (mine == given) return true;
  if (Py_TYPE(mine) != Py_TYPE(given)) return false;
  return PyObject_RichCompareBool(mine, given, Py_EQ) > 0;
}

// Whether what the reference is to is still there, and the object given.
static bool still_refers_to(PyObject *reference, PyObject *given) {
#if PY_VERSION_HEX >= 0x030d0000
  PyObject *object = NULL;
  if (PyWeakref_GetRef(reference, &object) < 0) PyErr_Clear();
  Py_XDECREF(object);  // it is compared only
  return object == given;
#else
  return PyWeakref_GetObject(reference) == given;
#endif
}

static bool fits(const pattern *p, const token *t) {
  if (p->kind != t->kind) return false;
  switch (p->kind) {
    case token_tensor:
      return rheos_tensor_dtype(t->tensor) == p->dtype &&
             rheos_shape_equal(rheos_tensor_shape(t->tensor), &p->shape);
    case token_variable: {
      const variable_object *variable = (variable_object *)t->object;
      return variable->dtype == p->dtype && rheos_shape_equal(&variable->shape, &p->shape) &&
             variable->trainable == p->object;
    }
    case token_object: return still_refers_to(p->object, t->object);
    case token_value:
    case token_name: return same_object(p->object, t->object);
    default: return p->size == t->size;
  }
}

static bool is_for(const entry *e, const call_tokens *tokens) {
  if (e->count != tokens->count || e->device != eager_asked_device()) return false;
  for (Py_ssize_t i = 0; i < e->count; ++i) {
    if (!fits(&e->patterns[i], &tokens->items[i])) return false;
  }
  return true;
}

// The entry, which becomes the first; NULL if there is none.
static entry *find(traced_object *self, const call_tokens *tokens) {
  for (entry **link = &self->entries; *link; link = &(*link)->next) {
    entry *e = *link;
    if (!is_for(e, tokens)) continue;
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

static bool touch(PyObject *object) {
  const variable_object *variable = (variable_object *)object;
  return variable->trainable != Py_True || tapes_watch(object, variable->handle);
}

// Tells tapes of the variables of the entry and of the arguments; false with an exception.
static bool touch_all(const entry *e, const call_tokens *tokens) {
  if (!anything_listens()) return true;
  PyObject *touched = Py_NewRef(e->touched);
  bool is_told = true;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(touched) && is_told; ++i) {
    is_told = touch(PyList_GET_ITEM(touched, i));
  }
  Py_DECREF(touched);
  for (Py_ssize_t i = 0; tokens->has_variables && i < tokens->count && is_told; ++i) {
    if (tokens->items[i].kind == token_variable) is_told = touch(tokens->items[i].object);
  }
  return is_told;
}

// Runs what the entry says, which may go meanwhile.
static PyObject *run_entry(PyObject *self, const entry *e, const call_tokens *tokens) {
  rheos_tensor *few_inputs[2 * max_tokens], *few[few_outputs] = {NULL};
  rheos_tensor **inputs = few_inputs, **outputs = few;
  const Py_ssize_t num_captures = PyList_GET_SIZE(e->captures);
  const int32_t num_outputs = rheos_region_num_outputs(e->region);
  if (tokens->num_tensors + num_captures > 2 * max_tokens) {
    inputs = PyMem_Calloc((size_t)(tokens->num_tensors + num_captures), sizeof(rheos_tensor *));
  }
  if (num_outputs > few_outputs) {
    outputs = PyMem_Calloc((size_t)num_outputs, sizeof(rheos_tensor *));
  }
  PyObject *result = NULL;
  if (!inputs || !outputs) {
    PyErr_NoMemory();
  } else {
    rheos_tensor *given[max_tokens];
    int32_t at = 0;
    for (Py_ssize_t i = 0; i < tokens->count; ++i) {
      if (tokens->items[i].tensor) given[at++] = tokens->items[i].tensor;
    }
    for (int32_t i = 0; i < at; ++i) inputs[i] = given[e->order[i]];
    memcpy(inputs + at, e->captured, (size_t)num_captures * sizeof *inputs);
    PyObject *concrete = Py_NewRef(e->concrete ? e->concrete : self);
    PyObject *captures = Py_NewRef(e->captures), *type = Py_NewRef(e->type);
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

// The entry for the call, of which tapes are told; NULL: there is none, or an exception.
static entry *entry_for(traced_object *self, const call_tokens *tokens) {
  entry *e = find(self, tokens);
  if (e && e->epoch != current_epoch) {
    forget_all(self);
    return NULL;
  }
  if (!e || PyErr_Occurred()) {
    PyErr_Clear();
    return NULL;
  }
  ++self->num_calls;
  if (!touch_all(e, tokens)) return NULL;
  return self->entries == e ? e : find(self, tokens);  // telling may run Python
}

static PyObject *traced_call(PyObject *object, PyObject *args, PyObject *kwargs) {
  traced_object *self = (traced_object *)object;
  call_tokens tokens;
  if (!self->entries || package.runs_functions_eagerly || !executing_eagerly()) {
    return call_slowly(object, args, kwargs);
  }
  const bool is_read = read_arguments(&tokens, args, kwargs);
  if (!is_read) PyErr_Clear();
  entry *e = is_read ? entry_for(self, &tokens) : NULL;
  PyObject *result = e ? run_entry(object, e, &tokens) : NULL;
  tokens_deinit(&tokens);
  return e || PyErr_Occurred() ? result : call_slowly(object, args, kwargs);
}

// ---- What is remembered

static bool set_patterns(entry *e, const call_tokens *tokens) {
  e->count = tokens->count;
  e->patterns = PyMem_Calloc((size_t)e->count + 1, sizeof *e->patterns);
  if (!e->patterns) return false;
  for (Py_ssize_t i = 0; i < e->count; ++i) {
    const token *t = &tokens->items[i];
    pattern *p = &e->patterns[i];
    p->kind = t->kind;
    p->size = t->size;
    if (t->kind == token_tensor) {
      p->dtype = rheos_tensor_dtype(t->tensor);
      p->shape = *rheos_tensor_shape(t->tensor);
    } else if (t->kind == token_variable) {
      const variable_object *variable = (variable_object *)t->object;
      p->dtype = variable->dtype;
      p->shape = variable->shape;
      p->object = Py_XNewRef(variable->trainable);
    } else if (t->kind == token_object) {
      p->object = PyWeakref_NewRef(t->object, NULL);
      if (!p->object) return false;
    } else {
      p->object = Py_XNewRef(t->object);
    }
  }
  return true;
}

// Whether the token is what the function was called with.
static bool is_tensor_of(const token *t, const rheos_tensor *tensor) {
  if (!tensor || !t->is_made) return tensor == t->tensor;
  return rheos_tensor_dtype(t->tensor) == rheos_tensor_dtype(tensor) &&
         rheos_shape_equal(rheos_tensor_shape(t->tensor), rheos_tensor_shape(tensor));
}

// Whether no tensor is there twice, as one or as an array of which nobody can tell.
static bool are_told_apart(const call_tokens *tokens) {
  int num_made = 0;
  for (Py_ssize_t i = 0; i < tokens->count; ++i) {
    num_made += tokens->items[i].is_made;
    for (Py_ssize_t k = 0; tokens->items[i].tensor && k < i; ++k) {
      if (tokens->items[k].tensor == tokens->items[i].tensor) return false;
    }
  }
  return num_made <= 1;
}

// Sets where among the arguments' tensors each is that the function was called with. Names may be
// in another order than what they name is given to the function. False: it cannot be told.
static bool find_order(PyObject *tensors, const call_tokens *tokens, int16_t *order) {
  const token *given[max_tokens];
  int16_t count = 0;
  bool is_same = PyList_GET_SIZE(tensors) == tokens->num_tensors;
  for (Py_ssize_t i = 0; i < tokens->count && is_same; ++i) {
    if (tokens->items[i].tensor) given[count++] = &tokens->items[i];
  }
  if (!is_same) return false;
  for (int16_t i = 0; i < count; ++i) {
    order[i] = i;
    is_same &= is_tensor_of(given[i], eager_value(PyList_GET_ITEM(tensors, i)));
  }
  if (is_same && !tokens->has_names_in_disorder) return true;
  if (!are_told_apart(tokens)) return false;
  if (is_same) return true;
  for (int16_t i = 0; i < count; ++i) {
    const rheos_tensor *tensor = eager_value(PyList_GET_ITEM(tensors, i));
    int16_t at = 0;
    while (at < count && (given[at]->is_made || given[at]->tensor != tensor)) ++at;
    if (at == count) return false;
    order[i] = at;
  }
  return true;
}

// False: not all of what is captured are eager tensors.
static bool set_captures(entry *e, PyObject *captures) {
  const Py_ssize_t count = PyList_GET_SIZE(captures);
  e->captures = PySequence_List(captures);
  e->captured = PyMem_Calloc((size_t)count + 1, sizeof *e->captured);
  for (Py_ssize_t i = 0; e->captures && e->captured && i < count; ++i) {
    e->captured[i] = eager_value(PyList_GET_ITEM(e->captures, i));
    if (!e->captured[i]) return false;
  }
  return e->captures && e->captured;
}

static bool are_variables(PyObject *list) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    if (!is_eager_variable(PyList_GET_ITEM(list, i))) return false;
  }
  return true;
}

// The region that calls the function with such arguments; NULL without an exception if there is
// none.
static rheos_region *region_for(PyObject *tensors, PyObject *captures, PyObject *type,
                                PyObject *attr_values) {
  PyObject *all = PySequence_Concat(tensors, captures);
  rheos_eager_op op = {.type = PyUnicode_AsUTF8(type), .device = eager_asked_device()};
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

static result_form form_of(const char *form) {
  if (strcmp(form, "tensor") == 0) return result_tensor;
  if (strcmp(form, "none") == 0) return result_none;
  return strcmp(form, "tuple") == 0 ? result_tuple : result_other;
}

static void add_entry(traced_object *self, entry *e) {
  if (self->num_entries >= max_entries) drop_oldest(self);
  e->next = self->entries;
  self->entries = e;
  ++self->num_entries;
}

PyDoc_STRVAR(
    remember_doc,
    "_remember(args, kwargs, tensors, concrete, form, op_type, attrs, captures, touched)\n\n"
    "Has calls with arguments like these come down to the operation, on `tensors`, which "
    "have to be those among the arguments, and on `captures`. form: 'tensor', 'none', "
    "'tuple', or '': concrete._structured() makes the results of a list.");
static PyObject *remember(PyObject *object, PyObject *args) {
  PyObject *given, *by_name, *tensors, *concrete, *type, *attrs, *captures, *touched;
  const char *form;
  if (!PyArg_ParseTuple(args, "O!O!O!OsUO!O!O!", &PyTuple_Type, &given, &PyDict_Type, &by_name,
                        &PyList_Type, &tensors, &concrete, &form, &type, &PyList_Type, &attrs,
                        &PyList_Type, &captures, &PyList_Type, &touched)) {
    return NULL;
  }
  entry *e = PyMem_Calloc(1, sizeof *e);
  if (!e) return PyErr_NoMemory();
  e->concrete = concrete == object ? NULL : Py_NewRef(concrete);
  e->touched = PySequence_List(touched);
  e->type = Py_NewRef(type);
  e->epoch = current_epoch;
  e->device = eager_asked_device();
  e->form = form_of(form);
  call_tokens tokens = {.count = 0};
  e->order = PyMem_Calloc(max_tokens, sizeof *e->order);
  if (e->order && read_arguments(&tokens, given, by_name) &&
      find_order(tensors, &tokens, e->order) && set_captures(e, captures) &&
      are_variables(touched) && e->touched && set_patterns(e, &tokens)) {
    e->region = region_for(tensors, captures, type, attrs);
  }
  tokens_deinit(&tokens);
  PyErr_Clear();  // what cannot be remembered is called the long way
  if (e->region)
    add_entry((traced_object *)object, e);
  else
    free_entry(e);
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
  package.runs_functions_eagerly = truth;
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
