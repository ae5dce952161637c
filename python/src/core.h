// What the parts of the extension share: the object layouts and the conversions.
//
// The extension adds nothing to the public C API but Python: objects, NumPy conversion, exceptions,
// operators. All building happens under the GIL, so a graph's scopes need no lock of their own.
#ifndef RHEOS_PYTHON_CORE_H
#define RHEOS_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <rheos/function.h>
#include <rheos/host.h>
#include <rheos/train.h>

#if PY_VERSION_HEX < 0x030A0000  // what came with Python 3.10
static inline PyObject *Py_XNewRef(PyObject *object) {
  Py_XINCREF(object);
  return object;
}
#define Py_XNewRef(object) Py_XNewRef((PyObject *)(object))
#define Py_NewRef(object) Py_XNewRef(object)
#define Py_TPFLAGS_DISALLOW_INSTANTIATION 0  // no tp_new says so, of a type that is not on the heap
#endif

// ---- Objects

struct tensor_object;
struct operation_object;

// The live Python objects of one node. They are not owned: each removes itself when it is freed.
typedef struct node_objects {
  struct operation_object *operation;
  struct tensor_object *first;    // of output 0
  struct tensor_object **others;  // of the outputs behind it
  int32_t num_others;             // room for them
} node_objects;

typedef struct thread_scope {
  uint64_t thread;
  int32_t depth;  // pushes not yet undone
  rheos_scope *scope;
} thread_scope;

typedef struct graph_object {
  PyObject_HEAD rheos_graph *graph;
  node_objects *nodes;
  int32_t num_nodes;  // room in `nodes`
  PyObject *kept;     // list of tensors and operations that carry attributes of the user, or NULL
  thread_scope *scopes;
  int32_t num_scopes;
  bool finalized;
  PyObject *device_function;  // called when operations were added, or NULL
  int32_t num_adding;         // calls under way that will ask it
  bool restricts_runs;        // there is something that may not be fed or fetched
  bool calls_program;         // there is a PyFunc among the first `num_searched` operations
  int32_t num_searched;
  rheos_function *function;     // of the body of a function, else NULL
  struct graph_object *around;  // owned: the graph around that body, else NULL
  bool is_open;                 // that body may still grow
  bool reads_outside;           // that body captures what variables hold, not their handles
  struct rheos_eager *eager;    // of the graph that stands for eager execution; else NULL
} graph_object;

typedef struct tensor_object {
  PyObject_HEAD graph_object *graph;  // owned
  int32_t id, index;
  bool kept;
  rheos_tensor *value;  // of an eager tensor, owned; NULL: it is symbolic
} tensor_object;

typedef struct operation_object {
  PyObject_HEAD graph_object *graph;  // owned
  int32_t id;
  bool kept;
} operation_object;

typedef struct variable_object {
  PyObject_HEAD graph_object *graph;  // owned; NULL before it is set up, and of an eager one
  rheos_variable variable;
  rheos_operation after;  // what reads of it wait for: the variable as an assignment gives it
  PyObject *handle;       // of an eager one, and what it may be assigned
  rheos_dtype dtype;
  rheos_shape shape;
  PyObject *trainable;  // True, False or None, of any variable
} variable_object;

typedef struct session_object session_object;

extern PyTypeObject graph_base_type, tensor_base_type, operation_base_type, variable_base_type,
    session_base_type;

// What the Python package hands over when it is imported, and what the extension has noted since.
//
// It is the process's, as all state of the extension is, and not the module's: the types are
// static, so that their slots find it at once, and a module with static types is there once in a
// process
// (`m_size` is -1). What stands beside it, tools/check-state lists with reasons.
typedef struct package_objects {
  PyTypeObject *tensor_type, *operation_type, *shape_type;
  PyObject *dims_name;               // the attribute of shapes that tensor_get_dims() is for
  PyObject *dtypes[RHEOS_REF + 24];  // DType objects by number
  PyObject *error_classes[17];       // exceptions by code
  PyObject *convert;                 // function(value, dtype, preferred, name, graph): any object
  PyObject *default_graph;           // function(): the graph that operations go to
  PyObject *explain_ragged;          // function(value): raises for a ragged list
  PyObject *internal_prefix;         // folder of the package, ends in "/"
  PyObject *describe_op;             // function(op): (kinds, lists, defaults, attrs), or None
  PyObject *add_op;                  // as op1(), of any operation
  PyObject *dtype_names;             // dict from a name to a DType
  int32_t num_open_functions;        // whose bodies may still grow
  // Of eager execution; NULL before it is set up.
  PyTypeObject *eager_tensor_type;
  PyObject *eager_graph;      // stands for it
  PyObject *failed_gradient;  // raises the error of the gradient that is being made, or NULL
  bool eager_is_on;
  bool has_eager_tensors;       // some were made since the process began
  bool runs_functions_eagerly;  // functions are called as Python
  int32_t num_eager_watches;    // that are on, of what runs at once: who is told takes the GIL
  int32_t num_default_graphs;   // made default by threads
} package_objects;
extern package_objects package;

static inline bool is_graph(PyObject *o) { return PyObject_TypeCheck(o, &graph_base_type); }
static inline bool is_tensor(PyObject *o) { return PyObject_TypeCheck(o, &tensor_base_type); }
static inline bool is_operation(PyObject *o) { return PyObject_TypeCheck(o, &operation_base_type); }
static inline bool is_variable(PyObject *o) { return PyObject_TypeCheck(o, &variable_base_type); }

// ---- Graphs (graph_object.c)

// The Python object of an output or operation of the graph: the live one, or a new one.
PyObject *graph_tensor(graph_object *graph, int32_t id, int32_t index);
PyObject *graph_operation(graph_object *graph, int32_t id);

