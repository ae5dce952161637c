// The type of eager tensors: their values as Python's and as buffers.

#include "eager_object.h"

// ---- Values

static rheos_tensor *value_of_self(PyObject *self) { return ((tensor_object *)self)->value; }

PyDoc_STRVAR(numpy_doc, "_numpy(): the value as an array, a NumPy scalar or bytes.");
static PyObject *tensor_numpy(PyObject *self, PyObject *unused) {
  (void)unused;
  return tensor_to_python_take(rheos_tensor_ref(value_of_self(self)));
}

// The only element as a Python number; NULL with an exception.
static PyObject *item_of(PyObject *self) {
  PyObject *array = tensor_numpy(self, NULL);
  PyObject *item =
      array && !PyBytes_Check(array) ? PyObject_CallMethod(array, "item", NULL) : Py_XNewRef(array);
  Py_XDECREF(array);
  return item;
}

static PyObject *scalar_item(PyObject *self, const char *what) {
  if (rheos_tensor_num_elements(value_of_self(self)) == 1) return item_of(self);
  PyErr_Format(PyExc_TypeError, "Only length-1 arrays can be converted to Python %s", what);
  return NULL;
}

static int tensor_bool(PyObject *self) {
  if (rheos_tensor_num_elements(value_of_self(self)) != 1) {
    PyObject *shape = shape_to_python(rheos_tensor_shape(value_of_self(self)));
    if (shape)
      PyErr_SetString(PyExc_ValueError,
                      "The truth value of an array with more than one element is ambiguous. Use "
                      "a.any() or a.all()");
    Py_XDECREF(shape);
    return -1;
  }
  PyObject *item = item_of(self);
  const int truth = item ? PyObject_IsTrue(item) : -1;
  Py_XDECREF(item);
  return truth;
}

static PyObject *tensor_int(PyObject *self) {
  PyObject *item = scalar_item(self, "scalars");
  PyObject *number = item ? PyNumber_Long(item) : NULL;
  Py_XDECREF(item);
  return number;
}

static PyObject *tensor_float(PyObject *self) {
  PyObject *item = scalar_item(self, "scalars");
  PyObject *number = item ? PyNumber_Float(item) : NULL;
  Py_XDECREF(item);
  return number;
}

static PyObject *tensor_index(PyObject *self) {
  const rheos_dtype dtype = rheos_tensor_dtype(value_of_self(self));
  if (!rheos_dtype_is_integer(dtype) || rheos_tensor_shape(value_of_self(self))->rank != 0) {
    PyErr_SetString(PyExc_TypeError,
                    "only integer scalar tensors can be converted to a scalar index");
    return NULL;
  }
  return item_of(self);
}

static Py_ssize_t tensor_length(PyObject *self) {
  const rheos_shape *shape = rheos_tensor_shape(value_of_self(self));
  if (shape->rank > 0) return (Py_ssize_t)shape->dims[0];
  PyErr_SetString(PyExc_TypeError, "Scalar tensor has no `len()`");
  return -1;
}

// ---- Buffers

static const char *format_of(rheos_dtype dtype) {
  switch ((int)dtype) {
    case RHEOS_FLOAT: return "f";
    case RHEOS_DOUBLE: return "d";
    case RHEOS_HALF: return "e";
    case RHEOS_INT8: return "b";
    case RHEOS_UINT8: return "B";
    case RHEOS_INT16: return "h";
    case RHEOS_UINT16: return "H";
    case RHEOS_INT32: return "i";
    case RHEOS_UINT32: return "I";
    case RHEOS_INT64: return "q";
    case RHEOS_UINT64: return "Q";
    case RHEOS_BOOL: return "?";
    case RHEOS_COMPLEX64: return "Zf";
    case RHEOS_COMPLEX128: return "Zd";
    default: return NULL;
  }
}

// Shape and strides live in `internal`.
static int tensor_get_buffer(PyObject *self, Py_buffer *view, int flags) {
  rheos_tensor *value = value_of_self(self);
  const char *format = format_of(rheos_tensor_dtype(value));
  view->obj = NULL;
  if (!format || (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, format ? "the value of a tensor cannot be changed"
                                              : "a tensor of this dtype has no buffer");
    return -1;
  }
  const rheos_shape *shape = rheos_tensor_shape(value);
  Py_ssize_t *dims = PyMem_Calloc(2 * RHEOS_MAX_RANK, sizeof *dims);
  if (!dims) {
    PyErr_NoMemory();
    return -1;
  }
  const size_t size = rheos_dtype_size(rheos_tensor_dtype(value));
  Py_ssize_t stride = (Py_ssize_t)size;
  for (int32_t i = shape->rank; i-- > 0;) {
    dims[i] = (Py_ssize_t)shape->dims[i];
    dims[RHEOS_MAX_RANK + i] = stride;
    stride *= dims[i];
  }
  void *data = rheos_tensor_data(value);
  if (!data) {
    PyMem_Free(dims);
    PyErr_SetString(PyExc_BufferError, "the tensor cannot be copied from its device");
    return -1;
  }
  *view = (Py_buffer){
      .buf = data,
      .obj = Py_NewRef(self),
      .len = (Py_ssize_t)rheos_tensor_size_bytes(value),
      .itemsize = (Py_ssize_t)size,
      .readonly = 1,
      .ndim = shape->rank,
      .format = (flags & PyBUF_FORMAT) ? (char *)(uintptr_t)format : NULL,
      .shape = (flags & PyBUF_ND) ? dims : NULL,
      .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? dims + RHEOS_MAX_RANK : NULL,
      .internal = dims};
  return 0;
}

static void tensor_release_buffer(PyObject *self, Py_buffer *view) {
  (void)self;
  PyMem_Free(view->internal);
}

static PyBufferProcs tensor_buffer = {tensor_get_buffer, tensor_release_buffer};

// ---- The type

static PyMethodDef eager_methods[] = {
    {"_numpy", tensor_numpy, METH_NOARGS, numpy_doc},
    {NULL, NULL, 0, NULL},
};

static PyNumberMethods eager_number_methods;
static PySequenceMethods eager_sequence_methods = {.sq_length = tensor_length};
static PyMappingMethods eager_mapping_methods = {.mp_length = tensor_length,
                                                 .mp_subscript = eager_subscript};

PyTypeObject eager_tensor_base_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core.EagerTensorBase",
    .tp_basicsize = sizeof(tensor_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,  // what collects it is the base's
    .tp_doc = "A tensor whose value is there.",
    .tp_base = &tensor_base_type,
    .tp_as_number = &eager_number_methods,
    .tp_as_sequence = &eager_sequence_methods,
    .tp_as_mapping = &eager_mapping_methods,
    .tp_as_buffer = &tensor_buffer,
    .tp_methods = eager_methods,
};

int eager_tensor_init_type(PyObject *module) {
  eager_number_methods = tensor_number_methods;
  eager_number_methods.nb_bool = tensor_bool;
  eager_number_methods.nb_int = tensor_int;
  eager_number_methods.nb_float = tensor_float;
  eager_number_methods.nb_index = tensor_index;
  eager_number_methods.nb_matrix_multiply = eager_matmul;
  return PyModule_AddType(module, &eager_tensor_base_type);
}
