// Numbers that nobody else has, of sessions, graphs, steps and requests.
#ifndef RHEOS_SRC_NET_IDS_H
#define RHEOS_SRC_NET_IDS_H

#include <stdint.h>

enum { RHEOS__ID_BYTES = 17 };

// Of 64 bits that look random, one after the other; below 2^56 and above 0 for a step.
uint64_t rheos__random_id(void);
int64_t rheos__step_id(void);
// As text: 16 hexadecimal digits.
void rheos__id_text(uint64_t id, char *out_text);

#endif  // RHEOS_SRC_NET_IDS_H
