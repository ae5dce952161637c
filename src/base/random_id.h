// Random numbers that are unlike all others of the process, and most likely of every process.
#ifndef RHEOS_SRC_BASE_RANDOM_ID_H
#define RHEOS_SRC_BASE_RANDOM_ID_H

#include <stdint.h>

uint64_t rheos__random_id(void);

#endif  // RHEOS_SRC_BASE_RANDOM_ID_H
