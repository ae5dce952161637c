// Operations that run at once on eager tensors.
//
// An eager tensor is a Tensor whose value is there: the same object as a symbolic one, with the
// graph that stands for eager execution as its graph. That graph adds no nodes; what is asked of it
// is done.

#include "eager_object.h"

#include <rheos/front_end.h>
#include <string.h>

#include "attr.h"
#include "gpu_devices.h"
#include "graph_object.h"
#include "op_plan.h"
#include "session_object.h"
#include "traced_call.h"

// ---- Tensors

PyObject *eager_tensor_take(rheos_tensor *value) {
  PyTypeObject *type = package.eager_tensor_type;
  graph_object *graph = (graph_object *)package.eager_graph;
  tensor_object *tensor = type && graph ? (tensor_object *)type->tp_alloc(type, 0) : NULL;
  if (!tensor) {
    rheos_tensor_unref(value);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "eager execution is not set up");
    return NULL;
  }
  tensor->graph = (graph_object *)Py_NewRef((PyObject *)graph);
  tensor->id = -1;
  tensor->value = value;
  package.has_eager_tensors = true;
  return (PyObject *)tensor;
}

bool executing_eagerly(void) {
  // A program that builds graphs has eager tensors where it makes eager execution the default.
  if (!package.eager_graph || (!package.eager_is_on && !package.has_eager_tensors)) return false;
  if (package.num_default_graphs == 0) return package.eager_is_on;
  PyObject *graph = PyObject_CallNoArgs(package.default_graph);
  if (!graph) {
    PyErr_Clear();
    return false;
  }
  Py_DECREF(graph);
  return graph == package.eager_graph;
}

// ---- Running

rheos_eager *eager_context(void) {
  return package.eager_graph ? ((graph_object *)package.eager_graph)->eager : NULL;
}

// Of the one device that there is.
static const char *device_name(void) {
  return rheos_host_device(rheos_eager_host(eager_context()), 0);
}

// The fact, without the node of a graph that the program never saw, which is the last that is
// named, in TensorFlow's frame. Nodes of functions that it called, and their lines, are the
// program's.
void raise_eager_error_take(rheos_status *status, const char *type) {
  const char *text = rheos_status_message(status);
  static const char of_node[] = "\n\t [[node ";
  const char *end = strstr(text, of_node);
  for (const char *next = end; next != NULL; next = strstr(next + 1, of_node)) end = next;
  const int length = end ? (int)(end - text) : (int)strlen(text);
  rheos_status *told =
      rheos_status_new(rheos_status_code(status),
                       "{{function_node __wrapped__%s_device_%s}} %.*s [Op:%s] name: ", type,
                       device_name(), length, text, type);
  rheos_status_free(status);
  raise_run_error_take(told, NULL);
}

// On the device that the operation asks for, or else the thread.
static rheos_status *region_of(const rheos_eager_op *op, rheos_region **out_region) {
  const char *device = op->device ? NULL : eager_asked_device();
  if (!device) return rheos_eager_region(eager_context(), op, out_region);
  rheos_eager_op asking = *op;
  asking.device = device;
  return rheos_eager_region(eager_context(), &asking, out_region);
}

enum { keep_gil_below_ns = 20000, keep_gil_below_bytes = 65536 };

typedef struct region_run {
  rheos_region *region;
  rheos_tensor *const *inputs;
  rheos_tensor **outputs;
} region_run;

static rheos_status *run_region(void *argument, const rheos_run_options *options) {
  const region_run *run = argument;
  return rheos_region_run(run->region, run->inputs, run->outputs, options);
}

// Whether other threads should go on while it runs.
static bool should_release(const region_run *run) {
  const int64_t cost = rheos_region_cost_ns(run->region);
  return cost <= 0 || cost >= keep_gil_below_ns ||  // 0: not known, and it may call the program
         package.num_eager_watches > 0;
}

