// Where operations that run at once are, and their tensors. What a program asks for by tf.device is
// kept by thread, and given to operations only where there are cards: with CPUs alone it would make
// the same operation anew for each name of a device.

#include "eager_object.h"

#include <rheos/front_end.h>

static PyObject *names;                  // dict: texts that threads point to; they stay
static _Thread_local const char *asked;  // NULL: nothing
static bool any_asked;                   // by any thread, ever

const char *eager_asked_device(void) { return any_asked ? asked : NULL; }

static bool has_cards(void) {
  const rheos_host *host = rheos_eager_host(eager_context());
  const int32_t count = rheos_host_num_devices(host);
  return count > 0 && strstr(rheos_host_device(host, count - 1), "/device:CPU:") == NULL;
}

PyDoc_STRVAR(ask_device_doc, "_ask_device(name or None): what operations of this thread ask for.");
static PyObject *ask_device(PyObject *module, PyObject *name) {
  (void)module;
  asked = NULL;
  if (name == Py_None || !has_cards()) Py_RETURN_NONE;
  if (!PyUnicode_Check(name)) return PyErr_Format(PyExc_TypeError, "expected a name, got %R", name);
  PyObject *kept = PyDict_SetDefault(names, name, name);
  const char *text = kept ? text_of(kept) : NULL;
  if (!text) return NULL;
  if (*text) asked = text;
  any_asked = true;
  Py_RETURN_NONE;
}

rheos_tensor *eager_placed_take(rheos_tensor *tensor) {
  const char *device = eager_asked_device();
  const rheos_dtype dtype = rheos_tensor_dtype(tensor);
  const bool stays = dtype == RHEOS_STRING || dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT ||
                     dtype == RHEOS_INT32;
  if (!device || stays) return tensor;
  rheos_tensor *placed = NULL;
  rheos_status *status = rheos_eager_copy(eager_context(), tensor, device, &placed);
  if (status && rheos_status_code(status) == RHEOS_INVALID_ARGUMENT) {  // soft placement
    rheos_status_free(status);
    return tensor;
  }
  rheos_tensor_unref(tensor);
  if (!status) return placed;
  raise_run_error_take(status, NULL);
  return NULL;
}

PyDoc_STRVAR(device_doc, "_device(): the name of the device that has it; \"\": the first CPU.");
static PyObject *device_of(PyObject *module, PyObject *tensor) {
  (void)module;
  if (eager_value(tensor)) return PyUnicode_FromString(rheos_tensor_device(eager_value(tensor)));
  return PyErr_Format(PyExc_TypeError, "expected an eager tensor, got %R", tensor);
}

PyDoc_STRVAR(copy_doc, "_copy_to(tensor, device): the tensor there, through which gradients flow.");
static PyObject *copy_to(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *tensor;
  const char *device;
  if (!PyArg_ParseTuple(args, "Os", &tensor, &device)) return NULL;
  if (!eager_value(tensor)) {
    return PyErr_Format(PyExc_TypeError, "expected an eager tensor, got %R", tensor);
  }
  rheos_tensor *copy = NULL;
  rheos_status *status = rheos_eager_copy(eager_context(), eager_value(tensor), device, &copy);
  if (!status) return eager_tensor_take(copy);
  raise_run_error_take(status, NULL);
  return NULL;
}

static PyObject *devices(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  const rheos_host *host = rheos_eager_host(eager_context());
  const int32_t count = rheos_host_num_devices(host);
  PyObject *list = PyList_New(count);
  for (int32_t i = 0; list && i < count; ++i) {
    PyObject *name = PyUnicode_FromString(rheos_host_device(host, i));
    if (name)
      PyList_SET_ITEM(list, i, name);
    else
      Py_CLEAR(list);
  }
  return list;
}

// The number of a device of eager execution; -1 with an exception.
static int32_t device_number(const rheos_host *host, const char *name) {
  for (int32_t i = 0; i < rheos_host_num_devices(host); ++i) {
    if (strcmp(rheos_host_device(host, i), name) == 0) return i;
  }
  PyErr_Format(PyExc_ValueError, "there is no device %s", name);
  return -1;
}

PyDoc_STRVAR(memory_doc, "_memory_use(device, resets): bytes in use and their peak.");
static PyObject *memory_use(PyObject *module, PyObject *args) {
  (void)module;
  rheos_host *host = rheos_eager_host(eager_context());
  const char *name;
  int resets;
  int64_t bytes, peak;
  if (!PyArg_ParseTuple(args, "sp", &name, &resets)) return NULL;
  const int32_t number = device_number(host, name);
  if (number < 0) return NULL;
  rheos_status *status = resets ? rheos_host_reset_memory_peak(host, number) : NULL;
  if (!status) status = rheos_host_memory_use(host, number, &bytes, &peak);
  if (!status) return Py_BuildValue("LL", (long long)bytes, (long long)peak);
  raise_run_error_take(status, NULL);
  return NULL;
}

static PyMethodDef functions[] = {
    {"_ask_device", ask_device, METH_O, ask_device_doc},
    {"_device_of", device_of, METH_O, device_doc},
    {"_copy_to", copy_to, METH_VARARGS, copy_doc},
    {"_memory_use", memory_use, METH_VARARGS, memory_doc},
    {"_eager_devices", devices, METH_NOARGS, "_eager_devices(): names of the devices there are."},
    {NULL, NULL, 0, NULL},
};

int eager_place_init(PyObject *module) {
  names = PyDict_New();
  return names ? PyModule_AddFunctions(module, functions) : -1;
}
