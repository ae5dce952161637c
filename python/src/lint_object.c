// Lint for the package: what is found in a graph, logs of runs, and what sessions tell of graphs
// that grow.

#include <rheos/lint.h>
#include <string.h>

#include "session_object.h"

typedef struct log_object {
  PyObject_HEAD graph_object *graph;
  rheos_run_log *log;
} log_object;

static PyTypeObject log_type;

// ---- Logs of runs

static PyObject *log_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  PyObject *graph;
  if (!PyArg_ParseTuple(args, "O!", &graph_base_type, &graph)) return NULL;
  log_object *self = (log_object *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->graph = (graph_object *)Py_NewRef(graph);
  self->log = rheos_run_log_new(self->graph->graph);
  if (!self->log) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  return (PyObject *)self;
}

static int log_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(((log_object *)object)->graph);
  return 0;
}

static int log_clear(PyObject *object) {
  Py_CLEAR(((log_object *)object)->graph);
  return 0;
}

static void log_dealloc(PyObject *object) {
  PyObject_GC_UnTrack(object);
  rheos_run_log_free(((log_object *)object)->log);
  log_clear(object);
  PyObject_GC_Del(object);
}

static PyTypeObject log_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rheos._core._RunLog",
    .tp_basicsize = sizeof(log_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "_RunLog(graph): the runs of sessions of one graph.",
    .tp_new = log_new,
    .tp_dealloc = log_dealloc,
    .tp_traverse = log_traverse,
    .tp_clear = log_clear,
};

int lint_init_types(PyObject *module) { return PyModule_AddType(module, &log_type); }

// ---- What a session tells of its runs

PyObject *session_log_runs(PyObject *object, PyObject *log) {
  session_object *self = (session_object *)object;
  if (log != Py_None && !PyObject_TypeCheck(log, &log_type)) {
    PyErr_SetString(PyExc_TypeError, "expected a _RunLog or None");
    return NULL;
  }
  Py_XSETREF(self->log, log != Py_None ? Py_NewRef(log) : NULL);
  Py_RETURN_NONE;
}

PyObject *session_watch_growth(PyObject *object, PyObject *unused) {
  (void)unused;
  session_object *self = (session_object *)object;
  if (!self->growth) self->growth = rheos_growth_new();
  if (!self->growth) return PyErr_NoMemory();
  Py_RETURN_NONE;
}

// The package is told, unless the program's line says that it knows.
static int tell_growth(session_object *self) {
  const char *file;
  int32_t line;
  char *text;
  rheos_status *status = rheos_growth_text(self->growth, &file, &line, &text);
  if (status) {
    raise_run_error_take(status, self->graph);
    return -1;
  }
  PyObject *told = NULL;
  const bool tells = text && !rheos_lint_is_ignored(file, line, "growing-graph");
  if (tells) {
    told = PyObject_CallMethod((PyObject *)self, "_tell_growth", "zis", file, (int)line, text);
  }
  rheos_free(text);
  Py_XDECREF(told);
  return tells && !told ? -1 : 0;
}

static int log_run(session_object *self, const int32_t *words, int32_t num_words,
                   rheos_tensor *const *values) {
  rheos_graph *graph = self->graph->graph;
  const size_t num_feeds = (size_t)words[0], room = (size_t)num_words / 2 + 1;
  rheos_feed *feeds = PyMem_Calloc(room, sizeof *feeds);
  rheos_output *fetches = PyMem_Calloc(room, sizeof *fetches);
  rheos_operation *targets = PyMem_Calloc(room, sizeof *targets);
  rheos_logged_run run = {
      .feeds = feeds, .num_feeds = num_feeds, .fetches = fetches, .targets = targets};
  rheos_status *status = NULL;
  const bool has_room = feeds && fetches && targets;
  for (size_t i = 0; has_room && i < (size_t)(num_words - 1) / 2; ++i) {
    const int32_t *word = words + 1 + 2 * i;
    if (i < num_feeds) {
      feeds[i] = (rheos_feed){{graph, word[0], word[1]}, values[i]};
    } else if (word[1] >= 0) {
      fetches[run.num_fetches++] = (rheos_output){graph, word[0], word[1]};
    } else {
      targets[run.num_targets++] = (rheos_operation){graph, word[0]};
    }
  }
  if (has_room) {
    find_source(&run.file, &run.line);
    status = rheos_run_log_add(((log_object *)self->log)->log, &run);
  }
  PyMem_Free(feeds);
  PyMem_Free(fetches);
  PyMem_Free(targets);
  if (status) raise_run_error_take(status, self->graph);
  if (!has_room) PyErr_NoMemory();
  return status || !has_room ? -1 : 0;
}

