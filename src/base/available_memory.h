// How much memory can be had without the system ending a process for it.
#ifndef RHEOS_SRC_BASE_AVAILABLE_MEMORY_H
#define RHEOS_SRC_BASE_AVAILABLE_MEMORY_H

#include <stdint.h>

// Bytes that the machine, and the control group that the process runs in, have left now, with what
// the system can give back (caches) and free swap. UINT64_MAX where the system does not tell.
uint64_t rheos__available_memory(void);

#endif  // RHEOS_SRC_BASE_AVAILABLE_MEMORY_H
