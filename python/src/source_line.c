// Which line of the program adds an operation: the nearest frame outside the package.
//
// Lines are looked up once for each code object and instruction, because CPython finds them by
// walking a table. The cache owns its code objects, so a pointer cannot come to mean another one.

#include <string.h>

#include "core.h"

#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
// Any number that tells the instructions of a code object apart.
#define PyFrame_GetLasti(frame) ((frame)->f_lasti)
#endif

enum { cache_slots = 512 };

typedef struct source_line {
  PyCodeObject *code;
  int instruction;
  int line;
  const char *file;  // belongs to the code object
} source_line;

static source_line cache[cache_slots];

static bool is_internal(PyCodeObject *code) {
  Py_ssize_t prefix_length = 0, length = 0;
  const char *prefix = PyUnicode_AsUTF8AndSize(package.internal_prefix, &prefix_length);
  const char *file = PyUnicode_AsUTF8AndSize(code->co_filename, &length);
  if (!prefix || !file) {
    PyErr_Clear();
    return false;
  }
  return length >= prefix_length && memcmp(file, prefix, (size_t)prefix_length) == 0;
}

static const source_line *line_of(PyFrameObject *frame, PyCodeObject *code) {
  int instruction = PyFrame_GetLasti(frame);
  size_t hash = ((uintptr_t)code >> 4) * 31 + (size_t)instruction;
  source_line *entry = &cache[(hash ^ hash >> 9) % cache_slots];
  if (entry->code == code && entry->instruction == instruction) return entry;
  const char *file = PyUnicode_AsUTF8(code->co_filename);
  if (!file) {
    PyErr_Clear();
    return NULL;
  }
  PyCodeObject *old = entry->code;
  *entry = (source_line){(PyCodeObject *)Py_NewRef(code), instruction, PyFrame_GetLineNumber(frame),
                         file};
  Py_XDECREF(old);
  return entry;
}

void find_source(const char **out_file, int32_t *out_line) {
  *out_file = NULL;
  *out_line = 0;
  if (!package.internal_prefix) return;
  PyFrameObject *frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame) {
    PyCodeObject *code = PyFrame_GetCode(frame);
    const source_line *found = is_internal(code) ? NULL : line_of(frame, code);
    Py_DECREF(code);
    if (found) {
      *out_file = found->file;
      *out_line = found->line;
      Py_DECREF(frame);
      return;
    }
    PyFrameObject *back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
}

void scope_set_source(rheos_scope *scope) {
  const char *file;
  int32_t line;
  if (!package.internal_prefix) return;
  find_source(&file, &line);
  rheos_scope_set_source(scope, file, line);
}
