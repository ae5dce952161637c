// Attribute values between Python and the C API. The package says the kind of each value, as it is
// in the signature of the op.

#include "attr.h"

static void *list_block(attr_list *list, size_t count, size_t size) {
  void *block = PyMem_Calloc(count ? count : 1, size);
  void **blocks = PyMem_Realloc(list->blocks, (list->num_blocks + 1) * sizeof *blocks);
  if (blocks) list->blocks = blocks;
  if (!block || !blocks) {
    PyMem_Free(block);
    PyErr_NoMemory();
    return NULL;
  }
  list->blocks[list->num_blocks++] = block;
  return block;
}

static int keep_tensor(attr_list *list, rheos_tensor *tensor) {
  rheos_tensor **tensors = PyMem_Realloc(list->tensors, (list->num_tensors + 1) * sizeof *tensors);
  if (!tensors) {
    rheos_tensor_unref(tensor);
    PyErr_NoMemory();
    return -1;
  }
  list->tensors = tensors;
  tensors[list->num_tensors++] = tensor;
  return 0;
}

static int string_from_python(PyObject *value, rheos_string *out) {
  Py_ssize_t length = 0;
  if (PyBytes_Check(value)) {
    out->data = PyBytes_AS_STRING(value);
    length = PyBytes_GET_SIZE(value);
  } else {
    out->data = (char *)(uintptr_t)PyUnicode_AsUTF8AndSize(value, &length);
    if (!out->data) return -1;
  }
  out->size_bytes = (size_t)length;
  return 0;
}

// A value, or a pair of a value and its DType.
static int tensor_value(attr_list *list, PyObject *value, rheos_tensor **out) {
  rheos_dtype dtype = RHEOS_INVALID_DTYPE;
  if (PyTuple_Check(value) && PyTuple_GET_SIZE(value) == 2 &&
      PyObject_HasAttrString(PyTuple_GET_ITEM(value, 1), "_type_enum")) {
    if (dtype_from_python(PyTuple_GET_ITEM(value, 1), &dtype) < 0) return -1;
    value = PyTuple_GET_ITEM(value, 0);
  }
  *out = tensor_from_python(value, dtype, NULL, false);
  return *out ? keep_tensor(list, *out) : -1;
}

static int one_value(attr_list *list, rheos_attr_kind kind, PyObject *value,
                     rheos_attr_value *out) {
  switch (kind) {
    case RHEOS_ATTR_STRING:
    case RHEOS_ATTR_PLACEHOLDER: return string_from_python(value, &out->s);
    case RHEOS_ATTR_FUNC: {
      rheos_func *func = list_block(list, 1, sizeof *func);
      out->func = func;
      return func ? string_from_python(value, &func->name) : -1;
    }
    case RHEOS_ATTR_INT: {
      PyObject *index = PyNumber_Index(value);
      if (!index) return -1;
      out->i = PyLong_AsLongLong(index);
      Py_DECREF(index);
      return out->i == -1 && PyErr_Occurred() ? -1 : 0;
    }
    case RHEOS_ATTR_FLOAT:
      out->f = (float)PyFloat_AsDouble(value);
      return PyErr_Occurred() ? -1 : 0;
    case RHEOS_ATTR_BOOL: {
      int truth = PyObject_IsTrue(value);
      out->b = truth > 0;
      return truth < 0 ? -1 : 0;
    }
    case RHEOS_ATTR_TYPE: return dtype_from_python(value, &out->type);
    case RHEOS_ATTR_SHAPE: {
      rheos_shape *shape = list_block(list, 1, sizeof *shape);
      out->shape = shape;
      return shape ? shape_from_python(value, shape) : -1;
    }
    case RHEOS_ATTR_TENSOR: return tensor_value(list, value, &out->tensor);
    default:
      PyErr_Format(PyExc_TypeError, "attribute values of kind %d are not supported", (int)kind);
      return -1;
  }
}

