// Numbers that nobody else has, of sessions, graphs, steps and requests.
#ifndef RHEOS_SRC_NET_IDS_H
#define RHEOS_SRC_NET_IDS_H

#include "base/random_id.h"

enum { RHEOS__ID_BYTES = 17 };

// Of a step: below 2^56 and above 0.
int64_t rheos__step_id(void);
// As text: 16 hexadecimal digits.
void rheos__id_text(uint64_t id, char *out_text);

#endif  // RHEOS_SRC_NET_IDS_H
