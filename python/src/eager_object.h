// Eager execution inside the extension: eager_object.c has tensors and operations, tape_object.c tapes.
#ifndef RHEOS_PYTHON_EAGER_OBJECT_H
#define RHEOS_PYTHON_EAGER_OBJECT_H

#include <rheos/eager.h>

#include "core.h"

extern PyTypeObject eager_tensor_base_type;

// The value of an eager tensor, borrowed; NULL for other objects.
static inline rheos_tensor *eager_value(PyObject *object) {
  return is_tensor(object) ? ((tensor_object *)object)->value : NULL;
}

// Takes the reference, on failure too.
PyObject *eager_tensor_take(rheos_tensor *value);

// Whether operations run at once now, on this thread.
bool executing_eagerly(void);
rheos_eager *eager_context(void);  // NULL before it is set up

void raise_eager_error_take(rheos_status *status, const char *type);

// The values of a list or tuple of eager tensors, borrowed, in an array for PyMem_Free(); NULL with an
// exception.
rheos_tensor **eager_values(PyObject *items, size_t *out_count);

// What the graph object's methods of these names do where it stands for eager execution.
PyObject *eager_node(const char *type, PyObject *inputs, PyObject *attrs, const char *device);
PyObject *eager_constant(PyObject *value, rheos_dtype dtype, rheos_dtype preferred,
                         const rheos_shape *shape, bool exact);
PyObject *graph_become_eager(PyObject *self, PyObject *args);

// Operators on an eager tensor and something else that is no symbolic tensor.
PyObject *eager_binary(PyObject *a, PyObject *b, const char *type);
PyObject *eager_unary(PyObject *a, const char *type, const rheos_attr *attr);

int eager_init_types(PyObject *module);
int tape_init_types(PyObject *module);

#endif  // RHEOS_PYTHON_EAGER_OBJECT_H