// The scope of the calling thread, NULL with an exception when memory is short.
rheos_scope *graph_scope(graph_object *graph);

// The scope, ready for operations that the current line of the program adds; NULL with an exception
// if the graph is finalized.
rheos_scope *graph_scope_for_adding(graph_object *graph);

// Whether the scope had an error; it is raised then, as building a graph raises it.
bool raise_scope_error(rheos_scope *scope);

// The graph that an operation on something of `graph` goes to: another one only where the body of a
// function is being built, which captures what is not of it: `out_captures` (may be NULL). A new
// reference; NULL with an exception.
graph_object *graph_for_adding(graph_object *graph, bool *out_captures);

// Keeps a tensor or operation alive as long as its graph, because it carries attributes.
int graph_keep(graph_object *graph, PyObject *object);

// Forgets an object that is being freed.
void graph_forget_tensor(graph_object *graph, tensor_object *tensor);
void graph_forget_operation(graph_object *graph, operation_object *operation);

int graph_init_types(PyObject *module);
int tensor_init_types(PyObject *module);
int session_init_types(PyObject *module);
int server_init_types(PyObject *module);
int watch_init_types(PyObject *module);
int ranks_init_types(PyObject *module);
int lint_init_types(PyObject *module);
// lint_object.c
PyObject *lint_graph(PyObject *module, PyObject *args);
PyObject *lint_rules(PyObject *module, PyObject *unused);
PyObject *lint_is_ignored(PyObject *module, PyObject *args);
// Of a server or of ranks; NULL with an exception.
struct rheos_host *server_host(PyObject *object);
struct rheos_host *ranks_host(PyObject *object);            // NULL: it is another object
PyObject *cluster_reset(PyObject *module, PyObject *args);  // server_object.c

// ---- Names and shapes

// The UTF-8 of a str, borrowed from it; NULL with an exception, also where it holds a NUL.
const char *text_of(PyObject *string);
// Of each str in a list or tuple; for PyMem_Free(). NULL with an exception.
const char **texts_of(PyObject *strings);
// For PyArg_ParseTuple's "O&": sets a `const char *`, to NULL for None.
int text_or_none(PyObject *string, void *out_text);
// A list or tuple of the elements of `value` that nobody else can change; a new reference. NULL
// with an exception, a TypeError of this message if it is no sequence.
PyObject *fixed_sequence(PyObject *value, const char *message);

PyObject *operation_name(rheos_operation operation);  // str
PyObject *output_name(rheos_output output);           // str, "a/b:0"
PyObject *shape_to_python(const rheos_shape *shape);  // None or a tuple of int and None
// None, a TensorShape (its `_dims`), an int or a sequence of int, None and Dimension.
int shape_from_python(PyObject *value, rheos_shape *out_shape);
PyObject *dtype_to_python(rheos_dtype dtype);  // borrowed DType; NULL with an exception
int dtype_from_python(PyObject *value, rheos_dtype *out_dtype);  // a DType object or its number

// ---- Operators (operators.c)

extern PyNumberMethods tensor_number_methods;
PyObject *tensor_compare(PyObject *a, PyObject *b, int op);

// The output that a tensor or variable stands for in a computation; false for other objects. Of a
// resource variable it is a new node; false with an exception if that fails.
bool output_of(PyObject *object, rheos_output *out_output, graph_object **out_graph);
// The value of a variable for use in the current scope, and the graph that it is of (borrowed);
// none with an exception.
rheos_output read_variable(const variable_object *variable, graph_object **out_graph);
// What sessions fetch and feed for a variable.
static inline rheos_output element_of(const variable_object *variable) {
  return rheos_variable_is_resource(variable->variable) ? variable->variable.value
                                                        : variable->variable.handle;
}

// ---- Values (convert.c)

int convert_init(void);  // imports NumPy

// A constant's value, with TensorFlow's rules: `dtype` 0 means: what the value suggests. `shape`
// may be NULL. NULL with an exception on failure.
rheos_tensor *tensor_from_python(PyObject *value, rheos_dtype dtype, const rheos_shape *shape,
                                 bool exact_shape);

// A nested list of Python's own numbers, truth values or texts (nested_list.c). NULL: an exception,
// or none: the value is another one, or none of this dtype.
rheos_tensor *nested_from_python(PyObject *value, rheos_dtype dtype);
// -1 with an exception for a nested list of numbers that eager execution makes no tensor of by
// itself: of several kinds, or with integers that no dtype has.
int refuse_mixture(PyObject *value);

// A value for a feed: converted as numpy.asarray(value, dtype) would. Aligned contiguous arrays of
// the right dtype are borrowed, not copied.
rheos_tensor *tensor_for_feed(PyObject *value, rheos_dtype dtype);

// A NumPy array, or a NumPy scalar or bytes for rank 0. Takes the reference to `tensor`.
PyObject *tensor_to_python_take(rheos_tensor *tensor);

// Whether the value is a NumPy array or scalar.
bool is_numpy(PyObject *value);

// ---- Source lines (source_line.c)

// Tells the scope the file and line of the nearest frame outside the package.
void scope_set_source(rheos_scope *scope);
// The line itself; file NULL if there is none. Good until the next call.
void find_source(const char **out_file, int32_t *out_line);

// ---- Errors (errors.c)

// Raises `status` (taken) as a failed run raises it: an errors.OpError of its code.
void raise_run_error_take(rheos_status *status, graph_object *graph);
// As building a graph raises it: ValueError, TypeError and so on.
void raise_build_error_take(rheos_status *status);

#endif  // RHEOS_PYTHON_CORE_H