int session_note_run(session_object *self, const int32_t *words, int32_t num_words,
                     rheos_tensor *const *values) {
  if (rheos_growth_note(self->growth, self->graph->graph) && tell_growth(self) < 0) return -1;
  return self->log ? log_run(self, words, num_words, values) : 0;
}

// ---- Functions of the module

static PyObject *finding_to_python(const rheos_finding *f) {
  return Py_BuildValue("szisss", f->rule->name, f->file, (int)f->line, f->text, f->node,
                       f->function);
}

static PyObject *findings_to_python(const rheos_lint *lint) {
  const Py_ssize_t count = (Py_ssize_t)rheos_lint_num_findings(lint);
  PyObject *list = PyList_New(count);
  for (Py_ssize_t i = 0; list && i < count; ++i) {
    PyObject *item = finding_to_python(rheos_lint_finding_at(lint, (size_t)i));
    if (!item)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, item);
  }
  return list;
}

PyObject *lint_graph(PyObject *module, PyObject *args) {
  (void)module;
  PyObject *graph, *asked, *log;
  int notes, is_serving;
  if (!PyArg_ParseTuple(args, "O!ppO!O", &graph_base_type, &graph, &notes, &is_serving,
                        &PyList_Type, &asked, &log)) {
    return NULL;
  }
  rheos_graph *of = ((graph_object *)graph)->graph;
  rheos_lint_options options = {.notes = notes, .is_serving = is_serving};
  if (log != Py_None) {
    if (!PyObject_TypeCheck(log, &log_type)) return PyErr_Format(PyExc_TypeError, "no _RunLog");
    options.runs = ((log_object *)log)->log;
  }
  const Py_ssize_t count = PyList_GET_SIZE(asked);
  rheos_operation *operations = PyMem_Calloc((size_t)count + 1, sizeof *operations);
  if (!operations) return PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < count; ++i) {
    operations[i] = (rheos_operation){of, (int32_t)PyLong_AsLong(PyList_GET_ITEM(asked, i))};
  }
  options.asked = operations;
  options.num_asked = (size_t)count;
  rheos_lint *lint = NULL;
  rheos_status *status = PyErr_Occurred() ? NULL : rheos_graph_lint(of, &options, &lint);
  PyMem_Free(operations);
  if (status) raise_build_error_take(status);
  PyObject *list = lint ? findings_to_python(lint) : NULL;
  rheos_lint_free(lint);
  return list;
}

PyObject *lint_rules(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  const rheos_lint_rule *rule;
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && (rule = rheos_lint_rule_at(i)) != NULL; ++i) {
    PyObject *item =
        Py_BuildValue("sssOO", rule->name, rule->sign, rule->remedy,
                      rule->is_note ? Py_True : Py_False, rule->wants_runs ? Py_True : Py_False);
    if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

PyObject *lint_is_ignored(PyObject *module, PyObject *args) {
  (void)module;
  const char *file, *rule;
  int line;
  if (!PyArg_ParseTuple(args, "zis", &file, &line, &rule)) return NULL;
  return PyBool_FromLong(rheos_lint_is_ignored(file, line, rule));
}