// -1 with an exception, and without outputs.
static int look_at(const region_run *r, const char *type) {
  const eager_ran ran = {type, r->inputs, r->outputs, rheos_region_num_inputs(r->region),
                         rheos_region_num_outputs(r->region)};
  if (eager_tell_op(&ran, r->region) == 0 && eager_check_numbers(&ran) == 0) return 0;
  for (int32_t i = 0; i < ran.num_outputs; ++i) {
    rheos_tensor_unref(r->outputs[i]);
    r->outputs[i] = NULL;
  }
  return -1;
}

// -1 with an exception.
static int run(region_run *r, const char *type) {
  bool interrupted = false;
  rheos_status *status;
  if (should_release(r)) {
    status = run_with_signals(NULL, true, run_region, r, &(run_settings){0}, &interrupted);
  } else {
    status = rheos_region_run(r->region, r->inputs, r->outputs, NULL);
  }
  if (interrupted) {
    rheos_status_free(status);
    return -1;
  }
  if (PyErr_Occurred()) {  // of a gradient or a function of the program
    rheos_status_free(status);
    return -1;
  }
  if (!status) return eager_ops_are_looked_at() ? look_at(r, type) : 0;
  raise_eager_error_take(status, type);
  return -1;
}

int eager_run_region(rheos_region *region, rheos_tensor *const *inputs, rheos_tensor **outputs,
                     const char *type) {
  region_run r = {region, inputs, outputs};
  return run(&r, type);
}

// Of one output, on tensors; takes no reference. NULL with an exception.
static PyObject *run_one(const char *type, rheos_tensor **inputs, size_t num_inputs,
                         const rheos_attr *attrs, size_t num_attrs) {
  rheos_eager_op op = {.type = type,
                       .inputs = inputs,
                       .num_inputs = num_inputs,
                       .attrs = attrs,
                       .num_attrs = num_attrs};
  rheos_tensor *output = NULL;
  region_run r = {.inputs = inputs, .outputs = &output};
  rheos_status *status = region_of(&op, &r.region);
  if (status) {
    raise_eager_error_take(status, type);
    return NULL;
  }
  const int failed = run(&r, type);
  rheos_region_unref(r.region);
  return failed < 0 ? NULL : eager_tensor_take(output);
}

// ---- What the package has not looked at

// The region; NULL where the package says what is wrong with the operation.
static rheos_region *region_if_sound(const rheos_eager_op *op) {
  rheos_region *region = NULL;
  rheos_status *status = region_of(op, &region);
  rheos_status_free(status);
  return region;
}

PyObject *eager_run_quickly(const rheos_eager_op *op) {
  rheos_tensor *output = NULL;
  region_run r = {.region = region_if_sound(op), .inputs = op->inputs, .outputs = &output};
  PyObject *result = NULL;
  if (r.region && rheos_region_num_outputs(r.region) == 1 && run(&r, op->type) == 0) {
    result = eager_tensor_take(output);
  }
  rheos_region_unref(r.region);
  return result;
}

int eager_run_target(const rheos_eager_op *op) {
  region_run r = {.region = region_if_sound(op), .inputs = op->inputs};
  int result = 0;
  if (r.region && rheos_region_num_outputs(r.region) == 0) {
    result = run(&r, op->type) == 0 ? 1 : -1;
  }
  rheos_region_unref(r.region);
  return result;
}

// ---- Asked by the package

PyDoc_STRVAR(is_any_doc, "_is_any(types, values): whether one, or one in a list, is of the types.");
static PyObject *is_any(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *types, *values;
  if (!PyArg_ParseTuple(args, "OO!", &types, &PyTuple_Type, &values)) return NULL;
  int found = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values) && !found; ++i) {
    PyObject *value = PyTuple_GET_ITEM(values, i);
    found = PyObject_IsInstance(value, types);
    if (found || !(PyList_Check(value) || PyTuple_Check(value))) continue;
    PyObject *items = PySequence_Tuple(value);  // an instance check may run what changes a list
    if (!items) return NULL;
    for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(items) && !found; ++j)
      found = PyObject_IsInstance(PyTuple_GET_ITEM(items, j), types);
    Py_DECREF(items);
  }
  return found < 0 ? NULL : PyBool_FromLong(found);
}

