// Attribute values between Python and the C API.
#ifndef RHEOS_PYTHON_ATTR_H
#define RHEOS_PYTHON_ATTR_H

#include "core.h"

// The attributes of one call, and the memory behind them.
typedef struct attr_list {
  rheos_attr *items;
  size_t count;
  void **blocks;  // from PyMem_Malloc
  size_t num_blocks;
  rheos_tensor **tensors;  // references to drop
  size_t num_tensors;
  PyObject *kept;     // sequences that values were borrowed from, or NULL
  rheos_attr few[6];  // what `items` is where these are enough
} attr_list;

// `attrs`: a sequence of (name, kind, value); the names and byte strings are borrowed from it.
int attr_list_init(attr_list *list, PyObject *attrs);
// An empty list with room for `count`, and one more in a list with room; the name is borrowed.
int attr_list_begin(attr_list *list, Py_ssize_t count);
int attr_list_add(attr_list *list, const char *name, int kind, PyObject *value);
void attr_list_deinit(attr_list *list);

// bytes, int, float, bool, DType, None or a tuple for shapes, a NumPy value, or lists of these.
PyObject *attr_to_python(rheos_attr_value value);

#endif  // RHEOS_PYTHON_ATTR_H
