// What operations that run at once ask of the manager that may cancel them.
#ifndef RHEOS_CAPI_CANCELLATION_H
#define RHEOS_CAPI_CANCELLATION_H

#include "handles.h"

// Whether a TFE_CancellationManager has been cancelled, as rheos_run_options asks it.
bool capi_should_stop(void *manager);

#endif  // RHEOS_CAPI_CANCELLATION_H
