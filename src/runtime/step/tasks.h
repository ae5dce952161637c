// What the runtime itself needs of tasks (graph/tasks.h).
#ifndef RHEOS_SRC_RUNTIME_STEP_TASKS_H
#define RHEOS_SRC_RUNTIME_STEP_TASKS_H

#include "graph/tasks.h"
#include "runtime/step/step.h"

// The tasks of a home, which ends them before it goes. NULL when memory is short.
rheos__tasks *rheos__tasks_new(rheos__home *home);
// Drops those that have not begun, and waits for the others, which the closed home stops. NULL:
// nothing.
void rheos__tasks_close(rheos__tasks *tasks);
// Tasks that run now.
int32_t rheos__tasks_num_running(rheos__tasks *tasks);

#endif  // RHEOS_SRC_RUNTIME_STEP_TASKS_H