static size_t element_size(rheos_attr_kind kind) {
  switch (kind) {
    case RHEOS_ATTR_LIST_STRING: return sizeof(rheos_string);
    case RHEOS_ATTR_LIST_FUNC: return sizeof(rheos_func);
    case RHEOS_ATTR_LIST_INT: return sizeof(int64_t);
    case RHEOS_ATTR_LIST_FLOAT: return sizeof(float);
    case RHEOS_ATTR_LIST_BOOL: return sizeof(bool);
    case RHEOS_ATTR_LIST_TYPE: return sizeof(rheos_dtype);
    case RHEOS_ATTR_LIST_SHAPE: return sizeof(rheos_shape);
    case RHEOS_ATTR_LIST_TENSOR: return sizeof(rheos_tensor *);
    default: return 0;
  }
}

static int list_value(attr_list *list, rheos_attr_kind kind, PyObject *value,
                      rheos_attr_value *out) {
  PyObject *items = fixed_sequence(value, "expected a list of attribute values");
  if (items && !list->kept) list->kept = PyList_New(0);
  int kept = items && list->kept ? PyList_Append(list->kept, items) : -1;
  Py_XDECREF(items);
  if (kept < 0) return -1;
  Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  void *block = list_block(list, (size_t)count, element_size(kind));
  int result = block ? 0 : -1;
  for (Py_ssize_t i = 0; i < count && result == 0; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(items, i);
    rheos_attr_value one = {0};
    if (kind == RHEOS_ATTR_LIST_SHAPE) {
      result = shape_from_python(item, (rheos_shape *)block + i);
      continue;
    }
    rheos_attr_kind single = (rheos_attr_kind)(kind - RHEOS_ATTR_LIST_STRING + RHEOS_ATTR_STRING);
    if (kind == RHEOS_ATTR_LIST_FUNC) single = RHEOS_ATTR_FUNC;
    result = one_value(list, single, item, &one);
    if (result < 0) break;
    switch (kind) {
      case RHEOS_ATTR_LIST_INT: ((int64_t *)block)[i] = one.i; break;
      case RHEOS_ATTR_LIST_FLOAT: ((float *)block)[i] = one.f; break;
      case RHEOS_ATTR_LIST_BOOL: ((bool *)block)[i] = one.b; break;
      case RHEOS_ATTR_LIST_TYPE: ((rheos_dtype *)block)[i] = one.type; break;
      case RHEOS_ATTR_LIST_TENSOR: ((rheos_tensor **)block)[i] = one.tensor; break;
      case RHEOS_ATTR_LIST_FUNC: ((rheos_func *)block)[i] = *one.func; break;
      default: ((rheos_string *)block)[i] = one.s; break;
    }
  }
  out->count = (int32_t)count;
  out->ints = block;  // one pointer for every kind of list
  return result;
}

int attr_list_begin(attr_list *list, Py_ssize_t count) {
  list->count = list->num_blocks = list->num_tensors = 0;
  list->blocks = NULL;
  list->tensors = NULL;
  list->kept = NULL;
  list->items = list->few;
  if (count <= (Py_ssize_t)(sizeof list->few / sizeof *list->few)) return 0;
  list->items = PyMem_Calloc((size_t)count, sizeof *list->items);
  if (list->items) return 0;
  PyErr_NoMemory();
  return -1;
}

int attr_list_add(attr_list *list, const char *name, int kind, PyObject *value) {
  rheos_attr *out = &list->items[list->count];
  *out = (rheos_attr){.name = name};
  out->value.kind = (rheos_attr_kind)kind;
  const int result = kind >= RHEOS_ATTR_LIST_STRING
                         ? list_value(list, out->value.kind, value, &out->value)
                         : one_value(list, out->value.kind, value, &out->value);
  if (result == 0) list->count++;
  return result;
}

