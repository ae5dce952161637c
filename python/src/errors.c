// The one place where a status becomes a Python exception.

#include <string.h>

#include "core.h"

// What the library says in words of C, and how programs of Python know it.
static const struct {
  const char *in_c, *in_python;
} words[] = {
    {"Did you mean to push its variable scope with RHEOS_REUSE_YES or RHEOS_REUSE_AUTO?",
     "Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"},
    {"created with rheos_get_variable(). Did you mean to push its variable scope with "
     "RHEOS_REUSE_AUTO?",
     "created with tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"},
    {"be a mutable tensor (a variable that is not a resource)",
     "be a mutable tensor (e.g.: a tf.Variable)"},
    {"give a less specific one in `shapes` of rheos_while_options.",
     "use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape."},
    {"must set grad_ys (y.dtype = ", "must set grad_ys (y.dtype = tf."},
    {"Invalid type ", "Invalid type tf."},
    {"expected: [float32, float64, float16, bfloat16].",
     "expected: [tf.float32, tf.float64, tf.float16, tf.bfloat16]."},
    {"(use rheos_stack() instead)", "(use tf.stack instead)"},
    {"Use rheos_sparse_reorder() to", "Use `tf.sparse.reorder` to"},
    {"can only be decoded by DecodeGif or DecodeImage",
     "can only be decoded by tf.image.decode_gif or tf.image.decode_image"},
};

static PyObject *message_of(const rheos_status *status) {
  const char *text = rheos_status_message(status);
  PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  for (size_t i = 0; message && i < sizeof words / sizeof words[0]; i++) {
    if (!strstr(text, words[i].in_c)) continue;
    PyObject *told =
        PyObject_CallMethod(message, "replace", "ssi", words[i].in_c, words[i].in_python, 1);
    Py_SETREF(message, told);
  }
  return message;
}

static PyObject *operation_named(const char *node, graph_object *graph) {
  rheos_operation operation = rheos_graph_operation(graph->graph, node);
  return operation.graph ? graph_operation(graph, operation.id) : Py_NewRef(Py_None);
}

static PyObject *operation_of_error(const rheos_status *status, graph_object *graph) {
  const char *node = graph ? rheos_status_node(status) : NULL;
  return node ? operation_named(node, graph) : Py_NewRef(Py_None);
}

void raise_run_error_take(rheos_status *status, graph_object *graph) {
  rheos_code code = rheos_status_code(status);
  PyObject *class = code >= 0 && code <= RHEOS_UNAUTHENTICATED ? package.error_classes[code] : NULL;
  PyObject *message = message_of(status);
  PyObject *operation = message ? operation_of_error(status, graph) : NULL;
  rheos_status_free(status);
  if (operation && class) {
    PyObject *error = PyObject_CallFunctionObjArgs(class, Py_None, operation, message, NULL);
    if (error) PyErr_SetObject(class, error);
    Py_XDECREF(error);
  } else if (operation) {
    PyErr_SetObject(PyExc_RuntimeError, message);
  }
  Py_XDECREF(operation);
  Py_XDECREF(message);
}

// TensorFlow checks dtypes in Python, where a mismatch is a TypeError.
static bool is_about_dtypes(const char *text) {
  return strstr(text, "that does not match type") || strstr(text, "in list of allowed values") ||
         strstr(text, "that does not match expected type");
}

void raise_build_error_take(rheos_status *status) {
  PyObject *class = NULL;
  switch (rheos_status_code(status)) {
    case RHEOS_INVALID_ARGUMENT:
      class = is_about_dtypes(rheos_status_message(status)) ? PyExc_TypeError : PyExc_ValueError;
      break;
    case RHEOS_UNIMPLEMENTED:
      if (!strstr(rheos_status_message(status), "Second-order gradient")) {
        raise_run_error_take(status, NULL);
        return;
      }
      class = PyExc_TypeError;
      break;
    case RHEOS_OUT_OF_RANGE:
    case RHEOS_ALREADY_EXISTS:
    case RHEOS_FAILED_PRECONDITION: class = PyExc_ValueError; break;
    default: raise_run_error_take(status, NULL); return;
  }
  PyObject *message = message_of(status);
  rheos_status_free(status);
  if (!message) return;
  PyErr_SetObject(class, message);
  Py_DECREF(message);
}

bool raise_scope_error(rheos_scope *scope) {
  if (!rheos_scope_status(scope)) return false;
  rheos_status *status = rheos_scope_finish(scope);
  // What the package raised while it was asked for something is the cause.
  if (PyErr_Occurred())
    rheos_status_free(status);
  else
    raise_build_error_take(status);
  return true;
}