PyDoc_STRVAR(belong_nowhere_doc,
             "_belong_nowhere(values): whether all are of no graph, and known to be: tensors and "
             "variables with values, numbers, arrays, None, lists.");
static PyObject *belong_nowhere(PyObject *module, PyObject *values) {
  (void)module;
  if (!PyList_CheckExact(values) && !PyTuple_CheckExact(values)) Py_RETURN_FALSE;
  PyObject **items = PySequence_Fast_ITEMS(values);
  for (Py_ssize_t i = 0; i < Py_SIZE(values); ++i) {
    PyObject *item = items[i];
    if (eager_value(item) || item == Py_None || PyList_CheckExact(item) ||
        PyTuple_CheckExact(item) || is_plain_value(item) ||
        (is_eager_variable(item) && ((variable_object *)item)->handle &&
         eager_value(((variable_object *)item)->handle))) {
      continue;
    }
    Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
}

PyDoc_STRVAR(executes_eagerly_doc, "_executes_eagerly(): whether operations run at once here.");
static PyObject *executes_eagerly(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyBool_FromLong(executing_eagerly());
}

// ---- What an operation gave

typedef struct results_object {
  PyObject_HEAD PyObject *outputs;  // a list
  PyObject *type;
  rheos_region *region;
} results_object;

static void results_dealloc(PyObject *object) {
  results_object *self = (results_object *)object;
  PyObject_GC_UnTrack(object);
  Py_CLEAR(self->outputs);
  Py_CLEAR(self->type);
  rheos_region_unref(self->region);
  Py_TYPE(object)->tp_free(object);
}

static int results_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((results_object *)object)->outputs);
  return 0;
}

static PyObject *results_output(PyObject *object, PyObject *index) {
  const Py_ssize_t i = PyLong_AsSsize_t(index);
  if (i == -1 && PyErr_Occurred()) return NULL;
  PyObject *outputs = ((results_object *)object)->outputs;
  if (i < 0 || i >= PyList_GET_SIZE(outputs)) {
    PyErr_SetString(PyExc_IndexError, "no output of that number");
    return NULL;
  }
  return Py_NewRef(PyList_GET_ITEM(outputs, i));
}

static PyObject *results_get_outputs(PyObject *object, void *unused) {
  (void)unused;
  return Py_NewRef(((results_object *)object)->outputs);
}

static PyObject *results_get_type(PyObject *object, void *unused) {
  (void)unused;
  return Py_NewRef(((results_object *)object)->type);
}

static PyObject *results_attr(PyObject *object, PyObject *name) {
  const char *text = text_of(name);
  if (!text) return NULL;
  rheos_attr_value value = rheos_region_attr(((results_object *)object)->region, text);
  if (value.kind != RHEOS_ATTR_NONE) return attr_to_python(value);
  PyErr_Format(PyExc_ValueError, "the operation has no attr named '%U'", name);
  return NULL;
}