static int add_tuple(attr_list *list, PyObject *item) {
  const char *name;
  int kind;
  PyObject *value;
  if (!PyArg_ParseTuple(item, "siO", &name, &kind, &value)) return -1;
  return attr_list_add(list, name, kind, value);
}

int attr_list_init(attr_list *list, PyObject *attrs) {
  Py_ssize_t count = PySequence_Fast_GET_SIZE(attrs);
  if (attr_list_begin(list, count) < 0) return -1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (add_tuple(list, PySequence_Fast_GET_ITEM(attrs, i)) < 0) {
      attr_list_deinit(list);
      return -1;
    }
  }
  return 0;
}

void attr_list_deinit(attr_list *list) {
  for (size_t i = 0; i < list->num_blocks; ++i) PyMem_Free(list->blocks[i]);
  for (size_t i = 0; i < list->num_tensors; ++i) rheos_tensor_unref(list->tensors[i]);
  Py_XDECREF(list->kept);
  PyMem_Free(list->blocks);
  PyMem_Free(list->tensors);
  list->num_blocks = list->num_tensors = list->count = 0;
  list->blocks = NULL;
  list->tensors = NULL;
  list->kept = NULL;
  if (list->items != list->few) PyMem_Free(list->items);
  list->items = list->few;
}

static PyObject *string_to_python(rheos_string s) {
  return PyBytes_FromStringAndSize(s.data, (Py_ssize_t)s.size_bytes);
}

static PyObject *list_item_to_python(rheos_attr_value value, int32_t i) {
  switch (value.kind) {
    case RHEOS_ATTR_LIST_INT: return PyLong_FromLongLong(value.ints[i]);
    case RHEOS_ATTR_LIST_FLOAT: return PyFloat_FromDouble((double)value.floats[i]);
    case RHEOS_ATTR_LIST_BOOL: return PyBool_FromLong(value.bools[i]);
    case RHEOS_ATTR_LIST_TYPE: return Py_XNewRef(dtype_to_python(value.types[i]));
    case RHEOS_ATTR_LIST_SHAPE: return shape_to_python(&value.shapes[i]);
    case RHEOS_ATTR_LIST_TENSOR: return tensor_to_python_take(rheos_tensor_ref(value.tensors[i]));
    case RHEOS_ATTR_LIST_FUNC: return string_to_python(value.funcs[i].name);
    default: return string_to_python(value.strings[i]);
  }
}

static PyObject *list_to_python(rheos_attr_value value) {
  PyObject *list = PyList_New(value.count);
  for (int32_t i = 0; list && i < value.count; ++i) {
    PyObject *item = list_item_to_python(value, i);
    if (!item)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, item);
  }
  return list;
}

PyObject *attr_to_python(rheos_attr_value value) {
  switch (value.kind) {
    case RHEOS_ATTR_NONE: Py_RETURN_NONE;
    case RHEOS_ATTR_FUNC: return string_to_python(value.func->name);
    case RHEOS_ATTR_STRING:
    case RHEOS_ATTR_PLACEHOLDER: return string_to_python(value.s);
    case RHEOS_ATTR_INT: return PyLong_FromLongLong(value.i);
    case RHEOS_ATTR_FLOAT: return PyFloat_FromDouble((double)value.f);
    case RHEOS_ATTR_BOOL: return PyBool_FromLong(value.b);
    case RHEOS_ATTR_TYPE: return Py_XNewRef(dtype_to_python(value.type));
    case RHEOS_ATTR_SHAPE: return shape_to_python(value.shape);
    case RHEOS_ATTR_TENSOR: {
      // A copy: the caller may write into it, the graph's constant stays what it is.
      rheos_tensor *copy = NULL;
      rheos_status *status = rheos_tensor_copy(value.tensor, &copy);
      if (!status) return tensor_to_python_take(copy);
      raise_run_error_take(status, NULL);
      return NULL;
    }
    default: return list_to_python(value);
  }
}
