// Calls of traced functions (traced_call.c).
#ifndef RHEOS_PYTHON_TRACED_CALL_H
#define RHEOS_PYTHON_TRACED_CALL_H

#include "core.h"

// What was remembered of calls holds no longer: prepared operations were forgotten.
void traced_calls_forget(void);

int traced_init_types(PyObject *module);

#endif  // RHEOS_PYTHON_TRACED_CALL_H