static PyMethodDef results_methods[] = {
    {"_output", results_output, METH_O, "_output(index): one output."},
    {"get_attr", results_attr, METH_O, "get_attr(name)"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef results_getters[] = {
    {"outputs", results_get_outputs, NULL, "The tensors it gave.", NULL},
    {"type", results_get_type, NULL, "The op.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject results_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.EagerResults",
    .tp_basicsize = sizeof(results_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "What an operation gave that was run at once.",
    .tp_dealloc = results_dealloc,
    .tp_traverse = results_traverse,
    .tp_methods = results_methods,
    .tp_getset = results_getters,
};

static PyObject *outputs_take(rheos_tensor **outputs, int32_t count) {
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; i < count; ++i) {
    PyObject *tensor = list ? eager_tensor_take(outputs[i]) : NULL;
    if (tensor)
      PyList_SET_ITEM(list, i, tensor);
    else if (list)
      Py_CLEAR(list);
    else
      rheos_tensor_unref(outputs[i]);
  }
  return list;
}

static PyObject *new_results(PyObject *outputs, const char *type, rheos_region *region) {
  results_object *results = (results_object *)results_type.tp_alloc(&results_type, 0);
  if (!results) return NULL;
  results->outputs = Py_NewRef(outputs);
  results->region = rheos_region_ref(region);
  results->type = PyUnicode_FromString(type);
  if (results->type) return (PyObject *)results;
  Py_DECREF(results);
  return NULL;
}

// Takes the region.
static PyObject *run_all_take(rheos_region *region, const rheos_eager_op *op) {
  region_run r = {.region = region, .inputs = op->inputs};
  const int32_t count = rheos_region_num_outputs(r.region);
  PyObject *results = NULL, *list = NULL;
  r.outputs = PyMem_Calloc((size_t)count + 1, sizeof(rheos_tensor *));
  if (!r.outputs)
    PyErr_NoMemory();
  else if (run(&r, op->type) == 0)
    list = outputs_take(r.outputs, count);
  if (list) results = new_results(list, op->type, r.region);
  Py_XDECREF(list);
  PyMem_Free(r.outputs);
  rheos_region_unref(r.region);
  return results;
}

static PyObject *run_all(const rheos_eager_op *op) {
  rheos_region *region;
  rheos_status *status = region_of(op, &region);
  if (!status) return run_all_take(region, op);
  raise_eager_error_take(status, op->type);
  return NULL;
}

PyObject *eager_run_all_quickly(const rheos_eager_op *op) {
  rheos_region *region = region_if_sound(op);
  return region ? run_all_take(region, op) : NULL;
}

// The values of a sequence of eager tensors, in an array for PyMem_Free(); references are borrowed.
rheos_tensor **eager_values(PyObject *items, size_t *out_count) {
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  rheos_tensor **values = PyMem_Calloc((size_t)count + 1, sizeof *values);
  if (!values) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(items, i);
    values[i] = eager_value(item);
    if (values[i]) continue;
    if (is_tensor(item)) {
      PyErr_Format(PyExc_TypeError,
                   "%S is out of scope and cannot be used here: it belongs to a graph, and this "
                   "operation is executed eagerly. Use return values, explicit Python locals or "
                   "TensorFlow collections to access it.",
                   item);
    } else {
      PyErr_Format(PyExc_TypeError, "expected an eager tensor, got %R", item);
    }
    PyMem_Free(values);
    return NULL;
  }
  *out_count = (size_t)count;
  return values;
}

PyObject *eager_node(const char *type, PyObject *inputs, PyObject *attr_values,
                     const char *device) {
  PyObject *items = fixed_sequence(inputs, "expected a list of tensors");
  PyObject *attr_items =
      items ? fixed_sequence(attr_values, "expected a list of attributes") : NULL;
  rheos_eager_op op = {.type = type, .device = device};
  rheos_tensor **values = attr_items ? eager_values(items, &op.num_inputs) : NULL;
  PyObject *results = NULL;
  attr_list attrs;
  if (values && attr_list_init(&attrs, attr_items) == 0) {
    op.inputs = values;
    op.attrs = attrs.items;
    op.num_attrs = attrs.count;
    results = run_all(&op);
    attr_list_deinit(&attrs);
  }
  PyMem_Free(values);
  Py_XDECREF(items);
  Py_XDECREF(attr_items);
  return results;
}

PyObject *eager_constant(PyObject *value, rheos_dtype dtype, rheos_dtype preferred,
                         const rheos_shape *shape, bool exact) {
  rheos_tensor *tensor = tensor_from_python(value, dtype ? dtype : preferred, shape, exact);
  if (!tensor && !dtype && preferred &&
      (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError))) {
    PyErr_Clear();
    tensor = tensor_from_python(value, RHEOS_INVALID_DTYPE, shape, exact);
  }
  if (tensor) tensor = eager_placed_take(tensor);
  return tensor ? eager_tensor_take(tensor) : NULL;
}

// ---- Operators

// The value as an eager tensor of that dtype, a new reference.
static PyObject *eager_operand(PyObject *value, rheos_dtype dtype) {
  if (eager_value(value)) return Py_NewRef(value);
  if (is_plain_value(value)) return eager_constant(value, dtype, 0, NULL, false);
  if (is_eager_variable(value)) return eager_variable_read(value);
  PyObject *wanted = dtype_to_python(dtype);
  return wanted ? PyObject_CallFunction(package.convert, "OOOsO", value, wanted, Py_None, "y",
                                        package.eager_graph)
                : NULL;
}

static int raise_mismatch(const char *type, rheos_dtype wanted, rheos_dtype found) {
  rheos_status *status = rheos_status_new(
      RHEOS_INVALID_ARGUMENT,
      "cannot compute %s as input #1(zero-based) was expected to be a %s tensor but is a %s "
      "tensor [Op:%s] name: ",
      type, rheos_dtype_name(wanted), rheos_dtype_name(found), type);
  raise_run_error_take(status, NULL);
  return -1;
}

static PyObject *cast_to(rheos_tensor *x, rheos_dtype dtype) {
  rheos_attr attr = rheos_attr_type("DstT", dtype);
  return run_one("Cast", &x, 1, &attr, 1);
}

// Division of integers is done in floating point.
static PyObject *divide(rheos_tensor **operands) {
  const rheos_dtype dtype = rheos_tensor_dtype(operands[0]);
  if (!rheos_dtype_is_integer(dtype)) return run_one("RealDiv", operands, 2, NULL, 0);
  const rheos_dtype wide = rheos_dtype_size(dtype) <= 2 ? RHEOS_FLOAT : RHEOS_DOUBLE;
  PyObject *x = cast_to(operands[0], wide), *y = x ? cast_to(operands[1], wide) : NULL;
  PyObject *result = NULL;
  if (y) {
    rheos_tensor *casted[] = {eager_value(x), eager_value(y)};
    result = run_one("RealDiv", casted, 2, NULL, 0);
  }
  Py_XDECREF(x);
  Py_XDECREF(y);
  return result;
}

PyObject *eager_binary(PyObject *a, PyObject *b, const char *type) {
  rheos_tensor *known = eager_value(a) ? eager_value(a) : eager_value(b);
  const rheos_dtype dtype = rheos_tensor_dtype(known);
  PyObject *x = eager_operand(a, dtype), *y = x ? eager_operand(b, dtype) : NULL;
  PyObject *result = NULL;
  if (x && !y && strcmp(type, "AddV2") == 0 && is_plain_value(b) &&
      PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();  // in TensorFlow a sum alone is refused by the op
    y = eager_constant(b, RHEOS_INVALID_DTYPE, 0, NULL, false);
  }
  if (y) {
    rheos_tensor *operands[] = {eager_value(x), eager_value(y)};
    if (!operands[0] || !operands[1])
      PyErr_SetString(PyExc_TypeError, "the conversion did not give an eager tensor");
    else if (rheos_tensor_dtype(operands[0]) != rheos_tensor_dtype(operands[1]))
      raise_mismatch(type, rheos_tensor_dtype(operands[0]), rheos_tensor_dtype(operands[1]));
    else if (strcmp(type, "RealDiv") == 0)
      result = divide(operands);
    else if (strcmp(type, "AddV2") == 0 && dtype == RHEOS_STRING)
      result = run_one("Add", operands, 2, NULL, 0);
    else
      result = run_one(type, operands, 2, NULL, 0);
  }
  Py_XDECREF(x);
  Py_XDECREF(y);
  return result;
}

// Of matrices, or of batches of them, of one dtype; all else is the package's.
static PyObject *matmul_at_once(PyObject *a, PyObject *b) {
  rheos_tensor *operands[] = {eager_value(a), eager_value(b)};
  if (!operands[0] || !operands[1] || !executing_eagerly()) return NULL;
  const int32_t ranks[] = {rheos_tensor_shape(operands[0])->rank,
                           rheos_tensor_shape(operands[1])->rank};
  if (ranks[0] < 2 || ranks[1] < 2) return NULL;
  if (rheos_tensor_dtype(operands[0]) != rheos_tensor_dtype(operands[1])) return NULL;
  const bool is_batch = ranks[0] > 2 || ranks[1] > 2;
  const rheos_eager_op op = {
      .type = is_batch ? "BatchMatMulV2" : "MatMul", .inputs = operands, .num_inputs = 2};
  return eager_run_quickly(&op);
}

PyObject *eager_matmul(PyObject *a, PyObject *b) {
  PyObject *result = matmul_at_once(a, b);
  if (result || PyErr_Occurred()) return result;
  PyObject *type = (PyObject *)package.tensor_type;
  return is_tensor(a) ? PyObject_CallMethod(type, "__matmul__", "OO", a, b)
                      : PyObject_CallMethod(type, "__rmatmul__", "OO", b, a);
}

PyObject *eager_unary(PyObject *a, const char *type, const rheos_attr *attr) {
  rheos_tensor *x = eager_value(a);
  return run_one(type, &x, 1, attr, attr != NULL);
}

// ---- The context

// Notes what raises the error of the program's own gradient: who asks for gradients raises that.
// Not found, for a call can be recorded without it.
static void fail_gradient_take(rheos_scope *scope, const char *type, PyObject *raises) {
  Py_XSETREF(package.failed_gradient, raises);
  rheos_scope_fail_take(
      scope, rheos_status_new(RHEOS_NOT_FOUND, "the gradient function of %s failed", type));
}

// What stands for the gradient of a type if that failed when its function was traced.
static PyObject *error_of(const char *type) {
  PyObject *module = PyImport_ImportModule("rheos.framework.gradient_registry");
  PyObject *error = module ? PyObject_CallMethod(module, "error_of", "s", type) : NULL;
  Py_XDECREF(module);
  return error;
}

// (name, has state, inputs) of the function that the package traced for the operation, what raises
// its error, or None.
static PyObject *traced_gradient(rheos_operation operation, const char *type) {
  PyObject *module = PyImport_ImportModule("rheos.framework.registered_gradients");
  PyObject *graph = module ? PyObject_CallMethod(module, "graph_for", "s", type) : NULL;
  PyObject *found = graph == Py_None ? Py_NewRef(Py_None) : NULL;
  if (graph && graph != Py_None) {
    graph_object *around = (graph_object *)graph;
    rheos_graph_unref(around->graph);
    around->graph = rheos_graph_ref(operation.graph);
    PyObject *node = graph_operation(around, operation.id);
    if (node) found = PyObject_CallMethod(module, "function_for", "Os", node, type);
    Py_XDECREF(node);
  }
  Py_XDECREF(graph);
  Py_XDECREF(module);
  return found;
}

// Calls the function with the inputs, the outputs and the gradients of the outputs.
static void call_traced(rheos_scope *scope, rheos_operation operation, PyObject *traced,
                        const rheos_gradient *out_gradients, rheos_gradient *in_gradients) {
  const char *name;
  int has_state;
  PyObject *places;
  if (!PyArg_ParseTuple(traced, "spO!", &name, &has_state, &PyList_Type, &places)) return;
  const int32_t num_inputs = rheos_operation_num_inputs(operation);
  const int32_t num_outputs = rheos_operation_num_outputs(operation);
  const Py_ssize_t num_results = PyList_GET_SIZE(places);
  const size_t num_args = (size_t)num_inputs + 2 * (size_t)num_outputs;
  rheos_output *args = PyMem_Calloc(num_args + 1, sizeof *args);
  rheos_dtype *types = PyMem_Calloc((size_t)num_results + 1, sizeof *types);
  if (!args || !types) PyErr_NoMemory();
  for (int32_t i = 0; args && i < num_inputs; ++i) args[i] = rheos_operation_input(operation, i);
  for (int32_t i = 0; args && i < num_outputs; ++i) {
    args[num_inputs + i] = rheos_operation_output(operation, i);
    args[num_inputs + num_outputs + i] = out_gradients[i].values;
    if (out_gradients[i].indices.graph) {
      rheos_scope_fail_take(
          scope, rheos_status_new(RHEOS_UNIMPLEMENTED, "a registered gradient takes no slices"));
    }
  }
  for (Py_ssize_t i = 0; !PyErr_Occurred() && i < num_results; ++i) {
    const long place = PyLong_AsLong(PyList_GET_ITEM(places, i));
    types[i] = rheos_dtype_base(rheos_output_dtype(args[place]));
  }
  if (!PyErr_Occurred() && num_results > 0) {
    const rheos_func func = {.name = {(char *)(uintptr_t)name, strlen(name)}};
    const rheos_attr attrs[] = {rheos_attr_func("f", &func),
                                rheos_attr_types("Tout", types, (size_t)num_results)};
    const rheos_op_args call = {.type = has_state ? "StatefulPartitionedCall" : "PartitionedCall",
                                .inputs = args,
                                .num_inputs = num_args,
                                .attrs = attrs,
                                .num_attrs = 2};
    const rheos_operation made = rheos_op(scope, &call);
    for (Py_ssize_t i = 0; made.graph && i < num_results; ++i) {
      const long place = PyLong_AsLong(PyList_GET_ITEM(places, i));
      in_gradients[place].values = rheos_operation_output(made, (int32_t)i);
    }
  }
  PyMem_Free(args);
  PyMem_Free(types);
}

// The program's gradient of an operation that is in no graph of its own.
static bool program_gradient(void *argument, rheos_scope *scope, rheos_operation operation,
                             const char *type, const rheos_gradient *out_gradients,
                             rheos_gradient *in_gradients) {
  (void)argument;
  const PyGILState_STATE state = PyGILState_Ensure();
  bool is_known = true;
  PyObject *found = error_of(type);
  if (found == Py_None) Py_XSETREF(found, traced_gradient(operation, type));
  if (found == Py_None) {
    is_known = false;
  } else if (found && PyTuple_Check(found)) {
    call_traced(scope, operation, found, out_gradients, in_gradients);
  } else if (found) {
    fail_gradient_take(scope, type, Py_NewRef(found));
  }
  Py_XDECREF(found);
  if (PyErr_Occurred()) {  // nothing of the program's: memory, or a module that is not there
    PyErr_Clear();
    rheos_scope_fail_take(
        scope, rheos_status_new(RHEOS_INTERNAL, "the gradient function of %s failed", type));
  }
  PyGILState_Release(state);
  return is_known;
}

PyObject *graph_become_eager(PyObject *self, PyObject *args) {
  graph_object *graph = (graph_object *)self;
  PyObject *function, *server = Py_None, *gpus = Py_None;
  int num_threads = 0;
  gpu_devices cards;
  if (!PyArg_ParseTuple(args, "O|iOO", &function, &num_threads, &server, &gpus)) return NULL;
  if (!gpu_devices_read(gpus, &cards)) return NULL;
  if (package.num_eager_watches > 0) {
    PyErr_SetString(PyExc_RuntimeError,
                    "what runs at once is watched: say threads and servers before that");
    return NULL;
  }
  rheos_eager_options options = {.gradient_function = program_gradient};
  rheos_host *own = NULL;
  if (server != Py_None) {
    options.host = server_host(server);
    if (!options.host) return NULL;
  } else {
    const rheos_host_options host = {
        .num_threads = num_threads, .num_gpu_devices = cards.count, .gpu_devices = cards.given};
    rheos_status *status = rheos_host_new(&host, &own);
    if (status) {
      raise_run_error_take(status, NULL);
      return NULL;
    }
    options.host = own;
  }
  if (function != Py_None) {
    options.program_function = call_program;
    options.program_argument = Py_NewRef(function);  // the context lives as long as the process
    options.leaves_functions = true;
  }
  rheos_eager *eager;
  rheos_status *status = rheos_eager_new(&options, &eager);
  rheos_host_unref(own);
  if (status) {
    raise_run_error_take(status, NULL);
    return NULL;
  }
  rheos_eager_free(graph->eager);
  graph->eager = eager;
  rheos_graph_unref(graph->graph);
  graph->graph = rheos_graph_ref(rheos_eager_graph(graph->eager));
  Py_XSETREF(package.eager_graph, Py_NewRef(self));
  Py_RETURN_NONE;
}

static PyObject *was_used(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return PyBool_FromLong(package.has_eager_tensors);
}

static PyObject *eager_waiting(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  char *text = NULL;
  if (!eager_context()) return PyUnicode_FromString("");
  rheos_status *status = rheos_eager_waiting(eager_context(), &text);
  if (status) {
    raise_run_error_take(status, NULL);
    return NULL;
  }
  PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  rheos_free(text);
  return result;
}

static PyObject *eager_device(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  return eager_context() ? PyUnicode_FromString(device_name()) : Py_NewRef(Py_None);
}

static PyObject *clear_kernels(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  rheos_eager_clear(eager_context());
  traced_calls_forget();
  Py_RETURN_NONE;
}

static PyObject *set_eager(PyObject *module, PyObject *value) {
  (void)module;
  const int truth = PyObject_IsTrue(value);
  if (truth < 0) return NULL;
  package.eager_is_on = truth;
  Py_RETURN_NONE;
}

static PyObject *register_eager(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *type;
  if (!PyArg_ParseTuple(args, "O!", &PyType_Type, &type)) return NULL;
  Py_XSETREF(package.eager_tensor_type, (PyTypeObject *)Py_NewRef(type));
  Py_RETURN_NONE;
}

static PyObject *count_default_graphs(PyObject *module, PyObject *change) {
  (void)module;
  package.num_default_graphs += (int32_t)PyLong_AsLong(change);
  return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *new_variable(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *dtype_object;
  const char *name;
  rheos_dtype dtype;
  if (!PyArg_ParseTuple(args, "Os", &dtype_object, &name)) return NULL;
  if (dtype_from_python(dtype_object, &dtype) < 0) return NULL;
  rheos_tensor *handle = NULL;
  rheos_status *status =
      rheos_eager_variable(eager_context(), rheos_dtype_base(dtype), name, &handle);
  if (!status) return eager_tensor_take(handle);
  raise_run_error_take(status, NULL);
  return NULL;
}

static PyMethodDef eager_functions[] = {
    {"_register_eager", register_eager, METH_VARARGS, "_register_eager(EagerTensor)"},
    {"_set_eager", set_eager, METH_O, "_set_eager(bool): whether eager execution is the default."},
    {"_count_default_graphs", count_default_graphs, METH_O,
     "_count_default_graphs(change): of graphs that threads have made default."},
    {"_is_any", is_any, METH_VARARGS, is_any_doc},
    {"_belong_nowhere", belong_nowhere, METH_O, belong_nowhere_doc},
    {"_executes_eagerly", executes_eagerly, METH_NOARGS, executes_eagerly_doc},
    {"_eager_was_used", was_used, METH_NOARGS, "_eager_was_used(): whether there were tensors."},
    {"_clear_kernels", clear_kernels, METH_NOARGS, "_clear_kernels()"},
    {"_eager_device", eager_device, METH_NOARGS,
     "_eager_device(): the name of the device; None before eager execution is set up."},
    {"_eager_waiting", eager_waiting, METH_NOARGS,
     "_eager_waiting(): what operations that run at once wait for, a line each."},
    {"_eager_variable", new_variable, METH_VARARGS, "_eager_variable(dtype, name): its handle."},
    {NULL, NULL, 0, NULL},
};

int eager_init_types(PyObject *module) {
  if (eager_numerics_init(module) < 0) return -1;
  if (eager_tensor_init_type(module) < 0) return -1;
  if (PyModule_AddType(module, &results_type) < 0) return -1;
  if (PyModule_AddFunctions(module, eager_functions) < 0) return -1;
  if (eager_place_init(module) < 0) return -1;
  if (tape_init_types(module) < 0) return -1;
  if (traced_init_types(module) < 0) return -1;
  return op_plan_init(module);
}
