// Eager execution inside the extension: eager_object.c has operations, eager_tensor.c tensors,
// tape_object.c tapes.
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

// The values of a list or tuple of eager tensors, borrowed, in an array for PyMem_Free(); NULL with
// an exception.
rheos_tensor **eager_values(PyObject *items, size_t *out_count);

// What the graph object's methods of these names do where it stands for eager execution.
PyObject *eager_node(const char *type, PyObject *inputs, PyObject *attrs, const char *device);
PyObject *eager_constant(PyObject *value, rheos_dtype dtype, rheos_dtype preferred,
                         const rheos_shape *shape, bool exact);
PyObject *graph_become_eager(PyObject *self, PyObject *args);

// Operators on an eager tensor and something else that is no symbolic tensor.
PyObject *eager_binary(PyObject *a, PyObject *b, const char *type);
PyObject *eager_matmul(PyObject *a, PyObject *b);
PyObject *eager_unary(PyObject *a, const char *type, const rheos_attr *attr);

// The operation's only output. NULL: an exception of running it, or none: it has another number of
// outputs, or something is wrong with it.
PyObject *eager_run_quickly(const rheos_eager_op *op);
// All that it gave, as eager_node() does. NULL as above.
PyObject *eager_run_all_quickly(const rheos_eager_op *op);
// 1: an operation without outputs was run. 0: it is none, or something is wrong with it. -1 with an
// exception.
int eager_run_target(const rheos_eager_op *op);

PyObject *eager_subscript(PyObject *self, PyObject *key);  // eager_slice.c

// Runs it; `type` is what errors call it. -1 with an exception.
int eager_run_region(rheos_region *region, rheos_tensor *const *inputs, rheos_tensor **outputs,
                     const char *type);

// ---- Checks of numbers (eager_numerics.c)

// What an operation was run on, and what it gave.
typedef struct eager_ran {
  const char *type;
  rheos_tensor *const *inputs, *const *outputs;
  int32_t num_inputs, num_outputs;
} eager_ran;

bool eager_numbers_are_checked(void);
// -1 with an exception, where an output has a NaN or an infinity that the package does not let
// pass.
int eager_check_numbers(const eager_ran *ran);
bool eager_ops_are_looked_at(void);  // by one of both
// Tells who follows operations of one, if anybody does. -1 with an exception of that.
int eager_tell_op(const eager_ran *ran, const rheos_region *region);
int eager_numerics_init(PyObject *module);

// ---- Places (eager_place.c)

// What operations of this thread ask for by tf.device; NULL: nothing.
const char *eager_asked_device(void);
// A constant where this thread asks for it to be, if it may lie there; takes the reference. NULL
// with an exception.
rheos_tensor *eager_placed_take(rheos_tensor *tensor);
int eager_place_init(PyObject *module);

// ---- Variables (eager_variable.c)

static inline bool is_eager_variable(PyObject *object) {
  return is_variable(object) && !((variable_object *)object)->graph;
}

// The value of an eager variable, which tapes are told of; NULL with an exception.
PyObject *eager_variable_read(PyObject *variable);

// Methods of variables.
PyObject *variable_read_now(PyObject *self, PyObject *unused);
PyObject *variable_assign_now(PyObject *self, PyObject *args);
PyObject *variable_set_up_now(PyObject *self, PyObject *args);
PyObject *variable_same_as(PyObject *self, PyObject *other);

// Has the tapes that record on this thread, and watch the variables that are read, watch one. False
// with an exception.
bool tapes_watch(PyObject *variable, PyObject *handle);
// Whether any thread has something to tell: a tape or the like.
bool anything_listens(void);

int eager_init_types(PyObject *module);
int eager_tensor_init_type(PyObject *module);  // eager_tensor.c
int tape_init_types(PyObject *module);

#endif  // RHEOS_PYTHON_EAGER_OBJECT_H
