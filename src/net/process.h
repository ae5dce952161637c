// What the process of a server uses, as the system tells.
#ifndef RHEOS_SRC_NET_PROCESS_H
#define RHEOS_SRC_NET_PROCESS_H

#include <stdint.h>

// Memory that is there (resident); 0 where the system does not tell.
int64_t rheos__process_memory_bytes(void);

// Gives the system what the allocator keeps for later, where it can.
void rheos__process_trim_memory(void);

#endif  // RHEOS_SRC_NET_PROCESS_H
